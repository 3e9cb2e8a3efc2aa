// A scissor lift is assembled from parts that do not fit yet, raised, and asked what force at its
// foot carries the load.
//
// Each stage is a pair of bars of length 1, crossed at their middles. One foot of the lowest pair
// is pinned to Ground, the other slides along x; bars of neighboring stages share their ends.
//
// Run it:  build/dev/examples/17_scissor_lift        Expected output: 17_scissor_lift.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    STAGES = 3
};

static const double LOAD = 50.0, G = 9.81; // kg, m/s^2

// A planar bar, free in the plane, with its middle at the origin of its frame.
static tal_body_ix add_bar(tal_matter *matter, double mass)
{
    tal_mobod_def bar = tal_mobod_def_default();
    bar.mass = (tal_mass_props){mass, {0.0, 0.0, 0.0}, tal_s3_diag(0.0, mass / 12.0, mass / 12.0)};
    return tal_matter_add_planar(matter, TAL_GROUND, &bar);
}

static void join(tal_matter *matter, tal_body_ix a, double x_a, tal_body_ix b, double x_b)
{
    tal_constraint_def ends = tal_constraint_def_default();
    ends.bodies[0] = a;
    ends.bodies[1] = b;
    tal_constraint_add_ball(matter, &ends, tal_v3(x_a, 0.0, 0.0), tal_v3(x_b, 0.0, 0.0));
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_forces_add_gravity(forces, tal_v3(0.0, -G, 0.0));

    // The sliding foot is a body of its own, so that there is a force to ask for.
    tal_mobod_def foot_def = tal_mobod_def_default();
    foot_def.mass = tal_mass_props_point(0.1, tal_v3(0.0, 0.0, 0.0));
    const tal_body_ix foot = tal_matter_add_slider(matter, TAL_GROUND, &foot_def);
    tal_body_ix rising[STAGES], falling[STAGES]; // to the right: up, down
    for (int i = 0; i < STAGES; ++i) {
        rising[i] = add_bar(matter, 1.0);
        falling[i] = add_bar(matter, 1.0);
        join(matter, rising[i], 0.0, falling[i], 0.0);
    }
    join(matter, TAL_GROUND, 0.0, rising[0], -0.5);
    join(matter, foot, 0.0, falling[0], 0.5);
    for (int i = 1; i < STAGES; ++i) {
        join(matter, falling[i - 1], -0.5, rising[i], -0.5);
        join(matter, rising[i - 1], 0.5, falling[i], 0.5);
    }
    // the load hangs at the left end on top
    const tal_body_ix top = falling[STAGES - 1];
    tal_forces_add_constant_force(forces, "load", top, tal_v3(-0.5, 0.0, 0.0),
                                  tal_v3(0.0, -LOAD * G, 0.0));

    tal_error err = {TAL_OK, "", ""};
    tal_state *state = NULL;
    tal_assembler *assembler = NULL;
    tal_equilibrium *statics = NULL;
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = tal_assembler_create(system, NULL, &assembler, &err);
    if (st == TAL_OK) st = tal_equilibrium_create(system, NULL, &statics, &err);

    // Rough guesses of where the bars are; only the angle tells which way they lean.
    for (int i = 0; i < STAGES && st == TAL_OK; ++i) {
        for (int k = 0; k < 3; ++k) {
            const double guess[] = {0.6, 0.4, 0.3 * i};
            tal_body_set_q(matter, state, rising[i], k, guess[k]);
            tal_body_set_q(matter, state, falling[i], k, k == 0 ? -guess[k] : guess[k]);
        }
    }
    (void)printf("   foot   height   force at the foot   by virtual work\n");
    for (int k = 0; k < 5 && st == TAL_OK; ++k) {
        const double x = 0.9 - 0.15 * k;
        bool actuated[1 + 6 * STAGES] = {true};
        double tau[1 + 6 * STAGES];
        tal_body_set_q(matter, state, foot, 0, x);
        tal_body_lock(matter, state, foot, TAL_LEVEL_POSITION);
        st = tal_assembler_assemble(assembler, state, NULL);
        tal_body_unlock(matter, state, foot);
        if (st == TAL_OK) {
            st = tal_equilibrium_inverse_statics(statics, state, actuated, tau, NULL);
        }
        if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_POSITION);
        if (st != TAL_OK) break;
        // height of the load: STAGES sqrt(1 - x^2); bars weigh at the middles of their stages
        const double slope = -x / sqrt(1.0 - x * x);
        const double work = LOAD * G * STAGES * slope + 2.0 * G * 0.5 * STAGES * STAGES * slope;
        const double height = tal_station_p_GS(matter, state, top, tal_v3(-0.5, 0.0, 0.0)).y;
        (void)printf("%7.3f %8.4f %15.3f %17.3f\n", x, height, tau[0], work);
    }
    if (st != TAL_OK) {
        const char *why = tal_equilibrium_error(statics)->message;
        if (assembler != NULL && tal_assembler_error(assembler)->status != TAL_OK) {
            why = tal_assembler_error(assembler)->message;
        }
        (void)fprintf(stderr, "%s\n", statics != NULL ? why : err.message);
    }
    tal_equilibrium_destroy(statics);
    tal_assembler_destroy(assembler);
    tal_state_destroy(state);
    tal_system_destroy(system);
    return st == TAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
