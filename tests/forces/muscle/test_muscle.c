// forces/src/muscle/, forces/src/control/: muscles as elements of a System, and what drives them.
#include "force_model.h"
#include "talus_test.h"

#include <stdio.h>

enum {
    NUM_KINDS = 8
};

// Where the path runs: across the free body, the gimbal and the ball.
static tal_path_ix add_path(model *m, const char *name)
{
    const tal_path_ix path = tal_forces_add_path(m->forces, name);
    (void)tal_path_add_point(m->forces, path, m->body[GIMBAL], tal_v3(0.3, -0.2, 0.5));
    (void)tal_path_add_point(m->forces, path, TAL_GROUND, tal_v3(0.2, 0.2, 0.1));
    (void)tal_path_add_point(m->forces, path, m->body[BALL], tal_v3(0.6, 0.0, -0.2));
    return path;
}

// Lengths that put fibers and tendon near their optimal ones on a path that is meters long.
static tal_muscle_def def_of(tal_muscle_model model_of, tal_path_ix path)
{
    tal_muscle_def def = tal_muscle_def_default(model_of);
    def.path = path;
    def.max_force = 2.0;
    def.fiber_length = 2.0;
    def.tendon_length = 3.0;
    def.pennation = 0.3;
    def.max_speed = 4.0;
    return def;
}

static tal_function *line(double slope, double offset)
{
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_linear(NULL, &slope, 1, offset, &f, NULL), TAL_OK);
    return f;
}

static tal_function *parabola(double a, double b, double c)
{
    const double coefficients[] = {a, b, c};
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_polynomial(NULL, coefficients, 3, &f, NULL), TAL_OK);
    return f;
}

// Every model, elastic and rigid, damped and not.
static tal_muscle_def kind(int i, tal_path_ix path)
{
    tal_muscle_def def = def_of((tal_muscle_model)(i < 6 ? i / 2 : i == 6 ? 1 : 3), path);
    if (i < 6) def.rigid_tendon = i % 2 == 1;
    if (i == 6) def.damping = 0.0;
    if (i == 7) {
        def.active = parabola(-1.0, 2.0, 0.0);
        def.velocity = line(0.5, 1.0);
        def.passive = parabola(0.5, -1.0, 0.6);
    }
    if (def.model == TAL_MUSCLE_DEGROOTE) def.damping = 0.05;
    return def;
}

typedef struct all {
    model m;
    tal_force_ix muscle[NUM_KINDS];
} all;

static void begin(all *it)
{
    it->m = model_begin();
    const tal_path_ix path = add_path(&it->m, "string");
    for (int i = 0; i < NUM_KINDS; ++i) {
        const tal_muscle_def def = kind(i, path);
        it->muscle[i] = tal_forces_add_muscle(it->m.forces, NULL, &def);
        ck_assert_int_ge(it->muscle[i].i, 0);
    }
}

// Lengths that fit the path of this State, and some activation.
static void finish(all *it)
{
    model_finish(&it->m);
    const double l = tal_path_length(it->m.forces, it->m.state, (tal_path_ix){0});
    for (int i = 0; i < NUM_KINDS; ++i) {
        const double lengths[] = {0.4 * l, 0.6 * l};
        ck_assert_int_eq(tal_force_set_params(it->m.forces, it->m.state, it->muscle[i],
                                              TAL_MUSCLE_FIBER_LENGTH, lengths, 2),
                         TAL_OK);
        (void)tal_muscle_set_control(it->m.forces, it->m.state, it->muscle[i], 0.7);
        if (i < 7) (void)tal_muscle_set_activation(it->m.forces, it->m.state, it->muscle[i], 0.45);
    }
    ck_assert_int_eq(tal_forces_equilibrate_muscles(it->m.forces, it->m.state), TAL_OK);
    model_realize(&it->m, TAL_STAGE_VELOCITY);
}

// --- as an element ---

