// What the tests of functions share: makers that must succeed, and one set of knots.
#ifndef TALUS_FUNCTION_SUPPORT_H
#define TALUS_FUNCTION_SUPPORT_H

#include "talus_test.h"

#include <math.h>

static const double infinity = (double)INFINITY, not_a_number = (double)NAN;

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

#define NUM_KNOTS 7
static const double knots_x[NUM_KNOTS] = {-2.0, -1.25, -0.5, 0.25, 1.0, 1.5, 2.5};
static const double knots_y[NUM_KNOTS] = {0.5, -0.25, 0.75, 1.0, -0.5, 0.125, 0.25};

static inline tal_function *must(tal_status st, tal_function *f, const tal_error *err)
{
    ck_assert_msg(st == TAL_OK, "%s: %s", err->where, err->message);
    ck_assert_ptr_nonnull(f);
    return f;
}

static inline tal_function *make_sinusoid(double amplitude, double omega, double phase)
{
    tal_function *f = NULL;
    tal_error err;
    const tal_status st = tal_function_create_sinusoid(NULL, amplitude, omega, phase, &f, &err);
    return must(st, f, &err);
}

static inline tal_function *make_polynomial(const double c[], int count)
{
    tal_function *f = NULL;
    tal_error err;
    const tal_status st = tal_function_create_polynomial(NULL, c, count, &f, &err);
    return must(st, f, &err);
}

static inline tal_function *make_linear(const double a[], int num_args, double b)
{
    tal_function *f = NULL;
    tal_error err;
    const tal_status st = tal_function_create_linear(NULL, a, num_args, b, &f, &err);
    return must(st, f, &err);
}

static inline tal_function *make_constant(double value, int num_args)
{
    tal_function *f = NULL;
    tal_error err;
    const tal_status st = tal_function_create_constant(NULL, value, num_args, &f, &err);
    return must(st, f, &err);
}

static inline tal_function *make_step(double x0, double y0, double x1, double y1)
{
    tal_function *f = NULL;
    tal_error err;
    const tal_status st = tal_function_create_step(NULL, x0, y0, x1, y1, &f, &err);
    return must(st, f, &err);
}

static inline tal_function *make_piecewise(const double x[], const double y[], int count)
{
    tal_function *f = NULL;
    tal_error err;
    const tal_status st = tal_function_create_piecewise_linear(NULL, x, y, count, &f, &err);
    return must(st, f, &err);
}

static inline tal_function *make_spline(const double x[], const double y[], int count,
                                        tal_spline_end end)
{
    tal_function *f = NULL;
    tal_error err;
    const tal_status st = tal_function_create_spline(NULL, x, y, count, end, &f, &err);
    return must(st, f, &err);
}

static inline tal_function *make_quintic(const double x[], const double y[], int count)
{
    tal_function *f = NULL;
    tal_error err;
    const tal_status st = tal_function_create_quintic_spline(NULL, x, y, count, &f, &err);
    return must(st, f, &err);
}

static inline tal_function *make_sum(tal_function *f0, tal_function *f1)
{
    tal_function *const terms[] = {f0, f1};
    tal_function *f = NULL;
    tal_error err;
    const tal_status st = tal_function_create_sum(NULL, terms, 2, &f, &err);
    return must(st, f, &err);
}

static inline tal_function *make_product(tal_function *f0, tal_function *f1, tal_function *f2)
{
    tal_function *const factors[] = {f0, f1, f2};
    tal_function *f = NULL;
    tal_error err;
    const tal_status st = tal_function_create_product(NULL, factors, f2 != NULL ? 3 : 2, &f, &err);
    return must(st, f, &err);
}

static inline tal_function *make_composition(tal_function *outer, tal_function *g0,
                                             tal_function *g1)
{
    tal_function *const inner[] = {g0, g1};
    tal_function *f = NULL;
    tal_error err;
    const tal_status st =
        tal_function_create_composition(NULL, outer, inner, g1 != NULL ? 2 : 1, &f, &err);
    return must(st, f, &err);
}

/// The call must fail with this status and say this, and leave NULL behind. Uses `out` and `err`.
#define REFUSED(call, expected, part_of_message)                                                   \
    do {                                                                                           \
        out = (tal_function *)&err;                                                                \
        ck_assert_int_eq(call, expected);                                                          \
        ck_assert_ptr_null(out);                                                                   \
        ck_assert_int_eq(err.status, expected);                                                    \
        ck_assert_msg(strstr(err.message, part_of_message) != NULL, "%s", err.message);            \
    } while (0)

#endif // TALUS_FUNCTION_SUPPORT_H
