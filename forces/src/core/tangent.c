// How forces change with q and u, for the tangent matrix of an implicit step.
//
// Elements that tell slopes at points add J_S^T (by_q K + by_u C) J_S, with J_S the velocity of the
// point in A for the speeds between A and B (CD eq. 28 to 34). The others are asked once for each
// speed, with the motion of all bodies from J.
#include "force_tangent_internal.h"
#include "hinges_internal.h"

#include "core/derivative_internal.h"

#include <string.h>

bool tali_force_has_tangent(const tal_forces *forces, const tal_state *state)
{
    const uint8_t *enabled = tali_forces_enabled(forces, state);
    for (int i = 0; i < forces->num_elements; ++i) {
        const tal_force_ops *ops = &forces->elements[i].ops;
        if (enabled[i] && ops->add_slopes == NULL && ops->apply_change == NULL) return false;
    }
    return true;
}

size_t tali_force_tangent_work_size(const tal_forces *forces)
{
    const size_t nb = (size_t)forces->num_bodies, nu = (size_t)forces->nu;
    return 6 * nb * nu + 18 * nb + (nu + nb) + 2 * nu + // at most one quaternion per body
           7 * nu;                                      // of slopes
}

// --- slopes at points ---

struct tal_force_slopes {
    const tal_forces *forces;
    const tal_force_context *context;
    double by_q, by_u;
    tal_matrix T;
    tali_matter_hinges hinges;
    tal_vec3 *motion, *push; // [nu] room
    int *which;              // [nu] room
};

static void take_room(tal_force_slopes *sum, double work[])
{
    const size_t nu = (size_t)sum->forces->nu;
    sum->motion = (tal_vec3 *)(void *)work;
    sum->push = sum->motion + nu;
    sum->which = (int *)(void *)(work + 6 * nu);
}

// How a point moves with the speeds of one body's joint, times `sign`; returns how many there are.
static int move_point(const tal_force_slopes *sum, int b, tal_vec3 p_GS, double sign, int n)
{
    const int u0 = sum->hinges.u0[b], nu = sum->hinges.nu[b];
    const tal_vec3 arm = tal_v3_sub(p_GS, tal_view_X_GM(&sum->context->poses, b)->p);
    for (int k = 0; k < nu; ++k, ++n) {
        const tal_spatial_vec H = sum->hinges.H[u0 + k];
        sum->motion[n] = tal_v3_scale(sign, tal_v3_add(H.v, tal_v3_cross(H.w, arm)));
        sum->which[n] = u0 + k;
    }
    return n;
}

static tal_status check_slopes(const tal_force_slopes *sum, tal_body_ix A, tal_body_ix B,
                               const tal_mat3 *K, const tal_mat3 *C, const char *where)
{
    if (sum == NULL || K == NULL || C == NULL) {
        return tali_breach(TAL_ERR_NULL, where, "the sum or a matrix is NULL");
    }
    const int n = sum->forces->num_bodies;
    const bool has_both = A.i >= 0 && A.i < n && B.i >= 0 && B.i < n;
    return has_both ? TAL_OK
                    : tali_breach(TAL_ERR_BAD_INDEX, where, "there is no body %d or %d", A.i, B.i);
}

// T += J_S^T (by_q K + by_u C) J_S over the joints between A and B: a body has a greater number
// than its parent.
tal_status tal_force_slopes_add(tal_force_slopes *sum, tal_body_ix A, tal_body_ix B, tal_vec3 p_GS,
                                const tal_mat3 *K, const tal_mat3 *C)
{
    const tal_status st = check_slopes(sum, A, B, K, C, __func__);
    if (st != TAL_OK) return st;
    int n = 0;
    for (int a = A.i, b = B.i; a != b;) {
        int *outer = a > b ? &a : &b;
        n = move_point(sum, *outer, p_GS, outer == &b ? 1.0 : -1.0, n);
        *outer = sum->hinges.parent[*outer];
    }
    const tal_mat3 S = tal_m3_add(tal_m3_scale(sum->by_q, *K), tal_m3_scale(sum->by_u, *C));
    for (int j = 0; j < n; ++j) {
        sum->push[j] = tal_m3_mul_v3(S, sum->motion[j]);
    }
    for (int j = 0; j < n; ++j) {
        double *column = sum->T.data + (size_t)sum->T.ld * (size_t)sum->which[j];
        for (int i = 0; i < n; ++i) {
            column[sum->which[i]] += tal_v3_dot(sum->motion[i], sum->push[j]);
        }
    }
    return TAL_OK;
}

