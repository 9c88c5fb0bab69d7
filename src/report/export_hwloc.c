/* A topology that hwloc reads: the CPU that was measured, the caches before it, and what hwloc has
 * no place for as infos. The other CPUs of the computer stand beside it without caches: which of
 * them share one is not known. */
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "report/export.h"
#include "report/text.h"

#define HWLOC_LEVELS 5 /* hwloc knows data caches L1 to L5 and instruction caches L1i to L3i */

#define MOST_CPUS 4096

/* Objects are told apart by a number each. */
enum { MACHINE = 1, NODE, CORE, CODE_CACHE = 100, FIRST_CACHE = 100, FIRST_PU = 1000 };

static void quoted(FILE *out, const char *text)
{
    char safe[1024];
    fm_show(text, true, safe, sizeof safe);
    for (const char *c = safe; *c; c++) {
        if (*c == '&')
            fputs("&amp;", out);
        else if (*c == '<')
            fputs("&lt;", out);
        else if (*c == '>')
            fputs("&gt;", out);
        else if (*c == '"')
            fputs("&quot;", out);
        else
            putc(*c, out);
    }
}

static void info(struct fm_export_page *page, const char *name, const char *value)
{
    fputs("<info name=\"", page->out);
    quoted(page->out, name);
    fputs("\" value=\"", page->out);
    quoted(page->out, value);
    fputs("\"/>\n", page->out);
}

static void finding_info(struct fm_export_page *page, const struct fm_finding *finding)
{
    char cell[FM_EXPORT_CELL];
    if (finding->value.kind == FM_VALUE_NUMBER)
        info(page, finding->property, fm_export_cell(finding->value.number, cell));
    else if (finding->value.kind == FM_VALUE_BOOL)
        info(page, finding->property, finding->value.truth ? "true" : "false");
    else
        info(page, finding->property, finding->value.text);
    page->told++;
}

/* "l2.capacity" is of a cache, "l2@core=4.capacity" is not of the one we show. */
static bool of_cache(const char *property)
{
    return property[0] == 'l' && isdigit((unsigned char)property[1]);
}

static bool has_place(const char *property)
{
    const char *attribute = strchr(property, '.');
    return attribute && (strcmp(attribute, ".capacity") == 0 || strcmp(attribute, ".line") == 0 ||
                         strcmp(attribute, ".ways") == 0);
}

/* The findings of one cache that are no attributes of hwloc's; without a cache, those of no cache
   (TLBs, memory, page, cpu). */
static void infos(struct fm_export_page *page, const char *cache)
{
    const size_t length = cache ? strlen(cache) : 0;
    for (size_t i = 0; i < page->result->finding_count; i++) {
        const struct fm_finding *finding = &page->result->findings[i];
        const char *property = finding->property;
        const bool ours = cache ? strncmp(property, cache, length) == 0 &&
                                      property[length] == '.' && !has_place(property)
                                : !of_cache(property);
        if (ours && finding->status == FM_MEASURED)
            finding_info(page, finding);
        else if (ours)
            fm_export_leave_out(page, "info", "%s is %s%s%s", property,
                                fm_status_name(finding->status), finding->note[0] ? ": " : "",
                                finding->note);
    }
}

/* CPUs by number. */
struct cpus {
    uint32_t words[MOST_CPUS / 32];
    unsigned most; /* the highest number */
};

static bool has_cpu(const struct cpus *cpus, unsigned cpu)
{
    return cpus->words[cpu / 32] >> (cpu % 32) & 1;
}

static void add_cpu(struct cpus *cpus, unsigned cpu)
{
    cpus->words[cpu / 32] |= 1u << (cpu % 32);
    cpus->most = cpu > cpus->most ? cpu : cpus->most;
}

/* The kernel's form, "0-3,8"; what is no such list adds nothing beyond where it ends to be one. */
static void add_list(struct cpus *cpus, const char *list)
{
    unsigned from, to;
    int used;
    while (sscanf(list, "%4u%n", &from, &used) == 1) {
        list += used;
        to = from;
        if (sscanf(list, "-%4u%n", &to, &used) == 1)
            list += used;
        for (unsigned cpu = from; cpu <= to && cpu < MOST_CPUS; cpu++)
            add_cpu(cpus, cpu);
        if (*list++ != ',')
            return;
    }
}

/* As hwloc writes them: words of 32 bits, the highest first. */
static void cpuset(FILE *out, const struct cpus *cpus)
{
    for (unsigned word = cpus->most / 32 + 1; word-- > 0;)
        fprintf(out, "0x%08x%s", cpus->words[word], word ? "," : "");
}

