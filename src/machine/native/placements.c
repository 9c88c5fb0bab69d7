#include "machine/native/placements.h"

#include <string.h>

/* Keeping this much costs nobody anything and makes dozens of placements of a few MiB; a larger
   arena is still one of three sets of pages, each met forwards and backwards. */
#define KEEP_BYTES  ((uint64_t)128 << 20)
#define KEEP_ARENAS 3

static void drop_oldest(struct fm_placements *placements)
{
    placements->resized += fm_arena_resized(&placements->arenas[0]);
    fm_arena_unmap(&placements->arenas[0]);
    placements->count--;
    memmove(placements->arenas, placements->arenas + 1,
            placements->count * sizeof *placements->arenas);
}

static uint64_t held(const struct fm_placements *placements)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < placements->count; i++)
        bytes += placements->arenas[i].bytes;
    return bytes;
}

static uint64_t room_for(size_t bytes, uint64_t limit)
{
    const uint64_t wanted =
        bytes > KEEP_BYTES / KEEP_ARENAS ? (uint64_t)bytes * KEEP_ARENAS : KEEP_BYTES;
    return wanted < limit ? wanted : limit;
}

bool fm_placements_next(struct fm_placements *placements, size_t bytes, size_t page_size,
                        uint64_t limit, struct fm_error *err)
{
    const uint64_t room = room_for(bytes, limit);
    while (placements->count &&
           (placements->count == FM_PLACEMENTS_KEPT || held(placements) + bytes > room))
        drop_oldest(placements);
    struct fm_arena *next = &placements->arenas[placements->count];
    if (fm_arena_map(next, bytes, page_size, err)) {
        placements->count++;
        return true;
    }
    /* Pages of a rare size may be missing only because the old arenas have them. */
    if (!placements->count)
        return false;
    fm_placements_free(placements);
    placements->count = fm_arena_map(&placements->arenas[0], bytes, page_size, err);
    return placements->count > 0;
}

struct fm_arena fm_placements_current(const struct fm_placements *placements)
{
    return placements->count ? placements->arenas[placements->count - 1]
                             : (struct fm_arena){.base = NULL};
}

uint64_t fm_placements_resized(const struct fm_placements *placements)
{
    uint64_t bytes = placements->resized;
    for (size_t i = 0; i < placements->count; i++)
        bytes += fm_arena_resized(&placements->arenas[i]);
    return bytes;
}

void fm_placements_free(struct fm_placements *placements)
{
    while (placements->count)
        drop_oldest(placements);
}
