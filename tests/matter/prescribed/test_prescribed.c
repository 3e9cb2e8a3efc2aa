// matter/src/prescribed/prescribed_known.c, prescribed_dynamics.c: hybrid dynamics, with every kind
// of motion.
#include "alloc_guard.h"
#include "kernel/passes_internal.h"
#include "prescribed_support.h"

// ---- the ways a mobility can be known

// Custom motions: u = a t + c q of the mobilizer's own coordinates would need N; so of time alone,
// and of the speeds.
static tal_status calc_growing(const void *self, const tal_motion_arg *arg, int order, double out[])
{
    (void)self;
    for (int i = 0; i < arg->n; ++i) {
        const double a = 0.3 + 0.1 * i, t = arg->t;
        if (arg->level == TAL_LEVEL_POSITION) {
            out[i] = order == 0 ? a + 0.5 * a * t * t : order == 1 ? a * t : a;
        } else if (arg->level == TAL_LEVEL_VELOCITY) {
            out[i] = order == 0 ? a * t * t : 2.0 * a * t;
        } else {
            out[i] = a * t - 0.2 * arg->u[i];
        }
    }
    return TAL_OK;
}

static const tal_motion_ops growing = {
    .size = sizeof growing, .name = "growing", .calc = calc_growing};

enum {
    NUM_WAYS = 9
};

// Make the mobilizer of a body known in one of many ways. Returns the motion, -1 for a lock.
static int add_way(world *w, tal_body_ix body, int way)
{
    tal_motion_def def = tal_motion_def_default();
    def.body = body;
    const double rates[] = {0.4, -0.5, 0.6, -0.7, 0.8, 0.9};
    const int nu = tal_body_nu(w->matter, body);
    switch (way) {
    case 0:
        return tal_matter_add_motion_steady(w->matter, &def, rates, nu).i;
    case 1:
        def.level = TAL_LEVEL_VELOCITY;
        return tal_matter_add_motion_sinusoid(w->matter, &def, 0.7, 3.0, 0.2).i;
    case 2:
        def.level = TAL_LEVEL_ACCELERATION;
        return tal_matter_add_motion_sinusoid(w->matter, &def, 0.7, 3.0, 0.2).i;
    case 3:
    case 4:
    case 5:
        def.level = (tal_level)(way - 2);
        return tal_matter_add_motion(w->matter, &def, &growing, NULL, NULL).i;
    default:
        return -1;
    }
}

// ---- identities

// Every third body or so is known, in a way that differs from trial to trial.
START_TEST(forces_of_known_motion_give_the_same_motion_when_applied)
{
    for (int trial = 0; trial < 27; ++trial) {
        test_rng rng = test_rng_seed(100 + (uint64_t)trial);
        static world w;
        world_begin(&w);
        add_all_mobilizers(&w, &rng);
        tal_motion_ix count = {0};
        int way[MAX_BODIES];
        const int num_bodies = tal_matter_num_bodies(w.matter);
        for (int b = 1; b < num_bodies; ++b) {
            way[b] = (b + trial) % 3 == 0 ? (b / 3 + trial) % NUM_WAYS : -1;
            const bool can = tal_body_nu(w.matter, (tal_body_ix){b}) > 0;
            if (!can) way[b] = -1;
            if (way[b] >= 0 && add_way(&w, (tal_body_ix){b}, way[b]) >= 0) ++count.i;
        }
        world_finish(&w);
        ck_assert_int_eq(tal_matter_num_motions(w.matter), count.i);
        if (trial % 2 == 1) (void)tal_matter_set_use_angles(w.matter, w.state, true);
        randomize(&w, &rng);
        (void)tal_state_set_t(w.state, 0.37);
        for (int b = 1; b < num_bodies; ++b) {
            if (way[b] >= 6) set_lock(&w, (tal_body_ix){b}, way[b]);
        }
        world_solve(&w);
        check_duality(&w, count);
        world_end(&w);
    }
}

