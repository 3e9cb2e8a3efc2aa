// talus id: the forces behind a motion.
#include "angles.h"
#include "commands.h"
#include "progress.h"
#include "rates.h"
#include "result.h"

#include <stdlib.h>

// The motion, and room for one row.
typedef struct study {
    const cli_args *args;
    const cli_model *model;
    tal_state *state;
    int nq, nu, nb, m;
    cli_rates rates;
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

static tal_status find_forces(study *it, int row)
{
    const tal_matter *const matter = it->model->matter;
    const bool alone = cli_flag(it->args, "no-forces");
    tal_status st = pose(it, row);
    if (st == TAL_OK && !alone) st = sum_forces(it);
    if (st != TAL_OK) return st;
    const tal_spatial_vec *const F_GB = alone ? NULL : it->F_GB;
    const double *const f = alone ? NULL : it->f;
    it->row[0] = it->rates.times[row];
    if (it->m == 0) {
        return tal_matter_inverse_dynamics(matter, it->state, it->udot, F_GB, f, it->row + 1);
    }
    return tal_matter_constrained_inverse_dynamics(matter, it->state, it->udot, F_GB, f, it->lambda,
                                                   it->row + 1, it->work, it->iwork);
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
        snprintf(name, sizeof name, "%s.f%d", tal_body_name(it->model->matter, body), i);
        st = tal_table_add_column(table, name);
        units[slot + 1] = cli_is_turning(it->model, it->state, body, i) ? "N m" : "N";
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
    tal_status st = TAL_OK;
    int r = 0;
    for (; r < rows && st == TAL_OK && progress_tell(&told, (double)r); ++r) {
        st = find_forces(it, r);
        if (st == TAL_OK) st = tal_table_add_row(table, it->row);
    }
    progress_end(&told, (double)r);
    if (st != TAL_OK) {
        (void)cli_fail_with(it->args, CLI_FAILED, tal_state_error(it->state));
        code = result_write_part(it->args, table, "failed");
    } else if (r < rows) {
        (void)cli_fail(it->args, CLI_FAILED, "interrupted after %d of %d rows.", r, rows);
        code = result_write_part(it->args, table, "interrupted");
    } else {
        code = result_write(it->args, table);
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
    if (code == CLI_OK) code = find_all_forces(&it);
    study_destroy(&it);
    return code;
}

int cmd_id(const cli_args *args)
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
