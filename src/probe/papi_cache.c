/* The method of Dongarra, Moore, Mucci, Seymour and You (2004), papi_cacheSize and papi_cacheBlock:
 * arrays that grow until misses begin, and an array larger than the structure whose stride doubles.
 * With N bytes, a stride s, a line b and a ways, misses are (1) one in b/s references up to s = b,
 * (2) one in each from there on, (3) none once the N/s elements fit into one set. */
#include <math.h>

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

static bool misses_of(struct fm_lab *lab, unsigned bit, size_t bytes, size_t stride, double *each,
                      struct fm_error *err)
{
    const struct fm_spots spots = {
        .bit = bit, .count = bytes / stride, .stride = stride, .warm = 2};
    return fm_count_spots(lab, &spots, 1, each, err);
}

/* Where misses begin with a stride of one word, to the word: first by powers of two, then by halves
   of what is between. */
static bool find_size(struct fm_lab *lab, unsigned bit, double from, double *bytes,
                      struct fm_error *err)
{
    const double most = fmin(LARGEST, (double)fm_lab_limit(lab) / 2);
    size_t fits = 0, misses = 0;
    double each;
    *bytes = 0;
    for (double size = from; size <= most && !misses; size *= 2) {
        if (!misses_of(lab, bit, (size_t)size, FM_WORD, &each, err))
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
        if (!misses_of(lab, bit, middle, FM_WORD, &each, err))
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
static bool read_strides(struct fm_lab *lab, unsigned bit, size_t inner_ways,
                         struct fm_published_shape *shape, struct fm_error *err)
{
    const size_t bytes = LARGER * (size_t)exp2(ceil(log2(shape->bytes)));
    for (size_t stride = FM_WORD; stride <= bytes / 2; stride *= 2) {
        double each;
        if (!misses_of(lab, bit, bytes, stride, &each, err))
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
    for (unsigned bit = 0; bit < FM_EVENTS; bit++) {
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
