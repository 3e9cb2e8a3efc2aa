// Scaling: a model of a subject, from distances between markers; then its markers where they were
// seen.
//
// The model is read, its document is changed, written and read again: with the markers of the
// set-up, then scaled, then with lengths of fibers and tendons that fit the new paths, then with
// markers in their new places.
#include "error_internal.h"

#include "opensim/scale_internal.h"
#include "opensim/tool_internal.h"

#include <talus/io/bridge.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct scaling {
    tali_osim_tool *tool;
    const tali_xml_element *root;                    // <ScaleTool>
    const tali_xml_element *maker, *scaler, *placer; // parts of it; NULL: none
    const char *path;                                // of the model's file
    tal_vec3 *factors;                               // [num_bodies]
    double *lengths;                                 // [num_forces] of paths
} scaling;

// --- documents ---

static const char *model_path(scaling *it, const tali_xml_element *part, const char *property)
{
    const char *file = part != NULL ? tali_osim_text(part, property) : NULL;
    return file != NULL ? tali_osim_tool_path(it->tool, it->tool->folder, file) : NULL;
}

// Close the model, and read the one of a text. False, and errors, when that is wrong.
static bool reopen(scaling *it, const tali_scene_bytes *text)
{
    tali_osim_tool *tool = it->tool;
    tal_model_destroy(&tool->model);
    tali_osim_free(&tool->o);
    tal_osim_options how = tal_osim_options_default();
    how.allocator = tool->options.allocator;
    if (!tali_osim_begin(&tool->o, &how) || text->failed) {
        tool->setup.no_memory = true;
        return false;
    }
    const tal_status st =
        tali_osim_open_text(&tool->o, it->path, (const char *)text->at, text->size, &tool->model);
    tool->setup.no_memory = tool->setup.no_memory || st == TAL_ERR_NO_MEMORY;
    if (st != TAL_OK) tali_osim_hand_on(&tool->o, tool->setup.found);
    return st == TAL_OK && tali_osim_tool_is_good(tool);
}

// The document as it has become, read again.
static bool renew(scaling *it)
{
    tali_osim_tool *tool = it->tool;
    tali_scene_bytes text = {.allocator = tool->options.allocator};
    const bool had_memory = !tool->o.no_memory;
    tali_osim_write_document(tool->o.xml->root, &text);
    const bool good = had_memory && reopen(it, &text);
    tool->setup.no_memory = tool->setup.no_memory || !had_memory;
    tali_free(&text.allocator, text.at, text.capacity);
    return good;
}

// The document as a result.
static void add_model(scaling *it, const tali_xml_element *part)
{
    const char *file = tali_osim_text(part, "output_model_file");
    if (file == NULL) return;
    tali_scene_bytes text = {.allocator = it->tool->options.allocator};
    tali_osim_write_document(it->tool->o.xml->root, &text);
    tali_osim_tool_add_text(it->tool, file, &text);
}

// --- markers of the set-up ---

static const tali_xml_element *find_marker(const tali_xml_element *set, const char *name)
{
    const tali_xml_element *e = tali_osim_first(set);
    while (e != NULL && strcmp(tali_osim_name(e), name) != 0) {
        e = e->next;
    }
    return e;
}

// A marker of an older file names its body; version 4 has a path to it.
static bool modernize_marker(tali_osim *o, const tali_xml_element *marker)
{
    const tali_xml_element *body = tali_xml_child(marker, "body");
    if (body == NULL || o->version < 40000) return true;
    char path[300];
    (void)snprintf(path, sizeof path, "%s%.250s",
                   strcmp(body->text, "ground") == 0 ? "/" : "/bodyset/", body->text);
    ((tali_xml_element *)body)->name = "socket_parent_frame";
    return tali_osim_set_text(&o->arena, body, path);
}

// The markers of a file become the model's; one of the same name is replaced.
static bool merge_markers(scaling *it, const tali_xml *file)
{
    tali_osim *o = &it->tool->o;
    const tali_xml_element *from = file->root;
    if (strcmp(from->name, "OpenSimDocument") == 0 && from->first != NULL) from = from->first;
    if (strcmp(from->name, "MarkerSet") != 0) {
        tali_osim_tool_error(it->tool, "GenericModelMaker",
                             "<marker_set_file>: its first element must be <MarkerSet>");
        return false;
    }
    const tali_xml_element *set = tali_xml_child(o->model, "MarkerSet");
    if (set == NULL) set = tali_osim_add_element(&o->arena, o->model, "MarkerSet");
    if (set == NULL) return false;
    const tali_xml_element *objects = tali_xml_child(set, "objects");
    if (objects == NULL) objects = tali_osim_add_element(&o->arena, set, "objects");
    for (const tali_xml_element *e = tali_osim_first(from); e != NULL && objects != NULL;
         e = e->next) {
        const tali_xml_element *old = find_marker(set, tali_osim_name(e));
        const tali_xml_element *made = tali_osim_copy_element(&o->arena, objects, e);
        if (made == NULL || !modernize_marker(o, made)) return false;
        if (old != NULL) tali_osim_replace_element(old, made);
    }
    return objects != NULL;
}

