// Tools and analyses of OpenSim against ours.
#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- tools ---

typedef struct tool_case {
    const char *name, *quantity;
    const char *setup, *expected;
    double tolerance;
    tal_osim_setting settings[3]; // files have other names here than in the set-up
    int num_settings;
    bool by_time; // rows are compared by their times: the reference has fewer
} tool_case;

static const tool_case tools[] = {
    {"01 gait2354",
     "inverse kinematics, worst coordinate [deg RMS]",
     "01_gait2354_ik/setup_ik.xml",
     "01_gait2354_ik/expected_ik.mot",
     0.05,
     {{"model_file", "model.osim"}},
     1,
     false},
    {"02 gait2354",
     "inverse dynamics, 6 Hz, ground reactions [N m or N, RMS]",
     "02_gait2354_id/setup_id.xml",
     "02_gait2354_id/expected_id.sto",
     1e-3,
     {{"model_file", "model.osim"}},
     1,
     false},
    {"04 arm26",
     "inverse kinematics, worst coordinate [deg RMS]",
     "04_arm26_ik_id/setup_ik.xml",
     "04_arm26_ik_id/expected_ik.mot",
     0.01,
     {{"model_file", "model.osim"}},
     1,
     false},
    {"04 arm26",
     "inverse dynamics, 6 Hz [N m, RMS]",
     "04_arm26_ik_id/setup_id.xml",
     "04_arm26_ik_id/expected_id_6Hz.sto",
     1e-6,
     {{"model_file", "model.osim"}, {"coordinates_file", "expected_ik.mot"}},
     2,
     false},
    {"04 arm26",
     "inverse dynamics, not filtered [N m, RMS]",
     "04_arm26_ik_id/setup_id.xml",
     "04_arm26_ik_id/expected_id_unfiltered.sto",
     1e-6,
     {{"model_file", "model.osim"},
      {"coordinates_file", "expected_ik.mot"},
      {"lowpass_cutoff_frequency_for_coordinates", "-1"}},
     3,
     false},
    {"08 single pin",
     "joint reaction [N, N m, m, largest]",
     "08_joint_reaction/SinglePin_setup_jointreaction.xml",
     "08_joint_reaction/SinglePin_expected_reactions.sto",
     1e-3,
     {{"model_file", "SinglePin_v10902.osim"}},
     1,
     true}};

static void run_tool(const tool_case *it)
{
    tal_osim_results *results = NULL;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    tal_osim_run_options options = tal_osim_run_options_default();
    options.settings = it->settings;
    options.num_settings = it->num_settings;
    const tal_status st = tal_osim_run_file(cases_path(it->setup), &options, &results, found);
    tal_table *reference = st == TAL_OK ? cases_read_table(it->expected, found) : NULL;
    if (reference != NULL) {
        const tal_table *ours = tal_osim_results_table(results, 0);
        cases_print_row(it->name, it->quantity,
                        it->by_time ? cases_largest_difference(ours, reference, 1.0, cases_every)
                                    : cases_rms_difference(ours, reference),
                        it->tolerance);
    } else {
        cases_print_failure(it->name, it->quantity, found);
    }
    tal_table_destroy(reference);
    tal_osim_results_destroy(results);
    tal_diagnostics_destroy(found);
}

// --- analyses ---

// Positions of mass centers. Ground is no body here; the torso's mass center was moved after the
// states were made.
static bool is_limb(const char *column)
{
    const bool is_place = cases_ends_with(column, "_X") || cases_ends_with(column, "_Y") ||
                          cases_ends_with(column, "_Z");
    return is_place && strncmp(column, "ground", 6) != 0 && strncmp(column, "torso", 5) != 0 &&
           strncmp(column, "center", 6) != 0;
}

// Write a set-up of our own beside the program, about files of a case.
static const char *write_setup(const char *text)
{
    static const char name[] = "opensim_case_setup.xml";
    FILE *file = fopen(name, "w");
    if (file != NULL) {
        (void)fputs(text, file);
        (void)fclose(file);
    }
    return name;
}

