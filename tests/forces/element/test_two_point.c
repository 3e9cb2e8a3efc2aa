// Tests for forces/src/element/two_point.c and element.c.
#include "force_model.h"

static const double K = 7.0, X0 = 0.8, C = 3.0, PUSH = 2.5;

typedef struct trio {
    model m;
    tal_two_points at;
    tal_force_ix spring, damper, push;
} trio;

static trio begin(void)
{
    trio t = {.m = model_begin()};
    t.at.body1 = t.m.body[GIMBAL];
    t.at.p_B1 = tal_v3(0.3, -0.2, 0.5);
    t.at.body2 = t.m.body[BALL];
    t.at.p_B2 = tal_v3(-0.4, 0.1, 0.7);
    t.spring = tal_forces_add_two_point_spring(t.m.forces, "spring", &t.at, K, X0);
    t.damper = tal_forces_add_two_point_damper(t.m.forces, "damper", &t.at, C);
    t.push = tal_forces_add_two_point_force(t.m.forces, NULL, &t.at, PUSH);
    model_finish(&t.m);
    return t;
}

// The element must apply `tension` along the line: shifted to Bo, compared with stations from
// matter's own kinematics. A dozen operations on numbers of size 10: 1e-13.
static void check_law(trio *t, tal_force_ix force, double tension)
{
    model *m = &t->m;
    const tal_vec3 p1 = tal_station_p_GS(m->matter, m->state, t->at.body1, t->at.p_B1);
    const tal_vec3 p2 = tal_station_p_GS(m->matter, m->state, t->at.body2, t->at.p_B2);
    const tal_vec3 f = tal_v3_scale(tension, tal_v3_normalize(tal_v3_sub(p2, p1)));
    const tal_bodies_view poses = tal_matter_poses(m->matter, m->state);
    const load on = model_load(m, force);
    for (int b = 0; b < MODEL_BODIES; ++b) {
        const tal_vec3 o = tal_view_X_GM(&poses, b)->p;
        tal_spatial_vec expected = TAL_SPATIAL_VEC_ZERO;
        if (b == GIMBAL) expected = tal_sv(tal_v3_cross(tal_v3_sub(p1, o), f), f);
        if (b == BALL) expected = tal_sv_neg(tal_sv(tal_v3_cross(tal_v3_sub(p2, o), f), f));
        test_assert_sv_near(on.F[b], expected, 1e-13);
    }
    for (int i = 0; i < MODEL_NU; ++i) {
        ck_assert_double_eq(on.f[i], 0.0);
    }
}

START_TEST(each_law_is_its_formula)
{
    trio t = begin();
    model *m = &t.m;
    for (uint64_t seed = 1; seed < 20; ++seed) {
        model_shake(m, seed);
        const double x =
            tal_station_distance(m->matter, m->state, t.at.body1, t.at.p_B1, t.at.body2, t.at.p_B2);
        const double xdot = tal_station_distance_rate(m->matter, m->state, t.at.body1, t.at.p_B1,
                                                      t.at.body2, t.at.p_B2);
        check_law(&t, t.spring, K * (x - X0));
        check_law(&t, t.damper, C * xdot);
        check_law(&t, t.push, -PUSH);
        const double energy = tal_force_potential_energy(m->forces, m->state, t.spring);
        ck_assert_double_eq_tol(energy, 0.5 * K * (x - X0) * (x - X0), 1e-13);
        const double power = tal_force_dissipated_power(m->forces, m->state, t.damper);
        ck_assert_double_eq_tol(power, C * xdot * xdot, 1e-12);
        ck_assert_double_eq(tal_force_potential_energy(m->forces, m->state, t.push), 0.0);
        ck_assert_double_eq(tal_force_dissipated_power(m->forces, m->state, t.spring), 0.0);
    }
    model_end(m);
}

END_TEST

START_TEST(action_is_reaction_and_energy_is_accounted_for)
{
    trio t = begin();
    model_check_reaction(&t.m, t.spring, 1e-13);
    model_check_reaction(&t.m, t.damper, 1e-13);
    model_check_reaction(&t.m, t.push, 1e-13);
    model_check_balance(&t.m, t.spring, 1e-9);
    model_check_balance(&t.m, t.damper, 1e-12);
    model_end(&t.m);
}

END_TEST

START_TEST(stations_that_meet_pull_with_nothing)
{
    trio t = {.m = model_begin()};
    model *m = &t.m;
    const tal_two_points at = {t.m.body[PIN], tal_v3(0.1, 0.2, 0.3), t.m.body[PIN],
                               tal_v3(0.1, 0.2, 0.3)};
    t.spring = tal_forces_add_two_point_spring(t.m.forces, "spring", &at, K, X0);
    t.damper = tal_forces_add_two_point_damper(t.m.forces, "damper", &at, C);
    t.push = tal_forces_add_two_point_force(t.m.forces, "push", &at, PUSH);
    model_finish(m);
    const tal_force_ix all[] = {t.spring, t.damper, t.push};
    for (int k = 0; k < 3; ++k) {
        const load on = model_load(m, all[k]);
        test_assert_sv_near(on.F[PIN], TAL_SPATIAL_VEC_ZERO, 0.0);
    }
    ck_assert_double_eq(tal_force_potential_energy(m->forces, m->state, t.spring),
                        0.5 * K * X0 * X0);
    ck_assert_double_eq(tal_force_dissipated_power(m->forces, m->state, t.damper), 0.0);
    model_realize(m, TAL_STAGE_ACCELERATION);
    model_end(m);
}

