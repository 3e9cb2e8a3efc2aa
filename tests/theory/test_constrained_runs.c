// Runs with rolling, with multipliers to be right (promise P6), and with what is fast.
#include "loop_support.h"
#include "ref_constraints.h"
#include "ref_loops.h"

#include <talus/study.h>

#include <stdio.h>

static bool in_soak(void)
{
    return getenv("TALUS_SOAK") != NULL;
}

static tal_integrator *integrator_of(const loop *l, double accuracy)
{
    tal_integrator_def def = tal_integrator_def_default();
    tal_integrator *integ = NULL;
    tal_error err = {0};
    def.tableau = tal_rk_dormand_prince();
    def.accuracy = accuracy;
    ck_assert_msg(tal_integrator_create(l->system, &def, &integ, &err) == TAL_OK, "%s",
                  err.message);
    return integ;
}

static void go_to(tal_integrator *integ, const loop *l, double t)
{
    ck_assert_msg(tal_integrator_step_to(integ, l->state, t) == TAL_OK, "%s",
                  tal_integrator_error(integ)->message);
}

static double energy(const loop *l)
{
    return tal_matter_kinetic_energy(l->matter, l->state) -
           tal_matter_mass(l->matter, l->state) *
               tal_v3_dot(l->gravity, tal_matter_com(l->matter, l->state));
}

// --- what moves no mass and is held by constraints ---

// A wheel that is heavier on one side, on a pin of Ground, and a hub without mass that rolls on it:
// radii 0.3 and 0.2 m, so the hub turns by -3/2 of the wheel. A torque on the hub is -3/2 of it on
// the wheel.
static void build_wheel(loop *l, bool has_hub, int repeats, double torque)
{
    loop_begin(l);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 2.0;
    def.mass.com = tal_v3(0.1, 0.0, 0.0);
    def.mass.inertia = tal_s3_diag(0.1, 0.1, 0.15);
    const tal_body_ix wheel = tal_matter_add_pin(l->matter, TAL_GROUND, &def);
    if (has_hub) {
        ck_assert_int_eq(tal_matter_set_solve_way(l->matter, TAL_SOLVE_KKT), TAL_OK);
        def = tal_mobod_def_default();
        def.name = "hub";
        def.X_PF.p = tal_v3(0.5, 0.0, 0.0);
        const tal_body_ix hub = tal_matter_add_pin(l->matter, TAL_GROUND, &def);
        tal_constraint_def roll = tal_constraint_between(TAL_GROUND, wheel);
        roll.bodies[2] = hub;
        for (int i = 0; i < repeats; ++i) {
            (void)tal_constraint_add_no_slip_1d(l->matter, &roll, tal_v3(0.3, 0.0, 0.0),
                                                tal_v3(0.0, 1.0, 0.0));
        }
    }
    loop_finish(l);
    loop_realize(l, TAL_STAGE_MODEL);
    l->push[has_hub ? 1 : 0] = has_hub ? torque : -1.5 * torque;
    tal_state_upd_u(l->state)[0] = 3.0;
    if (has_hub) tal_state_upd_u(l->state)[1] = -4.5;
}

static tal_integrator *integrator_by(const loop *l, tal_method method, double accuracy)
{
    tal_integrator_def def = tal_integrator_def_default();
    tal_integrator *integ = NULL;
    tal_error err = {0};
    def.method = method;
    def.accuracy = accuracy;
    ck_assert_msg(tal_integrator_create(l->system, &def, &integ, &err) == TAL_OK, "%s",
                  err.message);
    return integ;
}

static const struct {
    const char *name;
    tal_method method;
} methods[] = {
    {"merson", TAL_METHOD_RUNGE_KUTTA}, {"bdf", TAL_METHOD_CVODE_BDF}, {"ida", TAL_METHOD_IDA}};

