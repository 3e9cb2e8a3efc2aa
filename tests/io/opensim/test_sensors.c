// io/src/opensim/: orientation sensors, where they sit and what they see; reports of forces and
// probes.
#include "opensim/tool_support.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

// --- a trunk on a ball, with a neck ---

static const char model_text[] =
    "<OpenSimDocument Version='40000'><Model name='m'><BodySet><objects><Body name='trunk'>"
    "<mass>3</mass><mass_center>0.1 0.2 0.3</mass_center><inertia>1 1 1 0 0 0</inertia></Body>"
    "<Body name='head'><mass>1</mass><inertia>1 1 1 0 0 0</inertia></Body></objects></BodySet>"
    "<JointSet><objects><GimbalJoint name='base'><socket_parent_frame>/ground"
    "</socket_parent_frame><socket_child_frame>/bodyset/trunk</socket_child_frame><coordinates>"
    "<Coordinate name='roll'/><Coordinate name='yaw'/><Coordinate name='pitch'/></coordinates>"
    "</GimbalJoint><PinJoint name='neck'><socket_parent_frame>/bodyset/trunk</socket_parent_frame>"
    "<socket_child_frame>/bodyset/head</socket_child_frame><coordinates><Coordinate name='nod'/>"
    "</coordinates></PinJoint></objects></JointSet></Model></OpenSimDocument>";

// z of the sensors is up, Ground's y is
#define TURNED "<sensor_to_opensim_rotations>-1.5707963267948966 0 0</sensor_to_opensim_rotations>"

static const char place_text[] =
    "<OpenSimDocument Version='40000'><IMUPlacer name='p'><model_file>model.osim</model_file>"
    "<base_imu_label>trunk_imu</base_imu_label><base_heading_axis>z</base_heading_axis>" TURNED
    "<orientation_file_for_calibration>seen.sto</orientation_file_for_calibration>"
    "<output_model_file>better.osim</output_model_file></IMUPlacer></OpenSimDocument>";

static const char ik_text[] =
    "<OpenSimDocument Version='40000'><IMUInverseKinematicsTool name='ik'><model_file>better.osim"
    "</model_file><results_directory>.</results_directory>" TURNED
    "<orientations_file>moves.sto</orientations_file></IMUInverseKinematicsTool>"
    "</OpenSimDocument>";

enum {
    NUM_FRAMES = 5
};

static tal_mat3 turn(double x, double y, double z)
{
    const tal_axis axes[] = {TAL_AXIS_X, TAL_AXIS_Y, TAL_AXIS_Z};
    const double angles[] = {x, y, z};
    return tal_rotation_from_angles(TAL_BODY_FIXED, 3, axes, angles);
}

// How the sensors sit: z of the trunk's along its x.
static tal_mat3 sits(int k)
{
    return k == 0 ? turn(0.0, 0.5 * pi, 0.0) : turn(0.4, -0.3, 0.9);
}

static double angle_at(int c, int frame)
{
    static const double size[] = {0.2, -0.3, 0.5, 0.7};
    return frame * size[c] / NUM_FRAMES;
}

// What both sensors see in their own frame, turned by `heading` about the vertical.
static void write_seen(const char *file, int num_frames, double heading)
{
    char text[4000];
    int n =
        snprintf(text, sizeof text, "DataType=Quaternion\nendheader\ntime\ttrunk_imu\thead_imu\n");
    for (int f = 0; f < num_frames; ++f) {
        n += snprintf(text + n, sizeof text - (size_t)n, "%g", 0.1 * f);
        const tal_mat3 R_GT = turn(angle_at(0, f), angle_at(1, f), angle_at(2, f));
        const tal_mat3 R_GH = tal_m3_mul(R_GT, turn(0.0, 0.0, angle_at(3, f)));
        for (int k = 0; k < 2; ++k) {
            const tal_mat3 R_GS = tal_m3_mul(k == 0 ? R_GT : R_GH, sits(k));
            const tal_mat3 turned = tal_m3_mul(turn(0.0, heading, 0.0), R_GS);
            const tal_mat3 R_NS = tal_m3_mul(turn(0.5 * pi, 0.0, 0.0), turned);
            const tal_quat e = tal_rotation_to_qt(&R_NS);
            n += snprintf(text + n, sizeof text - (size_t)n, "\t%.15g,%.15g,%.15g,%.15g", e.w, e.x,
                          e.y, e.z);
        }
        n += snprintf(text + n, sizeof text - (size_t)n, "\n");
    }
    write_text(file, text);
}

