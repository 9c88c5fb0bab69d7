/* Running a reference string on this computer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/units.h"
#include "machine/native/code.h"
#include "machine/native/computer.h"
#include "machine/native/loops.h"

/* A run longer than this is checked for interference by itself. The check is a system call that
   pushes some lines out of the first-level cache; the repeats of a shorter run would notice, so
   those are checked all together, from before the first warm reference on. */
#define LONG_RUN_NS 200e3
/* What the two shortest of equal runs may differ by, as a part and in steps of the clock; how long
   runs take that are looked at in any case; and how often they are made again. */
#define UNEVEN          1.02
#define CLOCK_STEPS     2
#define WORTH_A_LOOK_NS 2e6
#define MOST_AGAIN      3
/* So long at the most takes less than to ask whether others disturb. */
#define BRIEF_NS 20e3

/* What a run needs beside the string. */
struct work {
    struct fm_computer *computer;
    const struct fm_string *string;
    bool alone;                         /* on the core, as it begins */
    uint64_t *values[FM_STRING_ORDERS]; /* of each order that is stored to: what its words hold */
};

static struct fm_walk walk_of(const struct work *work, const struct fm_phase *phase)
{
    const struct fm_order *order = &work->string->orders[phase->order];
    return (struct fm_walk){
        .base = work->computer->arena.base,
        .word = order->word,
        .count = phase->window ? phase->window : order->count,
    };
}

static const struct fm_phase *metered_phase(const struct fm_string *string)
{
    return &string->phases[string->phase_count - 1];
}

static bool bad(struct fm_error *err, const struct fm_string *string, const char *why)
{
    return fm_fail(err, FM_ERR_INTERNAL, "reference string %s: %s", string->label, why);
}

static bool check_phase(const struct fm_string *string, size_t i, struct fm_error *err)
{
    const struct fm_phase *phase = &string->phases[i];
    if (phase->metered != (i == string->phase_count - 1))
        return bad(err, string, "the last phase and no other must be metered");
    if (phase->order >= string->order_count)
        return bad(err, string, "a phase names an order that is not there");
    if (phase->window > string->orders[phase->order].count)
        return bad(err, string, "a window is larger than its order");
    if (phase->chained &&
        ((phase->op != FM_OP_LOAD && phase->op != FM_OP_LOAD_REAL) || phase->window))
        return bad(err, string, "only loads over a whole order can be chained");
    if (phase->op == FM_OP_LOAD_PAIR &&
        (!phase->metered || phase->window || phase->references % 2 ||
         string->orders[phase->order].count % 2))
        return bad(err, string, "pairs are timed, and of an even number of words");
    return true;
}

static bool check_order(const struct fm_string *string, size_t i, struct fm_error *err)
{
    const struct fm_order *order = &string->orders[i];
    if (!order->count)
        return bad(err, string, "an order is empty");
    uint32_t last = 0;
    for (size_t at = 0; at < order->count; at++)
        last = order->word[at] > last ? order->word[at] : last;
    if (((uint64_t)last + 1) * FM_WORD > string->bytes)
        return bad(err, string, "a word lies beyond its span");
    return true;
}

static bool check(const struct work *work, struct fm_error *err)
{
    const struct fm_string *string = work->string;
    if (string->bytes > work->computer->arena.bytes) {
        char span[FM_SIZE_TEXT], room[FM_SIZE_TEXT];
        return fm_fail(err, FM_ERR_NO_MEMORY, "reference string %s spans %s, the arena has %s",
                       string->label, fm_format_size(string->bytes, span),
                       fm_format_size(work->computer->arena.bytes, room));
    }
    if (!string->phase_count)
        return bad(err, string, "it has no phase");
    for (size_t i = 0; i < string->order_count; i++)
        if (!check_order(string, i, err))
            return false;
    for (size_t i = 0; i < string->phase_count; i++)
        if (!check_phase(string, i, err))
            return false;
    return fm_check_jumps(string, err);
}

/* Stores must not break the chain, which lies in the same words: they write again what is there.
   The values are put aside before the first phase, so that a store needs no load. */
