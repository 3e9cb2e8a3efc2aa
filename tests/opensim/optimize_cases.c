// Static optimization, scaling and marker placement against OpenSim's results.
#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

// The folder of the cases as a whole path; freed by the caller.
static char *whole_path(void)
{
    return realpath(cases_path("."), NULL);
}

static const char *write_setup(const char *text)
{
    static const char name[] = "opensim_optimize_setup.xml";
    FILE *file = fopen(name, "w");
    if (file != NULL) {
        (void)fputs(text, file);
        (void)fclose(file);
    }
    return name;
}

// --- static optimization ---

// The forces of the tutorial are not compared: they do not make its motion. Both references are of
// the same motion and the same bones, and should make the same moment about the elbow; theirs
// differ by up to 0.03 N m, most at both ends of the data. Ours and those below agree to 1.3e-4 N m
// everywhere.
static const struct {
    const char *name, *model, *activation, *force;
} arm = {"09 arm26", "arm26_v30000.osim", "expected_thelen_activation.sto",
         "expected_thelen_force.sto"};

static int row_at(const tal_table *table, double t)
{
    int best = 0;
    for (int r = 1; r < tal_table_num_rows(table); ++r) {
        const double now = fabs(tal_table_value(table, r, 0) - t);
        if (now < fabs(tal_table_value(table, best, 0) - t)) best = r;
    }
    return best;
}

// The largest difference of a column over the rows of ours.
static double difference(const tal_table *ours, const tal_table *reference)
{
    double worst = 0.0;
    for (int r = 0; r < tal_table_num_rows(ours); ++r) {
        const int k = row_at(reference, tal_table_value(ours, r, 0));
        for (int c = 1; c < tal_table_num_columns(ours); ++c) {
            const int d = tal_table_find_column(reference, tal_table_column_name(ours, c));
            if (d < 0) return (double)INFINITY;
            const double e = fabs(tal_table_value(ours, r, c) - tal_table_value(reference, k, d));
            worst = fmax(worst, e);
        }
    }
    return worst;
}

static double at(const tal_table *table, int row, const char *column)
{
    const int c = tal_table_find_column(table, column);
    return c >= 0 ? tal_table_value(table, row, c) : (double)NAN;
}

// Force over activation of the muscles that pass no ellipsoid: the strength, whatever the solver.
static double strength_difference(const tal_osim_results *ours, const tal_table *x,
                                  const tal_table *F)
{
    static const char *const names[] = {"TRIlat", "TRImed", "BICshort", "BRA"};
    const tal_table *x_ours = cases_find_result(ours, "_activation.sto");
    const tal_table *F_ours = cases_find_result(ours, "_force.sto");
    double worst = 0.0;
    for (int r = 0; r < tal_table_num_rows(x_ours); ++r) {
        const int k = row_at(x, tal_table_value(x_ours, r, 0));
        for (int m = 0; m < 4; ++m) {
            const double strength = at(F, k, names[m]) / at(x, k, names[m]);
            const double mine = at(F_ours, r, names[m]) / at(x_ours, r, names[m]);
            if (at(x_ours, r, names[m]) == 0.0) continue;
            worst = fmax(worst, fabs(mine / strength - 1.0));
        }
    }
    return worst;
}

// Moments about the elbow of the reference's forces, less those of ours, by our moment arms.
static double elbow_difference(const char *path, const tal_osim_results *ours, const tal_table *F)
{
    tal_model model;
    if (tal_osim_read_file(path, NULL, &model, NULL) != TAL_OK) return (double)INFINITY;
    const tal_table *q = cases_find_result(ours, "_q.sto");
    const tal_table *F_ours = cases_find_result(ours, "_force.sto");
    double worst = 0.0;
    static const char *const names[] = {"r_shoulder_elev", "r_elbow_flex"};
    for (int r = 0; r < tal_table_num_rows(F_ours); ++r) {
        int i = 0, elbow = 0;
        for (int c = 0; c < 2; ++c) {
            const tal_body_ix body =
                tal_matter_find_coordinate(model.matter, model.state, names[c], &i);
            (void)tal_body_set_q(model.matter, model.state, body, i,
                                 at(q, r, names[c]) * pi / 180.0);
            elbow = tal_body_u_start(model.matter, body) + i;
        }
        if (tal_system_realize(model.system, model.state, TAL_STAGE_POSITION) != TAL_OK) break;
        const int k = row_at(F, tal_table_value(F_ours, r, 0));
        double sum = 0.0, arms_of[16];
        for (int c = 1; c < tal_table_num_columns(F_ours); ++c) {
            const char *name = tal_table_column_name(F_ours, c);
            const tal_path_ix path_of = tal_forces_find_path(model.forces, name);
            if (tal_path_calc_generalized(model.forces, model.state, path_of, arms_of) != TAL_OK) {
                return (double)INFINITY;
            }
            sum += arms_of[elbow] * (at(F, k, name) - tal_table_value(F_ours, r, c));
        }
        worst = fmax(worst, fabs(sum));
    }
    tal_model_destroy(&model);
    return worst;
}

