// Computed muscle control (CMCTool) and residual reduction (RRATool): the controls that make a
// model follow a motion, window by window.
#include "opensim/analysis_internal.h"
#include "opensim/tool_states_internal.h"
#include "opensim/tool_track_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_FLAGGED = 5 // windows that are named because actuators were too weak
};

// A run at work. Arrays are in the arena.
typedef struct tracking {
    tali_osim_tool *tool;
    bool reduces; // residuals: RRATool
    tali_osim_desired desired;
    tali_osim_tasks tasks;
    tal_follower *follower;
    tali_osim_analyses analyses;
    tali_osim_residuals residuals; // of the run
    tali_scene_bytes report;       // of residuals
    double begin, end, window;     // [s]
    tal_table *states, *degrees, *controls, *errors;
    double *row;           // [columns of states]
    int n;                 // controls
    double *lower, *upper; // [n]
    bool *steps;           // [n] constant within a window
    int num_weak;
} tracking;

// --- preparing ---

// What the model's own controllers do is found here.
static void disable_controllers(tali_osim_tool *tool)
{
    const tal_model *model = &tool->model;
    int n = 0;
    for (int i = 0; i < tal_forces_num_controllers(model->forces); ++i) {
        const tal_controller_ix controller = {i};
        if (!tal_controller_is_enabled(model->forces, model->state, controller)) continue;
        (void)tal_controller_set_enabled(model->forces, model->state, controller, false);
        ++n;
    }
    if (n > 0) {
        tali_osim_tool_warn(tool, NULL, "the controllers of the model do not act here (%d of them)",
                            n);
    }
}

// A control of the file with bounds: ranges of an actuator in place of its own.
static void read_bound(tali_osim_tool *tool, const tali_xml_element *e)
{
    const tal_model *model = &tool->model;
    char name[200];
    (void)snprintf(name, sizeof name, "%.199s", tali_osim_name(e));
    char *end = strstr(name, ".excitation");
    if (end != NULL && end[11] == '\0') *end = '\0';
    const int i = tali_osim_find_force(&tool->o, name);
    const tal_force_ix force = i >= 0 ? tool->o.forces[i].force : (tal_force_ix){-1};
    if (force.i < 0 || !tal_force_has_control(model->forces, force)) {
        tali_osim_warn(&tool->setup, e, ": the model has no actuator '%.60s'; it is ignored", name);
        return;
    }
    double least = 0.0, largest = 1.0;
    (void)tal_actuator_control_range(model->forces, model->state, force, &least, &largest);
    least = tali_osim_number(&tool->setup, e, "default_min", least);
    largest = tali_osim_number(&tool->setup, e, "default_max", largest);
    const tal_status st =
        tal_actuator_set_control_range(model->forces, model->state, force, least, largest);
    tali_osim_tool_fail(tool, st, tal_state_error(model->state));
}

static void read_bounds(tali_osim_tool *tool)
{
    const char *file = tali_osim_text(tool->root, "constraints_file");
    tali_xml *xml = NULL;
    if (file == NULL) return;
    const tal_status st = tali_xml_read_file(tali_osim_tool_path(tool, tool->folder, file), NULL,
                                             &tool->options.allocator, &xml, tool->setup.found);
    tool->setup.no_memory = tool->setup.no_memory || st == TAL_ERR_NO_MEMORY;
    if (st != TAL_OK) return;
    tali_xml *const setup = tool->setup.xml;
    tool->setup.xml = xml; // messages name this file
    const tali_xml_element *set = xml->root;
    if (strcmp(set->name, "OpenSimDocument") == 0 && set->first != NULL) set = set->first;
    for (const tali_xml_element *e = tali_osim_first(set); e != NULL; e = e->next) {
        read_bound(tool, e);
    }
    tool->setup.xml = setup;
    tali_xml_destroy(xml);
}

static void make_follower(tracking *it)
{
    tali_osim_tool *tool = it->tool;
    const tal_model *model = &tool->model;
    tal_force_ix *which =
        tali_osim_take(&tool->setup, tal_forces_num(model->forces) + 1, sizeof *which);
    if (which == NULL) return;
    tal_follower_def def = tal_follower_def_default();
    def.tasks = it->tasks.tasks;
    def.num_tasks = it->tasks.num;
    def.actuators = which;
    def.num_actuators = tali_osim_tool_list_actuators(tool, which);
    def.calc_desired = tali_osim_desired_calc;
    def.context = &it->desired;
    it->window =
        it->reduces ? 0.001 : tali_osim_number(&tool->setup, tool->root, "cmc_time_window", 0.010);
    def.window = it->window;
    def.is_soft = it->reduces ||
                  !tali_osim_bool(&tool->setup, tool->root, "use_fast_optimization_target", true);
    def.accuracy = tali_osim_number(&tool->setup, tool->root, "integrator_error_tolerance", 1e-5);
    def.max_step = tali_osim_number(&tool->setup, tool->root, "maximum_integrator_step_size", 0.0);
    tal_error err = {TAL_OK, "", ""};
    const tal_status st =
        tal_follower_create(model->system, model->forces, &def, &it->follower, &err);
    tali_osim_tool_fail(tool, st, &err);
    it->n = st == TAL_OK ? tal_follower_num(it->follower) : 0;
}

