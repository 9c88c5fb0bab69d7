/* The words of a recording, shared by its writer and its reader. Each list ends with NULL. */
#ifndef FM_FORMAT_RECORDING_WORDS_H
#define FM_FORMAT_RECORDING_WORDS_H

extern const char *const fm_call_words[];  /* by enum fm_call_kind */
extern const char *const fm_chain_words[]; /* by enum fm_chain */
extern const char *const fm_code_words[];  /* by enum fm_error_code */

#endif
