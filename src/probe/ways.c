/* Ways and physical capacity of every level, by crowding it until nothing more fits (crowd.h). */
#include <math.h>
#include <string.h>

#include "analysis/occupancy_fit.h"
#include "core/units.h"
#include "probe/columns.h"
#include "probe/probe.h"
#include "probe/revise.h"
#include "probe/ways_anywhere.h"
#include "probe/ways_inside.h"
#include "probe/ways_verdict.h"

/* References that may be spent on a level, in each effort. */
static const double spend[] = {[FM_QUICK] = 2e6, [FM_NORMAL] = 24e6, [FM_THOROUGH] = 4e7};
/* … and what is left of that where an event is asked: a trial takes three laps instead of ten; and
   for the clock, which is asked then for what that leaves open. */
#define COUNTED 0.3
#define SECOND  0.4
/* Pages to choose from, in capacities and in footprints that miss wholly: the last class to be
   filled waits long for its last member. */
#define CAPACITIES 6
#define RISES      8
/* … where there is memory for them, and at least so many. */
#define RISES_LEAST 3
#define FEW_PAGES   256
/* Times the pages of what it holds of which one line each may fit: where a way is no whole number
   of pages, those at one place of their pages do not share all sets. */
#define SMALL 2
/* Times that it is tried, and part of what may be spent after which it is not tried again. */
#define TRIES  4
#define ENOUGH 0.4
/* Times the first level that the second holds where that leaves lines of any pages alone: to try
   those first that share a set of it takes more memory. */
#define ROOMY 4
/* Words at another place of some pages, at least, to see whether they fall into the same sets; and
   the part of them that misses then, since these are full. */
#define LEAST_OTHERS 8
#define FULL         0.5
/* Laps over many lines of each page that it takes to count two classes, at the least. */
#define MANY_TRIALS 500
/* Times what may be spent on the second level that may be on those behind it; and behind one of
   which nothing was found, where there is less hope. */
#define DEEPER 1.5
#define BLIND  0.5
/* What a sharp edge may be off by. */
#define SHARP 0.02

/* Lines that leave nothing in the level inside, whatever chooses its sets. */
static double overrunning(struct fm_lab *lab, size_t index)
{
    return fm_bytes_inside(lab, index - 1) / (double)lab->known.levels[index].line *
           fm_overload(lab, index - 1, FM_WAYS_SELDOM);
}

/* Lines of each page of which half of what the level holds is as many; at most half of a page: the
   other half is asked whether it falls into the same sets. */
static size_t many_of(struct fm_lab *lab, size_t index)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    const double page = (double)lab->machine->info.page_size;
    const double pages = fm_held_of(level) / page / 2;
    return (size_t)fmin(ceil(overrunning(lab, index) / pages), page / (double)level->line / 2);
}

/* Whether the level's own event is asked. */
static bool is_asked(const struct fm_lab *lab, size_t index)
{
    return fm_lab_counted(lab, (unsigned)index) && !(lab->by_stores & 1u << index);
}

