// Tests for forces/src/path/path_force.c: springs, ligaments and actuators along paths.
#include "path/path_model.h"

static const double K = 7.0, L0 = 1.2, D = 0.05;

typedef struct band {
    model m;
    tal_path_ix path;
    tal_force_ix spring, ligament, actuator, clutched;
} band;

static tal_function *parabola(void)
{
    const double c[3] = {0.5, 0.2, -0.7}; // zero at 1
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_polynomial(NULL, c, 3, &f, NULL), TAL_OK);
    return f;
}

static tal_path_ix add_path(model *m)
{
    const tal_wrap shape = tal_wrap_sphere(0.3);
    const tal_xform X = TAL_XFORM_IDENTITY;
    const tal_path_ix path = tal_forces_add_path(m->forces, "path");
    tal_path_add_point(m->forces, path, m->body[GIMBAL], tal_v3(0.3, -0.2, 0.5));
    tal_path_add_point(m->forces, path, m->body[PIN], tal_v3(0.5, 0.6, 0.5));
    tal_path_add_point(m->forces, path, m->body[BALL], tal_v3(-0.4, 0.1, 0.7));
    (void)tal_path_add_wrap(
        m->forces, path, tal_forces_add_wrap(m->forces, NULL, m->body[SLIDER], &X, &shape), 1, -1);
    return path;
}

static void begin(band *b)
{
    const tal_measure_ix none = {-1};
    b->m = model_begin();
    model *m = &b->m;
    b->path = add_path(m);
    b->spring = tal_forces_add_path_spring(m->forces, "spring", b->path, K, L0, D);
    b->ligament = tal_forces_add_ligament(m->forces, "ligament", b->path, K, L0, parabola());
    b->actuator = tal_forces_add_path_actuator(m->forces, "actuator", b->path, K, none);
    b->clutched = tal_forces_add_clutched_spring(m->forces, "clutched", b->path, K, D, 0.1, none);
    model_finish(m);
}

// What the element applies is its tension along the path, whatever that is made of.
static void check_law(band *b, tal_force_ix force, double tension)
{
    model *m = &b->m;
    double g[MODEL_NU], unit[MODEL_NU];
    ck_assert_double_eq_tol(tal_path_force_tension(m->forces, m->state, force), tension, 1e-12);
    ck_assert_int_eq(tal_forces_calc_generalized(m->forces, m->state, &force, 1, g), TAL_OK);
    ck_assert_int_eq(tal_path_calc_generalized(m->forces, m->state, b->path, unit), TAL_OK);
    for (int i = 0; i < MODEL_NU; ++i) {
        ck_assert_double_eq_tol(g[i], tension * unit[i], 1e-11);
    }
}

START_TEST(each_law_is_its_formula)
{
    band b;
    begin(&b);
    model *m = &b.m;
    int num_taut = 0;
    for (uint64_t seed = 1; seed < 40; ++seed) {
        model_shake(m, seed);
        (void)tal_force_set_param(m->forces, m->state, b.actuator, TAL_PATH_ACTUATOR_CONTROL, -0.3);
        (void)tal_force_set_param(m->forces, m->state, b.clutched, TAL_CLUTCHED_SPRING_CONTROL,
                                  seed % 2 == 0 ? 1.7 : 0.4);
        tal_state_upd_z(m->state)[0] = 0.2;
        model_realize(m, TAL_STAGE_VELOCITY);
        const double l = tal_path_length(m->forces, m->state, b.path);
        const double v = tal_path_speed(m->forces, m->state, b.path);
        const double e = fmax(l - L0, 0.0), x = l / L0;
        check_law(&b, b.spring, fmax(K * e * (1.0 + D * v), 0.0));
        check_law(&b, b.ligament, x > 1.0 ? K * (0.5 * x * x + 0.2 * x - 0.7) : 0.0);
        check_law(&b, b.actuator, -0.3 * K);
        check_law(&b, b.clutched, fmax((seed % 2 == 0 ? 1.0 : 0.4) * K * 0.2 * (1.0 + D * v), 0.0));
        const double energy =
            x > 1.0
                ? K * L0 * (0.5 * (x * x * x - 1.0) / 3.0 + 0.1 * (x * x - 1.0) - 0.7 * (x - 1.0))
                : 0.0;
        ck_assert_double_eq_tol(tal_force_potential_energy(m->forces, m->state, b.ligament), energy,
                                1e-12);
        num_taut += e > 0.0;
    }
    ck_assert_int_gt(num_taut, 5);
    // slack: nothing pulls
    (void)tal_force_set_param(m->forces, m->state, b.spring, TAL_PATH_SPRING_REST_LENGTH, 50.0);
    (void)tal_force_set_param(m->forces, m->state, b.ligament, TAL_LIGAMENT_REST_LENGTH, 50.0);
    model_realize(m, TAL_STAGE_VELOCITY);
    check_law(&b, b.spring, 0.0);
    check_law(&b, b.ligament, 0.0);
    ck_assert_double_eq(tal_force_potential_energy(m->forces, m->state, b.spring), 0.0);
    ck_assert_double_eq(tal_force_potential_energy(m->forces, m->state, b.ligament), 0.0);
    model_end(m);
}

