// A force element of your own: a ligament, which pulls when it is taut and does nothing when it is
// slack.
//
//     e = max(0, x - slack)       tension k e^2 (1 + c xdot), never a push       energy k e^3 / 3
//
// x is the distance of a station on one body from a station on another. Here the ligament is a
// bungee cord: a person jumps off a bridge, once without dissipation, once with it. Energy and what
// was dissipated add up to the same number at all times. doc/howto/force.md explains this program.
//
// Run it:  build/dev/examples/20_own_force        Expected output: 20_own_force.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double MASS = 70.0, GRAVITY = 9.81; // kg, m/s^2

// --- the element ---

// What varies: it lives in the State.
typedef struct cord_params {
    double stiffness;   // k [N/m^2]
    double slack;       // length up to which it does not pull [m]
    double dissipation; // c [s/m]
} cord_params;

typedef struct cord {
    tal_body_ix body[2];
    tal_vec3 p_BS[2];    // the stations, on the bodies [m]
    cord_params initial; // of a new State
    tal_var_ix params;
    tal_cache_ix p_MS; // the stations again, from Mo in M: two vectors, computed at Instance
} cord;

static tal_status declare(void *self, tal_forces *forces, tal_force_ix me)
{
    cord *it = self;
    tal_var_def params = tal_var_def_default();
    params.name = "params";
    params.size = sizeof it->initial;
    params.initial = &it->initial;
    params.invalidates = TAL_STAGE_DYNAMICS; // kinematics does not depend on it
    it->params = tal_force_add_var(forces, me, &params);
    tal_cache_def stations = tal_cache_def_default();
    stations.name = "stations";
    stations.size = 2 * sizeof(tal_vec3);
    stations.computed_by = TAL_STAGE_INSTANCE;
    it->p_MS = tal_force_add_cache(forces, me, &stations);
    return TAL_OK;
}

static tal_status realize_instance(const void *self, const tal_force_context *context)
{
    const cord *it = self;
    tal_vec3 *p_MS = tal_cache_upd(context->system, context->state, it->p_MS);
    if (p_MS == NULL) return TAL_ERR_STAGE;
    for (int k = 0; k < 2; ++k) {
        const tal_xform X_MB = tal_body_X_MB(context->matter, context->state, it->body[k]);
        p_MS[k] = tal_xf_apply(X_MB, it->p_BS[k]);
    }
    return tal_cache_mark_valid(context->system, context->state, it->p_MS);
}

// The cord at one instant.
typedef struct taut {
    const cord_params *params;
    const tal_vec3 *p_MS;
    tal_vec3 d;     // from station 1 to station 2, in Ground, of length one
    double e, xdot; // stretch and rate of the length; the rate is zero below Velocity
} taut;

static taut cord_at(const cord *it, const tal_force_context *context)
{
    taut at = {.params = tal_var_value(context->system, context->state, it->params),
               .p_MS = tal_cache_value(context->system, context->state, it->p_MS)};
    tal_vec3 p[2], v[2] = {TAL_VEC3_ZERO, TAL_VEC3_ZERO};
    for (int k = 0; k < 2; ++k) {
        const tal_xform *X_GM = tal_view_X_GM(&context->poses, it->body[k].i);
        const tal_vec3 p_MS_G = tal_m3_mul_v3(X_GM->R, at.p_MS[k]);
        p[k] = tal_v3_add(X_GM->p, p_MS_G);
        if (context->velocities.bytes == NULL) continue;
        const tal_spatial_vec *V_GM = tal_view_V_GM(&context->velocities, it->body[k].i);
        v[k] = tal_v3_add(V_GM->v, tal_v3_cross(V_GM->w, p_MS_G));
    }
    const tal_vec3 p_12 = tal_v3_sub(p[1], p[0]);
    const double x = tal_v3_norm(p_12);
    at.d = tal_v3_scale(x > 0.0 ? 1.0 / x : 0.0, p_12);
    at.e = fmax(0.0, x - at.params->slack);
    at.xdot = tal_v3_dot(at.d, tal_v3_sub(v[1], v[0]));
    return at;
}

static double tension(const taut *at)
{
    const double pull = 1.0 + at->params->dissipation * at->xdot;
    return at->params->stiffness * at->e * at->e * fmax(0.0, pull);
}

