#include "cli/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

/* A signal handler has no other way to tell the program anything. */
static volatile sig_atomic_t seen;
static struct timespec first; /* when it was seen; of the handler alone */

static const int caught[] = {SIGINT, SIGTERM};
#define CAUGHT (sizeof caught / sizeof caught[0])

/* What a shell in the background, or nohup, had set. */
static struct sigaction before[CAUGHT];

/* timeout signals its child and then the child's group: the second comes at once, and nobody has
   lost patience. */
static bool is_impatient(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const time_t whole = now.tv_sec - first.tv_sec;
    return whole > 1 || (whole == 1 && now.tv_nsec >= first.tv_nsec);
}

static void on_interrupt(int number)
{
    if (!seen) {
        clock_gettime(CLOCK_MONOTONIC, &first);
        seen = 1;
    } else if (is_impatient()) {
        signal(number, SIG_DFL);
        raise(number); /* delivered when the handler returns */
    }
}

static void set_handler(int flags, struct sigaction *old)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < CAUGHT; i++)
        sigaddset(&action.sa_mask, caught[i]);
    for (size_t i = 0; i < CAUGHT; i++)
        sigaction(caught[i], &action, old ? &old[i] : NULL);
}

void fm_catch_interrupts(void)
{
    set_handler(0, before);
}

void fm_outlast_interrupts(void)
{
    set_handler(SA_RESTART, NULL);
}

void fm_release_interrupts(void)
{
    for (size_t i = 0; i < CAUGHT; i++)
        sigaction(caught[i], &before[i], NULL);
}

bool fm_interrupted(void)
{
    return seen != 0;
}
