#include "analysis/lap.h"

#include <math.h>
#include <string.h>

/* Laps until a deterministic policy must have come round to a state that it has been in. Most do in
   one or two. */
#define MOST_LAPS 64
/* A policy that draws lots is given time to forget, and misses enough for their mean … */
#define WARM_MISSES 300
#define MEAN_MISSES 3000
/* … whose error this covers. */
#define LOTS 0.04
/* What histories that nobody thought of may add, a set in thirty perhaps. */
#define RARE 0.03
/* One that seldom wins may stay with a history for long; so many of them must do. */
#define DRAWN_HISTORIES 20u

#define STATE_WORDS (FM_LAP_WAYS + 1)
#define NOWHERE     UINT16_MAX

/* One set: where each block is, what each way holds, and the policy's state. */
struct set {
    struct fm_policy policy;
    unsigned ways;
    uint16_t way_of[2 * FM_LAP_BLOCKS]; /* the upper half: blocks that are not in the lap */
    uint16_t block_in[FM_LAP_WAYS];
    uint64_t state[STATE_WORDS];
    size_t words;
    struct fm_rng rng;
};

static void set_open(struct set *set, enum fm_replacement replacement, unsigned ways, uint64_t seed)
{
    set->policy = fm_policy_of(replacement);
    set->ways = ways;
    set->words = set->policy.words(ways);
    set->policy.reset(set->state, ways);
    memset(set->way_of, 0xff, sizeof set->way_of);
    memset(set->block_in, 0xff, sizeof set->block_in);
    fm_rng_seed(&set->rng, seed);
}

static void set_take_in(struct set *set, uint16_t block)
{
    const uint32_t way = set->policy.victim(&set->policy, set->state, set->ways, &set->rng);
    set->policy.fill(&set->policy, set->state, set->ways, way, &set->rng);
    if (set->block_in[way] != NOWHERE)
        set->way_of[set->block_in[way]] = NOWHERE;
    set->block_in[way] = block;
    set->way_of[block] = (uint16_t)way;
}

/* Whether it missed. */
static inline bool set_use(struct set *set, uint16_t block)
{
    const uint16_t way = set->way_of[block];
    if (way == NOWHERE)
        set_take_in(set, block);
    else if (set->policy.hit)
        set->policy.hit(&set->policy, set->state, set->ways, way);
    return way == NOWHERE;
}

static unsigned set_run(struct set *set, const struct fm_lap *lap)
{
    unsigned misses = 0;
    for (unsigned i = 0; i < lap->length; i++)
        misses += set_use(set, lap->block[i]);
    return misses;
}

static bool same(const struct set *a, const struct set *b)
{
    return memcmp(a->block_in, b->block_in, a->ways * sizeof *a->block_in) == 0 &&
           memcmp(a->state, b->state, a->words * sizeof *a->state) == 0;
}

/* Other blocks, in any order, with hits among them. */
static void live_through(struct set *set, struct fm_rng *rng)
{
    const unsigned others = set->ways + set->ways / 2 + 2;
    for (unsigned i = 0; i < 6 * set->ways; i++)
        set_use(set, (uint16_t)(FM_LAP_BLOCKS + fm_rng_below(rng, others)));
}

/* Flushed: a part of the lines is gone, but not all that was remembered of them. */
static void lose(struct set *set, unsigned percent, struct fm_rng *rng)
{
    for (unsigned way = 0; way < set->ways; way++) {
        if (set->block_in[way] == NOWHERE || fm_rng_below(rng, 100) >= percent)
            continue;
        set->way_of[set->block_in[way]] = NOWHERE;
        set->block_in[way] = NOWHERE;
        set->policy.drop(set->state, set->ways, way);
    }
}

/* The mean over the laps from one state to the same again. */
static double periodic(struct set *set, const struct fm_lap *lap)
{
    struct set seen = *set;
    unsigned misses = 0, laps = 0;
    /* The state to come back to is renewed at each power of two (Brent 1980). */
    for (unsigned all = 0, power = 1; all < MOST_LAPS; all++) {
        misses += set_run(set, lap);
        laps++;
        if (same(set, &seen))
            break;
        if (laps == power) {
            seen = *set;
            power *= 2;
            misses = laps = 0;
        }
    }
    return laps ? (double)misses / laps : set_run(set, lap);
}

