// common/src/sparse: factors of sparse symmetric matrices, and the order of elimination.
#include "sparse_internal.h"

#include "talus_test.h"

#include <float.h>

enum {
    MOST = 60,
    MOST_ENTRIES = 4 * MOST * MOST
};

// A matrix as triplets, and as it is.
typedef struct sparse_case {
    int n, count, num_positive;
    int row[MOST_ENTRIES], col[MOST_ENTRIES];
    double value[MOST_ENTRIES], A[MOST][MOST];
} sparse_case;

static void add(sparse_case *c, int i, int j, double value)
{
    c->row[c->count] = i;
    c->col[c->count] = j;
    c->value[c->count++] = value;
    c->A[i][j] += value;
    if (i != j) c->A[j][i] += value;
}

// Quasi-definite: rows that dominate, of either sign; entries on both sides of the diagonal, some
// in two parts.
static void make_random(sparse_case *c, test_rng *rng, int n, double density)
{
    memset(c, 0, sizeof *c);
    c->n = n;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < i; ++j) {
            if (test_random_uniform(rng, 0.0, 1.0) > density) continue;
            const double value = test_random_uniform(rng, -1.0, 1.0);
            const bool is_upper = test_random_uniform(rng, 0.0, 1.0) < 0.5;
            add(c, is_upper ? j : i, is_upper ? i : j, 0.25 * value);
            add(c, is_upper ? i : j, is_upper ? j : i, 0.75 * value);
        }
    }
    for (int i = 0; i < n; ++i) {
        double sum = 0.5;
        for (int j = 0; j < n; ++j) {
            sum += fabs(c->A[i][j]);
        }
        const bool is_positive = test_random_uniform(rng, 0.0, 1.0) < 0.6;
        c->num_positive += is_positive;
        add(c, i, i, is_positive ? sum : -sum);
    }
}

static tali_sparse *create(const sparse_case *c)
{
    const tal_allocator heap = tal_allocator_default();
    tali_sparse *it = NULL;
    ck_assert_int_eq(tali_sparse_create(&heap, c->n, c->count, c->row, c->col, &it), TAL_OK);
    return it;
}

// Round-off of factors is below n eps |L| |D| |L^T|, and rows that dominate keep that below
// 2 n |A| eps; their inverse is at most 2.
static void check_solution(const sparse_case *c, tali_sparse *it, test_rng *rng)
{
    double x[MOST], b[MOST], size = 0.0;
    for (int i = 0; i < c->n; ++i) {
        x[i] = test_random_uniform(rng, -1.0, 1.0);
    }
    for (int i = 0; i < c->n; ++i) {
        b[i] = 0.0;
        for (int j = 0; j < c->n; ++j) {
            b[i] += c->A[i][j] * x[j];
            size = fmax(size, fabs(c->A[i][j]));
        }
    }
    tali_sparse_solve(it, b);
    for (int i = 0; i < c->n; ++i) {
        ck_assert_double_eq_tol(b[i], x[i], 4.0 * c->n * size * DBL_EPSILON);
    }
}

START_TEST(factors_solve_random_matrices)
{
    test_rng rng = {.state = 20261118};
    static sparse_case c;
    for (int k = 0; k < 300; ++k) {
        const int n = 1 + k % MOST;
        make_random(&c, &rng, n, k % 3 == 0 ? 0.05 : k % 3 == 1 ? 0.2 : 0.9);
        tali_sparse *it = create(&c);
        const tali_sparse_inertia signs = tali_sparse_factor(it, c.value);
        ck_assert_int_eq(signs.positive, c.num_positive);
        ck_assert_int_eq(signs.negative, n - c.num_positive);
        ck_assert_int_eq(signs.zero, 0);
        check_solution(&c, it, &rng);
        check_solution(&c, it, &rng);
        tali_sparse_destroy(it);
    }
}

END_TEST

// Factors are made anew from other numbers.
START_TEST(numbers_may_change)
{
    test_rng rng = {.state = 5};
    static sparse_case c;
    make_random(&c, &rng, 40, 0.1);
    tali_sparse *it = create(&c);
    (void)tali_sparse_factor(it, c.value);
    for (int i = 0; i < c.n; ++i) {
        for (int j = 0; j < c.n; ++j) {
            c.A[i][j] *= -3.0;
        }
    }
    for (int k = 0; k < c.count; ++k) {
        c.value[k] *= -3.0;
    }
    const tali_sparse_inertia signs = tali_sparse_factor(it, c.value);
    ck_assert_int_eq(signs.negative, c.num_positive);
    check_solution(&c, it, &rng);
    tali_sparse_destroy(it);
}

END_TEST

// The first unknown of an arrow is coupled with all others: it goes last, and nothing fills in. In
// the order as given everything would.
START_TEST(arrows_do_not_fill_in)
{
    static sparse_case c;
    memset(&c, 0, sizeof c);
    c.n = MOST;
    for (int i = 0; i < c.n; ++i) {
        add(&c, i, i, i == 0 ? 100.0 : 2.0);
        if (i > 0) add(&c, 0, i, 1.0);
    }
    tali_sparse *it = create(&c);
    ck_assert_uint_eq(tali_sparse_fill(it), MOST - 1);
    tali_sparse_destroy(it);
}