static bool prepare(struct fm_lab *lab, size_t index, enum fm_ways_choice choice, bool counted,
                    struct fm_crowd *crowd, struct fm_crowd_lines *lines)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    const double page = (double)lab->machine->info.page_size;
    const double pages = fmax(CAPACITIES * fm_held_of(level), RISES * level->rise_to) / page;
    *lines = (struct fm_crowd_lines){
        .page = lab->machine->info.page_size, .period = lab->machine->info.page_size, .places = 1};
    if (choice == FM_SPARSE)
        lines->period = fm_period_inside(lab, index);
    *crowd = (struct fm_crowd){.items = (size_t)pages + FEW_PAGES,
                               .most = (size_t)(SMALL * FM_WAYS_ABOVE * level->rise_to / page) +
                                       FEW_PAGES,
                               .hit_ns = level->height_ns - lab->known.levels[0].height_ns,
                               .penalty_ns = level[1].height_ns - level->height_ns,
                               .unpriced = fm_level_is_hidden(&level[1]),
                               .alone = fm_ways_one_class(lab, index, choice),
                               .spend = spend[lab->options->effort]};
    if (index > 1)
        crowd->spend *= fm_ways_of(lab, index - 1) > 0 ? DEEPER : BLIND;
    lines->bit = (unsigned)index;
    lines->counted = counted;
    if (counted)
        crowd->spend *= COUNTED;
    else if (is_asked(lab, index))
        crowd->spend *= SECOND;
    lines->offset = fm_lab_seed(lab) % (lines->page / FM_LONGEST_LINE) * FM_LONGEST_LINE;
    const bool apart = (double)lines->period > page;
    if (index > 0)
        crowd->shallow =
            apart ? fm_overrun_apart(lab, index - 1, lines->period) : fm_overrun(lab, index - 1);
    if (choice == FM_MANY_EACH) {
        lines->each = many_of(lab, index);
        lines->apart = level->line;
        lines->in_order = true;
        lines->offset = 0;
        crowd->hit_ns = level->height_ns;
        crowd->shallow = (size_t)(overrunning(lab, index) / (double)lines->each) + 1;
    }
    crowd->kept = (choice == FM_MANY_EACH ? 1 : FM_WAYS_KEPT) * crowd->shallow;
    const bool dear = MANY_TRIALS * (double)(crowd->shallow * lines->each) > crowd->spend;
    const double room = (double)fm_lab_limit(lab) / (double)lines->period;
    if ((double)crowd->items > room)
        crowd->items = (size_t)room;
    if (crowd->most > crowd->items)
        crowd->most = crowd->items;
    /* The clock knows less of what no plateau shows than a counter that has not told it. */
    const bool hopeless = !counted && is_asked(lab, index) && fm_level_is_hidden(level);
    /* With fewer it is never full. */
    return !hopeless && !dear && crowd->penalty_ns > 0 && level->rise_to > 0 &&
           room > RISES_LEAST * level->rise_to / page;
}

/* Whether words so many bytes from any items find the sets full that they fall into: those that are
   held miss then. They are so many that the level inside does not keep them, and so may be too many
   for some sets by themselves. */
static bool is_full_beside(struct fm_lab *lab, struct fm_crowd *crowd, size_t apart, bool *yes,
                           struct fm_error *err)
{
    const size_t page = lab->machine->info.page_size;
    const uint32_t words = (uint32_t)(apart / FM_WORD);
    const size_t count = crowd->shallow > LEAST_OTHERS ? crowd->shallow : LEAST_OTHERS;
    uint32_t *others = crowd->suspects;
    double ns, alone, beside;
    *yes = false;
    if (count > crowd->items)
        return true;
    for (size_t i = 0; i < count; i++)
        others[i] = apart < page ? crowd->pool[i] ^ words : crowd->pool[i] + words;
    if (!fm_crowd_misses(lab, crowd, others, count, &beside, err))
        return false;
    memcpy(crowd->trial, others, count * sizeof *others);
    if (!fm_crowd_count_misses(lab, crowd, count, &ns, &alone, err))
        return false;
    /* What the level inside holds of the others by themselves is not less than nothing. */
    const double more = beside - fmax(alone, 0);
    *yes = fm_crowd_is_some(crowd, more) && more > FULL * (double)count;
    return true;
}

/* How much of what lies between two items falls into sets of its own: pages, or a part of one. */
static bool find_granule(struct fm_lab *lab, struct fm_crowd *crowd, size_t period, size_t line,
                         size_t *granule, struct fm_error *err)
{
    const size_t page = lab->machine->info.page_size;
    bool same = false;
    for (*granule = page; *granule < period && !same;) {
        if (period % *granule == 0 && !is_full_beside(lab, crowd, *granule, &same, err))
            return false;
        if (!same)
            *granule += page;
    }
    same = *granule == page;
    for (size_t apart = page / 2; apart >= line && same; apart /= 2) {
        if (!is_full_beside(lab, crowd, apart, &same, err))
            return false;
        if (same)
            *granule = apart;
    }
    return true;
}

static void leave_open(struct fm_lab *lab, size_t index, const char *attribute, const char *reason)
{
    struct fm_finding *finding = fm_lab_finding(lab, index, attribute, fm_unit_of(attribute));
    /* What another meter has told stays. */
    if (finding && finding->status != FM_MEASURED)
        fm_undetermined(finding, reason);
}

