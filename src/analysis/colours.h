/* How many colours pages fall into, by the part of their lines that misses a cache of known ways.
 */
#ifndef FM_ANALYSIS_COLOURS_H
#define FM_ANALYSIS_COLOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Means over placements at some footprints, ascending. */
struct fm_colour_points {
    const double *pages;  /* footprints, in pages; the last one may be there in part */
    const double *misses; /* part of the lines that misses */
    const double *weight; /* how many placements were seen */
    size_t n;
    uint32_t ways;
};

struct fm_colours {
    double colours;  /* a page has its lines where one in so many has; need not be whole */
    double residual; /* what means are off by, root mean square */
};

/* Expected part of the lines of a footprint that misses, of which the last page is there in part.
 */
double fm_colour_misses(double pages, double colours, uint32_t ways);

/* The footprint, in pages, at which that part misses. */
double fm_colour_pages(double misses, double colours, uint32_t ways);

/* Finds the colours that describe the means best. Those of which most lines miss are left out, as
   they may be of a level behind. False: too few are left. */
bool fm_fit_colours(const struct fm_colour_points *points, struct fm_colours *fit);

#endif
