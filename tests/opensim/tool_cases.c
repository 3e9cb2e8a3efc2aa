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

void cases_run_tools(void)
{
    for (size_t i = 0; i < sizeof tools / sizeof *tools; ++i) {
        run_tool(&tools[i]);
    }
    analyze_walk();
}
