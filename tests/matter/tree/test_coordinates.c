// coordinates.c and coordinate_info.c: q and u of one body, names, ranges, initial values, angles
// or quaternions.
#include "tree_support.h"

enum {
    ARM = 1,
    HEAD,
    LUMP,
    ROD
};

// A pin, a free body with a quaternion, a weld, a free line with angles.
static void build(rig *r)
{
    rig_begin(r);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_brick(2.0, tal_v3(0.1, 0.2, 0.3));
    def.name = "arm";
    (void)rig_add(r, 0, "pin", &def, NULL);
    def.name = "head";
    (void)rig_add(r, ARM, "free", &def, NULL);
    def.name = "lump";
    (void)rig_add(r, HEAD, "weld", &def, NULL);
    def.name = "rod";
    def.use_angles = true;
    (void)rig_add(r, LUMP, "free_line", &def, NULL);
}

static tal_body_ix body(int b)
{
    return (tal_body_ix){b};
}

static void assert_refused(rig *r, tal_status expected, const char *part)
{
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(tal_system_realize_topology(r->system, &err), expected);
    ck_assert_msg(strstr(err.message, part) != NULL, "'%s' lacks '%s'", err.message, part);
    tal_system_destroy(r->system);
}

// The State must hold this failure, which the next realize returns.
static void assert_pending(const rig *r, tal_status expected, const char *part)
{
    ck_assert_int_eq(tal_system_realize(r->system, r->state, TAL_STAGE_MODEL), expected);
    const char *message = tal_state_error(r->state)->message;
    ck_assert_msg(strstr(message, part) != NULL, "'%s' lacks '%s'", message, part);
}

// --- q and u ---

START_TEST(some_mobilizers_have_speeds_that_are_rates)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_mobod_def def = tal_mobod_def_default();
    const tal_body_ix pin = tal_matter_add_pin(matter, TAL_GROUND, &def);
    const tal_body_ix gimbal = tal_matter_add_gimbal(matter, pin, &def);
    def.use_angles = true; // angles, but angular velocity as speeds
    const tal_body_ix ball = tal_matter_add_ball(matter, gimbal, &def);
    ck_assert(tal_body_qdot_is_u(matter, pin) && tal_body_qdot_is_u(matter, gimbal));
    ck_assert(!tal_body_qdot_is_u(matter, ball));
    bool is_u = true;
    test_assert_breach(is_u = tal_body_qdot_is_u(matter, (tal_body_ix){9}), TAL_ERR_BAD_INDEX, "9");
    ck_assert(!is_u);
    tal_system_destroy(system);
}

END_TEST

START_TEST(coordinates_are_packed_body_after_body)
{
    rig r;
    build(&r);
    rig_finish(&r);
    static const int nq[] = {0, 1, 7, 0, 6}, nu[] = {0, 1, 6, 0, 5};
    int q0 = 0, u0 = 0;
    for (int b = 0; b <= ROD; ++b) {
        ck_assert_int_eq(tal_body_nq(r.matter, r.state, body(b)), nq[b]);
        ck_assert_int_eq(tal_body_q_start(r.matter, r.state, body(b)), q0);
        ck_assert_int_eq(tal_body_nu(r.matter, body(b)), nu[b]);
        for (int i = 0; i < nq[b]; ++i) {
            const double value = 0.25 + 0.5 * (q0 + i);
            int local = -2;
            ck_assert_int_eq(tal_body_set_q(r.matter, r.state, body(b), i, value), TAL_OK);
            ck_assert_double_eq(tal_state_q(r.state)[q0 + i], value);
            ck_assert_double_eq(tal_body_q(r.matter, r.state, body(b), i), value);
            ck_assert_int_eq(tal_matter_q_owner(r.matter, r.state, q0 + i, &local).i, b);
            ck_assert_int_eq(local, i);
        }
        for (int j = 0; j < nu[b]; ++j) {
            const double value = -1.0 - 0.5 * (u0 + j);
            int local = -2;
            ck_assert_int_eq(tal_body_set_u(r.matter, r.state, body(b), j, value), TAL_OK);
            ck_assert_double_eq(tal_state_u(r.state)[u0 + j], value);
            ck_assert_double_eq(tal_body_u(r.matter, r.state, body(b), j), value);
            ck_assert_int_eq(tal_matter_u_owner(r.matter, r.state, u0 + j, &local).i, b);
            ck_assert_int_eq(local, j);
        }
        q0 += nq[b], u0 += nu[b];
    }
    int local = 0;
    ck_assert_int_eq(tal_matter_q_owner(r.matter, r.state, q0, &local).i, -1);
    ck_assert_int_eq(local, -1);
    ck_assert_int_eq(tal_matter_u_owner(r.matter, r.state, -1, NULL).i, -1);
    rig_end(&r);
}

END_TEST

// Matter need not own the first q and u.
typedef struct other {
    tal_group_ix q;
} other;

static tal_status declare_other(void *self, tal_system *system, tal_subsystem_ix me)
{
    other *o = self;
    tal_group_def def = tal_group_def_default();
    def.pool = TAL_POOL_Q;
    def.capacity = 3;
    o->q = tal_system_add_group(system, me, &def);
    return TAL_OK;
}

static tal_status other_velocity(const void *self, const tal_system *system, tal_state *state)
{
    const other *o = self;
    double *qdot = tal_group_upd_dot(system, state, o->q);
    qdot[0] = qdot[1] = qdot[2] = 0.0;
    return TAL_OK;
}

