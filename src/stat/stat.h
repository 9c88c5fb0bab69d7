/* Where the references of a running application are served from (seed: the note on the Pentium
 * Pro's counters). What is counted: references, and for each level the lines that were filled into
 * it. What is said of them: how many references waited for each level, and how many went to data
 * that was brought in from there. */
#ifndef FM_STAT_STAT_H
#define FM_STAT_STAT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/description.h"
#include "core/error.h"
#include "core/result.h"
#include "meter/command.h"

/* Callgrind has two levels, and is asked twice where there are three. */
#define FM_STAT_LEVELS 3

/* The machine the application ran on, as far as it was measured. */
struct fm_stat_level {
    double line;       /* bytes; 0: not known */
    double latency_ns; /* load to use; 0: not known */
};

struct fm_stat_machine {
    struct fm_stat_level levels[FM_STAT_LEVELS];
    size_t count;
    double memory_ns; /* latency; 0: not known */
    double cycle_ns;  /* 0: not known */
};

/* What was counted; a negative number was not. */
struct fm_stat_counts {
    double references;            /* loads and stores */
    double fills[FM_STAT_LEVELS]; /* lines brought into each level from outside */
    double fetch_misses;          /* of instructions, in the first level */
    double fetch_stalls;          /* cycles spent waiting for instructions */
    double cycles;
    bool prefetched; /* fills may be a prefetcher's, that nobody waited for */
};

/* Nothing counted yet. */
struct fm_stat_counts fm_stat_no_counts(void);

/* What the kernel knows of a command; negative: not known. */
struct fm_stat_times {
    double wall_s, cpu_s;
    double page_faults, switches;
    const char *witness; /* of cpu_s and what is behind it: "clock", "perf" */
};

/* An estimate with hard bounds. */
struct fm_share {
    double value, low, high;
};

/* References that waited for each level, and at [count] for memory: fills over references. */
void fm_shares_served(const struct fm_stat_counts *counts, size_t levels,
                      struct fm_share shares[FM_STAT_LEVELS + 1]);

/* References to data brought in from each level, by the paper's rule: all elements of a line are
   used equally often, so that of each line that comes, line / element references are to data that
   came from there. Its clamps are kept. A line is used for one reference at least, and for its
   elements once each at most: those are the bounds. */
void fm_shares_brought(const struct fm_stat_counts *counts, const struct fm_stat_machine *machine,
                       unsigned element, struct fm_share shares[FM_STAT_LEVELS + 1]);

/* Everything as findings, app.references and so on; witness is the meter that counted. What was not
   counted is unsupported, with the note. */
bool fm_stat_report(struct fm_result *result, const struct fm_stat_counts *counts,
                    const struct fm_stat_machine *machine, const struct fm_stat_times *times,
                    unsigned element, const char *witness, const char *why_not,
                    struct fm_error *err);

/* How a command ended. */
enum fm_command_end {
    FM_COMMAND_EXITED,
    FM_COMMAND_KILLED,
    FM_COMMAND_NOT_FOUND,
    FM_COMMAND_NOT_RUN
};
struct fm_command_result {
    enum fm_command_end end;
    int code; /* exit status, signal, or errno */
    struct fm_stat_times times;
};

/* Runs the command as it is, children and all, and waits. What it prints is left alone; the signals
   a terminal sends are its to answer, and one that asks us to end is handed on. */
bool fm_command_run(char *const *command, struct fm_command_result *result, struct fm_error *err);

/* What a meter that counts commands made of it. An event that counted more lines than there were
   references, or none in a whole program, is not believed, and says so in its reason. False when
   the references, the first level or the last one are missing; counts then has what there is. */
bool fm_stat_counted(struct fm_command_counts *seen, size_t levels, struct fm_stat_counts *counts);
/* And of the kernel's own events, where they were counted. */
void fm_stat_counted_times(const struct fm_command_counts *seen, const char *meter,
                           struct fm_stat_times *times);

/* Callgrind's caches for two levels of a measured machine: level 0 and `outer`. What callgrind
   cannot take is rounded; *rounded then says to what. */
struct fm_stat_cache {
    double capacity, line, ways; /* ways 0: not known */
};
void fm_stat_model(const struct fm_stat_cache *inner, const struct fm_stat_cache *outer,
                   const struct fm_stat_cache *instructions, struct fm_description *model,
                   char *rounded, size_t size);

/* What was counted in it, and of how many processes it is not right: those that were started in a
   way callgrind did not see count what their parent did before once more, those that were killed do
   not count. */
struct fm_stat_modelled {
    struct fm_counts counts;
    size_t unseen, silent;
    int asked; /* the signal that asked to end before it was all; 0: none */
};

/* Counts the command in that model, its output thrown away and its input empty. */
bool fm_stat_count(char *const *command, const struct fm_description *model,
                   struct fm_stat_modelled *modelled, struct fm_error *err);

#endif
