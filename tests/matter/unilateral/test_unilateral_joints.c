// matter/src/unilateral/unilateral_press.c, unilateral_sigma.c, impact_loads.c: friction in joints
// that constraints make, in proportion to what these carry (manual eq. 8.63 to 8.80).
#include "unilateral_support.h"

#include <string.h>

static tal_unilateral_def loaded(tal_constraint_ix constraint, int first, int count, double weight,
                                 double static_mu, double sliding_mu)
{
    tal_unilateral_def def = tal_unilateral_def_default();
    def.material = dry(static_mu, sliding_mu);
    def.load.constraint = constraint;
    def.load.first = first;
    def.load.count = count;
    for (int r = 0; r < count; ++r) {
        def.load.weight[r] = weight;
    }
    return def;
}

static tal_unilateral_force force_at(const test_model *model, tal_unilateral_ix at)
{
    return tal_unilateral_force_of(model->matter, model->state, at);
}

// --- what can be a load ---

// An element with a rod as its normal (the first constraint) or without one, a speed as its grip,
// and a weld of six equations as its load. What it says; NULL: accepted.
static void try_load(bool has_normal, bool has_grip, int constraint, int first, int count,
                     double weight, tal_status expected, const char *says)
{
    test_model model;
    test_model_begin(&model);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(2.0, 0.5);
    const tal_body_ix body = tal_matter_add_free(model.matter, TAL_GROUND, &def);
    const tal_constraint_def between = tal_constraint_between(TAL_GROUND, body);
    const tal_constraint_def speed = tal_constraint_on(body, 0);
    const tal_constraint_ix bar =
        tal_constraint_add_rod(model.matter, &between, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
    const tal_constraint_ix grip = tal_constraint_add_constant_speed(model.matter, &speed, 0.0);
    const tal_xform here = TAL_XFORM_IDENTITY;
    (void)tal_constraint_add_weld(model.matter, &between, &here, &here); // 2
    tal_unilateral_def it = loaded((tal_constraint_ix){constraint}, first, 0, 0.0, 0.5, 0.4);
    it.load.count = count;
    for (int r = 0; r < TAL_UNILATERAL_LOAD_ROWS; ++r) {
        it.load.weight[r] = r + 1 < count ? 1.0 : weight;
    }
    if (has_normal) it.normal = bar;
    if (has_grip) it.grip = grip;
    const tal_unilateral_ix made = tal_matter_add_unilateral(model.matter, &it);
    tal_error err = {0};
    ck_assert_int_eq(tal_system_realize_topology(model.system, &err), expected);
    ck_assert_int_eq(made.i, expected == TAL_OK ? 0 : -1);
    ck_assert_msg(strstr(err.message, says) != NULL, "'%s' lacks '%s'", err.message, says);
    tal_system_destroy(model.system);
}

START_TEST(loads_are_checked_to_their_last_row)
{
    const double inf = (double)INFINITY, nan = (double)NAN;
    const tal_status bad = TAL_ERR_BAD_VALUE, beyond = TAL_ERR_BAD_INDEX;
    try_load(false, true, 2, 0, 1, 1.0, TAL_OK, "");
    try_load(false, true, 2, 1, 5, 0.0, TAL_OK, ""); // the last five rows
    try_load(false, true, 2, 5, 1, 1.0, TAL_OK, "");
    try_load(false, true, 0, 0, 1, 1.0, TAL_OK, "");
    try_load(true, true, 2, 0, 1, 1.0, bad, "a load needs a grip and no normal");
    try_load(false, false, 2, 0, 1, 1.0, bad, "a load needs a grip and no normal");
    try_load(false, true, 1, 0, 1, 1.0, beyond, "constraint 1, does not exist, or is its grip");
    try_load(false, true, 3, 0, 1, 1.0, beyond, "constraint 3, does not exist");
    try_load(false, true, 2, -1, 1, 1.0, bad, "from row -1 on");
    try_load(false, true, 2, 0, 0, 1.0, bad, "its load is 0 rows");
    try_load(false, true, 2, 0, 6, 1.0, bad, "its load is 6 rows of 'constraint2'");
    try_load(false, true, 2, 2, 5, 1.0, bad, "from row 2 on: that has 6, and 1 to 5");
    try_load(false, true, 0, 0, 2, 1.0, bad, "its load is 2 rows of 'constraint0'");
    try_load(false, true, 2, 0, 1, -1.0, bad, "weight 0 of its load is -1");
    try_load(false, true, 2, 1, 5, inf, bad, "weight 4 of its load is inf");
    try_load(false, true, 2, 1, 3, nan, bad, "weight 2 of its load is ");
}

END_TEST

// --- the tables of the grips ---

static tal_constraint_ix add_about(tal_matter *matter, const tal_constraint_def *def, test_rng *rng)
{
    tal_unilateral_def element = tal_unilateral_def_default();
    element.material.limit = 1.0;
    const tal_unilateral_ix at = tal_unilateral_add_friction_about(
        matter, &element, def->bodies[0], test_random_vec3(rng), def->bodies[1]);
    return tal_unilateral_grip(matter, at);
}

static tal_constraint_ix add_along(tal_matter *matter, const tal_constraint_def *def, test_rng *rng)
{
    tal_unilateral_def element = tal_unilateral_def_default();
    element.material.limit = 1.0;
    const tal_vec3 d = test_random_vec3(rng), p = test_random_vec3(rng);
    const tal_unilateral_ix at = tal_unilateral_add_friction_along(
        matter, &element, def->bodies[0], d, p, def->bodies[1], test_random_vec3(rng));
    return tal_unilateral_grip(matter, at);
}

START_TEST(tables_of_grips_agree_with_themselves)
{
    check_on_random_trees(add_about, 2, 20, NULL);
    check_on_random_trees(add_along, 2, 20, NULL);
}

END_TEST

// --- a pin ---

/// A pendulum of 2 kg whose center is 0.5 m below a pin: a planar body that a loop pin holds.
typedef struct pin_pendulum {
    test_model model;
    tal_body_ix body;
    tal_unilateral_ix friction;
} pin_pendulum;

static void pin_pendulum_create(pin_pendulum *it, double static_mu, double sliding_mu,
                                double radius)
{
    test_model_begin(&it->model);
    it->model.gravity = tal_v3(0.0, -9.81, 0.0);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 2.0;
    def.mass.inertia = tal_s3_diag(0.05, 0.05, 0.05);
    it->body = tal_matter_add_planar(it->model.matter, TAL_GROUND, &def);
    const tal_constraint_def between = tal_constraint_between(TAL_GROUND, it->body);
    const tal_xform X_1 = TAL_XFORM_IDENTITY, X_2 = tal_xf_from_p(tal_v3(0.0, 0.5, 0.0));
    const tal_constraint_ix pin =
        tal_constraint_add_loop_pin(it->model.matter, &between, &X_1, &X_2);
    const tal_unilateral_def friction = loaded(pin, 2, 2, radius, static_mu, sliding_mu);
    it->friction = tal_unilateral_add_friction_about(it->model.matter, &friction, TAL_GROUND,
                                                     tal_v3(0.0, 0.0, 1.0), it->body);
    test_model_freeze(&it->model);
    test_model_realize(&it->model, TAL_STAGE_TIME);
}

static void pin_pendulum_set(pin_pendulum *it, double angle, double w)
{
    const double q[3] = {angle, 0.5 * sin(angle), -0.5 * cos(angle)};
    const double u[3] = {w, 0.5 * w * cos(angle), 0.5 * w * sin(angle)};
    ck_assert_int_eq(tal_state_set_q(it->model.state, q, 3), TAL_OK);
    ck_assert_int_eq(tal_state_set_u(it->model.state, u, 3), TAL_OK);
}

// T8; numbers of the specification, found there by a root of one unknown.
START_TEST(a_pin_brakes_by_what_it_carries)
{
    const struct {
        double angle, w, mu_r, udot, sigma;
    } rows[] = {{0.7, 3.0, 0.02, -12.3635115016893, 0.480155814},
                {0.7, 3.0, 0.1, -15.8952211821293, 0.0},
                {0.7, -3.0, 0.1, -7.00721315123767, 0.0},
                {1.5, 10.0, 0.3, -83.0349607354978, 0.0}};

    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; ++k) {
        pin_pendulum it;
        pin_pendulum_create(&it, 1.0, 1.0, rows[k].mu_r);
        pin_pendulum_set(&it, rows[k].angle, rows[k].w);
        ck_assert_int_eq(tal_unilateral_set_mode(it.model.matter, it.model.state, it.friction,
                                                 TAL_UNILATERAL_SLIDE, NULL),
                         TAL_OK);
        test_model_realize(&it.model, TAL_STAGE_ACCELERATION);
        ck_assert_double_eq_tol(tal_state_udot(it.model.state)[0], rows[k].udot,
                                2e-13 * fabs(rows[k].udot));
        const tal_unilateral_force force = force_at(&it.model, it.friction);
        if (k == 0) ck_assert_double_eq_tol(force.normal, rows[k].sigma, 5e-10); // as printed
        ck_assert_double_eq_tol(force.friction[0], -copysign(force.normal, rows[k].w), 1e-13);
        // the manual's identity: M udot = f - G^T lambda - S^T sigma, by inverse dynamics
        double left[3];
        ck_assert_int_eq(tal_matter_calc_residual(it.model.matter, it.model.state,
                                                  tal_state_udot(it.model.state),
                                                  tal_state_multipliers(it.model.state), left),
                         TAL_OK);
        ck_assert_double_le(test_largest(left, 3), 1e-11);
        test_model_end(&it.model);
    }
}

