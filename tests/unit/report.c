/* What people see: tables, CSV, drawn curves, and that nothing from outside steers a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/meanings.h"
#include "report/report.h"
#include "report/text.h"
#include "report/values.h"

static const struct fm_look plain = {.width = 80};

static void measured(struct fm_result *result, const char *property, const char *unit, double value,
                     double low, double high, double claimed)
{
    struct fm_finding *finding = fm_result_finding(result, property, unit);
    assert_non_null(finding);
    finding->status = FM_MEASURED;
    finding->value = fm_number(value);
    finding->low = fm_number(low);
    finding->high = fm_number(high);
    finding->confidence = 0.99;
    strcpy(finding->method, "swept");
    fm_list_add(finding->witnesses[0], sizeof finding->witnesses[0], FM_LIST, "clock");
    if (claimed > 0) {
        finding->claimed = fm_number(claimed);
        strcpy(finding->claimed_by, "sysfs");
    }
}

static void undetermined(struct fm_result *result, const char *property, const char *note)
{
    struct fm_finding *finding = fm_result_finding(result, property, "");
    assert_non_null(finding);
    strcpy(finding->note, note);
}

static void measured_text(struct fm_result *result, const char *property, const char *value)
{
    measured(result, property, "", 0, 0, 0, 0);
    struct fm_finding *finding = fm_result_finding(result, property, "");
    finding->value = finding->low = finding->high = fm_text(value);
}

static void not_here(struct fm_result *result, const char *property, enum fm_status status,
                     const char *note)
{
    undetermined(result, property, note);
    fm_result_finding(result, property, "")->status = status;
}

static const char hashed[] = "no group of pages conflicts by itself";

/* One TLB of which all is known, one of which only the cost is, and what cannot be measured. */
static void add_tlbs(struct fm_result *result)
{
    measured_text(result, "dtlb1.ways", "full");
    measured(result, "dtlb1.entries", "", 48, 48, 48, 0);
    measured(result, "dtlb1.reach", "B", 196608, 196608, 196608, 0);
    measured(result, "dtlb1.page_size", "B", 4096, 4096, 4096, 0);
    measured(result, "dtlb1.miss_cost", "ns", 1.999, 1.94, 2.06, 0);
    measured(result, "dtlb1.miss_cost_cycles", "cycles", 5, 4.84, 5.16, 0);
    undetermined(result, "dtlb2.ways", hashed);
    undetermined(result, "dtlb2.entries", hashed);
    undetermined(result, "dtlb2.reach", hashed);
    measured(result, "dtlb2.miss_cost", "ns", 16.37, 15.5, 17.2, 0);
    measured(result, "dtlb1@2MiB.entries", "", 1024, 1024, 1024, 0);
    measured(result, "dtlb1@2MiB.reach", "B", 0x1p31, 0x1p31, 0x1p31, 0);
    measured(result, "dtlb1@2MiB.page_size", "B", 0x1p21, 0x1p21, 0x1p21, 0);
    not_here(result, "dtlb1@2MiB.miss_cost", FM_UNSUPPORTED, "no page is as large here");
    not_here(result, "dtlb3.entries", FM_ABSENT, "");
}

static int make_result(void **state)
{
    struct fm_result *result = calloc(1, sizeof *result);
    fm_result_init(result);
    strcpy(result->machine.kind, "native");
    strcpy(result->machine.name, "Test\033[31m CPU\x9b \xc3\xa9");
    strcpy(result->machine.arch, "aarch64");
    measured(result, "cpu.cycle_time", "ns", 0.4, 0.4, 0.4, 0);
    measured(result, "l1d.capacity", "B", 65536, 65536, 65536, 65536);
    measured(result, "l1d.line", "B", 64, 64, 64, 64);
    measured(result, "l1d.ways", "", 4, 4, 4, 0);
    measured(result, "l1d.latency", "ns", 1.538, 1.53, 1.54, 0);
    measured(result, "l1d.latency_cycles", "cycles", 4, 4, 4, 0);
    measured(result, "l2.capacity", "B", 716800, 655360, 778240, 1048576);
    measured(result, "l2.latency", "ns", 11.25, 11, 11.5, 0);
    undetermined(result, "l2.line", "the two orders disagree");
    undetermined(result, "l2.ways", "the two orders disagree");
    measured(result, "memory.latency", "ns", 131.7, 130, 133, 0);
    fm_result_warn(result, "noisy", "run it again on a quiet machine, with nothing else going on",
                   "every third sample was disturbed by something, \x1b]0;which\x07 should not be");
    *state = result;
    return 0;
}

