// How forces change with q and u, for the tangent matrix of an implicit step: one column for each
// speed, with the motion of the bodies from J.
#include "force_tangent_internal.h"

#include "core/derivative_internal.h"

#include <string.h>

bool tali_force_has_tangent(const tal_forces *forces, const tal_state *state)
{
    const uint8_t *enabled = tali_forces_enabled(forces, state);
    for (int i = 0; i < forces->num_elements; ++i) {
        if (enabled[i] && forces->elements[i].ops.apply_change == NULL) return false;
    }
    return true;
}

size_t tali_force_tangent_work_size(const tal_forces *forces)
{
    const size_t nb = (size_t)forces->num_bodies, nu = (size_t)forces->nu;
    return 6 * nb * nu + 18 * nb + (nu + nb) + 2 * nu; // at most one quaternion per body
}

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

// t = df + J^T dF, where there is any.
static void project(const tal_forces *forces, const column_room *r, double t[])
{
    const int nu = forces->nu;
    memcpy(t, r->df, (size_t)nu * sizeof *t);
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

tal_status tali_force_calc_tangent(const tal_forces *forces, tal_state *state, double by_q,
                                   double by_u, tal_matrix T, double work[])
{
    const uint8_t *enabled = tali_forces_enabled(forces, state);
    const tal_force_context context = tali_force_context(forces, state, TAL_STAGE_VELOCITY);
    const column_room r = set_up(forces, work);
    tal_status st = calc_J_about_Mo(forces, state, r.J);
    for (int j = 0; j < forces->nu && st == TAL_OK; ++j) {
        st = move_along(forces, state, j, by_q, by_u, &r);
        const tal_force_change change = {r.dq, r.du, r.dX, r.dV, NULL};
        for (int i = 0; i < forces->num_elements && st == TAL_OK; ++i) {
            const tali_force *element = &forces->elements[i];
            if (!enabled[i]) continue;
            st = element->ops.apply_change(element->self, &context, &change, r.dF, r.df);
            if (st != TAL_OK) return tali_force_explain(state, element, st);
        }
        r.du[j] = 0.0;
        project(forces, &r, T.data + (size_t)T.ld * (size_t)j);
    }
    return st;
}