// 1e-8: forces change with steps of 1e-3 over 25 N/m of a tendon whose fifth derivatives are 1e6.
START_TEST(every_muscle_agrees_with_itself)
{
    all it;
    begin(&it);
    finish(&it);
    for (int i = 0; i < NUM_KINDS; ++i) {
        tal_force_report report;
        tal_error err;
        ck_assert_msg(tal_force_test(it.m.forces, it.m.state, it.muscle[i], &report, &err) ==
                          TAL_OK,
                      "%s", err.message);
        // Thelen's fv has a kink at v = 0, across which the slope of power by speed is estimated
        if (i == 1) {
            ck_assert_double_lt(report.energy, 1e-3);
            report.worst = fmax(report.adds, report.power);
        }
        ck_assert_msg(report.worst < 1e-8, "kind %d: adds %g needs %g energy %g power %g", i,
                      report.adds, report.needs, report.energy, report.power);
    }
    model_end(&it.m);
}

// Outputs that the header writes with others are made of them.
static void check_sums(const double out[])
{
    const double c = out[TAL_MUSCLE_COS_PENNATION], speed = out[TAL_MUSCLE_FIBER_SPEED];
    const double active = out[TAL_MUSCLE_ACTIVE_FIBER_FORCE];
    const double passive = out[TAL_MUSCLE_PASSIVE_FIBER_FORCE];
    const double damping = out[TAL_MUSCLE_DAMPING_FORCE];
    const double fiber = out[TAL_MUSCLE_FIBER_STIFFNESS_ALONG_TENDON];
    const double tendon = out[TAL_MUSCLE_TENDON_STIFFNESS];
    const double pairs[][2] = {
        {out[TAL_MUSCLE_FIBER_FORCE], active + passive},
        {out[TAL_MUSCLE_FIBER_FORCE_ALONG_TENDON], (active + passive) * c},
        {out[TAL_MUSCLE_ACTIVE_FIBER_FORCE_ALONG_TENDON], active * c},
        {out[TAL_MUSCLE_PASSIVE_FIBER_FORCE_ALONG_TENDON], passive * c},
        {out[TAL_MUSCLE_FIBER_ALONG_TENDON], out[TAL_MUSCLE_FIBER] * c},
        {out[TAL_MUSCLE_FIBER_SPEED_ALONG_TENDON] * c, speed},
        {out[TAL_MUSCLE_PENNATION_SPEED] * out[TAL_MUSCLE_FIBER],
         -speed * tan(out[TAL_MUSCLE_PENNATION_ANGLE])},
        {cos(out[TAL_MUSCLE_PENNATION_ANGLE]), c},
        {out[TAL_MUSCLE_FIBER_ACTIVE_POWER], -(active + damping) * speed},
        {out[TAL_MUSCLE_FIBER_PASSIVE_POWER], -(passive - damping) * speed},
        {out[TAL_MUSCLE_TENDON_POWER],
         -out[TAL_MUSCLE_TENDON_FORCE] * out[TAL_MUSCLE_TENDON_SPEED]},
        {out[TAL_MUSCLE_POWER], -out[TAL_MUSCLE_TENSION] * out[TAL_MUSCLE_SPEED]},
        {isinf(tendon) ? fiber : 1.0 / (1.0 / fiber + 1.0 / tendon), out[TAL_MUSCLE_STIFFNESS]},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i) {
        ck_assert_double_eq_tol(pairs[i][0], pairs[i][1], 1e-13 * fmax(1.0, fabs(pairs[i][1])));
    }
}