static void add_markers(scaling *it)
{
    tali_osim_tool *tool = it->tool;
    const char *path = model_path(it, it->maker, "marker_set_file");
    if (path == NULL) return;
    tali_xml *file = NULL;
    const tal_status st =
        tali_xml_read_file(path, NULL, &tool->options.allocator, &file, tool->setup.found);
    tool->setup.no_memory = tool->setup.no_memory || st == TAL_ERR_NO_MEMORY;
    if (st == TAL_OK && !merge_markers(it, file) && tali_osim_tool_is_good(tool)) {
        tool->setup.no_memory = true;
    }
    tali_xml_destroy(file);
    if (tali_osim_tool_is_good(tool)) (void)renew(it);
}

static bool open_generic(scaling *it)
{
    tali_osim_tool *tool = it->tool;
    it->path = model_path(it, it->maker, "model_file");
    if (it->path == NULL) {
        tali_osim_tool_error(tool, NULL, "<GenericModelMaker> with a <model_file> is missing");
        return false;
    }
    tali_osim_tool_name_model(tool, it->path);
    const tal_status st = tali_osim_open(&tool->o, it->path, &tool->model);
    tali_osim_hand_on(&tool->o, tool->setup.found);
    tool->setup.no_memory = tool->setup.no_memory || st == TAL_ERR_NO_MEMORY;
    if (st == TAL_OK) add_markers(it);
    return st == TAL_OK && tali_osim_tool_is_good(tool);
}

// --- measurements ---

// Rows of a marker file within the time range of a part, of these markers.
static bool read_frames(scaling *it, const tal_table *table, const char *const names[], int n,
                        tal_marker_frames *frames, int *begin, int *end)
{
    tali_osim_tool *tool = it->tool;
    const tal_status st =
        tal_marker_frames_create(table, names, n, &tool->options.allocator, frames, NULL);
    tool->setup.no_memory = tool->setup.no_memory || st == TAL_ERR_NO_MEMORY;
    if (st != TAL_OK) return false;
    double range[2];
    tali_osim_tool_time_range(tool, range);
    const double *times = frames->frames.times;
    *begin = 0;
    *end = frames->frames.num_frames;
    while (*begin + 1 < *end && times[*begin + 1] <= range[0]) {
        ++*begin;
    }
    while (*end - 1 > *begin && times[*end - 2] >= range[1]) {
        --*end;
    }
    return true;
}

// The mean distance of two markers in the file; NaN where they are never seen together.
static double seen_distance(scaling *it, const tal_table *table, const char *const names[2])
{
    tal_marker_frames frames = {.frames = {.num_frames = 0}};
    int begin = 0, end = 0, count = 0;
    double sum = 0.0;
    if (!read_frames(it, table, names, 2, &frames, &begin, &end)) return (double)NAN;
    for (int f = begin; f < end; ++f) {
        const tal_vec3 *p = frames.frames.points + (size_t)2 * (size_t)f;
        const double d = tal_v3_norm(tal_v3_sub(p[0], p[1]));
        if (isnan(d)) continue;
        sum += d;
        ++count;
    }
    tal_marker_frames_destroy(&frames);
    return count > 0 ? sum / count : (double)NAN;
}

// The distance of two markers of the model as it stands; NaN when it has them not.
static double model_distance(const scaling *it, const char *const names[2])
{
    const tal_model *model = &it->tool->model;
    tal_vec3 p[2];
    for (int k = 0; k < 2; ++k) {
        const int number = tali_name_map_find(&it->tool->o.marker_names, names[k]);
        if (number < 0) return (double)NAN;
        const tal_marker *marker = &model->markers[number];
        p[k] = tal_station_p_GS(model->matter, model->state, marker->body, marker->p_BS);
    }
    return tal_v3_norm(tal_v3_sub(p[0], p[1]));
}

