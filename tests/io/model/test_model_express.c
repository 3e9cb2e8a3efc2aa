// What files and C can say alike: powers, products and functions of measures, tables, actuators
// between points, forces fixed in bodies, events that set variables or apply impulses.
#include "model_same.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

static void realize(const tal_model *model, tal_stage stage)
{
    ck_assert_msg(tal_system_realize(model->system, model->state, stage) == TAL_OK, "%s",
                  tal_state_error(model->state)->message);
}

static tal_measure_ix measure_of(const tal_model *model, const char *name)
{
    const tal_measure_ix measure =
        tal_system_find_measure(model->system, tal_matter_subsystem(model->matter), name);
    ck_assert_int_ge(measure.i, 0);
    return measure;
}

// --- functions ---

START_TEST(powers_and_exponentials_are_their_formulas)
{
    const double exponents[] = {-1.0, 0.5, 2.0, 3.0, -2.5, 0.0};
    for (int k = 0; k < 6; ++k) {
        const double p = exponents[k], a = -1.5, x = 0.7;
        tal_function *f = NULL;
        ck_assert_int_eq(tal_function_create_power(NULL, a, p, &f, NULL), TAL_OK);
        double scale = a;
        for (int order = 0; order < 5; ++order) {
            const double wanted = scale * pow(x, p - order);
            ck_assert_double_eq_tol(tal_function_calc_derivative_1(f, x, order), wanted,
                                    8.0 * DBL_EPSILON * fabs(wanted) + DBL_MIN);
            scale *= p - order;
        }
        tal_function_destroy(f);
    }
    tal_function *f = NULL, *square = NULL;
    ck_assert_int_eq(tal_function_create_exponential(NULL, 2.0, -3.0, &f, NULL), TAL_OK);
    ck_assert_int_eq(tal_function_create_power(NULL, 1.0, 2.0, &square, NULL), TAL_OK);
    const double e = 2.0 * exp(-0.6);
    ck_assert_double_eq_tol(tal_function_calc_value_1(f, 0.2), e, 4.0 * DBL_EPSILON * e);
    ck_assert_double_eq_tol(tal_function_calc_derivative_1(f, 0.2, 2), 9.0 * e,
                            8.0 * DBL_EPSILON * 9.0 * e);
    // the derivatives of a whole power end at zero, at x = 0 too, and x may be negative
    ck_assert_double_eq(tal_function_calc_derivative_1(square, 0.0, 3), 0.0);
    ck_assert_double_eq(tal_function_calc_value_1(square, -3.0), 9.0);
    tal_function_destroy(f);
    tal_function_destroy(square);
    ck_assert_int_eq(tal_function_create_power(NULL, 1.0, (double)NAN, &f, NULL),
                     TAL_ERR_NOT_FINITE);
}

END_TEST

// --- measures ---

static const char signals[] =
    "<talus version='1' time='0.4'><measures><time name='t'/>"
    "<sinusoid name='s' amplitude='2' frequency='3'/><product name='ts' of='t' with='s'/>"
    "<product name='tt' of='t' with='t'/>"
    "<function name='inv' of='t'><power exponent='-1'/></function>"
    "<function name='mix' of='t' with='s'><product><linear slopes='1 0'/><linear slopes='0 2'/>"
    "</product></function><differentiate name='rate' of='mix'/></measures></talus>";

// At t: t s with s = 2 sin 3t, 1/t, and 2 t s, with their first and second derivatives.
START_TEST(products_and_functions_of_measures_have_values_and_derivatives)
{
    tal_model model = read_text(signals);
    realize(&model, TAL_STAGE_TIME);
    const double t = 0.4, s = 2.0 * sin(1.2), v = 6.0 * cos(1.2), a = -18.0 * sin(1.2);

    const struct {
        const char *name;
        double value[3];
    } cases[] = {{"ts", {t * s, s + t * v, 2.0 * v + t * a}},
                 {"tt", {t * t, 2.0 * t, 2.0}},
                 {"inv", {1.0 / t, -1.0 / (t * t), 2.0 / (t * t * t)}},
                 {"mix", {2.0 * t * s, 2.0 * (s + t * v), 2.0 * (2.0 * v + t * a)}}};

    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        const tal_measure_ix measure = measure_of(&model, cases[k].name);
        ck_assert_int_ge(tal_measure_num_derivatives(model.system, measure), 2);
        for (int order = 0; order < 3; ++order) {
            const double got = tal_measure_derivative(model.system, model.state, measure, order);
            // a few products of numbers up to 40
            ck_assert_double_eq_tol(got, cases[k].value[order], 40.0 * 10.0 * DBL_EPSILON);
        }
    }
    ck_assert_double_eq_tol(
        tal_measure_value(model.system, model.state, measure_of(&model, "rate")), cases[3].value[1],
        40.0 * 10.0 * DBL_EPSILON);
    tal_model_destroy(&model);
}

