// Tables of samples: grids and random numbers.
#include "error_internal.h"

#include <talus/study/sweep.h>

#include <limits.h>
#include <math.h>

int tal_grid_size(const int levels[], int num_parameters)
{
    if (levels == NULL || num_parameters < 1) return -1;
    int64_t size = 1;
    for (int i = 0; i < num_parameters; ++i) {
        if (levels[i] < 1) return -1;
        size *= levels[i];
        if (size > INT_MAX) return -1;
    }
    return (int)size;
}

// Exactly high at the last level.
static double level_value(double low, double high, int i, int levels)
{
    if (levels == 1) return low;
    return i == levels - 1 ? high : low + (high - low) * i / (levels - 1);
}

tal_status tal_grid_fill(const int levels[], const double low[], const double high[],
                         int num_parameters, double values[])
{
    if (levels == NULL || low == NULL || high == NULL || values == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "an array is NULL");
    }
    const int n = tal_grid_size(levels, num_parameters);
    if (n < 0) return TALI_BREACH(TAL_ERR_BAD_VALUE, "the levels do not form a grid");
    for (int i = 0; i < num_parameters; ++i) {
        if (isfinite(high[i] - low[i])) continue;
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "parameter %d cannot go from %g to %g", i, low[i],
                           high[i]);
    }
    for (int k = 0; k < n; ++k) {
        int rest = k;
        for (int i = num_parameters - 1; i >= 0; --i) {
            values[(size_t)k * (size_t)num_parameters + (size_t)i] =
                level_value(low[i], high[i], rest % levels[i], levels[i]);
            rest /= levels[i];
        }
    }
    return TAL_OK;
}

static double draw_sample(const tal_distribution *from, tal_random *random)
{
    switch (from->kind) {
    case TAL_NORMAL:
        return from->a + from->b * tal_random_normal(random);
    case TAL_LOGNORMAL:
        return from->a * exp(from->b * tal_random_normal(random));
    default:
        return tal_random_range(random, from->a, from->b);
    }
}

static bool makes_sense(const tal_distribution *it)
{
    if (!isfinite(it->a) || !isfinite(it->b)) return false;
    if (it->kind == TAL_UNIFORM) return it->a <= it->b;
    if (it->kind == TAL_LOGNORMAL) return it->a > 0.0 && it->b >= 0.0;
    return it->kind == TAL_NORMAL && it->b >= 0.0;
}

tal_status tal_random_fill(const tal_distribution distributions[], int num_parameters,
                           uint64_t seed, int n, double values[])
{
    if (distributions == NULL || values == NULL || num_parameters < 1 || n < 0) {
        return TALI_BREACH(TAL_ERR_NULL, "an array is NULL, or a size negative");
    }
    for (int i = 0; i < num_parameters; ++i) {
        if (makes_sense(&distributions[i])) continue;
        return TALI_BREACH(TAL_ERR_BAD_VALUE,
                           "distribution %d, of kind %d with %g and %g, is invalid", i,
                           (int)distributions[i].kind, distributions[i].a, distributions[i].b);
    }
    for (int k = 0; k < n; ++k) {
        tal_random random = {seed, (uint64_t)k, 0};
        for (int i = 0; i < num_parameters; ++i) {
            values[(size_t)k * (size_t)num_parameters + (size_t)i] =
                draw_sample(&distributions[i], &random);
        }
    }
    return TAL_OK;
}
