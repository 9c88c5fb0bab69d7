/* The side of code of the simulated machine: single rules, worked out by hand. */
#include "sim_lab.h"

#include <stdio.h>

#include "core/refstring.h"

/* Level 1 apart, level 2 for both. */
static struct fm_description split_machine(void)
{
    struct fm_description machine = lab_machine();
    machine.caches[machine.cache_count++] = lab_cache(1, 1024, 64, 2);
    machine.caches[machine.cache_count] = lab_cache(1, 512, 64, 2);
    machine.caches[machine.cache_count++].holds = FM_HOLDS_INSTRUCTIONS;
    machine.caches[machine.cache_count++] = lab_cache(2, 8192, 64, 4);
    return machine;
}

/* Slots 64 bytes apart, from a line on. */
static void lines_from(uint32_t *words, size_t count, uint32_t first)
{
    for (size_t i = 0; i < count; i++)
        words[i] = (first + (uint32_t)i) * 8;
}

static struct fm_sample jump(struct fm_machine *machine, uint32_t *words, size_t count)
{
    lab_run(machine, FM_OP_JUMP, words, count, count);
    return lab_run(machine, FM_OP_JUMP, words, count, count);
}

/* Eight lines fit 512 bytes; nine, cyclic, leave the set of the ninth to three lines in two ways.
 */
static void code_has_a_cache_of_its_own(void **state)
{
    (void)state;
    const struct fm_description description = split_machine();
    struct fm_machine *machine = lab_open(&description, 4 * PAGE);
    uint32_t words[9];
    lines_from(words, 9, 0);
    assert_int_equal(jump(machine, words, 8).counts.cache_miss[0], 0);
    const struct fm_sample nine = jump(machine, words, 9);
    assert_int_equal(nine.counts.cache_miss[0], 3);
    assert_int_equal(nine.counts.cache_miss[1], 0);
    assert_true(nine.ns == 6 * 4 + 3 * 20);
    lab_close(machine);
}

/* Loads do not disturb level 1 of code, nor jumps that of data; level 2 is one for both. */
static void the_second_level_is_shared(void **state)
{
    (void)state;
    const struct fm_description description = split_machine();
    struct fm_machine *machine = lab_open(&description, 16 * PAGE);
    uint32_t code[8], data[256];
    lines_from(code, 8, 0);
    lines_from(data, 256, 64);
    jump(machine, code, 8);
    lab_run(machine, FM_OP_LOAD, data, 256, 256);
    assert_int_equal(lab_run(machine, FM_OP_JUMP, code, 8, 8).counts.cache_miss[0], 0);
    /* Code in level 2 alone: 128 lines of data push it out. */
    uint32_t more[16];
    lines_from(more, 16, 0);
    jump(machine, more, 16);
    assert_int_equal(lab_run(machine, FM_OP_JUMP, more, 16, 16).counts.cache_miss[1], 0);
    lab_run(machine, FM_OP_LOAD, data, 256, 256);
    assert_int_equal(lab_run(machine, FM_OP_JUMP, more, 16, 16).counts.cache_miss[1], 16);
    lab_close(machine);
}

static void an_inclusive_level_takes_code_along(void **state)
{
    (void)state;
    struct fm_description description = split_machine();
    description.caches[2].inclusion = FM_INCLUSION_INCLUSIVE;
    struct fm_machine *machine = lab_open(&description, 16 * PAGE);
    uint32_t code[8], data[256];
    lines_from(code, 8, 0);
    lines_from(data, 256, 64);
    jump(machine, code, 8);
    lab_run(machine, FM_OP_LOAD, data, 256, 256);
    assert_int_equal(lab_run(machine, FM_OP_JUMP, code, 8, 8).counts.cache_miss[1], 8);
    lab_close(machine);
}

/* What level 1 gives up moves into level 2, and back; the two together hold 24 lines. */
static void an_exclusive_level_takes_victims_of_code(void **state)
{
    (void)state;
    struct fm_description description = split_machine();
    description.caches[2] = lab_cache(2, 1024, 64, 16);
    description.caches[2].inclusion = FM_INCLUSION_EXCLUSIVE;
    description.caches[1].ways = 8;
    struct fm_machine *machine = lab_open(&description, 16 * PAGE);
    uint32_t code[25];
    lines_from(code, 25, 0);
    lab_run(machine, FM_OP_JUMP, code, 24, 24);
    const struct fm_counts fit = lab_run(machine, FM_OP_JUMP, code, 24, 24).counts;
    assert_int_equal(fit.cache_miss[0], 24);
    assert_int_equal(fit.cache_miss[1], 0);
    assert_int_equal(jump(machine, code, 25).counts.cache_miss[1], 25);
    lab_close(machine);
}