END_TEST

static void write_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "wb");
    ck_assert_ptr_nonnull(out);
    (void)fputs(text, out);
    (void)fclose(out);
}

// The curve goes through the rows; when it is written, its points stand in the file.
START_TEST(functions_are_read_from_tables)
{
    const char model_text[] =
        "<talus version='1' time='1'><measures><time name='t'/><function name='f' of='t'>"
        "<table file='express.csv' column='knee' curve='%s' scale='2'/></function></measures>"
        "</talus>";
    const char *curves[] = {"linear", "spline", "quintic"};
    write_file("express.csv", "time,hip,knee\n0,1,2\n1,2,5\n2,0,4\n3,1,1\n");
    for (int k = 0; k < 3; ++k) {
        char text[600];
        (void)snprintf(text, sizeof text, model_text, curves[k]);
        write_file("express.talus", text);
        tal_model model;
        ck_assert_int_eq(tal_model_read_file("express.talus", NULL, &model, NULL), TAL_OK);
        realize(&model, TAL_STAGE_TIME);
        ck_assert_double_eq_tol(
            tal_measure_value(model.system, model.state, measure_of(&model, "f")), 10.0,
            16.0 * DBL_EPSILON * 10.0);
        tal_error err;
        char *written = write_text(&model, &err);
        ck_assert_ptr_nonnull(strstr(written, "y=\"4 10 8 2\""));
        tal_model again = read_text(written);
        ck_assert(tal_state_is_equal(model.state, again.state));
        free(written);
        tal_model_destroy(&again);
        tal_model_destroy(&model);
    }
    (void)remove("express.csv");
    (void)remove("express.talus");
}

END_TEST

// --- forces ---

#define TWO_BODIES                                                                                 \
    "<talus version='1'><bodies><free name='a' mass='2' com='0.1 0 0' inertia='1 1.1 1.2' "        \
    "q='0.8 0.2 -0.3 0.4 0.1 0.2 0.3'/><free name='b' mass='1' inertia='0.3 0.4 0.5' "             \
    "q='0.6 -0.4 0.5 0.2 1 2 3'/></bodies><measures><constant name='c' values='-0.5'/>"            \
    "</measures><forces>"
#define POINTS "body1='a' station1='0.1 0.2 0.3' body2='b' station2='-0.1 0 0.4'"

static void assert_same_udot(const char *one, const char *two)
{
    tal_model a = read_text(one), b = read_text(two);
    realize(&a, TAL_STAGE_ACCELERATION);
    realize(&b, TAL_STAGE_ACCELERATION);
    const double *x = tal_state_udot(a.state), *y = tal_state_udot(b.state);
    double largest = 0.0;
    for (int i = 0; i < tal_state_nu(a.state); ++i) {
        largest = fmax(largest, fabs(x[i]));
        // forces of some tens, through inertias of 0.3 and more: 100 roundings
        ck_assert_double_eq_tol(x[i], y[i], 100.0 * DBL_EPSILON * 100.0);
    }
    ck_assert_double_gt(largest, 0.1);
    tal_model_destroy(&a);
    tal_model_destroy(&b);
}

