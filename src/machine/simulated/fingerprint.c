#include "machine/simulated/fingerprint.h"

#include "core/rng.h"
#include "policy/plru.h"

/* One thing at a place, for a sum. */
static inline uint64_t at_place(uint64_t thing, uint64_t place)
{
    const uint64_t mixed = (thing + (place << 48)) * 0x9e3779b97f4a7c15u;
    return (mixed ^ mixed >> 29 ^ place) * 0xd6e8feb86659fd93u;
}

/* What a slot holds; of a cache that must know its lines by more than their tags, that too. */
static inline uint64_t slot_of(const struct fm_tags *tags, size_t slot, const struct fm_cache *more)
{
    const uint64_t tag = tags->tag[slot];
    if (FM_LIKELY(!more) || tag == FM_EMPTY)
        return tag;
    const uint64_t alias = more->tied && more->named ? more->alias[slot] : 0;
    return fm_mix64(tag | alias << 32) ^ (more->in_parts ? more->parts[slot] : 0);
}

/* What two slots hold, of a pair of places. */
static inline uint64_t print_pair(const struct fm_tags *tags, size_t a, size_t b,
                                  const struct fm_cache *more, uint32_t place)
{
    if (FM_LIKELY(!more))
        return at_place(tags->tag[a] | (uint64_t)tags->tag[b] << 32, place);
    return at_place(slot_of(tags, a, more), place) + at_place(slot_of(tags, b, more), place + 1);
}

static uint64_t print_ordered(const struct fm_tags *tags, const uint64_t *state, size_t base,
                              const struct fm_cache *more)
{
    uint64_t sum = 0;
    uint32_t way = 0;
    for (uint32_t i = 0; i < tags->ways; i++) {
        way = fm_order_way_at(state, tags->ways, i, way);
        sum += at_place(slot_of(tags, base + way, more), i);
    }
    return sum;
}

static uint64_t print_packed(const struct fm_tags *tags, uint64_t order, size_t base,
                             const struct fm_cache *more)
{
    uint64_t sum = 0;
    uint32_t i = 0;
    for (; i + 1 < tags->ways; i += 2, order >>= 8)
        sum += print_pair(tags, base + (order & 15), base + (order >> 4 & 15), more, i);
    return i < tags->ways ? sum + at_place(slot_of(tags, base + (order & 15), more), i) : sum;
}

static uint64_t print_as_it_stands(const struct fm_tags *tags, const uint64_t *state, size_t base,
                                   const struct fm_cache *more)
{
    uint64_t sum = 0;
    uint32_t i = 0;
    for (; i + 1 < tags->ways; i += 2)
        sum += print_pair(tags, base + i, base + i + 1, more, i);
    if (i < tags->ways)
        sum += at_place(slot_of(tags, base + i, more), i);
    for (uint32_t word = 0; word < tags->words; word++)
        sum += at_place(state[word], tags->ways + word);
    return sum;
}

static uint64_t print_row(const struct fm_tags *tags, uint32_t set, const struct fm_cache *more,
                          bool drops)
{
    const uint64_t *state = tags->state + (size_t)set * tags->words;
    const size_t base = (size_t)set * tags->stride;
    uint64_t sum;
    if (tags->packed)
        sum = print_packed(tags, state[0], base, more);
    else if (tags->ordered)
        sum = print_ordered(tags, state, base, more);
    else if (tags->turn && !drops && state[0] == 0)
        sum = print_packed(tags, fm_plru_tree_order(state[1], tags->ways), base, more);
    else
        sum = print_as_it_stands(tags, state, base, more);
    return fm_mix64(sum ^ set);
}

/* The lots that will be drawn; 0 if none are. */
static uint64_t lots(const struct fm_tags *tags)
{
    uint64_t print = 0;
    for (size_t i = 0; i < sizeof tags->rng.state / sizeof tags->rng.state[0]; i++)
        print += tags->policy.draws ? at_place(tags->rng.state[i], i) : 0;
    return print;
}

/* All sets. */
static uint64_t print_all(const struct fm_tags *tags, const struct fm_cache *more, bool drops)
{
    uint64_t sum = 0;
    for (uint32_t set = 0; set < tags->sets; set++)
        sum += print_row(tags, set, more, drops);
    return sum;
}

static unsigned batch_of(const struct fm_placement *placement, const struct fm_round *round,
                         size_t from, struct fm_address *batch)
{
    const size_t left = round->count - from;
    const unsigned count = left < FM_BATCH ? (unsigned)left : FM_BATCH;
    for (unsigned i = 0; i < count; i++) {
        const uint64_t at = (uint64_t)round->words[from + i] * FM_WORD;
        batch[i] = fm_placement_address(placement, at & ~(round->block - 1));
    }
    return count;
}

/* Those sets that a round comes to. */
static uint64_t print_visited(struct fm_cache *cache, const struct fm_cache *more,
                              const struct fm_placement *placement, const struct fm_round *round,
                              bool drops)
{
    const uint64_t line = (uint64_t)1 << cache->shift;
    struct fm_address batch[FM_BATCH];
    struct fm_batch lines;
    uint64_t sum = 0;
    fm_tags_begin_visits(&cache->tags);
    for (size_t done = 0; done < round->count; done += FM_BATCH) {
        const unsigned count = batch_of(placement, round, done, batch);
        /* Where a span begins within a line it may end in one more. */
        for (uint64_t at = 0; at < round->span + (round->block < line ? line - 1 : 0); at += line) {
            fm_cache_aim(cache, batch, count, &lines, true);
            for (unsigned i = 0; i < count; i++) {
                if (fm_tags_visit(&cache->tags, lines.sets[i]))
                    sum += print_row(&cache->tags, lines.sets[i], more, drops);
                batch[i].virtual += line;
                batch[i].physical += line;
            }
        }
    }
    return sum;
}

uint64_t fm_fingerprint_tags(const struct fm_tags *tags)
{
    return lots(tags) + print_all(tags, NULL, true);
}

uint64_t fm_fingerprint_cache(struct fm_cache *cache, const struct fm_placement *placement,
                              const struct fm_round *round, bool drops)
{
    /* What must be known of a line beside its tag; NULL: nothing. */
    const bool more = (cache->tied && cache->named) || cache->in_parts;
    const uint64_t sum = lots(&cache->tags);
    if (round->count >= cache->tags.sets)
        return sum + print_all(&cache->tags, more ? cache : NULL, drops || more);
    return sum + print_visited(cache, more ? cache : NULL, placement, round, drops || more);
}

uint64_t fm_fingerprint_tlb(struct fm_tlb_level *tlb, const struct fm_tlbs *tlbs,
                            const struct fm_round *round)
{
    struct fm_tags *tags = &tlb->tags;
    uint64_t sum = lots(tags);
    if (round->count >= tags->sets)
        return sum + print_all(tags, NULL, false);
    fm_tags_begin_visits(tags);
    for (size_t i = 0; i < round->count; i++) {
        const uint64_t piece = (uint64_t)round->words[i] * FM_WORD >> tlbs->piece_shift;
        const uint32_t set = fm_tlb_set(tlbs, tlb, (uint32_t)piece);
        if (fm_tags_visit(tags, set))
            sum += print_row(tags, set, NULL, false);
    }
    return sum;
}
