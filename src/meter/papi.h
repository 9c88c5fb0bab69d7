/* The PAPI meter: presets where PAPI has them, native events where not. */
#ifndef FM_METER_PAPI_H
#define FM_METER_PAPI_H

#include <stddef.h>

#include "core/error.h"
#include "core/meter.h"
#include "meter/perf.h"

/* The names of presets to try for the misses of a structure, best first; a name may be a sum,
   "A+B". */
#define FM_PAPI_NAMES 4
struct fm_papi_event {
    unsigned bit;
    const char *names[FM_PAPI_NAMES]; /* ends with NULL unless it is full */
};

/* What is to be counted: of each event the presets are tried first, then native ones. */
struct fm_papi_plan {
    const struct fm_papi_event *presets;
    size_t count;
    const struct fm_perf_events *native; /* by libpfm4's names, which are PAPI's; may be NULL */
    unsigned without;                    /* events that are left out, as bits */
};
extern const struct fm_papi_plan fm_papi_misses;

/* Those, but for structures that a list names an event of: "l1d=NAME,dtlb1=A+B". USAGE with what is
   wrong where it is no such list, or PAPI knows no such event. */
struct fm_papi_named {
    struct fm_perf_named native;
    struct fm_papi_event presets[FM_EVENTS]; /* behind those that were named */
    struct fm_papi_plan plan;
};
bool fm_papi_name_events(const char *list, struct fm_papi_named *named, struct fm_error *err);

/* Opens those that PAPI takes; account, which may be NULL, has what came of each. NULL with err
   filled (UNSUPPORTED) where that is none, or where PAPI is not in this build. PAPI claims counters
   on machines without any: only fm_tally_prove tells. */
struct fm_tally *fm_papi_open(const struct fm_papi_plan *plan, struct fm_perf_account *account,
                              struct fm_error *err);

/* The same for commands, by enum fm_command_event. UNSUPPORTED also where PAPI cannot follow other
   programs, which it cannot without a PMU. */
extern const struct fm_papi_plan fm_papi_of_commands;
struct fm_command_meter *fm_papi_command_open(const struct fm_papi_plan *plan,
                                              struct fm_error *err);

#endif
