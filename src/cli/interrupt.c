#include "cli/interrupt.h"

#include <signal.h>
#include <stddef.h>

/* A signal handler has no other way to tell the program anything. */
static volatile sig_atomic_t seen;

static void on_interrupt(int number)
{
    (void)number;
    seen = 1;
    /* From here on either signal ends the program at once. */
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

void fm_catch_interrupts(void)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool fm_interrupted(void)
{
    return seen != 0;
}
