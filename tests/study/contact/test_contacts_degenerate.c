// study/src/contact/, matter/src/unilateral/: what degenerates has a stated result or a status with
// a name, never NaN, never a hang (the end of section 11 of the specification).
#include "stepper_model.h"

#include <talus/matter/unilaterals.h>

#include <math.h>
#include <string.h>

static const double G = 9.81;

static tal_xform floor_plane(void)
{
    return tal_xf(tal_m3(tal_v3(1.0, 0.0, 0.0), tal_v3(0.0, 0.0, -1.0), tal_v3(0.0, 1.0, 0.0)),
                  TAL_VEC3_ZERO);
}

static void finish(stepper_model *m)
{
    (void)tal_contacts_create(m->system, NULL);
    tal_time_stepper_def run = tal_time_stepper_def_default();
    run.max_steps = 20000;
    finish_stepper_model(m, NULL, &run);
}

static bool is_finite(const tal_state *state)
{
    for (int i = 0; i < tal_state_nq(state); ++i) {
        if (!isfinite(tal_state_q(state)[i])) return false;
    }
    for (int i = 0; i < tal_state_nu(state); ++i) {
        if (!isfinite(tal_state_u(state)[i])) return false;
    }
    return true;
}

// A run that ends with a status whose sentence has this word.
static void fails_by_name(stepper_model *m, tal_status expected, const char *word)
{
    tal_outcome outcome;
    const tal_status st = tal_time_stepper_step_to(m->stepper, m->state, 1.0, &outcome);
    const char *message = tal_time_stepper_error(m->stepper)->message;
    ck_assert_msg(st == expected, "%s: %s", tal_status_text(st), message);
    ck_assert_msg(strstr(message, word) != NULL, "%s", message);
    ck_assert(is_finite(m->state));
    end_stepper_model(m);
}

static void runs(stepper_model *m, double y)
{
    ck_assert_int_eq(run_stepper(m, 1.0), TAL_OUTCOME_REACHED_TIME);
    ck_assert(is_finite(m->state));
    ck_assert_double_eq_tol(tal_state_q(m->state)[1], y, 1e-6);
    end_stepper_model(m);
}

static tal_unilateral_def named(const char *name)
{
    tal_unilateral_def def = tal_unilateral_def_default();
    def.name = name;
    return def;
}

// Spheres that should be outside of each other begin with the same center: they are closed by the
// sum of their radii.
START_TEST(concentric_spheres_are_closed_too_far)
{
    stepper_model m = begin_stepper_model(G);
    const tal_unilateral_def def = named("pair");
    (void)tal_unilateral_add_sphere_on_sphere(m.matter, &def, TAL_GROUND, TAL_VEC3_ZERO, 1.0,
                                              add_point(&m), TAL_VEC3_ZERO, 0.5);
    finish(&m);
    fails_by_name(&m, TAL_ERR_BAD_VALUE, "'pair'");
}

END_TEST

// One in the other, from the middle: it falls until it touches, and rests at the bottom.
START_TEST(a_ball_in_the_middle_of_a_bowl_falls)
{
    stepper_model m = begin_stepper_model(G);
    (void)tal_unilateral_add_sphere_in_sphere(m.matter, NULL, TAL_GROUND, TAL_VEC3_ZERO, 0.3,
                                              add_point(&m), TAL_VEC3_ZERO, 0.1);
    finish(&m);
    runs(&m, -0.2);
}

END_TEST

// The normal of parallel edges is z of the first one: the gap is a height, and they touch. With
// ends they do not: nothing tells where.
START_TEST(parallel_edges_touch_as_a_plane_does_or_not_at_all)
{
    for (int k = 0; k < 2; ++k) {
        stepper_model m = begin_stepper_model(G);
        const tal_body_ix bar = add_point(&m);
        const double q[3] = {0.0, 0.5, 0.0};
        (void)tal_body_set_initial_q(m.matter, bar, q, 3);
        const tal_xform edge = floor_plane();
        const tal_unilateral_ix edges =
            tal_unilateral_add_edge_on_edge(m.matter, NULL, TAL_GROUND, &edge, bar, &edge);
        if (k == 1) (void)tal_unilateral_limit_edges(m.matter, edges, 1.0, 1.0);
        finish(&m);
        runs(&m, k == 0 ? 0.0 : 0.5 - 0.5 * G);
    }
}

