// talus id: the forces behind a motion.
#include "commands/commands.h"
#include "table/loads.h"
#include "table/rates.h"
#include "table/result.h"
#include "text/progress.h"

#include <stdlib.h>
#include <string.h>

// The motion, and room for one row.
typedef struct study {
    const cli_args *args;
    const cli_model *model;
    tal_state *state;
    int nq, nu, nb, m;
    cli_rates rates;
    cli_loads loads;
    double *rest;          // [nq] qdotdot - Ndot u
    double *udot, *f;      // [nu]
    double *row;           // [1 + nu]
    tal_spatial_vec *F_GB; // [nb] about Bo
    double *lambda, *work;
    int *iwork;
} study;

static void prepare(study *it)
{
    tal_state *const s = it->state;
    it->nq = tal_state_nq(s);
    it->nu = tal_matter_nu(it->model->matter);
    it->nb = tal_matter_num_bodies(it->model->matter);
    it->m = tal_state_pool_size(s, TAL_POOL_UDOTERR);
    const size_t nq = (size_t)it->nq, nu = (size_t)it->nu;
    it->rest = cli_alloc(nq, sizeof *it->rest);
    it->udot = cli_alloc(nu, sizeof *it->udot);
    it->f = cli_alloc(nu, sizeof *it->f);
    it->row = cli_alloc(nu + 1, sizeof *it->row);
    it->F_GB = cli_alloc((size_t)it->nb, sizeof *it->F_GB);
    it->lambda = cli_alloc((size_t)it->m, sizeof *it->lambda);
    it->work = cli_alloc(tal_matter_dense_work_size(it->model->matter, s), sizeof *it->work);
    it->iwork = cli_alloc(tal_matter_dense_iwork_size(it->model->matter, s), sizeof *it->iwork);
}

static void study_destroy(study *it)
{
    rates_destroy(&it->rates);
    loads_destroy(&it->loads);
    free(it->rest);
    free(it->udot);
    free(it->f);
    free(it->row);
    free(it->F_GB);
    free(it->lambda);
    free(it->work);
    free(it->iwork);
    tal_state_destroy(it->state);
}

// Put the State where the motion is in a row: q, u = N^+ qdot, and udot = N^+ (qdotdot - Ndot u).
static tal_status pose(study *it, int row)
{
    const tal_matter *const matter = it->model->matter;
    tal_state *const s = it->state;
    const size_t at = (size_t)row * (size_t)it->nq;
    (void)tal_state_set_t(s, it->rates.times[row]);
    (void)tal_state_set_q(s, it->rates.q + at, it->nq);
    (void)tal_matter_normalize_quaternions(matter, s);
    tal_status st = tal_system_realize(it->model->system, s, TAL_STAGE_POSITION);
    if (st == TAL_OK) st = tal_matter_mul_N(matter, s, TAL_NPLUS, it->rates.qdot + at, it->udot);
    if (st == TAL_OK) st = tal_state_set_u(s, it->udot, it->nu);
    if (st == TAL_OK) st = tal_system_realize(it->model->system, s, TAL_STAGE_VELOCITY);
    if (st == TAL_OK) st = tal_matter_mul_N(matter, s, TAL_NDOT, tal_state_u(s), it->rest);
    for (int i = 0; i < it->nq; ++i) {
        it->rest[i] = it->rates.qdotdot[at + (size_t)i] - it->rest[i];
    }
    return st == TAL_OK ? tal_matter_mul_N(matter, s, TAL_NPLUS, it->rest, it->udot) : st;
}

// The forces of the model where the State is.
static tal_status sum_forces(study *it)
{
    const cli_model *const model = it->model;
    tal_status st = TAL_OK;
    tal_force_ix *const which = cli_alloc((size_t)tal_forces_num(model->forces), sizeof *which);
    int n = 0;
    for (int i = 0; i < tal_forces_num(model->forces); ++i) {
        const tal_force_ix force = {i};
        if (tal_force_is_enabled(model->forces, it->state, force)) which[n++] = force;
    }
    st = tal_forces_calc_sum(model->forces, it->state, which, n, it->F_GB, it->f);
    free(which);
    return st;
}

