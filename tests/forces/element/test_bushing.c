// Tests for forces/src/element/bushing.c.
#include "force_model.h"

typedef struct one {
    model m;
    tal_bushing_def def;
    tal_force_ix force;
} one;

static one begin(void)
{
    one o = {.m = model_begin(), .def = tal_bushing_def_default()};
    test_rng rng = test_rng_seed(31);
    o.def.body1 = o.m.body[GIMBAL];
    o.def.X_B1F = test_random_xform(&rng);
    o.def.body2 = o.m.body[BALL];
    o.def.X_B2M = test_random_xform(&rng);
    for (int i = 0; i < 6; ++i) {
        o.def.stiffness[i] = 1.0 + i;
        o.def.damping[i] = 0.3 + 0.1 * i;
    }
    o.force = tal_forces_add_bushing(o.m.forces, "mount", &o.def);
    model_finish(&o.m);
    return o;
}

// A mobilizer of the same kind has the bushing's deformations as its coordinates, and N^T of its
// angles: what the bushing applies, projected on it, is -(k q + c qdot). Here the mobilizer is a
// bushing joint from Ground, so that speeds are w_FM and v_FM in F.
START_TEST(along_a_joint_of_its_own_kind_it_is_six_springs)
{
    test_rng rng = test_rng_seed(33);
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_mobod_def body = model_random_def(&rng);
    const tal_body_ix mobile = tal_matter_add_bushing(matter, TAL_GROUND, &body);
    tal_bushing_def def = tal_bushing_def_default();
    def.X_B1F = body.X_PF;
    def.body2 = mobile;
    def.X_B2M = body.X_BM;
    for (int i = 0; i < 6; ++i) {
        def.stiffness[i] = 2.0 + i;
        def.damping[i] = 0.5 + 0.2 * i;
    }
    const tal_force_ix force = tal_forces_add_bushing(forces, "mount", &def);
    tal_state *state = NULL;
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
    for (int trial = 0; trial < 20; ++trial) {
        double *y = tal_state_upd_y(state);
        for (int i = 0; i < 12; ++i) {
            y[i] = test_random_uniform(&rng, -1.2, 1.2);
        }
        ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_VELOCITY), TAL_OK);
        double q[6], qdot[6], energy = 0.0, power = 0.0, f_q[6], f_u[6], JtF[6], f[6] = {0.0};
        ck_assert_int_eq(tal_bushing_calc_deformation(forces, state, force, q, qdot), TAL_OK);
        test_assert_near(q, tal_state_q(state), 6, 1e-14, "q");
        test_assert_near(qdot, tal_state_qdot(state), 6, 1e-13, "qdot");
        tal_spatial_vec F[2] = {TAL_SPATIAL_VEC_ZERO, TAL_SPATIAL_VEC_ZERO};
        ck_assert_int_eq(tal_force_apply(forces, state, force, F, f), TAL_OK);
        const tal_vec3 p_BM = tal_body_X_BM(matter, state, mobile).p;
        const tal_vec3 p_BM_G = tal_m3_mul_v3(tal_body_X_GB(matter, state, mobile).R, p_BM);
        F[1] = tal_sv_shift_force(F[1], tal_v3_neg(p_BM_G)); // from Bo to Mo
        for (int i = 0; i < 6; ++i) {
            f_q[i] = -(def.stiffness[i] * q[i] + def.damping[i] * qdot[i]);
            energy += 0.5 * def.stiffness[i] * q[i] * q[i];
            power += def.damping[i] * qdot[i] * qdot[i];
        }
        ck_assert_int_eq(tal_body_mul_N(matter, state, mobile, TAL_N_T, f_q, f_u), TAL_OK);
        // J^T F about Mo: columns of H in Ground, which does not move
        tal_spatial_vec H[6];
        ck_assert_int_eq(tal_body_H(matter, state, mobile, TAL_H_PM_G, H), TAL_OK);
        for (int j = 0; j < 6; ++j) {
            JtF[j] = tal_sv_dot(H[j], F[1]);
        }
        // forces up to 50, 1 / cos up to 3, a hundred operations: 1e-12
        test_assert_near(JtF, f_u, 6, 1e-12, "force along the joint");
        ck_assert_double_eq_tol(tal_force_potential_energy(forces, state, force), energy, 1e-12);
        ck_assert_double_eq_tol(tal_force_dissipated_power(forces, state, force), power, 1e-13);
    }
    tal_state_destroy(state);
    tal_system_destroy(system);
}

END_TEST

// Between two moving bodies. Random turns come near a quarter turn about y, where rates and
// the differences' truncation grow: the model is shaken only within reach.
START_TEST(action_is_reaction_and_energy_is_accounted_for)
{
    one o = begin();
    model *m = &o.m;
    int used = 0;
    for (uint64_t seed = 600; seed < 640; ++seed) {
        model_shake(m, seed);
        double q[6], qdot[6];
        ck_assert_int_eq(tal_bushing_calc_deformation(m->forces, m->state, o.force, q, qdot),
                         TAL_OK);
        const load on = model_load(m, o.force);
        test_assert_sv_near(model_total(m, &on), TAL_SPATIAL_VEC_ZERO, 1e-12);
        if (fabs(q[1]) > 1.0 || fabs(q[0]) > 3.0 || fabs(q[2]) > 3.0) continue;
        ++used;
        const double dissipated = tal_force_dissipated_power(m->forces, m->state, o.force);
        ck_assert_double_eq_tol(model_power(m, &on) + dissipated, -model_energy_rate(m, o.force),
                                1e-7);
    }
    ck_assert_int_ge(used, 10);
    model_end(m);
}

