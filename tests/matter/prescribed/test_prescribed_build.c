// matter/src/prescribed/prescribed.c, prescribed_builtin.c: adding motions, their parameters, what
// is refused.
#include "prescribed_support.h"

// ---- helpers

enum {
    PIN = 1,
    BALL,
    GIMBAL,
    WELD
};

static void build(world *w)
{
    world_begin(w);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_brick(1.0, tal_v3(0.1, 0.2, 0.3));
    tal_body_ix body = tal_matter_add_pin(w->matter, TAL_GROUND, &def);
    body = tal_matter_add_ball(w->matter, body, &def);
    body = tal_matter_add_gimbal(w->matter, body, &def);
    (void)tal_matter_add_weld(w->matter, body, &def);
}

static tal_motion_def motion_of(int body, tal_level level)
{
    tal_motion_def def = tal_motion_def_default();
    def.body.i = body;
    def.level = level;
    return def;
}

static int num_destroyed;

static void count_destroy(void *self)
{
    (void)self;
    ++num_destroyed;
}

static tal_status calc_zero(const void *self, const tal_motion_arg *arg, int order, double out[])
{
    (void)self, (void)order;
    for (int i = 0; i < arg->n; ++i) {
        out[i] = arg->params[i];
    }
    return TAL_OK;
}

static const tal_motion_ops zero = {.size = sizeof zero,
                                    .name = "zero",
                                    .num_params = -1,
                                    .calc = calc_zero,
                                    .destroy = count_destroy};

static tal_function *new_constant(double value)
{
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_constant(NULL, value, 1, &f, NULL), TAL_OK);
    return f;
}

// Building has failed with this sentence; destroy the System.
static void check_failure(world *w, tal_status expected, const char *part)
{
    const tal_error *err = tal_system_error(w->system);
    ck_assert_int_eq(err->status, expected);
    ck_assert_msg(strstr(err->message, part) != NULL, "'%s' lacks '%s'", err->message, part);
    world_end(w);
}

// ---- building

START_TEST(motions_have_names_and_parameters)
{
    static world w;
    build(&w);
    tal_motion_def def = motion_of(PIN, TAL_LEVEL_POSITION);
    const tal_motion_ix first = tal_matter_add_motion_sinusoid(w.matter, &def, 0.1, 2.0, 0.3);
    def = motion_of(BALL, TAL_LEVEL_POSITION);
    def.name = "spin";
    def.disabled = true;
    const double rates[] = {1.0, 2.0, 3.0};
    const tal_motion_ix spin = tal_matter_add_motion_steady(w.matter, &def, rates, 3);
    def = motion_of(GIMBAL, TAL_LEVEL_POSITION);
    num_destroyed = 0;
    const tal_motion_ix still = tal_matter_add_motion(w.matter, &def, &zero, NULL, NULL);
    world_finish(&w);

    ck_assert_int_eq(tal_matter_num_motions(w.matter), 3);
    ck_assert_str_eq(tal_motion_name(w.matter, first), "motion0");
    ck_assert_int_eq(tal_matter_find_motion(w.matter, "spin").i, spin.i);
    ck_assert_int_eq(tal_matter_find_motion(w.matter, "none").i, -1);
    ck_assert(!tal_motion_is_enabled(w.matter, w.state, spin));
    int n = 0;
    ck_assert_mem_eq(tal_motion_params(w.matter, w.state, spin, &n), rates, sizeof rates);
    ck_assert_int_eq(n, 3);
    const double other[] = {4.0, 5.0, 6.0};
    ck_assert_int_eq(tal_motion_set_params(w.matter, w.state, spin, other, 3), TAL_OK);
    ck_assert_int_eq(tal_motion_set_params(w.matter, w.state, still, other, 3), TAL_OK);
    ck_assert_int_eq(tal_motion_set_enabled(w.matter, w.state, spin, true), TAL_OK);
    world_solve(&w);
    ck_assert_mem_eq(tal_state_u(w.state) + 1, other, sizeof other);
    ck_assert_mem_eq(tal_state_q(w.state) + 5, other, sizeof other);
    world_end(&w);
    ck_assert_int_eq(num_destroyed, 1);
}

