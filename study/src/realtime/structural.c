// A step by Newmark's family: predict, iterate, finish. The formulation says what is iterated.
//
// The equations of motion hold at the end of the step, for udot; Newmark's formulas take a, which
// generalized alpha and HHT relate to it: (1 - dm) a1 + dm a0 = (1 - df) udot1 + df udot0. Where M
// is constant this is CD eq. 38; where it depends on q, CD eq. 38 is of first order only, and this
// is of second (ArnoldBruls sec. 2 relates them so).
#include "realtime/realtime_internal.h"

#include <math.h>
#include <string.h>

// CD tab. 2
tali_realtime_family tali_realtime_family_of(const tal_fixed_stepper_def *def)
{
    const double df = def->delta_f, xi = def->xi, rho = def->rho;
    tali_realtime_family it = {.gamma = 0.5, .beta = 0.25};
    if (def->scheme == TAL_SCHEME_NEWMARK) {
        it.gamma = 0.5 * (1.0 - 2.0 * xi);
        it.beta = 0.25 * (1.0 - xi) * (1.0 - xi);
    } else if (def->scheme == TAL_SCHEME_HHT) {
        it.df = df;
        it.gamma = 0.5 * (1.0 + 2.0 * df);
        it.beta = 0.25 * (1.0 + df) * (1.0 + df);
    } else if (def->scheme == TAL_SCHEME_GENERALIZED_ALPHA) {
        it.dm = (2.0 * rho - 1.0) / (rho + 1.0);
        it.df = rho / (rho + 1.0);
        it.gamma = 0.5 - it.dm + it.df;
        it.beta = 0.25 * (1.0 + it.df - it.dm) * (1.0 + it.df - it.dm);
    }
    return it;
}

// CD eq. 39 and 40, with x = q1 - q0 along u. Note that gamma is not in the first two terms of the
// acceleration, where CD eq. 42 prints it. Then udot of (1 - dm) a + dm a0 = (1 - df) udot + df
// udot0.
void tali_realtime_calc_rates(tal_fixed_stepper *s)
{
    const tali_realtime_family *it = &s->family;
    const double h = s->h, gamma = it->gamma, beta = it->beta, c = gamma / (beta * h);
    const double *u0 = s->u_start, *a0 = s->past.a;
    for (int k = 0; k < s->nu; ++k) {
        if (s->level[k] != TAL_LEVEL_FREE) continue;
        s->u[k] =
            c * s->x[k] - (gamma / beta - 1.0) * u0[k] - h * (gamma / (2.0 * beta) - 1.0) * a0[k];
        s->a[k] =
            s->x[k] / (beta * h * h) - u0[k] / (beta * h) - (1.0 / (2.0 * beta) - 1.0) * a0[k];
        s->udot[k] =
            ((1.0 - it->dm) * s->a[k] + it->dm * a0[k] - it->df * s->past.udot[k]) / (1.0 - it->df);
    }
}

// x, u, a of the start of the iteration (GJB eq. 8.135); those of known mobilities are refined as
// the State tells them.
static void predict(tal_fixed_stepper *s)
{
    const double h = s->h;
    for (int k = 0; k < s->nu; ++k) {
        s->a[k] = s->past.a[k];
        s->udot[k] = s->past.udot[k];
        s->u[k] = s->u_start[k] + h * s->a[k];
        s->x[k] = h * s->u_start[k] + 0.5 * h * h * s->a[k];
    }
    tali_realtime_calc_rates(s);
}

// Known mobilities at the end of the step: a from matter, u from the State or, where only udot is
// known, by the trapezoid; x by the trapezoid, which a known q overrides.
static tal_status follow_known(tal_fixed_stepper *s, tal_state *state)
{
    if (!s->has_known) return TAL_OK;
    const double *u = tal_state_y(state) + s->u0;
    const tal_status st =
        tal_matter_forward_dynamics(s->matter, state, NULL, NULL, s->product, NULL);
    if (st != TAL_OK) return tali_realtime_pass_on(s, state, st);
    for (int k = 0; k < s->nu; ++k) {
        if (s->level[k] == TAL_LEVEL_FREE) continue;
        s->a[k] = s->udot[k] = s->product[k];
        s->u[k] = s->level[k] >= TAL_LEVEL_VELOCITY
                      ? u[k]
                      : s->u_start[k] + 0.5 * s->h * (s->past.udot[k] + s->a[k]);
        s->x[k] = 0.5 * s->h * (s->u_start[k] + s->u[k]);
    }
    return TAL_OK;
}

