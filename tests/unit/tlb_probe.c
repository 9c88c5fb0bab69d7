/* The TLB probe on small machines whose TLBs are known. */
#include <stdio.h>
#include <string.h>

#include "random_machine.h"
#include "probe/tlb.h"
#include "survey_lab.h"

/* Pages enough for the largest TLB here, on pages of 4 KiB. */
#define SOME_PAGES (4u << 20)
#define MANY_PAGES (32u << 20)

#define RANDOM_MACHINES 4u
#define SURVEYS         1u

/* Two levels of caches and no TLB. */
static struct fm_description tlb_lab(void)
{
    struct fm_description machine =
        lab_small(lab_cache(1, 32768, 64, 8), lab_cache(2, 1u << 20, 64, 16));
    machine.tlb_count = 0;
    return machine;
}

static void add_tlb(struct fm_description *machine, uint32_t entries, uint32_t ways)
{
    const unsigned level = (unsigned)machine->tlb_count + 1;
    machine->tlbs[machine->tlb_count++] = lab_tlb(level, entries, ways, machine->page_size);
}

static void survey(const struct fm_description *machine, uint64_t far, uint64_t seed,
                   struct fm_result *result)
{
    struct fm_survey_options options = lab_options();
    options.only = "tlb";
    options.max_footprint = far;
    options.seed = seed;
    lab_survey(machine, &options, result);
    assert_true(result->complete);
}

static const char *of(size_t index, const char *attribute)
{
    static char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "dtlb%zu.%s", index + 1, attribute);
    return property;
}

/* What a miss costs is all that the next level, or the walk, takes. */
static void expect_cost(const struct fm_description *machine, const struct fm_result *result,
                        size_t index, double slack)
{
    const struct fm_tlb_description *tlb = &machine->tlbs[index];
    const double cost = index + 1 < machine->tlb_count ? tlb[1].latency : machine->walk_latency;
    const double cycle_ns = 1000 / machine->clock_mhz;
    lab_expect(result, of(index, "miss_cost_cycles"), cost, slack);
    lab_expect(result, of(index, "miss_cost"), cost * cycle_ns, slack * cycle_ns);
}

/* All there is to say about the TLBs of a machine, and that there are no more. */
static void expect_tlbs(const struct fm_description *machine, const struct fm_result *result,
                        double cost_slack)
{
    for (size_t i = 0; i < machine->tlb_count; i++) {
        const struct fm_tlb_description *tlb = &machine->tlbs[i];
        lab_expect(result, of(i, "entries"), tlb->entries, 0);
        lab_expect(result, of(i, "reach"), (double)(tlb->entries * machine->page_size), 0);
        lab_expect(result, of(i, "page_size"), (double)machine->page_size, 0);
        expect_cost(machine, result, i, cost_slack);
        const struct fm_finding *ways = lab_finding(result, of(i, "ways"));
        if (tlb->ways == tlb->entries) {
            assert_int_equal(ways->value.kind, FM_VALUE_TEXT);
            assert_string_equal(ways->value.text, "full");
        } else {
            lab_expect(result, of(i, "ways"), tlb->ways, 0);
        }
    }
    assert_null(fm_result_find(result, of(machine->tlb_count, "entries")));
}

static void finds(const struct fm_description *machine, uint64_t far)
{
    struct fm_result result;
    survey(machine, far, 1, &result);
    expect_tlbs(machine, &result, 1);
    assert_non_null(fm_result_find_curve(&result, "tlb"));
    fm_result_free(&result);
}

static void finds_a_fully_associative_tlb(void **state)
{
    (void)state;
    struct fm_description machine = tlb_lab();
    add_tlb(&machine, 48, 48);
    finds(&machine, SOME_PAGES);
}

/* Those of a clock, its program and its stack: they come between the pages that are measured, and
   have a TLB that these just fill miss for a lap or more. */
