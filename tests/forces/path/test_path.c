// Tests for forces/src/path/: paths of fixed points, and what a tension along them does.
#include "path/path_model.h"

enum {
    NUM_POINTS = 5
};

static const int bodies[NUM_POINTS] = {GIMBAL, GIMBAL, 0, SLIDER, BALL};
static const tal_vec3 stations[NUM_POINTS] = {
    {0.3, -0.2, 0.5}, {0.1, 0.4, -0.3}, {0.2, 0.2, 0.1}, {-0.4, 0.1, 0.7}, {0.6, 0.0, -0.2}};

static const double TENSION = 3.0;

typedef struct strung {
    model m;
    tal_path_ix path;
    puller self;
    tal_force_ix force;
} strung;

static tal_path_ix add_path(model *m)
{
    const tal_path_ix path = tal_forces_add_path(m->forces, "string");
    for (int k = 0; k < NUM_POINTS; ++k) {
        ck_assert_int_eq(tal_path_add_point(m->forces, path, m->body[bodies[k]], stations[k]), k);
    }
    return path;
}

static void begin(strung *s)
{
    s->m = model_begin();
    s->path = add_path(&s->m);
    s->self = (puller){s->m.forces, s->path, TENSION};
    s->force = tal_forces_add(s->m.forces, "pull", &puller_ops, &s->self);
    model_finish(&s->m);
}

// By matter's own kinematics.
static double length_by_stations(model *m)
{
    double length = 0.0;
    for (int k = 1; k < NUM_POINTS; ++k) {
        length += tal_station_distance(m->matter, m->state, m->body[bodies[k - 1]], stations[k - 1],
                                       m->body[bodies[k]], stations[k]);
    }
    return length;
}

START_TEST(length_and_speed_are_those_of_the_stations)
{
    strung s;
    begin(&s);
    model *m = &s.m;
    for (uint64_t seed = 1; seed < 20; ++seed) {
        model_shake(m, seed);
        double speed = 0.0;
        for (int k = 1; k < NUM_POINTS; ++k) {
            speed += tal_station_distance_rate(m->matter, m->state, m->body[bodies[k - 1]],
                                               stations[k - 1], m->body[bodies[k]], stations[k]);
        }
        // sums of five numbers below ten: 1e-14 each
        ck_assert_double_eq_tol(tal_path_length(m->forces, m->state, s.path), length_by_stations(m),
                                1e-13);
        ck_assert_double_eq_tol(tal_path_speed(m->forces, m->state, s.path), speed, 1e-13);
        double lengths[1], speeds[1];
        ck_assert_int_eq(tal_forces_calc_path_lengths(m->forces, m->state, lengths), TAL_OK);
        ck_assert_int_eq(tal_forces_calc_path_speeds(m->forces, m->state, speeds), TAL_OK);
        ck_assert_double_eq(lengths[0], tal_path_length(m->forces, m->state, s.path));
        ck_assert_double_eq(speeds[0], tal_path_speed(m->forces, m->state, s.path));
    }
    model_end(m);
}

END_TEST

START_TEST(a_path_of_two_points_pulls_as_the_line_between_them)
{
    strung s = {.m = model_begin()};
    model *m = &s.m;
    s.path = tal_forces_add_path(m->forces, NULL);
    tal_path_add_point(m->forces, s.path, m->body[BALL], stations[0]);
    tal_path_add_point(m->forces, s.path, m->body[PIN], stations[1]);
    s.self = (puller){m->forces, s.path, TENSION};
    s.force = tal_forces_add(m->forces, "pull", &puller_ops, &s.self);
    const tal_two_points at = {m->body[BALL], stations[0], m->body[PIN], stations[1]};
    const tal_force_ix line = tal_forces_add_two_point_force(m->forces, NULL, &at, -TENSION);
    model_finish(m);
    ck_assert_str_eq(tal_path_name(m->forces, s.path), "path0");
    for (uint64_t seed = 1; seed < 5; ++seed) {
        model_shake(m, seed);
        const load a = model_load(m, s.force), b = model_load(m, line);
        for (int k = 0; k < MODEL_BODIES; ++k) {
            test_assert_sv_near(a.F[k], b.F[k], 1e-14);
        }
    }
    model_end(m);
}

END_TEST

START_TEST(action_is_reaction_and_energy_is_accounted_for)
{
    strung s;
    begin(&s);
    model_check_reaction(&s.m, s.force, 1e-13);
    model_check_balance(&s.m, s.force, 1e-9);
    model_check_by_tester(&s.m, s.force, 1e-10);
    model_check_heap_and_switch(&s.m, s.force);
    model_end(&s.m);
}

END_TEST

