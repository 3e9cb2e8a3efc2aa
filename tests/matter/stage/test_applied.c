// applied.c: the bulk view of bodies, and the door through which forces are applied.
#include "tree_support.h"

static tal_body_ix body(int b)
{
    return (tal_body_ix){b};
}

// A free body whose M is not its B.
static tal_mobod_def build(rig *r)
{
    test_rng rng = test_rng_seed(11);
    tal_mobod_def def = random_def(&rng);
    def.name = "stone";
    rig_begin(r);
    (void)rig_add(r, 0, "free", &def, NULL);
    tal_mobod_def ghost = tal_mobod_def_default();
    (void)rig_add(r, 1, "weld", &ghost, NULL);
    rig_finish(r);
    const double q[] = {0.5, -0.1, 0.7, 0.4, 1.0, 2.0, 3.0}, u[] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
    ck_assert_int_eq(tal_state_set_q(r->state, q, 7), TAL_OK);
    ck_assert_int_eq(tal_state_set_u(r->state, u, 6), TAL_OK);
    return def;
}

START_TEST(the_bulk_view_shows_the_frames_m)
{
    rig r;
    const tal_mobod_def def = build(&r);
    rig_realize(&r, TAL_STAGE_VELOCITY);
    const tal_bodies_view poses = tal_matter_poses(r.matter, r.state);
    const tal_bodies_view velocities = tal_matter_velocities(r.matter, r.state);
    ck_assert_int_eq(poses.num_bodies, 3);
    ck_assert_int_eq(velocities.num_bodies, 3);
    test_assert_m3_near(tal_view_X_GM(&poses, 0)->R, TAL_MAT3_IDENTITY, DBL_MIN);

    // X_GM = X_GF X_FM, and u of a free body is V_FM in F
    const tal_mat3 R_FM = tal_rotation_from_qt(tal_qt(0.5, -0.1, 0.7, 0.4));
    const tal_xform X_GM = tal_xf_mul(def.X_PF, tal_xf(R_FM, tal_v3(1.0, 2.0, 3.0)));
    test_assert_m3_near(tal_view_X_GM(&poses, 1)->R, X_GM.R, 1e-14);
    test_assert_v3_near(tal_view_X_GM(&poses, 1)->p, X_GM.p, 1e-14);
    const tal_vec3 w = tal_m3_mul_v3(def.X_PF.R, tal_v3(1.0, 2.0, 3.0));
    const tal_vec3 v = tal_m3_mul_v3(def.X_PF.R, tal_v3(4.0, 5.0, 6.0));
    test_assert_sv_near(*tal_view_V_GM(&velocities, 1), tal_sv(w, v), 1e-14);
    rig_end(&r);
}

END_TEST

START_TEST(mass_and_com_are_seen_from_m)
{
    rig r;
    const tal_mobod_def def = build(&r);
    rig_realize(&r, TAL_STAGE_INSTANCE);
    const tal_xform X_MB = tal_body_X_MB(r.matter, r.state, body(1));
    const tal_xform unit = tal_xf_mul(def.X_BM, X_MB);
    test_assert_m3_near(unit.R, TAL_MAT3_IDENTITY, 1e-15);
    test_assert_v3_near(unit.p, TAL_VEC3_ZERO, 1e-15);
    tal_vec3 com;
    ck_assert_double_eq(tal_body_mass(r.matter, r.state, body(1), &com), def.mass.mass);
    test_assert_v3_near(com, tal_xf_apply(X_MB, def.mass.com), 1e-15);
    ck_assert_double_eq(tal_body_mass(r.matter, r.state, body(1), NULL), def.mass.mass);
    ck_assert_double_eq(tal_body_mass(r.matter, r.state, body(2), &com), 0.0);
    test_assert_v3_near(com, TAL_VEC3_ZERO, DBL_MIN);
    rig_end(&r);
}

END_TEST

// Weight at the center of mass makes it fall with g, whatever else the body does.
START_TEST(a_stone_falls)
{
    rig r;
    const tal_mobod_def def = build(&r);
    r.gravity = tal_v3(0.3, -9.81, 0.7);
    rig_realize(&r, TAL_STAGE_ACCELERATION);
    const tal_spatial_vec A =
        ((const tal_spatial_vec *)tal_cache_value(r.system, r.state, r.matter->acceleration))[1];
    const tal_bodies_view poses = tal_matter_poses(r.matter, r.state);
    const tal_vec3 w = rig_V_GB(&r, 1).w;
    const tal_xform X_MB = tal_body_X_MB(r.matter, r.state, body(1));
    const tal_vec3 p = tal_m3_mul_v3(tal_view_X_GM(&poses, 1)->R, tal_xf_apply(X_MB, def.mass.com));
    const tal_vec3 a =
        tal_v3_add(tal_v3_add(A.v, tal_v3_cross(A.w, p)), tal_v3_cross(w, tal_v3_cross(w, p)));
    test_assert_v3_near(a, r.gravity, 1e-12);
    rig_end(&r);
}

