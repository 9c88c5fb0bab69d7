/* This computer as a machine. Nothing here depends on how fast or how quiet it is. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/result.h"
#include "core/rng.h"
#include "fake_tree.h"
#include "machine/native/computer.h"
#include "machine/native/hypervisor.h"
#include "machine/native/loops.h"
#include "machine/native/native.h"
#include "machine/native/pages.h"
#include "machine/native/watch.h"
#include "meter/clock.h"

/* MADV_COLLAPSE, which older headers do not have; older kernels refuse it. */
#define COLLAPSE 25

struct setting {
    struct fm_meter *clock;
    struct fm_machine *machine;
    cpu_set_t before; /* where the test was allowed to run */
};

static int set_up(void **state)
{
    static struct setting setting;
    struct fm_error err;
    sched_getaffinity(0, sizeof setting.before, &setting.before);
    setting.clock = fm_clock_open(&err);
    setting.machine = setting.clock ? fm_native_open(-1, setting.clock, &err) : NULL;
    *state = &setting;
    return setting.machine ? 0 : -1;
}

static int tear_down(void **state)
{
    struct setting *setting = *state;
    setting->machine->ops->close(setting->machine);
    setting->clock->ops->close(setting->clock);
    return 0;
}

static struct fm_machine *machine_of(void **state)
{
    return ((struct setting *)*state)->machine;
}

static char *arena_of(struct fm_machine *machine)
{
    return ((struct fm_computer *)machine)->arena.base;
}

static void place(struct fm_machine *machine, size_t bytes)
{
    struct fm_error err = {0};
    if (!machine->ops->place(machine, bytes, 0, &err))
        fail_msg("%s", err.text);
}

#define LINES      64
#define LINE_WORDS 8

/* A shuffled order over one word of each of 64 lines, chased once round and then `references`. */
static struct fm_string string_of(uint32_t word[LINES], uint64_t references)
{
    struct fm_rng rng;
    fm_rng_seed(&rng, 7);
    for (uint32_t i = 0; i < LINES; i++)
        word[i] = i * LINE_WORDS;
    fm_rng_shuffle(&rng, word, LINES);
    return (struct fm_string){
        .label = "test",
        .bytes = LINES * LINE_WORDS * FM_WORD,
        .orders = {{word, LINES}},
        .order_count = 1,
        .phases = {{.references = LINES, .chained = true},
                   {.references = references, .chained = true, .metered = true}},
        .phase_count = 2,
    };
}

static void says_what_it_is(void **state)
{
    const struct fm_machine_info *info = &machine_of(state)->info;
    assert_string_equal(info->kind, "native");
    assert_true(strlen(info->name) > 0);
    assert_true(strlen(info->arch) > 0);
    assert_int_equal(info->page_size, sysconf(_SC_PAGESIZE));
    assert_true(info->memory_limit > 0);
    assert_true(info->clock.resolution_ns > 0);
}

static void stays_on_its_cpu(void **state)
{
    struct fm_machine *machine = machine_of(state);
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    assert_int_equal(CPU_COUNT(&set), 1);
    assert_true(CPU_ISSET((size_t)machine->info.cpu, &set));
    assert_int_equal(sched_getcpu(), machine->info.cpu);
}

/* Opened while the thread may run anywhere, a machine leaves it so; then back to the CPU that the
   other tests expect. */
static void lets_go_of_the_cpu(void **state)
{
    struct setting *setting = *state;
    struct fm_error err;
    cpu_set_t pinned, during, after;
    sched_getaffinity(0, sizeof pinned, &pinned);
    sched_setaffinity(0, sizeof setting->before, &setting->before);
    struct fm_machine *machine = fm_native_open(-1, setting->clock, &err);
    assert_non_null(machine);
    sched_getaffinity(0, sizeof during, &during);
    machine->ops->close(machine);
    sched_getaffinity(0, sizeof after, &after);
    sched_setaffinity(0, sizeof pinned, &pinned);
    assert_int_equal(CPU_COUNT(&during), 1);
    assert_true(CPU_EQUAL(&setting->before, &after));
}

