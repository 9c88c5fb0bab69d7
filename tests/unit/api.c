/* The library as a program outside uses it: fathom.h and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include <cmocka.h>

#include "fathom.h"

static const char *path(const char *name)
{
    static _Thread_local char text[4096];
    const char *top = getenv("FATHOM_SOURCE");
    assert_non_null(top);
    snprintf(text, sizeof text, "%s/%s", top, name);
    return text;
}

static struct fathom_options *options_with(const char *name, const char *value)
{
    struct fathom_error err;
    struct fathom_options *options = fathom_options_new();
    assert_non_null(options);
    if (name && !fathom_options_set(options, name, value, &err))
        fail_msg("%s", err.text);
    return options;
}

static struct fathom_machine *open_small(const struct fathom_options *options)
{
    struct fathom_error err;
    struct fathom_machine *machine =
        fathom_open_described(path("tests/data/good/small.yaml"), options, &err);
    if (!machine)
        fail_msg("%s", err.text);
    return machine;
}

static struct fathom_result *survey(struct fathom_machine *machine,
                                    const struct fathom_options *options)
{
    struct fathom_error err;
    struct fathom_result *result = fathom_survey(machine, options, &err);
    if (!result)
        fail_msg("%s", err.text);
    return result;
}

static void options_are_strict(void **state)
{
    static const char *const wrong[][2] = {
        {"effort", "hard"},   {"method", "guess"}, {"meter", "sundial"},      {"budget", "0"},
        {"budget", "1s"},     {"seed", "-1"},      {"max-footprint", "64MB"}, {"cpu", "1.5"},
        {"only", "nonesuch"}, {"machines", ""},    {"colour", "red"},
    };
    (void)state;
    struct fathom_options *options = options_with(NULL, NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct fathom_error err = {FATHOM_OK, ""};
        assert_false(fathom_options_set(options, wrong[i][0], wrong[i][1], &err));
        assert_int_equal(err.code, FATHOM_USAGE);
        assert_non_null(strstr(err.text, wrong[i][0]));
        assert_false(fathom_options_set(options, wrong[i][0], wrong[i][1], NULL));
    }
    fathom_options_free(options);
    fathom_options_free(NULL);
}

static void errors_are_one_tame_line(void **state)
{
    struct fathom_error err;
    (void)state;
    struct fathom_options *options = options_with(NULL, NULL);
    assert_null(fathom_open_described("no\nsuch\033[31m file", options, &err));
    assert_int_equal(err.code, FATHOM_USAGE);
    for (const char *c = err.text; *c; c++)
        assert_in_range(*c, 0x20, 0x7e);
    assert_null(fathom_open_recorded(path("README.md"), options, &err));
    assert_int_equal(err.code, FATHOM_USAGE);
    assert_null(fathom_open_described("/nowhere", options, NULL));
    fathom_options_free(options);
    fathom_close(NULL);
    fathom_result_free(NULL);
}

static void findings_can_be_read(void **state)
{
    (void)state;
    struct fathom_options *options = options_with("only", "gap");
    struct fathom_machine *machine = open_small(options);
    struct fathom_result *result = survey(machine, options);
    double bytes = 0;

    assert_true(fathom_number(result, "l1d.capacity", &bytes));
    assert_true(bytes == 4096);
    assert_false(fathom_number(result, "l9.capacity", &bytes));
    assert_true(bytes == 4096);
    assert_null(fathom_find(result, "l9.capacity"));
    assert_null(fathom_finding_at(result, fathom_finding_count(result)));

    const struct fathom_finding *finding = fathom_find(result, "l1d.capacity");
    assert_non_null(finding);
    assert_string_equal(fathom_finding_property(finding), "l1d.capacity");
    assert_string_equal(fathom_finding_unit(finding), "B");
    assert_int_equal(fathom_finding_status(finding), FATHOM_MEASURED);
    assert_int_equal(fathom_finding_value(finding).kind, FATHOM_NUMBER);
    assert_true(fathom_finding_low(finding).number <= 4096);
    assert_true(fathom_finding_high(finding).number >= 4096);
    assert_true(fathom_finding_confidence(finding) > 0);
    assert_true(fathom_finding_claimed(finding).number == 4096);
    assert_string_equal(fathom_finding_claimed_by(finding), "machine file");
    assert_non_null(fathom_finding_witness(finding, 0));
    assert_null(fathom_finding_witness(finding, 100));
    assert_int_equal(fathom_finding_candidate(finding, 100).kind, FATHOM_NONE);
    assert_string_equal(fathom_result_machine(result), "Small test machine");
    assert_true(fathom_result_complete(result));
    assert_true(fathom_result_elapsed(result) > 0);

    assert_true(fathom_curve_count(result) > 0);
    const struct fathom_curve *curve = fathom_curve_at(result, 0);
    assert_ptr_equal(fathom_curve_find(result, fathom_curve_id(curve)), curve);
    assert_true(fathom_point_count(curve) > 0);
    assert_true(fathom_point_at(curve, 0).x > 0);
    fathom_result_free(result);
    fathom_close(machine);
    fathom_options_free(options);
}

static bool stop_at_third(void *data, const char *what, double fraction, double seconds_left)
{
    unsigned *calls = data;
    (void)seconds_left;
    assert_non_null(what);
    assert_true(fraction >= 0 && fraction <= 1);
    return ++*calls >= 3;
}

static void a_survey_can_be_stopped(void **state)
{
    unsigned calls = 0;
    (void)state;
    struct fathom_options *options = options_with(NULL, NULL);
    fathom_options_progress(options, stop_at_third, &calls);
    struct fathom_machine *machine = open_small(options);
    struct fathom_result *result = survey(machine, options);
    assert_false(fathom_result_complete(result));
    assert_true(calls >= 3);
    fathom_result_free(result);
    fathom_close(machine);
    fathom_options_free(options);
}

static char *text_of(struct fathom_result *result, enum fathom_format format)
{
    struct fathom_error err;
    char *text = fathom_text(&result, 1, format, NULL, &err);
    if (!text)
        fail_msg("%s", err.text);
    return text;
}

/* The findings of the JSON, without what says that a recording was replayed. */
static const char *findings_of(const char *json)
{
    const char *findings = strstr(json, "\"findings\"");
    assert_non_null(findings);
    return findings;
}