END_TEST

// Power of a force at a station is that of its moment and force about Mo.
START_TEST(a_station_force_is_shifted_to_m)
{
    rig r;
    (void)build(&r);
    rig_realize(&r, TAL_STAGE_VELOCITY);
    const tal_bodies_view poses = tal_matter_poses(r.matter, r.state);
    const tal_bodies_view velocities = tal_matter_velocities(r.matter, r.state);
    const tal_vec3 p_MS = {0.3, -0.2, 0.5}, f = {1.0, 2.0, -3.0};
    tal_spatial_vec F[3] = {TAL_SPATIAL_VEC_ZERO, TAL_SPATIAL_VEC_ZERO, TAL_SPATIAL_VEC_ZERO};
    tal_apply_station_force(&poses, 1, p_MS, f, F);
    const tal_spatial_vec V = *tal_view_V_GM(&velocities, 1);
    const tal_vec3 p = tal_m3_mul_v3(tal_view_X_GM(&poses, 1)->R, p_MS);
    const tal_vec3 v_S = tal_v3_add(V.v, tal_v3_cross(V.w, p));
    ck_assert_double_eq_tol(tal_sv_dot(F[1], V), tal_v3_dot(f, v_S), 1e-13);
    rig_end(&r);
}

END_TEST

START_TEST(forces_are_applied_only_while_dynamics_is_realized)
{
    rig r;
    (void)build(&r);
    test_assert_breach(ck_assert_ptr_null(tal_matter_upd_forces(r.matter, r.state).F_GM),
                       TAL_ERR_STAGE, "not at Model");
    rig_realize(&r, TAL_STAGE_ACCELERATION);
    test_assert_breach(ck_assert_ptr_null(tal_matter_upd_forces(r.matter, r.state).f),
                       TAL_ERR_STAGE, "not at Acceleration");
    test_assert_breach(ck_assert_ptr_null(tal_matter_upd_forces(NULL, r.state).F_GM), TAL_ERR_NULL,
                       "NULL");
    rig_end(&r);
}

END_TEST

START_TEST(views_before_their_stage_are_empty)
{
    rig r;
    (void)build(&r);
    test_assert_breach(ck_assert_ptr_null(tal_matter_poses(r.matter, r.state).bytes), TAL_ERR_STAGE,
                       "");
    test_assert_breach(ck_assert_int_eq(tal_matter_velocities(r.matter, r.state).num_bodies, 0),
                       TAL_ERR_STAGE, "");
    test_assert_breach(ck_assert_ptr_null(tal_matter_poses(NULL, r.state).bytes), TAL_ERR_NULL,
                       "NULL");
    test_assert_breach(ck_assert_ptr_null(tal_matter_velocities(NULL, r.state).bytes), TAL_ERR_NULL,
                       "NULL");
    test_assert_breach(ck_assert_double_nan(tal_body_X_MB(r.matter, r.state, body(1)).p.x),
                       TAL_ERR_STAGE, "");
    tal_vec3 com = TAL_VEC3_ZERO;
    test_assert_breach(ck_assert_double_nan(tal_body_mass(r.matter, r.state, body(1), &com)),
                       TAL_ERR_STAGE, "");
    ck_assert_double_nan(com.x);
    test_assert_breach(ck_assert_double_nan(tal_body_mass(r.matter, r.state, body(5), NULL)),
                       TAL_ERR_BAD_INDEX, "no body 5");
    rig_end(&r);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("matter: applied forces");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, the_bulk_view_shows_the_frames_m);
    tcase_add_test(theory, mass_and_com_are_seen_from_m);
    tcase_add_test(theory, a_stone_falls);
    tcase_add_test(theory, a_station_force_is_shifted_to_m);
    TCase *errors = tcase_create("errors");
    tcase_add_checked_fixture(errors, test_record_breaches, NULL);
    tcase_add_test(errors, forces_are_applied_only_while_dynamics_is_realized);
    tcase_add_test(errors, views_before_their_stage_are_empty);
    suite_add_tcase(suite, theory);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
