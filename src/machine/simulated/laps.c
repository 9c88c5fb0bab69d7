#include "machine/simulated/laps.h"

#include <stdint.h>
#include <string.h>

#include "core/rng.h"
#include "machine/simulated/turns.h"
#include "machine/simulated/walk.h"

/* So many laps that differ from the one before, and no more are looked at. */
#define LOOKS 6
/* Slots that are gone over in the time that a reference takes. */
#define SLOTS_A_REFERENCE 8

static const struct fm_lap_counts none;

void fm_laps_forget(struct fm_laps *laps)
{
    *laps = (struct fm_laps){.to_come = 0};
}

void fm_laps_disturb(struct fm_laps *laps)
{
    laps->whole = false;
    laps->known = false;
    laps->settled = false;
}

static struct fm_tlb_path *path_of(struct fm_walker *walker)
{
    return walker->laps.op == FM_OP_JUMP ? &walker->tlbs.code : &walker->tlbs.data;
}

static struct fm_lap_counts counters(struct fm_walker *walker)
{
    struct fm_lap_counts counts = {
        .prefetched = walker->prefetcher.prefetched,
        .decoded = walker->front.served,
        .first_seen = walker->front.first_seen,
    };
    memcpy(counts.served, walker->served, sizeof counts.served);
    memcpy(counts.tlb_missed, path_of(walker)->missed, sizeof counts.tlb_missed);
    for (unsigned i = 0; i < walker->front.btb_count; i++)
        counts.target_missed[i] = walker->front.btbs[i].missed;
    return counts;
}

static void set_counters(struct fm_walker *walker, const struct fm_lap_counts *counts)
{
    walker->prefetcher.prefetched = counts->prefetched;
    walker->front.served = counts->decoded;
    walker->front.first_seen = counts->first_seen;
    memcpy(walker->served, counts->served, sizeof counts->served);
    memcpy(path_of(walker)->missed, counts->tlb_missed, sizeof counts->tlb_missed);
    for (unsigned i = 0; i < walker->front.btb_count; i++)
        walker->front.btbs[i].missed = counts->target_missed[i];
}

/* Adds so many times what came between two readings. */
static void add(struct fm_lap_counts *sum, const struct fm_lap_counts *from,
                const struct fm_lap_counts *to, uint64_t times)
{
    sum->prefetched += times * (to->prefetched - from->prefetched);
    sum->decoded += times * (to->decoded - from->decoded);
    sum->first_seen += times * (to->first_seen - from->first_seen);
    for (unsigned i = 0; i <= FM_CACHE_LEVELS; i++)
        sum->served[i] += times * (to->served[i] - from->served[i]);
    for (unsigned i = 0; i < FM_TLB_LEVELS; i++)
        sum->tlb_missed[i] += times * (to->tlb_missed[i] - from->tlb_missed[i]);
    for (unsigned i = 0; i < FM_DESCRIBED_BTBS; i++)
        sum->target_missed[i] += times * (to->target_missed[i] - from->target_missed[i]);
}

void fm_laps_pause(struct fm_walker *walker)
{
    struct fm_laps *laps = &walker->laps;
    const struct fm_lap_counts now = counters(walker);
    add(&laps->earlier, &laps->begun, &now, 1);
    laps->begun = none;
}

/* A phase looks its first page up once more than a lap that goes on would: of a TLB that is no LRU
   this may be news. */
static bool is_seamless(struct fm_walker *walker)
{
    const struct fm_tlb_path *path = path_of(walker);
    return path->used_count <= path->first || path->used[path->first]->tags.promotes;
}

void fm_laps_resume(struct fm_walker *walker, const struct fm_round *round, enum fm_op op,
                    size_t from, uint64_t to_come)
{
    struct fm_laps *laps = &walker->laps;
    if (laps->round.words != round->words || laps->round.count != round->count || laps->op != op)
        *laps = (struct fm_laps){.round = *round, .op = op};
    laps->to_come = to_come;
    if (from == 0) {
        laps->whole = true;
        laps->earlier = none;
    }
    laps->settled &= is_seamless(walker);
}

/* Whether a lap can be known by the rows of its sets: nothing is lost by chance or dirty, what
   comes unasked is part of a block around what was asked for, and pages stay what they are. */
