/* The first cache of code as far as it is known. */
#ifndef FM_PROBE_ICACHE_H
#define FM_PROBE_ICACHE_H

#include "analysis/crossing.h"
#include "analysis/tlb_steps.h"
#include "probe/code_fetch.h"

/* A first look, before the line is known, goes by this many bytes; where it shows no cache, by the
   length of the shortest line. */
#define FM_FIRST_PITCH 64
/* No line is shorter. */
#define FM_SHORTEST_CODE_LINE 16
/* Part of a cycle that the clock shows of one. */
#define FM_A_CYCLE 0.9

struct fm_icache {
    struct fm_code_lines lines; /* to fill and time */
    struct fm_tlb_step steps[FM_CACHE_LEVELS];
    size_t count;       /* rises of the curve; in steps, "pages" are bytes of code */
    size_t pitch;       /* bytes from line to line in the first look */
    double far;         /* the largest footprint */
    double conflict_ns; /* what a line adds that misses the first that is not passed over; 0: not
                           seen */
    struct fm_tlb_step first; /* the rise in the first look; held 0: there was none */
    /* What a miss of what was taken for one of decoded operations adds, which ends before the cache
       does or where it does; 0: there is none. */
    double passed_ns;
    size_t line;
    bool doubtful; /* a rise may have been taken for the cache's by the misses of the next one … */
    bool passes;   /* … and such are passed over this time */
    bool crowded;  /* by its jumps: no other look will show more */
    bool halved;   /* the line is a part of what seemed to be one, and may be too short */
    unsigned ways;
    size_t way_bytes;
};

/* Draws what fetching adds over the footprint, `pitch` bytes from line to line, up to `most` bytes,
   and reads it into rises. The curve goes into the result under `id`, or nowhere if that is NULL.
 */
bool fm_read_fetch_curve(struct fm_lab *lab, struct fm_icache *icache, size_t pitch, double most,
                         const char *id, struct fm_error *err);

/* What a miss adds, by lines so far apart that they fall into few sets of a first cache, and into
   many of what is behind it: a rise may be that of both. What stands before the cache, and was
   passed over, misses as well and adds its own. */
bool fm_time_conflict(struct fm_lab *lab, struct fm_icache *icache, struct fm_error *err);

/* What a miss adds at a rise, at the least. */
double fm_code_miss(const struct fm_icache *icache, const struct fm_tlb_step *rise);

/* What slots that are ever further apart show just beyond a rise. */
struct fm_code_line {
    bool from_lines; /* false: it is no cache's, however it rises */
    bool too_dear;   /* more misses were seen than it has: some, or all, are of the next one */
    size_t line;     /* the unit that a miss brings; 0: nothing decides */
    double any_ns;   /* what a fetch adds there … */
    double miss_ns;  /* … if it is no other level's; 0: not known */
};
bool fm_find_code_line(struct fm_lab *lab, struct fm_icache *icache, size_t step,
                       struct fm_code_line *look, struct fm_error *err);

/* Whether a rise is there with one jump in each line as well, by about as much. Where it is not, it
   is the second jump of a line that is one too many: a branch target buffer may have sets and
   blocks as a cache has, and cost more than a cache whose misses the prediction runs ahead of. */
bool fm_rises_singly(struct fm_lab *lab, const struct fm_icache *icache, size_t step, bool *yes,
                     struct fm_error *err);

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
/* The same of code that the level of a rise does not hold, when more data is loaded than the second
   cache of data holds. */
bool fm_ask_second_of_data(struct fm_lab *lab, const struct fm_icache *icache, size_t step,
                           enum fm_code_fate *fate, struct fm_error *err);

/* What a line adds where one more than there are ways share a set, on fresh pages. */
bool fm_time_code_set(struct fm_lab *lab, struct fm_icache *icache, double *miss_ns,
                      struct fm_error *err);

/* Whether one line more than `ways` conflict at that distance, on fresh pages too, and as many do
   not: what the counters say, by the clock. Needs the line. */
bool fm_confirm_code_ways(struct fm_lab *lab, struct fm_icache *icache, unsigned ways,
                          size_t way_bytes, double miss_ns, bool *yes, struct fm_error *err);

