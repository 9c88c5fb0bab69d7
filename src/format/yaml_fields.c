#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/replacement.h"
#include "core/units.h"
#include "format/yaml.h"
#include "format/yaml_tree.h"

static bool read_map(struct fm_yaml *yaml, const yaml_node_t *node, const char *path,
                     const struct fm_field *fields, void *out);

/* What would be right, for the end of a message. */
static const char *remedy(const struct fm_field *field, char *buffer, size_t space)
{
    static const char *const plain[] = {
        [FM_FIELD_TEXT] = "a short text on one line",
        [FM_FIELD_SIZE] = "a size such as 64, 32KiB or 1.25MiB",
        [FM_FIELD_COUNT] = "a plain count such as 8",
        [FM_FIELD_WAYS] = "a plain count such as 8, or full",
        [FM_FIELD_NUMBER] = "a number such as 4 or 2.5",
        [FM_FIELD_BOOL] = "true or false",
        [FM_FIELD_SIZES] = "a list of sizes such as [4KiB, 2MiB]",
        [FM_FIELD_MAP] = "a mapping such as { key: value }",
        [FM_FIELD_MAPS] = "a list of mappings such as - { key: value }",
        [FM_FIELD_SOME] = "a mapping such as { key: value }, or a list of these",
    };
    if (field->kind == FM_FIELD_POLICY) {
        snprintf(buffer, space, "one of: %s", fm_replacement_words);
        return buffer;
    }
    if (field->kind != FM_FIELD_WORD && field->kind != FM_FIELD_WORDS)
        return plain[field->kind];
    const bool list = field->kind == FM_FIELD_WORDS;
    size_t used = (size_t)snprintf(buffer, space, "%s", list ? "a list of any of: " : "one of: ");
    for (size_t i = 0; field->words[i] && used < space; i++)
        used +=
            (size_t)snprintf(buffer + used, space - used, "%s%s", i ? ", " : "", field->words[i]);
    return buffer;
}

static bool wrong(struct fm_yaml *yaml, const yaml_node_t *node, const char *path,
                  const struct fm_field *field)
{
    char shown[FM_YAML_SHOWN], right[160];
    return fm_yaml_fail_at(yaml, node, path, "%s is wrong here; write %s",
                           fm_yaml_show(node, shown), remedy(field, right, sizeof right));
}

static void store_integer(const struct fm_field *field, void *out, uint64_t value)
{
    const uint32_t narrow = (uint32_t)value;
    const bool truth = value != 0;
    const void *from = field->size == 8 ? (const void *)&value : &narrow;
    memcpy((char *)out + field->offset, field->kind == FM_FIELD_BOOL ? &truth : from, field->size);
}

static bool in_range(struct fm_yaml *yaml, const yaml_node_t *node, const char *path,
                     const struct fm_field *field, double value)
{
    const bool any = field->low == 0 && field->high == 0;
    if (any || (value >= field->low && value <= field->high))
        return true;
    char shown[FM_YAML_SHOWN];
    return fm_yaml_fail_at(yaml, node, path,
                           "%s is out of range; write a value from %.10g to %.10g",
                           fm_yaml_show(node, shown), field->low, field->high);
}

static size_t word_index(const char *const *words, const char *text)
{
    size_t i = 0;
    while (words[i] && strcmp(words[i], text) != 0)
        i++;
    return i;
}

static bool read_text(struct fm_yaml *yaml, const yaml_node_t *node, const char *path,
                      const struct fm_field *field, void *out)
{
    const char *text = (const char *)node->data.scalar.value;
    const size_t length = node->data.scalar.length;
    bool one_line = length > 0;
    for (size_t i = 0; i < length; i++)
        one_line = one_line && (unsigned char)text[i] >= 0x20 && text[i] != 0x7f;
    if (!one_line)
        return wrong(yaml, node, path, field);
    if (!field->size)
        return true;
    if (length >= field->size)
        return fm_yaml_fail_at(yaml, node, path, "is %zu bytes long; write at most %zu", length,
                               field->size - 1);
    memcpy((char *)out + field->offset, text, length + 1);
    return true;
}