START_TEST(generalized_forces_give_the_speed)
{
    strung s;
    begin(&s);
    model *m = &s.m;
    for (uint64_t seed = 1; seed < 20; ++seed) {
        model_shake(m, seed);
        double g[MODEL_NU], rate = 0.0, whole[MODEL_NU];
        tal_status st = TAL_OK;
        test_assert_no_heap(st = tal_path_calc_generalized(m->forces, m->state, s.path, g));
        ck_assert_int_eq(st, TAL_OK);
        for (int i = 0; i < MODEL_NU; ++i) {
            rate -= g[i] * tal_state_u(m->state)[i];
        }
        // fourteen products of size ten
        ck_assert_double_eq_tol(rate, tal_path_speed(m->forces, m->state, s.path), 1e-12);
        st = tal_forces_calc_generalized(m->forces, m->state, &s.force, 1, whole);
        ck_assert_int_eq(st, TAL_OK);
        for (int i = 0; i < MODEL_NU; ++i) {
            ck_assert_double_eq_tol(whole[i], TENSION * g[i], 1e-12);
        }
    }
    model_end(m);
}

END_TEST

START_TEST(points_that_meet_pull_with_nothing)
{
    strung s = {.m = model_begin()};
    model *m = &s.m;
    s.path = tal_forces_add_path(m->forces, "knot");
    for (int k = 0; k < 3; ++k) {
        tal_path_add_point(m->forces, s.path, TAL_GROUND, stations[0]);
    }
    s.self = (puller){m->forces, s.path, TENSION};
    s.force = tal_forces_add(m->forces, "pull", &puller_ops, &s.self);
    model_finish(m);
    ck_assert_double_eq(tal_path_length(m->forces, m->state, s.path), 0.0);
    ck_assert_double_eq(tal_path_speed(m->forces, m->state, s.path), 0.0);
    const load on = model_load(m, s.force);
    test_assert_sv_near(on.F[0], TAL_SPATIAL_VEC_ZERO, 0.0);
    model_end(m);
}

END_TEST

START_TEST(points_are_parameters_of_a_State)
{
    strung s;
    begin(&s);
    model *m = &s.m;
    const double before = tal_path_length(m->forces, m->state, s.path);
    const tal_vec3 old = tal_path_point_station(m->forces, m->state, s.path, 4);
    ck_assert_double_eq(old.x, stations[4].x);
    const tal_vec3 moved = {1.0, 2.0, 3.0};
    ck_assert_int_eq(tal_path_set_point_station(m->forces, m->state, s.path, 4, moved), TAL_OK);
    ck_assert_int_eq(tal_state_stage(m->state), TAL_STAGE_MODEL);
    model_realize(m, TAL_STAGE_POSITION);
    const double far = tal_station_distance(m->matter, m->state, m->body[SLIDER], stations[3],
                                            m->body[BALL], moved);
    const double near = tal_station_distance(m->matter, m->state, m->body[SLIDER], stations[3],
                                             m->body[BALL], stations[4]);
    ck_assert_double_eq_tol(tal_path_length(m->forces, m->state, s.path), before + far - near,
                            1e-13);
    const tal_vec3 bad = {NAN, 0.0, 0.0};
    ck_assert_int_eq(tal_path_set_point_station(m->forces, m->state, s.path, 4, bad),
                     TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(m->state)->message, "'string', point 4"));
    (void)tal_state_clear_error(m->state);
    ck_assert_int_eq(tal_path_set_point_station(m->forces, m->state, s.path, 4, old), TAL_OK);
    model_realize(m, TAL_STAGE_POSITION);
    ck_assert_double_eq(tal_path_length(m->forces, m->state, s.path), before);
    model_end(m);
}

END_TEST

START_TEST(a_path_says_what_it_is)
{
    strung s;
    begin(&s);
    const model *m = &s.m;
    ck_assert_int_eq(tal_forces_num_paths(m->forces), 1);
    ck_assert_str_eq(tal_path_name(m->forces, s.path), "string");
    ck_assert_int_eq(tal_forces_find_path(m->forces, "string").i, 0);
    ck_assert_int_eq(tal_forces_find_path(m->forces, "rope").i, -1);
    ck_assert_int_eq(tal_path_num_points(m->forces, s.path), NUM_POINTS);
    ck_assert_int_eq(tal_path_point_body(m->forces, s.path, 3).i, m->body[SLIDER].i);
    model_end(&s.m);
}

END_TEST