static void report(struct fm_lab *lab, size_t index, const char *attribute, const char *method,
                   double value, const struct fm_crowd_lines *lines)
{
    struct fm_finding *finding = fm_lab_finding(lab, index, attribute, fm_unit_of(attribute));
    if (finding)
        fm_testify(finding, &(struct fm_testimony){
                                .meter = lines->counted ? fm_lab_meter(lab, lines->bit) : "clock",
                                .method = method,
                                .value = fm_number(value),
                                .low = value,
                                .high = value,
                                .confidence = 0.97});
}

/* Whether the level inside has to look for such lines further out; false where it spreads them over
   its sets, since it goes by other addresses. So far apart they span much memory: it is asked of as
   few as show it. */
static bool passes_by(struct fm_lab *lab, size_t index, struct fm_crowd *crowd,
                      struct fm_crowd_lines *lines, bool *yes, struct fm_error *err)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    const double inside_ns = level[-1].height_ns - lab->known.levels[0].height_ns;
    struct fm_crowd few = *crowd;
    double ns;
    if (crowd->shallow + 2 < crowd->items)
        few.items = crowd->shallow + 2;
    bool good = fm_crowd_lines_open(lab, &few, lines, err);
    if (good) {
        memcpy(few.trial, few.pool, few.items * sizeof *few.trial);
        good = few.time(lab, &few, few.items, &ns, err);
        *yes = good && ns > (inside_ns + crowd->hit_ns) / 2;
    }
    fm_crowd_lines_close(&few);
    crowd->spent = few.spent;
    return good;
}

/* Crowds the level with a line of each page; `granule` of a page has sets of its own. */
static bool crowd_pages(struct fm_lab *lab, size_t index, struct fm_crowd *crowd,
                        struct fm_crowd_lines *lines, struct fm_crowded *shown, size_t *granule,
                        struct fm_error *err)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    const size_t line = level->line ? level->line : FM_LONGEST_LINE;
    bool passes = true;
    *shown = (struct fm_crowded){0};
    if (index > 1 && lines->period > lines->page &&
        !passes_by(lab, index, crowd, lines, &passes, err))
        return false;
    if (!passes)
        return true;
    bool good = fm_crowd_lines_open(lab, crowd, lines, err) && fm_crowd_out(lab, crowd, shown, err);
    if (good && shown->full && shown->ways)
        good = find_granule(lab, crowd, lines->period, line, granule, err);
    fm_crowd_lines_close(crowd);
    return good;
}

/* What is tried at the i-th time: one line of each page, by turns with those that pass the level
   inside by; and once many of each page. */
static enum fm_ways_choice choose(struct fm_lab *lab, size_t index, bool counted, int i)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    const size_t page = lab->machine->info.page_size;
    const bool sparse = index > 0 && fm_period_inside(lab, index) > page;
    const bool roomy = index == 1 && fm_held_of(level) > ROOMY * lab->known.levels[0].capacity;
    if (index > 1 && level->line && !counted &&
        i == (fm_ways_keeps_one_each(lab, index) ? 0 : 1 + sparse))
        return FM_MANY_EACH;
    return sparse && (i % 2 == 0) != roomy ? FM_SPARSE : FM_ONE_EACH;
}

/* Crowds the level with pages until it is decided, some times at the most, on others each time:
   luck with the first few may spoil all that comes after. What decides the ways at least is kept.
   One time will do where misses are counted. */
