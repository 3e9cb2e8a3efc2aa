// Sensitivities of a trajectory: creation, runs, and what is read at their end.
#include "problem/fixed_step_internal.h"
#include "problem/study_internal.h"
#include "sensitivity/sensitivity_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

// --- creation ---

tal_sensitivity_def tal_sensitivity_def_default(void)
{
    return (tal_sensitivity_def){.step = 0.01, .max_steps = 10000, .max_events = 100};
}

static tal_status check_parameters(const tal_sensitivity_def *def, tal_error *err)
{
    if (def->num_parameters < 0 || (def->num_parameters > 0 && def->parameters == NULL)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there are %d parameters%s", def->num_parameters,
                         def->num_parameters > 0 ? ", but no array of them" : "");
    }
    for (int i = 0; i < def->num_parameters; ++i) {
        if (def->parameters[i].set != NULL) continue;
        return TALI_FAIL(err, TAL_ERR_NULL, "parameter %d has no `set`", i);
    }
    return TAL_OK;
}

// Numbers that make sense, and go together.
static tal_status check_def(const tal_sensitivity_def *def, tal_error *err)
{
    tal_status st = check_parameters(def, err);
    if (st == TAL_OK) st = tali_problem_check_positive(def->step, false, "step", err);
    if (st == TAL_OK) st = tali_problem_check_positive(def->accuracy, true, "accuracy", err);
    if (st == TAL_OK && def->accuracy > 0.0 && def->accuracy < DBL_EPSILON) {
        st = TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                       "accuracy is %g: in double precision it must be at least %g", def->accuracy,
                       DBL_EPSILON);
    }
    if (st == TAL_OK && (def->max_steps < 1 || def->max_events < 1)) {
        st = TALI_FAIL(err, TAL_ERR_BAD_VALUE, "max_steps %d and max_events %d must be positive",
                       def->max_steps, def->max_events);
    }
    if (st == TAL_OK && def->tableau != NULL) st = tal_rk_check(def->tableau, err);
    if (st == TAL_OK && def->accuracy > 0.0 && def->tableau != NULL &&
        def->tableau->b_hat == NULL) {
        st = TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                       "'%s' has no embedded solution: it cannot choose steps by an accuracy",
                       def->tableau->name != NULL ? def->tableau->name : "the tableau");
    }
    if (st == TAL_OK && def->accuracy > 0.0 && def->steps_of != NULL) {
        st = TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                       "steps are those of another study: accuracy must be 0, not %g",
                       def->accuracy);
    }
    return st;
}

