#include "core/replacement.h"

#include <stdio.h>
#include <string.h>

static const char *const words[] = {
    [FM_REPLACE_LRU] = "lru",
    [FM_REPLACE_TREE_PLRU] = "tree-plru",
    [FM_REPLACE_BIT_PLRU] = "bit-plru",
    [FM_REPLACE_FIFO] = "fifo",
    [FM_REPLACE_RANDOM] = "random",
    [FM_REPLACE_SRRIP] = "srrip",
    [FM_REPLACE_NRU] = "nru",
    [FM_REPLACE_BRRIP] = "brrip",
    [FM_REPLACE_LRU_TREES] = "lru-trees",
};

const char fm_replacement_words[] =
    "lru, tree-plru, lru-trees, bit-plru, fifo, random, srrip, nru, brrip, "
    "qlru-h11-m1-r0-u0 and its kin";

/* Ways of a tree whose bits are one word. */
#define TREE_WAYS 64u

const char *fm_replacement_misfit(enum fm_replacement replacement, unsigned ways)
{
    const unsigned even_part = ways & -ways;
    if (replacement == FM_REPLACE_TREE_PLRU && ways != even_part)
        return "needs a power of two of ways";
    if (replacement == FM_REPLACE_LRU_TREES && (ways == even_part || even_part == 1))
        return "needs ways that are an even number and no power of two";
    if (replacement == FM_REPLACE_LRU_TREES && even_part > TREE_WAYS)
        return "needs ways that make no trees of more than 64";
    return NULL;
}

/* What becomes of the ages 3 and 2: no age grows by a hit, and the older stays the older. */
static const unsigned hits[][2] = {{0, 0}, {1, 0}, {1, 1}, {2, 0}, {2, 1}};
#define HITS    (sizeof hits / sizeof hits[0])
#define INSERTS 4u
#define CHOICES 3u
#define AGINGS  4u
_Static_assert(HITS *INSERTS *CHOICES *AGINGS * 2 == FM_QLRU_MEMBERS, "all members");

bool fm_qlru_is_whole(struct fm_qlru rule)
{
    return rule.choice == 1 || rule.aging < 2;
}

struct fm_qlru fm_qlru_of(enum fm_replacement replacement)
{
    unsigned code = (unsigned)replacement - FM_REPLACE_QLRU;
    struct fm_qlru rule = {.on_miss = code % 2};
    rule.aging = (code /= 2) % AGINGS;
    rule.choice = (code /= AGINGS) % CHOICES;
    rule.inserted = (code /= CHOICES) % INSERTS;
    const unsigned *hit = hits[code / INSERTS % HITS];
    rule.from_three = hit[0];
    rule.from_two = hit[1];
    return rule;
}

enum fm_replacement fm_replacement_of_qlru(struct fm_qlru rule)
{
    unsigned code = 0;
    while (code + 1 < HITS && (hits[code][0] != rule.from_three || hits[code][1] != rule.from_two))
        code++;
    code = code * INSERTS + rule.inserted;
    code = code * CHOICES + rule.choice;
    code = code * AGINGS + rule.aging;
    return (enum fm_replacement)(FM_REPLACE_QLRU + code * 2 + rule.on_miss);
}

char *fm_replacement_word(enum fm_replacement replacement, char word[FM_REPLACEMENT_TEXT])
{
    if (replacement < FM_REPLACE_QLRU) {
        snprintf(word, FM_REPLACEMENT_TEXT, "%s", words[replacement]);
        return word;
    }
    const struct fm_qlru rule = fm_qlru_of(replacement);
    snprintf(word, FM_REPLACEMENT_TEXT, "qlru-h%u%u-m%u-r%u-u%u%s", rule.from_three, rule.from_two,
             rule.inserted, rule.choice, rule.aging, rule.on_miss ? "-umo" : "");
    return word;
}

bool fm_replacement_parse(const char *word, enum fm_replacement *replacement)
{
    for (unsigned i = 0; i < FM_REPLACE_QLRU + FM_QLRU_MEMBERS; i++) {
        char known[FM_REPLACEMENT_TEXT];
        *replacement = (enum fm_replacement)i;
        if (strcmp(word, fm_replacement_word(*replacement, known)) == 0)
            return i < FM_REPLACE_QLRU || fm_qlru_is_whole(fm_qlru_of(*replacement));
    }
    return false;
}