START_TEST(one_function_may_serve_all_coordinates)
{
    static world w;
    build(&w);
    tal_function *f = new_constant(0.25);
    tal_function *const functions[] = {f, f, f};
    const tal_motion_def def = motion_of(GIMBAL, TAL_LEVEL_POSITION);
    ck_assert_int_eq(tal_matter_add_motion_functions(w.matter, &def, functions, 3).i, 0);
    world_finish(&w);
    world_solve(&w);
    for (int i = 0; i < 3; ++i) {
        ck_assert(tal_body_q(w.matter, w.state, (tal_body_ix){GIMBAL}, i) == 0.25);
    }
    world_end(&w);
}

// ---- what is refused

START_TEST(a_motion_that_cannot_be_is_refused_with_a_sentence)
{
    const double three[] = {0.0, 0.0, 0.0}, bad[] = {TALI_NAN};
    for (int k = 0; k < 16; ++k) {
        static world w;
        build(&w);
        tal_motion_def def = motion_of(PIN, TAL_LEVEL_POSITION);
        tal_motion_ops table = zero;
        num_destroyed = 0;
        tal_status expected = TAL_ERR_BAD_VALUE;
        const char *part = "";
        switch (k) {
        case 0:
            def.body.i = 9, part = "no body 9", expected = TAL_ERR_BAD_INDEX;
            break;
        case 1:
            def.body = TAL_GROUND, part = "no body 0", expected = TAL_ERR_BAD_INDEX;
            break;
        case 2:
            def.mobility = 1, part = "has 1 mobilities", expected = TAL_ERR_BAD_INDEX;
            break;
        case 3:
            def.body.i = WELD, part = "has 0 mobilities", expected = TAL_ERR_BAD_INDEX;
            break;
        case 4:
            def.level = TAL_LEVEL_FREE, part = "0 is not a level";
            break;
        case 5:
            def.level = (tal_level)4, part = "4 is not a level";
            break;
        case 6:
            def.body.i = BALL, def.mobility = 0, part = "only all of its mobilities";
            break;
        case 7:
            def.name = "", part = "empty, too long or used already", expected = TAL_ERR_BAD_NAME;
            break;
        case 8:
            table.calc = NULL, part = "needs a table";
            break;
        case 9:
            table.num_params = -2, part = "needs a table";
            break;
        case 10:
            part = "parameter 0 is nan", expected = TAL_ERR_NOT_FINITE;
            break;
        case 11:
            (void)tal_matter_add_motion(w.matter, &def, &zero, NULL, NULL);
            def.mobility = 0, part = "moved by 'motion0' already";
            break;
        case 12:
            (void)tal_matter_lock_by_default(w.matter, (tal_body_ix){PIN}, (tal_level)9);
            part = "9 is not a level";
            break;
        case 13:
            (void)tal_matter_lock_by_default(w.matter, (tal_body_ix){7}, TAL_LEVEL_POSITION);
            part = "body 7", expected = TAL_ERR_BAD_INDEX;
            break;
        case 14:
            (void)tal_matter_make_fast(w.matter, (tal_body_ix){0}, TAL_LEVEL_POSITION);
            part = "body 0", expected = TAL_ERR_BAD_INDEX;
            break;
        default:
            part = "def is NULL", expected = TAL_ERR_NULL;
            break;
        }
        const tal_motion_def *given = k == 15 ? NULL : &def;
        const tal_motion_ix none =
            tal_matter_add_motion(w.matter, given, &table, NULL, k == 10 ? bad : three);
        ck_assert_int_eq(none.i, -1);
        ck_assert_int_eq(num_destroyed, 1); // adopted, and destroyed
        check_failure(&w, expected, part);
    }
}

