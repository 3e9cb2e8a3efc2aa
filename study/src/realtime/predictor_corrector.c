// Welch's steps (Welch eq. 44), in speeds u and q moved along them. With A = G M^-1 G^T and
// a = M^-1 Q
//
//     predictor   A lp = Phi / h^2 + verr / h + G a          up = u0 + h (a - M^-1 G^T lp)
//     corrector   A l  = 2 Phi(qp) / h^2 + (2 / h) G (u0 - up) + G a, halfway,
//                 u1 = u0 + h (a - M^-1 G^T l)                x = h (u0 + u1) / 2
//
// of velocity rows, A l = (verr(qp, up) + G (u0 - up)) / h + G a. verr / h stands for G u0 / h and
// what depends on t. Q has the forces of the bias; the corrector's belong to the speeds halfway:
// those of the predictor, or, repeated, those of the corrector, which makes the method one of order
// 2 also in rotation.
#include "realtime/realtime_internal.h"

#include <string.h>

// u1 = u0 + h (a - M^-1 G^T lambda) with A lambda = `row` + G a. Adds a's part to the row.
static tal_status strike(tal_fixed_stepper *s, tal_state *state, const double row[], double u1[])
{
    tal_status st = tali_realtime_calc_free_udot(s, state, s->a);
    if (st == TAL_OK && s->m > 0) {
        st = tal_matter_mul_G(s->matter, state, TAL_G, s->a, s->errors);
        for (int i = 0; i < s->m; ++i) {
            s->errors[i] += row[i];
        }
        if (st == TAL_OK) {
            st = tal_matter_calc_constraint_impulse(s->matter, state, s->errors, s->past.lambda,
                                                    s->f);
        }
        ++s->stats.factorizations;
    }
    for (int k = 0; k < s->nu && st == TAL_OK; ++k) {
        s->a[k] += s->m > 0 ? s->f[k] : 0.0;
        u1[k] = s->u_start[k] + s->h * s->a[k];
    }
    return tali_realtime_pass_on(s, state, st);
}

static tal_status predict(tal_fixed_stepper *s, tal_state *state)
{
    const double h = s->h;
    const double *perr = tali_realtime_perr(s, state), *verr = tali_realtime_verr(s, state);
    for (int i = 0; i < s->m; ++i) {
        s->row[i] = (i < s->rows.mp ? perr[i] / (h * h) : 0.0) + verr[i] / h;
    }
    const tal_status st = strike(s, state, s->row, s->u);
    for (int k = 0; k < s->nu; ++k) {
        s->x[k] = h * s->u[k];
    }
    return st;
}

// The row of the corrector, where the predictor ended: what does not change when it is repeated.
static tal_status read_predicted(tal_fixed_stepper *s, tal_state *state)
{
    const double h = s->h;
    const tal_status st = tali_realtime_put(s, state, s->t1, s->x, s->u);
    if (st != TAL_OK) return st;
    const double *perr = tali_realtime_perr(s, state), *verr = tali_realtime_verr(s, state);
    for (int i = 0; i < s->m; ++i) {
        s->row[i] = i < s->rows.mp ? 2.0 * perr[i] / (h * h) : verr[i] / h;
    }
    return TAL_OK;
}

// Halfway, with the speeds (u0 + u) / 2.
static tal_status put_halfway(tal_fixed_stepper *s, tal_state *state)
{
    for (int k = 0; k < s->nu; ++k) {
        s->change[k] = 0.5 * s->x[k];
        s->w[k] = 0.5 * (s->u_start[k] + s->u[k]);
    }
    return tali_realtime_put(s, state, s->t0 + 0.5 * s->h, s->change, s->w);
}

// row += (2 or 1) / h G (u0 - up)
static tal_status add_lost_speed(tal_fixed_stepper *s, tal_state *state)
{
    for (int k = 0; k < s->nu; ++k) {
        s->change[k] = s->u_start[k] - s->u[k];
    }
    const tal_status st = tal_matter_mul_G(s->matter, state, TAL_G, s->change, s->errors);
    for (int i = 0; i < s->m && st == TAL_OK; ++i) {
        s->row[i] += (i < s->rows.mp ? 2.0 : 1.0) / s->h * s->errors[i];
    }
    return tali_realtime_pass_on(s, state, st);
}

static tal_status correct(tal_fixed_stepper *s, tal_state *state)
{
    tal_status st = read_predicted(s, state);
    if (st == TAL_OK) st = put_halfway(s, state);
    if (st == TAL_OK) st = add_lost_speed(s, state);
    if (st == TAL_OK) st = strike(s, state, s->row, s->u);
    if (st == TAL_OK && s->def.repeats_corrector) {
        for (int k = 0; k < s->nu; ++k) {
            s->w[k] = 0.5 * (s->u_start[k] + s->u[k]);
        }
        st = tali_realtime_put_u(s, state, s->w);
        if (st == TAL_OK) st = strike(s, state, s->row, s->u);
    }
    for (int k = 0; k < s->nu; ++k) {
        s->x[k] = 0.5 * s->h * (s->u_start[k] + s->u[k]);
    }
    return st;
}

static tal_status step(tal_fixed_stepper *s, tal_state *state)
{
    tal_status st = predict(s, state);
    if (st == TAL_OK && s->def.scheme == TAL_SCHEME_PREDICTOR_CORRECTOR) st = correct(s, state);
    if (st == TAL_OK) st = tali_realtime_put(s, state, s->t1, s->x, s->u);
    s->stats.iterations += 1;
    memcpy(s->past.udot, s->a, (size_t)s->nu * sizeof *s->a);
    return st;
}

static tal_status start(tal_fixed_stepper *s, tal_state *state)
{
    (void)state;
    memset(s->past.udot, 0, (size_t)s->nu * sizeof *s->past.udot);
    memset(s->past.lambda, 0, (size_t)s->m * sizeof *s->past.lambda);
    return TAL_OK;
}

const tali_realtime_ops *tali_realtime_welch(void)
{
    static const tali_realtime_ops ops = {.start = start, .step = step};
    return &ops;
}