// A run loses its accuracy, about, and 10 times that is what is allowed anywhere; round-off adds up
// to 1e-8 or so. The hub turns with the wheel, 3/2 as far.
START_TEST(a_hub_without_mass_turns_as_the_wheel_that_holds_it)
{
    const double end = 3.0, torque = 0.4;
    loop alone;
    build_wheel(&alone, false, 0, torque);
    tal_integrator *exact = integrator_of(&alone, 1e-12);
    go_to(exact, &alone, end);
    tal_integrator_destroy(exact);
    const double q = tal_state_q(alone.state)[0], u = tal_state_u(alone.state)[0];
    loop_end(&alone);
    for (int k = 0; k < 12; ++k) {
        const double accuracy = (k / 3) % 2 == 0 ? 1e-3 : 1e-6, bound = 10.0 * accuracy + 1e-8;
        loop l;
        build_wheel(&l, true, 1 + k / 6, torque);
        tal_integrator *integ = integrator_by(&l, methods[k % 3].method, accuracy);
        go_to(integ, &l, end);
        const double wanted_q[] = {q, -1.5 * q}, wanted_u[] = {u, -1.5 * u};
        test_assert_near(tal_state_q(l.state), wanted_q, 2, 1.5 * bound, methods[k % 3].name);
        test_assert_near(tal_state_u(l.state), wanted_u, 2, 1.5 * bound, methods[k % 3].name);
        tal_integrator_destroy(integ);
        loop_end(&l);
    }
}

END_TEST

// Forces on a particle without mass are those on the tip that holds it: energy, the particle's
// potential with it, stays, and so does the place of the particle. Projection leaves a tenth of the
// accuracy there.
START_TEST(a_particle_without_mass_stays_where_balls_hold_it)
{
    for (int k = 0; k < 12; ++k) {
        const double accuracy = (k / 3) % 2 == 0 ? 1e-3 : 1e-6, bound = 10.0 * accuracy + 1e-8;
        loop l;
        build_held_particle(&l, 1.0, 0.0, 1 + k / 6, TAL_SOLVE_KKT);
        pose_held_particle(&l, 0.4, 1.3);
        l.push[1] = 2.0, l.push[2] = -3.0;
        loop_realize(&l, TAL_STAGE_VELOCITY);
        const double *at = tal_state_q(l.state);
        const double E = energy(&l) - 2.0 * at[1] + 3.0 * at[2];
        tal_integrator *integ = integrator_by(&l, methods[k % 3].method, accuracy);
        for (double t = 0.25; t <= 3.0; t += 0.25) {
            go_to(integ, &l, t);
            const double tip[] = {cos(at[0]), sin(at[0]), 0.0};
            test_assert_near(at + 1, tip, 3, accuracy, methods[k % 3].name);
            loop_realize(&l, TAL_STAGE_VELOCITY);
            ck_assert_double_eq_tol(energy(&l) - 2.0 * at[1] + 3.0 * at[2], E, 10.0 * bound);
        }
        tal_integrator_destroy(integ);
        loop_end(&l);
    }
}

END_TEST

// --- Chaplygin's sleigh ---

// Closed form; steps of accuracy 1e-10 add up to 1e-8 or so. Speeds that do not meet the knife edge
// are put right first: the projection keeps what lies along the edge, and the turn.
START_TEST(a_sleigh_runs_as_chaplygin_found)
{
    loop l;
    loop_begin(&l);
    l.gravity = tal_v3(0.0, 0.0, 0.0);
    const double m = 2.0, a = 0.25, I = 0.3;
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = m;
    def.mass.com = tal_v3(a, 0.0, 0.0);
    def.mass.inertia = tal_s3_diag(I, I + m * a * a, I + m * a * a);
    const tal_body_ix sleigh = tal_matter_add_planar(l.matter, TAL_GROUND, &def);
    tal_constraint_def edge = tal_constraint_between(sleigh, TAL_GROUND);
    edge.bodies[2] = sleigh;
    (void)tal_constraint_add_no_slip_1d(l.matter, &edge, TAL_VEC3_ZERO, tal_v3(0.0, 1.0, 0.0));
    loop_finish(&l);
    const double u[] = {2.0, 0.5, 0.07}; // 0.07 m/s across the edge
    ck_assert_int_eq(tal_state_set_u(l.state, u, 3), TAL_OK);
    tal_integrator *integ = integrator_of(&l, 1e-10);
    tal_project_options options = tal_project_options_default();
    options.tolerance = 1e-14;
    loop_realize(&l, TAL_STAGE_VELOCITY);
    ck_assert_int_eq(tal_system_project_u(l.system, l.state, &options, NULL, NULL), TAL_OK);
    const double met[] = {2.0, 0.5, 0.0};
    test_assert_near(tal_state_u(l.state), met, 3, 1e-14, "projected");
    loop_realize(&l, TAL_STAGE_VELOCITY);
    const double E = energy(&l);
    double slip = 0.0;
    for (size_t k = 0; k < sizeof ref_sleigh / sizeof ref_sleigh[0]; ++k) {
        const ref_sleigh_row *row = &ref_sleigh[k];
        go_to(integ, &l, row->t);
        const double wanted_q[] = {row->theta, row->x, row->y};
        const double wanted_u[] = {row->omega, row->v * cos(row->theta), row->v * sin(row->theta)};
        test_validate("Chaplygin's sleigh", "refs:chaplygin_sleigh", "q and u",
                      "Dormand-Prince, 1e-10",
                      fmax(test_difference(tal_state_q(l.state), wanted_q, 3),
                           test_difference(tal_state_u(l.state), wanted_u, 3)),
                      1e-7);
        slip = fmax(slip, fabs(tal_state_uerr(l.state)[0]));
        ck_assert_double_eq_tol(energy(&l), E, 1e-8 * E);
    }
    ck_assert_double_le(slip, 1e-10);
    tal_integrator_destroy(integ);
    loop_end(&l);
}

