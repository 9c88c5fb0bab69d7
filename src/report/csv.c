#include <string.h>

#include "report/report.h"
#include "report/text.h"
#include "report/values.h"

/* RFC 4180: a field with a separator, a quote or a line break is quoted, quotes are doubled. */
static void field(FILE *out, const char *text, char end)
{
    char safe[640];
    fm_show(text, true, safe, sizeof safe);
    if (!strpbrk(safe, ",\"\r\n")) {
        fprintf(out, "%s%c", safe, end);
        return;
    }
    putc('"', out);
    for (const char *c = safe; *c; c++) {
        if (*c == '"')
            putc('"', out);
        putc(*c, out);
    }
    fprintf(out, "\"%c", end);
}

static const char *plain(const struct fm_value *value, char cell[FM_CELL])
{
    switch (value->kind) {
    case FM_VALUE_NUMBER:
        return fm_cell_number(value->number, cell);
    case FM_VALUE_BOOL:
        return value->truth ? "true" : "false";
    case FM_VALUE_TEXT:
        return value->text;
    case FM_VALUE_NONE:
        break;
    }
    return "";
}

/* Joins a list into one field, since a spreadsheet has no lists. */
static void join(char *text, size_t space, const char *item)
{
    const size_t used = strlen(text);
    snprintf(text + used, space - used, "%s%s", used ? ";" : "", item);
}

static void list_field(FILE *out, const char *list, size_t width)
{
    char text[FM_LIST * 64] = "";
    for (size_t i = 0; i < FM_LIST && list[i * width]; i++)
        join(text, sizeof text, list + i * width);
    field(out, text, ',');
}

static void candidates_field(FILE *out, const struct fm_finding *finding)
{
    char text[FM_LIST * FM_CELL] = "", cell[FM_CELL];
    for (size_t i = 0; i < finding->candidate_count; i++)
        join(text, sizeof text, plain(&finding->candidates[i], cell));
    field(out, text, ',');
}

static void row(FILE *out, const struct fm_result *result, const struct fm_finding *finding)
{
    char cell[FM_CELL];
    const bool sure = finding->status == FM_MEASURED;

    field(out, result->machine.name, ',');
    field(out, finding->property, ',');
    field(out, finding->unit, ',');
    field(out, fm_status_name(finding->status), ',');
    field(out, plain(&finding->value, cell), ',');
    field(out, plain(&finding->low, cell), ',');
    field(out, plain(&finding->high, cell), ',');
    field(out, sure ? fm_cell_number(finding->confidence, cell) : "", ',');
    field(out, finding->method, ',');
    list_field(out, finding->witnesses[0], sizeof finding->witnesses[0]);
    field(out, plain(&finding->claimed, cell), ',');
    field(out, finding->claimed_by, ',');
    list_field(out, finding->evidence[0], sizeof finding->evidence[0]);
    candidates_field(out, finding);
    field(out, finding->note, '\n');
}

void fm_report_csv(FILE *out, const struct fm_result *result, bool heading)
{
    if (heading)
        fputs("machine,property,unit,status,value,low,high,confidence,method,witnesses,"
              "claimed,claimed_by,evidence,candidates,note\n",
              out);
    for (size_t i = 0; i < result->finding_count; i++)
        row(out, result, &result->findings[i]);
}

/* "latency_ns"; what is counted has no unit: "pages". */
static void name_column(FILE *out, const char *name, const char *unit, char end)
{
    fprintf(out, "%s%s%s%c", name, *unit ? "_" : "", unit, end);
}

void fm_report_points(FILE *out, const struct fm_curve *curve)
{
    char cell[4][FM_CELL];

    name_column(out, curve->x.name, curve->x.unit, ',');
    name_column(out, curve->y.name, curve->y.unit, ',');
    name_column(out, "low", curve->y.unit, ',');
    name_column(out, "high", curve->y.unit, '\n');
    for (size_t i = 0; i < curve->point_count; i++) {
        const struct fm_point *p = &curve->points[i];
        fprintf(out, "%s,%s,%s,%s\n", fm_cell_number(p->x, cell[0]), fm_cell_number(p->y, cell[1]),
                fm_cell_number(p->low, cell[2]), fm_cell_number(p->high, cell[3]));
    }
}
