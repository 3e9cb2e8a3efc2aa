// Following a motion: window by window, the controls that lead back to it.
#include "follow/foresight_internal.h"
#include "follow/target_internal.h"
#include "problem/study_internal.h"

#include <talus/study/integrator.h>

#include <math.h>
#include <string.h>

static const double node_distance = 2.5e-3; // of nodes of the motion in a window [s]
static const double ramp_step = 1e-3;       // of controls that go in a straight line [s]
static const double first_window = 0.03;    // in which muscles find their first forces [s]
static const double instant = 1e-8;         // the same without muscles [s]
static const double least_difference = 1.0; // of forces between least and full excitation [N]

struct tal_follower {
    const tal_system *system;
    const tal_matter *matter;
    const tal_forces *forces;
    tal_allocator allocator;
    tal_follower_def def; // its arrays are those of the target
    tali_target target;
    tali_foresight foresight;
    tal_integrator *integ;
    tal_state *ahead; // a copy of the caller's, at times of the window
    void *block;
    size_t block_bytes;
    int nq, nu, num_muscles;
    int *column;             // [num_muscles] of the target
    double *q, *u, *udot;    // of the motion, and of nodes
    double *dq, *du;         // errors at the beginning of the window
    double *error;           // [nu] errors of position, along speeds
    double *wanted;          // [nt]
    double *from, *controls; // [n] at the ends of the window
    bool has_controls;       // there was a window before
    tal_follower_window window;
    tal_error error_record;
};

tal_follower_task tal_follower_task_default(void)
{
    const tal_follower_task task = {.kp = 100.0, .kv = 20.0, .ka = 1.0, .weight = 1.0};
    return task;
}

tal_follower_def tal_follower_def_default(void)
{
    const tal_follower_def def = {.window = 0.010, .least_excitation = 0.02, .accuracy = 1e-5};
    return def;
}

// --- creation ---

// Everything but the tasks and the actuators, which the target checks.
static tal_status check_def(const tal_system *system, const tal_forces *forces,
                            const tal_follower_def *def, tal_error *err)
{
    const tal_status st = tali_problem_check_has_matter(system, err);
    if (st != TAL_OK) return st;
    if (forces == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "the forces are NULL");
    if (tal_forces_matter(forces) != tal_system_matter(system)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "the forces belong to another System");
    }
    if (def == NULL || def->calc_desired == NULL) {
        return TALI_FAIL(err, TAL_ERR_NULL, "there is no motion to follow");
    }
    if (def->num_tasks < 0 || (def->num_tasks > 0 && def->tasks == NULL)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there are %d tasks", def->num_tasks);
    }
    if (!(def->window > 0.0 && def->window <= 1.0)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "the window is %g s; it must be above 0, up to 1 s", def->window);
    }
    if (!(def->least_excitation >= 0.0 && def->least_excitation < 1.0)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "the least excitation is %g; it must be from 0 to below 1",
                         def->least_excitation);
    }
    return TAL_OK;
}

static tal_status take_memory(tal_follower *it, tal_error *err)
{
    const size_t nq = (size_t)tal_system_pool_capacity(it->system, TAL_POOL_Q);
    const size_t nu = (size_t)it->nu, d = sizeof(double);
    const size_t n = (size_t)it->target.n, nt = (size_t)it->target.nt;
    const tali_piece pieces[] = {
        {&it->column, n * sizeof *it->column},
        {&it->q, nq * d},
        {&it->u, nu * d},
        {&it->udot, nu * d},
        {&it->dq, nq * d},
        {&it->du, nu * d},
        {&it->error, nu * d},
        {&it->wanted, nt * d},
        {&it->from, n * d},
        {&it->controls, n * d},
    };
    it->block = tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    return it->block != NULL ? TAL_OK
                             : TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a follower");
}

