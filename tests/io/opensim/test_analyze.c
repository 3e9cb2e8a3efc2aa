// io/src/opensim/tool_analyze.c, analysis_*.c: what is recorded along a motion.
#include "tool_support.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

enum {
    MASS = 2, // kg
    G = 10    // m/s^2
};

static const double length = 0.5, inertia = 0.3; // of the rod: to its mass center, about it

// A rod that hangs on a pin at its upper end, 0.5 m above its mass center. The pin is at (1, 0, 0)
// in Ground.
#define ROD_BEGIN                                                                                  \
    "<OpenSimDocument Version='40000'><Model name='rod'><gravity>0 -10 0</gravity><BodySet>"       \
    "<objects><Body name='rod'><mass>2</mass><mass_center>0 -0.5 0</mass_center><inertia>0.3 0.1 " \
    "0.3 0 0 0</inertia></Body></objects></BodySet><JointSet><objects>"
#define ROD_END "</objects></JointSet></Model></OpenSimDocument>"
#define FRAMES                                                                                     \
    "<coordinates><Coordinate name='swing'/></coordinates><frames><PhysicalOffsetFrame "           \
    "name='hook'><socket_parent>/ground</socket_parent><translation>1 0 0</translation>"           \
    "</PhysicalOffsetFrame></frames></PinJoint>"

static const char rod[] =
    ROD_BEGIN "<PinJoint name='pin'><socket_parent_frame>hook</socket_parent_frame>"
              "<socket_child_frame>/bodyset/rod</socket_child_frame>" FRAMES ROD_END;

// The same with Ground as the child: the coordinate turns the other way.
static const char turned_round[] =
    ROD_BEGIN "<PinJoint name='pin'><socket_parent_frame>/bodyset/rod</socket_parent_frame>"
              "<socket_child_frame>hook</socket_child_frame>" FRAMES ROD_END;

#define ANALYZE(files, analyses)                                                                   \
    "<OpenSimDocument Version='40000'><AnalyzeTool name='trial'><model_file>rod.osim"              \
    "</model_file>" files "<AnalysisSet><objects>" analyses                                        \
    "</objects></AnalysisSet></AnalyzeTool></OpenSimDocument>"
#define STATES "<states_file>states.sto</states_file>"

// Three rows: angle 0.3 and speed 2, at rest in the lowest place, and level.
static const double rows[3][2] = {{0.3, 2.0}, {0.0, 0.0}, {1.5707963267948966, -1.0}};

static void write_states(const char *first, const char *second, double sign)
{
    char text[600];
    (void)snprintf(text, sizeof text,
                   "states\nversion=1\nnRows=3\nnColumns=3\ninDegrees=no\nendheader\n"
                   "time\t%s\t%s\n0\t%.17g\t%.17g\n0.5\t0\t0\n1\t%.17g\t%.17g\n",
                   first, second, sign * rows[0][0], sign * rows[0][1], sign * rows[2][0],
                   sign * rows[2][1]);
    write_text("states.sto", text);
}

static void write_rod(void)
{
    write_text("rod.osim", rod);
    write_states("swing", "swing_u", 1.0);
}

// The pendulum: (I + m l^2) udot = -m g l sin q.
static double udot_of(double q)
{
    return -MASS * G * length * sin(q) / (inertia + MASS * length * length);
}

// Acceleration of the mass center.
static tal_vec3 acceleration(double q, double u)
{
    const double along = length * udot_of(q), inward = length * u * u;
    return tal_v3(along * cos(q) - inward * sin(q), along * sin(q) + inward * cos(q), 0.0);
}

// m a = F + m g: the force of the pin on the rod.
static tal_vec3 pin_force(double q, double u)
{
    const tal_vec3 a = acceleration(q, u);
    return tal_v3(MASS * a.x, MASS * (a.y + G), 0.0);
}

// Sums of three products of numbers of the size 10: 1e-13 is a hundred times their round-off.
static void assert_vec3(const tal_osim_results *r, int table, int row, const char *begin,
                        const char *const ends[3], tal_vec3 expected)
{
    const double v[3] = {expected.x, expected.y, expected.z};
    for (int k = 0; k < 3; ++k) {
        char column[120];
        (void)snprintf(column, sizeof column, "%s%s", begin, ends[k]);
        const double is = value(r, table, row, column);
        ck_assert_msg(fabs(is - v[k]) <= 1e-13 * fmax(1.0, fabs(v[k])), "%s, row %d: %g, not %g",
                      column, row, is, v[k]);
    }
}

static const char *const force[3] = {"_fx", "_fy", "_fz"}, *const moment[3] = {"_mx", "_my", "_mz"};
static const char *const place[3] = {"_px", "_py", "_pz"};
static const char *const xyz[3] = {"_X", "_Y", "_Z"}, *const turn[3] = {"_Ox", "_Oy", "_Oz"};

static tal_vec3 zero(void)
{
    return tal_v3(0.0, 0.0, 0.0);
}

// --- joint reactions ---

