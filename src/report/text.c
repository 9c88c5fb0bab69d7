#include "report/text.h"

#include <stdint.h>
#include <string.h>

/* Decodes one character of UTF-8; gives its length, or 0 for what is not UTF-8 (cut short,
   overlong, a surrogate, beyond Unicode). */
static size_t decode(const unsigned char *text, uint32_t *point)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};

    for (size_t extra = 0; extra < 4; extra++) {
        if ((text[0] & forms[extra].mask) != forms[extra].lead)
            continue;
        uint32_t value = text[0] & (unsigned char)~forms[extra].mask;
        for (size_t i = 1; i <= extra; i++) {
            if ((text[i] & 0xc0) != 0x80)
                return 0;
            value = value << 6 | (text[i] & 0x3f);
        }
        if (value < forms[extra].least || value > 0x10ffff || (value & 0xfffff800) == 0xd800)
            return 0;
        *point = value;
        return extra + 1;
    }
    return 0;
}

static bool is_harmless(uint32_t point, bool unicode)
{
    if (point < 0x20 || point == 0x7f)
        return false;
    if (point < 0x7f)
        return true;
    if (!unicode || point < 0xa0)
        return false;
    /* Separators of lines, byte order marks, and marks that reverse the order of what is read. */
    return !(point >= 0x200b && point <= 0x200f) && !(point >= 0x2028 && point <= 0x202e) &&
           !(point >= 0x2060 && point <= 0x206f) && point != 0xfeff;
}

char *fm_show(const char *text, bool unicode, char *out, size_t space)
{
    const unsigned char *in = (const unsigned char *)text;
    size_t used = 0;

    while (*in) {
        uint32_t point = 0;
        const size_t length = decode(in, &point);
        char escaped[5];
        const char *piece = (const char *)in;
        size_t size = length;
        if (length == 0 || !is_harmless(point, unicode)) {
            snprintf(escaped, sizeof escaped, "\\x%02x", *in);
            piece = escaped;
            size = 4;
        }
        if (used + size >= space)
            break;
        memcpy(out + used, piece, size);
        used += size;
        in += piece == escaped ? 1 : length;
    }
    out[used] = '\0';
    return out;
}

/* Counts the bytes that begin a character. */
size_t fm_columns_of(const char *text, size_t length)
{
    size_t columns = 0;
    for (size_t i = 0; i < length; i++)
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

size_t fm_columns(const char *text)
{
    return fm_columns_of(text, strlen(text));
}

void fm_fill(FILE *out, const char *text, unsigned width, unsigned at, unsigned indent)
{
    size_t column = at;
    bool fresh = true; /* nothing on this line yet that needs a blank after it */

    while (*(text += strspn(text, " "))) {
        const size_t length = strcspn(text, " ");
        const size_t columns = fm_columns_of(text, length);
        if (!fresh && column + 1 + columns > width) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
            fresh = true;
        }
        fprintf(out, "%s%.*s", fresh ? "" : " ", (int)length, text);
        column += columns + !fresh;
        fresh = false;
        text += length;
    }
    putc('\n', out);
}
