#include <stdlib.h>
#include <string.h>

#include "format/file.h"
#include "format/json_in.h"
#include "format/json_result.h"
#include "format/possible.h"
#include "format/text.h"

/* Far more than a survey finds; it bounds the time that a search for each takes. */
#define ENTRIES_MOST 4096

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static bool get_value(const struct fm_json_place *place, json_t *object, const char *key,
                      struct fm_value *value)
{
    return fm_json_to_value(place, json_object_get(object, key), key, value);
}

static bool get_status(const struct fm_json_place *place, json_t *object, enum fm_status *status)
{
    const char *text = json_string_value(json_object_get(object, "status"));
    for (enum fm_status s = FM_MEASURED; text && s <= FM_ABSENT; s++)
        if (strcmp(text, fm_status_name(s)) == 0) {
            *status = s;
            return true;
        }
    return fm_json_fail(place, "status",
                        "is none of measured, undetermined, unsupported, absent; use one of them");
}

static bool get_list(const struct fm_json_place *place, json_t *object, const char *key, char *list,
                     size_t width)
{
    json_t *array = fm_json_array(place, object, key);
    if (!array)
        return false;
    if (json_array_size(array) > FM_LIST)
        return fm_json_fail(place, key, "has more than %d entries; shorten it", FM_LIST);
    for (size_t i = 0; i < json_array_size(array); i++) {
        json_t *item = json_array_get(array, i);
        if (!json_is_string(item) || json_string_length(item) >= width)
            return fm_json_fail(place, key, "holds something that is no short text");
        strcpy(list + i * width, json_string_value(item));
    }
    return true;
}

static bool get_candidates(const struct fm_json_place *place, json_t *object,
                           struct fm_finding *finding)
{
    json_t *array = json_object_get(object, "candidates");
    if (!array || json_is_null(array))
        return true;
    if (!json_is_array(array) || json_array_size(array) > FM_LIST)
        return fm_json_fail(place, "candidates", "is neither null nor a list of at most %d",
                            FM_LIST);
    finding->candidate_count = json_array_size(array);
    for (size_t i = 0; i < finding->candidate_count; i++)
        if (!fm_json_to_value(place, json_array_get(array, i), "candidates",
                              &finding->candidates[i]))
            return false;
    return true;
}

static bool get_confidence(const struct fm_json_place *place, json_t *object, double *confidence)
{
    json_t *json = json_object_get(object, "confidence");
    if (!json || json_is_null(json))
        return true;
    if (!json_is_real(json) || json_real_value(json) < 0 || json_real_value(json) > 1)
        return fm_json_fail(place, "confidence", "is neither null nor a number from 0 to 1");
    *confidence = json_real_value(json);
    return true;
}

/* A value that is not known is null, and then nothing was measured. */
static bool check_value(const struct fm_json_place *place, const struct fm_finding *finding)
{
    return finding->status != FM_MEASURED || finding->value.kind != FM_VALUE_NONE ||
           fm_json_fail(place, "value",
                        "is null, but its status is measured; use a file that "
                        "fathom wrote");
}

static bool read_finding(const struct fm_json_place *place, json_t *json, struct fm_result *out)
{
    char property[FM_PROPERTY_TEXT], unit[sizeof out->findings->unit];
    if (!fm_json_get_text(place, json, "property", property, sizeof property) ||
        !fm_json_get_text(place, json, "unit", unit, sizeof unit))
        return false;
    if (!*property)
        return fm_json_fail(place, "property", "is missing; name it, such as l1d.capacity");
    if (fm_result_find(out, property))
        return fm_json_fail(place, "property", "stands here twice; keep one");
    struct fm_finding *f = fm_result_finding(out, property, unit);
    if (!f)
        return fm_fail(place->err, FM_ERR_NO_MEMORY, "%s: not enough memory", place->name);
    return get_status(place, json, &f->status) && get_value(place, json, "value", &f->value) &&
           check_value(place, f) && get_value(place, json, "low", &f->low) &&
           get_value(place, json, "high", &f->high) &&
           get_confidence(place, json, &f->confidence) &&
           fm_json_get_text(place, json, "method", f->method, sizeof f->method) &&
           get_list(place, json, "witnesses", f->witnesses[0], sizeof f->witnesses[0]) &&
           get_value(place, json, "claimed", &f->claimed) &&
           fm_json_get_text(place, json, "claimed_by", f->claimed_by, sizeof f->claimed_by) &&
           get_list(place, json, "evidence", f->evidence[0], sizeof f->evidence[0]) &&
           get_candidates(place, json, f) &&
           fm_json_get_text(place, json, "note", f->note, sizeof f->note) &&
           fm_finding_is_possible(place, f);
}

