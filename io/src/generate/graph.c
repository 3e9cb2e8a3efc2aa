// Nodes, and the rules that are applied as they are made.
#include "hash_internal.h"

#include "generate/graph_internal.h"

#include <math.h>

static uint64_t hash_node(const tali_graph_node *node)
{
    uint64_t hash = tali_hash(TALI_HASH_SEED, &node->op, sizeof node->op);
    hash = tali_hash(hash, &node->a, sizeof node->a);
    hash = tali_hash(hash, &node->b, sizeof node->b);
    return tali_hash(hash, &node->constant, sizeof node->constant);
}

static bool is_same(const tali_graph_node *a, const tali_graph_node *b)
{
    return a->op == b->op && a->a == b->a && a->b == b->b &&
           memcmp(&a->constant, &b->constant, sizeof a->constant) == 0;
}

// The node that is like this one; -1: there is none.
static int find_node(const tali_graph *g, const tali_graph_node *node)
{
    const uint64_t hash = hash_node(node);
    int probe = 0;
    for (int i = tali_names_next(&g->index, hash, &probe); i >= 0;
         i = tali_names_next(&g->index, hash, &probe)) {
        if (is_same(&g->nodes[i], node)) return i;
    }
    return -1;
}

// The same, or a new one.
static int find_or_add(tali_graph *g, tali_graph_node node)
{
    const uint64_t hash = hash_node(&node);
    const int found = find_node(g, &node);
    if (found >= 0) return found;
    if (!tali_names_reserve(&g->index, &g->allocator) ||
        !tali_grow(&g->allocator, (void **)&g->nodes, g->num, &g->capacity, sizeof *g->nodes)) {
        g->no_memory = true;
        return TALI_GRAPH_ZERO;
    }
    g->nodes[g->num] = node;
    tali_names_add(&g->index, hash, g->num);
    return g->num++;
}

void tali_graph_begin(tali_graph *g, const tal_allocator *allocator)
{
    *g = (tali_graph){.allocator = *allocator};
    (void)find_or_add(g, (tali_graph_node){.op = TALI_GRAPH_CONSTANT, .constant = 0.0});
    (void)find_or_add(g, (tali_graph_node){.op = TALI_GRAPH_CONSTANT, .constant = 1.0});
}

void tali_graph_end(tali_graph *g)
{
    tali_free(&g->allocator, g->nodes, (size_t)g->capacity * sizeof *g->nodes);
    tali_free(&g->allocator, g->results, (size_t)g->results_capacity * sizeof *g->results);
    tali_names_free(&g->index, &g->allocator);
    *g = (tali_graph){.allocator = g->allocator};
}

int tali_graph_add_inputs(tali_graph *g, const char *name, int size)
{
    g->inputs[g->num_inputs] = (tali_graph_array){.name = name, .size = size};
    return g->num_inputs++;
}

int tali_graph_input(tali_graph *g, int array, int i)
{
    if (g->no_memory) return TALI_GRAPH_ZERO;
    return find_or_add(g, (tali_graph_node){.op = TALI_GRAPH_INPUT, .a = array, .b = i});
}

void tali_graph_add_outputs(tali_graph *g, const char *name, const int entries[], int size)
{
    g->outputs[g->num_outputs++] = (tali_graph_array){.name = name, .size = size};
    for (int i = 0; i < size; ++i) {
        if (!tali_grow(&g->allocator, (void **)&g->results, g->num_results, &g->results_capacity,
                       sizeof *g->results)) {
            g->no_memory = true;
            return;
        }
        g->results[g->num_results++] = entries[i];
    }
}

// ---- rules --------------------------------------------------------------------------------------

static const tali_graph_node *node_at(const tali_graph *g, int i)
{
    return &g->nodes[i];
}

static bool is_op(const tali_graph *g, int i, tali_graph_op op)
{
    return node_at(g, i)->op == op;
}

static bool is_constant(const tali_graph *g, int i)
{
    return is_op(g, i, TALI_GRAPH_CONSTANT);
}

