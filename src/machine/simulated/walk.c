#include "machine/simulated/walk.h"

#include <string.h>

bool fm_walker_open(struct fm_walker *walker, const struct fm_description *description,
                    uint64_t seed, struct fm_error *err)
{
    const uint64_t page = description->page_size;
    *walker = (struct fm_walker){.base_page = page,
                                 .walk_latency = description->walk_latency,
                                 .memory_latency = description->memory_latency};
    if (!(description->clock_mhz > 0))
        return fm_fail(err, FM_ERR_USAGE, "%s: clock_mhz must be above 0", description->name);
    if (page == 0 || page & (page - 1))
        return fm_fail(err, FM_ERR_USAGE, "%s: page_size must be a power of two",
                       description->name);
    if (description->cold_walk_latency > 0)
        walker->cold_extra = description->cold_walk_latency - description->walk_latency;
    /* Streams of their own, so that switching noise on leaves the placements as they were. */
    if (!fm_hierarchy_open(&walker->hierarchy, description, fm_mix64(seed ^ 1), err) ||
        !fm_tlbs_open(&walker->tlbs, description, err) ||
        !fm_front_open(&walker->front, description, err))
        return false;
    fm_placement_open(&walker->placement, description, &walker->hierarchy, fm_mix64(seed ^ 2));
    fm_sim_clock_open(&walker->clock, description, fm_mix64(seed ^ 3));
    return fm_prefetcher_open(&walker->prefetcher, description, &walker->hierarchy, err);
}

void fm_walker_close(struct fm_walker *walker)
{
    fm_hierarchy_close(&walker->hierarchy);
    fm_tlbs_close(&walker->tlbs);
    fm_front_close(&walker->front);
    fm_placement_close(&walker->placement);
    fm_prefetcher_close(&walker->prefetcher);
}

/* A page is a power of two and at least a line, the largest of which is the outermost. */
static bool fits(const struct fm_hierarchy *hierarchy, uint64_t page)
{
    return (page & (page - 1)) == 0 && page >> hierarchy->caches[hierarchy->count - 1].shift;
}

bool fm_walker_place(struct fm_walker *walker, uint64_t bytes, uint64_t page_size,
                     struct fm_error *err)
{
    if (page_size != walker->base_page &&
        !(fm_tlbs_hold(&walker->tlbs, page_size) && fits(&walker->hierarchy, page_size)))
        return fm_fail(err, FM_ERR_UNSUPPORTED,
                       "pages of %llu bytes: no TLB of the simulated machine holds them",
                       (unsigned long long)page_size);
    if (!fm_placement_draw(&walker->placement, bytes, (uint32_t)__builtin_ctzll(page_size), err))
        return false;
    /* The clock's pages lie behind the arena. */
    if (!fm_tlbs_prepare(&walker->tlbs, bytes + walker->clock.noise.timer_pages * page_size,
                         page_size, err))
        return false;
    fm_front_forget(&walker->front);
    fm_prefetcher_forget(&walker->prefetcher);
    return true;
}

/* Loads that are independent of each other, taken at once rather than one by one. */
#define WORTHWHILE 16

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A page has so many bytes in the page table. */
#define TABLE_ENTRY 8

/* The caches that hold lines of the page table, from this one outward: a walker sits beside level
   2. One that only victims fill cannot take them. */
static unsigned table_level(const struct fm_hierarchy *hierarchy)
{
    for (unsigned level = 1; level < hierarchy->count; level++)
        if (!hierarchy->caches[level].exclusive)
            return level;
    return 0;
}

/* Walks read their line of the page table through the caches, where it lies among the data. The
   table is beyond all memory that arenas can have. */
