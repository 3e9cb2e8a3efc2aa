// Tests for forces/src/path/: paths over obstacles.
#include "path/path_model.h"

enum {
    NUM_KINDS = 5
};

static tal_wrap wrap_of(int kind)
{
    switch (kind) {
    case 0:
        return tal_wrap_cylinder(0.3, 8.0);
    case 1:
        return tal_wrap_sphere(0.5);
    case 2:
        return tal_wrap_ellipsoid(tal_v3(0.3, 0.5, 0.7));
    case 3: {
        tal_wrap wrap = tal_wrap_cylinder(0.3, 8.0);
        wrap.side = TAL_WRAP_PLUS_X;
        return wrap;
    }
    default:
        return tal_wrap_torus(0.6, 0.2);
    }
}

typedef struct strung {
    model m;
    tal_path_ix path;
    tal_wrap_ix wrap[2];
    puller self;
    tal_force_ix force;
} strung;

// From the gimbal past obstacles on the pin's body and on the slider to the ball.
static void begin(strung *s, int kind, int num_wraps)
{
    s->m = model_begin();
    model *m = &s->m;
    s->path = tal_forces_add_path(m->forces, "string");
    tal_path_add_point(m->forces, s->path, m->body[GIMBAL], tal_v3(0.3, -0.2, 0.5));
    tal_path_add_point(m->forces, s->path, m->body[SLIDER], tal_v3(0.9, 0.8, 0.7));
    tal_path_add_point(m->forces, s->path, m->body[BALL], tal_v3(-0.9, -0.8, -0.6));
    test_rng rng = test_rng_seed(3);
    for (int k = 0; k < num_wraps; ++k) {
        const tal_wrap shape = wrap_of((kind + k) % NUM_KINDS);
        tal_xform X_BW;
        double clearance;
        do { // the point on the slider is outside
            X_BW = test_random_xform(&rng);
            X_BW.p = tal_v3_scale(0.3, X_BW.p);
            clearance = tal_wrap_clearance(&shape, tal_xf_inv_apply(X_BW, tal_v3(0.9, 0.8, 0.7)));
        } while (clearance < 0.1);
        s->wrap[k] = tal_forces_add_wrap(m->forces, k == 0 ? "first" : NULL,
                                         m->body[k == 0 ? PIN : SLIDER], &X_BW, &shape);
        tal_path_add_wrap(m->forces, s->path, s->wrap[k], k, -1);
    }
    s->self = (puller){m->forces, s->path, 2.0};
    s->force = tal_forces_add(m->forces, "pull", &puller_ops, &s->self);
    model_finish(m);
}

static bool is_on(strung *s, int k)
{
    return tal_path_is_on_wrap(s->m.forces, s->m.state, s->path, k);
}

// Whether realizing the State draws the path; one through a torus can fail, with a sentence.
static bool shake(strung *s, uint64_t seed)
{
    model_shake(&s->m, seed);
    return isfinite(tal_path_length(s->m.forces, s->m.state, s->path));
}

START_TEST(the_speed_is_the_rate_of_the_length)
{
    strung s;
    begin(&s, _i % NUM_KINDS, 1 + _i / NUM_KINDS);
    int num_on = 0;
    for (uint64_t seed = 1; seed < 120; ++seed) {
        if (!shake(&s, seed)) continue;
        double rate;
        const bool touches = is_on(&s, 0);
        if (!path_rate(&s.m, s.path, &rate)) continue;
        const double speed = tal_path_speed(s.m.forces, s.m.state, s.path);
        if (tal_path_num_inside(s.m.forces, s.m.state, s.path) > 0) continue;
        // points as close as 1e-2 to a surface have fifth derivatives of 1e8: 1e-16 * 1e8
        ck_assert_double_eq_tol(rate, speed, 1e-8 * (1.0 + fabs(speed)));
        num_on += touches ? 1 : 0;
    }
    ck_assert_int_gt(num_on, 5);
    model_end(&s.m);
}

END_TEST

START_TEST(action_is_reaction_over_obstacles)
{
    strung s;
    begin(&s, _i % NUM_KINDS, 1 + _i / NUM_KINDS);
    for (uint64_t seed = 200; seed < 240; ++seed) {
        if (!shake(&s, seed)) continue;
        const load on = model_load(&s.m, s.force);
        test_assert_sv_near(model_total(&s.m, &on), TAL_SPATIAL_VEC_ZERO, 1e-12);
        const double speed = tal_path_speed(s.m.forces, s.m.state, s.path);
        ck_assert_double_eq_tol(model_power(&s.m, &on), -s.self.tension * speed, 1e-12);
    }
    model_end(&s.m);
}

