#include "meter/joint.h"

#include <stdlib.h>
#include <string.h>

struct joint {
    struct fm_tally tally; /* first: a tally's pointer is ours */
    struct fm_tally *first, *second;
};

static struct joint *self(struct fm_tally *tally)
{
    return (struct joint *)tally;
}

static bool prepare(struct fm_tally *tally, unsigned runs, struct fm_error *err)
{
    const struct joint *joint = self(tally);
    return joint->first->ops->prepare(joint->first, runs, err) &&
           joint->second->ops->prepare(joint->second, runs, err);
}

/* One within the other: what it costs to start the inner one is the outer's to see, as is that of
   any meter, and as constant. */
static void start(struct fm_tally *tally)
{
    const struct joint *joint = self(tally);
    joint->second->ops->start(joint->second);
    joint->first->ops->start(joint->first);
}

static void stop(struct fm_tally *tally)
{
    const struct joint *joint = self(tally);
    joint->first->ops->stop(joint->first);
    joint->second->ops->stop(joint->second);
}

static bool collect(struct fm_tally *tally, struct fm_counts *counts, unsigned runs,
                    struct fm_error *err)
{
    const struct joint *joint = self(tally);
    struct fm_counts *others = calloc(runs, sizeof *others);
    if (!others)
        return fm_fail(err, FM_ERR_NO_MEMORY, "no memory for counts");
    const bool good = joint->first->ops->collect(joint->first, counts, runs, err) &&
                      joint->second->ops->collect(joint->second, others, runs, err);
    for (unsigned i = 0; i < runs && good; i++)
        for (unsigned bit = 0; bit < FM_EVENTS; bit++)
            if (tally->info.by_second & 1u << bit)
                fm_event_add(&counts[i], bit,
                             fm_event_count(&others[i], bit) - fm_event_count(&counts[i], bit));
    free(others);
    return good;
}

static void close_joint(struct fm_tally *tally)
{
    const struct joint *joint = self(tally);
    joint->first->ops->close(joint->first);
    joint->second->ops->close(joint->second);
    free(tally);
}

static const struct fm_tally_ops ops = {
    .prepare = prepare,
    .start = start,
    .stop = stop,
    .collect = collect,
    .close = close_joint,
};

static struct fm_tally *alone(struct fm_tally *kept, struct fm_tally *other)
{
    if (other)
        other->ops->close(other);
    return kept;
}

struct fm_tally *fm_tally_join(struct fm_tally *first, struct fm_tally *second,
                               struct fm_error *err)
{
    if (!first && !second) {
        fm_fail(err, FM_ERR_UNSUPPORTED, "meter: nothing counts here");
        return NULL;
    }
    if (!first)
        return second;
    const unsigned more = second ? second->info.events & ~first->info.events : 0;
    if (!more)
        return alone(first, second);
    struct joint *joint = calloc(1, sizeof *joint);
    if (!joint) {
        alone(NULL, first);
        alone(NULL, second);
        fm_fail(err, FM_ERR_NO_MEMORY, "no memory for the meter");
        return NULL;
    }
    joint->first = first;
    joint->second = second;
    joint->tally = (struct fm_tally){.ops = &ops, .info = first->info};
    joint->tally.info.events |= more;
    joint->tally.info.by_second = more;
    memcpy(joint->tally.info.second, second->info.meter, sizeof joint->tally.info.second);
    return &joint->tally;
}

const struct fm_tally *fm_tally_part(const struct fm_tally *tally, const char *meter)
{
    if (!tally || tally->ops != &ops)
        return tally && strcmp(tally->info.meter, meter) == 0 ? tally : NULL;
    const struct joint *joint = (const struct joint *)tally;
    const struct fm_tally *part = fm_tally_part(joint->first, meter);
    return part ? part : fm_tally_part(joint->second, meter);
}
