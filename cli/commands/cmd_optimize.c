// talus optimize: the motion that takes the least effort, or the least time, and the controls that
// make it.
#include "commands/commands.h"
#include "model/pose.h"
#include "model/run.h"
#include "table/columns.h"
#include "table/result.h"
#include "text/report.h"
#include "text/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The whole study.
typedef struct study {
    const cli_args *args;
    const cli_model *model;
    tal_state *state; // where the motion begins, then at rows
    tal_optimizer *optimizer;
    tal_optimizer_report found;
} study;

// --- the problem ---

// NUMBER or LOW:HIGH. False: it is neither.
static bool read_range(const char *text, double *low, double *high)
{
    const char *end = tal_number_read(text, NULL, low);
    *high = *low;
    if (end != NULL && *end == ':') end = tal_number_read(end + 1, NULL, high);
    return end != NULL && *end == 0 && isfinite(*low) && isfinite(*high) && *low <= *high;
}

// An actuator that has a control, by name; `i` < 0: there is none.
static tal_force_ix find_actuator(const cli_model *model, const char *name)
{
    const tal_force_ix found = tal_forces_find(model->forces, name);
    const tal_force_ix none = {-1};
    return found.i >= 0 && tal_force_has_control(model->forces, found) ? found : none;
}

// Names of all coordinates, to suggest one for a name that is misspelled.
typedef struct coordinates {
    char (*names)[TAL_COORDINATE_NAME_SIZE]; // [num]
    int num;
} coordinates;

static const char *coordinate_at(const void *context, int i)
{
    const coordinates *const all = context;
    return i < all->num ? all->names[i] : NULL;
}

static int refuse_name(const study *it, const char *option, const char *kinds, const char *name)
{
    const tal_matter *const matter = it->model->matter;
    coordinates all = {.num = tal_state_nq(it->state)};
    all.names = cli_alloc((size_t)all.num + 1, sizeof *all.names);
    for (int slot = 0; slot < all.num; ++slot) {
        int k = -1;
        const tal_body_ix body = tal_matter_q_owner(matter, it->state, slot, &k);
        (void)tal_body_coordinate_name(matter, it->state, body, k, all.names[slot]);
    }
    const char *const meant = tal_did_you_mean(name, coordinate_at, &all);
    const int code = cli_fail(it->args, CLI_USAGE, "--%s: there is no %s '%s'%s%s%s.", option,
                              kinds, name, meant != NULL ? " (did you mean '" : "",
                              meant != NULL ? meant : "", meant != NULL ? "'?)" : "");
    free(all.names);
    return code;
}

// A range of what a name stands for: a coordinate, a speed, or an actuator on the way.
static int bound(study *it, const char *option, tal_optimizer_where where, const char *name,
                 const double range[2])
{
    const tal_matter *const matter = it->model->matter;
    int i = -1, k = -1;
    const tal_body_ix turned = tal_matter_find_coordinate(matter, it->state, name, &i);
    const tal_body_ix moving = tal_matter_find_speed(matter, it->state, name, &k);
    const tal_force_ix actuator = find_actuator(it->model, name);
    if (turned.i >= 0) {
        tal_optimizer_bound_q(it->optimizer, turned, i, where, range[0], range[1]);
    } else if (moving.i >= 0) {
        tal_optimizer_bound_u(it->optimizer, moving, k, where, range[0], range[1]);
    } else if (actuator.i >= 0 && where == TAL_OPTIMIZE_ALONG) {
        tal_optimizer_bound_control(it->optimizer, actuator, range[0], range[1]);
    } else {
        const bool is_along = where == TAL_OPTIMIZE_ALONG;
        return refuse_name(
            it, option, is_along ? "coordinate, speed or actuator" : "coordinate or speed", name);
    }
    return CLI_OK;
}

