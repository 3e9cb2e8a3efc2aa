// matter/src/kernel/kernel_choice.c, kernel_sincos.c: the same passes for several processors.
#include "real_functions_internal.h"

#include "kernel/passes_internal.h"
#include "op_support.h"

enum {
    TREES = 6,
    BODIES = 25, // every kind of mobilizer
    MAX_SPEEDS = 6 * BODIES,
    ANGLES = 20000
};

// --- the sets ---

// What one evaluation gives: udot, the forces of inverse dynamics at it, M udot.
typedef struct results {
    double udot[MAX_SPEEDS], f[MAX_SPEEDS], Mudot[MAX_SPEEDS];
} results;

static void evaluate(random_tree *tree, const tali_passes *passes, results *out)
{
    memset(out, 0, sizeof *out);
    tree->matter->tree.passes = passes;
    tal_state_upd_q(tree->state);
    tal_state_upd_u(tree->state);
    random_tree_realize(tree, tree->state, TAL_STAGE_ACCELERATION);
    memcpy(out->udot, tal_state_udot(tree->state), (size_t)tree->nu * sizeof(double));
    ck_assert_int_eq(
        tal_matter_inverse_dynamics(tree->matter, tree->state, out->udot, NULL, NULL, out->f),
        TAL_OK);
    ck_assert_int_eq(tal_matter_mul_M(tree->matter, tree->state, out->udot, out->Mudot), TAL_OK);
}

static double farthest(const double x[], const double y[], int n)
{
    double most = 0.0;
    for (int i = 0; i < n; ++i) {
        most = fmax(most, fabs(x[i] - y[i]));
    }
    return most;
}

static random_tree tree_of(int i)
{
    random_tree_def def = random_tree_def_default((uint64_t)(700 + i));
    def.num_bodies = BODIES;
    random_tree tree = random_tree_create(&def);
    ck_assert_int_le(tree.nu, MAX_SPEEDS);
    return tree;
}

// Fused multiply-adds round once instead of twice, and nothing else differs. So udot differs by
// round-off as a solve with M amplifies it: 50 cond(M) eps (promise P1).
START_TEST(all_processors_get_the_same_answers_to_round_off)
{
    for (int i = 0; i < TREES; ++i) {
        random_tree tree = tree_of(i);
        tali_passes any, special;
        ck_assert(tali_passes_for(TALI_PROCESSOR_ANY, &any));
        results wanted, got;
        evaluate(&tree, &any, &wanted);
        tal_matrix M = dense(tree.nu, tree.nu);
        must(tree.state, tal_matter_calc_M(tree.matter, tree.state, M));
        const spectrum s = spectrum_of(M);
        const double tol = 50.0 * (s.most / s.least) * DBL_EPSILON;
        for (int p = TALI_PROCESSOR_ANY + 1; p < TALI_NUM_PROCESSORS; ++p) {
            if (!tali_passes_for((tali_processor)p, &special)) continue;
            evaluate(&tree, &special, &got);
            const double size = 1.0 + test_largest(wanted.udot, tree.nu);
            ck_assert_double_le(farthest(got.udot, wanted.udot, tree.nu), tol * size);
            ck_assert_double_le(farthest(got.f, wanted.f, tree.nu), tol * s.most * size);
            ck_assert_double_le(farthest(got.Mudot, wanted.Mudot, tree.nu), tol * s.most * size);
        }
        free(M.data);
        random_tree_destroy(&tree);
    }
}

END_TEST

// Both have fused multiply-adds, in the same places.
START_TEST(AVX2_and_AVX512_agree_to_the_last_bit)
{
    tali_passes avx2, avx512;
    if (!tali_passes_for(TALI_PROCESSOR_AVX512, &avx512)) test_skip("there is no AVX-512 here");
    ck_assert(tali_passes_for(TALI_PROCESSOR_AVX2, &avx2));
    for (int i = 0; i < TREES; ++i) {
        random_tree tree = tree_of(i);
        results one, other;
        evaluate(&tree, &avx2, &one);
        evaluate(&tree, &avx512, &other);
        ck_assert_mem_eq(&one, &other, sizeof one);
        random_tree_destroy(&tree);
    }
}

