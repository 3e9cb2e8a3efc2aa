// io/src/opensim/: forward dynamics and analyses of muscles, from set-up files.
#include "opensim/tool_support.h"

#include <math.h>

// --- files ---

// A body of 2 kg on a slider, pushed by a motor and by data, with a muscle that can be switched on.
static const char model_text[] =
    "<OpenSimDocument Version='40000'><Model name='m'><gravity>0 0 0</gravity><BodySet><objects>"
    "<Body name='b'><mass>2</mass><inertia>1 1 1 0 0 0</inertia></Body></objects></BodySet>"
    "<JointSet><objects><SliderJoint name='j'><socket_parent_frame>/ground</socket_parent_frame>"
    "<socket_child_frame>/bodyset/b</socket_child_frame><coordinates><Coordinate name='x'>"
    "<default_value>0.3</default_value></Coordinate></coordinates></SliderJoint></objects>"
    "</JointSet><ForceSet><objects><CoordinateActuator name='motor'><coordinate>x</coordinate>"
    "<optimal_force>10</optimal_force></CoordinateActuator><Thelen2003Muscle name='pull'>"
    "<appliesForce>false</appliesForce><GeometryPath name='path'><PathPointSet><objects><PathPoint>"
    "<socket_parent_frame>/ground</socket_parent_frame><location>0 0 0</location></PathPoint>"
    "<PathPoint><socket_parent_frame>/bodyset/b</socket_parent_frame><location>0 0 0</location>"
    "</PathPoint></objects></PathPointSet></GeometryPath><max_isometric_force>100"
    "</max_isometric_force><optimal_fiber_length>0.1</optimal_fiber_length><tendon_slack_length>"
    "0.2</tendon_slack_length></Thelen2003Muscle></objects></ForceSet></Model></OpenSimDocument>";

// 0.1 up to half a second, then 0.3
static const char controls_text[] =
    "<OpenSimDocument Version='40000'><ControlSet name='c'><objects><ControlLinear "
    "name='motor.excitation'><use_steps>true</use_steps><x_nodes><ControlLinearNode><t>0</t>"
    "<value>0.1</value></ControlLinearNode><ControlLinearNode><t>0.5</t><value>0.1</value>"
    "</ControlLinearNode><ControlLinearNode><t>1</t><value>0.3</value></ControlLinearNode>"
    "</x_nodes></ControlLinear></objects></ControlSet></OpenSimDocument>";

static const char loads_text[] =
    "<OpenSimDocument Version='40000'><ExternalLoads name='l'><objects><ExternalForce name='push'>"
    "<applied_to_body>b</applied_to_body><force_identifier>f</force_identifier>"
    "</ExternalForce></objects><datafile>loads.sto</datafile></ExternalLoads></OpenSimDocument>";

// 6 t newtons along x
static const char loads_table[] = "loads\nversion=1\nnRows=5\nnColumns=4\ninDegrees=no\nendheader\n"
                                  "time\tfx\tfy\tfz\n0\t0\t0\t0\n0.25\t1.5\t0\t0\n0.5\t3\t0\t0\n"
                                  "0.75\t4.5\t0\t0\n1\t6\t0\t0\n";

static const char states_table[] =
    "states\nversion=1\nnRows=2\nnColumns=5\ninDegrees=no\nendheader\n"
    "time\t/jointset/j/x/value\t/jointset/j/x/speed\t/forceset/pull/activation\t"
    "/forceset/pull/fiber_length\n0\t0.5\t-0.25\t0.4\t0.08\n0.3\t9\t9\t0.9\t0.2\n";

#define FORWARD(more)                                                                              \
    "<OpenSimDocument Version='40000'><ForwardTool name='run'><model_file>model.osim</model_file>" \
    "<results_directory>.</results_directory><integrator_error_tolerance>1e-9"                     \
    "</integrator_error_tolerance>" more "</ForwardTool></OpenSimDocument>"
#define CONTROLLERS                                                                                \
    "<ControllerSet><objects><ControlSetController name='c'><controls_file>controls.xml"           \
    "</controls_file></ControlSetController></objects></ControllerSet>"

