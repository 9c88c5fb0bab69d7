/* Data TLBs: entries, ways, reach, what a miss costs and how much memory an entry maps, on the base
 * page and on every other page size that the machine gives. */
#include "probe/tlb.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/units.h"
#include "probe/growth.h"
#include "probe/probe.h"
#include "probe/unified.h"

/* What two good surveys of one machine differ by. */
#define LEAST_WIDTH 0.03
/* Part of a cost by which readings of it may differ for it to be told. */
#define UNSTEADY 0.3

static struct fm_finding *tlb_finding(struct fm_lab *lab, const struct fm_tlbs *tlbs, size_t index,
                                      const char *attribute, const char *unit)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s%zu%s.%s", tlbs->name, index + 1, tlbs->qualifier,
             attribute);
    return fm_result_finding(lab->result, property, unit);
}

static void report_number(struct fm_lab *lab, const struct fm_tlbs *tlbs, size_t index,
                          const char *attribute, const char *unit, double value, const char *method,
                          const char *meter)
{
    struct fm_finding *finding = tlb_finding(lab, tlbs, index, attribute, unit);
    if (finding && meter)
        fm_decided(finding, fm_number(value), 0.98, meter, method);
    else if (finding)
        fm_measured(finding, value, value, value, 0.98, method, tlbs->evidence);
}

static void report_open(struct fm_lab *lab, const struct fm_tlbs *tlbs, size_t index,
                        const char *attribute, const char *unit, const char *reason)
{
    struct fm_finding *finding = tlb_finding(lab, tlbs, index, attribute, unit);
    if (finding)
        fm_undetermined(finding, reason);
}

static void report_level(struct fm_lab *lab, const struct fm_tlbs *tlbs, size_t index)
{
    const struct fm_known_tlb *tlb = &tlbs->known[index];
    if (tlb->ways == 0) {
        char reason[sizeof((struct fm_finding *)0)->note];
        snprintf(reason, sizeof reason,
                 "misses begin after %.0f pages and are many at %.0f, but no stride conflicts by "
                 "itself: the index may be hashed%s%s",
                 tlb->step.held, tlb->step.missed, tlb->doubt ? "; " : "",
                 tlb->doubt ? tlb->doubt : "");
        report_open(lab, tlbs, index, "entries", "", reason);
        report_open(lab, tlbs, index, "reach", "B", reason);
        report_open(lab, tlbs, index, "ways", "", reason);
        return;
    }
    report_number(lab, tlbs, index, "entries", "", tlb->entries, tlb->method, tlb->meter);
    report_number(lab, tlbs, index, "reach", "B", (double)tlb->entries * (double)tlb->piece,
                  tlb->method, tlb->meter);
    report_number(lab, tlbs, index, "page_size", "B", (double)tlb->piece, "pieces", NULL);
    report_number(lab, tlbs, index, "ways", "", tlb->ways, tlb->method, tlb->meter);
    struct fm_finding *ways = tlb_finding(lab, tlbs, index, "ways", "");
    if (ways && tlb->sets == 1)
        ways->value = ways->low = ways->high = fm_text("full");
}

/* Entries that map less or more than the page that the kernel gave: the pages are not what they
   seem. Those that were seen to grow have a warning of their own. */
static void warn_of_pieces(struct fm_lab *lab, const struct fm_tlbs *tlbs, size_t index)
{
    char page[FM_SIZE_TEXT], piece[FM_SIZE_TEXT];
    const struct fm_known_tlb *tlb = &tlbs->known[index];
    if (tlb->ways && tlb->piece > tlbs->list.mapped && tlbs->list.ripen.visits == 0)
        fm_result_warn(lab->result, "page-groups", "read its entries in units of its own page_size",
                       "an entry of %s%zu maps %s where pages of %s were asked for: it holds "
                       "neighbours together, or the pages had been made larger before they were "
                       "first timed",
                       tlbs->name, index + 1, fm_format_size(tlb->piece, piece),
                       fm_format_size(tlbs->list.mapped, page));
    if (tlb->ways && tlb->piece < tlbs->list.mapped)
        fm_result_warn(lab->result, "page-pieces",
                       "in a virtual machine, have the host back it with huge pages",
                       "an entry of %s%zu maps %s of a page of %s: these pages are larger than "
                       "what backs them, or than what the TLB can hold",
                       tlbs->name, index + 1, fm_format_size(tlb->piece, piece),
                       fm_format_size(tlbs->list.mapped, page));
}

