// Tests of study/src/survey/loops.c: RBDA sec. 8.8 to 8.10, and the arm of fig. 8.3.
#include "mechanism_support.h"

#include <talus/study/loops.h>

#include <math.h>

static tal_loops *loops_of(const loop *l)
{
    tal_loops *loops = NULL;
    tal_error err = {0};
    ck_assert_msg(tal_loops_create(l->system, l->state, &loops, &err) == TAL_OK, "%s", err.message);
    return loops;
}

// A four-bar whose bars are those of `base` on, on pins of a body; the loop is closed by a pin, a
// ball, or a point on a line.
typedef enum closing {
    BY_PIN,
    BY_BALL,
    BY_LINE
} closing;

static tal_constraint_ix add_four_bar(loop *l, tal_body_ix base, double z, closing how)
{
    tal_mobod_def bar = tal_mobod_def_default();
    bar.mass = slender(1.0, 1.0);
    bar.X_PF.p = tal_v3(0.0, 0.0, z);
    const tal_body_ix crank = tal_matter_add_pin(l->matter, base, &bar);
    bar.mass = slender(2.0, 2.0);
    bar.X_PF.p = tal_v3(1.0, 0.0, 0.0);
    const tal_body_ix coupler = tal_matter_add_pin(l->matter, crank, &bar);
    bar.mass = slender(1.5, 1.5);
    bar.X_PF.p = tal_v3(2.2, 0.0, z);
    const tal_body_ix rocker = tal_matter_add_pin(l->matter, base, &bar);
    const tal_vec3 end = tal_v3(2.0, 0.0, 0.0), tip = tal_v3(1.5, 0.0, 0.0);
    const tal_xform at_end = tal_xf_from_p(end), at_tip = tal_xf_from_p(tip);
    const tal_constraint_def def = tal_constraint_between(coupler, rocker);
    if (how == BY_PIN) return tal_constraint_add_loop_pin(l->matter, &def, &at_end, &at_tip);
    if (how == BY_BALL) return tal_constraint_add_ball(l->matter, &def, end, tip);
    return tal_constraint_add_point_on_line(l->matter, &def, tal_v3(0.0, 0.0, 1.0), end, tip);
}

// Where the four-bar of RBDA's numbers stands (test_linkages.c).
static const double Q[] = {0.6, -0.14766890996919466, 1.2840863618819323};
static const double U[] = {0.8, -1.1420119246142548, 0.10616866506014545};

static void place(const loop *l, int first)
{
    double *q = tal_state_upd_q(l->state), *u = tal_state_upd_u(l->state);
    for (int i = 0; i < 3; ++i) {
        q[first + i] = Q[i];
        u[first + i] = U[i];
    }
}

// Two four-bars that share a base that turns, a third on Ground, and what hangs on it: the first
// two have no joint in common, since the base is on both sides. Rods between the first and the
// third make one cluster of them.
// Inventory of RBDA: 8.14.
START_TEST(loops_that_share_joints_are_one_cluster)
{
    for (int with_rod = 0; with_rod < 2; ++with_rod) {
        loop l;
        loop_begin(&l);
        tal_mobod_def base = tal_mobod_def_default();
        base.mass = tal_mass_props_sphere(5.0, 1.0);
        const tal_body_ix turning = tal_matter_add_pin(l.matter, TAL_GROUND, &base);
        const tal_constraint_ix first = add_four_bar(&l, turning, 0.0, BY_BALL);
        const tal_constraint_ix second = add_four_bar(&l, turning, 1.0, BY_PIN);
        const tal_constraint_ix third = add_four_bar(&l, TAL_GROUND, 2.0, BY_BALL);
        tal_mobod_def leaf = tal_mobod_def_default();
        leaf.mass = slender(1.0, 1.0);
        (void)tal_matter_add_pin(l.matter, (tal_body_ix){10}, &leaf);
        tal_constraint_ix rod = {-1};
        if (with_rod == 1) {
            rod = add_rod(&l, (tal_body_ix){2}, TAL_VEC3_ZERO, (tal_body_ix){9},
                          tal_v3(0.5, 0.0, 0.0), 2.0);
        }
        loop_finish(&l);
        loop_realize(&l, TAL_STAGE_MODEL);
        place(&l, 1), place(&l, 4), place(&l, 7);
        tal_loops *loops = loops_of(&l);
        ck_assert_int_eq(tal_loops_num_clusters(loops), with_rod == 1 ? 2 : 3);
        ck_assert_int_eq(tal_loops_share(loops, first).cluster, 0);
        ck_assert_int_eq(tal_loops_share(loops, second).cluster, 1);
        ck_assert_int_eq(tal_loops_share(loops, third).cluster, with_rod == 1 ? 0 : 2);
        ck_assert_int_eq(tal_loops_speed_cluster(loops, 0), with_rod == 1 ? 0 : -1); // the base
        ck_assert_int_eq(tal_loops_speed_cluster(loops, 4), 1);
        ck_assert_int_eq(tal_loops_speed_cluster(loops, 10), -1); // the leaf
        // a planar four-bar with a pin: n = 3, nc = 5, r = 2, mobility 1 (RBDA eq. 8.55)
        const tal_loop_cluster c = tal_loops_cluster(loops, 1);
        ck_assert(c.num_constraints == 1 && c.num_speeds == 3 && c.rows == 5);
        ck_assert(c.rank == 2 && c.mobility == 1);
        if (with_rod == 1) {
            const tal_loop_cluster joined = tal_loops_cluster(loops, 0);
            ck_assert(joined.num_constraints == 3 && joined.num_speeds == 7);
            ck_assert(joined.rows == 7 && joined.rank == 5 && joined.mobility == 2);
            ck_assert_int_eq(tal_loops_share(loops, rod).needed, 1);
        }
        tal_loops_destroy(loops);
        loop_end(&l);
    }
}

