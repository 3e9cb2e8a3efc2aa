// Dense ways of solving the constrained equations of motion, and inverse dynamics with constraints.
//
//   quantity                       RBDA            here
//   loop Jacobian                  K               G
//   basis of allowed motions       G               K, orthonormal
//   a solution of G k = b          g               k
#include "constraint_internal.h"
#include "operators_internal.h"

#include <float.h>

/// The caller's memory, handed out piece by piece.
typedef struct room {
    double *next;
    int *iwork;
    int n, m; ///< speeds and rows
} room;

static tal_matrix take(room *r, int rows, int cols)
{
    const tal_matrix A = tal_matrix_view(r->next, rows, cols);
    r->next += (size_t)rows * (size_t)cols;
    return A;
}

static size_t most_cod_work(int n, int m)
{
    const size_t tall = tal_cod_work_size(n, m), wide = tal_cod_work_size(m, n);
    const size_t all = tal_cod_work_size(n + m, n + m);
    const size_t most = tall > wide ? tall : wide;
    return most > all ? most : all;
}

size_t tal_matter_dense_work_size(const tal_matter *matter, const tal_state *state)
{
    const int m = tali_num_rows(matter, state);
    if (m < 0) return 0;
    const int n = matter->tree.num_u;
    const size_t s = (size_t)n + (size_t)m, square = (size_t)n * (size_t)n;
    return s * s + 4 * square + 2 * (size_t)n * (size_t)m + 6 * s + 2 * most_cod_work(n, m);
}

size_t tal_matter_dense_iwork_size(const tal_matter *matter, const tal_state *state)
{
    const int m = tali_num_rows(matter, state);
    if (m < 0) return 0;
    const int s = matter->tree.num_u + m;
    return tal_cod_iwork_size(s, s) + 2 * (size_t)s;
}

// The door of all of these. View and rows of G are seen on the way.
static tal_status open_room(const tal_matter *matter, tal_state *state, double work[], int iwork[],
                            const char *where, room *r)
{
    tali_view view;
    tal_status st = tali_op_view(matter, state, TALI_VELOCITY, &view, where);
    if (st == TAL_OK) st = tali_op_array("work", work, where);
    if (st == TAL_OK) st = tali_op_array("iwork", iwork, where);
    if (st != TAL_OK) return st;
    for (int u = 0; u < view.tree->num_u; ++u) {
        if (view.level[u] == TAL_LEVEL_FREE) continue;
        return tal_state_fail(state, TAL_ERR_BAD_VALUE,
                              "speed %d is prescribed or locked: the dense ways of solving want "
                              "all of them free",
                              u);
    }
    *r = (room){work, iwork, view.tree->num_u, tali_num_rows(matter, state)};
    return TAL_OK;
}

static tal_status explain(tal_state *state, tal_status st, const tal_error *why)
{
    return st == TAL_OK ? st : tal_state_fail(state, st, "%s", why->message);
}

static tal_status factor(tal_state *state, room *r, tal_matrix A, tal_cod *cod)
{
    tal_error why = {TAL_OK, "", ""};
    double *work = r->next;
    r->next += tal_cod_work_size(A.rows, A.cols);
    const double tolerance = (double)(r->n + r->m) * DBL_EPSILON;
    return explain(state, tal_cod_factor(cod, A, tolerance, work, r->iwork, &why), &why);
}

static tal_status pseudo_solve(tal_state *state, tal_cod *cod, tal_matrix B, tal_matrix X)
{
    tal_error why = {TAL_OK, "", ""};
    return explain(state, tal_cod_solve(cod, B, X, &why), &why);
}

// y += scale A x, or A^T x.
static void add_product(double scale, tal_matrix A, bool transpose, const double x[], double y[])
{
    for (int j = 0; j < A.cols; ++j) {
        const double *column = tali_column(A, j);
        double sum = 0.0;
        for (int i = 0; i < A.rows; ++i) {
            if (transpose) sum += column[i] * x[i];
            if (!transpose) y[i] += scale * column[i] * x[j];
        }
        if (transpose) y[j] += scale * sum;
    }
}

static tal_matrix transpose_of(room *r, tal_matrix A)
{
    const tal_matrix T = take(r, A.cols, A.rows);
    for (int j = 0; j < A.cols; ++j) {
        for (int i = 0; i < A.rows; ++i) {
            tali_column(T, i)[j] = tali_column(A, j)[i];
        }
    }
    return T;
}

