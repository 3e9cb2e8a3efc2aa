// The equations of motion as IDA sees them: F(t, Y, Y') = 0, and its Jacobian.
#include "array_internal.h"
#include "finite_internal.h"

#include "sundials/ida_internal.h"

#include <math.h>
#include <string.h>

// Nearly dependent rows of G would make the Jacobian nearly singular. This much of the largest
// diagonal entry of W = G M^-1 G^T keeps it regular; the residual is left alone, so that Newton's
// method still arrives at a solution. Where nothing can move what is constrained, W is zero, and
// any number can be used. Rows on positions of something very small have much smaller entries than
// those on orientations: for them it is that much of their own.
static const double REGULAR = 1e-9, MUCH_SMALLER = 1e-6;

static double regular(double own, double largest)
{
    const double entry = own > 0.0 && own < MUCH_SMALLER * largest ? own : largest;
    return REGULAR * (entry > 0.0 ? entry : 1.0);
}

// --- unknowns ---

// Coordinates of a body that prescribed motion knows have no differential equation.
static void mark_known(tali_ida *ida, const tali_sun_weight_block *b)
{
    const tali_sun_weights *weights = &ida->sun.weights;
    double *id = tali_sun_data(ida->id);
    bool all = true;
    for (int k = 0; k < b->nu; ++k) {
        all = all && weights->known_q[b->u0 + k];
        if (weights->known_u[b->u0 + k]) id[weights->nq + b->u0 + k] = 0.0;
    }
    for (int j = 0; j < b->nq; ++j) {
        const bool own = b->nq == b->nu && weights->known_q[b->u0 + j];
        if (all || own) id[b->q0 + j] = 0.0;
    }
}

static bool any_given_udot(const tal_matter *matter, const tal_state *state)
{
    for (int b = 1; b < tal_matter_num_bodies(matter); ++b) {
        tal_mobility it = {.body = {b}};
        for (; it.i < tal_body_nu(matter, it.body); ++it.i) {
            if (tal_mobility_level(matter, state, it) == TAL_LEVEL_ACCELERATION) return true;
        }
    }
    return false;
}

void tali_ida_count(tali_ida *ida, const tal_state *state)
{
    const tal_integrator *integ = ida->sun.integ;
    const tali_sun_weights *weights = &ida->sun.weights;
    double *id = tali_sun_data(ida->id);
    ida->ny = weights->nq + weights->nu + weights->nz;
    ida->rows = (tal_constraint_rows){0, 0, 0, 0, 0, 0};
    ida->nu = ida->q0 = ida->u0 = 0;
    ida->needs_udot = weights->nz > 0;
    if (integ->problem.matter != NULL) {
        ida->rows = tal_matter_constraint_rows(integ->problem.matter, state);
        ida->q0 = tal_group_start(integ->problem.system, state, integ->problem.q_group);
        ida->u0 = tal_group_start(integ->problem.system, state, integ->problem.u_group);
        ida->nu = tal_matter_nu(integ->problem.matter);
        ida->needs_udot = ida->needs_udot || any_given_udot(integ->problem.matter, state);
    }
    ida->needs_udot = ida->needs_udot || weights->nu > ida->nu;
    ida->m = ida->rows.mp + ida->rows.mv + ida->rows.ma;
    ida->sun.pool.length = ida->ny + ida->m + ida->rows.mp;
    for (int i = 0; i < ida->sun.pool.length; ++i) {
        id[i] = i < ida->ny ? 1.0 : 0.0;
    }
    for (int k = 0; k < weights->num_blocks; ++k) {
        mark_known(ida, &weights->blocks[k]);
    }
}

// --- residual ---

