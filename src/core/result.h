/* What a survey hands on: findings with their evidence, curves, warnings, the environment. */
#ifndef FM_CORE_RESULT_H
#define FM_CORE_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/machine.h"

enum fm_status { FM_MEASURED, FM_UNDETERMINED, FM_UNSUPPORTED, FM_ABSENT };

enum fm_value_kind { FM_VALUE_NONE, FM_VALUE_NUMBER, FM_VALUE_BOOL, FM_VALUE_TEXT };

/* A value that is not known is FM_VALUE_NONE, never 0. */
struct fm_value {
    enum fm_value_kind kind;
    double number;
    bool truth;
    char text[32]; /* "full", "lru", … */
};

#define FM_PROPERTY_TEXT 48
#define FM_LIST          8

struct fm_finding {
    char property[FM_PROPERTY_TEXT]; /* "l1d.capacity" */
    char unit[16];                   /* "B", "ns", "cycles", "" */
    enum fm_status status;
    struct fm_value value, low, high;
    double confidence; /* how often the truth lies in low..high; 0 where undetermined */
    char method[32];
    char witnesses[FM_LIST][32]; /* empty string ends the list */
    char evidence[FM_LIST][48];
    struct fm_value claimed;
    char claimed_by[32];
    struct fm_value candidates[FM_LIST];
    size_t candidate_count;
    char note[256]; /* empty: none */
};

/* One point of a curve: the distribution of readings across placements at one x. */
struct fm_point {
    double x, y;      /* y: the figure the analysis used */
    double low, high; /* the spread across placements */
};

/* A plateau the analysis read from the curve: it ends at x with height y. */
struct fm_step {
    double x, y;
    char label[32];
};

struct fm_axis {
    char name[32], unit[16];
};

struct fm_curve {
    char id[48];
    struct fm_axis x, y;
    struct fm_point *points;
    size_t point_count, point_space;
    struct fm_step steps[FM_CACHE_LEVELS + 2];
    size_t step_count;
};

struct fm_warning {
    char id[32];
    char text[256];
    char remedy[256];
};

/* A line of the ledger: one property as it is claimed, as it was built and as a program gets it.
   What is not known of it, or does not apply, has no value. */
enum fm_verdict {
    FM_AGREES,  /* what was found is what is claimed */
    FM_DIFFERS, /* it is not; `why` says what may be behind it */
    FM_OPEN     /* the claim could not be checked */
};

struct fm_entry {
    char property[FM_PROPERTY_TEXT];
    char unit[16];
    enum fm_verdict verdict;
    struct fm_value claimed, physical;
    struct fm_value effective, low, high; /* low..high is where a repeat lands */
    char claimed_by[32];
    char why[256]; /* a sentence for people; empty where it agrees */
};

/* One thing known of the surroundings. */
struct fm_fact {
    char key[32];
    struct fm_value value;
};

/* The fact that tells how many bytes changed the size of their pages while they were measured. */
#define FM_PAGES_RESIZED "pages_resized"
/* … and the part of the time in which another thread ran on the core. */
#define FM_CORE_SHARED "core_shared"

struct fm_environment {
    struct fm_fact facts[32];
    size_t count;
};

struct fm_result {
    struct fm_machine_info machine;
    struct fm_environment environment;
    struct fm_finding *findings;
    size_t finding_count, finding_space;
    struct fm_curve *curves;
    size_t curve_count, curve_space;
    struct fm_warning *warnings;
    size_t warning_count, warning_space;
    struct fm_entry *entries; /* of the ledger */
    size_t entry_count, entry_space;
    double elapsed_s;
    bool complete;
};

struct fm_value fm_number(double number);
struct fm_value fm_bool(bool truth);
struct fm_value fm_text(const char *text);
bool fm_value_equal(const struct fm_value *a, const struct fm_value *b);

const char *fm_status_name(enum fm_status status);
const char *fm_verdict_name(enum fm_verdict verdict);

void fm_result_init(struct fm_result *result);
void fm_result_free(struct fm_result *result);

/* Adds a finding for the property, or gives back the one that is there already, so that a later
   probe can refine it. NULL when memory is out. The pointer holds until the next is added. */
struct fm_finding *fm_result_finding(struct fm_result *result, const char *property,
                                     const char *unit);
const struct fm_finding *fm_result_find(const struct fm_result *result, const char *property);

/* An empty curve, or the one of that id, emptied. NULL when memory is out. */
struct fm_curve *fm_result_curve(struct fm_result *result, const char *id);
const struct fm_curve *fm_result_find_curve(const struct fm_result *result, const char *id);
bool fm_curve_add(struct fm_curve *curve, struct fm_point point);
/* Orders points that were added in the order of a search; of some at one x one is left, which spans
   them. */
void fm_curve_sort(struct fm_curve *curve);

/* A second warning of the same id replaces the first. */
void fm_result_warn(struct fm_result *result, const char *id, const char *remedy,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Appends a line to the ledger; false when memory is out. */
bool fm_result_enter(struct fm_result *result, const struct fm_entry *entry);

/* Sets a fact, replacing one of the same key. */
void fm_environment_set(struct fm_environment *environment, const char *key, struct fm_value value);
const struct fm_value *fm_environment_get(const struct fm_environment *environment,
                                          const char *key);

/* Appends a copy of text to a list of fixed-size strings, unless it stands there already. */
void fm_list_add(char *list, size_t width, size_t slots, const char *text);

#endif