static bool is_plain(struct fm_walker *walker, const struct fm_lap_counts *lap)
{
    const struct fm_tlbs *tlbs = &walker->tlbs;
    const enum fm_op op = walker->laps.op;
    const unsigned tlb_count = path_of(walker)->used_count;
    const bool walks = tlb_count > 0 && lap->tlb_missed[tlb_count - 1] > 0;
    const bool growing = tlbs->growth.misses && !tlbs->grown_shift;
    const bool alone = !walker->prefetcher.kinds || fm_prefetcher_pairs(&walker->prefetcher);
    const bool loads = (op == FM_OP_LOAD || op == FM_OP_LOAD_REAL) && alone;
    return (loads || op == FM_OP_JUMP) && walker->clock.until_pollution == UINT64_MAX &&
           !(walks && (growing || walker->cold_extra > 0)) &&
           !fm_hierarchy_is_dirty(&walker->hierarchy);
}

/* The levels that are asked, and the cache of one. */
static unsigned levels_of(const struct fm_walker *walker)
{
    return walker->laps.op == FM_OP_JUMP ? fm_hierarchy_code_levels(&walker->hierarchy)
                                         : walker->hierarchy.count;
}

static struct fm_cache *cache_at(struct fm_walker *walker, unsigned level)
{
    struct fm_hierarchy *hierarchy = &walker->hierarchy;
    const bool own = walker->laps.op == FM_OP_JUMP && level < hierarchy->code_count;
    return own ? &hierarchy->code[level] : &hierarchy->caches[level];
}

/* Whether a level may lose lines otherwise than to others that take their place: it gives them
   away, or one outside it that holds all that it does made room in this lap. */
static bool drops(struct fm_walker *walker, unsigned level, const struct fm_lap_counts *lap)
{
    uint64_t missed = lap->served[levels_of(walker)];
    bool inclusive = false;
    for (unsigned i = levels_of(walker); i-- > level + 1;) {
        inclusive |= cache_at(walker, i)->inclusive && missed > 0;
        missed += lap->served[i];
    }
    return inclusive || cache_at(walker, level)->exclusive;
}

/* What a lap has asked: a level that it did not come to is as it was. */
struct asked {
    struct fm_cache *caches[FM_CACHE_LEVELS];
    bool drops[FM_CACHE_LEVELS];
    struct fm_tlb_level *tlbs[FM_TLB_LEVELS];
    const struct fm_tags *fronts[FM_DESCRIBED_BTBS + 1];
    unsigned cache_count, tlb_count, front_count;
};

static void list_tlbs(struct fm_walker *walker, const struct fm_lap_counts *lap,
                      struct asked *asked)
{
    const struct fm_tlb_path *path = path_of(walker);
    uint64_t came = walker->laps.round.count;
    for (unsigned i = path->first; i < path->used_count && came > 0; i++) {
        asked->tlbs[asked->tlb_count++] = path->used[i];
        came = lap->tlb_missed[i];
    }
}

static void list_caches(struct fm_walker *walker, const struct fm_lap_counts *lap,
                        struct asked *asked)
{
    const unsigned levels = levels_of(walker);
    uint64_t came = 0;
    for (unsigned i = 0; i <= levels; i++)
        came += lap->served[i];
    for (unsigned i = 0; i < levels && came > 0; i++) {
        asked->drops[i] = drops(walker, i, lap);
        asked->caches[asked->cache_count++] = cache_at(walker, i);
        came -= lap->served[i];
    }
}

static void list_front(struct fm_front *front, struct asked *asked)
{
    for (unsigned i = 0; i < front->btb_count; i++)
        asked->fronts[asked->front_count++] = &front->btbs[i].tags;
    if (front->has_ops)
        asked->fronts[asked->front_count++] = &front->ops;
}

static struct asked list_asked(struct fm_walker *walker, const struct fm_lap_counts *lap)
{
    struct asked asked = {.cache_count = 0};
    list_tlbs(walker, lap, &asked);
    list_caches(walker, lap, &asked);
    if (walker->laps.op == FM_OP_JUMP)
        list_front(&walker->front, &asked);
    return asked;
}

static uint64_t slots_of(const struct fm_tags *tags, size_t count)
{
    return (uint64_t)tags->ways * (tags->sets < count ? tags->sets : count);
}

