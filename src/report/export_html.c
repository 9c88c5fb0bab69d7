/* The report of a result that was kept, without measuring again. */
#include "report/export.h"
#include "report/html.h"

static void write_html(struct fm_export_page *page)
{
    struct fm_error err;
    const struct fm_html html = {.results = &page->result, .count = 1, .version = page->version};
    if (fm_report_html(page->out, &html, &err))
        page->told = page->result->finding_count;
    else
        fm_export_leave_out(page, "the report", "%s", err.text);
}

const struct fm_export fm_export_html = {
    .name = "html",
    .writes = "the report, a page for a browser",
    .write = write_html,
};
