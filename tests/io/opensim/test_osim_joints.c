// io/src/opensim/: joints, and the tree that they make.
#include "opensim/osim_support.h"

// --- joints ---

// A model with one joint against one built by hand: q, u, poses and accelerations agree.
static void assert_joint(const char *text, const char *mobilizer, int nq)
{
    tal_model model = read_text(text);
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    (void)tal_forces_add_gravity(forces, tal_v3(0.0, -9.80665, 0.0));
    tal_mobod_def def = tal_mobod_def_default();
    const tal_mass_props central = {2.0, {0.0, 0.0, 0.0}, {0.4, 0.5, 0.6, 0.01, 0.02, 0.03}};
    const tal_xform X_BC = tal_xf_from_p(tal_v3(0.1, 0.2, 0.3));
    def.mass = tal_mass_props_transform(&X_BC, &central);
    def.X_PF = placed(0.3, -0.2, 0.1, 1.0, 2.0, 3.0);
    def.X_BM = placed(-0.4, 0.5, 0.2, 0.1, -0.1, 0.2);
    def.use_angles = true;

    static const struct {
        const char *name;
        const tal_mobilizer_ops *(*ops)(void);
    } kinds[] = {{"pin", tal_mobilizer_pin},
                 {"slider", tal_mobilizer_slider},
                 {"universal", tal_mobilizer_universal},
                 {"gimbal", tal_mobilizer_gimbal},
                 {"ball", tal_mobilizer_ball},
                 {"planar", tal_mobilizer_planar},
                 {"free", tal_mobilizer_free},
                 {"ellipsoid", tal_mobilizer_ellipsoid}};

    const double radii[] = {0.1, 0.2, 0.3};
    tal_body_ix body = {-1};
    for (int k = 0; k < 8; ++k) {
        if (strcmp(kinds[k].name, mobilizer) != 0) continue;
        body = tal_matter_add_mobilizer(matter, TAL_GROUND, &def, kinds[k].ops(), NULL,
                                        k == 7 ? radii : NULL);
    }
    ck_assert_int_eq(body.i, 1);
    tal_state *state = NULL;
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_MODEL), TAL_OK);
    ck_assert_int_eq(tal_state_nq(model.state), nq);
    const double q[] = {0.3, -0.4, 0.5, 0.6, -0.7, 0.8}, u[] = {1.0, -2.0, 3.0, 0.5, 0.6, -0.7};
    const tal_body_ix first = {1};
    ck_assert_int_eq(tal_body_set_all_q(model.matter, model.state, first, q, nq), TAL_OK);
    ck_assert_int_eq(tal_body_set_all_q(matter, state, first, q, nq), TAL_OK);
    ck_assert_int_eq(tal_body_set_all_u(model.matter, model.state, first, u, nq), TAL_OK);
    ck_assert_int_eq(tal_body_set_all_u(matter, state, first, u, nq), TAL_OK);
    realize(&model, TAL_STAGE_ACCELERATION);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_ACCELERATION), TAL_OK);
    // the same numbers go through the same code
    test_assert_near(tal_state_udot(model.state), tal_state_udot(state), nq, 0.0, "udot");
    tal_state_destroy(state);
    tal_system_destroy(system);
    tal_model_destroy(&model);
}

START_TEST(every_kind_of_joint_becomes_its_mobilizer)
{
    assert_joint(ONE_BODY(PLACED("PinJoint", "")), "pin", 1);
    assert_joint(ONE_BODY(PLACED("SliderJoint", "")), "slider", 1);
    assert_joint(ONE_BODY(PLACED("UniversalJoint", "")), "universal", 2);
    assert_joint(ONE_BODY(PLACED("GimbalJoint", "")), "gimbal", 3);
    assert_joint(ONE_BODY(PLACED("BallJoint", "")), "ball", 3);
    assert_joint(ONE_BODY(PLACED("PlanarJoint", "")), "planar", 3);
    assert_joint(ONE_BODY(PLACED("FreeJoint", "")), "free", 6);
    assert_joint(ONE_BODY(PLACED("EllipsoidJoint", "<radii_x_y_z>0.1 0.2 0.3</radii_x_y_z>")),
                 "ellipsoid", 3);
    // one coordinate of a ball that is locked needs speeds that are rates
    assert_joint(ONE_BODY(PLACED("BallJoint", "<coordinates><Coordinate name='a'/><Coordinate "
                                              "name='b'><prescribed>true</prescribed>"
                                              "<prescribed_function/></Coordinate></coordinates>")),
                 "ball", 3);
}

