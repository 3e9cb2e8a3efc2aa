// Dense ways of solving the constrained equations of motion, and inverse dynamics with constraints.
//
//   quantity                       RBDA            here
//   loop Jacobian                  K               G
//   basis of allowed motions       G               K, orthonormal
//   a solution of G k = b          g               k
#include "constraint/constraint_matrices_internal.h"
#include "kernel/passes_internal.h"
#include "operator/op_dense_internal.h"
#include "prescribed/prescribed_internal.h"

#include <float.h>
#include <math.h>

static size_t most_cod_work(int n, int m)
{
    const size_t tall = tal_cod_work_size(n, m), wide = tal_cod_work_size(m, n);
    const size_t all = tal_cod_work_size(n + m, n + m);
    return tali_alloc_larger(tali_alloc_larger(tall, wide), all);
}

static size_t work_doubles(int n, int m)
{
    const size_t s = (size_t)n + (size_t)m, square = (size_t)n * (size_t)n;
    return 2 * s * s + 6 * square + 2 * (size_t)n * (size_t)m + 8 * s + 2 * most_cod_work(n, m);
}

static size_t work_ints(int n, int m)
{
    return tal_cod_iwork_size(n + m, n + m) + 2 * ((size_t)n + (size_t)m);
}

size_t tal_matter_dense_work_size(const tal_matter *matter, const tal_state *state)
{
    const int m = tali_constraint_num_rows(matter, state);
    return m >= 0 ? work_doubles(matter->tree.num_u, m) : 0;
}

size_t tal_matter_dense_iwork_size(const tal_matter *matter, const tal_state *state)
{
    const int m = tali_constraint_num_rows(matter, state);
    return m >= 0 ? work_ints(matter->tree.num_u, m) : 0;
}

// --- what all ways share ---

tal_status tali_op_dense_open(const tal_matter *matter, tal_state *state, double work[],
                              int iwork[], const char *where, tali_op_dense *d)
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_VELOCITY, &view, where);
    if (st == TAL_OK) st = tali_op_array("work", work, where);
    if (st == TAL_OK) st = tali_op_array("iwork", iwork, where);
    if (st != TAL_OK) return st;
    if (!tali_prescribed_see_known_udot(matter, state, &view)) {
        return tal_state_error(state)->status;
    }
    *d = (tali_op_dense){.next = work,
                         .iwork = iwork,
                         .n = tal_matter_num_free(matter, state),
                         .m = tali_constraint_num_rows(matter, state),
                         .nu = view.tree->num_u,
                         .level = view.level,
                         .known = view.udot_known};
    return TAL_OK;
}

tal_matrix tali_op_dense_take(tali_op_dense *d, int rows, int cols)
{
    const tal_matrix A = tal_matrix_view(d->next, rows, cols);
    d->next += (size_t)rows * (size_t)cols;
    return A;
}

static double *take_vector(tali_op_dense *d, int n)
{
    return tali_op_dense_take(d, n, 1).data;
}

static tal_status explain(tal_state *state, tal_status st, const tal_error *why)
{
    return st == TAL_OK ? st : tal_state_fail(state, st, "%s", why->message);
}

tal_status tali_op_dense_factor(tali_op_dense *d, tal_state *state, tal_matrix A, tal_cod *cod)
{
    tal_error why = {TAL_OK, "", ""};
    double *work = d->next;
    d->next += tal_cod_work_size(A.rows, A.cols);
    const double tolerance = (double)(d->nu + d->m) * DBL_EPSILON;
    return explain(state, tal_cod_factor(cod, A, tolerance, work, d->iwork, &why), &why);
}

tal_status tali_op_dense_solve(tal_state *state, tal_cod *cod, tal_matrix B, tal_matrix X)
{
    tal_error why = {TAL_OK, "", ""};
    return explain(state, tal_cod_solve(cod, B, X, &why), &why);
}

void tali_op_dense_add_product(double scale, tal_matrix A, bool transpose, const double x[],
                               double y[])
{
    for (int j = 0; j < A.cols; ++j) {
        const double *column = tali_op_column(A, j);
        double sum = 0.0;
        for (int i = 0; i < A.rows; ++i) {
            if (transpose) sum += column[i] * x[i];
            if (!transpose) y[i] += scale * column[i] * x[j];
        }
        if (transpose) y[j] += scale * sum;
    }
}

