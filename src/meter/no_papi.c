/* A build without PAPI. */
#include "meter/papi.h"

const struct fm_papi_plan fm_papi_misses = {.count = 0};
const struct fm_papi_plan fm_papi_of_commands = {.count = 0};

static void refuse(struct fm_error *err)
{
    fm_fail(err, FM_ERR_UNSUPPORTED,
            "meter: PAPI is not in this build: install the package libpapi-dev and build again");
}

bool fm_papi_name_events(const char *list, struct fm_papi_named *named, struct fm_error *err)
{
    (void)list;
    (void)named;
    refuse(err);
    return false;
}

struct fm_tally *fm_papi_open(const struct fm_papi_plan *plan, struct fm_perf_account *account,
                              struct fm_error *err)
{
    (void)plan;
    if (account)
        *account = (struct fm_perf_account){0};
    refuse(err);
    return NULL;
}

struct fm_command_meter *fm_papi_command_open(const struct fm_papi_plan *plan, struct fm_error *err)
{
    (void)plan;
    refuse(err);
    return NULL;
}
