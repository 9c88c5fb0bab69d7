/* The method of Dongarra, Moore, Mucci, Seymour and You (2004), papi_cacheSize and papi_cacheBlock:
 * arrays that grow until misses begin, and an array larger than the structure whose stride doubles.
 * With N bytes, a stride s, a line b and a ways, misses are (1) one in b/s references up to s = b,
 * (2) one in each from there on, (3) none once the N/s elements fit into one set. Both are run for
 * integers and for doubles, which some processors load past a first level. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe/papi_sweep.h"
#include "probe/probe.h"
#include "probe/published_counts.h"

#define METHOD "papi-cache"
#define SURE   0.9
/* What is read off times is less sure, and only so fine. */
#define SURE_TIME 0.7
#define TIME_FINE 0.02
/* Arrays begin here and end at the size that the survey may touch. */
#define SMALLEST 1024.0
#define LARGEST  0x1p26
/* Parts of the references that miss: all of them, or none to speak of. */
#define ALL  0.9
#define NONE 0.02
/* The array whose stride doubles, beside the capacity; and how far doubles are tried that never
   miss where integers do. */
#define LARGER 4

/* Where misses begin with a stride of one word, to the word: first by powers of two, then by halves
   of what is between. */
static bool find_size(struct fm_lab *lab, struct fm_sweep *sweep, unsigned bit, double from,
                      double most, double *bytes, struct fm_error *err)
{
    size_t fits = 0, misses = 0;
    double each;
    *bytes = 0;
    for (double size = from; size <= most && !misses; size *= 2) {
        if (!fm_sweep_at(lab, sweep, (size_t)size, bit, &each, err))
            return false;
        if (each > 0)
            misses = (size_t)size;
        else
            fits = (size_t)size;
    }
    if (!misses || !fits)
        return true;
    while (misses - fits > FM_WORD) {
        const size_t middle = (fits + (misses - fits) / 2) / FM_WORD * FM_WORD;
        if (!fm_sweep_at(lab, sweep, middle, bit, &each, err))
            return false;
        if (each > 0)
            misses = middle;
        else
            fits = middle;
    }
    *bytes = (double)fits;
    return true;
}

/* The three cases, read off as the stride doubles. Elements that fit into the sets of the level
   inside never get here: where that has as many ways, those of this one are not seen. */
