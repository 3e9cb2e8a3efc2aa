// Function objects: creation from a table, checked evaluation, default derivatives.
#include "function/function_internal.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

struct tal_function {
    tal_allocator allocator;
    tal_function_ops ops;
    void *self;
    int num_args, max_order;
    int depth;    // 1 + the depth of the deepest function used
    bool adopted; // set once, while the adopter is being created
    int num_uses;
    tal_function *uses[];
};

static size_t size_of(int num_uses)
{
    return sizeof(tal_function) + (size_t)num_uses * sizeof(tal_function *);
}

// ---- what the built-ins share

tal_status tali_function_begin(tali_function_call *call, const char *where,
                               const tal_allocator *allocator, tal_function **out, tal_error *err)
{
    call->where = where;
    call->out = out;
    call->err = err;
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    if (out != NULL) *out = NULL;

    const tal_status st = tali_function_check_pointer(call, "out", out);
    if (st != TAL_OK) return st;
    if (tali_alloc_choose(allocator, &call->allocator, where) == TAL_OK) return TAL_OK;
    return tali_fail(err, TAL_ERR_NULL, where, "the allocator has no alloc or no free");
}

tal_status tali_function_check_pointer(const tali_function_call *call, const char *subject,
                                       const void *pointer)
{
    if (pointer != NULL) return TAL_OK;
    (void)tali_breach(TAL_ERR_NULL, call->where, "%s is NULL", subject);
    return tali_fail(call->err, TAL_ERR_NULL, call->where, "%s is NULL", subject);
}

tal_status tali_function_check_number(const tali_function_call *call, const char *subject,
                                      double value)
{
    if (isfinite(value)) return TAL_OK;
    return tali_fail(call->err, TAL_ERR_NOT_FINITE, call->where, "%s is %g: give a finite number",
                     subject, value);
}

tal_status tali_function_check_finite(const tali_function_call *call, const char *subject,
                                      const double values[], int count)
{
    for (int i = 0; i < count; ++i) {
        if (isfinite(values[i])) continue;
        return tali_fail(call->err, TAL_ERR_NOT_FINITE, call->where,
                         "%s[%d] is %g: give a finite number", subject, i, values[i]);
    }
    return TAL_OK;
}

void *tali_function_block_create(const tali_function_call *call, size_t size)
{
    tali_function_block *block = tali_alloc(&call->allocator, size);
    if (block == NULL) {
        (void)tali_fail(call->err, TAL_ERR_NO_MEMORY, call->where, "no memory for %zu bytes", size);
        return NULL;
    }
    block->allocator = call->allocator;
    block->size = size;
    return block;
}

void tali_function_block_destroy(void *self)
{
    if (self == NULL) return;
    const tali_function_block block = *(const tali_function_block *)self;
    tali_free(&block.allocator, self, block.size);
}

double tali_function_poly_derivative(const double a[], int degree, double t, int order)
{
    if (order > degree) return 0.0;
    if (isinf(t)) {
        // the highest power that is there decides; a zero in front of it would make 0 * inf
        while (degree > order && a[degree] == 0.0) {
            --degree;
        }
    }

    // Horner on the coefficients k (k-1) ... (k-order+1) a[k]
    double sum = 0.0;
    for (int k = degree; k >= order; --k) {
        double c = a[k];
        for (int j = 0; j < order; ++j) {
            c *= k - j;
        }
        sum = k == degree ? c : sum * t + c;
    }
    return sum;
}

double tali_function_poly_integral(const double a[], int degree, double t)
{
    double sum = 0.0;
    for (int k = degree; k >= 0; --k) {
        sum = (sum + a[k] / (k + 1)) * t;
    }
    return sum;
}

// ---- creation

tal_function_def tal_function_def_default(void)
{
    return (tal_function_def){.num_args = 1, .max_order = 2};
}

// Copy the table as far as its author knew it; what came later is NULL.
static tal_status copy_ops(const tali_function_call *call, const tal_function_ops *ops,
                           tal_function_ops *copy)
{
    const size_t least = offsetof(tal_function_ops, calc_derivative);
    if (ops->size < least || ops->size > sizeof *ops) {
        return tali_fail(call->err, TAL_ERR_BAD_VALUE, call->where,
                         "ops->size is %zu, not %zu: set it to sizeof(tal_function_ops)", ops->size,
                         sizeof *ops);
    }
    *copy = (tal_function_ops){0};
    memcpy(copy, ops, ops->size);
    tal_status st = tali_function_check_pointer(call, "ops->name", copy->name);
    if (st != TAL_OK) return st;
    return tali_function_check_pointer(call, "ops->calc_value",
                                       copy->calc_value != NULL ? ops : NULL);
}

