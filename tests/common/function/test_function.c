// common/src/function/function.c, function_basic.c, function_combined.c: values, derivatives, user
// tables, failures; and what holds for every kind of function, splines included.
#include "function/function_internal.h"
#include "function_support.h"
#include "talus_test.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// ---- support

// A multiple of 2^-16 in [low, high), so that moving it by 2^-16 is exact.
static double random_on_grid(uint64_t *seed, double low, double high)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    const double unit = (double)(*seed >> 11) * 0x1p-53;
    return floor((low + unit * (high - low)) * 0x1p16) * 0x1p-16;
}

// A user's function of two arguments, x0 exp(x1), with its own derivatives.
static double user_value(const void *self, const double x[], int n)
{
    ck_assert_int_eq(n, 2);
    return *(const double *)self * x[0] * exp(x[1]);
}

static double user_derivative(const void *self, const double x[], int n, const int wrt[], int order)
{
    ck_assert_int_eq(n, 2);
    int by_first = 0;
    for (int k = 0; k < order; ++k) {
        by_first += wrt[k] == 0;
    }
    const double front[] = {x[0], 1.0, 0.0};
    return *(const double *)self * front[by_first < 2 ? by_first : 2] * exp(x[1]);
}

static void user_destroy(void *self)
{
    *(double *)self = -1.0;
}

static const tal_function_ops user_ops = {
    .size = sizeof user_ops,
    .name = "growth",
    .calc_value = user_value,
    .calc_derivative = user_derivative,
    .destroy = user_destroy,
};

static tal_function *make_user(const tal_function_ops *ops, double *self, int max_order)
{
    tal_function_def def = tal_function_def_default();
    def.ops = ops;
    def.self = self;
    def.num_args = 2;
    def.max_order = max_order;
    tal_function *f = NULL;
    tal_error err;
    const tal_status st = tal_function_create(NULL, &def, &f, &err);
    return must(st, f, &err);
}

static double user_self = 0.5;

// One of every kind, one to three arguments. `bound` is a generous bound on the function and its
// derivatives to order max_checked + 2 for arguments in [-1.9, 1.9] (for splines: inside a piece).
typedef struct sample {
    tal_function *f;
    int max_checked;
    double bound;
} sample;

static sample make_sample(int kind)
{
    static const double c[] = {0.25, -1.0, 0.5, 2.0, -0.125};
    static const double a2[] = {0.75, -0.5}, a3[] = {1.0, -2.0, 0.5};
    tal_function *wave2 = NULL;
    switch (kind) {
    case 0:
        return (sample){make_constant(3.0, 3), 2, 3.0};
    case 1:
        return (sample){make_linear(a3, 3, 0.25), 2, 8.0};
    case 2: // |c|.1.9^k and its derivatives stay below the sum of k! |c_k| 1.9^(k) ~ 100
        return (sample){make_polynomial(c, COUNT(c)), 4, 100.0};
    case 3: // a w^6
        return (sample){make_sinusoid(2.0, 1.5, 0.3), 4, 2.0 * 12.0};
    case 4: // rise 6! / width^6 per unit of t, at most 1.5 * 720 / 4^k for k >= 3
        return (sample){make_step(-2.0, 1.0, 2.0, -0.5), 3, 30.0};
    case 5:
        return (sample){make_piecewise(knots_x, knots_y, NUM_KNOTS), 1, 3.0};
    case 6: // |f'''| < 30 with these knots
        return (sample){make_spline(knots_x, knots_y, NUM_KNOTS, TAL_SPLINE_NATURAL), 3, 60.0};
    case 7:
        return (sample){make_spline(knots_x, knots_y, NUM_KNOTS, TAL_SPLINE_SIMM), 3, 60.0};
    case 8: // |f^(5)| < 400 with these knots
        return (sample){make_quintic(knots_x, knots_y, NUM_KNOTS), 4, 400.0};
    case 9:
        return (sample){make_sum(make_polynomial(c, COUNT(c)), make_sinusoid(2.0, 1.5, 0.3)), 4,
                        124.0};
    case 10: // Leibniz: 2^5 products of the two bounds
        return (sample){
            make_product(make_polynomial(c, COUNT(c)), make_sinusoid(1.0, 0.5, 0.3), NULL), 3,
            3200.0};
    case 11: // sin(a.x) has derivatives below 1
        return (sample){
            make_composition(make_sinusoid(1.0, 1.0, 0.1), make_linear(a2, 2, 0.3), NULL), 2, 1.0};
    case 12: // exp(sin) <= e, times Bell number 15 of a fourth derivative
        wave2 = make_composition(make_sinusoid(1.0, 1.0, 0.1), make_linear(a2, 2, 0.3), NULL);
        return (sample){
            make_composition(make_user(&user_ops, &user_self, 2), make_linear(a2, 2, 0.5), wave2),
            2, 100.0};
    default: // 1.9 e^1.9 / 2
        return (sample){make_user(&user_ops, &user_self, 5), 3, 7.0};
    }
}

#define NUM_KINDS 14

