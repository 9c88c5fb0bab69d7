/* The ways of a structure whose edge is sharp, by its counter.
 *
 * AMP's test (2001, section 3.3) over all factors: with W ways, blocks that lie capacity / W bytes
 * apart fall into the same sets. W of them fit, one more does not. A block is as short as can be,
 * since one that is longer than a way meets its sets twice; but all together they are more than the
 * level inside keeps, or they would not get here. Fewer blocks than ways always fit, so the
 * smallest number that does not is the one, unless a larger one misses on every reference. */
#include <math.h>
#include <stdlib.h>

#include "core/rng.h"
#include "probe/counted.h"
#include "probe/lab.h"
#include "refstring/refstring.h"

/* Misses of a set in a lap: at least one where it has a line too many. */
#define TOO_MANY 0.5
#define ENOUGH   0.02
/* Part of the references that miss where all sets have a line too many, under LRU. */
#define NEARLY_ALL 0.9
#define ALL        0.99
/* Part of the misses that are left when half of the lines have moved out of the set. What a
   prefetcher brings along leaves some. */
#define RELIEVED 0.6
/* Times the lines of the level inside that all blocks have together. */
#define BEYOND_INNER 1.25
/* Up to so many ways each number is tried by itself. */
#define FEW_WAYS 8
/* No number of lines that can be has more primes. */
#define MOST_PRIMES 16
/* A single set takes any lines, from anywhere in this many times the capacity. */
#define SPREAD 4
/* Lists of such lines that are tried. */
#define LISTS 8

struct blocks {
    size_t count; /* of blocks */
    size_t lines; /* of each, which is how many sets they meet */
    size_t apart; /* lines from one to the next */
};

static bool count_list(struct fm_lab *lab, const struct fm_counted_plan *plan, unsigned bit,
                       uint32_t *list, size_t count, size_t line, double *misses,
                       struct fm_error *err)
{
    const struct fm_page_plan lines = {.pages = list,
                                       .count = count,
                                       .page = line,
                                       .unit = line,
                                       .lines = 1,
                                       .seed = fm_lab_seed(lab)};
    const struct fm_count_care care = {.bit = bit, .warmth = FM_WARM_GROWN, .manner = plan->manner};
    struct fm_string string;
    const bool good =
        fm_page_string(&string, &lines, err) && fm_count_lap(lab, &string, &care, misses, err);
    free(list);
    return good;
}

static bool no_list(struct fm_error *err)
{
    return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a list of lines");
}

/* Misses of each set that the blocks meet, in a lap. */
static bool misses_of_blocks(struct fm_lab *lab, const struct fm_counted_plan *plan, unsigned bit,
                             size_t line, const struct blocks *blocks, double *each,
                             struct fm_error *err)
{
    uint32_t *list = malloc(blocks->count * blocks->lines * sizeof *list);
    if (!list)
        return no_list(err);
    for (size_t i = 0; i < blocks->count; i++)
        for (size_t j = 0; j < blocks->lines; j++)
            list[i * blocks->lines + j] = (uint32_t)(i * blocks->apart + j);
    if (!count_list(lab, plan, bit, list, blocks->count * blocks->lines, line, each, err))
        return false;
    *each /= (double)blocks->lines;
    return true;
}

/* The same of blocks that lie any numbers of ways apart, as many as there is room for. */
static bool misses_of_scattered(struct fm_lab *lab, const struct fm_counted_plan *plan, size_t line,
                                const struct blocks *blocks, size_t places, double *each,
                                struct fm_error *err)
{
    uint32_t *place = malloc(places * sizeof *place);
    uint32_t *list = malloc(blocks->count * blocks->lines * sizeof *list);
    struct fm_rng rng;
    if (!place || !list) {
        free(place);
        free(list);
        return no_list(err);
    }
    for (size_t i = 0; i < places; i++)
        place[i] = (uint32_t)i;
    fm_rng_seed(&rng, fm_lab_seed(lab));
    fm_rng_shuffle(&rng, place, places);
    for (size_t i = 0; i < blocks->count; i++)
        for (size_t j = 0; j < blocks->lines; j++)
            list[i * blocks->lines + j] = (uint32_t)(place[i] * blocks->apart + j);
    free(place);
    if (!count_list(lab, plan, plan->bit, list, blocks->count * blocks->lines, line, each, err))
        return false;
    *each /= (double)blocks->lines;
    return true;
}