// The files of every test; others are added to them.
static void set_up(void)
{
    write_text("model.osim", model_text);
    write_text("place.xml", place_text);
    write_text("ik.xml", ik_text);
}

// Sensors are placed by a first pose, whatever the heading of their world; the motion that they
// see then is that of the model.
START_TEST(sensors_are_placed_and_followed)
{
    const double heading = 0.8 * _i;
    write_seen("seen.sto", 1, heading);
    write_seen("moves.sto", NUM_FRAMES, 0.0); // the placed model looks where the trunk does
    tal_osim_results *placed = run_good("place.xml", NULL, 0);
    const char *model = text_of(placed, "better.osim");
    ck_assert_ptr_nonnull(strstr(model, "PhysicalOffsetFrame name=\"trunk_imu\""));
    ck_assert_ptr_nonnull(strstr(model, "<translation>0.1"));
    write_text("better.osim", model);
    tal_osim_results *found = run_good("ik.xml", NULL, 0);
    const tal_table *motion = table_of(found, "ik_moves.mot");
    const tal_table *errors = table_of(found, "moves_orientationErrors.sto");
    static const char *const names[] = {"roll", "yaw", "pitch", "nod"};
    ck_assert_int_eq(tal_table_num_rows(motion), NUM_FRAMES);
    for (int f = 0; f < NUM_FRAMES; ++f) {
        for (int c = 0; c < 4; ++c) {
            const int column = tal_table_find_column(motion, names[c]);
            ck_assert_double_eq_tol(tal_table_value(motion, f, column), angle_at(c, f) * 180.0 / pi,
                                    1e-5);
        }
        ck_assert_double_eq_tol(tal_table_value(errors, f, 2), 0.0, 1e-7);
    }
    tal_osim_results_destroy(found);
    tal_osim_results_destroy(placed);
}

END_TEST

START_TEST(what_sensors_lack_is_said)
{
    write_seen("seen.sto", 1, 0.0);
    write_seen("moves.sto", 2, 0.0);
    const tal_osim_setting bare = {"model_file", "model.osim"};
    assert_says("ik.xml", &bare, TAL_ERR_FILE, "the model has none of its sensors");
    const tal_osim_setting axis = {"base_heading_axis", "w"};
    assert_says("place.xml", &axis, TAL_ERR_FILE, "'w' is not an axis as 'z' or '-x'");
    const tal_osim_setting base = {"base_imu_label", "tail_imu"};
    assert_says("place.xml", &base, TAL_ERR_FILE, "there is no sensor 'tail_imu'");
    write_text("doubles.sto", "a\nendheader\ntime\tx\n0\t1\n");
    const tal_osim_setting doubles = {"orientation_file_for_calibration", "doubles.sto"};
    assert_says("place.xml", &doubles, TAL_ERR_FILE, "it has no columns of quaternions");
    assert_survives_failing_memory("place.xml");
}

END_TEST

// --- reports ---

// A body of 2 kg on a slider with a motor of 10 N per control that is held at 0.5, a spring of
// 4 N/m, and probes of them.
#define PROBE(class, name, more) "<" class " name='" name "'>" more "</" class ">"

