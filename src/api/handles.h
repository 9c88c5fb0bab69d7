/* What is behind the opaque handles of fathom.h. */
#ifndef FM_API_HANDLES_H
#define FM_API_HANDLES_H

#include <stdbool.h>

#include "claims/claims.h"
#include "core/error.h"
#include "core/machine.h"
#include "core/meter.h"
#include "core/result.h"
#include "core/survey_options.h"
#include "fathom.h"
#include "format/recording.h"

enum fm_meter_choice {
    FM_METER_AUTO,
    FM_METER_CLOCK,
    FM_METER_SIM,
    FM_METER_CALLGRIND,
    FM_METER_PERF,
    FM_METER_PAPI
};

#define FM_API_OPTIONS 11

struct fathom_options {
    struct fm_survey_options survey;
    char *given[FM_API_OPTIONS]; /* each option's text as it was set, owned; NULL: never */
    const char *machines;        /* the folder, in given; NULL: those shipped */
    const char *callgrind;       /* its caches, in given; NULL: not that model */
    const char *events;          /* of perf, in given; NULL: those that are known */
    enum fm_meter_choice meter;
    int cpu; /* -1: the one we run on */
};

/* Which survey options were set goes into a recording; a replay sets them again where the caller
   did not. Options of machines are left out: the recording is the machine. */
bool fm_api_options_keep(const struct fathom_options *options, struct fm_recording *recording,
                         struct fm_error *err);
struct fathom_options *fm_api_options_recall(const struct fathom_options *options,
                                             const struct fm_recording *recording,
                                             struct fathom_error *err);

/* Claims travel with a recording, as options named by their property. */
bool fm_api_claims_keep(const struct fm_claims *claims, struct fm_recording *recording,
                        struct fm_error *err);
void fm_api_claims_recall(struct fm_claims *claims, const struct fm_recording *recording);

struct fathom_result {
    struct fm_result result;
};

/* Hands an inner error on and returns false; inner texts are escaped on the way. */
bool fm_api_fail(struct fathom_error *err, const struct fm_error *inner);
bool fm_api_out_of_memory(struct fathom_error *err);

/* The folder of the described machines: the one asked for, or the source tree's while the program
   has not been installed, or the installed one. Never NULL. */
const char *fm_api_machines_folder(const struct fathom_options *options);

#endif