// All values of --final or --range.
static int read_bounds(study *it, const char *option, tal_optimizer_where where)
{
    const char *const *texts = NULL;
    const int n = cli_list(it->args, option, &texts);
    int code = CLI_OK;
    for (int i = 0; i < n && code == CLI_OK; ++i) {
        const char *rest = NULL;
        char *const name = cli_split(texts[i], &rest);
        double range[2] = {0.0, 0.0};
        if (name == NULL || !read_range(rest, &range[0], &range[1])) {
            code = cli_fail(it->args, CLI_USAGE,
                            "--%s needs NAME=VALUE or NAME=LOW:HIGH, not '%s'.", option, texts[i]);
        } else {
            code = bound(it, option, where, name, range);
        }
        free(name);
    }
    return code;
}

// The motion begins where the model does, at its speeds and with its z.
static void fix_start(study *it)
{
    const tal_matter *const matter = it->model->matter;
    for (int b = 1; b < tal_matter_num_bodies(matter); ++b) {
        const tal_body_ix body = {b};
        for (int i = 0; i < tal_body_nq(matter, it->state, body); ++i) {
            const double q = tal_body_q(matter, it->state, body, i);
            tal_optimizer_bound_q(it->optimizer, body, i, TAL_OPTIMIZE_START, q, q);
        }
        for (int i = 0; i < tal_body_nu(matter, body); ++i) {
            const double u = tal_body_u(matter, it->state, body, i);
            tal_optimizer_bound_u(it->optimizer, body, i, TAL_OPTIMIZE_START, u, u);
        }
    }
    for (int i = 0; i < tal_state_nz(it->state); ++i) {
        const double z = tal_state_z(it->state)[i];
        tal_optimizer_bound_z(it->optimizer, i, TAL_OPTIMIZE_START, z, z);
    }
}

// Goals: --effort over the motion with --power, and --time of its end.
static int add_goals(study *it)
{
    const cli_args *const args = it->args;
    const double effort = cli_number(args, "effort"), time = cli_number(args, "time");
    const double power = cli_number(args, "power");
    if (effort < 0.0 || time < 0.0 || effort + time <= 0.0) {
        return cli_fail(args, CLI_USAGE,
                        "--effort %g and --time %g must not be negative, and one must be positive.",
                        effort, time);
    }
    if (power < 1.0) {
        return cli_fail(args, CLI_USAGE, "--power needs a number from 1 on, not %g.", power);
    }
    if (effort > 0.0) tal_optimizer_add_effort(it->optimizer, effort, power);
    if (time > 0.0) tal_optimizer_add_time(it->optimizer, time);
    return CLI_OK;
}

static int read_method(const cli_args *args, tal_collocation *method)
{
    const char *const name = cli_text(args, "method");
    const bool is_trapezoid = strcmp(name, "trapezoid") == 0;
    *method = is_trapezoid ? TAL_COLLOCATION_TRAPEZOID : TAL_COLLOCATION_HERMITE_SIMPSON;
    if (is_trapezoid || strcmp(name, "hermite-simpson") == 0) return CLI_OK;
    return cli_fail(args, CLI_USAGE, "--method needs hermite-simpson or trapezoid, not '%s'.",
                    name);
}

// The problem as the options say it. An exit code.
static int pose_problem(study *it)
{
    const cli_args *const args = it->args;
    tal_optimizer_def def = tal_optimizer_def_default();
    def.intervals = cli_count(args, "intervals");
    def.max_iterations = cli_count(args, "iterations");
    double end[2] = {0.0, 0.0};
    if (!read_range(cli_text(args, "end"), &end[0], &end[1])) {
        return cli_fail(args, CLI_USAGE, "--end needs SECONDS or LOW:HIGH, not '%s'.",
                        cli_text(args, "end"));
    }
    int code = read_method(args, &def.method);
    if (code != CLI_OK) return code;
    tal_error err = {0};
    if (tal_optimizer_create(it->model->system, it->model->forces, &def, &it->optimizer, &err) !=
        TAL_OK) {
        return cli_fail_with(args, CLI_FAILED, &err);
    }
    tal_optimizer_set_time(it->optimizer, tal_state_t(it->state), end[0], end[1]);
    fix_start(it);
    code = read_bounds(it, "final", TAL_OPTIMIZE_END);
    if (code == CLI_OK) code = read_bounds(it, "range", TAL_OPTIMIZE_ALONG);
    return code == CLI_OK ? add_goals(it) : code;
}

