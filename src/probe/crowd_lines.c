#include "probe/crowd_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "refstring/refstring.h"

/* What a reading can be off by, as a part of all that a lap takes. */
#define READING 0.01
/* Laps before: a cache that evicts by lot takes a few to forget what was there. */
#define LAPS    2
#define REPEATS 3
/* Laps that are timed, and those before, until it is known that one too many makes all of its class
   miss: of policies that spare some, a single lap shows now one miss and now ten. Not where a
   reading is off by more misses than that by itself. */
#define PATIENT 4
#define A_FEW   2
/* All lines of a page that miss together are seen at once. */
#define FEW_REPEATS 2
/* Lines of any place are so many that one too many makes less of a difference. */
#define MOST_REPEATS 16
/* Spread words lie in different units of their pages. */
#define UNIT 64
/* Part of the first level that such words may take: of more it loses now these, now those. */
#define ROOM 0.5
/* Bytes that are of one page wherever they begin at a multiple of so many. */
#define BLOCK 4096

/* In a random order that is always the same, and page by page, so that each is translated once a
   lap. */
static int by_page(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const uint32_t blocks[] = {x / (BLOCK / FM_WORD), y / (BLOCK / FM_WORD)};
    const bool together = blocks[0] == blocks[1];
    const uint64_t first = fm_mix64(together ? x : blocks[0]);
    const uint64_t second = fm_mix64(together ? y : blocks[1]);
    return (first > second) - (first < second);
}

static bool time_words(struct fm_lab *lab, struct fm_crowd *crowd, const uint32_t *words,
                       size_t count, uint64_t seed, double *ns, struct fm_error *err)
{
    const struct fm_crowd_lines *lines = crowd->data;
    const bool known = lines->in_order || crowd->typical > 0;
    const bool fine = READING * crowd->hit_ns * (double)count < A_FEW * crowd->penalty_ns;
    const bool patient = fine && !lines->each && !lines->in_order && !crowd->all_miss;
    const unsigned repeats = lines->each ? FEW_REPEATS
                             : known     ? fm_crowd_repeats(crowd, count, MOST_REPEATS)
                                         : REPEATS;
    const unsigned laps = patient ? PATIENT : lines->each ? 1 : LAPS;
    const size_t timed = (patient ? PATIENT : 1) * count;
    const struct fm_care care = {
        .repeats = repeats, .laps = laps, .references = timed, .least = timed, .lots = patient};
    const struct fm_listed_plan plan = {.words = words,
                                        .count = count,
                                        .in_order = lines->in_order,
                                        .flushed = crowd->pool,
                                        .flushed_count = crowd->next,
                                        .seed = seed};
    struct fm_string string;
    crowd->spent += (double)(count * laps + timed * repeats);
    crowd->reading = lines->in_order && !lines->each ? FM_CROWD_READING / repeats : READING;
    return fm_listed_string(&string, &plan, err) && fm_lab_time(lab, &string, &care, ns, err);
}

/* With many lines to each page translation takes the same of every trial, if all keep to one order:
   what luck an order has with a TLB would be more than one line too many makes. */
static bool time_in_order(struct fm_lab *lab, struct fm_crowd *crowd, size_t count, double *ns,
                          struct fm_error *err)
{
    const struct fm_crowd_lines *lines = crowd->data;
    memcpy(lines->spread, crowd->trial, count * sizeof *lines->spread);
    qsort(lines->spread, count, sizeof *lines->spread, by_page);
    const bool good = time_words(lab, crowd, lines->spread, count, 0, ns, err);
    crowd->whole_ns = *ns;
    return good;
}

/* Many lines of each page are translated at once: nothing is compared with. An item that misses
   does so with all of its lines. */
static bool time_items(struct fm_lab *lab, struct fm_crowd *crowd, size_t count, double *ns,
                       struct fm_error *err)
{
    const struct fm_crowd_lines *lines = crowd->data;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < lines->each; j++)
            lines->spread[i * lines->each + j] =
                crowd->trial[i] + (uint32_t)(j * lines->apart / FM_WORD);
    const bool good = time_words(lab, crowd, lines->spread, count * lines->each, 0, ns, err);
    crowd->whole_ns = *ns;
    return good;
}

/* What a reference takes beyond one to as many words in the same pages that share no set:
   translation takes the same in both. */
