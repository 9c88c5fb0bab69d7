#include "meter/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/divisor.h"
#include "meter/counter.h"

/* The raw clock is not slewed by NTP while we measure; not every POSIX system has it. */
#ifdef CLOCK_MONOTONIC_RAW
#define SYSTEM_CLOCK CLOCK_MONOTONIC_RAW
#else
#define SYSTEM_CLOCK CLOCK_MONOTONIC
#endif

struct clock {
    struct fm_meter meter;
    double ns_per_tick;
};

static uint64_t system_ns(void)
{
    struct timespec time;
    clock_gettime(SYSTEM_CLOCK, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static struct fm_instant counter_now(const struct fm_meter *meter)
{
    (void)meter;
    return (struct fm_instant){fm_counter_read()};
}

static struct fm_instant system_now(const struct fm_meter *meter)
{
    (void)meter;
    return (struct fm_instant){system_ns()};
}

static double elapsed_ns(const struct fm_meter *meter, struct fm_instant a, struct fm_instant b)
{
    return (double)(int64_t)(b.ticks - a.ticks) * ((const struct clock *)meter)->ns_per_tick;
}

static void close_clock(struct fm_meter *meter)
{
    free(meter);
}

static const struct fm_meter_ops counter_ops = {
    .now = counter_now,
    .elapsed_ns = elapsed_ns,
    .close = close_clock,
};

static const struct fm_meter_ops system_ops = {
    .now = system_now,
    .elapsed_ns = elapsed_ns,
    .close = close_clock,
};

/* One moment on both clocks. */
struct moment {
    double ticks;
    double ns;
};

/* The counter is read on both sides of the system clock; of many tries the tightest bracket
   tells best which two readings belong together. */
static struct moment tightest_bracket(void)
{
    struct moment best = {0, 0};
    uint64_t narrowest = UINT64_MAX;
    for (int try = 0; try < 100; try++) {
        const uint64_t before = fm_counter_read();
        const uint64_t ns = system_ns();
        const uint64_t width = fm_counter_read() - before;
        if (width >= narrowest)
            continue;
        narrowest = width;
        best = (struct moment){(double)before + (double)width / 2, (double)ns};
    }
    return best;
}

/* Nanoseconds per tick; 0 when the counter does not move. Brackets some 50 ns wide over 4 ms make
   an error near 1e-5. What the hardware states is exact, and is taken when the measurement
   agrees; but the register is set by firmware, which sometimes gets it wrong. */
static double calibrate(void)
{
    const double span_ns = 4e6;
    const struct moment first = tightest_bracket();
    while ((double)system_ns() < first.ns + span_ns)
        ;
    const struct moment last = tightest_bracket();
    if (!(last.ticks > first.ticks))
        return 0;
    const double measured = (last.ns - first.ns) / (last.ticks - first.ticks);
    const double hint_hz = fm_counter_hint_hz();
    if (hint_hz > 0 && fabs(1e9 / hint_hz / measured - 1) < 2e-4)
        return 1e9 / hint_hz;
    return measured;
}

/* A fenced reading takes longer than a tick, so single ticks are not seen one by one; but all
   differences are multiples of the step by which the counter moves. */
static uint64_t counter_step(void)
{
    uint64_t step = 0;
    uint64_t last = fm_counter_read();
    for (int i = 0; i < 2000; i++) {
        const uint64_t now = fm_counter_read();
        step = fm_common_divisor(now - last, step);
        last = now;
    }
    return step;
}

/* The system clock rounds to whole nanoseconds, so a common divisor would be an artefact of the
   rounding: the smallest step seen is the safe answer. A clock that ticks but a hundred times a
   second is waited for. */
static uint64_t system_step(void)
{
    uint64_t step = UINT64_MAX;
    uint64_t last = system_ns();
    for (int i = 0; i < 2000 || (step == UINT64_MAX && i < 50000000); i++) {
        const uint64_t now = system_ns();
        if (now > last && now - last < step)
            step = now - last;
        last = now;
    }
    return step == UINT64_MAX ? 0 : step;
}

/* What one pair of readings around nothing takes. A pair alone is cut to whole ticks; in a row
   of pairs the cuts average out, and the fastest row was not disturbed. */
static double pair_overhead_ns(const struct fm_meter *meter)
{
    const int rows = 50, pairs = 64;
    double fastest = INFINITY;
    for (int row = 0; row < rows; row++) {
        const struct fm_instant start = meter->ops->now(meter);
        struct fm_instant end = start;
        for (int i = 0; i < pairs; i++)
            end = meter->ops->now(meter);
        const double ns = meter->ops->elapsed_ns(meter, start, end) / pairs;
        if (ns < fastest)
            fastest = ns;
    }
    return fastest > 0 ? fastest : 0;
}

static bool use_counter(struct clock *clock)
{
    if (!fm_counter_present())
        return false;
    clock->ns_per_tick = calibrate();
    if (!(clock->ns_per_tick > 0))
        return false;
    clock->meter.info.resolution_ns = (double)counter_step() * clock->ns_per_tick;
    clock->meter.ops = &counter_ops;
    snprintf(clock->meter.info.name, sizeof clock->meter.info.name, "%s", FM_COUNTER_NAME);
    return clock->meter.info.resolution_ns > 0;
}

static bool use_system_clock(struct clock *clock, double resolution_ns)
{
    clock->ns_per_tick = 1;
    clock->meter.info.resolution_ns = resolution_ns;
    clock->meter.ops = &system_ops;
    snprintf(clock->meter.info.name, sizeof clock->meter.info.name, "clock_gettime");
    return resolution_ns > 0;
}

struct fm_meter *fm_clock_open(struct fm_error *err)
{
    struct clock *clock = calloc(1, sizeof *clock);
    if (!clock) {
        fm_fail(err, FM_ERR_NO_MEMORY, "no memory for the clock");
        return NULL;
    }
    const double system_resolution = (double)system_step();
    bool found = use_counter(clock);
    /* The system clock is often the same counter, seen rounded: it must be clearly finer. */
    if (!found ||
        (system_resolution > 0 && system_resolution < clock->meter.info.resolution_ns / 2))
        found = use_system_clock(clock, system_resolution);
    if (!found) {
        free(clock);
        fm_fail(err, FM_ERR_UNSUPPORTED, "no clock of this computer moves");
        return NULL;
    }
    clock->meter.info.overhead_ns = pair_overhead_ns(&clock->meter);
    return &clock->meter;
}