END_TEST

START_TEST(parameters_live_in_the_state)
{
    one o = begin();
    model *m = &o.m;
    model_check_param(m, o.force, TAL_BUSHING_STIFFNESS + 2, 9.0, TAL_STAGE_DYNAMICS);
    model_check_param(m, o.force, TAL_BUSHING_DAMPING + 5, 9.0, TAL_STAGE_DYNAMICS);
    model_check_param(m, o.force, TAL_BUSHING_FRAME_1 + 10, 9.0, TAL_STAGE_INSTANCE); // p.y
    model_check_refused(m, o.force, TAL_BUSHING_STIFFNESS, -1.0, TAL_ERR_BAD_VALUE);
    model_check_refused(m, o.force, TAL_BUSHING_FRAME_2, 5.0, TAL_ERR_BAD_VALUE); // R is none then
    test_rng rng = test_rng_seed(35);
    const tal_xform X = test_random_xform(&rng);
    ck_assert_int_eq(
        tal_force_set_params(m->forces, m->state, o.force, TAL_BUSHING_FRAME_2, &X.R.x.x, 12),
        TAL_OK);
    model_realize(m, TAL_STAGE_VELOCITY);
    double q[6], qdot[6];
    ck_assert_int_eq(tal_bushing_calc_deformation(m->forces, m->state, o.force, q, qdot), TAL_OK);
    const tal_xform X_GF =
        tal_frame_X_AS(m->matter, m->state, TAL_GROUND, o.def.body1, &o.def.X_B1F);
    const tal_xform X_GM = tal_frame_X_AS(m->matter, m->state, TAL_GROUND, o.def.body2, &X);
    const tal_vec3 p_FM = tal_xf_inv_mul(X_GF, X_GM).p;
    test_assert_near(q + 3, &p_FM.x, 3, 1e-13, "p_FM");
    model_check_heap_and_switch(m, o.force);
    model_end(m);
}

END_TEST

START_TEST(a_quarter_turn_about_y_is_reported)
{
    model m = model_begin();
    tal_bushing_def def = tal_bushing_def_default();
    def.body1 = def.body2 = m.body[PIN];
    def.X_B2M.R = tal_rotation_about(TAL_AXIS_Y, 2.0 * atan(1.0));
    const tal_force_ix force = tal_forces_add_bushing(m.forces, "mount", &def);
    model_finish(&m);
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_DYNAMICS), TAL_ERR_SINGULAR);
    ck_assert_ptr_nonnull(strstr(tal_state_error(m.state)->message, "'mount'"));
    model_realize(&m, TAL_STAGE_VELOCITY);
    ck_assert_double_nan(tal_force_dissipated_power(m.forces, m.state, force));
    double q[6], qdot[6];
    ck_assert_int_eq(tal_bushing_calc_deformation(m.forces, m.state, force, q, qdot),
                     TAL_ERR_SINGULAR);
    model_end(&m);
}

END_TEST

START_TEST(bad_input_is_refused)
{
    tal_error err = {0};
    model m = model_begin();
    tal_bushing_def def = tal_bushing_def_default();
    def.X_B1F.R.x.x = 2.0;
    ck_assert_int_lt(tal_forces_add_bushing(m.forces, "mount", &def).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "axes"));
    def = tal_bushing_def_default();
    def.damping[4] = (double)NAN;
    m = model_begin();
    ck_assert_int_lt(tal_forces_add_bushing(m.forces, "mount", &def).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_NOT_FINITE);
    def = tal_bushing_def_default();
    def.body2.i = 40;
    m = model_begin();
    ck_assert_int_lt(tal_forces_add_bushing(m.forces, "mount", &def).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_INDEX);

    one o = begin();
    double q[6], qdot[6];
    const tal_force_ix bad = {5};
    test_assert_breach(tal_forces_add_bushing(o.m.forces, "x", NULL), TAL_ERR_NULL, "def");
    test_assert_breach((void)tal_bushing_calc_deformation(o.m.forces, o.m.state, bad, q, qdot),
                       TAL_ERR_BAD_INDEX, "5");
    test_assert_breach((void)tal_bushing_calc_deformation(o.m.forces, o.m.state, o.force, q, NULL),
                       TAL_ERR_NULL, "output");
    tal_state_invalidate(o.m.state, TAL_STAGE_VELOCITY);
    test_assert_breach((void)tal_bushing_calc_deformation(o.m.forces, o.m.state, o.force, q, qdot),
                       TAL_ERR_STAGE, "Velocity");
    model_end(&o.m);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/bushing");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, along_a_joint_of_its_own_kind_it_is_six_springs);
    tcase_add_test(theory, action_is_reaction_and_energy_is_accounted_for);
    tcase_add_test(theory, parameters_live_in_the_state);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, a_quarter_turn_about_y_is_reported);
    tcase_add_test(errors, bad_input_is_refused);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
