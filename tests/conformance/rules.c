#include "rules.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void blame(char why[WHY_TEXT], const char *format, ...)
{
    const size_t used = strlen(why);
    const int mark = snprintf(why + used, WHY_TEXT - used, "%s", used ? "; " : "");
    const size_t from = used + (size_t)mark;
    va_list arguments;
    va_start(arguments, format);
    if (from < WHY_TEXT)
        vsnprintf(why + from, WHY_TEXT - from, format, arguments);
    va_end(arguments);
}

static void expect(char why[WHY_TEXT], const char *what, double ours, double right)
{
    if (isnan(ours))
        blame(why, "%s undetermined", what);
    else if (ours != right)
        blame(why, "%s %.12g, not %.12g", what, ours, right);
}

/* What an exclusive level and those inside it hold together; others hold what they are. */
static double most(const struct published_machine *machine, const struct found *found, size_t level)
{
    double bytes = machine->levels[level].capacity.documented;
    if (data_cache(&found->machine, level)->inclusion == FM_INCLUSION_EXCLUSIVE)
        for (size_t i = 0; i < level; i++)
            bytes += machine->levels[i].capacity.documented;
    return bytes;
}

static void judge_capacity(const struct published_machine *machine, const struct found *found,
                           size_t level, char why[WHY_TEXT])
{
    const struct published_figure *table = &machine->levels[level].capacity;
    const double ours = found->levels[level].capacity;
    if (level == 0 || isnan(ours)) {
        expect(why, "capacity", ours, table->documented);
        return;
    }
    const double high = most(machine, found, level);
    const double low = fmin(table->paper, table->documented / 2);
    if (ours > high)
        blame(why, "capacity %.12g above %.12g", ours, high);
    if (ours < low)
        blame(why, "capacity %.12g below %.12g", ours, low);
}

static void judge_latency(const struct published_level *table, double ours, char why[WHY_TEXT])
{
    if (table->unit == LATENCY_NONE)
        return;
    if (isnan(ours))
        blame(why, "latency undetermined");
    else if (fabs(ours - table->latency) > 1)
        blame(why, "latency %.2f, not %g", ours, table->latency);
}

static void judge_level_count(const struct found *found, char why[WHY_TEXT])
{
    size_t count = 0;
    while (data_cache(&found->machine, count))
        count++;
    if (found->level_count != count)
        blame(why, "%zu levels, not %zu", found->level_count, count);
}

bool level_holds(const struct published_machine *machine, const struct found *found, size_t level,
                 char why[WHY_TEXT])
{
    const struct published_level *table = &machine->levels[level];
    const struct found_level *ours = &found->levels[level];
    *why = '\0';
    if (!found->surveyed) {
        blame(why, "%s", found->problem);
        return false;
    }
    const struct fm_cache_description *cache = data_cache(&found->machine, level);
    if (!cache) {
        blame(why, "the machine file has no such level");
        return false;
    }
    expect(why, "line", ours->line, table->line.documented ? table->line.documented : cache->line);
    if (level == 0)
        expect(why, "ways", ours->ways,
               table->ways.documented ? table->ways.documented : cache->ways);
    judge_capacity(machine, found, level, why);
    judge_latency(table, ours->latency, why);
    if (level + 1 == machine->count)
        judge_level_count(found, why);
    return !*why;
}
