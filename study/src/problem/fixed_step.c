// Steps of a fixed length: where each ends, and whether a State is as the last one left it.
#include "error_internal.h"
#include "hash_internal.h"

#include "problem/fixed_step_internal.h"

#include <float.h>
#include <math.h>

// Of a step's length: a rest up to this is round-off of many steps.
#define ROUND_OFF 1e-6

tali_problem_step tali_problem_next_step(double t0, double t1, double h)
{
    const double left = t1 - t0;
    const bool is_last = left <= h * (1.0 + ROUND_OFF), is_whole = left >= h * (1.0 - ROUND_OFF);
    return (tali_problem_step){.h = is_last && !is_whole ? left : h, .t = is_last ? t1 : t0 + h};
}

bool tali_problem_steps_move(double t0, double t1, double h)
{
    // neighbors among numbers up to x are at most eps x apart; a single step ends at t1 itself
    return t1 - t0 <= h || h > DBL_EPSILON * fmax(fabs(t0), fabs(t1));
}

bool tali_problem_is_ahead(const tal_state *state, double t, double h, const char *where)
{
    const double now = tal_state_t(state);
    if (!(t >= now) || !isfinite(t)) {
        (void)tali_breach(TAL_ERR_BAD_VALUE, where,
                          "the time %g is not finite or before that of the State, %g", t, now);
        return false;
    }
    if (tali_problem_steps_move(now, t, h)) return true;
    (void)tali_breach(TAL_ERR_BAD_VALUE, where,
                      "steps of %g s from %g to the time %g are lost in rounding: choose a longer "
                      "step, or times nearer to 0",
                      h, now, t);
    return false;
}

uint64_t tali_problem_print_of(const tal_state *state, int method)
{
    const double t = tal_state_t(state);
    uint64_t hash = tali_hash(TALI_HASH_SEED, &method, sizeof method);
    hash = tali_hash_numbers(hash, &t, 1);
    hash = tali_hash_numbers(hash, tal_state_y(state), (size_t)tal_state_ny(state));
    return hash != 0 ? hash : 1;
}
