// Tests for forces/src/contact/smooth_contact.c and on_plane.c.
#include "force_model.h"

typedef struct ball {
    model m;
    tal_smooth_contact_def def;
    tal_force_ix force;
} ball;

// Coefficients of size one, and a radius so large that the model is always near the plane.
static ball begin(bool has_kink)
{
    test_rng rng = test_rng_seed(8);
    ball b = {.m = model_begin(), .def = tal_smooth_contact_def_default()};
    b.def.sphere_body = b.m.body[GIMBAL];
    b.def.center = tal_v3(0.3, -0.2, 0.5);
    b.def.radius = 2.0;
    b.def.plane_body = b.m.body[SLIDER];
    b.def.X_BF = test_random_xform(&rng);
    b.def.material.stiffness = 3.0;
    b.def.material.dissipation = 0.2;
    b.def.material.static_friction = 0.8;
    b.def.material.dynamic_friction = 0.5;
    b.def.material.viscous_friction = 0.1;
    b.def.transition_speed = 0.3;
    b.def.cf = 0.04;
    b.def.bd = 2.0;
    b.def.bv = 6.0; // at rest 1 - tanh is below round-off
    b.def.has_kink = has_kink;
    b.force = tal_forces_add_smooth_contact(b.m.forces, "ball", &b.def);
    model_finish(&b.m);
    return b;
}

// Simbody's formulas, from matter's own kinematics: a few dozen operations on numbers of size 10,
// 1e-12.
START_TEST(the_force_is_its_formula)
{
    for (int kink = 0; kink < 2; ++kink) {
        ball b = begin(kink == 1);
        model *m = &b.m;
        for (uint64_t seed = 1; seed < 20; ++seed) {
            model_shake(m, seed);
            const tal_body_ix body = m->body[GIMBAL], floor = m->body[SLIDER];
            const tal_xform X_GF =
                tal_xf_mul(tal_body_X_GB(m->matter, m->state, floor), b.def.X_BF);
            const tal_vec3 o = tal_station_p_GS(m->matter, m->state, body, b.def.center);
            const tal_vec3 n = tal_v3_neg(X_GF.R.x);
            const double x = 2.0 - tal_v3_dot(n, tal_v3_sub(o, X_GF.p));
            const tal_vec3 P = tal_v3_axpy(-(2.0 - 0.5 * x), n, o);
            const tal_vec3 on_body = tal_station_p_AS(m->matter, m->state, body, TAL_GROUND, P);
            const tal_vec3 on_floor = tal_station_p_AS(m->matter, m->state, floor, TAL_GROUND, P);
            const tal_vec3 v = tal_v3_sub(tal_station_v_GS(m->matter, m->state, body, on_body),
                                          tal_station_v_GS(m->matter, m->state, floor, on_floor));
            const double xdot = -tal_v3_dot(n, v);
            const tal_vec3 slip = tal_v3_axpy(xdot, n, v);
            const double k = 0.5 * pow(3.0, 2.0 / 3.0), c = 0.2;
            const double elastic = 4.0 / 3.0 * k * sqrt(2.0 * k) * pow(x * x + 0.04, 0.75) *
                                   (0.5 + 0.5 * tanh(2.0 * x));
            const double f = elastic * (1.0 + 1.5 * c * xdot) *
                             (0.5 + 0.5 * tanh(6.0 * (xdot + 2.0 / (3.0 * c))));
            const double vs = sqrt(tal_v3_dot(slip, slip) + 0.04), s = vs / 0.3;
            double mu = fmin(s, 1.0) * (0.5 + 2.0 * 0.3 / (1.0 + s * s)) + 0.1 * vs;
            if (kink == 0) {
                if (s < 3.0) continue; // the curve is tested in test_contact_law.c
                mu = 0.5 + 0.1 * vs;
            }
            const tal_vec3 f_G = tal_v3_axpy(-f * mu / vs, slip, tal_v3_scale(f, n));
            const load on = model_load(m, b.force);
            test_assert_v3_near(on.F[GIMBAL].v, f_G, 1e-12);
            const tal_bodies_view poses = tal_matter_poses(m->matter, m->state);
            const tal_vec3 arm = tal_v3_sub(P, tal_view_X_GM(&poses, GIMBAL)->p);
            test_assert_v3_near(on.F[GIMBAL].w, tal_v3_cross(arm, f_G), 1e-11);
        }
        model_end(m);
    }
}

END_TEST

START_TEST(action_is_reaction_and_energy_is_accounted_for)
{
    ball b = begin(false);
    model_check_reaction(&b.m, b.force, 1e-12);
    model_check_balance(&b.m, b.force, 1e-8);
    model_check_heap_and_switch(&b.m, b.force);
    model_check_by_tester(&b.m, b.force, 1e-7);
    model_end(&b.m);
}

END_TEST

START_TEST(parameters_live_in_the_state)
{
    ball b = begin(true);
    model *m = &b.m;
    model_check_param(m, b.force, TAL_SMOOTH_RADIUS, 1.5, TAL_STAGE_INSTANCE);
    model_check_param(m, b.force, TAL_SMOOTH_CENTER + 1, 0.4, TAL_STAGE_INSTANCE);
    model_check_param(m, b.force, TAL_SMOOTH_STIFFNESS, 5.0, TAL_STAGE_DYNAMICS);
    model_check_param(m, b.force, TAL_SMOOTH_CF, 0.1, TAL_STAGE_DYNAMICS);
    model_check_param(m, b.force, TAL_SMOOTH_BV, 0.5, TAL_STAGE_DYNAMICS);
    model_check_refused(m, b.force, TAL_SMOOTH_RADIUS, 0.0, TAL_ERR_BAD_VALUE);
    model_check_refused(m, b.force, TAL_SMOOTH_STATIC_FRICTION, 0.1, TAL_ERR_BAD_VALUE);
    model_check_refused(m, b.force, TAL_SMOOTH_PLANE, 7.0, TAL_ERR_BAD_VALUE);
    model_check_refused(m, b.force, TAL_SMOOTH_BD, (double)NAN, TAL_ERR_NOT_FINITE);
    model_end(m);
}

END_TEST

START_TEST(what_cannot_be_is_refused_when_building)
{
    tal_error err = {0};
    model m = model_begin();
    tal_smooth_contact_def def = tal_smooth_contact_def_default();
    def.plane_body.i = 40;
    (void)tal_forces_add_smooth_contact(m.forces, "ball", &def);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_INDEX);
    m = model_begin();
    def = tal_smooth_contact_def_default();
    def.cf = 0.0;
    (void)tal_forces_add_smooth_contact(m.forces, "ball", &def);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "cf is 0"));
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/smooth_contact");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, the_force_is_its_formula);
    tcase_add_test(theory, action_is_reaction_and_energy_is_accounted_for);
    tcase_add_test(theory, parameters_live_in_the_state);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, what_cannot_be_is_refused_when_building);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