static int free_result(void **state)
{
    fm_result_free(*state);
    free(*state);
    return 0;
}

typedef void writer(FILE *out, const struct fm_result *result);

static char *written(writer *write, const struct fm_result *result)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    write(out, result);
    fclose(out);
    return text;
}

static void write_table(FILE *out, const struct fm_result *result)
{
    assert_true(fm_report_table(out, result, &plain, NULL));
}

static void write_verbose(FILE *out, const struct fm_result *result)
{
    const struct fm_look look = {.width = 80, .verbose = true};
    assert_true(fm_report_table(out, result, &look, NULL));
}

static void write_csv(FILE *out, const struct fm_result *result)
{
    fm_report_csv(out, result, true);
}

static void assert_has(const char *text, const char *piece)
{
    if (!text || !strstr(text, piece))
        fail_msg("no \"%s\" in:\n%s", piece, text ? text : "nothing");
}

static void assert_tame(const char *text, size_t width)
{
    size_t column = 0;
    for (const char *c = text; *c; c++) {
        assert_true((unsigned char)*c >= 0x20 || *c == '\n');
        assert_true((unsigned char)*c < 0x7f);
        column = *c == '\n' ? 0 : column + 1;
        if (column > width)
            fail_msg("wider than %zu columns:\n%s", width, text);
    }
}

static void test_table(void **state)
{
    char *text = written(write_table, *state);
    assert_tame(text, 80);
    assert_has(text, "Test\\x1b[31m CPU\\x9b \\xc3\\xa9 (aarch64), CPU 0");
    assert_has(text, "a cycle is 0.400 ns (2.50 GHz)\n");
    assert_has(text, "NAME   CAPACITY     RANGE CLAIMED LINE WAYS LATENCY CYCLES\n");
    assert_has(text, "L1d         64K               64K   64    4  1.54ns    4.0\n");
    assert_has(text, "L2         700K 640K-760K      1M    ?    ?  11.2ns      -\n");
    assert_has(text, "Memory        -                      -    -   132ns      -\n");
    free(text);
}

/* Which probe answers first differs from survey to survey. */
static void test_rows_have_an_order_of_their_own(void **state)
{
    (void)state;
    static const char *const found[] = {"l3",    "l2i",    "l1i",        "l2d",
                                        "l1d",   "memory", "dtlb1@2MiB", "itlb1",
                                        "dtlb2", "dtlb1",  "dtlb2@2MiB"};
    static const char *const rows[] = {"\nL1d ",        "\nL1i ",        "\nL2d ",   "\nL2i ",
                                       "\nL3 ",         "\nMemory ",     "\nDTLB1 ", "\nDTLB2 ",
                                       "\nDTLB1@2MiB ", "\nDTLB2@2MiB ", "\nITLB1 "};
    struct fm_result result;
    char property[FM_PROPERTY_TEXT];
    fm_result_init(&result);
    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++) {
        snprintf(property, sizeof property, "%s.%s", found[i],
                 strstr(found[i], "tlb") ? "entries"
                 : *found[i] == 'l'      ? "capacity"
                                         : "latency");
        measured(&result, property, "", 64, 64, 64, 0);
    }
    char *text = written(write_table, &result);
    const char *at = text;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_has(at, rows[i]);
        at = strstr(at, rows[i]);
    }
    free(text);
    fm_result_free(&result);
}