/* Whether there is a level inside this one whose misses are counted. */
static bool inner_counts(const struct fm_lab *lab, const struct fm_counted_plan *plan)
{
    return plan->inner > 0 && lab->believed & 1u << (plan->bit - 1);
}

enum verdict { NOT, PERHAPS, SURELY };

/* What misses of a set in a lap where a line too many makes all of them miss. */
static double nearly_all(size_t ways)
{
    return NEARLY_ALL * (double)(ways + 1);
}

/* The lines of the level inside may be shorter, so that it keeps more of them than bytes tell. */
static size_t block_lines(const struct fm_counted_plan *plan, size_t way, size_t ways)
{
    const double wanted = BEYOND_INNER * plan->inner / (double)plan->unit / (double)(ways + 1);
    const size_t most = way > 1 ? way / 2 : 1;
    return wanted < 1 ? 1 : wanted < (double)most ? (size_t)ceil(wanted) : most;
}

/* `least`: what must miss of a set in a lap, or it is not the number. */
static bool judge_ways(struct fm_lab *lab, const struct fm_counted_plan *plan, size_t lines,
                       size_t line, size_t ways, double least, enum verdict *verdict,
                       struct fm_error *err)
{
    const size_t way = lines / ways;
    struct blocks blocks = {.count = ways + 1, .lines = block_lines(plan, way, ways), .apart = way};
    double beyond, within;
    *verdict = NOT;
    if (!misses_of_blocks(lab, plan, plan->bit, line, &blocks, &beyond, err))
        return false;
    if (beyond < least)
        return true;
    blocks.count = ways;
    if (!misses_of_blocks(lab, plan, plan->bit, line, &blocks, &within, err))
        return false;
    if (within >= ENOUGH)
        return true;
    /* Twice as far apart they are in the same sets, and fit as well: not so where the level inside
       keeps some of them, being exclusive, and the number is a multiple of the true one. */
    blocks.apart *= 2;
    if (!misses_of_blocks(lab, plan, plan->bit, line, &blocks, &within, err))
        return false;
    if (within >= ENOUGH)
        return true;
    /* So they do any number of ways apart, but where the index is hashed: what lies in a row does
       not meet there. */
    double more;
    blocks.apart = way;
    if (!misses_of_scattered(lab, plan, line, &blocks, SPREAD * ways, &within, err))
        return false;
    /* So many that they do not stay in the level inside. */
    blocks.count = 2 * ways + 1;
    if (!misses_of_scattered(lab, plan, line, &blocks, SPREAD * ways, &more, err))
        return false;
    if (within >= ENOUGH || more < TOO_MANY)
        return true;
    *verdict = beyond >= nearly_all(ways) ? SURELY : PERHAPS;
    if (*verdict == SURELY || !inner_counts(lab, plan))
        return true;
    /* Where a line too many does not make all miss, some of what fitted must have got here. */
    double inside;
    blocks.count = ways;
    if (!misses_of_blocks(lab, plan, plan->bit - 1, line, &blocks, &inside, err))
        return false;
    *verdict = inside >= TOO_MANY ? PERHAPS : NOT;
    return true;
}

/* Misses of as many lines as there are, from anywhere. */
static bool misses_anywhere(struct fm_lab *lab, const struct fm_counted_plan *plan, unsigned bit,
                            size_t lines, size_t line, uint64_t seed, double *misses,
                            struct fm_error *err)
{
    const size_t all = SPREAD * lines;
    uint32_t *list = malloc(all * sizeof *list);
    struct fm_rng rng;
    if (!list)
        return no_list(err);
    for (size_t i = 0; i < all; i++)
        list[i] = (uint32_t)i;
    fm_rng_seed(&rng, seed);
    fm_rng_shuffle(&rng, list, all);
    return count_list(lab, plan, bit, list, lines, line, misses, err);
}

/* One set holds as many lines as it has, wherever they are, and so half as many, of which sets that
   are many have too many somewhere. */
