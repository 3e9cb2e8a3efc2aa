// How far does a ball fly, and how does that change with the way it is thrown? Sensitivities of a
// trajectory that ends where the ball comes down, at a time that changes with the throw.
#include <talus/talus.h>

#include <stdio.h>

enum {
    NUM_PARAMETERS = 3
};

typedef struct throw
{
    tal_state *start, *state;
    tal_sensitivity *study;
    tal_measure_ix way; // that the ball has flown
}

throw;

// The distance, and its gradient unless NULL. A stop ends the run, so its time moves, too.
static tal_status find_distance(throw *it, const double values[], double *distance,
                                double gradient[])
{
    const double most = 20.0; // s
    tal_status st = tal_state_copy(it->state, it->start);
    if (st == TAL_OK) st = tal_sensitivity_run(it->study, it->state, values, most);
    if (st != TAL_OK) return st;
    *distance = tal_state_q(it->state)[0];
    if (gradient == NULL) return TAL_OK;
    return tal_sensitivity_of_measure(it->study, it->state, it->way, gradient);
}

static void print(double distance, const double gradient[])
{
    static const char *const names[NUM_PARAMETERS] = {"m per m/s forward", "m per m/s upward",
                                                      "m per kg/s of drag"};
    (void)printf("the ball flies %.4f m\n", distance);
    for (int p = 0; p < NUM_PARAMETERS; ++p) {
        (void)printf("%9.4f %s\n", gradient[p], names[p]);
    }
}

// Throws it, then throws it once more along the gradient of the speeds.
static tal_status throw_twice(throw *it)
{
    double values[NUM_PARAMETERS] = {12.0, 9.0, 0.05}, gradient[NUM_PARAMETERS];
    double distance = 0.0, next = 0.0;
    tal_status st = find_distance(it, values, &distance, gradient);
    if (st != TAL_OK) return st;
    print(distance, gradient);
    const double step = 1e-3;
    for (int p = 0; p < 2; ++p) {
        values[p] += step * gradient[p];
    }
    st = find_distance(it, values, &next, NULL);
    const double told = step * (gradient[0] * gradient[0] + gradient[1] * gradient[1]);
    if (st != TAL_OK) return st;
    (void)printf("a step along it: told %.4f m, found %.4f m\n", told, next - distance);
    return TAL_OK;
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_forces_add_gravity(forces, tal_v3(0.0, -9.81, 0.0));
    const tal_force_ix drag = tal_forces_add_global_damper(forces, "drag", 0.05);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(0.4, TAL_VEC3_ZERO); // kg
    const tal_body_ix ball = tal_matter_add_translation(matter, TAL_GROUND, &def);

    const tal_parameter parameters[NUM_PARAMETERS] = {tal_parameter_u("forward", matter, ball, 0),
                                                      tal_parameter_u("upward", matter, ball, 1),
                                                      tal_parameter_force("drag", forces, drag, 0)};
    tal_sensitivity_def wanted = tal_sensitivity_def_default();
    wanted.parameters = parameters;
    wanted.num_parameters = NUM_PARAMETERS;

    throw it = {.way = tal_measure_add_coordinate(matter, "way", (tal_mobility){ball, 0})};
    tal_run_stop landed = tal_run_stop_default();
    landed.measure = tal_measure_add_coordinate(matter, "height", (tal_mobility){ball, 1});
    landed.crossing = TAL_CROSSING_FALLING;
    tal_events_add_stop(tal_events_create(system), &landed);

    tal_error err;
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &it.start, &err);
    if (st == TAL_OK) st = tal_state_create(system, &it.state, &err);
    if (st == TAL_OK) st = tal_sensitivity_create(system, &wanted, &it.study, &err);
    if (st == TAL_OK) st = throw_twice(&it);
    if (it.study != NULL) err = *tal_sensitivity_error(it.study);
    if (st != TAL_OK) puts(err.message);
    tal_sensitivity_destroy(it.study);
    tal_state_destroy(it.state);
    tal_state_destroy(it.start);
    tal_system_destroy(system);
    return st == TAL_OK ? 0 : 1;
}
