// Linearization and modes against closed forms.
#include "linearizer_support.h"
#include "turning_support.h"

#include <math.h>

static const tal_vec3 G_DOWN = {0.0, -9.81, 0.0};

// --- the hanging N-pendulum: omega^2 = g / l times the zeros of the Laguerre polynomial L_N ---

static const double OMEGA_5[] = {1.6079573179767435, 3.7236385444662763, 5.939775821856367,
                                 8.3373734567593409, 11.135809637486869};
static const double OMEGA_50[] = {
    0.52996734324796735, 1.2166189210228155, 1.907618291707577,  2.5999961088111418,
    3.2933541384015403,  3.9876853910903676, 4.6830906234801732, 5.3797117791528946,
    6.0777110647776542,  6.7772632302395177, 7.4785525476952941, 8.1817717411991246,
    8.8871218398716501,  9.5948125293835194, 10.305062813952039, 11.018101904679893,
    11.734170299783935,  12.453521048717755, 13.176421208209987, 13.903153509649455,
    14.634018266953635,  15.369335563702057, 16.109447769017155, 16.854722444380556,
    17.60555571927425,   18.362376233426797, 19.12564976907975,  19.895884730186776,
    20.673638669780683,  21.459526126119975, 22.25422810879552,  23.05850368680618,
    23.873204285332292,  24.6992915174405,   25.537859693943492, 26.390164621486111,
    27.257661001692806,  28.14205182839919,  29.04535489968584,  29.969994376825586,
    30.918930102474178,  31.895845858543257, 32.905433516411101, 33.953841231479551,
    35.049420280646217,  36.204060461804119, 37.435814042833137, 38.774788833096707,
    40.279438438695436,  42.102859187796192};

// Point masses on links of 1 m, pins about z.
static void check_pendulum(int n, const double omega[])
{
    model m = begin_model(G_DOWN);
    tal_mobod_def link = tal_mobod_def_default();
    link.mass = tal_mass_props_point(1.0, tal_v3(0.0, -1.0, 0.0));
    tal_body_ix body = TAL_GROUND;
    for (int i = 0; i < n; ++i) {
        link.X_PF = tal_xf_from_p(tal_v3(0.0, i == 0 ? 0.0 : -1.0, 0.0));
        body = tal_matter_add_pin(m.matter, body, &link);
    }
    finish_model(&m);
    find_modes(&m);
    ck_assert_int_eq(tal_linearizer_num_modes(m.lin), 2 * n);
    for (int i = 0; i < n; ++i) {
        const tal_mode mode = tal_linearizer_mode(m.lin, 2 * i);
        // promise P10: 1e-8 with extrapolated differences
        test_validate(n == 5 ? "five pendulums that hang" : "fifty pendulums that hang",
                      "refs:n_pendulum_frequencies", "frequencies, relative", "linearization",
                      fabs(mode.im / omega[i] - 1.0), 1e-8);
        ck_assert_double_lt(fabs(mode.re), 1e-8 * omega[i]);
        ck_assert_double_lt(fabs(mode.damping), 1e-8);
    }
    end_model(&m);
}

START_TEST(five_pendulums_swing_with_the_zeros_of_laguerre)
{
    check_pendulum(5, OMEGA_5);
}

END_TEST

START_TEST(fifty_pendulums_swing_with_the_zeros_of_laguerre)
{
    check_pendulum(50, OMEGA_50);
}

END_TEST

// --- constraints ---

