/* A set of PAPI's events, which are started and stopped together. */
#ifndef FM_METER_PAPI_SET_H
#define FM_METER_PAPI_SET_H

#include "meter/papi.h"

/* Events of a set, sums counted by their terms. */
#define FM_PAPI_TERMS 16

/* One event of PAPI, and the count that it is part of. */
struct fm_papi_term {
    int code;
    unsigned bit;
};

struct fm_papi_set {
    int handle;
    struct fm_papi_term terms[FM_PAPI_TERMS]; /* in the order of their values */
    size_t count;
};

bool fm_papi_set_open(struct fm_papi_set *set, struct fm_error *err);
/* Adds what PAPI takes of the plan: of each event the first preset that it does, or the first
   native one. Returns the events as bits; account, which may be NULL, has their names, and why
   others are not counted. */
unsigned fm_papi_set_fill(struct fm_papi_set *set, const struct fm_papi_plan *plan,
                          struct fm_perf_account *account);
void fm_papi_set_close(struct fm_papi_set *set);

#endif
