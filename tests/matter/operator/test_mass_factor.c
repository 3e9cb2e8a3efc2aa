// matter/src/operator/mass_factor.c: M^-1 by a factor of M, for shallow trees.
#include "kernel/passes_internal.h"
#include "operator/mass_factor_internal.h"
#include "random_tree.h"
#include "talus_test.h"

#include <talus/matter/operators.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum {
    TRIALS = 40,
    MAX_BODIES = 12,
    MAX_SPEEDS = 6 * MAX_BODIES
};

static random_tree shallow_tree(int seed)
{
    random_tree_def def = random_tree_def_default((uint64_t)seed);
    def.num_bodies = 1 + seed % MAX_BODIES;
    random_tree tree = random_tree_create(&def);
    random_tree_realize(&tree, tree.state, TAL_STAGE_POSITION);
    return tree;
}

// A chain of pins along x.
static tal_matter *add_pins(tal_system *system, int n)
{
    tal_matter *matter = tal_matter_create(system);
    tal_body_ix last = {0};
    for (int i = 0; i < n; ++i) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass.mass = 1.0;
        def.mass.com = tal_v3(0.5, 0.0, 0.0);
        def.mass.inertia = tal_s3_diag(0.1, 0.4, 0.4);
        def.X_PF.p = tal_v3(1.0, 0.0, 0.0);
        last = tal_matter_add_pin(matter, last, &def);
    }
    return matter;
}

static const double *factor_of(const tal_matter *matter, tal_state *state)
{
    tali_tree_view view;
    const double *factor = NULL;
    ck_assert(tali_tree_realize_view(matter, state, TALI_POSITION, &view));
    ck_assert_int_eq(tali_mass_factor_of(matter, state, &view, &factor), TAL_OK);
    return factor;
}

// M a = f. An L^T D L solution has a small residual: each of its 2 n operations per speed adds eps
// of what goes through it, and |L^T| |D| |L| is at most n times M in norm.
START_TEST(M_times_the_answer_of_the_factor_is_the_force)
{
    int num_factored = 0;
    for (int i = 0; i < TRIALS; ++i) {
        random_tree tree = shallow_tree(i);
        const int n = tree.nu;
        const double *factor = factor_of(tree.matter, tree.state);
        static double M[MAX_SPEEDS * MAX_SPEEDS];
        double a[MAX_SPEEDS], back[MAX_SPEEDS];
        ck_assert_int_eq(tal_matter_calc_M(tree.matter, tree.state, tal_matrix_view(M, n, n)),
                         TAL_OK);
        double norm_M = 0.0, norm_a = 0.0;
        if (factor != NULL) {
            ++num_factored;
            tali_mass_factor_solve(&tree.matter->tree, factor, tree.f, a);
            ck_assert_int_eq(tal_matter_mul_M(tree.matter, tree.state, a, back), TAL_OK);
            for (int r = 0; r < n; ++r) {
                double row = 0.0;
                for (int c = 0; c < n; ++c) {
                    row += fabs(M[r + c * n]);
                }
                norm_M = fmax(norm_M, row);
                norm_a = fmax(norm_a, fabs(a[r]));
            }
            for (int r = 0; r < n; ++r) {
                const double tolerance = 4.0 * n * n * DBL_EPSILON * norm_M * norm_a;
                ck_assert_double_eq_tol(back[r], tree.f[r], tolerance);
            }
        }
        random_tree_destroy(&tree);
    }
    ck_assert_int_gt(num_factored, TRIALS / 4);
}

END_TEST

START_TEST(one_column_and_many_and_in_place_give_the_same_bits)
{
    for (int i = 0; i < TRIALS; ++i) {
        random_tree tree = shallow_tree(i);
        const int n = tree.nu;
        double a[MAX_SPEEDS], in_place[MAX_SPEEDS], columns[2 * MAX_SPEEDS], both[2 * MAX_SPEEDS];
        for (int j = 0; j < n; ++j) {
            in_place[j] = columns[j] = columns[n + j] = tree.f[j];
        }
        ck_assert_int_eq(tal_matter_mul_Minv(tree.matter, tree.state, tree.f, a), TAL_OK);
        ck_assert_int_eq(tal_matter_mul_Minv(tree.matter, tree.state, in_place, in_place), TAL_OK);
        ck_assert_int_eq(tal_matter_mul_Minv_columns(tree.matter, tree.state,
                                                     tal_matrix_view(columns, n, 2),
                                                     tal_matrix_view(both, n, 2)),
                         TAL_OK);
        ck_assert_mem_eq(in_place, a, (size_t)n * sizeof *a);
        ck_assert_mem_eq(both, a, (size_t)n * sizeof *a);
        ck_assert_mem_eq(both + n, a, (size_t)n * sizeof *a);
        random_tree_destroy(&tree);
    }
}

END_TEST

// A row of the k-th pin of a chain has k entries: n (n + 1) / 2 in all, 8 per speed at n = 15.
START_TEST(only_shallow_trees_have_rows)
{
    for (int n = 14; n <= 16; ++n) {
        tal_system *system = tal_system_create(NULL);
        tal_matter *matter = add_pins(system, n);
        tal_error error;
        ck_assert_int_eq(tal_system_realize_topology(system, &error), TAL_OK);
        ck_assert((matter->tree.row_begin != NULL) == (n <= 15));
        if (n <= 15) ck_assert_int_eq(matter->tree.num_row_entries, n * (n + 1) / 2);
        tal_system_destroy(system);
    }
}

END_TEST

START_TEST(known_motion_is_left_to_the_passes)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = add_pins(system, 3);
    tal_error error;
    tal_state *state = NULL;
    ck_assert_int_eq(tal_system_realize_topology(system, &error), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &state, &error), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_POSITION), TAL_OK);
    ck_assert_ptr_nonnull(factor_of(matter, state));

    ck_assert_int_eq(tal_body_lock(matter, state, (tal_body_ix){2}, TAL_LEVEL_POSITION), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_POSITION), TAL_OK);
    ck_assert_ptr_null(factor_of(matter, state));
    const double f[3] = {1.0, 2.0, 3.0};
    double a[3];
    ck_assert_int_eq(tal_matter_mul_Minv(matter, state, f, a), TAL_OK);
    ck_assert(a[1] == 0.0);
    tal_state_destroy(state);
    tal_system_destroy(system);
}

END_TEST

// Without mass M is zero: the passes name the body.
START_TEST(a_singular_M_is_left_to_the_passes)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = (tal_mass_props){0};
    def.name = "ghost";
    (void)tal_matter_add_pin(matter, (tal_body_ix){0}, &def);
    tal_error error;
    tal_state *state = NULL;
    ck_assert_int_eq(tal_system_realize_topology(system, &error), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &state, &error), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_POSITION), TAL_OK);
    const double f[1] = {1.0};
    double a[1];
    ck_assert_int_eq(tal_matter_mul_Minv(matter, state, f, a), TAL_ERR_SINGULAR);
    ck_assert_ptr_nonnull(strstr(tal_state_error(state)->message, "ghost"));
    tal_state_destroy(state);
    tal_system_destroy(system);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("matter/mass_factor");
    TCase *tests = tcase_create("factor");
    tcase_add_test(tests, M_times_the_answer_of_the_factor_is_the_force);
    tcase_add_test(tests, one_column_and_many_and_in_place_give_the_same_bits);
    tcase_add_test(tests, only_shallow_trees_have_rows);
    tcase_add_test(tests, known_motion_is_left_to_the_passes);
    tcase_add_test(tests, a_singular_M_is_left_to_the_passes);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
