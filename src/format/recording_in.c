#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/file.h"
#include "format/json_in.h"
#include "format/recording.h"
#include "format/recording_words.h"
#include "format/text.h"

/* Recordings from before jumps' targets were counted have one less. */
#define COUNTS_LENGTH (1 + FM_CACHE_LEVELS + FM_TLB_LEVELS + 6)

/* A sample takes a few bytes of text and many of memory. */
#define SAMPLES_MOST ((size_t)1 << 20)

#define AGAIN "; record again with --record"

/* What reading needs on the way: the line for messages, and the calls so far. */
struct reader {
    const char *name;
    size_t line, samples;
    struct fm_error *err;
    struct fm_recording *out;
};

static bool fail_here(const struct reader *reader, const char *what)
{
    return fm_fail(reader->err, FM_ERR_USAGE, "%s:%zu: %s%s", fm_short_path(reader->name),
                   reader->line, what, AGAIN);
}

static bool out_of_memory(const struct reader *reader)
{
    return fm_fail(reader->err, FM_ERR_NO_MEMORY, "%s: not enough memory to read it",
                   fm_short_path(reader->name));
}

static bool get_integer(json_t *json, uint64_t *number)
{
    if (!json_is_integer(json) || json_integer_value(json) < 0)
        return false;
    *number = (uint64_t)json_integer_value(json);
    return true;
}

/* Integers are kept whole here, unlike in results: counts may need all their bits. */
static bool get_real(json_t *json, double *number)
{
    if (!json_is_number(json))
        return false;
    *number = json_number_value(json);
    return isfinite(*number);
}

static bool get_word(json_t *json, const char *const *words, unsigned *index)
{
    const char *text = json_string_value(json);
    for (*index = 0; text && words[*index]; ++*index)
        if (strcmp(words[*index], text) == 0)
            return true;
    return false;
}

static bool get_counts(json_t *json, struct fm_counts *counts)
{
    uint64_t number[COUNTS_LENGTH] = {0};
    const size_t length = json_array_size(json);
    if (length != COUNTS_LENGTH && length != COUNTS_LENGTH - 1)
        return false;
    for (size_t i = 0; i < length; i++)
        if (!get_integer(json_array_get(json, i), &number[i]))
            return false;
    const uint64_t *from = number;
    counts->references = *from++;
    for (size_t i = 0; i < FM_CACHE_LEVELS; i++)
        counts->cache_miss[i] = *from++;
    for (size_t i = 0; i < FM_TLB_LEVELS; i++)
        counts->tlb_miss[i] = *from++;
    counts->walks = *from++;
    counts->prefetches = *from++;
    counts->writebacks = *from++;
    counts->fetch_miss = *from++;
    counts->fetch_tlb_miss = *from++;
    counts->target_miss = *from++;
    return true;
}

static bool get_sample(json_t *json, struct fm_sample *sample)
{
    const size_t length = json_array_size(json);
    json_t *disturbed = json_array_get(json, 2);
    if (length < 2 || length > 4 || !get_real(json_array_get(json, 0), &sample->ns) ||
        !get_integer(json_array_get(json, 1), &sample->references) ||
        (disturbed && !json_is_boolean(disturbed)))
        return false;
    sample->disturbed = json_is_true(disturbed);
    sample->counted = length == 4;
    return !sample->counted || get_counts(json_array_get(json, 3), &sample->counts);
}

/* Fills call->samples, which the caller frees. */
static bool get_samples(struct reader *reader, json_t *json, struct fm_call *call)
{
    const size_t count = json_array_size(json);
    if (!json_is_array(json))
        return fail_here(reader, "the samples of this call are missing");
    reader->samples += count;
    if (reader->samples > SAMPLES_MOST)
        return fail_here(reader, "holds more samples than any survey takes");
    call->samples = calloc(count ? count : 1, sizeof *call->samples);
    if (!call->samples)
        return out_of_memory(reader);
    call->sample_count = count;
    for (size_t i = 0; i < count; i++)
        if (!get_sample(json_array_get(json, i), &call->samples[i]))
            return fail_here(reader, "a sample is not [ns, references, disturbed, counts]");
    return true;
}

