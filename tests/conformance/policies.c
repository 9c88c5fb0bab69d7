/* Replacement policies of AMP's Table 1 (Coleman and Davidson 2001). AMP tells LRU and its likes
 * from random, and saw nothing random in the first level of any machine: what the survey leaves
 * must hold LRU or a likeness of it, and no lots. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/replacement.h"
#include "format/machine_file.h"
#include "machine/simulated/simulated.h"
#include "survey/survey.h"

static const struct {
    const char *file;
    unsigned ways;
} machines[] = {
    {"intel-pentium-133", 2},    {"intel-pentium-pro-200", 2},  {"intel-pentium-ii-233", 4},
    {"sun-ultrasparc-i-167", 1}, {"mips-r10000-225-octane", 2},
};
#define MACHINES (sizeof machines / sizeof machines[0])

static bool is_like_lru(const struct fm_value *word)
{
    return strcmp(word->text, "lru") == 0 || strcmp(word->text, "tree-plru") == 0 ||
           strcmp(word->text, "bit-plru") == 0;
}

static bool is_random(const struct fm_value *word)
{
    return strcmp(word->text, "random") == 0 || strcmp(word->text, "brrip") == 0;
}

static bool holds(const struct fm_finding *found, unsigned ways)
{
    if (!found)
        return false;
    if (ways == 1) /* nothing to choose */
        return found->status == FM_ABSENT;
    if (found->status == FM_MEASURED)
        return is_like_lru(&found->value);
    bool like = false, lots = false;
    for (size_t i = 0; i < found->candidate_count; i++) {
        like |= is_like_lru(&found->candidates[i]);
        lots |= is_random(&found->candidates[i]);
    }
    return like && !lots;
}

static bool survey(const char *file, struct fm_result *result, struct fm_error *err)
{
    const char *root = getenv("FATHOM_SOURCE");
    const struct fm_survey_options options = {
        .effort = FM_NORMAL, .seed = 1, .only = "replacement"};
    struct fm_description description;
    char path[512];
    snprintf(path, sizeof path, "%s/machines/%s.yaml", root ? root : ".", file);
    if (!fm_description_read(path, &description, err))
        return false;
    struct fm_machine *machine = fm_simulated_open(&description, 1, err);
    if (!machine)
        return false;
    const bool good = fm_survey(machine, NULL, &options, result, err);
    machine->ops->close(machine);
    return good;
}

int main(void)
{
    bool all = true;
    printf("1..%zu\n", MACHINES);
    for (size_t i = 0; i < MACHINES; i++) {
        struct fm_error err = {.text = "not as the paper has it"};
        struct fm_result result;
        fm_result_init(&result);
        const bool good = survey(machines[i].file, &result, &err) &&
                          holds(fm_result_find(&result, "l1d.replacement"), machines[i].ways);
        printf("%sok %zu - %s\n", good ? "" : "not ", i + 1, machines[i].file);
        if (!good)
            printf("# %s\n", err.text);
        fm_result_free(&result);
        all &= good;
    }
    return all ? 0 : 1;
}
