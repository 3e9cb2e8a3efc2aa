// Events within a run: when they happen, and how derivatives jump with them.
#include "sensitivity/sensitivity_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

// A witness is zero if it is less than this part of what it was; one that changes by less than this
// part of it within a step only touches zero.
static const double ZERO = 1e-9, TOUCH = 1e-6;

// How far into a step, as part of it, the side is looked for to which a witness leaves zero.
static const double AHEAD = 1e-3;

static int sign_of(double x)
{
    return (x > 0.0) - (x < 0.0);
}

static bool is_active(const tal_sensitivity *it, const tal_state *state, int event)
{
    const tal_event_def *def = &it->watches[event].def;
    if (def->reports) return false;
    if (def->flags.i < 0) return true;
    const tal_event_flags *flags = tal_var_value(it->problem.system, state, def->flags);
    return flags == NULL || flags->active != 0;
}

// --- witnesses ---

static bool is_watched(const tal_sensitivity *it, const tal_state *state, int event)
{
    const tali_sensitivity_watch *watch = &it->watches[event];
    return watch->stage != TAL_STAGE_EMPTY && is_active(it, state, event) &&
           watch->def.slot < tal_group_size(it->problem.system, state, watch->def.trigger);
}

static tal_status read_witness(tal_sensitivity *it, tal_state *state, int event, double *value)
{
    const tal_system *system = it->problem.system;
    const tali_sensitivity_watch *watch = &it->watches[event];
    const tal_status st = tal_system_realize(system, state, watch->stage);
    if (st != TAL_OK) return tali_problem_pass_on(&it->problem, state, st);
    const int slot = tal_group_start(system, state, watch->def.trigger) + watch->def.slot;
    *value = tal_state_triggers(state, watch->stage)[slot];
    if (isfinite(*value)) return TAL_OK;
    return TALI_FAIL(&it->problem.error_record, TAL_ERR_NOT_FINITE,
                     "the witness of event '%s' is %g at t = %.17g",
                     tal_event_name(system, (tal_event_ix){event}), *value, tal_state_t(state));
}

static tal_status witness_at(tal_sensitivity *it, tal_state *state, double t, const double y[],
                             double out[])
{
    const tal_status st = tali_problem_put(&it->problem, state, t, y);
    return st == TAL_OK ? read_witness(it, state, it->probe, out) : st;
}

// A witness that is zero, as after its event, has the sign that it has a little later.
static tal_status find_side(tal_sensitivity *it, tal_state *state, int event)
{
    tali_sensitivity_watch *watch = &it->watches[event];
    tal_status st = read_witness(it, state, event, &watch->w0);
    watch->side = sign_of(watch->w0);
    if (st != TAL_OK || fabs(watch->w0) > ZERO * watch->span) return st;
    const double t = tal_state_t(state), dt = AHEAD * it->h;
    st = tali_problem_evaluate(&it->problem, state, it->f1);
    for (int i = 0; i < it->ny; ++i) {
        it->along[i] = tal_state_y(state)[i] + dt * it->f1[i];
    }
    if (st == TAL_OK) st = tal_state_copy(it->moved, state);
    it->probe = event;
    double later = 0.0;
    if (st == TAL_OK) st = witness_at(it, it->moved, t + dt, it->along, &later);
    watch->side = sign_of(later);
    return st;
}

tal_status tali_sensitivity_watch_begin(tal_sensitivity *it, tal_state *state)
{
    tal_status st = TAL_OK;
    for (int i = 0; i < it->num_events && st == TAL_OK; ++i) {
        it->watches[i].side = 0;
        it->watches[i].has_crossed = false;
        if (is_watched(it, state, i)) st = find_side(it, state, i);
    }
    return st;
}

void tali_sensitivity_watch_on(tal_sensitivity *it)
{
    for (int i = 0; i < it->num_events; ++i) {
        tali_sensitivity_watch *watch = &it->watches[i];
        if (watch->stage == TAL_STAGE_EMPTY) continue;
        watch->w0 = watch->w1;
        if (watch->w1 != 0.0) watch->side = sign_of(watch->w1);
    }
}

