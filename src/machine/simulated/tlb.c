#include "machine/simulated/tlb.h"

#include "core/rng.h"

static bool open_level(struct fm_tlb_level *tlb, const struct fm_tlb_description *description,
                       uint64_t base_page, uint64_t seed, struct fm_error *err)
{
    if (description->level == 0 || description->level > FM_TLB_LEVELS)
        return fm_fail(err, FM_ERR_USAGE, "TLB %s: level %u is none of 1 to %d", description->name,
                       description->level, FM_TLB_LEVELS);
    if (description->ways == 0 || description->entries == 0 ||
        description->entries % description->ways)
        return fm_fail(err, FM_ERR_USAGE, "TLB %s: entries are no multiple of ways",
                       description->name);
    tlb->level = description->level - 1;
    tlb->holds = description->holds;
    tlb->latency = description->latency;
    tlb->page_size_count = description->page_size_count;
    for (size_t i = 0; i < description->page_size_count; i++)
        tlb->page_sizes[i] = description->page_sizes[i];
    if (tlb->page_size_count == 0)
        tlb->page_sizes[tlb->page_size_count++] = base_page;
    tlb->fp_bypass = description->fp_bypass;
    tlb->index = description->index;
    tlb->pages_per_entry = description->pages_per_entry ? description->pages_per_entry : 1;
    /* Those that are not ours are as many in each set. */
    const uint32_t sets = description->entries / description->ways;
    if (description->reserved % sets || description->reserved >= description->entries)
        return fm_fail(err, FM_ERR_USAGE, "TLB %s: %u entries cannot be reserved",
                       description->name, description->reserved);
    return fm_tags_open(&tlb->tags, description->entries - description->reserved,
                        description->ways - description->reserved / sets, description->replacement,
                        seed, err);
}

bool fm_tlbs_open(struct fm_tlbs *tlbs, const struct fm_description *description,
                  struct fm_error *err)
{
    *tlbs = (struct fm_tlbs){.base_page = description->page_size, .growth = description->growth};
    for (size_t i = 0; i < description->tlb_count; i++) {
        if (!open_level(&tlbs->all[tlbs->count], &description->tlbs[i], description->page_size,
                        fm_mix64(i + 1), err))
            return false;
        tlbs->count++;
    }
    return true;
}

void fm_tlbs_close(struct fm_tlbs *tlbs)
{
    for (unsigned i = 0; i < tlbs->count; i++)
        fm_tags_close(&tlbs->all[i].tags);
}

static bool holds(const struct fm_tlb_level *tlb, uint64_t page_size)
{
    for (size_t i = 0; i < tlb->page_size_count; i++)
        if (tlb->page_sizes[i] == page_size)
            return true;
    return false;
}

/* What an entry maps of a page of some size: all of it; a piece of the base page, of the largest
   size that the TLB lists; 0: nothing. */
static uint64_t piece_of(const struct fm_tlbs *tlbs, const struct fm_tlb_level *tlb,
                         uint64_t page_size)
{
    uint64_t largest = 0;
    if (holds(tlb, page_size))
        return page_size;
    for (size_t i = 0; i < tlb->page_size_count && page_size == tlbs->base_page; i++)
        if (tlb->page_sizes[i] < page_size && tlb->page_sizes[i] > largest)
            largest = tlb->page_sizes[i];
    return largest;
}

/* The TLB of a level for a page size that does not hold only what is not asked for. */
static struct fm_tlb_level *at_level(struct fm_tlbs *tlbs, unsigned level, uint64_t page_size,
                                     enum fm_holds other)
{
    struct fm_tlb_level *best = NULL;
    for (unsigned i = 0; i < tlbs->count; i++) {
        struct fm_tlb_level *tlb = &tlbs->all[i];
        if (tlb->level == level && tlb->holds != other &&
            piece_of(tlbs, tlb, page_size) > (best ? piece_of(tlbs, best, page_size) : 0))
            best = tlb;
    }
    return best;
}

bool fm_tlbs_hold(const struct fm_tlbs *tlbs, uint64_t page_size)
{
    for (unsigned i = 0; i < tlbs->count; i++)
        if (tlbs->all[i].holds != FM_HOLDS_INSTRUCTIONS && holds(&tlbs->all[i], page_size))
            return true;
    return false;
}

static uint32_t log2_of(uint64_t power)
{
    return (uint32_t)__builtin_ctzll(power);
}

/* The levels of a path; shifts are those of whole addresses at first. */
static void lay_path(struct fm_tlbs *tlbs, struct fm_tlb_path *path, enum fm_holds other,
                     uint64_t page_size)
{
    *path = (struct fm_tlb_path){.last_piece = FM_EMPTY};
    for (unsigned level = 0; level < FM_TLB_LEVELS; level++) {
        struct fm_tlb_level *tlb = at_level(tlbs, level, page_size, other);
        if (!tlb)
            continue;
        path->used[path->used_count++] = tlb;
        tlb->shift = log2_of(piece_of(tlbs, tlb, page_size) * tlb->pages_per_entry);
        if (tlb->shift < tlbs->piece_shift)
            tlbs->piece_shift = tlb->shift;
    }
}