static bool is_free(const tali_op_dense *d, int j)
{
    return d->level[j] == TAL_LEVEL_FREE;
}

// The free ones of nu numbers, moved together. `to` may be `from`.
static void gather_free(const tali_op_dense *d, const double from[], double to[])
{
    for (int j = 0, k = 0; j < d->nu; ++j) {
        if (is_free(d, j)) to[k++] = from[j];
    }
}

// And back to their places, with zeros between them.
static void scatter(const tali_op_dense *d, const double from[], double to[])
{
    for (int j = d->nu - 1, k = d->n; j >= 0; --j) {
        to[j] = is_free(d, j) ? from[--k] : 0.0;
    }
}

static void add_known(const tali_op_dense *d, double udot[])
{
    for (int j = 0; j < d->nu && d->known != NULL; ++j) {
        udot[j] += d->known[j];
    }
}

tal_status tali_op_dense_forces(const tal_matter *matter, tal_state *state, const tali_op_dense *d,
                                const tal_spatial_vec F_GB[], const double f[], double f_left[])
{
    tal_status st = tal_matter_calc_tree_forces(matter, state, F_GB, f, f_left);
    if (st != TAL_OK || d->known == NULL) return st;
    double *taken = d->next; // lent for this call
    st = tal_matter_mul_M(matter, state, d->known, taken);
    for (int j = 0; j < d->nu && st == TAL_OK; ++j) {
        f_left[j] -= taken[j];
    }
    return st;
}

// b - G udot_p
static tal_status bias_left(const tal_matter *matter, tal_state *state, const tali_op_dense *d,
                            double b[])
{
    if (d->known == NULL) return tal_matter_calc_constraint_bias(matter, state, b);
    const tal_status st = tal_matter_calc_constraint_aerr(matter, state, d->known, b);
    for (int i = 0; i < d->m && st == TAL_OK; ++i) {
        b[i] = -b[i];
    }
    return st;
}

tal_status tali_op_dense_G(const tal_matter *matter, tal_state *state, tali_op_dense *d,
                           tal_matrix *G)
{
    const tal_matrix all = tali_op_dense_take(d, d->m, d->nu);
    const tal_status st = tal_matter_calc_G(matter, state, TAL_G, all);
    *G = tal_matrix_view(all.data, d->m, d->n);
    for (int j = 0, k = 0; j < d->nu && st == TAL_OK && d->m > 0; ++j) {
        if (!is_free(d, j)) continue;
        if (k < j) {
            memcpy(tali_op_column(*G, k), tali_op_column(all, j), (size_t)d->m * sizeof(double));
        }
        ++k;
    }
    return st;
}

static tal_matrix transpose_of(tali_op_dense *d, tal_matrix A)
{
    const tal_matrix T = tali_op_dense_take(d, A.cols, A.rows);
    for (int j = 0; j < A.cols; ++j) {
        for (int i = 0; i < A.rows; ++i) {
            tali_op_column(T, i)[j] = tali_op_column(A, j)[i];
        }
    }
    return T;
}

tal_status tali_op_dense_multipliers(tal_state *state, tali_op_dense d, tal_matrix G,
                                     const double f[], double lambda[])
{
    const int most = d.nu > d.m ? d.nu : d.m;
    tal_cod cod;
    const tal_matrix GT = transpose_of(&d, G);
    double *x = take_vector(&d, most);
    gather_free(&d, f, x);
    tal_status st = tali_op_dense_factor(&d, state, GT, &cod);
    const tal_matrix B = {x, d.n, 1, most}, X = {x, d.m, 1, most};
    if (st == TAL_OK) st = tali_op_dense_solve(state, &cod, B, X);
    if (st == TAL_OK && d.m > 0) memcpy(lambda, x, (size_t)d.m * sizeof *x);
    return st;
}

// --- three ways, each for the f and b of the free speeds; udot_p is added at the end ---

