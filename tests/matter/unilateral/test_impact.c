// matter/src/unilateral/impact.c, impact_path.c and impact_problem.c: impulses against closed forms
// and identities. Numbers are those of the specification's tests T10 to T15.
#include "unilateral/impact_internal.h"
#include "unilateral_support.h"

#include <string.h>

// Printed with eight digits or more; sums of a few terms of size one.
static const double PRINTED = 6e-9, ROUND_OFF = 1e-13;

// --- one contact with friction ---

typedef struct rod_row {
    double angle, mu, u[3]; // [deg]; vx, vy, w
    double pi[2], v[2], dT; // T, N
} rod_row;

static void hit(rod *it, const rod_row *row, tal_impact_report *report)
{
    rod_create(it, row->angle * TAL_DEGREE, bouncy(row->mu, 0.5));
    tal_matter *matter = it->model.matter;
    tal_state *state = it->model.state;
    tal_body_set_u(matter, state, it->body, 0, row->u[2]);
    tal_body_set_u(matter, state, it->body, 1, row->u[0]);
    tal_body_set_u(matter, state, it->body, 2, row->u[1]);
    test_model_realize(&it->model, TAL_STAGE_VELOCITY);
    const double T = kinetic(&it->model);
    ck_assert_msg(tal_matter_solve_impact(matter, state, NULL, report) == TAL_OK, "%s",
                  tal_state_error(state)->message);
    ck_assert_int_eq(report->num_impacting, 1);
    ck_assert_double_eq_tol(kinetic(&it->model) - T, report->energy, ROUND_OFF * (1.0 + T));
}

// T10: a rod of 1 kg and 1 m falls on its tip without friction, at 3 m/s. The impulse
// pi = (1 + e) 3 / (1 + 3 cos^2) is vertical: the center changes by pi, and the rate by 6 cos pi;
// the tip leaves at 3 e, and energy falls by (1 - e^2) 9 / (2 (1 + 3 cos^2)).
START_TEST(rods_that_hit_without_friction_have_a_closed_form)
{
    const struct {
        double angle, e;
    } rows[] = {{0.0, 0.5}, {30.0, 0.0}, {45.0, 1.0}, {80.0, 0.7}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        rod it;
        tal_impact_report report;
        const double angle = rows[i].angle * TAL_DEGREE, e = rows[i].e, c = cos(angle);
        rod_create(&it, angle, bouncy(0.0, e));
        tal_body_set_u(it.model.matter, it.model.state, it.body, 2, -3.0);
        ck_assert_int_eq(tal_matter_solve_impact(it.model.matter, it.model.state, NULL, &report),
                         TAL_OK);
        const tal_unilateral_impact impact =
            tal_unilateral_impact_of(it.model.matter, it.model.state, it.tip);
        const double A = 1.0 + 3.0 * c * c, pi = (1.0 + e) * 3.0 / A;
        const double *u = tal_state_u(it.model.state);
        ck_assert_double_eq_tol(impact.normal, pi, ROUND_OFF);
        ck_assert_double_eq_tol(impact.speed, 3.0, ROUND_OFF);
        ck_assert_double_eq_tol(impact.after, 3.0 * e, ROUND_OFF);
        ck_assert_double_eq_tol(u[0], -6.0 * c * pi, ROUND_OFF);
        ck_assert_double_eq_tol(u[1], 0.0, ROUND_OFF);
        ck_assert_double_eq_tol(u[2], -3.0 + pi, ROUND_OFF);
        ck_assert_double_eq_tol(report.energy, -0.5 * (1.0 - e * e) * 9.0 / A, ROUND_OFF);
        test_model_end(&it.model);
    }
}

END_TEST

// Routh's path: slip, its end, stick or slip the other way.
START_TEST(rods_that_hit_with_friction_follow_rouths_path)
{
    static const rod_row rows[] = {
        {30, .1, {1, -3, 0}, {7.10494679e-5, 1.35752752}, {-.76335564, 1.41187215}, -1.077955226},
        {30, .5, {1, -3, 0}, {.23292046, 1.38578799}, {-.39258061, 1.20123842}, -1.175610895},
        {60, .3, {.2, -3, 0}, {.91698985, 3.23253138}, {-1.01896443, 1.46572516}, -2.855286817},
        {60, 1., {0, -3, 0}, {1.46141787, 3.65625}, {0, 1.5}, -2.7421875},
        {45, .2, {0, -3, 5}, {.22427891, 2.88916150}, {-2.00527802, 2.11871843}, -3.853398859}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        rod it;
        tal_impact_report report;
        hit(&it, &rows[i], &report);
        const tal_unilateral_impact impact =
            tal_unilateral_impact_of(it.model.matter, it.model.state, it.tip);
        double slip[2];
        (void)tal_unilateral_calc_slip(it.model.matter, it.model.state, it.tip, slip);
        ck_assert_double_eq_tol(impact.friction[0], rows[i].pi[0], PRINTED);
        ck_assert_double_eq_tol(impact.normal, rows[i].pi[1], PRINTED);
        ck_assert_double_eq_tol(slip[0], rows[i].v[0], PRINTED);
        ck_assert_double_eq_tol(tal_unilateral_speed(it.model.matter, it.model.state, it.tip),
                                rows[i].v[1], PRINTED);
        ck_assert_double_eq_tol(report.energy, rows[i].dT, PRINTED);
        ck_assert_int_eq(impact.count, 1);
        test_model_end(&it.model);
    }
}

