#include <string.h>

#include "machine/native/emit.h"

#define JMP_REL32 0xe9
#define RET       0xc3

/* nopl 0(%rax): one operation, where four bytes of nop would be four. */
static void filler(uint8_t *at)
{
    memcpy(at, (const uint8_t[]){0x0f, 0x1f, 0x40, 0x00}, 4);
}

/* The distance counts from the instruction's end. */
static void jump(uint8_t *at, int64_t distance)
{
    at[0] = JMP_REL32;
    fm_emit_word(at + 1, (uint32_t)(distance - 5));
}

static void turn(uint8_t *at, int64_t distance)
{
    memcpy(at, (const uint8_t[]){0x48, 0xff, 0xcf}, 3); /* dec %rdi */
    memcpy(at + 3, (const uint8_t[]){0x74, 5}, 2);      /* jz, over the jump */
    jump(at + 5, distance - 5);
    at[10] = RET;
}

const struct fm_emitter fm_emit_x86_64 = {
    .arch = "x86_64",
    .reach = ((int64_t)1 << 31) - 64,
    .filler = filler,
    .jump = jump,
    .turn = turn,
};
