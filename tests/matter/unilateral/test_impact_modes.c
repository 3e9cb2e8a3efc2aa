// matter/src/unilateral/impact_modes.c: which elements push, stick and slide. Numbers are those of
// the specification's tests T1 to T7 and T12.
#include "unilateral_support.h"

#include <string.h>

static const double PRINTED = 6e-8; // numbers printed with eight digits

static void find_modes(test_model *model, tal_impact_report *report)
{
    ck_assert_msg(tal_matter_solve_modes(model->matter, model->state, NULL, report) == TAL_OK, "%s",
                  tal_state_error(model->state)->message);
    test_model_realize(model, TAL_STAGE_ACCELERATION);
}

static void assert_modes(block *it, tal_unilateral_mode mode)
{
    for (int k = 0; k < CORNERS; ++k) {
        ck_assert_int_eq(tal_unilateral_mode_of(it->model.matter, it->model.state, it->corner[k]),
                         mode);
    }
}

static double push_of(block *it, int k)
{
    return tal_unilateral_force_of(it->model.matter, it->model.state, it->corner[k]).normal;
}

// A force on the block at a point, in Ground.
static void pull(block *it, tal_vec3 at, tal_vec3 force)
{
    const tal_vec3 moment = tal_v3_cross(at, force);
    const double f[6] = {moment.x, moment.y, moment.z, force.x, force.y, force.z};
    memcpy(it->model.f, f, sizeof f);
    ck_assert_int_eq(tal_state_invalidate(it->model.state, TAL_STAGE_DYNAMICS), TAL_OK);
}

// T1, RBDA 11.1: one point of a body, off its center: M = n . I^-1 n = 1/m + x^2 / I_yy = 0.95.
START_TEST(a_body_falls_on_a_point_off_its_center)
{
    test_model model;
    test_model_begin(&model);
    model.gravity = tal_v3(0.0, 0.0, -9.81);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 2.0;
    def.mass.com = tal_v3(0.0, 0.0, 1.0);
    def.mass.inertia = tal_s3_diag(2.1, 2.2, 0.3); // about the origin
    const tal_body_ix body = tal_matter_add_free(model.matter, TAL_GROUND, &def);
    const tal_xform plane = floor_at(0.0);
    const tal_unilateral_ix point = tal_unilateral_add_point_on_plane(
        model.matter, NULL, TAL_GROUND, &plane, body, tal_v3(0.3, 0.0, 0.0));
    test_model_freeze(&model);
    test_model_realize(&model, TAL_STAGE_TIME);
    ck_assert_int_eq(tal_matter_solve_modes(model.matter, model.state, NULL, NULL), TAL_OK);
    test_model_realize(&model, TAL_STAGE_ACCELERATION);
    ck_assert_double_eq_tol(tal_unilateral_force_of(model.matter, model.state, point).normal,
                            9.81 / 0.95, 1e-13);
    const tal_spatial_vec A = tal_body_A_GB(model.matter, model.state, body);
    ck_assert_double_eq_tol(A.w.y, -15.489473684210526, 1e-12);
    ck_assert_double_eq_tol(A.v.z, -4.646842105263158, 1e-12); // the center is above the origin
    test_model_end(&model);
}

END_TEST

START_TEST(a_block_at_rest_stands_on_four_corners)
{
    block it;
    block_create(&it, dry(0.5, 0.5));
    tal_impact_report report;
    find_modes(&it.model, &report);
    ck_assert_int_eq(report.num_touching, CORNERS);
    ck_assert_int_eq(report.num_changed, CORNERS);
    assert_modes(&it, TAL_UNILATERAL_STICK);
    for (int k = 0; k < CORNERS; ++k) {
        ck_assert_double_eq_tol(push_of(&it, k), 0.25 * 2.0 * 9.81, 1e-12);
    }
    ck_assert_double_le(test_largest(tal_state_udot(it.model.state), 6), 1e-13);
    find_modes(&it.model, &report); // nothing new
    ck_assert_int_eq(report.num_changed, 0);
    test_model_end(&it.model);
}

END_TEST

