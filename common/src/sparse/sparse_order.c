// Minimum degree: which unknown to eliminate next.
//
// Eliminating a node connects all its neighbors with each other. The quotient graph does not store
// these new edges: the eliminated node becomes an element, whose members are the neighbors it had.
// Two nodes are neighbors when an edge of the matrix connects them or when they are members of one
// element. An element all of whose members are members of a newer one is no longer needed.
#include "alloc_internal.h"
#include "sparse_internal.h"

#include <string.h>

// Lists of one node within `lists`: elements first, then neighbors.
typedef struct node {
    int begin, num_elements, num_neighbors;
    int degree;         // a bound on the number of neighbors, those within elements included
    int next, previous; // nodes of the same degree
    int mark;           // the last pivot that has this node as a member
    bool is_eliminated;
} node;

// Members of an element within `members`.
typedef struct element {
    int begin, count;
    int outside; // members that are not of the newest element, as of pivot `seen`
    int seen;
    bool is_absorbed;
} element;

typedef struct graph {
    int n, lowest;     // no node has a smaller degree
    node *nodes;       // [n]
    element *elements; // [n] of the node of the same number
    int *lists;        // [2 * edges]
    int *first;        // [n] the first node of each degree, or -1
    int *members;
    int num_members, capacity;
} graph;

// --- nodes by degree ---

static void take_out(graph *g, int i)
{
    const node *it = &g->nodes[i];
    if (it->previous >= 0) g->nodes[it->previous].next = it->next;
    if (it->previous < 0) g->first[it->degree] = it->next;
    if (it->next >= 0) g->nodes[it->next].previous = it->previous;
}

static void put_in(graph *g, int i, int degree)
{
    node *it = &g->nodes[i];
    it->degree = degree;
    it->previous = -1;
    it->next = g->first[degree];
    if (it->next >= 0) g->nodes[it->next].previous = i;
    g->first[degree] = i;
    if (degree < g->lowest) g->lowest = degree;
}

static int take_lowest(graph *g)
{
    while (g->first[g->lowest] < 0) {
        ++g->lowest;
    }
    const int i = g->first[g->lowest];
    take_out(g, i);
    return i;
}

// --- elimination ---

// Node i is a member of the new element of node p, unless it is already, or is p.
static bool add_member(graph *g, const tal_allocator *allocator, int p, int i)
{
    node *it = &g->nodes[i];
    if (i == p || it->is_eliminated || it->mark == p) return true;
    it->mark = p;
    void *items = g->members;
    if (!tali_grow(allocator, &items, g->num_members, &g->capacity, sizeof *g->members)) {
        return false;
    }
    g->members = items;
    g->members[g->num_members++] = i;
    return true;
}

// The element of p: all neighbors of p, and all members of its elements, which it absorbs.
static bool make_element(graph *g, const tal_allocator *allocator, int p)
{
    const node *it = &g->nodes[p];
    element *made = &g->elements[p];
    made->begin = g->num_members;
    const int *list = &g->lists[it->begin];
    for (int k = 0; k < it->num_elements; ++k) {
        element *old = &g->elements[list[k]];
        for (int j = 0; j < old->count; ++j) {
            if (!add_member(g, allocator, p, g->members[old->begin + j])) return false;
        }
        old->is_absorbed = true;
    }
    for (int k = 0; k < it->num_neighbors; ++k) {
        if (!add_member(g, allocator, p, list[it->num_elements + k])) return false;
    }
    made->count = g->num_members - made->begin;
    made->seen = -1;
    return true;
}

// How many members of each element that touches the new one are not members of it.
static void count_outside(graph *g, int p)
{
    const element *made = &g->elements[p];
    for (int k = 0; k < made->count; ++k) {
        const node *it = &g->nodes[g->members[made->begin + k]];
        for (int j = 0; j < it->num_elements; ++j) {
            element *e = &g->elements[g->lists[it->begin + j]];
            if (e->is_absorbed) continue;
            if (e->seen != p) {
                e->seen = p;
                e->outside = e->count;
            }
            --e->outside;
        }
    }
}

// Lists of a member i of the new element p: p comes in; absorbed elements, p itself and neighbors
// that are members as well go out. There is room: one of these was there. The new degree.
static int renew_lists(graph *g, int p, int i)
{
    node *it = &g->nodes[i];
    int *list = &g->lists[it->begin];
    int num_elements = 0, degree = g->elements[p].count - 1;
    for (int j = 0; j < it->num_elements; ++j) {
        const element *e = &g->elements[list[j]];
        if (e->is_absorbed || e->outside == 0) continue; // all its members are members of p
        list[num_elements++] = list[j];
        degree += e->outside;
    }
    int num_neighbors = 0;
    int *const neighbors = &list[it->num_elements];
    for (int j = 0; j < it->num_neighbors; ++j) {
        const node *other = &g->nodes[neighbors[j]];
        if (other->is_eliminated || other->mark == p) continue;
        neighbors[num_neighbors++] = neighbors[j];
    }
    memmove(&list[num_elements + 1], neighbors, (size_t)num_neighbors * sizeof *list);
    list[num_elements++] = p;
    it->num_elements = num_elements;
    it->num_neighbors = num_neighbors;
    return degree + num_neighbors;
}

static bool eliminate(graph *g, const tal_allocator *allocator, int p, int left)
{
    g->nodes[p].is_eliminated = true;
    if (!make_element(g, allocator, p)) return false;
    count_outside(g, p);
    const element *made = &g->elements[p];
    for (int k = 0; k < made->count; ++k) {
        const int i = g->members[made->begin + k];
        take_out(g, i);
        const int degree = renew_lists(g, p, i);
        put_in(g, i, degree < left ? degree : left);
    }
    return true;
}

static void set_up(graph *g, const int start[], const int neighbor[])
{
    g->lowest = g->n;
    memset(g->first, -1, ((size_t)g->n + 1) * sizeof *g->first);
    memcpy(g->lists, neighbor, (size_t)start[g->n] * sizeof *g->lists);
    for (int i = g->n - 1; i >= 0; --i) { // the first one of equal degrees comes first
        const int count = start[i + 1] - start[i];
        g->nodes[i] = (node){.begin = start[i], .num_neighbors = count, .mark = -1};
        put_in(g, i, count);
    }
}

tal_status tali_sparse_order(const tal_allocator *allocator, int n, const int start[],
                             const int neighbor[], int order[])
{
    graph g = {.n = n};
    const tali_piece pieces[] = {{&g.nodes, (size_t)n * sizeof *g.nodes},
                                 {&g.elements, (size_t)n * sizeof *g.elements},
                                 {&g.lists, (size_t)start[n] * sizeof *g.lists},
                                 {&g.first, ((size_t)n + 1) * sizeof *g.first}};
    size_t bytes = 0;
    void *block = tali_alloc_pieces(allocator, pieces, sizeof pieces / sizeof pieces[0], &bytes);
    if (block == NULL) return TAL_ERR_NO_MEMORY;
    set_up(&g, start, neighbor);
    bool has_memory = true;
    for (int k = 0; k < n && has_memory; ++k) {
        order[k] = take_lowest(&g);
        has_memory = eliminate(&g, allocator, order[k], n - k - 1);
    }
    tali_free(allocator, g.members, (size_t)g.capacity * sizeof *g.members);
    tali_free(allocator, block, bytes);
    return has_memory ? TAL_OK : TAL_ERR_NO_MEMORY;
}
