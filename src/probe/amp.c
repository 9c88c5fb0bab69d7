/* The method of Coleman and Davidson (2001), AMP, for caches and TLBs of data and of code: what a
 * miss brings by the misses of a region that is read for the first time, size by reading it twice,
 * first by doubling, then by quarters, and from there on by halves to the line, ways over all
 * factors, allocation by writing first, replacement by one element too many. Each count is the
 * least of eight, each figure the most common of eight votes. */
#include <math.h>
#include <stdio.h>

#include "probe/believe.h"
#include "probe/probe.h"
#include "probe/published_counts.h"
#include "refstring/refstring.h"

#define METHOD    "amp"
#define CURVES    "misses"
#define SURE      0.95
#define SURE_SOFT 0.9
#define TIMES     8
#define VOTES     8
/* A region that is read for the first time, and the smallest and largest sizes that are tried. */
#define REGION   (128u << 10)
#define SMALLEST 1024.0
#define LARGEST  0x1p25
/* Part of the expected misses that makes a failure, and that is none to speak of. */
#define THRASHING 0.8
#define FEW       0.05
/* Between the sizes of the last success and the first failure it goes by quarters. */
#define QUARTERS 4
/* Pages that are read for the first time: more than a TLB has entries. */
#define PAGES 4096
/* Part of a cache that is written to and read. */
#define WRITTEN      0.25
#define FEWEST_LINES 4
/* So few misses of what is read for the first time show nothing. */
#define HIDDEN 0.2
/* Where an edge is another on other pages, each vote is an average of many placements. */
#define SOFT_VOTES 2

struct vote {
    struct fm_counted shape;
    double brought; /* bytes that come with a miss; 0: nothing was missed */
};

/* Bytes that come with each miss, as the nearest power of two. */
static bool ask_brought(struct fm_lab *lab, unsigned bit, double *brought, struct fm_error *err)
{
    const bool tlb = fm_event_is_tlb(bit);
    const size_t page = lab->machine->info.page_size;
    const size_t stride = tlb ? page / 16 : fm_event_is_of_code(bit) ? FM_TURN : FM_WORD;
    const double most = (double)fm_lab_limit(lab) / 2;
    const size_t bytes = (size_t)fmin(tlb ? (double)PAGES * (double)page : REGION, most);
    const struct fm_spots spots = {.count = bytes / stride, .stride = stride};
    double each;
    /* To store where reads are counted wrongly shows lines where a store brings one alone. */
    if (!fm_count_first_reading(lab, bit, &spots, FM_NEVER_READ, TIMES, &each, err))
        return false;
    *brought = each > 0 ? (double)stride * exp2(floor(log2(1 / each) + 0.5)) : 0;
    return true;
}

/* The part of the lines that miss when a region is read again. */
static bool second_reading(struct fm_lab *lab, const struct fm_counted_plan *plan, double bytes,
                           double line, double *part, struct fm_error *err)
{
    const struct fm_spot_plan spots = {.count = (size_t)(bytes / line), .stride = (size_t)line};
    const struct fm_count_care care = {
        .bit = plan->bit, .none = FEW * (double)spots.count, .manner = plan->manner};
    struct fm_string string;
    double misses;
    if (!fm_lab_place(lab, (size_t)bytes + FM_TURN, err) || !fm_spot_string(&string, &spots, err) ||
        !fm_count_lap(lab, &string, &care, &misses, err))
        return false;
    *part = misses / (double)spots.count;
    return true;
}

/* The largest size that fits, to a quarter of the power of two below. 0: none is too large. */
static bool ask_size(struct fm_lab *lab, const struct fm_counted_plan *plan, double line,
                     double *bytes, struct fm_error *err)
{
    const double most = fmin(LARGEST, plan->to);
    double fits = 0, part = 0;
    *bytes = 0;
    for (double size = fmax(fmax(SMALLEST, line), plan->inner); size <= most && part < THRASHING;
         size *= 2) {
        if (!second_reading(lab, plan, size, line, &part, err))
            return false;
        if (part <= FEW)
            fits = size;
    }
    if (part < THRASHING)
        return true;
    *bytes = fmax(fits, line);
    for (int quarter = 1; quarter < QUARTERS && fits > 0; quarter++) {
        const double size = fits * (1 + (double)quarter / QUARTERS);
        if (!second_reading(lab, plan, size, line, &part, err))
            return false;
        if (part > FEW)
            return true;
        *bytes = size;
    }
    return true;
}

