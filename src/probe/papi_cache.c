/* The method of Dongarra, Moore, Mucci, Seymour and You (2004), papi_cacheSize and papi_cacheBlock:
 * arrays that grow until misses begin, and an array larger than the structure whose stride doubles.
 * With N bytes, a stride s, a line b and a ways, misses are (1) one in b/s references up to s = b,
 * (2) one in each from there on, (3) none once the N/s elements fit into one set. Both are run for
 * integers and for doubles, which some processors load past a first level. The size is then
 * searched for to the line, and the ways among strides that are no powers of two, by the search
 * that all who count share (counted.h): strides that double show ways to a power of two alone. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/units.h"
#include "probe/believe.h"
#include "probe/papi_sweep.h"
#include "probe/probe.h"
#include "refstring/refstring.h"

#define METHOD    "papi-cache"
#define REFINED   "refined"
#define SURE      0.9
#define SURE_SOFT 0.85
/* What is read off times is less sure, and only so fine. */
#define SURE_TIME 0.7
#define TIME_FINE 0.02
/* Arrays begin here and end at the size that the survey may touch. */
#define SMALLEST 1024.0
#define LARGEST  0x1p26
/* Parts of the references that miss: all of them, or none to speak of. */
#define ALL  0.9
#define NONE 0.02
/* The array whose stride doubles, beside the capacity. */
#define LARGER 4
/* Part by which where one reference in twenty misses may lie beyond what is built in. */
#define SAME 0.05
/* What doubles miss beside integers, in an array that is far too large for the structure: nothing
   where they go past it, and as much where they do not. */
#define PAST     0.1
#define NOT_PAST 0.5

/* The three cases as strides that double show them. */
struct cases {
    size_t line;     /* the first stride at which every reference misses; 0: none */
    size_t elements; /* as many are left of the array when misses end; 0: they do not */
};

/* What one kind of loads shows of all structures. */
struct seen {
    bool real;
    struct fm_sweep *sizes;
    const struct fm_counted *integers; /* of doubles: what integers have shown; or NULL */
    struct fm_counted found[FM_EVENTS];
    struct cases cases[FM_EVENTS];
};

static bool read_cases(struct fm_lab *lab, struct fm_sweep *sweep, unsigned bit,
                       struct cases *cases, struct fm_error *err)
{
    for (size_t stride = FM_WORD; stride <= sweep->bytes / 2; stride *= 2) {
        double each;
        if (!fm_sweep_at(lab, sweep, stride, bit, &each, err))
            return false;
        if (!cases->line && each >= ALL)
            cases->line = stride;
        if (cases->line && each <= NONE) {
            cases->elements = sweep->bytes / stride;
            return true;
        }
    }
    return true;
}

static struct fm_sweep *new_sweep(bool real, size_t bytes, struct fm_error *err)
{
    struct fm_sweep *sweep = calloc(1, sizeof *sweep);
    if (!sweep) {
        fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a sweep");
        return NULL;
    }
    sweep->real = real;
    sweep->bytes = bytes;
    return sweep;
}

/* Sizes by powers of two to well beyond where it ends; those that were counted for another
   structure are not counted again. */
static bool sweep_sizes(struct fm_lab *lab, struct seen *seen, unsigned bit, double bytes,
                        struct fm_error *err)
{
    const double end = fmin(LARGER * bytes, (double)fm_lab_limit(lab));
    for (double size = SMALLEST; size <= end; size *= 2) {
        double each;
        if (!fm_sweep_at(lab, seen->sizes, (size_t)size, bit, &each, err))
            return false;
    }
    return true;
}

/* That many times as large, or less where there is no room. */
static double larger_array(const struct fm_lab *lab, double bytes)
{
    double times = LARGER;
    while (times > 1 && times * bytes > (double)fm_lab_limit(lab))
        times /= 2;
    return times * bytes;
}

