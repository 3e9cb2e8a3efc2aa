// Optimal control by direct collocation: the problem, a run, and its answer.
#include "alloc_internal.h"
#include "error_internal.h"

#include "optimize/optimizer_internal.h"
#include "problem/study_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

tal_optimizer_def tal_optimizer_def_default(void)
{
    return (tal_optimizer_def){.method = TAL_COLLOCATION_HERMITE_SIMPSON,
                               .intervals = 50,
                               .tolerance = 1e-8,
                               .row_tolerance = 1e-8,
                               .max_iterations = 500};
}

// --- creation ---

// Trees alone: what else a System has is refused by name.
static tal_status check_system(const tal_system *system, const tal_forces *forces, tal_error *err)
{
    const tal_status st = tali_problem_check_has_matter(system, err);
    if (st != TAL_OK) return st;
    const tal_matter *matter = tal_system_matter(system);
    if (forces == NULL || tal_forces_matter(forces) != matter) {
        return TALI_FAIL(err, forces == NULL ? TAL_ERR_NULL : TAL_ERR_WRONG_SYSTEM,
                         "the forces are NULL or of another System");
    }

    const struct {
        int count;
        const char *what;
    } refused[] = {{tal_matter_num_constraints(matter), "constraints"},
                   {tal_matter_num_motions(matter), "prescribed motions"},
                   {tal_matter_num_unilaterals(matter), "unilateral elements"},
                   {tal_matter_num_colliders(matter), "colliders"}};

    for (size_t k = 0; k < sizeof refused / sizeof refused[0]; ++k) {
        if (refused[k].count == 0) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "System '%s' has %d %s; optimal control takes trees without any",
                         tal_system_name(system), refused[k].count, refused[k].what);
    }
    const int other = tal_system_pool_capacity(system, TAL_POOL_U) - tal_matter_nu(matter);
    if (other == 0) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "System '%s' has %d speeds that are not of its bodies; optimal control takes "
                     "those of bodies alone",
                     tal_system_name(system), other);
}

static tal_status check_def(const tal_optimizer_def *def, tal_error *err)
{
    const bool is_method =
        def->method == TAL_COLLOCATION_TRAPEZOID || def->method == TAL_COLLOCATION_HERMITE_SIMPSON;
    if (!is_method) return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there is no method %d", def->method);
    if (def->intervals < 1 || def->intervals > 100000) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "%d intervals; there must be 1 to 100000",
                         def->intervals);
    }
    if (def->tolerance > 0.0 && def->row_tolerance > 0.0 && def->max_iterations >= 0) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "the tolerances are %g and %g, and %d iterations are allowed; tolerances must "
                     "be positive, iterations not negative",
                     def->tolerance, def->row_tolerance, def->max_iterations);
}

static tal_status check_actuator(const tal_optimizer *it, tal_force_ix actuator, int before,
                                 tal_error *err)
{
    if (actuator.i < 0 || actuator.i >= tal_forces_num(it->forces)) {
        return TALI_FAIL(err, TAL_ERR_BAD_INDEX, "there is no force %d", actuator.i);
    }
    const char *name = tal_force_name(it->forces, actuator);
    if (!tal_force_has_control(it->forces, actuator)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "force '%s' has no control", name);
    }
    for (int k = 0; k < before; ++k) {
        if (it->actuators[k].i != actuator.i) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "actuator '%s' is named twice", name);
    }
    return TAL_OK;
}

// The actuators of the def, or all there are.
static tal_status take_actuators(tal_optimizer *it, tal_error *err)
{
    const int all = tal_forces_num(it->forces);
    const bool are_named = it->def.actuators != NULL;
    const int most = are_named ? it->def.num_actuators : all;
    if (most < 0) return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "%d actuators", most);
    it->actuators = tali_alloc(&it->allocator, (size_t)most * sizeof *it->actuators);
    if (it->actuators == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory");
    it->max_actuators = most;
    for (int k = 0; k < most; ++k) {
        const tal_force_ix actuator = are_named ? it->def.actuators[k] : (tal_force_ix){k};
        if (!are_named && !tal_force_has_control(it->forces, actuator)) continue;
        const tal_status st = check_actuator(it, actuator, it->nc, err);
        if (st != TAL_OK) return st;
        it->actuators[it->nc++] = actuator;
    }
    return TAL_OK;
}