static void report_cost(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index)
{
    const struct fm_known *known = &lab->known;
    struct fm_known_tlb *tlb = &tlbs->known[index];
    const double cost = tlb->step.cost, low = tlb->cost_low * (1 - LEAST_WIDTH),
                 high = tlb->cost_high * (1 + LEAST_WIDTH);
    /* Some of the pages hit, more or fewer from place to place; or a level behind may have begun to
       miss before all pages missed this one, which a group that misses by itself would tell. */
    const bool unsteady = tlb->cost_high - tlb->cost_low > UNSTEADY * cost;
    tlb->cost_open = unsteady || (tlb->soft && (!tlb->ways || tlb->spares));
    if (tlb->cost_open) {
        const char *reason = unsteady ? "it differs too much from one place to another: not all "
                                        "pages miss where most do"
                                      : "misses set in so slowly that they may be those of two "
                                        "levels";
        report_open(lab, tlbs, index, "miss_cost", "ns", reason);
        report_open(lab, tlbs, index, "miss_cost_cycles", "cycles", reason);
        return;
    }
    struct fm_finding *ns = tlb_finding(lab, tlbs, index, "miss_cost", "ns");
    if (ns)
        fm_measured(ns, cost, low, high, 0.95, "pages", tlbs->evidence);
    struct fm_finding *cycles = tlb_finding(lab, tlbs, index, "miss_cost_cycles", "cycles");
    if (!cycles)
        return;
    if (known->cycle_ns > 0)
        fm_measured(cycles, cost / known->cycle_ns, low / known->cycle_high,
                    high / known->cycle_low, 0.95, "pages", tlbs->evidence);
    else
        fm_undetermined(cycles, "the cycle time is not known");
}

/* Whether anything is said of a level; a rise alone makes none. */
static bool is_told(const struct fm_lab *lab, const struct fm_tlbs *tlbs, size_t index)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "%s%zu%s.entries", tlbs->name, index + 1, tlbs->qualifier);
    return fm_result_find(lab->result, property);
}

/* Nothing is to be passed over in silence: that there is no level, or that one was seen once. */
static void report_none(struct fm_lab *lab, const struct fm_tlbs *tlbs, bool rises)
{
    char reason[sizeof((struct fm_finding *)0)->note], size[FM_SIZE_TEXT];
    const double far = tlbs->far,
                 known = tlbs->count ? tlbs->known[tlbs->count - 1].step.missed : 0;
    fm_format_size(tlbs->page, size);
    if (tlbs->lost.held > known)
        snprintf(reason, sizeof reason,
                 "what rises after %.0f pages of %s was not there when it was looked at again",
                 tlbs->lost.held, size);
    else if (tlbs->count)
        return;
    else if (far < FM_TLB_FEWEST)
        snprintf(reason, sizeof reason,
                 "so few pages of %s fit the memory that is used that no TLB misses", size);
    else
        snprintf(reason, sizeof reason,
                 rises ? "what rises up to %.0f pages of %s may come of caches or of page tables"
                       : "translation costs nothing up to %.0f pages of %s",
                 far, size);
    report_open(lab, tlbs, tlbs->count, "entries", "", reason);
}

/* Marks the levels on the curve, each where its pages end, and what comes after them: the walk, or
   for code that was followed no further the level it shares with data. */