// Single mobilities, where coordinates allow it: motions and locks mixed in one mobilizer.
START_TEST(single_mobilities_can_be_known_in_different_ways)
{
    for (int trial = 0; trial < 12; ++trial) {
        test_rng rng = test_rng_seed(200 + (uint64_t)trial);
        static world w;
        world_begin(&w);
        add_all_mobilizers(&w, &rng);
        tal_motion_ix count = {0};
        const int num_bodies = tal_matter_num_bodies(w.matter);
        for (int b = 1; b < num_bodies; ++b) {
            const int nu = tal_body_nu(w.matter, (tal_body_ix){b});
            if (builtins[(b - 1) / 2].ops()->mul_N != NULL || nu < 2) continue;
            tal_motion_def def = tal_motion_def_default();
            def.body = (tal_body_ix){b};
            def.mobility = (b + trial) % nu;
            def.level = (tal_level)(1 + (b + trial) % 3);
            (void)tal_matter_add_motion(w.matter, &def, &growing, NULL, NULL);
            ++count.i;
        }
        world_finish(&w);
        randomize(&w, &rng);
        (void)tal_state_set_t(w.state, -0.6);
        int num_locked = 0;
        for (int b = 1; b < num_bodies; ++b) {
            const tal_mobility mobility = {{b}, trial % 3};
            if (builtins[(b - 1) / 2].ops()->mul_N != NULL ||
                tal_body_nu(w.matter, mobility.body) <= mobility.i || (b + trial) % 4 != 0) {
                continue;
            }
            const tal_level level = (tal_level)(1 + b % 3);
            ck_assert_int_eq(tal_mobility_lock_at(w.matter, w.state, mobility, level, -0.3),
                             TAL_OK);
            ck_assert_int_eq(tal_mobility_lock_level(w.matter, w.state, mobility), level);
            ++num_locked;
        }
        ck_assert_int_gt(num_locked, 0);
        world_solve(&w);
        for (int b = 1; b < num_bodies; ++b) { // each motion is of its one mobility and no other
            const int nu = tal_body_nu(w.matter, (tal_body_ix){b});
            const bool is_driven = builtins[(b - 1) / 2].ops()->mul_N == NULL && nu >= 2;
            for (int i = 0; i < nu; ++i) {
                const tal_mobility mobility = {{b}, i};
                tal_level level = tal_mobility_lock_level(w.matter, w.state, mobility);
                if (level == TAL_LEVEL_FREE && is_driven && i == (b + trial) % nu) {
                    level = (tal_level)(1 + (b + trial) % 3);
                }
                ck_assert_int_eq(tal_mobility_level(w.matter, w.state, mobility), level);
            }
        }
        check_duality(&w, count);
        world_end(&w);
    }
}

// ---- golden numbers

// rbda_inventory.md 13.1 and 13.2; printed to 16 digits, H has condition 500: 1e-12.
START_TEST(hybrid_dynamics_of_g7_has_the_golden_numbers)
{
    static const double free_udot[] = {8.071947464983912,  -13.4797693225235, -14.042384326021766,
                                       5.544306696141652,  4.378876460643141, 2.0095119649817144,
                                       0.13872293002506084};
    static const double udot[] = {0.4,
                                  -0.3,
                                  -3.7967915780811716,
                                  0.4171764106742035,
                                  -1.1680573276333528,
                                  -0.11150457727411567,
                                  -2.198389731792556};
    static const double force[] = {-4.509387295806637, 3.909792260901589};
    static world w;
    (void)build_g7(&w);
    set_g7(&w);
    world_realize(&w, TAL_STAGE_ACCELERATION);
    test_assert_near(tal_state_udot(w.state), free_udot, 7, 1e-13 * 15.0, "free udot");

    const tal_mobility first = {{1}, 0}, second = {{2}, 0};
    (void)tal_mobility_lock_at(w.matter, w.state, first, TAL_LEVEL_ACCELERATION, 0.4);
    (void)tal_mobility_lock_at(w.matter, w.state, second, TAL_LEVEL_ACCELERATION, -0.3);
    for (int i = 3; i <= 7; ++i) {
        w.f[i - 1] = 0.1 * i;
    }
    world_solve(&w);
    test_assert_near(tal_state_udot(w.state), udot, 7, 1e-12, "hybrid udot");
    for (int i = 0; i < 2; ++i) {
        const double found = tal_body_motion_force(w.matter, w.state, (tal_body_ix){i + 1}, 0);
        ck_assert_double_eq_tol(found, force[i], 1e-12);
    }

    // the operator says the same as the stage, here without gravity
    w.gravity = tal_v3(0.0, 0.0, 0.0);
    (void)tal_state_invalidate(w.state, TAL_STAGE_DYNAMICS);
    world_realize(&w, TAL_STAGE_ACCELERATION);
    double by_operator[7];
    ck_assert_int_eq(tal_matter_forward_dynamics(w.matter, w.state, NULL, w.f, by_operator, NULL),
                     TAL_OK);
    test_assert_near(by_operator, tal_state_udot(w.state), 7, 1e-14, "by operator");
    world_end(&w);
}