// T3: a table on legs at (+-1, +-1), weight 1, its center at (cx, cy). The answers are rational.
static void stand(double cx, double cy, double I, const double N[4], double rise)
{
    test_model model;
    test_model_begin(&model);
    model.gravity = tal_v3(0.0, 0.0, -1.0);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    def.mass.com = tal_v3(cx, cy, 0.0);
    const double x = I + cy * cy, y = I + cx * cx; // about the origin
    def.mass.inertia = tal_s3_diag(x, y, x + y);
    def.mass.inertia.xy = -cx * cy;
    const tal_body_ix table = tal_matter_add_free(model.matter, TAL_GROUND, &def);
    tal_unilateral_ix leg[4];
    const tal_xform plane = TAL_XFORM_IDENTITY;
    for (int k = 0; k < 4; ++k) {
        const tal_vec3 at = tal_v3(k < 2 ? 1.0 : -1.0, k % 2 == 0 ? 1.0 : -1.0, 0.0);
        leg[k] =
            tal_unilateral_add_point_on_plane(model.matter, NULL, TAL_GROUND, &plane, table, at);
    }
    test_model_freeze(&model);
    test_model_realize(&model, TAL_STAGE_TIME);
    find_modes(&model, NULL);
    for (int k = 0; k < 4; ++k) {
        const tal_unilateral_force force =
            tal_unilateral_force_of(model.matter, model.state, leg[k]);
        const double a = tal_unilateral_acceleration(model.matter, model.state, leg[k]);
        ck_assert_double_eq_tol(force.normal, N[k], 1e-12);
        ck_assert_double_eq_tol(a, k >= 2 ? rise : 0.0, 1e-12);
        ck_assert_int_eq(tal_unilateral_mode_of(model.matter, model.state, leg[k]),
                         N[k] > 0.0 ? TAL_UNILATERAL_ON : TAL_UNILATERAL_OFF);
    }
    test_model_end(&model);
}

START_TEST(legs_of_a_table_share_its_weight_and_none_pulls)
{
    stand(0.0, 0.0, 0.5, (const double[4]){.25, .25, .25, .25}, 0.0);
    stand(0.3, 0.1, 0.5, (const double[4]){.35, .30, .20, .15}, 0.0);
    stand(0.6, 0.6, 0.5, (const double[4]){.6, .2, .2, 0.0}, 0.0);
    // it tips about x = 1: torque 0.2, inertia 0.5 + 0.04; the far legs rise at 2 alpha
    const double alpha = 0.2 / 0.54, N = 0.5 * (1.0 - 0.2 * alpha);
    ck_assert_double_eq_tol(N, .462963, 5e-7); // as printed
    stand(1.2, 0.0, 0.5, (const double[4]){N, N, 0.0, 0.0}, 2.0 * alpha);
}

END_TEST

typedef struct push_row {
    double static_mu, sliding_mu;
    tal_vec3 at, force;
    tal_unilateral_mode mode;
    double udot[6];
} push_row;

// T5. Forces at the base do not tip the block.
START_TEST(a_block_that_is_pushed_sticks_slides_tips_or_twists)
{
    const double c30 = cos(30.0 * TAL_DEGREE);
    const push_row rows[] = {
        {.5, .5, {0, 0, -.2}, {9, 0, 0}, TAL_UNILATERAL_STICK, {0}},
        {.5, .5, {0, 0, -.2}, {12, 0, 0}, TAL_UNILATERAL_SLIDE, {0, 0, 0, 1.095}},
        {.5, .5, {0, 0, -.2}, {12 * c30, 6, 0}, TAL_UNILATERAL_SLIDE, {0, 0, 0, .94829782, .5475}},
        {.6, .4, {0, 0, -.2}, {13, 0, 0}, TAL_UNILATERAL_SLIDE, {0, 0, 0, 2.576}},
        {.3,
         .3,
         {.5, 0, -.2},
         {0, 8, 0},
         TAL_UNILATERAL_SLIDE,
         {0, 0, 5.7662014, -.2829351, 2.7198671, 0}}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        block it;
        block_create(&it, dry(rows[i].static_mu, rows[i].sliding_mu));
        pull(&it, rows[i].at, rows[i].force);
        find_modes(&it.model, NULL);
        assert_modes(&it, rows[i].mode);
        test_assert_near(tal_state_udot(it.model.state), rows[i].udot, 6, PRINTED, "udot");
        test_model_end(&it.model);
    }
}

END_TEST

START_TEST(a_block_that_is_pushed_at_its_top_tips)
{
    block it;
    block_create(&it, dry(5.0, 5.0));
    pull(&it, tal_v3(0.0, 0.0, 0.2), tal_v3(45.0, 0.0, 0.0));
    find_modes(&it.model, NULL);
    const double udot[6] = {0.0, 10.5905172, 0.0, 2.1181034, 0.0, 5.2952586};
    test_assert_near(tal_state_udot(it.model.state), udot, 6, PRINTED, "udot");
    const tal_unilateral_mode modes[CORNERS] = {TAL_UNILATERAL_STICK, TAL_UNILATERAL_STICK,
                                                TAL_UNILATERAL_OFF, TAL_UNILATERAL_OFF};
    for (int k = 0; k < CORNERS; ++k) {
        ck_assert_int_eq(tal_unilateral_mode_of(it.model.matter, it.model.state, it.corner[k]),
                         modes[k]);
    }
    test_model_end(&it.model);
}

END_TEST