static const char forward_text[] =
    FORWARD("<initial_time>0.1</initial_time><final_time>1</final_time><states_file>states.sto"
            "</states_file><external_loads_file>loads.xml</external_loads_file><AnalysisSet>"
            "<objects><Actuation name='Actuation'/><Kinematics name='Kinematics'/></objects>"
            "</AnalysisSet>" CONTROLLERS);

// The files of every test; others are added to them.
static void set_up(void)
{
    write_text("model.osim", model_text);
    write_text("controls.xml", controls_text);
    write_text("loads.xml", loads_text);
    write_text("loads.sto", loads_table);
    write_text("states.sto", states_table);
    write_text("forward.xml", forward_text);
}

static double last_of(const tal_table *table, const char *column)
{
    const int c = tal_table_find_column(table, column);
    ck_assert_msg(c >= 0, "no column %s", column);
    return tal_table_value(table, tal_table_num_rows(table) - 1, c);
}

// --- forward ---

// From (0.5, -0.25) at 0.1 s with 2 a = 1 + 6 t, from half a second on 3 + 6 t.
START_TEST(a_run_follows_controls_and_loads)
{
    tal_osim_results *results = run_good("forward.xml", NULL, 0);
    const double h = 0.9, k = 0.5;
    // of a = 1/2 + 3 t: speed t/2 + 3/2 t^2, from 0.1 to 1; and 1 more from 0.5 on
    const double speed = -0.25 + 0.5 * h + 1.5 * (1.0 - 0.01) + 1.0 * k;
    const double place =
        0.5 - 0.25 * h + 0.25 * h * h + (0.5 * (1.0 - 0.001) - 1.5 * 0.01 * h) + 0.5 * k * k;
    const tal_table *states = table_of(results, "run_states.sto");
    ck_assert_double_eq_tol(last_of(states, "/jointset/j/x/value"), place, 1e-8);
    ck_assert_double_eq_tol(last_of(states, "/jointset/j/x/speed"), speed, 1e-8);
    ck_assert_double_eq_tol(tal_table_value(states, 0, 0), 0.1, 1e-15);
    ck_assert_double_eq(last_of(states, "time"), 1.0);
    const tal_table *degrees = table_of(results, "run_states_degrees.mot");
    ck_assert(tal_table_in_degrees(degrees));
    ck_assert_double_eq_tol(last_of(degrees, "/jointset/j/x/value"), place, 1e-8);
    ck_assert_double_eq_tol(last_of(table_of(results, "run_controls.sto"), "motor"), 0.3, 1e-15);
    ck_assert_double_eq_tol(last_of(table_of(results, "_Actuation_force.sto"), "motor"), 3.0,
                            1e-14);
    ck_assert_double_eq_tol(last_of(table_of(results, "_Actuation_speed.sto"), "motor"), speed,
                            1e-8);
    ck_assert_double_eq_tol(last_of(table_of(results, "_Actuation_power.sto"), "motor"),
                            3.0 * speed, 1e-7);
    ck_assert_double_eq_tol(last_of(table_of(results, "_Kinematics_dudt.sto"), "x"), 4.5, 1e-12);
    // no step passes the jump of the control
    bool met = false;
    for (int r = 0; r < tal_table_num_rows(states); ++r) {
        met = met || tal_table_value(states, r, 0) == 0.5;
    }
    ck_assert(met);
    tal_osim_results_destroy(results);
}

END_TEST

// Activation and fibers begin as the row says; those of a muscle that is off stand still.
START_TEST(muscles_begin_as_the_row_says)
{
    tal_osim_results *results = run_good("forward.xml", NULL, 0);
    const tal_table *states = table_of(results, "run_states.sto");
    const int a = tal_table_find_column(states, "/forceset/pull/activation");
    const int l = tal_table_find_column(states, "/forceset/pull/fiber_length");
    ck_assert_double_eq(tal_table_value(states, 0, a), 0.4);
    ck_assert_double_eq(tal_table_value(states, 0, l), 0.08);
    ck_assert_double_eq(last_of(states, "/forceset/pull/activation"), 0.4);
    tal_osim_results_destroy(results);
}

