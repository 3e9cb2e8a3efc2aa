// io/src/opensim/: models of OpenSim become Systems.
#include "talus_test.h"

#include <talus/talus.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CORPUS TALUS_SOURCE_DIR "/tests/fuzz/corpus_osim/"

// --- helpers ---

static void say_all(const tal_diagnostics *found, char said[], size_t size)
{
    said[0] = '\0';
    for (int i = 0; i < tal_diagnostics_num(found); ++i) {
        char line[TAL_DIAGNOSTIC_SIZE];
        const size_t used = strlen(said);
        (void)snprintf(said + used, size - used, "%s\n",
                       tal_diagnostic_text(tal_diagnostics_at(found, i), line));
    }
}

// What reading a text says, line by line; it is refused if there is an error among it.
static void assert_says(const char *text, const char *expected)
{
    tal_model model;
    char said[8000];
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_osim_read_memory("m", text, strlen(text), NULL, &model, found);
    say_all(found, said, sizeof said);
    ck_assert_str_eq(said, expected);
    ck_assert((st == TAL_OK) == (tal_diagnostics_num_errors(found) == 0));
    ck_assert((st == TAL_OK) == (model.system != NULL));
    tal_diagnostics_destroy(found);
    tal_model_destroy(&model);
}

static tal_model read_text(const char *text)
{
    tal_model model;
    char said[8000];
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_osim_read_memory("m", text, strlen(text), NULL, &model, found);
    say_all(found, said, sizeof said);
    ck_assert_msg(st == TAL_OK, "%s", said);
    tal_diagnostics_destroy(found);
    return model;
}

static tal_model read_leg(const char *path)
{
    tal_model model;
    char said[8000];
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(tal_osim_read_file(path, NULL, &model, found), TAL_OK);
    say_all(found, said, sizeof said);
    ck_assert_str_eq(said, "");
    tal_diagnostics_destroy(found);
    return model;
}

static void realize(const tal_model *model, tal_stage stage)
{
    ck_assert_msg(tal_system_realize(model->system, model->state, stage) == TAL_OK, "%s",
                  tal_state_error(model->state)->message);
}

static tal_xform pose_of(const tal_model *model, const char *body)
{
    const tal_body_ix ix = tal_matter_find_body(model->matter, body);
    ck_assert_int_ge(ix.i, 0);
    return tal_body_X_GB(model->matter, model->state, ix);
}

static void assert_same_pose(tal_xform a, tal_xform b, double tol)
{
    test_assert_m3_near(a.R, b.R, tol);
    test_assert_near(&a.p.x, &b.p.x, 3, tol, "p");
}

// --- texts ---

#define DOC(version, inside)                                                                       \
    "<OpenSimDocument Version='" version "'><Model name='m'>" inside "</Model></OpenSimDocument>"
#define BODY(name, inside)                                                                         \
    "<Body name='" name "'><mass>2</mass><mass_center>0.1 0.2 0.3</mass_center>"                   \
    "<inertia>0.4 0.5 0.6 0.01 0.02 0.03</inertia>" inside "</Body>"
#define BODIES(list)      "<BodySet><objects>" list "</objects></BodySet>"
#define JOINTS(list)      "<JointSet><objects>" list "</objects></JointSet>"
#define CONSTRAINTS(list) "<ConstraintSet><objects>" list "</objects></ConstraintSet>"
#define FORCES(list)      "<ForceSet><objects>" list "</objects></ForceSet>"
#define SOCKETS(p, c)                                                                              \
    "<socket_parent_frame>" p "</socket_parent_frame><socket_child_frame>" c "</socket_child_frame>"
// between frames that are off the origins of both bodies, and turned
#define OFF_GROUND                                                                                 \
    "<PhysicalOffsetFrame name='on_ground'><socket_parent>/ground</socket_parent>"                 \
    "<translation>1 2 3</translation><orientation>0.3 -0.2 0.1</orientation>"                      \
    "</PhysicalOffsetFrame>"
#define OFF_BODY                                                                                   \
    "<PhysicalOffsetFrame name='on_b'><socket_parent>/bodyset/b</socket_parent>"                   \
    "<translation>0.1 -0.1 0.2</translation><orientation>-0.4 0.5 0.2</orientation>"               \
    "</PhysicalOffsetFrame>"
#define BETWEEN_THEM       "<frames>" OFF_GROUND OFF_BODY "</frames>" SOCKETS("on_ground", "on_b")
#define PLACED(kind, rest) "<" kind " name='j'>" BETWEEN_THEM rest "</" kind ">"
#define ONE_BODY(joint)    DOC("40000", BODIES(BODY("b", "")) JOINTS(joint))

static tal_xform placed(double a, double b, double c, double x, double y, double z)
{
    const tal_axis axes[] = {TAL_AXIS_X, TAL_AXIS_Y, TAL_AXIS_Z};
    const double angles[] = {a, b, c};
    return (tal_xform){tal_rotation_from_angles(TAL_BODY_FIXED, 3, axes, angles), tal_v3(x, y, z)};
}

// --- versions ---

START_TEST(the_same_leg_is_read_from_files_of_three_layouts)
{
    static const char *const files[] = {"leg_40000.osim", "leg_30508.osim", "leg_30000.osim"};
    static char texts[3][40000];
    for (int i = 0; i < 3; ++i) {
        char path[500];
        size_t length = 0;
        (void)snprintf(path, sizeof path, "%s%s", CORPUS, files[i]);
        tal_model model = read_leg(path);
        ck_assert_int_eq(
            tal_model_write_memory(&model, NULL, texts[i], sizeof texts[i], &length, NULL), TAL_OK);
        ck_assert_uint_lt(length, sizeof texts[i]);
        tal_model_destroy(&model);
    }
    ck_assert_str_eq(texts[0], texts[1]);
    ck_assert_str_eq(texts[0], texts[2]);
}

END_TEST

