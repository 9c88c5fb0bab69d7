/* The commands that list what there is. */
#include <stdlib.h>

#include "cli/cli.h"

static int deliver_and_free(char *text, const struct fathom_error *err)
{
    if (!text)
        return fm_complain_error(err);
    const int code = fm_deliver(text, NULL);
    free(text);
    return code;
}

int fm_run_probes(struct fm_request *request)
{
    const struct fathom_look look = fm_look_of_output(request);
    struct fathom_error err, obstacle;
    struct fathom_machine *here = fathom_open_native(request->options, &obstacle);
    const char *why = here ? NULL : obstacle.text;

    fathom_close(here);
    return deliver_and_free(fathom_probes_text(why, &look, &err), &err);
}

/* The others are listed all the same. */
static int complain_of_files(const struct fathom_shelf *shelf)
{
    int code = FM_EXIT_ANSWERED;
    const char *complaint;
    for (size_t i = 0; (complaint = fathom_shelf_complaint(shelf, i)) != NULL; i++)
        code = fm_complain(FM_EXIT_USAGE, "%s", complaint);
    return code;
}

int fm_run_machines(struct fm_request *request)
{
    const struct fathom_look look = fm_look_of_output(request);
    struct fathom_error err;
    struct fathom_shelf *shelf = fathom_shelf_open(request->options, &err);

    if (!shelf)
        return fm_complain_error(&err);
    const int delivered = deliver_and_free(fathom_shelf_text(shelf, &look, &err), &err);
    const int code = complain_of_files(shelf);
    fathom_shelf_free(shelf);
    return delivered != FM_EXIT_ANSWERED ? delivered : code;
}