tal_status tal_force_slopes_add_along(tal_force_slopes *sum, int of, int by, double k, double c)
{
    if (sum == NULL) return TALI_BREACH(TAL_ERR_NULL, "the sum is NULL");
    const int nu = sum->forces->nu;
    if (of < 0 || of >= nu || by < 0 || by >= nu) {
        return TALI_BREACH(TAL_ERR_BAD_INDEX, "there is no speed %d or %d", of, by);
    }
    sum->T.data[(size_t)of + (size_t)sum->T.ld * (size_t)by] += sum->by_q * k + sum->by_u * c;
    return TAL_OK;
}

// Of all elements that tell them; `others` says whether there are more.
static tal_status add_slopes(tal_force_slopes *sum, const uint8_t enabled[], bool *others)
{
    const tal_forces *forces = sum->forces;
    *others = false;
    tal_status st = TAL_OK;
    for (int i = 0; i < forces->num_elements && st == TAL_OK; ++i) {
        const tali_force *element = &forces->elements[i];
        if (!enabled[i]) continue;
        if (element->ops.add_slopes == NULL) {
            *others = true;
            continue;
        }
        st = element->ops.add_slopes(element->self, sum->context, sum);
        if (st != TAL_OK) return tali_force_explain(sum->context->state, element, st);
    }
    return st;
}

// --- columns ---

// The arrays of one column.
typedef struct column_room {
    tal_matrix J; // 6 num_bodies x nu, about Mo
    tal_spatial_vec *dX, *dV, *dF;
    double *dq, *du, *df;
} column_room;

static column_room set_up(const tal_forces *forces, double work[])
{
    const int nb = forces->num_bodies, nu = forces->nu;
    double *bodies = work + (size_t)6 * (size_t)nb * (size_t)nu;
    double *rest = bodies + (size_t)18 * (size_t)nb;
    column_room r = {.J = tal_matrix_view(work, 6 * nb, nu)};
    r.dX = (tal_spatial_vec *)(void *)bodies;
    r.dV = r.dX + nb;
    r.dF = r.dV + nb;
    r.du = rest;
    r.df = rest + nu;
    r.dq = rest + 2 * nu;
    memset(r.du, 0, (size_t)nu * sizeof *r.du);
    return r;
}

// J of the origins Mo: v_M = v_B - w x p_MB.
static tal_status calc_J_about_Mo(const tal_forces *forces, tal_state *state, tal_matrix J)
{
    const tal_status st = tal_matter_calc_J(forces->matter, state, J);
    if (st != TAL_OK) return st;
    const tal_bodies_view poses = tal_matter_poses(forces->matter, state);
    for (int b = 1; b < forces->num_bodies; ++b) {
        const tal_vec3 p_M = tal_body_X_MB(forces->matter, state, (tal_body_ix){b}).p;
        if (p_M.x == 0.0 && p_M.y == 0.0 && p_M.z == 0.0) continue;
        const tal_vec3 p = tal_m3_mul_v3(tal_view_X_GM(&poses, b)->R, p_M);
        for (int j = 0; j < forces->nu; ++j) {
            tal_spatial_vec *V = (tal_spatial_vec *)(void *)(J.data + (size_t)J.ld * (size_t)j) + b;
            V->v = tal_v3_sub(V->v, tal_v3_cross(V->w, p));
        }
    }
    return TAL_OK;
}