static void test_tlb_table(void **state)
{
    add_tlbs(*state);
    char *text = written(write_table, *state);
    assert_tame(text, 80);
    assert_has(text, "NAME   CAPACITY     RANGE CLAIMED LINE WAYS LATENCY CYCLES\n"
                     "L1d         64K               64K   64    4  1.54ns    4.0\n"
                     "L2         700K 640K-760K      1M    ?    ?  11.2ns      -\n"
                     "Memory        -                      -    -   132ns      -\n"
                     "\n"
                     "NAME       ENTRIES REACH WAYS    MISS CYCLES PAGE\n"
                     "DTLB1           48  192K full +2.00ns    5.0   4K\n"
                     "DTLB2            ?     ?    ? +16.4ns      -    -\n"
                     "DTLB1@2MiB    1024    2G    -       -      -   2M\n"
                     "? l2.line");
    free(text);
}

static void test_no_tlb_has_no_table(void **state)
{
    struct fm_result *result = *state;
    not_here(result, "dtlb1.entries", FM_ABSENT, "");
    char *text = written(write_table, result);
    assert_null(strstr(text, "ENTRIES"));
    assert_null(strstr(text, "\n\n"));
    free(text);
}

static void test_tlbs_alone(void **state)
{
    (void)state;
    struct fm_result result;
    fm_result_init(&result);
    add_tlbs(&result);
    char *text = written(write_table, &result);
    assert_null(strstr(text, "CAPACITY"));
    assert_null(strstr(text, "\n\n"));
    assert_has(text, "\nNAME       ENTRIES");
    free(text);
    fm_result_free(&result);
}

static void test_tlb_notes(void **state)
{
    add_tlbs(*state);
    char *text = written(write_table, *state);
    assert_has(text, "\n? dtlb2.ways, dtlb2.entries, dtlb2.reach: no group of pages conflicts by "
                     "itself\n");
    /* What the machine refuses is told only to who asks for all. */
    assert_null(strstr(text, "no page is as large here"));
    free(text);
    text = written(write_verbose, *state);
    assert_tame(text, 80);
    assert_has(text, "\ndtlb1@2MiB.miss_cost: unsupported: no page is as large here\n");
    assert_has(text,
               "\ndtlb1.ways: an address may lie anywhere in DTLB1; 99% sure; method: swept;");
    free(text);
}

static void test_notes(void **state)
{
    char *text = written(write_table, *state);
    assert_has(text, "? l2.line, l2.ways: the two orders disagree\n");
    assert_has(text, "warning: every third sample");
    assert_has(text, "  remedy: run it again on a quiet machine");
    assert_null(strstr(text, "incomplete"));
    free(text);

    struct fm_result *result = *state;
    result->complete = false;
    text = written(write_table, result);
    assert_has(text, "incomplete: ");
    free(text);
}

static void test_terse_leaves_notes_out(void **state)
{
    const struct fm_look look = {.width = 80, .terse = true};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_true(fm_report_table(out, *state, &look, NULL));
    fclose(out);
    assert_has(text, "L1d");
    assert_null(strstr(text, "disagree"));
    assert_null(strstr(text, "warning"));
    free(text);
}

static void test_verbose(void **state)
{
    char *text = written(write_verbose, *state);
    assert_tame(text, 80);
    assert_has(text,
               "\nl1d.capacity: a random walk over up to 65536 B finds 95 of 100 references in\n"
               "  L1d; 99% sure; method: swept; witness: clock; claimed 65536 B by sysfs\n");
    assert_has(text, "between 655360 B and 778240 B, 99% sure");
    assert_has(text, "\nl2.ways: undetermined: the two orders disagree");
    assert_null(strstr(text, "\n? ")); /* once is enough */
    assert_has(text, "warning: every third sample");
    free(text);
}

