#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/machine_file.h"

static const char nehalem[] =
    "name: Intel Xeon E5530 Nehalem\n"                                              /* 1 */
    "source: cooper_sandoval_2011 # a remark\n"                                     /* 2 */
    "clock_mhz: 2400\n"                                                             /* 3 */
    "page_size: 4KiB\n"                                                             /* 4 */
    "page_mapping: random\n"                                                        /* 5 */
    "caches:\n"                                                                     /* 6 */
    "  - { name: l1d, level: 1, holds: data, capacity: 32KiB, line: 64, ways: 8,\n" /* 7 */
    "      latency: 4 }\n"                                                          /* 8 */
    "  - { name: l1i, level: 1, holds: instructions, capacity: 32KiB, line: 64,\n"  /* 9 */
    "      ways: 4, latency: 4, replacement: tree-plru }\n"                         /* 10 */
    "  - { name: l2, level: 2, holds: both, capacity: 256KiB, line: 64, ways: 8,\n" /* 11 */
    "      latency: 10.5, index: physical, inclusion: exclusive }\n"                /* 12 */
    "  - { name: l3, level: 3, holds: both, capacity: 1.25MiB, line: 128,\n"        /* 13 */
    "      ways: full, latency: 38, index: hashed, write_allocate: false,\n"        /* 14 */
    "      write_policy: through, inclusion: inclusive }\n"                         /* 15 */
    "tlbs:\n"                                                                       /* 16 */
    "  - { name: dtlb1, level: 1, holds: data, entries: 64, ways: 4,\n"             /* 17 */
    "      page_sizes: [4KiB, 2MiB] }\n"                                            /* 18 */
    "  - { name: dtlb2, level: 2, holds: both, entries: 512, ways: full,\n"         /* 19 */
    "      page_sizes: [4KiB], latency: 7 }\n"                                      /* 20 */
    "walk: { latency: 30, cold_latency: 60 }\n"                                     /* 21 */
    "memory: { latency: 190 }\n"                                                    /* 22 */
    "prefetch: [adjacent-line, region]\n"                                           /* 23 */
    "noise: { jitter: 0.02, spike_probability: 0.001, spike_cycles: 20000,\n"       /* 24 */
    "         pollution: 1e-6, timer_ns: 1, timer_pages: 3 }\n"                     /* 25 */
    "add_latency: 0.5\n"                                                            /* 26 */
    "cores: 4\n";                                                                   /* 27 */

static bool parse(const char *text, struct fm_description *out, struct fm_error *err)
{
    return fm_description_parse(text, strlen(text), "m.yaml", out, err);
}

static void every_key_arrives(void **state)
{
    (void)state;
    struct fm_description d;
    struct fm_error err = {0};
    if (!parse(nehalem, &d, &err))
        fail_msg("%s", err.text);
    assert_string_equal(d.name, "Intel Xeon E5530 Nehalem");
    assert_string_equal(d.source, "cooper_sandoval_2011");
    assert_true(d.clock_mhz == 2400 && d.page_size == 4096 && d.add_latency == 0.5);
    assert_int_equal(d.page_mapping, FM_MAPPING_RANDOM);
    assert_int_equal(d.cache_count, 4);
    assert_string_equal(d.caches[0].name, "l1d");
    assert_int_equal(d.caches[0].capacity, 32768);
    assert_int_equal(d.caches[0].ways, 8);
    assert_true(d.caches[0].write_allocate && d.caches[0].latency == 4);
    assert_int_equal(d.caches[0].index, FM_INDEX_VIRTUAL);
    assert_int_equal(d.caches[0].inclusion, FM_INCLUSION_NONE);
    assert_int_equal(d.caches[1].holds, FM_HOLDS_INSTRUCTIONS);
    assert_int_equal(d.caches[1].replacement, FM_REPLACE_TREE_PLRU);
    assert_int_equal(d.caches[2].index, FM_INDEX_PHYSICAL);
    assert_int_equal(d.caches[2].inclusion, FM_INCLUSION_EXCLUSIVE);
    assert_true(d.caches[2].latency == 10.5);
    assert_int_equal(d.caches[3].capacity, 1310720);
    assert_int_equal(d.caches[3].ways, 10240);
    assert_int_equal(d.caches[3].write_policy, FM_WRITE_THROUGH);
    assert_false(d.caches[3].write_allocate);
    assert_int_equal(d.tlb_count, 2);
    assert_int_equal(d.tlbs[0].page_size_count, 2);
    assert_int_equal(d.tlbs[0].page_sizes[1], 2 << 20);
    assert_int_equal(d.tlbs[1].ways, 512);
    assert_true(d.tlbs[1].latency == 7 && d.walk_latency == 30 && d.memory_latency == 190);
    assert_int_equal(d.prefetch, FM_PREFETCH_ADJACENT_LINE | FM_PREFETCH_REGION);
    assert_true(d.noise.jitter == 0.02 && d.noise.spike_probability == 0.001);
    assert_true(d.noise.spike_cycles == 20000 && d.noise.pollution == 1e-6);
    assert_true(d.noise.timer_ns == 1);
    assert_int_equal(d.noise.timer_pages, 3);
}

