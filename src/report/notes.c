#include <string.h>

#include "report/meanings.h"
#include "report/report.h"
#include "report/text.h"
#include "report/values.h"

#define NOTE_INDENT 2

static void label(FILE *out, const char *text, const char *colour, const struct fm_look *look)
{
    if (look->colour)
        fprintf(out, "\033[%sm%s\033[0m ", colour, text);
    else
        fprintf(out, "%s ", text);
}

static void labelled(FILE *out, const char *word, const char *colour, const char *text,
                     const struct fm_look *look)
{
    label(out, word, colour, look);
    fm_fill(out, text, look->width, (unsigned)strlen(word) + 1, NOTE_INDENT);
}

static bool noted_before(const struct fm_result *result, size_t index)
{
    const struct fm_finding *finding = &result->findings[index];
    for (size_t i = 0; i < index; i++)
        if (result->findings[i].status == finding->status &&
            strcmp(result->findings[i].note, finding->note) == 0)
            return true;
    return false;
}

/* Properties that share a note share a line: "l2.line, l3.line: out of time". */
static void print_note(FILE *out, const struct fm_result *result, size_t index,
                       const struct fm_look *look)
{
    const struct fm_finding *first = &result->findings[index];
    char names[1024] = "", note[1024], text[2200];
    size_t used = 0;

    for (size_t i = index; i < result->finding_count; i++) {
        const struct fm_finding *other = &result->findings[i];
        if (other->status == first->status && strcmp(other->note, first->note) == 0 &&
            used + FM_PROPERTY_TEXT + 3 < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                     other->property);
    }
    snprintf(text, sizeof text, "%s: %s", names,
             fm_show(first->note, look->unicode, note, sizeof note));
    labelled(out, first->status == FM_UNDETERMINED ? "?" : "note:", "36", text, look);
}

void fm_report_notes(FILE *out, const struct fm_result *result, const struct fm_look *look)
{
    char text[1024], remedy[1024];

    if (!result->complete)
        labelled(out, "incomplete:", "33",
                 "the survey ended early; what was not reached is undetermined", look);
    for (size_t i = 0; !look->verbose && i < result->finding_count; i++)
        /* What this machine refuses is no news to most; --verbose and the files have it. */
        if (result->findings[i].note[0] && result->findings[i].status != FM_UNSUPPORTED &&
            !noted_before(result, i))
            print_note(out, result, i, look);
    for (size_t i = 0; i < result->warning_count; i++) {
        const struct fm_warning *warning = &result->warnings[i];
        fm_show(warning->text, look->unicode, text, sizeof text);
        labelled(out, "warning:", "33", text, look);
        if (!warning->remedy[0])
            continue;
        fm_show(warning->remedy, look->unicode, remedy, sizeof remedy);
        fprintf(out, "%*s", NOTE_INDENT, "");
        labelled(out, "remedy:", "0", remedy, look);
    }
}

/* Adds ", and more" to a sentence that is being built. */
static void add(char *text, size_t space, const char *before, const char *piece)
{
    const size_t used = strlen(text);
    if (*piece)
        snprintf(text + used, space - used, "%s%s", before, piece);
}

/* Sizes to the byte, since they are known so; other figures as far as they mean something. */
static void spell_out(const struct fm_value *value, const char *unit, char out[FM_CELL * 2])
{
    char cell[FM_CELL];
    if (value->kind == FM_VALUE_NUMBER && value->number == 1 && strcmp(unit, "cycles") == 0)
        strcpy(out, "1 cycle");
    else if (value->kind == FM_VALUE_NUMBER)
        snprintf(out, FM_CELL * 2, "%.*g%s%s", strcmp(unit, "B") == 0 ? 17 : 4, value->number,
                 *unit ? " " : "", unit);
    else
        snprintf(out, FM_CELL * 2, "%s", fm_cell_value(value, unit, cell));
}

static void measured(const struct fm_finding *finding, char *text, size_t space)
{
    char value[FM_CELL * 2], low[FM_CELL * 2], high[FM_CELL * 2], sure[FM_CELL], clause[512];

    spell_out(&finding->value, finding->unit, value);
    spell_out(&finding->low, finding->unit, low);
    spell_out(&finding->high, finding->unit, high);
    add(text, space, " ", fm_meaning(finding->property, value, clause, sizeof clause));
    const bool certain = !*low || !*high || strcmp(low, high) == 0;
    if (!certain) {
        add(text, space, "; between ", low);
        add(text, space, " and ", high);
    }
    snprintf(sure, sizeof sure, "%.3g%% sure", finding->confidence * 100);
    add(text, space, certain ? "; " : ", ", sure);
    add(text, space, "; method: ", finding->method);
    const bool alone = !finding->witnesses[1][0];
    for (size_t i = 0; i < FM_LIST && finding->witnesses[i][0]; i++)
        add(text, space, i ? ", " : alone ? "; witness: " : "; witnesses: ", finding->witnesses[i]);
}

static void not_measured(const struct fm_finding *finding, char *text, size_t space)
{
    char value[FM_CELL * 2];
    add(text, space, " ", fm_status_name(finding->status));
    for (size_t i = 0; i < finding->candidate_count; i++) {
        spell_out(&finding->candidates[i], finding->unit, value);
        add(text, space, i ? ", " : ", one of ", value);
    }
}

static void sentence(FILE *out, const struct fm_finding *finding, const struct fm_look *look)
{
    char text[1024], shown[2048], claimed[FM_CELL * 2];

    snprintf(text, sizeof text, "%s:", finding->property);
    if (finding->status == FM_MEASURED)
        measured(finding, text, sizeof text);
    else
        not_measured(finding, text, sizeof text);
    add(text, sizeof text, finding->status == FM_MEASURED ? "; " : ": ", finding->note);
    spell_out(&finding->claimed, finding->unit, claimed);
    add(text, sizeof text, "; claimed ", claimed);
    if (*claimed)
        add(text, sizeof text, " by ", finding->claimed_by);
    fm_show(text, look->unicode, shown, sizeof shown);
    fm_fill(out, shown, look->width, 0, NOTE_INDENT);
}

void fm_report_sentences(FILE *out, const struct fm_result *result, const struct fm_look *look)
{
    char elapsed[FM_CELL];

    putc('\n', out);
    for (size_t i = 0; i < result->finding_count; i++)
        sentence(out, &result->findings[i], look);
    snprintf(elapsed, sizeof elapsed, "The survey took %.2f s.", result->elapsed_s);
    fm_fill(out, elapsed, look->width, 0, 0);
}