START_TEST(slots_of_other_subsystems_are_theirs)
{
    static const tal_subsystem_ops ops = {.size = sizeof ops,
                                          .name = "other",
                                          .realize_topology = declare_other,
                                          .realize_velocity = other_velocity};
    other o;
    tal_system *system = tal_system_create(NULL);
    (void)tal_system_add_subsystem(system, NULL, &ops, &o);
    tal_matter *matter = tal_matter_create(system);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(1.0, 0.1);
    const tal_body_ix ball = tal_matter_add_ball(matter, TAL_GROUND, &def);
    tal_state *state = NULL;
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);

    ck_assert_int_eq(tal_body_q_start(matter, state, ball), 3);
    int local = 0;
    ck_assert_int_eq(tal_matter_q_owner(matter, state, 2, &local).i, -1);
    ck_assert_int_eq(tal_matter_q_owner(matter, state, 3, &local).i, ball.i);
    ck_assert_int_eq(local, 0);
    ck_assert_int_eq(tal_body_set_use_angles(matter, state, ball, true), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_VELOCITY), TAL_OK);
    // a NaN among the q of other subsystems does not concern matter
    tal_state_upd_q(state)[0] = TALI_NAN;
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_VELOCITY), TAL_OK);
    tal_state_destroy(state);
    tal_system_destroy(system);
}

END_TEST

START_TEST(all_of_one_body_is_read_and_set)
{
    rig r;
    build(&r);
    rig_finish(&r);
    const double q[7] = {0.5, 0.5, -0.5, 0.5, 1.0, 2.0, 3.0}, u[6] = {4.0, 5.0, 6.0, 7.0, 8.0, 9.0};
    double q_read[7], u_read[6];
    ck_assert_int_eq(tal_body_set_q(r.matter, r.state, body(ARM), 0, 0.25), TAL_OK);
    rig_realize(&r, TAL_STAGE_VELOCITY);
    ck_assert_int_eq(tal_body_set_all_u(r.matter, r.state, body(HEAD), u, 6), TAL_OK);
    ck_assert_int_eq(tal_state_stage(r.state), TAL_STAGE_POSITION);
    ck_assert_int_eq(tal_body_set_all_q(r.matter, r.state, body(HEAD), q, 7), TAL_OK);
    ck_assert_int_eq(tal_state_stage(r.state), TAL_STAGE_TIME);
    for (int i = 0; i < 7; ++i) {
        ck_assert_double_eq(tal_body_q(r.matter, r.state, body(HEAD), i), q[i]);
        if (i < 6) ck_assert_double_eq(tal_body_u(r.matter, r.state, body(HEAD), i), u[i]);
    }
    ck_assert_double_eq(tal_body_q(r.matter, r.state, body(ARM), 0), 0.25);
    ck_assert_int_eq(tal_body_get_all_q(r.matter, r.state, body(HEAD), q_read, 7), TAL_OK);
    ck_assert_int_eq(tal_body_get_all_u(r.matter, r.state, body(HEAD), u_read, 6), TAL_OK);
    ck_assert_int_eq(memcmp(q_read, q, sizeof q), 0);
    ck_assert_int_eq(memcmp(u_read, u, sizeof u), 0);

    // without coordinates there is nothing to do; Ground is such a body
    ck_assert_int_eq(tal_body_set_all_q(r.matter, r.state, body(LUMP), NULL, 0), TAL_OK);
    ck_assert_int_eq(tal_body_get_all_u(r.matter, r.state, TAL_GROUND, NULL, 0), TAL_OK);

    // what is refused changes nothing
    const double bad[7] = {1.0, 0.0, 0.0, 0.0, 0.0, 0.0, HUGE_VAL};
    ck_assert_int_eq(tal_body_set_all_q(r.matter, r.state, body(HEAD), bad, 7), TAL_ERR_NOT_FINITE);
    assert_pending(&r, TAL_ERR_NOT_FINITE, "'head': coordinate 6");
    ck_assert_double_eq(tal_body_q(r.matter, r.state, body(HEAD), 0), 0.5);
    test_assert_breach((void)tal_body_set_all_q(r.matter, r.state, body(HEAD), q, 6),
                       TAL_ERR_BAD_VALUE, "'head' has 7 coordinates, not 6");
    test_assert_breach((void)tal_body_get_all_u(r.matter, r.state, body(HEAD), u_read, 7),
                       TAL_ERR_BAD_VALUE, "'head' has 6 speeds, not 7");
    test_assert_breach((void)tal_body_set_all_u(r.matter, r.state, body(HEAD), NULL, 6),
                       TAL_ERR_NULL, "NULL");
    rig_end(&r);
}

END_TEST

START_TEST(what_does_not_exist_cannot_be_read_or_set)
{
    rig r;
    build(&r);
    rig_finish(&r);
    test_assert_breach(ck_assert_double_nan(tal_body_q(r.matter, r.state, body(ARM), 1)),
                       TAL_ERR_BAD_INDEX, "'arm' has no coordinate 1");
    test_assert_breach(ck_assert_double_nan(tal_body_u(r.matter, r.state, body(LUMP), 0)),
                       TAL_ERR_BAD_INDEX, "'lump' has no speed 0");
    test_assert_breach(
        ck_assert_int_eq(tal_body_set_q(r.matter, r.state, body(9), 0, 1.0), TAL_ERR_BAD_INDEX),
        TAL_ERR_BAD_INDEX, "no body 9");
    test_assert_breach(ck_assert_int_eq(tal_body_nq(NULL, r.state, body(1)), -1), TAL_ERR_NULL,
                       "NULL");
    test_assert_breach(ck_assert_int_eq(tal_body_q_start(r.matter, r.state, body(-1)), -1),
                       TAL_ERR_BAD_INDEX, "no body -1");
    ck_assert_int_eq(tal_body_set_q(r.matter, r.state, body(ARM), 0, TALI_NAN), TAL_ERR_NOT_FINITE);
    assert_pending(&r, TAL_ERR_NOT_FINITE, "'arm': coordinate 0");
    ck_assert_int_eq(tal_body_set_u(r.matter, r.state, body(ARM), 0, HUGE_VAL), TAL_ERR_NOT_FINITE);
    assert_pending(&r, TAL_ERR_NOT_FINITE, "'arm': speed 0");
    ck_assert_double_eq(tal_body_q(r.matter, r.state, body(ARM), 0), 0.0);
    rig_end(&r);
}

