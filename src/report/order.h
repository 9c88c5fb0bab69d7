/* The order of the rows of a table. */
#ifndef FM_REPORT_ORDER_H
#define FM_REPORT_ORDER_H

/* Below, at or above 0 where structure a stands before, beside or behind b: data TLBs before those
   of code; what has no qualifier first; levels from the core outward; of one level data, code, and
   what holds both. Names without a number are alike. */
int fm_order(const char *a, const char *b);

#endif