static tal_status check_numbers(const tali_function_call *call, const tal_function_def *def,
                                const tal_function_ops *ops)
{
    if (def->num_args < 1 || def->num_args > TAL_FUNCTION_MAX_ARGS) {
        return tali_fail(call->err, TAL_ERR_BAD_VALUE, call->where,
                         "%s: the number of arguments is %d, not in 1..%d", ops->name,
                         def->num_args, TAL_FUNCTION_MAX_ARGS);
    }
    const int most = ops->calc_derivative != NULL ? TAL_FUNCTION_MAX_ORDER : 2;
    if (def->max_order < 0 || def->max_order > most) {
        return tali_fail(call->err, TAL_ERR_BAD_VALUE, call->where,
                         "%s: max_order is %d, not in 0..%d%s", ops->name, def->max_order, most,
                         ops->calc_derivative != NULL ? "" : ", as calc_derivative is NULL");
    }
    if (def->num_uses < 0) {
        return tali_fail(call->err, TAL_ERR_BAD_VALUE, call->where, "%s: num_uses is %d", ops->name,
                         def->num_uses);
    }
    if (def->num_uses == 0) return TAL_OK;
    return tali_function_check_pointer(call, "the list of functions", (const void *)def->uses);
}

static void release(const tal_function_def *def, int count)
{
    for (int i = 0; i < count; ++i) {
        def->uses[i]->adopted = false;
    }
}

// Adopt the functions used, all or none, and find how deep the nesting becomes.
static tal_status adopt(const tali_function_call *call, const tal_function_def *def,
                        const char *name, int *depth)
{
    tal_status st = TAL_OK;
    int deepest = 0, taken = 0;
    for (; taken < def->num_uses && st == TAL_OK; ++taken) {
        tal_function *used = def->uses[taken];
        st = tali_function_check_pointer(call, "a function to adopt", used);
        if (st != TAL_OK) break;
        if (used->adopted) {
            st = tali_fail(call->err, TAL_ERR_BAD_VALUE, call->where,
                           "%s: function %d ('%s') is listed twice or already part of another",
                           name, taken, used->ops.name);
            break;
        }
        used->adopted = true;
        if (used->depth > deepest) deepest = used->depth;
    }
    *depth = 1 + deepest;
    if (st == TAL_OK && *depth > TAL_FUNCTION_MAX_DEPTH) {
        st = tali_fail(call->err, TAL_ERR_CAPACITY, call->where,
                       "%s: functions would be nested %d deep; %d is the most", name, *depth,
                       TAL_FUNCTION_MAX_DEPTH);
    }
    if (st != TAL_OK) release(def, taken);
    return st;
}

// Check a definition, adopt what it uses, and make the function. On failure nothing is adopted.
static tal_status create_function(const tali_function_call *call, const tal_function_def *def)
{
    tal_function_ops ops = {0};
    tal_status st = tali_function_check_pointer(call, "def", def);
    if (st == TAL_OK) st = tali_function_check_pointer(call, "def->ops", def->ops);
    if (st == TAL_OK) st = copy_ops(call, def->ops, &ops);
    if (st == TAL_OK) st = check_numbers(call, def, &ops);
    int depth = 0;
    if (st == TAL_OK) st = adopt(call, def, ops.name, &depth);
    if (st != TAL_OK) return st;

    tal_function *f = tali_alloc(&call->allocator, size_of(def->num_uses));
    if (f == NULL) {
        release(def, def->num_uses);
        return tali_fail(call->err, TAL_ERR_NO_MEMORY, call->where, "no memory for %zu bytes",
                         size_of(def->num_uses));
    }
    f->allocator = call->allocator;
    f->ops = ops;
    f->self = def->self;
    f->num_args = def->num_args;
    f->max_order = def->max_order;
    f->depth = depth;
    f->num_uses = def->num_uses;
    for (int i = 0; i < def->num_uses; ++i) {
        f->uses[i] = def->uses[i];
    }
    *call->out = f;
    return TAL_OK;
}

