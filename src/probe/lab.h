/* What a probe works with: a machine to run strings on, the result to write into, what earlier
 * probes found, and the clock's discipline. A probe sees machines only through this. */
#ifndef FM_PROBE_LAB_H
#define FM_PROBE_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/knees.h"
#include "core/error.h"
#include "core/machine.h"
#include "core/refstring.h"
#include "core/result.h"
#include "core/survey_options.h"
#include "probe/counted.h"
#include "probe/walk.h"

/* What the levels around it may make of a plateau, as a part of its height, and leave it known.
   They are by the shapes of their knees, to a half or so. */
#define FM_HIDDEN 0.1

/* One data cache as far as it is known, or memory behind the last. All of it measured. */
struct fm_known_level {
    double height_ns; /* latency of its plateau, TLB share taken out */
    double height_low, height_high;
    double flat_from, flat_to; /* footprints on the plateau */
    double rise_from, rise_to; /* bracket of the rise after it; 0 for memory */
    bool inferred;             /* no plateau shows it, only that knees describe the walk with it */
    bool blurred;              /* its neighbours' knees reach over the whole plateau */
    double hidden;             /* … and make so much of it, as a part of its height */
    double certainty;          /* that this level is one of its own */
    size_t unit;               /* granularity of the walk that showed it */
    size_t line;               /* 0: not determined */
    double line_certainty;
    double line_bytes;   /* the footprint that showed it */
    bool units_too_long; /* lines may be shorter than what it was walked in */
    bool flushed;        /* stripes showed another, and a flush this one */
    double capacity;     /* 0: not determined */
    size_t sector;       /* what a miss brings; 0: not determined */
};

struct fm_known {
    struct fm_known_level levels[FM_CACHE_LEVELS + 1]; /* the last one is memory */
    size_t count;                                      /* memory included; 0: nothing known */
    bool memory_seen;                                  /* the last plateau is flat to its end */
    bool scattered;                                    /* page placement moves the rises */
    /* Time did not suffice to see on more than a few points and placements how far: it may, and
       edges are told with less certainty. */
    bool hasty;
    /* The walk as a sum of knees; count 0 where that does not describe it. */
    struct fm_knee_fit fit;
    /* Latency of a level, where it was found without the fit; 0: not. */
    double given_ns[FM_CACHE_LEVELS + 1];
    /* … and of its knee, what its sets and ways say. */
    struct fm_known_knee known_knees[FM_CACHE_LEVELS];
    double cycle_ns; /* 0: not determined */
    double cycle_low, cycle_high;
    double add_ns;    /* an integer add; 0: not measured */
    double far_bytes; /* the largest footprint measured */
    /* A miss of the last TLB on the base page, 0: not measured, and the pages that miss there. */
    double walk_ns, walk_low, walk_high;
    double walk_pages;
    /* Where misses of the first cache of code begin and where they are many, what one adds, and
       what it brings, which is a line or some of them; 0: not known. */
    double code_from, code_to, code_miss_ns;
    size_t code_unit;
    bool code_moved;     /* page placement moves those misses */
    bool pages_grow;     /* while they are used */
    unsigned tlb_hashed; /* data TLBs of which no stride keeps to a set, as bits */
    bool tlb_doubted;    /* some rise of translation was taken for that of caches or page tables */
};

/* A level whose next is not slower than this many times must show more than a plateau to be
   believed: a neighbour that comes along with each miss halves the misses, and so makes a ledge
   about half as high as what follows. */
#define FM_LEDGE 2.1

/* The part of a walk's references that may miss a level within its effective capacity. */
#define FM_CAPACITY_MISSES 0.05

/* Whether no plateau shows a level: it is known by no more than that a fit needs it. */
bool fm_level_is_hidden(const struct fm_known_level *level);

/* Takes a level that turned out to be none out of what is known; neither the first nor memory. */
void fm_take_level_away(struct fm_known *known, size_t level);
/* … and puts one in that no plateau shows, behind the first: about where it serves most, and its
   latency. */
void fm_add_level(struct fm_known *known, size_t level, double bytes, double height_ns);

/* The arena that is there. */
struct fm_placed {
    size_t bytes, page_size;
};

struct fm_lab {
    struct fm_machine *machine;
    const struct fm_survey_options *options;
    struct fm_result *result;
    struct fm_known known;
    struct fm_walk walk;
    unsigned believed;  /* events whose counts have shown that they can be, as bits */
    unsigned by_stores; /* those among them that are right of stores alone */
    /* Times that a long run and a short one were counted, and showed that the meter adds nothing;
       and of each event what they showed otherwise: where a policy draws lots, or takes its time to
       settle, laps differ, but those of other structures do not. */
    unsigned adds_nothing;
    struct fm_count_record records[FM_EVENTS];
    struct fm_counted counted[FM_EVENTS]; /* what they show */
    struct fm_placed placed;
    double fastest_ns; /* the least time a reference took so far */
    double deadline_s; /* machine time; 0: none */
    double late_s;     /* the same: when this probe should be done */
    uint64_t next_seed;
    uint64_t
        placement_seed; /* of the swept strings on this placement, so that all share one order */
    const char *doing;  /* for the progress line */
    double fraction;    /* of the survey done when this probe began */
    double share;       /* this probe's share of the survey */
    double part;        /* of this probe, where it is done by others who do not know it */
    unsigned disturbed; /* samples thrown away */
    bool spoilt;        /* the last reading is of such alone */
    bool doubtful;      /* so is one since somebody cleared this */
    unsigned samples;
};

