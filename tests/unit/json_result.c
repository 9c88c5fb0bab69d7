#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/json_result.h"

/* A result with one of everything, awkward where it can be. */
static void build(struct fm_result *r)
{
    fm_result_init(r);
    r->machine = (struct fm_machine_info){
        .kind = "native", .name = "a \"quoted\"\tname \\ \xc3\xa9", .arch = "aarch64", .cpu = 3};
    r->machine.page_size = 4096;
    r->machine.page_sizes[0] = 2 << 20;
    r->machine.page_sizes[1] = 1 << 30;
    r->machine.page_size_count = 2;
    r->machine.memory_limit = UINT64_MAX;
    r->machine.clock = (struct fm_clock_info){"cntvct", 0.1, 1.0 / 3.0};
    fm_environment_set(&r->environment, "virtualised", fm_bool(true));
    fm_environment_set(&r->environment, "page_size", fm_number(4096));
    fm_environment_set(&r->environment, "thp", fm_text("madvise"));
    fm_environment_set(&r->environment, "steal", fm_number(0));
    fm_environment_set(&r->environment, "unknown", (struct fm_value){.kind = FM_VALUE_NONE});

    struct fm_finding *f = fm_result_finding(r, "l1d.capacity", "B");
    f->status = FM_MEASURED;
    f->value = fm_number(65536);
    f->low = fm_number(65536);
    f->high = fm_number(65600);
    f->confidence = 0.99;
    strcpy(f->method, "cache-only");
    strcpy(f->witnesses[0], "clock");
    strcpy(f->evidence[0], "curve:cache-only");
    f->claimed = fm_number(65536);
    strcpy(f->claimed_by, "sysfs");
    f = fm_result_finding(r, "l1d.replacement", "");
    f->candidates[0] = fm_text("lru");
    f->candidates[1] = fm_text("tree-plru");
    f->candidate_count = 2;
    strcpy(f->note, "no sequence separates them");
    f = fm_result_finding(r, "l2.write_allocate", "");
    f->status = FM_MEASURED;
    f->value = f->low = f->high = fm_bool(true);

    struct fm_curve *c = fm_result_curve(r, "cache-only");
    c->x = (struct fm_axis){"footprint", "B"};
    c->y = (struct fm_axis){"latency", "ns"};
    fm_curve_add(c, (struct fm_point){4096, 1.54, 1.5384615384615383, 1e-300});
    fm_curve_add(c, (struct fm_point){8192, 0.1, 1e22, 1.7976931348623157e308});
    c->steps[0] = (struct fm_step){65536, 1.54, "l1d"};
    c->step_count = 1;
    fm_result_warn(r, "noisy", "stop other programs", "spread is %d%%\nacross runs", 40);
    struct fm_entry entry = {.property = "l2.capacity",
                             .unit = "B",
                             .verdict = FM_DIFFERS,
                             .claimed = fm_number(1 << 20),
                             .claimed_by = "sysfs",
                             .effective = fm_number(632832),
                             .low = fm_number(575488),
                             .high = fm_number(696320),
                             .why = "the OS claims 1 MiB; \"a walk\" gets less"};
    fm_result_enter(r, &entry);
    r->elapsed_s = 7.1;
    r->complete = false;
}

static void read_back_equal(const char *text)
{
    struct fm_result back;
    struct fm_error err = {0};
    if (!fm_result_from_json(text, strlen(text), "r.json", &back, &err))
        fail_msg("%s", err.text);
    char *again = fm_result_to_json(&back, "0.1.0");
    assert_string_equal(text, again);
    free(again);
    fm_result_free(&back);
}

static void written_and_read_back(void **state)
{
    (void)state;
    struct fm_result r;
    build(&r);
    char *text = fm_result_to_json(&r, "0.1.0");
    assert_non_null(text);
    read_back_equal(text);

    struct fm_result back;
    assert_true(fm_result_from_json(text, strlen(text), "r.json", &back, NULL));
    assert_memory_equal(&back.machine, &r.machine, sizeof r.machine);
    assert_int_equal(back.finding_count, 3);
    assert_true(back.findings[0].high.number == 65600 && back.findings[0].confidence == 0.99);
    assert_int_equal(back.findings[1].status, FM_UNDETERMINED);
    assert_string_equal(back.findings[1].candidates[1].text, "tree-plru");
    assert_memory_equal(back.curves[0].points, r.curves[0].points, 2 * sizeof(struct fm_point));
    assert_string_equal(back.warnings[0].text, "spread is 40%\nacross runs");
    assert_int_equal(back.entry_count, 1);
    assert_int_equal(back.entries[0].verdict, FM_DIFFERS);
    assert_true(back.entries[0].low.number == 575488);
    assert_int_equal(back.entries[0].physical.kind, FM_VALUE_NONE);
    assert_string_equal(back.entries[0].why, r.entries[0].why);
    assert_false(back.complete);
    fm_result_free(&back);
    free(text);
    fm_result_free(&r);
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no %s in %s", part, text);
}

