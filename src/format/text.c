#include "format/text.h"

#include <stdio.h>
#include <string.h>

#define PATH_SHOWN 200

char *fm_escape(const char *text, size_t length, char *buffer, size_t space)
{
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        const int plain = c >= 0x20 && c < 0x7f;
        if (used + (plain ? 1 : 4) + sizeof "..." > space) {
            used += (size_t)snprintf(buffer + used, space - used, "...");
            break;
        }
        if (plain)
            buffer[used++] = (char)c;
        else
            used += (size_t)snprintf(buffer + used, space - used, "\\x%02x", c);
    }
    buffer[used] = '\0';
    return buffer;
}

const char *fm_short_path(const char *path)
{
    const size_t length = strlen(path);
    return length > PATH_SHOWN ? path + length - PATH_SHOWN : path;
}

size_t fm_line_of(const char *text, size_t offset)
{
    size_t line = 1;
    for (size_t i = 0; i < offset; i++)
        line += text[i] == '\n';
    return line;
}