// The muscles among the drives look ahead. On entry: no muscles yet.
static tal_status make_foresight(tal_follower *it, tal_error *err)
{
    const tali_drives *drives = &it->target.drives;
    tal_force_ix *muscles = tali_alloc(&it->allocator, (size_t)drives->n * sizeof *muscles);
    if (muscles == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a follower");
    for (int j = 0; j < drives->n; ++j) {
        if (!drives->columns[j].is_muscle) continue;
        it->column[it->num_muscles] = j;
        muscles[it->num_muscles++] = drives->columns[j].force;
    }
    const tal_status st = tali_foresight_create(&it->foresight, it->system, it->forces, muscles,
                                                it->num_muscles, err);
    tali_free(&it->allocator, muscles, (size_t)drives->n * sizeof *muscles);
    return st;
}

static tal_status make_integrator(tal_follower *it, tal_error *err)
{
    tal_integrator_def def = tal_integrator_def_default();
    def.accuracy = it->def.accuracy;
    def.max_step = it->def.max_step;
    return tal_integrator_create(it->system, &def, &it->integ, err);
}

static tal_status prepare(tal_follower *it, tal_error *err)
{
    tal_status st = tali_target_create(&it->target, it->system, it->forces, &it->def, err);
    if (st == TAL_OK && it->target.n == 0) {
        st = TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                       "System '%s' has no muscle and no actuator that could move it",
                       tal_system_name(it->system));
    }
    if (st == TAL_OK) st = take_memory(it, err);
    if (st == TAL_OK) st = make_foresight(it, err);
    if (st == TAL_OK) st = make_integrator(it, err);
    if (st == TAL_OK) st = tal_state_create(it->system, &it->ahead, err);
    return st;
}

tal_status tal_follower_create(const tal_system *system, const tal_forces *forces,
                               const tal_follower_def *def, tal_follower **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "out is NULL");
    *out = NULL;
    tal_status st = check_def(system, forces, def, err);
    if (st != TAL_OK) return st;
    const tal_allocator allocator = tal_system_allocator(system);
    tal_follower *it = tali_alloc(&allocator, sizeof *it);
    if (it == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a follower");
    it->system = system;
    it->matter = tal_system_matter(system);
    it->forces = forces;
    it->allocator = allocator;
    it->def = *def;
    it->nu = tal_matter_nu(it->matter);
    it->window.task = -1;
    st = prepare(it, err);
    if (st != TAL_OK) {
        tal_follower_destroy(it);
        return st;
    }
    *out = it;
    return TAL_OK;
}

void tal_follower_destroy(tal_follower *follower)
{
    if (follower == NULL) return;
    const tal_allocator allocator = follower->allocator;
    tal_state_destroy(follower->ahead);
    tal_integrator_destroy(follower->integ);
    tali_foresight_destroy(&follower->foresight);
    tali_target_destroy(&follower->target);
    tali_free(&allocator, follower->block, follower->block_bytes);
    tali_free(&allocator, follower, sizeof *follower);
}

// --- what was found ---

int tal_follower_num(const tal_follower *follower)
{
    if (follower != NULL) return follower->target.n;
    (void)TALI_BREACH(TAL_ERR_NULL, "the study is NULL");
    return -1;
}

tal_force_ix tal_follower_actuator(const tal_follower *follower, int j, int *part)
{
    if (follower == NULL || j < 0 || j >= follower->target.n) {
        (void)TALI_BREACH(follower == NULL ? TAL_ERR_NULL : TAL_ERR_BAD_INDEX,
                          "there is no control %d", j);
        return (tal_force_ix){-1};
    }
    if (part != NULL) *part = follower->target.drives.columns[j].part;
    return follower->target.drives.columns[j].force;
}

const double *tal_follower_controls(const tal_follower *follower)
{
    if (follower != NULL) return follower->controls;
    (void)TALI_BREACH(TAL_ERR_NULL, "the study is NULL");
    return NULL;
}

const double *tal_follower_forces(const tal_follower *follower)
{
    if (follower != NULL) return follower->target.force;
    (void)TALI_BREACH(TAL_ERR_NULL, "the study is NULL");
    return NULL;
}

