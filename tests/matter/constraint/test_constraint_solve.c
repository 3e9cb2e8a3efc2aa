// Tests of matter/src/constraint/constraint_solve.c and constraint_rows.c: accelerations and
// multipliers of mechanisms, against independent values.
#include "alloc_guard.h"
#include "loop_support.h"
#include "mechanism_support.h"

#include <float.h>
#include <stdlib.h>

// --- a spatial loop ---

// refs:loop_7pin_ball, with the ball repeated: each of the copies bears its share.
START_TEST(a_loop_of_seven_pins_moves_as_computed_with_80_digits)
{
    for (int copies = 1; copies <= 3; ++copies) {
        loop l;
        build_seven_pins(&l, copies);
        loop_realize(&l, TAL_STAGE_ACCELERATION);
        // numbers of size 10 and a condition number of 1e2: 1e2 eps 10
        test_validate("seven pins and a ball", "refs:loop_7pin_ball", "accelerations",
                      copies == 1 ? "constraints" : "constraints, two and three times",
                      test_difference(tal_state_udot(l.state), loop_7pin_udot, 7), 1e-12);
        for (int i = 0; i < 3 * copies; ++i) { // lambda acts with a minus
            ck_assert_double_eq_tol(tal_state_multipliers(l.state)[i],
                                    -loop_7pin_force[i % 3] / copies, 1e-12);
            ck_assert_double_le(fabs(tal_state_udoterr(l.state)[i]), 1e-12);
        }
        loop_end(&l);
    }
}

END_TEST

// --- planar mechanisms ---

// refs:a02_n_fourbar_N2: phi'' = kappa sin(phi), phi clockwise from upright, all cranks
// parallel.
START_TEST(four_bars_side_by_side_turn_as_one)
{
    static const double phis[] = {0.0, 0.3, 1.0, 2.0, 3.0, -0.7};
    for (int N = 1; N <= 40; N += 13) {
        loop l;
        build_four_bars(&l, N, 1.0);
        const double kappa = ((N + 1) / 2.0 + N) * 9.81 / ((N + 1) / 3.0 + N); // 11.445 for N = 2
        for (int k = 0; k < 6; ++k) {
            pose_four_bars(&l, N, TAL_PI / 2.0 - phis[k], -1.5);
            loop_realize(&l, TAL_STAGE_ACCELERATION);
            for (int i = 0; i < 2 * N + 1; ++i) {
                const double wanted = (i <= N ? -1.0 : 1.0) * kappa * sin(phis[k]);
                // W has a condition number of N^2 or so
                ck_assert_double_eq_tol(tal_state_udot(l.state)[i], wanted, 1e-14 * N * N + 1e-12);
            }
        }
        loop_end(&l);
    }
}

END_TEST

// refs:a03_andrews_squeezer: accelerations and multipliers at t = 0. The coordinates are the
// angles of the benchmark; E of K2 meets E of K3, K4 and K6.
START_TEST(andrews_squeezer_starts_as_published)
{
    loop l;
    squeezer_spring spring;
    build_squeezer(&l, &spring);
    loop_realize(&l, TAL_STAGE_ACCELERATION);
    for (int i = 0; i < 9; ++i) { // stations are of size 0.1
        ck_assert_double_le(fabs(tal_state_qerr(l.state)[i]), 1e-16);
    }
    const double udot[] = {14222.443919954113871, -10666.832939965585403, 0, 0, 0, 0, 0};
    test_validate("Andrews' squeezer at its start", "refs:a03_andrews_squeezer",
                  "accelerations, relative", "constraints",
                  test_difference(tal_state_udot(l.state), udot, 7) / 14222.0, 1e-12);
    const double lambda[] = {98.566870396241089606, -6.122688344255662655, 0, 0, 0, 0, 0, 0, 0};
    test_validate("Andrews' squeezer at its start", "refs:a03_andrews_squeezer",
                  "multipliers, relative", "constraints",
                  test_difference(tal_state_multipliers(l.state), lambda, 9) / 98.6, 1e-13);
    loop_end(&l);
}

