/* Builders of reference strings: a plan in, an order of references out.
 *
 * A builder fills the order and the label; the caller then says how the string is run, by adding
 * phases (prime, grow, time). All randomness comes from the seed in the plan: the same plan is the
 * same string everywhere. A builder that fails leaves nothing to free. */
#ifndef FM_REFSTRING_REFSTRING_H
#define FM_REFSTRING_REFSTRING_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/refstring.h"

/* The swept string: every page is visited once in each sweep, always in the same shuffled order of
   pages; which unit of the page is touched is shuffled for each page apart. A cache sees each unit
   once a lap, no page shows references close enough together for a prefetcher to learn from, and
   neighbours that one might bring along stand half a lap apart.

   With a burst of two, each visit touches two units, half a page apart, and there are half as many
   sweeps. To a cache nothing changes: each unit still comes once a lap. A TLB is asked half as
   often. So the difference between the two is what the TLB takes, and nothing else. */
struct fm_swept_plan {
    size_t bytes; /* footprint */
    size_t unit;  /* one word is touched in each unit; divides the page */
    size_t page;
    unsigned burst; /* units touched at each visit of a page: 1 or 2; 0 is 1 */
    uint64_t seed;
};

/* Whether a page has units enough for bursts. */
bool fm_swept_has_bursts(size_t page, size_t unit);

bool fm_swept_string(struct fm_string *string, const struct fm_swept_plan *plan,
                     struct fm_error *err);

/* Cooper and Sandoval's cache-only string C(k): page after page in shuffled order, the units of a
   page in one shuffled order of columns. Quiet for a TLB, but a prefetcher learns it. */
bool fm_cache_only_string(struct fm_string *string, const struct fm_swept_plan *plan,
                          struct fm_error *err);

/* All units in one shuffled order: what a random walk does, TLB misses included. */
bool fm_shuffled_string(struct fm_string *string, const struct fm_swept_plan *plan,
                        struct fm_error *err);

/* The gap string G(n, k, o): n words, k bytes apart, the last moved on by o bytes. */
struct fm_gap_plan {
    unsigned count;
    size_t stride;
    size_t offset;
    size_t first; /* where in the arena the first word lies */
    uint64_t seed;
};
bool fm_gap_string(struct fm_string *string, const struct fm_gap_plan *plan, struct fm_error *err);

/* The gap string of outer levels: columns of lines, which begin a gap apart, in sweeps over their
   pages as in a swept string. A thin one is the first sweep alone: it asks a TLB for the same pages
   in the same order, and of a cache hardly anything. */
#define FM_NO_COLUMN UINT_MAX
struct fm_column_plan {
    unsigned count;
    size_t apart;    /* bytes from the beginning of a column to that of the next */
    size_t bytes;    /* of a column; at most half of that */
    size_t line;     /* of which one word is touched */
    unsigned absent; /* a column that is left out, or FM_NO_COLUMN */
    bool shifted;    /* every other column begins half way to the next */
    bool thin;
    size_t page;
    uint64_t seed;
};
bool fm_column_string(struct fm_string *string, const struct fm_column_plan *plan,
                      struct fm_error *err);

/* The companion of a gap string: one word in each page that it touches, at a different place in
   each page, so that a TLB sees the same pages while no two words can share a cache set. */
bool fm_gap_control_string(struct fm_string *string, const struct fm_gap_plan *plan, size_t page,
                           struct fm_error *err);

/* The linesize string L(n, s): in each pair of neighbouring stripes of s bytes one of the two is
   touched, as many even as odd ones over any run of the footprint. Stripes at least a line wide
   leave half of the lines of the footprint untouched, narrower ones none. Swept order. */
struct fm_stripe_plan {
    size_t bytes;  /* footprint spanned */
    size_t stripe; /* s; two of them divide the page */
    size_t page;
    unsigned
        variant;   /* another choice of stripes: one that suits the number of sets is among few */
    size_t packed; /* 0, or bytes of runs, one of each two, in which the stripes touched lie side by
                      side: as few as without, but half of the lines are left alone even if lines
                      are longer than stripes */
    uint64_t seed;
};
bool fm_stripe_string(struct fm_string *string, const struct fm_stripe_plan *plan,
                      struct fm_error *err);

