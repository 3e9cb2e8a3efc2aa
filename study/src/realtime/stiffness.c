// What forces add to the tangent matrix of a step: S = beta h^2 K + gamma h C, with K = -dQ/dq and
// C = -dQ/du of the force elements (CD eq. 28 to 34), and its symmetric part alone, so that the
// tangent keeps its Cholesky factors. Newton's method then converges a little more slowly where
// forces have no potential.
//
// Elements that know how they change tell it (tal_force_ops.apply_change); where one does not, all
// are differenced along each speed, which costs ten times as much.
#include "force_tangent_internal.h"

#include "realtime/realtime_internal.h"

// Column j: dQ along q moving by beta h / gamma and u by 1, times -gamma h.
static tal_status calc_column(tal_fixed_stepper *s, tal_state *state, int j)
{
    const double c = s->family.gamma * s->h, ratio = s->family.beta * s->h / s->family.gamma;
    double *column = tali_realtime_column(s->S, s->nu, j);
    s->unit[j] = ratio;
    s->unit[s->nu + j] = 1.0;
    const tal_status st = tal_forces_calc_derivative(s->forces, state, s->scratch, s->unit,
                                                     s->unit + s->nu, column, s->force_work);
    s->unit[j] = s->unit[s->nu + j] = 0.0;
    for (int k = 0; k < s->nu; ++k) {
        column[k] *= -c;
    }
    return st;
}

// All columns.
static tal_status calc_columns(tal_fixed_stepper *s, tal_state *state)
{
    if (tali_force_has_tangent(s->forces, state)) {
        const double h = s->h;
        return tali_force_calc_tangent(s->forces, state, -s->family.beta * h * h,
                                       -s->family.gamma * h, tal_matrix_view(s->S, s->nu, s->nu),
                                       s->force_work);
    }
    tal_status st = TAL_OK;
    for (int j = 0; j < s->nu && st == TAL_OK; ++j) {
        st = calc_column(s, state, j);
    }
    return st;
}

tal_status tali_realtime_calc_stiffness(tal_fixed_stepper *s, tal_state *state)
{
    const tal_status st = calc_columns(s, state);
    if (st != TAL_OK) return tali_realtime_pass_on(s, state, st);
    for (int j = 0; j < s->nu; ++j) {
        double *column = tali_realtime_column(s->S, s->nu, j);
        for (int k = 0; k < j; ++k) {
            double *other = tali_realtime_column(s->S, s->nu, k);
            column[k] = other[j] = 0.5 * (column[k] + other[j]);
        }
    }
    return TAL_OK;
}
