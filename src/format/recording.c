#include "format/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/file.h"
#include "format/json_out.h"
#include "format/json_result.h"
#include "format/recording_words.h"

const char *const fm_call_words[] = {[FM_CALL_PLACE] = "place",
                                     [FM_CALL_RUN] = "run",
                                     [FM_CALL_COUNT] = "count",
                                     [FM_CALL_CHAIN] = "chain",
                                     [FM_CALL_ELAPSED] = "elapsed",
                                     [FM_CALL_OBSERVE] = "observe",
                                     NULL};
const char *const fm_chain_words[] = {[FM_CHAIN_ADD] = "add", [FM_CHAIN_ROTATE] = "rotate", NULL};
const char *const fm_code_words[] = {
#define X(name, text) [FM_ERR_##name] = #name,
    FM_ERROR_LIST(X)
#undef X
        NULL};

void fm_recording_init(struct fm_recording *recording)
{
    *recording = (struct fm_recording){.machine.cpu = -1};
}

static void free_call(struct fm_call *call)
{
    free(call->samples);
    free(call->environment);
    free(call->error);
}

void fm_recording_free(struct fm_recording *recording)
{
    for (size_t i = 0; i < recording->call_count; i++)
        free_call(&recording->calls[i]);
    free(recording->calls);
    fm_recording_init(recording);
}

/* A copy of `size` bytes at *slot in place of the pointer there; false when memory is out. */
static bool own(void **slot, size_t size)
{
    if (!*slot)
        return true;
    void *copy = malloc(size ? size : 1);
    if (copy)
        memcpy(copy, *slot, size);
    *slot = copy;
    return copy != NULL;
}

bool fm_recording_add(struct fm_recording *recording, const struct fm_call *call)
{
    if (recording->call_count == recording->call_space) {
        const size_t larger = recording->call_space ? recording->call_space * 2 : 64;
        struct fm_call *moved = realloc(recording->calls, larger * sizeof *moved);
        if (!moved)
            return false;
        recording->calls = moved;
        recording->call_space = larger;
    }
    struct fm_call copy = *call;
    /* Every pointer is replaced, even after a failure, so that only copies are freed. */
    bool ok = own((void **)&copy.samples, call->sample_count * sizeof *call->samples);
    ok = own((void **)&copy.environment, sizeof *call->environment) && ok;
    ok = own((void **)&copy.error, sizeof *call->error) && ok;
    if (ok)
        recording->calls[recording->call_count++] = copy;
    else
        free_call(&copy);
    return ok;
}

const char *fm_recording_option(const struct fm_recording *recording, const char *key)
{
    for (size_t i = 0; i < recording->option_count; i++)
        if (strcmp(recording->options[i].key, key) == 0)
            return recording->options[i].value;
    return NULL;
}

bool fm_recording_set_option(struct fm_recording *recording, const char *key, const char *value)
{
    size_t i = 0;
    while (i < recording->option_count && strcmp(recording->options[i].key, key) != 0)
        i++;
    if (i == FM_RECORDING_OPTIONS || strlen(key) >= sizeof recording->options[i].key ||
        strlen(value) >= sizeof recording->options[i].value)
        return false;
    if (i == recording->option_count)
        recording->option_count++;
    strcpy(recording->options[i].key, key);
    strcpy(recording->options[i].value, value);
    return true;
}

static void write_counts(struct fm_json *json, const struct fm_counts *counts)
{
    fm_json_begin(json, NULL, '[', true);
    fm_json_integer(json, NULL, counts->references);
    for (size_t i = 0; i < FM_CACHE_LEVELS; i++)
        fm_json_integer(json, NULL, counts->cache_miss[i]);
    for (size_t i = 0; i < FM_TLB_LEVELS; i++)
        fm_json_integer(json, NULL, counts->tlb_miss[i]);
    fm_json_integer(json, NULL, counts->walks);
    fm_json_integer(json, NULL, counts->prefetches);
    fm_json_integer(json, NULL, counts->writebacks);
    fm_json_integer(json, NULL, counts->fetch_miss);
    fm_json_integer(json, NULL, counts->fetch_tlb_miss);
    fm_json_integer(json, NULL, counts->target_miss);
    fm_json_end(json, ']');
}