/* One vote: the paper's steps, and from where they end the shared search to the line; or a look at
   whether what an earlier vote has found is there. */
static bool cast(struct fm_lab *lab, const struct fm_counted_plan *plan,
                 const struct fm_counted *before, struct vote *vote, struct fm_error *err)
{
    struct fm_counted_plan closer = *plan;
    double about;
    *vote = (struct vote){.brought = 0};
    if (!ask_brought(lab, plan->bit, &vote->brought, err))
        return false;
    if (!(vote->brought > 0))
        return true;
    if (before && before->ways)
        return fm_count_structure_again(lab, plan, before, &vote->shape, err);
    if (!ask_size(lab, plan, vote->brought, &about, err))
        return false;
    closer.from = fmax(closer.from, about);
    return !(about > 0) || fm_count_structure(lab, &closer, &vote->shape, err);
}

static bool is_soft(const struct vote *vote)
{
    return vote->shape.missed && !vote->shape.sharp;
}

static bool same(const struct vote *one, const struct vote *other)
{
    const struct fm_counted *a = &one->shape, *b = &other->shape;
    return a->missed == b->missed && a->sharp && b->sharp && a->bytes == b->bytes &&
           a->line == b->line && a->ways == b->ways && one->brought == other->brought;
}

static unsigned most_common(const struct vote votes[], unsigned count, unsigned *which)
{
    unsigned most = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned alike = 0;
        for (unsigned j = 0; j < count; j++)
            alike += i == j || same(&votes[i], &votes[j]);
        if (alike > most) {
            most = alike;
            *which = i;
        }
    }
    return most;
}

/* What can be said of votes that are not the same: where they all lie, and what none denies. */
static void join(const struct vote votes[], unsigned count, struct vote *all)
{
    struct fm_counted *shape = &all->shape;
    *all = votes[0];
    for (unsigned i = 1; i < count; i++) {
        const struct fm_counted *other = &votes[i].shape;
        shape->missed &= other->missed;
        shape->low = fmin(shape->low, other->low);
        shape->high = fmax(shape->high, other->high);
        shape->line = other->line == shape->line ? shape->line : 0;
        all->brought = votes[i].brought == all->brought ? all->brought : 0;
    }
    shape->sharp = shape->full = false;
    shape->ways = 0;
    shape->effective = shape->bytes = (shape->low + shape->high) / 2;
}

/* Asks until no other answer can become the most common of eight. */
static bool ask(struct fm_lab *lab, const struct fm_counted_plan *plan, struct fm_counted *found,
                void *context, struct fm_error *err)
{
    double *brought = context;
    struct vote votes[VOTES], joined;
    unsigned count = 0, soft = 0, most = 0, which = 0;
    while (count < VOTES && soft < SOFT_VOTES && most <= VOTES / 2) {
        if (!cast(lab, plan, count ? &votes[0].shape : NULL, &votes[count], err))
            return false;
        soft += is_soft(&votes[count++]);
        most = most_common(votes, count, &which);
        /* Nothing is missed, however much is read. */
        if (!votes[0].shape.missed)
            break;
    }
    join(votes, count, &joined);
    const struct vote *chosen = most > VOTES / 2 || count == 1 ? &votes[which] : &joined;
    *found = chosen->shape;
    fm_check_line(plan, found, (size_t)chosen->brought);
    brought[plan->bit] = chosen->brought;
    return true;
}

/* Whether a part of the cache that was written to misses as what was read before, or as what is
   read for the first time, which is less than all where a prefetcher is at work; a meter pushes out
   some of either. *told is false where that hides them all, or what was read is not there either:
   then others have pushed it out, which in a small cache depends on where the part lies. */
static bool vote_allocation(struct fm_lab *lab, unsigned bit, const struct fm_counted *shape,
                            unsigned number, bool *allocates, bool *told, struct fm_error *err)
{
    const size_t count = (size_t)(WRITTEN * shape->bytes / (double)shape->line);
    const struct fm_spots spots = {
        .count = count, .stride = shape->line, .first = number * count / 2};
    double never, read, written;
    if (!fm_count_first_reading(lab, bit, &spots, FM_NEVER_READ, TIMES, &never, err) ||
        !fm_count_first_reading(lab, bit, &spots, FM_READ, TIMES, &read, err) ||
        !fm_count_first_reading(lab, bit, &spots, FM_WRITTEN, TIMES, &written, err))
        return false;
    *told = never > HIDDEN && read < never / 2;
    *allocates = written < (never + read) / 2;
    return true;
}

