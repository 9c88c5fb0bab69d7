#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/handles.h"
#include "core/units.h"

/* "65536 sysfs", "full machine file", "true cpuid". */
static void claim_text(const struct fm_claim *claim, char *text, size_t space)
{
    const struct fm_value *value = &claim->value;
    if (value->kind == FM_VALUE_NUMBER)
        snprintf(text, space, "%.17g %s", value->number, claim->source);
    else if (value->kind == FM_VALUE_BOOL)
        snprintf(text, space, "%s %s", value->truth ? "true" : "false", claim->source);
    else
        snprintf(text, space, "%s %s", value->text, claim->source);
}

bool fm_api_claims_keep(const struct fm_claims *claims, struct fm_recording *recording,
                        struct fm_error *err)
{
    for (size_t i = 0; i < claims->count; i++) {
        char text[128];
        claim_text(&claims->items[i], text, sizeof text);
        if (!fm_recording_set_option(recording, claims->items[i].property, text))
            return fm_fail(err, FM_ERR_INTERNAL, "recording: no room for the claims about %s",
                           claims->items[i].property);
    }
    return true;
}

static struct fm_value value_of(const char *word)
{
    double number;
    if (fm_parse_number(word, &number))
        return fm_number(number);
    if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0)
        return fm_bool(*word == 't');
    return fm_text(word);
}

void fm_api_claims_recall(struct fm_claims *claims, const struct fm_recording *recording)
{
    claims->count = 0;
    for (size_t i = 0; i < recording->option_count && claims->count < FM_CLAIMS; i++) {
        const struct fm_recorded_option *option = &recording->options[i];
        const char *blank = strchr(option->value, ' ');
        char word[64];
        /* Properties have a dot in them, options have none. */
        if (!strchr(option->key, '.') || !blank)
            continue;
        snprintf(word, sizeof word, "%.*s", (int)(blank - option->value), option->value);
        struct fm_claim *claim = &claims->items[claims->count++];
        snprintf(claim->property, sizeof claim->property, "%s", option->key);
        snprintf(claim->source, sizeof claim->source, "%s", blank + 1);
        claim->value = value_of(word);
    }
}
