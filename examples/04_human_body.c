// A diver leaves the 10 m platform: a human body of 40 rigid bodies and 45 mobilities.
//
// The pelvis is free (6 mobilities), everything else hangs on 39 pins (GJB sec. 8.4.1 describes a
// model of this size). A joint with two or three axes is a chain of pins with massless links in
// between. Masses and lengths are those of an adult of about 75 kg and 1.75 m, rounded. Springs
// hold the joints near the neutral pose, in which the diver stands upright: x forward, y up, z
// right.
//
// Springs and gravity are conservative, so the energy stays, and with it the drift in the last
// column; the center of mass must fall as a stone does.
//
// Run it:  ./run demo        Expected output: 04_human_body.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    NUM_PINS = 39
};

// A segment that hangs on a pin: where the joint is on the parent, its axis, what hangs on it.
typedef struct segment {
    const char *name, *parent;
    char axis;        // of the pin: x, y or z
    double joint[3];  // p_PF: from the parent's origin, which is at its own joint [m]
    double stiffness; // of the joint [N m/rad]
    double mass;      // [kg]; zero for the links between the axes of one joint
    double com[3];    // from Bo [m]
    double radii[3];  // of the ellipsoid that gives the inertia [m]
} segment;

// clang-format off
#define HERE {0.0, 0.0, 0.0}
#define LINK 0.0, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}

#define LEG(side, z)                                                                               \
    {"hip flexion " side, "pelvis", 'z', {0.0, -0.06, z}, 60.0, LINK},                             \
    {"hip adduction " side, "hip flexion " side, 'x', HERE, 60.0, LINK},                           \
    {"thigh " side, "hip adduction " side, 'y', HERE, 30.0, 7.5, {0.0, -0.18, 0.0},                \
     {0.08, 0.22, 0.08}},                                                                          \
    {"shank " side, "thigh " side, 'z', {0.0, -0.42, 0.0}, 40.0, 3.5, {0.0, -0.18, 0.0},           \
     {0.05, 0.22, 0.05}},                                                                          \
    {"talus " side, "shank " side, 'z', {0.0, -0.43, 0.0}, 20.0, LINK},                            \
    {"foot " side, "talus " side, 'x', HERE, 20.0, 0.9, {0.06, -0.04, 0.0}, {0.10, 0.03, 0.04}},   \
    {"toes " side, "foot " side, 'z', {0.15, -0.05, 0.0}, 5.0, 0.2, {0.03, 0.0, 0.0},              \
     {0.04, 0.02, 0.04}}

#define ARM(side, z)                                                                               \
    {"clavicle " side, "thorax", 'x', {0.0, 0.22, 0.1 * (z)}, 40.0, LINK},                         \
    {"scapula " side, "clavicle " side, 'y', HERE, 40.0, 0.8, {-0.03, 0.0, 0.5 * (z)},             \
     {0.03, 0.04, 0.07}},                                                                          \
    {"shoulder flexion " side, "scapula " side, 'z', {0.0, 0.0, 0.9 * (z)}, 15.0, LINK},           \
    {"shoulder adduction " side, "shoulder flexion " side, 'x', HERE, 15.0, LINK},                 \
    {"upper arm " side, "shoulder adduction " side, 'y', HERE, 8.0, 2.1,                           \
     {0.0, -0.13, 0.0}, {0.05, 0.16, 0.05}},                                                       \
    {"ulna " side, "upper arm " side, 'z', {0.0, -0.30, 0.0}, 8.0, 0.8,                            \
     {0.0, -0.10, 0.0}, {0.03, 0.13, 0.03}},                                                       \
    {"radius " side, "ulna " side, 'y', {0.0, -0.02, 0.0}, 3.0, 0.4, {0.01, -0.14, 0.0},           \
     {0.03, 0.12, 0.03}},                                                                          \
    {"hand " side, "radius " side, 'z', {0.0, -0.24, 0.0}, 2.0, 0.45, {0.0, -0.08, 0.0},           \
     {0.02, 0.09, 0.04}}

static const segment SEGMENTS[NUM_PINS] = {
    LEG("right", 0.09),
    LEG("left", -0.09),
    {"lumbar flexion", "pelvis", 'z', {-0.05, 0.10, 0.0}, 80.0, LINK},
    {"lumbar bending", "lumbar flexion", 'x', HERE, 80.0, LINK},
    {"abdomen", "lumbar bending", 'y', HERE, 60.0, 10.4, {0.03, 0.08, 0.0}, {0.10, 0.12, 0.14}},
    {"thoracic flexion", "abdomen", 'z', {0.0, 0.17, 0.0}, 80.0, LINK},
    {"thoracic bending", "thoracic flexion", 'x', HERE, 80.0, LINK},
    {"thorax", "thoracic bending", 'y', HERE, 60.0, 16.2, {0.03, 0.13, 0.0}, {0.11, 0.17, 0.15}},
    {"neck flexion", "thorax", 'z', {0.0, 0.28, 0.0}, 15.0, LINK},
    {"neck bending", "neck flexion", 'x', HERE, 15.0, LINK},
    {"head", "neck bending", 'y', HERE, 8.0, 6.1, {0.02, 0.17, 0.0}, {0.10, 0.14, 0.08}},
    ARM("right", 0.19),
    ARM("left", -0.19),
};

// clang-format on

static tal_vec3 vec(const double v[3])
{
    return tal_v3(v[0], v[1], v[2]);
}

