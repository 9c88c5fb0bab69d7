/* The first cache of code as far as it is known. */
#ifndef FM_PROBE_ICACHE_H
#define FM_PROBE_ICACHE_H

#include "analysis/tlb_steps.h"
#include "probe/code_fetch.h"

/* A first look, before the line is known, goes by this many bytes. */
#define FM_FIRST_PITCH 64
/* No line is shorter. */
#define FM_SHORTEST_CODE_LINE 16
/* Part of a cycle that the clock shows of one. */
#define FM_A_CYCLE 0.9

struct fm_icache {
    struct fm_code_lines lines; /* to fill and time */
    struct fm_tlb_step steps[FM_CACHE_LEVELS];
    size_t count;       /* rises of the curve; in steps, "pages" are bytes of code */
    double far;         /* the largest footprint */
    double conflict_ns; /* what a line adds that misses the first structure to miss; 0: not seen */
    bool before;        /* a rise was passed over that was taken for that of decoded operations */
    size_t line;
    unsigned ways;
    size_t way_bytes;
};

/* Draws what fetching adds over the footprint, `pitch` bytes from line to line, up to `most` bytes,
   and reads it into rises. The curve goes into the result under `id`, or nowhere if that is NULL.
 */
bool fm_read_fetch_curve(struct fm_lab *lab, struct fm_icache *icache, size_t pitch, double most,
                         const char *id, struct fm_error *err);

/* What a miss adds, by lines so far apart that they fall into few sets of a first cache, and into
   many of what is behind it: a rise may be that of both. */
bool fm_time_conflict(struct fm_lab *lab, struct fm_icache *icache, struct fm_error *err);

/* What a miss adds at a rise, at the least. */
double fm_code_miss(const struct fm_icache *icache, const struct fm_tlb_step *rise);

/* What slots that are ever further apart show just beyond a rise. */
struct fm_code_line {
    bool from_lines; /* false: it is no cache's, however it rises */
    size_t line;     /* the unit that a miss brings; 0: nothing decides */
    double miss_ns;  /* what a fetch adds there; 0: not known */
};
bool fm_find_code_line(struct fm_lab *lab, struct fm_icache *icache, size_t step,
                       struct fm_code_line *look, struct fm_error *err);

/* Whose rise one is that comes from lines; needs the line. What holds decoded operations has lines
   of a sort as well. */
enum fm_rise_of { FM_RISE_CACHE, FM_RISE_OPERATIONS, FM_RISE_UNCLEAR };
bool fm_tell_from_operations(struct fm_lab *lab, struct fm_icache *icache, size_t step,
                             const struct fm_code_line *look, enum fm_rise_of *of,
                             struct fm_error *err);

/* What becomes of code that the level inside does not hold, when more data is loaded than the one
   that a rise ends holds; of a rise that is not the first. */
enum fm_code_fate { FM_CODE_PUSHED_OUT, FM_CODE_STAYS, FM_CODE_UNCLEAR };
bool fm_ask_data(struct fm_lab *lab, const struct fm_icache *icache, size_t step,
                 enum fm_code_fate *fate, struct fm_error *err);

/* Whether one line more than `ways` conflict at that distance, on fresh pages too, and as many do
   not: what the counters say, by the clock. Needs the line. */
bool fm_confirm_code_ways(struct fm_lab *lab, struct fm_icache *icache, unsigned ways,
                          size_t way_bytes, double miss_ns, bool *yes, struct fm_error *err);

/* A core may fetch more than a line at a miss, which then seems to be one. Whether the halves of
   what is taken for a line fall into two sets is asked of lines that conflict; needs the ways. */
bool fm_refine_code_line(struct fm_lab *lab, struct fm_icache *icache, double miss_ns,
                         struct fm_error *err);

/* Ways and sets, by groups of lines that conflict in one set. Leaves ways 0 where none do. */
bool fm_find_code_ways(struct fm_lab *lab, struct fm_icache *icache, const struct fm_tlb_step *step,
                       struct fm_error *err);

#endif