END_TEST

// A ball that spins about a tilted axis hits a floor: its slip is straight in the plane (A_TT is a
// multiple of one), so that the path is that of a plane problem along the slip.
START_TEST(a_spinning_ball_slips_straight_and_ends_rolling)
{
    test_model model;
    test_model_begin(&model);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 2.0;
    def.mass.inertia = tal_s3_diag(0.08, 0.08, 0.08); // 2/5 m r^2 with r = 0.1^(1/2)
    const double r = sqrt(0.1);
    const tal_body_ix ball = tal_matter_add_free(model.matter, TAL_GROUND, &def);
    tal_unilateral_def contact = tal_unilateral_def_default();
    contact.material = bouncy(0.4, 0.5);
    const tal_xform plane = floor_at(-r);
    const tal_unilateral_ix at = tal_unilateral_add_sphere_on_plane(
        model.matter, &contact, TAL_GROUND, &plane, ball, TAL_VEC3_ZERO, r);
    test_model_freeze(&model);
    test_model_realize(&model, TAL_STAGE_TIME);
    const double u[6] = {3.0, -4.0, 2.0, 1.0, 0.5, -5.0};
    for (int j = 0; j < 6; ++j) {
        tal_body_set_u(model.matter, model.state, ball, j, u[j]);
    }
    double before[2], after[2];
    ck_assert_int_eq(tal_unilateral_calc_slip(model.matter, model.state, at, before), TAL_OK);
    ck_assert_int_eq(tal_matter_solve_impact(model.matter, model.state, NULL, NULL), TAL_OK);
    ck_assert_int_eq(tal_unilateral_calc_slip(model.matter, model.state, at, after), TAL_OK);
    const tal_unilateral_impact impact = tal_unilateral_impact_of(model.matter, model.state, at);
    // normal: 2 kg stop and come back; tangential: 7/2 of 1/m, friction enough to end the slip
    ck_assert_double_eq_tol(impact.normal, 2.0 * 5.0 * 1.5, 1e-12);
    const double slip = hypot(before[0], before[1]), enough = slip / (3.5 / 2.0);
    const double used = fmin(enough, 0.4 * impact.normal);
    for (int k = 0; k < 2; ++k) {
        ck_assert_double_eq_tol(impact.friction[k], -used * before[k] / slip, 1e-12);
        ck_assert_double_eq_tol(after[k], before[k] * (1.0 - used / enough), 1e-12);
    }
    test_model_end(&model);
}

END_TEST

// A body of three different inertias: the slip turns. Friction work is never positive, v_N ends as
// the path says, and halving the steps cannot be asked for, so the path is checked against the
// definition: friction lies within the cone, energy falls, momentum is what pi says.
START_TEST(slip_that_turns_keeps_to_the_cone_and_loses_energy)
{
    for (uint64_t seed = 1; seed <= 50; ++seed) {
        test_rng rng = test_rng_seed(seed);
        tali_impact_path path = {.static_mu = 0.3, .sliding_mu = 0.3, .restitution = 0.5};
        // A = J M^-1 J^T of a random body: B B^T + a part of the identity
        double B[3][3], v0[3];
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                B[i][j] = test_random_uniform(&rng, -1.0, 1.0);
            }
            v0[i] = path.v[i] = test_random_uniform(&rng, -1.0, 1.0);
        }
        v0[0] = path.v[0] = -1.0;
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                path.A[i][j] = i == j ? 0.5 : 0.0;
                for (int k = 0; k < 3; ++k) {
                    path.A[i][j] += B[i][k] * B[j][k];
                }
            }
        }
        ck_assert(tali_impact_follow_path(&path));
        double dT = 0.0;
        for (int i = 0; i < 3; ++i) {
            double v = v0[i];
            for (int j = 0; j < 3; ++j) {
                v += path.A[i][j] * path.pi[j];
            }
            // where slip ends its rest of 1e-9 is dropped
            ck_assert_double_eq_tol(path.v[i], v, 1e-8);
            dT += 0.5 * path.pi[i] * (v0[i] + v);
        }
        ck_assert_double_le(dT, 1e-9);
        ck_assert_double_le(hypot(path.pi[1], path.pi[2]), 0.3 * path.pi[0] * (1.0 + 1e-12));
        ck_assert_double_ge(path.v[0], -1e-12);
    }
}

