// io/src/opensim/: computed muscle control and residual reduction, from set-up files.
#include "../study/muscle/leg_support.h"
#include "opensim/tool_support.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

// --- a trunk on a free pelvis ---

// clang-format off
#define TRUNK(center) \
    "<OpenSimDocument Version='40000'><Model name='trunk'><gravity>0 -9.80665 0</gravity>" \
    "<BodySet><objects><Body name='pelvis'><mass>12</mass><mass_center>0 0 0</mass_center>" \
    "<inertia>0.1 0.1 0.1 0 0 0</inertia></Body><Body name='torso'><mass>34</mass>" \
    "<mass_center>" center "</mass_center><inertia>1.4 0.7 1.4 0 0 0</inertia></Body></objects>" \
    "</BodySet>" \
    "<JointSet><objects><FreeJoint name='root'><socket_parent_frame>/ground</socket_parent_frame>" \
    "<socket_child_frame>/bodyset/pelvis</socket_child_frame><coordinates>" COORDINATES \
    "</coordinates></FreeJoint><PinJoint name='back'><socket_parent_frame>/bodyset/pelvis" \
    "</socket_parent_frame><socket_child_frame>/bodyset/torso</socket_child_frame><coordinates>" \
    "<Coordinate name='lumbar'/></coordinates></PinJoint></objects></JointSet></Model>" \
    "</OpenSimDocument>"
#define COORDINATES                                                                                \
    "<Coordinate name='rx'/><Coordinate name='ry'/><Coordinate name='rz'/><Coordinate name='tx'/>" \
    "<Coordinate name='ty'/><Coordinate name='tz'/>"

#define POINT(name, axis)                                                                          \
    "<PointActuator name='" name "'><body>pelvis</body><point>0 0 0</point><force_is_global>true"  \
    "</force_is_global><direction>" axis "</direction><optimal_force>10</optimal_force>"           \
    "</PointActuator>"
#define TORQUE(name, axis)                                                                         \
    "<TorqueActuator name='" name "'><bodyA>pelvis</bodyA><bodyB>ground</bodyB><torque_is_global>" \
    "true</torque_is_global><axis>" axis "</axis><optimal_force>10</optimal_force>"                \
    "</TorqueActuator>"

static const char actuators_text[] =
    "<OpenSimDocument Version='40000'><ForceSet name='residuals'><objects>"
    POINT("FX", "1 0 0") POINT("FY", "0 1 0") POINT("FZ", "0 0 1")
    TORQUE("MX", "1 0 0") TORQUE("MY", "0 1 0") TORQUE("MZ", "0 0 1")
    "<CoordinateActuator name='back_motor'><coordinate>lumbar</coordinate><optimal_force>100"
    "</optimal_force></CoordinateActuator></objects></ForceSet></OpenSimDocument>";
// clang-format on

static const char id_text[] =
    "<OpenSimDocument Version='40000'><InverseDynamicsTool name='id'><model_file>true.osim"
    "</model_file><results_directory>.</results_directory><coordinates_file>motion.mot"
    "</coordinates_file></InverseDynamicsTool></OpenSimDocument>";

static const char loads_text[] =
    "<OpenSimDocument Version='40000'><ExternalLoads name='l'><objects><ExternalForce name='hold'>"
    "<applied_to_body>pelvis</applied_to_body><force_identifier>f</force_identifier>"
    "<torque_identifier>m</torque_identifier></ExternalForce></objects><datafile>loads.sto"
    "</datafile></ExternalLoads></OpenSimDocument>";

static const char rra_text[] =
    "<OpenSimDocument Version='40000'><RRATool name='trunk'><model_file>wrong.osim</model_file>"
    "<results_directory>.</results_directory><force_set_files>actuators.xml</force_set_files>"
    "<initial_time>0</initial_time><final_time>0.5</final_time><external_loads_file>loads.xml"
    "</external_loads_file><desired_kinematics_file>motion.mot</desired_kinematics_file>"
    "<task_set_file>tasks.xml</task_set_file><adjust_com_to_reduce_residuals>true"
    "</adjust_com_to_reduce_residuals><adjusted_com_body>torso</adjusted_com_body>"
    "<initial_time_for_com_adjustment>0</initial_time_for_com_adjustment>"
    "<final_time_for_com_adjustment>1</final_time_for_com_adjustment><output_model_file>"
    "better.osim</output_model_file></RRATool></OpenSimDocument>";