START_TEST(outputs_belong_together)
{
    all it;
    begin(&it);
    tal_measure_ix measures[NUM_KINDS];
    for (int i = 0; i < NUM_KINDS; ++i) {
        measures[i] =
            tal_measure_add_muscle_output(it.m.forces, NULL, it.muscle[i], TAL_MUSCLE_TENDON_FORCE);
    }
    finish(&it);
    for (int i = 0; i < NUM_KINDS; ++i) {
        double out[TAL_NUM_MUSCLE_OUTPUTS];
        model_realize(&it.m, TAL_STAGE_DYNAMICS);
        ck_assert_int_eq(tal_muscle_calc_outputs(it.m.forces, it.m.state, it.muscle[i], out),
                         TAL_OK);
        check_sums(out);
        const double F0 = 2.0;
        ck_assert_double_eq_tol(out[TAL_MUSCLE_FIBER_ALONG_TENDON] + out[TAL_MUSCLE_TENDON],
                                out[TAL_MUSCLE_LENGTH], 1e-12);
        ck_assert_double_eq_tol(out[TAL_MUSCLE_FIBER_SPEED_ALONG_TENDON] +
                                    out[TAL_MUSCLE_TENDON_SPEED],
                                out[TAL_MUSCLE_SPEED], 1e-12);
        ck_assert_double_eq_tol(out[TAL_MUSCLE_FIBER_FORCE_ALONG_TENDON],
                                out[TAL_MUSCLE_TENDON_FORCE], 1e-10 * F0);
        ck_assert_double_eq_tol(out[TAL_MUSCLE_RESIDUAL], 0.0, 1e-10);
        ck_assert_double_eq_tol(out[TAL_MUSCLE_FIBER_ACTIVE_POWER] +
                                    out[TAL_MUSCLE_FIBER_PASSIVE_POWER] +
                                    out[TAL_MUSCLE_TENDON_POWER],
                                out[TAL_MUSCLE_POWER], 1e-10 * F0 * 8.0);
        ck_assert_double_eq_tol(out[TAL_MUSCLE_FIBER_ENERGY] + out[TAL_MUSCLE_TENDON_ENERGY],
                                tal_force_potential_energy(it.m.forces, it.m.state, it.muscle[i]),
                                1e-12);
        ck_assert_double_eq(tal_measure_value(it.m.system, it.m.state, measures[i]),
                            out[TAL_MUSCLE_TENDON_FORCE]);
        ck_assert_double_eq(
            tal_muscle_calc_output(it.m.forces, it.m.state, it.muscle[i], TAL_MUSCLE_EXCITATION),
            0.7);
        ck_assert_double_eq(out[TAL_MUSCLE_ACTIVATION], i == 7 ? 0.7 : 0.45);
        ck_assert_double_gt(out[TAL_MUSCLE_TENDON_FORCE], 0.0);
    }
    model_end(&it.m);
}

START_TEST(every_output_has_a_name_of_its_own)
{
    for (int i = 0; i < TAL_NUM_MUSCLE_OUTPUTS; ++i) {
        const char *name = tal_muscle_output_name((tal_muscle_output)i);
        ck_assert_ptr_nonnull(name);
        for (int k = 0; k < i; ++k) {
            ck_assert_str_ne(name, tal_muscle_output_name((tal_muscle_output)k));
        }
    }
}

START_TEST(outputs_have_units)
{
    static const struct {
        tal_muscle_output output;
        const char *unit;
    } expected[] = {{TAL_MUSCLE_LENGTH, "m"},
                    {TAL_MUSCLE_ACTIVATION, ""},
                    {TAL_MUSCLE_TENDON_FORCE, "N"},
                    {TAL_NUM_MUSCLE_OUTPUTS, ""}};

    for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i) {
        ck_assert_str_eq(tal_muscle_output_unit(expected[i].output), expected[i].unit);
    }
    for (int i = 0; i < TAL_NUM_MUSCLE_OUTPUTS; ++i) {
        const char *const name = tal_muscle_output_name((tal_muscle_output)i);
        const char *const unit = tal_muscle_output_unit((tal_muscle_output)i);
        ck_assert_int_eq(strstr(name, "normalized") != NULL && *unit != '\0', 0);
        ck_assert_int_eq(strstr(name, "_power") != NULL && strcmp(unit, "W") != 0, 0);
    }
}

// Stiffness along the tendon is the slope of the force with everything else held.
START_TEST(stiffness_is_the_slope_of_force)
{
    all it;
    begin(&it);
    finish(&it);
    const tal_force_ix muscle = it.muscle[2]; // Millard, elastic
    const double lf = tal_muscle_calc_output(it.m.forces, it.m.state, muscle, TAL_MUSCLE_FIBER);
    const double k =
        tal_muscle_calc_output(it.m.forces, it.m.state, muscle, TAL_MUSCLE_TENDON_STIFFNESS);
    double tendon[2], force[2];
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(
            tal_muscle_set_fiber(it.m.forces, it.m.state, muscle, lf + (i == 0 ? -1e-6 : 1e-6)),
            TAL_OK);
        model_realize(&it.m, TAL_STAGE_VELOCITY);
        tendon[i] = tal_muscle_calc_output(it.m.forces, it.m.state, muscle, TAL_MUSCLE_TENDON);
        force[i] = tal_muscle_calc_output(it.m.forces, it.m.state, muscle, TAL_MUSCLE_TENDON_FORCE);
    }
    ck_assert_double_eq_tol((force[1] - force[0]) / (tendon[1] - tendon[0]), k, 1e-6 * k);
    model_end(&it.m);
}

