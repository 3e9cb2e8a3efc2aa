// talus id: the forces behind a motion.
#include "angles.h"
#include "commands.h"
#include "progress.h"
#include "result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Coordinates as functions of time, and room for one row.
typedef struct study {
    const cli_args *args;
    const cli_model *model;
    tal_state *state;
    int nq, nu, nb, m;
    tal_function **curves; // [nq] NULL for a coordinate that keeps its value
    double *rates;         // [nq] qdot, then what is left of qdotdot
    double *rest;          // [nq]
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
    it->curves = cli_alloc(nq, sizeof *it->curves);
    it->rates = cli_alloc(nq, sizeof *it->rates);
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
    for (int i = 0; i < it->nq; ++i) {
        tal_function_destroy(it->curves[i]);
    }
    free(it->curves);
    free(it->rates);
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

// The curve of one coordinate through the rows of a table. An exit code.
static int fit_curve(study *it, const tal_table *motion, int slot, const double times[], double y[])
{
    int i = -1;
    char name[TAL_COORDINATE_NAME_SIZE];
    const tal_matter *const matter = it->model->matter;
    const tal_body_ix body = tal_matter_q_owner(matter, it->state, slot, &i);
    if (tal_body_coordinate_name(matter, it->state, body, i, name) != TAL_OK) return CLI_FAILED;
    const int column = tal_table_find_column(motion, name);
    if (column < 0) {
        cli_warn(it->args, "%s has no column '%s'; it keeps its value.", it->args->files[1], name);
        return CLI_OK;
    }
    const bool turns = tal_table_in_degrees(motion) && cli_is_angle(it->model, it->state, body, i);
    const double unit = turns ? acos(-1.0) / 180.0 : 1.0;
    for (int r = 0; r < tal_table_num_rows(motion); ++r) {
        y[r] = unit * tal_table_value(motion, r, column);
    }
    tal_error err = {0};
    if (tal_function_create_quintic_spline(NULL, times, y, tal_table_num_rows(motion),
                                           &it->curves[slot], &err) == TAL_OK) {
        return CLI_OK;
    }
    return cli_fail(it->args, CLI_BAD_FILE, "%s, column '%s': %s", it->args->files[1], name,
                    err.message);
}

static int fit_curves(study *it, const tal_table *motion)
{
    const int rows = tal_table_num_rows(motion);
    if (rows < 3 || strcmp(tal_table_column_name(motion, 0), "time") != 0) {
        return cli_fail(it->args, CLI_BAD_FILE,
                        "%s should have a column 'time' first, and three rows or more.",
                        it->args->files[1]);
    }
    double *const times = cli_alloc((size_t)rows, sizeof *times);
    double *const y = cli_alloc((size_t)rows, sizeof *y);
    for (int r = 0; r < rows; ++r) {
        times[r] = tal_table_value(motion, r, 0);
    }
    int code = CLI_OK;
    for (int slot = 0; slot < it->nq && code == CLI_OK; ++slot) {
        code = fit_curve(it, motion, slot, times, y);
    }
    free(times);
    free(y);
    return code;
}

static double curve_at(const study *it, int slot, double t, int order)
{
    if (it->curves[slot] != NULL) {
        return tal_function_calc_derivative_1(it->curves[slot], t, order);
    }
    return order == 0 ? tal_state_q(it->model->state)[slot] : 0.0;
}

// Put the State where the motion is at a time: q from the curves, u = N^+ qdot, and
// udot = N^+ (qdotdot - Ndot u).
static tal_status pose(study *it, double t)
{
    const tal_matter *const matter = it->model->matter;
    tal_state *const s = it->state;
    for (int i = 0; i < it->nq; ++i) {
        it->rest[i] = curve_at(it, i, t, 0);
        it->rates[i] = curve_at(it, i, t, 1);
    }
    (void)tal_state_set_t(s, t);
    (void)tal_state_set_q(s, it->rest, it->nq);
    (void)tal_matter_normalize_quaternions(matter, s);
    tal_status st = tal_system_realize(it->model->system, s, TAL_STAGE_POSITION);
    if (st == TAL_OK) st = tal_matter_mul_N(matter, s, TAL_NPLUS, it->rates, it->udot);
    if (st == TAL_OK) st = tal_state_set_u(s, it->udot, it->nu);
    if (st == TAL_OK) st = tal_system_realize(it->model->system, s, TAL_STAGE_VELOCITY);
    if (st == TAL_OK) st = tal_matter_mul_N(matter, s, TAL_NDOT, tal_state_u(s), it->rest);
    for (int i = 0; i < it->nq; ++i) {
        it->rates[i] = curve_at(it, i, t, 2) - it->rest[i];
    }
    return st == TAL_OK ? tal_matter_mul_N(matter, s, TAL_NPLUS, it->rates, it->udot) : st;
}

// The forces of the model where the State is, their moments shifted from Mo to Bo.
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
    for (int b = 0; b < it->nb && st == TAL_OK; ++b) {
        const tal_body_ix body = {b};
        const tal_mat3 R_GB = tal_body_X_GB(model->matter, it->state, body).R;
        const tal_vec3 p_BM = tal_body_X_BM(model->matter, it->state, body).p;
        const tal_vec3 p_BM_G = tal_m3_mul_v3(R_GB, p_BM);
        it->F_GB[b].w = tal_v3_add(it->F_GB[b].w, tal_v3_cross(p_BM_G, it->F_GB[b].v));
    }
    free(which);
    return st;
}

