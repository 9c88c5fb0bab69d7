#include "policy/bits.h"
#include "policy/policies.h"

/* Static re-reference interval prediction with two bits a way (Jaleel et al., ISCA 2010, hit
   priority). State: the empty ways, then the predictions, 32 to a word: 0 is "soon", 3 is
   "distant". A line comes in with 2, a hit makes it 0; the lowest way with a 3 is replaced, and
   while there is none all grow by one. */

#define SOON     0u
#define LONG     2u
#define DISTANT  3u
#define LOW_BITS 0x5555555555555555u

static size_t prediction_words(uint32_t ways)
{
    return ((size_t)ways + 31) / 32;
}

static uint64_t *predictions(uint64_t *state, uint32_t ways)
{
    return state + fm_bits_words(ways);
}

/* The lower bit of each pair in word i that stands for a way. */
static uint64_t pairs_used(uint32_t ways, size_t i)
{
    const size_t left = ways - i * 32;
    return left >= 32 ? LOW_BITS : LOW_BITS & (((uint64_t)1 << (2 * left)) - 1);
}

static void predict(uint64_t *state, uint32_t ways, uint32_t way, uint64_t value)
{
    uint64_t *word = predictions(state, ways) + way / 32;
    const uint32_t shift = 2 * (way % 32);
    *word = (*word & ~((uint64_t)3 << shift)) | value << shift;
}

static size_t words(uint32_t ways)
{
    return fm_bits_words(ways) + prediction_words(ways);
}

static void reset(uint64_t *state, uint32_t ways)
{
    fm_bits_fill(state, ways);
    for (size_t i = 0; i < prediction_words(ways); i++)
        predictions(state, ways)[i] = DISTANT * pairs_used(ways, i);
}

static void hit(uint64_t *state, uint32_t ways, uint32_t way)
{
    predict(state, ways, way, SOON);
}

static uint32_t first_distant(const uint64_t *row, uint32_t ways)
{
    for (size_t i = 0; i < prediction_words(ways); i++) {
        const uint64_t distant = row[i] & (row[i] >> 1) & LOW_BITS;
        if (distant)
            return (uint32_t)(i * 32) + (uint32_t)__builtin_ctzll(distant) / 2;
    }
    return FM_NO_BIT;
}

static uint32_t victim(uint64_t *state, uint32_t ways, struct fm_rng *rng)
{
    (void)rng;
    const uint32_t empty = fm_bits_first(state, ways);
    if (empty != FM_NO_BIT)
        return empty;
    uint64_t *row = predictions(state, ways);
    uint32_t way;
    /* No pair overflows: growth happens only while every prediction is below 3. */
    while ((way = first_distant(row, ways)) == FM_NO_BIT)
        for (size_t i = 0; i < prediction_words(ways); i++)
            row[i] += pairs_used(ways, i);
    return way;
}

static void fill(uint64_t *state, uint32_t ways, uint32_t way)
{
    fm_bits_clear(state, way);
    predict(state, ways, way, LONG);
}

static void drop(uint64_t *state, uint32_t ways, uint32_t way)
{
    fm_bits_set(state, way);
    predict(state, ways, way, DISTANT);
}

const struct fm_policy fm_policy_srrip = {
    .name = "srrip",
    .words = words,
    .reset = reset,
    .hit = hit,
    .victim = victim,
    .fill = fill,
    .drop = drop,
};