END_TEST

// --- fitting ---

START_TEST(a_free_body_fits_any_pose_and_velocity)
{
    rig r;
    build(&r);
    rig_finish(&r);
    test_rng rng = test_rng_seed(1);
    for (int k = 0; k < 20; ++k) {
        const tal_xform X_FM = test_random_xform(&rng);
        const tal_spatial_vec V_FM = test_random_spatial_vec(&rng);
        ck_assert_int_eq(tal_body_fit_q(r.matter, r.state, body(HEAD), &X_FM), TAL_OK);
        ck_assert_int_eq(tal_body_fit_u(r.matter, r.state, body(HEAD), V_FM), TAL_OK);
        rig_realize(&r, TAL_STAGE_VELOCITY);
        // the arm is at zero: F is Ground
        const tal_xform X_GB = rig_X_GB(&r, HEAD);
        test_assert_m3_near(X_GB.R, X_FM.R, 1e-14);
        test_assert_v3_near(X_GB.p, X_FM.p, 1e-14);
        test_assert_sv_near(rig_V_GB(&r, HEAD), V_FM, 1e-14);
    }
    rig_end(&r);
}

END_TEST

// One part is met, the other stays what it was.
START_TEST(a_part_is_fitted_without_the_other)
{
    rig r;
    build(&r);
    rig_finish(&r);
    test_rng rng = test_rng_seed(2);
    for (int k = 0; k < 20; ++k) {
        const tal_mat3 R_FM = test_random_rotation(&rng);
        const tal_vec3 p_FM = test_random_vec3(&rng);
        const tal_spatial_vec V_FM = test_random_spatial_vec(&rng);
        ck_assert_int_eq(tal_body_fit_rotation(r.matter, r.state, body(HEAD), &R_FM), TAL_OK);
        ck_assert_int_eq(tal_body_fit_translation(r.matter, r.state, body(HEAD), p_FM), TAL_OK);
        ck_assert_int_eq(tal_body_fit_angular_velocity(r.matter, r.state, body(HEAD), V_FM.w),
                         TAL_OK);
        ck_assert_int_eq(tal_body_fit_linear_velocity(r.matter, r.state, body(HEAD), V_FM.v),
                         TAL_OK);
        rig_realize(&r, TAL_STAGE_VELOCITY);
        test_assert_m3_near(rig_X_GB(&r, HEAD).R, R_FM, 1e-13);
        test_assert_v3_near(rig_X_GB(&r, HEAD).p, p_FM, 1e-13);
        test_assert_sv_near(rig_V_GB(&r, HEAD), V_FM, 1e-13);
    }
    test_assert_breach(
        ck_assert_int_eq(tal_body_fit_rotation(r.matter, r.state, body(HEAD), NULL), TAL_ERR_NULL),
        TAL_ERR_NULL, "NULL");
    rig_end(&r);
}

START_TEST(what_cannot_be_fitted_is_refused)
{
    rig r;
    build(&r);
    rig_finish(&r);
    tal_xform X = TAL_XFORM_IDENTITY;
    X.R.x.x = 1.1;
    ck_assert_int_eq(tal_body_fit_q(r.matter, r.state, body(HEAD), &X), TAL_ERR_BAD_VALUE);
    assert_pending(&r, TAL_ERR_BAD_VALUE, "'head': the wanted X_FM");
    X = tal_xf_from_p(tal_v3(0.0, TALI_NAN, 0.0));
    ck_assert_int_eq(tal_body_fit_q(r.matter, r.state, body(HEAD), &X), TAL_ERR_NOT_FINITE);
    assert_pending(&r, TAL_ERR_NOT_FINITE, "'head': the wanted X_FM");
    test_assert_breach(
        ck_assert_int_eq(tal_body_fit_q(r.matter, r.state, body(HEAD), NULL), TAL_ERR_NULL),
        TAL_ERR_NULL, "NULL");
    tal_spatial_vec V = TAL_SPATIAL_VEC_ZERO;
    V.v.z = HUGE_VAL;
    ck_assert_int_eq(tal_body_fit_u(r.matter, r.state, body(HEAD), V), TAL_ERR_NOT_FINITE);
    assert_pending(&r, TAL_ERR_NOT_FINITE, "'head': the wanted V_FM");
    test_assert_breach(
        ck_assert_int_eq(tal_body_fit_q(r.matter, r.state, body(7), &X), TAL_ERR_BAD_INDEX),
        TAL_ERR_BAD_INDEX, "no body 7");
    test_assert_breach(
        ck_assert_int_eq(tal_body_fit_u(r.matter, r.state, body(7), V), TAL_ERR_BAD_INDEX),
        TAL_ERR_BAD_INDEX, "no body 7");
    // a q that places M nowhere fits nothing
    tal_state_upd_q(r.state)[1] = 0.0; // the head's quaternion
    ck_assert_int_eq(tal_body_fit_u(r.matter, r.state, body(HEAD), TAL_SPATIAL_VEC_ZERO),
                     TAL_ERR_BAD_VALUE);
    assert_pending(&r, TAL_ERR_BAD_VALUE, "'head': no u fits");
    rig_end(&r);
}

END_TEST

static tal_status fits_nothing(const void *self, const tal_mobilizer_arg *arg,
                               const tal_xform *X_FM, double q[])
{
    (void)self, (void)arg, (void)X_FM, (void)q;
    return TAL_ERR_NO_CONVERGENCE;
}