static bool near_knot(double x, double h)
{
    for (int i = 0; i < NUM_KNOTS; ++i) {
        if (fabs(x - knots_x[i]) <= h) return true;
    }
    return false;
}

// ---- derivatives

// Each derivative is the slope of the one below it. With central differences of step h = 2^-16 and
// B a bound on the function and its derivatives, the error is at most B h^2 / 6 by truncation plus
// B 16 eps / h by round-off (16: flops in an evaluation whose errors reach the result).
START_TEST(every_derivative_is_the_slope_of_the_one_below)
{
    const sample s = make_sample(_i);
    const int n = tal_function_num_args(s.f);
    const double h = 0x1p-16;
    const double tol = s.bound * (h * h / 6.0 + 16.0 * DBL_EPSILON / h);
    uint64_t seed = 20 + (uint64_t)_i;
    ck_assert_int_ge(tal_function_max_order(s.f), s.max_checked);

    for (int trial = 0; trial < 200; ++trial) {
        double x[3];
        int wrt[4];
        for (int i = 0; i < 3; ++i) {
            x[i] = random_on_grid(&seed, -1.9, 1.9);
        }
        for (int k = 0; k < 4; ++k) {
            wrt[k] = (int)(random_on_grid(&seed, 0.0, 1.0) * n);
        }
        if (n == 1 && near_knot(x[0], h)) continue;
        for (int order = 1; order <= s.max_checked; ++order) {
            const double exact = tal_function_calc_derivative(s.f, x, n, wrt, order);
            double plus[] = {x[0], x[1], x[2]}, minus[] = {x[0], x[1], x[2]};
            plus[wrt[order - 1]] += h;
            minus[wrt[order - 1]] -= h;
            const double slope = (tal_function_calc_derivative(s.f, plus, n, wrt, order - 1) -
                                  tal_function_calc_derivative(s.f, minus, n, wrt, order - 1)) /
                                 (2.0 * h);
            ck_assert_double_eq_tol(exact, slope, tol);
        }
    }
    ck_assert_int_eq(test_breaches(), 0);
    tal_function_destroy(s.f);
}

// The order in which one differentiates does not matter: the sums differ in order only.
START_TEST(mixed_derivatives_commute)
{
    const sample s = make_sample(_i);
    const int n = tal_function_num_args(s.f);
    uint64_t seed = 5;
    for (int trial = 0; trial < 50 && n > 1; ++trial) {
        const double x[3] = {random_on_grid(&seed, -1.9, 1.9), random_on_grid(&seed, -1.9, 1.9),
                             random_on_grid(&seed, -1.9, 1.9)};
        const int ij[] = {0, n - 1}, ji[] = {n - 1, 0};
        ck_assert_double_eq_tol(tal_function_calc_derivative(s.f, x, n, ij, 2),
                                tal_function_calc_derivative(s.f, x, n, ji, 2),
                                8.0 * DBL_EPSILON * s.bound);
    }
    tal_function_destroy(s.f);
}

START_TEST(order_zero_is_the_value)
{
    const sample s = make_sample(_i);
    const int n = tal_function_num_args(s.f);
    const double x[] = {0.3, -0.7, 1.1};
    const double value = tal_function_calc_value(s.f, x, n);
    ck_assert(isfinite(value));
    ck_assert_double_eq(tal_function_calc_derivative(s.f, x, n, NULL, 0), value);
    if (n == 1) {
        const int wrt[] = {0};
        ck_assert_double_eq(tal_function_calc_value_1(s.f, x[0]), value);
        ck_assert_double_eq(tal_function_calc_derivative_1(s.f, x[0], 0), value);
        ck_assert_double_eq(tal_function_calc_derivative_1(s.f, x[0], 1),
                            tal_function_calc_derivative(s.f, x, 1, wrt, 1));
    }
    tal_function_destroy(s.f);
}

START_TEST(nan_in_is_nan_out_and_no_breach)
{
    const sample s = make_sample(_i);
    const int n = tal_function_num_args(s.f);
    const int wrt[] = {0, 0};
    for (int i = 0; i < n; ++i) {
        double x[] = {0.1, 0.2, 0.3};
        x[i] = not_a_number;
        ck_assert_double_nan(tal_function_calc_value(s.f, x, n));
        for (int order = 1; order <= s.max_checked && order <= 2; ++order) {
            ck_assert_double_nan(tal_function_calc_derivative(s.f, x, n, wrt, order));
        }
    }
    ck_assert_int_eq(test_breaches(), 0);
    tal_function_destroy(s.f);
}

// ---- formulas

START_TEST(a_polynomial_is_given_highest_power_first)
{
    const double c[] = {2.0, 0.0, -1.0}; // 2 x^2 - 1
    tal_function *f = make_polynomial(c, 3);
    ck_assert_double_eq(tal_function_calc_value_1(f, 3.0), 17.0);
    ck_assert_double_eq(tal_function_calc_derivative_1(f, 3.0, 1), 12.0);
    ck_assert_double_eq(tal_function_calc_derivative_1(f, 3.0, 2), 4.0);
    ck_assert_double_eq(tal_function_calc_derivative_1(f, 3.0, 3), 0.0);
    ck_assert_double_eq(tal_function_calc_derivative_1(f, 3.0, TAL_FUNCTION_MAX_ORDER), 0.0);
    ck_assert_str_eq(tal_function_name(f), "polynomial");
    tal_function_destroy(f);
}

