#include "probe/contest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "refstring/refstring.h"

/* A reading of a lap is off by this part of it at the most. */
#define ERROR 0.015
/* How many times dearer or cheaper than thought a miss may be. */
#define PRICE 1.3
/* Laps at the most, and those that a policy must have explained to be believed, the last ones of
   them alone. */
#define MOST_LAPS     40
#define FEWEST_LAPS   5
#define CONFIRMATIONS 3
/* Rounds of them at the most, of which two must leave the same policy, or none. */
#define ROUNDS 4
/* Times that a lap is timed until nothing disturbs it, and laps without such a time that are too
   many. */
#define TRIES       4
#define MOST_SPOILT 10
/* Observed counts that a note has room for. */
#define NOTED 8

/* References of a run, so that a miss in each lap becomes many. */
#define RUN 16384

/* The laps as they were timed: misses over the number of the lap. */
static struct fm_curve *begin_curve(struct fm_lab *lab, const char *id)
{
    struct fm_curve *curve = fm_result_curve(lab->result, id);
    if (curve) {
        curve->x = (struct fm_axis){"lap", ""};
        curve->y = (struct fm_axis){"misses", ""};
    }
    return curve;
}

bool fm_laps_are_counted(const struct fm_lab *lab, unsigned bit)
{
    return fm_lab_counted(lab, bit) && !(lab->by_stores & 1u << bit);
}

const char *fm_lap_meter(const struct fm_lab *lab, unsigned bit)
{
    return fm_laps_are_counted(lab, bit) ? fm_lab_meter(lab, bit) : "clock";
}

bool fm_time_laps(struct fm_lab *lab, struct fm_string *string, unsigned settle, double *ns,
                  struct fm_error *err)
{
    const struct fm_care care = {
        .repeats = 6, .references = RUN, .least = RUN, .laps = settle, .lots = true};
    fm_string_flush(string);
    return fm_lab_time(lab, string, &care, ns, err);
}

bool fm_count_laps(struct fm_lab *lab, struct fm_string *string, const struct fm_lap_count *how,
                   const struct fm_lap *lap, struct fm_lap_reading *reading, struct fm_error *err)
{
    struct fm_sample sample;
    fm_string_flush(string);
    fm_string_prime(string, how->settle);
    fm_string_time(string, RUN);
    const bool good = fm_lab_go_on(lab, 0, err) &&
                      lab->machine->ops->count(lab->machine, string, 1, &sample, err);
    fm_string_free(string);
    if (!good)
        return false;
    const double each = (double)fm_event_count(&sample.counts, how->bit) / RUN;
    reading->misses_ns = each * lap->length * how->cost_ns;
    reading->lap_ns = how->hit_ns * lap->length + reading->misses_ns;
    return true;
}

static void report_one(struct fm_finding *finding, enum fm_replacement policy,
                       const struct fm_contest *contest, const char *evidence)
{
    char word[FM_REPLACEMENT_TEXT];
    fm_testify(finding, &(struct fm_testimony){.meter = contest->meter,
                                               .method = "laps",
                                               .evidence = evidence,
                                               .value = fm_text(fm_replacement_word(policy, word)),
                                               .confidence = 0.98});
}

static void list(struct fm_finding *finding, enum fm_replacement policy)
{
    char word[FM_REPLACEMENT_TEXT];
    if (finding->candidate_count < FM_LIST)
        finding->candidates[finding->candidate_count++] =
            fm_text(fm_replacement_word(policy, word));
}

/* All that the laps leave. How an empty set is filled shows in none of them. */
static size_t list_family(struct fm_finding *finding, const struct fm_suspects *suspects)
{
    size_t members = 0;
    for (size_t i = 0; i < suspects->count; i++) {
        const enum fm_replacement policy = suspects->list[i].policy;
        if (policy < FM_REPLACE_QLRU)
            continue;
        list(finding, policy);
        members++;
        struct fm_qlru twin = fm_qlru_of(policy);
        twin.choice = 2;
        if (!fm_qlru_is_whole(twin))
            continue;
        list(finding, fm_replacement_of_qlru(twin));
        members++;
    }
    return members;
}