// T6: on 30 degrees 0.57 slips and 0.58 does not.
START_TEST(a_slope_of_30_degrees_holds_from_0_58_on)
{
    for (int i = 0; i < 2; ++i) {
        block it;
        const double mu = i == 0 ? 0.57 : 0.58, slope = 30.0 * TAL_DEGREE;
        block_create(&it, dry(mu, mu));
        it.model.gravity = tal_v3(9.81 * sin(slope), 0.0, -9.81 * cos(slope));
        find_modes(&it.model, NULL);
        assert_modes(&it, i == 0 ? TAL_UNILATERAL_SLIDE : TAL_UNILATERAL_STICK);
        ck_assert_double_eq_tol(tal_state_udot(it.model.state)[3], i == 0 ? 0.0624457497 : 0.0,
                                1e-10);
        test_model_end(&it.model);
    }
}

END_TEST

// T7 and T12: a rod that slides towards its tip at 1 m/s. With mu = 2 at 60 degrees no force keeps
// the tip from penetrating: an impulse stops it. With mu = 1.3 at 63 degrees it slides.
START_TEST(a_jammed_rod_is_stopped_by_an_impulse)
{
    static const struct {
        double angle, mu;
        int jams;
        double dT;
    } rows[] = {{60, 2.0, 1, -.21875}, {63, 1.4, 1, -.202290265}, {63, 1.3, 0, 0.0}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        rod it;
        rod_create(&it, rows[i].angle * TAL_DEGREE, dry(rows[i].mu, rows[i].mu));
        tal_body_set_u(it.model.matter, it.model.state, it.body, 1, -1.0);
        tal_impact_report report;
        find_modes(&it.model, &report);
        ck_assert_int_eq(report.num_jammed, rows[i].jams);
        double slip[2];
        ck_assert_int_eq(tal_unilateral_calc_slip(it.model.matter, it.model.state, it.tip, slip),
                         TAL_OK);
        ck_assert_double_eq_tol(slip[0], rows[i].jams > 0 ? 0.0 : -1.0, 1e-12);
        const double T = tal_matter_kinetic_energy(it.model.matter, it.model.state);
        ck_assert_double_eq_tol(T - 0.5, rows[i].dT, 6e-9);
        test_model_end(&it.model);
    }
}

END_TEST

// T7: turning at 5 rad/s the tip accelerates away: there are two answers, and it leaves.
START_TEST(of_two_answers_the_contact_leaves)
{
    rod it;
    rod_create(&it, 60.0 * TAL_DEGREE, dry(2.0, 2.0));
    // the tip slides at 1 m/s to the left, and does not move up or down
    tal_body_set_u(it.model.matter, it.model.state, it.body, 0, 5.0);
    tal_body_set_u(it.model.matter, it.model.state, it.body, 1, -1.0 - 5.0 * 0.5 * sqrt(0.75));
    tal_body_set_u(it.model.matter, it.model.state, it.body, 2, 5.0 * 0.25);
    find_modes(&it.model, NULL);
    ck_assert_int_eq(tal_unilateral_mode_of(it.model.matter, it.model.state, it.tip),
                     TAL_UNILATERAL_OFF);
    ck_assert_double_eq_tol(tal_unilateral_acceleration(it.model.matter, it.model.state, it.tip),
                            1.015318, 5e-7); // as printed
    test_model_end(&it.model);
}

END_TEST

START_TEST(stops_that_contradict_are_infeasible_and_named)
{
    test_model model;
    test_model_begin(&model);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    const tal_body_ix body = tal_matter_add_slider(model.matter, TAL_GROUND, &def);
    tal_unilateral_def one = tal_unilateral_def_default();
    one.name = "wall";
    tal_unilateral_add_stop(model.matter, &one, (tal_mobility){body, 0}, 0.0, true);
    tal_motion_def motion = tal_motion_def_default();
    motion.body = body;
    motion.level = TAL_LEVEL_VELOCITY; // at rest, and about to go into the wall
    tal_matter_add_motion_sinusoid(model.matter, &motion, 1.0, 2.0, 0.0);
    test_model_freeze(&model);
    test_model_realize(&model, TAL_STAGE_TIME);
    ck_assert_int_eq(tal_matter_solve_modes(model.matter, model.state, NULL, NULL),
                     TAL_ERR_INFEASIBLE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(model.state)->message, "wall"));
    test_model_end(&model);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("matter/impact_modes");
    TCase *tc = tcase_create("modes");
    tcase_add_test(tc, a_body_falls_on_a_point_off_its_center);
    tcase_add_test(tc, a_block_at_rest_stands_on_four_corners);
    tcase_add_test(tc, legs_of_a_table_share_its_weight_and_none_pulls);
    tcase_add_test(tc, a_block_that_is_pushed_sticks_slides_tips_or_twists);
    tcase_add_test(tc, a_block_that_is_pushed_at_its_top_tips);
    tcase_add_test(tc, a_slope_of_30_degrees_holds_from_0_58_on);
    tcase_add_test(tc, a_jammed_rod_is_stopped_by_an_impulse);
    tcase_add_test(tc, of_two_answers_the_contact_leaves);
    tcase_add_test(tc, stops_that_contradict_are_infeasible_and_named);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
