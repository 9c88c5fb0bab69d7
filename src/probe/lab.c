#include "probe/lab.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/rng.h"
#include "refstring/refstring.h"

/* A reading should span this many steps of the clock, so that its grain is below one percent. */
#define CLOCK_STEPS 128
/* A timed run no longer than this: short runs that are repeated beat one long run, since each
   disturbance then spoils less. */
#define LONGEST_RUN 32768
#define LAPS        2
/* Two readings this close confirm a minimum. */
#define CONFIRMED 0.01
/* … and this close where they are of different parts of an order. */
#define CONFIRMED_PARTS 0.1
#define MOST_BATCHES    4
/* … and of a long string, which takes so long that what disturbs one run will disturb the next. */
#define LONG_STRING   16384
#define BATCHES_LONG  2
#define MOST_READINGS 64
/* Times a level's bytes at which it does not serve anything any more; where pages lie anywhere or a
   hash decides; and where lots may do, since counts come out otherwise each time. */
#define PAST_SHARP  2
#define PAST_SOFT   4
#define PAST_BY_LOT 8

bool fm_lab_place(struct fm_lab *lab, size_t bytes, struct fm_error *err)
{
    return fm_lab_place_on(lab, bytes, lab->machine->info.page_size, err);
}

bool fm_lab_place_on(struct fm_lab *lab, size_t bytes, size_t page_size, struct fm_error *err)
{
    const size_t asked = page_size == lab->machine->info.page_size ? 0 : page_size;
    lab->placed = (struct fm_placed){0};
    if (!lab->machine->ops->place(lab->machine, bytes, asked, err))
        return false;
    lab->placed = (struct fm_placed){.bytes = bytes, .page_size = page_size};
    fm_lab_reorder(lab);
    return true;
}

void fm_lab_reorder(struct fm_lab *lab)
{
    lab->placement_seed = fm_lab_seed(lab);
}

const struct fm_counted *fm_lab_counted(const struct fm_lab *lab, unsigned bit)
{
    const bool there = bit < FM_EVENTS && lab->believed & 1u << bit && lab->counted[bit].missed;
    return there ? &lab->counted[bit] : NULL;
}

const struct fm_counted *fm_lab_last_counted(const struct fm_lab *lab)
{
    const struct fm_counted *last = NULL;
    for (unsigned bit = 0; bit < FM_CACHE_LEVELS; bit++) {
        const struct fm_counted *found = fm_lab_counted(lab, bit);
        last = found ? found : last;
    }
    return last;
}

double fm_lab_past_counted(const struct fm_lab *lab)
{
    const struct fm_counted *last = fm_lab_last_counted(lab);
    if (!last)
        return INFINITY;
    const bool by_lot = fm_counts_vary(lab, (unsigned)(last - lab->counted));
    return (by_lot ? PAST_BY_LOT : last->sharp ? PAST_SHARP : PAST_SOFT) * last->high;
}

bool fm_is_past_counted(const struct fm_lab *lab, double bytes)
{
    return bytes >= fm_lab_past_counted(lab);
}

const char *fm_lab_meter(const struct fm_lab *lab, unsigned bit)
{
    return fm_event_meter(&lab->machine->info.counters, bit);
}

size_t fm_lab_limit(const struct fm_lab *lab)
{
    uint64_t limit = lab->machine->info.memory_limit;
    if (lab->options->max_footprint && lab->options->max_footprint < limit)
        limit = lab->options->max_footprint;
    return (size_t)limit;
}

double fm_lab_far_end(const struct fm_lab *lab)
{
    static const double ends[] = {
        [FM_QUICK] = 0x1p26, [FM_NORMAL] = 0x1p27, [FM_THOROUGH] = 0x1p28};
    return ends[lab->options->effort];
}

uint64_t fm_lab_seed(struct fm_lab *lab)
{
    return fm_mix64(lab->options->seed + 0x5851f42d4c957f2du * ++lab->next_seed) >> 32;
}

bool fm_lab_is_late(const struct fm_lab *lab)
{
    return lab->late_s > 0 && lab->machine->ops->elapsed(lab->machine) > lab->late_s;
}

bool fm_lab_go_on(struct fm_lab *lab, double part, struct fm_error *err)
{
    const double now = lab->machine->ops->elapsed(lab->machine);
    if (lab->deadline_s > 0 && now > lab->deadline_s)
        return fm_fail(err, FM_ERR_OUT_OF_TIME, "out of time");
    if (lab->options->progress) {
        const double done = lab->fraction + lab->share * part;
        const double left = done > 0.02 ? now / done * (1 - done) : -1;
        if (lab->options->progress(lab->options->progress_data, lab->doing, done, left))
            return fm_fail(err, FM_ERR_INTERRUPTED, "interrupted");
    }
    return true;
}