static const char probes_text[] =
    "<OpenSimDocument Version='40000'><Model name='m'><gravity>0 0 0</gravity><BodySet><objects>"
    "<Body name='b'><mass>2</mass><inertia>1 1 1 0 0 0</inertia></Body></objects></BodySet>"
    "<JointSet><objects><SliderJoint name='j'><socket_parent_frame>/ground</socket_parent_frame>"
    "<socket_child_frame>/bodyset/b</socket_child_frame><coordinates><Coordinate name='x'/>"
    "</coordinates></SliderJoint></objects></JointSet><ForceSet><objects><CoordinateActuator "
    "name='motor'><coordinate>x</coordinate><optimal_force>10</optimal_force></CoordinateActuator>"
    "<SpringGeneralizedForce name='spring'><coordinate>x</coordinate><stiffness>4</stiffness>"
    "<rest_length>0</rest_length><viscosity>0</viscosity></SpringGeneralizedForce>"
    "<PointToPointSpring name='rope'><socket_body1>/ground</socket_body1><socket_body2>/bodyset/b"
    "</socket_body2><point1>0 0 0</point1><point2>0 0 0</point2><stiffness>6</stiffness>"
    "<rest_length>0</rest_length></PointToPointSpring></objects></ForceSet><ControllerSet><objects>"
    "<PrescribedController name='c'><actuator_list>motor</actuator_list><ControlFunctions><objects>"
    "<Constant name='motor'><value>0.5</value></Constant></objects></ControlFunctions>"
    "</PrescribedController></objects></ControllerSet><ProbeSet><objects>" PROBE(
        "ActuatorForceProbe", "force", "<actuator_names>motor</actuator_names><gain>3</gain>")
        PROBE("ActuatorPowerProbe", "work",
              "<actuator_names>all</actuator_names><sum_powers_together>true</sum_powers_together>"
              "<probe_operation>integrate</probe_operation>")
            PROBE("SystemEnergyProbe", "most",
                  "<probe_operation>maximum</probe_operation><compute_potential_energy>false"
                  "</compute_potential_energy>") PROBE("JointInternalPowerProbe", "power",
                                                       "<joint_names>all</joint_names>")
                PROBE("HeartRateProbe", "odd", "") PROBE(
                    "ActuatorForceProbe", "off",
                    "<enabled>false</enabled>") "</objects></ProbeSet></Model></OpenSimDocument>";

static const char reports_text[] =
    "<OpenSimDocument Version='40000'><AnalyzeTool name='a'><model_file>probes.osim</model_file>"
    "<results_directory>.</results_directory><coordinates_file>motion.mot</coordinates_file>"
    "<AnalysisSet><objects><ForceReporter name='ForceReporter'/><ProbeReporter "
    "name='ProbeReporter'/></objects></AnalysisSet></AnalyzeTool></OpenSimDocument>";

// x = 0.2 + t: forces at t are those of the springs at x; the motor's work is 5 N times the way.
START_TEST(forces_and_probes_are_reported)
{
    write_text("probes.osim", probes_text);
    write_text("reports.xml", reports_text);
    write_text("motion.mot", "m\nendheader\ntime\tx\n0\t0.2\n0.25\t0.45\n0.5\t0.7\n0.75\t0.95\n"
                             "1\t1.2\n");
    tal_osim_results *results = run_good("reports.xml", NULL, 0);
    const tal_table *forces = table_of(results, "a_ForceReporter_forces.sto");
    const tal_table *probes = table_of(results, "a_ProbeReporter_probes.sto");
    static const char *const force_names[] = {"motor", "spring", "rope.b.force.X"};
    static const char *const probe_names[] = {"force_motor", "work_Summed", "most"};
    const int power = tal_table_find_column(probes, "power_j");
    ck_assert_int_eq(tal_table_num_columns(forces), 1 + 1 + 1 + 6);
    ck_assert_int_eq(tal_table_num_columns(probes), 1 + 4);
    for (int r = 0; r < 5; ++r) {
        const double t = 0.25 * r, x = 0.2 + t;
        const double expected[] = {5.0, -4.0 * x, -6.0 * x};
        const double measured[] = {15.0, 5.0 * t, 0.5 * 2.0};
        for (int k = 0; k < 3; ++k) {
            const int c = tal_table_find_column(forces, force_names[k]);
            const int p = tal_table_find_column(probes, probe_names[k]);
            ck_assert_double_eq_tol(tal_table_value(forces, r, c), expected[k], 1e-12);
            ck_assert_double_eq_tol(tal_table_value(probes, r, p), measured[k], 1e-12);
        }
        // motor and spring act along the coordinate, the rope does not; the speed is 1
        ck_assert_double_eq_tol(tal_table_value(probes, r, power), 5.0 - 4.0 * x, 1e-12);
    }
    tal_osim_results_destroy(results);
    assert_says("reports.xml", NULL, TAL_OK, "<HeartRateProbe> 'odd' is not a probe");
}

