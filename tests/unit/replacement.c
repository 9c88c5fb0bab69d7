/* Laps, what policies make of them, and the probe that tells policies apart by them. */
#include <stdlib.h>

#include "analysis/suspects.h"
#include "probe/probe.h"
#include "refstring/refstring.h"
#include "sim_lab.h"

static struct fm_lap lap_of(const char *letters)
{
    struct fm_lap lap = {0};
    for (const char *c = letters; *c; c++) {
        const unsigned block = (unsigned)(*c - 'a');
        lap.block[lap.length++] = (uint16_t)block;
        lap.blocks = block >= lap.blocks ? block + 1 : lap.blocks;
    }
    return lap;
}

static void expect_misses(const char *letters, enum fm_replacement policy, unsigned ways,
                          double low, double high)
{
    const struct fm_lap lap = lap_of(letters);
    const struct fm_lap_misses found = fm_lap_predict(&lap, policy, ways, 32, 1);
    /* Each with what is added for histories that nobody thought of. */
    assert_true(found.low <= low && found.low >= 0.9 * low);
    assert_true(found.high >= high && found.high <= 1.1 * high);
}

static void predicts_laps_worked_out_by_hand(void **state)
{
    (void)state;
    expect_misses("abcd", FM_REPLACE_LRU, 4, 0, 0);
    expect_misses("abcde", FM_REPLACE_LRU, 4, 5, 5);
    expect_misses("abcde", FM_REPLACE_FIFO, 4, 5, 5);
    /* a is used between all others: LRU keeps it, FIFO throws it out in its turn. */
    expect_misses("abac", FM_REPLACE_LRU, 2, 2, 2);
    expect_misses("abac", FM_REPLACE_FIFO, 2, 3, 3);
    /* One way: all miss, whatever it does. */
    expect_misses("abc", FM_REPLACE_LRU, 1, 3, 3);
    const struct fm_lap lap = lap_of("abcde");
    /* Drawn lots: between that a cycle of two blocks on one way too few always misses, and never.
     */
    const struct fm_lap_misses drawn = fm_lap_predict(&lap, FM_REPLACE_RANDOM, 4, 32, 1);
    assert_true(drawn.low > 1 && drawn.high < 4 && drawn.high < 1.1 * drawn.low);
}

static void draws_laps_that_can_be_run(void **state)
{
    (void)state;
    struct fm_rng rng;
    fm_rng_seed(&rng, 1);
    for (int n = 0; n < 400; n++) {
        const unsigned ways = 1 + (unsigned)n % FM_LAP_WAYS, visits = 1 + (unsigned)n % 8;
        unsigned seen[FM_LAP_BLOCKS] = {0};
        struct fm_lap lap;
        fm_lap_draw(&lap, ways, visits, &rng);
        assert_true(lap.blocks > ways && lap.length >= lap.blocks && lap.length <= FM_LAP_MOST);
        for (unsigned i = 0; i < lap.length; i++) {
            assert_true(lap.block[i] < lap.blocks && ++seen[lap.block[i]] <= visits);
            assert_true(i == 0 || lap.block[i] != lap.block[i - 1]);
        }
        for (unsigned b = 0; b < lap.blocks; b++)
            assert_true(seen[b] > 0);
    }
}

#define SETS 12

/* Misses of a policy are told in nanoseconds, the mean of a few sets that were in different states
   before. */
static void narrow_down(struct fm_suspects *suspects, enum fm_replacement truth, double cost)
{
    const struct fm_lap_gauge gauge = {.hit_ns = 4, .error = 0.015};
    struct fm_lap lap;
    for (int laps = 0; laps < 40 && suspects->count > 1; laps++) {
        /* Before the price of a miss is known no lap may tell any two apart. */
        if (!fm_suspects_choose(suspects, &gauge, &lap) && laps > 5)
            break;
        double ns = 0;
        for (uint64_t set = 0; set < SETS; set++) {
            const struct fm_lap_misses is = fm_lap_predict(&lap, truth, suspects->ways, 1, set);
            ns += cost * (is.low + is.high) / 2 / SETS;
        }
        const double error = 0.01 * (ns + lap.length * gauge.hit_ns);
        fm_suspects_hear(suspects, &lap, ns - error, ns + error);
    }
}