// The State of a model is the same, byte for byte, after it was written and read: also when joints
// stand in the file in another order than their bodies in the tree.
START_TEST(a_model_that_is_written_and_read_has_the_same_state)
{
    static char text[20000];
    tal_model model = read_text(
        "<OpenSimDocument Version='40000'><Model><BodySet><objects><Body name='a'><mass>1</mass>"
        "<inertia>1 1 1 0 0 0</inertia></Body><Body name='b'><mass>1</mass><inertia>1 1 1 0 0 0"
        "</inertia></Body></objects></BodySet><JointSet><objects><PinJoint name='second'>"
        "<socket_parent_frame>/bodyset/a</socket_parent_frame><socket_child_frame>/bodyset/b"
        "</socket_child_frame><coordinates><Coordinate name='y'><range>-3 3</range><clamped>true"
        "</clamped></Coordinate></coordinates></PinJoint><PinJoint name='first'>"
        "<socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/a"
        "</socket_child_frame><coordinates><Coordinate name='x'><range>-1 1</range><clamped>true"
        "</clamped></Coordinate></coordinates></PinJoint></objects></JointSet></Model>"
        "</OpenSimDocument>");
    tal_model again;
    size_t length = 0;
    ck_assert_int_eq(tal_model_write_memory(&model, NULL, text, sizeof text, &length, NULL),
                     TAL_OK);
    ck_assert_int_eq(tal_model_read_memory("again", text, length, NULL, &again, NULL), TAL_OK);
    static unsigned char bytes[2][20000];
    const size_t size = tal_state_save_size(model.state);
    ck_assert_uint_eq(size, tal_state_save_size(again.state));
    ck_assert_uint_le(size, sizeof bytes[0]);
    ck_assert_int_eq(tal_state_save(model.state, bytes[0], size), TAL_OK);
    ck_assert_int_eq(tal_state_save(again.state, bytes[1], size), TAL_OK);
    ck_assert_mem_eq(bytes[0], bytes[1], size);
    tal_model_destroy(&model);
    tal_model_destroy(&again);
}

END_TEST

// The knee and the hip by their formulas; splines and scales by Talus' own functions.
START_TEST(the_leg_stands_where_its_functions_say)
{
    tal_model model = read_leg(CORPUS "leg_40000.osim");
    realize(&model, TAL_STAGE_POSITION);
    // few products of rotations with entries of one, and distances of one
    const double tol = 20.0 * DBL_EPSILON;
    const tal_axis z[] = {TAL_AXIS_Z}, zxy[] = {TAL_AXIS_Z, TAL_AXIS_X, TAL_AXIS_Y};
    const double tilt = 0.05, hip[] = {0.3, 0.1, 0.02}, knee = -0.6;
    const tal_xform X_GP = {tal_rotation_from_angles(TAL_BODY_FIXED, 1, z, &tilt),
                            tal_v3(0.2, 0.93, 0.0)};
    const tal_xform X_PF =
        tal_xf_mul(tal_xf_from_p(tal_v3(-0.07, -0.066, 0.083)),
                   tal_xf_from_R(tal_rotation_from_angles(TAL_BODY_FIXED, 3, zxy, hip)));
    const double at[] = {-2.1, -1.5, -0.9, -0.3, 0.2};
    const double x[] = {-0.003, 0.002, 0.004, -0.001, -0.005};
    const double y[] = {-0.42, -0.41, -0.40, -0.396, -0.395};
    tal_function *fx = NULL, *fy = NULL;
    ck_assert_int_eq(tal_function_create_spline(NULL, at, x, 5, TAL_SPLINE_SIMM, &fx, NULL), 0);
    ck_assert_int_eq(tal_function_create_spline(NULL, at, y, 5, TAL_SPLINE_SIMM, &fy, NULL), 0);
    const tal_xform X_FT = {tal_rotation_from_angles(TAL_BODY_FIXED, 1, z, &knee),
                            tal_v3(0.95 * tal_function_calc_value_1(fx, knee),
                                   tal_function_calc_value_1(fy, knee), 0.0)};
    const tal_xform X_GF = tal_xf_mul(X_GP, X_PF);
    assert_same_pose(pose_of(&model, "pelvis"), X_GP, tol);
    assert_same_pose(pose_of(&model, "femur"), X_GF, tol);
    assert_same_pose(pose_of(&model, "tibia"), tal_xf_mul(X_GF, X_FT), tol);
    tal_function_destroy(fx);
    tal_function_destroy(fy);
    tal_model_destroy(&model);
}

END_TEST

START_TEST(the_leg_has_its_masses_markers_locks_ranges_and_forces)
{
    tal_model model = read_leg(CORPUS "leg_30000.osim");
    realize(&model, TAL_STAGE_INSTANCE);
    ck_assert_double_eq_tol(tal_matter_mass(model.matter, model.state), 22.69, 1e-14);
    const tal_mass_props tibia =
        tal_body_mass_props(model.matter, model.state, tal_matter_find_body(model.matter, "tibia"));
    // about the origin: I + m (c.c 1 - c c)
    ck_assert_double_eq_tol(tibia.inertia.zz, 0.046 + 3.6 * (0.002 * 0.002 + 0.18 * 0.18), 1e-15);
    ck_assert_int_eq(model.num_markers, 3);
    ck_assert_str_eq(model.markers[2].name, "heel");
    ck_assert_int_eq(model.markers[2].body.i, tal_matter_find_body(model.matter, "foot").i);
    int i = -1;
    const tal_body_ix foot =
        tal_matter_find_coordinate(model.matter, model.state, "ankle_angle", &i);
    ck_assert_int_eq(tal_mobility_lock_level(model.matter, model.state, (tal_mobility){foot, i}),
                     TAL_LEVEL_POSITION);
    double low, high;
    const tal_body_ix shank =
        tal_matter_find_coordinate(model.matter, model.state, "knee_angle", &i);
    ck_assert_int_eq(tal_body_range(model.matter, model.state, shank, i, &low, &high), TAL_OK);
    ck_assert(low == -2.1 && high == 0.2);
    ck_assert(tal_body_u(model.matter, model.state, shank, i) == 0.1); // of <defaults>
    static const char *const forces[] = {"hip_motor", "band", "ankle_spring", "floor_force",
                                         "ankle_bushing"};
    for (int k = 0; k < 5; ++k) {
        ck_assert_int_ge(tal_forces_find(model.forces, forces[k]).i, 0);
    }
    tal_model_destroy(&model);
}

