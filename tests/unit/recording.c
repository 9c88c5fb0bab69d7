#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/rng.h"
#include "format/file.h"
#include "format/recording.h"
#include "machine/recorded/recorded.h"

/* A machine whose answers are random numbers: only a recording can bring them back. */
struct fickle {
    struct fm_machine base;
    struct fm_rng rng;
    bool *closed;
};

static struct fm_sample fickle_sample(struct fickle *fickle)
{
    struct fm_sample sample = {.ns = fm_rng_unit(&fickle->rng) * 1e6,
                               .references = fm_rng_below(&fickle->rng, 1 << 20),
                               .disturbed = fm_rng_below(&fickle->rng, 2),
                               .counted = fm_rng_below(&fickle->rng, 2)};
    if (sample.counted)
        sample.counts = (struct fm_counts){.references = (1ull << 60) + 1,
                                           .cache_miss = {1, 2, 3, 4, 5, 6},
                                           .tlb_miss = {7, 8, 9},
                                           .walks = 10,
                                           .prefetches = 11,
                                           .writebacks = 12,
                                           .fetch_miss = 13,
                                           .fetch_tlb_miss = 14,
                                           .target_miss = 15};
    return sample;
}

static bool fickle_place(struct fm_machine *machine, size_t bytes, size_t page_size,
                         struct fm_error *err)
{
    (void)machine;
    (void)bytes;
    return page_size != 12345 ||
           fm_fail(err, FM_ERR_UNSUPPORTED, "no such page \"12345\"\n\x1b[31m");
}

static bool fickle_run(struct fm_machine *machine, const struct fm_string *string, unsigned repeats,
                       struct fm_sample *samples, struct fm_error *err)
{
    (void)string;
    (void)err;
    for (unsigned i = 0; i < repeats; i++)
        samples[i] = fickle_sample((struct fickle *)machine);
    return true;
}

static bool fickle_chain(struct fm_machine *machine, enum fm_chain kind, uint64_t operations,
                         struct fm_sample *sample, struct fm_error *err)
{
    (void)kind;
    (void)operations;
    (void)err;
    *sample = fickle_sample((struct fickle *)machine);
    return true;
}

static double fickle_elapsed(struct fm_machine *machine)
{
    return fm_rng_unit(&((struct fickle *)machine)->rng);
}

static void fickle_observe(struct fm_machine *machine, struct fm_environment *environment)
{
    fm_environment_set(environment, "steal",
                       fm_number(fm_rng_unit(&((struct fickle *)machine)->rng)));
}

static void fickle_close(struct fm_machine *machine)
{
    *((struct fickle *)machine)->closed = true;
    free(machine);
}

static const struct fm_machine_ops fickle_ops = {
    fickle_place,   fickle_run,     fickle_run,   fickle_chain,
    fickle_elapsed, fickle_observe, fickle_close,
};

#define REPEATS 5
#define ROUNDS  40

/* Everything a little survey gets to see. */
struct seen {
    struct fm_sample samples[ROUNDS][REPEATS], chain;
    double elapsed;
    struct fm_environment environment;
    struct fm_error place;
};

static bool survey(struct fm_machine *m, struct seen *seen, const char *label, struct fm_error *err)
{
    memset(seen, 0, sizeof *seen);
    struct fm_string string = {.bytes = 4096};
    m->ops->observe(m, &seen->environment);
    if (m->ops->place(m, 1 << 20, 12345, &seen->place))
        return false;
    if (!m->ops->place(m, 1 << 20, 0, err) ||
        !m->ops->chain(m, FM_CHAIN_ROTATE, 1000, &seen->chain, err))
        return false;
    for (unsigned i = 0; i < ROUNDS; i++) {
        snprintf(string.label, sizeof string.label, "%s(round=%u)", label, i);
        if (!m->ops->run(m, &string, REPEATS, seen->samples[i], err))
            return false;
    }
    seen->elapsed = m->ops->elapsed(m);
    return true;
}

