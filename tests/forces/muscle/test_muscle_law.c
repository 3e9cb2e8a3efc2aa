// forces/src/muscle/: curves, activation and equilibrium of muscles, as pure functions.
//
// Golden numbers are those of the published curves at their default constants, computed apart from
// this code; they are given to ten digits, so 1e-9 leaves no room for another curve.
#include "muscle/muscle_internal.h"
#include "talus_test.h"

#include <talus/common/random.h>

#include <float.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

typedef struct point {
    double x, y;
} point;

static tali_muscle_millard millard; // of the last curves built

static tali_muscle_curves build(const tal_muscle_def *def)
{
    tali_muscle_curves curves;
    tal_error err = {TAL_OK, "", ""};
    ck_assert_msg(tali_muscle_curves_build(def, &curves, &millard, &err) == TAL_OK, "%s",
                  err.message);
    return curves;
}

static tali_muscle_curves build_default(tal_muscle_model model)
{
    const tal_muscle_def def = tal_muscle_def_default(model);
    return build(&def);
}

typedef tali_muscle_curve (*curve_fn)(const tali_muscle_curves *it, real x);

static tali_muscle_curve velocity_curve(const tali_muscle_curves *it, real v)
{
    return (tali_muscle_curve){tali_muscle_velocity(it, 1.0, v), 0.0};
}

static void check_points(const tali_muscle_curves *curves, curve_fn curve, const point points[],
                         int count)
{
    for (int i = 0; i < count; ++i) {
        ck_assert_double_eq_tol(curve(curves, points[i].x).y, points[i].y, 1e-9);
    }
}

// --- golden numbers ---

START_TEST(thelens_curves_have_the_published_values)
{
    tal_muscle_def def = tal_muscle_def_default(TAL_MUSCLE_THELEN);
    def.thelen.tendon_strain = 0.033;
    tali_muscle_curves curves = build(&def);
    const point stiff[] = {{1.01, 0.0597140020}, {1.02, 0.3256537101}, {1.03, 0.8443752964}};
    check_points(&curves, tali_muscle_tendon, stiff, COUNT(stiff));

    curves = build_default(TAL_MUSCLE_THELEN);
    const point tendon[] = {
        {0.9, 0.0}, {1.0, 0.0}, {1.01, 0.0420009751}, {1.02, 0.1860275578}, {1.04, 1.0}};
    const point passive[] = {{0.7, 0.0}, {1.2, 0.0291323385}, {1.5, 0.4307627179}};
    const point active[] = {{0.5, 0.5737534207}, {1.0, 1.0}, {1.2, 0.9149472287}};
    check_points(&curves, tali_muscle_tendon, tendon, COUNT(tendon));
    check_points(&curves, tali_muscle_passive, passive, COUNT(passive));
    check_points(&curves, tali_muscle_active, active, COUNT(active));
}

START_TEST(thelens_speeds_have_the_published_values)
{
    const tali_muscle_curves curves = build_default(TAL_MUSCLE_THELEN);
    const point full[] = {{0.25, -0.375}, {0.5, -1.0 / 6.0},    {0.9, -0.0217391304},
                          {1.2, 0.04},    {1.33, 0.1885714286}, {1.5, 0.7436734694},
                          {-0.1, -1.5}};
    for (int i = 0; i < COUNT(full); ++i) {
        const double v = tali_muscle_speed_of(&curves, 1.0, 1.0, 0.0, full[i].x).v;
        ck_assert_double_eq_tol(v, full[i].y, 1e-9);
    }
    // half active: A = 0.5
    ck_assert_double_eq_tol(tali_muscle_speed_of(&curves, 0.5, 0.5, 0.0, 0.25).v, -0.1041666667,
                            1e-9);
    ck_assert_double_eq_tol(tali_muscle_speed_of(&curves, 0.5, 0.5, 0.0, 0.6).v, 0.025, 1e-9);
}

