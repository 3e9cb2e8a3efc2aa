// Case 07 against OpenSim: forward dynamics of 54 muscles.
//
// The reference was not made from the files that come with it; three things are known of what it
// was made from (doc/validation.md says how), and are put right here:
// - inertias were scaled with the squares of the factors of case 10 as well as with the masses;
// - the mass center of the torso was another one, as its table of positions says;
// - centers of pressure were carried along with the foot from where the motion of case 02 has it.
#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME    "07 gait2354"
#define FORWARD "07_gait2354_thelen_forward/"

static char folder[64]; // of what is made here

static const char *made(const char *file)
{
    static char path[2][200];
    static int next;
    next = 1 - next;
    (void)snprintf(path[next], sizeof path[next], "%s/%s", folder, file);
    return path[next];
}

// --- the model ---

// Factors of case 10, by the beginning of the names of bodies.
static const struct {
    const char *body;
    double factor;
} scales[] = {{"pelvis", 1.02458}, {"femur", 1.14724}, {"tibia", 0.988523}, {"talus", 1.11398},
              {"calcn", 1.02708},  {"toes", 1.02708},  {"torso", 1.07972}};

enum {
    NUM_SCALES = sizeof scales / sizeof *scales
};

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    if (file == NULL) return NULL;
    if (fseek(file, 0, SEEK_END) == 0) {
        const long size = ftell(file);
        rewind(file);
        text = size >= 0 ? calloc((size_t)size + 1, 1) : NULL;
        if (text != NULL && fread(text, 1, (size_t)size, file) != (size_t)size) text[0] = '\0';
    }
    (void)fclose(file);
    return text;
}

// Write one body's element, from its tag to the end of its inertia, as it should be; where the text
// goes on.
static const char *write_body(FILE *out, const char *at)
{
    static const char mass_center[] = "<mass_center>", inertia[] = "<inertia>";
    int k = 0;
    while (k < NUM_SCALES &&
           strncmp(at + strlen("<Body name=\""), scales[k].body, strlen(scales[k].body)) != 0) {
        ++k;
    }
    const char *const com = strstr(at, mass_center), *const I = strstr(at, inertia);
    if (k == NUM_SCALES || com == NULL || I == NULL) {
        (void)fputc(*at, out);
        return at + 1;
    }
    const char *next = com + sizeof mass_center - 1;
    (void)fwrite(at, 1, (size_t)(next - at), out);
    if (strcmp(scales[k].body, "torso") == 0) {
        (void)fputs("0.016850279 0.345510 0.015432990", out); // of the table of positions
        next = strchr(next, '<');
    }
    (void)fwrite(next, 1, (size_t)(I + sizeof inertia - 1 - next), out);
    char *end = (char *)I + sizeof inertia - 1;
    for (int i = 0; i < 6; ++i) {
        const double value = strtod(end, &end);
        (void)fprintf(out, "%.17g ", value * scales[k].factor * scales[k].factor);
    }
    return end;
}

static bool write_model(void)
{
    char *text = read_text(cases_path(FORWARD "model.osim"));
    FILE *out = fopen(made("model.osim"), "wb");
    for (const char *at = text; at != NULL && out != NULL && *at != '\0';) {
        if (strncmp(at, "<Body name=\"", strlen("<Body name=\"")) == 0) {
            at = write_body(out, at);
        } else {
            (void)fputc(*at++, out);
        }
    }
    const bool good = text != NULL && out != NULL;
    free(text);
    return out != NULL && fclose(out) == 0 && good;
}

// --- the loads ---

// The motion of case 02, smoothed at 6 Hz.
static tal_osim_results *smooth_motion(tal_diagnostics *found)
{
    char text[1200];
    (void)snprintf(text, sizeof text,
                   "<AnalyzeTool name='smooth'><model_file>model.osim</model_file>"
                   "<coordinates_file>%s</coordinates_file>"
                   "<lowpass_cutoff_frequency_for_coordinates>6"
                   "</lowpass_cutoff_frequency_for_coordinates><AnalysisSet><objects>"
                   "<Kinematics><in_degrees>false</in_degrees></Kinematics></objects>"
                   "</AnalysisSet></AnalyzeTool>",
                   cases_path("02_gait2354_id/subject01_walk1_ik.mot"));
    tal_osim_results *results = NULL;
    (void)!tal_osim_run_memory(made("smooth.xml"), text, strlen(text), NULL, &results, found);
    return results;
}

