// Newton's cradle: three steel balls hang side by side, and the first one is let go.
//
// What happens is not decided by momentum and energy alone. If all balls that touch react at once,
// the first one comes back and the others leave together, with 1/3 and 2/3 of its speed. If impacts
// follow each other, as sound does through steel, only the last one leaves. The handler of contacts
// has both (tal_contacts_def.sequential); energy and momentum are kept by both.
//
// Run it:  build/dev/examples/28_newtons_cradle        Expected output: 28_newtons_cradle.out
#include <talus/talus.h>

#include <stdio.h>
#include <stdlib.h>

enum {
    BALLS = 3
};

static const double RADIUS = 0.02, LENGTH = 0.25;

static void check(tal_status st, const char *message)
{
    if (st == TAL_OK) return;
    (void)fprintf(stderr, "%s\n", message);
    exit(EXIT_FAILURE);
}

// Balls of 0.1 kg on strings, which swing about z; side by side along x.
static void hang_balls(tal_matter *matter, tal_body_ix ball[BALLS])
{
    for (int k = 0; k < BALLS; ++k) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = tal_mass_props_point(0.1, TAL_VEC3_ZERO);
        def.X_PF = tal_xf_from_p(tal_v3(2.0 * RADIUS * k, 0.0, 0.0));
        def.X_BM = tal_xf_from_p(tal_v3(0.0, LENGTH, 0.0));
        ball[k] = tal_matter_add_pin(matter, TAL_GROUND, &def);
    }
    for (int k = 0; k + 1 < BALLS; ++k) {
        tal_unilateral_def def = tal_unilateral_def_default();
        def.material.restitution = 1.0;
        (void)tal_unilateral_add_sphere_on_sphere(matter, &def, ball[k], TAL_VEC3_ZERO, RADIUS,
                                                  ball[k + 1], TAL_VEC3_ZERO, RADIUS);
    }
}

// The first impact, and a little more.
static void swing(bool sequential)
{
    tal_error err = {0};
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    (void)tal_forces_add_gravity(forces, tal_v3(0.0, -9.81, 0.0));
    tal_body_ix ball[BALLS];
    hang_balls(matter, ball);
    tal_contacts_def contacts = tal_contacts_def_default();
    contacts.sequential = sequential;
    (void)tal_contacts_create(system, &contacts);
    check(tal_system_realize_topology(system, &err), err.message);

    tal_state *state = NULL;
    tal_integrator *integ = NULL;
    tal_time_stepper *stepper = NULL;
    tal_integrator_def method = tal_integrator_def_default();
    method.accuracy = 1e-10;
    check(tal_state_create(system, &state, &err), err.message);
    check(tal_integrator_create(system, &method, &integ, &err), err.message);
    check(tal_time_stepper_create(integ, NULL, &stepper, &err), err.message);
    check(tal_body_set_q(matter, state, ball[0], 0, -0.5), "the first ball cannot be raised");

    tal_outcome outcome = TAL_OUTCOME_STEP;
    const tal_unilateral_ix first = {0};
    while (tal_unilateral_impact_of(matter, state, first).count == 0) {
        check(tal_time_stepper_advance(stepper, state, 1.0, &outcome),
              tal_time_stepper_error(stepper)->message);
    }
    const tal_unilateral_impact impact = tal_unilateral_impact_of(matter, state, first);
    (void)printf("%-22s t = %.6f s, %.6f m/s; then",
                 sequential ? "one after the other:" : "all at once:", impact.t, impact.speed);
    for (int k = 0; k < BALLS; ++k) {
        (void)printf(" %9.6f", tal_body_u(matter, state, ball[k], 0) * LENGTH / impact.speed);
    }
    (void)printf(" of it\n");

    tal_time_stepper_destroy(stepper);
    tal_integrator_destroy(integ);
    tal_state_destroy(state);
    tal_system_destroy(system);
}

int main(void)
{
    swing(false);
    swing(true);
    return EXIT_SUCCESS;
}