// ---- closed forms

static const double CART_MASS = 2.0, BOB_MASS = 0.7, LENGTH = 0.9, GRAVITY = 9.81;

static tal_body_ix add_cart(world *w)
{
    world_begin(w);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(CART_MASS, 0.1);
    const tal_body_ix cart = tal_matter_add_slider(w->matter, TAL_GROUND, &def);
    def.mass = tal_mass_props_point(BOB_MASS, tal_v3(0.0, -LENGTH, 0.0));
    (void)tal_matter_add_pin(w->matter, cart, &def);
    return cart;
}

// The bob is at (x + L sin q, -L cos q), so with the cart at x(t)
//     L qdotdot = -g sin q - xdotdot cos q
// and the cart is pushed with (m_c + m) xdotdot + m L (qdotdot cos q - qdot^2 sin q).
static void check_pendulum(world *w, double x, double xdot, double xdotdot)
{
    const double q = tal_state_q(w->state)[1], u = tal_state_u(w->state)[1];
    const double *udot = tal_state_udot(w->state);
    const double qdotdot = -(GRAVITY * sin(q) + xdotdot * cos(q)) / LENGTH;
    const double push =
        (CART_MASS + BOB_MASS) * xdotdot + BOB_MASS * LENGTH * (qdotdot * cos(q) - u * u * sin(q));
    ck_assert_double_eq_tol(tal_state_q(w->state)[0], x, 1e-15);
    ck_assert_double_eq_tol(tal_state_u(w->state)[0], xdot, 1e-15);
    ck_assert_double_eq_tol(udot[0], xdotdot, 1e-14);
    ck_assert_double_eq_tol(udot[1], qdotdot, 1e-13);
    const tal_body_ix cart = {1};
    ck_assert_double_eq_tol(tal_body_motion_force(w->matter, w->state, cart, 0), push, 1e-12);
    ck_assert_double_eq_tol(tal_body_motion_power(w->matter, w->state, cart), push * xdot, 1e-12);
    ck_assert_double_eq_tol(tal_matter_motion_power(w->matter, w->state), push * xdot, 1e-12);
}

START_TEST(a_pendulum_on_a_shaken_cart_swings_as_its_equation_says)
{
    const double a = 0.3, omega = 4.0, phase = 0.5;
    static world w;
    tal_motion_def def = tal_motion_def_default();
    def.body = add_cart(&w);
    (void)tal_matter_add_motion_sinusoid(w.matter, &def, a, omega, phase);
    world_finish(&w);
    w.gravity = tal_v3(0.0, -GRAVITY, 0.0);
    (void)tal_body_set_q(w.matter, w.state, (tal_body_ix){2}, 0, 0.8);
    (void)tal_body_set_u(w.matter, w.state, (tal_body_ix){2}, 0, -1.7);
    for (int k = 0; k < 20; ++k) {
        const double t = 0.1 * k, s = sin(omega * t + phase), c = cos(omega * t + phase);
        (void)tal_state_set_t(w.state, t);
        world_solve(&w);
        check_pendulum(&w, a * s, a * omega * c, -a * omega * omega * s);
    }
    const double calmer[] = {0.1, 2.0, 0.0};
    ck_assert_int_eq(tal_motion_set_params(w.matter, w.state, (tal_motion_ix){0}, calmer, 3),
                     TAL_OK);
    (void)tal_state_set_t(w.state, 0.5);
    world_solve(&w);
    check_pendulum(&w, 0.1 * sin(1.0), 0.2 * cos(1.0), -0.4 * sin(1.0));
    world_end(&w);
}

