// io/src/opensim/tool_*.c: set-up files of OpenSim.
#include "tool_support.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

// Two pins in a row: an arm of length 1 and a hand, with a marker on each and two on the hand.
static const char arm[] =
    "<OpenSimDocument Version='40000'><Model name='arm'><gravity>0 -10 0</gravity>"
    "<BodySet><objects>"
    "<Body name='upper'><mass>2</mass><mass_center>0 -0.5 0</mass_center>"
    "<inertia>0.2 0.02 0.2 0 0 0</inertia></Body>"
    "<Body name='hand'><mass>1</mass><mass_center>0 -0.25 0</mass_center>"
    "<inertia>0.1 0.01 0.1 0 0 0</inertia></Body></objects></BodySet>"
    "<JointSet><objects><PinJoint name='shoulder'><socket_parent_frame>/ground"
    "</socket_parent_frame><socket_child_frame>/bodyset/upper</socket_child_frame><coordinates>"
    "<Coordinate name='raise'/></coordinates></PinJoint>"
    "<PinJoint name='elbow'><socket_parent_frame>end</socket_parent_frame><socket_child_frame>"
    "/bodyset/hand</socket_child_frame><coordinates><Coordinate name='flex'/></coordinates><frames>"
    "<PhysicalOffsetFrame name='end'><socket_parent>/bodyset/upper</socket_parent><translation>"
    "0 -1 0</translation></PhysicalOffsetFrame></frames></PinJoint></objects></JointSet>"
    "<ForceSet><objects><CoordinateActuator name='motor'><coordinate>flex</coordinate>"
    "</CoordinateActuator><SpringGeneralizedForce name='spring'><coordinate>flex</coordinate>"
    "<stiffness>3</stiffness></SpringGeneralizedForce></objects><groups><ObjectGroup name='all "
    "springs'><members>spring</members></ObjectGroup><ObjectGroup name='springs'><members>motor "
    "spring</members></ObjectGroup></groups></ForceSet>"
    "<MarkerSet><objects><Marker name='a'><socket_parent_frame>/bodyset/upper</socket_parent_frame>"
    "<location>0 -1 0</location></Marker><Marker name='b'><socket_parent_frame>/bodyset/hand"
    "</socket_parent_frame><location>0 -0.5 0</location></Marker></objects></MarkerSet></Model>"
    "</OpenSimDocument>";

// --- inverse kinematics ---

// Five frames of the arm with raise = 0.1 k, flex = 0.3 + 0.05 k, in millimeters; marker b is not
// seen in the last.
static void write_markers(void)
{
    char text[4000] = "PathFileType\t4\t(X/Y/Z)\tseen.trc\n"
                      "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\t"
                      "OrigDataStartFrame\tOrigNumFrames\n"
                      "100\t100\t5\t2\tmm\t100\t1\t5\nFrame#\tTime\ta\t\t\tb\t\t\n"
                      "\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n";
    for (int k = 0; k < 5; ++k) {
        const double a = 0.1 * k, b = a + 0.3 + 0.05 * k;
        const double x = 1000.0 * sin(a), y = -1000.0 * cos(a);
        char row[300];
        (void)snprintf(row, sizeof row, "%d\t%.2f\t%.15g\t%.15g\t0", k + 1, 0.01 * k, x, y);
        strcat(text, row);
        (void)snprintf(row, sizeof row, "\t%.15g\t%.15g\t0\n", x + 500.0 * sin(b),
                       y - 500.0 * cos(b));
        strcat(text, k < 4 ? row : "\t\t\t\n");
    }
    write_text("seen.trc", text);
}

#define IK(tasks, rest)                                                                            \
    "<OpenSimDocument Version='40000'>\n<InverseKinematicsTool name='trial'>\n<model_file>"        \
    "arm.osim</model_file>\n<marker_file>seen.trc</marker_file>\n<IKTaskSet><objects>" tasks       \
    "</objects></IKTaskSet>" rest "</InverseKinematicsTool></OpenSimDocument>"
#define BOTH "<IKMarkerTask name='a'><weight>2</weight></IKMarkerTask><IKMarkerTask name='b'/>"

static void write_arm(void)
{
    write_text("arm.osim", arm);
}

