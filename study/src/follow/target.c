// Forces that give wanted accelerations with the least effort.
//
// a = P f + ..., P = M^-1 - M^-1 G^T W^+ G M^-1 (manual eq. 8.43). P is symmetric, so that one
// product for each task gives the accelerations of all forces.
#include "follow/target_internal.h"
#include "problem/study_internal.h"

#include <math.h>
#include <string.h>

static const double weak = 1e-3; // strength of a muscle that counts at least, over F0

// --- memory ---

// A speed that is there, numbers that make sense, and no task about it twice.
static tal_status check_task(const tal_matter *matter, const tal_follower_def *def, int i,
                             tal_error *err)
{
    const tal_follower_task *task = &def->tasks[i];
    const tal_body_ix body = task->mobility.body;
    if (body.i < 1 || body.i >= tal_matter_num_bodies(matter) || task->mobility.i < 0 ||
        task->mobility.i >= tal_body_nu(matter, body)) {
        return TALI_FAIL(err, TAL_ERR_BAD_INDEX, "task %d: there is no speed %d of body %d", i,
                         task->mobility.i, body.i);
    }
    const double gains[] = {task->kp, task->kv, task->ka, task->limit};
    for (int k = 0; k < 4; ++k) {
        if (isfinite(gains[k]) && gains[k] >= 0.0) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "task %d: a gain or the limit is %g", i, gains[k]);
    }
    if (!(task->weight > 0.0 && isfinite(task->weight))) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "task %d: its weight is %g, not positive", i,
                         task->weight);
    }
    for (int k = 0; k < i; ++k) {
        const tal_mobility other = def->tasks[k].mobility;
        if (other.body.i != body.i || other.i != task->mobility.i) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "tasks %d and %d are about the same speed", k, i);
    }
    return TAL_OK;
}

// All arrays in one block.
static tal_status take_memory(tali_target *it, tal_error *err)
{
    const size_t n = (size_t)it->n, nt = (size_t)it->nt, nu = (size_t)it->nu, d = sizeof(double);
    const size_t all = n + nt;
    const size_t m = (size_t)tal_system_pool_capacity(it->system, TAL_POOL_UDOTERR);
    const tali_piece pieces[] = {
        {&it->tasks, nt * sizeof *it->tasks},
        {&it->speed, nt * sizeof *it->speed},
        {&it->P, nu * nt * d},
        {&it->b, nt * d},
        {&it->least, n * d},
        {&it->most, n * d},
        {&it->unit, n * d},
        {&it->A, nt * all * d},
        {&it->rhs, nt * d},
        {&it->lambda, nt * d},
        {&it->lack, nt * d},
        {&it->lower, all * d},
        {&it->upper, all * d},
        {&it->x, all * d},
        {&it->force, n * d},
        {&it->aerr, m * d},
        {&it->multipliers, m * d},
        {&it->f, nu * d},
        {&it->back, nu * d},
        {&it->work, tal_effort_work_size(it->nt, (int)all) * d},
    };
    it->block = tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    return it->block != NULL ? TAL_OK
                             : TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for %d tasks", it->nt);
}

tal_status tali_target_create(tali_target *it, const tal_system *system, const tal_forces *forces,
                              const tal_follower_def *def, tal_error *err)
{
    *it = (tali_target){.system = system, .is_soft = def->is_soft, .nt = def->num_tasks};
    it->matter = tal_system_matter(system);
    it->allocator = tal_system_allocator(system);
    it->nu = tal_matter_nu(it->matter);
    tal_status st = TAL_OK;
    for (int i = 0; i < it->nt && st == TAL_OK; ++i) {
        st = check_task(it->matter, def, i, err);
    }
    if (st == TAL_OK) {
        st = tali_drives_create(&it->drives, system, forces, def->actuators, def->num_actuators,
                                err);
    }
    it->n = it->drives.n;
    if (st == TAL_OK) st = take_memory(it, err);
    for (int i = 0; i < it->nt && st == TAL_OK; ++i) {
        const tal_mobility at = def->tasks[i].mobility;
        it->tasks[i] = def->tasks[i];
        it->speed[i] = tal_body_u_start(it->matter, at.body) + at.i;
    }
    return st;
}

void tali_target_destroy(tali_target *it)
{
    tali_drives_destroy(&it->drives);
    tali_free(&it->allocator, it->block, it->block_bytes);
    it->block = NULL;
}

// --- at a State ---

// P e_i of a task: what it gets of any generalized force.
static tal_status find_row(tali_target *it, tal_state *state, int i)
{
    double *row = it->P + (size_t)i * (size_t)it->nu;
    const tal_constraint_rows rows = tal_matter_constraint_rows(it->matter, state);
    memset(it->f, 0, (size_t)it->nu * sizeof *it->f);
    it->f[it->speed[i]] = 1.0;
    tal_status st = tal_matter_mul_Minv(it->matter, state, it->f, row);
    if (st != TAL_OK || rows.mp + rows.mv + rows.ma == 0) return st;
    st = tal_matter_mul_G(it->matter, state, TAL_G, row, it->aerr);
    if (st == TAL_OK)
        st = tal_matter_calc_multipliers(it->matter, state, it->aerr, it->multipliers);
    if (st == TAL_OK) st = tal_matter_mul_GT(it->matter, state, TAL_G, it->multipliers, it->f);
    if (st == TAL_OK) st = tal_matter_mul_Minv(it->matter, state, it->f, it->back);
    for (int k = 0; k < it->nu && st == TAL_OK; ++k) {
        row[k] -= it->back[k];
    }
    return st;
}

