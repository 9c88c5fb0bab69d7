#include "stat/family.h"

#include <stdlib.h>
#include <string.h>

#include "meter/callgrind.h"

#define BEFORE "desc: Trigger: --dump-before="

struct fm_family_member {
    long pid;
    unsigned forking; /* threads of it that have called fork, and will call its inner function */
};

static struct fm_family_member *member_of(struct fm_family *family, long pid)
{
    for (size_t i = 0; i < family->size; i++)
        if (family->members[i].pid == pid)
            return &family->members[i];
    struct fm_family_member *larger = realloc(family->members, (family->size + 1) * sizeof *larger);
    if (!larger)
        return NULL;
    family->members = larger;
    larger[family->size] = (struct fm_family_member){.pid = pid};
    return &larger[family->size++];
}

/* Whether the function whose call made callgrind write is that one, in whatever version. */
static bool is_before(const char *text, const char *function)
{
    const char *at = strstr(text, BEFORE);
    const size_t length = strlen(function);
    at = at ? at + strlen(BEFORE) : "";
    return strncmp(at, function, length) == 0 && strchr("\n@'", at[length]);
}

static bool is_before_any(const char *text, const char *const *functions)
{
    while (*functions && !is_before(text, *functions))
        functions++;
    return *functions;
}

bool fm_family_add(struct fm_family *family, const char *text)
{
    static const char *const forks[] = {"fork", "__libc_fork", NULL};
    static const char *const inner[] = {"_Fork", NULL};
    static const char *const others[] = {"vfork", "__libc_vfork", NULL};
    static const char *const either[] = {"clone", "__clone", NULL};
    struct fm_counts counts;
    const char *pid = strstr(text, "pid:");
    struct fm_family_member *member =
        pid ? member_of(family, strtol(pid + strlen("pid:"), NULL, 10)) : NULL;
    if (!member || !fm_callgrind_read_dump(text, &counts))
        return false;
    family->counts.references += counts.references;
    family->counts.cache_miss[0] += counts.cache_miss[0];
    family->counts.cache_miss[1] += counts.cache_miss[1];
    family->counts.fetch_miss += counts.fetch_miss;
    const bool fork = is_before_any(text, forks);
    const bool within = is_before_any(text, inner);
    family->births += fork || is_before_any(text, others) || (within && !member->forking);
    family->clones += is_before_any(text, either);
    if (fork)
        member->forking++;
    else if (within && member->forking)
        member->forking--;
    return true;
}

/* The first of them was started by us. */
size_t fm_family_unseen(const struct fm_family *family)
{
    const size_t seen = 1 + family->births + family->clones;
    return family->size > seen ? family->size - seen : 0;
}

size_t fm_family_silent(const struct fm_family *family)
{
    return family->births + 1 > family->size ? family->births + 1 - family->size : 0;
}

void fm_family_free(struct fm_family *family)
{
    free(family->members);
    *family = (struct fm_family){.size = 0};
}