static bool try_pages(struct fm_lab *lab, size_t index, struct fm_crowd *crowd,
                      struct fm_crowd_lines *lines, struct fm_ways_outcome *best,
                      struct fm_error *err)
{
    const double all = crowd->spend;
    const int tries =
        lines->counted ? 1 + (index > 0 && fm_period_inside(lab, index) > lines->page) : TRIES;
    double spent = 0;
    *best = (struct fm_ways_outcome){.why_ways = ""};
    for (int i = 0; i < tries && spent < ENOUGH * all; i++) {
        struct fm_ways_outcome one = {.choice = choose(lab, index, lines->counted, i)};
        if (!prepare(lab, index, one.choice, lines->counted, crowd, lines))
            continue;
        crowd->spend = all - spent;
        if (one.choice == FM_MANY_EACH && (i > 0 || is_asked(lab, index)))
            crowd->spend /= is_asked(lab, index) ? 3 : 2;
        if (!crowd_pages(lab, index, crowd, lines, &one.shown, &one.granule, err))
            return false;
        spent += crowd->spent;
        fm_ways_judge(lab, index, crowd, &one);
        one.spread = best->spread || crowd->anew || one.shown.used_up;
        if (best->why_ways || !one.why_held)
            *best = one;
        best->spread = one.spread;
        if (!one.why_held)
            break;
    }
    crowd->spend = all;
    return true;
}

/* The sets of a level of known ways whose lines lie in sets by no rule, where a sharp edge shows
   that they lie evenly all the same: it is full there. Not so if pages that lie anywhere would
   cover a way unevenly. 0: there is no such edge, or not one number. */
static double sets_by_edge(struct fm_lab *lab, size_t index, size_t ways)
{
    const struct fm_finding *capacity = fm_lab_measured(lab, index, "capacity");
    const size_t line = lab->known.levels[index].line, page = lab->machine->info.page_size;
    const double row = (double)(ways * line);
    if (!fm_edge_is_sharp(capacity))
        return 0;
    const double sets = fm_round_sets(capacity->low.number * (1 - SHARP) / row,
                                      capacity->high.number * (1 + SHARP) / row);
    const size_t way = (size_t)sets * line;
    return way && (way % page == 0 || page % way == 0) ? sets : 0;
}

/* … or by what laps over ever more lines of any place say, where one line too many makes its whole
   set miss. */
static bool measure_sets(struct fm_lab *lab, size_t index, struct fm_crowd *crowd,
                         struct fm_crowd_lines *lines, struct fm_ways_outcome *outcome,
                         struct fm_error *err)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    double sets = outcome->anywhere ? sets_by_edge(lab, index, outcome->shown.ways) : 0;
    const bool edge = sets > 0;
    /* A lap that is counted has not settled: how much of it misses in the end is not known. */
    if (!edge && (outcome->shown.misses < FM_WAYS_ALL || lines->counted))
        return true;
    if (!edge && !fm_sets_anywhere(lab, index, crowd, lines, outcome->shown.ways, &sets, err))
        return false;
    const double bytes = sets * (double)outcome->shown.ways * (double)level->line;
    outcome->why_held = sets == 0 ? "no one number of sets makes what laps take likely"
                        : fm_ways_are_odd(lab, index, bytes, outcome->shown.ways)
                            ? fm_ways_not_as_walked
                            : NULL;
    if (!outcome->why_held)
        report(lab, index, "physical_capacity", edge ? "edge" : "occupancy", bytes, lines);
    return true;
}

/* Lines of any place, where those of one place do not decide. */
static bool measure_anywhere(struct fm_lab *lab, size_t index, struct fm_crowd *crowd,
                             struct fm_crowd_lines *lines, struct fm_ways_outcome *outcome,
                             struct fm_error *err)
{
    struct fm_crowded shown;
    if (!fm_ways_anywhere(lab, index, crowd, lines, &shown, err))
        return false;
    if (fm_ways_doubt(lab, index, &shown, FM_ANYWHERE, 0))
        return true;
    outcome->anywhere = true;
    outcome->why_ways = NULL;
    outcome->why_held = "lines meet in its sets by no rule, and not as under LRU";
    outcome->shown = shown;
    report(lab, index, "ways", "crowd", (double)shown.ways, lines);
    return measure_sets(lab, index, crowd, lines, outcome, err);
}

/* Where lines that share a set can be told by their addresses there is nothing to search for. */
static bool by_columns(struct fm_lab *lab, size_t index, const struct fm_crowd_lines *lines,
                       bool *found, struct fm_error *err)
{
    struct fm_columns columns;
    if (!fm_find_columns(lab, index, &columns, err))
        return false;
    *found = columns.ways > 0;
    if (*found) {
        report(lab, index, "ways", "columns", columns.ways, lines);
        report(lab, index, "physical_capacity", "columns", columns.ways * (double)columns.way,
               lines);
    }
    return true;
}

