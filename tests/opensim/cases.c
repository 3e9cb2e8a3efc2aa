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

// The row of a table at a time; -1: none.
static int row_at(const tal_table *table, double t)
{
    for (int r = 0; r < tal_table_num_rows(table); ++r) {
        if (fabs(tal_table_value(table, r, 0) - t) <= 1e-9) return r;
    }
    return -1;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), length = strlen(end);
    return n >= length && strcmp(text + n - length, end) == 0;
}

static tal_table *find_result(const tal_osim_results *results, const char *end)
{
    for (int i = 0; i < tal_osim_results_num(results); ++i) {
        if (ends_with(tal_osim_results_path(results, i), end)) {
            return tal_osim_results_table(results, i);
        }
    }
    return NULL;
}

// The largest difference of the columns that `wants` takes, in the first part of the reference's
// rows, found by their times.
static double largest_difference(const tal_table *ours, const tal_table *reference, double part,
                                 bool (*wants)(const char *column))
{
    const int rows = (int)(part * tal_table_num_rows(reference));
    double worst = ours != NULL && rows > 0 ? 0.0 : (double)INFINITY;
    for (int c = 1; c < tal_table_num_columns(reference) && ours != NULL; ++c) {
        const char *name = tal_table_column_name(reference, c);
        if (!wants(name)) continue;
        const int mine = tal_table_find_column(ours, name);
        for (int r = 0; r < rows; ++r) {
            const int row = row_at(ours, tal_table_value(reference, r, 0));
            if (mine < 0 || row < 0) return INFINITY;
            const double d = tal_table_value(ours, row, mine) - tal_table_value(reference, r, c);
            worst = isfinite(d) ? fmax(worst, fabs(d)) : (double)INFINITY;
        }
    }
    return worst;
}

static bool every(const char *column)
{
    (void)column;
    return true;
}

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
                        it->by_time ? largest_difference(ours, reference, 1.0, every)
                                    : difference(ours, reference),
                        it->tolerance);
    } else {
        cases_print_failure(it->name, it->quantity, found);
    }
    tal_table_destroy(reference);
    tal_osim_results_destroy(results);
    tal_diagnostics_destroy(found);
}

// --- analyses ---

// Positions of mass centers. Ground is not a body here; the torso's mass center was moved after the
// states were made.
static bool is_limb(const char *column)
{
    const bool is_place =
        ends_with(column, "_X") || ends_with(column, "_Y") || ends_with(column, "_Z");
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
                    "analyses along states: coordinates [deg]", every, 0.93, 1e-9},
                   {"expected_Kinematics_u.sto", "_u.sto", "analyses along states: speeds [deg/s]",
                    every, 0.93, 1e-9}};

    const char *setup = write_setup(
        "<OpenSimDocument Version='40000'><AnalyzeTool name='walk'><AnalysisSet><objects>"
        "<Kinematics name='K'/><BodyKinematics name='B'/></objects></AnalysisSet></AnalyzeTool>"
        "</OpenSimDocument>");
    char model[1200], states[1200], *whole = realpath(folder, NULL);
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
                            largest_difference(find_result(ours, results[i].end), reference,
                                               results[i].part, results[i].wants),
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

// --- tables ---

// What another program, of ten lines, finds in the tables of OpenSim's tests.
static const struct {
    const char *file;
    int rows, columns; // with time
    int missing;       // numbers that are NaN or blank
    double sum;        // of the others
} tables[] = {
    {"11_c3d_and_tables/dataWithEformat.trc", 5, 43, 0, -109.9803549999999},
    {"11_c3d_and_tables/dataWithNaNsOfDifferentCases.trc", 5, 43, 15, 32106.836669999993},
    {"11_c3d_and_tables/exampleFormat.trc", 5, 10, 6, -20.625499999999999},
    {"11_c3d_and_tables/gait10dof18musc_ik_CRLF_line_ending.mot", 15, 11, 0, -991.83243860999994},
    {"11_c3d_and_tables/gait10dof18musc_walk_CRLF_line_ending.trc", 10, 124, 0, 543298.33620999975},
    {"11_c3d_and_tables/orientation_quats.sto", 6, 29, 0, 14.50504252873046},
    {"11_c3d_and_tables/sampleOutputs.sto", 471, 3, 0, 289561.75967711437},
    {"11_c3d_and_tables/sampleOutputsSpatialVec.sto", 471, 13, 0, 37986.873775835593},
    {"11_c3d_and_tables/sampleOutputsVec3.sto", 471, 7, 0, 2.6115872855721176},
    {"11_c3d_and_tables/std_cop_walking2_grfs.sto", 101, 19, 0, 59910.693159169896},
    {"11_c3d_and_tables/std_walking2_analog.sto", 11, 13, 0, 130342.45007604528},
    {"11_c3d_and_tables/std_walking2_grfs.sto", 101, 19, 0, 625194.06440406758},
    {"11_c3d_and_tables/std_walking2_markers.trc", 126, 133, 8427, 4596423.9981399989},
};

enum {
    NUM_TABLES = sizeof tables / sizeof *tables
};

// Numbers, missing ones and their sum; infinite when rows or columns differ.
static double compare_table(const tal_table *table, int i)
{
    const int rows = tal_table_num_rows(table), columns = tal_table_num_columns(table);
    if (rows != tables[i].rows || columns != tables[i].columns) return INFINITY;
    double sum = 0.0, size = 0.0;
    int missing = 0;
    for (int k = 0; k < rows * columns; ++k) {
        const double value = tal_table_value(table, k / columns, k % columns);
        missing += !isfinite(value);
        sum += isfinite(value) ? value : 0.0;
        size += isfinite(value) ? fabs(value) : 0.0;
    }
    return missing == tables[i].missing ? fabs(sum - tables[i].sum) / size : (double)INFINITY;
}

// Sums of thousands of numbers in two orders: 1e-13 of the sum of their sizes.
static void read_tables(void)
{
    for (int i = 0; i < NUM_TABLES; ++i) {
        tal_diagnostics *found = tal_diagnostics_create(NULL);
        tal_table *table = cases_read_table(tables[i].file, found);
        if (table != NULL) {
            cases_print_row(tables[i].file, "read: rows, columns, gaps, sum of numbers",
                            compare_table(table, i), 1e-13);
        } else {
            cases_print_failure(tables[i].file, "read", found);
        }
        tal_table_destroy(table);
        tal_diagnostics_destroy(found);
    }
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
    analyze_walk();
    read_tables();
    for (int i = 0; i < NUM_MODELS; ++i) {
        read_model(models[i]);
    }
    cases_run_muscles();
    return failures == 0 ? 0 : 1;
}
