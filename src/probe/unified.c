/* Whether code and data share a cache or a TLB, as AMP asks it: data that fits is loaded, code that
 * would fill the structure is run, and the data is timed again. Beside it, as many jumps in code
 * that leaves the structure alone. */
#include "probe/unified.h"

#include <math.h>
#include <stdio.h>

#include "probe/code_fetch.h"
#include "probe/probe.h"
#include "refstring/refstring.h"

/* Runs of which the least counts, at the most: each is preceded by its code. And what two of them
   may differ by to be enough. */
#define RUNS      9
#define CONFIRMED 1.01
/* Part of a cache that data takes, and of a TLB: its sets hold few entries, and those few that
   other code needs must have room beside the data. */
#define FITS     0.85
#define FITS_TLB 0.5
/* Times a lap of code is run. On the first a core fetches where it guesses, and what that brings is
   not what was asked for. */
#define CODE_LAPS 3
/* Times a cache's capacity that code takes: on scattered pages there is room beside what a program
   gets. */
#define FILLS 2
/* Part of a miss in each load that shows that code has pushed the data out; and that says that it
   has not. */
#define PUSHED_OUT 0.4
#define STAYED     0.15
#define PLACEMENTS 3
/* Lines of code that go into a page where pages are to be few. */
#define LINES_OF_PAGE 16
/* Bytes from one jump to the next: a line, or more than one to a line. */
#define PITCH 64
/* No cache larger than this is filled with code, in each effort. */
static const double most_code[] = {
    [FM_QUICK] = 0x1p21, [FM_NORMAL] = 0x1p23, [FM_THOROUGH] = 0x1p25};

static double number_of(const struct fm_lab *lab, const char *structure, size_t level,
                        const char *attribute)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s%zu.%s", structure, level, attribute);
    const struct fm_finding *finding = fm_result_find(lab->result, property);
    return finding && finding->status == FM_MEASURED ? finding->value.number : 0;
}

/* Whether an event counts what loads miss. */
static bool counts_loads(const struct fm_lab *lab, unsigned bit)
{
    return fm_lab_counted(lab, bit) && !(lab->by_stores & 1u << bit);
}

/* The part of the loads that miss after the code has run, by the level's event. Frees both strings.
 */
static bool count_after(struct fm_lab *lab, struct fm_string *data, struct fm_string *code,
                        unsigned laps, unsigned bit, double *part, struct fm_error *err)
{
    struct fm_sample sample;
    fm_string_after(data, code, laps);
    const bool good =
        fm_lab_go_on(lab, 0, err) && lab->machine->ops->count(lab->machine, data, 1, &sample, err);
    fm_string_free(data);
    if (good)
        *part = (double)fm_event_count(&sample.counts, bit) / (double)sample.references;
    return good;
}

/* The least time of a reference of a string that is complete, as soon as a second run confirms it.
   Frees the string. */
static bool time_least(struct fm_lab *lab, struct fm_string *string, double *ns,
                       struct fm_error *err)
{
    struct fm_sample sample;
    double least_disturbed = INFINITY, second = INFINITY;
    bool good = true;
    *ns = INFINITY;
    for (int i = 0; i < RUNS && good && (isinf(second) || second > CONFIRMED * *ns); i++) {
        good = fm_lab_go_on(lab, 0, err) &&
               lab->machine->ops->run(lab->machine, string, 1, &sample, err);
        const double each = sample.ns / (double)sample.references;
        least_disturbed = fmin(least_disturbed, each);
        if (good && !sample.disturbed) {
            second = fmin(second, fmax(*ns, each));
            *ns = fmin(*ns, each);
        }
    }
    if (isinf(*ns))
        *ns = least_disturbed;
    fm_string_free(string);
    return good;
}

/* … of a load after the code has run. Frees both strings. */
static bool time_after(struct fm_lab *lab, struct fm_string *data, struct fm_string *code,
                       unsigned laps, double *ns, struct fm_error *err)
{
    fm_string_after(data, code, laps);
    return time_least(lab, data, ns, err);
}

/* One line in each of `pages` pages from `first` on, or in a few of them as many lines. */
static bool page_string(struct fm_lab *lab, size_t first, size_t pages, unsigned lines,
                        struct fm_string *string, struct fm_error *err)
{
    static const uint32_t most = 8192;
    uint32_t numbers[8192];
    const size_t count = pages / lines < 1 ? 1 : pages / lines < most ? pages / lines : most;
    for (size_t i = 0; i < count; i++)
        numbers[i] = (uint32_t)(first + i);
    const struct fm_page_plan plan = {.pages = numbers,
                                      .count = count,
                                      .page = lab->machine->info.page_size,
                                      .unit = PITCH,
                                      .lines = lines,
                                      .burst = lines,
                                      .seed = lab->placement_seed};
    return fm_page_string(string, &plan, err);
}

