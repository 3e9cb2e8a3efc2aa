// matter/src/unilateral/impact_loads.c: friction in joints that constraints make, while an impact
// presses on them, against closed forms.
#include "unilateral_support.h"

// Limits are found by repetition, to 1e-10 of the largest; speeds are of size one.
static const double CLOSE = 1e-9;

static tal_unilateral_material hard(double e)
{
    tal_unilateral_material material = tal_unilateral_material_default();
    material.restitution = e;
    return material;
}

static void solve(test_model *model, tal_impact_report *report)
{
    ck_assert_msg(tal_matter_solve_impact(model->matter, model->state, NULL, report) == TAL_OK,
                  "%s", tal_state_error(model->state)->message);
    ck_assert_int_eq(report->num_impacting, 1);
    ck_assert_int_eq(report->num_smooth, 0);
    ck_assert_double_le(report->energy, 0.0);
}

// --- a bead on a rail, struck by a ball ---

static const double BEAD = 0.5, BALL = 0.8, RADIUS = 0.1; // kg, kg, m

/// An oblique blow: by a ball that comes at an angle to the rail.
typedef struct blow {
    double angle, mu, e;
    double bead, ball;       ///< [m/s] speeds before it: along the rail, along the normal
    double bead_to, ball_to; ///< and afterwards
} blow;

// With the normal (c, s) an impulse P presses by s P on the rail. Slip at the end in the direction
// d has the friction -d mu s P:
//
//     bead' = bead + P k / BEAD    k = c - d mu s
//     ball' = ball - P / BALL      ball' = c bead' at the end of compression
//
// and expansion adds e of P. A bead that would be pushed back by its own friction stays at rest.
static void find_closed_form(blow *it, double d)
{
    const double c = cos(it->angle), s = sin(it->angle);
    const double k = d != 0.0 ? c - d * it->mu * s : 0.0;
    const double P = (it->ball - c * it->bead) / (1.0 / BALL + c * k / BEAD);
    it->bead_to = it->bead + (1.0 + it->e) * P * k / BEAD;
    it->ball_to = it->ball - (1.0 + it->e) * P / BALL;
}

static void check_blow(const blow *it)
{
    test_model model;
    test_model_begin(&model);
    const double c = cos(it->angle), s = sin(it->angle);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = BEAD;
    const tal_body_ix bead = tal_matter_add_translation(model.matter, TAL_GROUND, &def);
    def.mass.mass = BALL;
    const tal_body_ix ball = tal_matter_add_translation(model.matter, TAL_GROUND, &def);
    const tal_vec3 along = tal_v3(1.0, 0.0, 0.0), across = tal_v3(0.0, 1.0, 0.0);
    const tal_constraint_def on = tal_constraint_between(TAL_GROUND, bead);
    tal_unilateral_def rubs = tal_unilateral_def_default();
    rubs.material = dry(it->mu, it->mu);
    rubs.load = (tal_unilateral_load){
        tal_constraint_add_point_in_plane(model.matter, &on, across, 0.0, TAL_VEC3_ZERO),
        0,
        1,
        {1.0}};
    (void)tal_unilateral_add_friction_along(model.matter, &rubs, TAL_GROUND, along, TAL_VEC3_ZERO,
                                            bead, TAL_VEC3_ZERO);
    tal_unilateral_def touches = tal_unilateral_def_default();
    touches.material = hard(it->e);
    (void)tal_unilateral_add_sphere_on_sphere(model.matter, &touches, ball, TAL_VEC3_ZERO, RADIUS,
                                              bead, TAL_VEC3_ZERO, RADIUS);
    test_model_freeze(&model);
    const double q[6] = {0.0, 0.0, 0.0, -2.0 * RADIUS * c, -2.0 * RADIUS * s, 0.0};
    const double u[6] = {it->bead, 0.0, 0.0, it->ball * c, it->ball * s, 0.0};
    ck_assert_int_eq(tal_state_set_q(model.state, q, 6), TAL_OK);
    ck_assert_int_eq(tal_state_set_u(model.state, u, 6), TAL_OK);
    tal_impact_report report;
    solve(&model, &report);
    const double *after = tal_state_u(model.state);
    ck_assert_double_eq_tol(after[0], it->bead_to, CLOSE);
    ck_assert_double_eq_tol(after[1], 0.0, CLOSE);
    ck_assert_double_eq_tol(c * after[3] + s * after[4], it->ball_to, CLOSE);
    ck_assert_double_eq_tol(c * after[4] - s * after[3], 0.0, CLOSE);
    test_model_end(&model);
}

START_TEST(a_bead_on_a_rail_is_braked_by_the_blow_that_moves_it)
{
    blow table[] = {
        {0.6, 0.5, 0.0, 0.0, 2.0, 0.0, 0.0},   // from rest
        {0.6, 0.5, 0.7, 0.3, 2.0, 0.0, 0.0},   // it moves already, and the ball rebounds
        {0.6, 1e-9, 1.0, -0.2, 2.0, 0.0, 0.0}, // hardly any
        {-0.9, 0.3, 0.4, 0.1, 1.5, 0.0, 0.0},  // from the other side
    };
    for (size_t k = 0; k < sizeof table / sizeof table[0]; ++k) {
        find_closed_form(&table[k], table[k].angle > 0.0 ? 1.0 : -1.0);
        check_blow(&table[k]);
    }
}

