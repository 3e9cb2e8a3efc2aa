// Forward dynamics: from a state, with controls and external loads, step by step.
#include "alloc_internal.h"
#include "error_internal.h"

#include "opensim/analysis_internal.h"
#include "opensim/tool_states_internal.h"

#include <talus/study.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A run at work.
typedef struct forward {
    tali_osim_tool *tool;
    tali_osim_analyses analyses;
    tal_integrator *integ;
    double begin, end; // [s]
    double *stops;     // [num_stops] ascending: where a control jumps
    int num_stops;
    bool specified;          // steps end at the rows of <states_file>, and those are recorded
    const double *row_times; // [num_rows] of that file
    int num_rows;
    long max_steps;
    tal_table *states, *degrees, *controls;
    double *row; // [columns]
} forward;

// --- the System ---

// A spline through the rows of a coordinate. NULL, and an error, on failure.
static tal_function *target_of(tali_osim_tool *tool, const tali_osim_coordinate_rows *rows, int c)
{
    tal_function *f = NULL;
    tal_error err = {TAL_OK, "", ""};
    const double *values = rows->values + (size_t)c * (size_t)rows->num_rows;
    const tal_allocator *allocator = &tool->options.allocator;
    const tal_status st =
        rows->num_rows > 1
            ? tal_function_create_spline(allocator, rows->times, values, rows->num_rows,
                                         TAL_SPLINE_NATURAL, &f, &err)
            : tal_function_create_constant(allocator, values[0], 1, &f, &err);
    tali_osim_tool_fail(tool, st, &err);
    return f;
}

// Controllers that correct coordinates follow the motion of <states_file>.
static void add_corrections(tali_osim *o, tal_model *model, tali_osim_tool *tool)
{
    tali_osim_coordinate_rows rows = {.num_rows = 0};
    for (int i = 0; i < o->num_controllers; ++i) {
        const tali_osim_controller *it = &o->controllers[i];
        if (it->corrected == NULL || it->num == 0) continue;
        tal_table *table =
            rows.num_rows == 0 ? tali_osim_tool_read_table(tool, "states_file") : NULL;
        const bool good = rows.num_rows > 0 ||
                          (table != NULL && tali_osim_tool_is_good(tool) &&
                           tali_osim_tool_read_coordinates(tool, table, "states_file", &rows));
        tal_table_destroy(table);
        for (int k = 0; k < it->num && good; ++k) {
            tal_function *target = target_of(tool, &rows, it->corrected[k]);
            if (target == NULL) return;
            (void)tali_osim_correct(o, model, it, k, target);
        }
    }
}

static void extend(tali_osim *o, tal_model *model, void *context)
{
    tali_osim_tool_add_loads(o, model, context);
    add_corrections(o, model, context);
}

void tali_osim_tool_extend_forward(tali_osim_tool *tool)
{
    tool->o.more_controllers = tool->setup.xml;
    tool->o.extend = extend;
    tool->o.extend_context = tool;
}

// --- where it begins ---

// The last row that is not after the beginning.
static int row_before(const tali_osim_coordinate_rows *rows, double t)
{
    int row = 0;
    while (row < rows->num_rows - 1 && rows->times[row + 1] <= t + 1e-9) {
        ++row;
    }
    return row;
}

static void put_row(forward *it, const tali_osim_coordinate_rows *q,
                    const tali_osim_coordinate_rows *u, int row)
{
    const tal_model *model = &it->tool->model;
    const size_t n = (size_t)q->num_rows;
    for (int c = 0; c < it->tool->o.num_coordinates; ++c) {
        const tali_osim_coordinate *at = &it->tool->o.coordinates[c];
        const double value = q->values[(size_t)c * n + (size_t)row];
        tal_state_upd_q(model->state)[tali_osim_tool_q_slot(it->tool, c)] = value;
        tal_state_upd_u(model->state)[tali_osim_tool_u_slot(it->tool, c)] =
            u->values[(size_t)c * n + (size_t)row];
        if (!at->locked) continue;
        (void)tal_mobility_lock_at(model->matter, model->state, at->mobility, TAL_LEVEL_POSITION,
                                   value);
    }
}

