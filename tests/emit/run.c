/* Runs strings of jumps as code of the architecture this was compiled for, and makes sure that
 * every slot is really jumped to: with one of them spoilt, the run must not survive. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/rng.h"
#include "machine/native/code.h"

#define ARENA ((size_t)16 << 20)
#define SLOTS 500u
#define LAPS  7u

static uint32_t words[SLOTS];

static struct fm_string string_of(unsigned filler)
{
    return (struct fm_string){
        .label = "run",
        .bytes = ARENA,
        .orders = {{.word = words, .count = SLOTS, .filler = filler}},
        .order_count = 1,
        .phases = {{.op = FM_OP_JUMP, .references = LAPS * SLOTS, .metered = true}},
        .phase_count = 1,
    };
}

/* Places all over the arena, so that near and far forms are used. */
static void draw_words(uint64_t seed)
{
    struct fm_rng rng;
    fm_rng_seed(&rng, seed);
    const uint32_t apart = (uint32_t)(ARENA / FM_WORD / SLOTS);
    for (uint32_t i = 0; i < SLOTS; i++)
        words[i] = i * apart + (uint32_t)fm_rng_below(&rng, apart - 64);
    fm_rng_shuffle(&rng, words, SLOTS);
}

/* How a run in a child ends: 0, or by a signal. Zeros are an instruction nowhere but on x86-64,
   where int3 is none too good to jump to. */
static int end_of_run(struct fm_arena *arena, const struct fm_string *string, size_t spoilt)
{
    const pid_t child = fork();
    if (child == 0) {
        struct fm_error err;
        alarm(60);
        if (spoilt < SLOTS) {
            if (!fm_code_open(arena, &err))
                _exit(3);
            const int trap = strcmp(fm_emitter_here()->arch, "x86_64") == 0 ? 0xcc : 0;
            memset(arena->base + (size_t)words[spoilt] * FM_WORD, trap, FM_WORD);
            if (mprotect(arena->base, arena->bytes, PROT_READ | PROT_EXEC) != 0)
                _exit(4);
            __builtin___clear_cache(arena->base, arena->base + arena->bytes);
        }
        fm_code_run(arena, &string->orders[0], LAPS * SLOTS);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

static bool check(struct fm_arena *arena, unsigned filler)
{
    const struct fm_string string = string_of(filler);
    struct fm_error err;
    draw_words(filler + 1);
    if (!fm_code_open(arena, &err))
        return false;
    memset(arena->base, 0, arena->bytes);
    if (!fm_code_write(arena, &string, fm_emitter_here(), &err)) {
        fprintf(stderr, "%s\n", err.text);
        return false;
    }
    bool good = end_of_run(arena, &string, SLOTS) == 0;
    static const size_t some[] = {0, 1, SLOTS / 2, SLOTS - 1};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        const int status = end_of_run(arena, &string, some[i]);
        good &= WIFSIGNALED(status) && WTERMSIG(status) != SIGALRM;
    }
    return good;
}

int main(void)
{
    struct fm_arena arena = {.bytes = ARENA, .page_size = (size_t)sysconf(_SC_PAGESIZE)};
    arena.base = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const bool good = arena.base != MAP_FAILED && fm_emitter_here() && check(&arena, 0) &&
                      check(&arena, 1) && check(&arena, 13);
    printf("%s\n", good ? "runs" : "does not run");
    return good ? 0 : 1;
}