/* [ns, references], then true if it was disturbed (or false before counts), then the counts. */
static void write_samples(struct fm_json *json, const struct fm_call *call)
{
    fm_json_begin(json, NULL, '[', true);
    for (size_t i = 0; i < call->sample_count; i++) {
        const struct fm_sample *sample = &call->samples[i];
        fm_json_begin(json, NULL, '[', true);
        fm_json_number(json, NULL, sample->ns);
        fm_json_integer(json, NULL, sample->references);
        if (sample->disturbed || sample->counted)
            fm_json_bool(json, NULL, sample->disturbed);
        if (sample->counted)
            write_counts(json, &sample->counts);
        fm_json_end(json, ']');
    }
    fm_json_end(json, ']');
}

/* ["place", bytes, page_size], ["run", label, [samples]], ["count", label, [samples]],
   ["chain", kind, operations, [sample]],
   ["elapsed", seconds], ["observe", {facts}]; a call that failed has {"error": ...} at its end. */
static void write_call(struct fm_json *json, const struct fm_call *call)
{
    fm_json_begin(json, NULL, '[', true);
    fm_json_text(json, NULL, fm_call_words[call->kind]);
    switch (call->kind) {
    case FM_CALL_PLACE:
        fm_json_integer(json, NULL, call->of.place.bytes);
        fm_json_integer(json, NULL, call->of.place.page_size);
        break;
    case FM_CALL_RUN:
    case FM_CALL_COUNT:
        fm_json_text(json, NULL, call->of.label);
        write_samples(json, call);
        break;
    case FM_CALL_CHAIN:
        fm_json_text(json, NULL, fm_chain_words[call->of.chain.kind]);
        fm_json_integer(json, NULL, call->of.chain.operations);
        write_samples(json, call);
        break;
    case FM_CALL_ELAPSED:
        fm_json_number(json, NULL, call->of.seconds);
        break;
    case FM_CALL_OBSERVE:
        fm_json_environment(json, NULL, call->environment);
        break;
    }
    if (call->error) {
        fm_json_begin(json, NULL, '{', true);
        fm_json_text(json, "error", fm_code_words[call->error->code]);
        fm_json_text(json, "text", call->error->text);
        fm_json_end(json, '}');
    }
    fm_json_end(json, ']');
    fm_json_next_line(json);
}

static void write_header(struct fm_json *json, const struct fm_recording *recording,
                         const char *version)
{
    fm_json_begin(json, NULL, '{', true);
    fm_json_text(json, "schema", FM_RECORDING_SCHEMA);
    fm_json_begin(json, "fathom", '{', true);
    fm_json_text(json, "version", version);
    fm_json_end(json, '}');
    fm_json_machine(json, "machine", &recording->machine);
    fm_json_begin(json, "options", '{', true);
    for (size_t i = 0; i < recording->option_count; i++)
        fm_json_text(json, recording->options[i].key, recording->options[i].value);
    fm_json_end(json, '}');
    fm_json_end(json, '}');
    fm_json_next_line(json);
}

char *fm_recording_to_text(const struct fm_recording *recording, const char *version)
{
    struct fm_json json;
    if (!fm_json_open(&json))
        return NULL;
    write_header(&json, recording, version);
    for (size_t i = 0; i < recording->call_count; i++)
        write_call(&json, &recording->calls[i]);
    fm_json_begin(&json, NULL, '[', true);
    fm_json_text(&json, NULL, "end");
    fm_json_integer(&json, NULL, recording->call_count);
    fm_json_end(&json, ']');
    return fm_json_close(&json);
}

bool fm_recording_write(const struct fm_recording *recording, const char *version, const char *path,
                        struct fm_error *err)
{
    char *text = fm_recording_to_text(recording, version);
    if (!text)
        return fm_fail(err, FM_ERR_NO_MEMORY, "%s: not enough memory to write it", path);
    const bool ok = fm_file_write(path, text, strlen(text), err);
    free(text);
    return ok;
}
