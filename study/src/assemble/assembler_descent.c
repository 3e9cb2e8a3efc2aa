// Goals as small as the constraints leave them, from a State that meets these.
#include "array_internal.h"

#include "assemble/assembler_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Damping to begin with, and the least that is not taken as none.
static const double FIRST_DAMPING = 1e-4, LEAST_DAMPING = 1e-6;

// A gain below this part of the goal is not worth another search.
static const double SMALL_GAIN = 1e-6;

// A trial: the step, then back to the constraints. `better`: they are met and the goal is smaller.
static tal_status try_goal(tal_assembler *it, tal_state *state, double *goal, bool *better,
                           int *iterations)
{
    const bool has_equations = it->at.m > 0;
    tal_status st = tali_assembler_move(it, state, it->x);
    double norm = 0.0, reached = 0.0;
    if (st == TAL_OK && has_equations) {
        st = tali_assembler_meet(it, state, it->def.tolerance, 10, &norm, iterations);
    }
    if (st == TAL_OK) st = tali_assembler_goal(it, state, &reached);
    if (st == TAL_RETRY) { // a goal does not exist there
        it->error_record = (tal_error){TAL_OK, "", ""};
        *better = false;
        return tali_assembler_put_q(it, state, it->q_goal);
    }
    *better = st == TAL_OK && norm <= it->def.tolerance && reached < *goal;
    if (*better) *goal = reached;
    if (st != TAL_OK || *better) return st;
    return tali_assembler_put_q(it, state, it->q_goal);
}

// Where a search for the least goal is.
typedef struct descent {
    double lambda;      // damping
    double step;        // size of the full step where the State is: the one without damping
    double step_before; // and where it was before
    double promised;    // by how much such a step would lower the goal, twice
    int num_slow;       // steps that did not shrink as they do where residuals are small
    bool is_whole;      // the curvature of residuals and constraints counts, too
    bool is_convex;     // it does not curve down
    bool by_slopes;     // the goal does not tell any more which step is better
    double least;       // by slopes: the shortest full step so far, from q_least
} descent;

// The full step from where the State is. Where the goal is not convex, the whole curvature gives
// none, and first derivatives of the residuals lead the way.
static tal_status find_full_step(tal_assembler *it, tal_state *state, descent *at)
{
    tal_status st = tali_assembler_linearize_equations(it, state);
    if (st == TAL_OK) st = tali_assembler_linearize_goals(it, state);
    if (st == TAL_OK && at->is_whole) st = tali_assembler_curve(it, state);
    if (st == TAL_OK) st = tali_assembler_solve_bounded(it, state, 0.0, it->full);
    at->is_convex = !at->is_whole || (st != TAL_ERR_SINGULAR && st != TAL_RETRY);
    if (!at->is_convex) {
        it->error_record = (tal_error){TAL_OK, "", ""};
        st = tali_assembler_linearize_equations(it, state);
        if (st == TAL_OK) st = tali_assembler_linearize_goals(it, state);
        if (st == TAL_OK) st = tali_assembler_solve_bounded(it, state, 0.0, it->full);
    }
    if (st != TAL_OK) return st;
    at->step = tali_assembler_step_size(it, it->full);
    at->promised = fabs(tali_array_dot(it->at.g, it->full, it->nu));
    return TAL_OK;
}

// By how much round-off changes the goal, and errors of the constraints, which g does work on.
static double goal_noise(const tal_assembler *it, double goal)
{
    double g = 0.0;
    for (int i = 0; i < it->nu; ++i) {
        g += fabs(it->at.g[i]) / it->W_u[i];
    }
    const double error =
        it->at.m > 0 ? sqrt(tali_array_dot(it->at.c, it->at.c, it->at.m) / it->at.m) : 0.0;
    return 1e3 * DBL_EPSILON * goal + 4.0 * error * g;
}

// Whether the step at hand is the last: no longer than the accuracy, and with it all that would
// follow when steps become shorter as slowly as they did. No step is shorter than round-off of q.
static bool is_last(const tal_assembler *it, const tal_state *state, const descent *at)
{
    if (!at->is_convex) return false;
    const double rate = at->step / at->step_before; // zero at first
    const double rest = rate < 1.0 ? rate / (1.0 - rate) : (double)INFINITY;
    if (at->step * fmax(1.0, rest) <= it->def.accuracy) return true;
    const int nq = tal_group_size(it->system, state, it->q_group);
    const double *q = tal_state_q(state) + tal_group_start(it->system, state, it->q_group);
    double largest = 1.0;
    for (int i = 0; i < nq; ++i) {
        largest = fmax(largest, fabs(q[i]));
    }
    return at->step <= 4.0 * DBL_EPSILON * largest;
}

