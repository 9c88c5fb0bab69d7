#include "report/values.h"

#include <ctype.h>
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
