// talus muscles: lengths, moment arms and forces of muscles, along a coordinate or a motion.
#include "commands/commands.h"
#include "model/muscles.h"
#include "table/rates.h"
#include "table/result.h"
#include "text/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// One study: which muscles, where, and what has been found.
typedef struct study {
    const cli_args *args;
    const cli_model *model;
    tal_state *state;
    cli_muscles muscles;
    int outputs[TAL_NUM_MUSCLE_OUTPUTS]; // [num_outputs] which
    int num_outputs;
    int nu, num_columns;
    int num_rows, capacity;
    double *rows; // [num_rows][num_columns]: the first column, then of each muscle outputs and arms
    double *found; // [TAL_NUM_MUSCLE_OUTPUTS]
    double *work;
    int *iwork;
    const tal_table *motion; // NULL: along a coordinate
} study;

// ---- what is asked for

static int find_output(const char *name)
{
    int which = 0;
    while (which < TAL_NUM_MUSCLE_OUTPUTS &&
           strcmp(tal_muscle_output_name((tal_muscle_output)which), name) != 0) {
        ++which;
    }
    return which < TAL_NUM_MUSCLE_OUTPUTS ? which : -1;
}

static const char *output_name_at(const void *context, int i)
{
    (void)context;
    return i < TAL_NUM_MUSCLE_OUTPUTS ? tal_muscle_output_name((tal_muscle_output)i) : NULL;
}

static int choose_outputs(study *it)
{
    char *const copy = cli_copy(cli_text(it->args, "outputs"));
    char *rest = NULL;
    int code = CLI_OK;
    for (char *name = strtok_r(copy, ",", &rest);
         name != NULL && code == CLI_OK && it->num_outputs < TAL_NUM_MUSCLE_OUTPUTS;
         name = strtok_r(NULL, ",", &rest)) {
        const int which = find_output(name);
        if (which >= 0) {
            it->outputs[it->num_outputs++] = which;
            continue;
        }
        const char *const guess = tal_did_you_mean(name, output_name_at, NULL);
        code = cli_fail(it->args, CLI_USAGE, "a muscle has no output '%s'%s%s%s.", name,
                        guess != NULL ? " (did you mean '" : "", guess != NULL ? guess : "",
                        guess != NULL ? "'?)" : "");
    }
    free(copy);
    return code;
}

static void prepare(study *it)
{
    const tal_forces *const forces = it->model->forces;
    it->nu = tal_matter_nu(it->model->matter);
    it->num_columns = 1 + it->muscles.num * (it->num_outputs + it->nu);
    it->found = cli_alloc(TAL_NUM_MUSCLE_OUTPUTS, sizeof *it->found);
    it->work = cli_alloc(tal_forces_moment_arms_work_size(forces, it->state), sizeof *it->work);
    it->iwork = cli_alloc(tal_forces_moment_arms_iwork_size(forces, it->state), sizeof *it->iwork);
}

static void study_destroy(study *it)
{
    muscles_destroy(&it->muscles);
    free(it->rows);
    free(it->found);
    free(it->work);
    free(it->iwork);
    tal_state_destroy(it->state);
}

// ---- one row

// A column of the motion by a muscle's name; -1: none.
static int column_of(const study *it, tal_force_ix muscle, const char *what)
{
    int column = -1;
    if (it->motion == NULL) return column;
    for (int i = 0; i < 2 && column < 0; ++i) {
        char *const name = cli_format("%s.%s%s", tal_force_name(it->model->forces, muscle), what,
                                      i == 0 ? "" : "[0]");
        column = tal_table_find_column(it->motion, name);
        free(name);
    }
    return column;
}

static tal_status activate(study *it, tal_force_ix muscle, double activation)
{
    const tal_forces *const forces = it->model->forces;
    (void)tal_muscle_set_control(forces, it->state, muscle, activation);
    tal_status st = tal_muscle_set_activation(forces, it->state, muscle, activation);
    if (st == TAL_ERR_BAD_VALUE) st = TAL_OK; // the control is its activation
    return st;
}

// Activations, and fibers in equilibrium unless the motion has them.
static tal_status set_fibers(study *it, int row)
{
    const tal_forces *const forces = it->model->forces;
    const double asked = cli_number(it->args, "activation");
    tal_status st = TAL_OK;
    for (int k = 0; k < it->muscles.num && st == TAL_OK; ++k) {
        const tal_force_ix muscle = it->muscles.list[k];
        const int column = column_of(it, muscle, "activation");
        const double a = column >= 0 ? tal_table_value(it->motion, row, column) : asked;
        if (!isnan(a)) st = activate(it, muscle, a);
    }
    for (int k = 0; k < it->muscles.num && st == TAL_OK; ++k) {
        const tal_force_ix muscle = it->muscles.list[k];
        int column = column_of(it, muscle, "fiber_length");
        if (column < 0) column = column_of(it, muscle, "tendon_force");
        st = tal_system_realize(it->model->system, it->state, TAL_STAGE_VELOCITY);
        if (st != TAL_OK) break;
        st = column >= 0
                 ? tal_muscle_set_fiber(forces, it->state, muscle,
                                        tal_table_value(it->motion, row, column))
                 : tal_muscle_equilibrate(forces, it->state, muscle, it->motion != NULL, NULL);
    }
    return st == TAL_OK ? tal_system_realize(it->model->system, it->state, TAL_STAGE_VELOCITY) : st;
}

