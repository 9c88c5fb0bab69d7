/* An application's references, in the model of a measured machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/handles.h"
#include "api/page.h"
#include "machine/native/computer.h"
#include "meter/papi.h"
#include "meter/perf.h"
#include "meter/valgrind.h"
#include "report/report.h"
#include "stat/stat.h"

static double number_of(const struct fm_result *result, const char *structure,
                        const char *attribute)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s.%s", structure, attribute);
    const struct fm_finding *finding = fm_result_find(result, property);
    if (!finding || finding->status != FM_MEASURED || finding->value.kind != FM_VALUE_NUMBER)
        return 0;
    return finding->value.number;
}

static bool is_full(const struct fm_result *result, const char *structure)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s.ways", structure);
    const struct fm_finding *finding = fm_result_find(result, property);
    return finding && finding->value.kind == FM_VALUE_TEXT;
}

/* What was built in, where that is known; what a program gets, where not. */
static struct fm_stat_cache cache_of(const struct fm_result *result, const char *structure)
{
    const double physical = number_of(result, structure, "physical_capacity");
    struct fm_stat_cache cache = {
        .capacity = physical > 0 ? physical : number_of(result, structure, "capacity"),
        .line = number_of(result, structure, "line"),
        .ways = number_of(result, structure, "ways"),
    };
    if (is_full(result, structure) && cache.line > 0)
        cache.ways = cache.capacity / cache.line;
    return cache;
}

static bool is_of_here(const struct fm_result *result)
{
    char name[FM_INFO_TEXT];
    fm_computer_name(name, sizeof name);
    return strcmp(name, result->machine.name) == 0;
}

static const char *const structures[FM_STAT_LEVELS] = {"l1d", "l2", "l3"};

/* The levels that are known well enough to be modelled. */
static bool machine_of(const struct fm_result *from, struct fm_stat_machine *machine,
                       struct fm_stat_cache caches[FM_STAT_LEVELS], struct fm_error *err)
{
    *machine = (struct fm_stat_machine){.memory_ns = number_of(from, "memory", "latency"),
                                        .cycle_ns = number_of(from, "cpu", "cycle_time")};
    for (size_t i = 0; i < FM_STAT_LEVELS; i++) {
        caches[i] = cache_of(from, structures[i]);
        /* A line that was not found is rarely another than the one inside. */
        if (!(caches[i].line > 0) && i > 0)
            caches[i].line = caches[i - 1].line;
        if (!(caches[i].capacity > 0) || !(caches[i].line > 0))
            break;
        machine->levels[i] = (struct fm_stat_level){
            .line = caches[i].line, .latency_ns = number_of(from, structures[i], "latency")};
        machine->count = i + 1;
    }
    return machine->count > 0 ||
           fm_fail(err, FM_ERR_USAGE, "result: it has no cache in it: survey the machine again");
}

static bool is_there(const struct fm_result *from, size_t level)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "l%zu.capacity", level);
    const struct fm_finding *capacity = fm_result_find(from, property);
    return capacity && (capacity->status == FM_MEASURED || capacity->status == FM_UNDETERMINED);
}

/* What a level serves that is not in the model comes, there, from memory. */
static void warn_of_dropped(struct fm_result *result, const struct fm_result *from, size_t count)
{
    char names[64] = "";
    size_t used = 0, dropped = 0;
    for (size_t level = count + 1; level <= FM_CACHE_LEVELS; level++)
        if (is_there(from, level) && used + 8 < sizeof names) {
            used += (size_t)snprintf(names + used, sizeof names - used, "%sL%zu",
                                     dropped ? ", " : "", level);
            dropped++;
        }
    if (count < FM_STAT_LEVELS && dropped)
        fm_result_warn(result, "level-dropped",
                       "survey the machine again, thoroughly or when it is less busy",
                       "the measured machine does not tell enough of %s: what %s served is counted "
                       "as served by memory",
                       names, dropped > 1 ? "they" : "it");
    else if (dropped)
        fm_result_warn(result, "level-dropped", "take the share of memory for that of both",
                       "no more than %d levels can be counted: what %s served is counted as served "
                       "by memory",
                       FM_STAT_LEVELS, names);
}

static void note_rounding(struct fm_result *result, size_t outer, const char *rounded)
{
    if (*rounded)
        fm_result_warn(result, outer > 1 ? "rounded-l3" : "rounded",
                       "read the shares near those sizes with care",
                       "callgrind takes a power of two of sets: %s", rounded);
}

static void note_processes(struct fm_result *result, const struct fm_stat_modelled *modelled)
{
    if (modelled->unseen)
        fm_result_warn(result, "forked-unseen", "take the references for an upper bound",
                       "%zu processes were started by no call that is known: what their parents "
                       "had counted until then is counted again",
                       modelled->unseen);
    if (modelled->silent)
        fm_result_warn(result, "not-counted", "let the command's processes end by themselves",
                       "%zu processes left no count: they were killed, or could not be started",
                       modelled->silent);
}

