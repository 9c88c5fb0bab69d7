/* Counts how often surveys of random simulated machines are right, wrong or undecided. What is
 * drawn and what is judged is each program's own; the rest is the same for all. */
#ifndef FM_TESTS_COUNT_H
#define FM_TESTS_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/description.h"
#include "core/result.h"

#define FM_ROWS 24

struct fm_tally {
    unsigned right, wrong, undetermined;
    unsigned inside, intervals; /* how many intervals hold the truth, and how many there are */
};

struct fm_figures {
    struct fm_tally of[FM_ROWS];
    unsigned machines, failed;
};

struct fm_plan {
    unsigned machines, first, jobs;
    uint64_t seed;
    const char *only; /* probes; NULL: all */
    bool counters;    /* the machines' exact ones beside the clock */
    bool noise, show, check;
};

/* What a program counts. */
struct fm_counting {
    const char *name;
    struct fm_plan plan; /* unless the command line says otherwise */
    const char *const *rows;
    size_t row_count;
    bool intervals;   /* are told */
    bool noise_alone; /* there is no quiet pass */
    void (*draw)(const struct fm_plan *plan, unsigned index, struct fm_description *machine);
    void (*show)(unsigned index, const struct fm_description *machine);
    void (*judge)(struct fm_figures *figures, const struct fm_plan *plan, unsigned index,
                  const struct fm_description *machine, const struct fm_result *result);
    /* Whether figures are as good as they were; NULL: nobody asks. */
    bool (*within_bounds)(const struct fm_plan *plan, const struct fm_figures *figures);
};

/* The whole program. */
int fm_count(const struct fm_counting *counting, int argc, char **argv);

/* The cases of a row, at least one, so that it can be divided by. */
double fm_tally_cases(const struct fm_tally *tally);

/* Notes a finding that is none; says so where that is asked for. */
void fm_judge_open(struct fm_tally *tally, const struct fm_plan *plan, unsigned index,
                   const char *name, const struct fm_finding *finding);

/* Holds a number (a word counts as 0, a boolean as 0 or 1) against the truth. */
void fm_judge(struct fm_tally *tally, const struct fm_plan *plan, unsigned index,
              const struct fm_result *result, const char *name, double truth, double slack);

#endif
