/* Stands in for the bundled page in a build without it. */
#include "report/template.h"

const struct fm_template fm_template = {.before = NULL};