END_TEST

START_TEST(parameters_live_in_the_state)
{
    trio t = begin();
    model *m = &t.m;
    model_check_param(m, t.spring, TAL_SPRING_STIFFNESS, 9.0, TAL_STAGE_DYNAMICS);
    model_check_param(m, t.spring, TAL_SPRING_REST_LENGTH, 0.0, TAL_STAGE_DYNAMICS);
    model_check_param(m, t.damper, TAL_DAMPER_DAMPING, 1.0, TAL_STAGE_DYNAMICS);
    model_check_param(m, t.push, TAL_TWO_POINT_FORCE, -1.0, TAL_STAGE_DYNAMICS);
    model_check_param(m, t.push, TAL_TWO_POINT_STATION_1 + 1, 5.0, TAL_STAGE_INSTANCE);
    model_check_param(m, t.spring, TAL_TWO_POINT_STATION_2 + 2, 5.0, TAL_STAGE_INSTANCE);

    // all of them together; the lowest stage among them goes
    const double values[8] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.5, 8.0};
    model_realize(m, TAL_STAGE_ACCELERATION);
    ck_assert_int_eq(tal_force_set_params(m->forces, m->state, t.spring, 0, values, 8), TAL_OK);
    ck_assert_int_eq(tal_state_stage(m->state), TAL_STAGE_MODEL);
    for (int i = 0; i < 8; ++i) {
        ck_assert_double_eq(tal_force_param(m->forces, m->state, t.spring, i), values[i]);
    }
    ck_assert_int_eq(tal_force_num_params(m->forces, t.spring), 8);
    ck_assert_str_eq(tal_force_param_name(m->forces, t.spring, 7), "rest length");
    ck_assert_str_eq(tal_force_kind(m->forces, t.damper), "two-point damper");
    ck_assert_str_eq(tal_force_name(m->forces, t.push), "force2");
    model_realize(m, TAL_STAGE_VELOCITY);
    t.at.p_B1 = tal_v3(1.0, 2.0, 3.0);
    t.at.p_B2 = tal_v3(4.0, 5.0, 6.0);
    const double x =
        tal_station_distance(m->matter, m->state, t.at.body1, t.at.p_B1, t.at.body2, t.at.p_B2);
    // distances of size 10: 1e-12
    ck_assert_double_eq_tol(tal_force_potential_energy(m->forces, m->state, t.spring),
                            0.5 * 7.5 * (x - 8.0) * (x - 8.0), 1e-12);
    model_check_heap_and_switch(m, t.spring);
    model_end(m);
}

END_TEST

START_TEST(a_frame_moved_on_its_body_takes_the_stations_along)
{
    trio t = begin();
    model *m = &t.m;
    const tal_xform X_BM = tal_xf_from_p(tal_v3(0.3, 0.1, -0.2));
    tal_body_set_X_BM(m->matter, m->state, t.at.body1, &X_BM);
    model_shake(m, 7);
    const double x =
        tal_station_distance(m->matter, m->state, t.at.body1, t.at.p_B1, t.at.body2, t.at.p_B2);
    check_law(&t, t.spring, K * (x - X0));
    model_end(m);
}

END_TEST

