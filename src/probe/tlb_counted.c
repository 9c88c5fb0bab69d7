/* What counters show of a TLB, for the clock to confirm instead of searching for it. */
#include "probe/tlb.h"

unsigned fm_tlb_event(const struct fm_tlbs *tlbs, size_t index)
{
    /* Base pages alone have been counted. */
    if (*tlbs->qualifier || tlbs->list.ripen.visits > 0)
        return FM_EVENTS;
    if (tlbs->list.code)
        return index == 0 ? FM_CODE_EVENT + 1 : FM_EVENTS;
    return index < FM_TLB_LEVELS ? FM_CACHE_LEVELS + (unsigned)index : FM_EVENTS;
}

const struct fm_counted *fm_tlb_counted(const struct fm_lab *lab, const struct fm_tlbs *tlbs,
                                        size_t index)
{
    return fm_lab_counted(lab, fm_tlb_event(tlbs, index));
}

bool fm_tlb_is_steady(const struct fm_lab *lab, const struct fm_tlbs *tlbs, size_t index)
{
    return fm_tlb_counted(lab, tlbs, index) && !tlbs->list.code &&
           fm_counts_are_steady(lab, fm_tlb_event(tlbs, index));
}

/* What it shows is no more than a hint: where pages in a row conflict as well the clock is asked.
 */
static bool crowd_by_event(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, unsigned event,
                           struct fm_error *err)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    const struct fm_known_tlb before = *tlb;
    if (!fm_crowd_tlb(lab, tlbs, index, event, err))
        return false;
    const struct fm_tlb_hint hint = {tlb->ways, tlb->sets, tlb->ways > 0, tlb->spares, true};
    const char *doubt = tlb->doubt;
    *tlb = before;
    tlb->hint = hint;
    tlb->doubt = doubt;
    return true;
}

void fm_hint_at_tlb(const struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    const struct fm_counted *counted = fm_tlb_counted(lab, tlbs, index);
    tlb->hint = (struct fm_tlb_hint){0};
    if (counted && counted->ways && counted->line == tlbs->page) {
        tlb->hint.ways = (unsigned)counted->ways;
        tlb->hint.sets = (unsigned)(counted->bytes / (double)counted->line) / tlb->hint.ways;
    }
}

bool fm_crowd_for_hint(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, struct fm_error *err)
{
    const struct fm_counted *counted = fm_tlb_counted(lab, tlbs, index);
    const bool asked = tlbs->known[index].hint.asked;
    if (asked || !counted || counted->ways || !fm_tlb_is_steady(lab, tlbs, index))
        return true;
    return crowd_by_event(lab, tlbs, index, fm_tlb_event(tlbs, index), err);
}

void fm_take_hint(const struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    tlb->ways = tlb->hint.ways;
    tlb->sets = tlb->hint.sets;
    tlb->entries = tlb->ways * tlb->sets;
    tlb->hashed = tlb->sets > 1;
    tlb->spares = tlb->hint.spares;
    tlb->method = "crowd";
    tlb->meter = fm_lab_meter(lab, fm_tlb_event(tlbs, index));
}