END_TEST

// The tester compares with differences over 1e-3: States where the path lies on or off the sphere
// all the way.
START_TEST(the_tester_finds_nothing_wrong)
{
    band b;
    begin(&b);
    model *m = &b.m;
    const tal_force_ix all[] = {b.spring, b.ligament, b.actuator, b.clutched};
    for (uint64_t seed = 1; seed < 5; ++seed) {
        for (int k = 0; k < 4; ++k) {
            model_shake(m, seed);
            tal_force_report report;
            tal_error err = {0};
            ck_assert_msg(tal_force_test(m->forces, m->state, all[k], &report, &err) == TAL_OK,
                          "%s", err.message);
            ck_assert_msg(report.worst < 1e-9, "%d %d: %g", (int)seed, k, report.worst);
        }
    }
    model_check_heap_and_switch(m, b.spring);
    model_end(m);
}

END_TEST

START_TEST(energy_is_accounted_for)
{
    band b;
    begin(&b);
    model_check_reaction(&b.m, b.spring, 1e-12);
    model_check_reaction(&b.m, b.ligament, 1e-12);
    model_check_balance(&b.m, b.spring, 1e-8);
    model_check_balance(&b.m, b.ligament, 1e-8);
    model_end(&b.m);
}

END_TEST

START_TEST(a_clutch_holds_the_stretch_or_lets_it_go)
{
    band b;
    begin(&b);
    model *m = &b.m;
    tal_state_upd_z(m->state)[0] = 0.2;
    model_realize(m, TAL_STAGE_ACCELERATION);
    ck_assert_double_eq_tol(tal_state_zdot(m->state)[0], -2.0, 1e-14);
    (void)tal_force_set_param(m->forces, m->state, b.clutched, TAL_CLUTCHED_SPRING_CONTROL, 0.1);
    model_realize(m, TAL_STAGE_ACCELERATION);
    ck_assert_double_eq(tal_state_zdot(m->state)[0], tal_path_speed(m->forces, m->state, b.path));
    model_end(m);
}

END_TEST

START_TEST(controllers_and_ranges_count_for_forces_along_paths)
{
    model m = model_begin();
    const tal_path_ix path = add_path(&m);
    const tal_measure_ix none = {-1};
    const double nodes[] = {0.25}, times[] = {0.0};
    const tal_force_ix two[] = {
        tal_forces_add_path_actuator(m.forces, "actuator", path, K, none),
        tal_forces_add_clutched_spring(m.forces, "clutched", path, K, 0.0, 0.1, none)};
    for (int i = 0; i < 2; ++i) {
        (void)tal_forces_add_table_controller(m.forces, NULL, &two[i], 1, times, nodes, 1,
                                              TAL_NODES_LINEAR);
    }
    model_finish(&m);
    tal_state_upd_z(m.state)[0] = 0.2;
    (void)tal_actuator_set_control(m.forces, m.state, two[0], 0.5);
    model_realize(&m, TAL_STAGE_VELOCITY);
    ck_assert_double_eq(tal_path_force_tension(m.forces, m.state, two[0]), 0.75 * K);
    ck_assert_double_eq_tol(tal_path_force_tension(m.forces, m.state, two[1]), 0.25 * K * 0.2,
                            1e-15 * K);
    (void)tal_actuator_set_control_range(m.forces, m.state, two[0], -0.1, 0.1);
    (void)tal_actuator_set_control(m.forces, m.state, two[1], 7.0); // a clutch is 0 to 1
    model_realize(&m, TAL_STAGE_VELOCITY);
    ck_assert_double_eq(tal_path_force_tension(m.forces, m.state, two[0]), 0.1 * K);
    ck_assert_double_eq(tal_actuator_control(m.forces, m.state, two[1]), 1.0);
    model_check_refused(&m, two[1], TAL_CLUTCHED_SPRING_LARGEST, 2.0, TAL_ERR_BAD_VALUE);
    model_check_refused(&m, two[0], TAL_PATH_ACTUATOR_LEAST, 0.2, TAL_ERR_BAD_VALUE);
    model_end(&m);
}

