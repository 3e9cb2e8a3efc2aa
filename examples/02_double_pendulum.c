// A double pendulum swings for ten seconds; the energy in the last column must stay put.
//
//     Ground --pin--> upper --pin--> lower      z is the axis of both pins, y points up
//
// Run it:  build/dev/examples/02_double_pendulum        Expected output: 02_double_pendulum.out
#include <talus/talus.h>

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    // 1. Describe the structure. Building is sticky: a mistake is reported by realize_topology.
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);

    tal_mobod_def link = tal_mobod_def_default();
    link.mass.mass = 1.0;                             // kg, a point mass at Bo
    link.X_BM = tal_xf_from_p(tal_v3(0.0, 1.0, 0.0)); // hung from a pin one meter above it
    link.name = "upper";
    const tal_body_ix upper = tal_matter_add_pin(matter, TAL_GROUND, &link);
    link.name = "lower";
    const tal_body_ix lower = tal_matter_add_pin(matter, upper, &link);
    tal_forces_add_gravity(forces, tal_v3(0.0, -9.81, 0.0)); // m/s^2

    // 2. Freeze it. From here on the System is const, and only the `create` calls allocate.
    tal_state *state = NULL;
    tal_integrator *integ = NULL;
    tal_integrator_def fine = tal_integrator_def_default();
    fine.accuracy = 1e-9;
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = tal_integrator_create(system, &fine, &integ, &err);

    // 3. Choose where to start, and go.
    if (st == TAL_OK) tal_body_set_q(matter, state, upper, 0, 1.0); // radians
    (void)printf("     t          x          y         energy\n");
    for (int k = 0; k <= 10 && st == TAL_OK; ++k) {
        st = tal_integrator_step_to(integ, state, (double)k);
        if (st != TAL_OK) break;
        const tal_vec3 p_GB = tal_body_p_GB(matter, state, lower);
        (void)printf("%6.2f %10.6f %10.6f %14.6f\n", tal_state_t(state), p_GB.x, p_GB.y,
                     tal_system_energy(system, state));
    }

    if (st != TAL_OK) {
        (void)fprintf(stderr, "%s\n", integ ? tal_integrator_error(integ)->message : err.message);
    }
    tal_integrator_destroy(integ);
    tal_state_destroy(state);
    tal_system_destroy(system); // and its subsystems
    return st == TAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