/* The TLB string T(n, k): n lines in each of k pages, every page visited once in each sweep, always
   in the same shuffled order; which lines of a page is spread over all of it. With bursts each
   visit touches several of the lines: a cache sees each line once a lap as before, a TLB is asked
   so many times less often, and the difference is the TLB's. */
struct fm_page_plan {
    const uint32_t *pages; /* numbers of pages in the arena, each once */
    size_t count;
    size_t page;
    size_t unit;    /* one word is touched in each; at least a line */
    unsigned lines; /* n; burst divides it */
    unsigned burst; /* lines at each visit; 0 is 1 */
    uint64_t seed;
};
bool fm_page_string(struct fm_string *string, const struct fm_page_plan *plan,
                    struct fm_error *err);

/* Visits to pages of which neither data nor, unless they are kept warm, page tables are in cache:
   everything is driven out by references to a region in front of them, whose pages then drive the
   translations out of TLBs. To keep the tables warm, each page is visited at another line between
   the two. Complete with its phases. */
struct fm_cold_plan {
    size_t evict_bytes; /* more than caches hold; whole pages, from the arena's begin */
    size_t unit;        /* at most the shortest line */
    size_t page;
    size_t sweep; /* pages from there on that are more than TLBs hold */
    size_t count; /* pages visited … */
    size_t apart; /* … every so many of the arena: their tables share no line */
    bool warm;
    uint64_t seed;
};
/* Of the arena: what is visited lies behind what drives it out. */
size_t fm_cold_pages_bytes(const struct fm_cold_plan *plan);
bool fm_cold_pages_string(struct fm_string *string, const struct fm_cold_plan *plan,
                          struct fm_error *err);

/* Any words, in a shuffled order, after a flush of any others. */
struct fm_listed_plan {
    const uint32_t *words; /* each once */
    size_t count;
    bool in_order;           /* as they are listed; else shuffled by the seed */
    const uint32_t *flushed; /* may be NULL with a count of 0 */
    size_t flushed_count;
    uint64_t seed;
};
bool fm_listed_string(struct fm_string *string, const struct fm_listed_plan *plan,
                      struct fm_error *err);

/* The lap string: a short sequence of blocks in several cache sets at once. To each set it is one
   and the same lap, begun elsewhere and with other blocks in the place of each other, and the
   references to different sets are mixed: so no page shows an order that a prefetcher could learn.
   Sets lie at least two lines apart, and no three of them at equal steps; or at given steps, and
   are then visited in one order always, so that each comes up when all others have.

   Its companion visits the same pages in the same order, but so few lines of them that all hit:
   what the string takes longer are the misses of its blocks, and nothing of a TLB. */
struct fm_lap_plan {
    const uint16_t *block; /* of each reference of the lap */
    unsigned length;
    unsigned blocks; /* all of which are below this */
    unsigned sets;   /* wanted; fewer where fewer fit */
    size_t line;
    size_t stride; /* bytes from a block to the next of the same set */
    size_t apart;  /* bytes from a set to the next; 0: as said above */
    size_t page;
    bool companion;
    uint64_t seed;
};
bool fm_lap_string(struct fm_string *string, const struct fm_lap_plan *plan, struct fm_error *err);

/* The same over pages, for a TLB: each block is a page, of which one unit is touched. The companion
   touches units that lie just so in a cache, in the same order, but side by side on a few pages. */
struct fm_page_lap_plan {
    const uint16_t *block;
    unsigned length;
    unsigned blocks;
    unsigned sets; /* of the TLB that run it at once; some at the most */
    size_t stride; /* pages from a block to the next of the same set */
    size_t apart;  /* pages from a set to the next, visited in one order always; 0: neighbours */
    size_t page;
    size_t unit; /* bytes; a block may come up as often as it has words */
    bool companion;
    uint64_t seed;
};
bool fm_page_lap_string(struct fm_string *string, const struct fm_page_lap_plan *plan,
                        struct fm_error *err);

