/* The HTML report: whatever a result says, the page it stands in stays as it was made. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/html.h"
#include "report/template.h"

#define HOSTILE "</script><script>a()</script><!-- & \xe2\x80\xa8\xe2\x80\xa9 \"'\\"

static void build(struct fm_result *result)
{
    fm_result_init(result);
    result->machine = (struct fm_machine_info){.kind = "native", .name = HOSTILE, .cpu = -1};
    fm_environment_set(&result->environment, "<!--</script>", fm_text("</script><!--"));
    struct fm_finding *finding = fm_result_finding(result, "l1d.<!--", "</script>");
    strcpy(finding->note, HOSTILE);
    strcpy(finding->evidence[0], "</script>");
    struct fm_curve *curve = fm_result_curve(result, "<!--");
    curve->x = (struct fm_axis){"</script>", "B"};
    fm_curve_add(curve, (struct fm_point){1, 2, 2, 2});
    fm_result_warn(result, "<", HOSTILE, "%s", HOSTILE);
}

static bool write_page(const struct fm_html *page, char **text, struct fm_error *err)
{
    size_t length = 0;
    *text = NULL;
    FILE *out = open_memstream(text, &length);
    assert_non_null(out);
    const bool done = fm_report_html(out, page, err);
    fclose(out);
    return done;
}

/* The JSON between the two pieces of the template; the caller frees it. */
static char *cut_out(const char *text)
{
    const size_t length = strlen(text);
    assert_true(length > fm_template.before_length + fm_template.after_length);
    assert_memory_equal(text, fm_template.before, fm_template.before_length);
    assert_memory_equal(text + length - fm_template.after_length, fm_template.after,
                        fm_template.after_length);
    return strndup(text + fm_template.before_length,
                   length - fm_template.before_length - fm_template.after_length);
}

static void hostile_text_stays_text(void **state)
{
    (void)state;
    struct fm_result result;
    struct fm_error err;
    const struct fm_result *list[] = {&result};
    char *text;
    build(&result);
    if (!fm_html_available(&err)) {
        fm_result_free(&result);
        skip();
    }
    assert_true(
        write_page(&(struct fm_html){.results = list, .count = 1, .version = "<1>"}, &text, &err));
    char *json = cut_out(text);
    assert_null(strpbrk(json, "<>&"));
    assert_null(strstr(json, "\xe2\x80\xa8"));
    assert_null(strstr(json, "\xe2\x80\xa9"));

    json_t *root = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
    json_t *one = json_array_get(json_object_get(root, "results"), 0);
    assert_non_null(one);
    assert_string_equal(json_string_value(json_object_get(json_object_get(one, "machine"), "name")),
                        HOSTILE);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(root, "page"), "version")), "<1>");
    json_decref(root);
    free(json);
    free(text);
    fm_result_free(&result);
}

static void compared_results_keep_their_names(void **state)
{
    (void)state;
    struct fm_result a, b;
    struct fm_error err;
    const struct fm_result *list[] = {&a, &b};
    const char *names[] = {"a.json", "</script>"};
    struct fm_diff diff;
    char *text;
    build(&a);
    build(&b);
    assert_true(fm_diff_make(&diff, list, names, 2));
    const bool there = fm_html_available(NULL);
    const struct fm_html page = {.results = list, .count = 2, .diff = &diff, .version = "1"};
    assert_int_equal(write_page(&page, &text, &err), there);
    if (there) {
        char *json = cut_out(text);
        json_t *root = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
        assert_null(strpbrk(json, "<>&"));
        assert_int_equal(json_array_size(json_object_get(root, "results")), 2);
        json_t *sides = json_object_get(json_object_get(root, "diff"), "results");
        assert_string_equal(json_string_value(json_object_get(json_array_get(sides, 1), "file")),
                            "</script>");
        json_decref(root);
        free(json);
    }
    free(text);
    fm_diff_free(&diff);
    fm_result_free(&a);
    fm_result_free(&b);
}

static void a_build_without_it_says_so(void **state)
{
    (void)state;
    struct fm_error err = {0};
    if (fm_html_available(&err)) {
        assert_int_equal(err.code, FM_ERR_OK);
        return;
    }
    assert_int_equal(err.code, FM_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "-Dreport=enabled"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_text_stays_text),
        cmocka_unit_test(compared_results_keep_their_names),
        cmocka_unit_test(a_build_without_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
