// Roots of polynomials: eigenvalues of the companion matrix, polished.
#include "error_internal.h"
#include "finite_internal.h"

#include <talus/common/lapack.h>
#include <talus/common/polynomial.h>

#include <math.h>
#include <string.h>

enum {
    POLISHING = 4 // steps of Newton's method at most; one or two are usual
};

typedef struct complex_number {
    double re, im;
} complex_number;

size_t tal_polynomial_work_size(int degree)
{
    if (degree < 1) return 0;
    const size_t n = (size_t)degree;
    return n * n + n + 1 + (size_t)tal_lapack_eig_work_size(degree);
}

// p(x) and p'(x) by Horner's rule.
static complex_number value_at(const double c[], int n, complex_number x, complex_number *slope)
{
    complex_number p = {c[n], 0.0};
    *slope = (complex_number){0.0, 0.0};
    for (int k = n - 1; k >= 0; --k) {
        *slope = (complex_number){slope->re * x.re - slope->im * x.im + p.re,
                                  slope->re * x.im + slope->im * x.re + p.im};
        p = (complex_number){p.re * x.re - p.im * x.im + c[k], p.re * x.im + p.im * x.re};
    }
    return p;
}

// Newton's method while |p| becomes smaller. A real root stays real.
static complex_number polish(const double c[], int n, complex_number x)
{
    complex_number slope, p = value_at(c, n, x, &slope);
    for (int k = 0; k < POLISHING; ++k) {
        const double size2 = slope.re * slope.re + slope.im * slope.im;
        if (!(size2 > 0.0)) break;
        const complex_number next = {x.re - (p.re * slope.re + p.im * slope.im) / size2,
                                     x.im - (p.im * slope.re - p.re * slope.im) / size2};
        complex_number slope_there;
        const complex_number there = value_at(c, n, next, &slope_there);
        if (!(hypot(there.re, there.im) < hypot(p.re, p.im))) break;
        x = next;
        p = there;
        slope = slope_there;
    }
    return x;
}

// a[k] = c[k] s^k / (c[n] s^n), with s a power of two near |c[0] / c[n]|^(1/n): the product of the
// roots is then near one. The exponent of s.
static int scale(const double c[], int n, double a[])
{
    double whole = 0.0;
    if (c[0] != 0.0) whole = round((log2(fabs(c[0])) - log2(fabs(c[n]))) / n);
    const int exponent = (int)whole;
    for (int k = 0; k <= n; ++k) {
        a[k] = ldexp(c[k] / c[n], exponent * (k - n));
    }
    return exponent;
}

// The first row of the companion matrix has the coefficients, the line below the diagonal ones.
static tal_status find_eigenvalues(const double a[], int n, double re[], double im[], double work[],
                                   tal_error *err)
{
    const size_t size = (size_t)n;
    double *const C = work;
    memset(C, 0, size * size * sizeof *C);
    for (size_t j = 0; j < size; ++j) {
        C[j * size] = -a[size - 1 - j];
        if (j + 1 < size) C[j * size + j + 1] = 1.0;
    }
    const tal_matrix none = tal_matrix_view(NULL, 0, 0);
    const tal_eig eig = {re, im, none, none};
    return tal_lapack_eig(tal_matrix_view(C, n, n), &eig, work + size * size,
                          tal_lapack_eig_work_size(n), err);
}

static void sort(double re[], double im[], int n)
{
    for (int i = 1; i < n; ++i) {
        const double r = re[i], m = im[i];
        int k = i;
        for (; k > 0 && (re[k - 1] > r || (re[k - 1] == r && im[k - 1] > m)); --k) {
            re[k] = re[k - 1];
            im[k] = im[k - 1];
        }
        re[k] = r;
        im[k] = m;
    }
}

static tal_status check(const double c[], int degree, tal_error *err)
{
    if (degree < 1) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "a polynomial of degree %d has no roots", degree);
    }
    if (!tali_finite_all(c, degree + 1)) {
        return TALI_FAIL(err, TAL_ERR_NOT_FINITE, "a coefficient of the polynomial is not finite");
    }
    if (c[degree] != 0.0) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "the coefficient of x^%d is zero: the degree is less than %d", degree, degree);
}

// Real roots one by one, complex ones as pairs.
tal_status tal_polynomial_find_roots(const double c[], int degree, double re[], double im[],
                                     double work[], tal_error *err)
{
    if (c == NULL || re == NULL || im == NULL || work == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "'c', 're', 'im' or 'work' is NULL");
    }
    tal_status st = check(c, degree, err);
    if (st != TAL_OK) return st;
    double *const a = work;
    const int exponent = scale(c, degree, a);
    if (!tali_finite_all(a, degree + 1)) {
        return TALI_FAIL(err, TAL_ERR_NOT_FINITE, "the coefficients differ by too many powers");
    }
    st = find_eigenvalues(a, degree, re, im, work + degree + 1, err);
    for (int i = 0; i < degree && st == TAL_OK; ++i) {
        const complex_number root = polish(a, degree, (complex_number){re[i], im[i]});
        const bool is_pair = im[i] != 0.0 && i + 1 < degree;
        re[i] = ldexp(root.re, exponent);
        im[i] = ldexp(root.im, exponent);
        if (!is_pair) continue;
        re[i + 1] = re[i];
        im[i + 1] = -im[i];
        ++i;
    }
    if (st == TAL_OK) sort(re, im, degree);
    return st;
}