static void mark_levels(struct fm_lab *lab, const struct fm_tlbs *tlbs)
{
    struct fm_result *result = lab->result;
    const struct fm_curve *drawn = fm_result_find_curve(result, tlbs->curve);
    if (!drawn || !drawn->point_count || !tlbs->count)
        return;
    struct fm_curve *curve = &result->curves[drawn - result->curves];
    for (size_t i = 0; i < tlbs->count && is_told(lab, tlbs, i); i++) {
        const struct fm_known_tlb *tlb = &tlbs->known[i];
        struct fm_step *step = &curve->steps[curve->step_count++];
        /* An entry may map several pages; one that maps a piece of a page takes a visit all the
         * same. */
        step->x = tlb->ways || tlb->in_pieces
                      ? (double)tlb->entries * fmax(1, (double)tlb->piece / (double)tlbs->page)
                      : tlb->step.held;
        step->y = tlb->step.cost_before;
        snprintf(step->label, sizeof step->label, "%s%zu", tlbs->name, i + 1);
    }
    struct fm_step *after = &curve->steps[curve->step_count++];
    after->x = curve->points[curve->point_count - 1].x;
    after->y = tlbs->known[tlbs->count - 1].read_cost;
    snprintf(after->label, sizeof after->label, "%s", tlbs->most > 0 ? "shared with data" : "walk");
}

/* What comes after the last level is the walk. */
static void keep_walk(struct fm_lab *lab, const struct fm_tlbs *tlbs)
{
    struct fm_known *known = &lab->known;
    if (tlbs->count == 0)
        return;
    const struct fm_known_tlb *last = &tlbs->known[tlbs->count - 1];
    known->walk_ns = last->step.cost;
    known->walk_low = last->cost_low;
    known->walk_high = last->cost_high;
    known->walk_pages = last->step.missed;
}

/* Of which levels no stride keeps to a set. */
static void keep_hashed(struct fm_lab *lab, const struct fm_tlbs *tlbs)
{
    lab->known.tlb_hashed = 0;
    for (size_t i = 0; i < tlbs->count; i++)
        lab->known.tlb_hashed |= (unsigned)tlbs->known[i].hashed << i;
}

/* Pages to be measured. */
struct pages {
    size_t size;           /* counted in these */
    size_t mapped;         /* as they are asked for */
    const char *qualifier; /* marks one that is not the base page */
    bool code;             /* jumps go there, not loads */
    struct fm_ripening ripen;
    size_t grown; /* what is found that an entry maps of the grown ones; 0: not found */
    bool rises;   /* found that translation costs something from some pages on */
    bool early;   /* … and that they may have grown before they were first timed */
};

static const struct fm_finding *entries_of_data(const struct fm_lab *lab, size_t index)
{
    char property[FM_PROPERTY_TEXT];
    snprintf(property, sizeof property, "dtlb%zu.entries", index + 1);
    return fm_result_find(lab->result, property);
}

/* Whether a level of code is surely one of its own: what is not known of those of data leaves it
   open. */
static bool is_alone(struct fm_lab *lab, const struct fm_tlbs *tlbs, size_t index)
{
    char property[FM_PROPERTY_TEXT];
    const struct fm_finding *data = NULL;
    bool known = true;
    for (size_t i = 0; i <= index && known; i++) {
        data = entries_of_data(lab, i);
        known = data ? data->status == FM_MEASURED : i > 0 && !lab->known.tlb_doubted;
    }
    snprintf(property, sizeof property, "dtlb%zu.unified", index + 1);
    const struct fm_finding *unified = fm_result_find(lab->result, property);
    if (known && (!data || (unified && unified->status == FM_MEASURED)))
        return true;
    report_open(lab, tlbs, index, "entries", "",
                known ? "it may be that of data: whether code shares that is not determined"
                      : "it may be that of data, which is not determined either");
    return false;
}

/* Which levels code shares with data. Beyond what the first of them holds that is not the very
   first, what is to be seen has been seen of data. */
static bool find_shared(struct fm_lab *lab, struct fm_tlbs *tlbs, bool shared[FM_TLB_LEVELS],
                        struct fm_error *err)
{
    for (size_t i = 0; i < FM_TLB_LEVELS; i++) {
        const struct fm_finding *entries = entries_of_data(lab, i);
        if (!fm_find_unified_tlb(lab, i, &shared[i], err))
            return false;
        if (shared[i] && i > 0 && tlbs->most <= 0)
            tlbs->most = entries->value.number;
    }
    return true;
}

