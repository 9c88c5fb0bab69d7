#include "format/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "format/yaml_tree.h"

/* A machine file nests four deep; more is no machine file and would only cost time. */
#define DEEPEST 8

static bool fail_line(const char *name, size_t line, struct fm_error *err, const char *what)
{
    return fm_fail(err, FM_ERR_USAGE, "%s:%zu: %s", fm_short_path(name), line, what);
}

static bool parser_failed(const yaml_parser_t *parser, const char *text, const char *name,
                          struct fm_error *err)
{
    if (parser->error == YAML_MEMORY_ERROR)
        return fm_fail(err, FM_ERR_NO_MEMORY, "%s: not enough memory to read it",
                       fm_short_path(name));
    /* The reader, which checks the encoding, knows an offset but no line. */
    const size_t line = parser->error == YAML_READER_ERROR
                            ? fm_line_of(text, parser->problem_offset)
                            : parser->problem_mark.line + 1;
    return fm_fail(err, FM_ERR_USAGE, "%s:%zu: not valid YAML: %s%s%s; write `key: value` lines",
                   fm_short_path(name), line, parser->problem ? parser->problem : "cannot be read",
                   parser->context ? " " : "", parser->context ? parser->context : "");
}

/* What YAML allows and a machine file has no use for; NULL if the event is fine. */
static const char *unwanted(const yaml_event_t *event, unsigned *depth, unsigned *documents)
{
    const char *tag = NULL, *anchor = NULL;
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return ++*documents > 1 ? "a second document begins; keep one machine in a file" : NULL;
    case YAML_ALIAS_EVENT:
        anchor = (const char *)event->data.alias.anchor;
        break;
    case YAML_SCALAR_EVENT:
        anchor = (const char *)event->data.scalar.anchor;
        tag = (const char *)event->data.scalar.tag;
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = (const char *)event->data.sequence_start.anchor;
        tag = (const char *)event->data.sequence_start.tag;
        ++*depth;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = (const char *)event->data.mapping_start.anchor;
        tag = (const char *)event->data.mapping_start.tag;
        ++*depth;
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        --*depth;
        break;
    default:
        break;
    }
    if (*depth > DEEPEST)
        return "nested too deeply; a machine file has lists of mappings and no more";
    if (anchor)
        return "anchors and aliases (&name, *name) are not supported; write the value out";
    return tag ? "tags (!name) are not supported; write the plain value" : NULL;
}

/* Looks at the events before a tree is built, so that no input can make the tree costly. */
static bool scan(const char *text, size_t length, const char *name, struct fm_error *err)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return fm_fail(err, FM_ERR_NO_MEMORY, "%s: not enough memory to read it", name);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    unsigned depth = 0, documents = 0;
    bool ok = true, done = false;
    while (ok && !done) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            ok = parser_failed(&parser, text, name, err);
            break;
        }
        const char *problem = unwanted(&event, &depth, &documents);
        if (problem)
            ok = fail_line(name, event.start_mark.line + 1, err, problem);
        done = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    if (ok && documents == 0)
        ok = fail_line(name, 1, err, "the file is empty; begin with `name: ...`");
    return ok;
}

static bool load(struct fm_yaml *yaml, const char *text, size_t length)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return fm_fail(yaml->err, FM_ERR_NO_MEMORY, "%s: not enough memory to read it", yaml->name);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    const bool ok = yaml_parser_load(&parser, &yaml->document);
    if (!ok)
        parser_failed(&parser, text, yaml->name, yaml->err);
    yaml_parser_delete(&parser);
    return ok;
}

struct fm_yaml *fm_yaml_open(const char *text, size_t length, const char *name,
                             struct fm_error *err)
{
    const char *nul = memchr(text, '\0', length);
    if (nul) {
        fail_line(name, fm_line_of(text, (size_t)(nul - text)), err,
                  "holds a NUL byte; a machine file is plain text");
        return NULL;
    }
    if (!scan(text, length, name, err))
        return NULL;
    struct fm_yaml *yaml = calloc(1, sizeof *yaml);
    if (!yaml) {
        fm_fail(err, FM_ERR_NO_MEMORY, "%s: not enough memory to read it", fm_short_path(name));
        return NULL;
    }
    yaml->name = name;
    yaml->err = err;
    if (!load(yaml, text, length)) {
        free(yaml);
        return NULL;
    }
    return yaml;
}

void fm_yaml_close(struct fm_yaml *yaml)
{
    if (!yaml)
        return;
    yaml_document_delete(&yaml->document);
    free(yaml);
}

const char *fm_yaml_show(const yaml_node_t *node, char buffer[FM_YAML_SHOWN])
{
    if (node->type == YAML_SEQUENCE_NODE)
        return "a list";
    if (node->type == YAML_MAPPING_NODE)
        return "a mapping";
    if (node->data.scalar.length == 0)
        return "an empty value";
    char text[FM_YAML_SHOWN - 2];
    fm_escape((const char *)node->data.scalar.value, node->data.scalar.length, text, sizeof text);
    const char quote = node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? '\'' : '"';
    snprintf(buffer, FM_YAML_SHOWN, "%c%s%c", quote, text, quote);
    return buffer;
}

yaml_node_t *fm_yaml_value(struct fm_yaml *yaml, const yaml_node_t *map, const char *key)
{
    if (!map || map->type != YAML_MAPPING_NODE)
        return NULL;
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
         p++) {
        const yaml_node_t *name = yaml_document_get_node(&yaml->document, p->key);
        if (name->type == YAML_SCALAR_NODE &&
            strcmp((const char *)name->data.scalar.value, key) == 0)
            return yaml_document_get_node(&yaml->document, p->value);
    }
    return NULL;
}

static bool complain(struct fm_yaml *yaml, const yaml_node_t *node, const char *path,
                     const char *format, va_list args)
{
    char message[512];
    vsnprintf(message, sizeof message, format, args);
    return fm_fail(yaml->err, FM_ERR_USAGE, "%s:%zu: %s%s%s", fm_short_path(yaml->name),
                   node->start_mark.line + 1, path, *path ? ": " : "", message);
}

bool fm_yaml_fail_at(struct fm_yaml *yaml, const yaml_node_t *node, const char *path,
                     const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(yaml, node, path, format, args);
    va_end(args);
    return false;
}

bool fm_yaml_fail(struct fm_yaml *yaml, const char *list, size_t index, const char *key,
                  const char *format, ...)
{
    char path[FM_YAML_PATH];
    const yaml_node_t *map = yaml_document_get_root_node(&yaml->document);
    const yaml_node_t *items = list ? fm_yaml_value(yaml, map, list) : NULL;
    /* One mapping may stand in place of a list of them. */
    if (items && index != FM_YAML_NO_INDEX && items->type == YAML_SEQUENCE_NODE) {
        map = yaml_document_get_node(&yaml->document, items->data.sequence.items.start[index]);
        snprintf(path, sizeof path, "%s[%zu].%s", list, index, key);
    } else if (items) {
        map = items;
        snprintf(path, sizeof path, "%s.%s", list, key);
    } else {
        snprintf(path, sizeof path, "%s", key);
    }
    const yaml_node_t *node = fm_yaml_value(yaml, map, key);
    va_list args;
    va_start(args, format);
    complain(yaml, node ? node : map, path, format, args);
    va_end(args);
    return false;
}
