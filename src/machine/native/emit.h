/* Machine code, written byte by byte: the three forms that strings of jumps are made of, for each
 * architecture that has a file emit_*.c. Nothing here runs or maps anything, so that every emitter
 * is built and tested everywhere. */
#ifndef FM_MACHINE_NATIVE_EMIT_H
#define FM_MACHINE_NATIVE_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fm_emitter {
    const char *arch; /* as uname says it */
    int64_t reach;    /* bytes that a jump leads at the most, either way */

    /* An operation of FM_FILLER bytes that does nothing. */
    void (*filler)(uint8_t *at);

    /* A jump by `distance` bytes from `at`, in FM_WORD bytes or less. A direct one, so that what
       knows its target is the branch predictor, or else the decoder, and no register. */
    void (*jump)(uint8_t *at, int64_t distance);

    /* Counts the first argument of the function that was called down by one and returns to the
       caller at zero; otherwise jumps by `distance` bytes from `at`. FM_TURN bytes or less. */
    void (*turn)(uint8_t *at, int64_t distance);
};

extern const struct fm_emitter fm_emit_aarch64;
extern const struct fm_emitter fm_emit_x86_64;
extern const struct fm_emitter fm_emit_riscv64;
extern const struct fm_emitter fm_emit_ppc64le;

/* The one for the architecture this was compiled for; NULL: there is none. */
const struct fm_emitter *fm_emitter_here(void);

/* A word of code, lowest byte first, as all four have it. */
static inline void fm_emit_word(uint8_t *at, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(word >> 8 * i);
}

#endif
