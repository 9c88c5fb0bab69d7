#include "count.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/units.h"
#include "machine/simulated/simulated.h"
#include "survey/survey.h"

#define MOST_JOBS 16

double fm_tally_cases(const struct fm_tally *tally)
{
    return fmax(1, tally->right + tally->wrong + tally->undetermined);
}

void fm_judge_open(struct fm_tally *tally, const struct fm_plan *plan, unsigned index,
                   const char *name, const struct fm_finding *finding)
{
    tally->undetermined++;
    if (plan->show)
        fprintf(stderr, "machine %u: %s undetermined: %s\n", index, name,
                finding ? finding->note : "not found");
}

static double number_of(const struct fm_value *value)
{
    switch (value->kind) {
    case FM_VALUE_NUMBER:
        return value->number;
    case FM_VALUE_BOOL:
        return value->truth;
    default:
        return 0;
    }
}

void fm_judge(struct fm_tally *tally, const struct fm_plan *plan, unsigned index,
              const struct fm_result *result, const char *name, double truth, double slack)
{
    const struct fm_finding *finding = fm_result_find(result, name);
    if (!finding || finding->status != FM_MEASURED) {
        fm_judge_open(tally, plan, index, name, finding);
        return;
    }
    const double value = number_of(&finding->value);
    const bool right = fabs(value - truth) <= slack;
    const bool inside = finding->low.kind == FM_VALUE_NUMBER && finding->low.number <= truth &&
                        truth <= finding->high.number;
    /* A range that is wider than is asked for, and holds the truth, tells nothing wrong. */
    const bool rough = inside && finding->high.number - finding->low.number > 2 * slack;
    tally->right += right;
    tally->undetermined += !right && rough;
    tally->wrong += !right && !rough;
    if (!right && plan->show)
        fprintf(stderr, "machine %u: %s is %g, truth %g, interval %g..%g\n", index, name, value,
                truth, finding->low.number, finding->high.number);
    if (finding->low.kind == FM_VALUE_NUMBER) {
        tally->intervals++;
        tally->inside += inside;
    }
}

static void survey_one(const struct fm_counting *counting, struct fm_figures *figures,
                       const struct fm_plan *plan, unsigned index)
{
    struct fm_description machine;
    struct fm_error err;
    struct fm_result result;
    const struct fm_survey_options options = {
        .effort = FM_NORMAL, .seed = plan->seed + index, .only = plan->only};
    counting->draw(plan, index, &machine);
    if (plan->show)
        counting->show(index, &machine);
    fm_result_init(&result);
    struct fm_machine *simulated = fm_simulated_open(&machine, plan->seed + index, &err);
    figures->machines++;
    if (simulated)
        fm_simulated_count(simulated, plan->counters);
    if (simulated && fm_survey(simulated, NULL, &options, &result, &err)) {
        counting->judge(figures, plan, index, &machine, &result);
    } else {
        figures->failed++;
        fprintf(stderr, "machine %u: %s\n", index, err.text);
    }
    if (simulated)
        simulated->ops->close(simulated);
    fm_result_free(&result);
}

/* Each job takes every jobs-th machine in a process of its own and sends its figures back. */
static bool start_job(const struct fm_counting *counting, const struct fm_plan *plan, unsigned job,
                      int *from)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        struct fm_figures figures = {0};
        for (unsigned i = job; i < plan->machines; i += plan->jobs)
            survey_one(counting, &figures, plan, plan->first + i);
        const bool sent = write(ends[1], &figures, sizeof figures) == (ssize_t)sizeof figures;
        _exit(sent ? 0 : 1);
    }
    close(ends[1]);
    *from = ends[0];
    return child > 0;
}

static void add(struct fm_figures *sum, const struct fm_figures *more)
{
    sum->machines += more->machines;
    sum->failed += more->failed;
    for (size_t row = 0; row < FM_ROWS; row++) {
        sum->of[row].right += more->of[row].right;
        sum->of[row].wrong += more->of[row].wrong;
        sum->of[row].undetermined += more->of[row].undetermined;
        sum->of[row].inside += more->of[row].inside;
        sum->of[row].intervals += more->of[row].intervals;
    }
}