// The State at t and y, far enough up for the residual. `keep_q`: its q is that of y already.
static tal_status put_state(tali_ida *ida, double t, const double y[], bool keep_q)
{
    tal_integrator *integ = ida->sun.integ;
    tal_state *state = ida->sun.state;
    tal_status st = keep_q ? tali_problem_put_uz(&integ->problem, state, y)
                           : tali_problem_put(&integ->problem, state, t, y);
    if (st == TAL_OK && keep_q) st = tali_problem_settle_relaxed(&integ->problem, state);
    if (st == TAL_OK && !keep_q) st = tali_problem_settle_stage(&integ->problem, state, false);
    if (st != TAL_OK) return st;
    ++integ->stats.realizations;
    const tal_stage stage = ida->needs_udot ? TAL_STAGE_ACCELERATION : TAL_STAGE_DYNAMICS;
    return tali_problem_pass_on(&integ->problem, state,
                                tal_system_realize(integ->problem.system, state, stage));
}

// N P^T mu into `qdot`. Speeds that are known do not move for the constraints' sake.
static tal_status spread_mu(tali_ida *ida, const double mu[])
{
    const tal_integrator *integ = ida->sun.integ;
    tal_state *state = ida->sun.state;
    tal_status st = tal_matter_mul_GT(integ->problem.matter, state, TAL_G_P, mu, ida->v);
    for (int j = 0; j < ida->nu && st == TAL_OK; ++j) {
        if (ida->sun.weights.known_u[ida->u0 + j]) ida->v[j] = 0.0;
    }
    return st == TAL_OK ? tal_matter_calc_qdot(integ->problem.matter, state, ida->v, ida->qdot)
                        : st;
}

// Rows of matter, over those that hold for other subsystems.
static tal_status of_matter(tali_ida *ida, const double Y[], const double Yp[], double r[])
{
    const tal_integrator *integ = ida->sun.integ;
    const tal_matter *matter = integ->problem.matter;
    tal_state *state = ida->sun.state;
    const int nq = ida->sun.weights.nq, mp = ida->rows.mp, u0 = nq + ida->u0;
    const double *lambda = Y + ida->ny, *mu = lambda + ida->m;
    tal_status st = mp > 0 ? spread_mu(ida, mu) : TAL_OK;
    for (int i = 0; st == TAL_OK && mp > 0 && i < tal_matter_nq(matter, state); ++i) {
        r[ida->q0 + i] -= ida->qdot[i];
    }
    if (st == TAL_OK) {
        st = tal_matter_calc_residual(matter, state, Yp + u0, ida->m > 0 ? lambda : NULL, ida->v);
    }
    if (st != TAL_OK) return st;
    for (int b = 1; b < tal_matter_num_bodies(matter); ++b) {
        tal_mobility it = {.body = {b}};
        const int start = tal_body_u_start(matter, it.body);
        for (; it.i < tal_body_nu(matter, it.body); ++it.i) {
            const bool is_given = tal_mobility_level(matter, state, it) == TAL_LEVEL_ACCELERATION;
            if (!is_given) r[u0 + start + it.i] = ida->v[start + it.i];
        }
    }
    return TAL_OK;
}

// Rows of lambda and mu: velocity and acceleration errors, then position errors.
static tal_status constraint_residual(tali_ida *ida, const double Y[], const double Yp[],
                                      double r[])
{
    const tal_integrator *integ = ida->sun.integ;
    tal_state *state = ida->sun.state;
    const tal_constraint_rows rows = ida->rows;
    double *of_lambda = r + ida->ny, *of_mu = of_lambda + ida->m;
    if (rows.mp + rows.mv > 0) {
        memcpy(of_lambda,
               tal_state_uerr(state) + tal_group_start(integ->problem.system, state, ida->verr),
               (size_t)(rows.mp + rows.mv) * sizeof *r);
    }
    if (rows.mp > 0) {
        memcpy(of_mu,
               tal_state_qerr(state) + tal_group_start(integ->problem.system, state, ida->perr),
               (size_t)rows.mp * sizeof *r);
    }
    tal_status st = TAL_OK;
    if (rows.ma > 0) {
        st = tal_matter_calc_constraint_aerr(integ->problem.matter, state,
                                             Yp + ida->sun.weights.nq + ida->u0, ida->a);
        memcpy(of_lambda + rows.a0, ida->a + rows.a0, (size_t)rows.ma * sizeof *r);
    }
    tali_ida_silent_replace(&ida->rank.of_lambda, Y + ida->ny, of_lambda);
    tali_ida_silent_replace(&ida->rank.of_mu, Y + ida->ny + ida->m, of_mu);
    return st;
}