static void analyze_walk(void)
{
    static const struct {
        const char *file, *end, *quantity;
        bool (*wants)(const char *column);
        double part, tolerance;
    } results[] = {{"expected_BodyKinematics_pos_global.sto", "_pos_global.sto",
                    "analyses along states: 11 mass centers [m]", is_limb, 0.5, 1e-6},
                   {"expected_Kinematics_q.sto", "_q.sto",
                    "analyses along states: coordinates [deg]", cases_every, 0.93, 1e-9},
                   {"expected_Kinematics_u.sto", "_u.sto", "analyses along states: speeds [deg/s]",
                    cases_every, 0.93, 1e-9}};

    const char *setup = write_setup(
        "<OpenSimDocument Version='40000'><AnalyzeTool name='walk'><AnalysisSet><objects>"
        "<Kinematics name='K'/><BodyKinematics name='B'/></objects></AnalysisSet></AnalyzeTool>"
        "</OpenSimDocument>");
    char model[1200], states[1200], *whole = realpath(cases_path("."), NULL);
    if (whole == NULL) return;
    (void)snprintf(model, sizeof model, "%.1000s/07_gait2354_thelen_forward/model.osim", whole);
    (void)snprintf(states, sizeof states, "%.1000s/07_gait2354_thelen_forward/expected_states.sto",
                   whole);
    free(whole);
    const tal_osim_setting settings[] = {{"model_file", model}, {"states_file", states}};
    tal_osim_run_options options = tal_osim_run_options_default();
    options.settings = settings;
    options.num_settings = 2;
    tal_osim_results *ours = NULL;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_osim_run_file(setup, &options, &ours, found);
    for (int i = 0; i < 3; ++i) {
        char file[200];
        (void)snprintf(file, sizeof file, "07_gait2354_thelen_forward/%s", results[i].file);
        tal_table *reference = st == TAL_OK ? cases_read_table(file, found) : NULL;
        if (reference != NULL) {
            cases_print_row("07 gait2354", results[i].quantity,
                            cases_largest_difference(cases_find_result(ours, results[i].end),
                                                     reference, results[i].part, results[i].wants),
                            results[i].tolerance);
        } else {
            cases_print_failure("07 gait2354", results[i].quantity, found);
        }
        tal_table_destroy(reference);
    }
    tal_osim_results_destroy(ours);
    tal_diagnostics_destroy(found);
    (void)remove(setup);
}

// --- computed muscle control ---

// A number of ours at a time of the reference, in a straight line between two rows.
static double value_at(const tal_table *table, int column, double t)
{
    int r = 0;
    while (r < tal_table_num_rows(table) - 2 && tal_table_value(table, r + 1, 0) < t) {
        ++r;
    }
    const double t0 = tal_table_value(table, r, 0), t1 = tal_table_value(table, r + 1, 0);
    const double x = (t - t0) / (t1 - t0);
    return (1.0 - x) * tal_table_value(table, r, column) +
           x * tal_table_value(table, r + 1, column);
}

// The reference names states as version 4 does, ours as the model's version 3.
static int column_of(const tal_table *ours, const char *path)
{
    char name[200];
    const char *last = strrchr(path, '/'), *from = last;
    if (last == NULL) return -1;
    while (from > path && from[-1] != '/') {
        --from;
    }
    const int n = (int)(last - from);
    const char *state = last + 1;
    const bool is_value = strcmp(state, "value") == 0, is_speed = strcmp(state, "speed") == 0;
    (void)snprintf(name, sizeof name, "%.*s%s%.40s", n, from,
                   is_value   ? ""
                   : is_speed ? "_u"
                              : ".",
                   is_value || is_speed ? "" : state);
    return tal_table_find_column(ours, name);
}

// The largest root mean square over all states, over the times that both have.
static double states_difference(const tal_table *ours, const tal_table *reference)
{
    const double last = tal_table_value(ours, tal_table_num_rows(ours) - 1, 0);
    double worst = 0.0;
    for (int c = 1; c < tal_table_num_columns(reference); ++c) {
        const int column = column_of(ours, tal_table_column_name(reference, c));
        double sum = 0.0;
        int n = 0;
        for (int r = 0; r < tal_table_num_rows(reference) && column >= 0; ++r) {
            const double t = tal_table_value(reference, r, 0);
            if (t > last) break;
            const double e = tal_table_value(reference, r, c) - value_at(ours, column, t);
            sum += e * e;
            ++n;
        }
        if (n == 0) return (double)INFINITY; // a state that ours lack
        worst = fmax(worst, sqrt(sum / n));
    }
    return worst;
}

// OpenSim's own test allows 0.1 in every state.
static void run_cmc(void)
{
    static const char quantity[] = "computed muscle control, all states [RMS]";
    tal_osim_results *results = NULL;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_osim_run_file(cases_path("13_cmc/gait10dof18musc_Setup_CMC.xml"),
                                            NULL, &results, found);
    tal_table *reference =
        cases_read_table("13_cmc/gait10dof18musc_std_walk_subject_states_unix.sto", found);
    const tal_table *ours =
        st == TAL_OK ? cases_find_result(results, "walk_subject_states.sto") : NULL;
    if (ours != NULL && reference != NULL) {
        cases_print_row("13 gait10dof", quantity, states_difference(ours, reference), 0.1);
    } else {
        cases_print_failure("13 gait10dof", quantity, found);
    }
    tal_table_destroy(reference);
    tal_osim_results_destroy(results);
    tal_diagnostics_destroy(found);
}

void cases_run_tools(void)
{
    for (size_t i = 0; i < sizeof tools / sizeof *tools; ++i) {
        run_tool(&tools[i]);
    }
    analyze_walk();
    run_cmc();
}
