// Baumgarte's stabilization under explicit methods (Welch eq. 47 to 51): udot with
//
//     G udot = b - 2 alpha verr - beta^2 Phi        alpha, beta some parts of 1 / h
//
// and -alpha verr for velocity rows twice, as for the others.
#include "realtime/realtime_internal.h"

#include <string.h>

// udot where the State is, and its multipliers.
static tal_status calc_udot(tal_fixed_stepper *s, tal_state *state, double udot[])
{
    const double alpha = s->def.alpha_h / s->h, beta = s->def.beta_h / s->h;
    tal_status st = tali_realtime_calc_free_udot(s, state, udot);
    if (st != TAL_OK || s->m == 0) return st;
    const double *perr = tali_realtime_perr(s, state), *verr = tali_realtime_verr(s, state);
    st = tal_matter_calc_constraint_aerr(s->matter, state, udot, s->row);
    for (int i = 0; i < s->m; ++i) {
        s->row[i] += 2.0 * alpha * verr[i];
        if (i < s->rows.mp) s->row[i] += beta * beta * perr[i];
    }
    if (st == TAL_OK) {
        st = tal_matter_calc_constraint_impulse(s->matter, state, s->row, s->past.lambda, s->f);
    }
    ++s->stats.factorizations;
    for (int k = 0; k < s->nu && st == TAL_OK; ++k) {
        udot[k] += s->f[k];
    }
    return tali_realtime_pass_on(s, state, st);
}

// ydot where the State is: q by its speeds, u stabilized, the rest as the System says.
static tal_status calc_ydot(tal_fixed_stepper *s, tal_state *state, double ydot[])
{
    const int nq = tal_state_nq(state), ny = tal_state_ny(state);
    if (s->has_others) {
        const tal_status st = tal_system_realize(s->system, state, TAL_STAGE_ACCELERATION);
        if (st != TAL_OK) return tali_realtime_pass_on(s, state, st);
        memcpy(ydot, tal_state_ydot(state), (size_t)ny * sizeof *ydot);
    } else {
        memcpy(ydot, tal_state_qdot(state), (size_t)nq * sizeof *ydot);
    }
    return calc_udot(s, state, ydot + s->u0);
}

// Put the sum of the stages into the State.
static tal_status put_sum(tal_fixed_stepper *s, tal_state *state, double c, int n,
                          const double weights[])
{
    const size_t ny = (size_t)tal_state_ny(state);
    tali_problem_row row = {.n = 0};
    for (int i = 0; i < n; ++i) {
        if (weights[i] == 0.0) continue;
        row.coefs[row.n] = weights[i];
        row.k[row.n++] = s->stages + (size_t)i * ny;
    }
    memcpy(s->problem.y0, s->y0, ny * sizeof *s->y0);
    const double t = c == 1.0 ? s->t1 : s->t0 + c * s->h;
    tal_status st = tali_problem_put_sum(&s->problem, state, t, s->h, &row);
    if (st == TAL_OK) st = tali_problem_settle_start(&s->problem, state, true);
    if (st == TAL_OK) st = tal_system_realize(s->system, state, TAL_STAGE_VELOCITY);
    return tali_realtime_pass_on(s, state, st);
}

static tal_status step_by_tableau(tal_fixed_stepper *s, tal_state *state)
{
    const tal_rk_tableau *it = s->def.tableau;
    const int n = it->stages;
    const size_t ny = (size_t)tal_state_ny(state);
    tal_status st = TAL_OK;
    for (int i = 0; i < n && st == TAL_OK; ++i) {
        if (i > 0) st = put_sum(s, state, it->c[i], i, it->a + (size_t)i * (size_t)n);
        if (st == TAL_OK) st = calc_ydot(s, state, s->stages + (size_t)i * ny);
    }
    return st == TAL_OK ? put_sum(s, state, 1.0, n, it->b) : st;
}

// Speeds first, then coordinates with them (Welch eq. 14 to 17).
static tal_status step_by_euler(tal_fixed_stepper *s, tal_state *state)
{
    tal_status st = calc_udot(s, state, s->a);
    for (int k = 0; k < s->nu; ++k) {
        s->u[k] = s->u_start[k] + s->h * s->a[k];
        s->x[k] = s->h * s->u[k];
    }
    return st == TAL_OK ? tali_realtime_put(s, state, s->t1, s->x, s->u) : st;
}

static tal_status step(tal_fixed_stepper *s, tal_state *state)
{
    ++s->stats.iterations;
    return s->def.scheme == TAL_SCHEME_EXPLICIT ? step_by_tableau(s, state)
                                                : step_by_euler(s, state);
}

static tal_status start(tal_fixed_stepper *s, tal_state *state)
{
    (void)state;
    memset(s->past.udot, 0, (size_t)s->nu * sizeof *s->past.udot);
    memset(s->past.lambda, 0, (size_t)s->m * sizeof *s->past.lambda);
    return TAL_OK;
}

const tali_realtime_ops *tali_realtime_baumgarte(void)
{
    static const tali_realtime_ops ops = {.start = start, .step = step};
    return &ops;
}