START_TEST(functions_of_time_drive_at_every_level)
{
    const double cubic[] = {0.5, -0.2, 0.3, 0.1}; // 0.5 t^3 - 0.2 t^2 + 0.3 t + 0.1
    const double t = 0.7;
    const double value = ((0.5 * t - 0.2) * t + 0.3) * t + 0.1;
    const double rate = (1.5 * t - 0.4) * t + 0.3, second = 3.0 * t - 0.4;
    for (int level = TAL_LEVEL_ACCELERATION; level <= TAL_LEVEL_POSITION; ++level) {
        static world w;
        tal_motion_def def = tal_motion_def_default();
        def.body = add_cart(&w);
        def.level = (tal_level)level;
        tal_function *f = NULL;
        ck_assert_int_eq(tal_function_create_polynomial(NULL, cubic, 4, &f, NULL), TAL_OK);
        const tal_motion_ix motion = tal_matter_add_motion_functions(w.matter, &def, &f, 1);
        ck_assert_int_eq(motion.i, 0);
        world_finish(&w);
        int num_params = -1;
        (void)tal_motion_params(w.matter, w.state, motion, &num_params);
        ck_assert_int_eq(num_params, 0); // all there is to say is in the function
        w.gravity = tal_v3(0.0, -GRAVITY, 0.0);
        const double y[] = {0.15, 0.8, 0.25, -1.7};
        (void)tal_state_set_y(w.state, y, 4);
        (void)tal_state_set_t(w.state, t);
        world_solve(&w);
        if (level == TAL_LEVEL_POSITION) check_pendulum(&w, value, rate, second);
        if (level == TAL_LEVEL_VELOCITY) check_pendulum(&w, 0.15, value, rate);
        if (level == TAL_LEVEL_ACCELERATION) check_pendulum(&w, 0.15, 0.25, value);
        world_end(&w);
    }
}

// A known acceleration follows t although neither q nor u has changed.
START_TEST(known_accelerations_are_computed_again_when_only_time_changes)
{
    static world w;
    tal_motion_def def = tal_motion_def_default();
    def.body = add_cart(&w);
    def.level = TAL_LEVEL_ACCELERATION;
    (void)tal_matter_add_motion_sinusoid(w.matter, &def, 2.0, 1.0, 0.0);
    world_finish(&w);
    for (int k = 0; k < 5; ++k) {
        (void)tal_state_set_t(w.state, 0.3 * k);
        world_realize(&w, TAL_STAGE_ACCELERATION);
        ck_assert_double_eq_tol(tal_state_udot(w.state)[0], 2.0 * sin(0.3 * k), 1e-15);
    }
    world_end(&w);
}

START_TEST(known_accelerations_are_computed_again_when_only_speeds_change)
{
    static world w;
    tal_motion_def def = tal_motion_def_default();
    def.body = add_cart(&w);
    def.level = TAL_LEVEL_ACCELERATION;
    (void)tal_matter_add_motion(w.matter, &def, &growing, NULL, NULL);
    world_finish(&w);
    for (int k = 0; k < 3; ++k) {
        (void)tal_body_set_u(w.matter, w.state, def.body, 0, 1.0 * k);
        world_realize(&w, TAL_STAGE_ACCELERATION);
        ck_assert_double_eq_tol(tal_state_udot(w.state)[0], -0.2 * k, 1e-15);
    }
    world_end(&w);
}

// ---- orientations

static const tal_vec3 SPIN_AXIS = {0.6, 0.0, 0.8};