static int plain(tali_graph *g, tali_graph_op op, int a, int b)
{
    return find_or_add(g, (tali_graph_node){.op = op, .a = a, .b = b});
}

static int negative(tali_graph *g, int a)
{
    if (a == TALI_GRAPH_ZERO) return a;
    if (is_op(g, a, TALI_GRAPH_NEG)) return node_at(g, a)->a;
    return plain(g, TALI_GRAPH_NEG, a, 0);
}

// Negative constants are negated positive ones, so that c x and -c x share c x.
int tali_graph_constant(tali_graph *g, double value)
{
    if (g->no_memory) return TALI_GRAPH_ZERO;
    const tali_graph_node node = {.op = TALI_GRAPH_CONSTANT, .constant = fabs(value)};
    const int size = find_or_add(g, node);
    return value < 0.0 ? negative(g, size) : size;
}

// The value of a constant or a negated one; false for anything else.
static bool value_of(const tali_graph *g, int i, double *value)
{
    const bool is_negated = is_op(g, i, TALI_GRAPH_NEG);
    const int size = is_negated ? node_at(g, i)->a : i;
    if (!is_constant(g, size)) return false;
    *value = is_negated ? -node_at(g, size)->constant : node_at(g, size)->constant;
    return true;
}

// Strip the negation of a factor, and say whether there was one.
static bool take_sign(const tali_graph *g, int *i)
{
    if (!is_op(g, *i, TALI_GRAPH_NEG)) return false;
    *i = node_at(g, *i)->a;
    return true;
}

static int sum(tali_graph *g, int a, int b);
static int difference(tali_graph *g, int a, int b);

// A sum of two nodes that are neither negated nor zero.
static int plain_sum(tali_graph *g, int a, int b)
{
    const tali_graph_node *const x = node_at(g, a), *const y = node_at(g, b);
    if (x->op == TALI_GRAPH_SUB && x->b == b) return x->a; // (x - y) + y
    if (y->op == TALI_GRAPH_SUB && y->b == a) return y->a;
    return a < b ? plain(g, TALI_GRAPH_ADD, a, b) : plain(g, TALI_GRAPH_ADD, b, a);
}

// A difference of two such nodes; if there is b - a already, a - b is its negative.
static int plain_difference(tali_graph *g, int a, int b)
{
    const tali_graph_node *const x = node_at(g, a), *const y = node_at(g, b);
    if (a == b) return TALI_GRAPH_ZERO;
    if (x->op == TALI_GRAPH_ADD && x->b == b) return x->a; // (x + y) - y
    if (x->op == TALI_GRAPH_ADD && x->a == b) return x->b;
    if (x->op == TALI_GRAPH_SUB && x->a == b) return negative(g, x->b); // (x - y) - x
    if (y->op == TALI_GRAPH_ADD && y->a == a) return negative(g, y->b); // x - (x + y)
    if (y->op == TALI_GRAPH_ADD && y->b == a) return negative(g, y->a);
    if (y->op == TALI_GRAPH_SUB && y->a == a) return y->b; // x - (x - y)
    const tali_graph_node other = {.op = TALI_GRAPH_SUB, .a = b, .b = a};
    const int found = find_node(g, &other);
    return found >= 0 ? negative(g, found) : plain(g, TALI_GRAPH_SUB, a, b);
}

static int sum(tali_graph *g, int a, int b)
{
    double x = 0.0, y = 0.0;
    if (a == TALI_GRAPH_ZERO) return b;
    if (b == TALI_GRAPH_ZERO) return a;
    if (value_of(g, a, &x) && value_of(g, b, &y)) return tali_graph_constant(g, x + y);
    const bool minus_a = take_sign(g, &a), minus_b = take_sign(g, &b);
    if (minus_a && minus_b) return negative(g, plain_sum(g, a, b));
    if (minus_a) return plain_difference(g, b, a);
    return minus_b ? plain_difference(g, a, b) : plain_sum(g, a, b);
}

static int difference(tali_graph *g, int a, int b)
{
    return sum(g, a, negative(g, b));
}

