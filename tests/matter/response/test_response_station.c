// matter/src/response/response_station.c: stations, points and frames, seen from anywhere.
#include "motion_support.h"

enum {
    TRIALS = 40
};

// Central differences of fourth order with h = 2e-4 leave h^4/30 of the fifth derivative and
// round-off of eps/h, both relative to the size of what is observed. Angular rates W along these
// trees add up to 20 at most, and the fifth derivative is W^4 times the first: 1.6e-15/30 * 1.6e5 =
// 1e-11; eps/h = 1e-12, times the number of roundings on the way. Nothing right is above 1e-9, and
// a wrong formula is off by a term of the size one.
static const double TOL = 1e-9;

// Round-off of a few dozen operations on numbers of the size that the caller multiplies in.
static const double EPS = 1e-14;

// A frame S that moves on body B, seen from body A.
typedef struct scene {
    random_tree tree;
    tal_body_ix A, B;
    tal_xform X_BS;
    tal_spatial_vec V_BS, A_BS;
} scene;

static scene scene_create(uint64_t seed, test_rng *rng)
{
    random_tree_def def = random_tree_def_default(seed);
    scene at = {.tree = random_tree_create(&def)};
    random_tree_realize(&at.tree, at.tree.state, TAL_STAGE_ACCELERATION);
    at.A.i = (int)(test_random_bits(rng) % (uint64_t)at.tree.num_bodies);
    at.B.i = (int)(test_random_bits(rng) % (uint64_t)at.tree.num_bodies);
    at.X_BS = test_random_xform(rng);
    at.V_BS = test_random_spatial_vec(rng);
    at.A_BS = test_random_spatial_vec(rng);
    return at;
}

static tal_xform X_BS_at(const scene *at, double t)
{
    const double rate = tal_v3_norm(at->V_BS.w);
    const tal_mat3 turn = tal_rotation_from_angle_axis(rate * t, at->V_BS.w);
    return tal_xf(tal_m3_mul(turn, at->X_BS.R), tal_v3_axpy(t, at->V_BS.v, at->X_BS.p));
}

static void observe_pose(const void *context, tal_state *state, double t, double seen[])
{
    const scene *at = context;
    const tal_xform X_BS = X_BS_at(at, t);
    write_xform(tal_frame_X_AS(at->tree.matter, state, at->A, at->B, &X_BS), seen);
}

static void observe_velocity(const void *context, tal_state *state, double t, double seen[])
{
    const scene *at = context;
    const tal_xform X_BS = X_BS_at(at, t);
    const tal_spatial_vec V_BS = tal_sv_axpy(t, at->A_BS, at->V_BS);
    const tal_spatial_vec V_AS =
        tal_moving_frame_V_AS(at->tree.matter, state, at->A, at->B, &X_BS, V_BS);
    memcpy(seen, &V_AS, sizeof V_AS);
}

START_TEST(velocity_of_a_moving_frame_is_the_rate_of_its_pose)
{
    test_rng rng = test_rng_seed(1);
    for (int i = 0; i < TRIALS; ++i) {
        scene at = scene_create((uint64_t)i, &rng);
        const tal_xform X = tal_frame_X_AS(at.tree.matter, at.tree.state, at.A, at.B, &at.X_BS);
        const tal_spatial_vec V =
            tal_moving_frame_V_AS(at.tree.matter, at.tree.state, at.A, at.B, &at.X_BS, at.V_BS);

        double rate[12], wanted[12];
        write_xform_rate(X, V, rate);
        differentiate(&at.tree, TAL_STAGE_POSITION, observe_pose, &at, 12, wanted);

        test_assert_near(rate, wanted, 12, TOL * size_of(rate, 12), "rate of X_AS");
        random_tree_destroy(&at.tree);
    }
}

START_TEST(acceleration_of_a_moving_frame_is_the_rate_of_its_velocity)
{
    test_rng rng = test_rng_seed(2);
    for (int i = 0; i < TRIALS; ++i) {
        scene at = scene_create((uint64_t)i, &rng);
        const tal_spatial_vec A = tal_moving_frame_A_AS(at.tree.matter, at.tree.state, at.A, at.B,
                                                        &at.X_BS, at.V_BS, at.A_BS);

        double wanted[6];
        differentiate(&at.tree, TAL_STAGE_VELOCITY, observe_velocity, &at, 6, wanted);

        test_assert_near(&A.w.x, wanted, 6, TOL * size_of(&A.w.x, 6), "rate of V_AS");
        random_tree_destroy(&at.tree);
    }
}