END_TEST

// The length is a function of q alone: whatever was computed before makes no difference to a bit.
START_TEST(nothing_depends_on_what_came_before)
{
    strung s;
    begin(&s, 1, 2);
    double up[50], down[50];
    for (int i = 0; i < 50; ++i) {
        ck_assert(shake(&s, (uint64_t)i + 1));
        up[i] = tal_path_length(s.m.forces, s.m.state, s.path);
    }
    for (int i = 49; i >= 0; --i) {
        ck_assert(shake(&s, (uint64_t)i + 1));
        down[i] = tal_path_length(s.m.forces, s.m.state, s.path);
        ck_assert_double_eq(up[i], down[i]);
    }
    model_end(&s.m);
}

END_TEST

// Where the path passes two obstacles every straight piece is tangent at both ends: moving a
// contact along its surface changes the length in second order only. That the rate is right says
// so; here the drawing is looked at.
START_TEST(points_along_a_path_lie_on_its_obstacles)
{
    strung s;
    begin(&s, _i, 2);
    model *m = &s.m;
    int num_seen = 0;
    for (uint64_t seed = 1; seed < 100; ++seed) {
        if (!shake(&s, seed)) continue;
        const int arcs = is_on(&s, 0) + is_on(&s, 1);
        tal_vec3 points[300];
        int n = 0;
        test_assert_no_heap(
            n = tal_path_calc_points(m->forces, m->state, s.path, 100, points, 300));
        ck_assert_int_eq(n, 3 + 100 * arcs);
        double length = 0.0;
        for (int k = 1; k < n; ++k) {
            length += tal_v3_norm(tal_v3_sub(points[k], points[k - 1]));
        }
        // chords of a hundredth of an arc are short by 1e-4 / 24 of it
        const double whole = tal_path_length(m->forces, m->state, s.path);
        ck_assert_double_le(length, whole + 1e-12);
        ck_assert_double_ge(length, whole * (1.0 - 1e-4));
        num_seen += arcs;
    }
    ck_assert_int_gt(num_seen, 5);
    model_end(m);
}

END_TEST

START_TEST(the_tester_finds_nothing_wrong)
{
    strung s;
    begin(&s, 3, 1);
    model_check_heap_and_switch(&s.m, s.force);
    model_end(&s.m);
}

END_TEST

// A pulley: a weight hangs from a string over a cylinder on Ground. By hand.
START_TEST(a_string_over_a_pulley_has_the_length_one_expects)
{
    model m = model_begin();
    const tal_wrap shape = tal_wrap_cylinder(0.5, 1.0);
    const tal_xform X_BW = TAL_XFORM_IDENTITY;
    const tal_wrap_ix pulley = tal_forces_add_wrap(m.forces, "pulley", TAL_GROUND, &X_BW, &shape);
    const tal_path_ix path = tal_forces_add_path(m.forces, "rope");
    tal_path_add_point(m.forces, path, TAL_GROUND, tal_v3(-0.5, -2.0, 0.0));
    tal_path_add_point(m.forces, path, TAL_GROUND, tal_v3(0.5, -3.0, 0.0));
    tal_path_add_wrap(m.forces, path, pulley, -1, -1);
    model_finish(&m);
    // both ends below: the straight line is free
    ck_assert(!tal_path_is_on_wrap(m.forces, m.state, path, 0));
    ck_assert_double_eq_tol(tal_path_length(m.forces, m.state, path), sqrt(2.0), 1e-15);
    model_end(&m);

    m = model_begin();
    tal_wrap upper = shape;
    upper.side = TAL_WRAP_PLUS_Y;
    const tal_wrap_ix top = tal_forces_add_wrap(m.forces, "pulley", TAL_GROUND, &X_BW, &upper);
    const tal_path_ix rope = tal_forces_add_path(m.forces, "rope");
    tal_path_add_point(m.forces, rope, TAL_GROUND, tal_v3(-0.5, -2.0, 0.0));
    tal_path_add_point(m.forces, rope, TAL_GROUND, tal_v3(0.5, -3.0, 0.0));
    tal_path_add_wrap(m.forces, rope, top, 0, 1);
    model_finish(&m);
    ck_assert(tal_path_is_on_wrap(m.forces, m.state, rope, 0));
    ck_assert_double_eq_tol(tal_path_length(m.forces, m.state, rope), 5.0 + 0.5 * acos(-1.0),
                            1e-14);
    ck_assert_int_eq(tal_path_num_wraps(m.forces, rope), 1);
    ck_assert_int_eq(tal_path_wrap(m.forces, rope, 0).i, top.i);
    ck_assert_int_eq(tal_forces_num_wraps(m.forces), 1);
    ck_assert_int_eq(tal_forces_find_wrap(m.forces, "pulley").i, 0);
    ck_assert_int_eq(tal_forces_find_wrap(m.forces, "wheel").i, -1);
    ck_assert_str_eq(tal_wrap_name(m.forces, top), "pulley");
    ck_assert_int_eq(tal_wrap_body(m.forces, top).i, 0);
    tal_wrap told;
    ck_assert_int_eq(tal_wrap_shape(m.forces, top, &told, NULL), TAL_OK);
    ck_assert_int_eq(told.side, TAL_WRAP_PLUS_Y);
    model_end(&m);
}