static void finds_entries_beside_the_pages_of_a_reading(void **state)
{
    (void)state;
    static const enum fm_replacement policies[] = {FM_REPLACE_LRU, FM_REPLACE_BIT_PLRU};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct fm_description machine = tlb_lab();
        machine.noise.timer_pages = 4;
        add_tlb(&machine, 40, 40);
        machine.tlbs[0].replacement = policies[i];
        add_tlb(&machine, 512, 8);
        finds(&machine, MANY_PAGES);
    }
}

static void finds_four_ways(void **state)
{
    (void)state;
    struct fm_description machine = tlb_lab();
    add_tlb(&machine, 64, 4);
    finds(&machine, SOME_PAGES);
}

static void finds_six_ways_of_twelve_sets(void **state)
{
    (void)state;
    struct fm_description machine = tlb_lab();
    add_tlb(&machine, 72, 6);
    finds(&machine, SOME_PAGES);
}

static void finds_a_second_level_behind_a_full_one(void **state)
{
    (void)state;
    struct fm_description machine = tlb_lab();
    add_tlb(&machine, 64, 64);
    add_tlb(&machine, 1536, 12);
    finds(&machine, MANY_PAGES);
}

/* Five pages that share a set of the second level, and the first has room for them, or for the four
   that must not conflict: only rows of pages show the second level alone. */
static void finds_a_second_level_whose_group_the_first_holds(void **state)
{
    (void)state;
    const uint32_t ways[] = {4, 8, 64};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct fm_description machine = tlb_lab();
        add_tlb(&machine, 64, ways[i]);
        add_tlb(&machine, 256, 4);
        finds(&machine, SOME_PAGES);
    }
}

static void larger_pages_reach_further(void **state)
{
    (void)state;
    struct fm_description machine = tlb_lab();
    machine.page_size = 16384;
    add_tlb(&machine, 32, 4);
    finds(&machine, 4 * SOME_PAGES);
}

static void no_tlb_is_undetermined_and_no_error(void **state)
{
    (void)state;
    const struct fm_description machine = tlb_lab();
    struct fm_result result;
    survey(&machine, SOME_PAGES, 1, &result);
    const struct fm_finding *entries = lab_finding(&result, "dtlb1.entries");
    assert_int_equal(entries->status, FM_UNDETERMINED);
    assert_int_equal(entries->value.kind, FM_VALUE_NONE);
    assert_true(strlen(entries->note) > 0);
    assert_null(fm_result_find(&result, "dtlb2.entries"));
    fm_result_free(&result);
}

static void disturb(struct fm_description *machine)
{
    machine->page_mapping = FM_MAPPING_RANDOM;
    machine->caches[1].index = FM_INDEX_PHYSICAL;
    machine->noise = (struct fm_noise_description){
        .jitter = 0.01, .spike_probability = 0.002, .spike_cycles = 20000, .timer_ns = 8};
}

static void finds_them_behind_noise_and_scattered_pages(void **state)
{
    (void)state;
    const uint32_t tlbs[][2] = {{48, 48}, {64, 4}, {72, 6}};
    for (size_t i = 0; i < sizeof tlbs / sizeof *tlbs; i++) {
        struct fm_description machine = tlb_lab();
        struct fm_result result;
        add_tlb(&machine, tlbs[i][0], tlbs[i][1]);
        disturb(&machine);
        survey(&machine, SOME_PAGES, 1, &result);
        expect_tlbs(&machine, &result, 2.5);
        fm_result_free(&result);
    }
}

/* An entry maps a pair of pages: half as many entries, of twice the size. */
static void finds_pairs_of_pages(void **state)
{
    (void)state;
    /* Of the few there is less than one page to pick of each 64. */
    static const uint32_t entries[] = {64, 8};
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        struct fm_result result;
        struct fm_description machine = tlb_lab();
        add_tlb(&machine, entries[i], entries[i]);
        machine.tlbs[0].pages_per_entry = 2;
        survey(&machine, SOME_PAGES, 1, &result);
        lab_expect(&result, "dtlb1.entries", entries[i], 0);
        lab_expect(&result, "dtlb1.page_size", 2.0 * (double)machine.page_size, 0);
        expect_cost(&machine, &result, 0, 1);
        assert_true(lab_has_warning(&result, "page-groups"));
        fm_result_free(&result);
    }
}