// --- the answer ---

static void report_answer(const study *it)
{
    report r;
    report_begin(&r, it->args);
    const char *const path = stream_out_path(it->args);
    if (r.json && path != NULL) report_text(&r, "result", path);
    report_number(&r, "objective", it->found.nlp.objective, NULL);
    report_number(&r, "end", it->found.end, "s");
    report_count(&r, "iterations", it->found.nlp.iterations);
    report_number(&r, "largest error of a row", it->found.nlp.row_error, NULL);
    report_number(&r, "gap to a simulation", it->found.difference, NULL);
    report_end(&r);
}

static tal_status name_columns(const study *it, const cli_columns *columns, tal_table *table)
{
    tal_status st = columns_name(columns, table);
    for (int k = 0; k < tal_optimizer_num_controls(it->optimizer) && st == TAL_OK; ++k) {
        const tal_force_ix actuator = tal_optimizer_actuator(it->optimizer, k);
        char *const name = cli_format("%s control", tal_force_name(it->model->forces, actuator));
        st = tal_table_add_column(table, name);
        free(name);
    }
    return st;
}

// A row for each node: time, coordinates, speeds, controls.
static tal_status add_rows(const study *it, const cli_columns *columns, tal_table *table)
{
    const int controls = tal_optimizer_num_controls(it->optimizer);
    double *const row = cli_alloc((size_t)(columns->num + controls), sizeof *row);
    tal_status st = TAL_OK;
    for (int n = 0; n < tal_optimizer_num_nodes(it->optimizer) && st == TAL_OK; ++n) {
        const double t = tal_optimizer_node_time(it->optimizer, n);
        st = tal_optimizer_interpolate(it->optimizer, t, it->state);
        if (st == TAL_OK) st = columns_read(columns, it->model, it->state, row);
        for (int k = 0; k < controls; ++k) {
            row[columns->num + k] = tal_optimizer_control(it->optimizer, k, t);
        }
        if (st == TAL_OK) st = tal_table_add_row(table, row);
    }
    free(row);
    return st;
}

// The motion as a table; `why` it is not the best one, or NULL.
static int write_motion(const study *it, const char *why)
{
    cli_columns columns = {0};
    tal_table *const table = result_create(it->args, it->model);
    int code = table != NULL ? CLI_OK : CLI_FAILED;
    if (code == CLI_OK) code = columns_choose(it->args, it->model, "q,u", true, &columns);
    tal_status st = code == CLI_OK ? name_columns(it, &columns, table) : TAL_OK;
    if (code == CLI_OK && st == TAL_OK) st = add_rows(it, &columns, table);
    if (st != TAL_OK) code = cli_fail_status(it->args, CLI_FAILED, st);
    if (code == CLI_OK) {
        code =
            why == NULL ? result_write(it->args, table) : result_write_part(it->args, table, why);
    }
    columns_destroy(&columns);
    tal_table_destroy(table);
    return code;
}

static int write_results(const study *it, const char *why)
{
    const bool wanted = result_is_wanted(it->args);
    if (!wanted || (!stream_is_output(it->args) && report_is_wanted(it->args))) report_answer(it);
    return wanted ? write_motion(it, why) : why == NULL ? CLI_OK : CLI_FAILED;
}

// --- the command ---

