/* How often random page placement overfills a set.
 *
 * A physically indexed cache of W ways holds W pages of each colour. Of P pages placed at random,
 * a page shares its colour with others by a binomial law; walked cyclically under LRU, the pages
 * of a colour all hit if there are at most W of them and all miss otherwise. So the expected miss
 * ratio is the chance that at least W of the other P - 1 pages share a page's colour. */
#ifndef FM_ANALYSIS_OCCUPANCY_H
#define FM_ANALYSIS_OCCUPANCY_H

#include <stdint.h>

/* Expected miss ratio of P pages in `colours` colours of `ways` ways; both at least 1. */
double fm_occupancy_misses(uint64_t pages, uint64_t colours, uint32_t ways);

/* The same where pages and colours are means and need not be whole. */
double fm_occupancy_misses_mean(double pages, double colours, uint32_t ways);

/* The same in the limit of many colours, for a footprint of `load` capacities: the chance that a
   Poisson variable of mean load * ways is at least ways. */
double fm_occupancy_misses_poisson(double load, uint32_t ways);

/* The most pages at which at most this part of the references misses, 0 < misses < 1. */
uint64_t fm_occupancy_pages(double misses, uint64_t colours, uint32_t ways);

/* In the limit of many colours: the footprint, in capacities, at which this part misses. */
double fm_occupancy_load(double misses, uint32_t ways);

#endif
