/* One bit a way, 64 to a word. The policies that number their ways begin their state with a row
   of these that marks the empty ways. */
#ifndef FM_POLICY_BITS_H
#define FM_POLICY_BITS_H

#include <stddef.h>
#include <stdint.h>

#define FM_NO_BIT UINT32_MAX

static inline size_t fm_bits_words(uint32_t ways)
{
    return ((size_t)ways + 63) / 64;
}

/* The bits of word i that stand for ways. */
static inline uint64_t fm_bits_used(uint32_t ways, size_t i)
{
    const size_t left = ways - i * 64;
    return left >= 64 ? UINT64_MAX : ((uint64_t)1 << left) - 1;
}

static inline void fm_bits_set(uint64_t *bits, uint32_t way)
{
    bits[way / 64] |= (uint64_t)1 << (way % 64);
}

static inline void fm_bits_clear(uint64_t *bits, uint32_t way)
{
    bits[way / 64] &= ~((uint64_t)1 << (way % 64));
}

static inline void fm_bits_fill(uint64_t *bits, uint32_t ways)
{
    for (size_t i = 0; i < fm_bits_words(ways); i++)
        bits[i] = fm_bits_used(ways, i);
}

/* The lowest way whose bit is set, FM_NO_BIT if none is. */
static inline uint32_t fm_bits_first(const uint64_t *bits, uint32_t ways)
{
    for (size_t i = 0; i < fm_bits_words(ways); i++)
        if (bits[i])
            return (uint32_t)(i * 64) + (uint32_t)__builtin_ctzll(bits[i]);
    return FM_NO_BIT;
}

/* The highest one. */
static inline uint32_t fm_bits_last(const uint64_t *bits, uint32_t ways)
{
    for (size_t i = fm_bits_words(ways); i-- > 0;)
        if (bits[i])
            return (uint32_t)(i * 64) + 63 - (uint32_t)__builtin_clzll(bits[i]);
    return FM_NO_BIT;
}

#endif