tal_status tal_optimizer_create(const tal_system *system, const tal_forces *forces,
                                const tal_optimizer_def *def, tal_optimizer **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "out is NULL");
    *out = NULL;
    const tal_optimizer_def usual = tal_optimizer_def_default();
    if (def == NULL) def = &usual;
    tal_status st = check_system(system, forces, err);
    if (st == TAL_OK) st = check_def(def, err);
    if (st != TAL_OK) return st;
    const tal_allocator allocator = tal_system_allocator(system);
    tal_optimizer *it = tali_alloc(&allocator, sizeof *it);
    if (it == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for an optimizer");
    *it = (tal_optimizer){.system = system,
                          .matter = tal_system_matter(system),
                          .forces = forces,
                          .allocator = allocator,
                          .def = *def,
                          .least_end = 1.0,
                          .largest_end = 1.0,
                          .end = TALI_NAN};
    st = take_actuators(it, err);
    if (st == TAL_OK) st = tal_state_create(system, &it->state, err);
    if (st == TAL_OK) st = tal_state_create(system, &it->scratch, err);
    if (st != TAL_OK) {
        tal_optimizer_destroy(it);
        return st;
    }
    *out = it;
    return TAL_OK;
}

static void forget_answer(tal_optimizer *it)
{
    tal_nlp_solver_destroy(it->solver);
    it->solver = NULL;
    tali_free(&it->allocator, it->block, it->block_bytes);
    tali_free(&it->allocator, it->couples_block, it->couples_bytes);
    it->block = it->couples_block = NULL;
    it->end = TALI_NAN;
}

void tal_optimizer_destroy(tal_optimizer *optimizer)
{
    if (optimizer == NULL) return;
    tal_optimizer *it = optimizer;
    const tal_allocator allocator = it->allocator;
    forget_answer(it);
    tal_state_destroy(it->state);
    tal_state_destroy(it->scratch);
    tali_free(&allocator, it->actuators, (size_t)it->max_actuators * sizeof *it->actuators);
    tali_free(&allocator, it->bounds, (size_t)it->bounds_capacity * sizeof *it->bounds);
    tali_free(&allocator, it->periods, (size_t)it->periods_capacity * sizeof *it->periods);
    tali_free(&allocator, it->goals, (size_t)it->goals_capacity * sizeof *it->goals);
    tali_free(&allocator, it->limits, (size_t)it->limits_capacity * sizeof *it->limits);
    tali_free(&allocator, it, sizeof *it);
}

// --- the problem ---

static bool is_live(const tal_optimizer *it, const char *where)
{
    if (it == NULL) (void)tali_breach(TAL_ERR_NULL, where, "the optimizer is NULL");
    return it != NULL;
}

static void note_no_memory(tal_optimizer *it)
{
    (void)TALI_FAIL(&it->mistake, TAL_ERR_NO_MEMORY, "no memory for the problem");
}

void tal_optimizer_set_time(tal_optimizer *optimizer, double start, double least_end,
                            double largest_end)
{
    if (!is_live(optimizer, __func__)) return;
    optimizer->start = start;
    optimizer->least_end = least_end;
    optimizer->largest_end = largest_end;
    if (isfinite(start) && start < least_end && least_end <= largest_end && isfinite(largest_end)) {
        return;
    }
    (void)TALI_FAIL(&optimizer->mistake, TAL_ERR_BAD_VALUE,
                    "the motion begins at %g and ends from %g to %g; these must be finite and "
                    "increase",
                    start, least_end, largest_end);
}

// Is there a coordinate (or speed) `i` of a body? Coordinates are counted when the problem runs.
static bool is_body(tal_optimizer *it, tal_body_ix body, int i, const char *where)
{
    if (body.i > 0 && body.i < tal_matter_num_bodies(it->matter) && i >= 0) return true;
    (void)tali_fail(&it->mistake, TAL_ERR_BAD_INDEX, where,
                    "coordinate %d of body %d does not exist", i, body.i);
    return false;
}

