// Do the markers of a file fit those of a model?
#include "table/markers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A list of names under construction, with commas between them.
typedef struct name_list {
    char *text; // owned; NULL: none yet
    int num;
} name_list;

static void add_name(name_list *it, const char *name, size_t length)
{
    char *const longer = cli_format("%s%s%.*s", it->num > 0 ? it->text : "",
                                    it->num > 0 ? ", " : "", (int)length, name);
    free(it->text);
    it->text = longer;
    ++it->num;
}

static bool is_marker(const tal_model *model, const char *name, size_t length)
{
    for (int k = 0; k < model->num_markers; ++k) {
        const char *const marker = model->markers[k].name;
        if (strlen(marker) == length && strncmp(marker, name, length) == 0) return true;
    }
    return false;
}

// One line about markers that only the file has, and one about those that only the model has.
void markers_say_unused(const cli_args *args, const tal_table *table, const tal_model *model)
{
    name_list only_file = {0}, only_model = {0};
    for (int c = 1; c < tal_table_num_columns(table); ++c) {
        const char *const label = tal_table_column_name(table, c);
        const size_t length = strlen(label);
        if (length < 3 || strcmp(label + length - 2, ".x") != 0) continue;
        if (!is_marker(model, label, length - 2)) add_name(&only_file, label, length - 2);
    }
    for (int k = 0; k < model->num_markers; ++k) {
        const char *const name = model->markers[k].name;
        char *const label = cli_format("%s.x", name);
        if (tal_table_find_column(table, label) < 0) add_name(&only_model, name, strlen(name));
        free(label);
    }
    if (only_file.num > 0) {
        cli_warn(args, "%d markers of %s are not in the model and not used: %s.", only_file.num,
                 args->files[1], only_file.text);
    }
    if (only_model.num > 0) {
        cli_warn(args, "%d markers of the model are not in %s and not used: %s.", only_model.num,
                 args->files[1], only_model.text);
    }
    free(only_file.text);
    free(only_model.text);
}

bool marker_is_seen(tal_vec3 p)
{
    return isfinite(p.x) && isfinite(p.y) && isfinite(p.z);
}

// Root mean square distance of points from their center; NaN points are left out.
static double spread(const tal_vec3 points[], int n)
{
    tal_vec3 center = tal_v3(0.0, 0.0, 0.0);
    int seen = 0;
    for (int k = 0; k < n; ++k) {
        if (!marker_is_seen(points[k])) continue;
        center = tal_v3_add(center, points[k]);
        ++seen;
    }
    if (seen < 2) return 0.0;
    center = tal_v3_scale(1.0 / seen, center);
    double sum = 0.0;
    for (int k = 0; k < n; ++k) {
        const tal_vec3 d = tal_v3_sub(points[k], center);
        if (marker_is_seen(points[k])) sum += tal_v3_dot(d, d);
    }
    return sqrt(sum / seen);
}

// The markers of the model where it begins, those that a frame has; NaN for the others.
static void place_markers(const cli_model *model, const tal_vec3 frame[], tal_vec3 points[])
{
    for (int k = 0; k < model->file.num_markers; ++k) {
        const tal_marker *const marker = &model->file.markers[k];
        points[k] = marker_is_seen(frame[k])
                        ? tal_station_p_GS(model->matter, model->state, marker->body, marker->p_BS)
                        : frame[k];
    }
}

// Markers that are a thousand times as far apart as those of the model have another unit than the
// file says. A body in another pose makes a factor of a few.
void markers_check_units(const cli_args *args, const cli_model *model, const tal_frames *frames)
{
    const int n = model->file.num_markers;
    if (tal_system_realize(model->system, model->state, TAL_STAGE_POSITION) != TAL_OK) return;
    tal_vec3 *const points = cli_alloc((size_t)n, sizeof *points);
    double seen = 0.0, own = 0.0;
    for (int f = 0; f < frames->num_frames && !(seen > 0.0); ++f) {
        const tal_vec3 *const frame = frames->points + (size_t)f * (size_t)n;
        place_markers(model, frame, points);
        seen = spread(frame, n);
        own = spread(points, n);
    }
    free(points);
    if (!(seen > 0.0) || !(own > 0.0)) return;
    const double ratio = seen / own;
    if (ratio < 20.0 && ratio > 0.05) return;
    cli_warn(args,
             "the markers of %s are %.3g times as far apart as those of the model: check the Units "
             "in its header%s.",
             args->files[1], ratio,
             ratio > 300.0 && ratio < 3000.0   ? ", they look like mm"
             : ratio > 30.0 && ratio < 300.0   ? ", they look like cm"
             : ratio > 0.0003 && ratio < 0.003 ? ", they look like m"
                                               : "");
}