START_TEST(an_actuator_between_two_points_is_the_force_of_that_size)
{
    assert_same_udot(TWO_BODIES "<two_point_actuator " POINTS " gain='24' measure='c'/></forces>"
                                "</talus>",
                     TWO_BODIES "<two_point_force " POINTS " force='-12'/></forces></talus>");
    assert_same_udot(TWO_BODIES "<two_point_actuator " POINTS " gain='24' control='0.25'/></forces>"
                                "</talus>",
                     TWO_BODIES "<two_point_force " POINTS " force='6'/></forces></talus>");
    tal_model model = read_text(TWO_BODIES "<two_point_actuator " POINTS
                                           " gain='24' measure='c'/></forces></talus>");
    realize(&model, TAL_STAGE_VELOCITY);
    ck_assert_double_eq(tal_actuator_output(model.forces, model.state, (tal_force_ix){0}), -12.0);
    tal_model_destroy(&model);
}

END_TEST

// The same numbers in another body's frame are those of that frame turned into Ground.
START_TEST(forces_turn_with_the_body_they_are_fixed_to)
{
    tal_model model = read_text(TWO_BODIES "<constant_torque body='a' torque='1 0 0'/></forces>"
                                           "</talus>");
    realize(&model, TAL_STAGE_POSITION);
    const char *names[] = {"a", "b"};
    for (int k = 0; k < 2; ++k) {
        const tal_body_ix in = tal_matter_find_body(model.matter, names[k]);
        const tal_vec3 g =
            tal_m3_mul_v3(tal_body_X_GB(model.matter, model.state, in).R, tal_v3(1.0, -2.0, 3.0));
        char fixed[1500], plain[1500];
        (void)snprintf(fixed, sizeof fixed,
                       TWO_BODIES "<constant_force body='a' in='%s' station='0.1 0.2 0.3' "
                                  "force='1 -2 3'/><constant_torque body='b' in='%s' "
                                  "torque='1 -2 3'/></forces></talus>",
                       names[k], names[k]);
        (void)snprintf(plain, sizeof plain,
                       TWO_BODIES "<constant_force body='a' station='0.1 0.2 0.3' "
                                  "force='%.17g %.17g %.17g'/><constant_torque body='b' "
                                  "torque='%.17g %.17g %.17g'/></forces></talus>",
                       g.x, g.y, g.z, g.x, g.y, g.z);
        assert_same_udot(fixed, plain);
        tal_model turned = read_text(fixed);
        realize(&turned, TAL_STAGE_DYNAMICS);
        for (int i = 0; i < 2; ++i) { // its derivatives agree with differences
            tal_error err = {TAL_OK, "", ""};
            tal_force_report report;
            const tal_force_ix force = {i};
            ck_assert_msg(tal_force_test(turned.forces, turned.state, force, &report, &err) ==
                              TAL_OK,
                          "%s", err.message);
            // forces of size four: the header promises 1e-10 for those of size one
            ck_assert_double_le(report.worst, 4e-10);
        }
        tal_model_destroy(&turned);
    }
    tal_model_destroy(&model);
}

END_TEST

// --- events ---

static tal_model run_until(const char *text, double t)
{
    tal_model model = read_text(text);
    tal_error err;
    tal_integrator *integ = NULL;
    tal_time_stepper *stepper = NULL;
    tal_integrator_def def = tal_integrator_def_default();
    def.accuracy = 1e-9;
    ck_assert_int_eq(tal_integrator_create(model.system, &def, &integ, &err), TAL_OK);
    ck_assert_int_eq(tal_time_stepper_create(integ, NULL, &stepper, &err), TAL_OK);
    tal_outcome outcome;
    ck_assert_msg(tal_time_stepper_step_to(stepper, model.state, t, &outcome) == TAL_OK, "%s",
                  tal_time_stepper_error(stepper)->message);
    tal_time_stepper_destroy(stepper);
    tal_integrator_destroy(integ);
    return model;
}