static void refuses_a_cpu_that_is_not_there(void **state)
{
    struct setting *setting = *state;
    const int cpus[] = {8191, 1 << 30, -2};
    for (size_t i = 0; i < 3; i++) {
        struct fm_error err = {0};
        char name[16], allowed[32];
        assert_null(fm_native_open(cpus[i], setting->clock, &err));
        assert_int_equal(err.code, FM_ERR_UNSUPPORTED);
        snprintf(name, sizeof name, "CPU %d ", cpus[i]);
        assert_non_null(strstr(err.text, name));
        snprintf(allowed, sizeof allowed, "allowed: %d", setting->machine->info.cpu);
        assert_non_null(strstr(err.text, allowed));
    }
}

static void chain_visits_its_order(void **state)
{
    struct fm_machine *machine = machine_of(state);
    place(machine, 1 << 16);
    uint32_t word[LINES];
    struct fm_string string = string_of(word, 5 * LINES);
    struct fm_sample sample;
    struct fm_error err;
    assert_true(machine->ops->run(machine, &string, 1, &sample, &err));
    assert_int_equal(sample.references, 5 * LINES);
    assert_false(sample.counted);
    char *base = arena_of(machine);
    char *start = base + word[0] * FM_WORD;
    for (uint64_t steps = 0; steps < 3 * LINES; steps++) {
        assert_ptr_equal(fm_chase(start, steps), base + word[steps % LINES] * FM_WORD);
        assert_ptr_equal(fm_chase_real(start, steps), base + word[steps % LINES] * FM_WORD);
    }
}

static void pairs_visit_their_order(void **state)
{
    struct fm_machine *machine = machine_of(state);
    place(machine, 1 << 16);
    uint32_t word[LINES];
    struct fm_string string = string_of(word, 4 * LINES);
    struct fm_sample sample;
    struct fm_error err;
    struct fm_phase *metered = &string.phases[string.phase_count - 1];
    metered->op = FM_OP_LOAD_PAIR;
    metered->chained = false;
    string.orders[0].count = LINES / 2 * 2;
    assert_true(machine->ops->run(machine, &string, 1, &sample, &err));
    assert_int_equal(sample.references, 4 * LINES);
    char *base = arena_of(machine);
    for (uint64_t pairs = 0; pairs < 3 * LINES; pairs++) {
        void *ends[2] = {base + word[0] * FM_WORD, base + word[1] * FM_WORD};
        fm_chase_pairs(ends, pairs);
        const size_t at = 2 * pairs % string.orders[0].count;
        assert_ptr_equal(ends[0], base + word[at] * FM_WORD);
        assert_ptr_equal(ends[1], base + word[at + 1] * FM_WORD);
    }
    metered->references++;
    assert_false(machine->ops->run(machine, &string, 1, &sample, &err));
}

/* Plain walks load every word as often as they should: a sum over marked words shows it. */
static void walks_touch_their_words(void **state)
{
    (void)state;
    uint64_t arena[4] = {0}, values[3] = {1, 2, 4};
    const uint32_t word[3] = {3, 0, 2};
    struct fm_walk walk = {(char *)arena, word, 3, 0};
    fm_walk_store(&walk, values, 2);
    assert_int_equal(arena[3], 1);
    assert_int_equal(arena[0], 2);
    assert_int_equal(arena[2], 0);
    fm_walk_store(&walk, values, 4);
    assert_int_equal(arena[2], 4);
    assert_int_equal(arena[1], 0);
    assert_int_equal(walk.at, 0);
    assert_int_equal(fm_walk_load(&walk, 2), 3);
    assert_int_equal(walk.at, 2);
    assert_int_equal(fm_walk_load(&walk, 1), 4);
    assert_int_equal(fm_walk_load(&walk, 7), 7);
    assert_int_equal(fm_walk_load_dependent(&walk, 1), 2);
    assert_int_equal(fm_walk_load_dependent(&walk, 30), 2);
    fm_walk_flush(&walk, 5);
    assert_int_equal(walk.at, 1);
    assert_int_equal(arena[3], 1);
    fm_walk_flusher_here()(&walk, 7);
    assert_int_equal(walk.at, 2);
    assert_int_equal(arena[3], 1);
}

static double fastest(struct fm_machine *machine, const struct fm_string *string)
{
    struct fm_sample samples[20];
    struct fm_error err;
    assert_true(machine->ops->run(machine, string, 20, samples, &err));
    double ns = samples[0].ns;
    for (int i = 1; i < 20; i++)
        ns = samples[i].ns < ns ? samples[i].ns : ns;
    return ns;
}

