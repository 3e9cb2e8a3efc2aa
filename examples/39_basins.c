// Where does a damped pendulum come to rest, in which of its turns? A picture of the basins of
// attraction: angles from left to right, speeds from bottom to top, a letter for the number of
// whole turns after which it hangs.
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    COLUMNS = 64,
    ROWS = 25
};

static tal_status read_angle(void *context, const tal_system *system, tal_state *state,
                             double results[])
{
    (void)context, (void)system;
    results[0] = tal_state_q(state)[0];
    return TAL_OK;
}

// The grid's first parameter runs slowest: rows of the picture, from the top.
static void print_picture(const double angles[])
{
    const double turn = 2.0 * acos(-1.0);
    for (int i = 0; i < ROWS; ++i) {
        for (int k = 0; k < COLUMNS; ++k) {
            const int turns = (int)floor(angles[i * COLUMNS + k] / turn + 0.5);
            (void)putchar("edcba.ABCDE"[turns < -5 ? 0 : turns > 5 ? 10 : turns + 5]);
        }
        (void)putchar('\n');
    }
}

static tal_status run(tal_ensemble *ensemble, const tal_state *start)
{
    const int levels[] = {ROWS, COLUMNS};
    const double low[] = {12.0, -3.1}, high[] = {-12.0, 3.2}; // rad/s, rad
    const tal_design design = tal_design_grid(levels, low, high, 2);
    static double angles[ROWS * COLUMNS];
    const tal_status st = tal_ensemble_run(ensemble, start, &design, angles, NULL, NULL);
    if (st == TAL_OK) print_picture(angles);
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
    const tal_body_ix rod = tal_matter_add_pin(matter, TAL_GROUND, &def);
    tal_forces_add_mobility_damper(forces, NULL, (tal_mobility){rod, 0}, 0.5);

    const tal_parameter parameters[] = {tal_parameter_u("speed", matter, rod, 0),
                                        tal_parameter_q("angle", matter, rod, 0)};
    tal_integrator_def fine = tal_integrator_def_default();
    fine.accuracy = 1e-5;
    tal_ensemble_def wanted = tal_ensemble_def_default();
    wanted.parameters = parameters;
    wanted.num_parameters = 2;
    wanted.read = read_angle;
    wanted.num_outputs = 1;
    wanted.task = TAL_TASK_INTEGRATE;
    wanted.end_time = 12.0; // s: motion has died down to e^-3
    wanted.integrator = &fine;

    tal_error err;
    tal_state *start = NULL;
    tal_ensemble *ensemble = NULL;
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &start, &err);
    if (st == TAL_OK) st = tal_ensemble_create(system, &wanted, &ensemble, &err);
    if (st == TAL_OK) st = run(ensemble, start);
    if (st != TAL_OK) puts(ensemble != NULL ? tal_ensemble_error(ensemble)->message : err.message);
    tal_ensemble_destroy(ensemble);
    tal_state_destroy(start);
    tal_system_destroy(system);
    return st == TAL_OK ? 0 : 1;
}
