// matter/src/operator/op_mass.c, kernel_composite.c: M and M^-1 as operators and as matrices.
#include "op_support.h"

/*
 * Tolerances. A product of length n carries a relative error of at most n eps of the sizes that
 * enter it (Higham sec. 3.1), and a pass multiplies along a path no longer than the number of
 * bodies; so whatever needs only M is compared to
 *
 *     tol_M = 16 n eps |M|          n = nu + number of bodies
 *
 * in the Frobenius norm, 16 for the few operations per link of the path. Whatever needs M^-1
 * carries that error amplified by the condition number (Higham sec. 7.1):
 *
 *     tol_Minv = 16 n eps cond(M) |M^-1|     with cond(M) = most / least eigenvalue
 */
static double round_off(const random_tree *tree)
{
    return 16.0 * (tree->nu + tree->num_bodies) * DBL_EPSILON;
}

// X_GB of a body, from the views that force elements use.
static tal_xform X_GB_of(const random_tree *tree, int b)
{
    const tal_bodies_view poses = tal_matter_poses(tree->matter, tree->state);
    const tal_body_ix body = {b};
    return tal_xf_mul(*tal_view_X_GM(&poses, b), tal_body_X_MB(tree->matter, tree->state, body));
}

static tal_matrix explicit_M(const random_tree *tree)
{
    tal_matrix M = dense(tree->nu, tree->nu);
    must(tree->state, tal_matter_calc_M(tree->matter, tree->state, M));
    return M;
}

START_TEST(M_is_symmetric_and_positive_definite)
{
    for (int k = 0; k < NUM_TREES; ++k) {
        random_tree tree = tree_number(k);
        tal_matrix M = explicit_M(&tree);
        for (int j = 0; j < tree.nu; ++j) {
            for (int i = 0; i < j; ++i) {
                ck_assert(*at(M, i, j) == *at(M, j, i));
            }
        }
        if (tree.nu > 0) {
            const spectrum s = spectrum_of(M);
            ck_assert_double_gt(s.least, 0.0);
        }
        free(M.data);
        random_tree_destroy(&tree);
    }
}

// J_b^T I_b J_b summed over bodies, with the user's own mass properties (RBDA sec. 6.2).
static tal_matrix sum_of_body_inertias(const random_tree *tree)
{
    tal_matrix J = dense(6 * tree->num_bodies, tree->nu), M = zeros(tree->nu, tree->nu);
    must(tree->state, tal_matter_calc_J(tree->matter, tree->state, J));
    for (int b = 1; b < tree->num_bodies; ++b) {
        const tal_body_ix body = {b};
        const tal_mass_props props = tal_body_mass_props(tree->matter, tree->state, body);
        const tal_spatial_inertia I = tal_spatial_inertia_reexpress(
            X_GB_of(tree, b).R, tal_spatial_inertia_from_mass_props(props));
        for (int j = 0; j < tree->nu; ++j) {
            const tal_spatial_vec *V = (const tal_spatial_vec *)(void *)at(J, 6 * b, j);
            const tal_spatial_vec P = tal_spatial_inertia_mul(I, *V);
            for (int i = 0; i < tree->nu; ++i) {
                const tal_spatial_vec *W = (const tal_spatial_vec *)(void *)at(J, 6 * b, i);
                *at(M, i, j) += tal_sv_dot(*W, P);
            }
        }
    }
    free(J.data);
    return M;
}

START_TEST(M_is_the_sum_of_the_inertias_that_the_Jacobian_sees)
{
    for (int k = 0; k < NUM_TREES; ++k) {
        random_tree tree = tree_number(k);
        tal_matrix M = explicit_M(&tree), sum = sum_of_body_inertias(&tree);
        ck_assert_double_le(distance(M, sum), round_off(&tree) * size_of(M));
        free(M.data);
        free(sum.data);
        random_tree_destroy(&tree);
    }
}

// Is body a on the path from b to Ground?
static bool is_inboard(const tal_matter *matter, int a, int b)
{
    while (b > a) {
        const tal_body_ix body = {b};
        b = tal_body_parent(matter, body).i;
    }
    return a == b;
}

START_TEST(speeds_on_different_branches_are_not_coupled_at_all)
{
    for (int k = 0; k < NUM_TREES; k += 2) {
        random_tree tree = tree_number(k);
        tal_matrix M = explicit_M(&tree);
        for (int b = 1; b < tree.num_bodies; ++b) {
            for (int a = 1; a < b; ++a) {
                if (is_inboard(tree.matter, a, b)) continue;
                const tal_body_ix A = {a}, B = {b};
                const int i0 = tal_body_u_start(tree.matter, A), ni = tal_body_nu(tree.matter, A);
                const int j0 = tal_body_u_start(tree.matter, B), nj = tal_body_nu(tree.matter, B);
                for (int e = 0; e < ni * nj; ++e) {
                    ck_assert(*at(M, i0 + e / nj, j0 + e % nj) == 0.0);
                }
            }
        }
        free(M.data);
        random_tree_destroy(&tree);
    }
}

START_TEST(the_product_with_M_is_that_with_the_matrix)
{
    test_rng rng = test_rng_seed(7);
    for (int k = 0; k < NUM_TREES; ++k) {
        random_tree tree = tree_number(k);
        tal_matrix M = explicit_M(&tree);
        tal_matrix A = dense(tree.nu, 3), F = dense(tree.nu, 3), wanted = dense(tree.nu, 3);
        fill_random(A, &rng);
        multiply(M, false, A, wanted);
        must(tree.state, tal_matter_mul_M_columns(tree.matter, tree.state, A, F));
        ck_assert_double_le(distance(F, wanted), round_off(&tree) * size_of(M) * size_of(A));

        tal_matrix f = dense(tree.nu, 1);
        must(tree.state, tal_matter_mul_M(tree.matter, tree.state, at(A, 0, 1), f.data));
        ck_assert_mem_eq(f.data, at(F, 0, 1), (size_t)tree.nu * sizeof(double));
        free(M.data), free(A.data), free(F.data), free(wanted.data), free(f.data);
        random_tree_destroy(&tree);
    }
}