static void add_bound(tal_optimizer *it, tali_optimize_bound bound, const char *where)
{
    const bool is_where = (int)bound.where >= 0 && bound.where < TAL_OPTIMIZE_NUM_WHERE;
    if (!is_where || !(bound.low <= bound.high)) {
        (void)tali_fail(&it->mistake, TAL_ERR_BAD_VALUE, where,
                        "a bound from %g to %g at place %d: the ends must increase, and the place "
                        "must be one of tal_optimizer_where",
                        bound.low, bound.high, (int)bound.where);
        return;
    }
    void *items = it->bounds;
    const bool has_room =
        tali_grow(&it->allocator, &items, it->num_bounds, &it->bounds_capacity, sizeof *it->bounds);
    it->bounds = items;
    if (has_room) it->bounds[it->num_bounds++] = bound;
    if (!has_room) note_no_memory(it);
}

void tal_optimizer_bound_q(tal_optimizer *optimizer, tal_body_ix body, int i,
                           tal_optimizer_where where, double low, double high)
{
    if (!is_live(optimizer, __func__) || !is_body(optimizer, body, i, __func__)) return;
    add_bound(optimizer, (tali_optimize_bound){TALI_OPTIMIZE_Q, body, i, where, low, high},
              __func__);
}

void tal_optimizer_bound_u(tal_optimizer *optimizer, tal_body_ix body, int i,
                           tal_optimizer_where where, double low, double high)
{
    if (!is_live(optimizer, __func__) || !is_body(optimizer, body, i, __func__)) return;
    add_bound(optimizer, (tali_optimize_bound){TALI_OPTIMIZE_U, body, i, where, low, high},
              __func__);
}

void tal_optimizer_bound_z(tal_optimizer *optimizer, int slot, tal_optimizer_where where,
                           double low, double high)
{
    if (!is_live(optimizer, __func__)) return;
    const tal_body_ix none = {-1};
    add_bound(optimizer, (tali_optimize_bound){TALI_OPTIMIZE_Z, none, slot, where, low, high},
              __func__);
}

void tal_optimizer_bound_control(tal_optimizer *optimizer, tal_force_ix actuator, double low,
                                 double high)
{
    if (!is_live(optimizer, __func__)) return;
    int i = 0;
    while (i < optimizer->nc && optimizer->actuators[i].i != actuator.i) {
        ++i;
    }
    if (i == optimizer->nc) {
        (void)TALI_FAIL(&optimizer->mistake, TAL_ERR_BAD_INDEX, "force %d is not controlled",
                        actuator.i);
        return;
    }
    const tal_body_ix none = {-1};
    add_bound(optimizer,
              (tali_optimize_bound){TALI_OPTIMIZE_C, none, i, TAL_OPTIMIZE_ALONG, low, high},
              __func__);
}

void tal_optimizer_add_periodic(tal_optimizer *optimizer, tal_body_ix end_body, int end_i,
                                tal_body_ix start_body, int start_i, double sign)
{
    if (!is_live(optimizer, __func__)) return;
    tal_optimizer *it = optimizer;
    if (!is_body(it, end_body, end_i, __func__) || !is_body(it, start_body, start_i, __func__)) {
        return;
    }
    if (!tal_body_qdot_is_u(it->matter, end_body) || !tal_body_qdot_is_u(it->matter, start_body)) {
        (void)TALI_FAIL(&it->mistake, TAL_ERR_BAD_VALUE,
                        "the rates of the coordinates of '%s' or '%s' are not speeds",
                        tal_body_name(it->matter, end_body), tal_body_name(it->matter, start_body));
        return;
    }
    void *items = it->periods;
    const bool has_room = tali_grow(&it->allocator, &items, it->num_periods, &it->periods_capacity,
                                    sizeof *it->periods);
    it->periods = items;
    if (!has_room) {
        note_no_memory(it);
        return;
    }
    it->periods[it->num_periods++] =
        (tali_optimize_period){{end_body, start_body}, {end_i, start_i}, sign};
}

static void add_goal(tal_optimizer *it, tali_optimize_goal goal, const char *where)
{
    if (!isfinite(goal.weight)) {
        (void)tali_fail(&it->mistake, TAL_ERR_NOT_FINITE, where, "the weight of a goal is %g",
                        goal.weight);
        return;
    }
    void *items = it->goals;
    const bool has_room =
        tali_grow(&it->allocator, &items, it->num_goals, &it->goals_capacity, sizeof *it->goals);
    it->goals = items;
    if (has_room) it->goals[it->num_goals++] = goal;
    if (!has_room) note_no_memory(it);
}