static uint64_t run_length(const struct fm_lab *lab, size_t count, const struct fm_care *care)
{
    const uint64_t longest = care->references ? care->references : LONGEST_RUN;
    const double steps = care->steps ? care->steps : CLOCK_STEPS;
    const double shortest_ns =
        steps * lab->machine->info.clock.resolution_ns + lab->machine->info.clock.overhead_ns;
    /* A few laps where they are short: under some policies laps differ, and only together tell. */
    uint64_t references = count * LAPS < longest ? count * LAPS : longest / count * count;
    if (references == 0)
        references = longest;
    /* Before anything is known a nanosecond a reference is a safe guess: runs are then too long. */
    const double fastest = lab->fastest_ns > 0 ? lab->fastest_ns : 0.5;
    const double least = ceil(shortest_ns / fastest);
    if ((double)references < least)
        references = (uint64_t)least;
    if (references < care->least)
        references = care->least;
    /* Whole laps where they are short, so that each part of the order weighs the same. */
    if (count < longest / 4)
        references = (references + count - 1) / count * count;
    return references;
}

/* A policy other than LRU takes a few laps to forget the order of the string before. Long strings
   cannot afford them; but of those each grows out of one little shorter, and less is to forget. */
static unsigned laps_to_settle(size_t count)
{
    return count <= 8192 ? 3 : count <= 32768 ? 2 : 1;
}

static void add_phases(struct fm_lab *lab, struct fm_string *string, const struct fm_care *care)
{
    const size_t count = string->orders[0].count;
    if (care->grow)
        fm_string_grow(string);
    else if (!care->warm)
        fm_string_prime(string, care->laps ? care->laps : laps_to_settle(count));
    fm_string_time(string, run_length(lab, count, care));
    if (care->jumps)
        fm_string_jump(string);
    if (care->pairs)
        fm_string_pair(string);
}

/* Readings of one string, least first, those that were disturbed left out unless all were. */
struct readings {
    double ns[MOST_READINGS];
    size_t count;
    double least_disturbed;
};

static void note_reading(struct fm_lab *lab, struct readings *readings,
                         const struct fm_sample *sample)
{
    const double each = sample->ns / (double)sample->references;
    lab->samples++;
    if (sample->disturbed) {
        lab->disturbed++;
        readings->least_disturbed = fmin(readings->least_disturbed, each);
        return;
    }
    size_t i = readings->count++;
    for (; i > 0 && readings->ns[i - 1] > each; i--)
        readings->ns[i] = readings->ns[i - 1];
    readings->ns[i] = each;
}

/* Noise only adds, so of equal runs the least is nearest to the truth. Runs over different parts of
   a long order are not equal where some parts hit and some miss: of those the lower half is
   averaged. */
static double conclude(const struct readings *readings, bool equal_runs)
{
    /* All disturbed: the least of them is still an upper bound, and all there is. */
    if (readings->count == 0)
        return readings->least_disturbed;
    if (equal_runs)
        return readings->ns[0];
    const size_t half = (readings->count + 1) / 2;
    double sum = 0;
    for (size_t i = 0; i < half; i++)
        sum += readings->ns[i];
    return sum / (double)half;
}

static bool is_confirmed(const struct readings *readings, bool equal_runs)
{
    const double close = equal_runs ? CONFIRMED : CONFIRMED_PARTS;
    return readings->count >= 2 && readings->ns[1] <= readings->ns[0] * (1 + close);
}

bool fm_lab_time(struct fm_lab *lab, struct fm_string *string, const struct fm_care *care,
                 double *ns, struct fm_error *err)
{
    struct fm_sample samples[MOST_READINGS / MOST_BATCHES];
    const unsigned most = MOST_READINGS / MOST_BATCHES;
    const unsigned repeats = care->repeats < most ? care->repeats : most;
    add_phases(lab, string, care);
    const bool equal_runs = !care->lots && string->phases[string->phase_count - 1].references >=
                                               string->orders[0].count;
    const unsigned batches = string->orders[0].count > LONG_STRING ? BATCHES_LONG : MOST_BATCHES;
    struct readings readings = {.least_disturbed = INFINITY};
    bool good = true;
    for (unsigned batch = 0; batch < batches && good; batch++) {
        good = fm_lab_go_on(lab, 0, err) &&
               lab->machine->ops->run(lab->machine, string, repeats, samples, err);
        for (unsigned i = 0; i < repeats && good; i++)
            note_reading(lab, &readings, &samples[i]);
        const bool hopeless = readings.count == 0 && (batch > 0 || fm_lab_is_late(lab));
        if (is_confirmed(&readings, equal_runs) || (repeats == 1 && readings.count) || hopeless)
            break;
    }
    fm_string_free(string);
    if (!good)
        return false;
    *ns = conclude(&readings, equal_runs);
    lab->spoilt = readings.count == 0;
    lab->doubtful |= lab->spoilt;
    /* Two at once take less than one ever would. */
    if (*ns > 0 && !care->pairs && (lab->fastest_ns <= 0 || *ns < lab->fastest_ns))
        lab->fastest_ns = *ns;
    return true;
}

