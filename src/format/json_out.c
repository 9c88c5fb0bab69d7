#include "format/json_out.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool fm_json_open(struct fm_json *json)
{
    *json = (struct fm_json){0};
    json->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!json->plain)
        return false;
    json->stream = open_memstream(&json->text, &json->length);
    if (!json->stream) {
        freelocale(json->plain);
        return false;
    }
    json->before = uselocale(json->plain);
    return true;
}

char *fm_json_close(struct fm_json *json)
{
    fputc('\n', json->stream);
    const bool failed = ferror(json->stream);
    uselocale(json->before);
    freelocale(json->plain);
    if (fclose(json->stream) == 0 && !failed)
        return json->text;
    free(json->text);
    return NULL;
}

/* Length of the UTF-8 character at text, 0 if it is none. */
static size_t character(const unsigned char *text)
{
    static const struct {
        unsigned char first, last, second_low, second_high;
        size_t length;
    } forms[] = {
        /* The second byte's range keeps out overlong forms, surrogates and what is past U+10FFFF.
         */
        {0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (text[0] < forms[i].first || text[0] > forms[i].last)
            continue;
        const size_t length = forms[i].length;
        if (length > 1 && (text[1] < forms[i].second_low || text[1] > forms[i].second_high))
            return 0;
        for (size_t k = 2; k < length; k++)
            if (text[k] < 0x80 || text[k] > 0xbf)
                return 0;
        return length;
    }
    return 0;
}

/* The code point of a character of up to three bytes; 0 of longer ones. */
static unsigned code_point(const unsigned char *text, size_t length)
{
    if (length == 2)
        return (text[0] & 0x1fu) << 6 | (text[1] & 0x3fu);
    if (length == 3)
        return (text[0] & 0x0fu) << 12 | (text[1] & 0x3fu) << 6 | (text[2] & 0x3fu);
    return length == 1 ? text[0] : 0;
}

/* What changes how a terminal or an editor shows the rest: controls, and marks of direction. */
static bool is_hidden(unsigned code)
{
    return (code >= 0x01 && code < 0x20) || (code >= 0x7f && code <= 0x9f) ||
           (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

static void write_string(FILE *stream, const char *text)
{
    fputc('"', stream);
    while (*text) {
        const size_t length = character((const unsigned char *)text);
        const unsigned code = code_point((const unsigned char *)text, length);
        if (*text == '"' || *text == '\\')
            fprintf(stream, "\\%c", *text);
        else if (is_hidden(code))
            fprintf(stream, "\\u%04x", code);
        else if (length)
            fwrite(text, 1, length, stream);
        else
            fputs("\\ufffd", stream);
        text += length ? length : 1;
    }
    fputc('"', stream);
}

static void begin_item(struct fm_json *json, const char *key)
{
    const unsigned depth = json->depth;
    if (json->has_items[depth])
        fputc(',', json->stream);
    if (depth && !json->inline_from[depth])
        fprintf(json->stream, "\n%*s", (int)(2 * depth), "");
    else if (json->has_items[depth])
        fputc(' ', json->stream);
    json->has_items[depth] = true;
    if (key) {
        write_string(json->stream, key);
        fputs(": ", json->stream);
    }
}

void fm_json_begin(struct fm_json *json, const char *key, char bracket, bool on_line)
{
    begin_item(json, key);
    fputc(bracket, json->stream);
    const bool outer = json->inline_from[json->depth];
    json->depth++;
    json->inline_from[json->depth] = on_line || outer;
    json->has_items[json->depth] = false;
}

void fm_json_end(struct fm_json *json, char bracket)
{
    const bool broken = json->has_items[json->depth] && !json->inline_from[json->depth];
    json->depth--;
    if (broken)
        fprintf(json->stream, "\n%*s", (int)(2 * json->depth), "");
    fputc(bracket, json->stream);
}

void fm_json_next_line(struct fm_json *json)
{
    fputc('\n', json->stream);
    json->has_items[0] = false;
}

void fm_json_null(struct fm_json *json, const char *key)
{
    begin_item(json, key);
    fputs("null", json->stream);
}

void fm_json_bool(struct fm_json *json, const char *key, bool truth)
{
    begin_item(json, key);
    fputs(truth ? "true" : "false", json->stream);
}

void fm_json_integer(struct fm_json *json, const char *key, uint64_t number)
{
    begin_item(json, key);
    fprintf(json->stream, "%" PRIu64, number);
}

void fm_json_number(struct fm_json *json, const char *key, double number)
{
    if (!isfinite(number)) {
        fm_json_null(json, key);
        return;
    }
    char digits[40];
    /* Sizes stay plain integers: below 2^53 every one of them is exact. */
    if (number == trunc(number) && fabs(number) <= 0x1p53) {
        snprintf(digits, sizeof digits, "%.0f", number);
    } else {
        int precision = 15;
        do
            snprintf(digits, sizeof digits, "%.*g", precision, number);
        while (strtod(digits, NULL) != number && ++precision <= 17);
    }
    begin_item(json, key);
    fputs(digits, json->stream);
}

void fm_json_text(struct fm_json *json, const char *key, const char *text)
{
    begin_item(json, key);
    write_string(json->stream, text);
}

void fm_json_optional(struct fm_json *json, const char *key, const char *text)
{
    if (*text)
        fm_json_text(json, key, text);
    else
        fm_json_null(json, key);
}
