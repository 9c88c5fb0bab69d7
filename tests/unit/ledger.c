/* The ledger: what is claimed, built and got; what is said where they differ; how it is shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/report.h"
#include "survey/ledger.h"

static struct fm_finding *found(struct fm_result *result, const char *property, const char *unit,
                                double value, double low, double high)
{
    struct fm_finding *finding = fm_result_finding(result, property, unit);
    assert_non_null(finding);
    finding->status = FM_MEASURED;
    finding->value = fm_number(value);
    finding->low = fm_number(low);
    finding->high = fm_number(high);
    return finding;
}

static void claim(struct fm_claims *claims, const char *property, double value)
{
    struct fm_claim *item = &claims->items[claims->count++];
    strcpy(item->property, property);
    strcpy(item->source, "sysfs");
    item->value = fm_number(value);
}

/* Three levels of which the first is as claimed, the second is all there but on scattered pages,
   and the third is not what it is said to be; a fourth is claimed and was not seen. */
static void write_ledger(struct fm_result *result, bool scattered, bool virtualised)
{
    struct fm_claims claims = {.count = 0};
    fm_result_init(result);
    found(result, "l1d.capacity", "B", 65536, 65536, 65536);
    found(result, "l1d.line", "B", 64, 64, 64);
    found(result, "l1d.ways", "", 4, 4, 4);
    found(result, "l2.line", "B", 128, 128, 128);
    found(result, "l3.line", "B", 64, 64, 64);
    found(result, "l2.capacity", "B", 600 << 10, 560 << 10, 640 << 10);
    found(result, "l2.physical_capacity", "B", 1 << 20, 1 << 20, 1 << 20);
    found(result, "l3.capacity", "B", 6 << 20, 4 << 20, 9 << 20);
    fm_environment_set(&result->environment, "virtualised", fm_bool(virtualised));
    claim(&claims, "l1d.capacity", 65536);
    claim(&claims, "l1d.line", 64);
    claim(&claims, "l1d.ways", 4);
    claim(&claims, "l2.line", 64);
    claim(&claims, "l2.capacity", 1 << 20);
    claim(&claims, "l2.physical_capacity", 1 << 20);
    claim(&claims, "l3.capacity", 32 << 20);
    claim(&claims, "l4.capacity", 64 << 20);
    fm_ledger_claims(result, &claims);
    fm_ledger_write(result, scattered);
}

static const struct fm_entry *entry(const struct fm_result *result, const char *property)
{
    for (size_t i = 0; i < result->entry_count; i++)
        if (strcmp(result->entries[i].property, property) == 0)
            return &result->entries[i];
    fail_msg("there is no %s", property);
    return result->entries;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no '%s' in: %s", part, text);
}

static void sets_three_sides_beside_each_other(void **state)
{
    (void)state;
    struct fm_result result;
    write_ledger(&result, true, false);
    const struct fm_entry *first = entry(&result, "l1d.capacity"),
                          *ways = entry(&result, "l1d.ways");
    assert_int_equal(first->verdict, FM_AGREES);
    assert_true(first->effective.number == 65536 && !first->why[0]);
    assert_int_equal(ways->verdict, FM_AGREES);
    assert_true(ways->physical.number == 4 && ways->effective.kind == FM_VALUE_NONE);
    const struct fm_entry *second = entry(&result, "l2.capacity");
    assert_int_equal(second->verdict, FM_DIFFERS);
    assert_true(second->claimed.number == 1 << 20 && second->physical.number == 1 << 20 &&
                second->effective.number == 600 << 10 && second->low.number == 560 << 10);
    /* The physical capacity is a side of the capacity, no line of its own. */
    assert_int_equal(result.entry_count, 7);
    fm_result_free(&result);
}

static void explains_what_differs(void **state)
{
    (void)state;
    struct fm_result result;
    write_ledger(&result, true, false);
    const char *why = entry(&result, "l2.capacity")->why;
    has(why, "the OS claims 1 MiB; a random walk gets 560 KiB to 640 KiB");
    has(why, "scattered pages");
    assert_null(strstr(why, "share"));
    /* The last level, and it moves: others. */
    has(entry(&result, "l3.capacity")->why, "others may share this level");
    has(entry(&result, "l2.line")->why, "the OS claims 64 B; measured are 128 B");
    const struct fm_entry *unseen = entry(&result, "l4.capacity");
    assert_int_equal(unseen->verdict, FM_OPEN);
    has(unseen->why, "no latency step of its own");
    fm_result_free(&result);
    write_ledger(&result, false, false);
    has(entry(&result, "l2.capacity")->why, "nothing seen explains it");
    fm_result_free(&result);
}

/* That a claim lies in a range which holds nearly everything is no confirmation; that it lies
   outside even of that says something. */
static void a_wide_range_confirms_nothing(void **state)
{
    (void)state;
    struct fm_result result;
    struct fm_claims claims = {.count = 0};
    fm_result_init(&result);
    found(&result, "l2.capacity", "B", 758 << 10, 458 << 10, 1260 << 10);
    found(&result, "l3.capacity", "B", 6 << 20, 4 << 20, 9 << 20);
    strcpy(found(&result, "l4.capacity", "B", 20 << 20, 10 << 20, 30 << 20)->note, "it moves");
    claim(&claims, "l2.capacity", 1 << 20);
    claim(&claims, "l3.capacity", 32 << 20);
    claim(&claims, "l4.capacity", 16 << 20);
    fm_ledger_claims(&result, &claims);
    fm_ledger_write(&result, true);
    const struct fm_entry *vague = entry(&result, "l2.capacity");
    assert_int_equal(vague->verdict, FM_OPEN);
    assert_true(vague->effective.number == 758 << 10 && vague->low.number == 458 << 10);
    has(vague->why, "only a wide range");
    assert_int_equal(entry(&result, "l3.capacity")->verdict, FM_DIFFERS);
    has(entry(&result, "l4.capacity")->why, "it moves");
    fm_result_free(&result);
}

static char *shown(const struct fm_result *result, unsigned width)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    const struct fm_look look = {.width = width};
    struct fm_error err;
    assert_non_null(out);
    assert_true(fm_report_ledger(out, result, &look, &err));
    fclose(out);
    return text;
}

static void is_shown_in_eighty_columns(void **state)
{
    (void)state;
    struct fm_result result;
    write_ledger(&result, true, true);
    char *text = shown(&result, 80);
    has(text, "L2 capacity");
    has(text, "560K-640K");
    has(text, "\nnot confirmed: L4 capacity\nas claimed: L1d capacity, line, ways\n");
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 80);
    /* Of what agrees nothing but its name is said. */
    assert_null(strstr(text, "64K "));
    free(text);
    fm_result_free(&result);
}

static void nothing_is_said_where_nobody_claims(void **state)
{
    (void)state;
    struct fm_result result;
    const struct fm_claims none = {.count = 0};
    fm_result_init(&result);
    found(&result, "l1d.capacity", "B", 65536, 65536, 65536);
    fm_ledger_claims(&result, &none);
    fm_ledger_write(&result, false);
    char *text = shown(&result, 80);
    assert_string_equal(text, "");
    free(text);
    fm_result_free(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_three_sides_beside_each_other),
        cmocka_unit_test(explains_what_differs),
        cmocka_unit_test(a_wide_range_confirms_nothing),
        cmocka_unit_test(is_shown_in_eighty_columns),
        cmocka_unit_test(nothing_is_said_where_nobody_claims),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