// A power of two that brings M to the size of G: where masses are those of atoms, M must not look
// like round-off beside G. c M udot + G^T (c lambda) = c f is the same equation.
static double scale_of(tal_matrix M, tal_matrix G)
{
    double most_M = 0.0, most_G = 0.0;
    for (int j = 0; j < M.cols; ++j) {
        most_M = fmax(most_M, tali_op_column(M, j)[j]);
    }
    for (int j = 0; j < G.cols; ++j) {
        for (int i = 0; i < G.rows; ++i) {
            most_G = fmax(most_G, fabs(tali_op_column(G, j)[i]));
        }
    }
    if (most_M == 0.0 || most_G == 0.0) return 1.0;
    return ldexp(1.0, ilogb(most_G) - ilogb(most_M));
}

// [c M  G^T; G  0] of the free speeds
static void fill_kkt(const tali_op_dense *d, tal_matrix M, tal_matrix G, double c, tal_matrix A)
{
    memset(A.data, 0, (size_t)A.rows * (size_t)A.cols * sizeof(double));
    for (int j = 0, k = 0; j < d->nu; ++j) {
        if (!is_free(d, j)) continue;
        gather_free(d, tali_op_column(M, j), tali_op_column(A, k));
        for (int i = 0; i < d->n; ++i) {
            tali_op_column(A, k)[i] *= c;
        }
        for (int i = 0; i < d->m; ++i) {
            tali_op_column(A, d->n + i)[k] = tali_op_column(A, k)[d->n + i] =
                tali_op_column(G, k)[i];
        }
        ++k;
    }
}

// The body whose speed is the k-th of those that are free.
static int body_of_free(const tal_matter *matter, const tali_op_dense *d, int k)
{
    int u = 0;
    for (; u < d->nu; ++u) {
        if (is_free(d, u) && k-- == 0) break;
    }
    int b = matter->num_bodies - 1;
    while (matter->tree.nu[b] == 0 || matter->tree.u0[b] > u) {
        --b;
    }
    return b;
}

// Where the matrix is singular, rows that repeat others are no harm: then only multipliers are not
// unique. A motion in its null space has M x = 0 and G x = 0: nothing moves, and nothing holds it.
static tal_status check_kkt(const tal_matter *matter, tal_state *state, tali_op_dense d,
                            tal_cod *cod)
{
    const int s = d.n + d.m, k = s - cod->rank;
    if (k == 0) return TAL_OK;
    const tal_matrix N = tali_op_dense_take(&d, s, k);
    const tal_status st = tal_cod_calc_null_basis(cod, N);
    double largest = sqrt(DBL_EPSILON); // of vectors of length one
    int worst = -1;
    for (int j = 0; j < k && st == TAL_OK; ++j) {
        for (int i = 0; i < d.n; ++i) {
            if (fabs(tali_op_column(N, j)[i]) <= largest) continue;
            largest = fabs(tali_op_column(N, j)[i]);
            worst = i;
        }
    }
    if (worst < 0) return st;
    const tali_tree_body *body = &matter->bodies[body_of_free(matter, &d, worst)];
    return tal_state_fail(state, TAL_ERR_SINGULAR,
                          "body '%s' can move on its %s without moving any mass, and no constraint "
                          "holds it: give it, or the bodies it carries, mass or inertia",
                          body->name, body->ops.name);
}

// [M G^T; G 0] [udot; lambda] = [f; b]        RBDA eq. 8.36
static tal_status solve_kkt(const tal_matter *matter, tal_state *state, tali_op_dense d,
                            const double f[], double udot[], double lambda[])
{
    const int s = d.n + d.m;
    tal_matrix G;
    tal_status st = tali_op_dense_G(matter, state, &d, &G);
    const tal_matrix M = tali_op_dense_take(&d, d.nu, d.nu);
    const tal_matrix A = tali_op_dense_take(&d, s, s), x = tali_op_dense_take(&d, s, 1);
    if (st == TAL_OK) st = tal_matter_calc_M(matter, state, M);
    if (st == TAL_OK) st = bias_left(matter, state, &d, x.data + d.n);
    if (st != TAL_OK) return st;
    const double c = scale_of(M, G);
    fill_kkt(&d, M, G, c, A);
    gather_free(&d, f, x.data);
    for (int i = 0; i < d.n; ++i) {
        x.data[i] *= c;
    }
    tal_cod cod;
    st = tali_op_dense_factor(&d, state, A, &cod);
    if (st == TAL_OK) st = tali_op_dense_solve(state, &cod, x, x);
    if (st == TAL_OK) st = check_kkt(matter, state, d, &cod);
    if (st != TAL_OK) return st;
    scatter(&d, x.data, udot);
    for (int i = 0; i < d.m && lambda != NULL; ++i) {
        lambda[i] = x.data[d.n + i] / c;
    }
    return TAL_OK;
}