/* … or but a piece of one, with a second level that maps all of it. */
static void finds_pieces_of_pages(void **state)
{
    (void)state;
    struct fm_result result;
    struct fm_description machine = tlb_lab();
    machine.page_size = 16384;
    add_tlb(&machine, 32, 32);
    add_tlb(&machine, 128, 128);
    machine.tlbs[0].page_sizes[0] = 4096;
    survey(&machine, MANY_PAGES, 1, &result);
    lab_expect(&result, "dtlb1.entries", 32, 0);
    lab_expect(&result, "dtlb1.page_size", 4096, 0);
    lab_expect(&result, "dtlb1.reach", 32 * 4096, 0);
    lab_expect(&result, "dtlb2.entries", 128, 0);
    lab_expect(&result, "dtlb2.page_size", 16384, 0);
    assert_true(lab_has_warning(&result, "page-pieces"));
    assert_false(lab_has_warning(&result, "page-groups"));
    fm_result_free(&result);
}

/* With few ways the sets of pieces matter: counted in pages they would look like others. */
static void finds_pieces_of_pages_in_few_ways(void **state)
{
    (void)state;
    static const uint32_t tlbs[][3] = {{64, 4, 1024}, {48, 6, 2048}, {16, 1, 1024}, {64, 4, 4096}};
    for (size_t i = 0; i < sizeof tlbs / sizeof tlbs[0]; i++) {
        struct fm_result result;
        struct fm_description machine = tlb_lab();
        add_tlb(&machine, tlbs[i][0], tlbs[i][1]);
        machine.tlbs[0].page_sizes[0] = tlbs[i][2];
        survey(&machine, SOME_PAGES, 1, &result);
        lab_expect(&result, "dtlb1.entries", tlbs[i][0], 0);
        lab_expect(&result, "dtlb1.ways", tlbs[i][1], 0);
        lab_expect(&result, "dtlb1.page_size", tlbs[i][2], 0);
        fm_result_free(&result);
    }
}

static void leaves_out_entries_that_others_pinned(void **state)
{
    (void)state;
    struct fm_result result;
    struct fm_description machine = tlb_lab();
    add_tlb(&machine, 64, 64);
    machine.tlbs[0].reserved = 4;
    survey(&machine, SOME_PAGES, 1, &result);
    lab_expect(&result, "dtlb1.entries", 60, 0);
    fm_result_free(&result);
}

/* Where a hash chooses the set, no stride does; pages taken in one by one tell entries and ways all
   the same, of the first level and of one behind it. */
static struct fm_description two_hashed_tlbs(void)
{
    struct fm_description machine = tlb_lab();
    add_tlb(&machine, 32, 4);
    add_tlb(&machine, 512, 8);
    machine.tlbs[0].index = machine.tlbs[1].index = FM_INDEX_HASHED;
    return machine;
}

static void finds_hashed_tlbs(void **state)
{
    (void)state;
    struct fm_result result;
    const struct fm_description machine = two_hashed_tlbs();
    survey(&machine, MANY_PAGES, 1, &result);
    expect_tlbs(&machine, &result, 1.5);
    assert_string_equal(lab_finding(&result, "dtlb2.ways")->method, "crowd");
    fm_result_free(&result);
}

/* With noise it is a matter of luck which groups show: most surveys tell, and none tells wrong. */
static void finds_most_hashed_tlbs_in_noise(void **state)
{
    (void)state;
    struct fm_description machine = two_hashed_tlbs();
    machine.noise.jitter = 0.005;
    unsigned told = 0;
    for (uint64_t seed = 1; seed <= SURVEYS; seed++) {
        struct fm_result result;
        survey(&machine, MANY_PAGES, seed, &result);
        for (size_t i = 0; i < machine.tlb_count; i++) {
            const struct fm_finding *entries = fm_result_find(&result, of(i, "entries"));
            if (!entries || entries->status != FM_MEASURED)
                continue;
            lab_expect(&result, of(i, "entries"), machine.tlbs[i].entries, 0);
            lab_expect(&result, of(i, "ways"), machine.tlbs[i].ways, 0);
            told++;
        }
        fm_result_free(&result);
    }
    assert_true(told >= SURVEYS);
}

