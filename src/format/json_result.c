#include "format/json_result.h"

void fm_json_value(struct fm_json *json, const char *key, const struct fm_value *value)
{
    switch (value->kind) {
    case FM_VALUE_NONE:
        fm_json_null(json, key);
        break;
    case FM_VALUE_NUMBER:
        fm_json_number(json, key, value->number);
        break;
    case FM_VALUE_BOOL:
        fm_json_bool(json, key, value->truth);
        break;
    case FM_VALUE_TEXT:
        fm_json_text(json, key, value->text);
        break;
    }
}

/* The structures whose misses are counted. */
static void write_misses(struct fm_json *json, const char *key, unsigned events)
{
    fm_json_begin(json, key, '[', true);
    for (unsigned bit = 0; bit < FM_EVENTS; bit++)
        if (events & 1u << bit)
            fm_json_text(json, NULL, fm_event_structure(bit));
    fm_json_end(json, ']');
}

static void write_counters(struct fm_json *json, const struct fm_counters *counters)
{
    if (!counters->events) {
        fm_json_null(json, "counters");
        return;
    }
    fm_json_begin(json, "counters", '{', true);
    fm_json_text(json, "meter", counters->meter);
    fm_json_bool(json, "alone", counters->alone);
    write_misses(json, "misses", counters->events);
    if (counters->by_second) {
        fm_json_text(json, "second", counters->second);
        write_misses(json, "by_second", counters->by_second);
    }
    fm_json_end(json, '}');
}

void fm_json_machine(struct fm_json *json, const char *key, const struct fm_machine_info *machine)
{
    fm_json_begin(json, key, '{', false);
    fm_json_text(json, "kind", machine->kind);
    fm_json_text(json, "name", machine->name);
    fm_json_optional(json, "arch", machine->arch);
    if (machine->cpu >= 0)
        fm_json_integer(json, "cpu", (uint64_t)machine->cpu);
    else
        fm_json_null(json, "cpu");
    fm_json_integer(json, "page_size", machine->page_size);
    fm_json_begin(json, "page_sizes", '[', true);
    for (size_t i = 0; i < machine->page_size_count; i++)
        fm_json_integer(json, NULL, machine->page_sizes[i]);
    fm_json_end(json, ']');
    fm_json_integer(json, "memory_limit", machine->memory_limit);
    fm_json_begin(json, "clock", '{', true);
    fm_json_text(json, "name", machine->clock.name);
    fm_json_number(json, "resolution_ns", machine->clock.resolution_ns);
    fm_json_number(json, "overhead_ns", machine->clock.overhead_ns);
    fm_json_end(json, '}');
    write_counters(json, &machine->counters);
    fm_json_end(json, '}');
}

void fm_json_environment(struct fm_json *json, const char *key,
                         const struct fm_environment *environment)
{
    fm_json_begin(json, key, '{', false);
    for (size_t i = 0; i < environment->count; i++)
        fm_json_value(json, environment->facts[i].key, &environment->facts[i].value);
    fm_json_end(json, '}');
}

static void write_list(struct fm_json *json, const char *key, const char *list, size_t width)
{
    fm_json_begin(json, key, '[', true);
    for (size_t i = 0; i < FM_LIST && list[i * width]; i++)
        fm_json_text(json, NULL, &list[i * width]);
    fm_json_end(json, ']');
}

static void write_candidates(struct fm_json *json, const struct fm_finding *finding)
{
    if (!finding->candidate_count) {
        fm_json_null(json, "candidates");
        return;
    }
    fm_json_begin(json, "candidates", '[', true);
    for (size_t i = 0; i < finding->candidate_count; i++)
        fm_json_value(json, NULL, &finding->candidates[i]);
    fm_json_end(json, ']');
}

static void write_finding(struct fm_json *json, const struct fm_finding *finding)
{
    fm_json_begin(json, NULL, '{', false);
    fm_json_text(json, "property", finding->property);
    fm_json_text(json, "unit", finding->unit);
    fm_json_text(json, "status", fm_status_name(finding->status));
    fm_json_value(json, "value", &finding->value);
    fm_json_value(json, "low", &finding->low);
    fm_json_value(json, "high", &finding->high);
    if (finding->confidence > 0)
        fm_json_number(json, "confidence", finding->confidence);
    else
        fm_json_null(json, "confidence");
    fm_json_optional(json, "method", finding->method);
    write_list(json, "witnesses", finding->witnesses[0], sizeof finding->witnesses[0]);
    fm_json_value(json, "claimed", &finding->claimed);
    fm_json_optional(json, "claimed_by", finding->claimed_by);
    write_list(json, "evidence", finding->evidence[0], sizeof finding->evidence[0]);
    write_candidates(json, finding);
    fm_json_optional(json, "note", finding->note);
    fm_json_end(json, '}');
}