START_TEST(millards_curves_have_the_published_values)
{
    const tali_muscle_curves curves = build_default(TAL_MUSCLE_MILLARD);
    const point active[] = {{0.5, 0.0985324896}, {0.6, 0.4511018783}, {0.7, 0.7670203686},
                            {0.8, 0.8706766133}, {0.9, 0.9567598325}, {1.1, 0.9573755323},
                            {1.3, 0.6840319574}, {1.5, 0.4033447270}};
    const point velocity[] = {{-0.75, 0.0515193957},
                              {-0.5, 0.1580856044},
                              {-0.1, 0.6252142843},
                              {0.1, 1.2251538378},
                              {0.5, 1.3311315693}};
    const point passive[] = {{1.02, 0.0008774387},
                             {1.1, 0.0170448351},
                             {1.3, 0.1261111835},
                             {1.5, 0.4602615048},
                             {1.8, 1.2857142857}};
    const point tendon[] = {
        {1.01, 0.0996782701}, {1.02, 0.2609359826}, {1.03, 0.4793987123}, {1.06, 1.3086734694}};
    check_points(&curves, tali_muscle_active, active, COUNT(active));
    check_points(&curves, velocity_curve, velocity, COUNT(velocity));
    check_points(&curves, tali_muscle_passive, passive, COUNT(passive));
    check_points(&curves, tali_muscle_tendon, tendon, COUNT(tendon));
}

START_TEST(degrootes_curves_have_the_published_values)
{
    const tali_muscle_curves curves = build_default(TAL_MUSCLE_DEGROOTE);
    const point active[] = {{0.6, 0.3021030656},
                            {0.8, 0.8364395661},
                            {1.0, 1.0},
                            {1.2, 0.7936897181},
                            {1.5, 0.2261486279}};
    const point velocity[] = {{-0.5, 0.2340363935},
                              {-0.1, 0.7451715850},
                              {0.1, 1.2065086713},
                              {0.5, 1.5884234012},
                              {1.0, 1.7943429636}};
    const point passive[] = {{0.2, 0.0}, {1.0, 0.0182288238}, {1.4, 0.2635320145}};
    const point tendon[] = {{1.01, 0.0882945107}, {1.03, 0.3990307665}, {1.049, 1.0}};
    check_points(&curves, tali_muscle_active, active, COUNT(active));
    // in exact arithmetic the coefficients give 1 - 1.5e-17 and 1 - 1.6e-16: three exponentials,
    // or one logarithm and a root, and a few operations remain
    ck_assert_double_eq_tol(tali_muscle_active(&curves, 1.0).y, 1.0, 4.0 * DBL_EPSILON);
    ck_assert_double_eq_tol(velocity_curve(&curves, 0.0).y, 1.0, 4.0 * DBL_EPSILON);
    check_points(&curves, velocity_curve, velocity, COUNT(velocity));
    check_points(&curves, tali_muscle_passive, passive, COUNT(passive));
    check_points(&curves, tali_muscle_tendon, tendon, COUNT(tendon));
    ck_assert_double_eq_tol(curves.degroote.tendon_rate, 36.5665197802, 1e-9);
    ck_assert_double_eq_tol(tali_muscle_degroote_tendon_length(&curves.degroote, 0.0882945107),
                            1.01, 1e-9);
}

// --- slopes, integrals, inverses ---

// Richardson's difference with h = 1e-4; fifth derivatives of these curves stay below 1e8, so that
// h^4 f^(5) / 480 is below 1e-9 and round-off 3e-16 / h.
static double slope_of(const tali_muscle_curves *curves, curve_fn curve, double x)
{
    const double h = 1e-4;
    const double near = (curve(curves, x + 0.5 * h).y - curve(curves, x - 0.5 * h).y) / h;
    const double far = (curve(curves, x + h).y - curve(curves, x - h).y) / (2.0 * h);
    return (4.0 * near - far) / 3.0;
}

START_TEST(slopes_are_those_of_the_curves)
{
    const curve_fn fns[] = {tali_muscle_active, tali_muscle_passive, tali_muscle_tendon};
    const double from[] = {0.3, 0.3, 0.995}, to[] = {1.9, 1.9, 1.08};
    for (int model = 0; model < 3; ++model) {
        const tali_muscle_curves curves = build_default((tal_muscle_model)model);
        for (int k = 0; k < 3; ++k) {
            for (double x = from[k]; x < to[k]; x += (to[k] - from[k]) / 97.0) {
                if (model == 0 && k > 0 && fabs(x - 1.0) < 2e-4) continue; // kinks at slack
                const double scale = k == 2 ? 100.0 : 10.0;                // tendons are stiff
                ck_assert_double_eq_tol(fns[k](&curves, x).slope, slope_of(&curves, fns[k], x),
                                        1e-6 * scale);
            }
        }
    }
}