// Take the constant out of a product c x; 1 when there is none.
static int take_constant(const tali_graph *g, int *i)
{
    const tali_graph_node *const node = node_at(g, *i);
    if (node->op != TALI_GRAPH_MUL || !is_constant(g, node->a)) return TALI_GRAPH_ONE;
    *i = node->b;
    return node->a;
}

static int scaled(tali_graph *g, double factor, int a)
{
    if (factor == 0.0 || a == TALI_GRAPH_ZERO) return TALI_GRAPH_ZERO;
    if (factor == 1.0) return a;
    const int c = tali_graph_constant(g, factor);
    if (is_constant(g, a)) return tali_graph_constant(g, factor * node_at(g, a)->constant);
    return plain(g, TALI_GRAPH_MUL, c, a);
}

// Signs and constants first, so that they meet; then operands in the order of their nodes.
static int product(tali_graph *g, int a, int b)
{
    const bool is_negative = take_sign(g, &a) != take_sign(g, &b);
    double factor = 1.0;
    int *const operands[2] = {&a, &b};
    for (int i = 0; i < 2; ++i) {
        if (is_constant(g, *operands[i])) {
            factor *= node_at(g, *operands[i])->constant;
            *operands[i] = TALI_GRAPH_ONE;
        }
        factor *= node_at(g, take_constant(g, operands[i]))->constant;
    }
    if (a > b) {
        const int swap = a;
        a = b, b = swap;
    }
    const int rest = a == TALI_GRAPH_ONE ? b : plain(g, TALI_GRAPH_MUL, a, b);
    const int whole = scaled(g, factor, rest);
    return is_negative ? negative(g, whole) : whole;
}

static int quotient(tali_graph *g, int a, int b)
{
    double y = 0.0;
    if (a == TALI_GRAPH_ZERO || b == TALI_GRAPH_ONE) return a;
    if (value_of(g, b, &y)) return product(g, a, tali_graph_constant(g, 1.0 / y));
    const bool is_negative = take_sign(g, &a) != take_sign(g, &b);
    const int whole = plain(g, TALI_GRAPH_DIV, a, b);
    return is_negative ? negative(g, whole) : whole;
}

static int sine(tali_graph *g, int a)
{
    double x = 0.0;
    if (value_of(g, a, &x)) return tali_graph_constant(g, sin(x));
    const bool is_negative = take_sign(g, &a);
    const int whole = plain(g, TALI_GRAPH_SIN, a, 0);
    return is_negative ? negative(g, whole) : whole;
}

static int cosine(tali_graph *g, int a)
{
    double x = 0.0;
    if (value_of(g, a, &x)) return tali_graph_constant(g, cos(x));
    (void)take_sign(g, &a);
    return plain(g, TALI_GRAPH_COS, a, 0);
}

static int root(tali_graph *g, int a)
{
    double x = 0.0;
    if (value_of(g, a, &x) && x >= 0.0) return tali_graph_constant(g, sqrt(x));
    return plain(g, TALI_GRAPH_SQRT, a, 0);
}

static int held(tali_graph *g, int a)
{
    double x = 0.0;
    return value_of(g, a, &x) ? a : plain(g, TALI_GRAPH_HOLD, a, 0);
}

int tali_graph_make(tali_graph *g, tali_graph_op op, int a, int b)
{
    if (g->no_memory) return TALI_GRAPH_ZERO;
    switch (op) {
    case TALI_GRAPH_ADD:
        return sum(g, a, b);
    case TALI_GRAPH_SUB:
        return difference(g, a, b);
    case TALI_GRAPH_MUL:
        return product(g, a, b);
    case TALI_GRAPH_DIV:
        return quotient(g, a, b);
    case TALI_GRAPH_NEG:
        return negative(g, a);
    case TALI_GRAPH_SIN:
        return sine(g, a);
    case TALI_GRAPH_COS:
        return cosine(g, a);
    case TALI_GRAPH_SQRT:
        return root(g, a);
    case TALI_GRAPH_HOLD:
        return held(g, a);
    case TALI_GRAPH_CONSTANT:
    case TALI_GRAPH_INPUT:
        break;
    }
    return TALI_GRAPH_ZERO;
}