// One block for all arrays, and what exact Jacobians need.
static bool take_memory(tal_sensitivity *it)
{
    const tal_system *system = it->problem.system;
    const size_t np = (size_t)it->np, s = (size_t)it->tableau->stages, d = sizeof(double);
    const size_t nu = (size_t)tal_system_pool_capacity(system, TAL_POOL_U);
    const size_t ny = (size_t)tal_system_pool_capacity(system, TAL_POOL_Q) + nu +
                      (size_t)tal_system_pool_capacity(system, TAL_POOL_Z);
    const size_t ne = (size_t)it->num_events, back = it->def.gradients ? 1 : 0;
    const size_t events = (size_t)it->def.max_events, lists = back == 1 ? events : 1;
    const size_t steps = (size_t)it->def.max_steps;
    const tali_piece pieces[] = {{&it->parameters, np * sizeof *it->parameters},
                                 {&it->values, np * d},
                                 {&it->scales, np * d},
                                 {&it->is_start, np * sizeof *it->is_start},
                                 {&it->end_slopes, np * d},
                                 {&it->known_u, nu * sizeof *it->known_u},
                                 {&it->e, ny * d},
                                 {&it->y0, ny * d},
                                 {&it->Y, ny * d},
                                 {&it->room, ny * d},
                                 {&it->sum, ny * d},
                                 {&it->along, ny * d},
                                 {&it->error, ny * d},
                                 {&it->weighed, ny * d},
                                 {&it->f0, ny * d},
                                 {&it->f1, ny * d},
                                 {&it->end, ny * d},
                                 {&it->k, s * ny * d},
                                 {&it->Y_of, s * ny * d},
                                 {&it->S, np * ny * d},
                                 {&it->S_out, np * ny * d},
                                 {&it->kS, s * np * ny * d},
                                 {&it->J, ny * ny * d},
                                 {&it->columns, ny * sizeof *it->columns},
                                 {&it->watches, ne * sizeof *it->watches},
                                 {&it->lists, lists * ne * sizeof *it->lists},
                                 {&it->events, events * sizeof *it->events},
                                 {&it->steps, steps * sizeof *it->steps},
                                 {&it->kept, back * (events + 1) * sizeof *it->kept},
                                 {&it->y_of, back * steps * ny * d},
                                 {&it->w_of, back * s * ny * d},
                                 {&it->lambda, ny * d},
                                 {&it->lambda_of, ny * d},
                                 {&it->unit, ny * d}};
    it->block = tali_alloc_pieces(&it->problem.allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    return it->block != NULL && tali_problem_slopes_create(&it->slopes, &it->problem);
}

static tal_status create_states(tal_sensitivity *it, tal_error *err)
{
    const tal_system *system = it->problem.system;
    tal_status st = tal_state_create(system, &it->moved, err);
    if (st == TAL_OK) st = tal_state_create(system, &it->before, err);
    if (st == TAL_OK && it->def.gradients) st = tal_state_create(system, &it->trial, err);
    if (st == TAL_OK && it->def.gradients) st = tal_state_create(system, &it->start, err);
    const int most = it->num_events > 0 ? it->def.max_events + 1 : 1;
    while (it->def.gradients && it->num_kept < most && st == TAL_OK) {
        st = tal_state_create(system, &it->kept[it->num_kept], err);
        it->num_kept += st == TAL_OK;
    }
    return st;
}

// Parameters that only the start depends on, and what is watched.
static void copy_def(tal_sensitivity *it)
{
    const tal_parameter q = tal_parameter_q("", NULL, TAL_GROUND, 0);
    const tal_parameter u = tal_parameter_u("", NULL, TAL_GROUND, 0);
    for (int i = 0; i < it->np; ++i) {
        it->parameters[i] = it->def.parameters[i];
        it->is_start[i] = it->parameters[i].set == q.set || it->parameters[i].set == u.set;
    }
    it->def.parameters = it->parameters;
    it->problem.y0 = it->y0;
    it->problem.error = it->error;
    it->problem.weighed = it->weighed;
    const tal_system *system = it->problem.system;
    for (int i = 0; i < it->num_events; ++i) {
        tali_sensitivity_watch *watch = &it->watches[i];
        watch->def = tal_event_declared(system, (tal_event_ix){i});
        const bool has_witness = watch->def.trigger.i >= 0 && !watch->def.reports;
        watch->stage = has_witness ? tal_group_stage(system, watch->def.trigger) : TAL_STAGE_EMPTY;
    }
}

tal_status tal_sensitivity_create(const tal_system *system, const tal_sensitivity_def *def,
                                  tal_sensitivity **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    tal_error local;
    if (err == NULL) err = &local;
    *err = (tal_error){TAL_OK, "", ""};
    tal_status st = tali_problem_check_has_matter(system, err);
    if (st != TAL_OK) return st;
    const tal_sensitivity_def chosen = def != NULL ? *def : tal_sensitivity_def_default();
    st = check_def(&chosen, err);
    if (st != TAL_OK) return st;
    const tal_allocator allocator = tal_system_allocator(system);
    tal_sensitivity *it = tali_alloc(&allocator, sizeof *it);
    if (it == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for sensitivities");
    tal_integrator_def integrator = tal_integrator_def_default();
    if (chosen.accuracy > 0.0) integrator.accuracy = chosen.accuracy;
    *it = (tal_sensitivity){.problem = tali_problem_of(system, &integrator)};
    it->problem.realizations = &it->realizations;
    it->def = chosen;
    it->np = chosen.num_parameters;
    it->num_events = tal_system_num_events(system);
    it->tableau = chosen.tableau != NULL ? chosen.tableau : tal_rk_dormand_prince();
    st = take_memory(it) ? create_states(it, err)
                         : TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for sensitivities");
    if (st != TAL_OK) {
        tal_sensitivity_destroy(it);
        return st;
    }
    copy_def(it);
    *out = it;
    return TAL_OK;
}

void tal_sensitivity_destroy(tal_sensitivity *it)
{
    if (it == NULL) return;
    const tal_allocator allocator = it->problem.allocator;
    for (int i = 0; i < it->num_kept; ++i) {
        tal_state_destroy(it->kept[i]);
    }
    tali_problem_slopes_destroy(&it->slopes, &allocator);
    tali_free(&allocator, it->block, it->block_bytes);
    tal_state_destroy(it->start);
    tal_state_destroy(it->trial);
    tal_state_destroy(it->before);
    tal_state_destroy(it->moved);
    tali_free(&allocator, it, sizeof *it);
}

const tal_error *tal_sensitivity_error(const tal_sensitivity *it)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_sensitivity_error", "the study is NULL"};
    return it != NULL ? &it->problem.error_record : &none;
}

tal_sensitivity_stats tal_sensitivity_statistics(const tal_sensitivity *it)
{
    if (it == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the study is NULL");
        return (tal_sensitivity_stats){0, 0, 0, 0};
    }
    tal_sensitivity_stats stats = it->stats;
    stats.rates = it->realizations;
    return stats;
}

// --- the start ---

void tali_sensitivity_look(tal_sensitivity *it, const tal_state *state)
{
    const tal_matter *matter = it->problem.matter;
    const tal_constraint_rows rows = tal_matter_constraint_rows(matter, state);
    it->needs_projection = rows.mp + rows.mv > 0;
    memset(it->known_u, 0, (size_t)tal_state_nu(state) * sizeof *it->known_u);
    bool has_known = false;
    for (int b = 1; b < tal_matter_num_bodies(matter); ++b) {
        const tal_body_ix body = {b};
        const bool has_quaternion =
            tal_body_nq(matter, state, body) != tal_body_nq_angles(matter, body);
        it->needs_projection = it->needs_projection || has_quaternion;
        for (int j = 0; j < tal_body_nu(matter, body); ++j) {
            const tal_mobility mobility = {body, j};
            has_known = has_known || tal_mobility_level(matter, state, mobility) != TAL_LEVEL_FREE;
        }
    }
    it->needs_projection = it->needs_projection || has_known;
    it->problem.slopes = has_known ? NULL : &it->slopes;
}

tal_status tali_sensitivity_start_slopes(tal_sensitivity *it, const tal_state *state, int p,
                                         double out[])
{
    tal_status st = TAL_OK;
    memset(out, 0, (size_t)it->ny * sizeof *out);
    for (int k = 0; k < TALI_SENSITIVITY_POINTS && st == TAL_OK; ++k) {
        st = tal_state_copy(it->moved, state);
        const double by = tali_sensitivity_h * tali_sensitivity_at[k];
        if (st == TAL_OK) {
            st = tali_sensitivity_set_parameter(it, it->moved, p,
                                                it->values[p] + by * it->scales[p]);
        }
        if (st == TAL_OK) st = tali_sensitivity_settle_start(it, it->moved);
        for (int i = 0; i < it->ny && st == TAL_OK; ++i) {
            out[i] += tali_sensitivity_weight[k] / tali_sensitivity_h * tal_state_y(it->moved)[i];
        }
    }
    return st;
}

tal_status tali_sensitivity_start(tal_sensitivity *it, tal_state *state, const double values[])
{
    it->problem.error_record = (tal_error){TAL_OK, "", ""};
    it->has_run = it->has_ended = false;
    it->stats = (tal_sensitivity_stats){0, 0, 0, 0};
    it->realizations = 0;
    it->num_steps = it->num_happened = 0;
    it->h = it->def.step;
    if (it->def.accuracy > 0.0) {
        const double power = 1.0 / (it->tableau->embedded_order + 1);
        it->h =
            fmin(it->h, tal_system_time_scale(it->problem.system) * pow(it->def.accuracy, power));
    }
    it->t_done = nextafter(tal_state_t(state), -(double)INFINITY);
    tal_status st = TAL_OK;
    for (int p = 0; p < it->np && st == TAL_OK; ++p) {
        it->values[p] = values[p];
        it->scales[p] = values[p] != 0.0 ? fabs(values[p]) : 1.0;
        it->end_slopes[p] = 0.0;
        st = tali_sensitivity_set_parameter(it, state, p, values[p]);
    }
    if (st == TAL_OK) st = tal_state_copy(it->before, state);
    if (st == TAL_OK) st = tali_sensitivity_settle_start(it, state);
    if (st != TAL_OK) return st;
    tali_sensitivity_look(it, state);
    for (int j = 0; j < it->ny; ++j) {
        it->columns[j] = it->J + (size_t)j * (size_t)it->ny;
    }
    for (int p = 0; p < it->np && st == TAL_OK && !it->is_recording; ++p) {
        st = tali_sensitivity_start_slopes(it, it->before, p, it->S + (size_t)p * (size_t)it->ny);
    }
    for (int i = 0; i < it->num_events; ++i) {
        it->watches[i].span = 0.0;
    }
    if (st == TAL_OK && it->is_recording) st = tal_state_copy(it->kept[0], state);
    return st == TAL_OK ? tali_sensitivity_watch_begin(it, state) : st;
}

// --- steps ---

// What the next step is to be, up to `t_stop`.
static tal_status plan(tal_sensitivity *it, double t, double t_stop, tali_sensitivity_step *step)
{
    const tal_sensitivity *like = it->def.steps_of;
    *step = (tali_sensitivity_step){.t = t, .planned = it->h};
    if (like != NULL) {
        const int kept =
            like->num_steps < like->def.max_steps ? like->num_steps : like->def.max_steps;
        // an event on the other side of the end of a step makes one step more
        const int n = it->num_steps < kept ? it->num_steps : kept - 1;
        if (n < 0 || (it->num_steps >= kept && t_stop - t > 2.0 * like->steps[n].planned)) {
            return TALI_FAIL(&it->problem.error_record, TAL_ERR_BAD_VALUE,
                             "the study whose steps are taken has %d of them, and t = %g is before "
                             "%g",
                             kept, t, t_stop);
        }
        step->planned = like->steps[n].planned;
        step->is_cut = like->steps[n].is_cut || it->num_steps >= kept;
    } else if (it->def.accuracy > 0.0) {
        step->is_cut = t_stop - t <= it->h * (1.0 + 1e-6);
    } else {
        const double count = ceil((t_stop - t) / it->def.step - 1e-9);
        step->planned = count > 1.0 ? (t_stop - t) / count : t_stop - t;
        step->is_cut = count <= 1.0;
    }
    return TAL_OK;
}

// The usual factor for the next step, whose error has a norm over the accuracy.
static double factor_of(const tal_sensitivity *it, double norm)
{
    const double power = 1.0 / (it->tableau->embedded_order + 1);
    return norm > 0.0 ? fmin(5.0, fmax(0.1, 0.8 * pow(norm, -power))) : 5.0;
}

static bool may_retry(tal_status st)
{
    return st == TAL_ERR_NOT_FINITE || st == TAL_ERR_SINGULAR || st == TAL_ERR_NO_CONVERGENCE;
}

// Trial steps until the error is small enough; without an accuracy there is one.
static tal_status try_steps(tal_sensitivity *it, tal_state *state, double t_stop,
                            tali_sensitivity_step *step)
{
    const bool is_controlled = it->def.accuracy > 0.0;
    for (;;) {
        step->taken = step->is_cut ? t_stop - step->t : step->planned;
        double norm = 0.0;
        const tal_status st =
            tali_sensitivity_try(it, state, step->t, step->taken, is_controlled ? &norm : NULL);
        if (!is_controlled || (st != TAL_OK && !may_retry(st))) return st;
        const double factor = st == TAL_OK ? factor_of(it, norm) : 0.25;
        if (st == TAL_OK && norm <= 1.0) {
            // a step cut short says little about longer ones
            const double wanted = step->taken * factor;
            it->h = fmin(it->def.step, step->is_cut ? fmax(wanted, it->h) : wanted);
            return TAL_OK;
        }
        ++it->stats.errors;
        it->problem.error_record = (tal_error){TAL_OK, "", ""};
        it->h = step->planned = step->taken * factor;
        step->is_cut = false;
        if (it->h > 16.0 * DBL_EPSILON * fabs(step->t)) continue;
        return TALI_FAIL(&it->problem.error_record, TAL_ERR_STEP_TOO_SMALL,
                         "at t = %.17g accuracy %g would need a step below %g", step->t,
                         it->def.accuracy, it->h);
    }
}

static tal_status keep(tal_sensitivity *it, const tali_sensitivity_step *step)
{
    const bool is_kept = it->def.accuracy > 0.0 || it->is_recording;
    if (it->num_steps >= it->def.max_steps && is_kept) {
        return TALI_FAIL(&it->problem.error_record, TAL_ERR_STEP_LIMIT,
                         "max_steps = %d steps end at t = %.17g", it->def.max_steps, step->t);
    }
    const size_t n = (size_t)it->num_steps, ny = (size_t)it->ny;
    if (it->num_steps < it->def.max_steps) it->steps[n] = *step;
    if (it->is_recording) memcpy(it->y_of + n * ny, it->y0, ny * sizeof *it->y0);
    ++it->num_steps;
    ++it->stats.steps;
    return TAL_OK;
}

// One step, at most to `t_stop`, with what happens at its end.
static tal_status take_step(tal_sensitivity *it, tal_state *state, double t_stop)
{
    tali_sensitivity_step step;
    const double t = tal_state_t(state);
    memcpy(it->y0, tal_state_y(state), (size_t)it->ny * sizeof *it->y0);
    tal_status st = plan(it, t, t_stop, &step);
    if (st == TAL_OK) st = try_steps(it, state, t_stop, &step);
    bool has_event = false;
    if (st == TAL_OK) st = tali_sensitivity_find_crossing(it, state, t, &step.taken, &has_event);
    if (st == TAL_OK && !it->is_recording) {
        st = tali_sensitivity_move_slopes(it, state, t, step.taken);
    }
    const double t1 = step.is_cut && !has_event ? t_stop : t + step.taken;
    if (st == TAL_OK) st = tali_problem_put(&it->problem, state, t1, it->end);
    if (st == TAL_OK) st = keep(it, &step);
    if (st != TAL_OK) return st;
    if (has_event) return tali_sensitivity_handle(it, state, TAL_EVENT_TRIGGERED);
    tali_sensitivity_watch_on(it);
    return TAL_OK;
}

tal_status tali_sensitivity_go(tal_sensitivity *it, tal_state *state, double end_time)
{
    tal_status st = TAL_OK;
    while (st == TAL_OK && !it->has_ended) {
        const double t = tal_state_t(state);
        const double appointed = tali_sensitivity_next_appointment(it, state);
        if (appointed <= t) {
            st = tali_sensitivity_handle(it, state, TAL_EVENT_SCHEDULED);
        } else if (t < end_time) {
            st = take_step(it, state, fmin(end_time, appointed));
        } else {
            break;
        }
    }
    return st;
}

// --- runs ---

tal_status tali_sensitivity_check_run(tal_sensitivity *it, const tal_state *state,
                                      const double values[], double end_time)
{
    tal_error *err = &it->problem.error_record;
    for (int p = 0; p < it->np; ++p) {
        if (isfinite(values[p])) continue;
        return TALI_FAIL(err, TAL_ERR_NOT_FINITE, "parameter '%s' is %g",
                         it->parameters[p].name != NULL ? it->parameters[p].name : "", values[p]);
    }
    const double t = tal_state_t(state);
    if (!(end_time >= t) || !isfinite(end_time)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "end_time is %g, and the State is at %g", end_time,
                         t);
    }
    const bool has_fixed_steps = !(it->def.accuracy > 0.0) && it->def.steps_of == NULL;
    if (!has_fixed_steps || tali_problem_steps_move(t, end_time, it->def.step)) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "steps of %g s from %g to end_time %g are lost in rounding: choose a longer "
                     "step, or times nearer to 0",
                     it->def.step, t, end_time);
}

