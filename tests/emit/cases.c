/* What the emitters write, and the same as an assembler reads it:
 *
 *     cases ARCH bytes     the code of all cases, each padded with zeros to 32 bytes
 *     cases ARCH text      the source that should assemble to these bytes
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "machine/native/emit.h"

#define CASE 32

/* Near and far, both ways, at the ends of what short forms reach. */
static const int64_t distances[] = {8,         -8,       32,        4096,      -4096,     1048572,
                                    -1048576,  1048576,  -1048580,  1050624,   -1050624,  6291452,
                                    -20971520, 33554300, -33554300, 134217600, 2147000000};

struct dialect {
    const struct fm_emitter *emitter;
    const char *head;
    void (*filler)(void);
    void (*jump)(int64_t distance);
    void (*turn)(int64_t distance);
};

static void aarch64_filler(void)
{
    puts("nop");
}

static void aarch64_jump(int64_t distance)
{
    printf("b . + (%" PRId64 ")\n", distance);
}

static void aarch64_turn(int64_t distance)
{
    puts("sub x0, x0, #1\ncbz x0, . + 8");
    aarch64_jump(distance - 8);
    puts("ret");
}

static void x86_64_filler(void)
{
    /* The assembler would leave out a displacement of nothing. */
    puts("{disp8} nopl 0(%rax)");
}

/* The long form, which the assembler takes only where it must. */
static void x86_64_jump(int64_t distance)
{
    printf("{disp32} jmp . + (%" PRId64 ")\n", distance);
}

static void x86_64_turn(int64_t distance)
{
    puts("dec %rdi\njz . + 7");
    x86_64_jump(distance - 5);
    puts("ret");
}

static void riscv64_filler(void)
{
    puts(".option push\n.option norvc\nnop\n.option pop");
}

static void riscv64_jump(int64_t distance)
{
    const uint64_t high = ((uint64_t)distance + 0x800) >> 12 & 0xfffff;
    const int64_t low = ((distance & 0xfff) ^ 0x800) - 0x800;
    puts(".option push\n.option norvc");
    if (distance >= -1048576 && distance < 1048576)
        printf("jal x0, . + (%" PRId64 ")\nnop\n", distance);
    else
        printf("auipc t1, %" PRIu64 "\njalr x0, %" PRId64 "(t1)\n", high, low);
    puts(".option pop");
}

static void riscv64_turn(int64_t distance)
{
    puts("c.addi a0, -1\nc.beqz a0, . + 10");
    riscv64_jump(distance - 4);
    puts("c.jr ra\nc.jr ra");
}

static void ppc64le_filler(void)
{
    puts("nop");
}

static void ppc64le_jump(int64_t distance)
{
    printf("b . + (%" PRId64 ")\n", distance);
}

static void ppc64le_turn(int64_t distance)
{
    puts("addic. 3, 3, -1\nbeq . + 8");
    ppc64le_jump(distance - 8);
    puts("blr");
}

static const struct dialect dialects[] = {
    {&fm_emit_aarch64, "", aarch64_filler, aarch64_jump, aarch64_turn},
    {&fm_emit_x86_64, "", x86_64_filler, x86_64_jump, x86_64_turn},
    {&fm_emit_riscv64, ".option rvc\n.option norelax\n", riscv64_filler, riscv64_jump,
     riscv64_turn},
    {&fm_emit_ppc64le, "", ppc64le_filler, ppc64le_jump, ppc64le_turn},
};

static void put_bytes(const uint8_t *code)
{
    fwrite(code, 1, CASE, stdout);
}

static void write_bytes(const struct fm_emitter *emitter, int64_t distance)
{
    uint8_t code[CASE] = {0};
    emitter->jump(code, distance);
    put_bytes(code);
    memset(code, 0, sizeof code);
    emitter->turn(code, distance);
    put_bytes(code);
}

static void write_text(const struct dialect *dialect, int64_t distance)
{
    dialect->jump(distance);
    printf(".balign %d, 0\n", CASE);
    dialect->turn(distance);
    printf(".balign %d, 0\n", CASE);
}

static void write_all(const struct dialect *dialect, bool text)
{
    uint8_t filler[CASE] = {0};
    dialect->emitter->filler(filler);
    if (text) {
        fputs(dialect->head, stdout);
        dialect->filler();
        printf(".balign %d, 0\n", CASE);
    } else {
        put_bytes(filler);
    }
    for (size_t i = 0; i < sizeof distances / sizeof *distances; i++) {
        const int64_t distance = distances[i], far = distance < 0 ? -distance : distance;
        if (far > dialect->emitter->reach)
            continue;
        if (text)
            write_text(dialect, distance);
        else
            write_bytes(dialect->emitter, distance);
    }
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 3 && i < sizeof dialects / sizeof *dialects; i++)
        if (strcmp(dialects[i].emitter->arch, argv[1]) == 0) {
            write_all(&dialects[i], strcmp(argv[2], "text") == 0);
            return 0;
        }
    fprintf(stderr, "cases: ARCH bytes|text\n");
    return 2;
}
