// The program of the README: a pendulum, start to finish.
//
// Run it:  build/dev/examples/00_pendulum        Expected output: 00_pendulum.out
#include <talus/talus.h>

#include <stdio.h>

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);

    tal_mobod_def bob = tal_mobod_def_default();
    bob.mass.mass = 1.0;                             // kg, a point mass at Bo
    bob.X_BM = tal_xf_from_p(tal_v3(0.0, 1.0, 0.0)); // hung from a pin one meter above it
    const tal_body_ix body = tal_matter_add_pin(matter, TAL_GROUND, &bob);
    tal_forces_add_gravity(forces, tal_v3(0.0, -9.81, 0.0));

    tal_error err;
    tal_state *state = NULL;
    tal_integrator *integ = NULL;
    tal_integrator_def def = tal_integrator_def_default();
    tal_status st = tal_system_realize_topology(system, &err); // a mistake above is reported here
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = tal_integrator_create(system, &def, &integ, &err);
    if (st == TAL_OK) tal_body_set_q(matter, state, body, 0, 1.0);    // rad
    if (st == TAL_OK) st = tal_integrator_step_to(integ, state, 2.0); // s
    if (st == TAL_OK) printf("%.2f rad\n", tal_body_q(matter, state, body, 0));
    if (st != TAL_OK) puts(integ != NULL ? tal_integrator_error(integ)->message : err.message);
    tal_integrator_destroy(integ);
    tal_state_destroy(state);
    tal_system_destroy(system);
    return st == TAL_OK ? 0 : 1;
}
