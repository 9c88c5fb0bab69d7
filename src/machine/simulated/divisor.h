/* Division by a number that is known long before: sets need not be a power of two, and a hardware
   divide at every level would be half of a simulated reference's time. */
#ifndef FM_MACHINE_SIMULATED_DIVISOR_H
#define FM_MACHINE_SIMULATED_DIVISOR_H

#include <stdint.h>

__extension__ typedef unsigned __int128 fm_wide;

struct fm_divisor {
    uint32_t number;
    uint32_t shift; /* of a power of two */
    uint64_t magic; /* 0: it is a power of two */
};

static inline struct fm_divisor fm_divisor_of(uint32_t number)
{
    if ((number & (number - 1)) == 0)
        return (struct fm_divisor){number, (uint32_t)__builtin_ctz(number), 0};
    return (struct fm_divisor){number, 0, UINT64_MAX / number + 1};
}

static inline uint32_t fm_quotient(struct fm_divisor by, uint32_t x)
{
    /* Exact for every 32-bit x (Lemire, Kaser and Kurz 2019). */
    return by.magic ? (uint32_t)(((fm_wide)by.magic * x) >> 64) : x >> by.shift;
}

static inline uint32_t fm_remainder(struct fm_divisor by, uint32_t x)
{
    return by.magic ? x - fm_quotient(by, x) * by.number : x & (by.number - 1);
}

#endif