END_TEST

// q_dep = scale (1.5 q + 0.02)
START_TEST(a_coupler_holds_after_projection)
{
    tal_model model = read_leg(CORPUS "leg_40000.osim");
    tal_error err;
    tal_assembler *assembler = NULL;
    tal_assembly found;
    const tal_assembler_def def = tal_assembler_def_default();
    ck_assert_int_eq(tal_assembler_create(model.system, &def, &assembler, &err), TAL_OK);
    ck_assert_int_eq(tal_assembler_assemble(assembler, model.state, &found), TAL_OK);
    int i, k;
    const tal_body_ix knee =
        tal_matter_find_coordinate(model.matter, model.state, "knee_angle", &i);
    const tal_body_ix cap =
        tal_matter_find_coordinate(model.matter, model.state, "kneecap_angle", &k);
    const double q = tal_body_q(model.matter, model.state, knee, i);
    // the assembler's tolerance is 1e-10
    ck_assert_double_eq_tol(tal_body_q(model.matter, model.state, cap, k), 0.66 * (1.5 * q + 0.02),
                            1e-9);
    tal_assembler_destroy(assembler);
    tal_model_destroy(&model);
}

END_TEST

// A constraint takes coordinates for speeds' integrals, so balls that it names become gimbals.
START_TEST(a_coupled_coordinate_of_a_ball_has_a_rate)
{
    static const char head[] =
        "<OpenSimDocument Version='40000'><Model><BodySet><objects><Body name='b'><mass>1</mass>"
        "<inertia>1 1 1 0 0 0</inertia></Body></objects></BodySet><JointSet><objects><BallJoint "
        "name='j'><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/b"
        "</socket_child_frame><coordinates><Coordinate name='x'/><Coordinate name='y'/><Coordinate "
        "name='z'/></coordinates></BallJoint></objects></JointSet>";
    static const char coupler[] =
        "<ConstraintSet><objects><CoordinateCouplerConstraint name='c'><LinearFunction "
        "name='coupled_coordinates_function'><coefficients>0.5 0</coefficients></LinearFunction>"
        "<independent_coordinate_names>x</independent_coordinate_names>"
        "<dependent_coordinate_name>z</dependent_coordinate_name></CoordinateCouplerConstraint>"
        "</objects></ConstraintSet>";
    for (int is_coupled = 0; is_coupled < 2; ++is_coupled) {
        char text[2000];
        (void)snprintf(text, sizeof text, "%s%s</Model></OpenSimDocument>", head,
                       is_coupled ? coupler : "");
        tal_model model = read_text(text);
        ck_assert_str_eq(tal_body_mobilizer(model.matter, (tal_body_ix){1}),
                         is_coupled ? "gimbal" : "ball");
        tal_model_destroy(&model);
    }
}

END_TEST

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

#define AXIS(name, coords, axis, function)                                                         \
    "<TransformAxis name='" name "'><coordinates>" coords "</coordinates><axis>" axis              \
    "</axis>" function "</TransformAxis>"
#define CUSTOM(coordinates, axes)                                                                  \
    "<CustomJoint name='j'>" SOCKETS("/ground",                                                    \
                                     "/bodyset/b") "<coordinates>" coordinates                     \
                                                   "</coordinates><SpatialTransform>" axes         \
                                                   "</SpatialTransform></CustomJoint>"

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
                          "<socket_parent>/bodyset/b</socket_parent><translation>1 0 0</translation>"
                          "</PhysicalOffsetFrame></frames></PinJoint>")));
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

// --- functions ---

// The value that a coordinate follows at a time.
static double prescribed(const char *function, double t)
{
    char text[2000];
    (void)snprintf(
        text, sizeof text,
        DOC("40000", BODIES(BODY("b", "")) JOINTS("<PinJoint name='p'>" SOCKETS(
                         "/ground",
                         "/bodyset/b") "<coordinates><Coordinate name='q'><prescribed>true"
                                       "</prescribed><prescribed_function>%s</prescribed_function>"
                                       "</Coordinate></coordinates></PinJoint>")),
        function);
    tal_model model = read_text(text);
    ck_assert_int_eq(tal_state_set_t(model.state, t), TAL_OK);
    ck_assert_int_eq(tal_system_prescribe_and_project(model.system, model.state, NULL, NULL),
                     TAL_OK);
    const double q = tal_body_q(model.matter, model.state, (tal_body_ix){1}, 0);
    tal_model_destroy(&model);
    return q;
}

START_TEST(functions_have_their_values)
{
    const double tol = 1e-15; // values below one, a few operations each
    ck_assert_double_eq_tol(prescribed("<Constant><value>0.3</value></Constant>", 2.0), 0.3, tol);
    ck_assert_double_eq_tol(
        prescribed("<LinearFunction><coefficients>2 0.1</coefficients></LinearFunction>", 0.2), 0.5,
        tol);
    ck_assert_double_eq_tol(
        prescribed("<PolynomialFunction><coefficients>1 2 3</coefficients></PolynomialFunction>",
                   0.1),
        3.21, 4.0 * tol);
    ck_assert_double_eq_tol(prescribed("<Sine><amplitude>2</amplitude><omega>3</omega><phase>0.1"
                                       "</phase><offset>-1</offset></Sine>",
                                       0.2),
                            2.0 * sin(0.7) - 1.0, 2.0 * tol);
    // half way up
    ck_assert_double_eq_tol(
        prescribed("<StepFunction><start_time>0</start_time><end_time>1</end_time><start_value>-1"
                   "</start_value><end_value>2</end_value></StepFunction>",
                   0.5),
        0.5, tol);
    ck_assert_double_eq_tol(
        prescribed(
            "<PiecewiseLinearFunction><x>0 1 3</x><y>0, 2, (1)</y></PiecewiseLinearFunction>", 2.0),
        1.5, tol);
    // both splines reproduce what they are made for: a cubic between its ends, a parabola
    ck_assert_double_eq_tol(
        prescribed("<SimmSpline><x>-1 0 1 2 3</x><y>-1 0 1 8 27</y></SimmSpline>", 0.5), 0.125,
        50.0 * tol);
    ck_assert_double_eq_tol(prescribed("<GCVSpline><half_order>3</half_order><x>-1 0 1 2 3 4</x>"
                                       "<y>1 0 1 4 9 16</y></GCVSpline>",
                                       0.5),
                            0.25, 50.0 * tol);
    ck_assert_double_eq_tol(
        prescribed("<MultiplierFunction><function><MultiplierFunction><function><Constant><value>5"
                   "</value></Constant></function><scale>0.5</scale></MultiplierFunction>"
                   "</function><scale>0.1</scale></MultiplierFunction>",
                   0.0),
        0.25, tol);
}