// W lambda = G M^-1 f - b, then udot = M^-1 (f - G^T lambda)        RBDA eq. 8.37
static tal_status solve_multipliers(const tal_matter *matter, tal_state *state, tali_op_dense d,
                                    const double f[], double udot[], double lambda[])
{
    double *aerr = take_vector(&d, d.m), *left = take_vector(&d, d.nu);
    double *found = take_vector(&d, d.m);
    tal_status st = tal_matter_mul_Minv(matter, state, f, udot);
    if (st != TAL_OK) return st;
    add_known(&d, udot);
    st = tal_matter_calc_constraint_aerr(matter, state, udot, aerr);
    if (st == TAL_OK) st = tal_matter_calc_multipliers(matter, state, aerr, found);
    if (st == TAL_OK) st = tal_matter_mul_GT(matter, state, TAL_G, found, left);
    for (int j = 0; j < d.nu && st == TAL_OK; ++j) {
        left[j] = f[j] - left[j];
    }
    if (st == TAL_OK) st = tal_matter_mul_Minv(matter, state, left, udot);
    if (st == TAL_OK && lambda != NULL && d.m > 0) {
        memcpy(lambda, found, (size_t)d.m * sizeof *lambda);
    }
    return st;
}

// Factors G, m x n (which it overwrites), and gives K, nu x dof: zero where speeds are known.
static tal_status null_basis(tal_state *state, tali_op_dense *d, tal_matrix G, tal_cod *cod,
                             tal_matrix *K)
{
    tal_status st = tali_op_dense_factor(d, state, G, cod);
    if (st != TAL_OK) return st;
    const int dof = d->n - cod->rank;
    *K = tali_op_dense_take(d, d->nu, dof);
    const tal_matrix basis = {K->data, d->n, dof, d->nu > 0 ? d->nu : 1};
    st = tal_cod_calc_null_basis(cod, basis);
    for (int j = 0; j < dof && st == TAL_OK; ++j) {
        scatter(d, tali_op_column(*K, j), tali_op_column(*K, j));
    }
    return st;
}

tal_status tali_op_dense_reduced(const tal_matter *matter, tal_state *state, tali_op_dense d,
                                 tal_matrix K, const double f[], const double k[], double udot[],
                                 double y[])
{
    const int dof = K.cols;
    const tal_matrix MK = tali_op_dense_take(&d, d.nu, dof), A = tali_op_dense_take(&d, dof, dof);
    const tal_matrix x = tali_op_dense_take(&d, dof, 1);
    double *left = take_vector(&d, d.nu);
    tal_status st = tal_matter_mul_M_columns(matter, state, K, MK);
    if (st == TAL_OK) st = tal_matter_mul_M(matter, state, k, left);
    if (st != TAL_OK) return st;
    for (int j = 0; j < d.nu; ++j) {
        left[j] = f[j] - left[j];
        udot[j] = k[j];
    }
    for (int j = 0; j < dof; ++j) {
        double *column = tali_op_column(A, j);
        memset(column, 0, (size_t)dof * sizeof *column);
        tali_op_dense_add_product(1.0, K, true, tali_op_column(MK, j), column);
        x.data[j] = 0.0;
    }
    tali_op_dense_add_product(1.0, K, true, left, x.data);
    tal_error why = {TAL_OK, "", ""};
    st = tal_chol_factor(A, NULL, &why);
    if (st == TAL_OK) st = tal_chol_solve(A, x, &why);
    if (st != TAL_OK) return explain(state, st, &why);
    tali_op_dense_add_product(1.0, K, false, x.data, udot);
    if (y != NULL && dof > 0) memcpy(y, x.data, (size_t)dof * sizeof *y);
    return TAL_OK;
}