START_TEST(inverse_kinematics_finds_the_angles_behind_the_markers)
{
    write_markers();
    write_text("ik.xml", IK(BOTH, "<results_directory>out</results_directory><output_motion_file>"
                                  "found.mot</output_motion_file>"));
    tal_osim_results *results = run_good("ik.xml", NULL, 0);
    ck_assert_str_eq(tal_osim_results_tool(results), "InverseKinematicsTool");
    ck_assert_str_eq(tal_osim_results_model(results), in_folder("arm.osim"));
    ck_assert_int_eq(tal_osim_results_num(results), 2);
    ck_assert_str_eq(tal_osim_results_path(results, 0), in_folder("out/found.mot"));
    ck_assert_str_eq(tal_osim_results_path(results, 1),
                     in_folder("out/trial_ik_marker_errors.sto"));
    ck_assert(tal_table_in_degrees(tal_osim_results_table(results, 0)));
    for (int k = 0; k < 4; ++k) {
        // the search ends when a step is below 1e-8 rad; convergence is quadratic, and 15 digits of
        // mm were written
        ck_assert_double_eq_tol(value(results, 0, k, "raise") * pi / 180.0, 0.1 * k, 1e-9);
        ck_assert_double_eq_tol(value(results, 0, k, "flex") * pi / 180.0, 0.3 + 0.05 * k, 1e-9);
        ck_assert_double_le(value(results, 1, k, "marker_error_max"), 1e-9);
    }
    // of the last frame one marker is seen, and the elbow stays where it was
    ck_assert_double_eq_tol(value(results, 0, 4, "raise") * pi / 180.0, 0.4, 1e-9);
    tal_osim_results_destroy(results);
}

END_TEST

// One coordinate task against two markers: J = sum w |r|^2 / (2 sum w) + W (q - q*)^2 / 2, whose
// derivative vanishes; checked by differences of J.
static double objective(const double q[2], double x, double y, double bx, double by, double W)
{
    const double a = q[0], b = q[0] + q[1];
    const double ax = sin(a), ay = -cos(a);
    const double hx = ax + 0.5 * sin(b), hy = ay - 0.5 * cos(b);
    const double near_a = (ax - x) * (ax - x) + (ay - y) * (ay - y);
    const double near_b = (hx - bx) * (hx - bx) + (hy - by) * (hy - by);
    return (2.0 * near_a + near_b) / (2.0 * 3.0) + 0.5 * W * (q[1] - 0.9) * (q[1] - 0.9);
}

START_TEST(coordinate_tasks_count_beside_the_mean_of_the_markers)
{
    write_markers();
    write_text("ik.xml",
               IK(BOTH "<IKCoordinateTask name='flex'><weight>0.7</weight><value_type>manual_value"
                       "</value_type><value>0.9</value></IKCoordinateTask>",
                  "<time_range>0.008 0.021</time_range>"));
    tal_osim_results *results = run_good("ik.xml", NULL, 0);
    ck_assert_int_eq(tal_table_num_rows(tal_osim_results_table(results, 0)), 2); // the nearest
    ck_assert(value(results, 0, 0, "time") == 0.01);
    const double a = 0.1, b = a + 0.35;
    double q[2] = {value(results, 0, 0, "raise") * pi / 180.0,
                   value(results, 0, 0, "flex") * pi / 180.0};
    ck_assert_double_ge(fabs(q[1] - 0.35), 0.1); // it pulls
    for (int i = 0; i < 2; ++i) {
        const double h = 1e-5, at = q[i];
        double J[2];
        for (int s = 0; s < 2; ++s) {
            q[i] = at + (s == 0 ? -h : h);
            J[s] =
                objective(q, sin(a), -cos(a), sin(a) + 0.5 * sin(b), -cos(a) - 0.5 * cos(b), 0.7);
        }
        q[i] = at;
        // differences: h^2 J''' / 6 with J''' of about one, and round-off of 1e-16 / h
        ck_assert_double_le(fabs(J[1] - J[0]) / (2.0 * h), 1e-9);
    }
    tal_osim_results_destroy(results);
}

END_TEST

