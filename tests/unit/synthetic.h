/* Latency curves made up for tests: a hierarchy of known levels, its knees, its noise. */
#ifndef FM_TEST_SYNTHETIC_H
#define FM_TEST_SYNTHETIC_H

#include <math.h>
#include <stddef.h>

#include "core/rng.h"

#define SYNTHETIC_LEVELS 6
#define SYNTHETIC_POINTS 1024

/* How the miss ratio of one cache goes from 0 to 1 as the footprint passes its capacity. */
enum knee {
    KNEE_SHARP,   /* LRU on contiguous pages: sets overflow one by one from C to C (1 + 1/W) */
    KNEE_POISSON, /* LRU on scattered pages: a set holds too many with the Poisson's tail */
    KNEE_RANDOM,  /* random replacement: m = 1 - exp(-m k/C) */
    KNEE_TAIL     /* a random walk, or neighbours in one line: m = 1 - C/k */
};

struct synthetic {
    size_t levels; /* plateaus, memory included */
    double capacity[SYNTHETIC_LEVELS];
    double latency[SYNTHETIC_LEVELS];
    enum knee knee[SYNTHETIC_LEVELS];
    unsigned ways[SYNTHETIC_LEVELS];
    double tilt;    /* growth of latency per octave on every plateau */
    double noise;   /* relative, added only */
    double outlier; /* chance of a point that is far too high */
    double from, to, per_octave;
};

struct synthetic_curve {
    size_t n;
    double bytes[SYNTHETIC_POINTS], latency[SYNTHETIC_POINTS], error[SYNTHETIC_POINTS];
};

static double poisson_at_least(double mean, unsigned ways)
{
    double term = exp(-mean), below = 0;
    for (unsigned i = 0; i < ways; i++) {
        below += term;
        term *= mean / (i + 1);
    }
    return 1 - below;
}

static double random_replacement(double load)
{
    double low = 0, high = 1;
    for (int i = 0; i < 60; i++) {
        double m = (low + high) / 2;
        *(1 - exp(-m * load) > m ? &low : &high) = m;
    }
    return load > 1 ? low : 0;
}

static double synthetic_misses(enum knee knee, double load, unsigned ways)
{
    switch (knee) {
    case KNEE_POISSON:
        return poisson_at_least(load * ways, ways);
    case KNEE_RANDOM:
        return random_replacement(load);
    case KNEE_TAIL:
        return load > 1 ? 1 - 1 / load : 0;
    default:
        return load <= 1 ? 0 : fmin(1, (load - 1) * (ways + 1) / load);
    }
}

static double synthetic_normal(struct fm_rng *rng)
{
    double a = 1 - fm_rng_unit(rng), b = fm_rng_unit(rng);
    return sqrt(-2 * log(a)) * cos(6.283185307179586 * b);
}

/* Misses of levels 1..l; an outer level sees only what the inner one misses. */
static double synthetic_level_misses(const struct synthetic *s, size_t l, double bytes)
{
    double misses = 1;
    for (size_t i = 0; i <= l; i++)
        misses *= synthetic_misses(s->knee[i], bytes * misses / s->capacity[i], s->ways[i]);
    return misses;
}

static double synthetic_latency(const struct synthetic *s, double bytes)
{
    double y = s->latency[0];
    for (size_t l = 0; l + 1 < s->levels; l++)
        y += (s->latency[l + 1] - s->latency[l]) * synthetic_level_misses(s, l, bytes);
    return y * pow(1 + s->tilt, log2(bytes / s->from));
}

static inline void synthetic_draw(const struct synthetic *s, struct fm_rng *rng,
                                  struct synthetic_curve *curve)
{
    curve->n = 0;
    for (double u = log2(s->from); u <= log2(s->to) && curve->n < SYNTHETIC_POINTS;
         u += 1 / s->per_octave) {
        double bytes = 64 * floor(exp2(u) / 64 + 0.5);
        if (curve->n > 0 && bytes <= curve->bytes[curve->n - 1])
            continue;
        double y = synthetic_latency(s, bytes) * (1 + s->noise * fabs(synthetic_normal(rng)));
        if (fm_rng_unit(rng) < s->outlier)
            y *= 1.2 + 2 * fm_rng_unit(rng);
        curve->bytes[curve->n] = bytes;
        curve->latency[curve->n] = y;
        curve->error[curve->n++] = s->noise * 0.6;
    }
}

static double synthetic_between(struct fm_rng *rng, double low, double high)
{
    return low * pow(high / low, fm_rng_unit(rng));
}

/* A hierarchy of 2 to 5 plateaus, the inner levels sharp as often as not. */
static inline void synthetic_any(struct fm_rng *rng, double least_spacing, double least_contrast,
                                 struct synthetic *s)
{
    static const unsigned ways[] = {1, 2, 3, 4, 6, 8, 11, 12, 16, 20, 24, 32};
    *s = (struct synthetic){.levels = 2 + fm_rng_below(rng, 4)};
    double capacity = synthetic_between(rng, 4096, 131072), latency = 1 + 4 * fm_rng_unit(rng);
    for (size_t l = 0; l < s->levels; l++) {
        s->capacity[l] = capacity;
        s->latency[l] = latency;
        s->knee[l] = (enum knee)fm_rng_below(rng, 3);
        s->ways[l] = ways[fm_rng_below(rng, sizeof ways / sizeof *ways)];
        capacity *= synthetic_between(rng, least_spacing, 10 * least_spacing);
        latency *= synthetic_between(rng, least_contrast, 6 * least_contrast);
    }
    s->from = s->capacity[0] / synthetic_between(rng, 4, 32);
    s->to = s->capacity[s->levels - 2] * synthetic_between(rng, 8, 32);
    s->per_octave = 6 + (double)fm_rng_below(rng, 11);
}

#endif