static bool sweep_strides(struct fm_lab *lab, struct seen *seen, unsigned bit, double bytes,
                          struct fm_error *err)
{
    const double array = larger_array(lab, exp2(ceil(log2(bytes))));
    if (array < 2 * bytes)
        return true;
    struct fm_sweep *sweep = new_sweep(seen->real, (size_t)array, err);
    const bool good = sweep && read_cases(lab, sweep, bit, &seen->cases[bit], err) &&
                      fm_sweep_draw(lab, sweep, bit, err);
    free(sweep);
    return good;
}

/* The refined search, and both sweeps around what it found. */
static bool ask(struct fm_lab *lab, const struct fm_counted_plan *plan, struct fm_counted *found,
                void *context, struct fm_error *err)
{
    struct seen *seen = context;
    struct fm_counted_plan ours = *plan;
    ours.to = fmin(ours.to, LARGEST);
    if (seen->integers)
        ours.to = fmin(ours.to, LARGER * seen->integers[plan->bit].bytes);
    if (!fm_count_structure(lab, &ours, found, err))
        return false;
    if (!found->missed)
        return true;
    if (!sweep_sizes(lab, seen, plan->bit, found->bytes, err) ||
        !sweep_strides(lab, seen, plan->bit, found->bytes, err))
        return false;
    fm_check_line(plan, found, seen->cases[plan->bit].line);
    return true;
}

static bool look(struct fm_lab *lab, struct seen *seen, unsigned events, struct fm_error *err)
{
    const struct fm_counted_round round = {.ask = ask,
                                           .context = seen,
                                           .manner = {.real = seen->real, .patient = true},
                                           .events = events,
                                           .curves = REFINED,
                                           .kind = seen->real ? "-double" : ""};
    seen->sizes = new_sweep(seen->real, 0, err);
    const bool good = seen->sizes && fm_count_round(lab, &round, seen->found, err) &&
                      fm_sweep_draw(lab, seen->sizes, 0, err);
    free(seen->sizes);
    return good;
}

/* An array that is far too large for a structure, in an order that no prefetcher learns; of entries
   that map whole pages, one after another. */
static bool build_beyond(const struct fm_lab *lab, const struct fm_counted *found,
                         struct fm_string *string, struct fm_error *err)
{
    const size_t line = found->line ? found->line : found->grain;
    const size_t page = lab->machine->info.page_size;
    const size_t lines = (size_t)(larger_array(lab, found->bytes) / (double)line);
    if (line >= page)
        return fm_spot_string(string, &(struct fm_spot_plan){.count = lines, .stride = line}, err);
    return fm_swept_string(
        string,
        &(struct fm_swept_plan){
            .bytes = lines * line, .unit = line, .page = page, .seed = lab->placement_seed},
        err);
}

static bool misses_beyond(struct fm_lab *lab, unsigned bit, const struct fm_counted *found,
                          bool real, double *part, struct fm_error *err)
{
    const struct fm_count_care care = {.bit = bit, .manner = {.real = real, .patient = true}};
    struct fm_string string;
    double misses;
    if (!fm_lab_place(lab, (size_t)larger_array(lab, found->bytes), err) ||
        !build_beyond(lab, found, &string, err))
        return false;
    const double count = (double)string.orders[0].count;
    if (!fm_count_lap(lab, &string, &care, &misses, err))
        return false;
    *part = misses / count;
    return true;
}

/* Whether doubles go past a structure that integers go through: *past is none where their misses
   are neither nothing nor as many. */
static bool ask_bypass(struct fm_lab *lab, unsigned bit, const struct fm_counted *found,
                       struct fm_value *past, struct fm_error *err)
{
    double integers, doubles;
    *past = (struct fm_value){0};
    if (!misses_beyond(lab, bit, found, false, &integers, err) ||
        !misses_beyond(lab, bit, found, true, &doubles, err))
        return false;
    if (integers >= NOT_PAST && (doubles < PAST * integers || doubles > NOT_PAST * integers))
        *past = fm_bool(doubles < PAST * integers);
    return true;
}

