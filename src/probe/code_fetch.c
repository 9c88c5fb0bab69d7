/* Two strings of jumps differ in nothing but how often a cache is asked for a line (fm_lines_plan
 * says how): the difference of their times is the cache's, whatever the branch predictor and the
 * TLB do meanwhile. */
#include "probe/code_fetch.h"

#include <stdlib.h>

#include "core/units.h"
#include "refstring/refstring.h"

bool fm_code_lines_open(struct fm_code_lines *lines, size_t room, struct fm_error *err)
{
    *lines = (struct fm_code_lines){.room = room, .apart = FM_WORD};
    lines->one = malloc(room * sizeof *lines->one);
    lines->other = malloc(room * sizeof *lines->other);
    if (lines->one && lines->other)
        return true;
    fm_code_lines_close(lines);
    return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a list of lines");
}

void fm_code_lines_close(struct fm_code_lines *lines)
{
    free(lines->one);
    free(lines->other);
    *lines = (struct fm_code_lines){0};
}

void fm_code_lines_clear(struct fm_code_lines *lines)
{
    lines->count = lines->lines = 0;
}

void fm_code_lines_add(struct fm_code_lines *lines, size_t one, size_t other)
{
    if (lines->count == lines->room)
        return;
    const bool two = other != FM_NO_LINE;
    lines->one[lines->count] = (uint32_t)(one / FM_WORD);
    lines->other[lines->count] = two ? (uint32_t)(other / FM_WORD) : FM_NO_LINE;
    lines->count++;
    lines->lines += 1 + two;
}

/* The two of a pair stand half a page apart, too far for what a prefetcher brings along. */
static void fill_page(struct fm_code_lines *lines, size_t from, size_t units, size_t pitch)
{
    const size_t half = units / 2;
    for (size_t i = 0; i < half; i++)
        fm_code_lines_add(lines, from + i * pitch, from + (i + half) * pitch);
    if (units % 2)
        fm_code_lines_add(lines, from + (units - 1) * pitch, FM_NO_LINE);
}

void fm_code_lines_fill(struct fm_code_lines *lines, size_t bytes, size_t pitch, size_t page)
{
    fm_code_lines_clear(lines);
    for (size_t from = 0; from < bytes; from += page) {
        const size_t here = bytes - from < page ? bytes - from : page;
        fill_page(lines, from, here / pitch, pitch);
    }
}

static bool time_form(struct fm_lab *lab, const struct fm_code_lines *lines, bool bursts,
                      const struct fm_care *care, double *ns, struct fm_error *err)
{
    const struct fm_lines_plan plan = {.one = lines->one,
                                       .other = lines->other,
                                       .count = lines->count,
                                       .apart = lines->apart,
                                       .bursts = bursts,
                                       .seed = lab->placement_seed};
    struct fm_care jumps = *care;
    struct fm_string string;
    jumps.jumps = true;
    if (!fm_lines_string(&string, &plan, err))
        return false;
    /* A level that gives up what came first would else go by the order of the string before. */
    fm_string_flush(&string);
    return fm_lab_time(lab, &string, &jumps, ns, err);
}

bool fm_time_fetch(struct fm_lab *lab, const struct fm_code_lines *lines,
                   const struct fm_care *care, struct fm_code_fetch *found, struct fm_error *err)
{
    if (!time_form(lab, lines, false, care, &found->one_ns, err) ||
        !time_form(lab, lines, true, care, &found->burst_ns, err))
        return false;
    found->miss_ns = 2 * (found->one_ns - found->burst_ns);
    found->rest_ns = found->one_ns - found->miss_ns;
    return true;
}

static void refuse(struct fm_lab *lab, const char *const *properties, const char *reason)
{
    for (; properties && *properties; properties++) {
        struct fm_finding *finding =
            fm_result_finding(lab->result, *properties, fm_unit_of(*properties));
        if (!finding)
            return;
        fm_undetermined(finding, reason);
        finding->status = FM_UNSUPPORTED;
    }
}

bool fm_code_runs(struct fm_lab *lab, const char *const *properties, bool *runs,
                  struct fm_error *err)
{
    const struct fm_dense_plan plan = {
        .blocks = 1, .spacing = FM_DENSE_BLOCK / 2, .page = lab->machine->info.page_size};
    struct fm_string string;
    struct fm_sample sample;
    struct fm_error refusal = {.code = FM_ERR_OK};
    if (!fm_lab_place(lab, plan.page, err) || !fm_dense_string(&string, &plan, err))
        return false;
    fm_string_time(&string, string.orders[0].count);
    fm_string_jump(&string);
    *runs = lab->machine->ops->run(lab->machine, &string, 1, &sample, &refusal);
    fm_string_free(&string);
    if (*runs)
        return true;
    if (refusal.code != FM_ERR_UNSUPPORTED && refusal.code != FM_ERR_FORBIDDEN) {
        *err = refusal;
        return false;
    }
    refuse(lab, properties, refusal.text);
    /* What a machine lacks is no news; what somebody has forbidden can be allowed. */
    if (refusal.code == FM_ERR_FORBIDDEN)
        fm_result_warn(lab->result, "code-forbidden",
                       "for the side of code, measure outside of the service or sandbox that "
                       "forbids it, or allow it there",
                       "%s", refusal.text);
    return true;
}