static bool get_label(json_t *json, char label[FM_STRING_LABEL])
{
    if (!json_is_string(json) || json_string_length(json) >= FM_STRING_LABEL)
        return false;
    strcpy(label, json_string_value(json));
    return true;
}

static bool get_environment(const struct reader *reader, json_t *line,
                            struct fm_environment *environment)
{
    char name[256];
    snprintf(name, sizeof name, "%s:%zu", fm_short_path(reader->name), reader->line);
    const struct fm_json_place place = {.name = name, .err = reader->err};
    json_t *holder = json_pack("{s:O?}", "environment", json_array_get(line, 1));
    const bool ok = holder && fm_json_get_environment(&place, holder, "environment", environment);
    json_decref(holder);
    return ok;
}

/* The arguments and the answer of a call; *used is how many elements of the line they took. */
static bool get_answer(struct reader *reader, json_t *line, struct fm_call *call, size_t *used)
{
    unsigned word;
    *used = 2;
    switch (call->kind) {
    case FM_CALL_PLACE:
        *used = 3;
        return (get_integer(json_array_get(line, 1), &call->of.place.bytes) &&
                get_integer(json_array_get(line, 2), &call->of.place.page_size)) ||
               fail_here(reader, "is not [\"place\", bytes, page_size]");
    case FM_CALL_RUN:
    case FM_CALL_COUNT:
        *used = 3;
        if (!get_label(json_array_get(line, 1), call->of.label))
            return fail_here(reader, call->kind == FM_CALL_RUN
                                         ? "is not [\"run\", label, samples]"
                                         : "is not [\"count\", label, samples]");
        return get_samples(reader, json_array_get(line, 2), call);
    case FM_CALL_CHAIN:
        *used = 4;
        if (!get_word(json_array_get(line, 1), fm_chain_words, &word) ||
            !get_integer(json_array_get(line, 2), &call->of.chain.operations))
            return fail_here(reader, "is not [\"chain\", kind, operations, samples]");
        call->of.chain.kind = (enum fm_chain)word;
        return get_samples(reader, json_array_get(line, 3), call);
    case FM_CALL_ELAPSED:
        return get_real(json_array_get(line, 1), &call->of.seconds) ||
               fail_here(reader, "is not [\"elapsed\", seconds]");
    case FM_CALL_OBSERVE:
        call->environment = calloc(1, sizeof *call->environment);
        if (!call->environment)
            return out_of_memory(reader);
        return get_environment(reader, line, call->environment);
    }
    return false;
}

static bool get_error(struct reader *reader, json_t *line, size_t used, struct fm_call *call)
{
    json_t *json = json_array_get(line, used);
    const char *text = json_string_value(json_object_get(json, "text"));
    unsigned code;
    if (json_array_size(line) > used + 1 || (json && !json_is_object(json)))
        return fail_here(reader, "the line has more in it than a call");
    if (!json)
        return true;
    if (!get_word(json_object_get(json, "error"), fm_code_words, &code) || code == FM_ERR_OK ||
        !text)
        return fail_here(reader, "the error of this call is not one we know");
    call->error = calloc(1, sizeof *call->error);
    if (!call->error)
        return out_of_memory(reader);
    fm_fail(call->error, (enum fm_error_code)code, "%s", text);
    return true;
}

static bool read_call(struct reader *reader, json_t *line)
{
    unsigned kind;
    struct fm_call call = {0};
    if (!get_word(json_array_get(line, 0), fm_call_words, &kind))
        return fail_here(reader, "is no call that this version knows");
    call.kind = (enum fm_call_kind)kind;
    size_t used;
    bool ok = get_answer(reader, line, &call, &used) && get_error(reader, line, used, &call);
    if (ok && call.kind == FM_CALL_CHAIN && !call.error && call.sample_count != 1)
        ok = fail_here(reader, "a chain has one sample");
    if (ok && !fm_recording_add(reader->out, &call))
        ok = out_of_memory(reader);
    free(call.samples);
    free(call.environment);
    free(call.error);
    return ok;
}