void tal_optimizer_add_effort(tal_optimizer *optimizer, double weight, double power)
{
    if (!is_live(optimizer, __func__)) return;
    if (!(power >= 1.0 && isfinite(power))) {
        (void)TALI_FAIL(&optimizer->mistake, TAL_ERR_BAD_VALUE,
                        "the power of an effort is %g; it must be 1 or more", power);
        return;
    }
    add_goal(optimizer,
             (tali_optimize_goal){.kind = TALI_OPTIMIZE_EFFORT, .weight = weight, .power = power},
             __func__);
}

void tal_optimizer_add_time(tal_optimizer *optimizer, double weight)
{
    if (!is_live(optimizer, __func__)) return;
    add_goal(optimizer, (tali_optimize_goal){.kind = TALI_OPTIMIZE_TIME, .weight = weight},
             __func__);
}

void tal_optimizer_add_tracking(tal_optimizer *optimizer, tal_body_ix body, int i,
                                const tal_function *wanted, double weight)
{
    if (!is_live(optimizer, __func__) || !is_body(optimizer, body, i, __func__)) return;
    if (wanted == NULL || tal_function_num_args(wanted) != 1) {
        (void)TALI_FAIL(&optimizer->mistake, wanted == NULL ? TAL_ERR_NULL : TAL_ERR_BAD_VALUE,
                        "what coordinate %d of body %d is to follow is not a function of time", i,
                        body.i);
        return;
    }
    add_goal(
        optimizer,
        (tali_optimize_goal){
            .kind = TALI_OPTIMIZE_TRACK, .weight = weight, .body = body, .i = i, .wanted = wanted},
        __func__);
}

void tal_optimizer_add_goal(tal_optimizer *optimizer, const tal_optimizer_goal_ops *ops,
                            const void *self, bool at_end, double weight)
{
    if (!is_live(optimizer, __func__)) return;
    if (ops == NULL || ops->calc == NULL) {
        (void)TALI_FAIL(&optimizer->mistake, TAL_ERR_NULL, "a goal has no function");
        return;
    }
    add_goal(optimizer,
             (tali_optimize_goal){.kind = TALI_OPTIMIZE_OWN,
                                  .weight = weight,
                                  .at_end = at_end,
                                  .ops = *ops,
                                  .self = self},
             __func__);
}

void tal_optimizer_add_limit(tal_optimizer *optimizer, const tal_optimizer_goal_ops *ops,
                             const void *self, double low, double high)
{
    if (!is_live(optimizer, __func__)) return;
    if (ops == NULL || ops->calc == NULL || !(low <= high)) {
        const bool is_missing = ops == NULL || ops->calc == NULL;
        (void)TALI_FAIL(&optimizer->mistake, is_missing ? TAL_ERR_NULL : TAL_ERR_BAD_VALUE,
                        "limit %d %s", optimizer->num_limits,
                        is_missing ? "has no function" : "has no range from low to high");
        return;
    }
    tal_optimizer *it = optimizer;
    void *items = it->limits;
    const bool has_room =
        tali_grow(&it->allocator, &items, it->num_limits, &it->limits_capacity, sizeof *it->limits);
    it->limits = items;
    if (has_room) it->limits[it->num_limits++] = (tali_optimize_limit){*ops, self, low, high};
    if (!has_room) note_no_memory(it);
}

// --- a run ---

// The unknown of a node that a bound is about; -1 and a failure where there is none.
static int slot_of(tal_optimizer *it, const tali_optimize_bound *bound)
{
    if (bound->kind == TALI_OPTIMIZE_C) return it->ny + it->nu + bound->i;
    if (bound->kind == TALI_OPTIMIZE_Z) {
        if (bound->i >= 0 && bound->i < it->nz) return it->nq + it->nu + bound->i;
        (void)TALI_FAIL(&it->error_record, TAL_ERR_BAD_INDEX, "there is no z %d among %d", bound->i,
                        it->nz);
        return -1;
    }
    const bool is_q = bound->kind == TALI_OPTIMIZE_Q;
    const int count = is_q ? tal_body_nq(it->matter, it->state, bound->body)
                           : tal_body_nu(it->matter, bound->body);
    if (bound->i >= count) {
        (void)TALI_FAIL(&it->error_record, TAL_ERR_BAD_INDEX, "body '%s' has %d %s, and no %d",
                        tal_body_name(it->matter, bound->body), count,
                        is_q ? "coordinates" : "speeds", bound->i);
        return -1;
    }
    return is_q ? tal_body_q_start(it->matter, it->state, bound->body) + bound->i
                : it->nq + tal_body_u_start(it->matter, bound->body) + bound->i;
}

