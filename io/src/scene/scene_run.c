// A run of a scene: poses, columns and loads at the rows of a table.
#include "alloc_internal.h"
#include "error_internal.h"

#include "scene/scene_internal.h"

#include <math.h>
#include <string.h>

enum {
    POSE_CHANNELS = 7,           // position, quaternion
    MAX_POSES = 10 * 1000 * 1000 // frames times bodies
};

static const double time_precision = 1e-9, value_precision = 2e-6, length_precision = 1e-6;
static const double quaternion_quantum = 1.0 / 262144.0; // 2^-18

// A run being recorded.
typedef struct recording {
    tal_scene *scene;
    tali_scene_rows rows;
    tali_scene_loads loads;
    tali_scene_paths paths;
    int bodies, frames, num_rows;
    double *time;    // [frames]
    tal_xform *X_GB; // [frames][bodies]
    tali_scene_bytes json;
    tali_scene_run run;
} recording;

// Frames are rows evenly chosen, the first and the last among them.
static int row_of(const recording *it, int frame)
{
    if (it->frames == it->num_rows || it->frames < 2) return frame;
    const long long last = it->num_rows - 1, steps = it->frames - 1;
    return (int)((frame * last + steps / 2) / steps);
}

static int choose_frames(const tal_scene *scene, int num_rows, int bodies)
{
    int most = scene->options.max_frames;
    if (most > MAX_POSES / bodies) most = MAX_POSES / bodies;
    if (most < 2) most = 2;
    if (num_rows <= most) return num_rows;
    tal_diagnostics_add(scene->options.found, TAL_WARNING, NULL, 0, 0,
                        "%d of %d rows are shown, evenly chosen", most, num_rows);
    return most;
}

static bool has_loads(const recording *it)
{
    const tal_scene *const scene = it->scene;
    return it->rows.has_speeds && (tal_forces_num(scene->model.forces) > 0 ||
                                   scene->options.reactions || it->loads.touches);
}

static tal_status record_frame(recording *it, int frame, tal_error *err)
{
    tal_scene *const scene = it->scene;
    const tal_stage stage = !has_loads(it)             ? TAL_STAGE_POSITION
                            : scene->options.reactions ? TAL_STAGE_ACCELERATION
                                                       : TAL_STAGE_VELOCITY;
    tal_status st = tali_scene_rows_set(scene, &it->rows, row_of(it, frame), stage, err);
    if (st != TAL_OK) return st;
    it->time[frame] = tal_state_t(scene->state);
    for (int b = 0; b < it->bodies; ++b) {
        const size_t at = (size_t)frame * (size_t)it->bodies + (size_t)b;
        it->X_GB[at] = tal_body_X_GB(scene->model.matter, scene->state, (tal_body_ix){b});
    }
    st = tali_scene_paths_add(scene, &it->paths, it->rows.has_z, frame);
    if (st == TAL_OK && has_loads(it)) st = tali_scene_loads_add(scene, &it->loads, frame);
    if (st == TAL_OK) return st;
    const char *const why = tal_state_error(scene->state)->message;
    return TALI_FAIL(err, st, "row %d: %s", row_of(it, frame) + 1,
                     st == TAL_ERR_NO_MEMORY ? "memory ran out" : why);
}

// ---- one moment, for who shows a model while it moves

int tal_scene_frame_size(const tal_scene *scene)
{
    if (scene == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the scene is NULL");
        return -1;
    }
    return POSE_CHANNELS * (tal_matter_num_bodies(scene->model.matter) - 1) +
           tali_scene_num_path_channels(scene);
}

// The channels of paths at one moment. There is no mask here: without an activation it is -1.
static tal_status calc_paths(const tal_scene *scene, tal_state *state, double numbers[])
{
    const int n = tali_scene_num_path_channels(scene);
    memset(numbers, 0, (size_t)n * sizeof *numbers);
    const tal_status st = tali_scene_calc_paths(scene, state, true, numbers, 1);
    for (int i = 0; i < n; ++i) {
        if (isnan(numbers[i])) numbers[i] = -1.0;
    }
    return st;
}