tal_status tal_function_create(const tal_allocator *allocator, const tal_function_def *def,
                               tal_function **out, tal_error *err)
{
    tali_function_call call;
    const tal_status st = tali_function_begin(&call, __func__, allocator, out, err);
    if (st != TAL_OK) return st;
    return create_function(&call, def);
}

tal_status tali_function_finish(const tali_function_call *call, const tal_function_def *def)
{
    const tal_status st = create_function(call, def);
    if (st != TAL_OK) tali_function_block_destroy(def->self);
    return st;
}

// As deep as the nesting, which creation has limited.
// NOLINTNEXTLINE(misc-no-recursion)
static void destroy_tree(tal_function *f)
{
    if (f->ops.destroy != NULL) f->ops.destroy(f->self);
    for (int i = 0; i < f->num_uses; ++i) {
        destroy_tree(f->uses[i]);
    }
    const tal_allocator allocator = f->allocator;
    tali_free(&allocator, f, size_of(f->num_uses));
}

void tal_function_destroy(tal_function *f)
{
    if (f == NULL) return;
    if (f->adopted) {
        (void)TALI_BREACH(TAL_ERR_BAD_VALUE,
                          "this %s is part of another function and is destroyed with it",
                          f->ops.name);
        return;
    }
    destroy_tree(f);
}

// ---- evaluation

// f at x with argument i replaced by xi and argument j by xj (i and j may be the same).
static double moved_value(const tal_function *f, const double x[], int i, double xi, int j,
                          double xj)
{
    double moved[TAL_FUNCTION_MAX_ARGS];
    memcpy(moved, x, (size_t)f->num_args * sizeof *x);
    moved[i] = xi;
    moved[j] = xj;
    return f->ops.calc_value(f->self, moved, f->num_args);
}

static double step_of(double x, double relative)
{
    return relative * fmax(fabs(x), 1.0);
}

// The default derivative of a table without calc_derivative. The steps balance truncation against
// round-off, h^2 |f'''| / 6 against eps |f| / h, and h^2 |f''''| / 12 against 4 eps |f| / h^2; each
// quotient is formed with the distance between the points that were really used.
static double differences(const tal_function *f, const double x[], const int wrt[], int order)
{
    assert(order == 1 || order == 2);
    const int i = wrt[0], j = wrt[order - 1];
    const double relative = order == 1 ? cbrt(DBL_EPSILON) : sqrt(sqrt(DBL_EPSILON));
    const double hi = step_of(x[i], relative), hj = step_of(x[j], relative);
    const double ip = x[i] + hi, im = x[i] - hi, jp = x[j] + hj, jm = x[j] - hj;

    if (order == 1) {
        return (moved_value(f, x, i, ip, i, ip) - moved_value(f, x, i, im, i, im)) / (ip - im);
    }
    if (i == j) {
        const double middle = f->ops.calc_value(f->self, x, f->num_args);
        const double up = (moved_value(f, x, i, ip, i, ip) - middle) / (ip - x[i]);
        const double down = (middle - moved_value(f, x, i, im, i, im)) / (x[i] - im);
        return (up - down) / (0.5 * (ip - im));
    }
    const double up = moved_value(f, x, i, ip, j, jp) - moved_value(f, x, i, im, j, jp);
    const double down = moved_value(f, x, i, ip, j, jm) - moved_value(f, x, i, im, j, jm);
    return (up - down) / ((ip - im) * (jp - jm));
}

static bool arguments_fit(const char *where, const tal_function *f, const double x[], int n)
{
    if (f == NULL || x == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "%s is NULL", f == NULL ? "the function" : "x");
        return false;
    }
    if (n != f->num_args) {
        (void)tali_breach(TAL_ERR_BAD_VALUE, where, "this %s takes %d arguments, not %d",
                          f->ops.name, f->num_args, n);
        return false;
    }
    return true;
}

static bool derivative_exists(const char *where, const tal_function *f, const int wrt[], int order)
{
    if (order < 0 || order > f->max_order) {
        (void)tali_breach(TAL_ERR_BAD_VALUE, where,
                          "this %s has derivatives of order 0 to %d, not %d", f->ops.name,
                          f->max_order, order);
        return false;
    }
    if (order > 0 && wrt == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where,
                          "wrt is NULL: list the arguments to differentiate by");
        return false;
    }
    for (int k = 0; k < order; ++k) {
        if (wrt[k] >= 0 && wrt[k] < f->num_args) continue;
        (void)tali_breach(TAL_ERR_BAD_INDEX, where,
                          "wrt[%d] is %d, but this %s has arguments 0 to %d", k, wrt[k],
                          f->ops.name, f->num_args - 1);
        return false;
    }
    return true;
}