typedef real (*area_fn)(const tali_muscle_curves *it, real x);

START_TEST(energies_are_integrals_of_the_curves)
{
    const area_fn areas[] = {tali_muscle_passive_area, tali_muscle_tendon_area};
    const curve_fn fns[] = {tali_muscle_passive, tali_muscle_tendon};
    const double h = 1e-4;
    for (int model = 0; model < 3; ++model) {
        const tali_muscle_curves curves = build_default((tal_muscle_model)model);
        for (int k = 0; k < 2; ++k) {
            for (double x = 0.5; x < 1.9; x += 0.0137) {
                const double near =
                    (areas[k](&curves, x + 0.5 * h) - areas[k](&curves, x - 0.5 * h)) / h;
                const double far =
                    (areas[k](&curves, x + h) - areas[k](&curves, x - h)) / (2.0 * h);
                const double y = fns[k](&curves, x).y;
                const double tolerance =
                    1e-8 * (1.0 + fabs(y)) + (fabs(x - 1.0) < 2e-4 ? 1e-3 : 0.0);
                ck_assert_double_eq_tol((4.0 * near - far) / 3.0, y, tolerance);
            }
        }
    }
}

// v -> f -> v for all models, activations and dampings, on the lines beyond the ends too.
START_TEST(the_speed_of_a_force_has_that_force)
{
    for (int model = 0; model < 3; ++model) {
        const tali_muscle_curves curves = build_default((tal_muscle_model)model);
        for (double a = 0.01; a <= 1.0; a += 0.0495) {
            for (double beta = model == 0 ? 0.0 : 1e-3; beta < 0.15;
                 beta = 10.0 * beta + 0.15 * (model == 0)) {
                for (double v = -1.4; v <= 1.4; v += 0.0625) {
                    const double fal = 0.8, A = a * fal;
                    const double fv = tali_muscle_velocity(&curves, a, v);
                    const double f = A * fv + beta * v;
                    const tali_muscle_speed speed = tali_muscle_speed_of(&curves, A, a, beta, f);
                    const double found = speed.v;
                    // rounding of f over the least slope of the left side
                    const double slope = model == 1 ? beta : 0.1 * A + beta;
                    ck_assert_double_eq_tol(found, v, 1e-13 / slope + 1e-12);
                    // and the curve there, to the error of v times its slope, 8 at most, and that
                    // of f over A
                    ck_assert_double_eq_tol(speed.curve, tali_muscle_velocity(&curves, a, found),
                                            1e-13 / A + 1e-12);
                }
            }
        }
    }
}

START_TEST(undamped_millard_muscles_have_speeds_too)
{
    tal_muscle_def def = tal_muscle_def_default(TAL_MUSCLE_MILLARD);
    def.damping = 0.0;
    const tali_muscle_curves curves = build(&def);
    ck_assert_double_eq(tali_muscle_active(&curves, 0.2).y, 0.1); // the least value is not zero
    for (double v = -1.5; v <= 1.5; v += 0.0625) {
        const double f = 0.7 * tali_muscle_velocity(&curves, 1.0, v);
        ck_assert_double_eq_tol(tali_muscle_speed_of(&curves, 0.7, 1.0, 0.0, f).v, v, 1e-12);
    }
}

// --- activation ---

