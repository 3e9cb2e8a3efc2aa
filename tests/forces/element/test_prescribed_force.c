// forces/src/element/prescribed_force.c, and the limit of mobility_coordinate.c.
#include "force_model.h"
#include "talus_test.h"

static tal_function *sine(double amplitude, double omega)
{
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_sinusoid(NULL, amplitude, omega, 0.4, &f, NULL), TAL_OK);
    return f;
}

static void check_itself(model *m, tal_force_ix force, double tolerance)
{
    tal_force_report report;
    tal_error err = {TAL_OK, "", ""};
    ck_assert_msg(tal_force_test(m->forces, m->state, force, &report, &err) == TAL_OK, "%s",
                  err.message);
    ck_assert_msg(report.worst < tolerance, "adds %g needs %g change %g energy %g power %g",
                  report.adds, report.needs, report.change, report.energy, report.power);
}

// --- prescribed forces ---

START_TEST(a_prescribed_force_is_the_force_at_its_point)
{
    model m = model_begin();
    tal_prescribed_force_def def = tal_prescribed_force_def_default();
    def.body = m.body[GIMBAL];
    def.force_frame = m.body[BALL];
    def.point_frame = m.body[SLIDER];
    for (int i = 0; i < 3; ++i) {
        def.force[i] = sine(1.0 + i, 2.0);
        def.point[i] = sine(0.3, 1.0 + i);
        def.torque[i] = sine(0.5, 3.0 - i);
    }
    const tal_force_ix force = tal_forces_add_prescribed_force(m.forces, "push", &def);
    model_finish(&m);
    (void)tal_state_set_t(m.state, 0.7);
    model_realize(&m, TAL_STAGE_VELOCITY);
    check_itself(&m, force, 1e-10);

    const tal_prescribed_force_value at = tal_prescribed_force_at(m.forces, m.state, force);
    const tal_xform X_GA = tal_body_X_GB(m.matter, m.state, m.body[BALL]);
    const tal_xform X_GP = tal_body_X_GB(m.matter, m.state, m.body[SLIDER]);
    const tal_xform X_GB = tal_body_X_GB(m.matter, m.state, m.body[GIMBAL]);
    const double s = sin(2.0 * 0.7 + 0.4);
    const tal_vec3 f = tal_m3_mul_v3(X_GA.R, tal_v3(s, 2.0 * s, 3.0 * s));
    const tal_vec3 p = tal_xf_apply(X_GP, tal_v3(0.3 * sin(1.1), 0.3 * sin(1.8), 0.3 * sin(2.5)));
    const tal_vec3 torque =
        tal_m3_mul_v3(X_GA.R, tal_v3(0.5 * sin(2.5), 0.5 * sin(1.8), 0.5 * sin(1.1)));
    ck_assert_double_lt(tal_v3_norm(tal_v3_sub(at.force, f)), 1e-14);
    ck_assert_double_lt(tal_v3_norm(tal_v3_sub(at.point, p)), 1e-14);
    tal_spatial_vec F[MODEL_BODIES];
    double g[MODEL_NU];
    memset(F, 0, sizeof F);
    memset(g, 0, sizeof g);
    ck_assert_int_eq(tal_force_apply(m.forces, m.state, force, F, g), TAL_OK);
    const tal_vec3 moment = tal_v3_add(torque, tal_v3_cross(tal_v3_sub(p, X_GB.p), f)); // about Bo
    const tal_spatial_vec on = F[m.body[GIMBAL].i];
    ck_assert_double_lt(tal_v3_norm(tal_v3_sub(on.v, f)), 1e-13);
    ck_assert_double_lt(tal_v3_norm(tal_v3_sub(on.w, moment)), 1e-13);
    model_end(&m);
}

// A natural cubic spline through four samples or more, lines through two or three, a constant.
START_TEST(loads_pass_through_their_samples)
{
    enum {
        MOST = 5
    };

    const double times[MOST] = {0.0, 0.5, 1.0, 1.5, 2.0};
    const double force[3 * MOST] = {1.0, 0.0, 0.0, 4.0, 1.0, 0.5,  2.0, 3.0,
                                    1.0, 0.0, 2.0, 0.0, 5.0, -1.0, 2.0};
    for (int count = 1; count <= MOST; ++count) {
        model m = model_begin();
        tal_external_load_def def = tal_external_load_def_default();
        def.body = m.body[FREE];
        def.times = times;
        def.count = count;
        def.force = force;
        const tal_force_ix plate = tal_forces_add_external_load(m.forces, "plate", &def);
        model_finish(&m);
        for (int i = 0; i < count; ++i) {
            (void)tal_state_set_t(m.state, times[i]);
            model_realize(&m, TAL_STAGE_VELOCITY);
            const tal_prescribed_force_value at = tal_prescribed_force_at(m.forces, m.state, plate);
            const tal_vec3 expected = {force[3 * i], force[3 * i + 1], force[3 * i + 2]};
            ck_assert_double_lt(tal_v3_norm(tal_v3_sub(at.force, expected)), 1e-14);
            const tal_vec3 origin = tal_body_X_GB(m.matter, m.state, m.body[FREE]).p;
            ck_assert_double_lt(tal_v3_norm(tal_v3_sub(at.point, origin)), 1e-14);
        }
        // between the first two: the mean of both on a line, more on a spline that bends there
        (void)tal_state_set_t(m.state, 0.25);
        model_realize(&m, TAL_STAGE_VELOCITY);
        const double x = tal_prescribed_force_at(m.forces, m.state, plate).force.x;
        if (count == 1) ck_assert_double_eq(x, 1.0);
        if (count == 2 || count == 3) ck_assert_double_eq_tol(x, 2.5, 1e-14);
        if (count > 3) ck_assert_double_gt(x, 2.6);
        model_end(&m);
    }
}