static bool put_values_aside(struct work *work, struct fm_error *err)
{
    for (size_t i = 0; i < work->string->phase_count; i++) {
        const struct fm_phase *phase = &work->string->phases[i];
        if (phase->op != FM_OP_STORE || work->values[phase->order])
            continue;
        const struct fm_order *order = &work->string->orders[phase->order];
        uint64_t *values = malloc(order->count * sizeof *values);
        if (!values)
            return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for the values of %s",
                           work->string->label);
        for (size_t at = 0; at < order->count; at++)
            memcpy(&values[at], work->computer->arena.base + (size_t)order->word[at] * FM_WORD,
                   sizeof *values);
        work->values[phase->order] = values;
    }
    return true;
}

/* Building the chain in its own order is a first warm pass over it. */
static bool prepare(struct work *work, struct fm_error *err)
{
    const struct fm_walk metered = walk_of(work, metered_phase(work->string));
    if (!fm_code_open(&work->computer->arena, err))
        return false;
    if (metered_phase(work->string)->chained)
        fm_walk_link(&metered);
    if (metered_phase(work->string)->op == FM_OP_LOAD_PAIR)
        fm_walk_link_pairs(&metered);
    if (fm_string_has_jumps(work->string))
        return fm_code_write(&work->computer->arena, work->string, fm_emitter_here(), err);
    return put_values_aside(work, err);
}

/* Walks a phase from where the walk stands. The result depends on every load. */
static uint64_t walk_phase(const struct work *work, const struct fm_phase *phase,
                           struct fm_walk *walk)
{
    switch (phase->op) {
    case FM_OP_LOAD:
        return phase->chained ? fm_walk_load_dependent(walk, phase->references)
                              : fm_walk_load(walk, phase->references);
    case FM_OP_LOAD_REAL:
        return fm_walk_load_real(walk, phase->references);
    case FM_OP_STORE:
        fm_walk_store(walk, work->values[phase->order], phase->references);
        return 0;
    case FM_OP_FLUSH:
        work->computer->flush(walk, phase->references);
        return 0;
    case FM_OP_LOAD_PAIR: /* follows its chains, not its list */
        return 0;
    case FM_OP_JUMP:
        fm_code_run(&work->computer->arena, &work->string->orders[phase->order], phase->references);
        return 0;
    }
    return 0;
}

static void *chase(const struct fm_phase *phase, void *start)
{
    return (phase->op == FM_OP_LOAD_REAL ? fm_chase_real : fm_chase)(start, phase->references);
}

/* The chain in memory is that of the metered order; another order's chained phase goes by its
   list, each load waiting for the one before all the same. */
static void run_unmetered(const struct work *work)
{
    const struct fm_phase *metered = metered_phase(work->string);
    for (const struct fm_phase *phase = work->string->phases; phase < metered; phase++) {
        struct fm_walk walk = walk_of(work, phase);
        if (phase->chained && phase->order == metered->order && metered->chained)
            chase(phase, walk.base + (size_t)walk.word[0] * FM_WORD);
        else
            walk_phase(work, phase, &walk);
    }
}

/* Where a metered phase stands between its repeats: in its chain, or in both of a pair's. */
struct position {
    void *pointers[2];
    struct fm_walk walk;
};

static struct position begin(const struct work *work, const struct fm_phase *phase)
{
    struct position position = {.walk = walk_of(work, phase)};
    const struct fm_walk *walk = &position.walk;
    for (size_t i = 0; i < 2; i++)
        position.pointers[i] = walk->base + (size_t)walk->word[i % walk->count] * FM_WORD;
    return position;
}

/* A branch on the value: the clock's fence waits for branches to be decided, where it would not
   wait for a load that nobody needs yet. */
static inline void wait_for(uint64_t value)
{
    if (value == UINT64_MAX)
        __asm__ volatile("nop");
}

static double since(const struct fm_meter *clock, struct fm_instant start, struct fm_instant end)
{
    const double ns = clock->ops->elapsed_ns(clock, start, end) - clock->info.overhead_ns;
    return ns > 0 ? ns : 0;
}

/* One metered run, from where the one before stopped. */
static void walk_metered(const struct work *work, const struct fm_phase *phase,
                         struct position *position)
{
    void **pointers = position->pointers;
    if (phase->op == FM_OP_LOAD_PAIR) {
        fm_chase_pairs(pointers, phase->references / 2);
        wait_for((uintptr_t)pointers[0] ^ (uintptr_t)pointers[1]);
    } else if (phase->chained) {
        pointers[0] = chase(phase, pointers[0]);
        wait_for((uintptr_t)pointers[0]);
    } else {
        wait_for(walk_phase(work, phase, &position->walk));
    }
}