END_TEST

// refs:slider_crank: torque that keeps the crank at 50 rad/s. The crank is the only actuator.
START_TEST(a_slider_crank_needs_the_known_torque)
{
    static const struct {
        double theta, x, phi, xdot, xddot, phidot, phiddot, torque;
    } rows[] = {
        {0, 0.45, 0.0, 0.0, -321.42857142857144, -14.285714285714286, 0.0, 0.5157257142857142},
        {30, 0.4330127018922193, -0.14334756890536535, -3.125, -253.71838001497227, -12.5,
         338.29117335329636, 24.84660735771999},
        {60, 0.3891164991562634, -0.2500328930988039, -4.968569416991254, -89.34148342992977,
         -7.372097807744857, 624.5632155023427, 14.458961436331997},
        {120, 0.2891164991562634, -0.2500328930988039, -3.691684620853132, 160.65851657007022,
         7.372097807744857, 624.5632155023427, -18.8582657619085},
        {270, 0.33541019662496846, 0.28975170143604745, 5.0, 74.53559924999298, 0.0,
         -745.3559924999299, 10.988676917998966}};

    loop l;
    loop_begin(&l);
    const tal_body_ix crank = add_link(&l, TAL_GROUND, 0.0, 0.0, lump(1.0, 0.0, 0.0, 0.002));
    const tal_body_ix rod = add_link(&l, crank, 0.1, 0.0, lump(0.8, 0.12, 0.0, 0.01));
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = lump(1.2, 0.0, 0.0, 0.01);
    const tal_body_ix slider = tal_matter_add_slider(l.matter, TAL_GROUND, &def);
    (void)add_ball(&l, slider, tal_v3(0.0, 0.0, 0.0), rod, tal_v3(0.35, 0.0, 0.0));
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_INSTANCE);
    double *work = malloc(tal_matter_dense_work_size(l.matter, l.state) * sizeof *work);
    int *iwork = malloc(tal_matter_dense_iwork_size(l.matter, l.state) * sizeof *iwork);
    for (int k = 0; k < 5; ++k) {
        const double theta = rows[k].theta * TAL_PI / 180.0, omega = 50.0;
        const double q[] = {theta, rows[k].phi - theta, rows[k].x};
        const double u[] = {omega, rows[k].phidot - omega, rows[k].xdot};
        const double udot[] = {0.0, rows[k].phiddot, rows[k].xddot};
        ck_assert_int_eq(tal_state_set_q(l.state, q, 3), TAL_OK);
        ck_assert_int_eq(tal_state_set_u(l.state, u, 3), TAL_OK);
        loop_realize(&l, TAL_STAGE_VELOCITY);
        double aerr[3], tau[3];
        ck_assert_int_eq(tal_matter_calc_constraint_aerr(l.matter, l.state, udot, aerr), TAL_OK);
        for (int i = 0; i < 3; ++i) {
            ck_assert_double_le(fabs(aerr[i]), 100.0 * DBL_EPSILON * 300.0);
        }
        tal_spatial_vec F[4] = {{{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}};
        const tal_vec3 weight = tal_v3(0.0, -0.8 * 9.81, 0.0); // of the rod; others bear theirs
        const tal_vec3 arm =
            tal_m3_mul_v3(tal_body_X_GB(l.matter, l.state, rod).R, tal_v3(0.12, 0.0, 0.0));
        F[rod.i] = tal_sv(tal_v3_cross(arm, weight), weight);
        const bool actuated[] = {true, false, false};
        tal_actuation actuation;
        ck_assert_int_eq(tal_matter_actuator_forces(l.matter, l.state, udot, F, actuated, tau,
                                                    &actuation, work, iwork),
                         TAL_OK);
        ck_assert_int_eq(actuation, TAL_ACTUATION_PROPER);
        test_validate("slider-crank at constant speed", "refs:slider_crank", "torque [N m]",
                      "inverse dynamics of loops", fabs(tau[0] - rows[k].torque), 1e-11);
    }
    free(work);
    free(iwork);
    loop_end(&l);
}