tal_follower_window tal_follower_report(const tal_follower *follower)
{
    const tal_follower_window none = {.task = -1};
    if (follower != NULL) return follower->window;
    (void)TALI_BREACH(TAL_ERR_NULL, "the study is NULL");
    return none;
}

const tal_error *tal_follower_error(const tal_follower *follower)
{
    static const tal_error none = {TAL_ERR_NULL, "", "the study is NULL"};
    return follower != NULL ? &follower->error_record : &none;
}

// --- the motion ---

static tal_status pass_on(tal_follower *it, const tal_state *state, tal_status st)
{
    if (st == TAL_OK || it->error_record.status == st) return st;
    return TALI_FAIL(&it->error_record, st, "%s", tali_problem_reason(state, st));
}

// A State to look ahead with.
static tal_status copy_ahead(tal_follower *it, const tal_state *state)
{
    const tal_status st = tal_state_copy(it->ahead, state);
    if (st != TAL_OK) return TALI_FAIL(&it->error_record, st, "the State is of another System");
    it->nq = tal_matter_nq(it->matter, it->ahead);
    return TAL_OK;
}

// q, u and udot of the motion.
static tal_status ask_motion(tal_follower *it, double t)
{
    const tal_status st = it->def.calc_desired(it->def.context, t, it->q, it->u, it->udot);
    if (st != TAL_OK) {
        return TALI_FAIL(&it->error_record, st, "the motion failed at t = %g (%s)", t,
                         tal_status_text(st));
    }
    for (int i = 0; i < it->nq + 2 * it->nu; ++i) {
        const int k = i - it->nq;
        const double value = k < 0 ? it->q[i] : k < it->nu ? it->u[k] : it->udot[k - it->nu];
        if (isfinite(value)) continue;
        return TALI_FAIL(&it->error_record, TAL_ERR_NOT_FINITE,
                         "the motion has a number at t = %g that is not finite: %s %d", t,
                         k < 0        ? "q"
                         : k < it->nu ? "u"
                                      : "udot",
                         k < 0 ? i : k % it->nu);
    }
    return TAL_OK;
}

// A State on the motion, with the errors of the beginning where `off`.
static tal_status place(tal_follower *it, tal_state *state, double t, bool off)
{
    tal_status st = ask_motion(it, t);
    if (st != TAL_OK) return st;
    for (int i = 0; i < it->nq && off; ++i) {
        it->q[i] += it->dq[i];
    }
    for (int i = 0; i < it->nu && off; ++i) {
        it->u[i] += it->du[i];
    }
    st = tal_state_set_t(state, t);
    if (st == TAL_OK) st = tal_state_set_q(state, it->q, it->nq);
    if (st == TAL_OK) st = tal_state_set_u(state, it->u, it->nu);
    if (st == TAL_OK) st = tal_system_prescribe_and_project(it->system, state, NULL, NULL);
    return pass_on(it, state, st);
}

// Errors of a State: dq = q - q(t), du = u - u(t); along speeds N^+ dq.
static tal_status find_errors(tal_follower *it, tal_state *state)
{
    tal_status st = ask_motion(it, tal_state_t(state));
    if (st == TAL_OK) st = tal_system_realize(it->system, state, TAL_STAGE_VELOCITY);
    if (st != TAL_OK) return pass_on(it, state, st);
    for (int i = 0; i < it->nq; ++i) {
        it->dq[i] = tal_state_q(state)[i] - it->q[i];
    }
    for (int i = 0; i < it->nu; ++i) {
        it->du[i] = tal_state_u(state)[i] - it->u[i];
    }
    st = tal_matter_mul_N(it->matter, state, TAL_NPLUS, it->dq, it->error);
    return pass_on(it, state, st);
}

tal_status tal_follower_calc_errors(tal_follower *follower, const tal_state *state,
                                    double position[], double speed[])
{
    tal_follower *it = follower;
    if (it == NULL) return TALI_BREACH(TAL_ERR_NULL, "the study is NULL");
    if (state == NULL || (position == NULL && it->target.nt > 0)) {
        return TALI_BREACH(TAL_ERR_NULL, "a State or an array is NULL");
    }
    it->error_record = (tal_error){TAL_OK, "", ""};
    tal_status st = copy_ahead(it, state);
    if (st == TAL_OK) st = find_errors(it, it->ahead);
    for (int i = 0; i < it->target.nt && st == TAL_OK; ++i) {
        position[i] = -it->error[it->target.speed[i]];
        if (speed != NULL) speed[i] = -it->du[it->target.speed[i]];
    }
    return st;
}

