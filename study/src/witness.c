// Witness functions: their values and rates at the ends of a step, and the sign each has at the start.
#include "stepper_internal.h"

#include <float.h>
#include <math.h>

static int sign_of(double x)
{
    return (x > 0.0) - (x < 0.0);
}

// Never below what the time itself can resolve.
double tali_window(const tal_time_stepper *ts, const tali_watch *watch)
{
    const double usual = tal_system_time_scale(ts->system) * ts->integ->def.accuracy;
    const double wanted = watch->def.window > 0.0 ? watch->def.window : usual;
    return fmax(wanted, 4.0 * DBL_EPSILON * fabs(ts->integ->t1));
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
    const tali_watch *watch = &ts->watches[event];
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
    tali_name_event(ts, event, name, sizeof name);
    return TALI_FAIL(&ts->error_record, TAL_ERR_NOT_FINITE, "the %s of %s is %g at t = %.17g",
                     is_rate ? "rate of the witness" : "witness", name, *value, tal_state_t(state));
}

tal_status tali_witness(tal_time_stepper *ts, tal_state *state, int event, double *value)
{
    return read_slot(ts, state, event, false, value);
}

tal_status tali_sample(tal_time_stepper *ts, const tal_state *state, int event, double t,
                       double *value)
{
    ++ts->stats.samples;
    const tal_status st = tal_integrator_interpolate(ts->integ, state, t, ts->seen);
    return st == TAL_OK ? tali_witness(ts, ts->seen, event, value) : tali_stepper_pass_on(ts, st);
}

// --- the start of a step ---

static bool is_on(const tal_time_stepper *ts, const tal_state *state, int event)
{
    const tali_watch *watch = &ts->watches[event];
    return watch->stage != TAL_STAGE_EMPTY && has_slot(ts, state, &watch->def) &&
           tal_event_is_active(ts->system, state, (tal_event_ix){event});
}

tal_status tali_watch_begin(tal_time_stepper *ts, tal_state *state)
{
    tal_status st = tal_system_realize(ts->system, state, TAL_STAGE_INSTANCE);
    if (st != TAL_OK) return tali_stepper_explain(ts, state, st);
    for (int i = 0; i < ts->num_events; ++i) {
        tali_watch *watch = &ts->watches[i];
        tali_event_memory *memory = &watch->memory;
        watch->is_on = is_on(ts, state, i);
        if (!watch->is_on) continue;
        memory->has_rate = watch->rate_stage != TAL_STAGE_EMPTY;
        st = tali_witness(ts, state, i, &memory->value);
        if (st == TAL_OK && memory->has_rate) st = read_slot(ts, state, i, true, &memory->rate);
        if (st != TAL_OK) return st;
        memory->side = memory->just_happened ? 0 : sign_of(memory->value);
    }
    return TAL_OK;
}

void tali_watch_resume(tal_time_stepper *ts, const tal_state *state)
{
    for (int i = 0; i < ts->num_events; ++i) {
        ts->watches[i].is_on = is_on(ts, state, i);
    }
}

void tali_watch_go_on(tal_time_stepper *ts)
{
    for (int i = 0; i < ts->num_events; ++i) {
        tali_watch *watch = &ts->watches[i];
        tali_event_memory *memory = &watch->memory;
        if (!watch->is_on) continue;
        memory->value = watch->w1;
        memory->rate = watch->rate1;
        memory->has_rate = watch->has_rate1;
        memory->side = memory->just_happened ? 0 : watch->side1;
    }
}

// A witness that starts at zero has the sign its rate gives it. So has one whose event has just
// happened, as long as zero is no further than what localizing may have left: the velocity before
// the event was at most some hundred times that after it, or the event itself moved the witness.
static void decide_side(tal_time_stepper *ts, tali_watch *watch)
{
    tali_event_memory *memory = &watch->memory;
    if (memory->side == 0) {
        const double reach = 100.0 * fabs(memory->rate) * tali_window(ts, watch);
        const bool is_near = memory->just_happened && fabs(memory->value) <= reach;
        const bool by_rate = memory->value == 0.0 || is_near;
        memory->side = sign_of(by_rate && memory->rate != 0.0 ? memory->rate : memory->value);
    }
    memory->just_happened = 0;
}

// --- the ends of a step ---

// The State a little inside an end of the step, for differences.
static tal_status look_inside(tal_time_stepper *ts, const tal_state *state, double t)
{
    ++ts->stats.samples;
    const tal_status st = tal_integrator_interpolate(ts->integ, state, t, ts->seen);
    return st == TAL_OK ? TAL_OK : tali_stepper_pass_on(ts, st);
}

// A crossing cannot hide within a step that is shorter than the separation of crossings: then a rate
// is only wanted to tell the sign at the start.
static bool wants_rate_at_start(const tali_watch *watch)
{
    const tali_event_memory *memory = &watch->memory;
    return watch->is_on && !memory->has_rate && (watch->def.separation == 0.0 || memory->side == 0);
}

static bool wants_rate_at_end(const tali_watch *watch)
{
    return watch->is_on && !watch->has_rate1 && watch->def.separation == 0.0;
}

// Rates by one-sided differences over a ten-thousandth of the step.
static tal_status differ(tal_time_stepper *ts, const tal_state *state, bool at_end)
{
    const double t0 = ts->integ->t0, t1 = ts->integ->t1;
    const double inside = 1e-4 * (t1 - t0), t = at_end ? t1 - inside : t0 + inside;
    const double dt = at_end ? t1 - t : t - t0;
    bool has_looked = false;
    for (int i = 0; i < ts->num_events; ++i) {
        tali_watch *watch = &ts->watches[i];
        tali_event_memory *memory = &watch->memory;
        if (!(at_end ? wants_rate_at_end(watch) : wants_rate_at_start(watch))) continue;
        tal_status st = TAL_OK;
        double w = 0.0;
        if (dt > 0.0 && !has_looked) st = look_inside(ts, state, t);
        has_looked = true;
        if (st == TAL_OK && dt > 0.0) st = tali_witness(ts, ts->seen, i, &w);
        if (st != TAL_OK) return st;
        // a step too short to look inside is a difference by itself
        const double slope = (watch->w1 - memory->value) / (t1 - t0);
        if (at_end) {
            watch->rate1 = dt > 0.0 ? (watch->w1 - w) / dt : slope;
            watch->has_rate1 = true;
        } else {
            memory->rate = dt > 0.0 ? (w - memory->value) / dt : slope;
            memory->has_rate = 1;
        }
    }
    return TAL_OK;
}

tal_status tali_watch_ends(tal_time_stepper *ts, tal_state *state)
{
    for (int i = 0; i < ts->num_events; ++i) {
        tali_watch *watch = &ts->watches[i];
        if (!watch->is_on) continue;
        watch->has_rate1 = watch->rate_stage != TAL_STAGE_EMPTY;
        tal_status st = tali_witness(ts, state, i, &watch->w1);
        if (st == TAL_OK && watch->has_rate1) st = read_slot(ts, state, i, true, &watch->rate1);
        if (st != TAL_OK) return st;
    }
    tal_status st = differ(ts, state, false);
    if (st == TAL_OK) st = differ(ts, state, true);
    if (st != TAL_OK) return st;
    for (int i = 0; i < ts->num_events; ++i) {
        if (ts->watches[i].is_on) decide_side(ts, &ts->watches[i]);
    }
    return TAL_OK;
}
