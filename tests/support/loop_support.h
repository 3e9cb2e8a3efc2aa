// Constraints and closed loops for tests: small tables of the tests' own, and mechanisms made of
// them.
#ifndef TALUS_LOOP_SUPPORT_H
#define TALUS_LOOP_SUPPORT_H

#include "talus_test.h"

#include <talus/matter.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_LOOP_U = 24,   ///< speeds of the mechanisms that are compared with dense matrices
    MAX_LOOP_ROWS = 24 ///< and their rows
};

// --- a ball: station params[0..2] of body 0 meets station params[3..5] of body 1 ---

static inline tal_vec3 station_of(const tal_constraint_arg *arg, int i)
{
    return tal_v3(arg->params[3 * i], arg->params[3 * i + 1], arg->params[3 * i + 2]);
}

static inline tal_vec3 arm_of(const tal_constraint_arg *arg, int i)
{
    return tal_m3_mul_v3(arg->X_AB[i].R, station_of(arg, i));
}

static inline tal_vec3 p_of(const tal_constraint_arg *arg, int i)
{
    return tal_v3_add(arg->X_AB[i].p, arm_of(arg, i));
}

static inline tal_vec3 v_of(const tal_constraint_arg *arg, int i)
{
    return tal_sv_shift_motion(arg->V[i], arm_of(arg, i)).v;
}

static inline tal_vec3 a_of(const tal_constraint_arg *arg, int i)
{
    return tal_sv_shift_acceleration(arg->a[i], arg->V[i].w, arm_of(arg, i)).v;
}

static inline void store(double out[], tal_vec3 v)
{
    out[0] = v.x, out[1] = v.y, out[2] = v.z;
}

static inline tal_status ball_p(const void *self, const tal_constraint_arg *arg, double perr[])
{
    (void)self;
    store(perr, tal_v3_sub(p_of(arg, 1), p_of(arg, 0)));
    return TAL_OK;
}

static inline tal_status ball_v(const void *self, const tal_constraint_arg *arg, double verr[])
{
    (void)self;
    store(verr, tal_v3_sub(v_of(arg, 1), v_of(arg, 0)));
    return TAL_OK;
}

static inline tal_status ball_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    (void)self;
    store(aerr, tal_v3_sub(a_of(arg, 1), a_of(arg, 0)));
    return TAL_OK;
}

static inline void push(const tal_constraint_arg *arg, int i, tal_vec3 f, tal_spatial_vec F[])
{
    F[i] = tal_sv_add(F[i], tal_sv(tal_v3_cross(arm_of(arg, i), f), f));
}

static inline tal_status ball_forces(const void *self, const tal_constraint_arg *arg,
                                     const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    const tal_vec3 force = tal_v3(lambda[0], lambda[1], lambda[2]);
    push(arg, 0, tal_v3_neg(force), F);
    push(arg, 1, force, F);
    return TAL_OK;
}

static const tal_constraint_ops test_ball = {.size = sizeof test_ball,
                                             .name = "test ball",
                                             .mp = 3,
                                             .num_bodies = 2,
                                             .num_params = 6,
                                             .calc_p = ball_p,
                                             .calc_v = ball_v,
                                             .calc_a = ball_a,
                                             .add_forces = ball_forces};

// --- a rod of length params[6]: perr = (r.r - L^2) / 2L between the stations ---

static inline tal_status rod_p(const void *self, const tal_constraint_arg *arg, double perr[])
{
    (void)self;
    const tal_vec3 r = tal_v3_sub(p_of(arg, 1), p_of(arg, 0));
    const double L = arg->params[6];
    perr[0] = (tal_v3_dot(r, r) - L * L) / (2.0 * L);
    return TAL_OK;
}

static inline tal_status rod_v(const void *self, const tal_constraint_arg *arg, double verr[])
{
    (void)self;
    const tal_vec3 r = tal_v3_sub(p_of(arg, 1), p_of(arg, 0));
    verr[0] = tal_v3_dot(r, tal_v3_sub(v_of(arg, 1), v_of(arg, 0))) / arg->params[6];
    return TAL_OK;
}

