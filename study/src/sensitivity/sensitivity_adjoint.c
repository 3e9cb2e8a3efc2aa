// Gradients of one number at the end of a run, back through its steps.
//
// lambda holds the derivative of the number by y at a place in the run. It goes back through what a
// step did, in reverse: the projection of its end, the sum over stages, and the stages, of which
// the last needs the others. Whatever has no transpose in closed form is linear in lambda, so its
// columns are taken along one variable after the other.
#include "sensitivity/sensitivity_internal.h"

#include <string.h>

/// What goes back.
typedef struct backward {
    tal_sensitivity *it;
    tal_state *state; // that is moved through the run once more
    double *gradient; // [np] scaled
    double by_end;    // derivative of the number by the time of the end
} backward;

static double dot(const double a[], const double b[], int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

// --- columns, one variable after the other ---

/// What n numbers change by at (t, y).
typedef struct local {
    double t;
    const double *y;
    tali_sensitivity_value_fn value;
    int n;
} local;

// out_j = v . (change along variable j), and the gradient by what depends on parameters directly.
static tal_status transpose(const backward *go, const local *of, const double v[], double out[])
{
    tal_sensitivity *it = go->it;
    tal_status st = TAL_OK;
    memset(it->unit, 0, (size_t)it->ny * sizeof *it->unit);
    for (int j = 0; j < it->ny && st == TAL_OK; ++j) {
        it->unit[j] = 1.0;
        const tali_sensitivity_line line = {go->state, of->t,    0.0,
                                            of->y,     it->unit, TALI_SENSITIVITY_NO_PARAMETER};
        st = tali_sensitivity_difference(it, &line, of->value, of->n, it->room, it->sum);
        out[j] = dot(v, it->sum, of->n);
        it->unit[j] = 0.0;
    }
    return st;
}

static tal_status add_direct(const backward *go, const local *of, const double v[])
{
    tal_sensitivity *it = go->it;
    tal_status st = TAL_OK;
    for (int p = 0; p < it->np && st == TAL_OK; ++p) {
        if (it->is_start[p]) continue;
        const tali_sensitivity_line line = {go->state, of->t, 0.0, of->y, NULL, p};
        st = tali_sensitivity_difference(it, &line, of->value, of->n, it->room, it->sum);
        go->gradient[p] += dot(v, it->sum, of->n);
    }
    return st;
}

// --- a step ---

// v = h (b_i lambda + sum_j>i a_ji w_j). False: it is zero.
static bool weigh_stage(const tal_sensitivity *it, double h, int i, double v[])
{
    const tal_rk_tableau *tableau = it->tableau;
    const size_t ny = (size_t)it->ny;
    bool any = tableau->b[i] != 0.0;
    for (int l = 0; l < it->ny; ++l) {
        v[l] = h * tableau->b[i] * it->lambda[l];
    }
    for (int j = i + 1; j < tableau->stages; ++j) {
        const double a = h * tableau->a[(ptrdiff_t)j * tableau->stages + i];
        any = any || a != 0.0;
        for (int l = 0; l < it->ny && a != 0.0; ++l) {
            v[l] += a * it->w_of[(size_t)j * ny + (size_t)l];
        }
    }
    return any;
}

// w_i = J^T v at stage i.
static tal_status back_through_stage(const backward *go, double t, double h, int i)
{
    tal_sensitivity *it = go->it;
    const size_t ny = (size_t)it->ny;
    double *const w = it->w_of + (size_t)i * ny, *const v = it->lambda_of;
    memset(w, 0, ny * sizeof *w);
    if (!weigh_stage(it, h, i, v)) return TAL_OK;
    const local of = {t + it->tableau->c[i] * h, it->Y_of + (size_t)i * ny,
                      tali_sensitivity_find_rates, it->ny};
    if (!tali_sensitivity_jacobian(it, go->state, of.t, of.y)) {
        const tal_status st = transpose(go, &of, v, w);
        return st == TAL_OK ? add_direct(go, &of, v) : st;
    }
    for (int j = 0; j < it->ny; ++j) {
        w[j] = dot(it->columns[j], v, it->ny);
    }
    return add_direct(go, &of, v);
}

// The State as the events before left it, and step n taken once more: its stages, and its end.
static tal_status take_again(const backward *go, int n, int events)
{
    tal_sensitivity *it = go->it;
    const tali_sensitivity_step *step = &it->steps[n];
    const size_t ny = (size_t)it->ny;
    memcpy(it->y0, it->y_of + (size_t)n * ny, ny * sizeof *it->y0);
    tal_status st = tal_state_copy(go->state, it->kept[events]);
    tali_sensitivity_look(it, it->kept[events]);
    if (st == TAL_OK) st = tali_sensitivity_try(it, go->state, step->t, step->taken, NULL);
    return st;
}

static tal_status back_through_step(const backward *go, int n, int events)
{
    tal_sensitivity *it = go->it;
    const tali_sensitivity_step *step = &it->steps[n];
    const size_t ny = (size_t)it->ny;
    tal_status st = take_again(go, n, events);
    if (st == TAL_OK && it->needs_projection) {
        const local of = {step->t + step->taken, it->Y, tali_sensitivity_find_projected, it->ny};
        st = add_direct(go, &of, it->lambda);
        if (st == TAL_OK) st = transpose(go, &of, it->lambda, it->lambda_of);
        memcpy(it->lambda, it->lambda_of, ny * sizeof *it->lambda);
    }
    for (int i = it->tableau->stages - 1; i >= 0 && st == TAL_OK; --i) {
        st = back_through_stage(go, step->t, step->taken, i);
    }
    for (int i = 0; i < it->tableau->stages; ++i) {
        for (size_t l = 0; l < ny; ++l) {
            it->lambda[l] += it->w_of[(size_t)i * ny + l];
        }
    }
    return st;
}

// --- an event ---

// `before` as event e found it, and the rates on both sides.
static tal_status stand_at_event(const backward *go, int e)
{
    tal_sensitivity *it = go->it;
    const tali_sensitivity_event *event = &it->events[e];
    const bool is_same = event->after == 0 || (e > 0 && it->events[e - 1].after == event->after);
    tal_status st = TAL_OK;
    if (!is_same) st = take_again(go, event->after - 1, e);
    if (st == TAL_OK) st = tal_state_copy(it->before, it->kept[e]);
    if (st == TAL_OK && !is_same) {
        st = tali_problem_put(&it->problem, it->before, event->t, it->end);
    }
    if (st == TAL_OK) st = tali_problem_evaluate(&it->problem, it->before, it->f0);
    if (st == TAL_OK) st = tali_problem_evaluate(&it->problem, it->kept[e + 1], it->f1);
    return st;
}

// lambda before an event, one variable after the other, and what parameters do in it.
static tal_status back_through_event(const backward *go, int e)
{
    tal_sensitivity *it = go->it;
    const tali_sensitivity_event *event = &it->events[e];
    const size_t bytes = (size_t)it->ny * sizeof(double);
    tal_status st = stand_at_event(go, e);
    // of the last one the time counts, too
    const bool is_end = it->has_ended && e == it->num_happened - 1;
    const double by_time = is_end ? dot(it->lambda, it->f1, it->ny) + go->by_end : 0.0;
    double dt = 0.0;
    memset(it->unit, 0, bytes);
    for (int p = 0; p < it->np && st == TAL_OK; ++p) {
        if (it->is_start[p]) continue;
        st = tali_sensitivity_jump(it, event, it->unit, p, it->error, &dt);
        go->gradient[p] += dot(it->lambda, it->error, it->ny) + by_time * dt;
    }
    for (int j = 0; j < it->ny && st == TAL_OK; ++j) {
        it->unit[j] = 1.0;
        st = tali_sensitivity_jump(it, event, it->unit, TALI_SENSITIVITY_NO_PARAMETER, it->error,
                                   &dt);
        it->lambda_of[j] = dot(it->lambda, it->error, it->ny) + by_time * dt;
        it->unit[j] = 0.0;
    }
    memcpy(it->lambda, it->lambda_of, bytes);
    return st;
}

// --- the whole ---

// The derivative of the number where the run ended.
static tal_status begin_at_end(backward *go, const tal_state *end)
{
    tal_sensitivity *it = go->it;
    double room = 0.0;
    const double one = 1.0;
    const double *y = tal_state_y(end);
    const local of = {tal_state_t(end), y, tali_sensitivity_find_numbers, 1};
    tal_status st = tal_state_copy(go->state, end);
    if (st == TAL_OK) st = transpose(go, &of, &one, it->lambda);
    if (st == TAL_OK) st = add_direct(go, &of, &one);
    if (st != TAL_OK) return st;
    const tali_sensitivity_line line = {end, of.t, 1.0, y, NULL, TALI_SENSITIVITY_NO_PARAMETER};
    return tali_sensitivity_difference(it, &line, of.value, 1, &room, &go->by_end);
}

// `start` is the State before it was settled; how y changes there with parameters is found anew.
static tal_status go_back(backward *go, const tal_state *start)
{
    tal_sensitivity *it = go->it;
    int e = it->num_happened;
    tal_status st = TAL_OK;
    for (int n = it->num_steps; n >= 0 && st == TAL_OK; --n) {
        while (e > 0 && it->events[e - 1].after == n && st == TAL_OK) {
            st = back_through_event(go, --e);
        }
        if (n > 0 && st == TAL_OK) st = back_through_step(go, n - 1, e);
    }
    for (int p = 0; p < it->np && st == TAL_OK; ++p) {
        st = tali_sensitivity_start_slopes(it, start, p, it->error);
        go->gradient[p] += dot(it->lambda, it->error, it->ny);
    }
    return st;
}

tal_status tal_sensitivity_gradient(tal_sensitivity *it, tal_state *state, const double values[],
                                    double end_time, tal_measure_ix measure, double gradient[])
{
    if (it == NULL || state == NULL || values == NULL || gradient == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the study, state, values or gradient is NULL");
    }
    it->problem.error_record = (tal_error){TAL_OK, "", ""};
    it->has_run = false;
    tal_status st = tali_sensitivity_check_measure(it, measure);
    if (st == TAL_OK) st = tali_sensitivity_check_run(it, state, values, end_time);
    if (st == TAL_OK && !it->def.gradients) {
        st = TALI_FAIL(&it->problem.error_record, TAL_ERR_BAD_VALUE,
                       "set `gradients` in the def: going back needs memory");
    }
    if (st != TAL_OK) return st;
    st = tal_system_realize(it->problem.system, state, TAL_STAGE_TIME);
    if (st != TAL_OK) return tali_problem_pass_on(&it->problem, state, st);
    it->is_recording = true;
    st = tali_sensitivity_start(it, state, values);
    if (st == TAL_OK) st = tal_state_copy(it->start, it->before);
    if (st == TAL_OK) st = tali_sensitivity_go(it, state, end_time);
    backward go = {.it = it, .state = it->trial, .gradient = gradient};
    memset(gradient, 0, (size_t)it->np * sizeof *gradient);
    tali_sensitivity_read_measure(it, &measure);
    if (st == TAL_OK) st = begin_at_end(&go, state);
    if (st == TAL_OK) st = go_back(&go, it->start);
    for (int p = 0; p < it->np; ++p) {
        gradient[p] /= it->scales[p];
    }
    return st;
}
