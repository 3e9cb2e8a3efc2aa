// matter/src/response/response_body.c and response_mobilizer.c: bodies in Ground, across their
// mobilizers, and as seen from each other.
#include "motion_support.h"

enum {
    TRIALS = 30
};

// See test_response_station.c for where these come from.
static const double TOL = 1e-9;
static const double EPS = 1e-14;

static random_tree realized_tree(int seed, int num_bodies)
{
    random_tree_def def = random_tree_def_default((uint64_t)seed);
    def.num_bodies = num_bodies;
    random_tree tree = random_tree_create(&def);
    random_tree_realize(&tree, tree.state, TAL_STAGE_ACCELERATION);
    return tree;
}

// --- in Ground ---

// X_GB = X_GP X_PF X_FM X_MB                                                    manual fig. 6
START_TEST(a_pose_is_the_product_of_the_poses_on_the_way)
{
    for (int i = 0; i < TRIALS; ++i) {
        random_tree tree = realized_tree(i, 20);
        const tal_matter *m = tree.matter;
        const tal_state *s = tree.state;
        for (int b = 1; b < tree.num_bodies; ++b) {
            const tal_body_ix body = {b};
            const tal_xform X_GP = tal_body_X_GB(m, s, tal_body_parent(m, body));
            const tal_xform X_PM = tal_xf_mul(tal_body_X_PF(m, s, body), tal_body_X_FM(m, s, body));
            const tal_xform X_MB = tal_xf_inverse(tal_body_X_BM(m, s, body));
            const tal_xform wanted = tal_xf_mul(X_GP, tal_xf_mul(X_PM, X_MB));

            const tal_xform X_GB = tal_body_X_GB(m, s, body);

            test_assert_near(&X_GB.R.x.x, &wanted.R.x.x, 12, EPS * size_of(&wanted.p.x, 3), "X_GB");
            test_assert_v3_near(tal_body_p_GB(m, s, body), X_GB.p, 0.0);
        }
        random_tree_destroy(&tree);
    }
}

// A body is the frame on it that does not differ from it, and test_response_station.c holds those
// against differences.
START_TEST(a_body_moves_as_its_own_frame_does)
{
    for (int i = 0; i < TRIALS; ++i) {
        random_tree tree = realized_tree(i, 10);
        const tal_matter *m = tree.matter;
        const tal_state *s = tree.state;
        const tal_xform same = TAL_XFORM_IDENTITY;
        for (int b = 0; b < tree.num_bodies; ++b) {
            const tal_body_ix B = {b}, A = {(3 * b + i) % tree.num_bodies};
            const tal_spatial_vec V_GB = tal_body_V_GB(m, s, B), A_GB = tal_body_A_GB(m, s, B);
            const tal_xform X_AB = tal_body_X_AB(m, s, A, B);
            const tal_spatial_vec V_AB = tal_body_V_AB(m, s, A, B),
                                  A_AB = tal_body_A_AB(m, s, A, B);

            test_assert_sv_near(V_GB, tal_frame_V_AS(m, s, TAL_GROUND, B, &same), 0.0);
            test_assert_sv_near(A_GB, tal_frame_A_AS(m, s, TAL_GROUND, B, &same), 0.0);
            const tal_xform X_AS = tal_frame_X_AS(m, s, A, B, &same);
            test_assert_near(&X_AB.R.x.x, &X_AS.R.x.x, 12, 0.0, "X_AB");
            test_assert_sv_near(V_AB, tal_frame_V_AS(m, s, A, B, &same), 0.0);
            test_assert_sv_near(A_AB, tal_frame_A_AS(m, s, A, B, &same), 0.0);
        }
        random_tree_destroy(&tree);
    }
}

