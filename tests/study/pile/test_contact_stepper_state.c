// study/src/pile/: what a step keeps in the State, and what it refuses: memory, capacities,
// degenerate models, bad definitions.
#include "alloc_guard.h"
#include "pile/pile_world.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

// ---- what may go wrong

START_TEST(nothing_is_allocated_and_bytes_repeat)
{
    tal_contact_stepper_def def = steps_of(0.005);
    stack s, t;
    begin_stack(&s, 2, 6, &def);
    begin_stack(&t, 2, 6, &def);
    set_u(&s.w, s.boxes[11], 3, 1.0);
    set_u(&t.w, t.boxes[11], 3, 1.0);
    run_to(&s.w, 0.005);
    tal_status st = TAL_OK;
    test_assert_no_heap(st = tal_contact_stepper_step_to(s.w.stepper, s.w.state, 0.5));
    ck_assert_int_eq(st, TAL_OK);
    run_to(&t.w, 0.005);
    run_to(&t.w, 0.5);
    ck_assert_mem_eq(tal_state_y(s.w.state), tal_state_y(t.w.state),
                     (size_t)tal_state_ny(s.w.state) * sizeof(double));
    end(&s.w);
    end(&t.w);
}

END_TEST

// Boxes that fall, hit, tumble and slide.
static void begin_heap(world *w)
{
    *w = begin(tal_v3(1.0, 0.0, -G));
    add_floor(w, rough(0.4, 0.3));
    for (int i = 0; i < 6; ++i) {
        (void)add_box(w, tal_v3(0.1, 0.15, 0.2), 1.0, tal_v3(0.07 * i, 0.05 * i, 0.3 + 0.35 * i),
                      rough(0.4, 0.3));
    }
    tal_contact_stepper_def def = steps_of(5e-3);
    def.most_exact = 4;
    finish(w, &def);
}

static void check_same_bits(const world *a, const world *b)
{
    ck_assert_double_eq(tal_state_t(a->state), tal_state_t(b->state));
    ck_assert_int_eq(tal_state_ny(a->state), tal_state_ny(b->state));
    ck_assert_mem_eq(tal_state_y(a->state), tal_state_y(b->state),
                     (size_t)tal_state_ny(a->state) * sizeof(double));
}

// The same run in one go; by copies of its State; and by its State as bytes, which another stepper
// goes on with at each tenth.
START_TEST(a_state_is_all_that_a_run_needs)
{
    world whole, copied, loaded;
    begin_heap(&whole);
    begin_heap(&copied);
    begin_heap(&loaded);
    const size_t size = tal_state_save_size(whole.state);
    void *bytes = malloc(size);
    ck_assert_ptr_nonnull(bytes);
    int most = 0;
    for (int k = 1; k <= 10; ++k) {
        run_to(&whole, 0.1 * k);
        run_to(&copied, 0.1 * k);
        run_to(&loaded, 0.1 * k);
        check_same_bits(&whole, &copied);
        check_same_bits(&whole, &loaded);
        const int num = tal_contact_stepper_num_contacts(whole.stepper);
        if (num > most) most = num;
        ck_assert_int_eq(tal_state_save(whole.state, bytes, size), TAL_OK);
        ck_assert_int_eq(tal_state_load(loaded.system, loaded.state, bytes, size), TAL_OK);
        tal_state *const copy = copied.state;
        tal_error err;
        ck_assert_int_eq(tal_state_create(copied.system, &copied.state, &err), TAL_OK);
        ck_assert_int_eq(tal_state_copy(copied.state, copy), TAL_OK);
        tal_state_destroy(copy);
    }
    ck_assert_int_ge(most, 8);
    free(bytes);
    end(&whole);
    end(&copied);
    end(&loaded);
}

END_TEST