END_TEST

// --- a thin disk that rolls: a constraint of the test's own, with one position and two velocity
// rows ---
//
// The lowest point of the rim is at R d from the center, d = p / |p| with p = -z + (z . e) e, and e
// the axis. What touches does not move, v + w x R d = 0. Its z is the rate of the height of that
// point over the plane.

static const tal_vec3 UP = {0.0, 0.0, 1.0};

static tal_vec3 axis_of(const tal_constraint_arg *arg)
{
    return arg->X_AB[0].R.z;
}

static tal_vec3 downhill(tal_vec3 e)
{
    return tal_v3_sub(tal_v3_scale(tal_v3_dot(UP, e), e), UP);
}

static tal_vec3 to_rim(const tal_constraint_arg *arg)
{
    const tal_vec3 p = downhill(axis_of(arg));
    return tal_v3_scale(arg->params[0] / tal_v3_norm(p), p);
}

static tal_status disk_p(const void *self, const tal_constraint_arg *arg, double perr[])
{
    (void)self;
    perr[0] = tal_v3_add(arg->X_AB[0].p, to_rim(arg)).z;
    return TAL_OK;
}

// Position row z, then velocity rows x and y.
static void store_zxy(double out[], tal_vec3 v)
{
    out[0] = v.z, out[1] = v.x, out[2] = v.y;
}

static tal_status disk_v(const void *self, const tal_constraint_arg *arg, double verr[])
{
    (void)self;
    store_zxy(verr, tal_v3_add(arg->V[0].v, tal_v3_cross(arg->V[0].w, to_rim(arg))));
    return TAL_OK;
}

static tal_status disk_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    (void)self;
    const tal_vec3 e = axis_of(arg), w = arg->V[0].w, p = downhill(e);
    const tal_vec3 edot = tal_v3_cross(w, e);
    const tal_vec3 pdot =
        tal_v3_add(tal_v3_scale(tal_v3_dot(UP, edot), e), tal_v3_scale(tal_v3_dot(UP, e), edot));
    const double size = tal_v3_norm(p);
    const tal_vec3 d = tal_v3_scale(1.0 / size, p);
    const tal_vec3 ddot =
        tal_v3_scale(arg->params[0] / size, tal_v3_sub(pdot, tal_v3_scale(tal_v3_dot(d, pdot), d)));
    const tal_vec3 turning = tal_v3_cross(arg->a[0].w, to_rim(arg));
    store_zxy(aerr, tal_v3_add(arg->a[0].v, tal_v3_add(turning, tal_v3_cross(w, ddot))));
    return TAL_OK;
}

static tal_status disk_forces(const void *self, const tal_constraint_arg *arg,
                              const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    const tal_vec3 force = tal_v3(lambda[1], lambda[2], lambda[0]);
    F[0] = tal_sv_add(F[0], tal_sv(tal_v3_cross(to_rim(arg), force), force));
    return TAL_OK;
}