END_TEST

// --- probes of muscles ---

#define STRING(offset)                                                                             \
    "<GeometryPath name='path'><PathPointSet><objects><PathPoint name='1'>"                        \
    "<socket_parent_frame>/ground</socket_parent_frame><location>-0.3 " offset " 0</location>"     \
    "</PathPoint><PathPoint name='2'><socket_parent_frame>/bodyset/b</socket_parent_frame>"        \
    "<location>0 " offset " 0</location></PathPoint></objects></PathPointSet></GeometryPath>"
#define MUSCLE(name, offset)                                                                       \
    "<Thelen2003Muscle name='" name "'>" STRING(                                                   \
        offset) "<max_isometric_force>100</max_isometric_force><optimal_fiber_length>0.2"          \
                "</optimal_fiber_length><tendon_slack_length>0.1</tendon_slack_length></Thelen2003Muscle>"
#define WEIGHS(name, kg)                                                                           \
    "<Umberger2010MuscleMetabolicsProbe_MetabolicMuscleParameter name='" name "'>"                 \
    "<use_provided_muscle_mass>true</use_provided_muscle_mass><provided_muscle_mass>" kg           \
    "</provided_muscle_mass></Umberger2010MuscleMetabolicsProbe_MetabolicMuscleParameter>"
#define METABOLIC(name, muscles, more)                                                             \
    PROBE("Umberger2010MuscleMetabolicsProbe", name,                                               \
          "<shortening_rate_on>false</shortening_rate_on><mechanical_work_rate_on>false"           \
          "</mechanical_work_rate_on>" more                                                        \
          "<Umberger2010MuscleMetabolicsProbe_MetabolicMuscleParameterSet><objects>" muscles       \
          "</objects></Umberger2010MuscleMetabolicsProbe_MetabolicMuscleParameterSet>")
#define WITH_MUSCLES(probes)                                                                       \
    "<OpenSimDocument Version='40000'><Model name='m'><gravity>0 0 0</gravity><BodySet><objects>"  \
    "<Body name='b'><mass>2</mass><inertia>1 1 1 0 0 0</inertia></Body></objects></BodySet>"       \
    "<JointSet><objects><SliderJoint name='j'><socket_parent_frame>/ground</socket_parent_frame>"  \
    "<socket_child_frame>/bodyset/b</socket_child_frame><coordinates><Coordinate name='x'/>"       \
    "</coordinates></SliderJoint></objects></JointSet><ForceSet><objects>" MUSCLE("one", "0")      \
        MUSCLE("two", "0.1") "</objects></ForceSet><ProbeSet><objects>" probes                     \
                             "</objects></ProbeSet></Model></OpenSimDocument>"