// A wall at rest: the next step begins with its impulses and is done in a few passes; without them,
// or in a State that has never been stepped, it takes many.
START_TEST(a_step_begins_with_the_impulses_in_the_state)
{
    tal_contact_stepper_def def = steps_of(0.005);
    def.most_exact = 0;
    stack s;
    begin_stack(&s, 1, 6, &def);
    run_to(&s.w, 0.2);
    const int warm = tal_contact_stepper_report(s.w.stepper).passes;
    ck_assert_int_eq(tal_contact_stepper_forget(s.w.stepper, s.w.state), TAL_OK);
    run_to(&s.w, 0.205);
    const int cold = tal_contact_stepper_report(s.w.stepper).passes;
    ck_assert_msg(cold > 2 * warm, "%d and %d passes", warm, cold);
    tal_state *fresh = NULL;
    tal_error err;
    ck_assert_int_eq(tal_state_create(s.w.system, &fresh, &err), TAL_OK);
    ck_assert_int_eq(tal_state_set_y(fresh, tal_state_y(s.w.state), tal_state_ny(s.w.state)),
                     TAL_OK);
    ck_assert_int_eq(tal_contact_stepper_step(s.w.stepper, fresh), TAL_OK);
    ck_assert_int_gt(tal_contact_stepper_report(s.w.stepper).passes, 2 * warm);
    tal_state_destroy(fresh);
    test_assert_breach(ck_assert_int_eq(tal_contact_stepper_forget(NULL, s.w.state), TAL_ERR_NULL),
                       TAL_ERR_NULL, "NULL");
    end(&s.w);
}

END_TEST

static void check_fails(world *w, tal_status expected, const char *part, const char *other)
{
    const double t = tal_state_t(w->state);
    ck_assert_int_eq(tal_contact_stepper_step(w->stepper, w->state), expected);
    const char *message = tal_contact_stepper_error(w->stepper)->message;
    ck_assert_msg(strstr(message, part) != NULL && strstr(message, other) != NULL, "%s", message);
    ck_assert_double_eq(tal_state_t(w->state), t);
}

START_TEST(too_small_a_capacity_names_the_pair_and_the_field)
{
    tal_contact_stepper_def def = steps_of(0.005);
    def.max_contacts = 6;
    stack s;
    begin_stack(&s, 1, 3, &def);
    check_fails(&s.w, TAL_ERR_CAPACITY, "max_contacts", "'collider1' and 'collider2'");
    end(&s.w);
    def.max_contacts = 0;
    def.max_pairs = 1;
    begin_stack(&s, 1, 3, &def);
    check_fails(&s.w, TAL_ERR_CAPACITY, "max_pairs", "room for 1");
    end(&s.w);
}

END_TEST

START_TEST(balls_with_one_center_are_named)
{
    world w = begin(TAL_VEC3_ZERO);
    for (int i = 0; i < 2; ++i) {
        (void)add_ball(&w, 0.1 + 0.1 * i, 1.0, tal_v3(1.0, 2.0, 3.0), rough(0.0, 0.0));
    }
    finish(&w, NULL);
    check_fails(&w, TAL_ERR_SINGULAR, "'collider0'", "'collider1'");
    end(&w);
}

END_TEST

// Friction without a limit, a body that is locked, two bodies welded together, no colliders at all.
START_TEST(degenerate_models_step)
{
    world w = begin(tal_v3(0.0, 0.0, -G));
    add_floor(&w, rough((double)INFINITY, 1.0));
    const tal_vec3 half = tal_v3(0.1, 0.1, 0.1);
    const tal_body_ix a =
        add_box(&w, half, 1.0, tal_v3(0.0, 0.0, 0.1), rough((double)INFINITY, 0.0));
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = brick_mass(1.0, half);
    def.X_PF = tal_xf_from_p(tal_v3(0.0, 0.0, 0.2));
    const tal_body_ix b = tal_matter_add_weld(w.matter, a, &def);
    add_collider(&w, b, tal_shape_brick(half, 0.0), rough(0.5, 0.0));
    const tal_body_ix c = tal_matter_add_weld(w.matter, TAL_GROUND, &def); // within the floor
    add_collider(&w, c, tal_shape_brick(half, 0.0), rough(0.5, 0.0));
    finish(&w, NULL);
    set_u(&w, a, 3, 0.05);
    // the welded brick overlaps the one on Ground wholly: some way out is found
    for (int i = 0; i < 100; ++i) {
        run_to(&w, tal_state_t(w.state) + 1e-3);
        for (int k = 0; k < 6; ++k) {
            ck_assert(isfinite(u_of(&w, a, k)));
        }
    }
    end(&w);
    w = begin(tal_v3(0.0, 0.0, -G));
    finish(&w, NULL);
    run_to(&w, 0.01);
    end(&w);
}

