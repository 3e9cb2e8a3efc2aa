// common/src/function/function_piecewise.c: curves through points, against theory, textbook and
// OpenSim.
#include "function/function_internal.h"
#include "function_support.h"
#include "talus_test.h"

#include <float.h>
#include <math.h>
#include <string.h>

START_TEST(curves_pass_exactly_through_their_points)
{
    tal_function *curves[] = {make_piecewise(knots_x, knots_y, NUM_KNOTS),
                              make_spline(knots_x, knots_y, NUM_KNOTS, TAL_SPLINE_NATURAL),
                              make_spline(knots_x, knots_y, NUM_KNOTS, TAL_SPLINE_SIMM),
                              make_quintic(knots_x, knots_y, NUM_KNOTS)};
    for (int c = 0; c < COUNT(curves); ++c) {
        for (int i = 0; i < NUM_KNOTS; ++i) {
            ck_assert_double_eq(tal_function_calc_value_1(curves[c], knots_x[i]), knots_y[i]);
        }
        tal_function_destroy(curves[c]);
    }
}

// Continuous to order `smooth` at the knots. One ulp to the left the derivative is that of the
// piece before, which has gone the whole interval: coefficients below B, h <= 1, Horner's error.
static void check_smooth(tal_function *f, int smooth, int first, int last, double bound)
{
    for (int i = first; i <= last; ++i) {
        for (int k = 0; k <= smooth; ++k) {
            const double right = tal_function_calc_derivative_1(f, knots_x[i], k);
            const double left =
                tal_function_calc_derivative_1(f, nextafter(knots_x[i], -infinity), k);
            ck_assert_double_eq_tol(left, right, 64.0 * DBL_EPSILON * bound);
        }
    }
    tal_function_destroy(f);
}

START_TEST(splines_are_as_smooth_as_promised)
{
    check_smooth(make_piecewise(knots_x, knots_y, NUM_KNOTS), 0, 0, NUM_KNOTS - 1, 3.0);
    check_smooth(make_spline(knots_x, knots_y, NUM_KNOTS, TAL_SPLINE_NATURAL), 2, 0, NUM_KNOTS - 1,
                 60.0);
    check_smooth(make_spline(knots_x, knots_y, NUM_KNOTS, TAL_SPLINE_SIMM), 2, 1, NUM_KNOTS - 2,
                 60.0);
    check_smooth(make_spline(knots_x, knots_y, NUM_KNOTS, TAL_SPLINE_SIMM), 1, 0, NUM_KNOTS - 1,
                 60.0);
    check_smooth(make_quintic(knots_x, knots_y, NUM_KNOTS), 4, 0, NUM_KNOTS - 1, 400.0);
}

// Beyond its last knot, and before its first, a spline goes on as it ends: the slope does not jump.
START_TEST(splines_go_on_beyond_their_ends_with_the_slope_they_have_there)
{
    tal_function *all[] = {make_spline(knots_x, knots_y, NUM_KNOTS, TAL_SPLINE_NATURAL),
                           make_spline(knots_x, knots_y, NUM_KNOTS, TAL_SPLINE_SIMM),
                           make_quintic(knots_x, knots_y, NUM_KNOTS)};
    const double ends[] = {knots_x[0], knots_x[NUM_KNOTS - 1]}, e = 1e-9;
    const int first = 0;
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 2; ++i) {
            const double before = ends[i] - e, at = ends[i], after = ends[i] + e;
            const double slope = tal_function_calc_derivative(all[k], &at, 1, &first, 1);
            // second derivatives are below 100
            ck_assert_double_eq_tol(tal_function_calc_derivative(all[k], &before, 1, &first, 1),
                                    slope, 100.0 * e);
            ck_assert_double_eq_tol(tal_function_calc_derivative(all[k], &after, 1, &first, 1),
                                    slope, 100.0 * e);
        }
        tal_function_destroy(all[k]);
    }
}

