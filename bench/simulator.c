/* How fast the simulator is: million references per second of processor time, best of several
   runs. */
#include <stdio.h>
#include <stdlib.h>

#include "core/rng.h"
#include "goal.h"
#include "machine/simulated/simulated.h"

#define LINE    64u
#define REPEATS 7

/* Million references a second: hits in level 1, and what goes through all levels. */
#define HITS       50
#define ALL_LEVELS 15

/* Three levels, two TLBs, jitter: what most machine files ask for. */
static const struct fm_description machine = {
    .name = "bench",
    .clock_mhz = 2400,
    .add_latency = 1,
    .page_size = 4096,
    .page_mapping = FM_MAPPING_RANDOM,
    .caches = {{.name = "l1d",
                .level = 1,
                .capacity = 32 << 10,
                .line = LINE,
                .ways = 8,
                .latency = 4,
                .write_allocate = true},
               {.name = "l2",
                .level = 2,
                .holds = FM_HOLDS_BOTH,
                .capacity = 256 << 10,
                .line = LINE,
                .ways = 8,
                .latency = 10,
                .index = FM_INDEX_PHYSICAL,
                .write_allocate = true},
               {.name = "l3",
                .level = 3,
                .holds = FM_HOLDS_BOTH,
                .capacity = 12 << 20,
                .line = LINE,
                .ways = 16,
                .latency = 38,
                .index = FM_INDEX_PHYSICAL,
                .write_allocate = true}},
    .cache_count = 3,
    .tlbs = {{.name = "dtlb1",
              .level = 1,
              .entries = 64,
              .ways = 4,
              .page_sizes = {4096},
              .page_size_count = 1},
             {.name = "dtlb2",
              .level = 2,
              .holds = FM_HOLDS_BOTH,
              .entries = 512,
              .ways = 4,
              .latency = 7,
              .page_sizes = {4096},
              .page_size_count = 1}},
    .tlb_count = 2,
    .walk_latency = 30,
    .memory_latency = 190,
    .noise = {.jitter = 0.02, .timer_ns = 1},
};

static void give_up(const char *text)
{
    fprintf(stderr, "bench-simulator: %s\n", text);
    exit(1);
}

/* Every line of the footprint again and again, shuffled anew each time: laps that repeat each other
   would not be made. */
static struct fm_string walk_over(size_t bytes, uint64_t references)
{
    const size_t lap = bytes / LINE;
    struct fm_string string = {.label = "bench", .bytes = bytes, .order_count = 1};
    struct fm_order *order = &string.orders[0];
    struct fm_rng rng;
    order->count = references;
    order->word = malloc(order->count * sizeof *order->word);
    if (!order->word)
        give_up("out of memory");
    fm_rng_seed(&rng, 1);
    for (size_t i = 0; i < references; i++)
        order->word[i] = (uint32_t)(i % lap * (LINE / FM_WORD));
    for (size_t done = 0; done < references; done += lap)
        fm_rng_shuffle(&rng, order->word + done, lap);
    string.phases[0] = (struct fm_phase){.references = order->count};
    string.phases[1] = (struct fm_phase){.references = references, .metered = true};
    string.phase_count = 2;
    return string;
}

static void measure(const char *what, const struct fm_description *description, size_t bytes,
                    double goal)
{
    const uint64_t references = 4u << 20;
    struct fm_error err;
    struct fm_sample sample;
    struct fm_string string = walk_over(bytes, references);
    struct fm_machine *sim = fm_simulated_open(description, 1, &err);
    if (!sim || !sim->ops->place(sim, bytes, 0, &err) ||
        !sim->ops->run(sim, &string, 1, &sample, &err))
        give_up(err.text);
    string.phase_count = 1;
    string.phases[0] = string.phases[1];
    double best = 1e9;
    for (int i = 0; i < REPEATS; i++) {
        const double start = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
        if (!sim->ops->run(sim, &string, 1, &sample, &err))
            give_up(err.text);
        const double took = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
        best = took < best ? took : best;
    }
    goal_at_least(what, (double)references / best * 1e-6, "M refs/s", goal);
    sim->ops->close(sim);
    free(string.orders[0].word);
}

int main(void)
{
    struct fm_description other = machine;
    measure("hits in level 1 (16 KiB)", &machine, 16 << 10, HITS);
    measure("hits in level 3 (4 MiB)", &machine, 4 << 20, ALL_LEVELS);
    measure("through all levels (64 MiB)", &machine, 64 << 20, ALL_LEVELS);

    other.caches[2].inclusion = FM_INCLUSION_INCLUSIVE;
    other.caches[2].index = FM_INDEX_HASHED;
    measure("  level 3 inclusive, hashed", &other, 64 << 20, ALL_LEVELS);

    other = machine;
    other.caches[1].inclusion = FM_INCLUSION_EXCLUSIVE;
    measure("  level 2 exclusive", &other, 64 << 20, ALL_LEVELS);

    other = machine;
    other.tlbs[0].ways = 64;
    other.tlbs[1].ways = 512;
    measure("  TLBs fully associative", &other, 64 << 20, ALL_LEVELS);
    measure("hits in level 1, such TLBs", &other, 16 << 10, HITS);

    other = machine;
    other.caches[2].capacity = 15 << 20;
    other.caches[2].ways = 20;
    measure("  level 3 of 15 MiB and 20 ways", &other, 64 << 20, ALL_LEVELS);

    other = machine;
    other.prefetch =
        FM_PREFETCH_NEXT_LINE | FM_PREFETCH_ADJACENT_LINE | FM_PREFETCH_STRIDE | FM_PREFETCH_REGION;
    measure("  all prefetchers", &other, 64 << 20, ALL_LEVELS);
    return 0;
}
