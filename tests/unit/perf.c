/* The perf meter: software events for real, and every refusal of the kernel. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "meter/perf.h"

#define PAGES 200

/* A kernel without any PMU has these. */
static const struct fm_perf_events faults = {
    .list = {{.bit = 0,
              .ways = {{.name = "page-faults",
                        .generic = true,
                        .type = PERF_TYPE_SOFTWARE,
                        .config = PERF_COUNT_SW_PAGE_FAULTS}}},
             {.bit = 1,
              .ways = {{.name = "NO_SUCH_EVENT_ANYWHERE"},
                       {.name = "minor-faults",
                        .generic = true,
                        .type = PERF_TYPE_SOFTWARE,
                        .config = PERF_COUNT_SW_PAGE_FAULTS_MIN}}}},
    .count = 2,
};

static void touch_fresh_pages(size_t pages)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory =
        mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    madvise(memory, pages * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; i++)
        *(volatile char *)(memory + i * page) = 1;
    munmap(memory, pages * page);
}

static void counts_software_events(void **state)
{
    (void)state;
    struct fm_error err = {0};
    struct fm_perf_account account;
    struct fm_counts counts[2];
    struct fm_tally *tally = fm_perf_open(&faults, &fm_perf_kernel, &account, &err);
    if (!tally)
        fail_msg("%s", err.text);
    assert_string_equal(tally->info.meter, "perf");
    assert_int_equal(tally->info.events, 3);
    assert_string_equal(account.by[1], "minor-faults");
    assert_true(tally->ops->prepare(tally, 2, &err));
    for (size_t i = 0; i < 2; i++) {
        tally->ops->start(tally);
        touch_fresh_pages((i + 1) * PAGES);
        tally->ops->stop(tally);
        /* Between runs nothing is counted. */
        touch_fresh_pages(10 * PAGES);
    }
    assert_true(tally->ops->collect(tally, counts, 2, &err));
    /* A sanitizer has pages of its own beside each of ours. */
    for (unsigned i = 0; i < 2; i++)
        for (unsigned bit = 0; bit < 2; bit++)
            assert_in_range(fm_event_count(&counts[i], bit), (i + 1) * PAGES,
                            (i + 1) * PAGES * 3 / 2);
    tally->ops->close(tally);
}

static void a_processor_without_counters_is_explained(void **state)
{
    (void)state;
    /* No processor has this raw event; a computer without PMU has none at all. */
    static const struct fm_perf_events none = {
        .list = {{.bit = 0, .ways = {{.name = "NO_SUCH_EVENT_ANYWHERE"}}}}, .count = 1};
    struct fm_error err = {0};
    assert_null(fm_perf_open(&none, &fm_perf_kernel, NULL, &err));
    assert_int_equal(err.code, FM_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "no event for it is known"));
}

static void no_file_left_is_explained(void **state)
{
    (void)state;
    struct rlimit before, none;
    struct fm_error err = {0};
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 3;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    struct fm_tally *tally = fm_perf_open(&faults, &fm_perf_kernel, NULL, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_null(tally);
    assert_non_null(strstr(err.text, "ulimit -n"));
}

static int refusal;

static int refuse(struct perf_event_attr *attr, pid_t pid, int group)
{
    (void)attr;
    (void)pid;
    (void)group;
    errno = refusal;
    return -1;
}

static void every_refusal_names_its_remedy(void **state)
{
    (void)state;
    static const struct {
        int error;
        const char *says;
    } cases[] = {
        {EACCES, "CAP_PERFMON"}, {EPERM, "CAP_PERFMON"},     {ENOSYS, "seccomp"},
        {ENOENT, "PMU"},         {EOPNOTSUPP, "PMU"},        {ENODEV, "PMU"},
        {EMFILE, "ulimit"},      {EBUSY, "another program"}, {EINVAL, "newer"},
    };
    const struct fm_perf_system system = {.open = refuse};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fm_error err = {0};
        refusal = cases[i].error;
        assert_null(fm_perf_open(&faults, &system, NULL, &err));
        assert_int_equal(err.code, FM_ERR_UNSUPPORTED);
        if (!strstr(err.text, cases[i].says))
            fail_msg("%s: %s", strerror(cases[i].error), err.text);
    }
    char text[160];
    fm_perf_explain(EACCES, 4, text, sizeof text);
    assert_non_null(strstr(text, "perf_event_paranoid is 4"));
}

/* From now on the kernel refuses to open events with that error, as a container's filter does. */
static bool forbid_events(int error)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void refusals_of_the_kernel_are_explained(void **state)
{
    (void)state;
    static const struct {
        int error;
        const char *says;
    } cases[] = {{EACCES, "CAP_PERFMON"}, {ENOSYS, "seccomp"}, {ENOENT, "PMU"}, {EMFILE, "ulimit"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const pid_t child = fork();
        if (child == 0) {
            struct fm_error err = {0};
            if (!forbid_events(cases[i].error))
                _exit(2);
            const bool opened = fm_perf_open(&faults, &fm_perf_kernel, NULL, &err);
            _exit(!opened && strstr(err.text, cases[i].says) ? 0 : 1);
        }
        int status = -1;
        waitpid(child, &status, 0);
        if (status != 0)
            fail_msg("%s: the child ended with %d", strerror(cases[i].error), status);
    }
}

/* A kernel whose counter ran for a quarter of the time. */
static uint64_t running;

static int fake_open(struct perf_event_attr *attr, pid_t pid, int group)
{
    (void)attr;
    (void)pid;
    (void)group;
    return dup(1);
}

static ssize_t fake_read(int fd, void *into, size_t size)
{
    (void)fd;
    const uint64_t words[] = {1, 1000, running, 50};
    assert_int_equal(size, sizeof words);
    memcpy(into, words, size);
    return (ssize_t)size;
}

static int fake_control(int fd, unsigned long request)
{
    (void)fd;
    (void)request;
    return 0;
}

static void shared_counters_are_scaled_and_flagged(void **state)
{
    (void)state;
    const struct fm_perf_system system = {fake_open, fake_read, fake_control};
    struct fm_error err = {0};
    struct fm_counts counts;
    struct fm_tally *tally = fm_perf_open(&faults, &system, NULL, &err);
    assert_non_null(tally);
    running = 1000;
    assert_true(tally->ops->prepare(tally, 1, &err));
    tally->ops->start(tally);
    tally->ops->stop(tally);
    assert_true(tally->ops->collect(tally, &counts, 1, &err));
    assert_int_equal(counts.cache_miss[0], 50);
    assert_false(fm_perf_was_scaled(tally));
    running = 250;
    assert_true(tally->ops->prepare(tally, 1, &err));
    tally->ops->stop(tally);
    assert_true(tally->ops->collect(tally, &counts, 1, &err));
    assert_int_equal(counts.cache_miss[0], 200);
    assert_true(fm_perf_was_scaled(tally));
    running = 0;
    assert_true(tally->ops->prepare(tally, 1, &err));
    tally->ops->stop(tally);
    assert_false(tally->ops->collect(tally, &counts, 1, &err));
    assert_non_null(strstr(err.text, "never running"));
    tally->ops->close(tally);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_software_events),
        cmocka_unit_test(a_processor_without_counters_is_explained),
        cmocka_unit_test(no_file_left_is_explained),
        cmocka_unit_test(every_refusal_names_its_remedy),
        cmocka_unit_test(refusals_of_the_kernel_are_explained),
        cmocka_unit_test(shared_counters_are_scaled_and_flagged),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