// The pose of that motion at a time, by a quintic spline for each coordinate.
static bool pose_at(const tal_model *model, const tal_table *motion, tal_function *const curves[],
                    double t)
{
    for (int c = 1; c < tal_table_num_columns(motion); ++c) {
        int i = -1;
        const tal_body_ix body = tal_matter_find_coordinate(model->matter, model->state,
                                                            tal_table_column_name(motion, c), &i);
        const double q = tal_function_calc_value_1(curves[c], t);
        if (body.i < 0 || tal_body_set_q(model->matter, model->state, body, i, q) != TAL_OK) {
            return false;
        }
    }
    return tal_system_realize(model->system, model->state, TAL_STAGE_POSITION) == TAL_OK;
}

// Centers of pressure of a row, from Ground into their feet.
static void carry_centers(const tal_model *model, tal_table *loads, int row)
{
    static const char *const feet[2][2] = {{"calcn_r", "ground_force_px"},
                                           {"calcn_l", "1_ground_force_px"}};
    for (int k = 0; k < 2; ++k) {
        const tal_body_ix foot = tal_matter_find_body(model->matter, feet[k][0]);
        const int c = tal_table_find_column(loads, feet[k][1]);
        const tal_vec3 p_G =
            tal_v3(tal_table_value(loads, row, c), tal_table_value(loads, row, c + 1),
                   tal_table_value(loads, row, c + 2));
        const tal_vec3 p = tal_xf_inv_apply(tal_body_X_GB(model->matter, model->state, foot), p_G);
        (void)tal_table_set_value(loads, row, c, p.x);
        (void)tal_table_set_value(loads, row, c + 1, p.y);
        (void)tal_table_set_value(loads, row, c + 2, p.z);
    }
}

static bool make_curves(const tal_table *motion, tal_function *curves[])
{
    const int n = tal_table_num_rows(motion), columns = tal_table_num_columns(motion);
    double *x = calloc((size_t)n, sizeof *x), *y = calloc((size_t)n, sizeof *y);
    bool good = x != NULL && y != NULL;
    for (int c = 1; c < columns && good; ++c) {
        for (int r = 0; r < n; ++r) {
            x[r] = tal_table_value(motion, r, 0);
            y[r] = tal_table_value(motion, r, c);
        }
        good = tal_function_create_quintic_spline(NULL, x, y, n, &curves[c], NULL) == TAL_OK;
    }
    free(x);
    free(y);
    return good;
}

// Loads whose points are given in the feet, as a table and an <ExternalLoads> file.
static bool write_loads(tal_diagnostics *found)
{
    enum {
        MOST = 64
    };

    tal_function *curves[MOST] = {NULL};
    tal_model model = {.system = NULL};
    tal_osim_results *results = smooth_motion(found);
    tal_table *loads = cases_read_table(FORWARD "subject01_walk1_grf.mot", found);
    const tal_table *motion = results != NULL ? tal_osim_results_table(results, 0) : NULL;
    bool good = motion != NULL && loads != NULL && tal_table_num_columns(motion) < MOST &&
                make_curves(motion, curves) &&
                tal_osim_read_file(made("model.osim"), NULL, &model, found) == TAL_OK;
    for (int r = 0; good && r < tal_table_num_rows(loads); ++r) {
        const double t = tal_table_value(loads, r, 0);
        good = pose_at(&model, motion, curves, fmin(fmax(t, 0.4), 1.6)); // where the motion is
        if (good) carry_centers(&model, loads, r);
    }
    good = good && tal_table_write_file(loads, made("loads.mot"), NULL) == TAL_OK;
    FILE *out = good ? fopen(made("loads.xml"), "wb") : NULL;
    for (int k = 0; k < 2 && out != NULL; ++k) {
        static const char *const feet[] = {"calcn_r", "calcn_l"};
        static const char *const begins[] = {"", "1_"};
        (void)fprintf(out,
                      "%s<ExternalForce name='%s'><applied_to_body>%s</applied_to_body>"
                      "<force_expressed_in_body>ground</force_expressed_in_body>"
                      "<point_expressed_in_body>%s</point_expressed_in_body><force_identifier>"
                      "%sground_force_v</force_identifier><point_identifier>%sground_force_p"
                      "</point_identifier><torque_identifier>%sground_torque_</torque_identifier>"
                      "</ExternalForce>%s",
                      k == 0 ? "<ExternalLoads><objects>" : "", feet[k], feet[k], feet[k],
                      begins[k], begins[k], begins[k],
                      k == 1 ? "</objects><datafile>loads.mot</datafile></ExternalLoads>" : "");
    }
    for (int c = 0; c < MOST; ++c) {
        tal_function_destroy(curves[c]);
    }
    tal_table_destroy(loads);
    tal_model_destroy(&model);
    tal_osim_results_destroy(results);
    return out != NULL && fclose(out) == 0;
}

// --- the run ---

