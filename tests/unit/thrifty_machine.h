/* A machine that passes everything on to another, and adds up the references it is asked for. */
#ifndef FM_TESTS_THRIFTY_MACHINE_H
#define FM_TESTS_THRIFTY_MACHINE_H

#include "core/machine.h"
#include "core/refstring.h"

struct thrifty {
    struct fm_machine machine; /* first: a machine's pointer is ours */
    struct fm_machine *inner;
    double references;
};

static inline struct thrifty *thrifty_of(struct fm_machine *machine)
{
    return (struct thrifty *)machine;
}

static inline void thrifty_add(struct thrifty *thrifty, const struct fm_string *string,
                               unsigned repeats)
{
    for (size_t i = 0; i < string->phase_count; i++)
        thrifty->references +=
            (double)string->phases[i].references * (string->phases[i].metered ? repeats : 1);
}

static inline bool thrifty_place(struct fm_machine *machine, size_t bytes, size_t page_size,
                                 struct fm_error *err)
{
    struct fm_machine *inner = thrifty_of(machine)->inner;
    return inner->ops->place(inner, bytes, page_size, err);
}

static inline bool thrifty_run(struct fm_machine *machine, const struct fm_string *string,
                               unsigned repeats, struct fm_sample *samples, struct fm_error *err)
{
    struct fm_machine *inner = thrifty_of(machine)->inner;
    thrifty_add(thrifty_of(machine), string, repeats);
    return inner->ops->run(inner, string, repeats, samples, err);
}

static inline bool thrifty_count(struct fm_machine *machine, const struct fm_string *string,
                                 unsigned repeats, struct fm_sample *samples, struct fm_error *err)
{
    struct fm_machine *inner = thrifty_of(machine)->inner;
    thrifty_add(thrifty_of(machine), string, repeats);
    return inner->ops->count(inner, string, repeats, samples, err);
}

static inline bool thrifty_chain(struct fm_machine *machine, enum fm_chain kind,
                                 uint64_t operations, struct fm_sample *sample,
                                 struct fm_error *err)
{
    struct fm_machine *inner = thrifty_of(machine)->inner;
    return inner->ops->chain(inner, kind, operations, sample, err);
}

static inline double thrifty_elapsed(struct fm_machine *machine)
{
    struct fm_machine *inner = thrifty_of(machine)->inner;
    return inner->ops->elapsed(inner);
}

static inline void thrifty_observe(struct fm_machine *machine, struct fm_environment *environment)
{
    struct fm_machine *inner = thrifty_of(machine)->inner;
    inner->ops->observe(inner, environment);
}

static inline void thrifty_close(struct fm_machine *machine)
{
    struct fm_machine *inner = thrifty_of(machine)->inner;
    inner->ops->close(inner);
}

/* Closing it closes the other. */
static inline struct thrifty thrifty_around(struct fm_machine *inner)
{
    static const struct fm_machine_ops ops = {
        .place = thrifty_place,
        .run = thrifty_run,
        .count = thrifty_count,
        .chain = thrifty_chain,
        .elapsed = thrifty_elapsed,
        .observe = thrifty_observe,
        .close = thrifty_close,
    };
    return (struct thrifty){.machine = {.ops = &ops, .info = inner->info}, .inner = inner};
}

#endif