START_TEST(built_in_motions_check_what_they_are_given)
{
    static world w;
    const double rates[] = {1.0, 2.0, 3.0};
    tal_motion_def def = motion_of(BALL, TAL_LEVEL_POSITION);
    build(&w);
    ck_assert_int_eq(tal_matter_add_motion_steady(w.matter, &def, rates, 2).i, -1);
    check_failure(&w, TAL_ERR_BAD_VALUE, "steady motion needs 3 speeds, not 2");
    build(&w);
    ck_assert_int_eq(tal_matter_add_motion_steady(w.matter, &def, NULL, 3).i, -1);
    check_failure(&w, TAL_ERR_NULL, "not 0");
    build(&w);
    ck_assert_int_eq(tal_matter_add_motion_steady(w.matter, NULL, rates, 3).i, -1);
    check_failure(&w, TAL_ERR_NULL, "def is NULL");
    build(&w);
    ck_assert_int_eq(tal_matter_add_motion_sinusoid(w.matter, &def, 1.0, 1.0, 0.0).i, -1);
    check_failure(&w, TAL_ERR_BAD_VALUE, "cannot follow a sinusoid");
    build(&w);
    def.level = TAL_LEVEL_VELOCITY;
    ck_assert_int_eq(tal_matter_add_motion_sinusoid(w.matter, &def, 1.0, TALI_NAN, 0.0).i, -1);
    check_failure(&w, TAL_ERR_NOT_FINITE, "parameter 1 is nan");
}

// A function without derivatives.
static double flat(const void *self, const double x[], int n)
{
    (void)self, (void)x, (void)n;
    return 1.0;
}

static const tal_function_ops flat_ops = {
    .size = sizeof flat_ops, .name = "flat", .calc_value = flat};

START_TEST(functions_of_time_are_checked_and_always_adopted)
{
    static world w;
    const tal_motion_def ball = motion_of(BALL, TAL_LEVEL_VELOCITY);
    const tal_motion_def pin = motion_of(PIN, TAL_LEVEL_POSITION);
    tal_motion_def absent = pin;
    absent.body.i = 12;
    build(&w);
    tal_function *two[] = {new_constant(1.0), new_constant(2.0)};
    ck_assert_int_eq(tal_matter_add_motion_functions(w.matter, &ball, two, 2).i, -1);
    check_failure(&w, TAL_ERR_BAD_VALUE, "was given 2 functions");
    build(&w);
    ck_assert_int_eq(tal_matter_add_motion_functions(w.matter, &pin, NULL, 1).i, -1);
    check_failure(&w, TAL_ERR_BAD_VALUE, "was given 0 functions");
    build(&w);
    tal_function *missing = NULL;
    ck_assert_int_eq(tal_matter_add_motion_functions(w.matter, &pin, &missing, 1).i, -1);
    check_failure(&w, TAL_ERR_BAD_VALUE, "function 0 is not one");

    build(&w);
    tal_function_def def = tal_function_def_default();
    def.ops = &flat_ops;
    def.max_order = 1;
    tal_function *rough = NULL;
    ck_assert_int_eq(tal_function_create(NULL, &def, &rough, NULL), TAL_OK);
    ck_assert_int_eq(tal_matter_add_motion_functions(w.matter, &pin, &rough, 1).i, -1);
    check_failure(&w, TAL_ERR_BAD_VALUE, "up to order 2");

    build(&w);
    tal_function *f = new_constant(1.0);
    ck_assert_int_eq(tal_matter_add_motion_functions(w.matter, &absent, &f, 1).i, -1);
    check_failure(&w, TAL_ERR_BAD_INDEX, "no body 12");
    test_record_breaches();
    f = new_constant(1.0);
    test_assert_breach((void)tal_matter_add_motion_functions(NULL, &pin, &f, 1), TAL_ERR_NULL,
                       "matter is NULL");
}

// ---- failures in a State

static tal_status calc_bad(const void *self, const tal_motion_arg *arg, int order, double out[])
{
    (void)self;
    const int when = (int)arg->params[0]; // 0 ... 2: the order at which it fails; 3: nan; 4: never
    out[0] = when == 3 ? TALI_NAN : 0.0;
    return when == order ? TAL_ERR_CALLBACK : TAL_OK;
}

static const tal_motion_ops bad_motion = {
    .size = sizeof bad_motion, .name = "bad", .num_params = 1, .calc = calc_bad};

