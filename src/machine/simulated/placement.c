#include "machine/simulated/placement.h"

#include <stdlib.h>

#include "core/divisor.h"

/* A tag has 32 bits and one value of them means empty, so the line numbers take 31. */
#define LINE_BITS 31u

/* An order's words are counted in 32 bits. */
#define REACH ((uint64_t)FM_WORD << 32)

static uint64_t base_alignment(const struct fm_hierarchy *hierarchy, uint64_t page_size,
                               uint64_t space)
{
    uint64_t all = page_size, powers = page_size;
    for (unsigned i = 0; i < hierarchy->count + hierarchy->code_count; i++) {
        const struct fm_cache *cache =
            i < hierarchy->count ? &hierarchy->caches[i] : &hierarchy->code[i - hierarchy->count];
        const uint64_t period = (uint64_t)cache->tags.sets << cache->shift;
        const uint64_t power = period & -period;
        powers = power > powers ? power : powers;
        if (all <= space)
            all *= period / fm_common_divisor(all, period);
    }
    /* Leave enough bases to choose from. */
    return all <= space / 64 ? all : powers;
}

void fm_placement_open(struct fm_placement *placement, const struct fm_description *description,
                       const struct fm_hierarchy *hierarchy, uint64_t seed)
{
    *placement = (struct fm_placement){.mapping = description->page_mapping};
    fm_rng_seed(&placement->rng, seed);
    /* The lines of level 1 are the smallest. */
    uint32_t shift = hierarchy->caches[0].shift;
    if (hierarchy->code_count && hierarchy->code[0].shift < shift)
        shift = hierarchy->code[0].shift;
    placement->space_shift = LINE_BITS + shift;
    placement->alignment =
        base_alignment(hierarchy, description->page_size, (uint64_t)1 << placement->space_shift);
}

void fm_placement_close(struct fm_placement *placement)
{
    free(placement->frames);
    *placement = (struct fm_placement){0};
}

uint64_t fm_placement_limit(const struct fm_placement *placement)
{
    const uint64_t quarter = (uint64_t)1 << (placement->space_shift - 2);
    return quarter < REACH ? quarter : REACH;
}

/* A contiguous arena on frames that the one before did not have. */
static void draw_base(struct fm_placement *placement, uint64_t bytes, uint64_t before)
{
    const uint64_t page = (uint64_t)1 << placement->page_shift;
    const uint64_t step =
        placement->alignment / fm_common_divisor(placement->alignment, page) * page;
    const uint64_t bases = ((((uint64_t)1 << placement->space_shift) - bytes) / step) + 1;
    const uint64_t old = placement->base;
    /* The space is four times the largest arena, so a draw or two will do; when the step is so
       large that there is one base only, it has to serve again. */
    for (int tries = 0; tries < 64; tries++) {
        placement->base = fm_rng_below(&placement->rng, bases) * step;
        if (placement->base >= old + before || old >= placement->base + bytes)
            break;
    }
    for (uint64_t i = 0; i < bytes >> placement->page_shift; i++)
        placement->frames[i] = (uint32_t)((placement->base >> placement->page_shift) + i);
}

/* A Feistel network: each round changes one half of the number by a keyed function of the other,
   which can be undone, so different pages get different frames. */
#define ROUNDS 4

static void draw_frames(struct fm_placement *placement, uint64_t bytes)
{
    const uint32_t bits = placement->space_shift - placement->page_shift;
    const uint32_t half = bits / 2;
    const uint64_t low_mask = ((uint64_t)1 << half) - 1;
    const uint64_t high_mask = ((uint64_t)1 << (bits - half)) - 1;
    uint64_t keys[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        keys[i] = fm_rng_next(&placement->rng);
    for (uint64_t page = 0; page < bytes >> placement->page_shift; page++) {
        uint64_t low = page & low_mask, high = page >> half;
        for (int i = 0; i < ROUNDS; i += 2) {
            low ^= fm_mix64(high ^ keys[i]) & low_mask;
            high ^= fm_mix64(low ^ keys[i + 1]) & high_mask;
        }
        placement->frames[page] = (uint32_t)(high << half | low);
    }
}

bool fm_placement_draw(struct fm_placement *placement, uint64_t bytes, uint32_t page_shift,
                       struct fm_error *err)
{
    const uint64_t page = (uint64_t)1 << page_shift;
    const uint64_t limit = fm_placement_limit(placement);
    if (bytes == 0 || bytes > limit || page > limit)
        return fm_fail(err, FM_ERR_NO_MEMORY,
                       "an arena of %llu bytes: the simulated machine has from 1 to %llu",
                       (unsigned long long)bytes, (unsigned long long)limit);
    const uint64_t rounded = (bytes + page - 1) & ~(page - 1);
    uint32_t *frames = malloc((size_t)(rounded >> page_shift) * sizeof *frames);
    if (!frames)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for the page table of %llu bytes",
                       (unsigned long long)bytes);
    free(placement->frames);
    placement->frames = frames;
    placement->page_shift = page_shift;
    const uint64_t before = placement->bytes;
    placement->bytes = rounded;
    if (placement->mapping == FM_MAPPING_RANDOM)
        draw_frames(placement, rounded);
    else
        draw_base(placement, rounded, before);
    return true;
}