START_TEST(an_overridden_muscle_pulls_with_what_it_is_told)
{
    all it;
    begin(&it);
    finish(&it);
    for (int i = 0; i < NUM_KINDS; ++i) {
        ck_assert_int_eq(tal_muscle_override(it.m.forces, it.m.state, it.muscle[i], 3.5), TAL_OK);
        model_realize(&it.m, TAL_STAGE_ACCELERATION);
        double g[MODEL_NU], one[MODEL_NU];
        ck_assert_int_eq(tal_forces_calc_generalized(it.m.forces, it.m.state, &it.muscle[i], 1, g),
                         TAL_OK);
        ck_assert_int_eq(tal_path_calc_generalized(it.m.forces, it.m.state, (tal_path_ix){0}, one),
                         TAL_OK);
        for (int k = 0; k < MODEL_NU; ++k) {
            ck_assert_double_eq_tol(g[k], 3.5 * one[k], 1e-12);
        }
        ck_assert_double_eq(
            tal_muscle_calc_output(it.m.forces, it.m.state, it.muscle[i], TAL_MUSCLE_TENSION), 3.5);
        ck_assert_double_eq(tal_force_potential_energy(it.m.forces, it.m.state, it.muscle[i]), 0.0);
        ck_assert_double_eq(tal_force_dissipated_power(it.m.forces, it.m.state, it.muscle[i]), 0.0);
    }
    for (int k = 0; k < tal_state_nz(it.m.state); ++k) {
        ck_assert_double_eq(tal_state_zdot(it.m.state)[k], 0.0);
    }
    ck_assert_int_eq(tal_muscle_override(it.m.forces, it.m.state, it.muscle[0], (double)NAN),
                     TAL_OK);
    model_realize(&it.m, TAL_STAGE_VELOCITY);
    ck_assert_double_ne(
        tal_muscle_calc_output(it.m.forces, it.m.state, it.muscle[0], TAL_MUSCLE_TENSION), 3.5);
    model_end(&it.m);
}

START_TEST(nothing_allocates)
{
    all it;
    begin(&it);
    finish(&it);
    tal_status st = TAL_OK;
    double out[TAL_NUM_MUSCLE_OUTPUTS];
    test_assert_no_heap({
        tal_state_upd_q(it.m.state)[0] += 0.01;
        st = tal_system_realize(it.m.system, it.m.state, TAL_STAGE_ACCELERATION);
        for (int i = 0; i < NUM_KINDS && st == TAL_OK; ++i) {
            st = tal_muscle_calc_outputs(it.m.forces, it.m.state, it.muscle[i], out);
        }
        if (st == TAL_OK) st = tal_forces_equilibrate_muscles(it.m.forces, it.m.state);
    });
    ck_assert_int_eq(st, TAL_OK);
    model_end(&it.m);
}

START_TEST(an_implicit_muscle_does_what_it_is_told_and_says_how_wrong_that_is)
{
    model m = model_begin();
    tal_muscle_def def = def_of(TAL_MUSCLE_DEGROOTE, add_path(&m, "string"));
    def.implicit = true;
    def.damping = 0.01;
    const tal_force_ix muscle = tal_forces_add_muscle(m.forces, "muscle", &def);
    model_finish(&m);
    const double l = tal_path_length(m.forces, m.state, (tal_path_ix){0});
    const double lengths[] = {0.4 * l, 0.58 * l};
    (void)tal_force_set_params(m.forces, m.state, muscle, TAL_MUSCLE_FIBER_LENGTH, lengths, 2);
    (void)tal_force_set_param(m.forces, m.state, muscle, TAL_MUSCLE_TENDON_FORCE_RATE, 0.25);
    model_realize(&m, TAL_STAGE_ACCELERATION);
    ck_assert_double_eq(tal_state_zdot(m.state)[1], 0.25);
    const double residual = tal_muscle_calc_output(m.forces, m.state, muscle, TAL_MUSCLE_RESIDUAL);
    ck_assert(isfinite(residual) && residual != 0.0);
    model_end(&m);
}