END_TEST

// --- the shoulder blade ---

// clang-format off
#define SCAPULA(parent, child)                                                                     \
    "<ScapulothoracicJoint name='s'><frames>" OFF_GROUND OFF_BODY "</frames>"                      \
    SOCKETS(parent, child)                                                                         \
    "<thoracic_ellipsoid_radii_x_y_z>0.07 0.15 0.08</thoracic_ellipsoid_radii_x_y_z>"              \
    "<scapula_winging_axis_origin>0.02 -0.03</scapula_winging_axis_origin>"                        \
    "<scapula_winging_axis_direction>0.6</scapula_winging_axis_direction>"                         \
    "<coordinates><Coordinate name='abduction'/><Coordinate name='elevation'><default_value>0.2"   \
    "</default_value></Coordinate><Coordinate name='rotation'/><Coordinate name='winging'>"        \
    "<default_value>-0.1</default_value></Coordinate></coordinates></ScapulothoracicJoint>"

// clang-format on

// Child frame in parent frame, from the words of the joint's description: the blade's z stays
// normal to a sphere, or as it would on one, and winging turns about an axis in its xy plane.
static tal_xform scapula_pose(const double q[4])
{
    static const double quarter = 1.57079632679489661923, direction = 0.6;
    const tal_xform turn = placed(0.0, 0.0, quarter, 0.0, 0.0, 0.0);
    tal_xform slide = placed(q[0], q[1], q[2], 0.0, 0.0, 0.0);
    slide.p = tal_v3_mul(tal_v3(0.15, 0.07, 0.08), slide.R.z); // x and y change places
    const tal_xform X_FE = tal_xf_mul(turn, tal_xf_mul(slide, tal_xf_inverse(turn)));
    const tal_xform there = placed(0.0, 0.0, direction, 0.02, -0.03, 0.0);
    const tal_xform wing = placed(0.0, q[3], 0.0, 0.0, 0.0, 0.0);
    return tal_xf_mul(X_FE, tal_xf_mul(there, tal_xf_mul(wing, tal_xf_inverse(there))));
}

static void set_scapula(const tal_model *model, const double q[4])
{
    static const char *const names[] = {"abduction", "elevation", "rotation", "winging"};
    for (int k = 0; k < 4; ++k) {
        int i;
        const tal_body_ix body =
            tal_matter_find_coordinate(model->matter, model->state, names[k], &i);
        ck_assert_int_eq(tal_body_set_q(model->matter, model->state, body, i, q[k]), TAL_OK);
    }
}

START_TEST(a_shoulder_blade_slides_on_an_ellipsoid_and_wings)
{
    static const double poses[][4] = {{0.0, 0.2, 0.0, -0.1}, {0.3, -0.4, 0.5, 0.25}};
    const tal_xform X_PF = placed(0.3, -0.2, 0.1, 1.0, 2.0, 3.0);
    const tal_xform X_CM = placed(-0.4, 0.5, 0.2, 0.1, -0.1, 0.2);
    tal_model model = read_text(ONE_BODY(SCAPULA("on_ground", "on_b")));
    tal_model reversed = read_text(ONE_BODY(SCAPULA("on_b", "on_ground")));
    ck_assert_int_eq(tal_state_nq(model.state), 4);
    for (int k = 0; k < 2; ++k) {
        if (k > 0) { // the first pose is where the file begins
            set_scapula(&model, poses[k]);
            set_scapula(&reversed, poses[k]);
        }
        const tal_xform X_FM = scapula_pose(poses[k]);
        realize(&model, TAL_STAGE_ACCELERATION);
        realize(&reversed, TAL_STAGE_ACCELERATION);
        // some ten products of rotations, and lengths up to 4 m
        assert_same_pose(pose_of(&model, "b"),
                         tal_xf_mul(X_PF, tal_xf_mul(X_FM, tal_xf_inverse(X_CM))),
                         64.0 * DBL_EPSILON);
        assert_same_pose(pose_of(&reversed, "b"),
                         tal_xf_mul(X_PF, tal_xf_mul(tal_xf_inverse(X_FM), tal_xf_inverse(X_CM))),
                         64.0 * DBL_EPSILON);
    }
    tal_model_destroy(&model);
    tal_model_destroy(&reversed);
}