START_TEST(a_pin_carries_its_pendulum)
{
    write_text("a.xml", ANALYZE(STATES, "<JointReaction name='JR'><joint_names>pin pin pin</"
                                        "joint_names><apply_on_bodies>child parent child"
                                        "</apply_on_bodies><express_in_frame>ground ground rod"
                                        "</express_in_frame></JointReaction>"));
    tal_osim_results *r = run_good("a.xml", NULL, 0);
    ck_assert_int_eq(tal_osim_results_num(r), 1);
    ck_assert_ptr_nonnull(strstr(tal_osim_results_path(r, 0), "/trial_JR_ReactionLoads.sto"));
    ck_assert_int_eq(tal_table_num_columns(tal_osim_results_table(r, 0)), 1 + 27);
    for (int k = 0; k < 3; ++k) {
        const double q = rows[k][0];
        const tal_vec3 F = pin_force(q, rows[k][1]);
        assert_vec3(r, 0, k, "pin_on_rod_in_ground", force, F);
        assert_vec3(r, 0, k, "pin_on_rod_in_ground", moment, zero());
        assert_vec3(r, 0, k, "pin_on_rod_in_ground", place, tal_v3(1.0, 0.0, 0.0));
        assert_vec3(r, 0, k, "pin_on_ground_in_ground", force, tal_v3_neg(F));
        assert_vec3(r, 0, k, "pin_on_ground_in_ground", place, tal_v3(1.0, 0.0, 0.0));
        const tal_vec3 F_B = tal_v3(cos(q) * F.x + sin(q) * F.y, cos(q) * F.y - sin(q) * F.x, 0.0);
        assert_vec3(r, 0, k, "pin_on_rod_in_rod", force, F_B);
        assert_vec3(r, 0, k, "pin_on_rod_in_rod", place, zero());
    }
    tal_osim_results_destroy(r);
}

END_TEST

static tal_vec3 three(const tal_osim_results *r, const char *end, const char *begin,
                      const char *const ends[3])
{
    double v[3];
    for (int k = 0; k < 3; ++k) {
        char column[120];
        (void)snprintf(column, sizeof column, "%s%s", begin, ends[k]);
        v[k] = value(r, find_result(r, end), 0, column);
    }
    return tal_v3(v[0], v[1], v[2]);
}

// A shoulder blade alone: m a = F + m g, and the thorax, here Ground, feels the opposite, about the
// origin of its own frame.
START_TEST(a_shoulder_blade_hangs_on_its_joint)
{
    write_text("rod.osim",
               ROD_BEGIN "<ScapulothoracicJoint name='s'><socket_parent_frame>/ground"
                         "</socket_parent_frame><socket_child_frame>/bodyset/rod"
                         "</socket_child_frame><coordinates><Coordinate name='a'/><Coordinate "
                         "name='b'/><Coordinate name='c'/><Coordinate name='w'/></coordinates>"
                         "<thoracic_ellipsoid_radii_x_y_z>0.07 0.15 0.08"
                         "</thoracic_ellipsoid_radii_x_y_z><scapula_winging_axis_origin>0.02 -0.03"
                         "</scapula_winging_axis_origin></ScapulothoracicJoint>" ROD_END);
    write_text("states.sto", "s\ninDegrees=no\nendheader\ntime\ta\tb\tc\tw\ta_u\tb_u\tc_u\tw_u\n"
                             "0\t0.3\t-0.4\t0.5\t0.2\t1\t-2\t0.5\t0.7\n");
    write_text("a.xml", ANALYZE(STATES, "<JointReaction><joint_names>s s</joint_names>"
                                        "<apply_on_bodies>child parent</apply_on_bodies>"
                                        "</JointReaction><BodyKinematics/>"));
    tal_osim_results *r = run_good("a.xml", NULL, 0);
    const tal_vec3 F = three(r, "ReactionLoads.sto", "s_on_rod_in_ground", force);
    const tal_vec3 a = three(r, "acc_global.sto", "rod", xyz), g = tal_v3(0.0, -G, 0.0);
    // sums of some ten numbers of the size of 100
    const tal_vec3 needed = tal_v3_scale(MASS, tal_v3_sub(a, g));
    test_assert_near(&F.x, &needed.x, 3, 1e-12, "m (a - g)");
    const tal_vec3 back = three(r, "ReactionLoads.sto", "s_on_ground_in_ground", force);
    const tal_vec3 minus = tal_v3_neg(F);
    test_assert_near(&back.x, &minus.x, 3, 1e-14, "the opposite");
    const tal_vec3 M = three(r, "ReactionLoads.sto", "s_on_rod_in_ground", moment);
    const tal_vec3 p = three(r, "ReactionLoads.sto", "s_on_rod_in_ground", place);
    const tal_vec3 at_ground = three(r, "ReactionLoads.sto", "s_on_ground_in_ground", moment);
    const tal_vec3 moved = tal_v3_neg(tal_v3_add(M, tal_v3_cross(p, F)));
    test_assert_near(&at_ground.x, &moved.x, 3, 1e-12, "moment about Ground's origin");
    ck_assert_double_ge(tal_v3_norm(F), 1.0);
    tal_osim_results_destroy(r);
}

