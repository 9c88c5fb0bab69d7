/* The PAPI meter: presets where PAPI has them, native events where not. */
#ifndef FM_METER_PAPI_H
#define FM_METER_PAPI_H

#include <stddef.h>

#include "core/error.h"
#include "core/meter.h"

/* The names to try for the misses of a structure, best first; a name may be a sum, "A+B". */
#define FM_PAPI_NAMES 4
struct fm_papi_event {
    unsigned bit;
    const char *names[FM_PAPI_NAMES]; /* ends with NULL unless it is full */
};
extern const struct fm_papi_event fm_papi_misses[];
extern const size_t fm_papi_miss_count;

/* Opens those that PAPI takes. NULL with err filled (UNSUPPORTED) where that is none, or where PAPI
   is not in this build. PAPI claims counters on machines without any: only fm_tally_prove tells. */
struct fm_tally *fm_papi_open(const struct fm_papi_event *events, size_t count,
                              struct fm_error *err);

/* The same for commands, by enum fm_command_event. UNSUPPORTED also where PAPI cannot follow other
   programs, which it cannot without a PMU. */
extern const struct fm_papi_event fm_papi_of_commands[];
extern const size_t fm_papi_of_command_count;
struct fm_command_meter *fm_papi_command_open(const struct fm_papi_event *events, size_t count,
                                              struct fm_error *err);

#endif