END_TEST

#define CORRECTED                                                                                  \
    FORWARD("<initial_time>0</initial_time><final_time>0.4</final_time><states_file>line.sto"      \
            "</states_file><ControllerSet><objects><ControlSetController><controls_file>"          \
            "controls.xml</controls_file></ControlSetController><CorrectionController name='k'/>"  \
            "</objects></ControllerSet>")

// The motor pushes 2 kg off the line x = 0.5 - t / 4 with 1 N; springs and dampers of the usual
// 100 and 20 pull back: 2 e'' + 20 e' + 100 e = 1.
START_TEST(a_correction_pulls_back_to_the_states)
{
    write_text("line.sto", "states\nendheader\ntime\tx\tx_u\n0\t0.5\t-0.25\n0.5\t0.375\t-0.25\n"
                           "1\t0.25\t-0.25\n");
    write_text("forward.xml", CORRECTED);
    tal_osim_results *results = run_good("forward.xml", NULL, 0);
    const double t = 0.4, e = 0.01 * (1.0 - exp(-5.0 * t) * (cos(5.0 * t) + sin(5.0 * t)));
    const double rate = 0.1 * exp(-5.0 * t) * sin(5.0 * t);
    const tal_table *states = table_of(results, "run_states.sto");
    ck_assert_double_eq_tol(last_of(states, "/jointset/j/x/value"), 0.5 - 0.25 * t + e, 1e-8);
    ck_assert_double_eq_tol(last_of(states, "/jointset/j/x/speed"), -0.25 + rate, 1e-8);
    const double force = -100.0 * e - 20.0 * rate;
    ck_assert_double_eq_tol(last_of(table_of(results, "run_controls.sto"), "x_corrector"), force,
                            1e-6);
    tal_osim_results_destroy(results);
    assert_survives_failing_memory("forward.xml");
}

END_TEST

static bool stop_early(void *context, int done, int total)
{
    (void)context;
    return done < total / 2;
}

#define SPECIFIED                                                                                  \
    FORWARD("<initial_time>0</initial_time><final_time>0.45</final_time><use_specified_dt>true"    \
            "</use_specified_dt><states_file>line.sto</states_file>" CONTROLLERS)
#define UNSPECIFIED                                                                                \
    FORWARD("<final_time>0.45</final_time><use_specified_dt>true</use_specified_dt>" CONTROLLERS)

// Rows are those of the states within the run, and its end: steps in between are not written.
START_TEST(specified_times_are_those_of_the_states)
{
    write_text("line.sto", "s\nnRows=4\nnColumns=3\ninDegrees=no\nendheader\ntime\tx\tx_u\n"
                           "0\t0.5\t-0.25\n0.13\t0\t0\n0.4\t0\t0\n0.5\t0\t0\n");
    write_text("a.xml", SPECIFIED);
    tal_osim_results *results = run_good("a.xml", NULL, 0);
    const tal_table *states = table_of(results, "run_states.sto");
    static const double times[] = {0.0, 0.13, 0.4, 0.45};
    ck_assert_int_eq(tal_table_num_rows(states), 4);
    for (int r = 0; r < 4; ++r) {
        ck_assert_double_eq(tal_table_value(states, r, 0), times[r]);
    }
    // 2 kg under 1 N of the motor
    const double place = 0.5 - 0.25 * 0.45 + 0.25 * 0.45 * 0.45;
    ck_assert_double_eq_tol(last_of(states, "/jointset/j/x/value"), place, 1e-8);
    tal_osim_results_destroy(results);
    write_text("a.xml", UNSPECIFIED);
    assert_says("a.xml", NULL, TAL_ERR_FILE,
                "the times of steps come from <states_file>, which is missing");
}

END_TEST

