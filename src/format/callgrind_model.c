#include "format/callgrind_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/units.h"
#include "format/text.h"

#define HOW "write it like \"D1=32768,8,64 LL=262144,16,64\": size, ways and line of each"
/* Callgrind takes no shorter line. */
#define SHORTEST_LINE 16
#define LONGEST_LINE  4096
#define MOST_BYTES    ((uint64_t)1 << 30)

static const struct {
    const char *name, *ours;
    unsigned level;
    enum fm_holds holds;
} kinds[] = {
    {"I1", "l1i", 1, FM_HOLDS_INSTRUCTIONS},
    {"D1", "l1d", 1, FM_HOLDS_DATA},
    {"LL", "l2", 2, FM_HOLDS_BOTH},
};
#define KINDS (sizeof kinds / sizeof kinds[0])

static bool power_of_two(uint64_t x)
{
    return x && (x & (x - 1)) == 0;
}

/* The next of the fields of "size,ways,line" into a text of its own. */
static bool next_field(const char **at, char *field, size_t size)
{
    const size_t length = strcspn(*at, ",");
    if (length == 0 || length >= size)
        return false;
    memcpy(field, *at, length);
    field[length] = '\0';
    *at += length + ((*at)[length] == ',');
    return true;
}

static bool read_figures(const char *text, struct fm_cache_description *cache)
{
    char size[32], ways[32], line[32];
    uint64_t way_count, line_bytes;
    if (!next_field(&text, size, sizeof size) || !next_field(&text, ways, sizeof ways) ||
        !next_field(&text, line, sizeof line) || *text || text[-1] == ',' ||
        !fm_parse_size(size, &cache->capacity) || !fm_parse_count(ways, &way_count) ||
        !fm_parse_size(line, &line_bytes) || line_bytes > LONGEST_LINE || way_count > UINT32_MAX)
        return false;
    cache->ways = (uint32_t)way_count;
    cache->line = (uint32_t)line_bytes;
    return true;
}

static bool possible(const char *name, const struct fm_cache_description *cache,
                     struct fm_error *err)
{
    if (!power_of_two(cache->line) || cache->line < SHORTEST_LINE)
        return fm_fail(err, FM_ERR_USAGE,
                       "%s: a line of %" PRIu32 " bytes: callgrind takes powers of two from %d on",
                       name, cache->line, SHORTEST_LINE);
    const uint64_t row = (uint64_t)cache->line * cache->ways;
    if (row == 0 || cache->capacity > MOST_BYTES || cache->capacity % row ||
        !power_of_two(cache->capacity / row))
        return fm_fail(err, FM_ERR_USAGE,
                       "%s: %" PRIu64 " bytes of %" PRIu32 " ways and lines of %" PRIu32
                       ": callgrind takes a power of two of sets, and up to 1 GiB",
                       name, cache->capacity, cache->ways, cache->line);
    return true;
}

/* One word such as "D1=32768,8,64". */
static bool read_word(const char *word, struct fm_description *out, bool given[KINDS],
                      struct fm_error *err)
{
    char shown[96];
    for (size_t i = 0; i < KINDS; i++) {
        struct fm_cache_description *cache = &out->caches[i];
        if (strncmp(word, kinds[i].name, 2) != 0 || word[2] != '=')
            continue;
        if (given[i])
            return fm_fail(err, FM_ERR_USAGE, "%s is there twice: leave one out", kinds[i].name);
        given[i] = true;
        if (!read_figures(word + 3, cache))
            break;
        return possible(kinds[i].name, cache, err);
    }
    return fm_fail(err, FM_ERR_USAGE, "'%s' is no cache: " HOW,
                   fm_escape(word, strlen(word), shown, sizeof shown));
}

bool fm_callgrind_model(const char *text, struct fm_description *out, struct fm_error *err)
{
    bool given[KINDS] = {false};
    *out = (struct fm_description){.cache_count = KINDS};
    for (size_t i = 0; i < KINDS; i++) {
        struct fm_cache_description *cache = &out->caches[i];
        *cache = (struct fm_cache_description){
            .level = kinds[i].level, .holds = kinds[i].holds, .write_allocate = true};
        snprintf(cache->name, sizeof cache->name, "%s", kinds[i].ours);
    }
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        char word[64];
        const size_t length = strcspn(text, " ");
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1),
                 text);
        if (length >= sizeof word)
            return fm_fail(err, FM_ERR_USAGE, "'%.8s...' is no cache: " HOW, word);
        if (!read_word(word, out, given, err))
            return false;
        text += length;
    }
    if (!given[0]) {
        out->caches[0].capacity = 32768;
        out->caches[0].ways = 8;
        out->caches[0].line = 64;
    }
    for (size_t i = 1; i < KINDS; i++)
        if (!given[i])
            return fm_fail(err, FM_ERR_USAGE, "%s is missing: " HOW, kinds[i].name);
    return true;
}

char *fm_callgrind_option(const struct fm_cache_description *cache, char text[FM_CALLGRIND_OPTION])
{
    const char *name = cache->holds == FM_HOLDS_INSTRUCTIONS ? "I1"
                       : cache->level == 1                   ? "D1"
                                                             : "LL";
    snprintf(text, FM_CALLGRIND_OPTION, "--%s=%" PRIu64 ",%" PRIu32 ",%" PRIu32, name,
             cache->capacity, cache->ways, cache->line);
    return text;
}
