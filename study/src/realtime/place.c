// A State put where a step wants it, and what it says there.
#include "finite_internal.h"
#include "rates_internal.h"
#include "real_functions_internal.h"

#include "realtime/realtime_internal.h"

#include <math.h>
#include <string.h>

tal_status tali_realtime_pass_on(tal_fixed_stepper *s, const tal_state *state, tal_status st)
{
    if (st == TAL_OK || s->error_record.status != TAL_OK) return st;
    const tal_error *problem = &s->problem.error_record;
    const char *why = problem->status != TAL_OK ? problem->message : tali_problem_reason(state, st);
    return TALI_FAIL(&s->error_record, st, "%s", why);
}

double tali_realtime_norm(const double v[], int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += v[i] * v[i];
    }
    return sqrt(sum);
}

// --- where a step starts ---

// Known mobilities, quaternions, and whether any other rates depend on q.
static void read_mobilities(tal_fixed_stepper *s, const tal_state *state)
{
    const tal_matter *matter = s->matter;
    s->has_known = tal_matter_num_free(matter, state) < s->nu;
    s->is_curved = false;
    s->num_quaternions = 0;
    for (int b = 1; b < s->num_bodies; ++b) {
        const tal_body_ix body = {b};
        const int nu = tal_body_nu(matter, body), u0 = tal_body_u_start(matter, body);
        for (int k = 0; k < nu; ++k) {
            s->level[u0 + k] = s->has_known
                                   ? tal_mobility_level(matter, state, (tal_mobility){body, k})
                                   : TAL_LEVEL_FREE;
        }
        if (tal_body_qdot_is_u(matter, body)) continue;
        if (tal_body_nq(matter, state, body) == tal_body_nq_angles(matter, body)) {
            s->is_curved = true;
            continue;
        }
        s->quaternions[s->num_quaternions++] = tal_body_q_start(matter, state, body) - s->q0;
    }
}

static tal_status check_rows(tal_fixed_stepper *s, const tal_state *state)
{
    const bool is_semi = s->def.formulation == TAL_FORMULATION_SEMI_RECURSIVE;
    const int bad = s->rows.ma > 0 ? s->rows.a0 : is_semi && s->rows.mv > 0 ? s->rows.v0 : -1;
    if (bad < 0) return TAL_OK;
    const tal_constraint_ix owner = tal_matter_row_owner(s->matter, state, bad);
    return TALI_FAIL(&s->error_record, TAL_ERR_BAD_VALUE,
                     "constraint '%s' is on %s, which the formulation '%s' does not cover: "
                     "disable it, or %s",
                     tal_constraint_name(s->matter, owner),
                     s->rows.ma > 0 ? "accelerations alone" : "speeds alone",
                     tal_formulation_name(s->def.formulation),
                     s->rows.ma > 0 ? "use an integrator" : "choose 'hybrid'");
}

tal_status tali_realtime_read(tal_fixed_stepper *s, tal_state *state)
{
    const int ny = tal_state_ny(state), all_q = tal_state_nq(state);
    s->nq = tal_matter_nq(s->matter, state);
    s->q0 = tal_group_start(s->system, state, s->problem.q_group);
    s->u0 = all_q + tal_group_start(s->system, state, s->problem.u_group);
    s->rows = tal_matter_constraint_rows(s->matter, state);
    s->m = s->rows.mp + s->rows.mv;
    s->has_others = ny > s->nq + s->nu;
    read_mobilities(s, state);
    s->problem.is_free = s->problem.only_matter_settles && !s->has_known;
    tal_status st = check_rows(s, state);
    if (st == TAL_OK && s->has_others) {
        st = tal_system_realize(s->system, state, TAL_STAGE_ACCELERATION);
        if (st != TAL_OK) return tali_realtime_pass_on(s, state, st);
        memcpy(s->ydot0, tal_state_ydot(state), (size_t)ny * sizeof *s->ydot0);
    }
    if (st != TAL_OK) return st;
    s->t0 = tal_state_t(state);
    memcpy(s->y0, tal_state_y(state), (size_t)ny * sizeof *s->y0);
    s->u_start = s->y0 + s->u0;
    return TAL_OK;
}

// --- moving along speeds ---

// Of a quaternion p, p' = N x is A p with a constant A, and A^2 = -a^2 with a = |N x| / |p|:
//
//     p1 = cos(a) p + sin(a)/a N x
static void turn_quaternion(const double p[4], const double slope[4], double p1[4])
{
    const double a = tali_realtime_norm(slope, 4) / tali_realtime_norm(p, 4);
    const sine_cosine of = sincos_of(a);
    const double c = a > 0.0 ? of.s / a : 1.0;
    for (int k = 0; k < 4; ++k) {
        p1[k] = of.c * p[k] + c * slope[k];
    }
}

