/* What a level serves code that it shares with data, by the event of the level. */
#ifndef FM_PROBE_CODE_COUNTED_H
#define FM_PROBE_CODE_COUNTED_H

#include "probe/lab.h"

/* Where it is looked for. */
struct fm_code_span {
    size_t pitch;    /* bytes from line to line */
    double from, to; /* footprints: what the first cache of code holds, and the largest */
};

/* Whether a level has an event that is believed, and is known to be shared: it counts fetches. */
bool fm_code_is_counted(const struct fm_lab *lab, size_t level);

/* Sets what the event of a level, counted from 0, says beside what the clock does; nothing where
   the level has no event that is believed, or is not known to be shared. */
bool fm_count_code_level(struct fm_lab *lab, size_t level, const struct fm_code_span *span,
                         struct fm_error *err);

/* Sets what the event of the first TLB says of pages of code, where data shares it and no event
   counts code alone; nothing elsewhere. */
bool fm_count_code_tlb(struct fm_lab *lab, struct fm_error *err);

#endif
