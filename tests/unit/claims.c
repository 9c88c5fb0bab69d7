/* What the system says of itself: read right where it is right, left out where it is rubbish. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "claims/claims.h"
#include "claims/sources.h"
#include "fake_tree.h"

#define CACHE "/devices/system/cpu/cpu0/cache/index"

static void expect_number(const struct fm_claims *claims, const char *property, double number)
{
    const struct fm_claim *claim = fm_claims_find(claims, property);
    assert_non_null(claim);
    assert_int_equal(claim->value.kind, FM_VALUE_NUMBER);
    assert_true(claim->value.number == number);
}

static void expect_text(const struct fm_claims *claims, const char *property, const char *text)
{
    const struct fm_claim *claim = fm_claims_find(claims, property);
    assert_non_null(claim);
    assert_int_equal(claim->value.kind, FM_VALUE_TEXT);
    assert_string_equal(claim->value.text, text);
}

static void fake_cache(const struct fake_tree *tree, int index, const char *level, const char *type,
                       const char *size, const char *ways, const char *sets, const char *cpus)
{
    const char *const files[][2] = {
        {"level", level},
        {"type", type},
        {"size", size},
        {"ways_of_associativity", ways},
        {"number_of_sets", sets},
        {"shared_cpu_list", cpus},
        {"coherency_line_size", "64\n"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[128];
        snprintf(path, sizeof path, CACHE "%d/%s", index, files[i][0]);
        if (files[i][1])
            fake_file(tree, path, files[i][1]);
    }
}

static void sysfs_is_read(void **state)
{
    (void)state;
    const struct fake_tree tree = fake_tree_make();
    fake_cache(&tree, 0, "1\n", "Data\n", "48K\n", "12\n", "64\n", "0-1\n");
    fake_cache(&tree, 1, "1\n", "Instruction\n", "32K\n", "8\n", "64\n", "0-1\n");
    fake_cache(&tree, 2, "2\n", "Unified\n", "1280K\n", "20\n", "1024\n", "0-1\n");
    fake_cache(&tree, 3, "3\n", "Unified\n", "54M\n", "12\n", "73728\n", "0-3,8,10-11\n");
    struct fm_claims claims = {.count = 0};
    fm_claims_add_sysfs(&claims, tree.root, 0);
    fake_tree_remove(&tree);
    expect_number(&claims, "l1d.capacity", 49152);
    expect_number(&claims, "l1d.ways", 12);
    expect_number(&claims, "l1d.line", 64);
    expect_number(&claims, "l1i.capacity", 32768);
    expect_number(&claims, "l2.capacity", 1310720);
    expect_number(&claims, "l2.shared_by", 2);
    expect_number(&claims, "l3.capacity", 54.0 * 1048576);
    expect_number(&claims, "l3.shared_by", 7);
    assert_string_equal(fm_claims_find(&claims, "l3.ways")->source, "sysfs");
    assert_null(fm_claims_find(&claims, "l4.capacity"));
}

static void one_set_is_full(void **state)
{
    (void)state;
    const struct fake_tree tree = fake_tree_make();
    fake_cache(&tree, 0, "1", "Data", "4K", "0", "1", "0");
    fake_cache(&tree, 1, "2", "Data", "8K", "128", NULL, "0");
    struct fm_claims claims = {.count = 0};
    fm_claims_add_sysfs(&claims, tree.root, 0);
    fake_tree_remove(&tree);
    expect_text(&claims, "l1d.ways", "full");
    expect_text(&claims, "l2d.ways", "full");
}

/* Rubbish is left out property by property; what is right beside it stays. */
static void broken_sysfs_is_survived(void **state)
{
    (void)state;
    const struct fake_tree tree = fake_tree_make();
    fake_cache(&tree, 0, "1", "Data", "99999999999999999999K", "-4", "64", "0-");
    fake_cache(&tree, 1, "1", "Instruction", NULL, "", "0", "7-3");
    fake_cache(&tree, 2, "2", "Unified", "0K", "8", "2048", "0,,1");
    fake_cache(&tree, 3, "nine", "Unified", "32M", "16", "2048", "0");
    fake_cache(&tree, 4, "3", "Holographic", "32M", "16", "2048", "0");
    fake_cache(&tree, 5, "400000000000", "Unified", "32M", "16", "2048", "0");
    struct fm_claims claims = {.count = 0};
    fm_claims_add_sysfs(&claims, tree.root, 0);
    fm_claims_add_sysfs(&claims, tree.root, 1);
    fm_claims_add_sysfs(&claims, "/nowhere", 0);
    fake_tree_remove(&tree);
    assert_null(fm_claims_find(&claims, "l1d.capacity"));
    assert_null(fm_claims_find(&claims, "l1d.ways"));
    assert_null(fm_claims_find(&claims, "l1d.shared_by"));
    expect_number(&claims, "l1d.line", 64);
    assert_null(fm_claims_find(&claims, "l1i.capacity"));
    assert_null(fm_claims_find(&claims, "l1i.ways"));
    assert_null(fm_claims_find(&claims, "l1i.shared_by"));
    assert_null(fm_claims_find(&claims, "l2.capacity"));
    assert_null(fm_claims_find(&claims, "l2.shared_by"));
    expect_number(&claims, "l2.ways", 8);
    assert_int_equal(claims.count, 4); /* three lines and the ways of l2 */
}