END_TEST

// The rod is the parent, so its mobilizer is reversed.
START_TEST(a_joint_that_is_turned_round_carries_the_same)
{
    write_text("rod.osim", turned_round);
    write_states("swing", "swing_u", -1.0);
    write_text("a.xml", ANALYZE(STATES, "<JointReaction><joint_names>pin</joint_names>"
                                        "<apply_on_bodies>parent</apply_on_bodies>"
                                        "</JointReaction>"));
    tal_osim_results *r = run_good("a.xml", NULL, 0);
    for (int k = 0; k < 3; ++k) {
        assert_vec3(r, 0, k, "pin_on_rod_in_ground", force, pin_force(rows[k][0], rows[k][1]));
        assert_vec3(r, 0, k, "pin_on_rod_in_ground", place, tal_v3(1.0, 0.0, 0.0));
    }
    tal_osim_results_destroy(r);
}

END_TEST

// 7 N to the right at the lower end, 1 m below the pin, of the rod at rest: m a = R + F + m g, with
// (I + m l^2) udot = 7.
START_TEST(external_loads_take_part)
{
    write_text("loads.sto", "loads\nversion=1\nnRows=2\nnColumns=7\ninDegrees=no\nendheader\n"
                            "time\tfx\tfy\tfz\tpx\tpy\tpz\n0\t7\t0\t0\t1\t-1\t0\n1\t7\t0\t0\t1\t-1"
                            "\t0\n");
    write_text("loads.xml",
               "<OpenSimDocument Version='40000'><ExternalLoads><objects><ExternalForce name='F'>"
               "<applied_to_body>rod</applied_to_body><force_expressed_in_body>ground"
               "</force_expressed_in_body><point_expressed_in_body>ground"
               "</point_expressed_in_body><force_identifier>f</force_identifier>"
               "<point_identifier>p</point_identifier></ExternalForce></objects><datafile>"
               "loads.sto</datafile></ExternalLoads></OpenSimDocument>");
    write_text("a.xml", ANALYZE(STATES "<external_loads_file>loads.xml</external_loads_file>",
                                "<JointReaction/><Kinematics name='K'/>"));
    tal_osim_results *r = run_good("a.xml", NULL, 0);
    const double udot = 7.0 / (inertia + MASS * length * length);
    assert_vec3(r, 0, 1, "pin_on_rod_in_ground", force,
                tal_v3(MASS * length * udot - 7.0, MASS * G, 0.0));
    ck_assert_double_eq_tol(value(r, 3, 1, "swing"), udot * 180.0 / pi, 1e-11);
    tal_osim_results_destroy(r);
}

END_TEST

// --- motion ---

START_TEST(coordinates_are_recorded_in_the_units_asked_for)
{
    write_text("a.xml", ANALYZE(STATES, "<Kinematics name='K'><coordinates>all</coordinates>"
                                        "</Kinematics><Kinematics name='R'><in_degrees>false"
                                        "</in_degrees></Kinematics>"));
    tal_osim_results *r = run_good("a.xml", NULL, 0);
    static const char *const files[] = {"K_q", "K_u", "K_dudt", "R_q", "R_u", "R_dudt"};
    for (int i = 0; i < 6; ++i) {
        ck_assert_ptr_nonnull(strstr(tal_osim_results_path(r, i), files[i]));
        ck_assert_int_eq(tal_table_in_degrees(tal_osim_results_table(r, i)), i < 3);
        for (int k = 0; k < 3; ++k) {
            const double expected = i % 3 < 2 ? rows[k][i % 3] : udot_of(rows[k][0]);
            ck_assert_double_eq_tol(value(r, i, k, "swing"),
                                    i < 3 ? expected * 180.0 / pi : expected, 1e-11);
        }
    }
    tal_osim_results_destroy(r);
}

END_TEST

START_TEST(bodies_are_recorded_at_their_mass_centers)
{
    write_text("a.xml", ANALYZE(STATES, "<BodyKinematics name='B'><bodies>all</bodies>"
                                        "<express_results_in_body_local_frame>false"
                                        "</express_results_in_body_local_frame></BodyKinematics>"
                                        "<BodyKinematics name='L'><bodies>rod</bodies>"
                                        "<express_results_in_body_local_frame>true"
                                        "</express_results_in_body_local_frame></BodyKinematics>"));
    tal_osim_results *r = run_good("a.xml", NULL, 0);
    ck_assert_ptr_nonnull(strstr(tal_osim_results_path(r, 0), "trial_B_pos_global.sto"));
    ck_assert_ptr_nonnull(strstr(tal_osim_results_path(r, 5), "trial_L_acc_bodyLocal.sto"));
    ck_assert_int_eq(tal_table_num_columns(tal_osim_results_table(r, 0)), 1 + 6 + 3);
    ck_assert_int_eq(tal_table_num_columns(tal_osim_results_table(r, 4)), 1 + 6);
    for (int k = 0; k < 3; ++k) {
        const double q = rows[k][0], u = rows[k][1], deg = 180.0 / pi;
        const tal_vec3 p = tal_v3(1.0 + length * sin(q), -length * cos(q), 0.0);
        const tal_vec3 v = tal_v3(length * u * cos(q), length * u * sin(q), 0.0);
        assert_vec3(r, 0, k, "rod", xyz, p);
        assert_vec3(r, 0, k, "rod", turn, tal_v3(0.0, 0.0, q * deg));
        assert_vec3(r, 0, k, "center_of_mass", xyz, p);
        assert_vec3(r, 1, k, "rod", xyz, v);
        assert_vec3(r, 1, k, "center_of_mass", xyz, v);
        assert_vec3(r, 1, k, "rod", turn, tal_v3(0.0, 0.0, u * deg));
        assert_vec3(r, 2, k, "rod", xyz, acceleration(q, u));
        assert_vec3(r, 2, k, "center_of_mass", xyz, acceleration(q, u));
        assert_vec3(r, 4, k, "rod", xyz, tal_v3(length * u, 0.0, 0.0));
        assert_vec3(r, 5, k, "rod", xyz, tal_v3(length * udot_of(q), length * u * u, 0.0));
    }
    tal_osim_results_destroy(r);
}