// F(t, Y, Y'): rates of q and z, inverse dynamics for u, errors of the constraints.
static tal_status calc_residual(tali_ida *ida, double t, const double Y[], const double Yp[],
                                bool keep_q, double r[])
{
    tal_integrator *integ = ida->sun.integ;
    tal_state *state = ida->sun.state;
    const int nq = ida->sun.weights.nq, length = ida->sun.pool.length;
    const double *id = tali_sun_data(ida->id);
    tal_status st = put_state(ida, t, Y, keep_q);
    if (st != TAL_OK) return st;
    const double *qdot = tal_state_qdot(state);
    const double *rates = ida->needs_udot ? tal_state_ydot(state) : NULL;
    for (int i = 0; i < ida->ny; ++i) {
        const double rate = i < nq ? qdot[i] : rates != NULL ? rates[i] : 0.0;
        r[i] = Yp[i] - rate;
    }
    if (integ->problem.matter != NULL) st = of_matter(ida, Y, Yp, r);
    if (st == TAL_OK && ida->m > 0) st = constraint_residual(ida, Y, Yp, r);
    if (st != TAL_OK) return tali_problem_pass_on(&integ->problem, state, st);
    const double *y = tal_state_y(state);
    for (int i = 0; i < ida->ny; ++i) {
        if (id[i] == 0.0) r[i] = Y[i] - y[i];
    }
    if (tali_finite_all(r, length)) return TAL_OK;
    return TALI_FAIL(&integ->problem.error_record, TAL_ERR_NOT_FINITE,
                     "the equations of motion are not finite at t = %g", t);
}

int tali_ida_residual(double t, N_Vector Y, N_Vector Yp, N_Vector r, void *self)
{
    tali_ida *ida = self;
    const tal_status st =
        calc_residual(ida, t, tali_sun_data(Y), tali_sun_data(Yp), false, tali_sun_data(r));
    return tali_sun_answer(&ida->sun, st);
}

// --- Jacobian ---

// dF/d lambda: G^T along speeds that are free.
static tal_status columns_of_lambda(tali_ida *ida, double cj, SUNMatrix J)
{
    const tal_integrator *integ = ida->sun.integ;
    tal_state *state = ida->sun.state;
    const double *id = tali_sun_data(ida->id);
    const int m = ida->m, u0 = ida->sun.weights.nq + ida->u0;
    tal_status st =
        tal_matter_calc_G(integ->problem.matter, state, TAL_G, tal_matrix_view(ida->G, m, ida->nu));
    if (st == TAL_OK) st = tali_ida_calc_W(ida, state);
    if (st != TAL_OK) return st;
    const double largest = tali_array_largest_diagonal(ida->W, m, m);
    memset(ida->a, 0, (size_t)m * sizeof *ida->a);
    for (int i = 0; i < m; ++i) {
        double *column = tali_sun_column(J, ida->ny + i);
        for (int k = 0; k < ida->nu; ++k) {
            if (id[u0 + k] != 0.0) column[u0 + k] = ida->G[(size_t)k * (size_t)m + (size_t)i];
        }
        const double size = regular(ida->W[(size_t)i * (size_t)(m + 1)], largest);
        column[ida->ny + i] = i < ida->rows.a0 ? -size / cj : -size;
        ida->a[i] = 1.0;
        tali_ida_silent_replace(&ida->rank.of_lambda, ida->a, column + ida->ny);
        ida->a[i] = 0.0;
    }
    return TAL_OK;
}

