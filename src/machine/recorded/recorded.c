#include "machine/recorded/recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct replay {
    struct fm_machine base; /* first, so that a pointer to it is one to this */
    const struct fm_recording *from;
    size_t next;
    double seconds; /* the last elapsed time read */
    bool strayed;   /* a call did not match: nothing after it can */
};

static struct replay *of(struct fm_machine *machine)
{
    return (struct replay *)machine;
}

static bool mismatch(size_t call, struct fm_error *err)
{
    return fm_fail(err, FM_ERR_USAGE,
                   "the recording does not fit at call %zu: it was made with other options or by "
                   "another version; replay it with those, or record again",
                   call + 1);
}

/* The next call if it is of this kind; otherwise NULL, now and ever after. */
static const struct fm_call *next_call(struct replay *replay, enum fm_call_kind kind)
{
    if (replay->strayed || replay->next == replay->from->call_count ||
        replay->from->calls[replay->next].kind != kind) {
        replay->strayed = true;
        return NULL;
    }
    return &replay->from->calls[replay->next++];
}

/* A call was found but with other arguments. */
static bool stray(struct replay *replay, struct fm_error *err)
{
    replay->strayed = true;
    return mismatch(replay->next - 1, err);
}

static bool failed_then(const struct fm_call *call, struct fm_error *err)
{
    return fm_fail(err, call->error->code, "%s", call->error->text);
}

static bool place(struct fm_machine *machine, size_t bytes, size_t page_size, struct fm_error *err)
{
    struct replay *replay = of(machine);
    const struct fm_call *call = next_call(replay, FM_CALL_PLACE);
    if (!call)
        return mismatch(replay->next, err);
    if (call->of.place.bytes != bytes || call->of.place.page_size != page_size)
        return stray(replay, err);
    return !call->error || failed_then(call, err);
}

static bool answer(struct fm_machine *machine, enum fm_call_kind kind,
                   const struct fm_string *string, unsigned repeats, struct fm_sample *samples,
                   struct fm_error *err)
{
    struct replay *replay = of(machine);
    const struct fm_call *call = next_call(replay, kind);
    if (!call)
        return mismatch(replay->next, err);
    if (strcmp(call->of.label, string->label) != 0 ||
        (!call->error && call->sample_count != repeats))
        return stray(replay, err);
    if (call->error)
        return failed_then(call, err);
    memcpy(samples, call->samples, repeats * sizeof *samples);
    return true;
}

static bool run(struct fm_machine *machine, const struct fm_string *string, unsigned repeats,
                struct fm_sample *samples, struct fm_error *err)
{
    return answer(machine, FM_CALL_RUN, string, repeats, samples, err);
}

static bool count(struct fm_machine *machine, const struct fm_string *string, unsigned repeats,
                  struct fm_sample *samples, struct fm_error *err)
{
    return answer(machine, FM_CALL_COUNT, string, repeats, samples, err);
}

static bool chain(struct fm_machine *machine, enum fm_chain kind, uint64_t operations,
                  struct fm_sample *sample, struct fm_error *err)
{
    struct replay *replay = of(machine);
    const struct fm_call *call = next_call(replay, FM_CALL_CHAIN);
    if (!call)
        return mismatch(replay->next, err);
    if (call->of.chain.kind != kind || call->of.chain.operations != operations ||
        (!call->error && call->sample_count != 1))
        return stray(replay, err);
    if (call->error)
        return failed_then(call, err);
    *sample = call->samples[0];
    return true;
}

static double elapsed(struct fm_machine *machine)
{
    struct replay *replay = of(machine);
    const struct fm_call *call = next_call(replay, FM_CALL_ELAPSED);
    if (call)
        replay->seconds = call->of.seconds;
    return replay->seconds;
}

static void observe(struct fm_machine *machine, struct fm_environment *environment)
{
    const struct fm_call *call = next_call(of(machine), FM_CALL_OBSERVE);
    if (call && call->environment)
        *environment = *call->environment;
}

static void close_replay(struct fm_machine *machine)
{
    free(of(machine));
}

static const struct fm_machine_ops replay_ops = {
    .place = place,
    .run = run,
    .count = count,
    .chain = chain,
    .elapsed = elapsed,
    .observe = observe,
    .close = close_replay,
};

struct fm_machine *fm_recorded_open(const struct fm_recording *from, struct fm_error *err)
{
    struct replay *replay = calloc(1, sizeof *replay);
    if (!replay) {
        fm_fail(err, FM_ERR_NO_MEMORY, "not enough memory to replay the recording");
        return NULL;
    }
    replay->base = (struct fm_machine){.ops = &replay_ops, .info = from->machine};
    snprintf(replay->base.info.kind, sizeof replay->base.info.kind, "recorded");
    replay->from = from;
    return &replay->base;
}

bool fm_recorded_finished(const struct fm_machine *machine, struct fm_error *err)
{
    const struct replay *replay = (const struct replay *)machine;
    if (replay->strayed || replay->next != replay->from->call_count)
        return mismatch(replay->next, err);
    return true;
}
