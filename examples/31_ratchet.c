// A ratchet: a crank turns a wheel one way, a step with each of its turns.
//
//       crank            yoke and rack                 wheel
//        .-.                 |
//       ( o-)------ pin ---->|==============>  pawl  ( o )  brake
//        '-'                 |   to and fro            one way
//
// The crank turns at a constant rate w, and a yoke makes of it a rack's motion to and fro,
// x = -r cos(w t). A pawl on the rack pushes the wheel forward and lets it run ahead: the wheel never
// turns slower than the rack would have it, a unilateral element on speeds. A brake, dry friction,
// stops the wheel while the rack goes back.
//
// With A = r / R the rack pushes until it slows down more than the brake does, A w^2 cos(w t) =
// -M / I at t1; then the wheel runs on by itself from w1 = A w sin(w t1). Each turn of the crank
// advances it by
//
//     A (1 - cos(w t1)) + I w1^2 / (2 M)
//
// Run it:  build/dev/examples/31_ratchet        Expected output: 31_ratchet.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double CRANK = 0.1, WHEEL = 0.2, RATE = 6.0; // m, m, rad/s
static const double INERTIA = 0.5, BRAKE = 3.0;           // kg m^2, N m

static void check(tal_status st, const char *message)
{
    if (st == TAL_OK) return;
    (void)fprintf(stderr, "%s\n", message);
    exit(EXIT_FAILURE);
}

// Crank, rack and wheel, each with one coordinate.
static void add_bodies(tal_matter *matter, tal_body_ix *rack, tal_body_ix *wheel)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    def.mass.inertia = tal_s3_diag(0.1, 0.1, 0.1);
    const tal_body_ix crank = tal_matter_add_pin(matter, TAL_GROUND, &def);
    *rack = tal_matter_add_slider(matter, TAL_GROUND, &def);
    def.mass.inertia = tal_s3_diag(0.25, 0.25, INERTIA);
    *wheel = tal_matter_add_pin(matter, TAL_GROUND, &def);

    tal_motion_def motion = tal_motion_def_default();
    motion.body = crank;
    (void)tal_matter_add_motion_steady(matter, &motion, &RATE, 1);
    const tal_constraint_def yoke = tal_constraint_between(*rack, crank);
    const tal_vec3 along = tal_v3(1.0, 0.0, 0.0), pin = tal_v3(-CRANK, 0.0, 0.0);
    (void)tal_constraint_add_point_in_plane(matter, &yoke, along, 0.0, pin);
}

// wheel - rack / R >= 0, as speeds: any constraint with one equation can be unilateral.
static tal_unilateral_ix add_pawl(tal_matter *matter, tal_mobility wheel, tal_mobility rack)
{
    const double weights[2] = {1.0, -1.0 / WHEEL};
    tal_function *difference = NULL;
    tal_error err = {0};
    check(tal_function_create_linear(NULL, weights, 2, 0.0, &difference, &err), err.message);
    tal_constraint_def speeds = tal_constraint_def_default();
    speeds.num_mobilities = 2;
    speeds.mobilities[0] = wheel;
    speeds.mobilities[1] = rack;
    tal_unilateral_def pawl = tal_unilateral_def_default();
    pawl.name = "pawl";
    pawl.normal = tal_constraint_add_speed_coupler(matter, &speeds, 2, difference);
    return tal_matter_add_unilateral(matter, &pawl);
}

static void say(void *context, const tal_system *system, const tal_contact_event *event)
{
    const tal_matter *matter = context;
    (void)system;
    if (event->t == 0.0) return; // as it begins
    (void)printf("%8.4f   %s %s\n", event->t, tal_unilateral_name(matter, event->element),
                 tal_contact_kind_name(event->kind));
}

int main(void)
{
    tal_error err = {0};
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_body_ix rack, wheel;
    add_bodies(matter, &rack, &wheel);
    (void)add_pawl(matter, (tal_mobility){wheel, 0}, (tal_mobility){rack, 0});
    tal_unilateral_def brake = tal_unilateral_def_default();
    brake.name = "brake";
    brake.material.limit = BRAKE;
    (void)tal_unilateral_add_dry_friction(matter, &brake, (tal_mobility){wheel, 0}, 0.0);
    tal_contacts_def handling = tal_contacts_def_default();
    handling.separation = 0.1; // the wheel may stand still, and nothing else keeps steps short
    handling.listen = say;
    handling.context = matter;
    (void)tal_contacts_create(system, &handling);
    check(tal_system_realize_topology(system, &err), err.message);

    tal_state *state = NULL;
    tal_integrator *integ = NULL;
    tal_time_stepper *stepper = NULL;
    tal_integrator_def method = tal_integrator_def_default();
    method.accuracy = 1e-9;
    check(tal_state_create(system, &state, &err), err.message);
    check(tal_integrator_create(system, &method, &integ, &err), err.message);
    check(tal_time_stepper_create(integ, NULL, &stepper, &err), err.message);
    check(tal_body_set_q(matter, state, rack, 0, -CRANK), "the rack cannot be moved");

    (void)printf("time [s]   what happens\n");
    const double turn = 2.0 * TAL_PI / RATE;
    check(tal_time_stepper_step_to(stepper, state, 2.95 * turn, NULL),
          tal_time_stepper_error(stepper)->message);

    const double A = CRANK / WHEEL, alpha = BRAKE / INERTIA, c = -alpha / (A * RATE * RATE);
    const double w1 = A * RATE * sqrt(1.0 - c * c);
    (void)printf("after three turns of the crank: %.6f rad; in closed form %.6f rad\n",
                 tal_body_q(matter, state, wheel, 0),
                 3.0 * (A * (1.0 - c) + 0.5 * w1 * w1 / alpha));

    tal_time_stepper_destroy(stepper);
    tal_integrator_destroy(integ);
    tal_state_destroy(state);
    tal_system_destroy(system);
    return EXIT_SUCCESS;
}