/* Pairs of words to be loaded at once: each word of a region and the one at the same place of the
   next region, some bits of the place turned; all pairs in shuffled order. Or pairs of neighbouring
   words, over both regions. */
struct fm_pair_plan {
    size_t bytes;  /* of a region; a power of two */
    size_t differ; /* bits that are turned; whole words, below that */
    bool neighbours;
    uint64_t seed;
};
bool fm_pair_string(struct fm_string *string, const struct fm_pair_plan *plan,
                    struct fm_error *err);

/* Calibrator's string: spots one stride apart, from the last to the first. */
struct fm_spot_plan {
    size_t count;
    size_t stride;
    size_t first; /* strides before the first */
};
bool fm_spot_string(struct fm_string *string, const struct fm_spot_plan *plan,
                    struct fm_error *err);

/* Lines of code, two slots in each, walked by jumps. Each element is a line or a pair of lines of
   one page. Every slot is jumped to once a lap in either form, and a page is visited as often; but
   one by one a visit goes to a slot in each line of its element, and to their other slots half a
   lap later, in bursts to both slots of one line, and to the other line half a lap later. So a
   branch predictor and a TLB see no difference, while a cache is asked for each line once a lap
   instead of twice. The second slot of a line comes first: a cache that fetches the next line along
   with each miss brings nothing that is wanted. */
#define FM_NO_LINE UINT32_MAX
struct fm_lines_plan {
    const uint32_t *one, *other; /* first words of the lines of each element; other: FM_NO_LINE */
    size_t count;
    size_t apart;    /* bytes between the slots of a line */
    unsigned filler; /* operations before each jump */
    bool bursts;
    uint64_t seed;
};
bool fm_lines_string(struct fm_string *string, const struct fm_lines_plan *plan,
                     struct fm_error *err);

/* Jumps that stand close: blocks of FM_DENSE_BLOCK bytes, so many bytes from one jump to the next.
   Block after block, page after page, in shuffled order; all jumps of a block at one visit. The
   string with twice the spacing visits the same blocks in the same order by half the jumps. Where
   they are staggered, those of the first part of the blocks stand on the first of each so many
   words, those of the next part on the second, and so on: what is indexed by the words of an
   address then has no sets that are left empty because jumps stand apart. */
#define FM_DENSE_BLOCK 64u
struct fm_dense_plan {
    size_t blocks;
    size_t spacing; /* FM_WORD to FM_DENSE_BLOCK, a power of two */
    bool staggered;
    size_t page;
    uint64_t seed;
};
bool fm_dense_string(struct fm_string *string, const struct fm_dense_plan *plan,
                     struct fm_error *err);

/* Makes of a string of data and one of code, whose order it takes over, one string that asks what
   running the code leaves of the data: loads over the data, `laps` laps of the code, and then,
   timed, a lap of loads. The two must not overlap, and neither has phases yet. */
void fm_string_after(struct fm_string *data, struct fm_string *code, unsigned laps);
/* … and the other way round, what loading the data leaves of the code. */
void fm_string_after_data(struct fm_string *code, struct fm_string *data, unsigned laps);

/* Leaves out of a string, which has no phases yet, what does not lie in the first bytes of a page:
   of a cache whose sets are chosen by the address as it is, that much less is used, and used as
   much.
 */
void fm_string_keep_first(struct fm_string *string, size_t bytes, size_t page);

/* Makes jumps of all phases, rounded up to whole laps. Flushes stay. */
void fm_string_jump(struct fm_string *string);

/* Its loads go into registers for real numbers; those that follow pointers still do. */
void fm_string_load_real(struct fm_string *string);

