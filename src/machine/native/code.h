/* Strings of jumps as machine code in the arena. A page is written, then made executable, and made
 * writable again before it is written anew: never both at once. */
#ifndef FM_MACHINE_NATIVE_CODE_H
#define FM_MACHINE_NATIVE_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "core/refstring.h"
#include "machine/native/arena.h"
#include "machine/native/emit.h"

/* Makes the arena writable, if it is not. */
bool fm_code_open(struct fm_arena *arena, struct fm_error *err);

/* Writes the slots of all orders that jumps walk and makes the arena executable, which can then be
   read but not written. UNSUPPORTED, with what forbids it, where that cannot be. */
bool fm_code_write(struct fm_arena *arena, const struct fm_string *string,
                   const struct fm_emitter *emitter, struct fm_error *err);

/* Runs so many jumps, whole laps, over an order that has been written. */
void fm_code_run(const struct fm_arena *arena, const struct fm_order *order, uint64_t jumps);

#endif
