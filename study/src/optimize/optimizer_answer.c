// The answer of optimal control between nodes, and a simulation with its controls.
#include "error_internal.h"

#include "optimize/optimizer_internal.h"

#include <math.h>
#include <string.h>

enum {
    STEPS_PER_INTERVAL = 20 // of the simulation
};

static bool is_live(const tal_optimizer *it, const char *where)
{
    if (it == NULL) (void)tali_breach(TAL_ERR_NULL, where, "the optimizer is NULL");
    return it != NULL;
}

int tal_optimizer_num_nodes(const tal_optimizer *optimizer)
{
    if (!is_live(optimizer, __func__)) return -1;
    const tali_optimize_rule *rule = tali_optimize_rule_of(optimizer->def.method);
    return optimizer->def.intervals * (rule->num_stages - 1) + 1;
}

double tal_optimizer_node_time(const tal_optimizer *optimizer, int node)
{
    if (!is_live(optimizer, __func__)) return TALI_NAN;
    if (node < 0 || node >= tal_optimizer_num_nodes(optimizer)) {
        (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "there is no node %d", node);
        return TALI_NAN;
    }
    return isfinite(optimizer->end) ? tali_optimize_time_at(optimizer, node, optimizer->end)
                                    : TALI_NAN;
}

int tal_optimizer_num_controls(const tal_optimizer *optimizer)
{
    return is_live(optimizer, __func__) ? optimizer->nc : -1;
}

static bool is_control(const tal_optimizer *it, int control, const char *where)
{
    if (!is_live(it, where)) return false;
    if (control >= 0 && control < it->nc) return true;
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "there is no control %d", control);
    return false;
}

tal_force_ix tal_optimizer_actuator(const tal_optimizer *optimizer, int control)
{
    if (!is_control(optimizer, control, __func__)) return (tal_force_ix){-1};
    return optimizer->actuators[control];
}

// --- polynomials ---

// The interval that t lies in, and where in it: 0 to 1.
static int interval_at(const tal_optimizer *it, double t, double *s)
{
    const double place = (t - it->start) / (it->end - it->start) * it->def.intervals;
    int n = (int)floor(place);
    n = n < 0 ? 0 : n > it->def.intervals - 1 ? it->def.intervals - 1 : n;
    *s = fmin(fmax(place - n, 0.0), 1.0);
    return n;
}

// y' is linear (trapezoid) or a parabola (Hermite-Simpson) in an interval, and so are a and the
// controls; y follows by integration.
void tali_optimize_interpolate(const tal_optimizer *it, double t, double x[])
{
    double s;
    const int stages = it->num_stages, k = interval_at(it, t, &s) * (stages - 1);
    const double h = (it->end - it->start) / it->def.intervals;
    const bool is_cubic = stages == 3;
    // weights of nodes, and of their rates in the integral from the start of the interval
    const double w[3] = {is_cubic ? (1.0 - s) * (1.0 - 2.0 * s) : 1.0 - s,
                         is_cubic ? 4.0 * s * (1.0 - s) : s, is_cubic ? s * (2.0 * s - 1.0) : 0.0};
    const double v[3] = {is_cubic ? s - 1.5 * s * s + 2.0 / 3.0 * s * s * s : s - 0.5 * s * s,
                         is_cubic ? 2.0 * s * s - 4.0 / 3.0 * s * s * s : 0.5 * s * s,
                         is_cubic ? 2.0 / 3.0 * s * s * s - 0.5 * s * s : 0.0};
    for (int j = 0; j < it->size; ++j) {
        x[j] = j < it->ny ? it->x[k * it->size + j] : 0.0;
        for (int i = 0; i < stages; ++i) {
            const int node = k + i;
            x[j] += j < it->ny ? h * v[i] * it->f[(ptrdiff_t)node * it->ny + j]
                               : w[i] * it->x[node * it->size + j];
        }
    }
}

double tal_optimizer_control(const tal_optimizer *optimizer, int control, double t)
{
    if (!is_control(optimizer, control, __func__)) return TALI_NAN;
    const tal_optimizer *it = optimizer;
    if (!(t >= it->start && t <= it->end)) { // without an answer the end is NaN
        (void)TALI_BREACH(TAL_ERR_BAD_VALUE, "t = %g is not within the motion, %g to %g", t,
                          it->start, it->end);
        return TALI_NAN;
    }
    tali_optimize_interpolate(it, t, it->moved);
    return it->moved[it->ny + it->nu + control];
}

