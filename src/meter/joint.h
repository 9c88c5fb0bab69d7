/* Two meters as one: the second counts what the first has no event for. */
#ifndef FM_METER_JOINT_H
#define FM_METER_JOINT_H

#include "core/error.h"
#include "core/meter.h"

/* Takes both over; each event is the first's where it has it. The one that is handed out says in
   its info who reads what. Where one of them adds nothing it is closed, and the other returned as
   it is; either may be NULL. NULL with err filled when memory is out, or both are NULL. */
struct fm_tally *fm_tally_join(struct fm_tally *first, struct fm_tally *second,
                               struct fm_error *err);

/* The meter of that name in it, which may be the tally itself; NULL: none. */
const struct fm_tally *fm_tally_part(const struct fm_tally *tally, const char *meter);

#endif
