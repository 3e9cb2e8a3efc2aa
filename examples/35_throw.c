// How far does a ball fly, and how does that change with the way it is thrown? Sensitivities of a
// trajectory, and the gradient of a distance at a time that changes as well.
//
//     R(p) = x(T(p), p) with y(T(p), p) = 0        dR/dp = x_p - (xdot / ydot) y_p
#include <talus/talus.h>

#include <stdio.h>

enum {
    NUM_PARAMETERS = 3
};

// Moves the State to where the ball comes down: Newton's method for the time.
static tal_status fly(tal_sensitivity *study, const tal_state *start, tal_state *state,
                      const double values[])
{
    double t = 2.0; // s
    tal_status st = TAL_OK;
    for (int k = 0; k < 20 && st == TAL_OK; ++k) {
        st = tal_state_copy(state, start);
        if (st == TAL_OK) st = tal_sensitivity_run(study, state, values, t);
        if (st != TAL_OK) return st;
        const double step = tal_state_q(state)[1] / tal_state_u(state)[1];
        t -= step;
        if (step < 1e-12 && step > -1e-12) return TAL_OK;
    }
    return st;
}

// The distance, and its gradient unless NULL.
static tal_status find_distance(tal_sensitivity *study, const tal_state *start, tal_state *state,
                                const double values[], double *distance, double gradient[])
{
    const tal_status st = fly(study, start, state, values);
    if (st != TAL_OK) return st;
    const tal_matrix S = tal_sensitivity_matrix(study); // of x, y, z and their speeds
    const double slope = tal_state_u(state)[0] / tal_state_u(state)[1];
    *distance = tal_state_q(state)[0];
    for (int p = 0; p < NUM_PARAMETERS && gradient != NULL; ++p) {
        const double *by_p = S.data + (ptrdiff_t)p * S.ld;
        gradient[p] = by_p[0] - slope * by_p[1];
    }
    return TAL_OK;
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
static tal_status throw_twice(tal_sensitivity *study, const tal_state *start, tal_state *state)
{
    double values[NUM_PARAMETERS] = {12.0, 9.0, 0.05}, gradient[NUM_PARAMETERS];
    double distance = 0.0, next = 0.0;
    tal_status st = find_distance(study, start, state, values, &distance, gradient);
    if (st != TAL_OK) return st;
    print(distance, gradient);
    const double step = 1e-3;
    for (int p = 0; p < 2; ++p) {
        values[p] += step * gradient[p];
    }
    st = find_distance(study, start, state, values, &next, NULL);
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

    tal_error err;
    tal_state *start = NULL, *state = NULL;
    tal_sensitivity *study = NULL;
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &start, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = tal_sensitivity_create(system, &wanted, &study, &err);
    if (st == TAL_OK) st = throw_twice(study, start, state);
    if (st != TAL_OK) puts(study != NULL ? tal_sensitivity_error(study)->message : err.message);
    tal_sensitivity_destroy(study);
    tal_state_destroy(state);
    tal_state_destroy(start);
    tal_system_destroy(system);
    return st == TAL_OK ? 0 : 1;
}