END_TEST

// With a coordinate that is prescribed, speeds are rates of the angles; poses and velocities are
// the same.
START_TEST(an_ellipsoid_with_a_motion_has_rates)
{
    static const char *const ends[] = {"", "<prescribed>true</prescribed><prescribed_function>"
                                           "<LinearFunction><coefficients>-2 -0.4</coefficients>"
                                           "</LinearFunction></prescribed_function>"};
    tal_model models[2];
    const double q[] = {0.3, -0.4, 0.5}, qdot[] = {1.0, -2.0, 3.0};
    double M[2][3] = {{0.0}};
    for (int k = 0; k < 2; ++k) {
        char text[3000];
        (void)snprintf(text, sizeof text,
                       ONE_BODY(PLACED("EllipsoidJoint",
                                       "<radii_x_y_z>0.1 0.2 0.3</radii_x_y_z><coordinates>"
                                       "<Coordinate name='a'/><Coordinate name='b'>%s</Coordinate>"
                                       "<Coordinate name='c'/></coordinates>")),
                       ends[k]);
        models[k] = read_text(text);
        tal_state *s = models[k].state;
        const tal_matter *matter = models[k].matter;
        double u[3];
        ck_assert_int_eq(tal_body_set_all_q(matter, s, (tal_body_ix){1}, q, 3), TAL_OK);
        realize(&models[k], TAL_STAGE_POSITION);
        ck_assert_int_eq(tal_matter_mul_N(matter, s, TAL_NPLUS, qdot, u), TAL_OK);
        ck_assert_int_eq(tal_body_set_all_u(matter, s, (tal_body_ix){1}, u, 3), TAL_OK);
        realize(&models[k], TAL_STAGE_VELOCITY);
        const tal_spatial_vec V = tal_body_V_GB(matter, s, (tal_body_ix){1});
        memcpy(M[k], &V.v, sizeof M[k]);
        if (k == 1) test_assert_near(u, qdot, 3, 0.0, "rates");
    }
    const tal_body_ix b = {1};
    assert_same_pose(tal_body_X_GB(models[0].matter, models[0].state, b),
                     tal_body_X_GB(models[1].matter, models[1].state, b), 16.0 * DBL_EPSILON);
    test_assert_near(M[0], M[1], 3, 64.0 * DBL_EPSILON, "velocity");
    realize(&models[1], TAL_STAGE_ACCELERATION);
    ck_assert(tal_state_udot(models[1].state)[1] == 0.0); // a steady motion
    tal_model_destroy(&models[0]);
    tal_model_destroy(&models[1]);
}

END_TEST

START_TEST(a_shoulder_blade_does_not_close_a_loop)
{
    static const char text[] = ONE_BODY("<PinJoint name='p'>" SOCKETS(
        "/ground", "/bodyset/b") "</PinJoint>" SCAPULA("on_ground", "on_b"));
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(tal_osim_read_memory("m", text, strlen(text), NULL, &model, found),
                     TAL_ERR_FILE);
    char said[2000];
    say_all(found, said, sizeof said);
    ck_assert_msg(strstr(said, "closes a loop, which this kind cannot") != NULL, "%s", said);
    tal_diagnostics_destroy(found);
}

END_TEST

START_TEST(a_locked_coordinate_of_a_ball_stays_where_it_is)
{
    tal_model model = read_text(
        ONE_BODY(PLACED("BallJoint", "<coordinates><Coordinate name='a'/><Coordinate name='b'>"
                                     "<locked>true</locked><default_value>0.2</default_value>"
                                     "</Coordinate><Coordinate name='c'/></coordinates>")));
    ck_assert_str_eq(tal_body_mobilizer(model.matter, (tal_body_ix){1}), "gimbal");
    realize(&model, TAL_STAGE_ACCELERATION);
    ck_assert(tal_state_udot(model.state)[1] == 0.0);
    ck_assert(tal_body_q(model.matter, model.state, (tal_body_ix){1}, 1) == 0.2);
    tal_model_destroy(&model);
}

END_TEST

