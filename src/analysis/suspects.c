#include "analysis/suspects.h"

#include <math.h>

#include "core/replacement.h"

/* Ways of predictions spent on choosing a lap, and how few and many laps are tried for them. */
#define PREDICTIONS 3000
#define FEWEST_LAPS 3
#define MOST_LAPS   100
/* Histories of a set to think of. In a wide one they differ less, and take longer. */
#define TO_CHOOSE     5
#define TO_JUDGE      24
#define TO_JUDGE_WIDE 8
#define WIDE          16

/* Whether a member of the family stands for all that do the same in a full set: r2 differs from r0
   only while ways are empty, r1 only where an age of 3 may be lacking, and before a miss no line is
   in use that could be spared. Some have a name of their own. With m3 each line is the next to go,
   and what was there before stays for ever: no lap says what such a cache does. */
static bool stands_for_itself(struct fm_qlru rule)
{
    const bool lacking = rule.aging >= 2;
    if (!fm_qlru_is_whole(rule) || rule.inserted == 3 || rule.choice == 2 ||
        (rule.choice == 1) != lacking || (rule.on_miss && rule.aging % 2))
        return false;
    if (rule.from_three || rule.from_two)
        return true;
    const bool srrip_or_nru =
        rule.on_miss && !lacking && (rule.inserted == 2 || rule.inserted == 0);
    const bool bit_plru = !rule.on_miss && rule.aging == 1 && rule.inserted == 0;
    return !srrip_or_nru && !bit_plru;
}

static void suspect(struct fm_suspects *suspects, enum fm_replacement policy, double low,
                    double high)
{
    if (fm_replacement_misfit(policy, suspects->ways))
        return;
    if (suspects->count < FM_SUSPECTS)
        suspects->list[suspects->count++] =
            (struct fm_suspect){.policy = policy, .cost_low = low, .cost_high = high};
}

void fm_suspects_open(struct fm_suspects *suspects, unsigned ways, unsigned visits, double cost_low,
                      double cost_high, uint64_t seed)
{
    *suspects = (struct fm_suspects){.ways = ways, .visits = visits};
    fm_rng_seed(&suspects->rng, seed);
    for (unsigned i = 0; i < FM_REPLACE_QLRU; i++)
        suspect(suspects, (enum fm_replacement)i, cost_low, cost_high);
    for (unsigned i = FM_REPLACE_QLRU; i < FM_REPLACE_QLRU + FM_QLRU_MEMBERS; i++)
        if (stands_for_itself(fm_qlru_of((enum fm_replacement)i)))
            suspect(suspects, (enum fm_replacement)i, cost_low, cost_high);
}

static void predict(struct fm_suspects *suspects, const struct fm_lap *lap, unsigned histories,
                    uint64_t seed)
{
    for (size_t i = 0; i < suspects->count; i++)
        suspects->list[i].next =
            fm_lap_predict(lap, suspects->list[i].policy, suspects->ways, histories, seed);
}

/* What the misses of the lap would take, from the least that may be read to the most. */
static void expect(const struct fm_suspect *suspect, const struct fm_lap_gauge *gauge,
                   const struct fm_lap *lap, double *low, double *high)
{
    const double hits = lap->length * gauge->hit_ns;
    *low = suspect->next.low * suspect->cost_low;
    *high = suspect->next.high * suspect->cost_high;
    *low -= gauge->error * (hits + *low);
    *high += gauge->error * (hits + *high);
}

/* How many pairs of suspects the lap tells apart. */
static size_t pairs_apart(const struct fm_suspects *suspects, const struct fm_lap_gauge *gauge,
                          const struct fm_lap *lap)
{
    double low[FM_SUSPECTS], high[FM_SUSPECTS];
    size_t apart = 0;
    for (size_t i = 0; i < suspects->count; i++) {
        expect(&suspects->list[i], gauge, lap, &low[i], &high[i]);
        for (size_t j = 0; j < i; j++)
            apart += low[i] > high[j] || low[j] > high[i];
    }
    return apart;
}

bool fm_suspects_choose(struct fm_suspects *suspects, const struct fm_lap_gauge *gauge,
                        struct fm_lap *lap)
{
    const size_t each = PREDICTIONS / (suspects->ways * suspects->count + 1);
    const size_t tries = each < FEWEST_LAPS ? FEWEST_LAPS : each < MOST_LAPS ? each : MOST_LAPS;
    size_t most = 0;
    fm_lap_draw(lap, suspects->ways, suspects->visits, &suspects->rng);
    for (size_t i = 0; i < tries && suspects->count > 1; i++) {
        struct fm_lap drawn;
        fm_lap_draw(&drawn, suspects->ways, suspects->visits, &suspects->rng);
        const uint64_t seed = fm_rng_next(&suspects->rng);
        size_t apart = 0;
        /* One history says how many pairs are apart at the most, for a fraction of the work. */
        for (unsigned histories = 1; histories <= TO_CHOOSE; histories += TO_CHOOSE - 1) {
            predict(suspects, &drawn, histories, seed);
            apart = pairs_apart(suspects, gauge, &drawn);
            if (apart <= most)
                break;
        }
        if (apart > most) {
            most = apart;
            *lap = drawn;
        }
    }
    return most > 0;
}

void fm_suspects_hear(struct fm_suspects *suspects, const struct fm_lap *lap, double low,
                      double high)
{
    size_t kept = 0;
    predict(suspects, lap, suspects->ways > WIDE ? TO_JUDGE_WIDE : TO_JUDGE,
            fm_rng_next(&suspects->rng));
    for (size_t i = 0; i < suspects->count; i++) {
        struct fm_suspect suspect = suspects->list[i];
        const struct fm_lap_misses misses = suspect.next;
        suspect.cost_low = fmax(suspect.cost_low, misses.high > 0 ? low / misses.high : 0);
        if (misses.low > 0)
            suspect.cost_high = fmin(suspect.cost_high, high / misses.low);
        const bool none = misses.high <= 0 && low > 0;
        if (suspect.cost_low <= suspect.cost_high && !none)
            suspects->list[kept++] = suspect;
    }
    suspects->count = kept;
}