static void read_tables(struct fm_walker *walker, const uint32_t *pieces, unsigned count)
{
    struct fm_hierarchy *hierarchy = &walker->hierarchy;
    const unsigned first = table_level(hierarchy);
    const uint32_t page_shift = walker->placement.page_shift - walker->tlbs.piece_shift;
    uint32_t sets[FM_CACHE_LEVELS];
    for (unsigned i = 0; i < count; i++) {
        const uint64_t at = ((uint64_t)1 << walker->placement.space_shift) +
                            (uint64_t)(pieces[i] >> page_shift) * TABLE_ENTRY;
        const struct fm_address line = {at, at};
        for (unsigned level = first; level < hierarchy->count; level++)
            sets[level] = fm_cache_set(&hierarchy->caches[level], line);
        walker->cold_walks +=
            fm_hierarchy_fetch(hierarchy, line, sets, first, first, false) == hierarchy->count;
    }
}

/* A piece that repeats the one before is in the first TLB, and newest there: only changes count. */
static void look_up_pages(struct fm_walker *walker, struct fm_tlb_path *path, const uint32_t *words,
                          unsigned count)
{
    const uint32_t shift = walker->tlbs.piece_shift;
    uint32_t last = path->last_piece;
    struct fm_batch pieces;
    unsigned changes = 0;
    for (unsigned i = 0; i < count; i++) {
        const uint32_t piece = (uint32_t)((uint64_t)words[i] * FM_WORD >> shift);
        pieces.tags[changes] = piece;
        changes += piece != last;
        last = piece;
    }
    path->last_piece = last;
    const unsigned walks = fm_tlbs_pass(&walker->tlbs, path, &pieces, changes);
    if (walker->cold_extra > 0)
        read_tables(walker, pieces.tags, walks);
}

void fm_walker_read_clock(struct fm_walker *walker)
{
    struct fm_tlb_path *path = &walker->tlbs.data;
    const uint32_t count = walker->clock.noise.timer_pages;
    const uint32_t arena = (uint32_t)(walker->placement.bytes >> walker->tlbs.piece_shift);
    const uint32_t page_shift = walker->placement.page_shift - walker->tlbs.piece_shift;
    struct fm_batch pieces;
    if (!count || !path->used_count)
        return;
    for (uint32_t i = 0; i < count; i++)
        pieces.tags[i] = arena + (i << page_shift);
    path->last_piece = pieces.tags[count - 1];
    fm_laps_disturb(&walker->laps);
    fm_tlbs_pass(&walker->tlbs, path, &pieces, count);
}

/* No cache depends on a TLB, so a batch can be translated before it is looked up. */
static void translate(struct fm_walker *walker, const uint32_t *words, unsigned count,
                      struct fm_address *batch)
{
    if (walker->tlbs.data.used_count)
        look_up_pages(walker, &walker->tlbs.data, words, count);
    for (unsigned i = 0; i < count; i++)
        batch[i] = fm_placement_address(&walker->placement, (uint64_t)words[i] * FM_WORD);
}

/* Levels whose stores stream look at how many whole lines the stores before this one have covered
   without a gap. */
static void follow_stores(struct fm_walker *walker, uint64_t at)
{
    if (at != walker->run_to)
        walker->run_from = at;
    walker->run_to = at + FM_WORD;
    for (unsigned i = 0; i < walker->hierarchy.count; i++) {
        struct fm_cache *cache = &walker->hierarchy.caches[i];
        const uint64_t first =
            (walker->run_from + ((uint64_t)1 << cache->shift) - 1) >> cache->shift;
        const uint64_t line = at >> cache->shift;
        cache->streamed = cache->streaming && line >= first + cache->streaming;
    }
}

/* One reference, in a way that is right for every machine; returns the level that served it. */
static unsigned refer(struct fm_walker *walker, struct fm_address at, bool store)
{
    struct fm_hierarchy *hierarchy = &walker->hierarchy;
    uint32_t sets[FM_CACHE_LEVELS] = {0};
    for (unsigned level = 0; level < hierarchy->count; level++)
        sets[level] = fm_cache_set(&hierarchy->caches[level], at);
    if (store)
        follow_stores(walker, at.virtual);
    const unsigned served =
        fm_hierarchy_fetch(hierarchy, at, sets, walker->first, walker->first, store);
    walker->served[served]++;
    if (hierarchy->sectored)
        fm_hierarchy_bring_sectors(hierarchy, at, served, walker->first, store);
    if (store) {
        walker->passed[served] += !fm_hierarchy_allocates(hierarchy, served);
        fm_hierarchy_write(hierarchy, at);
    }
    if (walker->prefetcher.kinds)
        fm_prefetcher_see(&walker->prefetcher, at, served);
    return served;
}