/* What loads of one line in each page take more after jumps to all the pages that a TLB holds than
   after as many to few; or by the TLB's event the part of them that misses more, FM_EVENTS: none.
 */
static bool compare_pages(struct fm_lab *lab, size_t held, unsigned event, double *more,
                          struct fm_error *err)
{
    const size_t pages = (size_t)(FITS_TLB * (double)held);
    double each[2];
    for (int few = 0; few < 2; few++) {
        struct fm_string data, code;
        if (!page_string(lab, 0, pages, 1, &data, err))
            return false;
        if (!page_string(lab, pages, held, few ? LINES_OF_PAGE : 1, &code, err)) {
            fm_string_free(&data);
            return false;
        }
        if (!(event < FM_EVENTS ? count_after(lab, &data, &code, CODE_LAPS, event, &each[few], err)
                                : time_after(lab, &data, &code, CODE_LAPS, &each[few], err)))
            return false;
    }
    *more = each[0] - each[1];
    return true;
}

static struct fm_finding *unified_finding(struct fm_lab *lab, const char *structure, size_t level)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s%zu.unified", structure, level);
    return fm_result_finding(lab->result, property, "");
}

static void leave_open(struct fm_lab *lab, const char *structure, size_t level, const char *reason)
{
    struct fm_finding *finding = unified_finding(lab, structure, level);
    if (finding)
        fm_undetermined(finding, reason);
}

static void report(struct fm_lab *lab, const char *structure, size_t level, double part,
                   const char *meter)
{
    char reason[sizeof((struct fm_finding *)0)->note];
    if (part > STAYED && part < PUSHED_OUT) {
        snprintf(reason, sizeof reason,
                 "code pushes out %.0f%% of the data: neither most of it nor nearly none",
                 100 * part);
        leave_open(lab, structure, level, reason);
        return;
    }
    struct fm_finding *finding = unified_finding(lab, structure, level);
    if (!finding)
        return;
    fm_testify(finding, &(struct fm_testimony){.meter = meter,
                                               .method = "after-code",
                                               .value = fm_bool(part >= PUSHED_OUT),
                                               .confidence = 0.95});
}

static bool tlb_is_told(const struct fm_lab *lab, size_t level)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "dtlb%zu.entries", level + 1);
    return fm_result_find(lab->result, property);
}

bool fm_find_unified_tlb(struct fm_lab *lab, size_t level, bool *shared, struct fm_error *err)
{
    const unsigned bit = FM_CACHE_LEVELS + (unsigned)level;
    const bool counts = counts_loads(lab, bit);
    const double entries = number_of(lab, "dtlb", level + 1, "entries");
    const double miss = number_of(lab, "dtlb", level + 1, "miss_cost") -
                        (level ? number_of(lab, "dtlb", level, "miss_cost") : 0);
    const double piece = number_of(lab, "dtlb", level + 1, "page_size");
    const double page = (double)lab->machine->info.page_size;
    const size_t told = (size_t)(entries * fmax(1, piece / page));
    const size_t held = told || !counts ? told : (size_t)(lab->counted[bit].bytes / page);
    double sum = 0, more;
    const char *open =
        held == 0 || (miss <= 0 && !counts) ? "its entries, or what a miss costs, are not known"
        : held < LINES_OF_PAGE ? "it holds too few pages for code and data to meet there"
        : (double)fm_lab_limit(lab) < 2.0 * (double)held * page
            ? "it maps more memory than may be touched"
            : NULL;
    *shared = false;
    if (open) {
        /* Of a level that nobody has seen nothing is said. */
        if (level > 0 && tlb_is_told(lab, level))
            leave_open(lab, "dtlb", level + 1, open);
        return true;
    }
    for (int i = 0; i < PLACEMENTS; i++) {
        if (!fm_lab_place(lab, 2 * (held + 1) * (size_t)page, err) ||
            !compare_pages(lab, held, counts ? bit : FM_EVENTS, &more, err))
            return false;
        sum += more / PLACEMENTS;
    }
    const double part = counts ? sum : sum / miss;
    report(lab, "dtlb", level + 1, part, counts ? fm_lab_meter(lab, bit) : "clock");
    *shared = part >= PUSHED_OUT;
    return true;
}

/* All lines of a footprint, of data or of code. */
static bool swept(struct fm_lab *lab, size_t bytes, size_t unit, struct fm_string *string,
                  struct fm_error *err)
{
    const struct fm_swept_plan plan = {.bytes = bytes,
                                       .unit = unit,
                                       .page = lab->machine->info.page_size,
                                       .burst = 1,
                                       .seed = lab->placement_seed};
    return fm_swept_string(string, &plan, err);
}

static void move_on(struct fm_string *string, size_t bytes)
{
    for (size_t i = 0; i < string->orders[0].count; i++)
        string->orders[0].word[i] += (uint32_t)(bytes / FM_WORD);
    string->bytes += bytes;
}

