// Inverse kinematics: the coordinates whose markers come nearest to those that were seen.
#include "error_internal.h"

#include "opensim/tool_internal.h"

#include <talus/io/bridge.h>
#include <talus/study/tracker.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

// Tasks and frames. Arrays are in the arena.
typedef struct kinematics {
    tali_osim_tool *tool;
    tal_marker *markers; // [num_markers] that the tasks, the model and the table have
    int num_markers;
    const char **names;         // [num_markers]
    tal_coordinate_goal *goals; // [num_goals]
    int *goal_coordinate;       // [num_goals]
    bool *goal_from_file;       // [num_goals]
    int num_goals;
    tal_soft_constraint *soft; // [num_soft]
    int num_soft;
    tal_table *seen;          // the marker file
    tal_marker_frames frames; // all of it
    int begin, num_frames;    // those within the time range
    const tal_vec3 *mean;     // [num_markers] instead of frames; NULL: frames count
    double *wanted; // [num_frames][num_goals] values of the goals; NULL: they are constant
    double *q;      // [num_frames][nq]
    tal_fit *fits;  // [num_frames]
    int nq;
} kinematics;

// --- tasks ---

static const tali_xml_element *first_task(const tali_osim_tool *tool)
{
    const tali_xml_element *set = tali_xml_child(tool->root, "IKTaskSet");
    return set != NULL ? tali_osim_first(set) : NULL;
}

static bool has_column(const kinematics *it, const char *marker)
{
    char label[TAL_MAX_NAME + 3];
    const size_t n = strlen(marker);
    if (n > TAL_MAX_NAME) return false;
    memcpy(label, marker, n);
    memcpy(label + n, ".x", 3);
    return tal_table_find_column(it->seen, label) >= 0;
}

static double weight_of(tali_osim_tool *tool, const tali_xml_element *e)
{
    const double weight = tali_osim_number(&tool->setup, e, "weight", 1.0);
    if (weight >= 0.0 && isfinite(weight)) return weight;
    tali_osim_error(&tool->setup, e, ": its weight %g must be finite and not negative", weight);
    return 0.0;
}

static void add_marker(kinematics *it, const char *name, int number, double weight)
{
    it->names[it->num_markers] = name;
    it->markers[it->num_markers] = it->tool->model.markers[number];
    it->markers[it->num_markers].weight = weight;
    it->num_markers += 1;
}

// Without a task for any marker, all that the file has are followed alike.
static void add_all_markers(kinematics *it)
{
    const tali_osim_tool *tool = it->tool;
    for (int i = 0; i < tool->o.num_markers; ++i) {
        const char *name = tool->o.markers[i].name;
        if (has_column(it, name)) add_marker(it, name, i, 1.0);
    }
}

static void add_marker_task(kinematics *it, const tali_xml_element *e)
{
    tali_osim_tool *tool = it->tool;
    const char *name = tali_osim_name(e);
    const int number = tali_name_map_find(&tool->o.marker_names, name);
    const double weight = weight_of(tool, e);
    if (number < 0 || !has_column(it, name)) {
        tali_osim_warn(&tool->setup, e, ": the %s has no such marker; it is ignored",
                       number < 0 ? "model" : "marker file");
        return;
    }
    add_marker(it, name, number, weight);
}

// A coordinate that is to be near its default, a given value, or values of a file.
static void add_coordinate_task(kinematics *it, const tali_xml_element *e)
{
    tali_osim_tool *tool = it->tool;
    const int c = tali_name_map_find(&tool->o.coordinate_names, tali_osim_name(e));
    if (c < 0) {
        tali_osim_warn(&tool->setup, e, ": the model has no such coordinate; it is ignored");
        return;
    }
    const tali_osim_coordinate *q = &tool->o.coordinates[c];
    const char *type = tali_osim_text(e, "value_type");
    const bool manual = type != NULL && strcmp(type, "manual_value") == 0;
    const bool from_file = type != NULL && strcmp(type, "from_file") == 0;
    if (type != NULL && !manual && !from_file && strcmp(type, "default_value") != 0) {
        tali_osim_error(&tool->setup, e,
                        ": value_type '%.40s' is not default_value, manual_value or from_file",
                        type);
    }
    const double value = manual ? tali_osim_number(&tool->setup, e, "value", 0.0) : q->value;
    const int k = it->num_goals++;
    it->goal_coordinate[k] = c;
    it->goal_from_file[k] = from_file;
    it->goals[k] =
        (tal_coordinate_goal){q->mobility.body, q->mobility.i, value, weight_of(tool, e)};
}