/* A fresh placement of at least that many bytes. */
bool fm_lab_place(struct fm_lab *lab, size_t bytes, struct fm_error *err);
/* The same on pages of a size; that of the base page is asked for as such. */
bool fm_lab_place_on(struct fm_lab *lab, size_t bytes, size_t page_size, struct fm_error *err);

/* Another order of the swept strings from now on, on the same placement. */
void fm_lab_reorder(struct fm_lab *lab);

/* What the counters show of a structure; NULL where no event is believed, or nothing missed. */
const struct fm_counted *fm_lab_counted(const struct fm_lab *lab, unsigned bit);

/* The last cache that counters know, NULL where they know none; the footprint from which on all
   misses there, INFINITY where none is known; and whether one is as large. */
const struct fm_counted *fm_lab_last_counted(const struct fm_lab *lab);
double fm_lab_past_counted(const struct fm_lab *lab);
bool fm_is_past_counted(const struct fm_lab *lab, double bytes);

/* Who reads the event of a structure. */
const char *fm_lab_meter(const struct fm_lab *lab, unsigned bit);

/* Whether the probe takes so long that it should leave out what only makes its answers better. On a
   busy computer readings contradict each other, and to look again finds more of the same. */
bool fm_lab_is_late(const struct fm_lab *lab);

/* Largest footprint that may be asked for. */
size_t fm_lab_limit(const struct fm_lab *lab);

/* The footprint at which what is seen is believed to be memory, in units of 64 bytes. */
double fm_lab_far_end(const struct fm_lab *lab);

/* A new seed for a string, from the survey's own. */
uint64_t fm_lab_seed(struct fm_lab *lab);

/* How hard a string is measured. */
struct fm_care {
    unsigned repeats;    /* timed runs at least; one alone is not asked to be confirmed */
    uint64_t references; /* the longest timed run; 0: the default */
    uint64_t least;      /* the shortest, where laps are shorter and luck must even out */
    unsigned laps;       /* unmetered laps first; 0: the default for its length */
    bool warm;           /* none of them: what was there before will do */
    unsigned steps;      /* of the clock a timed run spans at least; 0: the default */
    bool lots;           /* runs may differ by luck, as where a policy draws lots */
    bool grow;           /* prime with growing parts instead of laps */
    bool jumps;          /* the order is one of code slots, and jumps walk it */
    bool pairs;          /* the order is one of pairs that are loaded at once */
};

/* Adds the phases to an order and times it: nanoseconds per reference, the minimum over repeats,
   which go on until the minimum has been confirmed. Frees the string. */
bool fm_lab_time(struct fm_lab *lab, struct fm_string *string, const struct fm_care *care,
                 double *ns, struct fm_error *err);

/* Runs a string with phases of its own once: nanoseconds per metered reference, NAN when something
   disturbed it. Frees the string. */
bool fm_lab_once(struct fm_lab *lab, struct fm_string *string, double *ns, struct fm_error *err);

/* Reports progress inside a probe (0..1) and fails with INTERRUPTED or OUT_OF_TIME when it is time
   to stop. */
bool fm_lab_go_on(struct fm_lab *lab, double part, struct fm_error *err);

/* What was measured of "<level>.<attribute>"; NULL: nothing was. */
const struct fm_finding *fm_lab_measured(const struct fm_lab *lab, size_t level,
                                         const char *attribute);

/* A finding under "<level>.<attribute>"; level 0 is L1. Memory's are under "memory". */
struct fm_finding *fm_lab_finding(struct fm_lab *lab, size_t level, const char *attribute,
                                  const char *unit);

/* Fills a measured number. */
void fm_measured(struct fm_finding *finding, double value, double low, double high,
                 double confidence, const char *method, const char *evidence);
/* What one meter says of a property. A text or a boolean has no interval. */
struct fm_testimony {
    const char *meter, *method;
    const char *evidence; /* may be NULL */
    struct fm_value value;
    double low, high;
    double confidence;
};

/* Sets it beside what is there. The first to speak is measured; a second that agrees joins the
   witnesses, makes it surer, and lends its interval where that is narrower; one that does not makes
   it undetermined, with both values as candidates and nothing in between. */
void fm_testify(struct fm_finding *finding, const struct fm_testimony *testimony);
/* Fills a measured value that is no number. */
void fm_decided(struct fm_finding *finding, struct fm_value value, double confidence,
                const char *meter, const char *method);
void fm_undetermined(struct fm_finding *finding, const char *reason);

#endif
