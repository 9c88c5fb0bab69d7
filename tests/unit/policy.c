/* Each replacement policy against traces worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policy/policy.h"

#define WORDS 400

/* One set: what is in each way, and the policy's state. */
struct set {
    struct fm_policy policy;
    char name[FM_REPLACEMENT_TEXT];
    uint32_t ways;
    uint64_t state[WORDS];
    int line[300]; /* -1: empty */
    struct fm_rng rng;
};

static void open_set(struct set *set, enum fm_replacement replacement, uint32_t ways)
{
    set->policy = fm_policy_of(replacement);
    fm_replacement_word(replacement, set->name);
    set->ways = ways;
    assert_true(set->policy.words(ways) <= WORDS);
    set->policy.reset(set->state, ways);
    for (uint32_t way = 0; way < ways; way++)
        set->line[way] = -1;
    fm_rng_seed(&set->rng, 7);
}

static bool use(struct set *set, int line)
{
    for (uint32_t way = 0; way < set->ways; way++)
        if (set->line[way] == line) {
            if (set->policy.hit)
                set->policy.hit(&set->policy, set->state, set->ways, way);
            return true;
        }
    const uint32_t way = set->policy.victim(&set->policy, set->state, set->ways, &set->rng);
    assert_true(way < set->ways);
    set->policy.fill(&set->policy, set->state, set->ways, way, &set->rng);
    set->line[way] = line;
    return false;
}

static void lose(struct set *set, uint32_t way)
{
    set->line[way] = -1;
    set->policy.drop(set->state, set->ways, way);
}

/* Uses the lines of the trace, one a letter; a capital is one that must hit, a small letter one
   that must miss. */
static void expect(struct set *set, const char *trace)
{
    for (const char *c = trace; *c; c++) {
        if (*c == ' ')
            continue;
        const bool hit = *c >= 'A' && *c <= 'Z';
        if (use(set, hit ? *c - 'A' : *c - 'a') != hit)
            fail_msg("%s in %s: reference %d should %s", set->name, trace, (int)(c - trace) + 1,
                     hit ? "hit" : "miss");
    }
}

static void expect_ways(const struct set *set, const char *lines)
{
    for (uint32_t way = 0; way < set->ways; way++)
        assert_int_equal(set->line[way], lines[way] - 'a');
}

static void test_lru(void **state)
{
    (void)state;
    struct set set;
    open_set(&set, FM_REPLACE_LRU, 4);
    expect(&set, "abcd A e CDA b e");
    expect_ways(&set, "abed"); /* e for b, b for e, e for c */
    lose(&set, 0);
    expect(&set, "f D g");
    expect_ways(&set, "fged"); /* f into the hole, g for b */
}

static void test_fifo(void **state)
{
    (void)state;
    struct set set;
    open_set(&set, FM_REPLACE_FIFO, 4);
    expect(&set, "abcd A e BCD a D b");
    expect_ways(&set, "eabd"); /* the hits saved nobody */
    lose(&set, 1);
    expect(&set, "f g h"); /* f into the hole and to the end of the queue: g for d, h for e */
    expect_ways(&set, "hfbg");
}

static void test_tree_plru(void **state)
{
    (void)state;
    struct set set;
    open_set(&set, FM_REPLACE_TREE_PLRU, 4);
    /* After abcd the tree points to a; A turns the root to the right half, where c is next, though
       b is the oldest. B turns it there again: d. */
    expect(&set, "abcd A e B c");
    expect_ways(&set, "abec");
    lose(&set, 3);
    expect(&set, "d EABD");
    expect_ways(&set, "abed");
    expect(&set, "f"); /* B turned to the right half, D back to the left, where a is next */
    expect_ways(&set, "fbed");
}

