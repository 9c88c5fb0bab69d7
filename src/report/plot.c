#include <math.h>
#include <stdint.h>
#include <string.h>

#include "report/canvas.h"
#include "report/report.h"
#include "report/scale.h"
#include "report/text.h"
#include "report/values.h"

#define ROWS       16
#define MARGIN     9 /* columns left of the canvas: a label and the axis */
#define LABEL_ROWS 3
#define NARROWEST  24 /* less would hold the margin and hardly more */
#define WIDEST     240

static void draw_points(struct fm_canvas *canvas, const struct fm_curve *curve,
                        const struct fm_scale *x, const struct fm_scale *y)
{
    const struct fm_point *last = NULL;
    for (size_t i = 0; i < curve->point_count; i++) {
        const struct fm_point *point = &curve->points[i];
        if (!fm_point_drawable(point))
            continue;
        if (!last)
            last = point;
        fm_canvas_line(canvas, fm_scale_fraction(x, last->x), fm_scale_height(y, last),
                       fm_scale_fraction(x, point->x), fm_scale_height(y, point));
        last = point;
    }
}

/* Lines of text above the canvas, in which the labels of steps find a free place. */
struct labels {
    char text[LABEL_ROWS][WIDEST + 1];
    unsigned width;
};

/* Sets the label so that it ends over its rule, on the first line where that is free. */
static void put_label(struct labels *labels, unsigned column, const char *label)
{
    const unsigned length = (unsigned)strlen(label);
    const unsigned end = column + 1 < length ? length : column + 1;
    if (end > labels->width)
        return;
    for (unsigned row = 0; row < LABEL_ROWS; row++) {
        char *line = labels->text[row];
        const unsigned start = end - length, before = start ? start - 1 : 0;
        const unsigned after = end < labels->width ? 1 : 0;
        if (strspn(line + before, " ") < end - before + after)
            continue;
        memcpy(line + start, label, length);
        return;
    }
}

static void mark_steps(struct fm_canvas *canvas, struct labels *labels,
                       const struct fm_curve *curve, const struct fm_scale *x)
{
    for (size_t i = 0; i < curve->step_count; i++) {
        const struct fm_step *step = &curve->steps[i];
        char name[FM_CELL], at[FM_CELL], label[FM_CELL * 2 + 2];
        /* A plateau that lasts to the end of the curve has no edge to mark. */
        if (!(step->x >= x->low && step->x < x->high))
            continue;
        fm_cell_value(&(struct fm_value){.kind = FM_VALUE_NUMBER, .number = step->x}, curve->x.unit,
                      at);
        fm_show(step->label, false, name, sizeof name);
        snprintf(label, sizeof label, "%s%s%s", name, *name ? " " : "", at);
        put_label(labels, fm_canvas_rule(canvas, fm_scale_fraction(x, step->x)), label);
    }
}

static void print_labels(FILE *out, struct labels *labels)
{
    for (unsigned row = LABEL_ROWS; row-- > 0;) {
        char *line = labels->text[row];
        size_t end = strlen(line);
        while (end && line[end - 1] == ' ')
            line[--end] = '\0';
        if (end)
            fprintf(out, "%*s%s\n", MARGIN, "", line);
    }
}

/* The number of the form 1, 2 or 5 times a power of ten that lies in the row, or 0. */
static double tick_in_row(const struct fm_scale *y, unsigned row)
{
    static const double steps[] = {1, 2, 5};
    const double top = pow(y->high / y->low, 1 - (row - 0.5) / (ROWS - 1)) * y->low;
    const double bottom = pow(y->high / y->low, 1 - (row + 0.5) / (ROWS - 1)) * y->low;
    const double decade = pow(10, floor(log10(bottom)));
    for (int power = 0; power < 2; power++)
        for (size_t i = 0; i < 3; i++) {
            const double tick = steps[i] * decade * (power ? 10 : 1);
            if (tick >= bottom && tick < top)
                return tick;
        }
    return 0;
}

static void print_rows(FILE *out, const struct fm_canvas *canvas, const struct fm_scale *y,
                       bool colour)
{
    for (unsigned row = 0; row < ROWS; row++) {
        const double tick = tick_in_row(y, row);
        char label[FM_CELL] = "";
        if (y->from_nothing && row == ROWS - 1)
            strcpy(label, "0");
        else if (tick > 0)
            snprintf(label, sizeof label, "%g", tick);
        fprintf(out, "%*s %s", MARGIN - 2, label,
                canvas->unicode ? (*label ? "┤" : "│") : (*label ? "+" : "|"));
        fm_canvas_row(canvas, out, row, colour);
    }
}