START_TEST(ground_is_at_rest)
{
    random_tree tree = realized_tree(1, 3);
    const tal_matter *m = tree.matter;
    const tal_state *s = tree.state;
    const tal_xform same = TAL_XFORM_IDENTITY;
    const tal_xform X_GB = tal_body_X_GB(m, s, TAL_GROUND), X_FM = tal_body_X_FM(m, s, TAL_GROUND);

    test_assert_near(&X_GB.R.x.x, &same.R.x.x, 12, 0.0, "X_GG");
    test_assert_near(&X_FM.R.x.x, &same.R.x.x, 12, 0.0, "X_FM of Ground");
    test_assert_sv_near(tal_body_V_GB(m, s, TAL_GROUND), TAL_SPATIAL_VEC_ZERO, 0.0);
    test_assert_sv_near(tal_body_A_GB(m, s, TAL_GROUND), TAL_SPATIAL_VEC_ZERO, 0.0);
    test_assert_sv_near(tal_body_V_FM(m, s, TAL_GROUND), TAL_SPATIAL_VEC_ZERO, 0.0);
    test_assert_sv_near(tal_body_A_FM(m, s, TAL_GROUND), TAL_SPATIAL_VEC_ZERO, 0.0);
    ck_assert_int_eq(tal_body_H(m, s, TAL_GROUND, TAL_H_PB_G, NULL), TAL_OK);
    ck_assert_int_eq(tal_body_Hdot(m, s, TAL_GROUND, TAL_H_PB_G, NULL), TAL_OK);
    random_tree_destroy(&tree);
}

// --- across a mobilizer ---

typedef struct one_body {
    const random_tree *tree;
    tal_body_ix body;
    tal_hinge_frame frame;
} one_body;

static void observe_X_FM(const void *context, tal_state *state, double t, double seen[])
{
    (void)t;
    const one_body *at = context;
    write_xform(tal_body_X_FM(at->tree->matter, state, at->body), seen);
}

static void observe_V_FM(const void *context, tal_state *state, double t, double seen[])
{
    (void)t;
    const one_body *at = context;
    const tal_spatial_vec V = tal_body_V_FM(at->tree->matter, state, at->body);
    memcpy(seen, &V, sizeof V);
}

static void observe_H(const void *context, tal_state *state, double t, double seen[])
{
    (void)t;
    const one_body *at = context;
    tal_spatial_vec H[TAL_MAX_NU];
    ck_assert_int_eq(tal_body_H(at->tree->matter, state, at->body, at->frame, H), TAL_OK);
    memcpy(seen, H, (size_t)tal_body_nu(at->tree->matter, at->body) * sizeof H[0]);
}

START_TEST(motion_across_a_mobilizer_is_the_rate_of_its_pose)
{
    random_tree tree = realized_tree(7, 60);
    for (int b = 1; b < tree.num_bodies; ++b) {
        const one_body at = {&tree, {b}, TAL_H_FM};
        const tal_xform X_FM = tal_body_X_FM(tree.matter, tree.state, at.body);
        const tal_spatial_vec V_FM = tal_body_V_FM(tree.matter, tree.state, at.body);
        const tal_spatial_vec A_FM = tal_body_A_FM(tree.matter, tree.state, at.body);

        double rate[12], X_rate[12], V_rate[6];
        write_xform_rate(X_FM, V_FM, rate);
        differentiate(&tree, TAL_STAGE_POSITION, observe_X_FM, &at, 12, X_rate);
        differentiate(&tree, TAL_STAGE_VELOCITY, observe_V_FM, &at, 6, V_rate);

        test_assert_near(rate, X_rate, 12, TOL * size_of(rate, 12), "rate of X_FM");
        test_assert_near(&A_FM.w.x, V_rate, 6, TOL * size_of(V_rate, 6), "rate of V_FM");
    }
    random_tree_destroy(&tree);
}

static tal_spatial_vec times_u(const random_tree *tree, tal_body_ix body, const tal_spatial_vec H[],
                               const double u[])
{
    tal_spatial_vec sum = TAL_SPATIAL_VEC_ZERO;
    for (int j = 0; j < tal_body_nu(tree->matter, body); ++j) {
        sum = tal_sv_axpy(u[tal_body_u_start(tree->matter, body) + j], H[j], sum);
    }
    return sum;
}

