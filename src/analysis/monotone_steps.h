/* The non-decreasing step function behind noisy readings. */
#ifndef FM_ANALYSIS_MONOTONE_STEPS_H
#define FM_ANALYSIS_MONOTONE_STEPS_H

#include <stdbool.h>
#include <stddef.h>

/* Isotonic regression whose steps are joined wherever the noise alone explains them. Isotonic
   regression by itself follows the noise at both ends of a long step, down at its beginning and up
   at its end. error[i] > 0 says how unsure readings are relative to each other; how large the noise
   is, the readings tell themselves. fit may be y. False only when memory is out. */
bool fm_monotone_steps(const double *y, const double *error, size_t n, double *fit);

#endif
