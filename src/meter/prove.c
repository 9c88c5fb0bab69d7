#include "meter/prove.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "core/rng.h"

/* Far more than any first level holds, and than most last ones do. */
#define BYTES ((size_t)64 << 20)
/* Loads of the shorter of two runs; the other is twice as long. */
#define LOADS 4096
/* No two loads of a run are closer than this: each is another line, and another page. */
#define APART (BYTES / (2 * LOADS))
/* Of the misses that double the work should add, so many must be seen at least; and no more than
   so many for each load: walks through page tables and other work miss too. */
#define LEAST_GROWTH 0.25
#define MOST_MISSES  1.5
#define TRIES        3

/* Loads each of `count` places once, in an order that no prefetcher follows. What is loaded is
   used: valgrind leaves out loads whose value is overwritten unread. */
static void touch(const unsigned char *memory, const uint32_t *places, size_t count)
{
    unsigned all = 0;
    for (size_t i = 0; i < count; i++)
        all |= *(const volatile unsigned char *)(memory + (size_t)places[i] * APART);
    __asm__ volatile("" : : "r"(all));
}

static bool count_once(struct fm_tally *tally, const unsigned char *memory, const uint32_t *places,
                       size_t loads, struct fm_counts *counts, struct fm_error *err)
{
    if (!tally->ops->prepare(tally, 1, err))
        return false;
    tally->ops->start(tally);
    touch(memory, places, loads);
    tally->ops->stop(tally);
    return tally->ops->collect(tally, counts, 1, err);
}

/* The least of a few runs: whatever else happens adds misses. Between them the other places are
   touched, so that each begins with these out of the caches. */
static bool least_of(struct fm_tally *tally, const unsigned char *memory, const uint32_t *places,
                     size_t loads, double least[FM_EVENTS], struct fm_error *err)
{
    for (unsigned bit = 0; bit < FM_EVENTS; bit++)
        least[bit] = -1;
    for (int i = 0; i < TRIES; i++) {
        struct fm_counts counts;
        for (size_t at = 0; at < BYTES; at += 64)
            (void)*(const volatile unsigned char *)(memory + at);
        if (!count_once(tally, memory, places, loads, &counts, err))
            return false;
        for (unsigned bit = 0; bit < FM_EVENTS; bit++) {
            const double count = (double)fm_event_count(&counts, bit);
            if (least[bit] < 0 || count < least[bit])
                least[bit] = count;
        }
    }
    return true;
}

static void judge(struct fm_tally *tally, unsigned bit, double few, double many, char *why,
                  size_t size)
{
    if (many > MOST_MISSES * 2 * LOADS)
        snprintf(why, size, "counted %.0f misses of %d loads", many, 2 * LOADS);
    else if (many - few < LEAST_GROWTH * LOADS)
        snprintf(why, size, "counted %.0f misses of %d loads and %.0f of %d", few, LOADS, many,
                 2 * LOADS);
    else
        return;
    tally->info.events &= ~(1u << bit);
}

static uint32_t *shuffled_places(size_t count)
{
    uint32_t *places = malloc(count * sizeof *places);
    struct fm_rng rng;
    for (size_t i = 0; places && i < count; i++)
        places[i] = (uint32_t)i;
    fm_rng_seed(&rng, 1);
    if (places)
        fm_rng_shuffle(&rng, places, count);
    return places;
}

bool fm_tally_prove(struct fm_tally *tally, struct fm_proof *proof, struct fm_error *err)
{
    double few[FM_EVENTS], many[FM_EVENTS];
    unsigned char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    uint32_t *places = shuffled_places(2 * LOADS);
    *proof = (struct fm_proof){0};
    bool good = memory != MAP_FAILED && places;
    if (!good)
        fm_fail(err, FM_ERR_NO_MEMORY, "no memory to try the counters on");
    good = good && least_of(tally, memory, places, LOADS, few, err) &&
           least_of(tally, memory, places, 2 * LOADS, many, err);
    /* Those of code are tried where code is run. */
    for (unsigned bit = 0; bit < FM_CODE_EVENT && good; bit++)
        if (tally->info.events & 1u << bit)
            judge(tally, bit, few[bit], many[bit], proof->why[bit], sizeof proof->why[bit]);
    free(places);
    if (memory != MAP_FAILED)
        munmap(memory, BYTES);
    return good;
}
