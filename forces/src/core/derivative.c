// How the generalized forces change with q and u.
//
// For elements with an apply_change, with dX, dV the small motion of the bodies,
//
//     d(f + J^T F) = df + J^T dF + (dJ^T) F
//
// where dJ^T, the part of dV that comes from moving q, and the elements without an apply_change are
// left to differences along the direction.
#include "core/derivative_internal.h"

#include <talus/forces/derivative.h>

#include <math.h>
#include <string.h>

tali_force_points tali_force_points_for(double size)
{
    const double h = 1e-3 / fmax(1.0, size);
    return (tali_force_points){
        {-h, -0.5 * h, 0.5 * h, h},
        {1.0 / (6.0 * h), -4.0 / (3.0 * h), 4.0 / (3.0 * h), -1.0 / (6.0 * h)}};
}

double tali_force_size_of(const double v[], int n)
{
    double size = 0.0;
    for (int i = 0; i < n; ++i) {
        size = fmax(size, fabs(v[i]));
    }
    return size;
}

// --- directions ---

// p_MB in Ground: from Mo to Bo, between which velocities and forces are shifted.
static tal_vec3 p_MB_G(const tal_matter *matter, const tal_state *state,
                       const tal_bodies_view *poses, int b)
{
    const tal_xform X_MB = tal_body_X_MB(matter, state, (tal_body_ix){b});
    return tal_m3_mul_v3(tal_view_X_GM(poses, b)->R, X_MB.p);
}

tal_status tali_force_velocities_for(const tal_matter *matter, tal_state *state, const double v[],
                                     tal_spatial_vec dV[])
{
    const tal_status st = tal_matter_mul_J(matter, state, v, dV);
    if (st != TAL_OK) return st;
    const tal_bodies_view poses = tal_matter_poses(matter, state);
    for (int b = 0; b < tal_matter_num_bodies(matter); ++b) {
        // v_M = v_B - w x p_MB
        const tal_vec3 p = p_MB_G(matter, state, &poses, b);
        dV[b].v = tal_v3_sub(dV[b].v, tal_v3_cross(dV[b].w, p));
    }
    return TAL_OK;
}

tal_status tali_force_direction_along(const tal_matter *matter, tal_state *state, const double w[],
                                      const tali_force_direction *to)
{
    const tal_status st = tal_matter_mul_N(matter, state, TAL_N, w, to->dq);
    return st == TAL_OK ? tali_force_velocities_for(matter, state, w, to->dX) : st;
}

// First slot of matter in a pool.
static int first_slot(const tal_matter *matter, const tal_state *state, tal_pool pool)
{
    const tal_subsystem_ix owner = tal_matter_subsystem(matter);
    const char *name = pool == TAL_POOL_Q ? "q" : "u";
    const tal_group_ix group = tal_system_find_group(tal_matter_system(matter), owner, pool, name);
    return tal_group_start(tal_matter_system(matter), state, group);
}

tal_status tali_force_move(const tal_matter *matter, const tal_state *from,
                           const tali_force_direction *along, double by, tal_state *moved)
{
    tal_status st = tal_state_copy(moved, from);
    if (st != TAL_OK) return st;
    const int nq = tal_matter_nq(matter, from);
    double *q = tal_state_upd_q(moved) + first_slot(matter, from, TAL_POOL_Q);
    for (int i = 0; i < nq; ++i) {
        q[i] += by * along->dq[i];
    }
    double *u = tal_state_upd_u(moved) + first_slot(matter, from, TAL_POOL_U);
    for (int i = 0; i < tal_matter_nu(matter); ++i) {
        u[i] += by * along->du[i];
    }
    const int nz = along->dz != NULL ? tal_state_nz(from) : 0;
    double *z = nz > 0 ? tal_state_upd_z(moved) : NULL;
    for (int i = 0; i < nz; ++i) {
        z[i] += by * along->dz[i];
    }
    return tal_system_realize(tal_matter_system(matter), moved, TAL_STAGE_VELOCITY);
}

void tali_force_shift_to_Mo(const tal_matter *matter, const tal_state *state, tal_spatial_vec F[])
{
    const tal_bodies_view poses = tal_matter_poses(matter, state);
    for (int b = 0; b < tal_matter_num_bodies(matter); ++b) {
        F[b].w = tal_v3_add(F[b].w, tal_v3_cross(p_MB_G(matter, state, &poses, b), F[b].v));
    }
}