// From the first time that the data have to the last one.
static void find_times(tracking *it)
{
    tali_osim_tool *tool = it->tool;
    double range[2];
    tali_osim_tool_time_range(tool, range);
    it->begin = fmax(range[0], it->desired.first);
    it->end = fmin(range[1], it->desired.last);
    if (!(it->begin < it->end) && tali_osim_tool_is_good(tool)) {
        tali_osim_tool_error(tool, "desired_kinematics_file",
                             "it goes from %g s to %g s, the tool from %g s to %g s",
                             it->desired.first, it->desired.last, range[0], range[1]);
    }
}

// --- tables ---

// "soleus_r.excitation", or the part of a body actuator.
static void name_control(const tracking *it, int j, char name[200])
{
    static const char *const parts[] = {"_Mx", "_My", "_Mz", "_Fx", "_Fy", "_Fz"};
    const tal_forces *forces = it->tool->model.forces;
    int part = 0;
    const tal_force_ix force = tal_follower_actuator(it->follower, j, &part);
    const bool is_single = tal_force_has_control(forces, force);
    (void)snprintf(name, 200, "%.150s%s.excitation", tal_force_name(forces, force),
                   is_single ? "" : parts[part]);
}

static void find_bounds(tracking *it)
{
    const tal_model *model = &it->tool->model;
    for (int j = 0; j < it->n; ++j) {
        const tal_force_ix force = tal_follower_actuator(it->follower, j, NULL);
        it->lower[j] = (double)-INFINITY;
        it->upper[j] = (double)INFINITY;
        it->steps[j] = tal_force_is_muscle(model->forces, force);
        if (!tal_force_has_control(model->forces, force)) continue;
        (void)tal_actuator_control_range(model->forces, model->state, force, &it->lower[j],
                                         &it->upper[j]);
    }
}

static void add_tables(tracking *it)
{
    tali_osim_tool *tool = it->tool;
    char file[300];
    (void)snprintf(file, sizeof file, "%.200s_states.sto", tool->name);
    it->states = tali_osim_tool_add_states(tool, file, false);
    (void)snprintf(file, sizeof file, "%.200s_states_degrees.mot", tool->name);
    it->degrees = tali_osim_tool_add_states(tool, file, true);
    (void)snprintf(file, sizeof file, "%.200s_controls.sto", tool->name);
    it->controls = tali_osim_tool_add_result(tool, file, "controls");
    for (int j = 0; j < it->n && it->controls != NULL; ++j) {
        char name[200];
        name_control(it, j, name);
        tali_osim_tool_add_column(tool, it->controls, name, "");
    }
    (void)snprintf(file, sizeof file, "%.200s_pErr.sto", tool->name);
    it->errors = tali_osim_tool_add_result(tool, file, "PositionErrors");
    for (int i = 0; i < it->tasks.num && it->errors != NULL; ++i) {
        tali_osim_tool_add_column(tool, it->errors, it->tasks.names[i], "");
    }
}

static bool take_memory(tracking *it)
{
    tali_osim *setup = &it->tool->setup;
    it->lower = tali_osim_take(setup, it->n, sizeof *it->lower);
    it->upper = tali_osim_take(setup, it->n, sizeof *it->upper);
    it->steps = tali_osim_take(setup, it->n, sizeof *it->steps);
    if (!tali_osim_tool_is_good(it->tool)) return false;
    add_tables(it);
    if (!tali_osim_tool_is_good(it->tool)) return false;
    const int columns = tal_table_num_columns(it->states);
    it->row = tali_osim_take(setup, columns + it->n + it->tasks.num + 1, sizeof *it->row);
    return tali_osim_tool_is_good(it->tool);
}

static bool prepare(tracking *it)
{
    tali_osim_tool *tool = it->tool;
    if (tali_osim_text(tool->root, "rra_controls_file") != NULL) {
        tali_osim_tool_error(tool, "rra_controls_file",
                             "it is not read: give bounds in <constraints_file>");
    }
    (void)tali_osim_tool_read_desired(tool, &it->desired);
    tali_osim_tool_read_tasks(tool, &it->tasks);
    read_bounds(tool);
    if (!tali_osim_tool_is_good(tool)) return false;
    find_times(it);
    disable_controllers(tool);
    if (it->reduces &&
        tali_osim_bool(&tool->setup, tool->root, "adjust_com_to_reduce_residuals", false)) {
        tali_osim_tool_adjust_mass_center(tool, &it->desired, &it->report);
    }
    if (tali_osim_tool_is_good(tool)) make_follower(it);
    if (!tali_osim_tool_is_good(tool) || !take_memory(it)) return false;
    find_bounds(it);
    tali_osim_analyses_begin(tool, &it->analyses);
    tali_osim_analyses_add(tool, &it->analyses, &tali_osim_kinematics);
    tali_osim_analyses_add(tool, &it->analyses, &tali_osim_actuation);
    return tali_osim_tool_is_good(tool);
}

