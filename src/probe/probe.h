/* A probe: one question about the hardware. Each is one file ending in one const descriptor. */
#ifndef FM_PROBE_PROBE_H
#define FM_PROBE_PROBE_H

#include "probe/lab.h"

/* What a probe reads. One that reads what a machine does not offer is left out of its survey. */
enum fm_reads { FM_READS_CLOCK, FM_READS_COUNTERS, FM_READS_EITHER };

struct fm_probe {
    const char *name;
    const char *finds;     /* what it answers, for people */
    const char *needs;     /* comma list of probes that must have run, or "" */
    const char *curve;     /* id of the curve it draws, or NULL */
    double share;          /* roughly its part of a survey's time */
    enum fm_method method; /* runs only under this method … */
    bool every_method;     /* … or under all */
    enum fm_reads reads;
    bool detail; /* left out of a quick survey, unless it is named */
    bool vital;  /* others rest on all of it: it is not cut short while the survey has time */
    /* Runs strings and fills findings. False with err filled when it had to stop: what it could
       not reach is then marked by survey. */
    bool (*run)(struct fm_lab *lab, struct fm_error *err);
    /* The properties it is to answer, and what it is to answer of every data cache that was found
       behind the first: NULL-terminated, or NULL. */
    const char *const *properties, *const *outer;
    /* What it answers of a second level, and why there is nothing to say
       where a machine shows no second; NULL: that says itself. */
    const char *second, *no_second;
};

#define FM_NO_SECOND_CACHE "no cache was found behind the first"
#define FM_NO_SECOND_TLB   "no TLB was found behind the first"

extern const struct fm_probe fm_probe_cycle;
extern const struct fm_probe fm_probe_levels;
extern const struct fm_probe fm_probe_gap;
extern const struct fm_probe fm_probe_capacity;
extern const struct fm_probe fm_probe_latency;
extern const struct fm_probe fm_probe_ways;
extern const struct fm_probe fm_probe_replacement;
extern const struct fm_probe fm_probe_tlb;
extern const struct fm_probe fm_probe_tlb_replacement;
extern const struct fm_probe fm_probe_walk_cost;
extern const struct fm_probe fm_probe_icache;
extern const struct fm_probe fm_probe_itlb;
extern const struct fm_probe fm_probe_btb;
extern const struct fm_probe fm_probe_unified;
extern const struct fm_probe fm_probe_code_levels;
extern const struct fm_probe fm_probe_misses;
extern const struct fm_probe fm_probe_counters;
extern const struct fm_probe fm_probe_papi_cache;
extern const struct fm_probe fm_probe_amp;
extern const struct fm_probe fm_probe_fetch;
extern const struct fm_probe fm_probe_prefetch;
extern const struct fm_probe fm_probe_inclusion;
extern const struct fm_probe fm_probe_outer_replacement;
extern const struct fm_probe fm_probe_writes;
extern const struct fm_probe fm_probe_write_backs;
extern const struct fm_probe fm_probe_streaming;
extern const struct fm_probe fm_probe_banks;
extern const struct fm_probe fm_probe_later;
extern const struct fm_probe fm_probe_strides;
extern const struct fm_probe fm_probe_calibrator;
extern const struct fm_probe fm_probe_cooper_sandoval;

#endif
