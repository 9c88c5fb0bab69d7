/* The lines of the ledger. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/units.h"
#include "survey/ledger.h"

/* A claim is written in round numbers. */
#define ROUNDING 0.005
/* An interval this much wider than narrow is that of something that moves between placements. */
#define UNSTEADY 1.25
/* … and one so much wider is all that is sure: that a claim lies in it is little in its favour. */
#define VAGUE 1.54

/* What a structure is made of; the other attributes are what a program gets. */
static const char *const built_in[] = {"line",      "sector",      "ways",         "entries",
                                       "banks",     "replacement", "write_policy", "write_allocate",
                                       "inclusion", "unified",     "shared_by",    "page_size",
                                       "size"};

static const char *attribute_of(const char *property)
{
    const char *dot = strrchr(property, '.');
    return dot ? dot + 1 : property;
}

static bool is_built_in(const char *attribute)
{
    for (size_t i = 0; i < sizeof built_in / sizeof built_in[0]; i++)
        if (strcmp(attribute, built_in[i]) == 0)
            return true;
    return false;
}

/* "l2.capacity" and "physical_capacity" give the finding l2.physical_capacity, if it was measured.
 */
static const struct fm_finding *sibling(const struct fm_result *result, const char *property,
                                        const char *attribute)
{
    char name[2 * FM_PROPERTY_TEXT];
    snprintf(name, sizeof name, "%.*s.%s", (int)(attribute_of(property) - 1 - property), property,
             attribute);
    const struct fm_finding *found = fm_result_find(result, name);
    return found && found->status == FM_MEASURED ? found : NULL;
}

static bool differs(const struct fm_finding *finding)
{
    const struct fm_value *claimed = &finding->claimed;
    if (claimed->kind != FM_VALUE_NUMBER || finding->low.kind != FM_VALUE_NUMBER)
        return !fm_value_equal(claimed, &finding->value);
    const double slack = ROUNDING * fabs(finding->value.number);
    return claimed->number < finding->low.number - slack ||
           claimed->number > finding->high.number + slack;
}

/* Whether so little is known that a claim which does not differ is not confirmed either. */
static bool is_vague(const struct fm_finding *finding)
{
    return finding->low.kind == FM_VALUE_NUMBER && finding->high.kind == FM_VALUE_NUMBER &&
           finding->high.number > VAGUE * finding->low.number;
}

static enum fm_verdict verdict_on(const struct fm_finding *finding)
{
    if (finding->status != FM_MEASURED)
        return FM_OPEN;
    if (differs(finding))
        return FM_DIFFERS;
    return is_vague(finding) ? FM_OPEN : FM_AGREES;
}

static const char *claimant(const char *source)
{
    if (strcmp(source, "sysfs") == 0 || strcmp(source, "sysconf") == 0)
        return "the OS";
    if (strcmp(source, "machine file") == 0)
        return "the machine file";
    return strcmp(source, "cpuid") == 0 ? "the processor" : source;
}

/* A value with its unit, sizes as people say them. */
static const char *say(const struct fm_value *value, const char *unit, char text[FM_SIZE_TEXT + 16])
{
    if (value->kind == FM_VALUE_NUMBER && strcmp(unit, "B") == 0)
        return fm_format_size((uint64_t)value->number, text);
    if (value->kind == FM_VALUE_NUMBER)
        snprintf(text, FM_SIZE_TEXT + 16, "%.4g%s%s", value->number, *unit ? " " : "", unit);
    else if (value->kind == FM_VALUE_BOOL)
        return value->truth ? "yes" : "no";
    else
        snprintf(text, FM_SIZE_TEXT + 16, "%s", value->text);
    return text;
}

static bool is_outermost(const struct fm_result *result, const char *property)
{
    char next[FM_PROPERTY_TEXT];
    unsigned level;
    if (sscanf(property, "l%u", &level) != 1)
        return false;
    snprintf(next, sizeof next, "l%u.line", level + 1);
    return !fm_result_find(result, next);
}

static bool is_virtual(const struct fm_result *result)
{
    const struct fm_value *fact = fm_environment_get(&result->environment, "virtualised");
    return fact && fact->kind == FM_VALUE_BOOL && fact->truth;
}