END_TEST

// It holds where m g l sin <= mu_s r N, and N = m g: sin <= mu_s r / l. Beyond that it begins to
// turn down, with mu_d.
START_TEST(a_pin_sticks_up_to_its_angle_of_friction)
{
    const double mu_s = 0.5, mu_d = 0.4, r = 0.1, limit = asin(mu_s * r / 0.5);
    for (int k = 0; k < 2; ++k) {
        pin_pendulum it;
        pin_pendulum_create(&it, mu_s, mu_d, r);
        pin_pendulum_set(&it, limit * (k == 0 ? 1.0 - 1e-6 : 1.0 + 1e-6), 0.0);
        tal_impact_report report;
        ck_assert_msg(tal_matter_solve_modes(it.model.matter, it.model.state, NULL, &report) ==
                          TAL_OK,
                      "%s", tal_state_error(it.model.state)->message);
        test_model_realize(&it.model, TAL_STAGE_ACCELERATION);
        const tal_unilateral_mode mode =
            tal_unilateral_mode_of(it.model.matter, it.model.state, it.friction);
        const double udot = tal_state_udot(it.model.state)[0];
        const tal_unilateral_force force = force_at(&it.model, it.friction);
        if (k == 0) {
            ck_assert_int_eq(mode, TAL_UNILATERAL_STICK);
            ck_assert_double_eq_tol(udot, 0.0, 1e-12);
            ck_assert_double_eq_tol(force.normal, 2.0 * 9.81 * r, 1e-12);
            ck_assert_double_eq_tol(force.friction[0], 2.0 * 9.81 * 0.5 * sin(limit), 1e-5);
        } else {
            ck_assert_int_eq(mode, TAL_UNILATERAL_SLIDE);
            ck_assert_double_lt(udot, -0.3); // it would be 0 with mu_s
            ck_assert_double_eq_tol(force.friction[0], mu_d * force.normal, 1e-13);
        }
        test_model_end(&it.model);
    }
}