END_TEST

// u = G y with the speeds that are asked for, and udot = G ydot + g; J G = 0 and J g = what J udot
// is (RBDA eq. 8.43). Numbers of size 10, and ratios of bars near 2.
static void check_choice(loop *l, tal_loops *loops, const bool wanted[], const int expected[],
                         int num_expected)
{
    const int nu = tal_state_nu(l->state), m = tal_state_pool_size(l->state, TAL_POOL_UDOTERR);
    double G[64], g[8], J[128];
    int chosen[8], num;
    ck_assert_int_le(nu, 8);
    ck_assert_int_le(m * nu, 128);
    loop_realize(l, TAL_STAGE_ACCELERATION);
    ck_assert_int_eq(tal_loops_choose_speeds(loops, l->state, wanted, chosen, &num,
                                             tal_matrix_view(G, nu, nu), g),
                     TAL_OK);
    ck_assert_int_eq(num, num_expected);
    for (int k = 0; expected != NULL && k < num; ++k) {
        ck_assert_int_eq(chosen[k], expected[k]);
    }
    const double *u = tal_state_u(l->state), *udot = tal_state_udot(l->state);
    ck_assert_int_eq(tal_matter_calc_G(l->matter, l->state, TAL_G, tal_matrix_view(J, m, nu)),
                     TAL_OK);
    for (int i = 0; i < nu; ++i) {
        double follows = 0.0, accelerates = g[i];
        for (int k = 0; k < num; ++k) {
            follows += G[i + k * nu] * u[chosen[k]];
            accelerates += G[i + k * nu] * udot[chosen[k]];
        }
        ck_assert_double_eq_tol(follows, u[i], 1e-13);
        ck_assert_double_eq_tol(accelerates, udot[i], 1e-12);
    }
    for (int i = 0; i < m; ++i) {
        double by_g = 0.0, by_udot = 0.0;
        for (int j = 0; j < nu; ++j) {
            by_g += J[i + j * m] * g[j];
            by_udot += J[i + j * m] * udot[j];
        }
        ck_assert_double_eq_tol(by_g, by_udot, 1e-12);
        for (int k = 0; k < num; ++k) {
            double zero = 0.0;
            for (int j = 0; j < nu; ++j) {
                zero += J[i + j * m] * G[j + k * nu];
            }
            ck_assert_double_eq_tol(zero, 0.0, 1e-13);
        }
    }
}

// Inventory of RBDA: 8.13.
START_TEST(any_speed_of_a_four_bar_can_be_the_independent_one)
{
    static const closing ways[] = {BY_PIN, BY_BALL, BY_LINE};
    for (int way = 0; way < 3; ++way) {
        loop l;
        loop_begin(&l);
        (void)add_four_bar(&l, TAL_GROUND, 0.0, ways[way]);
        loop_finish(&l);
        loop_realize(&l, TAL_STAGE_MODEL);
        place(&l, 0);
        tal_loops *loops = loops_of(&l);
        for (int i = 0; i < 3; ++i) {
            bool wanted[3] = {false, false, false};
            wanted[i] = true;
            check_choice(&l, loops, wanted, &i, 1);
        }
        check_choice(&l, loops, NULL, NULL, 1);
        const bool all[3] = {true, true, true}; // more than there can be
        check_choice(&l, loops, all, NULL, 1);
        tal_loops_destroy(loops);
        loop_end(&l);
    }
}

