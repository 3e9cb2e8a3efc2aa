// Motions and locks when the topology is realized: where values go, what is fast, variables of
// States.
#include "prescribed/prescribed_internal.h"

// Does a constraint act through bodies that may be fast? Those below its ancestor count: how that
// moves makes no difference to it.
static bool may_be_fast(const tal_matter *matter, const tali_constraint *c)
{
    const uint8_t *may = matter->prescribed.may;
    for (int k = 0; k < c->ops.num_bodies; ++k) {
        for (int b = c->bodies[k]; b != c->ancestor; b = matter->tree.parent[b]) {
            if (may[b]) return true;
        }
    }
    for (int k = 0; k < c->num_mobilities; ++k) {
        if (may[c->mobility_bodies[k]]) return true;
    }
    return false;
}

// Constraints on fast bodies are fast themselves (manual sec. 10.3): what is found by relaxing
// meets them. False when it cannot in States as they begin.
static bool place_fast_constraints(tal_matter *matter, const uint8_t levels[])
{
    tali_constraints *cs = &matter->constraints;
    tal_status st = TAL_OK;
    for (int i = 0; i < cs->count && st == TAL_OK; ++i) {
        tali_constraint *c = &cs->list[i];
        c->may_be_fast = may_be_fast(matter, c);
        if (!c->may_be_fast) continue;
        c->fast_row0 = matter->prescribed.num_fast_rows;
        matter->prescribed.num_fast_rows += tali_constraint_rows(c);
        const char *why = tali_prescribed_why_not_fast(matter, c, levels);
        if (why == NULL) continue;
        st = tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                             "constraint '%s' acts on fast bodies %s", c->name, why);
    }
    return st == TAL_OK;
}

// Where lock values of each body are, and what may be fast.
bool tali_prescribed_place(tal_matter *matter)
{
    tali_prescribed *all = &matter->prescribed;
    const size_t n = (size_t)matter->num_bodies;
    all->value0 = tali_alloc(&matter->allocator, n * sizeof *all->value0);
    all->may = tali_alloc(&matter->allocator, n);
    uint8_t *levels = tali_alloc(&matter->allocator, n);
    if (all->value0 == NULL || all->may == NULL || levels == NULL) {
        (void)tal_system_fail(matter->system, TAL_ERR_NO_MEMORY, "no memory for %zu bodies", n);
        tali_free(&matter->allocator, levels, n);
        return false;
    }
    int next = 0;
    for (int b = 0; b < matter->num_bodies; ++b) {
        const tali_tree_body *body = &matter->bodies[b];
        all->value0[b] = next;
        next += body->ops.nq > body->ops.nq_angles ? body->ops.nq : body->ops.nq_angles;
        levels[b] = body->fast_level;
        if (b == 0) continue;
        all->may[b] = body->may_be_fast || all->may[body->parent];
        if (all->may[b]) all->num_fast += body->ops.nu;
    }
    const bool done = place_fast_constraints(matter, levels);
    tali_free(&matter->allocator, levels, n);
    return done;
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
    uint8_t *levels = NULL, *enabled = NULL, *fast = NULL;
    const size_t num_bodies = (size_t)matter->num_bodies;
    const tali_piece pieces[] = {{&values, values_bytes},
                                 {&levels, num_levels},
                                 {&enabled, (size_t)all->count + 1},
                                 {&fast, num_bodies}};
    size_t bytes = 0;
    void *room = tali_alloc_pieces(&matter->allocator, pieces, 4, &bytes);
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
    for (int b = 0; b < matter->num_bodies; ++b) {
        fast[b] = matter->bodies[b].fast_level;
    }
    all->levels = add_var(matter, "lock levels", num_levels, levels);
    all->values = add_var(matter, "lock values", values_bytes, values);
    if (all->num_fast > 0) all->fast = add_var(matter, "fast levels", num_bodies, fast);
    all->enabled = add_var(matter, "enabled motions", (size_t)all->count + 1, enabled);
    all->var_params = add_var(matter, "motion parameters", num_params * sizeof(double),
                              all->num_params > 0 ? all->params : &none);
    tali_free(&matter->allocator, room, bytes);
}
