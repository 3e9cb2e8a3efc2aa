// Curves through points: piecewise linear, cubic spline, quintic spline.
//
// All three are one piecewise polynomial, of degree 1, 3 or 5, and differ only in how it is found:
//
//   cubic, natural    least integral f''^2     tridiagonal in the slopes at the knots
//   quintic, natural  least integral f'''^2    pentadiagonal in the B-spline coefficients of f'''
//
// Both systems are symmetric and positive definite, so one banded Cholesky factorization serves
// both, and both stay well conditioned however uneven the knots are.
#include "function/function_internal.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct piecewise {
    tali_function_block block;
    int count;          // knots
    int degree;         // 1, 3 or 5
    tal_spline_end end; // of a cubic spline
    double *x;          // [count]
    double *a; // [count + 1][degree + 1] lowest power first; row k holds for x[k-1] <= x < x[k],
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
    return tali_function_poly_derivative(a, f->degree, x[0] - f->x[k > 0 ? k - 1 : 0], order);
}

static double piecewise_value(const void *self, const double x[], int n)
{
    return piecewise_derivative(self, x, n, NULL, 0);
}

// Integral over the piece of row k, between two of its points.
static double piece_integral(const piecewise *f, int k, double from, double to)
{
    const double *a = f->a + (size_t)k * (size_t)(f->degree + 1);
    const double origin = f->x[k > 0 ? k - 1 : 0];
    return tali_function_poly_integral(a, f->degree, to - origin) -
           tali_function_poly_integral(a, f->degree, from - origin);
}

// Piece by piece, from the smaller limit to the larger one.
static double piecewise_integral(const void *self, double a, double b)
{
    const piecewise *f = self;
    const double low = fmin(a, b), high = fmax(a, b);
    const int last = knots_not_above(f, high);
    double sum = 0.0, from = low;
    for (int k = knots_not_above(f, low); k <= last; ++k) {
        const double to = k < last ? f->x[k] : high;
        sum += piece_integral(f, k, from, to);
        from = to;
    }
    return a <= b ? sum : -sum;
}

static const tal_function_ops piecewise_linear_ops = {
    .size = sizeof piecewise_linear_ops,
    .name = "piecewise linear function",
    .calc_value = piecewise_value,
    .calc_derivative = piecewise_derivative,
    .destroy = tali_function_block_destroy,
    .calc_integral = piecewise_integral,
};

static const tal_function_ops spline_ops = {
    .size = sizeof spline_ops,
    .name = "spline",
    .calc_value = piecewise_value,
    .calc_derivative = piecewise_derivative,
    .destroy = tali_function_block_destroy,
    .calc_integral = piecewise_integral,
};