tal_status tal_optimizer_interpolate(const tal_optimizer *optimizer, double t, tal_state *state)
{
    if (!is_live(optimizer, __func__)) return TAL_ERR_NULL;
    const tal_optimizer *it = optimizer;
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "state is NULL");
    if (!(t >= it->start && t <= it->end)) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "t = %g is not within the motion, %g to %g", t,
                           it->start, it->end);
    }
    const tal_status st = tal_system_realize(it->system, state, TAL_STAGE_MODEL);
    if (st != TAL_OK) return st;
    if (tal_state_nq(state) != it->nq || tal_state_nz(state) != it->nz) {
        return TALI_BREACH(TAL_ERR_WRONG_SYSTEM, "the State has other coordinates than the answer");
    }
    tali_optimize_interpolate(it, t, it->moved);
    return tali_optimize_put(it, state, t, it->moved);
}

// --- the simulation ---

void tali_optimize_keep_rates(tal_optimizer *it)
{
    for (int k = 0; k < it->num_nodes; ++k) {
        const double t = tali_optimize_time_at(it, k, it->end);
        double *f = &it->f[(ptrdiff_t)k * it->ny];
        if (tali_optimize_calc_values(it, t, &it->x[k * it->size], &it->values) == TAL_OK) {
            memcpy(f, it->values.f, (size_t)it->ny * sizeof *f);
        }
    }
}

// y' at a time, with the controls of the answer.
static tal_status calc_rates(tal_optimizer *it, double t, const double y[], double ydot[])
{
    tali_optimize_interpolate(it, fmin(t, it->end), it->moved_node);
    memcpy(it->moved_node, y, (size_t)it->ny * sizeof *y);
    tal_status st = tali_optimize_put(it, it->state, t, it->moved_node);
    if (st == TAL_OK) st = tal_system_realize(it->system, it->state, TAL_STAGE_ACCELERATION);
    if (st == TAL_OK) memcpy(ydot, tal_state_ydot(it->state), (size_t)it->ny * sizeof *ydot);
    return st;
}

// One step of Runge and Kutta's classical method; k are sums of rates.
static tal_status step(tal_optimizer *it, double t, double h, double y[])
{
    static const double part[] = {0.0, 0.5, 0.5, 1.0}, weight[] = {1.0, 2.0, 2.0, 1.0};
    double *rates = it->values.f, *sum = it->plus.f, *at = it->mu;
    memset(rates, 0, (size_t)it->ny * sizeof *rates);
    memset(sum, 0, (size_t)it->ny * sizeof *sum);
    tal_status st = TAL_OK;
    for (int s = 0; s < 4 && st == TAL_OK; ++s) {
        for (int j = 0; j < it->ny; ++j) {
            at[j] = y[j] + part[s] * h * rates[j];
        }
        st = calc_rates(it, t + part[s] * h, at, rates);
        for (int j = 0; j < it->ny; ++j) {
            sum[j] += weight[s] / 6.0 * rates[j];
        }
    }
    for (int j = 0; j < it->ny; ++j) {
        y[j] += h * sum[j];
    }
    return st;
}

double tali_optimize_simulate(tal_optimizer *it)
{
    const int steps = it->def.intervals * STEPS_PER_INTERVAL;
    const double h = (it->end - it->start) / steps;
    double *y = it->gradient, most = 0.0;
    memcpy(y, it->x, (size_t)it->ny * sizeof *y);
    for (int k = 0; k < steps; ++k) {
        if (step(it, it->start + k * h, h, y) != TAL_OK) return TALI_NAN;
    }
    const double *last = &it->x[(it->num_nodes - 1) * it->size];
    for (int j = 0; j < it->nq + it->nu; ++j) {
        const double off = fabs(y[j] - last[j]) / (1.0 + fabs(last[j]));
        if (!isfinite(off)) return TALI_NAN;
        most = fmax(most, off);
    }
    return most;
}