/* A chase that the compiler threw away would take no longer for a hundred times the steps. */
static void time_grows_with_length(void **state)
{
    struct fm_machine *machine = machine_of(state);
    place(machine, 1 << 16);
    uint32_t word[LINES];
    struct fm_string brief = string_of(word, 1000);
    struct fm_string longer = string_of(word, 100000);
    assert_true(fastest(machine, &longer) > 20 * fastest(machine, &brief));
    brief.phases[1].chained = longer.phases[1].chained = false;
    assert_true(fastest(machine, &longer) > 20 * fastest(machine, &brief));
}

static double fastest_chain(struct fm_machine *machine, enum fm_chain kind, uint64_t operations)
{
    double ns = 1e300;
    for (int i = 0; i < 20; i++) {
        struct fm_sample sample;
        struct fm_error err;
        assert_true(machine->ops->chain(machine, kind, operations, &sample, &err));
        assert_int_equal(sample.references, operations);
        ns = sample.ns < ns ? sample.ns : ns;
    }
    return ns;
}

static void chains_grow_with_length(void **state)
{
    struct fm_machine *machine = machine_of(state);
    for (enum fm_chain kind = FM_CHAIN_ADD; kind <= FM_CHAIN_ROTATE; kind++)
        assert_true(fastest_chain(machine, kind, 1000000) >
                    20 * fastest_chain(machine, kind, 10000));
}

