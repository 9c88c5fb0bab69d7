/* What programs were compiled with must not move under them: sizes, places and numbers of the
 * public types. A new member goes to the end of a struct that the library fills, and only with a
 * new soversion; a new word goes to the end of an enum. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fathom.h"

static void structs_keep_their_shape(void **state)
{
    const size_t word = sizeof(void *);
    (void)state;
    assert_int_equal(sizeof(struct fathom_error), 644);
    assert_int_equal(offsetof(struct fathom_error, text), 4);
    assert_int_equal(sizeof(struct fathom_value), 24 + word);
    assert_int_equal(offsetof(struct fathom_value, number), 8);
    assert_int_equal(offsetof(struct fathom_value, truth), 16);
    assert_int_equal(offsetof(struct fathom_value, text), 24);
    assert_int_equal(sizeof(struct fathom_point), 32);
    assert_int_equal(sizeof(struct fathom_step), 16 + word);
    assert_int_equal(sizeof(struct fathom_warning), 3 * word);
    assert_int_equal(sizeof(struct fathom_look), 8);
    assert_int_equal(sizeof(struct fathom_probe), 4 * word);
    assert_int_equal(sizeof(struct fathom_shelf_entry), 5 * word);
    assert_int_equal(sizeof(struct fathom_target), 2 * word);
}

static void numbers_keep_their_meaning(void **state)
{
    (void)state;
    assert_int_equal(FATHOM_OK, 0);
    assert_int_equal(FATHOM_USAGE, 1);
    assert_int_equal(FATHOM_INTERNAL, 5);
    assert_int_equal(FATHOM_NOT_KEPT, 6);
    assert_int_equal(FATHOM_MEASURED, 0);
    assert_int_equal(FATHOM_UNDETERMINED, 1);
    assert_int_equal(FATHOM_ABSENT, 3);
    assert_int_equal(FATHOM_NONE, 0);
    assert_int_equal(FATHOM_TEXT, 3);
    assert_int_equal(FATHOM_TABLE, 0);
    assert_int_equal(FATHOM_JSON, 1);
    assert_int_equal(FATHOM_CSV, 2);
    assert_int_equal(FATHOM_HTML, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_keep_their_shape),
        cmocka_unit_test(numbers_keep_their_meaning),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
