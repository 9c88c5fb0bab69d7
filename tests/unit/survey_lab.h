/* Surveys of small simulated machines, for the tests of the probes. */
#ifndef FM_TESTS_SURVEY_LAB_H
#define FM_TESTS_SURVEY_LAB_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "sim_lab.h"
#include "survey/survey.h"

/* Of some machines of a kind, or seeds, how many are tried: about half, and all of them in `make
   test-long`. A sanitizer looks at the code, which one goes through as all do. */
static inline size_t lab_of(size_t count)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)count;
    return 1;
#else
    return getenv("FATHOM_TEST_ALL") ? count : (count + 1) / 2;
#endif
}

/* Footprints end here: far beyond the small caches, and quickly simulated. */
#define FAR (4u << 20)

static inline struct fm_survey_options lab_options(void)
{
    return (struct fm_survey_options){.effort = FM_NORMAL, .max_footprint = FAR, .seed = 1};
}

/* Two levels and a TLB, all of them small. */
static inline struct fm_description lab_small(struct fm_cache_description l1,
                                              struct fm_cache_description l2)
{
    struct fm_description machine = lab_machine();
    machine.caches[machine.cache_count++] = l1;
    machine.caches[machine.cache_count++] = l2;
    machine.tlbs[machine.tlb_count++] = lab_tlb(1, 16, 16, PAGE);
    return machine;
}

/* What is not known says why. */
static inline void lab_expect_reasons(const struct fm_result *result)
{
    for (size_t i = 0; i < result->finding_count; i++)
        if (result->findings[i].status == FM_UNDETERMINED && !result->findings[i].note[0])
            fail_msg("%s is undetermined, and no reason is given", result->findings[i].property);
}

/* With the machine's exact counters beside the clock, or without; its pages lie as `luck` will. */
static inline void lab_survey_at(const struct fm_description *description, uint64_t luck,
                                 bool counters, const struct fm_survey_options *options,
                                 struct fm_result *result)
{
    struct fm_error err = {0};
    struct fm_machine *machine = fm_simulated_open(description, luck, &err);
    if (!machine)
        fail_msg("%s", err.text);
    fm_simulated_count(machine, counters);
    fm_result_init(result);
    if (!fm_survey(machine, NULL, options, result, &err))
        fail_msg("%s", err.text);
    machine->ops->close(machine);
    lab_expect_reasons(result);
}

static inline void lab_survey_by(const struct fm_description *description, bool counters,
                                 const struct fm_survey_options *options, struct fm_result *result)
{
    lab_survey_at(description, 1, counters, options, result);
}

static inline void lab_survey(const struct fm_description *description,
                              const struct fm_survey_options *options, struct fm_result *result)
{
    lab_survey_by(description, false, options, result);
}

static inline const struct fm_finding *lab_finding(const struct fm_result *result,
                                                   const char *property)
{
    const struct fm_finding *finding = fm_result_find(result, property);
    if (!finding)
        fail_msg("there is no %s", property);
    return finding;
}

/* A measured number; it lies within its own interval. */
static inline bool lab_has_warning(const struct fm_result *result, const char *id)
{
    for (size_t i = 0; i < result->warning_count; i++)
        if (strcmp(result->warnings[i].id, id) == 0)
            return true;
    return false;
}

static inline double lab_number(const struct fm_result *result, const char *property)
{
    const struct fm_finding *finding = lab_finding(result, property);
    if (finding->status != FM_MEASURED || finding->value.kind != FM_VALUE_NUMBER)
        fail_msg("%s is no number: %s", property, finding->note);
    if (finding->value.number < finding->low.number || finding->value.number > finding->high.number)
        fail_msg("%s: %g is not in %g..%g", property, finding->value.number, finding->low.number,
                 finding->high.number);
    return finding->value.number;
}

static inline void lab_expect(const struct fm_result *result, const char *property, double truth,
                              double slack)
{
    const double value = lab_number(result, property);
    if (fabs(value - truth) > slack)
        fail_msg("%s is %g, not %g", property, value, truth);
}

#endif
