// Values at nodes, held beyond the ends: straight lines or steps between them. What a control is
// often given by.
#include "function/function_internal.h"

#include <string.h>

typedef struct nodes {
    tali_function_block block;
    int count;
    tal_nodes kind;
    double xy[]; // [2 count] x, then y
} nodes;

// The first node at or after x; `count` when there is none.
static int node_from(const nodes *f, double x)
{
    int low = 0, high = f->count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (f->xy[middle] < x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static double nodes_value(const void *self, const double x[], int n)
{
    (void)n;
    const nodes *f = self;
    const double *y = f->xy + f->count;
    const int i = node_from(f, x[0]);
    if (i == f->count) return y[i - 1];
    if (i == 0 || f->kind == TAL_NODES_STEPS) return y[i];
    const double part = (x[0] - f->xy[i - 1]) / (f->xy[i] - f->xy[i - 1]);
    return part < 1.0 ? y[i - 1] + part * (y[i] - y[i - 1]) : y[i];
}

// At a node the slope is the one on its left.
static double nodes_derivative(const void *self, const double x[], int n, const int wrt[],
                               int order)
{
    (void)n;
    (void)wrt;
    const nodes *f = self;
    const double *y = f->xy + f->count;
    const int i = node_from(f, x[0]);
    if (i == 0 || i == f->count || f->kind == TAL_NODES_STEPS || order > 1) return 0.0;
    return (y[i] - y[i - 1]) / (f->xy[i] - f->xy[i - 1]);
}

static const tal_function_ops nodes_ops = {
    .size = sizeof nodes_ops,
    .name = "nodes",
    .calc_value = nodes_value,
    .calc_derivative = nodes_derivative,
    .destroy = tali_function_block_destroy,
};

tal_status tal_function_create_nodes(const tal_allocator *allocator, const double x[],
                                     const double y[], int count, tal_nodes kind,
                                     tal_function **out, tal_error *err)
{
    tali_function_call call;
    tal_status st = tali_function_begin(&call, __func__, allocator, out, err);
    if (st == TAL_OK) st = tali_function_check_knots(&call, x, y, count, 1);
    if (st != TAL_OK) return st;
    if (kind != TAL_NODES_LINEAR && kind != TAL_NODES_STEPS) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "kind is %d, not a tal_nodes", (int)kind);
    }
    const size_t bytes = (size_t)count * sizeof(double);
    nodes *f = tali_function_block_create(&call, sizeof *f + 2 * bytes);
    if (f == NULL) return TAL_ERR_NO_MEMORY;
    f->count = count;
    f->kind = kind;
    memcpy(f->xy, x, bytes);
    memcpy(f->xy + count, y, bytes);
    const tal_function_def def = {&nodes_ops, f, 1, TAL_FUNCTION_MAX_ORDER, NULL, 0};
    return tali_function_finish(&call, &def);
}

bool tali_function_nodes_facts(const tal_function_ops *ops, const void *self,
                               tali_function_facts *facts)
{
    if (ops->calc_value != nodes_value) return false;
    const nodes *f = self;
    facts->list = f->xy;
    facts->count = f->count;
    facts->y = f->xy + f->count;
    facts->stride = 1;
    facts->end = (tal_spline_end)f->kind;
    return true;
}