static bool open_tlbs(struct fm_tlbs *tlbs, const struct pages *pages, struct fm_error *err)
{
    const char *qualifier = pages->qualifier;
    *tlbs = (struct fm_tlbs){.name = pages->code ? "itlb" : "dtlb", .page = pages->size};
    if (!fm_page_list_open(&tlbs->list, FM_TLB_PAGES, pages->size, err))
        return false;
    tlbs->list.mapped = pages->mapped;
    tlbs->list.ripen = pages->ripen;
    tlbs->list.code = pages->code;
    snprintf(tlbs->qualifier, sizeof tlbs->qualifier, "%s", qualifier);
    snprintf(tlbs->curve, sizeof tlbs->curve, "%stlb%s", pages->code ? "i" : "", qualifier);
    snprintf(tlbs->evidence, sizeof tlbs->evidence, "curve:%s", tlbs->curve);
    return true;
}

static void report_all(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index)
{
    report_level(lab, tlbs, index);
    report_cost(lab, tlbs, index);
    warn_of_pieces(lab, tlbs, index);
}

/* The first level where its entries map no more than a piece of a page: its ways and sets are those
   of pieces. To the levels behind it no more is known of it than where pages miss it. */
static bool survey_pieces(struct fm_lab *lab, struct fm_tlbs *tlbs, const struct pages *pages,
                          size_t piece, bool *is_one, struct fm_error *err)
{
    struct fm_tlbs pieces;
    struct pages small = *pages;
    small.size = piece;
    *is_one = false;
    if (!open_tlbs(&pieces, &small, err))
        return false;
    snprintf(pieces.curve, sizeof pieces.curve, "%s-pieces", tlbs->curve);
    snprintf(pieces.evidence, sizeof pieces.evidence, "curve:%s", pieces.curve);
    bool good = fm_read_tlb_curve(lab, &pieces, err) &&
                (!pieces.count || fm_measure_tlb(lab, &pieces, 0, is_one, err));
    *is_one = good && *is_one && pieces.known[0].piece < tlbs->page;
    if (*is_one) {
        struct fm_known_tlb *first = &tlbs->known[0];
        report_all(lab, &pieces, 0);
        first->entries = pieces.known[0].entries;
        first->in_pieces = true;
        first->piece = tlbs->page;
        first->cost_open = true;
    }
    fm_page_list_close(&pieces.list);
    return good;
}

/* The TLBs that hold pages of one size. */
static bool survey_page_size(struct fm_lab *lab, struct pages *pages, struct fm_error *err)
{
    const char *qualifier = pages->qualifier;
    struct fm_tlbs tlbs;
    bool shared[FM_TLB_LEVELS] = {false}, in_pieces = false;
    size_t piece = pages->size;
    if (!open_tlbs(&tlbs, pages, err))
        return false;
    bool good = (!pages->code || find_shared(lab, &tlbs, shared, err)) &&
                fm_read_tlb_curve(lab, &tlbs, err);
    const bool ripe = pages->ripen.visits > 0;
    pages->rises = good && tlbs.count > 0;
    if (pages->rises && !ripe && !*qualifier && !pages->code && !tlbs.vanishes)
        good = fm_grow_early(lab, pages->size, &tlbs.known[0].step, &tlbs.vanishes, err);
    pages->early = good && !ripe && (tlbs.vanishes || !pages->rises);
    if (pages->early && tlbs.vanishes)
        tlbs.count = 0;
    if (good && tlbs.count && !pages->code)
        good = fm_find_smallest_piece(lab, &tlbs, &piece, err) &&
               (piece == pages->size || survey_pieces(lab, &tlbs, pages, piece, &in_pieces, err));
    for (size_t i = in_pieces; i < tlbs.count && good;) {
        bool is_one;
        if (i > 0 && pages->code && (shared[i] || !is_alone(lab, &tlbs, i)))
            break;
        good = fm_lab_go_on(lab, 0.3 + 0.2 * (double)i, err) &&
               fm_measure_tlb(lab, &tlbs, i, &is_one, err);
        if (good && !is_one && !*qualifier && !pages->code)
            lab->known.tlb_doubted = true;
        if (!good || !is_one)
            continue;
        if (i > 0 && fm_join_tlb(&tlbs, i)) {
            i--;
            continue;
        }
        report_all(lab, &tlbs, i);
        i++;
    }
    pages->grown = tlbs.count && tlbs.known[0].ways ? tlbs.known[0].piece : 0;
    if (!*qualifier && !pages->code)
        keep_hashed(lab, &tlbs);
    const bool grown = ripe && pages->grown != pages->mapped;
    if (good && !*qualifier && !grown && !pages->code) {
        fm_compare_with_walk(lab, &tlbs);
        keep_walk(lab, &tlbs);
    }
    if (good)
        report_none(lab, &tlbs, pages->rises);
    mark_levels(lab, &tlbs);
    /* What was measured stays; less memory is no failure. */
    if (!good && err->code == FM_ERR_NO_MEMORY) {
        size_t reached = 0;
        while (reached < tlbs.count && tlbs.known[reached].piece)
            reached++;
        report_open(lab, &tlbs, reached, "entries", "", err->text);
        *err = (struct fm_error){.code = FM_ERR_OK};
        good = true;
    }
    fm_page_list_close(&tlbs.list);
    return good;
}