// A particle in space, held at 2 m by a rod: omega^2 = g / l, twice.
START_TEST(a_particle_on_a_rod_is_a_pendulum)
{
    model m = begin_model(G_DOWN);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(3.0, TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_translation(m.matter, TAL_GROUND, &def);
    tal_constraint_def ends = tal_constraint_def_default();
    ends.bodies[0] = TAL_GROUND;
    ends.bodies[1] = body;
    (void)tal_constraint_add_rod(m.matter, &ends, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 2.0);
    finish_model(&m);
    const double hanging[] = {0.0, -2.0, 0.0};
    ck_assert_int_eq(tal_state_set_q(m.state, hanging, 3), TAL_OK);
    find_modes(&m);
    const tal_linear_sizes sizes = tal_linearizer_sizes(m.lin);
    ck_assert_int_eq(sizes.ns, 2);
    ck_assert_int_eq(sizes.nv, 2);
    const double omega = sqrt(9.81 / 2.0);
    for (int i = 0; i < 4; i += 2) {
        const tal_mode mode = tal_linearizer_mode(m.lin, i);
        ck_assert_double_eq_tol(mode.im, omega, 1e-9);
        ck_assert_double_eq_tol(mode.frequency, omega / (2.0 * TAL_PI), 1e-9);
        double re[3], im[3];
        ck_assert_int_eq(tal_linearizer_mode_shape(m.lin, i, re, im), TAL_OK);
        ck_assert_double_lt(hypot(re[1], im[1]), 1e-9); // it swings across the rod
    }
    end_model(&m);
}

END_TEST

// A sphere hung from a ball joint, whose quaternion has the length 1.5: omega^2 = m g l / I, twice,
// and it turns freely about the vertical. Only round-off and h^2 of the differences are left.
START_TEST(a_quaternion_need_not_have_the_length_one)
{
    model m = begin_model(G_DOWN);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(2.0, 0.1);
    def.X_BM = tal_xf_from_p(tal_v3(0.0, 0.5, 0.0));
    const tal_body_ix body = tal_matter_add_ball(m.matter, TAL_GROUND, &def);
    finish_model(&m);
    tal_body_set_q(m.matter, m.state, body, 0, 1.5);
    find_modes(&m);
    ck_assert_int_eq(tal_linearizer_sizes(m.lin).ns, 3);
    const double omega = sqrt(9.81 * 0.5 / (0.5 * 0.5 + 0.4 * 0.1 * 0.1));
    int swinging = 0;
    for (int i = 0; i < tal_linearizer_num_modes(m.lin); ++i) {
        const tal_mode mode = tal_linearizer_mode(m.lin, i);
        swinging += fabs(fabs(mode.im) - omega) < 1e-8;
    }
    ck_assert_int_eq(swinging, 4);
    end_model(&m);
}

END_TEST

// m xdd + c xd + k x = f with m = 2, c = 1, k = 50: lambda = (-c +- i sqrt(4 m k - c^2)) / 2 m. The
// forces are linear, so only round-off is left: eps k / (m step).
START_TEST(a_damped_oscillator_has_its_two_eigenvalues)
{
    model m = begin_model(TAL_VEC3_ZERO);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(2.0, TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_slider(m.matter, TAL_GROUND, &def);
    (void)tal_forces_add_mobility_spring(m.forces, NULL, (tal_mobility){body, 0}, 50.0, 0.0);
    (void)tal_forces_add_mobility_damper(m.forces, NULL, (tal_mobility){body, 0}, 1.0);
    finish_model(&m);
    find_modes(&m);
    const tal_mode mode = tal_linearizer_mode(m.lin, 0);
    ck_assert_double_eq_tol(mode.re, -0.25, 1e-10);
    ck_assert_double_eq_tol(mode.im, sqrt(399.0) / 4.0, 1e-10);
    ck_assert_double_eq_tol(mode.damping, 0.25 / 5.0, 1e-11);
    const tal_matrix A = tal_linearizer_A(m.lin), B = tal_linearizer_B(m.lin);
    const double wanted[] = {0.0, -25.0, 1.0, -0.5};
    test_assert_near(A.data, wanted, 4, 1e-11, "A");
    ck_assert_double_eq_tol(B.data[1], 0.5, 1e-15);
    ck_assert_double_eq(B.data[0], 0.0);
    ck_assert_double_eq(tal_linearizer_rates(m.lin)[1], 0.0);
    end_model(&m);
}

END_TEST

START_TEST(what_is_locked_has_no_modes)
{
    model m = begin_model(G_DOWN);
    tal_mobod_def link = tal_mobod_def_default();
    link.mass = tal_mass_props_point(1.0, tal_v3(0.0, -1.0, 0.0));
    const tal_body_ix upper = tal_matter_add_pin(m.matter, TAL_GROUND, &link);
    link.X_PF = tal_xf_from_p(tal_v3(0.0, -1.0, 0.0));
    (void)tal_matter_add_pin(m.matter, upper, &link);
    finish_model(&m);
    ck_assert_int_eq(tal_body_lock(m.matter, m.state, upper, TAL_LEVEL_POSITION), TAL_OK);
    find_modes(&m);
    ck_assert_int_eq(tal_linearizer_num_modes(m.lin), 2);
    ck_assert_double_eq_tol(tal_linearizer_mode(m.lin, 0).im, sqrt(9.81), 1e-9);
    end_model(&m);
}

END_TEST

// --- what is prescribed ---

// A pendulum of length l on a carousel that turns at w: it stands out at cos(angle) = g / (w^2 l)
// and swings about that at w sin(angle). A steady motion: the carousel's angle matters to nothing.
// It is a coordinate where it is not given, and its speed is one where only its acceleration is.
static void check_carousel(turning how)
{
    model m = begin_model(G_DOWN);
    const double w = 4.0, l = 1.0;
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = (tal_mass_props){1.0, TAL_VEC3_ZERO, tal_s3_diag(1.0, 1.0, 1.0)};
    def.X_PF.R = def.X_BM.R = tal_rotation_about(TAL_AXIS_X, -0.5 * TAL_PI); // pin about y
    const tal_body_ix carousel = tal_matter_add_pin(m.matter, TAL_GROUND, &def);
    def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, tal_v3(0.0, -l, 0.0));
    const tal_body_ix arm = tal_matter_add_pin(m.matter, carousel, &def);
    make_it_turn(m.matter, carousel, w, how);
    finish_model(&m);
    const double angle = acos(9.81 / (w * w * l));
    ck_assert_int_eq(tal_body_set_q(m.matter, m.state, arm, 0, angle), TAL_OK);
    ck_assert_int_eq(tal_body_set_u(m.matter, m.state, carousel, 0, w), TAL_OK);
    lock_it_turning(m.matter, m.state, carousel, how);
    find_modes(&m);
    const bool has_speed = how == TURN_ACCELERATION || how == TURN_LOCK_ACCELERATION;
    const tal_linear_sizes sizes = tal_linearizer_sizes(m.lin);
    ck_assert_int_eq(sizes.ns, how == TURN_POSITION ? 1 : 2);
    ck_assert_int_eq(sizes.nv, has_speed ? 2 : 1);
    const int nx = sizes.ns + sizes.nv;
    ck_assert_double_lt(fabs(tal_linearizer_rates(m.lin)[nx - 1]), 1e-13); // udot of the arm
    ck_assert_double_eq_tol(tal_linearizer_mode(m.lin, nx - 2).im, w * sin(angle), 1e-9);
    for (int i = 0; i < nx - 2; ++i) {
        ck_assert_double_eq_tol(tal_linearizer_mode(m.lin, i).im, 0.0, 1e-9);
    }
    ck_assert_int_eq(tal_linearizer_K_p(m.lin).cols, sizes.ns);
    ck_assert_int_eq(tal_linearizer_K_v(m.lin).cols, sizes.nv);
    end_model(&m);
}

START_TEST(a_pendulum_on_a_carousel_swings_about_where_it_stands_out)
{
    check_carousel((turning)_i);
}

END_TEST

// A motion may follow the coordinates: udot = -k q - c u has the eigenvalues of an oscillator, and
// u = -k q decays, whatever the forces and the mass.
static tal_status calc_following(const void *self, const tal_motion_arg *arg, int order,
                                 double out[])
{
    const double *k_and_c = self;
    if (arg->level == TAL_LEVEL_ACCELERATION) {
        out[0] = -k_and_c[0] * arg->q[0] - k_and_c[1] * arg->u[0];
    } else {
        out[0] = -k_and_c[0] * (order == 0 ? arg->q[0] : arg->u[0]);
    }
    return TAL_OK;
}

static const tal_motion_ops following_ops = {
    .size = sizeof following_ops, .name = "following", .calc = calc_following};

START_TEST(motions_that_follow_the_state_have_modes_of_their_own)
{
    double k_and_c[] = {25.0, 6.0}; // -3 +- 4 i
    for (int v = 0; v < 2; ++v) {
        model m = begin_model(G_DOWN);
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = tal_mass_props_point(2.0, tal_v3(0.0, -1.0, 0.0));
        tal_motion_def follow = tal_motion_def_default();
        follow.body = tal_matter_add_pin(m.matter, TAL_GROUND, &def);
        follow.level = v == 0 ? TAL_LEVEL_ACCELERATION : TAL_LEVEL_VELOCITY;
        (void)tal_matter_add_motion(m.matter, &follow, &following_ops, k_and_c, NULL);
        finish_model(&m);
        find_modes(&m);
        ck_assert_int_eq(tal_linearizer_num_modes(m.lin), v == 0 ? 2 : 1);
        const tal_mode mode = tal_linearizer_mode(m.lin, 0);
        ck_assert_double_eq_tol(mode.re, v == 0 ? -3.0 : -25.0, 1e-10);
        ck_assert_double_eq_tol(mode.im, v == 0 ? 4.0 : 0.0, 1e-10);
        end_model(&m);
    }
}

END_TEST

// A mass of 2 on a spring of 30 to a body that is fast, and that on a spring of 60 to Ground:
// together 30 * 60 / (30 + 60) = 20, whatever the mass of the fast one.
START_TEST(what_is_fast_follows_small_motions)
{
    model m = begin_model(TAL_VEC3_ZERO);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(2.0, TAL_VEC3_ZERO);
    const tal_body_ix slow = tal_matter_add_slider(m.matter, TAL_GROUND, &def);
    def.mass = tal_mass_props_point(0.5, TAL_VEC3_ZERO);
    const tal_body_ix fast = tal_matter_add_slider(m.matter, TAL_GROUND, &def);
    (void)tal_matter_make_fast(m.matter, fast, TAL_LEVEL_POSITION);
    (void)tal_forces_add_mobility_spring(m.forces, NULL, (tal_mobility){fast, 0}, 60.0, 0.0);
    const tal_two_points ends = {fast, TAL_VEC3_ZERO, slow, TAL_VEC3_ZERO};
    (void)tal_forces_add_two_point_spring(m.forces, NULL, &ends, 30.0, 1.0);
    finish_model(&m);
    ck_assert_int_eq(tal_body_set_q(m.matter, m.state, slow, 0, 1.0), TAL_OK);
    find_modes(&m);
    ck_assert_int_eq(tal_linearizer_num_modes(m.lin), 2);
    ck_assert_double_eq_tol(tal_linearizer_mode(m.lin, 0).im, sqrt(10.0), 1e-8);
    end_model(&m);
}

END_TEST

// --- constraints, again ---

// A parallelogram: a bar of mass M hangs from two rods of mass m and length l, so that it stays
// level. With all rods turned by q,
//
//     (2 m l^2 / 3 + M l^2) qdd = -(m + M) g l q
START_TEST(a_parallelogram_swings_as_one)
{
    const double l = 0.8, rod = 0.7, bar = 2.5;
    model m = begin_model(G_DOWN);
    tal_mobod_def def = tal_mobod_def_default();
    const double I = rod * l * l / 3.0, I_bar = bar * 1.5 * 1.5 / 3.0; // about their ends
    def.mass = (tal_mass_props){rod, {0.0, -0.5 * l, 0.0}, tal_s3_diag(I, 0.0, I)};
    const tal_body_ix left = tal_matter_add_pin(m.matter, TAL_GROUND, &def);
    def.X_PF = tal_xf_from_p(tal_v3(1.5, 0.0, 0.0));
    const tal_body_ix right = tal_matter_add_pin(m.matter, TAL_GROUND, &def);
    def.mass = (tal_mass_props){bar, {0.75, 0.0, 0.0}, tal_s3_diag(0.0, I_bar, I_bar)};
    def.X_PF = tal_xf_from_p(tal_v3(0.0, -l, 0.0));
    const tal_body_ix level = tal_matter_add_pin(m.matter, left, &def);
    const tal_constraint_def ends = tal_constraint_between(level, right);
    (void)tal_constraint_add_ball(m.matter, &ends, tal_v3(1.5, 0.0, 0.0), tal_v3(0.0, -l, 0.0));
    finish_model(&m);
    find_modes(&m);
    ck_assert_int_eq(tal_linearizer_num_modes(m.lin), 2);
    const double omega = sqrt((rod + bar) * 9.81 / ((2.0 * rod / 3.0 + bar) * l));
    ck_assert_double_eq_tol(tal_linearizer_mode(m.lin, 0).im, omega, 1e-9);
    double re[3], im[3];
    ck_assert_int_eq(tal_linearizer_mode_shape(m.lin, 0, re, im), TAL_OK);
    ck_assert_double_lt(hypot(re[0] - re[1], im[0] - im[1]), 1e-12); // both rods alike,
    ck_assert_double_lt(hypot(re[0] + re[2], im[0] + im[2]), 1e-12); // the bar against them
    end_model(&m);
}

END_TEST

// A pendulum of 800 m in millimeters: what round-off leaves of its constraint is far above 1e-13.
// Differences of 10 m, a hundredth of its length, leave (0.01)^6 of the frequency, and round-off
// less.
START_TEST(size_does_not_matter)
{
    const double l = 8e5;
    model m = begin_model(tal_v3(0.0, -9810.0, 0.0));
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(3.0, TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_translation(m.matter, TAL_GROUND, &def);
    const tal_constraint_def ends = tal_constraint_between(TAL_GROUND, body);
    (void)tal_constraint_add_rod(m.matter, &ends, TAL_VEC3_ZERO, TAL_VEC3_ZERO, l);
    finish_model(&m);
    const double hanging[] = {0.0, -l, 0.0};
    ck_assert_int_eq(tal_state_set_q(m.state, hanging, 3), TAL_OK);
    const double weights[] = {1e-6, 1e-6, 1e-6}; // a unit of motion is 1 km
    ck_assert_int_eq(tal_state_set_weights(m.state, TAL_POOL_U, weights, 3), TAL_OK);
    find_modes(&m);
    const double omega = sqrt(9810.0 / l);
    ck_assert_double_eq_tol(tal_linearizer_mode(m.lin, 0).im, omega, 1e-7 * omega);
    end_model(&m);
}

END_TEST

// --- auxiliary variables ---

static tal_status calc_place(const void *self, const tal_system *system, tal_state *state,
                             int order, int n, double value[])
{
    (void)system, (void)order, (void)n;
    const double q = tal_state_q(state)[0];
    value[0] = *(const bool *)self && q > 0.0 ? (double)NAN : q;
    return TAL_OK;
}

static void needs_place(const void *self, const tal_system *system, int order,
                        tal_measure_needs *needs)
{
    (void)self, (void)system, (void)order;
    tal_measure_needs_stage(needs, TAL_STAGE_POSITION);
}

static const tal_measure_ops place_ops = {
    .size = sizeof place_ops, .name = "place", .calc = calc_place, .needs = needs_place};

// A mass on a spring, m = 2, k = 50, and the integral of its place, z.
static model oscillator_with_integral(bool breaks)
{
    model m = begin_model(TAL_VEC3_ZERO);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(2.0, TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_slider(m.matter, TAL_GROUND, &def);
    (void)tal_forces_add_mobility_spring(m.forces, NULL, (tal_mobility){body, 0}, 50.0, 0.0);
    const tal_subsystem_ix owner = tal_matter_subsystem(m.matter);
    tal_measure_def place = tal_measure_def_default();
    place.name = "place";
    place.size = 1;
    place.self = &breaks;
    place.self_size = sizeof breaks;
    const tal_measure_ix measure = tal_system_add_measure(m.system, owner, &place_ops, &place);
    (void)tal_measure_add_integrate(m.system, owner, "sum", measure, NULL);
    finish_model(&m);
    return m;
}

START_TEST(auxiliary_variables_come_last)
{
    model m = oscillator_with_integral(false);
    find_modes(&m);
    const tal_linear_sizes sizes = tal_linearizer_sizes(m.lin);
    ck_assert(sizes.ns == 1 && sizes.nv == 1 && sizes.nz == 1);
    const double wanted[] = {0.0, -25.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    test_assert_near(tal_linearizer_A(m.lin).data, wanted, 9, 1e-11, "A");
    ck_assert_double_eq_tol(tal_linearizer_mode(m.lin, 1).im, 5.0, 1e-10);
    end_model(&m);
}

END_TEST

START_TEST(rates_that_are_not_finite_are_reported)
{
    model m = oscillator_with_integral(true);
    ck_assert_int_eq(tal_linearizer_run(m.lin, m.state), TAL_ERR_NOT_FINITE);
    ck_assert_int_gt((int)strlen(tal_linearizer_error(m.lin)->message), 10);
    ck_assert_int_eq(tal_linearizer_A(m.lin).rows, 0);
    tal_state_upd_q(m.state)[0] = (double)NAN;
    ck_assert_int_eq(tal_linearizer_run(m.lin, m.state), TAL_ERR_NOT_FINITE);
    end_model(&m);
}

END_TEST

// A bob on a rod of one meter: x = 0, y = -1 hangs, and vy = 0 there.
START_TEST(a_state_that_was_never_assembled_is_refused_by_name)
{
    model m = begin_model(G_DOWN);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(2.0, TAL_VEC3_ZERO);
    const tal_body_ix bob = tal_matter_add_translation(m.matter, TAL_GROUND, &def);
    tal_constraint_def rod = tal_constraint_between(TAL_GROUND, bob);
    rod.name = "rod";
    (void)tal_constraint_add_rod(m.matter, &rod, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
    finish_model(&m);
    tal_body_set_q(m.matter, m.state, bob, 1, -1.5);
    ck_assert_int_eq(tal_linearizer_run(m.lin, m.state), TAL_ERR_BAD_VALUE);
    ck_assert_str_eq(tal_linearizer_error(m.lin)->message,
                     "constraint 'rod' is off by 0.5: assemble the State first");
    ck_assert_int_eq(tal_linearizer_A(m.lin).rows, 0);
    tal_body_set_q(m.matter, m.state, bob, 1, -1.0);
    tal_body_set_u(m.matter, m.state, bob, 1, -0.25);
    ck_assert_int_eq(tal_linearizer_run(m.lin, m.state), TAL_ERR_BAD_VALUE);
    ck_assert_str_eq(
        tal_linearizer_error(m.lin)->message,
        "constraint 'rod' is off by 0.25 in its velocities: assemble the speeds first");
    tal_body_set_u(m.matter, m.state, bob, 1, 0.0);
    ck_assert_int_eq(tal_linearizer_run(m.lin, m.state), TAL_OK);
    ck_assert_int_eq(tal_linearizer_A(m.lin).rows, 4);
    end_model(&m);
}

END_TEST

START_TEST(bad_calls_are_refused)
{
    model m = begin_model(G_DOWN);
    finish_model(&m);
    tal_linearizer *out = NULL;
    tal_error err;
    tal_linearizer_def def = tal_linearizer_def_default();
    def.step = (double)NAN;
    ck_assert_int_eq(tal_linearizer_create(m.system, &def, &out, &err), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_linearizer_create(NULL, NULL, &out, &err), TAL_ERR_NULL);
    ck_assert_int_eq(tal_linearizer_find_modes(m.lin), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_linearizer_error(m.lin)->message, "tal_linearizer_run"));
    ck_assert_int_eq(tal_linearizer_num_modes(m.lin), 0);
    ck_assert_int_eq(tal_linearizer_A(m.lin).rows, 0);
    test_record_breaches();
    test_assert_breach((void)tal_linearizer_mode(m.lin, 0), TAL_ERR_BAD_INDEX, "mode 0");
    test_assert_refused(tal_linearizer_run(NULL, m.state), TAL_ERR_NULL, "NULL");
    test_assert_refused(tal_linearizer_run(m.lin, NULL), TAL_ERR_NULL, "State");
    test_assert_refused(tal_linearizer_find_modes(NULL), TAL_ERR_NULL, "NULL");
    double re, im;
    test_assert_breach((void)tal_linearizer_mode_shape(m.lin, 0, NULL, &im), TAL_ERR_NULL, "NULL");
    test_assert_breach((void)tal_linearizer_mode_shape(m.lin, 0, &re, &im), TAL_ERR_BAD_INDEX,
                       "mode 0");
    test_assert_refused(tal_linearizer_create(m.system, NULL, NULL, NULL), TAL_ERR_NULL, "out");
    ck_assert_int_eq(tal_linearizer_error(NULL)->status, TAL_ERR_NULL);
    ck_assert_int_eq(tal_linearizer_sizes(NULL).ns, 0);
    ck_assert_int_eq(tal_linearizer_num_modes(NULL), 0);
    // nothing moves: nothing to find
    find_modes(&m);
    ck_assert_int_eq(tal_linearizer_num_modes(m.lin), 0);
    end_model(&m);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/linearizer");
    TCase *tests = tcase_create("linearizer");
    tcase_add_test(tests, five_pendulums_swing_with_the_zeros_of_laguerre);
    tcase_add_test(tests, fifty_pendulums_swing_with_the_zeros_of_laguerre);
    tcase_add_test(tests, a_particle_on_a_rod_is_a_pendulum);
    tcase_add_test(tests, a_quaternion_need_not_have_the_length_one);
    tcase_add_test(tests, a_damped_oscillator_has_its_two_eigenvalues);
    tcase_add_test(tests, what_is_locked_has_no_modes);
    tcase_add_loop_test(tests, a_pendulum_on_a_carousel_swings_about_where_it_stands_out, 0,
                        NUM_TURNINGS);
    tcase_add_test(tests, motions_that_follow_the_state_have_modes_of_their_own);
    tcase_add_test(tests, what_is_fast_follows_small_motions);
    tcase_add_test(tests, a_parallelogram_swings_as_one);
    tcase_add_test(tests, size_does_not_matter);
    tcase_add_test(tests, auxiliary_variables_come_last);
    tcase_add_test(tests, rates_that_are_not_finite_are_reported);
    tcase_add_test(tests, a_state_that_was_never_assembled_is_refused_by_name);
    tcase_add_test(tests, bad_calls_are_refused);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
