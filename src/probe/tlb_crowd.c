/* A TLB crowded page by page (crowd.h): for an index that no stride explains, and for policies that
 * let no group of pages conflict cleanly. */
#include <math.h>
#include <string.h>

#include "analysis/occupancy.h"
#include "core/rng.h"
#include "probe/crowd.h"
#include "probe/tlb.h"
#include "refstring/refstring.h"

/* References that may be spent on a level, in each effort: by its event, which tells each miss, and
   by the clock, which has by then told what it will tell, or will not in three times as many. */
static const double spend_counting[] = {[FM_QUICK] = 1e7, [FM_NORMAL] = 1e8, [FM_THOROUGH] = 1e9},
                    spend_timing[] = {[FM_QUICK] = 3e6, [FM_NORMAL] = 3e7, [FM_THOROUGH] = 3e8};
/* Pages to choose from, in those at which misses are many: the last class to be filled waits long
   for its last member, and then as long again until it is sure to be the last. */
#define RISES 6
/* … where what misses is counted: what looks like the end of a slow rise to the clock may be far
   from it. */
#define COUNTED_RISES 16
/* More pages than these a level surely does not hold, in those at which misses are many. */
#define ABOVE 1.3
/* One page too many of a thousand makes less of a difference than one of a dozen. */
#define MOST_REPEATS 16
#define PAGES_EACH   32
/* Laps before: enough to forget what was there where a policy draws lots and a lap is short. */
#define SETTLING   4096
#define LEAST_LAPS 2
#define MOST_LAPS  64
/* Part of the misses by which what all of a random choice miss may differ from what ways and sets
   lead to expect. */
#define AGREE 0.15
/* Random choices to see that on. */
#define CHOICES 6

/* Times their entries at which levels inside hold hardly a page, wherever these lie; and where sets
   that a hash chooses fill unevenly, or lots are drawn which page is spared. */
#define LOAD       2
#define LUCKY_LOAD 4

/* What is touched of a page, where it is touched once. */
#define UNIT 64

/* Part of the pages at which misses are many that a level surely holds. */
#define FEW 0.5

static unsigned laps_of(size_t pages)
{
    const size_t laps = SETTLING / (pages + 1);
    return (unsigned)(laps < LEAST_LAPS ? LEAST_LAPS : laps > MOST_LAPS ? MOST_LAPS : laps);
}

static unsigned repeats_of(size_t pages)
{
    const size_t repeats = pages / PAGES_EACH;
    return (unsigned)(repeats < FM_CROWD_REPEATS ? FM_CROWD_REPEATS
                      : repeats > MOST_REPEATS   ? MOST_REPEATS
                                                 : repeats);
}

static bool time_pages(struct fm_lab *lab, struct fm_page_list *list, const uint32_t *pages,
                       size_t count, unsigned repeats, unsigned laps, struct fm_translation *found,
                       struct fm_error *err)
{
    const struct fm_care care = {
        .repeats = repeats, .laps = laps, .references = (uint64_t)count * list->lines};
    /* The order of pages is the list's, and the seed of the placement shuffles it. */
    for (size_t i = 0; i < count; i++)
        list->numbers[i] = pages[i];
    list->count = count;
    return fm_time_translation(lab, list, &care, found, err);
}

/* A level that is crowded. */
struct crowded {
    struct fm_page_list *list;
    unsigned event; /* FM_EVENTS: the clock tells */
};

static bool time_trial(struct fm_lab *lab, struct fm_crowd *crowd, size_t count, double *ns,
                       struct fm_error *err)
{
    const struct crowded *level = crowd->data;
    struct fm_page_list *list = level->list;
    struct fm_translation found;
    const unsigned repeats = fm_crowd_repeats(crowd, count, repeats_of(count));
    /* Where one too many makes all miss, nothing is drawn by lot. */
    const unsigned laps = crowd->all_miss ? LEAST_LAPS : laps_of(count);
    if (!time_pages(lab, list, crowd->trial, count, repeats, laps, &found, err))
        return false;
    *ns = found.cost_ns;
    crowd->whole_ns = found.cost_ns + found.rest_ns;
    crowd->spent += 2.0 * (double)(count * list->lines) * (laps + repeats);
    crowd->reading = FM_CROWD_READING / repeats;
    return true;
}

/* By the level's own event: it is not asked what caches take, nor twice. */
static bool count_trial(struct fm_lab *lab, struct fm_crowd *crowd, size_t count, double *misses,
                        struct fm_error *err)
{
    const struct crowded *level = crowd->data;
    const struct fm_page_plan plan = {.pages = crowd->trial,
                                      .count = count,
                                      .page = level->list->page,
                                      .unit = UNIT,
                                      .lines = 1,
                                      .burst = 1,
                                      .seed = fm_lab_seed(lab)};
    const unsigned laps = crowd->all_miss ? LEAST_LAPS : laps_of(count);
    struct fm_string string;
    crowd->spent += (double)count * (laps + 1);
    return fm_page_string(&string, &plan, err) &&
           fm_count_once(lab, &string, level->event, laps, misses, err);
}

/* The part of the first pages of the pool that misses. */
static bool part_of_choice(struct fm_lab *lab, struct fm_crowd *crowd, size_t count, double *part,
                           struct fm_error *err)
{
    const struct crowded *level = crowd->data;
    if (crowd->tell) {
        double misses;
        memcpy(crowd->trial, crowd->pool, count * sizeof *crowd->trial);
        const bool counted = crowd->tell(lab, crowd, count, &misses, err);
        *part = counted ? misses / (double)count : 0;
        return counted;
    }
    struct fm_translation found;
    if (!time_pages(lab, level->list, crowd->pool, count, repeats_of(count), laps_of(count), &found,
                    err))
        return false;
    *part = (found.cost_ns - crowd->hit_ns) / crowd->penalty_ns;
    return true;
}

