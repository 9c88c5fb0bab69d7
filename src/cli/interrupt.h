/* Ctrl-C: the first asks the survey to stop, another one a second later ends the program. */
#ifndef FM_CLI_INTERRUPT_H
#define FM_CLI_INTERRUPT_H

#include <stdbool.h>

/* From the start of the program on, so that none comes too early. What waits for input fails. */
void fm_catch_interrupts(void);
/* From here on nothing fails because of one: who measures asks whether there was any. */
void fm_outlast_interrupts(void);
/* For commands that have nothing to stop: signals do again what they did before. */
void fm_release_interrupts(void);
bool fm_interrupted(void);

#endif
