// io/src/opensim/analysis_induced.c: constraints that take the place of external loads.
#include "tool_support.h"

#include <math.h>

static const double length = 0.5, J = 0.3 + 2.0 * 0.25; // of the rod: half of it; about its tip

enum {
    G = 10 // m/s^2
};

// A rod in the plane, its mass center at its origin, with its tip 0.5 m below.
static const char rod[] =
    "<OpenSimDocument Version='40000'><Model name='rod'><gravity>0 -10 0</gravity><BodySet>"
    "<objects><Body name='rod'><mass>2</mass><mass_center>0 0 0</mass_center><inertia>0.3 0.1 0.3 "
    "0 0 0</inertia></Body></objects></BodySet><JointSet><objects><PlanarJoint name='plane'>"
    "<socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/rod"
    "</socket_child_frame><coordinates><Coordinate name='tilt'/><Coordinate name='x'/><Coordinate "
    "name='y'/></coordinates></PlanarJoint></objects></JointSet><ForceSet><objects>"
    "<CoordinateActuator name='motor'><coordinate>tilt</coordinate></CoordinateActuator></objects>"
    "</ForceSet></Model></OpenSimDocument>";

static const char loads[] =
    "<OpenSimDocument Version='40000'><ExternalLoads><objects><ExternalForce name='floor'>"
    "<applied_to_body>rod</applied_to_body><force_identifier>f</force_identifier>"
    "<point_identifier>p</point_identifier></ExternalForce></objects><datafile>loads.sto"
    "</datafile></ExternalLoads></OpenSimDocument>";

#define INDUCED(constraints)                                                                       \
    "<OpenSimDocument Version='40000'><AnalyzeTool name='trial'><model_file>rod.osim</model_file>" \
    "<states_file>states.sto</states_file><external_loads_file>loads.xml</external_loads_file>"    \
    "<AnalysisSet><objects><InducedAccelerations name='IA'><in_degrees>false</in_degrees>"         \
    "<compute_potentials_only>true</compute_potentials_only><ConstraintSet><objects>" constraints  \
    "</objects></ConstraintSet></InducedAccelerations></objects></AnalysisSet></AnalyzeTool>"      \
    "</OpenSimDocument>"
#define BODIES(kind, one, two)                                                                     \
    "<" kind " name='c'><" one ">ground</" one "><" two ">rod</" two "></" kind ">"
#define POINT   BODIES("PointConstraint", "body_1", "body_2")
#define ROLLING BODIES("RollingOnSurfaceConstraint", "surface_body", "rolling_body")
#define WELD    BODIES("WeldConstraint", "body_1", "body_2")

static const double tilt = 0.3, speed = 2.0;

// The rod turns about its tip, which is at (0.7, 0.1). The floor pushes first with 20 N, then, in
// the last row, with 1 N, which holds nothing.
static void write_files(void)
{
    char text[1000];
    const double cx = -length * sin(tilt), cy = length * cos(tilt); // from the tip
    const double vx = -speed * cy, vy = speed * cx;
    (void)snprintf(text, sizeof text,
                   "s\nnRows=2\nnColumns=7\nendheader\ntime\ttilt\tx\ty\ttilt_u\tx_u\ty_u\n"
                   "0\t%.17g\t%.17g\t%.17g\t%.17g\t%.17g\t%.17g\n"
                   "1\t%.17g\t%.17g\t%.17g\t%.17g\t%.17g\t%.17g\n",
                   tilt, 0.7 + cx, 0.1 + cy, speed, vx, vy, tilt, 0.7 + cx, 0.1 + cy, speed, vx,
                   vy);
    write_text("states.sto", text);
    write_text("loads.sto", "l\nendheader\ntime\tf_x\tf_y\tf_z\tp_x\tp_y\tp_z\n"
                            "0\t0\t20\t0\t0.7\t0.1\t0\n1\t0\t1\t0\t0.7\t0.1\t0\n");
    write_text("loads.xml", loads);
    write_text("rod.osim", rod);
}

// An inverted pendulum about its tip: J tilt'' = m g l sin(tilt). In the last row it falls freely.
static void assert_pendulum(const tal_osim_results *r)
{
    const int at = find_result(r, "IA_tilt.sto"), x = find_result(r, "IA_x.sto"),
              y = find_result(r, "IA_y.sto");
    const double by_weight = 2.0 * G * length * sin(tilt) / J;
    const double cx = -length * sin(tilt), cy = length * cos(tilt);
    // a few solves of 3 equations with numbers of the size of 100
    const double tol = 1e-12;
    ck_assert_double_eq_tol(value(r, at, 0, "gravity"), by_weight, tol);
    ck_assert_double_eq_tol(value(r, at, 0, "motor"), 1.0 / J, tol);
    ck_assert_double_eq_tol(value(r, at, 0, "velocity"), 0.0, tol);
    ck_assert_double_eq_tol(value(r, at, 0, "other"), 0.0, tol); // the floor's push is gone
    ck_assert_double_eq_tol(value(r, x, 0, "gravity"), -by_weight * cy, tol);
    ck_assert_double_eq_tol(value(r, y, 0, "gravity"), by_weight * cx, tol);
    ck_assert_double_eq_tol(value(r, x, 0, "velocity"), -speed * speed * cx, tol);
    ck_assert_double_eq_tol(value(r, y, 0, "velocity"), -speed * speed * cy, tol);
    ck_assert_double_eq_tol(value(r, at, 1, "gravity"), 0.0, tol);
    ck_assert_double_eq_tol(value(r, y, 1, "gravity"), -G, tol);
    ck_assert_double_eq_tol(value(r, y, 1, "other"), 0.0, tol);
    ck_assert_double_eq_tol(value(r, at, 1, "motor"), 1.0 / 0.3, tol);
}

