#include "report/order.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* "dtlb", 2, "" and "@2MiB" of dtlb2@2MiB; "l", 1, "d" and "" of l1d. */
struct parts {
    const char *name, *qualifier;
    size_t stem;
    unsigned long level;
    char side;
};

static struct parts parts_of(const char *name)
{
    struct parts parts = {.name = name, .qualifier = name + strcspn(name, "@")};
    char *end;
    parts.stem = strcspn(name, "0123456789@");
    parts.level = strtoul(name + parts.stem, &end, 10);
    parts.side = *end == 'd' || *end == 'i' ? *end : 'z';
    return parts;
}

static int sign(unsigned long a, unsigned long b)
{
    return (a > b) - (a < b);
}

static int order_of_stems(const struct parts *a, const struct parts *b)
{
    const size_t shorter = a->stem < b->stem ? a->stem : b->stem;
    const int order = strncmp(a->name, b->name, shorter);
    return order ? order : sign(a->stem, b->stem);
}

/* 2MiB before 16MiB, core=4 before core=10. */
static int order_of_qualifiers(const char *a, const char *b)
{
    const size_t first = strlen(a), second = strlen(b);
    return first != second ? sign(first, second) : strcmp(a, b);
}

int fm_order(const char *a, const char *b)
{
    const struct parts first = parts_of(a), second = parts_of(b);
    if (!isdigit((unsigned char)a[first.stem]) || !isdigit((unsigned char)b[second.stem]))
        return 0;
    int order = order_of_stems(&first, &second);
    if (!order)
        order = order_of_qualifiers(first.qualifier, second.qualifier);
    if (!order)
        order = sign(first.level, second.level);
    return order ? order : first.side - second.side;
}