static bool take_task_memory(kinematics *it)
{
    tali_arena *arena = &it->tool->setup.arena;
    size_t n = 1 + (size_t)it->tool->o.num_markers;
    for (const tali_xml_element *e = first_task(it->tool); e != NULL; e = e->next) {
        ++n;
    }
    const size_t constraints = (size_t)tal_matter_num_constraints(it->tool->model.matter);
    it->markers = tali_arena_take(arena, n * sizeof *it->markers);
    it->names = tali_arena_take(arena, n * sizeof *it->names);
    it->goals = tali_arena_take(arena, n * sizeof *it->goals);
    it->goal_coordinate = tali_arena_take(arena, n * sizeof *it->goal_coordinate);
    it->goal_from_file = tali_arena_take(arena, n * sizeof *it->goal_from_file);
    it->soft = tali_arena_take(arena, constraints * sizeof *it->soft);
    return it->markers != NULL && it->names != NULL && it->goals != NULL &&
           it->goal_coordinate != NULL && it->goal_from_file != NULL && it->soft != NULL;
}

// Tasks as the set-up has them; those that cannot be followed are left out with a warning.
static void read_tasks(kinematics *it)
{
    tali_osim_tool *tool = it->tool;
    if (!take_task_memory(it)) {
        tool->setup.no_memory = true;
        return;
    }
    bool any_marker = false;
    for (const tali_xml_element *e = first_task(tool); e != NULL; e = e->next) {
        any_marker = any_marker || strcmp(e->name, "IKMarkerTask") == 0;
        if (!tali_osim_bool(&tool->setup, e, "apply", true)) continue;
        if (strcmp(e->name, "IKMarkerTask") == 0) {
            add_marker_task(it, e);
        } else if (strcmp(e->name, "IKCoordinateTask") == 0) {
            add_coordinate_task(it, e);
        } else {
            tali_osim_error(&tool->setup, e, ": tasks of this kind are not read");
        }
    }
    if (!any_marker) add_all_markers(it);
    if (it->num_markers + it->num_goals == 0) {
        tali_osim_tool_error(tool, "IKTaskSet", "no task is left that can be followed");
    }
}

// A finite <constraint_weight> makes goals of all constraints.
static void read_constraint_weight(kinematics *it)
{
    tali_osim_tool *tool = it->tool;
    const double weight = tali_osim_number(&tool->setup, tool->root, "constraint_weight", INFINITY);
    if (!isfinite(weight)) return;
    const tal_matter *matter = tool->model.matter;
    for (int i = 0; i < tal_matter_num_constraints(matter); ++i) {
        const tal_constraint_ix constraint = {i};
        it->soft[it->num_soft++] = (tal_soft_constraint){constraint, weight};
    }
}

// --- frames ---

static int nearest_frame(const kinematics *it, double t)
{
    const double *times = it->frames.frames.times;
    int best = 0;
    for (int f = 1; f < it->frames.frames.num_frames; ++f) {
        if (fabs(times[f] - t) < fabs(times[best] - t)) best = f;
    }
    return best;
}

static void choose_frames(kinematics *it)
{
    double range[2];
    tali_osim_tool_time_range(it->tool, range);
    const int last = it->frames.frames.num_frames - 1;
    const int begin = isfinite(range[0]) ? nearest_frame(it, range[0]) : 0;
    const int end = isfinite(range[1]) ? nearest_frame(it, range[1]) : last;
    it->begin = begin;
    it->num_frames = end - begin + 1;
}

// Values of the goals that a file gives, at the times of the frames: quintic splines.
static void read_wanted(kinematics *it)
{
    tali_osim_tool *tool = it->tool;
    bool any = false;
    for (int k = 0; k < it->num_goals; ++k) {
        any = any || it->goal_from_file[k];
    }
    if (!any) return;
    tali_osim_coordinate_rows rows;
    tal_table *table = tali_osim_tool_read_table(tool, "coordinate_file");
    const bool good = table != NULL && tali_osim_tool_is_good(tool) &&
                      tali_osim_tool_read_coordinates(tool, table, "coordinate_file", &rows);
    tal_table_destroy(table);
    if (!good) return;
    const size_t n = (size_t)it->num_frames * (size_t)it->num_goals;
    it->wanted = tali_arena_take(&tool->setup.arena, n * sizeof *it->wanted);
    tool->setup.no_memory = tool->setup.no_memory || it->wanted == NULL;
    for (int k = 0; k < it->num_goals && it->wanted != NULL; ++k) {
        tal_function *curve = NULL;
        tal_error err = {TAL_OK, "", ""};
        const double *y = rows.values + (size_t)it->goal_coordinate[k] * (size_t)rows.num_rows;
        tal_status st = TAL_OK;
        if (it->goal_from_file[k]) {
            st = tal_function_create_quintic_spline(&tool->options.allocator, rows.times, y,
                                                    rows.num_rows, &curve, &err);
            tali_osim_tool_fail(tool, st, &err);
        }
        for (int f = 0; f < it->num_frames && st == TAL_OK; ++f) {
            const double t = it->frames.frames.times[it->begin + f];
            it->wanted[(size_t)f * (size_t)it->num_goals + (size_t)k] =
                curve != NULL ? tal_function_calc_value_1(curve, t) : it->goals[k].value;
        }
        tal_function_destroy(curve);
    }
}