// f'' = -w^2 f to every order; w is a power of two, so the scale is exact.
START_TEST(a_sinusoid_is_its_own_second_derivative)
{
    const double w = 0.5;
    tal_function *f = make_sinusoid(3.0, w, 0.7);
    for (double x = -5.0; x <= 5.0; x += 0.37) {
        ck_assert_double_eq(tal_function_calc_derivative_1(f, x, 1), 3.0 * w * cos(w * x + 0.7));
        for (int k = 0; k + 2 <= TAL_FUNCTION_MAX_ORDER; ++k) {
            ck_assert_double_eq(tal_function_calc_derivative_1(f, x, k + 2),
                                -w * w * tal_function_calc_derivative_1(f, x, k));
        }
    }
    tal_function_destroy(f);
}

START_TEST(a_linear_function_has_its_coefficients_for_slopes)
{
    const double a[] = {1.5, -2.0, 4.0}, x[] = {2.0, 3.0, -0.5};
    tal_function *f = make_linear(a, 3, 0.25);
    ck_assert_double_eq(tal_function_calc_value(f, x, 3), 3.0 - 6.0 - 2.0 + 0.25);
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_eq(tal_function_calc_derivative(f, x, 3, &i, 1), a[i]);
    }
    tal_function_destroy(f);
}

// s(t) = 1 - s(1-t), and s'(1/2) = 15/8. Steps of 1/64 of a width of 4 are exact, and both sides
// of the symmetry evaluate one and the same polynomial at one and the same t.
START_TEST(a_step_is_smooth_symmetric_and_monotone)
{
    tal_function *f = make_step(1.0, 2.0, 5.0, 4.0), *same = make_step(5.0, 4.0, 1.0, 2.0);
    ck_assert_double_eq(tal_function_calc_value_1(f, 1.0), 2.0);
    ck_assert_double_eq(tal_function_calc_value_1(f, 3.0), 3.0);
    ck_assert_double_eq(tal_function_calc_value_1(f, 5.0), 4.0);
    ck_assert_double_eq(tal_function_calc_derivative_1(f, 3.0, 1), 15.0 / 8.0 * 2.0 / 4.0);
    double below = 2.0;
    for (int i = 0; i <= 64; ++i) {
        const double x = 1.0 + i / 16.0, mirrored = 5.0 - i / 16.0;
        const double y = tal_function_calc_value_1(f, x);
        ck_assert_double_ge(y, below);
        below = y;
        ck_assert_double_eq_tol(y + tal_function_calc_value_1(f, mirrored), 6.0, 8.0 * DBL_EPSILON);
        for (int k = 0; k <= 6; ++k) {
            const double here = tal_function_calc_derivative_1(f, x, k);
            ck_assert_double_eq(tal_function_calc_derivative_1(same, x, k), here);
            if (k > 0 && i != 32) {
                const double there = tal_function_calc_derivative_1(f, mirrored, k);
                ck_assert_double_eq(there, k % 2 == 1 ? here : -here);
            }
        }
    }
    for (int k = 1; k <= 6; ++k) {
        ck_assert_double_eq(tal_function_calc_derivative_1(f, 0.0, k), 0.0);
        ck_assert_double_eq(tal_function_calc_derivative_1(f, 6.0, k), 0.0);
    }
    tal_function_destroy(f);
    tal_function_destroy(same);
}

START_TEST(infinity_gives_the_limit)
{
    const double c[] = {0.0, -2.0, 0.0, 1.0}; // -2 x^2 + 1, behind a zero
    tal_function *f = make_polynomial(c, 4);
    ck_assert_double_eq(tal_function_calc_value_1(f, infinity), -infinity);
    ck_assert_double_eq(tal_function_calc_value_1(f, -infinity), -infinity);
    ck_assert_double_eq(tal_function_calc_derivative_1(f, -infinity, 1), infinity);
    ck_assert_double_eq(tal_function_calc_derivative_1(f, -infinity, 2), -4.0);
    tal_function_destroy(f);

    f = make_step(0.0, 1.0, 1.0, 2.0);
    ck_assert_double_eq(tal_function_calc_value_1(f, -infinity), 1.0);
    ck_assert_double_eq(tal_function_calc_value_1(f, infinity), 2.0);
    ck_assert_double_eq(tal_function_calc_derivative_1(f, infinity, 1), 0.0);
    tal_function_destroy(f);

    const double x[] = {0.0, 1.0, 2.0, 3.0}, y[] = {1.0, 1.0, 2.0, 4.0};
    f = make_piecewise(x, y, 4);
    ck_assert_double_eq(tal_function_calc_value_1(f, -infinity), 1.0);
    ck_assert_double_eq(tal_function_calc_value_1(f, infinity), infinity);
    ck_assert_double_eq(tal_function_calc_derivative_1(f, infinity, 1), 2.0);
    tal_function_destroy(f);

    f = make_spline(x, y, 4, TAL_SPLINE_NATURAL);
    ck_assert_double_eq(tal_function_calc_value_1(f, infinity), infinity);
    ck_assert_double_eq(tal_function_calc_derivative_1(f, infinity, 2), 0.0);
    tal_function_destroy(f);

    f = make_sinusoid(1.0, 1.0, 0.0);
    ck_assert_double_nan(tal_function_calc_value_1(f, infinity));
    tal_function_destroy(f);
    ck_assert_int_eq(test_breaches(), 0);
}

