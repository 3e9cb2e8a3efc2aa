// io/src/opensim/: paths, obstacles, muscles and controllers of OpenSim's models become ours.
#include "talus_test.h"

#include <talus/talus.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

static tal_model read_with(const char *text, const tal_osim_options *options, const char *expected)
{
    tal_model model;
    char said[8000];
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_osim_read_memory("m", text, strlen(text), options, &model, found);
    say_all(found, said, sizeof said);
    if (expected != NULL) {
        ck_assert_str_eq(said, expected);
    } else {
        ck_assert_msg(st == TAL_OK, "%s", said);
    }
    tal_diagnostics_destroy(found);
    return model;
}

static tal_model read_text(const char *text)
{
    return read_with(text, NULL, NULL);
}

// What is said of a text that is refused.
static void assert_refused(const char *text, const char *expected)
{
    const tal_model model = read_with(text, NULL, expected);
    ck_assert_ptr_null(model.system);
}

static void realize(const tal_model *model, tal_stage stage)
{
    ck_assert_msg(tal_system_realize(model->system, model->state, stage) == TAL_OK, "%s",
                  tal_state_error(model->state)->message);
}

static tal_force_ix force_of(const tal_model *model, const char *name)
{
    const tal_force_ix force = tal_forces_find(model->forces, name);
    ck_assert_int_ge(force.i, 0);
    return force;
}

static double length_of(const tal_model *model, const char *name)
{
    const tal_path_ix path = tal_forces_find_path(model->forces, name);
    ck_assert_int_ge(path.i, 0);
    realize(model, TAL_STAGE_POSITION);
    return tal_path_length(model->forces, model->state, path);
}

// --- texts: a body on a slider along x, a path from ground to it ---

#define SLIDER(version, ground, body, forces)                                                      \
    "<OpenSimDocument Version='" version "'><Model name='m'>\n<Ground name='ground'>" ground       \
    "</Ground><BodySet><objects><Body name='b'><mass>2</mass><inertia>1 1 1 0 0 0</inertia>" body  \
    "</Body></objects></BodySet><JointSet><objects><SliderJoint name='j'>"                         \
    "<socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/b"             \
    "</socket_child_frame><coordinates><Coordinate name='x'><default_value>0.3</default_value>"    \
    "<range>-5 5</range></Coordinate></coordinates></SliderJoint></objects></JointSet>\n"          \
    "<ForceSet><objects>\n" forces "\n</objects></ForceSet></Model></OpenSimDocument>"
#define WRAPS(list) "<WrapObjectSet><objects>" list "</objects></WrapObjectSet>"
#define POINT(frame, at)                                                                           \
    "<PathPoint name='p'><socket_parent_frame>" frame "</socket_parent_frame><location>" at        \
    "</location></PathPoint>"
#define PATH(points, over)                                                                         \
    "<GeometryPath name='path'><PathPointSet><objects>" points                                     \
    "</objects></PathPointSet><PathWrapSet><objects>" over                                         \
    "</objects></PathWrapSet></GeometryPath>"
#define OVER(name) "<PathWrap name='w'><wrap_object>" name "</wrap_object></PathWrap>"
#define STRAIGHT   PATH(POINT("/ground", "0 0 0") POINT("/bodyset/b", "0 0 0"), "")
#define SIZES                                                                                      \
    "<max_isometric_force>1000</max_isometric_force><optimal_fiber_length>0.1"                     \
    "</optimal_fiber_length><tendon_slack_length>0.2</tendon_slack_length>"
#define ALONG(kind, inside)                                                                        \
    SLIDER("40000", "", "", "<" kind " name='a'>" STRAIGHT inside "</" kind ">")
#define OVER_PART(name, range)                                                                     \
    "<PathWrap><wrap_object>" name "</wrap_object><range>" range "</range></PathWrap>"
#define PULL(name, path) "<PathActuator name='" name "'>" path "</PathActuator>"
// a path past the origin of ground, from (-2, y, 0) to (2, y, 0)
#define PAST(wrap, y)                                                                              \
    SLIDER("40000", WRAPS(wrap), "",                                                               \
           "<PathActuator name='a'>" PATH(POINT("/ground", "-2 " y " 0")                           \
                                              POINT("/bodyset/b", "1.7 " y " 0"),                  \
                                          OVER("w")) "</PathActuator>")

// --- curves and constants of muscles ---

typedef struct curve_value {
    tal_muscle_curve curve;
    double x, value;
} curve_value;

// The numbers have ten digits.
static void assert_curves(const char *text, const curve_value values[], int n)
{
    tal_model model = read_text(text);
    const tal_force_ix muscle = force_of(&model, "a");
    for (int i = 0; i < n; ++i) {
        ck_assert_double_eq_tol(
            tal_muscle_calc_curve(model.forces, muscle, values[i].curve, values[i].x, 0),
            values[i].value, 1e-9);
    }
    tal_model_destroy(&model);
}