START_TEST(a_fit_that_fails_leaves_q_as_it_was)
{
    rig r;
    rig_begin(&r);
    tal_mobilizer_ops ops = *tal_mobilizer_pin();
    ops.fit_q = fits_nothing;
    tal_mobod_def def = tal_mobod_def_default();
    def.name = "arm";
    (void)tal_matter_add_mobilizer(r.matter, TAL_GROUND, &def, &ops, NULL, NULL);
    rig_finish(&r);
    ck_assert_int_eq(tal_body_set_q(r.matter, r.state, body(ARM), 0, 0.5), TAL_OK);
    const tal_xform X = TAL_XFORM_IDENTITY;
    ck_assert_int_eq(tal_body_fit_q(r.matter, r.state, body(ARM), &X), TAL_ERR_NO_CONVERGENCE);
    assert_pending(&r, TAL_ERR_NO_CONVERGENCE, "'arm': no q fits");
    ck_assert_double_eq(tal_body_q(r.matter, r.state, body(ARM), 0), 0.5);
    rig_end(&r);
}

END_TEST

// --- names ---

START_TEST(speeds_are_named_after_their_body)
{
    rig r;
    build(&r);
    rig_finish(&r);
    char name[TAL_COORDINATE_NAME_SIZE];
    int i = -2;
    ck_assert_int_eq(tal_body_speed_name(r.matter, r.state, body(HEAD), 5, name), TAL_OK);
    ck_assert_str_eq(name, "head.u5");
    ck_assert_int_eq(tal_matter_find_speed(r.matter, r.state, "head.u5", &i).i, HEAD);
    ck_assert_int_eq(i, 5);
    ck_assert_int_eq(tal_matter_find_speed(r.matter, r.state, "head.u6", &i).i, -1);
    ck_assert_int_eq(i, -1);
    ck_assert_int_eq(tal_matter_find_speed(r.matter, r.state, "head.q0", &i).i, -1);
    ck_assert_int_eq(tal_matter_find_speed(r.matter, r.state, "nobody.u0", NULL).i, -1);
    ck_assert_int_eq(tal_matter_find_speed(r.matter, r.state, "u0", &i).i, -1);
    ck_assert_int_eq(tal_matter_find_speed(r.matter, r.state, NULL, &i).i, -1);
    char far_too_long[TAL_MAX_NAME + 8];
    memset(far_too_long, 'x', sizeof far_too_long);
    memcpy(far_too_long + sizeof far_too_long - 4, ".u0", 4);
    ck_assert_int_eq(tal_matter_find_speed(r.matter, r.state, far_too_long, &i).i, -1);
    test_assert_breach((void)tal_body_speed_name(r.matter, r.state, body(HEAD), 6, name),
                       TAL_ERR_BAD_INDEX, "body 'head' has no speed 6: it has 6");
    test_assert_breach((void)tal_body_speed_name(r.matter, r.state, body(HEAD), 0, NULL),
                       TAL_ERR_NULL, "no buffer");
    rig_end(&r);
}

START_TEST(a_coordinate_has_a_name_from_the_start)
{
    rig r;
    build(&r);
    rig_finish(&r);
    char name[TAL_COORDINATE_NAME_SIZE];
    int i = -2;
    ck_assert_int_eq(tal_body_coordinate_name(r.matter, r.state, body(HEAD), 6, name), TAL_OK);
    ck_assert_str_eq(name, "head.q6");
    ck_assert_int_eq(tal_matter_find_coordinate(r.matter, r.state, "head.q6", &i).i, HEAD);
    ck_assert_int_eq(i, 6);
    ck_assert_int_eq(tal_matter_find_coordinate(r.matter, r.state, "head.q7", &i).i, -1);
    ck_assert_int_eq(i, -1);
    ck_assert_int_eq(tal_matter_find_coordinate(r.matter, r.state, "lump.q0", &i).i, -1);
    ck_assert_int_eq(tal_matter_find_coordinate(r.matter, r.state, "nobody.q0", NULL).i, -1);
    ck_assert_int_eq(tal_matter_find_coordinate(r.matter, r.state, "height", &i).i, -1);
    ck_assert_int_eq(tal_matter_find_coordinate(r.matter, r.state, NULL, &i).i, -1);
    char far_too_long[TAL_MAX_NAME + 8];
    memset(far_too_long, 'x', sizeof far_too_long);
    memcpy(far_too_long + sizeof far_too_long - 4, ".q0", 4);
    ck_assert_int_eq(tal_matter_find_coordinate(r.matter, r.state, far_too_long, &i).i, -1);
    rig_end(&r);
}

END_TEST

