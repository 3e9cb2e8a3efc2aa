// Loop-closure functions: q = gamma(y), and dynamics in the independent coordinates y.
//
//   quantity                       RBDA            here
//   Jacobian of gamma              G               K, so that u = K ydot
//   its bias, Gdot ydot            g               k
//   constraint Jacobian            K               G
#include "finite_internal.h"

#include "constraint/closure_internal.h"
#include "prescribed/prescribed_internal.h"

#include <math.h>

// --- calling the functions ---

tal_status tali_closure_check(const tal_matter *matter, const tal_closure *closure,
                              const char *where)
{
    if (matter == NULL || closure == NULL || closure->ops == NULL) {
        return tali_breach(TAL_ERR_NULL, where, "matter, the closure or its table is NULL");
    }
    const tal_closure_ops *ops = closure->ops;
    const int nu = tal_matter_nu(matter);
    if (ops->size != sizeof *ops || ops->name == NULL || ops->num_y < 0 || ops->num_y > nu) {
        return tali_breach(TAL_ERR_BAD_VALUE, where,
                           "a closure needs a table with its size and name, and %d coordinates are "
                           "not between 0 and %d",
                           ops->num_y, nu);
    }
    if (ops->calc_q == NULL || ops->calc_K == NULL || ops->calc_k == NULL) {
        return tali_breach(TAL_ERR_NULL, where,
                           "closure '%s': its table must have calc_q, calc_K and calc_k",
                           ops->name);
    }
    if (closure->y == NULL && ops->num_y > 0) {
        return tali_breach(TAL_ERR_NULL, where, "closure '%s': y is NULL", ops->name);
    }
    return TAL_OK;
}

// What a function returned, and whether it wrote numbers.
static tal_status judge(const tal_closure *closure, tal_state *state, tal_status st,
                        const char *subject, const double values[], int n)
{
    if (st == TAL_OK && !tali_finite_all(values, n)) st = TAL_ERR_NOT_FINITE;
    if (st == TAL_OK) return st;
    return tal_state_fail(state, st, "closure '%s' failed to give %s at y[0] = %g (%s)",
                          closure->ops->name, subject,
                          closure->ops->num_y > 0 ? closure->y[0] : 0.0, tal_status_text(st));
}

tal_status tali_closure_q(const tal_closure *closure, tal_state *state, const double y[], int nq,
                          double q[])
{
    const tal_closure_arg arg = {y, NULL, state};
    for (int i = 0; i < nq; ++i) {
        q[i] = TALI_NAN; // what is left out must not pass
    }
    const tal_status st = closure->ops->calc_q(closure->self, &arg, q);
    return judge(closure, state, st, "all of q", q, nq);
}

tal_status tali_closure_K(const tal_closure *closure, tal_state *state, const double y[],
                          tal_matrix K)
{
    const tal_closure_arg arg = {y, NULL, state};
    const int n = K.rows * K.cols;
    memset(K.data, 0, (size_t)n * sizeof(double));
    const tal_status st = closure->ops->calc_K(closure->self, &arg, K);
    return judge(closure, state, st, "K", K.data, n);
}

tal_status tali_closure_k(const tal_closure *closure, tal_state *state, int nu, double k[])
{
    memset(k, 0, (size_t)nu * sizeof *k);
    if (closure->yd == NULL) return TAL_OK;
    const tal_closure_arg arg = {closure->y, closure->yd, state};
    const tal_status st = closure->ops->calc_k(closure->self, &arg, k);
    return judge(closure, state, st, "k", k, nu);
}

// --- a State on the loops ---

tal_status tal_closure_calc_y(const tal_matter *matter, const tal_state *state,
                              const tal_mobility mobilities[], int n, double y[], double yd[])
{
    if (matter == NULL || state == NULL || mobilities == NULL || y == NULL || yd == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "matter, state, mobilities, y or yd is NULL");
    }
    for (int i = 0; i < n; ++i) {
        const tali_tree_body *body = tali_tree_body_at(matter, mobilities[i].body, __func__);
        if (body == NULL) return tal_contract_last()->status;
        const int j = mobilities[i].i;
        if (j < 0 || j >= body->ops.nu || body->ops.mul_N != NULL) {
            return TALI_BREACH(TAL_ERR_BAD_INDEX,
                               "body '%s' has no speed %d that is the rate of a coordinate",
                               body->name, j);
        }
        y[i] = tal_body_q(matter, state, mobilities[i].body, j);
        yd[i] = tal_body_u(matter, state, mobilities[i].body, j);
    }
    return TAL_OK;
}