// A weight of 1e9 holds a coordinate where the file has it.
START_TEST(coordinate_tasks_follow_a_file)
{
    write_markers();
    char text[1000] = "given\nversion=1\nnRows=6\nnColumns=2\ninDegrees=yes\nendheader\ntime\t"
                      "/jointset/elbow/flex/value\n";
    for (int k = 0; k < 6; ++k) {
        char row[60];
        (void)snprintf(row, sizeof row, "%g\t%.15g\n", 0.01 * k, 180.0 / pi * (0.5 + 0.02 * k));
        strcat(text, row);
    }
    write_text("given.mot", text);
    write_text("ik.xml", IK(BOTH "<IKCoordinateTask name='flex'><weight>1e9</weight><value_type>"
                                 "from_file</value_type></IKCoordinateTask>",
                            "<coordinate_file>given.mot</coordinate_file>"));
    tal_osim_results *results = run_good("ik.xml", NULL, 0);
    for (int k = 0; k < 5; ++k) {
        // the markers pull with less than 0.2
        ck_assert_double_eq_tol(value(results, 0, k, "flex") * pi / 180.0, 0.5 + 0.02 * k, 1e-8);
    }
    tal_osim_results_destroy(results);
}

END_TEST

START_TEST(tasks_that_cannot_be_followed_are_said)
{
    write_markers();
    write_text("ik.xml", IK(BOTH "\n<IKMarkerTask name='c'/>\n<IKCoordinateTask name='d'/>", ""));
    assert_says("ik.xml", NULL, TAL_OK,
                "ik.xml:6:1: warning: <IKMarkerTask name=\"c\">: the model has no such marker");
    assert_says("ik.xml", NULL, TAL_OK,
                "ik.xml:7:1: warning: <IKCoordinateTask name=\"d\">: the model has no such");
    write_text("ik.xml", IK("<IKMarkerTask name='a'><apply>false</apply></IKMarkerTask>", ""));
    assert_says("ik.xml", NULL, TAL_ERR_FILE, "no task is left");
    write_text("ik.xml", IK("\n<IKMarkerTask name='a'><weight>-1</weight></IKMarkerTask>", ""));
    assert_says("ik.xml", NULL, TAL_ERR_FILE, "ik.xml:6:1: error: <IKMarkerTask name=\"a\">: its");
}

END_TEST

// --- inverse dynamics ---

// raise = t^2, flex = 1 - t: splines of degree five reproduce them.
static void write_motion(void)
{
    char text[2000] = "motion\nversion=1\nnRows=21\nnColumns=3\ninDegrees=no\nendheader\ntime\t"
                      "raise\tflex\n";
    for (int k = 0; k <= 20; ++k) {
        const double t = 0.05 * k;
        char row[80];
        (void)snprintf(row, sizeof row, "%.17g\t%.17g\t%.17g\n", t, t * t, 1.0 - t);
        strcat(text, row);
    }
    write_text("q.mot", text);
}

#define ID(rest)                                                                                   \
    "<OpenSimDocument Version='40000'>\n<InverseDynamicsTool name='trial'>\n<model_file>arm.osim"  \
    "</model_file>\n<coordinates_file>q.mot</coordinates_file>" rest                               \
    "</InverseDynamicsTool></OpenSimDocument>"

// Lagrange's equations of the arm: masses 2 and 1, lengths 1, mass centers at 0.5 and 0.25 below
// the pins, inertias 0.2 and 0.1 about them, g = 10.
static void lagrange(const double q[2], const double u[2], const double ud[2], double tau[2])
{
    const double m1 = 2.0, m2 = 1.0, c1 = 0.5, c2 = 0.25, l = 1.0, I1 = 0.2, I2 = 0.1, g = 10.0;
    const double s = sin(q[1]), c = cos(q[1]), b = q[0] + q[1];
    const double M22 = I2 + m2 * c2 * c2, M12 = M22 + m2 * l * c2 * c;
    const double M11 = I1 + m1 * c1 * c1 + M22 + m2 * (l * l + 2.0 * l * c2 * c);
    const double h = m2 * l * c2 * s;
    const double G2 = m2 * g * c2 * sin(b);
    tau[0] = M11 * ud[0] + M12 * ud[1] - h * (2.0 * u[0] * u[1] + u[1] * u[1]) +
             (m1 * c1 + m2 * l) * g * sin(q[0]) + G2;
    tau[1] = M12 * ud[0] + M22 * ud[1] + h * u[0] * u[0] + G2;
}

