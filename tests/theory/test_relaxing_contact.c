// Surfaces that relax, RBDA sec. 11.8 (eq. 11.73, 11.74): entries 11.15 and 11.16 of the inventory.
#include "talus_test.h"

#include <talus/forces.h>
#include <talus/study.h>

#include <math.h>

static const double stiffness = 1e4, damper = 20.0;

// A ball of 1 kg and radius 0.1 that slides along x, at x above a floor whose outside is +x.
typedef struct world {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    tal_integrator *integ;
    tal_body_ix body;
    tal_force_ix contact;
} world;

static world begin(double of_floor, double of_ball, double n, double g)
{
    world w = {.system = tal_system_create(NULL)};
    w.matter = tal_matter_create(w.system);
    w.forces = tal_forces_create(w.system, w.matter);
    tal_forces_add_gravity(w.forces, tal_v3(-g, 0.0, 0.0));
    tal_mobod_def mobod = tal_mobod_def_default();
    mobod.mass.mass = 1.0;
    w.body = tal_matter_add_slider(w.matter, TAL_GROUND, &mobod);
    tal_contact_def def = tal_contact_def_default();
    def.law = TAL_CONTACT_RELAXING;
    def.exponent = n;
    def.relaxation_time = damper / stiffness;
    w.contact = tal_forces_add_contact(w.forces, "contact", &def);
    tal_contact_surface_def surface = tal_contact_surface_def_default();
    surface.X_BS.R = tal_rotation_about(TAL_AXIS_Y, TAL_PI); // its inside is -x
    surface.material.stiffness = of_floor;
    (void)tal_contact_add_surface(w.forces, w.contact, &surface);
    surface = tal_contact_surface_def_default();
    surface.body = w.body;
    surface.shape = tal_shape_sphere(0.1);
    surface.material.stiffness = of_ball;
    (void)tal_contact_add_surface(w.forces, w.contact, &surface);
    tal_forces_track_dissipation(w.forces);
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(w.system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(w.system, &w.state, &err) == TAL_OK, "%s", err.message);
    tal_integrator_def how = tal_integrator_def_default();
    how.accuracy = 1e-10;
    how.absolute_u = how.absolute_z = true;
    ck_assert_msg(tal_integrator_create(w.system, &how, &w.integ, &err) == TAL_OK, "%s",
                  err.message);
    return w;
}

static void end(world *w)
{
    tal_integrator_destroy(w->integ);
    tal_state_destroy(w->state);
    tal_system_destroy(w->system);
}

static void put(world *w, double height, double speed)
{
    ck_assert_int_eq(tal_body_set_q(w->matter, w->state, w->body, 0, 0.1 + height), TAL_OK);
    ck_assert_int_eq(tal_body_set_u(w->matter, w->state, w->body, 0, speed), TAL_OK);
}

static void run_to(world *w, double t)
{
    const tal_status st = tal_integrator_step_to(w->integ, w->state, t);
    ck_assert_msg(st == TAL_OK, "%s", tal_integrator_error(w->integ)->message);
    ck_assert_int_eq(tal_system_realize(w->system, w->state, TAL_STAGE_DYNAMICS), TAL_OK);
}

static double speed_of(const world *w)
{
    return tal_body_u(w->matter, w->state, w->body, 0);
}

// The second z: the first one is the energy that was dissipated.
static double layer_of(const world *w)
{
    ck_assert_int_eq(tal_state_nz(w->state), 2);
    return tal_state_z(w->state)[1];
}

static double force_of(const world *w)
{
    tal_contact_info it = {.normal_force = 0.0};
    if (tal_contact_num(w->forces, w->state, w->contact) > 0) {
        ck_assert_int_eq(tal_contact_calc(w->forces, w->state, w->contact, 0, &it), TAL_OK);
    }
    return it.normal_force;
}

