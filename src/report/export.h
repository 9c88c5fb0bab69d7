/* Results for other programs: what each wants to be told, in its own words. Nothing undetermined is
 * given a value: it is left out, and a line says so. */
#ifndef FM_REPORT_EXPORT_H
#define FM_REPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/error.h"
#include "core/result.h"

/* What an exporter writes to. */
struct fm_export_page {
    const struct fm_result *result;
    const char *version; /* the program's */
    FILE *out;
    FILE *left_out; /* a line for everything that is missing, and why */
    size_t told;    /* how many values went out */
};

/* One program that results can be given to. */
struct fm_export {
    const char *name;   /* what --to takes */
    const char *writes; /* in a few words */
    void (*write)(struct fm_export_page *page);
};

extern const struct fm_export fm_export_gcc, fm_export_clang, fm_export_c_header, fm_export_env,
    fm_export_hwloc_xml, fm_export_cachegrind, fm_export_kerncraft, fm_export_html;

/* The exporters, ending with NULL. */
extern const struct fm_export *const fm_exports[];

/* NULL when there is none of that name. */
const struct fm_export *fm_export_find(const char *name);

/* A line for the left_out page: what is missing in the output, and why. */
void fm_export_leave_out(struct fm_export_page *page, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The finding of a property when it was measured; NULL otherwise, and then the line above says that
   `what` is missing. what may be NULL: nothing is said. */
const struct fm_finding *fm_export_want(struct fm_export_page *page, const char *structure,
                                        const char *attribute, const char *what);

/* The same for what must be a number. */
bool fm_export_number(struct fm_export_page *page, const char *structure, const char *attribute,
                      const char *what, double *number);

/* How a cache is built. A member is 0 where it is not known. */
struct fm_geometry {
    double size; /* sets x ways x line */
    double line, ways, sets;
};

/* The geometry of a cache. Its size is the physical capacity; a first level's effective one is the
   same where it was found to the byte. Without `what` nothing is said of what is missing. */
struct fm_geometry fm_export_geometry(struct fm_export_page *page, const char *cache,
                                      const char *what);

/* The data cache of a level (1 to FM_CACHE_LEVELS): "l1d", "l2", or "l2d" where it is split; NULL
   when the result says nothing of it, or that there is none. */
const char *fm_export_level(const struct fm_result *result, unsigned level);

/* The last of them; 0 when there is none. */
unsigned fm_export_last_level(const struct fm_result *result);

/* A number in C, shell, XML and YAML alike: whole where it is whole. Returns cell. */
#define FM_EXPORT_CELL 64
char *fm_export_cell(double number, char cell[FM_EXPORT_CELL]);

#endif
