// Tests for study/src/tableau.c: what makes a method of its order.
#include "talus_test.h"

#include <talus/study.h>

#include <math.h>

// Weights w of an order-p solution at x, in (0, 1]: sum w_i phi_i = x^r / gamma for the trees of up
// to p <= 5 nodes (HNW sec. II.2). Returns the largest deviation.
static double order_defect(const tal_rk_tableau *rk, const double w[], int p, double x)
{
    enum {
        NUM_TREES = 17
    };

    static const int nodes[NUM_TREES] = {1, 2, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5};
    static const double gamma[NUM_TREES] = {1,  2,  3,  6,  4,  8,  12, 24, 5,
                                            10, 15, 30, 20, 20, 40, 60, 120};
    double ac[TAL_MAX_RK_STAGES] = {0.0}, acc[TAL_MAX_RK_STAGES] = {0.0};
    double aac[TAL_MAX_RK_STAGES] = {0.0}, sum[NUM_TREES] = {0.0};
    for (int i = 0; i < rk->stages; ++i) {
        double accc = 0.0, ac_ac = 0.0, aacc = 0.0, aaac = 0.0;
        const double *a = rk->a + i * rk->stages, *c = rk->c, ci = c[i];
        for (int j = 0; j < i; ++j) {
            ac[i] += a[j] * c[j];
            acc[i] += a[j] * c[j] * c[j];
            aac[i] += a[j] * ac[j];
            accc += a[j] * c[j] * c[j] * c[j];
            ac_ac += a[j] * c[j] * ac[j];
            aacc += a[j] * acc[j];
            aaac += a[j] * aac[j];
        }
        const double phi[NUM_TREES] = {1.0,
                                       ci,
                                       ci * ci,
                                       ac[i],
                                       ci * ci * ci,
                                       ci * ac[i],
                                       acc[i],
                                       aac[i],
                                       ci * ci * ci * ci,
                                       ci * ci * ac[i],
                                       ci * acc[i],
                                       ci * aac[i],
                                       ac[i] * ac[i],
                                       accc,
                                       ac_ac,
                                       aacc,
                                       aaac};
        for (int k = 0; k < NUM_TREES; ++k) {
            sum[k] += w[i] * phi[k];
        }
    }
    double worst = 0.0;
    for (int k = 0; k < NUM_TREES; ++k) {
        if (nodes[k] <= p) worst = fmax(worst, fabs(sum[k] - pow(x, nodes[k]) / gamma[k]));
    }
    return worst;
}

// Coefficients go up to 12 in size and cancel: 16 roundings of that are 2e-14 at most, 1e-15 when
// signs alternate. A wrong digit makes 1e-6 or more.
START_TEST(tableaux_meet_the_order_conditions)
{
    const tal_rk_tableau *const methods[] = {tal_rk_euler(), tal_rk_trapezoid(),
                                             tal_rk_bogacki_shampine(), tal_rk_merson(),
                                             tal_rk_dormand_prince()};
    for (int k = 0; k < 5; ++k) {
        const tal_rk_tableau *rk = methods[k];
        ck_assert_int_eq(tal_rk_check(rk, NULL), TAL_OK);
        ck_assert_int_eq(rk->order, k + 1);
        ck_assert_double_lt(order_defect(rk, rk->b, rk->order, 1.0), 1e-14);
        ck_assert_double_lt(order_defect(rk, rk->b_hat, rk->embedded_order, 1.0), 1e-14);
        // and no more than that
        if (rk->order < 5) ck_assert_double_gt(order_defect(rk, rk->b, rk->order + 1, 1.0), 1e-4);
        ck_assert_double_gt(order_defect(rk, rk->b_hat, rk->embedded_order + 1, 1.0), 1e-4);
    }
}

END_TEST

// The weights of dense output at x: the cubic's, from b and the rates at both ends, and d's.
START_TEST(dense_output_meets_the_conditions_of_order_four)
{
    const tal_rk_tableau *rk = tal_rk_dormand_prince();
    for (int n = 1; n <= 8; ++n) {
        const double x = 0.125 * n, y = 1.0 - x;
        double w[TAL_MAX_RK_STAGES];
        for (int i = 0; i < rk->stages; ++i) {
            const double D = rk->b[i], B = (i == 0 ? 1.0 : 0.0) - D;
            const double C = D - (i == rk->stages - 1 ? 1.0 : 0.0) - B;
            w[i] = x * (D + y * (B + x * C)) + x * x * y * y * rk->d[i];
        }
        ck_assert_double_lt(order_defect(rk, w, 4, x), 1e-14);
        if (n < 8) ck_assert_double_gt(order_defect(rk, w, 5, x), 1e-6);
    }
    tal_rk_tableau bad = *rk;
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