START_TEST(a_motion_that_fails_is_named)
{
    static world w;
    build(&w);
    tal_motion_def def = motion_of(PIN, TAL_LEVEL_POSITION);
    def.name = "drive";
    const double never = 4.0;
    const tal_motion_ix motion = tal_matter_add_motion(w.matter, &def, &bad_motion, NULL, &never);
    world_finish(&w);
    for (int when = 0; when < 4; ++when) {
        const double value = when;
        (void)tal_motion_set_params(w.matter, w.state, motion, &value, 1);
        world_realize(&w, TAL_STAGE_TIME);
        tal_status st = tal_system_prescribe_q(w.system, w.state, NULL);
        if (st == TAL_OK) {
            world_realize(&w, TAL_STAGE_POSITION);
            st = tal_system_prescribe_u(w.system, w.state, NULL);
            if (when == 1) {
                ck_assert(isnan(tal_matter_motion_error(w.matter, w.state, TAL_LEVEL_VELOCITY)));
            }
        }
        if (st == TAL_OK) st = tal_system_realize(w.system, w.state, TAL_STAGE_ACCELERATION);
        ck_assert_int_eq(st, when == 3 ? TAL_ERR_NOT_FINITE : TAL_ERR_CALLBACK);
        ck_assert_msg(strstr(tal_state_error(w.state)->message, "'drive' (bad) of body") != NULL,
                      "%s", tal_state_error(w.state)->message);
    }
    world_end(&w);
}

START_TEST(functions_for_a_quaternion_do_not_fit_angles)
{
    static world w;
    build(&w);
    tal_function *f[] = {new_constant(1.0), new_constant(0.0), new_constant(0.0),
                         new_constant(0.0)};
    const tal_motion_def def = motion_of(BALL, TAL_LEVEL_POSITION);
    (void)tal_matter_add_motion_functions(w.matter, &def, f, 4);
    world_finish(&w);
    world_solve(&w);
    (void)tal_matter_set_use_angles(w.matter, w.state, true);
    world_realize(&w, TAL_STAGE_TIME);
    ck_assert_int_eq(tal_system_prescribe_q(w.system, w.state, NULL), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(w.state)->message, "gives 4 values"));
    world_end(&w);
}

START_TEST(parameters_of_motions_are_checked)
{
    static world w;
    build(&w);
    const tal_motion_def def = motion_of(PIN, TAL_LEVEL_POSITION);
    const tal_motion_ix motion = tal_matter_add_motion_sinusoid(w.matter, &def, 1.0, 1.0, 0.0);
    world_finish(&w);
    const double bad[] = {1.0, 2.0, TALI_NAN};
    ck_assert_int_eq(tal_motion_set_params(w.matter, w.state, motion, bad, 3), TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_motion_set_params(w.matter, w.state, motion, bad, 2), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_motion_set_params(w.matter, w.state, motion, NULL, 3), TAL_ERR_BAD_VALUE);
    ck_assert(tal_motion_params(w.matter, w.state, motion, NULL)[2] == 0.0);
    world_end(&w);
}

START_TEST(wrong_motions_and_times_are_breaches)
{
    static world w;
    build(&w);
    world_finish(&w);
    test_record_breaches();
    const tal_motion_ix none = {0};
    const tal_motion_def def = motion_of(PIN, TAL_LEVEL_POSITION);
    const tal_body_ix pin = {PIN};
    tal_matter *m = w.matter;
    int n = 5;
    test_assert_breach((void)tal_motion_name(m, none), TAL_ERR_BAD_INDEX, "no motion 0");
    test_assert_breach((void)tal_motion_name(NULL, none), TAL_ERR_NULL, "matter is NULL");
    test_assert_breach(ck_assert(!tal_motion_is_enabled(m, w.state, none)), TAL_ERR_BAD_INDEX, "");
    test_assert_breach((void)tal_motion_set_enabled(m, w.state, none, true), TAL_ERR_BAD_INDEX, "");
    test_assert_breach(ck_assert_ptr_null(tal_motion_params(m, w.state, none, &n)),
                       TAL_ERR_BAD_INDEX, "");
    ck_assert_int_eq(n, 0);
    test_assert_breach((void)tal_motion_set_params(m, w.state, none, NULL, 0), TAL_ERR_BAD_INDEX,
                       "");
    test_assert_breach((void)tal_matter_add_motion(m, &def, &zero, NULL, NULL), TAL_ERR_TOPOLOGY,
                       "is realized");
    test_assert_breach((void)tal_matter_add_motion(NULL, &def, &zero, NULL, NULL), TAL_ERR_NULL,
                       "matter is NULL");
    test_assert_breach(
        ck_assert_int_eq(tal_matter_make_fast(m, pin, TAL_LEVEL_POSITION), TAL_ERR_TOPOLOGY),
        TAL_ERR_TOPOLOGY, "is realized");
    test_assert_breach(
        ck_assert_int_eq(tal_matter_lock_by_default(NULL, pin, TAL_LEVEL_FREE), TAL_ERR_NULL),
        TAL_ERR_NULL, "matter is NULL");
    ck_assert_int_eq(tal_matter_num_motions(NULL), -1);
    world_end(&w);
}