static void chains_do_every_operation(void **state)
{
    (void)state;
    const uint64_t counts[] = {0, 1, 63, 64, 65, 1000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        assert_int_equal(fm_operate(FM_CHAIN_ADD, counts[i]), 1 + 3 * counts[i]);
    assert_int_equal(fm_operate(FM_CHAIN_ROTATE, 64), 1);
    assert_int_not_equal(fm_operate(FM_CHAIN_ROTATE, 65), 1);
}

/* Stores and other orders' phases before the timed one leave its chain whole. */
static void phases_keep_the_chain(void **state)
{
    struct fm_machine *machine = machine_of(state);
    place(machine, 1 << 16);
    uint32_t word[LINES], backwards[LINES];
    struct fm_string string = string_of(word, 3 * LINES);
    for (size_t i = 0; i < LINES; i++)
        backwards[i] = word[LINES - 1 - i];
    string.orders[1] = (struct fm_order){.word = backwards, .count = LINES};
    string.order_count = 2;
    const struct fm_phase metered = string.phases[1];
    const struct fm_phase before[] = {
        {.op = FM_OP_FLUSH, .order = 0, .references = LINES},
        {.op = FM_OP_STORE, .order = 1, .references = 2 * LINES},
        {.op = FM_OP_LOAD, .order = 1, .references = LINES + 3, .chained = true},
        {.op = FM_OP_STORE, .order = 0, .references = 100, .window = 5},
        {.op = FM_OP_LOAD, .order = 0, .references = 100, .window = 5},
    };
    memcpy(string.phases, before, sizeof before);
    string.phases[5] = metered;
    string.phase_count = 6;
    struct fm_sample samples[3];
    struct fm_error err;
    assert_true(machine->ops->run(machine, &string, 3, samples, &err));
    char *start = arena_of(machine) + word[0] * FM_WORD;
    assert_ptr_equal(fm_chase(start, LINES), start);
    assert_ptr_equal(fm_chase(start, 9), arena_of(machine) + word[9] * FM_WORD);
}

static void expect_refusal(struct fm_machine *machine, const struct fm_string *string,
                           enum fm_error_code code)
{
    struct fm_sample sample;
    struct fm_error err = {0};
    assert_false(machine->ops->run(machine, string, 1, &sample, &err));
    assert_int_equal(err.code, code);
    assert_non_null(strstr(err.text, string->label));
}

static void refuses_strings_that_do_not_fit(void **state)
{
    struct fm_machine *machine = machine_of(state);
    place(machine, 1 << 16);
    uint32_t word[LINES];
    const struct fm_string good = string_of(word, 10);
    struct fm_string bad = good;
    bad.bytes = ((struct fm_computer *)machine)->arena.bytes + 1;
    expect_refusal(machine, &bad, FM_ERR_NO_MEMORY);
    bad = good;
    bad.bytes -= LINE_WORDS * FM_WORD;
    expect_refusal(machine, &bad, FM_ERR_INTERNAL);
    bad = good;
    bad.phases[1].order = 1;
    expect_refusal(machine, &bad, FM_ERR_INTERNAL);
    bad = good;
    bad.phases[1].window = 5;
    expect_refusal(machine, &bad, FM_ERR_INTERNAL);
    bad = good;
    bad.phases[0].metered = true;
    expect_refusal(machine, &bad, FM_ERR_INTERNAL);
    bad = good;
    bad.phase_count = 0;
    expect_refusal(machine, &bad, FM_ERR_INTERNAL);
    bad = good;
    bad.orders[0].count = 0;
    expect_refusal(machine, &bad, FM_ERR_INTERNAL);
}

static void refuses_more_than_the_limit(void **state)
{
    struct fm_machine *machine = machine_of(state);
    struct fm_error err = {0};
    if (machine->info.memory_limit < SIZE_MAX) {
        assert_false(machine->ops->place(machine, (size_t)machine->info.memory_limit + 1, 0, &err));
        assert_int_equal(err.code, FM_ERR_NO_MEMORY);
    }
    struct fm_arena arena;
    assert_false(fm_arena_map(&arena, SIZE_MAX / 4, 0, &err));
    assert_int_equal(err.code, FM_ERR_NO_MEMORY);
    assert_false(fm_arena_map(&arena, SIZE_MAX, 0, &err));
    assert_null(arena.base);
}

static void places_on_base_pages(void **state)
{
    struct fm_machine *machine = machine_of(state);
    const char *last = NULL;
    for (int i = 0; i < 40; i++) {
        place(machine, (size_t)5 << 19);
        const struct fm_arena *arena = &((struct fm_computer *)machine)->arena;
        struct fm_pages_seen seen;
        assert_int_equal((uintptr_t)arena->base % ((uintptr_t)2 << 20), 0);
        assert_true(arena->bytes >= (size_t)5 << 19);
        assert_ptr_not_equal(arena->base, last);
        if (fm_pages_see(arena->base, arena->bytes, &seen)) {
            assert_int_equal(seen.page_size, machine->info.page_size);
            assert_int_equal(seen.huge_bytes, 0);
        }
        last = arena->base;
    }
}

/* Pages do not collapse under a measurement, even where somebody asks for it: an arena of base
   pages refuses. Memory like it that does not refuse is seen to have collapsed. */
static void base_pages_do_not_collapse(void **state)
{
    struct fm_machine *machine = machine_of(state);
    const size_t huge = fm_transparent_page() ? fm_transparent_page() : (size_t)2 << 20;
    struct fm_pages_seen seen;
    place(machine, 2 * huge);
    struct fm_arena *arena = &((struct fm_computer *)machine)->arena;
    const bool collapsed = madvise(arena->base, arena->bytes, COLLAPSE) == 0;
    assert_false(collapsed && fm_transparent_page());
    if (fm_pages_see(arena->base, arena->bytes, &seen))
        assert_int_equal(seen.huge_bytes, 0);
    if (madvise(arena->base, arena->bytes, MADV_HUGEPAGE) == 0 &&
        madvise(arena->base, arena->bytes, COLLAPSE) == 0) {
        assert_true(fm_pages_see(arena->base, arena->bytes, &seen));
        assert_true(seen.huge_bytes > 0);
    }
}

/* Huge pages are there or not; but when they are promised they must be there. */
static void huge_pages_are_checked(void **state)
{
    struct fm_machine *machine = machine_of(state);
    const size_t huge = fm_transparent_page() ? fm_transparent_page() : (size_t)2 << 20;
    struct fm_error err = {0};
    if (huge > machine->info.memory_limit)
        skip();
    if (!machine->ops->place(machine, huge + 1, huge, &err)) {
        assert_true(err.code == FM_ERR_UNSUPPORTED || err.code == FM_ERR_NO_MEMORY);
        return;
    }
    const struct fm_arena *arena = &((struct fm_computer *)machine)->arena;
    struct fm_pages_seen seen;
    assert_int_equal(arena->bytes, 2 * huge);
    assert_true(fm_pages_see(arena->base, arena->bytes, &seen));
    assert_true(seen.page_size == huge || seen.huge_bytes == arena->bytes);
}

static void refuses_pages_that_are_not_there(void **state)
{
    struct fm_machine *machine = machine_of(state);
    const size_t sizes[] = {1, 512, 3 << 20, machine->info.page_size * 3};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct fm_error err = {0};
        assert_false(machine->ops->place(machine, 1 << 16, sizes[i], &err));
        assert_int_equal(err.code, FM_ERR_UNSUPPORTED);
    }
    uint32_t word[LINES];
    const struct fm_string string = string_of(word, 10);
    expect_refusal(machine, &string, FM_ERR_NO_MEMORY);
}

