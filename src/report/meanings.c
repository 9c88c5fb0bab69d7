#include "report/meanings.h"

#include <stdio.h>
#include <string.h>

#include "report/values.h"

/* In a clause, S stands for the structure and V for the value; capitals are otherwise avoided. */
struct meaning {
    const char *property; /* whole, or an attribute of any structure */
    const char *clause;
};

static const struct meaning meanings[] = {
    {"cpu.cycle_time", "a cycle takes V"},
    {"cpu.add_latency", "an integer addition takes V"},
    {"page.size", "a page has V"},
    {"page.resized", "pages changed their size while they were used: V"},
    {"walk.cost_cold", "a walk whose tables are in no cache adds V"},
    {"walk.cost_cold_cycles", "a walk whose tables are in no cache adds V"},
    {"memory.latency", "a load that memory serves takes V"},
    {"memory.latency_cycles", "a load that memory serves takes V"},
    {"memory.parallel_misses", "V misses can be under way at once"},
    {"prefetch.next_line", "the line after a miss is fetched along: V"},
    {"prefetch.adjacent_line", "the other half of a pair of lines is fetched along: V"},
    {"prefetch.stride", "strides are followed: V"},
    {"prefetch.stride_ahead", "strides are followed V steps ahead"},
    {"prefetch.crosses_page", "strides are followed into the next page: V"},
    {"prefetch.region", "regions that were visited are fetched again: V"},
    {"btb.entries", "V branches have their targets remembered"},
    {"btb1.entries", "V branches have their targets remembered nearest to the core"},
    {"btb1.miss_cost", "a branch whose target is not remembered there adds V"},
    {"btb2.entries", "V branches have their targets remembered a step further out"},
    {"btb2.miss_cost", "a branch whose target is not remembered there adds V"},
    {"btb.miss_cost", "a branch whose target is not remembered adds V"},
    {"capacity", "a random walk over up to V finds 95 of 100 references in S"},
    {"physical_capacity", "S is built to hold V"},
    {"line", "S is tagged in units of V"},
    {"sector", "a miss in S brings in V"},
    {"ways", "an address has V places in S"},
    {"memory.fetch_latency", "a line of code that memory serves adds V to a jump"},
    {"memory.fetch_latency_cycles", "a line of code that memory serves adds V to a jump"},
    {"code_capacity", "of code that is run through, up to V finds 95 of 100 lines in S"},
    {"fetch_latency", "a line of code that S serves adds V to a jump"},
    {"fetch_latency_cycles", "a line of code that S serves adds V to a jump"},
    {"latency", "a load that S serves takes V"},
    {"latency_cycles", "a load that S serves takes V"},
    {"miss_latency", "a miss in S adds V"},
    {"replacement", "S makes room by V"},
    {"write_allocate", "a store that misses brings its line into S: V"},
    {"streaming_stores", "after V whole lines in a row stores pass S by"},
    {"fp_bypass", "floating-point loads go past S: V"},
    {"write_policy", "stores to S are written V"},
    {"inclusion", "what inner levels hold, S holds too: V"},
    {"unified", "S serves instructions as well as data: V"},
    {"banks", "S has V banks"},
    {"bandwidth_read", "reading from S gives V"},
    {"bandwidth_write", "writing to S gives V"},
    {"shared_by", "CPUs that share S: V"},
    {"entries", "S holds translations of V pages"},
    {"reach", "S maps V at once"},
    {"miss_cost", "a miss in S adds V"},
    {"miss_cost_cycles", "a miss in S adds V"},
    {"page_size", "an entry of S maps V"},
};

static const char *clause_of(const char *property, const char *value)
{
    const char *dot = strchr(property, '.');
    if (dot && strcmp(dot, ".ways") == 0 && strcmp(value, "full") == 0)
        return "an address may lie anywhere in S";
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        if (strcmp(meanings[i].property, property) == 0 ||
            (dot && strcmp(meanings[i].property, dot + 1) == 0))
            return meanings[i].clause;
    return NULL;
}

/* A placeholder stands alone: the capitals of CPU are none. */
static bool stands_alone(const char *clause, const char *at)
{
    const bool before = at == clause || at[-1] == ' ';
    return before && (!at[1] || at[1] == ' ' || at[1] == ':');
}

char *fm_meaning(const char *property, const char *value, char *text, size_t space)
{
    char structure[FM_CELL];
    const char *clause = clause_of(property, value), *dot = strchr(property, '.');
    size_t used = 0;

    fm_cell_structure(property, structure);
    *text = '\0';
    if (!clause) {
        snprintf(text, space, "%s of %s is %s", dot ? dot + 1 : property, structure, value);
        return text;
    }
    for (const char *c = clause; *c && used + 1 < space; c++) {
        const char one[] = {*c, '\0'};
        const char *piece = one;
        if (*c == 'S' && stands_alone(clause, c))
            piece = structure;
        else if (*c == 'V' && stands_alone(clause, c))
            piece = value;
        const int length = snprintf(text + used, space - used, "%s", piece);
        used += (size_t)length < space - used ? (size_t)length : space - used - 1;
    }
    return text;
}
