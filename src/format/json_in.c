#include "format/json_in.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format/text.h"

/* No address, and so no size, goes so far; beyond it a number is no whole one to who reads it. */
#define LARGEST 0x1p63

/* What to do about text that is no JSON. */
static const char *remedy_for(enum json_error_code code)
{
    switch (code) {
    case json_error_premature_end_of_input:
        return "was the file cut short?";
    case json_error_duplicate_key:
        return "keep one of them";
    case json_error_stack_overflow:
        return "no result is nested so deeply";
    case json_error_numeric_overflow:
        return "no measurement is so large";
    default:
        return "use a file that fathom wrote";
    }
}

json_t *fm_json_parse(const char *text, size_t length, const char *name, struct fm_error *err)
{
    json_error_t problem;
    const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL;
    json_t *json = json_loadb(text, length, flags, &problem);
    if (json)
        return json;
    char what[120];
    fm_escape(problem.text, strlen(problem.text), what, sizeof what);
    fm_fail(err, FM_ERR_USAGE, "%s:%d: not valid JSON (%s); %s", fm_short_path(name),
            problem.line > 0 ? problem.line : 1, what, remedy_for(json_error_code(&problem)));
    return NULL;
}

bool fm_json_fail(const struct fm_json_place *place, const char *key, const char *format, ...)
{
    char message[256], shown[64];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    fm_escape(key, strlen(key), shown, sizeof shown);
    fm_fail(place->err, FM_ERR_USAGE, "%s: %s%s%s%s%s", fm_short_path(place->name), place->path,
            *place->path && *key ? "." : "", shown, *place->path || *key ? ": " : "", message);
    return false;
}

struct fm_json_place fm_json_within(const struct fm_json_place *place, const char *key,
                                    size_t index)
{
    struct fm_json_place inner = *place;
    snprintf(inner.path, sizeof inner.path, "%s%s%s[%zu]", place->path, *place->path ? "." : "",
             key, index);
    return inner;
}

json_t *fm_json_object(const struct fm_json_place *place, json_t *object, const char *key)
{
    json_t *member = json_object_get(object, key);
    if (json_is_object(member))
        return member;
    fm_json_fail(place, key, "is no object; use a file that fathom wrote");
    return NULL;
}

json_t *fm_json_array(const struct fm_json_place *place, json_t *object, const char *key)
{
    json_t *member = json_object_get(object, key);
    if (json_is_array(member))
        return member;
    fm_json_fail(place, key, "is no list; use a file that fathom wrote");
    return NULL;
}

bool fm_json_get_bool(const struct fm_json_place *place, json_t *object, const char *key,
                      bool *truth)
{
    json_t *member = json_object_get(object, key);
    if (!json_is_boolean(member))
        return fm_json_fail(place, key, "is neither true nor false; use a file that fathom wrote");
    *truth = json_is_true(member);
    return true;
}

bool fm_json_get_number(const struct fm_json_place *place, json_t *object, const char *key,
                        double *number)
{
    json_t *member = json_object_get(object, key);
    if (!json_is_real(member))
        return fm_json_fail(place, key, "is no number; use a file that fathom wrote");
    *number = json_real_value(member);
    return true;
}

bool fm_json_get_text(const struct fm_json_place *place, json_t *object, const char *key,
                      char *text, size_t space)
{
    json_t *member = json_object_get(object, key);
    *text = '\0';
    if (!member || json_is_null(member))
        return true;
    if (!json_is_string(member))
        return fm_json_fail(place, key, "is no text; use a file that fathom wrote");
    if (json_string_length(member) >= space)
        return fm_json_fail(place, key, "is longer than %zu bytes; shorten it", space - 1);
    strcpy(text, json_string_value(member));
    return true;
}

bool fm_json_to_value(const struct fm_json_place *place, json_t *json, const char *key,
                      struct fm_value *value)
{
    *value = (struct fm_value){.kind = FM_VALUE_NONE};
    if (!json || json_is_null(json))
        return true;
    if (json_is_number(json) && fabs(json_number_value(json)) >= LARGEST)
        return fm_json_fail(place, key, "is %.4g; no measurement is so large",
                            json_number_value(json));
    if (json_is_number(json))
        *value = fm_number(json_number_value(json));
    else if (json_is_boolean(json))
        *value = fm_bool(json_is_true(json));
    else if (json_is_string(json) && json_string_length(json) < sizeof value->text)
        *value = fm_text(json_string_value(json));
    else
        return fm_json_fail(place, key,
                            "is no number, truth value or short text; "
                            "use a file that fathom wrote");
    return true;
}

/* A number that must fit a whole type; null reads as `otherwise`. */
static bool get_whole(const struct fm_json_place *place, json_t *object, const char *key,
                      double most, double otherwise, double *number)
{
    if (json_is_null(json_object_get(object, key))) {
        *number = otherwise;
        return true;
    }
    if (!fm_json_get_number(place, object, key, number))
        return false;
    if (*number < 0 || *number > most || *number != floor(*number))
        return fm_json_fail(place, key, "is no whole number up to %.0f", most);
    return true;
}