tal_status tal_scene_calc_frame(const tal_scene *scene, tal_state *state, double numbers[])
{
    if (scene == NULL || state == NULL || numbers == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    }
    const tal_matter *const matter = scene->model.matter;
    const int bodies = tal_matter_num_bodies(matter);
    const tal_status st = tal_system_realize(scene->model.system, state, TAL_STAGE_POSITION);
    if (st != TAL_OK) return st;
    for (int b = 1; b < bodies; ++b) {
        const tal_xform X_GP =
            tal_body_X_GB(matter, state, tal_body_parent(matter, (tal_body_ix){b}));
        const tal_xform X_GB = tal_body_X_GB(matter, state, (tal_body_ix){b});
        const tal_xform X_PB = tal_xf_mul(tal_xf_inverse(X_GP), X_GB);
        const tal_quat h = tal_rotation_to_qt(&X_PB.R);
        const double pose[POSE_CHANNELS] = {X_PB.p.x, X_PB.p.y, X_PB.p.z, h.w, h.x, h.y, h.z};
        memcpy(numbers + (size_t)POSE_CHANNELS * (size_t)(b - 1), pose, sizeof pose);
    }
    return calc_paths(scene, state, numbers + (size_t)POSE_CHANNELS * (size_t)(bodies - 1));
}

// ---- poses

// Poses on their way into integers.
typedef struct pose_coder {
    const tal_matter *matter;
    int bodies, frames;
    const tal_xform *X_GB; // [frames][bodies] exact
    tal_xform *decoded;    // [bodies] of the frame, as a reader will have them
    tal_quat *before;      // [bodies] quaternions of the frame before
    double *quantum;       // [7 (bodies - 1)]
    int32_t *n;            // [7 (bodies - 1)][frames]
} pose_coder;

static int32_t steps_of(double value, double quantum)
{
    const double steps = round(value / quantum);
    return (int32_t)fmax(-2147483647.0, fmin(2147483647.0, steps));
}

// A quantum that no position of the run exceeds 2^30 times.
static double length_quantum(const pose_coder *it, double size, int body)
{
    const int parent = tal_body_parent(it->matter, (tal_body_ix){body}).i;
    double farthest = 0.0;
    for (int f = 0; f < it->frames; ++f) {
        const tal_xform *const frame = it->X_GB + (size_t)f * (size_t)it->bodies;
        farthest = fmax(farthest, tal_v3_norm(tal_v3_sub(frame[body].p, frame[parent].p)));
    }
    return tali_scene_quantum(fmax(length_precision * size, ldexp(farthest, -29)));
}

// A body in its parent, as it will be decoded, so that errors do not add up along a chain:
// X_PB = X_GP^-1 X_GB. Of the two quaternions the one that is nearer to the frame before.
static void code_pose(pose_coder *it, int body, int frame)
{
    const int first = POSE_CHANNELS * (body - 1);
    const tal_xform X_GP = it->decoded[tal_body_parent(it->matter, (tal_body_ix){body}).i];
    const tal_xform X_GB = it->X_GB[(size_t)frame * (size_t)it->bodies + (size_t)body];
    const tal_xform X_PB = tal_xf_mul(tal_xf_inverse(X_GP), X_GB);
    tal_quat h = tal_rotation_to_qt(&X_PB.R);
    if (tal_qt_dot(h, it->before[body]) < 0.0) h = tal_qt(-h.w, -h.x, -h.y, -h.z);
    it->before[body] = h;
    const double exact[POSE_CHANNELS] = {X_PB.p.x, X_PB.p.y, X_PB.p.z, h.w, h.x, h.y, h.z};
    double coded[POSE_CHANNELS];
    for (int k = 0; k < POSE_CHANNELS; ++k) {
        const double quantum = it->quantum[first + k];
        const int32_t n = steps_of(exact[k], quantum);
        it->n[(size_t)(first + k) * (size_t)it->frames + (size_t)frame] = n;
        coded[k] = quantum * n;
    }
    const tal_xform near =
        tal_xf(tal_rotation_from_qt(tal_qt(coded[3], coded[4], coded[5], coded[6])),
               tal_v3(coded[0], coded[1], coded[2]));
    it->decoded[body] = tal_xf_mul(X_GP, near);
}

static void code_poses(pose_coder *it, double size)
{
    for (int b = 1; b < it->bodies; ++b) {
        double *const quantum = it->quantum + (size_t)POSE_CHANNELS * (size_t)(b - 1);
        quantum[0] = quantum[1] = quantum[2] = length_quantum(it, size, b);
        quantum[3] = quantum[4] = quantum[5] = quantum[6] = quaternion_quantum;
    }
    it->decoded[0] = TAL_XFORM_IDENTITY;
    for (int f = 0; f < it->frames; ++f) {
        for (int b = 1; b < it->bodies; ++b) {
            code_pose(it, b, f);
        }
    }
}

