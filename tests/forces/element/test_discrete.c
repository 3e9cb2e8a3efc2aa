// Tests for forces/src/element/discrete.c.
#include "force_model.h"

typedef struct one {
    model m;
    tal_force_ix force, other;
} one;

static one begin(void)
{
    one o = {.m = model_begin()};
    o.force = tal_forces_add_discrete(o.m.forces, "hand");
    o.other = tal_forces_add_global_damper(o.m.forces, "air", 0.0);
    model_finish(&o.m);
    return o;
}

// What is set about Bo does the same work as what is applied about Mo: F . V is the same, 1e-13.
START_TEST(forces_are_what_the_state_says)
{
    one o = begin();
    model *m = &o.m;
    test_rng rng = test_rng_seed(9);
    load on = model_load(m, o.force);
    const load nothing = {{{{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}}, {0.0}};
    ck_assert_int_eq(memcmp(&on, &nothing, sizeof on), 0);
    double power = 0.0;
    for (int b = 0; b < MODEL_BODIES; ++b) {
        const tal_spatial_vec F = test_random_spatial_vec(&rng);
        model_realize(m, TAL_STAGE_ACCELERATION);
        ck_assert_int_eq(tal_discrete_set_body_force(m->forces, m->state, o.force, m->body[b], F),
                         TAL_OK);
        ck_assert_int_eq(tal_state_stage(m->state), TAL_STAGE_VELOCITY);
        test_assert_sv_near(tal_discrete_body_force(m->forces, m->state, o.force, m->body[b]), F,
                            0.0);
        const tal_spatial_vec V_GB = tal_body_V_GB(m->matter, m->state, m->body[b]);
        power += tal_sv_dot(F, V_GB);
        on = model_load(m, o.force);
        test_assert_v3_near(on.F[b].v, F.v, 0.0);
        ck_assert_double_eq_tol(model_power(m, &on), power, 1e-13);
    }
    const tal_mobility knee = {m->body[GIMBAL], 2};
    ck_assert_int_eq(tal_discrete_set_mobility_force(m->forces, m->state, o.force, knee, 5.0),
                     TAL_OK);
    ck_assert_double_eq(tal_discrete_mobility_force(m->forces, m->state, o.force, knee), 5.0);
    on = model_load(m, o.force);
    const int slot = tal_body_u_start(m->matter, m->body[GIMBAL]) + 2;
    for (int i = 0; i < MODEL_NU; ++i) {
        ck_assert_double_eq(on.f[i], i == slot ? 5.0 : 0.0);
    }
    ck_assert_double_eq(tal_forces_potential_energy(m->forces, m->state), 0.0);
    model_check_heap_and_switch(m, o.force);
    ck_assert_int_eq(tal_discrete_clear(m->forces, m->state, o.force), TAL_OK);
    model_realize(m, TAL_STAGE_VELOCITY);
    on = model_load(m, o.force);
    ck_assert_int_eq(memcmp(&on, &nothing, sizeof on), 0);
    model_end(m);
}

END_TEST

START_TEST(bad_forces_are_refused_and_broken_contracts_reported)
{
    one o = begin();
    model *m = &o.m;
    const tal_spatial_vec bad = {{0.0, 0.0, 0.0}, {0.0, (double)NAN, 0.0}};
    const tal_spatial_vec good = {{0.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
    const tal_mobility pin = {m->body[PIN], 0}, nowhere = {m->body[PIN], 1};
    const tal_body_ix absent = {30};
    ck_assert_int_eq(tal_discrete_set_body_force(m->forces, m->state, o.force, m->body[1], bad),
                     TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(m->state)->message, "'hand'"));
    ck_assert_int_eq(tal_system_realize(m->system, m->state, TAL_STAGE_DYNAMICS),
                     TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(
        tal_discrete_set_mobility_force(m->forces, m->state, o.force, pin, (double)INFINITY),
        TAL_ERR_NOT_FINITE);
    ck_assert_double_eq(tal_discrete_mobility_force(m->forces, m->state, o.force, pin), 0.0);

    double e = 0.0;
    test_assert_breach(e = tal_discrete_body_force(m->forces, m->state, o.force, absent).v.x,
                       TAL_ERR_BAD_INDEX, "30");
    ck_assert_double_nan(e);
    test_assert_breach(
        (void)tal_discrete_set_body_force(m->forces, m->state, o.force, absent, good),
        TAL_ERR_BAD_INDEX, "30");
    test_assert_breach(
        (void)tal_discrete_set_body_force(m->forces, NULL, o.force, m->body[1], good), TAL_ERR_NULL,
        "");
    test_assert_breach(e = tal_discrete_mobility_force(m->forces, m->state, o.force, nowhere),
                       TAL_ERR_BAD_INDEX, "no speed 1");
    ck_assert_double_nan(e);
    test_assert_breach(
        (void)tal_discrete_set_mobility_force(m->forces, m->state, o.other, pin, 1.0),
        TAL_ERR_BAD_INDEX, "global damper");
    test_assert_breach((void)tal_discrete_set_mobility_force(m->forces, NULL, o.force, pin, 1.0),
                       TAL_ERR_NULL, "");
    test_assert_breach((void)tal_discrete_clear(m->forces, m->state, o.other), TAL_ERR_BAD_INDEX,
                       "air");
    const tal_force_ix none = {-1};
    test_assert_breach((void)tal_discrete_clear(m->forces, m->state, none), TAL_ERR_BAD_INDEX, "");
    (void)test_breaches();
    ck_assert_int_eq(tal_discrete_clear(m->forces, NULL, o.force), TAL_ERR_NULL);
    test_assert_breach(tal_forces_add_discrete(NULL, "x"), TAL_ERR_NULL, "forces");
    model_end(m);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/discrete");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, forces_are_what_the_state_says);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, bad_forces_are_refused_and_broken_contracts_reported);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
