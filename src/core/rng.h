/* Seeded random numbers: every random choice of a survey comes from one of these. */
#ifndef FM_CORE_RNG_H
#define FM_CORE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct fm_rng {
    uint64_t state[4];
};

/* Any seed will do, 0 included. */
void fm_rng_seed(struct fm_rng *rng, uint64_t seed);
uint64_t fm_rng_next(struct fm_rng *rng);

/* Uniform in 0 .. bound-1 without bias; bound must not be 0. */
uint64_t fm_rng_below(struct fm_rng *rng, uint64_t bound);

/* Uniform in [0, 1). */
double fm_rng_unit(struct fm_rng *rng);

void fm_rng_shuffle(struct fm_rng *rng, uint32_t *items, size_t count);

/* A well-mixed function of its argument, for places that need randomness without a state. */
static inline uint64_t fm_mix64(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

#endif
