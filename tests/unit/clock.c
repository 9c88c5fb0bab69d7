/* The clock meter: it moves forward, at the right speed, and knows its own grain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "meter/clock.h"

static struct fm_meter *open_clock(void)
{
    struct fm_error err = {0};
    struct fm_meter *clock = fm_clock_open(&err);
    assert_non_null(clock);
    return clock;
}

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void knows_itself(void **state)
{
    (void)state;
    struct fm_meter *clock = open_clock();
    assert_true(strlen(clock->info.name) > 0);
    assert_true(clock->info.resolution_ns > 0);
    assert_true(clock->info.resolution_ns < 1e8);
    assert_true(clock->info.overhead_ns >= 0);
    assert_true(clock->info.overhead_ns < 1e6);
    clock->ops->close(clock);
}

static void never_goes_back(void **state)
{
    (void)state;
    struct fm_meter *clock = open_clock();
    struct fm_instant last = clock->ops->now(clock);
    for (int i = 0; i < 10000; i++) {
        const struct fm_instant now = clock->ops->now(clock);
        assert_true(clock->ops->elapsed_ns(clock, last, now) >= 0);
        last = now;
    }
    clock->ops->close(clock);
}

/* A row of readings cannot be faster than the overhead says, beyond rounding to ticks. */
static void overhead_is_a_floor(void **state)
{
    (void)state;
    struct fm_meter *clock = open_clock();
    const int pairs = 256;
    const struct fm_instant start = clock->ops->now(clock);
    struct fm_instant end = start;
    for (int i = 0; i < pairs; i++)
        end = clock->ops->now(clock);
    const double ns = clock->ops->elapsed_ns(clock, start, end);
    assert_true(ns + 2 * clock->info.resolution_ns >= 0.5 * pairs * clock->info.overhead_ns);
    clock->ops->close(clock);
}

/* The readings of the two clocks are taken close together or, when something comes between them,
   not believed: a busy computer must not turn this red. */
static void keeps_time(void **state)
{
    (void)state;
    struct fm_meter *clock = open_clock();
    for (int try = 0; try < 20; try++) {
        const double before = seconds();
        const struct fm_instant start = clock->ops->now(clock);
        const double after_start = seconds();
        while (seconds() < before + 0.02)
            ;
        const double before_end = seconds();
        const struct fm_instant end = clock->ops->now(clock);
        const double after = seconds();
        if (after_start - before > 1e-4 || after - before_end > 1e-4)
            continue;
        const double ns = clock->ops->elapsed_ns(clock, start, end);
        assert_true(ns > (before_end - after_start) * 1e9 * 0.98);
        assert_true(ns < (after - before) * 1e9 * 1.02);
        clock->ops->close(clock);
        return;
    }
    clock->ops->close(clock);
    skip();
}

int main(void)
{
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_itself),
        cmocka_unit_test(never_goes_back),
        cmocka_unit_test(overhead_is_a_floor),
        cmocka_unit_test(keeps_time),
    };
    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