static bool get_axis(const struct fm_json_place *place, json_t *object, const char *key,
                     struct fm_axis *axis)
{
    json_t *json = fm_json_object(place, object, key);
    return json && fm_json_get_text(place, json, "name", axis->name, sizeof axis->name) &&
           fm_json_get_text(place, json, "unit", axis->unit, sizeof axis->unit);
}

static bool get_points(const struct fm_json_place *place, json_t *object, struct fm_curve *curve)
{
    json_t *array = fm_json_array(place, object, "points");
    if (!array)
        return false;
    for (size_t i = 0; i < json_array_size(array); i++) {
        json_t *item = json_array_get(array, i);
        double number[4];
        const struct fm_json_place at = fm_json_within(place, "points", i);
        if (json_array_size(item) != COUNT(number))
            return fm_json_fail(&at, "", "is not [x, y, low, high]; use a file that fathom wrote");
        for (size_t k = 0; k < COUNT(number); k++) {
            if (!json_is_real(json_array_get(item, k)))
                return fm_json_fail(&at, "", "holds something that is no number");
            number[k] = json_real_value(json_array_get(item, k));
        }
        const struct fm_point point = {number[0], number[1], number[2], number[3]};
        if (!fm_curve_add(curve, point))
            return fm_fail(place->err, FM_ERR_NO_MEMORY, "%s: not enough memory", place->name);
    }
    return true;
}

static bool get_steps(const struct fm_json_place *place, json_t *object, struct fm_curve *curve)
{
    json_t *array = fm_json_array(place, object, "steps");
    if (!array)
        return false;
    if (json_array_size(array) > COUNT(curve->steps))
        return fm_json_fail(place, "steps", "has more than %zu entries", COUNT(curve->steps));
    curve->step_count = json_array_size(array);
    for (size_t i = 0; i < curve->step_count; i++) {
        json_t *item = json_array_get(array, i);
        const struct fm_json_place at = fm_json_within(place, "steps", i);
        struct fm_step *step = &curve->steps[i];
        if (!fm_json_get_number(&at, item, "x", &step->x) ||
            !fm_json_get_number(&at, item, "y", &step->y) ||
            !fm_json_get_text(&at, item, "label", step->label, sizeof step->label))
            return false;
    }
    return true;
}

static bool read_curve(const struct fm_json_place *place, json_t *json, struct fm_result *out)
{
    char id[sizeof out->curves->id];
    if (!fm_json_get_text(place, json, "id", id, sizeof id))
        return false;
    if (fm_result_find_curve(out, id))
        return fm_json_fail(place, "id", "stands here twice; keep one");
    struct fm_curve *curve = fm_result_curve(out, id);
    if (!curve)
        return fm_fail(place->err, FM_ERR_NO_MEMORY, "%s: not enough memory", place->name);
    return get_axis(place, json, "x", &curve->x) && get_axis(place, json, "y", &curve->y) &&
           get_points(place, json, curve) && get_steps(place, json, curve);
}

static bool read_warning(const struct fm_json_place *place, json_t *json, struct fm_result *out)
{
    struct fm_warning warning;
    if (!fm_json_get_text(place, json, "id", warning.id, sizeof warning.id) ||
        !fm_json_get_text(place, json, "text", warning.text, sizeof warning.text) ||
        !fm_json_get_text(place, json, "remedy", warning.remedy, sizeof warning.remedy))
        return false;
    fm_result_warn(out, warning.id, warning.remedy, "%s", warning.text);
    return true;
}

static bool get_verdict(const struct fm_json_place *place, json_t *object, enum fm_verdict *verdict)
{
    const char *text = json_string_value(json_object_get(object, "verdict"));
    for (enum fm_verdict v = FM_AGREES; text && v <= FM_OPEN; v++)
        if (strcmp(text, fm_verdict_name(v)) == 0) {
            *verdict = v;
            return true;
        }
    return fm_json_fail(place, "verdict", "is none of agrees, differs, open; use one of them");
}

