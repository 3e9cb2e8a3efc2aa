// In which order the constraints of a block are in its matrix: rows that share a mobility near
// each other, so that the envelope is small.
//
// Constraints are neighbors when a body is on the paths of both. Three orders are compared:
//
//     as listed
//     from the farthest constraint to the nearest: small for rings and nets. A breadth-first walk,
//         backward (Cuthill and McKee's, without their sorting)
//     subtrees one after the other, each before the constraint it hangs on: n log n for trees. The
//         largest is first, so that a row reaches back over the smaller ones only
//
// An order other than as listed is taken only when it halves the envelope: most models are listed
// well, and their results stay the same to the last bit. Equal choices go to the lower index.
#include "constraint/constraint_internal.h"

/// What the orders of one block are found with. Arrays over constraints use all of them; a block
/// touches only its own.
typedef struct ordering {
    const tali_tree *tree;
    tali_constraints *all;
    int32_t *on_body0;  ///< [num_bodies + 1] where the constraints on a body begin in on_body
    int32_t *on_body;   ///< [path_total]
    int32_t *body_seen; ///< [num_bodies] the last walk that came here
    int32_t *seen;      ///< [count]
    int32_t *queue;     ///< [count] the walk; later an order to try
    int32_t *child0;    ///< [count] first of those found from a constraint, in the queue
    int32_t *children;  ///< [count] how many
    int32_t *size;      ///< [count] constraints in a subtree
    int32_t *at;        ///< [count] where a subtree, then a constraint, is
    int32_t *first;     ///< [num_bodies] where the first constraint on a body is
    int walk;           ///< number of the last walk
} ordering;

// A block with the arrays of an ordering, or NULL.
static void *take_room(const tal_matter *matter, ordering *o, size_t *bytes)
{
    const size_t per_body = (size_t)matter->num_bodies * sizeof(int32_t);
    const size_t per_constraint = (size_t)o->all->count * sizeof(int32_t);
    const tali_piece pieces[] = {
        {&o->on_body0, per_body + sizeof(int32_t)},
        {&o->on_body, (size_t)o->all->path_total * sizeof(int32_t)},
        {&o->body_seen, per_body},
        {&o->first, per_body},
        {&o->seen, per_constraint},
        {&o->queue, per_constraint},
        {&o->child0, per_constraint},
        {&o->children, per_constraint},
        {&o->size, per_constraint},
        {&o->at, per_constraint},
    };
    return tali_alloc_pieces(&matter->allocator, pieces, sizeof pieces / sizeof pieces[0], bytes);
}

// Which constraints have a body on their paths.
static void list_by_body(const ordering *o)
{
    const tali_constraint_path_entry *path = o->all->path;
    for (int k = 0; k < o->all->path_total; ++k) {
        ++o->on_body0[path[k].body + 1];
    }
    for (int b = 0; b < o->tree->num_bodies; ++b) {
        o->on_body0[b + 1] += o->on_body0[b];
        o->first[b] = o->on_body0[b]; // until all are listed: where the next one goes
    }
    for (int i = 0; i < o->all->count; ++i) {
        const tali_constraint *c = &o->all->list[i];
        for (int k = c->path0; k < c->path0 + c->path_len; ++k) {
            o->on_body[o->first[path[k].body]++] = i;
        }
    }
}

// --- walking ---

// Puts the neighbors of constraint i that have not been seen at the end of the queue.
static int find_neighbors(const ordering *o, int i, int end)
{
    const tali_constraint *c = &o->all->list[i];
    o->child0[i] = end;
    for (int k = c->path0; k < c->path0 + c->path_len; ++k) {
        const int b = o->all->path[k].body;
        if (o->tree->nu[b] == 0 || o->body_seen[b] == o->walk) continue;
        o->body_seen[b] = o->walk;
        for (int n = o->on_body0[b]; n < o->on_body0[b + 1]; ++n) {
            const int other = o->on_body[n];
            if (o->seen[other] == o->walk) continue;
            o->seen[other] = o->walk;
            o->queue[end++] = other;
        }
    }
    o->children[i] = end - o->child0[i];
    return end;
}

// Breadth first through a block. Returns how many constraints it has.
static int walk_from(ordering *o, int start)
{
    ++o->walk;
    o->queue[0] = start;
    o->seen[start] = o->walk;
    int end = 1;
    for (int n = 0; n < end; ++n) {
        end = find_neighbors(o, o->queue[n], end);
    }
    return end;
}

// --- orders ---

static void place_backward(const ordering *o, int count)
{
    for (int n = 0; n < count; ++n) {
        o->at[o->queue[n]] = count - 1 - n;
    }
}

