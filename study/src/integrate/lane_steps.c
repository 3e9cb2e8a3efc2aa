// Steps of several integrators at once: trial steps in lockstep, each lane with its own size.
//
// Given    integrators, States, ends of runs
// Compute  the steps that each would take alone
//
//   1  begin    lanes at the start of a step: its size, y0, and the rates there
//   2  stages   of all lanes, the rates of each stage in one evaluation
//   3  judge    by the error of each lane: its step is taken, or tried again shorter
#include "finite_internal.h"
#include "force_lanes_internal.h"
#include "solve_internal.h"

#include "integrate/lane_steps_internal.h"
#include "problem/study_internal.h"

#include <stdio.h>
#include <string.h>

// One State on its way. Rows are [ny].
typedef struct seat {
    tali_integrator_lane_phase phase;
    tal_integrator *integ;
    tal_state *state;
    bool one_by_one;
    double t, t_end;
    double t1, h;  // of the trial step: where it ends, what is tried
    bool may_grow; // the step after this one
    bool knows_rates;
    bool ends_with_rates; // the last stage of the last step has those at its end
    double *y;            // at t
    double *trial;        // a stage, at last the end of the trial step
    double *spare;        // rates that nobody wants
} seat;

struct tali_integrator_lanes {
    const tal_system *system;
    const tal_matter *matter;
    tal_allocator allocator;
    tali_matter_lanes *bodies;
    tali_force_lanes *forces; // NULL: no forces
    int width, ny, nq, nu;
    seat seats[TALI_MATTER_MOST_LANES];
    double *none; // [nu] no forces along speeds
    tali_integrator_lane_use use;
    void *block;
    size_t block_bytes;
};

// --- what lanes can step ---

// Other subsystems than matter and forces that have a part in the rates.
static const char *other_subsystem(const tal_system *system)
{
    const tal_forces *const forces = tal_system_forces(system);
    const tal_subsystem_ix these[] = {tal_matter_subsystem(tal_system_matter(system)),
                                      forces != NULL ? tal_forces_subsystem(forces)
                                                     : (tal_subsystem_ix){-1}};
    const tal_subsystem_ix other = tali_solve_other_that_acts(system, these, 2);
    return other.i >= 0 ? tal_subsystem_name(system, other) : NULL;
}

static const char *refuse_method(const tal_integrator_def *def)
{
    if (def->method != TAL_METHOD_RUNGE_KUTTA) {
        return "the method is not an explicit Runge-Kutta one";
    }
    if (def->baumgarte > 0.0) return "constraints are stabilized";
    if (def->project_every_step) return "every step is projected";
    // round-off of a quaternion just normalized must not count as an error
    const bool is_tight = def->constraint_tolerance > 0.0 && def->constraint_tolerance < 1e-14;
    return is_tight ? "the constraint tolerance is below round-off" : NULL;
}

void tali_integrator_lanes_refusal(const tal_system *system, const tal_integrator_def *def,
                                   char text[], size_t size)
{
    const tal_matter *const matter = tal_system_matter(system);
    text[0] = '\0';
    const char *why = refuse_method(def);
    if (why == NULL && matter == NULL) why = "the System has no bodies";
    if (why == NULL) why = tali_matter_lanes_refusal(matter);
    if (why == NULL && tal_system_has_updates(system)) why = "steps update variables";
    if (why == NULL && tal_system_pool_capacity(system, TAL_POOL_Z) > 0) why = "it has z";
    if (why != NULL) {
        (void)snprintf(text, size, "%s", why);
        return;
    }
    const char *const other = other_subsystem(system);
    if (other != NULL) {
        (void)snprintf(text, size, "subsystem '%s' takes part", other);
    } else if (tal_system_forces(system) != NULL) {
        tali_force_lanes_refusal(tal_system_forces(system), text, size);
    }
}

// --- creation ---