START_TEST(a_reversed_joint_places_its_parent_in_its_child)
{
    static const char forward[] = DOC(
        "30000",
        BODIES("<Body name='ground'/>" BODY(
            "b",
            "<Joint><PinJoint name='p'><parent_body>ground</parent_body><location_in_parent>1 0 0"
            "</location_in_parent><location>0 1 0</location><CoordinateSet><objects><Coordinate "
            "name='q'/></objects></CoordinateSet><reverse>false</reverse></PinJoint></Joint>")));
    char text[sizeof forward];
    memcpy(text, forward, sizeof forward);
    memcpy(strstr(text, "false"), "true ", 5);
    tal_model a = read_text(forward), b = read_text(text);
    ck_assert_int_eq(tal_body_set_q(a.matter, a.state, (tal_body_ix){1}, 0, 0.7), TAL_OK);
    ck_assert_int_eq(tal_body_set_q(b.matter, b.state, (tal_body_ix){1}, 0, -0.7), TAL_OK);
    realize(&a, TAL_STAGE_POSITION);
    realize(&b, TAL_STAGE_POSITION);
    assert_same_pose(pose_of(&a, "b"), pose_of(&b, "b"), 4.0 * DBL_EPSILON);
    tal_model_destroy(&a);
    tal_model_destroy(&b);
}

END_TEST

START_TEST(axes_of_version_1_5_are_completed)
{
    tal_model model = read_text(DOC(
        "10800",
        BODIES("<Body name='ground'/>" BODY(
            "b", "<Joint><CustomJoint name='p'><parent_body>ground</parent_body><CoordinateSet>"
                 "<objects><Coordinate name='q'/><Coordinate name='s'/></objects></CoordinateSet>"
                 "<TransformAxisSet><objects><TransformAxis name='a'><function><LinearFunction>"
                 "<coefficients>1 0</coefficients></LinearFunction></function><coordinate>q"
                 "</coordinate><is_rotation>true</is_rotation><axis>0 1 0</axis></TransformAxis>"
                 "<TransformAxis name='b'><function><LinearFunction><coefficients>2 0.5"
                 "</coefficients></LinearFunction></function><coordinate>s</coordinate>"
                 "<is_rotation>false</is_rotation><axis>0 0 1</axis></TransformAxis></objects>"
                 "</TransformAxisSet></CustomJoint></Joint>"))));
    const double q[] = {0.4, 0.25};
    ck_assert_int_eq(tal_body_set_all_q(model.matter, model.state, (tal_body_ix){1}, q, 2), TAL_OK);
    realize(&model, TAL_STAGE_POSITION);
    const tal_axis y[] = {TAL_AXIS_Y};
    const tal_xform X = {tal_rotation_from_angles(TAL_BODY_FIXED, 1, y, q), tal_v3(0.0, 0.0, 1.0)};
    assert_same_pose(pose_of(&model, "b"), X, 4.0 * DBL_EPSILON);
    tal_model_destroy(&model);
}

END_TEST

START_TEST(a_custom_joint_without_coordinates_is_a_weld)
{
    tal_model model = read_text(ONE_BODY(CUSTOM(
        "",
        AXIS("rotation1", "", "0 0 1", "<Constant name='function'><value>0.3</value></Constant>")
            AXIS("rotation2", "", "0 1 0", "") AXIS("rotation3", "", "1 0 0", "")
                AXIS("translation1", "", "0 2 0",
                     "<Constant name='function'><value>0.5</value></Constant>"))));
    realize(&model, TAL_STAGE_POSITION);
    const double angle = 0.3;
    const tal_axis z[] = {TAL_AXIS_Z};
    // 0.5 along an axis of length 2
    const tal_xform X = {tal_rotation_from_angles(TAL_BODY_FIXED, 1, z, &angle),
                         tal_v3(0.0, 1.0, 0.0)};
    ck_assert_int_eq(tal_state_nq(model.state), 0);
    assert_same_pose(pose_of(&model, "b"), X, 4.0 * DBL_EPSILON);
    tal_model_destroy(&model);
}

END_TEST

// --- the tree ---

START_TEST(a_body_that_nothing_holds_is_free)
{
    tal_model model = read_text(
        DOC("40000", BODIES(BODY("b", "") BODY("c", "")) JOINTS(
                         "<PinJoint name='p'>" SOCKETS("/bodyset/b", "/bodyset/c") "</PinJoint>")));
    ck_assert_int_eq(tal_state_nq(model.state), 7);
    int i;
    ck_assert_int_eq(
        tal_matter_find_coordinate(model.matter, model.state, "b_freejoint_coord_5", &i).i, 1);
    ck_assert_int_eq(i, 5);
    tal_model_destroy(&model);
}

END_TEST