// Poses the problem, solves it, and writes what was found, also if it is not the best.
static int optimize(const cli_args *args, const cli_model *model, tal_state *state)
{
    study it = {.args = args, .model = model, .state = state};
    int code = cli_realize(args, model, state, TAL_STAGE_MODEL);
    if (code == CLI_OK) code = pose_problem(&it);
    if (code == CLI_OK && tal_optimizer_num_controls(it.optimizer) == 0) {
        code = cli_fail(args, CLI_FAILED,
                        "nothing in the model has a control; give it an actuator or a muscle.");
    }
    if (code == CLI_OK) {
        const tal_status st = tal_optimizer_run(it.optimizer, state, NULL, &it.found);
        const tal_error why = *tal_optimizer_error(it.optimizer);
        if (st != TAL_OK) code = cli_fail_with(args, CLI_FAILED, &why);
        if (st == TAL_OK) code = write_results(&it, NULL);
        if (st == TAL_ERR_NO_CONVERGENCE) (void)write_results(&it, "the search did not converge");
    }
    tal_optimizer_destroy(it.optimizer);
    return code;
}

static int run(const cli_args *args)
{
    return pose_run(args, optimize);
}

static const cli_option options[] = {
    {.name = "end",
     .letter = 'e',
     .kind = CLI_TEXT,
     .value = "SECONDS",
     .initial = "1",
     .help = "end of the motion, or LOW:HIGH: a time between these is found",
     .is_setting = true},
    {.name = "final",
     .kind = CLI_LIST,
     .value = "NAME=VALUE",
     .help = "value of a coordinate or speed (BODY.u0) at the end, or NAME=LOW:HIGH; can be "
             "repeated",
     .is_setting = true},
    {.name = "range",
     .letter = 'r',
     .kind = CLI_LIST,
     .value = "NAME=LOW:HIGH",
     .help = "range of a coordinate, a speed or the control of an actuator during the whole "
             "motion; can be repeated",
     .is_setting = true},
    {.name = "effort",
     .kind = CLI_NUMBER,
     .value = "WEIGHT",
     .initial = "1",
     .help = "weight of the effort, the integral of the sum of |control|^POWER",
     .is_setting = true},
    {.name = "power",
     .kind = CLI_NUMBER,
     .value = "POWER",
     .initial = "2",
     .help = "exponent of the effort; 1 or more",
     .is_setting = true},
    {.name = "time",
     .kind = CLI_NUMBER,
     .value = "WEIGHT",
     .initial = "0",
     .help = "weight of each second until the end; with --effort 0: least time",
     .is_setting = true},
    {.name = "intervals",
     .letter = 'n',
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "50",
     .help = "number of intervals of the mesh",
     .is_setting = true},
    {.name = "method",
     .letter = 'm',
     .kind = CLI_TEXT,
     .value = "NAME",
     .initial = "hermite-simpson",
     .help = "discretization between nodes: hermite-simpson (order 4) or trapezoid (order 2)",
     .is_setting = true},
    {.name = "iterations",
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "500",
     .help = "largest number of iterations",
     .is_setting = true},
    {0}};

const cli_command cmd_optimize = {
    .name = "optimize",
    .group = CLI_STUDIES,
    .files = "MODEL",
    .min_files = 1,
    .max_files = 1,
    .summary = "find the motion with the least effort or in the least time",
    .about =
        "The motion begins at the initial state of the model and ends as --final says; controls "
        "are free within their ranges. Direct collocation: coordinates, speeds and controls at "
        "the nodes of a mesh are found together, with exact derivatives. The result is a local "
        "minimum. The command also prints how far from it a simulation with these controls ends, "
        "which tells whether the mesh is fine enough. -o writes the motion with its controls; if "
        "the search does not converge, it writes the best motion so far, marked as such. Models "
        "with constraints, motions or contacts are refused; the message names these.",
    .common = MODEL_OPTIONS | CLI_RESULT | CLI_OUT | CLI_AGAIN | CLI_FORMAT,
    .options = options,
    .example = "talus optimize cart.talus -e 2 --final cart.q0=1 --final cart.u0=0",
    .example_help = "moving by 1 m within 2 s with the least effort",
    .run = run};