END_TEST

// Its ends coincide at the start: all of its length is slack, and it is taut below.
START_TEST(a_rope_of_which_both_ends_coincide_is_slack)
{
    stepper_model m = begin_stepper_model(G);
    (void)tal_unilateral_add_rope(m.matter, NULL, TAL_GROUND, TAL_VEC3_ZERO, add_point(&m),
                                  TAL_VEC3_ZERO, 0.5);
    finish(&m);
    runs(&m, -0.5);
}

END_TEST

// Without friction, and with as much as there can be; plastic and elastic.
START_TEST(extreme_materials_have_their_results)
{
    for (int k = 0; k < 4; ++k) {
        stepper_model m = begin_stepper_model(G);
        const tal_body_ix body = add_point(&m);
        const double q[3] = {0.0, 0.1, 0.0}, u[3] = {1.0, 0.0, 0.0};
        (void)tal_body_set_initial_q(m.matter, body, q, 3);
        tal_unilateral_def def = named("foot");
        def.material.limit = 0.0;
        def.material.static_mu = k < 2 ? 0.0 : (double)INFINITY;
        def.material.sliding_mu = k < 2 ? 0.0 : 1.0;
        def.material.restitution = k % 2 == 0 ? 0.0 : 1.0;
        const tal_xform plane = floor_plane();
        (void)tal_unilateral_add_point_on_plane(m.matter, &def, TAL_GROUND, &plane, body,
                                                TAL_VEC3_ZERO);
        finish(&m);
        (void)tal_state_set_u(m.state, u, 3);
        ck_assert_int_eq(run_stepper(&m, 1.0), TAL_OUTCOME_REACHED_TIME);
        ck_assert(is_finite(m.state));
        ck_assert_double_eq_tol(tal_state_u(m.state)[0], k < 2 ? 1.0 : 0.0, 1e-6);
        ck_assert_double_le(tal_state_q(m.state)[1], 0.1 + 1e-6);
        ck_assert_double_ge(tal_state_q(m.state)[1], -1e-6);
        end_stepper_model(&m);
    }
}

END_TEST

static void add_twice(stepper_model *m, int times)
{
    *m = begin_stepper_model(G);
    const tal_body_ix body = add_point(m);
    const double q[3] = {0.0, 0.3, 0.0};
    (void)tal_body_set_initial_q(m->matter, body, q, 3);
    const tal_xform plane = floor_plane();
    for (int k = 0; k < times; ++k) {
        tal_unilateral_def def = tal_unilateral_def_default();
        def.material.static_mu = def.material.sliding_mu = 0.5;
        def.material.restitution = 0.5;
        (void)tal_unilateral_add_point_on_plane(m->matter, &def, TAL_GROUND, &plane, body,
                                                TAL_VEC3_ZERO);
    }
    finish(m);
}

// Two that are the same share what one would do.
START_TEST(identical_contacts_do_what_one_does)
{
    double end[2][6];
    for (int k = 0; k < 2; ++k) {
        stepper_model m;
        add_twice(&m, k + 1);
        const double u[3] = {0.4, 0.0, 0.1};
        (void)tal_state_set_u(m.state, u, 3);
        (void)run_stepper(&m, 1.0);
        memcpy(end[k], tal_state_q(m.state), 3 * sizeof(double));
        memcpy(end[k] + 3, tal_state_u(m.state), 3 * sizeof(double));
        end_stepper_model(&m);
    }
    for (int j = 0; j < 6; ++j) {
        ck_assert_double_eq_tol(end[0][j], end[1][j], 1e-7);
    }
}

END_TEST

START_TEST(a_body_cannot_touch_itself)
{
    stepper_model m = begin_stepper_model(G);
    const tal_body_ix body = add_point(&m);
    const tal_unilateral_def def = named("self");
    const tal_xform plane = floor_plane();
    ck_assert_int_lt(
        tal_unilateral_add_point_on_plane(m.matter, &def, body, &plane, body, TAL_VEC3_ZERO).i, 0);
    ck_assert_ptr_nonnull(strstr(tal_system_error(m.system)->message, "'self'"));
    tal_system_destroy(m.system);
}

