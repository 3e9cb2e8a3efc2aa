// Promise P2: algorithms agree, on random trees of every mobilizer. Residuals are measured in units
// of cond(M) eps of what was solved for, and must stay below 100; ./run soak does a million trees
// of up to 50 bodies and a hundred of 10,000.
#include "random_tree.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static int num_trees(int in_ctest, int in_soak)
{
    return getenv("TALUS_SOAK") != NULL ? in_soak : in_ctest;
}

static double largest_difference(const double x[], const double y[], int n)
{
    double most = 0.0;
    for (int i = 0; i < n; ++i) {
        most = fmax(most, fabs(x[i] - y[i]));
    }
    return most;
}

// Largest absolute row sum: the infinity norm.
static double row_norm(const double A[], int n)
{
    double most = 0.0;
    for (int i = 0; i < n; ++i) {
        double sum = 0.0;
        for (int j = 0; j < n; ++j) {
            sum += fabs(A[i + j * n]);
        }
        most = fmax(most, sum);
    }
    return most;
}

static double condition(const random_tree *tree)
{
    const size_t n = (size_t)tree->nu;
    double *A = malloc(n * n * sizeof *A);
    ck_assert_ptr_nonnull(A);
    const tal_matrix view = tal_matrix_view(A, tree->nu, tree->nu);
    ck_assert_int_eq(tal_matter_calc_M(tree->matter, tree->state, view), TAL_OK);
    double cond = row_norm(A, tree->nu);
    ck_assert_int_eq(tal_matter_calc_Minv(tree->matter, tree->state, view), TAL_OK);
    cond *= row_norm(A, tree->nu);
    free(A);
    return cond;
}

// The largest force across a mobilizer: what goes through the sums of inverse dynamics, and may be
// much larger than the part of it along the speeds.
static double largest_reaction(const random_tree *tree)
{
    double most = 0.0;
    for (int b = 1; b < tree->num_bodies; ++b) {
        const tal_spatial_vec F = tal_body_reaction_M(tree->matter, tree->state, (tal_body_ix){b});
        most = fmax(most, fmax(tal_v3_max_abs(F.w), tal_v3_max_abs(F.v)));
    }
    return most;
}

// M (M^-1 f) = f, and inverse dynamics of forward dynamics: each relative to the largest force that
// goes through its sums.
static double residual(const random_tree *tree)
{
    const int n = tree->nu;
    double *room = malloc(2 * (size_t)(n + 1) * sizeof *room);
    ck_assert_ptr_nonnull(room);
    double *a = room, *f = room + n + 1;
    ck_assert_int_eq(tal_matter_mul_Minv(tree->matter, tree->state, tree->f, a), TAL_OK);
    ck_assert_int_eq(tal_matter_mul_M(tree->matter, tree->state, a, f), TAL_OK);
    const double solve = largest_difference(f, tree->f, n) / test_largest(tree->f, n);

    ck_assert_int_eq(tal_matter_forward_dynamics(tree->matter, tree->state, NULL, tree->f, a, NULL),
                     TAL_OK);
    ck_assert_int_eq(tal_matter_mul_M(tree->matter, tree->state, a, f), TAL_OK);
    const double scale = fmax(test_largest(f, n), largest_reaction(tree));
    ck_assert_int_eq(tal_matter_inverse_dynamics(tree->matter, tree->state, a, NULL, NULL, f),
                     TAL_OK);
    const double duality = largest_difference(f, tree->f, n) / scale;
    free(room);
    return fmax(solve, duality);
}

START_TEST(operators_agree_on_any_tree)
{
    const int count = num_trees(300, 1000000);
    double worst = 0.0;
    for (int k = 0; k < count; ++k) {
        random_tree_def def = random_tree_def_default(90000 + (uint64_t)k);
        def.num_bodies = 1 + k % 50;
        def.chain = k % 7 == 0;
        random_tree tree = random_tree_create(&def);
        if (tree.nu > 0) {
            random_tree_realize(&tree, tree.state, TAL_STAGE_ACCELERATION);
            const double share = residual(&tree) / (condition(&tree) * DBL_EPSILON);
            ck_assert_msg(share <= 100.0, "tree %d: residual is %g cond(M) eps", k, share);
            worst = fmax(worst, share);
        }
        random_tree_destroy(&tree);
    }
    ck_assert_double_gt(worst, 0.0);
}

// Operators only: no matrix of this size. A tree of n bodies on earlier ones at random is about log
// n deep, so its condition number stays within 1e8 and cond eps within 1e-7.
START_TEST(operators_agree_on_large_trees)
{
    const int count = num_trees(1, 100);
    for (int k = 0; k < count; ++k) {
        random_tree_def def = random_tree_def_default(700 + (uint64_t)k);
        def.num_bodies = 10000;
        random_tree tree = random_tree_create(&def);
        random_tree_realize(&tree, tree.state, TAL_STAGE_ACCELERATION);
        ck_assert_double_le(residual(&tree), 1e-9);
        random_tree_destroy(&tree);
    }
}

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("theory/promise_trees");
    TCase *tc = tcase_create("P2");
    tcase_set_timeout(tc, 0);
    tcase_add_test(tc, operators_agree_on_any_tree);
    tcase_add_test(tc, operators_agree_on_large_trees);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
