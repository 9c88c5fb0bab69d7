/* The application in callgrind's model of this machine. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "meter/valgrind.h"
#include "stat/family.h"
#include "stat/stat.h"

/* Ways to assume where none were measured; the capacity decides how many it is. */
#define SOME_WAYS 8
/* Callgrind searches a set from one end: more ways than this make it crawl. */
#define MOST_WAYS 512

/* The nearest cache with a power of two of sets. Where the ways are known they stay and the size
   gives; where they are not, the size stays and the ways give. */
static void nearest(const struct fm_stat_cache *cache, struct fm_cache_description *out)
{
    const double lines = fmax(1, round(cache->capacity / cache->line));
    const bool known = cache->ways >= 1 && cache->ways <= MOST_WAYS && cache->ways <= lines;
    const double wanted = known ? cache->ways : fmin(SOME_WAYS, lines);
    const double exponent = log2(lines / wanted);
    const double sets = exp2(fmax(0, known ? round(exponent) : floor(exponent)));
    const double ways = known ? wanted : fmax(1, round(lines / sets));
    out->line = (uint32_t)cache->line;
    out->ways = (uint32_t)ways;
    out->capacity = (uint64_t)(sets * ways * cache->line);
}

static void say(const char *name, const struct fm_stat_cache *cache,
                const struct fm_cache_description *used, char *text, size_t size)
{
    const size_t length = strlen(text);
    if (fabs((double)used->capacity - cache->capacity) <= 0.001 * cache->capacity)
        return;
    snprintf(text + length, size - length, "%s%s of %.0f bytes taken as %llu", length ? ", " : "",
             name, cache->capacity, (unsigned long long)used->capacity);
}

void fm_stat_model(const struct fm_stat_cache *inner, const struct fm_stat_cache *outer,
                   const struct fm_stat_cache *instructions, struct fm_description *model,
                   char *rounded, size_t size)
{
    *model = (struct fm_description){.cache_count = 3};
    model->caches[0] = (struct fm_cache_description){.level = 1, .holds = FM_HOLDS_INSTRUCTIONS};
    model->caches[1] = (struct fm_cache_description){.level = 1, .holds = FM_HOLDS_DATA};
    model->caches[2] = (struct fm_cache_description){.level = 2, .holds = FM_HOLDS_BOTH};
    nearest(instructions, &model->caches[0]);
    nearest(inner, &model->caches[1]);
    nearest(outer, &model->caches[2]);
    rounded[0] = '\0';
    say("L1", inner, &model->caches[1], rounded, size);
    say("the outer level", outer, &model->caches[2], rounded, size);
}

static bool add_dump(void *data, const char *text)
{
    return fm_family_add(data, text);
}

bool fm_stat_count(char *const *command, const struct fm_description *model,
                   struct fm_stat_modelled *modelled, struct fm_error *err)
{
    static const char *const names[] = {"I1", "D1", "LL"};
    char texts[3][64];
    const char *options[4] = {NULL};
    struct fm_family family = {.size = 0};
    struct fm_valgrind_end end;
    for (size_t i = 0; i < 3; i++) {
        const struct fm_cache_description *cache = &model->caches[i];
        snprintf(texts[i], sizeof texts[i], "--%s=%llu,%u,%u", names[i],
                 (unsigned long long)cache->capacity, cache->ways, cache->line);
        options[i] = texts[i];
    }
    const struct fm_valgrind_plan plan = {.options = options, .command = command, .silent = true};
    const bool ran = fm_valgrind_run(&plan, add_dump, &family, &end, err);
    *modelled = (struct fm_stat_modelled){.counts = family.counts,
                                          .unseen = fm_family_unseen(&family),
                                          .silent = fm_family_silent(&family),
                                          .asked = end.asked};
    const bool counted = family.size;
    fm_family_free(&family);
    return ran &&
           (counted || fm_fail(err, FM_ERR_UNSUPPORTED, "valgrind: it could not run the command"));
}
