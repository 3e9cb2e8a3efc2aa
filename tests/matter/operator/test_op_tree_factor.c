// matter/src/operator/op_tree_factor.c: L^T L and L^T D L with the sparsity of a tree.
#include "alloc_guard.h"
#include "op_support.h"

/*
 * The factors of a positive definite matrix reproduce it to n eps |H| (Higham sec. 10.1), and a
 * solution carries that error times cond(H). Eight for the two triangles and the constants.
 */
static double round_off(int n)
{
    return 8.0 * (n + 1) * DBL_EPSILON;
}

static int *lambda_of(const random_tree *tree)
{
    int *lambda = calloc((size_t)tree->nu + 1, sizeof *lambda);
    ck_assert_ptr_nonnull(lambda);
    ck_assert_int_eq(tal_matter_calc_lambda(tree->matter, lambda), TAL_OK);
    return lambda;
}

static tal_matrix explicit_M(const random_tree *tree)
{
    tal_matrix M = dense(tree->nu, tree->nu);
    must(tree->state, tal_matter_calc_M(tree->matter, tree->state, M));
    return M;
}

// The printed example: bodies (0,1,1,2,2,3), of which the second has three speeds.
START_TEST(the_expanded_parent_array_is_that_of_RBDA_table_6_4)
{
    static const int parent[] = {0, 1, 1, 2, 2, 3};
    static const int wanted[] = {0, 1, 2, 3, 1, 4, 4, 5}; // counts from 1; 0 is Ground
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    test_assert_breach((void)tal_matter_calc_lambda(matter, NULL), TAL_ERR_TOPOLOGY, "topology");
    tal_mobod_def def = tal_mobod_def_default();
    for (int i = 0; i < 6; ++i) {
        const tal_body_ix on = {parent[i]};
        if (i == 1) {
            (void)tal_matter_add_translation(matter, on, &def);
        } else {
            (void)tal_matter_add_pin(matter, on, &def);
        }
    }
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    int lambda[8];
    ck_assert_int_eq(tal_matter_nu(matter), 8);
    ck_assert_int_eq(tal_matter_calc_lambda(matter, lambda), TAL_OK);
    for (int i = 0; i < 8; ++i) {
        ck_assert_int_eq(lambda[i], wanted[i] - 1);
    }
    test_assert_breach((void)tal_matter_calc_lambda(matter, NULL), TAL_ERR_NULL, "lambda");
    test_assert_breach((void)tal_matter_calc_lambda(NULL, lambda), TAL_ERR_NULL, "matter");
    tal_system_destroy(system);
}

START_TEST(a_weld_passes_the_parent_on)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_mobod_def def = tal_mobod_def_default();
    tal_body_ix body = tal_matter_add_weld(matter, TAL_GROUND, &def);
    body = tal_matter_add_pin(matter, body, &def);
    body = tal_matter_add_weld(matter, body, &def);
    body = tal_matter_add_weld(matter, body, &def);
    (void)tal_matter_add_pin(matter, body, &def);
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    int lambda[2];
    ck_assert_int_eq(tal_matter_calc_lambda(matter, lambda), TAL_OK);
    ck_assert_int_eq(lambda[0], -1);
    ck_assert_int_eq(lambda[1], 0);
    tal_system_destroy(system);
}

// L as a full matrix, from what a factorization left in the upper triangle.
static tal_matrix full_L(const int lambda[], tal_matrix factor, bool unit)
{
    tal_matrix L = zeros(factor.rows, factor.rows);
    for (int i = 0; i < factor.rows; ++i) {
        *at(L, i, i) = unit ? 1.0 : *at(factor, i, i);
        for (int j = lambda[i]; j >= 0; j = lambda[j]) {
            *at(L, i, j) = *at(factor, j, i);
        }
    }
    return L;
}

// Is speed i on the path from speed j to Ground?
static bool is_inboard(const int lambda[], int i, int j)
{
    while (j > i) {
        j = lambda[j];
    }
    return i == j;
}

