// Tests for forces/src/muscle/muscle_limit.c: fibers that reach their shortest length are an event.
//
// A body on a slider is moved to and fro, x = 0.30 + 0.06 sin(5 t), and a muscle runs from the
// origin to it. With a tendon of 0.25 m its fibers, of 0.1 m, are pushed together until the tendon
// is slack, twice in 2.6 s.
#include "talus_test.h"

#include <talus/study.h>

#include <math.h>

typedef struct piston {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_force_ix muscle;
    tal_state *state;
    tal_integrator *integ;
    tal_time_stepper *stepper;
} piston;

static const double SHORTEST = 0.05; // [m] h / sin(max_pennation): 0.1 sin 0.25 / sin max

static void begin(piston *it, tal_muscle_model model, double accuracy)
{
    it->system = tal_system_create(NULL);
    it->matter = tal_matter_create(it->system);
    it->forces = tal_forces_create(it->system, it->matter);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    const tal_body_ix body = tal_matter_add_slider(it->matter, TAL_GROUND, &def);
    tal_motion_def motion = tal_motion_def_default();
    motion.body = body;
    motion.mobility = 0;
    (void)tal_matter_add_motion_sinusoid(it->matter, &motion, 0.06, 5.0, 0.0);
    const tal_path_ix path = tal_forces_add_path(it->forces, "path");
    (void)tal_path_add_point(it->forces, path, TAL_GROUND, tal_v3(-0.30, 0.0, 0.0));
    (void)tal_path_add_point(it->forces, path, body, TAL_VEC3_ZERO);
    tal_muscle_def like = tal_muscle_def_default(model);
    like.path = path;
    like.max_force = 500.0;
    like.fiber_length = 0.1;
    like.tendon_length = 0.25;
    like.pennation = 0.25;
    like.max_pennation = asin(0.1 * sin(0.25) / SHORTEST);
    like.activation = TAL_ACTIVATION_NONE;
    it->muscle = tal_forces_add_muscle(it->forces, "calf", &like);
    tal_error err = {TAL_OK, "", ""};
    ck_assert_msg(tal_system_realize_topology(it->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(it->system, &it->state, &err), TAL_OK);
    (void)tal_muscle_set_control(it->forces, it->state, it->muscle, 0.5);
    ck_assert_int_eq(tal_forces_equilibrate_muscles(it->forces, it->state), TAL_OK);
    tal_integrator_def how = tal_integrator_def_default();
    how.accuracy = accuracy;
    how.max_step = 0.02; // what is prescribed has no error, and fibers at their limit have none
    ck_assert_int_eq(tal_integrator_create(it->system, &how, &it->integ, &err), TAL_OK);
    ck_assert_int_eq(tal_time_stepper_create(it->integ, NULL, &it->stepper, &err), TAL_OK);
}

static void end(piston *it)
{
    tal_time_stepper_destroy(it->stepper);
    tal_integrator_destroy(it->integ);
    tal_state_destroy(it->state);
    tal_system_destroy(it->system);
}

static double fiber_of(const piston *it)
{
    return tal_state_z(it->state)[0];
}

// Steps end where the fibers reach their shortest length: within the window, the time scale of
// 0.1 s times the accuracy, in which they move by vmax = 1 m/s at most. They stay there until the
// tendon pulls them out, and are never shorter. Both models have the same limit.
START_TEST(steps_end_where_fibers_are_shortest)
{
    static const tal_muscle_model models[] = {TAL_MUSCLE_THELEN, TAL_MUSCLE_MILLARD};
    const double accuracy = 1e-6, reach = 0.1 * accuracy * 1.0;
    for (int k = 0; k < 2; ++k) {
        piston it;
        begin(&it, models[k], accuracy);
        const tal_event_ix limit =
            tal_system_find_event(it.system, tal_forces_subsystem(it.forces), "calf.shortest");
        uint64_t found = 0;
        double shortest = 1.0;
        for (tal_outcome why = TAL_OUTCOME_STEP; tal_state_t(it.state) < 2.6;) {
            ck_assert_msg(tal_time_stepper_advance(it.stepper, it.state, 2.6, &why) == TAL_OK, "%s",
                          tal_time_stepper_error(it.stepper)->message);
            const uint64_t now = tal_time_stepper_statistics(it.stepper).triggered;
            if (now > found) ck_assert_double_eq_tol(fiber_of(&it), SHORTEST, reach);
            if (now > found) ck_assert_int_eq(tal_time_stepper_direction(it.stepper, limit), -1);
            found = now;
            shortest = fmin(shortest, fiber_of(&it));
        }
        ck_assert_uint_eq(found, 2);
        ck_assert_double_ge(shortest, SHORTEST - reach);
        ck_assert_double_gt(fiber_of(&it), SHORTEST + 1e-3); // it has left again
        end(&it);
    }
}

// Fibers that begin at their limit are not an event, nor is a muscle that is disabled.
START_TEST(fibers_that_are_short_already_do_not_cross)
{
    for (int k = 0; k < 2; ++k) {
        piston it;
        begin(&it, TAL_MUSCLE_MILLARD, 1e-6);
        (void)tal_state_set_t(it.state, 0.8); // sin 4 < 0: the path is short and gets shorter
        const double z = SHORTEST - 1e-9;     // below it they count as shortest
        ck_assert_int_eq(tal_muscle_set_fiber(it.forces, it.state, it.muscle, z), TAL_OK);
        if (k == 1) (void)tal_force_set_enabled(it.forces, it.state, it.muscle, false);
        ck_assert_int_eq(tal_time_stepper_step_to(it.stepper, it.state, 1.0, NULL), TAL_OK);
        ck_assert_uint_eq(tal_time_stepper_statistics(it.stepper).triggered, 0);
        ck_assert_double_eq(fiber_of(&it), z);
        end(&it);
    }
}

int main(void)
{
    Suite *suite = suite_create("theory/muscle_limit");
    TCase *tcase = tcase_create("limit");
    tcase_add_test(tcase, steps_end_where_fibers_are_shortest);
    tcase_add_test(tcase, fibers_that_are_short_already_do_not_cross);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
