// Tests for forces/src/path/: conditional and moving points, paths that are functions.
#include "path/path_model.h"

static const tal_mobility SLIDE = {{SLIDER}, 0};

static tal_function *polynomial(const double c[], int n)
{
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_polynomial(NULL, c, n, &f, NULL), TAL_OK);
    return f;
}

// --- conditional points ---

typedef struct strung {
    model m;
    tal_path_ix path;
    puller self;
    tal_force_ix force;
} strung;

static void set_slider(model *m, double q)
{
    tal_body_set_q(m->matter, m->state, m->body[SLIDER], 0, q);
    model_realize(m, TAL_STAGE_VELOCITY);
}

START_TEST(a_conditional_point_is_there_within_its_limits)
{
    model m = model_begin();
    const tal_path_ix path = tal_forces_add_path(m.forces, "rope");
    tal_path_add_point(m.forces, path, TAL_GROUND, tal_v3(0.0, 0.0, 0.0));
    tal_path_add_conditional_point(m.forces, path, TAL_GROUND, tal_v3(1.0, 2.0, 0.0), SLIDE, -0.5,
                                   0.5);
    tal_path_add_point(m.forces, path, TAL_GROUND, tal_v3(2.0, 0.0, 0.0));
    model_finish(&m);

    static const struct {
        double q;
        bool is_there;
    } cases[] = {{0.0, true},       {0.5, true},        {0.500009, true}, {0.500011, false},
                 {-0.500009, true}, {-0.500011, false}, {1e300, false},   {-3.0, false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        if (fabs(cases[i].q) < 1e3) set_slider(&m, cases[i].q);
        if (fabs(cases[i].q) > 1e3) continue;
        ck_assert(tal_path_is_point_active(m.forces, m.state, path, 1) == cases[i].is_there);
        ck_assert(tal_path_is_point_active(m.forces, m.state, path, 0));
        ck_assert_double_eq_tol(tal_path_length(m.forces, m.state, path),
                                cases[i].is_there ? 2.0 * sqrt(5.0) : 2.0, 1e-15);
    }
    model_end(&m);
}

END_TEST

START_TEST(a_path_with_one_active_point_is_told_with_the_coordinate)
{
    model m = model_begin();
    const tal_path_ix path = tal_forces_add_path(m.forces, "rope");
    tal_path_add_point(m.forces, path, TAL_GROUND, tal_v3(0.0, 0.0, 0.0));
    tal_path_add_conditional_point(m.forces, path, TAL_GROUND, tal_v3(1.0, 2.0, 0.0), SLIDE, 5.0,
                                   INFINITY);
    model_finish(&m);
    set_slider(&m, 0.25);
    ck_assert(isnan(tal_path_length(m.forces, m.state, path)));
    ck_assert_ptr_nonnull(strstr(tal_state_error(m.state)->message, "path 'rope' has 1 active"));
    ck_assert_ptr_nonnull(strstr(tal_state_error(m.state)->message, "at 0.25"));
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_DYNAMICS), TAL_ERR_BAD_VALUE);
    set_slider(&m, 7.0);
    ck_assert_double_eq_tol(tal_path_length(m.forces, m.state, path), sqrt(5.0), 1e-15);
    model_end(&m);
}

END_TEST

// --- moving points ---

static void begin_moving(strung *s, bool is_limited)
{
    s->m = model_begin();
    model *m = &s->m;
    if (is_limited) {
        ck_assert_int_eq(tal_body_limit_coordinate(m->matter, m->body[SLIDER], 0, -0.3, 0.4),
                         TAL_OK);
    }
    s->path = tal_forces_add_path(m->forces, "string");
    test_rng rng = test_rng_seed(8);
    const tal_xform X_BP = test_random_xform(&rng);
    const double cubic[4] = {0.2, -0.3, 0.5, 0.1}, line[2] = {0.7, 0.2};
    tal_function *const f[3] = {polynomial(cubic, 4), NULL, polynomial(line, 2)};
    const tal_mobility at[3] = {SLIDE, {{-1}, 9}, {{BALL}, 1}};
    tal_path_add_point(m->forces, s->path, m->body[GIMBAL], tal_v3(0.3, -0.2, 0.5));
    ck_assert_int_eq(tal_path_add_moving_point(m->forces, s->path, m->body[PIN], &X_BP, at, f), 1);
    tal_path_add_point(m->forces, s->path, m->body[PIN], tal_v3(0.5, -0.6, 0.2));
    s->self = (puller){m->forces, s->path, 2.0};
    s->force = tal_forces_add(m->forces, "pull", &puller_ops, &s->self);
    model_finish(m);
}

