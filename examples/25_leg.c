// A leg and a muscle: length, moment arm, joint load, and the muscle's moment found again by
// inverse dynamics.
//
//     Ground --pin (hip)--> thigh --pin (knee)--> shank
//     quadriceps: thigh, around a cylinder, shank
//
// The muscle is a force element of your own: a string of given tension from a point of the thigh to
// a point of the shank, taut over a cylinder on the thigh whose axis is the knee's. All of it lies
// in the plane of motion. A moment arm is what the forces of a muscle are worth along a joint's
// speed, over its tension; while the string bears on the cylinder it is the radius. The motion that
// it causes is recorded; then, from the angles alone, inverse dynamics says which moments are
// missing when the muscle is off. doc/howto/opensim.md has the story.
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

static const double THIGH = 0.42, TENSION = 120.0, STEP = 0.002; // m, N, s

// --- the muscle ---

typedef struct muscle {
    const tal_matter *matter;
    tal_body_ix thigh, shank;
    tal_vec3 origin, insertion, center; // on the thigh, on the shank, on the thigh [m]
    double radius;                      // of the cylinder [m]
} muscle;

// Where a string leaves the thigh's point, the cylinder, and the shank's point; in Ground.
typedef struct path {
    tal_vec3 origin, insertion;
    tal_vec3 touch[2]; // where it meets the cylinder on either side; the other end when it does not
    bool wraps;
    double length;
} path;

// The point at which a line from P touches the circle, seen from P on the right (side 1) or left
// (-1).
static tal_vec3 tangent(tal_vec3 P, tal_vec3 center, double radius, double side)
{
    const tal_vec3 d = tal_v3_sub(P, center);
    const double angle = atan2(d.y, d.x) + side * acos(radius / hypot(d.x, d.y));
    return tal_v3_add(center, tal_v3(radius * cos(angle), radius * sin(angle), 0.0));
}

static double distance(tal_vec3 a, tal_vec3 b)
{
    return tal_v3_norm(tal_v3_sub(a, b));
}

// The quadriceps passes in front of the knee, clockwise round it from the origin.
static path find_path(const muscle *it, const tal_state *state)
{
    const tal_vec3 center = tal_station_p_GS(it->matter, state, it->thigh, it->center);
    path p = {.origin = tal_station_p_GS(it->matter, state, it->thigh, it->origin),
              .insertion = tal_station_p_GS(it->matter, state, it->shank, it->insertion)};
    const tal_vec3 on = tangent(p.origin, center, it->radius, -1.0);
    const tal_vec3 off = tangent(p.insertion, center, it->radius, 1.0);
    const tal_vec3 a = tal_v3_sub(on, center), b = tal_v3_sub(off, center);
    const double turn = atan2(tal_v3_cross(b, a).z, tal_v3_dot(a, b)); // clockwise from a to b
    p.wraps = turn > 0.0;
    p.touch[0] = p.wraps ? on : p.insertion;
    p.touch[1] = p.wraps ? off : p.origin;
    p.length = p.wraps ? distance(p.origin, on) + it->radius * turn + distance(off, p.insertion)
                       : distance(p.origin, p.insertion);
    return p;
}

// A force at a point P of Ground, on a body.
static void pull(const tal_force_context *context, tal_body_ix body, tal_vec3 P, tal_vec3 f,
                 tal_spatial_vec F[])
{
    const tal_vec3 p_MP = tal_v3_sub(P, tal_view_X_GM(&context->poses, body.i)->p);
    F[body.i] = tal_sv_add(F[body.i], tal_sv(tal_v3_cross(p_MP, f), f));
}

static tal_status apply(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                        double f[])
{
    (void)f;
    const muscle *it = self;
    const path p = find_path(it, context->state);
    const tal_vec3 up = tal_v3_normalize(tal_v3_sub(p.touch[1], p.insertion));
    const tal_vec3 down = tal_v3_normalize(tal_v3_sub(p.touch[0], p.origin));
    const tal_vec3 on_shank = tal_v3_scale(TENSION, up), on_thigh = tal_v3_scale(TENSION, down);
    pull(context, it->shank, p.insertion, on_shank, F);
    pull(context, it->thigh, p.origin, on_thigh, F);
    if (p.wraps) { // the cylinder bears what turns the string round it
        pull(context, it->thigh, p.touch[0], tal_v3_neg(on_thigh), F);
        pull(context, it->thigh, p.touch[1], tal_v3_neg(on_shank), F);
    }
    return TAL_OK;
}

static const tal_force_ops muscle_ops = {
    .size = sizeof muscle_ops,
    .name = "muscle",
    .apply = apply,
    .needs = TAL_FORCE_NEEDS_Q,
    .is_concurrent = true,
};

// --- the leg ---

typedef struct leg {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_body_ix thigh, shank;
    muscle quadriceps;
    tal_force_ix muscle;
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

static void build(leg *it)
{
    it->system = tal_system_create(NULL);
    it->matter = tal_matter_create(it->system);
    it->forces = tal_forces_create(it->system, it->matter);
    it->thigh = add_segment(it->matter, "thigh", TAL_GROUND, 0.0, 8.0);
    it->shank = add_segment(it->matter, "shank", it->thigh, -THIGH, 4.0);
    tal_forces_add_gravity(it->forces, tal_v3(0.0, -9.81, 0.0));
    it->quadriceps = (muscle){.matter = it->matter,
                              .thigh = it->thigh,
                              .shank = it->shank,
                              .origin = {0.04, -0.1, 0.0},
                              .insertion = {0.05, -0.07, 0.0},
                              .center = {0.0, -THIGH, 0.0},
                              .radius = 0.04};
    it->muscle = tal_forces_add(it->forces, "quadriceps", &muscle_ops, &it->quadriceps);
}

// --- forward: what the muscle does ---

static tal_status swing(const leg *it, tal_state *state, double q[NU][ROWS])
{
    tal_integrator_def def = tal_integrator_def_default();
    def.tableau = tal_rk_verner_8();
    def.accuracy = 1e-9;
    tal_integrator *integ = NULL;
    tal_status st = tal_integrator_create(it->system, &def, &integ, NULL);
    (void)printf("  t [s]  knee [deg]  length [m]  arm [m]  knee load [N]\n");
    for (int k = 0; k < ROWS && st == TAL_OK; ++k) {
        st = tal_integrator_step_to(integ, state, k * STEP);
        q[0][k] = tal_body_q(it->matter, state, it->thigh, 0);
        q[1][k] = tal_body_q(it->matter, state, it->shank, 0);
        if (st != TAL_OK || k % 20 != 0) continue;
        double g[NU];
        st = tal_forces_calc_generalized(it->forces, state, &it->muscle, 1, g);
        const tal_spatial_vec on_thigh = tal_body_reaction_F(it->matter, state, it->shank);
        (void)printf("%7.2f %11.2f %11.4f %8.4f %14.2f\n", k * STEP, q[1][k] / TAL_DEGREE,
                     find_path(&it->quadriceps, state).length, g[1] / TENSION,
                     tal_v3_norm(on_thigh.v));
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
        double udot[NU], missing[NU], g[NU];
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
            st = tal_forces_calc_generalized(it->forces, state, &it->muscle, 1, g);
        }
        if (st == TAL_OK) {
            (void)printf("%7.2f %26.3f %21.3f\n", t, missing[1], g[1]);
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
