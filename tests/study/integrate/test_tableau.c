// Tests for study/src/integrate/tableau.c: what makes a method of its order.
#include "talus_test.h"

#include <talus/study.h>

#include <float.h>
#include <math.h>

// A rooted tree: `trunk` with `branch` grafted onto its root (HNW sec. II.2). Each tree is made
// once, when branches are grafted in the order of their numbers.
typedef struct tree {
    int nodes, trunk, branch;
    double gamma;
    double phi[TAL_MAX_RK_STAGES]; // of each stage
} tree;

enum {
    MOST_NODES = 9,
    MOST_TREES = 486 // 1 + 1 + 2 + 4 + 9 + 20 + 48 + 115 + 286
};

// gamma(t) is the number of nodes times the gammas of all branches; phi_i(t) is the product of
// sum_j a_ij phi_j over all branches.
static tree graft(const tal_rk_tableau *rk, const tree trees[], int trunk, int branch)
{
    const tree *t = &trees[trunk], *b = &trees[branch];
    tree out = {.nodes = t->nodes + b->nodes, .trunk = trunk, .branch = branch};
    out.gamma = t->gamma / t->nodes * b->gamma * out.nodes;
    for (int i = 0; i < rk->stages; ++i) {
        double sum = 0.0;
        for (int j = 0; j < i; ++j) {
            sum += rk->a[i * rk->stages + j] * b->phi[j];
        }
        out.phi[i] = t->phi[i] * sum;
    }
    return out;
}

// All trees of up to `most` nodes, by number of nodes.
static int grow(const tal_rk_tableau *rk, int most, tree trees[])
{
    int n = 1, first_of[MOST_NODES + 2] = {0, 0, 1};
    trees[0] = (tree){.nodes = 1, .trunk = -1, .branch = -1, .gamma = 1.0};
    for (int i = 0; i < rk->stages; ++i) {
        trees[0].phi[i] = 1.0;
    }
    for (int nodes = 2; nodes <= most; ++nodes) {
        for (int t = 0; t < first_of[nodes]; ++t) {
            const int rest = nodes - trees[t].nodes;
            for (int b = first_of[rest]; b < first_of[rest + 1]; ++b) {
                if (b >= trees[t].branch) trees[n++] = graft(rk, trees, t, b);
            }
        }
        first_of[nodes + 1] = n;
    }
    return n;
}

// Weights w of an order-p solution: sum w_i phi_i = 1 / gamma for all trees of up to p nodes.
// Returns the largest deviation.
static double order_defect(const tal_rk_tableau *rk, const double w[], int p)
{
    static tree trees[MOST_TREES];
    static const int known[] = {0, 1, 2, 4, 8, 17, 37, 85, 200, 486}; // HNW table II.2.1
    const int n = grow(rk, p, trees);
    ck_assert_int_eq(n, known[p]);
    double worst = 0.0;
    for (int k = 0; k < n; ++k) {
        double sum = 0.0;
        for (int i = 0; i < rk->stages; ++i) {
            sum += w[i] * trees[k].phi[i];
        }
        worst = fmax(worst, fabs(sum - 1.0 / trees[k].gamma));
    }
    return worst;
}

// phi_i is at most 1, a sum of up to 16 products of coefficients of a that cancel; a condition
// weighs the rounding of that with w. A wrong digit makes 1e-6 or more.
static double rounding(const tal_rk_tableau *rk, const double w[])
{
    double largest = 1.0, sum = 0.0;
    for (int i = 0; i < rk->stages * rk->stages; ++i) {
        largest = fmax(largest, fabs(rk->a[i]));
    }
    for (int i = 0; i < rk->stages; ++i) {
        sum += fabs(w[i]);
    }
    return 16.0 * DBL_EPSILON * largest * sum;
}

