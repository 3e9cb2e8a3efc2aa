// matter/src/response/response_subtree.c: parts of random trees against the motion of their bodies
// as seen from the ancestor in the whole tree.
#include "alloc_guard.h"
#include "random_tree.h"

enum {
    MOST = 64
};

static double size_of(tal_spatial_vec V)
{
    return fmax(tal_v3_norm(V.w), tal_v3_norm(V.v));
}

static void check_near(tal_spatial_vec V, tal_spatial_vec wanted, double tol)
{
    test_assert_v3_near(V.w, wanted.w, tol);
    test_assert_v3_near(V.v, wanted.v, tol);
}

// The body that carries both, or b itself when a carries it: walk the later one inward.
static bool carries(const tal_matter *matter, int a, int b)
{
    while (b > a) {
        b = tal_body_parent(matter, (tal_body_ix){b}).i;
    }
    return a == b;
}

static void check_part(const random_tree *tree, int ancestor, const tal_body_ix ends[], int num,
                       const double udot[])
{
    const tal_matter *matter = tree->matter;
    tal_state *state = tree->state;
    tal_subtree *part = NULL;
    tal_error err;
    const tal_body_ix A = {ancestor};
    ck_assert_msg(tal_subtree_create(matter, state, A, ends, num, &part, &err) == TAL_OK, "%s",
                  err.message);
    int slots[10 * MOST];
    double q[10 * MOST], u[6 * MOST], du[6 * MOST];
    const int nq = tal_matter_nq(matter, state), nu = tal_matter_nu(matter);
    ck_assert_int_eq(tal_subtree_list(part, TAL_VARIABLE_Q, slots), tal_subtree_nq(part));
    tal_variables_pack(tal_state_q(state), nq, slots, tal_subtree_nq(part), q);
    ck_assert_int_eq(tal_subtree_list(part, TAL_VARIABLE_UDOT, slots), tal_subtree_nu(part));
    tal_variables_pack(tal_state_u(state), nu, slots, tal_subtree_nu(part), u);
    tal_variables_pack(udot, nu, slots, tal_subtree_nu(part), du);
    tal_xform X[MOST], X_alone[MOST];
    tal_spatial_vec V[MOST], V_alone[MOST], acc[MOST];
    tal_status st;
    test_assert_no_heap(st = tal_subtree_kinematics(part, q, u, du, X, V, acc));
    ck_assert_int_eq(st, TAL_OK);
    ck_assert_int_eq(tal_subtree_kinematics(part, q, NULL, NULL, X_alone, NULL, NULL), TAL_OK);
    ck_assert_int_eq(tal_subtree_kinematics(part, q, u, NULL, NULL, V_alone, NULL), TAL_OK);
    const int n = tal_subtree_num_bodies(part);
    ck_assert_mem_eq(X_alone, X, (size_t)n * sizeof *X);
    ck_assert_mem_eq(V_alone, V, (size_t)n * sizeof *V);
    ck_assert_int_eq(tal_subtree_body(part, 0).i, ancestor);
    for (int k = 0; k < n; ++k) {
        const tal_body_ix B = tal_subtree_body(part, k);
        ck_assert_int_eq(tal_subtree_find(part, B), k);
        const tal_xform X_AB = tal_body_X_AB(matter, state, A, B);
        // entries of order ten after as many bodies, a hundred operations each
        test_assert_m3_near(X[k].R, X_AB.R, 1e-13);
        test_assert_v3_near(X[k].p, X_AB.p, 1e-12);
        const tal_spatial_vec V_AB = tal_body_V_AB(matter, state, A, B);
        const tal_spatial_vec A_AB = tal_body_A_AB(matter, state, A, B);
        const tal_spatial_vec A_GB = tal_body_A_GB(matter, state, B);
        check_near(V[k], V_AB, 1e-12 * (1.0 + size_of(tal_body_V_GB(matter, state, B))));
        check_near(acc[k], A_AB, 1e-11 * (1.0 + size_of(A_GB)));
    }
    for (int k = 0; k < num; ++k) {
        ck_assert_int_ge(tal_subtree_find(part, ends[k]), 0);
    }
    tal_subtree_destroy(part);
}

START_TEST(parts_move_as_in_the_whole_tree)
{
    test_rng rng = test_rng_seed(16);
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        random_tree_def def = random_tree_def_default(seed);
        def.num_bodies = 20;
        random_tree tree = random_tree_create(&def);
        random_tree_realize(&tree, tree.state, TAL_STAGE_ACCELERATION);
        const double *udot = tal_state_udot(tree.state);
        for (int round = 0; round < 5; ++round) {
            const int ancestor = (int)test_random_uniform(&rng, 0.0, 4.0);
            tal_body_ix ends[4];
            int num = 0;
            for (int b = ancestor; b < tree.num_bodies && num < 4; ++b) {
                const bool is_drawn = test_random_uniform(&rng, 0.0, 1.0) < 0.4;
                if (carries(tree.matter, ancestor, b) && (is_drawn || b == ancestor)) {
                    ends[num++] = (tal_body_ix){b};
                }
            }
            check_part(&tree, ancestor, ends, num, udot);
        }
        random_tree_destroy(&tree);
    }
}

END_TEST

START_TEST(bad_calls_are_refused)
{
    random_tree_def def = random_tree_def_default(3);
    random_tree tree = random_tree_create(&def);
    const tal_matter *matter = tree.matter;
    tal_subtree *part = NULL;
    tal_error err;
    const tal_body_ix first = {1}, none[] = {{-1}};
    ck_assert_int_eq(
        tal_subtree_create(matter, tree.state, (tal_body_ix){2}, &first, 1, &part, &err),
        TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "does not carry"));
    ck_assert_ptr_null(part);
    test_assert_refused(tal_subtree_create(matter, tree.state, TAL_GROUND, none, 1, &part, &err),
                        TAL_ERR_BAD_INDEX, "");
    test_assert_refused(tal_subtree_create(matter, tree.state, TAL_GROUND, &first, 0, &part, &err),
                        TAL_ERR_BAD_VALUE, "0 terminal bodies");
    test_assert_refused(tal_subtree_create(matter, tree.state, TAL_GROUND, NULL, 1, &part, &err),
                        TAL_ERR_NULL, "terminals");
    const tal_body_ix last = {tree.num_bodies - 1};
    ck_assert_int_eq(tal_subtree_create(matter, tree.state, TAL_GROUND, &last, 1, &part, NULL),
                     TAL_OK);
    double q[200] = {0.0};
    tal_spatial_vec V[20];
    test_assert_refused(tal_subtree_kinematics(part, q, NULL, NULL, NULL, V, NULL), TAL_ERR_NULL,
                        "V needs u");
    for (int i = 0; i < tal_subtree_nq(part); ++i) {
        q[i] = (double)NAN;
    }
    ck_assert_int_eq(tal_subtree_kinematics(part, q, NULL, NULL, NULL, NULL, NULL),
                     TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_subtree_error(part)->message, "body '"));
    ck_assert_int_eq(tal_subtree_find(part, (tal_body_ix){-7}), -1);
    test_assert_breach(ck_assert_int_lt(tal_subtree_body(part, 99).i, 0), TAL_ERR_BAD_INDEX, "99");
    tal_subtree_destroy(part);
    tal_subtree_destroy(NULL);
    random_tree_destroy(&tree);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("matter/response_subtree");
    TCase *tests = tcase_create("tests");
    tcase_add_test(tests, parts_move_as_in_the_whole_tree);
    tcase_add_test(tests, bad_calls_are_refused);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
