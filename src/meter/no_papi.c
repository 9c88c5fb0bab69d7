/* A build without PAPI. */
#include "meter/papi.h"

const struct fm_papi_event fm_papi_misses[] = {{.bit = 0}};
const size_t fm_papi_miss_count = 0;

struct fm_tally *fm_papi_open(const struct fm_papi_event *events, size_t count,
                              struct fm_error *err)
{
    (void)events;
    (void)count;
    fm_fail(err, FM_ERR_UNSUPPORTED,
            "meter: PAPI is not in this build: install the package libpapi-dev and build again");
    return NULL;
}