// m xddot = -K x - D xdot from x = 0, xdot = 1 in depths: contact is lost when the force is zero,
// at 0.02956075 s with 0.7440794 of the speed = exp(-z/sqrt(1-z^2) (pi - atan2(2 z sqrt(1-z^2),
// 1-2z^2))) for z = 0.1. The surface then comes back by itself, exp(-K t / D).
START_TEST(a_drop_leaves_when_the_force_is_zero_and_the_surface_relaxes)
{
    // one surface; and two of twice the stiffness and the same K/D, which are as one
    for (int way = 0; way < 2; ++way) {
        world w = way == 0 ? begin((double)INFINITY, stiffness, 1.0, 0.0)
                           : begin(2.0 * stiffness, 2.0 * stiffness, 1.0, 0.0);
        put(&w, 0.0, -1.0);
        run_to(&w, 0.0295600);
        ck_assert_double_gt(force_of(&w), 0.0);
        run_to(&w, 0.0295615);
        ck_assert_double_eq(force_of(&w), 0.0);
        // what is between the two is K D / m (0.75e-6 s)^2 / 2 of a force; z stays behind by 1e-4
        // of itself, and all else is as good as the integrator
        ck_assert_double_eq_tol(speed_of(&w), 0.7440794, 1e-7);
        run_to(&w, 0.032);
        const double z = layer_of(&w);
        ck_assert_double_gt(z, 1e-4);
        run_to(&w, 0.035);
        ck_assert_double_eq_tol(layer_of(&w) / z, exp(-0.003 * stiffness / damper), 1e-7);
        end(&w);
    }
}

END_TEST

// At rest it is mg/K deep.
START_TEST(a_ball_at_rest_is_as_deep_as_its_weight)
{
    world w = begin((double)INFINITY, stiffness, 1.0, 9.81);
    put(&w, 0.0, 0.0);
    run_to(&w, 2.0);
    ck_assert_double_eq_tol(tal_body_q(w.matter, w.state, w.body, 0), 0.1 - 9.81 / stiffness, 1e-9);
    ck_assert_double_eq_tol(force_of(&w), 9.81, 1e-6);
    end(&w);
}

END_TEST

// Bounces of any exponent lose what is dissipated, and a second blow meets a surface that has not
// come back: kinetic, potential and dissipated energy keep their sum.
START_TEST(energy_is_stored_or_dissipated)
{
    const double exponents[] = {1.0, 1.5, 2.0};
    for (int i = 0; i < 3; ++i) {
        world w = begin((double)INFINITY, stiffness, exponents[i], 50.0);
        put(&w, 0.01, -1.0);
        const double before = 0.5 + 50.0 * 0.11;
        for (int k = 1; k <= 20; ++k) {
            run_to(&w, 0.01 * k);
            const double u = speed_of(&w);
            const double height = tal_body_q(w.matter, w.state, w.body, 0);
            const double now = 0.5 * u * u + 50.0 * height +
                               tal_force_potential_energy(w.forces, w.state, w.contact) +
                               tal_forces_dissipated_energy(w.forces, w.state);
            ck_assert_double_eq_tol(now, before, 1e-6);
        }
        end(&w);
    }
}

END_TEST

START_TEST(a_time_that_is_none_is_refused)
{
    const double times[] = {0.0, -1.0, (double)INFINITY, (double)NAN};
    for (int i = 0; i < 4; ++i) {
        tal_system *system = tal_system_create(NULL);
        tal_forces *forces = tal_forces_create(system, tal_matter_create(system));
        tal_contact_def def = tal_contact_def_default();
        def.law = TAL_CONTACT_RELAXING;
        def.relaxation_time = times[i];
        ck_assert_int_lt(tal_forces_add_contact(forces, "touch", &def).i, 0);
        ck_assert_ptr_nonnull(strstr(tal_system_error(system)->message, "relaxation time"));
        tal_system_destroy(system);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("relaxing_contact");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 60.0);
    tcase_add_test(all, a_drop_leaves_when_the_force_is_zero_and_the_surface_relaxes);
    tcase_add_test(all, a_ball_at_rest_is_as_deep_as_its_weight);
    tcase_add_test(all, energy_is_stored_or_dissipated);
    tcase_add_test(all, a_time_that_is_none_is_refused);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