END_TEST

// The lower end of the rod, from Ground; and the pin, seen from the rod, does not move.
START_TEST(points_are_recorded_as_seen_from_a_body)
{
    write_text("a.xml", ANALYZE(STATES, "<PointKinematics name='P'><body_name>rod</body_name>"
                                        "<point>0 -1 0</point><point_name>tip</point_name>"
                                        "</PointKinematics><PointKinematics name='H'><body_name>"
                                        "ground</body_name><relative_to_body_name>rod"
                                        "</relative_to_body_name><point>1 0 0</point><point_name>"
                                        "hook</point_name></PointKinematics>"));
    tal_osim_results *r = run_good("a.xml", NULL, 0);
    ck_assert_ptr_nonnull(strstr(tal_osim_results_path(r, 1), "trial_P_tip_vel.sto"));
    for (int k = 0; k < 3; ++k) {
        const double q = rows[k][0], u = rows[k][1];
        assert_vec3(r, 0, k, "tip", xyz, tal_v3(1.0 + sin(q), -cos(q), 0.0));
        assert_vec3(r, 1, k, "tip", xyz, tal_v3(u * cos(q), u * sin(q), 0.0));
        assert_vec3(r, 2, k, "tip", xyz, tal_v3_scale(1.0 / length, acceleration(q, u)));
        for (int i = 3; i < 6; ++i) {
            assert_vec3(r, i, k, "hook", xyz, zero());
        }
    }
    tal_osim_results_destroy(r);
}

END_TEST

// --- rows ---

// Paths of version 4, and a range of times; of the others every second row.
START_TEST(rows_are_chosen_by_time_and_interval)
{
    write_states("/jointset/pin/swing/value", "/jointset/pin/swing/speed", 1.0);
    write_text("a.xml", ANALYZE(STATES "<initial_time>0.4</initial_time><final_time>2</final_time>",
                                "<Kinematics name='A'/><Kinematics name='B'><start_time>0.6"
                                "</start_time></Kinematics><Kinematics name='C'><step_interval>2"
                                "</step_interval></Kinematics><Kinematics name='off'><on>false"
                                "</on></Kinematics>"));
    tal_osim_results *r = run_good("a.xml", NULL, 0);
    ck_assert_int_eq(tal_osim_results_num(r), 9);
    // states begin with the last row that is not after the time
    ck_assert_int_eq(tal_table_num_rows(tal_osim_results_table(r, 0)), 3);
    ck_assert_int_eq(tal_table_num_rows(tal_osim_results_table(r, 3)), 1);
    ck_assert_int_eq(tal_table_num_rows(tal_osim_results_table(r, 6)), 2);
    ck_assert_double_eq_tol(value(r, 6, 1, "time"), 1.0, 1e-15);
    tal_osim_results_destroy(r);
}

END_TEST

// A cubic in time: the spline through its rows has its rates, but for what the natural ends bring,
// which falls by a factor of 0.43 or more from row to row: 0.43^20 < 1e-7.
START_TEST(speeds_of_coordinates_are_those_of_their_curves)
{
    char text[4000] = "q\nversion=1\nnRows=61\nnColumns=2\ninDegrees=no\nendheader\ntime\tswing\n";
    for (int i = 0; i <= 60; ++i) {
        char row[80];
        const double t = 0.05 * i;
        (void)snprintf(row, sizeof row, "%.17g\t%.17g\n", t, 0.1 * t * t * t - 0.2 * t);
        strcat(text, row);
    }
    write_text("q.mot", text);
    write_text("a.xml", ANALYZE("<coordinates_file>q.mot</coordinates_file>",
                                "<Kinematics><in_degrees>false</in_degrees></Kinematics>"));
    tal_osim_results *r = run_good("a.xml", NULL, 0);
    ck_assert_int_eq(tal_table_num_rows(tal_osim_results_table(r, 0)), 61);
    for (int i = 20; i <= 40; ++i) {
        const double t = 0.05 * i;
        ck_assert_double_eq_tol(value(r, 1, i, "swing"), 0.3 * t * t - 0.2, 1e-6);
    }
    tal_osim_results_destroy(r);
}