// Room for one more row.
static double *add_row(study *it)
{
    if (it->num_rows == it->capacity) {
        it->capacity = 2 * it->capacity + 64;
        it->rows =
            cli_resize(it->rows, (size_t)it->capacity * (size_t)it->num_columns, sizeof *it->rows);
    }
    return it->rows + (size_t)it->num_rows++ * (size_t)it->num_columns;
}

// Outputs and moment arms of all muscles where the State is; an exit code.
static int read_row(study *it, double first, int motion_row)
{
    const tal_forces *const forces = it->model->forces;
    tal_status st = set_fibers(it, motion_row);
    double *to = add_row(it);
    *to++ = first;
    for (int k = 0; k < it->muscles.num && st == TAL_OK; ++k) {
        const tal_force_ix muscle = it->muscles.list[k];
        st = tal_muscle_calc_outputs(forces, it->state, muscle, it->found);
        for (int i = 0; i < it->num_outputs; ++i) {
            *to++ = it->found[it->outputs[i]];
        }
        if (st == TAL_OK) {
            st = tal_path_calc_moment_arms(forces, it->state, tal_muscle_path(forces, muscle), to,
                                           it->work, it->iwork);
        }
        to += it->nu;
    }
    if (st == TAL_OK) return CLI_OK;
    return cli_fail_with(it->args, CLI_FAILED, tal_state_error(it->state));
}

// ---- the result

// A speed is named after its coordinate, or else after its body.
static char *name_of_speed(const study *it, int slot, const char **unit)
{
    int i = -1;
    const tal_matter *const matter = it->model->matter;
    const tal_body_ix body = tal_matter_u_owner(matter, it->state, slot, &i);
    char name[TAL_COORDINATE_NAME_SIZE] = "";
    *unit = tal_speed_is_turning(matter, it->state, body, i) ? "m" : "";
    if (tal_body_qdot_is_u(matter, body) &&
        tal_body_coordinate_name(matter, it->state, body, i, name) == TAL_OK) {
        return cli_copy(name);
    }
    return cli_format("%s.u%d", tal_body_name(matter, body), i);
}

// Is a speed among those of --arms? All are that move a muscle, when it is not given.
static bool is_asked_for(const study *it, const char *name, int column)
{
    const char *const asked = cli_text(it->args, "arms");
    const size_t length = strlen(name);
    for (const char *at = asked; at != NULL; at = strchr(at, ',')) {
        if (*at == ',') ++at;
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) {
            return true;
        }
    }
    if (asked != NULL) return false;
    for (int r = 0; r < it->num_rows; ++r) { // a picometer is round-off
        const double arm = it->rows[(size_t)r * (size_t)it->num_columns + (size_t)column];
        if (!(fabs(arm) < 1e-12)) return true;
    }
    return false;
}

// Which columns are kept, with names and units; how many, in `kept`.
static tal_status name_columns(const study *it, const char *first, const char *first_unit,
                               tal_table *table, int kept[], int *num)
{
    tal_status st = result_add_column(table, first, first_unit);
    kept[(*num)++] = 0;
    for (int k = 0, column = 1; k < it->muscles.num && st == TAL_OK; ++k) {
        const char *const muscle = tal_force_name(it->model->forces, it->muscles.list[k]);
        for (int i = 0; i < it->num_outputs && st == TAL_OK; ++i, ++column) {
            const tal_muscle_output output = (tal_muscle_output)it->outputs[i];
            char *const name = cli_format("%s.%s", muscle, tal_muscle_output_name(output));
            st = result_add_column(table, name, tal_muscle_output_unit(output));
            kept[(*num)++] = column;
            free(name);
        }
        for (int slot = 0; slot < it->nu && st == TAL_OK; ++slot, ++column) {
            const char *unit;
            char *const about = name_of_speed(it, slot, &unit);
            if (is_asked_for(it, about, column)) {
                char *const name = cli_format("%s.moment_arm.%s", muscle, about);
                st = result_add_column(table, name, unit);
                kept[(*num)++] = column;
                free(name);
            }
            free(about);
        }
    }
    return st;
}

