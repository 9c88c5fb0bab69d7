/* Results kept for this computer, and the fingerprint by which they are found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/handles.h"
#include "claims/fingerprint.h"
#include "fathom.h"
#include "fake_tree.h"
#include "machine/native/computer.h"

static const char cpuinfo[] = "processor\t: 0\nBogoMIPS\t: 50.00\nCPU part\t: 0xd0c\n\n"
                              "processor\t: 1\nBogoMIPS\t: 50.00\nCPU part\t: 0xd05\n\n";

static struct fake_tree computer(void)
{
    struct fake_tree tree = fake_tree_make();
    fake_file(&tree, "/proc/cpuinfo", cpuinfo);
    fake_file(&tree, "/sys/devices/system/cpu/present", "0-1\n");
    fake_file(&tree, "/sys/class/dmi/id/product_name", "box\n");
    fake_file(&tree, "/sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
    fake_file(&tree, "/sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n");
    fake_file(&tree, "/sys/devices/system/cpu/cpu0/cache/index0/size", "64K\n");
    return tree;
}

static bool changes(const char *path, const char *text)
{
    char before[FM_FINGERPRINT], after[FM_FINGERPRINT];
    struct fake_tree tree = computer();
    fm_fingerprint(tree.root, 0, "", before);
    fake_file(&tree, path, text);
    fm_fingerprint(tree.root, 0, "", after);
    fake_tree_remove(&tree);
    return strcmp(before, after) != 0;
}

static void a_computer_is_known_again(void **state)
{
    char first[FM_FINGERPRINT], again[FM_FINGERPRINT], other[FM_FINGERPRINT];
    (void)state;
    struct fake_tree tree = computer();
    fm_fingerprint(tree.root, 0, "1.0", first);
    fm_fingerprint(tree.root, 0, "1.0", again);
    assert_string_equal(first, again);
    assert_int_equal(strspn(first, "0123456789abcdef"), 16);
    fm_fingerprint(tree.root, 1, "1.0", other); /* another kind of core */
    assert_string_not_equal(first, other);
    fm_fingerprint(tree.root, 0, "1.1", other);
    assert_string_not_equal(first, other);
    fake_tree_remove(&tree);
    assert_false(
        changes("/proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 99.00\nCPU part\t: 0xd0c\n"));
    assert_true(changes("/proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 50.00\nCPU part\t: 0xd0d\n"));
    assert_true(changes("/sys/devices/system/cpu/present", "0-3\n"));
    assert_true(changes("/sys/class/dmi/id/product_name", "another box\n"));
    assert_true(changes("/sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n"));
}

static struct fathom_result *sample(const char *file)
{
    char path[4096];
    struct fathom_error err;
    snprintf(path, sizeof path, "%s/%s", getenv("FATHOM_SOURCE"), file);
    struct fathom_result *result = fathom_result_read(path, &err);
    if (!result)
        fail_msg("%s", err.text);
    struct fm_machine_info *machine = &result->result.machine;
    fm_computer_name(machine->name, sizeof machine->name);
    fm_computer_arch(machine->arch, sizeof machine->arch);
    machine->page_size = (size_t)sysconf(_SC_PAGESIZE);
    return result;
}

static void what_is_kept_is_found(void **state)
{
    struct fathom_error err;
    double bytes = 0;
    (void)state;
    struct fake_tree home = fake_tree_make();
    setenv("XDG_CACHE_HOME", home.root, 1);
    struct fathom_options *options = fathom_options_new();
    struct fathom_result *result = sample("tests/fuzz/corpus/result/one.json");

    assert_null(fathom_kept(options, &err));
    assert_int_equal(err.code, FATHOM_NOT_KEPT);
    assert_null(fathom_kept(options, NULL));
    assert_true(fathom_keep(result, options, &err));
    struct fathom_result *kept = fathom_kept(options, &err);
    assert_non_null(kept);
    assert_true(fathom_number(kept, "l1d.capacity", &bytes) && bytes == 65536);
    fathom_result_free(kept);
    /* No survey: this would take longer, and not find what the file says. */
    struct fathom_result *here = fathom_here(options, &err);
    assert_non_null(here);
    assert_true(fathom_number(here, "l1d.capacity", &bytes) && bytes == 65536);
    fathom_result_free(here);

    /* Nothing determined is no reason to forget what was. */
    struct fathom_result *poor = sample("tests/fuzz/corpus/result/undetermined.json");
    assert_false(fathom_keep(poor, options, &err));
    assert_non_null(strstr(err.text, "much less"));
    fathom_result_free(poor);

    assert_true(fathom_options_set(options, "only", "gap", &err));
    assert_false(fathom_keep(result, options, &err));
    fathom_options_free(options);
    fathom_result_free(result);
    fake_tree_remove(&home);
}

static void nobody_elses_is_kept(void **state)
{
    struct fathom_error err;
    (void)state;
    struct fake_tree home = fake_tree_make();
    setenv("XDG_CACHE_HOME", home.root, 1);
    struct fathom_options *options = fathom_options_new();
    struct fathom_result *result = sample("tests/fuzz/corpus/result/one.json");
    struct fm_machine_info *machine = &result->result.machine, here = *machine;
    strcpy(machine->name, "seed");
    assert_false(fathom_keep(result, options, &err));
    *machine = here;
    strcpy(machine->arch, "any");
    assert_false(fathom_keep(result, options, &err));
    *machine = here;
    strcpy(machine->kind, "simulated");
    assert_false(fathom_keep(result, options, &err));
    *machine = here;
    assert_true(fathom_keep(result, options, &err));
    fathom_options_free(options);
    fathom_result_free(result);
    fake_tree_remove(&home);
}

static void without_a_folder_there_is_an_error(void **state)
{
    struct fathom_error err;
    (void)state;
    struct fathom_options *options = fathom_options_new();
    struct fathom_result *result = sample("tests/fuzz/corpus/result/one.json");
    setenv("XDG_CACHE_HOME", "relative", 1);
    unsetenv("HOME");
    assert_false(fathom_keep(result, options, &err));
    assert_int_equal(err.code, FATHOM_USAGE);
    assert_non_null(strstr(err.text, "XDG_CACHE_HOME"));
    setenv("XDG_CACHE_HOME", "/dev/null/cache", 1);
    assert_false(fathom_keep(result, options, &err));
    assert_int_equal(err.code, FATHOM_IO);
    fathom_options_free(options);
    fathom_result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_computer_is_known_again),
        cmocka_unit_test(what_is_kept_is_found),
        cmocka_unit_test(nobody_elses_is_kept),
        cmocka_unit_test(without_a_folder_there_is_an_error),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