// Everything that is needed before the first frame; what is wrong is in the list.
static bool prepare(kinematics *it)
{
    tali_osim_tool *tool = it->tool;
    it->seen = tali_osim_tool_read_table(tool, "marker_file");
    if (it->seen == NULL || !tali_osim_tool_is_good(tool)) return false;
    read_tasks(it);
    read_constraint_weight(it);
    if (!tali_osim_tool_is_good(tool)) return false;
    const tal_status st = tal_marker_frames_create(it->seen, it->names, it->num_markers,
                                                   &tool->options.allocator, &it->frames, NULL);
    if (st != TAL_OK) {
        tool->setup.no_memory = tool->setup.no_memory || st == TAL_ERR_NO_MEMORY;
        tali_osim_tool_error(tool, "marker_file", "its units must be m, cm or mm");
        return false;
    }
    choose_frames(it);
    read_wanted(it);
    it->nq = tal_state_nq(tool->model.state);
    const size_t n = (size_t)it->num_frames;
    it->q = tali_arena_take(&tool->setup.arena, n * (size_t)it->nq * sizeof *it->q);
    it->fits = tali_arena_take(&tool->setup.arena, n * sizeof *it->fits);
    tool->setup.no_memory = tool->setup.no_memory || it->q == NULL || it->fits == NULL;
    return tali_osim_tool_is_good(tool);
}

// --- following ---

static bool tell(void *context, int done, int total)
{
    return tali_osim_tool_tell(context, done, total);
}

// Fit all frames. Marker weights are divided by the sum of those seen, as OpenSim does, so that
// goals of coordinates count as much as there. False when nothing was found.
static bool follow(kinematics *it, tal_tracker **tracker)
{
    tali_osim_tool *tool = it->tool;
    tal_tracker_def def = tal_tracker_def_default();
    def.assembler.markers = it->markers;
    def.assembler.num_markers = it->num_markers;
    def.assembler.mean_markers = true;
    def.assembler.coordinates = it->goals;
    def.assembler.num_coordinates = it->num_goals;
    def.assembler.soft = it->soft;
    def.assembler.num_soft = it->num_soft;
    def.assembler.accuracy = 1e-8;
    def.lanes = tool->options.lanes;
    def.executor = tool->options.executor;
    def.progress = tell;
    def.context = tool;
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_tracker_create(tool->model.system, &def, tracker, &err);
    if (st == TAL_OK) {
        const tal_frames *all = &it->frames.frames;
        const size_t first = (size_t)it->begin * (size_t)it->num_markers;
        const tal_frames frames = {.num_frames = it->num_frames,
                                   .times = all->times + it->begin,
                                   .points = it->mean != NULL      ? it->mean
                                             : all->points != NULL ? all->points + first
                                                                   : NULL,
                                   .coordinates = it->wanted};
        st = tal_tracker_run(*tracker, tool->model.state, &frames, it->q, it->fits);
        err = *tal_tracker_error(*tracker);
    }
    if (st == TAL_ERR_CALLBACK) return true; // what was reached is kept
    tali_osim_tool_fail(tool, st, &err);
    return st == TAL_OK;
}

// --- results ---

void tali_osim_tool_write_coordinates(tali_osim_tool *tool, const char *file, const double times[],
                                      const double q[], const tal_fit fits[], int num_frames)
{
    tal_table *table = tali_osim_tool_add_result(tool, file, "Coordinates");
    const int nc = tool->o.num_coordinates;
    const size_t nq = (size_t)tal_state_nq(tool->model.state);
    double *row = tali_arena_take(&tool->setup.arena, ((size_t)nc + 1) * sizeof *row);
    tool->setup.no_memory = tool->setup.no_memory || row == NULL;
    for (int c = 0; c < nc && table != NULL; ++c) {
        tali_osim_tool_add_column(tool, table, tool->o.coordinates[c].name, "");
    }
    if (table == NULL || !tali_osim_tool_is_good(tool)) return;
    tal_table_set_in_degrees(table, true);
    for (int f = 0; f < num_frames; ++f) {
        if (fits[f].status == TAL_RETRY) continue; // never reached
        row[0] = times[f];
        for (int c = 0; c < nc; ++c) {
            const bool turns = tool->o.coordinates[c].kind == TALI_OSIM_ROTATIONAL;
            const double value = q[(size_t)f * nq + (size_t)tali_osim_tool_q_slot(tool, c)];
            row[c + 1] = turns ? value * 180.0 / pi : value;
        }
        if (tal_table_add_row(table, row) != TAL_OK) tool->setup.no_memory = true;
    }
}