// From a row of a states file, or where the model begins.
static void read_start(forward *it)
{
    tali_osim_tool *tool = it->tool;
    tali_osim_coordinate_rows q, u;
    tali_osim_z_rows z;
    if (tali_osim_text(tool->root, "states_file") == NULL) return;
    tal_table *table = tali_osim_tool_read_table(tool, "states_file");
    if (tali_osim_tool_is_good(tool) &&
        tali_osim_tool_read_coordinates(tool, table, "states_file", &q) &&
        tali_osim_tool_read_speeds(tool, table, "states_file", &u) &&
        tali_osim_tool_read_z(tool, table, &z)) {
        const int row = row_before(&q, it->begin);
        if (!isfinite(it->begin)) it->begin = q.times[row];
        it->row_times = q.times;
        it->num_rows = q.num_rows;
        put_row(it, &q, &u, row);
        tali_osim_tool_put_z(tool, &z, row);
        if (fabs(q.times[row] - it->begin) > 1e-6) {
            tali_osim_tool_warn(tool, "states_file",
                                "the run begins at t = %g with the row of t = %g", it->begin,
                                q.times[row]);
        }
    }
    tal_table_destroy(table);
}

static void equilibrate(forward *it)
{
    const tal_model *model = &it->tool->model;
    tal_status st = tal_system_realize(model->system, model->state, TAL_STAGE_MODEL);
    const bool wanted = tali_osim_bool(&it->tool->setup, it->tool->root,
                                       "solve_for_equilibrium_for_auxiliary_states", false);
    if (st == TAL_OK && wanted) {
        st = tal_forces_equilibrate_muscles(model->forces, model->state);
    }
    tali_osim_tool_fail(it->tool, st, tal_state_error(model->state));
}

// --- preparing ---

