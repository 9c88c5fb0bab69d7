/* Ways and physical capacity of outer levels, on machines where they are known. */
#include <stdio.h>

#include "core/replacement.h"
#include "probe/crowd.h"
#include "refstring/refstring.h"
#include "survey_lab.h"

static struct fm_description two_levels(uint64_t l1, uint32_t l1_ways, uint64_t l2,
                                        uint32_t l2_ways)
{
    struct fm_description machine =
        lab_small(lab_cache(1, l1, 64, l1_ways), lab_cache(2, l2, 64, l2_ways));
    machine.caches[1].index = FM_INDEX_PHYSICAL;
    return machine;
}

/* Lines of one set of the first level lie far apart. */
#define ROOM (64u << 20)

static void survey(const struct fm_description *machine, uint64_t seed, struct fm_result *result)
{
    struct fm_survey_options options = lab_options();
    options.only = "ways";
    options.seed = seed;
    options.max_footprint = ROOM;
    lab_survey(machine, &options, result);
}

static void expect(const struct fm_description *machine, uint64_t seed)
{
    struct fm_result result;
    survey(machine, seed, &result);
    lab_expect(&result, "l1d.ways", machine->caches[0].ways, 0);
    lab_expect(&result, "l2.ways", machine->caches[1].ways, 0);
    lab_expect(&result, "l2.physical_capacity", (double)machine->caches[1].capacity, 0);
    fm_result_free(&result);
}

static void finds_ways_on_contiguous_and_scattered_pages(void **state)
{
    (void)state;
    for (int scattered = 0; scattered < 2; scattered++) {
        struct fm_description machine = two_levels(16384, 4, 262144, 8);
        machine.page_mapping = scattered ? FM_MAPPING_RANDOM : FM_MAPPING_CONTIGUOUS;
        expect(&machine, 1);
    }
}

/* Sets that are no power of two, and ways of all numbers. */
static void finds_odd_numbers(void **state)
{
    (void)state;
    struct fm_description machine = two_levels(8192, 2, 3 * 11 * 8192, 11);
    machine.page_mapping = FM_MAPPING_RANDOM;
    expect(&machine, 2);
}

/* Where the level inside has more ways, a gap of lines that the outer cannot hold fits the inner.
 */
static void more_ways_inside_do_not_hide_them(void **state)
{
    (void)state;
    struct fm_description machine = two_levels(16384, 16, 262144, 4);
    machine.page_mapping = FM_MAPPING_RANDOM;
    expect(&machine, 3);
}

/* Behind a first level that spreads the lines of one place over many of its sets, and holds more of
   them than the second: lines are taken that share a set of it. Its way is no whole number of
   pages, or many; the second level's sets go by where pages lie, or by where the program sees them.
 */
static void lines_of_one_set_inside_find_them(void **state)
{
    (void)state;
    static const struct {
        uint64_t first;
        uint32_t first_ways;
        uint64_t second;
        uint32_t second_ways;
        enum fm_index index;
    } machines[] = {
        {24576, 8, 163840, 4, FM_INDEX_PHYSICAL}, {24576, 8, 163840, 4, FM_INDEX_VIRTUAL},
        {10240, 4, 40960, 2, FM_INDEX_PHYSICAL},  {32768, 1, 163840, 5, FM_INDEX_PHYSICAL},
        {32768, 1, 163840, 5, FM_INDEX_VIRTUAL},
    };
    for (size_t i = 0; i < lab_of(sizeof machines / sizeof *machines); i++) {
        struct fm_description machine = two_levels(machines[i].first, machines[i].first_ways,
                                                   machines[i].second, machines[i].second_ways);
        machine.page_mapping = FM_MAPPING_RANDOM;
        machine.caches[1].index = machines[i].index;
        expect(&machine, 1 + i);
    }
}

/* Lines that share a set of the first level share one of the second too, which has fewer ways: what
   the first holds is all that they show. */
static void ways_that_hide_others_are_not_told_for_them(void **state)
{
    (void)state;
    struct fm_description machine = two_levels(10240, 4, 40960, 2);
    struct fm_result result;
    machine.page_mapping = FM_MAPPING_RANDOM;
    machine.caches[1].index = FM_INDEX_VIRTUAL;
    survey(&machine, 2, &result);
    if (lab_finding(&result, "l2.ways")->status == FM_MEASURED)
        lab_expect(&result, "l2.ways", 2, 0);
    fm_result_free(&result);
}

/* Sets that repeat within a page: page placement means nothing. */
static void finds_a_way_smaller_than_a_page(void **state)
{
    (void)state;
    struct fm_description machine = two_levels(4096, 2, 32768, 16);
    machine.page_mapping = FM_MAPPING_RANDOM;
    expect(&machine, 4);
}

