// io/src/opensim/: what is wrong with a model, line by line.
#include "opensim/osim_support.h"

// --- what is wrong ---

START_TEST(documents_that_are_no_models_are_refused)
{
    assert_says("<OpenSimDocument Version='30000'/>",
                "m:1:1: error: <OpenSimDocument> has no <Model>; this is not a model\n");
    assert_says("<Model/>", "m:1:1: warning: <Model> has no Version; it is read as 1.5\n");
    assert_says("<OpenSimDocument Version='x'><Model/></OpenSimDocument>",
                "m:1:1: error: <OpenSimDocument>: its Version is 'x'\n");
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
        DOC("40000", "\n<BodySet><objects><Body name='b'><mass>1</mass><FrameGeometry/></Body>"
                     "</objects></BodySet>\n<ForceSet><objects>\n<SquashyForce name='m'/>"
                     "<SquashyForce name='n'/></objects></ForceSet>\n"
                     "<ControllerSet><objects>\n<TrackingController/></objects></ControllerSet>"),
        "m:2:19: warning: <Body name=\"b\">: no joint connects it with ground; it moves freely\n"
        "m:2:48: note: <FrameGeometry> is not read (1 of them)\n"
        "m:4:1: warning: <SquashyForce> does not act: Talus does not have it (2 of them)\n"
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

int main(void)
{
    Suite *suite = suite_create("io/osim_errors");
    TCase *tc = tcase_create("osim_errors");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, documents_that_are_no_models_are_refused);
    tcase_add_test(tc, everything_wrong_is_reported_in_one_pass_with_line_and_column);
    tcase_add_test(tc, custom_joints_are_refused_with_line_and_column);
    tcase_add_test(tc, frames_in_a_circle_are_refused);
    tcase_add_test(tc, what_does_not_act_is_said);
    tcase_add_test(tc, a_strict_reader_refuses_what_it_does_not_know);
    tcase_add_test(tc, inertias_of_no_real_body_are_warned_of_or_refused);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
