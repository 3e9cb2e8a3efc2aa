// Cholesky factorization within an envelope: rows of a symmetric matrix, each from its first entry
// that may not be zero to its diagonal. Nothing outside the envelope is ever filled in.
//
// A row that repeats others, or has no effect, gets no pivot. What is in the factor below a pivot
// is a column; rows without pivots have none. So the factor of a matrix of n rows and rank r is n
// by r, and a thousand copies of a row take one entry each.
#ifndef TALUS_CONSTRAINT_ENVELOPE_H
#define TALUS_CONSTRAINT_ENVELOPE_H

#include <talus/matter/constraint_operators.h>

#include <float.h>
#include <stdbool.h>
#include <stddef.h>

/// Round-off of a pivot as a share of its diagonal entry: entries and sums of products.
#define TALI_GROWTH (16.0 * DBL_EPSILON)

/// One row.
typedef struct tali_envelope_row {
    int32_t start;  ///< its first column
    int32_t column; ///< pivots before it; if it has one itself, that is in this column
    int32_t fate;   ///< tal_row_fate
    size_t entries; ///< where its entries begin: those of the columns before, then its pivot
    double share;   ///< of its diagonal entry that its pivot is
    double limit;   ///< share up to which it counted as redundant
} tali_envelope_row;

/// Where a column has its pivot.
typedef struct tali_envelope_column {
    int32_t constraint, r; ///< row r of this constraint
    int32_t row;           ///< of the matrix
} tali_envelope_column;

/// a . b
static inline double tali_constraint_dot(const double a[], const double b[], int n)
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

/// Reduce row `i`, which holds entries of the matrix, in place; those before it are factored. Sets
/// its share, and returns its diagonal entry. Its pivot is left to be accepted.
double tali_envelope_reduce_row(double entries[], tali_envelope_row rows[],
                                const tali_envelope_column columns[], int i);

/// The pivot of a reduced row that is good becomes that of the factor, any other zero. True when it
/// is good: it has a column then.
bool tali_envelope_accept_row(double entries[], tali_envelope_row rows[], int i, tal_row_fate fate);

/// What round-off of the rows before it can make of the share of a reduced row.
double tali_envelope_growth(const double entries[], const tali_envelope_row rows[],
                            const tali_envelope_column columns[], int i, double diagonal);

/// A x = b in place. Unknowns of rows without pivots become zero.
void tali_envelope_solve(const double entries[], const tali_envelope_row rows[], int n, double x[]);

/// A factored envelope with redundant rows. S are weights of rows: the matrix is S A S.
typedef struct tali_envelope {
    const double *entries;
    const tali_envelope_row *rows;
    int n;
    const double *S; ///< [n]; NULL: all are one
} tali_envelope;

/// Doubles of work that tali_envelope_to_range() needs for n rows.
static inline size_t tali_envelope_work_size(int n)
{
    return 6 * (size_t)n;
}

/**
 * x [n] becomes its part in the range of S A S, which is normal to its null space. False when the
 * iteration does not converge.
 */
bool tali_envelope_to_range(const tali_envelope *e, double x[], double work[]);

#endif // TALUS_CONSTRAINT_ENVELOPE_H