// --- controls ---

static tal_status calc_by_time(const void *self, const tal_force_context *context, int which,
                               double *control)
{
    (void)context;
    *control = *(const double *)self * (which + 1);
    return TAL_OK;
}

static const tal_controller_ops constant_ops = {
    .size = sizeof constant_ops, .name = "constant", .calc_control = calc_by_time};

START_TEST(controllers_add_up_within_the_range)
{
    all it;
    begin(&it);
    model *m = &it.m;
    const tal_mobility at = {m->body[PIN], 0};
    const tal_force_ix motor =
        tal_forces_add_mobility_actuator(m->forces, "motor", at, 2.0, (tal_measure_ix){-1});
    static double tenth = 0.1;
    const tal_force_ix two[] = {motor, it.muscle[0]};
    const tal_controller_ix constant =
        tal_forces_add_controller(m->forces, "constant", two, 2, &constant_ops, &tenth);
    tal_function *ramp = line(0.5, 0.0);
    const tal_controller_ix by_time =
        tal_forces_add_function_controller(m->forces, "ramp", &motor, &ramp, 1);
    const tal_measure_ix wave =
        tal_measure_add_sinusoid(m->system, tal_forces_subsystem(m->forces), "wave", 1.0, 0.0, 1.0);
    (void)tal_forces_add_measure_controller(m->forces, "wave", motor, 3.0, wave);
    const tal_feedback feedback = {at, 4.0, 0.5, line(2.0, 0.1)};
    (void)tal_forces_add_feedback(m->forces, "feedback", motor, &feedback);
    (void)tal_forces_add_reflex(m->forces, "reflex", it.muscle[0], 0.8);
    finish(&it);
    ck_assert_int_eq(tal_forces_num_controllers(m->forces), 5);
    ck_assert_int_eq(tal_forces_find_controller(m->forces, "ramp").i, by_time.i);
    ck_assert_str_eq(tal_controller_name(m->forces, by_time), "ramp");
    ck_assert_int_eq(tal_controller_num_actuators(m->forces, constant), 2);
    ck_assert_int_eq(tal_controller_actuator(m->forces, constant, 1).i, it.muscle[0].i);

    (void)tal_state_set_t(m->state, 0.6);
    (void)tal_actuator_set_control(m->forces, m->state, motor, 0.25);
    model_realize(m, TAL_STAGE_VELOCITY);
    const double q = tal_body_q(m->matter, m->state, m->body[PIN], 0);
    const double u = tal_body_u(m->matter, m->state, m->body[PIN], 0);
    const double expected = 0.25 + 0.1 + 0.3 + 3.0 * sin(1.0) + 4.0 * (1.3 - q) + 0.5 * (2.0 - u);
    ck_assert_double_eq_tol(tal_actuator_control(m->forces, m->state, motor), expected, 1e-14);
    ck_assert_double_eq_tol(tal_actuator_output(m->forces, m->state, motor), 2.0 * expected, 1e-13);
    ck_assert_double_eq_tol(tal_controller_output(m->forces, m->state, by_time, 0), 0.3, 1e-15);

    // a reflex answers to lengthening alone
    const double speed = tal_path_speed(m->forces, m->state, (tal_path_ix){0});
    const double l = tal_path_length(m->forces, m->state, (tal_path_ix){0});
    const double reflex = 0.8 * fmax(speed, 0.0) / (0.4 * l * 4.0);
    (void)tal_muscle_set_control(m->forces, m->state, it.muscle[0], 0.0);
    model_realize(m, TAL_STAGE_VELOCITY);
    ck_assert_double_eq_tol(tal_actuator_control(m->forces, m->state, it.muscle[0]), 0.2 + reflex,
                            1e-12);

    // disabled ones do not count, and the sum stays in its range
    (void)tal_controller_set_enabled(m->forces, m->state, constant, false);
    ck_assert(!tal_controller_is_enabled(m->forces, m->state, constant));
    model_realize(m, TAL_STAGE_VELOCITY);
    ck_assert_double_eq_tol(tal_actuator_control(m->forces, m->state, motor), expected - 0.1,
                            1e-14);
    (void)tal_actuator_set_control_range(m->forces, m->state, motor, -0.2, 0.2);
    model_realize(m, TAL_STAGE_VELOCITY);
    ck_assert_double_eq(tal_actuator_control(m->forces, m->state, motor), 0.2);
    ck_assert_int_eq(tal_actuator_set_control_range(m->forces, m->state, motor, 1.0, -1.0),
                     TAL_ERR_BAD_VALUE);
    model_end(m);
}