END_TEST

// --- bodies that cannot move ---

// What is prescribed is driven into the floor: no impulse stops it.
START_TEST(a_prescribed_body_that_is_driven_into_a_floor_is_named)
{
    stepper_model m = begin_stepper_model(G);
    tal_mobod_def body_def = tal_mobod_def_default();
    body_def.mass.mass = 1.0;
    body_def.X_PF =
        tal_xf(tal_m3(tal_v3(0.0, 1.0, 0.0), tal_v3(-1.0, 0.0, 0.0), tal_v3(0.0, 0.0, 1.0)),
               TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_slider(m.matter, TAL_GROUND, &body_def);
    const double q = 0.5, rate = -1.0;
    (void)tal_body_set_initial_q(m.matter, body, &q, 1);
    tal_motion_def motion = tal_motion_def_default();
    motion.body = body;
    motion.level = TAL_LEVEL_VELOCITY;
    (void)tal_matter_add_motion_steady(m.matter, &motion, &rate, 1);
    const tal_unilateral_def def = named("anvil");
    const tal_xform plane = floor_plane();
    (void)tal_unilateral_add_point_on_plane(m.matter, &def, TAL_GROUND, &plane, body,
                                            TAL_VEC3_ZERO);
    finish(&m);
    fails_by_name(&m, TAL_ERR_INFEASIBLE, "'anvil'");
}

END_TEST

// A contact on a locked body carries nothing and stops nothing.
START_TEST(a_contact_of_a_locked_body_stays_as_it_is)
{
    stepper_model m = begin_stepper_model(G);
    const tal_body_ix body = add_point(&m);
    ck_assert_int_eq(tal_matter_lock_by_default(m.matter, body, TAL_LEVEL_POSITION), TAL_OK);
    const tal_unilateral_def def = named("held");
    const tal_xform plane = floor_plane();
    (void)tal_unilateral_add_point_on_plane(m.matter, &def, TAL_GROUND, &plane, body,
                                            TAL_VEC3_ZERO);
    finish(&m);
    runs(&m, 0.0);
}

END_TEST

// A body without mass at the end of a chain has no acceleration of its own: that is said of the
// body, contact or not.
START_TEST(a_massless_body_with_a_contact_is_named)
{
    stepper_model m = begin_stepper_model(G);
    tal_mobod_def massless = tal_mobod_def_default();
    massless.name = "ghost";
    const tal_body_ix body = tal_matter_add_translation(m.matter, TAL_GROUND, &massless);
    const tal_unilateral_def def = named("touch");
    const tal_xform plane = floor_plane();
    (void)tal_unilateral_add_point_on_plane(m.matter, &def, TAL_GROUND, &plane, body,
                                            TAL_VEC3_ZERO);
    finish(&m);
    fails_by_name(&m, TAL_ERR_SINGULAR, "'ghost'");
}

END_TEST

// Two bodies that a weld joins touch each other: the contact is at rest whatever happens.
START_TEST(bodies_that_are_welded_together_may_touch)
{
    stepper_model m = begin_stepper_model(G);
    const tal_body_ix one = add_point(&m), two = add_point(&m);
    const tal_constraint_def between = tal_constraint_between(one, two);
    (void)tal_constraint_add_ball(m.matter, &between, TAL_VEC3_ZERO, TAL_VEC3_ZERO);
    tal_unilateral_def def = named("within");
    def.material.static_mu = def.material.sliding_mu = 0.5;
    const tal_xform plane = floor_plane();
    (void)tal_unilateral_add_point_on_plane(m.matter, &def, one, &plane, two, TAL_VEC3_ZERO);
    finish(&m);
    runs(&m, -0.5 * G);
}

END_TEST

// --- a function of a user that goes wrong ---

static tal_status calc_nan(const void *self, const tal_constraint_arg *arg, double err[])
{
    (void)self;
    err[0] = arg->t > 0.25 ? (double)NAN : 1.0;
    return TAL_OK;
}

static tal_status calc_nothing(const void *self, const tal_constraint_arg *arg, double err[])
{
    (void)self, (void)arg;
    err[0] = 0.0;
    return TAL_OK;
}

static tal_status add_nothing(const void *self, const tal_constraint_arg *arg,
                              const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)arg, (void)lambda, (void)F, (void)f;
    return TAL_OK;
}