static const tal_function_ops quintic_spline_ops = {
    .size = sizeof quintic_spline_ops,
    .name = "quintic spline",
    .calc_value = piecewise_value,
    .calc_derivative = piecewise_derivative,
    .destroy = tali_function_block_destroy,
    .calc_integral = piecewise_integral,
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

// A = L L^T in place. False when a pivot is not positive; written to refuse NaN too.
static bool band_factor(const band *s)
{
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
            if (!(sum > 0.0)) return false;
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

// The points, with values taken above the chord from the first to the last: straight data then has
// a right-hand side of zeros, and stays straight.
typedef struct knots {
    const double *x, *y;
    int count;
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
 * Cubic. One interval of length h adds, with D its divided difference and the unknowns s0, s1,
 *
 *     d/ds of 1/4 integral f''^2:   1/h [2 1; 1 2] [s0; s1] = 1/h [3 D; 3 D]
 */
static void assemble_cubic(const knots *p, const band *s)
{
    for (int i = 0; i + 1 < p->count; ++i) {
        const double c = 1.0 / spacing(p, i), D = rise(p, i);
        *band_at(s, i, i) += 2.0 * c;
        *band_at(s, i + 1, i) += c;
        *band_at(s, i + 1, i + 1) += 2.0 * c;
        s->b[i] += 3.0 * c * D;
        s->b[i + 1] += 3.0 * c * D;
    }
}

// Second divided difference of the three knots from i on.
static double second_difference(const knots *p, int i)
{
    return (rise(p, i + 1) - rise(p, i)) / (p->x[i + 2] - p->x[i]);
}

// Third divided difference of the four knots from i on: f'''/6 of the cubic through them.
static double third_difference(const knots *p, int i)
{
    return (second_difference(p, i + 1) - second_difference(p, i)) / (p->x[i + 3] - p->x[i]);
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
        const double h = spacing(p, interval), c = 1.0 / h;
        const double third = p->count > 3 ? third_difference(p, end == 0 ? 0 : last - 3) : 0.0;
        *band_at(s, knot, knot) = c;
        s->b[knot] = c * (2.0 * rise(p, interval) + h * h * third);
    }
}

/*
 * f''' of the natural quintic is a sum of quadratic B-splines, c_j N_j with N_j on x[j]..x[j+3]. In
 * interval i, of length h between neighbors of lengths h- and h+, the three that live there have
 * the Bernstein coefficients
 *
 *     N_{i-2}: (beta, 0, 0)    N_{i-1}: (1 - beta, 1, 1 - alpha)    N_i: (0, 0, alpha),
 *     beta = h / (h- + h),     alpha = h / (h + h+).
 *
 * E holds them as columns. A B-spline that would reach beyond the knots does not exist, and its
 * column is not read.
 */
static void bernstein(const knots *p, int i, double E[3][3])
{
    const double h = spacing(p, i);
    const double before = i > 0 ? spacing(p, i - 1) : 0.0;
    const double after = i + 2 < p->count ? spacing(p, i + 1) : 0.0;
    memset(E, 0, 9 * sizeof(double));
    E[0][0] = h / (before + h);
    E[0][1] = before / (before + h);
    E[1][1] = 1.0;
    E[2][1] = after / (h + after);
    E[2][2] = h / (h + after);
}

// Integral over an interval of unit length of the B-splines in columns j and k of E.
static double overlap(double E[3][3], int j, int k)
{
    static const double W[3][3] = {{6.0, 3.0, 1.0}, {3.0, 4.0, 3.0}, {1.0, 3.0, 6.0}};
    double sum = 0.0;
    for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
            sum += E[a][j] * W[a][b] * E[b][k];
        }
    }
    return sum / 30.0;
}

/*
 * Quintic. As the divided difference of order 3 is an integral of f''' over a B-spline,
 *
 *     sum_k  integral N_j N_k dx  c_k = 2 ([x_{j+1} x_{j+2} x_{j+3}] f - [x_j x_{j+1} x_{j+2}] f)
 */
