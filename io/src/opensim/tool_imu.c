// Orientation sensors: inverse kinematics from what they saw (IMUInverseKinematicsTool), and where
// they sit on their bodies (IMUPlacer).
#include "error_internal.h"

#include "opensim/document_internal.h"
#include "opensim/osim_write_internal.h"
#include "opensim/tool_internal.h"

#include <talus/study/tracker.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

// Columns of a table of quaternions, and what they are about. Arrays are in the arena.
typedef struct sensors {
    tali_osim_tool *tool;
    tal_table *table;
    int num;
    const char **names; // [num] of columns, without ".w"
    int *columns;       // [num] of the table: that of w
    tal_mat3 R_GN;      // from the frame of the sensors to Ground
} sensors;

// --- what sensors saw ---

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

// Columns that are quaternions, by their first component.
static void list_columns(sensors *it)
{
    tali_osim *setup = &it->tool->setup;
    const int n = tal_table_num_columns(it->table);
    it->names = tali_osim_take(setup, n, sizeof *it->names);
    it->columns = tali_osim_take(setup, n, sizeof *it->columns);
    for (int c = 0; c + 3 < n && !setup->no_memory; ++c) {
        const char *label = tal_table_column_name(it->table, c);
        if (!ends_with(label, ".w")) continue;
        const char *name = tali_arena_copy(&setup->arena, label, strlen(label) - 2);
        setup->no_memory = setup->no_memory || name == NULL;
        it->names[it->num] = name;
        it->columns[it->num++] = c;
    }
}

static void read_sensors(sensors *it, const char *property)
{
    tali_osim_tool *tool = it->tool;
    it->table = tali_osim_tool_read_table(tool, property);
    if (it->table == NULL || !tali_osim_tool_is_good(tool)) return;
    list_columns(it);
    if (it->num == 0) {
        tali_osim_tool_error(tool, property,
                             "it has no columns of quaternions: its header must "
                             "say DataType=Quaternion");
    }
    // about the axes of space, one after the other
    const tal_vec3 a =
        tali_osim_vec3(&tool->setup, tool->root, "sensor_to_opensim_rotations", TAL_VEC3_ZERO);
    const tal_axis axes[] = {TAL_AXIS_X, TAL_AXIS_Y, TAL_AXIS_Z};
    const double angles[] = {a.x, a.y, a.z};
    it->R_GN = tal_rotation_from_angles(TAL_SPACE_FIXED, 3, axes, angles);
}

// R_GS of a sensor in a row; NaN where it saw nothing.
static tal_mat3 orientation_at(const sensors *it, int row, int k)
{
    const int c = it->columns[k];
    const tal_quat e = {tal_table_value(it->table, row, c), tal_table_value(it->table, row, c + 1),
                        tal_table_value(it->table, row, c + 2),
                        tal_table_value(it->table, row, c + 3)};
    return tal_m3_mul(it->R_GN, tal_rotation_from_qt(tal_qt_normalize(e)));
}

static int time_column(const sensors *it)
{
    const int c = tal_table_find_column(it->table, "time");
    if (c < 0) tali_osim_tool_error(it->tool, NULL, "the orientations have no column 'time'");
    return c;
}

// --- inverse kinematics ---

typedef struct fitting {
    sensors seen;
    tal_orientation_sensor *goals; // [num] that the model has a frame for
    int *of;                       // [num] number among the sensors
    int num, num_frames;
    double *times;  // [num_frames]
    tal_mat3 *R_GS; // [num_frames][num]
    double *q;      // [num_frames][nq]
    tal_fit *fits;  // [num_frames]
    tal_tracker *tracker;
} fitting;

static double weight_of(tali_osim_tool *tool, const char *name)
{
    const tali_xml_element *set = tali_osim_object(tool->root, "orientation_weights");
    if (set == NULL) set = tali_xml_child(tool->root, "OrientationWeightSet");
    for (const tali_xml_element *e = set != NULL ? tali_osim_first(set) : NULL; e != NULL;
         e = e->next) {
        if (strcmp(tali_osim_name(e), name) != 0) continue;
        const double weight = tali_osim_number(&tool->setup, e, "weight", 1.0);
        if (weight >= 0.0 && isfinite(weight)) return weight;
        tali_osim_error(&tool->setup, e, ": its weight %g must be finite and not negative", weight);
    }
    return 1.0;
}

// The model's frame of that name; -1: none.
static int find_frame(const tali_osim *o, const char *name)
{
    for (int i = 0; i < o->num_frames; ++i) {
        const bool is_it = strcmp(tali_osim_last_name(o->frames[i].path), name) == 0;
        if (is_it && o->frames[i].body >= 0) return i;
    }
    return -1;
}