END_TEST

// --- several contacts ---

/// Three equal balls in a row, touching, on sliders; the first comes at 1 m/s (T13).
static void cradle(double e, bool sequential, int rounds, const double after[3])
{
    test_model model;
    test_model_begin(&model);
    tal_body_ix ball[3];
    for (int i = 0; i < 3; ++i) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass.mass = 1.0;
        def.X_PF = tal_xf_from_p(tal_v3(0.2 * i, 0.0, 0.0));
        ball[i] = tal_matter_add_slider(model.matter, TAL_GROUND, &def);
    }
    tal_unilateral_def contact = tal_unilateral_def_default();
    contact.material.restitution = e;
    for (int i = 0; i < 2; ++i) {
        tal_unilateral_add_sphere_on_sphere(model.matter, &contact, ball[i], TAL_VEC3_ZERO, 0.1,
                                            ball[i + 1], TAL_VEC3_ZERO, 0.1);
    }
    test_model_freeze(&model);
    test_model_realize(&model, TAL_STAGE_TIME);
    tal_body_set_u(model.matter, model.state, ball[0], 0, 1.0);
    tal_impact_options options = tal_impact_options_default();
    options.sequential = sequential;
    tal_impact_report report;
    ck_assert_int_eq(tal_matter_solve_impact(model.matter, model.state, &options, &report), TAL_OK);
    double momentum = 0.0;
    for (int i = 0; i < 3; ++i) {
        const double u = tal_body_u(model.matter, model.state, ball[i], 0);
        ck_assert_double_eq_tol(u, after[i], ROUND_OFF);
        momentum += u;
    }
    ck_assert_double_eq_tol(momentum, 1.0, ROUND_OFF);
    ck_assert_int_eq(report.rounds, rounds);
    ck_assert_double_eq(report.restitution, 1.0);
    test_model_end(&model);
}

START_TEST(newtons_cradle_both_ways)
{
    cradle(1.0, false, 1, (const double[3]){-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0});
    cradle(1.0, true, 2, (const double[3]){0.0, 0.0, 1.0});
    cradle(0.5, false, 1, (const double[3]){0.0, 0.5, 0.5});
    cradle(0.5, true, 3, (const double[3]){.203125, .234375, .5625});
}

END_TEST

// Two unit masses, rows t1 (2, -3), n1 (0, 1), n2 (2, 0), mu1 = 1, e = (0.5, 1), u = (-2, -1), as
// in T14. Three rows on two masses: compression ends at rest with any (p, 1 + 3p, 1 - p), and equal
// compliance takes the shortest, p = -2/11. (The numbers of T14 are those of p = -1/4.) Expansion
// adds (5/22, 13/11) and friction -5/22 against the slip: u = (21/11, 10/11).
START_TEST(redundant_rows_share_an_impulse)
{
    test_model model;
    test_model_begin(&model);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    const tal_body_ix a = tal_matter_add_slider(model.matter, TAL_GROUND, &def);
    const tal_body_ix b = tal_matter_add_slider(model.matter, TAL_GROUND, &def);
    tal_unilateral_def one = tal_unilateral_def_default();
    one.material = bouncy(1.0, 0.5);
    tal_constraint_def on = tal_constraint_on(b, 0);
    one.normal = tal_constraint_add_constant_coordinate(model.matter, &on, 0.0);
    on = tal_constraint_def_default();
    on.num_mobilities = 2;
    on.mobilities[0] = (tal_mobility){a, 0};
    on.mobilities[1] = (tal_mobility){b, 0};
    const double slip[2] = {2.0, -3.0};
    one.grip = tal_constraint_add_speed_coupler(model.matter, &on, 2, linear(slip, 2));
    const tal_unilateral_ix first = tal_matter_add_unilateral(model.matter, &one);
    tal_unilateral_def two = tal_unilateral_def_default();
    two.material.restitution = 1.0;
    on = tal_constraint_on(a, 0);
    const double gap[1] = {2.0};
    two.normal = tal_constraint_add_coordinate_coupler(model.matter, &on, linear(gap, 1));
    const tal_unilateral_ix second = tal_matter_add_unilateral(model.matter, &two);
    test_model_freeze(&model);
    test_model_realize(&model, TAL_STAGE_TIME);
    tal_body_set_u(model.matter, model.state, a, 0, -2.0);
    tal_body_set_u(model.matter, model.state, b, 0, -1.0);
    tal_impact_report report;
    ck_assert_msg(tal_matter_solve_impact(model.matter, model.state, NULL, &report) == TAL_OK, "%s",
                  tal_state_error(model.state)->message);
    const tal_unilateral_impact n1 = tal_unilateral_impact_of(model.matter, model.state, first);
    const tal_unilateral_impact n2 = tal_unilateral_impact_of(model.matter, model.state, second);
    // the limit of small compliance is extrapolated: 1e-9
    ck_assert_double_eq_tol(n1.friction[0], -9.0 / 22.0, 1e-9);
    ck_assert_double_eq_tol(n1.normal, 15.0 / 22.0, 1e-9);
    ck_assert_double_eq_tol(n2.normal, 26.0 / 11.0, 1e-9);
    ck_assert_double_eq_tol(tal_body_u(model.matter, model.state, a, 0), 21.0 / 11.0, 1e-9);
    ck_assert_double_eq_tol(tal_body_u(model.matter, model.state, b, 0), 10.0 / 11.0, 1e-9);
    ck_assert_double_eq_tol(report.energy, 0.5 * (441.0 + 100.0) / 121.0 - 2.5, 1e-9);
    test_model_end(&model);
}