/* A file without them is one from before there were any. */
static bool get_page_sizes(const struct fm_json_place *place, json_t *object,
                           struct fm_machine_info *machine)
{
    json_t *list = json_object_get(object, "page_sizes"), *item;
    size_t i;
    if (list && (!json_is_array(list) || json_array_size(list) > FM_OTHER_PAGES))
        return fm_json_fail(place, "page_sizes", "is no list of up to %d sizes", FM_OTHER_PAGES);
    json_array_foreach(list, i, item)
    {
        /* Numbers are read as doubles, whole ones too. */
        const double bytes = json_number_value(item);
        if (!(bytes >= 1 && bytes <= 0x1p40) || bytes != floor(bytes))
            return fm_json_fail(place, "page_sizes", "has what is no size of a page");
        machine->page_sizes[i] = (size_t)bytes;
    }
    machine->page_size_count = list ? json_array_size(list) : 0;
    return true;
}

/* A list of structures whose misses are counted. */
static bool get_misses(const struct fm_json_place *place, const json_t *misses, unsigned *events)
{
    json_t *item;
    size_t i;
    json_array_foreach(misses, i, item)
    {
        const char *name = json_string_value(item);
        unsigned bit = 0;
        while (bit < FM_EVENTS && name && strcmp(name, fm_event_structure(bit)) != 0)
            bit++;
        if (!name || bit == FM_EVENTS)
            return fm_json_fail(place, "counters", "counts what this version does not know");
        *events |= 1u << bit;
    }
    return true;
}

/* Files of before there were counters have none. */
static bool get_counters(const struct fm_json_place *place, json_t *object,
                         struct fm_counters *counters)
{
    *counters = (struct fm_counters){0};
    json_t *json = json_object_get(object, "counters");
    if (!json || json_is_null(json))
        return true;
    json_t *misses = json_object_get(json, "misses");
    if (!json_is_object(json) || !json_is_array(misses))
        return fm_json_fail(place, "counters", "is not {meter, alone, misses}");
    const json_t *second = json_object_get(json, "by_second");
    if (!get_misses(place, misses, &counters->events) ||
        (second &&
         (!get_misses(place, second, &counters->by_second) ||
          !fm_json_get_text(place, json, "second", counters->second, sizeof counters->second))))
        return false;
    return fm_json_get_text(place, json, "meter", counters->meter, sizeof counters->meter) &&
           fm_json_get_bool(place, json, "alone", &counters->alone);
}

bool fm_json_get_machine(const struct fm_json_place *place, json_t *object, const char *key,
                         struct fm_machine_info *machine)
{
    double cpu = 0, page = 0, limit = 0;
    struct fm_json_place inner = *place;
    snprintf(inner.path, sizeof inner.path, "%s", key);
    json_t *json = fm_json_object(place, object, key);
    if (!json || !fm_json_get_text(&inner, json, "kind", machine->kind, sizeof machine->kind) ||
        !fm_json_get_text(&inner, json, "name", machine->name, sizeof machine->name) ||
        !fm_json_get_text(&inner, json, "arch", machine->arch, sizeof machine->arch) ||
        !get_whole(&inner, json, "cpu", 1 << 20, -1, &cpu) ||
        !get_whole(&inner, json, "page_size", 0x1p40, 0, &page) ||
        !get_page_sizes(&inner, json, machine) || !get_counters(&inner, json, &machine->counters) ||
        !get_whole(&inner, json, "memory_limit", 0x1p64, 0, &limit))
        return false;
    machine->cpu = (int)cpu;
    machine->page_size = (size_t)page;
    /* "No limit" is the largest integer, which a double rounds up to 2^64. */
    machine->memory_limit = limit < 0x1p64 ? (uint64_t)limit : UINT64_MAX;
    json_t *clock = fm_json_object(&inner, json, "clock");
    struct fm_clock_info *info = &machine->clock;
    snprintf(inner.path, sizeof inner.path, "%s.clock", key);
    return clock && fm_json_get_text(&inner, clock, "name", info->name, sizeof info->name) &&
           fm_json_get_number(&inner, clock, "resolution_ns", &info->resolution_ns) &&
           fm_json_get_number(&inner, clock, "overhead_ns", &info->overhead_ns);
}

bool fm_json_get_environment(const struct fm_json_place *place, json_t *object, const char *key,
                             struct fm_environment *environment)
{
    json_t *facts = fm_json_object(place, object, key);
    if (!facts)
        return false;
    environment->count = 0;
    struct fm_json_place inner = *place;
    snprintf(inner.path, sizeof inner.path, "%s", key);
    const char *name;
    json_t *json;
    json_object_foreach(facts, name, json)
    {
        struct fm_value value;
        if (strlen(name) >= sizeof environment->facts[0].key)
            return fm_json_fail(&inner, name, "is too long a key; shorten it");
        if (environment->count == sizeof environment->facts / sizeof environment->facts[0])
            return fm_json_fail(&inner, name, "is one fact too many; use a file that fathom wrote");
        if (!fm_json_to_value(&inner, json, name, &value))
            return false;
        fm_environment_set(environment, name, value);
    }
    return true;
}