// udot = K y + k with G K = 0, G k = b        RBDA eq. 8.42 to 8.46
static tal_status solve_null_space(const tal_matter *matter, tal_state *state, tali_op_dense d,
                                   const double f[], double udot[], double lambda[])
{
    const int most = d.nu > d.m ? d.nu : d.m;
    double *k = take_vector(&d, most);
    tal_matrix G, K;
    tal_cod cod;
    const tali_op_dense begin = d;
    tal_status st = tali_op_dense_G(matter, state, &d, &G);
    if (st == TAL_OK) st = bias_left(matter, state, &d, k);
    if (st == TAL_OK) st = null_basis(state, &d, G, &cod, &K);
    const tal_matrix B = {k, d.m, 1, most}, X = {k, d.n, 1, most};
    if (st == TAL_OK) st = tali_op_dense_solve(state, &cod, B, X);
    if (st != TAL_OK) return st;
    scatter(&d, k, k);
    st = tali_op_dense_reduced(matter, state, d, K, f, k, udot, NULL);
    if (st != TAL_OK || lambda == NULL) return st;
    // G^T lambda = f - M udot
    d = begin;
    st = tali_op_dense_G(matter, state, &d, &G);
    if (st == TAL_OK) st = tal_matter_mul_M(matter, state, udot, k);
    for (int j = 0; j < d.nu; ++j) {
        k[j] = f[j] - k[j];
    }
    return st == TAL_OK ? tali_op_dense_multipliers(state, d, G, k, lambda) : st;
}

// Two of the parameters are workspace. NOLINTNEXTLINE(readability-function-size)
tal_status tal_matter_solve_constrained(const tal_matter *matter, tal_state *state,
                                        tal_solve_way way, const tal_spatial_vec F_GB[],
                                        const double f[], double udot[], double lambda[],
                                        double work[], int iwork[])
{
    tali_op_dense d;
    tal_status st = tali_op_dense_open(matter, state, work, iwork, __func__, &d);
    if (st == TAL_OK) st = tali_op_array("udot", udot, __func__);
    if (st != TAL_OK) return st;
    double *left = take_vector(&d, d.nu);
    st = tali_op_dense_forces(matter, state, &d, F_GB, f, left);
    if (st != TAL_OK) return st;
    switch (way) {
    case TAL_SOLVE_KKT:
        st = solve_kkt(matter, state, d, left, udot, lambda);
        break;
    case TAL_SOLVE_MULTIPLIERS:
        st = solve_multipliers(matter, state, d, left, udot, lambda);
        break;
    case TAL_SOLVE_NULL_SPACE:
        st = solve_null_space(matter, state, d, left, udot, lambda);
        break;
    default:
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "there is no solution method %d", (int)way);
    }
    if (st == TAL_OK) add_known(&d, udot);
    return st;
}

// --- while realizing ---

tal_status tal_matter_set_solve_way(tal_matter *matter, tal_solve_way way)
{
    if (matter == NULL) return TALI_BREACH(TAL_ERR_NULL, "matter is NULL");
    if (tal_system_has_topology(matter->system)) {
        return TALI_BREACH(TAL_ERR_TOPOLOGY, "System '%s' is realized: call this before that",
                           tal_system_name(matter->system));
    }
    if (way != TAL_SOLVE_KKT && way != TAL_SOLVE_MULTIPLIERS) {
        return tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                               "realizing solves by multipliers or by KKT, not by method %d",
                               (int)way);
    }
    matter->way = way;
    return TAL_OK;
}

tal_solve_way tal_matter_solve_way(const tal_matter *matter)
{
    if (matter != NULL) return matter->way;
    (void)TALI_BREACH(TAL_ERR_NULL, "matter is NULL");
    return TAL_SOLVE_MULTIPLIERS;
}

size_t tali_matter_kkt_scratch(const tal_matter *matter)
{
    const int n = matter->tree.num_u, m = matter->constraints.max_rows;
    if (matter->way != TAL_SOLVE_KKT || m == 0) return 0;
    return tali_align(work_doubles(n, m) * sizeof(double)) +
           tali_align(work_ints(n, m) * sizeof(int)) +
           tali_align(((size_t)n + 1) * sizeof(double)) +
           tali_align(tali_constraint_matrices_size(&matter->constraints));
}