// --- the forces of a window ---

// a* at its end, from errors at its beginning; how much effort counts.
static tal_status find_wanted(tal_follower *it, double end, double *worth)
{
    *worth = 1.0;
    const tal_status st = ask_motion(it, end);
    for (int i = 0; i < it->target.nt && st == TAL_OK; ++i) {
        const tal_follower_task *task = &it->target.tasks[i];
        const int k = it->target.speed[i];
        it->wanted[i] = task->ka * it->udot[k] - task->kv * it->du[k] - task->kp * it->error[k];
        if (task->limit == 0.0) continue;
        const double beyond = (fabs(it->error[k]) - task->limit) / (0.1 * task->limit);
        *worth = fmin(*worth, 1.0 / (1.0 + exp(beyond)));
    }
    return st;
}

// Paths of muscles along the motion; `ahead` is at the end of the window then.
static tal_status look_ahead(tal_follower *it, double begin, double end)
{
    const int most = TALI_FORESIGHT_MAX_NODES - 1;
    const double wish = ceil((end - begin) / node_distance);
    const int n = it->num_muscles == 0 ? 1 : wish < 1.0 ? 1 : wish < most ? (int)wish : most;
    tal_status st = tal_system_realize(it->system, it->ahead, TAL_STAGE_VELOCITY);
    if (st == TAL_OK) st = tali_foresight_begin(&it->foresight, it->ahead);
    if (st != TAL_OK) return pass_on(it, it->ahead, st);
    for (int k = it->num_muscles == 0 ? 1 : 0; k <= n && st == TAL_OK; ++k) {
        const double t = k == n ? end : begin + (end - begin) * k / n;
        st = place(it, it->ahead, t, true);
        if (st == TAL_OK) st = tali_foresight_add_node(&it->foresight, t, it->ahead);
    }
    return pass_on(it, it->ahead, st);
}

// The range of a muscle's excitation.
static void excitations(const tal_follower *it, int m, double *least, double *most)
{
    const int j = it->column[m];
    *most = it->target.drives.upper[j];
    *least = fmin(fmax(it->target.drives.lower[j], it->def.least_excitation), *most);
}

// The forces that muscles can reach. Where excitation hardly matters, the least one is taken.
static tal_status find_reach(tal_follower *it)
{
    it->window.num_weak = 0;
    for (int m = 0; m < it->num_muscles; ++m) {
        const int j = it->column[m];
        double least, most;
        excitations(it, m, &least, &most);
        double *low = &it->target.least[j], *high = &it->target.most[j];
        *low = tali_foresight_tension(&it->foresight, m, least, NULL);
        *high = tali_foresight_tension(&it->foresight, m, most, NULL);
        if (!isfinite(*low) || !isfinite(*high)) {
            return TALI_FAIL(&it->error_record, TAL_ERR_NOT_FINITE,
                             "muscle '%s' has no force at the end of the window that begins at t = "
                             "%g",
                             tal_force_name(it->forces, it->target.drives.columns[j].force),
                             it->foresight.times[0]);
        }
        if (*high - *low >= least_difference) continue;
        *high = *low;
        it->window.num_weak += 1;
    }
    return TAL_OK;
}

// Controls that give the forces of the target.
static void find_controls(tal_follower *it)
{
    const tali_target *target = &it->target;
    for (int j = 0; j < target->n; ++j) {
        const double strength = target->drives.strength[j];
        it->controls[j] = strength != 0.0 ? target->force[j] / strength : 0.0;
    }
    for (int m = 0; m < it->num_muscles; ++m) {
        const int j = it->column[m];
        double least, most;
        excitations(it, m, &least, &most);
        const bool is_weak = !(target->most[j] > target->least[j]);
        it->controls[j] =
            is_weak ? least
                    : tali_foresight_excitation(&it->foresight, m, least, most, target->force[j]);
    }
}