// ---- memory

// An allocator that gives out `left` more blocks.
typedef struct miser {
    int left;
    int blocks;
} miser;

static void *miser_alloc(void *context, size_t size)
{
    miser *m = context;
    if (m->left-- <= 0) return NULL;
    const tal_allocator heap = tal_allocator_default();
    void *block = heap.alloc(heap.context, size);
    m->blocks += block != NULL;
    return block;
}

static void miser_free(void *context, void *block, size_t size)
{
    miser *m = context;
    const tal_allocator heap = tal_allocator_default();
    heap.free(heap.context, block, size);
    --m->blocks;
}

START_TEST(memory_that_runs_out_leaves_nothing_behind)
{
    bool finished = false;
    for (int left = 0; !finished && left < 400; ++left) {
        miser m = {left, 0};
        tal_system_def def = tal_system_def_default();
        def.allocator = (tal_allocator){miser_alloc, miser_free, &m};
        tal_system *system = tal_system_create(&def);
        if (system == NULL) continue;
        tal_matter *matter = tal_matter_create(system);
        if (matter != NULL) {
            tal_mobod_def body = tal_mobod_def_default();
            body.mass = tal_mass_props_sphere(1.0, 0.1);
            tal_motion_def motion = tal_motion_def_default();
            motion.body = tal_matter_add_pin(matter, TAL_GROUND, &body);
            tal_function *f = new_constant(1.0);
            (void)tal_matter_add_motion_functions(matter, &motion, &f, 1);
            motion.body = tal_matter_add_slider(matter, TAL_GROUND, &body);
            (void)tal_matter_add_motion_sinusoid(matter, &motion, 1.0, 1.0, 0.0);
        }
        const tal_status st = tal_system_realize_topology(system, NULL);
        ck_assert(matter == NULL || st == TAL_OK || st == TAL_ERR_NO_MEMORY);
        finished = matter != NULL && st == TAL_OK;
        tal_system_destroy(system);
        ck_assert_int_eq(m.blocks, 0);
    }
    ck_assert(finished);
}

int main(void)
{
    Suite *suite = suite_create("matter/prescribed_build");
    TCase *tc = tcase_create("building");
    tcase_add_test(tc, motions_have_names_and_parameters);
    tcase_add_test(tc, one_function_may_serve_all_coordinates);
    suite_add_tcase(suite, tc);

    tc = tcase_create("errors");
    tcase_add_test(tc, a_motion_that_cannot_be_is_refused_with_a_sentence);
    tcase_add_test(tc, built_in_motions_check_what_they_are_given);
    tcase_add_test(tc, functions_of_time_are_checked_and_always_adopted);
    tcase_add_test(tc, a_motion_that_fails_is_named);
    tcase_add_test(tc, functions_for_a_quaternion_do_not_fit_angles);
    tcase_add_test(tc, parameters_of_motions_are_checked);
    tcase_add_test(tc, wrong_motions_and_times_are_breaches);
    tcase_add_test(tc, memory_that_runs_out_leaves_nothing_behind);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
