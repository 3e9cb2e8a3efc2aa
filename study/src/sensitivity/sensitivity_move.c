// Differences along directions of variables and parameters, at a State that is moved.
#include "sensitivity/sensitivity_internal.h"

#include <math.h>
#include <string.h>

const double tali_sensitivity_h = 1e-3;
const double tali_sensitivity_at[TALI_SENSITIVITY_POINTS] = {-1.0, -0.5, 0.5, 1.0};
const double tali_sensitivity_weight[TALI_SENSITIVITY_POINTS] = {1.0 / 6.0, -4.0 / 3.0, 4.0 / 3.0,
                                                                 -1.0 / 6.0};

tal_status tali_sensitivity_set_parameter(tal_sensitivity *it, tal_state *state, int p,
                                          double value)
{
    const tal_parameter *parameter = &it->parameters[p];
    const tal_status st = parameter->set(parameter, it->problem.system, state, value);
    return tali_problem_pass_on(&it->problem, state, st);
}

// One more step of Newton's method than is needed for 1e-8 squares that.
tal_status tali_sensitivity_project(tal_sensitivity *it, tal_state *state)
{
    tal_project_options options = tal_project_options_default();
    options.tolerance = 1e-8;
    tal_status st = TAL_OK;
    for (int pass = 0; pass < 2 && st == TAL_OK; ++pass) {
        options.even_if_met = pass == 1;
        st = tali_problem_project_by(&it->problem, state, &options, NULL);
    }
    return st;
}

double tali_sensitivity_step_along(const double along[], int n)
{
    double size = 1.0;
    for (int i = 0; i < n && along != NULL; ++i) {
        size = fmax(size, fabs(along[i]));
    }
    return tali_sensitivity_h / size;
}

// --- what is found there ---

tal_status tali_sensitivity_find_rates(tal_sensitivity *it, tal_state *state, double t,
                                       const double y[], double out[])
{
    return tali_problem_rates(&it->problem, state, t, y, out);
}

tal_status tali_sensitivity_find_projected(tal_sensitivity *it, tal_state *state, double t,
                                           const double y[], double out[])
{
    tal_status st = tali_problem_put(&it->problem, state, t, y);
    if (st == TAL_OK) st = tali_sensitivity_project(it, state);
    if (st == TAL_OK) memcpy(out, tal_state_y(state), (size_t)it->ny * sizeof *out);
    return st;
}

tal_status tali_sensitivity_find_numbers(tal_sensitivity *it, tal_state *state, double t,
                                         const double y[], double out[])
{
    const tal_system *system = it->problem.system;
    tal_status st = tali_problem_put(&it->problem, state, t, y);
    if (st != TAL_OK) return st;
    st = tal_system_realize(system, state, TAL_STAGE_ACCELERATION);
    if (st == TAL_OK) st = it->read(it->read_context, system, state, out);
    return tali_problem_pass_on(&it->problem, state, st);
}

// --- differences ---

// The State that is moved, at one point of the difference.
static tal_status go_to_point(tal_sensitivity *it, const tali_sensitivity_line *line, double by)
{
    const int p = line->p;
    for (int i = 0; i < it->ny; ++i) {
        it->along[i] = line->along != NULL ? line->y[i] + by * line->along[i] : line->y[i];
    }
    const tal_status st = tal_state_copy(it->moved, line->state);
    if (st != TAL_OK || p < 0 || it->is_start[p]) return st;
    return tali_sensitivity_set_parameter(it, it->moved, p, it->values[p] + by * it->scales[p]);
}

tal_status tali_sensitivity_difference(tal_sensitivity *it, const tali_sensitivity_line *line,
                                       tali_sensitivity_value_fn value, int n, double room[],
                                       double out[])
{
    const double h = fmin(tali_sensitivity_step_along(line->along, it->ny),
                          tali_sensitivity_step_along(&line->dt, 1));
    tal_status st = TAL_OK;
    memset(out, 0, (size_t)n * sizeof *out);
    for (int k = 0; k < TALI_SENSITIVITY_POINTS && st == TAL_OK; ++k) {
        const double by = h * tali_sensitivity_at[k];
        st = go_to_point(it, line, by);
        if (st == TAL_OK) st = value(it, it->moved, line->t + by * line->dt, it->along, room);
        for (int i = 0; i < n && st == TAL_OK; ++i) {
            out[i] += tali_sensitivity_weight[k] / h * room[i];
        }
    }
    return st;
}