static void little_is_enough(void **state)
{
    (void)state;
    struct fm_description d;
    struct fm_error err = {0};
    const bool ok = parse("name: tiny\nclock_mhz: 100\ncaches:\n"
                          "- {name: l1d, level: 1, holds: data, capacity: 1KiB, line: 16, "
                          "ways: full, latency: 1}\nmemory: {latency: 10}\n",
                          &d, &err);
    if (!ok)
        fail_msg("%s", err.text);
    assert_int_equal(d.caches[0].ways, 64);
    assert_int_equal(d.page_size, 4096);
    assert_int_equal(d.page_mapping, FM_MAPPING_CONTIGUOUS);
    assert_true(d.add_latency == 1 && d.tlb_count == 0 && d.prefetch == 0 && d.walk_latency == 0);
    assert_true(d.noise.jitter == 0 && d.noise.timer_ns == 0);
}

/* One edit of the good file each, and what the complaint must say. */
static const struct {
    const char *from, *to, *complaint;
} mistakes[] = {
    /* types */
    {"ways: 8,\n      latency: 4", "ways: eight,\n      latency: 4",
     "m.yaml:7: caches[0].ways: 'eight'"},
    {"ways: 8,\n      latency: 4", "ways: 8x,\n      latency: 4", "m.yaml:7: caches[0].ways: '8x'"},
    {"ways: 8,\n      latency: 4", "ways: 08,\n      latency: 4", "m.yaml:7: caches[0].ways: '08'"},
    {"ways: 8,\n      latency: 4", "ways: 1.5,\n      latency: 4",
     "m.yaml:7: caches[0].ways: '1.5'"},
    {"ways: 8,\n      latency: 4", "ways: [8],\n      latency: 4",
     "m.yaml:7: caches[0].ways: a list"},
    {"ways: 8,\n      latency: 4", "ways: \"8\",\n      latency: 4",
     "m.yaml:7: caches[0].ways: \"8\""},
    {"ways: 8,\n      latency: 4", "ways: ,\n      latency: 4",
     "m.yaml:7: caches[0].ways: an empty"},
    {"capacity: 32KiB, line: 64, ways", "capacity: 32kb, line: 64, ways",
     "m.yaml:7: caches[0].capacity: '32kb' is wrong here; write a size"},
    {"line: 64", "line: 6\\n4", "caches[0].line"},
    {"latency: 10.5", "latency: fast", "m.yaml:12: caches[2].latency: 'fast'"},
    {"clock_mhz: 2400", "clock_mhz: 2.4GHz", "m.yaml:3: clock_mhz: '2.4GHz'"},
    {"holds: both", "holds: everything",
     "m.yaml:11: caches[2].holds: 'everything' is wrong here; write one of: data, instructions, "
     "both"},
    {"write_allocate: false", "write_allocate: no",
     "m.yaml:14: caches[3].write_allocate: 'no' is wrong here; write true or false"},
    {"walk: { latency: 30, cold_latency: 60 }", "walk: 30", "m.yaml:21: walk: '30'"},
    {"[adjacent-line, region]", "adjacent-line", "m.yaml:23: prefetch: 'adjacent-line'"},
    {"[adjacent-line, region]", "[adjacent-line, psychic]", "m.yaml:23: prefetch: 'psychic'"},
    {"name: Intel Xeon E5530 Nehalem", "name:", "m.yaml:1: name: an empty value"},
    {"name: Intel Xeon E5530 Nehalem", "name: \"a\\nb\"", "m.yaml:1: name: \"a\\x0ab\""},
    {"prefetch: [adjacent-line, region]", "no_counter: [l2, l7]", "m.yaml:23: no_counter: 'l7'"},
    {"prefetch: [adj", "tlbs: [adj", "m.yaml:23: tlbs: stands here twice"},
    {"cores: 4", "- cores", "m.yaml:27: not valid YAML"},
    /* keys */
    {"latency: 38,", "latency: 38, wayz: 3,",
     "m.yaml:14: caches[3]: 'wayz' is no key here; known are name, level"},
    {"cores: 4", "coers: 4", "m.yaml:27: 'coers' is no key here"},
    {"cores: 4", "[a]: 4", "m.yaml:27: a list is no key here"},
    {", line: 128", "", "m.yaml:13: caches[3]: the key 'line' is missing; give it a size"},
    {"memory: { latency: 190 }\n", "", "m.yaml:1: the key 'memory' is missing"},
    {"name: Intel Xeon E5530 Nehalem\n", "", "m.yaml:1: the key 'name' is missing"},
    {"clock_mhz: 2400\n", "", "the key 'clock_mhz' is missing"},
    {"ways: 8,\n      latency: 4", "ways: 8, ways: 4,\n      latency: 4",
     "m.yaml:7: caches[0].ways: stands here twice"},
    /* geometry */
    {"ways: 8,\n      latency: 4", "ways: 7,\n      latency: 4",
     "m.yaml:7: caches[0].ways: 7 does not divide the 512 lines of this cache; use 4 or 8"},
    {"ways: 8,\n      latency: 4", "ways: 0,\n      latency: 4",
     "m.yaml:7: caches[0].ways: '0' is out of range"},
    {"ways: 8,\n      latency: 4", "ways: 1024,\n      latency: 4",
     "m.yaml:7: caches[0].ways: 1024 does not divide"},
    {"capacity: 32KiB, line: 64, ways", "capacity: 33000, line: 64, ways",
     "m.yaml:7: caches[0].capacity: 33000 is no whole number of 64-byte lines; use 32960 or 33024"},
    {"line: 64, ways: 8,\n      latency: 4", "line: 48, ways: 8,\n      latency: 4",
     "m.yaml:7: caches[0].line: 48 is no power of two; use 32 or 64"},
    {"line: 64, ways: 8,\n      latency: 4", "line: 8KiB, ways: 4,\n      latency: 4",
     "m.yaml:7: caches[0].line: 8192 is above the page of 4 KiB"},
    {"line: 64, ways: 8,\n      latency: 4", "line: 4, ways: 8,\n      latency: 4",
     "m.yaml:7: caches[0].line: '4' is out of range"},
    {"capacity: 1.25MiB", "capacity: 32GiB",
     "m.yaml:13: caches[3].capacity: is too large to simulate"},
    {"page_size: 4KiB\n", "page_size: 5000\n",
     "m.yaml:4: page_size: 5000 is no power of two; use 4096 or 8192"},
    {"capacity: 32KiB, line: 64,\n      ways: 4", "capacity: 24KiB, line: 64,\n      ways: 3",
     "m.yaml:10: caches[1].replacement: tree-plru needs a power of two"},
    {"replacement: tree-plru", "replacement: lru-trees",
     "m.yaml:10: caches[1].replacement: lru-trees needs ways that are an even number"},
    {"name: l3, level: 3", "name: l3, level: 4",
     "m.yaml:13: caches[3].level: there is no level 3 for data"},
    {"name: l3, level: 3", "name: l3, level: 2",
     "m.yaml:13: caches[3].level: l2 serves level 2 already"},
    {"name: l3, level: 3", "name: l3, level: 1",
     "m.yaml:13: caches[3].level: 1 comes after level 2"},
    {"name: l3, level: 3", "name: l3, level: 0", "m.yaml:13: caches[3].level: '0' is out of range"},
    {"name: l3, level: 3", "name: l2, level: 3",
     "m.yaml:13: caches[3].name: 'l2' is taken by caches[2]"},
    {"name: l1d, level: 1, holds: data", "name: l1d, level: 1, holds: both",
     "m.yaml:9: caches[1].level: l1d serves level 1 already"},
    {"line: 128", "line: 32",
     "m.yaml:13: caches[3].line: 32 is below the 64 of l2; use at least 64"},
    {"capacity: 256KiB, line: 64", "capacity: 256KiB, line: 128",
     "m.yaml:11: caches[2].line: an exclusive cache"},
    {"index: physical, inclusion: exclusive", "sector: 48",
     "m.yaml:12: caches[2].sector: 48 is no power of two; use 32 or 64"},
    {"index: physical, inclusion: exclusive", "sector: 8KiB",
     "m.yaml:12: caches[2].sector: 8192 is above the page of 4 KiB"},
    {"index: physical, inclusion: exclusive", "sector: 32",
     "m.yaml:12: caches[2].sector: 32 is below the 64 that l1d asks for; use at least 64"},
    {"inclusion: exclusive", "inclusion: exclusive, sector: 128",
     "m.yaml:12: caches[2].sector: an exclusive cache"},
    {"inclusion: exclusive", "store_latency: 0", "m.yaml:12: caches[2].store_latency: '0'"},
    {"inclusion: exclusive", "banks: 3", "m.yaml:12: caches[2].banks: 3"},
    {"inclusion: exclusive", "banks: 16", "m.yaml:12: caches[2].banks: 16 share a line of 64"},
    {"inclusion: exclusive", "bank_width: 8",
     "m.yaml:12: caches[2].bank_width: is that of no banks"},
    {"inclusion: exclusive", "streaming_stores: 0", "m.yaml:12: caches[2].streaming_stores: '0'"},
    {"capacity: 256KiB", "capacity: 16KiB",
     "m.yaml:11: caches[2].capacity: is below that of l1d, which it serves; use at least 32 KiB"},
    {"latency: 10.5", "latency: 4", "m.yaml:12: caches[2].latency: 4 is not above the 4 of l1d"},
    {"latency: 10.5", "latency: 0", "m.yaml:12: caches[2].latency: '0' is out of range"},
    {"latency: 10.5", "latency: -3", "m.yaml:12: caches[2].latency: '-3' is out of range"},
    {"latency: 190", "latency: 38", "m.yaml:22: memory.latency: 38 is not above the 38 of l3"},
    {"entries: 64, ways: 4", "entries: 64, ways: 5",
     "m.yaml:17: tlbs[0].ways: 5 does not divide the 64 entries; use 4 or 8"},
    {"entries: 512", "entries: 32", "m.yaml:19: tlbs[1].entries: 32 is below the 64 of dtlb1"},
    {"entries: 512", "entries: 0", "m.yaml:19: tlbs[1].entries: '0' is out of range"},
    {"[4KiB, 2MiB]", "[4KiB, 3MiB]", "m.yaml:18: tlbs[0].page_sizes: 3145728 is no power of two"},
    {"ways: 4,\n      page_sizes", "ways: 4, reserved: 8,\n      page_sizes",
     "m.yaml:17: tlbs[0].reserved: 8 must leave entries and be as many in each of 16 sets"},
    {"ways: 4,\n      page_sizes", "ways: 4, reserved: 64,\n      page_sizes",
     "m.yaml:17: tlbs[0].reserved: 64 must leave entries"},
    {"ways: 4,\n      page_sizes", "ways: 4, pages_per_entry: 3,\n      page_sizes",
     "m.yaml:17: tlbs[0].pages_per_entry: 3 is no power of two"},
    {"ways: 4,\n      page_sizes", "ways: 4, index: physical,\n      page_sizes",
     "m.yaml:17: tlbs[0].index: a TLB is asked before"},
    {"entries: 64, ways: 4,", "entries: 60, ways: 4, index: folded,",
     "m.yaml:17: tlbs[0].index: 15 sets are no power of two"},
    {"index: hashed", "index: folded", "m.yaml:14: caches[3].index: is one of TLBs alone"},
    {"cores: 4", "page_growth: { misses: 10, to: 4KiB }", "m.yaml:27: page_growth: pages grow to"},
    {"cores: 4", "page_growth: { misses: 10, to: 12KiB }", "m.yaml:27: page_growth: pages grow to"},
    {"cores: 4", "page_growth: { to: 64KiB }", "m.yaml:27: page_growth"},
    {"cores: 4", "btb: { entries: 10, ways: 4, miss_cost: 3 }",
     "m.yaml:27: btb.ways: 4 does not divide the 10 entries; use 2 or 5"},
    {"cores: 4", "btb: [{ entries: 8, miss_cost: 3 }, { entries: 8, miss_cost: 9 }]",
     "m.yaml:27: btb[1].entries: 8 is not above the 8 of the level before"},
    {"cores: 4", "btb: { entries: 8 }", "m.yaml:27: btb: the key 'miss_cost' is missing"},
    {"cores: 4", "btb: 4096", "m.yaml:27: btb: '4096' is wrong here; write a mapping such as"},
    {"cores: 4", "op_cache: { entries: 64, latency: 1, window: 48 }",
     "m.yaml:27: op_cache.window: 48 is no power of two; use 32 or 64"},
    {"cores: 4", "op_cache: { entries: 64, latency: 1, colour: 2 }", "m.yaml:27: op_cache"},
    {"[4KiB, 2MiB]", "[]", "m.yaml:18: tlbs[0].page_sizes: has 0 entries"},
    {"[4KiB, 2MiB]", "[1K, 2K, 4K, 8K, 16K]",
     "m.yaml:18: tlbs[0].page_sizes: has 5 entries; write 1 to 4"},
    {"[4KiB, 2MiB]", "4KiB", "m.yaml:18: tlbs[0].page_sizes: '4KiB'"},
    {"dtlb2, level: 2", "dtlb2, level: 3", "m.yaml:19: tlbs[1].level: there is no level 2"},
    {"dtlb2, level: 2", "dtlb2, level: 1", "m.yaml:19: tlbs[1].level: dtlb1 serves level 1"},
    {"jitter: 0.02", "jitter: 1.5",
     "m.yaml:24: noise.jitter: '1.5' is out of range; write a value from 0 to 1"},
    {"spike_probability: 0.001", "spike_probability: -0.1", "m.yaml:24: noise.spike_probability"},
    {"timer_pages: 3", "timer_pages: 65", "m.yaml:25: noise.timer_pages: '65'"},
    {"timer_ns: 1,", "timer_ns: 1000001,",
     "m.yaml:25: noise.timer_ns: '1000001' is out of range; write a value from 0 to 1000000"},
    {"cores: 4", "cores: -4", "m.yaml:27: cores: '-4' is wrong here; write a plain count"},
    {"cores: 4", "cores: 0", "m.yaml:27: cores: '0' is out of range; write a value from 1 to 8192"},
    {"cores: 4", "cores: 99999999999", "m.yaml:27: cores: '99999999999'"},
    {"cores: 4", "neighbours: -1", "m.yaml:27: neighbours: '-1'"},
    {"cores: 4", "neighbours: [2]", "m.yaml:27: neighbours: a list is wrong here"},
    {"latency: 38,", "latency: 38, shared_by: 1e9,", "m.yaml:14: caches[3].shared_by: '1e9'"},
    {"timer_ns: 1,", "timer_ns: nan,", "m.yaml:25: noise.timer_ns: 'nan'"},
    {"add_latency: 0.5", "add_latency: 0", "m.yaml:26: add_latency: '0' is out of range"},
    /* YAML that is more than a machine file */
    {"cores: 4", "cores: &a [1]\nbtb: *a", "m.yaml:27: anchors and aliases"},
    {"cores: 4", "cores: *a", "m.yaml:27: anchors and aliases"},
    {"cores: 4", "cores: !!int 4", "m.yaml:27: tags"},
    {"cores: 4", "cores: [[[[[[[[[[1]]]]]]]]]]", "m.yaml:27: nested too deeply"},
    {"cores: 4", "---\nname: two", "m.yaml:27: a second document"},
    {"cores: 4", "cores: \xff", "m.yaml:27: not valid YAML"},
};

