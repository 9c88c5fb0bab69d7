#include <stdarg.h>
#include <stdio.h>

#include "cli/cli.h"

int fm_complain(int code, const char *format, ...)
{
    char text[1024], safe[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "fathom: %s\n", fathom_printable(text, safe, sizeof safe));
    return code;
}

int fm_complain_error(const struct fathom_error *err)
{
    static const int exits[] = {
        [FATHOM_OK] = FM_EXIT_USAGE,          [FATHOM_USAGE] = FM_EXIT_USAGE,
        [FATHOM_NO_MEMORY] = FM_EXIT_LACKING, [FATHOM_UNSUPPORTED] = FM_EXIT_LACKING,
        [FATHOM_IO] = FM_EXIT_USAGE,          [FATHOM_INTERNAL] = FM_EXIT_USAGE,
        [FATHOM_NOT_KEPT] = FM_EXIT_NOTHING,
    };
    return fm_complain(exits[err->code], "%s", err->text);
}
