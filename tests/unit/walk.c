/* What the walk does for less: siblings that are not primed, and rises sampled thinly and briefly.
 */
#include <math.h>
#include <stdlib.h>

#include "probe/lab.h"
#include "probe/placements.h"
#include "probe/walk.h"
#include "sim_lab.h"
#include "thrifty_machine.h"

#define MANY_PAGES 4096

static const struct fm_survey_options options = {.effort = FM_NORMAL, .seed = 3};

/* A machine whose pages take TLB misses, and whose second level has that policy. */
static struct fm_description machine_of(enum fm_replacement replacement, enum fm_index index)
{
    struct fm_description machine = lab_machine();
    machine.caches[machine.cache_count++] = lab_cache(1, 8192, 64, 4);
    machine.caches[machine.cache_count++] = lab_cache(2, 1 << 20, 64, 16);
    machine.caches[1].replacement = replacement;
    machine.caches[1].index = index;
    machine.tlbs[machine.tlb_count++] = lab_tlb(1, 64, 4, PAGE);
    machine.page_mapping = FM_MAPPING_RANDOM;
    return machine;
}

static struct fm_lab *open_lab(const struct fm_description *machine, struct thrifty *thrifty,
                               size_t bytes)
{
    struct fm_error err = {0};
    struct fm_lab *lab = calloc(1, sizeof *lab);
    assert_non_null(lab);
    *thrifty = thrifty_around(lab_open(machine, bytes));
    lab->machine = &thrifty->machine;
    lab->options = &options;
    lab->walk.unit = 64;
    if (!fm_lab_place(lab, bytes, &err))
        fail_msg("%s", err.text);
    return lab;
}

static void close_lab(struct fm_lab *lab)
{
    lab->machine->ops->close(lab->machine);
    free(lab);
}

/* The string, and then its sibling as it is measured anywhere: primed. */
static double primed_sibling(struct fm_lab *lab, size_t bytes)
{
    static const struct fm_care care = {.repeats = 2};
    struct fm_error err = {0};
    double ns;
    if (!fm_walk_time(lab, bytes, 64, 2, &care, &ns, &err) ||
        !fm_walk_time(lab, bytes, 64, 1, &care, &ns, &err))
        fail_msg("%s", err.text);
    return ns;
}

static double sibling_behind(struct fm_lab *lab, size_t bytes, double *references)
{
    static const struct fm_care care = {.repeats = 2};
    struct fm_error err = {0};
    double ns;
    if (!fm_walk_time(lab, bytes, 64, 2, &care, &ns, &err))
        fail_msg("%s", err.text);
    const double before = thrifty_of(lab->machine)->references;
    if (!fm_walk_time_behind(lab, bytes, 64, &care, &ns, &err))
        fail_msg("%s", err.text);
    *references = thrifty_of(lab->machine)->references - before;
    return ns;
}

/* On what the string has left it misses as if it had gone round by itself: caches smaller and
   larger than the footprint, and those that go over. */
static void a_sibling_behind_its_string_takes_as_long(void **state)
{
    (void)state;
    static const uint64_t capacities[] = {1 << 20, 12 << 20, 16 << 20, 32 << 20};
    static const enum fm_replacement policies[] = {FM_REPLACE_LRU, FM_REPLACE_FIFO,
                                                   FM_REPLACE_RANDOM, FM_REPLACE_TREE_PLRU};
    static const size_t footprints[] = {8 << 20, 12 << 20, 16 << 20};
    for (size_t c = 0; c < 4; c++)
        for (size_t p = 0; p < 4; p++)
            for (size_t f = 0; f < 3; f++) {
                struct thrifty thrifty;
                struct fm_description machine = machine_of(policies[p], FM_INDEX_PHYSICAL);
                machine.caches[1].capacity = capacities[c];
                struct fm_lab *lab = open_lab(&machine, &thrifty, footprints[f]);
                double references;
                const double behind = sibling_behind(lab, footprints[f], &references);
                const double primed = primed_sibling(lab, footprints[f]);
                if (fabs(behind / primed - 1) > 0.1)
                    fail_msg("capacity %zu, policy %zu, footprint %zu: %g behind, %g primed", c, p,
                             f, behind, primed);
                assert_true(references < (double)footprints[f] / 64 / 8);
                close_lab(lab);
            }
}

static void a_short_string_has_no_sibling_behind_it(void **state)
{
    (void)state;
    struct thrifty thrifty;
    const struct fm_description machine = machine_of(FM_REPLACE_LRU, FM_INDEX_PHYSICAL);
    struct fm_lab *lab = open_lab(&machine, &thrifty, 1 << 20);
    double references;
    assert_true(isnan(sibling_behind(lab, 1 << 20, &references)));
    assert_true(references == 0);
    close_lab(lab);
}

/* The rise of the second level in the way that is found for it. */
static enum fm_way way_found(enum fm_replacement replacement, enum fm_index index)
{
    struct thrifty thrifty;
    struct fm_error err = {0};
    const struct fm_description machine = machine_of(replacement, index);
    struct fm_lab *lab = open_lab(&machine, &thrifty, 4 << 20);
    for (double bytes = 1024; bytes <= 4 << 20; bytes *= 1.19)
        if (!fm_walk_measure(lab, (size_t)bytes, NULL, &err))
            fail_msg("%s", err.text);
    lab->known.count = 3;
    lab->known.levels[0] = (struct fm_known_level){
        .height_ns = 4, .flat_from = 1024, .flat_to = 8192, .rise_from = 8192, .rise_to = 16384};
    lab->known.levels[1] = (struct fm_known_level){.height_ns = 20,
                                                   .flat_from = 16384,
                                                   .flat_to = 400e3,
                                                   .rise_from = 400e3,
                                                   .rise_to = 1.8e6};
    lab->known.levels[2] =
        (struct fm_known_level){.height_ns = 200, .flat_from = 1.8e6, .flat_to = 4 << 20};
    if (!fm_repeat_on_fresh_pages(lab, &err))
        fail_msg("%s", err.text);
    const enum fm_way way = fm_rise_way(lab, 1);
    close_lab(lab);
    return way;
}

static void a_rise_is_sampled_for_as_little_as_tells_the_same(void **state)
{
    (void)state;
    assert_int_equal(way_found(FM_REPLACE_LRU, FM_INDEX_PHYSICAL), FM_BRIEF);
    assert_int_equal(way_found(FM_REPLACE_TREE_PLRU, FM_INDEX_PHYSICAL), FM_BRIEF);
    /* Of a quarter of the lines four times as many fit where each lies anywhere. */
    assert_int_equal(way_found(FM_REPLACE_LRU, FM_INDEX_HASHED), FM_FULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sibling_behind_its_string_takes_as_long),
        cmocka_unit_test(a_short_string_has_no_sibling_behind_it),
        cmocka_unit_test(a_rise_is_sampled_for_as_little_as_tells_the_same),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
