// Scenes: making one, markers that were seen, and where it goes.
#include "alloc_internal.h"
#include "error_internal.h"
#include "file_internal.h"

#include "scene/scene_internal.h"

#include <talus/io/bridge.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

// Measured markers are kept to this part of their range.
static const double MARKER_PRECISION = 1e-5;

// ---- making one

tal_scene_options tal_scene_options_default(void)
{
    return (tal_scene_options){.allocator = tal_allocator_default(), .max_frames = 3000};
}

// A copy of a text, or NULL for NULL; false when memory runs out.
static bool keep_text(tal_scene *scene, const char **text)
{
    if (*text == NULL) return true;
    *text = tali_arena_copy(&scene->arena, *text, strlen(*text));
    return *text != NULL;
}

static tal_scene *make_scene(const tal_model *model, const tal_scene_options *options)
{
    tal_scene *const scene = tali_alloc(&options->allocator, sizeof *scene);
    if (scene == NULL) return NULL;
    scene->model = *model;
    scene->options = *options;
    scene->arena = tali_arena_make(&options->allocator);
    scene->model_json.allocator = options->allocator;
    scene->runs_json.allocator = options->allocator;
    scene->data.allocator = options->allocator;
    if (scene->options.title == NULL) scene->options.title = tal_system_name(model->system);
    const bool good =
        keep_text(scene, &scene->options.title) && keep_text(scene, &scene->options.folder) &&
        keep_text(scene, &scene->options.columns) && keep_text(scene, &scene->options.show);
    if (good) return scene;
    tal_scene_destroy(scene);
    return NULL;
}

static tal_status take_state(tal_scene *scene, tal_error *err)
{
    tal_status st = tal_state_create(scene->model.system, &scene->state, err);
    if (st != TAL_OK) return st;
    st = tal_state_copy(scene->state, scene->model.state);
    if (st == TAL_OK) {
        st = tal_system_realize(scene->model.system, scene->state, TAL_STAGE_POSITION);
    }
    return st == TAL_OK ? st : TALI_FAIL(err, st, "%s", tal_state_error(scene->state)->message);
}

static tal_status check_options(const tal_scene_options *options, tal_error *err)
{
    tal_allocator allocator;
    tal_status st = tali_alloc_choose(&options->allocator, &allocator, "tal_scene_create");
    if (st != TAL_OK) return TALI_FAIL(err, st, "the allocator has no functions");
    if (options->max_frames < 1) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "max_frames is %d: it must be positive",
                         options->max_frames);
    }
    if (tal_v3_is_finite(options->up)) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "up is not finite");
}

tal_status tal_scene_create(const tal_model *model, const tal_scene_options *options,
                            tal_scene **out, tal_error *err)
{
    if (out != NULL) *out = NULL;
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    if (out == NULL || model == NULL || model->system == NULL || model->state == NULL ||
        model->matter == NULL || model->forces == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the model or 'out' is NULL");
        return TALI_FAIL(err, TAL_ERR_NULL, "the model or 'out' is NULL");
    }
    const tal_scene_options how = options != NULL ? *options : tal_scene_options_default();
    tal_status st = check_options(&how, err);
    if (st != TAL_OK) return st;
    tal_scene *const scene = make_scene(model, &how);
    if (scene == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "memory ran out");
    st = take_state(scene, err);
    if (st == TAL_OK) {
        scene->size = tali_scene_find_size(scene);
        const bool good = tali_scene_find_muscles(scene) && tali_scene_collect_shapes(scene);
        if (good) tali_scene_describe_model(scene);
        if (!good || scene->model_json.failed || scene->data.failed) {
            st = TALI_FAIL(err, TAL_ERR_NO_MEMORY, "memory ran out");
        }
    }
    if (st != TAL_OK) {
        tal_scene_destroy(scene);
        return st;
    }
    *out = scene;
    return TAL_OK;
}

void tal_scene_destroy(tal_scene *scene)
{
    if (scene == NULL) return;
    const tal_allocator allocator = scene->options.allocator;
    tal_state_destroy(scene->state);
    tali_scene_bytes_free(&scene->model_json);
    tali_scene_bytes_free(&scene->runs_json);
    tali_scene_bytes_free(&scene->data);
    tali_free(&allocator, scene->shapes, (size_t)scene->shapes_capacity * sizeof *scene->shapes);
    tali_free(&allocator, scene->meshes, (size_t)scene->meshes_capacity * sizeof *scene->meshes);
    tali_free(&allocator, scene->runs, (size_t)scene->runs_capacity * sizeof *scene->runs);
    tali_arena_free(&scene->arena);
    tali_free(&allocator, scene, sizeof *scene);
}