static char *edit(const char *from, const char *to)
{
    const char *place = strstr(nehalem, from);
    assert_non_null(place);
    char *text = malloc(sizeof nehalem + strlen(to));
    assert_non_null(text);
    sprintf(text, "%.*s%s%s", (int)(place - nehalem), nehalem, to, place + strlen(from));
    return text;
}

/* One level of targets needs no list, several do; ways are full unless they are told. */
static void what_stands_before_the_instruction_cache(void **state)
{
    (void)state;
    struct fm_description d;
    struct fm_error err = {0};
    char *text = edit("cores: 4", "btb: { entries: 512, ways: 4, miss_cost: 9 }\n"
                                  "op_cache: { entries: 256, latency: 0.5 }");
    assert_true(parse(text, &d, &err));
    free(text);
    assert_int_equal(d.btb_count, 1);
    assert_int_equal(d.btbs[0].entries, 512);
    assert_int_equal(d.btbs[0].ways, 4);
    assert_true(d.btbs[0].miss_cost == 9 && d.btbs[0].block == 8);
    assert_int_equal(d.op_cache.ways, 256);
    assert_int_equal(d.op_cache.window, 32);
    assert_int_equal(d.op_cache.ops, 6);
    assert_true(d.op_cache.latency == 0.5);
    text = edit("cores: 4", "btb:\n  - { entries: 16, miss_cost: 1 }\n"
                            "  - { entries: 64, block: 32, miss_cost: 9 }");
    assert_true(parse(text, &d, &err));
    free(text);
    assert_int_equal(d.btb_count, 2);
    assert_int_equal(d.btbs[0].ways, 16);
    assert_int_equal(d.btbs[1].block, 32);
    assert_int_equal(d.op_cache.entries, 0);
}