END_TEST

// --- a block in a guide with two sides ---

enum {
    GUIDES = 2
};

/// A planar block of 2 kg that two points, at (x_i, y_i), keep on the x axis of Ground.
typedef struct guided {
    test_model model;
    tal_body_ix body;
    tal_unilateral_ix friction[GUIDES];
    double x[GUIDES], y[GUIDES], I;
} guided;

static void guided_create(guided *it, double mu)
{
    it->I = 0.08;
    test_model_begin(&it->model);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 2.0;
    def.mass.inertia = tal_s3_diag(it->I, it->I, it->I);
    it->body = tal_matter_add_planar(it->model.matter, TAL_GROUND, &def);
    const tal_constraint_def between = tal_constraint_between(TAL_GROUND, it->body);
    for (int k = 0; k < GUIDES; ++k) {
        const tal_vec3 at = tal_v3(it->x[k], it->y[k], 0.0), along = tal_v3(1.0, 0.0, 0.0);
        const tal_constraint_ix rail = tal_constraint_add_point_in_plane(
            it->model.matter, &between, tal_v3(0.0, 1.0, 0.0), it->y[k], at);
        const tal_unilateral_def friction = loaded(rail, 0, 1, 1.0, mu, mu);
        it->friction[k] = tal_unilateral_add_friction_along(it->model.matter, &friction, TAL_GROUND,
                                                            along, TAL_VEC3_ZERO, it->body, at);
    }
    test_model_freeze(&it->model);
    test_model_realize(&it->model, TAL_STAGE_TIME);
}

