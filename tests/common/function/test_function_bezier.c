// common/src/function/function_bezier.c, function_nodes.c, and integrals of functions.
#include "bezier_internal.h"

#include "alloc_guard.h"
#include "function_support.h"
#include "talus_test.h"

#include <float.h>
#include <math.h>
#include <string.h>

// The force-velocity curve of Millard's muscle: rises everywhere, with two sharp bends.
static const tal_bezier_node rising[] = {
    {-1.0, 0.0, 0.1}, {-0.9, 0.0175, 0.25}, {0.0, 1.0, 5.0}, {0.9, 1.3875, 0.15}, {1.0, 1.4, 0.1}};
static const double rising_curviness[] = {0.6, 0.6, 0.9, 0.9};

static tal_function *make_bezier(const tal_bezier_node nodes[], const double curviness[], int count)
{
    tal_function *f = NULL;
    tal_error err;
    const tal_status st = tal_function_create_bezier(NULL, nodes, curviness, count, &f, &err);
    return must(st, f, &err);
}

static tal_function *make_rising(void)
{
    return make_bezier(rising, rising_curviness, COUNT(rising));
}

START_TEST(a_curve_passes_through_its_nodes_with_their_slopes_and_without_bend)
{
    tal_function *f = make_rising();
    for (int i = 0; i < COUNT(rising); ++i) {
        const double x = rising[i].x;
        // coefficients are at most 15 times the curve's height, which is below 2
        ck_assert_double_eq_tol(tal_function_calc_value_1(f, x), rising[i].y, 64.0 * DBL_EPSILON);
        ck_assert_double_eq_tol(tal_function_calc_derivative_1(f, x, 1), rising[i].slope, 1e-12);
        // y'' is zero at a node and changes by y''' h, with |y'''| below 1e5 here
        ck_assert_double_eq_tol(tal_function_calc_derivative_1(f, x - 1e-12, 2), 0.0, 1e-6);
        ck_assert_double_eq_tol(tal_function_calc_derivative_1(f, x + 1e-12, 2), 0.0, 1e-6);
    }
    tal_function_destroy(f);
}

START_TEST(a_curve_goes_on_straight_beyond_its_ends)
{
    tal_function *f = make_rising();
    ck_assert_double_eq_tol(tal_function_calc_value_1(f, -3.0), -0.2, 1e-15);
    ck_assert_double_eq_tol(tal_function_calc_value_1(f, 2.0), 1.5, 1e-15);
    ck_assert_double_eq(tal_function_calc_derivative_1(f, 2.0, 1), 0.1);
    ck_assert_double_eq(tal_function_calc_derivative_1(f, 2.0, 2), 0.0);
    tal_function_destroy(f);

    const tal_bezier_node level[] = {{0.0, 0.0, 0.0}, {1.0, 1.0, 2.0}};
    const double c = 0.5;
    f = make_bezier(level, &c, 2);
    ck_assert_double_eq(tal_function_calc_value_1(f, -infinity), 0.0);
    ck_assert_double_eq(tal_function_calc_value_1(f, infinity), infinity);
    ck_assert(isnan(tal_function_calc_value_1(f, not_a_number)));
    tal_function_destroy(f);
}

// Richardson's difference with h = 1e-3 is off by h^4 f^(5) / 480, and f^(5) of this curve reaches
// 1e7 beside the node at 0: 1e-7 of it, relative to slopes of up to 5.
START_TEST(derivatives_are_those_of_the_values)
{
    tal_function *f = make_rising();
    const double h = 1e-4;
    for (double x = -1.2; x < 1.2; x += 0.0173) {
        for (int k = 0; k < 2; ++k) {
            const double near = (tal_function_calc_derivative_1(f, x + 0.5 * h, k) -
                                 tal_function_calc_derivative_1(f, x - 0.5 * h, k)) /
                                h;
            const double far = (tal_function_calc_derivative_1(f, x + h, k) -
                                tal_function_calc_derivative_1(f, x - h, k)) /
                               (2.0 * h);
            const double slope = (4.0 * near - far) / 3.0;
            ck_assert_double_eq_tol(tal_function_calc_derivative_1(f, x, k + 1), slope,
                                    k == 0 ? 1e-6 : 1e-3);
        }
    }
    tal_function_destroy(f);
}

