/* Calibrator's picture of caches (Manegold and Boncz 2000): memory read at one stride, over and
 * over, for sizes from the smallest to some times the last cache, and for strides from a word to
 * twice the longest line. Every curve rises where a level is full; strides shorter than a line rise
 * less, since several reads share what one miss brings in. From the line on curves lie on each
 * other. It is drawn for people to read and to compare, prefetchers and all: what is found of
 * caches comes from strings that keep those out. */
#include <math.h>
#include <stdio.h>

#include "probe/probe.h"
#include "refstring/refstring.h"

#define SMALLEST 1024.0
/* Sizes end at so many times where the last cache does. */
#define BEYOND 4
/* Reads of one lap: with short strides curves end where it takes more of them. */
#define MOST_READS 0x1p20
/* Strides beyond the line that curves are shown to coincide at. */
#define LONGER 2

static double longest_line(const struct fm_known *known)
{
    double longest = FM_WORD;
    for (size_t i = 0; i + 1 < known->count; i++) {
        const struct fm_known_level *level = &known->levels[i];
        longest = fmax(longest, (double)(level->line ? level->line : level->unit));
    }
    return longest;
}

static double largest(const struct fm_lab *lab)
{
    const struct fm_known *known = &lab->known;
    const double last = known->count > 1 ? known->levels[known->count - 2].rise_to : SMALLEST;
    return fmin(BEYOND * last, (double)fm_lab_limit(lab));
}

static bool draw(struct fm_lab *lab, size_t stride, double end, struct fm_error *err)
{
    const struct fm_care care = {.repeats = 2};
    char id[32];
    snprintf(id, sizeof id, "stride-%zu", stride);
    struct fm_curve *curve = fm_result_curve(lab->result, id);
    if (!curve)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a curve");
    curve->x = (struct fm_axis){"footprint", "B"};
    curve->y = (struct fm_axis){"latency", "ns"};
    for (double size = SMALLEST; size <= end && size <= MOST_READS * (double)stride;
         size *= M_SQRT2) {
        const struct fm_spot_plan plan = {.count = (size_t)size / stride, .stride = stride};
        struct fm_string string;
        double ns;
        if (!fm_spot_string(&string, &plan, err) || !fm_lab_time(lab, &string, &care, &ns, err))
            return false;
        if (!fm_curve_add(curve, (struct fm_point){floor(size), ns, ns, ns}))
            return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a curve");
    }
    return true;
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    const double end = largest(lab), longest = LONGER * longest_line(&lab->known);
    const double strides = log2(longest / FM_WORD) + 1;
    if (!fm_lab_place(lab, (size_t)end, err))
        return false;
    for (size_t stride = FM_WORD; (double)stride <= longest; stride *= 2)
        if (!fm_lab_go_on(lab, log2((double)stride / FM_WORD) / strides, err) ||
            !draw(lab, stride, end, err))
            return false;
    return true;
}

const struct fm_probe fm_probe_strides = {
    .name = "strides",
    .finds = "latency over size for each stride, drawn under --method calibrator",
    .needs = "levels",
    .curve = "stride-64",
    .share = 0.5,
    .method = FM_METHOD_CALIBRATOR,
    .run = run,
};