END_TEST

// It came fast against the ball, and still does afterwards: friction helps the ball.
START_TEST(a_bead_that_goes_on_against_the_ball_is_braked)
{
    blow it = {0.9, 0.5, 0.2, -6.0, 1.0, 0.0, 0.0};
    find_closed_form(&it, -1.0);
    ck_assert_double_lt(it.bead_to, -1.0);
    check_blow(&it);
}

END_TEST

// Steeper than the angle of friction, tan(angle) > 1/mu, no blow moves it: the ball rebounds as
// from a wall.
START_TEST(a_bead_within_its_angle_of_friction_is_not_moved)
{
    blow it = {1.2, 0.5, 0.6, 0.0, 2.0, 0.0, 0.0};
    find_closed_form(&it, 0.0);
    ck_assert_double_eq_tol(it.bead_to, 0.0, 1e-15);
    ck_assert_double_eq_tol(it.ball_to, -1.2, 1e-15);
    check_blow(&it);
}

END_TEST

// --- a pendulum on a pin that rubs ---

// 2 kg, center 0.5 m below its pin, I 0.05 about the center, hangs at rest; a ball of 0.8 kg hits it
// sideways, d below the pin, at V. Moments about the pin, and the impulse R of the pin:
//
//     I_p w = P d - mu r |R|    R = M l w - P    V - P / m = d w
//
// Below the center of percussion R has the sign of the blow, above it the other one.
static void strike(double d, double mu_r, double e)
{
    const double M = 2.0, l = 0.5, I = 0.05 + M * l * l, V = 3.0;
    test_model model;
    test_model_begin(&model);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = M;
    def.mass.inertia = tal_s3_diag(0.05, 0.05, 0.05);
    const tal_body_ix body = tal_matter_add_planar(model.matter, TAL_GROUND, &def);
    tal_mobod_def point = tal_mobod_def_default();
    point.mass.mass = BALL;
    const tal_body_ix ball = tal_matter_add_translation(model.matter, TAL_GROUND, &point);
    const tal_constraint_def between = tal_constraint_between(TAL_GROUND, body);
    const tal_xform X_1 = TAL_XFORM_IDENTITY, X_2 = tal_xf_from_p(tal_v3(0.0, l, 0.0));
    tal_unilateral_def rubs = tal_unilateral_def_default();
    rubs.material = dry(1.0, 1.0);
    rubs.load = (tal_unilateral_load){
        tal_constraint_add_loop_pin(model.matter, &between, &X_1, &X_2), 2, 2, {mu_r, mu_r}};
    (void)tal_unilateral_add_friction_about(model.matter, &rubs, TAL_GROUND, tal_v3(0.0, 0.0, 1.0),
                                            body);
    tal_unilateral_def touches = tal_unilateral_def_default();
    touches.material = hard(e);
    (void)tal_unilateral_add_sphere_on_sphere(model.matter, &touches, ball, TAL_VEC3_ZERO, RADIUS,
                                              body, tal_v3(0.0, l - d, 0.0), RADIUS);
    test_model_freeze(&model);
    const double q[6] = {0.0, 0.0, -l, -2.0 * RADIUS, -d, 0.0}, u[6] = {0.0, 0.0, 0.0, V, 0.0, 0.0};
    ck_assert_int_eq(tal_state_set_q(model.state, q, 6), TAL_OK);
    ck_assert_int_eq(tal_state_set_u(model.state, u, 6), TAL_OK);
    tal_impact_report report;
    solve(&model, &report);
    const double side = M * l * d > I ? 1.0 : -1.0; // of R, for P = I w / d
    const double w_of_P = (d + side * mu_r) / (I + side * mu_r * M * l);
    const double P = (1.0 + e) * V / (1.0 / BALL + d * w_of_P);
    ck_assert_double_eq_tol(tal_state_u(model.state)[0], w_of_P * P, CLOSE);
    ck_assert_double_eq_tol(tal_state_u(model.state)[3], V - P / BALL, CLOSE);
    test_model_end(&model);
}

START_TEST(a_pin_rubs_while_it_takes_a_blow)
{
    strike(0.9, 0.02, 0.0);
    strike(0.9, 0.02, 0.5);
    strike(0.3, 0.02, 0.5);
    strike(0.3, 0.1, 1.0);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("matter/impact_joints");
    TCase *tc = tcase_create("friction");
    tcase_add_test(tc, a_bead_on_a_rail_is_braked_by_the_blow_that_moves_it);
    tcase_add_test(tc, a_bead_that_goes_on_against_the_ball_is_braked);
    tcase_add_test(tc, a_bead_within_its_angle_of_friction_is_not_moved);
    tcase_add_test(tc, a_pin_rubs_while_it_takes_a_blow);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