END_TEST

// Two pulleys of radius r, 2 d apart; a rope comes up to the first from h below and turns right. It
// passes over both and goes down; or it crosses between them, at an angle b below the horizontal,
// sin(b) = r / d, and goes up behind the second.
START_TEST(a_string_over_two_pulleys_has_the_length_one_expects)
{
    const double r = 0.5, d = 1.3, h = 2.0, quarter = 0.5 * acos(-1.0), b = asin(r / d);
    const double lengths[2] = {2.0 * h + 2.0 * r * quarter + 2.0 * d,
                               2.0 * h + 2.0 * r * (quarter + b) + 2.0 * sqrt(d * d - r * r)};
    for (int crosses = 0; crosses < 2; ++crosses) {
        model m = model_begin();
        const tal_path_ix rope = tal_forces_add_path(m.forces, "rope");
        tal_path_add_point(m.forces, rope, TAL_GROUND, tal_v3(-d - r, -h, 0.0));
        tal_path_add_point(m.forces, rope, TAL_GROUND, tal_v3(d + r, crosses ? h : -h, 0.0));
        for (int k = 0; k < 2; ++k) {
            const tal_xform X_BW = tal_xf_from_p(tal_v3(k == 0 ? -d : d, 0.0, 0.0));
            tal_wrap pulley = tal_wrap_cylinder(r, 1.0);
            pulley.side = k == 1 && crosses ? TAL_WRAP_MINUS_Y : TAL_WRAP_PLUS_Y;
            const tal_wrap_ix wrap =
                tal_forces_add_wrap(m.forces, NULL, TAL_GROUND, &X_BW, &pulley);
            tal_path_add_wrap(m.forces, rope, wrap, -1, -1);
        }
        model_finish(&m);
        ck_assert(tal_path_is_on_wrap(m.forces, m.state, rope, 0));
        ck_assert(tal_path_is_on_wrap(m.forces, m.state, rope, 1));
        ck_assert_double_eq_tol(tal_path_length(m.forces, m.state, rope), lengths[crosses], 1e-13);
        model_end(&m);
    }
}

END_TEST

START_TEST(a_point_inside_an_obstacle_is_counted_and_the_path_straight)
{
    model m = model_begin();
    const tal_wrap shape = tal_wrap_sphere(1.0);
    const tal_xform X_BW = TAL_XFORM_IDENTITY;
    const tal_wrap_ix ball = tal_forces_add_wrap(m.forces, "ball", TAL_GROUND, &X_BW, &shape);
    const tal_path_ix path = tal_forces_add_path(m.forces, "rope");
    tal_path_add_point(m.forces, path, TAL_GROUND, tal_v3(0.1, 0.0, 0.0));
    tal_path_add_point(m.forces, path, TAL_GROUND, tal_v3(3.1, 0.0, 0.0));
    tal_path_add_wrap(m.forces, path, ball, -1, -1);
    model_finish(&m);
    ck_assert_int_eq(tal_path_num_inside(m.forces, m.state, path), 1);
    ck_assert_double_eq(tal_path_length(m.forces, m.state, path), 3.0);
    model_end(&m);
}

END_TEST

// --- mistakes ---

static tal_path_ix rope(model *m)
{
    const tal_path_ix path = tal_forces_add_path(m->forces, "rope");
    tal_path_add_point(m->forces, path, TAL_GROUND, tal_v3(2.0, 0.0, 0.0));
    tal_path_add_point(m->forces, path, TAL_GROUND, tal_v3(-2.0, 0.0, 0.0));
    return path;
}