static bool hold_anywhere(struct fm_lab *lab, const struct fm_counted_plan *plan, size_t lines,
                          const struct fm_counted *found, uint64_t seed, bool *yes,
                          struct fm_error *err)
{
    *yes = true;
    for (size_t part = 2; part > 0 && *yes; part--) {
        double misses;
        if (!misses_anywhere(lab, plan, plan->bit, lines / part, found->line, seed, &misses, err))
            return false;
        *yes = misses < TOO_MANY;
    }
    return true;
}

/* That says nothing where the level inside holds some of them, so that they are never asked for
   here: others are tried then. */
static bool is_full(struct fm_lab *lab, const struct fm_counted_plan *plan, size_t lines,
                    const struct fm_counted *found, bool *yes, struct fm_error *err)
{
    bool through = false;
    *yes = true;
    for (int i = 0; i < LISTS && *yes && !through; i++) {
        const uint64_t seed = fm_lab_seed(lab);
        double inside = INFINITY;
        if (!hold_anywhere(lab, plan, lines, found, seed, yes, err) ||
            (*yes && inner_counts(lab, plan) &&
             !misses_anywhere(lab, plan, plan->bit - 1, lines, found->line, seed, &inside, err)))
            return false;
        through = inside > NEARLY_ALL * (double)lines;
    }
    *yes &= through;
    return true;
}

/* Words of a block that stand for lines so far apart that no two are neighbours; 0: blocks that are
   short enough would stay in the level inside. Half of the blocks move, and each half must get
   here. */
static size_t sparse_words(const struct fm_counted_plan *plan, const struct fm_counted *found,
                           size_t way, size_t apart)
{
    const double wanted =
        2 * BEYOND_INNER * plan->inner / (double)apart / (double)(found->ways + 1);
    const size_t most = way / 2 / apart;
    if (wanted < 1)
        return 1;
    return wanted <= (double)most ? (size_t)ceil(wanted) : 0;
}

/* Misses of each set in a lap over such blocks; every other one is moved on. */
static bool misses_when_moved(struct fm_lab *lab, const struct fm_counted_plan *plan, unsigned bit,
                              const struct fm_counted *found, size_t words, size_t offset,
                              double *misses, struct fm_error *err)
{
    const size_t way = (size_t)(found->bytes / (double)found->ways), unit = plan->unit;
    uint32_t *list = malloc((found->ways + 1) * words * sizeof *list);
    if (!list)
        return no_list(err);
    for (size_t i = 0; i <= found->ways; i++)
        for (size_t j = 0; j < words; j++)
            list[i * words + j] =
                (uint32_t)((i * way + j * 2 * plan->longest_line + i % 2 * offset) / unit);
    if (!count_list(lab, plan, bit, list, (found->ways + 1) * words, unit, misses, err))
        return false;
    *misses /= (double)words;
    return true;
}

/* Whether they all miss the level inside, and so get here; true where there is none. */
static bool get_here(struct fm_lab *lab, const struct fm_counted_plan *plan,
                     const struct fm_counted *found, size_t words, size_t offset, bool *yes,
                     struct fm_error *err)
{
    double misses;
    *yes = true;
    if (!(plan->inner > 0))
        return true;
    if (!misses_when_moved(lab, plan, plan->bit - 1, found, words, offset, &misses, err))
        return false;
    /* One line of a set that stays inside leaves room for the others here. */
    *yes = misses > ALL * (double)(found->ways + 1);
    return true;
}

/* Lines that conflict do so until some of them have moved on by a line. A prefetcher that brings a
   neighbour along can make a line seem twice as long to who asks what fits, but not here. */
static bool settle_line(struct fm_lab *lab, const struct fm_counted_plan *plan,
                        struct fm_counted *found, struct fm_error *err)
{
    const size_t way = (size_t)(found->bytes / (double)found->ways);
    const size_t words = sparse_words(plan, found, way, 2 * plan->longest_line);
    double still, moved;
    if (!words)
        return true;
    if (!misses_when_moved(lab, plan, plan->bit, found, words, 0, &still, err))
        return false;
    bool told = still > NEARLY_ALL * (double)(found->ways + 1);
    for (size_t offset = plan->unit; told && offset < found->line && offset < way; offset *= 2) {
        if (!misses_when_moved(lab, plan, plan->bit, found, words, offset, &moved, err) ||
            !get_here(lab, plan, found, words, offset, &told, err))
            return false;
        if (told && moved < RELIEVED * still) {
            found->line = offset;
            return true;
        }
    }
    return true;
}

