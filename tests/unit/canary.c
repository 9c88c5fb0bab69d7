/* The walk that always takes the same, by a clock that says what the test wants. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "machine/native/canary.h"
#include "machine/native/pages.h"

/* Every second reading takes longer, until so many have been taken. */
struct wavering {
    struct fm_meter meter; /* first, so that a meter can be taken for it */
    uint64_t readings, until;
};

static struct fm_instant now(const struct fm_meter *meter)
{
    (void)meter;
    return (struct fm_instant){0};
}

static double elapsed_ns(const struct fm_meter *meter, struct fm_instant a, struct fm_instant b)
{
    (void)a;
    (void)b;
    struct wavering *clock = (struct wavering *)meter;
    const uint64_t reading = clock->readings++;
    return reading < clock->until && reading % 2 ? 25e3 : 20e3;
}

static const struct fm_meter_ops ops = {.now = now, .elapsed_ns = elapsed_ns};

static void open_canary(struct fm_canary *canary, struct wavering *clock, uint64_t until)
{
    *clock = (struct wavering){.meter = {.ops = &ops, .info = {.resolution_ns = 1}}};
    fm_canary_open(canary, &clock->meter, fm_base_page());
    assert_non_null(canary->base);
    clock->readings = 0;
    clock->until = until;
}

static void forgives_what_it_may(void **state)
{
    (void)state;
    const double even[] = {100, 101, 100, 100}, one[] = {100, 200, 101, 100},
                 two[] = {100, 103, 100, 103};
    assert_true(fm_canary_even(even, 4, 0));
    assert_true(fm_canary_even(one, 4, 1));
    assert_false(fm_canary_even(two, 4, 1));
}

static void tells_calm_from_storm(void **state)
{
    (void)state;
    struct fm_canary canary;
    struct wavering clock;
    open_canary(&canary, &clock, 0);
    assert_true(fm_canary_is_calm(&canary));
    clock.until = UINT64_MAX;
    assert_false(fm_canary_is_calm(&canary));
    fm_canary_close(&canary);
}

static void waits_until_it_is_over(void **state)
{
    (void)state;
    struct fm_canary canary;
    struct fm_patience patience = {0};
    struct wavering clock;
    open_canary(&canary, &clock, 30);
    assert_true(fm_canary_wait(&canary, &patience, 0));
    assert_true(patience.waited_ns > 0);
    assert_true(fm_canary_is_calm(&canary));
    fm_canary_close(&canary);
}

/* What it may wait for grows with the time that has passed, and ends. */
static void does_not_wait_for_ever(void **state)
{
    (void)state;
    struct fm_canary canary;
    struct fm_patience patience = {0};
    struct wavering clock;
    open_canary(&canary, &clock, UINT64_MAX);
    assert_false(fm_canary_wait(&canary, &patience, 0));
    const double at_first = patience.waited_ns;
    assert_false(fm_canary_wait(&canary, &patience, 0));
    assert_true(patience.waited_ns == at_first);
    assert_false(fm_canary_wait(&canary, &patience, 2e9));
    assert_true(patience.waited_ns > at_first && patience.waited_ns < at_first + 2e9);
    fm_canary_close(&canary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forgives_what_it_may),
        cmocka_unit_test(tells_calm_from_storm),
        cmocka_unit_test(waits_until_it_is_over),
        cmocka_unit_test(does_not_wait_for_ever),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
