/* A command whose references are known: it works, and starts processes in one of the ways there
 * are. Each piece of work is WORK stores; how many pieces a way makes in all is in
 * tests/cli/stat.sh.
 */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORK 100000

static volatile int cell;

__attribute__((noinline)) static void work(void)
{
    for (int i = 0; i < WORK; i++)
        cell = i;
}

static void await(pid_t child)
{
    waitpid(child, NULL, 0);
}

/* Each child has a child of its own. */
static void deep(int more)
{
    work();
    const pid_t child = more ? fork() : -1;
    if (child == 0) {
        deep(more - 1);
        _exit(0);
    }
    await(child);
}

/* Each child has as many children as siblings that come after it: 2 to the n processes. */
static void wide(int more)
{
    work();
    for (int i = 0; i < more; i++) {
        const pid_t child = fork();
        if (child == 0) {
            wide(more - 1 - i);
            _exit(0);
        }
        await(child);
    }
}

static void *fork_in_thread(void *unused)
{
    work();
    const pid_t child = fork();
    if (child == 0) {
        work();
        _exit(0);
    }
    await(child);
    return unused;
}

static void threads(void)
{
    pthread_t each[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&each[i], NULL, fork_in_thread, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(each[i], NULL);
}

static void spawned(char *self)
{
    char way[] = "nothing";
    char *arguments[] = {self, way, NULL};
    work();
    for (int i = 0; i < 3; i++) {
        pid_t child;
        if (posix_spawn(&child, self, NULL, NULL, arguments, environ) == 0)
            await(child);
        /* The child of one that fails was there for a moment. */
        posix_spawn(&child, "/no/such/program", NULL, NULL, arguments, environ);
    }
}

/* In its place another one that forks, twice over. */
static void executed(char *self)
{
    work();
    const pid_t child = fork();
    if (child == 0)
        work();
    else
        await(child);
    execl(self, self, "deep", (char *)NULL);
}

/* By a call that nobody can know of. */
static void raw(void)
{
    work();
    const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0)
        _exit(0);
    await(child);
}

static void killed(void)
{
    work();
    const pid_t child = fork();
    while (child == 0)
        pause();
    kill(child, SIGKILL);
    await(child);
}

int main(int count, char **words)
{
    const char *way = count > 1 ? words[1] : "";
    if (strcmp(way, "deep") == 0)
        deep(7);
    else if (strcmp(way, "wide") == 0)
        wide(4);
    else if (strcmp(way, "threads") == 0)
        threads();
    else if (strcmp(way, "spawned") == 0)
        spawned(words[0]);
    else if (strcmp(way, "executed") == 0)
        executed(words[0]);
    else if (strcmp(way, "raw") == 0)
        raw();
    else if (strcmp(way, "killed") == 0)
        killed();
    return 0;
}
