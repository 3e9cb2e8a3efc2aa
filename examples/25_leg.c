// A leg and a muscle: length, moment arm, tension, joint load, and the muscle's moment found again
// by inverse dynamics.
//
//     Ground --pin (hip)--> thigh --pin (knee)--> shank
//     quadriceps: thigh, around a cylinder, shank
//
// The quadriceps runs from a point of the thigh to a point of the shank, in front of a cylinder on
// the thigh whose axis is the knee's: while it bears on the cylinder, its moment arm is the radius.
// Its fibers begin in equilibrium with the tendon, then it is excited and extends the knee. The
// motion is recorded; from the angles alone, inverse dynamics says which moments are missing when
// the muscle is off. doc/howto/opensim.md has the story.
//
// Run it:  build/dev/examples/25_leg        Expected output: 25_leg.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ROWS = 101,
    NU = 2
};

static const double THIGH = 0.42, RADIUS = 0.04, STEP = 0.002; // m, m, s

// --- the leg ---

typedef struct leg {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_body_ix thigh, shank;
    tal_path_ix path;
    tal_force_ix muscle;
    double moment[ROWS]; // of the muscle about the knee [N m]
} leg;

static tal_body_ix add_segment(tal_matter *matter, const char *name, tal_body_ix parent, double at,
                               double mass)
{
    tal_mobod_def def = tal_mobod_def_default();
    const tal_mass_props rod = tal_mass_props_cylinder(mass, 0.05, 0.2, TAL_AXIS_Y);
    const tal_xform X_BC = tal_xf_from_p(tal_v3(0.0, -0.2, 0.0));
    def.name = name;
    def.mass = tal_mass_props_transform(&X_BC, &rod);
    def.X_PF = tal_xf_from_p(tal_v3(0.0, at, 0.0));
    return tal_matter_add_pin(matter, parent, &def);
}

static void add_quadriceps(leg *it)
{
    tal_wrap patella = tal_wrap_cylinder(RADIUS, INFINITY);
    const tal_xform at_knee = tal_xf_from_p(tal_v3(0.0, -THIGH, 0.0));
    patella.side = TAL_WRAP_PLUS_X; // in front of the knee
    const tal_wrap_ix wrap =
        tal_forces_add_wrap(it->forces, "patella", it->thigh, &at_knee, &patella);
    it->path = tal_forces_add_path(it->forces, "quadriceps");
    (void)tal_path_add_point(it->forces, it->path, it->thigh, tal_v3(0.04, -0.1, 0.0));
    (void)tal_path_add_point(it->forces, it->path, it->shank, tal_v3(0.05, -0.07, 0.0));
    (void)tal_path_add_wrap(it->forces, it->path, wrap, 0, -1);

    tal_muscle_def def = tal_muscle_def_default(TAL_MUSCLE_MILLARD);
    def.path = it->path;
    def.max_force = 900.0;             // N
    def.fiber_length = 0.14;           // m, optimal
    def.tendon_length = 0.29;          // m, slack
    def.pennation = 10.0 * TAL_DEGREE; // at the optimal length
    it->muscle = tal_forces_add_muscle(it->forces, "quadriceps", &def);
}

static void build(leg *it)
{
    it->system = tal_system_create(NULL);
    it->matter = tal_matter_create(it->system);
    it->forces = tal_forces_create(it->system, it->matter);
    it->thigh = add_segment(it->matter, "thigh", TAL_GROUND, 0.0, 8.0);
    it->shank = add_segment(it->matter, "shank", it->thigh, -THIGH, 4.0);
    tal_forces_add_gravity(it->forces, tal_v3(0.0, -9.81, 0.0));
    add_quadriceps(it);
}

// --- forward: what the muscle does ---

static tal_status record(leg *it, tal_state *state, int k)
{
    double g[NU];
    tal_status st = tal_forces_calc_generalized(it->forces, state, &it->muscle, 1, g);
    if (st != TAL_OK) return st;
    it->moment[k] = g[1];
    if (k % 20 != 0) return st;
    double arms[NU], out[TAL_NUM_MUSCLE_OUTPUTS];
    st = tal_path_calc_generalized(it->forces, state, it->path, arms); // for a tension of 1
    if (st == TAL_OK) st = tal_muscle_calc_outputs(it->forces, state, it->muscle, out);
    if (st != TAL_OK) return st;
    const tal_spatial_vec on_thigh = tal_body_reaction_F(it->matter, state, it->shank);
    const double knee = tal_body_q(it->matter, state, it->shank, 0) / TAL_DEGREE;
    (void)printf("%6.2f %11.2f %11.4f %8.4f %7.3f %12.3f %12.2f %14.2f\n", k * STEP, knee,
                 out[TAL_MUSCLE_LENGTH], arms[1], out[TAL_MUSCLE_ACTIVATION],
                 out[TAL_MUSCLE_NORM_FIBER], out[TAL_MUSCLE_TENSION], tal_v3_norm(on_thigh.v));
    return st;
}

