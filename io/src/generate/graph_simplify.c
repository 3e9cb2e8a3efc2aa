// What needs the whole graph: dead code, and common factors of sums.
#include "generate/graph_internal.h"

enum {
    MAX_FACTORS = 16,
    MAX_ROUNDS = 20
};

// A graph being made again, from another one.
typedef struct remake {
    const tali_graph *from;
    const int *uses; ///< of the nodes of `from`
    int *to;         ///< [from->num] nodes of the new graph
    tali_graph *g;
    bool factors; ///< common factors are looked for
} remake;

// Factors of a product, through products that nothing else needs; nodes of `from`. Not deeper than
// MAX_FACTORS. NOLINTNEXTLINE(misc-no-recursion)
static int find_factors(const remake *it, int i, bool is_top, int factors[], int n)
{
    const tali_graph_node *const node = &it->from->nodes[i];
    const bool is_open = node->op == TALI_GRAPH_MUL && it->uses[i] == 1 && n + 2 <= MAX_FACTORS;
    if (!is_open) {
        if (!is_top) factors[n++] = i;
        return n;
    }
    n = find_factors(it, node->a, false, factors, n);
    return find_factors(it, node->b, false, factors, n);
}

static int multiply(remake *it, const int factors[], int n, int without)
{
    int all = TALI_GRAPH_ONE;
    for (int i = n - 1; i >= 0; --i) {
        if (i == without) continue;
        all = tali_graph_make(it->g, TALI_GRAPH_MUL, all, it->to[factors[i]]);
    }
    return all;
}

// x y + x z as x (y + z), if nothing else needs the products; -1 when there is no such x.
static int factored(remake *it, const tali_graph_node *node)
{
    int left[MAX_FACTORS], right[MAX_FACTORS];
    const int n = find_factors(it, node->a, true, left, 0);
    const int m = find_factors(it, node->b, true, right, 0);
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < m; ++k) {
            if (left[i] != right[k]) continue;
            const int a = multiply(it, left, n, i), b = multiply(it, right, m, k);
            const int rest = tali_graph_make(it->g, node->op, a, b);
            return tali_graph_make(it->g, TALI_GRAPH_MUL, it->to[left[i]], rest);
        }
    }
    return -1;
}

static int made_again(remake *it, int i)
{
    const tali_graph_node *const node = &it->from->nodes[i];
    switch (node->op) {
    case TALI_GRAPH_CONSTANT:
        return tali_graph_constant(it->g, node->constant);
    case TALI_GRAPH_INPUT:
        return tali_graph_input(it->g, node->a, node->b);
    case TALI_GRAPH_HOLD:
        return it->to[node->a];
    case TALI_GRAPH_ADD:
    case TALI_GRAPH_SUB: {
        const int found = it->factors ? factored(it, node) : -1;
        if (found >= 0) return found;
        break;
    }
    default:
        break;
    }
    return tali_graph_make(it->g, node->op, it->to[node->a], it->to[node->b]);
}

// Make all nodes again that are needed. False, and nothing changed, when memory ran out.
static bool make_again(tali_graph *g, bool factors)
{
    const tal_allocator *const allocator = &g->allocator;
    const size_t bytes = (size_t)g->num * sizeof(int);
    int *const uses = tali_alloc(allocator, bytes), *const to = tali_alloc(allocator, bytes);
    tali_graph next;
    tali_graph_begin(&next, allocator);
    if (uses != NULL && to != NULL) {
        tali_graph_uses(g, uses);
        remake it = {.from = g, .uses = uses, .to = to, .g = &next, .factors = factors};
        for (int i = 0; i < g->num; ++i) {
            if (uses[i] > 0) to[i] = made_again(&it, i);
        }
        for (int i = 0; i < g->num_results; ++i) {
            g->results[i] = to[g->results[i]];
        }
    }
    const bool is_done = uses != NULL && to != NULL && !next.no_memory;
    tali_free(allocator, uses, bytes);
    tali_free(allocator, to, bytes);
    if (is_done) {
        tali_free(allocator, g->nodes, (size_t)g->capacity * sizeof *g->nodes);
        tali_names_free(&g->index, allocator);
        g->nodes = next.nodes, g->num = next.num, g->capacity = next.capacity;
        g->index = next.index;
    } else {
        tali_graph_end(&next);
        g->no_memory = true;
    }
    return is_done;
}

static int operations(tali_graph *g)
{
    const tali_graph_count n = tali_graph_count_of(g);
    return n.mul + n.add + n.div + n.sqrt + n.sin + n.cos;
}

void tali_graph_prune(tali_graph *g)
{
    if (!g->no_memory) (void)make_again(g, false);
}

void tali_graph_simplify(tali_graph *g)
{
    if (g->no_memory) return;
    int before = operations(g) + 1;
    for (int round = 0; round < MAX_ROUNDS && operations(g) < before; ++round) {
        before = operations(g);
        if (!make_again(g, true) || !make_again(g, false)) return;
    }
}
