#include <stdlib.h>

#include "api/handles.h"

/* Findings and curves are handed out as they are; only their names differ outside. */
static const struct fm_finding *inner_finding(const struct fathom_finding *finding)
{
    return (const struct fm_finding *)finding;
}

static const struct fm_curve *inner_curve(const struct fathom_curve *curve)
{
    return (const struct fm_curve *)curve;
}

void fathom_result_free(struct fathom_result *result)
{
    if (!result)
        return;
    fm_result_free(&result->result);
    free(result);
}

const char *fathom_result_machine(const struct fathom_result *result)
{
    return result->result.machine.name;
}

double fathom_result_elapsed(const struct fathom_result *result)
{
    return result->result.elapsed_s;
}

bool fathom_result_complete(const struct fathom_result *result)
{
    return result->result.complete;
}

size_t fathom_finding_count(const struct fathom_result *result)
{
    return result->result.finding_count;
}

const struct fathom_finding *fathom_finding_at(const struct fathom_result *result, size_t index)
{
    if (index >= result->result.finding_count)
        return NULL;
    return (const struct fathom_finding *)&result->result.findings[index];
}

const struct fathom_finding *fathom_find(const struct fathom_result *result, const char *property)
{
    return (const struct fathom_finding *)fm_result_find(&result->result, property);
}

bool fathom_number(const struct fathom_result *result, const char *property, double *number)
{
    const struct fm_finding *finding = fm_result_find(&result->result, property);
    if (!finding || finding->status != FM_MEASURED || finding->value.kind != FM_VALUE_NUMBER)
        return false;
    *number = finding->value.number;
    return true;
}

static struct fathom_value outer_value(const struct fm_value *value)
{
    static const enum fathom_kind kinds[] = {
        [FM_VALUE_NONE] = FATHOM_NONE,
        [FM_VALUE_NUMBER] = FATHOM_NUMBER,
        [FM_VALUE_BOOL] = FATHOM_BOOLEAN,
        [FM_VALUE_TEXT] = FATHOM_TEXT,
    };
    return (struct fathom_value){.kind = kinds[value->kind],
                                 .number = value->number,
                                 .truth = value->truth,
                                 .text = value->text};
}

const char *fathom_finding_property(const struct fathom_finding *finding)
{
    return inner_finding(finding)->property;
}

const char *fathom_finding_unit(const struct fathom_finding *finding)
{
    return inner_finding(finding)->unit;
}

enum fathom_status fathom_finding_status(const struct fathom_finding *finding)
{
    static const enum fathom_status outer[] = {
        [FM_MEASURED] = FATHOM_MEASURED,
        [FM_UNDETERMINED] = FATHOM_UNDETERMINED,
        [FM_UNSUPPORTED] = FATHOM_NOT_SUPPORTED,
        [FM_ABSENT] = FATHOM_ABSENT,
    };
    return outer[inner_finding(finding)->status];
}

struct fathom_value fathom_finding_value(const struct fathom_finding *finding)
{
    return outer_value(&inner_finding(finding)->value);
}

struct fathom_value fathom_finding_low(const struct fathom_finding *finding)
{
    return outer_value(&inner_finding(finding)->low);
}

struct fathom_value fathom_finding_high(const struct fathom_finding *finding)
{
    return outer_value(&inner_finding(finding)->high);
}

double fathom_finding_confidence(const struct fathom_finding *finding)
{
    return inner_finding(finding)->confidence;
}

const char *fathom_finding_method(const struct fathom_finding *finding)
{
    return inner_finding(finding)->method;
}

struct fathom_value fathom_finding_claimed(const struct fathom_finding *finding)
{
    return outer_value(&inner_finding(finding)->claimed);
}

const char *fathom_finding_claimed_by(const struct fathom_finding *finding)
{
    return inner_finding(finding)->claimed_by;
}

const char *fathom_finding_note(const struct fathom_finding *finding)
{
    return inner_finding(finding)->note;
}

/* An element of a list that ends early with an empty string; NULL past its end. */
static const char *element(const char *list, size_t width, size_t index)
{
    for (size_t i = 0; i <= index && i < FM_LIST; i++)
        if (!list[i * width])
            return NULL;
    return index < FM_LIST ? list + index * width : NULL;
}

const char *fathom_finding_witness(const struct fathom_finding *finding, size_t index)
{
    const struct fm_finding *inner = inner_finding(finding);
    return element(inner->witnesses[0], sizeof inner->witnesses[0], index);
}

const char *fathom_finding_evidence(const struct fathom_finding *finding, size_t index)
{
    const struct fm_finding *inner = inner_finding(finding);
    return element(inner->evidence[0], sizeof inner->evidence[0], index);
}

struct fathom_value fathom_finding_candidate(const struct fathom_finding *finding, size_t index)
{
    static const struct fm_value none = {.kind = FM_VALUE_NONE};
    const struct fm_finding *inner = inner_finding(finding);
    return outer_value(index < inner->candidate_count ? &inner->candidates[index] : &none);
}

size_t fathom_curve_count(const struct fathom_result *result)
{
    return result->result.curve_count;
}

const struct fathom_curve *fathom_curve_at(const struct fathom_result *result, size_t index)
{
    if (index >= result->result.curve_count)
        return NULL;
    return (const struct fathom_curve *)&result->result.curves[index];
}

const struct fathom_curve *fathom_curve_find(const struct fathom_result *result, const char *id)
{
    return (const struct fathom_curve *)fm_result_find_curve(&result->result, id);
}

const char *fathom_curve_id(const struct fathom_curve *curve)
{
    return inner_curve(curve)->id;
}

size_t fathom_point_count(const struct fathom_curve *curve)
{
    return inner_curve(curve)->point_count;
}

struct fathom_point fathom_point_at(const struct fathom_curve *curve, size_t index)
{
    const struct fm_point *point = &inner_curve(curve)->points[index];
    return (struct fathom_point){point->x, point->y, point->low, point->high};
}

size_t fathom_step_count(const struct fathom_curve *curve)
{
    return inner_curve(curve)->step_count;
}

struct fathom_step fathom_step_at(const struct fathom_curve *curve, size_t index)
{
    const struct fm_step *step = &inner_curve(curve)->steps[index];
    return (struct fathom_step){step->x, step->y, step->label};
}

size_t fathom_warning_count(const struct fathom_result *result)
{
    return result->result.warning_count;
}

struct fathom_warning fathom_warning_at(const struct fathom_result *result, size_t index)
{
    const struct fm_warning *warning = &result->result.warnings[index];
    return (struct fathom_warning){warning->id, warning->text, warning->remedy};
}
