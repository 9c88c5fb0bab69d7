/* The commands that list what there is. */
#include <stdio.h>
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
    const bool can_run = here != NULL;

    fathom_close(here);
    const int code =
        deliver_and_free(fathom_probes_text(can_run ? NULL : obstacle.text, &look, &err), &err);
    if (code != FM_EXIT_ANSWERED || can_run)
        return code;
    printf("Not here: %s\n", obstacle.text);
    return fm_deliver("", NULL);
}

int fm_run_machines(struct fm_request *request)
{
    const struct fathom_look look = fm_look_of_output(request);
    struct fathom_error err;
    struct fathom_shelf *shelf = fathom_shelf_open(request->options, &err);

    if (!shelf)
        return fm_complain_error(&err);
    const int code = deliver_and_free(fathom_shelf_text(shelf, &look, &err), &err);
    fathom_shelf_free(shelf);
    return code;
}