static void run_arm(void)
{
    static const char folder[] = "09_arm26_static_optimization";
    char text[3000], path[1200], file[300], *whole = whole_path();
    if (whole == NULL) return;
    (void)snprintf(path, sizeof path, "%.900s/%s/%s", whole, folder, arm.model);
    (void)snprintf(text, sizeof text,
                   "<OpenSimDocument Version='40000'><AnalyzeTool name='arm'><model_file>%s"
                   "</model_file><coordinates_file>%.900s/%s/arm26_InverseKinematics.mot"
                   "</coordinates_file><initial_time>0.25</initial_time><final_time>0.75"
                   "</final_time><lowpass_cutoff_frequency_for_coordinates>6"
                   "</lowpass_cutoff_frequency_for_coordinates><AnalysisSet><objects><Kinematics "
                   "name='K'/><StaticOptimization name='SO'/></objects></AnalysisSet>"
                   "</AnalyzeTool></OpenSimDocument>",
                   path, whole, folder);
    free(whole);
    const char *setup = write_setup(text);
    tal_osim_results *ours = NULL;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_osim_run_file(setup, NULL, &ours, found);
    (void)snprintf(file, sizeof file, "%s/%s", folder, arm.activation);
    tal_table *x = cases_read_table(file, found);
    (void)snprintf(file, sizeof file, "%s/%s", folder, arm.force);
    tal_table *F = cases_read_table(file, found);
    if (st != TAL_OK || x == NULL || F == NULL) {
        cases_print_failure(arm.name, "static optimization", found);
    } else {
        cases_print_row(arm.name, "static optimization: activations",
                        difference(cases_find_result(ours, "_activation.sto"), x), 0.025);
        cases_print_row(arm.name, "static optimization: forces [N]",
                        difference(cases_find_result(ours, "_force.sto"), F), 4.0);
        cases_print_row(arm.name, "static optimization: force over activation [relative]",
                        strength_difference(ours, x, F), 1e-3);
        cases_print_row(arm.name, "static optimization: moment about the elbow [N m]",
                        elbow_difference(path, ours, F), 1e-3);
    }
    tal_table_destroy(x);
    tal_table_destroy(F);
    tal_osim_results_destroy(ours);
    tal_diagnostics_destroy(found);
    (void)remove(setup);
}

// --- scaling ---

// The numbers between the tags of a text, from some place on.
static const char *numbers_after(const char *text, const char *tag, double values[], int n)
{
    const char *from = text != NULL ? strstr(text, tag) : NULL;
    if (from == NULL) return NULL;
    from += strlen(tag);
    char *end = NULL;
    for (int i = 0; i < n; ++i) {
        values[i] = strtod(from, &end);
        from = end;
    }
    return from;
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;

    enum {
        MOST = 4000000
    };

    char *text = calloc(MOST, 1);
    if (text != NULL) (void)fread(text, 1, MOST - 1, file);
    (void)fclose(file);
    return text;
}

static double factor_difference(const char *ours, const char *reference)
{
    double worst = 0.0, a[3], b[3];
    for (;;) {
        ours = numbers_after(ours, "<scales>", a, 3);
        reference = numbers_after(reference, "<scales>", b, 3);
        if (ours == NULL || reference == NULL) break;
        for (int i = 0; i < 3; ++i) {
            worst = fmax(worst, fabs(a[i] - b[i]));
        }
    }
    return ours == NULL && reference == NULL ? worst : (double)INFINITY;
}

// The largest relative difference of all numbers of a property, in the order of the file; numbers
// below `least` count as that.
static double property_difference(const char *ours, const char *reference, const char *tag, int n,
                                  double least)
{
    double worst = 0.0, a[6], b[6];
    int count = 0;
    for (;; ++count) {
        ours = numbers_after(ours, tag, a, n);
        reference = numbers_after(reference, tag, b, n);
        if (ours == NULL || reference == NULL) break;
        for (int i = 0; i < n; ++i) {
            worst = fmax(worst, fabs(a[i] - b[i]) / fmax(fabs(b[i]), least));
        }
    }
    return ours == NULL && reference == NULL && count > 0 ? worst : (double)INFINITY;
}

