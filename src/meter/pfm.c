#include "meter/pfm.h"

#include <perfmon/pfmlib_perf_event.h>
#include <string.h>

bool fm_pfm_encode(const char *name, struct fm_pfm_code *code)
{
    struct perf_event_attr attr;
    pfm_perf_encode_arg_t request;
    memset(&attr, 0, sizeof attr);
    memset(&request, 0, sizeof request);
    request.attr = &attr;
    request.size = sizeof request;
    if (pfm_initialize() != PFM_SUCCESS ||
        pfm_get_os_event_encoding(name, PFM_PLM3, PFM_OS_PERF_EVENT, &request) != PFM_SUCCESS)
        return false;
    *code = (struct fm_pfm_code){attr.type, attr.config, attr.config1, attr.config2};
    return true;
}