/* By the level's own event, or by the clock. */
static bool measure(struct fm_lab *lab, size_t index, bool counted, struct fm_error *err)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    struct fm_crowd crowd;
    struct fm_crowd_lines lines;
    struct fm_ways_outcome outcome;
    if (!prepare(lab, index, FM_ONE_EACH, counted, &crowd, &lines)) {
        static const char *const why = "where it begins and ends to miss is not known, or takes "
                                       "more memory than may be touched";
        leave_open(lab, index, "ways", why);
        leave_open(lab, index, "physical_capacity", why);
        return true;
    }
    bool found = false;
    if (index > 0 && !counted && !by_columns(lab, index, &lines, &found, err))
        return false;
    if (found)
        return true;
    if (!try_pages(lab, index, &crowd, &lines, &outcome, err))
        return false;
    const struct fm_crowded *shown = &outcome.shown;
    const double ways = (double)shown->ways, held = (double)shown->held;
    if (outcome.why_ways && !outcome.behind) {
        if (!measure_anywhere(lab, index, &crowd, &lines, &outcome, err))
            return false;
    } else if (!outcome.why_ways) {
        report(lab, index, "ways", "crowd", ways, &lines);
        if (!outcome.why_held)
            report(lab, index, "physical_capacity", "crowd", held * (double)outcome.granule,
                   &lines);
        const bool spread = level->line && outcome.spread;
        if (outcome.why_held && spread && !is_asked(lab, index) && index > 0 &&
            !measure_sets(lab, index, &crowd, &lines, &outcome, err))
            return false;
    }
    if (outcome.why_ways)
        leave_open(lab, index, "ways", outcome.why_ways);
    if (outcome.why_held)
        leave_open(lab, index, "physical_capacity", outcome.why_held);
    if (outcome.why_ways)
        return true;
    const struct fm_found_ways what = {.ways = (unsigned)shown->ways,
                                       .lru = shown->misses >= FM_WAYS_ALL,
                                       .anywhere = outcome.anywhere,
                                       .spread = outcome.spread,
                                       .pages = outcome.granule >= lines.page};
    return fm_revise(lab, index, &what, err);
}

/* Whether the counters have shown which lines share a set: there is nothing to crowd then. */
static bool is_counted(const struct fm_lab *lab, size_t index)
{
    const struct fm_counted *found = fm_lab_counted(lab, (unsigned)index);
    return found && found->ways;
}

/* The gap test has answered for a first level, to the byte. */
static bool is_known(struct fm_lab *lab)
{
    const struct fm_finding *capacity = fm_lab_measured(lab, 0, "capacity");
    if (!capacity || !fm_lab_measured(lab, 0, "ways"))
        return false;
    const double bytes = capacity->value.number;
    struct fm_finding *physical = fm_result_finding(lab->result, "l1d.physical_capacity", "B");
    if (physical)
        fm_measured(physical, bytes, bytes, bytes, 0.99, "gap", NULL);
    return true;
}

/* By its event where there is one, and what that leaves open by the clock. */
static bool measure_level(struct fm_lab *lab, size_t index, struct fm_error *err)
{
    const bool counted = is_asked(lab, index);
    if (counted && !measure(lab, index, true, err))
        return false;
    return (counted && fm_lab_measured(lab, index, "ways") &&
            fm_lab_measured(lab, index, "physical_capacity")) ||
           measure(lab, index, false, err);
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    for (size_t i = 0; i + 1 < lab->known.count; i++)
        if ((i > 0 || !is_known(lab)) && !is_counted(lab, i) && !measure_level(lab, i, err))
            return false;
    return true;
}

static const char *const properties[] = {"l1d.ways", "l1d.physical_capacity", NULL};
static const char *const outer_attributes[] = {"ways", "physical_capacity", NULL};

const struct fm_probe fm_probe_ways = {
    .name = "ways",
    .finds = "ways and physical capacity of every data cache",
    .needs = "cycle,levels,gap,latency,capacity",
    .share = 0.35,
    .detail = true,
    .run = run,
    .properties = properties,
    .outer = outer_attributes,
};