// The forces that the motion of one row takes, besides those of the model and the loads; an exit
// code.
static int find_forces(study *it, int row)
{
    const tal_matter *const matter = it->model->matter;
    tal_status st = pose(it, row);
    memset(it->F_GB, 0, (size_t)it->nb * sizeof *it->F_GB);
    memset(it->f, 0, (size_t)it->nu * sizeof *it->f);
    if (st == TAL_OK && !cli_flag(it->args, "no-forces")) st = sum_forces(it);
    if (st != TAL_OK) return cli_fail_with(it->args, CLI_FAILED, tal_state_error(it->state));
    const int code = loads_add(it->args, &it->loads, it->model, it->state, it->F_GB);
    if (code != CLI_OK) return code;
    it->row[0] = it->rates.times[row];
    st =
        it->m == 0
            ? tal_matter_inverse_dynamics(matter, it->state, it->udot, it->F_GB, it->f, it->row + 1)
            : tal_matter_constrained_inverse_dynamics(matter, it->state, it->udot, it->F_GB, it->f,
                                                      it->lambda, it->row + 1, it->work, it->iwork);
    return st == TAL_OK ? CLI_OK : cli_fail_with(it->args, CLI_FAILED, tal_state_error(it->state));
}

// A force is named after its coordinate, as in OpenSim: "knee_moment", "pelvis_tx_force"; that of a
// speed which is not the rate of a coordinate after its body: "boat.u3_force".
static void name_force(const study *it, tal_body_ix body, int i, bool turns, char name[],
                       size_t size)
{
    char speed[TAL_COORDINATE_NAME_SIZE];
    const tal_matter *const matter = it->model->matter;
    snprintf(speed, sizeof speed, "%s.u%d", tal_body_name(matter, body), i);
    if (tal_body_qdot_is_u(matter, body)) {
        (void)tal_body_coordinate_name(matter, it->state, body, i, speed);
    }
    snprintf(name, size, "%s_%s", speed, turns ? "moment" : "force");
}

static tal_status name_columns(const study *it, tal_table *table)
{
    tal_status st = tal_table_add_column(table, "time");
    const char **const units = cli_alloc((size_t)it->nu + 1, sizeof *units);
    units[0] = "s";
    for (int slot = 0; slot < it->nu && st == TAL_OK; ++slot) {
        int i = -1;
        char name[TAL_COORDINATE_NAME_SIZE + 8];
        const tal_body_ix body = tal_matter_u_owner(it->model->matter, it->state, slot, &i);
        const bool turns = tal_speed_is_turning(it->model->matter, it->state, body, i);
        name_force(it, body, i, turns, name, sizeof name);
        st = tal_table_add_column(table, name);
        units[slot + 1] = turns ? "N m" : "N";
    }
    if (st == TAL_OK) st = result_set_units(table, 0, units, it->nu + 1);
    free(units);
    return st;
}

// An empty table for all rows; an exit code.
static int make_table(const study *it, tal_table **out)
{
    tal_table *const table = result_create(it->args, it->model);
    if (table == NULL) return CLI_FAILED;
    tal_status st = name_columns(it, table);
    if (st == TAL_OK) st = tal_table_reserve(table, it->rates.num);
    const int code = st == TAL_OK ? result_check_fit(it->args, table)
                                  : cli_fail_status(it->args, CLI_FAILED, st);
    if (code == CLI_OK) {
        *out = table;
    } else {
        tal_table_destroy(table);
    }
    return code;
}

