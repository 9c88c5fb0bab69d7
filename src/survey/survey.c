#include "survey/survey.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/units.h"
#include "probe/cycle.h"
#include "probe/probe.h"
#include "survey/ledger.h"

/* A change of the cycle time within a survey that is worth a warning. */
#define DRIFT 0.03
/* … and the part of the time that another thread may run on the core without one. */
#define SELDOM_SHARED 0.05

/* In the order they run: each after what it needs. */
/* clang-format off */
static const struct fm_probe *const probes[] = {
    &fm_probe_cycle,
    &fm_probe_misses,
    &fm_probe_levels,
    &fm_probe_gap,
    &fm_probe_latency,
    &fm_probe_capacity,
    &fm_probe_ways,
    &fm_probe_replacement,
    &fm_probe_tlb,
    &fm_probe_tlb_replacement,
    &fm_probe_walk_cost,
    &fm_probe_icache,
    &fm_probe_itlb,
    &fm_probe_btb,
    &fm_probe_unified,
    &fm_probe_code_levels,
    &fm_probe_counters,
    &fm_probe_fetch,
    &fm_probe_prefetch,
    &fm_probe_inclusion,
    &fm_probe_outer_replacement,
    &fm_probe_writes,
    &fm_probe_write_backs,
    &fm_probe_streaming,
    &fm_probe_banks,
    &fm_probe_later,
    &fm_probe_strides,
    &fm_probe_calibrator,
    &fm_probe_cooper_sandoval,
    &fm_probe_papi_cache,
    &fm_probe_amp,
};
/* clang-format on */
#define PROBES (sizeof probes / sizeof probes[0])

size_t fm_probe_count(void)
{
    return PROBES;
}

struct fm_probe_info fm_probe_at(size_t index)
{
    const struct fm_probe *probe = probes[index];
    return (struct fm_probe_info){probe->name, probe->finds, probe->needs, probe->curve,
                                  probe->reads == FM_READS_COUNTERS};
}

/* Whether a comma list has the name. */
static bool list_has(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; *at;) {
        const size_t item = strcspn(at, ",");
        if (item == length && strncmp(at, name, length) == 0)
            return true;
        at += item + (at[item] == ',');
    }
    return false;
}

bool fm_survey_check_only(const char *only, struct fm_error *err)
{
    const char *at = only;
    /* An empty list names a probe without a name, like one of a comma alone. */
    do {
        const size_t length = strcspn(at, ",");
        bool known = false;
        for (size_t i = 0; i < PROBES && !known; i++)
            known = strlen(probes[i]->name) == length && !strncmp(probes[i]->name, at, length);
        if (!known)
            return fm_fail(err, FM_ERR_USAGE,
                           "there is no probe '%.*s'; `fathom probes` lists them",
                           (int)(length < 64 ? length : 64), at);
        at += length + (at[length] == ',');
    } while (*at);
    return true;
}

/* A probe of another method than the default runs only where the method or the probe is asked for
   by name. */
static bool is_wanted(const struct fm_survey_options *options, const struct fm_probe *probe)
{
    const bool named = options->only && list_has(options->only, probe->name);
    if (options->only ? !named : probe->detail && options->effort == FM_QUICK)
        return false;
    return probe->every_method || probe->method == options->method ||
           (named && options->method == FM_METHOD_DEFAULT);
}

/* The probe that a published method is called by. */
static const char *name_of(enum fm_method method)
{
    size_t i = PROBES - 1;
    while (i > 0 && probes[i]->method != method)
        i--;
    return probes[i]->name;
}

/* Why a probe cannot run on the machine; NULL if it can. */
static const char *obstacle(const struct fm_machine_info *machine, const struct fm_probe *probe)
{
    if (probe->reads == FM_READS_COUNTERS)
        return machine->counters.events ? NULL : "this machine offers no counters: see --meter";
    if (probe->reads == FM_READS_EITHER)
        return NULL;
    return machine->counters.alone ? "what is measured is a model that has no time" : NULL;
}

