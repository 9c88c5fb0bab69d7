#include "report/export.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "report/text.h"
#include "report/values.h"

const struct fm_export *const fm_exports[] = {
    &fm_export_gcc,       &fm_export_clang,     &fm_export_c_header,
    &fm_export_env,       &fm_export_hwloc_xml, &fm_export_cachegrind,
    &fm_export_kerncraft, &fm_export_html,      NULL,
};

const struct fm_export *fm_export_find(const char *name)
{
    for (size_t i = 0; fm_exports[i]; i++)
        if (strcmp(fm_exports[i]->name, name) == 0)
            return fm_exports[i];
    return NULL;
}

void fm_export_leave_out(struct fm_export_page *page, const char *what, const char *format, ...)
{
    char why[512], safe[640];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    fprintf(page->left_out, "%s left out: %s\n", what, fm_show(why, false, safe, sizeof safe));
}

static void explain(struct fm_export_page *page, const char *what, const char *property,
                    const struct fm_finding *finding)
{
    if (!finding)
        fm_export_leave_out(page, what, "%s was not measured", property);
    else
        fm_export_leave_out(page, what, "%s is %s%s%s", property, fm_status_name(finding->status),
                            finding->note[0] ? ": " : "", finding->note);
}

const struct fm_finding *fm_export_want(struct fm_export_page *page, const char *structure,
                                        const char *attribute, const char *what)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s.%s", structure, attribute);
    const struct fm_finding *finding = fm_result_find(page->result, property);
    if (finding && finding->status == FM_MEASURED)
        return finding;
    if (what)
        explain(page, what, property, finding);
    return NULL;
}

bool fm_export_number(struct fm_export_page *page, const char *structure, const char *attribute,
                      const char *what, double *number)
{
    const struct fm_finding *finding = fm_export_want(page, structure, attribute, what);
    if (!finding)
        return false;
    if (finding->value.kind == FM_VALUE_NUMBER && finding->value.number > 0) {
        *number = finding->value.number;
        return true;
    }
    if (what)
        fm_export_leave_out(page, what, "%s is no number above 0", finding->property);
    return false;
}

/* The bytes a cache was built with, or 0. A first level is measured by conflicts within its sets:
   found to the byte, it is what was built in. */
static double built_size(struct fm_export_page *page, const char *cache, const char *what)
{
    double size = 0;
    if (fm_export_number(page, cache, "physical_capacity", NULL, &size))
        return size;
    const struct fm_finding *effective = fm_export_want(page, cache, "capacity", NULL);
    if (effective && strncmp(cache, "l1", 2) == 0 && effective->value.kind == FM_VALUE_NUMBER &&
        fm_value_equal(&effective->low, &effective->high))
        return effective->value.number;
    fm_export_number(page, cache, "physical_capacity", what, &size);
    return 0;
}

struct fm_geometry fm_export_geometry(struct fm_export_page *page, const char *cache,
                                      const char *what)
{
    struct fm_geometry g = {0};
    g.size = built_size(page, cache, what);
    fm_export_number(page, cache, "line", what, &g.line);
    const struct fm_finding *ways = fm_export_want(page, cache, "ways", what);
    if (ways && ways->value.kind == FM_VALUE_NUMBER)
        g.ways = ways->value.number;
    else if (ways && g.size > 0 && g.line > 0) /* "full": all lines in one set */
        g.ways = g.size / g.line;
    if (!(g.size > 0 && g.line > 0 && g.ways > 0))
        return g;
    g.sets = g.size / (g.line * g.ways);
    if (g.sets != floor(g.sets)) {
        if (what)
            fm_export_leave_out(page, what, "%s: %.0f bytes are no whole number of sets", cache,
                                g.size);
        g.sets = 0;
    }
    return g;
}

static bool is_there(const struct fm_result *result, const char *cache)
{
    const size_t length = strlen(cache);
    for (size_t i = 0; i < result->finding_count; i++) {
        const struct fm_finding *finding = &result->findings[i];
        if (strncmp(finding->property, cache, length) == 0 && finding->property[length] == '.' &&
            (finding->status == FM_MEASURED || finding->status == FM_UNDETERMINED))
            return true;
    }
    return false;
}

const char *fm_export_level(const struct fm_result *result, unsigned level)
{
    static const char *const names[FM_CACHE_LEVELS][2] = {
        {"l1d", "l1"}, {"l2", "l2d"}, {"l3", "l3d"}, {"l4", "l4d"}, {"l5", "l5d"}, {"l6", "l6d"}};
    for (size_t i = 0; i < 2 && level >= 1 && level <= FM_CACHE_LEVELS; i++)
        if (is_there(result, names[level - 1][i]))
            return names[level - 1][i];
    return NULL;
}

unsigned fm_export_last_level(const struct fm_result *result)
{
    unsigned level = FM_CACHE_LEVELS;
    while (level > 0 && !fm_export_level(result, level))
        level--;
    return level;
}

char *fm_export_cell(double number, char cell[FM_EXPORT_CELL])
{
    if (number == floor(number) && fabs(number) < 0x1p53)
        snprintf(cell, FM_EXPORT_CELL, "%.0f", number);
    else
        fm_cell_number(number, cell);
    return cell;
}