/* A property of the contract that had no words of its own would be "line of L1d is 64". */
static void test_every_property_has_a_meaning(void **state)
{
    (void)state;
    static const char *const properties[] = {
        "l1d.capacity",
        "l2.physical_capacity",
        "l2.line",
        "l2.ways",
        "l3.latency",
        "l3.latency_cycles",
        "l2.miss_latency",
        "l1d.replacement",
        "l1d.write_allocate",
        "l1d.write_policy",
        "l2.inclusion",
        "l2.unified",
        "l2.sector",
        "l1d.banks",
        "l1d.fp_bypass",
        "l2.bandwidth_read",
        "l2.bandwidth_write",
        "l3.shared_by",
        "dtlb1.entries",
        "dtlb1.reach",
        "dtlb1@2MiB.ways",
        "dtlb2.miss_cost",
        "itlb1.miss_cost_cycles",
        "dtlb2.unified",
        "dtlb1.page_size",
        "prefetch.next_line",
        "prefetch.adjacent_line",
        "prefetch.stride",
        "prefetch.region",
        "btb.entries",
        "btb.miss_cost",
        "page.size",
        "page.resized",
        "memory.latency",
        "memory.latency_cycles",
        "memory.bandwidth_read",
        "memory.parallel_misses",
        "cpu.cycle_time",
        "cpu.add_latency",
        "walk.cost_cold",
    };
    char text[256], name[FM_PROPERTY_TEXT];
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
        fm_meaning(properties[i], "<value>", text, sizeof text);
        snprintf(name, sizeof name, "%s of ", strchr(properties[i], '.') + 1);
        assert_null(strstr(text, name));
        assert_has(text, "<value>");
        assert_null(strstr(text, " S "));
    }
    assert_has(fm_meaning("l1d.ways", "full", text, sizeof text), "anywhere in L1d");
    assert_has(fm_meaning("l1d.colour", "blue", text, sizeof text), "colour of L1d is blue");
    fm_meaning("l1d.capacity", "much", text, 12); /* cut, and ended */
    assert_string_equal(text, "a random wa");
}

/* Sometimes a last level makes no step of its own, and there is only the claim. */
static void test_what_was_asked_in_vain_is_open(void **state)
{
    struct fm_result *result = *state;
    undetermined(result, "l3.capacity", "claimed, but no latency step of its own was seen");
    undetermined(result, "l1i.capacity", "too little time");
    char *text = written(write_table, result);
    assert_has(text, "L3            ?                      ?    ?       ?      -\n");
    /* No load comes from L1i, so that nobody asks what one would take. */
    assert_has(text, "L1i           ?                      -    -       -      -\n");
    free(text);
}

static void test_absent_level_has_no_row(void **state)
{
    struct fm_result *result = *state;
    fm_result_finding(result, "l3.capacity", "B")->status = FM_ABSENT;
    char *text = written(write_table, result);
    assert_null(strstr(text, "L3"));
    free(text);
}

static void test_csv(void **state)
{
    struct fm_result *result = *state;
    strcpy(result->machine.name, "A, \"B\"");
    strcpy(result->findings[1].note, "two\nlines");
    char *text = written(write_csv, result);
    assert_tame(text, 1000);
    assert_has(text, "machine,property,unit,status,value,low,high,confidence,method,witnesses,"
                     "claimed,claimed_by,evidence,candidates,note\n");
    assert_has(text,
               "\n\"A, \"\"B\"\"\",l1d.capacity,B,measured,65536,65536,65536,0.99,swept,clock,"
               "65536,sysfs,,,two\\x0alines\n");
    assert_has(text, ",l2.ways,,undetermined,,,,,,,,,,,the two orders disagree\n");
    free(text);
}

