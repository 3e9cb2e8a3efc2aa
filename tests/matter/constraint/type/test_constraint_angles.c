// matter/src/constraint/type/constraint_angles.c: equations on coordinates whose rates are not
// speeds; and constraints of a user's own on many mobilities.
#include "talus_test.h"

#include <talus/matter.h>

#include <math.h>

typedef struct fixture {
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
    tal_body_ix ball, free, pin;
    test_rng rng;
} fixture;

typedef tal_constraint_ix (*adder)(fixture *f);

static tal_mobod_def link(test_rng *rng, bool use_angles)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = test_random_mass_props(rng);
    def.X_PF = test_random_xform(rng);
    def.X_BM = test_random_xform(rng);
    def.use_angles = use_angles;
    return def;
}

static fixture begin(bool use_angles, tal_direction direction)
{
    fixture f = {.system = tal_system_create(NULL), .rng = test_rng_seed(31)};
    f.matter = tal_matter_create(f.system);
    tal_mobod_def def = link(&f.rng, use_angles);
    def.direction = direction;
    f.ball = tal_matter_add_ball(f.matter, TAL_GROUND, &def);
    def = link(&f.rng, use_angles);
    def.direction = direction;
    f.free = tal_matter_add_free(f.matter, f.ball, &def);
    def = link(&f.rng, use_angles);
    f.pin = tal_matter_add_pin(f.matter, f.free, &def);
    return f;
}