END_TEST

// The curve of SIMM and OpenSim: given points, and energy whose slope is the tension.
START_TEST(a_ligament_without_a_curve_has_the_usual_one)
{
    static const double x[] = {0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.602};
    static const double y[] = {0.0, 0.0, 0.035, 0.12, 0.26, 0.55, 1.17, 2.0, 2.0};
    model m = model_begin();
    const tal_path_ix path = add_path(&m);
    const tal_force_ix plain = tal_forces_add_ligament(m.forces, "band", path, K, L0, NULL);
    model_finish(&m);
    model_realize(&m, TAL_STAGE_VELOCITY);
    const double l = tal_path_length(m.forces, m.state, path);
    for (size_t i = 0; i < sizeof x / sizeof *x; ++i) {
        (void)tal_force_set_param(m.forces, m.state, plain, TAL_LIGAMENT_REST_LENGTH, l / x[i]);
        model_realize(&m, TAL_STAGE_VELOCITY);
        // l / (l / x) is x to two roundings, where the curve rises by nine at most
        ck_assert_double_eq_tol(tal_path_force_tension(m.forces, m.state, plain), K * y[i],
                                K * 18.0 * 2.3e-16);
    }
    tal_force_report report;
    tal_error err = {0};
    (void)tal_force_set_param(m.forces, m.state, plain, TAL_LIGAMENT_REST_LENGTH, l / 1.35);
    ck_assert_msg(tal_force_test(m.forces, m.state, plain, &report, &err) == TAL_OK, "%s",
                  err.message);
    model_end(&m);
}

END_TEST

START_TEST(parameters_live_in_the_state)
{
    band b;
    begin(&b);
    model *m = &b.m;
    model_check_param(m, b.spring, TAL_PATH_SPRING_STIFFNESS, 9.0, TAL_STAGE_DYNAMICS);
    model_check_refused(m, b.spring, TAL_PATH_SPRING_STIFFNESS, -1.0, TAL_ERR_BAD_VALUE);
    model_check_refused(m, b.ligament, TAL_LIGAMENT_REST_LENGTH, 0.0, TAL_ERR_BAD_VALUE);
    model_check_refused(m, b.clutched, TAL_CLUTCHED_SPRING_TIME, 0.0, TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_path_force_path(m->forces, b.spring).i, b.path.i);
    model_end(m);
}

END_TEST

// --- mistakes ---

static void no_path(model *m)
{
    (void)tal_forces_add_path_spring(m->forces, "band", (tal_path_ix){2}, K, L0, D);
}

static void bad_stiffness(model *m)
{
    (void)tal_forces_add_path_spring(m->forces, "band", add_path(m), -K, L0, D);
}

static void curve_of_two(model *m)
{
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_constant(NULL, 1.0, 2, &f, NULL), TAL_OK);
    (void)tal_forces_add_ligament(m->forces, "band", add_path(m), K, L0, f);
}

static void no_measure(model *m)
{
    (void)tal_forces_add_path_actuator(m->forces, "band", add_path(m), K, (tal_measure_ix){5});
}

static const path_mistake mistakes[] = {
    {no_path, TAL_ERR_BAD_INDEX, "path spring 'band': there is no path 2"},
    {bad_stiffness, TAL_ERR_BAD_VALUE, "path spring 'band': stiffness is -7"},
    {curve_of_two, TAL_ERR_BAD_VALUE, "ligament 'band': its curve must be a function of one"},
    {no_measure, TAL_ERR_BAD_INDEX, "path actuator 'band': there is no measure 5"},
};

START_TEST(a_mistake_is_told_with_the_name_of_the_element)
{
    path_check_mistake(&mistakes[_i]);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/path_force");
    TCase *all = tcase_create("all");
    tcase_add_test(all, each_law_is_its_formula);
    tcase_add_test(all, the_tester_finds_nothing_wrong);
    tcase_add_test(all, energy_is_accounted_for);
    tcase_add_test(all, a_clutch_holds_the_stretch_or_lets_it_go);
    tcase_add_test(all, controllers_and_ranges_count_for_forces_along_paths);
    tcase_add_test(all, a_ligament_without_a_curve_has_the_usual_one);
    tcase_add_test(all, parameters_live_in_the_state);
    tcase_add_loop_test(all, a_mistake_is_told_with_the_name_of_the_element, 0,
                        sizeof mistakes / sizeof mistakes[0]);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