END_TEST

// The arm of RBDA fig. 8.3: y1 moves the arm; the angle and the length of the actuator follow with
// u1 and u2, and with u3 and u4 times y1'^2.
START_TEST(a_linear_actuator_follows_with_the_numbers_of_the_book)
{
    const double l1 = 1.3, l2 = 0.8, y = 0.7, d = sqrt(l1 * l1 + l2 * l2 - 2 * l1 * l2 * cos(y));
    loop l;
    loop_begin(&l);
    tal_mobod_def arm = tal_mobod_def_default(), cylinder = arm, rod = arm;
    arm.mass = slender(2.0, l2);
    cylinder.mass = rod.mass = tal_mass_props_sphere(1.0, 0.1);
    cylinder.X_PF = tal_xf_from_p(tal_v3(l1, 0.0, 0.0));
    const tal_body_ix a = tal_matter_add_pin(l.matter, TAL_GROUND, &arm);
    const tal_body_ix b = tal_matter_add_pin(l.matter, TAL_GROUND, &cylinder);
    const tal_body_ix c = tal_matter_add_slider(l.matter, b, &rod);
    (void)add_ball(&l, a, tal_v3(l2, 0.0, 0.0), c, TAL_VEC3_ZERO);
    (void)tal_matter_add_pin(l.matter, c, &arm); // a hand, in no loop
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_MODEL);
    const double q[] = {y, atan2(l2 * sin(y), l2 * cos(y) - l1), d, 0.3};
    const double u1 = -0.2102962168, u2 = 0.7793025238, u3 = 1.2877029154, u4 = 0.2188179961;
    const double s = l1 * l2 * sin(y) / d, r = (l2 * l2 - l1 * l2 * cos(y)) / (d * d);
    const double u[] = {1.0, r, s, 0.5};
    ck_assert_int_eq(tal_state_set_q(l.state, q, 4), TAL_OK);
    ck_assert_int_eq(tal_state_set_u(l.state, u, 4), TAL_OK);
    tal_loops *loops = loops_of(&l);
    loop_realize(&l, TAL_STAGE_ACCELERATION);
    double G[16], g[4];
    int chosen[4], num;
    const bool wanted[4] = {true, false, false, true};
    ck_assert_int_eq(
        tal_loops_choose_speeds(loops, l.state, wanted, chosen, &num, tal_matrix_view(G, 4, 4), g),
        TAL_OK);
    ck_assert(num == 2 && chosen[0] == 0 && chosen[1] == 3);
    const double expected[] = {1.0, u1, u2, 0.0, 0.0, 0.0, 0.0, 1.0}; // ten digits are printed
    test_assert_near(G, expected, 8, 1e-10, "G");
    const double bias[] = {0.0, u3, u4, 0.0};
    test_assert_near(g, bias, 4, 1e-10, "g");
    tal_loops_destroy(loops);
    loop_end(&l);
}

END_TEST

// A lock takes a speed out of the cluster: what is left determines it.
START_TEST(locked_speeds_are_not_chosen)
{
    loop l;
    loop_begin(&l);
    (void)add_four_bar(&l, TAL_GROUND, 0.0, BY_BALL);
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_MODEL);
    place(&l, 0);
    ck_assert_int_eq(tal_body_lock(l.matter, l.state, (tal_body_ix){1}, TAL_LEVEL_ACCELERATION),
                     TAL_OK);
    tal_loops *loops = loops_of(&l);
    const tal_loop_cluster c = tal_loops_cluster(loops, 0);
    ck_assert(c.num_speeds == 2 && c.rank == 2 && c.mobility == 0);
    ck_assert_int_eq(tal_loops_speed_cluster(loops, 0), -1);
    int chosen[3], num;
    const tal_matrix none = {NULL, 0, 0, 1};
    ck_assert_int_eq(tal_loops_choose_speeds(loops, l.state, NULL, chosen, &num, none, NULL),
                     TAL_OK);
    ck_assert_int_eq(num, 0);
    tal_loops_destroy(loops);
    loop_end(&l);
}

END_TEST

