/* Native events by the names that libpfm4 knows them by. Apart from perf.h, since libpfm4 brings a
 * perf_event.h of its own. */
#ifndef FM_METER_PFM_H
#define FM_METER_PFM_H

#include <stdbool.h>
#include <stdint.h>

/* As members of perf_event_attr. */
struct fm_pfm_code {
    uint32_t type;
    uint64_t config, config1, config2;
};

/* False where libpfm4 does not know the event on this processor, or is not in this build. */
bool fm_pfm_encode(const char *name, struct fm_pfm_code *code);

#endif