// --- the run ---

static void add_row(tracking *it, tal_table *table, double t, const double values[], int n)
{
    it->row[0] = t;
    if (n > 0) memcpy(it->row + 1, values, (size_t)n * sizeof *values);
    const tal_status st = tal_table_add_row(table, it->row);
    it->tool->setup.no_memory = it->tool->setup.no_memory || st == TAL_ERR_NO_MEMORY;
}

static void add_residuals(tracking *it, double t)
{
    double values[TALI_OSIM_NUM_RESIDUALS] = {0.0};
    const double *forces = tal_follower_forces(it->follower);
    for (int j = 0; j < it->n; ++j) {
        const tal_force_ix force = tal_follower_actuator(it->follower, j, NULL);
        const int k = tali_osim_residual_of(it->tool, force);
        if (k >= 0) values[k] += forces[j];
    }
    tali_osim_residuals_add(&it->residuals, t, values);
}

static void record(tracking *it)
{
    tali_osim_tool *tool = it->tool;
    const tal_state *state = tool->model.state;
    const double t = tal_state_t(state);
    tali_osim_tool_add_state_row(tool, it->states, it->row, false);
    tali_osim_tool_add_state_row(tool, it->degrees, it->row, true);
    add_row(it, it->controls, t, tal_follower_controls(it->follower), it->n);
    if (tal_follower_calc_errors(it->follower, state, it->row + 1, NULL) == TAL_OK) {
        add_row(it, it->errors, t, NULL, 0);
    }
    add_residuals(it, t);
    tali_osim_analyses_record(&it->analyses, t, false);
}

// Windows with weak actuators go on with the nearest accelerations.
static tal_status judge(tracking *it, tal_status st)
{
    if (st != TAL_ERR_INFEASIBLE) return st;
    it->num_weak += 1;
    if (it->num_weak <= MAX_FLAGGED) {
        tali_osim_tool_warn(it->tool, NULL, "%s", tal_follower_error(it->follower)->message);
    }
    return TAL_OK;
}

static bool tell(tracking *it)
{
    const double t = tal_state_t(it->tool->model.state);
    const double part = (t - it->begin) / (it->end - it->begin);
    return tali_osim_tool_tell(it->tool, (int)(1000.0 * fmin(part, 1.0)), 1000);
}

// A window that fails ends the run; what there is is kept, and the failure is a warning.
static void run(tracking *it)
{
    tali_osim_tool *tool = it->tool;
    tal_state *state = tool->model.state;
    (void)tal_state_set_t(state, it->begin);
    tal_status st = judge(it, tal_follower_start(it->follower, state));
    if (st != TAL_OK) {
        tali_osim_tool_fail(tool, st, tal_follower_error(it->follower));
        return;
    }
    record(it);
    while (tal_state_t(state) + it->window <= it->end + 1e-9 && tali_osim_tool_is_good(tool)) {
        st = judge(it, tal_follower_step(it->follower, state));
        if (st != TAL_OK) break;
        record(it);
        if (!tell(it)) break;
    }
    if (it->num_weak > MAX_FLAGGED) {
        tali_osim_tool_warn(tool, NULL, "the actuators are too weak in %d windows in all",
                            it->num_weak);
    }
    if (st == TAL_OK) return;
    tool->setup.no_memory = tool->setup.no_memory || st == TAL_ERR_NO_MEMORY;
    tali_osim_tool_warn(tool, NULL, "the run ended at t = %g: %s", tal_state_t(state),
                        tal_follower_error(it->follower)->message);
}

// --- what is left ---

static void write_texts(tracking *it)
{
    tali_osim_tool *tool = it->tool;
    char file[300];
    (void)snprintf(file, sizeof file, "%.200s_controls.xml", tool->name);
    tali_osim_tool_add_controls(tool, file, it->controls, it->lower, it->upper, it->steps);
    if (!it->reduces) return;
    tali_scene_put_text(&it->report, "\nAverage residuals of the run:\n");
    tali_osim_residuals_put(&it->residuals, &it->report);
    (void)snprintf(file, sizeof file, "%.200s_avgResiduals.txt", tool->name);
    tali_osim_tool_add_text(tool, file, &it->report);
}

static void track(tali_osim_tool *tool, bool reduces)
{
    tracking *it = tali_osim_take(&tool->setup, 1, sizeof *it);
    if (it == NULL) return;
    it->tool = tool;
    it->reduces = reduces;
    it->report.allocator = tool->options.allocator;
    if (prepare(it)) {
        run(it);
        if (tali_osim_tool_is_good(tool)) write_texts(it);
    }
    tali_osim_analyses_end(&it->analyses);
    tali_free(&it->report.allocator, it->report.at, it->report.capacity);
    tal_follower_destroy(it->follower);
    tali_osim_tool_free_desired(&it->desired);
}

void tali_osim_tool_cmc(tali_osim_tool *tool)
{
    track(tool, false);
}

void tali_osim_tool_rra(tali_osim_tool *tool)
{
    track(tool, true);
}