START_TEST(curves_of_muscles_have_the_numbers_of_the_file)
{
    static const curve_value thelen[] = {{TAL_MUSCLE_CURVE_TENDON, 1.02, 0.3256537101},
                                         {TAL_MUSCLE_CURVE_PASSIVE, 1.5, 0.4307627179},
                                         {TAL_MUSCLE_CURVE_ACTIVE, 0.5, 0.5737534207}};
    static const curve_value narrow[] = {{TAL_MUSCLE_CURVE_ACTIVE, 0.5, 0.6065306597}};
    static const curve_value millard[] = {{TAL_MUSCLE_CURVE_TENDON, 1.02, 0.2609359826},
                                          {TAL_MUSCLE_CURVE_PASSIVE, 1.3, 0.1261111835},
                                          {TAL_MUSCLE_CURVE_ACTIVE, 0.6, 0.4511018783},
                                          {TAL_MUSCLE_CURVE_VELOCITY, 0.5, 1.3311315693}};
    static const curve_value strong[] = {{TAL_MUSCLE_CURVE_VELOCITY, 1.0, 1.6},
                                         {TAL_MUSCLE_CURVE_TENDON, 1.06, 1.0},
                                         {TAL_MUSCLE_CURVE_PASSIVE, 1.5, 1.0},
                                         {TAL_MUSCLE_CURVE_ACTIVE, 0.5, 0.0}};
    static const curve_value degroote[] = {{TAL_MUSCLE_CURVE_ACTIVE, 0.8, 0.8364395661},
                                           {TAL_MUSCLE_CURVE_PASSIVE, 1.4, 0.2635320145},
                                           {TAL_MUSCLE_CURVE_TENDON, 1.03, 0.3990307665},
                                           {TAL_MUSCLE_CURVE_VELOCITY, 0.5, 1.5884234012}};

    assert_curves(ALONG("Thelen2003Muscle", SIZES "<FmaxTendonStrain>0.033</FmaxTendonStrain>"),
                  thelen, 3);
    assert_curves(ALONG("Thelen2003Muscle", SIZES "<KshapeActive>0.5</KshapeActive>"), narrow, 1);
    assert_curves(ALONG("Millard2012EquilibriumMuscle", SIZES), millard, 4);
    assert_curves(
        ALONG("Millard2012EquilibriumMuscle",
              SIZES "<ActiveForceLengthCurve><min_norm_active_fiber_length>0.5"
                    "</min_norm_active_fiber_length></ActiveForceLengthCurve><ForceVelocityCurve>"
                    "<max_eccentric_velocity_force_multiplier>1.6"
                    "</max_eccentric_velocity_force_multiplier></ForceVelocityCurve>"
                    "<FiberForceLengthCurve><strain_at_one_norm_force>0.5"
                    "</strain_at_one_norm_force></FiberForceLengthCurve><TendonForceLengthCurve>"
                    "<strain_at_one_norm_force>0.06</strain_at_one_norm_force><curviness/>"
                    "</TendonForceLengthCurve>"),
        strong, 4);
    assert_curves(ALONG("DeGrooteFregly2016Muscle", SIZES), degroote, 4);
}

END_TEST

// Numbers of a muscle by their parameters; those of <defaults> count where the muscle has none.
START_TEST(a_muscle_has_its_constants_and_those_of_defaults)
{
    static const char text[] =
        "<OpenSimDocument Version='30000'><Model name='m'><defaults><Thelen2003Muscle "
        "name='default'><max_contraction_velocity>8</max_contraction_velocity>"
        "<max_isometric_force>5</max_isometric_force></Thelen2003Muscle></defaults>"
        "<BodySet><objects><Body name='ground'/><Body name='b'><mass>1</mass><inertia_xx>1"
        "</inertia_xx><inertia_yy>1</inertia_yy><inertia_zz>1</inertia_zz><Joint><SliderJoint "
        "name='j'><parent_body>ground</parent_body><CoordinateSet><objects><Coordinate name='x'>"
        "<default_value>0.3</default_value></Coordinate></objects></CoordinateSet></SliderJoint>"
        "</Joint></Body></objects></BodySet><ForceSet><objects><Thelen2003Muscle name='a'>"
        "<min_control>0.02</min_control><max_control>0.9</max_control><GeometryPath>"
        "<PathPointSet><objects><PathPoint><location>0 0 0</location><body>ground</body>"
        "</PathPoint><PathPoint><location>0 0 0</location><body>b</body></PathPoint></objects>"
        "</PathPointSet></GeometryPath><max_isometric_force>1000</max_isometric_force>"
        "<optimal_fiber_length>0.1</optimal_fiber_length><tendon_slack_length>0.2"
        "</tendon_slack_length><pennation_angle>0.2</pennation_angle>"
        "<MuscleFirstOrderActivationDynamicModel><activation_time_constant>0.011"
        "</activation_time_constant><minimum_activation>0.03</minimum_activation>"
        "</MuscleFirstOrderActivationDynamicModel><deactivation_time_constant>0.06"
        "</deactivation_time_constant><default_activation>0.4</default_activation>"
        "</Thelen2003Muscle></objects></ForceSet></Model></OpenSimDocument>";

    static const struct {
        int param;
        double value;
    } rows[] = {{TAL_MUSCLE_MAX_FORCE, 1000.0},       {TAL_MUSCLE_FIBER_LENGTH, 0.1},
                {TAL_MUSCLE_TENDON_LENGTH, 0.2},      {TAL_MUSCLE_PENNATION, 0.2},
                {TAL_MUSCLE_MAX_SPEED, 8.0},          {TAL_MUSCLE_ACTIVATION_TIME, 0.011},
                {TAL_MUSCLE_DEACTIVATION_TIME, 0.06}, {TAL_MUSCLE_MIN_ACTIVATION, 0.03},
                {TAL_MUSCLE_MIN_CONTROL, 0.02},       {TAL_MUSCLE_MAX_CONTROL, 0.9}};

    tal_model model = read_text(text);
    const tal_force_ix muscle = force_of(&model, "a");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        ck_assert(tal_force_param(model.forces, model.state, muscle, rows[i].param) ==
                  rows[i].value);
    }
    realize(&model, TAL_STAGE_VELOCITY);
    ck_assert(tal_muscle_activation(model.forces, model.state, muscle) == 0.4);
    tal_model_destroy(&model);
}