static bool has_marker(const tal_table *table, const char *name)
{
    char label[200];
    (void)snprintf(label, sizeof label, "%.150s.x", name);
    return tal_table_find_column(table, label) >= 0;
}

// The factor of a measurement: the mean over its pairs. False, and a warning, without one.
static bool measure(scaling *it, const tal_table *table, const tali_xml_element *m, double *factor)
{
    tali_osim_tool *tool = it->tool;
    double sum = 0.0;
    int count = 0;
    const tali_xml_element *pair = tali_osim_first_of(m, "MarkerPairSet");
    for (; pair != NULL; pair = pair->next) {
        const char *names[2] = {"", ""};
        const int n = tali_osim_words(&tool->setup, pair, "markers", names, 2);
        const bool is_there = n == 2 && has_marker(table, names[0]) && has_marker(table, names[1]);
        const double part =
            is_there ? seen_distance(it, table, names) / model_distance(it, names) : (double)NAN;
        if (!isfinite(part)) {
            tali_osim_warn(&tool->setup, pair,
                           ": '%.60s' and '%.60s' are not both in the model and in the marker "
                           "file; measurement '%.60s' is left out",
                           names[0], names[1], tali_osim_name(m));
            return false;
        }
        sum += part;
        ++count;
    }
    *factor = count > 0 ? sum / count : 1.0;
    return count > 0;
}

static int find_body(scaling *it, const tali_xml_element *at, const char *name)
{
    const int body = tali_name_map_find(&it->tool->o.body_names, name);
    if (body < 0) {
        tali_osim_warn(&it->tool->setup, at, ": the model has no body '%.60s'", name);
    }
    return body;
}

static void apply_measurement(scaling *it, const tali_xml_element *m, double factor)
{
    const tali_xml_element *scale = tali_osim_first_of(m, "BodyScaleSet");
    for (; scale != NULL; scale = scale->next) {
        const int body = find_body(it, scale, tali_osim_name(scale));
        const char *axes = tali_osim_text(scale, "axes");
        if (body < 0) continue;
        if (axes == NULL) axes = "X Y Z";
        if (strpbrk(axes, "xX") != NULL) it->factors[body].x = factor;
        if (strpbrk(axes, "yY") != NULL) it->factors[body].y = factor;
        if (strpbrk(axes, "zZ") != NULL) it->factors[body].z = factor;
    }
}

static void take_measurements(scaling *it)
{
    tali_osim_tool *tool = it->tool;
    tal_table *table = tali_osim_tool_read_table(tool, "marker_file");
    const tali_xml_element *m = tali_osim_first_of(it->scaler, "MeasurementSet");
    for (; m != NULL && table != NULL && tali_osim_tool_is_good(tool); m = m->next) {
        double factor = 1.0;
        if (!tali_osim_bool(&tool->setup, m, "apply", true)) continue;
        if (measure(it, table, m, &factor)) apply_measurement(it, m, factor);
    }
    tal_table_destroy(table);
}

static void take_manual_scales(scaling *it)
{
    tali_osim_tool *tool = it->tool;
    const tali_xml_element *e = tali_osim_first_of(it->scaler, "ScaleSet");
    for (; e != NULL; e = e->next) {
        const char *segment = tali_osim_text(e, "segment");
        if (!tali_osim_bool(&tool->setup, e, "apply", true) || segment == NULL) continue;
        const int body = find_body(it, e, segment);
        double s[3];
        if (body >= 0 && tali_osim_numbers(&tool->setup, e, "scales", 3, s)) {
            it->factors[body] = tal_v3(s[0], s[1], s[2]);
        }
    }
}

// Factors of all bodies, in the order that the set-up asks for; those that cannot be are errors.
static void find_factors(scaling *it)
{
    tali_osim_tool *tool = it->tool;
    const char *words[8];
    const int n = tali_osim_words(&tool->setup, it->scaler, "scaling_order", words, 8);
    for (int i = 0; i < n; ++i) {
        if (strcmp(words[i], "measurements") == 0) {
            take_measurements(it);
        } else if (strcmp(words[i], "manualScale") == 0) {
            take_manual_scales(it);
        } else {
            tali_osim_tool_error(tool, "scaling_order",
                                 "'%.40s' is neither 'measurements' nor 'manualScale'", words[i]);
        }
    }
    for (int i = 0; i < tool->o.num_bodies; ++i) {
        const tal_vec3 s = it->factors[i];
        const bool good = isfinite(s.x + s.y + s.z) && s.x > 0.0 && s.y > 0.0 && s.z > 0.0;
        if (good) continue;
        tali_osim_tool_error(tool, NULL,
                             "body '%.60s' has the factors %g, %g, %g: they must be "
                             "positive",
                             tool->o.bodies[i].name, s.x, s.y, s.z);
    }
}