/* Slots that a fingerprint goes over, about. */
static uint64_t cost_of(const struct asked *asked, size_t count)
{
    uint64_t slots = 0;
    for (unsigned i = 0; i < asked->tlb_count; i++)
        slots += slots_of(&asked->tlbs[i]->tags, count);
    for (unsigned i = 0; i < asked->cache_count; i++)
        slots += slots_of(&asked->caches[i]->tags, count);
    for (unsigned i = 0; i < asked->front_count; i++)
        slots += slots_of(asked->fronts[i], SIZE_MAX);
    return slots;
}

static uint64_t take_fingerprint(struct fm_walker *walker, const struct asked *asked)
{
    const struct fm_round *round = &walker->laps.round;
    uint64_t print = path_of(walker)->last_piece + fm_mix64(walker->front.seen_count);
    for (unsigned i = 0; i < asked->tlb_count; i++)
        print = fm_mix64(print) + fm_fingerprint_tlb(asked->tlbs[i], &walker->tlbs, round);
    for (unsigned i = 0; i < asked->cache_count; i++)
        print = fm_mix64(~print) +
                fm_fingerprint_cache(asked->caches[i], &walker->placement, round, asked->drops[i]);
    for (unsigned i = 0; i < asked->front_count; i++)
        print = fm_mix64(print ^ i) + fm_fingerprint_tags(asked->fronts[i]);
    return print;
}

uint64_t fm_laps_skip(struct fm_walker *walker, uint64_t left)
{
    struct fm_laps *laps = &walker->laps;
    const uint64_t times = left / laps->round.count;
    if (!laps->settled || times == 0)
        return 0;
    const struct fm_tlb_path *path = path_of(walker);
    struct fm_lap_counts counts = counters(walker);
    add(&counts, &none, &laps->same, times);
    add(&laps->begun, &none, &laps->same, times);
    set_counters(walker, &counts);
    for (unsigned i = 0; i < laps->turning_count; i++)
        fm_turns_apply(laps->turning[i], times);
    if (path->used_count)
        walker->tlbs.walks += times * laps->same.tlb_missed[path->used_count - 1];
    return times * laps->round.count;
}

/* Of what is known by the order of its trees alone, how a lap moves that: noted after one lap and
   learnt after the next. */
static void follow_turns(struct fm_laps *laps, const struct asked *asked)
{
    laps->turning_count = 0;
    for (unsigned i = 0; i < asked->cache_count; i++)
        if (asked->caches[i]->tags.turn && !asked->drops[i])
            laps->turning[laps->turning_count++] = &asked->caches[i]->tags;
    for (unsigned i = 0; i < asked->tlb_count; i++)
        if (asked->tlbs[i]->tags.turn)
            laps->turning[laps->turning_count++] = &asked->tlbs[i]->tags;
    for (unsigned i = 0; i < laps->turning_count; i++)
        (laps->settled ? fm_turns_learn : fm_turns_note)(laps->turning[i]);
}

/* Whether a fingerprint is worth taking: after the lap that confirms it one more is to come, and
   what these save is more than two fingerprints cost. Where one was taken for nothing, laps must at
   least have come to agree in what they count. */
static bool is_worthwhile(const struct fm_laps *laps, const struct fm_lap_counts *lap,
                          const struct asked *asked, uint64_t left)
{
    const uint64_t to_come = left + laps->to_come, count = laps->round.count;
    const bool alike = memcmp(lap, &laps->same, sizeof *lap) == 0;
    return laps->looks < LOOKS && (laps->looks == 0 || alike) &&
           to_come >= (laps->known ? 1 : 2) * count &&
           to_come >= 2 * cost_of(asked, count) / SLOTS_A_REFERENCE;
}

uint64_t fm_laps_end(struct fm_walker *walker, uint64_t left)
{
    struct fm_laps *laps = &walker->laps;
    const struct fm_lap_counts now = counters(walker);
    struct fm_lap_counts lap = laps->earlier;
    add(&lap, &laps->begun, &now, 1);
    if (!laps->settled) {
        const struct asked asked = list_asked(walker, &lap);
        const bool look =
            laps->whole && is_plain(walker, &lap) && is_worthwhile(laps, &lap, &asked, left);
        const uint64_t print = look ? take_fingerprint(walker, &asked) : 0;
        laps->settled = look && laps->known && print == laps->fingerprint;
        if (look)
            follow_turns(laps, &asked);
        laps->looks += laps->known && !laps->settled;
        laps->same = lap;
        laps->known = look;
        laps->fingerprint = print;
    }
    laps->whole = true;
    laps->begun = now;
    laps->earlier = none;
    return fm_laps_skip(walker, left);
}
