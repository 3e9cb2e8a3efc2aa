// Programs that build measures, stops and markers as the files of model_cases.h do.
#ifndef TALUS_MODEL_CASES_WATCH_H
#define TALUS_MODEL_CASES_WATCH_H

#include "model_base.h"

// ---- measures: each drives an actuator on b

static inline void drive_b(built *m, tal_measure_ix control)
{
    const tal_mobility at = {m->b, 0};
    tal_forces_add_mobility_actuator(m->forces, "motor", at, 3.0, control);
}

static inline tal_measure_ix add_wave(built *m, const char *name)
{
    return tal_measure_add_sinusoid(m->system, tal_matter_subsystem(m->matter), name, 0.5, 2.0,
                                    0.3);
}

#define WAVE  "<sinusoid name='w' amplitude='0.5' frequency='2' phase='0.3'/>"
#define CLOCK "<time name='t'/>"
#define OWNER m->system, tal_matter_subsystem(m->matter)

static inline tal_measure_ix add_clock(built *m)
{
    return tal_measure_add_time(OWNER, "t");
}

static inline void case_measure_constant(built *m)
{
    const double value = 0.7;
    drive_b(m, tal_measure_add_constant(OWNER, "x", &value, 1));
}

static inline void case_measure_time(built *m)
{
    drive_b(m, tal_measure_add_time(OWNER, "x"));
}

static inline void case_measure_variable(built *m)
{
    const double value = 0.7;
    drive_b(m, tal_measure_add_variable(OWNER, "x", &value, 1, TAL_STAGE_VELOCITY));
}

static inline void case_measure_sinusoid(built *m)
{
    drive_b(m, add_wave(m, "x"));
}

static inline void case_measure_sum(built *m)
{
    const tal_measure_ix w = add_wave(m, "w"), t = add_clock(m);
    drive_b(m, tal_measure_add_sum(OWNER, "x", w, t));
}

static inline void case_measure_difference(built *m)
{
    const tal_measure_ix w = add_wave(m, "w"), t = add_clock(m);
    drive_b(m, tal_measure_add_difference(OWNER, "x", w, t));
}

static inline void case_measure_product(built *m)
{
    const tal_measure_ix wave = add_wave(m, "w"), clock = add_clock(m);
    drive_b(m,
            tal_measure_add_product(m->system, tal_matter_subsystem(m->matter), "x", wave, clock));
}

// The function outlives all Systems.
static inline void case_measure_function(built *m)
{
    static tal_function *power = NULL;
    if (power == NULL) {
        ck_assert_int_eq(tal_function_create_power(NULL, 2.0, 3.0, &power, NULL), TAL_OK);
    }
    const tal_measure_ix wave = add_wave(m, "w"), none = {-1};
    drive_b(m, tal_measure_add_function(m->system, tal_matter_subsystem(m->matter), "x", power,
                                        wave, none));
}

static inline void case_measure_scale(built *m)
{
    drive_b(m, tal_measure_add_scale(OWNER, "x", 1.7, add_wave(m, "w")));
}

static inline void case_measure_integrate(built *m)
{
    const double initial = 0.4;
    drive_b(m, tal_measure_add_integrate(OWNER, "x", add_wave(m, "w"), &initial));
}

static inline void case_measure_differentiate(built *m)
{
    drive_b(m, tal_measure_add_differentiate(OWNER, "x", add_wave(m, "w")));
}

static inline void case_measure_extreme(built *m)
{
    drive_b(m, tal_measure_add_extreme(OWNER, "x", TAL_EXTREME_MINIMUM_ABS, add_wave(m, "w")));
}

static inline void case_measure_delay(built *m)
{
    tal_delay_def def = tal_delay_def_default();
    def.name = "x";
    def.operand = add_wave(m, "w");
    def.delay = 0.1;
    def.capacity = 17;
    drive_b(m, tal_measure_add_delay(OWNER, &def));
}

static inline void case_measure_hold(built *m)
{
    const double initial = 0.6;
    tal_hold_def def = tal_hold_def_default();
    def.name = "x";
    def.operand = add_wave(m, "w");
    def.period = 0.25;
    def.t0 = 0.5;
    def.initial = &initial;
    drive_b(m, tal_measure_add_hold(OWNER, &def));
}

static inline void case_measure_coordinate(built *m)
{
    drive_b(m, tal_measure_add_coordinate(m->matter, "x", (tal_mobility){m->a, 6}));
}

static inline void case_measure_speed(built *m)
{
    drive_b(m, tal_measure_add_speed(m->matter, "x", (tal_mobility){m->c, 1}));
}

static inline void case_measure_station(built *m)
{
    drive_b(m, tal_measure_add_station(m->matter, "x", m->c, tal_v3(0.1, 0.2, 0.3), m->d,
                                       tal_v3(1.0, 2.0, 2.0)));
}

static inline void case_measure_distance(built *m)
{
    drive_b(m, tal_measure_add_distance(m->matter, "x", m->b, tal_v3(0.1, 0.2, 0.3), m->e,
                                        tal_v3(0.4, 0.5, 0.6)));
}

static inline void case_measure_kinetic_energy(built *m)
{
    drive_b(m, tal_measure_add_kinetic_energy(m->matter, "x"));
}

static inline void case_measure_unilateral(built *m)
{
    tal_unilateral_def def = tal_unilateral_def_default();
    def.name = "r";
    const tal_unilateral_ix rope = tal_unilateral_add_rope(
        m->matter, &def, m->b, tal_v3(0.1, 0.2, 0.3), m->e, tal_v3(0.4, 0.5, 0.6), 0.7);
    drive_b(m, tal_measure_add_unilateral(m->matter, "x", rope, TAL_UNILATERAL_SPEED));
    handle_as_usual(m);
}