static void test_tlb_csv(void **state)
{
    add_tlbs(*state);
    char *text = written(write_csv, *state);
    assert_has(text, ",dtlb1.ways,,measured,full,full,full,0.99,swept,clock,,,,,\n");
    assert_has(text, ",dtlb1.reach,B,measured,196608,196608,196608,");
    assert_has(text, ",dtlb1@2MiB.miss_cost,,unsupported,,,,,,,,,,,no page is as large here\n");
    free(text);
}

static void test_safe_text(void **state)
{
    (void)state;
    char out[64];
    assert_string_equal(fm_show("a\x1b[0m\r\n\x7f", true, out, sizeof out),
                        "a\\x1b[0m\\x0d\\x0a\\x7f");
    assert_string_equal(fm_show("gr\xc3\xbc\xc3\x9f", true, out, sizeof out), "gr\xc3\xbc\xc3\x9f");
    assert_string_equal(fm_show("\xc3\xbc", false, out, sizeof out), "\\xc3\\xbc");
    /* C1 control as UTF-8, right-to-left override, overlong slash, surrogate, cut short */
    assert_string_equal(fm_show("\xc2\x9b", true, out, sizeof out), "\\xc2\\x9b");
    assert_string_equal(fm_show("\xe2\x80\xae", true, out, sizeof out), "\\xe2\\x80\\xae");
    assert_string_equal(fm_show("\xc0\xaf", true, out, sizeof out), "\\xc0\\xaf");
    assert_string_equal(fm_show("\xed\xa0\x80", true, out, sizeof out), "\\xed\\xa0\\x80");
    assert_string_equal(fm_show("\xf0\x9f", true, out, sizeof out), "\\xf0\\x9f");
    assert_string_equal(fm_show("abc\xc3\xbc", true, out, 5), "abc");
}

static void test_cells(void **state)
{
    (void)state;
    char cell[FM_CELL];
    assert_string_equal(fm_cell_size(1310720, cell), "1.25M");
    assert_string_equal(fm_cell_size(48, cell), "48");
    assert_string_equal(fm_cell_size(720000, cell), "703K");
    assert_string_equal(fm_cell_number(0.1, cell), "0.1");
    assert_string_equal(fm_cell_number(1.0 / 3, cell), "0.3333333333333333");
    assert_string_equal(fm_cell_structure("l2@core=4.capacity", cell), "L2@core=4");
    assert_string_equal(fm_cell_structure("dtlb1@2MiB.ways", cell), "DTLB1@2MiB");
    assert_string_equal(fm_cell_structure("memory@node=1.latency", cell), "Memory@node=1");
    const struct fm_value full = fm_text("full"), yes = fm_bool(true), none = {0};
    assert_string_equal(fm_cell_value(&full, "", cell), "full");
    assert_string_equal(fm_cell_value(&yes, "", cell), "yes");
    assert_string_equal(fm_cell_value(&none, "B", cell), "");
    assert_string_equal(fm_cell_finding(NULL, cell), "-");
}

static void test_numbers_for_people(void **state)
{
    (void)state;
    char cell[FM_CELL];
    assert_string_equal(fm_cell_clock(2.6, cell), "2.60 GHz");
    assert_string_equal(fm_cell_clock(0.133, cell), "133 MHz");
    assert_string_equal(fm_cell_count(70000, cell), "70000");
    assert_string_equal(fm_cell_count(28640123, cell), "28.6 million");
    assert_string_equal(fm_cell_count(999.9e6, cell), "1.00 billion");
    assert_string_equal(fm_cell_rate(1.52e9, cell), "1.52 GB/s");
    assert_string_equal(fm_cell_rate(512, cell), "512 B/s");
    assert_string_equal(fm_cell_change(1.66, cell), "+66%");
    assert_string_equal(fm_cell_change(4, cell), "x4");
    assert_string_equal(fm_cell_change(3.54, cell), "x3.5");
    assert_string_equal(fm_cell_change(2048, cell), "x2048");
    assert_string_equal(fm_cell_change(0.0625, cell), "1/16");
    assert_string_equal(fm_cell_change(0.354, cell), "x0.35");
    assert_string_equal(fm_cell_change(1e-6, cell), "1/1000000");
}

