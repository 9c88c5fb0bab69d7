/* The line that says what is being measured and how long it will take. */
#ifndef FM_CLI_PROGRESS_H
#define FM_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

struct fm_progress {
    bool shown;     /* there is someone to read it */
    bool drawn;     /* a line stands there now */
    bool unicode;   /* the terminal takes more than ASCII */
    double last;    /* when it was drawn, in seconds */
    size_t machine; /* which of how many */
    size_t machines;
};

/* Shown only when standard error is a terminal and `wanted`. */
struct fm_progress fm_progress_begin(bool wanted, size_t machines);

/* A fathom_progress: draws, and tells the survey when to stop. */
bool fm_progress_step(void *data, const char *what, double fraction, double seconds_left);

/* Takes the line away. */
void fm_progress_end(struct fm_progress *progress);

#endif
