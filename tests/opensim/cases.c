// OpenSim's own files and results against ours: a table of case, quantity, error, tolerance and
// verdict. The files are not part of Talus: the folder comes from the command line, or from
// TALUS_OPENSIM_CASES; without it nothing is run, and the program says so.
#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SKIPPED = 77 // what ctest shows as such
};

static const char *folder; // with all cases
static int failures;

// --- the table ---

void cases_print_row(const char *name, const char *quantity, double error, double tolerance)
{
    const bool good = error <= tolerance;
    printf("| %s | %s | %.2g | %.2g | %s |\n", name, quantity, error, tolerance,
           good ? "pass" : "FAIL");
    failures += !good;
}

void cases_print_failure(const char *name, const char *quantity, tal_diagnostics *found)
{
    for (int i = 0; i < tal_diagnostics_num(found); ++i) {
        char text[TAL_DIAGNOSTIC_SIZE];
        const tal_diagnostic *it = tal_diagnostics_at(found, i);
        if (it->severity == TAL_ERROR) fprintf(stderr, "%s\n", tal_diagnostic_text(it, text));
    }
    cases_print_row(name, quantity, INFINITY, 0.0);
}

// --- files ---

const char *cases_path(const char *file)
{
    static char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", folder, file);
    return path;
}

tal_table *cases_read_table(const char *file, tal_diagnostics *found)
{
    tal_table *table = NULL;
    (void)!tal_table_read_file(cases_path(file), NULL, &table, found);
    return table;
}

// --- comparing ---

// The largest root mean square of a column's differences. All columns of the reference must be
// there, and as many rows.
static double difference(const tal_table *ours, const tal_table *reference)
{
    const int rows = tal_table_num_rows(reference);
    double worst = 0.0;
    if (tal_table_num_rows(ours) != rows) return INFINITY;
    for (int c = 0; c < tal_table_num_columns(reference); ++c) {
        const int mine = tal_table_find_column(ours, tal_table_column_name(reference, c));
        if (mine < 0) return INFINITY;
        double sum = 0.0;
        for (int r = 0; r < rows; ++r) {
            const double d = tal_table_value(ours, r, mine) - tal_table_value(reference, r, c);
            sum += d * d;
        }
        worst = fmax(worst, sqrt(sum / rows));
    }
    return worst;
}

// --- tools ---

typedef struct tool_case {
    const char *name, *quantity;
    const char *setup, *expected;
    double tolerance;
    tal_osim_setting settings[3]; // files have other names here than in the set-up
    int num_settings;
} tool_case;

static const tool_case tools[] = {
    {"01 gait2354",
     "inverse kinematics, worst coordinate [deg RMS]",
     "01_gait2354_ik/setup_ik.xml",
     "01_gait2354_ik/expected_ik.mot",
     0.05,
     {{"model_file", "model.osim"}},
     1},
    {"02 gait2354",
     "inverse dynamics, 6 Hz, ground reactions [N m or N, RMS]",
     "02_gait2354_id/setup_id.xml",
     "02_gait2354_id/expected_id.sto",
     1e-3,
     {{"model_file", "model.osim"}},
     1},
    {"04 arm26",
     "inverse kinematics, worst coordinate [deg RMS]",
     "04_arm26_ik_id/setup_ik.xml",
     "04_arm26_ik_id/expected_ik.mot",
     0.01,
     {{"model_file", "model.osim"}},
     1},
    {"04 arm26",
     "inverse dynamics, 6 Hz [N m, RMS]",
     "04_arm26_ik_id/setup_id.xml",
     "04_arm26_ik_id/expected_id_6Hz.sto",
     1e-6,
     {{"model_file", "model.osim"}, {"coordinates_file", "expected_ik.mot"}},
     2},
    {"04 arm26",
     "inverse dynamics, not filtered [N m, RMS]",
     "04_arm26_ik_id/setup_id.xml",
     "04_arm26_ik_id/expected_id_unfiltered.sto",
     1e-6,
     {{"model_file", "model.osim"},
      {"coordinates_file", "expected_ik.mot"},
      {"lowpass_cutoff_frequency_for_coordinates", "-1"}},
     3}};

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
        cases_print_row(it->name, it->quantity,
                        difference(tal_osim_results_table(results, 0), reference), it->tolerance);
    } else {
        cases_print_failure(it->name, it->quantity, found);
    }
    tal_table_destroy(reference);
    tal_osim_results_destroy(results);
    tal_diagnostics_destroy(found);
}