/* Where an address is folded, as second levels of many an x86 do, pages in a row fill the sets
   evenly: that tells the entries, if nothing else does. */
static void finds_a_folded_tlb(void **state)
{
    (void)state;
    static const struct {
        uint32_t entries, ways, pages_per_entry;
        enum fm_replacement replacement;
    } tlbs[] = {{1536, 12, 1, FM_REPLACE_LRU},
                {1024, 8, 1, FM_REPLACE_TREE_PLRU},
                {768, 6, 2, FM_REPLACE_LRU}};
    for (size_t i = 0; i < lab_of(sizeof tlbs / sizeof tlbs[0]); i++) {
        struct fm_result result;
        struct fm_description machine = tlb_lab();
        add_tlb(&machine, 64, 4);
        machine.tlbs[0].replacement = FM_REPLACE_TREE_PLRU;
        add_tlb(&machine, tlbs[i].entries, tlbs[i].ways);
        machine.tlbs[1].latency = 9;
        machine.tlbs[1].index = FM_INDEX_FOLDED;
        machine.tlbs[1].replacement = tlbs[i].replacement;
        machine.tlbs[1].pages_per_entry = tlbs[i].pages_per_entry;
        disturb(&machine);
        survey(&machine, MANY_PAGES, 1, &result);
        lab_expect(&result, "dtlb2.entries", tlbs[i].entries, 0);
        lab_expect(&result, "dtlb2.page_size",
                   (double)(tlbs[i].pages_per_entry * machine.page_size), 0);
        fm_result_free(&result);
    }
}

/* … or leave it open: never a wrong number. */
static void says_nothing_wrong_of_a_hashed_index(void **state)
{
    (void)state;
    static const uint32_t tlbs[][2] = {{64, 4}, {16, 2}, {96, 6}, {24, 1}, {32, 2}};
    for (unsigned i = 0; i < 10; i++) {
        struct fm_result result;
        struct fm_description machine = tlb_lab();
        add_tlb(&machine, tlbs[i / 2][0], tlbs[i / 2][1]);
        machine.tlbs[0].index = FM_INDEX_HASHED;
        if (i % 2)
            disturb(&machine);
        survey(&machine, SOME_PAGES, i, &result);
        const struct fm_finding *entries = lab_finding(&result, "dtlb1.entries");
        if (entries->status == FM_MEASURED) {
            lab_expect(&result, "dtlb1.entries", tlbs[i / 2][0], 0);
            lab_expect(&result, "dtlb1.ways", tlbs[i / 2][1], 0);
        } else {
            assert_true(entries->note[0] != '\0');
        }
        fm_result_free(&result);
    }
}

/* The other policies, in one set: right or open. */
static void says_nothing_wrong_of_other_policies(void **state)
{
    (void)state;
    static const enum fm_replacement policies[] = {FM_REPLACE_FIFO, FM_REPLACE_RANDOM,
                                                   FM_REPLACE_BIT_PLRU, FM_REPLACE_SRRIP};
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++)
        for (unsigned seed = 1; seed <= SURVEYS; seed++) {
            struct fm_result result;
            struct fm_description machine = tlb_lab();
            add_tlb(&machine, 48, 48);
            machine.tlbs[0].replacement = policies[i];
            survey(&machine, SOME_PAGES, seed, &result);
            const struct fm_finding *entries = lab_finding(&result, "dtlb1.entries");
            if (entries->status == FM_MEASURED && entries->value.number != 48)
                fail_msg("policy %zu, seed %u: %g entries", i, seed, entries->value.number);
            fm_result_free(&result);
        }
}

/* Of a group that is one too many for its set all but two in n are spared where victims are drawn
   by lot, and of one set that is the whole TLB. */
