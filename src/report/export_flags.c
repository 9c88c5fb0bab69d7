/* Exports that are flags of a command line, all on one line. */
#include <math.h>

#include "report/export.h"

static void flag(struct fm_export_page *page, const char *before, double number)
{
    char cell[FM_EXPORT_CELL];
    fprintf(page->out, "%s%s%s", page->told++ ? " " : "", before, fm_export_cell(number, cell));
}

static void end_line(struct fm_export_page *page)
{
    if (page->told)
        putc('\n', page->out);
}

/* gcc counts cache sizes in KiB; a part of one is lost rather than promised. */
static void kib_flag(struct fm_export_page *page, const char *cache, const char *what,
                     const char *before)
{
    double bytes;
    if (!fm_export_number(page, cache, "capacity", what, &bytes))
        return;
    if (bytes < 1024)
        fm_export_leave_out(page, what, "%s.capacity is less than a KiB", cache);
    else
        flag(page, before, floor(bytes / 1024));
}

/* The capacities are the effective ones: gcc blocks and prefetches by what a program gets. */
static void write_gcc(struct fm_export_page *page)
{
    double number;
    kib_flag(page, "l1d", "l1-cache-size", "--param l1-cache-size=");
    if (fm_export_number(page, "l1d", "line", "l1-cache-line-size", &number))
        flag(page, "--param l1-cache-line-size=", number);
    kib_flag(page, "l2", "l2-cache-size", "--param l2-cache-size=");
    if (fm_export_number(page, "memory", "parallel_misses", "simultaneous-prefetches", &number))
        flag(page, "--param simultaneous-prefetches=", floor(number));
    end_line(page);
}

const struct fm_export fm_export_gcc = {
    .name = "gcc",
    .writes = "--param flags of gcc",
    .write = write_gcc,
};

/* clang has no --param; its loop optimiser Polly takes these, and without Polly they do nothing. */
static void write_clang(struct fm_export_page *page)
{
    static const struct {
        const char *cache, *attribute, *what;
    } flags[] = {
        {"l1d", "capacity", "polly-target-1st-cache-level-size"},
        {"l1d", "ways", "polly-target-1st-cache-level-associativity"},
        {"l1d", "line", "polly-target-first-level-cache-line-size"},
        {"l2", "capacity", "polly-target-2nd-cache-level-size"},
        {"l2", "ways", "polly-target-2nd-cache-level-associativity"},
    };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        char before[96];
        double number;
        if (!fm_export_number(page, flags[i].cache, flags[i].attribute, flags[i].what, &number))
            continue;
        snprintf(before, sizeof before, "-mllvm -%s=", flags[i].what);
        flag(page, before, floor(number));
    }
    end_line(page);
}

const struct fm_export fm_export_clang = {
    .name = "clang",
    .writes = "flags of clang's loop optimiser (-O3 -mllvm -polly)",
    .write = write_clang,
};

static bool power_of_two(double number)
{
    int exponent;
    return number >= 1 && frexp(number, &exponent) == 0.5;
}

/* cachegrind's caches have a power of two of sets, and lines of at least 16 bytes. */
static void cache_flag(struct fm_export_page *page, const char *cache, const char *name)
{
    char before[FM_EXPORT_CELL * 2];
    const struct fm_geometry g = fm_export_geometry(page, cache, name);
    if (g.sets == 0)
        return;
    if (!power_of_two(g.sets) || !power_of_two(g.line) || g.line < 16) {
        fm_export_leave_out(page, name, "%s: cachegrind cannot model %.0f sets of lines of %.0f",
                            cache, g.sets, g.line);
        return;
    }
    snprintf(before, sizeof before, "%s=%.0f,%.0f,", name, g.size, g.ways);
    flag(page, before, g.line);
}

static void write_cachegrind(struct fm_export_page *page)
{
    const unsigned last = fm_export_last_level(page->result);
    cache_flag(page, "l1d", "--D1");
    cache_flag(page, "l1i", "--I1");
    if (last >= 2)
        cache_flag(page, fm_export_level(page->result, last), "--LL");
    else
        fm_export_leave_out(page, "--LL", "no level beyond the first was measured");
    /* Since valgrind 3.21 its caches are simulated only when asked for. */
    if (page->told)
        fputs(" --cache-sim=yes", page->out);
    end_line(page);
}

const struct fm_export fm_export_cachegrind = {
    .name = "cachegrind",
    .writes = "flags of valgrind --tool=cachegrind",
    .write = write_cachegrind,
};
