#include <stdio.h>
#include <stdlib.h>

#include "machine/recorded/recorded.h"

struct recorder {
    struct fm_machine base; /* first, so that a pointer to it is one to this */
    struct fm_machine *inner;
    struct fm_recording *into;
};

static struct recorder *of(struct fm_machine *machine)
{
    return (struct recorder *)machine;
}

static bool lost(struct fm_error *err)
{
    return fm_fail(err, FM_ERR_NO_MEMORY,
                   "not enough memory to keep the recording; leave --record out");
}

/* Notes a call that ended well or in *err; what the caller gets back is the same. */
static bool note(struct recorder *recorder, struct fm_call *call, bool ok, struct fm_error *err)
{
    if (!ok) {
        call->error = err;
        call->samples = NULL;
        call->sample_count = 0;
    }
    if (!fm_recording_add(recorder->into, call))
        return lost(err);
    return ok;
}

static bool place(struct fm_machine *machine, size_t bytes, size_t page_size, struct fm_error *err)
{
    struct recorder *recorder = of(machine);
    struct fm_error failure = {0};
    struct fm_call call = {.kind = FM_CALL_PLACE, .of.place = {bytes, page_size}};
    const bool ok = recorder->inner->ops->place(recorder->inner, bytes, page_size, &failure);
    const bool noted = note(recorder, &call, ok, &failure);
    if (!noted && err)
        *err = failure;
    return noted;
}

static bool note_string(struct recorder *recorder, enum fm_call_kind kind,
                        const struct fm_string *string, unsigned repeats, struct fm_sample *samples,
                        struct fm_error *err)
{
    const struct fm_machine_ops *ops = recorder->inner->ops;
    struct fm_error failure = {0};
    struct fm_call call = {.kind = kind, .samples = samples, .sample_count = repeats};
    snprintf(call.of.label, sizeof call.of.label, "%s", string->label);
    const bool ok = (kind == FM_CALL_RUN ? ops->run : ops->count)(recorder->inner, string, repeats,
                                                                  samples, &failure);
    const bool noted = note(recorder, &call, ok, &failure);
    if (!noted && err)
        *err = failure;
    return noted;
}

static bool run(struct fm_machine *machine, const struct fm_string *string, unsigned repeats,
                struct fm_sample *samples, struct fm_error *err)
{
    return note_string(of(machine), FM_CALL_RUN, string, repeats, samples, err);
}

static bool count(struct fm_machine *machine, const struct fm_string *string, unsigned repeats,
                  struct fm_sample *samples, struct fm_error *err)
{
    return note_string(of(machine), FM_CALL_COUNT, string, repeats, samples, err);
}

static bool chain(struct fm_machine *machine, enum fm_chain kind, uint64_t operations,
                  struct fm_sample *sample, struct fm_error *err)
{
    struct recorder *recorder = of(machine);
    struct fm_error failure = {0};
    struct fm_call call = {.kind = FM_CALL_CHAIN,
                           .of.chain = {kind, operations},
                           .samples = sample,
                           .sample_count = 1};
    const bool ok =
        recorder->inner->ops->chain(recorder->inner, kind, operations, sample, &failure);
    const bool noted = note(recorder, &call, ok, &failure);
    if (!noted && err)
        *err = failure;
    return noted;
}

/* These two cannot fail; a call that is missing shows when the recording is replayed. */
static double elapsed(struct fm_machine *machine)
{
    struct recorder *recorder = of(machine);
    struct fm_call call = {.kind = FM_CALL_ELAPSED};
    call.of.seconds = recorder->inner->ops->elapsed(recorder->inner);
    fm_recording_add(recorder->into, &call);
    return call.of.seconds;
}

static void observe(struct fm_machine *machine, struct fm_environment *environment)
{
    struct recorder *recorder = of(machine);
    struct fm_call call = {.kind = FM_CALL_OBSERVE, .environment = environment};
    recorder->inner->ops->observe(recorder->inner, environment);
    fm_recording_add(recorder->into, &call);
}

static void close_recorder(struct fm_machine *machine)
{
    struct recorder *recorder = of(machine);
    recorder->inner->ops->close(recorder->inner);
    free(recorder);
}

static const struct fm_machine_ops recorder_ops = {
    .place = place,
    .run = run,
    .count = count,
    .chain = chain,
    .elapsed = elapsed,
    .observe = observe,
    .close = close_recorder,
};

struct fm_machine *fm_recorder_open(struct fm_machine *inner, struct fm_recording *into,
                                    struct fm_error *err)
{
    struct recorder *recorder = calloc(1, sizeof *recorder);
    if (!recorder) {
        lost(err);
        return NULL;
    }
    recorder->base = (struct fm_machine){.ops = &recorder_ops, .info = inner->info};
    recorder->inner = inner;
    recorder->into = into;
    into->machine = inner->info;
    return &recorder->base;
}