static void finds_tlbs_that_draw_lots(void **state)
{
    (void)state;
    static const uint32_t tlbs[][2] = {{32, 2}, {96, 6}, {64, 8}, {48, 48}};
    for (size_t i = 0; i < sizeof tlbs / sizeof tlbs[0]; i++) {
        struct fm_result result;
        struct fm_description machine = tlb_lab();
        add_tlb(&machine, tlbs[i][0], tlbs[i][1]);
        machine.tlbs[0].replacement = FM_REPLACE_RANDOM;
        disturb(&machine);
        survey(&machine, SOME_PAGES, 1, &result);
        lab_expect(&result, "dtlb1.entries", tlbs[i][0], 0);
        const struct fm_finding *ways = lab_finding(&result, "dtlb1.ways");
        if (tlbs[i][0] == tlbs[i][1])
            assert_string_equal(ways->value.text, "full");
        else
            assert_true(ways->value.number == tlbs[i][1]);
        fm_result_free(&result);
    }
}

/* A hashed level begins to miss where the one inside has just ended, and both rise as one: a group
   that conflicts tells what a miss of the inner costs. */
static void tells_two_levels_of_one_rise_apart(void **state)
{
    (void)state;
    struct fm_result result;
    struct fm_description machine = tlb_lab();
    add_tlb(&machine, 96, 6);
    add_tlb(&machine, 256, 4);
    machine.tlbs[1].index = FM_INDEX_HASHED;
    survey(&machine, SOME_PAGES, 1, &result);
    lab_expect(&result, "dtlb1.entries", 96, 0);
    lab_expect(&result, "dtlb1.ways", 6, 0);
    expect_cost(&machine, &result, 0, 0.5);
    assert_non_null(fm_result_find(&result, "dtlb2.entries"));
    fm_result_free(&result);
}

/* Twice as many halves are the same memory as pages, and cost an entry of a page no more. */
static void looks_for_no_pieces_where_there_are_none(void **state)
{
    (void)state;
    struct fm_result result;
    struct fm_description machine = tlb_lab();
    add_tlb(&machine, 16, 16);
    survey(&machine, SOME_PAGES, 1, &result);
    lab_expect(&result, "dtlb1.entries", 16, 0);
    assert_null(fm_result_find_curve(&result, "tlb-pieces"));
    fm_result_free(&result);
}

/* With one page too many a tree of 32 misses more in bursts than one by one: the curve shows
   nothing there, and the whole 33 pages seem to fit. */
static void says_nothing_wrong_of_a_tree(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 8; seed++) {
        struct fm_result result;
        struct fm_description machine = tlb_lab();
        add_tlb(&machine, 32, 32);
        machine.tlbs[0].replacement = FM_REPLACE_TREE_PLRU;
        survey(&machine, SOME_PAGES, seed, &result);
        const struct fm_finding *entries = lab_finding(&result, "dtlb1.entries");
        if (entries->status == FM_MEASURED && entries->value.number != 32)
            fail_msg("seed %u: %g entries", seed, entries->value.number);
        fm_result_free(&result);
    }
}

/* A level behind one that draws lots: rows of pages long enough to crowd that may crowd sets of
   this one by themselves, and are no evidence of ways. */
static void says_nothing_wrong_behind_lots(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= SURVEYS; seed++) {
        struct fm_result result;
        struct fm_description machine = tlb_lab();
        add_tlb(&machine, 32, 4);
        add_tlb(&machine, 256, 4);
        machine.tlbs[0].replacement = FM_REPLACE_RANDOM;
        survey(&machine, SOME_PAGES, seed, &result);
        const struct fm_finding *entries = fm_result_find(&result, "dtlb2.entries");
        if (entries && entries->status == FM_MEASURED && entries->value.number != 256)
            fail_msg("seed %u: %g entries", seed, entries->value.number);
        fm_result_free(&result);
    }
}

/* A plain level behind a hashed one that is left open, and of which no more is known than where its
   misses end: pages that it holds in part would make a group behind it conflict late. Or a hashed
   level whose first few pages collide as if they were a level of their own. */
