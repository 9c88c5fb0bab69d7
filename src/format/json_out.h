/* JSON written as people like to read it: short numbers, a point of a curve on one line.
 *
 * jansson reads our JSON; it does not write it, since it prints 0.1 as 0.10000000000000001 and
 * gives every number of a curve a line of its own. */
#ifndef FM_FORMAT_JSON_OUT_H
#define FM_FORMAT_JSON_OUT_H

#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define FM_JSON_DEPTH 16

struct fm_json {
    FILE *stream;
    char *text;
    size_t length;
    locale_t plain, before; /* numbers have a decimal point whatever the user's locale */
    unsigned depth;
    bool inline_from[FM_JSON_DEPTH]; /* this level is written on one line */
    bool has_items[FM_JSON_DEPTH];
};

/* False when memory is out; nothing is then to be closed. */
bool fm_json_open(struct fm_json *json);

/* The whole text, to be freed by the caller; NULL when memory ran out on the way. */
char *fm_json_close(struct fm_json *json);

/* Ends the line at the top, so that another value may follow (JSON lines). */
void fm_json_next_line(struct fm_json *json);

/* In an array, key is NULL. `on_line` keeps the whole of it on one line. */
void fm_json_begin(struct fm_json *json, const char *key, char bracket, bool on_line);
void fm_json_end(struct fm_json *json, char bracket);

void fm_json_null(struct fm_json *json, const char *key);
void fm_json_bool(struct fm_json *json, const char *key, bool truth);
void fm_json_integer(struct fm_json *json, const char *key, uint64_t number);

/* The shortest decimal that reads back as the same double; null where it is not finite. */
void fm_json_number(struct fm_json *json, const char *key, double number);

/* Bytes that are no UTF-8 become U+FFFD. */
void fm_json_text(struct fm_json *json, const char *key, const char *text);

/* The text, or null where it is empty. */
void fm_json_optional(struct fm_json *json, const char *key, const char *text);

#endif