static void shape_of_the_contract(void **state)
{
    (void)state;
    struct fm_result r;
    build(&r);
    char *text = fm_result_to_json(&r, "0.1.0");
    has(text, "\"schema\": \"fathom-result/1\"");
    has(text, "\"fathom\": {\"version\": \"0.1.0\"}");
    has(text, "\"value\": 65536,");
    has(text, "\"unit\": \"B\"");
    has(text, "\"witnesses\": [\"clock\"]");
    has(text, "\"claimed_by\": null");
    has(text, "\"candidates\": [\"lru\", \"tree-plru\"]");
    has(text, "\"candidates\": null");
    has(text, "\"confidence\": null");
    has(text, "\"unknown\": null");
    has(text, "\"resolution_ns\": 0.1,");
    has(text, "[4096, 1.54, 1.5384615384615383, 1e-300]");
    has(text, "\"steps\": [\n");
    has(text, "a \\\"quoted\\\"\\u0009name \\\\ \xc3\xa9\"");
    has(text, "\"elapsed_s\": 7.1");
    has(text, "\"complete\": false");
    free(text);
    fm_result_free(&r);
}

static void odd_text_and_numbers_stay_valid(void **state)
{
    (void)state;
    struct fm_result r;
    build(&r);
    strcpy(r.machine.name, "\xff\xc3 \xed\xa0\x80 \xe2\x82\xac \x1b[31m");
    strcpy(r.machine.arch,
           "\xc2\x80\xc2\x9f\xc2\xa0\xe2\x80\xa9\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xaa\x7f");
    r.machine.cpu = -1;
    r.findings[0].high = fm_number(INFINITY);
    /* A comma as decimal point would not be JSON. */
    setlocale(LC_ALL, "de_DE.UTF-8");
    char *text = fm_result_to_json(&r, "0.1.0");
    setlocale(LC_ALL, "C");
    has(text, "\"\\ufffd\\ufffd \\ufffd\\ufffd\\ufffd \xe2\x82\xac \\u001b[31m\"");
    has(text, "\"\\u0080\\u009f\xc2\xa0\xe2\x80\xa9\\u202e\\u2066\xe2\x81\xaa\\u007f\"");
    has(text, "\"cpu\": null");
    has(text, "\"high\": null");
    struct fm_result back;
    assert_true(fm_result_from_json(text, strlen(text), "r.json", &back, NULL));
    assert_int_equal(back.machine.cpu, -1);
    assert_string_equal(back.machine.arch, r.machine.arch);
    fm_result_free(&back);
    free(text);
    fm_result_free(&r);
}

static void several_make_an_array(void **state)
{
    (void)state;
    struct fm_result a, b;
    build(&a);
    fm_result_init(&b);
    const struct fm_result *const both[] = {&a, &b};
    char *text = fm_results_to_json(both, 2, "0.1.0");
    assert_int_equal(text[0], '[');
    struct fm_error err = {0};
    struct fm_result back;
    assert_false(fm_result_from_json(text, strlen(text), "r.json", &back, &err));
    has(err.text, ": holds a list of results");
    assert_null(strstr(err.text, ": :"));
    free(text);
    text = fm_results_to_json(NULL, 0, "0.1.0");
    assert_string_equal(text, "[]\n");
    free(text);
    fm_result_free(&a);
    fm_result_free(&b);
}

