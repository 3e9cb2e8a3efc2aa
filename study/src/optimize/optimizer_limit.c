// Path constraints of optimal control: ranges of numbers that the State has at all nodes.
#include "error_internal.h"

#include "optimize/optimizer_internal.h"

#include <math.h>
#include <string.h>

// Steps of central differences, relative to 1 + |x|.
static const double STEP = 6e-6;

tal_status tali_optimize_calc_limit(tal_optimizer *it, int limit, double t, const double x[],
                                    double *value)
{
    const tali_optimize_limit *at = &it->limits[limit];
    tal_status st = tali_optimize_put(it, it->state, t, x);
    if (st == TAL_OK) st = tal_system_realize(it->system, it->state, TAL_STAGE_DYNAMICS);
    return st == TAL_OK ? at->ops.calc(at->self, it->system, it->state, value) : st;
}

// The slope by unknown j of a node, or by time (j < 0).
static tal_status difference(tal_optimizer *it, int limit, double t, const double x[], int j,
                             double *slope)
{
    const double h = STEP * (1.0 + fabs(j >= 0 ? x[j] : t));
    double value[2] = {0.0, 0.0};
    tal_status st = TAL_OK;
    memcpy(it->moved, x, (size_t)it->size * sizeof *x);
    for (int way = 0; way < 2 && st == TAL_OK; ++way) {
        const double step = way == 0 ? h : -h;
        if (j >= 0) it->moved[j] = x[j] + step;
        st = tali_optimize_calc_limit(it, limit, j >= 0 ? t : t + step, it->moved, &value[way]);
    }
    *slope = (value[0] - value[1]) / (2.0 * h);
    return st;
}

tal_status tali_optimize_limit_slopes(tal_optimizer *it, int limit, double t, const double x[],
                                      double by[], double *by_t)
{
    const int a0 = it->ny, c0 = a0 + it->nu;
    tal_status st = TAL_OK;
    memset(by, 0, (size_t)it->size * sizeof *by);
    *by_t = 0.0;
    for (int j = 0; j < it->size && st == TAL_OK; ++j) {
        const bool is_acceleration = j >= a0 && j < c0; // Dynamics does not know it
        if (!is_acceleration) st = difference(it, limit, t, x, j, &by[j]);
    }
    return st == TAL_OK && it->has_time ? difference(it, limit, t, x, -1, by_t) : st;
}
