/* Running the application as it is. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stat/stat.h"

static double seconds_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* What may come while we wait. Those of a terminal go to the command as well, which decides what
   they mean; what somebody sends to us alone is handed on. */
static void waited_for(sigset_t *signals)
{
    sigemptyset(signals);
    sigaddset(signals, SIGTERM);
    sigaddset(signals, SIGHUP);
    sigaddset(signals, SIGINT);
    sigaddset(signals, SIGQUIT);
    sigaddset(signals, SIGCHLD);
}

/* The signals are blocked meanwhile and taken here. */
static void wait_and_pass_on(pid_t child, const sigset_t *signals, int *status,
                             struct rusage *usage)
{
    for (;;) {
        siginfo_t info;
        const pid_t ended = wait4(child, status, WNOHANG, usage);
        if (ended == child || (ended < 0 && errno != EINTR))
            return;
        if (sigwaitinfo(signals, &info) > 0 && info.si_signo != SIGCHLD && info.si_code == SI_USER)
            kill(child, info.si_signo);
    }
}

/* Starts it with the signals as a program finds them; errno, or 0. */
static int start(char *const *command, const sigset_t *mask, pid_t *child)
{
    posix_spawnattr_t attributes;
    if (posix_spawnattr_init(&attributes) != 0)
        return ENOMEM;
    posix_spawnattr_setsigmask(&attributes, mask);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    const int failure = posix_spawnp(child, command[0], NULL, &attributes, command, environ);
    posix_spawnattr_destroy(&attributes);
    return failure;
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static void conclude(int status, int failure, struct fm_command_result *result)
{
    if (failure) {
        const bool missing = failure == ENOENT || failure == ENOTDIR;
        result->end = missing ? FM_COMMAND_NOT_FOUND : FM_COMMAND_NOT_RUN;
        result->code = failure;
    } else if (WIFSIGNALED(status)) {
        result->end = FM_COMMAND_KILLED;
        result->code = WTERMSIG(status);
    } else {
        result->end = FM_COMMAND_EXITED;
        result->code = WEXITSTATUS(status);
    }
}

bool fm_command_run(char *const *command, struct fm_command_result *result, struct fm_error *err)
{
    sigset_t signals, before;
    int status = 0;
    struct rusage usage = {0};
    pid_t child;
    waited_for(&signals);
    if (pthread_sigmask(SIG_BLOCK, &signals, &before) != 0)
        return fm_fail(err, FM_ERR_INTERNAL, "signals cannot be blocked");
    const double begin = seconds_now();
    const int failure = start(command, &before, &child);
    if (!failure)
        wait_and_pass_on(child, &signals, &status, &usage);
    result->times =
        (struct fm_stat_times){.wall_s = seconds_now() - begin,
                               .cpu_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
                               .page_faults = -1,
                               .switches = -1,
                               .witness = "clock"};
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    conclude(status, failure, result);
    return true;
}