static inline void case_measure_multiplier(built *m)
{
    case_ball_constraint(m);
    drive_b(m, tal_measure_add_time(OWNER, "x"));
    (void)tal_measure_add_multiplier(m->matter, "y", (tal_constraint_ix){0}, 2);
}

static inline void case_measure_loop_coordinate(built *m)
{
    case_loop_cylinder_constraint(m);
    drive_b(m, tal_measure_add_time(OWNER, "x"));
    (void)tal_measure_add_loop_coordinate(m->matter, "y", (tal_constraint_ix){0}, 1);
}

// ---- stops: on the speed of b, and on the time

static inline void add_stop(built *m, const char *name, tal_measure_ix measure,
                            tal_crossing crossing)
{
    tal_run_stop stop = tal_run_stop_default();
    stop.name = name;
    stop.measure = measure;
    stop.crossing = crossing;
    stop.value = 0.25;
    stop.window = 1e-6;
    stop.separation = 0.125;
    stop.message = "It's <enough>.";
    stop.begins_inactive = crossing == TAL_CROSSING_RISING;
    if (measure.i < 0) {
        stop.message = NULL;
        stop.window = stop.separation = 0.0;
    }
    (void)tal_events_add_stop(m->events, &stop);
}

static inline void case_stop(built *m)
{
    const tal_measure_ix speed = tal_measure_add_speed(m->matter, "speed", (tal_mobility){m->b, 0});
    m->events = tal_events_create(m->system);
    add_stop(m, "down", speed, TAL_CROSSING_FALLING);
    add_stop(m, "up", speed, TAL_CROSSING_RISING);
    add_stop(m, "across", speed, TAL_CROSSING_EITHER);
    add_stop(m, "late", (tal_measure_ix){-1}, TAL_CROSSING_EITHER);
}

static inline void case_set(built *m)
{
    const double value = 0.75;
    const tal_measure_ix gate = tal_measure_add_variable(m->system, tal_matter_subsystem(m->matter),
                                                         "gate", &value, 1, TAL_STAGE_DYNAMICS);
    const tal_measure_ix speed = tal_measure_add_speed(m->matter, "speed", (tal_mobility){m->b, 0});
    m->events = tal_events_create(m->system);
    tal_run_set set = tal_run_set_default();
    set.when.name = "one";
    set.when.value = 0.5;
    set.period = 0.25;
    set.measure = gate;
    set.values = &value;
    set.num_values = 1;
    (void)tal_events_add_set(m->events, &set);
    set.when.name = "two";
    set.when.measure = speed;
    set.when.crossing = TAL_CROSSING_FALLING;
    set.period = 0.0;
    set.from = speed;
    (void)tal_events_add_set(m->events, &set);
}

static inline void case_impulse(built *m)
{
    m->events = tal_events_create(m->system);
    tal_run_impulse it = tal_run_impulse_default();
    it.when.name = "x";
    it.when.value = 0.5;
    it.matter = m->matter;
    it.body = m->c;
    it.in = m->d;
    it.p_BS = tal_v3(0.1, 0.2, 0.3);
    it.impulse = tal_v3(1.0, 2.0, 3.0);
    (void)tal_events_add_impulse(m->events, &it);
}

static inline void case_mobility_impulse(built *m)
{
    m->events = tal_events_create(m->system);
    tal_run_impulse it = tal_run_impulse_default();
    it.when.name = "x";
    it.when.value = 0.5;
    it.period = 0.125;
    it.matter = m->matter;
    it.mobility = (tal_mobility){m->c, 1};
    it.along = 0.7;
    (void)tal_events_add_impulse(m->events, &it);
}

#define SETS                                                                                       \
    "</stops><measures><variable name='gate' values='0.75'/><speed name='speed' mobility='b'/>"    \
    "</measures><stops><set name='one' time='0.5' period='0.25' measure='gate' to='0.75'/>"        \
    "<set name='two' when='speed' falls_below='0.5' measure='gate' from='speed'/>"
#define STOPS                                                                                      \
    "</stops><measures><speed name='speed' mobility='b'/></measures><stops>"                       \
    "<stop name='down' when='speed' falls_below='0.25' " STOP_MORE "/>"                            \
    "<stop name='up' when='speed' rises_above='0.25' enabled='no' " STOP_MORE "/>"                 \
    "<stop name='across' when='speed' crosses='0.25' " STOP_MORE "/>"                              \
    "<stop name='late' time='0.25'/>"
#define STOP_MORE "message='It&apos;s &lt;enough&gt;.' window='1e-6' separation='0.125'"

// ---- markers

static const tal_marker case_markers[] = {{"tip", {3}, {0.1, 0.2, 0.3}, 2.5},
                                          {"a <b>", {0}, {0.0, 0.0, 0.0}, 1.0},
                                          {"of no weight", {0}, {0.0, 0.0, 0.0}, 0.0}};

static inline void case_marker(built *m)
{
    m->markers = case_markers;
    m->num_markers = 3;
}

#define MARKERS                                                                                    \
    "<marker name='tip' body='c' station='0.1 0.2 0.3' weight='2.5'/><marker name='a &lt;b>'/>"    \
    "<marker name='of no weight' weight='0'/>"

#endif // TALUS_MODEL_CASES_WATCH_H
