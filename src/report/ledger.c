/* What is claimed beside what there is. */
#include <string.h>

#include "report/report.h"
#include "report/text.h"
#include "report/values.h"

#define MOST_LINES 64

/* "L2 capacity" of "l2.capacity". */
static char *name_of(const char *property, char cell[FM_CELL * 2])
{
    char structure[FM_CELL], attribute[FM_CELL];
    const char *dot = strrchr(property, '.');
    fm_cell_structure(property, structure);
    fm_show(dot ? dot + 1 : "", false, attribute, sizeof attribute);
    for (char *c = attribute; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    snprintf(cell, FM_CELL * 2, "%s %s", structure, attribute);
    return cell;
}

/* "562K-680K", or the value where it has no width; "?" where it is not known. */
static void effective_cell(const struct fm_entry *entry, char cell[FM_CELL])
{
    char low[FM_CELL], high[FM_CELL];
    fm_cell_value(&entry->low, entry->unit, low);
    fm_cell_value(&entry->high, entry->unit, high);
    if (strcmp(low, high) != 0)
        snprintf(cell, FM_CELL, "%.24s-%.24s", low, high);
    else
        fm_cell_value(&entry->effective, entry->unit, cell);
    if (!*cell)
        strcpy(cell, "?");
}

struct line {
    char cells[4][FM_CELL * 2];
    char why[sizeof((struct fm_entry *)0)->why * 4];
};

static void fill(const struct fm_entry *entry, bool unicode, struct line *line)
{
    char cell[FM_CELL];
    name_of(entry->property, line->cells[0]);
    strcpy(line->cells[1], fm_cell_value(&entry->claimed, entry->unit, cell));
    fm_cell_value(&entry->physical, entry->unit, cell);
    strcpy(line->cells[2], *cell ? cell : "?");
    effective_cell(entry, line->cells[3]);
    if (entry->physical.kind != FM_VALUE_NONE && entry->effective.kind == FM_VALUE_NONE)
        strcpy(line->cells[3], line->cells[2]); /* what is built in is what one gets */
    /* The figures stand in their columns: the reason is what is left to say. */
    const char *reason = strstr(entry->why, ": ");
    fm_show(reason ? reason + 2 : entry->why, unicode, line->why, sizeof line->why);
}

static bool is_said_twice(const struct fm_entry *entry)
{
    /* Nanoseconds say it already. */
    const char *end = strstr(entry->property, "_cycles");
    return end && end[strlen("_cycles")] == '\0';
}

static bool same_structure(const struct fm_entry *a, const struct fm_entry *b)
{
    const size_t length = strcspn(a->property, ".");
    return strncmp(a->property, b->property, length + 1) == 0;
}

/* "L1d capacity, line, ways" beginning with the entry's own, of those with the same verdict; empty
   if the structure came before. */
static void list_structure(const struct fm_result *result, size_t index, char *text, size_t space)
{
    const struct fm_entry *first = &result->entries[index];
    size_t used = 0;
    char structure[FM_CELL];
    *text = '\0';
    for (size_t i = 0; i < index; i++)
        if (result->entries[i].verdict == first->verdict &&
            same_structure(&result->entries[i], first))
            return;
    fm_cell_structure(first->property, structure);
    for (size_t i = index; i < result->entry_count && used + 2 * FM_CELL < space; i++) {
        const struct fm_entry *entry = &result->entries[i];
        char name[FM_CELL * 2];
        if (entry->verdict != first->verdict || !same_structure(entry, first) ||
            is_said_twice(entry))
            continue;
        name_of(entry->property, name);
        used += (size_t)snprintf(text + used, space - used, "%s%s", used ? ", " : "",
                                 used ? name + strlen(structure) + 1 : name);
    }
}

/* "as claimed: L1d capacity, line, ways; L2 line". */
static void print_all(FILE *out, const struct fm_result *result, enum fm_verdict verdict,
                      const char *label, const struct fm_look *look)
{
    char text[2048], piece[512];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", label);
    const size_t nothing = used;
    for (size_t i = 0; i < result->entry_count && used + sizeof piece < sizeof text; i++) {
        if (result->entries[i].verdict != verdict)
            continue;
        list_structure(result, i, piece, sizeof piece);
        if (*piece)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s %s",
                                     used > nothing ? ";" : "", piece);
    }
    if (used > nothing)
        fm_fill(out, text, look->width, 0, 2);
}

bool fm_report_ledger(FILE *out, const struct fm_result *result, const struct fm_look *look,
                      struct fm_error *err)
{
    static const char *const headings[] = {"NOT AS CLAIMED", "CLAIMED", "PHYSICAL", "EFFECTIVE",
                                           "WHY"};
    struct line lines[MOST_LINES];
    const char *cells[5 * MOST_LINES];
    size_t count = 0;
    if (result->entry_count == 0)
        return true;
    putc('\n', out);
    for (size_t i = 0; i < result->entry_count && count < MOST_LINES; i++) {
        if (result->entries[i].verdict != FM_DIFFERS)
            continue;
        struct line *line = &lines[count];
        fill(&result->entries[i], look->unicode, line);
        for (int c = 0; c < 4; c++)
            cells[5 * count + (size_t)c] = line->cells[c];
        cells[5 * count++ + 4] = line->why;
    }
    if (count && !fm_report_list(out, headings, 5, cells, count, 4, look, err))
        return false;
    /* Why not stands in the notes. */
    print_all(out, result, FM_OPEN, "not confirmed:", look);
    print_all(out, result, FM_AGREES, "as claimed:", look);
    return true;
}