START_TEST(a_length_is_never_stale)
{
    strung s;
    begin(&s);
    model *m = &s.m;
    model_shake(m, 1);
    const double first = tal_path_length(m->forces, m->state, s.path);
    tal_body_set_q(m->matter, m->state, m->body[SLIDER], 0, 0.25);
    ck_assert(isnan(tal_path_length(m->forces, m->state, s.path)));
    ck_assert_int_eq(tal_contract_last()->status, TAL_ERR_STAGE);
    model_realize(m, TAL_STAGE_POSITION);
    ck_assert_double_ne(tal_path_length(m->forces, m->state, s.path), first);
    ck_assert_double_eq_tol(tal_path_length(m->forces, m->state, s.path), length_by_stations(m),
                            1e-13);
    ck_assert(isnan(tal_path_speed(m->forces, m->state, s.path)));
    model_end(m);
}

END_TEST

// --- mistakes ---

static void one_point(model *m)
{
    const tal_path_ix path = tal_forces_add_path(m->forces, "short");
    tal_path_add_point(m->forces, path, TAL_GROUND, TAL_VEC3_ZERO);
}

static void the_name_twice(model *m)
{
    (void)add_path(m);
    (void)tal_forces_add_path(m->forces, "string");
}

static void an_empty_name(model *m)
{
    (void)tal_forces_add_path(m->forces, "");
}

static void a_body_that_is_not_there(model *m)
{
    const tal_path_ix path = tal_forces_add_path(m->forces, "string");
    tal_path_add_point(m->forces, path, (tal_body_ix){99}, TAL_VEC3_ZERO);
}

static void a_point_nowhere(model *m)
{
    const tal_path_ix path = tal_forces_add_path(m->forces, "string");
    tal_path_add_point(m->forces, path, TAL_GROUND, tal_v3(0.0, INFINITY, 0.0));
}

static void a_path_that_is_not_there(model *m)
{
    tal_path_add_point(m->forces, (tal_path_ix){3}, TAL_GROUND, TAL_VEC3_ZERO);
}

static const path_mistake mistakes[] = {
    {one_point, TAL_ERR_BAD_VALUE, "path 'short' needs two points or more: it has 1"},
    {the_name_twice, TAL_ERR_BAD_NAME, "there is a path 'string' already"},
    {an_empty_name, TAL_ERR_BAD_NAME, "path 0: a name has 1 to 63 characters"},
    {a_body_that_is_not_there, TAL_ERR_BAD_INDEX, "path 'string', point 0: there is no body 99"},
    {a_point_nowhere, TAL_ERR_NOT_FINITE, "path 'string', point 0: it is at (0, inf, 0)"},
    {a_path_that_is_not_there, TAL_ERR_BAD_INDEX, "there is no path 3: there are 0"},
};

START_TEST(a_mistake_is_told_with_the_name_of_the_path)
{
    path_check_mistake(&mistakes[_i]);
}

END_TEST

START_TEST(memory_may_run_out_at_any_call)
{
    bool built = false;
    for (int n = 1; n < 200 && !built; ++n) {
        test_heap heap = {.refuse_at = n};
        tal_system_def def = tal_system_def_default();
        def.allocator = test_heap_allocator(&heap);
        tal_system *system = tal_system_create(&def);
        if (system == NULL) continue;
        tal_matter *matter = tal_matter_create(system);
        tal_forces *forces = matter != NULL ? tal_forces_create(system, matter) : NULL;
        if (forces != NULL) {
            const tal_path_ix path = tal_forces_add_path(forces, "string");
            tal_path_add_point(forces, path, TAL_GROUND, stations[0]);
            tal_path_add_point(forces, path, TAL_GROUND, stations[1]);
        }
        built = forces != NULL && tal_system_realize_topology(system, NULL) == TAL_OK;
        if (!built) ck_assert_int_eq(tal_system_error(system)->status, TAL_ERR_NO_MEMORY);
        tal_system_destroy(system);
        ck_assert_int_eq(heap.live, 0);
    }
    ck_assert(built);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/path");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, length_and_speed_are_those_of_the_stations);
    tcase_add_test(theory, a_path_of_two_points_pulls_as_the_line_between_them);
    tcase_add_test(theory, action_is_reaction_and_energy_is_accounted_for);
    tcase_add_test(theory, generalized_forces_give_the_speed);
    tcase_add_test(theory, points_that_meet_pull_with_nothing);
    tcase_add_test(theory, points_are_parameters_of_a_State);
    suite_add_tcase(suite, theory);
    TCase *rules = tcase_create("rules");
    tcase_add_test(rules, a_path_says_what_it_is);
    tcase_add_test(rules, a_length_is_never_stale);
    tcase_add_loop_test(rules, a_mistake_is_told_with_the_name_of_the_path, 0,
                        sizeof mistakes / sizeof mistakes[0]);
    tcase_add_test(rules, memory_may_run_out_at_any_call);
    suite_add_tcase(suite, rules);
    return test_run(suite);
}