// --- results ---

// The factors as a table: the first result, which `talus rerun` compares.
static void add_table(scaling *it)
{
    tali_osim_tool *tool = it->tool;
    char file[300];
    (void)snprintf(file, sizeof file, "%.200s_scale_factors.sto", tool->name);
    tal_table *table = tali_osim_tool_add_result(tool, file, "Scale Factors");
    const size_t n = 1 + 3 * (size_t)tool->o.num_bodies;
    double *row = tali_arena_take(&tool->setup.arena, n * sizeof *row);
    tool->setup.no_memory = tool->setup.no_memory || row == NULL;
    if (table == NULL || row == NULL) return;
    static const char *const ends[] = {"_x", "_y", "_z"};
    row[0] = 0.0;
    for (int i = 0; i < tool->o.num_bodies; ++i) {
        const double s[3] = {it->factors[i].x, it->factors[i].y, it->factors[i].z};
        for (int k = 0; k < 3; ++k) {
            tali_osim_tool_add_column(tool, table, tool->o.bodies[i].name, ends[k]);
            row[1 + 3 * i + k] = s[k];
        }
    }
    if (tali_osim_tool_is_good(tool) && tal_table_add_row(table, row) != TAL_OK) {
        tool->setup.no_memory = true;
    }
}

static void add_scale_set(scaling *it)
{
    tali_osim_tool *tool = it->tool;
    const char *file = tali_osim_text(it->scaler, "output_scale_file");
    if (file == NULL) return;
    tali_scene_bytes out = {.allocator = tool->options.allocator};
    tali_scene_put_text(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n<OpenSimDocument "
                              "Version=\"40000\">\n<ScaleSet name=\"ScaleSet\">\n<objects>\n");
    for (int i = 0; i < tool->o.num_bodies; ++i) {
        const tal_vec3 s = it->factors[i];
        char text[400];
        (void)snprintf(text, sizeof text,
                       "<Scale><scales>%.17g %.17g %.17g</scales><segment>%.100s</segment>"
                       "<apply>true</apply></Scale>\n",
                       s.x, s.y, s.z, tool->o.bodies[i].name);
        tali_scene_put_text(&out, text);
    }
    tali_scene_put_text(&out, "</objects>\n</ScaleSet>\n</OpenSimDocument>\n");
    tali_osim_tool_add_text(tool, file, &out);
}

// --- scaling ---

static tal_status stand(const scaling *it)
{
    return tali_osim_tool_meet(it->tool, false);
}

// Lengths of all paths as the model stands; 1 where a force has none.
static void measure_paths(const scaling *it, double lengths[])
{
    const tali_osim_tool *tool = it->tool;
    for (int i = 0; i < tool->o.num_forces; ++i) {
        const tali_osim_path *path = tool->o.forces[i].path;
        lengths[i] = path != NULL && path->path.i >= 0
                         ? tal_path_length(tool->model.forces, tool->model.state, path->path)
                         : 1.0;
    }
}

static bool take_memory(scaling *it)
{
    tali_osim_tool *tool = it->tool;
    const size_t nf = (size_t)tool->o.num_forces + 1, nb = (size_t)tool->o.num_bodies;
    it->factors = tali_arena_take(&tool->setup.arena, nb * sizeof *it->factors);
    it->lengths = tali_arena_take(&tool->setup.arena, 2 * nf * sizeof *it->lengths);
    tool->setup.no_memory = tool->setup.no_memory || it->factors == NULL || it->lengths == NULL;
    for (size_t i = 0; i < nb && it->factors != NULL; ++i) {
        it->factors[i] = tal_v3(1.0, 1.0, 1.0);
    }
    return tali_osim_tool_is_good(tool);
}