static void add_goals(fitting *it)
{
    tali_osim_tool *tool = it->seen.tool;
    it->goals = tali_osim_take(&tool->setup, it->seen.num, sizeof *it->goals);
    it->of = tali_osim_take(&tool->setup, it->seen.num, sizeof *it->of);
    for (int k = 0; k < it->seen.num && !tool->setup.no_memory; ++k) {
        const char *name = it->seen.names[k];
        const int f = find_frame(&tool->o, name);
        if (f < 0) {
            tali_osim_tool_warn(tool, "orientations_file",
                                "the model has no frame '%.60s': the sensor is ignored", name);
            continue;
        }
        const tali_osim_frame *frame = &tool->o.frames[f];
        it->of[it->num] = k;
        it->goals[it->num++] = (tal_orientation_sensor){.name = name,
                                                        .body = tool->o.bodies[frame->body].body,
                                                        .R_BS = frame->X_BF.R,
                                                        .weight = weight_of(tool, name)};
    }
    if (it->num == 0 && tali_osim_tool_is_good(tool)) {
        tali_osim_tool_error(tool, "orientations_file",
                             "the model has none of its sensors; place them with IMUPlacer");
    }
}

// Rows within the time range.
static void read_frames(fitting *it)
{
    tali_osim_tool *tool = it->seen.tool;
    const int n = tal_table_num_rows(it->seen.table), time = time_column(&it->seen);
    double range[2];
    tali_osim_tool_time_range(tool, range);
    it->times = tali_osim_take(&tool->setup, n, sizeof *it->times);
    it->fits = tali_osim_take(&tool->setup, n, sizeof *it->fits);
    it->q = tali_osim_take(&tool->setup, n * tal_state_nq(tool->model.state), sizeof *it->q);
    it->R_GS = tali_osim_take(&tool->setup, n * it->num, sizeof *it->R_GS);
    if (!tali_osim_tool_is_good(tool)) return;
    for (int r = 0; r < n; ++r) {
        const double t = tal_table_value(it->seen.table, r, time);
        if (t < range[0] - 1e-9 || t > range[1] + 1e-9) continue;
        for (int k = 0; k < it->num; ++k) {
            it->R_GS[it->num_frames * it->num + k] = orientation_at(&it->seen, r, it->of[k]);
        }
        it->times[it->num_frames++] = t;
    }
    if (it->num_frames == 0) {
        tali_osim_tool_error(tool, "orientations_file", "it has no row within the time range");
    }
}

static bool tell(void *context, int done, int total)
{
    return tali_osim_tool_tell(context, done, total);
}

// Fit all frames. False when nothing was found.
static bool follow(fitting *it)
{
    tali_osim_tool *tool = it->seen.tool;
    tal_tracker_def def = tal_tracker_def_default();
    def.assembler.sensors = it->goals;
    def.assembler.num_sensors = it->num;
    def.assembler.accuracy = 1e-8;
    def.lanes = tool->options.lanes;
    def.executor = tool->options.executor;
    def.progress = tell;
    def.context = tool;
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_tracker_create(tool->model.system, &def, &it->tracker, &err);
    if (st == TAL_OK) {
        const tal_frames frames = {
            .num_frames = it->num_frames, .times = it->times, .rotations = it->R_GS};
        st = tal_tracker_run(it->tracker, tool->model.state, &frames, it->q, it->fits);
        err = *tal_tracker_error(it->tracker);
    }
    if (st == TAL_ERR_CALLBACK) return true; // what was reached is kept
    tali_osim_tool_fail(tool, st, &err);
    return st == TAL_OK;
}

