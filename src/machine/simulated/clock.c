#include "machine/simulated/clock.h"

#include <math.h>

void fm_sim_clock_open(struct fm_sim_clock *clock, const struct fm_description *description,
                       uint64_t seed)
{
    *clock = (struct fm_sim_clock){.noise = description->noise,
                                   .cycle_ns = 1000.0 / description->clock_mhz};
    fm_rng_seed(&clock->rng, seed);
    fm_sim_clock_draw_pollution(clock);
}

void fm_sim_clock_pass(struct fm_sim_clock *clock, double cycles)
{
    clock->now_ns += cycles * clock->cycle_ns;
}

/* The logarithm of a uniform variate that is never 0. */
static double log_unit(struct fm_rng *rng)
{
    return log(1.0 - fm_rng_unit(rng));
}

static double reading(const struct fm_sim_clock *clock)
{
    const double step = clock->noise.timer_ns;
    return step > 0 ? floor(clock->now_ns / step) * step : clock->now_ns;
}

double fm_sim_clock_time(struct fm_sim_clock *clock, double cycles)
{
    const struct fm_noise_description *noise = &clock->noise;
    double noisy = cycles;
    if (noise->jitter > 0)
        noisy -= cycles * noise->jitter * log_unit(&clock->rng);
    if (noise->spike_probability > 0 && fm_rng_unit(&clock->rng) < noise->spike_probability)
        noisy += noise->spike_cycles;
    if (noise->timer_ns <= 0) {
        /* The difference of two large readings would not be exact. */
        fm_sim_clock_pass(clock, noisy);
        return noisy * clock->cycle_ns;
    }
    const double before = reading(clock);
    fm_sim_clock_pass(clock, noisy);
    return reading(clock) - before;
}

void fm_sim_clock_draw_pollution(struct fm_sim_clock *clock)
{
    const double chance = clock->noise.pollution;
    clock->until_pollution = UINT64_MAX;
    if (chance <= 0)
        return;
    /* Geometric: how often the coin is thrown until it falls. */
    const double throws = chance < 1 ? ceil(log_unit(&clock->rng) / log1p(-chance)) : 1;
    if (throws < 1e18)
        clock->until_pollution = throws < 1 ? 1 : (uint64_t)throws;
}