static void guided_load(guided *it, double moment, double x, double y)
{
    it->model.f[0] = moment, it->model.f[1] = x, it->model.f[2] = y;
    ck_assert_int_eq(tal_state_invalidate(it->model.state, TAL_STAGE_DYNAMICS), TAL_OK);
}

// The closed form for one pattern of senses d, sliding along +x: forces N_i up and -mu d_i N_i
// along x at (x_i, y_i),
//
//     N_1 + N_2 = -y              (x_i + mu d_i y_i) N_i = -moment,  summed
//
// and a = (x - mu sum d_i N_i) / m.
static bool solve_pattern(const guided *it, double mu, const int d[2], const double load[3],
                          double N[2], double *a)
{
    const double c0 = it->x[0] + mu * d[0] * it->y[0], c1 = it->x[1] + mu * d[1] * it->y[1];
    N[0] = (-load[0] + c1 * load[2]) / (c0 - c1);
    N[1] = -load[2] - N[0];
    *a = (load[1] - mu * (d[0] * N[0] + d[1] * N[1])) / 2.0;
    return d[0] * N[0] >= 0.0 && d[1] * N[1] >= 0.0;
}

// Numbers are of size 10 and the 2 x 2 systems of condition 10 at most: 1e-12.
START_TEST(senses_of_loads_are_found_for_every_pattern)
{
    const double mu = 0.4;
    test_rng rng = test_rng_seed(11);
    int seen[4] = {0};
    guided it = {.x = {-0.4, 0.5}, .y = {0.3, -0.2}};
    guided_create(&it, mu);
    tal_body_set_u(it.model.matter, it.model.state, it.body, 1, 0.7);
    for (int k = 0; k < GUIDES; ++k) {
        ck_assert_int_eq(tal_unilateral_set_mode(it.model.matter, it.model.state, it.friction[k],
                                                 TAL_UNILATERAL_SLIDE, NULL),
                         TAL_OK);
    }
    for (int n = 0; n < 400; ++n) {
        double load[3];
        for (int j = 0; j < 3; ++j) {
            load[j] = test_random_uniform(&rng, -10.0, 10.0);
        }
        guided_load(&it, load[0], load[1], load[2]);
        test_model_realize(&it.model, TAL_STAGE_ACCELERATION);
        int fitting = 0;
        for (int pattern = 0; pattern < 4; ++pattern) {
            const int d[2] = {pattern % 2 == 0 ? 1 : -1, pattern < 2 ? 1 : -1};
            double N[2], a;
            if (!solve_pattern(&it, mu, d, load, N, &a)) continue;
            ++fitting;
            ++seen[pattern];
            ck_assert_double_eq_tol(tal_state_udot(it.model.state)[1], a, 1e-12);
            for (int k = 0; k < GUIDES; ++k) {
                const tal_unilateral_force force = force_at(&it.model, it.friction[k]);
                ck_assert_double_eq_tol(force.normal, fabs(N[k]), 1e-11);
                ck_assert_double_eq_tol(force.friction[0], -mu * fabs(N[k]), 1e-11);
            }
        }
        ck_assert_int_eq(fitting, 1);
    }
    for (int pattern = 0; pattern < 4; ++pattern) {
        ck_assert_int_gt(seen[pattern], 10);
    }
    test_model_end(&it.model);
}

