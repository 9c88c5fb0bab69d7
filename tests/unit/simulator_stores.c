/* What stores cost, and what one miss brings: traces worked out by hand. */
#include "sim_lab.h"

/* Two levels of a few lines each, one set; 4 and 20 cycles, memory 200. */
static struct fm_description few_lines(void)
{
    struct fm_description machine = lab_machine();
    machine.caches[0] = lab_cache(1, 2 * 64, 64, 2);
    machine.caches[1] = lab_cache(2, 8 * 64, 64, 8);
    machine.cache_count = 2;
    return machine;
}

/* Nanoseconds, which are cycles, of one reference to a byte. */
static double cost(struct fm_machine *lab, enum fm_op op, uint64_t byte)
{
    uint32_t word = (uint32_t)(byte / FM_WORD);
    return lab_run(lab, op, &word, 1, 1).ns;
}

static void test_a_store_costs_what_the_level_that_keeps_it_takes(void **state)
{
    (void)state;
    struct fm_description machine = few_lines();
    machine.caches[0].store_latency = 1;
    machine.caches[1].store_latency = 7;
    struct fm_machine *lab = lab_open(&machine, PAGE);
    assert_true(cost(lab, FM_OP_STORE, 0) == 200 + 1); /* waits for its line */
    assert_true(cost(lab, FM_OP_STORE, 8) == 1);
    assert_true(cost(lab, FM_OP_LOAD, 16) == 4);
    lab_close(lab);

    machine.caches[0].write_policy = FM_WRITE_THROUGH;
    lab = lab_open(&machine, PAGE);
    assert_true(cost(lab, FM_OP_STORE, 0) == 200 + 7);
    assert_true(cost(lab, FM_OP_STORE, 8) == 7);
    lab_close(lab);

    machine.caches[0].write_allocate = false;
    lab = lab_open(&machine, PAGE);
    assert_true(cost(lab, FM_OP_STORE, 0) == 200 + 7); /* level 2 waits for it */
    assert_true(cost(lab, FM_OP_STORE, 0) == 7);       /* level 1 does not */
    assert_true(cost(lab, FM_OP_LOAD, 0) == 20);
    lab_close(lab);

    machine.caches[1].write_allocate = false;
    lab = lab_open(&machine, PAGE);
    assert_true(cost(lab, FM_OP_STORE, 0) == 200); /* goes on to memory; nobody waits */
    assert_true(cost(lab, FM_OP_LOAD, 0) == 200);
    lab_close(lab);
}

static void test_a_dirty_victim_costs_a_write(void **state)
{
    (void)state;
    struct fm_description machine = few_lines();
    machine.caches[1].store_latency = 7;
    for (int dirty = 0; dirty < 2; dirty++) {
        struct fm_machine *lab = lab_open(&machine, PAGE);
        lab_trace(lab, dirty ? "cdAb" : "cdab", 64);
        assert_true(cost(lab, FM_OP_LOAD, 2 * 64) == (dirty ? 20 + 7 : 20));
        lab_close(lab);
    }
    /* Into an exclusive level a victim moves, dirty or not: the same work. */
    machine.caches[1].inclusion = FM_INCLUSION_EXCLUSIVE;
    struct fm_machine *lab = lab_open(&machine, PAGE);
    lab_trace(lab, "cdAb", 64);
    assert_true(cost(lab, FM_OP_LOAD, 2 * 64) == 20);
    lab_close(lab);
}

static void test_a_line_is_filled_in_parts(void **state)
{
    (void)state;
    struct fm_description machine = few_lines();
    machine.caches[0].sector = 16;
    struct fm_machine *lab = lab_open(&machine, PAGE);
    assert_int_equal(lab_depth(lab, 0), 3);
    assert_int_equal(lab_depth(lab, 8), 1);
    assert_int_equal(lab_depth(lab, 16), 2);
    assert_int_equal(lab_depth(lab, 48), 2);
    assert_int_equal(lab_depth(lab, 16), 1);
    /* One tag: a fourth part takes no room of another line, a third line does. */
    assert_int_equal(lab_depth(lab, 64), 3);
    assert_int_equal(lab_depth(lab, 0), 1);
    assert_int_equal(lab_depth(lab, 128), 3); /* drives out 64 */
    assert_int_equal(lab_depth(lab, 16), 1);
    assert_int_equal(lab_depth(lab, 64), 2); /* drives out 128 */
    assert_int_equal(lab_depth(lab, 128), 2);
    lab_close(lab);
}

