// What a fixed step needs of the last one, kept in the State: a subsystem with one variable.
#include "build_internal.h"

#include "problem/fixed_step_internal.h"
#include "realtime/realtime_internal.h"

#include <string.h>

// --- declaring ---

// Natural coordinates of a model: each body has at most four entities of its own, and shares three
// with its parent; a constraint shares two.
static int most_natural(const tal_matter *matter)
{
    if (matter == NULL) return 0;
    const int entities = 7 * tal_matter_num_bodies(matter) + 2 * tal_matter_num_constraints(matter);
    return 2 * 3 * entities; // x and xdot
}

// Behind matter, whose speeds and rows are declared by then.
static tal_status realize_topology(void *self, tal_system *system, tal_subsystem_ix me)
{
    tal_fixed_memory *memory = self;
    memory->nu = tali_system_declared_slots(system, TAL_POOL_U);
    memory->m = tali_system_declared_slots(system, TAL_POOL_UERR);
    memory->nx = most_natural(tal_system_matter(system));
    memory->size = 0;
    (void)tali_piece_at(&memory->size, sizeof(tali_realtime_head));
    memory->udot = tali_piece_at(&memory->size, (size_t)memory->nu * sizeof(double));
    memory->a = tali_piece_at(&memory->size, (size_t)memory->nu * sizeof(double));
    memory->lambda = tali_piece_at(&memory->size, (size_t)memory->m * sizeof(double));
    memory->natural = tali_piece_at(&memory->size, (size_t)memory->nx * sizeof(double));
    memory->pivots = tali_piece_at(&memory->size, (size_t)memory->nu * sizeof(int));
    tal_var_def def = tal_var_def_default();
    def.name = "memory of fixed steps";
    def.size = memory->size;
    def.invalidates = TAL_STAGE_REPORT;
    memory->var = tal_system_add_var(system, me, &def);
    return tal_system_error(system)->status;
}

static void destroy(void *self)
{
    tal_fixed_memory *memory = self;
    const tal_allocator allocator = memory->allocator;
    tali_free(&allocator, memory, sizeof *memory);
}

static const tal_subsystem_ops memory_ops = {
    .size = sizeof memory_ops,
    .name = "fixed steps",
    .order = 1000,
    .realize_topology = realize_topology,
    .destroy = destroy,
};

tal_fixed_memory *tal_fixed_memory_create(tal_system *system)
{
    if (system == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the System is NULL");
        return NULL;
    }
    if (tal_system_has_topology(system)) {
        (void)TALI_BREACH(TAL_ERR_TOPOLOGY,
                          "System '%s' is realized: create the memory of fixed steps before that",
                          tal_system_name(system));
        return NULL;
    }
    if (tal_system_error(system)->status != TAL_OK) return NULL;
    if (tal_system_fixed_memory(system) != NULL) {
        (void)tal_system_fail(system, TAL_ERR_BAD_VALUE,
                              "System '%s' has a memory of fixed steps already",
                              tal_system_name(system));
        return NULL;
    }
    const tal_allocator allocator = tal_system_allocator(system);
    tal_fixed_memory *memory = tali_alloc(&allocator, sizeof *memory);
    if (memory == NULL) {
        (void)tal_system_fail(system, TAL_ERR_NO_MEMORY, "no memory for that of fixed steps");
        return NULL;
    }
    memory->system = system;
    memory->allocator = allocator;
    // the call destroys a subsystem that it refuses
    const tal_subsystem_ix me = tal_system_add_subsystem(system, NULL, &memory_ops, memory);
    if (me.i < 0) return NULL;
    memory->me = me;
    return memory;
}

const tal_fixed_memory *tal_system_fixed_memory(const tal_system *system)
{
    for (int i = 0; system != NULL && i < tal_system_num_subsystems(system); ++i) {
        const tal_fixed_memory *memory =
            tal_subsystem_self_as(system, (tal_subsystem_ix){i}, &memory_ops);
        if (memory != NULL) return memory;
    }
    return NULL;
}

tal_subsystem_ix tal_fixed_memory_subsystem(const tal_fixed_memory *memory)
{
    return memory != NULL ? memory->me : (tal_subsystem_ix){-1};
}

// --- its values ---

