#include "machine/native/canary.h"

#include <math.h>
#include <sys/mman.h>

#include "machine/native/loops.h"

/* Pages: few enough for any first TLB, enough for a flush of it to show. */
#define PAGES 16
#define LINE  64
/* One walk is short against what it is to notice, and long against a step of the clock. */
#define SLOT_NS    20e3
#define LEAST_STEP 100
#define SLOTS      8
#define SOON       4
/* What one walk may take more than the shortest, and how many may take more than that: timer
   interrupts are everywhere. */
#define UNEVEN  1.02
#define FORGIVE 1
/* Steps to find out how long one takes. */
#define TRIAL 4096
/* Between two looks: what is soon over costs little, and what goes on is not looked at for ever. */
#define FIRST_PAUSE_NS   0.2e6
#define LONGEST_PAUSE_NS 10e6

static double walk(const struct fm_canary *canary, uint64_t steps)
{
    const struct fm_meter *clock = canary->clock;
    const struct fm_instant start = clock->ops->now(clock);
    const void *volatile end = fm_chase(canary->base, steps);
    (void)end;
    return clock->ops->elapsed_ns(clock, start, clock->ops->now(clock));
}

/* Each page's word stands a line further on than that of the page before, so that all lie in
   different sets. */
static void link_pages(struct fm_canary *canary, size_t page)
{
    for (size_t i = 0; i < PAGES; i++) {
        const size_t next = (i + 1) % PAGES;
        *(void **)(void *)(canary->base + i * page + i * LINE) =
            canary->base + next * page + next * LINE;
    }
}

void fm_canary_open(struct fm_canary *canary, const struct fm_meter *clock, size_t page)
{
    *canary = (struct fm_canary){.clock = clock, .bytes = PAGES * page};
    void *base =
        mmap(NULL, canary->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return;
    /* Small pages are more of a TLB's; refused by kernels that have no others. */
    madvise(base, canary->bytes, MADV_NOHUGEPAGE);
    canary->base = base;
    link_pages(canary, page);
    const double slot_ns = fmax(SLOT_NS, LEAST_STEP * clock->info.resolution_ns);
    walk(canary, TRIAL);
    const double each = fmax(walk(canary, TRIAL) / TRIAL, 1e-3);
    canary->steps = (uint64_t)(slot_ns / each) + 1;
}

void fm_canary_close(struct fm_canary *canary)
{
    if (canary->base)
        munmap(canary->base, canary->bytes);
    *canary = (struct fm_canary){0};
}

bool fm_canary_even(const double *ns, size_t count, size_t forgive)
{
    double least = INFINITY;
    size_t longer = 0;
    for (size_t i = 0; i < count; i++)
        least = fmin(least, ns[i]);
    for (size_t i = 0; i < count; i++)
        longer += ns[i] > UNEVEN * least;
    return longer <= forgive;
}

bool fm_canary_is_calm(const struct fm_canary *canary)
{
    double ns[SLOTS];
    if (!canary->base)
        return true;
    /* Its pages may have been driven out of every cache. */
    walk(canary, 2 * PAGES);
    for (size_t i = 0; i < SLOTS; i++) {
        ns[i] = walk(canary, canary->steps);
        /* A storm shows in every second walk or so: where none of several does, there is none. */
        if (i + 1 == SOON && fm_canary_even(ns, SOON, 0))
            return true;
    }
    return fm_canary_even(ns, SLOTS, FORGIVE);
}

bool fm_canary_wait(const struct fm_canary *canary, struct fm_patience *patience, double passed_ns)
{
    for (double pause_ns = FIRST_PAUSE_NS; fm_patience_pause(patience, pause_ns, passed_ns);
         pause_ns = fmin(2 * pause_ns, LONGEST_PAUSE_NS))
        if (fm_canary_is_calm(canary))
            return true;
    return false;
}
