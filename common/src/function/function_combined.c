// Functions of functions: sum, product, composition.
#include "function/function_internal.h"

#include <string.h>

// One `self` for all three: borrowed pointers to functions that the tal_function owns.
typedef struct combined {
    tali_function_block block;
    int count;
    tal_function *f[]; // [count]; a composition has its outer function first
} combined;

// ---- sum

static double sum_value(const void *self, const double x[], int n)
{
    const combined *c = self;
    double sum = 0.0;
    for (int i = 0; i < c->count; ++i) {
        sum += tal_function_calc_value(c->f[i], x, n);
    }
    return sum;
}

static double sum_derivative(const void *self, const double x[], int n, const int wrt[], int order)
{
    const combined *c = self;
    double sum = 0.0;
    for (int i = 0; i < c->count; ++i) {
        sum += tal_function_calc_derivative(c->f[i], x, n, wrt, order);
    }
    return sum;
}

static const tal_function_ops sum_ops = {
    .size = sizeof sum_ops,
    .name = "sum",
    .calc_value = sum_value,
    .calc_derivative = sum_derivative,
    .destroy = tali_function_block_destroy,
};

// ---- product

enum {
    PRODUCT_MAX_ORDER = 3,
    NUM_SUBSETS = 1 << PRODUCT_MAX_ORDER
};

static double product_value(const void *self, const double x[], int n)
{
    const combined *c = self;
    double product = 1.0;
    for (int i = 0; i < c->count; ++i) {
        product *= tal_function_calc_value(c->f[i], x, n);
    }
    return product;
}

// The derivative by those entries of `wrt` whose bit is set in `subset`.
static double partial(const tal_function *f, const double x[], int n, const int wrt[], int order,
                      int subset)
{
    int chosen[PRODUCT_MAX_ORDER];
    int count = 0;
    for (int k = 0; k < order; ++k) {
        if ((subset >> k & 1) != 0) chosen[count++] = wrt[k];
    }
    return tal_function_calc_derivative(f, x, n, chosen, count);
}

/*
 * Leibniz, one factor after the other and without dividing by any: with D_S the derivative by the
 * entries S of wrt, and P the product of the factors so far,
 *
 *     D_S (P f) = sum over T in S of  D_{S-T} P  D_T f
 *
 * Going through S from the full set down, D_{S-T} P is still the one of the factors before.
 */
static double product_derivative(const void *self, const double x[], int n, const int wrt[],
                                 int order)
{
    const combined *c = self;
    const int full = (1 << order) - 1;
    double D_P[NUM_SUBSETS] = {1.0}; // the empty product
    for (int i = 0; i < c->count; ++i) {
        double D_f[NUM_SUBSETS];
        for (int S = 0; S <= full; ++S) {
            D_f[S] = partial(c->f[i], x, n, wrt, order, S);
        }
        for (int S = full; S >= 0; --S) {
            double sum = D_P[S] * D_f[0];
            for (int T = S; T > 0; T = (T - 1) & S) {
                sum += D_P[S & ~T] * D_f[T];
            }
            D_P[S] = sum;
        }
    }
    return D_P[full];
}

static const tal_function_ops product_ops = {
    .size = sizeof product_ops,
    .name = "product",
    .calc_value = product_value,
    .calc_derivative = product_derivative,
    .destroy = tali_function_block_destroy,
};

// ---- composition

enum {
    COMPOSITION_MAX_ORDER = 2
};

static void inner_values(const combined *c, const double x[], int n, double g[])
{
    for (int a = 1; a < c->count; ++a) {
        g[a - 1] = tal_function_calc_value(c->f[a], x, n);
    }
}

static void inner_derivatives(const combined *c, const double x[], int n, int i, double g_i[])
{
    for (int a = 1; a < c->count; ++a) {
        g_i[a - 1] = tal_function_calc_derivative(c->f[a], x, n, &i, 1);
    }
}

static double composition_value(const void *self, const double x[], int n)
{
    const combined *c = self;
    double g[TAL_FUNCTION_MAX_ARGS];
    inner_values(c, x, n, g);
    return tal_function_calc_value(c->f[0], g, c->count - 1);
}

/*
 * The chain rule, with a, b running over the inner functions:
 *
 *     d f(g) / dx_i       = sum_a f_a g_a,i
 *     d2 f(g) / dx_i dx_j = sum_a f_a g_a,ij + sum_ab f_ab g_a,i g_b,j
 */
static double composition_derivative(const void *self, const double x[], int n, const int wrt[],
                                     int order)
{
    const combined *c = self;
    const int num_inner = c->count - 1;
    double g[TAL_FUNCTION_MAX_ARGS], g_i[TAL_FUNCTION_MAX_ARGS], g_j[TAL_FUNCTION_MAX_ARGS];
    inner_values(c, x, n, g);
    inner_derivatives(c, x, n, wrt[0], g_i);
    if (order == 2) inner_derivatives(c, x, n, wrt[1], g_j);

    double sum = 0.0;
    for (int a = 0; a < num_inner; ++a) {
        const double f_a = tal_function_calc_derivative(c->f[0], g, num_inner, &a, 1);
        if (order == 1) {
            sum += f_a * g_i[a];
            continue;
        }
        sum += f_a * tal_function_calc_derivative(c->f[1 + a], x, n, wrt, 2);
        for (int b = 0; b < num_inner; ++b) {
            const int ab[] = {a, b};
            sum += tal_function_calc_derivative(c->f[0], g, num_inner, ab, 2) * g_i[a] * g_j[b];
        }
    }
    return sum;
}

