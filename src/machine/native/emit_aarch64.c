#include "machine/native/emit.h"

#define NOP        0xd503201fu
#define B          0x14000000u /* 26 bits of distance, in words */
#define SUB_X0_ONE 0xd1000400u /* sub x0, x0, #1 */
#define CBZ_X0     0xb4000000u /* 19 bits of distance, in words, from bit 5 on */
#define RET        0xd65f03c0u

static void filler(uint8_t *at)
{
    fm_emit_word(at, NOP);
}

static void jump(uint8_t *at, int64_t distance)
{
    fm_emit_word(at, B | ((uint32_t)(distance / 4) & 0x3ffffff));
}

static void turn(uint8_t *at, int64_t distance)
{
    fm_emit_word(at, SUB_X0_ONE);
    fm_emit_word(at + 4, CBZ_X0 | 2u << 5);
    jump(at + 8, distance - 8);
    fm_emit_word(at + 12, RET);
}

const struct fm_emitter fm_emit_aarch64 = {
    .arch = "aarch64",
    .reach = ((int64_t)1 << 27) - 64,
    .filler = filler,
    .jump = jump,
    .turn = turn,
};