END_TEST

// A ring of n nodes fills in n - 3 entries in any order of minimum degree; a path none.
START_TEST(rings_and_paths_fill_in_as_little_as_can_be)
{
    for (int is_ring = 0; is_ring < 2; ++is_ring) {
        static sparse_case c;
        memset(&c, 0, sizeof c);
        c.n = MOST;
        for (int i = 0; i < c.n; ++i) {
            add(&c, i, i, 3.0);
            if (i > 0) add(&c, (i * 7) % MOST, ((i - 1) * 7) % MOST, 1.0); // 7 and 60 are coprime
        }
        if (is_ring) add(&c, 0, ((MOST - 1) * 7) % MOST, 1.0);
        tali_sparse *it = create(&c);
        ck_assert_uint_eq(tali_sparse_fill(it), is_ring ? 2 * MOST - 3 : MOST - 1);
        tali_sparse_destroy(it);
    }
}

END_TEST

// A grid of 30 x 30 has 26,535 entries within its band, below the diagonal; minimum degree needs less
// than half of that.
START_TEST(grids_fill_in_less_than_their_band)
{
    enum {
        SIDE = 30,
        N = SIDE * SIDE
    };

    static int row[3 * N], col[3 * N];
    int count = 0;
    for (int i = 0; i < N; ++i) {
        row[count] = col[count] = i, ++count;
        if (i % SIDE > 0) row[count] = i, col[count] = i - 1, ++count;
        if (i >= SIDE) row[count] = i, col[count] = i - SIDE, ++count;
    }
    const tal_allocator heap = tal_allocator_default();
    tali_sparse *it = NULL;
    ck_assert_int_eq(tali_sparse_create(&heap, N, count, row, col, &it), TAL_OK);
    ck_assert_uint_lt(tali_sparse_fill(it), 13000);
    tali_sparse_destroy(it);
}

END_TEST

START_TEST(an_order_is_a_permutation_and_always_the_same)
{
    test_rng rng = {.state = 77};
    static sparse_case c;
    make_random(&c, &rng, MOST, 0.15);
    int start[MOST + 1] = {0}, neighbor[MOST * MOST], first[MOST], again[MOST];
    for (int i = 0; i < MOST; ++i) {
        start[i + 1] = start[i];
        for (int j = 0; j < MOST; ++j) {
            if (j != i && c.A[i][j] != 0.0) neighbor[start[i + 1]++] = j;
        }
    }
    const tal_allocator heap = tal_allocator_default();
    ck_assert_int_eq(tali_sparse_order(&heap, MOST, start, neighbor, first), TAL_OK);
    ck_assert_int_eq(tali_sparse_order(&heap, MOST, start, neighbor, again), TAL_OK);
    ck_assert_mem_eq(first, again, sizeof first);
    bool is_there[MOST] = {false};
    for (int k = 0; k < MOST; ++k) {
        ck_assert(!is_there[first[k]]);
        is_there[first[k]] = true;
    }
}

END_TEST

// A zero pivot is counted, and the others keep their signs.
START_TEST(singular_matrices_are_told)
{
    const int row[] = {0, 1, 1, 2}, col[] = {0, 0, 1, 2};
    const tal_allocator heap = tal_allocator_default();
    tali_sparse *it = NULL;
    ck_assert_int_eq(tali_sparse_create(&heap, 3, 4, row, col, &it), TAL_OK);
    const tali_sparse_inertia signs = tali_sparse_factor(it, (double[]){4.0, 2.0, 1.0, -1.0});
    ck_assert_int_eq(signs.positive, 1);
    ck_assert_int_eq(signs.negative, 1);
    ck_assert_int_eq(signs.zero, 1);
    ck_assert_int_eq(tali_sparse_factor(it, (double[]){4.0, (double)NAN, 1.0, -1.0}).zero, 1);
    tali_sparse_destroy(it);
}

END_TEST

START_TEST(nothing_is_a_matrix_too)
{
    const tal_allocator heap = tal_allocator_default();
    tali_sparse *it = NULL;
    ck_assert_int_eq(tali_sparse_create(&heap, 0, 0, NULL, NULL, &it), TAL_OK);
    ck_assert_int_eq(tali_sparse_factor(it, NULL).positive, 0);
    tali_sparse_solve(it, NULL);
    tali_sparse_destroy(it);
    tali_sparse_destroy(NULL);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("common/sparse");
    TCase *tc = tcase_create("sparse");
    tcase_add_test(tc, factors_solve_random_matrices);
    tcase_add_test(tc, numbers_may_change);
    tcase_add_test(tc, arrows_do_not_fill_in);
    tcase_add_test(tc, rings_and_paths_fill_in_as_little_as_can_be);
    tcase_add_test(tc, grids_fill_in_less_than_their_band);
    tcase_add_test(tc, an_order_is_a_permutation_and_always_the_same);
    tcase_add_test(tc, singular_matrices_are_told);
    tcase_add_test(tc, nothing_is_a_matrix_too);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