// Two pins in a row on one body close a loop: it cannot move.
START_TEST(a_second_joint_on_a_body_closes_a_loop)
{
    tal_model model = read_text(DOC(
        "40000",
        BODIES(BODY("b", "")) JOINTS("<PinJoint name='p'>" SOCKETS(
            "/ground",
            "/bodyset/b") "</PinJoint>"
                          "<PinJoint name='r'><socket_parent_frame>g</socket_parent_frame>"
                          "<socket_child_frame>c</socket_child_frame><frames><PhysicalOffsetFrame "
                          "name='g'><socket_parent>/ground</socket_parent><translation>1 0 0"
                          "</translation></PhysicalOffsetFrame><PhysicalOffsetFrame name='c'>"
                          "<socket_parent>/bodyset/b</socket_parent><translation>1 0 0"
                          "</translation></PhysicalOffsetFrame></frames></PinJoint>")));
    realize(&model, TAL_STAGE_ACCELERATION);
    ck_assert_int_eq(tal_state_nq(model.state), 2);
    // weights of 20 N at levers of 0.3 m on inertias of 0.5 kg m^2 make 10 rad/s^2 of round-off
    ck_assert_double_le(fabs(tal_state_udot(model.state)[0]), 1e-12);
    tal_model_destroy(&model);
}

END_TEST

#define FRAMES                                                                                     \
    "<components><PhysicalOffsetFrame name='f'><socket_parent>..</socket_parent>"                  \
    "<translation>0 0 1</translation><components><PhysicalOffsetFrame name='g'><socket_parent>"    \
    "..</socket_parent><translation>0 2 0</translation></PhysicalOffsetFrame></components>"        \
    "</PhysicalOffsetFrame></components>"
#define MARKERS                                                                                    \
    "<MarkerSet><objects><Marker name='x'><socket_parent_frame>%s</socket_parent_frame><location>" \
    "3 0 0</location></Marker><Marker name='y'><socket_parent_frame>/bodyset/b/f/g"                \
    "</socket_parent_frame></Marker></objects></MarkerSet>"

START_TEST(frames_are_found_by_absolute_relative_and_plain_names)
{
    static const char *const ways[] = {"/bodyset/b/f", "../../bodyset/b/f", "b/f",
                                       "/m/bodyset/b/f"};
    for (int k = 0; k < 4; ++k) {
        char text[3000];
        static const char format[] = DOC("40000", BODIES(BODY("b", FRAMES)) MARKERS);
        (void)snprintf(text, sizeof text, format, ways[k]);
        tal_model model = read_text(text);
        ck_assert_int_eq(model.num_markers, 2);
        const double x[] = {3.0, 0.0, 1.0}, y[] = {0.0, 2.0, 1.0};
        test_assert_near(&model.markers[0].p_BS.x, x, 3, 0.0, ways[k]);
        test_assert_near(&model.markers[1].p_BS.x, y, 3, 0.0, "nested");
        tal_model_destroy(&model);
    }
    char text[3000]; // Ground has markers as well
    static const char format[] = DOC("40000", BODIES(BODY("b", FRAMES)) MARKERS);
    (void)snprintf(text, sizeof text, format, "/ground");
    tal_model model = read_text(text);
    ck_assert_int_eq(model.num_markers, 2);
    ck_assert_int_eq(model.markers[0].body.i, 0);
    tal_model_destroy(&model);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("io/osim_joints");
    TCase *tc = tcase_create("osim_joints");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, every_kind_of_joint_becomes_its_mobilizer);
    tcase_add_test(tc, a_shoulder_blade_slides_on_an_ellipsoid_and_wings);
    tcase_add_test(tc, an_ellipsoid_with_a_motion_has_rates);
    tcase_add_test(tc, a_shoulder_blade_does_not_close_a_loop);
    tcase_add_test(tc, a_locked_coordinate_of_a_ball_stays_where_it_is);
    tcase_add_test(tc, a_reversed_joint_places_its_parent_in_its_child);
    tcase_add_test(tc, axes_of_version_1_5_are_completed);
    tcase_add_test(tc, a_custom_joint_without_coordinates_is_a_weld);
    tcase_add_test(tc, a_body_that_nothing_holds_is_free);
    tcase_add_test(tc, a_second_joint_on_a_body_closes_a_loop);
    tcase_add_test(tc, frames_are_found_by_absolute_relative_and_plain_names);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