END_TEST

// --- redundancy ---

// Every constraint twice, and three times: udot is the same to 1e-10 of its largest entry.
START_TEST(duplicating_every_constraint_changes_nothing)
{
    for (uint64_t seed = 40; seed < 45; ++seed) {
        double udot[4][MAX_LOOP_U];
        int n = 0;
        for (int copies = 1; copies <= 3; ++copies) {
            test_rng rng = test_rng_seed(seed);
            loop l;
            loop_begin(&l);
            tal_body_ix last = TAL_GROUND;
            for (int i = 0; i < 4; ++i) {
                tal_mobod_def def = tal_mobod_def_default();
                def.mass = test_random_mass_props(&rng);
                def.X_PF = test_random_xform(&rng);
                last = i == 1   ? tal_matter_add_gimbal(l.matter, last, &def)
                       : i == 2 ? tal_matter_add_ball(l.matter, last, &def)
                                : tal_matter_add_pin(l.matter, last, &def);
            }
            const tal_vec3 a = test_random_vec3(&rng), b = test_random_vec3(&rng);
            const tal_body_ix second = {2};
            for (int k = 0; k < copies; ++k) {
                (void)add_ball(&l, TAL_GROUND, a, last, b);
                (void)add_rod(&l, TAL_GROUND, b, second, a, 1.3);
                (void)add_gear(&l, last, 0, second, 1, 0.6);
            }
            loop_finish(&l);
            randomize(&l, &rng);
            loop_realize(&l, TAL_STAGE_ACCELERATION);
            n = tal_state_nu(l.state);
            memcpy(udot[copies], tal_state_udot(l.state), (size_t)n * sizeof(double));
            loop_end(&l);
        }
        for (int copies = 2; copies <= 3; ++copies) {
            test_assert_near(udot[copies], udot[1], n, 1e-10 * test_largest(udot[1], n), "udot");
        }
    }
}

END_TEST

// A rod whose direction is the axis of the only pin, everything turned at random: it can do
// nothing, and what round-off pretends it could must not become a multiplier.
START_TEST(a_constraint_that_nothing_can_move_bears_nothing)
{
    for (uint64_t seed = 50; seed < 60; ++seed) {
        test_rng rng = test_rng_seed(seed);
        loop l;
        loop_begin(&l);
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = test_random_mass_props(&rng);
        def.X_PF = test_random_xform(&rng);
        const tal_body_ix body = tal_matter_add_pin(l.matter, TAL_GROUND, &def);
        // from a point on the axis to a point farther up the axis of the body
        const tal_vec3 on_axis = def.X_PF.p;
        (void)add_rod(&l, TAL_GROUND, on_axis, body, tal_v3(0.0, 0.0, 1.7), 1.7);
        loop_finish(&l);
        randomize(&l, &rng);
        loop_realize(&l, TAL_STAGE_ACCELERATION);
        ck_assert_double_eq(tal_state_multipliers(l.state)[0], 0.0);
        tal_rows_report report;
        ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, NULL),
                         TAL_OK);
        ck_assert_int_eq(report.num_without_effect, 1);
        ck_assert_int_eq(report.num_inconsistent, 0);
        ck_assert_int_eq(report.dof, 1);
        loop_end(&l);
    }
}

END_TEST

