// What the equations of motion say at one node of a mesh, and how that changes with its unknowns.
#include "error_internal.h"

#include "optimize/optimizer_internal.h"
#include "problem/study_internal.h"

#include <math.h>
#include <string.h>

// Steps of central differences, relative to 1 + |x|: the cube root of eps.
static const double STEP = 6e-6;

tali_optimize_node tali_optimize_node_at(const tal_optimizer *it, const double x[])
{
    const double *u = x + it->nq, *z = u + it->nu, *a = z + it->nz;
    return (tali_optimize_node){x, u, z, a, a + it->nu};
}

double tali_optimize_time_at(const tal_optimizer *it, int k, double end)
{
    return it->start + (end - it->start) * ((double)k / (it->num_nodes - 1));
}

tal_status tali_optimize_put(const tal_optimizer *it, tal_state *state, double t, const double x[])
{
    const tali_optimize_node at = tali_optimize_node_at(it, x);
    tal_status st = tal_state_set_t(state, t);
    if (it->nq > 0) memcpy(tal_state_upd_q(state), at.q, (size_t)it->nq * sizeof *at.q);
    if (it->nu > 0) memcpy(tal_state_upd_u(state), at.u, (size_t)it->nu * sizeof *at.u);
    if (it->nz > 0) memcpy(tal_state_upd_z(state), at.z, (size_t)it->nz * sizeof *at.z);
    for (int i = 0; i < it->nc && st == TAL_OK; ++i) {
        st = tal_actuator_set_control(it->forces, state, it->actuators[i], at.c[i]);
    }
    return st;
}

static tal_status pass_on(tal_optimizer *it, const tal_state *state, double t, tal_status st)
{
    if (st == TAL_OK) return TAL_OK;
    return TALI_FAIL(&it->error_record, st, "at t = %g: %s", t, tali_problem_reason(state, st));
}

// Forces of all elements, and rates of z: the stages beyond Dynamics only where there is a z.
static tal_status realize(tal_optimizer *it, double t, const double x[])
{
    tal_status st = tali_optimize_put(it, it->state, t, x);
    const tal_stage stage = it->nz > 0 ? TAL_STAGE_ACCELERATION : TAL_STAGE_DYNAMICS;
    if (st == TAL_OK) st = tal_system_realize(it->system, it->state, stage);
    return st;
}

// lack = ID(q, u, a) - f - J^T F, and f = {N u, a, zdot}
static tal_status calc(tal_optimizer *it, double t, const double x[], double f[], double lack[])
{
    const tali_optimize_node at = tali_optimize_node_at(it, x);
    tal_status st = realize(it, t, x);
    if (st == TAL_OK) {
        st = tal_matter_calc_applied_forces(it->matter, it->state, it->F_GB, it->f_applied);
    }
    if (st == TAL_OK) {
        st =
            tal_matter_inverse_dynamics(it->matter, it->state, at.a, it->F_GB, it->f_applied, lack);
    }
    if (st != TAL_OK) return st;
    const double *qdot = tal_state_qdot(it->state);
    if (it->nq > 0) memcpy(f, qdot, (size_t)it->nq * sizeof *f);
    if (it->nu > 0) memcpy(f + it->nq, at.a, (size_t)it->nu * sizeof *f);
    if (it->nz > 0) {
        memcpy(f + it->nq + it->nu, tal_state_zdot(it->state), (size_t)it->nz * sizeof *f);
    }
    return TAL_OK;
}

tal_status tali_optimize_calc_values(tal_optimizer *it, double t, const double x[],
                                     tali_optimize_values *out)
{
    tal_status st = calc(it, t, x, out->f, out->lack);
    if (st == TAL_OK) st = tali_optimize_calc_cost(it, t, x, false, &out->cost);
    return pass_on(it, it->state, t, st);
}

// --- exact derivatives ---

static double *column(double *M, int rows, int j)
{
    return M + (ptrdiff_t)rows * j;
}