static const tal_constraint_ops disk_ops = {.size = sizeof disk_ops,
                                            .name = "rolling disk",
                                            .mp = 1,
                                            .mv = 2,
                                            .num_bodies =
                                                2, // the disk, and Ground, which is the plane
                                            .num_params = 1,
                                            .calc_p = disk_p,
                                            .calc_v = disk_v,
                                            .calc_a = disk_a,
                                            .add_forces = disk_forces};

static const double DISK_R = 0.5, DISK_M = 2.0, OMEGA = 2.0;

static void build_disk(loop *l)
{
    loop_begin(l);
    l->gravity = tal_v3(0.0, 0.0, -9.81);
    tal_mobod_def def = tal_mobod_def_default();
    const double I = DISK_M * DISK_R * DISK_R / 4.0;
    def.mass.mass = DISK_M;
    def.mass.inertia = tal_s3_diag(I, I, 2.0 * I);
    const tal_body_ix disk = tal_matter_add_free(l->matter, TAL_GROUND, &def);
    tal_constraint_def rolls = tal_constraint_between(disk, TAL_GROUND);
    (void)tal_matter_add_constraint(l->matter, &rolls, &disk_ops, NULL, &DISK_R);
    loop_finish(l);
    loop_realize(l, TAL_STAGE_MODEL);
    // refs:rolling_disk_steady: leaning by 70 degrees about y
    const double half = 35.0 * TAL_PI / 180.0;
    const double q[] = {cos(half), 0.0, sin(half), 0.0, 0.0, 0.0, DISK_R * sin(2.0 * half)};
    const double u[] = {-2.7724680787553229527, 0.0, 0.99090414387985712682, 0.0,
                        1.1331793088295369328,  0.0};
    ck_assert_int_eq(tal_state_set_q(l->state, q, 7), TAL_OK);
    ck_assert_int_eq(tal_state_set_u(l->state, u, 6), TAL_OK);
}

// The whole motion turns about the vertical at Omega: wdot = Omega z x w, vdot = Omega z x v.
START_TEST(a_leaning_disk_rolls_in_a_steady_circle)
{
    loop l;
    build_disk(&l);
    tal_constraint_report report;
    ck_assert_int_eq(tal_constraint_test(l.matter, l.state, (tal_constraint_ix){0}, &report, NULL),
                     TAL_OK);
    ck_assert_double_le(report.worst, 1e-9); // 1e-11 v^2, with speeds up to 5
    loop_realize(&l, TAL_STAGE_ACCELERATION);
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_le(fabs(tal_state_uerr(l.state)[i]), 1e-14);
    }
    const double *u = tal_state_u(l.state);
    const double udot[] = {-OMEGA * u[1], OMEGA * u[0], 0.0, -OMEGA * u[4], OMEGA * u[3], 0.0};
    test_validate("leaning disk that rolls in a circle", "refs:rolling_disk_steady",
                  "accelerations", "constraints, free body",
                  test_difference(tal_state_udot(l.state), udot, 6), 1e-12);
    // the plane carries the weight and gives the centripetal force, here along x
    const double lambda[] = {-DISK_M * 9.81, DISK_M * OMEGA * u[4], 0.0};
    test_assert_near(tal_state_multipliers(l.state), lambda, 3, 1e-12, "multipliers");

    const double E = energy(&l);
    tal_integrator *integ = integrator_of(&l, in_soak() ? 1e-12 : 1e-10); // errors grow with time
    const double end = in_soak() ? 60.0 : 3.0;
    const tal_body_ix disk = {1};
    for (double t = 1.0; t <= end; t += 1.0) {
        go_to(integ, &l, t);
        const tal_vec3 e = tal_body_X_GB(l.matter, l.state, disk).R.z;
        const double lean = 70.0 * TAL_PI / 180.0;
        const tal_vec3 wanted =
            tal_v3(sin(lean) * cos(OMEGA * t), sin(lean) * sin(OMEGA * t), cos(lean));
        test_assert_v3_near(e, wanted, 1e-7);
        ck_assert_double_eq_tol(energy(&l), E, 1e-8 * E);
        ck_assert_double_le(fabs(tal_state_qerr(l.state)[0]), 1e-10);
    }
    if (!in_soak()) { // the reference at t = 3, rounded
        const tal_vec3 e = tal_body_X_GB(l.matter, l.state, disk).R.z;
        static const double axis[] = {0.9022649330632394, -0.2625646817907489, 0.3420201433256687};
        test_validate("leaning disk that rolls in a circle", "refs:rolling_disk_steady",
                      "axis after 3 s", "Dormand-Prince, 1e-10", test_difference(&e.x, axis, 3),
                      1e-7);
    }
    tal_integrator_destroy(integ);
    loop_end(&l);
}

