/* Values as people read them. */
#ifndef FM_REPORT_VALUES_H
#define FM_REPORT_VALUES_H

#include <stddef.h>

#include "core/result.h"

#define FM_CELL 64

/* "64K", "1.25M", "48": sizes as lscpu writes them. Returns cell. */
char *fm_cell_size(double bytes, char cell[FM_CELL]);

/* A value in short: a size, "1.54ns", "4.0" cycles, "8", "full", "yes"; empty when not known. */
char *fm_cell_value(const struct fm_value *value, const char *unit, char cell[FM_CELL]);

/* A finding in short: "?" when undetermined, "-" when there is none (NULL too). */
char *fm_cell_finding(const struct fm_finding *finding, char cell[FM_CELL]);

/* "650K-760K"; empty when both ends look the same or are not known. */
char *fm_cell_range(const struct fm_finding *finding, char cell[FM_CELL]);

/* A number in the fewest digits that read back as the same number. */
char *fm_cell_number(double number, char cell[FM_CELL]);

/* "2.60 GHz", "133 MHz", of a clock in GHz. */
char *fm_cell_clock(double ghz, char cell[FM_CELL]);

/* "70000", "28.6 million". */
char *fm_cell_count(double count, char cell[FM_CELL]);

/* "1.52 GB/s", of bytes per second, in powers of 1000 as bandwidths are told. */
char *fm_cell_rate(double bytes_per_s, char cell[FM_CELL]);

/* "+66%", "x4", "1/16", "x0.35": what one value is to another. */
char *fm_cell_change(double ratio, char cell[FM_CELL]);

/* The structure in a property's name, for a heading: "l1d.line" gives "L1d", "dtlb1@2MiB.ways"
   "DTLB1@2MiB", "memory.latency" "Memory". */
char *fm_cell_structure(const char *property, char cell[FM_CELL]);

#endif
