#include "survey/ledger.h"

#include <stdio.h>
#include <string.h>

static void set_claim(struct fm_finding *finding, const struct fm_claim *claim)
{
    finding->claimed = claim->value;
    snprintf(finding->claimed_by, sizeof finding->claimed_by, "%s", claim->source);
}

/* Whether any finding speaks of the structure a property belongs to ("l3" of "l3.capacity"). */
static bool structure_is_known(const struct fm_result *result, const char *property)
{
    const size_t length = strcspn(property, ".") + 1;
    for (size_t i = 0; i < result->finding_count; i++)
        if (strncmp(result->findings[i].property, property, length) == 0)
            return true;
    return false;
}

void fm_ledger_claims(struct fm_result *result, const struct fm_claims *claims)
{
    const struct fm_finding *first = fm_result_find(result, "l1d.line");
    /* A survey that was cut short may not have come to them. */
    const bool levels_read = first && (result->complete || first->status == FM_MEASURED);
    for (size_t i = 0; i < claims->count; i++) {
        const struct fm_claim *claim = &claims->items[i];
        const struct fm_finding *known = fm_result_find(result, claim->property);
        if (known) {
            set_claim(&result->findings[known - result->findings], claim);
            continue;
        }
        /* A data level that is claimed but made no step of its own deserves a line. */
        unsigned level;
        char attribute[16];
        if (levels_read && sscanf(claim->property, "l%u.%15s", &level, attribute) == 2 &&
            strcmp(attribute, "capacity") == 0 && !structure_is_known(result, claim->property)) {
            struct fm_finding *missing = fm_result_finding(result, claim->property, "B");
            if (!missing)
                return;
            snprintf(missing->note, sizeof missing->note,
                     "claimed, but no latency step of its own was seen");
            set_claim(missing, claim);
        }
    }
}