// A result that is a text, with an end; freed by the caller.
static char *text_of(const tal_osim_results *results, const char *end)
{
    for (int i = 0; i < tal_osim_results_num(results); ++i) {
        if (!cases_ends_with(tal_osim_results_path(results, i), end)) continue;
        size_t size = 0;
        const char *text = tal_osim_results_text(results, i, &size);
        char *copy = calloc(size + 1, 1);
        if (copy != NULL && text != NULL) memcpy(copy, text, size);
        return copy;
    }
    return NULL;
}

static void compare_models(const tal_osim_results *results)
{
    static const struct {
        const char *tag, *quantity;
        int n;
        double least;
    } rows[] = {{"<optimal_fiber_length>", "scaling: fiber lengths [relative]", 1, 1e-3},
                {"<tendon_slack_length>", "scaling: tendon lengths [relative]", 1, 1e-3},
                {"<translation>", "scaling: joints [relative]", 3, 1e-3},
                {"<mass_center>", "scaling: mass centers [relative]", 3, 1e-3},
                {"<mass>", "scaling: masses [relative]", 1, 1e-3},
                {"<inertia>", "scaling: inertias [relative]", 6, 1e-3}};

    char *ours = text_of(results, "scaledOnly.osim");
    char *reference = read_text(cases_path("10_gait2354_scale/expected_scaledOnly.osim"));
    for (int i = 0; i < 6; ++i) {
        const double e =
            property_difference(ours, reference, rows[i].tag, rows[i].n, rows[i].least);
        cases_print_row("10 gait2354", rows[i].quantity, e, 1e-5);
    }
    free(ours);
    free(reference);
    ours = text_of(results, "scaleSet_applied.xml");
    reference = read_text(cases_path("10_gait2354_scale/expected_scaleSet_applied.xml"));
    cases_print_row("10 gait2354", "scaling: factors", factor_difference(ours, reference), 1e-5);
    free(ours);
    free(reference);
}

// The set-up of the case with files as they are named here, and its tasks of coordinates or not.
// They are found by whole paths.
static const char *write_scale_setup(bool with_coordinates)
{
    static const struct {
        const char *old, *now;
    } names[] = {{" gait2354_simbody.osim ", "generic_gait2354.osim"},
                 {" gait2354_Scale_MarkerSet.xml ", "gait2354_Scale_MarkerSet.xml"},
                 {" subject01_static.trc ", "subject01_static.trc"}};

    static const char name[] = "opensim_scale_setup.xml";
    char *text = read_text(cases_path("10_gait2354_scale/setup_scale.xml")), *whole = whole_path();
    FILE *file = fopen(name, "w");
    const char *from = text;
    while (from != NULL && whole != NULL && file != NULL && *from != '\0') {
        size_t skip = 0;
        for (int i = 0; i < 3; ++i) {
            if (strncmp(from, names[i].old, strlen(names[i].old)) != 0) continue;
            (void)fprintf(file, "%s/10_gait2354_scale/%s", whole, names[i].now);
            skip = strlen(names[i].old);
        }
        const bool is_task = strncmp(from, "<IKCoordinateTask ", 18) == 0;
        if (is_task && !with_coordinates) {
            const char *end = strstr(from, "</IKCoordinateTask>");
            if (end != NULL) skip = (size_t)(end - from) + strlen("</IKCoordinateTask>");
        }
        if (skip == 0) (void)fputc(*from, file);
        from += skip > 0 ? skip : 1;
    }
    if (file != NULL) (void)fclose(file);
    free(text);
    free(whole);
    return name;
}

// Tasks of weight 1000 hold their coordinates.
static double task_error(const tal_table *pose)
{
    static const struct {
        const char *name;
        double value;
    } tasks[] = {{"subtalar_angle_r", 0.0},
                 {"subtalar_angle_l", 0.0},
                 {"mtp_angle_r", 0.0},
                 {"mtp_angle_l", 0.0}};

    double worst = 0.0;
    for (int i = 0; i < 4; ++i) {
        worst = fmax(worst, fabs(at(pose, 0, tasks[i].name) - tasks[i].value));
    }
    return worst;
}