static int compare_times(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

// Times at which steps of controls end, in order.
static void sort_stops(forward *it)
{
    const tali_osim *o = &it->tool->o;
    it->stops = tali_osim_take(&it->tool->setup, o->num_stops, sizeof *it->stops);
    if (it->stops == NULL || o->num_stops == 0) return;
    memcpy(it->stops, o->stops, (size_t)o->num_stops * sizeof *it->stops);
    it->num_stops = o->num_stops;
    qsort(it->stops, (size_t)it->num_stops, sizeof *it->stops, compare_times);
}

static void make_integrator(forward *it)
{
    tali_osim_tool *tool = it->tool;
    tali_osim *setup = &tool->setup;
    tal_integrator_def def = tal_integrator_def_default();
    tal_error err = {TAL_OK, "", ""};
    def.accuracy = tali_osim_number(setup, tool->root, "integrator_error_tolerance", 1e-5);
    def.max_step = tali_osim_number(setup, tool->root, "maximum_integrator_step_size", 0.0);
    const double steps =
        tali_osim_number(setup, tool->root, "maximum_number_of_integrator_steps", 20000.0);
    it->max_steps = steps > 0.0 && steps < 1e9 ? (long)steps : 20000;
    if (it->specified && it->num_rows == 0) {
        tali_osim_tool_error(tool, "use_specified_dt",
                             "the times of steps come from <states_file>, which is missing");
    }
    if (!tali_osim_tool_is_good(tool)) return;
    const tal_status st = tal_integrator_create(tool->model.system, &def, &it->integ, &err);
    tali_osim_tool_fail(tool, st, &err);
}

static tal_table *add_controls(forward *it, const char *file)
{
    tali_osim_tool *tool = it->tool;
    tal_table *table = tali_osim_tool_add_result(tool, file, "controls");
    for (int i = 0; i < tool->o.num_forces && table != NULL; ++i) {
        const tali_osim_force *f = &tool->o.forces[i];
        if (f->force.i < 0 || !tal_force_has_control(tool->model.forces, f->force)) continue;
        tali_osim_tool_add_column(tool, table, f->name, "");
    }
    return table;
}

static void add_tables(forward *it)
{
    tali_osim_tool *tool = it->tool;
    char file[300];
    (void)snprintf(file, sizeof file, "%.200s_states.sto", tool->name);
    it->states = tali_osim_tool_add_states(tool, file, false);
    (void)snprintf(file, sizeof file, "%.200s_states_degrees.mot", tool->name);
    it->degrees = tali_osim_tool_add_states(tool, file, true);
    (void)snprintf(file, sizeof file, "%.200s_controls.sto", tool->name);
    it->controls = add_controls(it, file);
    if (it->states == NULL) return;
    const int n = tal_table_num_columns(it->states) + tool->o.num_forces;
    it->row = tali_osim_take(&tool->setup, n, sizeof *it->row);
}

static bool prepare(forward *it)
{
    tali_osim_tool *tool = it->tool;
    double range[2];
    tali_osim_tool_time_range(tool, range);
    it->begin = range[0];
    it->end = range[1];
    it->specified = tali_osim_bool(&tool->setup, tool->root, "use_specified_dt", false);
    read_start(it);
    if (!isfinite(it->begin)) it->begin = 0.0;
    if (!isfinite(it->end)) tali_osim_tool_error(tool, NULL, "<final_time> is missing");
    if (tali_osim_tool_is_good(tool)) equilibrate(it);
    make_integrator(it);
    if (!tali_osim_tool_is_good(tool)) return false;
    (void)tal_state_set_t(tool->model.state, it->begin);
    sort_stops(it);
    add_tables(it);
    tali_osim_analyses_begin(tool, &it->analyses);
    return tali_osim_tool_is_good(tool);
}

// --- the run ---

static void record(forward *it)
{
    tali_osim_tool *tool = it->tool;
    const tal_model *model = &tool->model;
    int n = 0;
    tali_osim_tool_add_state_row(tool, it->states, it->row, false);
    tali_osim_tool_add_state_row(tool, it->degrees, it->row, true);
    it->row[n++] = tal_state_t(model->state);
    for (int i = 0; i < tool->o.num_forces; ++i) {
        const tali_osim_force *f = &tool->o.forces[i];
        if (f->force.i < 0 || !tal_force_has_control(model->forces, f->force)) continue;
        it->row[n++] = tal_actuator_control(model->forces, model->state, f->force);
    }
    const tal_status st = tal_table_add_row(it->controls, it->row);
    tool->setup.no_memory = tool->setup.no_memory || st == TAL_ERR_NO_MEMORY;
    tali_osim_analyses_record(&it->analyses, tal_state_t(model->state), false);
}

// The first of some times behind t, or the end of the run.
static double next_of(const forward *it, const double times[], int num, double t)
{
    for (int i = 0; i < num; ++i) {
        if (times[i] > t + 1e-12 && times[i] < it->end) return times[i];
    }
    return it->end;
}

// The end of the run, the next time at which a control jumps, or that of the next row.
static double next_stop(const forward *it, double t)
{
    const double jump = next_of(it, it->stops, it->num_stops, t);
    return it->specified ? fmin(jump, next_of(it, it->row_times, it->num_rows, t)) : jump;
}

// With specified times the rows of tables are those of the states, and the end.
static bool is_recorded(const forward *it, double t)
{
    if (!it->specified || t >= it->end) return true;
    for (int i = 0; i < it->num_rows; ++i) {
        if (fabs(it->row_times[i] - t) <= 1e-12) return true;
    }
    return false;
}

static bool tell(forward *it, double t)
{
    const double part = (t - it->begin) / (it->end - it->begin);
    return tali_osim_tool_tell(it->tool, (int)(1000.0 * fmin(part, 1.0)), 1000);
}

// A failed step ends the run; what there is is kept, and the failure is a warning.
static void run(forward *it)
{
    tali_osim_tool *tool = it->tool;
    tal_state *s = tool->model.state;
    // a step of length zero makes the State consistent
    tal_status st = tal_integrator_step_to(it->integ, s, it->begin);
    if (st == TAL_OK) st = tal_system_realize(tool->model.system, s, TAL_STAGE_ACCELERATION);
    if (st == TAL_OK) record(it);
    long steps = 0;
    while (st == TAL_OK && tal_state_t(s) < it->end && tali_osim_tool_is_good(tool)) {
        if (steps++ == it->max_steps) {
            tali_osim_tool_warn(tool, "maximum_number_of_integrator_steps",
                                "%ld steps ended at t = %g", it->max_steps, tal_state_t(s));
            return;
        }
        st = tal_integrator_step(it->integ, s, next_stop(it, tal_state_t(s)));
        if (st == TAL_OK) st = tal_system_realize(tool->model.system, s, TAL_STAGE_ACCELERATION);
        if (st != TAL_OK) break;
        if (is_recorded(it, tal_state_t(s))) record(it);
        if (!tell(it, tal_state_t(s))) return;
    }
    if (st == TAL_OK) return;
    tali_osim_tool_warn(tool, NULL, "the run ended at t = %g: %s", tal_state_t(s),
                        tal_integrator_error(it->integ)->message);
    tool->setup.no_memory = tool->setup.no_memory || st == TAL_ERR_NO_MEMORY;
}

void tali_osim_tool_forward(tali_osim_tool *tool)
{
    forward *it = tali_osim_take(&tool->setup, 1, sizeof *it);
    if (it == NULL) return;
    it->tool = tool;
    if (prepare(it)) run(it);
    tali_osim_analyses_end(&it->analyses);
    tal_integrator_destroy(it->integ);
}