START_TEST(a_gap_that_is_not_a_number_is_named)
{
    static const tal_constraint_ops ops = {.size = sizeof ops,
                                           .name = "broken",
                                           .mp = 1,
                                           .num_bodies = 1,
                                           .calc_p = calc_nan,
                                           .calc_v = calc_nothing,
                                           .calc_a = calc_nothing,
                                           .add_forces = add_nothing};
    stepper_model m = begin_stepper_model(G);
    tal_constraint_def constraint = tal_constraint_def_default();
    constraint.bodies[0] = add_point(&m);
    tal_unilateral_def def = named("sensor");
    def.normal = tal_matter_add_constraint(m.matter, &constraint, &ops, NULL, NULL);
    (void)tal_matter_add_unilateral(m.matter, &def);
    finish(&m);
    fails_by_name(&m, TAL_ERR_NOT_FINITE, "'sensor'");
}

END_TEST

// --- order ---

// A block lands on four feet of different materials, which are listed in another order the second
// time: it ends at the same place.
START_TEST(the_order_of_elements_does_not_matter)
{
    static const int orders[2][4] = {{0, 1, 2, 3}, {2, 0, 3, 1}};
    double end[2][13];
    for (int k = 0; k < 2; ++k) {
        stepper_model m = begin_stepper_model(G);
        tal_mobod_def def = tal_mobod_def_default();
        def.mass.mass = 2.0;
        def.mass.inertia = tal_s3_diag(0.1, 0.2, 0.15);
        const tal_body_ix block = tal_matter_add_free(m.matter, TAL_GROUND, &def);
        const tal_xform plane = floor_plane();
        for (int j = 0; j < 4; ++j) {
            const int foot = orders[k][j];
            tal_unilateral_def contact = tal_unilateral_def_default();
            contact.material.static_mu = contact.material.sliding_mu = 0.2 + 0.1 * foot;
            contact.material.restitution = 0.1 * foot;
            (void)tal_unilateral_add_point_on_plane(
                m.matter, &contact, TAL_GROUND, &plane, block,
                tal_v3(foot < 2 ? 0.3 : -0.3, -0.1, foot % 2 == 0 ? 0.2 : -0.2));
        }
        (void)tal_contacts_create(m.system, NULL);
        const tal_integrator_def method = dormand_prince(1e-9);
        finish_stepper_model(&m, &method, NULL);
        tal_state_upd_q(m.state)[5] = 0.3; // quaternion, x, y, z
        const double u[6] = {0.0, 0.5, 0.0, 1.0, 0.0, 0.3};
        (void)tal_state_set_u(m.state, u, 6);
        (void)run_stepper(&m, 0.5);
        memcpy(end[k], tal_state_q(m.state), 7 * sizeof(double));
        memcpy(end[k] + 7, tal_state_u(m.state), 6 * sizeof(double));
        end_stepper_model(&m);
    }
    for (int j = 0; j < 13; ++j) {
        ck_assert_double_eq_tol(end[0][j], end[1][j], 1e-8);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/contacts_degenerate");
    TCase *all = tcase_create("degenerate");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, concentric_spheres_are_closed_too_far);
    tcase_add_test(all, a_ball_in_the_middle_of_a_bowl_falls);
    tcase_add_test(all, parallel_edges_touch_as_a_plane_does_or_not_at_all);
    tcase_add_test(all, a_rope_of_which_both_ends_coincide_is_slack);
    tcase_add_test(all, extreme_materials_have_their_results);
    tcase_add_test(all, identical_contacts_do_what_one_does);
    tcase_add_test(all, a_body_cannot_touch_itself);
    tcase_add_test(all, a_prescribed_body_that_is_driven_into_a_floor_is_named);
    tcase_add_test(all, a_contact_of_a_locked_body_stays_as_it_is);
    tcase_add_test(all, a_massless_body_with_a_contact_is_named);
    tcase_add_test(all, bodies_that_are_welded_together_may_touch);
    tcase_add_test(all, a_gap_that_is_not_a_number_is_named);
    tcase_add_test(all, the_order_of_elements_does_not_matter);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