bool fm_lab_once(struct fm_lab *lab, struct fm_string *string, double *ns, struct fm_error *err)
{
    struct fm_sample sample;
    const bool good =
        fm_lab_go_on(lab, 0, err) && lab->machine->ops->run(lab->machine, string, 1, &sample, err);
    fm_string_free(string);
    if (!good)
        return false;
    lab->samples++;
    lab->disturbed += sample.disturbed;
    *ns = sample.disturbed ? NAN : sample.ns / (double)sample.references;
    return true;
}

static void name_property(const struct fm_lab *lab, size_t level, const char *attribute,
                          char property[FM_PROPERTY_TEXT])
{
    if (level + 1 == lab->known.count)
        snprintf(property, FM_PROPERTY_TEXT, "memory.%s", attribute);
    else
        snprintf(property, FM_PROPERTY_TEXT, level == 0 ? "l%zud.%s" : "l%zu.%s", level + 1,
                 attribute);
}

const struct fm_finding *fm_lab_measured(const struct fm_lab *lab, size_t level,
                                         const char *attribute)
{
    char property[FM_PROPERTY_TEXT];
    name_property(lab, level, attribute, property);
    const struct fm_finding *finding = fm_result_find(lab->result, property);
    return finding && finding->status == FM_MEASURED ? finding : NULL;
}

struct fm_finding *fm_lab_finding(struct fm_lab *lab, size_t level, const char *attribute,
                                  const char *unit)
{
    char property[FM_PROPERTY_TEXT];
    name_property(lab, level, attribute, property);
    return fm_result_finding(lab->result, property, unit);
}

void fm_measured(struct fm_finding *finding, double value, double low, double high,
                 double confidence, const char *method, const char *evidence)
{
    finding->status = FM_MEASURED;
    finding->value = fm_number(value);
    finding->low = fm_number(low < value ? low : value);
    finding->high = fm_number(high > value ? high : value);
    finding->confidence = confidence;
    finding->note[0] = '\0';
    snprintf(finding->method, sizeof finding->method, "%s", method);
    fm_list_add(finding->witnesses[0], sizeof finding->witnesses[0], FM_LIST, "clock");
    if (evidence)
        fm_list_add(finding->evidence[0], sizeof finding->evidence[0], FM_LIST, evidence);
}

void fm_decided(struct fm_finding *finding, struct fm_value value, double confidence,
                const char *meter, const char *method)
{
    finding->status = FM_MEASURED;
    finding->value = finding->low = finding->high = value;
    finding->confidence = confidence;
    finding->note[0] = '\0';
    snprintf(finding->method, sizeof finding->method, "%s", method);
    fm_list_add(finding->witnesses[0], sizeof finding->witnesses[0], FM_LIST, meter);
}

void fm_undetermined(struct fm_finding *finding, const char *reason)
{
    finding->status = FM_UNDETERMINED;
    finding->value = finding->low = finding->high = (struct fm_value){0};
    finding->confidence = 0;
    snprintf(finding->note, sizeof finding->note, "%s", reason);
}

bool fm_level_is_hidden(const struct fm_known_level *level)
{
    return level->inferred || level->hidden > FM_HIDDEN;
}

void fm_take_level_away(struct fm_known *known, size_t index)
{
    struct fm_known_level *level = &known->levels[index];
    level[-1].rise_to = level->rise_to;
    memmove(level, level + 1, (known->count - index - 1) * sizeof *level);
    known->count--;
}

/* How far the height of a level can be off that no plateau shows. */
#define NO_PLATEAU 1.15

void fm_add_level(struct fm_known *known, size_t index, double bytes, double height_ns)
{
    struct fm_known_level *level = &known->levels[index];
    memmove(level + 1, level, (known->count - index) * sizeof *level);
    known->count++;
    *level = (struct fm_known_level){.height_ns = height_ns,
                                     .height_low = height_ns / NO_PLATEAU,
                                     .height_high = height_ns * NO_PLATEAU,
                                     .flat_from = bytes,
                                     .flat_to = bytes,
                                     .rise_from = bytes,
                                     .rise_to = level[1].flat_from,
                                     .certainty = 0.9,
                                     .inferred = true,
                                     .unit = level[-1].unit};
    level[-1].rise_to = bytes;
}
