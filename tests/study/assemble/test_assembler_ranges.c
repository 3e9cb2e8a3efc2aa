// Ranges of coordinates in assembly, also where coordinates do not go with one speed each.
#include "assembly_support.h"

typedef tal_body_ix (*add_fn)(tal_matter *, tal_body_ix, const tal_mobod_def *);

typedef struct limited {
    model m;
    tal_body_ix body;
    tal_marker markers[3];
    tal_vec3 points[3];
    int nq;
} limited;

// One body with three markers, and every coordinate within +-0.3.
static limited limited_body(add_fn add, int nq)
{
    limited it = {.m = begin_model(), .nq = nq};
    tal_mobod_def def = link_at(TAL_VEC3_ZERO);
    def.use_angles = true;
    it.body = add(it.m.matter, TAL_GROUND, &def);
    for (int i = 0; i < nq; ++i) {
        ck_assert_int_eq(tal_body_limit_coordinate(it.m.matter, it.body, i, -0.3, 0.3), TAL_OK);
    }
    it.markers[0] = (tal_marker){NULL, it.body, {1.0, 0.0, 0.0}, 1.0};
    it.markers[1] = (tal_marker){NULL, it.body, {0.0, 1.0, 0.0}, 1.0};
    it.markers[2] = (tal_marker){NULL, it.body, {0.0, 0.0, 1.0}, 2.0};
    tal_assembler_def goals = tal_assembler_def_default();
    goals.markers = it.markers;
    goals.num_markers = 3;
    finish_model(&it.m, &goals);
    ck_assert_int_eq(tal_body_nq(it.m.matter, it.m.state, it.body), nq);
    return it;
}

static double marker_goal(limited *it)
{
    ck_assert_int_eq(tal_system_realize(it->m.system, it->m.state, TAL_STAGE_POSITION), TAL_OK);
    double sum = 0.0;
    for (int k = 0; k < 3; ++k) {
        const tal_vec3 p =
            tal_station_p_GS(it->m.matter, it->m.state, it->body, it->markers[k].p_BS);
        const tal_vec3 r = tal_v3_sub(p, it->points[k]);
        sum += 0.5 * it->markers[k].weight * tal_v3_dot(r, r);
    }
    return sum;
}

// No neighbor within the ranges has less. The search ends at steps below 1e-8; a goal of size 1 is
// flat to 1e-12 within 1e-6 of its minimum, and steps of 1e-3 see slopes of 1e-9 and more.
static void check_neighbors(limited *it, test_rng *rng, double goal)
{
    double best[7], q[7];
    memcpy(best, tal_state_q(it->m.state), (size_t)it->nq * sizeof *best);
    for (int k = 0; k < 50; ++k) {
        for (int i = 0; i < it->nq; ++i) {
            const double moved = best[i] + test_random_uniform(rng, -1e-3, 1e-3);
            q[i] = fmin(fmax(moved, -0.3), 0.3);
        }
        ck_assert_int_eq(tal_state_set_q(it->m.state, q, it->nq), TAL_OK);
        ck_assert_double_ge(marker_goal(it), goal - 1e-10);
    }
}

static void check_ranges(add_fn add, int nq, uint64_t seed)
{
    limited it = limited_body(add, nq);
    test_rng rng = test_rng_seed(seed);
    int at_the_end = 0;
    for (int trial = 0; trial < 60; ++trial) {
        const tal_mat3 turn = test_random_rotation(&rng);
        const tal_vec3 shift = tal_v3_scale(0.5, test_random_vec3(&rng));
        for (int k = 0; k < 3; ++k) {
            const tal_vec3 p = tal_m3_mul_v3(turn, it.markers[k].p_BS);
            it.points[k] = tal_v3_add(shift, p);
        }
        ck_assert_int_eq(tal_state_set_q(it.m.state, (const double[7]){0.0}, nq), TAL_OK);
        ck_assert_int_eq(tal_assembler_observe(it.m.assembler, it.points, NULL), TAL_OK);
        tal_assembly found;
        ck_assert_int_eq(tal_assembler_assemble(it.m.assembler, it.m.state, &found), TAL_OK);
        const double *q = tal_state_q(it.m.state);
        for (int i = 0; i < nq; ++i) {
            ck_assert(q[i] >= -0.3 && q[i] <= 0.3);
            at_the_end += fabs(q[i]) == 0.3;
        }
        ck_assert_double_eq_tol(marker_goal(&it), found.goal, 1e-14);
        check_neighbors(&it, &rng, found.goal);
    }
    ck_assert_int_gt(at_the_end, 60); // or nothing was tested
    end_model(&it.m);
}