END_TEST

// Angles of a ball have no rates when the middle one is 90 degrees.
START_TEST(a_row_that_fails_is_flagged_and_the_others_are_there)
{
    write_text("rod.osim",
               ROD_BEGIN "<BallJoint name='b'><socket_parent_frame>/ground</socket_parent_frame>"
                         "<socket_child_frame>/bodyset/rod</socket_child_frame><coordinates>"
                         "<Coordinate name='x'/><Coordinate name='y'/><Coordinate name='z'/>"
                         "</coordinates></BallJoint>" ROD_END);
    write_text("states.sto", "states\nversion=1\nnRows=3\nnColumns=7\ninDegrees=no\nendheader\n"
                             "time\tx\ty\tz\tx_u\ty_u\tz_u\n0\t0\t0\t0\t0\t0\t0\n"
                             "1\t0\t1.5707963267948966\t0\t0\t0\t1\n2\t0\t1\t0\t0\t0\t1\n");
    write_text("a.xml", ANALYZE(STATES, "<Kinematics/>"));
    assert_says("a.xml", NULL, TAL_OK, "the row at t = 1 failed, and is NaN");
    tal_osim_results *r = run_good("a.xml", NULL, 0);
    ck_assert(isnan(value(r, 0, 1, "x")));
    ck_assert_double_eq_tol(value(r, 0, 2, "y"), 180.0 / pi, 1e-12);
    tal_osim_results_destroy(r);
}

END_TEST

// --- what is wrong ---

static void assert_refused(const char *analyses, const char *part)
{
    char text[2000];
    (void)snprintf(text, sizeof text, ANALYZE(STATES, "%s"), analyses);
    write_text("a.xml", text);
    assert_says("a.xml", NULL, TAL_ERR_FILE, part);
}

START_TEST(set_ups_that_are_wrong_are_refused)
{
    assert_refused("<JointReactions/>", "did you mean 'JointReaction'?");
    assert_refused("", "no analysis is turned on");
    assert_refused("<JointReaction><joint_names>knee</joint_names></JointReaction>",
                   "the model has no joint 'knee'");
    assert_refused("<JointReaction><joint_names>pin</joint_names><apply_on_bodies>child child"
                   "</apply_on_bodies></JointReaction>",
                   "has 2 entries for 1 joints");
    assert_refused("<JointReaction><apply_on_bodies>rod</apply_on_bodies></JointReaction>",
                   "neither 'child' nor 'parent'");
    assert_refused("<JointReaction><express_in_frame>sky</express_in_frame></JointReaction>",
                   "no body or frame 'sky'");
    assert_refused("<JointReaction><forces_file>none.sto</forces_file></JointReaction>",
                   "none.sto");
    assert_refused("<JointReaction><forces_file>states.sto</forces_file></JointReaction>",
                   "it has no force of an actuator");
    assert_refused("<PointKinematics><body_name>arm</body_name></PointKinematics>",
                   "no body or frame 'arm'");
    write_text("a.xml", ANALYZE("", "<Kinematics/>"));
    assert_says("a.xml", NULL, TAL_ERR_FILE, "<states_file> or <coordinates_file> is missing");
    write_states("swing", "other", 1.0);
    write_text("a.xml", ANALYZE(STATES, "<Kinematics/>"));
    assert_says("a.xml", NULL, TAL_ERR_FILE, "it has no speed of the model");
}

END_TEST

START_TEST(analyses_survive_every_failure_of_memory)
{
    write_text("a.xml", ANALYZE(STATES, "<Kinematics/><BodyKinematics/><PointKinematics/>"
                                        "<JointReaction><express_in_frame>pin/rod_offset"
                                        "</express_in_frame></JointReaction>"));
    assert_survives_failing_memory("a.xml");
}

END_TEST

// --- static optimization ---

// The rod held at 0.3 rad by motors of 3 and 4 N m on its pin, and one of another file.
#define MOTOR(name, gain)                                                                          \
    "<CoordinateActuator name='" name "'><coordinate>swing</coordinate><optimal_force>" gain       \
    "</optimal_force></CoordinateActuator>"
#define OPTIMIZE                                                                                   \
    "<StaticOptimization name='SO'><activation_exponent>2</activation_exponent>"                   \
    "</StaticOptimization>"

static void write_motors(void)
{
    static const char begin[] = ROD_BEGIN
        "<PinJoint name='pin'><socket_parent_frame>hook</socket_parent_frame>"
        "<socket_child_frame>/bodyset/rod</socket_child_frame>" FRAMES "</objects></JointSet>";
    char text[3000];
    (void)snprintf(text, sizeof text,
                   "%s<ForceSet><objects>" MOTOR("weak", "3")
                       MOTOR("strong", "4") "</objects></ForceSet></Model></OpenSimDocument>",
                   begin);
    write_text("rod.osim", text);
    write_text("states.sto", "states\nversion=1\nnRows=3\nnColumns=3\ninDegrees=no\nendheader\n"
                             "time\tswing\tswing_u\n0\t0.3\t0\n0.5\t0.3\t0\n1\t0.3\t0\n");
    write_text("more.xml", "<OpenSimDocument Version='40000'><ForceSet><objects>" MOTOR(
                               "reserve", "12") "</objects></ForceSet></OpenSimDocument>");
}