// Turned by 0.8 t^2 about an axis fixed in F: w = 1.6 t axis, a quaternion of length 1.5.
static tal_status calc_spin(const void *self, const tal_motion_arg *arg, int order, double out[])
{
    (void)self;
    const double half = 0.4 * arg->t * arg->t, dhalf = 0.8 * arg->t, ddhalf = 0.8;
    const double s = sin(half), c = cos(half), length = 1.5;
    const double w = order == 0 ? c : order == 1 ? -s * dhalf : -c * dhalf * dhalf - s * ddhalf;
    const double v = order == 0 ? s : order == 1 ? c * dhalf : -s * dhalf * dhalf + c * ddhalf;
    out[0] = length * w;
    out[1] = length * v * SPIN_AXIS.x;
    out[2] = length * v * SPIN_AXIS.y;
    out[3] = length * v * SPIN_AXIS.z;
    for (int i = 4; i < arg->n; ++i) {
        out[i] = order == 0 ? arg->t * arg->t : order == 1 ? 2.0 * arg->t : 2.0;
    }
    return TAL_OK;
}

static const tal_motion_ops spin = {.size = sizeof spin, .name = "spin", .calc = calc_spin};

START_TEST(a_quaternion_can_be_prescribed_and_gives_the_angular_velocity)
{
    static world w;
    world_begin(&w);
    tal_mobod_def body = tal_mobod_def_default();
    body.mass = tal_mass_props_brick(1.0, tal_v3(0.1, 0.2, 0.3));
    tal_motion_def def = tal_motion_def_default();
    def.body = tal_matter_add_ball(w.matter, TAL_GROUND, &body);
    (void)tal_matter_add_motion(w.matter, &def, &spin, NULL, NULL);
    def.body = tal_matter_add_free(w.matter, def.body, &body);
    (void)tal_matter_add_motion(w.matter, &def, &spin, NULL, NULL);
    world_finish(&w);
    const double t = 0.9;
    (void)tal_state_set_t(w.state, t);
    world_solve(&w);
    for (int i = 0; i < 9; ++i) {
        const double along = i % 3 == 0 ? SPIN_AXIS.x : i % 3 == 1 ? SPIN_AXIS.y : SPIN_AXIS.z;
        const double u = i < 6 ? 1.6 * t * along : 2.0 * t;
        const double udot = i < 6 ? 1.6 * along : 2.0;
        ck_assert_double_eq_tol(tal_state_u(w.state)[i], u, 1e-14);
        ck_assert_double_eq_tol(tal_state_udot(w.state)[i], udot, 1e-14);
    }
    ck_assert_int_eq(tal_matter_num_free(w.matter, w.state), 0);
    world_end(&w);
}

// qdot = N u and qdotdot = N udot + Ndot u give back what was prescribed. N is near 1 here.
START_TEST(prescribed_angles_have_the_prescribed_rates)
{
    static world w;
    world_begin(&w);
    tal_mobod_def body = tal_mobod_def_default();
    body.mass = tal_mass_props_brick(1.0, tal_v3(0.1, 0.2, 0.3));
    body.use_angles = true;
    tal_motion_def def = tal_motion_def_default();
    def.body = tal_matter_add_free(w.matter, TAL_GROUND, &body);
    (void)tal_matter_add_motion(w.matter, &def, &growing, NULL, NULL);
    world_finish(&w);
    const double t = 1.1;
    (void)tal_state_set_t(w.state, t);
    world_solve(&w);
    for (int i = 0; i < 6; ++i) {
        const double a = 0.3 + 0.1 * i;
        ck_assert_double_eq_tol(tal_state_q(w.state)[i], a + 0.5 * a * t * t, 1e-15);
        ck_assert_double_eq_tol(tal_state_qdot(w.state)[i], a * t, 1e-14);
        ck_assert_double_eq_tol(tal_state_qdotdot(w.state)[i], a, 1e-14);
    }
    world_end(&w);
}

// ---- energy

static double kinetic_energy(world *w)
{
    tali_tree_view view;
    ck_assert(tali_tree_realize_view(w->matter, w->state, TALI_BIAS, &view));
    double sum = 0.0;
    for (int b = 1; b < w->num_bodies; ++b) {
        const tali_tree_composite *body = &view.rigid[b];
        const tal_spatial_vec V = view.rates[b].V;
        sum += 0.5 * tal_v3_dot(V.w, tal_s3_mul_v3(body->I, V.w)) +
               0.5 * body->mass * tal_v3_dot(V.v, V.v) +
               tal_v3_dot(V.v, tal_v3_cross(V.w, body->mc));
    }
    return sum;
}

