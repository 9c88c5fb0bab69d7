/* A YAML file read into a struct by a table of fields; every complaint names file, line and key.
 *
 * libyaml is used directly: geometry is checked after the whole file is read, and the message
 * still has to name the line, which a schema-to-struct reader no longer knows by then. */
#ifndef FM_FORMAT_YAML_H
#define FM_FORMAT_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

enum fm_field_kind {
    FM_FIELD_TEXT,
    FM_FIELD_SIZE,   /* "32KiB" */
    FM_FIELD_COUNT,  /* "8" */
    FM_FIELD_WAYS,   /* a count, or "full", which is stored as FM_WAYS_FULL */
    FM_FIELD_NUMBER, /* "2.5" */
    FM_FIELD_BOOL,
    FM_FIELD_WORD,  /* one of `words`; its place in the list is stored */
    FM_FIELD_WORDS, /* a list of `words`; bit i is set for word i */
    FM_FIELD_SIZES, /* a list of sizes; their number goes to count_offset */
    FM_FIELD_MAP,   /* another table of fields */
    FM_FIELD_MAPS,  /* a list of such; their number goes to count_offset */
    FM_FIELD_SOME,  /* the same, and one alone needs no list */
    FM_FIELD_POLICY /* a word of core/replacement.h; its enum is stored */
};

#define FM_WAYS_FULL UINT32_MAX

struct fm_field {
    const char *key; /* NULL ends a table, which may have up to 32 */
    enum fm_field_kind kind;
    bool required;
    size_t offset, size;           /* of the member; size 0: checked, not stored */
    double low, high;              /* the range allowed, both included; both 0: any */
    const char *const *words;      /* ends with NULL */
    const struct fm_field *fields; /* of a map */
    size_t count_offset, slots;    /* of a list: where its length goes, the most it may have */
};

struct fm_yaml;

/* The file as a tree; NULL with err filled when it is none. `name` stands in the messages and must
   outlive the tree. */
struct fm_yaml *fm_yaml_open(const char *text, size_t length, const char *name,
                             struct fm_error *err);
void fm_yaml_close(struct fm_yaml *yaml);

/* Fills *out by the table; members of keys that are absent are left as they are. */
bool fm_yaml_read(struct fm_yaml *yaml, const struct fm_field *fields, void *out);

/* Complains about `key` of the mapping at `list`[index], or at `list` where index is
   FM_YAML_NO_INDEX, or at the top where list is NULL. Always false. */
#define FM_YAML_NO_INDEX SIZE_MAX
bool fm_yaml_fail(struct fm_yaml *yaml, const char *list, size_t index, const char *key,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
