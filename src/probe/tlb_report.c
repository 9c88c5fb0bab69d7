/* What is said of TLBs. */
#include "probe/tlb_report.h"

#include <math.h>
#include <stdio.h>

#include "core/units.h"
#include "probe/lab.h"

/* What two good surveys of one machine differ by. */
#define LEAST_WIDTH 0.03
/* Times the pages that are held at which most miss, from where they may be those of two levels that
   nothing else tells apart. */
#define SLOW 2
/* Part of a cost by which readings of it may differ for it to be told. */
#define UNSTEADY 0.3
/* How sure entries are that pages in a row tell. */
#define IN_A_ROW 0.8

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

void fm_tlb_open(struct fm_lab *lab, const struct fm_tlbs *tlbs, size_t index,
                 const char *attribute, const char *unit, const char *reason)
{
    struct fm_finding *finding = tlb_finding(lab, tlbs, index, attribute, unit);
    if (finding)
        fm_undetermined(finding, reason);
}

/* Some of the pages hit beyond a rise, more or fewer from place to place. */
static bool is_unsteady(const struct fm_known_tlb *tlb)
{
    return tlb->cost_high - tlb->cost_low > UNSTEADY * tlb->step.cost;
}

/* Of the numbers that pages in a row leave, the one that the most halvings divide: an address is
   folded to a power of two of sets. */
static void report_row(struct fm_lab *lab, const struct fm_tlbs *tlbs, size_t index)
{
    const struct fm_known_tlb *tlb = &tlbs->known[index];
    unsigned entries = tlb->row_high;
    for (unsigned part = 1; tlb->row_high / part * part >= tlb->row_low; part *= 2)
        entries = tlb->row_high / part * part;
    struct fm_finding *finding = tlb_finding(lab, tlbs, index, "entries", "");
    if (finding)
        fm_measured(finding, entries, tlb->row_low, tlb->row_high, IN_A_ROW, "rows",
                    tlbs->evidence);
    const double piece = (double)tlb->piece;
    finding = tlb_finding(lab, tlbs, index, "reach", "B");
    if (finding)
        fm_measured(finding, entries * piece, tlb->row_low * piece, tlb->row_high * piece, IN_A_ROW,
                    "rows", tlbs->evidence);
    report_number(lab, tlbs, index, "page_size", "B", piece, "pieces", NULL);
    fm_tlb_open(lab, tlbs, index, "ways", "",
                "pages in a row fill it evenly, so a hash folds their numbers; no pages were found "
                "that share a set by themselves");
}

static void report_level(struct fm_lab *lab, const struct fm_tlbs *tlbs, size_t index)
{
    const struct fm_known_tlb *tlb = &tlbs->known[index];
    /* One more than one set holds has all of them miss: if some hit, a few that share a set of
       several were taken for it. */
    const bool some_hit = tlb->sets == 1 && !tlb->spares && is_unsteady(tlb);
    if (tlb->ways == 0 && tlb->row_low) {
        report_row(lab, tlbs, index);
        return;
    }
    if (tlb->ways == 0 || some_hit) {
        char reason[sizeof((struct fm_finding *)0)->note];
        snprintf(reason, sizeof reason,
                 "misses begin after %.0f pages and are many at %.0f, but no stride conflicts by "
                 "itself: the index may be hashed%s%s",
                 tlb->step.held, tlb->step.missed, tlb->doubt ? "; " : "",
                 tlb->doubt ? tlb->doubt : "");
        fm_tlb_open(lab, tlbs, index, "entries", "", reason);
        fm_tlb_open(lab, tlbs, index, "reach", "B", reason);
        fm_tlb_open(lab, tlbs, index, "ways", "", reason);
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
    /* A level behind may have begun to miss before all pages missed this one, which a group that
       misses by itself would tell. */
    const bool unsteady = is_unsteady(tlb);
    const bool slow = tlb->step.missed > SLOW * tlb->step.held;
    /* One that a hash serves may rise in two parts, of which this is the first. */
    const bool part = index + 1 < tlbs->count && tlb[1].step.held < SLOW * tlb->step.missed;
    tlb->cost_open =
        unsteady || (tlb->soft && tlb->spares) || ((slow || part) && !tlb->ways && !tlb->row_low);
    if (tlb->cost_open) {
        const char *reason = unsteady ? "it differs too much from one place to another: not all "
                                        "pages miss where most do"
                                      : "misses set in so slowly that they may be those of two "
                                        "levels";
        fm_tlb_open(lab, tlbs, index, "miss_cost", "ns", reason);
        fm_tlb_open(lab, tlbs, index, "miss_cost_cycles", "cycles", reason);
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

void fm_tlb_none(struct fm_lab *lab, const struct fm_tlbs *tlbs, bool rises)
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
    fm_tlb_open(lab, tlbs, tlbs->count, "entries", "", reason);
}

void fm_mark_tlbs(struct fm_lab *lab, const struct fm_tlbs *tlbs)
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

void fm_report_tlb(struct fm_lab *lab, struct fm_tlbs *tlbs, size_t index)
{
    report_level(lab, tlbs, index);
    report_cost(lab, tlbs, index);
    warn_of_pieces(lab, tlbs, index);
}
