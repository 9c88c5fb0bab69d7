/* Commands under perf: software events for real, with children and threads; a PMU that is made up.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "meter/command.h"
#include "meter/papi.h"
#include "meter/perf.h"
#include "meter/pfm.h"
#include "stat/stat.h"

#define PAGES   500
#define THREADS 3
#define BESIDES 10

static char *program;

/* What this program does when it is the command: pages are touched by threads, and by a child. */
static void *touch_pages(void *data)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory =
        mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        exit(9);
    madvise(memory, PAGES * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < PAGES; i++)
        *(volatile char *)(memory + i * page) = 1;
    return data;
}

static int be_the_command(const char *how)
{
    pthread_t threads[THREADS];
    int status = 0;
    if (strcmp(how, "threads") == 0) {
        for (size_t i = 0; i < THREADS; i++)
            if (pthread_create(&threads[i], NULL, touch_pages, NULL) != 0)
                return 9;
        for (size_t i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    } else if (strcmp(how, "child") == 0) {
        const pid_t child = fork();
        if (child == 0) {
            touch_pages(NULL);
            _exit(0);
        }
        waitpid(child, &status, 0);
    }
    return status ? 9 : 0;
}

static struct fm_command_counts count_command(char *how)
{
    struct fm_error err = {0};
    struct fm_command_counts counts;
    struct fm_command_result result;
    char *const command[] = {program, how, NULL};
    struct fm_command_meter *meter =
        fm_perf_command_open(&fm_perf_of_commands, &fm_perf_kernel, &err);
    if (!meter)
        fail_msg("%s", err.text);
    assert_string_equal(meter->name, "perf");
    /* Our own faults are nobody's business. */
    touch_pages(NULL);
    assert_true(meter->ops->start(meter, &err));
    assert_true(fm_command_run(command, &result, &err));
    touch_pages(NULL);
    meter->ops->read(meter, &counts);
    meter->ops->close(meter);
    assert_int_equal(result.end, FM_COMMAND_EXITED);
    assert_int_equal(result.code, 0);
    return counts;
}

static void threads_and_children_are_counted(void **state)
{
    (void)state;
    char nothing[] = "nothing", threads[] = "threads", child[] = "child";
    const double alone = count_command(nothing).count[FM_COMMAND_PAGE_FAULTS];
    assert_in_range((size_t)alone, 1, 100 * PAGES);
    const double with_threads = count_command(threads).count[FM_COMMAND_PAGE_FAULTS];
    /* A thread and a child have pages of their own besides, with a sanitizer many. */
    assert_in_range((size_t)(with_threads - alone), THREADS * PAGES, BESIDES * THREADS * PAGES);
    const struct fm_command_counts with_child = count_command(child);
    assert_in_range((size_t)(with_child.count[FM_COMMAND_PAGE_FAULTS] - alone), PAGES,
                    BESIDES * PAGES);
    assert_true(with_child.count[FM_COMMAND_TASK_CLOCK] > 0);
    assert_false(with_child.scaled);
}

/* A kernel with a PMU whose counters take turns. It remembers what it was asked. */
static unsigned opened, inherited, enabled_on_exec;
static uint64_t running;

static int made_up_open(struct perf_event_attr *attr, pid_t pid, int group)
{
    assert_int_equal(pid, 0);
    opened++;
    inherited += attr->inherit;
    enabled_on_exec += attr->enable_on_exec;
    assert_true(group >= 0 || (attr->disabled && attr->enable_on_exec));
    return dup(1);
}

static ssize_t made_up_read(int fd, void *into, size_t size)
{
    (void)fd;
    const uint64_t words[] = {size / 8 - 3, 1000, running, 50, 70};
    assert_true(size <= sizeof words);
    memcpy(into, words, size);
    return (ssize_t)size;
}

static void turns_are_scaled_and_flagged(void **state)
{
    (void)state;
    const struct fm_perf_system system = {made_up_open, made_up_read, NULL};
    struct fm_error err = {0};
    struct fm_command_counts counts;
    opened = inherited = enabled_on_exec = 0;
    struct fm_command_meter *meter = fm_perf_command_open(&fm_perf_of_commands, &system, &err);
    assert_non_null(meter);
    assert_true(meter->counted[FM_COMMAND_REFERENCES] && meter->counted[FM_COMMAND_FILLS]);
    assert_true(opened >= FM_COMMAND_EVENTS);
    assert_int_equal(inherited, opened);
    /* The leader of a group alone: the others follow it. */
    assert_true(enabled_on_exec <= opened);
    running = 1000;
    meter->ops->read(meter, &counts);
    assert_false(counts.scaled);
    assert_true(counts.count[FM_COMMAND_CYCLES] == 50);
    running = 250;
    meter->ops->read(meter, &counts);
    assert_true(counts.scaled);
    assert_true(counts.count[FM_COMMAND_CYCLES] == 200);
    running = 0;
    meter->ops->read(meter, &counts);
    assert_true(counts.count[FM_COMMAND_CYCLES] < 0);
    assert_non_null(strstr(counts.why[FM_COMMAND_CYCLES], "never running"));
    meter->ops->close(meter);
}

static int refuse_hardware(struct perf_event_attr *attr, pid_t pid, int group)
{
    (void)pid;
    (void)group;
    if (attr->type == PERF_TYPE_SOFTWARE)
        return dup(1);
    errno = ENOENT;
    return -1;
}

static int refuse_all(struct perf_event_attr *attr, pid_t pid, int group)
{
    (void)attr;
    (void)pid;
    (void)group;
    errno = EACCES;
    return -1;
}

static void what_is_refused_says_why(void **state)
{
    (void)state;
    const struct fm_perf_system no_pmu = {refuse_hardware, made_up_read, NULL},
                                nothing = {refuse_all, made_up_read, NULL};
    struct fm_error err = {0};
    struct fm_command_counts counts;
    struct fm_command_meter *meter = fm_perf_command_open(&fm_perf_of_commands, &no_pmu, &err);
    assert_non_null(meter);
    assert_false(meter->counted[FM_COMMAND_REFERENCES]);
    running = 1000;
    meter->ops->read(meter, &counts);
    assert_true(counts.count[FM_COMMAND_REFERENCES] < 0);
    assert_non_null(strstr(counts.why[FM_COMMAND_CYCLES], "PMU"));
    assert_true(counts.count[FM_COMMAND_TASK_CLOCK] == 50);
    meter->ops->close(meter);
    assert_null(fm_perf_command_open(&fm_perf_of_commands, &nothing, &err));
    assert_int_equal(err.code, FM_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "CAP_PERFMON"));
}