START_TEST(inverse_dynamics_gives_the_forces_of_lagranges_equations)
{
    write_motion();
    write_text("id.xml", ID("<forces_to_exclude>springs</forces_to_exclude><time_range>0.2 0.8"
                            "</time_range>"));
    tal_osim_results *results = run_good("id.xml", NULL, 0);
    ck_assert_str_eq(tal_osim_results_path(results, 0), in_folder("./inverse_dynamics.sto"));
    const int rows = tal_table_num_rows(tal_osim_results_table(results, 0));
    ck_assert_int_eq(rows, 13);
    for (int r = 0; r < rows; ++r) {
        const double t = value(results, 0, r, "time");
        const double q[] = {t * t, 1.0 - t}, u[] = {2.0 * t, -1.0}, ud[] = {2.0, 0.0};
        double tau[2];
        lagrange(q, u, ud, tau);
        // second derivatives of splines through numbers of one: eps / h^2 = 1e-13, times 10
        ck_assert_double_eq_tol(value(results, 0, r, "raise_moment"), tau[0], 1e-11);
        ck_assert_double_eq_tol(value(results, 0, r, "flex_moment"), tau[1], 1e-11);
    }
    tal_osim_results_destroy(results);
}

END_TEST

// A body that is free in the plane has its force along x and y and its moment about z; an arm that
// turns, a moment; a drawer, a force along its own x.
START_TEST(forces_along_coordinates_are_forces_at_joints)
{
    write_text(
        "arm.osim",
        "<OpenSimDocument Version='40000'><Model name='cart'><gravity>0 -10 0</gravity><BodySet>"
        "<objects><Body name='cart'><mass>2</mass><mass_center>0 0.3 0</mass_center><inertia>0.2 "
        "0.02 0.2 0 0 0</inertia></Body><Body name='box'><mass>1</mass><mass_center>0.1 0 0"
        "</mass_center><inertia>0.1 0.1 0.1 0 0 0</inertia></Body></objects></BodySet><JointSet>"
        "<objects><PlanarJoint name='plane'><socket_parent_frame>/ground</socket_parent_frame>"
        "<socket_child_frame>/bodyset/cart</socket_child_frame><coordinates><Coordinate "
        "name='turn'/><Coordinate name='x'/><Coordinate name='y'/></coordinates></PlanarJoint>"
        "<SliderJoint name='drawer'><socket_parent_frame>/bodyset/cart</socket_parent_frame>"
        "<socket_child_frame>/bodyset/box</socket_child_frame><coordinates><Coordinate "
        "name='out'/></coordinates></SliderJoint></objects></JointSet></Model></OpenSimDocument>");
    write_text("q.mot", "m\ninDegrees=no\nendheader\ntime\tturn\tx\ty\tout\n"
                        "0\t0.3\t0\t0\t0\n0.1\t0.32\t0.1\t0\t0.01\n"
                        "0.2\t0.3\t0.3\t0.1\t0.03\n0.3\t0.3\t0.4\t0.1\t0\n"
                        "0.4\t0.2\t0.4\t0\t0\n0.5\t0.1\t0.4\t0\t0\n");
    write_text("id.xml", ID("<joints_to_report_body_forces>ALL</joints_to_report_body_forces>"));
    tal_osim_results *r = run_good("id.xml", NULL, 0);
    ck_assert_int_eq(tal_osim_results_num(r), 2);
    ck_assert_ptr_nonnull(strstr(tal_osim_results_path(r, 1), "body_forces_at_joints.sto"));
    for (int k = 0; k < tal_table_num_rows(tal_osim_results_table(r, 1)); ++k) {
        // the drawer points along x of the cart
        const double out = value(r, 0, k, "out_force");
        const double fx = value(r, 1, k, "drawer_box_FX"), fy = value(r, 1, k, "drawer_box_FY");
        ck_assert_double_eq_tol(value(r, 1, k, "plane_cart_FX"), value(r, 0, k, "x_force"), 1e-12);
        ck_assert_double_eq_tol(value(r, 1, k, "plane_cart_FY"), value(r, 0, k, "y_force"), 1e-12);
        ck_assert_double_eq_tol(value(r, 1, k, "plane_cart_MZ"), value(r, 0, k, "turn_moment"),
                                1e-12);
        ck_assert_double_eq_tol(value(r, 1, k, "plane_cart_MX"), 0.0, 1e-12);
        ck_assert_double_eq_tol(hypot(fx, fy), fabs(out), 1e-12);
        ck_assert_double_eq_tol(value(r, 1, k, "drawer_box_MZ"), 0.0, 1e-12);
        if (k == 0) ck_assert_double_eq_tol(fx, cos(0.3) * out, 1e-12);
    }
    tal_osim_results_destroy(r);
    write_text("id.xml", ID("<joints_to_report_body_forces>hip</joints_to_report_body_forces>"));
    assert_says("id.xml", NULL, TAL_ERR_FILE, "the model has no joint 'hip'");
    write_arm();
}