// --- crossings ---

static bool is_wanted(const tali_sensitivity_watch *watch)
{
    const tal_crossing crossing = watch->def.crossing;
    return crossing == TAL_CROSSING_EITHER ||
           (watch->side < 0) == (crossing == TAL_CROSSING_RISING);
}

// Which witnesses are beyond zero where the State is, among those that were at the end of the step.
// The first of them; -1: none.
static tal_status look(tal_sensitivity *it, tal_state *state, bool is_end, int *first)
{
    *first = -1;
    for (int i = 0; i < it->num_events; ++i) {
        tali_sensitivity_watch *watch = &it->watches[i];
        if (!is_watched(it, state, i) || (!is_end && !watch->has_crossed)) continue;
        double w = 0.0;
        const tal_status st = read_witness(it, state, i, &w);
        if (st != TAL_OK) return st;
        watch->w1 = w;
        const bool is_beyond = watch->side * w <= 0.0 && watch->side != 0 && is_wanted(watch);
        if (is_end) {
            watch->has_crossed = is_beyond;
            if (is_beyond) watch->span = fmax(fabs(watch->w0), fabs(w));
        }
        if (is_beyond && *first < 0) *first = i;
    }
    return TAL_OK;
}

// Where within (lo, hi) to look next: the chord, whose value on the side that stays is halved
// (the Illinois rule), or the middle.
typedef struct bracket {
    double lo, hi, w_lo, w_hi;
    int kept; // side that stayed in the last step: -1 lo, +1 hi
} bracket;

static double next_of(const bracket *it)
{
    const double x = it->lo + (it->hi - it->lo) * (it->w_lo / (it->w_lo - it->w_hi));
    return x > it->lo && x < it->hi ? x : 0.5 * (it->lo + it->hi);
}

static void shrink(bracket *it, double x, double w, bool is_beyond)
{
    if (is_beyond) {
        it->hi = x;
        it->w_hi = w;
        if (it->kept == -1) it->w_lo *= 0.5;
        it->kept = -1;
    } else {
        it->lo = x;
        it->w_lo = w;
        if (it->kept == 1) it->w_hi *= 0.5;
        it->kept = 1;
    }
}

// The step once more, with another length.
static tal_status try_length(tal_sensitivity *it, tal_state *state, double t0, double h, int *first)
{
    tal_status st = tali_sensitivity_try(it, state, t0, h, NULL);
    if (st == TAL_OK) st = look(it, state, false, first);
    return st;
}

tal_status tali_sensitivity_find_crossing(tal_sensitivity *it, tal_state *state, double t0,
                                          double *h, bool *has_event)
{
    int first = -1;
    tal_status st = look(it, state, true, &first);
    *has_event = first >= 0;
    if (st != TAL_OK || first < 0) return st;
    const double resolved = 4.0 * DBL_EPSILON * (fabs(t0) + *h);
    const tali_sensitivity_watch *watch = &it->watches[first];
    const bool has_start = watch->side * watch->w0 > ZERO * watch->span;
    bracket in = {0.0, *h, has_start ? watch->w0 : -watch->w1, watch->w1, 0};
    double x = *h;
    for (int k = 0; k < 200 && in.hi - in.lo > resolved && st == TAL_OK; ++k) {
        int beyond = -1;
        x = k == 0 && !has_start ? AHEAD * *h : next_of(&in);
        st = try_length(it, state, t0, x, &beyond);
        if (beyond >= 0 && beyond != first && it->watches[first].side * it->watches[first].w1 > 0) {
            first = beyond; // another one is earlier
            watch = &it->watches[first];
            in = (bracket){in.lo, x, watch->w0, watch->w1, 0};
            continue;
        }
        if (fabs(watch->w1) <= 4.0 * DBL_EPSILON * watch->span) break;
        shrink(&in, x, watch->w1, beyond >= 0);
    }
    if (st == TAL_OK && in.hi - in.lo <= resolved && x != in.hi) {
        int beyond = -1;
        x = in.hi;
        st = try_length(it, state, t0, x, &beyond);
    }
    *h = x;
    for (int i = 0; i < it->num_events; ++i) {
        tali_sensitivity_watch *other = &it->watches[i];
        other->has_crossed =
            other->has_crossed && (i == first || other->side * other->w1 <= ZERO * other->span);
    }
    return st;
}