static void mistakes_are_named_with_line_and_remedy(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        char *text = edit(mistakes[i].from, mistakes[i].to);
        struct fm_description d = {.cache_count = 99};
        struct fm_error err = {0};
        if (parse(text, &d, &err))
            fail_msg("accepted: %s", mistakes[i].to);
        if (err.code != FM_ERR_USAGE || !strstr(err.text, mistakes[i].complaint))
            fail_msg("expected \"%s\", got \"%s\"", mistakes[i].complaint, err.text);
        assert_null(strchr(err.text, '\n'));
        assert_non_null(strstr(err.text, "; "));
        assert_int_equal(d.cache_count, 99);
        free(text);
    }
}

static void expect(const char *text, size_t length, const char *complaint)
{
    struct fm_description d;
    struct fm_error err = {0};
    assert_false(fm_description_parse(text, length, "m.yaml", &d, &err));
    if (err.code != FM_ERR_USAGE || !strstr(err.text, complaint))
        fail_msg("expected \"%s\", got \"%s\"", complaint, err.text);
}

static void odd_files(void **state)
{
    (void)state;
    expect("", 0, "m.yaml:1: the file is empty");
    expect("# nothing\n", 10, "the file is empty");
    expect("name: a\nclock_mhz: \0001", 20, "m.yaml:2: holds a NUL byte");
    expect("just text", 9, "m.yaml:1: 'just text' is wrong here");
    expect("- a\n", 4, "m.yaml:1: a list is wrong here");
    expect("{", 1, "not valid YAML");
}

