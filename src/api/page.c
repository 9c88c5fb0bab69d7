#include "api/page.h"

#include <stdlib.h>

#include "api/handles.h"

bool fm_page_open(struct fm_page *page)
{
    *page = (struct fm_page){0};
    locale_t current = duplocale(uselocale((locale_t)0));
    if (!current)
        return false;
    page->plain = newlocale(LC_NUMERIC_MASK, "C", current);
    if (!page->plain) {
        freelocale(current);
        return false;
    }
    page->out = open_memstream(&page->text, &page->length);
    if (!page->out) {
        freelocale(page->plain);
        return false;
    }
    page->before = uselocale(page->plain);
    return true;
}

char *fm_page_close(struct fm_page *page, bool drawn, const struct fm_error *inner,
                    struct fathom_error *err)
{
    const bool failed = ferror(page->out) != 0;
    uselocale(page->before);
    freelocale(page->plain);
    if (fclose(page->out) == 0 && !failed && drawn)
        return page->text;
    free(page->text);
    if (drawn)
        fm_api_out_of_memory(err);
    else
        fm_api_fail(err, inner);
    return NULL;
}