/* Another page size, if the machine gives it. */
static bool try_page_size(struct fm_lab *lab, size_t page, struct fm_error *err)
{
    char size[FM_SIZE_TEXT], qualifier[FM_SIZE_TEXT + 1], property[FM_PROPERTY_TEXT];
    struct fm_error refusal;
    /* A name has no blanks. */
    char *blank = strchr(fm_format_size(page, size), ' ');
    if (blank)
        memmove(blank, blank + 1, strlen(blank));
    snprintf(qualifier, sizeof qualifier, "@%s", size);
    if (fm_lab_limit(lab) / 2 < page)
        fm_fail(&refusal, FM_ERR_UNSUPPORTED, "two such pages are more memory than may be touched");
    else if (lab->machine->ops->place(lab->machine, 2 * page, page, &refusal))
        return survey_page_size(
            lab, &(struct pages){.size = page, .mapped = page, .qualifier = qualifier}, err);
    if (refusal.code != FM_ERR_UNSUPPORTED && refusal.code != FM_ERR_NO_MEMORY) {
        *err = refusal;
        return false;
    }
    snprintf(property, sizeof property, "dtlb1%s.entries", qualifier);
    struct fm_finding *entries = fm_result_finding(lab->result, property, "");
    if (entries) {
        fm_undetermined(entries, refusal.text);
        entries->status = FM_UNSUPPORTED;
    }
    return true;
}

static void report_pages(struct fm_lab *lab, bool grow)
{
    const double page = (double)lab->machine->info.page_size;
    lab->known.pages_grow = grow;
    struct fm_finding *finding = fm_result_finding(lab->result, "page.size", "B");
    if (finding)
        fm_measured(finding, page, page, page, 0.99, "asked", NULL);
    finding = fm_result_finding(lab->result, "page.resized", "");
    if (!finding)
        return;
    fm_measured(finding, 0, 0, 0, 0.95, "pages", NULL);
    finding->value = finding->low = finding->high = fm_bool(grow);
}

/* Units in which grown pages are counted, in base pages: one, or as many as it takes for TLBs to
   miss. */
#define UNIT_GROWTH 16
#define MOST_UNITS  256

/* How many of the units that pages are counted in share an entry of the first TLB after they have
   grown; 0: it holds all that there is room for. */
static bool count_grown(struct fm_lab *lab, const struct pages *pages, size_t *shared,
                        struct fm_error *err)
{
    struct fm_tlbs tlbs;
    *shared = 0;
    if (!open_tlbs(&tlbs, pages, err))
        return false;
    bool good = fm_read_tlb_curve(lab, &tlbs, err);
    if (good && tlbs.count) {
        struct fm_known_tlb *first = &tlbs.known[0];
        first->entries = (unsigned)first->step.held;
        good = fm_count_neighbours(lab, &tlbs, first, shared, err);
    }
    fm_page_list_close(&tlbs.list);
    return good;
}

/* Under pages that grow the TLBs are those of the pages that they become: each arena is used until
   that has happened. Entries that map no more than a base page show that they did not grow. Units
   smaller than the fewest are known to fit. */