tal_status tal_closure_set_state(const tal_matter *matter, tal_state *state,
                                 const tal_closure *closure, double work[])
{
    tal_status st = tali_closure_check(matter, closure, __func__);
    if (st == TAL_OK) st = tali_op_array("work", work, __func__);
    if (st != TAL_OK) return st;
    const int nu = matter->tree.num_u, nq = tal_matter_nq(matter, state);
    if (nq < 0) return tal_contract_last()->status;
    double *q = work, *u = q + matter->tree.max_nq;
    const tal_matrix K = tal_matrix_view(u + nu, nu, closure->ops->num_y);
    st = tali_closure_q(closure, state, closure->y, nq, q);
    if (st == TAL_OK) st = tali_closure_K(closure, state, closure->y, K);
    if (st != TAL_OK) return st;
    memset(u, 0, (size_t)nu * sizeof *u);
    if (closure->yd != NULL) tali_op_dense_add_product(1.0, K, false, closure->yd, u);
    double *to_q = tal_state_upd_q(state), *to_u = tal_state_upd_u(state);
    if (to_q == NULL || to_u == NULL) return tal_contract_last()->status;
    const tal_system *system = matter->system;
    memcpy(to_q + tal_group_start(system, state, matter->q), q, (size_t)nq * sizeof *q);
    memcpy(to_u + tal_group_start(system, state, matter->u), u, (size_t)nu * sizeof *u);
    return TAL_OK;
}

// --- dynamics ---

// Speeds differ by more than this share of the largest only when the State is elsewhere.
static const double SAME_SPEED = 1e-6;

// K and k where the State is; its u must be K ydot.
static tal_status see_closure(const tal_matter *matter, tal_state *state,
                              const tal_closure *closure, tal_matrix K, double k[])
{
    tal_status st = tali_closure_K(closure, state, closure->y, K);
    if (st != TAL_OK) return st;
    memset(k, 0, (size_t)K.rows * sizeof *k);
    if (closure->yd != NULL) tali_op_dense_add_product(1.0, K, false, closure->yd, k);
    const double *u = tal_state_u(state) + tal_group_start(matter->system, state, matter->u);
    double size = 1.0;
    for (int j = 0; j < K.rows; ++j) {
        size = fmax(size, fabs(k[j]));
    }
    for (int j = 0; j < K.rows; ++j) {
        if (fabs(u[j] - k[j]) <= SAME_SPEED * size) continue;
        return tal_state_fail(
            state, TAL_ERR_BAD_VALUE,
            "closure '%s' has speed %d at %g, but the State has it at %g: set the State first",
            closure->ops->name, j, k[j], u[j]);
    }
    return tali_closure_k(closure, state, K.rows, k);
}

// Known accelerations leave some of y: with the rows of known speeds, K_p ydd = udot_p - k_p, so
// ydd = Z w + y0 where K_p Z = 0. Then udot = (K Z) w + (K y0 + k).
static tal_status take_known_out(tal_state *state, tali_op_dense *d, tal_matrix *K, double k[],
                                 tal_matrix *Z, double y0[])
{
    const int num_known = d->nu - d->n, num_y = K->cols;
    const int most = num_known > num_y ? num_known : num_y;
    const tal_matrix K_p = tali_op_dense_take(d, num_known, num_y);
    double *x = tali_op_dense_take(d, most, 1).data;
    for (int j = 0, i = 0; j < d->nu; ++j) {
        if (d->level[j] == TAL_LEVEL_FREE) continue;
        for (int c = 0; c < num_y; ++c) {
            tali_op_column(K_p, c)[i] = tali_op_column(*K, c)[j];
        }
        x[i++] = (d->known != NULL ? d->known[j] : 0.0) - k[j];
    }
    tal_cod cod;
    tal_status st = tali_op_dense_factor(d, state, K_p, &cod);
    const tal_matrix B = {x, num_known, 1, most}, X = {x, num_y, 1, most};
    if (st == TAL_OK) st = tali_op_dense_solve(state, &cod, B, X);
    if (st != TAL_OK) return st;
    memcpy(y0, x, (size_t)num_y * sizeof *y0);
    tali_op_dense_add_product(1.0, *K, false, y0, k);
    *Z = tali_op_dense_take(d, num_y, num_y - cod.rank);
    const tal_matrix KZ = tali_op_dense_take(d, d->nu, Z->cols);
    st = tal_cod_calc_null_basis(&cod, *Z);
    for (int c = 0; c < Z->cols && st == TAL_OK; ++c) {
        memset(tali_op_column(KZ, c), 0, (size_t)d->nu * sizeof(double));
        tali_op_dense_add_product(1.0, *K, false, tali_op_column(*Z, c), tali_op_column(KZ, c));
    }
    *K = KZ;
    return st;
}

