#include <stdio.h>
#include <string.h>

#include "api/config.h"
#include "api/handles.h"
#include "format/text.h"

const char *fathom_version(void)
{
    return FM_VERSION;
}

char *fathom_printable(const char *text, char *out, size_t space)
{
    return fm_escape(text, strlen(text), out, space);
}

bool fm_api_fail(struct fathom_error *err, const struct fm_error *inner)
{
    static const enum fathom_code codes[] = {
        [FM_ERR_OK] = FATHOM_INTERNAL,           [FM_ERR_USAGE] = FATHOM_USAGE,
        [FM_ERR_NO_MEMORY] = FATHOM_NO_MEMORY,   [FM_ERR_UNSUPPORTED] = FATHOM_UNSUPPORTED,
        [FM_ERR_FORBIDDEN] = FATHOM_UNSUPPORTED, [FM_ERR_IO] = FATHOM_IO,
        [FM_ERR_INTERRUPTED] = FATHOM_INTERNAL,  [FM_ERR_OUT_OF_TIME] = FATHOM_INTERNAL,
        [FM_ERR_INTERNAL] = FATHOM_INTERNAL,
    };
    if (err) {
        err->code = codes[inner->code];
        fathom_printable(inner->text[0] ? inner->text : fm_error_name(inner->code), err->text,
                         sizeof err->text);
    }
    return false;
}

bool fm_api_out_of_memory(struct fathom_error *err)
{
    struct fm_error inner;
    fm_fail(&inner, FM_ERR_NO_MEMORY, "memory: there is none left: close other programs");
    return fm_api_fail(err, &inner);
}
