// Cholesky factorization within an envelope.
#include "constraint_envelope.h"

#include <math.h>

// L_ij = (A_ij - sum_k L_ik L_jk) / L_jj
void tali_envelope_factor_row(double entries[], tali_envelope_row rows[], int i, double least_pivot,
                              double no_effect)
{
    tali_envelope_row *row = &rows[i];
    double *L = entries + row->entries - row->start;
    const double diagonal = L[i];
    for (int j = row->start; j <= i; ++j) {
        const double *other = entries + rows[j].entries - rows[j].start;
        const int first = rows[j].start > row->start ? rows[j].start : row->start;
        const double rest = L[j] - tali_dot(L + first, other + first, j - first);
        if (j < i) {
            L[j] = other[j] > 0.0 ? rest / other[j] : 0.0;
            continue;
        }
        row->fate = diagonal <= no_effect            ? TAL_ROW_WITHOUT_EFFECT
                    : rest <= least_pivot * diagonal ? TAL_ROW_REDUNDANT
                                                     : TAL_ROW_GOOD;
        L[i] = row->fate == TAL_ROW_GOOD ? sqrt(rest) : 0.0;
    }
}

void tali_envelope_solve(const double entries[], const tali_envelope_row rows[], int n, double x[])
{
    for (int i = 0; i < n; ++i) {
        const int start = rows[i].start;
        const double *L = entries + rows[i].entries - start;
        const double rest = x[i] - tali_dot(L + start, x + start, i - start);
        x[i] = L[i] > 0.0 ? rest / L[i] : 0.0;
    }
    for (int i = n - 1; i >= 0; --i) {
        const double *L = entries + rows[i].entries - rows[i].start;
        x[i] = L[i] > 0.0 ? x[i] / L[i] : 0.0;
        for (int j = rows[i].start; j < i; ++j) {
            x[j] -= L[j] * x[i];
        }
    }
}