static inline tal_status rod_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    (void)self;
    const tal_vec3 r = tal_v3_sub(p_of(arg, 1), p_of(arg, 0));
    const tal_vec3 v = tal_v3_sub(v_of(arg, 1), v_of(arg, 0));
    const tal_vec3 a = tal_v3_sub(a_of(arg, 1), a_of(arg, 0));
    aerr[0] = (tal_v3_dot(r, a) + tal_v3_dot(v, v)) / arg->params[6];
    return TAL_OK;
}

static inline tal_status rod_forces(const void *self, const tal_constraint_arg *arg,
                                    const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    const tal_vec3 r = tal_v3_sub(p_of(arg, 1), p_of(arg, 0));
    const tal_vec3 force = tal_v3_scale(lambda[0] / arg->params[6], r);
    push(arg, 0, tal_v3_neg(force), F);
    push(arg, 1, force, F);
    return TAL_OK;
}

static const tal_constraint_ops test_rod = {.size = sizeof test_rod,
                                            .name = "test rod",
                                            .mp = 1,
                                            .num_bodies = 2,
                                            .num_params = 7,
                                            .calc_p = rod_p,
                                            .calc_v = rod_v,
                                            .calc_a = rod_a,
                                            .add_forces = rod_forces};

// --- gears: one velocity row, u0 - ratio u1 = 0, and one acceleration row, udot0 = params[1] ---

static inline tal_status gear_v(const void *self, const tal_constraint_arg *arg, double verr[])
{
    (void)self;
    verr[0] = arg->u[0] - arg->params[0] * arg->u[1];
    return TAL_OK;
}

static inline tal_status gear_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    (void)self;
    aerr[0] = arg->udot[0] - arg->params[0] * arg->udot[1];
    return TAL_OK;
}

static inline tal_status gear_forces(const void *self, const tal_constraint_arg *arg,
                                     const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)F;
    f[0] += lambda[0];
    f[1] -= arg->params[0] * lambda[0];
    return TAL_OK;
}

static const tal_constraint_ops test_gear = {.size = sizeof test_gear,
                                             .name = "test gear",
                                             .mv = 1,
                                             .num_mobilities = 2,
                                             .num_params = 1,
                                             .calc_v = gear_v,
                                             .calc_a = gear_a,
                                             .add_forces = gear_forces};

static inline tal_status push_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    (void)self;
    aerr[0] = arg->udot[0] - arg->params[0];
    return TAL_OK;
}

static inline tal_status push_forces(const void *self, const tal_constraint_arg *arg,
                                     const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)arg, (void)F;
    f[0] += lambda[0];
    return TAL_OK;
}

static const tal_constraint_ops test_acceleration = {.size = sizeof test_acceleration,
                                                     .name = "test acceleration",
                                                     .ma = 1,
                                                     .num_mobilities = 1,
                                                     .num_params = 1,
                                                     .calc_a = push_a,
                                                     .add_forces = push_forces};

// --- constant kinetic energy of a free point: nonlinear in u, (u.u - params[0]) / 2 = 0 ---

static inline tal_status energy_v(const void *self, const tal_constraint_arg *arg, double verr[])
{
    (void)self;
    verr[0] = (arg->u[0] * arg->u[0] + arg->u[1] * arg->u[1] - arg->params[0]) / 2.0;
    return TAL_OK;
}

static inline tal_status energy_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    (void)self;
    aerr[0] = arg->u[0] * arg->udot[0] + arg->u[1] * arg->udot[1];
    return TAL_OK;
}

static inline tal_status energy_forces(const void *self, const tal_constraint_arg *arg,
                                       const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)F;
    f[0] += lambda[0] * arg->u[0];
    f[1] += lambda[0] * arg->u[1];
    return TAL_OK;
}

