/* Another thread on the core, by a clock that says what the test wants. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "machine/native/sibling.h"

/* Chains and independent operations are timed in turns, the chain first. */
struct shared_core {
    struct fm_meter meter; /* first, so that a meter can be taken for it */
    uint64_t readings;
    double cycle_ns;             /* how fast the core runs */
    double wider;                /* what another thread makes of independent operations */
    uint64_t until, spoilt_each; /* readings it lasts; every so manieth is interrupted, 0: none */
    bool held_up;                /* what depends takes longer, the rest does not */
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
    struct shared_core *core = (struct shared_core *)meter;
    const uint64_t reading = core->readings++;
    const double interrupt =
        core->spoilt_each && reading % core->spoilt_each == core->spoilt_each - 1 ? 5e3 : 0;
    const double shared = reading < core->until ? core->wider : 1;
    const double chain = core->held_up ? 600 : 400;
    return core->cycle_ns * (reading % 2 ? 800 * shared : chain) + interrupt;
}

static const struct fm_meter_ops ops = {.now = now, .elapsed_ns = elapsed_ns};

static void open_sibling(struct fm_sibling *sibling, struct shared_core *core)
{
    *core = (struct shared_core){
        .meter = {.ops = &ops, .info = {.resolution_ns = 1}}, .cycle_ns = 0.4, .wider = 1.4};
    fm_sibling_open(sibling, &core->meter);
    core->readings = 0;
}

static void tells_alone_from_shared(void **state)
{
    (void)state;
    struct fm_sibling sibling;
    struct shared_core core;
    open_sibling(&sibling, &core);
    assert_true(fm_sibling_is_idle(&sibling));
    core.until = UINT64_MAX;
    assert_false(fm_sibling_is_idle(&sibling));
    assert_true(fm_sibling_busy(&sibling) == 0.5);
}

/* A core that slows down is no other thread. */
static void does_not_mind_frequency(void **state)
{
    (void)state;
    struct fm_sibling sibling;
    struct shared_core core;
    open_sibling(&sibling, &core);
    core.cycle_ns = 0.9;
    assert_true(fm_sibling_is_idle(&sibling));
    core.cycle_ns = 0.3;
    assert_true(fm_sibling_is_idle(&sibling));
}

/* An interrupt in one reading makes neither a thread of it nor a new best of all. */
static void does_not_mind_interrupts(void **state)
{
    (void)state;
    struct fm_sibling sibling;
    struct shared_core core;
    open_sibling(&sibling, &core);
    core.spoilt_each = 7;
    for (int i = 0; i < 50; i++)
        assert_true(fm_sibling_is_idle(&sibling));
    core.spoilt_each = 0;
    core.held_up = true;
    assert_true(fm_sibling_is_idle(&sibling));
    core.held_up = false;
    assert_true(fm_sibling_is_idle(&sibling));
}

static void waits_until_it_is_gone(void **state)
{
    (void)state;
    struct fm_sibling sibling;
    struct fm_patience patience = {0};
    struct shared_core core;
    open_sibling(&sibling, &core);
    core.until = 100;
    assert_true(fm_sibling_wait(&sibling, &patience, 0));
    assert_true(patience.waited_ns > 0);
}

/* It had been there from the beginning, and its going is noticed. */
static void learns_what_alone_is(void **state)
{
    (void)state;
    struct fm_sibling sibling;
    struct shared_core core;
    open_sibling(&sibling, &core);
    sibling.least *= 1.4;
    core.until = 8;
    assert_true(fm_sibling_is_idle(&sibling));
    core.readings = 8;
    assert_true(fm_sibling_is_idle(&sibling));
    core.readings = 0;
    assert_false(fm_sibling_is_idle(&sibling));
}

static void does_not_wait_for_ever(void **state)
{
    (void)state;
    struct fm_sibling sibling;
    struct fm_patience patience = {0};
    struct shared_core core;
    open_sibling(&sibling, &core);
    core.until = UINT64_MAX;
    assert_false(fm_sibling_wait(&sibling, &patience, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_alone_from_shared),  cmocka_unit_test(does_not_mind_frequency),
        cmocka_unit_test(does_not_mind_interrupts), cmocka_unit_test(waits_until_it_is_gone),
        cmocka_unit_test(learns_what_alone_is),     cmocka_unit_test(does_not_wait_for_ever),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