static void test_lru_trees(void **state)
{
    (void)state;
    struct set set;
    open_set(&set, FM_REPLACE_LRU_TREES, 6);
    /* ab cd ef: three pairs. A makes cd the oldest pair, and c its elder: g for c. ef is next: h
       for e. B, then the oldest pair is gd, where g came last: i for d. */
    expect(&set, "abcdef A g h B i");
    expect_ways(&set, "abgihf");
    /* F makes hf the newest pair: a, the elder of its pair, is next, though h is older than b. */
    expect(&set, "F j");
    expect_ways(&set, "jbgihf");
    lose(&set, 3);
    expect(&set, "k JBGKHF");
    expect_ways(&set, "jbgkhf");
    open_set(&set, FM_REPLACE_LRU_TREES, 12);
    /* abcd efgh ijkl. E and A: ijkl is the oldest group, whose tree points to i. Then efgh, whose
       tree E turned to the right half, to g. Then abcd, in the same way: c. */
    expect(&set, "abcdefghijkl E A m n o");
    expect_ways(&set, "abodefnhmjkl");
}

static void test_bit_plru(void **state)
{
    (void)state;
    struct set set;
    open_set(&set, FM_REPLACE_BIT_PLRU, 4);
    /* d sets the last bit and clears the others: e for a. B; f for c clears again: g for e. */
    expect(&set, "abcd e B f g D h");
    expect_ways(&set, "ghfd");
}

static void test_srrip(void **state)
{
    (void)state;
    struct set set;
    open_set(&set, FM_REPLACE_SRRIP, 4);
    /* a0 b2 c2 d2 -> a1 b3 c3 d3: e for b, f for c. a1 e2 f2 d0 -> a2 e3 f3 d1: g for e, h for f.
       a2 g2 h2 d1 -> a3 g3 h3 d2: i for a. */
    expect(&set, "abcd A e f D g h i");
    expect_ways(&set, "ighd");
}

static void test_nru(void **state)
{
    (void)state;
    struct set set;
    open_set(&set, FM_REPLACE_NRU, 4);
    /* All used: forgotten at the miss, not before: e for a. f for b; C; g for d, the last that was
       not used. h for e after all are forgotten again. */
    expect(&set, "abcd e f C g h");
    expect_ways(&set, "hfcg");
}

static void open_named(struct set *set, const char *word)
{
    enum fm_replacement replacement;
    assert_true(fm_replacement_parse(word, &replacement));
    open_set(set, replacement, 4);
}

static void test_qlru(void **state)
{
    (void)state;
    struct set set;
    /* Full: 1111 -> 3333. A 1333, e for b 1133, C 1113, A 0113, f for d 0111 -> 2333, g for e 2133,
       A 1133, h for c 1113, i for f. */
    open_named(&set, "qlru-h11-m1-r0-u0");
    expect(&set, "abcd A e CA f g A h i");
    expect_ways(&set, "aghi");
    /* Full: 1111 -> 2222. None is 3: e for a 1222 -> 2333. B 2133, f for c 2113, D 2111 -> 3222, g
       for e 1222 -> 2333, h for b. */
    open_named(&set, "qlru-h11-m1-r1-u2");
    expect(&set, "abcd e B f D g h");
    expect_ways(&set, "ghfd");
    /* Filled from the right, dcba: d1, the others 3. e for c 1133, D 0133, f for b 0113, g for a,
       1 while the others grow: 2331. h for e. */
    open_named(&set, "qlru-h00-m1-r2-u1");
    expect(&set, "abcd e D f g h");
    expect_ways(&set, "dhfg");
    /* Full: 2222, the others grow: 3332. e for a 2332, B 2232, B 2132, C 2122 -> 3223, f for e
       2223, D 2222 -> 3332, g for f. */
    open_named(&set, "qlru-h21-m2-r1-u3");
    expect(&set, "abcd e BBC f D g");
    expect_ways(&set, "gbcd");
    /* A 1222. e: 2333, for b 2233. A 1233, C 1223, f for d 1222. g: 2333, for e. */
    open_named(&set, "qlru-h21-m2-r0-u0-umo");
    expect(&set, "abcd A e AC f g");
    expect_ways(&set, "agcf");
}

static void test_brrip(void **state)
{
    (void)state;
    struct set set;
    open_set(&set, FM_REPLACE_BRRIP, 4);
    expect(&set, "abcd");
    for (int line = 0; line < 4; line++)
        assert_true(use(&set, line));
    /* A new line is the next to go, but for one in 32, which is passed over. */
    unsigned moves = 0;
    uint32_t last = 0;
    for (int line = 4; line < 6404; line++) {
        assert_false(use(&set, line));
        uint32_t way = 0;
        while (set.line[way] != line)
            way++;
        moves += way != last;
        last = way;
    }
    assert_in_range(moves, 150, 250); /* 200, standard deviation 14 */
}