static void a_recording_gives_the_same_findings(void **state)
{
    char file[] = "/tmp/fathom-api-XXXXXX";
    struct fathom_error err;
    (void)state;
    close(mkstemp(file));
    struct fathom_options *options = options_with("only", "gap");
    assert_true(fathom_options_set(options, "seed", "5", &err));
    struct fathom_machine *machine = open_small(options);
    assert_false(fathom_record_save(machine, file, &err));
    assert_true(fathom_record(machine, &err));
    struct fathom_result *result = survey(machine, options);
    if (!fathom_record_save(machine, file, &err))
        fail_msg("%s", err.text);

    /* Nothing is set here: the recording knows what it was asked. */
    struct fathom_options *none = options_with(NULL, NULL);
    struct fathom_machine *recorded = fathom_open_recorded(file, none, &err);
    if (!recorded)
        fail_msg("%s", err.text);
    struct fathom_result *again = survey(recorded, none);
    char *first = text_of(result, FATHOM_JSON), *second = text_of(again, FATHOM_JSON);
    assert_string_equal(findings_of(first), findings_of(second));
    assert_false(fathom_record(recorded, &err));

    free(first);
    free(second);
    fathom_result_free(again);
    fathom_result_free(result);
    fathom_close(recorded);
    fathom_close(machine);
    fathom_options_free(none);
    fathom_options_free(options);
    unlink(file);
}

static int survey_alone(void *data)
{
    struct fathom_options *options = options_with("only", "gap");
    struct fathom_machine *machine = open_small(options);
    struct fathom_result *result = survey(machine, options);
    *(char **)data = text_of(result, FATHOM_JSON);
    fathom_result_free(result);
    fathom_close(machine);
    fathom_options_free(options);
    return 0;
}

static void handles_do_not_share_anything(void **state)
{
    char *texts[2] = {NULL, NULL};
    thrd_t threads[2];
    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(thrd_create(&threads[i], survey_alone, &texts[i]), thrd_success);
    for (int i = 0; i < 2; i++)
        thrd_join(threads[i], NULL);
    assert_string_equal(texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
}

static void what_there_is_can_be_listed(void **state)
{
    struct fathom_error err;
    (void)state;
    assert_true(fathom_probe_count() > 0);
    assert_true(strlen(fathom_probe_at(0).name) > 0);
    char *probes = fathom_probes_text("no clock", NULL, &err);
    assert_non_null(probes);
    assert_non_null(strstr(probes, "not here: no clock"));
    free(probes);

    struct fathom_options *options = options_with("machines", path("tests/data/good"));
    struct fathom_shelf *shelf = fathom_shelf_open(options, &err);
    assert_non_null(shelf);
    assert_int_equal(fathom_shelf_count(shelf), 3);
    const struct fathom_shelf_entry small = fathom_shelf_at(shelf, 1);
    assert_null(fathom_shelf_complaint(shelf, 0));
    assert_string_equal(small.name, "small");
    assert_string_equal(small.title, "Small test machine");
    assert_string_equal(small.caches, "L1d 4K, L2 64K");
    struct fathom_machine *machine = fathom_open_described(small.name, options, &err);
    assert_non_null(machine);
    fathom_close(machine);
    fathom_shelf_free(shelf);
    fathom_options_free(options);

    options = options_with("machines", path("tests/data/bad"));
    shelf = fathom_shelf_open(options, &err);
    assert_non_null(shelf);
    assert_int_equal(fathom_shelf_count(shelf), 0);
    size_t complaints = 0;
    while (fathom_shelf_complaint(shelf, complaints))
        complaints++;
    assert_true(complaints > 10);
    fathom_shelf_free(shelf);
    fathom_options_free(options);

    options = options_with("machines", path("tests/data/none"));
    assert_null(fathom_shelf_open(options, &err));
    assert_int_equal(err.code, FATHOM_USAGE);
    fathom_options_free(options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_strict),
        cmocka_unit_test(errors_are_one_tame_line),
        cmocka_unit_test(findings_can_be_read),
        cmocka_unit_test(a_survey_can_be_stopped),
        cmocka_unit_test(a_recording_gives_the_same_findings),
        cmocka_unit_test(handles_do_not_share_anything),
        cmocka_unit_test(what_there_is_can_be_listed),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