static const char *const coordinates[] = {"rx", "ry", "rz", "tx", "ty", "tz", "lumbar"};

enum {
    NUM_COORDINATES = 7,
    NUM_ROWS = 101
};

// Sways of a few degrees and centimeters, one to three a second.
static double sway(int c, double t)
{
    static const double size[] = {0.04, 0.05, 0.03, 0.02, 0.03, 0.02, 0.08};
    static const double often[] = {1.0, 2.0, 1.0, 2.0, 2.0, 1.0, 3.0};
    return size[c] * sin(2.0 * pi * often[c] * t + c) + (c == 4 ? 1.0 : 0.0);
}

static void write_sway(void)
{
    static char text[NUM_ROWS * NUM_COORDINATES * 30];
    int n = snprintf(text, sizeof text, "m\nnRows=%d\nnColumns=%d\ninDegrees=no\nendheader\ntime",
                     NUM_ROWS, NUM_COORDINATES + 1);
    for (int r = -1; r < NUM_ROWS; ++r) {
        const double t = 0.01 * r;
        if (r >= 0) n += snprintf(text + n, sizeof text - (size_t)n, "%.2f", t);
        for (int c = 0; c < NUM_COORDINATES; ++c) {
            n += r < 0 ? snprintf(text + n, sizeof text - (size_t)n, "\t%s", coordinates[c])
                       : snprintf(text + n, sizeof text - (size_t)n, "\t%.15g", sway(c, t));
        }
        n += snprintf(text + n, sizeof text - (size_t)n, "\n");
    }
    write_text("motion.mot", text);
}

// What the true model needs at its root becomes the measured load.
static void write_loads(void)
{
    static const char *const from[] = {"tx_force",  "ty_force",  "tz_force",
                                       "rx_moment", "ry_moment", "rz_moment"};
    static const char head[] = "loads\nnRows=101\nnColumns=7\ninDegrees=no\nendheader\n"
                               "time\tfx\tfy\tfz\tmx\tmy\tmz\n";
    static char text[NUM_ROWS * 7 * 30];
    tal_osim_results *results = run_good("id.xml", NULL, 0);
    const tal_table *table = tal_osim_results_table(results, 0);
    int n = snprintf(text, sizeof text, "%s", head);
    for (int r = 0; r < tal_table_num_rows(table); ++r) {
        n += snprintf(text + n, sizeof text - (size_t)n, "%.15g", tal_table_value(table, r, 0));
        for (int k = 0; k < 6; ++k) {
            n += snprintf(text + n, sizeof text - (size_t)n, "\t%.15g",
                          value(results, 0, r, from[k]));
        }
        n += snprintf(text + n, sizeof text - (size_t)n, "\n");
    }
    write_text("loads.sto", text);
    tal_osim_results_destroy(results);
}

static void write_tasks(const char *file, const char *const names[], int num)
{
    char text[4000];
    int n = snprintf(text, sizeof text,
                     "<OpenSimDocument Version='40000'><CMC_TaskSet name='t'><objects>");
    for (int c = 0; c < num; ++c) {
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "<CMC_Joint name='%s'><on>true</on><weight>10</weight><active>true false "
                      "false</active><kp>100 1 1</kp><kv>20 1 1</kv><coordinate>%s</coordinate>"
                      "</CMC_Joint>",
                      names[c], names[c]);
    }
    (void)snprintf(text + n, sizeof text - (size_t)n, "</objects></CMC_TaskSet></OpenSimDocument>");
    write_text(file, text);
}