// lack by q along motions, by u and by a: inverse dynamics without forces, less the change of
// forces, which are those of f + J^T F.
static tal_status calc_dynamics_slopes(tal_optimizer *it, const double x[], double *lack_by)
{
    const tali_optimize_node at = tali_optimize_node_at(it, x);
    const int nu = it->nu, a0 = it->nq + nu + it->nz;
    const tal_matrix by_q = tal_matrix_view(it->columns, nu, nu);
    const tal_matrix by_u = tal_matrix_view(column(lack_by, nu, it->nq), nu, nu);
    const tal_matrix by_a = tal_matrix_view(column(lack_by, nu, a0), nu, nu);
    tal_status st =
        tal_matter_calc_ID_derivatives(it->matter, it->state, at.a, NULL, by_q, by_u, by_a);
    for (int l = 0; l < nu && st == TAL_OK; ++l) {
        for (int way = 0; way < 2 && st == TAL_OK; ++way) {
            memset(it->direction, 0, (size_t)nu * sizeof *it->direction);
            it->direction[l] = 1.0;
            st = tal_forces_calc_derivative(
                it->forces, it->state, it->scratch, way == 0 ? it->direction : NULL,
                way == 0 ? NULL : it->direction, it->f_applied, it->work);
            double *target = column(way == 0 ? by_q.data : by_u.data, nu, l);
            for (int i = 0; i < nu && st == TAL_OK; ++i) {
                target[i] -= it->f_applied[i];
            }
        }
    }
    if (st != TAL_OK) return st;
    const tal_matrix by_components = tal_matrix_view(lack_by, nu, it->nq);
    return tal_matter_derivative_by_coordinates(it->matter, it->state, by_q, by_components);
}

// --- differences, where there is nothing better ---

static double step_at(double x)
{
    return STEP * (1.0 + fabs(x));
}

// A column of f and lack by one unknown, or by time (j < 0).
static tal_status difference(tal_optimizer *it, double t, const double x[], int j, double f_by[],
                             double lack_by[])
{
    const double h = step_at(j >= 0 ? x[j] : t);
    memcpy(it->moved, x, (size_t)it->size * sizeof *x);
    tal_status st = TAL_OK;
    for (int way = 1; way >= -1 && st == TAL_OK; way -= 2) {
        if (j >= 0) it->moved[j] = x[j] + way * h;
        st = calc(it, j >= 0 ? t : t + way * h, it->moved, way > 0 ? f_by : it->plus.f,
                  way > 0 ? lack_by : it->plus.lack);
    }
    for (int i = 0; i < it->ny && st == TAL_OK; ++i) {
        f_by[i] = (f_by[i] - it->plus.f[i]) / (2.0 * h);
    }
    for (int i = 0; i < it->nu && st == TAL_OK; ++i) {
        lack_by[i] = (lack_by[i] - it->plus.lack[i]) / (2.0 * h);
    }
    return st;
}

// Columns by z and controls. By q and u the dynamics are known already, and rates of q where they
// are speeds: what is left are rates of z, and of quaternions and angles.
static tal_status calc_difference_slopes(tal_optimizer *it, double t, const double x[],
                                         tali_optimize_values *out)
{
    const int z0 = it->nq + it->nu, a0 = z0 + it->nz, c0 = a0 + it->nu;
    tal_status st = TAL_OK;
    for (int j = 0; j < it->size && st == TAL_OK; ++j) {
        const bool is_motion = j < z0, is_acceleration = j >= a0 && j < c0;
        if (is_acceleration || (is_motion && it->nz == 0 && it->is_plain[j])) continue;
        double *lack_by = is_motion ? it->gradient_plus : column(out->lack_by, it->nu, j);
        st = difference(it, t, x, j, column(out->f_by, it->ny, j), lack_by);
    }
    if (st == TAL_OK && it->has_time) st = difference(it, t, x, -1, out->f_by_t, out->lack_by_t);
    return st;
}

// qdot = u and u' = a
static void put_plain(const tal_optimizer *it, double *f_by)
{
    const int a0 = it->nq + it->nu + it->nz;
    for (int i = 0; i < it->nu; ++i) {
        column(f_by, it->ny, a0 + i)[it->nq + i] = 1.0;
    }
    for (int b = 1; b < tal_matter_num_bodies(it->matter) && it->nz == 0; ++b) {
        const tal_body_ix body = {b};
        if (!tal_body_qdot_is_u(it->matter, body)) continue;
        const int q0 = tal_body_q_start(it->matter, it->state, body);
        const int u0 = tal_body_u_start(it->matter, body);
        for (int i = 0; i < tal_body_nu(it->matter, body); ++i) {
            column(f_by, it->ny, it->nq + u0 + i)[q0 + i] = 1.0;
        }
    }
}

tal_status tali_optimize_calc_slopes(tal_optimizer *it, double t, const double x[],
                                     tali_optimize_values *out)
{
    memset(out->f_by, 0, (size_t)it->ny * (size_t)it->size * sizeof *out->f_by);
    tal_status st = tali_optimize_calc_values(it, t, x, out);
    if (st != TAL_OK) return st;
    st = calc_dynamics_slopes(it, x, out->lack_by);
    if (st == TAL_OK) st = calc_difference_slopes(it, t, x, out);
    put_plain(it, out->f_by);
    if (st == TAL_OK) {
        st = tali_optimize_calc_cost_slopes(it, t, x, false, out->cost_by, &out->cost_by_t);
    }
    return pass_on(it, it->state, t, st);
}