END_TEST

// A drawer of guides b apart that is pulled e beside its middle: N = F e / b on each, and friction
// 2 mu F e / b holds it whatever F is, if 2 mu e >= b.
START_TEST(a_drawer_locks_itself)
{
    const double mu = 0.4, b = 0.8, F = 20.0;
    for (int k = 0; k < 2; ++k) {
        const double e = b / (2.0 * mu) * (k == 0 ? 1.001 : 0.5);
        guided it = {.x = {-0.5 * b, 0.5 * b}, .y = {0.0, 0.0}};
        guided_create(&it, mu);
        guided_load(&it, -F * e, F, 0.0);
        ck_assert_msg(tal_matter_solve_modes(it.model.matter, it.model.state, NULL, NULL) == TAL_OK,
                      "%s", tal_state_error(it.model.state)->message);
        test_model_realize(&it.model, TAL_STAGE_ACCELERATION);
        const double a = k == 0 ? 0.0 : F * (1.0 - 2.0 * mu * e / b) / 2.0;
        for (int j = 0; j < GUIDES; ++j) {
            ck_assert_int_eq(
                tal_unilateral_mode_of(it.model.matter, it.model.state, it.friction[j]),
                k == 0 ? TAL_UNILATERAL_STICK : TAL_UNILATERAL_SLIDE);
        }
        ck_assert_double_eq_tol(tal_state_udot(it.model.state)[1], a, 1e-12);
        test_model_end(&it.model);
    }
}

END_TEST

// --- a four-bar ---

enum {
    BARS = 3,
    EQUATIONS = 9 + 8
};

/// Crank, coupler and rocker, each a planar rod from joint to joint: angles, rates, and where its
/// ends are. The last joint is on Ground where the chain ends, so that the loop is closed.
typedef struct four_bar {
    long double L[BARS], angle[BARS], w[BARS];
    long double x[BARS + 1], y[BARS + 1];
} four_bar;

static void place_four_bar(four_bar *it)
{
    it->x[0] = it->y[0] = 0.0L;
    for (int k = 0; k < BARS; ++k) {
        it->x[k + 1] = it->x[k] + it->L[k] * cosl(it->angle[k]);
        it->y[k + 1] = it->y[k] + it->L[k] * sinl(it->angle[k]);
    }
    // w of the other two: sum L w (-sin, cos) = 0
    long double a[2][2], b[2];
    for (int k = 0; k < 2; ++k) {
        a[0][k] = -it->L[k + 1] * sinl(it->angle[k + 1]);
        a[1][k] = it->L[k + 1] * cosl(it->angle[k + 1]);
    }
    b[0] = it->L[0] * sinl(it->angle[0]) * it->w[0];
    b[1] = -it->L[0] * cosl(it->angle[0]) * it->w[0];
    const long double det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
    it->w[1] = (b[0] * a[1][1] - a[0][1] * b[1]) / det;
    it->w[2] = (a[0][0] * b[1] - b[0] * a[1][0]) / det;
}

static void eliminate(long double A[EQUATIONS][EQUATIONS + 1])
{
    for (int c = 0; c < EQUATIONS; ++c) {
        int best = c;
        for (int r = c + 1; r < EQUATIONS; ++r) {
            if (fabsl(A[r][c]) > fabsl(A[best][c])) best = r;
        }
        for (int j = 0; j <= EQUATIONS; ++j) {
            const long double t = A[c][j];
            A[c][j] = A[best][j];
            A[best][j] = t;
        }
        for (int r = 0; r < EQUATIONS; ++r) {
            const long double f = r == c ? 0.0L : A[r][c] / A[c][c];
            for (int j = c; j <= EQUATIONS && f != 0.0L; ++j) {
                A[r][j] -= f * A[c][j];
            }
        }
    }
}