tal_status tali_force_generalized(const tal_matter *matter, tal_state *state, tal_spatial_vec F[],
                                  const double f[], double g[])
{
    const tal_bodies_view poses = tal_matter_poses(matter, state);
    for (int b = 0; b < tal_matter_num_bodies(matter); ++b) {
        // m_B = m_M - p_MB x f
        const tal_vec3 p = p_MB_G(matter, state, &poses, b);
        F[b].w = tal_v3_sub(F[b].w, tal_v3_cross(p, F[b].v));
    }
    const tal_status st = tal_matter_mul_JT(matter, state, F, g);
    for (int i = 0; i < tal_matter_nu(matter) && st == TAL_OK; ++i) {
        g[i] += f[i];
    }
    return st;
}

// --- the work ---

typedef struct job {
    const tal_forces *forces;
    tal_state *state, *scratch;
    tali_force_direction along;
    tal_spatial_vec *dV;  // [num_bodies]
    tal_spatial_vec *F;   // [num_bodies] of elements with an apply_change
    tal_spatial_vec *sum; // [num_bodies] room
    double *f, *g;        // [nu] room
    double *zero;         // [nu]
    bool has_quiet;       // some elements have no apply_change
} job;

size_t tal_forces_derivative_work_size(const tal_forces *forces)
{
    if (forces == NULL || !tal_system_has_topology(forces->system)) return 0;
    const size_t nb = (size_t)forces->num_bodies, nu = (size_t)forces->nu;
    return 24 * nb + (nu + nb) + 4 * nu; // at most one quaternion per body
}

static job set_up(const tal_forces *forces, tal_state *state, tal_state *scratch, double work[])
{
    const int nb = forces->num_bodies, nu = forces->nu;
    tal_spatial_vec *bodies = (tal_spatial_vec *)(void *)work;
    double *rest = work + (size_t)24 * (size_t)nb;
    job j = {.forces = forces, .state = state, .scratch = scratch};
    memset(work, 0, tal_forces_derivative_work_size(forces) * sizeof *work);
    j.along.dX = bodies;
    j.dV = bodies + nb;
    j.F = bodies + 2 * nb;
    j.sum = bodies + 3 * nb;
    j.f = rest;
    j.g = rest + nu;
    j.zero = rest + 2 * nu;
    j.along.dq = rest + 3 * nu;
    j.along.du = j.zero;
    return j;
}

// Add what elements of one sort apply at a State: those with an apply_change, or the others.
static tal_status apply_sort(const job *j, tal_state *state, bool has_change, tal_spatial_vec F[],
                             double f[])
{
    const tal_forces *forces = j->forces;
    const uint8_t *enabled = tali_forces_enabled(forces, state);
    for (int i = 0; i < forces->num_elements; ++i) {
        const bool has_it = forces->elements[i].ops.apply_change != NULL;
        if (!enabled[i] || has_it != has_change) continue;
        const tal_status st = tali_force_apply_about_Mo(forces, state, (tal_force_ix){i}, F, f);
        if (st != TAL_OK) return st;
    }
    return TAL_OK;
}

// Differences along the direction. dg gains the change of J^T under the forces of the elements with
// an apply_change, and the whole change of the others; dV gains the change of the velocities with
// q.
static tal_status add_differences(job *j, double dg[])
{
    const tal_forces *forces = j->forces;
    const int nb = forces->num_bodies, nu = forces->nu;
    const double *dX = (const double *)(const void *)j->along.dX;
    const double *dV = (const double *)(const void *)j->dV;
    const double size = fmax(fmax(tali_force_size_of(dX, 6 * nb), tali_force_size_of(dV, 6 * nb)),
                             tali_force_size_of(j->along.du, nu));
    const tali_force_points points = tali_force_points_for(size);
    memset(j->dV, 0, (size_t)nb * sizeof *j->dV);
    for (int k = 0; k < TALI_NUM_POINTS; ++k) {
        tal_status st =
            tali_force_move(forces->matter, j->state, &j->along, points.at[k], j->scratch);
        if (st != TAL_OK) return st;
        memcpy(j->sum, j->F, (size_t)nb * sizeof *j->sum);
        memset(j->f, 0, (size_t)nu * sizeof *j->f);
        st = apply_sort(j, j->scratch, false, j->sum, j->f);
        if (st == TAL_OK)
            st = tali_force_generalized(forces->matter, j->scratch, j->sum, j->f, j->g);
        if (st != TAL_OK) return st;
        const tal_bodies_view velocities = tal_matter_velocities(forces->matter, j->scratch);
        for (int b = 0; b < nb; ++b) {
            const tal_spatial_vec V_GM = *tal_view_V_GM(&velocities, b);
            j->dV[b] = tal_sv_add(j->dV[b], tal_sv_scale(points.weight[k], V_GM));
        }
        for (int i = 0; i < nu; ++i) {
            dg[i] += points.weight[k] * j->g[i];
        }
    }
    return TAL_OK;
}

