/* Running the application as it is. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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

/* In the child: signals as a program finds them, then the program. An errno in the pipe says that
   it could not be started; the pipe closes by itself when it could. */
static void become(char *const *command, const sigset_t *mask, int pipe_end)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(command[0], command);
    const int failure = errno;
    if (write(pipe_end, &failure, sizeof failure) < 0)
        _exit(126);
    _exit(127);
}

/* Waits for the end. What asks us to end is blocked meanwhile, taken here and handed on: 0 once the
   child has ended. */
static void wait_and_pass_on(pid_t child, const sigset_t *signals, int *status,
                             struct rusage *usage)
{
    for (;;) {
        siginfo_t info;
        const pid_t ended = wait4(child, status, WNOHANG, usage);
        if (ended == child || (ended < 0 && errno != EINTR))
            return;
        if (sigwaitinfo(signals, &info) < 0)
            continue;
        if (info.si_signo != SIGCHLD)
            kill(child, info.si_signo);
    }
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

static bool run(char *const *command, const int ends[2], struct fm_command_result *result,
                struct fm_error *err)
{
    sigset_t passed, before;
    int status = 0, failure = 0;
    struct rusage usage = {0};
    sigemptyset(&passed);
    sigaddset(&passed, SIGTERM);
    sigaddset(&passed, SIGHUP);
    sigaddset(&passed, SIGCHLD);
    sigprocmask(SIG_BLOCK, &passed, &before);
    /* A terminal's signals go to the command too: it decides what they mean. */
    void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
    void (*quit)(int) = signal(SIGQUIT, SIG_IGN);
    const double start = seconds_now();
    const pid_t child = fork();
    if (child == 0)
        become(command, &before, ends[1]);
    close(ends[1]);
    if (child > 0) {
        if (read(ends[0], &failure, sizeof failure) != sizeof failure)
            failure = 0;
        wait_and_pass_on(child, &passed, &status, &usage);
    }
    result->times =
        (struct fm_stat_times){.wall_s = seconds_now() - start,
                               .cpu_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)};
    signal(SIGINT, interrupt);
    signal(SIGQUIT, quit);
    sigprocmask(SIG_SETMASK, &before, NULL);
    conclude(status, failure, result);
    return child > 0 ||
           fm_fail(err, FM_ERR_NO_MEMORY, "no process can be started: %s", strerror(errno));
}

bool fm_command_run(char *const *command, struct fm_command_result *result, struct fm_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fm_fail(err, FM_ERR_IO, "no pipe can be made: %s", strerror(errno));
    const bool good = run(command, ends, result, err);
    close(ends[0]);
    return good;
}
