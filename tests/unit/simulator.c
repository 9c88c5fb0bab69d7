/* The simulated machine's caches, TLBs and prefetchers, worked out by hand. */
#include <stdlib.h>

#include "sim_lab.h"

/* Misses of one lap of a cyclic walk over so many bytes, after a lap to warm up. */
static uint64_t lap_misses(const struct fm_description *description, uint64_t bytes, unsigned level)
{
    const uint32_t line = description->caches[0].line;
    const size_t count = bytes / line;
    uint32_t *words = malloc(count * sizeof *words);
    assert_non_null(words);
    for (size_t i = 0; i < count; i++)
        words[i] = (uint32_t)(i * (line / FM_WORD));
    struct fm_machine *machine = lab_open(description, bytes);
    lab_run(machine, FM_OP_LOAD, words, count, count);
    const struct fm_sample lap = lab_run(machine, FM_OP_LOAD, words, count, count);
    lab_close(machine);
    free(words);
    return lap.counts.cache_miss[level - 1];
}

static void test_capacity_is_exact_to_the_line(void **state)
{
    (void)state;
    static const struct {
        uint32_t sets, ways, line;
    } shapes[] = {{64, 8, 64},   {64, 12, 64},  {1, 16, 64},  {8, 2, 64},
                  {256, 3, 128}, {23, 11, 32},  {96, 5, 64},  {1, 512, 64},
                  {1, 33, 32},   {1000, 1, 16}, {77, 20, 64}, {48, 16, 32}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int index = FM_INDEX_VIRTUAL; index <= FM_INDEX_HASHED; index++) {
            struct fm_description machine = lab_machine();
            const uint64_t capacity = (uint64_t)shapes[i].sets * shapes[i].ways * shapes[i].line;
            machine.caches[0] = lab_cache(1, capacity, shapes[i].line, shapes[i].ways);
            machine.caches[0].index = (enum fm_index)index;
            machine.cache_count = 1;
            assert_int_equal(lap_misses(&machine, capacity, 1), 0);
            /* The line too many makes its set miss all the time, and no other. */
            assert_int_equal(lap_misses(&machine, capacity + shapes[i].line, 1),
                             shapes[i].ways + 1);
        }
}

static void test_levels_cost_what_they_say(void **state)
{
    (void)state;
    struct fm_description machine = lab_machine();
    machine.caches[0] = lab_cache(2, 512, 64, 8);
    machine.caches[1] = lab_cache(1, 128, 64, 2);
    machine.caches[2] = lab_cache(1, 64, 64, 1);
    machine.caches[2].holds = FM_HOLDS_INSTRUCTIONS;
    machine.cache_count = 3;
    struct fm_machine *lab = lab_open(&machine, PAGE);
    uint32_t words[] = {0, 8, 16, 24};
    const struct fm_sample cold = lab_run(lab, FM_OP_LOAD, words, 4, 4);
    assert_true(cold.ns == 4 * 200);
    const struct fm_sample outer = lab_run(lab, FM_OP_LOAD, words, 4, 12);
    assert_true(outer.ns == 12 * 20);
    assert_int_equal(outer.references, 12);
    assert_int_equal(outer.counts.references, 12);
    assert_int_equal(outer.counts.cache_miss[0], 12);
    assert_int_equal(outer.counts.cache_miss[1], 0);
    const struct fm_sample inner = lab_run(lab, FM_OP_LOAD, words + 2, 2, 10);
    assert_true(inner.ns == 10 * 4);
    lab_close(lab);
}

static void test_lines_grow_outward(void **state)
{
    (void)state;
    struct fm_description machine = lab_machine();
    machine.caches[0] = lab_cache(1, 1024, 32, 4);
    machine.caches[1] = lab_cache(2, 8192, 128, 4);
    machine.cache_count = 2;
    struct fm_machine *lab = lab_open(&machine, PAGE);
    assert_int_equal(lab_depth(lab, 128), 3);
    assert_int_equal(lab_depth(lab, 128 + 24), 1);
    assert_int_equal(lab_depth(lab, 128 + 96), 2);
    assert_int_equal(lab_depth(lab, 256), 3);
    lab_close(lab);
}

static struct fm_description two_levels(uint64_t inner, uint64_t outer, enum fm_inclusion inclusion)
{
    struct fm_description machine = lab_machine();
    machine.caches[0] = lab_cache(1, inner * 64, 64, (uint32_t)inner);
    machine.caches[1] = lab_cache(2, outer * 64, 64, (uint32_t)outer);
    machine.caches[1].inclusion = inclusion;
    machine.cache_count = 2;
    return machine;
}