// f less M udot_p + J^T (F0 - F), by Newton-Euler equations at the known accelerations; A_GM is
// room.
static tal_status forces_left(const tal_matter *matter, tal_state *state,
                              const tali_tree_view *view, const tal_spatial_vec F[],
                              const double f[], double udot[], tal_spatial_vec A_GM[],
                              double left[])
{
    const int nu = view->tree->num_u;
    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *open =
        tal_state_scratch_take(state, ((size_t)view->tree->num_slots + 1) * sizeof *open);
    if (open == NULL) return TAL_ERR_CAPACITY;
    for (int j = 0; j < nu; ++j) {
        udot[j] = view->udot_known != NULL ? view->udot_known[j] : 0.0;
    }
    (void)view->passes->newton_euler(view, tali_tree_u_of(matter, state), udot, F, left, A_GM,
                                     open);
    for (int j = 0; j < nu; ++j) {
        left[j] = f[j] - left[j];
    }
    tal_state_scratch_release(state, mark);
    return TAL_OK;
}

tal_status tali_matter_forward_dynamics_kkt(const tal_matter *matter, tal_state *state,
                                            const tal_spatial_vec F[], const double f[],
                                            double udot[], tal_spatial_vec A_GM[], double lambda[])
{
    tali_tree_view view;
    if (!tali_tree_realize_view(matter, state, TALI_BIAS, &view) ||
        !tali_prescribed_see_known_udot(matter, state, &view)) {
        return tal_state_error(state)->status;
    }
    const int nu = view.tree->num_u, m = tali_constraint_num_rows(matter, state);
    const size_t mark = tal_state_scratch_mark(state);
    double *work = tal_state_scratch_take(state, work_doubles(nu, m) * sizeof *work);
    int *iwork = tal_state_scratch_take(state, work_ints(nu, m) * sizeof *iwork);
    double *left = tal_state_scratch_take(state, ((size_t)nu + 1) * sizeof *left);
    tal_status st = work != NULL && iwork != NULL && left != NULL ? TAL_OK : TAL_ERR_CAPACITY;
    tali_op_dense d;
    if (st == TAL_OK) st = forces_left(matter, state, &view, F, f, udot, A_GM, left);
    if (st == TAL_OK) st = tali_op_dense_open(matter, state, work, iwork, __func__, &d);
    if (st == TAL_OK) st = solve_kkt(matter, state, d, left, udot, lambda);
    if (st == TAL_OK) {
        add_known(&d, udot);
        view.passes->J(&view, udot, A_GM);
        for (int b = 0; b < view.tree->num_bodies; ++b) {
            A_GM[b] = tal_sv_add(A_GM[b], view.rates[b].A0);
        }
    }
    tal_state_scratch_release(state, mark);
    return st;
}

tal_status tal_matter_calc_null_basis(const tal_matter *matter, tal_state *state, tal_matrix K,
                                      int *dof, double work[], int iwork[])
{
    tali_op_dense d;
    tal_status st = tali_op_dense_open(matter, state, work, iwork, __func__, &d);
    if (st == TAL_OK) st = tali_op_matrix("K", K, d.nu, d.nu, __func__);
    if (st == TAL_OK) st = tali_op_array("dof", dof, __func__);
    if (st != TAL_OK) return st;
    tal_matrix G, basis;
    tal_cod cod;
    st = tali_op_dense_G(matter, state, &d, &G);
    if (st == TAL_OK) st = null_basis(state, &d, G, &cod, &basis);
    if (st != TAL_OK) return st;
    *dof = basis.cols;
    for (int j = 0; j < d.nu; ++j) {
        for (int i = 0; i < d.nu; ++i) {
            tali_op_column(K, j)[i] = j < basis.cols ? tali_op_column(basis, j)[i] : 0.0;
        }
    }
    return TAL_OK;
}

// --- inverse dynamics ---