static const tal_constraint_ops test_energy = {.size = sizeof test_energy,
                                               .name = "test energy",
                                               .mv = 1,
                                               .num_mobilities = 2,
                                               .num_params = 1,
                                               .forces_need_velocity = true,
                                               .calc_v = energy_v,
                                               .calc_a = energy_a,
                                               .add_forces = energy_forces};

// --- mechanisms ---

/// A System with gravity and, once finished, one State.
typedef struct loop {
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
    tal_vec3 gravity;
    double push[MAX_LOOP_U]; ///< forces along the first speeds
} loop;

static inline tal_status loop_gravity(const void *self, const tal_system *system, tal_state *state)
{
    (void)system;
    const loop *l = self;
    const tal_applied_forces to = tal_matter_upd_forces(l->matter, state);
    const tal_bodies_view poses = tal_matter_poses(l->matter, state);
    for (int b = 1; b < poses.num_bodies; ++b) {
        const tal_body_ix body = {b};
        tal_vec3 com;
        const double mass = tal_body_mass(l->matter, state, body, &com);
        tal_apply_station_force(&poses, b, com, tal_v3_scale(mass, l->gravity), to.F_GM);
    }
    for (int j = 0; j < MAX_LOOP_U && j < tal_matter_nu(l->matter); ++j) {
        to.f[j] += l->push[j];
    }
    return TAL_OK;
}

static const tal_subsystem_ops loop_gravity_ops = {
    .size = sizeof loop_gravity_ops, .name = "gravity", .realize_dynamics = loop_gravity};

/// Matter in a System that may hold other subsystems already.
static inline void loop_begin_in(loop *l, tal_system *system)
{
    l->system = system;
    l->matter = tal_matter_create(l->system);
    l->gravity = tal_v3(0.0, -9.81, 0.0);
    memset(l->push, 0, sizeof l->push);
    l->state = NULL;
    (void)tal_system_add_subsystem(l->system, NULL, &loop_gravity_ops, l);
}

static inline void loop_begin(loop *l)
{
    loop_begin_in(l, tal_system_create(NULL));
}

