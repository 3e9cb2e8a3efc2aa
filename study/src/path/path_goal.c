// The length of a path as a goal of an assembler.
#include "problem/study_internal.h"

#include <talus/study/path_goal.h>

#include <math.h>

// dr/dt = dl/dt = -g . u
static tal_status calc_slopes(const tal_path_goal *it, tal_state *state, const tal_matrix *J)
{
    const size_t mark = tal_state_scratch_mark(state);
    double *g = tal_state_scratch_take(state, (size_t)J->cols * sizeof *g);
    const tal_status st =
        g != NULL ? tal_path_calc_generalized(it->forces, state, it->path, g) : TAL_ERR_CAPACITY;
    for (int j = 0; j < J->cols && st == TAL_OK; ++j) {
        J->data[(size_t)j * (size_t)J->ld] = -g[j];
    }
    tal_state_scratch_release(state, mark);
    return st;
}

static tal_status calc(const void *self, const tal_system *system, tal_state *state, double r[],
                       const tal_matrix *J)
{
    (void)system;
    const tal_path_goal *it = self;
    const double length = tal_path_length(it->forces, state, it->path);
    if (isnan(length)) return TAL_RETRY;
    r[0] = length - it->length;
    return J != NULL ? calc_slopes(it, state, J) : TAL_OK;
}

tal_goal tal_path_goal_weighted(const tal_path_goal *wanted, double weight)
{
    const bool is_there = wanted != NULL && wanted->forces != NULL;
    if (!is_there) (void)TALI_BREACH(TAL_ERR_NULL, "the goal or its forces are NULL");
    const tal_goal goal = {.name = is_there ? tal_path_name(wanted->forces, wanted->path) : "",
                           .num_rows = 1,
                           .weight = weight,
                           .self = wanted,
                           .calc = is_there ? calc : NULL};
    return goal;
}
