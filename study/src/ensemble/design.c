// Designs: the values of sample k.
#include "error_internal.h"

#include <talus/study/design.h>

#include <limits.h>
#include <math.h>

// --- making them ---

tal_design tal_design_table(const double values[], int num_parameters, int n)
{
    return (tal_design){.kind = TAL_DESIGN_TABLE,
                        .num_parameters = num_parameters,
                        .num_samples = n,
                        .values = values};
}

tal_design tal_design_grid(const int levels[], const double low[], const double high[],
                           int num_parameters)
{
    return (tal_design){.kind = TAL_DESIGN_GRID,
                        .num_parameters = num_parameters,
                        .num_samples = tal_grid_size(levels, num_parameters),
                        .levels = levels,
                        .low = low,
                        .high = high};
}

tal_design tal_design_random(const tal_distribution distributions[], int num_parameters,
                             uint64_t seed, int n)
{
    return (tal_design){.kind = TAL_DESIGN_RANDOM,
                        .num_parameters = num_parameters,
                        .num_samples = n,
                        .distributions = distributions,
                        .seed = seed};
}

tal_design tal_design_latin(const tal_distribution distributions[], int num_parameters,
                            uint64_t seed, int n)
{
    tal_design it = tal_design_random(distributions, num_parameters, seed, n);
    it.kind = TAL_DESIGN_LATIN;
    return it;
}

tal_design tal_design_function(tal_status (*calc)(void *context, int k, double values[]),
                               void *context, int num_parameters, int n)
{
    return (tal_design){.kind = TAL_DESIGN_FUNCTION,
                        .num_parameters = num_parameters,
                        .num_samples = n,
                        .calc = calc,
                        .context = context};
}

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

// --- checking them ---

static bool makes_sense(const tal_distribution *it)
{
    if (!isfinite(it->a) || !isfinite(it->b)) return false;
    if (it->kind == TAL_UNIFORM) return it->a <= it->b;
    if (it->kind == TAL_LOGNORMAL) return it->a > 0.0 && it->b >= 0.0;
    return it->kind == TAL_NORMAL && it->b >= 0.0;
}

static tal_status check_distributions(const tal_design *it, tal_error *err)
{
    if (it->distributions == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "'distributions' is NULL");
    for (int i = 0; i < it->num_parameters; ++i) {
        const tal_distribution *from = &it->distributions[i];
        if (makes_sense(from)) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "distribution %d, of kind %d with %g and %g, is invalid", i,
                         (int)from->kind, from->a, from->b);
    }
    return TAL_OK;
}

static tal_status check_grid(const tal_design *it, tal_error *err)
{
    if (it->levels == NULL || it->low == NULL || it->high == NULL) {
        return TALI_FAIL(err, TAL_ERR_NULL, "an array of the grid is NULL");
    }
    if (tal_grid_size(it->levels, it->num_parameters) != it->num_samples) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "the levels do not form a grid of %d samples",
                         it->num_samples);
    }
    for (int i = 0; i < it->num_parameters; ++i) {
        if (isfinite(it->high[i] - it->low[i])) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "parameter %d cannot go from %g to %g", i,
                         it->low[i], it->high[i]);
    }
    return TAL_OK;
}

tal_status tal_design_check(const tal_design *design, tal_error *err)
{
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    if (design == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "the design is NULL");
    if (design->num_samples < 0 || design->num_parameters < 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "a design cannot have %d samples of %d parameters",
                         design->num_samples, design->num_parameters);
    }
    const bool has_numbers = design->num_parameters > 0 && design->num_samples > 0;
    switch (design->kind) {
    case TAL_DESIGN_TABLE:
        if (!has_numbers || design->values != NULL) return TAL_OK;
        return TALI_FAIL(err, TAL_ERR_NULL, "the table of %d samples is NULL", design->num_samples);
    case TAL_DESIGN_GRID:
        return check_grid(design, err);
    case TAL_DESIGN_RANDOM:
    case TAL_DESIGN_LATIN:
        return has_numbers ? check_distributions(design, err) : TAL_OK;
    case TAL_DESIGN_FUNCTION:
        if (!has_numbers || design->calc != NULL) return TAL_OK;
        return TALI_FAIL(err, TAL_ERR_NULL, "the design has no function");
    default:
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there is no design of kind %d",
                         (int)design->kind);
    }
}

// --- tables and grids ---

static void fill_from_table(const tal_design *it, int k, double values[])
{
    for (int i = 0; i < it->num_parameters; ++i) {
        values[i] = it->values[(size_t)k * (size_t)it->num_parameters + (size_t)i];
    }
}

// Exactly high at the last level.
static double level_value(double low, double high, int i, int levels)
{
    if (levels == 1) return low;
    return i == levels - 1 ? high : low + (high - low) * i / (levels - 1);
}