static void write_axis(struct fm_json *json, const char *key, const struct fm_axis *axis)
{
    fm_json_begin(json, key, '{', true);
    fm_json_text(json, "name", axis->name);
    fm_json_text(json, "unit", axis->unit);
    fm_json_end(json, '}');
}

static void write_curve(struct fm_json *json, const struct fm_curve *curve)
{
    fm_json_begin(json, NULL, '{', false);
    fm_json_text(json, "id", curve->id);
    write_axis(json, "x", &curve->x);
    write_axis(json, "y", &curve->y);
    fm_json_begin(json, "points", '[', false);
    for (size_t i = 0; i < curve->point_count; i++) {
        fm_json_begin(json, NULL, '[', true);
        fm_json_number(json, NULL, curve->points[i].x);
        fm_json_number(json, NULL, curve->points[i].y);
        fm_json_number(json, NULL, curve->points[i].low);
        fm_json_number(json, NULL, curve->points[i].high);
        fm_json_end(json, ']');
    }
    fm_json_end(json, ']');
    fm_json_begin(json, "steps", '[', false);
    for (size_t i = 0; i < curve->step_count; i++) {
        fm_json_begin(json, NULL, '{', true);
        fm_json_number(json, "x", curve->steps[i].x);
        fm_json_number(json, "y", curve->steps[i].y);
        fm_json_optional(json, "label", curve->steps[i].label);
        fm_json_end(json, '}');
    }
    fm_json_end(json, ']');
    fm_json_end(json, '}');
}

static void write_entry(struct fm_json *json, const struct fm_entry *entry)
{
    fm_json_begin(json, NULL, '{', false);
    fm_json_text(json, "property", entry->property);
    fm_json_text(json, "unit", entry->unit);
    fm_json_text(json, "verdict", fm_verdict_name(entry->verdict));
    fm_json_value(json, "claimed", &entry->claimed);
    fm_json_optional(json, "claimed_by", entry->claimed_by);
    fm_json_value(json, "physical", &entry->physical);
    fm_json_value(json, "effective", &entry->effective);
    fm_json_value(json, "low", &entry->low);
    fm_json_value(json, "high", &entry->high);
    fm_json_optional(json, "why", entry->why);
    fm_json_end(json, '}');
}

static void write_warning(struct fm_json *json, const struct fm_warning *warning)
{
    fm_json_begin(json, NULL, '{', false);
    fm_json_text(json, "id", warning->id);
    fm_json_text(json, "text", warning->text);
    fm_json_optional(json, "remedy", warning->remedy);
    fm_json_end(json, '}');
}

static void write_result(struct fm_json *json, const struct fm_result *result, const char *version)
{
    fm_json_begin(json, NULL, '{', false);
    fm_json_text(json, "schema", FM_RESULT_SCHEMA);
    fm_json_begin(json, "fathom", '{', true);
    fm_json_text(json, "version", version);
    fm_json_end(json, '}');
    fm_json_machine(json, "machine", &result->machine);
    fm_json_environment(json, "environment", &result->environment);
    fm_json_begin(json, "findings", '[', false);
    for (size_t i = 0; i < result->finding_count; i++)
        write_finding(json, &result->findings[i]);
    fm_json_end(json, ']');
    fm_json_begin(json, "curves", '[', false);
    for (size_t i = 0; i < result->curve_count; i++)
        write_curve(json, &result->curves[i]);
    fm_json_end(json, ']');
    fm_json_begin(json, "warnings", '[', false);
    for (size_t i = 0; i < result->warning_count; i++)
        write_warning(json, &result->warnings[i]);
    fm_json_end(json, ']');
    fm_json_begin(json, "ledger", '[', false);
    for (size_t i = 0; i < result->entry_count; i++)
        write_entry(json, &result->entries[i]);
    fm_json_end(json, ']');
    fm_json_number(json, "elapsed_s", result->elapsed_s);
    fm_json_bool(json, "complete", result->complete);
    fm_json_end(json, '}');
}

char *fm_result_to_json(const struct fm_result *result, const char *version)
{
    struct fm_json json;
    if (!fm_json_open(&json))
        return NULL;
    write_result(&json, result, version);
    return fm_json_close(&json);
}

char *fm_results_to_json(const struct fm_result *const *results, size_t count, const char *version)
{
    struct fm_json json;
    if (!fm_json_open(&json))
        return NULL;
    fm_json_begin(&json, NULL, '[', false);
    for (size_t i = 0; i < count; i++)
        write_result(&json, results[i], version);
    fm_json_end(&json, ']');
    return fm_json_close(&json);
}