// The q of y1 = that of y0, moved along x: q' = N(q) x through a unit of time. Exact where N is
// constant, and of quaternions; otherwise by the classical Runge-Kutta method, whose error is of
// the order |x|^5.
static tal_status move_along(tal_fixed_stepper *s, tal_state *state, const double x[])
{
    static const double part[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
    const size_t nq = (size_t)s->nq;
    const double *q = s->y0 + s->q0;
    double *q1 = s->y1 + s->q0;
    tal_status st = TAL_OK;
    for (int i = 0; i < (s->is_curved ? 4 : 1) && st == TAL_OK; ++i) {
        const double *last = s->slope + (size_t)(i > 0 ? i - 1 : 0) * nq;
        for (int k = 0; k < s->nq; ++k) {
            q1[k] = q[k] + (i > 0 ? part[i] * last[k] : 0.0);
        }
        st = tali_matter_mul_N_of(s->matter, state, q1, s->u_start, TAL_N, x,
                                  s->slope + (size_t)i * nq);
    }
    if (st != TAL_OK) return tali_realtime_pass_on(s, state, st);
    for (int k = 0; k < s->nq; ++k) {
        double sum = s->slope[k];
        for (int i = 1; i < 4 && s->is_curved; ++i) {
            sum += weight[i] * s->slope[(size_t)i * nq + (size_t)k];
        }
        q1[k] = q[k] + (s->is_curved ? sum / 6.0 : sum);
    }
    for (int k = 0; k < s->num_quaternions; ++k) {
        const int at = s->quaternions[k];
        turn_quaternion(q + at, s->slope + at, q1 + at);
    }
    return TAL_OK;
}

tal_status tali_realtime_put(tal_fixed_stepper *s, tal_state *state, double t, const double x[],
                             const double u[])
{
    const int ny = tal_state_ny(state);
    if (!tali_finite_all(x, s->nu) || !tali_finite_all(u, s->nu)) {
        return TALI_FAIL(&s->error_record, TAL_ERR_NOT_FINITE,
                         "a step of %g s from t = %g leads to numbers that are not finite: take "
                         "shorter ones",
                         s->h, s->t0);
    }
    memcpy(s->y1, s->y0, (size_t)ny * sizeof *s->y1);
    for (int i = 0; i < ny && s->has_others; ++i) {
        s->y1[i] += (t - s->t0) * s->ydot0[i];
    }
    tal_status st = move_along(s, state, x);
    memcpy(s->y1 + s->u0, u, (size_t)s->nu * sizeof *u);
    if (st == TAL_OK) st = tali_problem_put(&s->problem, state, t, s->y1);
    if (st == TAL_OK) st = tali_problem_settle_start(&s->problem, state, true);
    if (st == TAL_OK) st = tal_system_realize(s->system, state, TAL_STAGE_VELOCITY);
    return tali_realtime_pass_on(s, state, st);
}

tal_status tali_realtime_put_u(tal_fixed_stepper *s, tal_state *state, const double u[])
{
    double *slots = tal_state_upd_u(state);
    if (slots == NULL) return tali_realtime_pass_on(s, state, tal_state_error(state)->status);
    memcpy(slots + s->u0 - tal_state_nq(state), u, (size_t)s->nu * sizeof *u);
    tal_status st = tal_system_prescribe_u(s->system, state, NULL);
    if (st == TAL_OK) st = tal_system_realize(s->system, state, TAL_STAGE_VELOCITY);
    return tali_realtime_pass_on(s, state, st);
}

tal_status tali_realtime_settle_others(tal_fixed_stepper *s, tal_state *state)
{
    if (!s->has_others) return TAL_OK;
    tal_status st = tal_system_realize(s->system, state, TAL_STAGE_ACCELERATION);
    if (st != TAL_OK) return tali_realtime_pass_on(s, state, st);
    const double *ydot = tal_state_ydot(state), *y = tal_state_y(state);
    const int ny = tal_state_ny(state);
    for (int i = 0; i < ny; ++i) {
        const bool is_q = i >= s->q0 && i < s->q0 + s->nq;
        const bool is_u = i >= s->u0 && i < s->u0 + s->nu;
        s->y1[i] = is_q || is_u ? y[i] : s->y0[i] + 0.5 * s->h * (s->ydot0[i] + ydot[i]);
    }
    st = tali_problem_put(&s->problem, state, s->t1, s->y1);
    if (st == TAL_OK) st = tali_problem_settle_start(&s->problem, state, false);
    if (st == TAL_OK) st = tal_system_realize(s->system, state, TAL_STAGE_VELOCITY);
    return tali_realtime_pass_on(s, state, st);
}

// --- what it says there ---

const double *tali_realtime_perr(const tal_fixed_stepper *s, const tal_state *state)
{
    if (s->perr_group.i < 0) return s->row;
    return tal_state_qerr(state) + tal_group_start(s->system, state, s->perr_group);
}

const double *tali_realtime_verr(const tal_fixed_stepper *s, const tal_state *state)
{
    if (s->verr_group.i < 0) return s->row;
    return tal_state_uerr(state) + tal_group_start(s->system, state, s->verr_group);
}

tal_status tali_realtime_calc_forces(tal_fixed_stepper *s, tal_state *state)
{
    const tal_status st = tal_system_realize(s->system, state, TAL_STAGE_DYNAMICS);
    if (st != TAL_OK) return st;
    return tal_matter_calc_applied_forces(s->matter, state, s->F_GB, s->product);
}

tal_status tali_realtime_calc_P(tal_fixed_stepper *s, tal_state *state, const double udot[],
                                double f[])
{
    tal_status st = tali_realtime_calc_forces(s, state);
    if (st == TAL_OK) {
        st = tal_matter_inverse_dynamics(s->matter, state, udot, s->F_GB, s->product, f);
    }
    return tali_realtime_pass_on(s, state, st);
}

tal_status tali_realtime_calc_free_udot(tal_fixed_stepper *s, tal_state *state, double udot[])
{
    tal_status st = tali_realtime_calc_forces(s, state);
    if (st == TAL_OK) {
        st = tal_matter_forward_dynamics(s->matter, state, s->F_GB, s->product, udot, NULL);
    }
    return tali_realtime_pass_on(s, state, st);
}
