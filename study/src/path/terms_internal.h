// The terms of a polynomial of several arguments, as a basis for least squares.
#ifndef TALUS_FIT_TERMS_INTERNAL_H
#define TALUS_FIT_TERMS_INTERNAL_H

/// How many terms a polynomial of n arguments has up to a degree; INT_MAX where that is more.
int tali_fit_num_terms(int n, int degree);

/// Their powers, the constant first.
/// @param[out] powers  [tali_fit_num_terms()][n]
void tali_fit_list_terms(int n, int degree, int powers[]);

/// All terms at x; or their slopes along argument `by`, if that is not below zero. `stride` apart.
void tali_fit_calc_terms(const int powers[], int count, int n, const double x[], int by,
                         double terms[], int stride);

/// From coefficients for x = (q - center) / half to those for q.
/// @param[in,out] c     [count]
/// @param[out]    room  [count]
void tali_fit_unscale(const int powers[], int count, int n, const double center[],
                      const double half[], double c[], double room[]);

#endif // TALUS_FIT_TERMS_INTERNAL_H