// A mass that is pulled by 1 / x^2 from rest at x = 2: when it passes x,
//     v = sqrt(2 (1/x - 1/2)),   t = sqrt(2^3 / 2) (acos w + w sqrt(1 - w^2)),   w = sqrt(x / 2)
START_TEST(a_control_is_a_function_of_a_coordinate)
{
    const double x = 1.0, w = sqrt(x / 2.0);
    const double t = 2.0 * (acos(w) + w * sqrt(1.0 - w * w)), v = sqrt(2.0 * (1.0 / x - 0.5));
    tal_model model = run_until(
        "<talus version='1'><bodies><slider name='s' mass='1' q='2'/></bodies><measures>"
        "<coordinate name='x' mobility='s'/><function name='pull' of='x'><power exponent='-2'/>"
        "</function></measures><forces><mobility_actuator mobility='s' gain='-1' measure='pull'/>"
        "</forces></talus>",
        t);
    // accuracy 1e-9, and as much again for the growth of errors on the way in
    ck_assert_double_eq_tol(tal_state_q(model.state)[0], x, 1e-8);
    ck_assert_double_eq_tol(tal_state_u(model.state)[0], -v, 1e-8);
    tal_model_destroy(&model);
}

END_TEST

// A force of 3 N on 2 kg until the variable that drives it is set to zero, at 0.5 s; at 1 s the
// variable gets the value of another measure, t.
START_TEST(events_set_variables)
{
    const char text[] =
        "<talus version='1'><bodies><slider name='s' mass='2'/></bodies><measures><time name='t'/>"
        "<variable name='gate' values='1'/></measures><forces><mobility_actuator mobility='s' "
        "gain='3' measure='gate'/></forces><events><set time='0.5' measure='gate' to='0'/>"
        "<set time='1' measure='gate' from='t'/></events></talus>";
    tal_model model = run_until(text, 0.75);
    ck_assert_double_eq_tol(tal_state_u(model.state)[0], 0.75, 1e-8);
    tal_model_destroy(&model);
    model = run_until(text, 2.0);
    ck_assert_double_eq_tol(tal_state_u(model.state)[0], 0.75 + 1.5, 1e-8);
    tal_model_destroy(&model);
}

END_TEST

// A ball that falls 1 m with g = 2 arrives with 2 m/s after 1 s and is thrown up by 8 N s on 2 kg.
START_TEST(an_impulse_acts_when_a_measure_crosses_a_value)
{
    tal_model model = run_until(
        "<talus version='1'><bodies><translation name='ball' mass='2' q='0 1 0'/></bodies>"
        "<measures><station name='h' body='ball' along='0 1 0'/></measures>"
        "<forces><gravity g='0 -2 0'/></forces><events><impulse when='h' falls_below='0' "
        "body='ball' impulse='0 8 0'/></events></talus>",
        1.5);
    ck_assert_double_eq_tol(tal_state_u(model.state)[1], -2.0 + 4.0 - 1.0, 1e-7);
    tal_model_destroy(&model);
}

END_TEST

// A point mass on a rod, as a pin and as a constraint: (1, 1) N s on 2 kg at (0, -1) m, of which
// the part along the rod is lost.
START_TEST(constraints_hold_through_an_impulse)
{
    const char event[] = "<events><impulse time='0' body='p' impulse='1 1 0'/></events></talus>";
    const char pin[] = "<talus version='1'><bodies><pin name='p' mass='2' body_frame='0 1 0'/>"
                       "</bodies>";
    const char rod[] = "<talus version='1'><bodies><translation name='p' mass='2' q='0 -1 0'/>"
                       "</bodies><constraints><rod body1='ground' body2='p' length='1'/>"
                       "</constraints>";
    char text[800];
    (void)snprintf(text, sizeof text, "%s%s", pin, event);
    tal_model model = run_until(text, 1e-6);
    ck_assert_double_eq_tol(tal_state_u(model.state)[0], 0.5, 1e-9);
    tal_model_destroy(&model);
    (void)snprintf(text, sizeof text, "%s%s", rod, event);
    model = run_until(text, 1e-6);
    ck_assert_double_eq_tol(tal_state_u(model.state)[0], 0.5, 1e-9);
    ck_assert_double_eq_tol(tal_state_u(model.state)[1], 0.0, 1e-6);
    tal_model_destroy(&model);
}

END_TEST