END_TEST

// --- stops, ropes, bilateral constraints (T15) ---

START_TEST(a_stop_sends_a_slider_back_and_a_rope_turns_only_the_radial_velocity)
{
    test_model model;
    test_model_begin(&model);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 3.0;
    const tal_body_ix slider = tal_matter_add_slider(model.matter, TAL_GROUND, &def);
    const tal_body_ix bob = tal_matter_add_translation(model.matter, TAL_GROUND, &def);
    tal_unilateral_def one = tal_unilateral_def_default();
    one.material.restitution = 0.7;
    one.name = "stop";
    tal_unilateral_add_stop(model.matter, &one, (tal_mobility){slider, 0}, 0.0, true);
    one.name = "rope";
    tal_unilateral_add_rope(model.matter, &one, TAL_GROUND, tal_v3(0.0, 2.0, 0.0), bob,
                            TAL_VEC3_ZERO, 2.0);
    test_model_freeze(&model);
    test_model_realize(&model, TAL_STAGE_TIME);
    tal_body_set_u(model.matter, model.state, slider, 0, 1.5);
    tal_body_set_u(model.matter, model.state, bob, 0, 4.0);
    tal_body_set_u(model.matter, model.state, bob, 1, -2.0); // down: the rope becomes taut
    tal_impact_report report;
    ck_assert_int_eq(tal_matter_solve_impact(model.matter, model.state, NULL, &report), TAL_OK);
    ck_assert_int_eq(report.num_impacting, 2);
    ck_assert_double_eq_tol(tal_body_u(model.matter, model.state, slider, 0), -1.05, 1e-15);
    ck_assert_double_eq_tol(tal_body_u(model.matter, model.state, bob, 0), 4.0, 1e-15);
    ck_assert_double_eq_tol(tal_body_u(model.matter, model.state, bob, 1), 1.4, 1e-15);
    // what leaves does not come back
    ck_assert_int_eq(tal_matter_solve_impact(model.matter, model.state, NULL, &report), TAL_OK);
    ck_assert_int_eq(report.num_impacting, 0);
    test_model_end(&model);
}

END_TEST

START_TEST(too_many_that_touch_are_an_error_that_says_what_to_raise)
{
    block it;
    block_begin(&it, dry(0.5, 0.5));
    ck_assert_int_eq(tal_matter_set_most_touching(it.model.matter, 3), TAL_OK);
    test_model_freeze(&it.model);
    test_model_realize(&it.model, TAL_STAGE_TIME);
    ck_assert_int_eq(tal_matter_solve_impact(it.model.matter, it.model.state, NULL, NULL),
                     TAL_ERR_CAPACITY);
    ck_assert_ptr_nonnull(
        strstr(tal_state_error(it.model.state)->message, "tal_matter_set_most_touching"));
    test_model_end(&it.model);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("matter/impact");
    TCase *tc = tcase_create("impulses");
    tcase_add_test(tc, rods_that_hit_without_friction_have_a_closed_form);
    tcase_add_test(tc, rods_that_hit_with_friction_follow_rouths_path);
    tcase_add_test(tc, a_spinning_ball_slips_straight_and_ends_rolling);
    tcase_add_test(tc, slip_that_turns_keeps_to_the_cone_and_loses_energy);
    tcase_add_test(tc, newtons_cradle_both_ways);
    tcase_add_test(tc, redundant_rows_share_an_impulse);
    tcase_add_test(tc, a_stop_sends_a_slider_back_and_a_rope_turns_only_the_radial_velocity);
    tcase_add_test(tc, too_many_that_touch_are_an_error_that_says_what_to_raise);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
