// common/src/sparse/sparse_tree.c: factors of matrices of trees, by what they solve.
#include "sparse_tree_internal.h"

#include "talus_test.h"

#include <stdlib.h>
#include <string.h>

enum {
    N = 24,
    ROWS = 40
};

typedef struct model {
    double A[ROWS * N]; // by columns
    double H[N * N], copy[N * N];
    int list[N * N], used[N];
    int parent[N];
    tali_sparse_tree tree;
} model;

static bool is_on_path(const model *m, int a, int b)
{
    while (b > a) {
        b = m->parent[b];
    }
    return a == b;
}

// H = 1 + A^T A of rows that each act on the path of one node.
static model *make_model(uint64_t seed)
{
    test_rng rng = test_rng_seed(seed);
    model *m = calloc(1, sizeof *m);
    ck_assert_ptr_nonnull(m);
    for (int k = 0; k < N; ++k) {
        m->parent[k] = k == 0 ? -1 : (int)test_random_uniform(&rng, 0.0, k);
        m->H[k + N * k] = 1.0;
    }
    for (int i = 0; i < ROWS; ++i) {
        const int tip = i < N ? i : (int)test_random_uniform(&rng, 0.0, N);
        for (int j = 0; j < N; ++j) {
            if (is_on_path(m, j, tip)) m->A[i + ROWS * j] = test_random_uniform(&rng, -1.0, 1.0);
        }
    }
    m->tree = (tali_sparse_tree){N, m->H, m->list, m->used};
    tali_sparse_tree_add_square(&m->tree, m->A, ROWS, 2.0);
    memcpy(m->copy, m->H, sizeof m->copy);
    return m;
}

START_TEST(squares_are_added_where_rows_have_entries)
{
    model *m = make_model(1);
    for (int j = 0; j < N; ++j) {
        for (int i = 0; i <= j; ++i) {
            double sum = i == j ? 1.0 : 0.0;
            for (int k = 0; k < ROWS; ++k) {
                sum += 2.0 * m->A[k + ROWS * i] * m->A[k + ROWS * j];
            }
            ck_assert_double_eq_tol(m->H[i + N * j], sum, 1e-13);
        }
    }
    free(m);
}

END_TEST

// H is 1 + something positive of a size below 100: its condition is below that, so that what a
// solution leaves is 100 roundings of numbers of size 100.
START_TEST(factors_solve_and_leave_zeros_between_branches)
{
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        model *m = make_model(seed);
        int pivot = 0;
        ck_assert(tali_sparse_tree_factor(&m->tree, &pivot));
        for (int j = 0; j < N; ++j) {
            for (int i = 0; i < j; ++i) {
                if (!is_on_path(m, i, j)) ck_assert_double_eq(m->H[i + N * j], 0.0);
            }
        }
        double x[N], b[N];
        for (int i = 0; i < N; ++i) {
            x[i] = b[i] = sin(i + 1.0);
        }
        tali_sparse_tree_solve(&m->tree, x);
        for (int i = 0; i < N; ++i) {
            double sum = -b[i];
            for (int j = 0; j < N; ++j) {
                sum += m->copy[(i < j ? i + N * j : j + N * i)] * x[j];
            }
            ck_assert_double_lt(fabs(sum), 1e-12);
        }
        free(m);
    }
}

END_TEST

START_TEST(a_matrix_that_is_not_positive_is_refused)
{
    model *m = make_model(3);
    int pivot = -1;
    m->H[7 + N * 7] = -1.0;
    ck_assert(!tali_sparse_tree_factor(&m->tree, &pivot));
    ck_assert_int_ge(pivot, 0);
    free(m);
    m = make_model(3);
    m->H[5 + N * 5] = (double)NAN;
    ck_assert(!tali_sparse_tree_factor(&m->tree, &pivot));
    ck_assert_int_eq(pivot, 5);
    free(m);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("sparse_tree");
    TCase *all = tcase_create("all");
    tcase_add_test(all, squares_are_added_where_rows_have_entries);
    tcase_add_test(all, factors_solve_and_leave_zeros_between_branches);
    tcase_add_test(all, a_matrix_that_is_not_positive_is_refused);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
