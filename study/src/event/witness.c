// Witness functions: their values and rates at the ends of a step, and the sign each has at the
// start.
#include "event/stepper_internal.h"

#include <float.h>
#include <math.h>

static int sign_of(double x)
{
    return (x > 0.0) - (x < 0.0);
}

// Never below what the time itself can resolve.
double tali_stepper_window(const tal_time_stepper *ts, const tali_stepper_watch *watch)
{
    const double usual = tal_system_time_scale(ts->system) * ts->integ->def.accuracy;
    const double wanted = watch->def.window > 0.0 ? watch->def.window : usual;
    return fmax(wanted, 4.0 * DBL_EPSILON * fabs(ts->integ->t1));
}

// The window times the largest of the rates seen, with room to spare.
double tali_stepper_reach(const tal_time_stepper *ts, const tali_stepper_watch *watch, double rate)
{
    const double seen = fmax(watch->steepest, watch->memory.steepest);
    return 4.0 * fmax(seen, fabs(rate)) * tali_stepper_window(ts, watch);
}

// --- reading ---

// A group that is sized below the slot has switched the witness off.
static bool has_slot(const tal_time_stepper *ts, const tal_state *state, const tal_event_def *def)
{
    return def->slot < tal_group_size(ts->system, state, def->trigger);
}

static tal_status read_slot(tal_time_stepper *ts, tal_state *state, int event, bool is_rate,
                            double *value)
{
    const tali_stepper_watch *watch = &ts->watches[event];
    const tal_event_def *def = &watch->def;
    const tal_stage stage = is_rate ? watch->rate_stage : watch->stage;
    const tal_group_ix group = is_rate ? def->rate : def->trigger;
    const tal_status st = tal_system_realize(ts->system, state, stage);
    if (st != TAL_OK) return tali_stepper_explain(ts, state, st);
    const int slot =
        tal_group_start(ts->system, state, group) + (is_rate ? def->rate_slot : def->slot);
    *value = tal_state_triggers(state, stage)[slot];
    if (isfinite(*value)) return TAL_OK;
    char name[160];
    tali_stepper_name_event(ts, event, name, sizeof name);
    return TALI_FAIL(&ts->error_record, TAL_ERR_NOT_FINITE, "the %s of %s is %g at t = %.17g",
                     is_rate ? "rate of the witness" : "witness", name, *value, tal_state_t(state));
}

tal_status tali_stepper_witness(tal_time_stepper *ts, tal_state *state, int event, double *value)
{
    return read_slot(ts, state, event, false, value);
}

tal_status tali_stepper_sample(tal_time_stepper *ts, const tal_state *state, int event, double t,
                               double *value)
{
    ++ts->stats.samples;
    const tal_status st = tal_integrator_interpolate(ts->integ, state, t, ts->seen);
    return st == TAL_OK ? tali_stepper_witness(ts, ts->seen, event, value)
                        : tali_stepper_pass_on(ts, st);
}

// --- rates ---

// Rates come for free where their owner computes them. Otherwise they are wanted to see two
// crossings in one step, which cannot be if steps are shorter than the separation of crossings.
static bool wants_difference(const tali_stepper_watch *watch)
{
    return watch->rate_stage == TAL_STAGE_EMPTY && watch->def.separation == 0.0;
}

// Moves the private State, a copy, along the motion: t + dt, y + dt ydot.
static tal_status move_private(tal_time_stepper *ts, const tal_state *state, double dt)
{
    const tal_status st = tal_state_set_t(ts->seen, tal_state_t(state) + dt);
    if (st != TAL_OK) return st;
    const double *y = tal_state_y(state), *ydot = tal_state_ydot(state);
    double *moved = tal_state_upd_y(ts->seen);
    for (int i = 0; i < tal_state_ny(state); ++i) {
        moved[i] = y[i] + dt * ydot[i];
    }
    ++ts->stats.samples;
    return TAL_OK;
}

// How far to move: a small part of the time scale, and far enough for a late time to have digits
// for it. It is what the time really moves by, so that t and y move together.
static double difference_for(const tal_time_stepper *ts, double t)
{
    const double wanted = 6e-6 * tal_system_time_scale(ts->system);
    const volatile double moved = t + fmax(wanted, 64.0 * DBL_EPSILON * fabs(t));
    return moved - t;
}

// The rate of w(t, y) along the motion by central differences, for witnesses whose rates are not
// given. A witness that cannot be evaluated a little before or after the State has no rate.
static void differ(tal_time_stepper *ts, const tal_state *state, bool all)
{
    const double dt = difference_for(ts, tal_state_t(state));
    const tal_error story = ts->error_record;
    const bool has_copy = tal_state_copy(ts->seen, state) == TAL_OK;
    for (int way = -1; way <= 1; way += 2) {
        const bool is_there = has_copy && move_private(ts, state, way * dt) == TAL_OK;
        for (int i = 0; i < ts->num_events; ++i) {
            tali_stepper_watch *watch = &ts->watches[i];
            if (!watch->is_on || watch->rate_stage != TAL_STAGE_EMPTY) continue;
            if (!all && !wants_difference(watch)) continue;
            double w = 0.0;
            const bool has_value = is_there && tali_stepper_witness(ts, ts->seen, i, &w) == TAL_OK;
            watch->has_rate1 = has_value && (way < 0 || watch->has_rate1);
            watch->rate1 = way < 0 ? -w : (watch->rate1 + w) / (2.0 * dt);
        }
    }
    ts->error_record = story;
}