/* Hits in level 1 from the batch's number `done` on that concern no other part; returns how far
   they go. */
static unsigned hit(struct fm_walker *walker, const struct fm_batch *lines, unsigned done,
                    unsigned count)
{
    const unsigned end = fm_tags_hits(&walker->hierarchy.caches[0].tags, lines, done, count);
    walker->served[0] += end - done;
    return end;
}

/* Fetches what a batch that mostly misses will look up in the outer levels, one by one. */
static void fetch_ahead(const struct fm_hierarchy *hierarchy, const struct fm_address *batch,
                        unsigned count)
{
    struct fm_batch lines;
    for (unsigned level = 1; level < hierarchy->count; level++)
        fm_cache_aim(&hierarchy->caches[level], batch, count, &lines, true);
}

/* A batch of loads or stores, as many at once as the machine allows. */
static void refer_all(struct fm_walker *walker, struct fm_address *batch, unsigned count,
                      bool store)
{
    struct fm_hierarchy *hierarchy = &walker->hierarchy;
    const unsigned prefetch = walker->prefetcher.kinds;
    const bool pairs = fm_prefetcher_pairs(&walker->prefetcher);
    const bool layered =
        !store && (!prefetch || pairs) && fm_hierarchy_is_layered(hierarchy, pairs);
    if (layered && !hierarchy->inclusive) {
        walker->prefetcher.prefetched +=
            fm_hierarchy_pass(hierarchy, batch, count, pairs, walker->served);
        return;
    }
    const bool hits_first = !store && !(prefetch & FM_PREFETCH_STRIDE) && !walker->missing &&
                            !hierarchy->caches[0].in_parts;
    const uint64_t hits = walker->served[0];
    struct fm_batch lines;
    unsigned alone = 0;
    if (hits_first)
        fm_cache_aim(&hierarchy->caches[0], batch, count, &lines, false);
    if (walker->missing && !layered)
        fetch_ahead(hierarchy, batch, count);
    for (unsigned done = 0; done < count;) {
        if (hits_first)
            done = hit(walker, &lines, done, count);
        if (layered && alone == 0) {
            const unsigned free = fm_hierarchy_independent(hierarchy, batch + done, count - done);
            fm_hierarchy_pass(hierarchy, batch + done, free, false, walker->served);
            done += free;
            /* To look for independent ones costs more than it saves where they are few. */
            alone = free < WORTHWHILE ? count / 4 : 0;
        }
        if (done < count)
            refer(walker, batch[done++], store);
        alone -= alone > 0;
    }
    walker->missing = walker->served[0] - hits < count / 2;
}

/* Loads that go past level 1. */
static void refer_beyond(struct fm_walker *walker, const struct fm_address *batch, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        refer(walker, batch[i], false);
}

/* Whether two loads of one cycle want different lines of one bank of level 1. A bank is chosen
   before an address is translated. */
static bool collide(const struct fm_cache *cache, uint64_t a, uint64_t b)
{
    return cache->banks && a >> cache->shift != b >> cache->shift &&
           a / cache->bank_width % cache->banks == b / cache->bank_width % cache->banks;
}

/* Loads two by two: a pair takes as long as the slower, and a cycle more where both want one bank.
 */
static void refer_pairs(struct fm_walker *walker, const struct fm_address *batch, unsigned count)
{
    const struct fm_hierarchy *hierarchy = &walker->hierarchy;
    for (unsigned i = 0; i < count; i++) {
        const unsigned served = refer(walker, batch[i], false);
        const double latency =
            served < hierarchy->count ? hierarchy->caches[served].latency : walker->memory_latency;
        if (walker->half)
            walker->overlap +=
                (latency < walker->first_latency ? latency : walker->first_latency) -
                collide(&hierarchy->caches[0], walker->first_of_pair, batch[i].virtual);
        walker->half = !walker->half;
        walker->first_of_pair = batch[i].virtual;
        walker->first_latency = latency;
    }
}