START_TEST(a_frame_at_rest_on_its_body_is_a_special_moving_one)
{
    test_rng rng = test_rng_seed(3);
    for (int i = 0; i < TRIALS; ++i) {
        scene at = scene_create((uint64_t)i, &rng);
        const tal_matter *matter = at.tree.matter;
        const tal_state *state = at.tree.state;
        const tal_spatial_vec zero = TAL_SPATIAL_VEC_ZERO;

        const tal_spatial_vec V = tal_frame_V_AS(matter, state, at.A, at.B, &at.X_BS);
        const tal_spatial_vec A = tal_frame_A_AS(matter, state, at.A, at.B, &at.X_BS);

        test_assert_sv_near(V, tal_moving_frame_V_AS(matter, state, at.A, at.B, &at.X_BS, zero),
                            0.0);
        test_assert_sv_near(
            A, tal_moving_frame_A_AS(matter, state, at.A, at.B, &at.X_BS, zero, zero), 0.0);
        random_tree_destroy(&at.tree);
    }
}

START_TEST(a_point_is_the_origin_of_a_frame)
{
    test_rng rng = test_rng_seed(4);
    for (int i = 0; i < TRIALS; ++i) {
        scene at = scene_create((uint64_t)i, &rng);
        const tal_matter *m = at.tree.matter;
        const tal_state *s = at.tree.state;
        const tal_vec3 p = at.X_BS.p, v = at.V_BS.v, a = at.A_BS.v;
        const tal_xform X = tal_frame_X_AS(m, s, at.A, at.B, &at.X_BS);
        const tal_spatial_vec V = tal_moving_frame_V_AS(m, s, at.A, at.B, &at.X_BS, at.V_BS);
        const tal_spatial_vec A =
            tal_moving_frame_A_AS(m, s, at.A, at.B, &at.X_BS, at.V_BS, at.A_BS);

        // the same operations on the same numbers: the same bits
        test_assert_v3_near(tal_station_p_AS(m, s, at.A, at.B, p), X.p, 0.0);
        test_assert_v3_near(tal_point_v_AP(m, s, at.A, at.B, p, v), V.v, 0.0);
        test_assert_v3_near(tal_point_a_AP(m, s, at.A, at.B, p, v, a), A.v, 0.0);
        test_assert_v3_near(tal_station_v_AS(m, s, at.A, at.B, p),
                            tal_point_v_AP(m, s, at.A, at.B, p, TAL_VEC3_ZERO), 0.0);
        test_assert_v3_near(tal_station_a_AS(m, s, at.A, at.B, p),
                            tal_point_a_AP(m, s, at.A, at.B, p, TAL_VEC3_ZERO, TAL_VEC3_ZERO), 0.0);
        test_assert_v3_near(tal_station_p_GS(m, s, at.B, p),
                            tal_station_p_AS(m, s, TAL_GROUND, at.B, p), 0.0);
        test_assert_v3_near(tal_station_v_GS(m, s, at.B, p),
                            tal_station_v_AS(m, s, TAL_GROUND, at.B, p), 0.0);
        test_assert_v3_near(tal_station_a_GS(m, s, at.B, p),
                            tal_station_a_AS(m, s, TAL_GROUND, at.B, p), 0.0);
        random_tree_destroy(&at.tree);
    }
}

// On its own body a station stays where it is.
START_TEST(a_body_sees_its_own_stations_at_rest)
{
    test_rng rng = test_rng_seed(5);
    for (int i = 0; i < TRIALS; ++i) {
        scene at = scene_create((uint64_t)i, &rng);
        const tal_matter *m = at.tree.matter;
        const tal_state *s = at.tree.state;
        const tal_vec3 p = at.X_BS.p;
        // everything cancels: what is left is round-off of what was subtracted
        const tal_vec3 p_GS = tal_station_p_GS(m, s, at.B, p);
        const tal_vec3 v_GS = tal_station_v_GS(m, s, at.B, p);
        const tal_vec3 a_GS = tal_station_a_GS(m, s, at.B, p);
        const tal_spatial_vec V = tal_body_V_GB(m, s, at.B), A = tal_body_A_GB(m, s, at.B);
        const double w2 = tal_v3_dot(V.w, V.w), b = tal_v3_norm(A.w);

        test_assert_v3_near(tal_station_p_AS(m, s, at.B, at.B, p), p, EPS * size_of(&p_GS.x, 3));
        test_assert_v3_near(tal_station_v_AS(m, s, at.B, at.B, p), TAL_VEC3_ZERO,
                            EPS * (size_of(&v_GS.x, 3) + sqrt(w2) * size_of(&p_GS.x, 3)));
        test_assert_v3_near(tal_station_a_AS(m, s, at.B, at.B, p), TAL_VEC3_ZERO,
                            EPS * (size_of(&a_GS.x, 3) +
                                   (w2 + b + 1.0) * (size_of(&p_GS.x, 3) + size_of(&v_GS.x, 3))));
        random_tree_destroy(&at.tree);
    }
}