static void record(struct fm_recording *recording, struct seen *seen)
{
    bool closed = false;
    struct fickle *fickle = calloc(1, sizeof *fickle);
    fickle->base = (struct fm_machine){.ops = &fickle_ops,
                                       .info = {.kind = "native",
                                                .name = "fickle",
                                                .arch = "any",
                                                .cpu = 1,
                                                .page_size = 4096,
                                                .memory_limit = 1 << 30,
                                                .clock = {"dice", 0.1, 1.0 / 3.0}}};
    fickle->closed = &closed;
    fm_rng_seed(&fickle->rng, 7);
    fm_recording_init(recording);
    struct fm_machine *recorder = fm_recorder_open(&fickle->base, recording, NULL);
    assert_non_null(recorder);
    assert_string_equal(recorder->info.name, "fickle");
    struct fm_error err = {0};
    if (!survey(recorder, seen, "walk", &err))
        fail_msg("%s", err.text);
    recorder->ops->close(recorder);
    assert_true(closed);
    assert_true(fm_recording_set_option(recording, "seed", "41"));
    assert_true(fm_recording_set_option(recording, "seed", "42"));
    assert_true(fm_recording_set_option(recording, "method", "cooper-sandoval"));
}

static void replayed_bit_for_bit(void **state)
{
    (void)state;
    struct fm_recording recording, back;
    struct seen first, second;
    record(&recording, &first);
    char *text = fm_recording_to_text(&recording, "0.1.0");
    struct fm_error err = {0};
    if (!fm_recording_parse(text, strlen(text), "r.rec", &back, &err))
        fail_msg("%s", err.text);
    assert_memory_equal(&back.machine, &recording.machine, sizeof back.machine);
    assert_string_equal(fm_recording_option(&back, "seed"), "42");
    assert_string_equal(fm_recording_option(&back, "method"), "cooper-sandoval");
    assert_null(fm_recording_option(&back, "effort"));

    struct fm_machine *replay = fm_recorded_open(&back, &err);
    assert_string_equal(replay->info.kind, "recorded");
    assert_string_equal(replay->info.name, "fickle");
    if (!survey(replay, &second, "walk", &err))
        fail_msg("%s", err.text);
    assert_true(fm_recorded_finished(replay, &err));
    assert_memory_equal(first.samples, second.samples, sizeof first.samples);
    assert_memory_equal(&first.chain, &second.chain, sizeof first.chain);
    assert_memory_equal(&first.elapsed, &second.elapsed, sizeof first.elapsed);
    assert_memory_equal(&first.environment, &second.environment, sizeof first.environment);
    assert_int_equal(second.place.code, FM_ERR_UNSUPPORTED);
    assert_string_equal(second.place.text, first.place.text);
    replay->ops->close(replay);
    free(text);
    fm_recording_free(&back);
    fm_recording_free(&recording);
}

static void expect_stray(const struct fm_machine *replay, const struct fm_error *err)
{
    assert_int_equal(err->code, FM_ERR_USAGE);
    assert_non_null(strstr(err->text, "other options or by another version"));
    assert_false(fm_recorded_finished(replay, NULL));
}

static void another_survey_is_noticed(void **state)
{
    (void)state;
    struct fm_recording recording;
    struct seen seen;
    struct fm_error err = {0};
    record(&recording, &seen);
    struct fm_machine *replay = fm_recorded_open(&recording, &err);
    assert_false(survey(replay, &seen, "stroll", &err));
    expect_stray(replay, &err);
    replay->ops->close(replay);

    replay = fm_recorded_open(&recording, &err);
    replay->ops->observe(replay, &seen.environment);
    assert_false(replay->ops->place(replay, 4096, 12345, &err));
    expect_stray(replay, &err);
    replay->ops->close(replay);

    /* elapsed cannot complain; the next call does. */
    replay = fm_recorded_open(&recording, &err);
    replay->ops->elapsed(replay);
    err = (struct fm_error){0};
    assert_false(replay->ops->chain(replay, FM_CHAIN_ADD, 1, &seen.chain, &err));
    expect_stray(replay, &err);
    replay->ops->close(replay);

    /* A survey that asks for less than was recorded is another one too. */
    replay = fm_recorded_open(&recording, &err);
    replay->ops->observe(replay, &seen.environment);
    err = (struct fm_error){0};
    assert_false(fm_recorded_finished(replay, &err));
    expect_stray(replay, &err);
    replay->ops->close(replay);
    fm_recording_free(&recording);
}