static const tal_function_ops composition_ops = {
    .size = sizeof composition_ops,
    .name = "composition",
    .calc_value = composition_value,
    .calc_derivative = composition_derivative,
    .destroy = tali_function_block_destroy,
};

// ---- creation

// The lowest of the functions' highest orders, and `limit`.
static int common_order(tal_function *const f[], int count, int limit)
{
    int order = limit;
    for (int i = 0; i < count; ++i) {
        const int offered = tal_function_max_order(f[i]);
        if (offered < order) order = offered;
    }
    return order;
}

// The functions f[0..count-1] are there and take the same number of arguments.
static tal_status check_alike(const tali_function_call *call, const char *subject,
                              tal_function *const f[], int count)
{
    tal_status st = tali_function_check_pointer(call, subject, (const void *)f);
    if (st != TAL_OK) return st;
    if (count < 1) {
        return tali_fail(call->err, TAL_ERR_BAD_VALUE, call->where,
                         "the number of %s is %d: give at least 1", subject, count);
    }
    for (int i = 0; i < count; ++i) {
        st = tali_function_check_pointer(call, subject, f[i]);
        if (st != TAL_OK) return st;
        const int first = tal_function_num_args(f[0]), args = tal_function_num_args(f[i]);
        if (args == first) continue;
        return tali_fail(call->err, TAL_ERR_BAD_VALUE, call->where,
                         "%s[%d] takes %d arguments, but %s[0] takes %d", subject, i, args, subject,
                         first);
    }
    return TAL_OK;
}

// `outer` comes first when it is not NULL.
static tal_status combine(const tali_function_call *call, const tal_function_ops *ops,
                          tal_function *outer, tal_function *const f[], int count, int max_order)
{
    const int first = outer != NULL ? 1 : 0;
    const size_t size = sizeof(combined) + ((size_t)first + (size_t)count) * sizeof(tal_function *);
    combined *c = tali_function_block_create(call, size);
    if (c == NULL) return TAL_ERR_NO_MEMORY;
    c->count = first + count;
    if (outer != NULL) c->f[0] = outer;
    memcpy(c->f + first, f, (size_t)count * sizeof *f);

    const tal_function_def def = {ops, c, tal_function_num_args(f[0]), max_order, c->f, c->count};
    return tali_function_finish(call, &def);
}

tal_status tal_function_create_sum(const tal_allocator *allocator, tal_function *const terms[],
                                   int count, tal_function **out, tal_error *err)
{
    tali_function_call call;
    tal_status st = tali_function_begin(&call, __func__, allocator, out, err);
    if (st == TAL_OK) st = check_alike(&call, "terms", terms, count);
    if (st != TAL_OK) return st;
    return combine(&call, &sum_ops, NULL, terms, count,
                   common_order(terms, count, TAL_FUNCTION_MAX_ORDER));
}

tal_status tal_function_create_product(const tal_allocator *allocator,
                                       tal_function *const factors[], int count, tal_function **out,
                                       tal_error *err)
{
    tali_function_call call;
    tal_status st = tali_function_begin(&call, __func__, allocator, out, err);
    if (st == TAL_OK) st = check_alike(&call, "factors", factors, count);
    if (st != TAL_OK) return st;
    return combine(&call, &product_ops, NULL, factors, count,
                   common_order(factors, count, PRODUCT_MAX_ORDER));
}

tal_status tal_function_create_composition(const tal_allocator *allocator, tal_function *outer,
                                           tal_function *const inner[], int count,
                                           tal_function **out, tal_error *err)
{
    tali_function_call call;
    tal_status st = tali_function_begin(&call, __func__, allocator, out, err);
    if (st == TAL_OK) st = tali_function_check_pointer(&call, "outer", outer);
    if (st == TAL_OK) st = check_alike(&call, "inner", inner, count);
    if (st != TAL_OK) return st;
    if (tal_function_num_args(outer) != count) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "the outer function takes %d arguments, but there are %d inner ones",
                         tal_function_num_args(outer), count);
    }
    const int order = common_order(&outer, 1, COMPOSITION_MAX_ORDER);
    return combine(&call, &composition_ops, outer, inner, count, common_order(inner, count, order));
}

// ---- facts

bool tali_function_combined_facts(const tal_function_ops *ops, const void *self,
                                  tali_function_facts *facts)
{
    if (ops->calc_value != sum_ops.calc_value && ops->calc_value != product_ops.calc_value &&
        ops->calc_value != composition_ops.calc_value) {
        return false;
    }
    const combined *c = self;
    facts->parts = c->f;
    facts->num_parts = c->count;
    return true;
}
