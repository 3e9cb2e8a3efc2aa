// H = L^T L (RBDA tab. 6.3): row k of L is column k of the upper triangle, and holds 1 / L_kk on
// the diagonal.
//
//     L_kk = sqrt(H_kk)    L_kj = H_kj / L_kk    H_ij -= L_ki L_kj       j <= i < k
#include "sparse_tree_internal.h"

#include <math.h>

static double *column(const tali_sparse_tree *it, int k)
{
    return it->H + (size_t)it->n * (size_t)k;
}

static int *list_of(const tali_sparse_tree *it, int k)
{
    return it->list + (size_t)it->n * (size_t)k;
}

// Divides column k by its pivot, and lists where it has entries.
static void scale_column(const tali_sparse_tree *it, int k, double by)
{
    double *L = column(it, k);
    int *list = list_of(it, k), used = 0;
    for (int j = 0; j < k; ++j) {
        if (L[j] == 0.0) continue;
        L[j] *= by;
        list[used++] = j;
    }
    it->used[k] = used;
    L[k] = by;
}

bool tali_sparse_tree_factor(const tali_sparse_tree *it, int *pivot)
{
    for (int k = it->n - 1; k >= 0; --k) {
        const double *L = column(it, k);
        *pivot = k;
        if (!(L[k] > 0.0)) return false;
        scale_column(it, k, 1.0 / sqrt(L[k]));
        const int *list = list_of(it, k);
        for (int a = 0; a < it->used[k]; ++a) {
            double *H = column(it, list[a]);
            const double l = L[list[a]];
            for (int b = 0; b <= a; ++b) {
                H[list[b]] -= l * L[list[b]];
            }
        }
    }
    return true;
}

void tali_sparse_tree_solve(const tali_sparse_tree *it, double x[])
{
    for (int k = it->n - 1; k >= 0; --k) {
        const double *L = column(it, k);
        const int *list = list_of(it, k);
        x[k] *= L[k];
        for (int a = 0; a < it->used[k]; ++a) {
            x[list[a]] -= L[list[a]] * x[k];
        }
    }
    for (int k = 0; k < it->n; ++k) {
        const double *L = column(it, k);
        const int *list = list_of(it, k);
        double sum = x[k];
        for (int a = 0; a < it->used[k]; ++a) {
            sum -= L[list[a]] * x[list[a]];
        }
        x[k] = sum * L[k];
    }
}

void tali_sparse_tree_add_square(const tali_sparse_tree *it, const double A[], int m, double c)
{
    int *list = it->list; // room, as long as there are no factors
    for (int i = 0; i < m; ++i) {
        int used = 0;
        for (int j = 0; j < it->n; ++j) {
            if (A[(size_t)i + (size_t)m * (size_t)j] != 0.0) list[used++] = j;
        }
        for (int b = 0; b < used; ++b) {
            double *H = column(it, list[b]);
            const double by = c * A[(size_t)i + (size_t)m * (size_t)list[b]];
            for (int a = 0; a <= b; ++a) {
                H[list[a]] += by * A[(size_t)i + (size_t)m * (size_t)list[a]];
            }
        }
    }
}