static void code_has_a_tlb_of_its_own(void **state)
{
    (void)state;
    struct fm_description description = split_machine();
    description.tlbs[0] = lab_tlb(1, 2, 2, PAGE);
    description.tlbs[1] = lab_tlb(1, 4, 4, PAGE);
    description.tlbs[1].holds = FM_HOLDS_INSTRUCTIONS;
    description.tlbs[2] = lab_tlb(2, 6, 6, PAGE);
    description.tlbs[2].holds = FM_HOLDS_BOTH;
    description.tlb_count = 3;
    struct fm_machine *machine = lab_open(&description, 16 * PAGE);
    uint32_t code[6], data[6];
    for (uint32_t i = 0; i < 6; i++) {
        code[i] = i * (PAGE / FM_WORD) + i * 8;
        data[i] = (6 + i) * (PAGE / FM_WORD) + i * 8;
    }
    assert_int_equal(jump(machine, code, 4).counts.tlb_miss[0], 0);
    const struct fm_counts five = jump(machine, code, 5).counts;
    assert_int_equal(five.tlb_miss[0], 5);
    assert_int_equal(five.walks, 0);
    /* Two pages of data are two entries of the second level less. */
    lab_run(machine, FM_OP_LOAD, data, 2, 2);
    assert_true(lab_run(machine, FM_OP_JUMP, code, 5, 5).counts.walks > 0);
    lab_close(machine);
}

/* A jump that is in no level takes what the last says, one in the second what the first says. */
static void targets_are_looked_up(void **state)
{
    (void)state;
    struct fm_description description = split_machine();
    description.btbs[0] = (struct fm_btb_description){2, 2, 8, 3};
    description.btbs[1] = (struct fm_btb_description){6, 6, 8, 11};
    description.btb_count = 2;
    struct fm_machine *machine = lab_open(&description, PAGE);
    uint32_t words[8];
    lines_from(words, 8, 0);
    assert_true(jump(machine, words, 2).ns == 2 * 4);
    assert_true(jump(machine, words, 3).ns == 3 * (4 + 3));
    assert_true(jump(machine, words, 6).ns == 6 * (4 + 3));
    assert_true(jump(machine, words, 7).ns == 7 * (4 + 11));
    lab_close(machine);
}

static struct fm_sample jump_filled(struct fm_machine *machine, uint32_t *words, size_t count,
                                    unsigned filler)
{
    struct fm_error err = {0};
    struct fm_sample sample;
    const struct fm_string string = {
        .label = "filled",
        .bytes = PAGE,
        .orders = {{.word = words, .count = count, .filler = filler}},
        .order_count = 1,
        .phases = {{.op = FM_OP_JUMP, .references = 2 * count},
                   {.op = FM_OP_JUMP, .references = count, .metered = true}},
        .phase_count = 2,
    };
    if (!machine->ops->run(machine, &string, 1, &sample, &err))
        fail_msg("%s", err.text);
    return sample;
}

/* Four entries of six operations. Windows that are full take two, and two lines that a slot runs
   through are two fetches. */
static void decoded_operations_are_kept(void **state)
{
    (void)state;
    struct fm_description description = split_machine();
    description.op_cache = (struct fm_op_cache_description){4, 4, 32, 6, 1};
    struct fm_machine *machine = lab_open(&description, PAGE);
    uint32_t words[8];
    lines_from(words, 8, 0);
    assert_true(jump_filled(machine, words, 4, 0).ns == 4 * 1);
    assert_true(jump_filled(machine, words, 5, 0).ns == 5 * 4);
    assert_true(jump_filled(machine, words, 4, 5).ns == 4 * 1);
    assert_true(jump_filled(machine, words, 2, 7).ns == 2 * 1);
    assert_true(jump_filled(machine, words, 3, 7).ns == 3 * 4);
    uint32_t long_slots[2] = {0, 16};
    assert_true(jump_filled(machine, long_slots, 2, 16).counts.cache_miss[0] == 0);
    assert_true(jump_filled(machine, long_slots, 2, 16).ns == 2 * (4 + 4));
    lab_close(machine);
}

/* What the first cache has given up, the op cache does not serve. */
static void operations_go_with_their_line(void **state)
{
    (void)state;
    struct fm_description description = split_machine();
    description.op_cache = (struct fm_op_cache_description){64, 64, 32, 6, 1};
    struct fm_machine *machine = lab_open(&description, PAGE);
    uint32_t words[3] = {0, 4 * 8, 8 * 8}; /* one set, two ways */
    assert_true(jump(machine, words, 3).ns == 3 * 20);
    assert_true(jump(machine, words, 2).ns == 2 * 1);
    lab_close(machine);
}

static void refuses(struct fm_machine *machine, struct fm_phase phase, enum fm_error_code code,
                    const char *word)
{
    struct fm_error err = {0};
    struct fm_sample sample;
    uint32_t words[4] = {0, 8, 16, 24};
    const struct fm_string string = {.label = "bad",
                                     .bytes = PAGE,
                                     .orders = {{.word = words, .count = 4}},
                                     .order_count = 1,
                                     .phases = {phase},
                                     .phase_count = 1};
    assert_false(machine->ops->run(machine, &string, 1, &sample, &err));
    assert_int_equal(err.code, code);
    assert_non_null(strstr(err.text, word));
}

