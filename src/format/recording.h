/* A recording: every call a survey made on a machine, with what came back, so that the survey can
 * be repeated without the machine.
 *
 * The file is JSON lines, schema fathom-recording/1: a header with the machine and the survey's
 * options, one line a call, and a last line that counts the calls, by which a file that was cut
 * short is known. */
#ifndef FM_FORMAT_RECORDING_H
#define FM_FORMAT_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/machine.h"
#include "core/result.h"

#define FM_RECORDING_SCHEMA     "fathom-recording/1"
#define FM_RECORDING_FILE_LIMIT ((size_t)64 << 20)
#define FM_RECORDING_OPTIONS    128

enum fm_call_kind {
    FM_CALL_PLACE,
    FM_CALL_RUN,
    FM_CALL_COUNT,
    FM_CALL_CHAIN,
    FM_CALL_ELAPSED,
    FM_CALL_OBSERVE
};

/* One call on a machine and its answer. */
struct fm_call {
    enum fm_call_kind kind;
    union {
        struct {
            uint64_t bytes, page_size;
        } place;
        char label[FM_STRING_LABEL]; /* of the string run or counted; sample_count is the repeats */
        struct {
            enum fm_chain kind;
            uint64_t operations;
        } chain;
        double seconds; /* elapsed */
    } of;
    struct fm_sample *samples; /* what run, count and chain brought */
    size_t sample_count;
    struct fm_environment *environment; /* what observe saw */
    struct fm_error *error;             /* NULL: the call succeeded */
};

struct fm_recorded_option {
    char key[48], value[256];
};

struct fm_recording {
    struct fm_machine_info machine;
    struct fm_recorded_option options[FM_RECORDING_OPTIONS];
    size_t option_count;
    struct fm_call *calls;
    size_t call_count, call_space;
};

void fm_recording_init(struct fm_recording *recording);
void fm_recording_free(struct fm_recording *recording);

/* Appends a deep copy of the call; false when memory is out. */
bool fm_recording_add(struct fm_recording *recording, const struct fm_call *call);

/* An option of the survey, as text: a replay needs the same seed, effort, method. Setting one again
   replaces it; false when it is too long or one too many. */
bool fm_recording_set_option(struct fm_recording *recording, const char *key, const char *value);
/* NULL if there is none. */
const char *fm_recording_option(const struct fm_recording *recording, const char *key);

/* The whole file as text, for the caller to free; NULL when memory is out. */
char *fm_recording_to_text(const struct fm_recording *recording, const char *version);
bool fm_recording_write(const struct fm_recording *recording, const char *version, const char *path,
                        struct fm_error *err);

/* Both fill *out, to be freed with fm_recording_free; on failure it is left alone and err (USAGE)
   names file, line and remedy. */
bool fm_recording_parse(const char *text, size_t length, const char *name, struct fm_recording *out,
                        struct fm_error *err);
bool fm_recording_read(const char *path, struct fm_recording *out, struct fm_error *err);

#endif
