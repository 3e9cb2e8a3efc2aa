// A leg press: for a load on the foot, where does the leg come to rest?
//
//     Ground --pin (hip)--> thigh --pin (knee)--> shank
//     the foot, an end of the shank, slides on a rail that goes through the hip
//     quadriceps: thigh, in front of a cylinder at the knee, shank
//     gluteus: behind the hip, around a cylinder there, thigh
//
// Both muscles have rigid tendons and a fixed activation: the only unknown is how far the leg is
// bent. The load pushes the foot along the rail, towards the hip. With more of it the leg gives
// way until fibers that are stretched carry it. At rest the work of all forces along the one motion
// that the rail allows is zero: the last column adds it up.
//
// Run it:  build/dev/examples/26_leg_press        Expected output: 26_leg_press.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double SEGMENT = 0.42; // m, thigh and shank

typedef struct press {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_body_ix thigh, shank;
    tal_force_ix quadriceps, gluteus, load, gravity;
} press;

static tal_body_ix add_segment(tal_matter *matter, const char *name, tal_body_ix parent, double at)
{
    tal_mobod_def def = tal_mobod_def_default();
    const tal_mass_props rod = tal_mass_props_cylinder(5.0, 0.05, 0.5 * SEGMENT, TAL_AXIS_Y);
    const tal_xform X_BC = tal_xf_from_p(tal_v3(0.0, -0.5 * SEGMENT, 0.0));
    def.name = name;
    def.mass = tal_mass_props_transform(&X_BC, &rod);
    def.X_PF = tal_xf_from_p(tal_v3(0.0, at, 0.0));
    return tal_matter_add_pin(matter, parent, &def);
}

// A muscle from one body to another, on one side of a cylinder that is fixed on the first.
static tal_force_ix add_muscle(press *it, const char *name, const tal_body_ix on[2],
                               const tal_vec3 at[2], tal_vec3 cylinder, tal_wrap_side side,
                               const tal_muscle_def *like)
{
    tal_wrap bone = tal_wrap_cylinder(0.04, INFINITY);
    bone.side = side;
    const tal_xform X_BW = tal_xf_from_p(cylinder);
    const tal_wrap_ix wrap = tal_forces_add_wrap(it->forces, name, on[0], &X_BW, &bone);
    tal_muscle_def def = *like;
    def.path = tal_forces_add_path(it->forces, name);
    for (int i = 0; i < 2; ++i) {
        (void)tal_path_add_point(it->forces, def.path, on[i], at[i]);
    }
    (void)tal_path_add_wrap(it->forces, def.path, wrap, 0, -1);
    return tal_forces_add_muscle(it->forces, name, &def);
}

static void add_muscles(press *it)
{
    tal_muscle_def def = tal_muscle_def_default(TAL_MUSCLE_MILLARD);
    def.rigid_tendon = true;
    def.activation = TAL_ACTIVATION_NONE; // it is the control
    const tal_body_ix knee[] = {it->thigh, it->shank}, hip[] = {TAL_GROUND, it->thigh};
    const tal_vec3 front[] = {{0.04, -0.1, 0.0}, {0.05, -0.07, 0.0}};
    const tal_vec3 back[] = {{-0.09, 0.05, 0.0}, {-0.03, -0.15, 0.0}};
    def.millard.passive_strain_at_one = 0.35; // stiff fibers
    def.max_force = 5000.0;
    def.fiber_length = 0.08;
    def.tendon_length = 0.36;
    it->quadriceps = add_muscle(it, "quadriceps", knee, front, tal_v3(0.0, -SEGMENT, 0.0),
                                TAL_WRAP_PLUS_X, &def);
    def.max_force = 2500.0;
    def.fiber_length = 0.15;
    def.tendon_length = 0.11;
    it->gluteus = add_muscle(it, "gluteus", hip, back, TAL_VEC3_ZERO, TAL_WRAP_MINUS_X, &def);
}