int tal_scene_num_frames(const tal_scene *scene)
{
    if (scene != NULL) return scene->num_frames;
    (void)TALI_BREACH(TAL_ERR_NULL, "the scene is NULL");
    return -1;
}

// ---- trying the joints

enum {
    STEPS = 40 // of a coordinate through its range and back
};

static tal_status name_columns(tal_scene *scene, tal_table *table)
{
    const tal_matter *const matter = scene->model.matter;
    tal_status st = tal_table_add_column(table, "time");
    for (int slot = 0; slot < tal_state_nq(scene->state) && st == TAL_OK; ++slot) {
        char name[TAL_COORDINATE_NAME_SIZE];
        int i = -1;
        const tal_body_ix body = tal_matter_q_owner(matter, scene->state, slot, &i);
        (void)snprintf(name, sizeof name, "q%d", slot);
        if (body.i >= 0) st = tal_body_coordinate_name(matter, scene->state, body, i, name);
        if (st == TAL_OK) st = tal_table_add_column(table, name);
    }
    return st;
}

static bool range_of(const tal_scene *scene, int slot, double *low, double *high)
{
    int i = -1;
    const tal_matter *const matter = scene->model.matter;
    const tal_body_ix body = tal_matter_q_owner(matter, scene->state, slot, &i);
    if (body.i < 0) return false;
    const tal_status st = tal_body_range(matter, scene->state, body, i, low, high);
    return st == TAL_OK && isfinite(*low) && isfinite(*high) && *low < *high;
}

static tal_status add_row(tal_table *table, double row[], double value, int slot)
{
    if (tal_table_num_rows(table) > 0) row[0] += 0.05;
    row[1 + slot] = value;
    return tal_table_add_row(table, row);
}

// From where it is to one end, to the other, and back, as a triangle wave.
static tal_status move_coordinate(tal_table *table, double row[], int slot, double low, double high)
{
    const double start = row[1 + slot], middle = 0.5 * (low + high), half = 0.5 * (high - low);
    const double sine = fmax(-1.0, fmin(1.0, (start - middle) / half));
    tal_status st = TAL_OK;
    for (int k = 0; k <= STEPS && st == TAL_OK; ++k) {
        const double turn = asin(sine) + 2.0 * TAL_PI * k / STEPS;
        st = add_row(table, row, middle + half * sin(turn), slot);
    }
    row[1 + slot] = start;
    return st;
}

static tal_status fill_ranges(tal_scene *scene, tal_table *table, double row[])
{
    const bool is_free = tal_matter_num_constraints(scene->model.matter) == 0;
    const int nq = tal_state_nq(scene->state);
    tal_status st = name_columns(scene, table);
    memcpy(row + 1, tal_state_q(scene->state), (size_t)nq * sizeof *row);
    for (int slot = 0; slot < nq && st == TAL_OK && is_free; ++slot) {
        double low = 0.0, high = 0.0;
        if (range_of(scene, slot, &low, &high)) {
            st = move_coordinate(table, row, slot, low, high);
        }
    }
    if (st == TAL_OK && tal_table_num_rows(table) == 0) st = tal_table_add_row(table, row);
    return st;
}

tal_status tal_scene_add_ranges(tal_scene *scene, tal_error *err)
{
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    if (scene == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the scene is NULL");
        return TALI_FAIL(err, TAL_ERR_NULL, "the scene is NULL");
    }
    const tal_allocator *const allocator = &scene->options.allocator;
    const size_t bytes = ((size_t)tal_state_nq(scene->state) + 1) * sizeof(double);
    tal_table *const table = tal_table_create(allocator);
    double *const row = tali_alloc(allocator, bytes);
    tal_status st =
        table != NULL && row != NULL ? fill_ranges(scene, table, row) : TAL_ERR_NO_MEMORY;
    if (st != TAL_OK) {
        st = TALI_FAIL(err, st, "%s", tal_status_text(st));
    } else {
        const char *const name = tal_table_num_rows(table) > 1 ? "ranges of the joints" : "start";
        scene->in_ranges = true;
        st = tal_scene_add_run(scene, name, table, err);
        scene->in_ranges = false;
    }
    tali_free(allocator, row, bytes);
    tal_table_destroy(table);
    return st;
}