static tal_status apply(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                        double f[])
{
    (void)f;
    const cord *it = self;
    const taut at = cord_at(it, context);
    const double pull = tension(&at);
    const tal_bodies_view *poses = &context->poses;
    tal_apply_station_force(poses, it->body[0].i, at.p_MS[0], tal_v3_scale(pull, at.d), F);
    tal_apply_station_force(poses, it->body[1].i, at.p_MS[1], tal_v3_scale(-pull, at.d), F);
    return TAL_OK;
}

static tal_status calc_energy(const void *self, const tal_force_context *context, double *energy)
{
    const taut at = cord_at(self, context);
    *energy = at.params->stiffness * at.e * at.e * at.e / 3.0;
    return TAL_OK;
}

// What the tension takes, less what is stored.
static tal_status calc_power(const void *self, const tal_force_context *context, double *power)
{
    const taut at = cord_at(self, context);
    *power = (tension(&at) - at.params->stiffness * at.e * at.e) * at.xdot;
    return TAL_OK;
}

static const tal_force_ops cord_ops = {
    .size = sizeof cord_ops,
    .name = "cord",
    .apply = apply,
    .declare = declare,
    .realize_instance = realize_instance,
    .calc_potential_energy = calc_energy,
    .calc_dissipated_power = calc_power,
    .is_concurrent = true, // apply only reads the State
};

// --- do its functions agree with each other? ---

static tal_status test_cord(const tal_forces *forces, tal_state *state, tal_force_ix force,
                            tal_error *err)
{
    const double q[] = {1.0, -12.0, 2.0}, u[] = {0.3, -1.0, 0.5}; // taut, and moving
    tal_state_set_q(state, q, 3);
    tal_state_set_u(state, u, 3);
    tal_force_report report;
    const tal_status st = tal_force_test(forces, state, force, &report, err);
    if (st == TAL_OK) (void)printf("the functions agree: %s\n", report.worst < 1e-9 ? "yes" : "no");
    return st;
}

// --- the jump ---

static tal_status jump(const tal_system *system, const tal_matter *matter, const tal_forces *forces,
                       tal_state *state, const cord_params *params, tal_var_ix params_ix)
{
    const tal_body_ix jumper = {1};
    const double start[3] = {0.0, 0.0, 0.0};
    tal_integrator *integ = NULL;
    tal_integrator_def fine = tal_integrator_def_default();
    fine.accuracy = 1e-9;
    tal_state_set_t(state, 0.0);
    tal_state_set_q(state, start, 3);
    tal_state_set_u(state, start, 3);
    tal_body_set_u(matter, state, jumper, 1, 2.0); // up
    tal_state_set_z(state, start, 1);              // the account of dissipated energy
    tal_var_set(system, state, params_ix, params);
    tal_status st = tal_integrator_create(system, &fine, &integ, NULL);
    (void)printf("\n%8s %10s %9s %12s %14s\n", "t [s]", "y [m]", "v [m/s]", "energy [J]",
                 "dissipated [J]");
    for (int i = 0; i <= 4 && st == TAL_OK; ++i) {
        const double t = 2.0 * i;
        st = tal_integrator_step_to(integ, state, t);
        if (st != TAL_OK) break;
        (void)printf("%8.1f %10.3f %9.3f %12.2f %14.2f\n", t,
                     tal_body_X_GB(matter, state, jumper).p.y, tal_body_u(matter, state, jumper, 1),
                     tal_system_energy(system, state), tal_forces_dissipated_energy(forces, state));
    }
    if (st != TAL_OK && integ) (void)fprintf(stderr, "%s\n", tal_integrator_error(integ)->message);
    tal_integrator_destroy(integ);
    return st;
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_mobod_def def = tal_mobod_def_default();
    def.name = "jumper";
    def.mass.mass = MASS;
    const tal_body_ix jumper = tal_matter_add_translation(matter, TAL_GROUND, &def);
    tal_forces_add_gravity(forces, tal_v3(0.0, -GRAVITY, 0.0));
    cord rope = {.body = {TAL_GROUND, jumper}, .initial = {40.0, 10.0, 0.0}};
    const tal_force_ix force = tal_forces_add(forces, "rope", &cord_ops, &rope);
    tal_force_track_dissipation(forces, force);

    tal_state *state = NULL;
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = test_cord(forces, state, force, &err);
    if (st != TAL_OK) (void)fprintf(stderr, "%s\n", err.message);
    cord_params params = rope.initial;
    if (st == TAL_OK) st = jump(system, matter, forces, state, &params, rope.params);
    params.dissipation = 0.05;
    if (st == TAL_OK) st = jump(system, matter, forces, state, &params, rope.params);
    tal_state_destroy(state);
    tal_system_destroy(system);
    return st == TAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
