#include "policy/bits.h"
#include "policy/policies.h"

/* Policies that keep an age of two bits a way; core/replacement.h says what their rules mean.
   State: the empty ways, then the ages, 32 to a word. An empty way has age 3. SRRIP and BRRIP
   (Jaleel et al., ISCA 2010, with hit priority) and NRU are members of the family: their
   "re-reference intervals" are ages, and NRU knows but the youngest and the oldest. */

#define OLDEST   3u
#define LOW_BITS 0x5555555555555555u

/* A set of so few ways has its ages in one word. Everything is compiled for that once more, since
   most sets are no wider, and whoever predicts what policies do asks for little else. */
#define ONE_WORD 32

struct row {
    uint64_t *empty, *ages;
    uint32_t ways;
    size_t words; /* of ages */
};

static inline __attribute__((always_inline)) struct row narrow(uint64_t *state, uint32_t ways)
{
    return (struct row){state, state + 1, ways, 1};
}

static size_t age_words(uint32_t ways)
{
    return ((size_t)ways + 31) / 32;
}

static struct row wide(uint64_t *state, uint32_t ways)
{
    return (struct row){state, state + fm_bits_words(ways), ways, age_words(ways)};
}

static struct row row_of(uint64_t *state, uint32_t ways)
{
    return ways <= ONE_WORD ? narrow(state, ways) : wide(state, ways);
}

/* The lower bit of each pair in word i that stands for a way. */
static inline uint64_t pairs_used(uint32_t ways, size_t i)
{
    const size_t left = ways - i * 32;
    return left >= 32 ? LOW_BITS : LOW_BITS & (((uint64_t)1 << (2 * left)) - 1);
}

static inline unsigned age_of(const struct row *row, uint32_t way)
{
    return row->ages[way / 32] >> (2 * (way % 32)) & 3;
}

static inline void set_age(const struct row *row, uint32_t way, unsigned age)
{
    const uint32_t shift = 2 * (way % 32);
    uint64_t *word = &row->ages[way / 32];
    *word = (*word & ~((uint64_t)3 << shift)) | (uint64_t)age << shift;
}

static size_t words(uint32_t ways)
{
    return fm_bits_words(ways) + age_words(ways);
}

static void reset(uint64_t *state, uint32_t ways)
{
    const struct row row = row_of(state, ways);
    fm_bits_fill(state, ways);
    for (size_t i = 0; i < row.words; i++)
        row.ages[i] = OLDEST * pairs_used(ways, i);
}

/* The lower bits of the pairs in word i that may grow: all but that of the line in use. */
static inline uint64_t growing(const struct row *row, size_t i, uint32_t except)
{
    const uint64_t all = pairs_used(row->ways, i);
    return except / 32 == i ? all & ~((uint64_t)1 << (2 * (except % 32))) : all;
}

static inline unsigned oldest(const struct row *row, uint32_t except)
{
    uint64_t three = 0, two = 0, one = 0;
    for (size_t i = 0; i < row->words; i++) {
        const uint64_t mask = growing(row, i, except);
        const uint64_t low = row->ages[i] & mask, high = (row->ages[i] >> 1) & mask;
        three |= low & high;
        two |= high;
        one |= low;
    }
    return three ? 3 : two ? 2 : one ? 1 : 0;
}

/* No pair overflows: it grows by what the oldest lacks at the most. */
static inline void grow(const struct row *row, uint32_t except, unsigned by)
{
    for (size_t i = 0; i < row->words && by; i++)
        row->ages[i] += growing(row, i, except) * by;
}

/* `way` is in use; FM_NO_BIT where none is. */
static inline __attribute__((always_inline)) void age(const struct fm_policy *is,
                                                      const struct row *row, uint32_t way)
{
    const uint32_t except = is->rule.aging % 2 ? way : FM_NO_BIT;
    if (is->rule.aging < 2)
        grow(row, except, OLDEST - oldest(row, except));
    else if (oldest(row, FM_NO_BIT) < OLDEST)
        grow(row, except, 1);
}

static inline __attribute__((always_inline)) void hit_in(const struct fm_policy *is, struct row row,
                                                         uint32_t way)
{
    const unsigned was = age_of(&row, way);
    set_age(&row, way, was == 3 ? is->rule.from_three : was == 2 ? is->rule.from_two : 0);
    if (!is->rule.on_miss)
        age(is, &row, way);
}

static void hit(const struct fm_policy *is, uint64_t *state, uint32_t ways, uint32_t way)
{
    if (ways <= ONE_WORD)
        hit_in(is, narrow(state, ways), way);
    else
        hit_in(is, wide(state, ways), way);
}

static inline uint32_t first_oldest(const struct row *row)
{
    for (size_t i = 0; i < row->words; i++) {
        const uint64_t three = row->ages[i] & (row->ages[i] >> 1) & LOW_BITS;
        if (three)
            return (uint32_t)(i * 32) + (uint32_t)__builtin_ctzll(three) / 2;
    }
    return 0;
}

static inline __attribute__((always_inline)) uint32_t victim_in(const struct fm_policy *is,
                                                                struct row row)
{
    const uint32_t empty = is->rule.choice == 2 ? fm_bits_last(row.empty, row.ways)
                                                : fm_bits_first(row.empty, row.ways);
    if (is->rule.on_miss)
        age(is, &row, FM_NO_BIT);
    return empty != FM_NO_BIT ? empty : first_oldest(&row);
}

static uint32_t victim(const struct fm_policy *is, uint64_t *state, uint32_t ways,
                       struct fm_rng *rng)
{
    (void)rng;
    return ways <= ONE_WORD ? victim_in(is, narrow(state, ways)) : victim_in(is, wide(state, ways));
}

static inline __attribute__((always_inline)) void
fill_in(const struct fm_policy *is, struct row row, uint32_t way, struct fm_rng *rng)
{
    const bool younger = is->rarely && fm_rng_below(rng, is->rarely) == 0;
    fm_bits_clear(row.empty, way);
    set_age(&row, way, is->rule.inserted - younger);
    if (!is->rule.on_miss)
        age(is, &row, way);
}

static void fill(const struct fm_policy *is, uint64_t *state, uint32_t ways, uint32_t way,
                 struct fm_rng *rng)
{
    if (ways <= ONE_WORD)
        fill_in(is, narrow(state, ways), way, rng);
    else
        fill_in(is, wide(state, ways), way, rng);
}

static void drop(uint64_t *state, uint32_t ways, uint32_t way)
{
    const struct row row = row_of(state, ways);
    fm_bits_set(state, way);
    set_age(&row, way, OLDEST);
}

#define OPERATIONS                                                                                 \
    .words = words, .reset = reset, .hit = hit, .victim = victim, .fill = fill, .drop = drop

const struct fm_policy fm_policy_qlru = {OPERATIONS};
const struct fm_policy fm_policy_nru = {OPERATIONS, .rule = {.on_miss = true}};
const struct fm_policy fm_policy_srrip = {OPERATIONS, .rule = {.inserted = 2, .on_miss = true}};
/* One line in 32 is given a chance, as in the paper. */
const struct fm_policy fm_policy_brrip = {OPERATIONS, .rule = {.inserted = 3, .on_miss = true},
                                          .rarely = 32, .draws = true};