static double drawn(struct set *set, const struct fm_lap *lap)
{
    unsigned misses = 0, laps = 0;
    for (unsigned warm = 0, i = 0; warm < WARM_MISSES && i < WARM_MISSES; i++)
        warm += set_run(set, lap);
    const unsigned enough = set->policy.rarely ? MEAN_MISSES / 4 : MEAN_MISSES;
    for (; misses < enough && laps < enough; laps++)
        misses += set_run(set, lap);
    return (double)misses / laps;
}

struct fm_lap_misses fm_lap_predict(const struct fm_lap *lap, enum fm_replacement replacement,
                                    unsigned ways, unsigned histories, uint64_t seed)
{
    const struct fm_policy policy = fm_policy_of(replacement);
    struct fm_lap_misses found = {.low = INFINITY, .high = 0};
    struct fm_rng rng;
    struct set set;
    fm_rng_seed(&rng, seed);
    if (policy.draws)
        histories = !policy.rarely ? 1 : histories < DRAWN_HISTORIES ? histories : DRAWN_HISTORIES;
    for (unsigned i = 0; i < histories; i++) {
        set_open(&set, replacement, ways, seed);
        live_through(&set, &rng);
        lose(&set, i % 5 * 25, &rng);
        /* A set joins the lap anywhere. */
        for (unsigned at = (unsigned)fm_rng_below(&rng, lap->length); at < lap->length; at++)
            set_use(&set, lap->block[at]);
        const double misses = policy.draws ? drawn(&set, lap) : periodic(&set, lap);
        found.low = fmin(found.low, misses);
        found.high = fmax(found.high, misses);
    }
    const double slack = policy.draws ? LOTS : RARE;
    return (struct fm_lap_misses){found.low * (1 - slack), found.high * (1 + slack)};
}

void fm_lap_cycle(struct fm_lap *lap, unsigned blocks)
{
    lap->blocks = lap->length = blocks;
    for (unsigned i = 0; i < blocks; i++)
        lap->block[i] = (uint16_t)i;
}

/* A block that may come next: not the one before, nor one that has come up often enough. */
static unsigned another(const unsigned *left, unsigned blocks, unsigned before, struct fm_rng *rng)
{
    const unsigned from = (unsigned)fm_rng_below(rng, blocks);
    for (unsigned i = 0; i < blocks; i++) {
        const unsigned block = (from + i) % blocks;
        if (left[block] && block != before)
            return block;
    }
    return blocks;
}

void fm_lap_draw(struct fm_lap *lap, unsigned ways, unsigned visits, struct fm_rng *rng)
{
    /* A few more blocks than fit: with many more, all policies miss nearly always. */
    const unsigned blocks = ways + 1 + (unsigned)fm_rng_below(rng, ways / 2 + 2);
    const unsigned longest = blocks * visits < 3 * blocks ? blocks * visits : 3 * blocks;
    const unsigned most = longest < FM_LAP_MOST ? longest : FM_LAP_MOST;
    const unsigned wanted = blocks + (unsigned)fm_rng_below(rng, most - blocks + 1);
    unsigned left[FM_LAP_BLOCKS] = {0};
    for (unsigned i = 0; i < blocks; i++)
        left[i] = 1;
    for (unsigned more = wanted - blocks; more; more--) {
        const unsigned block = (unsigned)fm_rng_below(rng, blocks);
        left[block] += left[block] < visits;
    }
    lap->blocks = blocks;
    lap->length = 0;
    for (unsigned before = blocks; lap->length < FM_LAP_MOST;) {
        before = another(left, blocks, before, rng);
        if (before == blocks)
            break;
        left[before]--;
        lap->block[lap->length++] = (uint16_t)before;
    }
}