/* A first cache so small that what pages are compared with begins to miss it as they grow in
   number: that must not be taken for room. */
static void takes_in_no_page_too_many(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= lab_of(12); seed++) {
        struct fm_description machine = two_levels(16384, 4, 524288, 4);
        machine.caches[0].line = machine.caches[1].line = 32;
        machine.caches[0].latency = 3;
        machine.caches[1].latency = 14;
        machine.memory_latency = 60;
        machine.walk_latency = 20;
        machine.tlbs[0] = lab_tlb(1, 64, 4, PAGE);
        machine.page_mapping = FM_MAPPING_CONTIGUOUS;
        expect(&machine, seed);
    }
}

static void finds_them_behind_noise(void **state)
{
    (void)state;
    struct fm_description machine = two_levels(16384, 4, 262144, 8);
    machine.page_mapping = FM_MAPPING_RANDOM;
    machine.caches[1].replacement = FM_REPLACE_TREE_PLRU;
    machine.noise = (struct fm_noise_description){
        .jitter = 0.02, .spike_probability = 0.002, .spike_cycles = 20000, .timer_ns = 8};
    expect(&machine, 5);
}

static void says_nothing_wrong_of_a_hashed_index(void **state)
{
    (void)state;
    struct fm_result result;
    struct fm_description machine = two_levels(16384, 4, 131072, 8);
    machine.caches[1].index = FM_INDEX_HASHED;
    machine.page_mapping = FM_MAPPING_RANDOM;
    survey(&machine, 6, &result);
    const struct fm_finding *ways = lab_finding(&result, "l2.ways");
    if (ways->status == FM_MEASURED)
        lab_expect(&result, "l2.ways", 8, 0);
    else
        assert_true(ways->note[0] != '\0');
    const struct fm_finding *physical = lab_finding(&result, "l2.physical_capacity");
    if (physical->status == FM_MEASURED)
        lab_expect(&result, "l2.physical_capacity", 131072, 0);
    fm_result_free(&result);
}

static const struct fm_noise_description noise = {
    .jitter = 0.005, .spike_probability = 0.002, .spike_cycles = 20000, .timer_ns = 8};

/* Luck with lines decides whether a class can be counted; but what is told is right. */
static void finds_the_ways_and_sets_of_a_hashed_index(void **state)
{
    (void)state;
    struct fm_description machine = two_levels(8192, 4, 65536, 8);
    machine.caches[1].index = FM_INDEX_HASHED;
    machine.page_mapping = FM_MAPPING_RANDOM;
    machine.noise = noise;
    unsigned told = 0;
    for (uint64_t seed = 3; seed < 7; seed++) {
        struct fm_result result;
        survey(&machine, seed, &result);
        if (lab_finding(&result, "l2.physical_capacity")->status == FM_MEASURED) {
            lab_expect(&result, "l2.ways", 8, 0);
            lab_expect(&result, "l2.physical_capacity", 65536, 0);
            told++;
        }
        fm_result_free(&result);
    }
    assert_true(told >= 1);
}

/* Under a policy by which a set that is too full keeps a part no lap says how many sets there are;
   the knee of so many ways does. */
static void tells_the_sets_of_a_hashed_index_by_its_knee(void **state)
{
    (void)state;
    static const enum fm_replacement policies[] = {FM_REPLACE_BIT_PLRU, FM_REPLACE_TREE_PLRU};
    unsigned told = 0;
    for (uint64_t seed = 7; seed < 11; seed++) {
        struct fm_result result;
        struct fm_description machine = two_levels(8192, 4, 65536, 8);
        machine.caches[1].index = FM_INDEX_HASHED;
        machine.caches[1].replacement = policies[seed % 2];
        machine.page_mapping = FM_MAPPING_RANDOM;
        machine.noise = noise;
        survey(&machine, seed, &result);
        const struct fm_finding *physical = lab_finding(&result, "l2.physical_capacity");
        if (physical->status == FM_MEASURED) {
            lab_expect(&result, "l2.ways", 8, 0);
            lab_expect(&result, "l2.physical_capacity", 65536, 0);
            assert_string_equal(physical->method, "knees");
            assert_true(physical->low.number < 65536 && physical->high.number > 65536);
            told++;
        } else {
            assert_true(physical->note[0] != '\0');
        }
        fm_result_free(&result);
    }
    assert_true(told >= 1);
}

/* A third level behind a second one that spreads lines of one place in no way like the others: by
   what the program sees, so that some pass it by; by a hash, so that it holds as many as there are;
   and a third that is hashed itself. */
