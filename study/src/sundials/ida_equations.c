// The equations of motion as IDA sees them: its unknowns, rows that repeat others, the Jacobian.
#include "array_internal.h"

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
    ida->eq.ny = weights->nq + weights->nu + weights->nz;
    ida->eq.nq = weights->nq;
    ida->eq.known_u = weights->known_u;
    ida->eq.id = id;
    ida->eq.rows = (tal_constraint_rows){0, 0, 0, 0, 0, 0};
    ida->eq.nu = ida->eq.q0 = ida->eq.u0 = 0;
    ida->eq.needs_udot = weights->nz > 0;
    if (integ->problem.matter != NULL) {
        ida->eq.rows = tal_matter_constraint_rows(integ->problem.matter, state);
        ida->eq.q0 = tal_group_start(integ->problem.system, state, integ->problem.q_group);
        ida->eq.u0 = tal_group_start(integ->problem.system, state, integ->problem.u_group);
        ida->eq.nu = tal_matter_nu(integ->problem.matter);
        ida->eq.needs_udot = ida->eq.needs_udot || any_given_udot(integ->problem.matter, state);
    }
    ida->eq.needs_udot = ida->eq.needs_udot || weights->nu > ida->eq.nu;
    ida->eq.m = ida->eq.rows.mp + ida->eq.rows.mv + ida->eq.rows.ma;
    ida->sun.pool.length = ida->eq.ny + ida->eq.m + ida->eq.rows.mp;
    for (int i = 0; i < ida->sun.pool.length; ++i) {
        id[i] = i < ida->eq.ny ? 1.0 : 0.0;
    }
    for (int k = 0; k < weights->num_blocks; ++k) {
        mark_known(ida, &weights->blocks[k]);
    }
}

// --- residual ---

// F(t, Y, Y'), with other equations in place of rows that repeat others.
static tal_status calc_residual(tali_ida *ida, double t, const double Y[], const double Yp[],
                                bool keep_q, double r[])
{
    const tali_problem_residual *eq = &ida->eq;
    const tal_status st = tali_problem_calc_residual(&ida->sun.integ->problem, ida->sun.state, eq,
                                                     t, Y, Yp, keep_q, r);
    if (st != TAL_OK || eq->m == 0) return st;
    const int lambda = eq->ny, mu = eq->ny + eq->m;
    tali_ida_silent_replace(&ida->rank.of_lambda, Y + lambda, r + lambda);
    tali_ida_silent_replace(&ida->rank.of_mu, Y + mu, r + mu);
    return TAL_OK;
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
    const int m = ida->eq.m, u0 = ida->sun.weights.nq + ida->eq.u0;
    tal_status st = tal_matter_calc_G(integ->problem.matter, state, TAL_G,
                                      tal_matrix_view(ida->G, m, ida->eq.nu));
    if (st == TAL_OK) st = tali_ida_calc_W(ida, state);
    if (st != TAL_OK) return st;
    const double largest = tali_array_largest_diagonal(ida->W, m, m);
    memset(ida->eq.a, 0, (size_t)m * sizeof *ida->eq.a);
    for (int i = 0; i < m; ++i) {
        double *column = tali_sun_column(J, ida->eq.ny + i);
        for (int k = 0; k < ida->eq.nu; ++k) {
            if (id[u0 + k] != 0.0) column[u0 + k] = ida->G[(size_t)k * (size_t)m + (size_t)i];
        }
        const double size = regular(ida->W[(size_t)i * (size_t)(m + 1)], largest);
        column[ida->eq.ny + i] = i < ida->eq.rows.a0 ? -size / cj : -size;
        ida->eq.a[i] = 1.0;
        tali_ida_silent_replace(&ida->rank.of_lambda, ida->eq.a, column + ida->eq.ny);
        ida->eq.a[i] = 0.0;
    }
    return TAL_OK;
}

// dF/d mu: -N P^T, with the rows of P in G.
static tal_status columns_of_mu(tali_ida *ida, double cj, SUNMatrix J)
{
    const tal_integrator *integ = ida->sun.integ;
    tal_state *state = ida->sun.state;
    const double *id = tali_sun_data(ida->id);
    const int mp = ida->eq.rows.mp, m = ida->eq.m;
    double largest = 0.0;
    for (int i = 0; i < mp; ++i) {
        double *column = tali_sun_column(J, ida->eq.ny + m + i), size = 0.0;
        for (int k = 0; k < ida->eq.nu; ++k) {
            const bool known = ida->sun.weights.known_u[ida->eq.u0 + k];
            ida->eq.v[k] = known ? 0.0 : ida->G[(size_t)k * (size_t)m + (size_t)i];
            size += ida->eq.v[k] * ida->eq.v[k];
        }
        largest = fmax(largest, size);
        ida->eq.a[i] = size;
        const tal_status st =
            tal_matter_calc_qdot(integ->problem.matter, state, ida->eq.v, ida->eq.qdot);
        if (st != TAL_OK) return st;
        for (int j = 0; j < tal_matter_nq(integ->problem.matter, state); ++j) {
            if (id[ida->eq.q0 + j] != 0.0) column[ida->eq.q0 + j] = -ida->eq.qdot[j];
        }
    }
    for (int i = 0; i < mp; ++i) {
        double *column = tali_sun_column(J, ida->eq.ny + m + i) + ida->eq.ny + m;
        column[i] = regular(ida->eq.a[i], largest) / cj;
    }
    memset(ida->eq.a, 0, (size_t)m * sizeof *ida->eq.a);
    for (int i = 0; i < mp; ++i) {
        double *column = tali_sun_column(J, ida->eq.ny + m + i) + ida->eq.ny + m;
        ida->eq.a[i] = 1.0;
        tali_ida_silent_replace(&ida->rank.of_mu, ida->eq.a, column);
        ida->eq.a[i] = 0.0;
    }
    return TAL_OK;
}

// dF/dy + cj dF/dy' by differences: u and z first, which leave q where it is.
static tal_status columns_of_y(tali_ida *ida, double t, double cj, const double r[], SUNMatrix J,
                               double *const work[3])
{
    double *Y = work[0], *Yp = work[1], *moved = work[2];
    const tali_problem_scale scale = tali_sun_scale(&ida->sun);
    const int nq = ida->sun.weights.nq, length = ida->sun.pool.length;
    for (int j = ida->eq.ny - 1; j >= 0; --j) {
        const double y = Y[j], yp = Yp[j], step = tali_problem_increment(&scale, y, j);
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
    tal_status st =
        tali_problem_put_for_residual(&integ->problem, ida->sun.state, &ida->eq, t, work[0], false);
    if (st == TAL_OK && ida->eq.m > 0) {
        st = columns_of_lambda(ida, cj, J);
        if (st == TAL_OK) st = columns_of_mu(ida, cj, J);
        st = tali_problem_pass_on(&integ->problem, ida->sun.state, st);
    }
    if (st == TAL_OK) st = columns_of_y(ida, t, cj, tali_sun_data(r), J, work);
    return tali_sun_answer(&ida->sun, st);
}
