/* Results as JSON, schema fathom-result/1. */
#ifndef FM_FORMAT_JSON_RESULT_H
#define FM_FORMAT_JSON_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"
#include "core/result.h"
#include "format/json_out.h"

#define FM_RESULT_SCHEMA     "fathom-result/1"
#define FM_RESULT_FILE_LIMIT ((size_t)64 << 20)

/* The text of one result, or of an array of several; the caller frees it. NULL when memory is
   out. `version` is the program's. */
char *fm_result_to_json(const struct fm_result *result, const char *version);
char *fm_results_to_json(const struct fm_result *const *results, size_t count, const char *version);

/* Reads one result. Keys that are not known are passed over, so that newer files can be read; a
   known one of the wrong kind is an error (USAGE) that names file, place and remedy. On success
   *out is to be freed with fm_result_free; on failure it is left alone. */
bool fm_result_from_json(const char *text, size_t length, const char *name, struct fm_result *out,
                         struct fm_error *err);
bool fm_result_read(const char *path, struct fm_result *out, struct fm_error *err);

/* The objects that results and recordings share. */
void fm_json_value(struct fm_json *json, const char *key, const struct fm_value *value);
void fm_json_machine(struct fm_json *json, const char *key, const struct fm_machine_info *machine);
void fm_json_environment(struct fm_json *json, const char *key,
                         const struct fm_environment *environment);

#endif
