/* A build without libpfm4 knows no native events. */
#include "meter/pfm.h"

bool fm_pfm_encode(const char *name, struct fm_pfm_code *code)
{
    (void)name;
    (void)code;
    return false;
}
