/* The clock of a simulated machine, and the noise on it: time is only ever added.
 *
 * A timed run of t true cycles takes t times one plus an exponential variate of mean `jitter`
 * (whose standard deviation is its mean), and with `spike_probability` `spike_cycles` more. The
 * clock is read before and after, each time rounded down to a multiple of timer_ns. */
#ifndef FM_MACHINE_SIMULATED_CLOCK_H
#define FM_MACHINE_SIMULATED_CLOCK_H

#include <stdint.h>

#include "core/description.h"
#include "core/rng.h"

struct fm_sim_clock {
    struct fm_noise_description noise;
    double cycle_ns;
    double now_ns;
    struct fm_rng rng;
    uint64_t until_pollution; /* references; UINT64_MAX: never */
};

void fm_sim_clock_open(struct fm_sim_clock *clock, const struct fm_description *description,
                       uint64_t seed);

/* Time that nobody measures. */
void fm_sim_clock_pass(struct fm_sim_clock *clock, double cycles);

/* A timed run: what the clock shows for it, in nanoseconds. */
double fm_sim_clock_time(struct fm_sim_clock *clock, double cycles);

/* Draws how many references there are from one pollution to the next, so that the references in
   between cost nothing to decide. */
void fm_sim_clock_draw_pollution(struct fm_sim_clock *clock);

#endif