/* The end of a long line must not be what is broken. */
static void test_heading_is_broken_at_the_comma(void **state)
{
    struct fm_result *result = *state;
    strcpy(result->machine.name, "Intel(R) Xeon(R) Processor @ 2.50GHz");
    strcpy(result->machine.arch, "x86_64");
    result->machine.cpu = 1;
    char *text = written(write_table, result);
    assert_has(text, "Intel(R) Xeon(R) Processor @ 2.50GHz (x86_64), CPU 1,\n"
                     "  a cycle is 0.400 ns (2.50 GHz)\n");
    free(text);
}

static struct fm_curve staircase(void)
{
    struct fm_curve curve = {.id = "swept",
                             .x = {"footprint", "B"},
                             .y = {"latency", "ns"},
                             .step_count = 3,
                             .steps = {{32768, 1, "l1d"}, {262144, 4, "l2"}, {1 << 22, 64, ""}}};
    for (double x = 4096; x <= 1 << 22; x *= 2) {
        const double y = x <= 32768 ? 1 : x <= 262144 ? 4 : 64;
        assert_true(fm_curve_add(&curve, (struct fm_point){x, y, y, y}));
    }
    return curve;
}

static char *drawn(const struct fm_curve *curve, const struct fm_look *look)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_true(fm_report_plot(out, curve, look, NULL));
    fclose(out);
    return text;
}