static inline void loop_finish(loop *l)
{
    tal_error err;
    ck_assert_msg(tal_system_realize_topology(l->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(l->system, &l->state, &err) == TAL_OK, "%s", err.message);
}

static inline void loop_end(loop *l)
{
    tal_state_destroy(l->state);
    tal_system_destroy(l->system);
}

static inline void loop_realize(const loop *l, tal_stage stage)
{
    const tal_status st = tal_system_realize(l->system, l->state, stage);
    ck_assert_msg(st == TAL_OK, "%s", tal_state_error(l->state)->message);
}

static inline tal_constraint_ix add_ball(loop *l, tal_body_ix a, tal_vec3 on_a, tal_body_ix b,
                                         tal_vec3 on_b)
{
    tal_constraint_def def = tal_constraint_def_default();
    def.bodies[0] = a, def.bodies[1] = b;
    const double params[] = {on_a.x, on_a.y, on_a.z, on_b.x, on_b.y, on_b.z};
    return tal_matter_add_constraint(l->matter, &def, &test_ball, NULL, params);
}

static inline tal_constraint_ix add_rod(loop *l, tal_body_ix a, tal_vec3 on_a, tal_body_ix b,
                                        tal_vec3 on_b, double length)
{
    tal_constraint_def def = tal_constraint_def_default();
    def.bodies[0] = a, def.bodies[1] = b;
    const double params[] = {on_a.x, on_a.y, on_a.z, on_b.x, on_b.y, on_b.z, length};
    return tal_matter_add_constraint(l->matter, &def, &test_rod, NULL, params);
}

static inline tal_constraint_ix add_gear(loop *l, tal_body_ix a, int i, tal_body_ix b, int j,
                                         double ratio)
{
    tal_constraint_def def = tal_constraint_def_default();
    def.mobilities[0].body = a, def.mobilities[0].i = i;
    def.mobilities[1].body = b, def.mobilities[1].i = j;
    return tal_matter_add_constraint(l->matter, &def, &test_gear, NULL, &ratio);
}

/// Memory for the dense ways of solving: as much as they ask for, and marks behind it that must
/// stay.
typedef struct dense_room {
    double *work;
    int *iwork;
    size_t num_work, num_iwork;
} dense_room;

enum {
    NUM_MARKS = 8,
    MARK = 12345
};

static inline dense_room dense_room_of(const loop *l)
{
    dense_room room = {.num_work = tal_matter_dense_work_size(l->matter, l->state),
                       .num_iwork = tal_matter_dense_iwork_size(l->matter, l->state)};
    room.work = malloc((room.num_work + NUM_MARKS) * sizeof *room.work);
    room.iwork = malloc((room.num_iwork + NUM_MARKS) * sizeof *room.iwork);
    ck_assert(room.work != NULL && room.iwork != NULL);
    for (int i = 0; i < NUM_MARKS; ++i) {
        room.work[room.num_work + (size_t)i] = MARK;
        room.iwork[room.num_iwork + (size_t)i] = MARK;
    }
    return room;
}

static inline void free_room(dense_room room)
{
    for (int i = 0; i < NUM_MARKS; ++i) {
        ck_assert(room.work[room.num_work + (size_t)i] == MARK);
        ck_assert(room.iwork[room.num_iwork + (size_t)i] == MARK);
    }
    free(room.work);
    free(room.iwork);
}

/// A uniform slender rod from Bo along x.
static inline tal_mass_props slender(double mass, double length)
{
    const tal_vec3 com = tal_v3(0.5 * length, 0.0, 0.0);
    const double I = mass * length * length / 3.0;
    const tal_mass_props props = {mass, com, {1e-4 * I, I, I, 0.0, 0.0, 0.0}};
    return props;
}

/// A slender rod of mass `rod` and 1 m on a pin, along x at zero, and a particle that balls hold at
/// its tip. Speeds: of the pin, then of the particle along x, y, z.
static inline void build_held_particle(loop *l, double rod, double particle, int balls,
                                       tal_solve_way way)
{
    loop_begin(l);
    ck_assert_int_eq(tal_matter_set_solve_way(l->matter, way), TAL_OK);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = slender(rod, 1.0);
    const tal_body_ix pendulum = tal_matter_add_pin(l->matter, TAL_GROUND, &def);
    def = tal_mobod_def_default();
    def.name = "point";
    def.mass.mass = particle;
    const tal_body_ix point = tal_matter_add_translation(l->matter, TAL_GROUND, &def);
    for (int i = 0; i < balls; ++i) {
        (void)add_ball(l, pendulum, tal_v3(1.0, 0.0, 0.0), point, TAL_VEC3_ZERO);
    }
    loop_finish(l);
    loop_realize(l, TAL_STAGE_MODEL);
}

/// The pendulum at an angle and a speed, and the particle with it.
static inline void pose_held_particle(const loop *l, double angle, double speed)
{
    const double q[] = {angle, cos(angle), sin(angle), 0.0};
    const double u[] = {speed, -sin(angle) * speed, cos(angle) * speed, 0.0};
    ck_assert_int_eq(tal_state_set_q(l->state, q, 4), TAL_OK);
    ck_assert_int_eq(tal_state_set_u(l->state, u, 4), TAL_OK);
}

/// N four-bars side by side (IFToMM benchmark A02): cranks 0..N on Ground at (i, 0), upright at
/// q = pi/2, and couplers 0..N-1 that a ball closes on the next crank. Bodies: cranks 1 ... N+1,
/// then couplers. All links 1 m and 1 kg, unless `coupler` says otherwise.
static inline void build_four_bars(loop *l, int N, double coupler)
{
    loop_begin(l);
    for (int i = 0; i <= N; ++i) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = slender(1.0, 1.0);
        def.X_PF.p = tal_v3((double)i, 0.0, 0.0);
        (void)tal_matter_add_pin(l->matter, TAL_GROUND, &def);
    }
    for (int i = 0; i < N; ++i) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = slender(1.0, coupler);
        def.X_PF.p = tal_v3(1.0, 0.0, 0.0);
        const tal_body_ix crank = {1 + i}, next = {2 + i};
        const tal_body_ix link = tal_matter_add_pin(l->matter, crank, &def);
        (void)add_ball(l, link, tal_v3(coupler, 0.0, 0.0), next, tal_v3(1.0, 0.0, 0.0));
    }
    loop_finish(l);
}