static double timed(const struct work *work, const struct fm_phase *phase,
                    struct position *position)
{
    const struct fm_meter *clock = work->computer->clock;
    const struct fm_instant start = clock->ops->now(clock);
    walk_metered(work, phase, position);
    return since(clock, start, clock->ops->now(clock));
}

static void mark_disturbed(struct fm_sample *samples, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        samples[i].disturbed = true;
}

/* The samples were written once before, and the clock is read once for nothing: neither a page
   fault nor cold code falls into the first timed run. */
static void run_metered(const struct work *work, unsigned repeats, struct fm_watch_mark mark,
                        struct fm_sample *samples)
{
    const struct fm_phase *phase = metered_phase(work->string);
    struct position position = begin(work, phase);
    work->computer->clock->ops->now(work->computer->clock);
    unsigned unchecked = 0;
    for (unsigned i = 0; i < repeats; i++) {
        samples[i].ns = timed(work, phase, &position);
        samples[i].references = phase->references;
        if (samples[i].ns < LONG_RUN_NS && i + 1 < repeats)
            continue;
        const struct fm_watch_mark now = fm_watch_now();
        fm_watch_judge(samples + unchecked, i + 1 - unchecked, fm_watch_between(mark, now));
        mark = now;
        unchecked = i + 1;
    }
    if (fm_watch_stolen(&work->computer->watch))
        mark_disturbed(samples, repeats);
}

static void run_phases(const struct work *work, unsigned repeats, struct fm_watch_mark mark,
                       struct fm_instant start, struct fm_sample *samples)
{
    const struct fm_meter *clock = work->computer->clock;
    run_unmetered(work);
    /* What happened during a long way to get warm says nothing of the timed runs. */
    if (since(clock, start, clock->ops->now(clock)) > LONG_RUN_NS)
        mark = fm_watch_now();
    run_metered(work, repeats, mark, samples);
}

/* Whether equal runs differ by more than the clock does, or took so long that whatever disturbed
   one did the others too. */
static bool is_suspect(const struct fm_sample *samples, unsigned repeats, double resolution_ns)
{
    double least = INFINITY, second = INFINITY, sum = 0;
    for (unsigned i = 0; i < repeats; i++) {
        const double ns = samples[i].ns;
        second = fmin(second, fmax(least, ns));
        least = fmin(least, ns);
        sum += ns;
    }
    const double more = fmax((UNEVEN - 1) * least, CLOCK_STEPS * resolution_ns);
    return second - least > more || sum > WORTH_A_LOOK_NS;
}

static void run_again(const struct work *work, unsigned repeats, struct fm_sample *samples)
{
    const struct fm_meter *clock = work->computer->clock;
    memset(samples, 0, repeats * sizeof *samples);
    const struct fm_watch_mark mark = fm_watch_now();
    run_phases(work, repeats, mark, clock->ops->now(clock), samples);
}

static double passed_ns(const struct fm_computer *computer)
{
    return 1e9 * fm_watch_seconds(&computer->watch);
}

static bool wait_for_sibling(struct fm_computer *computer)
{
    return fm_sibling_wait(&computer->sibling, &computer->patience, passed_ns(computer));
}

/* Runs while the core is ours alone, before and after: what shares it shares its first caches and
   TLBs. A single run may follow on another and is made but once. One that takes long is seldom
   alone all the time, and what it misses costs more than what a neighbour adds. */
static void run_alone(const struct work *work, unsigned repeats, struct fm_watch_mark mark,
                      struct fm_instant start, struct fm_sample *samples)
{
    struct fm_computer *computer = work->computer;
    const struct fm_meter *clock = computer->clock;
    bool alone = work->alone;
    run_phases(work, repeats, mark, start, samples);
    if (since(clock, start, clock->ops->now(clock)) > WORTH_A_LOOK_NS)
        return;
    for (int i = 0; alone && !fm_sibling_is_idle(&computer->sibling); i++) {
        alone = repeats > 1 && i < MOST_AGAIN && wait_for_sibling(computer);
        if (alone)
            run_again(work, repeats, samples);
    }
    if (!alone)
        mark_disturbed(samples, repeats);
}

