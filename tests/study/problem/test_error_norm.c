// Tests for study/src/problem/error_norm.c: errors weighed one by one (manual eq. 9.3).
#include "integrate/integrator_internal.h"
#include "talus_test.h"

#include <math.h>

// A ball joint and a slider, with random weights; the errors are put in by hand.
typedef struct bench {
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
    tal_integrator *integ;
} bench;

static const double W_U[4] = {2.0, 0.5, 3.0, 10.0};

static bench begin(bool angles, const tal_integrator_def *def)
{
    bench it = {.system = tal_system_create(NULL)};
    it.matter = tal_matter_create(it.system);
    tal_mobod_def body = tal_mobod_def_default();
    body.mass = tal_mass_props_sphere(1.0, 0.5);
    body.use_angles = angles;
    body.name = "ball";
    const tal_body_ix ball = tal_matter_add_ball(it.matter, TAL_GROUND, &body);
    body.name = "slider";
    const tal_body_ix slider = tal_matter_add_slider(it.matter, ball, &body);
    ck_assert_int_eq(tal_system_realize_topology(it.system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(it.system, &it.state, NULL), TAL_OK);
    ck_assert_int_eq(tal_integrator_create(it.system, def, &it.integ, NULL), TAL_OK);
    test_rng rng = test_rng_seed(5);
    const tal_xform X_FM = {test_random_rotation(&rng), TAL_VEC3_ZERO};
    ck_assert_int_eq(tal_body_fit_q(it.matter, it.state, ball, &X_FM), TAL_OK);
    tal_body_set_q(it.matter, it.state, slider, 0, 3.0);
    tal_state_set_weights(it.state, TAL_POOL_U, W_U, 4);
    ck_assert_int_eq(tal_system_realize(it.system, it.state, TAL_STAGE_POSITION), TAL_OK);
    return it;
}

static void end(bench *it)
{
    tal_integrator_destroy(it->integ);
    tal_state_destroy(it->state);
    tal_system_destroy(it->system);
}

// An error of q that is the motion N w is weighed as w is, whatever describes the orientation:
// W_u N^+ N w = W_u w.
START_TEST(an_error_of_q_is_weighed_as_the_motion_it_is)
{
    const double w[4] = {1e-3, -4e-3, 2e-3, 1e-4};
    double sum = 0.0, largest = 0.0;
    for (int j = 0; j < 4; ++j) {
        sum += W_U[j] * w[j] * W_U[j] * w[j];
        largest = fmax(largest, fabs(W_U[j] * w[j]));
    }
    for (int k = 0; k < 4; ++k) {
        tal_integrator_def def = tal_integrator_def_default();
        def.infinity_norm = k >= 2;
        bench it = begin(k % 2 == 1, &def);
        ck_assert_int_eq(tal_matter_mul_N(it.matter, it.state, TAL_N, w, it.integ->problem.error),
                         TAL_OK);
        const double norm = tali_problem_error_norm(&it.integ->problem, it.state);
        // a few operations on numbers of size 1e-2: round-off is 1e-17
        ck_assert_double_eq_tol(norm, k < 2 ? sqrt(sum / 4.0) : largest, 1e-16);
        ck_assert_int_eq(it.integ->problem.worst.pool, TAL_POOL_Q);
        ck_assert_int_eq(it.integ->problem.worst.slot, 2); // 3.0 * 2e-3
        char name[160];
        tali_problem_name_variable(&it.integ->problem, it.state, TAL_POOL_Q, 2, name, sizeof name);
        ck_assert_str_eq(name, "the motion along speed 2 of body 'ball'");
        end(&it);
    }
}

END_TEST

// The part of an error along a quaternion turns nothing: it weighs nothing.
START_TEST(a_longer_quaternion_is_no_error)
{
    bench it = begin(false, NULL);
    memcpy(it.integ->problem.error, tal_state_q(it.state), 4 * sizeof(double));
    ck_assert_double_lt(tali_problem_error_norm(&it.integ->problem, it.state), 1e-15);
    end(&it);
}

END_TEST

// The same speed counts as it is when it alone is absolute, and another one does not.
START_TEST(single_variables_may_be_absolute)
{
    for (int which = 2; which < 4; ++which) {
        bool each[16] = {false};
        each[which] = true;
        tal_integrator_def def = tal_integrator_def_default();
        def.infinity_norm = true;
        def.absolute_u_each = each;
        bench it = begin(false, &def);
        const int nq = tal_state_nq(it.state);
        ck_assert_int_le(tal_state_nu(it.state), 16);
        it.integ->problem.y0[nq + 3] = -50.0; // 1/|u| = 0.02 < W = 10
        it.integ->problem.error[nq + 3] = 1e-3;
        ck_assert_double_eq_tol(tali_problem_error_norm(&it.integ->problem, it.state),
                                which == 3 ? 1e-2 : 2e-5, 1e-18);
        end(&it);
    }
}

END_TEST

// E_u = min(W, 1/|u|), or W; the norms of q and u are kept apart, and the larger counts.
START_TEST(an_error_of_u_is_relative_where_u_is_large)
{
    for (int absolute = 0; absolute < 2; ++absolute) {
        tal_integrator_def def = tal_integrator_def_default();
        def.infinity_norm = true;
        def.absolute_u = absolute == 1;
        bench it = begin(false, &def);
        const int nq = tal_state_nq(it.state);
        it.integ->problem.y0[nq + 3] = -50.0; // 1/|u| = 0.02 < W = 10
        it.integ->problem.y0[nq + 1] = 0.1;   // 1/|u| = 10 > W = 0.5
        it.integ->problem.error[nq + 3] = 1e-3;
        ck_assert_double_eq_tol(tali_problem_error_norm(&it.integ->problem, it.state),
                                absolute ? 1e-2 : 2e-5, 1e-18);
        ck_assert_int_eq(it.integ->problem.worst.pool, TAL_POOL_U);
        it.integ->problem.error[nq + 3] = 0.0;
        it.integ->problem.error[nq + 1] = 1e-3;
        ck_assert_double_eq_tol(tali_problem_error_norm(&it.integ->problem, it.state), 5e-4, 1e-18);
        it.integ->problem.error[nq - 1] = 1e-2; // the slider's q, with its weight 10
        ck_assert_double_eq_tol(tali_problem_error_norm(&it.integ->problem, it.state), 0.1, 1e-16);
        ck_assert_int_eq(it.integ->problem.worst.pool, TAL_POOL_Q);
        end(&it);
    }
}

END_TEST

START_TEST(an_error_that_is_not_a_number_is_as_large_as_can_be)
{
    bench it = begin(false, NULL);
    const int nq = tal_state_nq(it.state);
    it.integ->problem.error[nq] = (double)NAN;
    ck_assert_double_infinite(tali_problem_error_norm(&it.integ->problem, it.state));
    it.integ->problem.error[nq] = 0.0;
    it.integ->problem.error[0] = (double)NAN;
    ck_assert_double_infinite(tali_problem_error_norm(&it.integ->problem, it.state));
    end(&it);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("study/error_norm");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, an_error_of_q_is_weighed_as_the_motion_it_is);
    tcase_add_test(theory, a_longer_quaternion_is_no_error);
    tcase_add_test(theory, an_error_of_u_is_relative_where_u_is_large);
    tcase_add_test(theory, single_variables_may_be_absolute);
    tcase_add_test(theory, an_error_that_is_not_a_number_is_as_large_as_can_be);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
