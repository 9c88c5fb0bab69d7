/* Columns: widths, edges, cells of several lines, no blanks at the end of a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/grid.h"

static void expect(const struct fm_grid *grid, const char *want)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    assert_true(fm_grid_print(out, grid));
    fclose(out);
    assert_string_equal(text, want);
    free(text);
}

static void columns_stand_in_line(void **state)
{
    struct fm_grid grid = {0};
    (void)state;
    fm_grid_column(&grid, "NAME", false);
    fm_grid_column(&grid, "SIZE", true);
    fm_grid_column(&grid, "NOTE", false);
    fm_grid_row(&grid);
    fm_grid_set(&grid, 0, "l1d");
    fm_grid_set(&grid, 1, "64K");
    fm_grid_row(&grid);
    fm_grid_set(&grid, 0, "memory");
    fm_grid_set(&grid, 2, "far");
    fm_grid_set(&grid, 2, "slow");
    expect(&grid, "NAME   SIZE NOTE\n"
                  "l1d     64K\n"
                  "memory      slow\n");
    fm_grid_free(&grid);
}

static void a_cell_may_have_lines(void **state)
{
    struct fm_grid grid = {0};
    (void)state;
    fm_grid_column(&grid, "A", false);
    fm_grid_column(&grid, "B", false);
    fm_grid_column(&grid, "C", true);
    fm_grid_row(&grid);
    fm_grid_set(&grid, 0, "x");
    fm_grid_set(&grid, 1, "gr\xc3\xbc\xc3\x9f\nus\nall");
    fm_grid_set(&grid, 2, "1\n23");
    expect(&grid, "A B     C\nx gr\xc3\xbc\xc3\x9f  1\n  us   23\n  all\n");
    fm_grid_free(&grid);
}

static void nothing_is_nothing(void **state)
{
    struct fm_grid grid = {0};
    (void)state;
    expect(&grid, "");
    fm_grid_free(&grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_stand_in_line),
        cmocka_unit_test(a_cell_may_have_lines),
        cmocka_unit_test(nothing_is_nothing),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