START_TEST(a_named_coordinate_keeps_its_name_when_the_count_changes)
{
    rig r;
    build(&r);
    char *const own = (char[]){"elbow"};
    ck_assert_int_eq(tal_body_name_coordinate(r.matter, body(ARM), 0, own), TAL_OK);
    own[0] = 'x'; // the name is a copy
    ck_assert_int_eq(tal_body_name_coordinate(r.matter, body(HEAD), 0, "head w"), TAL_OK);
    ck_assert_int_eq(tal_body_name_coordinate(r.matter, body(HEAD), 5, "height"), TAL_OK);
    ck_assert_int_eq(tal_body_name_coordinate(r.matter, body(ROD), 1, "pitch"), TAL_OK);
    ck_assert_int_eq(tal_body_name_coordinate(r.matter, body(ROD), 3, "rod x"), TAL_OK);
    rig_finish(&r);

    int i = -2;
    char name[TAL_COORDINATE_NAME_SIZE];
    ck_assert_int_eq(tal_matter_find_coordinate(r.matter, r.state, "elbow", &i).i, ARM);
    ck_assert_int_eq(i, 0);
    ck_assert_int_eq(tal_matter_find_coordinate(r.matter, r.state, "arm.q0", &i).i, -1);
    ck_assert_int_eq(tal_matter_find_coordinate(r.matter, r.state, "height", &i).i, HEAD);
    ck_assert_int_eq(i, 5);
    ck_assert_int_eq(tal_body_set_use_angles(r.matter, r.state, body(HEAD), true), TAL_OK);
    ck_assert_int_eq(tal_matter_find_coordinate(r.matter, r.state, "height", &i).i, HEAD);
    ck_assert_int_eq(i, 4);
    ck_assert_int_eq(tal_body_coordinate_name(r.matter, r.state, body(HEAD), 4, name), TAL_OK);
    ck_assert_str_eq(name, "height");
    // the parts of the quaternion are not there
    ck_assert_int_eq(tal_matter_find_coordinate(r.matter, r.state, "head w", &i).i, -1);
    ck_assert_int_eq(tal_body_coordinate_name(r.matter, r.state, body(HEAD), 0, name), TAL_OK);
    ck_assert_str_eq(name, "head.q0");
    // the rod was declared with angles
    ck_assert_int_eq(tal_matter_find_coordinate(r.matter, r.state, "rod x", &i).i, ROD);
    ck_assert_int_eq(i, 3);
    ck_assert_int_eq(tal_body_set_use_angles(r.matter, r.state, body(ROD), false), TAL_OK);
    ck_assert_int_eq(tal_matter_find_coordinate(r.matter, r.state, "rod x", &i).i, ROD);
    ck_assert_int_eq(i, 4);
    ck_assert_int_eq(tal_matter_find_coordinate(r.matter, r.state, "pitch", &i).i, -1);
    rig_end(&r);
}

END_TEST

static void refuse_name(int b, int i, const char *name, tal_status st, const char *part)
{
    rig r;
    build(&r);
    ck_assert_int_eq(tal_body_name_coordinate(r.matter, body(ARM), 0, "taken"), TAL_OK);
    ck_assert_int_eq(tal_body_name_coordinate(r.matter, body(b), i, name), st);
    assert_refused(&r, st, part);
}

START_TEST(names_that_would_confuse_are_refused)
{
    refuse_name(HEAD, 0, "taken", TAL_ERR_BAD_NAME, "'taken' already");
    refuse_name(ARM, 0, "twice", TAL_ERR_BAD_NAME, "named 'taken' already");
    refuse_name(HEAD, 0, "rod.q1", TAL_ERR_BAD_NAME, "'rod.q1' ends like");
    refuse_name(HEAD, 0, ".q1", TAL_ERR_BAD_NAME, "'.q1' ends like");
    refuse_name(HEAD, 0, "", TAL_ERR_BAD_NAME, "1 to 63");
    refuse_name(HEAD, 0, "nod ", TAL_ERR_BAD_NAME,
                "coordinate 'nod ': a name cannot begin or end with blanks");
    refuse_name(HEAD, 0, NULL, TAL_ERR_NULL, "'head'");
    refuse_name(HEAD, 7, "x", TAL_ERR_BAD_INDEX, "'head' has no coordinate 7");
    refuse_name(9, 0, "x", TAL_ERR_BAD_INDEX, "body 9");
    test_assert_breach(
        ck_assert_int_eq(tal_body_name_coordinate(NULL, body(1), 0, "x"), TAL_ERR_NULL),
        TAL_ERR_NULL, "NULL");
    rig r;
    build(&r);
    rig_finish(&r);
    char name[TAL_COORDINATE_NAME_SIZE] = "?";
    test_assert_breach(
        ck_assert_int_eq(tal_body_coordinate_name(r.matter, r.state, body(ARM), 1, name),
                         TAL_ERR_BAD_INDEX),
        TAL_ERR_BAD_INDEX, "'arm' has no coordinate 1");
    ck_assert_str_eq(name, "");
    test_assert_breach(
        ck_assert_int_eq(tal_body_coordinate_name(r.matter, r.state, body(ARM), 0, NULL),
                         TAL_ERR_NULL),
        TAL_ERR_NULL, "too small");
    test_assert_breach(
        ck_assert_int_eq(tal_matter_find_coordinate(NULL, r.state, "arm.q0", NULL).i, -1),
        TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert_int_eq(tal_matter_q_owner(NULL, r.state, 0, NULL).i, -1),
                       TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert_int_eq(tal_matter_u_owner(NULL, r.state, 0, NULL).i, -1),
                       TAL_ERR_NULL, "NULL");
    rig_end(&r);
}

END_TEST

// --- ranges ---

