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
    else if (spots->stored)
        for (size_t i = 0; i < string->phase_count; i++)
            if (string->phases[i].op == FM_OP_LOAD)
                string->phases[i].op = FM_OP_STORE;
    return true;
}

bool fm_count_spots(struct fm_lab *lab, const struct fm_spots *spots, unsigned times, double *each,
                    struct fm_error *err)
{
    *each = INFINITY;
    for (unsigned i = 0; i < times; i++) {
        struct fm_string string;
        struct fm_sample sample;
        /* Fresh pages are in no TLB. */
        if ((i == 0 || !spots->warm) &&
            !fm_lab_place(lab, spots->count * spots->stride + FM_TURN, err))
            return false;
        if (!build(&string, spots, err))
            return false;
        const bool good = fm_lab_go_on(lab, lab->part, err) &&
                          lab->machine->ops->count(lab->machine, &string, 1, &sample, err);
        fm_string_free(&string);
        if (!good)
            return false;
        const double misses = (double)fm_event_count(&sample.counts, spots->bit);
        *each = fmin(*each, misses / (double)spots->count);
    }
    return true;
}

static void say(struct fm_lab *lab, unsigned bit, const char *attribute, const char *unit,
                struct fm_value value, const char *method, double sure)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s.%s", fm_event_structure(bit), attribute);
    struct fm_finding *finding = fm_result_finding(lab->result, property, unit);
    if (!finding)
        return;
    if (value.kind == FM_VALUE_NONE)
        fm_undetermined(finding, "the method's counts do not show it");
    else
        fm_testify(finding, &(struct fm_testimony){.meter = lab->machine->info.counters.meter,
                                                   .method = method,
                                                   .value = value,
                                                   .low = value.number,
                                                   .high = value.number,
                                                   .confidence = sure});
}

static struct fm_value or_none(double number)
{
    return number > 0 ? fm_number(number) : (struct fm_value){0};
}

void fm_report_published(struct fm_lab *lab, unsigned bit, const struct fm_published_shape *shape,
                         const char *method, double sure)
{
    const bool tlb = fm_event_is_tlb(bit);
    say(lab, bit, tlb ? "reach" : "capacity", "B", or_none(shape->bytes), method, sure);
    say(lab, bit, tlb ? "page_size" : "line", "B", or_none((double)shape->line), method, sure);
    if (tlb)
        say(lab, bit, "entries", "", or_none(shape->line ? shape->bytes / (double)shape->line : 0),
            method, sure);
    say(lab, bit, "ways", "", shape->full ? fm_text("full") : or_none((double)shape->ways), method,
        sure);
}
