#include "machine/native/loops.h"

#include <string.h>

#include "machine/native/instructions.h"

/* Checks that a sanitizer adds to every load would be measured with it. */
#define UNCHECKED __attribute__((no_sanitize("address", "undefined")))

/* A volatile load can neither be left out nor moved; nothing but these loads is on the path from
   one to the next. */
#define STEP    p = *(void *volatile *)p;
#define STEPS4  STEP STEP STEP STEP
#define STEPS16 STEPS4 STEPS4 STEPS4 STEPS4

UNCHECKED void *fm_chase(void *start, uint64_t steps)
{
    void *p = start;
    for (uint64_t left = steps / 16; left; left--) {
        STEPS16
    }
    for (uint64_t left = steps % 16; left; left--) {
        STEP
    }
    return p;
}

/* Through a register for real numbers, and from there to the address of the next: the compiler must
   not know that it could have loaded the pointer at once. */
UNCHECKED void *fm_chase_real(void *start, uint64_t steps)
{
    void *p = start;
    for (uint64_t left = steps; left; left--) {
        double value = *(const volatile double *)p;
        __asm__ volatile("" : "+" FM_REAL_REGISTER(value));
        memcpy(&p, &value, sizeof p);
    }
    return p;
}

/* What joins the two is cut to nothing by a mask that is 0; the compiler does not know that, and
   the processor waits for both loads. Without it a chain that had to wait once would run behind the
   other from then on, and never meet it again. */
UNCHECKED void fm_chase_pairs(void *ends[2], uint64_t pairs)
{
    uintptr_t one = (uintptr_t)ends[0], other = (uintptr_t)ends[1], zero = 0;
    __asm__ volatile("" : "+r"(zero));
    for (uint64_t left = pairs; left; left--) {
        one = *(volatile uintptr_t *)one;
        other = *(volatile uintptr_t *)other;
        const uintptr_t both = (one ^ other) & zero;
        one += both;
        other += both;
    }
    ends[0] = (void *)one;
    ends[1] = (void *)other;
}

static inline UNCHECKED volatile uint64_t *word_at(const struct fm_walk *walk, size_t i)
{
    return (volatile uint64_t *)(void *)(walk->base + (size_t)walk->word[i] * FM_WORD);
}

/* Links each word to the one so many further on. */
static UNCHECKED void link_each(const struct fm_walk *walk, size_t step)
{
    for (size_t i = 0, to = step % walk->count; i < walk->count; i++) {
        const uintptr_t next = (uintptr_t)word_at(walk, to);
        to = to + 1 < walk->count ? to + 1 : 0;
        if (*word_at(walk, i) != next)
            *word_at(walk, i) = next;
    }
}

UNCHECKED void fm_walk_link(const struct fm_walk *walk)
{
    link_each(walk, 1);
}

UNCHECKED void fm_walk_link_pairs(const struct fm_walk *walk)
{
    link_each(walk, 2);
}

/* The next stretch of the walk without a wrap: the index of its first word; *end is one past its
   last. The references in it are taken off what is left. */
static inline UNCHECKED size_t stretch(struct fm_walk *walk, uint64_t *left, size_t *end)
{
    const size_t first = walk->at;
    const size_t room = walk->count - first;
    const size_t length = *left < room ? (size_t)*left : room;
    *end = first + length;
    *left -= length;
    walk->at = *end == walk->count ? 0 : *end;
    return first;
}

UNCHECKED uint64_t fm_walk_load(struct fm_walk *walk, uint64_t references)
{
    uint64_t all = 0;
    for (uint64_t left = references; left;) {
        size_t end;
        for (size_t i = stretch(walk, &left, &end); i < end; i++)
            all |= *word_at(walk, i);
    }
    return all;
}

/* A value that nothing reads is loaded all the same, but not in valgrind's model. */
UNCHECKED uint64_t fm_walk_load_real(struct fm_walk *walk, uint64_t references)
{
    uint64_t all = 0;
    for (uint64_t left = references; left;) {
        size_t end;
        for (size_t i = stretch(walk, &left, &end); i < end; i++) {
            double value = *(const volatile double *)(const volatile void *)word_at(walk, i);
            uint64_t bits;
            __asm__ volatile("" : "+" FM_REAL_REGISTER(value));
            memcpy(&bits, &value, sizeof bits);
            all |= bits;
        }
    }
    return all;
}

/* The next address has the loaded value in it, cut to nothing by a mask that is 0; the compiler
   does not know that, and the processor waits for it. */
UNCHECKED uint64_t fm_walk_load_dependent(struct fm_walk *walk, uint64_t references)
{
    size_t zero = 0;
    __asm__ volatile("" : "+r"(zero));
    uint64_t value = 0;
    for (uint64_t left = references; left;) {
        size_t end;
        for (size_t i = stretch(walk, &left, &end); i < end; i++)
            value = *(word_at(walk, i) + (value & zero));
    }
    return value;
}

UNCHECKED void fm_walk_store(struct fm_walk *walk, const uint64_t *values, uint64_t references)
{
    for (uint64_t left = references; left;) {
        size_t end;
        for (size_t i = stretch(walk, &left, &end); i < end; i++)
            *word_at(walk, i) = values[i];
    }
}

static inline UNCHECKED __attribute__((always_inline)) void
flush_by(void (*flush)(const void *address), struct fm_walk *walk, uint64_t references)
{
    for (uint64_t left = references; left;) {
        size_t end;
        for (size_t i = stretch(walk, &left, &end); i < end; i++)
            flush((const void *)(uintptr_t)word_at(walk, i));
    }
    fm_flush_done();
}

UNCHECKED void fm_walk_flush(struct fm_walk *walk, uint64_t references)
{
    flush_by(fm_flush, walk, references);
}

static UNCHECKED void flush_at_once(struct fm_walk *walk, uint64_t references)
{
    flush_by(fm_flush_at_once, walk, references);
}

fm_walk_flusher *fm_walk_flusher_here(void)
{
    return fm_can_flush_at_once() ? flush_at_once : fm_walk_flush;
}

static uint64_t add_chain(uint64_t operations)
{
    uint64_t x = 1;
    for (uint64_t left = operations / 64; left; left--)
        FM_ADD_64(x);
    for (uint64_t left = operations % 64; left; left--)
        FM_ADD(x);
    return x;
}

static uint64_t rotate_chain(uint64_t operations)
{
    uint64_t x = 1;
    for (uint64_t left = operations / 64; left; left--)
        FM_ROTATE_64(x);
    for (uint64_t left = operations % 64; left; left--)
        FM_ROTATE(x);
    return x;
}

/* More at once than any core has units for. */
uint64_t fm_operate_wide(uint64_t steps)
{
    uint64_t a = 1, b = 1, c = 1, d = 1, e = 1, f = 1, g = 1, h = 1;
    for (uint64_t left = steps; left; left--) {
        FM_ADD(a);
        FM_ADD(b);
        FM_ADD(c);
        FM_ADD(d);
        FM_ADD(e);
        FM_ADD(f);
        FM_ADD(g);
        FM_ADD(h);
    }
    return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
}

uint64_t fm_operate(enum fm_chain kind, uint64_t operations)
{
    return kind == FM_CHAIN_ADD ? add_chain(operations) : rotate_chain(operations);
}
