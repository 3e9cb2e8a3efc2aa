// The global formulation (GJB sec. 8.5, CD sec. 2): natural coordinates x with a constant mass
// matrix M, all conditions Phi by an augmented Lagrangian, projections as in hybrid.c.
//
//     residual   M xdotdot + Phi_x^T (alpha Phi + lambda) - Q, times b = (1 - df) beta h^2
//     tangent    H = (1 - dm) M + b alpha Phi_x^T Phi_x
//
// lambda begins with zero in each step (GJB eq. 8.126). A step begins and ends in the State: x is
// its image, which meets the conditions of the tree to round-off, and so do its accelerations,
// R udot + Sc. Newmark's a is one of another moment, which no udot makes: it is kept as it is.
#include "realtime/global_internal.h"

#include <math.h>
#include <string.h>

// --- creation ---

// One block for all arrays, and M, which stays.
static tal_status take_memory(tal_fixed_stepper *s, tal_error *err)
{
    tali_realtime_global *g = s->global;
    const size_t d = sizeof(double), nx = (size_t)g->nx, nc = (size_t)g->nc;
    const int side = g->nx + g->nc;
    const bool has_K = s->def.scheme == TAL_SCHEME_ENERGY_MOMENTUM;
    const size_t n = has_K ? nx + nc : 0;
    const tali_piece pieces[] = {
        {&g->x, nx * d},
        {&g->xdot, nx * d},
        {&g->a, nx * d},
        {&g->acc, nx * d},
        {&g->x0, nx * d},
        {&g->xdot0, nx * d},
        {&g->a0, nx * d},
        {&g->acc0, nx * d},
        {&g->change, nx * d},
        {&g->Q, nx * d},
        {&g->product, nx * d},
        {&g->lambda, nc * d},
        {&g->errors, nc * d},
        {&g->row, nc * d},
        {&g->M, nx * nx * d},
        {&g->H, nx * nx * d},
        {&g->J, nc * nx * d},
        {&g->tree.list, nx * nx * sizeof(int)},
        {&g->tree.used, nx * sizeof(int)},
        {&g->K, n * n * d},
        {&g->rhs, n * d},
        {&g->d, n * d},
        {&g->cod_work, has_K ? tal_cod_work_size(side, side) * d : 0},
        {&g->cod_iwork, has_K ? tal_cod_iwork_size(side, side) * sizeof(int) : 0},
    };
    g->block =
        tali_alloc_pieces(&s->allocator, pieces, sizeof pieces / sizeof pieces[0], &g->block_bytes);
    if (g->block == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a fixed stepper");
    g->tree.n = g->nx;
    g->tree.H = g->H;
    return tal_natural_calc_M(g->natural, tal_matrix_view(g->M, g->nx, g->nx));
}

// The image of a State as it is made.
tal_status tali_realtime_global_create(tal_fixed_stepper *s, tal_error *err)
{
    tal_state *state = NULL;
    s->global = tali_alloc(&s->allocator, sizeof *s->global);
    if (s->global == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a fixed stepper");
    }
    tal_status st = tal_state_create(s->system, &state, err);
    if (st != TAL_OK) return st;
    st = tal_system_realize(s->system, state, TAL_STAGE_INSTANCE);
    if (st != TAL_OK) (void)TALI_FAIL(err, st, "%s", tali_problem_reason(state, st));
    if (st == TAL_OK) st = tal_natural_create(s->matter, state, &s->global->natural, err);
    tal_state_destroy(state);
    if (st != TAL_OK) return st;
    s->global->nx = tal_natural_nx(s->global->natural);
    s->global->nc = tal_natural_nc(s->global->natural);
    return take_memory(s, err);
}

void tali_realtime_global_destroy(tal_fixed_stepper *s)
{
    if (s->global == NULL) return;
    tal_natural_destroy(s->global->natural);
    tali_free(&s->allocator, s->global->block, s->global->block_bytes);
    tali_free(&s->allocator, s->global, sizeof *s->global);
}

// --- products ---

void tali_realtime_multiply(double *A, int rows, int cols, const double v[], double out[])
{
    memset(out, 0, (size_t)rows * sizeof *out);
    for (int j = 0; j < cols; ++j) {
        const double *column = tali_realtime_column(A, rows, j);
        for (int i = 0; i < rows && v[j] != 0.0; ++i) {
            out[i] += column[i] * v[j];
        }
    }
}

void tali_realtime_multiply_transposed(double *A, int rows, int cols, const double v[],
                                       double out[])
{
    for (int j = 0; j < cols; ++j) {
        const double *column = tali_realtime_column(A, rows, j);
        out[j] = 0.0;
        for (int i = 0; i < rows; ++i) {
            out[j] += column[i] * v[i];
        }
    }
}

// d = -b alpha H^-1 Phi_x^T errors
static void calc_projection(tal_fixed_stepper *s, const double errors[], double d[])
{
    tali_realtime_global *g = s->global;
    tali_realtime_multiply_transposed(g->J, g->nc, g->nx, errors, d);
    for (int i = 0; i < g->nx; ++i) {
        d[i] *= -s->penalty * tali_realtime_scale(s);
    }
    tali_sparse_tree_solve(&g->tree, d);
}

// --- a step ---

// Values at the start, and x of the first iteration (GJB eq. 8.135).
static tal_status begin(tal_fixed_stepper *s, tal_state *state)
{
    tali_realtime_global *g = s->global;
    const double h = s->h;
    s->penalty = tali_realtime_penalty(s, g->M, g->nx, tali_realtime_scale(s));
    tal_status st = tal_natural_read(g->natural, state, g->x0, g->xdot0);
    if (st == TAL_OK) {
        st = tal_natural_calc_acceleration(g->natural, state, s->past.udot, g->acc0);
    }
    memcpy(g->a0, s->past.nx == g->nx && !s->past.has_xdot ? s->past.natural : g->acc0,
           (size_t)g->nx * sizeof *g->a0);
    for (int i = 0; i < g->nx; ++i) {
        g->x[i] = g->x0[i] + h * g->xdot0[i] + 0.5 * h * h * g->a0[i];
    }
    memset(g->lambda, 0, (size_t)g->nc * sizeof *g->lambda);
    memset(s->x, 0, (size_t)s->nu * sizeof *s->x);
    // t, and what is not matter's
    if (st == TAL_OK) st = tali_realtime_put(s, state, s->t1, s->x, s->u_start);
    return tali_realtime_pass_on(s, state, st);
}

// Newmark's formulas at x; the State, its forces and conditions there.
static tal_status place(tal_fixed_stepper *s, tal_state *state)
{
    tali_realtime_global *g = s->global;
    for (int i = 0; i < g->nx; ++i) {
        const tali_realtime_rate from = {g->xdot0[i], g->a0[i], g->acc0[i]};
        const tali_realtime_rate to =
            tali_realtime_rate_of(&s->family, s->h, g->x[i] - g->x0[i], from);
        g->xdot[i] = to.u;
        g->a[i] = to.a;
        g->acc[i] = to.udot;
        if (isfinite(g->x[i])) continue;
        return TALI_FAIL(&s->error_record, TAL_ERR_NOT_FINITE,
                         "a step of %g s from t = %g leads to numbers that are not finite: take "
                         "shorter ones",
                         s->h, s->t0);
    }
    tal_status st = tal_natural_put(g->natural, state, g->x, g->xdot);
    if (st == TAL_OK) st = tal_natural_calc_phi(g->natural, g->x, g->errors);
    return tali_realtime_pass_on(s, state, st);
}

static tal_status calc_residual(tal_fixed_stepper *s, tal_state *state, double r[])
{
    tali_realtime_global *g = s->global;
    tal_status st = tali_realtime_calc_forces(s, state);
    if (st == TAL_OK) st = tal_natural_calc_Q(g->natural, state, s->F_GB, s->product, g->Q);
    if (st != TAL_OK) return tali_realtime_pass_on(s, state, st);
    for (int i = 0; i < g->nc; ++i) {
        g->row[i] = g->lambda[i] + s->penalty * g->errors[i];
    }
    tali_realtime_multiply(g->M, g->nx, g->nx, g->acc, g->product);
    tali_realtime_multiply_transposed(g->J, g->nc, g->nx, g->row, r);
    for (int i = 0; i < g->nx; ++i) {
        r[i] = -tali_realtime_scale(s) * (g->product[i] + r[i] - g->Q[i]);
    }
    return TAL_OK;
}

static tal_status correct(tal_fixed_stepper *s, tal_state *state)
{
    tali_realtime_global *g = s->global;
    const size_t size = (size_t)g->nx * (size_t)g->nx;
    tal_status st = tal_natural_calc_phi_x(g->natural, g->x, tal_matrix_view(g->J, g->nc, g->nx));
    if (st == TAL_OK) st = calc_residual(s, state, g->change);
    if (st != TAL_OK) return st;
    for (size_t i = 0; i < size; ++i) {
        g->H[i] = (1.0 - s->family.dm) * g->M[i];
    }
    tali_sparse_tree_add_square(&g->tree, g->J, g->nc, s->penalty * tali_realtime_scale(s));
    st = tali_realtime_factor_tree(s, &g->tree);
    if (st == TAL_OK) tali_sparse_tree_solve(&g->tree, g->change);
    return st;
}

static void update_multipliers(tal_fixed_stepper *s)
{
    for (int i = 0; i < s->global->nc; ++i) {
        s->global->lambda[i] += s->penalty * s->global->errors[i];
    }
}

static tal_status iterate(tal_fixed_stepper *s, tal_state *state)
{
    tali_realtime_global *g = s->global;
    tal_status st = place(s, state);
    bool is_done = false;
    for (int i = 0; i < s->def.iterations && !is_done && st == TAL_OK; ++i) {
        st = correct(s, state);
        if (st != TAL_OK) break;
        for (int k = 0; k < g->nx; ++k) {
            g->x[k] += g->change[k];
        }
        s->stats.last_change = tali_realtime_norm(g->change, g->nx);
        ++s->stats.iterations;
        is_done = !s->def.same_work && s->stats.last_change < s->def.tolerance;
        st = place(s, state);
        update_multipliers(s);
    }
    if (st == TAL_OK && s->stats.last_change >= s->def.tolerance) ++s->stats.unfinished;
    return st;
}

// xdot and the accelerations onto the conditions (CD eq. 35, 36).
static tal_status project(tal_fixed_stepper *s)
{
    tali_realtime_global *g = s->global;
    const double share = (1.0 - s->family.df) / (1.0 - s->family.dm);
    tal_status st = tal_natural_calc_phi_x(g->natural, g->x, tal_matrix_view(g->J, g->nc, g->nx));
    for (int i = 0; i < s->def.projections && st == TAL_OK; ++i) {
        tali_realtime_multiply(g->J, g->nc, g->nx, g->xdot, g->errors);
        calc_projection(s, g->errors, g->change);
        for (int k = 0; k < g->nx; ++k) {
            g->xdot[k] += g->change[k];
        }
    }
    for (int i = 0; i < s->def.projections && st == TAL_OK; ++i) {
        st = tal_natural_calc_bias(g->natural, g->xdot, g->row);
        tali_realtime_multiply(g->J, g->nc, g->nx, g->acc, g->errors);
        for (int k = 0; k < g->nc; ++k) {
            g->errors[k] += g->row[k];
        }
        if (st == TAL_OK) calc_projection(s, g->errors, g->change);
        for (int k = 0; k < g->nx; ++k) {
            g->acc[k] += g->change[k];
            g->a[k] += share * g->change[k];
        }
    }
    return st;
}

static tal_status step(tal_fixed_stepper *s, tal_state *state)
{
    tali_realtime_global *g = s->global;
    tal_status st = begin(s, state);
    if (st == TAL_OK) st = iterate(s, state);
    if (st == TAL_OK && s->def.projects) st = project(s);
    if (st == TAL_OK) st = tal_natural_put(g->natural, state, g->x, g->xdot);
    if (st == TAL_OK) {
        st = tal_natural_read_udot(g->natural, state, g->x, g->acc, s->past.udot);
    }
    memcpy(s->past.natural, g->a, (size_t)g->nx * sizeof *g->a);
    s->past.nx = g->nx;
    s->past.has_xdot = false;
    for (int i = 0; i < s->m; ++i) {
        s->past.lambda[i] = (double)NAN; // those of conditions on x are others
    }
    return tali_realtime_pass_on(s, state, st);
}

// The image was made from the parameters of a State as it is created.
tal_status tali_realtime_global_start(tal_fixed_stepper *s, tal_state *state)
{
    s->past.nx = 0;
    if (tal_natural_fits(s->global->natural, state)) {
        return tali_realtime_start_by_dynamics(s, state);
    }
    return TALI_FAIL(&s->error_record, TAL_ERR_BAD_VALUE,
                     "masses, frames, constraints or locks of the State are not those of the "
                     "model, which the global formulation was made from: choose 'hybrid'");
}

const tali_realtime_ops *tali_realtime_global_ops(void)
{
    static const tali_realtime_ops ops = {.start = tali_realtime_global_start, .step = step};
    return &ops;
}