// The model scaled, then its muscles to their new paths.
static bool scale(scaling *it)
{
    tali_osim_tool *tool = it->tool;
    if (!take_memory(it)) return false;
    tool->root = it->scaler;
    tali_osim_tool_fail(tool, stand(it), tal_state_error(tool->model.state));
    if (tali_osim_tool_is_good(tool)) find_factors(it);
    tool->root = it->root;
    if (!tali_osim_tool_is_good(tool)) return false;
    measure_paths(it, it->lengths);
    const bool preserve =
        tali_osim_bool(&tool->setup, it->scaler, "preserve_mass_distribution", false);
    const double mass = tali_osim_number(&tool->setup, it->root, "mass", -1.0);
    add_table(it);
    add_scale_set(it);
    tali_osim_scale_document(&tool->o, it->factors, preserve, mass);
    if (!renew(it)) return false;
    tali_osim_tool_fail(tool, stand(it), tal_state_error(tool->model.state));
    double *ratios = it->lengths + tool->o.num_forces + 1;
    measure_paths(it, ratios);
    for (int i = 0; i < tool->o.num_forces; ++i) {
        ratios[i] = it->lengths[i] > 0.0 ? ratios[i] / it->lengths[i] : 1.0;
    }
    tali_osim_scale_lengths(&tool->o, ratios);
    if (!tali_osim_tool_is_good(tool)) return false;
    add_model(it, it->scaler);
    return renew(it);
}

// --- markers in their new places ---

// The mean of a marker over the time range, in Ground; NaN when it is never seen.
static tal_vec3 mean_place(scaling *it, const tal_table *table, const char *name)
{
    tal_marker_frames frames = {.frames = {.num_frames = 0}};
    int begin = 0, end = 0, count = 0;
    tal_vec3 sum = TAL_VEC3_ZERO;
    if (!read_frames(it, table, &name, 1, &frames, &begin, &end)) return sum;
    for (int f = begin; f < end; ++f) {
        const tal_vec3 p = frames.frames.points[f];
        if (isnan(p.x + p.y + p.z)) continue;
        sum = tal_v3_add(sum, p);
        ++count;
    }
    tal_marker_frames_destroy(&frames);
    return tal_v3_scale(count > 0 ? 1.0 / count : (double)NAN, sum);
}

// Move the markers of the document that are not fixed to where they were seen on their bodies.
static void move_markers(scaling *it, const tal_table *table)
{
    tali_osim_tool *tool = it->tool;
    const tal_model *model = &tool->model;
    for (int i = 0; i < tool->o.num_markers; ++i) {
        const tali_osim_marker *marker = &tool->o.markers[i];
        if (marker->fixed || !has_marker(table, marker->name)) continue;
        const tal_vec3 p_GS = mean_place(it, table, marker->name);
        const int frame = tali_osim_frame_of(&tool->o, marker->element, "parent_frame", "body");
        if (frame < 0 || isnan(p_GS.x + p_GS.y + p_GS.z)) continue;
        const tal_body_ix body = tool->o.bodies[marker->body].body;
        const tal_xform X_GF = tal_xf_mul(tal_body_X_GB(model->matter, model->state, body),
                                          tool->o.frames[frame].X_BF);
        const tal_vec3 p = tal_xf_inv_apply(X_GF, p_GS);
        const double v[3] = {p.x, p.y, p.z};
        if (!tali_osim_set_property(&tool->o.arena, marker->element, "location", v, 3)) {
            tool->setup.no_memory = true;
        }
    }
}

static void place(scaling *it)
{
    tali_osim_tool *tool = it->tool;
    tool->root = it->placer;
    tal_table *table = NULL;
    if (tali_osim_tool_fit_mean(tool)) {
        tali_osim_tool_fail(
            tool, tal_system_realize(tool->model.system, tool->model.state, TAL_STAGE_POSITION),
            tal_state_error(tool->model.state));
        table = tali_osim_tool_read_table(tool, "marker_file");
    }
    if (table != NULL && tali_osim_tool_is_good(tool)) {
        move_markers(it, table);
        add_model(it, it->placer);
    }
    tal_table_destroy(table);
    tool->root = it->root;
}

static bool is_applied(scaling *it, const tali_xml_element *part)
{
    return part != NULL && tali_osim_bool(&it->tool->setup, part, "apply", true);
}

void tali_osim_tool_scale(tali_osim_tool *tool)
{
    scaling it = {.tool = tool,
                  .root = tool->root,
                  .maker = tali_xml_child(tool->root, "GenericModelMaker"),
                  .scaler = tali_xml_child(tool->root, "ModelScaler"),
                  .placer = tali_xml_child(tool->root, "MarkerPlacer")};
    if (!open_generic(&it)) return;
    if (is_applied(&it, it.scaler) && !scale(&it)) return;
    if (is_applied(&it, it.placer)) place(&it);
    if (tal_osim_results_num(tool->results) == 0 && tali_osim_tool_is_good(tool)) {
        tali_osim_tool_error(tool, NULL, "neither <ModelScaler> nor <MarkerPlacer> has a result");
    }
}