static void flush(struct fm_walker *walker, const struct fm_address *batch, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        fm_hierarchy_flush(&walker->hierarchy, batch[i]);
    walker->served[0] += count;
}

/* A line of code is fetched, from `at` up to `end`, and `ops` operations of it are executed: from
   the op cache, or from the caches. */
static void fetch(struct fm_walker *walker, uint64_t at, uint64_t end, unsigned ops)
{
    const struct fm_address address = fm_placement_address(&walker->placement, at);
    const struct fm_code_piece piece = {at, end, ops};
    if (fm_front_holds(&walker->front, &piece) &&
        fm_hierarchy_holds_code(&walker->hierarchy, address)) {
        walker->front.served++;
        return;
    }
    walker->served[fm_hierarchy_fetch_code(&walker->hierarchy, address)]++;
}

static uint32_t code_shift(const struct fm_hierarchy *hierarchy)
{
    return hierarchy->code_count ? hierarchy->code[0].shift : hierarchy->caches[0].shift;
}

/* Jumps: the lines of each slot are fetched one after the other, then its jump looks for its
   target. A translation is asked for each slot: none crosses a page, which the op cache would not
   change, since it holds a part of what the TLB maps. */
static void jump(struct fm_walker *walker, const struct fm_order *order, const uint32_t *words,
                 unsigned count)
{
    const uint32_t shift = code_shift(&walker->hierarchy);
    if (walker->tlbs.code.used_count)
        look_up_pages(walker, &walker->tlbs.code, words, count);
    for (unsigned i = 0; i < count; i++) {
        uint64_t at = (uint64_t)words[i] * FM_WORD;
        const uint64_t branch = at + (uint64_t)order->filler * FM_FILLER;
        while (at <= branch) {
            const uint64_t line_end = ((at >> shift) + 1) << shift;
            const bool last = line_end > branch;
            const uint64_t end = last ? branch : line_end;
            fetch(walker, at, last ? branch + FM_FILLER : end,
                  (unsigned)((end - at) / FM_FILLER) + last);
            at = line_end;
        }
        fm_front_jump(&walker->front, branch);
    }
}

static void run(struct fm_walker *walker, const struct fm_order *order, enum fm_op op,
                const uint32_t *words, unsigned count)
{
    struct fm_address batch[FM_BATCH];
    if (op == FM_OP_JUMP) {
        jump(walker, order, words, count);
        return;
    }
    translate(walker, words, count, batch);
    if (op == FM_OP_FLUSH)
        flush(walker, batch, count);
    else if (op == FM_OP_LOAD_PAIR)
        refer_pairs(walker, batch, count);
    else if (walker->first)
        refer_beyond(walker, batch, count);
    else
        refer_all(walker, batch, count, op == FM_OP_STORE);
}

static void reset_counters(struct fm_walker *walker, bool real)
{
    walker->first = real && walker->hierarchy.caches[0].fp_bypass;
    memset(walker->served, 0, sizeof walker->served);
    fm_tlb_path_begin(&walker->tlbs.data, real);
    fm_tlb_path_begin(&walker->tlbs.code, false);
    fm_front_begin(&walker->front);
    walker->cold_walks = 0;
    memset(walker->passed, 0, sizeof walker->passed);
    memset(walker->hierarchy.taken, 0, sizeof walker->hierarchy.taken);
    walker->hierarchy.writebacks = 0;
    walker->run_to = UINT64_MAX;
    walker->half = false;
    walker->overlap = 0;
    walker->prefetcher.prefetched = 0;
}

void fm_walker_begin(struct fm_walker *walker)
{
    fm_laps_forget(&walker->laps);
}

/* What a lap may touch: a load's word and what comes along with it; a jump's filler and itself. */
static struct fm_round round_of(const struct fm_walker *walker, const struct fm_order *order,
                                enum fm_op op, size_t window)
{
    const bool jumps = op == FM_OP_JUMP;
    const uint64_t block =
        jumps ? 1 : fm_hierarchy_block(&walker->hierarchy, walker->prefetcher.kinds != 0);
    return (struct fm_round){.words = order->word,
                             .count = window,
                             .block = block,
                             .span = jumps ? (uint64_t)(order->filler + 1) * FM_FILLER : block};
}

