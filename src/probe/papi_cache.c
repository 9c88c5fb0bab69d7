/* The method of Dongarra, Moore, Mucci, Seymour and You (2004), papi_cacheSize and papi_cacheBlock:
 * arrays that grow until misses begin, and an array larger than the structure whose stride doubles.
 * With N bytes, a stride s, a line b and a ways, misses are (1) one in b/s references up to s = b,
 * (2) one in each from there on, (3) none once the N/s elements fit into one set. */
#include <math.h>
#include <stdio.h>

#include "probe/probe.h"
#include "probe/published_counts.h"

#define METHOD "papi-cache"
#define SURE   0.9
/* Arrays begin here and end at the size that the survey may touch. */
#define SMALLEST 1024.0
#define LARGEST  0x1p26
/* Parts of the references that miss: all of them, or none to speak of. */
#define ALL  0.9
#define NONE 0.02
/* The array whose stride doubles, beside the capacity. */
#define LARGER 4

/* One of the paper's two curves of a structure. */
static bool begin_curve(struct fm_lab *lab, unsigned bit, const char *stem, const char *x,
                        struct fm_curve **curve, struct fm_error *err)
{
    char id[48];
    snprintf(id, sizeof id, "%s-%s", stem, fm_event_structure(bit));
    *curve = fm_result_curve(lab->result, id);
    if (!*curve)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a curve");
    (*curve)->y = (struct fm_axis){"misses", "per reference"};
    snprintf((*curve)->x.name, sizeof(*curve)->x.name, "%s", x);
    snprintf((*curve)->x.unit, sizeof(*curve)->x.unit, "B");
    return true;
}

static bool misses_of(struct fm_lab *lab, unsigned bit, size_t bytes, size_t stride, double *each,
                      struct fm_error *err)
{
    const struct fm_spots spots = {
        .bit = bit, .count = bytes / stride, .stride = stride, .warm = 2};
    return fm_count_spots(lab, &spots, 1, each, err);
}

static bool plot(struct fm_curve *curve, size_t x, double each, struct fm_error *err)
{
    return fm_curve_add(curve, (struct fm_point){(double)x, each, each, each}) ||
           fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a curve");
}

/* Where misses begin with a stride of one word, to the word: first by powers of two, then by halves
   of what is between. */
static bool find_size(struct fm_lab *lab, unsigned bit, double from, double *bytes,
                      struct fm_error *err)
{
    const double most = fmin(LARGEST, (double)fm_lab_limit(lab) / 2);
    size_t fits = 0, misses = 0;
    struct fm_curve *curve;
    double each;
    *bytes = 0;
    if (!begin_curve(lab, bit, "misses", "footprint", &curve, err))
        return false;
    for (double size = from; size <= most && !misses; size *= 2) {
        if (!misses_of(lab, bit, (size_t)size, FM_WORD, &each, err) ||
            !plot(curve, (size_t)size, each, err))
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
        if (!misses_of(lab, bit, middle, FM_WORD, &each, err) || !plot(curve, middle, each, err))
            return false;
        if (each > 0)
            misses = middle;
        else
            fits = middle;
    }
    *bytes = (double)fits;
    fm_curve_sort(curve);
    curve->steps[curve->step_count++] = (struct fm_step){.x = *bytes, .label = "fits"};
    return true;
}

/* The three cases, read off as the stride doubles. Elements that fit into the sets of the level
   inside never get here: where that has as many ways, those of this one are not seen. */
static bool read_strides(struct fm_lab *lab, unsigned bit, size_t inner_ways,
                         struct fm_published_shape *shape, struct fm_error *err)
{
    const size_t bytes = LARGER * (size_t)exp2(ceil(log2(shape->bytes)));
    struct fm_curve *curve;
    if (!begin_curve(lab, bit, "strided", "stride", &curve, err))
        return false;
    for (size_t stride = FM_WORD; stride <= bytes / 2; stride *= 2) {
        double each;
        if (!misses_of(lab, bit, bytes, stride, &each, err) || !plot(curve, stride, each, err))
            return false;
        if (!shape->line && each >= ALL)
            shape->line = stride;
        if (shape->line && each <= NONE) {
            shape->ways = bytes / stride > inner_ways ? bytes / stride : 0;
            shape->full = (double)shape->ways * (double)shape->line >= shape->bytes;
            return true;
        }
    }
    /* Two elements that still miss share the only way there is. */
    shape->ways = shape->line ? 1 : 0;
    return true;
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    double from = SMALLEST;
    size_t inner_ways = 0;
    for (unsigned bit = 0; bit < FM_CODE_EVENT; bit++) {
        struct fm_published_shape shape = {0};
        if (bit == FM_CACHE_LEVELS) {
            from = SMALLEST;
            inner_ways = 0;
        }
        lab->part = (double)bit / FM_EVENTS;
        if (!(lab->machine->info.counters.events & 1u << bit))
            continue;
        if (!find_size(lab, bit, from, &shape.bytes, err))
            return false;
        if (!(shape.bytes > 0))
            continue;
        if (!read_strides(lab, bit, inner_ways, &shape, err))
            return false;
        fm_report_published(lab, bit, &shape, METHOD, SURE);
        from = shape.bytes;
        inner_ways = shape.ways > inner_ways ? shape.ways : inner_ways;
    }
    return true;
}

static const char *const properties[] = {"l1d.capacity", "l1d.line", "l1d.ways", NULL};

const struct fm_probe fm_probe_papi_cache = {
    .name = METHOD,
    .finds = "caches and TLBs by the published method, under --method papi-cache",
    .needs = "",
    .share = 1,
    .method = FM_METHOD_PAPI_CACHE,
    .reads = FM_READS_COUNTERS,
    .run = run,
    .properties = properties,
};