static tal_status find_forces(study *it, double t)
{
    const tal_matter *const matter = it->model->matter;
    const bool alone = cli_flag(it->args, "no-forces");
    tal_status st = pose(it, t);
    if (st == TAL_OK && !alone) st = sum_forces(it);
    if (st != TAL_OK) return st;
    const tal_spatial_vec *const F_GB = alone ? NULL : it->F_GB;
    const double *const f = alone ? NULL : it->f;
    it->row[0] = t;
    if (it->m == 0) {
        return tal_matter_inverse_dynamics(matter, it->state, it->udot, F_GB, f, it->row + 1);
    }
    return tal_matter_constrained_inverse_dynamics(matter, it->state, it->udot, F_GB, f, it->lambda,
                                                   it->row + 1, it->work, it->iwork);
}

static tal_status name_columns(const study *it, tal_table *table)
{
    tal_status st = tal_table_add_column(table, "time");
    for (int slot = 0; slot < it->nu && st == TAL_OK; ++slot) {
        int i = -1;
        char name[TAL_COORDINATE_NAME_SIZE + 8];
        const tal_body_ix body = tal_matter_u_owner(it->model->matter, it->state, slot, &i);
        snprintf(name, sizeof name, "%s.f%d", tal_body_name(it->model->matter, body), i);
        st = tal_table_add_column(table, name);
    }
    return st;
}

static int go_through(study *it, const tal_table *motion)
{
    tal_table *const table = result_create(it->args, it->model);
    if (table == NULL) return CLI_FAILED;
    const int rows = tal_table_num_rows(motion);
    progress told;
    progress_begin(&told, it->args, "rows", false, 0.0, (double)rows);
    tal_status st = name_columns(it, table);
    int r = 0;
    for (; r < rows && st == TAL_OK && progress_tell(&told, (double)r); ++r) {
        st = find_forces(it, tal_table_value(motion, r, 0));
        if (st == TAL_OK) st = tal_table_add_row(table, it->row);
    }
    progress_end(&told, (double)r);
    int code = CLI_OK;
    if (st != TAL_OK) {
        result_mark_incomplete(table, "failed");
        code = cli_fail_with(it->args, CLI_FAILED, tal_state_error(it->state));
    } else if (r < rows) {
        result_mark_incomplete(table, "interrupted");
        code = cli_fail(it->args, CLI_FAILED, "interrupted after %d of %d rows.", r, rows);
    }
    const int written = result_write(it->args, table);
    tal_table_destroy(table);
    return written != CLI_OK ? written : code;
}

static int follow(const cli_args *args, const cli_model *model, const tal_table *motion)
{
    study it = {.args = args, .model = model, .state = cli_state_copy(args, model)};
    if (it.state == NULL) return CLI_FAILED;
    int code = cli_realize(args, model, it.state, TAL_STAGE_POSITION);
    if (code == CLI_OK) {
        prepare(&it);
        code = fit_curves(&it, motion);
    }
    if (code == CLI_OK) code = go_through(&it, motion);
    study_destroy(&it);
    return code;
}

int cmd_id(const cli_args *args)
{
    cli_model model;
    tal_table *motion = NULL;
    int code = result_check_out(args, NULL);
    if (code != CLI_OK) return code;
    code = cli_model_read(args, args->files[0], NULL, 0, &model);
    if (code == CLI_OK) code = result_read(args, args->files[1], &motion);
    if (code == CLI_OK) code = follow(args, &model, motion);
    tal_table_destroy(motion);
    cli_model_destroy(&model);
    return code;
}