static bool holds(const struct fm_suspects *suspects, enum fm_replacement policy)
{
    for (size_t i = 0; i < suspects->count; i++)
        if (suspects->list[i].policy == policy)
            return true;
    return false;
}

static void leaves_the_one_that_is_at_work(void **state)
{
    (void)state;
    for (int truth = 0; truth < FM_REPLACE_QLRU; truth++) {
        struct fm_suspects suspects;
        fm_suspects_open(&suspects, truth % 2 ? 4 : 6, 8, 5, 20, 1);
        narrow_down(&suspects, (enum fm_replacement)truth, 9);
        assert_int_equal(suspects.count, 1);
        assert_int_equal(suspects.list[0].policy, truth);
    }
}

static void two_ways_leave_several(void **state)
{
    (void)state;
    struct fm_suspects suspects;
    fm_suspects_open(&suspects, 2, 8, 5, 20, 1);
    narrow_down(&suspects, FM_REPLACE_LRU, 9);
    /* With two ways they are the same thing. */
    assert_true(holds(&suspects, FM_REPLACE_TREE_PLRU));
    assert_true(holds(&suspects, FM_REPLACE_BIT_PLRU));
    assert_false(holds(&suspects, FM_REPLACE_FIFO));
    assert_false(holds(&suspects, FM_REPLACE_NRU));
}

static void lets_all_go_where_none_fits(void **state)
{
    (void)state;
    const struct fm_lap_gauge gauge = {.hit_ns = 4, .error = 0.015};
    struct fm_suspects suspects;
    struct fm_lap lap;
    fm_suspects_open(&suspects, 8, 8, 5, 20, 1);
    for (int i = 0; i < 12; i++) {
        fm_suspects_choose(&suspects, &gauge, &lap);
        const double misses = i % 2 ? 1 : lap.length; /* as no cache behaves */
        fm_suspects_hear(&suspects, &lap, 8.9 * misses, 9.1 * misses);
    }
    assert_int_equal(suspects.count, 0);
}

/* --- the string --- */

#define LINE   64u
#define STRIDE 8192u

static struct fm_lap_plan plan_of(const struct fm_lap *lap, bool companion)
{
    return (struct fm_lap_plan){.block = lap->block,
                                .length = lap->length,
                                .blocks = lap->blocks,
                                .sets = 8,
                                .line = LINE,
                                .stride = STRIDE,
                                .page = PAGE,
                                .companion = companion,
                                .seed = 5};
}

/* Reads the lap of one set back: its blocks are named in the order in which they come up. */
static unsigned lap_in_set(const struct fm_string *string, unsigned set, unsigned *blocks)
{
    unsigned count = 0;
    const struct fm_order *order = &string->orders[0];
    for (size_t i = 0; i < order->count; i++) {
        const size_t at = (size_t)order->word[i] * FM_WORD;
        if (at % STRIDE / LINE == set)
            blocks[count++] = (unsigned)(at / STRIDE);
    }
    return count;
}

static bool same_but_for_names(const unsigned *found, const struct fm_lap *lap, unsigned begin)
{
    unsigned named[FM_LAP_BLOCKS];
    memset(named, 0xff, sizeof named);
    for (unsigned i = 0; i < lap->length; i++) {
        unsigned *name = &named[lap->block[(begin + i) % lap->length]];
        if (*name == UINT32_MAX)
            *name = found[i];
        if (*name != found[i])
            return false;
    }
    return true;
}