static tal_status calc_nan(const void *self, const tal_force_context *context, int which,
                           double *control)
{
    (void)self;
    (void)context;
    (void)which;
    *control = (double)NAN;
    return TAL_OK;
}

static const tal_controller_ops nan_ops = {
    .size = sizeof nan_ops, .name = "nan", .calc_control = calc_nan};

START_TEST(a_controller_without_a_number_is_named)
{
    all it;
    begin(&it);
    (void)tal_forces_add_controller(it.m.forces, "broken", &it.muscle[0], 1, &nan_ops, NULL);
    finish(&it);
    ck_assert_int_eq(tal_system_realize(it.m.system, it.m.state, TAL_STAGE_ACCELERATION),
                     TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(it.m.state)->message, "broken"));
    model_end(&it.m);
}

// Slopes against central differences with a step of 1e-6: round-off gives 1e-10 of the value, and
// third slopes of up to 1e6 (of exponentials with exponents of 100) a sixth of 1e-6. Pieces of
// curves do not meet where they are looked at.
START_TEST(slopes_of_curves_are_those_of_their_values)
{
    all it;
    begin(&it);
    finish(&it);
    int num = 0;
    for (int i = 0; i < NUM_KINDS; ++i) {
        const bool is_rigid = i == 7 || (i < 6 && i % 2 == 1);
        for (int c = 0; c < TAL_NUM_MUSCLE_CURVES; ++c) {
            const tal_muscle_curve which = (tal_muscle_curve)c;
            const bool is_speed = which == TAL_MUSCLE_CURVE_VELOCITY;
            const double from = is_speed ? -0.83 : which == TAL_MUSCLE_CURVE_TENDON ? 1.003 : 0.63;
            const double step = is_speed                           ? 0.2071
                                : which == TAL_MUSCLE_CURVE_TENDON ? 0.0083
                                                                   : 0.107;
            for (int k = 0; k < 8; ++k) {
                const double x = from + k * step, h = 1e-6;
                const double slope = tal_muscle_calc_curve(it.m.forces, it.muscle[i], which, x, 1);
                if (is_rigid && which == TAL_MUSCLE_CURVE_TENDON) {
                    ck_assert(isnan(slope));
                    continue;
                }
                const double above =
                    tal_muscle_calc_curve(it.m.forces, it.muscle[i], which, x + h, 0);
                const double below =
                    tal_muscle_calc_curve(it.m.forces, it.muscle[i], which, x - h, 0);
                const double expected = (above - below) / (2.0 * h);
                ck_assert_msg(fabs(slope - expected) <= 1e-6 * fmax(1.0, fabs(expected)),
                              "muscle %d, curve %d at %g: %g, %g", i, c, x, slope, expected);
                if (is_speed) ck_assert_double_gt(slope, 0.01); // faster: more force
                ++num;
            }
        }
    }
    ck_assert_int_eq(num, (NUM_KINDS * TAL_NUM_MUSCLE_CURVES - 4) * 8);
    model_end(&it.m);
}

// --- mistakes ---

static void check_refused(tal_muscle_def def, const char *part)
{
    model m = model_begin();
    const tal_path_ix path = add_path(&m, "string");
    if (def.path.i == 0) def.path = path;
    ck_assert_int_lt(tal_forces_add_muscle(m.forces, "biceps", &def).i, 0);
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_ne(model_refuse(&m, &err), TAL_OK);
    ck_assert_msg(strstr(err.message, part) != NULL && strstr(err.message, "biceps") != NULL, "%s",
                  err.message);
}

