/* What is said of TLBs: findings, warnings, and marks on their curve. */
#ifndef FM_PROBE_TLB_REPORT_H
#define FM_PROBE_TLB_REPORT_H

#include "probe/tlb.h"

/* Entries, ways, reach and cost of a level, or why they are open; and warns of entries that map
   more or less than a page. Notes whether the cost is open. */
void fm_report_tlb(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index);

/* One thing about a level that is not determined. */
void fm_tlb_open(struct fm_lab *lab, const struct fm_tlbs *tlbs, size_t index,
                 const char *attribute, const char *unit, const char *reason);

/* Nothing is to be passed over in silence: that there is no level, or that one was seen once. */
void fm_tlb_none(struct fm_lab *lab, const struct fm_tlbs *tlbs, bool rises);

/* Marks the levels on the curve, each where its pages end, and what comes after them: the walk, or
   for code that was followed no further the level it shares with data. */
void fm_mark_tlbs(struct fm_lab *lab, const struct fm_tlbs *tlbs);

#endif