static void gives_each_set_the_lap(void **state)
{
    (void)state;
    const struct fm_lap lap = lap_of("abcadcbeafce");
    const struct fm_lap_plan plan = plan_of(&lap, false);
    struct fm_string string;
    struct fm_error err;
    assert_true(fm_lap_string(&string, &plan, &err));
    static const unsigned sets[] = {0, 2, 6, 8, 18, 20, 24, 26};
    assert_int_equal(string.orders[0].count, 8 * lap.length);
    for (int i = 0; i < 8; i++) {
        unsigned found[FM_LAP_MOST], begin = 0;
        assert_int_equal(lap_in_set(&string, sets[i], found), lap.length);
        while (begin < lap.length && !same_but_for_names(found, &lap, begin))
            begin++;
        assert_true(begin < lap.length);
    }
    fm_string_time(&string, 100);
    assert_true(fm_string_check(&string, &err));
    fm_string_free(&string);
}

/* Sets at given steps come up one after the other, always in the same order. */
static void goes_through_all_sets_in_turn(void **state)
{
    (void)state;
    const struct fm_lap lap = lap_of("abcadcbeafce");
    struct fm_lap_plan plan = plan_of(&lap, false);
    plan.apart = STRIDE / 4;
    struct fm_string string;
    struct fm_error err;
    assert_true(fm_lap_string(&string, &plan, &err));
    const uint32_t *word = string.orders[0].word;
    assert_int_equal(string.orders[0].count, 4 * lap.length); /* no more have room */
    unsigned seen = 0;
    for (size_t i = 0; i < string.orders[0].count; i++) {
        const size_t set = (size_t)word[i] * FM_WORD % STRIDE / plan.apart;
        seen |= 1u << set;
        if (i >= 4)
            assert_int_equal(set, (size_t)word[i - 4] * FM_WORD % STRIDE / plan.apart);
    }
    assert_int_equal(seen, 15);
    fm_string_free(&string);
}

static void companion_asks_for_the_same_pages(void **state)
{
    (void)state;
    const struct fm_lap lap = lap_of("abcadcbeafce");
    const struct fm_lap_plan plan = plan_of(&lap, false), beside = plan_of(&lap, true);
    struct fm_string one, other;
    struct fm_error err;
    assert_true(fm_lap_string(&one, &plan, &err) && fm_lap_string(&other, &beside, &err));
    assert_int_equal(one.orders[0].count, other.orders[0].count);
    unsigned load[STRIDE / LINE] = {0};
    unsigned char *seen = calloc(one.bytes / LINE, 1);
    for (size_t i = 0; i < one.orders[0].count; i++) {
        const size_t a = one.orders[0].word[i], b = other.orders[0].word[i];
        assert_int_equal(a * FM_WORD / PAGE, b * FM_WORD / PAGE);
        const size_t line = b * FM_WORD / LINE;
        load[line % (STRIDE / LINE)] += !seen[line];
        seen[line] = 1;
    }
    for (size_t set = 0; set < STRIDE / LINE; set++)
        assert_true(load[set] <= 1);
    fm_string_time(&other, 100);
    assert_true(fm_string_check(&other, &err));
    free(seen);
    fm_string_free(&one);
    fm_string_free(&other);
}

static void refuses_a_lap_that_asks_too_often(void **state)
{
    (void)state;
    const struct fm_lap lap =
        lap_of("abacadaeafagahaiaj"); /* a: nine times, a line has eight words */
    const struct fm_lap_plan plan = plan_of(&lap, false);
    struct fm_string string;
    struct fm_error err;
    assert_false(fm_lap_string(&string, &plan, &err));
}

/* --- the probe --- */

static void know(struct fm_result *result, const char *property, double value)
{
    fm_measured(fm_result_finding(result, property, ""), value, value, value, 1, "", NULL);
}

