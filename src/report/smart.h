/* The little of libsmartcols that every table here needs. */
#ifndef FM_REPORT_SMART_H
#define FM_REPORT_SMART_H

#include <libsmartcols.h>
#include <stdio.h>

#include "report/report.h"

/* A table that prints to out in the look's width; NULL when memory is out. */
struct libscols_table *fm_smart_table(FILE *out, const struct fm_look *look);

#endif