static void observes_its_surroundings(void **state)
{
    struct fm_machine *machine = machine_of(state);
    struct fm_environment environment = {.count = 0};
    machine->ops->observe(machine, &environment);
    const struct fm_value *page = fm_environment_get(&environment, "page_size");
    assert_non_null(page);
    assert_true(page->number == (double)machine->info.page_size);
    assert_non_null(fm_environment_get(&environment, "kernel"));
    const struct fm_value *steal = fm_environment_get(&environment, "steal");
    if (steal)
        assert_true(steal->number >= 0 && steal->number <= 1);
    const double before = machine->ops->elapsed(machine);
    usleep(2000);
    const double after = machine->ops->elapsed(machine);
    assert_true(before > 0 && after - before > 0.0019);
}

static void judges_what_was_touched(void **state)
{
    (void)state;
    struct fm_sample one = {.ns = 20e6};
    fm_watch_judge(&one, 1, (struct fm_watch_mark){1, 20e3});
    assert_false(one.disturbed); /* 30 us of 20 ms */
    fm_watch_judge(&one, 1, (struct fm_watch_mark){1, 200e3});
    assert_true(one.disturbed);
    struct fm_sample some[3] = {{.ns = 3000}, {.ns = 9000}, {.ns = 3010}};
    fm_watch_judge(some, 3, (struct fm_watch_mark){0, 1e6});
    assert_false(some[1].disturbed);
    fm_watch_judge(some, 3, (struct fm_watch_mark){1, 5000});
    assert_false(some[0].disturbed);
    assert_true(some[1].disturbed);
    assert_false(some[2].disturbed);
    fm_watch_judge(some, 3, (struct fm_watch_mark){3, 5000});
    assert_true(some[0].disturbed && some[2].disturbed);
}

static void tells_guests_from_hosts(void **state)
{
    (void)state;
    const struct fake_tree tree = fake_tree_make();
    bool virtualised;
    char name[32];
    assert_false(fm_hypervisor(tree.root, &virtualised, name, sizeof name));
    fake_file(&tree, "/proc/device-tree/compatible", "linux,dummy-virt");
    assert_true(fm_hypervisor(tree.root, &virtualised, name, sizeof name));
    assert_true(virtualised);
    fake_file(&tree, "/proc/cpuinfo", "processor : 0\nflags : fpu sse2 hypervisor lm\n");
    fake_file(&tree, "/sys/class/dmi/id/sys_vendor", "QEMU\n");
    assert_true(fm_hypervisor(tree.root, &virtualised, name, sizeof name));
    assert_true(virtualised);
    assert_string_equal(name, "qemu");
    fake_file(&tree, "/proc/cpuinfo", "processor : 0\nflags : fpu sse2 lm\n");
    assert_true(fm_hypervisor(tree.root, &virtualised, name, sizeof name));
    assert_false(virtualised);
    fake_tree_remove(&tree);
}

int main(void)
{
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_it_is),
        cmocka_unit_test(stays_on_its_cpu),
        cmocka_unit_test(lets_go_of_the_cpu),
        cmocka_unit_test(refuses_a_cpu_that_is_not_there),
        cmocka_unit_test(chain_visits_its_order),
        cmocka_unit_test(pairs_visit_their_order),
        cmocka_unit_test(walks_touch_their_words),
        cmocka_unit_test(time_grows_with_length),
        cmocka_unit_test(chains_grow_with_length),
        cmocka_unit_test(chains_do_every_operation),
        cmocka_unit_test(phases_keep_the_chain),
        cmocka_unit_test(refuses_strings_that_do_not_fit),
        cmocka_unit_test(refuses_more_than_the_limit),
        cmocka_unit_test(places_on_base_pages),
        cmocka_unit_test(base_pages_do_not_collapse),
        cmocka_unit_test(huge_pages_are_checked),
        cmocka_unit_test(refuses_pages_that_are_not_there),
        cmocka_unit_test(observes_its_surroundings),
        cmocka_unit_test(judges_what_was_touched),
        cmocka_unit_test(tells_guests_from_hosts),
    };
    return cmocka_run_group_tests_name("native", tests, set_up, tear_down);
}
