// How far does heat swing a pendulum? A Metropolis walk over its angles, compared with Boltzmann's
// distribution, exp(m g l cos q / kT).
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>

enum {
    SAMPLES = 20000
};

// The mean of cos q by the trapezoidal rule over a turn.
static double expected_cosine(double kappa)
{
    double sum = 0.0, weights = 0.0;
    for (int i = 0; i < 1000; ++i) {
        const double c = cos(acos(-1.0) * (i - 500) / 500.0);
        sum += c * exp(kappa * c);
        weights += exp(kappa * c);
    }
    return sum / weights;
}

static tal_status walk_about(const tal_system *system, tal_state *state, double kT, tal_error *err)
{
    tal_walk *walk = NULL;
    tal_walk_def def = tal_walk_def_default();
    def.kT = kT;
    def.step = 1.0; // rad
    tal_status st = tal_walk_create(system, &def, &walk, err);
    double cosine = 0.0;
    for (int k = 0; k < SAMPLES && st == TAL_OK; ++k) {
        st = tal_walk_run(walk, state, 10); // then look at the State
        cosine += cos(tal_state_q(state)[0]) / SAMPLES;
    }
    const tal_walk_report report = tal_walk_statistics(walk);
    if (st == TAL_OK) {
        (void)printf("kT %5.1f J: mean cosine %.3f, expected %.3f; %.0f %% of the steps taken\n",
                     kT, cosine, expected_cosine(9.81 / kT),
                     100.0 * (double)report.taken / (double)report.proposed);
    } else if (walk != NULL) {
        *err = *tal_walk_error(walk);
    }
    tal_walk_destroy(walk);
    return st;
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_forces_add_gravity(forces, tal_v3(0.0, -9.81, 0.0));
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, tal_v3(0.0, -1.0, 0.0)); // 1 kg, 1 m below the pin
    (void)tal_matter_add_pin(matter, TAL_GROUND, &def);

    tal_error err;
    tal_state *state = NULL;
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = walk_about(system, state, 2.0, &err);
    if (st == TAL_OK) st = walk_about(system, state, 10.0, &err);
    if (st == TAL_OK) st = walk_about(system, state, 100.0, &err);
    if (st != TAL_OK) puts(err.message);
    tal_state_destroy(state);
    tal_system_destroy(system);
    return st == TAL_OK ? 0 : 1;
}