START_TEST(bad_values_are_refused_by_name)
{
    trio t = begin();
    model *m = &t.m;
    model_check_refused(m, t.spring, TAL_SPRING_STIFFNESS, -1.0, TAL_ERR_BAD_VALUE);
    model_check_refused(m, t.spring, TAL_SPRING_REST_LENGTH, -1.0, TAL_ERR_BAD_VALUE);
    model_check_refused(m, t.damper, TAL_DAMPER_DAMPING, (double)NAN, TAL_ERR_NOT_FINITE);
    model_check_refused(m, t.push, TAL_TWO_POINT_FORCE, (double)INFINITY, TAL_ERR_NOT_FINITE);
    model_check_refused(m, t.spring, TAL_TWO_POINT_STATION_1, (double)NAN, TAL_ERR_NOT_FINITE);

    const tal_force_ix bad = {9};
    const double value = 1.0;
    double e = 0.0;
    test_assert_breach(e = tal_force_param(m->forces, m->state, t.spring, 8), TAL_ERR_BAD_INDEX,
                       "it has 8");
    ck_assert_double_nan(e);
    test_assert_breach(e = tal_force_param(m->forces, m->state, bad, 0), TAL_ERR_BAD_INDEX, "9");
    test_assert_breach(e = tal_force_param(m->forces, NULL, t.spring, 0), TAL_ERR_NULL, "");
    ck_assert_double_nan(e);
    test_assert_breach((void)tal_force_set_param(m->forces, NULL, t.spring, 0, 1.0), TAL_ERR_NULL,
                       "");
    test_assert_breach((void)tal_force_set_params(m->forces, m->state, t.spring, 0, NULL, 1),
                       TAL_ERR_NULL, "values");
    test_assert_breach((void)tal_force_set_params(m->forces, m->state, t.spring, 7, &value, 2),
                       TAL_ERR_BAD_INDEX, "spring");
    test_assert_breach((void)tal_force_set_params(m->forces, m->state, t.spring, 0, &value, 0),
                       TAL_ERR_BAD_INDEX, "spring");
    test_assert_breach((void)tal_force_num_params(m->forces, bad), TAL_ERR_BAD_INDEX, "9");
    test_assert_breach((void)tal_force_param_name(m->forces, t.spring, -1), TAL_ERR_BAD_INDEX, "");
    test_assert_breach((void)tal_force_param_stage(m->forces, t.spring, 8), TAL_ERR_BAD_INDEX, "");
    test_assert_breach(tal_forces_add_two_point_damper(NULL, "x", &t.at, C), TAL_ERR_NULL,
                       "forces");
    test_assert_breach(tal_forces_add_two_point_damper(m->forces, "x", NULL, C), TAL_ERR_NULL,
                       "points");
    model_end(m);
}

END_TEST

START_TEST(a_bad_spring_is_remembered_with_its_name)
{
    tal_error err = {0};
    tal_two_points at = {TAL_GROUND, TAL_VEC3_ZERO, {1}, TAL_VEC3_ZERO};
    model m = model_begin();
    ck_assert_int_lt(tal_forces_add_two_point_spring(m.forces, "knee", &at, -3.0, 0.0).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_VALUE);
    ck_assert_str_eq(err.message, "two-point spring 'knee': stiffness is -3: it must be finite and "
                                  "not negative");
    m = model_begin();
    ck_assert_int_lt(tal_forces_add_two_point_force(m.forces, NULL, &at, (double)NAN).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_NOT_FINITE);
    at.body2.i = 77;
    m = model_begin();
    ck_assert_int_lt(tal_forces_add_two_point_force(m.forces, "knee", &at, 1.0).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_INDEX);
    ck_assert_ptr_nonnull(strstr(err.message, "77"));
    at.body1.i = -1;
    m = model_begin();
    ck_assert_int_lt(tal_forces_add_two_point_force(m.forces, "knee", &at, 1.0).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_INDEX);
}

END_TEST

START_TEST(gravity_and_elements_of_ones_own_have_no_parameters_here)
{
    model m = model_begin();
    const tal_force_ix gravity = tal_forces_add_gravity(m.forces, tal_v3(0.0, -9.81, 0.0));
    ck_assert_int_eq(tal_force_num_params(m.forces, gravity), 0);
    test_assert_breach((void)tal_force_param_name(m.forces, gravity, 0), TAL_ERR_BAD_INDEX,
                       "gravity");
    tal_system_destroy(m.system);
}

END_TEST

START_TEST(memory_may_run_out_at_any_call)
{
    bool built = false;
    const tal_two_points at = {TAL_GROUND, TAL_VEC3_ZERO, TAL_GROUND, {1.0, 0.0, 0.0}};
    for (int n = 1; n < 200 && !built; ++n) {
        test_heap heap = {.refuse_at = n};
        tal_system_def def = tal_system_def_default();
        def.allocator = test_heap_allocator(&heap);
        tal_system *system = tal_system_create(&def);
        if (system == NULL) continue;
        tal_matter *matter = tal_matter_create(system);
        tal_forces *forces = matter != NULL ? tal_forces_create(system, matter) : NULL;
        if (forces != NULL) (void)tal_forces_add_two_point_spring(forces, "a", &at, 1.0, 1.0);
        built = forces != NULL && tal_system_realize_topology(system, NULL) == TAL_OK;
        if (!built) ck_assert_int_eq(tal_system_error(system)->status, TAL_ERR_NO_MEMORY);
        if (built) test_assert_never_refused(&heap);
        tal_system_destroy(system);
        ck_assert_int_eq(heap.live, 0);
    }
    ck_assert(built);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/two_point");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, each_law_is_its_formula);
    tcase_add_test(theory, action_is_reaction_and_energy_is_accounted_for);
    tcase_add_test(theory, stations_that_meet_pull_with_nothing);
    tcase_add_test(theory, parameters_live_in_the_state);
    tcase_add_test(theory, a_frame_moved_on_its_body_takes_the_stations_along);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, bad_values_are_refused_by_name);
    tcase_add_test(errors, a_bad_spring_is_remembered_with_its_name);
    tcase_add_test(errors, gravity_and_elements_of_ones_own_have_no_parameters_here);
    tcase_add_test(errors, memory_may_run_out_at_any_call);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