// Inventory of RBDA: 6.07.
START_TEST(the_factors_multiply_to_M_and_keep_its_zeros)
{
    for (int k = 0; k < NUM_TREES - 2; ++k) {
        random_tree tree = tree_number(k);
        const int n = tree.nu;
        int *lambda = lambda_of(&tree);
        for (int with_D = 0; with_D < 2; ++with_D) {
            tal_matrix M = explicit_M(&tree), H = explicit_M(&tree), product = dense(n, n);
            ck_assert_int_eq(with_D ? tal_tree_factor_LTDL(lambda, H, NULL)
                                    : tal_tree_factor_LTL(lambda, H, NULL),
                             TAL_OK);
            tal_matrix L = full_L(lambda, H, with_D), DL = full_L(lambda, H, with_D);
            for (int e = 0; e < n * n && with_D; ++e) {
                *at(DL, e / n, e % n) *= *at(H, e / n, e / n);
            }
            multiply(L, true, DL, product);
            ck_assert_double_le(distance(product, M), round_off(n) * size_of(M));
            // what is not on the path keeps its zero, and nothing below the diagonal is touched
            for (int e = 0; e < n * n; ++e) {
                const int i = e % n, j = e / n;
                if (i <= j && is_inboard(lambda, i, j)) continue;
                ck_assert(*at(H, i, j) == *at(M, i, j));
            }
            free(M.data), free(H.data), free(product.data), free(L.data), free(DL.data);
        }
        free(lambda);
        random_tree_destroy(&tree);
    }
}

START_TEST(composite_bodies_and_LTDL_agree_with_articulated_bodies)
{
    test_rng rng = test_rng_seed(41);
    for (int k = 0; k < NUM_TREES; ++k) {
        random_tree tree = tree_number(k);
        const int n = tree.nu;
        int *lambda = lambda_of(&tree);
        tal_matrix M = explicit_M(&tree), H = explicit_M(&tree), F = dense(n, 2), A = dense(n, 2);
        tal_matrix B = dense(n, 2);
        fill_random(F, &rng);
        memcpy(B.data, F.data, (size_t)n * 2 * sizeof(double));
        must(tree.state, tal_matter_mul_Minv_columns(tree.matter, tree.state, F, A));
        const spectrum s = n > 0 ? spectrum_of(M) : (spectrum){1.0, 1.0};
        // both are M^-1 F to cond(M) n eps |M^-1| |F|; the pass's n counts the bodies too
        const double tol = 2.0 * round_off(n + tree.num_bodies) * (s.most / s.least) / s.least;
        ck_assert_int_eq(tal_tree_factor_LTDL(lambda, H, NULL), TAL_OK);
        ck_assert_int_eq(tal_tree_solve_LTDL(lambda, H, B), TAL_OK);
        ck_assert_double_le(distance(A, B), tol * size_of(F));

        memcpy(B.data, F.data, (size_t)n * 2 * sizeof(double));
        ck_assert_int_eq(tal_tree_factor_LTL(lambda, M, NULL), TAL_OK);
        ck_assert_int_eq(tal_tree_solve_LTL(lambda, M, B), TAL_OK);
        ck_assert_double_le(distance(A, B), tol * size_of(F));
        free(lambda), free(M.data), free(H.data), free(F.data), free(A.data), free(B.data);
        random_tree_destroy(&tree);
    }
}

START_TEST(products_with_L_and_H_are_those_with_the_matrices)
{
    test_rng rng = test_rng_seed(42);
    for (int k = 4; k < 12; ++k) {
        random_tree tree = tree_number(k);
        const int n = tree.nu;
        int *lambda = lambda_of(&tree);
        tal_matrix M = explicit_M(&tree), H = explicit_M(&tree), X = dense(n, 2), Y = dense(n, 2);
        tal_matrix wanted = dense(n, 2);
        const size_t bytes = (size_t)n * 2 * sizeof(double);
        fill_random(X, &rng);
        ck_assert_int_eq(tal_tree_mul_H(lambda, M, X, Y), TAL_OK);
        multiply(M, false, X, wanted);
        ck_assert_double_le(distance(Y, wanted), round_off(n) * size_of(M) * size_of(X));

        ck_assert_int_eq(tal_tree_factor_LTL(lambda, H, NULL), TAL_OK);
        for (int unit = 0; unit < 2; ++unit) {
            tal_matrix L = full_L(lambda, H, unit != 0);
            const tal_tree_op forth[] = {TAL_TREE_L, TAL_TREE_LT};
            const tal_tree_op back[] = {TAL_TREE_L_INVERSE, TAL_TREE_LT_INVERSE};
            for (int i = 0; i < 2; ++i) {
                memcpy(Y.data, X.data, bytes);
                ck_assert_int_eq(tal_tree_apply(lambda, H, unit != 0, forth[i], Y), TAL_OK);
                multiply(L, i == 1, X, wanted);
                const double tol = round_off(n) * size_of(L) * size_of(X);
                ck_assert_double_le(distance(Y, wanted), tol);
                // there and back: each way is backward stable, so the error is at most that of
                // the way there times |L^-1|, found from L^-1 of the unit vectors
                tal_matrix inverse = zeros(n, n);
                for (int c = 0; c < n; ++c) {
                    *at(inverse, c, c) = 1.0;
                }
                ck_assert_int_eq(tal_tree_apply(lambda, H, unit != 0, back[i], inverse), TAL_OK);
                ck_assert_int_eq(tal_tree_apply(lambda, H, unit != 0, back[i], Y), TAL_OK);
                ck_assert_double_le(distance(Y, X), 2.0 * tol * size_of(inverse));
                free(inverse.data);
            }
            free(L.data);
        }
        free(lambda), free(M.data), free(H.data), free(X.data), free(Y.data), free(wanted.data);
        random_tree_destroy(&tree);
    }
}

