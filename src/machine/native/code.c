#include "machine/native/code.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "core/units.h"

/* What was written through the data side must be seen by the next fetch. */
static void synchronise(char *from, char *to)
{
#if defined(__powerpc64__)
    /* The compiler's builtin does nothing here. 32 bytes is the smallest line there has been. */
    for (char *at = from; at < to; at += 32)
        __asm__ volatile("dcbst 0, %0" : : "r"(at) : "memory");
    __asm__ volatile("sync" : : : "memory");
    for (char *at = from; at < to; at += 32)
        __asm__ volatile("icbi 0, %0" : : "r"(at) : "memory");
    __asm__ volatile("sync\n\tisync" : : : "memory");
#else
    __builtin___clear_cache(from, to);
#endif
}

static bool protect(struct fm_arena *arena, size_t bytes, int protection, struct fm_error *err)
{
    if (mprotect(arena->base, bytes, protection) == 0)
        return true;
    return fm_fail(err, FM_ERR_FORBIDDEN,
                   "the system does not let a program run code that it has written (%s): SELinux's "
                   "execmem, MemoryDenyWriteExecute of a service or a hardened kernel forbids it",
                   strerror(errno));
}

bool fm_code_open(struct fm_arena *arena, struct fm_error *err)
{
    if (!arena->executable)
        return true;
    if (!protect(arena, arena->executable, PROT_READ | PROT_WRITE, err))
        return false;
    arena->executable = 0;
    return true;
}

/* The first slot has no filler and counts the laps. */
static void write_order(const struct fm_arena *arena, const struct fm_order *order,
                        const struct fm_emitter *emitter)
{
    for (size_t i = 0; i < order->count; i++) {
        const size_t next = i + 1 < order->count ? i + 1 : 0;
        uint8_t *at = (uint8_t *)arena->base + (size_t)order->word[i] * FM_WORD;
        const uint8_t *to = (const uint8_t *)arena->base + (size_t)order->word[next] * FM_WORD;
        for (unsigned j = 0; j < order->filler && i > 0; j++, at += FM_FILLER)
            emitter->filler(at);
        if (i == 0)
            emitter->turn(at, to - at);
        else
            emitter->jump(at, to - at);
    }
}

/* One call for all where slots stand close, since each call waits; one for each where they are far
   apart, since each line takes its time. */
#define CLOSE 512

static void synchronise_order(const struct fm_arena *arena, const struct fm_order *order,
                              size_t span)
{
    if (span / order->count <= CLOSE) {
        synchronise(arena->base, arena->base + span);
        return;
    }
    const size_t bytes = order->filler * FM_FILLER + FM_WORD;
    for (size_t i = 0; i < order->count; i++) {
        char *at = arena->base + (size_t)order->word[i] * FM_WORD;
        synchronise(at, at + (i ? bytes : FM_TURN));
    }
}

bool fm_code_write(struct fm_arena *arena, const struct fm_string *string,
                   const struct fm_emitter *emitter, struct fm_error *err)
{
    if (!emitter)
        return fm_fail(err, FM_ERR_UNSUPPORTED,
                       "there is no code emitter for this architecture: it has those of aarch64, "
                       "x86_64, riscv64 and ppc64le");
    if ((int64_t)string->bytes > emitter->reach) {
        char span[FM_SIZE_TEXT], reach[FM_SIZE_TEXT];
        return fm_fail(err, FM_ERR_NO_MEMORY, "%s spans %s of code, a jump on %s leads %s far",
                       string->label, fm_format_size(string->bytes, span), emitter->arch,
                       fm_format_size((uint64_t)emitter->reach, reach));
    }
    bool done[FM_STRING_ORDERS] = {false};
    for (size_t i = 0; i < string->phase_count; i++) {
        const struct fm_phase *phase = &string->phases[i];
        if (phase->op != FM_OP_JUMP || done[phase->order])
            continue;
        done[phase->order] = true;
        write_order(arena, &string->orders[phase->order], emitter);
        synchronise_order(arena, &string->orders[phase->order], string->bytes);
    }
    /* Of a large arena no more than the code: each page takes its time. */
    const size_t page = arena->page_size;
    const size_t bytes = (string->bytes + page - 1) / page * page;
    if (!protect(arena, bytes, PROT_READ | PROT_EXEC, err))
        return false;
    arena->executable = bytes;
    return true;
}

void fm_code_run(const struct fm_arena *arena, const struct fm_order *order, uint64_t jumps)
{
    void (*enter)(uint64_t laps);
    char *first = arena->base + (size_t)order->word[0] * FM_WORD;
    memcpy(&enter, &first, sizeof enter); /* C has no conversion from data to code */
    /* The first slot stands at the beginning of a lap and is met once more at the end of the last.
     */
    enter(jumps / order->count + 1);
}
