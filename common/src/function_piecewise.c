// Curves through points: piecewise linear, cubic spline, quintic spline.
//
// All three are one piecewise polynomial, of degree 1, 3 or 5, that differs only in how its slopes
// s_i (and second derivatives m_i) at the knots are found:
//
//   cubic, natural    minimum of integral f''^2     tridiagonal in s
//   quintic, natural  minimum of integral f'''^2    block tridiagonal in (s, m)
//
// Both minima are found from their normal equations, assembled interval by interval. They are
// symmetric and positive definite, so one banded Cholesky factorization serves both.
#include "function_internal.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

typedef struct piecewise {
    tali_function_block block;
    int count;  // knots
    int degree; // 1, 3 or 5
    double *x;  // [count]
    double *a;  // [count + 1][degree + 1] lowest power first; row k holds for x[k-1] <= x < x[k],
                // in powers of x - x[k-1]; row 0, left of all knots, in powers of x - x[0]
} piecewise;

// ---- evaluation

// How many knots are <= x: 0 to count.
static int knots_not_above(const piecewise *f, double x)
{
    int low = 0, high = f->count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (f->x[middle] <= x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static double piecewise_derivative(const void *self, const double x[], int n, const int wrt[],
                                   int order)
{
    (void)n;
    (void)wrt;
    const piecewise *f = self;
    const int k = knots_not_above(f, x[0]);
    const double *a = f->a + (size_t)k * (size_t)(f->degree + 1);
    return tali_poly_derivative(a, f->degree, x[0] - f->x[k > 0 ? k - 1 : 0], order);
}

static double piecewise_value(const void *self, const double x[], int n)
{
    return piecewise_derivative(self, x, n, NULL, 0);
}

static const tal_function_ops piecewise_linear_ops = {
    .size = sizeof piecewise_linear_ops,
    .name = "piecewise linear function",
    .calc_value = piecewise_value,
    .calc_derivative = piecewise_derivative,
    .destroy = tali_function_block_destroy,
};

static const tal_function_ops spline_ops = {
    .size = sizeof spline_ops,
    .name = "spline",
    .calc_value = piecewise_value,
    .calc_derivative = piecewise_derivative,
    .destroy = tali_function_block_destroy,
};

static const tal_function_ops quintic_spline_ops = {
    .size = sizeof quintic_spline_ops,
    .name = "quintic spline",
    .calc_value = piecewise_value,
    .calc_derivative = piecewise_derivative,
    .destroy = tali_function_block_destroy,
};

// ---- normal equations

// A symmetric banded system A z = b. Row i of A holds its columns i-width..i, the diagonal last.
typedef struct band {
    int size, width;
    double *A; // [size][width + 1]
    double *b; // [size] right-hand side, then the solution
} band;

static double *band_at(const band *s, int i, int j)
{
    assert(j <= i && i - j <= s->width);
    return &s->A[(size_t)i * (size_t)(s->width + 1) + (size_t)(s->width - (i - j))];
}

static int band_first(const band *s, int i)
{
    return i > s->width ? i - s->width : 0;
}

// A = L L^T in place. False when a pivot is lost in round-off; written to refuse NaN too.
//
// A pivot that shrinks from the diagonal by a factor r costs the solution r^2 eps: r is the ratio of
// neighboring spacings in a quintic, and below 4 in a cubic. Half the digits must remain.
static bool band_factor(const band *s)
{
    const double smallest = sqrt(sqrt(DBL_EPSILON));
    for (int i = 0; i < s->size; ++i) {
        const int first = band_first(s, i);
        for (int j = first; j <= i; ++j) {
            double sum = *band_at(s, i, j);
            for (int k = first; k < j; ++k) {
                sum -= *band_at(s, i, k) * *band_at(s, j, k);
            }
            if (j < i) {
                *band_at(s, i, j) = sum / *band_at(s, j, j);
                continue;
            }
            if (!(sum > smallest * *band_at(s, i, i))) return false;
            *band_at(s, i, i) = sqrt(sum);
        }
    }
    return true;
}

static bool band_solve(const band *s)
{
    if (!band_factor(s)) return false;

    // L w = b, then L^T z = w
    for (int i = 0; i < s->size; ++i) {
        for (int k = band_first(s, i); k < i; ++k) {
            s->b[i] -= *band_at(s, i, k) * s->b[k];
        }
        s->b[i] /= *band_at(s, i, i);
    }
    for (int i = s->size - 1; i >= 0; --i) {
        s->b[i] /= *band_at(s, i, i);
        for (int k = band_first(s, i); k < i; ++k) {
            s->b[k] -= *band_at(s, i, k) * s->b[i];
        }
    }
    return true;
}

// Add an interval's matrix K and right-hand side r, whose first unknown is `first`.
static void band_add(const band *s, int first, int n, const double K[], const double r[])
{
    for (int i = 0; i < n; ++i) {
        s->b[first + i] += r[i];
        for (int j = 0; j <= i; ++j) {
            *band_at(s, first + i, first + j) += K[i * n + j];
        }
    }
}

// The knots, with lengths measured in mean spacings and values above the chord from the first to the
// last: straight data then has a right-hand side of zeros, and stays straight.
typedef struct knots {
    const double *x, *y;
    int count;
    double unit;  // mean spacing
    double chord; // slope of the chord
} knots;

static double spacing(const knots *p, int i)
{
    return p->x[i + 1] - p->x[i];
}

// Divided difference over interval i, above the chord's.
static double rise(const knots *p, int i)
{
    return (p->y[i + 1] - p->y[i]) / spacing(p, i) - p->chord;
}

/*
 * One interval of length h of the cubic: with D the divided difference,
 *
 *     d/ds of 1/4 integral f''^2:   1/h [2 1; 1 2] [s0; s1] = 1/h [3 D; 3 D]
 */
static void assemble_cubic(const knots *p, const band *s)
{
    for (int i = 0; i + 1 < p->count; ++i) {
        const double c = p->unit / spacing(p, i), D = rise(p, i);
        const double K[] = {2.0 * c, c, c, 2.0 * c};
        const double r[] = {3.0 * c * D, 3.0 * c * D};
        band_add(s, i, 2, K, r);
    }
}

// Third divided difference of the four knots from i on: f'''/6 of the cubic through them.
static double third_difference(const knots *p, int i)
{
    const double D01 = rise(p, i), D12 = rise(p, i + 1), D23 = rise(p, i + 2);
    const double *x = p->x + i;
    return ((D23 - D12) / (x[3] - x[1]) - (D12 - D01) / (x[2] - x[0])) / (x[3] - x[0]);
}

/*
 * SIMM ends. In the first interval (h, D), and likewise in the last,
 *
 *     f'''/6 = (s0 + s1 - 2 D) / h^2 = third difference of the four points,
 *
 * which replaces the natural row 2 s0 + s1 = 3 D. Scaled by 1/h it keeps the matrix symmetric, and
 * since [1 1; 1 2] is positive definite, positive definite for three knots or more.
 */
static void set_simm_ends(const knots *p, const band *s)
{
    const int last = p->count - 1;
    for (int end = 0; end < 2; ++end) {
        const int knot = end == 0 ? 0 : last, interval = end == 0 ? 0 : last - 1;
        const double h = spacing(p, interval), c = p->unit / h;
        const double third = p->count > 3 ? third_difference(p, end == 0 ? 0 : last - 3) : 0.0;
        *band_at(s, knot, knot) = c;
        s->b[knot] = c * (2.0 * rise(p, interval) + h * h * third);
    }
}

/*
 * One interval of length h of the quintic: the derivatives of integral f'''^2 by s and m at both
 * ends are, up to a factor, the jumps of f'''' and of f''', which must vanish. With D the divided
 * difference and the unknowns s0, m0, s1, m1,
 *
 *     [64/h^3  12/h^2  56/h^3   -8/h^2]       [120 D/h^3]
 *     [12/h^2   3/h     8/h^2   -1/h  ]       [ 20 D/h^2]
 *     [56/h^3   8/h^2  64/h^3  -12/h^2]  z =  [120 D/h^3]
 *     [-8/h^2  -1/h   -12/h^2    3/h  ]       [-20 D/h^2]
 *
 * (each f''' and f'''' written in the quintic Hermite basis, and divided by 3).
 */
static void assemble_quintic(const knots *p, const band *s)
{
    for (int i = 0; i + 1 < p->count; ++i) {
        const double c = p->unit / spacing(p, i), c2 = c * c, c3 = c2 * c, D = rise(p, i);
        const double K[] = {64.0 * c3, 12.0 * c2, 56.0 * c3,  -8.0 * c2,  //
                            12.0 * c2, 3.0 * c,   8.0 * c2,   -1.0 * c,   //
                            56.0 * c3, 8.0 * c2,  64.0 * c3,  -12.0 * c2, //
                            -8.0 * c2, -1.0 * c,  -12.0 * c2, 3.0 * c};
        const double r[] = {120.0 * c3 * D, 20.0 * c2 * D, 120.0 * c3 * D, -20.0 * c2 * D};
        band_add(s, 2 * i, 4, K, r);
    }
}

// ---- coefficients

// The row of f->a that holds to the right of knot i.
static double *row_after(const piecewise *f, int i)
{
    return f->a + (size_t)(i + 1) * (size_t)(f->degree + 1);
}

static void fill_linear(const knots *p, const piecewise *f)
{
    for (int i = 0; i < p->count; ++i) {
        double *a = row_after(f, i);
        a[0] = p->y[i];
        a[1] = rise(p, i + 1 < p->count ? i : i - 1);
    }
}

// Hermite's cubic from slopes s above the chord; straight beyond the last knot.
static void fill_cubic(const knots *p, const piecewise *f, const double s[])
{
    for (int i = 0; i < p->count; ++i) {
        double *a = row_after(f, i);
        a[0] = p->y[i];
        a[1] = p->chord + s[i];
        if (i + 1 == p->count) continue;
        const double h = spacing(p, i), D = rise(p, i);
        const double e0 = s[i] - D, e1 = s[i + 1] - D;
        a[2] = -(2.0 * e0 + e1) / h;
        a[3] = (e0 + e1) / h / h;
    }
}

// Hermite's quintic from z = (s, m unit) at each knot; a parabola beyond the last.
static void fill_quintic(const knots *p, const piecewise *f, const double z[])
{
    for (int i = 0; i < p->count; ++i) {
        double *a = row_after(f, i);
        a[0] = p->y[i];
        a[1] = p->chord + z[2 * i];
        a[2] = 0.5 * z[2 * i + 1] / p->unit;
        if (i + 1 == p->count) continue;
        const double h = spacing(p, i), D = rise(p, i);
        const double e0 = z[2 * i] - D, e1 = z[2 * i + 2] - D;
        const double k0 = h / p->unit * z[2 * i + 1], k1 = h / p->unit * z[2 * i + 3];
        a[3] = (-6.0 * e0 - 4.0 * e1 - 1.5 * k0 + 0.5 * k1) / h / h;
        a[4] = (8.0 * e0 + 7.0 * e1 + 1.5 * k0 - k1) / h / h / h;
        a[5] = (-3.0 * e0 - 3.0 * e1 - 0.5 * k0 + 0.5 * k1) / h / h / h / h;
    }
}

// Left of all knots the curve goes on with the first `kept` coefficients it has at x[0].
static void fill_left(const piecewise *f, int kept)
{
    memcpy(f->a, row_after(f, 0), (size_t)kept * sizeof *f->a);
}

// ---- creation

static tal_status check_knots(const tali_function_call *call, const double x[], const double y[],
                              int count, int least)
{
    tal_status st = tali_function_check_pointer(call, "x", x);
    if (st == TAL_OK) st = tali_function_check_pointer(call, "y", y);
    if (st != TAL_OK) return st;
    if (count < least) {
        return tali_fail(call->err, TAL_ERR_BAD_VALUE, call->where,
                         "%d points are too few: give at least %d", count, least);
    }
    st = tali_function_check_finite(call, "x", x, count);
    if (st == TAL_OK) st = tali_function_check_finite(call, "y", y, count);
    for (int i = 1; i < count && st == TAL_OK; ++i) {
        if (x[i] > x[i - 1]) continue;
        st = tali_fail(call->err, TAL_ERR_BAD_VALUE, call->where,
                       "x[%d] = %.17g is not above x[%d] = %.17g: sort the points and drop repeats",
                       i, x[i], i - 1, x[i - 1]);
    }
    return st;
}

static piecewise *piecewise_create(const tali_function_call *call, const double x[], int count,
                                   int degree)
{
    const size_t n = (size_t)count, num_a = (n + 1) * (size_t)(degree + 1);
    piecewise *f = tali_function_block_create(call, sizeof *f + (n + num_a) * sizeof(double));
    if (f == NULL) return NULL;
    f->count = count;
    f->degree = degree;
    f->x = (double *)(f + 1);
    f->a = f->x + n;
    memcpy(f->x, x, n * sizeof *x);
    return f;
}

// Make the function, unless the numbers were too far apart for a double.
static tal_status piecewise_finish(const tali_function_call *call, const tal_function_ops *ops,
                                   piecewise *f)
{
    const size_t width = (size_t)(f->degree + 1);
    for (size_t k = 0; k < ((size_t)f->count + 1) * width; ++k) {
        if (isfinite(f->a[k])) continue;
        const int knot = k < width ? 0 : (int)(k / width) - 1;
        const double at = f->x[knot];
        tali_function_block_destroy(f);
        return tali_fail(
            call->err, TAL_ERR_BAD_VALUE, call->where,
            "the curve overflows after x[%d] = %g: points too close or values too far apart", knot,
            at);
    }
    const tal_function_def def = {ops, f, 1, TAL_FUNCTION_MAX_ORDER, NULL, 0};
    return tali_function_finish(call, &def);
}

static knots measure(const double x[], const double y[], int count)
{
    const double length = x[count - 1] - x[0];
    return (knots){x, y, count, length / (count - 1), (y[count - 1] - y[0]) / length};
}

// Find the unknowns at the knots and the coefficients of the pieces, with workspace for both.
static tal_status fit(const tali_function_call *call, const knots *p, tal_spline_end end,
                      const piecewise *f)
{
    const bool cubic = f->degree == 3;
    const int size = cubic ? p->count : 2 * p->count, width = cubic ? 1 : 3;
    const size_t bytes = (size_t)size * (size_t)(width + 2) * sizeof(double);
    double *work = tali_alloc(&call->allocator, bytes);
    if (work == NULL) {
        return tali_fail(call->err, TAL_ERR_NO_MEMORY, call->where, "no memory for %zu bytes",
                         bytes);
    }
    const band s = {size, width, work + size, work};

    if (cubic) {
        assemble_cubic(p, &s);
    } else {
        assemble_quintic(p, &s);
    }
    // two points have one line, which the natural ends give
    if (end == TAL_SPLINE_SIMM && p->count > 2) set_simm_ends(p, &s);

    tal_status st = TAL_OK;
    if (!band_solve(&s)) {
        st = tali_fail(call->err, TAL_ERR_SINGULAR, call->where,
                       "the %d points are spaced too unevenly for a spline", p->count);
    } else if (cubic) {
        fill_cubic(p, f, s.b);
        fill_left(f, 2);
    } else {
        fill_quintic(p, f, s.b);
        fill_left(f, 3);
    }
    tali_free(&call->allocator, work, bytes);
    return st;
}

tal_status tal_function_create_piecewise_linear(const tal_allocator *allocator, const double x[],
                                                const double y[], int count, tal_function **out,
                                                tal_error *err)
{
    tali_function_call call;
    tal_status st = tali_function_begin(&call, __func__, allocator, out, err);
    if (st == TAL_OK) st = check_knots(&call, x, y, count, 2);
    if (st != TAL_OK) return st;

    piecewise *f = piecewise_create(&call, x, count, 1);
    if (f == NULL) return TAL_ERR_NO_MEMORY;
    const knots p = {x, y, count, 1.0, 0.0};
    fill_linear(&p, f);
    fill_left(f, 2);
    return piecewise_finish(&call, &piecewise_linear_ops, f);
}

static tal_status create_spline(const tali_function_call *call, const tal_function_ops *ops,
                                const knots *p, int degree, tal_spline_end end)
{
    piecewise *f = piecewise_create(call, p->x, p->count, degree);
    if (f == NULL) return TAL_ERR_NO_MEMORY;
    const tal_status st = fit(call, p, end, f);
    if (st != TAL_OK) {
        tali_function_block_destroy(f);
        return st;
    }
    return piecewise_finish(call, ops, f);
}

tal_status tal_function_create_spline(const tal_allocator *allocator, const double x[],
                                      const double y[], int count, tal_spline_end end,
                                      tal_function **out, tal_error *err)
{
    tali_function_call call;
    tal_status st = tali_function_begin(&call, __func__, allocator, out, err);
    if (st == TAL_OK) st = check_knots(&call, x, y, count, 2);
    if (st != TAL_OK) return st;
    if (end != TAL_SPLINE_NATURAL && end != TAL_SPLINE_SIMM) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "end is %d, not a tal_spline_end", (int)end);
    }
    const knots p = measure(x, y, count);
    return create_spline(&call, &spline_ops, &p, 3, end);
}

tal_status tal_function_create_quintic_spline(const tal_allocator *allocator, const double x[],
                                              const double y[], int count, tal_function **out,
                                              tal_error *err)
{
    tali_function_call call;
    tal_status st = tali_function_begin(&call, __func__, allocator, out, err);
    if (st == TAL_OK) st = check_knots(&call, x, y, count, 3);
    if (st != TAL_OK) return st;
    const knots p = measure(x, y, count);
    return create_spline(&call, &quintic_spline_ops, &p, 5, TAL_SPLINE_NATURAL);
}