START_TEST(a_matrix_that_is_not_positive_definite_is_reported)
{
    const int lambda[] = {-1, 0, 0};
    double numbers[9] = {1.0, 0.0, 0.0, 0.5, 1.0, 0.0, 0.5, 0.0, 1.0};
    const tal_matrix H = tal_matrix_view(numbers, 3, 3);
    tal_status (*const factor[])(const int[], tal_matrix, tal_error *) = {tal_tree_factor_LTL,
                                                                          tal_tree_factor_LTDL};
    for (int i = 0; i < 2; ++i) {
        tal_error err = {TAL_OK, "", ""};
        numbers[0] = 0.5; // 0.5 - 0.25 - 0.25 = 0
        numbers[3] = numbers[6] = 0.5;
        numbers[4] = numbers[8] = 1.0;
        ck_assert_int_eq(factor[i](lambda, H, &err), TAL_ERR_SINGULAR);
        ck_assert_ptr_nonnull(strstr(err.message, "pivot 0 is 0"));
        numbers[8] = (double)NAN;
        ck_assert_int_eq(factor[i](lambda, H, NULL), TAL_ERR_NOT_FINITE);
        numbers[8] = (double)INFINITY;
        ck_assert_int_eq(factor[i](lambda, H, NULL), TAL_ERR_NOT_FINITE);
    }
}

START_TEST(sizes_and_parents_that_cannot_be_are_broken_contracts)
{
    int lambda[] = {-1, 0, 0};
    double numbers[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    const tal_matrix H = tal_matrix_view(numbers, 3, 3), thin = tal_matrix_view(numbers, 2, 1);
    const tal_matrix wide = tal_matrix_view(numbers, 3, 2), none = {NULL, 3, 3, 3};
    tal_status st = TAL_OK;
    test_assert_breach(st = tal_tree_factor_LTL(NULL, H, NULL), TAL_ERR_NULL, "lambda");
    test_assert_breach(st = tal_tree_factor_LTDL(NULL, H, NULL), TAL_ERR_NULL, "lambda");
    test_assert_breach(st = tal_tree_factor_LTL(lambda, wide, NULL), TAL_ERR_BAD_VALUE, "3 x 2");
    test_assert_breach(st = tal_tree_factor_LTL(lambda, none, NULL), TAL_ERR_NULL, "H");
    test_assert_breach(st = tal_tree_solve_LTL(lambda, H, thin), TAL_ERR_BAD_VALUE, "B");
    test_assert_breach(st = tal_tree_solve_LTDL(lambda, H, thin), TAL_ERR_BAD_VALUE, "B");
    test_assert_breach(st = tal_tree_apply(lambda, H, true, TAL_TREE_L, thin), TAL_ERR_BAD_VALUE,
                       "X");
    test_assert_breach(st = tal_tree_mul_H(lambda, H, wide, thin), TAL_ERR_BAD_VALUE, "Y");
    lambda[1] = 1;
    test_assert_breach(st = tal_tree_factor_LTDL(lambda, H, NULL), TAL_ERR_BAD_INDEX,
                       "lambda[1] is 1");
    lambda[1] = -2;
    test_assert_breach(st = tal_tree_solve_LTL(lambda, H, wide), TAL_ERR_BAD_INDEX, "-2");
    ck_assert_int_eq(st, TAL_ERR_BAD_INDEX);
}

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("matter/op_tree_factor");
    TCase *identities = tcase_create("identities");
    tcase_add_test(identities, the_factors_multiply_to_M_and_keep_its_zeros);
    tcase_add_test(identities, composite_bodies_and_LTDL_agree_with_articulated_bodies);
    tcase_add_test(identities, products_with_L_and_H_are_those_with_the_matrices);
    suite_add_tcase(suite, identities);
    TCase *examples = tcase_create("examples");
    tcase_add_test(examples, the_expanded_parent_array_is_that_of_RBDA_table_6_4);
    tcase_add_test(examples, a_weld_passes_the_parent_on);
    tcase_add_test(examples, a_matrix_that_is_not_positive_definite_is_reported);
    tcase_add_test(examples, sizes_and_parents_that_cannot_be_are_broken_contracts);
    suite_add_tcase(suite, examples);
    return test_run(suite);
}