// Angles between what sensors saw and where the model has them [rad].
static void write_errors(fitting *it, const char *trial)
{
    tali_osim_tool *tool = it->seen.tool;
    const tal_model *model = &tool->model;
    if (!tali_osim_bool(&tool->setup, tool->root, "report_errors", true)) return;
    char file[300];
    (void)snprintf(file, sizeof file, "%.200s_orientationErrors.sto", trial);
    tal_table *table = tali_osim_tool_add_result(tool, file, "OrientationErrors");
    for (int k = 0; k < it->num && table != NULL; ++k) {
        tali_osim_tool_add_column(tool, table, it->goals[k].name, "");
    }
    double *row = tali_osim_take(&tool->setup, it->num + 1, sizeof *row);
    if (table == NULL || !tali_osim_tool_is_good(tool)) return;
    const int nq = tal_state_nq(model->state);
    for (int f = 0; f < it->num_frames; ++f) {
        if (it->fits[f].status == TAL_RETRY) continue; // never reached
        (void)tal_state_set_q(model->state, it->q + (size_t)f * (size_t)nq, nq);
        const tal_status st = tal_system_realize(model->system, model->state, TAL_STAGE_POSITION);
        row[0] = it->times[f];
        for (int k = 0; k < it->num; ++k) {
            const tal_xform X_GB = tal_body_X_GB(model->matter, model->state, it->goals[k].body);
            const tal_mat3 R_GS = tal_m3_mul(X_GB.R, it->goals[k].R_BS);
            const tal_mat3 R = tal_m3_tmul(R_GS, it->R_GS[f * it->num + k]);
            row[k + 1] = st == TAL_OK ? tal_rotation_to_angle_axis(&R).angle : (double)NAN;
        }
        if (tal_table_add_row(table, row) != TAL_OK) tool->setup.no_memory = true;
    }
}

// The name of a file without folder and ending.
static void trial_name(tali_osim_tool *tool, const char *property, char name[200])
{
    const char *file = tali_osim_text(tool->root, property);
    (void)snprintf(name, 200, "%.199s", tali_osim_last_name(file != NULL ? file : ""));
    char *dot = strrchr(name, '.');
    if (dot != NULL) *dot = '\0';
}

void tali_osim_tool_imu(tali_osim_tool *tool)
{
    fitting it = {.seen = {.tool = tool}};
    read_sensors(&it.seen, "orientations_file");
    if (tali_osim_tool_is_good(tool)) add_goals(&it);
    if (tali_osim_tool_is_good(tool)) read_frames(&it);
    if (tali_osim_tool_is_good(tool) && follow(&it)) {
        char trial[200], file[300];
        trial_name(tool, "orientations_file", trial);
        (void)snprintf(file, sizeof file, "ik_%.200s.mot", trial);
        const char *named = tali_osim_text(tool->root, "output_motion_file");
        tali_osim_tool_write_motion(tool, named != NULL ? named : file, it.times, it.q, it.fits,
                                    it.num_frames);
        tali_osim_tool_warn_of_frames(tool, it.times, it.fits, it.num_frames);
        write_errors(&it, trial);
    }
    tal_tracker_destroy(it.tracker);
    tal_table_destroy(it.seen.table);
}

// --- placing ---

// The direction of a vector in the horizontal plane, about y.
static double heading_of(tal_vec3 v)
{
    return atan2(-v.z, v.x);
}

// The axis of the base sensor that shows where its body looks: "z", "-x".
static bool read_axis(tali_osim_tool *tool, tal_vec3 *axis)
{
    const char *text = tali_osim_text(tool->root, "base_heading_axis");
    const char *letter = text == NULL ? "z" : text[0] == '-' ? text + 1 : text;
    const double sign = text != NULL && text[0] == '-' ? -1.0 : 1.0;
    const bool good = (letter[0] | 32) >= 'x' && (letter[0] | 32) <= 'z' && letter[1] == '\0';
    if (!good) {
        tali_osim_tool_error(tool, "base_heading_axis", "'%.20s' is not an axis as 'z' or '-x'",
                             text);
        return false;
    }
    const int k = (letter[0] | 32) - 'x';
    *axis = tal_v3(k == 0 ? sign : 0.0, k == 1 ? sign : 0.0, k == 2 ? sign : 0.0);
    return true;
}

// The body of a sensor "<body>_imu"; -1: it is about none.
static int body_of(const tali_osim *o, const char *sensor)
{
    char name[200];
    if (!ends_with(sensor, "_imu")) return -1;
    (void)snprintf(name, sizeof name, "%.*s", (int)(strlen(sensor) - 4), sensor);
    return tali_name_map_find(&o->body_names, name);
}

// Turn all sensors about y, so that the base one looks where its body does.
static bool turn_to_heading(sensors *it)
{
    tali_osim_tool *tool = it->tool;
    const tal_model *model = &tool->model;
    const char *base = tali_osim_text(tool->root, "base_imu_label");
    tal_vec3 axis;
    if (base == NULL) return true;
    if (!read_axis(tool, &axis)) return false;
    const int body = body_of(&tool->o, base);
    for (int k = 0; k < it->num && body >= 0; ++k) {
        if (strcmp(it->names[k], base) != 0) continue;
        const tal_mat3 R_GS = orientation_at(it, 0, k);
        const tal_xform X_GB =
            tal_body_X_GB(model->matter, model->state, tool->o.bodies[body].body);
        const tal_vec3 seen = tal_m3_mul_v3(R_GS, axis);
        const double angle = heading_of(X_GB.R.x) - heading_of(seen);
        it->R_GN = tal_m3_mul(tali_osim_xform(tal_v3(0.0, angle, 0.0), TAL_VEC3_ZERO).R, it->R_GN);
        return true;
    }
    tali_osim_tool_error(tool, "base_imu_label",
                         "there is no sensor '%.60s' on a body of the model", base);
    return false;
}