static bool time_trial(struct fm_lab *lab, struct fm_crowd *crowd, size_t count, double *ns,
                       struct fm_error *err)
{
    const struct fm_crowd_lines *lines = crowd->data;
    const uint32_t words = (uint32_t)(lines->page / FM_WORD);
    const uint32_t units = (uint32_t)(lines->page / UNIT);
    const uint64_t seed = fm_lab_seed(lab);
    double apart;
    if (lines->each)
        return time_items(lab, crowd, count, ns, err);
    if (lines->in_order)
        return time_in_order(lab, crowd, count, ns, err);
    if (!time_words(lab, crowd, crowd->trial, count, seed, ns, err))
        return false;
    crowd->whole_ns = *ns;
    /* Words at different places of one page stay so: none is visited twice. */
    for (size_t i = 0; i < count; i++) {
        const uint32_t page = crowd->trial[i] / words, unit_words = UNIT / FM_WORD;
        const double place = page * 0.6180339887498949;
        const uint32_t turn = (uint32_t)((place - floor(place)) * units);
        const uint32_t unit = (turn + crowd->trial[i] % words / unit_words) % units;
        lines->spread[i] = page * words + unit * unit_words;
    }
    if (!time_words(lab, crowd, lines->spread, count, seed, &apart, err))
        return false;
    *ns -= apart;
    return true;
}

/* By the level's own event: it is not asked what translation takes, nor twice. All that the trial
   before used is flushed, so that one lap finds room for what fits, whatever the policy. */
static bool count_trial(struct fm_lab *lab, struct fm_crowd *crowd, size_t count, double *misses,
                        struct fm_error *err)
{
    struct fm_crowd_lines *lines = crowd->data;
    const struct fm_listed_plan plan = {.words = crowd->trial,
                                        .count = count,
                                        .flushed = lines->before,
                                        .flushed_count = lines->before_count,
                                        .seed = fm_lab_seed(lab)};
    struct fm_string string;
    crowd->spent += (double)(lines->before_count + count * 2);
    const bool good = fm_listed_string(&string, &plan, err) &&
                      fm_count_once(lab, &string, lines->bit, 1, misses, err);
    memcpy(lines->before, crowd->trial, count * sizeof *lines->before);
    lines->before_count = count;
    return good;
}

static uint32_t word_of(const struct fm_crowd_lines *lines, uint32_t item)
{
    const size_t period = item / lines->places;
    size_t at = lines->offset + item % lines->places * lines->apart;
    if (lines->turned)
        at = (at + fm_mix64(period) % lines->period / lines->apart * lines->apart) % lines->period;
    return (uint32_t)((period * lines->period + at) / FM_WORD);
}

/* A line of the pool by the page that it is on: the first of every page, the second of every page …
 */
struct dealt {
    size_t round, page;
    uint32_t word;
};

static int by_round(const void *a, const void *b)
{
    const struct dealt *x = a, *y = b;
    if (x->round != y->round)
        return x->round < y->round ? -1 : 1;
    return (x->page > y->page) - (x->page < y->page);
}

/* Has lines come in rounds, one of each page: wherever one begins, as many lines as there are pages
   have all pages translated. */
static bool deal(struct fm_crowd *crowd, const struct fm_crowd_lines *lines, struct fm_error *err)
{
    const size_t page = lines->page / FM_WORD;
    const size_t pages = (crowd->items / lines->places + 1) * lines->period / lines->page + 2;
    size_t *rounds = calloc(pages, sizeof *rounds);
    struct dealt *dealt = malloc(crowd->items * sizeof *dealt);
    if (!rounds || !dealt) {
        free(rounds);
        free(dealt);
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a list of pages");
    }
    for (size_t i = 0; i < crowd->items; i++) {
        const uint32_t word = crowd->pool[i];
        dealt[i] = (struct dealt){rounds[word / page]++, word / page, word};
    }
    qsort(dealt, crowd->items, sizeof *dealt, by_round);
    for (size_t i = 0; i < crowd->items; i++)
        crowd->pool[i] = dealt[i].word;
    free(rounds);
    free(dealt);
    return true;
}

bool fm_crowd_lines_open(struct fm_lab *lab, struct fm_crowd *crowd, struct fm_crowd_lines *lines,
                         struct fm_error *err)
{
    crowd->time = time_trial;
    crowd->tell = lines->counted && !lines->each ? count_trial : NULL;
    crowd->data = lines;
    const struct fm_known_level *first = &lab->known.levels[0];
    if (!lines->each && !lines->in_order)
        crowd->steady = 1 + (size_t)(ROOM * first->capacity / fmax(UNIT, (double)first->line));
    const size_t each = lines->each ? lines->each : 1;
    lines->spread = malloc(2 * crowd->items * each * sizeof *lines->spread);
    lines->before = malloc(2 * crowd->items * sizeof *lines->before);
    lines->before_count = 0;
    if (!lines->spread || !lines->before)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for a list of words");
    if (!fm_crowd_open(lab, crowd, 0, 1, err))
        return false;
    for (size_t i = 0; i < crowd->items; i++)
        crowd->pool[i] = word_of(lines, crowd->pool[i]);
    if (lines->in_order && !lines->each && !deal(crowd, lines, err))
        return false;
    return fm_lab_place(lab, (crowd->items + lines->places - 1) / lines->places * lines->period,
                        err);
}

void fm_crowd_lines_close(struct fm_crowd *crowd)
{
    struct fm_crowd_lines *lines = crowd->data;
    free(lines->spread);
    free(lines->before);
    fm_crowd_close(crowd);
}
