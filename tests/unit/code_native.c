/* Jumps on this computer: code is written, then run, never writable and executable at once; a
 * system that forbids it is understood. Nothing here depends on how fast the computer is. */
#include <errno.h>
#include <inttypes.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/refstring.h"
#include "machine/native/code.h"
#include "machine/native/computer.h"
#include "machine/native/native.h"
#include "meter/clock.h"
#include "survey/survey.h"

#define SLOTS 64u

static struct fm_machine *machine;
static struct fm_meter *meter;

static int set_up(void **state)
{
    (void)state;
    struct fm_error err;
    meter = fm_clock_open(&err);
    machine = meter ? fm_native_open(-1, meter, &err) : NULL;
    return machine && machine->ops->place(machine, 1 << 16, 0, &err) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    machine->ops->close(machine);
    meter->ops->close(meter);
    return 0;
}

/* Jumps over slots, and a chase of data in words beyond them. */
static struct fm_string string_of(uint32_t *slots, uint32_t *data)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        slots[i] = i * 37 % SLOTS * 8;
        data[i] = 4096 + i * 8;
    }
    return (struct fm_string){
        .label = "jumps and loads",
        .bytes = 1 << 16,
        .orders = {{.word = slots, .count = SLOTS, .filler = 3}, {.word = data, .count = SLOTS}},
        .order_count = 2,
        .phases = {{.op = FM_OP_JUMP, .references = 3 * SLOTS},
                   {.op = FM_OP_LOAD, .order = 1, .references = SLOTS, .chained = true},
                   {.op = FM_OP_JUMP, .references = 5 * SLOTS, .metered = true}},
        .phase_count = 3,
    };
}

/* What /proc says may be done with the arena. */
static void permissions(char text[5])
{
    const uintptr_t base = (uintptr_t)((struct fm_computer *)machine)->arena.base;
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    strcpy(text, "none");
    while (maps && fgets(line, sizeof line, maps)) {
        uintptr_t from, to;
        char seen[5];
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &from, &to, seen) != 3)
            continue;
        /* Anywhere in this process: no page is writable and executable. */
        assert_false(seen[1] == 'w' && seen[2] == 'x');
        if (from <= base && base < to)
            memcpy(text, seen, 5);
    }
    if (maps)
        fclose(maps);
}

static void jumps_are_run(void **state)
{
    (void)state;
    uint32_t slots[SLOTS], data[SLOTS];
    struct fm_error err = {0};
    struct fm_sample samples[3];
    char may[5];
    struct fm_string string = string_of(slots, data);
    if (!machine->ops->run(machine, &string, 3, samples, &err))
        fail_msg("%s", err.text);
    for (int i = 0; i < 3; i++)
        assert_int_equal(samples[i].references, 5 * SLOTS);
    permissions(may);
    assert_string_equal(may, "r-xp");
    /* A chase after jumps, on the same pages. */
    string.phases[1].metered = true;
    string.phase_count = 2;
    if (!machine->ops->run(machine, &string, 3, samples, &err))
        fail_msg("%s", err.text);
    /* A string of data alone may write again. */
    string.phases[0] = (struct fm_phase){.op = FM_OP_STORE, .order = 1, .references = SLOTS};
    if (!machine->ops->run(machine, &string, 3, samples, &err))
        fail_msg("%s", err.text);
    permissions(may);
    assert_string_equal(may, "rw-p");
}

/* Twice the laps are twice the code: the loop is not left early. Where a run is that short a
   disturbance can only add to it, so the least of many is compared. */
static void every_lap_is_run(void **state)
{
    (void)state;
    uint32_t slots[SLOTS], data[SLOTS];
    struct fm_error err = {0};
    struct fm_sample samples[32];
    double least[2] = {1e18, 1e18};
    for (int i = 0; i < 2; i++) {
        struct fm_string string = string_of(slots, data);
        string.phases[2].references = (i ? 4000u : 1000u) * SLOTS;
        assert_true(machine->ops->run(machine, &string, 32, samples, &err));
        for (int j = 0; j < 32; j++)
            least[i] = samples[j].ns < least[i] ? samples[j].ns : least[i];
    }
    assert_true(least[1] > 2 * least[0]);
}

static void refuses(const struct fm_string *string, enum fm_error_code code)
{
    struct fm_error err = {0};
    struct fm_sample sample;
    assert_false(machine->ops->run(machine, string, 1, &sample, &err));
    assert_int_equal(err.code, code);
}

static void refuses_code_that_is_not_whole(void **state)
{
    (void)state;
    uint32_t slots[SLOTS], data[SLOTS];
    const struct fm_string good = string_of(slots, data);
    struct fm_string bad = good;
    bad.phases[2].references = SLOTS + 1;
    refuses(&bad, FM_ERR_INTERNAL);
    bad = good;
    bad.orders[0].filler = 16; /* slots of 72 bytes, 64 apart */
    refuses(&bad, FM_ERR_INTERNAL);
    bad = good;
    bad.bytes = ((SLOTS - 1) * 8 + 2) * FM_WORD; /* the last slot's jump lies beyond */
    bad.order_count = 1;
    bad.phases[1] = bad.phases[0];
    refuses(&bad, FM_ERR_INTERNAL);
    bad = good;
    bad.phases[1].op = FM_OP_STORE;
    bad.phases[1].chained = false;
    refuses(&bad, FM_ERR_INTERNAL);
    struct fm_error err = {0};
    struct fm_arena arena = ((struct fm_computer *)machine)->arena;
    assert_true(fm_code_open(&arena, &err));
    assert_false(fm_code_write(&arena, &good, NULL, &err));
    assert_int_equal(err.code, FM_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "no code emitter"));
}

/* From now on mprotect to executable fails, as it does under a hardened kernel. */
static bool forbid_code(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void understands_a_hardened_system(void **state)
{
    (void)state;
    uint32_t slots[SLOTS], data[SLOTS];
    const struct fm_string string = string_of(slots, data);
    const pid_t child = fork();
    if (child == 0) {
        struct fm_error err = {0};
        struct fm_sample sample;
        if (!forbid_code())
            _exit(2);
        const bool ran = machine->ops->run(machine, &string, 1, &sample, &err);
        _exit(!ran && err.code == FM_ERR_FORBIDDEN && strstr(err.text, "execmem") ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

/* … and says so where people look, whether or not they ask for more than the table. */
static void warns_of_a_hardened_system(void **state)
{
    (void)state;
    const pid_t child = fork();
    if (child == 0) {
        const struct fm_survey_options options = {.effort = FM_QUICK, .seed = 1, .only = "icache"};
        struct fm_error err = {0};
        struct fm_result result;
        if (!forbid_code())
            _exit(2);
        fm_result_init(&result);
        if (!fm_survey(machine, NULL, &options, &result, &err))
            _exit(3);
        const struct fm_finding *capacity = fm_result_find(&result, "l1i.capacity");
        if (!capacity || capacity->status != FM_UNSUPPORTED)
            _exit(4);
        for (size_t i = 0; i < result.warning_count; i++)
            if (strcmp(result.warnings[i].id, "code-forbidden") == 0 &&
                strstr(result.warnings[i].text, "execmem"))
                _exit(0);
        _exit(1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jumps_are_run),
        cmocka_unit_test(every_lap_is_run),
        cmocka_unit_test(refuses_code_that_is_not_whole),
        cmocka_unit_test(understands_a_hardened_system),
        cmocka_unit_test(warns_of_a_hardened_system),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
