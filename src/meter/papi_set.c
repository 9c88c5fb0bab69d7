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

/* Adds all terms of a sum, or none. */
static bool add_sum(struct fm_papi_set *set, unsigned bit, const char *names)
{
    const size_t before = set->count;
    for (const char *at = names; *at;) {
        char name[NAME_TEXT];
        int code;
        const size_t length = strcspn(at, "+");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        at += length + (at[length] == '+');
        if (set->count == FM_PAPI_TERMS || PAPI_event_name_to_code(name, &code) != PAPI_OK ||
            PAPI_add_event(set->handle, code) != PAPI_OK) {
            while (set->count > before)
                PAPI_remove_event(set->handle, set->terms[--set->count].code);
            return false;
        }
        set->terms[set->count++] = (struct fm_papi_term){code, bit};
    }
    return true;
}

bool fm_papi_set_add(struct fm_papi_set *set, const struct fm_papi_event *event)
{
    for (size_t i = 0; i < FM_PAPI_NAMES && event->names[i]; i++)
        if (add_sum(set, event->bit, event->names[i]))
            return true;
    return false;
}

void fm_papi_set_close(struct fm_papi_set *set)
{
    PAPI_cleanup_eventset(set->handle);
    PAPI_destroy_eventset(&set->handle);
}