static void expect_refused(const char *text, size_t length, const char *complaint)
{
    struct fm_recording back;
    struct fm_error err = {0};
    if (fm_recording_parse(text, length, "r.rec", &back, &err))
        fail_msg("accepted, expected: %s", complaint);
    assert_int_equal(err.code, FM_ERR_USAGE);
    if (!strstr(err.text, complaint))
        fail_msg("expected \"%s\", got \"%s\"", complaint, err.text);
    assert_null(strchr(err.text, '\n'));
    assert_int_equal(strncmp(err.text, "r.rec", 5), 0);
}

static void cut_short_anywhere(void **state)
{
    (void)state;
    struct fm_recording recording;
    struct seen seen;
    record(&recording, &seen);
    char *text = fm_recording_to_text(&recording, "0.1.0");
    const size_t length = strlen(text);
    /* Without the last newline it is still whole. */
    for (size_t cut = 0; cut + 1 < length; cut += cut + 80 < length ? 37 : 1)
        expect_refused(text, cut, "; ");
    /* Cut between two lines, it reads well up to the missing end mark. */
    const char *last = strstr(text, "[\"end\"");
    expect_refused(text, (size_t)(last - text), "it was cut short; record again with --record");
    /* A line lost in the middle. */
    char *line = strstr(text, "\n[\"run\"");
    memmove(line, strchr(line + 1, '\n'), strlen(strchr(line + 1, '\n')) + 1);
    expect_refused(text, strlen(text), "lines are missing");
    free(text);
    fm_recording_free(&recording);
}

static const struct {
    const char *from, *to, *complaint;
} mistakes[] = {
    {"fathom-recording/1", "fathom-recording/2",
     "r.rec:1: schema: is fathom-recording/2, and this fathom reads fathom-recording/1; use a "
     "newer"},
    {"{\"schema\"", "{\"shema\"", "r.rec:1: is no recording"},
    {"\"seed\": \"42\"", "\"seed\": 42", "r.rec:1: an option is no short text"},
    {"\"cpu\": 1", "\"cpu\": 1e400", "r.rec:1: is no recording"},
    {"\"cpu\": 1", "\"cpu\": \"one\"", "r.rec: machine.cpu"},
    {"[\"place\"", "[\"jump\"", "r.rec:3: is no call that this version knows"},
    {"[\"place\", 1048576", "[\"place\", -1", "r.rec:3: is not [\"place\", bytes, page_size]"},
    {"[\"place\", 1048576", "[\"place\", 99999999999999999999", "r.rec:3: is not valid JSON"},
    {"UNSUPPORTED", "UNHEARD", "r.rec:3: the error of this call"},
    {"\"rotate\", 1000, [[", "\"rotate\", 1000, [[1, 1], [", "r.rec:5: a chain has one sample"},
    {"\"rotate\", 1000, [[", "\"rotate\", 1000, [[\"\", ", "r.rec:5: a sample is not"},
    {"\"rotate\"", "\"halt\"", "r.rec:5: is not [\"chain\""},
    {"[\"run\", \"walk", "[\"run\", 7, \"walk", "r.rec:6: is not [\"run\", label"},
    {"[\"observe\", {", "[\"observe\", 7, {", "r.rec:2: environment: is no object"},
    {"[\"elapsed\", ", "[\"elapsed\", null, ", "r.rec:46: is not [\"elapsed\""},
    {"[\"end\", 45]", "[\"end\", 45]\n[\"end\", 45]", "r.rec:48: there is more after"},
    {"[\"end\", 45]", "[\"end\", 44]", "r.rec:47: the end mark counts other calls"},
};