/* Marks the probes to run: those asked for and what they need. A probe that is named and cannot
   run is refused; the others are left out. */
static bool choose(const struct fm_machine_info *machine, const struct fm_survey_options *options,
                   bool chosen[PROBES], struct fm_error *err)
{
    for (size_t i = 0; i < PROBES; i++)
        chosen[i] = is_wanted(options, probes[i]);
    for (size_t i = PROBES; i-- > 0;)
        for (size_t j = 0; j < i && chosen[i]; j++)
            chosen[j] |= list_has(probes[i]->needs, probes[j]->name);
    for (size_t i = 0; i < PROBES; i++) {
        const char *why = obstacle(machine, probes[i]);
        const bool named = options->only && list_has(options->only, probes[i]->name);
        if (named && !chosen[i])
            return fm_fail(err, FM_ERR_USAGE,
                           "probe %s is none of that method: name %s, or leave out --method",
                           probes[i]->name, name_of(options->method));
        if (named && chosen[i] && why)
            return fm_fail(err, FM_ERR_UNSUPPORTED, "probe %s: %s", probes[i]->name, why);
        if (chosen[i] && why && probes[i]->method != FM_METHOD_DEFAULT)
            return fm_fail(err, FM_ERR_UNSUPPORTED, "method %s: %s", probes[i]->name, why);
        chosen[i] = chosen[i] && !why;
    }
    return true;
}

/* What a probe did not reach stays on record, with the reason; so does what it only began. */
static void mark_unreached(struct fm_lab *lab, const struct fm_probe *probe, const char *reason)
{
    struct fm_result *result = lab->result;
    const size_t caches = lab->known.memory_seen ? lab->known.count - 1 : 0;
    for (const char *const *property = probe->properties; property && *property; property++)
        fm_result_finding(result, *property, fm_unit_of(*property));
    for (const char *const *attribute = probe->outer; attribute && *attribute; attribute++)
        for (size_t level = 1; level < caches; level++)
            fm_lab_finding(lab, level, *attribute, fm_unit_of(*attribute));
    for (size_t i = 0; i < result->finding_count; i++) {
        struct fm_finding *finding = &result->findings[i];
        if (finding->status == FM_UNDETERMINED && !finding->note[0])
            fm_undetermined(finding, reason);
    }
}

/* Who asks by name for what a machine does not have is told so. */
static void mark_lacking(const struct fm_lab *lab, const struct fm_probe *probe)
{
    const bool named = lab->options->only && list_has(lab->options->only, probe->name);
    if (!named || !probe->second || fm_result_find(lab->result, probe->second))
        return;
    struct fm_finding *finding =
        fm_result_finding(lab->result, probe->second, fm_unit_of(probe->second));
    if (!finding)
        return;
    if (lab->known.count && !lab->known.memory_seen) {
        fm_undetermined(finding,
                        "where memory begins is not known, nor which levels are before it");
        return;
    }
    fm_undetermined(finding, probe->no_second);
    finding->status = FM_UNSUPPORTED;
}

static bool anything_is_measured(const struct fm_result *result)
{
    for (size_t i = 0; i < result->finding_count; i++)
        if (result->findings[i].status == FM_MEASURED)
            return true;
    return false;
}

/* What one probe may take where nothing is as it should be, in each effort: a survey ends in time
   all the same. No limit for what others rest on, for other methods, or for counters, which may be
   those of a model that is slow by nature. */
static const double longest_s[] = {[FM_QUICK] = 2, [FM_NORMAL] = 10, [FM_THOROUGH] = 300};

static bool has_limit(const struct fm_probe *probe)
{
    return !probe->vital && probe->method == FM_METHOD_DEFAULT && probe->reads == FM_READS_CLOCK;
}

/* Times its share of what is left of a survey's time that a probe may take, and the part of its
   share in the whole that is left to it where those before it took too long. */
#define SLACK 2
#define LEAST 0.25
/* Times its share after which one that must come to its end is late. */
#define LATE 1.5

