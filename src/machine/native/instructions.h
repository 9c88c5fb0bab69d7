/* The few instructions that C has no words for: flushing a line, and dependent adds and rotates
 * that no compiler may fold.
 *
 * The add takes its second operand from a register: some cores fold chains of small immediates
 * while renaming, and would seem to run faster than their clock. The rotate is the second opinion
 * on the cycle time; where the base instruction set has none (RISC-V without Zbb) it is an
 * exclusive or, which is another single operation of the same kind. */
#ifndef FM_MACHINE_NATIVE_INSTRUCTIONS_H
#define FM_MACHINE_NATIVE_INSTRUCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#if defined(__aarch64__)

#define FM_REAL_REGISTER "w" /* where a real number is loaded to */
#define FM_ADD_TEXT      "add %0, %0, %1\n\t"
#define FM_ROTATE_TEXT   "ror %0, %0, #7\n\t"

static inline void fm_flush(const void *address)
{
    __asm__ volatile("dc civac, %0" : : "r"(address) : "memory");
}

static inline void fm_flush_done(void)
{
    __asm__ volatile("dsb ish" : : : "memory");
}

#elif defined(__x86_64__)

#define FM_REAL_REGISTER "x"
#define FM_ADD_TEXT      "add %1, %0\n\t"
#define FM_ROTATE_TEXT   "rol $7, %0\n\t"

/* Each waits until the one before has reached memory and come back … */
static inline void fm_flush(const void *address)
{
    __asm__ volatile("clflush (%0)" : : "r"(address) : "memory");
}

/* … but these do not, on processors that have them. */
#define FM_FLUSHES_AT_ONCE
static inline void fm_flush_at_once(const void *address)
{
    __asm__ volatile("clflushopt (%0)" : : "r"(address) : "memory");
}

static inline bool fm_can_flush_at_once(void)
{
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && ebx & bit_CLFLUSHOPT;
}

static inline void fm_flush_done(void)
{
    __asm__ volatile("mfence" : : : "memory");
}

#elif defined(__powerpc64__)

#define FM_REAL_REGISTER "d"
#define FM_ADD_TEXT      "add %0, %0, %1\n\t"
#define FM_ROTATE_TEXT   "rotldi %0, %0, 7\n\t"

static inline void fm_flush(const void *address)
{
    __asm__ volatile("dcbf 0, %0" : : "r"(address) : "memory");
}

static inline void fm_flush_done(void)
{
    __asm__ volatile("sync" : : : "memory");
}

#else

#if defined(__riscv) && __riscv_xlen == 64
#define FM_REAL_REGISTER "f"
#define FM_ADD_TEXT      "add %0, %0, %1\n\t"
#ifdef __riscv_zbb
#define FM_ROTATE_TEXT "rori %0, %0, 7\n\t"
#else
#define FM_ROTATE_TEXT "xor %0, %0, %1\n\t"
#endif
#endif

static inline void fm_flush(const void *address)
{
    (void)address;
}

static inline void fm_flush_done(void)
{
}

#endif

#ifndef FM_FLUSHES_AT_ONCE
static inline void fm_flush_at_once(const void *address)
{
    fm_flush(address);
}

static inline bool fm_can_flush_at_once(void)
{
    return false;
}
#endif

#ifndef FM_REAL_REGISTER
#define FM_REAL_REGISTER "g"
#endif

#ifdef FM_ADD_TEXT

#define FM_REPEAT_4(text)   text text text text
#define FM_REPEAT_64(text)  FM_REPEAT_4(FM_REPEAT_4(FM_REPEAT_4(text)))
#define FM_OPERATE(text, x) __asm__ volatile(text : "+r"(x) : "r"((uint64_t)3) : "cc")
#define FM_ADD(x)           FM_OPERATE(FM_ADD_TEXT, x)
#define FM_ADD_64(x)        FM_OPERATE(FM_REPEAT_64(FM_ADD_TEXT), x)
#define FM_ROTATE(x)        FM_OPERATE(FM_ROTATE_TEXT, x)
#define FM_ROTATE_64(x)     FM_OPERATE(FM_REPEAT_64(FM_ROTATE_TEXT), x)

#else

/* An architecture without a part above: plain C, the compiler kept from seeing through it. */
#define FM_HIDE(x)         __asm__ volatile("" : "+r"(x))
#define FM_REPEAT_4(step)  step step step step
#define FM_REPEAT_64(step) FM_REPEAT_4(FM_REPEAT_4(FM_REPEAT_4(step)))
#define FM_ADD_STEP(x)                                                                             \
    x += 3;                                                                                        \
    FM_HIDE(x);
#define FM_ROTATE_STEP(x)                                                                          \
    x = x << 7 | x >> 57;                                                                          \
    FM_HIDE(x);
#define FM_ADD(x)                                                                                  \
    do {                                                                                           \
        FM_ADD_STEP(x)                                                                             \
    } while (0)
#define FM_ADD_64(x)                                                                               \
    do {                                                                                           \
        FM_REPEAT_64(FM_ADD_STEP(x))                                                               \
    } while (0)
#define FM_ROTATE(x)                                                                               \
    do {                                                                                           \
        FM_ROTATE_STEP(x)                                                                          \
    } while (0)
#define FM_ROTATE_64(x)                                                                            \
    do {                                                                                           \
        FM_REPEAT_64(FM_ROTATE_STEP(x))                                                            \
    } while (0)

#endif
#endif
