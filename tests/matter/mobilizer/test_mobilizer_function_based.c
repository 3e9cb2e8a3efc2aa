// matter/src/mobilizer/mobilizer_function_based.c: the mobilizer made of functions.
#include "mobilizer_support.h"

enum {
    TRIALS = 100,
    MAX_BLOCKS = 64
};

// Differences as in test_mobilizer_builtin.c; the functions here have derivatives of order ten.
static const double DIFFERENCE_TOL = 1e-9;

// Some tens of operations on numbers of order one.
static const double TOL = 1e-14;

// ---- helpers

// slope * x, as one of the six functions.
static tal_mobilizer_function line(double slope, int coord)
{
    tal_mobilizer_function f = {.num_coords = 1, .coords = {coord}};
    ck_assert_int_eq(tal_function_create_linear(NULL, &slope, 1, 0.0, &f.function, NULL), TAL_OK);
    return f;
}

static tal_function_based *create(const tal_function_based_def *def)
{
    tal_function_based *mobilizer = NULL;
    tal_error err;
    const tal_status st = tal_function_based_create(def, NULL, &mobilizer, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    return mobilizer;
}

// X_FM, H_FM and Hdot_FM of the two tables must be the same at random states.
static void assert_same(const tal_function_based *mobilizer, const tal_mobilizer_ops *other,
                        const double params[])
{
    const tal_mobilizer_ops *ops = tal_function_based_ops(mobilizer);
    ck_assert_int_eq(ops->nu, other->nu);
    test_rng rng = test_rng_seed(1);
    for (int i = 0; i < TRIALS; ++i) {
        const tal_direction direction = i % 2 == 0 ? TAL_FORWARD : TAL_REVERSE;
        mobilizer_state state;
        random_state(&rng, other, params, true, &state);
        tal_xform X[2];
        tal_spatial_vec H[2][TAL_MAX_NU], Hdot[2][TAL_MAX_NU];
        for (int k = 0; k < 2; ++k) {
            const tal_mobilizer_ops *table = k == 0 ? ops : other;
            const void *self = k == 0 ? mobilizer : NULL;
            ck_assert_int_eq(tali_mobilizer_X_FM(table, self, &state.arg, direction, &X[k]),
                             TAL_OK);
            ck_assert_int_eq(tali_mobilizer_H_FM(table, self, &state.arg, direction, &X[k], H[k]),
                             TAL_OK);
            tal_spatial_vec V = TAL_SPATIAL_VEC_ZERO;
            for (int j = 0; j < ops->nu; ++j) {
                V = tal_sv_axpy(state.u[j], H[k][j], V);
            }
            ck_assert_int_eq(
                tali_mobilizer_Hdot_FM(table, self, &state.arg, direction, &X[k], H[k], V, Hdot[k]),
                TAL_OK);
        }
        test_assert_m3_near(X[0].R, X[1].R, TOL);
        test_assert_v3_near(X[0].p, X[1].p, TOL);
        for (int j = 0; j < ops->nu; ++j) {
            test_assert_sv_near(H[0][j], H[1][j], TOL);
            test_assert_sv_near(Hdot[0][j], Hdot[1][j], 10.0 * TOL);
        }
    }
}

// ---- the built-ins it can imitate

START_TEST(one_turn_about_z_is_a_pin)
{
    tal_function_based_def def = tal_function_based_def_default();
    def.nq = 1;
    def.rotation[2] = line(1.0, 0);
    tal_function_based *mobilizer = create(&def);
    assert_same(mobilizer, tal_mobilizer_pin(), NULL);
    tal_function_based_destroy(mobilizer);
}

START_TEST(a_turn_and_a_shift_of_one_coordinate_are_a_screw)
{
    const double pitch = 0.4;
    tal_function_based_def def = tal_function_based_def_default();
    def.nq = 1;
    def.rotation[0] = line(1.0, 0);
    def.rotation_axis[0] = tal_v3(0.0, 0.0, 3.0); // of any length
    def.translation[1] = line(pitch, 0);
    def.translation_axis[1] = tal_v3(0.0, 0.0, 0.01);
    tal_function_based *mobilizer = create(&def);
    assert_same(mobilizer, tal_mobilizer_screw(), &pitch);
    tal_function_based_destroy(mobilizer);
}

START_TEST(two_turns_are_a_universal_joint)
{
    tal_function_based_def def = tal_function_based_def_default();
    def.nq = 2;
    def.rotation[0] = line(1.0, 0);
    def.rotation[1] = line(1.0, 1);
    tal_function_based *mobilizer = create(&def);
    assert_same(mobilizer, tal_mobilizer_universal(), NULL);
    tal_function_based_destroy(mobilizer);
}

START_TEST(three_turns_are_a_gimbal_and_with_three_shifts_a_bushing)
{
    tal_function_based_def def = tal_function_based_def_default();
    def.nq = 3;
    for (int i = 0; i < 3; ++i) {
        def.rotation[i] = line(1.0, i);
    }
    tal_function_based *gimbal = create(&def);
    assert_same(gimbal, tal_mobilizer_gimbal(), NULL);
    tal_function_based_destroy(gimbal);

    def.nq = 6;
    for (int i = 0; i < 3; ++i) {
        def.rotation[i] = line(1.0, i);
        def.translation[i] = line(1.0, 3 + i);
    }
    tal_function_based *bushing = create(&def);
    assert_same(bushing, tal_mobilizer_bushing(), NULL);
    tal_function_based_destroy(bushing);
}

// A free body in angles has the same poses; its speeds are others.
START_TEST(three_turns_and_shifts_reach_the_poses_of_a_free_body)
{
    tal_function_based_def def = tal_function_based_def_default();
    def.nq = 6;
    for (int i = 0; i < 3; ++i) {
        def.rotation[i] = line(1.0, i);
        def.translation[i] = line(1.0, 3 + i);
    }
    tal_function_based *mobilizer = create(&def);
    const tal_mobilizer_ops *free = tal_mobilizer_free();
    test_rng rng = test_rng_seed(2);
    for (int i = 0; i < TRIALS; ++i) {
        mobilizer_state state;
        random_state(&rng, free, NULL, true, &state);
        tal_xform X, Y;
        ck_assert_int_eq(tali_mobilizer_X_FM(tal_function_based_ops(mobilizer), mobilizer,
                                             &state.arg, TAL_FORWARD, &X),
                         TAL_OK);
        ck_assert_int_eq(tali_mobilizer_X_FM(free, NULL, &state.arg, TAL_FORWARD, &Y), TAL_OK);
        test_assert_m3_near(X.R, Y.R, TOL);
        test_assert_v3_near(X.p, Y.p, TOL);
    }
    tal_function_based_destroy(mobilizer);
}

// ---- the general case

// A function of two arguments none of whose second derivatives vanishes.
static double mixed_value(const void *self, const double x[], int n)
{
    (void)self, (void)n;
    return sin(x[0]) * x[1] + 0.3 * x[0] * x[1] * x[1];
}

static double mixed_derivative(const void *self, const double x[], int n, const int wrt[],
                               int order)
{
    (void)self, (void)n;
    if (order == 1) {
        return wrt[0] == 0 ? cos(x[0]) * x[1] + 0.3 * x[1] * x[1] : sin(x[0]) + 0.6 * x[0] * x[1];
    }
    if (wrt[0] != wrt[1]) return cos(x[0]) + 0.6 * x[1];
    return wrt[0] == 0 ? -sin(x[0]) * x[1] : 0.6 * x[0];
}

static tal_mobilizer_function mixed(int first, int second)
{
    static const tal_function_ops ops = {.size = sizeof ops,
                                         .name = "mixed",
                                         .calc_value = mixed_value,
                                         .calc_derivative = mixed_derivative};
    tal_function_def def = tal_function_def_default();
    def.ops = &ops;
    def.num_args = 2;
    tal_mobilizer_function f = {.num_coords = 2, .coords = {first, second}};
    ck_assert_int_eq(tal_function_create(NULL, &def, &f.function, NULL), TAL_OK);
    return f;
}

// Skew axes, functions of several coordinates, a coordinate used twice, a function used twice.
static tal_function_based *general(void)
{
    const double x[4] = {-2.0, -0.5, 0.7, 2.0}, y[4] = {0.3, -0.2, 0.4, 0.1};
    tal_function_based_def def = tal_function_based_def_default();
    def.nq = 3;
    def.rotation[0] = mixed(0, 2);
    def.rotation[1] = line(0.9, 1);
    def.rotation[2] = mixed(2, 2);
    def.rotation_axis[0] = tal_v3(0.8, 0.1, 0.2);
    def.rotation_axis[1] = tal_v3(-0.1, 0.7, 0.6);
    def.rotation_axis[2] = tal_v3(0.2, -0.3, 0.9);
    def.translation[0] = mixed(1, 0);
    def.translation[1] = def.rotation[0];
    def.translation[2].num_coords = 1;
    def.translation[2].coords[0] = 2;
    ck_assert_int_eq(
        tal_function_create_quintic_spline(NULL, x, y, 4, &def.translation[2].function, NULL),
        TAL_OK);
    def.translation_axis[1] = tal_v3(1.0, 1.0, 0.0);
    return create(&def);
}

START_TEST(skew_axes_and_mixed_derivatives_agree)
{
    tal_function_based *mobilizer = general();
    const tal_mobilizer_ops *ops = tal_function_based_ops(mobilizer);
    test_rng rng = test_rng_seed(3);
    for (int i = 0; i < TRIALS; ++i) {
        mobilizer_state state;
        random_state(&rng, ops, NULL, false, &state);
        for (int j = 0; j < 3; ++j) {
            // between two knots of the spline, whose fifth derivative jumps
            state.q[j] = 0.4 * state.q[j];
        }
        tal_mobilizer_report r;
        tal_error err;
        const tal_status st = tal_mobilizer_test(ops, mobilizer, &state.arg,
                                                 i % 2 == 0 ? TAL_FORWARD : TAL_REVERSE, &r, &err);
        ck_assert_msg(st == TAL_OK, "%s", err.message);
        ck_assert_msg(fmax(fmax(r.H, r.Hdot), fmax(r.N, r.fit_q)) <= DIFFERENCE_TOL,
                      "H %g Hdot %g N %g fit %g", r.H, r.Hdot, r.N, r.fit_q);
    }
    ops->destroy(mobilizer); // as a System does
}

START_TEST(the_tag_tells_which_functions_use_which_coordinates)
{
    tal_function_based_def def = tal_function_based_def_default();
    def.nq = 2;
    def.rotation[0] = line(1.0, 0);
    def.rotation[1] = line(1.0, 1);
    tal_function_based *a = create(&def);
    def.rotation[0] = line(2.0, 0);
    def.rotation[1] = line(1.0, 1);
    tal_function_based *same = create(&def);
    def.rotation[0] = line(1.0, 1);
    def.rotation[1] = line(1.0, 0);
    tal_function_based *swapped = create(&def);
    ck_assert(tal_function_based_ops(a)->tag == tal_function_based_ops(same)->tag);
    ck_assert(tal_function_based_ops(a)->tag != tal_function_based_ops(swapped)->tag);
    tal_function_based_destroy(a);
    tal_function_based_destroy(same);
    tal_function_based_destroy(swapped);
    tal_function_based_destroy(NULL);
}

// ---- errors

START_TEST(what_is_wrong_with_a_definition_is_named)
{
    const tal_mobilizer_function one = line(1.0, 0), two = mixed(0, 1);
    tal_function_def flat_def = tal_function_def_default();
    static const tal_function_ops flat_ops = {
        .size = sizeof flat_ops, .name = "flat", .calc_value = mixed_value};
    flat_def.ops = &flat_ops;
    flat_def.max_order = 1;
    tal_mobilizer_function flat = one;
    ck_assert_int_eq(tal_function_create(NULL, &flat_def, &flat.function, NULL), TAL_OK);

    tal_function_based_def good = tal_function_based_def_default(), bad[9];
    good.nq = 2;
    good.rotation[0] = one;
    good.translation[1] = two;
    for (int i = 0; i < 9; ++i) {
        bad[i] = good;
    }
    bad[0].nq = 0;
    bad[1].nq = 7;
    bad[2].translation[1].num_coords = 1;
    bad[3].rotation[0] = flat;
    bad[4].translation[1].coords[1] = 2;
    bad[5].rotation[0].coords[0] = -1;
    bad[6].rotation_axis[1] = TAL_VEC3_ZERO;
    bad[7].translation_axis[2].y = (double)NAN;
    bad[8].nq = 3;

    const struct {
        tal_status status;
        const char *part;
    } expected[9] = {
        {TAL_ERR_BAD_VALUE, "nq 0"},
        {TAL_ERR_BAD_VALUE, "nq 7"},
        {TAL_ERR_BAD_VALUE, "translation[1] has 1 coordinates but its function takes 2"},
        {TAL_ERR_BAD_VALUE, "rotation[0] has derivatives up to order 1"},
        {TAL_ERR_BAD_INDEX, "translation[1] uses coordinate 2"},
        {TAL_ERR_BAD_INDEX, "rotation[0] uses coordinate -1"},
        {TAL_ERR_BAD_VALUE, "axis of rotation[1] is (0, 0, 0)"},
        {TAL_ERR_BAD_VALUE, "axis of translation[2]"},
        {TAL_ERR_BAD_VALUE, "coordinate 2 of a function-based mobilizer has no effect"},
    };

    for (int i = 0; i < 9; ++i) {
        tal_function_based *mobilizer = NULL;
        tal_error err;
        ck_assert_int_eq(tal_function_based_create(&bad[i], NULL, &mobilizer, &err),
                         expected[i].status);
        ck_assert_msg(strstr(err.message, expected[i].part) != NULL, "%s", err.message);
        ck_assert_ptr_null(mobilizer);
    }
    // nothing was adopted, so it can be; and then not once more
    tal_function_based *mobilizer = create(&good), *again = NULL;
    ck_assert_int_eq(tal_function_based_create(&good, NULL, &again, NULL), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_null(again);
    tal_function_based_destroy(mobilizer);
    tal_function_destroy(flat.function);
}

START_TEST(memory_that_runs_out_leaves_nothing_behind)
{
    tal_function_based_def def = tal_function_based_def_default();
    def.nq = 1;
    def.rotation[0] = line(1.0, 0);
    for (int n = 1; n <= MAX_BLOCKS; ++n) {
        test_heap heap = {.refuse_at = n};
        const tal_allocator allocator = test_heap_allocator(&heap);
        tal_function_based *mobilizer = NULL;
        tal_error err;
        const tal_status st = tal_function_based_create(&def, &allocator, &mobilizer, &err);
        if (st == TAL_OK) {
            ck_assert_int_gt(n, 1);
            test_assert_never_refused(&heap);
            tal_function_based_destroy(mobilizer);
            ck_assert_int_eq(heap.live, 0);
            return;
        }
        ck_assert_int_eq(st, TAL_ERR_NO_MEMORY);
        ck_assert_int_eq(err.status, TAL_ERR_NO_MEMORY);
        ck_assert_ptr_null(mobilizer);
        ck_assert_int_eq(heap.live, 0);
    }
    ck_abort_msg("never succeeded");
}

static double nan_beyond_one(const void *self, const double x[], int n)
{
    (void)self, (void)n;
    return x[0] > 1.0 ? (double)NAN : x[0];
}

static double nan_slope_at_one(const void *self, const double x[], int n, const int wrt[],
                               int order)
{
    (void)self, (void)n, (void)wrt;
    return x[0] >= 1.0 ? (double)NAN : order == 1 ? 1.0 : 0.0;
}

START_TEST(a_function_that_has_no_value_stops_the_mobilizer)
{
    static const tal_function_ops function_ops = {.size = sizeof function_ops,
                                                  .name = "partial",
                                                  .calc_value = nan_beyond_one,
                                                  .calc_derivative = nan_slope_at_one};
    tal_function_def function_def = tal_function_def_default();
    function_def.ops = &function_ops;
    tal_function_based_def def = tal_function_based_def_default();
    def.nq = 1;
    def.translation[0] = (tal_mobilizer_function){.num_coords = 1};
    ck_assert_int_eq(tal_function_create(NULL, &function_def, &def.translation[0].function, NULL),
                     TAL_OK);
    tal_function_based *mobilizer = create(&def);
    const tal_mobilizer_ops *ops = tal_function_based_ops(mobilizer);
    const double beyond = 2.0, at_one = 1.0, u = 1.0;
    const tal_mobilizer_arg arg = {false, NULL, &beyond, &u}, edge = {false, NULL, &at_one, &u};
    tal_xform X_FM;
    tal_spatial_vec H[1];
    ck_assert_int_eq(tali_mobilizer_X_FM(ops, mobilizer, &arg, TAL_FORWARD, &X_FM),
                     TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tali_mobilizer_X_FM(ops, mobilizer, &edge, TAL_FORWARD, &X_FM), TAL_OK);
    ck_assert_int_eq(ops->calc_H_FM(mobilizer, &edge, H), TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(ops->calc_Hdot_FM(mobilizer, &edge, H), TAL_ERR_NOT_FINITE);
    tal_function_based_destroy(mobilizer);
}

START_TEST(null_is_a_broken_contract)
{
    test_record_breaches();
    tal_function_based_def def = tal_function_based_def_default();
    tal_function_based *mobilizer = NULL;
    tal_error err;
    test_assert_breach(
        ck_assert_int_eq(tal_function_based_create(NULL, NULL, &mobilizer, &err), TAL_ERR_NULL),
        TAL_ERR_NULL, "NULL");
    test_assert_breach(
        ck_assert_int_eq(tal_function_based_create(&def, NULL, NULL, NULL), TAL_ERR_NULL),
        TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert_ptr_null(tal_function_based_ops(NULL)), TAL_ERR_NULL, "NULL");
}

int main(void)
{
    Suite *suite = suite_create("matter/mobilizer_function_based");
    TCase *tc = tcase_create("imitations");
    tcase_add_test(tc, one_turn_about_z_is_a_pin);
    tcase_add_test(tc, a_turn_and_a_shift_of_one_coordinate_are_a_screw);
    tcase_add_test(tc, two_turns_are_a_universal_joint);
    tcase_add_test(tc, three_turns_are_a_gimbal_and_with_three_shifts_a_bushing);
    tcase_add_test(tc, three_turns_and_shifts_reach_the_poses_of_a_free_body);
    suite_add_tcase(suite, tc);

    tc = tcase_create("general");
    tcase_add_test(tc, skew_axes_and_mixed_derivatives_agree);
    tcase_add_test(tc, the_tag_tells_which_functions_use_which_coordinates);
    suite_add_tcase(suite, tc);

    tc = tcase_create("errors");
    tcase_add_test(tc, what_is_wrong_with_a_definition_is_named);
    tcase_add_test(tc, memory_that_runs_out_leaves_nothing_behind);
    tcase_add_test(tc, a_function_that_has_no_value_stops_the_mobilizer);
    tcase_add_test(tc, null_is_a_broken_contract);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