START_TEST(a_curve_that_should_rise_rises)
{
    tal_function *f = make_rising();
    double last = -infinity;
    for (double x = -1.5; x < 1.5; x += 1e-4) {
        const double y = tal_function_calc_value_1(f, x);
        ck_assert_double_gt(y, last);
        last = y;
    }
    tal_function_destroy(f);
}

// Simpson's rule on 2e5 parts of a curve with |y''''| < 1e6: off by h^4 1e6 / 180 < 1e-15.
static double simpson(const tal_function *f, double a, double b)
{
    const int parts = 100000;
    const double h = (b - a) / (2 * parts);
    double sum = 0.0;
    for (int i = 0; i < parts; ++i) {
        const double x = a + 2 * i * h;
        sum += tal_function_calc_value_1(f, x) + 4.0 * tal_function_calc_value_1(f, x + h) +
               tal_function_calc_value_1(f, x + 2.0 * h);
    }
    return sum * h / 3.0;
}

START_TEST(integrals_are_exact)
{
    const double c[] = {2.0, 0.0, -1.0, 0.5};
    tal_function *all[] = {make_rising(),
                           make_piecewise(knots_x, knots_y, NUM_KNOTS),
                           make_spline(knots_x, knots_y, NUM_KNOTS, TAL_SPLINE_NATURAL),
                           make_quintic(knots_x, knots_y, NUM_KNOTS),
                           make_polynomial(c, 4),
                           make_sinusoid(1.5, 2.0, 0.3)};
    for (int i = 0; i < COUNT(all); ++i) {
        // kinks of the piecewise linear one cost Simpson slope h^2
        const double tolerance = i == 1 ? 1e-8 : 1e-11;
        const double a = -2.6, b = 1.7;
        ck_assert_double_eq_tol(tal_function_calc_integral_1(all[i], a, b), simpson(all[i], a, b),
                                tolerance);
        ck_assert_double_eq_tol(tal_function_calc_integral_1(all[i], b, a),
                                -tal_function_calc_integral_1(all[i], a, b), 1e-14);
        ck_assert_double_eq(tal_function_calc_integral_1(all[i], a, a), 0.0);
        ck_assert(isnan(tal_function_calc_integral_1(all[i], a, infinity)));
        tal_function_destroy(all[i]);
    }
}

// a y + b x = c: also with a or b zero, on the lines beyond the ends, and at the nodes.
START_TEST(the_point_where_a_sum_has_a_value_is_found)
{
    tali_bezier curve;
    ck_assert_int_eq(
        tali_bezier_build(rising, rising_curviness, COUNT(rising), &curve, "test", NULL), TAL_OK);
    for (double a = 0.0; a <= 1.0; a += 0.125) {
        for (double b = 0.0; b <= 0.2; b += 0.04) {
            if (a + b == 0.0) continue;
            for (double x = -2.0; x <= 2.0; x += 0.0625) {
                const double c = a * tali_bezier_calc(&curve, x).y + b * x;
                const double found = tali_bezier_solve(&curve, a, b, c).x;
                // the left side has a slope of a 0.1 + b or more, and is rounded at 1e-15
                ck_assert_double_eq_tol(found, x, 1e-14 / (0.1 * a + b));
            }
        }
    }
    const double x = tali_bezier_solve(&curve, 0.0, 0.0, 1.0).x;
    ck_assert(isinf(x));
}

START_TEST(evaluating_does_not_allocate)
{
    tal_function *f = make_rising();
    double sum = 0.0;
    test_assert_no_heap(for (double x = -1.5; x < 1.5; x += 0.01) {
        sum += tal_function_calc_value_1(f, x) + tal_function_calc_integral_1(f, 0.0, x);
    });
    ck_assert(isfinite(sum));
    tal_function_destroy(f);
}

static tal_function *make_nodes(const double x[], const double y[], int count, tal_nodes kind)
{
    tal_function *f = NULL;
    tal_error err;
    const tal_status st = tal_function_create_nodes(NULL, x, y, count, kind, &f, &err);
    return must(st, f, &err);
}

