// Moment arms along what the constraints allow.
//
// With the generalized forces g of a tension of one and an orthonormal basis K of the motions that
// the constraints allow, the allowed motion closest to a unit of u_i is K k, with k the row i of K.
// Scaled so that u_i = 1 it is c = K k / |k|^2, and r_i = c . g = k . (K^T g) / |k|^2.
#include "core/forces_internal.h"

#include <math.h>

// The motions that the constraints allow, in memory of the caller.
typedef struct allowed {
    tal_matrix K;
    int dof;
    bool is_free; // no constraints: every speed moves alone
    double *g;    // [nu]
    double *w;    // [nu]
} allowed;

static int num_rows(const tal_forces *forces, const tal_state *state)
{
    const tal_constraint_rows rows = tal_matter_constraint_rows(forces->matter, state);
    return rows.mp < 0 ? -1 : rows.mp + rows.mv + rows.ma;
}

size_t tal_forces_moment_arms_work_size(const tal_forces *forces, const tal_state *state)
{
    if (forces == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "forces is NULL");
        return 0;
    }
    const int m = num_rows(forces, state);
    if (m < 0) return 0;
    const size_t nu = (size_t)forces->nu;
    const size_t vectors = 2 * nu + (size_t)m + 1;
    return m == 0 ? vectors : vectors + nu * nu + tal_matter_dense_work_size(forces->matter, state);
}

size_t tal_forces_moment_arms_iwork_size(const tal_forces *forces, const tal_state *state)
{
    if (forces == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "forces is NULL");
        return 0;
    }
    const int m = num_rows(forces, state);
    return m < 0 ? 0 : 1 + tal_matter_dense_iwork_size(forces->matter, state);
}

static tal_status begin(const tal_forces *forces, tal_state *state, double work[], int iwork[],
                        allowed *out)
{
    const int nu = forces->nu, m = num_rows(forces, state);
    if (m < 0) return tal_contract_last()->status;
    out->g = work;
    out->w = work + nu;
    out->is_free = m == 0;
    if (out->is_free) return TAL_OK;
    double *rest = work + 2 * (size_t)nu + (size_t)m + 1;
    out->K = tal_matrix_view(rest, nu, nu);
    return tal_matter_calc_null_basis(forces->matter, state, out->K, &out->dof,
                                      rest + (size_t)nu * (size_t)nu, iwork);
}

// Whether a speed that the basis does not move can move alone: no constraint sees it.
static bool moves_alone(const tal_forces *forces, tal_state *state, const allowed *in, int i)
{
    const int nu = forces->nu, m = num_rows(forces, state);
    double *unit = in->w, *rows = in->w + nu;
    for (int j = 0; j < nu; ++j) {
        unit[j] = j == i ? 1.0 : 0.0;
    }
    if (tal_matter_mul_G(forces->matter, state, TAL_G, unit, rows) != TAL_OK) return false;
    for (int j = 0; j < m; ++j) {
        if (rows[j] != 0.0) return false;
    }
    // no row moves it, so only a lock or a prescribed motion can have held it
    return true;
}

// r of one path, from g; `stride` apart.
static void calc_arms(const tal_forces *forces, tal_state *state, const allowed *in, double arms[],
                      int stride)
{
    const int nu = forces->nu;
    const tal_matrix K = in->K;
    for (int j = 0; j < in->dof && !in->is_free; ++j) {
        in->w[j] = 0.0;
        for (int i = 0; i < nu; ++i) {
            in->w[j] += K.data[i + j * K.ld] * in->g[i];
        }
    }
    for (int i = 0; i < nu; ++i) {
        double size = 0.0, sum = 0.0;
        for (int j = 0; j < in->dof && !in->is_free; ++j) {
            const double k = K.data[i + j * K.ld];
            size += k * k;
            sum += k * in->w[j];
        }
        arms[i * stride] = in->is_free ? in->g[i] : size > 1e-20 ? sum / size : TALI_NAN;
    }
    for (int i = 0; i < nu && !in->is_free; ++i) {
        const bool is_held = isnan(arms[i * stride]);
        if (is_held && moves_alone(forces, state, in, i)) arms[i * stride] = in->g[i];
    }
}

static tal_status check(const tal_forces *forces, const tal_state *state, const void *a,
                        const void *b, const void *c, const char *where)
{
    if (forces == NULL || a == NULL || b == NULL || c == NULL) {
        return tali_breach(TAL_ERR_NULL, where, "an argument is NULL");
    }
    if (tal_state_stage(state) >= TAL_STAGE_VELOCITY) return TAL_OK;
    return tali_breach(TAL_ERR_STAGE, where, "the State is at %s and must be at %s",
                       tal_stage_name(tal_state_stage(state)), tal_stage_name(TAL_STAGE_VELOCITY));
}

tal_status tal_path_calc_moment_arms(const tal_forces *forces, tal_state *state, tal_path_ix path,
                                     double arms[], double work[], int iwork[])
{
    if (tali_path_at(forces, path, __func__) == NULL) return tal_contract_last()->status;
    tal_status st = check(forces, state, arms, work, iwork, __func__);
    allowed in = {.dof = 0};
    if (st == TAL_OK) st = begin(forces, state, work, iwork, &in);
    if (st == TAL_OK) st = tal_path_calc_generalized(forces, state, path, in.g);
    if (st == TAL_OK) calc_arms(forces, state, &in, arms, 1);
    return st;
}

tal_status tal_forces_calc_moment_arms(const tal_forces *forces, tal_state *state, tal_matrix arms,
                                       double work[], int iwork[])
{
    if (forces == NULL) return TALI_BREACH(TAL_ERR_NULL, "forces is NULL");
    const int num = forces->paths.num, nu = forces->nu;
    if (arms.rows != num || arms.cols != nu || arms.ld < num) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "the arms are %d x %d: they must be %d x %d",
                           arms.rows, arms.cols, num, nu);
    }
    if (num == 0 || nu == 0) return TAL_OK;
    tal_status st = check(forces, state, arms.data, work, iwork, __func__);
    allowed in = {.dof = 0};
    if (st == TAL_OK) st = begin(forces, state, work, iwork, &in);
    for (int p = 0; p < num && st == TAL_OK; ++p) {
        st = tal_path_calc_generalized(forces, state, (tal_path_ix){p}, in.g);
        if (st == TAL_OK) calc_arms(forces, state, &in, arms.data + p, arms.ld);
    }
    return st;
}