// A mechanism with as many good rows as speeds, and each of them twice.
START_TEST(a_mechanism_without_freedom_stands_still)
{
    loop l;
    loop_begin(&l);
    const tal_body_ix a = add_link(&l, TAL_GROUND, 0.0, 0.0, slender(1.0, 1.0));
    const tal_body_ix b = add_link(&l, a, 1.0, 0.0, slender(1.0, 1.0));
    (void)add_ball(&l, TAL_GROUND, tal_v3(1.0, 1.0, 0.0), b, tal_v3(1.0, 0.0, 0.0));
    (void)add_ball(&l, TAL_GROUND, tal_v3(1.0, 1.0, 0.0), b, tal_v3(1.0, 0.0, 0.0));
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_MODEL);
    tal_state_upd_q(l.state)[1] = TAL_PI / 2.0;
    loop_realize(&l, TAL_STAGE_ACCELERATION);
    for (int i = 0; i < 2; ++i) {
        ck_assert_double_le(fabs(tal_state_udot(l.state)[i]), 1e-12);
    }
    tal_rows_report report;
    ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, NULL), TAL_OK);
    ck_assert_int_eq(report.dof, 0);
    ck_assert_int_eq(report.num_redundant, 2);
    ck_assert_int_eq(report.num_without_effect, 2);
    loop_end(&l);
}

END_TEST

// Where four-bars lie flat, rows along the bars have no effect: at a small angle phi their pivots
// go with phi^2, other terms with phi^4.
START_TEST(the_margin_of_rows_goes_to_zero_where_they_lose_rank)
{
    loop l;
    build_four_bars(&l, 3, 1.0);
    double share[3];
    for (int k = 0; k < 3; ++k) {
        tal_rows_margin margin = {-1, -1.0};
        pose_four_bars(&l, 3, pow(10.0, -1.0 - k), 1.0);
        loop_realize(&l, TAL_STAGE_POSITION);
        ck_assert_int_eq(tal_matter_calc_margin(l.matter, l.state, &margin), TAL_OK);
        ck_assert_int_eq(margin.num_redundant, 0);
        share[k] = margin.share;
    }
    ck_assert_double_le(fabs(share[1] / share[0] - 1e-2), 1e-4);
    ck_assert_double_le(fabs(share[2] / share[1] - 1e-2), 1e-6);
    loop_end(&l);
}

END_TEST

START_TEST(the_margin_counts_rows_that_repeat_others_and_is_whole_without_rows)
{
    loop l;
    tal_rows_margin margin;
    build_seven_pins(&l, 1);
    loop_realize(&l, TAL_STAGE_POSITION);
    ck_assert_int_eq(tal_matter_calc_margin(l.matter, l.state, &margin), TAL_OK);
    const double alone = margin.share;
    ck_assert(margin.num_redundant == 0 && alone > 1e-3 && alone <= 1.0);
    loop_end(&l);
    build_seven_pins(&l, 3);
    loop_realize(&l, TAL_STAGE_POSITION);
    ck_assert_int_eq(tal_matter_calc_margin(l.matter, l.state, &margin), TAL_OK);
    ck_assert_int_eq(margin.num_redundant, 6);
    ck_assert_double_le(fabs(margin.share - alone), 1e-12);
    loop_end(&l);
    loop_begin(&l);
    (void)add_link(&l, TAL_GROUND, 0.0, 0.0, slender(1.0, 1.0));
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_POSITION);
    ck_assert_int_eq(tal_matter_calc_margin(l.matter, l.state, &margin), TAL_OK);
    ck_assert(margin.num_redundant == 0 && margin.share == 1.0);
    loop_end(&l);
}

END_TEST

START_TEST(accelerations_do_not_touch_the_heap_even_when_redundant)
{
    loop l;
    build_four_bars(&l, 3, 1.0);
    for (int k = 0; k < 2; ++k) { // at a change point the orthogonal factorization is used
        pose_four_bars(&l, 3, k == 0 ? 0.8 : 0.0, 1.0);
        tal_status st = TAL_OK;
        test_assert_no_heap(st = tal_system_realize(l.system, l.state, TAL_STAGE_ACCELERATION));
        ck_assert_int_eq(st, TAL_OK);
    }
    loop_end(&l);
}

END_TEST