// A kilometer away positions are known to eps 1e3 = 2e-13, and rates w and b of at most 1e3 bring
// that into accelerations: 2e-10. Absolute positions must not come in anywhere else.
START_TEST(what_bodies_see_of_each_other_does_not_depend_on_where_they_are)
{
    for (int i = 0; i < TRIALS; ++i) {
        random_tree_def def = random_tree_def_default((uint64_t)i);
        def.free_base = true;
        random_tree tree = random_tree_create(&def);
        const tal_body_ix base = {1}, A = {3}, B = {8};
        const tal_matter *m = tree.matter;
        tal_state *s = tree.state;
        const int last = tal_body_nq(m, s, base) - 1;
        random_tree_realize(&tree, s, TAL_STAGE_ACCELERATION);
        const tal_xform X = tal_body_X_AB(m, s, A, B);
        const tal_spatial_vec V = tal_body_V_AB(m, s, A, B), Acc = tal_body_A_AB(m, s, A, B);

        ck_assert_int_eq(tal_body_set_q(m, s, base, last, 1e3), TAL_OK);
        random_tree_realize(&tree, s, TAL_STAGE_ACCELERATION);

        const tal_xform X_far = tal_body_X_AB(m, s, A, B);
        ck_assert(tal_v3_norm(tal_body_p_GB(m, s, B)) > 900.0);
        test_assert_near(&X_far.R.x.x, &X.R.x.x, 12, 1e-11, "X_AB");
        test_assert_sv_near(tal_body_V_AB(m, s, A, B), V, 1e-10);
        test_assert_sv_near(tal_body_A_AB(m, s, A, B), Acc, 1e-11 * size_of(&Acc.w.x, 6));
        random_tree_destroy(&tree);
    }
}

// --- distances ---

typedef struct pair {
    const random_tree *tree;
    tal_body_ix B, C;
    tal_vec3 p_BS, p_CT;
} pair;

static void observe_distance(const void *context, tal_state *state, double t, double seen[])
{
    (void)t;
    const pair *at = context;
    const tal_matter *m = at->tree->matter;
    seen[0] = tal_station_distance(m, state, at->B, at->p_BS, at->C, at->p_CT);
}

static void observe_rate(const void *context, tal_state *state, double t, double seen[])
{
    (void)t;
    const pair *at = context;
    const tal_matter *m = at->tree->matter;
    seen[0] = tal_station_distance_rate(m, state, at->B, at->p_BS, at->C, at->p_CT);
}

START_TEST(rates_of_distance_are_its_derivatives)
{
    test_rng rng = test_rng_seed(6);
    for (int i = 0; i < TRIALS; ++i) {
        scene at = scene_create((uint64_t)i, &rng);
        const tal_matter *m = at.tree.matter;
        const tal_state *s = at.tree.state;
        const pair two = {&at.tree, at.A, at.B, tal_v3_scale(3.0, at.X_BS.p), at.V_BS.v};
        const double d = tal_station_distance(m, s, two.B, two.p_BS, two.C, two.p_CT);
        const double rate = tal_station_distance_rate(m, s, two.B, two.p_BS, two.C, two.p_CT);
        const double second =
            tal_station_distance_acceleration(m, s, two.B, two.p_BS, two.C, two.p_CT);

        double rate_seen, second_seen;
        differentiate(&at.tree, TAL_STAGE_POSITION, observe_distance, &two, 1, &rate_seen);
        differentiate(&at.tree, TAL_STAGE_VELOCITY, observe_rate, &two, 1, &second_seen);

        const tal_vec3 r = tal_v3_sub(tal_station_p_GS(m, s, two.C, two.p_CT),
                                      tal_station_p_GS(m, s, two.B, two.p_BS));
        ck_assert(d > 0.3); // the norm bends with 1/d, and the differences must follow it
        test_assert_near(&d, &(double){tal_v3_norm(r)}, 1, EPS * fmax(d, 1.0), "distance");
        test_assert_near(&rate, &rate_seen, 1, TOL * size_of(&rate, 1), "its rate");
        test_assert_near(&second, &second_seen, 1, 10.0 * TOL * size_of(&second, 1),
                         "its second rate");
        random_tree_destroy(&at.tree);
    }
}

