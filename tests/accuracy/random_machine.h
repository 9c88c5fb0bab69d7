/* Random machines for the accuracy figures: odd ways, odd sizes, different lines to a level. */
#ifndef FM_TESTS_RANDOM_MACHINE_H
#define FM_TESTS_RANDOM_MACHINE_H

#include "core/description.h"

/* The index-th machine of a seed. With noise its pages are scattered and its clock is unsteady;
   without, pages are contiguous and the clock is exact. The same hierarchy either way. */
void fm_random_machine(uint64_t seed, unsigned index, bool noise, struct fm_description *machine);

#endif