static void damage_is_named(void **state)
{
    (void)state;
    struct fm_recording recording;
    struct seen seen;
    record(&recording, &seen);
    char *good = fm_recording_to_text(&recording, "0.1.0");
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        const char *place = strstr(good, mistakes[i].from);
        if (!place)
            fail_msg("no %s in %s", mistakes[i].from, good);
        char *text = malloc(strlen(good) + strlen(mistakes[i].to) + 1);
        sprintf(text, "%.*s%s%s", (int)(place - good), good, mistakes[i].to,
                place + strlen(mistakes[i].from));
        expect_refused(text, strlen(text), mistakes[i].complaint);
        free(text);
    }
    char *second_line = strchr(good, '\n');
    second_line[5] = '\0';
    expect_refused(good, (size_t)(second_line + 20 - good), "r.rec:2: holds a NUL byte");
    static const char *const foreign[] = {"{\n  \"schema\": \"fathom-result/1\"\n}\n", "[1, 2]\n",
                                          "7"};
    for (size_t i = 0; i < 3; i++)
        expect_refused(foreign[i], strlen(foreign[i]), "r.rec:1: is no recording");
    free(good);
    fm_recording_free(&recording);
}

static void files_are_whole_or_not_there(void **state)
{
    (void)state;
    struct fm_recording recording, back;
    struct seen seen;
    struct fm_error err = {0};
    record(&recording, &seen);
    char folder[] = "/tmp/fathom-test-XXXXXX", path[64], link[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/r.rec", folder);
    snprintf(link, sizeof link, "%s/link", folder);
    assert_true(fm_file_check_writable(path, &err));
    assert_true(fm_recording_write(&recording, "0.1.0", path, &err));
    assert_true(fm_recording_write(&recording, "0.1.0", path, &err));
    assert_int_equal(symlink("r.rec", link), 0);
    assert_true(fm_recording_write(&recording, "0.1.0", link, &err));
    struct stat status;
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_true(fm_recording_read(link, &back, &err));
    assert_int_equal(back.call_count, recording.call_count);
    fm_recording_free(&back);
    /* Nothing but the two names is left behind. */
    unlink(link);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);

    assert_false(fm_file_check_writable(path, &err));
    assert_int_equal(err.code, FM_ERR_USAGE);
    assert_false(fm_recording_write(&recording, "0.1.0", path, &err));
    assert_int_equal(err.code, FM_ERR_IO);
    assert_non_null(strstr(err.text, path));
    assert_false(fm_file_check_writable("/", &err));
    assert_false(fm_recording_write(&recording, "0.1.0", "/", &err));
    assert_true(fm_recording_write(&recording, "0.1.0", "/dev/null", &err));
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    assert_false(fm_recording_read(path, &back, &err));
    assert_int_equal(err.code, FM_ERR_USAGE);
    fm_recording_free(&recording);
}

/* A file system that is full halfway: the old file stays, and no piece of the new one. */
static void a_full_disk_leaves_the_old_file(void **state)
{
    (void)state;
    char folder[] = "/tmp/fathom-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/r.rec", folder);
    struct fm_error err = {0};
    assert_true(fm_file_write(path, "old", 3, &err));
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1000;
    static const char text[5000];
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const bool ok = fm_file_write(path, text, sizeof text, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_false(ok);
    assert_int_equal(err.code, FM_ERR_IO);
    char *back;
    size_t length;
    assert_true(fm_file_read(path, 100, &back, &length, &err));
    assert_string_equal(back, "old");
    free(back);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replayed_bit_for_bit),
        cmocka_unit_test(another_survey_is_noticed),
        cmocka_unit_test(cut_short_anywhere),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(files_are_whole_or_not_there),
        cmocka_unit_test(a_full_disk_leaves_the_old_file),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