static void finish(fixture *f)
{
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(f->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(f->system, &f->state, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_system_realize(f->system, f->state, TAL_STAGE_MODEL), TAL_OK);
}

static void end(fixture *f)
{
    tal_state_destroy(f->state);
    tal_system_destroy(f->system);
}

static void shake(fixture *f)
{
    const tal_body_ix bodies[3] = {f->ball, f->free, f->pin};
    for (int b = 0; b < 3; ++b) {
        for (int i = 0; i < tal_body_nq(f->matter, f->state, bodies[b]); ++i) {
            const double q = test_random_uniform(&f->rng, 0.2, 1.0);
            ck_assert_int_eq(tal_body_set_q(f->matter, f->state, bodies[b], i, q), TAL_OK);
        }
        for (int i = 0; i < tal_body_nu(f->matter, bodies[b]); ++i) {
            const double u = test_random_uniform(&f->rng, -1.0, 1.0);
            ck_assert_int_eq(tal_body_set_u(f->matter, f->state, bodies[b], i, u), TAL_OK);
        }
    }
    ck_assert_int_eq(tal_matter_normalize_quaternions(f->matter, f->state), TAL_OK);
}

// ---- the constraints ----------------------------------------------------------------------------

static tal_constraint_ix angle_of_ball(fixture *f)
{
    const tal_constraint_def def = tal_constraint_on(f->ball, 1);
    return tal_constraint_add_constant_coordinate(f->matter, &def, 0.3);
}

static tal_constraint_ix angle_of_free(fixture *f)
{
    const tal_constraint_def def = tal_constraint_on(f->free, 2);
    return tal_constraint_add_constant_coordinate(f->matter, &def, 0.4);
}

static tal_constraint_ix y_of_free(fixture *f)
{
    const tal_constraint_def def = tal_constraint_on(f->free, 4);
    return tal_constraint_add_constant_coordinate(f->matter, &def, 0.5);
}

// Two angles of the ball, a distance and a pin, by a function that bends.
static tal_constraint_ix coupled(fixture *f)
{
    tal_constraint_def def = tal_constraint_def_default();
    def.mobilities[0] = (tal_mobility){f->ball, 0};
    def.mobilities[1] = (tal_mobility){f->pin, 0};
    def.mobilities[2] = (tal_mobility){f->ball, 2};
    def.mobilities[3] = (tal_mobility){f->free, 3};
    def.num_mobilities = 4;
    const double slope[4] = {0.7, -1.1, 0.4, 0.9}, cubic[4] = {0.2, -0.3, 1.0, 0.5};
    tal_function *line = NULL, *bend = NULL, *whole = NULL;
    ck_assert_int_eq(tal_function_create_linear(NULL, slope, 4, -0.2, &line, NULL), TAL_OK);
    ck_assert_int_eq(tal_function_create_polynomial(NULL, cubic, 4, &bend, NULL), TAL_OK);
    ck_assert_int_eq(tal_function_create_composition(NULL, bend, &line, 1, &whole, NULL), TAL_OK);
    return tal_constraint_add_coordinate_coupler(f->matter, &def, whole);
}

static tal_constraint_ix swung(fixture *f)
{
    const tal_constraint_def def = tal_constraint_on(f->ball, 0);
    tal_function *wave = NULL;
    ck_assert_int_eq(tal_function_create_sinusoid(NULL, 0.5, 1.3, 0.2, &wave, NULL), TAL_OK);
    return tal_constraint_add_prescribed_motion(f->matter, &def, wave);
}

static const adder on_angles[] = {angle_of_ball, angle_of_free, coupled, swung};

// Differences of q along N u against G: speeds up to some 5, so 1e-11 times 25.
static void assert_agrees(fixture *f, tal_constraint_ix constraint)
{
    tal_constraint_report report;
    tal_error err = {0};
    const tal_status st = tal_constraint_test(f->matter, f->state, constraint, &report, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    ck_assert_msg(report.worst < 3e-10, "verr %g aerr %g linear %g forces %g", report.verr,
                  report.aerr, report.linear, report.forces);
}

START_TEST(equations_on_angles_agree_with_themselves)
{
    for (size_t i = 0; i < sizeof on_angles / sizeof *on_angles; ++i) {
        for (int direction = 0; direction < 2; ++direction) {
            fixture f = begin(true, direction == 0 ? TAL_FORWARD : TAL_REVERSE);
            const tal_constraint_ix constraint = on_angles[i](&f);
            finish(&f);
            for (int round = 0; round < 5; ++round) {
                shake(&f);
                assert_agrees(&f, constraint);
            }
            end(&f);
        }
    }
}

END_TEST

START_TEST(a_distance_of_a_free_body_is_a_coordinate_whatever_describes_its_orientation)
{
    for (int use_angles = 0; use_angles < 2; ++use_angles) {
        fixture f = begin(use_angles == 1, TAL_FORWARD);
        const tal_constraint_ix constraint = y_of_free(&f);
        finish(&f);
        shake(&f);
        assert_agrees(&f, constraint);
        tal_project_options options = tal_project_options_default();
        options.tolerance = 1e-13;
        ck_assert_int_eq(tal_system_realize(f.system, f.state, TAL_STAGE_POSITION), TAL_OK);
        ck_assert_int_eq(tal_system_project_q(f.system, f.state, &options, NULL, NULL), TAL_OK);
        const int at = use_angles == 1 ? 4 : 5;
        ck_assert_double_eq_tol(tal_body_q(f.matter, f.state, f.free, at), 0.5, 1e-12);
        end(&f);
    }
}

END_TEST

START_TEST(projection_brings_angles_to_their_values)
{
    fixture f = begin(true, TAL_FORWARD);
    (void)angle_of_ball(&f);
    (void)angle_of_free(&f);
    finish(&f);
    shake(&f);
    tal_project_options options = tal_project_options_default();
    options.tolerance = 1e-13;
    ck_assert_int_eq(tal_system_realize(f.system, f.state, TAL_STAGE_POSITION), TAL_OK);
    ck_assert_int_eq(tal_system_project_q(f.system, f.state, &options, NULL, NULL), TAL_OK);
    ck_assert_double_eq_tol(tal_body_q(f.matter, f.state, f.ball, 1), 0.3, 1e-12);
    ck_assert_double_eq_tol(tal_body_q(f.matter, f.state, f.free, 2), 0.4, 1e-12);
    ck_assert_int_eq(tal_system_realize(f.system, f.state, TAL_STAGE_VELOCITY), TAL_OK);
    ck_assert_int_eq(tal_system_project_u(f.system, f.state, &options, NULL, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(f.system, f.state, TAL_STAGE_ACCELERATION), TAL_OK);
    const int q0 = tal_body_q_start(f.matter, f.state, f.ball);
    ck_assert_double_eq_tol(tal_state_qdot(f.state)[q0 + 1], 0.0, 1e-12);
    ck_assert_double_eq_tol(tal_state_qdotdot(f.state)[q0 + 1], 0.0, 1e-10);
    end(&f);
}

END_TEST

START_TEST(an_angle_while_there_is_a_quaternion_is_refused_by_name)
{
    fixture f = begin(false, TAL_FORWARD);
    const tal_constraint_ix constraint = angle_of_ball(&f);
    finish(&f);
    ck_assert_int_eq(tal_system_realize(f.system, f.state, TAL_STAGE_INSTANCE), TAL_ERR_BAD_VALUE);
    const char *const message = tal_state_error(f.state)->message;
    ck_assert_msg(strstr(message, "coordinate 1 of body 'body1' is an angle") != NULL, "%s",
                  message);
    tal_state_clear_error(f.state);
    ck_assert_int_eq(tal_constraint_set_enabled(f.matter, f.state, constraint, false), TAL_OK);
    ck_assert_int_eq(tal_system_realize(f.system, f.state, TAL_STAGE_ACCELERATION), TAL_OK);
    ck_assert_int_eq(tal_constraint_set_enabled(f.matter, f.state, constraint, true), TAL_OK);
    ck_assert_int_eq(tal_body_set_use_angles(f.matter, f.state, f.ball, true), TAL_OK);
    ck_assert_int_eq(tal_system_realize(f.system, f.state, TAL_STAGE_ACCELERATION), TAL_OK);
    end(&f);
}

END_TEST

START_TEST(angles_of_lines_are_refused_by_name)
{
    fixture f = begin(true, TAL_FORWARD);
    const tal_mobod_def def = link(&f.rng, true);
    const tal_body_ix line = tal_matter_add_line_orientation(f.matter, TAL_GROUND, &def);
    const tal_constraint_def on = tal_constraint_on(line, 0);
    ck_assert_int_lt(tal_constraint_add_constant_coordinate(f.matter, &on, 0.0).i, 0);
    const char *const message = tal_system_error(f.system)->message;
    ck_assert_msg(strstr(message, "speed 0 of body 'body4' (line orientation) is not the rate") !=
                      NULL,
                  "%s", message);
    tal_system_destroy(f.system);
}

END_TEST

// ---- a constraint of a user's own on many mobilities --------------------------------------------

enum {
    MANY = 200
};

// Sliders with the masses 1 + i / 100 and springs with the stiffness 2, along which nothing acts:
// verr = E - E0, the energy of all of them.
static double mass_at(int i)
{
    return 1.0 + 0.01 * i;
}

static tal_status calc_energy(const void *self, const tal_constraint_arg *arg, double verr[])
{
    (void)self;
    double energy = 0.0;
    for (int i = 0; i < arg->num_mobilities; ++i) {
        energy += 0.5 * mass_at(i) * arg->u[i] * arg->u[i] + arg->q[i] * arg->q[i];
    }
    verr[0] = energy - arg->params[0];
    return TAL_OK;
}

static tal_status calc_power(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    (void)self;
    aerr[0] = 0.0;
    for (int i = 0; i < arg->num_mobilities; ++i) {
        aerr[0] += mass_at(i) * arg->u[i] * arg->udot[i] + 2.0 * arg->q[i] * arg->u[i];
    }
    return TAL_OK;
}

static tal_status add_energy_forces(const void *self, const tal_constraint_arg *arg,
                                    const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)F;
    for (int i = 0; i < arg->num_mobilities; ++i) {
        f[i] += lambda[0] * mass_at(i) * arg->u[i];
    }
    return TAL_OK;
}

static const tal_constraint_ops energy_ops = {.size = sizeof energy_ops,
                                              .name = "energy",
                                              .mv = 1,
                                              .num_mobilities = -1,
                                              .num_params = 1,
                                              .forces_need_velocity = true,
                                              .calc_v = calc_energy,
                                              .calc_a = calc_power,
                                              .add_forces = add_energy_forces};

START_TEST(a_constraint_holds_the_energy_of_200_mobilities)
{
    fixture f = {.system = tal_system_create(NULL), .rng = test_rng_seed(200)};
    f.matter = tal_matter_create(f.system);
    tal_mobility list[MANY];
    for (int i = 0; i < MANY; ++i) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = tal_mass_props_point(mass_at(i), TAL_VEC3_ZERO);
        list[i] = (tal_mobility){tal_matter_add_slider(f.matter, TAL_GROUND, &def), 0};
    }
    tal_constraint_def def = tal_constraint_def_default();
    def.mobility_list = list;
    def.num_mobilities = MANY;
    const double energy = 150.0;
    const tal_constraint_ix held =
        tal_matter_add_constraint(f.matter, &def, &energy_ops, NULL, &energy);
    finish(&f);
    for (int i = 0; i < MANY; ++i) {
        (void)tal_body_set_q(f.matter, f.state, list[i].body, 0,
                             test_random_uniform(&f.rng, -1.0, 1.0));
        (void)tal_body_set_u(f.matter, f.state, list[i].body, 0,
                             test_random_uniform(&f.rng, -1.0, 1.0));
    }
    tal_project_options options = tal_project_options_default();
    options.tolerance = 1e-12;
    ck_assert_int_eq(tal_system_realize(f.system, f.state, TAL_STAGE_VELOCITY), TAL_OK);
    ck_assert_int_eq(tal_system_project_u(f.system, f.state, &options, NULL, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(f.system, f.state, TAL_STAGE_ACCELERATION), TAL_OK);
    ck_assert_double_eq_tol(tal_state_uerr(f.state)[0], 0.0, 1e-10);
    ck_assert_double_eq_tol(tal_state_udoterr(f.state)[0], 0.0, 1e-10);
    assert_agrees(&f, held);

    // M udot = -lambda m u: all accelerations are the same multiple of the speeds
    const double *const u = tal_state_u(f.state), *const udot = tal_state_udot(f.state);
    for (int i = 1; i < MANY; ++i) {
        ck_assert_double_eq_tol(udot[i] * u[0], udot[0] * u[i], 1e-12);
    }
    end(&f);
}

END_TEST

int main(void)
{
    Suite *const suite = suite_create("constraint_angles");
    TCase *const theory = tcase_create("theory");
    tcase_add_test(theory, equations_on_angles_agree_with_themselves);
    tcase_add_test(theory,
                   a_distance_of_a_free_body_is_a_coordinate_whatever_describes_its_orientation);
    tcase_add_test(theory, projection_brings_angles_to_their_values);
    tcase_add_test(theory, a_constraint_holds_the_energy_of_200_mobilities);
    suite_add_tcase(suite, theory);
    TCase *const errors = tcase_create("errors");
    tcase_add_test(errors, an_angle_while_there_is_a_quaternion_is_refused_by_name);
    tcase_add_test(errors, angles_of_lines_are_refused_by_name);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