END_TEST

START_TEST(forces_are_excluded_by_name_by_group_and_all_together)
{
    write_motion();
    static const char *const names[] = {"Unassigned", "spring", "springs", "all", "Muscles"};
    static const bool excluded[] = {false, true, true, true, false};
    double flex[5];
    for (int k = 0; k < 5; ++k) {
        write_text("id.xml", ID(""));
        const tal_osim_setting set = {"forces_to_exclude", names[k]};
        tal_osim_results *results = run_good("id.xml", &set, 1);
        flex[k] = value(results, 0, 10, "flex_moment");
        tal_osim_results_destroy(results);
    }
    for (int k = 0; k < 5; ++k) {
        // the spring turns with -3 (1 - t) at t = 0.5; excluded, its part is asked for
        const double expected = excluded[k] ? flex[0] - 1.5 : flex[0];
        ck_assert_double_eq_tol(flex[k], expected, 1e-13);
    }
}

END_TEST

// A force of (3, 4, 0) t at the point (0.1, -1.2, 0) of ground, and a torque of 2 about z: by
// virtual work.
START_TEST(external_loads_act_at_their_points)
{
    write_motion();
    char text[4000] = "loads\nversion=1\nnRows=11\nnColumns=10\ninDegrees=no\nendheader\ntime\tfx\t"
                      "fy\tfz\tpx\tpy\tpz\tmx\tmy\tmz\n";
    for (int k = 0; k <= 10; ++k) {
        char row[200];
        (void)snprintf(row, sizeof row, "%g\t%g\t%g\t0\t0.1\t-1.2\t0\t0\t0\t2\n", 0.1 * k, 0.3 * k,
                       0.4 * k);
        strcat(text, row);
    }
    write_text("loads.sto", text);
    write_text(
        "loads.xml",
        "<OpenSimDocument Version='40000'><ExternalLoads><objects><ExternalForce name='push'>"
        "<applied_to_body>hand</applied_to_body><force_expressed_in_body>ground"
        "</force_expressed_in_body><point_expressed_in_body>ground</point_expressed_in_body>"
        "<force_identifier>f</force_identifier><point_identifier>p</point_identifier>"
        "<torque_identifier>m</torque_identifier></ExternalForce></objects><datafile>"
        "loads.sto</datafile></ExternalLoads></OpenSimDocument>");
    write_text("id.xml", ID(""));
    tal_osim_results *without = run_good("id.xml", NULL, 0);
    const tal_osim_setting set = {"external_loads_file", "loads.xml"};
    tal_osim_results *with = run_good("id.xml", &set, 1);
    for (int r = 0; r <= 20; ++r) {
        const double t = value(with, 0, r, "time");
        const double fx = 3.0 * t, fy = 4.0 * t, px = 0.1, py = -1.2;
        const double ex = sin(t * t), ey = -cos(t * t); // the elbow
        const double about_shoulder = px * fy - py * fx + 2.0;
        const double about_elbow = (px - ex) * fy - (py - ey) * fx + 2.0;
        ck_assert_double_eq_tol(value(with, 0, r, "raise_moment"),
                                value(without, 0, r, "raise_moment") - about_shoulder, 1e-12);
        ck_assert_double_eq_tol(value(with, 0, r, "flex_moment"),
                                value(without, 0, r, "flex_moment") - about_elbow, 1e-12);
    }
    tal_osim_results_destroy(with);
    tal_osim_results_destroy(without);
}