static void says_nothing_wrong_behind_a_hash(void **state)
{
    (void)state;
    static const uint32_t tlbs[][4] = {{128, 4, 768, 12}, {32, 2, 256, 4}};
    for (unsigned i = 0; i < SURVEYS + 1; i++) {
        const uint32_t *is = tlbs[i % 2];
        struct fm_result result;
        struct fm_description machine = tlb_lab();
        add_tlb(&machine, is[0], is[1]);
        add_tlb(&machine, is[2], is[3]);
        machine.tlbs[0].index = FM_INDEX_HASHED;
        disturb(&machine);
        survey(&machine, MANY_PAGES, i, &result);
        for (size_t level = 0; level < 2; level++) {
            const struct fm_finding *entries = fm_result_find(&result, of(level, "entries"));
            if (entries && entries->status == FM_MEASURED && entries->value.number != is[2 * level])
                fail_msg("survey %u: %s is %g", i, entries->property, entries->value.number);
        }
        assert_null(fm_result_find(&result, "dtlb3.entries"));
        fm_result_free(&result);
    }
}

/* What is told of pages that become larger, whether soon or late, whether a second level holds them
   or not: TLBs of what they have become. */
static void expect_growth(uint32_t second, uint64_t misses, uint64_t to)
{
    struct fm_result result;
    struct fm_description machine = tlb_lab();
    add_tlb(&machine, 64, 4);
    if (second)
        add_tlb(&machine, second, 4);
    for (size_t i = 0; i < machine.tlb_count; i++) {
        machine.tlbs[i].page_sizes[1] = to;
        machine.tlbs[i].page_size_count = 2;
    }
    machine.growth = (struct fm_growth_description){.misses = misses, .to = to};
    survey(&machine, 0, 1, &result);
    const struct fm_finding *resized = lab_finding(&result, "page.resized");
    assert_true(resized->value.kind == FM_VALUE_BOOL && resized->value.truth);
    for (size_t i = 0; i < machine.tlb_count && to < 1u << 20; i++) {
        lab_expect(&result, of(i, "entries"), machine.tlbs[i].entries, 0);
        lab_expect(&result, of(i, "ways"), 4, 0);
        lab_expect(&result, of(i, "page_size"), (double)to, 0);
        lab_expect(&result, of(i, "reach"), (double)(machine.tlbs[i].entries * to), 0);
    }
    assert_true(lab_has_warning(&result, "page-resized"));
    /* … and it says that caches were measured on what they were. */
    for (size_t i = 0; i < result.warning_count; i++)
        if (strcmp(result.warnings[i].id, "page-resized") == 0)
            assert_non_null(
                strstr(result.warnings[i].text, "caches were measured on the pages as they were"));
    fm_result_free(&result);
}

static void notices_pages_that_grow(void **state)
{
    (void)state;
    expect_growth(0, 20000, 65536);
    expect_growth(0, 100000, 16384);
    expect_growth(512, 20000, 65536);
}

static void notices_pages_that_grow_at_once(void **state)
{
    (void)state;
    expect_growth(512, 2000, 65536);
    expect_growth(512, 2000, 16384);
    expect_growth(0, 500, 2u << 20);
}

static void notices_no_growth_where_there_is_none(void **state)
{
    (void)state;
    struct fm_result result;
    struct fm_description machine = tlb_lab();
    add_tlb(&machine, 64, 4);
    survey(&machine, MANY_PAGES, 1, &result);
    assert_false(lab_finding(&result, "page.resized")->value.truth);
    fm_result_free(&result);
}

/* The cost of a walk with its tables in memory: of a machine that follows them, and of one whose
   walks cost the same in any case. */
static void finds_the_cost_of_a_cold_walk(void **state)
{
    (void)state;
    for (unsigned cold = 0; cold < 2; cold++)
        for (unsigned noise = 0; noise <= cold; noise++) {
            struct fm_result result;
            struct fm_survey_options options = lab_options();
            struct fm_description machine = tlb_lab();
            add_tlb(&machine, 64, 4);
            machine.cold_walk_latency = cold ? 180 : 0;
            machine.page_mapping = noise ? FM_MAPPING_RANDOM : FM_MAPPING_CONTIGUOUS;
            machine.noise.jitter = noise ? 0.01 : 0;
            options.only = "walk";
            options.max_footprint = 48u << 20;
            lab_survey(&machine, &options, &result);
            const double cost = cold ? 180 : machine.walk_latency;
            lab_expect(&result, "walk.cost_cold_cycles", cost, 0.08 * machine.memory_latency);
            const struct fm_finding *finding = lab_finding(&result, "walk.cost_cold_cycles");
            assert_true(finding->low.number <= cost * 1.01 && finding->high.number >= cost * 0.99);
            /* Tables that fall out of caches are no level of a TLB. */
            lab_expect(&result, "dtlb1.entries", 64, 0);
            assert_null(fm_result_find(&result, "dtlb2.entries"));
            fm_result_free(&result);
        }
}