static bool any_nan(const double x[], int n)
{
    for (int i = 0; i < n; ++i) {
        if (isnan(x[i])) return true;
    }
    return false;
}

static double evaluate(const char *where, const tal_function *f, const double x[], int n,
                       const int wrt[], int order)
{
    if (!arguments_fit(where, f, x, n)) return (double)NAN;
    if (!derivative_exists(where, f, wrt, order)) return (double)NAN;
    if (any_nan(x, n)) return (double)NAN;
    if (order == 0) return f->ops.calc_value(f->self, x, n);
    if (f->ops.calc_derivative == NULL) return differences(f, x, wrt, order);
    return f->ops.calc_derivative(f->self, x, n, wrt, order);
}

double tal_function_calc_value(const tal_function *f, const double x[], int n)
{
    return evaluate(__func__, f, x, n, NULL, 0);
}

double tal_function_calc_derivative(const tal_function *f, const double x[], int n, const int wrt[],
                                    int order)
{
    return evaluate(__func__, f, x, n, wrt, order);
}

double tal_function_calc_value_1(const tal_function *f, double x)
{
    return evaluate(__func__, f, &x, 1, NULL, 0);
}

double tal_function_calc_derivative_1(const tal_function *f, double x, int order)
{
    static const int wrt[TAL_FUNCTION_MAX_ORDER] = {0};
    return evaluate(__func__, f, &x, 1, wrt, order);
}

// Gauss's formula of eight points on each of 32 parts, for functions without an integral of their
// own: exact for polynomials of degree 15.
static double gauss_integral(const tal_function *f, double a, double b)
{
    enum {
        PARTS = 32
    };

    static const double at[4] = {0.18343464249564980494, 0.52553240991632898582,
                                 0.79666647741362673959, 0.96028985649753623168};
    static const double weight[4] = {0.36268378337836198297, 0.31370664587788728734,
                                     0.22238103445337447054, 0.10122853629037625915};
    const double half = (b - a) / (2 * PARTS);
    double sum = 0.0;
    for (int i = 0; i < PARTS; ++i) {
        const double middle = a + (2 * i + 1) * half;
        for (int k = 0; k < 4; ++k) {
            const double low = middle - at[k] * half, high = middle + at[k] * half;
            sum += weight[k] *
                   (f->ops.calc_value(f->self, &low, 1) + f->ops.calc_value(f->self, &high, 1));
        }
    }
    return half * sum;
}

double tal_function_calc_integral_1(const tal_function *f, double a, double b)
{
    if (!arguments_fit(__func__, f, &a, 1)) return (double)NAN;
    if (!isfinite(a) || !isfinite(b)) return (double)NAN;
    if (f->ops.calc_integral == NULL) return gauss_integral(f, a, b);
    return f->ops.calc_integral(f->self, a, b);
}

int tal_function_num_args(const tal_function *f)
{
    if (f != NULL) return f->num_args;
    (void)TALI_BREACH(TAL_ERR_NULL, "the function is NULL");
    return -1;
}

int tal_function_max_order(const tal_function *f)
{
    if (f != NULL) return f->max_order;
    (void)TALI_BREACH(TAL_ERR_NULL, "the function is NULL");
    return -1;
}

const char *tal_function_name(const tal_function *f)
{
    if (f != NULL) return f->ops.name;
    (void)TALI_BREACH(TAL_ERR_NULL, "the function is NULL");
    return NULL;
}

bool tali_function_facts_of(const tal_function *f, tali_function_facts *facts)
{
    *facts = (tali_function_facts){.kind = f->ops.name};
    if (f->ops.destroy != tali_function_block_destroy) return false;
    facts->count = facts->num_args = f->num_args; // of a linear function
    return tali_function_basic_facts(&f->ops, f->self, facts) ||
           tali_function_terms_facts(&f->ops, f->self, facts) ||
           tali_function_piecewise_facts(&f->ops, f->self, facts) ||
           tali_function_nodes_facts(&f->ops, f->self, facts) ||
           tali_function_bezier_facts(&f->ops, f->self, facts) ||
           tali_function_combined_facts(&f->ops, f->self, facts);
}

const tal_function_ops *tali_function_ops_of(const tal_function *f, const void **self)
{
    *self = f->self;
    return &f->ops;
}
