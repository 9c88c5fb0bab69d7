#include "report/canvas.h"

#include <math.h>
#include <stdlib.h>

static unsigned dots_across(const struct fm_canvas *canvas)
{
    return canvas->unicode ? 2 : 1;
}

static unsigned dots_down(const struct fm_canvas *canvas)
{
    return canvas->unicode ? 4 : 2;
}

bool fm_canvas_open(struct fm_canvas *canvas, unsigned columns, unsigned rows, bool unicode)
{
    *canvas = (struct fm_canvas){.columns = columns, .rows = rows, .unicode = unicode};
    canvas->dots = calloc(columns, rows);
    canvas->ruled = calloc(columns, sizeof *canvas->ruled);
    if (canvas->dots && canvas->ruled)
        return true;
    fm_canvas_close(canvas);
    return false;
}

void fm_canvas_close(struct fm_canvas *canvas)
{
    free(canvas->dots);
    free(canvas->ruled);
    canvas->dots = NULL;
    canvas->ruled = NULL;
}

/* A fraction as one of `count` places, kept inside. */
static unsigned place(double fraction, unsigned count)
{
    const double at = fraction * (count - 1) + 0.5;
    return at < 0 ? 0 : at >= count ? count - 1 : (unsigned)at;
}

static void dot(struct fm_canvas *canvas, double x, double y)
{
    /* Braille numbers its dots by column, and the fourth row was added later. */
    static const unsigned char braille[4][2] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    const unsigned across = dots_across(canvas), down = dots_down(canvas);
    const unsigned i = place(x, canvas->columns * across);
    const unsigned j = place(1 - y, canvas->rows * down);
    canvas->dots[j / down * canvas->columns + i / across] |= braille[j % down][i % across];
}

void fm_canvas_line(struct fm_canvas *canvas, double x0, double y0, double x1, double y1)
{
    const double wide = fabs(x1 - x0) * canvas->columns * dots_across(canvas);
    const double high = fabs(y1 - y0) * canvas->rows * dots_down(canvas);
    const unsigned steps = (unsigned)fmax(1, ceil(fmax(wide, high)));
    for (unsigned i = 0; i <= steps; i++) {
        const double t = (double)i / steps;
        dot(canvas, x0 + t * (x1 - x0), y0 + t * (y1 - y0));
    }
}

unsigned fm_canvas_rule(struct fm_canvas *canvas, double x)
{
    const unsigned across = dots_across(canvas);
    const unsigned column = place(x, canvas->columns * across) / across;
    canvas->ruled[column] = true;
    return column;
}

/* What a cell is, and how a terminal is told: the curve stands out, rules stay behind it. */
enum ink { INK_NONE, INK_RULE, INK_CURVE };
static const char *const inks[] = {"\033[0m", "\033[2m", "\033[36m"};

static enum ink ink_of(const struct fm_canvas *canvas, unsigned row, unsigned column)
{
    if (canvas->dots[row * canvas->columns + column])
        return INK_CURVE;
    return canvas->ruled[column] ? INK_RULE : INK_NONE;
}

static void print_cell(const struct fm_canvas *canvas, FILE *out, unsigned row, unsigned column)
{
    const unsigned char dots = canvas->dots[row * canvas->columns + column];
    if (!dots)
        fputs(!canvas->ruled[column] ? " " : canvas->unicode ? "┊" : "|", out);
    else if (canvas->unicode) /* U+2800 and the dots, as UTF-8 */
        fprintf(out, "\xe2%c%c", 0xa0 | dots >> 6, 0x80 | (dots & 0x3f));
    else
        putc(dots == 1 ? '\'' : dots == 2 ? '.' : ':', out);
}

void fm_canvas_row(const struct fm_canvas *canvas, FILE *out, unsigned row, bool colour)
{
    unsigned end = canvas->columns;
    enum ink last = INK_NONE;
    while (end && ink_of(canvas, row, end - 1) == INK_NONE)
        end--;
    for (unsigned column = 0; column < end; column++) {
        const enum ink ink = ink_of(canvas, row, column);
        if (colour && ink != last) /* from the plain, since faintness would last */
            fprintf(out, "%s%s", inks[INK_NONE], ink == INK_NONE ? "" : inks[ink]);
        last = ink;
        print_cell(canvas, out, row, column);
    }
    if (colour && last != INK_NONE)
        fputs(inks[INK_NONE], out);
    putc('\n', out);
}