static void write_motion(kinematics *it)
{
    const char *file = tali_osim_text(it->tool->root, "output_motion_file");
    tali_osim_tool_write_coordinates(it->tool, file != NULL ? file : "ik.mot",
                                     it->frames.frames.times + it->begin, it->q, it->fits,
                                     it->num_frames);
}

// The sum of squared distances, their root mean square and the largest of a frame.
static void write_errors(kinematics *it)
{
    tali_osim_tool *tool = it->tool;
    if (!tali_osim_bool(&tool->setup, tool->root, "report_errors", true)) return;
    char file[256];
    (void)snprintf(file, sizeof file, "%.200s_ik_marker_errors.sto", tool->name);
    tal_table *table = tali_osim_tool_add_result(tool, file, "Model Marker Errors from IK");
    static const char *const names[] = {"total_squared_error", "marker_error_RMS",
                                        "marker_error_max"};
    for (int k = 0; k < 3 && table != NULL; ++k) {
        tali_osim_tool_add_column(tool, table, names[k], "");
    }
    if (table == NULL || !tali_osim_tool_is_good(tool)) return;
    const size_t n = (size_t)it->num_markers;
    for (int f = 0; f < it->num_frames; ++f) {
        const tal_fit *fit = &it->fits[f];
        if (fit->status == TAL_RETRY) continue;
        int seen = 0;
        for (size_t k = 0; k < n; ++k) {
            const tal_vec3 p = it->frames.frames.points[((size_t)it->begin + (size_t)f) * n + k];
            seen += !isnan(p.x + p.y + p.z);
        }
        const double rms = fit->marker_rms;
        const double row[] = {it->frames.frames.times[it->begin + f], rms * rms * seen, rms,
                              fit->marker_max};
        if (tal_table_add_row(table, row) != TAL_OK) tool->setup.no_memory = true;
    }
}

void tali_osim_tool_warn_of_frames(tali_osim_tool *tool, const double times[], const tal_fit fits[],
                                   int num_frames)
{
    int bad = 0, first = -1;
    for (int f = 0; f < num_frames; ++f) {
        if (fits[f].status == TAL_OK || fits[f].status == TAL_RETRY) continue;
        if (first < 0) first = f;
        ++bad;
    }
    if (bad == 0) return;
    tali_osim_tool_warn(tool, NULL, "%d of %d frames did not converge, the first at t = %g", bad,
                        num_frames, times[first]);
}

static void warn_of_bad_frames(kinematics *it)
{
    tali_osim_tool_warn_of_frames(it->tool, it->frames.frames.times + it->begin, it->fits,
                                  it->num_frames);
}

// The frames become one: the mean of each marker over the frames in which it is seen.
static void take_mean(kinematics *it)
{
    const size_t n = (size_t)it->num_markers;
    tal_vec3 *points = it->frames.frames.points != NULL
                           ? tali_arena_take(&it->tool->setup.arena, n * sizeof *points)
                           : NULL;
    for (size_t k = 0; k < n && points != NULL; ++k) {
        tal_vec3 sum = TAL_VEC3_ZERO;
        int seen = 0;
        for (int f = 0; f < it->num_frames; ++f) {
            const size_t at = ((size_t)it->begin + (size_t)f) * n + k;
            const tal_vec3 p = it->frames.frames.points[at];
            if (isnan(p.x + p.y + p.z)) continue;
            sum = tal_v3_add(sum, p);
            ++seen;
        }
        points[k] = tal_v3_scale(seen > 0 ? 1.0 / seen : (double)NAN, sum);
    }
    it->mean = points;
    it->num_frames = 1;
}

bool tali_osim_tool_fit_mean(tali_osim_tool *tool)
{
    kinematics it = {.tool = tool};
    tal_tracker *tracker = NULL;
    bool good = prepare(&it);
    if (good) take_mean(&it);
    good = good && follow(&it, &tracker) && tali_osim_tool_is_good(tool);
    if (good) {
        if (tali_osim_text(tool->root, "output_motion_file") != NULL) write_motion(&it);
        warn_of_bad_frames(&it);
        good = tal_state_set_q(tool->model.state, it.q, it.nq) == TAL_OK;
    }
    tal_tracker_destroy(tracker);
    tal_marker_frames_destroy(&it.frames);
    tal_table_destroy(it.seen);
    return good;
}

void tali_osim_tool_ik(tali_osim_tool *tool)
{
    kinematics it = {.tool = tool};
    tal_tracker *tracker = NULL;
    if (prepare(&it) && follow(&it, &tracker)) {
        write_motion(&it);
        write_errors(&it);
        warn_of_bad_frames(&it);
    }
    tal_tracker_destroy(tracker);
    tal_marker_frames_destroy(&it.frames);
    tal_table_destroy(it.seen);
}