// Whichever of a list of actuators it is: the second one here.
START_TEST(a_controller_names_the_force_that_it_cannot_drive)
{
    static double tenth = 0.1;
    for (int k = 0; k < 4; ++k) {
        all it;
        begin(&it);
        const tal_force_ix spring = tal_forces_add_mobility_spring(
            it.m.forces, "coil", (tal_mobility){it.m.body[PIN], 0}, 1.0, 0.0);
        const tal_force_ix wrong[] = {spring, {-1}, {1000}, {spring.i + 1}};
        const tal_force_ix list[] = {it.muscle[0], wrong[k]};
        const tal_controller_ix none =
            tal_forces_add_controller(it.m.forces, "constant", list, 2, &constant_ops, &tenth);
        ck_assert_int_lt(none.i, 0);
        char says[100];
        snprintf(says, sizeof says, "controller 'constant' cannot drive force %d (%s)", wrong[k].i,
                 k == 0 ? "coil" : "there is none");
        tal_error err = {TAL_OK, "", ""};
        ck_assert_int_eq(model_refuse(&it.m, &err), TAL_ERR_BAD_INDEX);
        ck_assert_msg(strstr(err.message, says) != NULL, "%s", err.message);
    }
}

START_TEST(bad_muscles_are_refused_by_name)
{
    const tal_path_ix path = {0};
    tal_muscle_def def = def_of(TAL_MUSCLE_THELEN, path);
    def.max_force = 0.0;
    check_refused(def, "max force is 0");
    def = def_of(TAL_MUSCLE_THELEN, path);
    def.damping = 0.1;
    check_refused(def, "no damping");
    def = def_of(TAL_MUSCLE_THELEN, path);
    def.min_activation = 0.0;
    check_refused(def, "min activation is 0");
    def = def_of(TAL_MUSCLE_MILLARD, path);
    def.tendon_length = 0.0;
    check_refused(def, "tendon length is 0");
    def.fiber_length = (double)NAN;
    check_refused(def, "fiber length is nan");
    def = def_of(TAL_MUSCLE_MILLARD, path);
    def.pennation = 1.55;
    check_refused(def, "pennation is above");
    def = def_of(TAL_MUSCLE_MILLARD, (tal_path_ix){7});
    check_refused(def, "there is no path 7");
    def = def_of(TAL_MUSCLE_MILLARD, path);
    def.implicit = true;
    check_refused(def, "implicit");
    def = def_of(TAL_MUSCLE_CURVES, path);
    check_refused(def, "active is NULL");
    def = def_of(TAL_MUSCLE_CURVES, path);
    def.active = def.velocity = def.passive = line(1.0, 0.0); // one function for three
    check_refused(def, "NULL or the same");
    for (int missing = 0; missing < 3; ++missing) { // each of the three, the others being good
        static const char *const says[] = {"active is NULL", "velocity is NULL", "passive is NULL"};
        def = def_of(TAL_MUSCLE_CURVES, path);
        def.active = missing != 0 ? parabola(-1.0, 2.0, 0.0) : NULL;
        def.velocity = missing != 1 ? line(0.5, 1.0) : NULL;
        def.passive = missing != 2 ? parabola(0.5, -1.0, 0.6) : NULL;
        check_refused(def, says[missing]);
    }
    def = def_of(TAL_MUSCLE_DEGROOTE, path);
    def.control.i = 99;
    check_refused(def, "measure 99");
}

START_TEST(a_path_shorter_than_its_tendon_is_told_or_slack)
{
    model m = model_begin();
    const tal_path_ix path = add_path(&m, "string");
    tal_muscle_def def = def_of(TAL_MUSCLE_DEGROOTE, path);
    def.tendon_length = 1000.0;
    (void)tal_forces_add_muscle(m.forces, "degroote", &def);
    def = def_of(TAL_MUSCLE_MILLARD, path);
    def.tendon_length = 1000.0;
    const tal_force_ix slack = tal_forces_add_muscle(m.forces, "slack", &def);
    model_finish(&m);
    tal_muscle_equilibrium how;
    ck_assert_int_eq(tal_muscle_equilibrate(m.forces, m.state, slack, true, &how), TAL_OK);
    ck_assert_int_eq(how, TAL_MUSCLE_AT_SHORTEST);
    model_realize(&m, TAL_STAGE_VELOCITY);
    ck_assert_double_eq(tal_muscle_calc_output(m.forces, m.state, slack, TAL_MUSCLE_TENSION), 0.0);
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_ACCELERATION),
                     TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(m.state)->message, "muscle 'degroote'"));
    model_end(&m);
}

