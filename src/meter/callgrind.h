/* The callgrind meter: misses in the cache model of valgrind's callgrind, read by the program that
 * runs in it. There is no time in there, and no TLB; levels are D1 and LL. */
#ifndef FM_METER_CALLGRIND_H
#define FM_METER_CALLGRIND_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"
#include "core/machine.h"
#include "core/meter.h"

/* Where fm_valgrind_run tells the program it starts which file callgrind writes to. */
#define FM_CALLGRIND_DUMPS "FATHOM_CALLGRIND_DUMPS"

/* Whether this program runs in callgrind and was started by fm_valgrind_run. */
bool fm_callgrind_here(void);

/* Counts misses of data and, if that is asked for, of code, which takes its time. NULL with err
   filled where callgrind does not simulate this process, or does not answer. */
struct fm_tally *fm_callgrind_open(bool code, struct fm_error *err);

/* The counts in the text of a dump: its line `events:` names the columns of its line `totals:`,
   of which zeros at the end are left out. False when there is no such pair of lines. */
bool fm_callgrind_read_dump(const char *text, struct fm_counts *counts);

#endif