static void report_bypass(struct fm_lab *lab, unsigned bit, const struct fm_value *past)
{
    char property[FM_PROPERTY_TEXT];
    const char *structure = fm_event_structure(bit);
    snprintf(property, sizeof property, "%s.fp_bypass", structure);
    struct fm_finding *finding = fm_result_finding(lab->result, property, "");
    if (finding && past->kind == FM_VALUE_NONE)
        fm_undetermined(finding, "doubles miss neither as often as integers nor never");
    else if (finding)
        fm_testify(finding, &(struct fm_testimony){.meter = fm_lab_meter(lab, bit),
                                                   .method = METHOD,
                                                   .value = *past,
                                                   .confidence = SURE});
    snprintf(property, sizeof property, "%s.%s", structure,
             fm_event_is_tlb(bit) ? "reach" : "capacity");
    finding = fm_result_finding(lab->result, property, "B");
    if (finding && past->kind == FM_VALUE_BOOL && past->truth)
        snprintf(finding->note, sizeof finding->note, "floating-point loads bypass it");
}

/* What strides that double have shown, where it is not what was found in the end. */
static void add_cases(struct fm_lab *lab, unsigned bit, const struct fm_counted *found,
                      const struct cases *cases)
{
    char property[FM_PROPERTY_TEXT], size[FM_SIZE_TEXT];
    const char *structure = fm_event_structure(bit);
    snprintf(property, sizeof property, "%s.%s", structure,
             fm_event_is_tlb(bit) ? "page_size" : "line");
    struct fm_finding *finding = fm_result_finding(lab->result, property, "B");
    if (finding && cases->line && found->line != cases->line)
        snprintf(finding->note, sizeof finding->note,
                 "every reference misses from a stride of %s on",
                 fm_format_size(cases->line, size));
    snprintf(property, sizeof property, "%s.ways", structure);
    finding = fm_result_finding(lab->result, property, "");
    if (finding && finding->status == FM_UNDETERMINED && cases->elements)
        snprintf(
            finding->note, sizeof finding->note,
            "strides that double leave %zu elements without a miss; which number of ways makes "
            "that so no other stride shows",
            cases->elements);
}

static void report_kind(struct fm_lab *lab, unsigned bit, const struct seen *seen)
{
    char meter[32];
    snprintf(meter, sizeof meter, "%s%s", fm_lab_meter(lab, bit), seen->real ? "/double" : "");
    fm_report_counted(lab, bit, &seen->found[bit],
                      &(struct fm_counted_voice){.meter = meter,
                                                 .method = METHOD,
                                                 .curves = REFINED,
                                                 .kind = seen->real ? "-double" : "",
                                                 .sure = SURE,
                                                 .sure_soft = SURE_SOFT});
}

/* Whether the one saw the same as the other, but not to the line: others who push lines out now and
   then make a soft edge of a sharp one. */
static bool is_blurred(const struct fm_counted *one, const struct fm_counted *other)
{
    return other->missed && other->ways && !one->ways &&
           fabs(one->effective - other->bytes) < SAME * other->bytes;
}

/* Integers first, and doubles for what they do not go past. */
static bool look_at_both(struct fm_lab *lab, struct seen *integers, struct seen *doubles,
                         struct fm_error *err)
{
    struct fm_value past[FM_CODE_EVENT] = {{0}};
    unsigned events = 0;
    if (!look(lab, integers, FM_ALL_EVENTS & ~(~0u << FM_CODE_EVENT), err))
        return false;
    for (unsigned bit = 0; bit < FM_CODE_EVENT; bit++) {
        if (!integers->found[bit].missed)
            continue;
        if (!ask_bypass(lab, bit, &integers->found[bit], &past[bit], err))
            return false;
        if (!(past[bit].kind == FM_VALUE_BOOL && past[bit].truth))
            events |= 1u << bit;
    }
    doubles->integers = integers->found;
    if (!look(lab, doubles, events, err))
        return false;
    for (unsigned bit = 0; bit < FM_CODE_EVENT; bit++) {
        if (!integers->found[bit].missed)
            continue;
        if (!is_blurred(&integers->found[bit], &doubles->found[bit]))
            report_kind(lab, bit, integers);
        if (doubles->found[bit].missed && !is_blurred(&doubles->found[bit], &integers->found[bit]))
            report_kind(lab, bit, doubles);
        add_cases(lab, bit, &integers->found[bit], &integers->cases[bit]);
        report_bypass(lab, bit, &past[bit]);
    }
    return true;
}

