// Trajectories of trees against references known to 1e-16, and what must be conserved.
//
// References: elliptic functions, or integration with 150-bit numbers in which two runs of
// different order agree to 1e-17. Where a solution is regular the local errors add up: at accuracy
// 1e-10 some 1e4 steps make 1e-6 in the worst case, when all have one sign, and 1e-8 when they do
// not. The bound kept here is 1e-7.
#include "alloc_guard.h"
#include "talus_test.h"

#include <talus/study.h>

#include <math.h>
#include <stdio.h>

static const double ACCURACY = 1e-10;
static const double BOUND = 1e-7;

typedef struct model {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    tal_integrator *integ;
} model;

static model begin_model(tal_vec3 g)
{
    model m = {.system = tal_system_create(NULL)};
    m.matter = tal_matter_create(m.system);
    m.forces = tal_forces_create(m.system, m.matter);
    (void)tal_forces_add_gravity(m.forces, g);
    return m;
}

static void finish_model(model *m, double accuracy)
{
    tal_error err = {0};
    tal_integrator_def def = tal_integrator_def_default();
    def.accuracy = accuracy;
    ck_assert_msg(tal_system_realize_topology(m->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(m->system, &m->state, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_integrator_create(m->system, &def, &m->integ, &err) == TAL_OK, "%s",
                  err.message);
}

static void end_model(model *m)
{
    tal_integrator_destroy(m->integ);
    tal_state_destroy(m->state);
    tal_system_destroy(m->system);
}

static void go_to(model *m, double t)
{
    const tal_status st = tal_integrator_step_to(m->integ, m->state, t);
    ck_assert_msg(st == TAL_OK, "%s", tal_integrator_error(m->integ)->message);
}

// --- planar chains: links of 1 m and 1 kg on pins about z, y up ---

static const tal_vec3 G_DOWN = {0.0, -9.81, 0.0};

static model begin_chain(int n, bool rods, const double theta_abs[], double accuracy)
{
    model m = begin_model(G_DOWN);
    tal_mobod_def link = tal_mobod_def_default();
    link.mass = rods ? tal_mass_props_rod(1.0, tal_v3(0.0, 0.5, 0.0))
                     : tal_mass_props_point(1.0, tal_v3(0.0, -0.5, 0.0));
    link.X_BM = tal_xf_from_p(tal_v3(0.0, 0.5, 0.0)); // B in the middle of the link
    tal_body_ix body = TAL_GROUND;
    for (int i = 0; i < n; ++i) {
        link.X_PF = tal_xf_from_p(tal_v3(0.0, i == 0 ? 0.0 : -0.5, 0.0));
        body = tal_matter_add_pin(m.matter, body, &link);
    }
    finish_model(&m, accuracy);
    for (int i = 0; i < n; ++i) {
        const tal_body_ix link_ix = {i + 1};
        const double turn = theta_abs[i] - (i == 0 ? 0.0 : theta_abs[i - 1]);
        tal_body_set_q(m.matter, m.state, link_ix, 0, turn);
    }
    return m;
}

// Largest deviation of absolute angles and rates from a row of the reference.
static double chain_error(const model *m, int n, const double theta[], const double omega[])
{
    double angle = 0.0, rate = 0.0, worst = 0.0;
    for (int i = 0; i < n; ++i) {
        const tal_body_ix link = {i + 1};
        angle += tal_body_q(m->matter, m->state, link, 0);
        rate += tal_body_u(m->matter, m->state, link, 0);
        worst = fmax(worst, fmax(fabs(angle - theta[i]), fabs(rate - omega[i])));
    }
    return worst;
}

START_TEST(a_double_pendulum_of_points_follows_its_reference)
{
    static const double times[] = {0.5, 1.0, 2.0, 5.0, 10.0};
    static const double theta[][2] = {{0.57047205123299216283, 1.2038751111582441186},
                                      {-0.62508769980639063091, -1.0345850856800123418},
                                      {-0.48297153425175434573, -1.324048712302362509},
                                      {-0.62718670506653070934, -1.3013155502098115215},
                                      {-0.56847466401594914881, -0.52639372793240598479}};
    static const double omega[][2] = {{-2.7896457661673742884, -3.1880627466512095439},
                                      {-3.9222795728879765477, -1.3030992486963312513},
                                      {3.065288192073401238, 2.9492715475716191176},
                                      {2.1254086738429106105, 3.8818887272656075739},
                                      {6.0783848857619661464, -9.6813606817088805952}};
    const double start[] = {TAL_PI / 2.0, TAL_PI / 2.0};
    model m = begin_chain(2, false, start, ACCURACY);
    for (int k = 0; k < 5; ++k) {
        go_to(&m, times[k]);
        test_validate("double pendulum of points, 10 s", "refs:double_pendulum_point",
                      "angles and rates", "Merson, 1e-10", chain_error(&m, 2, theta[k], omega[k]),
                      BOUND);
    }
    end_model(&m);
}

END_TEST

// Chaotic: errors grow by e^(1.5 t) to e^(3 t), so 1e-10 becomes 1e-7 somewhere between 2.3 s and
// 4.6 s. The rows up to 2 s are compared with the bound; at 5 s e^15 allows 1e-3.
START_TEST(a_double_pendulum_of_rods_follows_its_reference)
{
    static const double times[] = {0.5, 1.0, 2.0, 5.0};
    static const double theta[][2] = {{0.64571879614330272108, 2.5126918695466940334},
                                      {-0.74426486479263444743, -2.1450703694643219015},
                                      {-1.1224596076358109699, 3.821559652579651792},
                                      {-1.0123007258126068728, 11.71729854910918478}};
    static const double omega[][2] = {{-4.8711423998039601871, -6.8472267494887247905},
                                      {-5.3692115028299598446, 0.18881762662661943824},
                                      {1.439655636388118855, 8.0610491372906706175},
                                      {8.499114221301232029, -11.394492264791483689}};
    const double start[] = {2.0, 3.0};
    model m = begin_chain(2, true, start, ACCURACY);
    for (int k = 0; k < 4; ++k) {
        go_to(&m, times[k]);
        // theta_abs of the reference counts turns as q does
        test_validate(k < 3 ? "double pendulum of rods, 2 s" : "double pendulum of rods, 5 s",
                      "refs:double_pendulum_rods", "angles and rates", "Merson, 1e-10",
                      chain_error(&m, 2, theta[k], omega[k]), k < 3 ? BOUND : 1e-3);
    }
    end_model(&m);
}

END_TEST

START_TEST(a_chain_of_five_rods_follows_its_reference)
{
    static const double times[] = {0.5, 1.0, 2.0, 3.0};
    static const double theta[][5] = {
        {0.26584946819361318006, 0.37376654983932052017, 0.58730639759096807953,
         0.89318819180013673015, 0.63703744734033346674},
        {-0.17636157224353901279, -0.10870325923119425495, -0.1677412833430547513,
         -0.17434884921797837959, 1.0622139891112124497},
        {-0.31136633079973872821, -0.49652730498634080964, -1.2485351476906558682,
         -1.0172311939507507421, -1.2944090246471291812},
        {0.26076904638761604567, 0.071218683657516780005, 0.1263583824080654013,
         0.017547900297130253592, 0.66696019187790010873}};
    static const double omega[][5] = {
        {-1.384748176294173227, -1.0312605320305048538, -2.5909067160677881487,
         1.4323814212970740114, 2.99107423458664567},
        {-0.10303978120187857911, -1.1110710192622848839, -1.5826369943940031773,
         -2.0370974227166080715, -5.9236641716993727961},
        {-0.97559337422573247519, 0.72140496428004807, 0.824248695175334382,
         -0.22872939977307747791, 2.4390254681429940262},
        {2.6680468176540807785, -0.83187753169166552702, 2.6432308184034565451,
         1.6024839257282158576, -3.9792931401880053163}};
    const double start[] = {1.0, 0.8, 0.6, 0.4, 0.2};
    model m = begin_chain(5, true, start, ACCURACY);
    for (int k = 0; k < 4; ++k) {
        go_to(&m, times[k]);
        test_validate("chain of five rods, 3 s", "refs:chain_5_rods", "angles and rates",
                      "Merson, 1e-10", chain_error(&m, 5, theta[k], omega[k]), BOUND);
    }
    end_model(&m);
}

END_TEST

// T = 4 sqrt(L/g) K(sin^2(a/2)), with L = 1 m and g = 9.81 m/s^2: after it the pendulum is back.
START_TEST(a_pendulum_is_back_after_its_period)
{
    static const double rows[][2] = {
        {1.0, 2.0061048740557132728},  {10.0, 2.0098926272986006829}, {45.0, 2.086255872614367302},
        {90.0, 2.3678419475762374493}, {120.0, 2.754089828887825677}, {170.0, 4.893524274105486164},
    };
    for (int k = 0; k < 6; ++k) {
        const double amplitude = rows[k][0] * TAL_PI / 180.0;
        model m = begin_chain(1, false, &amplitude, ACCURACY);
        go_to(&m, rows[k][1]);
        const double at_rest = 0.0;
        char name[80];
        (void)snprintf(name, sizeof name, "pendulum, amplitude %g degrees", rows[k][0]);
        test_validate(name, "refs:pendulum_period_table", "angle and rate after a period",
                      "Merson, 1e-10", chain_error(&m, 1, &amplitude, &at_rest), BOUND);
        end_model(&m);
    }
}

END_TEST

// Half a period, with steps h and h/2: the error falls by 2^4.
START_TEST(merson_is_of_order_four_on_a_pendulum)
{
    double error[2];
    for (int k = 0; k < 2; ++k) {
        const double amplitude = TAL_PI / 2.0, half_period = 0.5 * 2.3678419475762374493;
        model m = begin_chain(1, false, &amplitude, ACCURACY);
        tal_integrator_destroy(m.integ);
        tal_integrator_def def = tal_integrator_def_default();
        def.fixed_step = half_period / (k == 0 ? 100.0 : 200.0);
        ck_assert_int_eq(tal_integrator_create(m.system, &def, &m.integ, NULL), TAL_OK);
        go_to(&m, half_period);
        ck_assert_uint_eq(tal_integrator_statistics(m.integ).steps_taken, k == 0 ? 100 : 200);
        const double across = -amplitude, at_rest = 0.0;
        error[k] = chain_error(&m, 1, &across, &at_rest);
        end_model(&m);
    }
    ck_assert_double_eq_tol(log2(error[0] / error[1]), 4.0, 0.1);
}

END_TEST

// --- rotations ---

// Distance of the quaternions' rotations, whatever their signs.
static double quat_error(const double *q, const double ref[4])
{
    double plus = 0.0, minus = 0.0;
    for (int i = 0; i < 4; ++i) {
        plus += (q[i] - ref[i]) * (q[i] - ref[i]);
        minus += (q[i] + ref[i]) * (q[i] + ref[i]);
    }
    return sqrt(fmin(plus, minus));
}

// w_GB in B, for a body on a ball joint at Ground.
static tal_vec3 omega_body(const model *m)
{
    const tal_body_ix body = {1};
    const tal_xform X_GB = tal_body_X_GB(m->matter, m->state, body);
    return tal_m3_tmul_v3(X_GB.R, tal_body_V_GB(m->matter, m->state, body).w);
}

static void set_rotation(model *m, tal_quat q, tal_vec3 w_B)
{
    const tal_body_ix body = {1};
    const tal_vec3 w_G = tal_m3_mul_v3(tal_rotation_from_qt(q), w_B);
    const double values[] = {q.w, q.x, q.y, q.z};
    for (int i = 0; i < 4; ++i) {
        tal_body_set_q(m->matter, m->state, body, i, values[i]);
    }
    tal_body_set_u(m->matter, m->state, body, 0, w_G.x);
    tal_body_set_u(m->matter, m->state, body, 1, w_G.y);
    tal_body_set_u(m->matter, m->state, body, 2, w_G.z);
}

// Spun about its intermediate axis the body turns over every 5 s; in between errors grow by
// e^(2.9 t), up to the flip: 1e-10 e^(2.9 * 2.5) is 1e-7. Later rows of the reference have more
// flips behind them.
START_TEST(a_free_asymmetric_top_turns_over_as_it_should)
{
    static const double rows[][8] = {
        {1.0, -0.064882609539610320291, 4.9995890078064747329, 0.038339505390087007654,
         0.80113211236604220004, -0.0017634283588975890179, -0.59843994405240966843,
         -0.0073390884239771862323},
        {2.0, -1.1612500596360354741, 4.8632908918750998412, 0.67049775068096386695,
         0.28163704782895935242, 0.027279833320169096069, -0.95218216377970396797,
         -0.11526279089113391329},
        {3.0, -3.8681418083287317743, -3.1682138423186224215, 2.2332876400306246791,
         0.14967844189884679561, -0.69474167945060974829, 0.40094474761562002619,
         0.57807756592374912537},
        {5.0, -0.011325693900949457308, -4.9999971728649669304, 0.010460582239021620471,
         0.0025872295173651941638, -0.83098158427691176017, 0.000847630365329777631,
         -0.55629326290979117242},
        {10.0, 0.01271487062946208437, 4.9999938332026846653, 0.010979798649094277169,
         0.38107559831855981208, -0.0011060462506030091072, -0.92453880296325744013,
         -0.0028577689042707415065},
    };
    model m = begin_model(TAL_VEC3_ZERO);
    tal_mobod_def top = tal_mobod_def_default();
    top.mass.mass = 1.0;
    top.mass.inertia = (tal_sym3){.xx = 1.0, .yy = 2.0, .zz = 3.0};
    (void)tal_matter_add_ball(m.matter, TAL_GROUND, &top);
    finish_model(&m, 1e-12);
    set_rotation(&m, TAL_QUAT_IDENTITY, tal_v3(0.01, 5.0, 0.01));
    for (int k = 0; k < 5; ++k) {
        go_to(&m, rows[k][0]);
        const tal_vec3 omega = omega_body(&m);
        test_validate("free asymmetric top, 10 s", "refs:free_asymmetric_top",
                      "angular velocity [rad/s]", "Merson, 1e-12",
                      test_difference(&omega.x, rows[k] + 1, 3), BOUND);
        test_validate("free asymmetric top, 10 s", "refs:free_asymmetric_top", "quaternion",
                      "Merson, 1e-12", quat_error(tal_state_q(m.state), &rows[k][4]), BOUND);
    }
    ck_assert_double_eq_tol(tal_system_energy(m.system, m.state), 25.0002, 1e-10);
    end_model(&m);
}

END_TEST

START_TEST(a_lagrange_top_nutates_as_it_should)
{
    static const double rows[][8] = {
        {0.1, -1.6497141311960412459, 1.1491097821752055342, 50.0, 0.77151809912537013768,
         0.21278924727038618995, 0.20569276231520881346, -0.563179408802574204},
        {0.5, -1.7860863970065662551, -0.17840528129945985458, 50.0, 0.95686647313327548556,
         0.1292894479886656911, 0.25825029317069802487, 0.031584447272688080806},
        {1.0, -2.1776241575931888181, -0.43941308661631262473, 50.0, 0.95183350609970901123,
         -0.13237269241734907065, 0.2731635781737042863, 0.043267846346399673905},
        {2.0, 0.96265772647390092023, 0.40499102065034042568, 50.0, 0.95767462338246638584,
         -0.13574741744439879049, -0.23263533890928627546, 0.10155172808469985445},
    };
    model m = begin_model(tal_v3(0.0, 0.0, -9.81));
    tal_mobod_def top = tal_mobod_def_default();
    top.mass.mass = 1.0;
    top.mass.com = tal_v3(0.0, 0.0, 0.1);
    top.mass.inertia = (tal_sym3){.xx = 0.02, .yy = 0.02, .zz = 0.01};
    (void)tal_matter_add_ball(m.matter, TAL_GROUND, &top);
    finish_model(&m, ACCURACY);
    const double half = 0.5 * TAL_PI / 6.0;
    set_rotation(&m, (tal_quat){cos(half), sin(half), 0.0, 0.0}, tal_v3(0.0, 0.0, 50.0));
    for (int k = 0; k < 4; ++k) {
        go_to(&m, rows[k][0]);
        // speeds are 50 rad/s: relative to that
        const tal_vec3 omega = omega_body(&m);
        test_validate("Lagrange's top, 2 s", "refs:lagrange_top_nutation",
                      "angular velocity [rad/s]", "Merson, 1e-10",
                      test_difference(&omega.x, rows[k] + 1, 3), 50.0 * BOUND);
        test_validate("Lagrange's top, 2 s", "refs:lagrange_top_nutation", "quaternion",
                      "Merson, 1e-10", quat_error(tal_state_q(m.state), &rows[k][4]), BOUND);
    }
    end_model(&m);
}

END_TEST

// On a universal joint, because a point on a ball joint could spin about its rod without inertia:
// p = (-sin q1, sin q0 cos q1, -cos q0 cos q1).
START_TEST(a_spherical_pendulum_precesses_as_it_should)
{
    static const double rows[][7] = {
        {0.5, 0.067693724332815858889, 0.28776519796069499943, -0.95530557965951122809,
         -3.1059448549879912781, -0.41004439539644042991, -0.34360678761806168474},
        {2.0, 0.67256357597628690219, 0.46055263697208230864, -0.5792663505228408479,
         -0.029437784199244700768, 1.2674902196531046173, 0.97355418811861764008},
        {10.0, 0.44649388656179677789, 0.47561561556419000089, -0.75791358049215477616,
         -2.0432983036891871686, -0.23695548783581444047, -1.3524232282024211629},
    };
    model m = begin_model(tal_v3(0.0, 0.0, -9.81));
    tal_mobod_def bob = tal_mobod_def_default();
    const tal_vec3 p_BS = tal_v3(0.0, 0.0, -1.0);
    bob.mass = tal_mass_props_point(1.0, p_BS);
    const tal_body_ix body = tal_matter_add_universal(m.matter, TAL_GROUND, &bob);
    finish_model(&m, ACCURACY);
    tal_body_set_q(m.matter, m.state, body, 1, -TAL_PI / 3.0);
    tal_body_set_u(m.matter, m.state, body, 0, 2.0);
    for (int k = 0; k < 3; ++k) {
        const double *row = rows[k];
        go_to(&m, row[0]);
        const tal_vec3 p = tal_station_p_GS(m.matter, m.state, body, p_BS);
        const tal_vec3 v = tal_station_v_GS(m.matter, m.state, body, p_BS);
        const double found[] = {p.x, p.y, p.z, v.x, v.y, v.z};
        test_validate("spherical pendulum, 10 s", "refs:spherical_pendulum",
                      "position and velocity", "Merson, 1e-10", test_difference(found, row + 1, 6),
                      BOUND);
    }
    end_model(&m);
}

END_TEST

// --- conservation ---

// A free body that carries others on pins, balls and universal joints.
static model begin_free_tree(uint64_t seed, tal_vec3 g, double accuracy)
{
    test_rng rng = test_rng_seed(seed);
    model m = begin_model(g);
    for (int b = 1; b <= 8; ++b) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = test_random_mass_props(&rng);
        def.X_PF = test_random_xform(&rng);
        def.X_BM = test_random_xform(&rng);
        const tal_body_ix parent = {b == 1 ? 0
                                           : 1 + (int)(test_random_bits(&rng) % (uint64_t)(b - 1))};
        if (b == 1)
            (void)tal_matter_add_free(m.matter, parent, &def);
        else if (b % 3 == 0)
            (void)tal_matter_add_ball(m.matter, parent, &def);
        else if (b % 3 == 1)
            (void)tal_matter_add_universal(m.matter, parent, &def);
        else
            (void)tal_matter_add_pin(m.matter, parent, &def);
    }
    finish_model(&m, accuracy);
    double *u = tal_state_upd_u(m.state);
    for (int i = 0; i < tal_state_nu(m.state); ++i) {
        u[i] = test_random_uniform(&rng, -0.5, 0.5);
    }
    return m;
}

// Momentum and energy are sums of some 100 terms of size 10; local errors of 1e-13 in 1e4 steps add
// up to at most 1e-9 if all have one sign, and to 1e-11 when they do not.
START_TEST(a_floating_tree_keeps_its_momentum_and_energy_for_ten_seconds)
{
    for (uint64_t seed = 1; seed <= 2; ++seed) {
        model m = begin_free_tree(seed, TAL_VEC3_ZERO, 1e-13);
        go_to(&m, 0.0);
        const tal_spatial_vec before = tal_matter_momentum(m.matter, m.state);
        const double energy = tal_system_energy(m.system, m.state);
        const double size = fmax(1.0, sqrt(tal_sv_dot(before, before)));

        go_to(&m, 10.0);

        const tal_spatial_vec after = tal_matter_momentum(m.matter, m.state);
        test_assert_sv_near(after, before, 1e-10 * size);
        ck_assert_double_eq_tol(tal_system_energy(m.system, m.state), energy, 1e-10 * energy);
        end_model(&m);
    }
}

END_TEST

// The center of mass falls as a stone does: exactly, because a parabola is of degree two.
START_TEST(the_center_of_mass_of_a_falling_tree_follows_a_parabola)
{
    model m = begin_free_tree(3, G_DOWN, 1e-10);
    go_to(&m, 0.0);
    const tal_vec3 p0 = tal_matter_com(m.matter, m.state);
    const tal_vec3 v0 = tal_matter_com_velocity(m.matter, m.state);
    const double energy = tal_system_energy(m.system, m.state);
    go_to(&m, 3.0);
    const tal_vec3 fallen = tal_v3_axpy(3.0, v0, tal_v3_axpy(4.5, G_DOWN, p0));
    test_assert_v3_near(tal_matter_com(m.matter, m.state), fallen, BOUND);
    ck_assert_double_eq_tol(tal_system_energy(m.system, m.state), energy, BOUND * fabs(energy));
    end_model(&m);
}

END_TEST

START_TEST(conservative_pendulums_keep_their_energy_for_ten_seconds)
{
    static const double starts[][5] = {{3.0}, {2.0, 3.0}, {1.0, 0.8, 0.6, 0.4, 0.2}};
    static const int links[] = {1, 2, 5};
    for (int k = 0; k < 3; ++k) {
        model m = begin_chain(links[k], true, starts[k], ACCURACY);
        go_to(&m, 0.0);
        const double energy = tal_system_energy(m.system, m.state);
        go_to(&m, 10.0);
        ck_assert_double_eq_tol(tal_system_energy(m.system, m.state), energy, BOUND);
        end_model(&m);
    }
}

END_TEST

// --- what only matter can show of the integrator ---

// N^+ weighs a turn the same for a quaternion and for angles, so the steps are nearly the same.
START_TEST(quaternions_and_angles_take_the_same_steps)
{
    uint64_t steps[2];
    for (int k = 0; k < 2; ++k) {
        model m = begin_free_tree(3, TAL_VEC3_ZERO, 1e-8);
        if (k == 1) ck_assert_int_eq(tal_matter_set_use_angles(m.matter, m.state, true), TAL_OK);
        go_to(&m, 1.0);
        steps[k] = tal_integrator_statistics(m.integ).steps_taken;
        end_model(&m);
    }
    ck_assert_uint_lt(steps[0], 2 * steps[1]);
    ck_assert_uint_lt(steps[1], 2 * steps[0]);
}

END_TEST

START_TEST(quaternions_have_length_one_after_every_step)
{
    model m = begin_free_tree(4, TAL_VEC3_ZERO, 1e-2);
    for (int k = 1; k <= 20; ++k) {
        go_to(&m, 0.25 * k);
        const double *qerr = tal_state_qerr(m.state);
        for (int i = 0; i < tal_state_pool_size(m.state, TAL_POOL_QERR); ++i) {
            ck_assert_double_lt(fabs(qerr[i]), 4e-16);
        }
    }
    end_model(&m);
}

END_TEST

// The State has all that varies but the size of the next step, which a def can give.
START_TEST(a_saved_run_resumes_with_the_same_bytes)
{
    static unsigned char bytes[1 << 16];
    model a = begin_free_tree(6, G_DOWN, 1e-6);
    go_to(&a, 0.5);
    const size_t size = tal_state_save_size(a.state);
    ck_assert_uint_le(size, sizeof bytes);
    ck_assert_int_eq(tal_state_save(a.state, bytes, size), TAL_OK);
    const double next = tal_integrator_statistics(a.integ).next_step;
    go_to(&a, 1.5);

    model b = begin_free_tree(6, G_DOWN, 1e-6);
    tal_integrator_destroy(b.integ);
    tal_integrator_def def = tal_integrator_def_default();
    def.accuracy = 1e-6;
    def.initial_step = next;
    ck_assert_int_eq(tal_integrator_create(b.system, &def, &b.integ, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_load(b.system, b.state, bytes, size), TAL_OK);
    go_to(&b, 1.5);

    ck_assert(tal_state_is_equal(a.state, b.state));
    end_model(&a);
    end_model(&b);
}

END_TEST

// A force that grows without bound: the story names the body whose speed limits the step.
static tal_status runaway(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                          double f[])
{
    (void)self;
    (void)F;
    const double u = tal_state_u(context->state)[0];
    f[0] += u * u;
    return TAL_OK;
}

static tal_status poison(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                         double f[])
{
    (void)self;
    (void)F;
    f[0] += tal_state_t(context->state) > 0.5 ? (double)NAN : 0.0;
    return TAL_OK;
}

static const tal_force_ops runaway_ops = {
    .size = sizeof runaway_ops, .name = "runaway", .apply = runaway};
static const tal_force_ops poison_ops = {
    .size = sizeof poison_ops, .name = "poison", .apply = poison};

static model begin_slider(const tal_force_ops *ops)
{
    model m = begin_model(TAL_VEC3_ZERO);
    tal_mobod_def cart = tal_mobod_def_default();
    cart.name = "cart";
    cart.mass.mass = 1.0;
    (void)tal_matter_add_slider(m.matter, TAL_GROUND, &cart);
    cart.name = "bystander";
    (void)tal_matter_add_slider(m.matter, TAL_GROUND, &cart);
    (void)tal_forces_add(m.forces, "motor", ops, NULL);
    finish_model(&m, 1e-6);
    const tal_body_ix body = {1};
    tal_body_set_u(m.matter, m.state, body, 0, 1.0);
    return m;
}

// u' = u^2 from 1: the pole is at 1 s.
START_TEST(the_body_that_limits_the_step_is_named)
{
    model m = begin_slider(&runaway_ops);
    ck_assert_int_eq(tal_integrator_step_to(m.integ, m.state, 2.0), TAL_ERR_STEP_TOO_SMALL);
    ck_assert_double_eq_tol(tal_state_t(m.state), 1.0, 1e-3);
    const char *message = tal_integrator_error(m.integ)->message;
    ck_assert_msg(strstr(message, "speed 0 of body 'cart'") != NULL, "%s", message);
    end_model(&m);
}

END_TEST

START_TEST(the_force_that_makes_a_nan_is_named)
{
    model m = begin_slider(&poison_ops);
    ck_assert_int_eq(tal_integrator_step_to(m.integ, m.state, 2.0), TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_integrator_error(m.integ)->message, "'motor'"));
    ck_assert_double_le(tal_state_t(m.state), 0.5);
    // a step of 0.5 s at most, made shorter by four refusals at least before the run gives up
    ck_assert_double_ge(tal_state_t(m.state), 0.5 - 0.5 / 64.0);
    ck_assert_double_eq_tol(tal_state_q(m.state)[0], tal_state_t(m.state), 1e-13);
    end_model(&m);
}

END_TEST

START_TEST(stepping_a_tree_touches_no_heap)
{
    model m = begin_free_tree(5, G_DOWN, 1e-4);
    tal_status st = TAL_OK;
    test_assert_no_heap(st = tal_integrator_step_to(m.integ, m.state, 1.0));
    ck_assert_int_eq(st, TAL_OK);
    end_model(&m);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("theory/trajectories");
    TCase *textbook = tcase_create("textbook");
    tcase_add_test(textbook, a_double_pendulum_of_points_follows_its_reference);
    tcase_add_test(textbook, a_double_pendulum_of_rods_follows_its_reference);
    tcase_add_test(textbook, a_chain_of_five_rods_follows_its_reference);
    tcase_add_test(textbook, a_pendulum_is_back_after_its_period);
    tcase_add_test(textbook, a_free_asymmetric_top_turns_over_as_it_should);
    tcase_add_test(textbook, a_lagrange_top_nutates_as_it_should);
    tcase_add_test(textbook, a_spherical_pendulum_precesses_as_it_should);
    suite_add_tcase(suite, textbook);
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, merson_is_of_order_four_on_a_pendulum);
    tcase_add_test(theory, a_floating_tree_keeps_its_momentum_and_energy_for_ten_seconds);
    tcase_add_test(theory, the_center_of_mass_of_a_falling_tree_follows_a_parabola);
    tcase_add_test(theory, conservative_pendulums_keep_their_energy_for_ten_seconds);
    tcase_add_test(theory, quaternions_and_angles_take_the_same_steps);
    tcase_add_test(theory, quaternions_have_length_one_after_every_step);
    tcase_add_test(theory, a_saved_run_resumes_with_the_same_bytes);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, the_body_that_limits_the_step_is_named);
    tcase_add_test(errors, the_force_that_makes_a_nan_is_named);
    suite_add_tcase(suite, errors);
    TCase *alloc = tcase_create("alloc");
    tcase_add_test(alloc, stepping_a_tree_touches_no_heap);
    suite_add_tcase(suite, alloc);
    return test_run(suite);
}