// The files of every test; others are added to them.
static void set_up(void)
{
    write_text("true.osim", TRUNK("0 0.3 0"));
    write_text("wrong.osim", TRUNK("0.02 0.3 -0.02"));
    write_text("actuators.xml", actuators_text);
    write_text("id.xml", id_text);
    write_text("loads.xml", loads_text);
    write_text("rra.xml", rra_text);
    write_sway();
    write_tasks("tasks.xml", coordinates, NUM_COORDINATES);
}

// --- residual reduction ---

// A mass center that is 2 cm too far forward and to the left is brought back within 5 mm, since
// the residuals mean out over a whole number of sways; the accelerations that remain do not.
START_TEST(a_displaced_mass_center_is_found)
{
    write_loads();
    tal_osim_results *results = run_good("rra.xml", NULL, 0);
    const char *at = strstr(text_of(results, "better.osim"), "name=\"torso\"");
    ck_assert_ptr_nonnull(at);
    at = strstr(at, "<mass_center>");
    ck_assert_ptr_nonnull(at);
    char *end;
    const double x = strtod(at + strlen("<mass_center>"), &end);
    const double y = strtod(end, &end), z = strtod(end, &end);
    ck_assert_double_eq_tol(x, 0.0, 0.005);
    ck_assert_double_eq(y, 0.3);
    ck_assert_double_eq_tol(z, 0.0, 0.005);
    const char *report = text_of(results, "_avgResiduals.txt");
    ck_assert_ptr_nonnull(strstr(report, "FX="));
    ck_assert_ptr_nonnull(strstr(report, "torso: mass 34, recommended 3"));
    tal_osim_results_destroy(results);
}

END_TEST

// With the true model nothing is left to reduce: residuals are those of the splines alone, which
// are worst at the ends of the data and far below the 450 N that the loads carry further in; and
// the model stays on the motion.
START_TEST(a_true_model_has_no_residuals)
{
    write_loads();
    const tal_osim_setting settings[] = {{"model_file", "true.osim"},
                                         {"initial_time", "0.2"},
                                         {"adjust_com_to_reduce_residuals", "false"}};
    tal_osim_results *results = run_good("rra.xml", settings, 3);
    const tal_table *forces = table_of(results, "_Actuation_force.sto");
    const tal_table *errors = table_of(results, "_pErr.sto");
    static const char *const residuals[] = {"FX", "FY", "FZ", "MX", "MY", "MZ"};
    for (int r = 0; r < tal_table_num_rows(forces); ++r) {
        for (int k = 0; k < 6; ++k) {
            const int c = tal_table_find_column(forces, residuals[k]);
            ck_assert_double_lt(fabs(tal_table_value(forces, r, c)), 0.5);
        }
        for (int c = 1; c < tal_table_num_columns(errors); ++c) {
            ck_assert_double_lt(fabs(tal_table_value(errors, r, c)), 0.5 * pi / 180.0);
        }
    }
    ck_assert_int_eq(tal_table_num_rows(errors), 301);
    (void)table_of(results, "trunk_Kinematics_q.sto");
    tal_osim_results_destroy(results);
}

END_TEST

// --- computed muscle control ---

static const char *const joints[] = {"hip", "knee", "ankle"};

static double walk(int k, double t)
{
    static const double middle[] = {0.25, -0.6, 0.05}, swing[] = {0.3, 0.35, 0.12},
                        delay[] = {0.0, 0.8, 1.7};
    return middle[k] + swing[k] * sin(2.0 * pi * t / 1.2 - delay[k]);
}