// t(a) of the exact solution for x = 1: t = rise (-1.5 (a - a0) - 2 ln((1 - a) / (1 - a0))).
START_TEST(activation_follows_the_exact_curve)
{
    const tali_muscle_activation law = {.rise = 0.015, .fall = 0.05, .least = 0.01};
    const double a0 = 0.05, h = 1e-5;
    double a = a0;
    for (int i = 0; i < 5000; ++i) { // RK4: h^4 times derivatives of 1/tau^5: 1e-11
        const double k1 = tali_muscle_activation_rate(&law, 1.0, a);
        const double k2 = tali_muscle_activation_rate(&law, 1.0, a + 0.5 * h * k1);
        const double k3 = tali_muscle_activation_rate(&law, 1.0, a + 0.5 * h * k2);
        const double k4 = tali_muscle_activation_rate(&law, 1.0, a + h * k3);
        a += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        const double t = law.rise * (-1.5 * (a - a0) - 2.0 * log((1.0 - a) / (1.0 - a0)));
        ck_assert_double_eq_tol(t, (i + 1) * h, 1e-10);
    }
}

START_TEST(activation_stays_in_its_range_and_has_no_jump)
{
    const tali_muscle_activation law = {.rise = 0.01, .fall = 0.04, .least = 0.02};
    ck_assert_double_eq(tali_muscle_activation_rate(&law, -3.0, 0.02), 0.0);
    ck_assert_double_eq(tali_muscle_activation_rate(&law, 7.0, 1.0), 0.0);
    ck_assert_double_eq(tali_muscle_activation_rate(&law, 0.4, 0.4), 0.0);
    ck_assert_double_gt(tali_muscle_activation_rate(&law, 0.4 + 1e-9, 0.4), 0.0);
    ck_assert_double_lt(tali_muscle_activation_rate(&law, 0.4 - 1e-9, 0.4), 0.0);
    // the smooth kind by hand: a = 0.2, x = 0.7, b = 0.1, rise 0.015, fall 0.060
    const tali_muscle_activation smooth = {.rise = 0.015, .fall = 0.06, .smoothing = 0.1};
    const double f = 0.5 * tanh(0.05), k = 0.8;
    const double expected = ((f + 0.5) / (0.015 * k) + (0.5 - f) * k / 0.06) * 0.5;
    ck_assert_double_eq_tol(tali_muscle_smooth_activation_rate(&smooth, 0.7, 0.2), expected, 1e-12);
}

// --- equilibrium ---

static tali_muscle_sizes sizes_of(const tal_muscle_def *def, double alpha)
{
    const double h = def->fiber_length * sin(alpha);
    double shortest = fmax(h / sin(def->max_pennation), 0.01 * def->fiber_length);
    if (def->model == TAL_MUSCLE_MILLARD) shortest = fmax(shortest, 0.4441 * def->fiber_length);
    if (def->model == TAL_MUSCLE_DEGROOTE) shortest = fmax(shortest, 0.2 * def->fiber_length);
    return (tali_muscle_sizes){.F0 = def->max_force,
                               .lo = def->fiber_length,
                               .ls = def->tendon_length,
                               .h = h,
                               .shortest = shortest,
                               .vmax = def->fiber_length * def->max_speed,
                               .beta = def->damping};
}

// From far too short to far too long, all activations, three proportions of fibers and tendon.
START_TEST(fibers_and_tendon_always_find_their_equilibrium)
{
    const double fibers[] = {0.1, 0.03, 0.5}, tendons[] = {0.2, 0.4, 0.02};
    const double angles[] = {0.0, 0.5, 1.2};
    int num_found = 0, num_shortest = 0;
    for (int model = 0; model < 3; ++model) {
        for (int k = 0; k < 9; ++k) {
            tal_muscle_def def = tal_muscle_def_default((tal_muscle_model)model);
            def.max_force = 1000.0;
            def.fiber_length = fibers[k / 3];
            def.tendon_length = tendons[k / 3];
            const tali_muscle_curves curves = build(&def);
            const tali_muscle_sizes sizes = sizes_of(&def, angles[k % 3]);
            const double whole = def.fiber_length + def.tendon_length;
            for (double l = 0.5 * whole; l <= 1.5 * whole; l += 0.01 * whole) {
                for (double a = 0.01; a <= 1.0; a += 0.11) {
                    tal_muscle_equilibrium how;
                    const double length =
                        tali_muscle_equilibrium_length(&curves, &sizes, l, a, 0.0, &how);
                    const tali_muscle_fiber fiber = tali_muscle_fiber_of(length, sizes.h);
                    const double f = a * tali_muscle_velocity(&curves, a, 0.0) *
                                         tali_muscle_active(&curves, length / sizes.lo).y +
                                     tali_muscle_passive(&curves, length / sizes.lo).y;
                    const double ft = tali_muscle_tendon(&curves, (l - fiber.along) / sizes.ls).y;
                    const double size = fmax(1.0, fabs(ft));
                    ck_assert_double_ge(length, sizes.shortest);
                    if (how == TAL_MUSCLE_IN_EQUILIBRIUM) {
                        ck_assert_double_lt(fabs(f * fiber.cosine - ft) / size, 1e-9);
                        ++num_found;
                    } else {
                        ck_assert_int_eq(how, TAL_MUSCLE_AT_SHORTEST);
                        ck_assert_double_eq(length, sizes.shortest);
                        ck_assert_double_ge(f * fiber.cosine, ft - 1e-12);
                        ++num_shortest;
                    }
                }
            }
        }
    }
    ck_assert_int_gt(num_found, 10000);
    ck_assert_int_gt(num_shortest, 1000);
}

