/* The application by counters of the processor and of the kernel. */
#include <stdio.h>

#include "stat/stat.h"

/* A prefetcher fetches ahead, but not a line for every reference and more. */
#define MOST_FILLS 1.0
/* Fewer references are those of a program that does nothing. */
#define SOME 10000

struct fm_stat_counts fm_stat_no_counts(void)
{
    return (struct fm_stat_counts){.references = -1,
                                   .fills = {-1, -1, -1},
                                   .fetch_misses = -1,
                                   .fetch_stalls = -1,
                                   .cycles = -1};
}

/* Some processors count wrongly, and some virtual machines take an event and count nothing. */
static void doubt(struct fm_command_counts *seen, unsigned event)
{
    const double references = seen->count[FM_COMMAND_REFERENCES], lines = seen->count[event];
    if (references < 0 || lines < 0 || (lines > 0 && lines <= MOST_FILLS * references) ||
        (lines == 0 && references < SOME))
        return;
    snprintf(seen->why[event], sizeof seen->why[event],
             "its event cannot be believed: it counted %.0f lines in %.0f references", lines,
             references);
    seen->count[event] = -1;
}

bool fm_stat_counted(struct fm_command_counts *seen, size_t levels, struct fm_stat_counts *counts)
{
    const unsigned last = FM_COMMAND_FILLS + FM_STAT_LEVELS - 1;
    for (unsigned i = 0; i < FM_STAT_LEVELS; i++)
        doubt(seen, FM_COMMAND_FILLS + i);
    *counts = fm_stat_no_counts();
    counts->references = seen->count[FM_COMMAND_REFERENCES];
    for (unsigned i = 0; i < levels; i++)
        counts->fills[i] = seen->count[FM_COMMAND_FILLS + i];
    /* What comes into the last level comes from memory, whichever number it has. */
    if (levels > 1 && counts->fills[levels - 1] < 0)
        counts->fills[levels - 1] = seen->count[last];
    counts->fetch_misses = seen->count[FM_COMMAND_FETCH_MISSES];
    counts->fetch_stalls = seen->count[FM_COMMAND_FETCH_STALLS];
    counts->cycles = seen->count[FM_COMMAND_CYCLES];
    counts->prefetched = true;
    return counts->references >= 0 && counts->fills[0] >= 0 && counts->fills[levels - 1] >= 0;
}

void fm_stat_counted_times(const struct fm_command_counts *seen, const char *meter,
                           struct fm_stat_times *times)
{
    if (seen->count[FM_COMMAND_TASK_CLOCK] < 0)
        return;
    times->cpu_s = seen->count[FM_COMMAND_TASK_CLOCK] * 1e-9;
    times->page_faults = seen->count[FM_COMMAND_PAGE_FAULTS];
    times->switches = seen->count[FM_COMMAND_SWITCHES];
    times->witness = meter;
}