// A free body whose origin passes Ground's with velocity v and acceleration a along x: |v t| has
// the rate |v|, and |v t + a t^2/2| the second rate v.a/|v|, or |a| from rest.
START_TEST(stations_that_meet_part_with_their_relative_speed)
{
    // v, a, second rate
    const double cases[][3] = {{-2.0, 0.5, -0.5}, {2.0, 0.5, 0.5}, {0.0, -0.7, 0.7}};
    for (int i = 0; i < 3; ++i) {
        random_tree_def def = random_tree_def_default(1);
        def.num_bodies = 1;
        def.free_base = true;
        random_tree tree = random_tree_create(&def);
        const tal_body_ix body = {1};
        const tal_xform X_FM = tal_xf_inv_mul(tal_body_X_PF(tree.matter, tree.state, body),
                                              tal_body_X_BM(tree.matter, tree.state, body));
        const tal_mat3 R_PF = tal_body_X_PF(tree.matter, tree.state, body).R;
        ck_assert_int_eq(tal_body_fit_q(tree.matter, tree.state, body, &X_FM), TAL_OK);
        const tal_vec3 v_F = tal_m3_tmul_v3(R_PF, tal_v3(cases[i][0], 0.0, 0.0));
        ck_assert_int_eq(tal_body_fit_u(tree.matter, tree.state, body, tal_sv(TAL_VEC3_ZERO, v_F)),
                         TAL_OK);
        const tal_spatial_inertia M =
            tal_spatial_inertia_from_mass_props(tal_body_mass_props(tree.matter, tree.state, body));
        const tal_spatial_vec F_B =
            tal_spatial_inertia_mul(M, tal_sv(TAL_VEC3_ZERO, tal_v3(cases[i][1], 0.0, 0.0)));
        const tal_vec3 p_BM = tal_body_X_BM(tree.matter, tree.state, body).p;
        tree.F[1] = tal_sv_shift_force(F_B, tal_v3_neg(p_BM));
        memset(tree.f, 0, (size_t)tree.nu * sizeof *tree.f);
        random_tree_realize(&tree, tree.state, TAL_STAGE_ACCELERATION);
        // the station where B's origin is: exactly on it, so that the distance is exactly zero
        const tal_vec3 p_GS = tal_body_p_GB(tree.matter, tree.state, body);
        test_assert_v3_near(p_GS, TAL_VEC3_ZERO, EPS);

        const double d =
            tal_station_distance(tree.matter, tree.state, TAL_GROUND, p_GS, body, TAL_VEC3_ZERO);
        const double rate = tal_station_distance_rate(tree.matter, tree.state, TAL_GROUND, p_GS,
                                                      body, TAL_VEC3_ZERO);
        const double second = tal_station_distance_acceleration(tree.matter, tree.state, TAL_GROUND,
                                                                p_GS, body, TAL_VEC3_ZERO);

        ck_assert_double_eq(d, 0.0);
        ck_assert_double_eq_tol(rate, fabs(cases[i][0]), EPS);
        ck_assert_double_eq_tol(second, cases[i][2], 1e-13);
        random_tree_destroy(&tree);
    }
}

// --- contracts ---

// Each call once, on a State that is too low, or with a body that does not exist.
static void assert_all_breach(const random_tree *tree, tal_state *state, tal_body_ix A,
                              tal_body_ix B, tal_status status, const char *part)
{
    const tal_matter *m = tree->matter;
    const tal_vec3 p = {1.0, 2.0, 3.0};
    const tal_xform X = TAL_XFORM_IDENTITY;
    const tal_spatial_vec Z = TAL_SPATIAL_VEC_ZERO;
    tal_vec3 v;
    tal_xform T;
    tal_spatial_vec V;
    double d;
    test_assert_nan(v, tal_station_p_GS(m, state, B, p), status, part);
    test_assert_nan(v, tal_station_v_GS(m, state, B, p), status, part);
    test_assert_nan(v, tal_station_a_GS(m, state, B, p), status, part);
    test_assert_nan(v, tal_station_p_AS(m, state, A, B, p), status, part);
    test_assert_nan(v, tal_station_v_AS(m, state, A, B, p), status, part);
    test_assert_nan(v, tal_station_a_AS(m, state, A, B, p), status, part);
    test_assert_nan(v, tal_point_v_AP(m, state, A, B, p, p), status, part);
    test_assert_nan(v, tal_point_a_AP(m, state, A, B, p, p, p), status, part);
    test_assert_nan(T, tal_frame_X_AS(m, state, A, B, &X), status, part);
    test_assert_nan(V, tal_frame_V_AS(m, state, A, B, &X), status, part);
    test_assert_nan(V, tal_frame_A_AS(m, state, A, B, &X), status, part);
    test_assert_nan(V, tal_moving_frame_V_AS(m, state, A, B, &X, Z), status, part);
    test_assert_nan(V, tal_moving_frame_A_AS(m, state, A, B, &X, Z, Z), status, part);
    test_assert_nan(d, tal_station_distance(m, state, A, p, B, p), status, part);
    test_assert_nan(d, tal_station_distance_rate(m, state, A, p, B, p), status, part);
    test_assert_nan(d, tal_station_distance_acceleration(m, state, A, p, B, p), status, part);
}