// Two equal muscles at rest, the second with twice the mass: heat is in proportion to the mass, at
// least 1 W/kg; a body needs 1.2 W/kg. Each has a column, and all of it is the total.
START_TEST(muscles_turn_power_into_heat_by_their_masses)
{
    write_text("probes.osim",
               WITH_MUSCLES(METABOLIC("heat", WEIGHS("one", "0.3") WEIGHS("two", "0.6"),
                                      "<report_total_metabolics_only>false"
                                      "</report_total_metabolics_only>")
                                METABOLIC("all", WEIGHS("two", "0.6") WEIGHS("one", "0.3"), "")
                                    PROBE("MuscleActiveFiberPowerProbe", "power",
                                          "<muscle_names>all</muscle_names>")));
    write_text("reports.xml", reports_text);
    write_text("motion.mot", "m\nendheader\ntime\tx\n0\t0\n0.25\t0\n0.5\t0\n0.75\t0\n1\t0\n");
    tal_osim_results *results = run_good("reports.xml", NULL, 0);
    const tal_table *probes = table_of(results, "a_ProbeReporter_probes.sto");
    static const char *const names[] = {"heat_TOTAL", "heat_BASAL", "heat_one", "heat_two",
                                        "all_TOTAL",  "power_one",  "power_two"};
    ck_assert_int_eq(tal_table_num_columns(probes), 1 + 7);
    ck_assert_int_eq(tal_table_num_rows(probes), 5);
    for (int r = 0; r < 5; ++r) {
        double x[7];
        for (int k = 0; k < 7; ++k) {
            const int c = tal_table_find_column(probes, names[k]);
            ck_assert_msg(c > 0, "there is no column %s", names[k]);
            x[k] = tal_table_value(probes, r, c);
        }
        ck_assert_double_eq_tol(x[1], 2.4, 1e-14);
        ck_assert_double_ge(x[2], 0.3);
        ck_assert_double_eq_tol(x[3], 2.0 * x[2], 1e-12 * x[2]);
        ck_assert_double_eq_tol(x[0], x[1] + x[2] + x[3], 1e-12 * x[0]);
        ck_assert_double_eq_tol(x[4], x[0], 1e-12 * x[0]);
        ck_assert_double_eq_tol(x[5], 0.0, 1e-9); // W of 100 N: the fibers do not move
        ck_assert_double_eq_tol(x[6], 0.0, 1e-9);
    }
    tal_osim_results_destroy(results);
}

END_TEST

// More names than there are forces, because some are there twice.
START_TEST(what_a_probe_lists_twice_is_refused_by_name)
{
    write_text("reports.xml", reports_text);
    write_text("motion.mot", "m\nendheader\ntime\tx\n0\t0\n0.5\t0\n1\t0\n1.5\t0\n2\t0\n");
    write_text("probes.osim",
               WITH_MUSCLES(PROBE("ActuatorForceProbe", "f",
                                  "<actuator_names>one two one two one</actuator_names>")));
    assert_says("reports.xml", NULL, TAL_ERR_FILE, "'one' is listed twice");
    write_text("probes.osim",
               WITH_MUSCLES(METABOLIC(
                   "heat", WEIGHS("one", "1") WEIGHS("two", "1") WEIGHS("two", "1"), "")));
    assert_says("reports.xml", NULL, TAL_ERR_FILE, "'two' is listed twice");
}

END_TEST

#define SLIDER(body, x)                                                                            \
    "<SliderJoint name='" x "_joint'><socket_parent_frame>/ground</socket_parent_frame>"           \
    "<socket_child_frame>/bodyset/" body "</socket_child_frame><coordinates><Coordinate name='" x  \
    "'/></coordinates></SliderJoint>"
#define MASS_OF(name, mass)                                                                        \
    "<Body name='" name "'><mass>" mass "</mass><inertia>1 1 1 0 0 0</inertia></Body>"
#define PUSH(x, newtons)                                                                           \
    "<SpringGeneralizedForce name='push_" x "'><coordinate>" x "</coordinate><stiffness>1"         \
    "</stiffness><rest_length>" newtons "</rest_length><viscosity>0</viscosity>"                   \
    "</SpringGeneralizedForce>"