static bool survey_all(const struct fm_counting *counting, const struct fm_plan *plan,
                       struct fm_figures *sum)
{
    int from[MOST_JOBS];
    for (unsigned job = 0; job < plan->jobs; job++)
        if (!start_job(counting, plan, job, &from[job]))
            return false;
    bool good = true;
    for (unsigned job = 0; job < plan->jobs; job++) {
        struct fm_figures more;
        const bool came = read(from[job], &more, sizeof more) == (ssize_t)sizeof more;
        if (came)
            add(sum, &more);
        good &= came;
        close(from[job]);
        wait(NULL);
    }
    return good;
}

/* Rows without a case were not asked for. */
static void print(const struct fm_counting *counting, const struct fm_plan *plan,
                  const struct fm_figures *figures)
{
    printf("%u random machines, seed %llu, %s\n", figures->machines, (unsigned long long)plan->seed,
           plan->noise ? "noise and scattered pages" : "no noise, contiguous pages");
    printf("%-24s %6s %9s %7s %13s%s\n", "property", "cases", "right", "wrong", "undetermined",
           counting->intervals ? "  truth in interval" : "");
    for (size_t row = 0; row < counting->row_count; row++) {
        const struct fm_tally *t = &figures->of[row];
        const double all = fm_tally_cases(t);
        if (t->right + t->wrong + t->undetermined == 0)
            continue;
        printf("%-24s %6.0f %8.1f%% %6.1f%% %12.1f%%", counting->rows[row], all,
               100 * t->right / all, 100 * t->wrong / all, 100 * t->undetermined / all);
        if (counting->intervals)
            printf(" %17.1f%%", 100 * t->inside / fmax(1, t->intervals));
        printf("\n");
    }
}

struct passes {
    bool quiet, noisy;
};

/* Takes the option at argv[i]; how many words it was, 0 where it is none. */
static int take_option(char **argv, int i, struct fm_plan *plan, struct passes *passes)
{
    const char *option = argv[i], *word = argv[i + 1];
    uint64_t number;
    const bool numbered = word && fm_parse_count(word, &number);
    if (strcmp(option, "--show") == 0)
        return plan->show = true;
    if (strcmp(option, "--check") == 0)
        return plan->check = true;
    if (strcmp(option, "--counters") == 0)
        return plan->counters = true;
    if (strcmp(option, "--quiet-only") == 0)
        return !(passes->noisy = false);
    if (strcmp(option, "--noise-only") == 0)
        return !(passes->quiet = false);
    if (strcmp(option, "--only") == 0 && word)
        plan->only = word;
    else if (strcmp(option, "--machines") == 0 && numbered)
        plan->machines = (unsigned)number;
    else if (strcmp(option, "--first") == 0 && numbered)
        plan->first = (unsigned)number;
    else if (strcmp(option, "--seed") == 0 && numbered)
        plan->seed = number;
    else if (strcmp(option, "--jobs") == 0 && numbered && number > 0)
        plan->jobs = (unsigned)number;
    else
        return 0;
    return 2;
}

static bool has_cases(const struct fm_counting *counting, const struct fm_figures *figures)
{
    double cases = 0;
    for (size_t row = 0; row < counting->row_count; row++) {
        const struct fm_tally *t = &figures->of[row];
        cases += t->right + t->wrong + t->undetermined;
    }
    return cases > 0;
}

int fm_count(const struct fm_counting *counting, int argc, char **argv)
{
    struct fm_plan plan = counting->plan;
    struct passes passes = {!counting->noise_alone, true};
    plan.jobs = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    for (int i = 1, words; i < argc; i += words) {
        words = take_option(argv, i, &plan, &passes);
        if (words > 0)
            continue;
        fprintf(stderr,
                "%s: what is '%s'? [--machines N] [--first N] [--seed N] [--jobs N] "
                "[--quiet-only|--noise-only] [--only PROBES] [--counters] [--show] [--check]\n",
                counting->name, argv[i]);
        return 2;
    }
    plan.jobs = plan.jobs > MOST_JOBS ? MOST_JOBS : plan.jobs;
    bool good = true;
    for (int noise = 0; noise < 2; noise++) {
        struct fm_figures figures = {0};
        if (!(noise ? passes.noisy : passes.quiet))
            continue;
        plan.noise = noise;
        if (!survey_all(counting, &plan, &figures)) {
            fprintf(stderr, "%s: a job failed\n", counting->name);
            return 1;
        }
        print(counting, &plan, &figures);
        good &= figures.failed == 0;
        /* Where nothing was judged nothing was checked. */
        if (plan.check && counting->within_bounds)
            good &= has_cases(counting, &figures) && counting->within_bounds(&plan, &figures);
    }
    return good ? 0 : 1;
}
