// Motions and locks when the topology is realized: where values go, what is fast, variables of
// States.
#include "prescribed/prescribed_internal.h"

// The levels of the fast bodies that a constraint acts through, as bits. Those below its ancestor
// count: how that moves makes no difference to it.
static unsigned fast_levels_of(const tal_matter *matter, const tali_constraint *c)
{
    const uint8_t *fast = matter->prescribed.fast;
    unsigned levels = 0;
    for (int k = 0; k < c->ops.num_bodies; ++k) {
        for (int b = c->bodies[k]; b != c->ancestor; b = matter->tree.parent[b]) {
            if (fast[b] != TAL_LEVEL_FREE) levels |= 1U << fast[b];
        }
    }
    for (int k = 0; k < c->num_mobilities; ++k) {
        const int level = fast[c->mobility_bodies[k]];
        if (level != TAL_LEVEL_FREE) levels |= 1U << level;
    }
    return levels;
}

static tal_status refuse_fast(const tal_matter *matter, const tali_constraint *c, const char *why)
{
    return tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                           "constraint '%s' acts on fast bodies %s", c->name, why);
}

// Constraints on fast bodies are fast themselves (manual sec. 10.3): what is found by relaxing
// meets them. False when it cannot.
static bool place_fast_constraints(tal_matter *matter)
{
    tali_constraints *cs = &matter->constraints;
    const unsigned position = 1U << TAL_LEVEL_POSITION, velocity = 1U << TAL_LEVEL_VELOCITY;
    tal_status st = TAL_OK;
    for (int i = 0; i < cs->count && st == TAL_OK; ++i) {
        tali_constraint *c = &cs->list[i];
        const unsigned levels = fast_levels_of(matter, c);
        if (levels == 0) continue;
        if (levels == (position | velocity)) {
            st = refuse_fast(matter, c, "of both levels, position and velocity: use one level");
        } else if (c->ops.ma > 0) {
            st = refuse_fast(matter, c,
                             "with acceleration equations: fast bodies do not accelerate");
        } else if (levels == position && c->ops.mv > 0) {
            st =
                refuse_fast(matter, c, "with velocity equations: make the bodies fast in velocity");
        }
        c->fast_level = levels == position ? TAL_LEVEL_POSITION : TAL_LEVEL_VELOCITY;
        c->fast_row0 = matter->prescribed.num_fast_rows;
        matter->prescribed.num_fast_rows += tali_constraint_rows(c);
    }
    return st == TAL_OK;
}

// Where lock values of each body are, and what being fast spreads to.
bool tali_prescribed_place(tal_matter *matter)
{
    tali_prescribed *all = &matter->prescribed;
    const size_t n = (size_t)matter->num_bodies;
    all->value0 = tali_alloc(&matter->allocator, n * sizeof *all->value0);
    all->fast = tali_alloc(&matter->allocator, n);
    if (all->value0 == NULL || all->fast == NULL) {
        (void)tal_system_fail(matter->system, TAL_ERR_NO_MEMORY, "no memory for %zu bodies", n);
        return false;
    }
    int next = 0;
    for (int b = 0; b < matter->num_bodies; ++b) {
        const tali_tree_body *body = &matter->bodies[b];
        all->value0[b] = next;
        next += body->ops.nq > body->ops.nq_angles ? body->ops.nq : body->ops.nq_angles;
        if (b == 0) continue;
        all->fast[b] =
            body->fast_level != TAL_LEVEL_FREE ? body->fast_level : all->fast[body->parent];
        if (all->fast[b] != TAL_LEVEL_FREE) all->num_fast += body->ops.nu;
    }
    return place_fast_constraints(matter);
}

static tal_var_ix add_var(tal_matter *matter, const char *name, size_t size, const void *initial)
{
    tal_var_def def = tal_var_def_default();
    def.name = name;
    def.size = size;
    def.initial = initial;
    return tal_system_add_var(matter->system, matter->me, &def);
}

// Levels and values of the locks that States begin with.
static void set_initial_locks(const tal_matter *matter, uint8_t levels[], double values[])
{
    for (int b = 1; b < matter->num_bodies; ++b) {
        const tali_tree_body *body = &matter->bodies[b];
        const int nu = body->ops.nu;
        if (nu > 0) memset(levels + matter->tree.u0[b], body->lock_level, (size_t)nu);
        levels[matter->tree.num_u + b] = body->use_angles;
        if (body->lock_level == TAL_LEVEL_POSITION) {
            tali_tree_write_initial_q(matter, body, body->use_angles,
                                      values + matter->prescribed.value0[b]);
        }
    }
}

void tali_prescribed_declare_variables(tal_matter *matter)
{
    tali_prescribed *all = &matter->prescribed;
    const size_t num_levels = (size_t)matter->tree.num_u + (size_t)matter->num_bodies;
    const size_t values_bytes = ((size_t)matter->tree.max_nq + 1) * sizeof(double);
    double *values = NULL;
    uint8_t *levels = NULL, *enabled = NULL;
    const tali_piece pieces[] = {
        {&values, values_bytes}, {&levels, num_levels}, {&enabled, (size_t)all->count + 1}};
    size_t bytes = 0;
    void *room = tali_alloc_pieces(&matter->allocator, pieces, 3, &bytes);
    if (room == NULL) {
        (void)tal_system_fail(matter->system, TAL_ERR_NO_MEMORY, "no memory for locks");
        return;
    }
    set_initial_locks(matter, levels, values);
    for (int i = 0; i < all->count; ++i) {
        enabled[i] = !all->list[i].disabled;
    }
    const double none = 0.0;
    const size_t num_params = (size_t)(all->num_params > 0 ? all->num_params : 1);
    all->levels = add_var(matter, "lock levels", num_levels, levels);
    all->values = add_var(matter, "lock values", values_bytes, values);
    all->enabled = add_var(matter, "enabled motions", (size_t)all->count + 1, enabled);
    all->var_params = add_var(matter, "motion parameters", num_params * sizeof(double),
                              all->num_params > 0 ? all->params : &none);
    tali_free(&matter->allocator, room, bytes);
}