static void finds_a_third_level_behind_any_second(void **state)
{
    (void)state;
    static const enum fm_index kinds[][2] = {{FM_INDEX_VIRTUAL, FM_INDEX_PHYSICAL},
                                             {FM_INDEX_VIRTUAL, FM_INDEX_VIRTUAL},
                                             {FM_INDEX_HASHED, FM_INDEX_PHYSICAL},
                                             {FM_INDEX_PHYSICAL, FM_INDEX_HASHED}};
    for (size_t i = 0; i < lab_of(sizeof kinds / sizeof *kinds); i++) {
        struct fm_description machine = two_levels(4096, 4, 40960, 5);
        struct fm_result result;
        machine.caches[1].latency = 12;
        machine.caches[2] = lab_cache(3, 524288, 64, 8);
        machine.caches[2].latency = 35;
        machine.cache_count = 3;
        machine.memory_latency = 180;
        machine.caches[1].index = kinds[i][0];
        machine.caches[2].index = kinds[i][1];
        machine.page_mapping = FM_MAPPING_RANDOM;
        machine.noise = noise;
        survey(&machine, 11 + i, &result);
        lab_expect(&result, "l3.ways", 8, 0);
        lab_expect(&result, "l3.physical_capacity", 524288, 0);
        fm_result_free(&result);
    }
}

/* Where sets go by what the program sees, wherever pages lie: behind a second level that is no
   help, with a TLB whose sets the same distances crowd, and under policies that keep a part of what
   is one too many. */
static void finds_columns_that_collide(void **state)
{
    (void)state;
    static const struct {
        uint64_t capacity;
        uint32_t ways;
        enum fm_replacement replacement;
    } thirds[] = {{1048576, 16, FM_REPLACE_LRU},
                  {720896, 11, FM_REPLACE_FIFO},
                  {786432, 2, FM_REPLACE_LRU},
                  {983040, 5, FM_REPLACE_BIT_PLRU},
                  {1048576, 8, FM_REPLACE_TREE_PLRU}};
    for (size_t i = 0; i < lab_of(sizeof thirds / sizeof *thirds); i++) {
        struct fm_description machine = two_levels(4096, 4, 65536, 4);
        struct fm_result result;
        machine.caches[1].index = FM_INDEX_HASHED;
        machine.caches[1].latency = 12;
        machine.caches[2] = lab_cache(3, thirds[i].capacity, 64, thirds[i].ways);
        machine.caches[2].replacement = thirds[i].replacement;
        machine.caches[2].latency = 35;
        machine.cache_count = 3;
        machine.tlbs[0].ways = 2;
        machine.memory_latency = 120;
        machine.page_mapping = FM_MAPPING_RANDOM;
        machine.noise = noise;
        survey(&machine, 11 + i, &result);
        lab_expect(&result, "l3.ways", thirds[i].ways, 0);
        lab_expect(&result, "l3.physical_capacity", (double)thirds[i].capacity, 0);
        assert_string_equal(lab_finding(&result, "l3.ways")->method, "columns");
        fm_result_free(&result);
    }
}

/* A level of some classes of 8 behind one of 4 classes of 16: an item that is one too many there
   makes others slower too. By itself, so that nothing else can be the reason. */
#define MOST_CLASSES 40
#define WAYS         8
#define INSIDE       4
#define KEEPS        16

static bool time_made_up(struct fm_lab *lab, struct fm_crowd *crowd, size_t count, double *ns,
                         struct fm_error *err)
{
    const size_t classes = *(const size_t *)crowd->data;
    size_t in_class[MOST_CLASSES] = {0}, inside[INSIDE] = {0};
    double sum = 0;
    (void)lab;
    (void)err;
    for (size_t i = 0; i < count; i++) {
        in_class[crowd->trial[i] % classes]++;
        inside[crowd->trial[i] % INSIDE]++;
    }
    for (size_t i = 0; i < count; i++)
        if (inside[crowd->trial[i] % INSIDE] > KEEPS)
            sum += in_class[crowd->trial[i] % classes] > WAYS ? 4 : 1;
    *ns = sum / (double)count;
    crowd->whole_ns = 1 + *ns;
    crowd->spent += (double)count;
    return true;
}