static tal_status swing(leg *it, tal_state *state, double q[NU][ROWS])
{
    tal_integrator_def def = tal_integrator_def_default();
    def.tableau = tal_rk_verner_8();
    def.accuracy = 1e-9;
    tal_integrator *integ = NULL;
    tal_status st = tal_forces_equilibrate_muscles(it->forces, state);
    if (st == TAL_OK) st = tal_muscle_set_control(it->forces, state, it->muscle, 0.3);
    if (st == TAL_OK) st = tal_integrator_create(it->system, &def, &integ, NULL);
    (void)printf(" t [s]  knee [deg]  length [m]  arm [m]  active  fiber/optimal  tension [N]  "
                 "knee load [N]\n");
    for (int k = 0; k < ROWS && st == TAL_OK; ++k) {
        st = tal_integrator_step_to(integ, state, k * STEP);
        q[0][k] = tal_body_q(it->matter, state, it->thigh, 0);
        q[1][k] = tal_body_q(it->matter, state, it->shank, 0);
        if (st == TAL_OK) st = record(it, state, k);
    }
    if (st != TAL_OK && integ != NULL) {
        (void)fprintf(stderr, "%s\n", tal_integrator_error(integ)->message);
    }
    tal_integrator_destroy(integ);
    return st;
}

// --- inverse: which moments are missing without it ---

static tal_status find_moments(const leg *it, tal_state *state, tal_function *const q[NU])
{
    tal_status st = tal_force_set_enabled(it->forces, state, it->muscle, false);
    double at_hip = 0.0;
    (void)printf("\n  t [s]  missing at the knee [N m]  moment of the muscle\n");
    for (int k = 20; k < ROWS - 1 && st == TAL_OK; k += 20) {
        const double t = k * STEP;
        double udot[NU], missing[NU];
        const tal_body_ix body[NU] = {it->thigh, it->shank};
        tal_state_set_t(state, t);
        for (int i = 0; i < NU; ++i) {
            tal_body_set_q(it->matter, state, body[i], 0, tal_function_calc_value_1(q[i], t));
            tal_body_set_u(it->matter, state, body[i], 0,
                           tal_function_calc_derivative_1(q[i], t, 1));
            udot[i] = tal_function_calc_derivative_1(q[i], t, 2);
        }
        st = tal_system_realize(it->system, state, TAL_STAGE_DYNAMICS);
        if (st == TAL_OK) st = tal_matter_calc_residual(it->matter, state, udot, NULL, missing);
        if (st == TAL_OK) {
            (void)printf("%7.2f %26.3f %21.3f\n", t, missing[1], it->moment[k]);
            at_hip = fmax(at_hip, fabs(missing[0]));
        }
    }
    (void)printf("at the hip nothing is missing: %s\n", at_hip < 1e-3 ? "yes" : "no");
    if (st != TAL_OK) (void)fprintf(stderr, "%s\n", tal_state_error(state)->message);
    return st;
}

int main(void)
{
    leg it;
    build(&it);
    tal_state *state = NULL;
    tal_function *angles[NU] = {NULL, NULL};
    double q[NU][ROWS], times[ROWS];
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_system_realize_topology(it.system, &err);
    if (st == TAL_OK) st = tal_state_create(it.system, &state, &err);
    if (st == TAL_OK) st = tal_body_set_q(it.matter, state, it.thigh, 0, 40.0 * TAL_DEGREE);
    if (st == TAL_OK) st = tal_body_set_q(it.matter, state, it.shank, 0, -100.0 * TAL_DEGREE);
    if (st == TAL_OK) st = swing(&it, state, q);
    for (int k = 0; k < ROWS; ++k) {
        times[k] = k * STEP;
    }
    for (int i = 0; i < NU && st == TAL_OK; ++i) {
        st = tal_function_create_quintic_spline(NULL, times, q[i], ROWS, &angles[i], &err);
    }
    if (st == TAL_OK) st = find_moments(&it, state, angles);
    if (st != TAL_OK && err.status != TAL_OK) (void)fprintf(stderr, "%s\n", err.message);
    tal_function_destroy(angles[1]);
    tal_function_destroy(angles[0]);
    tal_state_destroy(state);
    tal_system_destroy(it.system);
    return st == TAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
