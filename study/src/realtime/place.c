// A State put where a step wants it, and what it says there.
#include "finite_internal.h"

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

// Known mobilities, and those with qdot = u.
static void read_mobilities(tal_fixed_stepper *s, const tal_state *state)
{
    const tal_matter *matter = s->matter;
    s->has_known = tal_matter_num_free(matter, state) < s->nu;
    s->num_simple = 0;
    for (int b = 1; b < s->num_bodies; ++b) {
        const tal_body_ix body = {b};
        const int nu = tal_body_nu(matter, body), u0 = tal_body_u_start(matter, body);
        const int q0 = nu > 0 ? tal_body_q_start(matter, state, body) - s->q0 : 0;
        const bool is_simple = tal_body_qdot_is_u(matter, body);
        for (int k = 0; k < nu; ++k) {
            s->level[u0 + k] = s->has_known
                                   ? tal_mobility_level(matter, state, (tal_mobility){body, k})
                                   : TAL_LEVEL_FREE;
            if (!is_simple) continue;
            s->simple_q[s->num_simple] = q0 + k;
            s->simple_u[s->num_simple] = u0 + k;
            ++s->num_simple;
        }
    }
    s->is_simple = s->num_simple == s->nu;
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

// k = N(q) x with the q of y1.
static tal_status slope_at(tal_fixed_stepper *s, tal_state *state, double t, const double x[],
                           double k[])
{
    tal_status st = tali_problem_put(&s->problem, state, t, s->y1);
    if (st == TAL_OK) st = tal_matter_calc_qdot(s->matter, state, x, k);
    return tali_realtime_pass_on(s, state, st);
}

// The q of y1 = that of y0, moved along x: q' = N(q) x through a unit of time by the classical
// Runge-Kutta method, whose error is of the order |x|^5; exact where qdot = u.
static tal_status move_along(tal_fixed_stepper *s, tal_state *state, double t, const double x[])
{
    static const double part[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
    const double *q = s->y0 + s->q0;
    double *q1 = s->y1 + s->q0;
    tal_status st = TAL_OK;
    for (int i = 0; i < 4 && !s->is_simple && st == TAL_OK; ++i) {
        const double *last = s->slope + (size_t)(i > 0 ? i - 1 : 0) * (size_t)s->nq;
        for (int k = 0; k < s->nq; ++k) {
            q1[k] = q[k] + (i > 0 ? part[i] * last[k] : 0.0);
        }
        st = slope_at(s, state, t, x, s->slope + (size_t)i * (size_t)s->nq);
    }
    for (int k = 0; k < s->nq && !s->is_simple && st == TAL_OK; ++k) {
        q1[k] = q[k];
        for (int i = 0; i < 4; ++i) {
            q1[k] += weight[i] / 6.0 * s->slope[(size_t)i * (size_t)s->nq + (size_t)k];
        }
    }
    for (int k = 0; k < s->num_simple; ++k) {
        q1[s->simple_q[k]] = q[s->simple_q[k]] + x[s->simple_u[k]];
    }
    return st;
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
    tal_status st = move_along(s, state, t, x);
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

// The forces of all elements, in F_GB and `product`.
static tal_status calc_forces(tal_fixed_stepper *s, tal_state *state)
{
    const tal_status st = tal_system_realize(s->system, state, TAL_STAGE_DYNAMICS);
    if (st != TAL_OK) return st;
    return tal_matter_calc_applied_forces(s->matter, state, s->F_GB, s->product);
}

tal_status tali_realtime_calc_P(tal_fixed_stepper *s, tal_state *state, const double udot[],
                                double f[])
{
    tal_status st = calc_forces(s, state);
    if (st == TAL_OK) {
        st = tal_matter_inverse_dynamics(s->matter, state, udot, s->F_GB, s->product, f);
    }
    return tali_realtime_pass_on(s, state, st);
}

tal_status tali_realtime_calc_free_udot(tal_fixed_stepper *s, tal_state *state, double udot[])
{
    tal_status st = calc_forces(s, state);
    if (st == TAL_OK) {
        st = tal_matter_forward_dynamics(s->matter, state, s->F_GB, s->product, udot, NULL);
    }
    return tali_realtime_pass_on(s, state, st);
}