// Find the forces of all rows, and write them; what is done before an interrupt is kept.
static int find_all_forces(study *it)
{
    tal_table *table = NULL;
    int code = make_table(it, &table);
    if (code != CLI_OK) return code;
    const int rows = it->rates.num;
    progress told;
    progress_begin(&told, it->args, "rows", false, 0.0, (double)rows);
    int r = 0;
    for (; r < rows && code == CLI_OK && progress_tell(&told, (double)r); ++r) {
        code = find_forces(it, r);
        if (code == CLI_OK && tal_table_add_row(table, it->row) != TAL_OK) {
            code = cli_fail_status(it->args, CLI_FAILED, TAL_ERR_NO_MEMORY);
        }
    }
    progress_end(&told, (double)r);
    if (code != CLI_OK) {
        code = result_write_part(it->args, table, "failed");
    } else if (r < rows) {
        (void)cli_fail(it->args, CLI_FAILED, "interrupted after %d of %d rows.", r, rows);
        code = result_write_part(it->args, table, "interrupted");
    } else {
        code = result_write(it->args, table);
        if (code == CLI_OK) result_report(it->args, table);
    }
    tal_table_destroy(table);
    return code;
}

static int follow_motion(const cli_args *args, const cli_model *model, const tal_table *motion)
{
    study it = {.args = args, .model = model, .state = cli_state_copy(args, model)};
    if (it.state == NULL) return CLI_FAILED;
    int code = cli_realize(args, model, it.state, TAL_STAGE_POSITION);
    if (code == CLI_OK) {
        prepare(&it);
        code = rates_find(args, model, it.state, motion, args->files[1], cli_number(args, "cutoff"),
                          &it.rates);
    }
    if (code == CLI_OK) code = loads_read(args, model, &it.loads);
    if (code == CLI_OK) {
        loads_check_times(args, &it.loads, it.rates.times[0], it.rates.times[it.rates.num - 1]);
        code = find_all_forces(&it);
    }
    study_destroy(&it);
    return code;
}

static int run(const cli_args *args)
{
    cli_model model;
    tal_table *motion = NULL;
    if (cli_number(args, "cutoff") < 0.0) {
        return cli_fail(args, CLI_USAGE, "--cutoff needs a positive number, not %g.",
                        cli_number(args, "cutoff"));
    }
    int code = result_check_out(args, false);
    if (code != CLI_OK) return code;
    code = cli_model_read(args, args->files[0], NULL, 0, &model);
    if (code == CLI_OK) code = result_read(args, args->files[1], &motion);
    if (code == CLI_OK) code = follow_motion(args, &model, motion);
    tal_table_destroy(motion);
    cli_model_destroy(&model);
    return code;
}

static const cli_option options[] = {
    {.name = "no-forces",
     .kind = CLI_FLAG,
     .help = "ignore the forces of the model, gravity included",
     .is_setting = true},
    {.name = "cutoff",
     .kind = CLI_NUMBER,
     .value = "HERTZ",
     .initial = "0",
     .help =
         "smooth the coordinates first, with a Butterworth low-pass filter forward and backward, which is less accurate at the ends; 0: off",
     .is_setting = true},
    {.name = "external",
     .letter = 'x',
     .kind = CLI_TEXT,
     .value = "FILE",
     .help = "a table of measured loads, for example of force plates",
     .is_setting = true},
    {.name = "load",
     .letter = 'l',
     .kind = CLI_LIST,
     .value = "BODY=FORCE,POINT,TORQUE",
     .help =
         "which columns of --external act on which body: their names without the final x, y, z; in ground [N, m, N m]. Without POINT: at the origin of the body; can be repeated",
     .is_setting = true},
    {0}};

const cli_command cmd_id = {
    .name = "id",
    .group = CLI_STUDIES,
    .files = "MODEL MOTION",
    .min_files = 2,
    .max_files = 2,
    .summary = "find the forces behind a motion",
    .about =
        "MOTION is a table of time and coordinates, as written by talus ik or talus simulate. A "
        "coordinate without a column keeps its value. Angles are in degrees if the table says so. "
        "Speeds and accelerations come from polynomials through nine rows, which amplify noise: use "
        "--cutoff for measured motions, 6 Hz for walking. The result has one force for each speed: "
        "the force that is needed besides the forces of the model.",
    .common = MODEL_OPTIONS | CLI_RESULT | CLI_OUT | CLI_AGAIN | CLI_FORMAT,
    .options = options,
    .example = "talus id pendulum.talus swing.sto -o forces.sto",
    .example_help = "moments at the joints",
    .run = run};
