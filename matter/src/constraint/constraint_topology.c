// Where constraints act in the tree: ancestors, paths to Ground, and the blocks that can couple.
#include "constraint/constraint_internal.h"

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
// is resisted there is not what was applied. With `path` NULL it only counts. `head` is room for
// two numbers for each body and mobility.
static void walk_path(const tali_tree *tree, tali_constraint *c, int32_t head[],
                      tali_constraint_path_entry path[])
{
    const int num_heads = c->ops.num_bodies + c->num_mobilities;
    int32_t *from = head + num_heads;
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
        if (path != NULL) path[c->path_len] = (tali_constraint_path_entry){b, -1, c->path_nu};
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

// Where on its path a constraint acts.
static void find_places(const tali_constraint *c, const tali_constraint_path_entry path[])
{
    for (int i = 0; i < tali_constraint_num_wrenches(c); ++i) {
        int k = 0;
        while (k < c->path_len && path[k].body != tali_constraint_wrench_body(c, i)) {
            ++k;
        }
        c->wrench_places[i] = k < c->path_len ? k : -1;
    }
    for (int i = 0; i < c->num_mobilities; ++i) {
        int k = 0;
        while (path[k].body != c->mobility_bodies[i]) {
            ++k;
        }
        c->speed_places[i] = path[k].e0 + c->mobility_index[i];
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
        const tali_constraint *c = &all->list[i];
        block[i] = i;
        for (int k = 0; k < c->path_len; ++k) {
            const int b = all->path[c->path0 + k].body;
            if (tree->nu[b] == 0) continue;
            if (first[b] < 0) {
                first[b] = i;
                continue;
            }
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

static void count_speeds(const tali_tree *tree, tali_constraints *all, const int32_t first[])
{
    for (int b = 0; b < tree->num_bodies; ++b) {
        if (first[b] >= 0) all->blocks[all->list[first[b]].block].speeds += tree->nu[b];
    }
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

// What the room of a large constraint needs.
static void add_own_sizes(tali_constraints *all, const tali_constraint *c)
{
    const size_t m = (size_t)tali_constraint_rows(c);
    const size_t wrenches = m * (size_t)tali_constraint_num_wrenches(c);
    all->max_bodies = larger(all->max_bodies, c->ops.num_bodies);
    all->max_mobilities = larger(all->max_mobilities, c->num_mobilities);
    all->max_own_rows = larger(all->max_own_rows, (int)m);
    all->max_own_wrenches = tali_alloc_larger(all->max_own_wrenches, wrenches);
    all->max_own_coefficients =
        tali_alloc_larger(all->max_own_coefficients, m * (size_t)c->num_mobilities);
    all->has_large = all->has_large || !tali_constraint_is_small(c);
}

static void add_constraint_sizes(tali_constraints *all)
{
    for (int i = 0; i < all->count; ++i) {
        tali_constraint *c = &all->list[i];
        const size_t m = (size_t)tali_constraint_rows(c);
        c->pose0 = all->num_poses;
        c->wrench0 = all->wrench_doubles;
        c->matrix0 = all->matrix_doubles;
        all->num_poses += (size_t)c->ops.num_bodies + 1;
        all->wrench_doubles +=
            m * ((size_t)tali_constraint_num_wrenches(c) * 6 + (size_t)c->num_mobilities);
        all->matrix_doubles += m * 2 * (size_t)c->path_nu;
        all->mp += c->ops.mp;
        all->mv += c->ops.mv;
        all->ma += c->ops.ma;
        all->max_rows += (int)m;
        if (c->path_len > all->max_path_len) all->max_path_len = c->path_len;
        all->forces_need_velocity = all->forces_need_velocity || c->ops.forces_need_velocity;
        add_own_sizes(all, c);
    }
}

// The envelope of W: each row from its first coupled constraint on, in columns of rows that are
// independent. Of these there are no more than speeds.
static size_t envelope_of(tali_constraints *all, int k)
{
    size_t entries = 0;
    int rows = 0;
    for (int n = all->block_begin[k]; n < all->block_begin[k + 1]; ++n) {
        tali_constraint *c = &all->list[all->by_block[n]];
        c->max_row0 = rows;
        rows += tali_constraint_rows(c);
        const int width = rows - all->list[all->by_block[c->first_coupled]].max_row0;
        const int most = all->blocks[k].speeds + 1;
        entries += (size_t)(width < most ? width : most) * (size_t)tali_constraint_rows(c);
    }
    all->blocks[k].rows = rows;
    return entries;
}

static void add_block_sizes(tali_constraints *all, int k)
{
    const size_t envelope = envelope_of(all, k);
    const tali_constraint_block *block = &all->blocks[k];
    const size_t matrix = (size_t)block->rows * (size_t)block->speeds;
    size_t entries = 0;
    for (int n = all->block_begin[k]; n < all->block_begin[k + 1]; ++n) {
        const tali_constraint *c = &all->list[all->by_block[n]];
        entries += (size_t)tali_constraint_rows(c) * (size_t)c->path_nu;
    }
    all->envelope_doubles += envelope;
    all->max_block_rows = larger(all->max_block_rows, block->rows);
    all->max_block_speeds = larger(all->max_block_speeds, block->speeds);
    if (entries > all->max_block_entries) all->max_block_entries = entries;
    if (envelope > all->max_block_envelope) all->max_block_envelope = envelope;
    if (!tali_constraint_block_is_small(block)) return;
    all->max_small_rows = larger(all->max_small_rows, block->rows);
    all->max_small_speeds = larger(all->max_small_speeds, block->speeds);
    if (matrix > all->max_small_matrix) all->max_small_matrix = matrix;
}

// `head`: tali_constraints_place().
static bool list_all_paths(tal_matter *matter, int32_t head[])
{
    tali_constraints *all = &matter->constraints;
    for (int i = 0; i < all->count; ++i) {
        tali_constraint *c = &all->list[i];
        find_ancestor(&matter->tree, c);
        walk_path(&matter->tree, c, head, NULL);
        c->path0 = all->path_total;
        all->path_total += c->path_len;
    }
    const size_t n = (size_t)all->count;
    all->path = tali_alloc(&matter->allocator, (size_t)all->path_total * sizeof *all->path);
    all->by_block = tali_alloc(&matter->allocator, n * sizeof(int32_t));
    all->block_begin = tali_alloc(&matter->allocator, (n + 1) * sizeof(int32_t));
    all->blocks = tali_alloc(&matter->allocator, n * sizeof *all->blocks);
    if (all->path == NULL || all->by_block == NULL || all->block_begin == NULL ||
        all->blocks == NULL) {
        return false;
    }
    for (int i = 0; i < all->count; ++i) {
        tali_constraint *c = &all->list[i];
        walk_path(&matter->tree, c, head, all->path + c->path0);
        find_places(c, all->path + c->path0);
    }
    return true;
}

// Most bodies and mobilities that one constraint names.
static size_t most_heads(const tali_constraints *all)
{
    size_t most = 0;
    for (int i = 0; i < all->count; ++i) {
        const tali_constraint *c = &all->list[i];
        most = tali_alloc_larger(most, (size_t)c->ops.num_bodies + (size_t)c->num_mobilities);
    }
    return most;
}

bool tali_constraints_place(tal_matter *matter)
{
    tali_constraints *all = &matter->constraints;
    if (all->count == 0) return true;
    int32_t *block = NULL, *first = NULL, *head = NULL;
    const tali_piece pieces[] = {{&block, (size_t)all->count * sizeof *block},
                                 {&first, (size_t)matter->num_bodies * sizeof *first},
                                 {&head, 2 * most_heads(all) * sizeof *head}};
    size_t bytes = 0;
    void *room = tali_alloc_pieces(&matter->allocator, pieces, 3, &bytes);
    bool placed = room != NULL && list_all_paths(matter, head);
    if (placed) {
        couple(&matter->tree, all, block, first);
        number_blocks(all, block);
        count_speeds(&matter->tree, all, first);
        add_constraint_sizes(all);
        placed = tali_constraints_order(matter);
    }
    for (int k = 0; k < all->num_blocks && placed; ++k) {
        add_block_sizes(all, k);
    }
    if (!placed) {
        (void)tal_system_fail(matter->system, TAL_ERR_NO_MEMORY,
                              "no memory for the paths of %d constraints", all->count);
    }
    tali_free(&matter->allocator, room, bytes);
    return placed;
}