static void test_inclusive_level_takes_its_victims_along(void **state)
{
    (void)state;
    for (int inclusive = 0; inclusive < 2; inclusive++) {
        const struct fm_description machine =
            two_levels(2, 4, inclusive ? FM_INCLUSION_INCLUSIVE : FM_INCLUSION_NONE);
        struct fm_machine *lab = lab_open(&machine, PAGE);
        /* a is always used in level 1, so that level 2 thinks it is the oldest; e drives it out. */
        lab_trace(lab, "a b a c a d a e", 64);
        assert_int_equal(lab_depth(lab, 0), inclusive ? 3 : 1);
        lab_close(lab);
    }
}

static void test_exclusive_level_adds_its_room(void **state)
{
    (void)state;
    struct fm_description machine = two_levels(2, 3, FM_INCLUSION_EXCLUSIVE);
    struct fm_machine *lab = lab_open(&machine, PAGE);
    assert_int_equal(lab_trace(lab, "abcde", 64).cache_miss[1], 5);
    const struct fm_counts lap = lab_trace(lab, "abcdeabcde", 64);
    assert_int_equal(lap.cache_miss[0], 10);
    assert_int_equal(lap.cache_miss[1], 0);
    lab_trace(lab, "f", 64);
    assert_int_equal(lab_trace(lab, "abcdefabcdef", 64).cache_miss[1], 12);
    lab_close(lab);

    machine.caches[1].inclusion = FM_INCLUSION_NONE;
    lab = lab_open(&machine, PAGE);
    lab_trace(lab, "abcde", 64);
    assert_int_equal(lab_trace(lab, "abcde", 64).cache_miss[1], 5);
    lab_close(lab);
}

static void test_stores(void **state)
{
    (void)state;
    struct fm_description machine = two_levels(2, 4, FM_INCLUSION_NONE);
    machine.cache_count = 1;
    struct fm_machine *lab = lab_open(&machine, PAGE);
    assert_int_equal(lab_trace(lab, "ABab", 64).writebacks, 0);
    assert_int_equal(lab_trace(lab, "c", 64).writebacks, 1);
    assert_int_equal(lab_trace(lab, "dab", 64).writebacks, 1); /* b went too, then clean ones */
    lab_close(lab);

    machine.caches[0].write_policy = FM_WRITE_THROUGH;
    lab = lab_open(&machine, PAGE);
    assert_int_equal(lab_trace(lab, "ABCDabcd", 64).writebacks, 0);
    lab_close(lab);

    machine.caches[0].write_allocate = false;
    lab = lab_open(&machine, PAGE);
    assert_int_equal(lab_trace(lab, "AAA", 64).cache_miss[0], 3);
    assert_int_equal(lab_trace(lab, "aAa", 64).cache_miss[0], 1);
    lab_close(lab);
}

static void test_write_through_makes_the_next_level_dirty(void **state)
{
    (void)state;
    struct fm_description machine = two_levels(1, 2, FM_INCLUSION_NONE);
    machine.caches[0].write_policy = FM_WRITE_THROUGH;
    struct fm_machine *lab = lab_open(&machine, PAGE);
    assert_int_equal(lab_trace(lab, "A b", 64).writebacks, 0); /* a leaves level 1, clean */
    assert_int_equal(lab_trace(lab, "c", 64).writebacks, 1);   /* and level 2, dirty */
    lab_close(lab);
}

static void test_flush_empties_every_level(void **state)
{
    (void)state;
    const struct fm_description machine = two_levels(2, 4, FM_INCLUSION_NONE);
    struct fm_machine *lab = lab_open(&machine, PAGE);
    uint32_t a = 3; /* any word of the line */
    lab_trace(lab, "Ab", 64);
    const struct fm_sample flush = lab_run(lab, FM_OP_FLUSH, &a, 1, 1);
    assert_int_equal(flush.counts.writebacks, 2); /* out of level 1, and out of level 2 */
    assert_true(flush.ns == 4 + 20 + 200);        /* and each is written where it goes */
    assert_int_equal(lab_depth(lab, 64), 1);
    assert_int_equal(lab_depth(lab, 0), 3);
    lab_close(lab);
}

/* One load in each of so many pages, in other lines, after a lap to warm up. */
static struct fm_sample page_lap(const struct fm_description *description, size_t page_size,
                                 size_t pages)
{
    struct fm_error err;
    uint32_t words[64];
    for (size_t i = 0; i < pages; i++)
        words[i] = (uint32_t)((i * page_size + i * 64) / FM_WORD);
    struct fm_machine *lab = lab_open(description, pages * page_size);
    assert_true(lab->ops->place(lab, pages * page_size, page_size, &err));
    lab_run(lab, FM_OP_LOAD, words, pages, pages);
    const struct fm_sample sample = lab_run(lab, FM_OP_LOAD, words, pages, pages);
    lab_close(lab);
    return sample;
}

