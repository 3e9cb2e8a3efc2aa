// From a graph to statements in parts.
//
// A compiler's time grows faster than a function's length: parts of some 400 statements take 0.16
// ms each, and one part of 10,000 takes minutes. Order of nodes = order of statements.
#include "generate/generate_function.h"

// A product that only one sum needs stands in the statement of that sum.
static void find_inlined(const tali_graph *g, const int uses[], int part[])
{
    for (int i = 0; i < g->num; ++i) {
        const tali_graph_op op = g->nodes[i].op;
        const bool is_atom = op == TALI_GRAPH_CONSTANT || op == TALI_GRAPH_INPUT;
        const bool is_number =
            op == TALI_GRAPH_NEG && g->nodes[g->nodes[i].a].op == TALI_GRAPH_CONSTANT;
        part[i] = uses[i] == 0 || is_atom || is_number ? -1 : 0;
    }
    for (int i = 0; i < g->num; ++i) {
        const tali_graph_node *const node = &g->nodes[i];
        if (part[i] < 0 || (node->op != TALI_GRAPH_ADD && node->op != TALI_GRAPH_SUB)) continue;
        if (g->nodes[node->a].op == TALI_GRAPH_MUL && uses[node->a] == 1) part[node->a] = -1;
        if (g->nodes[node->b].op == TALI_GRAPH_MUL && uses[node->b] == 1) part[node->b] = -1;
    }
}

int tali_generate_reads(const tali_graph *g, const tali_generate_parts *it, int i, int reads[4])
{
    const int *const part = it->part;
    const tali_graph_node *const node = &g->nodes[i];
    const int operands[2] = {node->a, node->b};
    const int num = node->op <= TALI_GRAPH_DIV ? 2 : 1;
    int n = 0;
    for (int k = 0; k < num; ++k) {
        const int o = operands[k];
        if (part[o] >= 0) reads[n++] = o;
        if (part[o] >= 0 || g->nodes[o].op != TALI_GRAPH_MUL) continue;
        if (part[g->nodes[o].a] >= 0) reads[n++] = g->nodes[o].a;
        if (part[g->nodes[o].b] >= 0) reads[n++] = g->nodes[o].b;
    }
    return n;
}

static void number_parts(const tali_graph *g, int max_statements, tali_generate_parts *it)
{
    for (int i = 0; i < g->num; ++i) {
        if (it->part[i] < 0) continue;
        it->part[i] = it->num_statements++ / max_statements;
        it->num_parts = it->part[i] + 1;
    }
    for (int i = 0; i < g->num; ++i) {
        int reads[4];
        it->last[i] = it->part[i];
        if (it->part[i] < 0) continue;
        const int n = tali_generate_reads(g, it, i, reads);
        for (int k = 0; k < n; ++k) {
            it->last[reads[k]] = it->part[i];
        }
    }
    if (it->num_parts == 0) it->num_parts = 1;
}

// Slots are taken at the end of a part and free again behind the last part that reads them.
static void assign_slots(const tali_graph *g, tali_generate_parts *it, int busy_until[])
{
    for (int i = 0; i < g->num; ++i) {
        it->slot[i] = -1;
        if (it->part[i] < 0 || it->last[i] == it->part[i]) continue;
        int slot = 0;
        while (slot < it->num_slots && busy_until[slot] > it->part[i]) {
            ++slot;
        }
        if (slot == it->num_slots) ++it->num_slots;
        busy_until[slot] = it->last[i];
        it->slot[i] = slot;
    }
}

bool tali_generate_cut(const tali_graph *g, int max_statements, tali_generate_parts *it)
{
    *it = (tali_generate_parts){.allocator = g->allocator};
    const size_t bytes = (size_t)g->num * sizeof(int);
    int *busy_until;
    const tali_piece pieces[] = {{&it->part, bytes}, {&it->slot, bytes},   {&it->last, bytes},
                                 {&it->uses, bytes}, {&it->loaded, bytes}, {&busy_until, bytes}};
    it->block = tali_alloc_pieces(&it->allocator, pieces, 6, &it->bytes);
    if (it->block == NULL) return false;
    tali_graph_uses(g, it->uses);
    find_inlined(g, it->uses, it->part);
    number_parts(g, max_statements, it);
    assign_slots(g, it, busy_until);
    return true;
}

void tali_generate_parts_free(tali_generate_parts *it)
{
    tali_free(&it->allocator, it->block, it->bytes);
}
