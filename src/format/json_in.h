/* JSON read strictly: a value of the wrong kind is an error that names file, place and remedy.
 * jansson knows lines only while it parses; afterwards the place is a path: findings[3].value. */
#ifndef FM_FORMAT_JSON_IN_H
#define FM_FORMAT_JSON_IN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/machine.h"
#include "core/result.h"

#define FM_JSON_PATH 96

/* Where we are in a file, for messages. */
struct fm_json_place {
    const char *name; /* of the file */
    struct fm_error *err;
    char path[FM_JSON_PATH]; /* "" at the top */
};

/* Parses text; NULL with err filled when it is no JSON. Numbers all become reals. */
json_t *fm_json_parse(const char *text, size_t length, const char *name, struct fm_error *err);

/* Complains about key at the place. Always false. */
bool fm_json_fail(const struct fm_json_place *place, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The place of an element of the array at key. */
struct fm_json_place fm_json_within(const struct fm_json_place *place, const char *key,
                                    size_t index);

/* The member at key if it is an object or array; otherwise NULL with err filled. */
json_t *fm_json_object(const struct fm_json_place *place, json_t *object, const char *key);
json_t *fm_json_array(const struct fm_json_place *place, json_t *object, const char *key);

bool fm_json_get_bool(const struct fm_json_place *place, json_t *object, const char *key,
                      bool *truth);
bool fm_json_get_number(const struct fm_json_place *place, json_t *object, const char *key,
                        double *number);

/* Null or absent reads as "". */
bool fm_json_get_text(const struct fm_json_place *place, json_t *object, const char *key,
                      char *text, size_t space);

/* Null or absent reads as FM_VALUE_NONE. `key` names the value in messages. */
bool fm_json_to_value(const struct fm_json_place *place, json_t *json, const char *key,
                      struct fm_value *value);

/* The objects that results and recordings share. */
bool fm_json_get_machine(const struct fm_json_place *place, json_t *object, const char *key,
                         struct fm_machine_info *machine);
bool fm_json_get_environment(const struct fm_json_place *place, json_t *object, const char *key,
                             struct fm_environment *environment);

#endif