// A frame whose z axis, which is the pin's, points along x, y or z of the body.
static tal_mat3 pin_frame(char axis)
{
    if (axis == 'x') return tal_rotation_from_angle_axis(0.5 * TAL_PI, tal_v3(0.0, 1.0, 0.0));
    if (axis == 'y') return tal_rotation_from_angle_axis(-0.5 * TAL_PI, tal_v3(1.0, 0.0, 0.0));
    return TAL_MAT3_IDENTITY;
}

// Mass properties of an ellipsoid whose center is away from Bo.
static tal_mass_props ellipsoid_at(double mass, tal_vec3 com, tal_vec3 radii)
{
    if (mass == 0.0) return TAL_MASSLESS;
    const tal_mass_props central = tal_mass_props_ellipsoid(mass, radii);
    const tal_xform X_BC = tal_xf_from_p(com);
    return tal_mass_props_transform(&X_BC, &central);
}

// --- joint springs: a force element of our own ---

static tal_status apply_springs(const void *self, const tal_force_context *context,
                                tal_spatial_vec F[], double f[])
{
    (void)self;
    (void)F;
    for (int i = 0; i < NUM_PINS; ++i) {
        const tal_body_ix body = {2 + i}; // after Ground and pelvis
        const double q = tal_body_q(context->matter, context->state, body, 0);
        f[tal_body_u_start(context->matter, body)] -= SEGMENTS[i].stiffness * q;
    }
    return TAL_OK;
}

static tal_status spring_energy(const void *self, const tal_force_context *context, double *energy)
{
    (void)self;
    for (int i = 0; i < NUM_PINS; ++i) {
        const tal_body_ix body = {2 + i};
        const double q = tal_body_q(context->matter, context->state, body, 0);
        *energy += 0.5 * SEGMENTS[i].stiffness * q * q;
    }
    return TAL_OK;
}

static const tal_force_ops springs_ops = {
    .size = sizeof springs_ops,
    .name = "joint springs",
    .apply = apply_springs,
    .calc_potential_energy = spring_energy,
};

// --- the model and its dive ---

static tal_body_ix build(tal_matter *matter)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.name = "pelvis";
    def.mass = ellipsoid_at(10.6, tal_v3(0.0, 0.0, 0.0), tal_v3(0.10, 0.10, 0.14));
    const tal_body_ix pelvis = tal_matter_add_free(matter, TAL_GROUND, &def);
    for (int i = 0; i < NUM_PINS; ++i) {
        const segment *s = &SEGMENTS[i];
        def.name = s->name;
        def.mass = ellipsoid_at(s->mass, vec(s->com), vec(s->radii));
        def.X_PF.R = def.X_BM.R = pin_frame(s->axis);
        def.X_PF.p = vec(s->joint);
        tal_matter_add_pin(matter, tal_matter_find_body(matter, s->parent), &def);
    }
    return pelvis;
}

// Off the platform with a somersault, arms up, knees bent.
static void take_off(const tal_matter *matter, tal_state *state, tal_body_ix pelvis)
{
    tal_body_set_q(matter, state, pelvis, 5, 11.0); // m, height of the pelvis
    tal_body_set_u(matter, state, pelvis, 2, -4.0); // rad/s, forward about z
    tal_body_set_u(matter, state, pelvis, 3, 0.7);  // m/s, away from the platform
    tal_body_set_u(matter, state, pelvis, 4, 2.0);  // m/s, upward
    const char *bent[] = {"shoulder flexion right", "shoulder flexion left", "shank right",
                          "shank left", "lumbar bending"};
    const double angles[] = {1.8, 2.2, -0.6, -0.4, 0.2}; // rad
    for (int i = 0; i < 5; ++i) {
        tal_body_set_q(matter, state, tal_matter_find_body(matter, bent[i]), 0, angles[i]);
    }
}

static tal_status dive(const tal_system *system, const tal_matter *matter, tal_state *state,
                       tal_integrator *integ, tal_body_ix pelvis)
{
    tal_status st = tal_integrator_step_to(integ, state, 0.0);
    if (st != TAL_OK) return st;
    const double start = tal_system_energy(system, state);
    (void)printf("%d bodies, %d mobilities, %.2f kg\n", tal_matter_num_bodies(matter) - 1,
                 tal_matter_nu(matter), tal_matter_mass(matter, state));
    (void)printf("   t [s]  pelvis [m]  center of mass [m]  energy [J]  drift [J]\n");
    for (int k = 0; k <= 14; ++k) {
        st = tal_integrator_step_to(integ, state, 0.1 * k);
        if (st != TAL_OK) return st;
        const double energy = tal_system_energy(system, state);
        (void)printf("%8.1f %11.4f %19.4f %11.3f %10.4f\n", tal_state_t(state),
                     tal_body_p_GB(matter, state, pelvis).y, tal_matter_com(matter, state).y,
                     energy, fabs(energy - start));
    }
    return TAL_OK;
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    const tal_body_ix pelvis = build(matter);
    tal_forces_add_gravity(forces, tal_v3(0.0, -9.81, 0.0));
    tal_forces_add(forces, "joints", &springs_ops, NULL);

    tal_state *state = NULL;
    tal_integrator *integ = NULL;
    tal_integrator_def def = tal_integrator_def_default();
    def.accuracy = 1e-8;
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = tal_integrator_create(system, &def, &integ, &err);
    if (st == TAL_OK) take_off(matter, state, pelvis);
    if (st == TAL_OK) st = dive(system, matter, state, integ, pelvis);

    if (st != TAL_OK) {
        (void)fprintf(stderr, "%s\n", integ ? tal_integrator_error(integ)->message : err.message);
    }
    tal_integrator_destroy(integ);
    tal_state_destroy(state);
    tal_system_destroy(system);
    return st == TAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
