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
/* Adds the first of the event's names that PAPI takes; false when that is none. */
bool fm_papi_set_add(struct fm_papi_set *set, const struct fm_papi_event *event);
void fm_papi_set_close(struct fm_papi_set *set);

#endif
