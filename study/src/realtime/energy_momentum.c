// The energy-momentum rule in natural coordinates (Simo and Wong, cited in GJB sec. 8.5): the
// midpoint rule with the conditions at the end of the step.
//
//     x1 - x0 = (h/2) (v0 + v1)
//     M (v1 - v0) / h + Phi_x(xm)^T lambda = Q(xm)      xm = (x0 + x1) / 2
//     Phi(x1) = 0
//
// Phi is quadratic, so that Phi_x(xm) (x1 - x0) = Phi(x1) - Phi(x0) = 0: conditions do no work, and
// the energy of motion under forces that do not change, such as weights, is kept to round-off; so
// is the angular momentum of a system that nothing acts on. Other forces are those of the midpoint.
//
// Newton's method, in d = change of x1 and m = (h^2 / 2) change of lambda:
//
//     (M + (h^2 / 4) C) d + Phi_x(xm)^T m = -(h^2 / 2) r       C = sum of lambda_k Phi_k,xx
//     Phi_x(x1) d                         = -Phi(x1)
//
// by least squares, as conditions may repeat each other. v1 has a part that no u has: it is kept
// for the next step beside the State, which has the nearest u.
#include "realtime/global_internal.h"

#include <math.h>
#include <string.h>

// Rows and columns of K that are shorter than this part of the longest, once others are taken out,
// repeat others.
static const double DEPENDENT = 1e-10;

// x1 from the speeds of the start, and what acts halfway there.
static void begin(tal_fixed_stepper *s)
{
    tali_realtime_global *g = s->global;
    for (int i = 0; i < g->nx; ++i) {
        g->x[i] = g->x0[i] + s->h * g->xdot0[i];
    }
    memset(g->lambda, 0, (size_t)g->nc * sizeof *g->lambda);
}

static void find_middle(tal_fixed_stepper *s)
{
    tali_realtime_global *g = s->global;
    for (int i = 0; i < g->nx; ++i) {
        g->xdot[i] = 2.0 / s->h * (g->x[i] - g->x0[i]) - g->xdot0[i];
        g->acc[i] = 0.5 * (g->x0[i] + g->x[i]);     // xm
        g->a[i] = 0.5 * (g->xdot0[i] + g->xdot[i]); // its rate
    }
}

// Q(xm), with the State there.
static tal_status calc_forces(tal_fixed_stepper *s, tal_state *state)
{
    tali_realtime_global *g = s->global;
    tal_status st = tal_natural_put(g->natural, state, g->acc, g->a);
    if (st == TAL_OK) st = tali_realtime_calc_forces(s, state);
    if (st == TAL_OK) st = tal_natural_calc_Q(g->natural, state, s->F_GB, s->product, g->Q);
    return st;
}

// K from its blocks: of x, of the conditions at the end, and in the middle, transposed.
static tal_status fill_matrix(tal_fixed_stepper *s)
{
    tali_realtime_global *g = s->global;
    const int nx = g->nx, nc = g->nc, n = nx + nc;
    const double quarter = 0.25 * s->h * s->h;
    const tal_matrix J = tal_matrix_view(g->J, nc, nx), C = tal_matrix_view(g->H, nx, nx);
    memset(g->K, 0, (size_t)n * (size_t)n * sizeof *g->K);
    tal_status st = tal_natural_calc_curvature(g->natural, g->lambda, C);
    for (int j = 0; j < nx && st == TAL_OK; ++j) {
        for (int i = 0; i < nx; ++i) {
            tali_realtime_column(g->K, n, j)[i] = tali_realtime_column(g->M, nx, j)[i] +
                                                  quarter * tali_realtime_column(g->H, nx, j)[i];
        }
    }
    if (st == TAL_OK) st = tal_natural_calc_phi_x(g->natural, g->x, J);
    for (int j = 0; j < nx && st == TAL_OK; ++j) {
        memcpy(tali_realtime_column(g->K, n, j) + nx, tali_realtime_column(g->J, nc, j),
               (size_t)nc * sizeof *g->K);
    }
    if (st == TAL_OK) st = tal_natural_calc_phi_x(g->natural, g->acc, J); // at xm: kept in J
    for (int j = 0; j < nx && st == TAL_OK; ++j) {
        for (int k = 0; k < nc; ++k) {
            tali_realtime_column(g->K, n, nx + k)[j] = tali_realtime_column(g->J, nc, j)[k];
        }
    }
    return st;
}