// The leg of nine muscles, its walk, and what the tool needs.
static void write_leg(void)
{
    leg it = leg_begin();
    leg_add_muscles(&it, TAL_MUSCLE_THELEN, false);
    leg_finish(&it);
    const tal_model model = {
        .system = it.system, .state = it.state, .matter = it.matter, .forces = it.forces};
    ck_assert_int_eq(tal_osim_write_file(&model, in_folder("leg.osim"), NULL), TAL_OK);
    leg_end(&it);
    static char text[8000];
    int n = snprintf(text, sizeof text,
                     "m\nnRows=101\nnColumns=4\ninDegrees=no\nendheader\n"
                     "time\thip\tknee\tankle\n");
    for (int r = 0; r < NUM_ROWS; ++r) {
        const double t = 0.01 * r;
        n += snprintf(text + n, sizeof text - (size_t)n, "%.2f\t%.12g\t%.12g\t%.12g\n", t,
                      walk(0, t), walk(1, t), walk(2, t));
    }
    write_text("walk.mot", text);
    write_tasks("leg_tasks.xml", joints, 3);
    write_text("cmc.xml",
               "<OpenSimDocument Version='40000'><CMCTool name='leg'><model_file>leg.osim"
               "</model_file><results_directory>.</results_directory><initial_time>0"
               "</initial_time><final_time>0.5</final_time><desired_kinematics_file>walk.mot"
               "</desired_kinematics_file><task_set_file>leg_tasks.xml</task_set_file>"
               "<cmc_time_window>0.01</cmc_time_window></CMCTool></OpenSimDocument>");
    write_text("forward.xml",
               "<OpenSimDocument Version='40000'><ForwardTool name='again'><model_file>leg.osim"
               "</model_file><results_directory>.</results_directory><initial_time>0.03"
               "</initial_time><final_time>0.5</final_time><integrator_error_tolerance>1e-7"
               "</integrator_error_tolerance><states_file>states.sto</states_file>"
               "<ControllerSet><objects><ControlSetController name='c'><controls_file>controls.xml"
               "</controls_file></ControlSetController></objects></ControllerSet></ForwardTool>"
               "</OpenSimDocument>");
}

// Tracking within half a degree; the same excitations in a forward run end within one.
START_TEST(a_leg_follows_its_walk_and_its_controls_repeat_it)
{
    write_leg();
    tal_osim_results *results = run_good("cmc.xml", NULL, 0);
    const tal_table *errors = table_of(results, "_pErr.sto");
    const tal_table *states = table_of(results, "leg_states.sto");
    for (int r = 0; r < tal_table_num_rows(errors); ++r) {
        for (int c = 1; c < tal_table_num_columns(errors); ++c) {
            ck_assert_double_lt(fabs(tal_table_value(errors, r, c)), 0.5 * pi / 180.0);
        }
    }
    ck_assert_double_eq_tol(tal_table_value(states, 0, 0), 0.03, 1e-12);
    ck_assert_int_eq(tal_table_num_rows(states), 48); // to 0.5 s
    ck_assert_int_ge(tal_table_find_column(table_of(results, "_controls.sto"), "soleus.excitation"),
                     1);
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(tal_table_write_file((tal_table *)states, in_folder("states.sto"), &err),
                     TAL_OK);
    write_text("controls.xml", text_of(results, "_controls.xml"));
    ck_assert_ptr_nonnull(strstr(text_of(results, "_controls.xml"), "<use_steps>true"));
    ck_assert_ptr_null(strstr(text_of(results, "_controls.xml"), "<use_steps>false"));
    tal_osim_results *again = run_good("forward.xml", NULL, 0);
    const tal_table *repeated = table_of(again, "again_states.sto");
    const int last = tal_table_num_rows(repeated) - 1;
    for (int k = 0; k < 3; ++k) {
        char label[100];
        int column = -1;
        for (int c = 1; c < tal_table_num_columns(repeated) && column < 0; ++c) {
            const char *name = tal_table_column_name(repeated, c);
            (void)snprintf(label, sizeof label, "/%s/value", joints[k]);
            if (strstr(name, label) != NULL) column = c;
        }
        ck_assert_int_ge(column, 1);
        ck_assert_double_eq_tol(tal_table_value(repeated, last, column), walk(k, 0.5), pi / 180.0);
    }
    tal_osim_results_destroy(again);
    tal_osim_results_destroy(results);
}

END_TEST

