/* Events that a user names, in the place of those that are tried otherwise. */
#include <stdio.h>
#include <string.h>

#include "meter/perf.h"
#include "meter/pfm.h"

/* The event of a structure's misses; FM_EVENTS: there is no such structure. */
static unsigned bit_of(const char *structure)
{
    unsigned bit = 0;
    while (bit < FM_EVENTS && strcmp(structure, fm_event_structure(bit)) != 0)
        bit++;
    return bit;
}

bool fm_perf_is_known(const char *name)
{
    struct fm_pfm_code code;
    return fm_pfm_encode(name, &code);
}

/* All terms of a sum. */
static bool all_known(const char *names, bool (*known)(const char *name))
{
    bool good = *names;
    for (const char *at = names; *at && good;) {
        char name[FM_PERF_NAMED_TEXT];
        const size_t length = strcspn(at, "+");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        at += length + (at[length] == '+');
        good = length && (!known || known(name));
    }
    return good;
}

/* The place of a structure in the list, a new one where it has none. */
static struct fm_perf_event *place_of(struct fm_perf_events *events, unsigned bit)
{
    for (size_t i = 0; i < events->count; i++)
        if (events->list[i].bit == bit)
            return &events->list[i];
    return events->count < FM_PERF_EVENTS ? &events->list[events->count++] : NULL;
}

static bool name_one(struct fm_perf_named *named, char *item, bool (*known)(const char *name),
                     struct fm_error *err)
{
    char *equals = strchr(item, '=');
    if (!equals)
        return fm_fail(err, FM_ERR_USAGE, "'%.64s' names no event: write it like l1d=NAME", item);
    *equals = '\0';
    const unsigned bit = bit_of(item);
    struct fm_perf_event *event = bit < FM_EVENTS ? place_of(&named->events, bit) : NULL;
    if (!event)
        return fm_fail(
            err, FM_ERR_USAGE,
            "'%.64s' is nothing whose misses are counted: use l1d, l2, l3, dtlb1, dtlb2, "
            "l1i, itlb1 or btb",
            item);
    if (!all_known(equals + 1, known))
        return fm_fail(err, FM_ERR_USAGE,
                       "'%.64s' is no event of this processor: `fathom probes` lists what is used",
                       equals + 1);
    *event = (struct fm_perf_event){.bit = bit, .ways = {{.name = equals + 1}}};
    named->bits |= 1u << bit;
    return true;
}

bool fm_perf_name_events(const char *list, bool (*known)(const char *name),
                         struct fm_perf_named *named, struct fm_error *err)
{
    named->events = fm_perf_misses;
    named->bits = 0;
    if (strlen(list) >= sizeof named->text)
        return fm_fail(err, FM_ERR_USAGE, "the list is too long: name fewer events");
    snprintf(named->text, sizeof named->text, "%s", list);
    for (char *item = named->text; item;) {
        char *comma = strchr(item, ',');
        if (comma)
            *comma = '\0';
        if (!name_one(named, item, known, err))
            return false;
        item = comma ? comma + 1 : NULL;
    }
    return true;
}
