// Tests for study/src/problem/trial.c: sums over stages, and what a System that asks for nothing is
// spared.
#include "solve_internal.h"

#include "integrate/integrator_internal.h"
#include "talus_test.h"

#include <math.h>

enum {
    NY = 7 // odd, so that pairs leave one over
};

typedef struct bench {
    tal_system *system;
    tal_state *state;
} bench;

// A pendulum: a pin, or a ball with a quaternion.
static bench begin(bool has_quaternion)
{
    bench it = {.system = tal_system_create(NULL)};
    tal_matter *matter = tal_matter_create(it.system);
    tal_mobod_def body = tal_mobod_def_default();
    body.mass = tal_mass_props_sphere(1.0, 0.5);
    (void)(has_quaternion ? tal_matter_add_ball(matter, TAL_GROUND, &body)
                          : tal_matter_add_pin(matter, TAL_GROUND, &body));
    ck_assert_int_eq(tal_system_realize_topology(it.system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(it.system, &it.state, NULL), TAL_OK);
    return it;
}

static void end(bench *it)
{
    tal_state_destroy(it->state);
    tal_system_destroy(it->system);
}

// Term by term, in the order of the row: the same bits, however many terms there are.
START_TEST(a_row_is_added_term_by_term)
{
    test_rng rng = test_rng_seed(11);
    double y0[NY], k[TAL_MAX_RK_STAGES][NY], out[NY];
    for (int i = 0; i < NY; ++i) {
        y0[i] = test_random_uniform(&rng, -1.0, 1.0);
        for (int j = 0; j < TAL_MAX_RK_STAGES; ++j) {
            k[j][i] = test_random_uniform(&rng, -1.0, 1.0);
        }
    }
    tali_problem_row row = {.n = 0};
    for (; row.n <= TAL_MAX_RK_STAGES; ++row.n) {
        const double h = test_random_uniform(&rng, 0.1, 1.0);
        ck_assert(tali_problem_combine(y0, h, &row, NY, out));
        for (int i = 0; i < NY; ++i) {
            double sum = y0[i];
            for (int j = 0; j < row.n; ++j) {
                sum += h * row.coefs[j] * k[j][i];
            }
            ck_assert_double_eq(out[i], sum);
        }
        if (row.n == TAL_MAX_RK_STAGES) break;
        row.coefs[row.n] = test_random_uniform(&rng, -1.0, 1.0);
        row.k[row.n] = k[row.n];
    }
}

END_TEST

START_TEST(a_sum_that_is_not_finite_is_noticed_wherever_it_is)
{
    double y0[NY] = {0.0}, k[NY] = {0.0}, out[NY];
    const tali_problem_row row = {.n = 1, .coefs = {1.0}, .k = {k}};
    for (int i = 0; i < NY; ++i) {
        ck_assert(tali_problem_combine(y0, 1.0, &row, NY, out));
        k[i] = (double)INFINITY;
        ck_assert(!tali_problem_combine(y0, 1.0, &row, NY, out));
        k[i] = 0.0;
        y0[i] = (double)NAN;
        ck_assert(!tali_problem_combine(y0, 1.0, &row, NY, out));
        y0[i] = 0.0;
    }
}

END_TEST

// A run starts with one projection of q and one of u; after that a pin has none, a quaternion two a
// step.
START_TEST(a_step_projects_where_there_is_something_to_project)
{
    for (int has_quaternion = 0; has_quaternion < 2; ++has_quaternion) {
        bench it = begin(has_quaternion != 0);
        tal_integrator_def def = tal_integrator_def_default();
        def.fixed_step = 0.125;
        tal_integrator *integ = NULL;
        ck_assert_int_eq(tal_integrator_create(it.system, &def, &integ, NULL), TAL_OK);
        ck_assert_int_eq(tal_integrator_step_to(integ, it.state, 1.0), TAL_OK);
        const uint64_t expected = has_quaternion != 0 ? 2 + 8 * 2 : 2;
        ck_assert_uint_eq(tal_state_statistics(it.state).projections, expected);
        tal_integrator_destroy(integ);
        end(&it);
    }
}

END_TEST

START_TEST(t_and_y_are_written_together)
{
    bench it = begin(false);
    ck_assert_int_eq(tal_system_realize(it.system, it.state, TAL_STAGE_ACCELERATION), TAL_OK);
    double *y = tali_state_upd_ty(it.state, 2.0);
    ck_assert_ptr_eq(y, tal_state_y(it.state));
    ck_assert_double_eq(tal_state_t(it.state), 2.0);
    ck_assert_int_eq(tal_state_stage(it.state), TAL_STAGE_INSTANCE);
    y[0] = 0.5;
    ck_assert_int_eq(tal_system_realize(it.system, it.state, TAL_STAGE_ACCELERATION), TAL_OK);

    ck_assert_ptr_null(tali_state_upd_ty(it.state, (double)NAN));
    ck_assert_int_eq(tal_state_error(it.state)->status, TAL_ERR_NOT_FINITE);
    ck_assert_double_eq(tal_state_t(it.state), 2.0);
    ck_assert_int_eq(tal_system_realize(it.system, it.state, TAL_STAGE_TIME), TAL_ERR_NOT_FINITE);
    test_assert_breach(ck_assert_ptr_null(tali_state_upd_ty(NULL, 0.0)), TAL_ERR_NULL, "NULL");
    end(&it);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("study/trial");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, a_row_is_added_term_by_term);
    tcase_add_test(theory, a_sum_that_is_not_finite_is_noticed_wherever_it_is);
    tcase_add_test(theory, a_step_projects_where_there_is_something_to_project);
    tcase_add_test(theory, t_and_y_are_written_together);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