/*
 * Accelerations of the bars (a_x, a_y, alpha of each) and forces of the joints, where joint j
 * pushes bar j with (X, Y) and bar j - 1 with the opposite, for moments given: M2 on the rocker at
 * joint 2, and its opposite on the coupler; M3 on the rocker at joint 3, from Ground. Newton and
 * Euler, bar by bar; joints 0 and 3 are on Ground.
 */
static void solve_bars(const four_bar *it, const long double M[2], long double out[EQUATIONS])
{
    long double A[EQUATIONS][EQUATIONS + 1] = {{0}};
    const long double g = 9.81L;
    for (int k = 0; k < BARS; ++k) {
        const long double m = it->L[k], I = m * it->L[k] * it->L[k] / 12.0L; // 1 kg/m
        const long double hx = 0.5L * (it->x[k + 1] - it->x[k]);
        const long double hy = 0.5L * (it->y[k + 1] - it->y[k]);
        const int near = 9 + 2 * k, far = near + 2; // forces of joints k and k + 1
        A[3 * k][3 * k] = A[3 * k + 1][3 * k + 1] = m;
        A[3 * k + 2][3 * k + 2] = I;
        A[3 * k][near] = A[3 * k + 1][near + 1] = -1.0L;
        A[3 * k][far] = A[3 * k + 1][far + 1] = 1.0L;
        A[3 * k + 1][EQUATIONS] = -m * g;
        // moments about the center: near at -h, far at +h with the opposite sign
        A[3 * k + 2][near] = -hy, A[3 * k + 2][near + 1] = hx;
        A[3 * k + 2][far] = -hy, A[3 * k + 2][far + 1] = hx;
        A[3 * k + 2][EQUATIONS] = k == 1 ? -M[0] : k == 2 ? M[0] + M[1] : 0.0L;
    }
    // joint j: end of bar j - 1 accelerates as the start of bar j
    for (int j = 0; j <= BARS; ++j) {
        const int r = 9 + 2 * j;
        for (int side = 0; side < 2; ++side) {
            const int k = j - side;
            if (k < 0 || k >= BARS) continue;
            const long double sign = side == 0 ? 1.0L : -1.0L, w2 = it->w[k] * it->w[k];
            const long double h = side == 0 ? -0.5L : 0.5L; // from the center
            const long double rx = h * (it->x[k + 1] - it->x[k]),
                              ry = h * (it->y[k + 1] - it->y[k]);
            A[r][3 * k] += sign, A[r + 1][3 * k + 1] += sign;
            A[r][3 * k + 2] += -sign * ry, A[r + 1][3 * k + 2] += sign * rx;
            A[r][EQUATIONS] += sign * w2 * rx, A[r + 1][EQUATIONS] += sign * w2 * ry;
        }
    }
    eliminate(A);
    for (int r = 0; r < EQUATIONS; ++r) {
        out[r] = A[r][EQUATIONS] / A[r][r];
    }
}

// Moments -mu r |F| against the relative turning of the two pins: a root by Newton's method with
// differences, in long double.
static void find_moments(const four_bar *it, const long double mu_r[2], long double M[2],
                         long double out[EQUATIONS])
{
    const long double turn[2] = {it->w[2] - it->w[1], it->w[2]};
    M[0] = M[1] = 0.0L;
    for (int step = 0; step < 30; ++step) {
        long double F[3][2];
        for (int probe = 0; probe < 3; ++probe) { // at M, and beside it
            const long double h = 1e-6L;
            const long double at[2] = {M[0] + (probe == 1 ? h : 0), M[1] + (probe == 2 ? h : 0)};
            solve_bars(it, at, out);
            for (int j = 0; j < 2; ++j) {
                const long double *f = out + 9 + 2 * (2 + j);
                F[probe][j] =
                    at[j] + copysignl(mu_r[j], turn[j]) * sqrtl(f[0] * f[0] + f[1] * f[1]);
            }
        }
        long double J[2][2];
        for (int j = 0; j < 2; ++j) {
            J[j][0] = (F[1][j] - F[0][j]) / 1e-6L, J[j][1] = (F[2][j] - F[0][j]) / 1e-6L;
        }
        const long double det = J[0][0] * J[1][1] - J[0][1] * J[1][0];
        M[0] -= (F[0][0] * J[1][1] - J[0][1] * F[0][1]) / det;
        M[1] -= (J[0][0] * F[0][1] - F[0][0] * J[1][0]) / det;
    }
    solve_bars(it, M, out);
}