static void narrow(tal_optimizer *it, int unknown, double low, double high)
{
    it->lower[unknown] = fmax(it->lower[unknown], low);
    it->upper[unknown] = fmin(it->upper[unknown], high);
}

// The range of a control becomes bounds of unknowns. In the State it becomes a little wider: the
// element cuts off what is beyond it, and differences near a bound would see half a slope.
static tal_status take_range(tal_optimizer *it, int i)
{
    const double MARGIN = 1e-3;
    const tal_force_ix actuator = it->actuators[i];
    double low, high;
    tal_status st = tal_actuator_control_range(it->forces, it->state, actuator, &low, &high);
    for (int k = 0; k < it->num_nodes && st == TAL_OK; ++k) {
        narrow(it, k * it->size + it->ny + it->nu + i, low, high);
    }
    if (st != TAL_OK) return st;
    return tal_actuator_set_control_range(it->forces, it->state, actuator,
                                          low - MARGIN * (1.0 + fabs(low)),
                                          high + MARGIN * (1.0 + fabs(high)));
}

// Ranges of controls, then the bounds of the problem, then the time of the end.
static tal_status set_bounds(tal_optimizer *it)
{
    for (int k = 0; k < it->num_unknowns; ++k) {
        it->lower[k] = -(double)INFINITY;
        it->upper[k] = (double)INFINITY;
    }
    for (int i = 0; i < it->nc; ++i) {
        const tal_status st = take_range(it, i);
        if (st != TAL_OK) return st;
    }
    for (int b = 0; b < it->num_bounds; ++b) {
        const tali_optimize_bound *bound = &it->bounds[b];
        const int slot = slot_of(it, bound), last = it->num_nodes - 1;
        if (slot < 0) return it->error_record.status;
        const int from = bound->where == TAL_OPTIMIZE_END ? last : 0;
        const int to = bound->where == TAL_OPTIMIZE_START ? 0 : last;
        for (int k = from; k <= to; ++k) {
            narrow(it, k * it->size + slot, bound->low, bound->high);
        }
    }
    narrow(it, it->num_unknowns - 1, it->least_end, it->largest_end);
    return TAL_OK;
}

// What is nearest to a value within the bounds of an unknown.
static double within(const tal_optimizer *it, int unknown, double value)
{
    return fmin(fmax(value, it->lower[unknown]), it->upper[unknown]);
}

// q, u and z on a line between what bounds say, or the State's values.
static void guess_line(tal_optimizer *it)
{
    const double *y = tal_state_y(it->state);
    const int last = (it->num_nodes - 1) * it->size;
    memset(it->x, 0, (size_t)it->num_unknowns * sizeof *it->x);
    for (int j = 0; j < it->ny; ++j) {
        const double from = within(it, j, y[j]), to = within(it, last + j, from);
        for (int k = 0; k < it->num_nodes; ++k) {
            it->x[k * it->size + j] = from + (to - from) * k / (it->num_nodes - 1);
        }
    }
    it->x[it->num_unknowns - 1] = 0.5 * (it->least_end + it->largest_end);
}

static tal_status take_guess(tal_optimizer *it, const tal_optimizer *guess)
{
    if (guess->system != it->system || guess->nc != it->nc || guess->nq != it->nq ||
        guess->nz != it->nz || !isfinite(guess->end)) {
        return TALI_FAIL(&it->error_record, TAL_ERR_BAD_VALUE,
                         "the guess has no answer, or is of another System or other actuators");
    }
    it->x[it->num_unknowns - 1] = within(it, it->num_unknowns - 1, guess->end);
    for (int k = 0; k < it->num_nodes; ++k) {
        const double share = (double)k / (it->num_nodes - 1);
        tali_optimize_interpolate(guess, guess->start + share * (guess->end - guess->start),
                                  &it->x[k * it->size]);
    }
    return TAL_OK;
}

