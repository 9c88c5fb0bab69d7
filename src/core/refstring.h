/* The reference string: which words of an arena are touched, in what order, how often.
 *
 * A string is a value. It knows nothing of clocks or of where it runs; the same string gives the
 * same references on this computer, on a simulated one and in a recording. The room refstring/
 * builds strings; the machines run them. */
#ifndef FM_CORE_REFSTRING_H
#define FM_CORE_REFSTRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

/* Every reference is to an aligned word of this many bytes: room for one pointer of the chain. */
#define FM_WORD 8u

#define FM_STRING_PHASES 40
#define FM_STRING_ORDERS 16
#define FM_STRING_LABEL  160

/* LOAD_REAL: into a register for real numbers, which on some processors takes another way.
   LOAD_PAIR: the words of an order two by two, both loads of a pair at once; the next pair waits
   for both. */
enum fm_op { FM_OP_LOAD, FM_OP_STORE, FM_OP_FLUSH, FM_OP_JUMP, FM_OP_LOAD_REAL, FM_OP_LOAD_PAIR };

/* A code slot: so many operations of FM_FILLER bytes each that do nothing, then a jump, which has
   FM_WORD bytes of room. The first slot of an order counts the laps: it has no filler and takes
   FM_TURN bytes. */
#define FM_FILLER 4u
#define FM_TURN   16u

/* One cyclic order over distinct words of the arena. Walked by jumps, each word begins a code slot
   whose jump leads to the slot of the next; slots must not overlap. */
struct fm_order {
    uint32_t *word; /* offset in the arena, in words of FM_WORD bytes */
    size_t count;
    unsigned filler; /* of each slot: operations before the jump; of data: 0 */
};

/* A phase walks an order, or the first `window` words of it, `references` references long; it
   wraps around as often as that takes. A chained phase follows pointers, so that each load waits
   for the one before; only a phase over a whole order can be chained. Jumps go whole laps over a
   whole order, pairs an even number of words of one that has an even number. A metered phase is
   timed, and when a machine repeats it, each repeat goes on where the one before stopped. A string
   with jumps stores to nothing: its pages are code then. */
struct fm_phase {
    enum fm_op op;
    unsigned order;
    size_t window; /* 0: the whole order */
    uint64_t references;
    bool chained;
    bool metered;
};

struct fm_string {
    char label[FM_STRING_LABEL]; /* what it is, printable: "swept(bytes=65536,unit=64,…)" */
    size_t bytes;                /* span in the arena: every word lies below this */
    struct fm_order orders[FM_STRING_ORDERS];
    size_t order_count;
    struct fm_phase phases[FM_STRING_PHASES];
    size_t phase_count;
};

bool fm_string_has_jumps(const struct fm_string *string);

/* Whether every machine can run its jumps, whose orders are there and not empty: whole laps, slots
   within the span that lie over nothing else that is written, and no stores. INTERNAL if not. */
bool fm_check_jumps(const struct fm_string *string, struct fm_error *err);

#endif
