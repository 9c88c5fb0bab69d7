#include "machine/simulated/tlb.h"

static bool open_level(struct fm_tlb_level *tlb, const struct fm_tlb_description *description,
                       uint64_t base_page, struct fm_error *err)
{
    if (description->level == 0 || description->level > FM_TLB_LEVELS)
        return fm_fail(err, FM_ERR_USAGE, "TLB %s: level %u is none of 1 to %d", description->name,
                       description->level, FM_TLB_LEVELS);
    if (description->ways == 0 || description->entries == 0 ||
        description->entries % description->ways)
        return fm_fail(err, FM_ERR_USAGE, "TLB %s: entries are no multiple of ways",
                       description->name);
    tlb->level = description->level - 1;
    tlb->latency = description->latency;
    tlb->page_size_count = description->page_size_count;
    for (size_t i = 0; i < description->page_size_count; i++)
        tlb->page_sizes[i] = description->page_sizes[i];
    if (tlb->page_size_count == 0)
        tlb->page_sizes[tlb->page_size_count++] = base_page;
    return fm_tags_open(&tlb->tags, description->entries, description->ways, FM_REPLACE_LRU, 0,
                        err);
}

bool fm_tlbs_open(struct fm_tlbs *tlbs, const struct fm_description *description,
                  struct fm_error *err)
{
    *tlbs = (struct fm_tlbs){0};
    for (size_t i = 0; i < description->tlb_count; i++) {
        if (description->tlbs[i].holds == FM_HOLDS_INSTRUCTIONS)
            continue;
        if (!open_level(&tlbs->all[tlbs->count], &description->tlbs[i], description->page_size,
                        err))
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

static struct fm_tlb_level *at_level(struct fm_tlbs *tlbs, unsigned level, uint64_t page_size)
{
    for (unsigned i = 0; i < tlbs->count; i++)
        if (tlbs->all[i].level == level && holds(&tlbs->all[i], page_size))
            return &tlbs->all[i];
    return NULL;
}

bool fm_tlbs_hold(const struct fm_tlbs *tlbs, uint64_t page_size)
{
    for (unsigned i = 0; i < tlbs->count; i++)
        if (holds(&tlbs->all[i], page_size))
            return true;
    return false;
}

void fm_tlbs_prepare(struct fm_tlbs *tlbs, uint64_t page_size)
{
    for (unsigned i = 0; i < tlbs->count; i++)
        fm_tags_clear(&tlbs->all[i].tags);
    tlbs->used_count = 0;
    tlbs->last_page = FM_EMPTY;
    for (unsigned level = 0; level < FM_TLB_LEVELS; level++) {
        struct fm_tlb_level *tlb = at_level(tlbs, level, page_size);
        if (tlb)
            tlbs->used[tlbs->used_count++] = tlb;
    }
}

void fm_tlbs_pass(struct fm_tlbs *tlbs, struct fm_batch *pages, unsigned count)
{
    struct fm_missed missed[FM_BATCH];
    for (unsigned level = 0; level < tlbs->used_count && count > 0; level++) {
        struct fm_tags *tags = &tlbs->used[level]->tags;
        for (unsigned i = 0; i < count; i++)
            pages->sets[i] = fm_remainder(tags->by_sets, pages->tags[i]);
        count = fm_tags_pass(tags, pages, count, missed);
        for (unsigned i = 0; i < count; i++)
            pages->tags[i] = pages->tags[missed[i].number];
        tlbs->missed[level] += count;
    }
}

double fm_tlbs_cycles(const struct fm_tlbs *tlbs, uint64_t references, double walk_latency)
{
    if (tlbs->used_count == 0)
        return 0;
    double cycles = 0;
    uint64_t came = references;
    for (unsigned i = 0; i < tlbs->used_count; i++) {
        cycles += (double)(came - tlbs->missed[i]) * tlbs->used[i]->latency;
        came = tlbs->missed[i];
    }
    return cycles + (double)came * walk_latency;
}

void fm_tlbs_count(const struct fm_tlbs *tlbs, uint64_t references, struct fm_counts *counts)
{
    if (tlbs->used_count == 0)
        return;
    unsigned i = 0;
    uint64_t came = references;
    for (unsigned level = 0; i < tlbs->used_count; level++) {
        if (tlbs->used[i]->level == level)
            came = tlbs->missed[i++];
        counts->tlb_miss[level] = came;
    }
    counts->walks = came;
}