/* Two levels at a time: the first with the second, then the first with the third. Nothing is
   counted where a signal, *asked, ends it early. */
static bool count_levels(char *const *command, const struct fm_result *from,
                         const struct fm_stat_machine *machine, const struct fm_stat_cache *caches,
                         struct fm_stat_counts *counts, int *asked, struct fm_result *result,
                         struct fm_error *err)
{
    struct fm_stat_cache instructions = cache_of(from, "l1i");
    if (!(instructions.capacity > 0) || !(instructions.line > 0))
        instructions = caches[0];
    *counts = fm_stat_no_counts();
    for (size_t outer = machine->count > 1 ? 1 : 0; outer < machine->count; outer++) {
        struct fm_description model;
        struct fm_stat_modelled modelled;
        char rounded[200];
        fm_stat_model(&caches[0], &caches[outer], &instructions, &model, rounded, sizeof rounded);
        if (!fm_stat_count(command, &model, &modelled, err))
            return false;
        *asked = modelled.asked;
        if (*asked) {
            *counts = fm_stat_no_counts();
            return true;
        }
        const struct fm_counts seen = modelled.counts;
        note_rounding(result, outer, rounded);
        note_processes(result, &modelled);
        counts->references = (double)seen.references;
        counts->fills[0] = (double)seen.cache_miss[0];
        counts->fills[outer] = outer ? (double)seen.cache_miss[1] : (double)seen.cache_miss[0];
        counts->fetch_misses = (double)seen.fetch_miss;
    }
    return true;
}

enum choice { BY_AUTO, BY_PERF, BY_PAPI, BY_CALLGRIND };

static bool choose(const char *meter, enum choice *choice, struct fm_error *err)
{
    static const char *const words[] = {"auto", "perf", "papi", "callgrind"};
    *choice = BY_AUTO;
    for (int i = 0; meter && i < 4; i++)
        if (strcmp(meter, words[i]) == 0) {
            *choice = (enum choice)i;
            return true;
        }
    return !meter ||
           fm_fail(err, FM_ERR_USAGE,
                   "meter: '%.32s' counts no commands: use auto, perf, papi or callgrind", meter);
}

/* Whether it can count what the shares are made of. */
static bool counts_references(const struct fm_command_meter *meter)
{
    return meter && meter->counted[FM_COMMAND_REFERENCES] && meter->counted[FM_COMMAND_FILLS];
}

/* The meter that was asked for. Of auto, perf counts what it can; callgrind must be there for what
   it cannot, and is asked for before the command runs for nothing. */
static bool open_meter(enum choice choice, struct fm_command_meter **meter, struct fm_error *err)
{
    struct fm_error unheard;
    *meter = NULL;
    switch (choice) {
    case BY_PERF:
        *meter = fm_perf_command_open(&fm_perf_of_commands, &fm_perf_kernel, err);
        return *meter;
    case BY_PAPI:
        *meter = fm_papi_command_open(&fm_papi_of_commands, err);
        return *meter;
    case BY_AUTO:
        *meter = fm_perf_command_open(&fm_perf_of_commands, &fm_perf_kernel, &unheard);
        return counts_references(*meter) || fm_valgrind_there(err);
    case BY_CALLGRIND:
        return fm_valgrind_there(err);
    }
    return false;
}

/* What is known of the command once it has run. */
struct counted {
    struct fm_command_result native;
    struct fm_stat_counts counts;
    const char *meter; /* that counted the references */
    char why[200];     /* something was not counted */
    bool shares;       /* enough was */
    int asked;         /* the signal that ended a run in the model; 0: none did */
};

static void warn_of_turns(struct fm_result *result, const struct fm_command_counts *seen)
{
    if (seen->scaled)
        fm_result_warn(result, "multiplexed", "end other programs that count",
                       "there were more events than counters, so that they took turns; counts are "
                       "scaled to the whole time");
}

static void take(struct fm_command_meter *meter, size_t levels, struct counted *counted,
                 struct fm_result *result)
{
    struct fm_command_counts seen;
    meter->ops->read(meter, &seen);
    counted->meter = meter->name;
    counted->shares = fm_stat_counted(&seen, levels, &counted->counts);
    fm_stat_counted_times(&seen, meter->name, &counted->native.times);
    for (int i = FM_COMMAND_FETCH_STALLS; i >= 0; i--)
        if (seen.count[i] < 0 && seen.why[i][0])
            snprintf(counted->why, sizeof counted->why, "%s: %.160s", meter->name, seen.why[i]);
    warn_of_turns(result, &seen);
}

/* Runs the command as it is, under the meter if there is one. */
static bool run_natively(struct fm_command_meter *meter, char *const *command, size_t levels,
                         struct counted *counted, struct fm_result *result, struct fm_error *err)
{
    counted->counts = fm_stat_no_counts();
    if (meter && !meter->ops->start(meter, err))
        return false;
    const bool good = fm_command_run(command, &counted->native, err);
    if (good && meter)
        take(meter, levels, counted, result);
    return good;
}