/* The family as its inventors tell it, an age in each of an array. */
struct slow_set {
    struct fm_qlru rule;
    unsigned ways, age[300];
    int line[300]; /* -1: empty */
};

static void slowly_grow(struct slow_set *set, unsigned used)
{
    const bool spare = set->rule.aging % 2 && used < set->ways, alike = set->rule.aging < 2;
    unsigned most = 0;
    for (unsigned i = 0; i < set->ways; i++)
        if (set->age[i] > most && !(alike && spare && i == used))
            most = set->age[i];
    for (unsigned i = 0; i < set->ways; i++)
        if (!(spare && i == used))
            set->age[i] += alike ? 3 - most : most < 3;
}

static bool slowly_use(struct slow_set *set, int line)
{
    const unsigned none = set->ways;
    unsigned way = none, empty = none, old = none;
    for (unsigned i = 0; i < set->ways; i++)
        if (set->line[i] == line)
            way = i;
    const bool hit = way != none;
    if (hit) {
        const unsigned age = set->age[way];
        set->age[way] = age == 3 ? set->rule.from_three : age == 2 ? set->rule.from_two : 0;
    } else {
        if (set->rule.on_miss)
            slowly_grow(set, none);
        for (unsigned i = 0; i < set->ways; i++) {
            if (set->line[i] < 0 && (empty == none || set->rule.choice == 2))
                empty = i;
            if (set->age[i] == 3 && old == none)
                old = i;
        }
        way = empty != none ? empty : old != none ? old : 0;
        set->line[way] = line;
        set->age[way] = set->rule.inserted;
    }
    if (!set->rule.on_miss)
        slowly_grow(set, way);
    return hit;
}

static void test_the_whole_family(void **state)
{
    (void)state;
    struct fm_rng rng;
    fm_rng_seed(&rng, 5);
    unsigned members = 0;
    for (unsigned code = FM_REPLACE_QLRU; code < FM_REPLACE_QLRU + FM_QLRU_MEMBERS; code++) {
        char word[FM_REPLACEMENT_TEXT];
        enum fm_replacement member = (enum fm_replacement)code, again;
        const struct fm_qlru rule = fm_qlru_of(member);
        assert_int_equal(fm_replacement_of_qlru(rule), member);
        assert_int_equal(fm_replacement_parse(fm_replacement_word(member, word), &again),
                         fm_qlru_is_whole(rule));
        if (!fm_qlru_is_whole(rule))
            continue;
        assert_int_equal(member, again);
        members++;
        const uint32_t ways = 1 + (uint32_t)fm_rng_below(&rng, 40);
        struct slow_set slow = {.rule = rule, .ways = ways};
        struct set set;
        open_set(&set, member, ways);
        for (uint32_t i = 0; i < ways; i++) {
            slow.age[i] = 3;
            slow.line[i] = -1;
        }
        for (int i = 0; i < 400; i++) {
            const int line = (int)fm_rng_below(&rng, ways * 3 / 2 + 2);
            assert_int_equal(use(&set, line), slowly_use(&slow, line));
        }
        assert_memory_equal(set.line, slow.line, ways * sizeof *set.line);
    }
    assert_int_equal(members, 5 * 4 * 8 * 2);
}

