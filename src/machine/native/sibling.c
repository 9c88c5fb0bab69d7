#include "machine/native/sibling.h"

#include <math.h>

#include "machine/native/loops.h"

/* One look is short against what is measured, and long against a step of the clock. */
#define LOOK_NS    130
#define LEAST_STEP 100
/* Operations to find out how long one takes, and looks to find out what they take in calm. */
#define TRIAL 4096
#define FIRST 64
/* What independent operations may take more than at the least. Another thread costs a fifth of them
   and more, a timer's interrupt spoils one of several. */
#define SHARED 1.1
#define TRIES  2
/* A chain that nothing has held up. */
#define STRAIGHT 1.03
#define PAUSE_NS 200e3

static double time_chain(const struct fm_sibling *sibling)
{
    const struct fm_meter *clock = sibling->clock;
    const struct fm_instant start = clock->ops->now(clock);
    const volatile uint64_t end = fm_operate(FM_CHAIN_ADD, sibling->operations);
    (void)end;
    return clock->ops->elapsed_ns(clock, start, clock->ops->now(clock));
}

static double time_wide(const struct fm_sibling *sibling)
{
    const struct fm_meter *clock = sibling->clock;
    const struct fm_instant start = clock->ops->now(clock);
    const volatile uint64_t end = fm_operate_wide(sibling->operations);
    (void)end;
    return clock->ops->elapsed_ns(clock, start, clock->ops->now(clock));
}

/* The shortest of several: an interrupt makes one longer. A chain that took longer than it ever
   need, all the same, would make the rest look short, and is nothing to go by later. */
static double look(struct fm_sibling *sibling)
{
    double chain = INFINITY, wide = INFINITY;
    for (int i = 0; i < TRIES; i++) {
        chain = fmin(chain, time_chain(sibling));
        wide = fmin(wide, time_wide(sibling));
    }
    const double ratio = chain > 0 ? wide / chain : INFINITY;
    sibling->chain_ns = fmin(sibling->chain_ns, chain);
    if (chain <= STRAIGHT * sibling->chain_ns)
        sibling->least = fmin(sibling->least, ratio);
    return ratio;
}

void fm_sibling_open(struct fm_sibling *sibling, const struct fm_meter *clock)
{
    *sibling = (struct fm_sibling){
        .clock = clock, .operations = TRIAL, .chain_ns = INFINITY, .least = INFINITY};
    time_chain(sibling);
    const double each = fmax(time_chain(sibling) / TRIAL, 1e-3);
    const double look_ns = fmax(LOOK_NS, LEAST_STEP * clock->info.resolution_ns);
    sibling->operations = (uint64_t)(look_ns / each) + 1;
    for (int i = 0; i < FIRST; i++)
        look(sibling);
}

static bool seems_idle(struct fm_sibling *sibling)
{
    const double ratio = look(sibling); /* it may also find a new least */
    return ratio <= SHARED * sibling->least;
}

/* What makes one look long may be over by the second. */
bool fm_sibling_is_idle(struct fm_sibling *sibling)
{
    bool idle = seems_idle(sibling);
    if (!idle)
        idle = seems_idle(sibling);
    sibling->looks++;
    sibling->busy += !idle;
    return idle;
}

bool fm_sibling_wait(struct fm_sibling *sibling, struct fm_patience *patience, double passed_ns)
{
    while (!fm_sibling_is_idle(sibling))
        if (!fm_patience_pause(patience, PAUSE_NS, passed_ns))
            return false;
    return true;
}

double fm_sibling_busy(const struct fm_sibling *sibling)
{
    return sibling->looks ? (double)sibling->busy / (double)sibling->looks : 0;
}
