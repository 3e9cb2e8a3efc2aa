// Factorizations and products with branch-induced sparsity.
//
//   quantity                    RBDA tab. 6.3 to 6.5      here
//   parent of a speed           lambda(i), 0 for none     lambda[i], -1 for none
//   entry of L, i outboard      L_ij                      column i, row j: L^T is stored
//
// Loops over ancestors run along one column, from the diagonal up.
#include "operator/operators_internal.h"

#include <math.h>

// --- the expanded parent array ---

// The outermost speed on the path from a body to Ground, the body's own included.
static int last_speed(const tali_tree *tree, int b)
{
    while (b > 0 && tree->nu[b] == 0) {
        b = tree->parent[b];
    }
    return b > 0 ? tree->u0[b] + tree->nu[b] - 1 : -1;
}

tal_status tal_matter_calc_lambda(const tal_matter *matter, int lambda[])
{
    if (matter == NULL) return TALI_BREACH(TAL_ERR_NULL, "matter is NULL");
    if (!tal_system_has_topology(matter->system)) {
        return TALI_BREACH(TAL_ERR_TOPOLOGY, "realize the topology first");
    }
    const tali_tree *tree = &matter->tree;
    if (tree->num_u == 0) return TAL_OK;
    if (lambda == NULL) return TALI_BREACH(TAL_ERR_NULL, "lambda is NULL");
    for (int b = 1; b < tree->num_bodies; ++b) {
        const int u0 = tree->u0[b];
        for (int j = 0; j < tree->nu[b]; ++j) {
            lambda[u0 + j] = j > 0 ? u0 + j - 1 : last_speed(tree, tree->parent[b]);
        }
    }
    return TAL_OK;
}

static tal_status check_lambda(const int lambda[], tal_matrix H, const char *where)
{
    const tal_status st = tali_op_matrix("H", H, H.rows, H.rows, where);
    if (st != TAL_OK) return st;
    if (lambda == NULL && H.rows > 0) return tali_breach(TAL_ERR_NULL, where, "lambda is NULL");
    for (int i = 0; i < H.rows; ++i) {
        if (lambda[i] >= -1 && lambda[i] < i) continue;
        return tali_breach(
            TAL_ERR_BAD_INDEX, where,
            "lambda[%d] is %d: a parent comes before its child, and -1 means no parent", i,
            lambda[i]);
    }
    return TAL_OK;
}

// --- factoring ---

static tal_status bad_pivot(tal_error *err, int k, double pivot, const char *where)
{
    const tal_status st = isfinite(pivot) ? TAL_ERR_SINGULAR : TAL_ERR_NOT_FINITE;
    return tali_fail(err, st, where, "pivot %d is %g: H is not positive definite", k, pivot);
}

// Row k of L is known; take its part from the rows inboard: H_ij -= scale(i) h_j.
static inline void eliminate(const int lambda[], tal_matrix H, int i, double factor,
                             const double column_k[])
{
    double *column_i = tali_op_column(H, i);
    for (int j = i; j >= 0; j = lambda[j]) {
        column_i[j] -= factor * column_k[j];
    }
}

tal_status tal_tree_factor_LTL(const int lambda[], tal_matrix H, tal_error *err)
{
    const tal_status st = check_lambda(lambda, H, __func__);
    if (st != TAL_OK) return st;
    for (int k = H.rows - 1; k >= 0; --k) {
        double *column = tali_op_column(H, k);
        if (!(column[k] > 0.0) || !isfinite(column[k])) {
            return bad_pivot(err, k, column[k], __func__);
        }
        column[k] = sqrt(column[k]);
        for (int i = lambda[k]; i >= 0; i = lambda[i]) {
            column[i] /= column[k];
        }
        for (int i = lambda[k]; i >= 0; i = lambda[i]) {
            eliminate(lambda, H, i, column[i], column);
        }
    }
    return TAL_OK;
}

// From the nearest ancestor to the farthest: those not met yet are still unscaled when they are
// used.
tal_status tal_tree_factor_LTDL(const int lambda[], tal_matrix H, tal_error *err)
{
    const tal_status st = check_lambda(lambda, H, __func__);
    if (st != TAL_OK) return st;
    for (int k = H.rows - 1; k >= 0; --k) {
        double *column = tali_op_column(H, k);
        if (!(column[k] > 0.0) || !isfinite(column[k])) {
            return bad_pivot(err, k, column[k], __func__);
        }
        for (int i = lambda[k]; i >= 0; i = lambda[i]) {
            const double factor = column[i] / column[k];
            eliminate(lambda, H, i, factor, column);
            column[i] = factor;
        }
    }
    return TAL_OK;
}