static bool depends_on_time(const tal_optimizer *it)
{
    return it->least_end < it->largest_end;
}

// The State that the motion is about, and all sizes and memory.
static tal_status prepare(tal_optimizer *it, const tal_state *state)
{
    forget_answer(it);
    it->error_record = it->mistake;
    if (it->mistake.status != TAL_OK) return it->mistake.status;
    tal_status st = tal_state_copy(it->state, state);
    if (st == TAL_OK) st = tal_system_realize(it->system, it->state, TAL_STAGE_INSTANCE);
    if (st == TAL_OK) st = tal_state_copy(it->scratch, it->state);
    if (st != TAL_OK) {
        return TALI_FAIL(&it->error_record, st, "%s", tali_problem_reason(it->state, st));
    }
    if (tal_state_nq(it->state) != tal_matter_nq(it->matter, it->state)) {
        return TALI_FAIL(&it->error_record, TAL_ERR_BAD_VALUE,
                         "System '%s' has coordinates that are not matter's",
                         tal_system_name(it->system));
    }
    it->has_time = depends_on_time(it);
    st = tali_optimize_set_up(it);
    if (st == TAL_OK) st = set_bounds(it);
    return st == TAL_OK ? TAL_OK : TALI_FAIL(&it->error_record, st, "no memory for the unknowns");
}

// A sentence that says what the solver's indices mean.
static tal_status explain(tal_optimizer *it, tal_status st, const tal_nlp_report *report,
                          const tal_error *why)
{
    char row[96];
    if (it->error_record.status == st) return st; // a function of the problem said it already
    tali_optimize_name_row(it, report->worst_row, row, sizeof row);
    if (st == TAL_ERR_INFEASIBLE) {
        return TALI_FAIL(&it->error_record, st,
                         "no motion within the bounds is near: %s is off by %g", row,
                         report->row_error);
    }
    if (st == TAL_ERR_NO_CONVERGENCE) {
        return TALI_FAIL(&it->error_record, st,
                         "after %d iterations %s is off by %g, and the optimum by %g",
                         report->iterations, row, report->row_error, report->stationarity);
    }
    return TALI_FAIL(&it->error_record, st, "%s", why->message);
}

static tal_status solve(tal_optimizer *it, tal_nlp_report *report)
{
    tal_nlp_options options = tal_nlp_options_default();
    options.tolerance = it->def.tolerance;
    options.row_tolerance = it->def.row_tolerance;
    options.max_iterations = it->def.max_iterations;
    options.allocator = it->allocator;
    tal_error why = {.status = TAL_OK};
    const tal_status st = tali_optimize_solve(it, &options, report, &why);
    if (st == TAL_OK) it->error_record = (tal_error){.status = TAL_OK}; // of steps not taken
    return st == TAL_OK ? TAL_OK : explain(it, st, report, &why);
}

tal_status tal_optimizer_run(tal_optimizer *optimizer, const tal_state *state,
                             const tal_optimizer *guess, tal_optimizer_report *report)
{
    if (optimizer == NULL || state == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "%s is NULL", optimizer == NULL ? "optimizer" : "state");
    }
    if (guess == optimizer) return TALI_BREACH(TAL_ERR_BAD_VALUE, "the guess is the optimizer");
    tal_optimizer *it = optimizer;
    tal_optimizer_report own = {.nlp = {.worst_row = -1}, .end = TALI_NAN, .difference = TALI_NAN};
    tal_status st = prepare(it, state);
    if (st == TAL_OK) {
        guess_line(it);
        if (guess != NULL) st = take_guess(it, guess);
    }
    if (st == TAL_OK) st = solve(it, &own.nlp);
    if (st == TAL_OK || st == TAL_ERR_NO_CONVERGENCE || st == TAL_ERR_INFEASIBLE) {
        own.end = it->end = it->x[it->num_unknowns - 1];
        tali_optimize_keep_rates(it);
        own.difference = tali_optimize_simulate(it);
    }
    if (report != NULL) *report = own;
    return st;
}

const tal_error *tal_optimizer_error(const tal_optimizer *optimizer)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_optimizer_error", "the optimizer is NULL"};
    return optimizer != NULL ? &optimizer->error_record : &none;
}