// The controls for a window that begins at a State. TAL_ERR_INFEASIBLE: the nearest ones.
static tal_status solve_window(tal_follower *it, const tal_state *state, double length)
{
    const double begin = tal_state_t(state), end = begin + length;
    double worth;
    tal_status st = copy_ahead(it, state);
    if (st == TAL_OK) st = find_errors(it, it->ahead);
    if (st == TAL_OK) st = find_wanted(it, end, &worth);
    if (st == TAL_OK) st = look_ahead(it, begin, end);
    if (st == TAL_OK) st = pass_on(it, it->ahead, tali_target_lay(&it->target, it->ahead));
    if (st == TAL_OK) st = find_reach(it);
    if (st != TAL_OK) return st;
    st = tali_target_solve(&it->target, it->wanted, worth, &it->window, &it->error_record);
    if (st == TAL_OK || st == TAL_ERR_INFEASIBLE) find_controls(it);
    return st;
}

// --- controls of a State ---

// Each between its two ends, at a part of the window; muscles at the end.
static tal_status put_controls(tal_follower *it, tal_state *state, double part)
{
    const tali_drives *drives = &it->target.drives;
    tal_status st = TAL_OK;
    for (int j = 0; j < drives->n && st == TAL_OK; ++j) {
        const tali_drive *column = &drives->columns[j];
        const double to = it->controls[j];
        const double x = column->is_muscle ? to : it->from[j] + part * (to - it->from[j]);
        st = column->is_body ? tal_force_set_param(it->forces, state, column->force,
                                                   TAL_BODY_ACTUATOR_CONTROL + column->part, x)
                             : tal_actuator_set_control(it->forces, state, column->force, x);
    }
    return pass_on(it, state, st);
}

// Integrate to the end, with controls in steps along their lines.
static tal_status cross_window(tal_follower *it, tal_state *state)
{
    const double begin = tal_state_t(state), length = it->def.window;
    const bool has_ramps = it->target.n > it->num_muscles;
    const int n = has_ramps ? (int)ceil(length / ramp_step - 1e-9) : 1;
    tal_status st = TAL_OK;
    if (!it->has_controls) memcpy(it->from, it->controls, (size_t)it->target.n * sizeof *it->from);
    for (int k = 0; k < n && st == TAL_OK; ++k) {
        st = put_controls(it, state, (k + 0.5) / n);
        if (st != TAL_OK) return st;
        st = tal_integrator_step_to(it->integ, state, begin + length * (k + 1) / n);
    }
    if (st != TAL_OK) {
        return TALI_FAIL(&it->error_record, st, "%s", tal_integrator_error(it->integ)->message);
    }
    memcpy(it->from, it->controls, (size_t)it->target.n * sizeof *it->from);
    it->has_controls = true;
    return put_controls(it, state, 1.0);
}

// After a window in which the actuators were too weak.
static tal_status complain(tal_follower *it, double t)
{
    const tal_follower_window *window = &it->window;
    char name[TAL_COORDINATE_NAME_SIZE] = "";
    if (window->task < 0) return TAL_OK; // nothing that counts
    const tal_mobility at = it->target.tasks[window->task].mobility;
    (void)tal_body_coordinate_name(it->matter, it->ahead, at.body, at.i, name);
    return TALI_FAIL(&it->error_record, TAL_ERR_INFEASIBLE,
                     "the actuators are too weak at t = %g: the acceleration of '%s' lacks %.4g", t,
                     name, window->lack);
}

// --- a run ---