START_TEST(nodes_hold_their_first_and_last_value)
{
    const double x[] = {0.0, 1.0, 3.0}, y[] = {2.0, 4.0, -1.0};
    tal_function *f = make_nodes(x, y, 3, TAL_NODES_LINEAR);
    const double at[] = {-5.0, 0.0, 0.5, 1.0, 2.0, 3.0, 9.0};
    const double linear[] = {2.0, 2.0, 3.0, 4.0, 1.5, -1.0, -1.0};
    const double slope[] = {0.0, 0.0, 2.0, 2.0, -2.5, -2.5, 0.0};
    const double steps[] = {2.0, 2.0, 4.0, 4.0, -1.0, -1.0, -1.0};
    for (int i = 0; i < COUNT(at); ++i) {
        ck_assert_double_eq(tal_function_calc_value_1(f, at[i]), linear[i]);
        ck_assert_double_eq(tal_function_calc_derivative_1(f, at[i], 1), slope[i]);
        ck_assert_double_eq(tal_function_calc_derivative_1(f, at[i], 2), 0.0);
    }
    tal_function_destroy(f);
    f = make_nodes(x, y, 3, TAL_NODES_STEPS);
    for (int i = 0; i < COUNT(at); ++i) {
        ck_assert_double_eq(tal_function_calc_value_1(f, at[i]), steps[i]);
        ck_assert_double_eq(tal_function_calc_derivative_1(f, at[i], 1), 0.0);
    }
    tal_function_destroy(f);
    f = make_nodes(x, y, 1, TAL_NODES_LINEAR);
    ck_assert_double_eq(tal_function_calc_value_1(f, 7.0), 2.0);
    tal_function_destroy(f);
}

START_TEST(bad_curves_are_refused_by_name)
{
    tal_function *out = NULL;
    tal_error err;
    const double c[] = {0.5, 0.5};
    const tal_bezier_node back[] = {{0.0, 0.0, 0.0}, {0.0, 1.0, 2.0}};
    const tal_bezier_node far[] = {{0.0, 0.0, 1.0}, {1.0, 0.0, 1.1}};
    const tal_bezier_node nan[] = {{0.0, 0.0, 0.0}, {1.0, not_a_number, 2.0}};
    const double sharp = 1.5;
    REFUSED(tal_function_create_bezier(NULL, back, c, 2, &out, &err), TAL_ERR_BAD_VALUE,
            "does not come after");
    REFUSED(tal_function_create_bezier(NULL, far, c, 2, &out, &err), TAL_ERR_BAD_VALUE,
            "nodes[0] and nodes[1]");
    REFUSED(tal_function_create_bezier(NULL, nan, c, 2, &out, &err), TAL_ERR_NOT_FINITE,
            "nodes[1].y");
    REFUSED(tal_function_create_bezier(NULL, rising, &sharp, 2, &out, &err), TAL_ERR_BAD_VALUE,
            "curviness[0] is 1.5");
    REFUSED(tal_function_create_bezier(NULL, rising, c, 1, &out, &err), TAL_ERR_BAD_VALUE,
            "count is 1");
    const double x = 0.0;
    REFUSED(tal_function_create_nodes(NULL, &x, &x, 1, (tal_nodes)7, &out, &err), TAL_ERR_BAD_VALUE,
            "kind is 7");
    REFUSED(tal_function_create_nodes(NULL, &x, &x, 0, TAL_NODES_STEPS, &out, &err),
            TAL_ERR_BAD_VALUE, "too few");
}

int main(void)
{
    Suite *suite = suite_create("common/function_bezier");
    TCase *tc = tcase_create("all");
    tcase_add_test(tc, a_curve_passes_through_its_nodes_with_their_slopes_and_without_bend);
    tcase_add_test(tc, a_curve_goes_on_straight_beyond_its_ends);
    tcase_add_test(tc, derivatives_are_those_of_the_values);
    tcase_add_test(tc, a_curve_that_should_rise_rises);
    tcase_add_test(tc, integrals_are_exact);
    tcase_add_test(tc, the_point_where_a_sum_has_a_value_is_found);
    tcase_add_test(tc, evaluating_does_not_allocate);
    tcase_add_test(tc, nodes_hold_their_first_and_last_value);
    tcase_add_test(tc, bad_curves_are_refused_by_name);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