// Rates where the State is, into rate1. `all`: also those that only tell a sign.
static tal_status find_rates(tal_time_stepper *ts, tal_state *state, bool all)
{
    bool any = false;
    for (int i = 0; i < ts->num_events; ++i) {
        tali_stepper_watch *watch = &ts->watches[i];
        if (!watch->is_on) continue;
        watch->has_rate1 = watch->rate_stage != TAL_STAGE_EMPTY;
        any = any || (!watch->has_rate1 && (all || wants_difference(watch)));
        if (!watch->has_rate1) continue;
        const tal_status st = read_slot(ts, state, i, true, &watch->rate1);
        if (st != TAL_OK) return st;
    }
    if (any) differ(ts, state, all);
    return TAL_OK;
}

// --- the start of a step ---

static bool is_on(const tal_time_stepper *ts, const tal_state *state, int event)
{
    const tali_stepper_watch *watch = &ts->watches[event];
    return watch->stage != TAL_STAGE_EMPTY && has_slot(ts, state, &watch->def) &&
           tali_stepper_is_active(ts, state, event);
}

// A witness that starts at zero has the sign its rate gives it. So has one whose event has just
// happened, if it is still where localizing has left it. One that jumped across zero, or that
// its handler has moved, has the sign of its value.
static int side_of(const tal_time_stepper *ts, const tali_stepper_watch *watch)
{
    const tali_event_memory *memory = &watch->memory;
    const double left = fabs(memory->w_crossed);
    const bool is_unmoved = memory->just_happened && fabs(memory->value) <= 2.0 * left;
    const bool is_near = is_unmoved && left <= tali_stepper_reach(ts, watch, memory->rate);
    const bool by_rate = memory->has_rate && memory->rate != 0.0;
    return sign_of((memory->value == 0.0 || is_near) && by_rate ? memory->rate : memory->value);
}

tal_status tali_stepper_watch_begin(tal_time_stepper *ts, tal_state *state)
{
    tal_status st = tal_system_realize(ts->system, state, TAL_STAGE_ACCELERATION);
    if (st != TAL_OK) return tali_stepper_explain(ts, state, st);
    bool signs = false; // is there one that its rate must tell?
    for (int i = 0; i < ts->num_events; ++i) {
        tali_stepper_watch *watch = &ts->watches[i];
        watch->is_on = is_on(ts, state, i);
        if (!watch->is_on) continue;
        st = tali_stepper_witness(ts, state, i, &watch->w1);
        if (st != TAL_OK) return st;
        signs = signs || watch->memory.just_happened || watch->w1 == 0.0;
        watch->side1 = sign_of(watch->w1);
    }
    st = find_rates(ts, state, signs);
    if (st == TAL_OK) tali_stepper_watch_continue(ts, false);
    return st;
}

void tali_stepper_watch_resume(tal_time_stepper *ts, const tal_state *state)
{
    for (int i = 0; i < ts->num_events; ++i) {
        ts->watches[i].is_on = is_on(ts, state, i);
    }
}

void tali_stepper_watch_continue(tal_time_stepper *ts, bool is_step)
{
    for (int i = 0; i < ts->num_events; ++i) {
        tali_stepper_watch *watch = &ts->watches[i];
        tali_event_memory *memory = &watch->memory;
        if (!watch->is_on) continue;
        const bool is_plain = !memory->just_happened && watch->side1 != 0;
        const double h = ts->integ->t1 - ts->integ->t0;
        const double slope = fabs(watch->w1 - memory->value) / h;
        if (is_step && h > 0.0) memory->steepest = fmax(memory->steepest, slope);
        memory->value = watch->w1;
        memory->rate = watch->rate1;
        memory->has_rate = watch->has_rate1;
        memory->side = is_plain ? watch->side1 : side_of(ts, watch);
        memory->just_happened = 0;
    }
}

tal_status tali_stepper_watch_ends(tal_time_stepper *ts, tal_state *state)
{
    for (int i = 0; i < ts->num_events; ++i) {
        tali_stepper_watch *watch = &ts->watches[i];
        const tal_status st =
            watch->is_on ? tali_stepper_witness(ts, state, i, &watch->w1) : TAL_OK;
        if (st != TAL_OK) return st;
    }
    const tal_status st = find_rates(ts, state, false);
    for (int i = 0; i < ts->num_events; ++i) {
        tali_stepper_watch *watch = &ts->watches[i];
        if (!watch->is_on || !watch->has_rate1) continue;
        const double rates = fmax(fabs(watch->memory.rate), fabs(watch->rate1));
        watch->steepest = fmax(watch->steepest, rates);
    }
    return st;
}