// The advice is to put a point on a line in the place of the pin: udot is the same, and W is
// regular (RBDA sec. 8.10).
// Inventory of RBDA: 8.18.
START_TEST(a_pin_of_a_planar_loop_may_be_a_point_on_a_line)
{
    double udot[2][3];
    for (int k = 0; k < 2; ++k) {
        loop l;
        loop_begin(&l);
        const tal_constraint_ix joint =
            add_four_bar(&l, TAL_GROUND, 0.0, k == 0 ? BY_PIN : BY_LINE);
        loop_finish(&l);
        loop_realize(&l, TAL_STAGE_MODEL);
        place(&l, 0);
        tal_loops *loops = loops_of(&l);
        char text[TAL_LOOPS_TEXT];
        ck_assert(tal_loops_advice(loops, joint, text) == (k == 0));
        if (k == 0) {
            ck_assert_ptr_nonnull(strstr(text, "needs 2 of its 5 equations: a point on a line"));
            ck_assert_int_eq(tal_loops_share(loops, joint).needed, 2);
        } else {
            ck_assert_str_eq(text, "");
        }
        loop_realize(&l, TAL_STAGE_ACCELERATION);
        memcpy(udot[k], tal_state_udot(l.state), sizeof udot[k]);
        tal_rows_report report;
        ck_assert_int_eq(tal_matter_calc_constraint_report(l.matter, l.state, &report, NULL),
                         TAL_OK);
        ck_assert_int_eq(report.num_rows - report.rank, k == 0 ? 3 : 0);
        tal_loops_destroy(loops);
        loop_end(&l);
    }
    test_assert_near(udot[0], udot[1], 3, 1e-12, "udot");
}

END_TEST

// The same ball twice: neither is needed while the other is there.
START_TEST(what_repeats_others_can_go)
{
    loop l;
    build_seven_pins(&l, 2);
    tal_loops *loops = loops_of(&l);
    ck_assert_int_eq(tal_loops_num_clusters(loops), 1);
    const tal_loop_cluster c = tal_loops_cluster(loops, 0);
    ck_assert(c.rows == 6 && c.rank == 3 && c.mobility == 4);
    for (int k = 0; k < 2; ++k) {
        char text[TAL_LOOPS_TEXT];
        ck_assert_int_eq(tal_loops_share(loops, (tal_constraint_ix){k}).needed, 0);
        ck_assert(tal_loops_advice(loops, (tal_constraint_ix){k}, text));
        ck_assert_ptr_nonnull(strstr(text, "repeats others"));
    }
    // disabled, it has no part
    ck_assert_int_eq(tal_constraint_set_enabled(l.matter, l.state, (tal_constraint_ix){0}, false),
                     TAL_OK);
    tal_loops *fewer = loops_of(&l);
    ck_assert_int_eq(tal_loops_share(fewer, (tal_constraint_ix){0}).cluster, -1);
    ck_assert_int_eq(tal_loops_share(fewer, (tal_constraint_ix){1}).needed, 3);
    tal_loops_destroy(fewer);
    tal_loops_destroy(loops);
    loop_end(&l);
}

END_TEST

START_TEST(bad_calls_are_refused)
{
    tal_error err = {0};
    tal_loops *loops = NULL;
    loop l;
    build_seven_pins(&l, 1);
    test_assert_refused(tal_loops_create(l.system, l.state, NULL, &err), TAL_ERR_NULL, "out");
    test_assert_refused(tal_loops_create(l.system, NULL, &loops, &err), TAL_ERR_NULL, "State");
    loops = loops_of(&l);
    test_assert_breach((void)tal_loops_cluster(loops, 1), TAL_ERR_BAD_INDEX, "cluster 1");
    test_assert_breach((void)tal_loops_speed_cluster(loops, 7), TAL_ERR_BAD_INDEX, "speed 7");
    test_assert_breach((void)tal_loops_share(loops, (tal_constraint_ix){1}), TAL_ERR_BAD_INDEX,
                       "constraint 1");
    int chosen[7], num;
    double g[7];
    const tal_matrix none = {NULL, 0, 0, 1};
    loop_realize(&l, TAL_STAGE_VELOCITY);
    test_assert_refused(tal_loops_choose_speeds(loops, l.state, NULL, chosen, &num, none, g),
                        TAL_ERR_STAGE, "Acceleration");
    tal_loops_destroy(loops);
    tal_loops_destroy(NULL);
    loop_end(&l);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("study/loops");
    TCase *tests = tcase_create("loops");
    tcase_add_test(tests, loops_that_share_joints_are_one_cluster);
    tcase_add_test(tests, any_speed_of_a_four_bar_can_be_the_independent_one);
    tcase_add_test(tests, a_linear_actuator_follows_with_the_numbers_of_the_book);
    tcase_add_test(tests, locked_speeds_are_not_chosen);
    tcase_add_test(tests, a_pin_of_a_planar_loop_may_be_a_point_on_a_line);
    tcase_add_test(tests, what_repeats_others_can_go);
    tcase_add_test(tests, bad_calls_are_refused);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