START_TEST(a_table_drives_one_actuator_with_each_column)
{
    model m = model_begin();
    tal_force_ix motors[2];
    for (int i = 0; i < 2; ++i) {
        motors[i] = tal_forces_add_mobility_actuator(m.forces, NULL, (tal_mobility){m.body[PIN], 0},
                                                     1.0, (tal_measure_ix){-1});
    }
    const double times[] = {0.0, 1.0, 2.0};
    const double values[] = {0.0, 5.0, 0.5, 7.0, 0.25, 1.0};
    (void)tal_forces_add_table_controller(m.forces, "lines", motors, 2, times, values, 3,
                                          TAL_NODES_LINEAR);
    (void)tal_forces_add_table_controller(m.forces, "steps", motors, 1, times, times, 3,
                                          TAL_NODES_STEPS);
    model_finish(&m);

    const struct {
        double t, x[2];
    } cases[] = {{-1.0, {0.0, 5.0}}, {0.5, {0.25 + 1.0, 6.0}}, {3.0, {0.25 + 2.0, 1.0}}};

    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        (void)tal_state_set_t(m.state, cases[k].t);
        model_realize(&m, TAL_STAGE_VELOCITY);
        for (int i = 0; i < 2; ++i) { // sums and means of small binary fractions: exact
            ck_assert_double_eq(tal_actuator_control(m.forces, m.state, motors[i]), cases[k].x[i]);
        }
    }
    model_end(&m);
}

START_TEST(a_table_that_goes_back_in_time_is_refused_by_name)
{
    model m = model_begin();
    const tal_force_ix motor = tal_forces_add_mobility_actuator(
        m.forces, NULL, (tal_mobility){m.body[PIN], 0}, 1.0, (tal_measure_ix){-1});
    const double times[] = {0.0, 1.0, 0.5};
    (void)tal_forces_add_table_controller(m.forces, "back", &motor, 1, times, times, 3,
                                          TAL_NODES_LINEAR);
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_ne(model_refuse(&m, &err), TAL_OK);
    ck_assert_ptr_nonnull(strstr(err.message, "controller 'back'"));
}

START_TEST(controllers_that_drive_nothing_are_refused_by_name)
{
    model m = model_begin();
    const tal_force_ix gravity = tal_forces_add_gravity(m.forces, tal_v3(0.0, -9.8, 0.0));
    tal_function *f = line(1.0, 0.0);
    (void)tal_forces_add_function_controller(m.forces, "pull", &gravity, &f, 1);
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_INDEX);
    ck_assert_ptr_nonnull(strstr(err.message, "controller 'pull' cannot drive force 0"));
}

int main(void)
{
    Suite *suite = suite_create("forces/muscle");
    TCase *tc = tcase_create("as an element");
    tcase_add_test(tc, every_muscle_agrees_with_itself);
    tcase_add_test(tc, outputs_belong_together);
    tcase_add_test(tc, every_output_has_a_name_of_its_own);
    tcase_add_test(tc, outputs_have_units);
    tcase_add_test(tc, stiffness_is_the_slope_of_force);
    tcase_add_test(tc, an_overridden_muscle_pulls_with_what_it_is_told);
    tcase_add_test(tc, nothing_allocates);
    tcase_add_test(tc, an_implicit_muscle_does_what_it_is_told_and_says_how_wrong_that_is);
    suite_add_tcase(suite, tc);

    tc = tcase_create("controls");
    tcase_add_test(tc, controllers_add_up_within_the_range);
    tcase_add_test(tc, a_controller_without_a_number_is_named);
    tcase_add_test(tc, a_table_drives_one_actuator_with_each_column);
    tcase_add_test(tc, a_table_that_goes_back_in_time_is_refused_by_name);
    suite_add_tcase(suite, tc);

    tc = tcase_create("mistakes");
    tcase_add_test(tc, slopes_of_curves_are_those_of_their_values);
    tcase_add_test(tc, bad_muscles_are_refused_by_name);
    tcase_add_test(tc, a_controller_names_the_force_that_it_cannot_drive);
    tcase_add_test(tc, a_path_shorter_than_its_tendon_is_told_or_slack);
    tcase_add_test(tc, controllers_that_drive_nothing_are_refused_by_name);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
