/* Errors as values: a call that can fail returns false and fills a struct fm_error. */
#ifndef FM_CORE_ERROR_H
#define FM_CORE_ERROR_H

#include <stdbool.h>

/* X(name, text): the one list that gives the codes and their short texts. */
#define FM_ERROR_LIST(X)                                                                           \
    X(OK, "no error")                                                                              \
    X(USAGE, "bad usage or bad input")                                                             \
    X(NO_MEMORY, "not enough memory")                                                              \
    X(UNSUPPORTED, "the machine lacks what was asked for")                                         \
    X(FORBIDDEN, "the system forbids what was asked for")                                          \
    X(IO, "input or output failed")                                                                \
    X(INTERRUPTED, "interrupted")                                                                  \
    X(OUT_OF_TIME, "out of time")                                                                  \
    X(INTERNAL, "internal error")

enum fm_error_code {
#define X(name, text) FM_ERR_##name,
    FM_ERROR_LIST(X)
#undef X
};

struct fm_error {
    enum fm_error_code code;
    char text[512]; /* names the thing, the place and the remedy */
};

/* Fills err (which may be NULL) and returns false, so that callers can `return fm_fail(…)`. */
bool fm_fail(struct fm_error *err, enum fm_error_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The short text of a code; never NULL. */
const char *fm_error_name(enum fm_error_code code);

#endif