static tal_status fill_rows(const study *it, tal_table *table, const int kept[], int num)
{
    double *const row = cli_alloc((size_t)num, sizeof *row);
    tal_status st = tal_table_reserve(table, it->num_rows);
    for (int r = 0; r < it->num_rows && st == TAL_OK; ++r) {
        for (int c = 0; c < num; ++c) {
            row[c] = it->rows[(size_t)r * (size_t)it->num_columns + (size_t)kept[c]];
        }
        st = tal_table_add_row(table, row);
    }
    free(row);
    return st;
}

// Draw the table that was written, as talus plot does.
static int draw(const study *it, const char *x)
{
    const char *const picture = cli_text(it->args, "plot");
    if (picture == NULL) return CLI_OK;
    const char *const line[] = {"plot", stream_out_path(it->args), "-o", picture, "--x", x};
    cli_args plot;
    const int code = cli_parse(6, line, &plot);
    return code == CLI_OK ? cmd_plot.run(&plot) : code;
}

static int write_result(const study *it, const char *first, const char *unit)
{
    tal_table *const table = result_create(it->args, it->model);
    if (table == NULL) return CLI_FAILED;
    int *const kept = cli_alloc((size_t)it->num_columns, sizeof *kept);
    int num = 0;
    tal_status st = name_columns(it, first, unit, table, kept, &num);
    if (st == TAL_OK) st = fill_rows(it, table, kept, num);
    int code = st == TAL_OK ? result_check_fit(it->args, table)
                            : cli_fail_status(it->args, CLI_FAILED, st);
    if (code == CLI_OK) code = result_write(it->args, table);
    if (code == CLI_OK) result_report(it->args, table);
    if (code == CLI_OK) code = draw(it, first);
    free(kept);
    tal_table_destroy(table);
    return code;
}

// ---- along a coordinate

// From where to where: --from and --to, or the range of the coordinate. An exit code.
static int find_ends(const cli_args *args, cli_slide *slide)
{
    const double from = cli_number(args, "from"), to = cli_number(args, "to");
    if (!isnan(from)) slide->low = from;
    if (!isnan(to)) slide->high = to;
    if (isfinite(slide->low) && isfinite(slide->high)) return CLI_OK;
    return cli_fail(args, CLI_USAGE, "coordinate '%s' has no range: give --from and --to.",
                    slide->name);
}

static int follow_coordinate(study *it, const char *name)
{
    cli_slide slide;
    const int rows = cli_count(it->args, "rows");
    int code = muscles_slide_of(it->args, it->model, name, &slide);
    if (code == CLI_OK) code = find_ends(it->args, &slide);
    for (int r = 0; r < rows && code == CLI_OK; ++r) {
        const double share = rows > 1 ? (double)r / (rows - 1) : 0.0;
        const double value = slide.low + share * (slide.high - slide.low);
        const tal_status st = muscles_slide_to(it->model, it->state, &slide, value);
        code = st == TAL_OK ? read_row(it, value, r)
                            : cli_fail_with(it->args, CLI_FAILED, tal_state_error(it->state));
    }
    return code == CLI_OK ? write_result(it, slide.name, slide.unit) : code;
}

// ---- along a motion

static tal_status pose(study *it, const cli_rates *rates, double u[], int row)
{
    const tal_matter *const matter = it->model->matter;
    const size_t at = (size_t)row * (size_t)rates->nq;
    (void)tal_state_set_t(it->state, rates->times[row]);
    (void)tal_state_set_q(it->state, rates->q + at, rates->nq);
    (void)tal_matter_normalize_quaternions(matter, it->state);
    tal_status st = tal_system_realize(it->model->system, it->state, TAL_STAGE_POSITION);
    if (st == TAL_OK) st = tal_matter_mul_N(matter, it->state, TAL_NPLUS, rates->qdot + at, u);
    if (st == TAL_OK) st = tal_state_set_u(it->state, u, it->nu);
    return st == TAL_OK ? tal_system_realize(it->model->system, it->state, TAL_STAGE_VELOCITY) : st;
}

static int follow_motion(study *it)
{
    cli_rates rates = {.num = 0};
    double *const u = cli_alloc((size_t)it->nu, sizeof *u);
    int code = rates_find(it->args, it->model, it->state, it->motion, it->args->files[1],
                          cli_number(it->args, "cutoff"), &rates);
    for (int r = 0; r < rates.num && code == CLI_OK; ++r) {
        const tal_status st = pose(it, &rates, u, r);
        code = st == TAL_OK ? read_row(it, rates.times[r], r)
                            : cli_fail_with(it->args, CLI_FAILED, tal_state_error(it->state));
    }
    if (code == CLI_OK) code = write_result(it, "time", "s");
    rates_destroy(&rates);
    free(u);
    return code;
}