/* Stores in the place of loads, where only those are counted rightly. They are not chained: nothing
   is waited for when misses are counted. */
void fm_string_store_instead(struct fm_string *string);

/* Times the order pair by pair: an order of an even number of words. */
void fm_string_pair(struct fm_string *string);

/* Appends an unmetered walk of `laps` laps over the whole order. */
void fm_string_prime(struct fm_string *string, unsigned laps);

/* Appends unmetered walks over growing parts of the order, from a half to the whole. What is in
   the cache already is hit again before more is asked for, so a line that a prefetcher brought
   along unasked ages and leaves before a wanted one does. */
void fm_string_grow(struct fm_string *string);

/* Appends a flush of the whole order. A cache that evicts what came first would else remember the
   order of the string before. */
void fm_string_flush(struct fm_string *string);

/* Appends the metered, chained walk of that many references. */
void fm_string_time(struct fm_string *string, uint64_t references);

/* Prime-then-measure strings are made of parts: an empty string, orders, phases over them.

   Spots are one word in each page of a group, all pages in the same shuffled order, so that no
   prefetcher sees two of them in one page and a TLB sees every order over them alike. Where in its
   page a spot lies is spread evenly over positions `unit` bytes apart, at least `span` bytes before
   the page's end; an order's words lie `offset` bytes beyond the spots. */
struct fm_group {
    size_t first, count; /* pages of the arena */
    size_t page;
    size_t unit, span;
    uint64_t seed;
};
void fm_string_empty(struct fm_string *string, const char *label, size_t bytes);
/* An order of one word to a page. */
bool fm_string_add_spots(struct fm_string *string, const struct fm_group *group, size_t offset,
                         struct fm_error *err);
/* An order that visits each page for several words, one page after the other; and one that goes
   over all pages for the first word, then for the second, and so on. */
bool fm_string_add_visits(struct fm_string *string, const struct fm_group *group,
                          const size_t *offsets, size_t count, struct fm_error *err);
bool fm_string_add_sweeps(struct fm_string *string, const struct fm_group *group,
                          const size_t *offsets, size_t count, struct fm_error *err);
/* A range of the arena, `lines` units long. An order over `count` of them from number `first` on,
   round the range's end if need be, shuffled: neighbours load all sets of a cache alike. */
struct fm_range {
    size_t from, lines, unit;
};
bool fm_string_add_range(struct fm_string *string, const struct fm_range *range, size_t first,
                         size_t count, struct fm_error *err);
/* An order over the first `lines` units of each of some blocks of the arena, shuffled. */
struct fm_blocks {
    const uint32_t *number; /* of blocks of `bytes` from the arena's begin, each once */
    size_t count, bytes, lines, unit;
};
bool fm_string_add_blocks(struct fm_string *string, const struct fm_blocks *blocks,
                          struct fm_error *err);
/* As many runs of `run` lines as fit the range, each beginning so many lines after the one before:
   an order over every word of them one after the other, over those that are not in the last line of
   a run, over one word in each line, or in the last of each run. */
enum fm_run_part { FM_RUN_WORDS, FM_RUN_BEFORE, FM_RUN_LINES, FM_RUN_ENDS };
struct fm_runs {
    struct fm_range range;
    size_t run, apart; /* more than the run */
};
bool fm_string_add_runs(struct fm_string *string, const struct fm_runs *runs, enum fm_run_part part,
                        struct fm_error *err);
/* Appends a phase of any kind. */
void fm_string_add_phase(struct fm_string *string, struct fm_phase phase);
/* Appends one over a whole order, once. */
void fm_string_add_pass(struct fm_string *string, unsigned order, enum fm_op op);
/* … and the last one, which is timed; its references need not wait for each other. */
void fm_string_time_pass(struct fm_string *string, unsigned order, enum fm_op op);

/* Self-check: words distinct, inside the span, phases in order, exactly one metered and last. */
bool fm_string_check(const struct fm_string *string, struct fm_error *err);

void fm_string_free(struct fm_string *string);

#endif