START_TEST(a_piecewise_linear_function_has_the_slope_on_its_right)
{
    const double x[] = {0.0, 1.0, 3.0}, y[] = {1.0, 3.0, 2.0};
    tal_function *f = make_piecewise(x, y, 3);
    ck_assert_double_eq(tal_function_calc_derivative_1(f, 1.0, 1), -0.5);
    ck_assert_double_eq(tal_function_calc_derivative_1(f, nextafter(1.0, 0.0), 1), 2.0);
    ck_assert_double_eq(tal_function_calc_derivative_1(f, 3.0, 1), -0.5);
    ck_assert_double_eq(tal_function_calc_value_1(f, -1.0), -1.0);
    ck_assert_double_eq(tal_function_calc_value_1(f, 0.5), 2.0);
    ck_assert_double_eq(tal_function_calc_value_1(f, 5.0), 1.0);
    ck_assert_double_eq(tal_function_calc_derivative_1(f, 0.5, 2), 0.0);
    tal_function_destroy(f);
}

// Points on y = 2 x + 1 with exact coordinates: every difference from the chord is exactly zero.
START_TEST(straight_data_gives_a_straight_line)
{
    double y[NUM_KNOTS];
    for (int i = 0; i < NUM_KNOTS; ++i) {
        y[i] = 2.0 * knots_x[i] + 1.0;
    }
    tal_function *curves[] = {make_piecewise(knots_x, y, NUM_KNOTS),
                              make_spline(knots_x, y, NUM_KNOTS, TAL_SPLINE_NATURAL),
                              make_spline(knots_x, y, NUM_KNOTS, TAL_SPLINE_SIMM),
                              make_quintic(knots_x, y, NUM_KNOTS)};
    for (int c = 0; c < COUNT(curves); ++c) {
        for (double x = -4.0; x <= 4.0; x += 0.125) {
            ck_assert_double_eq(tal_function_calc_value_1(curves[c], x), 2.0 * x + 1.0);
            ck_assert_double_eq(tal_function_calc_derivative_1(curves[c], x, 1), 2.0);
            ck_assert_double_eq(tal_function_calc_derivative_1(curves[c], x, 2), 0.0);
        }
        tal_function_destroy(curves[c]);
    }
}

// The textbook's unknowns are the second derivatives M_i, not our slopes:
//
//     h_{i-1} M_{i-1} + 2 (h_{i-1} + h_i) M_i + h_i M_{i+1} = 6 (D_i - D_{i-1}),  M_0 = M_{n-1} = 0
//
// solved here by elimination. The matrix is diagonally dominant with condition number below
// 3 max h / min h = 6, and |M| < 20: 1e-13 leaves a factor of 4.
START_TEST(the_natural_spline_is_the_textbook_one)
{
    double M[NUM_KNOTS] = {0.0}, diagonal[NUM_KNOTS], right[NUM_KNOTS];
    const double *x = knots_x, *y = knots_y;
    for (int i = 1; i + 1 < NUM_KNOTS; ++i) {
        const double h0 = x[i] - x[i - 1], h1 = x[i + 1] - x[i];
        diagonal[i] = 2.0 * (h0 + h1);
        right[i] = 6.0 * ((y[i + 1] - y[i]) / h1 - (y[i] - y[i - 1]) / h0);
        if (i > 1) {
            diagonal[i] -= h0 * h0 / diagonal[i - 1];
            right[i] -= h0 * right[i - 1] / diagonal[i - 1];
        }
    }
    for (int i = NUM_KNOTS - 2; i > 0; --i) {
        M[i] = (right[i] - (x[i + 1] - x[i]) * M[i + 1]) / diagonal[i];
    }

    tal_function *f = make_spline(x, y, NUM_KNOTS, TAL_SPLINE_NATURAL);
    for (int i = 0; i < NUM_KNOTS; ++i) {
        ck_assert_double_eq_tol(tal_function_calc_derivative_1(f, x[i], 2), M[i], 1e-13);
    }
    tal_function_destroy(f);
}