static void test_tlbs(void **state)
{
    (void)state;
    struct fm_description machine = lab_machine();
    machine.caches[0] = lab_cache(1, 32768, 64, 512);
    machine.cache_count = 1;
    machine.tlbs[0] = lab_tlb(2, 16, 16, PAGE);
    machine.tlbs[1] = lab_tlb(1, 4, 2, PAGE);
    machine.tlbs[2] = lab_tlb(1, 1, 1, PAGE);
    machine.tlbs[2].holds = FM_HOLDS_INSTRUCTIONS;
    machine.tlb_count = 3;
    struct fm_sample lap = page_lap(&machine, PAGE, 4);
    assert_int_equal(lap.counts.tlb_miss[0], 0);
    assert_true(lap.ns == 4 * 4);
    lap = page_lap(&machine, PAGE, 5); /* pages 0, 2, 4 in two ways */
    assert_int_equal(lap.counts.tlb_miss[0], 3);
    assert_int_equal(lap.counts.tlb_miss[1], 0);
    assert_true(lap.ns == 5 * 4 + 3 * 7);
    lap = page_lap(&machine, PAGE, 17);
    assert_int_equal(lap.counts.tlb_miss[0], 17);
    assert_int_equal(lap.counts.tlb_miss[1], 17);
    assert_int_equal(lap.counts.walks, 17);
    assert_true(lap.ns == 17 * (4 + 50));

    machine.tlb_count = 0;
    lap = page_lap(&machine, PAGE, 17);
    assert_int_equal(lap.counts.walks, 0);
    assert_true(lap.ns == 17 * 4);
}

/* A walk costs more where its line of the table, which has the entries of eight pages, is in no
   cache: the first time, and once data has driven it out. */
static void test_cold_walks(void **state)
{
    (void)state;
    struct fm_description machine = lab_machine();
    machine.caches[0] = lab_cache(1, 128, 64, 2);
    machine.caches[1] = lab_cache(2, 256, 64, 4);
    machine.cache_count = 2;
    machine.tlbs[0] = lab_tlb(1, 1, 1, PAGE);
    machine.tlb_count = 1;
    machine.cold_walk_latency = 170;
    struct fm_machine *lab = lab_open(&machine, 20 * PAGE);
    const double memory = machine.memory_latency, walk = machine.walk_latency;
    uint32_t page[20];
    for (uint32_t i = 0; i < 20; i++)
        page[i] = i * PAGE / FM_WORD;
    assert_true(lab_run(lab, FM_OP_LOAD, page, 1, 1).ns == memory + 170);
    assert_true(lab_run(lab, FM_OP_LOAD, page + 1, 1, 1).ns == memory + walk);
    assert_true(lab_run(lab, FM_OP_LOAD, page + 8, 1, 1).ns == memory + 170);
    /* Four lines of page 8, which is translated: the table's lines are gone. */
    uint32_t lines[4];
    for (uint32_t i = 0; i < 4; i++)
        lines[i] = page[8] + (i + 1) * 64 / FM_WORD;
    assert_true(lab_run(lab, FM_OP_LOAD, lines, 4, 4).ns == 4 * memory);
    assert_true(lab_run(lab, FM_OP_LOAD, page + 2, 1, 1).ns == memory + 170);
    lab_close(lab);
}

static void test_large_pages_use_the_tlbs_that_hold_them(void **state)
{
    (void)state;
    const size_t large = 16 * PAGE;
    struct fm_description machine = lab_machine();
    machine.caches[0] = lab_cache(1, 32768, 64, 512);
    machine.cache_count = 1;
    machine.tlbs[0] = lab_tlb(1, 8, 8, PAGE);
    machine.tlbs[1] = lab_tlb(2, 4, 4, large);
    machine.tlb_count = 2;
    struct fm_sample lap = page_lap(&machine, large, 4);
    assert_int_equal(lap.counts.tlb_miss[0], 4); /* level 1 is passed over */
    assert_int_equal(lap.counts.tlb_miss[1], 0);
    assert_true(lap.ns == 4 * (4 + 7));
    lap = page_lap(&machine, large, 5);
    assert_int_equal(lap.counts.walks, 5);
    lap = page_lap(&machine, PAGE, 8);
    assert_int_equal(lap.counts.walks, 0);

    struct fm_error err;
    struct fm_machine *lab = lab_open(&machine, PAGE);
    assert_false(lab->ops->place(lab, 1 << 20, 2 * PAGE, &err));
    assert_int_equal(err.code, FM_ERR_UNSUPPORTED);
    assert_int_equal(lab_depth(lab, 0), 2); /* the arena before is still there */
    lab_close(lab);
}

/* Level 1 of 4 KiB, level 2 of 64 KiB, lines of 64 bytes. */
static struct fm_machine *open_prefetching(unsigned kinds)
{
    struct fm_description machine = lab_machine();
    machine.caches[0] = lab_cache(1, 4096, 64, 4);
    machine.caches[1] = lab_cache(2, 65536, 64, 8);
    machine.cache_count = 2;
    machine.prefetch = kinds;
    return lab_open(&machine, 64 * PAGE);
}