static bool read_options(const struct reader *reader, const struct fm_json_place *place,
                         json_t *header)
{
    json_t *options = fm_json_object(place, header, "options");
    const char *key;
    json_t *value;
    if (!options)
        return false;
    json_object_foreach(options, key, value)
    {
        if (!json_is_string(value) ||
            !fm_recording_set_option(reader->out, key, json_string_value(value)))
            return fail_here(reader, "an option is no short text");
    }
    return true;
}

static bool refuse_schema(struct reader *reader, const char *schema)
{
    static const char family[] = "fathom-recording/";
    char shown[48];
    if (!schema || strncmp(schema, family, strlen(family)) != 0)
        return fm_fail(reader->err, FM_ERR_USAGE,
                       "%s:1: is no recording (schema %s); give a file written with --record",
                       fm_short_path(reader->name), FM_RECORDING_SCHEMA);
    return fm_fail(reader->err, FM_ERR_USAGE,
                   "%s:1: schema: is %s, and this fathom reads %s; use a newer fathom",
                   fm_short_path(reader->name),
                   fm_escape(schema, strlen(schema), shown, sizeof shown), FM_RECORDING_SCHEMA);
}

static bool read_header(struct reader *reader, const char *text, size_t length)
{
    json_t *header = fm_json_parse(text, length, reader->name, NULL);
    const struct fm_json_place place = {.name = reader->name, .err = reader->err};
    const char *schema = json_string_value(json_object_get(header, "schema"));
    bool ok;
    if (!schema || strcmp(schema, FM_RECORDING_SCHEMA) != 0)
        ok = refuse_schema(reader, schema);
    else
        ok = fm_json_get_machine(&place, header, "machine", &reader->out->machine) &&
             read_options(reader, &place, header);
    json_decref(header);
    return ok;
}

/* One line after the header; *done once it is the end mark. */
static bool read_line(struct reader *reader, const char *text, size_t length, bool *done)
{
    json_error_t problem;
    json_t *line = json_loadb(text, length, JSON_REJECT_DUPLICATES, &problem);
    if (!line)
        return fail_here(reader, "is not valid JSON; the file is damaged or was cut short");
    const char *first = json_string_value(json_array_get(line, 0));
    uint64_t calls;
    bool ok = true;
    *done = first && strcmp(first, "end") == 0;
    if (!*done)
        ok = read_call(reader, line);
    else if (!get_integer(json_array_get(line, 1), &calls) || calls != reader->out->call_count)
        ok = fail_here(reader, "the end mark counts other calls than there are; lines are missing");
    json_decref(line);
    return ok;
}

static bool read_lines(struct reader *reader, const char *text, size_t length)
{
    bool done = false;
    const char *const end = text + length;
    for (const char *next; text < end; text = next) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const size_t size = (size_t)((newline ? newline : end) - text);
        next = newline ? newline + 1 : end;
        reader->line++;
        if (done)
            return fail_here(reader, "there is more after the end mark");
        if (reader->line == 1 ? !read_header(reader, text, size)
                              : !read_line(reader, text, size, &done))
            return false;
    }
    if (reader->line == 0)
        return fm_fail(reader->err, FM_ERR_USAGE, "%s: is empty%s", fm_short_path(reader->name),
                       AGAIN);
    return done || fail_here(reader, "the file ends without its end mark: it was cut short");
}

bool fm_recording_parse(const char *text, size_t length, const char *name, struct fm_recording *out,
                        struct fm_error *err)
{
    struct fm_recording recording;
    fm_recording_init(&recording);
    struct reader reader = {.name = name, .err = err, .out = &recording};
    const char *nul = memchr(text, '\0', length);
    bool ok;
    if (nul)
        ok = fm_fail(err, FM_ERR_USAGE, "%s:%zu: holds a NUL byte, which no recording does%s",
                     fm_short_path(name), fm_line_of(text, (size_t)(nul - text)), AGAIN);
    else
        ok = read_lines(&reader, text, length);
    if (ok)
        *out = recording;
    else
        fm_recording_free(&recording);
    return ok;
}

bool fm_recording_read(const char *path, struct fm_recording *out, struct fm_error *err)
{
    char *text;
    size_t length;
    if (!fm_file_read(path, FM_RECORDING_FILE_LIMIT, &text, &length, err))
        return false;
    const bool ok = fm_recording_parse(text, length, path, out, err);
    free(text);
    return ok;
}