// The right side: -(h^2 / 2) r, then -Phi(x1).
static tal_status calc_residual(tal_fixed_stepper *s)
{
    tali_realtime_global *g = s->global;
    for (int i = 0; i < g->nx; ++i) {
        g->change[i] = (g->xdot[i] - g->xdot0[i]) / s->h;
    }
    tali_realtime_multiply(g->M, g->nx, g->nx, g->change, g->product);
    tali_realtime_multiply_transposed(g->J, g->nc, g->nx, g->lambda, g->change);
    for (int i = 0; i < g->nx; ++i) {
        g->rhs[i] = -0.5 * s->h * s->h * (g->product[i] + g->change[i] - g->Q[i]);
    }
    const tal_status st = tal_natural_calc_phi(g->natural, g->x, g->rhs + g->nx);
    for (int k = 0; k < g->nc; ++k) {
        g->rhs[g->nx + k] = -g->rhs[g->nx + k];
    }
    return st;
}

static tal_status correct(tal_fixed_stepper *s, tal_state *state)
{
    tali_realtime_global *g = s->global;
    const int n = g->nx + g->nc;
    tal_cod cod;
    tal_status st = calc_forces(s, state);
    if (st == TAL_OK) st = fill_matrix(s);
    if (st == TAL_OK) st = calc_residual(s);
    if (st != TAL_OK) return tali_realtime_pass_on(s, state, st);
    ++s->stats.factorizations;
    st = tal_cod_factor(&cod, tal_matrix_view(g->K, n, n), DEPENDENT, g->cod_work, g->cod_iwork,
                        &s->error_record);
    if (st != TAL_OK) return st;
    return tal_cod_solve(&cod, tal_matrix_view(g->rhs, n, 1), tal_matrix_view(g->d, n, 1),
                         &s->error_record);
}

static tal_status iterate(tal_fixed_stepper *s, tal_state *state)
{
    tali_realtime_global *g = s->global;
    tal_status st = TAL_OK;
    bool is_met = false;
    for (int i = 0; i < s->def.iterations && (s->def.same_work || !is_met); ++i) {
        find_middle(s);
        st = correct(s, state);
        if (st != TAL_OK) return st;
        for (int k = 0; k < g->nx; ++k) {
            g->x[k] += g->d[k];
        }
        for (int k = 0; k < g->nc; ++k) {
            g->lambda[k] += 2.0 / (s->h * s->h) * g->d[g->nx + k];
        }
        s->stats.last_change = tali_realtime_norm(g->d, g->nx);
        ++s->stats.iterations;
        is_met = s->stats.last_change < s->def.tolerance;
    }
    if (!is_met) ++s->stats.unfinished;
    return TAL_OK;
}

// The State at the end; udot is that of the middle.
static tal_status finish(tal_fixed_stepper *s, tal_state *state)
{
    tali_realtime_global *g = s->global;
    find_middle(s);
    for (int i = 0; i < g->nx; ++i) {
        g->acc[i] = (g->xdot[i] - g->xdot0[i]) / s->h;
    }
    tal_status st = tal_natural_put(g->natural, state, g->x, g->xdot);
    if (st == TAL_OK) st = tal_natural_read_udot(g->natural, state, g->x, g->acc, s->past.udot);
    return tali_realtime_pass_on(s, state, st);
}

// From x and xdot as the last step left them, or those of the State.
static tal_status step(tal_fixed_stepper *s, tal_state *state)
{
    tali_realtime_global *g = s->global;
    tal_status st = tal_natural_read(g->natural, state, g->x0, g->xdot0);
    if (st == TAL_OK && s->past.has_xdot) {
        memcpy(g->x0, s->past.natural, (size_t)g->nx * sizeof *g->x0);
        memcpy(g->xdot0, s->past.natural + g->nx, (size_t)g->nx * sizeof *g->xdot0);
    }
    begin(s);
    memset(s->x, 0, (size_t)s->nu * sizeof *s->x);
    // t, and what is not matter's
    if (st == TAL_OK) st = tali_realtime_put(s, state, s->t1, s->x, s->u_start);
    if (st == TAL_OK) st = iterate(s, state);
    if (st == TAL_OK) st = finish(s, state);
    if (st != TAL_OK) return tali_realtime_pass_on(s, state, st);
    memcpy(s->past.natural, g->x, (size_t)g->nx * sizeof *g->x);
    memcpy(s->past.natural + g->nx, g->xdot, (size_t)g->nx * sizeof *g->xdot);
    s->past.nx = 2 * g->nx;
    s->past.has_xdot = true;
    for (int i = 0; i < s->m; ++i) {
        s->past.lambda[i] = (double)NAN; // those of conditions on x are others
    }
    return TAL_OK;
}

const tali_realtime_ops *tali_realtime_energy_momentum(void)
{
    static const tali_realtime_ops ops = {.start = tali_realtime_global_start, .step = step};
    return &ops;
}
