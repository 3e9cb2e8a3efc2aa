// common/src/algebra/planar.c: planar vectors as small matrices (entry A.01 of RBDA's inventory);
// against the spatial ones with a row and a column for each of w_z, v_x, v_y.
#include "talus_test.h"

#include <math.h>

static double entry(const double A[], int i, int j)
{
    return A[i + 3 * j];
}

// Rows w_z, v_x, v_y of a spatial vector.
static void in_plane(tal_spatial_vec V, double v[])
{
    v[0] = V.w.z, v[1] = V.v.x, v[2] = V.v.y;
}

static tal_spatial_vec in_space(const double v[])
{
    return tal_sv(tal_v3(0.0, 0.0, v[0]), tal_v3(v[1], v[2], 0.0));
}

static void random_three(test_rng *rng, double v[])
{
    for (int i = 0; i < 3; ++i) {
        v[i] = test_random_uniform(rng, -2.0, 2.0);
    }
}

// Frame B at p in A, turned by theta: X_AB takes vectors of B to A.
static tal_xform frame(double theta, double x, double y)
{
    return tal_xf(tal_rotation_about(TAL_AXIS_Z, theta), tal_v3(x, y, 0.0));
}

START_TEST(planar_matrices_are_spatial_ones_without_what_does_not_happen)
{
    test_rng rng = test_rng_seed(216);
    for (int trial = 0; trial < 100; ++trial) {
        double v[3], f[3], d[3], X[9], XF[9], A[9], I[9], out[3], wanted[3];
        random_three(&rng, v);
        random_three(&rng, f);
        random_three(&rng, d);
        const tal_xform X_AB = frame(d[0], d[1], d[2]), X_BA = tal_xf_inverse(X_AB);
        tal_planar_transform(d[0], d[1], d[2], X);
        tal_planar_force_transform(d[0], d[1], d[2], XF);
        tal_planar_mul(X, v, out);
        in_plane(tal_xf_motion(X_BA, in_space(v)), wanted);
        test_assert_near(out, wanted, 3, 1e-14, "X v");
        tal_planar_mul(XF, f, out);
        in_plane(tal_xf_force(X_BA, in_space(f)), wanted);
        test_assert_near(out, wanted, 3, 1e-14, "X* f");
        for (int k = 0; k < 9; ++k) { // X*^T X = 1
            double sum = 0.0;
            for (int i = 0; i < 3; ++i) {
                sum += entry(XF, i, k / 3) * entry(X, i, k % 3);
            }
            ck_assert_double_eq_tol(sum, k % 4 == 0 ? 1.0 : 0.0, 1e-14);
        }
        tal_planar_cross_motion(v, A);
        tal_planar_mul(A, f, out);
        in_plane(tal_sv_cross_motion(in_space(v), in_space(f)), wanted);
        test_assert_near(out, wanted, 3, 1e-14, "v x m");
        tal_planar_cross_force(v, A);
        tal_planar_mul(A, f, out);
        in_plane(tal_sv_cross_force(in_space(v), in_space(f)), wanted);
        test_assert_near(out, wanted, 3, 1e-14, "v x* f");
        const double m = 1.5, J = 0.4;
        tal_planar_inertia(m, d[1], d[2], J, I);
        tal_planar_mul(I, v, out);
        // momentum: m times the velocity of the center, and J w about it
        const double vx = v[1] - v[0] * d[2], vy = v[2] + v[0] * d[1];
        const double h[3] = {J * v[0] + m * (d[1] * vy - d[2] * vx), m * vx, m * vy};
        test_assert_near(out, h, 3, 2e-14, "I v");
    }
}

END_TEST

// exp(A) by its series, which for |A| < 4 ends before 40 terms.
static void exponential(const double A[], double out[])
{
    double term[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    memcpy(out, term, sizeof term);
    for (int n = 1; n < 60; ++n) {
        double next[9];
        for (int j = 0; j < 3; ++j) {
            tal_planar_mul(A, term + 3 * j, next + 3 * j);
        }
        for (int k = 0; k < 9; ++k) {
            term[k] = next[k] / n;
            out[k] += term[k];
        }
    }
}

START_TEST(a_displacement_stays_as_it_is_and_its_exponential_is_the_transform)
{
    test_rng rng = test_rng_seed(101);
    for (int trial = 0; trial < 100; ++trial) {
        double d[3], X[9], v[3], out[3], u[3], A[9], E[9];
        random_three(&rng, d);
        const double theta = 0.7 * d[0]; // below 90 degrees
        tal_planar_transform(theta, d[1], d[2], X);
        tal_planar_displacement(X, v);
        tal_planar_mul(X, v, out);
        test_assert_near(out, v, 3, 1e-14, "X v = v");
        ck_assert_double_eq_tol(v[0], sin(theta), 1e-15);
        for (int i = 0; i < 3; ++i) {
            u[i] = -v[i] * theta / sin(theta);
        }
        tal_planar_cross_motion(u, A);
        exponential(A, E);
        test_assert_near(E, X, 9, 1e-13, "exp(-u x)");
        // a small one: the two differ by theta times the distance
        tal_planar_transform(1e-6 * theta, 1e-6 * d[1], 1e-6 * d[2], X);
        tal_planar_displacement(X, v);
        tal_planar_small_displacement(X, out);
        test_assert_near(out, v, 3, 1e-11, "small displacement");
        ck_assert_double_eq_tol(v[1], 1e-6 * d[1], 1e-11);
        ck_assert_double_eq_tol(v[2], 1e-6 * d[2], 1e-11);
    }
}

END_TEST

START_TEST(arrays_must_be_there)
{
    double A[9];
    test_assert_breach(tal_planar_transform(0.0, 0.0, 0.0, NULL), TAL_ERR_NULL, "NULL");
    test_assert_breach(tal_planar_force_transform(0.0, 0.0, 0.0, NULL), TAL_ERR_NULL, "NULL");
    test_assert_breach(tal_planar_cross_motion(NULL, A), TAL_ERR_NULL, "NULL");
    test_assert_breach(tal_planar_cross_force(A, NULL), TAL_ERR_NULL, "NULL");
    test_assert_breach(tal_planar_inertia(1.0, 0.0, 0.0, 1.0, NULL), TAL_ERR_NULL, "NULL");
    test_assert_breach(tal_planar_mul(A, A, NULL), TAL_ERR_NULL, "NULL");
    test_assert_breach(tal_planar_displacement(NULL, A), TAL_ERR_NULL, "NULL");
    test_assert_breach(tal_planar_small_displacement(NULL, A), TAL_ERR_NULL, "NULL");
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("common/planar");
    TCase *tests = tcase_create("tests");
    tcase_add_test(tests, planar_matrices_are_spatial_ones_without_what_does_not_happen);
    tcase_add_test(tests, a_displacement_stays_as_it_is_and_its_exponential_is_the_transform);
    tcase_add_test(tests, arrays_must_be_there);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