// S in the units of the parameters.
static void finish(tal_sensitivity *it)
{
    for (int p = 0; p < it->np; ++p) {
        for (int i = 0; i < it->ny; ++i) {
            const size_t at = (size_t)p * (size_t)it->ny + (size_t)i;
            it->S_out[at] = it->S[at] / it->scales[p];
        }
    }
    it->has_run = true;
}

tal_status tal_sensitivity_run(tal_sensitivity *it, tal_state *state, const double values[],
                               double end_time)
{
    if (it == NULL || state == NULL || (values == NULL && it->np > 0)) {
        return TALI_BREACH(TAL_ERR_NULL, "the study, state or values is NULL");
    }
    it->problem.error_record = (tal_error){TAL_OK, "", ""};
    it->has_run = false;
    tal_status st = tali_sensitivity_check_run(it, state, values, end_time);
    if (st != TAL_OK) return st;
    st = tal_system_realize(it->problem.system, state, TAL_STAGE_TIME);
    if (st != TAL_OK) return tali_problem_pass_on(&it->problem, state, st);
    it->is_recording = false;
    st = tali_sensitivity_start(it, state, values);
    if (st == TAL_OK) st = tali_sensitivity_go(it, state, end_time);
    if (st == TAL_OK) finish(it);
    return st;
}