// The elements with an apply_change: dg gains df + J^T dF.
static tal_status add_changes(job *j, double dg[])
{
    const tal_forces *forces = j->forces;
    const uint8_t *enabled = tali_forces_enabled(forces, j->state);
    const tal_force_context context = tali_force_context(forces, j->state, TAL_STAGE_VELOCITY);
    const tal_force_change change = {j->along.dq, j->along.du, j->along.dX, j->dV, NULL};
    memset(j->sum, 0, (size_t)forces->num_bodies * sizeof *j->sum);
    memset(j->f, 0, (size_t)forces->nu * sizeof *j->f);
    for (int i = 0; i < forces->num_elements; ++i) {
        const tali_force *element = &forces->elements[i];
        if (!enabled[i] || element->ops.apply_change == NULL) continue;
        const tal_status st =
            element->ops.apply_change(element->self, &context, &change, j->sum, j->f);
        if (st != TAL_OK) return tali_force_explain(j->state, element, st);
    }
    const tal_status st = tali_force_generalized(forces->matter, j->state, j->sum, j->f, j->g);
    for (int i = 0; i < forces->nu && st == TAL_OK; ++i) {
        dg[i] += j->g[i];
    }
    return st;
}

static bool has_quiet_elements(const tal_forces *forces, const tal_state *state)
{
    const uint8_t *enabled = tali_forces_enabled(forces, state);
    for (int i = 0; i < forces->num_elements; ++i) {
        if (enabled[i] && forces->elements[i].ops.apply_change == NULL) return true;
    }
    return false;
}

static tal_status find_derivative(job *j, const double w[], const double v[], double dg[])
{
    const tal_forces *forces = j->forces;
    tal_status st = TAL_OK;
    if (v != NULL) j->along.du = v;
    if (w != NULL) st = tali_force_direction_along(forces->matter, j->state, w, &j->along);
    if (st == TAL_OK) st = tali_force_velocities_for(forces->matter, j->state, j->along.du, j->dV);
    // forces of the elements with an apply_change, which change with J^T
    if (st == TAL_OK && w != NULL) st = apply_sort(j, j->state, true, j->F, j->f);
    if (st == TAL_OK && (w != NULL || j->has_quiet)) st = add_differences(j, dg);
    return st == TAL_OK ? add_changes(j, dg) : st;
}

tal_status tal_forces_calc_derivative(const tal_forces *forces, tal_state *state,
                                      tal_state *scratch, const double w[], const double v[],
                                      double dg[], double work[])
{
    if (forces == NULL || state == NULL || dg == NULL || work == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    }
    if (tal_state_stage(state) < TAL_STAGE_VELOCITY) {
        return TALI_BREACH(TAL_ERR_STAGE, "the State is at %s and must be at Velocity",
                           tal_stage_name(tal_state_stage(state)));
    }
    if (tali_forces_enabled(forces, state) == NULL) return tal_contract_last()->status;
    job j = set_up(forces, state, scratch, work);
    j.has_quiet = has_quiet_elements(forces, state);
    if (scratch == NULL && (w != NULL || j.has_quiet)) {
        return TALI_BREACH(TAL_ERR_NULL, "differences are needed, but the scratch State is NULL");
    }
    if (scratch == state) return TALI_BREACH(TAL_ERR_BAD_VALUE, "scratch is the State itself");
    double *sum = work + tal_forces_derivative_work_size(forces) - forces->nu;
    memset(sum, 0, (size_t)forces->nu * sizeof *sum);
    const tal_status st = find_derivative(&j, w, v, sum);
    if (st == TAL_OK) memcpy(dg, sum, (size_t)forces->nu * sizeof *dg);
    return st;
}