// Power of what acts besides known motion.
static double applied_power(world *w)
{
    const tali_tree_applied applied = tali_tree_applied_of(w->matter, w->state);
    const tal_bodies_view velocities = tal_matter_velocities(w->matter, w->state);
    double sum = 0.0;
    for (int b = 1; b < w->num_bodies; ++b) {
        sum += tal_sv_dot(applied.F[b], *tal_view_V_GM(&velocities, b));
    }
    for (int i = 0; i < tal_state_nu(w->state); ++i) {
        sum += applied.f[i] * tal_state_u(w->state)[i];
    }
    return sum;
}

// The rate of kinetic energy by central differences along the motion, h = 1e-5: off by h^2 of its
// third derivative and eps/h of itself, both below 1e-9 of the numbers here, which are near 1e3.
START_TEST(motion_power_balances_the_energy)
{
    test_rng rng = test_rng_seed(7);
    static world w;
    world_begin(&w);
    add_all_mobilizers(&w, &rng);
    for (int b = 3; b < tal_matter_num_bodies(w.matter); b += 4) {
        (void)add_way(&w, (tal_body_ix){b}, b % 6);
    }
    world_finish(&w);
    randomize(&w, &rng);
    (void)tal_state_set_t(w.state, 0.2);
    world_solve(&w);
    const double power = applied_power(&w) + tal_matter_motion_power(w.matter, w.state);
    const double h = 1e-5;
    double energy[2];
    const int nq = tal_state_nq(w.state), nu = tal_state_nu(w.state);
    double q[200], u[MAX_SPEEDS], qdot[200], qdotdot[200], udot[MAX_SPEEDS];
    memcpy(q, tal_state_q(w.state), (size_t)nq * sizeof *q);
    memcpy(u, tal_state_u(w.state), (size_t)nu * sizeof *u);
    memcpy(qdot, tal_state_qdot(w.state), (size_t)nq * sizeof *q);
    memcpy(qdotdot, tal_state_qdotdot(w.state), (size_t)nq * sizeof *q);
    memcpy(udot, tal_state_udot(w.state), (size_t)nu * sizeof *u);
    for (int side = 0; side < 2; ++side) {
        const double dt = side == 0 ? -h : h;
        for (int i = 0; i < nq; ++i) {
            tal_state_upd_q(w.state)[i] = q[i] + dt * (qdot[i] + 0.5 * dt * qdotdot[i]);
        }
        for (int i = 0; i < nu; ++i) {
            tal_state_upd_u(w.state)[i] = u[i] + dt * udot[i];
        }
        world_realize(&w, TAL_STAGE_VELOCITY);
        energy[side] = kinetic_energy(&w);
    }
    const double rate = (energy[1] - energy[0]) / (2.0 * h);
    ck_assert_double_eq_tol(rate, power, 1e-6 * fmax(fabs(power), energy[0]));
    world_end(&w);
}

// ---- M^-1

// Zeros where motion is known, and M_ff^-1 elsewhere: M (M^-1 f) = f there        manual eq. 8.40
START_TEST(M_inverse_acts_on_the_free_mobilities_only)
{
    test_rng rng = test_rng_seed(11);
    static world w;
    world_begin(&w);
    add_all_mobilizers(&w, &rng);
    world_finish(&w);
    randomize(&w, &rng);
    for (int b = 1; b < w.num_bodies; b += 3) {
        (void)tal_body_lock(w.matter, w.state, (tal_body_ix){b}, TAL_LEVEL_POSITION);
    }
    (void)tal_mobility_lock(w.matter, w.state, (tal_mobility){{15}, 1}, TAL_LEVEL_VELOCITY);
    world_realize(&w, TAL_STAGE_POSITION);
    tali_tree_view view;
    ck_assert(tali_tree_realize_view(w.matter, w.state, TALI_ARTICULATED, &view));
    double e[MAX_SPEEDS], udot[MAX_SPEEDS], back[MAX_SPEEDS];
    tal_spatial_vec open[MAX_BODIES], A[MAX_BODIES];
    view.passes->inward(&view, w.f, NULL, e, open);
    view.passes->outward(&view, e, udot, A);
    view.passes->mass(&view, udot, back, A, open);
    int num_known = 0;
    for (int i = 0; i < tal_state_nu(w.state); ++i) {
        if (view.level[i] == TAL_LEVEL_FREE) {
            ck_assert_double_eq_tol(back[i], w.f[i], 1e-12); // terms near 10
        } else {
            ck_assert(udot[i] == 0.0);
            ++num_known;
        }
    }
    ck_assert_int_gt(num_known, 20);
    world_end(&w);
}