/* A megabyte of open brackets: without the limit on depth this would run into the time limit. */
static void nesting_is_cheap(void **state)
{
    (void)state;
    const size_t length = FM_MACHINE_FILE_LIMIT;
    char *text = malloc(length);
    assert_non_null(text);
    memset(text, '[', length);
    expect(text, length, "nested too deeply");
    free(text);
}

static void files_that_cannot_be_read(void **state)
{
    (void)state;
    struct fm_description d;
    struct fm_error err = {0};
    assert_false(fm_description_read("/nonexistent/m.yaml", &d, &err));
    assert_int_equal(err.code, FM_ERR_USAGE);
    assert_non_null(strstr(err.text, "/nonexistent/m.yaml: cannot be opened"));
    assert_false(fm_description_read("/", &d, &err));
    assert_int_equal(err.code, FM_ERR_USAGE);
    assert_false(fm_description_read("/dev/zero", &d, &err));
    assert_int_equal(err.code, FM_ERR_USAGE);
    assert_non_null(strstr(err.text, "larger than the 1048576 bytes"));

    char path[] = "/tmp/fathom-test-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, nehalem, sizeof nehalem - 1), sizeof nehalem - 1);
    close(fd);
    assert_true(fm_description_read(path, &d, &err));
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_arrives),
        cmocka_unit_test(little_is_enough),
        cmocka_unit_test(what_stands_before_the_instruction_cache),
        cmocka_unit_test(mistakes_are_named_with_line_and_remedy),
        cmocka_unit_test(odd_files),
        cmocka_unit_test(nesting_is_cheap),
        cmocka_unit_test(files_that_cannot_be_read),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
