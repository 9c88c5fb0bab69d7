#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>

bool fm_fail(struct fm_error *err, enum fm_error_code code, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        err->code = code;
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return false;
}

const char *fm_error_name(enum fm_error_code code)
{
    static const char *const names[] = {
#define X(name, text) [FM_ERR_##name] = text,
        FM_ERROR_LIST(X)
#undef X
    };
    if ((unsigned)code >= sizeof names / sizeof names[0])
        return "unknown error";
    return names[code];
}
