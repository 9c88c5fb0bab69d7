#include "machine/native/emit.h"

#define NOP     0x60000000u /* ori 0, 0, 0 */
#define B       0x48000000u /* 24 bits of distance, in words, from bit 2 on */
#define R3_LESS 0x3463ffffu /* addic. 3, 3, -1 */
#define BEQ_8   0x41820008u /* beq . + 8 */
#define BLR     0x4e800020u

static void filler(uint8_t *at)
{
    fm_emit_word(at, NOP);
}

static void jump(uint8_t *at, int64_t distance)
{
    fm_emit_word(at, B | ((uint32_t)distance & 0x3fffffc));
}

static void turn(uint8_t *at, int64_t distance)
{
    fm_emit_word(at, R3_LESS);
    fm_emit_word(at + 4, BEQ_8);
    jump(at + 8, distance - 8);
    fm_emit_word(at + 12, BLR);
}

const struct fm_emitter fm_emit_ppc64le = {
    .arch = "ppc64le",
    .reach = ((int64_t)1 << 25) - 64,
    .filler = filler,
    .jump = jump,
    .turn = turn,
};
