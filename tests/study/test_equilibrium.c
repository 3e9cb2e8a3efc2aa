// Equilibria and inverse statics against closed forms.
#include "talus_test.h"

#include <talus/study.h>

#include <math.h>

static const double G = 9.81;
static const double PI = 3.14159265358979323846;

typedef struct model {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    tal_equilibrium *eq;
} model;

static model begin_model(void)
{
    model m = {.system = tal_system_create(NULL)};
    m.matter = tal_matter_create(m.system);
    m.forces = tal_forces_create(m.system, m.matter);
    (void)tal_forces_add_gravity(m.forces, tal_v3(0.0, -G, 0.0));
    return m;
}

static void finish_model(model *m, const tal_equilibrium_def *def)
{
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(m->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(m->system, &m->state, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_equilibrium_create(m->system, def, &m->eq, &err) == TAL_OK, "%s",
                  err.message);
}

static void end_model(model *m)
{
    tal_equilibrium_destroy(m->eq);
    tal_state_destroy(m->state);
    tal_system_destroy(m->system);
}

static tal_rest find(model *m)
{
    tal_rest rest;
    const tal_status st = tal_equilibrium_find(m->eq, m->state, &rest);
    ck_assert_msg(st == TAL_OK, "%s", tal_equilibrium_error(m->eq)->message);
    return rest;
}

static double q_of(const model *m, tal_body_ix body)
{
    return tal_body_q(m->matter, m->state, body, 0);
}

// A point mass of 2 kg at 0.5 m below a pin about z.
static tal_body_ix add_pendulum(model *m)
{
    tal_mobod_def link = tal_mobod_def_default();
    link.mass = tal_mass_props_point(2.0, tal_v3(0.0, -0.5, 0.0));
    return tal_matter_add_pin(m->matter, TAL_GROUND, &link);
}

// The last step is below 1e-9, and Newton's method squares errors: 1e-9 is far more than is left.
START_TEST(a_pendulum_comes_to_rest_below_from_nearly_above)
{
    model m = begin_model();
    const tal_body_ix body = add_pendulum(&m);
    finish_model(&m, NULL);
    ck_assert_int_eq(tal_body_set_q(m.matter, m.state, body, 0, 3.1), TAL_OK);
    ck_assert_int_eq(tal_body_set_u(m.matter, m.state, body, 0, 5.0), TAL_OK);
    const tal_rest rest = find(&m);
    ck_assert_double_lt(fabs(remainder(q_of(&m, body), 2.0 * PI)), 1e-9);
    ck_assert(rest.is_stable);
    ck_assert_double_lt(rest.udot, 1e-8);
    ck_assert_double_eq(tal_body_u(m.matter, m.state, body, 0), 0.0);
    end_model(&m);
}

END_TEST

START_TEST(any_equilibrium_near_the_top_is_the_top)
{
    tal_equilibrium_def def = tal_equilibrium_def_default();
    def.kind = TAL_EQUILIBRIUM_ANY;
    model m = begin_model();
    const tal_body_ix body = add_pendulum(&m);
    finish_model(&m, &def);
    ck_assert_int_eq(tal_body_set_q(m.matter, m.state, body, 0, 2.9), TAL_OK);
    const tal_rest rest = find(&m);
    ck_assert_double_eq_tol(q_of(&m, body), PI, 1e-9);
    ck_assert(!rest.is_stable);
    end_model(&m);
}

END_TEST

// A constant torque has no potential energy to report, and still counts: sin(q) = T / (m g l).
START_TEST(forces_along_speeds_count_with_their_sign)
{
    model m = begin_model();
    const tal_body_ix body = add_pendulum(&m);
    (void)tal_forces_add_mobility_force(m.forces, NULL, (tal_mobility){body, 0}, 4.0);
    finish_model(&m, NULL);
    (void)find(&m);
    ck_assert_double_eq_tol(q_of(&m, body), asin(4.0 / (2.0 * G * 0.5)), 1e-9);
    end_model(&m);
}

END_TEST

// Three links between two points of Ground 1.8 apart hang as a trapezoid: by symmetry the middle link
// is level, and the outer ones go down with cos(a) = (1.8 - 1) / 2.
START_TEST(a_hanging_chain_between_two_points_is_symmetric)
{
    model m = begin_model();
    tal_mobod_def link = tal_mobod_def_default();
    link.mass = (tal_mass_props){1.0, {0.5, 0.0, 0.0}, tal_s3_diag(0.0, 1.0 / 3.0, 1.0 / 3.0)};
    tal_body_ix body = TAL_GROUND;
    tal_body_ix links[3];
    for (int i = 0; i < 3; ++i) {
        link.X_PF = tal_xf_from_p(tal_v3(i == 0 ? 0.0 : 1.0, 0.0, 0.0));
        links[i] = body = tal_matter_add_pin(m.matter, body, &link);
    }
    tal_constraint_def ends = tal_constraint_def_default();
    ends.name = "hook";
    ends.bodies[0] = TAL_GROUND;
    ends.bodies[1] = body;
    (void)tal_constraint_add_ball(m.matter, &ends, tal_v3(1.8, 0.0, 0.0), tal_v3(1.0, 0.0, 0.0));
    finish_model(&m, NULL);
    ck_assert_int_eq(tal_equilibrium_find(m.eq, m.state, NULL), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_equilibrium_error(m.eq)->message, "assemble"));

    tal_assembler *assembler = NULL;
    ck_assert_int_eq(tal_assembler_create(m.system, NULL, &assembler, NULL), TAL_OK);
    const double start[] = {-0.3, -0.9, 2.2};
    ck_assert_int_eq(tal_state_set_q(m.state, start, 3), TAL_OK);
    ck_assert_int_eq(tal_assembler_assemble(assembler, m.state, NULL), TAL_OK);
    const tal_rest rest = find(&m);
    const double a = acos(0.4);
    ck_assert(rest.is_stable);
    ck_assert_double_eq_tol(q_of(&m, links[0]), -a, 1e-8);
    ck_assert_double_eq_tol(q_of(&m, links[1]), a, 1e-8);
    ck_assert_double_eq_tol(q_of(&m, links[2]), a, 1e-8);
    tal_assembler_destroy(assembler);
    end_model(&m);
}

