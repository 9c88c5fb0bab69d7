/* Ctrl-C: the first asks the survey to stop, the second ends the program. */
#ifndef FM_CLI_INTERRUPT_H
#define FM_CLI_INTERRUPT_H

#include <stdbool.h>

void fm_catch_interrupts(void);
bool fm_interrupted(void);

#endif