// ---- functions of functions

// (x + 1)(x - 2)(x^2) = x^4 - x^3 - 2 x^2; integers, so exact.
START_TEST(a_product_of_polynomials_is_a_polynomial)
{
    const double c0[] = {1.0, 1.0}, c1[] = {1.0, -2.0}, c2[] = {1.0, 0.0, 0.0};
    const double c[] = {1.0, -1.0, -2.0, 0.0, 0.0};
    tal_function *product =
        make_product(make_polynomial(c0, 2), make_polynomial(c1, 2), make_polynomial(c2, 3));
    tal_function *expected = make_polynomial(c, 5);
    ck_assert_int_eq(tal_function_max_order(product), 3);
    for (int i = -5; i <= 5; ++i) { // the zeros of a factor too
        for (int k = 0; k <= 3; ++k) {
            ck_assert_double_eq(tal_function_calc_derivative_1(product, i, k),
                                tal_function_calc_derivative_1(expected, i, k));
        }
    }
    tal_function_destroy(product);
    tal_function_destroy(expected);
}

// (x^2 + 1) o (2 x - 3) = 4 x^2 - 12 x + 10, and the sum of it with its negative is nothing.
START_TEST(compositions_and_sums_of_polynomials_are_polynomials)
{
    const double outer[] = {1.0, 0.0, 1.0}, inner[] = {2.0, -3.0}, minus[] = {-4.0, 12.0, -10.0};
    tal_function *zero =
        make_sum(make_composition(make_polynomial(outer, 3), make_polynomial(inner, 2), NULL),
                 make_polynomial(minus, 3));
    ck_assert_int_eq(tal_function_max_order(zero), 2);
    for (int i = -5; i <= 5; ++i) {
        for (int k = 0; k <= 2; ++k) {
            ck_assert_double_eq(tal_function_calc_derivative_1(zero, i, k), 0.0);
        }
    }
    tal_function_destroy(zero);
}

// Nesting goes as deep as promised and no deeper: -x, 63 times around x.
START_TEST(nesting_is_limited_by_name)
{
    const double minus[] = {-1.0, 0.0};
    tal_function *f = make_polynomial(minus, 2);
    for (int depth = 2; depth <= TAL_FUNCTION_MAX_DEPTH; ++depth) {
        f = make_composition(make_polynomial(minus, 2), f, NULL);
    }
    ck_assert_double_eq(tal_function_calc_value_1(f, 3.0), 3.0);
    ck_assert_double_eq(tal_function_calc_derivative_1(f, 3.0, 1), 1.0);
    ck_assert_double_eq(tal_function_calc_derivative_1(f, 3.0, 2), 0.0);

    tal_function *deeper = f;
    tal_error err;
    ck_assert_int_eq(tal_function_create_sum(NULL, &f, 1, &deeper, &err), TAL_ERR_CAPACITY);
    ck_assert_ptr_null(deeper);
    ck_assert_ptr_nonnull(strstr(err.message, "64 is the most"));
    tal_function_destroy(f); // still ours
    ck_assert_int_eq(test_breaches(), 0);
}

START_TEST(an_adopted_function_has_one_owner)
{
    tal_function *term = make_sinusoid(1.0, 1.0, 0.0), *out = NULL;
    tal_error err;
    tal_function *const twice[] = {term, term};
    ck_assert_int_eq(tal_function_create_sum(NULL, twice, 2, &out, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "function 1 ('sinusoid')"));
    ck_assert_str_eq(err.where, "tal_function_create_sum");

    tal_function *sum = NULL;
    ck_assert_int_eq(tal_function_create_sum(NULL, &term, 1, &sum, &err), TAL_OK);
    ck_assert_int_eq(tal_function_create_product(NULL, &term, 1, &out, &err), TAL_ERR_BAD_VALUE);
    test_assert_breach(tal_function_destroy(term), TAL_ERR_BAD_VALUE, "part of another");
    ck_assert_double_eq(tal_function_calc_value_1(term, 0.5), sin(0.5));
    tal_function_destroy(sum);
    tal_function_destroy(NULL);
    ck_assert_int_eq(test_breaches(), 0);
}

// ---- user tables