// --- models ---

static const char *const models[] = {
    "01_gait2354_ik/model.osim",
    "02_gait2354_id/model.osim",
    "04_arm26_ik_id/model.osim",
    "05_gait10dof_muscle_lengths/model_v30000.osim",
    "06_rajagopal18_muscle_lengths_wrapping/model_v30000.osim",
    "07_gait2354_thelen_forward/model.osim",
    "08_joint_reaction/SinglePin_v10902.osim",
    "09_arm26_static_optimization/arm26_v30000.osim",
    "09_arm26_static_optimization/tutorial_arm26_v40000.osim",
    "10_gait2354_scale/generic_gait2354.osim",
    "10_gait2354_scale/expected_scaledOnly.osim",
    "10_gait2354_scale/expected_scaled_markers_placed.osim",
    "13_cmc/gait10dof18musc_subject01.osim",
    "14_moment_arm_models/CoupledCoordinatesMPPsMomentArmTest.osim",
    "14_moment_arm_models/MovingPathPointMomentArmTest.osim",
    "14_moment_arm_models/P2PBallJointMomentArmTest.osim",
    "14_moment_arm_models/P2PCustomJointMomentArmTest.osim",
    "14_moment_arm_models/WrapPathCustomJointMomentArmTest.osim",
    "15_degroote/walk_gait1018_subject01.osim",
    "16_models/Tug_of_War_Millard.osim",
    "16_models/gait2392_thelen2003muscle.osim",
    "16_models/bouncing_block.osim",
    "16_models/gait10dof18musc.osim",
    "16_models/gait2354_simbody.osim",
    "16_models/arm26.osim",
    "16_models/WalkerModel.osim"};

enum {
    NUM_TOOLS = sizeof tools / sizeof *tools,
    NUM_MODELS = sizeof models / sizeof *models,
    ROOM = 4 << 20 // characters of a model file
};

// The largest difference of two arrays, relative to the larger of 1 and the largest number.
static double compare(const double a[], const double b[], int n)
{
    double most = 1.0, worst = 0.0;
    for (int i = 0; i < n; ++i) {
        most = fmax(most, fabs(a[i]));
        worst =
            fmax(worst, isfinite(a[i]) && isfinite(b[i]) ? fabs(a[i] - b[i]) : (double)INFINITY);
    }
    return worst / most;
}

// A model written as .talus and read again moves as it did: its accelerations agree.
static double round_trip(const tal_model *model, tal_diagnostics *found)
{
    tal_model again = {.system = NULL};
    tal_error err;
    size_t length = 0;
    char *text = malloc(ROOM);
    if (text == NULL) return INFINITY;
    tal_status st = tal_model_write_memory(model, NULL, text, ROOM, &length, &err);
    if (st == TAL_OK) st = tal_model_read_memory("again", text, length, NULL, &again, found);
    free(text);
    if (st == TAL_OK) st = tal_system_realize(model->system, model->state, TAL_STAGE_ACCELERATION);
    if (st == TAL_OK) st = tal_system_realize(again.system, again.state, TAL_STAGE_ACCELERATION);
    const double worst = st == TAL_OK
                             ? compare(tal_state_udot(model->state), tal_state_udot(again.state),
                                       tal_matter_nu(model->matter))
                             : (double)INFINITY;
    tal_model_destroy(&again);
    return worst;
}

static void read_model(const char *file)
{
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_osim_read_file(cases_path(file), NULL, &model, found);
    if (st == TAL_OK) {
        cases_print_row(file, "read, written as .talus, read again: accelerations",
                        round_trip(&model, found), 1e-12);
    } else {
        cases_print_failure(file, "read", found);
    }
    tal_model_destroy(&model);
    tal_diagnostics_destroy(found);
}

int main(int argc, char *argv[])
{
    folder = argc > 1 ? argv[1] : getenv("TALUS_OPENSIM_CASES");
    if (folder == NULL) {
        puts("skipped: TALUS_OPENSIM_CASES does not name the folder with OpenSim's files");
        return SKIPPED;
    }
    puts("| case | quantity | error | tolerance | verdict |");
    puts("|---|---|---|---|---|");
    for (int i = 0; i < NUM_TOOLS; ++i) {
        run_tool(&tools[i]);
    }
    for (int i = 0; i < NUM_MODELS; ++i) {
        read_model(models[i]);
    }
    cases_run_muscles();
    return failures == 0 ? 0 : 1;
}
