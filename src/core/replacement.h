/* Replacement policies by name. What they do is in the room policy/. */
#ifndef FM_CORE_REPLACEMENT_H
#define FM_CORE_REPLACEMENT_H

#include <stdbool.h>

#include "core/description.h"

/* A policy of the family QLRU (Abel and Reineke, nanoBench, ISPASS 2020): each way has an age from
   0 to 3, and a line of age 3 is replaced. A member is written qlru-hXY-mN-rN-uN, with -umo at the
   end where `on_miss` holds; an enum fm_replacement from FM_REPLACE_QLRU on stands for it. */
struct fm_qlru {
    unsigned from_three,
        from_two;      /* hXY: what a hit makes of the ages 3 and 2; of others it makes 0 */
    unsigned inserted; /* mN: the age of a line that comes in */
    unsigned choice; /* r0: the lowest way of age 3. r1: way 0 where no age is 3. r2: as r0, but an
                        empty set is filled from the highest way down */
    unsigned aging;  /* u0: all ages grow alike until one is 3. u1: the same without the line that
                        was used. u2: while none is 3, all grow by one. u3: that without it */
    bool on_miss;    /* ages grow before a line is replaced, not after each use */
};

#define FM_REPLACEMENT_TEXT 32
/* Numbers from FM_REPLACE_QLRU on that stand for a rule, whole or not. */
#define FM_QLRU_MEMBERS 480u

/* The word for a policy; returns `word`. */
char *fm_replacement_word(enum fm_replacement replacement, char word[FM_REPLACEMENT_TEXT]);

/* False where there is no such word. */
bool fm_replacement_parse(const char *word, enum fm_replacement *replacement);

/* Why a set of so many ways cannot have that policy; NULL: it can. */
const char *fm_replacement_misfit(enum fm_replacement replacement, unsigned ways);

/* All words for people, the family by an example. */
extern const char fm_replacement_words[];

/* Of a member of the family alone. */
struct fm_qlru fm_qlru_of(enum fm_replacement replacement);
enum fm_replacement fm_replacement_of_qlru(struct fm_qlru rule);

/* Whether the choice can do without an age of 3 where the aging may not give one. */
bool fm_qlru_is_whole(struct fm_qlru rule);

#endif
