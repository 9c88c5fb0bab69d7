/* The machine files shipped: all can be read, and they say what the papers' tables document. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/machine_file.h"

#define COLUMNS 10

static void path_of(char path[512], const char *rest)
{
    const char *root = getenv("FATHOM_SOURCE");
    snprintf(path, 512, "%s/%s", root ? root : ".", rest);
}

static void read_machine(const char *file, struct fm_description *machine)
{
    char rest[256], path[512];
    struct fm_error err = {0};
    snprintf(rest, sizeof rest, "machines/%s", file);
    path_of(path, rest);
    if (!fm_description_read(path, machine, &err))
        fail_msg("%s", err.text);
}

static void all_can_be_read(void **state)
{
    (void)state;
    char path[512];
    path_of(path, "machines");
    DIR *folder = opendir(path);
    assert_non_null(folder);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        struct fm_description machine;
        read_machine(entry->d_name, &machine);
        assert_true(*machine.source);
        count++;
    }
    closedir(folder);
    assert_true(count >= 30);
}

static const struct fm_cache_description *data_cache(const struct fm_description *machine,
                                                     unsigned level)
{
    for (size_t i = 0; i < machine->cache_count; i++)
        if (machine->caches[i].level == level && machine->caches[i].holds != FM_HOLDS_INSTRUCTIONS)
            return &machine->caches[i];
    return NULL;
}

static void expect_documented(const char *file, const char *what, const char *documented,
                              uint64_t described)
{
    if (*documented && strtoull(documented, NULL, 10) != described)
        fail_msg("%s: %s is %llu, documented is %s", file, what, (unsigned long long)described,
                 documented);
}

static void they_say_what_is_documented(void **state)
{
    (void)state;
    char path[512], line[256];
    path_of(path, "tests/data/published.csv");
    FILE *table = fopen(path, "r");
    assert_non_null(table);
    assert_non_null(fgets(line, sizeof line, table));
    size_t rows = 0;
    for (; fgets(line, sizeof line, table); rows++) {
        char *cell[COLUMNS], *rest = line;
        for (size_t i = 0; i < COLUMNS; i++)
            assert_non_null(cell[i] = strsep(&rest, ",\n"));
        struct fm_description machine;
        read_machine(cell[0], &machine);
        const struct fm_cache_description *cache =
            data_cache(&machine, (unsigned)(cell[1][1] - '0'));
        assert_non_null(cache);
        expect_documented(cell[0], "line", cell[2], cache->line);
        expect_documented(cell[0], "ways", cell[4], cache->ways);
        expect_documented(cell[0], "capacity", cell[6], cache->capacity);
    }
    fclose(table);
    assert_int_equal(rows, 70);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_can_be_read),
        cmocka_unit_test(they_say_what_is_documented),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