START_TEST(ranges_are_kept_in_the_state)
{
    rig r;
    build(&r);
    ck_assert_int_eq(tal_body_limit_coordinate(r.matter, body(ARM), 0, -1.0, 1.0), TAL_OK);
    ck_assert_int_eq(tal_body_limit_coordinate(r.matter, body(HEAD), 6, -HUGE_VAL, 0.5), TAL_OK);
    ck_assert_int_eq(tal_body_limit_coordinate(r.matter, body(HEAD), 6, -2.0, 0.5), TAL_OK);
    ck_assert_int_eq(tal_body_limit_coordinate(r.matter, body(HEAD), 0, 0.0, 1.0), TAL_OK);
    rig_finish(&r);
    double low, high;
    ck_assert_int_eq(tal_body_range(r.matter, r.state, body(HEAD), 6, &low, &high), TAL_OK);
    ck_assert(low == -2.0 && high == 0.5);
    ck_assert_int_eq(tal_body_range(r.matter, r.state, body(HEAD), 5, &low, &high), TAL_OK);
    ck_assert(isinf(low) && low < 0.0 && isinf(high) && high > 0.0);
    int i = -2;
    ck_assert_int_eq(tal_matter_out_of_range(r.matter, r.state, &i).i, -1);
    ck_assert_int_eq(i, -1);

    ck_assert_int_eq(tal_body_set_q(r.matter, r.state, body(HEAD), 6, 0.75), TAL_OK);
    ck_assert(!tal_body_is_in_range(r.matter, r.state, body(HEAD), 6));
    ck_assert(tal_body_is_in_range(r.matter, r.state, body(ARM), 0));
    ck_assert(tal_body_is_in_range(r.matter, r.state, body(HEAD), 5));
    ck_assert_int_eq(tal_matter_out_of_range(r.matter, r.state, &i).i, HEAD);
    ck_assert_int_eq(i, 6);
    ck_assert_int_eq(tal_body_set_q(r.matter, r.state, body(HEAD), 0, -1.0), TAL_OK);
    ck_assert_int_eq(tal_matter_out_of_range(r.matter, r.state, &i).i, HEAD);
    ck_assert_int_eq(i, 0);
    ck_assert_int_eq(tal_body_set_q(r.matter, r.state, body(ARM), 0, -1.5), TAL_OK);
    ck_assert_int_eq(tal_matter_out_of_range(r.matter, r.state, NULL).i, ARM);
    // the range follows its coordinate, and is a parameter of the instance
    ck_assert_int_eq(tal_body_set_use_angles(r.matter, r.state, body(HEAD), true), TAL_OK);
    rig_realize(&r, TAL_STAGE_POSITION);
    ck_assert_int_eq(tal_body_set_range(r.matter, r.state, body(HEAD), 5, 0.0, 1.0), TAL_OK);
    ck_assert_int_eq(tal_state_stage(r.state), TAL_STAGE_MODEL);
    ck_assert(tal_body_is_in_range(r.matter, r.state, body(HEAD), 5));
    ck_assert_int_eq(tal_body_set_range(r.matter, r.state, body(ARM), 0, -2.0, HUGE_VAL), TAL_OK);
    ck_assert_int_eq(tal_matter_out_of_range(r.matter, r.state, &i).i, -1);
    rig_end(&r);
}

END_TEST

START_TEST(what_is_no_range_is_refused)
{
    rig r;
    build(&r);
    ck_assert_int_eq(tal_body_limit_coordinate(r.matter, body(ARM), 0, 1.0, -1.0),
                     TAL_ERR_BAD_VALUE);
    assert_refused(&r, TAL_ERR_BAD_VALUE, "'arm', coordinate 0: 1 to -1");
    build(&r);
    ck_assert_int_eq(tal_body_limit_coordinate(r.matter, body(ARM), 0, TALI_NAN, 1.0),
                     TAL_ERR_BAD_VALUE);
    assert_refused(&r, TAL_ERR_BAD_VALUE, "is not a range");
    build(&r);
    ck_assert_int_eq(tal_body_limit_coordinate(r.matter, body(ARM), 3, 0.0, 1.0),
                     TAL_ERR_BAD_INDEX);
    assert_refused(&r, TAL_ERR_BAD_INDEX, "'arm' has no coordinate 3");

    build(&r);
    ck_assert_int_eq(tal_body_limit_coordinate(r.matter, body(ARM), 0, -1.0, 1.0), TAL_OK);
    rig_finish(&r);
    double low = 0.0, high = 0.0;
    ck_assert_int_eq(tal_body_set_range(r.matter, r.state, body(ARM), 0, 2.0, TALI_NAN),
                     TAL_ERR_BAD_VALUE);
    assert_pending(&r, TAL_ERR_BAD_VALUE, "'arm', coordinate 0");
    ck_assert_int_eq(tal_body_set_range(r.matter, r.state, body(HEAD), 0, 0.0, 1.0),
                     TAL_ERR_BAD_INDEX);
    assert_pending(&r, TAL_ERR_BAD_INDEX, "'head': coordinate 0 was not limited");
    test_assert_breach(ck_assert_int_eq(tal_body_set_range(r.matter, r.state, body(ARM), 1, 0, 1),
                                        TAL_ERR_BAD_INDEX),
                       TAL_ERR_BAD_INDEX, "'arm'");
    test_assert_breach(
        ck_assert_int_eq(tal_body_range(r.matter, r.state, body(ARM), 1, &low, &high),
                         TAL_ERR_BAD_INDEX),
        TAL_ERR_BAD_INDEX, "'arm'");
    ck_assert_double_nan(low);
    ck_assert_double_nan(high);
    test_assert_breach(
        ck_assert_int_eq(tal_body_range(r.matter, r.state, body(ARM), 0, NULL, &high),
                         TAL_ERR_NULL),
        TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert(!tal_body_is_in_range(r.matter, r.state, body(ARM), 1)),
                       TAL_ERR_BAD_INDEX, "'arm'");
    test_assert_breach(ck_assert_int_eq(tal_matter_out_of_range(NULL, r.state, NULL).i, -1),
                       TAL_ERR_NULL, "NULL");
    rig_end(&r);
}

END_TEST

// --- initial values ---