// One iteration of Levenberg and Marquardt: a step counts if the goal is smaller there.
static tal_status follow_goal(tal_assembler *it, tal_state *state, descent *at, tal_assembly *found)
{
    bool better = false;
    tal_status st = TAL_OK;
    memcpy(it->x, it->full, (size_t)it->nu * sizeof *it->x);
    if (at->lambda > 0.0) st = tali_assembler_solve_bounded(it, state, at->lambda, it->x);
    if (st == TAL_OK) st = try_goal(it, state, &found->goal, &better, &found->iterations);
    if (better) {
        at->step_before = at->step;
        at->lambda = at->lambda > LEAST_DAMPING ? 0.1 * at->lambda : 0.0;
    } else {
        at->lambda = at->lambda > 0.0 ? 10.0 * at->lambda : FIRST_DAMPING;
    }
    return st;
}

// Takes the full step whether the goal is smaller there or not.
static tal_status take_full_step(tal_assembler *it, tal_state *state, int *iterations)
{
    const bool has_equations = it->at.m > 0;
    const tal_status st = tali_assembler_move(it, state, it->full);
    double norm = 0.0;
    return st == TAL_OK && has_equations
               ? tali_assembler_meet(it, state, it->def.tolerance, 10, &norm, iterations)
               : st;
}

// One iteration near the minimum, where the goal is flat but its slopes still tell the way: full
// steps become shorter. Where they do not, the whole curvature is taken; where they still do not,
// round-off is all that is left, and the best place is the result.
static tal_status follow_slopes(tal_assembler *it, tal_state *state, descent *at,
                                tal_assembly *found)
{
    if (!(at->step < 0.9 * at->least)) {
        found->converged = at->is_whole;
        at->is_whole = true;
        at->least = at->step_before = (double)INFINITY;
        return tali_assembler_put_q(it, state, it->q_least);
    }
    at->least = at->step_before = at->step;
    tali_assembler_get_q(it, state, it->q_least);
    return take_full_step(it, state, &found->iterations);
}

// The last step. It is not taken where the goal tells that it leads up.
static tal_status finish(tal_assembler *it, tal_state *state, const descent *at,
                         tal_assembly *found)
{
    bool better;
    found->converged = true;
    if (at->step == 0.0) return TAL_OK;
    memcpy(it->x, it->full, (size_t)it->nu * sizeof *it->x);
    if (!at->by_slopes) return try_goal(it, state, &found->goal, &better, &found->iterations);
    const tal_status st = take_full_step(it, state, &found->iterations);
    return st == TAL_OK ? tali_assembler_goal(it, state, &found->goal) : st;
}

// Steps that know only the first derivatives of residuals shrink slowly where these are large. The
// whole curvature costs as much as two such steps for every speed, so it waits until more than that
// are ahead, or until steps do not shrink at all.
static void watch(const tal_assembler *it, descent *at, double rate)
{
    const bool is_slow = rate > 0.3 || at->lambda > 0.0;
    const double ahead = rate < 1.0 ? log(it->def.accuracy / at->step) / log(rate) : 1e9;
    if (is_slow) ++at->num_slow;
    if (at->num_slow > 5 && ahead > 2.0 * it->nu) at->is_whole = true;
    if (at->num_slow > 20) at->is_whole = true;
}

// First the goal decides on steps, then, where it is too flat for that, its slopes do.
tal_status tali_assembler_improve(tal_assembler *it, tal_state *state, tal_assembly *found)
{
    descent at = {.step_before = (double)INFINITY, .least = (double)INFINITY};
    found->converged = false;
    for (int k = 0; k < it->def.max_iterations && !found->converged; ++k, ++found->iterations) {
        tali_assembler_get_q(it, state, it->q_goal);
        tal_status st = find_full_step(it, state, &at);
        if (st != TAL_OK) return st;
        found->step = at.step;
        if (is_last(it, state, &at)) return finish(it, state, &at, found);
        const bool is_stuck =
            at.lambda >= TALI_ASSEMBLER_MOST_DAMPING; // no damping has made the goal smaller
        if (is_stuck && !(at.promised <= SMALL_GAIN * found->goal)) return TAL_OK;
        const bool is_flat = at.is_convex && at.promised <= goal_noise(it, found->goal);
        at.by_slopes = at.by_slopes || is_stuck || is_flat;
        if (at.by_slopes) {
            st = follow_slopes(it, state, &at, found);
            if (st == TAL_OK) st = tali_assembler_goal(it, state, &found->goal);
        } else {
            watch(it, &at, at.step / at.step_before);
            st = follow_goal(it, state, &at, found);
        }
        if (st != TAL_OK) return st;
    }
    return TAL_OK;
}