START_TEST(ranges_hold_exactly_whatever_the_coordinates_are)
{
    check_ranges(tal_matter_add_universal, 2, 931);
    check_ranges(tal_matter_add_gimbal, 3, 932);
    check_ranges(tal_matter_add_ball, 3, 933);
    check_ranges(tal_matter_add_free, 6, 934);
    check_ranges(tal_matter_add_bushing, 6, 935);
}

END_TEST

// A free body with a quaternion has ranges of its translations alone, coordinates 4 to 6.
START_TEST(translations_of_a_free_body_have_ranges)
{
    model m = begin_model();
    const tal_mobod_def def = link_at(TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_free(m.matter, TAL_GROUND, &def);
    ck_assert_int_eq(tal_body_limit_coordinate(m.matter, body, 5, -0.2, 0.1), TAL_OK);
    const tal_marker marker = {NULL, body, {0.0, 0.0, 0.0}, 1.0};
    tal_assembler_def goals = tal_assembler_def_default();
    goals.markers = &marker;
    goals.num_markers = 1;
    finish_model(&m, &goals);
    const tal_vec3 point = {0.7, 0.9, -0.8};
    ck_assert_int_eq(tal_assembler_observe(m.assembler, &point, NULL), TAL_OK);
    tal_assembly found;
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, &found), TAL_OK);
    ck_assert_double_eq_tol(tal_body_q(m.matter, m.state, body, 4), 0.7, 1e-8);
    ck_assert_double_eq(tal_body_q(m.matter, m.state, body, 5), 0.1);
    ck_assert_double_eq_tol(tal_body_q(m.matter, m.state, body, 6), -0.8, 1e-8);
    ck_assert_double_eq_tol(found.marker_max, 0.8, 1e-8);
    end_model(&m);
}

END_TEST

START_TEST(ranges_may_be_ignored_and_starts_outside_are_put_back)
{
    for (int ignored = 0; ignored < 2; ++ignored) {
        model m = begin_model();
        const tal_body_ix body = add_chain(&m, 1);
        ck_assert_int_eq(tal_body_limit_coordinate(m.matter, body, 0, -1.0, 1.0), TAL_OK);
        tal_assembler_def def = tal_assembler_def_default();
        def.ignore_ranges = ignored != 0;
        finish_model(&m, &def);
        set_q(&m, 1, 1.5);
        ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, NULL), TAL_OK);
        ck_assert_double_eq(q_of(&m, 1), ignored != 0 ? 1.5 : 1.0);
        end_model(&m);
    }
}

END_TEST