START_TEST(a_moving_point_pulls_along_its_coordinates)
{
    strung s;
    begin_moving(&s, false);
    for (uint64_t seed = 1; seed < 30; ++seed) {
        model_shake(&s.m, seed);
        double rate;
        ck_assert(path_rate(&s.m, s.path, &rate));
        const double speed = tal_path_speed(s.m.forces, s.m.state, s.path);
        ck_assert_double_eq_tol(rate, speed, 1e-9);
        const load on = model_load(&s.m, s.force);
        ck_assert_double_eq_tol(model_power(&s.m, &on), -2.0 * speed, 1e-12);
        // the slider is not touched by a body force: only its speed feels the string
        ck_assert_double_ne(on.f[tal_body_u_start(s.m.matter, s.m.body[SLIDER])], 0.0);
    }
    model_check_by_tester(&s.m, s.force, 1e-9);
    model_check_heap_and_switch(&s.m, s.force);
    model_end(&s.m);
}

END_TEST

START_TEST(a_moving_point_stands_still_beyond_the_range)
{
    strung s;
    begin_moving(&s, true);
    model *m = &s.m;
    const int u = tal_body_u_start(m->matter, m->body[SLIDER]);
    set_slider(m, 0.4);
    const double at_end = tal_path_length(m->forces, m->state, s.path);
    set_slider(m, 0.9);
    ck_assert_double_eq(tal_path_length(m->forces, m->state, s.path), at_end);
    ck_assert_double_eq(model_load(m, s.force).f[u], 0.0);
    set_slider(m, 0.39);
    ck_assert_double_ne(model_load(m, s.force).f[u], 0.0);
    model_end(m);
}

END_TEST

// --- a length as a function ---

START_TEST(a_length_that_is_a_function_gives_its_forces)
{
    strung s = {.m = model_begin()};
    model *m = &s.m;
    // l = 1 + 0.3 q0 + 0.2 q1 q0 needs a product of linear functions
    const double a[2] = {0.3, 0.0}, first[2] = {1.0, 0.0}, second[2] = {0.0, 0.2};
    tal_function *line = NULL, *x = NULL, *y = NULL, *product = NULL, *length = NULL;
    ck_assert_int_eq(tal_function_create_linear(NULL, a, 2, 1.0, &line, NULL), TAL_OK);
    ck_assert_int_eq(tal_function_create_linear(NULL, first, 2, 0.0, &x, NULL), TAL_OK);
    ck_assert_int_eq(tal_function_create_linear(NULL, second, 2, 0.0, &y, NULL), TAL_OK);
    tal_function *factors[2] = {x, y};
    ck_assert_int_eq(tal_function_create_product(NULL, factors, 2, &product, NULL), TAL_OK);
    tal_function *terms[2] = {line, product};
    ck_assert_int_eq(tal_function_create_sum(NULL, terms, 2, &length, NULL), TAL_OK);
    const tal_mobility at[2] = {SLIDE, {{BALL}, 2}};
    s.path = tal_forces_add_function_path(m->forces, "muscle", at, 2, length);
    s.self = (puller){m->forces, s.path, 2.0};
    s.force = tal_forces_add(m->forces, "pull", &puller_ops, &s.self);
    model_finish(m);
    for (uint64_t seed = 1; seed < 10; ++seed) {
        model_shake(m, seed);
        const double q0 = tal_body_q(m->matter, m->state, m->body[SLIDER], 0);
        const double q1 = tal_body_q(m->matter, m->state, m->body[BALL], 2);
        ck_assert_double_eq_tol(tal_path_length(m->forces, m->state, s.path),
                                1.0 + 0.3 * q0 + 0.2 * q0 * q1, 1e-15);
        double rate;
        ck_assert(path_rate(m, s.path, &rate));
        ck_assert_double_eq_tol(rate, tal_path_speed(m->forces, m->state, s.path), 1e-10);
    }
    tal_vec3 point;
    ck_assert_int_eq(tal_path_calc_points(m->forces, m->state, s.path, 2, &point, 1), 0);
    model_check_by_tester(m, s.force, 1e-10);
    model_check_heap_and_switch(m, s.force);
    model_end(m);
}

END_TEST

// --- mistakes ---

static void limits_crossed(model *m)
{
    const tal_path_ix path = tal_forces_add_path(m->forces, "rope");
    tal_path_add_conditional_point(m->forces, path, TAL_GROUND, TAL_VEC3_ZERO, SLIDE, 1.0, 0.0);
}

static void no_coordinate(model *m)
{
    const tal_path_ix path = tal_forces_add_path(m->forces, "rope");
    const tal_mobility at = {{SLIDER}, 1};
    tal_path_add_conditional_point(m->forces, path, TAL_GROUND, TAL_VEC3_ZERO, at, 0.0, 1.0);
}

static void function_of_two(model *m)
{
    const tal_path_ix path = tal_forces_add_path(m->forces, "rope");
    const tal_mobility at[3] = {SLIDE, SLIDE, SLIDE};
    tal_function *f[3] = {NULL, NULL, NULL};
    ck_assert_int_eq(tal_function_create_constant(NULL, 1.0, 2, &f[1], NULL), TAL_OK);
    tal_path_add_moving_point(m->forces, path, TAL_GROUND, NULL, at, f);
}