static bool put_poses(recording *it)
{
    tal_scene *const scene = it->scene;
    pose_coder coder = {.matter = scene->model.matter,
                        .bodies = it->bodies,
                        .frames = it->frames,
                        .X_GB = it->X_GB};
    const size_t bodies = (size_t)it->bodies, channels = POSE_CHANNELS * (bodies - 1);
    const tali_piece pieces[] = {{&coder.decoded, bodies * sizeof *coder.decoded},
                                 {&coder.before, bodies * sizeof *coder.before},
                                 {&coder.quantum, (channels + 1) * sizeof *coder.quantum},
                                 {&coder.n, (channels * (size_t)it->frames + 1) * sizeof *coder.n}};
    size_t bytes = 0;
    void *const block = tali_alloc_pieces(&scene->options.allocator, pieces, 4, &bytes);
    if (block == NULL) return false;
    code_poses(&coder, scene->size);
    tali_scene_put_key(&it->json, "poses");
    const bool good = tali_scene_add_integers(scene, &it->json, coder.n, NULL, coder.quantum,
                                              (int)channels, it->frames, &it->run.poses);
    tali_free(&scene->options.allocator, block, bytes);
    return good;
}

// ---- columns

// Whether a list of names, separated by commas, has a name. NULL has all.
static bool is_listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at != NULL;) {
        const char *const comma = strchr(at, ',');
        const size_t word = comma != NULL ? (size_t)(comma - at) : strlen(at);
        if (word == length && memcmp(at, name, length) == 0) return true;
        at = comma != NULL ? comma + 1 : NULL;
    }
    return list == NULL;
}

// Units stand in the header "talus_units", with commas between them.
static void put_unit(tali_scene_bytes *json, const tal_table *table, int column)
{
    const char *at = tal_table_header(table, "talus_units");
    char unit[32] = "";
    for (int c = 0; c < column && at != NULL; ++c) {
        at = strchr(at, ',');
        if (at != NULL) ++at;
    }
    const size_t length = at != NULL ? strcspn(at, ",") : 0;
    if (length > 0 && length < sizeof unit) memcpy(unit, at, length);
    tali_scene_put_key(json, "unit");
    tali_scene_put_string(json, unit);
}

// Names and units of the columns for charts, and their track.
static bool put_columns(recording *it)
{
    const tal_table *const table = it->rows.table;
    const tal_allocator *const allocator = &it->scene->options.allocator;
    const size_t frames = (size_t)it->frames;
    const size_t bytes = (frames * (size_t)tal_table_num_columns(table) + 1) * sizeof(double);
    double *const values = tali_alloc(allocator, bytes);
    int n = 0;
    if (values == NULL) return false;
    tali_scene_put_key(&it->json, "columns");
    tali_scene_put_text(&it->json, "[");
    for (int c = 1; c < tal_table_num_columns(table); ++c) {
        const char *const name = tal_table_column_name(table, c);
        if (!is_listed(it->scene->options.columns, name)) continue;
        tali_scene_put_comma(&it->json);
        tali_scene_put_text(&it->json, "{");
        tali_scene_put_key(&it->json, "name");
        tali_scene_put_string(&it->json, name);
        put_unit(&it->json, table, c);
        tali_scene_put_text(&it->json, "}");
        for (int f = 0; f < it->frames; ++f) {
            values[(size_t)n * frames + (size_t)f] = tal_table_row(table, row_of(it, f))[c];
        }
        ++n;
    }
    tali_scene_put_text(&it->json, "]");
    tali_scene_track track;
    tali_scene_put_key(&it->json, "values");
    const bool good =
        tali_scene_add_values(it->scene, &it->json, values, n, it->frames, value_precision, &track);
    tali_free(allocator, values, bytes);
    return good;
}

// ---- all of it

// What the run does not have, as a sentence; NULL when it has all.
static const char *note_of(const recording *it)
{
    const tal_scene *const scene = it->scene;
    if (scene->in_ranges) {
        return "There is no result: each joint with a range moves through it. Forces and contacts "
               "are not shown.";
    }
    if (!it->rows.has_speeds) {
        return "The table has no speeds: forces and contacts cannot be computed.";
    }
    if (!it->rows.has_z) {
        return "The table does not have all variables z of the model: activations are not known, "
               "and forces that depend on z are those of the start.";
    }
    if (has_loads(it) && !it->loads.all) {
        return "The model has too many force elements to show each.";
    }
    if (tal_matter_num_unilaterals(scene->model.matter) > 0) {
        return "The table does not say which contacts push: rigid contacts are shown where they "
               "are closed, without their forces.";
    }
    return NULL;
}