static void test_a_store_does_not_stay_in_a_part_that_is_missing(void **state)
{
    (void)state;
    struct fm_description machine = few_lines();
    machine.caches[0].sector = 16;
    machine.caches[0].write_allocate = false;
    struct fm_machine *lab = lab_open(&machine, PAGE);
    lab_trace(lab, "a", 64);
    assert_true(cost(lab, FM_OP_STORE, 8) == 4);
    assert_true(cost(lab, FM_OP_STORE, 16) == 20);
    assert_int_equal(lab_depth(lab, 16), 2);
    lab_close(lab);
}

static void test_a_sector_comes_as_a_whole(void **state)
{
    (void)state;
    struct fm_description machine = few_lines();
    machine.caches[1].sector = 256;
    struct fm_machine *lab = lab_open(&machine, PAGE);
    assert_int_equal(lab_depth(lab, 256 + 64), 3);
    assert_int_equal(lab_depth(lab, 256), 2);
    assert_int_equal(lab_depth(lab, 256 + 192), 2);
    assert_int_equal(lab_depth(lab, 192), 3);
    lab_close(lab);

    machine.caches[0].sector = 128; /* comes out of level 2, without another miss there */
    lab = lab_open(&machine, PAGE);
    assert_int_equal(lab_depth(lab, 0), 3);
    assert_int_equal(lab_depth(lab, 64), 1);
    assert_int_equal(lab_depth(lab, 128), 2);
    lab_close(lab);
}

/* Stores to all words of so many lines in a row; then how deep the last line lies. */
static unsigned depth_after_run(struct fm_machine *lab, uint32_t lines)
{
    uint32_t words[64];
    for (uint32_t i = 0; i < 8 * lines; i++)
        words[i] = 8 + i;
    lab_run(lab, FM_OP_STORE, words, 8 * lines, 8 * lines);
    return lab_depth(lab, 64 * lines);
}

static void test_stores_in_a_row_stop_allocating(void **state)
{
    (void)state;
    struct fm_description machine = few_lines();
    machine.caches[0].streaming_stores = 3;
    for (uint32_t lines = 1; lines < 6; lines++) {
        struct fm_machine *lab = lab_open(&machine, PAGE);
        assert_int_equal(depth_after_run(lab, lines), lines > 3 ? 2 : 1);
        lab_close(lab);
    }
    /* A gap of one word, and the run begins anew. */
    struct fm_machine *lab = lab_open(&machine, PAGE);
    uint32_t words[40];
    for (uint32_t i = 0; i < 40; i++)
        words[i] = i + (i >= 20);
    lab_run(lab, FM_OP_STORE, words, 40, 40);
    assert_int_equal(lab_depth(lab, 4 * 64), 1);
    lab_close(lab);
}

/* Four banks of two words in a line of 64 bytes: the third and fourth word are bank 1. */
static void test_pairs_wait_for_a_bank(void **state)
{
    (void)state;
    struct fm_description machine = few_lines();
    machine.caches[0].banks = 4;
    static const struct {
        uint32_t words[2];
        double cycles;
    } pairs[] = {
        {{0, 2}, 4},        /* two banks of a line */
        {{0, 1}, 4},        /* one bank, but one line */
        {{2, 8 + 3}, 5},    /* one bank of two lines */
        {{2, 8 + 4}, 4},    /* two banks of two lines */
        {{2, 16 + 2}, 201}, /* and one of them from memory */
    };
    struct fm_machine *lab = lab_open(&machine, PAGE);
    lab_trace(lab, "ab", 64);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        uint32_t words[2] = {pairs[i].words[0], pairs[i].words[1]};
        assert_true(lab_run(lab, FM_OP_LOAD_PAIR, words, 2, 2).ns == pairs[i].cycles);
    }
    lab_close(lab);

    machine.caches[0].banks = 0;
    lab = lab_open(&machine, PAGE);
    lab_trace(lab, "ab", 64);
    uint32_t words[2] = {2, 8 + 2};
    assert_true(lab_run(lab, FM_OP_LOAD_PAIR, words, 2, 2).ns == 4);
    lab_close(lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_wait_for_a_bank),
        cmocka_unit_test(test_a_store_costs_what_the_level_that_keeps_it_takes),
        cmocka_unit_test(test_a_dirty_victim_costs_a_write),
        cmocka_unit_test(test_a_line_is_filled_in_parts),
        cmocka_unit_test(test_a_store_does_not_stay_in_a_part_that_is_missing),
        cmocka_unit_test(test_a_sector_comes_as_a_whole),
        cmocka_unit_test(test_stores_in_a_row_stop_allocating),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
