#include "cli/progress.h"

#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli/interrupt.h"
#include "fathom.h"

#define BAR 20
#define INTERVAL                                                                                   \
    0.1 /* seconds: often enough to look alive, too seldom to disturb a measurement                \
         */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

struct fm_progress fm_progress_begin(bool wanted, size_t machines)
{
    const char *terminal = getenv("TERM");
    const bool movable = terminal && *terminal && strcmp(terminal, "dumb") != 0;
    return (struct fm_progress){.shown = wanted && movable && isatty(STDERR_FILENO),
                                .unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
                                .machines = machines};
}

static int columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col < 80 ? size.ws_col : 80;
    return 80;
}

static void draw(const struct fm_progress *progress, const char *what, double fraction,
                 double seconds_left)
{
    char safe[64], which[32] = "", left[32] = "", bar[BAR * 3 + 1] = "";
    const int filled = fraction < 0 ? 0 : fraction > 1 ? BAR : (int)(fraction * BAR);

    for (int i = 0; i < BAR; i++)
        strcat(bar, i < filled ? (progress->unicode ? "█" : "#") : progress->unicode ? "░" : ".");
    if (progress->machines > 1)
        snprintf(which, sizeof which, "%zu/%zu ", progress->machine + 1, progress->machines);
    if (seconds_left >= 0)
        snprintf(left, sizeof left, " %.0f s left", seconds_left);
    const int used = BAR + (int)strlen(which) + (int)strlen(left) + 4;
    const int room = columns() - used;
    fprintf(stderr, "\r%s[%s]%s %.*s\033[K", which, bar, left, room > 0 ? room : 0,
            fathom_printable(what, safe, sizeof safe));
    fflush(stderr);
}

bool fm_progress_step(void *data, const char *what, double fraction, double seconds_left)
{
    struct fm_progress *progress = data;
    if (progress->shown) {
        const double time = now();
        if (time - progress->last >= INTERVAL) {
            draw(progress, what, fraction, seconds_left);
            progress->drawn = true;
            progress->last = time;
        }
    }
    return fm_interrupted();
}

void fm_progress_end(struct fm_progress *progress)
{
    if (progress->drawn) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    progress->drawn = false;
}