/* A machine, with its first level and its TLB as the probes before would have found them. */
static void ask(const struct fm_probe *probe, const struct fm_description *machine, unsigned seed,
                struct fm_result *result)
{
    struct fm_error err = {0};
    struct fm_survey_options options = {.effort = FM_NORMAL, .seed = seed};
    struct fm_machine *simulated = fm_simulated_open(machine, seed, &err);
    struct fm_lab *lab = calloc(1, sizeof *lab);
    const struct fm_cache_description *first = &machine->caches[0];
    const struct fm_tlb_description *tlb = &machine->tlbs[0];
    assert_non_null(simulated);
    assert_non_null(lab);
    fm_result_init(result);
    *lab = (struct fm_lab){.machine = simulated, .options = &options, .result = result};
    lab->known.count = machine->cache_count + 1;
    for (size_t i = 0; i < machine->cache_count; i++)
        lab->known.levels[i].height_ns = machine->caches[i].latency;
    lab->known.levels[machine->cache_count].height_ns = machine->memory_latency;
    know(result, "l1d.capacity", (double)first->capacity);
    know(result, "l1d.ways", first->ways);
    know(result, "l1d.line", first->line);
    know(result, "dtlb1.entries", tlb->entries);
    know(result, "dtlb1.ways", tlb->ways);
    know(result, "dtlb1.page_size", PAGE);
    know(result, "dtlb1.miss_cost", machine->walk_latency);
    if (!probe->run(lab, &err))
        fail_msg("%s", err.text);
    simulated->ops->close(simulated);
    free(lab);
}

static struct fm_description machine_of(enum fm_replacement policy, uint32_t ways)
{
    struct fm_description machine = lab_machine();
    machine.caches[machine.cache_count++] = lab_cache(1, (uint64_t)ways * PAGE, LINE, ways);
    machine.caches[machine.cache_count++] = lab_cache(2, 64 * (uint64_t)ways * PAGE, LINE, 8);
    machine.caches[0].replacement = policy;
    machine.caches[1].index = FM_INDEX_PHYSICAL;
    machine.tlbs[machine.tlb_count++] = lab_tlb(1, 16, 2, PAGE); /* which the blocks overflow */
    machine.page_mapping = FM_MAPPING_RANDOM;
    machine.noise = (struct fm_noise_description){
        .jitter = 0.01, .spike_probability = 0.002, .spike_cycles = 20000, .timer_ns = 8};
    return machine;
}

static void finds_each_policy_in_noise(void **state)
{
    (void)state;
    static const char *const words[] = {
        "lru",   "tree-plru",         "bit-plru",          "nru",      "fifo", "random", "srrip",
        "brrip", "qlru-h11-m1-r1-u2", "qlru-h21-m2-r1-u3", "lru-trees"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        enum fm_replacement policy;
        struct fm_result result;
        const uint32_t ways = i % 2 ? 4 : 6;
        assert_true(fm_replacement_parse(words[i], &policy));
        const struct fm_description machine = machine_of(policy, ways);
        ask(&fm_probe_replacement, &machine, 1, &result);
        const struct fm_finding *found = fm_result_find(&result, "l1d.replacement");
        if (found->status != FM_MEASURED)
            fail_msg("%s of %u ways: %s", words[i], ways, found->note);
        assert_string_equal(found->value.text, words[i]);
        fm_result_free(&result);
    }
}

static void lists_what_it_cannot_tell_apart(void **state)
{
    (void)state;
    struct fm_result result;
    const struct fm_description machine = machine_of(FM_REPLACE_LRU, 2);
    ask(&fm_probe_replacement, &machine, 1, &result);
    const struct fm_finding *found = fm_result_find(&result, "l1d.replacement");
    assert_int_equal(found->status, FM_UNDETERMINED);
    assert_true(found->candidate_count >= 3);
    assert_string_equal(found->candidates[0].text, "lru");
    assert_string_equal(found->candidates[1].text, "tree-plru");
    assert_string_equal(found->candidates[2].text, "bit-plru");
    fm_result_free(&result);
}

static void one_way_has_nothing_to_choose(void **state)
{
    (void)state;
    struct fm_result result;
    const struct fm_description machine = machine_of(FM_REPLACE_LRU, 1);
    ask(&fm_probe_replacement, &machine, 1, &result);
    assert_int_equal(fm_result_find(&result, "l1d.replacement")->status, FM_ABSENT);
    fm_result_free(&result);
}