START_TEST(a_run_that_is_stopped_keeps_its_rows)
{
    tal_osim_results *results = NULL;
    tal_osim_run_options options = tal_osim_run_options_default();
    options.progress = stop_early;
    ck_assert_int_eq(tal_osim_run_file(in_folder("forward.xml"), &options, &results, NULL),
                     TAL_ERR_CALLBACK);
    const tal_table *states = table_of(results, "run_states.sto");
    ck_assert_int_gt(tal_table_num_rows(states), 2);
    ck_assert_double_lt(last_of(states, "time"), 1.0);
    tal_osim_results_destroy(results);
}

END_TEST

START_TEST(runs_survive_every_failure_of_memory)
{
    assert_survives_failing_memory("forward.xml");
}

END_TEST

START_TEST(what_is_wrong_with_a_run_is_said)
{
    write_text("none.xml", FORWARD(""));
    assert_says("none.xml", NULL, TAL_ERR_FILE, "<final_time> is missing");
    write_text("lost.xml",
               FORWARD("<final_time>1</final_time><ControllerSet><objects><ControlSetController>"
                       "<controls_file>lost.sto</controls_file></ControlSetController></objects>"
                       "</ControllerSet>"));
    assert_says("lost.xml", NULL, TAL_ERR_FILE, "lost.sto");
}

END_TEST

// --- muscles ---

// The path goes from ground to the body: its length is x, its moment arm about x is -1.
START_TEST(a_muscle_analysis_writes_its_tables)
{
    write_text("motion.mot", "m\nversion=1\nnRows=3\nnColumns=2\ninDegrees=no\nendheader\n"
                             "time\tx\n0\t0.29\n0.5\t0.3\n1\t0.31\n");
    write_text("analyze.xml",
               "<OpenSimDocument Version='40000'><AnalyzeTool name='a'><model_file>model.osim"
               "</model_file><results_directory>.</results_directory><coordinates_file>motion.mot"
               "</coordinates_file><solve_for_equilibrium_for_auxiliary_states>true"
               "</solve_for_equilibrium_for_auxiliary_states><AnalysisSet><objects><MuscleAnalysis "
               "name='M'><muscle_list>all</muscle_list><moment_arm_coordinate_list>x"
               "</moment_arm_coordinate_list><compute_moments>true</compute_moments>"
               "</MuscleAnalysis></objects></AnalysisSet></AnalyzeTool></OpenSimDocument>");
    tal_osim_results *results = run_good("analyze.xml", NULL, 0);
    ck_assert_int_eq(tal_osim_results_num(results), 20);
    ck_assert_double_eq_tol(last_of(table_of(results, "a_M_Length.sto"), "pull"), 0.31, 1e-12);
    ck_assert_double_eq_tol(last_of(table_of(results, "a_M_MomentArm_x.sto"), "pull"), -1.0, 1e-12);
    const double force = last_of(table_of(results, "a_M_TendonForce.sto"), "pull");
    ck_assert_double_gt(force, 1.0);
    ck_assert_double_eq_tol(last_of(table_of(results, "a_M_Moment_x.sto"), "pull"), -force, 1e-12);
    // in equilibrium at rest: fibers and tendon make up the path
    const double fiber = last_of(table_of(results, "a_M_FiberLength.sto"), "pull");
    const double tendon = last_of(table_of(results, "a_M_TendonLength.sto"), "pull");
    ck_assert_double_eq_tol(fiber + tendon, 0.31, 1e-12);
    tal_osim_results_destroy(results);
}

END_TEST

int main(void)
{
    make_folder();
    Suite *suite = suite_create("io/forward");
    TCase *tc = tcase_create("forward");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, set_up, NULL);
    tcase_add_test(tc, a_run_follows_controls_and_loads);
    tcase_add_test(tc, a_correction_pulls_back_to_the_states);
    tcase_add_test(tc, muscles_begin_as_the_row_says);
    tcase_add_test(tc, specified_times_are_those_of_the_states);
    tcase_add_test(tc, a_run_that_is_stopped_keeps_its_rows);
    tcase_add_test(tc, what_is_wrong_with_a_run_is_said);
    tcase_add_test(tc, runs_survive_every_failure_of_memory);
    tcase_add_test(tc, a_muscle_analysis_writes_its_tables);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