static bool count_in_model(char *const *command, const struct fm_result *from,
                           const struct fm_stat_machine *machine,
                           const struct fm_stat_cache *caches, struct counted *counted,
                           struct fm_result *result, struct fm_error *err)
{
    if (!count_levels(command, from, machine, caches, &counted->counts, &counted->asked, result,
                      err))
        return false;
    counted->meter = "callgrind";
    if (counted->asked) {
        snprintf(counted->why, sizeof counted->why,
                 "signal %d (%s) ended the run in callgrind's model", counted->asked,
                 strsignal(counted->asked));
        return true;
    }
    fm_result_warn(result, "model",
                   "none is needed; a processor's own counters would see prefetches "
                   "and other programs too",
                   "the references were counted in callgrind's model of this machine, in a run of "
                   "their own without input or output");
    return true;
}

static void warn_of_another(struct fm_result *result, const struct fm_result *from)
{
    if (!is_of_here(from))
        fm_result_warn(result, "other-machine", "survey this computer, and use its result",
                       "the caches are those of another machine (%.60s) than the one that the "
                       "command ran on: times and counts do not belong together",
                       from->machine.name);
}

/* Whether the command shall run once more, in the model. One that a signal ended is not: it would
   crash again, or be what somebody had to stop by hand. */
static bool run_again(enum choice choice, struct counted *counted, struct fm_result *result)
{
    if (choice != BY_CALLGRIND && (choice != BY_AUTO || counted->shares))
        return false;
    if (counted->native.end != FM_COMMAND_KILLED)
        return true;
    snprintf(counted->why, sizeof counted->why,
             "signal %d (%s) ended the command, so that it was not run again in callgrind's model",
             counted->native.code, strsignal(counted->native.code));
    fm_result_warn(result, "killed", "let the command end by itself", "%s", counted->why);
    return false;
}

static bool stat_into(struct fm_result *result, const struct fm_result *from, char *const *command,
                      unsigned element, const char *by, struct fathom_command *ended,
                      struct fm_error *err)
{
    struct fm_stat_machine machine;
    struct fm_stat_cache caches[FM_STAT_LEVELS];
    struct counted counted = {.why = ""};
    struct fm_command_meter *meter;
    enum choice choice;
    result->machine = from->machine;
    if (!machine_of(from, &machine, caches, err) || !choose(by, &choice, err) ||
        !open_meter(choice, &meter, err))
        return false;
    warn_of_dropped(result, from, machine.count);
    const bool ran = run_natively(meter, command, machine.count, &counted, result, err);
    /* What valgrind runs shall not count as well. */
    if (meter)
        meter->ops->close(meter);
    if (!ran)
        return false;
    const struct fm_command_result *native = &counted.native;
    *ended = (struct fathom_command){(enum fathom_ended)native->end, native->code};
    if (native->end == FM_COMMAND_NOT_FOUND || native->end == FM_COMMAND_NOT_RUN)
        return fm_fail(err, FM_ERR_USAGE, "%.200s: %s", command[0], strerror(native->code));
    warn_of_another(result, from);
    if (run_again(choice, &counted, result) &&
        !count_in_model(command, from, &machine, caches, &counted, result, err))
        return false;
    if (!fm_stat_report(result, &counted.counts, &machine, &native->times, element, counted.meter,
                        counted.why, err))
        return false;
    result->elapsed_s = native->times.wall_s;
    result->complete = !counted.asked;
    if (counted.asked)
        *ended = (struct fathom_command){FATHOM_KILLED, counted.asked};
    return true;
}

struct fathom_result *fathom_stat(const struct fathom_result *machine, char *const *command,
                                  unsigned element, const char *meter, struct fathom_command *ended,
                                  struct fathom_error *err)
{
    struct fm_error inner = {0};
    struct fathom_result *result = calloc(1, sizeof *result);
    if (!result) {
        fm_api_out_of_memory(err);
        return NULL;
    }
    fm_result_init(&result->result);
    *ended = (struct fathom_command){FATHOM_NOT_STARTED, 0};
    if (stat_into(&result->result, &machine->result, command, element, meter, ended, &inner))
        return result;
    fm_api_fail(err, &inner);
    fathom_result_free(result);
    return NULL;
}

bool fathom_is_of_here(const struct fathom_result *result)
{
    return is_of_here(&result->result);
}

char *fathom_stat_text(struct fathom_result *result, enum fathom_format format,
                       const struct fathom_look *look, struct fathom_error *err)
{
    const struct fm_look inner = fm_api_look(look);
    struct fm_error failure = {0};
    struct fm_page page;
    if (format != FATHOM_TABLE)
        return fathom_text(&result, 1, format, look, err);
    if (!fm_page_open(&page)) {
        fm_api_out_of_memory(err);
        return NULL;
    }
    fm_report_stat(page.out, &result->result, &inner);
    return fm_page_close(&page, true, &failure, err);
}
