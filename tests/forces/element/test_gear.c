// Tests for forces/src/element/gear.c.
#include "force_model.h"

static const double TAU = 4.0;

typedef struct two {
    model m;
    tal_force_ix gear, direct;
} two;

static two begin(void)
{
    two t = {.m = model_begin()};
    const tal_mobility pin = {t.m.body[PIN], 0};
    t.gear = tal_forces_add_gear_torque(t.m.forces, "gear", t.m.body[PIN], TAU, 0.1, 0.0);
    t.direct = tal_forces_add_mobility_force(t.m.forces, "direct", pin, TAU);
    model_finish(&t.m);
    tal_force_set_enabled(t.m.forces, t.m.state, t.direct, false);
    return t;
}

// RBDA ex. 3.2: the motion does not depend on the radius, the load of the bearing does, by tau / r.
START_TEST(the_motion_is_that_of_a_torque_and_the_bearing_holds_the_tooth)
{
    two t = begin();
    model *m = &t.m;
    tal_force_set_enabled(m->forces, m->state, t.gear, false);
    tal_force_set_enabled(m->forces, m->state, t.direct, true);
    model_realize(m, TAL_STAGE_ACCELERATION);
    double udot[MODEL_NU];
    memcpy(udot, tal_state_udot(m->state), sizeof udot);
    const tal_vec3 bearing = tal_body_reaction_M(m->matter, m->state, m->body[PIN]).v;
    tal_force_set_enabled(m->forces, m->state, t.direct, false);
    tal_force_set_enabled(m->forces, m->state, t.gear, true);
    const double radius[] = {0.1, 1.0, 3.0}, angle[] = {0.0, 0.7, -2.0};
    for (int k = 0; k < 9; ++k) {
        const double r = radius[k / 3], a = angle[k % 3];
        tal_force_set_param(m->forces, m->state, t.gear, TAL_GEAR_RADIUS, r);
        tal_force_set_param(m->forces, m->state, t.gear, TAL_GEAR_ANGLE, a);
        model_realize(m, TAL_STAGE_ACCELERATION);
        // tooth forces of 40 N, condition of the tree below 1e2: 1e-11
        test_assert_near(tal_state_udot(m->state), udot, MODEL_NU, 1e-11, "udot");
        const tal_xform X_PF = tal_body_X_PF(m->matter, m->state, m->body[PIN]);
        const tal_mat3 R_GF =
            tal_frame_X_AS(m->matter, m->state, TAL_GROUND, m->body[FREE], &X_PF).R;
        const tal_vec3 push = tal_v3(TAU / r * sin(a), -TAU / r * cos(a), 0.0);
        const tal_vec3 felt = tal_body_reaction_M(m->matter, m->state, m->body[PIN]).v;
        test_assert_v3_near(tal_v3_sub(bearing, felt), tal_m3_mul_v3(R_GF, push), 1e-10);
    }
    model_end(m);
}

END_TEST

START_TEST(action_is_reaction_and_the_power_is_that_of_the_torque)
{
    two t = begin();
    model_check_reaction(&t.m, t.gear, 1e-12);
    for (uint64_t seed = 1; seed < 10; ++seed) {
        model_shake(&t.m, seed);
        const load on = model_load(&t.m, t.gear);
        const double u = tal_body_u(t.m.matter, t.m.state, t.m.body[PIN], 0);
        ck_assert_double_eq_tol(model_power(&t.m, &on), TAU * u, 1e-11);
    }
    model_check_param(&t.m, t.gear, TAL_GEAR_TORQUE, 1.0, TAL_STAGE_DYNAMICS);
    model_check_param(&t.m, t.gear, TAL_GEAR_RADIUS, 1.0, TAL_STAGE_DYNAMICS);
    model_check_refused(&t.m, t.gear, TAL_GEAR_RADIUS, 0.0, TAL_ERR_BAD_VALUE);
    model_check_heap_and_switch(&t.m, t.gear);
    model_end(&t.m);
}

END_TEST

START_TEST(bad_input_is_refused)
{
    tal_error err = {0};
    model m = model_begin();
    ck_assert_int_lt(tal_forces_add_gear_torque(m.forces, NULL, TAL_GROUND, 1.0, 1.0, 0.0).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "Ground"));
    m = model_begin();
    const tal_body_ix absent = {90};
    ck_assert_int_lt(tal_forces_add_gear_torque(m.forces, "a", absent, 1.0, 1.0, 0.0).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_INDEX);
    m = model_begin();
    ck_assert_int_lt(tal_forces_add_gear_torque(m.forces, "a", m.body[PIN], 1.0, -1.0, 0.0).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_VALUE);
    test_assert_breach(tal_forces_add_gear_torque(NULL, "a", absent, 1.0, 1.0, 0.0), TAL_ERR_NULL,
                       "forces");
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/gear");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, the_motion_is_that_of_a_torque_and_the_bearing_holds_the_tooth);
    tcase_add_test(theory, action_is_reaction_and_the_power_is_that_of_the_torque);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, bad_input_is_refused);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