static void object(struct fm_export_page *page, const char *type, unsigned index,
                   const struct cpus *cpus)
{
    static const char *const sets[] = {"cpuset", "complete_cpuset"};
    static const char *const nodes[] = {"nodeset", "complete_nodeset"};
    fprintf(page->out, "<object type=\"%s\" gp_index=\"%u\"", type, index);
    for (size_t i = 0; i < 2; i++) {
        fprintf(page->out, " %s=\"", sets[i]);
        cpuset(page->out, cpus);
        fprintf(page->out, "\" %s=\"0x00000001\"", nodes[i]);
    }
}

static void processing_unit(struct fm_export_page *page, unsigned cpu)
{
    struct cpus one = {0};
    add_cpu(&one, cpu);
    object(page, "PU", FIRST_PU + cpu, &one);
    fprintf(page->out, " os_index=\"%u\"/>\n", cpu);
}

/* An attribute that is not there is 0, which to hwloc means unknown. */
static void cache_attributes(struct fm_export_page *page, const char *cache, unsigned level,
                             char kind, double bytes)
{
    double line;
    const struct fm_finding *ways = fm_export_want(page, cache, "ways", "cache_associativity");
    fprintf(page->out, " cache_size=\"%.0f\" depth=\"%u\" cache_type=\"%c\"", bytes, level, kind);
    if (fm_export_number(page, cache, "line", "cache_linesize", &line))
        fprintf(page->out, " cache_linesize=\"%.0f\"", line);
    if (ways && ways->value.kind == FM_VALUE_NUMBER)
        fprintf(page->out, " cache_associativity=\"%.0f\"", ways->value.number);
    else if (ways)
        fputs(" cache_associativity=\"-1\"", page->out); /* fully associative */
}

/* hwloc's numbers for what a cache holds: 0 both, 1 data, 2 instructions. Gives the number of
   elements to close. */
static unsigned cache_object(struct fm_export_page *page, const char *cache, unsigned level,
                             char kind, const struct cpus *cpus)
{
    char type[24];
    double bytes;
    snprintf(type, sizeof type, "L%u%sCache", level, kind == '2' ? "i" : "");
    if (!fm_export_number(page, cache, "capacity", type, &bytes))
        return 0;
    object(page, type, kind == '2' ? CODE_CACHE : FIRST_CACHE + level, cpus);
    cache_attributes(page, cache, level, kind, floor(bytes));
    fputs(">\n", page->out);
    infos(page, cache);
    page->told++;
    return 1;
}

static unsigned cache_objects(struct fm_export_page *page, const struct cpus *cpus)
{
    unsigned open = 0;
    for (unsigned level = FM_CACHE_LEVELS; level >= 1; level--) {
        const char *cache = fm_export_level(page->result, level);
        if (cache && level > HWLOC_LEVELS)
            fm_export_leave_out(page, cache, "hwloc has no level %u", level);
        else if (cache)
            open += cache_object(page, cache, level, strchr(cache, 'd') ? '1' : '0', cpus);
    }
    if (fm_result_find(page->result, "l1i.capacity"))
        open += cache_object(page, "l1i", 1, '2', cpus);
    return open;
}

/* The CPU that was measured, in its core, below the caches that it was measured through. */
static void measured_cpu(struct fm_export_page *page, unsigned cpu)
{
    struct cpus one = {0};
    add_cpu(&one, cpu);
    unsigned open = cache_objects(page, &one) + 1;
    object(page, "Core", CORE, &one);
    fputs(">\n", page->out);
    processing_unit(page, cpu);
    for (; open; open--)
        fputs("</object>\n", page->out);
}

static void write_hwloc(struct fm_export_page *page)
{
    const int known = page->result->machine.cpu;
    const unsigned measured = known > 0 && known < MOST_CPUS ? (unsigned)known : 0;
    const struct fm_value *online = fm_environment_get(&page->result->environment, "online");
    struct cpus cpus = {0};
    add_cpu(&cpus, measured);
    if (online && online->kind == FM_VALUE_TEXT)
        add_list(&cpus, online->text);
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n",
          page->out);
    object(page, "Machine", MACHINE, &cpus);
    fputs(" allowed_cpuset=\"", page->out);
    cpuset(page->out, &cpus);
    fputs("\" allowed_nodeset=\"0x00000001\">\n", page->out);
    info(page, "CPUModel", page->result->machine.name);
    info(page, "MeasuredBy", "fathom");
    infos(page, NULL);
    object(page, "NUMANode", NODE, &cpus);
    fputs(" os_index=\"0\"/>\n", page->out);
    for (unsigned cpu = 0; cpu <= cpus.most; cpu++) {
        if (cpu == measured)
            measured_cpu(page, cpu);
        else if (has_cpu(&cpus, cpu))
            processing_unit(page, cpu);
    }
    fputs("</object>\n</topology>\n", page->out);
}

const struct fm_export fm_export_hwloc_xml = {
    .name = "hwloc-xml",
    .writes = "a topology for lstopo -i and other users of hwloc",
    .write = write_hwloc,
};