// The crank and the coupler are a chain of pins; the rocker is a planar body held by two loop pins,
// both with friction.
static void check_four_bar(const four_bar *bars, const long double mu_r[2])
{
    test_model model;
    test_model_begin(&model);
    model.gravity = tal_v3(0.0, -9.81, 0.0);
    tal_body_ix body[BARS];
    for (int k = 0; k < BARS; ++k) {
        const double L = (double)bars->L[k];
        tal_mobod_def def = tal_mobod_def_default();
        def.mass.mass = L;
        def.mass.inertia = tal_s3_diag(1e-3, L * L * L / 12.0, L * L * L / 12.0);
        def.X_BM = tal_xf_from_p(tal_v3(-0.5 * L, 0.0, 0.0));
        if (k > 0) def.X_PF = tal_xf_from_p(tal_v3(0.5 * (double)bars->L[k - 1], 0.0, 0.0));
        if (k < 2) {
            body[k] = tal_matter_add_pin(model.matter, k == 0 ? TAL_GROUND : body[0], &def);
        } else {
            def.X_PF = TAL_XFORM_IDENTITY;
            body[k] = tal_matter_add_planar(model.matter, TAL_GROUND, &def);
        }
    }
    tal_unilateral_ix friction[2];
    for (int j = 0; j < 2; ++j) {
        const double L = (double)bars->L[2];
        const tal_body_ix other = j == 0 ? body[1] : TAL_GROUND;
        const tal_constraint_def between = tal_constraint_between(other, body[2]);
        const tal_xform X_1 =
            j == 0 ? tal_xf_from_p(tal_v3(0.5 * (double)bars->L[1], 0.0, 0.0))
                   : tal_xf_from_p(tal_v3((double)bars->x[3], (double)bars->y[3], 0.0));
        const tal_xform X_2 = tal_xf_from_p(tal_v3(j == 0 ? -0.5 * L : 0.5 * L, 0.0, 0.0));
        const tal_constraint_ix pin =
            tal_constraint_add_loop_pin(model.matter, &between, &X_1, &X_2);
        const tal_unilateral_def def = loaded(pin, 2, 2, (double)mu_r[j], 1.0, 1.0);
        friction[j] = tal_unilateral_add_friction_about(model.matter, &def, other,
                                                        tal_v3(0.0, 0.0, 1.0), body[2]);
    }
    test_model_freeze(&model);
    test_model_realize(&model, TAL_STAGE_TIME);
    const double q[5] = {(double)bars->angle[0], (double)(bars->angle[1] - bars->angle[0]),
                         (double)bars->angle[2], (double)bars->x[2], (double)bars->y[2]};
    const long double vx = -bars->w[2] * (bars->y[2] - bars->y[3]);
    const long double vy = bars->w[2] * (bars->x[2] - bars->x[3]);
    const double u[5] = {(double)bars->w[0], (double)(bars->w[1] - bars->w[0]), (double)bars->w[2],
                         (double)vx, (double)vy};
    ck_assert_int_eq(tal_state_set_q(model.state, q, 5), TAL_OK);
    ck_assert_int_eq(tal_state_set_u(model.state, u, 5), TAL_OK);
    for (int j = 0; j < 2; ++j) {
        ck_assert_int_eq(tal_unilateral_set_mode(model.matter, model.state, friction[j],
                                                 TAL_UNILATERAL_SLIDE, NULL),
                         TAL_OK);
    }
    test_model_realize(&model, TAL_STAGE_ACCELERATION);
    long double M[2], out[EQUATIONS];
    find_moments(bars, mu_r, M, out);
    const double *udot = tal_state_udot(model.state);
    const double alpha[3] = {(double)out[2], (double)(out[5] - out[2]), (double)out[8]};
    for (int k = 0; k < BARS; ++k) {
        ck_assert_double_eq_tol(udot[k], alpha[k], 1e-10 * (1.0 + fabs(alpha[k])));
    }
    for (int j = 0; j < 2; ++j) {
        const tal_unilateral_force force = force_at(&model, friction[j]);
        ck_assert_double_eq_tol(force.friction[0], (double)M[j],
                                1e-10 * (1.0 + fabs((double)M[j])));
    }
    test_model_end(&model);
}