START_TEST(M_inverse_undoes_M)
{
    test_rng rng = test_rng_seed(8);
    for (int k = 0; k < NUM_TREES; ++k) {
        random_tree tree = tree_number(k);
        if (tree.nu > 0) {
            tal_matrix M = explicit_M(&tree);
            const spectrum s = spectrum_of(M);
            tal_matrix f = dense(tree.nu, 1), a = dense(tree.nu, 1), back = dense(tree.nu, 1);
            fill_random(f, &rng);
            must(tree.state, tal_matter_mul_Minv(tree.matter, tree.state, f.data, a.data));
            must(tree.state, tal_matter_mul_M(tree.matter, tree.state, a.data, back.data));
            // the error of a is tol_Minv |f|, and M makes it `most` times larger at worst
            const double cond = s.most / s.least;
            ck_assert_double_le(distance(back, f), round_off(&tree) * cond * size_of(f));
            free(M.data), free(f.data), free(a.data), free(back.data);
        }
        random_tree_destroy(&tree);
    }
}

START_TEST(explicit_M_inverse_is_the_operator_on_unit_forces)
{
    test_rng rng = test_rng_seed(9);
    for (int k = 0; k < NUM_TREES - 2; ++k) {
        random_tree tree = tree_number(k);
        const int n = tree.nu;
        tal_matrix Minv = dense(n, n), F = dense(n, 2), A = dense(n, 2), wanted = dense(n, 2);
        fill_random(F, &rng);
        must(tree.state, tal_matter_calc_Minv(tree.matter, tree.state, Minv));
        for (int e = 0; e < n * n; ++e) {
            ck_assert(*at(Minv, e / n, e % n) == *at(Minv, e % n, e / n));
        }
        must(tree.state, tal_matter_mul_Minv_columns(tree.matter, tree.state, F, A));
        multiply(Minv, false, F, wanted);
        tal_matrix M = explicit_M(&tree);
        const spectrum s = n > 0 ? spectrum_of(M) : (spectrum){1.0, 1.0};
        const double tol = round_off(&tree) * (s.most / s.least) * size_of(Minv) * size_of(F);
        ck_assert_double_le(distance(A, wanted), tol);

        tal_matrix a = dense(n, 1);
        must(tree.state, tal_matter_mul_Minv(tree.matter, tree.state, at(F, 0, 1), a.data));
        ck_assert_mem_eq(a.data, at(A, 0, 1), (size_t)n * sizeof(double));
        free(Minv.data), free(F.data), free(A.data), free(wanted.data), free(M.data), free(a.data);
        random_tree_destroy(&tree);
    }
}

// Everything is summed from link to link, so where the tree stands makes no difference, to the bit.
// (RBDA sec. 10.1 shows how formulations that refer to the origin lose digits.)
START_TEST(M_and_its_inverse_are_the_same_a_kilometer_away)
{
    test_rng rng = test_rng_seed(10);
    for (int k = 0; k < NUM_TREES - 2; ++k) {
        random_tree tree = tree_number(k);
        const int n = tree.nu;
        tal_matrix M = explicit_M(&tree), f = dense(n, 1), a = dense(n, 1), far_a = dense(n, 1);
        fill_random(f, &rng);
        must(tree.state, tal_matter_mul_Minv(tree.matter, tree.state, f.data, a.data));
        for (int b = 1; b < tree.num_bodies; ++b) {
            const tal_body_ix body = {b};
            if (tal_body_parent(tree.matter, body).i != 0) continue;
            tal_xform X_PF = tal_body_X_PF(tree.matter, tree.state, body);
            X_PF.p = tal_v3_add(X_PF.p, tal_v3(1000.0, -700.0, 1300.0));
            ck_assert_int_eq(tal_body_set_X_PF(tree.matter, tree.state, body, &X_PF), TAL_OK);
        }
        random_tree_realize(&tree, tree.state, TAL_STAGE_VELOCITY);
        tal_matrix far_M = explicit_M(&tree);
        must(tree.state, tal_matter_mul_Minv(tree.matter, tree.state, f.data, far_a.data));
        ck_assert_mem_eq(far_M.data, M.data, (size_t)n * (size_t)n * sizeof(double));
        ck_assert_mem_eq(far_a.data, a.data, (size_t)n * sizeof(double));
        free(M.data), free(f.data), free(a.data), free(far_a.data), free(far_M.data);
        random_tree_destroy(&tree);
    }
}

int main(void)
{
    Suite *suite = suite_create("matter/op_mass");
    TCase *identities = tcase_create("identities");
    tcase_set_timeout(identities, 60.0);
    tcase_add_test(identities, M_is_symmetric_and_positive_definite);
    tcase_add_test(identities, M_is_the_sum_of_the_inertias_that_the_Jacobian_sees);
    tcase_add_test(identities, speeds_on_different_branches_are_not_coupled_at_all);
    tcase_add_test(identities, the_product_with_M_is_that_with_the_matrix);
    tcase_add_test(identities, M_inverse_undoes_M);
    tcase_add_test(identities, explicit_M_inverse_is_the_operator_on_unit_forces);
    tcase_add_test(identities, M_and_its_inverse_are_the_same_a_kilometer_away);
    suite_add_tcase(suite, identities);
    return test_run(suite);
}