// How bodies and coordinates move along speed j.
static tal_status move_along(const tal_forces *forces, tal_state *state, int j, double by_q,
                             double by_u, const column_room *r)
{
    const size_t nb = (size_t)forces->num_bodies;
    const tal_spatial_vec *V =
        (const tal_spatial_vec *)(const void *)(r->J.data + (size_t)r->J.ld * (size_t)j);
    for (size_t b = 0; b < nb; ++b) {
        r->dX[b] = tal_sv_scale(by_q, V[b]);
        r->dV[b] = tal_sv_scale(by_u, V[b]);
    }
    r->du[j] = by_q;
    const tal_status st = tal_matter_mul_N(forces->matter, state, TAL_N, r->du, r->dq);
    r->du[j] = by_u;
    memset(r->dF, 0, nb * sizeof *r->dF);
    memset(r->df, 0, (size_t)forces->nu * sizeof *r->df);
    return st;
}

static bool is_zero(const double F[6])
{
    for (int i = 0; i < 6; ++i) {
        if (F[i] != 0.0) return false;
    }
    return true;
}

// t += df + J^T dF, where there is any.
static void project(const tal_forces *forces, const column_room *r, double t[])
{
    const int nu = forces->nu;
    for (int i = 0; i < nu; ++i) {
        t[i] += r->df[i];
    }
    for (int b = 1; b < forces->num_bodies; ++b) {
        const double *F = (const double *)(const void *)&r->dF[b];
        if (is_zero(F)) continue;
        for (int i = 0; i < nu; ++i) {
            const double *V = r->J.data + (size_t)r->J.ld * (size_t)i + (size_t)6 * (size_t)b;
            t[i] += ((V[0] * F[0] + V[1] * F[1]) + (V[2] * F[2] + V[3] * F[3])) +
                    (V[4] * F[4] + V[5] * F[5]);
        }
    }
}

// Of the elements that tell no slopes.
static tal_status add_columns(const tal_forces *forces, const tal_force_context *context,
                              const uint8_t enabled[], const double by[2], tal_matrix T,
                              double work[])
{
    const column_room r = set_up(forces, work);
    tal_status st = calc_J_about_Mo(forces, context->state, r.J);
    for (int j = 0; j < forces->nu && st == TAL_OK; ++j) {
        st = move_along(forces, context->state, j, by[0], by[1], &r);
        const tal_force_change change = {r.dq, r.du, r.dX, r.dV, NULL};
        for (int i = 0; i < forces->num_elements && st == TAL_OK; ++i) {
            const tali_force *element = &forces->elements[i];
            if (!enabled[i] || element->ops.add_slopes != NULL) continue;
            st = element->ops.apply_change(element->self, context, &change, r.dF, r.df);
            if (st != TAL_OK) return tali_force_explain(context->state, element, st);
        }
        r.du[j] = 0.0;
        project(forces, &r, T.data + (size_t)T.ld * (size_t)j);
    }
    return st;
}

tal_status tali_force_calc_tangent(const tal_forces *forces, tal_state *state, double by_q,
                                   double by_u, tal_matrix T, double work[])
{
    const uint8_t *enabled = tali_forces_enabled(forces, state);
    const tal_force_context context = tali_force_context(forces, state, TAL_STAGE_VELOCITY);
    const double by[2] = {by_q, by_u};
    tal_force_slopes sum = {
        .forces = forces, .context = &context, .by_q = by_q, .by_u = by_u, .T = T};
    if (!tali_matter_see_hinges(forces->matter, state, &sum.hinges)) {
        return tal_state_error(state)->status;
    }
    take_room(&sum, work);
    for (int j = 0; j < forces->nu; ++j) {
        memset(T.data + (size_t)T.ld * (size_t)j, 0, (size_t)forces->nu * sizeof *T.data);
    }
    bool others = false;
    tal_status st = add_slopes(&sum, enabled, &others);
    if (st == TAL_OK && others) st = add_columns(forces, &context, enabled, by, T, work);
    return st;
}