START_TEST(a_state_begins_where_it_was_told_to)
{
    rig r;
    build(&r);
    const double q[] = {0.6, 0.0, 0.0, 0.8, 1.0, 2.0, 3.0}, u[] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
    const double angles[] = {0.1, 0.2, 0.3, 4.0, 5.0, 6.0}, bend = 0.7, other_bend = 0.8;
    ck_assert_int_eq(tal_body_set_initial_q(r.matter, body(ARM), &bend, 1), TAL_OK);
    ck_assert_int_eq(tal_body_set_initial_q(r.matter, body(HEAD), q, 7), TAL_OK);
    ck_assert_int_eq(tal_body_set_initial_q(r.matter, body(ARM), &other_bend, 1), TAL_OK);
    ck_assert_int_eq(tal_body_set_initial_u(r.matter, body(HEAD), u, 6), TAL_OK);
    ck_assert_int_eq(tal_body_set_initial_q(r.matter, body(ROD), angles, 6), TAL_OK);
    ck_assert_int_eq(tal_body_set_initial_q(r.matter, body(LUMP), NULL, 0), TAL_OK);
    rig_finish(&r);
    const double q_all[] = {0.8, 0.6, 0.0, 0.0, 0.8, 1.0, 2.0, 3.0, 0.1, 0.2, 0.3, 4.0, 5.0, 6.0};
    const double u_all[] = {0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    ck_assert_mem_eq(tal_state_q(r.state), q_all, sizeof q_all);
    ck_assert_mem_eq(tal_state_u(r.state), u_all, sizeof u_all);
    // this quaternion turns about z
    ck_assert_int_eq(tal_matter_set_use_angles(r.matter, r.state, true), TAL_OK);
    const double same[] = {0.0, 0.0, 2.0 * atan2(0.8, 0.6), 1.0, 2.0, 3.0};
    test_assert_near(tal_state_q(r.state) + 1, same, 6, 1e-15, "angles of the head");
    rig_end(&r);
}

END_TEST

START_TEST(wrong_initial_values_are_refused)
{
    const double zeros[7] = {0.0}, bad[] = {TALI_NAN};
    rig r;
    build(&r);
    ck_assert_int_eq(tal_body_set_initial_q(r.matter, body(HEAD), zeros, 7), TAL_ERR_BAD_VALUE);
    assert_refused(&r, TAL_ERR_BAD_VALUE, "'head': its initial quaternion");
    build(&r);
    ck_assert_int_eq(tal_body_set_initial_q(r.matter, body(HEAD), zeros, 6), TAL_ERR_BAD_VALUE);
    assert_refused(&r, TAL_ERR_BAD_VALUE, "'head' has 7 initial values of q, not 6");
    build(&r);
    ck_assert_int_eq(tal_body_set_initial_u(r.matter, body(ARM), bad, 1), TAL_ERR_NOT_FINITE);
    assert_refused(&r, TAL_ERR_NOT_FINITE, "'arm': its initial u[0]");
    build(&r);
    ck_assert_int_eq(tal_body_set_initial_u(r.matter, body(ARM), NULL, 1), TAL_ERR_BAD_VALUE);
    assert_refused(&r, TAL_ERR_BAD_VALUE, "'arm'");
    build(&r);
    ck_assert_int_eq(tal_body_set_initial_u(r.matter, body(8), zeros, 1), TAL_ERR_BAD_INDEX);
    assert_refused(&r, TAL_ERR_BAD_INDEX, "body 8");
    build(&r);
    ck_assert_int_eq(tal_body_set_initial_q(r.matter, body(8), zeros, 1), TAL_ERR_BAD_INDEX);
    assert_refused(&r, TAL_ERR_BAD_INDEX, "body 8");
}

END_TEST

// --- angles or quaternions ---

START_TEST(only_an_orientation_can_be_described_in_two_ways)
{
    rig r;
    build(&r);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(1.0, 0.1);
    def.use_angles = true;
    const tal_body_ix pin = tal_matter_add_pin(r.matter, TAL_GROUND, &def);
    rig_finish(&r);
    ck_assert(!tal_body_uses_angles(r.matter, r.state, body(HEAD)));
    ck_assert(tal_body_uses_angles(r.matter, r.state, body(ROD)));
    ck_assert(!tal_body_uses_angles(r.matter, r.state, pin));
    ck_assert_int_eq(tal_body_set_use_angles(r.matter, r.state, body(ARM), true),
                     TAL_ERR_BAD_VALUE);
    assert_pending(&r, TAL_ERR_BAD_VALUE, "'arm': its pin has no quaternion");
    test_assert_breach(ck_assert_int_eq(tal_body_set_use_angles(r.matter, r.state, body(9), true),
                                        TAL_ERR_BAD_INDEX),
                       TAL_ERR_BAD_INDEX, "no body 9");
    test_assert_breach(
        ck_assert_int_eq(tal_matter_set_use_angles(NULL, r.state, true), TAL_ERR_NULL),
        TAL_ERR_NULL, "NULL");
    test_assert_breach(
        ck_assert_int_eq(tal_matter_normalize_quaternions(NULL, r.state), TAL_ERR_NULL),
        TAL_ERR_NULL, "NULL");
    rig_end(&r);
}

END_TEST

START_TEST(a_choice_that_cannot_be_made_leaves_the_state_as_it_was)
{
    rig r;
    build(&r);
    rig_finish(&r);
    test_rng rng = test_rng_seed(3);
    const tal_xform X = test_random_xform(&rng);
    ck_assert_int_eq(tal_body_fit_q(r.matter, r.state, body(HEAD), &X), TAL_OK);
    tal_state *before = NULL;
    ck_assert_int_eq(tal_state_create(r.system, &before, NULL), TAL_OK);

    // an earlier setter failed, and its status was ignored
    ck_assert_int_eq(tal_body_set_q(r.matter, r.state, body(ARM), 0, TALI_NAN), TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_state_copy(before, r.state), TAL_OK);
    ck_assert_int_eq(tal_matter_set_use_angles(r.matter, r.state, true), TAL_ERR_NOT_FINITE);
    ck_assert(tal_state_is_equal(before, r.state));
    assert_pending(&r, TAL_ERR_NOT_FINITE, "'arm': coordinate 0");

    // a quaternion without a direction, angles without a value
    double *q = tal_state_upd_q(r.state);
    q[1] = q[2] = q[3] = q[4] = 0.0;
    ck_assert_int_eq(tal_state_copy(before, r.state), TAL_OK);
    ck_assert_int_eq(tal_matter_set_use_angles(r.matter, r.state, true), TAL_ERR_BAD_VALUE);
    ck_assert(tal_state_is_equal(before, r.state));
    assert_pending(&r, TAL_ERR_BAD_VALUE, "'head': its orientation");
    ck_assert_int_eq(tal_matter_normalize_quaternions(r.matter, r.state), TAL_ERR_BAD_VALUE);
    ck_assert(tal_state_is_equal(before, r.state));
    assert_pending(&r, TAL_ERR_BAD_VALUE, "'head': its quaternion (0, 0, 0, 0)");
    tal_state_upd_q(r.state)[9] = TALI_NAN; // the rod's angle 1
    ck_assert_int_eq(tal_body_set_use_angles(r.matter, r.state, body(ROD), false),
                     TAL_ERR_BAD_VALUE);
    assert_pending(&r, TAL_ERR_BAD_VALUE, "'rod': its orientation");
    tal_state_destroy(before);
    rig_end(&r);
}

END_TEST

START_TEST(unit_quaternions_need_no_normalizing)
{
    rig r;
    build(&r);
    rig_finish(&r);
    rig_realize(&r, TAL_STAGE_VELOCITY);
    ck_assert_int_eq(tal_matter_normalize_quaternions(r.matter, r.state), TAL_OK);
    ck_assert_int_eq(tal_state_stage(r.state), TAL_STAGE_VELOCITY);
    ck_assert_int_eq(tal_body_set_q(r.matter, r.state, body(HEAD), 0, 1e200), TAL_OK);
    ck_assert_int_eq(tal_matter_normalize_quaternions(r.matter, r.state), TAL_OK);
    ck_assert_double_eq(tal_body_q(r.matter, r.state, body(HEAD), 0), 1.0);
    rig_end(&r);
}

END_TEST

// Speeds, parameters and the other coordinates survive a change of description bit for bit.
START_TEST(a_choice_changes_nothing_else)
{
    rig r;
    build(&r);
    rig_finish(&r);
    test_rng rng = test_rng_seed(4);
    double q[14], u[12];
    for (int i = 0; i < 14; ++i) {
        q[i] = test_random_uniform(&rng, 0.1, 1.0);
    }
    for (int j = 0; j < 12; ++j) {
        u[j] = test_random_uniform(&rng, 0.1, 1.0);
    }
    ck_assert_int_eq(tal_state_set_q(r.state, q, 14), TAL_OK);
    ck_assert_int_eq(tal_state_set_u(r.state, u, 12), TAL_OK);
    const tal_mass_props heavier = tal_mass_props_sphere(7.0, 0.3);
    ck_assert_int_eq(tal_body_set_mass_props(r.matter, r.state, body(ARM), &heavier), TAL_OK);
    ck_assert_int_eq(tal_body_set_use_angles(r.matter, r.state, body(HEAD), true), TAL_OK);
    const double *now = tal_state_q(r.state);
    ck_assert_double_eq(now[0], q[0]);
    ck_assert_mem_eq(now + 4, q + 5, 3 * sizeof(double));
    ck_assert_mem_eq(now + 7, q + 8, 6 * sizeof(double));
    ck_assert_mem_eq(tal_state_u(r.state), u, sizeof u);
    ck_assert_double_eq(tal_body_mass_props(r.matter, r.state, body(ARM)).mass, 7.0);
    // the same choice again: nothing to do to q
    ck_assert_int_eq(tal_body_set_use_angles(r.matter, r.state, body(HEAD), true), TAL_OK);
    ck_assert_mem_eq(tal_state_q(r.state) + 7, q + 8, 6 * sizeof(double));
    rig_end(&r);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("matter: coordinates");
    TCase *theory = tcase_create("theory");
    tcase_add_checked_fixture(theory, test_record_breaches, NULL);
    tcase_add_test(theory, some_mobilizers_have_speeds_that_are_rates);
    tcase_add_test(theory, coordinates_are_packed_body_after_body);
    tcase_add_test(theory, all_of_one_body_is_read_and_set);
    tcase_add_test(theory, slots_of_other_subsystems_are_theirs);
    tcase_add_test(theory, a_free_body_fits_any_pose_and_velocity);
    tcase_add_test(theory, a_part_is_fitted_without_the_other);
    tcase_add_test(theory, a_coordinate_has_a_name_from_the_start);
    tcase_add_test(theory, speeds_are_named_after_their_body);
    tcase_add_test(theory, a_named_coordinate_keeps_its_name_when_the_count_changes);
    tcase_add_test(theory, ranges_are_kept_in_the_state);
    tcase_add_test(theory, a_state_begins_where_it_was_told_to);
    tcase_add_test(theory, unit_quaternions_need_no_normalizing);
    tcase_add_test(theory, a_choice_changes_nothing_else);
    TCase *errors = tcase_create("errors");
    tcase_add_checked_fixture(errors, test_record_breaches, NULL);
    tcase_add_test(errors, what_does_not_exist_cannot_be_read_or_set);
    tcase_add_test(errors, what_cannot_be_fitted_is_refused);
    tcase_add_test(errors, a_fit_that_fails_leaves_q_as_it_was);
    tcase_add_test(errors, names_that_would_confuse_are_refused);
    tcase_add_test(errors, what_is_no_range_is_refused);
    tcase_add_test(errors, wrong_initial_values_are_refused);
    tcase_add_test(errors, only_an_orientation_can_be_described_in_two_ways);
    tcase_add_test(errors, a_choice_that_cannot_be_made_leaves_the_state_as_it_was);
    suite_add_tcase(suite, theory);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