END_TEST

START_TEST(a_System_takes_the_most_demanding_set_that_its_machine_can_run)
{
    random_tree tree = tree_of(0);
    tali_passes wanted;
    int p = TALI_NUM_PROCESSORS - 1;
    while (!tali_passes_for((tali_processor)p, &wanted)) {
        --p;
    }
    ck_assert_mem_eq(tree.matter->tree.passes, &wanted, sizeof wanted);
    // and says which it is
    const char *names[] = {"any", "avx2", "avx512"}, *name = tal_matter_kernel_set();
    ck_assert(strcmp(name, names[p]) == 0 || (p == 0 && strcmp(name, "fma") == 0));
    random_tree_destroy(&tree);
}

END_TEST

// --- sine and cosine ---

// In units in the last place of the wanted value, as a number with 64 bits tells it.
static double ulps(double got, long double wanted)
{
    const double nearest = (double)wanted;
    const double unit = nextafter(fabs(nearest), (double)INFINITY) - fabs(nearest);
    return (double)(fabsl((long double)got - wanted) / (long double)unit);
}

static void check_sincos(double x, double most)
{
    const sine_cosine t = sincos_of(x);
    ck_assert_double_le(ulps(t.s, sinl((long double)x)), most);
    ck_assert_double_le(ulps(t.c, cosl((long double)x)), most);
}

// KERNELS asks for 1.5 units below 10. Farther out the reduction is as good until n pi/2 loses the
// bits of its third piece, beyond 1e5.
START_TEST(sine_and_cosine_are_right_to_one_and_a_half_units_in_the_last_place)
{
    test_rng rng = test_rng_seed(3);
    for (int i = 0; i < ANGLES; ++i) {
        check_sincos(test_random_uniform(&rng, -10.0, 10.0), 1.5);
        check_sincos(test_random_uniform(&rng, -9e4, 9e4), 1.5);
    }
    for (int n = -20; n <= 20; ++n) { // where one of them is all but zero, or the quadrant changes
        const double x = n * 0.785398163397448309616;
        check_sincos(x, 1.5);
        check_sincos(nextafter(x, (double)INFINITY), 1.5);
        check_sincos(nextafter(x, -(double)INFINITY), 1.5);
    }
    check_sincos(1e300, 1.0); // libm
    ck_assert(isnan(sincos_of((double)NAN).s) && isnan(sincos_of((double)INFINITY).c));
}

END_TEST

// This file is compiled for any processor, so sincos_of() is what that set gives.
START_TEST(many_angles_give_the_bits_of_each_one)
{
    tali_passes passes;
    ck_assert(tali_passes_for(TALI_PROCESSOR_ANY, &passes));
    test_rng rng = test_rng_seed(4);
    for (int n = 0; n <= 9; ++n) {
        double x[12] = {0}, s[12], c[12];
        for (int i = 0; i < n; ++i) {
            x[i] = test_random_uniform(&rng, -20.0, 20.0);
        }
        if (n == 5) x[3] = -2e6;
        if (n == 6) x[0] = (double)INFINITY;
        passes.sincos(n, x, s, c);
        for (int i = 0; i < n; ++i) {
            const sine_cosine t = sincos_of(x[i]);
            ck_assert((t.s == s[i] && t.c == c[i]) || (isnan(x[i] - x[i]) && isnan(s[i])));
        }
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("matter/kernel_choice");
    TCase *sets = tcase_create("sets");
    tcase_add_test(sets, all_processors_get_the_same_answers_to_round_off);
    tcase_add_test(sets, a_System_takes_the_most_demanding_set_that_its_machine_can_run);
    suite_add_tcase(suite, sets);
    TCase *avx512 = tcase_create("avx512");
    tcase_add_test(avx512, AVX2_and_AVX512_agree_to_the_last_bit);
    suite_add_tcase(suite, avx512);
    TCase *sines = tcase_create("sines");
    tcase_add_test(sines, sine_and_cosine_are_right_to_one_and_a_half_units_in_the_last_place);
    tcase_add_test(sines, many_angles_give_the_bits_of_each_one);
    suite_add_tcase(suite, sines);
    return test_run(suite);
}