static void refuses_what_it_cannot_run(void **state)
{
    (void)state;
    struct fm_description description = split_machine();
    struct fm_machine *machine = lab_open(&description, PAGE);
    refuses(machine, (struct fm_phase){.op = FM_OP_JUMP, .references = 6, .metered = true},
            FM_ERR_INTERNAL, "whole laps");
    refuses(machine,
            (struct fm_phase){.op = FM_OP_JUMP, .references = 4, .window = 2, .metered = true},
            FM_ERR_INTERNAL, "whole laps");
    lab_close(machine);
    description.cache_count = 1;
    machine = lab_open(&description, PAGE);
    refuses(machine, (struct fm_phase){.op = FM_OP_JUMP, .references = 4, .metered = true},
            FM_ERR_UNSUPPORTED, "no instruction cache");
    lab_close(machine);
}

/* Two orders of four slots each, 64 bytes apart; the second is walked by jumps, or chased. */
static struct fm_string two_orders(uint32_t *one, uint32_t *other)
{
    lines_from(one, 4, 0);
    lines_from(other, 4, 4);
    return (struct fm_string){
        .label = "two orders",
        .bytes = PAGE,
        .orders = {{.word = one, .count = 4}, {.word = other, .count = 4}},
        .order_count = 2,
        .phases = {{.op = FM_OP_JUMP, .references = 4},
                   {.op = FM_OP_JUMP, .order = 1, .references = 4, .metered = true}},
        .phase_count = 2,
    };
}

static bool runs(struct fm_machine *machine, const struct fm_string *string)
{
    struct fm_error err = {0};
    struct fm_sample sample;
    if (machine->ops->run(machine, string, 1, &sample, &err))
        return true;
    assert_int_equal(err.code, FM_ERR_INTERNAL);
    return false;
}

/* A computer would run into the middle of something: no machine takes such a string. */
static void refuses_slots_that_overlap(void **state)
{
    (void)state;
    const struct fm_description description = split_machine();
    struct fm_machine *machine = lab_open(&description, PAGE);
    uint32_t one[4], other[4];
    struct fm_string string = two_orders(one, other);
    assert_true(runs(machine, &string));
    string.orders[1].filler = 14; /* 64 bytes with the jump */
    assert_true(runs(machine, &string));
    string.orders[1].filler = 15;
    assert_false(runs(machine, &string));
    string = two_orders(one, other);
    one[3] = one[0] + 2; /* just behind the turn */
    assert_true(runs(machine, &string));
    one[3] = one[0] + 1;
    assert_false(runs(machine, &string));
    string = two_orders(one, other);
    one[2] = one[1]; /* a slot twice */
    assert_false(runs(machine, &string));
    string = two_orders(one, other);
    other[2] = one[2]; /* that of another order */
    assert_false(runs(machine, &string));
    string.phases[1] = (struct fm_phase){.order = 1, .references = 4, .metered = true};
    assert_true(runs(machine, &string)); /* loads write nothing … */
    string.phases[1].chained = true;
    assert_false(runs(machine, &string)); /* … unless they follow pointers */
    string = two_orders(one, other);
    other[3] = PAGE / FM_WORD - 1;
    assert_true(runs(machine, &string));
    string.orders[1].filler = 1;
    assert_false(runs(machine, &string)); /* beyond the span */
    string = two_orders(one, other);
    string.phases[0] = (struct fm_phase){.op = FM_OP_STORE, .references = 4};
    assert_false(runs(machine, &string));
    lab_close(machine);
}

/* Level 1 may be one for both: then code and data are in each other's way there. */
static void one_cache_for_all(void **state)
{
    (void)state;
    struct fm_description description = lab_machine();
    description.caches[description.cache_count] = lab_cache(1, 512, 64, 8);
    description.caches[description.cache_count++].holds = FM_HOLDS_BOTH;
    struct fm_machine *machine = lab_open(&description, PAGE);
    uint32_t code[4], data[8];
    lines_from(code, 4, 0);
    lines_from(data, 8, 8);
    assert_int_equal(jump(machine, code, 4).counts.cache_miss[0], 0);
    lab_run(machine, FM_OP_LOAD, data, 8, 8);
    assert_int_equal(lab_run(machine, FM_OP_JUMP, code, 4, 4).counts.cache_miss[0], 4);
    lab_close(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_has_a_cache_of_its_own),
        cmocka_unit_test(the_second_level_is_shared),
        cmocka_unit_test(an_inclusive_level_takes_code_along),
        cmocka_unit_test(an_exclusive_level_takes_victims_of_code),
        cmocka_unit_test(code_has_a_tlb_of_its_own),
        cmocka_unit_test(targets_are_looked_up),
        cmocka_unit_test(decoded_operations_are_kept),
        cmocka_unit_test(operations_go_with_their_line),
        cmocka_unit_test(refuses_what_it_cannot_run),
        cmocka_unit_test(refuses_slots_that_overlap),
        cmocka_unit_test(one_cache_for_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