END_TEST

// --- constraints and forces ---

START_TEST(constraints_become_ours)
{
    tal_model model = read_text(
        DOC("40000",
            BODIES(BODY("b", "") BODY("c", "")) CONSTRAINTS(
                "<WeldConstraint name='w'><socket_frame1>/bodyset/b</socket_frame1><socket_frame2>"
                "/bodyset/c</socket_frame2></WeldConstraint>"
                "<PointConstraint name='p'><isEnforced>false</isEnforced><socket_body_1>/ground"
                "</socket_body_1><socket_body_2>/bodyset/c</socket_body_2><location_body_1>1 2 3"
                "</location_body_1></PointConstraint>"
                "<PointOnLineConstraint name='l'><isEnforced>false</isEnforced><socket_line_body>"
                "/ground</socket_line_body><socket_follower_body>/bodyset/b</socket_follower_body>"
                "<line_direction_vec>0 1 0</line_direction_vec></PointOnLineConstraint>"
                "<ConstantDistanceConstraint><isEnforced>false</isEnforced><socket_body_1>/ground"
                "</socket_body_1><socket_body_2>/bodyset/c</socket_body_2><constant_distance>2"
                "</constant_distance></ConstantDistanceConstraint>"
                "<RollingOnSurfaceConstraint name='r'><isEnforced>false</isEnforced>"
                "</RollingOnSurfaceConstraint>")));
    realize(&model, TAL_STAGE_INSTANCE);
    ck_assert_int_eq(tal_matter_num_constraints(model.matter), 4);
    ck_assert_int_eq(tal_state_pool_size(model.state, TAL_POOL_QERR), 6); // the weld alone
    static const char *const names[] = {"w", "p", "l"};
    for (int i = 0; i < 3; ++i) {
        const tal_constraint_ix ix = tal_matter_find_constraint(model.matter, names[i]);
        ck_assert_int_eq(ix.i, i);
        ck_assert(tal_constraint_is_enabled(model.matter, model.state, ix) == (i == 0));
    }
    tal_model_destroy(&model);
}

END_TEST

// The forces of one element on one body, at the default pose and the given control.
static tal_spatial_vec force_on(const char *force, const char *name, int control)
{
    char text[3000];
    (void)snprintf(
        text, sizeof text,
        DOC("40000", BODIES(BODY("b", "") BODY("c", "")) JOINTS("<FreeJoint name='p'>" SOCKETS(
                         "/ground",
                         "/bodyset/b") "<coordinates><Coordinate name='rx'/><Coordinate name='ry'/>"
                                       "<Coordinate name='rz'><default_value>1.5707963267948966"
                                       "</default_value></Coordinate></coordinates></FreeJoint>"
                                       "<WeldJoint name='w'>" SOCKETS(
                                           "/ground", "/bodyset/c") "</WeldJoint>") FORCES("%s")),
        force);
    tal_model model = read_text(text);
    const tal_force_ix ix = tal_forces_find(model.forces, name);
    ck_assert_int_ge(ix.i, 0);
    const double x = 2.0;
    if (control >= 0) {
        ck_assert_int_eq(tal_force_set_params(model.forces, model.state, ix, control, &x, 1), 0);
    }
    realize(&model, TAL_STAGE_VELOCITY);
    tal_spatial_vec F[3];
    double f[6];
    ck_assert_int_eq(tal_forces_calc_sum(model.forces, model.state, &ix, 1, F, f), TAL_OK);
    const int b = tal_matter_find_body(model.matter, "b").i;
    tal_model_destroy(&model);
    return F[b];
}