// H u is the motion that its frame says, as seen from the frame that it says.
START_TEST(a_hinge_matrix_times_u_is_the_motion_it_stands_for)
{
    random_tree tree = realized_tree(8, 60);
    const tal_matter *m = tree.matter;
    const tal_state *s = tree.state;
    for (int b = 1; b < tree.num_bodies; ++b) {
        const tal_body_ix body = {b}, parent = tal_body_parent(m, body);
        const tal_xform X_PF = tal_body_X_PF(m, s, body), X_BM = tal_body_X_BM(m, s, body);
        const tal_spatial_vec V_PB = tal_body_V_AB(m, s, parent, body); // in P
        const tal_spatial_vec V_PM = tal_frame_V_AS(m, s, parent, body, &X_BM);
        const tal_mat3 R_GP = tal_body_X_GB(m, s, parent).R;
        const tal_spatial_vec wanted[] = {tal_m3_tmul_sv(X_PF.R, V_PM),
                                          tal_m3_tmul_sv(X_PF.R, V_PB), V_PB,
                                          tal_m3_mul_sv(R_GP, V_PM), tal_m3_mul_sv(R_GP, V_PB)};
        const tal_spatial_vec V_GB = tal_body_V_GB(m, s, body);
        // seen from P: what both move with cancels
        const double tol =
            EPS * size_of(&V_GB.w.x, 6) * (1.0 + tal_v3_norm(tal_body_p_GB(m, s, body)));

        for (int frame = TAL_H_FM; frame <= TAL_H_PB_G; ++frame) {
            tal_spatial_vec H[TAL_MAX_NU];
            ck_assert_int_eq(tal_body_H(m, s, body, (tal_hinge_frame)frame, H), TAL_OK);
            test_assert_sv_near(times_u(&tree, body, H, tal_state_u(s)), wanted[frame], tol);
        }
        test_assert_sv_near(tal_body_V_FM(m, s, body), wanted[TAL_H_FM], tol);
    }
    random_tree_destroy(&tree);
}

START_TEST(the_rate_of_a_hinge_matrix_is_its_derivative)
{
    random_tree tree = realized_tree(9, 40);
    for (int b = 1; b < tree.num_bodies; ++b) {
        for (int frame = TAL_H_FM; frame <= TAL_H_PB_G; ++frame) {
            const one_body at = {&tree, {b}, (tal_hinge_frame)frame};
            const int n = 6 * tal_body_nu(tree.matter, at.body);
            tal_spatial_vec Hdot[TAL_MAX_NU];
            ck_assert_int_eq(tal_body_Hdot(tree.matter, tree.state, at.body, at.frame, Hdot),
                             TAL_OK);

            double rate[6 * TAL_MAX_NU];
            differentiate(&tree, TAL_STAGE_VELOCITY, observe_H, &at, n, rate);

            test_assert_near(&Hdot[0].w.x, rate, n, TOL * size_of(rate, n), "rate of H");
        }
    }
    random_tree_destroy(&tree);
}

// --- contracts ---