// Through (0,0), (1,1), (2,0): 4 M_1 = 6 (-1 - 1), so M_1 = -3 and f'(0) = 1 + 3/6.
START_TEST(a_natural_spline_worked_by_hand)
{
    const double x[] = {0.0, 1.0, 2.0}, y[] = {0.0, 1.0, 0.0};
    tal_function *f = make_spline(x, y, 3, TAL_SPLINE_NATURAL);
    const double tol = 16.0 * DBL_EPSILON;
    ck_assert_double_eq_tol(tal_function_calc_derivative_1(f, 1.0, 2), -3.0, tol);
    ck_assert_double_eq_tol(tal_function_calc_derivative_1(f, 0.0, 1), 1.5, tol);
    ck_assert_double_eq_tol(tal_function_calc_value_1(f, 0.5), 0.75 - 0.5 * 0.125, tol);
    ck_assert_double_eq_tol(tal_function_calc_value_1(f, -2.0), -3.0, tol);
    ck_assert_double_eq_tol(tal_function_calc_value_1(f, 4.0), -3.0, tol);
    ck_assert_double_eq(tal_function_calc_derivative_1(f, 5.0, 2), 0.0);
    tal_function_destroy(f);
}

// The algorithm of OpenSim's SimmSpline::calcCoefficients, carried out in exact fractions.
START_TEST(the_simm_spline_is_the_one_of_opensim)
{
    const double x[] = {-3.0, -1.0, 0.0, 2.0, 5.0}, y[] = {4.0, 1.0, 2.0, -1.0, 3.0};
    const double slope[] = {-31343.0 / 5790.0, 6253.0 / 5790.0, 251.0 / 1158.0, -11351.0 / 5790.0,
                            3895.0 / 579.0};
    const double second[] = {5063.0 / 965.0, 1203.0 / 965.0, -2869.0 / 965.0, 768.0 / 965.0};
    const double tol = 64.0 * DBL_EPSILON * 8.0; // the condition of the system is below 16
    tal_function *f = make_spline(x, y, 5, TAL_SPLINE_SIMM);
    for (int i = 0; i < 5; ++i) {
        ck_assert_double_eq_tol(tal_function_calc_derivative_1(f, x[i], 1), slope[i], tol);
        if (i < 4) {
            ck_assert_double_eq_tol(tal_function_calc_derivative_1(f, x[i], 2), second[i], tol);
        }
    }
    ck_assert_double_eq_tol(tal_function_calc_derivative_1(f, nextafter(5.0, 0.0), 2),
                            4821.0 / 965.0, tol);
    ck_assert_double_eq_tol(tal_function_calc_value_1(f, 1.0), 4031.0 / 3860.0, tol);
    ck_assert_double_eq_tol(tal_function_calc_value_1(f, -2.0), 846.0 / 965.0, tol);
    ck_assert_double_eq_tol(tal_function_calc_value_1(f, 4.0), -4234.0 / 2895.0, tol);
    ck_assert_double_eq_tol(tal_function_calc_value_1(f, 6.0), 3.0 + 3895.0 / 579.0, tol);
    ck_assert_double_eq_tol(tal_function_calc_value_1(f, -5.0), 4.0 + 2.0 * 31343.0 / 5790.0, tol);
    ck_assert_double_eq(tal_function_calc_derivative_1(f, 6.0, 2), 0.0);
    ck_assert_double_eq(tal_function_calc_derivative_1(f, -5.0, 2), 0.0);
    tal_function_destroy(f);
}