static void says_when_it_knows_none(void **state)
{
    (void)state;
    enum fm_replacement unknown;
    struct fm_result result;
    /* m3 keeps what came first for ever; no suspect does. */
    assert_true(fm_replacement_parse("qlru-h21-m3-r0-u0", &unknown));
    const struct fm_description machine = machine_of(unknown, 8);
    ask(&fm_probe_replacement, &machine, 1, &result);
    const struct fm_finding *found = fm_result_find(&result, "l1d.replacement");
    assert_int_equal(found->status, FM_UNDETERMINED);
    assert_int_equal(found->candidate_count, 0);
    assert_non_null(strstr(found->note, "none of the known policies"));
    assert_non_null(fm_result_find_curve(&result, "laps-l1d"));
    fm_result_free(&result);
}

static void finds_that_of_a_tlb(void **state)
{
    (void)state;
    static const enum fm_replacement policies[] = {FM_REPLACE_LRU, FM_REPLACE_FIFO,
                                                   FM_REPLACE_TREE_PLRU, FM_REPLACE_RANDOM};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct fm_result result;
        char word[FM_REPLACEMENT_TEXT];
        struct fm_description machine = machine_of(FM_REPLACE_LRU, 4);
        /* One of them has a single set. */
        machine.tlbs[0] = lab_tlb(1, i ? 32 : 12, i ? 4 : 12, PAGE);
        machine.tlbs[0].replacement = policies[i];
        ask(&fm_probe_tlb_replacement, &machine, 1, &result);
        const struct fm_finding *found = fm_result_find(&result, "dtlb1.replacement");
        if (found->status != FM_MEASURED)
            fail_msg("%s: %s", fm_replacement_word(policies[i], word), found->note);
        assert_string_equal(found->value.text, fm_replacement_word(policies[i], word));
        fm_result_free(&result);
    }
}

static void page_laps_touch_what_their_companion_does(void **state)
{
    (void)state;
    const struct fm_lap lap = lap_of("abcadcbeafce");
    struct fm_page_lap_plan plan = {.block = lap.block,
                                    .length = lap.length,
                                    .blocks = lap.blocks,
                                    .sets = 4,
                                    .stride = 16,
                                    .page = PAGE,
                                    .unit = LINE,
                                    .seed = 3};
    struct fm_string one, other;
    struct fm_error err;
    assert_true(fm_page_lap_string(&one, &plan, &err));
    plan.companion = true;
    assert_true(fm_page_lap_string(&other, &plan, &err));
    assert_int_equal(one.orders[0].count, 4 * lap.length);
    for (size_t i = 0; i < one.orders[0].count; i++) {
        const size_t a = one.orders[0].word[i] * FM_WORD, b = other.orders[0].word[i] * FM_WORD;
        assert_int_equal(a % PAGE, b % PAGE); /* the same sets of a cache */
        assert_true(a / PAGE % 16 < 4 && b / PAGE == 0);
    }
    fm_string_time(&one, 10);
    fm_string_time(&other, 10);
    assert_true(fm_string_check(&one, &err) && fm_string_check(&other, &err));
    fm_string_free(&one);
    fm_string_free(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predicts_laps_worked_out_by_hand),
        cmocka_unit_test(draws_laps_that_can_be_run),
        cmocka_unit_test(leaves_the_one_that_is_at_work),
        cmocka_unit_test(two_ways_leave_several),
        cmocka_unit_test(lets_all_go_where_none_fits),
        cmocka_unit_test(gives_each_set_the_lap),
        cmocka_unit_test(goes_through_all_sets_in_turn),
        cmocka_unit_test(companion_asks_for_the_same_pages),
        cmocka_unit_test(refuses_a_lap_that_asks_too_often),
        cmocka_unit_test(finds_each_policy_in_noise),
        cmocka_unit_test(lists_what_it_cannot_tell_apart),
        cmocka_unit_test(one_way_has_nothing_to_choose),
        cmocka_unit_test(says_when_it_knows_none),
        cmocka_unit_test(page_laps_touch_what_their_companion_does),
        cmocka_unit_test(finds_that_of_a_tlb),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