static void assert_all_breach(const random_tree *tree, tal_state *state, tal_body_ix body,
                              tal_status status, const char *part)
{
    const tal_matter *m = tree->matter;
    const tal_body_ix A = {2};
    tal_xform X;
    tal_vec3 p;
    tal_spatial_vec V, H[TAL_MAX_NU] = {{{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}};
    test_assert_nan(X, tal_body_X_GB(m, state, body), status, part);
    test_assert_nan(p, tal_body_p_GB(m, state, body), status, part);
    test_assert_nan(V, tal_body_V_GB(m, state, body), status, part);
    test_assert_nan(V, tal_body_A_GB(m, state, body), status, part);
    test_assert_nan(X, tal_body_X_AB(m, state, A, body), status, part);
    test_assert_nan(V, tal_body_V_AB(m, state, A, body), status, part);
    test_assert_nan(V, tal_body_A_AB(m, state, A, body), status, part);
    test_assert_nan(X, tal_body_X_FM(m, state, body), status, part);
    test_assert_nan(V, tal_body_V_FM(m, state, body), status, part);
    test_assert_nan(V, tal_body_A_FM(m, state, body), status, part);
    test_assert_breach(ck_assert_int_eq(tal_body_H(m, state, body, TAL_H_FM, H), status), status,
                       part);
    test_assert_breach(ck_assert_int_eq(tal_body_Hdot(m, state, body, TAL_H_FM, H), status), status,
                       part);
    test_assert_sv_near(H[0], TAL_SPATIAL_VEC_ZERO, 0.0);
}

START_TEST(a_broken_contract_is_nan_and_one_sentence)
{
    random_tree_def def = random_tree_def_default(3);
    random_tree tree = random_tree_create(&def), other = realized_tree(4, 9);
    const tal_body_ix body = {3}, none = {-1};
    test_record_breaches();

    assert_all_breach(&tree, tree.state, body, TAL_ERR_STAGE, "reached only Model");
    random_tree_realize(&tree, tree.state, TAL_STAGE_ACCELERATION);
    assert_all_breach(&tree, tree.state, none, TAL_ERR_BAD_INDEX, "no body -1");
    assert_all_breach(&tree, NULL, body, TAL_ERR_NULL, "NULL");
    assert_all_breach(&tree, other.state, body, TAL_ERR_WRONG_SYSTEM, "System");
    tal_xform X;
    test_assert_nan(X, tal_body_X_GB(NULL, tree.state, body), TAL_ERR_NULL, "matter is NULL");
    random_tree_destroy(&tree);
    random_tree_destroy(&other);
}

START_TEST(a_hinge_matrix_needs_a_frame_and_room)
{
    random_tree_def def = random_tree_def_default(3);
    def.free_base = true;
    random_tree tree = random_tree_create(&def);
    random_tree_realize(&tree, tree.state, TAL_STAGE_VELOCITY);
    const tal_body_ix body = {1};
    tal_spatial_vec H[TAL_MAX_NU];
    test_record_breaches();

    test_assert_breach((void)tal_body_H(tree.matter, tree.state, body, (tal_hinge_frame)17, H),
                       TAL_ERR_BAD_VALUE, "no hinge frame 17");
    test_assert_breach((void)tal_body_H(tree.matter, tree.state, body, TAL_H_FM, NULL),
                       TAL_ERR_NULL, "no room for 6 columns");
    test_assert_breach((void)tal_body_Hdot(tree.matter, tree.state, body, TAL_H_FM, NULL),
                       TAL_ERR_NULL, "no room for 6 columns");
    random_tree_destroy(&tree);
}

// A mobilizer that works until it is told to fail.
static tal_status failing_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)arg;
    const int *fails = self;
    *X_FM = TAL_XFORM_IDENTITY;
    return *fails ? TAL_ERR_CALLBACK : TAL_OK;
}

static tal_status failing_H_FM(const void *self, const tal_mobilizer_arg *arg,
                               tal_spatial_vec H_FM[])
{
    (void)arg;
    (void)self;
    H_FM[0] = TAL_SPATIAL_VEC_ZERO;
    return TAL_OK;
}

START_TEST(a_mobilizer_that_changes_its_mind_is_named)
{
    static const tal_mobilizer_ops ops = {.size = sizeof ops,
                                          .name = "fickle",
                                          .nu = 1,
                                          .nq = 1,
                                          .nq_angles = 1,
                                          .calc_X_FM = failing_X_FM,
                                          .calc_H_FM = failing_H_FM};
    int fails = 0;
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    const tal_mobod_def def = tal_mobod_def_default();
    const tal_body_ix body = tal_matter_add_mobilizer(matter, TAL_GROUND, &def, &ops, &fails, NULL);
    tal_state *state = NULL;
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_POSITION), TAL_OK);
    test_record_breaches();

    fails = 1;

    tal_xform X;
    test_assert_nan(X, tal_body_X_FM(matter, state, body), TAL_ERR_CALLBACK, "'fickle', failed");
    tal_state_destroy(state);
    tal_system_destroy(system);
}

int main(void)
{
    Suite *suite = suite_create("matter/response_body");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, a_pose_is_the_product_of_the_poses_on_the_way);
    tcase_add_test(theory, a_body_moves_as_its_own_frame_does);
    tcase_add_test(theory, ground_is_at_rest);
    tcase_add_test(theory, motion_across_a_mobilizer_is_the_rate_of_its_pose);
    tcase_add_test(theory, a_hinge_matrix_times_u_is_the_motion_it_stands_for);
    tcase_add_test(theory, the_rate_of_a_hinge_matrix_is_its_derivative);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, a_broken_contract_is_nan_and_one_sentence);
    tcase_add_test(errors, a_hinge_matrix_needs_a_frame_and_room);
    tcase_add_test(errors, a_mobilizer_that_changes_its_mind_is_named);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