/* "lru, tree-plru or 3 of the family QLRU: …" */
static void report_several(struct fm_finding *finding, const struct fm_suspects *suspects,
                           const char *evidence)
{
    char note[sizeof finding->note] = "", word[FM_REPLACEMENT_TEXT];
    size_t used = 0;
    finding->candidate_count = 0;
    for (size_t i = 0; i < suspects->count; i++) {
        const enum fm_replacement policy = suspects->list[i].policy;
        if (policy >= FM_REPLACE_QLRU)
            continue;
        list(finding, policy);
        used += (size_t)snprintf(note + used, sizeof note - used, "%s%s", used ? ", " : "",
                                 fm_replacement_word(policy, word));
    }
    const size_t members = list_family(finding, suspects);
    if (members)
        used += (size_t)snprintf(note + used, sizeof note - used, "%s%zu of the family QLRU",
                                 used ? " or " : "", members);
    snprintf(note + used, sizeof note - used,
             ": no sequence of references that was tried tells them apart");
    fm_undetermined(finding, note);
    fm_list_add(finding->evidence[0], sizeof finding->evidence[0], FM_LIST, evidence);
}

static void report_none(struct fm_finding *finding, const struct fm_curve *curve,
                        const char *evidence)
{
    char counts[128] = "";
    for (size_t i = 0; i < curve->point_count && i < NOTED; i++) {
        const size_t used = strlen(counts);
        snprintf(counts + used, sizeof counts - used, "%s%.1f", used ? ", " : "",
                 curve->points[i].y);
    }
    char reason[sizeof finding->note];
    snprintf(reason, sizeof reason,
             "none of the known policies: the misses of the laps tried, %s, are those of none",
             counts);
    fm_undetermined(finding, reason);
    fm_list_add(finding->evidence[0], sizeof finding->evidence[0], FM_LIST, evidence);
}

static bool report(struct fm_lab *lab, const struct fm_contest *contest,
                   const struct fm_suspects *suspects, struct fm_error *err)
{
    char evidence[sizeof((struct fm_finding *)0)->evidence[0]];
    const struct fm_curve *curve = fm_result_find_curve(lab->result, contest->curve);
    struct fm_finding *finding = fm_result_finding(lab->result, contest->property, "");
    if (!finding || !curve)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a finding");
    snprintf(evidence, sizeof evidence, "curve:%.40s", contest->curve);
    if (suspects->count == 0)
        report_none(finding, curve, evidence);
    else if (suspects->count == 1 && (suspects->list[0].policy < FM_REPLACE_QLRU ||
                                      fm_qlru_of(suspects->list[0].policy).choice == 1))
        report_one(finding, suspects->list[0].policy, contest, evidence);
    else
        report_several(finding, suspects, evidence);
    return true;
}

/* Who shares the core takes lines out of the very sets that are asked. */
static bool time_in_calm(struct fm_lab *lab, const struct fm_contest *contest,
                         const struct fm_lap *lap, struct fm_lap_reading *reading, bool *calm,
                         struct fm_error *err)
{
    *calm = false;
    for (int i = 0; i < TRIES && !*calm; i++) {
        lab->doubtful = false;
        if (!contest->time(lab, contest->data, lap, reading, err))
            return false;
        *calm = !lab->doubtful;
    }
    return true;
}

/* Times a lap and lets go of the suspects that it clears. */
static bool ask(struct fm_lab *lab, const struct fm_contest *contest, const struct fm_lap *lap,
                struct fm_suspects *suspects, double number, bool *calm, struct fm_error *err)
{
    struct fm_lap_reading reading;
    if (!time_in_calm(lab, contest, lap, &reading, calm, err))
        return false;
    if (!*calm)
        return true;
    const double error = ERROR * reading.lap_ns;
    fm_suspects_hear(suspects, lap, reading.misses_ns - error, reading.misses_ns + error);
    const struct fm_curve *curve = fm_result_find_curve(lab->result, contest->curve);
    const double misses = reading.misses_ns / contest->cost_ns, off = error / contest->cost_ns;
    if (curve)
        fm_curve_add(
            &lab->result->curves[curve - lab->result->curves],
            (struct fm_point){.x = number, .y = misses, .low = misses - off, .high = misses + off});
    return true;
}

