// Where constraints act in the tree: ancestors, paths to Ground, and the blocks that can couple.
#include "constraint_internal.h"

// --- one constraint ---

static int common_ancestor(const tali_tree *tree, int a, int b)
{
    while (a != b) { // parents have smaller indices
        if (a > b) {
            a = tree->parent[a];
        } else {
            b = tree->parent[b];
        }
    }
    return a;
}

static void find_ancestor(const tali_tree *tree, tali_constraint *c)
{
    c->ancestor = c->ops.num_bodies > 0 ? c->bodies[0] : 0;
    for (int i = 1; i < c->ops.num_bodies; ++i) {
        c->ancestor = common_ancestor(tree, c->ancestor, c->bodies[i]);
    }
}

// Walks from every constrained body to Ground at once, always from the body farthest out, so that
// the path comes out tip to base and each body once. The part below the ancestor counts too: what
// is resisted there is not what was applied. With `path` NULL it only counts.
static void walk_path(const tali_tree *tree, tali_constraint *c, tali_path_entry path[])
{
    int head[TAL_MAX_CONSTRAINED_BODIES + TAL_MAX_CONSTRAINED_MOBILITIES];
    int from[TAL_MAX_CONSTRAINED_BODIES + TAL_MAX_CONSTRAINED_MOBILITIES];
    const int num_heads = c->ops.num_bodies + c->num_mobilities;
    for (int i = 0; i < num_heads; ++i) {
        const bool is_body = i < c->ops.num_bodies;
        head[i] = is_body ? c->bodies[i] : c->mobility_bodies[i - c->ops.num_bodies];
        from[i] = -1;
    }
    c->path_len = c->path_nu = 0;
    for (;;) {
        int b = 0;
        for (int i = 0; i < num_heads; ++i) {
            if (head[i] > b) b = head[i];
        }
        if (b == 0) return;
        if (path != NULL) path[c->path_len] = (tali_path_entry){b, -1, c->path_nu};
        for (int i = 0; i < num_heads; ++i) {
            if (head[i] != b) continue;
            if (path != NULL && from[i] >= 0) path[from[i]].parent = c->path_len;
            from[i] = c->path_len;
            head[i] = tree->parent[b];
        }
        c->path_nu += tree->nu[b];
        ++c->path_len;
    }
}

// --- blocks ---

static int root_of(int32_t block[], int c)
{
    while (block[c] != c) {
        block[c] = block[block[c]]; // path halving
        c = block[c];
    }
    return c;
}

// Constraints that share a mobility are in one block. `first` holds, for each body, the first
// constraint that uses it.
static void couple(const tali_tree *tree, tali_constraints *all, int32_t block[], int32_t first[])
{
    for (int b = 0; b < tree->num_bodies; ++b) {
        first[b] = -1;
    }
    for (int i = 0; i < all->count; ++i) {
        tali_constraint *c = &all->list[i];
        block[i] = i;
        c->first_coupled = i;
        for (int k = 0; k < c->path_len; ++k) {
            const int b = all->path[c->path0 + k].body;
            if (tree->nu[b] == 0) continue;
            if (first[b] < 0) {
                first[b] = i;
                continue;
            }
            if (first[b] < c->first_coupled) c->first_coupled = first[b];
            const int other = root_of(block, first[b]);
            const int mine = root_of(block, i);
            block[other > mine ? other : mine] = other > mine ? mine : other;
        }
    }
}

// Numbers the blocks in the order of their first constraints, and lists the constraints by block.
static void number_blocks(tali_constraints *all, int32_t block[])
{
    for (int i = 0; i < all->count; ++i) {
        const int root = root_of(block, i);
        all->list[i].block = root == i ? all->num_blocks++ : all->list[root].block;
        ++all->block_begin[all->list[i].block + 1];
    }
    for (int k = 0; k < all->num_blocks; ++k) {
        all->block_begin[k + 1] += all->block_begin[k];
        block[k] = all->block_begin[k]; // from here on: where the next of block k goes
    }
    for (int i = 0; i < all->count; ++i) {
        all->by_block[block[all->list[i].block]++] = i;
    }
}

// --- sizes ---