// tau = m g l sin(0.3); x_j = tau a_j / sum a^2.
START_TEST(static_optimization_shares_the_moment)
{
    write_motors();
    write_text("a.xml", ANALYZE(STATES "<force_set_files>more.xml</force_set_files>", OPTIMIZE));
    tal_osim_results *r = run_good("a.xml", NULL, 0);
    ck_assert_int_eq(tal_osim_results_num(r), 3);
    static const char *const files[] = {"SO_activation.sto", "SO_force.sto", "SO_controls.xml"};
    static const char *const names[] = {"weak", "strong", "reserve"};
    static const double gains[] = {3.0, 4.0, 12.0};
    const double tau = MASS * G * length * sin(0.3);
    for (int i = 0; i < 3; ++i) {
        ck_assert_ptr_nonnull(strstr(tal_osim_results_path(r, i), files[i]));
        for (int k = 0; k < 3; ++k) {
            const double x = tau * gains[i] / 169.0;
            ck_assert_double_eq_tol(value(r, 0, k, names[i]), x, 1e-14);
            ck_assert_double_eq_tol(value(r, 1, k, names[i]), x * gains[i], 1e-13);
        }
    }
    size_t size = 0;
    const char *text = tal_osim_results_text(r, 2, &size);
    ck_assert_ptr_null(tal_osim_results_table(r, 2));
    ck_assert_ptr_null(tal_osim_results_text(r, 0, NULL));
    ck_assert_uint_gt(size, 500);
    ck_assert_int_eq(memcmp(text, "<?xml", 5), 0);
    char copy[6000];
    ck_assert_uint_lt(size, sizeof copy);
    memcpy(copy, text, size);
    copy[size] = '\0';
    ck_assert_ptr_nonnull(strstr(copy, "<ControlLinear name=\"reserve\">"));
    tal_osim_results_destroy(r);
    // alone, the motors of the file replace those of the model
    write_text("a.xml", ANALYZE(STATES "<force_set_files>more.xml</force_set_files>"
                                       "<replace_force_set>true</replace_force_set>",
                                OPTIMIZE));
    r = run_good("a.xml", NULL, 0);
    ck_assert_double_eq_tol(value(r, 0, 1, "reserve"), tau / 12.0, 1e-14);
    ck_assert_int_eq(tal_table_num_columns(tal_osim_results_table(r, 0)), 2);
    tal_osim_results_destroy(r);
}

END_TEST

// q = 0.2 t^2: udot is 0.4, which a quintic spline through u = 0.4 t gives back exactly.
START_TEST(static_optimization_follows_the_accelerations_of_the_motion)
{
    char text[2000] = "states\nversion=1\nnRows=9\nnColumns=3\ninDegrees=no\nendheader\n"
                      "time\tswing\tswing_u\n";
    write_motors();
    for (int k = 0; k < 9; ++k) {
        const double t = 0.125 * k;
        const size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "%.17g\t%.17g\t%.17g\n", t, 0.2 * t * t,
                       0.4 * t);
    }
    write_text("states.sto", text);
    write_text("a.xml", ANALYZE(STATES, OPTIMIZE));
    tal_osim_results *r = run_good("a.xml", NULL, 0);
    for (int k = 0; k < 9; ++k) {
        const double t = 0.125 * k, q = 0.2 * t * t;
        const double tau = (inertia + MASS * length * length) * 0.4 + MASS * G * length * sin(q);
        ck_assert_double_eq_tol(value(r, 0, k, "strong"), tau * 4.0 / 25.0, 1e-12);
    }
    tal_osim_results_destroy(r);
    write_text("a.xml", ANALYZE(STATES, "<StaticOptimization><use_model_force_set>false"
                                        "</use_model_force_set></StaticOptimization>"));
    assert_says("a.xml", NULL, TAL_ERR_FILE, "InverseDynamicsTool");
    write_text("a.xml", ANALYZE(STATES, "<StaticOptimization><activation_exponent>0.5"
                                        "</activation_exponent></StaticOptimization>"));
    assert_says("a.xml", NULL, TAL_ERR_FILE, "exponent is 0.5");
    write_text("more.xml", "<Forces/>");
    write_text("a.xml", ANALYZE(STATES "<force_set_files>more.xml</force_set_files>", OPTIMIZE));
    assert_says("a.xml", NULL, TAL_ERR_FILE, "<ForceSet>");
    write_text("a.xml", ANALYZE(STATES "<force_set_files>none.xml</force_set_files>", OPTIMIZE));
    assert_says("a.xml", NULL, TAL_ERR_FILE, "none.xml");
}

