#include "report/values.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/units.h"
#include "report/text.h"

/* Decimals that make three digits. */
static int decimals_of(double size)
{
    return size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
}

char *fm_cell_size(double bytes, char cell[FM_CELL])
{
    char text[FM_SIZE_TEXT];
    fm_format_size(bytes > 0 ? (uint64_t)(bytes + 0.5) : 0, text);
    char *gap = strchr(text, ' ');
    if (gap)
        *gap = '\0';
    const char *unit = gap && gap[1] != 'B' ? gap + 1 : "";
    /* "703.125K" is exact, but wider than a column and finer than it is known. */
    if (strlen(text) > 5) {
        const double number = strtod(text, NULL);
        snprintf(text, sizeof text, "%.*f", decimals_of(number), number);
    }
    snprintf(cell, FM_CELL, "%s%.1s", text, unit);
    return cell;
}

/* Three digits are more than a timing deserves, two are too few to compare by. */
static void three_digits(double number, const char *unit, char cell[FM_CELL])
{
    snprintf(cell, FM_CELL, "%.*f%s", decimals_of(number < 0 ? -number : number), number, unit);
}

static void number_cell(double number, const char *unit, char cell[FM_CELL])
{
    if (strcmp(unit, "B") == 0)
        fm_cell_size(number, cell);
    else if (strcmp(unit, "cycles") == 0)
        snprintf(cell, FM_CELL, "%.*f", number < 99.95 ? 1 : 0, number);
    else if (*unit)
        three_digits(number, unit, cell);
    else
        snprintf(cell, FM_CELL, "%g", number);
}

char *fm_cell_value(const struct fm_value *value, const char *unit, char cell[FM_CELL])
{
    *cell = '\0';
    if (value->kind == FM_VALUE_NUMBER)
        number_cell(value->number, unit, cell);
    else if (value->kind == FM_VALUE_BOOL)
        snprintf(cell, FM_CELL, "%s", value->truth ? "yes" : "no");
    else if (value->kind == FM_VALUE_TEXT)
        fm_show(value->text, false, cell, FM_CELL);
    return cell;
}

char *fm_cell_finding(const struct fm_finding *finding, char cell[FM_CELL])
{
    if (finding && finding->status == FM_MEASURED)
        return fm_cell_value(&finding->value, finding->unit, cell);
    strcpy(cell, finding && finding->status == FM_UNDETERMINED ? "?" : "-");
    return cell;
}

char *fm_cell_range(const struct fm_finding *finding, char cell[FM_CELL])
{
    char low[FM_CELL], high[FM_CELL];
    *cell = '\0';
    if (!finding)
        return cell;
    fm_cell_value(&finding->low, finding->unit, low);
    fm_cell_value(&finding->high, finding->unit, high);
    if (*low && *high && strcmp(low, high) != 0)
        snprintf(cell, FM_CELL, "%.24s-%.24s", low, high);
    return cell;
}

char *fm_cell_number(double number, char cell[FM_CELL])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(cell, FM_CELL, "%.*g", digits, number);
        if (strtod(cell, NULL) == number)
            break;
    }
    return cell;
}

char *fm_cell_clock(double ghz, char cell[FM_CELL])
{
    if (ghz >= 0.9995)
        snprintf(cell, FM_CELL, "%.2f GHz", ghz);
    else
        three_digits(ghz * 1e3, " MHz", cell);
    return cell;
}

/* A number with the largest unit it fills; each is a thousand times the one before. */
static char *with_unit(double number, const char *const *units, size_t count, char cell[FM_CELL])
{
    size_t unit = 0;
    for (; unit + 1 < count && number >= 999.5; unit++)
        number /= 1000;
    three_digits(number, units[unit], cell);
    return cell;
}

char *fm_cell_count(double count, char cell[FM_CELL])
{
    static const char *const words[] = {" million", " billion", " trillion"};
    if (count >= 999500)
        return with_unit(count / 1e6, words, sizeof words / sizeof words[0], cell);
    snprintf(cell, FM_CELL, "%.0f", count);
    return cell;
}

char *fm_cell_rate(double bytes_per_s, char cell[FM_CELL])
{
    static const char *const units[] = {" B/s", " KB/s", " MB/s", " GB/s", " TB/s"};
    return with_unit(bytes_per_s, units, sizeof units / sizeof units[0], cell);
}

/* A sixteenth is easier to see in 1/16 than in 0.0625. */
static bool is_unit_fraction(double ratio)
{
    const double part = 1 / ratio;
    return part > 99.5 || fabs(part - round(part)) < 0.005 * part;
}

char *fm_cell_change(double ratio, char cell[FM_CELL])
{
    if (ratio >= 0.5 && ratio <= 2)
        snprintf(cell, FM_CELL, "%+.*f%%", ratio < 1.1 && ratio > 0.9 ? 1 : 0, (ratio - 1) * 100);
    else if (ratio < 0.5 && is_unit_fraction(ratio))
        snprintf(cell, FM_CELL, "1/%.0f", 1 / ratio);
    else if (ratio < 0.5)
        snprintf(cell, FM_CELL, "x%.2g", ratio);
    else
        snprintf(cell, FM_CELL, "x%.*f", ratio < 99.95 && ratio != round(ratio) ? 1 : 0, ratio);
    return cell;
}

char *fm_cell_structure(const char *property, char cell[FM_CELL])
{
    char name[FM_CELL];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(property, "."), property);
    fm_show(name, false, cell, FM_CELL);
    /* What is numbered, or cannot be spoken, is an abbreviation; the rest are words. */
    const size_t stem = strcspn(cell, "0123456789@");
    const bool spoken = cell[strcspn(cell, "aeiou")] && !isdigit((unsigned char)cell[stem]);
    const size_t capitals = spoken ? 1 : stem;
    for (size_t i = 0; i < capitals && cell[i]; i++)
        cell[i] = (char)toupper((unsigned char)cell[i]);
    return cell;
}