// Legs and pelvis of a fit to markers alone, beside the reference.
static double leg_difference(const tal_table *pose, const tal_table *reference)
{
    double worst = 0.0;
    const double unit = tal_table_in_degrees(reference) ? 1.0 : 180.0 / pi;
    for (int c = 1; c < tal_table_num_columns(pose); ++c) {
        const char *name = tal_table_column_name(pose, c);
        const bool is_place = strstr(name, "_t") == strrchr(name, '_') && strlen(name) == 9;
        if (strncmp(name, "lumbar", 6) == 0 || is_place) continue;
        worst = fmax(worst, fabs(tal_table_value(pose, 0, c) - unit * at(reference, 0, name)));
    }
    return worst;
}

// How far each marker that moved is from the mean of where it was seen [m].
static double marker_error(const tal_osim_results *results, const tal_table *pose)
{
    char *text = text_of(results, "subject01_simbody.osim");
    tal_model model;
    if (text == NULL ||
        tal_osim_read_memory("placed", text, strlen(text), NULL, &model, NULL) != TAL_OK) {
        free(text);
        return (double)INFINITY;
    }
    free(text);
    for (int c = 1; c < tal_table_num_columns(pose); ++c) {
        int i = 0;
        const char *name = tal_table_column_name(pose, c);
        const tal_body_ix body = tal_matter_find_coordinate(model.matter, model.state, name, &i);
        const bool turns = strncmp(name, "pelvis_t", 8) != 0 || strcmp(name, "pelvis_tilt") == 0;
        (void)tal_body_set_q(model.matter, model.state, body, i,
                             tal_table_value(pose, 0, c) * (turns ? pi / 180.0 : 1.0));
    }
    double worst = tal_system_realize(model.system, model.state, TAL_STAGE_POSITION) == TAL_OK
                       ? 0.0
                       : (double)INFINITY;
    tal_table *seen = cases_read_table("10_gait2354_scale/subject01_static.trc", NULL);
    for (int m = 0; m < model.num_markers && seen != NULL; ++m) {
        double mean[3] = {0.0, 0.0, 0.0};
        int count = 0;
        for (int r = 0; r < tal_table_num_rows(seen); ++r) {
            const double t = tal_table_value(seen, r, tal_table_find_column(seen, "time"));
            if (t < 1.0 - 1e-9 || t > 1.01 + 1e-2) continue;
            if (t > 1.01 + 1e-9 && count > 0 && t - 1.01 > 1.0 / 60.0) continue;
            for (int k = 0; k < 3; ++k) {
                char column[100];
                (void)snprintf(column, sizeof column, "%.80s.%c", model.markers[m].name, 'x' + k);
                mean[k] += 1e-3 * at(seen, r, column);
            }
            ++count;
        }
        const tal_vec3 p = tal_station_p_GS(model.matter, model.state, model.markers[m].body,
                                            model.markers[m].p_BS);
        const tal_vec3 e =
            tal_v3(p.x - mean[0] / count, p.y - mean[1] / count, p.z - mean[2] / count);
        const double distance = tal_v3_norm(e);
        if (isfinite(distance)) worst = fmax(worst, distance);
    }
    tal_table_destroy(seen);
    tal_model_destroy(&model);
    return worst;
}

static void run_scale(bool with_coordinates)
{
    const char *setup = write_scale_setup(with_coordinates);
    tal_osim_results *ours = NULL;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_osim_run_file(setup, NULL, &ours, found);
    const tal_table *pose = st == TAL_OK ? cases_find_result(ours, "static_output.mot") : NULL;
    tal_table *reference = cases_read_table("10_gait2354_scale/expected_static_output.mot", found);
    if (pose == NULL || reference == NULL) {
        cases_print_failure("10 gait2354", "scaling", found);
    } else if (with_coordinates) {
        compare_models(ours);
        cases_print_row("10 gait2354", "placement: coordinates with tasks [deg]", task_error(pose),
                        0.1);
        cases_print_row("10 gait2354", "placement: markers where they were seen [m]",
                        marker_error(ours, pose), 1e-9);
    } else {
        cases_print_row("10 gait2354", "placement by markers alone: legs [deg]",
                        leg_difference(pose, reference), 0.5);
    }
    tal_table_destroy(reference);
    tal_osim_results_destroy(ours);
    tal_diagnostics_destroy(found);
    (void)remove(setup);
}

void cases_run_optimizers(void)
{
    run_arm();
    run_scale(true);
    run_scale(false);
}