static tal_status take_memory(tali_integrator_lanes *it, tal_error *err)
{
    const int ny = tal_system_pool_capacity(it->system, TAL_POOL_Q) +
                   tal_system_pool_capacity(it->system, TAL_POOL_U);
    const size_t row = tali_align((size_t)ny * sizeof(double)), width = (size_t)it->width;
    double *y, *trial, *spare;
    const tali_piece pieces[] = {
        {&y, width * row}, {&trial, width * row}, {&spare, width * row}, {&it->none, row}};
    it->block = tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    if (it->block == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for lanes");
    const size_t stride = row / sizeof(double);
    for (size_t lane = 0; lane < width; ++lane) {
        seat *const at = &it->seats[lane];
        at->y = y + lane * stride;
        at->trial = trial + lane * stride;
        at->spare = spare + lane * stride;
    }
    return TAL_OK;
}

tal_status tali_integrator_lanes_create(const tal_system *system, int most,
                                        tali_integrator_lanes **out, tal_error *err)
{
    *out = NULL;
    const tal_matter *const matter = tal_system_matter(system);
    const tal_forces *const forces = tal_system_forces(system);
    tali_matter_lanes *bodies = NULL;
    tal_status st = tali_matter_lanes_create(matter, most, &bodies, err);
    if (st != TAL_OK || bodies == NULL) return st;
    const tal_allocator allocator = tal_system_allocator(system);
    tali_integrator_lanes *it = tali_alloc(&allocator, sizeof *it);
    if (it == NULL) {
        tali_matter_lanes_destroy(bodies);
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for lanes");
    }
    it->system = system;
    it->matter = matter;
    it->allocator = allocator;
    it->bodies = bodies;
    it->width = tali_matter_lanes_width(bodies);
    st = take_memory(it, err);
    if (st == TAL_OK && forces != NULL) {
        st = tali_force_lanes_create(forces, bodies, &it->forces, err);
    }
    if (st != TAL_OK) {
        tali_integrator_lanes_destroy(it);
        return st;
    }
    *out = it;
    return TAL_OK;
}

void tali_integrator_lanes_destroy(tali_integrator_lanes *it)
{
    if (it == NULL) return;
    const tal_allocator allocator = it->allocator;
    tali_force_lanes_destroy(it->forces);
    tali_matter_lanes_destroy(it->bodies);
    tali_free(&allocator, it->block, it->block_bytes);
    tali_free(&allocator, it, sizeof *it);
}

int tali_integrator_lanes_width(const tali_integrator_lanes *it)
{
    return it->width;
}

tali_integrator_lane_use tali_integrator_lanes_use(const tali_integrator_lanes *it)
{
    return it->use;
}

// --- lanes ---

void tali_integrator_lanes_begin(tali_integrator_lanes *it, tal_state *state)
{
    tali_matter_lanes_begin(it->bodies, state);
    it->nq = tal_state_nq(state);
    it->nu = tal_state_nu(state);
    it->ny = it->nq + it->nu;
    it->use = (tali_integrator_lane_use){0, 0};
    for (int lane = 0; lane < it->width; ++lane) {
        it->seats[lane].phase = TALI_LANE_EMPTY;
    }
}

bool tali_integrator_lanes_seat(tali_integrator_lanes *it, int lane, tal_integrator *integ,
                                tal_state *state, double t_end, bool one_by_one)
{
    seat *const at = &it->seats[lane];
    if (tal_state_nq(state) != it->nq || !tali_matter_lanes_seat(it->bodies, lane, state)) {
        return false;
    }
    if (it->forces != NULL) tali_force_lanes_seat(it->forces, lane, state);
    at->phase = TALI_LANE_BEGINS;
    at->integ = integ;
    at->state = state;
    at->one_by_one = one_by_one;
    at->t = tal_state_t(state);
    at->t_end = t_end;
    at->knows_rates = at->ends_with_rates = false;
    memcpy(at->y, tal_state_y(state), (size_t)it->ny * sizeof *at->y);
    return true;
}

void tali_integrator_lanes_leave(tali_integrator_lanes *it, int lane)
{
    it->seats[lane].phase = TALI_LANE_EMPTY;
}

tali_integrator_lane_phase tali_integrator_lanes_phase(const tali_integrator_lanes *it, int lane)
{
    return it->seats[lane].phase;
}

double tali_integrator_lanes_t(const tali_integrator_lanes *it, int lane)
{
    return it->seats[lane].t;
}

tal_status tali_integrator_lanes_put(tali_integrator_lanes *it, int lane)
{
    const seat *const at = &it->seats[lane];
    const tal_status st = tali_problem_put(&at->integ->problem, at->state, at->t, at->y);
    if (st != TAL_OK) return st;
    at->integ->has_step = true;
    return tali_integrator_finish(at->integ, at->state);
}

// --- rates ---

static bool is_stepping(const seat *at)
{
    return at->phase == TALI_LANE_BEGINS || at->phase == TALI_LANE_RETRIES;
}

// What an evaluation is asked for: which lanes, at which times, from which rows into which.
typedef struct wanted {
    bool lanes[TALI_MATTER_MOST_LANES];
    double t[TALI_MATTER_MOST_LANES];
    const double *y[TALI_MATTER_MOST_LANES];
    double *ydot[TALI_MATTER_MOST_LANES];
} wanted;

// Lanes that nobody asks are at work like the first that somebody does. False: there is none.
static bool fill_up(tali_integrator_lanes *it, wanted *what)
{
    int first = 0;
    while (first < it->width && !what->lanes[first]) {
        ++first;
    }
    if (first == it->width) return false;
    for (int lane = 0; lane < it->width; ++lane) {
        it->use.used += what->lanes[lane];
        if (what->lanes[lane]) continue;
        what->t[lane] = what->t[first];
        what->y[lane] = what->y[first];
        what->ydot[lane] = it->seats[lane].spare;
    }
    ++it->use.evaluations;
    return true;
}

// Is a row such that an integrator alone would evaluate it, or has that something to tell? Speeds
// whose squares overflow have.
static bool is_plain(const tali_integrator_lanes *it, const double y[])
{
    return tali_finite_all(y, it->nq) && tali_finite_squares(y + it->nq, it->nu) &&
           tali_matter_lanes_has_directions(it->bodies, y);
}

// ydot of the lanes that are asked. Those that fail in any way give up; where a mobility moves no
// mass, it is not known in which lane.
static void evaluate(tali_integrator_lanes *it, wanted *what)
{
    bool good[TALI_MATTER_MOST_LANES];
    for (int lane = 0; lane < it->width; ++lane) {
        if (what->lanes[lane] && !is_plain(it, what->y[lane])) {
            it->seats[lane].phase = TALI_LANE_GAVE_UP;
            what->lanes[lane] = false;
        }
    }
    if (!fill_up(it, what)) return;
    memcpy(good, what->lanes, sizeof good);
    const double *none[TALI_MATTER_MOST_LANES] = {it->none, it->none, it->none, it->none,
                                                  it->none, it->none, it->none, it->none};
    const double *const *f = none;
    tali_matter_lanes_move(it->bodies, what->y);
    if (it->forces != NULL) f = tali_force_lanes_apply(it->forces, what->t, what->y, good);
    const bool all = tali_matter_lanes_solve(it->bodies, f, what->y, what->ydot);
    for (int lane = 0; lane < it->width; ++lane) {
        if (!what->lanes[lane]) continue;
        if (all && good[lane] && tali_finite_all(what->ydot[lane], it->ny)) continue;
        it->seats[lane].phase = TALI_LANE_GAVE_UP;
    }
}

// --- 1: begin ---

// As take_step() and begin_step() of an integrator alone; there are no constraints.
static bool begin_step(const tali_integrator_lanes *it, seat *at)
{
    tal_integrator *const integ = at->integ;
    integ->has_step = integ->is_settled = integ->dense.is_known = false;
    if (at->one_by_one) integ->steps_left = integ->def.max_steps;
    if (tali_integrator_check_fixed_step(integ, at->t) != TAL_OK) return false;
    if (tali_integrator_spend_step(integ, at->t, at->t_end) != TAL_OK) return false;
    memcpy(integ->problem.y0, at->y, (size_t)it->ny * sizeof *at->y);
    integ->t0 = at->t;
    at->knows_rates = at->ends_with_rates;
    if (at->knows_rates) {
        memcpy(tali_integrator_stage(integ, 0), tali_integrator_stage(integ, integ->rk.stages - 1),
               (size_t)it->ny * sizeof *at->y);
    }
    at->h = tali_integrator_size_to_try(integ, at->t);
    at->may_grow = true;
    tali_integrator_hold_steps(integ, at->state);
    return tali_integrator_see_what_is_resolved(integ, at->state) == TAL_OK;
}

static void begin_steps(tali_integrator_lanes *it)
{
    wanted what = {.lanes = {false}};
    for (int lane = 0; lane < it->width; ++lane) {
        seat *const at = &it->seats[lane];
        if (at->phase != TALI_LANE_BEGINS) continue;
        if (!begin_step(it, at)) {
            at->phase = TALI_LANE_GAVE_UP;
            continue;
        }
        what.lanes[lane] = !at->knows_rates;
        what.t[lane] = at->t;
        what.y[lane] = at->y;
        what.ydot[lane] = tali_integrator_stage(at->integ, 0);
    }
    evaluate(it, &what);
}

// --- 2: stages ---

static bool combine(const tali_integrator_lanes *it, const seat *at, const tali_problem_row *row,
                    bool is_end)
{
    const tal_integrator *const integ = at->integ;
    const double h = at->t1 - at->t;
    if (!tali_problem_combine(integ->problem.y0, h, row, it->ny, at->trial)) return false;
    return !is_end || tali_matter_lanes_normalize(it->bodies, at->trial);
}

static void run_stage(tali_integrator_lanes *it, int i)
{
    wanted what = {.lanes = {false}};
    for (int lane = 0; lane < it->width; ++lane) {
        seat *const at = &it->seats[lane];
        if (!is_stepping(at) || i >= at->integ->rk.stages) continue;
        const tali_integrator_rk_plan *const rk = &at->integ->rk;
        const double c = at->integ->def.tableau->c[i];
        if (!combine(it, at, &rk->at[i], rk->is_at_end && i == rk->stages - 1)) {
            at->phase = TALI_LANE_GAVE_UP;
            continue;
        }
        what.lanes[lane] = true;
        what.t[lane] = c == 1.0 ? at->t1 : at->t + c * (at->t1 - at->t);
        what.y[lane] = at->trial;
        what.ydot[lane] = tali_integrator_stage(at->integ, i);
    }
    evaluate(it, &what);
}

static void run_stages(tali_integrator_lanes *it)
{
    int most = 0;
    for (int lane = 0; lane < it->width; ++lane) {
        seat *const at = &it->seats[lane];
        if (!is_stepping(at)) continue;
        at->t1 = tali_integrator_end_of_step(at->t, at->h, at->t_end);
        if (at->integ->rk.stages > most) most = at->integ->rk.stages;
    }
    for (int i = 1; i < most; ++i) {
        run_stage(it, i);
    }
}

// --- 3: judge ---

// The end of the trial step, and the norm of its error. False: only the integrator alone can say.
static bool end_trial(const tali_integrator_lanes *it, int lane, double *norm)
{
    const seat *const at = &it->seats[lane];
    tal_integrator *const integ = at->integ;
    tali_problem *const problem = &integ->problem;
    const tali_integrator_rk_plan *const rk = &integ->rk;
    *norm = 0.0;
    if (!rk->is_at_end && !combine(it, at, &rk->end, true)) return false;
    if (!is_plain(it, at->trial)) return false;
    if (!tali_integrator_is_controlled(integ)) return true;
    if (!tali_problem_combine(integ->zero, at->t1 - at->t, &rk->error, it->ny, problem->error) ||
        !tali_matter_lanes_error_along_u(it->bodies, lane, at->trial, problem->error,
                                         problem->weighed)) {
        return false;
    }
    *norm = tali_problem_weigh_error(problem, at->state, true);
    return true;
}

static void take_step(const tali_integrator_lanes *it, seat *at, double norm)
{
    tal_integrator *const integ = at->integ;
    tali_integrator_accept(integ, at->h, at->t1 - at->t, norm, at->may_grow);
    const size_t bytes = (size_t)it->ny * sizeof *at->y;
    memcpy(at->y, at->trial, bytes);
    at->t = at->t1;
    at->phase = TALI_LANE_BEGINS;
    at->ends_with_rates = integ->rk.is_at_end;
}

static bool try_again(seat *at, double norm)
{
    tal_integrator *const integ = at->integ;
    at->may_grow = false;
    at->knows_rates = true;
    at->h = at->t1 - at->t;
    at->phase = TALI_LANE_RETRIES;
    return tali_integrator_refuse(integ, at->state, at->t, norm, TAL_OK, &at->h) == TAL_OK &&
           tali_integrator_spend_step(integ, at->t, at->t_end) == TAL_OK;
}

void tali_integrator_lanes_try(tali_integrator_lanes *it, bool stepped[])
{
    begin_steps(it);
    run_stages(it);
    for (int lane = 0; lane < it->width; ++lane) {
        seat *const at = &it->seats[lane];
        double norm = 0.0;
        bool is_good = is_stepping(at) && end_trial(it, lane, &norm);
        const bool is_taken = is_good && norm <= at->integ->tolerance;
        if (is_taken) take_step(it, at, norm);
        if (is_good && !is_taken) is_good = try_again(at, norm);
        if (at->phase != TALI_LANE_EMPTY && !is_good) at->phase = TALI_LANE_GAVE_UP;
        stepped[lane] = is_taken || at->phase == TALI_LANE_GAVE_UP;
    }
}
