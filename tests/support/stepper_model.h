// A System with matter, gravity and events, and everything that steps it through time.
#ifndef TALUS_STEPPER_MODEL_H
#define TALUS_STEPPER_MODEL_H

#include "talus_test.h"

#include <talus/study.h>

typedef struct stepper_model {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_events *events;
    tal_state *state;
    tal_integrator *integ;
    tal_time_stepper *stepper;
} stepper_model;

/// In a System that may hold other subsystems already.
static inline stepper_model begin_stepper_model_in(tal_system *system, double g)
{
    stepper_model m = {.system = system};
    m.matter = tal_matter_create(m.system);
    m.forces = tal_forces_create(m.system, m.matter);
    (void)tal_forces_add_gravity(m.forces, tal_v3(0.0, -g, 0.0));
    m.events = tal_events_create(m.system);
    return m;
}

static inline stepper_model begin_stepper_model(double g)
{
    return begin_stepper_model_in(tal_system_create(NULL), g);
}

/// `def` and `run` may be NULL.
static inline void finish_stepper_model(stepper_model *m, const tal_integrator_def *def,
                                        const tal_time_stepper_def *run)
{
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(m->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(m->system, &m->state, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_integrator_create(m->system, def, &m->integ, &err) == TAL_OK, "%s",
                  err.message);
    ck_assert_msg(tal_time_stepper_create(m->integ, run, &m->stepper, &err) == TAL_OK, "%s",
                  err.message);
}

static inline void end_stepper_model(stepper_model *m)
{
    tal_time_stepper_destroy(m->stepper);
    tal_integrator_destroy(m->integ);
    tal_state_destroy(m->state);
    tal_system_destroy(m->system);
}

/// Run to a time; fails the test with the stepper's sentence.
static inline tal_outcome run_stepper(stepper_model *m, double t)
{
    tal_outcome outcome = TAL_OUTCOME_FAILED;
    const tal_status st = tal_time_stepper_step_to(m->stepper, m->state, t, &outcome);
    ck_assert_msg(st == TAL_OK, "%s", tal_time_stepper_error(m->stepper)->message);
    return outcome;
}

static inline tal_integrator_def dormand_prince(double accuracy)
{
    tal_integrator_def def = tal_integrator_def_default();
    def.tableau = tal_rk_dormand_prince();
    def.accuracy = accuracy;
    return def;
}

enum {
    NUM_ONE_STEP_METHODS = 7
};

/// Every one-step method, by number.
static inline tal_integrator_def one_step_method(int i, double accuracy)
{
    const tal_rk_tableau *const tableaux[] = {tal_rk_euler(), tal_rk_trapezoid(),
                                              tal_rk_bogacki_shampine(), tal_rk_merson(),
                                              tal_rk_dormand_prince()};
    tal_integrator_def def = tal_integrator_def_default();
    def.accuracy = accuracy;
    if (i < 5) def.tableau = tableaux[i];
    if (i == 5) def.method = TAL_METHOD_SEMI_EXPLICIT_EULER;
    if (i == 6) def.method = TAL_METHOD_VERLET;
    return def;
}

/// A point of 1 kg that moves freely: x, y, z are its q.
static inline tal_body_ix add_point(stepper_model *m)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    return tal_matter_add_translation(m->matter, TAL_GROUND, &def);
}

/// A pendulum of 1 m and 1 kg that hangs from a pin about z; angle 0 is down.
static inline tal_body_ix add_pendulum(stepper_model *m)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    def.X_BM = tal_xf_from_p(tal_v3(0.0, 1.0, 0.0));
    return tal_matter_add_pin(m->matter, TAL_GROUND, &def);
}

/// The same pendulum as a point that a rod holds 1 m from the origin: x, y, z are its q.
static inline tal_body_ix add_rod_pendulum(stepper_model *m)
{
    const tal_body_ix body = add_point(m);
    tal_constraint_def rod = tal_constraint_def_default();
    rod.bodies[0] = TAL_GROUND;
    rod.bodies[1] = body;
    (void)tal_constraint_add_rod(m->matter, &rod, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
    return body;
}

/// A body that turns freely about its center, with quaternions.
static inline tal_body_ix add_top(stepper_model *m)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    def.mass.inertia.xx = 1.0;
    def.mass.inertia.yy = 2.0;
    def.mass.inertia.zz = 3.0;
    return tal_matter_add_ball(m->matter, TAL_GROUND, &def);
}

/// An event on the first coordinate of matter: it crosses zero.
static inline tal_status first_q(void *context, const tal_system *system, tal_state *state,
                                 double *value)
{
    (void)context;
    (void)system;
    *value = tal_state_q(state)[0];
    return TAL_OK;
}

/// Its rate, where qdot is u.
static inline tal_status first_u(void *context, const tal_system *system, tal_state *state,
                                 double *value)
{
    (void)context;
    (void)system;
    *value = tal_state_u(state)[0];
    return TAL_OK;
}

#endif // TALUS_STEPPER_MODEL_H
