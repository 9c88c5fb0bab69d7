#include <math.h>
#include <string.h>

#include "probe/btb.h"
#include "refstring/refstring.h"

#define MOST_POINTS 72
/* Points to an octave. */
#define DENSITY 4
/* Times an edge, and part of the next, between which a level may show that lies between them. */
#define BEYOND_ONE 2.2
#define SHORT_OF   0.9

double fm_most_jumps(const struct fm_lab *lab)
{
    static const double most[] = {[FM_QUICK] = 16384, [FM_NORMAL] = 32768, [FM_THOROUGH] = 131072};
    return most[lab->options->effort];
}

struct fm_dense_plan fm_jump_plan(const struct fm_lab *lab, size_t blocks,
                                  struct fm_spacing spacing)
{
    return (struct fm_dense_plan){.blocks = blocks,
                                  .spacing = spacing.bytes,
                                  .staggered = spacing.staggered,
                                  .page = lab->machine->info.page_size,
                                  .seed = lab->placement_seed};
}

static bool time_dense(struct fm_lab *lab, size_t blocks, struct fm_spacing spacing, double *ns,
                       struct fm_error *err)
{
    const struct fm_care care = {.repeats = 4, .jumps = true, .steps = 256};
    const struct fm_dense_plan plan = fm_jump_plan(lab, blocks, spacing);
    struct fm_string string;
    if (!fm_dense_string(&string, &plan, err))
        return false;
    fm_string_flush(&string);
    return fm_lab_time(lab, &string, &care, ns, err);
}

bool fm_time_jump(struct fm_lab *lab, size_t blocks, struct fm_spacing spacing, double *ns,
                  struct fm_error *err)
{
    const struct fm_spacing twice = {2 * spacing.bytes, spacing.staggered};
    double all, half;
    if (!time_dense(lab, blocks, spacing, &all, err) || !time_dense(lab, blocks, twice, &half, err))
        return false;
    *ns = 2 * all - half;
    return true;
}

size_t fm_jump_blocks(double jumps, struct fm_spacing spacing)
{
    const double blocks = floor(jumps * (double)spacing.bytes / FM_DENSE_BLOCK);
    return blocks > 1 ? (size_t)blocks : 1;
}

bool fm_place_jumps(struct fm_lab *lab, size_t blocks, struct fm_error *err)
{
    return fm_lab_place(lab, (blocks + 1) * FM_DENSE_BLOCK, err);
}

static struct fm_curve *begin_curve(struct fm_lab *lab)
{
    struct fm_curve *curve = fm_result_curve(lab->result, "btb");
    if (curve) {
        curve->x = (struct fm_axis){"jumps", ""};
        curve->y = (struct fm_axis){"a jump more", "ns"};
    }
    return curve;
}

/* A level between two others that costs less than twice what the first does never comes above the
   height that readings had where half of the jumps were still known to that. But they have come
   down from there before it ends: one rise is looked for among those between. The least from each
   on counts, as they are too high again where half of the jumps is known to it. */
static void read_between(const struct fm_tlb_point *plain, size_t n, double cycle_ns,
                         struct fm_btb *btb)
{
    struct fm_tlb_point between[MOST_POINTS];
    struct fm_tlb_step rise;
    for (size_t i = 0; i + 1 < btb->count && btb->count < FM_BTB_LEVELS; i++) {
        const double from = BEYOND_ONE * btb->steps[i].held, to = SHORT_OF * btb->steps[i + 1].held;
        size_t first = 0, end = n, m;
        while (first < n && plain[first].pages < from)
            first++;
        while (end > first && plain[end - 1].pages > to)
            end--;
        m = end - first;
        for (size_t j = m; j-- > 0;) {
            between[j] = plain[first + j];
            if (j + 1 < m)
                between[j].cost = fmin(between[j].cost, between[j + 1].cost);
        }
        const double base = m ? between[0].cost : 0;
        for (size_t j = 0; j < m; j++)
            between[j].cost -= base;
        if (fm_read_tlb_steps(between, m, &rise, 1) == 0 ||
            rise.cost - rise.cost_before < FM_JUMP_CYCLE * cycle_ns)
            continue;
        rise.cost += base;
        rise.cost_before += base;
        memmove(&btb->steps[i + 2], &btb->steps[i + 1],
                (btb->count - i - 1) * sizeof btb->steps[0]);
        btb->steps[i + 1] = rise;
        btb->steps[i + 2].cost_before = rise.cost;
        btb->between = i + 1;
        btb->count++;
        return;
    }
}

bool fm_read_jump_curve(struct fm_lab *lab, struct fm_btb *btb, bool draw, struct fm_error *err)
{
    struct fm_tlb_point points[MOST_POINTS], plain[MOST_POINTS];
    struct fm_curve *curve = draw ? begin_curve(lab) : NULL;
    const double most = fm_most_jumps(lab);
    const size_t each = FM_DENSE_BLOCK / btb->spacing.bytes;
    double highest = 0;
    size_t n = 0;
    if (!fm_place_jumps(lab, fm_jump_blocks(most, btb->spacing), err))
        return false;
    for (size_t blocks = fm_jump_blocks(FM_FIRST_JUMPS, btb->spacing);
         (double)(blocks * each) <= most && n < MOST_POINTS; n++) {
        double ns;
        if (!fm_lab_go_on(lab, 0, err) || !fm_time_jump(lab, blocks, btb->spacing, &ns, err))
            return false;
        const double jumps = (double)(blocks * each);
        if (curve)
            fm_curve_add(curve, (struct fm_point){jumps, ns, ns * (1 - FM_JUMP_READING),
                                                  ns * (1 + FM_JUMP_READING)});
        btb->least_ns = n == 0 ? ns : fmin(btb->least_ns, ns);
        highest = fmax(highest, ns);
        points[n] = (struct fm_tlb_point){jumps, highest, FM_JUMP_READING * highest};
        plain[n] = (struct fm_tlb_point){jumps, ns, FM_JUMP_READING * ns};
        const double next = (double)blocks * exp2(1.0 / DENSITY);
        blocks = next > (double)blocks + 1 ? (size_t)next : blocks + 1;
    }
    for (size_t i = 0; i < n; i++) {
        points[i].cost -= btb->least_ns;
        plain[i].cost -= btb->least_ns;
    }
    btb->count = fm_read_tlb_steps(points, n, btb->steps, FM_BTB_LEVELS);
    read_between(plain, n, lab->known.cycle_ns, btb);
    return true;
}
