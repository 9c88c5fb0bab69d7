/* Memory limits, read from made-up systems. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "fake_tree.h"
#include "machine/native/limits.h"

static void none_is_no_limit(void **state)
{
    (void)state;
    assert_true(fm_limit_cgroup("/nowhere") == UINT64_MAX);
    assert_true(fm_limit_available("/nowhere") == UINT64_MAX);
}

static void version2_counts_what_is_used(void **state)
{
    (void)state;
    const struct fake_tree tree = fake_tree_make();
    fake_file(&tree, "/proc/self/cgroup", "0::/box/inner\n");
    fake_file(&tree, "/sys/fs/cgroup/box/inner/memory.max", "1000000\n");
    fake_file(&tree, "/sys/fs/cgroup/box/inner/memory.current", "300000\n");
    assert_int_equal(fm_limit_cgroup(tree.root), 700000);
    /* File pages that can be dropped are as good as free. */
    fake_file(&tree, "/sys/fs/cgroup/box/inner/memory.stat",
              "anon 7\nfile 250000\ninactive_file 200000\nactive_file 50000\n");
    assert_int_equal(fm_limit_cgroup(tree.root), 900000);
    /* A group above that has less is what limits. */
    fake_file(&tree, "/sys/fs/cgroup/box/memory.max", "600000\n");
    fake_file(&tree, "/sys/fs/cgroup/box/memory.current", "550000\n");
    assert_int_equal(fm_limit_cgroup(tree.root), 50000);
    /* And one that is over its limit leaves nothing. */
    fake_file(&tree, "/sys/fs/cgroup/box/memory.current", "650000\n");
    assert_int_equal(fm_limit_cgroup(tree.root), 0);
    fake_tree_remove(&tree);
}

static void max_is_no_limit(void **state)
{
    (void)state;
    const struct fake_tree tree = fake_tree_make();
    fake_file(&tree, "/proc/self/cgroup", "0::/box\n");
    fake_file(&tree, "/sys/fs/cgroup/box/memory.max", "max\n");
    fake_file(&tree, "/sys/fs/cgroup/box/memory.current", "1\n");
    assert_true(fm_limit_cgroup(tree.root) == UINT64_MAX);
    fake_file(&tree, "/sys/fs/cgroup/box/memory.max", "lots\n");
    assert_true(fm_limit_cgroup(tree.root) == UINT64_MAX);
    fake_tree_remove(&tree);
}

static void version1_is_read(void **state)
{
    (void)state;
    const struct fake_tree tree = fake_tree_make();
    fake_file(&tree, "/proc/self/cgroup",
              "9:name=systemd:/\n5:devices:/a\n4:cpu,memory:/a/b\n0::/\n");
    fake_file(&tree, "/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
    fake_file(&tree, "/sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "1\n");
    assert_true(fm_limit_cgroup(tree.root) == UINT64_MAX);
    fake_file(&tree, "/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "5000000\n");
    fake_file(&tree, "/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "2000000\n");
    fake_file(&tree, "/sys/fs/cgroup/memory/a/memory.stat",
              "inactive_file 1\ntotal_inactive_file 500000\n");
    assert_int_equal(fm_limit_cgroup(tree.root), 3500000);
    fake_tree_remove(&tree);
}

/* Inside a container the group's path may be the host's, while only the container's own folder is
   mounted, as the root. */
static void container_root_counts(void **state)
{
    (void)state;
    const struct fake_tree tree = fake_tree_make();
    fake_file(&tree, "/proc/self/cgroup", "0::/system.slice/box-1234.scope\n");
    fake_file(&tree, "/sys/fs/cgroup/memory.max", "4096\n");
    fake_file(&tree, "/sys/fs/cgroup/memory.current", "96\n");
    assert_int_equal(fm_limit_cgroup(tree.root), 4000);
    fake_tree_remove(&tree);
}

static void available_memory_is_read(void **state)
{
    (void)state;
    const struct fake_tree tree = fake_tree_make();
    fake_file(&tree, "/proc/meminfo", "MemTotal: 900 kB\nMemFree: 300 kB\n");
    assert_int_equal(fm_limit_available(tree.root), 300 * 1024);
    fake_file(&tree, "/proc/meminfo",
              "MemTotal:        900 kB\nMemFree:   300 kB\nMemAvailable:   500 kB\n");
    assert_int_equal(fm_limit_available(tree.root), 500 * 1024);
    assert_int_equal(fm_limit_memory(tree.root), 500 * 1024);
    fake_file(&tree, "/proc/meminfo", "MemAvailable: plenty\n");
    assert_true(fm_limit_available(tree.root) == UINT64_MAX);
    fake_tree_remove(&tree);
}

static void process_limits_are_read(void **state)
{
    (void)state;
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_DATA, &old), 0);
    const struct rlimit lower = {.rlim_cur = (rlim_t)1 << 60, .rlim_max = old.rlim_max};
    if (old.rlim_max < lower.rlim_cur || setrlimit(RLIMIT_DATA, &lower) != 0)
        skip();
    const uint64_t all = fm_limit_process("/nowhere");
    const uint64_t rest = fm_limit_process("");
    setrlimit(RLIMIT_DATA, &old);
    assert_true(all <= lower.rlim_cur);
    assert_true(rest < all);
}

int main(void)
{
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_is_no_limit),        cmocka_unit_test(version2_counts_what_is_used),
        cmocka_unit_test(max_is_no_limit),         cmocka_unit_test(version1_is_read),
        cmocka_unit_test(container_root_counts),   cmocka_unit_test(available_memory_is_read),
        cmocka_unit_test(process_limits_are_read),
    };
    return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
