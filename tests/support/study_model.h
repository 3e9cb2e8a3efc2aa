// Models with known motions, for tests of the integrators.
#ifndef TALUS_STUDY_MODEL_H
#define TALUS_STUDY_MODEL_H

#include "talus_test.h"

#include <talus/study.h>

#include <math.h>

/// A System with matter and forces, one State, and the integrator under test.
typedef struct study {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    tal_integrator *integ;
} study;

static inline study study_begin(tal_vec3 g)
{
    study s = {.system = tal_system_create(NULL)};
    s.matter = tal_matter_create(s.system);
    s.forces = tal_forces_create(s.system, s.matter);
    (void)tal_forces_add_gravity(s.forces, g);
    return s;
}

/// Realizes the topology, makes the State and, unless `def` is NULL, the integrator.
static inline void study_finish(study *s, const tal_integrator_def *def)
{
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(s->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(s->system, &s->state, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_system_realize(s->system, s->state, TAL_STAGE_MODEL), TAL_OK);
    if (def == NULL) return;
    ck_assert_msg(tal_integrator_create(s->system, def, &s->integ, &err) == TAL_OK, "%s",
                  err.message);
}

static inline void study_end(study *s)
{
    tal_integrator_destroy(s->integ);
    tal_state_destroy(s->state);
    tal_system_destroy(s->system);
}

static inline void study_step_to(study *s, double t)
{
    const tal_status st = tal_integrator_step_to(s->integ, s->state, t);
    ck_assert_msg(st == TAL_OK, "%s", tal_integrator_error(s->integ)->message);
}

static inline tal_integrator_def study_def(tal_method method, double accuracy)
{
    tal_integrator_def def = tal_integrator_def_default();
    def.method = method;
    def.accuracy = accuracy;
    return def;
}

// --- a pendulum of 1 m and 1 kg under 9.81 m/s^2, released at 90 degrees ---

/// T = 4 sqrt(L/g) K(1/2) [s]: refs:pendulum_period_table.
#define STUDY_PENDULUM_PERIOD 2.3678419475762374493

/// On a pin.
static inline study study_pin_pendulum(const tal_integrator_def *def)
{
    study s = study_begin(tal_v3(0.0, -9.81, 0.0));
    tal_mobod_def bob = tal_mobod_def_default();
    bob.mass = tal_mass_props_point(1.0, tal_v3(0.0, -1.0, 0.0));
    (void)tal_matter_add_pin(s.matter, TAL_GROUND, &bob);
    study_finish(&s, def);
    (void)tal_body_set_q(s.matter, s.state, (tal_body_ix){1}, 0, TAL_PI / 2.0);
    return s;
}

/// As a particle at the end of a rod.
static inline study study_rod_pendulum(const tal_integrator_def *def)
{
    study s = study_begin(tal_v3(0.0, -9.81, 0.0));
    tal_mobod_def bob = tal_mobod_def_default();
    bob.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_translation(s.matter, TAL_GROUND, &bob);
    const tal_constraint_def rod = tal_constraint_between(TAL_GROUND, body);
    (void)tal_constraint_add_rod(s.matter, &rod, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
    study_finish(&s, def);
    (void)tal_body_set_q(s.matter, s.state, body, 0, 1.0);
    return s;
}

/// Distance of the bob from where it was released, and its speed: zero after a whole period.
static inline double study_pendulum_error(const study *s)
{
    const double *q = tal_state_q(s->state), *u = tal_state_u(s->state);
    if (tal_state_nq(s->state) == 1) return hypot(q[0] - TAL_PI / 2.0, u[0]);
    return sqrt((q[0] - 1.0) * (q[0] - 1.0) + q[1] * q[1] + u[0] * u[0] + u[1] * u[1]);
}

// --- Andrews' squeezer, refs:a03_andrews_squeezer ---

/// A planar link on a pin: mass, center of mass, moment of inertia about it.
static inline tal_body_ix study_add_link(study *s, tal_body_ix parent, tal_vec3 p_PF, double mass,
                                         tal_vec3 com, double inertia)
{
    const tal_sym3 about_com = {inertia, inertia, inertia, 0.0, 0.0, 0.0};
    tal_mobod_def link = tal_mobod_def_default();
    link.mass.mass = mass;
    link.mass.com = com;
    link.mass.inertia = tal_s3_add(about_com, tal_s3_scale(mass, tal_s3_cross_square(com)));
    link.X_PF.p = p_PF;
    return tal_matter_add_pin(s->matter, parent, &link);
}

static inline void study_tie(study *s, tal_body_ix body1, tal_vec3 p1, tal_body_ix body2,
                             tal_vec3 p2)
{
    const tal_constraint_def tie = tal_constraint_between(body1, body2);
    (void)tal_constraint_add_ball(s->matter, &tie, p1, p2);
}

/// Seven links, three loops; q[0] is beta. Each ball's third row has no effect in the plane.
static inline study study_squeezer(const tal_integrator_def *def)
{
    study s = study_begin(TAL_VEC3_ZERO);
    const tal_vec3 A = tal_v3(-0.06934, -0.00227, 0.0), B = tal_v3(-0.03635, 0.03273, 0.0);
    const tal_body_ix K1 =
        study_add_link(&s, TAL_GROUND, TAL_VEC3_ZERO, 0.04325, tal_v3(0.00092, 0.0, 0.0), 2.194e-6);
    const tal_body_ix K2 = study_add_link(&s, K1, tal_v3(0.007, 0.0, 0.0), 0.00365,
                                          tal_v3(-0.0115, 0.0, 0.0), 4.41e-7);
    const tal_body_ix K3 =
        study_add_link(&s, TAL_GROUND, B, 0.02373, tal_v3(0.01043, -0.01874, 0.0), 5.255e-6);
    const tal_body_ix K5 =
        study_add_link(&s, TAL_GROUND, A, 0.0705, tal_v3(0.02308, 0.00916, 0.0), 1.169e-5);
    const tal_body_ix K4 = study_add_link(&s, K5, tal_v3(0.04, 0.0, 0.0), 0.00706,
                                          tal_v3(0.0, 0.01421 - 0.02, 0.0), 5.667e-7);
    const tal_body_ix K7 =
        study_add_link(&s, TAL_GROUND, A, 0.05498, tal_v3(-0.00449, -0.01228, 0.0), 1.912e-5);
    const tal_body_ix K6 = study_add_link(&s, K7, tal_v3(0.0, -0.04, 0.0), 0.00706,
                                          tal_v3(0.02 - 0.01421, 0.0, 0.0), 5.667e-7);
    const tal_vec3 E = tal_v3(-0.028, 0.0, 0.0);
    study_tie(&s, K3, tal_v3(0.0, -0.035, 0.0), K2, E);
    study_tie(&s, K4, tal_v3(0.0, -0.02, 0.0), K2, E);
    study_tie(&s, K6, tal_v3(0.02, 0.0, 0.0), K2, E);
    const tal_two_points spring = {K3, tal_v3(0.02, -0.018, 0.0), TAL_GROUND,
                                   tal_v3(0.014, 0.072, 0.0)};
    (void)tal_forces_add_two_point_spring(s.forces, "spring", &spring, 4530.0, 0.07785);
    (void)tal_forces_add_mobility_force(s.forces, "drive", (tal_mobility){K1, 0}, 0.033);
    study_finish(&s, def);
    // beta, theta, gamma, delta, phi, epsilon, omega
    const double q[] = {-0.061713890014276449636, 0.0,
                        0.45527981916307038026,   0.48736497954384255023,
                        0.22266839016588588467,   1.2305474445498211925,
                        -0.22266839016588588467};
    ck_assert_int_eq(tal_state_set_q(s.state, q, 7), TAL_OK);
    return s;
}

// --- a closed loop of three links under gravity ---

/// A four-bar with links of 1, 2 and 2 m between pins 2 m apart, let go with the crank at 60
/// degrees: the loop is closed by projection.
static inline study study_four_bar(const tal_integrator_def *def)
{
    study s = study_begin(tal_v3(0.0, -9.81, 0.0));
    const tal_body_ix crank =
        study_add_link(&s, TAL_GROUND, TAL_VEC3_ZERO, 1.0, tal_v3(0.5, 0.0, 0.0), 1.0 / 12.0);
    const tal_body_ix coupler =
        study_add_link(&s, crank, tal_v3(1.0, 0.0, 0.0), 2.0, tal_v3(1.0, 0.0, 0.0), 2.0 / 3.0);
    const tal_body_ix rocker = study_add_link(&s, TAL_GROUND, tal_v3(2.0, 0.0, 0.0), 2.0,
                                              tal_v3(1.0, 0.0, 0.0), 2.0 / 3.0);
    study_tie(&s, coupler, tal_v3(2.0, 0.0, 0.0), rocker, tal_v3(2.0, 0.0, 0.0));
    study_finish(&s, def);
    (void)tal_body_set_q(s.matter, s.state, crank, 0, TAL_PI / 3.0);
    (void)tal_body_set_q(s.matter, s.state, coupler, 0, -0.1);
    (void)tal_body_set_q(s.matter, s.state, rocker, 0, 1.5);
    return s;
}

// --- the car axis, refs:ivp_caraxis ---

/// The line through both wheels is turned by asin(0.1 sin 10t).
static inline tal_status study_axis_turn(const void *self, const tal_motion_arg *arg, int order,
                                         double out[])
{
    (void)self;
    const double s = 0.1 * sin(10.0 * arg->t), s1 = cos(10.0 * arg->t), s2 = -100.0 * s;
    const double c = sqrt(1.0 - s * s);
    const double angle[] = {asin(s), s1 / c, (s2 + s * s1 * s1 / (c * c)) / c};
    out[0] = angle[order];
    return TAL_OK;
}

static const tal_motion_ops study_axis_ops = {
    .size = sizeof study_axis_ops, .name = "axis", .calc = study_axis_turn};

/// Wheels at the origin and 1 m along the line; a particle hangs on a spring from each. The left
/// one stays across the line from its wheel, and the two keep their distance.
static inline study study_car_axis(const tal_integrator_def *def)
{
    study s = study_begin(tal_v3(0.0, -1.0, 0.0));
    tal_mobod_def part = tal_mobod_def_default();
    part.mass = tal_mass_props_sphere(1.0, 1.0);
    const tal_body_ix line = tal_matter_add_pin(s.matter, TAL_GROUND, &part);
    part.mass = tal_mass_props_point(10.0 * 1e-4 / 2.0, TAL_VEC3_ZERO);
    const tal_body_ix left = tal_matter_add_translation(s.matter, TAL_GROUND, &part);
    const tal_body_ix right = tal_matter_add_translation(s.matter, TAL_GROUND, &part);
    tal_motion_def motion = tal_motion_def_default();
    motion.body = line;
    (void)tal_matter_add_motion(s.matter, &motion, &study_axis_ops, NULL, NULL);
    const tal_constraint_def across = tal_constraint_between(line, left);
    const tal_constraint_def apart = tal_constraint_between(left, right);
    (void)tal_constraint_add_point_in_plane(s.matter, &across, tal_v3(1.0, 0.0, 0.0), 0.0,
                                            TAL_VEC3_ZERO);
    (void)tal_constraint_add_rod(s.matter, &apart, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
    const tal_two_points first = {TAL_GROUND, TAL_VEC3_ZERO, left, TAL_VEC3_ZERO};
    const tal_two_points second = {line, tal_v3(1.0, 0.0, 0.0), right, TAL_VEC3_ZERO};
    (void)tal_forces_add_two_point_spring(s.forces, "left", &first, 1.0, 0.5);
    (void)tal_forces_add_two_point_spring(s.forces, "right", &second, 1.0, 0.5);
    study_finish(&s, def);
    const double q[] = {0.0, 0.0, 0.5, 0.0, 1.0, 0.5, 0.0};
    const double u[] = {1.0, -0.5, 0.0, 0.0, -0.5, 0.0, 0.0};
    ck_assert_int_eq(tal_state_set_q(s.state, q, 7), TAL_OK);
    ck_assert_int_eq(tal_state_set_u(s.state, u, 7), TAL_OK);
    return s;
}

/// Largest deviation at t = 3 s of positions and velocities from the reference, which is good to
/// 5e-12.
static inline double study_car_axis_error(const study *s)
{
    static const double p[] = {0.049345578427524094, 0.4969894602300081, 0.0,
                               1.0417425248854262,   0.3739110272653658, 0.0};
    static const double v[] = {-0.07705836840359208, 0.007446866592068417, 0.0,
                               0.017556815753541736, 0.7703410437796011,   0.0};
    double worst = 0.0;
    for (int i = 0; i < 6; ++i) {
        worst = fmax(worst, fabs(tal_state_q(s->state)[i + 1] - p[i]));
        worst = fmax(worst, fabs(tal_state_u(s->state)[i + 1] - v[i]));
    }
    return worst;
}

// --- two points on rods of 1 m, refs:double_pendulum_point ---

static inline study study_double_pendulum(const tal_integrator_def *def)
{
    study s = study_begin(tal_v3(0.0, -9.81, 0.0));
    const tal_vec3 end = tal_v3(0.0, -1.0, 0.0);
    const tal_body_ix upper = study_add_link(&s, TAL_GROUND, TAL_VEC3_ZERO, 1.0, end, 0.0);
    (void)study_add_link(&s, upper, end, 1.0, end, 0.0);
    study_finish(&s, def);
    (void)tal_body_set_q(s.matter, s.state, upper, 0, TAL_PI / 2.0);
    return s;
}

/// Largest deviation of angles and rates from the reference at t = 5 s.
static inline double study_double_pendulum_error(const study *s)
{
    const double *q = tal_state_q(s->state), *u = tal_state_u(s->state);
    const double angle =
        fmax(fabs(q[0] + 0.62718670506653070934), fabs(q[0] + q[1] + 1.3013155502098115215));
    const double rate =
        fmax(fabs(u[0] - 2.1254086738429106105), fabs(u[0] + u[1] - 3.8818887272656075739));
    return fmax(angle, rate);
}

/// The largest of all constraint errors of position and velocity.
static inline double study_constraint_error(const study *s)
{
    double worst = 0.0;
    for (int i = 0; i < tal_state_pool_size(s->state, TAL_POOL_QERR); ++i) {
        worst = fmax(worst, fabs(tal_state_qerr(s->state)[i]));
    }
    for (int i = 0; i < tal_state_pool_size(s->state, TAL_POOL_UERR); ++i) {
        worst = fmax(worst, fabs(tal_state_uerr(s->state)[i]));
    }
    return worst;
}

// --- equations in z, one subsystem: zdot = f(t, z) ---

typedef struct study_odes {
    int n;
    double z0[4];
    void (*rates)(double t, const double z[], double zdot[]);
    int evaluations; // counted by the test's only thread
    tal_group_ix group;
} study_odes;

static inline tal_status study_odes_declare(void *self, tal_system *system, tal_subsystem_ix me)
{
    study_odes *it = self;
    tal_group_def def = tal_group_def_default();
    def.name = "x";
    def.capacity = it->n;
    def.initial = it->z0;
    it->group = tal_system_add_group(system, me, &def);
    return TAL_OK;
}

static inline tal_status study_odes_rates(const void *self, const tal_system *system,
                                          tal_state *state)
{
    const study_odes *it = self;
    ++((study_odes *)self)->evaluations; // NOLINT: a counter for the test
    it->rates(tal_state_t(state), tal_state_z(state) + tal_group_start(system, state, it->group),
              tal_group_upd_dot(system, state, it->group));
    return TAL_OK;
}

static const tal_subsystem_ops study_odes_ops = {
    .size = sizeof study_odes_ops,
    .name = "odes",
    .realize_topology = study_odes_declare,
    .realize_acceleration = study_odes_rates,
};

/// A System of these equations alone.
static inline study study_of_odes(study_odes *it, const tal_integrator_def *def)
{
    study s = {.system = tal_system_create(NULL)};
    (void)tal_system_add_subsystem(s.system, "odes", &study_odes_ops, it);
    study_finish(&s, def);
    return s;
}

// --- coordinates and speeds of a subsystem that is not matter: q'' = -q ---

typedef struct study_spring {
    int num_errors; // velocity constraint errors it declares, always zero
    tal_group_ix q, u, err;
} study_spring;

static inline tal_status study_spring_declare(void *self, tal_system *system, tal_subsystem_ix me)
{
    static const double one = 1.0;
    study_spring *it = self;
    tal_group_def def = tal_group_def_default();
    def.name = "x";
    def.capacity = 1;
    def.pool = TAL_POOL_U;
    it->u = tal_system_add_group(system, me, &def);
    def.pool = TAL_POOL_Q;
    def.initial = &one;
    it->q = tal_system_add_group(system, me, &def);
    if (it->num_errors == 0) return TAL_OK;
    def.name = "balance";
    def.pool = TAL_POOL_UERR;
    def.initial = NULL;
    it->err = tal_system_add_group(system, me, &def);
    return TAL_OK;
}

static inline tal_status study_spring_velocity(const void *self, const tal_system *system,
                                               tal_state *state)
{
    const study_spring *it = self;
    const double u = tal_state_u(state)[tal_group_start(system, state, it->u)];
    tal_group_upd_dot(system, state, it->q)[0] = u;
    if (it->num_errors > 0) tal_group_upd_errors(system, state, it->err)[0] = 0.0;
    return TAL_OK;
}

static inline tal_status study_spring_acceleration(const void *self, const tal_system *system,
                                                   tal_state *state)
{
    const study_spring *it = self;
    const double q = tal_state_q(state)[tal_group_start(system, state, it->q)];
    tal_group_upd_dot(system, state, it->u)[0] = -q;
    tal_group_upd_qdotdot(system, state, it->q)[0] = -q;
    return TAL_OK;
}

static const tal_subsystem_ops study_spring_ops = {
    .size = sizeof study_spring_ops,
    .name = "spring",
    .realize_topology = study_spring_declare,
    .realize_velocity = study_spring_velocity,
    .realize_acceleration = study_spring_acceleration,
};

/// One before matter with a pendulum and one after, so that matter's slots begin and end in
/// between: q = cos t and u = -sin t of the subsystems after a period, and the pendulum back where
/// it was.
static inline void study_check_mixed(const tal_integrator_def *def)
{
    study_spring before = {.num_errors = 0}, after = {.num_errors = 0};
    study s = {.system = tal_system_create(NULL)};
    (void)tal_system_add_subsystem(s.system, "before", &study_spring_ops, &before);
    s.matter = tal_matter_create(s.system);
    s.forces = tal_forces_create(s.system, s.matter);
    (void)tal_forces_add_gravity(s.forces, tal_v3(0.0, -9.81, 0.0));
    tal_mobod_def bob = tal_mobod_def_default();
    bob.mass = tal_mass_props_point(1.0, tal_v3(0.0, -1.0, 0.0));
    (void)tal_matter_add_pin(s.matter, TAL_GROUND, &bob);
    (void)tal_system_add_subsystem(s.system, "after", &study_spring_ops, &after);
    study_finish(&s, def);
    (void)tal_body_set_q(s.matter, s.state, (tal_body_ix){1}, 0, TAL_PI / 2.0);
    const double t = STUDY_PENDULUM_PERIOD;
    study_step_to(&s, t);
    const double steps = (double)tal_integrator_statistics(s.integ).steps_taken;
    const double q[] = {cos(t), TAL_PI / 2.0, cos(t)}, u[] = {-sin(t), 0.0, -sin(t)};
    test_assert_near(tal_state_q(s.state), q, 3, 5.0 * def->accuracy * steps, "q");
    test_assert_near(tal_state_u(s.state), u, 3, 5.0 * def->accuracy * steps, "u");
    study_end(&s);
}

// --- what every method has to do ---

/// Steps until t one by one; every State on the way meets the constraints to `tolerance`, which
/// bounds the root mean square of errors of position, and of velocity times the time scale of 0.1
/// s: one of n errors is at most sqrt(n) of it, and of velocity ten times that.
static inline void study_step_within(study *s, double t, double tolerance)
{
    const int rows = tal_state_pool_size(s->state, TAL_POOL_UERR);
    while (tal_state_t(s->state) < t) {
        const tal_status st = tal_integrator_step(s->integ, s->state, t);
        ck_assert_msg(st == TAL_OK, "%s", tal_integrator_error(s->integ)->message);
        ck_assert_double_le(study_constraint_error(s), 10.0 * sqrt(rows) * tolerance);
    }
    ck_assert_double_eq(tal_state_t(s->state), t);
}

/// Errors after a period of the pendulum, on a pin or on a rod, at accuracies 1e-3 ... 1e-9: each
/// step adds at most the accuracy, and by the shear of the motion over one period errors grow by
/// less than 5, so that the error is below 5 accuracy times steps; from end to end it falls at
/// least as 5 per 10 of accuracy (promise P4).
static inline void study_check_proportional(tal_integrator_def def, bool on_rod)
{
    double first = 0.0, last = 0.0;
    for (int k = 3; k <= 9; ++k) {
        def.accuracy = pow(10.0, -k);
        study s = on_rod ? study_rod_pendulum(&def) : study_pin_pendulum(&def);
        study_step_to(&s, 0.0);
        study_step_within(&s, STUDY_PENDULUM_PERIOD, 0.1 * def.accuracy);
        const double steps = (double)tal_integrator_statistics(s.integ).steps_taken;
        last = study_pendulum_error(&s);
        if (k == 3) first = last;
        ck_assert_msg(last <= 5.0 * def.accuracy * steps, "accuracy %g: error %g in %g steps",
                      def.accuracy, last, steps);
        study_end(&s);
    }
    ck_assert_double_ge(first / last, pow(5.0, 6.0));
}

/// refs:a03_andrews_squeezer, to the 1e-7 of promise P5. `method`: for ./run validate.
static inline void study_check_squeezer(const tal_integrator_def *def, const char *method)
{
    study s = study_squeezer(def);
    study_step_to(&s, 0.0);
    study_step_within(&s, 0.03, 0.1 * def->accuracy);
    test_validate("Andrews' squeezer, 0.03 s", "refs:a03_andrews_squeezer", "angle of the crank",
                  method, fabs(tal_state_q(s.state)[0] - 15.81077119515371), 1e-7);
    study_end(&s);
}

/// refs:ivp_caraxis, where the axis shakes 75 times and errors of phase add up, and
/// refs:double_pendulum_point, a regular motion: to the 1e-7 of promise P4, whose accuracy is
/// 1e-10.
static inline void study_check_references(const tal_integrator_def *def, const char *method)
{
    study s = study_car_axis(def);
    study_step_to(&s, 0.0);
    study_step_within(&s, 3.0, 0.1 * def->accuracy);
    test_validate("car axis, 3 s", "refs:ivp_caraxis", "x and y", method, study_car_axis_error(&s),
                  1e-7);
    study_end(&s);
    s = study_double_pendulum(def);
    study_step_to(&s, 5.0);
    test_validate("double pendulum of points, 5 s", "refs:double_pendulum_point",
                  "angles and rates", method, study_double_pendulum_error(&s), 1e-7);
    study_end(&s);
}

/// A closed loop of 60 J: each step may change the energy by accuracy times that, all with one sign
/// at worst.
static inline void study_check_energy(const tal_integrator_def *def)
{
    study s = study_four_bar(def);
    study_step_to(&s, 0.0);
    const double before = tal_system_energy(s.system, s.state);
    study_step_within(&s, 10.0, 0.1 * def->accuracy);
    const double change = tal_system_energy(s.system, s.state) - before;
    const double steps = (double)tal_integrator_statistics(s.integ).steps_taken;
    ck_assert_double_le(fabs(change), 60.0 * steps * def->accuracy);
    study_end(&s);
}

/// Back to a time within the last step of a constrained run, and on from there.
static inline void study_check_back_up(const tal_integrator_def *def)
{
    study s = study_rod_pendulum(def);
    study_step_to(&s, 1.0);
    const double t = 1.0 - 0.3 * tal_integrator_statistics(s.integ).last_step;
    ck_assert_int_eq(tal_integrator_back_up(s.integ, s.state, t), TAL_OK);
    ck_assert_double_eq(tal_state_t(s.state), t);
    ck_assert_double_lt(study_constraint_error(&s), 10.0 * def->accuracy);
    study_step_to(&s, STUDY_PENDULUM_PERIOD);
    const double steps = (double)tal_integrator_statistics(s.integ).steps_taken;
    ck_assert_double_lt(study_pendulum_error(&s), 5.0 * steps * def->accuracy);
    study_end(&s);
}

/// The first step and the longest one are as asked for.
static inline void study_check_step_sizes(tal_integrator_def def)
{
    def.initial_step = 1e-5;
    def.max_step = 0.01;
    study s = study_pin_pendulum(&def);
    ck_assert_int_eq(tal_integrator_step(s.integ, s.state, 1.0), TAL_OK);
    ck_assert_double_eq_tol(tal_state_t(s.state), 1e-5, 1e-20);
    while (tal_state_t(s.state) < 1.0) {
        ck_assert_int_eq(tal_integrator_step(s.integ, s.state, 1.0), TAL_OK);
        const tal_integrator_stats stats = tal_integrator_statistics(s.integ);
        ck_assert_double_le(stats.last_step, 0.01 * (1.0 + 1e-12));
        ck_assert_double_gt(stats.next_step, 0.0);
    }
    ck_assert_double_eq(tal_state_t(s.state), 1.0);
    study_end(&s);
}

/// An integrator is not created from this def, and the sentence has `part` in it.
static inline void study_check_refused(tal_integrator_def def, const char *part)
{
    study s = study_pin_pendulum(NULL);
    tal_error err = {0};
    ck_assert_int_eq(tal_integrator_create(s.system, &def, &s.integ, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_null(s.integ);
    ck_assert_msg(strstr(err.message, part) != NULL, "'%s' lacks '%s'", err.message, part);
    study_end(&s);
}

/// Where the pendulum on a pin is at `t`, by a method of its own kind.
static inline void study_check_dense(tal_integrator_def def, double bound)
{
    study s = study_pin_pendulum(&def), ref = study_pin_pendulum(NULL);
    tal_integrator_def fine = study_def(TAL_METHOD_RUNGE_KUTTA, 1e-13);
    tal_state *between = NULL;
    ck_assert_int_eq(tal_state_create(s.system, &between, NULL), TAL_OK);
    ck_assert_int_eq(tal_integrator_create(ref.system, &fine, &ref.integ, NULL), TAL_OK);
    while (tal_state_t(s.state) < 1.0) {
        ck_assert_int_eq(tal_integrator_step(s.integ, s.state, 1.0), TAL_OK);
        const double h = tal_integrator_statistics(s.integ).last_step;
        const double t = tal_state_t(s.state) - 0.4 * h;
        ck_assert_int_eq(tal_integrator_interpolate(s.integ, s.state, t, between), TAL_OK);
        study_step_to(&ref, t);
        ck_assert_double_eq(tal_state_t(between), t);
        test_assert_near(tal_state_y(between), tal_state_y(ref.state), 2, bound, "dense output");
    }
    tal_state_destroy(between);
    study_end(&s);
    study_end(&ref);
}

/// A force element that gives NaN from t = 0.5 on, and counts evaluations from the first NaN.
typedef struct study_bad {
    int evaluations;
} study_bad;

static inline tal_status study_bad_apply(const void *self, const tal_force_context *context,
                                         tal_spatial_vec F[], double f[])
{
    (void)F;
    study_bad *it = *(study_bad *const *)self;
    const bool is_bad = tal_state_t(context->state) >= 0.5;
    if (is_bad || it->evaluations > 0) ++it->evaluations;
    f[0] += is_bad ? (double)NAN : 0.0;
    return TAL_OK;
}

static const tal_force_ops study_bad_ops = {
    .size = sizeof study_bad_ops, .name = "bad", .apply = study_bad_apply};

/// The run ends with the force's name, within 100 evaluations from the first NaN (promise P13), and
/// the State stands at the last good step.
static inline void study_check_nan_force(const tal_integrator_def *def)
{
    study s = study_begin(tal_v3(0.0, -9.81, 0.0));
    tal_mobod_def bob = tal_mobod_def_default();
    bob.mass = tal_mass_props_point(1.0, tal_v3(0.0, -1.0, 0.0));
    (void)tal_matter_add_pin(s.matter, TAL_GROUND, &bob);
    study_bad bad = {0}, *self = &bad;
    (void)tal_forces_add(s.forces, "rotten spring", &study_bad_ops, &self);
    study_finish(&s, def);
    (void)tal_body_set_q(s.matter, s.state, (tal_body_ix){1}, 0, 1.0);
    ck_assert_int_eq(tal_integrator_step_to(s.integ, s.state, 1.0), TAL_ERR_NOT_FINITE);
    const char *message = tal_integrator_error(s.integ)->message;
    ck_assert_msg(strstr(message, "rotten spring") != NULL, "%s", message);
    // this method takes no rates at the end of a step
    const bool is_blind = def->method == TAL_METHOD_SEMI_EXPLICIT_EULER;
    const double last = is_blind ? tal_integrator_statistics(s.integ).last_step : 0.0;
    ck_assert_double_lt(tal_state_t(s.state), 0.5 + last);
    ck_assert_double_gt(tal_state_t(s.state), 0.4);
    ck_assert_int_gt(bad.evaluations, 0);
    ck_assert_int_le(bad.evaluations, 100);
    study_end(&s);
}

static inline void study_square(double t, const double z[], double zdot[])
{
    (void)t;
    zdot[0] = z[0] * z[0];
}

/// z' = z^2, z(0) = 1 has a pole at t = 1. Near it steps are a fixed fraction of what is left, so
/// that ln(1e16) over that fraction are enough; the pole of the numbers computed is off by the
/// global error.
static inline void study_check_pole(const tal_integrator_def *def, double off, int evaluations)
{
    study_odes it = {.n = 1, .z0 = {1.0}, .rates = study_square};
    study s = study_of_odes(&it, def);
    ck_assert_int_eq(tal_integrator_step_to(s.integ, s.state, 2.0), TAL_ERR_STEP_TOO_SMALL);
    ck_assert_double_eq_tol(tal_state_t(s.state), 1.0, off);
    ck_assert_int_lt(it.evaluations, evaluations);
    const char *message = tal_integrator_error(s.integ)->message;
    ck_assert_msg(strstr(message, "z 0 of 'x'") != NULL, "%s", message);
    study_end(&s);
}

/// Follows (1 + 0.4 sin 6t) / 2 with a time constant of 1e-5 s, as a muscle's activation might.
static inline void study_muscle(double t, const double z[], double zdot[])
{
    zdot[0] = 1e5 * (0.5 + 0.2 * sin(6.0 * t) - z[0]);
}

static inline void study_decay(double t, const double z[], double zdot[])
{
    (void)t;
    zdot[0] = -z[0];
}

/// What steps are held to, as a power of the accuracy: integrator.h.
typedef struct study_held {
    double factor, power;
} study_held;

/// What a method says about the error of its last step: after one step of 0.02 s of z' = -z from z
/// = 1, where z counts as it is, `first`, to what Newton's method leaves; and along a pendulum on a
/// rod between nothing and what steps are held to, without keeping below a tenth of that: no method
/// would gain by such short steps.
static inline void study_check_last_error(tal_integrator_def def, study_held held, double first)
{
    study_odes it = {.n = 1, .z0 = {1.0}, .rates = study_decay};
    def.accuracy = pow(1e-3 / held.factor, 1.0 / held.power);
    def.initial_step = 0.02;
    study s = study_of_odes(&it, &def);
    ck_assert_int_eq(tal_integrator_step(s.integ, s.state, 1.0), TAL_OK);
    ck_assert_double_eq(tal_integrator_statistics(s.integ).last_step, 0.02);
    ck_assert_double_eq_tol(tal_integrator_statistics(s.integ).last_error, first, 1e-6 * first);
    study_end(&s);
    def.accuracy = 1e-6;
    def.initial_step = 0.0;
    const double most = held.factor * pow(def.accuracy, held.power);
    double largest = 0.0;
    s = study_rod_pendulum(&def);
    for (int k = 0; k < 100; ++k) {
        ck_assert_int_eq(tal_integrator_step(s.integ, s.state, 10.0), TAL_OK);
        const double error = tal_integrator_statistics(s.integ).last_error;
        ck_assert_double_gt(error, 0.0);
        ck_assert_double_le(error, most);
        largest = fmax(largest, error);
    }
    ck_assert_double_gt(largest, 0.1 * most);
    study_end(&s);
}

/// Beside a pendulum, for one second. Steps follow the motion, not the time constant.
static inline void study_check_stiff(const tal_integrator_def *def, int max_steps)
{
    study_odes it = {.n = 1, .z0 = {0.1}, .rates = study_muscle};
    study s = study_begin(tal_v3(0.0, -9.81, 0.0));
    tal_mobod_def bob = tal_mobod_def_default();
    bob.mass = tal_mass_props_point(1.0, tal_v3(0.0, -1.0, 0.0));
    (void)tal_matter_add_pin(s.matter, TAL_GROUND, &bob);
    (void)tal_system_add_subsystem(s.system, "odes", &study_odes_ops, &it);
    study_finish(&s, def);
    (void)tal_body_set_q(s.matter, s.state, (tal_body_ix){1}, 0, TAL_PI / 2.0);
    study_step_to(&s, 1.0);
    ck_assert_uint_le(tal_integrator_statistics(s.integ).steps_taken, (uint64_t)max_steps);
    // z lags by 1e-5 s: 1.2e-5 at most
    ck_assert_double_eq_tol(tal_state_z(s.state)[0], 0.5 + 0.2 * sin(6.0),
                            2e-5 + 10.0 * def->accuracy);
    study_end(&s);
}

#endif // TALUS_STUDY_MODEL_H