// dF/d mu: -N P^T, with the rows of P in G.
static tal_status columns_of_mu(tali_ida *ida, double cj, SUNMatrix J)
{
    const tal_integrator *integ = ida->sun.integ;
    tal_state *state = ida->sun.state;
    const double *id = tali_sun_data(ida->id);
    const int mp = ida->rows.mp, m = ida->m;
    double largest = 0.0;
    for (int i = 0; i < mp; ++i) {
        double *column = tali_sun_column(J, ida->ny + m + i), size = 0.0;
        for (int k = 0; k < ida->nu; ++k) {
            const bool known = ida->sun.weights.known_u[ida->u0 + k];
            ida->v[k] = known ? 0.0 : ida->G[(size_t)k * (size_t)m + (size_t)i];
            size += ida->v[k] * ida->v[k];
        }
        largest = fmax(largest, size);
        ida->a[i] = size;
        const tal_status st = tal_matter_calc_qdot(integ->problem.matter, state, ida->v, ida->qdot);
        if (st != TAL_OK) return st;
        for (int j = 0; j < tal_matter_nq(integ->problem.matter, state); ++j) {
            if (id[ida->q0 + j] != 0.0) column[ida->q0 + j] = -ida->qdot[j];
        }
    }
    for (int i = 0; i < mp; ++i) {
        double *column = tali_sun_column(J, ida->ny + m + i) + ida->ny + m;
        column[i] = regular(ida->a[i], largest) / cj;
    }
    memset(ida->a, 0, (size_t)m * sizeof *ida->a);
    for (int i = 0; i < mp; ++i) {
        double *column = tali_sun_column(J, ida->ny + m + i) + ida->ny + m;
        ida->a[i] = 1.0;
        tali_ida_silent_replace(&ida->rank.of_mu, ida->a, column);
        ida->a[i] = 0.0;
    }
    return TAL_OK;
}

// dF/dy + cj dF/dy' by differences: u and z first, which leave q where it is.
static tal_status columns_of_y(tali_ida *ida, double t, double cj, const double r[], SUNMatrix J,
                               double *const work[3])
{
    double *Y = work[0], *Yp = work[1], *moved = work[2];
    const int nq = ida->sun.weights.nq, length = ida->sun.pool.length;
    for (int j = ida->ny - 1; j >= 0; --j) {
        const double y = Y[j], yp = Yp[j], step = tali_sun_increment(&ida->sun, y, j);
        Y[j] = y + step;
        Yp[j] = yp + cj * step;
        const tal_status st = calc_residual(ida, t, Y, Yp, j >= nq, moved);
        Y[j] = y;
        Yp[j] = yp;
        if (st != TAL_OK) return st;
        double *column = tali_sun_column(J, j);
        for (int i = 0; i < length; ++i) {
            column[i] = (moved[i] - r[i]) / step;
        }
    }
    return TAL_OK;
}

// NOLINTNEXTLINE(readability-function-size): IDA has ten parameters
int tali_ida_jacobian(double t, double cj, N_Vector Y, N_Vector Yp, N_Vector r, SUNMatrix J,
                      void *self, N_Vector tmp1, N_Vector tmp2, N_Vector tmp3)
{
    tali_ida *ida = self;
    tal_integrator *integ = ida->sun.integ;
    double *const work[] = {tali_sun_data(tmp1), tali_sun_data(tmp2), tali_sun_data(tmp3)};
    const size_t bytes = (size_t)ida->sun.pool.length * sizeof(double);
    memcpy(work[0], tali_sun_data(Y), bytes);
    memcpy(work[1], tali_sun_data(Yp), bytes);
    (void)SUNMatZero(J);
    ++integ->stats.jacobians;
    tal_status st = put_state(ida, t, work[0], false);
    if (st == TAL_OK && ida->m > 0) {
        st = columns_of_lambda(ida, cj, J);
        if (st == TAL_OK) st = columns_of_mu(ida, cj, J);
        st = tali_problem_pass_on(&integ->problem, ida->sun.state, st);
    }
    if (st == TAL_OK) st = columns_of_y(ida, t, cj, tali_sun_data(r), J, work);
    return tali_sun_answer(&ida->sun, st);
}
