#include "core/rng.h"

__extension__ typedef unsigned __int128 fm_uint128;

/* xoshiro256** (Blackman and Vigna), seeded through splitmix64 as its authors advise. */

void fm_rng_seed(struct fm_rng *rng, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        rng->state[i] = fm_mix64(seed + (uint64_t)i * 0x9e3779b97f4a7c15u);
}

static uint64_t rotate_left(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t fm_rng_next(struct fm_rng *rng)
{
    uint64_t *s = rng->state;
    const uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    const uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t fm_rng_below(struct fm_rng *rng, uint64_t bound)
{
    /* Lemire's multiply-and-shift: a division only in the rare case that could be biased. */
    fm_uint128 product = (fm_uint128)fm_rng_next(rng) * bound;
    if ((uint64_t)product < bound) {
        const uint64_t threshold = -bound % bound;
        while ((uint64_t)product < threshold)
            product = (fm_uint128)fm_rng_next(rng) * bound;
    }
    return (uint64_t)(product >> 64);
}

double fm_rng_unit(struct fm_rng *rng)
{
    return (double)(fm_rng_next(rng) >> 11) * 0x1.0p-53;
}

void fm_rng_shuffle(struct fm_rng *rng, uint32_t *items, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        const size_t j = (size_t)fm_rng_below(rng, i);
        const uint32_t swap = items[i - 1];
        items[i - 1] = items[j];
        items[j] = swap;
    }
}