// With the path moving: fibers and tendon carry the same force at the speed that the fibers have.
START_TEST(moving_muscles_find_an_equilibrium_or_say_that_they_rest)
{
    int num[3] = {0, 0, 0};
    for (int model = 0; model < 3; ++model) {
        tal_muscle_def def = tal_muscle_def_default((tal_muscle_model)model);
        def.max_force = 1000.0;
        def.fiber_length = 0.1;
        def.tendon_length = 0.2;
        const tali_muscle_curves curves = build(&def);
        const tali_muscle_sizes sizes = sizes_of(&def, 0.3);
        for (double l = 0.15; l <= 0.45; l += 0.005) {
            for (double speed = -1.0; speed <= 1.0; speed += 0.125) {
                tal_muscle_equilibrium how;
                const double length =
                    tali_muscle_moving_equilibrium(&curves, &sizes, l, speed, 0.4, &how);
                ck_assert(isfinite(length) && length >= sizes.shortest);
                ++num[how];
            }
        }
    }
    ck_assert_int_gt(num[TAL_MUSCLE_IN_EQUILIBRIUM], 1000);
    ck_assert_int_gt(num[TAL_MUSCLE_AT_SHORTEST], 100);
}

// How strong a muscle is says nothing about its lengths: F0 is a factor of every force. Factors of
// two leave all digits as they are, from a muscle of 1e-6 N to one of 1e6 N.
START_TEST(the_equilibrium_of_a_moving_muscle_does_not_depend_on_its_strength)
{
    for (int model = 0; model < 3; ++model) {
        tal_muscle_def def = tal_muscle_def_default((tal_muscle_model)model);
        def.max_force = 1.0;
        def.fiber_length = 0.1;
        def.tendon_length = 0.2;
        const tali_muscle_curves curves = build(&def);
        for (double l = 0.15; l <= 0.45; l += 0.01) {
            double length[3];
            tal_muscle_equilibrium how[3];
            for (int k = 0; k < 3; ++k) {
                tali_muscle_sizes sizes = sizes_of(&def, 0.3);
                sizes.F0 = ldexp(1.0, 20 * (k - 1));
                length[k] = tali_muscle_moving_equilibrium(&curves, &sizes, l, 0.2, 0.4, &how[k]);
            }
            ck_assert_double_eq(length[0], length[1]);
            ck_assert_double_eq(length[2], length[1]);
            ck_assert(how[0] == how[1] && how[2] == how[1]);
        }
    }
}

// --- mechanics ---

