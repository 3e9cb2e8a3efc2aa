// Cholesky factorization within an envelope: rows of a symmetric matrix, each from its first entry
// that may not be zero to its diagonal. Nothing outside the envelope is ever filled in.
#ifndef TALUS_CONSTRAINT_ENVELOPE_H
#define TALUS_CONSTRAINT_ENVELOPE_H

#include <talus/matter/constraint_operators.h>

/// One row.
typedef struct tali_envelope_row {
    int32_t start;  ///< its first column
    int32_t fate;   ///< tal_row_fate
    size_t entries; ///< where its entries begin
} tali_envelope_row;

/// a . b
static inline double tali_dot(const double a[], const double b[], int n)
{
    double sum[4] = {0.0, 0.0, 0.0, 0.0}; // none waits for the one before
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        sum[0] += a[i] * b[i];
        sum[1] += a[i + 1] * b[i + 1];
        sum[2] += a[i + 2] * b[i + 2];
        sum[3] += a[i + 3] * b[i + 3];
    }
    for (; i < n; ++i) {
        sum[0] += a[i] * b[i];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/**
 * Factor row `i`, which holds entries of the matrix, in place; those before it are factored.
 *
 * @param[in] least_pivot  a pivot below this share of its diagonal entry makes the row redundant:
 *                         its pivot becomes zero
 * @param[in] no_effect    a diagonal entry that is not larger makes it one without effect: the same
 */
void tali_envelope_factor_row(double entries[], tali_envelope_row rows[], int i, double least_pivot,
                              double no_effect);

/// A x = b in place. Unknowns of rows whose pivot is zero become zero.
void tali_envelope_solve(const double entries[], const tali_envelope_row rows[], int n, double x[]);

#endif // TALUS_CONSTRAINT_ENVELOPE_H
