#include <math.h>

#include "stat/stat.h"

static double clamp(double x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* Lines that level `from` sent to the level inside it: what came in there and not from further out.
   A counter that ran at another time may show a few more outside than inside; the paper takes the
   difference without its sign. */
static double sent(const struct fm_stat_counts *counts, size_t levels, size_t from)
{
    const double inside = counts->fills[from - 1];
    return from == levels ? inside : fabs(inside - counts->fills[from]);
}

void fm_shares_served(const struct fm_stat_counts *counts, size_t levels,
                      struct fm_share shares[FM_STAT_LEVELS + 1])
{
    const double all = counts->references;
    double rest = 1, rest_high = 1;
    for (size_t i = levels; i > 0; i--) {
        const double share = all > 0 ? clamp(sent(counts, levels, i) / all) : 0;
        shares[i].value = fmin(share, rest);
        /* A line that a prefetcher asked for made nobody wait. */
        shares[i].low = counts->prefetched ? 0 : shares[i].value;
        shares[i].high = shares[i].value;
        rest -= shares[i].value;
        rest_high -= shares[i].low;
    }
    shares[0] = (struct fm_share){.value = all > 0 ? clamp(rest) : 0,
                                  .low = all > 0 ? clamp(rest) : 0,
                                  .high = all > 0 ? clamp(rest_high) : 0};
}

void fm_shares_brought(const struct fm_stat_counts *counts, const struct fm_stat_machine *machine,
                       unsigned element, struct fm_share shares[FM_STAT_LEVELS + 1])
{
    const double all = counts->references;
    const size_t levels = machine->count;
    double rest = 1, rest_low = 1, rest_high = 1;
    for (size_t i = levels; i > 0; i--) {
        /* A line from memory is as long as the outermost level's, which is where it is counted. */
        const double elements = fmax(1, machine->levels[i - 1].line / element);
        const double lines = sent(counts, levels, i);
        const double most = all > 0 ? clamp(lines * elements / all) : 0;
        const double least = all > 0 && !counts->prefetched ? clamp(lines / all) : 0;
        shares[i].value = fmin(most, rest);
        shares[i].low = fmin(least, rest_high);
        shares[i].high = most;
        rest -= shares[i].value;
        rest_low -= shares[i].high;
        rest_high -= shares[i].low;
    }
    shares[0] = (struct fm_share){.value = all > 0 ? clamp(rest) : 0,
                                  .low = all > 0 ? clamp(rest_low) : 0,
                                  .high = all > 0 ? clamp(rest_high) : 0};
}
