/* The knees that a fit tries, as tables: it asks each for its misses many thousand times. */
#ifndef FM_ANALYSIS_KNEE_TABLE_H
#define FM_ANALYSIS_KNEE_TABLE_H

#include <stddef.h>

#include "analysis/known_knee.h"

struct fm_knee_table;

/* For pages of that many bytes. NULL when memory is out. */
struct fm_knee_table *fm_knee_table_new(double page);
void fm_knee_table_free(struct fm_knee_table *table);

/* Adds the sorts that are left of a knee of which more is known: from the one returned on, as many
   as it has choices. */
size_t fm_knee_table_add(struct fm_knee_table *table, const struct fm_known_knee *known);

/* How many sorts of knees there are in any table, and how many of them tell the rough ones apart.
 */
size_t fm_knee_sorts(void);
size_t fm_knee_rough_sorts(void);
/* A sort that is neither very sharp nor very soft. */
size_t fm_knee_middle_sort(void);

/* The knee of a sort at a capacity. */
struct fm_knee fm_knee_of_sort(const struct fm_knee_table *table, size_t sort, double capacity);

/* Its misses at n footprints, given by their logarithms, of which only so much comes to it (NULL:
   all). */
void fm_knee_table_misses(const struct fm_knee_table *table, size_t sort, double capacity,
                          const double *log_bytes, const double *comes, size_t n, double *misses);

#endif