static void put_largest_first(const ordering *o, int i)
{
    int32_t *child = o->queue + o->child0[i];
    int largest = 0;
    for (int n = 1; n < o->children[i]; ++n) {
        if (o->size[child[n]] > o->size[child[largest]]) largest = n;
    }
    for (; largest > 0; --largest) { // the others keep their order
        const int32_t moved = child[largest];
        child[largest] = child[largest - 1];
        child[largest - 1] = moved;
    }
}

static void place_subtrees(const ordering *o, int count)
{
    for (int n = count - 1; n >= 0; --n) { // those found from a constraint come after it
        const int i = o->queue[n];
        o->size[i] = 1;
        for (int k = o->child0[i]; k < o->child0[i] + o->children[i]; ++k) {
            o->size[i] += o->size[o->queue[k]];
        }
    }
    o->at[o->queue[0]] = 0;
    for (int n = 0; n < count; ++n) {
        const int i = o->queue[n];
        int at = o->at[i];
        put_largest_first(o, i);
        for (int k = o->child0[i]; k < o->child0[i] + o->children[i]; ++k) {
            o->at[o->queue[k]] = at;
            at += o->size[o->queue[k]];
        }
        o->at[i] = at;
    }
}

// --- what they cost ---

// Entries of the envelope when the constraints of a block are in this order. Leaves behind where
// the rows of each begin.
static size_t envelope_of(const ordering *o, const int32_t order[], int count)
{
    tali_constraints *all = o->all;
    size_t entries = 0;
    int rows = 0;
    for (int n = 0; n < count; ++n) {
        const tali_constraint *c = &all->list[order[n]];
        for (int k = c->path0; k < c->path0 + c->path_len; ++k) {
            o->first[all->path[k].body] = -1;
        }
    }
    for (int n = 0; n < count; ++n) {
        tali_constraint *c = &all->list[order[n]];
        int from = rows;
        for (int k = c->path0; k < c->path0 + c->path_len; ++k) {
            const int b = all->path[k].body;
            if (o->tree->nu[b] == 0) continue;
            if (o->first[b] < 0) o->first[b] = n;
            const int earlier = all->list[order[o->first[b]]].max_row0;
            if (o->first[b] < n && earlier < from) from = earlier;
        }
        c->max_row0 = rows;
        rows += tali_constraint_rows(c);
        entries += (size_t)(rows - from) * (size_t)tali_constraint_rows(c);
    }
    return entries;
}

// Writes the order of o->at into the queue, and from there into the block if it is good enough.
static void try_order(const ordering *o, int32_t by_block[], int count, size_t *least)
{
    for (int n = 0; n < count; ++n) {
        o->queue[o->at[by_block[n]]] = by_block[n];
    }
    const size_t entries = envelope_of(o, o->queue, count);
    if (entries >= *least) return;
    *least = entries;
    memcpy(by_block, o->queue, (size_t)count * sizeof *by_block);
}

static void order_block(ordering *o, int block)
{
    int32_t *by_block = o->all->by_block + o->all->block_begin[block];
    const int count = o->all->block_begin[block + 1] - o->all->block_begin[block];
    if (count < 3) return;
    const int listed_first = by_block[0];
    size_t least = envelope_of(o, by_block, count) / 2;
    (void)walk_from(o, listed_first);
    const int far = o->queue[count - 1];
    (void)walk_from(o, far);
    place_backward(o, count);
    try_order(o, by_block, count, &least);
    (void)walk_from(o, far);
    place_subtrees(o, count);
    try_order(o, by_block, count, &least);
}

// Where in by_block the constraints begin that share a mobility with each.
static void find_first_coupled(const ordering *o)
{
    tali_constraints *all = o->all;
    for (int b = 0; b < o->tree->num_bodies; ++b) {
        o->first[b] = -1;
    }
    for (int n = 0; n < all->count; ++n) {
        tali_constraint *c = &all->list[all->by_block[n]];
        c->first_coupled = n;
        for (int k = c->path0; k < c->path0 + c->path_len; ++k) {
            const int b = all->path[k].body;
            if (o->tree->nu[b] == 0) continue;
            if (o->first[b] < 0) o->first[b] = n;
            if (o->first[b] < c->first_coupled) c->first_coupled = o->first[b];
        }
    }
}

bool tali_constraints_order(tal_matter *matter)
{
    tali_constraints *all = &matter->constraints;
    ordering o = {.tree = &matter->tree, .all = all};
    size_t bytes;
    void *room = take_room(matter, &o, &bytes);
    if (room == NULL) return false;
    list_by_body(&o);
    for (int k = 0; k < all->num_blocks; ++k) {
        order_block(&o, k);
    }
    find_first_coupled(&o);
    tali_free(&matter->allocator, room, bytes);
    return true;
}
