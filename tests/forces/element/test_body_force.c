// Tests for forces/src/element/body_force.c.
#include "force_model.h"

static const tal_vec3 STATION = {0.3, -0.2, 0.5}, FORCE = {1.0, -2.0, 4.0},
                      TORQUE = {3.0, 1.0, -1.0};

typedef struct pair {
    model m;
    tal_force_ix force, torque;
} pair;

static pair begin(void)
{
    pair p = {.m = model_begin()};
    p.force = tal_forces_add_constant_force(p.m.forces, "wind", p.m.body[GIMBAL], STATION, FORCE);
    p.torque = tal_forces_add_constant_torque(p.m.forces, "twist", p.m.body[BALL], TORQUE);
    model_finish(&p.m);
    return p;
}

// The moment about Mo is that of a force at the station, wherever the body goes: 1e-14.
START_TEST(force_and_torque_keep_their_direction_in_ground)
{
    pair p = begin();
    model *m = &p.m;
    for (uint64_t seed = 1; seed < 10; ++seed) {
        model_shake(m, seed);
        const tal_vec3 p_GS = tal_station_p_GS(m->matter, m->state, m->body[GIMBAL], STATION);
        const tal_bodies_view poses = tal_matter_poses(m->matter, m->state);
        const tal_vec3 p_MS = tal_v3_sub(p_GS, tal_view_X_GM(&poses, GIMBAL)->p);
        load on = model_load(m, p.force);
        test_assert_sv_near(on.F[GIMBAL], tal_sv(tal_v3_cross(p_MS, FORCE), FORCE), 1e-13);
        test_assert_sv_near(on.F[BALL], TAL_SPATIAL_VEC_ZERO, 0.0);
        on = model_load(m, p.torque);
        test_assert_sv_near(on.F[BALL], tal_sv(TORQUE, TAL_VEC3_ZERO), 0.0);
        test_assert_sv_near(on.F[GIMBAL], TAL_SPATIAL_VEC_ZERO, 0.0);
        // work from outside
        ck_assert_double_eq(tal_forces_potential_energy(m->forces, m->state), 0.0);
        ck_assert_double_eq(tal_forces_dissipated_power(m->forces, m->state), 0.0);
    }
    model_end(m);
}

END_TEST

START_TEST(parameters_live_in_the_state)
{
    pair p = begin();
    model *m = &p.m;
    model_check_param(m, p.force, TAL_CONSTANT_FORCE_STATION, 2.0, TAL_STAGE_INSTANCE);
    model_check_param(m, p.force, TAL_CONSTANT_FORCE_FORCE + 2, 2.0, TAL_STAGE_DYNAMICS);
    model_check_param(m, p.torque, TAL_CONSTANT_TORQUE_TORQUE + 1, 2.0, TAL_STAGE_DYNAMICS);
    model_check_refused(m, p.force, TAL_CONSTANT_FORCE_FORCE, (double)NAN, TAL_ERR_NOT_FINITE);
    model_check_refused(m, p.torque, 2, (double)INFINITY, TAL_ERR_NOT_FINITE);
    model_check_heap_and_switch(m, p.force);
    model_check_heap_and_switch(m, p.torque);
    model_end(m);
}

END_TEST

START_TEST(bad_bodies_and_numbers_are_remembered)
{
    tal_error err = {0};
    const tal_body_ix absent = {50};
    model m = model_begin();
    ck_assert_int_lt(tal_forces_add_constant_force(m.forces, "wind", absent, STATION, FORCE).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_INDEX);
    ck_assert_ptr_nonnull(strstr(err.message, "'wind'"));
    m = model_begin();
    ck_assert_int_lt(tal_forces_add_constant_torque(m.forces, "twist", absent, TORQUE).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_INDEX);
    m = model_begin();
    const tal_vec3 bad = {0.0, 0.0, (double)NAN};
    ck_assert_int_lt(tal_forces_add_constant_torque(m.forces, "twist", TAL_GROUND, bad).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(err.message, "torque z"));
    test_assert_breach(tal_forces_add_constant_force(NULL, "x", TAL_GROUND, STATION, FORCE),
                       TAL_ERR_NULL, "forces");
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/body_force");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, force_and_torque_keep_their_direction_in_ground);
    tcase_add_test(theory, parameters_live_in_the_state);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, bad_bodies_and_numbers_are_remembered);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