END_TEST

// A body that falls has no rest: the State stays as it was.
START_TEST(what_falls_for_ever_is_reported_by_name)
{
    model m = begin_model();
    tal_mobod_def def = tal_mobod_def_default();
    def.name = "stone";
    def.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_translation(m.matter, TAL_GROUND, &def);
    finish_model(&m, NULL);
    const tal_status st = tal_equilibrium_find(m.eq, m.state, NULL);
    ck_assert_int_eq(st, TAL_ERR_NO_CONVERGENCE);
    ck_assert_ptr_nonnull(strstr(tal_equilibrium_error(m.eq)->message, "'stone'"));
    ck_assert_double_eq(tal_body_q(m.matter, m.state, body, 1), 0.0);
    end_model(&m);
}

END_TEST

// Nothing stiff stands against what pushes a body that falls, and a pendulum on a ball that is level: no step is
// worth taking in search of any equilibrium, and yet they are not at rest.
START_TEST(no_step_to_take_is_not_rest)
{
    tal_equilibrium_def def = tal_equilibrium_def_default();
    def.kind = TAL_EQUILIBRIUM_ANY;
    for (int k = 0; k < 2; ++k) {
        model m = begin_model();
        tal_mobod_def bob = tal_mobod_def_default();
        bob.mass = tal_mass_props_point(1.0, tal_v3(0.0, -0.1, 0.0));
        bob.mass.inertia = tal_s3_add(bob.mass.inertia, TAL_SYM3_IDENTITY);
        bob.name = "bob";
        if (k == 0) (void)tal_matter_add_free(m.matter, TAL_GROUND, &bob);
        if (k == 1) (void)tal_matter_add_ball(m.matter, TAL_GROUND, &bob);
        finish_model(&m, &def);
        const double level[4] = {0.5, 0.5, 0.5, 0.5}; // x to y, y to z, z to x
        if (k == 1) tal_state_set_q(m.state, level, 4);
        ck_assert_int_eq(tal_equilibrium_find(m.eq, m.state, NULL), TAL_ERR_NO_CONVERGENCE);
        const char *message = tal_equilibrium_error(m.eq)->message;
        ck_assert_msg(strstr(message, "'bob' still has udot") != NULL, "%s", message);
        end_model(&m);
    }
}