START_TEST(actuators_act_where_the_file_says)
{
    // twice 5 N along x of the body, which points along y of Ground
    tal_spatial_vec F = force_on("<PointActuator name='a'><body>b</body><point>0 0 0</point>"
                                 "<direction>3 0 0</direction><optimal_force>5</optimal_force>"
                                 "</PointActuator>",
                                 "a", TAL_POINT_ACTUATOR_CONTROL);
    const double along_y[] = {0.0, 10.0, 0.0}, about_y[] = {0.0, 14.0, 0.0};
    test_assert_near(&F.v.x, along_y, 3, 1e-14, "force");
    F = force_on("<TorqueActuator name='a'><bodyA>b</bodyA><axis>0 1 0</axis><optimal_force>7"
                 "</optimal_force></TorqueActuator>",
                 "a", TAL_TORQUE_ACTUATOR_CONTROL);
    test_assert_near(&F.w.x, about_y, 3, 1e-14, "torque in ground");
    F = force_on("<TorqueActuator name='a'><bodyA>b</bodyA><bodyB>c</bodyB><axis>1 0 0</axis>"
                 "<torque_is_global>false</torque_is_global><optimal_force>7</optimal_force>"
                 "</TorqueActuator>",
                 "a", TAL_TORQUE_ACTUATOR_CONTROL);
    test_assert_near(&F.w.x, about_y, 3, 1e-14, "torque in the body");
    // between two bodies, about y of Ground: about -x of the body
    F = force_on("<TorqueActuator name='a'><bodyA>c</bodyA><bodyB>b</bodyB><axis>0 1 0</axis>"
                 "<torque_is_global>true</torque_is_global><optimal_force>-7</optimal_force>"
                 "</TorqueActuator>",
                 "a", TAL_TORQUE_ACTUATOR_CONTROL);
    test_assert_near(&F.w.x, about_y, 3, 1e-14, "torque in ground on the second body");
    // 10 N along y at (1, 2, 3) of Ground: a moment (-30, 0, 10)
    F = force_on("<PointActuator name='a'><body>b</body><point>1 2 3</point>"
                 "<point_is_global>true</point_is_global><direction>0 1 0</direction>"
                 "<force_is_global>true</force_is_global><optimal_force>5</optimal_force>"
                 "</PointActuator>",
                 "a", TAL_POINT_ACTUATOR_CONTROL);
    const double moment[] = {-30.0, 0.0, 10.0};
    test_assert_near(&F.v.x, along_y, 3, 1e-14, "force in ground");
    test_assert_near(&F.w.x, moment, 3, 1e-14, "point in ground");
    // the second control of the force is that along y; in the body, that along x is
    F = force_on("<BodyActuator name='a'><socket_body>/bodyset/b</socket_body></BodyActuator>", "a",
                 TAL_BODY_ACTUATOR_CONTROL + 4);
    const double two_along_y[] = {0.0, 2.0, 0.0};
    test_assert_near(&F.v.x, two_along_y, 3, 1e-14, "force on a body");
    F = force_on("<BodyActuator name='a'><socket_body>/bodyset/b</socket_body>"
                 "<spatial_force_is_global>false</spatial_force_is_global></BodyActuator>",
                 "a", TAL_BODY_ACTUATOR_CONTROL + 3);
    test_assert_near(&F.v.x, two_along_y, 3, 1e-14, "force on a body, in it");
}

END_TEST

#define CONSTANT(value) "<Constant><value>" value "</value></Constant>"
#define FUNCTIONS(name, x, y, z)                                                                   \
    "<FunctionSet name='" name "'><objects>" CONSTANT(x) CONSTANT(y) CONSTANT(z) "</objects>"      \
                                                                                 "</FunctionSet>"

// The body is turned by 90 degrees about z: its x is y of Ground.
START_TEST(prescribed_forces_act_where_the_file_says)
{
    const double along_y[] = {0.0, 5.0, 0.0}, about_z[] = {0.0, 0.0, -10.0};
    tal_spatial_vec F =
        force_on("<PrescribedForce name='a'><socket_frame>/bodyset/b</socket_frame>"
                 "<forceIsGlobal>false</forceIsGlobal>" FUNCTIONS("forceFunctions", "5", "0", "0")
                     FUNCTIONS("pointFunctions", "0", "2", "0") "</PrescribedForce>",
                 "a", -1);
    // at (-2, 0, 0) of Ground
    test_assert_near(&F.v.x, along_y, 3, 1e-14, "force in the body");
    test_assert_near(&F.w.x, about_z, 3, 1e-14, "point in the body");
    F = force_on(
        "<PrescribedForce name='a'><body>b</body><pointIsGlobal>true</pointIsGlobal>"
        "<forceFunctions>" FUNCTIONS(
            "", "0", "5", "0") "</forceFunctions>"
                               "<pointFunctions>" FUNCTIONS(
                                   "", "-3", "0", "0") "</pointFunctions>"
                                                       "<torqueFunctions>" FUNCTIONS(
                                                           "", "0", "0", "5") "</torqueFunctions>"
                                                                              "</PrescribedForce>",
        "a", -1);
    test_assert_near(&F.v.x, along_y, 3, 1e-14, "force in ground");
    test_assert_near(&F.w.x, about_z, 3, 1e-14, "point in ground, and a torque");
}

END_TEST

// 10 degrees beyond the limit and 5 beyond the transition: 10 times 2 N m per degree. A slider has
// meters: 0.3 m beyond it, 4 N/m.
START_TEST(limits_of_angles_are_in_degrees)
{
    static const struct {
        const char *joint, *value, *limit;
        double force;
    } cases[] = {{"PinJoint", "1.7453292519943295",
                  "<upper_limit>90</upper_limit><lower_limit>-90</lower_limit>"
                  "<upper_stiffness>2</upper_stiffness><transition>5</transition>",
                  -20.0},
                 {"SliderJoint", "-1.3",
                  "<upper_limit>1</upper_limit><lower_limit>-1</lower_limit>"
                  "<lower_stiffness>4</lower_stiffness><transition>0.1</transition>",
                  1.2}};

    for (int k = 0; k < 2; ++k) {
        char text[3000];
        (void)snprintf(
            text, sizeof text,
            DOC("40000",
                BODIES(BODY("b", "")) JOINTS("<%s name='p'>" SOCKETS(
                    "/ground", "/bodyset/b") "<coordinates><Coordinate name='q'><default_value>%s"
                                             "</default_value></Coordinate></coordinates></%s>")
                    FORCES("<CoordinateLimitForce name='l'><coordinate>q</coordinate>%s"
                           "</CoordinateLimitForce>")),
            cases[k].joint, cases[k].value, cases[k].joint, cases[k].limit);
        tal_model model = read_text(text);
        const tal_force_ix ix = tal_forces_find(model.forces, "l");
        realize(&model, TAL_STAGE_VELOCITY);
        tal_spatial_vec F[2];
        double f[1];
        ck_assert_int_eq(tal_forces_calc_sum(model.forces, model.state, &ix, 1, F, f), TAL_OK);
        ck_assert_double_eq_tol(f[0], cases[k].force, 1e-12);
        tal_model_destroy(&model);
    }
}

END_TEST