static void test_next_line_prefetch(void **state)
{
    (void)state;
    struct fm_machine *lab = open_prefetching(FM_PREFETCH_NEXT_LINE);
    assert_int_equal(lab_depth(lab, 0), 3);
    assert_int_equal(lab_depth(lab, 64), 1); /* a hit brings nothing */
    assert_int_equal(lab_depth(lab, 128), 3);
    assert_int_equal(lab_depth(lab, PAGE - 64), 3);
    assert_int_equal(lab_depth(lab, PAGE), 3); /* not beyond the page */
    lab_close(lab);
}

static void test_adjacent_line_prefetch(void **state)
{
    (void)state;
    struct fm_machine *lab = open_prefetching(FM_PREFETCH_ADJACENT_LINE);
    assert_int_equal(lab_depth(lab, 64), 3);
    assert_int_equal(lab_depth(lab, 0), 2); /* the other of the pair, in the last level only */
    assert_int_equal(lab_depth(lab, 128), 3);
    assert_int_equal(lab_depth(lab, 192), 2);
    lab_close(lab);
}

static void test_stride_prefetch(void **state)
{
    (void)state;
    struct fm_machine *lab = open_prefetching(FM_PREFETCH_STRIDE);
    for (uint64_t line = 0; line <= 9; line += 3) /* seen, confirmed, confirmed again */
        assert_int_equal(lab_depth(lab, line * 64), 3);
    assert_int_equal(lab_depth(lab, 12 * 64), 1);
    assert_int_equal(lab_depth(lab, 15 * 64), 1);
    assert_int_equal(lab_depth(lab, 18 * 64), 1);
    assert_int_equal(lab_depth(lab, 20 * 64), 3); /* another step */
    assert_int_equal(lab_depth(lab, 23 * 64), 3);
    /* Downwards too, and each page has a stream of its own. */
    for (uint64_t line = 60; line >= 54; line -= 2) {
        assert_int_equal(lab_depth(lab, 2 * PAGE + line * 64), 3);
        assert_int_equal(lab_depth(lab, 5 * PAGE + line * 64), 3);
    }
    assert_int_equal(lab_depth(lab, 2 * PAGE + 52 * 64), 1);
    assert_int_equal(lab_depth(lab, 5 * PAGE + 52 * 64), 1);
    lab_close(lab);
}

static void test_region_prefetch(void **state)
{
    (void)state;
    struct fm_machine *lab = open_prefetching(FM_PREFETCH_REGION);
    assert_int_equal(lab_depth(lab, 40 * 64), 3);
    assert_int_equal(lab_depth(lab, 7 * 64), 3);
    assert_int_equal(lab_depth(lab, 7 * 64), 1); /* hits do not count */
    assert_int_equal(lab_depth(lab, 23 * 64), 3);
    for (uint64_t line = 0; line < 64; line++)
        assert_int_equal(lab_depth(lab, line * 64), line == 40 || line == 7 || line == 23 ? 1 : 2);
    /* A page that 32 others push out of the table begins to count anew. */
    assert_int_equal(lab_depth(lab, 10 * PAGE), 3);
    assert_int_equal(lab_depth(lab, 10 * PAGE + 64), 3);
    for (uint64_t page = 11; page < 11 + 32; page++)
        lab_depth(lab, page * PAGE);
    assert_int_equal(lab_depth(lab, 10 * PAGE + 128), 3);
    assert_int_equal(lab_depth(lab, 10 * PAGE + 192), 3);
    assert_int_equal(lab_depth(lab, 10 * PAGE + 256), 3);
    assert_int_equal(lab_depth(lab, 10 * PAGE + 320), 2);
    lab_close(lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_capacity_is_exact_to_the_line),
        cmocka_unit_test(test_levels_cost_what_they_say),
        cmocka_unit_test(test_lines_grow_outward),
        cmocka_unit_test(test_inclusive_level_takes_its_victims_along),
        cmocka_unit_test(test_exclusive_level_adds_its_room),
        cmocka_unit_test(test_stores),
        cmocka_unit_test(test_write_through_makes_the_next_level_dirty),
        cmocka_unit_test(test_flush_empties_every_level),
        cmocka_unit_test(test_tlbs),
        cmocka_unit_test(test_cold_walks),
        cmocka_unit_test(test_large_pages_use_the_tlbs_that_hold_them),
        cmocka_unit_test(test_next_line_prefetch),
        cmocka_unit_test(test_adjacent_line_prefetch),
        cmocka_unit_test(test_stride_prefetch),
        cmocka_unit_test(test_region_prefetch),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