/* The integer a scalar of this kind stands for. */
static bool parse_integer(const struct fm_field *field, const char *text, uint64_t *value)
{
    switch (field->kind) {
    case FM_FIELD_SIZE:
        return fm_parse_size(text, value);
    case FM_FIELD_WAYS:
        if (strcmp(text, "full") == 0) {
            *value = FM_WAYS_FULL;
            return true;
        }
        return fm_parse_count(text, value) && *value < FM_WAYS_FULL;
    case FM_FIELD_COUNT:
        return fm_parse_count(text, value);
    case FM_FIELD_POLICY: {
        enum fm_replacement replacement;
        const bool known = fm_replacement_parse(text, &replacement);
        *value = replacement;
        return known;
    }
    case FM_FIELD_BOOL:
        *value = strcmp(text, "true") == 0;
        return *value || strcmp(text, "false") == 0;
    default:
        *value = word_index(field->words, text);
        return field->words[*value] != NULL;
    }
}

static bool read_scalar(struct fm_yaml *yaml, const yaml_node_t *node, const char *path,
                        const struct fm_field *field, void *out)
{
    if (node->type != YAML_SCALAR_NODE)
        return wrong(yaml, node, path, field);
    if (field->kind == FM_FIELD_TEXT)
        return read_text(yaml, node, path, field, out);
    const char *text = (const char *)node->data.scalar.value;
    const bool whole = strlen(text) == node->data.scalar.length;
    if (node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE || !whole)
        return wrong(yaml, node, path, field);
    if (field->kind == FM_FIELD_NUMBER) {
        double number;
        if (!fm_parse_number(text, &number))
            return wrong(yaml, node, path, field);
        if (!in_range(yaml, node, path, field, number))
            return false;
        if (field->size)
            memcpy((char *)out + field->offset, &number, sizeof number);
        return true;
    }
    uint64_t value;
    if (!parse_integer(field, text, &value))
        return wrong(yaml, node, path, field);
    const bool full = field->kind == FM_FIELD_WAYS && value == FM_WAYS_FULL;
    if (!full && !in_range(yaml, node, path, field, (double)value))
        return false;
    store_integer(field, out, value);
    return true;
}

static bool read_words(struct fm_yaml *yaml, const yaml_node_t *node, const char *path,
                       const struct fm_field *field, void *out)
{
    unsigned bits = 0;
    for (yaml_node_item_t *item = node->data.sequence.items.start;
         item < node->data.sequence.items.top; item++) {
        const yaml_node_t *word = yaml_document_get_node(&yaml->document, *item);
        const size_t index = word->type == YAML_SCALAR_NODE
                                 ? word_index(field->words, (const char *)word->data.scalar.value)
                                 : 0;
        if (word->type != YAML_SCALAR_NODE || !field->words[index])
            return wrong(yaml, word, path, field);
        bits |= 1u << index;
    }
    memcpy((char *)out + field->offset, &bits, sizeof bits);
    return true;
}

/* Elements go one behind the other; `field` describes the whole array. */
static bool read_list(struct fm_yaml *yaml, const yaml_node_t *node, const char *path,
                      const struct fm_field *field, void *out)
{
    const size_t count = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
    if (count > field->slots || count == 0)
        return fm_yaml_fail_at(yaml, node, path, "has %zu entries; write 1 to %zu%s", count,
                               field->slots, field->required ? "" : ", or leave the key out");
    const size_t width = field->size / field->slots;
    for (size_t i = 0; i < count; i++) {
        char item_path[FM_YAML_PATH];
        snprintf(item_path, sizeof item_path, "%s[%zu]", path, i);
        const yaml_node_t *item =
            yaml_document_get_node(&yaml->document, node->data.sequence.items.start[i]);
        char *slot = (char *)out + field->offset + i * width;
        const struct fm_field size = {
            .kind = FM_FIELD_SIZE, .size = width, .low = field->low, .high = field->high};
        if (field->kind != FM_FIELD_SIZES ? !read_map(yaml, item, item_path, field->fields, slot)
                                          : !read_scalar(yaml, item, item_path, &size, slot))
            return false;
    }
    memcpy((char *)out + field->count_offset, &count, sizeof count);
    return true;
}