static void test_words(void **state)
{
    (void)state;
    enum fm_replacement found;
    char word[FM_REPLACEMENT_TEXT];
    for (int i = FM_REPLACE_LRU; i < FM_REPLACE_QLRU; i++) {
        assert_true(
            fm_replacement_parse(fm_replacement_word((enum fm_replacement)i, word), &found));
        assert_int_equal(found, i);
        assert_non_null(strstr(fm_replacement_words, word));
    }
    static const char *const none[] = {"",
                                       "LRU",
                                       "mru",
                                       "qlru",
                                       "qlru-h01-m1-r0-u0",
                                       "qlru-h11-m4-r0-u0",
                                       "qlru-h11-m1-r0-u2",
                                       "qlru-h11-m1-r2-u3",
                                       "qlru-h11-m1-r0-u0-umo ",
                                       "qlru-h11-m1-r0-u0-um"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(fm_replacement_parse(none[i], &found));
}

static void test_random(void **state)
{
    (void)state;
    struct set set, again;
    unsigned chosen[4] = {0};
    open_set(&set, FM_REPLACE_RANDOM, 4);
    open_set(&again, FM_REPLACE_RANDOM, 4);
    expect(&set, "abcd");
    expect_ways(&set, "abcd");
    expect(&again, "abcd");
    for (int line = 4; line < 4004; line++) {
        assert_false(use(&set, line));
        assert_false(use(&again, line));
        for (uint32_t way = 0; way < 4; way++)
            chosen[way] += set.line[way] == line;
    }
    assert_memory_equal(set.line, again.line, 4 * sizeof *set.line);
    for (uint32_t way = 0; way < 4; way++)
        assert_in_range(chosen[way], 900, 1100); /* 1000, standard deviation 27 */
}

static const uint32_t widths[] = {1,  2,  3,  4,  6,  8,  12, 15,  16,  17,
                                  31, 32, 33, 63, 64, 65, 96, 128, 130, 256};

static void test_a_set_fills_before_it_replaces(void **state)
{
    (void)state;
    struct set set;
    for (int policy = FM_REPLACE_LRU; policy <= FM_REPLACE_QLRU; policy++)
        for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
            const int ways = (int)widths[i];
            if (fm_replacement_misfit((enum fm_replacement)policy, widths[i]))
                continue;
            open_set(&set, (enum fm_replacement)policy, widths[i]);
            for (int line = 0; line < ways; line++)
                assert_false(use(&set, line));
            for (int line = 0; line < 3 * ways; line++)
                assert_true(use(&set, line % ways));
            lose(&set, widths[i] / 2);
            const int lost = ways / 2;
            assert_false(use(&set, 1000));
            assert_int_equal(set.line[lost], 1000);
            for (int line = 0; line < ways; line++)
                assert_true(line == lost || use(&set, line));
            assert_false(use(&set, lost));
        }
}

static void test_one_line_too_many_in_a_cycle(void **state)
{
    (void)state;
    struct set set;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        for (int fifo = 0; fifo < 2; fifo++) {
            open_set(&set, fifo ? FM_REPLACE_FIFO : FM_REPLACE_LRU, widths[i]);
            for (int n = 0; n < 4 * ((int)widths[i] + 1); n++)
                assert_false(use(&set, n % ((int)widths[i] + 1)));
        }
}

/* The most recent first; that is all LRU means. */
static bool use_list(int *list, int *length, int most, int line)
{
    int at = 0;
    while (at < *length && list[at] != line)
        at++;
    const bool hit = at < *length;
    if (!hit)
        at = *length < most ? (*length)++ : most - 1;
    memmove(list + 1, list, (size_t)at * sizeof *list);
    list[0] = line;
    return hit;
}

static void test_lru_is_a_list(void **state)
{
    (void)state;
    struct fm_rng rng;
    fm_rng_seed(&rng, 3);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        const int ways = (int)widths[i];
        struct set set;
        int list[300], length = 0;
        open_set(&set, FM_REPLACE_LRU, widths[i]);
        for (int n = 0; n < 3000; n++) {
            const int line = (int)fm_rng_below(&rng, (uint64_t)ways * 3 / 2 + 1);
            assert_int_equal(use(&set, line), use_list(list, &length, ways, line));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lru),
        cmocka_unit_test(test_fifo),
        cmocka_unit_test(test_tree_plru),
        cmocka_unit_test(test_lru_trees),
        cmocka_unit_test(test_bit_plru),
        cmocka_unit_test(test_srrip),
        cmocka_unit_test(test_nru),
        cmocka_unit_test(test_qlru),
        cmocka_unit_test(test_brrip),
        cmocka_unit_test(test_the_whole_family),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_a_set_fills_before_it_replaces),
        cmocka_unit_test(test_one_line_too_many_in_a_cycle),
        cmocka_unit_test(test_lru_is_a_list),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