static bool is_known(const struct seen *seen, double bytes)
{
    bool known = false;
    for (unsigned bit = 0; bit < FM_CODE_EVENT; bit++)
        known |= seen->found[bit].missed && fabs(seen->found[bit].bytes - bytes) < 0.1 * bytes;
    return known;
}

/* What the times show of a property, or why they do not. */
static void say_timed(struct fm_lab *lab, unsigned level, const char *attribute, const char *unit,
                      double value, double fine, const char *evidence)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s.%s", fm_event_structure(level), attribute);
    struct fm_finding *finding = fm_result_finding(lab->result, property, unit);
    if (!finding)
        return;
    if (!(value > 0)) {
        fm_undetermined(finding, "no event counts its misses, and the times do not show it");
        return;
    }
    fm_testify(finding, &(struct fm_testimony){.meter = "clock",
                                               .method = METHOD,
                                               .evidence = evidence,
                                               .value = fm_number(value),
                                               .low = value * (1 - fine),
                                               .high = value * (1 + fine),
                                               .confidence = SURE_TIME});
    snprintf(finding->note, sizeof finding->note, "no event counts its misses: by time");
}

/* A size by time belongs to the first level that was not counted and lies beyond all smaller ones
   that were. Of the first level strides show line and ways; of others what is inside is in the
   times too. */
static bool report_time(struct fm_lab *lab, struct seen *seen, double bytes, struct fm_error *err)
{
    unsigned level = 0;
    size_t line = 0, ways = 0;
    while (level < FM_CACHE_LEVELS && seen->found[level].missed)
        level++;
    const bool in_order =
        level < FM_CACHE_LEVELS && (level == 0 || seen->found[level - 1].bytes < bytes);
    if (!in_order || lab->believed & 1u << level)
        return true;
    seen->found[level] = (struct fm_counted){.missed = true, .bytes = bytes};
    if (level == 0 &&
        !fm_stride_time(lab, LARGER * (size_t)exp2(ceil(log2(bytes * (1 - TIME_FINE)))), &line,
                        &ways, err))
        return false;
    say_timed(lab, level, "capacity", "B", bytes, TIME_FINE, "curve:papi-time");
    say_timed(lab, level, "line", "B", (double)line, 0, "curve:papi-time-strided");
    say_timed(lab, level, "ways", "", (double)ways, 0, "curve:papi-time-strided");
    return true;
}

/* The caches that no event counts. */
static bool fall_back(struct fm_lab *lab, struct seen *seen, struct fm_error *err)
{
    double sizes[FM_CACHE_LEVELS];
    size_t count;
    if (!fm_sweep_time(lab, sizes, FM_CACHE_LEVELS, &count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!is_known(seen, sizes[i]) && !report_time(lab, seen, sizes[i], err))
            return false;
    return true;
}

/* Whether levels may be there that were not counted: the outermost that was has none behind it only
   if there is an event for that, which found nothing. */
static bool lacks_events(const struct fm_lab *lab, const struct seen *seen)
{
    for (unsigned level = 0; level < FM_CACHE_LEVELS; level++)
        if (!seen->found[level].missed)
            return !(lab->believed & 1u << level);
    return false;
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    const struct fm_counters *counters = &lab->machine->info.counters;
    struct seen integers = {.real = false}, doubles = {.real = true};
    if (counters->events &&
        (!fm_believe_counters(lab, err) || !look_at_both(lab, &integers, &doubles, err)))
        return false;
    return counters->alone || !lacks_events(lab, &integers) || fall_back(lab, &integers, err);
}

static const char *const properties[] = {"l1d.capacity", "l1d.line", "l1d.ways", NULL};

const struct fm_probe fm_probe_papi_cache = {
    .name = METHOD,
    .finds = "caches and TLBs by the published method, under --method papi-cache",
    .needs = "",
    .share = 1,
    .method = FM_METHOD_PAPI_CACHE,
    .reads = FM_READS_EITHER,
    .run = run,
    .properties = properties,
};