// A brick of size L welded to Ground, once or twice, with L from a meter to a nanometer: rows on
// orientations and on positions differ by L^2 in W. Its weight g and the moment g L are borne to
// 1e-11: round-off times the 1e4 by which W is ill conditioned when both are scaled to like size.
START_TEST(a_weld_holds_however_small_the_body)
{
    for (int k = 0; k < 20; ++k) {
        const double L = pow(10.0, -(k / 2)), g = 2.0 * L;
        const int num_welds = 1 + k % 2;
        tal_system *system = tal_system_create(NULL);
        tal_matter *matter = tal_matter_create(system);
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = tal_mass_props_brick(1.0, tal_v3(0.5 * L, 0.3 * L, 0.2 * L));
        const tal_body_ix brick = tal_matter_add_free(matter, TAL_GROUND, &def);
        const tal_constraint_def tie = tal_constraint_between(TAL_GROUND, brick);
        const tal_xform X = tal_xf_from_p(tal_v3(0.5 * L, 0.0, 0.1 * L));
        for (int w = 0; w < num_welds; ++w) {
            (void)tal_constraint_add_weld(matter, &tie, &X, &X);
        }
        tal_state *state = NULL;
        ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
        ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
        ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_VELOCITY), TAL_OK);
        double udot[6], aerr[12], lambda[12], f[6] = {0.0}, borne[6];
        f[4] = -g; // along y of the brick's center
        ck_assert_int_eq(tal_matter_forward_dynamics(matter, state, NULL, f, udot, NULL), TAL_OK);
        ck_assert_int_eq(tal_matter_calc_constraint_aerr(matter, state, udot, aerr), TAL_OK);
        ck_assert_int_eq(tal_matter_calc_multipliers(matter, state, aerr, lambda), TAL_OK);
        ck_assert_int_eq(tal_matter_mul_GT(matter, state, TAL_G, lambda, borne), TAL_OK);
        for (int j = 0; j < 6; ++j) {
            const double unit = j < 3 ? g * L : g;
            ck_assert_double_eq_tol(borne[j], f[j], 1e-11 * unit);
        }
        tal_state_destroy(state);
        tal_system_destroy(system);
    }
}

END_TEST

// --- written twice, and in other coordinates ---

/// What a mechanism does whose pose was not assembled.
typedef struct case_of_doubt {
    int copies;
    bool use_angles;
    bool lock;
} case_of_doubt;

// A ball, a cylinder and a pin in a chain, with more equations than speeds: edges that roll on each
// other, a loop pin, a rod. All of them contradict each other: the accelerations of the least
// squares are wanted. `*least` is the least share of a row that counts.
static void solve_in_doubt(uint64_t seed, case_of_doubt how, double udot[6], double *least)
{
    test_rng rng = test_rng_seed(seed);
    loop l;
    loop_begin(&l);
    tal_mobod_def def = tal_mobod_def_default();
    tal_body_ix chain[3], last = TAL_GROUND;
    for (int i = 0; i < 3; ++i) {
        def.mass = test_random_mass_props(&rng);
        def.X_PF = test_random_xform(&rng);
        def.X_BM = test_random_xform(&rng);
        last = chain[i] = i == 0   ? tal_matter_add_ball(l.matter, last, &def)
                          : i == 1 ? tal_matter_add_cylinder(l.matter, last, &def)
                                   : tal_matter_add_pin(l.matter, last, &def);
    }
    const tal_xform a = test_random_xform(&rng), b = test_random_xform(&rng);
    const tal_vec3 p = test_random_vec3(&rng);
    const tal_body_ix on[] = {chain[seed % 3], chain[2]};
    for (int k = 0; k < how.copies; ++k) {
        const tal_constraint_def edge = tal_constraint_between(TAL_GROUND, on[0]);
        const tal_constraint_def tip = tal_constraint_between(TAL_GROUND, on[1]);
        (void)tal_constraint_add_line_on_line_contact(l.matter, &edge, &a, &b, true);
        if (seed % 2 == 0) (void)tal_constraint_add_loop_pin(l.matter, &tip, &b, &a);
        (void)tal_constraint_add_rod(l.matter, &tip, p, p, 1.3);
    }
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_MODEL);
    const tal_mat3 turn = test_random_rotation(&rng);
    const double q[] = {test_random_uniform(&rng, -1.0, 1.0), test_random_uniform(&rng, -1.0, 1.0),
                        test_random_uniform(&rng, -1.0, 1.0)};
    ck_assert_int_eq(tal_matter_set_use_angles(l.matter, l.state, how.use_angles), TAL_OK);
    loop_realize(&l, TAL_STAGE_MODEL);
    ck_assert_int_eq(tal_body_fit_rotation(l.matter, l.state, chain[0], &turn), TAL_OK);
    for (int j = 0; j < 3; ++j) {
        (void)tal_body_set_q(l.matter, l.state, chain[j < 2 ? 1 : 2], j < 2 ? j : 0, q[j]);
    }
    for (int j = 0; j < 6; ++j) {
        tal_state_upd_u(l.state)[j] = test_random_uniform(&rng, -1.0, 1.0);
    }
    if (how.lock) {
        ck_assert_int_eq(tal_body_lock(l.matter, l.state, chain[0], TAL_LEVEL_ACCELERATION),
                         TAL_OK);
    }
    loop_realize(&l, TAL_STAGE_ACCELERATION);
    memcpy(udot, tal_state_udot(l.state), 6 * sizeof *udot);
    tal_rows_report report;
    ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, NULL), TAL_OK);
    *least = fmin(*least, report.least_share);
    ck_assert_int_ge(report.dof, 0);
    loop_end(&l);
}

