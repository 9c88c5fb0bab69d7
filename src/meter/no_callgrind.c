/* A build without valgrind's headers cannot ask callgrind anything. */
#include "meter/callgrind.h"

bool fm_callgrind_here(void)
{
    return false;
}

struct fm_tally *fm_callgrind_open(bool code, struct fm_error *err)
{
    (void)code;
    fm_fail(err, FM_ERR_UNSUPPORTED,
            "meter: callgrind is not in this build: install the package valgrind and build again");
    return NULL;
}
