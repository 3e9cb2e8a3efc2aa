// NULL, NaN or another element where something must be given to an element of forces/: what cannot
// be added is remembered, and the topology fails with the same sentence.
#include "talus_test.h"

#include <talus/forces.h>

typedef struct model {
    tal_system *system;
    tal_forces *forces;
    tal_force_ix gravity;
} model;

static model begin_model(void)
{
    model m = {.system = tal_system_create(NULL)};
    tal_matter *matter = tal_matter_create(m.system);
    const tal_mobod_def def = tal_mobod_def_default();
    (void)tal_matter_add_pin(matter, TAL_GROUND, &def);
    m.forces = tal_forces_create(m.system, matter);
    m.gravity = tal_forces_add_gravity(m.forces, tal_v3(0.0, -9.81, 0.0));
    return m;
}

static const tal_mobility first_speed = {{1}, 0};
static const tal_measure_ix no_measure = {-1};

static void add_spring(tal_forces *forces)
{
    (void)tal_forces_add_two_point_spring(forces, "x", NULL, 1.0, 1.0);
}

static void add_damper(tal_forces *forces)
{
    (void)tal_forces_add_two_point_damper(forces, "x", NULL, 1.0);
}

static void add_friction(tal_forces *forces)
{
    (void)tal_forces_add_mobility_friction(forces, "x", first_speed, NULL);
}

static void add_nonlinear(tal_forces *forces)
{
    (void)tal_forces_add_mobility_nonlinear_spring(forces, "x", first_speed, NULL);
}

static void add_stop(tal_forces *forces)
{
    (void)tal_forces_add_mobility_stop(forces, "x", first_speed, NULL);
}

static void add_limit(tal_forces *forces)
{
    (void)tal_forces_add_mobility_limit(forces, "x", first_speed, NULL);
}

static void add_bushing(tal_forces *forces)
{
    (void)tal_forces_add_bushing(forces, "x", NULL);
}

static void add_push(tal_forces *forces)
{
    (void)tal_forces_add_point_actuator(forces, "x", NULL, 1.0, no_measure);
}

static void add_pull(tal_forces *forces)
{
    (void)tal_forces_add_two_point_actuator(forces, "x", NULL, 1.0, no_measure);
}

static void add_twist(tal_forces *forces)
{
    (void)tal_forces_add_torque_actuator(forces, "x", NULL, 1.0, no_measure);
}

static void add_thrust(tal_forces *forces)
{
    (void)tal_forces_add_body_actuator(forces, "x", NULL, 1.0, no_measure);
}

static void add_thermostat(tal_forces *forces)
{
    (void)tal_forces_add_thermostat(forces, "x", NULL);
}

static void add_langevin(tal_forces *forces)
{
    (void)tal_forces_add_langevin(forces, "x", NULL);
}

static void add_smooth_contact(tal_forces *forces)
{
    (void)tal_forces_add_smooth_contact(forces, "x", NULL);
}

static void add_exponential_spring(tal_forces *forces)
{
    (void)tal_forces_add_exponential_spring(forces, "x", NULL);
}

static void add_surface(tal_forces *forces)
{
    (void)tal_contact_add_surface(forces, tal_forces_add_contact(forces, "x", NULL), NULL);
}

static void add_muscle(tal_forces *forces)
{
    (void)tal_forces_add_muscle(forces, "x", NULL);
}

static void add_prescribed_force(tal_forces *forces)
{
    (void)tal_forces_add_prescribed_force(forces, "x", NULL);
}

static void add_load(tal_forces *forces)
{
    (void)tal_forces_add_external_load(forces, "x", NULL);
}

static void add_load_without_times(tal_forces *forces)
{
    const double force[3] = {0.0};
    const tal_external_load_def def = {.force = force};
    (void)tal_forces_add_external_load(forces, "x", &def);
}

static void add_load_without_force(tal_forces *forces)
{
    const double times[] = {0.0};
    const tal_external_load_def def = {.times = times};
    (void)tal_forces_add_external_load(forces, "x", &def);
}

typedef struct forgotten {
    void (*add)(tal_forces *forces);
    const char *sentence;
} forgotten;

static const forgotten forgotten_things[] = {
    {add_spring, "two-point spring 'x': the pair of points is NULL"},
    {add_damper, "two-point damper 'x': the pair of points is NULL"},
    {add_friction, "mobility friction 'x': the friction is NULL"},
    {add_nonlinear, "mobility nonlinear spring 'x': the energy is NULL"},
    {add_stop, "mobility stop 'x': the stop is NULL"},
    {add_limit, "mobility limit 'x': the limit is NULL"},
    {add_bushing, "bushing 'x': the def is NULL"},
    {add_push, "point actuator 'x': the push is NULL"},
    {add_pull, "two-point actuator 'x': the pair of points is NULL"},
    {add_twist, "torque actuator 'x': the twist is NULL"},
    {add_thrust, "body actuator 'x': the thrust is NULL"},
    {add_thermostat, "thermostat 'x': the def is NULL"},
    {add_langevin, "langevin 'x': the def is NULL"},
    {add_smooth_contact, "smooth contact 'x': the def is NULL"},
    {add_exponential_spring, "exponential spring 'x': the def is NULL"},
    {add_surface, "contact 'x': the def of a surface is NULL"},
    {add_muscle, "Thelen muscle 'x': the def is NULL"},
    {add_prescribed_force, "prescribed force 'x': the def is NULL"},
    {add_load, "prescribed force 'x': the def is NULL"},
    {add_load_without_times, "prescribed force 'x': the times is NULL"},
    {add_load_without_force, "prescribed force 'x': the force is NULL"},
};

START_TEST(a_model_that_lacks_what_was_forgotten_is_refused)
{
    const forgotten *it = &forgotten_things[_i];
    model m = begin_model();
    tal_error err = {0};
    test_assert_breach(it->add(m.forces), TAL_ERR_NULL, it->sentence);
    ck_assert_int_eq(tal_system_realize_topology(m.system, &err), TAL_ERR_NULL);
    ck_assert_str_eq(err.message, it->sentence);
    tal_system_destroy(m.system);
}

END_TEST

START_TEST(a_surface_on_what_is_no_contact_is_remembered)
{
    model m = begin_model();
    const tal_contact_surface_def floor = tal_contact_surface_def_default();
    tal_error err = {0};
    test_assert_breach((void)tal_contact_add_surface(m.forces, m.gravity, &floor),
                       TAL_ERR_BAD_INDEX, "gravity");
    ck_assert_int_eq(tal_system_realize_topology(m.system, &err), TAL_ERR_BAD_INDEX);
    ck_assert_str_eq(err.message, "force 'gravity' is of kind 'gravity', not contact");
    tal_system_destroy(m.system);
}

END_TEST

START_TEST(gravity_that_is_not_finite_is_refused)
{
    model m = begin_model();
    ck_assert_int_lt(tal_forces_add_gravity(m.forces, tal_v3((double)NAN, 0.0, 0.0)).i, 0);
    tal_error err = {0};
    ck_assert_int_eq(tal_system_realize_topology(m.system, &err), TAL_ERR_NOT_FINITE);
    tal_system_destroy(m.system);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/forgotten");
    TCase *tests = tcase_create("forgotten");
    tcase_add_loop_test(tests, a_model_that_lacks_what_was_forgotten_is_refused, 0,
                        (int)(sizeof forgotten_things / sizeof forgotten_things[0]));
    tcase_add_test(tests, a_surface_on_what_is_no_contact_is_remembered);
    tcase_add_test(tests, gravity_that_is_not_finite_is_refused);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