/* A footprint, and another behind it, of code and of data or the other way round. */
static bool build_both(struct fm_lab *lab, size_t bytes, size_t unit, size_t other_bytes,
                       size_t other_unit, struct fm_string *one, struct fm_string *other,
                       struct fm_error *err)
{
    const size_t page = lab->machine->info.page_size;
    if (!swept(lab, bytes, unit, one, err))
        return false;
    if (!swept(lab, other_bytes, other_unit, other, err)) {
        fm_string_free(one);
        return false;
    }
    move_on(other, (bytes + page - 1) / page * page);
    return true;
}

/* A jump to a line, at the most. */
static size_t pitch_of(size_t line)
{
    return line > PITCH ? line : PITCH;
}

/* What loads over a footprint take after jumps over as much code, and after as many over little. */
static bool compare_footprints(struct fm_lab *lab, size_t bytes, size_t line, double *more_ns,
                               struct fm_error *err)
{
    double ns[2];
    for (int little = 0; little < 2; little++) {
        struct fm_string data, code;
        const size_t part =
            little ? lab->machine->info.page_size / 2 : (size_t)(FILLS / FITS * (double)bytes);
        if (!build_both(lab, bytes, line, part, pitch_of(line), &data, &code, err) ||
            !time_after(lab, &data, &code, little ? (unsigned)(bytes / part) : 1, &ns[little], err))
            return false;
    }
    *more_ns = ns[0] - ns[1];
    return true;
}

bool fm_time_after_data(struct fm_lab *lab, size_t code, size_t data, size_t pitch, double *more_ns,
                        struct fm_error *err)
{
    const size_t page = lab->machine->info.page_size;
    double ns[2];
    if (!fm_lab_place(lab, code + data + 2 * page, err))
        return false;
    for (int little = 0; little < 2; little++) {
        struct fm_string jumps, loads;
        const size_t part = little ? page / 2 : data;
        if (!build_both(lab, code, pitch, part, pitch, &jumps, &loads, err))
            return false;
        fm_string_after_data(&jumps, &loads, (unsigned)(data / part));
        if (!time_least(lab, &jumps, &ns[little], err))
            return false;
    }
    *more_ns = ns[0] - ns[1];
    return true;
}

/* What code leaves of data by the level's event, which does not care how the loads are translated.
 */
static bool count_footprint(struct fm_lab *lab, size_t bytes, size_t line, unsigned bit,
                            double *part, struct fm_error *err)
{
    struct fm_string data, code;
    return build_both(lab, bytes, line, (size_t)(FILLS / FITS * (double)bytes), pitch_of(line),
                      &data, &code, err) &&
           count_after(lab, &data, &code, 1, bit, part, err);
}

static bool find_unified_cache(struct fm_lab *lab, size_t index, struct fm_error *err)
{
    const struct fm_known_level *level = &lab->known.levels[index];
    const double bytes = FITS * level->capacity, miss = level[1].height_ns - level->height_ns;
    const unsigned bit = (unsigned)index;
    const bool counts = counts_loads(lab, bit);
    double sum = 0, more;
    if (level->capacity <= 0 || level->line == 0 || miss <= 0) {
        leave_open(lab, "l", index + 1, "its capacity or line, or what a miss costs, is not known");
        return true;
    }
    if (bytes > fmin(most_code[lab->options->effort], (double)fm_lab_limit(lab) / (2 * FILLS))) {
        leave_open(lab, "l", index + 1,
                   lab->options->effort == FM_THOROUGH
                       ? "it is too large to be filled with code"
                       : "it is too large to be filled with code; try --thorough");
        return true;
    }
    for (int i = 0; i < PLACEMENTS; i++) {
        if (!fm_lab_place(lab, 2 * FILLS * (size_t)bytes + 4 * lab->machine->info.page_size, err) ||
            !(counts ? count_footprint(lab, (size_t)bytes, level->line, bit, &more, err)
                     : compare_footprints(lab, (size_t)bytes, level->line, &more, err)))
            return false;
        sum += more / PLACEMENTS;
    }
    report(lab, "l", index + 1, counts ? sum : sum / miss,
           counts ? fm_lab_meter(lab, bit) : "clock");
    return true;
}

static const char *const outer_attributes[] = {"unified", NULL};

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    bool runs;
    if (!fm_code_runs(lab, NULL, &runs, err))
        return false;
    for (size_t i = 1; i + 1 < lab->known.count && runs; i++)
        if (!find_unified_cache(lab, i, err))
            return false;
    return true;
}

const struct fm_probe fm_probe_unified = {
    .name = "unified",
    .finds = "whether code and data share the outer caches",
    .needs = "levels,capacity",
    .share = 0.08,
    .detail = true,
    .run = run,
    .outer = outer_attributes,
};