// The model has -1 to 1. An assembler's range is wider, narrower, open on one side, or holds where
// the model's are ignored; the model's is what it was.
START_TEST(ranges_of_an_assembler_replace_those_of_the_model)
{
    const struct {
        double low, high, start, end;
        bool ignored;
    } cases[] = {{-2.0, 2.0, 1.5, 1.5, false},         {-2.0, 2.0, 2.5, 2.0, false},
                 {-0.5, 0.5, 0.75, 0.5, false},        {-HUGE_VAL, HUGE_VAL, 1.5, 1.5, false},
                 {-HUGE_VAL, 0.25, 0.75, 0.25, false}, {-0.5, 0.5, 0.75, 0.5, true}};

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        model m = begin_model();
        const tal_body_ix body = add_chain(&m, 1);
        ck_assert_int_eq(tal_body_limit_coordinate(m.matter, body, 0, -1.0, 1.0), TAL_OK);
        const tal_coordinate_range range = {body, 0, cases[k].low, cases[k].high};
        tal_assembler_def def = tal_assembler_def_default();
        def.ranges = &range;
        def.num_ranges = 1;
        def.ignore_ranges = cases[k].ignored;
        finish_model(&m, &def);
        set_q(&m, 1, cases[k].start);
        ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, NULL), TAL_OK);
        ck_assert_double_eq(q_of(&m, 1), cases[k].end);
        double low, high;
        ck_assert_int_eq(tal_body_range(m.matter, m.state, body, 0, &low, &high), TAL_OK);
        ck_assert(low == -1.0 && high == 1.0);
        end_model(&m);
    }
}

END_TEST

START_TEST(ranges_that_cannot_hold_are_refused)
{
    model m = begin_model();
    const tal_body_ix body = add_chain(&m, 1);
    finish_model(&m, NULL);
    const tal_coordinate_range wrong[] = {{body, 0, 1.0, -1.0},
                                          {body, 0, (double)NAN, 1.0},
                                          {{99}, 0, 0.0, 1.0},
                                          {body, -1, 0.0, 1.0},
                                          {body, 1, 0.0, 1.0}};
    const tal_status expected[] = {TAL_ERR_BAD_VALUE, TAL_ERR_BAD_VALUE, TAL_ERR_BAD_INDEX,
                                   TAL_ERR_BAD_INDEX, TAL_OK};
    for (int k = 0; k < 5; ++k) {
        tal_assembler_def def = tal_assembler_def_default();
        def.ranges = &wrong[k];
        def.num_ranges = 1;
        tal_assembler *assembler = NULL;
        tal_error err = {0};
        ck_assert_int_eq(tal_assembler_create(m.system, &def, &assembler, &err), expected[k]);
        if (expected[k] != TAL_OK) {
            ck_assert_ptr_nonnull(strstr(err.message, "range 0"));
            continue;
        }
        // a pin has no second coordinate: a State knows
        ck_assert_int_eq(tal_assembler_assemble(assembler, m.state, NULL), TAL_ERR_BAD_INDEX);
        ck_assert_ptr_nonnull(strstr(tal_assembler_error(assembler)->message, "range 0: q1"));
        tal_assembler_destroy(assembler);
    }
    end_model(&m);
}

END_TEST

// A constraint whose solution is outside of a range cannot be met: the range wins.
START_TEST(ranges_come_before_constraints)
{
    model m = begin_model();
    const tal_body_ix body = add_chain(&m, 1);
    ck_assert_int_eq(tal_body_limit_coordinate(m.matter, body, 0, -1.0, 1.0), TAL_OK);
    tal_constraint_def on = tal_constraint_on(body, 0);
    on.name = "too far";
    (void)tal_constraint_add_constant_coordinate(m.matter, &on, 1.25);
    finish_model(&m, NULL);
    tal_assembly found;
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, &found), TAL_ERR_NO_CONVERGENCE);
    ck_assert_ptr_nonnull(strstr(tal_assembler_error(m.assembler)->message, "'too far'"));
    ck_assert_double_eq(q_of(&m, 1), 1.0);
    ck_assert_double_eq(found.worst_error, 0.25);
    end_model(&m);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/assembler_ranges");
    TCase *tests = tcase_create("ranges");
    tcase_add_test(tests, ranges_hold_exactly_whatever_the_coordinates_are);
    tcase_add_test(tests, translations_of_a_free_body_have_ranges);
    tcase_add_test(tests, ranges_may_be_ignored_and_starts_outside_are_put_back);
    tcase_add_test(tests, ranges_of_an_assembler_replace_those_of_the_model);
    tcase_add_test(tests, ranges_that_cannot_hold_are_refused);
    tcase_add_test(tests, ranges_come_before_constraints);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