// A body of 2 kg, pushed by 5 N, drags one of 3 kg along twice the way; a third one is pushed by
// 7 N and pinned to Ground.
static const char held_text[] =
    "<OpenSimDocument Version='40000'><Model name='m'><gravity>0 0 0</gravity><BodySet><objects>" MASS_OF(
        "a", "2") MASS_OF("b",
                          "3") MASS_OF("c",
                                       "1") "</objects></BodySet><JointSet><objects>" SLIDER("a",
                                                                                             "x")
        SLIDER("b", "y") SLIDER(
            "c",
            "z") "</objects></JointSet><ConstraintSet>"
                 "<objects><CoordinateCouplerConstraint name='gear'><coupled_coordinates_function>"
                 "<LinearFunction><coefficients>2 0</coefficients></LinearFunction>"
                 "</coupled_coordinates_function><independent_coordinate_names>x</independent_coordinate_names>"
                 "<dependent_coordinate_name>y</dependent_coordinate_name></CoordinateCouplerConstraint>"
                 "<PointConstraint name='nail'><socket_body_1>/ground</socket_body_1><socket_body_2>/bodyset/c"
                 "</socket_body_2><location_body_1>0 0 0</location_body_1><location_body_2>0 0 0"
                 "</location_body_2></PointConstraint></objects></ConstraintSet><ForceSet><objects>" PUSH(
                     "x", "5") PUSH("z", "7") "</objects></ForceSet></Model></OpenSimDocument>";

// 2 x'' = 5 + f_x, 3 y'' = f_y, y = 2 x, f_x + 2 f_y = 0: f_y = 30/14.
START_TEST(forces_of_constraints_are_reported)
{
    write_text("probes.osim", held_text);
    write_text("motion.sto", "m\nendheader\ntime\tx\ty\tz\tx_u\ty_u\tz_u\n0\t0\t0\t0\t0\t0\t0\n"
                             "1\t0\t0\t0\t0\t0\t0\n");
    write_text("reports.xml",
               "<OpenSimDocument Version='40000'><AnalyzeTool name='a'><model_file>probes.osim"
               "</model_file><states_file>motion.sto</states_file><AnalysisSet><objects>"
               "<ForceReporter name='F'><include_constraint_forces>true</include_constraint_forces>"
               "</ForceReporter></objects></AnalysisSet></AnalyzeTool></OpenSimDocument>");
    tal_osim_results *results = run_good("reports.xml", NULL, 0);
    ck_assert_int_eq(tal_table_num_columns(tal_osim_results_table(results, 0)), 1 + 2 + 2 + 6);
    ck_assert_double_eq_tol(value(results, 0, 0, "gear_mobility_F0"), -60.0 / 14.0, 1e-12);
    ck_assert_double_eq_tol(value(results, 0, 0, "gear_mobility_F1"), 30.0 / 14.0, 1e-12);
    ck_assert_double_eq_tol(value(results, 0, 1, "nail_c_Fx"), -7.0, 1e-12);
    ck_assert_double_eq_tol(value(results, 0, 1, "nail_c_Mz"), 0.0, 1e-12);
    tal_osim_results_destroy(results);
}

END_TEST

int main(void)
{
    make_folder();
    test_record_breaches();
    Suite *suite = suite_create("io/sensors");
    TCase *tc = tcase_create("sensors");
    tcase_set_timeout(tc, 60.0);
    tcase_add_checked_fixture(tc, set_up, NULL);
    tcase_add_loop_test(tc, sensors_are_placed_and_followed, 0, 3);
    tcase_add_test(tc, what_sensors_lack_is_said);
    tcase_add_test(tc, forces_and_probes_are_reported);
    tcase_add_test(tc, muscles_turn_power_into_heat_by_their_masses);
    tcase_add_test(tc, what_a_probe_lists_twice_is_refused_by_name);
    tcase_add_test(tc, forces_of_constraints_are_reported);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