// --- what is called ---

// The first time of an event after the appointments that were kept; infinity when it has none.
static double next_time_of(const tal_sensitivity *it, const tal_state *state, int event)
{
    const tal_system *system = it->problem.system;
    const tal_event_def *def = &it->watches[event].def;
    if (def->next_time == NULL || !is_active(it, state, event)) return (double)INFINITY;
    const void *self = tal_subsystem_self(system, tal_event_owner(system, (tal_event_ix){event}));
    return def->next_time(def->context != NULL ? def->context : self, system, state, it->t_done);
}

double tali_sensitivity_next_appointment(const tal_sensitivity *it, const tal_state *state)
{
    double t = (double)INFINITY;
    for (int i = 0; i < it->num_events; ++i) {
        t = fmin(t, next_time_of(it, state, i));
    }
    return t;
}

// Events that happen where the State is, for a cause.
static int list_events(const tal_sensitivity *it, const tal_state *state, tal_event_cause cause,
                       tal_event_ix list[])
{
    int n = 0;
    for (int i = 0; i < it->num_events; ++i) {
        const tali_sensitivity_watch *watch = &it->watches[i];
        const bool asked = (watch->def.causes & 1U << cause) != 0;
        const bool happens = cause == TAL_EVENT_TRIGGERED ? watch->has_crossed
                             : cause == TAL_EVENT_SCHEDULED
                                 ? next_time_of(it, state, i) <= tal_state_t(state)
                                 : asked;
        if (happens && is_active(it, state, i)) list[n++] = (tal_event_ix){i};
    }
    return n;
}

// Calls handlers and makes the State consistent again.
static tal_status call(tal_sensitivity *it, tal_state *state, tal_event_cause cause,
                       const tal_event_ix list[], int n, bool *terminate)
{
    const tal_system *system = it->problem.system;
    tal_status st = tal_system_realize(system, state, TAL_STAGE_ACCELERATION);
    if (st == TAL_OK) st = tal_system_handle_events(system, state, cause, list, n, terminate);
    if (st != TAL_OK) return tali_problem_pass_on(&it->problem, state, st);
    if (tal_system_realize(system, state, TAL_STAGE_TIME) != TAL_OK ||
        tal_state_ny(state) != it->ny) {
        return TALI_FAIL(&it->problem.error_record, TAL_ERR_BAD_VALUE,
                         "event '%s' changes the number of variables, which derivatives cannot "
                         "follow",
                         tal_event_name(system, list[0]));
    }
    return tali_sensitivity_project(it, state);
}

tal_status tali_sensitivity_settle_start(tal_sensitivity *it, tal_state *state)
{
    tal_status st = tali_sensitivity_project(it, state);
    if (st != TAL_OK) return st;
    it->ny = tal_state_ny(state);
    const int n = list_events(it, state, TAL_EVENT_INITIALIZATION, it->lists);
    bool terminate = false;
    return n > 0 ? call(it, state, TAL_EVENT_INITIALIZATION, it->lists, n, &terminate) : st;
}

static tal_status handled_at(tal_sensitivity *it, tal_state *state, double t, const double y[],
                             double out[])
{
    const tali_sensitivity_event *event = it->happening;
    bool terminate = false;
    tal_status st = tali_problem_put(&it->problem, state, t, y);
    if (st == TAL_OK) st = call(it, state, event->cause, event->list, event->num, &terminate);
    if (st == TAL_OK) memcpy(out, tal_state_y(state), (size_t)it->ny * sizeof *out);
    return st;
}