// --- products and back-substitution, one vector ---

static void mul_L(const int lambda[], tal_matrix L, bool unit, double x[])
{
    for (int i = L.rows - 1; i >= 0; --i) {
        const double *row = tali_op_column(L, i);
        double sum = unit ? x[i] : row[i] * x[i];
        for (int j = lambda[i]; j >= 0; j = lambda[j]) {
            sum += row[j] * x[j];
        }
        x[i] = sum;
    }
}

static void mul_LT(const int lambda[], tal_matrix L, bool unit, double x[])
{
    for (int i = 0; i < L.rows; ++i) {
        const double *row = tali_op_column(L, i);
        const double x_i = x[i];
        if (!unit) x[i] *= row[i];
        for (int j = lambda[i]; j >= 0; j = lambda[j]) {
            x[j] += row[j] * x_i;
        }
    }
}

static void solve_L(const int lambda[], tal_matrix L, bool unit, double x[])
{
    for (int i = 0; i < L.rows; ++i) {
        const double *row = tali_op_column(L, i);
        double sum = x[i];
        for (int j = lambda[i]; j >= 0; j = lambda[j]) {
            sum -= row[j] * x[j];
        }
        x[i] = unit ? sum : sum / row[i];
    }
}

static void solve_LT(const int lambda[], tal_matrix L, bool unit, double x[])
{
    for (int i = L.rows - 1; i >= 0; --i) {
        const double *row = tali_op_column(L, i);
        if (!unit) x[i] /= row[i];
        for (int j = lambda[i]; j >= 0; j = lambda[j]) {
            x[j] -= row[j] * x[i];
        }
    }
}

// --- entry points ---

tal_status tal_tree_apply(const int lambda[], tal_matrix L, bool unit, tal_tree_op op, tal_matrix X)
{
    tal_status st = check_lambda(lambda, L, __func__);
    if (st == TAL_OK) st = tali_op_matrix("X", X, L.rows, X.cols, __func__);
    if (st != TAL_OK) return st;
    for (int c = 0; c < X.cols; ++c) {
        switch (op) {
        case TAL_TREE_L:
            mul_L(lambda, L, unit, tali_op_column(X, c));
            break;
        case TAL_TREE_LT:
            mul_LT(lambda, L, unit, tali_op_column(X, c));
            break;
        case TAL_TREE_L_INVERSE:
            solve_L(lambda, L, unit, tali_op_column(X, c));
            break;
        case TAL_TREE_LT_INVERSE:
            solve_LT(lambda, L, unit, tali_op_column(X, c));
            break;
        }
    }
    return TAL_OK;
}

tal_status tal_tree_solve_LTL(const int lambda[], tal_matrix L, tal_matrix B)
{
    tal_status st = check_lambda(lambda, L, __func__);
    if (st == TAL_OK) st = tali_op_matrix("B", B, L.rows, B.cols, __func__);
    for (int c = 0; c < B.cols && st == TAL_OK; ++c) {
        solve_LT(lambda, L, false, tali_op_column(B, c));
        solve_L(lambda, L, false, tali_op_column(B, c));
    }
    return st;
}

tal_status tal_tree_solve_LTDL(const int lambda[], tal_matrix L, tal_matrix B)
{
    tal_status st = check_lambda(lambda, L, __func__);
    if (st == TAL_OK) st = tali_op_matrix("B", B, L.rows, B.cols, __func__);
    for (int c = 0; c < B.cols && st == TAL_OK; ++c) {
        double *x = tali_op_column(B, c);
        solve_LT(lambda, L, true, x);
        for (int i = 0; i < L.rows; ++i) {
            x[i] /= tali_op_column(L, i)[i];
        }
        solve_L(lambda, L, true, x);
    }
    return st;
}

tal_status tal_tree_mul_H(const int lambda[], tal_matrix H, tal_matrix X, tal_matrix Y)
{
    tal_status st = check_lambda(lambda, H, __func__);
    if (st == TAL_OK) st = tali_op_matrix("X", X, H.rows, X.cols, __func__);
    if (st == TAL_OK) st = tali_op_matrix("Y", Y, H.rows, X.cols, __func__);
    for (int c = 0; c < X.cols && st == TAL_OK; ++c) {
        const double *x = tali_op_column(X, c);
        double *y = tali_op_column(Y, c);
        for (int i = 0; i < H.rows; ++i) {
            const double *row = tali_op_column(H, i);
            y[i] = row[i] * x[i];
            for (int j = lambda[i]; j >= 0; j = lambda[j]) {
                y[i] += row[j] * x[j];
                y[j] += row[j] * x[i];
            }
        }
    }
    return st;
}