// A polynomial that satisfies the spline's conditions is the spline. |p| and its derivatives stay
// below 100 on the knots' range, the condition of the system below 16.
static void check_reproduces(tal_function *f, const double c[], int count, double low, double high)
{
    tal_function *p = make_polynomial(c, count);
    for (double x = low; x < high; x += 0.0625) {
        for (int k = 0; k < count; ++k) {
            ck_assert_double_eq_tol(tal_function_calc_derivative_1(f, x, k),
                                    tal_function_calc_derivative_1(p, x, k),
                                    16.0 * 100.0 * DBL_EPSILON);
        }
    }
    tal_function_destroy(p);
    tal_function_destroy(f);
}

START_TEST(splines_reproduce_the_polynomials_their_ends_admit)
{
    const double cubic[] = {1.0, -2.0, 0.5, 3.0}, *parabola = cubic + 1;
    double y3[NUM_KNOTS], y2[NUM_KNOTS];
    for (int i = 0; i < NUM_KNOTS; ++i) {
        const double x = knots_x[i];
        y3[i] = ((x - 2.0) * x + 0.5) * x + 3.0;
        y2[i] = (-2.0 * x + 0.5) * x + 3.0;
    }
    check_reproduces(make_spline(knots_x, y3, NUM_KNOTS, TAL_SPLINE_SIMM), cubic, 4, -2.0, 2.5);
    check_reproduces(make_spline(knots_x, y3, 4, TAL_SPLINE_SIMM), cubic, 4, -2.0, 0.25);
    check_reproduces(make_spline(knots_x, y2, 3, TAL_SPLINE_SIMM), parabola, 3, -2.0, -0.5);
    check_reproduces(make_spline(knots_x, y3, 2, TAL_SPLINE_SIMM),
                     (const double[]){(y3[1] - y3[0]) / 0.75, y3[0] + 2.0 * (y3[1] - y3[0]) / 0.75},
                     2, -4.0, 4.0);
    check_reproduces(make_quintic(knots_x, y2, NUM_KNOTS), parabola, 3, -4.0, 4.0);
    check_reproduces(make_quintic(knots_x, y2, 3), parabola, 3, -4.0, 4.0);
}

/*
 * A combination of divided differences of truncated powers, plus a line,
 *
 *     B_k(x) = sum over j = k..k+m of  (x - t_j)_+^(2m-1) / prod_{l != j} (t_j - t_l),
 *
 * is a natural spline of degree 2m - 1: the sum has 2m - 2 continuous derivatives, vanishes left of
 * the knots, and right of them the difference of order m leaves a polynomial of degree m - 1. As
 * the interpolating one is unique, it must come back from its own values. Here its derivatives.
 */
static double natural_spline(int m, double x, int order)
{
    const int degree = 2 * m - 1;
    double sum = 0.0;
    for (int k = 0; k + m < NUM_KNOTS; ++k) {
        for (int j = k; j <= k + m; ++j) {
            if (x < knots_x[j]) continue;
            double term = k % 2 == 0 ? 0.5 : -0.75;
            for (int l = k; l <= k + m; ++l) {
                if (l != j) term /= knots_x[j] - knots_x[l];
            }
            for (int d = 0; d < order; ++d) {
                term *= degree - d;
            }
            sum += term * pow(x - knots_x[j], degree - order);
        }
    }
    return sum + (order == 0 ? 1.0 - x : 0.0) - (order == 1 ? 1.0 : 0.0);
}

// The truncated powers reach 4.5^5 times weights of about 10 and cancel, so the reference itself is
// good to about 2e4 * 16 eps = 7e-11 in the quintic's derivatives.
START_TEST(natural_splines_have_the_form_theory_gives_them)
{
    for (int m = 2; m <= 3; ++m) {
        double y[NUM_KNOTS];
        for (int i = 0; i < NUM_KNOTS; ++i) {
            y[i] = natural_spline(m, knots_x[i], 0);
        }
        tal_function *f = m == 2 ? make_spline(knots_x, y, NUM_KNOTS, TAL_SPLINE_NATURAL)
                                 : make_quintic(knots_x, y, NUM_KNOTS);
        for (double x = -3.0; x <= 4.0; x += 0.0625) {
            for (int k = 0; k < 2 * m - 1; ++k) {
                ck_assert_double_eq_tol(tal_function_calc_derivative_1(f, x, k),
                                        natural_spline(m, x, k), 7e-11);
            }
        }
        tal_function_destroy(f);
    }
}