START_TEST(a_broken_contract_is_nan_and_one_sentence)
{
    random_tree_def def = random_tree_def_default(1);
    random_tree tree = random_tree_create(&def);
    const tal_body_ix body = {3}, other = {2}, none = {99};
    test_record_breaches();

    assert_all_breach(&tree, tree.state, other, body, TAL_ERR_STAGE, "reached only Model");
    random_tree_realize(&tree, tree.state, TAL_STAGE_ACCELERATION);
    assert_all_breach(&tree, tree.state, other, none, TAL_ERR_BAD_INDEX, "no body 99");
    assert_all_breach(&tree, NULL, other, body, TAL_ERR_NULL, "NULL");
    tal_vec3 v;
    test_assert_breach(v = tal_station_p_AS(tree.matter, tree.state, none, body, TAL_VEC3_ZERO),
                       TAL_ERR_BAD_INDEX, "no body 99");
    ck_assert(all_nan(&v, sizeof v));
    test_assert_breach(v = tal_station_p_GS(NULL, tree.state, body, TAL_VEC3_ZERO), TAL_ERR_NULL,
                       "matter is NULL");
    ck_assert(all_nan(&v, sizeof v));
    tal_spatial_vec V;
    test_assert_breach(V = tal_frame_V_AS(tree.matter, tree.state, other, body, NULL), TAL_ERR_NULL,
                       "X_BS is NULL");
    ck_assert(all_nan(&V, sizeof V));
    random_tree_destroy(&tree);
}

START_TEST(each_quantity_is_there_from_its_stage_on)
{
    random_tree_def def = random_tree_def_default(1);
    random_tree tree = random_tree_create(&def);
    const tal_body_ix A = {2}, B = {5};
    const tal_vec3 p = {1.0, 2.0, 3.0};
    test_record_breaches();
    random_tree_realize(&tree, tree.state, TAL_STAGE_POSITION);

    ck_assert(tal_v3_is_finite(tal_station_p_AS(tree.matter, tree.state, A, B, p)));
    ck_assert_int_eq(test_breaches(), 0);
    test_assert_breach((void)tal_station_v_AS(tree.matter, tree.state, A, B, p), TAL_ERR_STAGE,
                       "needs stage Velocity, but the State has reached only Position");
    random_tree_realize(&tree, tree.state, TAL_STAGE_VELOCITY);
    ck_assert(tal_v3_is_finite(tal_station_v_AS(tree.matter, tree.state, A, B, p)));
    ck_assert_int_eq(test_breaches(), 0);
    test_assert_breach((void)tal_station_a_AS(tree.matter, tree.state, A, B, p), TAL_ERR_STAGE,
                       "needs stage Acceleration, but the State has reached only Velocity");
    random_tree_destroy(&tree);
}

int main(void)
{
    Suite *suite = suite_create("matter/response_station");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, velocity_of_a_moving_frame_is_the_rate_of_its_pose);
    tcase_add_test(theory, acceleration_of_a_moving_frame_is_the_rate_of_its_velocity);
    tcase_add_test(theory, a_frame_at_rest_on_its_body_is_a_special_moving_one);
    tcase_add_test(theory, a_point_is_the_origin_of_a_frame);
    tcase_add_test(theory, a_body_sees_its_own_stations_at_rest);
    tcase_add_test(theory, what_bodies_see_of_each_other_does_not_depend_on_where_they_are);
    tcase_add_test(theory, rates_of_distance_are_its_derivatives);
    tcase_add_test(theory, stations_that_meet_part_with_their_relative_speed);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, a_broken_contract_is_nan_and_one_sentence);
    tcase_add_test(errors, each_quantity_is_there_from_its_stage_on);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