START_TEST(two_pins_of_a_four_bar_agree_with_a_root_in_long_double)
{
    test_rng rng = test_rng_seed(5);
    for (int n = 0; n < 20; ++n) {
        four_bar bars = {.L = {0.3L, 0.9L, 0.6L},
                         .angle = {test_random_uniform(&rng, 0.5, 2.0),
                                   test_random_uniform(&rng, -0.4, 0.4),
                                   test_random_uniform(&rng, -2.2, -1.0)},
                         .w = {test_random_uniform(&rng, -6.0, 6.0)}};
        place_four_bar(&bars);
        const long double mu_r[2] = {test_random_uniform(&rng, 0.0, 0.02),
                                     test_random_uniform(&rng, 0.0, 0.02)};
        check_four_bar(&bars, mu_r);
    }
}

END_TEST

// --- what is refused ---

static void refuse(const char *word, void (*edit)(tal_unilateral_def *def))
{
    test_model model;
    test_model_begin(&model);
    tal_mobod_def body_def = tal_mobod_def_default();
    body_def.mass.mass = 1.0;
    const tal_body_ix body = tal_matter_add_translation(model.matter, TAL_GROUND, &body_def);
    const tal_constraint_def between = tal_constraint_between(TAL_GROUND, body);
    const tal_constraint_ix rail = tal_constraint_add_point_in_plane(
        model.matter, &between, tal_v3(0.0, 1.0, 0.0), 0.0, TAL_VEC3_ZERO);
    tal_unilateral_def def = loaded(rail, 0, 1, 1.0, 0.5, 0.5);
    def.name = "rail friction";
    edit(&def);
    ck_assert_int_lt(tal_unilateral_add_friction_along(model.matter, &def, TAL_GROUND,
                                                       tal_v3(1.0, 0.0, 0.0), TAL_VEC3_ZERO, body,
                                                       TAL_VEC3_ZERO)
                         .i,
                     0);
    const char *message = tal_system_error(model.system)->message;
    ck_assert_msg(strstr(message, "rail friction") != NULL && strstr(message, word) != NULL, "%s",
                  message);
    tal_system_destroy(model.system);
}

static void no_cause(tal_unilateral_def *def)
{
    def->load.constraint.i = -1;
}

static void no_constraint(tal_unilateral_def *def)
{
    def->load.constraint.i = 99;
}

static void too_many_rows(tal_unilateral_def *def)
{
    def->load.count = 2;
}

static void bad_weight(tal_unilateral_def *def)
{
    def->load.weight[0] = (double)NAN;
}

START_TEST(loads_that_make_no_sense_are_refused_by_name)
{
    refuse("limit", no_cause);
    refuse("does not exist", no_constraint);
    refuse("rows", too_many_rows);
    refuse("weight", bad_weight);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("matter/unilateral_joints");
    TCase *cases = tcase_create("friction");
    tcase_add_test(cases, loads_are_checked_to_their_last_row);
    tcase_add_test(cases, tables_of_grips_agree_with_themselves);
    tcase_add_test(cases, a_pin_brakes_by_what_it_carries);
    tcase_add_test(cases, a_pin_sticks_up_to_its_angle_of_friction);
    tcase_add_test(cases, senses_of_loads_are_found_for_every_pattern);
    tcase_add_test(cases, a_drawer_locks_itself);
    tcase_add_test(cases, two_pins_of_a_four_bar_agree_with_a_root_in_long_double);
    tcase_add_test(cases, loads_that_make_no_sense_are_refused_by_name);
    suite_add_tcase(suite, cases);
    return test_run(suite);
}