// ---- markers that were seen

// Markers of a table: names end with ".x".
static bool marker_name(const tal_table *table, int column, char name[], size_t size)
{
    const char *const text = tal_table_column_name(table, column);
    const size_t length = strlen(text);
    if (length < 3 || length - 2 >= size || strcmp(text + length - 2, ".x") != 0) return false;
    memcpy(name, text, length - 2);
    name[length - 2] = 0;
    return true;
}

static int count_markers(const tal_table *table)
{
    char name[TAL_MAX_NAME + 1];
    int n = 0;
    for (int c = 0; c < tal_table_num_columns(table); ++c) {
        if (marker_name(table, c, name, sizeof name)) ++n;
    }
    return n;
}

// Where a marker is at a time: between the two rows around it; NaN outside of the table.
static tal_vec3 marker_at(const tal_frames *seen, int num_markers, int marker, double t)
{
    int low = 0, high = seen->num_frames - 1;
    if (!(t >= seen->times[low] && t <= seen->times[high])) {
        return tal_v3(TALI_NAN, TALI_NAN, TALI_NAN);
    }
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        *(seen->times[middle] <= t ? &low : &high) = middle;
    }
    const double span = seen->times[high] - seen->times[low];
    const double part = span > 0.0 ? (t - seen->times[low]) / span : 0.0;
    const tal_vec3 a = seen->points[(size_t)low * (size_t)num_markers + (size_t)marker];
    const tal_vec3 b = seen->points[(size_t)high * (size_t)num_markers + (size_t)marker];
    if (part <= 0.0) return a;
    if (part >= 1.0) return b;
    return tal_v3_add(a, tal_v3_scale(part, tal_v3_sub(b, a))); // one that rests stays exact
}

// The track of all markers at the times of the last run.
static bool put_seen(tal_scene *scene, const tal_frames *seen, int n, const double times[])
{
    const tali_scene_run *const run = &scene->runs[scene->num_runs - 1];
    const tal_allocator *const allocator = &scene->options.allocator;
    const size_t frames = (size_t)run->frames, bytes = 3 * (size_t)n * frames * sizeof(double);
    double *const values = tali_alloc(allocator, bytes);
    tali_scene_track track;
    if (values == NULL) return false;
    for (int m = 0; m < n; ++m) {
        for (size_t f = 0; f < frames; ++f) {
            const tal_vec3 p = marker_at(seen, n, m, times[f]);
            values[(size_t)(3 * m) * frames + f] = p.x;
            values[(size_t)(3 * m + 1) * frames + f] = p.y;
            values[(size_t)(3 * m + 2) * frames + f] = p.z;
        }
    }
    const bool good = tali_scene_add_values(scene, &scene->runs_json, values, 3 * n, run->frames,
                                            MARKER_PRECISION, &track);
    tali_free(allocator, values, bytes);
    return good;
}

// Add the names of the markers and their track to the last run.
static tal_status put_markers(tal_scene *scene, const tal_table *table, const char *const names[],
                              int n, tal_error *err)
{
    const tal_allocator *const allocator = &scene->options.allocator;
    const tali_scene_run *const run = &scene->runs[scene->num_runs - 1];
    const size_t bytes = (size_t)run->frames * sizeof(double);
    tal_marker_frames seen;
    tal_status st = tal_marker_frames_create(table, names, n, allocator, &seen, NULL);
    if (st != TAL_OK) {
        return TALI_FAIL(err, st,
                         "the table has no column 'time', or units that are not m, cm or mm");
    }
    double *const times = tali_alloc(allocator, bytes);
    if (times == NULL) st = TAL_ERR_NO_MEMORY;
    if (st == TAL_OK && seen.frames.num_frames > 0) {
        tali_scene_decode(scene->data.at, &run->time, times);
        tali_scene_put_key(&scene->runs_json, "seenNames");
        tali_scene_put_text(&scene->runs_json, "[");
        for (int m = 0; m < n; ++m) {
            tali_scene_put_comma(&scene->runs_json);
            tali_scene_put_string(&scene->runs_json, names[m]);
        }
        tali_scene_put_text(&scene->runs_json, "]");
        tali_scene_put_key(&scene->runs_json, "seen");
        if (!put_seen(scene, &seen.frames, n, times)) st = TAL_ERR_NO_MEMORY;
    }
    tali_free(allocator, times, bytes);
    tal_marker_frames_destroy(&seen);
    return st == TAL_OK ? st : TALI_FAIL(err, st, "memory ran out");
}