/* What a survey is to take; 0: no matter how long. */
static double time_of(const struct fm_survey_options *options)
{
    return options->budget_s > 0 ? options->budget_s : options->pace_s;
}

/* The most that the next probe may take. One that a busy computer keeps from its end must not take
   the time of all that come after. */
static double limit_of(const struct fm_lab *lab, double now)
{
    const double longest = longest_s[lab->options->effort], whole = time_of(lab->options);
    if (whole <= 0)
        return longest;
    const double fair = fmin(1, SLACK * lab->share / (1 - lab->fraction)) * (whole - now);
    return fmin(longest, fmax(fair, LEAST * lab->share * whole));
}

/* When a probe is late, whatever other probes were asked for; 0: never. */
static double late_at(const struct fm_lab *lab, const struct fm_probe *probe, double now)
{
    double all = 0;
    for (size_t i = 0; i < PROBES; i++)
        all += has_limit(probes[i]) || probes[i]->vital ? probes[i]->share : 0;
    const double whole = time_of(lab->options);
    return whole > 0 ? now + LATE * probe->share / all * whole : 0;
}

/* Runs one probe within the survey's time and its own. What its own time or the memory did not
   suffice for is marked; `stop` is set only where the survey itself is over. Whether its own time
   sufficed. */
static bool run_probe(struct fm_lab *lab, const struct fm_probe *probe, struct fm_error *stop)
{
    const double now = lab->machine->ops->elapsed(lab->machine);
    const double survey_s = lab->options->budget_s, limit_s = limit_of(lab, now);
    const double own_s = now + limit_s;
    const bool own = has_limit(probe) && (survey_s <= 0 || own_s < survey_s);
    lab->deadline_s = own ? own_s : survey_s;
    lab->late_s = late_at(lab, probe, now);
    const bool good = fm_lab_go_on(lab, 0, stop) && probe->run(lab, stop);
    lab->deadline_s = survey_s;
    const bool small = stop->code == FM_ERR_NO_MEMORY && anything_is_measured(lab->result);
    if (good)
        mark_lacking(lab, probe);
    if (!good && small)
        mark_unreached(lab, probe, stop->text);
    if (good && probe->method != FM_METHOD_DEFAULT)
        mark_unreached(lab, probe,
                       "the published method shows nothing of it here; try the default one");
    /* What failed once may have been done otherwise. */
    if (good || small)
        *stop = (struct fm_error){.code = FM_ERR_OK};
    if (!own || stop->code != FM_ERR_OUT_OF_TIME)
        return true;
    char reason[sizeof((struct fm_finding *)0)->note];
    static const char *const advice[] = {[FM_QUICK] = "; try without --quick",
                                         [FM_NORMAL] = "; try --thorough, or a longer --budget",
                                         [FM_THOROUGH] = ""};
    snprintf(reason, sizeof reason, "out of time: its share of the survey, %.2g s, ran out%s",
             limit_s, advice[lab->options->effort]);
    mark_unreached(lab, probe, reason);
    *stop = (struct fm_error){.code = FM_ERR_OK};
    return false;
}

static bool run_probes(struct fm_lab *lab, const bool chosen[PROBES], struct fm_error *err)
{
    double total = 0, done = 0;
    bool in_time = true;
    struct fm_error stop = {.code = FM_ERR_OK};
    for (size_t i = 0; i < PROBES; i++)
        total += chosen[i] ? probes[i]->share : 0;
    for (size_t i = 0; i < PROBES; i++) {
        if (!chosen[i])
            continue;
        lab->doing = probes[i]->name;
        lab->fraction = done / total;
        lab->share = probes[i]->share / total;
        done += probes[i]->share;
        if (stop.code == FM_ERR_OK)
            in_time &= run_probe(lab, probes[i], &stop);
        if (stop.code != FM_ERR_OK && stop.code != FM_ERR_OUT_OF_TIME &&
            stop.code != FM_ERR_INTERRUPTED) {
            *err = stop;
            return false;
        }
        if (stop.code != FM_ERR_OK)
            mark_unreached(lab, probes[i], stop.text);
    }
    lab->result->complete = stop.code == FM_ERR_OK && (in_time || lab->options->budget_s <= 0);
    if (stop.code != FM_ERR_OK)
        return true;
    /* The end is shown too; to stop there is to stop nothing. */
    fm_lab_go_on(lab, 1, &stop);
    double drift = 0;
    if (!fm_cycle_drift(lab, &drift, &stop) && stop.code != FM_ERR_NO_MEMORY) {
        *err = stop;
        return false;
    }
    if (fabs(drift) > DRIFT)
        fm_result_warn(
            lab->result, "frequency",
            "hold the core at one frequency, or measure again; nanoseconds and cycles do "
            "not belong together",
            "a cycle took %.1f%% %s at the end of the survey than at its beginning",
            100 * fabs(drift), drift > 0 ? "longer" : "less time");
    return true;
}