END_TEST

// Fibers and tendon carry the same force from the start: |R| <= 1e-12, and round-off of the sum.
START_TEST(fibers_begin_in_equilibrium)
{
    static const char *const texts[] = {
        ALONG("Thelen2003Muscle", SIZES), ALONG("Millard2012EquilibriumMuscle", SIZES),
        ALONG("Millard2012AccelerationMuscle", SIZES), ALONG("DeGrooteFregly2016Muscle", SIZES)};
    for (int i = 0; i < 4; ++i) {
        tal_model model = read_text(texts[i]);
        realize(&model, TAL_STAGE_VELOCITY);
        const tal_force_ix muscle = force_of(&model, "a");
        ck_assert_double_eq_tol(
            tal_muscle_calc_output(model.forces, model.state, muscle, TAL_MUSCLE_FIBER_SPEED), 0.0,
            1e-10);
        ck_assert(tal_muscle_calc_output(model.forces, model.state, muscle,
                                         TAL_MUSCLE_TENDON_FORCE) > 1.0);
        tal_model_destroy(&model);
    }
}

END_TEST

// lf = 0.3 - 0.2 = lo: fal = 1, fpe(1) = 0, so that the force is the control's.
START_TEST(a_rigid_tendon_has_the_curves_of_the_file)
{
    tal_model model = read_text(
        ALONG("RigidTendonMuscle", SIZES
              "<active_force_length_curve><SimmSpline><x>0.5 1 1.5</x><y>0 0.9 0</y></SimmSpline>"
              "</active_force_length_curve><passive_force_length_curve><SimmSpline><x>1 1.5 2</x>"
              "<y>0.1 0.5 1</y></SimmSpline></passive_force_length_curve><force_velocity_curve>"
              "<SimmSpline><x>-1 0 1</x><y>0 1 1.4</y></SimmSpline></force_velocity_curve>"));
    const tal_force_ix muscle = force_of(&model, "a");
    ck_assert_int_eq(tal_muscle_set_control(model.forces, model.state, muscle, 0.5), TAL_OK);
    realize(&model, TAL_STAGE_VELOCITY);
    ck_assert_double_eq_tol(
        tal_muscle_calc_output(model.forces, model.state, muscle, TAL_MUSCLE_TENSION),
        1000.0 * (0.5 * 0.9 + 0.1), 1e-9);
    tal_model_destroy(&model);
}

END_TEST

START_TEST(flags_of_muscles_are_read)
{
    tal_model model = read_text(ALONG(
        "Thelen2003Muscle", SIZES "<ignore_tendon_compliance>true</ignore_tendon_compliance>"
                                  "<ignore_activation_dynamics>true</ignore_activation_dynamics>"));
    ck_assert_int_eq(tal_state_nz(model.state), 0);
    tal_model_destroy(&model);
    model = read_text(ALONG("Thelen2003Muscle", SIZES "<appliesForce>false</appliesForce>"));
    ck_assert(!tal_force_is_enabled(model.forces, model.state, force_of(&model, "a")));
    ck_assert_int_eq(tal_state_nz(model.state), 2);
    tal_model_destroy(&model);
}

END_TEST

// Muscles of unknown curves keep their path; an option gives them Thelen's.
START_TEST(old_muscles_have_a_path_and_no_force_unless_approximated)
{
    static const char text[] =
        ALONG("Schutte1993Muscle_Deprecated", SIZES "<activation1>7.6</activation1>");
    tal_osim_options options = tal_osim_options_default();
    tal_model model = read_with(
        text, &options,
        "m:4:1: warning: <Schutte1993Muscle_Deprecated> has a path but no force: its curves are "
        "not known; the option 'approximate' gives it those of Thelen2003Muscle (1 of them)\n");
    ck_assert_int_lt(tal_forces_find(model.forces, "a").i, 0);
    ck_assert_double_eq_tol(length_of(&model, "a"), 0.3, 1e-15);
    tal_model_destroy(&model);
    options.approximate = true;
    model = read_with(text, &options,
                      "m:4:1: warning: <Schutte1993Muscle_Deprecated> has the curves of "
                      "Thelen2003Muscle here (1 of them)\n");
    ck_assert_int_eq(tal_muscle_get_model(model.forces, force_of(&model, "a")), TAL_MUSCLE_THELEN);
    tal_model_destroy(&model);
}

END_TEST

// --- obstacles ---