tal_status tal_sensitivity_continue(tal_sensitivity *it, tal_state *state, double end_time)
{
    if (it == NULL || state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the study or state is NULL");
    if (!it->has_run) return TALI_BREACH(TAL_ERR_STAGE, "there was no run");
    it->problem.error_record = (tal_error){TAL_OK, "", ""};
    tal_status st = tali_sensitivity_check_run(it, state, it->values, end_time);
    if (st == TAL_OK && tal_state_ny(state) != it->ny) {
        st = TALI_FAIL(&it->problem.error_record, TAL_ERR_WRONG_SYSTEM,
                       "the State has %d variables, and the run %d", tal_state_ny(state), it->ny);
    }
    if (st != TAL_OK || it->has_ended) return st;
    it->has_run = false;
    st = tali_sensitivity_go(it, state, end_time);
    if (st == TAL_OK) finish(it);
    return st;
}

bool tal_sensitivity_has_ended(const tal_sensitivity *it)
{
    if (it != NULL) return it->has_run && it->has_ended;
    (void)TALI_BREACH(TAL_ERR_NULL, "the study is NULL");
    return false;
}

tal_matrix tal_sensitivity_matrix(const tal_sensitivity *it)
{
    if (it == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the study is NULL");
        return (tal_matrix){NULL, 0, 0, 1};
    }
    return it->has_run && it->np > 0 ? tal_matrix_view(it->S_out, it->ny, it->np)
                                     : (tal_matrix){NULL, 0, 0, 1};
}

tal_status tal_sensitivity_of_end_time(const tal_sensitivity *it, double slopes[])
{
    if (it == NULL || slopes == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the study or slopes is NULL");
    }
    if (!it->has_run) return TALI_BREACH(TAL_ERR_STAGE, "there was no run");
    for (int p = 0; p < it->np; ++p) {
        slopes[p] = it->end_slopes[p] / it->scales[p];
    }
    return TAL_OK;
}

// --- what is read ---

// Along the motion of the end, if an event has moved it.
static tal_status slopes_of_read(tal_sensitivity *it, const tal_state *state, int n, double room[],
                                 double slopes[])
{
    const double *y = tal_state_y(state);
    tal_status st = tal_state_copy(it->before, state);
    if (st == TAL_OK) st = tali_problem_evaluate(&it->problem, it->before, it->f1);
    for (int p = 0; p < it->np && st == TAL_OK; ++p) {
        const double dt = it->end_slopes[p];
        for (int i = 0; i < it->ny; ++i) {
            it->sum[i] = it->S[(size_t)p * (size_t)it->ny + (size_t)i] + it->f1[i] * dt;
        }
        double *out = slopes + (size_t)p * (size_t)n;
        const tali_sensitivity_line line = {state, tal_state_t(state), dt, y, it->sum, p};
        st = tali_sensitivity_difference(it, &line, tali_sensitivity_find_numbers, n, room, out);
        for (int i = 0; i < n; ++i) {
            out[i] /= it->scales[p];
        }
    }
    return st;
}

static tal_status read_measure(void *context, const tal_system *system, tal_state *state,
                               double numbers[])
{
    const tal_measure_ix *measure = context;
    numbers[0] = tal_measure_value(system, state, *measure);
    return isfinite(numbers[0]) ? TAL_OK
                                : tal_state_fail(state, TAL_ERR_NOT_FINITE, "measure '%s' is %g",
                                                 tal_measure_name(system, *measure), numbers[0]);
}

void tali_sensitivity_read_measure(tal_sensitivity *it, tal_measure_ix *measure)
{
    it->read = read_measure;
    it->read_context = measure;
}

tal_status tali_sensitivity_check_measure(const tal_sensitivity *it, tal_measure_ix measure)
{
    const tal_system *system = it->problem.system;
    if (measure.i >= 0 && measure.i < tal_system_num_measures(system) &&
        tal_measure_size(system, measure) == 1) {
        return TAL_OK;
    }
    return TALI_BREACH(TAL_ERR_BAD_INDEX, "there is no measure %d of one number", measure.i);
}

tal_status tal_sensitivity_of_measure(tal_sensitivity *it, const tal_state *state,
                                      tal_measure_ix measure, double gradient[])
{
    if (it == NULL || state == NULL || gradient == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the study, state or gradient is NULL");
    }
    const tal_status st = tali_sensitivity_check_measure(it, measure);
    if (st != TAL_OK) return st;
    if (!it->has_run) return TALI_BREACH(TAL_ERR_STAGE, "there was no run");
    it->problem.error_record = (tal_error){TAL_OK, "", ""};
    double room = 0.0;
    tali_sensitivity_read_measure(it, &measure);
    return slopes_of_read(it, state, 1, &room, gradient);
}

// Numbers at a point have their place behind those of the slopes.
tal_status tal_sensitivity_of_numbers(tal_sensitivity *it, const tal_state *state,
                                      tal_status (*read)(void *context, const tal_system *system,
                                                         tal_state *state, double numbers[]),
                                      void *context, int n, double slopes[])
{
    if (it == NULL || state == NULL || read == NULL || slopes == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the study, state, read or slopes is NULL");
    }
    if (n < 1) return TALI_BREACH(TAL_ERR_BAD_VALUE, "there are %d numbers", n);
    if (!it->has_run) return TALI_BREACH(TAL_ERR_STAGE, "there was no run");
    it->problem.error_record = (tal_error){TAL_OK, "", ""};
    it->read = read;
    it->read_context = context;
    return slopes_of_read(it, state, n, slopes + (size_t)it->np * (size_t)n, slopes);
}