size_t fm_walk(struct fm_walker *walker, const struct fm_string *string,
               const struct fm_phase *phase, size_t from, uint64_t to_come)
{
    const struct fm_order *order = &string->orders[phase->order];
    const size_t window = phase->window ? phase->window : order->count;
    const struct fm_round round = round_of(walker, order, phase->op, window);
    struct fm_sim_clock *clock = &walker->clock;
    fm_laps_pause(walker);
    reset_counters(walker, phase->op == FM_OP_LOAD_REAL);
    fm_laps_resume(walker, &round, phase->op, from, to_come);
    walker->jumped = phase->op == FM_OP_JUMP;
    uint64_t left = phase->references - fm_laps_skip(walker, phase->references);
    while (left > 0) {
        const uint64_t most = least(least(left, FM_BATCH), clock->until_pollution);
        const uint64_t count = least(most, window - from);
        run(walker, order, phase->op, order->word + from, (unsigned)count);
        left -= count;
        from = from + count == window ? 0 : from + count;
        if (from == 0)
            left -= fm_laps_end(walker, left);
        if (clock->until_pollution == UINT64_MAX)
            continue;
        clock->until_pollution -= count;
        if (clock->until_pollution == 0) {
            fm_hierarchy_pollute(&walker->hierarchy, &clock->rng);
            fm_sim_clock_draw_pollution(clock);
        }
    }
    return from;
}

static double code_cycles(const struct fm_walker *walker, uint64_t references)
{
    const struct fm_hierarchy *hierarchy = &walker->hierarchy;
    const unsigned levels = fm_hierarchy_code_levels(hierarchy);
    double sum = (double)walker->served[levels] * walker->memory_latency;
    for (unsigned i = 0; i < levels; i++)
        sum += (double)walker->served[i] * fm_hierarchy_code_latency(hierarchy, i);
    return sum + fm_front_cycles(&walker->front) + (double)walker->cold_walks * walker->cold_extra +
           fm_tlb_path_cycles(&walker->tlbs.code, references, walker->walk_latency);
}

double fm_walker_cycles(const struct fm_walker *walker, uint64_t references)
{
    if (walker->jumped)
        return code_cycles(walker, references);
    const unsigned levels = walker->hierarchy.count;
    const uint64_t *taken = walker->hierarchy.taken;
    const uint64_t far = walker->served[levels] - walker->passed[levels] + taken[levels];
    double sum = (double)far * walker->memory_latency;
    for (unsigned i = 0; i < levels; i++) {
        const struct fm_cache *cache = &walker->hierarchy.caches[i];
        sum += (double)(walker->served[i] - walker->passed[i]) * cache->latency +
               (double)taken[i] * cache->store_latency;
    }
    sum += (double)walker->cold_walks * walker->cold_extra - walker->overlap;
    return sum + fm_tlb_path_cycles(&walker->tlbs.data, references, walker->walk_latency);
}

void fm_walker_count(const struct fm_walker *walker, uint64_t references, struct fm_counts *counts)
{
    *counts = (struct fm_counts){
        .references = references,
        .prefetches = walker->prefetcher.prefetched,
        .writebacks = walker->hierarchy.writebacks,
    };
    uint64_t missed = 0;
    const unsigned levels =
        walker->jumped ? fm_hierarchy_code_levels(&walker->hierarchy) : walker->hierarchy.count;
    for (unsigned i = levels; i > 0; i--) {
        missed += walker->served[i];
        /* Who goes past a level misses nothing there. */
        counts->cache_miss[i - 1] = i > walker->first ? missed : 0;
    }
    fm_tlb_path_count(walker->jumped ? &walker->tlbs.code : &walker->tlbs.data, references, counts);
    if (walker->jumped) {
        counts->fetch_miss = counts->cache_miss[0];
        counts->fetch_tlb_miss = counts->tlb_miss[0];
        counts->target_miss = fm_front_targets_missed(&walker->front);
    }
}