static void asks_for_every_page_size(void **state)
{
    (void)state;
    struct fm_result result;
    struct fm_description machine = tlb_lab();
    add_tlb(&machine, 64, 4);
    machine.tlbs[machine.tlb_count] = lab_tlb(1, 32, 32, 2u << 20);
    snprintf(machine.tlbs[machine.tlb_count++].name, FM_NAME_TEXT, "large");
    survey(&machine, 0, 1, &result);
    lab_expect(&result, "dtlb1.entries", 64, 0);
    lab_expect(&result, "dtlb1@2MiB.entries", 32, 0);
    lab_expect(&result, "dtlb1@2MiB.page_size", 2 << 20, 0);
    assert_non_null(fm_result_find_curve(&result, "tlb@2MiB"));
    fm_result_free(&result);
}

/* A size that the system knows and does not give is no error: the finding has the system's reason.
 */
static void a_refused_page_size_is_unsupported(void **state)
{
    (void)state;
    struct fm_result result;
    struct fm_error err = {0};
    struct fm_description description = tlb_lab();
    add_tlb(&description, 64, 4);
    struct fm_survey_options options = lab_options();
    options.only = "tlb";
    options.max_footprint = 0;
    struct fm_machine *machine = fm_simulated_open(&description, 1, &err);
    assert_non_null(machine);
    machine->info.page_sizes[machine->info.page_size_count++] = 2u << 20;
    fm_result_init(&result);
    assert_true(fm_survey(machine, NULL, &options, &result, &err));
    machine->ops->close(machine);
    assert_true(result.complete);
    lab_expect(&result, "dtlb1.entries", 64, 0);
    const struct fm_finding *entries = lab_finding(&result, "dtlb1@2MiB.entries");
    assert_int_equal(entries->status, FM_UNSUPPORTED);
    assert_non_null(strstr(entries->note, "page"));
    fm_result_free(&result);
}

/* A finding may be left open, but what is said holds: of every level, on every machine. */
static bool is_right(const struct fm_description *machine, const struct fm_result *result,
                     size_t index)
{
    const struct fm_finding *entries = fm_result_find(result, of(index, "entries"));
    if (!entries || entries->status != FM_MEASURED)
        return false;
    if (index >= machine->tlb_count)
        fail_msg("%s: %s is %g, there is none", machine->name, entries->property,
                 entries->value.number);
    if (entries->value.number != machine->tlbs[index].entries)
        fail_msg("%s: %s is %g, not %u", machine->name, entries->property, entries->value.number,
                 machine->tlbs[index].entries);
    return true;
}

static void is_never_wrong_on_random_machines(void **state)
{
    (void)state;
    unsigned right = 0;
    for (unsigned i = 0; i < RANDOM_MACHINES; i++) {
        struct fm_description machine;
        struct fm_result result;
        fm_random_machine(1000 + i, i, i % 2, &machine);
        survey(&machine, 0, i, &result);
        right += is_right(&machine, &result, 0);
        for (size_t j = 0; j <= machine.tlb_count; j++)
            if (is_right(&machine, &result, j) && machine.noise.jitter == 0 &&
                lab_finding(&result, of(j, "miss_cost_cycles"))->status == FM_MEASURED)
                /* Caches that miss more often in one order than in the other are in it. */
                expect_cost(&machine, &result, j, 2.5);
        fm_result_free(&result);
    }
    /* To leave all open would never be wrong either. */
    assert_true(right >= RANDOM_MACHINES * 3 / 4);
}

