/* The method of Coleman and Davidson (2001), AMP, for caches and TLBs of data and of code: line by
 * the misses of a region that is read for the first time, size by reading it twice, ways by
 * elements that lie size / ways apart, allocation by writing first, replacement by one element too
 * many. Each figure is the least of eight counts, eight times over, and the value that most of
 * those agree on. */
#include <math.h>
#include <stdio.h>

#include "probe/believe.h"
#include "probe/probe.h"
#include "probe/published_counts.h"

#define METHOD "amp"
#define SURE   0.95
#define TIMES  8
#define VOTES  8
/* A region that is read for the first time, and the smallest and largest sizes that are tried. */
#define REGION   (128u << 10)
#define SMALLEST 1024.0
#define LARGEST  0x1p25
/* Part of the expected misses that makes a failure. */
#define THRASHING 0.8
/* Between the sizes of the last success and the first failure it goes by quarters. There any misses
   to speak of are a failure: a direct-mapped cache misses only in part of its sets. */
#define QUARTERS 4
#define SOME     0.2
/* Pages that are read for the first time. */
#define PAGES 128
/* Lines that lie a capacity apart. */
#define ANYWHERE 32

typedef bool question(struct fm_lab *lab, unsigned bit, const struct fm_published_shape *known,
                      double *answer, struct fm_error *err);

/* Asks eight times; the most common answer. */
static bool vote(struct fm_lab *lab, unsigned bit, const struct fm_published_shape *known,
                 question *ask, double *answer, struct fm_error *err)
{
    double votes[VOTES];
    unsigned most = 0;
    for (unsigned i = 0; i < VOTES; i++)
        if (!ask(lab, bit, known, &votes[i], err))
            return false;
    for (unsigned i = 0; i < VOTES; i++) {
        unsigned same = 0;
        for (unsigned j = 0; j < VOTES; j++)
            same += votes[j] == votes[i];
        if (same > most) {
            most = same;
            *answer = votes[i];
        }
    }
    return true;
}

/* AMP's way round a counter of reads that is wrong. */
static bool by_stores(const struct fm_lab *lab, unsigned bit)
{
    return lab->by_stores & 1u << bit;
}

/* The power of two that is nearest to bytes per miss. */
static bool ask_line(struct fm_lab *lab, unsigned bit, const struct fm_published_shape *known,
                     double *line, struct fm_error *err)
{
    (void)known;
    const bool tlb = fm_event_is_tlb(bit);
    const size_t stride = tlb                        ? lab->machine->info.page_size / 16
                          : fm_event_is_of_code(bit) ? FM_TURN
                                                     : FM_WORD;
    const size_t bytes = tlb ? PAGES * lab->machine->info.page_size : REGION;
    const struct fm_spots spots = {
        .bit = bit, .count = bytes / stride, .stride = stride, .stored = by_stores(lab, bit)};
    double each;
    if (!fm_count_spots(lab, &spots, TIMES, &each, err))
        return false;
    *line = each > 0 ? (double)stride * exp2(floor(log2(1 / each) + 0.5)) : 0;
    return true;
}

/* The part of the lines that miss when a region is read the second time. */
static bool second_reading(struct fm_lab *lab, unsigned bit, double bytes, size_t line,
                           double *part, struct fm_error *err)
{
    const struct fm_spots spots = {.bit = bit,
                                   .count = (size_t)bytes / line,
                                   .stride = line,
                                   .warm = 1,
                                   .stored = by_stores(lab, bit)};
    return fm_count_spots(lab, &spots, TIMES, part, err);
}

static bool ask_size(struct fm_lab *lab, unsigned bit, const struct fm_published_shape *known,
                     double *bytes, struct fm_error *err)
{
    const double most = fmin(LARGEST, (double)fm_lab_limit(lab) / 2);
    double fits = 0, part = 0;
    *bytes = 0;
    for (double size = fmax(SMALLEST, (double)known->line); size <= most; size *= 2) {
        if (!second_reading(lab, bit, size, known->line, &part, err))
            return false;
        if (part >= THRASHING)
            break;
        fits = size;
    }
    if (part < THRASHING || !(fits > 0))
        return true;
    *bytes = fits;
    for (int quarter = 1; quarter < QUARTERS; quarter++) {
        const double size = fits * (1 + (double)quarter / QUARTERS);
        if (!second_reading(lab, bit, size, known->line, &part, err))
            return false;
        if (part >= SOME)
            return true;
        *bytes = size;
    }
    return true;
}