bool fm_tlbs_prepare(struct fm_tlbs *tlbs, uint64_t bytes, uint64_t page_size, struct fm_error *err)
{
    tlbs->walks = 0;
    tlbs->grown_shift = 0;
    tlbs->piece_shift = log2_of(page_size);
    for (unsigned i = 0; i < tlbs->count; i++) {
        fm_tags_clear(&tlbs->all[i].tags);
        tlbs->all[i].shift = tlbs->piece_shift;
    }
    lay_path(tlbs, &tlbs->data, FM_HOLDS_INSTRUCTIONS, page_size);
    lay_path(tlbs, &tlbs->code, FM_HOLDS_DATA, page_size);
    for (unsigned i = 0; i < tlbs->count; i++) {
        struct fm_tlb_level *tlb = &tlbs->all[i];
        if (!fm_tags_number(&tlb->tags, (uint32_t)(bytes >> tlb->shift) + 1, err))
            return false;
        tlb->shift -= tlbs->piece_shift;
    }
    return true;
}

static uint32_t set_of(const struct fm_tlb_level *tlb, uint32_t number)
{
    const struct fm_divisor *sets = &tlb->tags.by_sets;
    switch (tlb->index) {
    case FM_INDEX_HASHED:
        return fm_remainder(*sets, (uint32_t)fm_mix64(number));
    case FM_INDEX_FOLDED:
        return fm_remainder(*sets, number ^ fm_quotient(*sets, number));
    default:
        return fm_remainder(*sets, number);
    }
}

static uint32_t number_of(const struct fm_tlbs *tlbs, const struct fm_tlb_level *tlb,
                          uint32_t piece)
{
    return piece >> (tlb->shift + tlbs->grown_shift);
}

uint32_t fm_tlb_set(const struct fm_tlbs *tlbs, const struct fm_tlb_level *tlb, uint32_t piece)
{
    return set_of(tlb, number_of(tlbs, tlb, piece));
}

/* The pages of the arena are larger from now on; what was known of them is void. */
static void grow(struct fm_tlbs *tlbs)
{
    for (unsigned i = 0; i < tlbs->count; i++)
        fm_tags_clear(&tlbs->all[i].tags);
    tlbs->grown_shift = log2_of(tlbs->growth.to) - log2_of(tlbs->base_page);
}

unsigned fm_tlbs_pass(struct fm_tlbs *tlbs, struct fm_tlb_path *path, struct fm_batch *pieces,
                      unsigned count)
{
    struct fm_missed missed[FM_BATCH];
    for (unsigned level = path->first; level < path->used_count && count > 0; level++) {
        struct fm_tlb_level *tlb = path->used[level];
        struct fm_batch numbers;
        for (unsigned i = 0; i < count; i++) {
            numbers.tags[i] = number_of(tlbs, tlb, pieces->tags[i]);
            numbers.sets[i] = set_of(tlb, numbers.tags[i]);
        }
        count = fm_tags_pass(&tlb->tags, &numbers, count, missed);
        for (unsigned i = 0; i < count; i++)
            pieces->tags[i] = pieces->tags[missed[i].number];
        path->missed[level] += count;
    }
    tlbs->walks += count;
    if (tlbs->growth.misses && tlbs->walks >= tlbs->growth.misses && !tlbs->grown_shift)
        grow(tlbs);
    return count;
}

void fm_tlb_path_begin(struct fm_tlb_path *path, bool real)
{
    path->first = real && path->used_count && path->used[0]->fp_bypass;
    path->last_piece = FM_EMPTY;
    for (unsigned i = 0; i < FM_TLB_LEVELS; i++)
        path->missed[i] = 0;
}

double fm_tlb_path_cycles(const struct fm_tlb_path *path, uint64_t references, double walk_latency)
{
    if (path->used_count == 0)
        return 0;
    double cycles = 0;
    uint64_t came = references;
    for (unsigned i = path->first; i < path->used_count; i++) {
        cycles += (double)(came - path->missed[i]) * path->used[i]->latency;
        came = path->missed[i];
    }
    return cycles + (double)came * walk_latency;
}

void fm_tlb_path_count(const struct fm_tlb_path *path, uint64_t references,
                       struct fm_counts *counts)
{
    if (path->used_count == 0)
        return;
    unsigned i = 0;
    uint64_t came = references;
    for (unsigned level = 0; i < path->used_count; level++) {
        const bool there = path->used[i]->level == level;
        const bool asked = !there || i >= path->first;
        if (there && asked)
            came = path->missed[i];
        /* Who goes past misses nothing there. */
        counts->tlb_miss[level] = asked ? came : 0;
        i += there;
    }
    counts->walks = came;
}