/* Names that libpfm4 knows take it long to look up: without counters it is not asked, not even for
   one of the kernel's own events, which would open. */
static void names_are_looked_up_where_there_are_counters(void **state)
{
    (void)state;
    const struct fm_perf_system no_pmu = {refuse_hardware, made_up_read, NULL},
                                pmu = {made_up_open, made_up_read, NULL};
    const struct fm_perf_events named = {
        .list = {{.bit = FM_COMMAND_REFERENCES, .ways = {{.name = "PAGE-FAULTS"}}}}, .count = 1};
    struct fm_pfm_code code;
    struct fm_error err = {0};
    if (!fm_pfm_encode("PAGE-FAULTS", &code))
        skip();
    assert_null(fm_perf_command_open(&named, &no_pmu, &err));
    assert_non_null(strstr(err.text, "PMU"));
    struct fm_command_meter *meter = fm_perf_command_open(&named, &pmu, &err);
    assert_non_null(meter);
    meter->ops->close(meter);
}

/* PAPI asks the processor before it follows a program; without a PMU it says that it cannot. */
static void papi_follows_commands_or_says_why(void **state)
{
    (void)state;
    struct fm_error err = {0};
    struct fm_command_meter *meter = fm_papi_command_open(&fm_papi_of_commands, &err);
    if (meter) {
        assert_string_equal(meter->name, "papi");
        meter->ops->close(meter);
        return;
    }
    assert_int_equal(err.code, FM_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "PAPI"));
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_and_children_are_counted),
        cmocka_unit_test(turns_are_scaled_and_flagged),
        cmocka_unit_test(what_is_refused_says_why),
        cmocka_unit_test(names_are_looked_up_where_there_are_counters),
        cmocka_unit_test(papi_follows_commands_or_says_why),
    };
    program = arguments[0];
    if (count > 1)
        return be_the_command(arguments[1]);
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
