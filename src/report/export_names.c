/* Exports that give every finding a name: a C header and shell assignments. */
#include <ctype.h>
#include <string.h>

#include "report/export.h"
#include "report/text.h"

#define NAME (FM_PROPERTY_TEXT + sizeof "FATHOM_")

/* "dtlb1@2MiB.entries" is FATHOM_DTLB1_2MIB_ENTRIES: a name in C and in a shell. */
static void name_of(const char *property, char name[NAME])
{
    snprintf(name, NAME, "FATHOM_%s", property);
    for (char *c = name; *c; c++)
        *c = (char)(isalnum((unsigned char)*c) ? toupper((unsigned char)*c) : '_');
}

/* Whether an earlier finding has the name already; a.b and a_b become one. */
static bool name_taken(const struct fm_result *result, size_t index, const char *name)
{
    char other[NAME];
    for (size_t i = 0; i < index; i++) {
        name_of(result->findings[i].property, other);
        if (result->findings[i].status == FM_MEASURED && strcmp(name, other) == 0)
            return true;
    }
    return false;
}

/* Texts are words such as "full" and "tree-plru"; anything else could mean something to who reads
   the output, and is not ours. */
static bool is_word(const char *text)
{
    return *text && strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789-_.") == strlen(text);
}

static bool value_text(const struct fm_value *value, const char *quote, char text[FM_EXPORT_CELL])
{
    if (value->kind == FM_VALUE_NUMBER)
        fm_export_cell(value->number, text);
    else if (value->kind == FM_VALUE_BOOL)
        strcpy(text, value->truth ? "1" : "0");
    else if (is_word(value->text))
        snprintf(text, FM_EXPORT_CELL, "%s%s%s", quote, value->text, quote);
    else
        return false;
    return true;
}

/* The name and value of a finding, or false with a line about why not. */
static bool name_and_value(struct fm_export_page *page, size_t index, const char *quote,
                           char name[NAME], char text[FM_EXPORT_CELL])
{
    const struct fm_finding *finding = &page->result->findings[index];
    char safe[FM_PROPERTY_TEXT * 4];

    name_of(finding->property, name);
    if (finding->status != FM_MEASURED)
        fm_export_leave_out(
            page, name, "%s is %s%s%s", fm_show(finding->property, false, safe, sizeof safe),
            fm_status_name(finding->status), finding->note[0] ? ": " : "", finding->note);
    else if (name_taken(page->result, index, name))
        fm_export_leave_out(page, name, "another property has this name too");
    else if (!value_text(&finding->value, quote, text))
        fm_export_leave_out(page, name, "its value is no word");
    else
        return true;
    return false;
}

/* A name from outside, made fit for a comment. */
static void comment(FILE *out, const char *text)
{
    char safe[512];
    fm_show(text, false, safe, sizeof safe);
    for (char *c = safe; *c; c++)
        putc(*c == '*' || *c == '/' || *c == '\\' ? '_' : *c, out);
}

static void write_c_header(struct fm_export_page *page)
{
    char name[NAME], text[FM_EXPORT_CELL];
    fputs("/* ", page->out);
    comment(page->out, page->result->machine.name);
    fprintf(page->out,
            ", measured by fathom %s. Sizes are in bytes, times in\n"
            " * nanoseconds. What is not here was not determined. */\n"
            "#ifndef FATHOM_MEASURED_H\n#define FATHOM_MEASURED_H\n\n",
            page->version);
    for (size_t i = 0; i < page->result->finding_count; i++) {
        if (!name_and_value(page, i, "\"", name, text))
            continue;
        fprintf(page->out, "#define %s %s\n", name, text);
        page->told++;
    }
    fputs("\n#endif\n", page->out);
}

const struct fm_export fm_export_c_header = {
    .name = "c-header",
    .writes = "a C header, a macro for each finding",
    .write = write_c_header,
};

static void assign(struct fm_export_page *page, const char *name, double number)
{
    char cell[FM_EXPORT_CELL];
    fprintf(page->out, "%s=%s\n", name, fm_export_cell(number, cell));
    page->told++;
}

/* OpenBLAS for x86 takes the size of L2, in KiB, from here where a virtual machine hides it. */
static void assign_openblas(struct fm_export_page *page)
{
    double bytes;
    if (fm_export_number(page, "l2", "capacity", "OPENBLAS_L2_SIZE", &bytes))
        assign(page, "OPENBLAS_L2_SIZE", (double)(long long)(bytes / 1024));
}

/* BLIS's configurations for Arm's SVE read ways (W), sets (N) and line (C) of three levels. */
static void assign_blis(struct fm_export_page *page)
{
    static const char *const members[] = {"W", "N", "C"};
    for (unsigned level = 1; level <= 3; level++) {
        const char *cache = fm_export_level(page->result, level);
        char name[48];
        snprintf(name, sizeof name, "BLIS_SVE_{W,N,C}_L%u", level);
        if (!cache) {
            fm_export_leave_out(page, name, "there is no l%u in the result", level);
            continue;
        }
        const struct fm_geometry g = fm_export_geometry(page, cache, name);
        const double values[] = {g.ways, g.sets, g.line};
        for (size_t i = 0; g.sets > 0 && i < 3; i++) {
            snprintf(name, sizeof name, "BLIS_SVE_%s_L%u", members[i], level);
            assign(page, name, values[i]);
        }
    }
}

static void write_env(struct fm_export_page *page)
{
    char name[NAME], text[FM_EXPORT_CELL];
    for (size_t i = 0; i < page->result->finding_count; i++) {
        if (!name_and_value(page, i, "", name, text))
            continue;
        fprintf(page->out, "%s=%s\n", name, text);
        page->told++;
    }
    assign_openblas(page);
    assign_blis(page);
}

const struct fm_export fm_export_env = {
    .name = "env",
    .writes = "assignments of a shell, OpenBLAS and BLIS among them",
    .write = write_env,
};