// lambda = (G^T)^+ f: the multipliers whose forces come nearest to f, of least sum of squares.
static tal_status nearest_multipliers(tal_state *state, room r, tal_matrix G, const double f[],
                                      double lambda[])
{
    const int most = r.n > r.m ? r.n : r.m;
    tal_cod cod;
    const tal_matrix GT = transpose_of(&r, G);
    double *x = take(&r, most, 1).data;
    memcpy(x, f, (size_t)r.n * sizeof *x);
    tal_status st = factor(state, &r, GT, &cod);
    const tal_matrix B = {x, r.n, 1, most}, X = {x, r.m, 1, most};
    if (st == TAL_OK) st = pseudo_solve(state, &cod, B, X);
    if (st == TAL_OK && r.m > 0) memcpy(lambda, x, (size_t)r.m * sizeof *x);
    return st;
}

// --- three ways ---

// [M G^T; G 0] [udot; lambda] = [f; b]        RBDA eq. 8.36
static tal_status solve_kkt(const tal_matter *matter, tal_state *state, room r, const double f[],
                            double udot[], double lambda[])
{
    const int s = r.n + r.m;
    const tal_matrix A = take(&r, s, s), x = take(&r, s, 1);
    memset(A.data, 0, (size_t)s * (size_t)s * sizeof(double));
    const tal_matrix M = {A.data, r.n, r.n, s > 0 ? s : 1};
    const tal_matrix G = {A.data + r.n, r.m, r.n, s > 0 ? s : 1};
    tal_status st = tal_matter_calc_M(matter, state, M);
    if (st == TAL_OK) st = tal_matter_calc_G(matter, state, TAL_G, G);
    if (st == TAL_OK) st = tal_matter_calc_constraint_bias(matter, state, x.data + r.n);
    for (int j = 0; j < r.n; ++j) {
        for (int i = 0; i < r.m; ++i) {
            tali_column(A, r.n + i)[j] = tali_column(G, j)[i];
        }
        x.data[j] = f[j];
    }
    tal_cod cod;
    if (st == TAL_OK) st = factor(state, &r, A, &cod);
    if (st == TAL_OK) st = pseudo_solve(state, &cod, x, x);
    for (int j = 0; j < r.n && st == TAL_OK; ++j) {
        udot[j] = x.data[j];
    }
    for (int i = 0; i < r.m && st == TAL_OK && lambda != NULL; ++i) {
        lambda[i] = x.data[r.n + i];
    }
    return st;
}

// W lambda = G M^-1 f - b, then udot = M^-1 (f - G^T lambda)        RBDA eq. 8.37
static tal_status solve_multipliers(const tal_matter *matter, tal_state *state, room r,
                                    const double f[], double udot[], double lambda[])
{
    double *aerr = take(&r, r.m, 1).data, *left = take(&r, r.n, 1).data;
    double *found = take(&r, r.m, 1).data;
    tal_status st = tal_matter_mul_Minv(matter, state, f, udot);
    if (st == TAL_OK) st = tal_matter_calc_constraint_aerr(matter, state, udot, aerr);
    if (st == TAL_OK) st = tal_matter_calc_multipliers(matter, state, aerr, found);
    if (st == TAL_OK) st = tal_matter_mul_GT(matter, state, TAL_G, found, left);
    for (int j = 0; j < r.n; ++j) {
        left[j] = f[j] - left[j];
    }
    if (st == TAL_OK) st = tal_matter_mul_Minv(matter, state, left, udot);
    if (st == TAL_OK && lambda != NULL && r.m > 0) {
        memcpy(lambda, found, (size_t)r.m * sizeof *lambda);
    }
    return st;
}

// Factors G (which it overwrites) and gives K, n x dof.
static tal_status null_basis(tal_state *state, room *r, tal_matrix G, tal_cod *cod, tal_matrix *K)
{
    const tal_status st = factor(state, r, G, cod);
    if (st != TAL_OK) return st;
    *K = take(r, r->n, r->n - cod->rank);
    return tal_cod_calc_null_basis(cod, *K);
}

