/* What the walk does for less: siblings that are not primed, and rises sampled thinly and briefly.
 */
#include <math.h>
#include <stdlib.h>

#include "probe/lab.h"
#include "probe/placements.h"
#include "probe/walk.h"
#include "probe/walk_ways.h"
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

/* The rise of the second level in the way that is found for it. */
static struct fm_way way_found(enum fm_replacement replacement, enum fm_index index)
{
    struct thrifty thrifty;
    struct fm_error err = {0};
    const struct fm_description machine = machine_of(replacement, index);
    struct fm_lab *lab = open_lab(&machine, &thrifty, 4 << 20);
    for (double bytes = 1024; bytes <= 4 << 20; bytes *= 1.09)
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
    assert_true(lab->known.scattered);
    const struct fm_way way = fm_rise_way(lab, 1);
    close_lab(lab);
    return way;
}

static void expect_way(enum fm_replacement replacement, enum fm_index index, bool thin, bool brief)
{
    const struct fm_way way = way_found(replacement, index);
    if (way.thin != thin || way.brief != brief)
        fail_msg("policy %d, index %d: %s, %s", replacement, index, way.thin ? "thin" : "in full",
                 way.brief ? "brief" : "settled");
}

static void a_rise_is_sampled_for_as_little_as_tells_the_same(void **state)
{
    (void)state;
    expect_way(FM_REPLACE_LRU, FM_INDEX_PHYSICAL, true, true);
    expect_way(FM_REPLACE_TREE_PLRU, FM_INDEX_PHYSICAL, true, true);
    /* Of a quarter of the lines four times as many fit where each lies anywhere. */
    expect_way(FM_REPLACE_LRU, FM_INDEX_HASHED, false, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rise_is_sampled_for_as_little_as_tells_the_same),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