// Given in a body that is turned by 90 degrees about z: x there is y in Ground. Along a speed, ten
// times.
START_TEST(impulses_in_frames_and_along_speeds)
{
    tal_model model = run_until(
        "<talus version='1' units='deg'><bodies><pin name='arm' mass='1' inertia='1 1 1' q='90'/>"
        "<translation name='ball' mass='2'/></bodies><events><impulse time='0.1' body='ball' "
        "in='arm' impulse='1 0 0'/><mobility_impulse time='0.05' period='0.1' mobility='arm' "
        "impulse='0.5'/></events></talus>",
        0.1001);
    // the arm has turned by 0.5 rad/s * 0.05 s until then
    ck_assert_double_eq_tol(tal_state_u(model.state)[1], -0.5 * sin(0.025), 1e-8);
    ck_assert_double_eq_tol(tal_state_u(model.state)[2], 0.5 * cos(0.025), 1e-8);
    tal_model_destroy(&model);
    model = run_until("<talus version='1'><bodies><pin name='arm' mass='1' inertia='1 1 1'/>"
                      "</bodies><events><mobility_impulse time='0.05' period='0.1' mobility='arm' "
                      "impulse='0.5'/></events></talus>",
                      1.0);
    ck_assert_double_eq_tol(tal_state_u(model.state)[0], 5.0, 1e-9);
    tal_model_destroy(&model);
}

END_TEST

// --- what is wrong ---

static void assert_refused(const char *text, const char *says)
{
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(tal_model_read_memory("m", text, strlen(text), NULL, &model, found),
                     TAL_ERR_FILE);
    char line[TAL_DIAGNOSTIC_SIZE];
    ck_assert_str_eq(tal_diagnostic_text(tal_diagnostics_at(found, 0), line), says);
    tal_diagnostics_destroy(found);
}

#define SIGNALS "<talus version='1'><measures><time name='t'/><constant name='c' values='1 2'/>"

START_TEST(what_is_wrong_is_told_with_line_and_column)
{
    assert_refused(
        SIGNALS "\n<function name='f' of='c'><power exponent='1'/></function></measures>"
                "</talus>",
        "m:2:1: error: <function name=\"f\">: function 'f': measure 'c' has 2 values; it "
        "must have one");
    assert_refused(
        SIGNALS "\n<function name='f' of='t'><linear slopes='1 2'/></function></measures>"
                "</talus>",
        "m:2:1: error: <function name=\"f\">: function 'f': a function of 2 arguments is "
        "applied to 1 measures");
    assert_refused(SIGNALS
                   "\n<product name='p' of='t' with='later'/><time name='later'/></measures>"
                   "</talus>",
                   "m:2:26: error: <product name=\"p\">: the measure 'later' must come before the "
                   "measure that uses it");
    assert_refused(SIGNALS
                   "</measures>\n<events><set time='1' measure='t' to='1'/></events></talus>",
                   "m:2:9: error: <set>: action '(no name)': measure 't' is of kind 'time': only "
                   "variables and integrals can be set");
    assert_refused(SIGNALS "</measures>\n<events><set time='1' measure='t'/></events></talus>",
                   "m:2:9: error: <set> needs one of 'from' and 'to'");
    assert_refused(SIGNALS "</measures>\n<events><set when='t' crosses='1' period='2' measure='t' "
                           "to='1'/></events></talus>",
                   "m:2:35: error: <set>: 'period' needs 'time', when it happens first");
    assert_refused(SIGNALS "\n<function name='f' of='t'><table file='none.csv' column='x'/>"
                           "</function></measures></talus>",
                   "m:2:34: error: <table>: a model in memory has no folder to read files from");
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("io/model_express");
    TCase *all = tcase_create("express");
    tcase_add_test(all, powers_and_exponentials_are_their_formulas);
    tcase_add_test(all, products_and_functions_of_measures_have_values_and_derivatives);
    tcase_add_test(all, functions_are_read_from_tables);
    tcase_add_test(all, an_actuator_between_two_points_is_the_force_of_that_size);
    tcase_add_test(all, forces_turn_with_the_body_they_are_fixed_to);
    tcase_add_test(all, a_control_is_a_function_of_a_coordinate);
    tcase_add_test(all, events_set_variables);
    tcase_add_test(all, an_impulse_acts_when_a_measure_crosses_a_value);
    tcase_add_test(all, constraints_hold_through_an_impulse);
    tcase_add_test(all, impulses_in_frames_and_along_speeds);
    tcase_add_test(all, what_is_wrong_is_told_with_line_and_column);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