// Controls must be what the study makes them: nothing else may add to them.
static tal_status check_controls(const tali_target *it, tal_state *state)
{
    const tal_forces *forces = it->drives.forces;
    for (int j = 0; j < it->n; ++j) {
        const tal_force_ix force = it->drives.columns[j].force;
        if (it->drives.columns[j].is_body || !it->drives.is_enabled[j]) continue;
        tal_status st = tal_actuator_set_control_range(forces, state, force, (double)-INFINITY,
                                                       (double)INFINITY);
        if (st == TAL_OK) st = tal_actuator_set_control(forces, state, force, 0.0);
        if (st != TAL_OK) return st;
        if (tal_actuator_control(forces, state, force) == 0.0) continue;
        return tal_state_fail(state, TAL_ERR_BAD_VALUE,
                              "a controller or a measure adds to the control of '%s': disable it",
                              tal_force_name(forces, force));
    }
    return TAL_OK;
}

static tal_status disable_drives(const tali_target *it, tal_state *state)
{
    tal_status st = TAL_OK;
    for (int j = 0; j < it->n && st == TAL_OK; ++j) {
        st = tal_force_set_enabled(it->drives.forces, state, it->drives.columns[j].force, false);
    }
    return st == TAL_OK ? tal_system_realize(it->system, state, TAL_STAGE_ACCELERATION) : st;
}

// Which force counts as an effort of one.
static void set_units(tali_target *it, const tal_state *state)
{
    const tali_drives *drives = &it->drives;
    for (int j = 0; j < it->n; ++j) {
        it->unit[j] = drives->strength[j];
        if (!drives->columns[j].is_muscle || !drives->is_enabled[j]) continue;
        const double F0 =
            tal_force_param(drives->forces, state, drives->columns[j].force, TAL_MUSCLE_MAX_FORCE);
        it->unit[j] = it->is_soft ? F0 : fmax(it->unit[j], weak * F0);
    }
}

tal_status tali_target_lay(tali_target *it, tal_state *state)
{
    tal_status st = tali_drives_find(&it->drives, state);
    if (st != TAL_OK) return st;
    set_units(it, state);
    for (int j = 0; j < it->n; ++j) { // muscles are the caller's
        it->least[j] = it->drives.lower[j] * it->drives.strength[j];
        it->most[j] = it->drives.upper[j] * it->drives.strength[j];
    }
    st = check_controls(it, state);
    if (st == TAL_OK) st = disable_drives(it, state);
    const tal_group_ix group =
        tal_system_find_group(it->system, tal_matter_subsystem(it->matter), TAL_POOL_U, "u");
    for (int i = 0; i < it->nt && st == TAL_OK; ++i) {
        it->b[i] = tal_state_udot(state)[tal_group_start(it->system, state, group) + it->speed[i]];
        st = find_row(it, state, i);
    }
    return st;
}

// --- the problem ---

static double dot(const double a[], const double b[], int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

static bool is_free(const tali_target *it, const double row[])
{
    for (int k = 0; k < it->nu; ++k) {
        if (row[k] != 0.0) return true;
    }
    return false;
}

// Columns of drives; behind them, if soft, what each acceleration may lack: r_i sqrt(worth / w_i)
// of a unit, whose square counts as effort. A prescribed speed is not asked for more.
static void set_up(tali_target *it, const double wanted[], double worth)
{
    const size_t nt = (size_t)it->nt;
    for (int i = 0; i < it->nt; ++i) {
        const double *row = it->P + (size_t)i * (size_t)it->nu;
        it->rhs[i] = is_free(it, row) ? wanted[i] - it->b[i] : 0.0;
        for (int j = 0; j < it->n; ++j) {
            const double *unit = it->drives.unit + (size_t)j * (size_t)it->nu;
            it->A[(size_t)j * nt + (size_t)i] = dot(row, unit, it->nu) * it->unit[j];
        }
    }
    for (int j = 0; j < it->n; ++j) {
        const double f = it->unit[j];
        it->lower[j] = f > 0.0 ? it->least[j] / f : 0.0;
        it->upper[j] = f > 0.0 ? it->most[j] / f : 0.0;
        if (f < 0.0) { // a gain that turns the control round
            it->lower[j] = it->drives.lower[j];
            it->upper[j] = it->drives.upper[j];
        }
    }
    for (int i = 0; i < it->nt && it->is_soft; ++i) {
        const size_t j = (size_t)it->n + (size_t)i;
        memset(it->A + j * nt, 0, nt * sizeof *it->A);
        it->A[j * nt + (size_t)i] = sqrt(worth / it->tasks[i].weight);
        it->lower[j] = (double)-INFINITY;
        it->upper[j] = (double)INFINITY;
    }
}

// The task whose acceleration lacks most, as a part of what it takes.
static void report(const tali_target *it, tal_follower_window *window)
{
    double most = 0.0;
    for (int i = 0; i < it->nt; ++i) {
        const double part = fabs(it->lack[i]) / (1.0 + fabs(it->rhs[i]));
        if (part <= most) continue;
        most = part;
        window->task = i;
        window->lack = it->lack[i];
    }
}

tal_status tali_target_solve(tali_target *it, const double wanted[], double worth,
                             tal_follower_window *window, tal_error *err)
{
    const int all = it->n + (it->is_soft ? it->nt : 0);
    set_up(it, wanted, worth);
    const tal_effort_problem problem = {.A = tal_matrix_view(it->A, it->nt, all),
                                        .b = it->rhs,
                                        .lower = it->lower,
                                        .upper = it->upper,
                                        .exponent = 2.0};
    const tal_status st =
        tal_effort_solve(&problem, it->lambda, it->x, it->lack, it->work, &window->report, err);
    window->task = -1;
    if (st == TAL_ERR_INFEASIBLE) report(it, window);
    for (int j = 0; j < it->n; ++j) {
        it->force[j] = it->x[j] * it->unit[j];
    }
    return st;
}