// Binary search meets every interval: a thousand knots on a parabola, spaced from 1 to 2. The
// quintic reproduces it: values lose a few eps of their size, up to 750^2, and the coefficient of
// x^2 a few eps of the largest slope between knots, 1500, over the least spacing.
START_TEST(many_knots_are_found)
{
    double x[1000], y[1000];
    for (int i = 0; i < 1000; ++i) {
        x[i] = 1.5 * i + 0.25 * (i % 3) - 750.0;
        y[i] = x[i] * x[i];
    }
    tal_function *quintic = make_quintic(x, y, 1000), *linear = make_piecewise(x, y, 1000);
    for (int i = 0; i + 1 < 1000; ++i) {
        const double middle = 0.5 * (x[i] + x[i + 1]);
        ck_assert_double_eq(tal_function_calc_value_1(linear, x[i]), y[i]);
        ck_assert_double_eq_tol(tal_function_calc_value_1(linear, middle), 0.5 * (y[i] + y[i + 1]),
                                4.0 * DBL_EPSILON * 750.0 * 750.0);
        ck_assert_double_eq_tol(tal_function_calc_value_1(quintic, middle), middle * middle,
                                16.0 * DBL_EPSILON * 750.0 * 750.0);
        ck_assert_double_eq_tol(tal_function_calc_derivative_1(quintic, middle, 2), 2.0,
                                16.0 * DBL_EPSILON * 1500.0);
    }
    tal_function_destroy(quintic);
    tal_function_destroy(linear);
}

// Pairs of points 1 / r apart, the pairs 1 apart, on a parabola. A rounded value, at most 9 eps / 2
// off, moves the slope between the two points of a pair by 9 r eps and so the curve by about as
// much; f'' bends by twice that over half a unit, 4 times more. The fit adds its own round-off, not
// more.
START_TEST(uneven_spacing_costs_what_the_data_cost)
{
    for (double r = 2.0; r < 1e12; r *= 4.0) {
        double x[8], y[8];
        for (int i = 0; i < 8; ++i) {
            x[i] = i / 2 + (i % 2) / r;
            y[i] = x[i] * x[i];
        }
        tal_function *f = make_quintic(x, y, 8);
        for (double t = 0.0; t < 3.0; t += 0.125) {
            const double tol = 2.0 * 9.0 * r * DBL_EPSILON;
            ck_assert_double_eq_tol(tal_function_calc_value_1(f, t), t * t, tol);
            ck_assert_double_eq_tol(tal_function_calc_derivative_1(f, t, 2), 2.0, 4.0 * tol);
        }
        tal_function_destroy(f);
    }
}

// ---- bad input