// Seen from the side: x forward, y up, the hip at the origin, and the rail along x.
static void build(press *it)
{
    it->system = tal_system_create(NULL);
    it->matter = tal_matter_create(it->system);
    it->forces = tal_forces_create(it->system, it->matter);
    it->thigh = add_segment(it->matter, "thigh", TAL_GROUND, 0.0);
    it->shank = add_segment(it->matter, "shank", it->thigh, -SEGMENT);
    const tal_vec3 foot = tal_v3(0.0, -SEGMENT, 0.0), up = tal_v3(0.0, 1.0, 0.0);
    tal_constraint_def rail = tal_constraint_def_default();
    rail.name = "rail";
    rail.bodies[0] = TAL_GROUND;
    rail.bodies[1] = it->shank;
    (void)tal_constraint_add_point_in_plane(it->matter, &rail, up, 0.0, foot);
    it->gravity = tal_forces_add_gravity(it->forces, tal_v3(0.0, -9.81, 0.0));
    it->load = tal_forces_add_constant_force(it->forces, "load", it->shank, foot, TAL_VEC3_ZERO);
    add_muscles(it);
}

// The knee bends by 2 b where the thigh turns up by b: of the motion along the rail, the hip has
// -1/2 of what the knee has. What forces are worth along it, by the knee's angle [N m].
static tal_status work_along_rail(const press *it, tal_state *state, tal_force_ix force,
                                  double *work)
{
    double g[2];
    const tal_status st = tal_forces_calc_generalized(it->forces, state, &force, 1, g);
    if (st == TAL_OK) *work = g[1] - 0.5 * g[0];
    return st;
}

static tal_status print_rest(const press *it, tal_state *state, double load)
{
    const tal_force_ix all[] = {it->quadriceps, it->gluteus, it->load, it->gravity};
    double work[4] = {0.0}, sum = 0.0;
    tal_status st = TAL_OK;
    for (int i = 0; i < 4 && st == TAL_OK; ++i) {
        st = work_along_rail(it, state, all[i], &work[i]);
        sum += work[i];
    }
    const double knee = -tal_body_q(it->matter, state, it->shank, 0) / TAL_DEGREE;
    const double pull[] = {
        tal_muscle_calc_output(it->forces, state, it->quadriceps, TAL_MUSCLE_TENSION),
        tal_muscle_calc_output(it->forces, state, it->gluteus, TAL_MUSCLE_TENSION)};
    const double fiber =
        tal_muscle_calc_output(it->forces, state, it->quadriceps, TAL_MUSCLE_NORM_FIBER);
    (void)printf("%9.0f %11.2f %15.1f %12.1f %12.3f  %s\n", load, knee, pull[0], pull[1], fiber,
                 fabs(sum) < 1e-6 * fabs(work[2]) ? "zero" : "not zero");
    return st;
}

static tal_status press_with(const press *it, tal_equilibrium *search, tal_state *state,
                             double load)
{
    tal_rest rest;
    tal_status st =
        tal_force_set_param(it->forces, state, it->load, TAL_CONSTANT_FORCE_FORCE, -load);
    if (st == TAL_OK) st = tal_equilibrium_find(search, state, &rest);
    if (st == TAL_OK) return print_rest(it, state, load);
    (void)fprintf(stderr, "%s\n", tal_equilibrium_error(search)->message);
    return st;
}

int main(void)
{
    press it;
    build(&it);
    tal_state *state = NULL;
    tal_equilibrium *search = NULL;
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_system_realize_topology(it.system, &err);
    if (st == TAL_OK) st = tal_state_create(it.system, &state, &err);
    if (st == TAL_OK) st = tal_equilibrium_create(it.system, NULL, &search, &err);
    if (st != TAL_OK) (void)fprintf(stderr, "%s\n", err.message);
    const double b = 50.0 * TAL_DEGREE; // half the angle of the knee, at first
    if (st == TAL_OK) st = tal_body_set_q(it.matter, state, it.thigh, 0, TAL_PI / 2.0 + b);
    if (st == TAL_OK) st = tal_body_set_q(it.matter, state, it.shank, 0, -2.0 * b);
    if (st == TAL_OK) st = tal_muscle_set_control(it.forces, state, it.quadriceps, 0.3);
    if (st == TAL_OK) st = tal_muscle_set_control(it.forces, state, it.gluteus, 0.3);
    (void)printf(" load [N]  knee [deg]  quadriceps [N]  gluteus [N]  fiber/optimal  work\n");
    for (int k = 0; k < 5 && st == TAL_OK; ++k) {
        st = press_with(&it, search, state, 300.0 + 100.0 * k);
    }
    tal_equilibrium_destroy(search);
    tal_state_destroy(state);
    tal_system_destroy(it.system);
    return st == TAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
