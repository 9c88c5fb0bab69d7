/* Two witnesses of one property. */
#include <stdio.h>

#include "probe/lab.h"

#define MOST_SURE 0.9999

static void describe(const struct fm_value *value, char *text, size_t size)
{
    if (value->kind == FM_VALUE_NUMBER)
        snprintf(text, size, "%.10g", value->number);
    else if (value->kind == FM_VALUE_BOOL)
        snprintf(text, size, "%s", value->truth ? "true" : "false");
    else
        snprintf(text, size, "%s", value->text);
}

static bool agrees(const struct fm_finding *finding, const struct fm_testimony *testimony)
{
    if (finding->value.kind != FM_VALUE_NUMBER || testimony->value.kind != FM_VALUE_NUMBER)
        return fm_value_equal(&finding->value, &testimony->value);
    return testimony->low <= finding->high.number && testimony->high >= finding->low.number;
}

/* With the value goes what was noted of it. */
static void take(struct fm_finding *finding, const struct fm_testimony *testimony)
{
    finding->note[0] = '\0';
    finding->value = finding->low = finding->high = testimony->value;
    if (testimony->value.kind == FM_VALUE_NUMBER) {
        finding->low = fm_number(testimony->low);
        finding->high = fm_number(testimony->high);
    }
    snprintf(finding->method, sizeof finding->method, "%s", testimony->method);
}

static void disagree(struct fm_finding *finding, const struct fm_testimony *testimony)
{
    char before[32], now[32], note[sizeof finding->note];
    describe(&finding->value, before, sizeof before);
    describe(&testimony->value, now, sizeof now);
    snprintf(note, sizeof note, "%s says %s, %s says %s", finding->witnesses[0], before,
             testimony->meter, now);
    finding->candidate_count = 2;
    finding->candidates[0] = finding->value;
    finding->candidates[1] = testimony->value;
    fm_undetermined(finding, note);
}

void fm_testify(struct fm_finding *finding, const struct fm_testimony *testimony)
{
    const bool second = finding->status == FM_MEASURED;
    if (second && !agrees(finding, testimony)) {
        disagree(finding, testimony);
    } else if (second) {
        const double doubt = (1 - finding->confidence) * (1 - testimony->confidence);
        finding->confidence = 1 - doubt < MOST_SURE ? 1 - doubt : MOST_SURE;
        if (finding->value.kind == FM_VALUE_NUMBER &&
            testimony->high - testimony->low < finding->high.number - finding->low.number)
            take(finding, testimony);
    } else {
        finding->status = FM_MEASURED;
        finding->confidence = testimony->confidence;
        finding->candidate_count = 0;
        finding->witnesses[0][0] = '\0';
        take(finding, testimony);
    }
    fm_list_add(finding->witnesses[0], sizeof finding->witnesses[0], FM_LIST, testimony->meter);
    if (testimony->evidence)
        fm_list_add(finding->evidence[0], sizeof finding->evidence[0], FM_LIST,
                    testimony->evidence);
}
