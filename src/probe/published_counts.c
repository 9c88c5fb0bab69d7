#include "probe/published_counts.h"

#include <math.h>
#include <stdio.h>

#include "probe/lab.h"
#include "refstring/refstring.h"

static void add(struct fm_string *string, struct fm_phase phase)
{
    string->phases[string->phase_count++] = phase;
}

/* To flush is to ask a TLB for every page; but fresh pages are in none. */
static bool build(struct fm_string *string, const struct fm_spots *spots, struct fm_error *err)
{
    const struct fm_spot_plan plan = {.count = spots->count, .stride = spots->stride};
    if (!fm_spot_string(string, &plan, err))
        return false;
    const uint64_t lap = spots->count;
    if (spots->warm)
        add(string, (struct fm_phase){.references = spots->warm * lap});
    else if (!fm_event_is_tlb(spots->bit))
        add(string, (struct fm_phase){.op = FM_OP_FLUSH, .references = lap});
    if (spots->written)
        add(string, (struct fm_phase){.op = FM_OP_STORE, .references = lap});
    add(string, (struct fm_phase){.references = lap, .metered = true});
    if (fm_event_is_of_code(spots->bit))
        fm_string_jump(string);
    else if (spots->real)
        fm_string_load_real(string);
    else if (spots->stored)
        for (size_t i = 0; i < string->phase_count; i++)
            if (string->phases[i].op == FM_OP_LOAD)
                string->phases[i].op = FM_OP_STORE;
    return true;
}

static bool run_once(struct fm_lab *lab, const struct fm_spots *spots, struct fm_counts *counts,
                     struct fm_error *err)
{
    struct fm_string string;
    struct fm_sample sample;
    if (!build(&string, spots, err))
        return false;
    const bool good = fm_lab_go_on(lab, lab->part, err) &&
                      lab->machine->ops->count(lab->machine, &string, 1, &sample, err);
    fm_string_free(&string);
    if (good)
        *counts = sample.counts;
    return good;
}

static bool place(struct fm_lab *lab, const struct fm_spots *spots, struct fm_error *err)
{
    return fm_lab_place(lab, spots->count * spots->stride + FM_TURN, err);
}

bool fm_count_lap_of_spots(struct fm_lab *lab, const struct fm_spots *spots,
                           struct fm_counts *counts, struct fm_error *err)
{
    return place(lab, spots, err) && run_once(lab, spots, counts, err);
}

bool fm_count_spots(struct fm_lab *lab, const struct fm_spots *spots, unsigned times, double *each,
                    struct fm_error *err)
{
    *each = INFINITY;
    for (unsigned i = 0; i < times; i++) {
        struct fm_counts counts;
        /* Fresh pages are in no TLB. */
        if (((i == 0 || !spots->warm) && !place(lab, spots, err)) ||
            !run_once(lab, spots, &counts, err))
            return false;
        *each = fmin(*each, (double)fm_event_count(&counts, spots->bit) / (double)spots->count);
    }
    return true;
}

static void say(struct fm_lab *lab, unsigned bit, const char *attribute, const char *unit,
                struct fm_value value, const struct fm_published_voice *voice)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s.%s", fm_event_structure(bit), attribute);
    struct fm_finding *finding = fm_result_finding(lab->result, property, unit);
    if (!finding)
        return;
    if (value.kind != FM_VALUE_NONE)
        fm_testify(finding, &(struct fm_testimony){.meter = voice->meter,
                                                   .method = voice->method,
                                                   .value = value,
                                                   .low = value.number,
                                                   .high = value.number,
                                                   .confidence = voice->sure});
    else if (finding->status != FM_MEASURED && !finding->note[0])
        fm_undetermined(finding, "the method's counts do not show it");
}

static struct fm_value or_none(double number)
{
    return number > 0 ? fm_number(number) : (struct fm_value){0};
}

void fm_report_published(struct fm_lab *lab, unsigned bit, const struct fm_published_shape *shape,
                         const struct fm_published_voice *voice)
{
    const bool tlb = fm_event_is_tlb(bit);
    say(lab, bit, tlb ? "reach" : "capacity", "B", or_none(shape->bytes), voice);
    say(lab, bit, tlb ? "page_size" : "line", "B", or_none((double)shape->line), voice);
    if (tlb)
        say(lab, bit, "entries", "", or_none(shape->line ? shape->bytes / (double)shape->line : 0),
            voice);
    say(lab, bit, "ways", "", shape->full ? fm_text("full") : or_none((double)shape->ways), voice);
}
