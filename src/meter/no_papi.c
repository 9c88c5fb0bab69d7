/* A build without PAPI. */
#include "meter/papi.h"

const struct fm_papi_event fm_papi_misses[] = {{.bit = 0}};
const size_t fm_papi_miss_count = 0;
const struct fm_papi_event fm_papi_of_commands[] = {{.bit = 0}};
const size_t fm_papi_of_command_count = 0;

static void refuse(struct fm_error *err)
{
    fm_fail(err, FM_ERR_UNSUPPORTED,
            "meter: PAPI is not in this build: install the package libpapi-dev and build again");
}

struct fm_tally *fm_papi_open(const struct fm_papi_event *events, size_t count,
                              struct fm_error *err)
{
    (void)events;
    (void)count;
    refuse(err);
    return NULL;
}

struct fm_command_meter *fm_papi_command_open(const struct fm_papi_event *events, size_t count,
                                              struct fm_error *err)
{
    (void)events;
    (void)count;
    refuse(err);
    return NULL;
}