/* Elements a hypothetical way apart, twice as many as ways: they thrash if it is the true one. */
static bool ask_ways(struct fm_lab *lab, unsigned bit, const struct fm_published_shape *known,
                     double *ways, struct fm_error *err)
{
    const size_t lines = (size_t)(known->bytes / (double)known->line);
    for (size_t guess = 1; guess < lines; guess++) {
        if (lines % guess)
            continue;
        const struct fm_spots spots = {.bit = bit,
                                       .count = 2 * guess,
                                       .stride = (size_t)(known->bytes / (double)guess),
                                       .warm = 4,
                                       .stored = by_stores(lab, bit)};
        double part;
        if (!fm_count_spots(lab, &spots, TIMES, &part, err))
            return false;
        /* Where some miss and some do not, lines are given up by lot, and no number is right. */
        if (part >= SOME) {
            *ways = part >= THRASHING ? (double)guess : 0;
            return true;
        }
    }
    /* None thrashes: in one set lines fit wherever they are. */
    const size_t half = lines / 2 < ANYWHERE ? lines / 2 : ANYWHERE;
    const struct fm_spots anywhere = {.bit = bit,
                                      .count = half,
                                      .stride = (size_t)known->bytes,
                                      .warm = 4,
                                      .stored = by_stores(lab, bit)};
    double part = 0;
    if (half * anywhere.stride < fm_lab_limit(lab) &&
        !fm_count_spots(lab, &anywhere, TIMES, &part, err))
        return false;
    *ways = part < SOME ? (double)lines : 0;
    return true;
}

/* Half of the cache is written to, then read: 1 if that finds it there. */
static bool ask_allocation(struct fm_lab *lab, unsigned bit, const struct fm_published_shape *known,
                           double *allocates, struct fm_error *err)
{
    const struct fm_spots spots = {.bit = bit,
                                   .count = (size_t)(known->bytes / 2 / (double)known->line),
                                   .stride = known->line,
                                   .written = true};
    double part;
    if (!fm_count_spots(lab, &spots, TIMES, &part, err))
        return false;
    *allocates = part < 0.5;
    return true;
}

static bool report_allocation(struct fm_lab *lab, unsigned bit,
                              const struct fm_published_shape *shape, struct fm_error *err)
{
    char property[FM_PROPERTY_TEXT];
    double allocates = 0;
    if (!vote(lab, bit, shape, ask_allocation, &allocates, err))
        return false;
    snprintf(property, sizeof property, "%s.write_allocate", fm_event_structure(bit));
    struct fm_finding *finding = fm_result_finding(lab->result, property, "");
    if (finding)
        fm_testify(finding, &(struct fm_testimony){.meter = fm_lab_meter(lab, bit),
                                                   .method = METHOD,
                                                   .value = fm_bool(allocates > 0),
                                                   .confidence = SURE});
    return true;
}

static bool characterise(struct fm_lab *lab, unsigned bit, struct fm_error *err)
{
    struct fm_published_shape shape = {0};
    double answer = 0;
    if (!vote(lab, bit, &shape, ask_line, &answer, err))
        return false;
    shape.line = (size_t)answer;
    if (shape.line && !vote(lab, bit, &shape, ask_size, &shape.bytes, err))
        return false;
    if (!(shape.bytes > 0))
        return true;
    if (!vote(lab, bit, &shape, ask_ways, &answer, err))
        return false;
    shape.ways = (size_t)answer;
    shape.full = (double)shape.ways * (double)shape.line >= shape.bytes;
    fm_report_published(lab, bit, &shape,
                        &(struct fm_published_voice){fm_lab_meter(lab, bit), METHOD, SURE});
    if (fm_event_is_of_code(bit))
        return true;
    return fm_amp_replacement(lab, bit, &shape, err) &&
           (fm_event_is_tlb(bit) || by_stores(lab, bit) ||
            report_allocation(lab, bit, &shape, err));
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    if (!fm_believe_counters(lab, err))
        return false;
    for (unsigned bit = 0; bit < FM_TARGET_EVENT; bit++) {
        lab->part = (double)bit / FM_TARGET_EVENT;
        if (lab->believed & 1u << bit && !characterise(lab, bit, err))
            return false;
    }
    return true;
}

static const char *const properties[] = {"l1d.capacity", "l1d.line", "l1d.ways",
                                         "l1d.write_allocate", NULL};

const struct fm_probe fm_probe_amp = {
    .name = METHOD,
    .finds = "caches and TLBs by the published method, under --method amp",
    .needs = "",
    .share = 1,
    .method = FM_METHOD_AMP,
    .reads = FM_READS_COUNTERS,
    .run = run,
    .properties = properties,
};
