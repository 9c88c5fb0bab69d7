/* The part of kerncraft's machine file that can be measured; the rest is for its user to fill in.
 */
#include <string.h>

#include "report/export.h"
#include "report/text.h"

/* The version from which on kerncraft's files have the form written here. */
#define KERNCRAFT_VERSION "0.8.3.dev0"

/* A text in double quotes, where YAML gives backslash and quote a meaning. */
static void quoted(FILE *out, const char *text)
{
    char safe[512];
    fm_show(text, true, safe, sizeof safe);
    putc('"', out);
    for (const char *c = safe; *c; c++) {
        if (*c == '"' || *c == '\\')
            putc('\\', out);
        putc(*c, out);
    }
    fputs("\"\n", out);
}

/* Plain numbers: kerncraft hands what is below `cache per group` to its cache simulator as it is,
   and that one takes no amounts with a unit. */
static void cache_number(struct fm_export_page *page, const char *key, double number)
{
    if (number > 0)
        fprintf(page->out, "    %s: %.0f\n", key, number);
}

/* kerncraft's simulator has four policies; only these three are among ours. */
static void replacement(struct fm_export_page *page, const char *cache)
{
    static const char *const words[][2] = {{"lru", "LRU"}, {"fifo", "FIFO"}, {"random", "RR"}};
    const struct fm_finding *finding =
        fm_export_want(page, cache, "replacement", "replacement_policy");
    if (!finding)
        return;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(finding->value.text, words[i][0]) == 0) {
            fprintf(page->out, "    replacement_policy: %s\n", words[i][1]);
            return;
        }
    fm_export_leave_out(page, "replacement_policy", "kerncraft has no word for %s of %s",
                        finding->value.text, cache);
}

/* kerncraft's simulator refuses a cache that allocates on a write and writes through. */
static void writes(struct fm_export_page *page, const char *cache)
{
    const struct fm_finding *allocate =
        fm_export_want(page, cache, "write_allocate", "write_allocate");
    const struct fm_finding *policy = fm_export_want(page, cache, "write_policy", "write_back");
    const bool allocates = allocate && allocate->value.truth;
    const bool back = policy && strcmp(policy->value.text, "back") == 0;
    if (allocates && policy && !back) {
        fm_export_leave_out(page, "write_allocate, write_back",
                            "kerncraft cannot model %s, which allocates and writes through", cache);
        return;
    }
    if (allocate)
        fprintf(page->out, "    write_allocate: %s\n", allocates ? "true" : "false");
    if (policy)
        fprintf(page->out, "    write_back: %s\n", back ? "true" : "false");
}

/* The line, unless it is longer than that of the level before: kerncraft's simulator then refuses
   to join the two. Returns what the next one is held against. */
static double line(struct fm_export_page *page, const char *cache, double bytes, double before)
{
    if (before > 0 && bytes > before)
        fm_export_leave_out(page, "cl_size",
                            "kerncraft cannot model lines of %.0f in %s behind lines of %.0f",
                            bytes, cache, before);
    else
        cache_number(page, "cl_size", bytes);
    return bytes > 0 ? bytes : before;
}

/* The level that is asked when this one misses; 0 for memory. */
static unsigned level_behind(const struct fm_result *result, unsigned level)
{
    while (++level <= FM_CACHE_LEVELS)
        if (fm_export_level(result, level))
            return level;
    return 0;
}

/* Returns its line, or where that is unknown the one before. */
static double cache_level(struct fm_export_page *page, unsigned level, double line_before)
{
    const char *cache = fm_export_level(page->result, level);
    const unsigned behind = level_behind(page->result, level);
    double number;
    char what[16];
    snprintf(what, sizeof what, "sets of L%u", level);
    const struct fm_geometry g = fm_export_geometry(page, cache, what);

    fprintf(page->out, "- level: L%u\n  cache per group:\n", level);
    cache_number(page, "sets", g.sets);
    cache_number(page, "ways", g.ways);
    const double held = line(page, cache, g.line, line_before);
    replacement(page, cache);
    writes(page, cache);
    if (behind)
        fprintf(page->out, "    load_from: L%u\n    store_to: L%u\n", behind, behind);
    if (fm_export_number(page, cache, "capacity", "size per group", &number))
        fprintf(page->out, "  size per group: %.0f B\n", number);
    if (fm_export_number(page, cache, "shared_by", "cores per group", &number))
        fprintf(page->out, "  cores per group: %.0f\n", number);
    page->told++;
    return held;
}

static void write_kerncraft(struct fm_export_page *page)
{
    double number, line_before = 0;
    fprintf(page->out,
            "# Measured by fathom %s. A size per group is what a program gets; what is missing\n"
            "# was not determined, or is not fathom's to know.\n"
            "kerncraft version: " KERNCRAFT_VERSION "\nmodel name: ",
            page->version);
    quoted(page->out, page->result->machine.name);
    if (fm_export_number(page, "cpu", "cycle_time", "clock", &number))
        fprintf(page->out, "clock: %.4f GHz\n", 1 / number);
    if (fm_export_number(page, "l1d", "line", "cacheline size", &number))
        fprintf(page->out, "cacheline size: %.0f B\n", number);
    fputs("memory hierarchy:\n", page->out);
    for (unsigned level = level_behind(page->result, 0); level;
         level = level_behind(page->result, level))
        line_before = cache_level(page, level, line_before);
    fputs("- level: MEM\n  size per group: ~\n", page->out);
    fm_export_leave_out(page, "sockets, cores, FLOPs per cycle, ports, compiler, benchmarks",
                        "fathom does not know them; kerncraft's manual says what to write");
}

const struct fm_export fm_export_kerncraft = {
    .name = "kerncraft",
    .writes = "the memory hierarchy of a kerncraft machine file",
    .write = write_kerncraft,
};
