#include <errno.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"

int fm_deliver(const char *text, const char *file)
{
    struct fathom_error err;
    if (file && strcmp(file, "-") != 0)
        return fathom_save(file, text, &err) ? FM_EXIT_ANSWERED : fm_complain_error(&err);
    errno = 0;
    if (fputs(text, stdout) < 0 || fflush(stdout) != 0)
        return fm_complain(FM_EXIT_USAGE, "standard output: %s: send it elsewhere, or use -o FILE",
                           errno ? strerror(errno) : "cannot be written");
    return FM_EXIT_ANSWERED;
}

struct fathom_look fm_look_of_output(const struct fm_request *request)
{
    struct fathom_look look = {.width = 80, .verbose = request->verbose, .terse = request->quiet};
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    struct winsize size;

    look.unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    if (request->output || !isatty(STDOUT_FILENO))
        return look;
    look.colour =
        !(no_colour && *no_colour) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        look.width = size.ws_col;
    return look;
}