END_TEST

// A filter leaves straight lines alone, and a parabola nearly; noise of 20 Hz it takes away.
START_TEST(a_filter_smooths_the_coordinates)
{
    char text[20000] = "motion\nversion=1\nnRows=201\nnColumns=3\ninDegrees=no\nendheader\ntime\t"
                       "raise\tflex\n";
    for (int k = 0; k <= 200; ++k) {
        const double t = 0.01 * k;
        char row[80];
        (void)snprintf(row, sizeof row, "%.17g\t%.17g\t0\n", t,
                       0.3 * t + 1e-3 * sin(2.0 * pi * 20.0 * t));
        strcat(text, row);
    }
    write_text("q.mot", text);
    write_text("id.xml", ID("<forces_to_exclude>all</forces_to_exclude>"));
    tal_osim_results *rough = run_good("id.xml", NULL, 0);
    const tal_osim_setting set = {"lowpass_cutoff_frequency_for_coordinates", "3"};
    tal_osim_results *smooth = run_good("id.xml", &set, 1);
    // 1e-3 (2 pi 20)^2 = 15.8 rad/s^2 of noise, on an inertia of 2.8 kg m^2; at 3 Hz two passes of
    // order three leave (3/20)^6 = 1e-5 of it
    double still = 0.0, was = 0.0;
    for (int r = 60; r < 140; ++r) {
        const double t = value(smooth, 0, r, "time");
        const double gravity = 20.0 * sin(0.3 * t) + 2.5 * sin(0.3 * t);
        still = fmax(still, fabs(value(smooth, 0, r, "raise_moment") - gravity));
        was = fmax(was, fabs(value(rough, 0, r, "raise_moment") - gravity));
    }
    ck_assert_double_ge(was, 30.0);
    ck_assert_double_le(still, 0.01);
    tal_osim_results_destroy(rough);
    tal_osim_results_destroy(smooth);
}

END_TEST

// The elbow is in no column: its spring holds 3 flex, and gravity turns the hand with 2.5.
START_TEST(coordinates_without_a_column_begin_where_the_caller_says)
{
    write_text("q.mot", "m\nnRows=5\nnColumns=2\ninDegrees=no\nendheader\ntime\traise\n"
                        "0\t0\n1\t0\n2\t0\n3\t0\n4\t0\n");
    write_text("id.xml", ID(""));
    const tal_model_param starts[] = {{"flex", 0.2}};
    tal_osim_run_options options = tal_osim_run_options_default();
    options.starts = starts;
    options.num_starts = 1;
    tal_osim_results *results = NULL;
    ck_assert_int_eq(tal_osim_run_file(in_folder("id.xml"), &options, &results, NULL), TAL_OK);
    // at rest: a few roundings of numbers of one
    ck_assert_double_eq_tol(value(results, 0, 2, "flex_moment"), 3.0 * 0.2 + 2.5 * sin(0.2), 1e-13);
    tal_osim_results_destroy(results);
}

END_TEST

