// Goals of optimal control: what is integrated along the motion, and what counts at its end.
#include "error_internal.h"

#include "optimize/optimizer_internal.h"

#include <math.h>
#include <string.h>

// Steps of central differences for goals of users, relative to 1 + |x|.
static const double STEP = 6e-6;

static int slot_of(const tal_optimizer *it, const tali_optimize_goal *goal)
{
    return tal_body_q_start(it->matter, it->state, goal->body) + goal->i;
}

// sum |c|^power, and its slopes
static double effort_of(const tal_optimizer *it, const tali_optimize_goal *goal, const double c[],
                        double by_c[])
{
    double sum = 0.0;
    for (int i = 0; i < it->nc; ++i) {
        const double size = fabs(c[i]);
        sum += pow(size, goal->power);
        if (by_c != NULL && size > 0.0) {
            by_c[i] += goal->weight * copysign(goal->power * pow(size, goal->power - 1.0), c[i]);
        }
    }
    return sum;
}

// The square of an error of tracking, and its slopes.
static double error_of(const tal_optimizer *it, const tali_optimize_goal *goal, double t,
                       const double q[], double by_q[], double *by_t)
{
    const int slot = slot_of(it, goal);
    const double error = q[slot] - tal_function_calc_value_1(goal->wanted, t);
    if (by_q != NULL) {
        by_q[slot] += goal->weight * 2.0 * error;
        *by_t -= goal->weight * 2.0 * error * tal_function_calc_derivative_1(goal->wanted, t, 1);
    }
    return error * error;
}

static bool counts(const tali_optimize_goal *goal, bool at_end)
{
    return goal->kind == TALI_OPTIMIZE_OWN ? goal->at_end == at_end
                                           : !at_end && goal->kind != TALI_OPTIMIZE_TIME;
}

tal_status tali_optimize_calc_cost(tal_optimizer *it, double t, const double x[], bool at_end,
                                   double *cost)
{
    const tali_optimize_node at = tali_optimize_node_at(it, x);
    tal_status st = TAL_OK;
    *cost = 0.0;
    for (int k = 0; k < it->num_goals && st == TAL_OK; ++k) {
        const tali_optimize_goal *goal = &it->goals[k];
        double value = 0.0;
        if (!counts(goal, at_end)) continue;
        if (goal->kind == TALI_OPTIMIZE_EFFORT) value = effort_of(it, goal, at.c, NULL);
        if (goal->kind == TALI_OPTIMIZE_TRACK) value = error_of(it, goal, t, at.q, NULL, NULL);
        if (goal->kind == TALI_OPTIMIZE_OWN) {
            st = goal->ops.calc(goal->self, it->system, it->state, &value);
        }
        *cost += goal->weight * value;
    }
    return st;
}

// Whether there is a goal that only differences can tell about.
static bool has_own(const tal_optimizer *it, bool at_end)
{
    for (int k = 0; k < it->num_goals; ++k) {
        if (it->goals[k].kind == TALI_OPTIMIZE_OWN && it->goals[k].at_end == at_end) return true;
    }
    return false;
}

// The sum of goals of users with one unknown moved, or the time (j < 0).
static tal_status calc_own(tal_optimizer *it, double t, const double x[], bool at_end, double *sum)
{
    tal_status st = tali_optimize_put(it, it->state, t, x);
    if (st == TAL_OK) st = tal_system_realize(it->system, it->state, TAL_STAGE_DYNAMICS);
    *sum = 0.0;
    for (int k = 0; k < it->num_goals && st == TAL_OK; ++k) {
        const tali_optimize_goal *goal = &it->goals[k];
        if (goal->kind != TALI_OPTIMIZE_OWN || goal->at_end != at_end) continue;
        double value = 0.0;
        st = goal->ops.calc(goal->self, it->system, it->state, &value);
        *sum += goal->weight * value;
    }
    return st;
}

static tal_status difference_own(tal_optimizer *it, double t, const double x[], bool at_end, int j,
                                 double *slope)
{
    const double h = STEP * (1.0 + fabs(j >= 0 ? x[j] : t));
    double sum[2] = {0.0, 0.0};
    tal_status st = TAL_OK;
    memcpy(it->moved, x, (size_t)it->size * sizeof *x);
    for (int way = 0; way < 2 && st == TAL_OK; ++way) {
        const double step = way == 0 ? h : -h;
        if (j >= 0) it->moved[j] = x[j] + step;
        st = calc_own(it, j >= 0 ? t : t + step, it->moved, at_end, &sum[way]);
    }
    *slope += (sum[0] - sum[1]) / (2.0 * h);
    return st;
}

tal_status tali_optimize_calc_cost_slopes(tal_optimizer *it, double t, const double x[],
                                          bool at_end, double by[], double *by_t)
{
    const tali_optimize_node at = tali_optimize_node_at(it, x);
    const int a0 = it->nq + it->nu + it->nz, c0 = a0 + it->nu;
    memset(by, 0, (size_t)it->size * sizeof *by);
    *by_t = 0.0;
    for (int k = 0; k < it->num_goals; ++k) {
        const tali_optimize_goal *goal = &it->goals[k];
        if (!counts(goal, at_end)) continue;
        if (goal->kind == TALI_OPTIMIZE_EFFORT) (void)effort_of(it, goal, at.c, by + c0);
        if (goal->kind == TALI_OPTIMIZE_TRACK) (void)error_of(it, goal, t, at.q, by, by_t);
    }
    tal_status st = TAL_OK;
    for (int j = 0; j < it->size && st == TAL_OK && has_own(it, at_end); ++j) {
        if (j < a0 || j >= c0) st = difference_own(it, t, x, at_end, j, &by[j]);
    }
    if (st == TAL_OK && it->has_time && has_own(it, at_end)) {
        st = difference_own(it, t, x, at_end, -1, by_t);
    }
    return st;
}

double tali_optimize_cost_of_time(const tal_optimizer *it)
{
    double sum = 0.0;
    for (int k = 0; k < it->num_goals; ++k) {
        if (it->goals[k].kind == TALI_OPTIMIZE_TIME) sum += it->goals[k].weight;
    }
    return sum;
}