// Muscles in equilibrium at these activations.
static tal_status settle(tal_follower *it, tal_state *state, const double activations[])
{
    tal_status st = TAL_OK;
    for (int m = 0; m < it->num_muscles && st == TAL_OK; ++m) {
        const tal_force_ix muscle = it->foresight.muscles[m];
        double a = it->def.least_excitation;
        if (activations != NULL) a = activations[it->column[m]];
        st = tal_actuator_set_control(it->forces, state, muscle, a);
        tali_muscle_alone alone;
        if (st != TAL_OK || !tali_muscle_alone_of(it->forces, state, muscle, &alone)) break;
        if (alone.slot[TALI_MUSCLE_ACTIVATION] < 0) continue;
        st = tal_muscle_set_activation(it->forces, state, muscle, a);
    }
    if (st == TAL_OK) st = tal_system_realize(it->system, state, TAL_STAGE_VELOCITY);
    for (int m = 0; m < it->num_muscles && st == TAL_OK; ++m) {
        st = tal_muscle_equilibrate(it->forces, state, it->foresight.muscles[m], false, NULL);
        if (st == TAL_OK) st = tal_system_realize(it->system, state, TAL_STAGE_VELOCITY);
    }
    return pass_on(it, state, st);
}

// Two windows, from muscles at rest; then z as they are at the end of the second one.
static tal_status find_first_forces(tal_follower *it, tal_state *state)
{
    tal_status st = settle(it, state, NULL);
    for (int pass = 0; pass < 2 && st == TAL_OK; ++pass) {
        if (pass == 1) st = settle(it, state, it->controls);
        if (st == TAL_OK) st = solve_window(it, state, first_window);
        if (st == TAL_ERR_INFEASIBLE) st = TAL_OK; // the first window says so again
    }
    if (st == TAL_OK) st = place(it, state, tal_state_t(state) + first_window, false);
    for (int m = 0; m < it->num_muscles && st == TAL_OK; ++m) {
        double z[TALI_MUSCLE_NUM_Z];
        (void)tali_foresight_tension(&it->foresight, m, it->controls[it->column[m]], z);
        tali_foresight_put(&it->foresight, m, z, state);
    }
    return st;
}

tal_status tal_follower_start(tal_follower *follower, tal_state *state)
{
    tal_follower *it = follower;
    if (it == NULL) return TALI_BREACH(TAL_ERR_NULL, "the study is NULL");
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    it->error_record = (tal_error){TAL_OK, "", ""};
    memset(it->target.lambda, 0, (size_t)it->target.nt * sizeof(double));
    it->has_controls = false;
    tal_integrator_reset(it->integ);
    tal_status st = copy_ahead(it, state);
    if (st == TAL_OK) st = place(it, state, tal_state_t(state), false);
    if (st != TAL_OK) return st;
    st = it->num_muscles > 0 ? find_first_forces(it, state) : solve_window(it, state, instant);
    const bool is_weak = st == TAL_ERR_INFEASIBLE;
    if (st != TAL_OK && !is_weak) return st;
    it->error_record = (tal_error){TAL_OK, "", ""};
    memcpy(it->from, it->controls, (size_t)it->target.n * sizeof *it->from);
    it->has_controls = true;
    st = put_controls(it, state, 1.0);
    if (st == TAL_OK) {
        st = pass_on(it, state, tal_system_realize(it->system, state, TAL_STAGE_ACCELERATION));
    }
    return st == TAL_OK && is_weak ? complain(it, tal_state_t(state)) : st;
}

tal_status tal_follower_step(tal_follower *follower, tal_state *state)
{
    tal_follower *it = follower;
    if (it == NULL) return TALI_BREACH(TAL_ERR_NULL, "the study is NULL");
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    it->error_record = (tal_error){TAL_OK, "", ""};
    tal_status st = solve_window(it, state, it->def.window);
    const bool is_weak = st == TAL_ERR_INFEASIBLE;
    if (st != TAL_OK && !is_weak) return st;
    it->error_record = (tal_error){TAL_OK, "", ""};
    const double begin = tal_state_t(state);
    st = cross_window(it, state);
    if (st == TAL_OK) {
        st = pass_on(it, state, tal_system_realize(it->system, state, TAL_STAGE_ACCELERATION));
    }
    return st == TAL_OK && is_weak ? complain(it, begin) : st;
}