static void assemble_quintic(const knots *p, const band *s)
{
    for (int j = 0; j < s->size; ++j) {
        s->b[j] = 2.0 * (second_difference(p, j + 1) - second_difference(p, j));
    }
    for (int i = 0; i + 1 < p->count; ++i) {
        double E[3][3];
        bernstein(p, i, E);
        const int first = i - 2; // the B-spline in column 0
        for (int j = first < 0 ? -first : 0; j < 3 && first + j < s->size; ++j) {
            for (int k = first < 0 ? -first : 0; k <= j; ++k) {
                *band_at(s, first + j, first + k) += spacing(p, i) * overlap(E, j, k);
            }
        }
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

// Bernstein coefficients T of f''' in interval i, from its B-spline coefficients c.
static void third_derivative(const knots *p, const double c[], int i, double T[3])
{
    double E[3][3];
    bernstein(p, i, E);
    for (int a = 0; a < 3; ++a) {
        T[a] = 0.0;
        for (int j = 0; j < 3; ++j) {
            const int k = i - 2 + j;
            if (k >= 0 && k < p->count - 3) T[a] += E[a][j] * c[k];
        }
    }
}

/*
 * f'' at an inner knot, where the intervals l and r meet: Taylor's formula to both sides,
 *
 *     D_l = s - h_l m / 2 + h_l^2 (  T0 + 3 T1 + 6 T2)_l / 60
 *     D_r = s + h_r m / 2 + h_r^2 (6 T0 + 3 T1 +   T2)_r / 60,   less the one from the other.
 */
static double second_derivative(const knots *p, const double c[], int i)
{
    double L[3], R[3];
    third_derivative(p, c, i - 1, L);
    third_derivative(p, c, i, R);
    const double hl = spacing(p, i - 1), hr = spacing(p, i);
    const double tail_l = hl * hl * (L[0] + 3.0 * L[1] + 6.0 * L[2]) / 60.0;
    const double tail_r = hr * hr * (6.0 * R[0] + 3.0 * R[1] + R[2]) / 60.0;
    return 2.0 * ((rise(p, i) - rise(p, i - 1)) - (tail_r - tail_l)) / (hl + hr);
}

// Integrate f''' three times; a parabola beyond the last knot.
static void fill_quintic(const knots *p, const piecewise *f, const double c[])
{
    const int last = p->count - 1;
    for (int i = 0; i < last; ++i) {
        double T[3], *a = row_after(f, i), *next = row_after(f, i + 1);
        third_derivative(p, c, i, T);
        const double h = spacing(p, i), gain = h * (T[0] + T[1] + T[2]) / 3.0;
        const double m = i > 0 ? second_derivative(p, c, i) : second_derivative(p, c, 1) - gain;
        const double s = rise(p, i) - 0.5 * h * m - h * h * (6.0 * T[0] + 3.0 * T[1] + T[2]) / 60.0;
        a[0] = p->y[i];
        a[1] = p->chord + s;
        a[2] = 0.5 * m;
        a[3] = T[0] / 6.0;
        a[4] = (T[1] - T[0]) / 12.0 / h;
        a[5] = (T[0] - 2.0 * T[1] + T[2]) / 60.0 / h / h;

        // overwritten by its own interval, except for the last knot
        next[0] = p->y[i + 1];
        next[1] = a[1] + h * m + h * h * (3.0 * T[0] + 2.0 * T[1] + T[2]) / 12.0;
        next[2] = 0.5 * (m + gain);
    }
}

// Left of all knots the curve continues with the first `kept` coefficients it has at x[0].
static void fill_left(const piecewise *f, int kept)
{
    memcpy(f->a, row_after(f, 0), (size_t)kept * sizeof *f->a);
}

// ---- creation

tal_status tali_function_check_knots(const tali_function_call *call, const double x[],
                                     const double y[], int count, int least)
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
            "the curve overflows after x[%d] = %g: points are too close together or values too far apart",
            knot, at);
    }
    const tal_function_def def = {ops, f, 1, TAL_FUNCTION_MAX_ORDER, NULL, 0};
    return tali_function_finish(call, &def);
}

static knots measure(const double x[], const double y[], int count)
{
    const double length = x[count - 1] - x[0];
    return (knots){x, y, count, (y[count - 1] - y[0]) / length};
}

// Find the unknowns at the knots and the coefficients of the pieces, with workspace for both.
static tal_status fit(const tali_function_call *call, const knots *p, tal_spline_end end,
                      const piecewise *f)
{
    const bool cubic = f->degree == 3;
    const int size = cubic ? p->count : p->count - 3, width = cubic ? 1 : 2;
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
        st =
            tali_fail(call->err, TAL_ERR_BAD_VALUE, call->where,
                      "the curve overflows: points are too close together or values too far apart");
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
    if (st == TAL_OK) st = tali_function_check_knots(&call, x, y, count, 2);
    if (st != TAL_OK) return st;

    piecewise *f = piecewise_create(&call, x, count, 1);
    if (f == NULL) return TAL_ERR_NO_MEMORY;
    const knots p = {x, y, count, 0.0};
    fill_linear(&p, f);
    fill_left(f, 2);
    return piecewise_finish(&call, &piecewise_linear_ops, f);
}

static tal_status create_spline(const tali_function_call *call, const tal_function_ops *ops,
                                const knots *p, int degree, tal_spline_end end)
{
    piecewise *f = piecewise_create(call, p->x, p->count, degree);
    if (f == NULL) return TAL_ERR_NO_MEMORY;
    f->end = end;
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
    if (st == TAL_OK) st = tali_function_check_knots(&call, x, y, count, 2);
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
    if (st == TAL_OK) st = tali_function_check_knots(&call, x, y, count, 3);
    if (st != TAL_OK) return st;
    const knots p = measure(x, y, count);
    return create_spline(&call, &quintic_spline_ops, &p, 5, TAL_SPLINE_NATURAL);
}

// ---- facts

bool tali_function_piecewise_facts(const tal_function_ops *ops, const void *self,
                                   tali_function_facts *facts)
{
    if (ops->calc_value != piecewise_value) return false;
    const piecewise *f = self;
    facts->list = f->x;
    facts->count = f->count;
    facts->stride = f->degree + 1;
    facts->y = f->a + facts->stride; // row k + 1 begins with the value at knot k
    facts->end = f->end;
    return true;
}