static tal_osim_results *run_forward(tal_diagnostics *found)
{
    char controls[300], states[300], actuators[300], text[2000];
    (void)snprintf(controls, sizeof controls, "%s", cases_path(FORWARD "controls.xml"));
    (void)snprintf(states, sizeof states, "%s", cases_path(FORWARD "expected_states.sto"));
    (void)snprintf(actuators, sizeof actuators, "%s",
                   cases_path(FORWARD "gait2354_CMC_Actuators.xml"));
    (void)snprintf(text, sizeof text,
                   "<ForwardTool name='f'><model_file>model.osim</model_file><force_set_files>%s"
                   "</force_set_files><initial_time>0.83</initial_time><final_time>0.93"
                   "</final_time><integrator_error_tolerance>1e-7</integrator_error_tolerance>"
                   "<ControllerSet><objects><ControlSetController><controls_file>%s"
                   "</controls_file></ControlSetController></objects></ControllerSet>"
                   "<external_loads_file>loads.xml</external_loads_file><states_file>%s"
                   "</states_file></ForwardTool>",
                   actuators, controls, states);
    tal_osim_results *results = NULL;
    (void)!tal_osim_run_memory(made("forward.xml"), text, strlen(text), NULL, &results, found);
    return results;
}

// The column of a coordinate of ours: "/jointset/<joint>/<name>/value".
static int find_value(const tal_table *ours, const char *name)
{
    char end[200];
    (void)snprintf(end, sizeof end, "/%s/value", name);
    for (int c = 0; c < tal_table_num_columns(ours); ++c) {
        if (cases_ends_with(tal_table_column_name(ours, c), end)) return c;
    }
    return -1;
}

// A coordinate between two rows, by its values and speeds there; the speed is in the next column.
static double value_at(const tal_table *ours, int c, double t)
{
    int r = 0;
    while (r < tal_table_num_rows(ours) - 2 && tal_table_value(ours, r + 1, 0) < t) {
        ++r;
    }
    const double a = tal_table_value(ours, r, 0), h = tal_table_value(ours, r + 1, 0) - a;
    const double s = (t - a) / h, z = 1.0 - s;
    const double y0 = tal_table_value(ours, r, c), y1 = tal_table_value(ours, r + 1, c);
    const double v0 = tal_table_value(ours, r, c + 1), v1 = tal_table_value(ours, r + 1, c + 1);
    return z * z * (1.0 + 2.0 * s) * y0 + s * s * (1.0 + 2.0 * z) * y1 +
           h * s * z * (z * v0 - s * v1);
}

// The largest difference of a coordinate up to a time. Each step of the reference may be off by its
// tolerance of 5e-5, so that the bound is as many times that as it has steps.
static void compare(const tal_table *ours, const tal_table *reference, double end,
                    const char *quantity)
{
    const double step_tolerance = 5e-5;
    double worst = 0.0;
    int num_steps = -1;
    for (int r = 0; r < tal_table_num_rows(reference); ++r) {
        const double t = tal_table_value(reference, r, 0);
        if (t > end) break;
        ++num_steps;
        for (int k = 1; k <= 23; ++k) { // coordinates come first
            const int c = find_value(ours, tal_table_column_name(reference, k));
            const double q = c >= 0 ? value_at(ours, c, t) : (double)NAN;
            const double d = fabs(q - tal_table_value(reference, r, k));
            worst = isfinite(d) ? fmax(worst, d) : (double)INFINITY;
        }
    }
    cases_print_row(NAME, quantity, worst, num_steps * step_tolerance);
}

void cases_run_forward(void)
{
    static const char *const files[] = {"model.osim", "loads.mot", "loads.xml"};
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    (void)snprintf(folder, sizeof folder, "opensim_forward_XXXXXX");
    const bool good = mkdtemp(folder) != NULL && write_model() && write_loads(found);
    tal_osim_results *results = good ? run_forward(found) : NULL;
    tal_table *reference = cases_read_table(FORWARD "expected_states.sto", found);
    const tal_table *ours = results != NULL ? tal_osim_results_table(results, 0) : NULL;
    if (ours != NULL && reference != NULL) {
        compare(ours, reference, 0.84, "forward, 10 ms: 23 coordinates [rad, m]");
        compare(ours, reference, 0.93, "forward, 100 ms: 23 coordinates [rad, m]");
    } else {
        cases_print_failure(NAME, "forward", found);
    }
    tal_table_destroy(reference);
    tal_osim_results_destroy(results);
    for (int i = 0; i < 3; ++i) {
        (void)remove(made(files[i]));
    }
    (void)rmdir(folder);
    tal_diagnostics_destroy(found);
}