START_TEST(bounds_of_a_file_hold)
{
    write_leg();
    write_text("bounds.xml",
               "<OpenSimDocument Version='40000'><ControlSet name='b'><objects><ControlLinear "
               "name='soleus.excitation'><default_min>0.3</default_min><default_max>0.4"
               "</default_max></ControlLinear></objects></ControlSet></OpenSimDocument>");
    const tal_osim_setting settings[] = {{"constraints_file", "bounds.xml"}, {"final_time", "0.1"}};
    tal_osim_results *results = run_good("cmc.xml", settings, 2);
    const tal_table *controls = table_of(results, "_controls.sto");
    const int c = tal_table_find_column(controls, "soleus.excitation");
    for (int r = 0; r < tal_table_num_rows(controls); ++r) {
        ck_assert_double_ge(tal_table_value(controls, r, c), 0.3);
        ck_assert_double_le(tal_table_value(controls, r, c), 0.4);
    }
    tal_osim_results_destroy(results);
}

END_TEST

// --- what is wrong ---

START_TEST(what_a_set_up_lacks_is_said)
{
    write_leg();
    write_text("point.xml", "<OpenSimDocument Version='40000'><CMC_TaskSet name='t'><objects>"
                            "<CMC_Point name='p'><active>true</active></CMC_Point></objects>"
                            "</CMC_TaskSet></OpenSimDocument>");
    write_text("none.xml", "<OpenSimDocument Version='40000'><CMC_TaskSet name='t'><objects>"
                           "<CMC_Joint name='tail'><active>true</active></CMC_Joint></objects>"
                           "</CMC_TaskSet></OpenSimDocument>");
    const tal_osim_setting point = {"task_set_file", "point.xml"};
    assert_says("cmc.xml", &point, TAL_ERR_FILE, "tasks of this kind are not followed");
    const tal_osim_setting tail = {"task_set_file", "none.xml"};
    assert_says("cmc.xml", &tail, TAL_ERR_FILE, "the model has no coordinate 'tail'");
    const tal_osim_setting late = {"initial_time", "7"};
    assert_says("cmc.xml", &late, TAL_ERR_FILE, "");
    const tal_osim_setting rra = {"rra_controls_file", "x.xml"};
    assert_says("cmc.xml", &rra, TAL_ERR_FILE, "give bounds in <constraints_file>");
    const tal_osim_setting window = {"cmc_time_window", "-1"};
    assert_says("cmc.xml", &window, TAL_ERR_FILE, "the window is -1 s");
    const tal_osim_setting body = {"adjusted_com_body", "hat"};
    write_loads();
    assert_says("rra.xml", &body, TAL_ERR_FILE, "the model has no body 'hat'");
}

END_TEST

START_TEST(tools_survive_failing_memory)
{
    write_leg();
    write_loads();
    tal_osim_results *results = run_good("cmc.xml", NULL, 0);
    tal_osim_results_destroy(results);
    write_text("none.xml",
               "<OpenSimDocument Version='40000'><CMCTool name='leg'><model_file>leg.osim"
               "</model_file><initial_time>0</initial_time><final_time>0.04</final_time>"
               "<desired_kinematics_file>walk.mot</desired_kinematics_file><task_set_file>"
               "leg_tasks.xml</task_set_file></CMCTool></OpenSimDocument>");
    assert_survives_failing_memory("none.xml");
}

END_TEST

int main(void)
{
    make_folder();
    test_record_breaches();
    Suite *suite = suite_create("io/track");
    TCase *tc = tcase_create("track");
    tcase_set_timeout(tc, 120.0);
    tcase_add_checked_fixture(tc, set_up, NULL);
    tcase_add_test(tc, a_displaced_mass_center_is_found);
    tcase_add_test(tc, a_true_model_has_no_residuals);
    tcase_add_test(tc, a_leg_follows_its_walk_and_its_controls_repeat_it);
    tcase_add_test(tc, bounds_of_a_file_hold);
    tcase_add_test(tc, what_a_set_up_lacks_is_said);
    tcase_add_test(tc, tools_survive_failing_memory);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