// (K^T M K) y = K^T (f - M k), in place: udot = K y + k        RBDA eq. 8.46
static tal_status solve_reduced(const tal_matter *matter, tal_state *state, room r, tal_matrix K,
                                const double f[], const double k[], double udot[])
{
    const int dof = K.cols;
    const tal_matrix MK = take(&r, r.n, dof), A = take(&r, dof, dof), y = take(&r, dof, 1);
    double *left = take(&r, r.n, 1).data;
    tal_status st = tal_matter_mul_M_columns(matter, state, K, MK);
    if (st == TAL_OK) st = tal_matter_mul_M(matter, state, k, left);
    if (st != TAL_OK) return st;
    for (int j = 0; j < r.n; ++j) {
        left[j] = f[j] - left[j];
        udot[j] = k[j];
    }
    for (int j = 0; j < dof; ++j) {
        double *column = tali_column(A, j);
        memset(column, 0, (size_t)dof * sizeof *column);
        add_product(1.0, K, true, tali_column(MK, j), column);
        y.data[j] = 0.0;
    }
    add_product(1.0, K, true, left, y.data);
    tal_error why = {TAL_OK, "", ""};
    st = tal_chol_factor(A, NULL, &why);
    if (st == TAL_OK) st = tal_chol_solve(A, y, &why);
    if (st == TAL_OK) add_product(1.0, K, false, y.data, udot);
    return explain(state, st, &why);
}

static tal_status solve_null_space(const tal_matter *matter, tal_state *state, room r,
                                   const double f[], double udot[], double lambda[])
{
    const int most = r.n > r.m ? r.n : r.m;
    const tal_matrix G = take(&r, r.m, r.n);
    double *k = take(&r, most, 1).data;
    tal_matrix K;
    tal_cod cod;
    tal_status st = tal_matter_calc_G(matter, state, TAL_G, G);
    if (st == TAL_OK) st = tal_matter_calc_constraint_bias(matter, state, k);
    if (st == TAL_OK) st = null_basis(state, &r, G, &cod, &K);
    const tal_matrix B = {k, r.m, 1, most}, X = {k, r.n, 1, most};
    if (st == TAL_OK) st = pseudo_solve(state, &cod, B, X);
    if (st == TAL_OK) st = solve_reduced(matter, state, r, K, f, k, udot);
    if (st != TAL_OK || lambda == NULL) return st;
    // G^T lambda = f - M udot
    st = tal_matter_calc_G(matter, state, TAL_G, G);
    if (st == TAL_OK) st = tal_matter_mul_M(matter, state, udot, k);
    for (int j = 0; j < r.n; ++j) {
        k[j] = f[j] - k[j];
    }
    return st == TAL_OK ? nearest_multipliers(state, r, G, k, lambda) : st;
}

// Two parameters are memory. NOLINTNEXTLINE(readability-function-size)
tal_status tal_matter_solve_constrained(const tal_matter *matter, tal_state *state,
                                        tal_solve_way way, const tal_spatial_vec F_GB[],
                                        const double f[], double udot[], double lambda[],
                                        double work[], int iwork[])
{
    room r;
    tal_status st = open_room(matter, state, work, iwork, __func__, &r);
    if (st == TAL_OK) st = tali_op_array("udot", udot, __func__);
    if (st != TAL_OK) return st;
    double *f_tree = take(&r, r.n, 1).data;
    st = tal_matter_calc_tree_forces(matter, state, F_GB, f, f_tree);
    if (st != TAL_OK) return st;
    switch (way) {
    case TAL_SOLVE_KKT:
        return solve_kkt(matter, state, r, f_tree, udot, lambda);
    case TAL_SOLVE_MULTIPLIERS:
        return solve_multipliers(matter, state, r, f_tree, udot, lambda);
    case TAL_SOLVE_NULL_SPACE:
        return solve_null_space(matter, state, r, f_tree, udot, lambda);
    }
    return TALI_BREACH(TAL_ERR_BAD_VALUE, "there is no way %d of solving", (int)way);
}

tal_status tal_matter_calc_null_basis(const tal_matter *matter, tal_state *state, tal_matrix K,
                                      int *dof, double work[], int iwork[])
{
    room r;
    tal_status st = open_room(matter, state, work, iwork, __func__, &r);
    if (st == TAL_OK) st = tali_op_matrix("K", K, r.n, r.n, __func__);
    if (st == TAL_OK) st = tali_op_array("dof", dof, __func__);
    if (st != TAL_OK) return st;
    const tal_matrix G = take(&r, r.m, r.n);
    tal_matrix basis;
    tal_cod cod;
    st = tal_matter_calc_G(matter, state, TAL_G, G);
    if (st == TAL_OK) st = null_basis(state, &r, G, &cod, &basis);
    if (st != TAL_OK) return st;
    *dof = basis.cols;
    for (int j = 0; j < r.n; ++j) {
        for (int i = 0; i < r.n; ++i) {
            tali_column(K, j)[i] = j < basis.cols ? tali_column(basis, j)[i] : 0.0;
        }
    }
    return TAL_OK;
}