END_TEST

// --- multipliers ---

// refs:pendulum_index3_dae: a point on a rod. The multiplier is the tension. P6 asks for 1e-9
// of the largest, 3; a step accuracy of 1e-12 leaves 1e-10 after ten seconds, ten times that after
// a hundred.
START_TEST(the_rod_of_a_pendulum_has_the_right_tension_all_along)
{
    loop l;
    loop_begin(&l);
    l.gravity = tal_v3(0.0, -1.0, 0.0);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    const tal_body_ix point = tal_matter_add_translation(l.matter, TAL_GROUND, &def);
    const tal_constraint_def tie = tal_constraint_between(TAL_GROUND, point);
    (void)tal_constraint_add_rod(l.matter, &tie, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
    loop_finish(&l);
    const double q[] = {1.0, 0.0, 0.0};
    ck_assert_int_eq(tal_state_set_q(l.state, q, 3), TAL_OK);
    tal_integrator *integ = integrator_of(&l, 1e-12);
    double worst = 0.0;
    for (size_t k = 0; k < sizeof ref_index3 / sizeof ref_index3[0]; ++k) {
        const ref_index3_row *row = &ref_index3[k];
        if (row->t > 20.0 && !in_soak()) break;
        go_to(integ, &l, row->t);
        const double wanted[] = {row->x, row->y, 0.0};
        if (row->t <= 20.0) {
            test_validate("pendulum of index 3, 20 s", "refs:pendulum_index3_dae", "x and y",
                          "Dormand-Prince, 1e-12", test_difference(tal_state_q(l.state), wanted, 3),
                          1e-9);
        }
        test_assert_near(tal_state_q(l.state), wanted, 3, 1e-9, "x and y");
        const double off = fabs(tal_state_multipliers(l.state)[0] - row->lambda) / 3.0;
        if (row->t <= 20.0) worst = fmax(worst, off);
        if (in_soak()) printf("index 3, t = %g: multiplier off by %.1e\n", row->t, off);
    }
    test_validate("pendulum of index 3, 20 s", "refs:pendulum_index3_dae",
                  "tension, relative to the largest", "Dormand-Prince, 1e-12", worst, 1e-9);
    tal_integrator_destroy(integ);
    loop_end(&l);
}

END_TEST

// The car axis (IVP test set): two point masses, springs to wheels, the right one on a bumpy road;
// a rod between the masses, and the left one stays across the line of the wheels: xb xl + yb yl =
// 0.

static const double AXIS_R = 0.1, AXIS_W = 10.0, AXIS_K = 5e-4;

/// The right wheel, and its rates.
typedef struct wheel {
    double x, y, xd, yd, xdd, ydd;
} wheel;

static wheel wheel_at(double t)
{
    wheel b = {.y = AXIS_R * sin(AXIS_W * t)};
    b.yd = AXIS_R * AXIS_W * cos(AXIS_W * t);
    b.ydd = -AXIS_W * AXIS_W * b.y;
    b.x = sqrt(1.0 - b.y * b.y);
    b.xd = -b.y * b.yd / b.x;
    b.xdd = -(b.yd * b.yd + b.y * b.ydd + b.xd * b.xd) / b.x;
    return b;
}

static tal_status across_p(const void *self, const tal_constraint_arg *arg, double perr[])
{
    (void)self;
    const wheel b = wheel_at(arg->t);
    perr[0] = b.x * arg->q[0] + b.y * arg->q[1];
    return TAL_OK;
}

static tal_status across_v(const void *self, const tal_constraint_arg *arg, double verr[])
{
    (void)self;
    const wheel b = wheel_at(arg->t);
    verr[0] = b.x * arg->u[0] + b.y * arg->u[1] + b.xd * arg->q[0] + b.yd * arg->q[1];
    return TAL_OK;
}

static tal_status across_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    (void)self;
    const wheel b = wheel_at(arg->t);
    aerr[0] = b.x * arg->udot[0] + b.y * arg->udot[1] +
              2.0 * (b.xd * arg->u[0] + b.yd * arg->u[1]) + b.xdd * arg->q[0] + b.ydd * arg->q[1];
    return TAL_OK;
}