static bool read_entry(const struct fm_json_place *place, json_t *json, struct fm_result *out)
{
    struct fm_entry entry = {.verdict = FM_OPEN};
    if (!fm_json_get_text(place, json, "property", entry.property, sizeof entry.property) ||
        !fm_json_get_text(place, json, "unit", entry.unit, sizeof entry.unit) ||
        !get_verdict(place, json, &entry.verdict) ||
        !get_value(place, json, "claimed", &entry.claimed) ||
        !fm_json_get_text(place, json, "claimed_by", entry.claimed_by, sizeof entry.claimed_by) ||
        !get_value(place, json, "physical", &entry.physical) ||
        !get_value(place, json, "effective", &entry.effective) ||
        !get_value(place, json, "low", &entry.low) ||
        !get_value(place, json, "high", &entry.high) ||
        !fm_json_get_text(place, json, "why", entry.why, sizeof entry.why))
        return false;
    return fm_result_enter(out, &entry) ||
           fm_fail(place->err, FM_ERR_NO_MEMORY, "%s: not enough memory", place->name);
}

typedef bool read_item(const struct fm_json_place *place, json_t *json, struct fm_result *out);

static bool read_each(const struct fm_json_place *place, json_t *object, const char *key,
                      read_item *read, struct fm_result *out)
{
    json_t *array = fm_json_array(place, object, key);
    if (!array)
        return false;
    if (json_array_size(array) > ENTRIES_MOST)
        return fm_json_fail(place, key, "has more than %d entries; use a file that fathom wrote",
                            ENTRIES_MOST);
    for (size_t i = 0; i < json_array_size(array); i++) {
        const struct fm_json_place at = fm_json_within(place, key, i);
        json_t *item = json_array_get(array, i);
        if (!json_is_object(item))
            return fm_json_fail(&at, "", "is no object; use a file that fathom wrote");
        if (!read(&at, item, out))
            return false;
    }
    return true;
}

/* A number after the slash that is not ours is a later version's. */
static bool refuse_schema(const struct fm_json_place *place, const char *schema)
{
    static const char family[] = "fathom-result/";
    char shown[48];
    if (!schema || strncmp(schema, family, strlen(family)) != 0)
        return fm_json_fail(place, "schema", "is not %s; use a result written with --format json",
                            FM_RESULT_SCHEMA);
    return fm_json_fail(place, "schema", "is %s, and this fathom reads %s; use a newer fathom",
                        fm_escape(schema, strlen(schema), shown, sizeof shown), FM_RESULT_SCHEMA);
}

static bool read_result(const struct fm_json_place *place, json_t *json, struct fm_result *out)
{
    const char *schema = json_string_value(json_object_get(json, "schema"));
    if (json_is_array(json))
        return fm_json_fail(place, "", "holds a list of results; use a file with one");
    if (!schema || strcmp(schema, FM_RESULT_SCHEMA) != 0)
        return refuse_schema(place, schema);
    return fm_json_get_machine(place, json, "machine", &out->machine) &&
           fm_json_get_environment(place, json, "environment", &out->environment) &&
           read_each(place, json, "findings", read_finding, out) &&
           read_each(place, json, "curves", read_curve, out) &&
           read_each(place, json, "warnings", read_warning, out) &&
           /* Results of earlier versions have none. */
           (!json_object_get(json, "ledger") ||
            read_each(place, json, "ledger", read_entry, out)) &&
           fm_json_get_number(place, json, "elapsed_s", &out->elapsed_s) &&
           fm_json_get_bool(place, json, "complete", &out->complete);
}

bool fm_result_from_json(const char *text, size_t length, const char *name, struct fm_result *out,
                         struct fm_error *err)
{
    json_t *json = fm_json_parse(text, length, name, err);
    if (!json)
        return false;
    const struct fm_json_place place = {.name = name, .err = err};
    struct fm_result result;
    fm_result_init(&result);
    const bool ok = read_result(&place, json, &result);
    json_decref(json);
    if (ok)
        *out = result;
    else
        fm_result_free(&result);
    return ok;
}

bool fm_result_read(const char *path, struct fm_result *out, struct fm_error *err)
{
    char *text;
    size_t length;
    if (!fm_file_read(path, FM_RESULT_FILE_LIMIT, &text, &length, err))
        return false;
    const bool ok = fm_result_from_json(text, length, path, out, err);
    free(text);
    return ok;
}