START_TEST(bad_prescribed_forces_are_refused_by_name)
{
    model m = model_begin();
    tal_prescribed_force_def def = tal_prescribed_force_def_default();
    def.body = m.body[PIN];
    def.force[0] = def.force[1] = sine(1.0, 1.0);
    ck_assert_int_lt(tal_forces_add_prescribed_force(m.forces, "push", &def).i, 0);
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "prescribed force 'push'"));

    m = model_begin();
    def = tal_prescribed_force_def_default();
    def.body.i = 77;
    def.force[2] = sine(1.0, 1.0);
    ck_assert_int_lt(tal_forces_add_prescribed_force(m.forces, "push", &def).i, 0);
    err = (tal_error){TAL_OK, "", ""};
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_INDEX);

    m = model_begin();
    tal_external_load_def samples = tal_external_load_def_default();
    const double times[] = {1.0, 0.0}, rows[6] = {0.0};
    samples.times = times;
    samples.force = rows;
    samples.count = 2;
    ck_assert_int_lt(tal_forces_add_external_load(m.forces, "plate", &samples).i, 0);
    err = (tal_error){TAL_OK, "", ""};
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "external load 'plate'"));
}

// --- limit ---

START_TEST(a_limit_is_soft_and_agrees_with_itself)
{
    model m = model_begin();
    const tal_limit limit = {-0.5, 0.5, 30.0, 40.0, 2.0, 0.25};
    const tal_mobility at = {m.body[PIN], 0};
    const tal_force_ix force = tal_forces_add_mobility_limit(m.forces, "limit", at, &limit);
    model_finish(&m);
    const double qs[] = {-1.2, -0.75, -0.6, 0.0, 0.55, 0.7, 0.9};
    for (int i = 0; i < 7; ++i) {
        (void)tal_body_set_q(m.matter, m.state, m.body[PIN], 0, qs[i]);
        model_realize(&m, TAL_STAGE_VELOCITY);
        // a force of 30 N m with bends of 1/w^3: differences over 1e-3 are good to 1e-7 of it
        check_itself(&m, force, 1e-6);
    }
    // by hand: 0.1 beyond the upper limit, t = 0.4: s = 10 t^3 - 15 t^4 + 6 t^5 = 0.31744
    (void)tal_body_set_q(m.matter, m.state, m.body[PIN], 0, 0.6);
    (void)tal_body_set_u(m.matter, m.state, m.body[PIN], 0, 0.5);
    model_realize(&m, TAL_STAGE_VELOCITY);
    const load on = model_load(&m, force);
    const int slot = tal_body_u_start(m.matter, m.body[PIN]);
    ck_assert_double_eq_tol(on.f[slot], -40.0 * 0.31744 * 0.1 - 2.0 * 0.31744 * 0.5, 1e-12);
    // past the transition: k (x^2/2 - w^2/7)
    (void)tal_body_set_q(m.matter, m.state, m.body[PIN], 0, 1.0);
    model_realize(&m, TAL_STAGE_VELOCITY);
    ck_assert_double_eq_tol(tal_force_potential_energy(m.forces, m.state, force),
                            40.0 * (0.125 - 0.0625 / 7.0), 1e-12);
    model_end(&m);
}

int main(void)
{
    Suite *suite = suite_create("forces/prescribed_force");
    TCase *tc = tcase_create("prescribed forces");
    tcase_add_test(tc, a_prescribed_force_is_the_force_at_its_point);
    tcase_add_test(tc, loads_pass_through_their_samples);
    tcase_add_test(tc, bad_prescribed_forces_are_refused_by_name);
    suite_add_tcase(suite, tc);

    tc = tcase_create("limit");
    tcase_add_test(tc, a_limit_is_soft_and_agrees_with_itself);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
