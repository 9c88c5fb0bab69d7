/* What two numbers have in common. */
#ifndef FM_CORE_DIVISOR_H
#define FM_CORE_DIVISOR_H

#include <stdint.h>

/* The greatest common divisor; of 0 and another number the other. */
static inline uint64_t fm_common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
