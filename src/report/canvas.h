/* A field of dots finer than characters: braille has 2 x 4 in a cell, ASCII makes do with 1 x 2. */
#ifndef FM_REPORT_CANVAS_H
#define FM_REPORT_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct fm_canvas {
    unsigned columns, rows; /* in characters */
    bool unicode;
    unsigned char *dots; /* a bit for each dot of a cell */
    bool *ruled;         /* for each column: a vertical rule shows where no dot is */
};

/* False when memory is out. */
bool fm_canvas_open(struct fm_canvas *canvas, unsigned columns, unsigned rows, bool unicode);
void fm_canvas_close(struct fm_canvas *canvas);

/* A line between two places given as fractions of width and height, from the lower left. */
void fm_canvas_line(struct fm_canvas *canvas, double x0, double y0, double x1, double y1);

/* A vertical rule; gives the column it stands in. */
unsigned fm_canvas_rule(struct fm_canvas *canvas, double x);

/* Prints one row of characters, counted from the top, trailing blanks left out. */
void fm_canvas_row(const struct fm_canvas *canvas, FILE *out, unsigned row, bool colour);

#endif