/* One round: laps until they tell no more of the suspects apart, or too many are disturbed. */
static bool play(struct fm_lab *lab, const struct fm_contest *contest, struct fm_suspects *suspects,
                 unsigned *spoilt, struct fm_error *err)
{
    const struct fm_lap_gauge gauge = {.hit_ns = contest->hit_ns, .error = ERROR};
    const struct fm_curve *curve = fm_result_find_curve(lab->result, contest->curve);
    const size_t before_it = curve ? curve->point_count : 0;
    fm_suspects_open(suspects, contest->ways, contest->visits, contest->cost_ns / PRICE,
                     contest->cost_ns * PRICE, fm_lab_seed(lab));
    unsigned confirmed = 0;
    for (unsigned laps = 0; laps < MOST_LAPS && suspects->count && *spoilt < MOST_SPOILT; laps++) {
        struct fm_lap lap;
        bool calm;
        const size_t before = suspects->count;
        if (!fm_lab_go_on(lab, (double)laps / MOST_LAPS, err))
            return false;
        const bool tells = fm_suspects_choose(suspects, &gauge, &lap);
        if (!tells && laps >= FEWEST_LAPS && confirmed >= CONFIRMATIONS)
            break;
        if (!ask(lab, contest, &lap, suspects, (double)before_it + laps + 1, &calm, err))
            return false;
        *spoilt += !calm;
        if (!calm)
            continue;
        confirmed = tells || suspects->count < before ? 0 : confirmed + 1;
    }
    return true;
}

static bool report_spoilt(struct fm_lab *lab, const char *property, struct fm_error *err)
{
    struct fm_finding *finding = fm_result_finding(lab->result, property, "");
    if (!finding)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a finding");
    fm_undetermined(finding, "other work on this core disturbed too many of the laps");
    return true;
}

static void report_at_odds(struct fm_lab *lab, const struct fm_contest *contest,
                           enum fm_replacement policy)
{
    char word[FM_REPLACEMENT_TEXT], reason[sizeof((struct fm_finding *)0)->note];
    struct fm_finding *finding = fm_result_finding(lab->result, contest->property, "");
    if (!finding)
        return;
    snprintf(reason, sizeof reason, "it was %s by some laps, and by others it was not",
             fm_replacement_word(policy, word));
    fm_undetermined(finding, reason);
}

static bool is_among(const enum fm_replacement *left, size_t count, enum fm_replacement policy)
{
    for (size_t i = 0; i < count; i++)
        if (left[i] == policy)
            return true;
    return false;
}

/* Of so many suspects one may be left by chance where the true policy is none of them, but hardly
   twice. And a disturbance may clear the true one, but hardly twice of so few times. */
bool fm_contest(struct fm_lab *lab, const struct fm_contest *contest, struct fm_error *err)
{
    enum fm_replacement left[ROUNDS];
    size_t alone = 0, cleared = 0;
    unsigned spoilt = 0;
    if (!begin_curve(lab, contest->curve))
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a curve");
    for (int round = 0; round < ROUNDS; round++) {
        struct fm_suspects suspects;
        if (!play(lab, contest, &suspects, &spoilt, err))
            return false;
        if (spoilt == MOST_SPOILT)
            return report_spoilt(lab, contest->property, err);
        const enum fm_replacement policy = suspects.list[0].policy;
        const bool again = suspects.count == 0 ? cleared++ > 0 : is_among(left, alone, policy);
        if (again || suspects.count > 1)
            return report(lab, contest, &suspects, err);
        if (suspects.count == 1)
            left[alone++] = policy;
    }
    report_at_odds(lab, contest, left[0]);
    return true;
}