START_TEST(bad_points_are_refused_by_index_and_value)
{
    tal_function *out = NULL;
    tal_error err;
    const double x[] = {0.0, 1.0, 1.0, 2.0}, down[] = {0.0, 3.0, 2.5, 4.0},
                 y[] = {1.0, 2.0, 3.0, 4.0};
    const double holes[] = {0.0, not_a_number, 2.0, 3.0};
    REFUSED(tal_function_create_piecewise_linear(NULL, y, y, 1, &out, &err), TAL_ERR_BAD_VALUE,
            "1 points are too few: give at least 2");
    REFUSED(tal_function_create_spline(NULL, y, y, -3, TAL_SPLINE_NATURAL, &out, &err),
            TAL_ERR_BAD_VALUE, "-3 points");
    REFUSED(tal_function_create_quintic_spline(NULL, y, y, 2, &out, &err), TAL_ERR_BAD_VALUE,
            "at least 3");
    REFUSED(tal_function_create_spline(NULL, x, y, 4, TAL_SPLINE_SIMM, &out, &err),
            TAL_ERR_BAD_VALUE, "x[2] = 1 is not above x[1] = 1");
    REFUSED(tal_function_create_quintic_spline(NULL, down, y, 4, &out, &err), TAL_ERR_BAD_VALUE,
            "x[2] = 2.5 is not above x[1] = 3");
    REFUSED(tal_function_create_piecewise_linear(NULL, holes, y, 4, &out, &err), TAL_ERR_NOT_FINITE,
            "x[1] is nan");
    REFUSED(tal_function_create_spline(NULL, y, holes, 4, TAL_SPLINE_NATURAL, &out, &err),
            TAL_ERR_NOT_FINITE, "y[1] is nan");
    REFUSED(tal_function_create_spline(NULL, y, y, 4, (tal_spline_end)7, &out, &err),
            TAL_ERR_BAD_VALUE, "end is 7");
    ck_assert_str_eq(err.where, "tal_function_create_spline");
    ck_assert_int_eq(test_breaches(), 0);
    test_assert_breach(REFUSED(tal_function_create_piecewise_linear(NULL, NULL, y, 4, &out, &err),
                               TAL_ERR_NULL, "x is NULL"),
                       TAL_ERR_NULL, "x is NULL");
    test_assert_breach(REFUSED(tal_function_create_quintic_spline(NULL, y, NULL, 4, &out, &err),
                               TAL_ERR_NULL, "y is NULL"),
                       TAL_ERR_NULL, "y is NULL");
}

START_TEST(points_too_extreme_for_a_double_are_refused)
{
    tal_function *out = NULL;
    tal_error err;
    const double tiny[] = {0.0, 1e-300, 1.0, 2.0}, huge[] = {0.0, 1e300, 0.0, 0.0};
    REFUSED(tal_function_create_piecewise_linear(NULL, tiny, huge, 4, &out, &err),
            TAL_ERR_BAD_VALUE, "overflows after x[0] = 0");
    const double subnormal[] = {0.0, 1e-310, 1.0, 2.0}, y[] = {0.0, 1.0, 0.0, 0.0};
    REFUSED(tal_function_create_spline(NULL, subnormal, y, 4, TAL_SPLINE_NATURAL, &out, &err),
            TAL_ERR_BAD_VALUE, "overflows");
    REFUSED(tal_function_create_quintic_spline(NULL, tiny, huge, 4, &out, &err), TAL_ERR_BAD_VALUE,
            "overflows");
}

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("common/function_piecewise");
    TCase *tc = tcase_create("theory");
    tcase_add_test(tc, curves_pass_exactly_through_their_points);
    tcase_add_test(tc, splines_are_as_smooth_as_promised);
    tcase_add_test(tc, splines_go_on_beyond_their_ends_with_the_slope_they_have_there);
    tcase_add_test(tc, a_piecewise_linear_function_has_the_slope_on_its_right);
    tcase_add_test(tc, straight_data_gives_a_straight_line);
    tcase_add_test(tc, splines_reproduce_the_polynomials_their_ends_admit);
    tcase_add_test(tc, natural_splines_have_the_form_theory_gives_them);
    tcase_add_test(tc, many_knots_are_found);
    tcase_add_test(tc, uneven_spacing_costs_what_the_data_cost);
    suite_add_tcase(suite, tc);

    tc = tcase_create("textbook");
    tcase_add_test(tc, the_natural_spline_is_the_textbook_one);
    tcase_add_test(tc, a_natural_spline_worked_by_hand);
    tcase_add_test(tc, the_simm_spline_is_the_one_of_opensim);
    suite_add_tcase(suite, tc);

    tc = tcase_create("errors");
    tcase_add_test(tc, bad_points_are_refused_by_index_and_value);
    tcase_add_test(tc, points_too_extreme_for_a_double_are_refused);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