static bool read_value(struct fm_yaml *yaml, const yaml_node_t *node, const char *path,
                       const struct fm_field *field, void *out)
{
    switch (field->kind) {
    case FM_FIELD_MAP:
        return read_map(yaml, node, path, field->fields, (char *)out + field->offset);
    case FM_FIELD_SOME:
        if (node->type == YAML_MAPPING_NODE) {
            const size_t one = 1;
            memcpy((char *)out + field->count_offset, &one, sizeof one);
            return read_map(yaml, node, path, field->fields, (char *)out + field->offset);
        }
        /* fall through */
    case FM_FIELD_WORDS:
    case FM_FIELD_SIZES:
    case FM_FIELD_MAPS:
        if (node->type != YAML_SEQUENCE_NODE)
            return wrong(yaml, node, path, field);
        return field->kind == FM_FIELD_WORDS ? read_words(yaml, node, path, field, out)
                                             : read_list(yaml, node, path, field, out);
    default:
        return read_scalar(yaml, node, path, field, out);
    }
}

static bool unknown_key(struct fm_yaml *yaml, const yaml_node_t *key, const char *path,
                        const struct fm_field *fields)
{
    char shown[FM_YAML_SHOWN], known[256];
    size_t used = 0;
    for (size_t i = 0; fields[i].key && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                 fields[i].key);
    return fm_yaml_fail_at(yaml, key, path, "%s is no key here; known are %s",
                           fm_yaml_show(key, shown), known);
}

static bool read_pair(struct fm_yaml *yaml, const yaml_node_pair_t *pair, const char *path,
                      const struct fm_field *fields, void *out, uint32_t *seen)
{
    const yaml_node_t *key = yaml_document_get_node(&yaml->document, pair->key);
    size_t i = 0;
    if (key->type != YAML_SCALAR_NODE)
        return unknown_key(yaml, key, path, fields);
    while (fields[i].key && strcmp(fields[i].key, (const char *)key->data.scalar.value) != 0)
        i++;
    if (!fields[i].key)
        return unknown_key(yaml, key, path, fields);
    char value_path[FM_YAML_PATH];
    snprintf(value_path, sizeof value_path, "%s%s%s", path, *path ? "." : "", fields[i].key);
    if (*seen & 1u << i)
        return fm_yaml_fail_at(yaml, key, value_path, "stands here twice; keep one");
    *seen |= 1u << i;
    const yaml_node_t *value = yaml_document_get_node(&yaml->document, pair->value);
    return read_value(yaml, value, value_path, &fields[i], out);
}

static bool read_map(struct fm_yaml *yaml, const yaml_node_t *node, const char *path,
                     const struct fm_field *fields, void *out)
{
    char shown[FM_YAML_SHOWN], right[160];
    if (node->type != YAML_MAPPING_NODE)
        return fm_yaml_fail_at(yaml, node, path, "%s is wrong here; write a mapping of %s: ...",
                               fm_yaml_show(node, shown), fields[0].key);
    uint32_t seen = 0;
    for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top;
         p++)
        if (!read_pair(yaml, p, path, fields, out, &seen))
            return false;
    for (size_t i = 0; fields[i].key; i++)
        if (fields[i].required && !(seen & 1u << i))
            return fm_yaml_fail_at(yaml, node, path, "the key '%s' is missing; give it %s",
                                   fields[i].key, remedy(&fields[i], right, sizeof right));
    return true;
}

bool fm_yaml_read(struct fm_yaml *yaml, const struct fm_field *fields, void *out)
{
    return read_map(yaml, yaml_document_get_root_node(&yaml->document), "", fields, out);
}
