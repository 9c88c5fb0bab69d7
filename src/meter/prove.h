/* Whether the events of a meter can be believed: each is started and read around loads whose misses
 * are known beforehand, before anything is measured by it. */
#ifndef FM_METER_PROVE_H
#define FM_METER_PROVE_H

#include "core/error.h"
#include "core/meter.h"

/* Why events were dropped; an empty text where one was not. */
struct fm_proof {
    char why[FM_EVENTS][96];
};

/* Takes away from tally->info.events what did not prove itself: counts that do not grow with work,
   or more misses than there were loads (which UltraSPARC's read misses did). False with err filled
   when the meter cannot be read at all. */
bool fm_tally_prove(struct fm_tally *tally, struct fm_proof *proof, struct fm_error *err);

#endif