// So many copies of four rows or more are a block that is solved within its envelope.
enum {
    COPIES = 70
};

// Round-off is divided by the least share of a row that counts; measured: 1500 eps, 1800 eps where
// a block is large.
START_TEST(accelerations_do_not_depend_on_how_often_or_in_which_coordinates_it_is_written)
{
    for (uint64_t seed = 1; seed <= 600; ++seed) {
        const bool lock = seed % 5 == 0;
        const case_of_doubt cases[] = {
            {1, false, lock}, {2, false, lock}, {1, true, lock}, {COPIES, false, lock}};
        const int num_cases = seed % 10 == 0 ? 4 : 3;
        double udot[4][6], least = 1.0, size = 1.0;
        for (int k = 0; k < num_cases; ++k) {
            solve_in_doubt(seed, cases[k], udot[k], &least);
        }
        for (int j = 0; j < 6; ++j) {
            size = fmax(size, fabs(udot[0][j]));
        }
        for (int k = 1; k < num_cases; ++k) {
            for (int j = 0; j < 6; ++j) {
                ck_assert_double_le(fabs(udot[k][j] - udot[0][j]), 1e-12 / least * size);
            }
        }
    }
}

END_TEST

// Edges that roll on each other, on a cylinder: three equations for two speeds. What an earlier
// pivot makes of round-off passed for a third independent one, and the multipliers of the equations
// written once were not the sums of those written twice.
START_TEST(multipliers_of_equations_written_twice_add_up_to_those_written_once)
{
    const tal_xform edge1 = {{{-0.22509296893209113, -0.9366173862483863, -0.2684790999585963},
                              {0.9734539291521308, -0.2044517577062743, -0.1028927917256269},
                              {0.04148015375592273, -0.2845124787211559, 0.9577745279011803}},
                             {0.6438684470334044, 0.7398601876162949, 0.8476520508704306}};
    const tal_xform edge2 = {{{0.4678532759422527, -0.1901137487808981, 0.8631164896551194},
                              {0.35614044700291486, 0.9343453598057385, 0.012756591161007247},
                              {-0.8088740904483629, 0.30142247947682776, 0.5048437329187865}},
                             {-0.8849977626089871, -0.6215634284996632, 0.06889413965388314}};
    double lambda[2][6];
    for (int copies = 1; copies <= 2; ++copies) {
        loop l;
        loop_begin(&l);
        l.gravity = tal_v3(1.9764330075653835, -2.345943973913922, -1.0961600992600085);
        tal_mobod_def def = tal_mobod_def_default();
        def.mass =
            (tal_mass_props){2.287086496491748,
                             {0.1685748976632717, -0.23740996514237855, -0.044999660373942894},
                             {0.25370670733080225, 0.19289866484298474, 0.3385176152434286,
                              0.09153231334943941, 0.017349410802937056, -0.024433786234256776}};
        def.X_PF = (tal_xform){{{0.3274725785788974, 0.7042506730371759, 0.6299148353591719},
                                {-0.2822869889591253, -0.5633047290651486, 0.7765319298504281},
                                {0.9017071398981371, -0.43210967559119096, 0.014333949811450425}},
                               {0.16940150298455436, -0.7392980314585498, -0.2877232640283236}};
        def.X_BM = (tal_xform){{{-0.08591804829480067, 0.7648111577515653, 0.6384997900985738},
                                {0.024128903448267517, -0.6390842917087913, 0.7687581310851005},
                                {0.9960099823774843, 0.08145649802061793, 0.0364548204579392}},
                               {0.41338438372268715, 0.6074409218820733, 0.045721553783756974}};
        const tal_body_ix body = tal_matter_add_cylinder(l.matter, TAL_GROUND, &def);
        for (int k = 0; k < copies; ++k) {
            const tal_constraint_def tie = tal_constraint_between(body, TAL_GROUND);
            (void)tal_constraint_add_line_on_line_contact(l.matter, &tie, &edge1, &edge2, true);
        }
        loop_finish(&l);
        loop_realize(&l, TAL_STAGE_MODEL);
        tal_state_upd_q(l.state)[0] = 1.0542935917135847;
        tal_state_upd_q(l.state)[1] = -0.853492978755784;
        loop_realize(&l, TAL_STAGE_ACCELERATION);
        memcpy(lambda[copies - 1], tal_state_multipliers(l.state),
               3 * (size_t)copies * sizeof(double));
        tal_rows_report report;
        ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, NULL),
                         TAL_OK);
        ck_assert_int_eq(report.rank, 2);
        ck_assert_int_eq(report.dof, 0);
        loop_end(&l);
    }
    // in the order of the levels: one position row each, then two velocity rows each
    const double sums[] = {lambda[1][0] + lambda[1][1], lambda[1][2] + lambda[1][4],
                           lambda[1][3] + lambda[1][5]};
    for (int r = 0; r < 3; ++r) {
        ck_assert_double_le(fabs(lambda[0][r] - sums[r]), 1e-12 * 4.25);
    }
    ck_assert_double_eq_tol(lambda[0][0], 4.22499072, 1e-8);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("constraint_solve");
    TCase *references = tcase_create("references");
    tcase_add_test(references, a_loop_of_seven_pins_moves_as_computed_with_80_digits);
    tcase_add_test(references, four_bars_side_by_side_turn_as_one);
    tcase_add_test(references, andrews_squeezer_starts_as_published);
    tcase_add_test(references, a_slider_crank_needs_the_known_torque);
    suite_add_tcase(suite, references);
    TCase *redundancy = tcase_create("redundancy");
    tcase_add_test(redundancy, duplicating_every_constraint_changes_nothing);
    tcase_add_test(redundancy, a_constraint_that_nothing_can_move_bears_nothing);
    tcase_add_test(redundancy, a_mechanism_without_freedom_stands_still);
    tcase_add_test(redundancy, the_margin_of_rows_goes_to_zero_where_they_lose_rank);
    tcase_add_test(redundancy, the_margin_counts_rows_that_repeat_others_and_is_whole_without_rows);
    tcase_add_test(redundancy, a_weld_holds_however_small_the_body);
    tcase_add_test(redundancy, multipliers_of_equations_written_twice_add_up_to_those_written_once);
    tcase_add_test(redundancy,
                   accelerations_do_not_depend_on_how_often_or_in_which_coordinates_it_is_written);
    suite_add_tcase(suite, redundancy);
    TCase *alloc = tcase_create("alloc");
    tcase_add_test(alloc, accelerations_do_not_touch_the_heap_even_when_redundant);
    suite_add_tcase(suite, alloc);
    return test_run(suite);
}