/* Among few more pages than a FIFO of one set holds some hit by the order they come in, which puts
   a ledge into its rise: what misses before the level inside does is part of that, and no level. */
static void a_ledge_is_no_level(void **state)
{
    (void)state;
    const struct fm_tlb_step steps[] = {{28, 33, 0, 0.4}, {26, 114, 0.4, 7.6}, {456, 645, 7.6, 56}};
    struct fm_tlbs tlbs = {.count = 3};
    for (size_t i = 0; i < tlbs.count; i++)
        tlbs.known[i] = fm_tlb_of_rise(&steps[i]);
    assert_false(fm_join_tlb(&tlbs, 2));
    assert_int_equal(tlbs.count, 3);
    assert_true(fm_join_tlb(&tlbs, 1));
    assert_int_equal(tlbs.count, 2);
    const struct fm_tlb_step *whole = &tlbs.known[0].step;
    assert_true(whole->held == 26 && whole->missed == 114 && whole->cost_before == 0 &&
                whole->cost == 7.6);
    assert_true(tlbs.known[1].step.held == 456);
}

/* Caches alone, some of which hit more often in one order than in the other. */
static void finds_none_on_random_machines_without(void **state)
{
    (void)state;
    for (unsigned i = 0; i < RANDOM_MACHINES / 4 + 1; i++) {
        struct fm_description machine;
        struct fm_result result;
        fm_random_machine(2000 + i, i, i % 2, &machine);
        machine.tlb_count = 0;
        survey(&machine, MANY_PAGES, i, &result);
        assert_int_equal(lab_finding(&result, "dtlb1.entries")->status, FM_UNDETERMINED);
        assert_false(is_right(&machine, &result, 1));
        fm_result_free(&result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_a_fully_associative_tlb),
        cmocka_unit_test(finds_entries_beside_the_pages_of_a_reading),
        cmocka_unit_test(finds_four_ways),
        cmocka_unit_test(finds_six_ways_of_twelve_sets),
        cmocka_unit_test(finds_a_second_level_behind_a_full_one),
        cmocka_unit_test(finds_a_second_level_whose_group_the_first_holds),
        cmocka_unit_test(larger_pages_reach_further),
        cmocka_unit_test(no_tlb_is_undetermined_and_no_error),
        cmocka_unit_test(finds_them_behind_noise_and_scattered_pages),
        cmocka_unit_test(finds_pairs_of_pages),
        cmocka_unit_test(finds_pieces_of_pages),
        cmocka_unit_test(finds_pieces_of_pages_in_few_ways),
        cmocka_unit_test(leaves_out_entries_that_others_pinned),
        cmocka_unit_test(finds_hashed_tlbs),
        cmocka_unit_test(finds_a_folded_tlb),
        cmocka_unit_test(finds_most_hashed_tlbs_in_noise),
        cmocka_unit_test(says_nothing_wrong_of_a_hashed_index),
        cmocka_unit_test(says_nothing_wrong_of_other_policies),
        cmocka_unit_test(finds_tlbs_that_draw_lots),
        cmocka_unit_test(tells_two_levels_of_one_rise_apart),
        cmocka_unit_test(looks_for_no_pieces_where_there_are_none),
        cmocka_unit_test(says_nothing_wrong_of_a_tree),
        cmocka_unit_test(says_nothing_wrong_behind_lots),
        cmocka_unit_test(says_nothing_wrong_behind_a_hash),
        cmocka_unit_test(notices_pages_that_grow),
        cmocka_unit_test(notices_pages_that_grow_at_once),
        cmocka_unit_test(notices_no_growth_where_there_is_none),
        cmocka_unit_test(finds_the_cost_of_a_cold_walk),
        cmocka_unit_test(asks_for_every_page_size),
        cmocka_unit_test(a_refused_page_size_is_unsupported),
        cmocka_unit_test(is_never_wrong_on_random_machines),
        cmocka_unit_test(a_ledge_is_no_level),
        cmocka_unit_test(finds_none_on_random_machines_without),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