// Ft ldot = Fpe lfdot + Ft ltdot + (Fa + Fd) lfdot in states far from any equilibrium.
START_TEST(power_is_balanced_in_every_state)
{
    tal_random random = {5, 0, 0};
    for (int model = 0; model < 3; ++model) {
        tal_muscle_def def = tal_muscle_def_default((tal_muscle_model)model);
        def.max_force = 1.0;
        def.fiber_length = 0.1;
        def.tendon_length = 0.2;
        if (model == TAL_MUSCLE_DEGROOTE) def.damping = 0.02;
        const tali_muscle_curves curves = build(&def);
        const tali_muscle_sizes sizes = sizes_of(&def, 0.4);
        const tali_muscle_kind kind =
            model == TAL_MUSCLE_DEGROOTE ? TALI_MUSCLE_TENDON_Z : TALI_MUSCLE_ELASTIC;
        for (int i = 0; i < 2000; ++i) {
            tali_muscle_given given = {.l = tal_random_range(&random, 0.26, 0.32),
                                       .ldot = tal_random_range(&random, -1.0, 1.0),
                                       .a = tal_random_range(&random, 0.05, 1.0)};
            given.z = kind == TALI_MUSCLE_ELASTIC ? tal_random_range(&random, 0.05, 0.14)
                                                  : tal_random_range(&random, 0.0, 1.2);
            const tali_muscle_found at = tali_muscle_find(&curves, &sizes, kind, &given);
            const double lfdot = sizes.vmax * at.v, ltdot = given.ldot - lfdot / at.fiber.cosine;
            const double lhs = at.f_tendon * given.ldot;
            const double rhs =
                at.f_tendon * ltdot + (at.passive.y + at.f_active + at.f_damping) * lfdot;
            // over the size of what is added: fibers may be many times as fast as vmax here
            const double size = fmax(fabs(lhs), fabs(at.f_tendon * ltdot));
            ck_assert_double_lt(fabs(lhs - rhs), 1e-10 * fmax(size, sizes.vmax * sizes.F0));
            const double tension = tali_muscle_tension(&curves, &sizes, kind, &given);
            ck_assert_double_eq(tension, at.f_tendon);
        }
    }
}

// Given the rate that the explicit form finds, the implicit one has no residual.
START_TEST(implicit_and_explicit_muscles_agree)
{
    tal_muscle_def def = tal_muscle_def_default(TAL_MUSCLE_DEGROOTE);
    def.max_force = 1000.0;
    def.fiber_length = 0.1;
    def.tendon_length = 0.2;
    def.damping = 0.01;
    const tali_muscle_curves curves = build(&def);
    const tali_muscle_sizes sizes = sizes_of(&def, 0.2);
    tali_muscle_given given = {.l = 0.3, .ldot = -0.2, .a = 0.6, .z = 0.4};
    const tali_muscle_found explicit_one =
        tali_muscle_find(&curves, &sizes, TALI_MUSCLE_TENDON_Z, &given);
    given.z_dot = explicit_one.rate;
    const tali_muscle_found at = tali_muscle_find(&curves, &sizes, TALI_MUSCLE_IMPLICIT, &given);
    ck_assert_double_eq_tol(at.v, explicit_one.v, 1e-12);
    const double f = (at.f_active + at.passive.y + at.f_damping) * at.fiber.cosine;
    ck_assert_double_eq_tol(f, at.f_tendon, 1e-12);
    given.z_dot += 1.0;
    const tali_muscle_found off = tali_muscle_find(&curves, &sizes, TALI_MUSCLE_IMPLICIT, &given);
    const double g = (off.f_active + off.passive.y + off.f_damping) * off.fiber.cosine;
    ck_assert_double_gt(fabs(g - off.f_tendon), 1e-6);
}