/* The answers of a Golden Cove core: 48 KiB with 12 ways, then a fully associative one, then the
   end. */
static void cpuid_is_decoded(void **state)
{
    (void)state;
    struct fm_claims claims = {.count = 0};
    assert_true(fm_claims_add_cpuid_answer(&claims, 0xfc004121, 0x02c0003f, 0x3f));
    assert_true(fm_claims_add_cpuid_answer(&claims, 0x00000243, 0x03c0003f, 0x7f));
    assert_false(fm_claims_add_cpuid_answer(&claims, 0, 0, 0));
    expect_number(&claims, "l1d.capacity", 49152);
    expect_number(&claims, "l1d.line", 64);
    expect_number(&claims, "l1d.ways", 12);
    expect_number(&claims, "l2.capacity", 131072);
    expect_text(&claims, "l2.ways", "full");
    assert_string_equal(fm_claims_find(&claims, "l2.ways")->source, "cpuid");
}

static void first_source_is_kept(void **state)
{
    (void)state;
    struct fm_claims claims = {.count = 0};
    fm_claims_add(&claims, "sysfs", fm_number(1), "l%d.line", 2);
    fm_claims_add(&claims, "hwloc", fm_number(2), "l2.line");
    assert_int_equal(claims.count, 1);
    expect_number(&claims, "l2.line", 1);
    for (int i = 0; i < 2 * FM_CLAIMS; i++)
        fm_claims_add(&claims, "sysfs", fm_number(i), "l%d.ways", i);
    assert_int_equal(claims.count, FM_CLAIMS);
}

static void machine_file_is_claimed(void **state)
{
    (void)state;
    const struct fm_description machine = {
        .clock_mhz = 2000,
        .page_size = 8192,
        .caches =
            {{.name = "l1d", .level = 1, .capacity = 32768, .line = 32, .ways = 4, .latency = 3},
             {.name = "l1i",
              .level = 1,
              .holds = FM_HOLDS_INSTRUCTIONS,
              .capacity = 16384,
              .line = 32,
              .ways = 4},
             {.name = "l2",
              .level = 2,
              .holds = FM_HOLDS_BOTH,
              .capacity = 65536,
              .line = 64,
              .ways = 1024,
              .latency = 14}},
        .cache_count = 3,
        .memory_latency = 200,
    };
    struct fm_claims claims = {.count = 5};
    fm_claims_of_description(&machine, &claims);
    expect_number(&claims, "l1d.capacity", 32768);
    expect_number(&claims, "l1d.ways", 4);
    expect_number(&claims, "l1d.latency_cycles", 3);
    expect_number(&claims, "l1d.latency", 1.5);
    expect_text(&claims, "l2.ways", "full");
    expect_number(&claims, "l2.line", 64);
    expect_number(&claims, "memory.latency_cycles", 200);
    expect_number(&claims, "page.size", 8192);
    expect_number(&claims, "l1i.capacity", 16384);
    assert_null(fm_claims_find(&claims, "l1i.latency"));
    assert_string_equal(fm_claims_find(&claims, "l2.line")->source, "machine file");
}

static void this_machine_has_a_page(void **state)
{
    (void)state;
    struct fm_claims claims;
    fm_claims_of_this_machine(0, &claims);
    expect_number(&claims, "page.size", (double)sysconf(_SC_PAGESIZE));
    for (size_t i = 0; i < claims.count; i++) {
        assert_true(claims.items[i].value.kind != FM_VALUE_NONE);
        assert_true(strlen(claims.items[i].source) > 0);
    }
}

/* Whatever hwloc knows, asking for a CPU that is not there adds nothing and does no harm. */
static void hwloc_is_asked(void **state)
{
    (void)state;
    struct fm_claims claims = {.count = 0};
    fm_claims_add_hwloc(&claims, 1 << 20);
    assert_int_equal(claims.count, 0);
    fm_claims_add_hwloc(&claims, 0);
    for (size_t i = 0; i < claims.count; i++)
        assert_string_equal(claims.items[i].source, "hwloc");
}

int main(void)
{
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sysfs_is_read),
        cmocka_unit_test(one_set_is_full),
        cmocka_unit_test(broken_sysfs_is_survived),
        cmocka_unit_test(cpuid_is_decoded),
        cmocka_unit_test(first_source_is_kept),
        cmocka_unit_test(machine_file_is_claimed),
        cmocka_unit_test(this_machine_has_a_page),
        cmocka_unit_test(hwloc_is_asked),
    };
    return cmocka_run_group_tests_name("claims", tests, NULL, NULL);
}