static bool survey_grown(struct fm_lab *lab, const struct fm_ripening *ripen, size_t fewest_units,
                         struct fm_error *err)
{
    const size_t base = lab->machine->info.page_size;
    char from[FM_SIZE_TEXT], to[FM_SIZE_TEXT];
    struct pages pages = {.size = base, .mapped = base, .qualifier = "", .ripen = *ripen};
    size_t shared = 0;
    for (size_t units = fewest_units; units <= MOST_UNITS && !shared; units *= UNIT_GROWTH) {
        pages.size = units * base;
        if (!count_grown(lab, &pages, &shared, err))
            return false;
    }
    /* What fits however it is used has not been seen to grow, and is told already. */
    if (!shared && fewest_units > 1)
        return true;
    pages.size *= shared ? shared : 1;
    if (!survey_page_size(lab, &pages, err))
        return false;
    const bool grown = pages.grown && pages.grown != base;
    report_pages(lab, grown);
    if (grown)
        fm_result_warn(lab->result, "page-resized", "have the system keep to pages of one size",
                       "pages grew while they were used, from %s to %s: the same references took "
                       "less time after some use, on each arena anew; TLBs are told for the pages "
                       "as they became, caches were measured on the pages as they were",
                       fm_format_size(base, from), fm_format_size(pages.grown, to));
    return true;
}

/* Whether the events of caches show that translation costs nothing on base pages, and reports it.
   Where a TLB has been counted there is no question. */
static bool is_free(struct fm_lab *lab, const struct pages *pages, bool *yes, struct fm_error *err)
{
    struct fm_tlbs tlbs;
    *yes = false;
    if (!open_tlbs(&tlbs, pages, err))
        return false;
    const bool good = fm_tlb_counted(lab, &tlbs, 0) || fm_translation_is_free(lab, &tlbs, yes, err);
    if (good && *yes) {
        report_pages(lab, false);
        report_none(lab, &tlbs, false);
    }
    fm_page_list_close(&tlbs.list);
    return good;
}

/* The TLBs on base pages, or what these become. */
static bool survey_base(struct fm_lab *lab, struct fm_error *err)
{
    const size_t page = lab->machine->info.page_size;
    struct pages pages = {.size = page, .mapped = page, .qualifier = ""};
    struct fm_ripening ripen;
    bool none;
    if (!is_free(lab, &pages, &none, err))
        return false;
    if (none)
        return true;
    if (!fm_find_growth(lab, page, &ripen, err))
        return false;
    if (ripen.visits > 0)
        return survey_grown(lab, &ripen, 1, err);
    report_pages(lab, false);
    if (!survey_page_size(lab, &pages, err))
        return false;
    if (!pages.early)
        return true;
    ripen = fm_early_growth();
    return survey_grown(lab, &ripen, pages.rises ? 1 : UNIT_GROWTH, err);
}

static bool run(struct fm_lab *lab, struct fm_error *err)
{
    const struct fm_machine_info *info = &lab->machine->info;
    bool good = survey_base(lab, err);
    /* Large pages are dear to get. */
    const bool wanted = lab->options->effort != FM_QUICK && !lab->known.pages_grow;
    const size_t others = wanted ? info->page_size_count : 0;
    for (size_t i = 0; i < others && good; i++)
        good = try_page_size(lab, info->page_sizes[i], err);
    return good;
}

bool fm_survey_code_tlbs(struct fm_lab *lab, struct fm_error *err)
{
    const size_t page = lab->machine->info.page_size;
    return survey_page_size(
        lab, &(struct pages){.size = page, .mapped = page, .qualifier = "", .code = true}, err);
}

static const char *const properties[] = {
    "page.size",       "page.resized",    "dtlb1.entries",          "dtlb1.reach", "dtlb1.ways",
    "dtlb1.page_size", "dtlb1.miss_cost", "dtlb1.miss_cost_cycles", NULL};

const struct fm_probe fm_probe_tlb = {
    .name = "tlb",
    .finds = "data TLBs: entries, ways, reach, what a miss costs",
    .needs = "cycle",
    .curve = "tlb",
    .share = 0.2,
    .run = run,
    .properties = properties,
};