// ---- the command

static int run_study(study *it)
{
    const char *const over = cli_text(it->args, "over");
    int code = muscles_choose(it->args, it->model, cli_text(it->args, "muscles"), &it->muscles);
    if (code == CLI_OK && it->muscles.num == 0) {
        code = cli_fail(it->args, CLI_FAILED, "%s has no muscles.", it->model->path);
    }
    if (code == CLI_OK) code = choose_outputs(it);
    if (code == CLI_OK) code = cli_realize(it->args, it->model, it->state, TAL_STAGE_VELOCITY);
    if (code != CLI_OK) return code;
    prepare(it);
    return over != NULL ? follow_coordinate(it, over) : follow_motion(it);
}

static int check_command_line(const cli_args *args)
{
    if ((cli_text(args, "over") != NULL) == (args->num_files > 1)) {
        return cli_fail(args, CLI_USAGE, "give either a MOTION or --over and a coordinate.");
    }
    if (cli_text(args, "plot") != NULL && cli_text(args, "out") == NULL) {
        return cli_fail(args, CLI_USAGE, "--plot needs -o, a file for the table that it draws.");
    }
    return result_check_out(args, false);
}

static int run(const cli_args *args)
{
    cli_model model;
    tal_table *motion = NULL;
    int code = check_command_line(args);
    if (code != CLI_OK) return code;
    code = cli_model_read(args, args->files[0], NULL, 0, &model);
    if (code == CLI_OK && args->num_files > 1) code = result_read(args, args->files[1], &motion);
    if (code == CLI_OK) {
        study it = {
            .args = args, .model = &model, .state = cli_state_copy(args, &model), .motion = motion};
        code = it.state != NULL ? run_study(&it) : CLI_FAILED;
        study_destroy(&it);
    }
    tal_table_destroy(motion);
    cli_model_destroy(&model);
    return code;
}

static const cli_option options[] = {
    {.name = "over",
     .kind = CLI_TEXT,
     .value = "COORDINATE",
     .help = "move this coordinate through its range; the others keep their initial values",
     .is_setting = true},
    {.name = "from",
     .kind = CLI_NUMBER,
     .value = "NUMBER",
     .help = "first value of the coordinate, in rad or m; default: the lower end of its range",
     .is_setting = true},
    {.name = "to",
     .kind = CLI_NUMBER,
     .value = "NUMBER",
     .help = "last value of the coordinate; default: the upper end of its range",
     .is_setting = true},
    {.name = "rows",
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "101",
     .help = "number of values of the coordinate",
     .is_setting = true},
    {.name = "muscles",
     .letter = 'm',
     .kind = CLI_TEXT,
     .value = "LIST",
     .help = "names of muscles, separated by commas; default: all",
     .is_setting = true},
    {.name = "outputs",
     .kind = CLI_TEXT,
     .value = "LIST",
     .initial = "length,tendon_force",
     .help = "outputs of each muscle besides moment arms, as in <muscle_output>",
     .is_setting = true},
    {.name = "arms",
     .kind = CLI_TEXT,
     .value = "LIST",
     .help = "coordinates of the moment arms; default: all that change the length of the muscle",
     .is_setting = true},
    {.name = "activation",
     .kind = CLI_NUMBER,
     .value = "NUMBER",
     .help = "activation of all muscles, 0 to 1; default: their initial activations",
     .is_setting = true},
    {.name = "cutoff",
     .kind = CLI_NUMBER,
     .value = "HERTZ",
     .initial = "0",
     .help = "smooth the coordinates of MOTION first, as for talus id; 0: off",
     .is_setting = true},
    {.name = "plot",
     .kind = CLI_TEXT,
     .value = "FILE",
     .help = "also plot the table into this file"},
    {0}};

const cli_command cmd_muscles = {
    .name = "muscles",
    .group = CLI_STUDIES,
    .files = "MODEL [MOTION]",
    .min_files = 1,
    .max_files = 2,
    .summary = "write lengths, moment arms and forces of muscles",
    .about =
        "Moves one coordinate through its range (--over), or follows MOTION, a table of time and "
        "coordinates. Fibers are in equilibrium with their tendons: at rest with --over, with the "
        "speeds of the motion otherwise. If MOTION has columns of activations and fiber lengths, as "
        "talus simulate -c z writes them, these are used instead. A moment arm is positive where the "
        "muscle gets shorter as the coordinate grows; constraints move other coordinates with it.",
    .common = MODEL_OPTIONS | CLI_RESULT | CLI_OUT | CLI_AGAIN | CLI_FORMAT,
    .options = options,
    .example = "talus muscles arm.talus --over elbow -o arms.csv --plot arms.svg",
    .example_help = "moment arms through the range of the elbow",
    .run = run};
