/* Pages that grow while they are used, as AMP saw IRIX do. */
#ifndef FM_PROBE_GROWTH_H
#define FM_PROBE_GROWTH_H

#include "analysis/tlb_steps.h"
#include "probe/translation.h"

/* Finds whether the same visits take less time after many of them, on every arena. */
bool fm_find_growth(struct fm_lab *lab, size_t page, struct fm_ripening *found,
                    struct fm_error *err);

/* What surely ripens pages that grow sooner than that can see. */
struct fm_ripening fm_early_growth(void);

/* Whether they do, or at misses that few pages do not make: pages that miss the first TLB, as its
   rise tells, do so no more after an arena was much used. */
bool fm_grow_early(struct fm_lab *lab, size_t page, const struct fm_tlb_step *step, bool *grow,
                   struct fm_error *err);

#endif