// Two of the parameters are workspace. NOLINTNEXTLINE(readability-function-size)
tal_status tal_matter_constrained_inverse_dynamics(const tal_matter *matter, tal_state *state,
                                                   const double udot[],
                                                   const tal_spatial_vec F_GB[], const double f[],
                                                   double lambda[], double f_needed[],
                                                   double work[], int iwork[])
{
    tali_op_dense d = {.m = 0};
    tal_status st = tali_op_dense_open(matter, state, work, iwork, __func__, &d);
    if (st == TAL_OK && d.m > 0) st = tali_op_array("lambda", lambda, __func__);
    if (st == TAL_OK) st = tali_op_array("f_needed", f_needed, __func__);
    if (st != TAL_OK) return st;
    double *needed = take_vector(&d, d.nu), *borne = take_vector(&d, d.nu);
    tal_matrix G;
    st = tal_matter_inverse_dynamics(matter, state, udot, F_GB, f, needed);
    if (st == TAL_OK) st = tali_op_dense_G(matter, state, &d, &G);
    if (st == TAL_OK) st = tali_op_dense_multipliers(state, d, G, needed, lambda);
    if (st != TAL_OK) return st;
    for (int i = 0; i < d.m; ++i) {
        lambda[i] = -lambda[i];
    }
    st = tal_matter_mul_GT(matter, state, TAL_G, lambda, borne);
    for (int j = 0; j < d.nu && st == TAL_OK; ++j) {
        f_needed[j] = needed[j] + borne[j];
    }
    return st;
}

// K_a^T tau = K^T f_needed, with the rows of K that are actuated        RBDA eq. 8.63
static tal_status share_among_actuators(tal_state *state, tali_op_dense d, tal_matrix K,
                                        const double needed[], const bool actuated[], double tau[],
                                        tal_actuation *actuation)
{
    int count = 0; // known speeds need no actuator
    for (int j = 0; j < d.nu; ++j) {
        count += actuated[j] && is_free(&d, j);
    }
    const int dof = K.cols, most = dof > count ? dof : count;
    const tal_matrix A = tali_op_dense_take(&d, dof, count);
    double *x = take_vector(&d, most);
    for (int j = 0, a = 0; j < d.nu; ++j) {
        if (!actuated[j] || !is_free(&d, j)) continue;
        for (int i = 0; i < dof; ++i) {
            tali_op_column(A, a)[i] = tali_op_column(K, i)[j];
        }
        ++a;
    }
    for (int i = 0; i < most; ++i) {
        x[i] = 0.0;
    }
    tali_op_dense_add_product(1.0, K, true, needed, x);
    tal_cod cod;
    tal_status st = tali_op_dense_factor(&d, state, A, &cod);
    const tal_matrix B = {x, dof, 1, most > 0 ? most : 1}, X = {x, count, 1, most > 0 ? most : 1};
    if (st == TAL_OK) st = tali_op_dense_solve(state, &cod, B, X);
    if (st != TAL_OK) return st;
    for (int j = 0, a = 0; j < d.nu; ++j) {
        tau[j] = actuated[j] && is_free(&d, j) ? x[a++] : 0.0;
    }
    if (actuation != NULL) {
        *actuation = cod.rank < dof     ? TAL_ACTUATION_UNDER
                     : count > cod.rank ? TAL_ACTUATION_REDUNDANT
                                        : TAL_ACTUATION_PROPER;
    }
    return TAL_OK;
}

// Two of the parameters are workspace. NOLINTNEXTLINE(readability-function-size)
tal_status tal_matter_actuator_forces(const tal_matter *matter, tal_state *state,
                                      const double udot[], const tal_spatial_vec F_GB[],
                                      const bool actuated[], double tau[], tal_actuation *actuation,
                                      double work[], int iwork[])
{
    tali_op_dense d;
    tal_status st = tali_op_dense_open(matter, state, work, iwork, __func__, &d);
    if (st == TAL_OK) st = tali_op_array("actuated", actuated, __func__);
    if (st == TAL_OK) st = tali_op_array("tau", tau, __func__);
    if (st != TAL_OK) return st;
    double *needed = take_vector(&d, d.nu);
    tal_matrix G, K;
    tal_cod cod;
    st = tal_matter_inverse_dynamics(matter, state, udot, F_GB, NULL, needed);
    if (st == TAL_OK) st = tali_op_dense_G(matter, state, &d, &G);
    if (st == TAL_OK) st = null_basis(state, &d, G, &cod, &K);
    return st == TAL_OK ? share_among_actuators(state, d, K, needed, actuated, tau, actuation) : st;
}
