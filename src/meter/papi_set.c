#include "meter/papi_set.h"

#include <papi.h>
#include <stdio.h>
#include <string.h>

#define NAME_TEXT 128

bool fm_papi_set_open(struct fm_papi_set *set, struct fm_error *err)
{
    *set = (struct fm_papi_set){.handle = PAPI_NULL};
    return (PAPI_library_init(PAPI_VER_CURRENT) == PAPI_VER_CURRENT &&
            PAPI_create_eventset(&set->handle) == PAPI_OK) ||
           fm_fail(err, FM_ERR_UNSUPPORTED,
                   "meter: PAPI does not start: install the version that fathom was built with");
}

/* Adds all terms of a sum, or none; PAPI_OK, or what PAPI had against it. */
static int add_sum(struct fm_papi_set *set, unsigned bit, const char *names)
{
    const size_t before = set->count;
    for (const char *at = names; *at;) {
        char name[NAME_TEXT];
        int code = 0;
        const size_t length = strcspn(at, "+");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        at += length + (at[length] == '+');
        int result = PAPI_event_name_to_code(name, &code) == PAPI_OK ? PAPI_OK : PAPI_ENOEVNT;
        if (result == PAPI_OK && set->count == FM_PAPI_TERMS)
            result = PAPI_ECOUNT;
        if (result == PAPI_OK)
            result = PAPI_add_event(set->handle, code);
        if (result != PAPI_OK) {
            while (set->count > before)
                PAPI_remove_event(set->handle, set->terms[--set->count].code);
            return result;
        }
        set->terms[set->count++] = (struct fm_papi_term){code, bit};
    }
    return PAPI_OK;
}

struct filling {
    struct fm_papi_set *set;
    struct fm_perf_account *account;
    unsigned added, without;
};

/* Whether that way is taken. What PAPI had against the first that it knew is the reason. */
static bool try_way(struct filling *filling, unsigned bit, const char *names)
{
    const int result = add_sum(filling->set, bit, names);
    struct fm_perf_account *account = filling->account;
    if (result == PAPI_OK) {
        filling->added |= 1u << bit;
        if (account)
            snprintf(account->by[bit], sizeof account->by[bit], "%s", names);
    } else if (account && result != PAPI_ENOEVNT && !account->why[bit][0]) {
        snprintf(account->why[bit], sizeof account->why[bit], "PAPI has %.64s, but: %s", names,
                 PAPI_strerror(result));
    }
    return result == PAPI_OK;
}

static bool is_open(const struct filling *filling, unsigned bit)
{
    return !((filling->added | filling->without) & 1u << bit);
}

unsigned fm_papi_set_fill(struct fm_papi_set *set, const struct fm_papi_plan *plan,
                          struct fm_perf_account *account)
{
    struct filling filling = {set, account, 0, plan->without};
    for (size_t i = 0; i < plan->count; i++) {
        const struct fm_papi_event *event = &plan->presets[i];
        for (size_t j = 0; j < FM_PAPI_NAMES && event->names[j] && is_open(&filling, event->bit);
             j++)
            try_way(&filling, event->bit, event->names[j]);
    }
    for (size_t i = 0; plan->native && i < plan->native->count; i++) {
        const struct fm_perf_event *event = &plan->native->list[i];
        for (size_t j = 0; j < FM_PERF_WAYS && event->ways[j].name && is_open(&filling, event->bit);
             j++)
            if (!event->ways[j].generic)
                try_way(&filling, event->bit, event->ways[j].name);
    }
    for (unsigned bit = 0; account && bit < FM_EVENTS; bit++)
        if (!account->by[bit][0] && !account->why[bit][0])
            snprintf(account->why[bit], sizeof account->why[bit],
                     "PAPI has neither a preset nor a native event for it here");
    return filling.added;
}

void fm_papi_set_close(struct fm_papi_set *set)
{
    PAPI_cleanup_eventset(set->handle);
    PAPI_destroy_eventset(&set->handle);
}
