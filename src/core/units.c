#include "core/units.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRACTION_DIGITS 18 /* twice 10^18 still fits 64 bits */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads digits without leading zeros; NULL if there are none, one too many, or an overflow. */
static const char *read_integer(const char *text, uint64_t *value)
{
    if (!is_digit(*text) || (*text == '0' && is_digit(text[1])))
        return NULL;
    uint64_t sum = 0;
    for (; is_digit(*text); text++) {
        const uint64_t digit = (uint64_t)(*text - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return NULL;
        sum = sum * 10 + digit;
    }
    *value = sum;
    return text;
}

/* The power of two that a suffix stands for: 0 for none, -1 for one we do not know. */
static int suffix_shift(const char *suffix)
{
    static const char letters[] = "KMGT";
    if (!*suffix)
        return 0;
    const char *letter = strchr(letters, *suffix);
    if (!letter || (suffix[1] && strcmp(suffix + 1, "iB") != 0))
        return -1;
    return 10 * (int)(letter - letters + 1);
}

/* The digits at text as a fraction of 2^shift, bit by bit so that nothing is rounded; false if
   that is no whole number. */
static bool scale_fraction(const char *text, size_t digits, int shift, uint64_t *value)
{
    while (digits && text[digits - 1] == '0')
        digits--;
    if (digits > FRACTION_DIGITS)
        return false;
    uint64_t fraction = 0, one = 1, bits = 0;
    for (size_t i = 0; i < digits; i++, one *= 10)
        fraction = fraction * 10 + (uint64_t)(text[i] - '0');
    for (int i = 0; i < shift; i++) {
        fraction *= 2;
        bits = bits * 2 + (fraction >= one);
        if (fraction >= one)
            fraction -= one;
    }
    *value = bits;
    return fraction == 0;
}

bool fm_parse_size(const char *text, uint64_t *bytes)
{
    uint64_t whole, part = 0;
    const char *rest = read_integer(text, &whole);
    if (!rest)
        return false;
    const char *fraction = *rest == '.' ? rest + 1 : NULL;
    if (fraction)
        rest = fraction + strspn(fraction, "0123456789");
    const int shift = suffix_shift(rest);
    if (shift < 0 || (fraction && (rest == fraction || shift == 0)))
        return false;
    if (fraction && !scale_fraction(fraction, (size_t)(rest - fraction), shift, &part))
        return false;
    if (whole > UINT64_MAX >> shift)
        return false;
    *bytes = (whole << shift) + part;
    return true;
}

bool fm_parse_count(const char *text, uint64_t *count)
{
    uint64_t value;
    const char *rest = read_integer(text, &value);
    if (!rest || *rest)
        return false;
    *count = value;
    return true;
}

/* The numbers of JSON: -?digits[.digits][e[+-]digits], no leading zero. */
static bool is_decimal(const char *text)
{
    text += *text == '-';
    if (!is_digit(*text) || (*text == '0' && is_digit(text[1])))
        return false;
    text += strspn(text, "0123456789");
    if (*text == '.') {
        if (!is_digit(*++text))
            return false;
        text += strspn(text, "0123456789");
    }
    if (*text == 'e' || *text == 'E') {
        text++;
        text += *text == '-' || *text == '+';
        if (!is_digit(*text))
            return false;
        text += strspn(text, "0123456789");
    }
    return !*text;
}

bool fm_parse_number(const char *text, double *number)
{
    if (!is_decimal(text))
        return false;
    /* The program may run in a locale that writes a decimal comma. */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain)
        return false;
    const double value = strtod_l(text, NULL, plain);
    freelocale(plain);
    if (!isfinite(value))
        return false;
    *number = value;
    return true;
}

/* Decimals that write bytes / 2^shift exactly, if three are enough; otherwise -1. */
static int exact_decimals(uint64_t bytes, int shift)
{
    const uint64_t mask = ((uint64_t)1 << shift) - 1;
    int decimals = 0;
    uint64_t rest = bytes & mask;
    for (; rest && decimals < 3; decimals++)
        rest = rest * 10 & mask;
    return rest ? -1 : decimals;
}

char *fm_format_size(uint64_t bytes, char buffer[FM_SIZE_TEXT])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t unit = 0;
    while (unit + 1 < sizeof units / sizeof units[0] && bytes >> (10 * (unit + 1)))
        unit++;
    const int shift = (int)(10 * unit);
    const double value = ldexp((double)bytes, -shift);
    int decimals = exact_decimals(bytes, shift);
    if (decimals < 0)
        decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    snprintf(buffer, FM_SIZE_TEXT, "%.*f %s", decimals, value, units[unit]);
    return buffer;
}

const char *fm_unit_of(const char *property)
{
    static const struct {
        const char *ending, *unit;
    } units[] = {
        {"add_latency", "cycles"}, {"capacity", "B"},     {"line", "B"},
        {"sector", "B"},           {"reach", "B"},        {"page_size", "B"},
        {"page.size", "B"},        {"_cycles", "cycles"}, {"latency", "ns"},
        {"miss_cost", "ns"},       {"cycle_time", "ns"},  {"cost_cold", "ns"},
    };
    const size_t length = strlen(property);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const size_t end = strlen(units[i].ending);
        if (length >= end && strcmp(property + length - end, units[i].ending) == 0)
            return units[i].unit;
    }
    return "";
}