/* As many pages as there are entries, chosen at random: what ways and entries lead to expect of
   them, where one too many makes all of its set miss, is a witness that knows nothing of classes.
 */
static bool agrees(struct fm_lab *lab, struct fm_crowd *crowd, const struct fm_crowded *shown,
                   bool *yes, struct fm_error *err)
{
    const uint32_t ways = (uint32_t)shown->ways;
    const double expected = fm_occupancy_misses(shown->held, shown->held / ways, ways);
    double sum = 0;
    for (int i = 0; i < CHOICES; i++) {
        struct fm_rng rng;
        double part;
        fm_rng_seed(&rng, fm_lab_seed(lab));
        fm_rng_shuffle(&rng, crowd->pool, crowd->items);
        if (!part_of_choice(lab, crowd, shown->held, &part, err))
            return false;
        sum += part / CHOICES;
    }
    *yes = fabs(sum - expected) < AGREE;
    return true;
}

/* So many pages the levels inside hold in part, wherever they lie. */
static size_t held_inside(const struct fm_tlbs *tlbs, size_t index)
{
    double most = 0;
    for (size_t i = 0; i < index; i++) {
        const struct fm_known_tlb *tlb = &tlbs->known[i];
        const double pages = tlb->sets
                                 ? (double)tlb->entries * (double)tlb->piece / (double)tlbs->page
                                 : tlb->step.missed;
        most = fmax(most, (tlb->hashed || tlb->spares ? LUCKY_LOAD : LOAD) * pages + 1);
    }
    return (size_t)most;
}

/* Pages taken in that share a set of the level inside with so few others that it keeps them: they
   are never asked for here. One more of that set would have all of them come at once, and is
   refused. */
static size_t stay_inside(const struct fm_tlbs *tlbs, size_t index, const struct fm_crowd *crowd)
{
    const struct fm_known_tlb *inside = index > 0 ? &tlbs->known[index - 1] : NULL;
    size_t all = 0;
    if (!inside || inside->hashed || inside->piece != tlbs->page)
        return 0;
    for (size_t set = 0; set < inside->sets; set++) {
        size_t members = 0;
        for (size_t i = 0; i < crowd->count; i++)
            members += crowd->held[i] % inside->sets == set;
        all += members <= inside->ways ? members : 0;
    }
    return all;
}

static bool decide(struct fm_lab *lab, struct fm_crowd *crowd, const struct fm_crowded *shown,
                   struct fm_known_tlb *tlb, struct fm_error *err)
{
    bool yes = true;
    tlb->doubt = fm_crowd_doubt(lab, shown);
    if (!tlb->doubt && (double)shown->held < tlb->step.held)
        tlb->doubt = "fewer pages were taken in than neighbours fit";
    /* Of other policies there is no telling how much a set that is too small misses. */
    if (!tlb->doubt && crowd->all_miss && !agrees(lab, crowd, shown, &yes, err))
        return false;
    if (!yes)
        tlb->doubt =
            "pages chosen at random do not miss as often as the groups found lead to expect";
    if (tlb->doubt)
        return true;
    tlb->ways = (unsigned)shown->ways;
    tlb->sets = (unsigned)(shown->held / shown->ways);
    tlb->entries = (unsigned)shown->held;
    tlb->hashed = tlb->sets > 1;
    tlb->spares = !crowd->all_miss;
    tlb->method = "crowd";
    return true;
}

bool fm_crowd_tlb(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index, unsigned event,
                  struct fm_error *err)
{
    struct fm_known_tlb *tlb = &tlbs->known[index];
    struct fm_crowded shown;
    struct crowded level = {&tlbs->list, event};
    const bool counted = event < FM_EVENTS;
    const double rises = counted ? COUNTED_RISES : RISES;
    struct fm_crowd crowd = {.time = time_trial,
                             .tell = counted ? count_trial : NULL,
                             .data = &level,
                             .items = (size_t)fmin(rises * tlb->step.missed, tlbs->far),
                             .shallow = held_inside(tlbs, index),
                             .hit_ns = tlb->step.cost_before,
                             .penalty_ns = tlb->step.cost - tlb->step.cost_before,
                             .spend =
                                 (counted ? spend_counting : spend_timing)[lab->options->effort]};
    /* To count takes so little that none of its pages needs to stay inside by luck. */
    crowd.kept = counted ? LUCKY_LOAD / LOAD * crowd.shallow : crowd.shallow;
    /* What the levels inside may hold is no less than what this one holds: they cannot be told
     * apart.
     */
    if ((double)crowd.shallow > FEW * tlb->step.missed) {
        tlb->doubt = "the level inside may hold too much of it";
        return true;
    }
    crowd.most =
        (size_t)fmin((counted ? rises / RISES : 1) * ABOVE * tlb->step.missed, (double)crowd.items);
    bool good = fm_crowd_open(lab, &crowd, 0, 1, err) &&
                fm_place_pages(lab, &tlbs->list, crowd.items, err) &&
                fm_crowd_out(lab, &crowd, &shown, err);
    if (good) {
        shown.held -= stay_inside(tlbs, index, &crowd);
        good = decide(lab, &crowd, &shown, tlb, err);
    }
    fm_crowd_close(&crowd);
    return good;
}