static tal_status across_forces(const void *self, const tal_constraint_arg *arg,
                                const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)F;
    const wheel b = wheel_at(arg->t);
    f[0] += lambda[0] * b.x;
    f[1] += lambda[0] * b.y;
    return TAL_OK;
}

static const tal_constraint_ops across_ops = {.size = sizeof across_ops,
                                              .name = "across",
                                              .mp = 1,
                                              .num_mobilities = 2,
                                              .calc_p = across_p,
                                              .calc_v = across_v,
                                              .calc_a = across_a,
                                              .add_forces = across_forces};

static void pull(const double p[2], double x, double y, double f[2])
{
    const double dx = p[0] - x, dy = p[1] - y, length = hypot(dx, dy);
    f[0] += (0.5 - length) / length * dx;
    f[1] += (0.5 - length) / length * dy;
}

static tal_status axis_springs(const void *self, const tal_system *system, tal_state *state)
{
    (void)system;
    const loop *l = self;
    const wheel b = wheel_at(tal_state_t(state));
    const tal_applied_forces to = tal_matter_upd_forces(l->matter, state);
    const double *q = tal_state_q(state);
    pull(q, 0.0, 0.0, to.f);
    pull(q + 3, b.x, b.y, to.f + 3);
    return TAL_OK;
}

static const tal_subsystem_ops axis_ops = {
    .size = sizeof axis_ops, .name = "springs", .realize_dynamics = axis_springs};

START_TEST(a_car_axis_follows_its_reference_with_its_multipliers)
{
    loop l;
    loop_begin(&l);
    l.gravity = tal_v3(0.0, -1.0, 0.0);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(AXIS_K, TAL_VEC3_ZERO);
    const tal_body_ix left = tal_matter_add_translation(l.matter, TAL_GROUND, &def);
    const tal_body_ix right = tal_matter_add_translation(l.matter, TAL_GROUND, &def);
    tal_constraint_def across = tal_constraint_def_default();
    across.mobilities[0].body = across.mobilities[1].body = left;
    across.mobilities[1].i = 1;
    (void)tal_matter_add_constraint(l.matter, &across, &across_ops, NULL, NULL);
    (void)add_rod(&l, left, TAL_VEC3_ZERO, right, TAL_VEC3_ZERO, 1.0);
    (void)tal_system_add_subsystem(l.system, NULL, &axis_ops, &l);
    loop_finish(&l);
    const double q[] = {0.0, 0.5, 0.0, 1.0, 0.5, 0.0}, u[] = {-0.5, 0.0, 0.0, -0.5, 0.0, 0.0};
    ck_assert_int_eq(tal_state_set_q(l.state, q, 6), TAL_OK);
    ck_assert_int_eq(tal_state_set_u(l.state, u, 6), TAL_OK);
    tal_integrator *integ = integrator_of(&l, 1e-12);
    double worst = 0.0, size = 0.0, state_error = 0.0;
    for (size_t k = 0; k < sizeof ref_caraxis / sizeof ref_caraxis[0]; ++k) {
        const ref_caraxis_row *row = &ref_caraxis[k];
        go_to(integ, &l, row->t);
        for (int i = 0; i < 4; ++i) {
            const int j = i + i / 2; // x and y of both
            state_error = fmax(state_error, fabs(tal_state_q(l.state)[j] - row->p[i]));
            state_error = fmax(state_error, fabs(tal_state_u(l.state)[j] - row->v[i]));
        }
        // the test set has lam2 with 2 (pl - pr), the rod has lambda with (pr - pl) / L
        const double wanted[] = {-row->lambda[0], -2.0 * row->lambda[1]};
        for (int i = 0; i < 2; ++i) {
            size = fmax(size, fabs(wanted[i]));
            worst = fmax(worst, fabs(tal_state_multipliers(l.state)[i] - wanted[i]));
        }
    }
    ck_assert_msg(state_error <= 1e-9, "states: %.1e", state_error); // of size 1, in 3 s
    ck_assert_msg(worst <= 1e-9 * size, "multipliers: %.1e of %.1e", worst, size);
    tal_integrator_destroy(integ);
    loop_end(&l);
}

