// What is done with a whole graph: counting, evaluating, differentiating.
#include "generate/graph_internal.h"

#include <math.h>

static bool has_operands(tali_graph_op op)
{
    return op != TALI_GRAPH_CONSTANT && op != TALI_GRAPH_INPUT;
}

void tali_graph_uses(const tali_graph *g, int uses[])
{
    memset(uses, 0, (size_t)g->num * sizeof *uses);
    for (int i = 0; i < g->num_results; ++i) {
        ++uses[g->results[i]];
    }
    for (int i = g->num - 1; i >= 0; --i) {
        const tali_graph_node *const node = &g->nodes[i];
        if (uses[i] == 0 || !has_operands(node->op)) continue;
        ++uses[node->a];
        if (node->op <= TALI_GRAPH_DIV) ++uses[node->b];
    }
}

tali_graph_count tali_graph_count_of(tali_graph *g)
{
    tali_graph_count count = {0};
    int *const uses = tali_alloc(&g->allocator, (size_t)g->num * sizeof *uses);
    if (uses == NULL) {
        g->no_memory = true;
        return count;
    }
    tali_graph_uses(g, uses);
    int *const counter[] = {[TALI_GRAPH_ADD] = &count.add, [TALI_GRAPH_SUB] = &count.add,
                            [TALI_GRAPH_NEG] = &count.add, [TALI_GRAPH_MUL] = &count.mul,
                            [TALI_GRAPH_DIV] = &count.div, [TALI_GRAPH_SIN] = &count.sin,
                            [TALI_GRAPH_COS] = &count.cos, [TALI_GRAPH_SQRT] = &count.sqrt,
                            [TALI_GRAPH_CONSTANT] = NULL,  [TALI_GRAPH_INPUT] = NULL,
                            [TALI_GRAPH_HOLD] = NULL};
    for (int i = 0; i < g->num; ++i) {
        const tali_graph_node *const node = &g->nodes[i];
        const bool is_number = node->op == TALI_GRAPH_NEG && !has_operands(g->nodes[node->a].op) &&
                               g->nodes[node->a].op == TALI_GRAPH_CONSTANT;
        if (uses[i] > 0 && counter[node->op] != NULL && !is_number) ++*counter[node->op];
    }
    tali_free(&g->allocator, uses, (size_t)g->num * sizeof *uses);
    return count;
}

// A node from the values of its operands.
static double value(const tali_graph_node *node, const double *const inputs[], const double x[])
{
    const double a = has_operands(node->op) ? x[node->a] : 0.0;
    const double b = has_operands(node->op) ? x[node->b] : 0.0;
    switch (node->op) {
    case TALI_GRAPH_CONSTANT:
        return node->constant;
    case TALI_GRAPH_INPUT:
        return inputs[node->a][node->b];
    case TALI_GRAPH_ADD:
        return a + b;
    case TALI_GRAPH_SUB:
        return a - b;
    case TALI_GRAPH_MUL:
        return a * b;
    case TALI_GRAPH_DIV:
        return a / b;
    case TALI_GRAPH_NEG:
        return -a;
    case TALI_GRAPH_SIN:
        return sin(a);
    case TALI_GRAPH_COS:
        return cos(a);
    case TALI_GRAPH_SQRT:
        return sqrt(a);
    case TALI_GRAPH_HOLD:
        return a;
    }
    return 0.0;
}

void tali_graph_evaluate(const tali_graph *g, const double *const inputs[], double results[],
                         double work[])
{
    for (int i = 0; i < g->num; ++i) {
        work[i] = value(&g->nodes[i], inputs, work);
    }
    for (int i = 0; i < g->num_results; ++i) {
        results[i] = work[g->results[i]];
    }
}

static int make(tali_graph *g, tali_graph_op op, int a, int b)
{
    return tali_graph_make(g, op, a, b);
}

// The rate of a node from those of its operands.
static int rate_of(tali_graph *g, int i, const int rates[])
{
    const tali_graph_node node = g->nodes[i];
    const int a = node.a, b = node.b, da = rates[a], db = rates[b];
    switch (node.op) {
    case TALI_GRAPH_ADD:
    case TALI_GRAPH_SUB:
        return make(g, node.op, da, db);
    case TALI_GRAPH_MUL:
        return make(g, TALI_GRAPH_ADD, make(g, TALI_GRAPH_MUL, da, b),
                    make(g, TALI_GRAPH_MUL, a, db));
    case TALI_GRAPH_DIV: // (a / b)' = (a' - (a / b) b') / b
        return make(g, TALI_GRAPH_DIV, make(g, TALI_GRAPH_SUB, da, make(g, TALI_GRAPH_MUL, i, db)),
                    b);
    case TALI_GRAPH_NEG:
        return make(g, TALI_GRAPH_NEG, da, 0);
    case TALI_GRAPH_SIN:
        return make(g, TALI_GRAPH_MUL, make(g, TALI_GRAPH_COS, a, 0), da);
    case TALI_GRAPH_COS:
        return make(g, TALI_GRAPH_NEG, make(g, TALI_GRAPH_MUL, make(g, TALI_GRAPH_SIN, a, 0), da),
                    0);
    case TALI_GRAPH_SQRT:
        return make(g, TALI_GRAPH_DIV, make(g, TALI_GRAPH_MUL, da, tali_graph_constant(g, 0.5)), i);
    case TALI_GRAPH_HOLD:
    case TALI_GRAPH_CONSTANT:
    case TALI_GRAPH_INPUT:
        break;
    }
    return TALI_GRAPH_ZERO;
}

void tali_graph_differentiate(tali_graph *g, const int nodes[], int n, int rates[], int num,
                              int out[])
{
    for (int i = 0; i < num; ++i) {
        const tali_graph_op op = g->nodes[i].op;
        if (!has_operands(op)) continue; // as given
        rates[i] = rate_of(g, i, rates);
    }
    for (int i = 0; i < n; ++i) {
        out[i] = rates[nodes[i]];
    }
}