static bool read_cases(struct fm_lab *lab, struct fm_sweep *sweep, unsigned bit, size_t inner_ways,
                       struct fm_published_shape *shape, struct fm_error *err)
{
    for (size_t stride = FM_WORD; stride <= sweep->bytes / 2; stride *= 2) {
        double each;
        if (!fm_sweep_at(lab, sweep, stride, bit, &each, err))
            return false;
        if (!shape->line && each >= ALL)
            shape->line = stride;
        if (shape->line && each <= NONE) {
            shape->ways = sweep->bytes / stride > inner_ways ? sweep->bytes / stride : 0;
            shape->full = (double)shape->ways * (double)shape->line >= shape->bytes;
            return true;
        }
    }
    /* Two elements that still miss share the only way there is. */
    shape->ways = shape->line ? 1 : 0;
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

static bool read_strides(struct fm_lab *lab, bool real, unsigned bit, size_t inner_ways,
                         struct fm_published_shape *shape, struct fm_error *err)
{
    struct fm_sweep *sweep = new_sweep(real, LARGER * (size_t)exp2(ceil(log2(shape->bytes))), err);
    const bool good = sweep && read_cases(lab, sweep, bit, inner_ways, shape, err) &&
                      fm_sweep_draw(lab, sweep, bit, err);
    free(sweep);
    return good;
}

/* What one kind of loads shows of all structures. */
struct seen {
    struct fm_published_shape shapes[FM_CODE_EVENT];
};

/* Integers are searched for everything; doubles around what integers found. */
static bool look_into(struct fm_lab *lab, struct fm_sweep *sizes, unsigned bit,
                      const struct seen *integers, struct seen *seen, struct fm_error *err)
{
    const bool first = bit == 0 || bit == FM_CACHE_LEVELS;
    const struct fm_published_shape *inner = first ? NULL : &seen->shapes[bit - 1];
    struct fm_published_shape *shape = &seen->shapes[bit];
    double from = inner && inner->bytes > 0 ? inner->bytes : SMALLEST;
    double most = fmin(LARGEST, (double)fm_lab_limit(lab) / 2);
    if (integers) {
        from = floor(integers->shapes[bit].bytes / 2 / FM_WORD) * FM_WORD;
        most = fmin(most, 2 * LARGER * from);
    }
    if (!find_size(lab, sizes, bit, from, most, &shape->bytes, err))
        return false;
    return !(shape->bytes > 0) ||
           read_strides(lab, sizes->real, bit, inner ? inner->ways : 0, shape, err);
}

static bool look(struct fm_lab *lab, const struct seen *integers, struct seen *seen,
                 struct fm_error *err)
{
    struct fm_sweep *sizes = new_sweep(integers != NULL, 0, err);
    bool good = sizes != NULL;
    for (unsigned bit = 0; bit < FM_CODE_EVENT && good; bit++) {
        const bool counted = lab->machine->info.counters.events & 1u << bit;
        lab->part = ((double)bit / FM_CODE_EVENT + (integers ? 1 : 0)) / 2;
        if (counted && !(integers && !(integers->shapes[bit].bytes > 0)))
            good = look_into(lab, sizes, bit, integers, seen, err);
    }
    good = good && fm_sweep_draw(lab, sizes, 0, err);
    free(sizes);
    return good;
}

/* Whether doubles go past a structure that integers go through. */
static void report_bypass(struct fm_lab *lab, unsigned bit, bool past)
{
    char property[FM_PROPERTY_TEXT];
    const char *structure = fm_event_structure(bit);
    snprintf(property, sizeof property, "%s.fp_bypass", structure);
    struct fm_finding *finding = fm_result_finding(lab->result, property, "");
    if (finding)
        fm_testify(finding, &(struct fm_testimony){.meter = fm_lab_meter(lab, bit),
                                                   .method = METHOD,
                                                   .value = fm_bool(past),
                                                   .confidence = SURE});
    snprintf(property, sizeof property, "%s.%s", structure,
             fm_event_is_tlb(bit) ? "reach" : "capacity");
    finding = fm_result_finding(lab->result, property, "B");
    if (finding && past)
        snprintf(finding->note, sizeof finding->note, "floating-point loads bypass it");
}

static void report(struct fm_lab *lab, const struct seen *integers, const struct seen *doubles)
{
    for (unsigned bit = 0; bit < FM_CODE_EVENT; bit++) {
        char real[32];
        const char *meter = fm_lab_meter(lab, bit);
        const struct fm_published_voice voice = {meter, METHOD, SURE},
                                        second = {real, METHOD, SURE};
        snprintf(real, sizeof real, "%s/double", meter);
        if (!(integers->shapes[bit].bytes > 0))
            continue;
        fm_report_published(lab, bit, &integers->shapes[bit], &voice);
        const bool past = !(doubles->shapes[bit].bytes > 0);
        if (!past)
            fm_report_published(lab, bit, &doubles->shapes[bit], &second);
        report_bypass(lab, bit, past);
    }
}

static bool is_known(const struct seen *seen, double bytes)
{
    bool known = false;
    for (unsigned bit = 0; bit < FM_CODE_EVENT; bit++)
        known |= fabs(seen->shapes[bit].bytes - bytes) < 0.1 * bytes;
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
    while (level < FM_CACHE_LEVELS && seen->shapes[level].bytes > 0)
        level++;
    const bool in_order =
        level < FM_CACHE_LEVELS && (level == 0 || seen->shapes[level - 1].bytes < bytes);
    if (!in_order || lab->machine->info.counters.events & 1u << level)
        return true;
    seen->shapes[level].bytes = bytes;
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
static bool lacks_events(const struct fm_counters *counters, const struct seen *seen)
{
    for (unsigned level = 0; level < FM_CACHE_LEVELS; level++)
        if (!(seen->shapes[level].bytes > 0))
            return !(counters->events & 1u << level);
    return false;
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    const struct fm_counters *counters = &lab->machine->info.counters;
    struct seen integers = {0}, doubles = {0};
    if (counters->events &&
        (!look(lab, NULL, &integers, err) || !look(lab, &integers, &doubles, err)))
        return false;
    report(lab, &integers, &doubles);
    return counters->alone || !lacks_events(counters, &integers) || fall_back(lab, &integers, err);
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