// --- inverse dynamics ---

// Two parameters are memory. NOLINTNEXTLINE(readability-function-size)
tal_status tal_matter_constrained_inverse_dynamics(const tal_matter *matter, tal_state *state,
                                                   const double udot[],
                                                   const tal_spatial_vec F_GB[], const double f[],
                                                   double lambda[], double f_needed[],
                                                   double work[], int iwork[])
{
    room r;
    tal_status st = open_room(matter, state, work, iwork, __func__, &r);
    if (st == TAL_OK && r.m > 0) st = tali_op_array("lambda", lambda, __func__);
    if (st == TAL_OK) st = tali_op_array("f_needed", f_needed, __func__);
    if (st != TAL_OK) return st;
    const tal_matrix G = take(&r, r.m, r.n);
    double *needed = take(&r, r.n, 1).data;
    st = tal_matter_inverse_dynamics(matter, state, udot, F_GB, f, needed);
    if (st == TAL_OK) st = tal_matter_calc_G(matter, state, TAL_G, G);
    if (st == TAL_OK) st = nearest_multipliers(state, r, G, needed, lambda);
    if (st != TAL_OK) return st;
    for (int i = 0; i < r.m; ++i) {
        lambda[i] = -lambda[i];
    }
    add_product(1.0, G, true, lambda, needed);
    memcpy(f_needed, needed, (size_t)r.n * sizeof *needed);
    return TAL_OK;
}

// K_a^T tau = K^T f_needed, with the rows of K that are actuated        RBDA eq. 8.63
static tal_status share_among_actuators(tal_state *state, room r, tal_matrix K,
                                        const double needed[], const bool actuated[], double tau[],
                                        tal_actuation *actuation)
{
    int count = 0;
    for (int j = 0; j < r.n; ++j) {
        count += actuated[j];
    }
    const int dof = K.cols, most = dof > count ? dof : count;
    const tal_matrix A = take(&r, dof, count);
    double *x = take(&r, most, 1).data;
    for (int j = 0, a = 0; j < r.n; ++j) {
        for (int i = 0; i < dof && actuated[j]; ++i) {
            tali_column(A, a)[i] = tali_column(K, i)[j];
        }
        a += actuated[j];
    }
    for (int i = 0; i < most; ++i) {
        x[i] = 0.0;
    }
    add_product(1.0, K, true, needed, x);
    tal_cod cod;
    tal_status st = factor(state, &r, A, &cod);
    const tal_matrix B = {x, dof, 1, most > 0 ? most : 1}, X = {x, count, 1, most > 0 ? most : 1};
    if (st == TAL_OK) st = pseudo_solve(state, &cod, B, X);
    if (st != TAL_OK) return st;
    for (int j = 0, a = 0; j < r.n; ++j) {
        tau[j] = actuated[j] ? x[a] : 0.0;
        a += actuated[j];
    }
    if (actuation != NULL) {
        *actuation = cod.rank < dof     ? TAL_ACTUATION_UNDER
                     : count > cod.rank ? TAL_ACTUATION_REDUNDANT
                                        : TAL_ACTUATION_PROPER;
    }
    return TAL_OK;
}

// Two parameters are memory. NOLINTNEXTLINE(readability-function-size)
tal_status tal_matter_actuator_forces(const tal_matter *matter, tal_state *state,
                                      const double udot[], const tal_spatial_vec F_GB[],
                                      const bool actuated[], double tau[], tal_actuation *actuation,
                                      double work[], int iwork[])
{
    room r;
    tal_status st = open_room(matter, state, work, iwork, __func__, &r);
    if (st == TAL_OK) st = tali_op_array("actuated", actuated, __func__);
    if (st == TAL_OK) st = tali_op_array("tau", tau, __func__);
    if (st != TAL_OK) return st;
    const tal_matrix G = take(&r, r.m, r.n);
    double *needed = take(&r, r.n, 1).data;
    tal_matrix K;
    tal_cod cod;
    st = tal_matter_inverse_dynamics(matter, state, udot, F_GB, NULL, needed);
    if (st == TAL_OK) st = tal_matter_calc_G(matter, state, TAL_G, G);
    if (st == TAL_OK) st = null_basis(state, &r, G, &cod, &K);
    return st == TAL_OK ? share_among_actuators(state, r, K, needed, actuated, tau, actuation) : st;
}