static void fill_from_grid(const tal_design *it, int k, double values[])
{
    int rest = k;
    for (int i = it->num_parameters - 1; i >= 0; --i) {
        values[i] = level_value(it->low[i], it->high[i], rest % it->levels[i], it->levels[i]);
        rest /= it->levels[i];
    }
}

// --- random numbers ---

static double draw_value(const tal_distribution *from, tal_random *random)
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

static void fill_at_random(const tal_design *it, int k, double values[])
{
    tal_random random = {it->seed, (uint64_t)k, 0};
    for (int i = 0; i < it->num_parameters; ++i) {
        values[i] = draw_value(&it->distributions[i], &random);
    }
}

// --- Latin hypercubes ---

// The normal quantile of p in (0, 1/2]: -x with erfc(x / sqrt 2) = 2 p. From AS 26.2.23, whose
// error is below 4.5e-4, two steps of Halley's method reach round-off.
static double lower_normal_quantile(double p)
{
    static const double SQRT_2 = 1.41421356237309504880, SQRT_2_PI = 2.50662827463100050242;
    const double t = sqrt(-2.0 * log(p));
    double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                       (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    for (int k = 0; k < 2; ++k) {
        const double step = (0.5 * erfc(x / SQRT_2) - p) * SQRT_2_PI * exp(0.5 * x * x);
        x += step / (1.0 - 0.5 * x * step);
    }
    return -x;
}

static double quantile(const tal_distribution *from, double p)
{
    if (from->kind == TAL_UNIFORM) return (1.0 - p) * from->a + p * from->b;
    const double z = p > 0.5 ? -lower_normal_quantile(1.0 - p) : lower_normal_quantile(p);
    return from->kind == TAL_NORMAL ? from->a + from->b * z : from->a * exp(from->b * z);
}

// Streams of random numbers that no sample has: a sample's number is below 2^31.
static uint64_t stream_of(int parameter, int round)
{
    return (uint64_t)1 << 63 | (uint64_t)parameter << 8 | (uint64_t)round;
}

// A permutation of 0 ... n - 1 that needs no table: a Feistel network of four rounds (Luby and
// Rackoff 1988) permutes 0 ... 4^half - 1, and is repeated until it is back among the n.
static uint64_t permuted(uint64_t seed, int parameter, int k, int n)
{
    int half = 1;
    while ((uint64_t)1 << 2 * half < (uint64_t)n) {
        ++half;
    }
    const uint64_t low_bits = ((uint64_t)1 << half) - 1;
    uint64_t x = (uint64_t)k;
    do {
        for (int round = 0; round < 4; ++round) {
            const uint64_t left = x >> half, right = x & low_bits;
            tal_random random = {seed, stream_of(parameter, round), right};
            x = right << half | ((left ^ tal_random_bits(&random)) & low_bits);
        }
    } while (x >= (uint64_t)n);
    return x;
}

static void fill_from_hypercube(const tal_design *it, int k, double values[])
{
    tal_random random = {it->seed, (uint64_t)k, 0};
    for (int i = 0; i < it->num_parameters; ++i) {
        const double piece = (double)permuted(it->seed, i, k, it->num_samples);
        const double p = (piece + tal_random_uniform_open(&random)) / it->num_samples;
        values[i] = quantile(&it->distributions[i], fmin(p, 1.0 - 0x1p-53));
    }
}

// --- samples ---

tal_status tal_design_sample(const tal_design *design, int k, double values[])
{
    if (design == NULL || (values == NULL && design->num_parameters > 0)) {
        return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    }
    tal_error err;
    if (tal_design_check(design, &err) != TAL_OK) return TALI_BREACH(err.status, "%s", err.message);
    if (k < 0 || k >= design->num_samples) {
        return TALI_BREACH(TAL_ERR_BAD_INDEX, "there is no sample %d among %d", k,
                           design->num_samples);
    }
    if (design->num_parameters == 0) return TAL_OK;
    switch (design->kind) {
    case TAL_DESIGN_TABLE:
        fill_from_table(design, k, values);
        return TAL_OK;
    case TAL_DESIGN_GRID:
        fill_from_grid(design, k, values);
        return TAL_OK;
    case TAL_DESIGN_RANDOM:
        fill_at_random(design, k, values);
        return TAL_OK;
    case TAL_DESIGN_LATIN:
        fill_from_hypercube(design, k, values);
        return TAL_OK;
    default:
        return design->calc(design->context, k, values);
    }
}

tal_status tal_design_fill(const tal_design *design, double values[])
{
    tal_error err;
    tal_status st = tal_design_check(design, &err);
    if (st != TAL_OK) return TALI_BREACH(st, "%s", err.message);
    for (int k = 0; k < design->num_samples && st == TAL_OK; ++k) {
        st = tal_design_sample(design, k, values + (size_t)k * (size_t)design->num_parameters);
    }
    return st;
}
