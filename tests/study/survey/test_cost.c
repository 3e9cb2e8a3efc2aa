// Tests of study/src/survey/cost.c: the numbers of RBDA sec. 6.4 and 10.3.
#include "talus_test.h"

#include <talus/study.h>

static tal_tree_cost chain(int n)
{
    int lambda[64];
    for (int k = 0; k < n; ++k) {
        lambda[k] = k - 1;
    }
    return tal_tree_cost_of(lambda, n);
}

// Each body has two children, numbered level by level.
static tal_tree_cost binary(int n)
{
    int lambda[64];
    for (int k = 0; k < n; ++k) {
        lambda[k] = (k + 1) / 2 - 1;
    }
    return tal_tree_cost_of(lambda, n);
}

static void check(tal_operations found, double multiplications, double additions)
{
    ck_assert_double_eq(found.multiplications, multiplications);
    ck_assert_double_eq(found.additions, additions);
}

// RBDA tab. 6.6 and sec. 10.3.2.
// Inventory of RBDA: 6.12 and 10.12.
START_TEST(binary_trees_have_the_published_counts)
{
    tal_tree_cost c = binary(7);
    ck_assert(c.below == 10 && c.updates == 14 && c.depth == 3);
    ck_assert_double_eq(c.density, 27.0 / 49.0);
    check(c.mass_matrix, 457, 453);
    check(c.solve, 51, 34);
    c = binary(15);
    check(c.mass_matrix, 1301, 1217);
    check(c.solve, 179, 130);
    c = binary(31);
    check(c.mass_matrix, 3341, 2985);
    check(c.solve, 547, 418);
}

END_TEST

// RBDA eq. 10.3 and tab. 10.1: polynomials in n.
// Inventory of RBDA: 10.11.
START_TEST(chains_have_the_published_polynomials)
{
    for (int n = 2; n <= 45; ++n) {
        const tal_tree_cost c = chain(n);
        ck_assert_double_eq(c.below, 0.5 * (n * n - n));
        ck_assert_double_eq(c.updates, (n * n * n - n) / 6);
        ck_assert_double_eq(c.density, 1.0);
        check(c.mass_matrix, 10 * n * n + 22 * n - 32, 6 * n * n + 37 * n - 43);
        ck_assert_double_eq_tol(c.solve.multiplications,
                                n * n * n / 6.0 + 1.5 * n * n - 2.0 * n / 3.0, 1e-10);
        ck_assert_double_eq_tol(c.solve.additions, n * n * n / 6.0 + n * n - 7.0 * n / 6.0, 1e-10);
    }
    check(chain(7).mass_matrix, 612, 510);
    check(chain(7).solve, 126, 98);
}

END_TEST

// RBDA fig. 10.4: articulated bodies win from nine joints on, 1.638 times at 18; factoring costs
// more than the matrix from 45 joints on. In binary trees the matrix stays ahead.
// Inventory of RBDA: 10.09.
START_TEST(algorithms_cross_where_they_should)
{
    for (int n = 2; n <= 20; ++n) {
        ck_assert(chain(n).prefers_mass_matrix == (n <= 8));
    }
    const tal_tree_cost c = chain(18);
    const double by_matrix = c.inverse_dynamics.multiplications + c.inverse_dynamics.additions +
                             c.mass_matrix.multiplications + c.mass_matrix.additions +
                             c.solve.multiplications + c.solve.additions;
    ck_assert_double_eq(by_matrix, 11816);
    ck_assert_double_eq(c.articulated.multiplications + c.articulated.additions, 7215);
    for (int n = 44; n <= 45; ++n) {
        const tal_tree_cost at = chain(n);
        const double solve = at.solve.multiplications + at.solve.additions;
        const double matrix = at.mass_matrix.multiplications + at.mass_matrix.additions;
        ck_assert((solve > matrix) == (n == 45));
    }
    ck_assert(binary(31).prefers_mass_matrix);
}

END_TEST

// A star has a diagonal matrix; nothing is fine, too.
START_TEST(stars_and_single_bodies)
{
    const int star[] = {-1, -1, -1, -1};
    const tal_tree_cost c = tal_tree_cost_of(star, 4);
    ck_assert(c.below == 0 && c.updates == 0 && c.depth == 1);
    ck_assert_double_eq(c.density, 0.25);
    check(c.mass_matrix, 0, 0);
    check(c.solve, 4, 0);
    ck_assert_double_eq(tal_tree_cost_of(NULL, 0).density, 1.0);
    const int wrong[] = {0};
    test_assert_breach((void)tal_tree_cost_of(wrong, 1), TAL_ERR_BAD_VALUE, "no tree");
    test_assert_breach((void)tal_tree_cost_of(NULL, 1), TAL_ERR_NULL, "lambda");
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("study/cost");
    TCase *tests = tcase_create("costs");
    tcase_add_test(tests, binary_trees_have_the_published_counts);
    tcase_add_test(tests, chains_have_the_published_polynomials);
    tcase_add_test(tests, algorithms_cross_where_they_should);
    tcase_add_test(tests, stars_and_single_bodies);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
