// A step by Newmark's family: predict, iterate, finish. The formulation says what is iterated.
//
// The equations of motion hold at the end of the step, for udot; Newmark's formulas take a, which
// generalized alpha and HHT relate to it: (1 - dm) a1 + dm a0 = (1 - df) udot1 + df udot0. Where M
// is constant this is CD eq. 38; where it depends on q, CD eq. 38 is of first order only, and this
// is of second (ArnoldBruls sec. 2 relates them so).
#include "realtime/realtime_internal.h"

#include <math.h>
#include <stdio.h>
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

void tali_realtime_calc_rates(tal_fixed_stepper *s)
{
    for (int k = 0; k < s->nu; ++k) {
        if (s->level[k] != TAL_LEVEL_FREE) continue;
        const tali_realtime_rate from = {s->u_start[k], s->past.a[k], s->past.udot[k]};
        const tali_realtime_rate to = tali_realtime_rate_of(&s->family, s->h, s->x[k], from);
        s->u[k] = to.u;
        s->a[k] = to.a;
        s->udot[k] = to.udot;
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

// A change that is larger than the last one is cut to half of that: bump stops and tyres make
// Newton's method swing otherwise. Returns the length of the change that was wanted.
static double limit_change(tal_fixed_stepper *s, double most)
{
    const double wanted = tali_realtime_norm(s->change, s->nu);
    if (wanted <= most || !isfinite(wanted)) return wanted;
    for (int k = 0; k < s->nu; ++k) {
        s->change[k] *= 0.5 * most / wanted;
    }
    return wanted;
}

// Whether the iteration has ended: where what is left, as it converges, is below the tolerance.
// M and what forces add to the tangent serve as long as the end comes quickly.
static bool note_change(tal_fixed_stepper *s, double change)
{
    const double slow = 0.2, rate = fmin(1.0, change / s->stats.last_change);
    if (s->def.same_work || rate > slow) s->has_inertia = false;
    s->stats.last_change = change;
    ++s->stats.iterations;
    return change * (rate > 0.0 ? rate : 1.0) < s->def.tolerance;
}

tal_status tali_realtime_structural_step(tal_fixed_stepper *s, tal_state *state)
{
    tal_status st = TAL_OK;
    predict(s);
    s->is_corrected = s->has_inertia = false;
    s->stats.last_change = INFINITY;
    bool is_met = false;
    for (int i = 0; i < s->def.iterations && (s->def.same_work || !is_met); ++i) {
        st = s->ops->place(s, state);
        if (st == TAL_OK) st = follow_known(s, state);
        if (st == TAL_OK) st = s->ops->correct(s, state);
        if (st != TAL_OK) break;
        const double change = limit_change(s, s->stats.last_change);
        for (int k = 0; k < s->nu; ++k) {
            if (s->level[k] == TAL_LEVEL_FREE) s->x[k] += s->change[k];
        }
        tali_realtime_calc_rates(s);
        is_met = note_change(s, change);
    }
    if (st == TAL_OK && !is_met) ++s->stats.unfinished;
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

tal_status tali_realtime_calc_mass(tal_fixed_stepper *s, tal_state *state)
{
    const tal_matrix M = tal_matrix_view(s->M, s->nu, s->nu);
    return tali_realtime_pass_on(s, state, tal_matter_calc_M(s->matter, state, M));
}

double tali_realtime_scale(const tal_fixed_stepper *s)
{
    return (1.0 - s->family.df) * s->family.beta * s->h * s->h;
}

// Each iteration leaves some M / (b alpha) of what multipliers lack: a thousandth, at most, where
// the heaviest body is held. Round-off of positions, 1e-16 m, must stay small in alpha Phi: alpha
// is raised to 1e4 times that of the definition at most.
double tali_realtime_penalty(const tal_fixed_stepper *s, const double M[], int n, double b)
{
    double largest = 0.0;
    for (int i = 0; i < n; ++i) {
        largest = fmax(largest, M[(size_t)i * ((size_t)n + 1)]);
    }
    const double wanted = fmin(1e3 * largest / b, 1e4 * s->def.penalty);
    return fmax(s->def.penalty, wanted);
}

void tali_realtime_sum_tangent(tal_fixed_stepper *s, double inertia, double stiffness)
{
    const size_t size = (size_t)s->nu * (size_t)s->nu;
    const double cm = (1.0 - s->family.dm) + inertia, cf = (1.0 - s->family.df) * stiffness;
    for (size_t i = 0; i < size; ++i) {
        s->H[i] = cm * s->M[i];
    }
    for (size_t i = 0; i < size && s->forces != NULL; ++i) {
        s->H[i] += cf * s->S[i];
    }
}

tal_status tali_realtime_calc_tangent(tal_fixed_stepper *s, tal_state *state)
{
    tal_status st = tali_realtime_calc_mass(s, state);
    if (st == TAL_OK && s->forces != NULL) st = tali_realtime_calc_stiffness(s, state);
    tali_realtime_sum_tangent(s, 0.0, 1.0);
    return st;
}

static tal_status refuse_tangent(tal_fixed_stepper *s, tal_status st, const char *why)
{
    return TALI_FAIL(&s->error_record, st,
                     "the tangent matrix of a step from t = %g has no factors (%s): a mobility "
                     "moves no mass, or the motion has become too large for steps of %g s",
                     s->t0, why, s->h);
}

tal_status tali_realtime_factor_tree(tal_fixed_stepper *s, const tali_sparse_tree *H)
{
    int pivot = 0;
    char why[64];
    ++s->stats.factorizations;
    if (tali_sparse_tree_factor(H, &pivot)) return TAL_OK;
    (void)snprintf(why, sizeof why, "its pivot %d of %d is not positive", pivot, H->n);
    return refuse_tangent(s, TAL_ERR_SINGULAR, why);
}

tal_status tali_realtime_factor(tal_fixed_stepper *s, double *H, int n)
{
    tal_error why = {TAL_OK, "", ""};
    ++s->stats.factorizations;
    const tal_status st = tal_chol_factor(tal_matrix_view(H, n, n), NULL, &why);
    return st == TAL_OK ? st : refuse_tangent(s, st, why.message);
}