// The head, or NULL when the values are not those of this State.
static const tali_realtime_head *head_of(const tal_fixed_memory *memory, const tal_state *state,
                                         int formulation)
{
    const tali_realtime_head *head = tal_var_value(memory->system, state, memory->var);
    if (head == NULL || head->of == 0) return NULL;
    if (formulation >= 0) {
        return head->of == tali_problem_print_of(state, formulation) ? head : NULL;
    }
    for (int i = 0; tal_formulation_name((tal_formulation)i) != NULL; ++i) {
        if (head->of == tali_problem_print_of(state, i)) return head;
    }
    return NULL;
}

bool tali_realtime_recall(tal_fixed_stepper *s, const tal_state *state)
{
    const tal_fixed_memory *memory = s->memory;
    const tali_realtime_head *head = head_of(memory, state, (int)s->def.formulation);
    if (head == NULL || head->nu != s->nu || head->m != s->m) return false;
    const char *bytes = (const char *)head;
    memcpy(s->past.udot, bytes + memory->udot, (size_t)s->nu * sizeof(double));
    memcpy(s->past.a, bytes + memory->a, (size_t)s->nu * sizeof(double));
    memcpy(s->past.lambda, bytes + memory->lambda, (size_t)s->m * sizeof(double));
    memcpy(s->past.pivots, bytes + memory->pivots, (size_t)s->nu * sizeof(int));
    memcpy(s->past.natural, bytes + memory->natural, (size_t)head->nx * sizeof(double));
    s->past.num_pivots = head->num_pivots;
    s->past.nx = head->nx;
    s->past.has_xdot = head->has_xdot;
    return true;
}

tal_status tali_realtime_remember(tal_fixed_stepper *s, tal_state *state)
{
    const tal_fixed_memory *memory = s->memory;
    char *bytes = tal_var_upd(s->system, state, memory->var);
    if (bytes == NULL) return tali_realtime_pass_on(s, state, tal_state_error(state)->status);
    memcpy(bytes + memory->udot, s->past.udot, (size_t)s->nu * sizeof(double));
    memcpy(bytes + memory->a, s->past.a, (size_t)s->nu * sizeof(double));
    memcpy(bytes + memory->lambda, s->past.lambda, (size_t)s->m * sizeof(double));
    memcpy(bytes + memory->natural, s->past.natural, (size_t)s->past.nx * sizeof(double));
    memcpy(bytes + memory->pivots, s->past.pivots, (size_t)s->nu * sizeof(int));
    *(tali_realtime_head *)bytes =
        (tali_realtime_head){.of = tali_problem_print_of(state, (int)s->def.formulation),
                             .nu = s->nu,
                             .m = s->m,
                             .num_pivots = s->past.num_pivots,
                             .nx = s->past.nx,
                             .has_xdot = s->past.has_xdot};
    return TAL_OK;
}

// Values at an offset of the variable, where they belong to the State.
static const double *values_at(const tal_fixed_memory *memory, const tal_state *state,
                               const char *where, bool wants_lambda)
{
    if (memory == NULL || state == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "the memory or the State is NULL");
        return NULL;
    }
    const tali_realtime_head *head = head_of(memory, state, -1);
    if (head == NULL) return NULL;
    const size_t at = wants_lambda ? memory->lambda : memory->udot;
    return (const double *)(const void *)((const char *)head + at);
}

const double *tal_fixed_memory_multipliers(const tal_fixed_memory *memory, const tal_state *state)
{
    return values_at(memory, state, __func__, true);
}

const double *tal_fixed_memory_udot(const tal_fixed_memory *memory, const tal_state *state)
{
    return values_at(memory, state, __func__, false);
}

const double *tal_fixed_memory_natural(const tal_fixed_memory *memory, const tal_state *state,
                                       int *n)
{
    if (n != NULL) *n = 0;
    if (memory == NULL || state == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the memory or the State is NULL");
        return NULL;
    }
    const tali_realtime_head *head = head_of(memory, state, (int)TAL_FORMULATION_GLOBAL);
    if (head == NULL || !head->has_xdot) return NULL;
    if (n != NULL) *n = head->nx;
    return (const double *)(const void *)((const char *)head + memory->natural);
}