tal_status tali_realtime_structural_step(tal_fixed_stepper *s, tal_state *state)
{
    tal_status st = TAL_OK;
    predict(s);
    s->is_corrected = false;
    bool is_done = false;
    for (int i = 0; i < s->def.iterations && !is_done && st == TAL_OK; ++i) {
        st = s->ops->place(s, state);
        if (st == TAL_OK) st = follow_known(s, state);
        if (st == TAL_OK) st = s->ops->correct(s, state);
        if (st != TAL_OK) break;
        for (int k = 0; k < s->nu; ++k) {
            if (s->level[k] == TAL_LEVEL_FREE) s->x[k] += s->change[k];
        }
        tali_realtime_calc_rates(s);
        s->stats.last_change = tali_realtime_norm(s->change, s->nu);
        ++s->stats.iterations;
        is_done = !s->def.same_work && s->stats.last_change < s->def.tolerance;
    }
    if (st == TAL_OK && s->stats.last_change >= s->def.tolerance) ++s->stats.unfinished;
    if (st == TAL_OK) st = s->ops->place(s, state);
    if (st == TAL_OK) st = follow_known(s, state);
    if (st == TAL_OK) st = s->ops->finish(s, state);
    memcpy(s->past.udot, s->udot, (size_t)s->nu * sizeof *s->udot);
    memcpy(s->past.a, s->a, (size_t)s->nu * sizeof *s->a);
    return st;
}

tal_status tali_realtime_start_by_dynamics(tal_fixed_stepper *s, tal_state *state)
{
    const tal_status st = tal_system_realize(s->system, state, TAL_STAGE_ACCELERATION);
    if (st != TAL_OK) return tali_realtime_pass_on(s, state, st);
    const double *udot = tal_state_udot(state) + s->u0 - tal_state_nq(state);
    memcpy(s->past.udot, udot, (size_t)s->nu * sizeof *udot);
    memcpy(s->past.a, udot, (size_t)s->nu * sizeof *udot);
    if (s->m == 0) return TAL_OK;
    const tal_group_ix group = tal_system_find_group(s->system, tal_matter_subsystem(s->matter),
                                                     TAL_POOL_UDOTERR, "constraints");
    memcpy(s->past.lambda, tal_state_multipliers(state) + tal_group_start(s->system, state, group),
           (size_t)s->m * sizeof(double));
    return TAL_OK;
}

tal_status tali_realtime_calc_tangent(tal_fixed_stepper *s, tal_state *state)
{
    const size_t n = (size_t)s->nu;
    const tal_matrix M = tal_matrix_view(s->M, s->nu, s->nu);
    const tal_status st = tal_matter_calc_M(s->matter, state, M);
    if (st != TAL_OK) return tali_realtime_pass_on(s, state, st);
    for (size_t i = 0; i < n * n; ++i) {
        s->H[i] = (1.0 - s->family.dm) * s->M[i];
    }
    return TAL_OK;
}

tal_status tali_realtime_factor(tal_fixed_stepper *s, double *H, int n)
{
    tal_error why = {TAL_OK, "", ""};
    ++s->stats.factorizations;
    const tal_status st = tal_chol_factor(tal_matrix_view(H, n, n), NULL, &why);
    if (st == TAL_OK) return TAL_OK;
    return TALI_FAIL(&s->error_record, st,
                     "the tangent matrix of a step from t = %g has no factors (%s): a mobility "
                     "moves no mass, or the motion has become too large for steps of %g s",
                     s->t0, why.message, s->h);
}