// Every number of a smooth contact arrives in its place.
START_TEST(a_smooth_contact_has_the_numbers_of_the_file)
{
    tal_model model = read_text(DOC(
        "40000",
        BODIES(BODY("b", "")) JOINTS("<FreeJoint name='p'>" SOCKETS(
            "/ground",
            "/bodyset/b") "</FreeJoint>") "<ContactGeometrySet><objects>"
                                          "<ContactHalfSpace name='floor'><socket_frame>"
                                          "/ground</socket_frame></ContactHalfSpace>"
                                          "<ContactSphere name='heel'><socket_frame>"
                                          "/bodyset/b</socket_frame><location>1 2 3"
                                          "</location><radius>0.25</radius>"
                                          "</ContactSphere></objects>"
                                          "</ContactGeometrySet>" FORCES(
                                              "<SmoothSphereHalfSpaceForce name='s'><socket_sphere>/contactgeometryset/heel"
                                              "</socket_sphere><socket_half_space>/contactgeometryset/floor"
                                              "</socket_half_space><stiffness>4</stiffness><dissipation>5</dissipation>"
                                              "<static_friction>0.8</static_friction><dynamic_friction>0.7"
                                              "</dynamic_friction><viscous_friction>0.6</viscous_friction>"
                                              "<transition_velocity>0.5</transition_velocity><constant_contact_force>0.4"
                                              "</constant_contact_force><hertz_smoothing>30</hertz_smoothing>"
                                              "<hunt_crossley_smoothing>20</hunt_crossley_smoothing>"
                                              "</SmoothSphereHalfSpaceForce>")));
    const tal_force_ix s = tal_forces_find(model.forces, "s");
    ck_assert_int_ge(s.i, 0);
    const double center[] = {1.0, 2.0, 3.0};
    const double numbers[] = {0.25, 4.0, 5.0, 0.8, 0.7, 0.6, 0.5, 0.4, 30.0, 20.0};
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_eq(tal_force_param(model.forces, model.state, s, TAL_SMOOTH_CENTER + i),
                            center[i]);
    }
    for (int i = 0; i < 10; ++i) {
        ck_assert_double_eq(tal_force_param(model.forces, model.state, s, TAL_SMOOTH_RADIUS + i),
                            numbers[i]);
    }
    tal_model_destroy(&model);
}

END_TEST

START_TEST(a_force_that_the_file_switches_off_is_off)
{
    for (int k = 0; k < 2; ++k) {
        char text[2000];
        (void)snprintf(
            text, sizeof text,
            DOC("40000",
                BODIES(BODY("b", "")) JOINTS("<PinJoint name='p'>" SOCKETS(
                    "/ground", "/bodyset/b") "<coordinates><Coordinate name='q'/></coordinates>"
                                             "</PinJoint>")
                    FORCES("<SpringGeneralizedForce name='s'>%s<coordinate>q"
                           "</coordinate><stiffness>3</stiffness><viscosity>1"
                           "</viscosity></SpringGeneralizedForce>")),
            k == 0 ? "<appliesForce>false</appliesForce>" : "<isDisabled>true</isDisabled>");
        tal_model model = read_text(text);
        realize(&model, TAL_STAGE_INSTANCE);
        static const char *const names[] = {"s", "s_viscosity"};
        for (int i = 0; i < 2; ++i) {
            const tal_force_ix ix = tal_forces_find(model.forces, names[i]);
            ck_assert_int_ge(ix.i, 0);
            ck_assert(!tal_force_is_enabled(model.forces, model.state, ix));
        }
        tal_model_destroy(&model);
    }
}

END_TEST

// --- what is wrong ---

START_TEST(documents_that_are_no_models_are_refused)
{
    assert_says("<OpenSimDocument Version='30000'/>",
                "m:1:1: error: <OpenSimDocument> has no <Model>; this is not a model\n");
    assert_says("<Model/>", "m:1:1: warning: <Model> has no Version; it is read as 1.5\n");
    assert_says("<OpenSimDocument Version='x'><Model/></OpenSimDocument>",
                "m:1:1: error: <OpenSimDocument>: its Version is 'x'\n");
    assert_says(DOC("20000", "<ForceSet file='f.xml'/>"),
                "m:1:50: error: <ForceSet> is in another file, 'f.xml'; put it into this one\n");
}

END_TEST

#define BAD_BODIES                                                                                 \
    "\n<Body name='b'><mass>-1</mass></Body>\n<Body name='b'/>"                                    \
    "\n<Body name='c'><mass>two</mass><mas_center>0 0 0</mas_center></Body>"
#define BAD_JOINTS                                                                                 \
    "\n<PinJoint name='p'>" SOCKETS("/ground", "/bodyset/d") "</PinJoint>\n<PimJoint name='q'/>"   \
                                                             "\n<PinJoint name='r'>" SOCKETS(      \
                                                                 "/ground", "/bodyset/c")          \
                                                                 MORE_COORDINATES "</PinJoint>"
#define MORE_COORDINATES                                                                           \
    "\n <coordinates><Coordinate name='x'><range>2 1</range></Coordinate>"                         \
    "\n <Coordinate name='y'/></coordinates>"
#define BAD_FORCE "\n<CoordinateActuator name='a'><coordinate>xx</coordinate></CoordinateActuator>"

START_TEST(everything_wrong_is_reported_in_one_pass_with_line_and_column)
{
    assert_says(
        DOC("40000", "\n" BODIES(BAD_BODIES) "\n" JOINTS(BAD_JOINTS) "\n" FORCES(BAD_FORCE)),
        "m:3:1: error: <Body name=\"b\">: mass is -1: it must not be negative\n"
        "m:4:1: error: <Body name=\"b\">: the name is used already\n"
        "m:5:16: error: <mass>: 'two' is not a number\n"
        "m:5:32: warning: <Body> has no property 'mas_center' (did you mean 'mass_center'?)\n"
        "m:7:1: error: <PinJoint name=\"p\">: there is no body or frame '/bodyset/d'\n"
        "m:8:1: error: <PimJoint name=\"q\">: joints of this kind are not read (did you mean "
        "'PinJoint'?)\n"
        "m:10:36: error: <range>: '2 1' is not a lower and an upper bound\n"
        "m:11:2: error: <Coordinate name=\"y\">: <PinJoint> has 1 coordinate, and this is one more\n"
        "m:13:1: error: <CoordinateActuator name=\"a\">: there is no coordinate 'xx' (did you mean 'x'?)\n");
}