/* Runs that were disturbed by what shows in nothing else are made again when it is over; short ones
   at once, which takes less than to ask. A single run may follow on another, and is made but once.
 */
static void run_in_calm(const struct work *work, unsigned repeats, struct fm_watch_mark mark,
                        struct fm_instant start, struct fm_sample *samples)
{
    struct fm_computer *computer = work->computer;
    const struct fm_meter *clock = computer->clock;
    const double resolution_ns = clock->info.resolution_ns;
    run_alone(work, repeats, mark, start, samples);
    const bool brief = since(clock, start, clock->ops->now(clock)) < BRIEF_NS;
    for (int i = 0; i < MOST_AGAIN && repeats > 1 && is_suspect(samples, repeats, resolution_ns);
         i++) {
        const bool ask = !brief || i > 0;
        if (ask && fm_canary_is_calm(&computer->canary))
            return;
        if (ask && !fm_canary_wait(&computer->canary, &computer->patience, passed_ns(computer))) {
            mark_disturbed(samples, repeats);
            return;
        }
        run_again(work, repeats, samples);
    }
}

bool fm_computer_run(struct fm_machine *machine, const struct fm_string *string, unsigned repeats,
                     struct fm_sample *samples, struct fm_error *err)
{
    struct work work = {.computer = (struct fm_computer *)machine, .string = string};
    if (!check(&work, err))
        return false;
    memset(samples, 0, repeats * sizeof *samples);
    work.alone = wait_for_sibling(work.computer);
    const struct fm_meter *clock = work.computer->clock;
    const struct fm_watch_mark mark = fm_watch_now();
    const struct fm_instant start = clock->ops->now(clock);
    const bool ready = prepare(&work, err);
    if (ready)
        run_in_calm(&work, repeats, mark, start, samples);
    for (size_t i = 0; i < FM_STRING_ORDERS; i++)
        free(work.values[i]);
    return ready;
}

/* The references of the string alone, counted. Nothing else is asked of the system meanwhile. */
static void count_metered(const struct work *work, unsigned repeats)
{
    struct fm_tally *tally = work->computer->tally;
    const struct fm_phase *phase = metered_phase(work->string);
    struct position position = begin(work, phase);
    for (unsigned i = 0; i < repeats; i++) {
        tally->ops->start(tally);
        walk_metered(work, phase, &position);
        tally->ops->stop(tally);
    }
}

/* The chain is built before the meter is prepared: a model that simulates from then on has less to
   do. */
static bool count_string(struct work *work, unsigned repeats, struct fm_counts *counts,
                         struct fm_error *err)
{
    struct fm_tally *tally = work->computer->tally;
    if (!prepare(work, err) || !tally->ops->prepare(tally, repeats, err))
        return false;
    run_unmetered(work);
    count_metered(work, repeats);
    return tally->ops->collect(tally, counts, repeats, err);
}

bool fm_computer_count(struct fm_machine *machine, const struct fm_string *string, unsigned repeats,
                       struct fm_sample *samples, struct fm_error *err)
{
    struct work work = {.computer = (struct fm_computer *)machine, .string = string};
    struct fm_counts *counts = calloc(repeats, sizeof *counts);
    if (!counts)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for counts");
    const bool good = check(&work, err) && count_string(&work, repeats, counts, err);
    for (unsigned i = 0; i < repeats && good; i++)
        samples[i] = (struct fm_sample){
            .references = metered_phase(string)->references, .counted = true, .counts = counts[i]};
    for (size_t i = 0; i < FM_STRING_ORDERS; i++)
        free(work.values[i]);
    free(counts);
    return good;
}

bool fm_computer_chain(struct fm_machine *machine, enum fm_chain kind, uint64_t operations,
                       struct fm_sample *sample, struct fm_error *err)
{
    (void)err;
    const struct fm_meter *clock = ((struct fm_computer *)machine)->clock;
    *sample = (struct fm_sample){.references = operations};
    const struct fm_watch_mark before = fm_watch_now();
    const struct fm_instant start = clock->ops->now(clock);
    wait_for(fm_operate(kind, operations));
    sample->ns = since(clock, start, clock->ops->now(clock));
    fm_watch_judge(sample, 1, fm_watch_between(before, fm_watch_now()));
    return true;
}