// The documented error of the default differences, with |f| and its derivatives below 7 for
// arguments in [-1.9, 1.9], scale up to 1.9, and a factor 2 for the mixed derivative's two steps.
START_TEST(a_table_without_derivatives_gets_differences)
{
    tal_function_ops bare = user_ops;
    bare.calc_derivative = NULL;
    double self = 0.5;
    tal_function *f = make_user(&bare, &self, 2), *exact = make_user(&user_ops, &self, 2);
    const int pairs[][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
    uint64_t seed = 9;
    for (int trial = 0; trial < 100; ++trial) {
        const double x[] = {random_on_grid(&seed, -1.9, 1.9), random_on_grid(&seed, -1.9, 1.9)};
        for (int p = 0; p < 4; ++p) {
            for (int order = 1; order <= 2; ++order) {
                const double tol =
                    2.0 * 7.0 * (order == 1 ? 1e-11 * 3.61 + 4e-11 : 1e-9 * 3.61 + 6e-8);
                ck_assert_double_eq_tol(tal_function_calc_derivative(f, x, 2, pairs[p], order),
                                        tal_function_calc_derivative(exact, x, 2, pairs[p], order),
                                        tol);
            }
        }
    }
    tal_function_destroy(f);
    ck_assert_double_eq(self, -1.0); // destroy was called
    tal_function_destroy(exact);
}

// A table from before the optional entries existed is read as far as it goes.
START_TEST(a_shorter_table_gets_the_defaults)
{
    tal_function_ops old = user_ops;
    old.size = offsetof(tal_function_ops, calc_derivative);
    double self = 0.5;
    tal_function *f = make_user(&old, &self, 2);
    const double x[] = {1.0, 0.0};
    ck_assert_double_eq(tal_function_calc_value(f, x, 2), 0.5);
    ck_assert_str_eq(tal_function_name(f), "growth");
    tal_function_destroy(f);
    ck_assert_double_eq(self, 0.5);
}

START_TEST(a_bad_definition_is_refused_and_nothing_is_taken)
{
    tal_function *part = make_constant(1.0, 1), *out = part;
    tal_function *const with_null[] = {part, NULL};
    tal_error err;
    tal_function_def def = tal_function_def_default();
    double self = 1.0;
    ck_assert_int_eq(def.num_args, 1);
    ck_assert_int_eq(def.max_order, 2);
    def.ops = &user_ops;
    def.self = &self;

#define REFUSES(expected, part_of_message)                                                         \
    do {                                                                                           \
        out = part;                                                                                \
        ck_assert_int_eq(tal_function_create(NULL, &def, &out, &err), expected);                   \
        ck_assert_ptr_null(out);                                                                   \
        ck_assert_int_eq(err.status, expected);                                                    \
        ck_assert_msg(strstr(err.message, part_of_message) != NULL, "%s", err.message);            \
    } while (0)

    def.num_args = 0;
    REFUSES(TAL_ERR_BAD_VALUE, "number of arguments is 0");
    def.num_args = TAL_FUNCTION_MAX_ARGS + 1;
    REFUSES(TAL_ERR_BAD_VALUE, "number of arguments is 33");
    def.num_args = 1;
    def.max_order = -1;
    REFUSES(TAL_ERR_BAD_VALUE, "max_order is -1");
    def.max_order = TAL_FUNCTION_MAX_ORDER + 1;
    REFUSES(TAL_ERR_BAD_VALUE, "max_order is 17");
    def.max_order = 2;
    def.num_uses = -1;
    REFUSES(TAL_ERR_BAD_VALUE, "num_uses is -1");
    def.num_uses = 2;
    ck_assert_int_eq(test_breaches(), 0);
    test_assert_breach(REFUSES(TAL_ERR_NULL, "list of functions"), TAL_ERR_NULL, "NULL");
    def.uses = with_null;
    test_assert_breach(REFUSES(TAL_ERR_NULL, "function to adopt"), TAL_ERR_NULL, "NULL");
    def.uses = NULL;
    def.num_uses = 0;

    tal_function_ops ops = user_ops;
    def.ops = &ops;
    ops.size = 0;
    REFUSES(TAL_ERR_BAD_VALUE, "ops->size is 0");
    ops.size = sizeof ops + 8;
    REFUSES(TAL_ERR_BAD_VALUE, "sizeof(tal_function_ops)");
    ops = user_ops;
    ops.calc_derivative = NULL;
    def.max_order = 3;
    REFUSES(TAL_ERR_BAD_VALUE, "calc_derivative is NULL");
    def.max_order = 2;
    ops.calc_value = NULL;
    test_assert_breach(REFUSES(TAL_ERR_NULL, "calc_value"), TAL_ERR_NULL, "calc_value");
    ops = user_ops;
    ops.name = NULL;
    test_assert_breach(REFUSES(TAL_ERR_NULL, "name"), TAL_ERR_NULL, "name");
    def.ops = NULL;
    test_assert_breach(REFUSES(TAL_ERR_NULL, "def->ops"), TAL_ERR_NULL, "def->ops");
#undef REFUSES

    test_assert_breach(ck_assert_int_eq(tal_function_create(NULL, NULL, &out, &err), TAL_ERR_NULL),
                       TAL_ERR_NULL, "def");
    test_assert_breach(ck_assert_int_eq(tal_function_create(NULL, &def, NULL, &err), TAL_ERR_NULL),
                       TAL_ERR_NULL, "out");
    const tal_allocator empty = {NULL, NULL, NULL};
    test_assert_breach(
        ck_assert_int_eq(tal_function_create(&empty, &def, &out, NULL), TAL_ERR_NULL), TAL_ERR_NULL,
        "allocator");
    ck_assert_double_eq(self, 1.0);
    tal_function_destroy(part); // never adopted
    ck_assert_int_eq(test_breaches(), 0);
}

// ---- bad input

START_TEST(a_wrong_evaluation_is_nan_and_a_breach)
{
    const double x[] = {0.1, 0.2}, a[] = {1.0, 2.0};
    const int wrt[] = {0, 2}, negative[] = {-1};
    tal_function *f = make_linear(a, 2, 0.0);
    double y = 0.0;
    test_assert_breach(y = tal_function_calc_value(NULL, x, 2), TAL_ERR_NULL, "function is NULL");
    ck_assert_double_nan(y);
    test_assert_breach(y = tal_function_calc_value(f, NULL, 2), TAL_ERR_NULL, "x is NULL");
    ck_assert_double_nan(y);
    test_assert_breach(y = tal_function_calc_value(f, x, 1), TAL_ERR_BAD_VALUE,
                       "linear function takes 2 arguments, not 1");
    ck_assert_double_nan(y);
    ck_assert_str_eq(tal_contract_last()->where, "tal_function_calc_value");
    test_assert_breach(y = tal_function_calc_value_1(f, 0.5), TAL_ERR_BAD_VALUE, "not 1");
    ck_assert_double_nan(y);
    test_assert_breach(y = tal_function_calc_derivative(f, x, 2, wrt, 2), TAL_ERR_BAD_INDEX,
                       "wrt[1] is 2");
    ck_assert_double_nan(y);
    test_assert_breach(y = tal_function_calc_derivative(f, x, 2, negative, 1), TAL_ERR_BAD_INDEX,
                       "wrt[0] is -1");
    ck_assert_double_nan(y);
    test_assert_breach(y = tal_function_calc_derivative(f, x, 2, NULL, 1), TAL_ERR_NULL, "wrt");
    ck_assert_double_nan(y);
    test_assert_breach(y = tal_function_calc_derivative(f, x, 2, wrt, -1), TAL_ERR_BAD_VALUE,
                       "not -1");
    ck_assert_double_nan(y);
    tal_function_destroy(f);

    f = make_composition(make_sinusoid(1.0, 1.0, 0.0), make_sinusoid(1.0, 1.0, 0.0), NULL);
    test_assert_breach(y = tal_function_calc_derivative_1(f, 0.0, 3), TAL_ERR_BAD_VALUE,
                       "composition has derivatives of order 0 to 2, not 3");
    ck_assert_double_nan(y);
    test_assert_breach(ck_assert_int_eq(tal_function_num_args(NULL), -1), TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert_int_eq(tal_function_max_order(NULL), -1), TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert_ptr_null(tal_function_name(NULL)), TAL_ERR_NULL, "NULL");
    tal_function_destroy(f);
}

START_TEST(bad_formulas_are_refused_by_name)
{
    tal_function *out = NULL;
    tal_error err;
    const double bad[] = {1.0, not_a_number, 2.0};
    REFUSED(tal_function_create_constant(NULL, infinity, 1, &out, &err), TAL_ERR_NOT_FINITE,
            "value is inf");
    REFUSED(tal_function_create_constant(NULL, 1.0, 0, &out, &err), TAL_ERR_BAD_VALUE,
            "number of arguments is 0");
    REFUSED(tal_function_create_linear(NULL, bad, 3, 0.0, &out, &err), TAL_ERR_NOT_FINITE,
            "a[1] is nan");
    REFUSED(tal_function_create_linear(NULL, bad, 1, not_a_number, &out, &err), TAL_ERR_NOT_FINITE,
            "b is nan");
    REFUSED(tal_function_create_linear(NULL, bad, 1000, 0.0, &out, &err), TAL_ERR_BAD_VALUE,
            "number of arguments is 1000");
    REFUSED(tal_function_create_linear(NULL, bad, -1, 0.0, &out, &err), TAL_ERR_BAD_VALUE, "-1");
    REFUSED(tal_function_create_polynomial(NULL, bad, 3, &out, &err), TAL_ERR_NOT_FINITE,
            "coefficients[1]");
    REFUSED(tal_function_create_polynomial(NULL, bad, 0, &out, &err), TAL_ERR_BAD_VALUE, "not 0");
    REFUSED(tal_function_create_sinusoid(NULL, not_a_number, 1.0, 0.0, &out, &err),
            TAL_ERR_NOT_FINITE, "amplitude");
    REFUSED(tal_function_create_sinusoid(NULL, 1.0, infinity, 0.0, &out, &err), TAL_ERR_NOT_FINITE,
            "omega");
    REFUSED(tal_function_create_sinusoid(NULL, 1.0, 1.0, not_a_number, &out, &err),
            TAL_ERR_NOT_FINITE, "phase");
    REFUSED(tal_function_create_step(NULL, 0.0, 1.0, not_a_number, 2.0, &out, &err),
            TAL_ERR_NOT_FINITE, "x1 is nan");
    REFUSED(tal_function_create_step(NULL, 0.5, 1.0, 0.5, 2.0, &out, &err), TAL_ERR_BAD_VALUE,
            "both 0.5");
    REFUSED(tal_function_create_step(NULL, -1e308, 1.0, 1e308, 2.0, &out, &err), TAL_ERR_BAD_VALUE,
            "overflows");
    ck_assert_int_eq(test_breaches(), 0);
    test_assert_breach(
        REFUSED(tal_function_create_linear(NULL, NULL, 1, 0.0, &out, &err), TAL_ERR_NULL, "a is"),
        TAL_ERR_NULL, "a is NULL");
    test_assert_breach(
        REFUSED(tal_function_create_polynomial(NULL, NULL, 1, &out, &err), TAL_ERR_NULL, "NULL"),
        TAL_ERR_NULL, "coefficients is NULL");
}

START_TEST(bad_combinations_are_refused)
{
    tal_function *one = make_constant(1.0, 1), *two = make_constant(2.0, 2), *out = NULL;
    tal_error err;
    tal_function *const mixed[] = {one, two}, *const with_null[] = {one, NULL};
    REFUSED(tal_function_create_sum(NULL, mixed, 2, &out, &err), TAL_ERR_BAD_VALUE,
            "terms[1] takes 2 arguments, but terms[0] takes 1");
    REFUSED(tal_function_create_product(NULL, mixed, 0, &out, &err), TAL_ERR_BAD_VALUE,
            "number of factors is 0");
    REFUSED(tal_function_create_composition(NULL, two, mixed, 1, &out, &err), TAL_ERR_BAD_VALUE,
            "takes 2 arguments, but there are 1");
    REFUSED(tal_function_create_composition(NULL, one, &one, 1, &out, &err), TAL_ERR_BAD_VALUE,
            "listed twice");
    ck_assert_int_eq(test_breaches(), 0);
    test_assert_breach(
        REFUSED(tal_function_create_sum(NULL, NULL, 2, &out, &err), TAL_ERR_NULL, "terms"),
        TAL_ERR_NULL, "terms");
    test_assert_breach(
        REFUSED(tal_function_create_product(NULL, with_null, 2, &out, &err), TAL_ERR_NULL, "NULL"),
        TAL_ERR_NULL, "factors");
    test_assert_breach(REFUSED(tal_function_create_composition(NULL, NULL, mixed, 1, &out, &err),
                               TAL_ERR_NULL, "outer"),
                       TAL_ERR_NULL, "outer");
    tal_function_destroy(one);
    tal_function_destroy(two);
    ck_assert_int_eq(test_breaches(), 0);
}

// ---- memory

enum {
    NUM_LEAVES = 8
};

// A tree with one of everything: composition(linear, {sum, product}) of one argument.
static tal_status build_tree(const tal_allocator *allocator, tal_function **out, tal_error *err)
{
    static const double c[] = {1.0, 2.0, 3.0};
    tal_function *leaf[NUM_LEAVES] = {NULL}, *sum = NULL, *product = NULL;
    *out = NULL;
    tal_status st = tal_function_create_linear(allocator, c, 2, 0.5, &leaf[0], err);
    if (st == TAL_OK) st = tal_function_create_constant(allocator, 2.0, 1, &leaf[1], err);
    if (st == TAL_OK) st = tal_function_create_polynomial(allocator, c, 3, &leaf[2], err);
    if (st == TAL_OK) st = tal_function_create_sinusoid(allocator, 1.0, 2.0, 0.0, &leaf[3], err);
    if (st == TAL_OK) st = tal_function_create_step(allocator, 0.0, 0.0, 1.0, 1.0, &leaf[4], err);
    if (st == TAL_OK) {
        st = tal_function_create_piecewise_linear(allocator, knots_x, knots_y, NUM_KNOTS, &leaf[5],
                                                  err);
    }
    if (st == TAL_OK) {
        st = tal_function_create_spline(allocator, knots_x, knots_y, NUM_KNOTS, TAL_SPLINE_SIMM,
                                        &leaf[6], err);
    }
    if (st == TAL_OK) {
        st = tal_function_create_quintic_spline(allocator, knots_x, knots_y, NUM_KNOTS, &leaf[7],
                                                err);
    }
    if (st == TAL_OK) st = tal_function_create_sum(allocator, leaf + 1, 4, &sum, err);
    if (st == TAL_OK) st = tal_function_create_product(allocator, leaf + 5, 3, &product, err);
    tal_function *const inner[] = {sum, product};
    if (st == TAL_OK) st = tal_function_create_composition(allocator, leaf[0], inner, 2, out, err);
    if (st == TAL_OK) return TAL_OK;

    // what was not adopted is still ours
    for (int i = 0; i < NUM_LEAVES; ++i) {
        const bool adopted = i == 0 ? false : i < 5 ? sum != NULL : product != NULL;
        if (!adopted) tal_function_destroy(leaf[i]);
    }
    tal_function_destroy(sum);
    tal_function_destroy(product);
    return st;
}

START_TEST(any_allocation_may_fail)
{
    for (int refuse_at = 1;; ++refuse_at) {
        test_heap heap = {.refuse_at = refuse_at};
        const tal_allocator allocator = test_heap_allocator(&heap);
        tal_function *f = NULL;
        tal_error err;
        const tal_status st = build_tree(&allocator, &f, &err);
        if (st == TAL_OK) {
            ck_assert_int_gt(refuse_at, 2 * NUM_LEAVES); // two blocks each, at least
            test_assert_never_refused(&heap);
            tal_function_destroy(f);
            ck_assert_int_eq(heap.live, 0);
            break;
        }
        ck_assert_int_eq(st, TAL_ERR_NO_MEMORY);
        ck_assert_int_eq(err.status, TAL_ERR_NO_MEMORY);
        ck_assert_ptr_null(f);
        ck_assert_int_eq(heap.live, 0);
        ck_assert_uint_eq(heap.bytes, 0);
    }
    ck_assert_int_eq(test_breaches(), 0);
}

START_TEST(evaluation_asks_for_no_memory)
{
    test_heap heap = {0};
    const tal_allocator allocator = test_heap_allocator(&heap);
    tal_function *f = NULL;
    ck_assert_int_eq(build_tree(&allocator, &f, NULL), TAL_OK);
    const int calls = heap.calls;
    for (int order = 0; order <= 2; ++order) {
        ck_assert(isfinite(tal_function_calc_derivative_1(f, 0.3, order)));
    }
    ck_assert_int_eq(heap.calls, calls);
    tal_function_destroy(f);
    ck_assert_int_eq(heap.live, 0);
    ck_assert_uint_eq(heap.bytes, 0);
}

// ---- threads

enum {
    NUM_THREADS = 4,
    NUM_POINTS = 1000
};

typedef struct worker {
    const tal_function *f;
    double y[NUM_POINTS];
} worker;

static void *evaluate_all(void *context)
{
    worker *w = context;
    for (int i = 0; i < NUM_POINTS; ++i) {
        w->y[i] = tal_function_calc_derivative_1(w->f, -3.0 + 0.006 * i, i % 3);
    }
    return NULL;
}

// Same input, same bytes, whoever asks; run under a thread sanitizer it also shows that nothing is
// written.
START_TEST(threads_share_a_function)
{
    tal_function *f = NULL;
    ck_assert_int_eq(build_tree(NULL, &f, NULL), TAL_OK);
    static worker workers[NUM_THREADS];
    pthread_t threads[NUM_THREADS];
    for (int t = 0; t < NUM_THREADS; ++t) {
        workers[t].f = f;
        ck_assert_int_eq(pthread_create(&threads[t], NULL, evaluate_all, &workers[t]), 0);
    }
    for (int t = 0; t < NUM_THREADS; ++t) {
        ck_assert_int_eq(pthread_join(threads[t], NULL), 0);
        ck_assert_mem_eq(workers[t].y, workers[0].y, sizeof workers[0].y);
    }
    tal_function_destroy(f);
}

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("common/function");
    TCase *tc = tcase_create("theory");
    tcase_add_loop_test(tc, every_derivative_is_the_slope_of_the_one_below, 0, NUM_KINDS);
    tcase_add_loop_test(tc, mixed_derivatives_commute, 0, NUM_KINDS);
    tcase_add_loop_test(tc, order_zero_is_the_value, 0, NUM_KINDS);
    tcase_add_loop_test(tc, nan_in_is_nan_out_and_no_breach, 0, NUM_KINDS);
    tcase_add_test(tc, a_polynomial_is_given_highest_power_first);
    tcase_add_test(tc, a_sinusoid_is_its_own_second_derivative);
    tcase_add_test(tc, a_linear_function_has_its_coefficients_for_slopes);
    tcase_add_test(tc, a_step_is_smooth_symmetric_and_monotone);
    tcase_add_test(tc, infinity_gives_the_limit);
    tcase_add_test(tc, a_product_of_polynomials_is_a_polynomial);
    tcase_add_test(tc, compositions_and_sums_of_polynomials_are_polynomials);
    tcase_add_test(tc, nesting_is_limited_by_name);
    tcase_add_test(tc, an_adopted_function_has_one_owner);
    tcase_add_test(tc, a_table_without_derivatives_gets_differences);
    tcase_add_test(tc, a_shorter_table_gets_the_defaults);
    suite_add_tcase(suite, tc);

    tc = tcase_create("errors");
    tcase_add_test(tc, a_bad_definition_is_refused_and_nothing_is_taken);
    tcase_add_test(tc, a_wrong_evaluation_is_nan_and_a_breach);
    tcase_add_test(tc, bad_formulas_are_refused_by_name);
    tcase_add_test(tc, bad_combinations_are_refused);
    suite_add_tcase(suite, tc);

    tc = tcase_create("alloc");
    tcase_add_test(tc, any_allocation_may_fail);
    tcase_add_test(tc, evaluation_asks_for_no_memory);
    suite_add_tcase(suite, tc);

    tc = tcase_create("threads");
    tcase_add_test(tc, threads_share_a_function);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
