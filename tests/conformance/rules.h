/* When a survey agrees with the papers. */
#ifndef FM_TESTS_RULES_H
#define FM_TESTS_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "found.h"
#include "published.h"

#define WHY_TEXT 256

/* Whether all rules hold for a level (0 is L1) of a machine; `why` lists those that do not. Where
   the table is silent about a line or about ways, the machine file says what is to be found. */
bool level_holds(const struct published_machine *machine, const struct found *found, size_t level,
                 char why[WHY_TEXT]);

#endif