END_TEST

// The rod at 0.3 rad with u = 2: (I + m l^2) udot = -m g l sin q of gravity, 3 and 4 N m of the
// motors at a control of one; speed turns its mass center to the pin with u^2 l.
START_TEST(induced_accelerations_are_those_of_each_force_alone)
{
    write_motors();
    write_states("swing", "swing_u", 1.0);
    write_text("a.xml", ANALYZE(STATES, "<InducedAccelerations name='IA'><body_names>rod "
                                        "center_of_mass</body_names><compute_potentials_only>true"
                                        "</compute_potentials_only><in_degrees>false</in_degrees>"
                                        "</InducedAccelerations>"));
    tal_osim_results *r = run_good("a.xml", NULL, 0);
    ck_assert_int_eq(tal_osim_results_num(r), 3);
    static const char *const files[] = {"IA_swing.sto", "IA_rod.sto", "IA_center_of_mass.sto"};
    for (int i = 0; i < 3; ++i) {
        ck_assert_ptr_nonnull(strstr(tal_osim_results_path(r, i), files[i]));
    }
    const double J = inertia + MASS * length * length;
    for (int k = 0; k < 3; ++k) {
        const double q = rows[k][0], u = rows[k][1];
        ck_assert_double_eq_tol(value(r, 0, k, "gravity"), udot_of(q), 1e-12);
        ck_assert_double_eq_tol(value(r, 0, k, "velocity"), 0.0, 1e-12);
        ck_assert_double_eq_tol(value(r, 0, k, "strong"), 1.0 / J, 1e-12);
        ck_assert_double_eq_tol(value(r, 0, k, "total"), udot_of(q) + 2.0 / J, 1e-12);
        for (int t = 1; t < 3; ++t) {
            ck_assert_double_eq_tol(value(r, t, k, "velocity_X"), -length * u * u * sin(q), 1e-12);
            ck_assert_double_eq_tol(value(r, t, k, "velocity_Y"), length * u * u * cos(q), 1e-12);
            ck_assert_double_eq_tol(value(r, t, k, "weak_X"), length * cos(q) / J, 1e-12);
        }
        ck_assert_double_eq_tol(value(r, 1, k, "weak_Oz"), 1.0 / J, 1e-12);
    }
    tal_osim_results_destroy(r);
    write_text("a.xml", ANALYZE(STATES, "<InducedAccelerations><coordinate_names>knee"
                                        "</coordinate_names></InducedAccelerations>"));
    assert_says("a.xml", NULL, TAL_ERR_FILE, "no coordinate 'knee'");
    write_text("a.xml", ANALYZE(STATES, "<InducedAccelerations/>"));
    assert_survives_failing_memory("a.xml");
}

END_TEST

// Motors of the table turn the rod, whatever their controls are; the pin carries their moment, too.
START_TEST(joint_reactions_take_forces_from_a_table)
{
    write_motors();
    write_text("loads.sto", "forces\nendheader\ntime\tweak\t/forceset/strong\tother\n0\t1\t2\t9\n"
                            "1\t3\t4\t9\n");
    write_text("a.xml", ANALYZE(STATES, "<JointReaction><forces_file>loads.sto</forces_file>"
                                        "</JointReaction><Actuation/>"));
    assert_says("a.xml", NULL, TAL_OK, "no actuator 'other'");
    tal_osim_results *r = run_good("a.xml", NULL, 0);
    for (int k = 0; k < 3; ++k) {
        const double sum = 3.0 + 2.0 * k; // 1 + 2, 2 + 3, 3 + 4
        const double q = 0.3;
        const double udot = (sum - MASS * G * length * sin(q)) / (inertia + MASS * length * length);
        ck_assert_double_eq_tol(value(r, 0, k, "pin_on_rod_in_ground_mz"), sum, 1e-12);
        ck_assert_double_eq_tol(value(r, 0, k, "pin_on_rod_in_ground_fx"),
                                MASS * length * udot * cos(q), 1e-12);
        ck_assert_double_eq_tol(value(r, 0, k, "pin_on_rod_in_ground_fy"),
                                MASS * (length * udot * sin(q) + G), 1e-12);
        ck_assert_double_eq(value(r, 1, k, "weak"), 0.0); // other analyses see the State
    }
    tal_osim_results_destroy(r);
    assert_survives_failing_memory("a.xml");
}

END_TEST

// --- threads ---

static bool are_the_same(const tal_table *a, const tal_table *b)
{
    bool same = tal_table_num_rows(a) == tal_table_num_rows(b);
    for (int r = 0; r < tal_table_num_rows(a) && same; ++r) {
        for (int c = 0; c < tal_table_num_columns(a); ++c) {
            const double x = tal_table_value(a, r, c), y = tal_table_value(b, r, c);
            same = same && memcmp(&x, &y, sizeof x) == 0;
        }
    }
    return same;
}