/* How many of some crowds decide, of which none may be wrong. */
static unsigned decide(struct fm_machine *machine, size_t classes)
{
    unsigned decided = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct fm_survey_options options = lab_options();
        struct fm_lab lab = {.machine = machine, .options = &options, .next_seed = 1000 * seed};
        struct fm_error err = {0};
        struct fm_crowded shown;
        struct fm_crowd crowd = {.time = time_made_up,
                                 .data = &classes,
                                 .items = 4000,
                                 .most = 800,
                                 .shallow = 2 * INSIDE * KEEPS + 1,
                                 .kept = 8 * INSIDE * KEEPS,
                                 .hit_ns = 1,
                                 .penalty_ns = 3,
                                 .reading = 0.001,
                                 .spend = 1e9};
        assert_true(fm_crowd_open(&lab, &crowd, 0, 1, &err));
        assert_true(fm_crowd_out(&lab, &crowd, &shown, &err));
        fm_crowd_close(&crowd);
        /* What is held is compared with the walk, which shows about how much that should be. */
        if (fm_crowd_doubt(&lab, &shown) || shown.shallow || shown.held < classes * WAYS / 2)
            continue;
        decided++;
        assert_int_equal(shown.ways, WAYS);
        assert_int_equal(shown.held, classes * WAYS);
    }
    return decided;
}

static void what_the_level_inside_refuses_is_no_class(void **state)
{
    (void)state;
    struct fm_error err = {0};
    const struct fm_description any = two_levels(8192, 4, 65536, 8);
    struct fm_machine *machine = fm_simulated_open(&any, 1, &err);
    assert_non_null(machine);
    assert_true(decide(machine, MOST_CLASSES) > 20);
    decide(machine, 24);
    machine->ops->close(machine);
}

static const struct fm_machine_ops *true_ops;
static size_t strings, wrong_strings;

static bool run_and_look(struct fm_machine *machine, const struct fm_string *string,
                         unsigned repeats, struct fm_sample *samples, struct fm_error *err)
{
    struct fm_error wrong;
    strings++;
    wrong_strings += !fm_string_check(string, &wrong);
    return true_ops->run(machine, string, repeats, samples, err);
}

/* A chain in memory that comes to a word twice goes on from there as before: on a real machine it
   would be shorter than it says. And one too many of such a policy misses now more and now less. */
static void no_chain_comes_to_a_word_twice(void **state)
{
    (void)state;
    struct fm_description description = two_levels(16384, 4, 262144, 8);
    struct fm_survey_options options = lab_options();
    struct fm_result result;
    struct fm_error err = {0};
    description.page_mapping = FM_MAPPING_RANDOM;
    assert_true(fm_replacement_parse("qlru-h00-m1-r2-u1", &description.caches[1].replacement));
    options.only = "ways";
    options.max_footprint = ROOM;
    struct fm_machine *machine = fm_simulated_open(&description, 1, &err);
    assert_non_null(machine);
    true_ops = machine->ops;
    struct fm_machine_ops looking = *true_ops;
    looking.run = run_and_look;
    machine->ops = &looking;
    fm_result_init(&result);
    assert_true(fm_survey(machine, NULL, &options, &result, &err));
    machine->ops = true_ops;
    machine->ops->close(machine);
    assert_true(strings > 100);
    assert_int_equal(wrong_strings, 0);
    lab_expect(&result, "l2.ways", 8, 0);
    lab_expect(&result, "l2.physical_capacity", 262144, 0);
    fm_result_free(&result);
}

/* Who has asked for a thorough survey is not told to. */
static void advises_what_was_not_done(void **state)
{
    (void)state;
    struct fm_survey_options options = lab_options();
    const struct fm_lab lab = {.options = &options};
    const struct fm_crowded half = {.classes = 1, .few = true};
    options.effort = FM_NORMAL;
    assert_non_null(strstr(fm_crowd_doubt(&lab, &half), "try --thorough"));
    options.effort = FM_THOROUGH;
    assert_null(strstr(fm_crowd_doubt(&lab, &half), "thorough"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(advises_what_was_not_done),
        cmocka_unit_test(finds_ways_on_contiguous_and_scattered_pages),
        cmocka_unit_test(finds_odd_numbers),
        cmocka_unit_test(more_ways_inside_do_not_hide_them),
        cmocka_unit_test(lines_of_one_set_inside_find_them),
        cmocka_unit_test(ways_that_hide_others_are_not_told_for_them),
        cmocka_unit_test(finds_a_way_smaller_than_a_page),
        cmocka_unit_test(takes_in_no_page_too_many),
        cmocka_unit_test(finds_them_behind_noise),
        cmocka_unit_test(says_nothing_wrong_of_a_hashed_index),
        cmocka_unit_test(finds_the_ways_and_sets_of_a_hashed_index),
        cmocka_unit_test(tells_the_sets_of_a_hashed_index_by_its_knee),
        cmocka_unit_test(finds_a_third_level_behind_any_second),
        cmocka_unit_test(finds_columns_that_collide),
        cmocka_unit_test(what_the_level_inside_refuses_is_no_class),
        cmocka_unit_test(no_chain_comes_to_a_word_twice),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
