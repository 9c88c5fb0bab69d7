#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <locale.h>

#include "core/units.h"

static void sizes_that_people_write(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {
        {"0", 0},
        {"64", 64},
        {"64K", 65536},
        {"64KiB", 65536},
        {"1.25MiB", 1310720},
        {"2GiB", 2147483648u},
        {"0.5K", 512},
        {"1.50M", 1572864},
        {"18446744073709551615", UINT64_MAX},
        {"16777215T", 16777215ull << 40},
        {"0.0009765625MiB", 1024},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        uint64_t bytes = 1;
        assert_true(fm_parse_size(good[i].text, &bytes));
        assert_int_equal(bytes, good[i].bytes);
    }
}

static void sizes_that_mean_nothing(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "K",
        "-1",
        "+1",
        " 64",
        "64 ",
        "64 K",
        "064",
        "0x40",
        "64k",
        "64KB",
        "64Ki",
        "64KiBs",
        "64MM",
        "1.5",
        "1.",
        ".5K",
        "1.K",
        "1.0",
        "1.3KiB",
        "1e3",
        "64B",
        "64MiBx",
        "1..5K",
        "0.1K",
        "00",
        "16777216T",
        "18446744073709551616",
        "1,5K",
        "0.00000000000000000001T",
        "18014398509481984K",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint64_t bytes = 77;
        if (fm_parse_size(bad[i], &bytes))
            fail_msg("'%s' was read as a size", bad[i]);
        assert_int_equal(bytes, 77);
    }
}

static void counts(void **state)
{
    (void)state;
    static const char *const bad[] = {"08", "8x",   "1.5", "-1",  "",
                                      "8 ", "0x10", "016", "1e2", "64K"};
    uint64_t count = 7;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(fm_parse_count(bad[i], &count));
    assert_int_equal(count, 7);
    assert_true(fm_parse_count("0", &count));
    assert_int_equal(count, 0);
    assert_true(fm_parse_count("12", &count));
    assert_int_equal(count, 12);
}

static void numbers(void **state)
{
    (void)state;
    static const char *const bad[] = {"",    ".5",  "5.",    "+1",  "inf",   "nan", "0x1p3", "1e",
                                      "1e+", "1,5", "1e999", "012", "2.5ns", "--1", " 1",    "1 "};
    double number = 7;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(fm_parse_number(bad[i], &number));
    assert_true(number == 7);
    assert_true(fm_parse_number("2.5", &number) && number == 2.5);
    assert_true(fm_parse_number("1e-3", &number) && number == 1e-3);
    assert_true(fm_parse_number("-0.125E+1", &number) && number == -1.25);
    /* Where the locale is installed, its decimal comma must not matter. */
    setlocale(LC_ALL, "de_DE.UTF-8");
    assert_true(fm_parse_number("2.5", &number) && number == 2.5);
    setlocale(LC_ALL, "C");
}

static void sizes_for_people(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {
        {0, "0 B"},
        {48, "48 B"},
        {1000, "1000 B"},
        {65536, "64 KiB"},
        {1310720, "1.25 MiB"},
        {49152, "48 KiB"},
        {1179648, "1.125 MiB"},
        {1400 * 1024, "1.37 MiB"},
        {1048575, "1024 KiB"},
        {10 * 1048576 + 7, "10.0 MiB"},
        {UINT64_MAX, "16384 PiB"},
    };
    char buffer[FM_SIZE_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(fm_format_size(cases[i].bytes, buffer), cases[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_people_write),
        cmocka_unit_test(sizes_that_mean_nothing),
        cmocka_unit_test(counts),
        cmocka_unit_test(numbers),
        cmocka_unit_test(sizes_for_people),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