// Coordinates along a path, at most.
static int path_max_nq(const tal_matter *matter, const tali_constraint *c)
{
    int n = 0;
    for (int k = 0; k < c->path_len; ++k) {
        const tal_mobilizer_ops *ops =
            &matter->bodies[matter->constraints.path[c->path0 + k].body].ops;
        n += ops->nq > ops->nq_angles ? ops->nq : ops->nq_angles;
    }
    return n;
}

static void add_sizes(const tal_matter *matter, tali_constraints *all)
{
    for (int i = 0; i < all->count; ++i) {
        tali_constraint *c = &all->list[i];
        const size_t m = (size_t)tali_rows(c);
        c->wrench0 = all->wrench_doubles;
        c->matrix0 = all->matrix_doubles;
        all->wrench_doubles += m * ((size_t)tali_num_wrenches(c) * 6 + (size_t)c->num_mobilities);
        all->matrix_doubles += m * 2 * (size_t)c->path_nu;
        all->mp += c->ops.mp;
        all->mv += c->ops.mv;
        all->ma += c->ops.ma;
        all->max_rows += (int)m;
        if (c->path_len > all->max_path_len) all->max_path_len = c->path_len;
        all->forces_need_velocity = all->forces_need_velocity || c->ops.forces_need_velocity;
    }
    // the envelope of W: each row from its first coupled constraint on
    for (int k = 0; k < all->num_blocks; ++k) {
        int rows = 0, num_q = 0;
        size_t entries = 0;
        const size_t before = all->envelope_doubles;
        for (int n = all->block_begin[k]; n < all->block_begin[k + 1]; ++n) {
            tali_constraint *c = &all->list[all->by_block[n]];
            const int m = tali_rows(c);
            c->max_row0 = rows;
            rows += m;
            const int width = rows - all->list[c->first_coupled].max_row0;
            all->envelope_doubles += (size_t)width * (size_t)m;
            entries += (size_t)m * (size_t)path_max_nq(matter, c);
            num_q += path_max_nq(matter, c); // too many where paths have bodies in common
            if (num_q > matter->tree.max_nq) num_q = matter->tree.max_nq;
        }
        const size_t envelope = all->envelope_doubles - before;
        if (num_q > all->max_block_q) all->max_block_q = num_q;
        if (entries > all->max_block_entries) all->max_block_entries = entries;
        if (envelope > all->max_block_envelope) all->max_block_envelope = envelope;
        if (rows > all->max_block_rows) all->max_block_rows = rows;
    }
}

static bool list_all_paths(tal_matter *matter)
{
    tali_constraints *all = &matter->constraints;
    for (int i = 0; i < all->count; ++i) {
        tali_constraint *c = &all->list[i];
        find_ancestor(&matter->tree, c);
        walk_path(&matter->tree, c, NULL);
        c->path0 = all->path_total;
        all->path_total += c->path_len;
    }
    const size_t n = (size_t)all->count;
    all->path = tali_alloc(&matter->allocator, (size_t)all->path_total * sizeof *all->path);
    all->by_block = tali_alloc(&matter->allocator, n * sizeof(int32_t));
    all->block_begin = tali_alloc(&matter->allocator, (n + 1) * sizeof(int32_t));
    if (all->path == NULL || all->by_block == NULL || all->block_begin == NULL) return false;
    for (int i = 0; i < all->count; ++i) {
        walk_path(&matter->tree, &all->list[i], all->path + all->list[i].path0);
    }
    return true;
}

bool tali_constraints_place(tal_matter *matter)
{
    tali_constraints *all = &matter->constraints;
    if (all->count == 0) return true;
    const size_t bytes = ((size_t)matter->num_bodies + (size_t)all->count) * sizeof(int32_t);
    int32_t *room = tali_alloc(&matter->allocator, bytes);
    const bool listed = room != NULL && list_all_paths(matter);
    if (listed) {
        couple(&matter->tree, all, room, room + all->count);
        number_blocks(all, room);
        add_sizes(matter, all);
    } else {
        (void)tal_system_fail(matter->system, TAL_ERR_NO_MEMORY,
                              "no memory for the paths of %d constraints", all->count);
    }
    tali_free(&matter->allocator, room, bytes);
    return listed;
}
