// The normal matrix of points and orientations on the bodies of a tree: J^T Phi J by composite
// bodies against the same sum with J and Phi explicit.
#include "alloc_guard.h"
#include "op_support.h"

// A few weights on each body, not all positive: nothing here has to be a mass.
static tal_mass_props *random_weights(const random_tree *tree, test_rng *rng)
{
    tal_mass_props *weights = calloc((size_t)tree->num_bodies, sizeof *weights);
    ck_assert_ptr_nonnull(weights);
    for (int b = 0; b < tree->num_bodies; ++b) {
        const tal_vec3 d = test_random_vec3(rng), o = test_random_vec3(rng);
        weights[b].mass = b % 5 == 4 ? 0.0 : test_random_uniform(rng, -1.0, 3.0);
        weights[b].com = test_random_vec3(rng);
        weights[b].inertia = (tal_sym3){d.x, d.y, d.z, o.x, o.y, o.z};
    }
    return weights;
}

// Phi V of one body about Bo, in Ground: moment I w + m c x v, force m (v - c x w).
static tal_spatial_vec weigh(const tal_mass_props *props, tal_mat3 R_GB, tal_spatial_vec V)
{
    const tal_vec3 c = tal_m3_mul_v3(R_GB, props->com);
    const tal_sym3 I = tal_s3_congruence(R_GB, props->inertia);
    const tal_spatial_vec out = {
        tal_v3_axpy(props->mass, tal_v3_cross(c, V.v), tal_s3_mul_v3(I, V.w)),
        tal_v3_scale(props->mass, tal_v3_sub(V.v, tal_v3_cross(c, V.w)))};
    return out;
}

static tal_spatial_vec column_of(tal_matrix J, int b, int j)
{
    const double *v = at(J, 6 * b, j);
    const tal_spatial_vec out = {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
    return out;
}

static tal_matrix explicit_gram(const random_tree *tree, const tal_mass_props weights[])
{
    const int nu = tree->nu;
    tal_matrix J = dense(6 * tree->num_bodies, nu), gram = zeros(nu, nu);
    ck_assert_int_eq(tal_matter_calc_J(tree->matter, tree->state, J), TAL_OK);
    for (int b = 1; b < tree->num_bodies; ++b) {
        const tal_mat3 R_GB = tal_body_X_GB(tree->matter, tree->state, (tal_body_ix){b}).R;
        for (int j = 0; j < nu; ++j) {
            const tal_spatial_vec F = weigh(&weights[b], R_GB, column_of(J, b, j));
            for (int i = 0; i < nu; ++i) {
                *at(gram, i, j) += tal_sv_dot(column_of(J, b, i), F);
            }
        }
    }
    free(J.data);
    return gram;
}

// Weights of size 3 at distances of up to a meter per body: round-off of 6 n products each, of
// numbers that cancel where weights have both signs.
START_TEST(the_normal_matrix_is_J_transposed_times_weights_times_J)
{
    test_rng rng = test_rng_seed(971);
    for (int k = 0; k < NUM_TREES; ++k) {
        random_tree tree = tree_number(k);
        tal_mass_props *weights = random_weights(&tree, &rng);
        tal_matrix gram = dense(tree.nu, tree.nu), expected = explicit_gram(&tree, weights);
        tal_status st = TAL_OK;
        test_assert_no_heap(st = tal_matter_calc_gram(tree.matter, tree.state, weights, gram));
        ck_assert_int_eq(st, TAL_OK);
        const double n = tree.num_bodies;
        ck_assert_double_le(distance(gram, expected),
                            100.0 * n * DBL_EPSILON * (1.0 + size_of(expected)));
        for (int i = 0; i < tree.nu; ++i) {
            for (int j = 0; j < i; ++j) {
                ck_assert_double_eq(*at(gram, i, j), *at(gram, j, i));
            }
        }
        free(weights);
        free(gram.data);
        free(expected.data);
        random_tree_destroy(&tree);
    }
}

END_TEST

// With the tree's own mass properties it is the mass matrix.
START_TEST(with_its_own_masses_a_tree_has_its_mass_matrix)
{
    for (int k = 0; k < NUM_TREES; k += 7) {
        random_tree tree = tree_number(k);
        tal_mass_props *weights = calloc((size_t)tree.num_bodies, sizeof *weights);
        ck_assert_ptr_nonnull(weights);
        for (int b = 1; b < tree.num_bodies; ++b) {
            weights[b] = tal_body_mass_props(tree.matter, tree.state, (tal_body_ix){b});
        }
        tal_matrix gram = dense(tree.nu, tree.nu), M = dense(tree.nu, tree.nu);
        ck_assert_int_eq(tal_matter_calc_gram(tree.matter, tree.state, weights, gram), TAL_OK);
        ck_assert_int_eq(tal_matter_calc_M(tree.matter, tree.state, M), TAL_OK);
        ck_assert_double_le(distance(gram, M),
                            100.0 * tree.num_bodies * DBL_EPSILON * (1.0 + size_of(M)));
        free(weights);
        free(gram.data);
        free(M.data);
        random_tree_destroy(&tree);
    }
}

END_TEST

START_TEST(bad_weights_and_matrices_are_refused)
{
    random_tree tree = tree_number(5);
    test_rng rng = test_rng_seed(972);
    tal_mass_props *weights = random_weights(&tree, &rng);
    tal_matrix gram = zeros(tree.nu, tree.nu);
    test_record_breaches();
    test_assert_refused(tal_matter_calc_gram(tree.matter, tree.state, NULL, gram), TAL_ERR_NULL,
                        "weights");
    gram.rows -= 1;
    test_assert_refused(tal_matter_calc_gram(tree.matter, tree.state, weights, gram),
                        TAL_ERR_BAD_VALUE, "gram");
    gram.rows += 1;
    weights[3].com.y = (double)NAN;
    ck_assert_int_eq(tal_matter_calc_gram(tree.matter, tree.state, weights, gram),
                     TAL_ERR_NOT_FINITE);
    ck_assert_double_eq(size_of(gram), 0.0);
    free(weights);
    free(gram.data);
    random_tree_destroy(&tree);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("matter/op_gram");
    TCase *tests = tcase_create("gram");
    tcase_add_test(tests, the_normal_matrix_is_J_transposed_times_weights_times_J);
    tcase_add_test(tests, with_its_own_masses_a_tree_has_its_mass_matrix);
    tcase_add_test(tests, bad_weights_and_matrices_are_refused);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
