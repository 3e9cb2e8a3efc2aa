// Tests of study/src/survey/weights.c: figure 14 of the manual.
#include "talus_test.h"

#include <talus/study.h>

#include <float.h>
#include <math.h>

typedef struct model {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
} model;

// An arm whose last joint, of three, moves little: a point at the end of links of 6, 3.5 and 0.5
// units. `unit` meters each.
static model begin_arm(double unit)
{
    static const double links[] = {6.0, 3.5, 0.5};
    model m = {.system = tal_system_create(NULL)};
    m.matter = tal_matter_create(m.system);
    m.forces = tal_forces_create(m.system, m.matter);
    (void)tal_forces_add_gravity(m.forces, tal_v3(0.0, -9.81 * unit, 0.0));
    tal_body_ix body = TAL_GROUND;
    for (int i = 0; i < 3; ++i) {
        tal_mobod_def link = tal_mobod_def_default();
        link.X_PF.p = tal_v3(i == 0 ? 0.0 : unit * links[i - 1], 0.0, 0.0);
        if (i == 2) link.mass = tal_mass_props_point(1.0, tal_v3(unit * links[2], 0.0, 0.0));
        body = tal_matter_add_pin(m.matter, body, &link);
    }
    return m;
}

static void finish(model *m)
{
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(m->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(m->system, &m->state, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_system_realize(m->system, m->state, TAL_STAGE_MODEL), TAL_OK);
}

static void end(model *m)
{
    tal_state_destroy(m->state);
    tal_system_destroy(m->system);
}

static void estimate(const model *m, double length, double W[])
{
    tal_error err = {0};
    ck_assert_msg(tal_weights_estimate(m->system, m->state, length, W, &err) == TAL_OK, "%s",
                  err.message);
}

// Stretched out: d1 = 10, d2 = 4, d3 = 0.5. Folded at the elbow by q2: d1^2 = 6^2 + 4^2 + 48 cos
// q2, the others as before.
START_TEST(weights_are_the_distances_to_what_moves)
{
    model m = begin_arm(1.0);
    double W[3];
    finish(&m);
    for (int k = 0; k <= 6; ++k) {
        const double q2 = k * TAL_PI / 6.0, d1 = sqrt(52.0 + 48.0 * cos(q2));
        ck_assert_int_eq(tal_body_set_q(m.matter, m.state, (tal_body_ix){2}, 0, q2), TAL_OK);
        estimate(&m, 1.0, W);
        const double known[] = {d1, 4.0, 0.5};
        test_assert_near(W, known, 3, 64.0 * DBL_EPSILON, "W");
        estimate(&m, 0.25, W);
        ck_assert_double_eq_tol(W[1], 16.0, 256.0 * DBL_EPSILON);
    }
    end(&m);
}

END_TEST

// A slider carries the arm in the second model: its weight is one over the size. In millimeters as
// in meters weights of angles are the same, and those of ways a thousandth.
START_TEST(weights_do_not_depend_on_the_unit_of_length)
{
    double W[2][3];
    for (int k = 0; k < 2; ++k) {
        const double unit = k == 0 ? 1.0 : 1000.0;
        model m = {.system = tal_system_create(NULL)};
        m.matter = tal_matter_create(m.system);
        tal_mobod_def cart = tal_mobod_def_default(), arm = cart, hand = cart;
        cart.mass = tal_mass_props_sphere(2.0, 0.3 * unit);
        arm.mass = tal_mass_props_rod(1.0, tal_v3(0.0, 1.5 * unit, 0.0));
        hand.mass = tal_mass_props_sphere(0.5, 0.2 * unit);
        hand.X_PF.p = tal_v3(0.0, 3.0 * unit, 0.0);
        const tal_body_ix base = tal_matter_add_slider(m.matter, TAL_GROUND, &cart);
        const tal_body_ix link = tal_matter_add_pin(m.matter, base, &arm);
        (void)tal_matter_add_pin(m.matter, link, &hand);
        finish(&m);
        estimate(&m, 0.0, W[k]);
        end(&m);
    }
    ck_assert_double_eq_tol(W[0][0] / W[1][0], 1000.0, 1e-10);
    ck_assert_double_eq_tol(W[0][1], W[1][1], 1e-14);
    ck_assert_double_eq_tol(W[0][2], W[1][2], 1e-14);
    ck_assert_double_gt(W[0][1], W[0][2]);
}

END_TEST

// Weights change when the arm folds, and only then; the integrator takes them into account: errors
// of the hand, not of the angles, are what the accuracy limits.
START_TEST(weights_are_refreshed_when_they_are_off)
{
    model m = begin_arm(1.0);
    finish(&m);
    bool changed = false;
    ck_assert_int_eq(tal_weights_refresh(m.system, m.state, 1.0, &changed, NULL), TAL_OK);
    ck_assert(changed);
    ck_assert_double_eq_tol(tal_state_weights(m.state, TAL_POOL_U)[0], 10.0, 1e-13);
    ck_assert_int_eq(tal_body_set_q(m.matter, m.state, (tal_body_ix){2}, 0, 1.5), TAL_OK);
    ck_assert_int_eq(tal_weights_refresh(m.system, m.state, 1.0, &changed, NULL), TAL_OK);
    ck_assert(!changed); // d1 = 7.4: right to a factor of two
    ck_assert_int_eq(tal_body_set_q(m.matter, m.state, (tal_body_ix){2}, 0, 3.0), TAL_OK);
    ck_assert_int_eq(tal_weights_refresh(m.system, m.state, 1.0, &changed, NULL), TAL_OK);
    ck_assert(changed); // d1 = 2.05
    ck_assert_double_eq_tol(tal_state_weights(m.state, TAL_POOL_U)[0], sqrt(52.0 + 48.0 * cos(3.0)),
                            1e-12);
    end(&m);
}

END_TEST

// A run with refreshed weights takes more steps for the same accuracy: the hand is ten units away.
START_TEST(integrators_use_the_weights)
{
    uint64_t steps[2];
    for (int k = 0; k < 2; ++k) {
        model m = begin_arm(1.0);
        finish(&m);
        tal_integrator *integ = NULL;
        tal_integrator_def def = tal_integrator_def_default();
        def.accuracy = 1e-5;
        ck_assert_int_eq(tal_integrator_create(m.system, &def, &integ, NULL), TAL_OK);
        ck_assert_int_eq(tal_body_set_u(m.matter, m.state, (tal_body_ix){1}, 0, 1.0), TAL_OK);
        for (int b = 2; b <= 3; ++b) { // without mass of their own
            ck_assert_int_eq(tal_body_lock(m.matter, m.state, (tal_body_ix){b}, TAL_LEVEL_POSITION),
                             TAL_OK);
        }
        for (double t = 0.5; t <= 5.0; t += 0.5) {
            if (k == 1) {
                ck_assert_int_eq(tal_weights_refresh(m.system, m.state, 1.0, NULL, NULL), TAL_OK);
            }
            ck_assert_int_eq(tal_integrator_step_to(integ, m.state, t), TAL_OK);
        }
        steps[k] = tal_integrator_statistics(integ).steps_taken;
        tal_integrator_destroy(integ);
        end(&m);
    }
    // an error ten times as large in steps of order 4: 10^(1/4) = 1.8 times as many
    ck_assert_double_ge((double)steps[1], 1.2 * (double)steps[0]);
}

END_TEST

START_TEST(bad_calls_are_refused)
{
    model m = begin_arm(1.0);
    finish(&m);
    double W[3];
    tal_error err = {0};
    ck_assert_int_eq(tal_weights_estimate(m.system, m.state, -1.0, W, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "length is -1"));
    ck_assert_int_eq(tal_weights_estimate(m.system, m.state, (double)NAN, W, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_weights_estimate(m.system, NULL, 1.0, W, &err), TAL_ERR_NULL);
    ck_assert_int_eq(tal_weights_estimate(m.system, m.state, 1.0, NULL, &err), TAL_ERR_NULL);
    ck_assert_int_eq(tal_weights_refresh(m.system, NULL, 1.0, NULL, &err), TAL_ERR_NULL);
    end(&m);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("study/weights");
    TCase *tests = tcase_create("weights");
    tcase_add_test(tests, weights_are_the_distances_to_what_moves);
    tcase_add_test(tests, weights_do_not_depend_on_the_unit_of_length);
    tcase_add_test(tests, weights_are_refreshed_when_they_are_off);
    tcase_add_test(tests, integrators_use_the_weights);
    tcase_add_test(tests, bad_calls_are_refused);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