// Everything about the run but the closing brace.
static bool put_run(recording *it, const char *name)
{
    tal_scene *const scene = it->scene;
    tali_scene_put_text(&it->json, "{");
    tali_scene_put_key(&it->json, "name");
    tali_scene_put_string(&it->json, name);
    tali_scene_put_key(&it->json, "frames");
    tali_scene_put_integer(&it->json, it->frames);
    tali_scene_put_key(&it->json, "time");
    bool good = tali_scene_add_values(scene, &it->json, it->time, 1, it->frames, time_precision,
                                      &it->run.time);
    good = good && put_poses(it) && put_columns(it);
    if (good) tali_scene_paths_describe(scene, &it->paths, &it->json, &it->run.paths);
    if (good && has_loads(it)) tali_scene_loads_describe(scene, &it->loads, &it->json);
    const char *const note = note_of(it);
    if (good && note != NULL) {
        tali_scene_put_key(&it->json, "note");
        tali_scene_put_string(&it->json, note);
    }
    return good && !scene->failed;
}

static tal_status keep_run(recording *it, const char *name)
{
    tal_scene *const scene = it->scene;
    it->run.frames = it->frames;
    it->run.name = tali_arena_copy(&scene->arena, name, strlen(name));
    if (it->run.name == NULL ||
        !tali_grow(&scene->options.allocator, (void **)&scene->runs, scene->num_runs,
                   &scene->runs_capacity, sizeof *scene->runs)) {
        return TAL_ERR_NO_MEMORY;
    }
    // the brace is closed when it is written: markers may follow
    if (scene->num_runs > 0) tali_scene_put_text(&scene->runs_json, "},\n");
    tali_scene_put(&scene->runs_json, it->json.at, it->json.size);
    scene->runs[scene->num_runs++] = it->run;
    scene->num_frames += it->frames;
    return scene->runs_json.failed || it->json.failed ? TAL_ERR_NO_MEMORY : TAL_OK;
}

static tal_status record(recording *it, const char *name, tal_error *err)
{
    for (int f = 0; f < it->frames; ++f) {
        const tal_status st = record_frame(it, f, err);
        if (st != TAL_OK) return st;
    }
    const tal_status st = put_run(it, name) ? keep_run(it, name) : TAL_ERR_NO_MEMORY;
    return st == TAL_OK ? st : TALI_FAIL(err, st, "memory ran out");
}

static tal_status check_table(const tal_table *table, tal_error *err)
{
    if (tal_table_num_columns(table) < 1 || strcmp(tal_table_column_name(table, 0), "time") != 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "the first column must be 'time'");
    }
    if (tal_table_num_rows(table) > 0) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "the table has no rows");
}

tal_status tal_scene_add_run(tal_scene *scene, const char *name, const tal_table *table,
                             tal_error *err)
{
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    if (scene == NULL || name == NULL || table == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
        return TALI_FAIL(err, TAL_ERR_NULL, "an argument is NULL");
    }
    tal_status st = check_table(table, err);
    if (st != TAL_OK) return st;
    const tal_allocator *const allocator = &scene->options.allocator;
    recording it = {.scene = scene,
                    .bodies = tal_matter_num_bodies(scene->model.matter),
                    .num_rows = tal_table_num_rows(table),
                    .json = {.allocator = *allocator}};
    st = tali_scene_rows_begin(scene, table, &it.rows, err);
    if (st != TAL_OK) return st;
    it.frames = choose_frames(scene, it.num_rows, it.bodies);
    const tali_piece pieces[] = {
        {&it.time, (size_t)it.frames * sizeof *it.time},
        {&it.X_GB, (size_t)it.frames * (size_t)it.bodies * sizeof *it.X_GB}};
    size_t bytes = 0;
    void *const block = tali_alloc_pieces(allocator, pieces, 2, &bytes);
    if (block == NULL || !tali_scene_loads_begin(scene, &it.loads, it.frames) ||
        !tali_scene_paths_begin(scene, &it.paths, it.frames)) {
        st = TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for %d frames", it.frames);
    } else {
        st = record(&it, name, err);
    }
    tali_scene_loads_end(scene, &it.loads);
    tali_scene_paths_end(scene, &it.paths);
    tali_scene_bytes_free(&it.json);
    tali_free(allocator, block, bytes);
    return st;
}