/* A line too many in one set also shows in any multiple of its ways: that many lines and one, which
   meet several sets, are too many for one of them, and no more miss than that set has. So the
   largest factors tell of all that divide them. */
struct factors {
    size_t prime[MOST_PRIMES]; /* that the lines are so many times a factor */
    double misses[MOST_PRIMES];
    size_t count;
};

/* What misses of the largest factor that a prime leaves; asked once. */
static bool misses_of_factor(struct fm_lab *lab, const struct fm_counted_plan *plan, size_t lines,
                             size_t line, size_t prime, struct factors *factors, double *misses,
                             struct fm_error *err)
{
    for (size_t i = 0; i < factors->count; i++) {
        *misses = factors->misses[i];
        if (factors->prime[i] == prime)
            return true;
    }
    const struct blocks blocks = {.count = lines / prime + 1, .lines = 1, .apart = prime};
    if (!misses_of_blocks(lab, plan, plan->bit, line, &blocks, misses, err))
        return false;
    factors->prime[factors->count] = prime;
    factors->misses[factors->count++] = *misses;
    return true;
}

/* Whether so many misses are seen of some factor that is a multiple of so many ways: where none is,
   not even of one, no number of ways explains anything. */
static bool some_factor_misses(struct fm_lab *lab, const struct fm_counted_plan *plan, size_t lines,
                               size_t line, size_t ways, double least, struct factors *factors,
                               bool *yes, struct fm_error *err)
{
    size_t left = lines;
    *yes = false;
    for (size_t prime = 2; left > 1 && !*yes; prime++) {
        if (left % prime)
            continue;
        while (left % prime == 0)
            left /= prime;
        double misses;
        if (lines / prime % ways)
            continue;
        if (!misses_of_factor(lab, plan, lines, line, prime, factors, &misses, err))
            return false;
        *yes = misses >= least;
    }
    return true;
}

/* The smallest number of ways that does not fit, or a larger one that misses all over. Who counts
   exactly sees one set among many, and so which numbers need be asked. */
static bool try_all_ways(struct fm_lab *lab, const struct fm_counted_plan *plan, size_t lines,
                         struct fm_counted *found, struct fm_error *err)
{
    const bool exact = fm_counts_are_exact(lab, plan->bit);
    struct factors factors = {.count = 0};
    enum verdict verdict = NOT;
    bool asked = false;
    for (size_t ways = 1; ways < lines && verdict != SURELY; ways++) {
        /* One way leaves no policy a choice: both of two lines miss. */
        const double least = found->ways || ways == 1 ? nearly_all(ways) : TOO_MANY;
        const bool ask = exact && (found->ways || (!asked && ways > FEW_WAYS));
        bool possible = true;
        if (lines % ways)
            continue;
        if (ask && !some_factor_misses(lab, plan, lines, found->line, found->ways ? ways : 1, least,
                                       &factors, &possible, err))
            return false;
        asked |= ask;
        if (!possible && !found->ways)
            return true;
        if (possible && !judge_ways(lab, plan, lines, found->line, ways, least, &verdict, err))
            return false;
        if (possible && (verdict == SURELY || (verdict == PERHAPS && !found->ways)))
            found->ways = ways;
    }
    return true;
}

bool fm_counted_ways(struct fm_lab *lab, const struct fm_counted_plan *plan,
                     struct fm_counted *found, struct fm_error *err)
{
    const size_t lines = (size_t)(found->bytes / (double)found->line);
    if (!fm_lab_place(lab, SPREAD * lines * found->line, err) ||
        !try_all_ways(lab, plan, lines, found, err))
        return false;
    if (found->ways)
        return settle_line(lab, plan, found, err);
    if (!is_full(lab, plan, lines, found, &found->full, err))
        return false;
    found->ways = found->full ? lines : 0;
    return true;
}
