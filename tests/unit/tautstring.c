/* The taut string and the outlier filter, by what defines them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "analysis/outliers.h"
#include "analysis/tautstring.h"
#include "core/rng.h"

#define MOST 60

static double slope(const double *x, const struct fm_knot *a, const struct fm_knot *b)
{
    return (b->y - a->y) / (x[b->index] - x[a->index]);
}

/* It stays inside; it bends up only at the upper wall and down only at the lower; a free end is
   level unless a wall holds it. No other curve has all three. */
static void check_taut(const double *x, const double *low, const double *high, size_t n,
                       const struct fm_knot *knots, size_t count)
{
    assert_int_equal(knots[0].index, 0);
    assert_int_equal(knots[count - 1].index, n - 1);
    for (size_t k = 0; k + 1 < count; k++)
        for (size_t i = knots[k].index; i <= knots[k + 1].index; i++) {
            double y = knots[k].y + slope(x, &knots[k], &knots[k + 1]) * (x[i] - x[knots[k].index]);
            assert_true(y >= low[i] - 1e-9 && y <= high[i] + 1e-9);
        }
    for (size_t k = 0; k < count; k++) {
        double before = k > 0 ? slope(x, &knots[k - 1], &knots[k]) : 0;
        double after = k + 1 < count ? slope(x, &knots[k], &knots[k + 1]) : 0;
        size_t i = knots[k].index;
        if (after > before + 1e-9)
            assert_true(knots[k].y == high[i]);
        if (after < before - 1e-9)
            assert_true(knots[k].y == low[i]);
    }
}

static void the_string_is_taut(void **state)
{
    (void)state;
    struct fm_rng rng;
    fm_rng_seed(&rng, 5);
    for (int trial = 0; trial < 2000; trial++) {
        double x[MOST], low[MOST], high[MOST], at = 0, y = 0;
        struct fm_knot knots[MOST];
        size_t n = 1 + fm_rng_below(&rng, MOST);
        for (size_t i = 0; i < n; i++) {
            x[i] = at += 0.01 + fm_rng_unit(&rng);
            y += fm_rng_unit(&rng) - 0.5;
            low[i] = y - fm_rng_unit(&rng);
            high[i] = y + fm_rng_unit(&rng);
        }
        size_t count = fm_taut_string(x, low, high, n, knots);
        assert_true(count <= n);
        check_taut(x, low, high, n, knots, count);
    }
}

static void a_wide_tube_makes_a_level_string(void **state)
{
    (void)state;
    double x[] = {0, 1, 2}, low[] = {0, 1, 2}, high[] = {3, 4, 5};
    struct fm_knot knots[3];
    assert_int_equal(fm_taut_string(x, low, high, 3, knots), 2);
    assert_true(knots[0].y == knots[1].y);
    assert_int_equal(fm_taut_string(x, low, high, 0, knots), 0);
}

static bool fits(const double *y, const double *error, size_t n, unsigned set, double tolerance)
{
    size_t record = n;
    for (size_t i = 0; i < n; i++) {
        if (!(set >> i & 1))
            continue;
        if (record < n && y[i] < y[record] - tolerance * hypot(error[record], error[i]))
            return false;
        if (record == n || y[i] >= y[record])
            record = i;
    }
    return true;
}

static size_t size_of(unsigned set)
{
    size_t size = 0;
    for (; set; set &= set - 1)
        size++;
    return size;
}

static void keeps_the_largest_consistent_set(void **state)
{
    (void)state;
    struct fm_rng rng;
    fm_rng_seed(&rng, 6);
    for (int trial = 0; trial < 300; trial++) {
        double y[12], error[12];
        bool keep[12];
        size_t n = 1 + fm_rng_below(&rng, 12), best = 0;
        for (size_t i = 0; i < n; i++) {
            y[i] = 0.3 * (double)i + 2 * fm_rng_unit(&rng);
            error[i] = trial % 2 ? 0.1 : 0.3 * fm_rng_unit(&rng);
        }
        for (unsigned set = 1; set < 1u << n; set++)
            if (size_of(set) > best && fits(y, error, n, set, 2))
                best = size_of(set);
        unsigned kept = 0;
        assert_int_equal(fm_monotone_subset(y, error, n, 2, keep), best);
        for (size_t i = 0; i < n; i++)
            kept |= (unsigned)keep[i] << i;
        assert_int_equal(size_of(kept), best);
        assert_true(fits(y, error, n, kept, 2));
    }
}

static void drops_the_spike_not_its_neighbour(void **state)
{
    (void)state;
    double y[] = {1, 1, 9, 2, 3}, error[] = {0.1, 0.1, 0.1, 0.1, 0.1};
    bool keep[5];
    assert_int_equal(fm_monotone_subset(y, error, 5, 2, keep), 4);
    assert_false(keep[2]);
    double two[] = {9, 2};
    assert_int_equal(fm_monotone_subset(two, error, 2, 2, keep), 1);
    assert_true(keep[1]); /* noise only adds: the lower one is right */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_string_is_taut),
        cmocka_unit_test(a_wide_tube_makes_a_level_string),
        cmocka_unit_test(keeps_the_largest_consistent_set),
        cmocka_unit_test(drops_the_spike_not_its_neighbour),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