tal_status tal_scene_add_markers(tal_scene *scene, const tal_table *table, tal_error *err)
{
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    if (scene == NULL || table == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
        return TALI_FAIL(err, TAL_ERR_NULL, "an argument is NULL");
    }
    const int n = count_markers(table);
    if (n < 1 || scene->num_runs < 1) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "%s",
                         n < 1 ? "the table has no markers" : "there is no run yet");
    }
    const char **const names = tali_arena_take(&scene->arena, (size_t)n * sizeof *names);
    int found = 0;
    for (int c = 0; c < tal_table_num_columns(table) && names != NULL; ++c) {
        char name[TAL_MAX_NAME + 1];
        if (!marker_name(table, c, name, sizeof name)) continue;
        names[found] = tali_arena_copy(&scene->arena, name, strlen(name));
        if (names[found++] == NULL) break;
    }
    if (names == NULL || names[found - 1] == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "memory ran out");
    }
    return put_markers(scene, table, names, n, err);
}

// ---- where it goes

bool tal_scene_format_of(const char *path, tal_scene_format *format)
{
    static const struct {
        const char *extension;
        tal_scene_format format;
    } formats[] = {{".html", TAL_SCENE_HTML},
                   {".htm", TAL_SCENE_HTML},
                   {".glb", TAL_SCENE_GLB},
                   {".json", TAL_SCENE_JSON}};

    if (path == NULL || format == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
        return false;
    }
    const char *const dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && i < sizeof formats / sizeof *formats; ++i) {
        if (strcmp(dot, formats[i].extension) != 0) continue;
        *format = formats[i].format;
        return true;
    }
    return false;
}

static tal_status put_scene(const tal_scene *scene, tal_scene_format format,
                            const tal_scene_page *page, tali_scene_bytes *out, tal_error *err)
{
    tal_status st = TAL_OK;
    switch (format) {
    case TAL_SCENE_HTML:
        st = tali_scene_put_html(scene, page, out, err);
        break;
    case TAL_SCENE_GLB:
        st = tali_scene_put_glb(scene, out, err);
        break;
    case TAL_SCENE_JSON:
        tali_scene_put_json(scene, true, out);
        break;
    default:
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there is no format %d", (int)format);
    }
    if (st == TAL_OK && out->failed) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "memory ran out");
    return st;
}

static tal_status check_writing(const tal_scene *scene, tal_scene_format format,
                                const tal_scene_page *page, bool has_target, const char *where,
                                tal_error *err)
{
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    const bool has_page = format != TAL_SCENE_HTML || (page != NULL && page->text != NULL);
    if (scene != NULL && has_target && has_page) return TAL_OK;
    const char *const subject = scene == NULL ? "the scene"
                                : !has_target ? "the target"
                                              : "the page";
    (void)tali_breach(TAL_ERR_NULL, where, "%s is NULL", subject);
    return tali_fail(err, TAL_ERR_NULL, where, "%s is NULL", subject);
}

tal_status tal_scene_write_to(const tal_scene *scene, tal_scene_format format,
                              const tal_scene_page *page,
                              bool (*take)(void *context, const void *bytes, size_t size),
                              void *context, tal_error *err)
{
    tal_status st = check_writing(scene, format, page, take != NULL, __func__, err);
    if (st != TAL_OK) return st;
    tali_scene_bytes out = {.allocator = scene->options.allocator};
    st = put_scene(scene, format, page, &out, err);
    if (st == TAL_OK && !take(context, out.at, out.size)) {
        st = TALI_FAIL(err, TAL_ERR_CALLBACK, "not all bytes were written");
    }
    tali_scene_bytes_free(&out);
    return st;
}

tal_status tal_scene_write_file(const tal_scene *scene, tal_scene_format format,
                                const tal_scene_page *page, const char *path, tal_error *err)
{
    tal_status st = check_writing(scene, format, page, path != NULL, __func__, err);
    if (st != TAL_OK) return st;
    tali_scene_bytes out = {.allocator = scene->options.allocator};
    st = put_scene(scene, format, page, &out, err);
    if (st == TAL_OK) st = tali_file_replace_by(path, out.at, out.size, __func__, err);
    tali_scene_bytes_free(&out);
    return st;
}