END_TEST

// An arm of two links of 1 m with point masses at their ends, held level: torques (m1 + 2 m2) g at
// the shoulder, m2 g at the elbow.
START_TEST(inverse_statics_gives_the_torques_that_hold_an_arm)
{
    model m = begin_model();
    tal_mobod_def link = tal_mobod_def_default();
    link.mass = tal_mass_props_point(2.0, tal_v3(1.0, 0.0, 0.0));
    const tal_body_ix upper = tal_matter_add_pin(m.matter, TAL_GROUND, &link);
    link.mass = tal_mass_props_point(3.0, tal_v3(1.0, 0.0, 0.0));
    link.X_PF = tal_xf_from_p(tal_v3(1.0, 0.0, 0.0));
    (void)tal_matter_add_pin(m.matter, upper, &link);
    finish_model(&m, NULL);
    const bool both[] = {true, true}, one[] = {true, false};
    double tau[2];
    tal_actuation actuation;
    ck_assert_int_eq(tal_equilibrium_inverse_statics(m.eq, m.state, both, tau, &actuation), TAL_OK);
    const double wanted[] = {(2.0 + 2.0 * 3.0) * G, 3.0 * G};
    test_assert_near(tau, wanted, 2, 1e-12 * wanted[0], "tau");
    ck_assert_int_eq(actuation, TAL_ACTUATION_PROPER);
    ck_assert_int_eq(tal_equilibrium_inverse_statics(m.eq, m.state, one, tau, &actuation), TAL_OK);
    ck_assert_int_eq(actuation, TAL_ACTUATION_UNDER);
    end_model(&m);
}

END_TEST

// --- forces that have no rest ---

// Along the first speed: 1 at q = 0, and elsewhere 2, back towards it; NaN where it has snapped.
static tal_status apply_jump(const void *self, const tal_force_context *context,
                             tal_spatial_vec F[], double f[])
{
    (void)F;
    const double q = tal_state_q(context->state)[0];
    f[0] += q > *(const double *)self ? (double)NAN : q == 0.0 ? 1.0 : q < 0.0 ? 2.0 : -2.0;
    return TAL_OK;
}

static const tal_force_ops jump_ops = {
    .size = sizeof jump_ops, .name = "jump", .apply = apply_jump};

static model on_a_jump(double *snaps_at, const tal_equilibrium_def *def)
{
    model m = {.system = tal_system_create(NULL)};
    m.matter = tal_matter_create(m.system);
    m.forces = tal_forces_create(m.system, m.matter);
    tal_mobod_def body = tal_mobod_def_default();
    body.name = "cart";
    body.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    (void)tal_matter_add_slider(m.matter, TAL_GROUND, &body);
    (void)tal_forces_add(m.forces, NULL, &jump_ops, snaps_at);
    finish_model(&m, def);
    return m;
}

// Nothing is ever smaller, or downhill, than where the force jumps.
START_TEST(where_no_step_helps_the_body_is_named)
{
    double never = (double)INFINITY;
    for (int any = 0; any < 2; ++any) {
        tal_equilibrium_def def = tal_equilibrium_def_default();
        def.kind = any != 0 ? TAL_EQUILIBRIUM_ANY : TAL_EQUILIBRIUM_STABLE;
        def.accuracy = 1e-300;
        model m = on_a_jump(&never, &def);
        ck_assert_int_eq(tal_equilibrium_find(m.eq, m.state, NULL), TAL_ERR_NO_CONVERGENCE);
        const char *message = tal_equilibrium_error(m.eq)->message;
        ck_assert_ptr_nonnull(strstr(message, "'cart'"));
        ck_assert_ptr_nonnull(strstr(message, "no step"));
        ck_assert_double_eq(tal_state_q(m.state)[0], 0.0);
        end_model(&m);
    }
}

