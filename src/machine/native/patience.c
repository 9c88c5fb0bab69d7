#include "machine/native/patience.h"

#include <time.h>

/* The part of the time that may be spent so, and what may be at once. */
#define MOST_PART  0.33
#define AT_ONCE_NS 0.5e9

bool fm_patience_pause(struct fm_patience *patience, double pause_ns, double passed_ns)
{
    const struct timespec pause = {.tv_nsec = (long)pause_ns};
    if (patience->waited_ns >= AT_ONCE_NS + MOST_PART * passed_ns)
        return false;
    nanosleep(&pause, NULL);
    patience->waited_ns += pause_ns;
    return true;
}