/* A core may fetch more than a line at a miss, which then seems to be one. Whether the halves of
   what is taken for a line fall into two sets is asked of lines that conflict; needs the ways. */
bool fm_refine_code_line(struct fm_lab *lab, struct fm_icache *icache, double miss_ns,
                         struct fm_error *err);

/* Ways and sets, by lines that stand so far apart that they conflict in one set. Leaves ways 0
   where none do. Each number of ways takes a trial for every distance that fits. */
struct fm_code_ways_range {
    unsigned least, most; /* ways that are looked for */
};
bool fm_find_code_ways(struct fm_lab *lab, struct fm_icache *icache, const struct fm_tlb_step *step,
                       const struct fm_code_ways_range *range, struct fm_error *err);

/* Times the code that the first look has shown to miss that no first cache holds. */
#define FM_TOO_MUCH 1.5

/* Part of a rise that lines must cost where all of them miss, and what is said where they do not.
 */
#define FM_SHOWN       0.5
#define FM_DO_NOT_MISS "beyond what looks like its capacity, lines do not miss as they should"

/* What a miss adds, where all miss: over placements, well beyond a capacity. Needs the line. */
struct fm_code_miss_cost {
    double ns, low, high;
};
bool fm_time_code_miss(struct fm_lab *lab, struct fm_icache *icache, double capacity,
                       struct fm_code_miss_cost *miss, struct fm_error *err);

/* What is told under l1i. A line of which a miss brings several is told with a note. */
struct fm_finding *fm_l1i_finding(struct fm_lab *lab, const char *attribute, const char *unit);
void fm_report_l1i(struct fm_lab *lab, const char *attribute, const char *unit, double value,
                   const char *method);
void fm_report_l1i_open(struct fm_lab *lab, const char *attribute, const char *unit,
                        const char *reason);
void fm_report_l1i_miss(struct fm_lab *lab, const struct fm_code_miss_cost *miss);
void fm_report_l1i_ways(struct fm_lab *lab, const struct fm_icache *icache);
void fm_report_l1i_line(struct fm_lab *lab, const struct fm_icache *icache, size_t brought);
/* Leaves all of it open. */
void fm_give_up_l1i(struct fm_lab *lab, const char *reason);

/* Whether data has a level behind the first that begins to miss within these bytes and has such
   lines: what shows of code may be that. */
bool fm_may_be_of_data(const struct fm_lab *lab, size_t line, double low, double high);
#define FM_OF_DATA "what shows of it may be the level behind, which data has too"

/* What groups of lines show that conflict, wherever their pages lie. */
struct fm_code_groups {
    unsigned ways;   /* 0: no groups agree */
    size_t line;     /* of which a miss may bring several */
    double miss_ns;  /* what a line of a group adds: less than a miss where a policy keeps some */
    bool by_address; /* lines at one place of their pages were of few sets */
    double bytes;    /* that its sets hold, roughly, as lines of one tell; 0: they do not */
    /* Colours that pages have by that, and what they may be off by, as a part; 0: a policy keeps
       some lines of a set that is too small. */
    double colours, colours_error;
    double all_ns; /* what a line of a set adds then that is far too small; 0: no other than one */
};
bool fm_find_code_groups(struct fm_lab *lab, struct fm_icache *icache,
                         const struct fm_tlb_step *rise, struct fm_code_groups *found,
                         struct fm_error *err);

/* The most code of which one line in twenty misses, expected over placements. */
struct fm_code_average {
    struct fm_crossing crossing;
    double all; /* code of which nearly all lines miss; 0: none was seen */
};
bool fm_average_code_capacity(struct fm_lab *lab, struct fm_icache *icache,
                              const struct fm_tlb_step *rise, const struct fm_code_groups *groups,
                              struct fm_code_average *found, struct fm_error *err);

/* Measures and tells all of a cache whose lines conflict at no distance: the index is physical
   beyond a page, or hashed. If they do after all, where groups have shown to look for them, ways
   and sets are found and nothing is told. */
bool fm_measure_moved(struct fm_lab *lab, struct fm_icache *icache, const struct fm_tlb_step *rise,
                      const struct fm_code_groups *groups, struct fm_error *err);

#endif
