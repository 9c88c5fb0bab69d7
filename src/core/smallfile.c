#include "core/smallfile.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool fm_read_small(const char *path, char *buffer, size_t size)
{
    buffer[0] = '\0';
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    size_t length = fread(buffer, 1, size - 1, file);
    fclose(file);
    while (length && isspace((unsigned char)buffer[length - 1]))
        length--;
    buffer[length] = '\0';
    return length > 0;
}

bool fm_read_smallf(char *buffer, size_t size, const char *format, ...)
{
    char path[1024];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    buffer[0] = '\0';
    return length > 0 && (size_t)length < sizeof path && fm_read_small(path, buffer, size);
}