START_TEST(a_point_holds_where_the_floor_pushes)
{
    write_files();
    write_text("a.xml", INDUCED(POINT));
    tal_osim_results *r = run_good("a.xml", NULL, 0);
    assert_pendulum(r);
    tal_osim_results_destroy(r);
    assert_survives_failing_memory("a.xml");
}

END_TEST

START_TEST(rolling_holds_where_the_floor_pushes)
{
    write_files();
    write_text("a.xml", INDUCED(ROLLING));
    tal_osim_results *r = run_good("a.xml", NULL, 0);
    assert_pendulum(r);
    tal_osim_results_destroy(r);
}

END_TEST

START_TEST(a_weld_lets_no_force_move_anything)
{
    write_files();
    write_text("a.xml", INDUCED(WELD));
    tal_osim_results *r = run_good("a.xml", NULL, 0);
    static const char *const files[] = {"IA_tilt.sto", "IA_x.sto", "IA_y.sto"};
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_eq_tol(value(r, find_result(r, files[i]), 0, "gravity"), 0.0, 1e-12);
        ck_assert_double_eq_tol(value(r, find_result(r, files[i]), 0, "motor"), 0.0, 1e-12);
    }
    tal_osim_results_destroy(r);
}

END_TEST

// Above 20 N nothing holds the rod; the loads are left out all the same.
START_TEST(a_threshold_says_which_forces_hold)
{
    write_files();
    write_text("a.xml", INDUCED(POINT));
    char text[2000];
    (void)snprintf(text, sizeof text, "%s", INDUCED(POINT));
    char *at = strstr(text, "<ConstraintSet>");
    static const char more[] = "<force_threshold>25</force_threshold>";
    memmove(at + sizeof more - 1, at, strlen(at) + 1);
    memcpy(at, more, sizeof more - 1);
    write_text("a.xml", text);
    tal_osim_results *r = run_good("a.xml", NULL, 0);
    ck_assert_double_eq_tol(value(r, find_result(r, "IA_y.sto"), 0, "gravity"), -G, 1e-12);
    tal_osim_results_destroy(r);
}

END_TEST

START_TEST(constraints_that_cannot_hold_are_refused)
{
    write_files();
    write_text("a.xml", INDUCED(POINT POINT));
    assert_says("a.xml", NULL, TAL_ERR_FILE, "it has 2 constraints for 1 external loads");
    write_text("a.xml", INDUCED("<ConstantDistanceConstraint><body_1>ground</body_1><body_2>rod"
                                "</body_2><constant_distance>1</constant_distance>"
                                "</ConstantDistanceConstraint>"));
    assert_says("a.xml", NULL, TAL_ERR_FILE,
                "a <ConstantDistanceConstraint> cannot take the place of a load");
}

END_TEST

#define IN_FORWARD                                                                                 \
    "<OpenSimDocument Version='40000'><ForwardTool name='run'><model_file>rod.osim</model_file>"   \
    "<initial_time>0</initial_time><final_time>0.01</final_time><external_loads_file>loads.xml"    \
    "</external_loads_file><AnalysisSet><objects><InducedAccelerations name='IA'><ConstraintSet>"  \
    "<objects>" POINT "</objects></ConstraintSet></InducedAccelerations></objects></AnalysisSet>"  \
    "</ForwardTool></OpenSimDocument>"
#define WITH_REACTIONS                                                                             \
    "<OpenSimDocument Version='40000'><AnalyzeTool name='trial'><model_file>rod.osim</model_file>" \
    "<states_file>states.sto</states_file><AnalysisSet><objects><InducedAccelerations name='IA'>"  \
    "<report_constraint_reactions>true</report_constraint_reactions></InducedAccelerations>"       \
    "</objects></AnalysisSet></AnalyzeTool></OpenSimDocument>"

START_TEST(what_a_tool_cannot_hold_or_report_is_said)
{
    write_files();
    write_text("a.xml", IN_FORWARD);
    assert_says("a.xml", NULL, TAL_ERR_FILE,
                "let the AnalyzeTool do it with the states of this run");
    write_text("a.xml", WITH_REACTIONS);
    assert_says("a.xml", NULL, TAL_OK,
                "<report_constraint_reactions>: there are no tables of reactions to each "
                "contributor alone");
}

END_TEST

int main(void)
{
    make_folder();
    Suite *suite = suite_create("io/induced");
    TCase *tc = tcase_create("induced");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, a_point_holds_where_the_floor_pushes);
    tcase_add_test(tc, rolling_holds_where_the_floor_pushes);
    tcase_add_test(tc, a_weld_lets_no_force_move_anything);
    tcase_add_test(tc, a_threshold_says_which_forces_hold);
    tcase_add_test(tc, constraints_that_cannot_hold_are_refused);
    tcase_add_test(tc, what_a_tool_cannot_hold_or_report_is_said);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