END_TEST

START_TEST(custom_joints_are_refused_with_line_and_column)
{
    assert_says(
        ONE_BODY("\n<CustomJoint name='j'>" SOCKETS("/ground", "/bodyset/b") "</CustomJoint>"),
        "m:2:1: error: <CustomJoint name=\"j\"> needs a <SpatialTransform>\n");
    assert_says(
        ONE_BODY("\n" CUSTOM("<Coordinate name='q'/>", "\n" AXIS("rotation1", "r", "0 0 1", ""))),
        "m:3:1: error: <TransformAxis name=\"rotation1\">: 'r' is not a coordinate of joint "
        "'j'\n");
    assert_says(
        ONE_BODY("\n" CUSTOM("<Coordinate name='q'/>", AXIS("rotation1", "", "0 0 1", "")
                                                           AXIS("rotation2", "", "0 0 2", ""))),
        "m:2:1: error: <CustomJoint name=\"j\">: rotation1 and rotation2 have the same "
        "direction\n"
        "m:2:1: error: <CustomJoint name=\"j\">: no axis uses its coordinate 'q'\n");
    assert_says(
        ONE_BODY("\n" CUSTOM(
            "<Coordinate name='q'/>",
            AXIS("rotation1", "q", "0 0 1",
                 "\n<LinearFunction name='function'><coefficients>1</coefficients>"
                 "</LinearFunction>") AXIS("rotation2", "q", "0 1 0",
                                           "\n<SimmSpline name='function'><x>0 1</x><y>0</y>"
                                           "</SimmSpline>")
                AXIS("rotation3", "q", "1 0 0", "\n<ExpressionFunction name='function'/>"))),
        "m:3:1: error: <LinearFunction name=\"function\">: 1 coefficients were given; a linear "
        "function of 1 coordinate needs 2\n"
        "m:4:1: error: <SimmSpline name=\"function\">: there are 2 values of x and 1 of y\n"
        "m:5:1: error: <ExpressionFunction name=\"function\">: functions of this kind are not "
        "read\n");
}

END_TEST

START_TEST(frames_in_a_circle_are_refused)
{
    assert_says(
        DOC("40000", "<ComponentSet><objects>\n<PhysicalOffsetFrame name='f'><socket_parent>"
                     "/componentset/g</socket_parent></PhysicalOffsetFrame>\n<PhysicalOffsetFrame "
                     "name='g'><socket_parent>/componentset/f</socket_parent>"
                     "</PhysicalOffsetFrame></objects></ComponentSet>"),
        "m:2:1: error: <PhysicalOffsetFrame name=\"f\">: frames are fixed on each other in a "
        "circle\n");
}

END_TEST

START_TEST(what_does_not_act_is_said)
{
    assert_says(
        DOC("40000",
            "\n<BodySet><objects><Body name='b'><mass>1</mass><FrameGeometry/></Body>"
            "</objects></BodySet>\n<ForceSet><objects>\n<ExpressionBasedBushingForce name='m'/>"
            "<ExpressionBasedBushingForce name='n'/></objects></ForceSet>\n"
            "<ControllerSet><objects>\n<TrackingController/></objects></ControllerSet>"),
        "m:2:19: warning: <Body name=\"b\">: no joint connects it with ground; it moves freely\n"
        "m:2:48: note: <FrameGeometry> is not read (1 of them)\n"
        "m:4:1: warning: <ExpressionBasedBushingForce> does not act in Talus yet (2 of them)\n"
        "m:6:1: warning: <TrackingController> does not act in Talus (1 of them)\n");
}

END_TEST

START_TEST(a_strict_reader_refuses_what_it_does_not_know)
{
    static const char text[] = DOC("40000", "<grafity>0 0 0</grafity>");
    tal_osim_options options = tal_osim_options_default();
    options.strict = true;
    tal_model model;
    ck_assert_int_eq(tal_osim_read_memory("m", text, sizeof text - 1, &options, &model, NULL),
                     TAL_ERR_FILE);
    options.strict = false;
    ck_assert_int_eq(tal_osim_read_memory("m", text, sizeof text - 1, &options, &model, NULL),
                     TAL_OK);
    tal_model_destroy(&model);
}

END_TEST

START_TEST(inertias_of_no_real_body_are_warned_of_or_refused)
{
    static const char text[] =
        DOC("40000", BODIES("<Body name='b'><mass>1</mass><inertia>1 1 3 0 0 0</inertia></Body>"));
    tal_osim_options options = tal_osim_options_default();
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(tal_osim_read_memory("m", text, sizeof text - 1, &options, &model, found),
                     TAL_OK);
    ck_assert(strstr(tal_diagnostics_at(found, 0)->message, "not physical") != NULL);
    tal_model_destroy(&model);
    options.any_inertia = false;
    ck_assert_int_eq(tal_osim_read_memory("m", text, sizeof text - 1, &options, &model, found),
                     TAL_ERR_FILE);
    tal_diagnostics_destroy(found);
}

END_TEST

// --- looks ---