END_TEST

// --- what is fast, in a run ---

// x is dynamic, x = cos t. One follower is dragged through oil by a spring on x, c y' = k (x - y);
// another sits in a spring on x without friction and is where x is.
static const double PULL = 3.0, OIL = 2.0;

static tal_status follow(const void *self, const tal_system *system, tal_state *state)
{
    (void)system;
    const loop *l = self;
    const tal_applied_forces to = tal_matter_upd_forces(l->matter, state);
    const double *q = tal_state_q(state), *u = tal_state_u(state);
    to.f[0] -= q[0];
    to.f[1] += PULL * (q[0] - q[1]) - OIL * u[1];
    to.f[2] += PULL * (q[0] - q[2]);
    return TAL_OK;
}

static const tal_subsystem_ops follow_ops = {
    .size = sizeof follow_ops, .name = "followers", .realize_dynamics = follow};

START_TEST(followers_that_are_fast_follow)
{
    loop l;
    loop_begin(&l);
    l.gravity = tal_v3(0.0, 0.0, 0.0);
    (void)tal_system_add_subsystem(l.system, NULL, &follow_ops, &l);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(1.0, 0.1);
    tal_body_ix body[3];
    for (int i = 0; i < 3; ++i) {
        body[i] = tal_matter_add_slider(l.matter, TAL_GROUND, &def);
    }
    (void)tal_matter_make_fast(l.matter, body[1], TAL_LEVEL_VELOCITY);
    (void)tal_matter_make_fast(l.matter, body[2], TAL_LEVEL_POSITION);
    loop_finish(&l);
    const double q[] = {1.0, 0.2, -0.4};
    ck_assert_int_eq(tal_state_set_q(l.state, q, 3), TAL_OK);
    tal_integrator *integ = integrator_of(&l, 1e-10);
    const double a = PULL / OIL, C = 0.2 - a * a / (1.0 + a * a);
    for (int k = 1; k <= 10; ++k) {
        const double t = 0.7 * k;
        go_to(integ, &l, t);
        const double y = a * (a * cos(t) + sin(t)) / (1.0 + a * a) + C * exp(-a * t);
        const double wanted[] = {cos(t), y, cos(t)};
        test_assert_near(tal_state_q(l.state), wanted, 3, 5e-9, "q");
        ck_assert_double_eq_tol(tal_state_u(l.state)[1], a * (cos(t) - y), 5e-9);
        ck_assert(tal_state_u(l.state)[2] == 0.0);
    }
    tal_integrator_destroy(integ);
    loop_end(&l);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("theory/constrained_runs");
    TCase *tc = tcase_create("rolling");
    tcase_set_timeout(tc, in_soak() ? 3600.0 : 60.0);
    tcase_add_test(tc, a_hub_without_mass_turns_as_the_wheel_that_holds_it);
    tcase_add_test(tc, a_particle_without_mass_stays_where_balls_hold_it);
    tcase_add_test(tc, a_sleigh_runs_as_chaplygin_found);
    tcase_add_test(tc, a_leaning_disk_rolls_in_a_steady_circle);
    suite_add_tcase(suite, tc);
    tc = tcase_create("P6");
    tcase_set_timeout(tc, in_soak() ? 3600.0 : 60.0);
    tcase_add_test(tc, the_rod_of_a_pendulum_has_the_right_tension_all_along);
    tcase_add_test(tc, a_car_axis_follows_its_reference_with_its_multipliers);
    suite_add_tcase(suite, tc);
    tc = tcase_create("fast");
    tcase_add_test(tc, followers_that_are_fast_follow);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