// Round a circle of radius one from distance two to distance two: two tangents and a sixth of it.
START_TEST(paths_go_over_obstacles_by_closed_forms)
{
    const double circle = 2.0 * sqrt(3.0) + TAL_PI / 3.0;
    static const char *const texts[] = {
        PAST("<WrapCylinder name='w'><radius>1</radius><length>3</length></WrapCylinder>", "0"),
        PAST("<WrapSphere name='w'><radius>1</radius></WrapSphere>", "0"),
        // not the geodesic of a sphere by its formula, but by Newton's method
        PAST("<WrapEllipsoid name='w'><dimensions>1 1 1</dimensions></WrapEllipsoid>", "0"),
        // about y, which is then the axis of the cylinder
        PAST("<WrapCylinder name='w'><xyz_body_rotation>1.5707963267948966 0 0"
             "</xyz_body_rotation><radius>1</radius><length>3</length></WrapCylinder>",
             "0")};
    for (int i = 0; i < 4; ++i) {
        tal_model model = read_text(texts[i]);
        ck_assert_double_eq_tol(length_of(&model, "a"), circle, 1e-11);
        tal_model_destroy(&model);
    }
}

END_TEST

// Above the axis by 0.1 the way over the side -y is the long one.
START_TEST(quadrants_are_sides)
{
    // ends at distance d under the angle a; two pieces of sqrt(d^2 - 1), the rest of a circle
    const double d = sqrt(4.01), a = atan2(0.1, 2.0), tangent = acos(1.0 / d);
    const double over = 2.0 * sqrt(3.01) + (TAL_PI - 2.0 * a - 2.0 * tangent);
    const double under = 2.0 * sqrt(3.01) + (TAL_PI + 2.0 * a - 2.0 * tangent);

    static const struct {
        const char *text;
        bool is_under;
    } rows[] = {

#define SIDE(quadrant)                                                                             \
    PAST("<WrapCylinder name='w'><quadrant>" quadrant                                              \
         "</quadrant><radius>1</radius><length>3</length></WrapCylinder>",                         \
         "0.1")
        {SIDE("all"), false},
        {SIDE("+y"), false},
        {SIDE("Y"), false},
        {SIDE("-y"), true},
        {SIDE("Unassigned"), false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        tal_model model = read_text(rows[i].text);
        ck_assert_double_eq_tol(length_of(&model, "a"), rows[i].is_under ? under : over, 1e-12);
        tal_model_destroy(&model);
    }
}

END_TEST

START_TEST(obstacles_that_sleep_or_are_out_of_range_do_not_count)
{
    tal_model model = read_text(PAST("<WrapCylinder name='w'><active>false</active><radius>1"
                                     "</radius><length>3</length></WrapCylinder>",
                                     "0"));
    ck_assert_double_eq_tol(length_of(&model, "a"), 4.0, 1e-15);
    tal_model_destroy(&model);
    // the range leaves out the piece that goes through the obstacle
    model =
        read_text(SLIDER("40000", WRAPS("<WrapSphere name='w'><radius>1</radius></WrapSphere>"), "",
                         PULL("a", PATH(POINT("/ground", "-2 0 0") POINT("/bodyset/b", "1.7 0 0")
                                            POINT("/bodyset/b", "2.7 0 0"),
                                        OVER_PART("w", "2 -1")))));
    ck_assert_double_eq_tol(length_of(&model, "a"), 5.0, 1e-15);
    tal_model_destroy(&model);
}

END_TEST

// A torus is what geometry/ makes of it; inner_radius is that of its tube.
START_TEST(a_torus_holds_a_path_in_its_hole)
{
    tal_model model = read_text(
        SLIDER("40000",
               WRAPS("<WrapTorus name='w'><inner_radius>0.02</inner_radius><outer_radius>0.1"
                     "</outer_radius></WrapTorus>"),
               "",
               "<PathActuator name='a'>" PATH(POINT("/ground", "0.3 0 -0.2")
                                                  POINT("/bodyset/b", "0 0 0.2"),
                                              OVER("w")) "</PathActuator>"));
    const tal_wrap torus = tal_wrap_torus(0.1, 0.02);
    tal_wrap_arc arc;
    ck_assert_int_eq(tal_wrap_find(&torus, tal_v3(0.3, 0.0, -0.2), tal_v3(0.3, 0.0, 0.2), &arc),
                     TAL_WRAP_FORCED);
    ck_assert_double_eq_tol(length_of(&model, "a"), arc.length + arc.lift[0] + arc.lift[1], 1e-12);
    ck_assert_double_gt(length_of(&model, "a"), 0.4);
    tal_model_destroy(&model);
}

END_TEST

// --- points ---

// The point counts while 0.25 <= x <= 0.35: then the path goes by (0, 0.4, 0).
START_TEST(conditional_points_come_and_go)
{
    tal_model model = read_text(SLIDER(
        "40000", "", "",
        "<PathActuator name='a'>" PATH(
            POINT("/ground", "0 0 0") "<ConditionalPathPoint><socket_parent_frame>/ground"
                                      "</socket_parent_frame><location>0 0.4 0</location>"
                                      "<socket_coordinate>/jointset/j/x</socket_coordinate>"
                                      "<range>0.25 0.35</range></ConditionalPathPoint>" POINT(
                                          "/bodyset/b", "0 0 0"),
            "") "</PathActuator>"));
    ck_assert_double_eq_tol(length_of(&model, "a"), 0.9, 1e-15);
    tal_state_upd_q(model.state)[0] = 0.5;
    ck_assert_double_eq_tol(length_of(&model, "a"), 0.5, 1e-15);
    tal_model_destroy(&model);
}

END_TEST

// At x = 0.3 on the body: (0.6, 2 * 0.3 * 0.5, 0.1) in a frame that is turned by half about x.
START_TEST(moving_points_move_by_their_functions)
{
    tal_model model = read_text(SLIDER(
        "40000", "",
        "<components><PhysicalOffsetFrame name='turned'><socket_parent>..</socket_parent>"
        "<orientation>3.141592653589793 0 0</orientation></PhysicalOffsetFrame></components>",
        "<PathActuator name='a'>" PATH(
            POINT("/ground", "0 0 0") "<MovingPathPoint><socket_parent_frame>/bodyset/b/turned"
                                      "</socket_parent_frame><x_coordinate>x</x_coordinate>"
                                      "<y_coordinate>x</y_coordinate><z_coordinate>x"
                                      "</z_coordinate><x_location><LinearFunction><coefficients>"
                                      "2 0</coefficients></LinearFunction></x_location>"
                                      "<y_location><MultiplierFunction><function><SimmSpline>"
                                      "<x>0 1</x><y>0 2</y></SimmSpline></function><scale>0.5"
                                      "</scale></MultiplierFunction></y_location><z_location>"
                                      "<Constant><value>0.1</value></Constant></z_location>"
                                      "</MovingPathPoint>",
            "") "</PathActuator>"));
    ck_assert_double_eq_tol(length_of(&model, "a"), sqrt(0.81 + 0.09 + 0.01), 1e-15);
    tal_vec3 points[2];
    ck_assert_int_eq(
        tal_path_calc_points(model.forces, model.state, (tal_path_ix){0}, 2, points, 2), 2);
    // the frame is turned about x: y and z change their signs
    test_assert_near(&points[1].x, (const double[]){0.9, -0.3, -0.1}, 3, 1e-15, "point");
    tal_model_destroy(&model);
}

END_TEST

// --- forces along paths ---

static double tension_of(const tal_model *model)
{
    realize(model, TAL_STAGE_VELOCITY);
    return tal_path_force_tension(model->forces, model->state, force_of(model, "a"));
}

START_TEST(springs_ligaments_and_actuators_pull_by_their_formulas)
{
    tal_model model = read_text(
        ALONG("PathSpring", "<resting_length>0.2</resting_length><stiffness>50</stiffness>"
                            "<dissipation>0.5</dissipation>"));
    tal_state_upd_u(model.state)[0] = 0.4;
    ck_assert_double_eq_tol(tension_of(&model), 50.0 * 0.1 * (1.0 + 0.5 * 0.4), 1e-14);
    tal_model_destroy(&model);

    model = read_text(ALONG("Ligament", "<resting_length>0.2</resting_length><pcsa_force>30"
                                        "</pcsa_force><force_length_curve><PolynomialFunction>"
                                        "<coefficients>2 0 -1</coefficients></PolynomialFunction>"
                                        "</force_length_curve>"));
    ck_assert_double_eq_tol(tension_of(&model), 30.0 * (2.0 * 1.5 * 1.5 - 1.0), 1e-13);
    tal_model_destroy(&model);

    model = read_text(ALONG("PathActuator", "<optimal_force>40</optimal_force><min_control>-2"
                                            "</min_control><max_control>0.5</max_control>"));
    ck_assert_int_eq(
        tal_actuator_set_control(model.forces, model.state, force_of(&model, "a"), 3.0), TAL_OK);
    ck_assert_double_eq_tol(tension_of(&model), 20.0, 1e-14);
    tal_model_destroy(&model);

    model = read_text(ALONG("ClutchedPathSpring",
                            "<stiffness>60</stiffness><dissipation>0.5</dissipation>"
                            "<relaxation_time_constant>0.1</relaxation_time_constant>"
                            "<initial_stretch>0.02</initial_stretch>"));
    ck_assert_int_eq(
        tal_actuator_set_control(model.forces, model.state, force_of(&model, "a"), 0.5), TAL_OK);
    tal_state_upd_u(model.state)[0] = 0.4;
    ck_assert_double_eq_tol(tension_of(&model), 0.5 * 60.0 * 0.02 * 1.2, 1e-15);
    tal_model_destroy(&model);
}

END_TEST

// --- controllers ---

START_TEST(controllers_drive_what_the_file_says)
{
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(tal_osim_read_file(CORPUS "muscles_40000.osim", NULL, &model, found), TAL_OK);
    tal_diagnostics_destroy(found);

    static const struct {
        const char *name;
        double at_0, at_half, at_2; // of time
    } rows[] = {{"biceps", 0.3, 0.3, 0.3},
                {"motor", 0.0, 1.0, 1.0}, // 2 after a second, but not above its largest control
                {"brachialis", 0.01, 0.5, 1.0},
                {"cable", 0.1, 0.2, 0.2},
                {"triceps", 0.0, 0.0, 0.0}};

    const double times[] = {0.0, 0.5, 2.0};
    for (int k = 0; k < 3; ++k) {
        ck_assert_int_eq(tal_state_set_t(model.state, times[k]), TAL_OK);
        realize(&model, TAL_STAGE_VELOCITY);
        for (int i = 0; i < 5; ++i) {
            const double expected = k == 0 ? rows[i].at_0 : k == 1 ? rows[i].at_half : rows[i].at_2;
            ck_assert_double_eq_tol(
                tal_actuator_control(model.forces, model.state, force_of(&model, rows[i].name)),
                expected, 1e-15);
        }
    }
    // one reflex for each muscle, both off
    ck_assert_int_eq(tal_forces_num_controllers(model.forces), 4);
    for (int i = 0; i < 4; ++i) {
        const tal_controller_ix it = {i};
        const bool is_reflex = strcmp(tal_controller_kind(model.forces, it), "reflex") == 0;
        ck_assert_int_eq(is_reflex, i == 1 || i == 2);
        ck_assert(tal_controller_is_enabled(model.forces, model.state, it) == !is_reflex);
    }
    tal_model_destroy(&model);
}

END_TEST

// --- versions ---

// Points before 2.0, in the muscle itself, of 3.0 and of 4.0: the same model.
START_TEST(the_same_muscle_is_read_from_files_of_all_layouts)
{
#define HEAD(version)                                                                              \
    "<OpenSimDocument Version='" version "'><Model name='m'><BodySet><objects><Body "              \
    "name='ground'/><Body name='b'><mass>1</mass><inertia_xx>1</inertia_xx><inertia_yy>1"          \
    "</inertia_yy><inertia_zz>1</inertia_zz><WrapObjectSet><objects><WrapSphere name='w'>"         \
    "<radius>0.05</radius></WrapSphere></objects></WrapObjectSet><Joint><SliderJoint name='j'>"    \
    "<parent_body>ground</parent_body><CoordinateSet><objects><Coordinate name='x'>"               \
    "<default_value>0.3</default_value></Coordinate></objects></CoordinateSet></SliderJoint>"      \
    "</Joint></Body></objects></BodySet>"
    static const char *const texts[] = {
        HEAD("10902") "<ActuatorSet><objects><Thelen2003Muscle name='a'><MusclePointSet><objects>"
                      "<MusclePoint><body>ground</body><location>0 0.1 0</location></MusclePoint>"
                      "<MuscleViaPoint><body>b</body><location>0 0.2 0</location><range>0 1</range>"
                      "<coordinate>x</coordinate></MuscleViaPoint><MovingMusclePoint><body>b</body>"
                      "<XAttachment><natCubicSpline><x>0 1</x><y>0 1</y></natCubicSpline>"
                      "</XAttachment><x_coordinate>x</x_coordinate></MovingMusclePoint></objects>"
                      "</MusclePointSet><MuscleWrapSet><objects><MuscleWrap><wrap_object>w"
                      "</wrap_object></MuscleWrap></objects></MuscleWrapSet>" SIZES
                      "<pennation_angle>0.1</pennation_angle></Thelen2003Muscle></objects>"
                      "</ActuatorSet></Model></OpenSimDocument>",
        HEAD("30000") "<ForceSet><objects><Thelen2003Muscle name='a'><GeometryPath><PathPointSet>"
                      "<objects><PathPoint><body>ground</body><location>0 0.1 0</location>"
                      "</PathPoint><ConditionalPathPoint><body>b</body><location>0 0.2 0</location>"
                      "<range>0 1</range><coordinate>x</coordinate></ConditionalPathPoint>"
                      "<MovingPathPoint><body>b</body><x_location><SimmSpline><x>0 1</x><y>0 1</y>"
                      "</SimmSpline></x_location><x_coordinate>x</x_coordinate></MovingPathPoint>"
                      "</objects></PathPointSet><PathWrapSet><objects><PathWrap><wrap_object>w"
                      "</wrap_object></PathWrap></objects></PathWrapSet></GeometryPath>" SIZES
                      "<pennation_angle_at_optimal>0.1</pennation_angle_at_optimal>"
                      "</Thelen2003Muscle></objects></ForceSet></Model></OpenSimDocument>",
        SLIDER(
            "30508", "", WRAPS("<WrapSphere name='w'><radius>0.05</radius></WrapSphere>"),
            "<Thelen2003Muscle name='a'><GeometryPath><PathPointSet><objects><PathPoint>"
            "<connectors><Connector_PhysicalFrame_ name='parent_frame'><connectee_name>../ground"
            "</connectee_name></Connector_PhysicalFrame_></connectors><location>0 0.1 0"
            "</location></PathPoint><ConditionalPathPoint><connectors>"
            "<Connector_PhysicalFrame_ name='parent_frame'><connectee_name>b</connectee_name>"
            "</Connector_PhysicalFrame_><Connector_Coordinate_ name='coordinate'>"
            "<connectee_name>x</connectee_name></Connector_Coordinate_></connectors><location>"
            "0 0.2 0</location><range>0 1</range></ConditionalPathPoint><MovingPathPoint>"
            "<connectors><Connector_PhysicalFrame_ name='parent_frame'><connectee_name>b"
            "</connectee_name></Connector_PhysicalFrame_><Connector_Coordinate_ "
            "name='x_coordinate'><connectee_name>x</connectee_name></Connector_Coordinate_>"
            "</connectors><SimmSpline name='x_location'><x>0 1</x><y>0 1</y></SimmSpline>"
            "</MovingPathPoint></objects></PathPointSet>" /* and */
            "<PathWrapSet><objects>" OVER(
                "w") "</objects></PathWrapSet></GeometryPath>" SIZES
                     "<pennation_angle_at_optimal>0.1</pennation_angle_at_optimal></Thelen2003Muscle>")};
#undef HEAD
    // between its points, and whether it is bent
    double length = 0.0;
    for (int i = 0; i < 3; ++i) {
        tal_model model = read_text(texts[i]);
        const double here = length_of(&model, "a");
        if (i == 0) length = here;
        ck_assert_double_eq(here, length);
        ck_assert_double_eq_tol(here, hypot(0.3, 0.1) + hypot(0.3, 0.2), 0.01);
        ck_assert_int_eq(tal_path_num_wraps(model.forces, (tal_path_ix){0}), 1);
        const tal_force_ix muscle = force_of(&model, "a");
        ck_assert(tal_force_param(model.forces, model.state, muscle, TAL_MUSCLE_PENNATION) == 0.1);
        tal_model_destroy(&model);
    }
}

END_TEST

// A model with all kinds, written as .talus and read again, has the same State byte for byte.
START_TEST(muscles_survive_a_model_file)
{
    static char text[60000];
    tal_model model, again;
    size_t length = 0;
    ck_assert_int_eq(tal_osim_read_file(CORPUS "muscles_40000.osim", NULL, &model, NULL), TAL_OK);
    ck_assert_int_eq(tal_model_write_memory(&model, NULL, text, sizeof text, &length, NULL),
                     TAL_OK);
    ck_assert_int_eq(tal_model_read_memory("again", text, length, NULL, &again, NULL), TAL_OK);
    realize(&model, TAL_STAGE_ACCELERATION);
    realize(&again, TAL_STAGE_ACCELERATION);
    ck_assert_mem_eq(tal_state_z(model.state), tal_state_z(again.state),
                     (size_t)tal_state_nz(model.state) * sizeof(double));
    ck_assert_mem_eq(tal_state_udot(model.state), tal_state_udot(again.state),
                     (size_t)tal_state_nu(model.state) * sizeof(double));
    tal_model_destroy(&model);
    tal_model_destroy(&again);
}

END_TEST

// --- what is wrong ---

#define BAD_OVERS "\n" OVER("no") "\n" OVER("same") "\n" OVER("d") "\n" OVER_PART("s", "1 9")

START_TEST(everything_wrong_with_a_path_is_said_in_one_pass)
{
    assert_refused(
        SLIDER(
            "40000",
            WRAPS("<WrapCylinder name='w'><radius>-1</radius><length>1</length></WrapCylinder>"
                  "\n<WrapSphere name='s'><radius>1</radius><quadrant>up</quadrant></WrapSphere>"
                  "\n<WrapSphere name='same'><radius>1</radius></WrapSphere>"
                  "\n<WrapDoubleCylinderObst name='d'/>"),
            WRAPS("<WrapSphere name='same'><radius>1</radius></WrapSphere>"),
            PULL("a",
                 PATH(POINT("/ground", "0 0 0") "\n" POINT("/bodyset/c", "0 0 0"),
                      BAD_OVERS)) "\n" PULL("c",
                                            PATH(POINT("/ground", "0 0 0"),
                                                 "")) "\n" PULL("d",
                                                                "<path><PolynomialPath/></path>")),
        "m:2:47: error: <WrapCylinder name=\"w\">: cylinder 'w': the radius is -1: it must be "
        "positive and finite\n"
        "m:3:40: error: <quadrant>: 'up' is none of all, x, -x, y, -y, z, -z\n"
        "m:5:1: warning: <WrapDoubleCylinderObst> is not read; paths over it are errors (1 of "
        "them)\n"
        "m:8:1: error: <PathPoint name=\"p\">: there is no body or frame '/bodyset/c'\n"
        "m:9:1: error: <PathWrap name=\"w\">: there is no wrap object 'no'\n"
        "m:10:1: error: <PathWrap name=\"w\">: obstacles of several bodies are named 'same'\n"
        "m:11:1: error: <PathWrap name=\"w\">: wrapping over 'd', a <WrapDoubleCylinderObst>, is "
        "not done\n"
        "m:12:39: error: <range>: '1 9' is not two of the 2 points\n"
        "m:13:1: error: <PathActuator name=\"c\">: its path has 1 point; two or more are needed\n"
        "m:14:30: error: <PolynomialPath>: paths of this kind are not read\n");
}

END_TEST

START_TEST(everything_wrong_with_muscles_and_controllers_is_said_in_one_pass)
{
    assert_refused(
        SLIDER(
            "40000", "", "",
            "<Thelen2003Muscle name='a'>" STRAIGHT
            "<max_isometric_force>0</max_isometric_force><pennation_angle_at_optimal>2"
            "</pennation_angle_at_optimal></Thelen2003Muscle>\n"
            "<Millard2012EquilibriumMuscle name='c'>" STRAIGHT SIZES
            "<FiberForceLengthCurve><curviness>0.5</curviness></FiberForceLengthCurve>"
            "</Millard2012EquilibriumMuscle>\n<RigidTendonMuscle name='d'>" STRAIGHT SIZES
            "</RigidTendonMuscle>\n<Thelen2003Muscle name='e'><min_control>2</min_control>" STRAIGHT
                SIZES "</Thelen2003Muscle>\n<PathSpring name='f'>" STRAIGHT
            "<stiffness>1</stiffness><resting_length>1</resting_length></PathSpring>\n"
            "<Thelen2003Muscle name='g'>" STRAIGHT SIZES "<Af2>1</Af2></Thelen2003Muscle>"
            "</objects></ForceSet>\n<ControllerSet><objects>\n<PrescribedController name='p'>"
            "<actuator_list>a nobody f</actuator_list></PrescribedController>\n"
            "<ToyReflexController name='r'><actuator_list>a ALL</actuator_list>"
            "</ToyReflexController></objects></ControllerSet><ForceSet><objects>"),
        "m:4:1: error: <Thelen2003Muscle name=\"a\">: its max_isometric_force, 0, must be above "
        "zero\n"
        "m:4:1: error: <Thelen2003Muscle name=\"a\">: its pennation angle, 2, is not between 0 and "
        "1.47063\n"
        "m:5:535: error: <FiberForceLengthCurve> needs all of stiffness_at_low_force, "
        "stiffness_at_one_norm_force and curviness, or none of them\n"
        "m:6:1: error: <RigidTendonMuscle name=\"d\"> needs <active_force_length_curve>\n"
        "m:6:1: error: <RigidTendonMuscle name=\"d\"> needs <force_velocity_curve>\n"
        "m:6:1: error: <RigidTendonMuscle name=\"d\"> needs <passive_force_length_curve>\n"
        "m:7:1: error: <Thelen2003Muscle name=\"e\">: its min_control, 2, is above its "
        "max_control, 1\n"
        "m:8:1: error: <PathSpring name=\"f\"> needs <dissipation>\n"
        "m:9:523: warning: <Thelen2003Muscle> has no property 'Af2' (did you mean 'Af'?)\n"
        "m:11:1: error: <PrescribedController name=\"p\">: there is no actuator 'nobody'\n"
        "m:11:1: error: <PrescribedController name=\"p\">: 'f', a <PathSpring>, has no control\n");
}

END_TEST

// What only the muscle itself can find wrong has a line as well.
START_TEST(a_curve_that_cannot_be_is_refused_at_its_muscle)
{
    assert_refused(
        ALONG("Thelen2003Muscle", SIZES "<Flen>0.5</Flen>"),
        "m:4:1: error: <Thelen2003Muscle name=\"a\">: muscle 'a': Thelen's eccentric is 0.5: it must be "
        "more than 1\n");
}

END_TEST

// --- memory ---

START_TEST(reading_muscles_survives_every_failure_of_memory)
{
    tal_osim_options options = tal_osim_options_default();
    test_heap heap = {.calls = 0};
    options.allocator = test_heap_allocator(&heap);
    tal_model model;
    const char *path = CORPUS "muscles_40000.osim";
    ck_assert_int_eq(tal_osim_read_file(path, &options, &model, NULL), TAL_OK);
    tal_model_destroy(&model);
    const int calls = heap.calls;
    // every request of the first hundred, then one in three
    for (int n = 1; n <= calls; n += n < 100 ? 1 : 3) {
        heap = (test_heap){.refuse_at = n};
        const tal_status st = tal_osim_read_file(path, &options, &model, NULL);
        ck_assert_int_eq(st, TAL_ERR_NO_MEMORY);
        ck_assert_ptr_null(model.system);
        ck_assert_int_eq(heap.live, 0);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("io/osim_muscles");
    TCase *tc = tcase_create("osim_muscles");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, curves_of_muscles_have_the_numbers_of_the_file);
    tcase_add_test(tc, a_muscle_has_its_constants_and_those_of_defaults);
    tcase_add_test(tc, fibers_begin_in_equilibrium);
    tcase_add_test(tc, a_rigid_tendon_has_the_curves_of_the_file);
    tcase_add_test(tc, flags_of_muscles_are_read);
    tcase_add_test(tc, old_muscles_have_a_path_and_no_force_unless_approximated);
    tcase_add_test(tc, paths_go_over_obstacles_by_closed_forms);
    tcase_add_test(tc, quadrants_are_sides);
    tcase_add_test(tc, obstacles_that_sleep_or_are_out_of_range_do_not_count);
    tcase_add_test(tc, a_torus_holds_a_path_in_its_hole);
    tcase_add_test(tc, conditional_points_come_and_go);
    tcase_add_test(tc, moving_points_move_by_their_functions);
    tcase_add_test(tc, springs_ligaments_and_actuators_pull_by_their_formulas);
    tcase_add_test(tc, controllers_drive_what_the_file_says);
    tcase_add_test(tc, the_same_muscle_is_read_from_files_of_all_layouts);
    tcase_add_test(tc, muscles_survive_a_model_file);
    tcase_add_test(tc, everything_wrong_with_a_path_is_said_in_one_pass);
    tcase_add_test(tc, everything_wrong_with_muscles_and_controllers_is_said_in_one_pass);
    tcase_add_test(tc, a_curve_that_cannot_be_is_refused_at_its_muscle);
    tcase_add_test(tc, reading_muscles_survives_every_failure_of_memory);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