/* Ticks of the x axis lie a power of two apart, wide enough for their labels. */
static double tick_ratio(const struct fm_scale *x, unsigned columns)
{
    double ratio = 2;
    while (columns * log(ratio) / log(x->high / x->low) < 8)
        ratio *= 2;
    return ratio;
}

static void print_x_axis(FILE *out, const struct fm_curve *curve, const struct fm_scale *x,
                         unsigned columns, bool unicode)
{
    char text[WIDEST + FM_CELL], cell[FM_CELL];
    bool tick[WIDEST] = {false};
    const double ratio = tick_ratio(x, columns);
    unsigned free_from = 0;

    memset(text, ' ', sizeof text);
    for (double at = exp2(ceil(log2(x->low) - 1e-9)); at <= x->high * 1.0000001; at *= ratio) {
        const unsigned column = (unsigned)(fm_scale_fraction(x, at) * (columns - 1) + 0.5);
        fm_cell_value(&(struct fm_value){.kind = FM_VALUE_NUMBER, .number = at}, curve->x.unit,
                      cell);
        const unsigned length = (unsigned)strlen(cell);
        const unsigned start = column > length / 2 ? column - length / 2 : 0;
        tick[column] = true;
        if (start < free_from || start + length > columns)
            continue;
        memcpy(text + start, cell, length);
        free_from = start + length + 1;
    }
    text[free_from ? free_from - 1 : 0] = '\0';
    fprintf(out, "%*s%s", MARGIN - 1, "", unicode ? "└" : "+");
    for (unsigned i = 0; i < columns; i++)
        fputs(unicode ? (tick[i] ? "┬" : "─") : (tick[i] ? "+" : "-"), out);
    fprintf(out, "\n%*s%s\n", MARGIN, "", text);
}

/* "latency (ns)"; what is counted has no unit: "pages". */
static char *axis_text(const struct fm_axis *axis, char text[FM_CELL])
{
    const bool counted = !axis->unit[0];
    snprintf(text, FM_CELL, "%s%s%s%s", axis->name, counted ? "" : " (", axis->unit,
             counted ? "" : ")");
    return text;
}

static void print_title(FILE *out, const struct fm_curve *curve, unsigned width, bool colour)
{
    char text[256], x[FM_CELL], y[FM_CELL];
    snprintf(text, sizeof text, "%s: %s over %s", curve->id, axis_text(&curve->y, y),
             axis_text(&curve->x, x));
    if (colour)
        fputs("\033[1m", out);
    fm_fill(out, text, width, 0, 2);
    if (colour)
        fputs("\033[0m", out);
}

bool fm_report_plot(FILE *out, const struct fm_curve *curve, const struct fm_look *look,
                    struct fm_error *err)
{
    struct fm_canvas canvas;
    struct labels labels;
    struct fm_scale x, y;
    const unsigned width = look->width < NARROWEST ? NARROWEST
                           : look->width > WIDEST  ? WIDEST
                                                   : look->width;

    if (!fm_find_scales(curve, &x, &y))
        return fm_fail(err, FM_ERR_UNSUPPORTED,
                       "curve %s: nothing was measured: give it more time or memory", curve->id);
    if (!fm_canvas_open(&canvas, width - MARGIN, ROWS, look->unicode))
        return fm_fail(err, FM_ERR_NO_MEMORY, "curve %s: not enough memory to draw it", curve->id);
    memset(labels.text, ' ', sizeof labels.text);
    labels.width = canvas.columns;
    for (unsigned row = 0; row < LABEL_ROWS; row++)
        labels.text[row][labels.width] = '\0';

    draw_points(&canvas, curve, &x, &y);
    mark_steps(&canvas, &labels, curve, &x);
    print_title(out, curve, width, look->colour);
    print_labels(out, &labels);
    print_rows(out, &canvas, &y, look->colour);
    print_x_axis(out, curve, &x, canvas.columns, look->unicode);
    fm_canvas_close(&canvas);
    return true;
}
