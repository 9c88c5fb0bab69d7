/* Shared by the files that read YAML, and by nobody else. */
#ifndef FM_FORMAT_YAML_TREE_H
#define FM_FORMAT_YAML_TREE_H

#include <yaml.h>

#include "format/yaml.h"

struct fm_yaml {
    yaml_document_t document;
    const char *name;
    struct fm_error *err;
};

/* "caches[1].ways"; cut rather than refused when it gets longer. */
#define FM_YAML_PATH 96

/* Complains at a node. Always false. */
bool fm_yaml_fail_at(struct fm_yaml *yaml, const yaml_node_t *node, const char *path,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The value of a key, or NULL. */
yaml_node_t *fm_yaml_value(struct fm_yaml *yaml, const yaml_node_t *map, const char *key);

/* A node's text for a message: 'eight', or "a list". */
#define FM_YAML_SHOWN 48
const char *fm_yaml_show(const yaml_node_t *node, char buffer[FM_YAML_SHOWN]);

#endif