START_TEST(tableaux_meet_the_order_conditions)
{
    static const struct {
        const tal_rk_tableau *(*method)(void);
        int order, embedded_order;
        double beyond; // by how much at least the next order is missed
    } rows[] = {{tal_rk_euler, 1, 2, 1e-4},
                {tal_rk_trapezoid, 2, 1, 1e-4},
                {tal_rk_bogacki_shampine, 3, 2, 1e-4},
                {tal_rk_merson, 4, 3, 1e-4},
                {tal_rk_dormand_prince, 5, 4, 1e-4},
                {tal_rk_bogacki_shampine_5, 5, 4, 1e-5},
                {tal_rk_fehlberg, 5, 4, 1e-5},
                {tal_rk_verner_8, 8, 7, 1e-7}};

    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; ++k) {
        const tal_rk_tableau *rk = rows[k].method();
        const int p = rows[k].order, p_hat = rows[k].embedded_order;
        ck_assert_int_eq(tal_rk_check(rk, NULL), TAL_OK);
        ck_assert_int_eq(rk->order, p);
        ck_assert_int_eq(rk->embedded_order, p_hat);
        ck_assert_double_lt(order_defect(rk, rk->b, p), rounding(rk, rk->b));
        ck_assert_double_lt(order_defect(rk, rk->b_hat, p_hat), rounding(rk, rk->b_hat));
        // and no more than that
        ck_assert_double_gt(order_defect(rk, rk->b, p + 1), rows[k].beyond);
        ck_assert_double_gt(order_defect(rk, rk->b_hat, p_hat + 1), rows[k].beyond);
    }
}

END_TEST

// h sum d_i k_i is what the cubic through exact ends lacks, h^4/24 times the fourth derivative up
// to O(h^5): sum d_i phi_i = 1 / gamma for the trees of four nodes, 0 for smaller ones.
START_TEST(dense_output_meets_the_conditions_of_order_four)
{
    const tal_rk_tableau *const methods[] = {tal_rk_dormand_prince(), tal_rk_bogacki_shampine_5(),
                                             tal_rk_verner_8()};
    static tree trees[MOST_TREES];
    for (int k = 0; k < 3; ++k) {
        const tal_rk_tableau *rk = methods[k];
        const int n = grow(rk, 4, trees);
        for (int t = 0; t < n; ++t) {
            double sum = trees[t].nodes == 4 ? -1.0 / trees[t].gamma : 0.0;
            for (int i = 0; i < rk->stages; ++i) {
                sum += rk->d[i] * trees[t].phi[i];
            }
            ck_assert_double_lt(fabs(sum), rounding(rk, rk->d));
        }
    }
    tal_rk_tableau bad = *tal_rk_dormand_prince();
    const double d[7] = {1.0};
    bad.d = d;
    ck_assert_int_eq(tal_rk_check(&bad, NULL), TAL_ERR_BAD_VALUE);
}

END_TEST

START_TEST(a_tableau_that_is_not_one_is_refused)
{
    tal_error err = {0};
    ck_assert_int_eq(tal_rk_check(NULL, &err), TAL_ERR_NULL);
    tal_rk_tableau rk = *tal_rk_merson();
    rk.name = NULL;
    rk.a = NULL;
    ck_assert_int_eq(tal_rk_check(&rk, NULL), TAL_ERR_NULL);
    rk = *tal_rk_merson();
    rk.stages = 0;
    ck_assert_int_eq(tal_rk_check(&rk, NULL), TAL_ERR_BAD_VALUE);
    const double a[] = {0.0, 0.0, 0.5, 0.5}, b[] = {0.5, 0.5}, c[] = {0.0, 0.5};
    rk = (tal_rk_tableau){"x", 2, 1, 0, a, b, NULL, c, NULL};
    ck_assert_int_eq(tal_rk_check(&rk, &err), TAL_ERR_BAD_VALUE); // a[1][1]
    err = (tal_error){0};
    const double a1[] = {0.0, 0.0, 0.25, 0.0}, nan_b[] = {0.5, (double)NAN};
    rk.a = a1;
    ck_assert_int_eq(tal_rk_check(&rk, &err), TAL_ERR_BAD_VALUE); // row sum
    const double a2[] = {0.0, 0.0, 0.5, 0.0};
    rk.a = a2;
    ck_assert_int_eq(tal_rk_check(&rk, NULL), TAL_OK);
    rk.b = nan_b;
    ck_assert_int_eq(tal_rk_check(&rk, NULL), TAL_ERR_BAD_VALUE);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("study/tableau");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, tableaux_meet_the_order_conditions);
    tcase_add_test(theory, dense_output_meets_the_conditions_of_order_four);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, a_tableau_that_is_not_one_is_refused);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