static const struct {
    const char *from, *to, *complaint;
} mistakes[] = {
    {"fathom-result/1", "fathom-result/9", "schema: is fathom-result/9, and this fathom reads"},
    {"fathom-result/1", "fathom-recording/1", "r.json: schema: is not fathom-result/1"},
    {"\"value\": 65536", "\"value\": null", "findings[0].value: is null, but"},
    {"\"status\": \"measured\"", "\"status\": \"guessed\"", "r.json: findings[0].status"},
    {"\"status\": \"measured\"", "\"status\": 5", "r.json: findings[0].status"},
    {"\"value\": 65536", "\"value\": [1]", "r.json: findings[0].value"},
    {"\"confidence\": 0.99", "\"confidence\": 99", "r.json: findings[0].confidence"},
    {"\"value\": 65536", "\"value\": -5", "findings[0].value: is not what l1d.capacity can be"},
    {"\"value\": 65536", "\"value\": 0", "it is a number above 0"},
    {"\"value\": 65536", "\"value\": \"full\"", "it is a number above 0"},
    {"\"low\": 65536", "\"low\": -1", "findings[0].low: is not what l1d.capacity can be"},
    {"\"high\": 65600", "\"high\": true", "findings[0].high: is not what l1d.capacity"},
    {"[\"clock\"]", "\"clock\"", "r.json: findings[0].witnesses: is no list"},
    {"[\"clock\"]", "[1]", "r.json: findings[0].witnesses"},
    {"\"complete\": false", "\"complete\": 0", "r.json: complete"},
    {"\"cpu\": 3", "\"cpu\": 3.5", "r.json: machine.cpu"},
    {"\"cpu\": 3", "\"cpu\": 1e300", "r.json: machine.cpu"},
    {"\"cpu\": 3", "\"cpu\": 1e999", "r.json:8: not valid JSON (real number overflow"},
    {"\"cpu\": 3", "\"cpu\": 3, \"cpu\": 3", "; keep one of them"},
    {"[2097152", "[0.5", "r.json: machine.page_sizes"},
    {"[2097152", "[true", "r.json: machine.page_sizes"},
    {"[4096, ", "[", "r.json: curves[0].points[0]"},
    {"[4096, ", "[\"\", ", "r.json: curves[0].points[0]"},
    {"l1d.replacement", "l1d.capacity", "r.json: findings[1].property: stands here twice"},
    {"\"aarch64\"", "\"a very long name of an architecture, longer than any\"", "machine.arch"},
    {"\"thp\"", "\"a key that is much longer than any key has to be\"", "environment.a key"},
    {"\"aarch64\"", "\"a\\u0000b\"", "not valid JSON"},
};

static void mistakes_are_named(void **state)
{
    (void)state;
    struct fm_result r, back;
    build(&r);
    char *good = fm_result_to_json(&r, "0.1.0");
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        const char *place = strstr(good, mistakes[i].from);
        assert_non_null(place);
        char *text = malloc(strlen(good) + strlen(mistakes[i].to) + 1);
        sprintf(text, "%.*s%s%s", (int)(place - good), good, mistakes[i].to,
                place + strlen(mistakes[i].from));
        struct fm_error err = {0};
        assert_false(fm_result_from_json(text, strlen(text), "r.json", &back, &err));
        assert_int_equal(err.code, FM_ERR_USAGE);
        has(err.text, mistakes[i].complaint);
        assert_null(strchr(err.text, '\n'));
        free(text);
    }
    /* Cut anywhere, it is an error and nothing else. */
    for (size_t length = 0; length + 2 < strlen(good); length += 7) {
        struct fm_error err = {0};
        assert_false(fm_result_from_json(good, length, "r.json", &back, &err));
        assert_int_equal(err.code, FM_ERR_USAGE);
    }
    free(good);
    fm_result_free(&r);
}

static const struct {
    const char *property, *value;
    bool possible;
} values[] = {
    {"l1d.line", "64", true},
    {"l1d.line", "1", true},
    {"l2@core=4.line", "1073741824", true},
    {"l1d.line", "63", false},
    {"l1d.line", "0.5", false},
    {"l1d.line", "4611686018427387904", false},
    {"l1d.line", "\"64\"", false},
    {"l1d.ways", "12", true},
    {"l1d.ways", "\"full\"", true},
    {"l1d.ways", "\"fullest\"", false},
    {"l1d.ways", "0", false},
    {"dtlb1@2MiB.entries", "32", true},
    {"dtlb1@2MiB.entries", "\"full\"", false},
    {"dtlb1.reach", "-4096", false},
    {"dtlb1.page_size", "0", false},
    {"l2.physical_capacity", "true", false},
    {"l3.sector", "128", true},
    {"page.size", "4096", true},
    {"l1d.latency", "0", true},
    {"app.served_l1", "0", true},
};

static void only_what_can_be_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[1024];
        struct fm_result back;
        struct fm_error err = {0};
        snprintf(text, sizeof text,
                 "{\"schema\": \"fathom-result/1\", \"machine\": {\"kind\": \"native\", \"cpu\": "
                 "null, \"page_size\": null, \"memory_limit\": null, "
                 "\"clock\": {\"resolution_ns\": 1, \"overhead_ns\": 1}}, \"environment\": {}, "
                 "\"findings\": [{\"property\": \"%s\", \"status\": \"measured\", "
                 "\"value\": %s, \"witnesses\": [], \"evidence\": []}], \"curves\": [], "
                 "\"warnings\": [], \"elapsed_s\": 1, \"complete\": true}",
                 values[i].property, values[i].value);
        const bool read = fm_result_from_json(text, strlen(text), "r.json", &back, &err);
        if (read != values[i].possible)
            fail_msg("%s = %s: %s", values[i].property, values[i].value, err.text);
        if (read)
            fm_result_free(&back);
        else
            has(err.text, values[i].property);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_and_read_back),
        cmocka_unit_test(shape_of_the_contract),
        cmocka_unit_test(odd_text_and_numbers_stay_valid),
        cmocka_unit_test(several_make_an_array),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(only_what_can_be_is_read),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