// Two of the parameters are workspace. NOLINTNEXTLINE(readability-function-size)
tal_status tal_closure_forward_dynamics(const tal_matter *matter, tal_state *state,
                                        const tal_closure *closure, const tal_spatial_vec F_GB[],
                                        const double f[], double udot[], double ydd[],
                                        double work[], int iwork[])
{
    tal_status st = tali_closure_check(matter, closure, __func__);
    tali_op_dense d;
    if (st == TAL_OK) st = tali_op_dense_open(matter, state, work, iwork, __func__, &d);
    if (st == TAL_OK) st = tali_op_array("udot", udot, __func__);
    if (st != TAL_OK) return st;
    const int num_y = closure->ops->num_y;
    double *left = tali_op_dense_take(&d, d.nu, 1).data, *k = tali_op_dense_take(&d, d.nu, 1).data;
    double *y0 = tali_op_dense_take(&d, d.nu, 1).data, *w = tali_op_dense_take(&d, d.nu, 1).data;
    tal_matrix K = tali_op_dense_take(&d, d.nu, num_y), Z = K;
    st = tal_matter_calc_tree_forces(matter, state, F_GB, f, left);
    if (st == TAL_OK) st = see_closure(matter, state, closure, K, k);
    if (st == TAL_OK && d.n < d.nu) st = take_known_out(state, &d, &K, k, &Z, y0);
    if (st == TAL_OK) st = tali_op_dense_reduced(matter, state, d, K, left, k, udot, w);
    if (st != TAL_OK || ydd == NULL) return st;
    if (d.n == d.nu) {
        memcpy(ydd, w, (size_t)num_y * sizeof *ydd);
    } else {
        memcpy(ydd, y0, (size_t)num_y * sizeof *ydd);
        tali_op_dense_add_product(1.0, Z, false, w, ydd);
    }
    return TAL_OK;
}

// One of the parameters is workspace. NOLINTNEXTLINE(readability-function-size)
tal_status tal_closure_inverse_dynamics(const tal_matter *matter, tal_state *state,
                                        const tal_closure *closure, const double ydd[],
                                        const tal_spatial_vec F_GB[], const double f[],
                                        double udot[], double f_y[], double work[])
{
    tal_status st = tali_closure_check(matter, closure, __func__);
    tali_tree_view view;
    if (st == TAL_OK) st = tali_op_view(matter, state, TALI_VELOCITY, &view, __func__);
    if (st == TAL_OK) st = tali_op_array("ydd", ydd, __func__);
    if (st == TAL_OK) st = tali_op_array("f_y", f_y, __func__);
    if (st == TAL_OK) st = tali_op_array("work", work, __func__);
    if (st != TAL_OK) return st;
    const int nu = view.tree->num_u, num_y = closure->ops->num_y;
    double *k = work, *needed = k + nu;
    const tal_matrix K = tal_matrix_view(needed + nu, nu, num_y);
    st = tali_op_finite(state, "ydd", ydd, num_y);
    if (st == TAL_OK) st = see_closure(matter, state, closure, K, k);
    if (st != TAL_OK) return st;
    tali_op_dense_add_product(1.0, K, false, ydd, k);
    st = tal_matter_inverse_dynamics(matter, state, k, F_GB, f, needed);
    if (st != TAL_OK) return st;
    memset(f_y, 0, (size_t)num_y * sizeof *f_y);
    tali_op_dense_add_product(1.0, K, true, needed, f_y);
    if (udot != NULL) memcpy(udot, k, (size_t)nu * sizeof *udot);
    return TAL_OK;
}