END_TEST

START_TEST(forces_that_are_not_finite_are_reported)
{
    double here = -1.0;
    model m = on_a_jump(&here, NULL);
    ck_assert_int_eq(tal_equilibrium_find(m.eq, m.state, NULL), TAL_ERR_NOT_FINITE);
    ck_assert_int_gt((int)strlen(tal_equilibrium_error(m.eq)->message), 10);
    end_model(&m);
}

END_TEST

// A pendulum that is locked, and a System of Ground alone, rest wherever they are.
START_TEST(what_cannot_move_is_at_rest)
{
    model m = begin_model();
    const tal_body_ix body = add_pendulum(&m);
    finish_model(&m, NULL);
    ck_assert_int_eq(tal_body_set_q(m.matter, m.state, body, 0, 1.0), TAL_OK);
    ck_assert_int_eq(tal_body_lock(m.matter, m.state, body, TAL_LEVEL_POSITION), TAL_OK);
    const tal_rest rest = find(&m);
    ck_assert_double_eq(rest.udot, 0.0);
    ck_assert_double_eq(q_of(&m, body), 1.0);
    end_model(&m);

    m = begin_model();
    finish_model(&m, NULL);
    ck_assert_double_eq(find(&m).udot, 0.0);
    end_model(&m);
}

END_TEST

START_TEST(bad_definitions_are_refused)
{
    model m = begin_model();
    (void)add_pendulum(&m);
    finish_model(&m, NULL);
    tal_equilibrium_def def = tal_equilibrium_def_default();
    tal_equilibrium *out = NULL;
    tal_error err;
    def.accuracy = (double)NAN;
    ck_assert_int_eq(tal_equilibrium_create(m.system, &def, &out, &err), TAL_ERR_BAD_VALUE);
    def = tal_equilibrium_def_default();
    def.kind = (tal_equilibrium_kind)7;
    ck_assert_int_eq(tal_equilibrium_create(m.system, &def, &out, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "7"));
    ck_assert_ptr_null(out);
    ck_assert_int_eq(tal_equilibrium_create(NULL, NULL, &out, NULL), TAL_ERR_NULL);
    test_record_breaches();
    test_assert_breach((void)!tal_equilibrium_find(NULL, m.state, NULL), TAL_ERR_NULL, "NULL");
    test_assert_breach((void)!tal_equilibrium_find(m.eq, NULL, NULL), TAL_ERR_NULL, "NULL");
    test_assert_breach(
        (void)!tal_equilibrium_inverse_statics(m.eq, m.state, NULL, &(double){0.0}, NULL),
        TAL_ERR_NULL, "NULL");
    test_assert_breach(
        (void)!tal_equilibrium_inverse_statics(NULL, m.state, NULL, &(double){0.0}, NULL),
        TAL_ERR_NULL, "NULL");
    test_assert_breach((void)!tal_equilibrium_create(m.system, NULL, NULL, NULL), TAL_ERR_NULL,
                       "out");
    ck_assert_int_eq(tal_equilibrium_error(NULL)->status, TAL_ERR_NULL);
    end_model(&m);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/equilibrium");
    TCase *tests = tcase_create("equilibrium");
    tcase_add_test(tests, a_pendulum_comes_to_rest_below_from_nearly_above);
    tcase_add_test(tests, any_equilibrium_near_the_top_is_the_top);
    tcase_add_test(tests, forces_along_speeds_count_with_their_sign);
    tcase_add_test(tests, a_hanging_chain_between_two_points_is_symmetric);
    tcase_add_test(tests, what_falls_for_ever_is_reported_by_name);
    tcase_add_test(tests, no_step_to_take_is_not_rest);
    tcase_add_test(tests, inverse_statics_gives_the_torques_that_hold_an_arm);
    tcase_add_test(tests, where_no_step_helps_the_body_is_named);
    tcase_add_test(tests, forces_that_are_not_finite_are_reported);
    tcase_add_test(tests, what_cannot_move_is_at_rest);
    tcase_add_test(tests, bad_definitions_are_refused);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
