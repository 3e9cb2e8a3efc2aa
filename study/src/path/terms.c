// The terms of a polynomial of several arguments, as a basis for least squares.
#include "path/terms_internal.h"

#include <talus/common/function.h>

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

// (n + degree)! / (n! degree!), one factor after the other: each result is a whole number.
int tali_fit_num_terms(int n, int degree)
{
    double num = 1.0;
    for (int k = 1; k <= degree; ++k) {
        num = num * (n + k) / k;
        if (num > INT_MAX) return INT_MAX;
    }
    return (int)(num + 0.5);
}

// The next powers of the same degree; false behind the last ones. The first power gives one to the
// next argument, and the rest of it moves to the front.
static bool next_powers(int n, int p[])
{
    int i = 0;
    while (i < n - 1 && p[i] == 0) {
        ++i;
    }
    if (i == n - 1) return false;
    const int rest = p[i] - 1;
    p[i] = 0;
    p[0] = rest;
    p[i + 1] += 1;
    return true;
}

void tali_fit_list_terms(int n, int degree, int powers[])
{
    int p[TAL_FUNCTION_MAX_ARGS];
    for (int d = 0; d <= degree; ++d) {
        memset(p, 0, sizeof p);
        p[0] = d;
        do {
            memcpy(powers, p, (size_t)n * sizeof *p);
            powers += n;
        } while (next_powers(n, p));
    }
}

static double power(double x, int p)
{
    double value = 1.0;
    for (int k = 0; k < p; ++k) {
        value *= x;
    }
    return value;
}

void tali_fit_calc_terms(const int powers[], int count, int n, const double x[], int by,
                         double terms[], int stride)
{
    for (int k = 0; k < count; ++k) {
        const int *p = powers + (size_t)k * (size_t)n;
        double term = 1.0;
        for (int i = 0; i < n; ++i) {
            const bool is_slope = i == by && p[i] > 0;
            if (i == by && p[i] == 0) term = 0.0;
            term *= is_slope ? p[i] * power(x[i], p[i] - 1) : power(x[i], p[i]);
        }
        terms[(size_t)k * (size_t)stride] = term;
    }
}

// The term that has the power `p` of argument i, and the others of term k. There is one: with a
// term, all those of lower powers are in the list.
static int lower_term(const int powers[], int n, int k, int i, int p)
{
    const int *exponents = powers + (size_t)k * (size_t)n;
    for (int at = 0; at < k; ++at) {
        const int *other = powers + (size_t)at * (size_t)n;
        bool is_it = other[i] == p;
        for (int j = 0; j < n && is_it; ++j) {
            is_it = j == i || other[j] == exponents[j];
        }
        if (is_it) return at;
    }
    return k;
}

// x^p = sum over j of binomial(p, j) (q / half)^j (-center / half)^(p - j), for one argument.
static void unscale_one(const int powers[], int count, int n, int i, double center, double half,
                        const double c[], double out[])
{
    memset(out, 0, (size_t)count * sizeof *out);
    for (int k = 0; k < count; ++k) {
        const int p = powers[(size_t)k * (size_t)n + (size_t)i];
        double binomial = 1.0; // of p over j, from j = p down
        for (int j = p; j >= 0; --j) {
            const double part = power(1.0 / half, j) * power(-center / half, p - j);
            out[lower_term(powers, n, k, i, j)] += c[k] * binomial * part;
            binomial = binomial * j / (p - j + 1);
        }
    }
}

void tali_fit_unscale(const int powers[], int count, int n, const double center[],
                      const double half[], double c[], double room[])
{
    for (int i = 0; i < n; ++i) {
        unscale_one(powers, count, n, i, center[i], half[i], c, room);
        memcpy(c, room, (size_t)count * sizeof *c);
    }
}