// ---- memory

START_TEST(known_motion_never_touches_the_heap)
{
    test_rng rng = test_rng_seed(12);
    static world w;
    world_begin(&w);
    add_all_mobilizers(&w, &rng);
    for (int b = 3; b < tal_matter_num_bodies(w.matter); b += 3) {
        (void)add_way(&w, (tal_body_ix){b}, b % 6);
    }
    world_finish(&w);
    randomize(&w, &rng);
    tal_status st[6] = {TAL_OK};
    const double *tau = NULL;
    test_assert_no_heap({
        st[0] = tal_body_lock(w.matter, w.state, (tal_body_ix){1}, TAL_LEVEL_POSITION);
        st[1] = tal_system_realize(w.system, w.state, TAL_STAGE_TIME);
        st[2] = tal_system_prescribe_q(w.system, w.state, NULL);
        st[3] = tal_system_realize(w.system, w.state, TAL_STAGE_POSITION);
        st[4] = tal_system_prescribe_u(w.system, w.state, NULL);
        st[5] = tal_system_realize(w.system, w.state, TAL_STAGE_ACCELERATION);
        tau = tal_matter_motion_multipliers(w.matter, w.state);
    });
    for (int i = 0; i < 6; ++i) {
        ck_assert_int_eq(st[i], TAL_OK);
    }
    ck_assert_ptr_nonnull(tau);
    world_end(&w);
}

START_TEST(a_tree_without_bodies_has_no_motion_to_know)
{
    static world w;
    world_begin(&w);
    world_finish(&w);
    world_solve(&w);
    ck_assert_int_eq(tal_matter_num_free(w.matter, w.state), 0);
    ck_assert(tal_matter_motion_power(w.matter, w.state) == 0.0);
    ck_assert(tal_matter_motion_error(w.matter, w.state, TAL_LEVEL_POSITION) == 0.0);
    ck_assert_int_eq(tal_body_lock(w.matter, w.state, TAL_GROUND, TAL_LEVEL_POSITION), TAL_OK);
    ck_assert_int_eq(tal_body_lock_level(w.matter, w.state, TAL_GROUND), TAL_LEVEL_FREE);
    world_end(&w);
}

int main(void)
{
    Suite *suite = suite_create("matter/prescribed");
    TCase *tc = tcase_create("identities");
    tcase_add_test(tc, forces_of_known_motion_give_the_same_motion_when_applied);
    tcase_add_test(tc, single_mobilities_can_be_known_in_different_ways);
    tcase_add_test(tc, M_inverse_acts_on_the_free_mobilities_only);
    tcase_add_test(tc, motion_power_balances_the_energy);
    suite_add_tcase(suite, tc);

    tc = tcase_create("numbers");
    tcase_add_test(tc, hybrid_dynamics_of_g7_has_the_golden_numbers);
    tcase_add_test(tc, a_pendulum_on_a_shaken_cart_swings_as_its_equation_says);
    tcase_add_test(tc, functions_of_time_drive_at_every_level);
    tcase_add_test(tc, known_accelerations_are_computed_again_when_only_time_changes);
    tcase_add_test(tc, known_accelerations_are_computed_again_when_only_speeds_change);
    tcase_add_test(tc, prescribed_angles_have_the_prescribed_rates);
    tcase_add_test(tc, a_quaternion_can_be_prescribed_and_gives_the_angular_velocity);
    suite_add_tcase(suite, tc);

    tc = tcase_create("memory");
    tcase_add_test(tc, known_motion_never_touches_the_heap);
    tcase_add_test(tc, a_tree_without_bodies_has_no_motion_to_know);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