static tal_wrap_ix ball(model *m, double radius, int body)
{
    const tal_xform X = TAL_XFORM_IDENTITY;
    const tal_wrap shape = tal_wrap_sphere(radius);
    return tal_forces_add_wrap(m->forces, "ball", (tal_body_ix){body}, &X, &shape);
}

static void zero_radius(model *m)
{
    (void)ball(m, 0.0, 0);
}

static void no_body(model *m)
{
    (void)ball(m, 1.0, 77);
}

static void twice(model *m)
{
    (void)ball(m, 1.0, 0);
    (void)ball(m, 1.0, 0);
}

static void no_frame(model *m)
{
    const tal_wrap shape = tal_wrap_sphere(1.0);
    (void)tal_forces_add_wrap(m->forces, "ball", TAL_GROUND, NULL, &shape);
}

static void frame_of_nan(model *m)
{
    const tal_wrap shape = tal_wrap_sphere(1.0);
    const tal_xform X = tal_xf_from_p(tal_v3(NAN, 0.0, 0.0));
    (void)tal_forces_add_wrap(m->forces, "ball", TAL_GROUND, &X, &shape);
}

static void no_wrap(model *m)
{
    (void)tal_path_add_wrap(m->forces, rope(m), (tal_wrap_ix){4}, 0, -1);
}

static void bad_range(model *m)
{
    (void)tal_path_add_wrap(m->forces, rope(m), ball(m, 1.0, 0), 1, 1);
}

static void range_too_far(model *m)
{
    (void)tal_path_add_wrap(m->forces, rope(m), ball(m, 1.0, 0), 0, 2);
}

static void range_below(model *m)
{
    (void)tal_path_add_wrap(m->forces, rope(m), ball(m, 1.0, 0), -2, 1);
}

static void too_many(model *m)
{
    const tal_path_ix path = rope(m);
    const tal_wrap_ix wrap = ball(m, 1.0, 0);
    for (int k = 0; k <= TAL_MAX_PATH_WRAPS; ++k) {
        (void)tal_path_add_wrap(m->forces, path, wrap, 0, 1);
    }
}

static const path_mistake mistakes[] = {
    {zero_radius, TAL_ERR_BAD_VALUE, "sphere 'ball': the radius is 0"},
    {no_body, TAL_ERR_BAD_INDEX, "obstacle 'ball': there is no body 77"},
    {twice, TAL_ERR_BAD_NAME, "there is a wrap 'ball' already"},
    {no_frame, TAL_ERR_NULL, "the frame of an obstacle is NULL"},
    {frame_of_nan, TAL_ERR_NOT_FINITE, "obstacle 'ball': its frame is not finite"},
    {no_wrap, TAL_ERR_BAD_INDEX, "there is no obstacle 4"},
    {bad_range, TAL_ERR_BAD_INDEX, "path 'rope': obstacle 'ball' lies between its points 1 and 1"},
    {range_too_far, TAL_ERR_BAD_INDEX, "between its points 0 and 2"},
    {range_below, TAL_ERR_BAD_INDEX, "between its points -2 and 1"},
    {too_many, TAL_ERR_CAPACITY, "cannot go over more than 64 obstacles"},
};

START_TEST(a_mistake_is_told_with_its_names)
{
    path_check_mistake(&mistakes[_i]);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/path_wrap");
    TCase *theory = tcase_create("theory");
    tcase_add_loop_test(theory, the_speed_is_the_rate_of_the_length, 0, 2 * NUM_KINDS);
    tcase_add_loop_test(theory, action_is_reaction_over_obstacles, 0, 2 * NUM_KINDS);
    tcase_add_test(theory, nothing_depends_on_what_came_before);
    tcase_add_loop_test(theory, points_along_a_path_lie_on_its_obstacles, 0, NUM_KINDS);
    tcase_add_test(theory, the_tester_finds_nothing_wrong);
    tcase_add_test(theory, a_string_over_a_pulley_has_the_length_one_expects);
    tcase_add_test(theory, a_string_over_two_pulleys_has_the_length_one_expects);
    tcase_add_test(theory, a_point_inside_an_obstacle_is_counted_and_the_path_straight);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_loop_test(errors, a_mistake_is_told_with_its_names, 0,
                        sizeof mistakes / sizeof mistakes[0]);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