END_TEST

static void check_refused(const world *w, const tal_contact_stepper_def *def, const char *part)
{
    tal_contact_stepper *stepper = NULL;
    tal_error err;
    ck_assert_int_eq(tal_contact_stepper_create(w->system, def, &stepper, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_null(stepper);
    ck_assert_msg(strstr(err.message, part) != NULL, "%s", err.message);
}

START_TEST(bad_definitions_are_refused_by_name)
{
    world w = begin(TAL_VEC3_ZERO);
    const tal_body_ix ball = add_ball(&w, 0.1, 1.0, TAL_VEC3_ZERO, rough(0.0, 0.0));
    add_floor(&w, rough(0.0, 0.0));
    finish(&w, NULL);
    tal_contact_stepper_def def = steps_of(0.0);
    check_refused(&w, &def, "step");
    def = steps_of(1e-3);
    def.slop = (double)NAN;
    check_refused(&w, &def, "slop");
    def = steps_of(1e-3);
    def.most_passes = 0;
    check_refused(&w, &def, "most_passes");
    def = steps_of(1e-3);
    def.max_contacts = INT_MAX;
    check_refused(&w, &def, "at most 100000000");
    test_assert_refused(tal_contact_stepper_step_to(w.stepper, w.state, -1.0), TAL_ERR_BAD_VALUE,
                        "-1");
    test_assert_refused(tal_contact_stepper_step_to(w.stepper, w.state, 1e308), TAL_ERR_BAD_VALUE,
                        "1e+308 are lost in rounding: choose a longer step");
    ck_assert_double_eq(tal_state_t(w.state), 0.0);
    test_assert_refused(tal_contact_stepper_step(NULL, w.state), TAL_ERR_NULL, "NULL");
    end(&w);
    // half-spaces on two bodies, unilateral elements
    w = begin(TAL_VEC3_ZERO);
    (void)add_ball(&w, 0.1, 1.0, TAL_VEC3_ZERO, rough(0.0, 0.0));
    add_floor(&w, rough(0.0, 0.0));
    add_collider(&w, ball, tal_shape_half_space(), rough(0.0, 0.0));
    tal_error err;
    ck_assert_int_eq(tal_system_realize_topology(w.system, &err), TAL_OK);
    check_refused(&w, NULL, "'floor' and 'collider2'");
    end(&w);
    w = begin(TAL_VEC3_ZERO);
    (void)add_ball(&w, 0.1, 1.0, TAL_VEC3_ZERO, rough(0.0, 0.0));
    tal_unilateral_def element = tal_unilateral_def_default();
    element.name = "heel";
    const tal_xform plane = TAL_XFORM_IDENTITY;
    (void)tal_unilateral_add_point_on_plane(w.matter, &element, TAL_GROUND, &plane, ball,
                                            TAL_VEC3_ZERO);
    ck_assert_int_eq(tal_system_realize_topology(w.system, &err), TAL_OK);
    check_refused(&w, NULL, "'heel'");
    end(&w);
}

END_TEST

static void check_collider_refused(const tal_collider_def *def, const char *part)
{
    world w = begin(TAL_VEC3_ZERO);
    add_floor(&w, rough(0.0, 0.0));
    ck_assert_int_lt(tal_matter_add_collider(w.matter, def).i, 0);
    tal_error err;
    ck_assert_int_ne(tal_system_realize_topology(w.system, &err), TAL_OK);
    ck_assert_msg(strstr(err.message, part) != NULL, "%s", err.message);
    end(&w);
}

// Without this a body would fall through its floor without a word. What is ignored is ignored
// entirely: the ball of 0.1 m falls freely, z = 1 - g t^2 / 2, a parabola that Merson's method of
// order 4 follows to round-off (1e-12 is 4500 of it).
START_TEST(integrators_refuse_colliders_unless_told_to_ignore_them)
{
    world w = begin(tal_v3(0.0, 0.0, -G));
    add_floor(&w, rough(0.0, 0.0));
    const tal_body_ix ball = add_ball(&w, 0.1, 1.0, tal_v3(0.0, 0.0, 1.0), rough(0.0, 0.0));
    finish(&w, NULL);
    const tal_method methods[] = {TAL_METHOD_RUNGE_KUTTA, TAL_METHOD_SEMI_EXPLICIT_EULER,
                                  TAL_METHOD_VERLET, TAL_METHOD_CVODE_BDF, TAL_METHOD_IDA};
    tal_integrator *integ = NULL;
    tal_error err;
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; ++i) {
        tal_integrator_def def = tal_integrator_def_default();
        def.method = methods[i];
        ck_assert_int_eq(tal_integrator_create(w.system, &def, &integ, &err), TAL_ERR_BAD_VALUE);
        ck_assert_ptr_null(integ);
        ck_assert_ptr_nonnull(strstr(err.message, "2 colliders, 'floor' among them"));
        ck_assert_ptr_nonnull(strstr(err.message, "use a tal_contact_stepper"));
    }
    ck_assert_int_eq(tal_integrator_create(w.system, NULL, &integ, NULL), TAL_ERR_BAD_VALUE);
    tal_integrator_def def = tal_integrator_def_default();
    def.ignores_colliders = true;
    ck_assert_int_eq(tal_integrator_create(w.system, &def, &integ, &err), TAL_OK);
    ck_assert_int_eq(tal_integrator_step_to(integ, w.state, 1.0), TAL_OK);
    ck_assert_double_eq_tol(q_of(&w, ball, 6), 1.0 - 0.5 * G, 1e-12);
    tal_integrator_destroy(integ);
    end(&w);
}

END_TEST

START_TEST(bad_colliders_are_refused_by_name)
{
    tal_collider_def def = tal_collider_def_default();
    def.name = "floor";
    check_collider_refused(&def, "used already");
    def.name = "wall";
    def.body.i = 7;
    check_collider_refused(&def, "'wall': there is no body 7");
    def.body.i = 0;
    def.material.restitution = 1.5;
    check_collider_refused(&def, "restitution");
    def.material.restitution = 0.5;
    def.shape = tal_shape_torus(1.0, 0.1);
    check_collider_refused(&def, "torus 'wall'");
    def.shape = tal_shape_sphere(1.0);
    def.X_BS.p.x = (double)NAN;
    check_collider_refused(&def, "frame");
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("contact_stepper");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 600.0);
    tcase_add_test(all, nothing_is_allocated_and_bytes_repeat);
    tcase_add_test(all, a_state_is_all_that_a_run_needs);
    tcase_add_test(all, a_step_begins_with_the_impulses_in_the_state);
    tcase_add_test(all, too_small_a_capacity_names_the_pair_and_the_field);
    tcase_add_test(all, balls_with_one_center_are_named);
    tcase_add_test(all, degenerate_models_step);
    tcase_add_test(all, bad_definitions_are_refused_by_name);
    tcase_add_test(all, bad_colliders_are_refused_by_name);
    tcase_add_test(all, integrators_refuse_colliders_unless_told_to_ignore_them);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