START_TEST(degenerate_muscles_have_the_stated_answers)
{
    tal_muscle_def def = tal_muscle_def_default(TAL_MUSCLE_MILLARD);
    def.max_force = 1000.0;
    def.fiber_length = 0.1;
    def.tendon_length = 0.2;
    const tali_muscle_curves curves = build(&def);
    const tali_muscle_sizes sizes = sizes_of(&def, 0.3);
    // a path shorter than the tendon: rigid ones carry nothing, elastic ones are slack and short
    tali_muscle_given given = {.l = 0.1, .ldot = -0.5, .a = 0.5, .z = 0.02};
    tali_muscle_found at = tali_muscle_find(&curves, &sizes, TALI_MUSCLE_RIGID, &given);
    ck_assert(at.is_shortest);
    ck_assert_double_eq(at.f_tendon, 0.0);
    at = tali_muscle_find(&curves, &sizes, TALI_MUSCLE_ELASTIC, &given);
    ck_assert_double_eq(at.f_tendon, 0.0);
    ck_assert_double_ge(at.rate, 0.0);
    ck_assert_double_eq(at.fiber.length, sizes.shortest);
    // fibers that a rigid tendon drives together do not push
    given.l = 0.29;
    given.ldot = -50.0;
    given.a = 0.01;
    at = tali_muscle_find(&curves, &sizes, TALI_MUSCLE_RIGID, &given);
    ck_assert_double_eq(at.f_tendon, 0.0);
    // NaN in, NaN out
    given.l = (double)NAN;
    ck_assert(isnan(tali_muscle_find(&curves, &sizes, TALI_MUSCLE_RIGID, &given).f_tendon));
    ck_assert(isnan(tali_muscle_find(&curves, &sizes, TALI_MUSCLE_ELASTIC, &given).f_tendon));
}

static void check_refused(const tal_muscle_def *def, tal_status expected, const char *part)
{
    tali_muscle_curves curves;
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(tali_muscle_curves_build(def, &curves, &millard, &err), expected);
    ck_assert_msg(strstr(err.message, part) != NULL, "%s", err.message);
}

START_TEST(bad_curves_are_refused_by_name)
{
    tal_muscle_def def = tal_muscle_def_default(TAL_MUSCLE_THELEN);
    def.thelen.eccentric = 0.9;
    check_refused(&def, TAL_ERR_BAD_VALUE, "eccentric is 0.9");
    def = tal_muscle_def_default(TAL_MUSCLE_MILLARD);
    def.millard.tendon_strain = (double)NAN;
    check_refused(&def, TAL_ERR_NOT_FINITE, "tendon_strain");
    def = tal_muscle_def_default(TAL_MUSCLE_MILLARD);
    def.millard.active_steep = 0.3;
    check_refused(&def, TAL_ERR_BAD_VALUE, "active curve");
    def = tal_muscle_def_default(TAL_MUSCLE_DEGROOTE);
    def.degroote.active_width = 0.0;
    check_refused(&def, TAL_ERR_BAD_VALUE, "active_width");
    def = tal_muscle_def_default(TAL_MUSCLE_CURVES);
    check_refused(&def, TAL_ERR_NULL, "active is NULL");
}

int main(void)
{
    Suite *suite = suite_create("forces/muscle_law");
    TCase *tc = tcase_create("golden numbers");
    tcase_add_test(tc, thelens_curves_have_the_published_values);
    tcase_add_test(tc, thelens_speeds_have_the_published_values);
    tcase_add_test(tc, millards_curves_have_the_published_values);
    tcase_add_test(tc, degrootes_curves_have_the_published_values);
    suite_add_tcase(suite, tc);

    tc = tcase_create("slopes, integrals, inverses");
    tcase_add_test(tc, slopes_are_those_of_the_curves);
    tcase_add_test(tc, energies_are_integrals_of_the_curves);
    tcase_add_test(tc, the_speed_of_a_force_has_that_force);
    tcase_add_test(tc, undamped_millard_muscles_have_speeds_too);
    suite_add_tcase(suite, tc);

    tc = tcase_create("activation");
    tcase_add_test(tc, activation_follows_the_exact_curve);
    tcase_add_test(tc, activation_stays_in_its_range_and_has_no_jump);
    suite_add_tcase(suite, tc);

    tc = tcase_create("equilibrium");
    tcase_add_test(tc, fibers_and_tendon_always_find_their_equilibrium);
    tcase_add_test(tc, moving_muscles_find_an_equilibrium_or_say_that_they_rest);
    tcase_add_test(tc, the_equilibrium_of_a_moving_muscle_does_not_depend_on_its_strength);
    suite_add_tcase(suite, tc);

    tc = tcase_create("mechanics");
    tcase_add_test(tc, power_is_balanced_in_every_state);
    tcase_add_test(tc, implicit_and_explicit_muscles_agree);
    tcase_add_test(tc, degenerate_muscles_have_the_stated_answers);
    tcase_add_test(tc, bad_curves_are_refused_by_name);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