static void test_plot(void **state)
{
    (void)state;
    struct fm_curve curve = staircase();
    for (unsigned width = 24; width <= 248; width += 28) {
        const struct fm_look look = {.width = width};
        char *text = drawn(&curve, &look);
        assert_tame(text, width);
        assert_has(text, "swept: latency (ns)");
        assert_has(text, "l1d 32K");
        assert_has(text, "l2 256K");
        assert_has(text, "  1 +");
        assert_has(text, "50 +");
        assert_has(text, "4K");
        free(text);
    }
    const struct fm_look braille = {.width = 80, .unicode = true};
    char *text = drawn(&curve, &braille);
    assert_has(text, "\xe2\x94\x8a"); /* a rule at a step */
    assert_has(text, "\xe2\xa3\x80"); /* two dots low in a cell: the first plateau */
    assert_null(strchr(text, '\033'));
    free(text);
    const struct fm_look coloured = {.width = 80, .unicode = true, .colour = true};
    text = drawn(&curve, &coloured);
    assert_has(text, "\033[36m\xe2\xa3\x80");       /* the curve */
    assert_has(text, "\033[2m\xe2\x94\x8a\033[0m"); /* a rule */
    for (const char *line = strchr(text, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        const char *last = line, *end = strchr(line, '\n');
        for (const char *c = line; c < end; c++)
            if (*c == '\033')
                last = c;
        /* No line leaves its colour to the next. */
        assert_true(*last != '\033' || strncmp(last, "\033[0m", 4) == 0);
    }
    free(text);
    free(curve.points);
}

static void test_plot_of_one_point_and_of_none(void **state)
{
    (void)state;
    struct fm_error err = {0};
    struct fm_curve curve = {.id = "gap"};
    assert_true(fm_curve_add(&curve, (struct fm_point){0, -1, 0, 0}));
    assert_false(fm_report_plot(stderr, &curve, &plain, &err));
    assert_int_equal(err.code, FM_ERR_UNSUPPORTED);
    assert_true(fm_curve_add(&curve, (struct fm_point){64, 3, 3, 3}));
    char *text = drawn(&curve, &plain);
    assert_has(text, "64");
    free(text);
    free(curve.points);
}

/* What translation costs: nothing but noise up to 48 pages, then 2 ns. */
static struct fm_curve cost_from_nothing(void)
{
    struct fm_curve curve = {.id = "tlb",
                             .x = {"pages", ""},
                             .y = {"translation", "ns"},
                             .step_count = 1,
                             .steps = {{48, 2, "dtlb1"}}};
    for (double x = 3; x <= 768; x *= 2) {
        const double y = x > 48 ? 2 : x == 12 ? 0.01 : 0;
        assert_true(fm_curve_add(&curve, (struct fm_point){x, y, y - 0.02, y + 0.02}));
    }
    return curve;
}

static void test_plot_from_nothing(void **state)
{
    (void)state;
    struct fm_curve curve = cost_from_nothing();
    char *text = drawn(&curve, &plain);
    assert_tame(text, 80);
    assert_has(text, "tlb: translation (ns) over pages\n");
    assert_has(text, "dtlb1 48\n");
    assert_has(text, "\n    0.1 +");
    /* From the first point on the curve lies at the bottom, and the noise does not rise from it. */
    assert_has(text, "\n      0 +....................");
    free(text);
    free(curve.points);
}

static void test_plot_of_nothing_alone(void **state)
{
    (void)state;
    struct fm_curve curve = cost_from_nothing();
    curve.point_count = 4;
    char *text = drawn(&curve, &plain);
    assert_has(text, "\n   0.02 +\n");
    assert_has(text, "\n      0 +....................");
    free(text);
    free(curve.points);
}

static void test_points(void **state)
{
    (void)state;
    struct fm_curve curve = cost_from_nothing();
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    fm_report_points(out, &curve);
    fclose(out);
    assert_ptr_equal(strstr(text, "pages,translation_ns,low_ns,high_ns\n3,0,-0.02,0.02\n"), text);
    free(text);
    free(curve.points);
}

static void test_list(void **state)
{
    (void)state;
    static const char *const headings[] = {"NAME", "FINDS", "HERE"};
    static const char *const cells[] = {
        "one",   "a text so long that it cannot stand on one line of a table that is narrow",
        "yes",   "t\033wo",
        "short", "no"};
    const struct fm_look look = {.width = 48};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_true(fm_report_list(out, headings, 3, cells, 2, 1, &look, NULL));
    fclose(out);
    assert_tame(text, 48);
    assert_has(text, "t\\x1bwo");
    assert_has(text, "narrow");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_table, make_result, free_result),
        cmocka_unit_test(test_rows_have_an_order_of_their_own),
        cmocka_unit_test_setup_teardown(test_tlb_table, make_result, free_result),
        cmocka_unit_test_setup_teardown(test_no_tlb_has_no_table, make_result, free_result),
        cmocka_unit_test(test_tlbs_alone),
        cmocka_unit_test_setup_teardown(test_tlb_notes, make_result, free_result),
        cmocka_unit_test_setup_teardown(test_notes, make_result, free_result),
        cmocka_unit_test_setup_teardown(test_terse_leaves_notes_out, make_result, free_result),
        cmocka_unit_test(test_every_property_has_a_meaning),
        cmocka_unit_test_setup_teardown(test_verbose, make_result, free_result),
        cmocka_unit_test_setup_teardown(test_what_was_asked_in_vain_is_open, make_result,
                                        free_result),
        cmocka_unit_test_setup_teardown(test_absent_level_has_no_row, make_result, free_result),
        cmocka_unit_test_setup_teardown(test_csv, make_result, free_result),
        cmocka_unit_test_setup_teardown(test_tlb_csv, make_result, free_result),
        cmocka_unit_test(test_safe_text),
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_numbers_for_people),
        cmocka_unit_test_setup_teardown(test_heading_is_broken_at_the_comma, make_result,
                                        free_result),
        cmocka_unit_test(test_plot),
        cmocka_unit_test(test_plot_of_one_point_and_of_none),
        cmocka_unit_test(test_plot_from_nothing),
        cmocka_unit_test(test_plot_of_nothing_alone),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_list),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