static bool report_allocation(struct fm_lab *lab, unsigned bit, const struct fm_counted *shape,
                              struct fm_error *err)
{
    char property[FM_PROPERTY_TEXT];
    unsigned yes = 0, no = 0;
    for (unsigned i = 0; i < VOTES + yes + no && yes <= VOTES / 2 && no <= VOTES / 2; i++) {
        bool allocates, tells;
        if (!vote_allocation(lab, bit, shape, i, &allocates, &tells, err))
            return false;
        yes += tells && allocates;
        no += tells && !allocates;
    }
    const bool told = yes > VOTES / 2 || no > VOTES / 2;
    snprintf(property, sizeof property, "%s.write_allocate", fm_event_structure(bit));
    struct fm_finding *finding = fm_result_finding(lab->result, property, "");
    if (finding && told)
        fm_testify(finding, &(struct fm_testimony){.meter = fm_lab_meter(lab, bit),
                                                   .method = METHOD,
                                                   .value = fm_bool(yes > no),
                                                   .confidence = SURE});
    else if (finding)
        fm_undetermined(finding, "what is read for the first time misses no more than what was "
                                 "read before");
    return true;
}

/* A part of a line that comes alone is its sub-block, which the paper's authors wished to find. */
static void report_sector(struct fm_lab *lab, unsigned bit, double brought, size_t line)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s.sector", fm_event_structure(bit));
    if (!(brought > 0) || brought >= (double)line || fm_event_is_tlb(bit))
        return;
    struct fm_finding *finding = fm_result_finding(lab->result, property, "B");
    if (finding)
        fm_testify(finding, &(struct fm_testimony){.meter = fm_lab_meter(lab, bit),
                                                   .method = METHOD,
                                                   .value = fm_number(brought),
                                                   .low = brought,
                                                   .high = brought,
                                                   .confidence = SURE});
}

static bool report(struct fm_lab *lab, unsigned bit, const struct fm_counted *shape, double brought,
                   struct fm_error *err)
{
    const bool reads = !(lab->by_stores & 1u << bit);
    fm_report_counted(lab, bit, shape,
                      &(struct fm_counted_voice){.meter = fm_lab_meter(lab, bit),
                                                 .method = METHOD,
                                                 .curves = CURVES,
                                                 .kind = "",
                                                 .sure = SURE,
                                                 .sure_soft = SURE_SOFT});
    if (!shape->line)
        return true;
    if (reads)
        report_sector(lab, bit, brought, shape->line);
    if (fm_event_is_of_code(bit))
        return true;
    /* Few lines show nothing beside those that a meter touches. */
    const bool enough = WRITTEN * shape->bytes >= (double)(FEWEST_LINES * shape->line);
    return fm_amp_replacement(lab, bit, shape, err) &&
           (fm_event_is_tlb(bit) || !reads || !enough || report_allocation(lab, bit, shape, err));
}

/* The structures that the paper's table has, of which some had no counter. */
static void report_no_counter(struct fm_lab *lab, unsigned bit)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s.%s", fm_event_structure(bit),
             fm_event_is_tlb(bit) ? "entries" : "capacity");
    struct fm_finding *finding =
        fm_result_finding(lab->result, property, fm_event_is_tlb(bit) ? "" : "B");
    if (!finding)
        return;
    finding->status = FM_UNSUPPORTED;
    snprintf(finding->note, sizeof finding->note, "no counter: no event counts its misses here");
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    static const unsigned of_the_table[] = {FM_CODE_EVENT, 0, 1, FM_CODE_EVENT + 1,
                                            FM_CACHE_LEVELS};
    struct fm_counted found[FM_EVENTS];
    double brought[FM_EVENTS] = {0};
    const struct fm_counted_round round = {.ask = ask,
                                           .context = brought,
                                           .manner = {.patient = true},
                                           .events = FM_ALL_EVENTS,
                                           .curves = CURVES,
                                           .kind = ""};
    if (!fm_believe_counters(lab, err) || !fm_count_round(lab, &round, found, err))
        return false;
    for (unsigned bit = 0; bit < FM_TARGET_EVENT; bit++)
        if (found[bit].missed && !report(lab, bit, &found[bit], brought[bit], err))
            return false;
    for (size_t i = 0; i < sizeof of_the_table / sizeof of_the_table[0]; i++)
        if (!(lab->believed & 1u << of_the_table[i]))
            report_no_counter(lab, of_the_table[i]);
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
