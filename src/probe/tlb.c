/* Data TLBs: entries, ways, reach, what a miss costs and how much memory an entry maps, on the base
 * page and on every other page size that the machine gives. */
#include "probe/tlb.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/units.h"
#include "probe/growth.h"
#include "probe/probe.h"
#include "probe/tlb_report.h"
#include "probe/unified.h"

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
    for (size_t i = 0; i < tlbs->count && i < FM_TLB_LEVELS; i++)
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
    fm_tlb_open(lab, tlbs, index, "entries", "",
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
        fm_report_tlb(lab, &pieces, 0);
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
    size_t i = in_pieces; /* those before it are reported */
    while (i < tlbs.count && good) {
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
        fm_report_tlb(lab, &tlbs, i);
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
        fm_tlb_none(lab, &tlbs, pages->rises);
    fm_mark_tlbs(lab, &tlbs);
    /* What was measured stays; less memory is no failure. */
    if (!good && (err->code == FM_ERR_NO_MEMORY || err->code == FM_ERR_OUT_OF_TIME)) {
        const bool small = err->code == FM_ERR_NO_MEMORY;
        /* The survey knows what to do about time. */
        fm_tlb_open(lab, &tlbs, i, "entries", "", small ? err->text : "");
        good = small;
        if (good)
            *err = (struct fm_error){.code = FM_ERR_OK};
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
    else if (fm_lab_place_on(lab, 2 * page, page, &refusal))
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
        fm_tlb_none(lab, &tlbs, false);
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
    .share = 0.5,
    .run = run,
    .properties = properties,
};