tal_status tali_sensitivity_jump(tal_sensitivity *it, const tali_sensitivity_event *event,
                                 const double along[], int p, double out[], double *dt)
{
    const double *y = tal_state_y(it->before);
    tal_status st = TAL_OK;
    *dt = 0.0;
    if (event->rate != 0.0) {
        double change = 0.0, room = 0.0;
        it->probe = event->list[0].i;
        const tali_sensitivity_line line = {it->before, event->t, 0.0, y, along, p};
        st = tali_sensitivity_difference(it, &line, witness_at, 1, &room, &change);
        *dt = -change / event->rate;
    }
    for (int i = 0; i < it->ny; ++i) {
        it->sum[i] = along[i] + it->f0[i] * *dt;
    }
    it->happening = event;
    if (st == TAL_OK) {
        const tali_sensitivity_line line = {it->before, event->t, *dt, y, it->sum, p};
        st = tali_sensitivity_difference(it, &line, handled_at, it->ny, it->room, out);
    }
    for (int i = 0; i < it->ny; ++i) {
        out[i] -= it->f1[i] * *dt;
    }
    return st;
}

// How fast the witness of a triggered event goes through zero; refused if it does not.
static tal_status find_rate(tal_sensitivity *it, tali_sensitivity_event *event, double length)
{
    double room = 0.0;
    it->probe = event->list[0].i;
    const tali_sensitivity_line line = {
        it->before, event->t, 1.0, tal_state_y(it->before), it->f0, TALI_SENSITIVITY_NO_PARAMETER};
    const tal_status st =
        tali_sensitivity_difference(it, &line, witness_at, 1, &room, &event->rate);
    if (st != TAL_OK) return st;
    const tali_sensitivity_watch *watch = &it->watches[it->probe];
    if (fabs(event->rate) * length > TOUCH * watch->span) return TAL_OK;
    return TALI_FAIL(&it->problem.error_record, TAL_ERR_SINGULAR,
                     "the witness of event '%s' only touches zero at t = %.17g, with a rate of %g: "
                     "when it happens has no derivative",
                     tal_event_name(it->problem.system, event->list[0]), event->t, event->rate);
}

// S, and the end of the run if this is it.
static tal_status move_slopes(tal_sensitivity *it, const tali_sensitivity_event *event)
{
    tal_status st = TAL_OK;
    for (int p = 0; p < it->np && st == TAL_OK; ++p) {
        double *S = it->S + (size_t)p * (size_t)it->ny;
        double dt = 0.0;
        st = tali_sensitivity_jump(it, event, S, p, S, &dt);
        it->end_slopes[p] = it->has_ended ? dt : 0.0;
    }
    return st;
}

tal_status tali_sensitivity_handle(tal_sensitivity *it, tal_state *state, tal_event_cause cause)
{
    if (it->num_happened >= it->def.max_events) {
        return TALI_FAIL(&it->problem.error_record, TAL_ERR_EVENT_LIMIT,
                         "more than max_events = %d events up to t = %.17g", it->def.max_events,
                         tal_state_t(state));
    }
    const size_t row = it->def.gradients ? (size_t)it->num_happened : 0;
    tal_event_ix *const list = it->lists + row * (size_t)it->num_events;
    tali_sensitivity_event *const event = &it->events[it->num_happened++];
    *event = (tali_sensitivity_event){
        .cause = cause, .list = list, .after = it->num_steps, .t = tal_state_t(state)};
    event->num = list_events(it, state, cause, list);
    tal_status st = tali_problem_evaluate(&it->problem, state, it->f0);
    if (st == TAL_OK) st = tal_state_copy(it->before, state);
    if (st == TAL_OK && cause == TAL_EVENT_TRIGGERED) st = find_rate(it, event, it->h);
    if (st == TAL_OK) st = call(it, state, cause, list, event->num, &it->has_ended);
    if (st == TAL_OK) st = tali_problem_evaluate(&it->problem, state, it->f1);
    if (st == TAL_OK && !it->is_recording) st = move_slopes(it, event);
    if (st == TAL_OK && it->is_recording) st = tal_state_copy(it->kept[it->num_happened], state);
    ++it->stats.events;
    it->t_done = tal_state_t(state);
    tali_sensitivity_look(it, state);
    return st == TAL_OK ? tali_sensitivity_watch_begin(it, state) : st;
}