START_TEST(starts_that_the_model_lacks_are_refused)
{
    write_motion();
    write_text("id.xml", ID(""));
    const tal_model_param starts[] = {{"flexx", 0.2}, {"raise", (double)NAN}};
    tal_osim_run_options options = tal_osim_run_options_default();
    options.starts = starts;
    options.num_starts = 2;
    tal_osim_results *results = NULL;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(tal_osim_run_file(in_folder("id.xml"), &options, &results, found),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_null(results);
    ck_assert_int_eq(tal_diagnostics_num_errors(found), 2);
    ck_assert_str_eq(tal_diagnostics_at(found, 0)->message,
                     "there is no coordinate or speed 'flexx' (did you mean 'flex'?)");
    tal_diagnostics_destroy(found);
}

END_TEST

START_TEST(set_ups_that_are_wrong_are_refused)
{
    write_motion();
    write_text("id.xml", "<OpenSimDocument><InverseDynamicTool/></OpenSimDocument>");
    assert_says("id.xml", NULL, TAL_ERR_FILE, "(did you mean 'InverseDynamicsTool'?)");
    write_text("id.xml", "<InverseDynamicsTool/>");
    assert_says("id.xml", NULL, TAL_ERR_FILE, "id.xml:1:1: error: <model_file> is missing");
    write_text("id.xml", ID("<time_range>1</time_range>"));
    assert_says("id.xml", NULL, TAL_ERR_FILE, "'1' is not two times");
    write_text("id.xml", ID(""));
    const tal_osim_setting none = {"coordinates_file", "no.mot"};
    assert_says("id.xml", &none, TAL_ERR_FILE, "no.mot");
    const tal_osim_setting model = {"model_file", "no.osim"};
    assert_says("id.xml", &model, TAL_ERR_FILE, "no.osim");
    const tal_osim_setting loads = {"external_loads_file", "arm.osim"};
    assert_says("id.xml", &loads, TAL_ERR_FILE, "is not <ExternalLoads>");
    write_text("q.mot", "m\nnRows=1\nnColumns=2\ninDegrees=no\nendheader\ntime\tother\n0\t1\n");
    assert_says("id.xml", NULL, TAL_ERR_FILE, "it has no coordinate of the model");
    write_text("q.mot", "m\nnRows=4\nnColumns=3\ninDegrees=no\nendheader\ntime\traise\tflex\n"
                        "0\t1\t0\n1\t20\t0\n2\t30\t0\n3\t4\t0\n");
    assert_says("id.xml", NULL, TAL_OK, "column 'raise' reaches 30 radians: is it in degrees?");
}

END_TEST

// The angles of a ball are singular at y = pi/2: that row alone is lost.
START_TEST(a_row_that_fails_is_flagged_and_the_others_are_there)
{
    write_text("arm.osim",
               "<OpenSimDocument Version='40000'><Model name='m'><BodySet><objects>"
               "<Body name='rod'><mass>2</mass><inertia>1 1 1 0 0 0</inertia></Body></objects>"
               "</BodySet><JointSet><objects><BallJoint name='b'><socket_parent_frame>/ground"
               "</socket_parent_frame><socket_child_frame>/bodyset/rod</socket_child_frame>"
               "<coordinates><Coordinate name='x'/><Coordinate name='y'/><Coordinate name='z'/>"
               "</coordinates></BallJoint></objects></JointSet></Model></OpenSimDocument>");
    write_text("q.mot", "m\ninDegrees=no\nendheader\ntime\tx\ty\tz\n0\t0\t0\t0\n"
                        "1\t0\t1.5707963267948966\t0\n2\t0\t1\t0\n3\t0\t0\t0\n");
    write_text("id.xml", ID(""));
    assert_says("id.xml", NULL, TAL_OK, "the row at t = 1 failed, and is NaN");
    tal_osim_results *r = run_good("id.xml", NULL, 0);
    ck_assert_int_eq(tal_table_num_rows(tal_osim_results_table(r, 0)), 4);
    ck_assert(isnan(value(r, 0, 1, "y_moment")));
    ck_assert(isfinite(value(r, 0, 2, "y_moment")));
    tal_osim_results_destroy(r);
}

END_TEST

// A slip in a set-up is not passed over.
START_TEST(properties_that_are_not_known_are_named)
{
    write_motion();
    write_text("id.xml", ID("<forces_to_exlude>ALL</forces_to_exlude>"));
    assert_says("id.xml", NULL, TAL_OK,
                "<InverseDynamicsTool> has no property 'forces_to_exlude' (did you mean "
                "'forces_to_exclude'?)");
    write_text("id.xml", ID("<lowpass_cutoff_frequency_for_load_kinematics>6"
                            "</lowpass_cutoff_frequency_for_load_kinematics>"));
    assert_says("id.xml", NULL, TAL_OK,
                "<lowpass_cutoff_frequency_for_load_kinematics> is not read");
    const tal_osim_setting setting = {"force_to_exclude", "ALL"};
    assert_says("id.xml", &setting, TAL_OK, "has no property 'force_to_exclude'");
}

END_TEST

// --- ending early, memory, contracts ---

static bool end_after_three(void *context, int done, int total)
{
    (void)context;
    (void)total;
    return done < 3;
}

START_TEST(a_run_that_is_ended_keeps_its_rows)
{
    write_motion();
    write_text("id.xml", ID(""));
    tal_osim_results *results = NULL;
    tal_osim_run_options options = tal_osim_run_options_default();
    options.progress = end_after_three;
    ck_assert_int_eq(tal_osim_run_file(in_folder("id.xml"), &options, &results, NULL),
                     TAL_ERR_CALLBACK);
    ck_assert_int_eq(tal_table_num_rows(tal_osim_results_table(results, 0)), 3);
    tal_osim_results_destroy(results);
}

END_TEST

START_TEST(tools_survive_every_failure_of_memory)
{
    write_motion();
    write_markers();
    write_text("id.xml", ID(""));
    write_text("ik.xml", IK(BOTH, ""));
    assert_survives_failing_memory("id.xml");
    assert_survives_failing_memory("ik.xml");
}

END_TEST

START_TEST(broken_contracts_of_tools_are_reported)
{
    tal_osim_results *results = NULL;
    test_record_breaches();
    test_assert_breach(
        ck_assert_int_eq(tal_osim_run_file(NULL, NULL, &results, NULL), TAL_ERR_NULL), TAL_ERR_NULL,
        "the name");
    tal_osim_run_options options = tal_osim_run_options_default();
    options.lanes = 0;
    test_assert_breach(
        ck_assert_int_eq(tal_osim_run_file("x", &options, &results, NULL), TAL_ERR_BAD_VALUE),
        TAL_ERR_BAD_VALUE, "0 lanes");
    options.lanes = 1;
    options.num_starts = 1;
    test_assert_breach(
        ck_assert_int_eq(tal_osim_run_file("x", &options, &results, NULL), TAL_ERR_NULL),
        TAL_ERR_NULL, "the starts");
    options.num_starts = -1;
    test_assert_breach(
        ck_assert_int_eq(tal_osim_run_file("x", &options, &results, NULL), TAL_ERR_BAD_VALUE),
        TAL_ERR_BAD_VALUE, "-1 starts");
    test_assert_breach(ck_assert_int_eq(tal_osim_results_num(NULL), -1), TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert_ptr_null(tal_osim_results_table(NULL, 0)), TAL_ERR_NULL,
                       "no result 0");
    (void)tal_contract_set_handler(NULL);
    ck_assert_int_eq(tal_osim_run_file("no/such.xml", NULL, &results, NULL), TAL_ERR_FILE);
}

END_TEST

int main(void)
{
    make_folder();
    Suite *suite = suite_create("io/tools");
    TCase *tc = tcase_create("tools");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, write_arm, NULL);
    tcase_add_test(tc, inverse_kinematics_finds_the_angles_behind_the_markers);
    tcase_add_test(tc, coordinate_tasks_count_beside_the_mean_of_the_markers);
    tcase_add_test(tc, coordinate_tasks_follow_a_file);
    tcase_add_test(tc, tasks_that_cannot_be_followed_are_said);
    tcase_add_test(tc, inverse_dynamics_gives_the_forces_of_lagranges_equations);
    tcase_add_test(tc, forces_along_coordinates_are_forces_at_joints);
    tcase_add_test(tc, forces_are_excluded_by_name_by_group_and_all_together);
    tcase_add_test(tc, external_loads_act_at_their_points);
    tcase_add_test(tc, a_filter_smooths_the_coordinates);
    tcase_add_test(tc, coordinates_without_a_column_begin_where_the_caller_says);
    tcase_add_test(tc, starts_that_the_model_lacks_are_refused);
    tcase_add_test(tc, set_ups_that_are_wrong_are_refused);
    tcase_add_test(tc, a_row_that_fails_is_flagged_and_the_others_are_there);
    tcase_add_test(tc, properties_that_are_not_known_are_named);
    tcase_add_test(tc, a_run_that_is_ended_keeps_its_rows);
    tcase_add_test(tc, tools_survive_every_failure_of_memory);
    tcase_add_test(tc, broken_contracts_of_tools_are_reported);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
