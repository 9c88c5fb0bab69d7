/* The processor's own time counter, where it has one that a program may read.
 *
 * Each architecture gives three things: FM_COUNTER_NAME, fm_counter_read() with fences on both
 * sides, and fm_counter_hint_hz(), the frequency the hardware states (0: it does not say). The
 * fences keep the timed loads from drifting out of the timed part, and the reading from being
 * taken early. Whoever wants loads to be complete at the second reading must let a branch depend
 * on their result before it: the fence then waits for the branch. */
#ifndef FM_METER_COUNTER_H
#define FM_METER_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__aarch64__)

#define FM_COUNTER_NAME "cntvct"

static inline uint64_t fm_counter_read(void)
{
    uint64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
    return ticks;
}

static inline double fm_counter_hint_hz(void)
{
    uint64_t hz;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
    return (double)hz;
}

static inline bool fm_counter_present(void)
{
    return true;
}

#elif defined(__x86_64__)

#include <cpuid.h>

#define FM_COUNTER_NAME "tsc"

static inline uint64_t fm_counter_read(void)
{
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
}

static inline double fm_counter_hint_hz(void)
{
    return 0;
}

/* A time stamp counter that is not invariant follows the core's frequency and stops in deep idle:
   it is no clock. */
static inline bool fm_counter_present(void)
{
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) && (edx >> 8 & 1);
}

#elif defined(__riscv) && __riscv_xlen == 64

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define FM_COUNTER_NAME "rdtime"

static inline uint64_t fm_counter_read(void)
{
    uint64_t ticks;
    __asm__ volatile("fence\n\trdtime %0\n\tfence" : "=r"(ticks) : : "memory");
    return ticks;
}

static inline double fm_counter_hint_hz(void)
{
    return 0;
}

/* The system may forbid the instruction to programs. A child that tries it shows that without a
   signal handler in the process that called us. */
static inline bool fm_counter_present(void)
{
    const pid_t child = fork();
    if (child == 0) {
        fm_counter_read();
        _exit(0);
    }
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

#elif defined(__powerpc64__)

#define FM_COUNTER_NAME "timebase"

static inline uint64_t fm_counter_read(void)
{
    uint64_t ticks;
    __asm__ volatile("isync\n\tmfspr %0, 268\n\tisync" : "=r"(ticks) : : "memory");
    return ticks;
}

static inline double fm_counter_hint_hz(void)
{
    return 0;
}

static inline bool fm_counter_present(void)
{
    return true;
}

#else

#define FM_COUNTER_NAME "none"

static inline uint64_t fm_counter_read(void)
{
    return 0;
}

static inline double fm_counter_hint_hz(void)
{
    return 0;
}

static inline bool fm_counter_present(void)
{
    return false;
}

#endif
#endif