// A frame that a body's element already has.
static const tali_xml_element *child_of_name(const tali_xml_element *set, const char *name)
{
    const tali_xml_element *e = set != NULL ? set->first : NULL;
    while (e != NULL && strcmp(tali_osim_name(e), name) != 0) {
        e = e->next;
    }
    return e;
}

static tali_xml_element *add_frame(tali_osim *o, const tali_xml_element *body, const char *name)
{
    const tali_xml_element *set = tali_xml_child(body, "components");
    if (set == NULL) set = tali_osim_add_element(&o->arena, body, "components");
    tali_xml_element *frame =
        set != NULL ? tali_osim_add_element(&o->arena, set, "PhysicalOffsetFrame") : NULL;
    tali_xml_attribute *attribute = tali_osim_take(o, 1, sizeof *attribute);
    if (frame == NULL || attribute == NULL) return NULL;
    *attribute = (tali_xml_attribute){.name = "name", .value = name};
    frame->attributes = attribute;
    frame->num_attributes = 1;
    const tali_xml_element *parent = tali_osim_add_element(&o->arena, frame, "socket_parent");
    return parent != NULL && tali_osim_set_text(&o->arena, parent, "..") ? frame : NULL;
}

// R_BS as seen in the first row, with the body where it begins.
static void place(sensors *it, int k)
{
    tali_osim *o = &it->tool->o;
    const tal_model *model = &it->tool->model;
    const int b = body_of(o, it->names[k]);
    if (b < 0 || o->bodies[b].element == NULL) {
        tali_osim_tool_warn(it->tool, "orientation_file_for_calibration",
                            "the model has no body for the sensor '%.60s', as its name says: "
                            "<body>_imu; it is ignored",
                            it->names[k]);
        return;
    }
    const tal_mat3 R_GB = tal_body_X_GB(model->matter, model->state, o->bodies[b].body).R;
    const tal_mat3 R_GS = orientation_at(it, 0, k);
    const tal_vec3 angles = tali_osim_angles_of(tal_m3_tmul(R_GB, R_GS));
    if (!isfinite(angles.x + angles.y + angles.z)) {
        tali_osim_tool_error(it->tool, "orientation_file_for_calibration",
                             "the sensor '%.60s' saw nothing in the first row", it->names[k]);
        return;
    }
    const tali_xml_element *body = o->bodies[b].element;
    const tali_xml_element *frame = child_of_name(tali_xml_child(body, "components"), it->names[k]);
    if (frame == NULL) frame = add_frame(o, body, it->names[k]);
    const tal_vec3 p = o->bodies[b].mass.com;
    const double where[] = {p.x, p.y, p.z}, turn[] = {angles.x, angles.y, angles.z};
    const bool good = frame != NULL &&
                      tali_osim_set_property(&o->arena, frame, "translation", where, 3) &&
                      tali_osim_set_property(&o->arena, frame, "orientation", turn, 3);
    it->tool->setup.no_memory = it->tool->setup.no_memory || !good;
}

void tali_osim_tool_place_imu(tali_osim_tool *tool)
{
    sensors it = {.tool = tool};
    const char *file = tali_osim_text(tool->root, "output_model_file");
    if (tool->o.version < 40000) {
        tali_osim_tool_error(tool, "model_file",
                             "files before version 4 have no frames for "
                             "sensors; convert it: talus convert old.osim "
                             "new.osim");
    }
    read_sensors(&it, "orientation_file_for_calibration");
    const tal_status st =
        tal_system_realize(tool->model.system, tool->model.state, TAL_STAGE_POSITION);
    tali_osim_tool_fail(tool, st, tal_state_error(tool->model.state));
    if (tali_osim_tool_is_good(tool) && turn_to_heading(&it)) {
        for (int k = 0; k < it.num; ++k) {
            place(&it, k);
        }
    }
    tal_table_destroy(it.table);
    if (!tali_osim_tool_is_good(tool)) return;
    tali_scene_bytes text = {.allocator = tool->options.allocator};
    tali_osim_write_document(tool->o.xml->root, &text);
    tali_osim_tool_add_text(tool, file != NULL ? file : "calibrated_model.osim", &text);
}