/* Why a program gets less of a cache than is claimed, by what there is evidence of. */
static const char *why_less(const struct fm_result *result, const struct fm_finding *capacity,
                            bool scattered)
{
    const bool unsteady = capacity->high.number > UNSTEADY * capacity->low.number;
    const bool shared =
        is_outermost(result, capacity->property) && (unsteady || is_virtual(result));
    if (shared && scattered)
        return "others may share this level, and on scattered pages some of its sets overflow "
               "while others have room";
    if (shared)
        return "others may share this level";
    if (scattered)
        return "on scattered pages some of its sets overflow while others have room";
    return "nothing seen explains it";
}

static void explain_capacity(const struct fm_result *result, const struct fm_finding *finding,
                             bool scattered, struct fm_entry *entry)
{
    char claimed[FM_SIZE_TEXT + 16], low[FM_SIZE_TEXT + 16], high[FM_SIZE_TEXT + 16];
    char built[FM_SIZE_TEXT + 48] = "";
    const char *why = finding->value.number < finding->claimed.number
                          ? why_less(result, finding, scattered)
                          : "the claim may be of another core, or leave a level inside out";
    if (entry->physical.kind == FM_VALUE_NUMBER &&
        entry->physical.number != finding->claimed.number) {
        char size[FM_SIZE_TEXT + 16];
        snprintf(built, sizeof built, " and %s are there", say(&entry->physical, "B", size));
    }
    snprintf(
        entry->why, sizeof entry->why,
        "%s claims %s%s; a random walk gets %s to %s before one reference in twenty misses: %s",
        claimant(finding->claimed_by), say(&finding->claimed, "B", claimed), built,
        say(&finding->low, "B", low), say(&finding->high, "B", high), why);
}

static void explain(const struct fm_result *result, const struct fm_finding *finding,
                    bool scattered, struct fm_entry *entry)
{
    char claimed[FM_SIZE_TEXT + 16], found[FM_SIZE_TEXT + 16];
    const char *attribute = attribute_of(finding->property);
    say(&finding->claimed, finding->unit, claimed);
    if (entry->verdict == FM_OPEN)
        snprintf(entry->why, sizeof entry->why, "%.200s",
                 finding->note[0]                 ? finding->note
                 : finding->status == FM_MEASURED ? "only a wide range is known"
                                                  : "it was not measured");
    else if (strcmp(attribute, "capacity") == 0)
        explain_capacity(result, finding, scattered, entry);
    else
        snprintf(entry->why, sizeof entry->why, "%s claims %s; measured are %s",
                 claimant(finding->claimed_by), say(&finding->claimed, finding->unit, claimed),
                 say(&finding->value, finding->unit, found));
}

static struct fm_entry entry_of(const struct fm_result *result, const struct fm_finding *finding,
                                bool scattered)
{
    const char *attribute = attribute_of(finding->property);
    struct fm_entry entry = {.claimed = finding->claimed};
    snprintf(entry.property, sizeof entry.property, "%s", finding->property);
    snprintf(entry.unit, sizeof entry.unit, "%s", finding->unit);
    snprintf(entry.claimed_by, sizeof entry.claimed_by, "%s", finding->claimed_by);
    entry.verdict = verdict_on(finding);
    if (finding->status == FM_MEASURED && is_built_in(attribute)) {
        entry.physical = finding->value;
    } else if (finding->status == FM_MEASURED) {
        entry.effective = finding->value;
        entry.low = finding->low;
        entry.high = finding->high;
    }
    const struct fm_finding *built = strcmp(attribute, "capacity") == 0
                                         ? sibling(result, finding->property, "physical_capacity")
                                         : NULL;
    if (built)
        entry.physical = built->value;
    if (entry.verdict != FM_AGREES)
        explain(result, finding, scattered, &entry);
    return entry;
}

void fm_ledger_write(struct fm_result *result, bool scattered)
{
    for (size_t i = 0; i < result->finding_count; i++) {
        const struct fm_finding *finding = &result->findings[i];
        if (finding->claimed.kind == FM_VALUE_NONE ||
            strcmp(attribute_of(finding->property), "physical_capacity") == 0)
            continue;
        const struct fm_entry entry = entry_of(result, finding, scattered);
        if (!fm_result_enter(result, &entry))
            return;
    }
}
