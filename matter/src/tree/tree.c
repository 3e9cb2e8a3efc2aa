// Flattening the bodies into arrays that the passes run over.
#include "kernel/passes_internal.h"
#include "stage/stages_internal.h"

static bool is_table(const tali_tree_body *body, const tal_mobilizer_ops *ops)
{
    return body->ops.calc_X_FM == ops->calc_X_FM && body->ops.calc_H_FM == ops->calc_H_FM &&
           body->ops.mul_N == ops->mul_N;
}

// The kernel for a mobilizer: its own if it is one of the common built-ins, else the general one.
static tali_tree_hinge hinge_of(const tali_tree_body *body)
{
    if (is_table(body, tal_mobilizer_pin())) return TALI_HINGE_PIN;
    if (is_table(body, tal_mobilizer_slider())) return TALI_HINGE_SLIDER;
    if (is_table(body, tal_mobilizer_weld())) return TALI_HINGE_WELD;
    if (body->direction == TAL_REVERSE) return TALI_HINGE_GENERAL;
    if (is_table(body, tal_mobilizer_translation())) return TALI_HINGE_TRANSLATION;
    if (is_table(body, tal_mobilizer_ball())) return TALI_HINGE_BALL;
    if (is_table(body, tal_mobilizer_free())) return TALI_HINGE_FREE;
    return TALI_HINGE_GENERAL;
}

// One block for the passes, which come first, and for all arrays over bodies.
static void *alloc_arrays(const tal_allocator *allocator, tali_tree *tree, size_t *bytes)
{
    const size_t n = (size_t)tree->num_bodies, ints = n * sizeof(int32_t);
    const tali_piece pieces[] = {
        {&tree->passes, sizeof(tali_passes)},
        {&tree->parent, ints},
        {&tree->u0, ints},
        {&tree->d0, ints},
        {&tree->slot, ints},
        {&tree->general, ints},
        {&tree->pins, ints},
        {&tree->span, ints},
        {&tree->place, ints},
        {&tree->quaternions, ints},
        {&tree->nu, n},
        {&tree->sign, n},
        {&tree->hinge, n},
        {&tree->is_leaf, n},
        {&tree->is_last, n},
        {&tree->has_N, n},
    };
    return tali_alloc_pieces(allocator, pieces, sizeof pieces / sizeof pieces[0], bytes);
}

// Parents, first speeds and sizes of all bodies.
static void number_bodies(const tal_matter *matter, tali_tree *tree)
{
    for (int b = 0; b < tree->num_bodies; ++b) {
        const tali_tree_body *body = &matter->bodies[b];
        const int nu = body->ops.nu;
        tree->parent[b] = body->parent;
        tree->nu[b] = (uint8_t)nu;
        tree->u0[b] = tree->num_u;
        tree->d0[b] = tree->num_d;
        tree->sign[b] = body->direction == TAL_REVERSE ? -1 : 1;
        tree->hinge[b] = (uint8_t)(b > 0 ? hinge_of(body) : TALI_HINGE_WELD);
        tree->is_leaf[b] = 1;
        if (b > 0) tree->is_leaf[body->parent] = 0;
        tree->has_N[b] = body->ops.mul_N != NULL;
        tree->num_N += tree->has_N[b];
        if (body->ops.has_quaternion) tree->quaternions[tree->num_quaternions++] = b;
        tree->num_u += nu;
        tree->num_d += nu * nu;
        tree->num_params += body->ops.num_params;
        tree->max_nq += body->ops.nq > body->ops.nq_angles ? body->ops.nq : body->ops.nq_angles;
        if (tree->hinge[b] == TALI_HINGE_GENERAL) tree->general[tree->num_general++] = b;
        if (tree->hinge[b] == TALI_HINGE_PIN) tree->pins[tree->num_pins++] = b;
    }
}

static void count_particles(tali_tree *tree)
{
    for (int b = 1; b < tree->num_bodies; ++b) {
        tree->num_particles += tali_kernel_is_particle(tree, tree->hinge, b);
    }
}

// Which bodies' sums are open at the same time decides how many slots there are: registers,
// allocated over the tip-to-base order. A body's slot is free again once the body has been met.
static void assign_slots(tali_tree *tree, int32_t free_slots[])
{
    int num_free = 0;
    for (int b = 0; b < tree->num_bodies; ++b) {
        tree->slot[b] = -1;
    }
    for (int b = tree->num_bodies - 1; b > 0; --b) {
        if (tree->slot[b] >= 0) free_slots[num_free++] = tree->slot[b];
        const int p = tree->parent[b];
        tree->is_last[b] = tree->slot[p] < 0;
        if (tree->slot[p] >= 0) continue;
        tree->slot[p] = num_free > 0 ? free_slots[--num_free] : tree->num_slots++;
    }
}

// Where the speeds of each subtree would be if the bodies were numbered depth first: then they
// are neighbors, from place[b] to place[b] + span[b].
static void place_subtrees(tali_tree *tree)
{
    for (int b = 0; b < tree->num_bodies; ++b) {
        tree->span[b] = tree->nu[b];
    }
    for (int b = tree->num_bodies - 1; b > 0; --b) {
        tree->span[tree->parent[b]] += tree->span[b];
    }
    // until a body is met, its place is the first free one among its parent's
    tree->place[0] = 0;
    tree->is_depth_first = true;
    for (int b = 1; b < tree->num_bodies; ++b) {
        int32_t *free_place = &tree->place[tree->parent[b]];
        tree->place[b] = *free_place;
        *free_place += tree->span[b];
        tree->is_depth_first = tree->is_depth_first && tree->place[b] == tree->u0[b];
        tree->place[b] += tree->nu[b];
    }
    for (int b = 0; b < tree->num_bodies; ++b) {
        tree->place[b] -= tree->span[b];
    }
}

bool tali_tree_build(tal_matter *matter)
{
    tali_tree tree = {.num_bodies = matter->num_bodies};
    size_t bytes = 0;
    void *block = alloc_arrays(&matter->allocator, &tree, &bytes);
    const size_t room_bytes = (size_t)tree.num_bodies * sizeof(int32_t);
    int32_t *room = tali_alloc(&matter->allocator, room_bytes);
    if (block == NULL || room == NULL) {
        tali_free(&matter->allocator, block, bytes);
        tali_free(&matter->allocator, room, room_bytes);
        (void)tal_system_fail(matter->system, TAL_ERR_NO_MEMORY,
                              "no memory for a tree of %d bodies", matter->num_bodies);
        return false;
    }
    *(tali_passes *)block = tali_passes_best();
    number_bodies(matter, &tree);
    count_particles(&tree);
    assign_slots(&tree, room);
    place_subtrees(&tree);
    tree.position_at = tali_stage_lay_out_position(&tree);
    tali_free(&matter->allocator, room, room_bytes);
    matter->tree = tree;
    matter->tree_block = block;
    matter->tree_bytes = bytes;
    return true;
}
