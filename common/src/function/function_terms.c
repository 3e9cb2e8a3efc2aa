// Polynomials of several arguments: sums of terms c x0^p0 x1^p1 ...
#include "function/function_internal.h"

#include <string.h>

typedef struct terms {
    tali_function_block block;
    int count, num_args;
    int highest[TAL_FUNCTION_MAX_ARGS]; // power of each argument
    const int *powers;                  // [count][num_args] in this block
    double c[];                         // [count]
} terms;

// What each power of an argument becomes after some differentiations by it: t^p becomes
// p (p - 1) ... (p - times + 1) t^(p - times).
typedef struct column {
    double value[TAL_FUNCTION_MAX_POWER + 1];
} column;

static void fill_column(double t, int highest, int times, column *out)
{
    double power = 1.0;
    for (int p = 0; p <= highest; ++p) {
        double factor = p < times ? 0.0 : power;
        for (int k = 0; k < times && p >= times; ++k) {
            factor *= p - k;
        }
        out->value[p] = factor;
        if (p >= times) power *= t;
    }
}

static double terms_derivative(const void *self, const double x[], int n, const int wrt[],
                               int order)
{
    const terms *f = self;
    column columns[TAL_FUNCTION_MAX_ARGS];
    for (int i = 0; i < n; ++i) {
        int times = 0;
        for (int k = 0; k < order; ++k) {
            times += wrt[k] == i ? 1 : 0;
        }
        fill_column(x[i], f->highest[i], times, &columns[i]);
    }
    double sum = 0.0;
    const int *powers = f->powers;
    for (int k = 0; k < f->count; ++k, powers += n) {
        double term = f->c[k];
        for (int i = 0; i < n; ++i) {
            term *= columns[i].value[powers[i]];
        }
        sum += term;
    }
    return sum;
}

static double terms_value(const void *self, const double x[], int n)
{
    return terms_derivative(self, x, n, NULL, 0);
}

static const tal_function_ops terms_ops = {
    .size = sizeof terms_ops,
    .name = "multivariate polynomial",
    .calc_value = terms_value,
    .calc_derivative = terms_derivative,
    .destroy = tali_function_block_destroy,
};

static tal_status check_terms(const tali_function_call *call, const double coefficients[],
                              const int powers[], int count, int num_args)
{
    tal_status st = tali_function_check_pointer(call, "coefficients", coefficients);
    if (st == TAL_OK) st = tali_function_check_pointer(call, "powers", powers);
    if (st != TAL_OK) return st;
    if (count < 1 || num_args < 1 || num_args > TAL_FUNCTION_MAX_ARGS) {
        return tali_fail(call->err, TAL_ERR_BAD_VALUE, call->where,
                         "%d terms of %d arguments: there must be 1 term or more, and 1 to %d "
                         "arguments",
                         count, num_args, TAL_FUNCTION_MAX_ARGS);
    }
    for (int k = 0; k < count; ++k) {
        for (int i = 0; i < num_args; ++i) {
            const int p = powers[(size_t)k * (size_t)num_args + (size_t)i];
            if (p >= 0 && p <= TAL_FUNCTION_MAX_POWER) continue;
            return tali_fail(call->err, TAL_ERR_BAD_VALUE, call->where,
                             "term %d has the power %d of argument %d: it must be 0 to %d", k, p, i,
                             TAL_FUNCTION_MAX_POWER);
        }
    }
    return tali_function_check_finite(call, "coefficients", coefficients, count);
}

static void fill_terms(terms *f, const double coefficients[], const int powers[])
{
    const size_t n = (size_t)f->num_args, count = (size_t)f->count;
    int *own = (int *)(void *)(f->c + count);
    memcpy(f->c, coefficients, count * sizeof *coefficients);
    memcpy(own, powers, n * count * sizeof *powers);
    f->powers = own;
    for (size_t k = 0; k < n * count; ++k) {
        int *highest = &f->highest[k % n];
        if (powers[k] > *highest) *highest = powers[k];
    }
}

tal_status tal_function_create_multivariate_polynomial(const tal_allocator *allocator,
                                                       const double coefficients[],
                                                       const int powers[], int count, int num_args,
                                                       tal_function **out, tal_error *err)
{
    tali_function_call call;
    tal_status st = tali_function_begin(&call, __func__, allocator, out, err);
    if (st == TAL_OK) st = check_terms(&call, coefficients, powers, count, num_args);
    if (st != TAL_OK) return st;
    const size_t each = sizeof(double) + (size_t)num_args * sizeof(int);
    terms *f = tali_function_block_create(&call, sizeof *f + (size_t)count * each);
    if (f == NULL) return TAL_ERR_NO_MEMORY;
    f->count = count;
    f->num_args = num_args;
    fill_terms(f, coefficients, powers);
    const tal_function_def def = {&terms_ops, f, num_args, TAL_FUNCTION_MAX_ORDER, NULL, 0};
    return tali_function_finish(&call, &def);
}

bool tali_function_terms_facts(const tal_function_ops *ops, const void *self,
                               tali_function_facts *facts)
{
    if (ops->calc_value != terms_value) return false;
    const terms *f = self;
    facts->list = f->c;
    facts->count = f->count;
    facts->powers = f->powers;
    return true;
}