// Of version 4 and before: a mesh in the folder Geometry, one that is nowhere, and a sphere.
START_TEST(meshes_are_found_beside_the_model)
{
    static const char *const texts[] = {
        DOC("40000", BODIES(BODY("b", "<attached_geometry><Mesh name='m'><mesh_file>bone.obj"
                                      "</mesh_file><scale_factors>2 2 2</scale_factors><Appearance>"
                                      "<color>1 0.5 0</color><opacity>0.5</opacity></Appearance>"
                                      "</Mesh><Mesh><mesh_file>lost.vtp</mesh_file></Mesh><Sphere>"
                                      "<radius>0.1</radius></Sphere></attached_geometry>"))),
        DOC("30000", BODIES(BODY("b", "<VisibleObject><GeometrySet><objects><DisplayGeometry>"
                                      "<geometry_file>bone.obj</geometry_file><color>1 0.5 0"
                                      "</color><opacity>0.5</opacity><scale_factors>2 2 2"
                                      "</scale_factors></DisplayGeometry><DisplayGeometry>"
                                      "<geometry_file>lost.vtp</geometry_file></DisplayGeometry>"
                                      "</objects></GeometrySet></VisibleObject>")))};
    char folder[] = "osim_looks_XXXXXX", model_path[64], geometry[64], mesh[128];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(geometry, sizeof geometry, "%s/Geometry", folder);
    (void)snprintf(mesh, sizeof mesh, "%s/bone.obj", geometry);
    (void)snprintf(model_path, sizeof model_path, "%s/m.osim", folder);
    ck_assert_int_eq(mkdir(geometry, 0700), 0);
    test_write_file(mesh, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    for (int i = 0; i < 2; ++i) {
        tal_model model;
        char said[2000];
        tal_diagnostics *found = tal_diagnostics_create(NULL);
        test_write_file(model_path, texts[i]);
        ck_assert_int_eq(tal_osim_read_file(model_path, NULL, &model, found), TAL_OK);
        say_all(found, said, sizeof said);
        ck_assert_msg(strstr(said, "names a file that is not found, and is not drawn (1 of") !=
                          NULL,
                      "%s", said);
        ck_assert_int_eq(tal_matter_num_decorations(model.matter), 2 - i);
        const tal_decoration *d = tal_matter_decoration(model.matter, 0);
        ck_assert_str_eq(d->text, mesh);
        ck_assert(d->scale == 2.0 && d->opacity == 0.5 && d->color.y == 0.5);
        tal_model_destroy(&model);
        tal_diagnostics_destroy(found);
    }
    (void)remove(model_path);
    (void)remove(mesh);
    (void)rmdir(geometry);
    (void)rmdir(folder);
}

END_TEST

// --- memory ---

START_TEST(reading_a_leg_survives_every_failure_of_memory)
{
    tal_osim_options options = tal_osim_options_default();
    test_heap heap = {.calls = 0};
    options.allocator = test_heap_allocator(&heap);
    tal_model model;
    const char *path = CORPUS "leg_30000.osim";
    ck_assert_int_eq(tal_osim_read_file(path, &options, &model, NULL), TAL_OK);
    tal_model_destroy(&model);
    const int calls = heap.calls;
    // every request of the first hundred, then one in seven
    for (int n = 1; n <= calls; n += n < 100 ? 1 : 7) {
        heap = (test_heap){.refuse_at = n};
        const tal_status st = tal_osim_read_file(path, &options, &model, NULL);
        ck_assert_int_eq(st, TAL_ERR_NO_MEMORY);
        ck_assert_ptr_null(model.system);
        ck_assert_int_eq(heap.live, 0);
    }
}

END_TEST

START_TEST(broken_contracts_are_reported)
{
    tal_model model;
    test_record_breaches();
    test_assert_breach(ck_assert_int_eq(tal_osim_read_file(NULL, NULL, &model, NULL), TAL_ERR_NULL),
                       TAL_ERR_NULL, "the name");
    test_assert_breach(ck_assert_int_eq(tal_osim_read_file("x", NULL, NULL, NULL), TAL_ERR_NULL),
                       TAL_ERR_NULL, "the result");
    (void)tal_contract_set_handler(NULL);
    ck_assert_int_eq(tal_osim_read_file("/no/such.osim", NULL, &model, NULL), TAL_ERR_FILE);
    ck_assert_ptr_null(model.system);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("io/osim");
    TCase *tc = tcase_create("osim");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, the_same_leg_is_read_from_files_of_three_layouts);
    tcase_add_test(tc, a_model_that_is_written_and_read_has_the_same_state);
    tcase_add_test(tc, the_leg_stands_where_its_functions_say);
    tcase_add_test(tc, the_leg_has_its_masses_markers_locks_ranges_and_forces);
    tcase_add_test(tc, a_coupler_holds_after_projection);
    tcase_add_test(tc, a_coupled_coordinate_of_a_ball_has_a_rate);
    tcase_add_test(tc, every_kind_of_joint_becomes_its_mobilizer);
    tcase_add_test(tc, a_locked_coordinate_of_a_ball_stays_where_it_is);
    tcase_add_test(tc, a_reversed_joint_places_its_parent_in_its_child);
    tcase_add_test(tc, axes_of_version_1_5_are_completed);
    tcase_add_test(tc, a_custom_joint_without_coordinates_is_a_weld);
    tcase_add_test(tc, a_body_that_nothing_holds_is_free);
    tcase_add_test(tc, a_second_joint_on_a_body_closes_a_loop);
    tcase_add_test(tc, frames_are_found_by_absolute_relative_and_plain_names);
    tcase_add_test(tc, functions_have_their_values);
    tcase_add_test(tc, constraints_become_ours);
    tcase_add_test(tc, actuators_act_where_the_file_says);
    tcase_add_test(tc, prescribed_forces_act_where_the_file_says);
    tcase_add_test(tc, limits_of_angles_are_in_degrees);
    tcase_add_test(tc, a_smooth_contact_has_the_numbers_of_the_file);
    tcase_add_test(tc, a_force_that_the_file_switches_off_is_off);
    tcase_add_test(tc, documents_that_are_no_models_are_refused);
    tcase_add_test(tc, everything_wrong_is_reported_in_one_pass_with_line_and_column);
    tcase_add_test(tc, custom_joints_are_refused_with_line_and_column);
    tcase_add_test(tc, frames_in_a_circle_are_refused);
    tcase_add_test(tc, what_does_not_act_is_said);
    tcase_add_test(tc, a_strict_reader_refuses_what_it_does_not_know);
    tcase_add_test(tc, inertias_of_no_real_body_are_warned_of_or_refused);
    tcase_add_test(tc, meshes_are_found_beside_the_model);
    tcase_add_test(tc, reading_a_leg_survives_every_failure_of_memory);
    tcase_add_test(tc, broken_contracts_are_reported);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