static tal_osim_results *run_in_lanes(int lanes, const tal_executor *executor,
                                      bool (*progress)(void *context, int done, int total),
                                      tal_status expected)
{
    tal_osim_results *results = NULL;
    tal_osim_run_options options = tal_osim_run_options_default();
    options.lanes = lanes;
    options.executor = executor;
    options.progress = progress;
    ck_assert_int_eq(tal_osim_run_file(in_folder("a.xml"), &options, &results, NULL), expected);
    return results;
}

// A swing of 150 rows, at some of which the motors are too weak: those are flagged.
static void write_long_swing(void)
{
    static char text[20000];
    size_t used = (size_t)snprintf(text, sizeof text, "s\nendheader\ntime\tswing\tswing_u\n");
    for (int k = 0; k < 150; ++k) {
        const double t = 0.01 * k;
        used += (size_t)snprintf(text + used, sizeof text - used, "%.17g\t%.17g\t%.17g\n", t,
                                 sin(3.0 * t), 3.0 * cos(3.0 * t));
    }
    write_motors();
    write_text("states.sto", text);
    write_text("a.xml", ANALYZE(STATES, OPTIMIZE "<Kinematics/><BodyKinematics><step_interval>7"
                                                 "</step_interval></BodyKinematics><JointReaction/>"
                                                 "<Actuation/><ForceReporter/>"
                                                 "<InducedAccelerations/>"));
}

START_TEST(results_do_not_depend_on_the_number_of_threads)
{
    write_long_swing();
    tal_osim_results *one = run_in_lanes(1, NULL, NULL, TAL_OK);
    ck_assert_int_eq(tal_table_num_rows(table_of(one, "SO_force.sto")), 150);
    ck_assert_int_eq(tal_table_num_rows(table_of(one, "pos_global.sto")), 22);
    tal_threads *threads = NULL;
    ck_assert_int_eq(tal_threads_create(3, &threads, NULL), TAL_OK);
    const tal_executor executor = tal_threads_executor(threads);
    for (int lanes = 2; lanes <= 7; lanes += 5) { // 7: some have nothing to do
        tal_osim_results *many = run_in_lanes(lanes, &executor, NULL, TAL_OK);
        ck_assert_int_eq(tal_osim_results_num(many), tal_osim_results_num(one));
        for (int i = 0; i < tal_osim_results_num(one); ++i) {
            const tal_table *a = tal_osim_results_table(one, i);
            if (a != NULL) ck_assert(are_the_same(a, tal_osim_results_table(many, i)));
        }
        tal_osim_results_destroy(many);
    }
    tal_threads_destroy(threads);
    tal_osim_results_destroy(one);
}

END_TEST

static bool end_after_forty(void *context, int done, int total)
{
    (void)context;
    ck_assert_int_eq(total, 150);
    return done < 40;
}

START_TEST(a_run_that_is_ended_keeps_its_rows)
{
    write_long_swing();
    for (int lanes = 1; lanes <= 3; lanes += 2) {
        tal_osim_results *r = run_in_lanes(lanes, NULL, end_after_forty, TAL_ERR_CALLBACK);
        ck_assert_int_eq(tal_table_num_rows(table_of(r, "SO_force.sto")), 40);
        tal_osim_results_destroy(r);
    }
}

END_TEST

START_TEST(static_optimization_survives_every_failure_of_memory)
{
    write_motors();
    write_text("a.xml", ANALYZE(STATES "<force_set_files>more.xml</force_set_files>", OPTIMIZE));
    assert_survives_failing_memory("a.xml");
}

END_TEST

int main(void)
{
    make_folder();
    Suite *suite = suite_create("io/analyze");
    TCase *tc = tcase_create("analyze");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, write_rod, NULL);
    tcase_add_test(tc, a_pin_carries_its_pendulum);
    tcase_add_test(tc, a_shoulder_blade_hangs_on_its_joint);
    tcase_add_test(tc, a_joint_that_is_turned_round_carries_the_same);
    tcase_add_test(tc, external_loads_take_part);
    tcase_add_test(tc, coordinates_are_recorded_in_the_units_asked_for);
    tcase_add_test(tc, bodies_are_recorded_at_their_mass_centers);
    tcase_add_test(tc, points_are_recorded_as_seen_from_a_body);
    tcase_add_test(tc, rows_are_chosen_by_time_and_interval);
    tcase_add_test(tc, speeds_of_coordinates_are_those_of_their_curves);
    tcase_add_test(tc, a_row_that_fails_is_flagged_and_the_others_are_there);
    tcase_add_test(tc, set_ups_that_are_wrong_are_refused);
    tcase_add_test(tc, analyses_survive_every_failure_of_memory);
    tcase_add_test(tc, static_optimization_shares_the_moment);
    tcase_add_test(tc, static_optimization_follows_the_accelerations_of_the_motion);
    tcase_add_test(tc, static_optimization_survives_every_failure_of_memory);
    tcase_add_test(tc, joint_reactions_take_forces_from_a_table);
    tcase_add_test(tc, results_do_not_depend_on_the_number_of_threads);
    tcase_add_test(tc, a_run_that_is_ended_keeps_its_rows);
    tcase_add_test(tc, induced_accelerations_are_those_of_each_force_alone);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