static void warn(const struct fm_lab *lab)
{
    struct fm_result *result = lab->result;
    const struct fm_known *known = &lab->known;
    if (lab->samples && lab->disturbed * 5 > lab->samples)
        fm_result_warn(result, "interference",
                       "close other programs, or try --cpu with another CPU",
                       "%u of %u samples were disturbed by other work on this CPU", lab->disturbed,
                       lab->samples);
    if (known->count && !known->memory_seen)
        fm_result_warn(result, "footprint",
                       "raise --max-footprint, or give the program more memory",
                       "latency still rises at the largest footprint measured (%.0f MiB): there "
                       "may be more levels",
                       known->far_bytes / 0x1p20);
}

/* Something that no system tells of: the thread may belong to another virtual machine. */
static void warn_of_shared_core(struct fm_result *result)
{
    const struct fm_value *part = fm_environment_get(&result->environment, FM_CORE_SHARED);
    if (!part || part->kind != FM_VALUE_NUMBER || !(part->number > SELDOM_SHARED))
        return;
    fm_result_warn(result, "core-shared",
                   "let the core's other CPU rest, or measure again when the host is less busy",
                   "another thread ran on this core at %.0f%% of the moments it was looked for: it "
                   "takes its part of the first caches and TLBs",
                   100 * part->number);
}

/* The system's word for it; what entries map was found out by itself. */
static void warn_of_resized(struct fm_result *result)
{
    char size[FM_SIZE_TEXT];
    const struct fm_value *bytes = fm_environment_get(&result->environment, FM_PAGES_RESIZED);
    if (!bytes || bytes->kind != FM_VALUE_NUMBER || !(bytes->number > 0))
        return;
    fm_result_warn(result, "page-resized", "have the system keep to pages of one size",
                   "by the system's word %s changed the size of its pages while it was measured; "
                   "TLBs are told for what their entries map (page_size), the rest may be of "
                   "either",
                   fm_format_size((size_t)bytes->number, size));
    if (!fm_result_find(result, "page.resized"))
        return;
    struct fm_finding *finding = fm_result_finding(result, "page.resized", "");
    if (finding->status == FM_MEASURED)
        finding->value = finding->low = finding->high = fm_bool(true);
}

bool fm_survey(struct fm_machine *machine, const struct fm_claims *claims,
               const struct fm_survey_options *options, struct fm_result *result,
               struct fm_error *err)
{
    struct fm_lab *lab = calloc(1, sizeof *lab);
    if (!lab)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a survey");
    lab->machine = machine;
    lab->options = options;
    lab->result = result;
    bool chosen[PROBES];
    result->machine = machine->info;
    const bool good = choose(&machine->info, options, chosen, err) && run_probes(lab, chosen, err);
    if (good) {
        warn(lab);
        machine->ops->observe(machine, &result->environment);
        warn_of_shared_core(result);
        warn_of_resized(result);
        if (claims)
            fm_ledger_claims(result, claims);
        fm_ledger_write(result, lab->known.scattered);
        result->elapsed_s = machine->ops->elapsed(machine);
    }
    free(lab);
    return good;
}