static void function_twice(model *m)
{
    const tal_path_ix path = tal_forces_add_path(m->forces, "rope");
    const tal_mobility at[3] = {SLIDE, SLIDE, SLIDE};
    const double c[1] = {1.0};
    tal_function *once = polynomial(c, 1), *const f[3] = {once, NULL, once};
    tal_path_add_moving_point(m->forces, path, TAL_GROUND, NULL, at, f);
}

static void moving_without_body(model *m)
{
    const tal_path_ix path = tal_forces_add_path(m->forces, "rope");
    const tal_mobility at[3] = {SLIDE, SLIDE, SLIDE};
    const double c[1] = {1.0};
    tal_function *const f[3] = {polynomial(c, 1), NULL, NULL};
    tal_path_add_moving_point(m->forces, path, (tal_body_ix){-1}, NULL, at, f);
}

static void moving_without_coordinates(model *m)
{
    const tal_path_ix path = tal_forces_add_path(m->forces, "rope");
    const double c[1] = {1.0};
    tal_function *const f[3] = {polynomial(c, 1), NULL, NULL};
    tal_path_add_moving_point(m->forces, path, TAL_GROUND, NULL, NULL, f);
}

static void length_of_too_few(model *m)
{
    const double c[2] = {1.0, 0.0};
    const tal_mobility at[2] = {SLIDE, SLIDE};
    (void)tal_forces_add_function_path(m->forces, "rope", at, 2, polynomial(c, 2));
}

static void length_of_nothing(model *m)
{
    const tal_mobility at[1] = {SLIDE};
    (void)tal_forces_add_function_path(m->forces, "rope", at, 1, NULL);
}

static void point_on_a_function(model *m)
{
    const double c[2] = {1.0, 0.0};
    const tal_mobility at[1] = {SLIDE};
    const tal_path_ix path =
        tal_forces_add_function_path(m->forces, "rope", at, 1, polynomial(c, 2));
    tal_path_add_point(m->forces, path, TAL_GROUND, TAL_VEC3_ZERO);
}

static const path_mistake mistakes[] = {
    {limits_crossed, TAL_ERR_BAD_VALUE, "path 'rope', point 0: its limits are 1 and 0"},
    {no_coordinate, TAL_ERR_BAD_INDEX, "path 'rope': there is no coordinate 1 of body 4"},
    {function_of_two, TAL_ERR_BAD_VALUE, "path 'rope', point 0: function 1 must be one of its own"},
    {function_twice, TAL_ERR_BAD_VALUE, "function 2 must be one of its own"},
    {moving_without_body, TAL_ERR_BAD_INDEX, "path 'rope', point 0: there is no body -1"},
    {moving_without_coordinates, TAL_ERR_NULL, "path 'rope': an argument is NULL"},
    {length_of_too_few, TAL_ERR_BAD_VALUE, "path 'rope': its length must be a function of 2"},
    {length_of_nothing, TAL_ERR_NULL, "path 'rope': an argument is NULL"},
    {point_on_a_function, TAL_ERR_BAD_VALUE, "path 'rope' is a function of coordinates"},
};

START_TEST(a_mistake_is_told_with_the_name_of_the_path)
{
    path_check_mistake(&mistakes[_i]);
}

END_TEST

START_TEST(an_angle_of_a_quaternion_is_refused_in_that_State)
{
    model m = model_begin();
    const tal_path_ix path = tal_forces_add_path(m.forces, "rope");
    const tal_mobility at = {{FREE}, 1}, along = {{FREE}, 4};
    tal_path_add_point(m.forces, path, TAL_GROUND, TAL_VEC3_ZERO);
    tal_path_add_point(m.forces, path, TAL_GROUND, tal_v3(1.0, 0.0, 0.0));
    tal_path_add_conditional_point(m.forces, path, TAL_GROUND, TAL_VEC3_ZERO, along, 0.0, 1.0);
    tal_path_add_conditional_point(m.forces, path, TAL_GROUND, TAL_VEC3_ZERO, at, 0.0, 1.0);
    tal_error err = {0};
    ck_assert_int_eq(tal_system_realize_topology(m.system, &err), TAL_OK);
    ck_assert_int_eq(tal_state_create(m.system, &m.state, &err), TAL_OK);
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_INSTANCE), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(m.state)->message, "part of a quaternion"));
    ck_assert_int_eq(tal_matter_set_use_angles(m.matter, m.state, true), TAL_OK);
    model_realize(&m, TAL_STAGE_POSITION);
    ck_assert(isfinite(tal_path_length(m.forces, m.state, path)));
    model_end(&m);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/path_parts");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, a_conditional_point_is_there_within_its_limits);
    tcase_add_test(theory, a_path_with_one_active_point_is_told_with_the_coordinate);
    tcase_add_test(theory, a_moving_point_pulls_along_its_coordinates);
    tcase_add_test(theory, a_moving_point_stands_still_beyond_the_range);
    tcase_add_test(theory, a_length_that_is_a_function_gives_its_forces);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_loop_test(errors, a_mistake_is_told_with_the_name_of_the_path, 0,
                        sizeof mistakes / sizeof mistakes[0]);
    tcase_add_test(errors, an_angle_of_a_quaternion_is_refused_in_that_State);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
