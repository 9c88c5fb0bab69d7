#include "machine/native/emit.h"

#define NOP      0x00000013u /* addi x0, x0, 0 */
#define JAL      0x0000006fu /* jal x0, … */
#define AUIPC_T1 0x00000317u /* auipc t1, … */
#define JR_T1    0x00030067u /* jalr x0, …(t1) */
/* Compressed ones, two to a word: every system that Linux runs on has them, and without them a turn
   would not fit. */
#define A0_LESS    0x157du /* c.addi a0, -1 */
#define BEQZ_A0_10 0xc509u /* c.beqz a0, . + 10 */
#define RET        0x8082u /* c.jr ra */

#define NEAR ((int64_t)1 << 20)

static void filler(uint8_t *at)
{
    fm_emit_word(at, NOP);
}

/* The bits of a jal's distance stand where they are cheapest to wire. */
static uint32_t jal_bits(uint32_t d)
{
    return (d >> 20 & 1) << 31 | (d >> 1 & 0x3ff) << 21 | (d >> 11 & 1) << 20 | (d & 0xff000);
}

/* Beyond a jal's reach by way of t1, which no return address predictor watches, as it does t0. */
static void jump(uint8_t *at, int64_t distance)
{
    const uint32_t d = (uint32_t)distance;
    if (distance >= -NEAR && distance < NEAR) {
        fm_emit_word(at, JAL | jal_bits(d));
        fm_emit_word(at + 4, NOP);
        return;
    }
    fm_emit_word(at, AUIPC_T1 | ((d + 0x800) & 0xfffff000));
    fm_emit_word(at + 4, JR_T1 | d << 20);
}

static void turn(uint8_t *at, int64_t distance)
{
    fm_emit_word(at, A0_LESS | BEQZ_A0_10 << 16);
    jump(at + 4, distance - 4);
    fm_emit_word(at + 12, RET | RET << 16);
}

const struct fm_emitter fm_emit_riscv64 = {
    .arch = "riscv64",
    .reach = ((int64_t)1 << 31) - 4096,
    .filler = filler,
    .jump = jump,
    .turn = turn,
};