/// All cranks of build_four_bars() at one angle and speed, couplers level.
static inline void pose_four_bars(const loop *l, int N, double angle, double speed)
{
    loop_realize(l, TAL_STAGE_MODEL);
    for (int i = 0; i <= N; ++i) {
        tal_state_upd_q(l->state)[i] = angle;
        tal_state_upd_u(l->state)[i] = speed;
        if (i == N) continue;
        tal_state_upd_q(l->state)[N + 1 + i] = -angle;
        tal_state_upd_u(l->state)[N + 1 + i] = -speed;
    }
}

/// Every kind of relation between q and u on one closed path: a ball and a free body with
/// quaternions, a gimbal, pins, a slider, a reversed pin, a branch; closed by a ball, a rod and a
/// gear. 18 speeds, 5 rows in one block; then a point with a rod of its own:
/// another block. With `drive`, the slider has an acceleration row besides.
static inline void build_mixed_with(loop *l, test_rng *rng, bool drive)
{
    loop_begin(l);
    tal_mobod_def def = tal_mobod_def_default();
    tal_body_ix last = TAL_GROUND, bodies[7];
    for (int i = 0; i < 7; ++i) {
        def.mass = test_random_mass_props(rng);
        def.X_PF = test_random_xform(rng);
        def.X_BM = test_random_xform(rng);
        def.direction = i == 4 ? TAL_REVERSE : TAL_FORWARD;
        const tal_body_ix parent = i == 5 ? bodies[1] : last;
        bodies[i] = i == 0   ? tal_matter_add_ball(l->matter, parent, &def)
                    : i == 1 ? tal_matter_add_gimbal(l->matter, parent, &def)
                    : i == 2 ? tal_matter_add_pin(l->matter, parent, &def)
                    : i == 3 ? tal_matter_add_slider(l->matter, parent, &def)
                    : i == 4 ? tal_matter_add_pin(l->matter, parent, &def)
                    : i == 5 ? tal_matter_add_free(l->matter, parent, &def)
                             : tal_matter_add_translation(l->matter, TAL_GROUND, &def);
        last = bodies[i];
    }
    (void)add_ball(l, bodies[4], test_random_vec3(rng), bodies[5], test_random_vec3(rng));
    (void)add_rod(l, TAL_GROUND, test_random_vec3(rng), bodies[3], test_random_vec3(rng), 1.5);
    (void)add_gear(l, bodies[2], 0, bodies[4], 0, 0.7);
    (void)add_rod(l, TAL_GROUND, tal_v3(2.0, 0.0, 0.0), bodies[6], test_random_vec3(rng), 1.8);
    tal_constraint_def push = tal_constraint_def_default();
    push.mobilities[0].body = bodies[3];
    const double acceleration = 0.4;
    if (drive) {
        (void)tal_matter_add_constraint(l->matter, &push, &test_acceleration, NULL, &acceleration);
    }
    loop_finish(l);
}

static inline void build_mixed(loop *l, test_rng *rng)
{
    build_mixed_with(l, rng, false);
}

/// Random q and u. Quaternions are not of unit length.
static inline void randomize(const loop *l, test_rng *rng)
{
    loop_realize(l, TAL_STAGE_MODEL);
    for (int i = 0; i < tal_state_nq(l->state); ++i) {
        tal_state_upd_q(l->state)[i] = test_random_uniform(rng, -1.0, 1.0);
    }
    for (int i = 0; i < tal_state_nu(l->state); ++i) {
        tal_state_upd_u(l->state)[i] = test_random_uniform(rng, -1.0, 1.0);
    }
}

#endif // TALUS_LOOP_SUPPORT_H
