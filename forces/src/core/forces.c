// The force subsystem as it is built: elements, names, and what elements declare.
#include "names_internal.h"

#include "core/forces_internal.h"

#include <stdio.h>
#include <string.h>

tal_forces *tal_forces_create(tal_system *system, const tal_matter *matter)
{
    if (system == NULL || matter == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the %s is NULL", system == NULL ? "System" : "matter");
        return NULL;
    }
    if (tal_matter_system(matter) != system) {
        (void)tal_system_fail(system, TAL_ERR_WRONG_SYSTEM,
                              "forces of System '%s' cannot act on the matter of another System",
                              tal_system_name(system));
        return NULL;
    }
    const tal_allocator allocator = tal_system_allocator(system);
    tal_forces *forces = tali_alloc(&allocator, sizeof *forces);
    if (forces == NULL) {
        (void)tal_system_fail(system, TAL_ERR_NO_MEMORY, "no memory for forces");
        return NULL;
    }
    forces->system = system;
    forces->matter = matter;
    forces->allocator = allocator;
    char name[TAL_MAX_NAME + 1];
    (void)snprintf(name, sizeof name, "forces%d", tal_system_num_subsystems(system));
    const bool first = tal_system_find_subsystem(system, "forces").i < 0;
    // the call destroys a subsystem that it refuses
    const tal_subsystem_ix me =
        tal_system_add_subsystem(system, first ? "forces" : name, &tali_forces_ops, forces);
    if (me.i < 0) return NULL;
    forces->me = me;
    return forces;
}

const tal_matter *tal_forces_matter(const tal_forces *forces)
{
    return forces != NULL ? forces->matter : NULL;
}

tal_subsystem_ix tal_forces_subsystem(const tal_forces *forces)
{
    return forces != NULL ? forces->me : (tal_subsystem_ix){-1};
}

// --- adding an element ---

static tal_status take_name(const tal_forces *forces, tali_force *element, const char *name,
                            tal_error *err)
{
    char by_index[TAL_MAX_FORCE_NAME + 1];
    (void)snprintf(by_index, sizeof by_index, "force%d", forces->num_elements);
    const char *chosen = name != NULL ? name : by_index;
    if (chosen[0] == '\0' || strlen(chosen) > TAL_MAX_FORCE_NAME) {
        return TALI_FAIL(err, TAL_ERR_BAD_NAME,
                         "force %d: a name has 1 to %d characters, this one has %zu",
                         forces->num_elements, TAL_MAX_FORCE_NAME, strlen(chosen));
    }
    const char *flaw = tali_names_flaw(chosen);
    if (flaw != NULL) return TALI_FAIL(err, TAL_ERR_BAD_NAME, "force '%s': %s", chosen, flaw);
    if (tal_forces_find(forces, chosen).i >= 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_NAME, "there is a force '%s' already", chosen);
    }
    (void)snprintf(element->name, sizeof element->name, "%s", chosen);
    return TAL_OK;
}

// Copies the caller's table, which may be older and shorter than ours.
static tal_status copy_table(tali_force *element, const tal_force_ops *ops, tal_error *err)
{
    if (ops == NULL || ops->size > sizeof *ops ||
        ops->size < offsetof(tal_force_ops, apply) + sizeof ops->apply) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "force '%s' needs a table with its size",
                         element->name);
    }
    memcpy(&element->ops, ops, ops->size);
    if (element->ops.needs < 0 || element->ops.needs >= TAL_NUM_FORCE_NEEDS) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "force '%s': 'needs' is %d, which is invalid",
                         element->name, (int)element->ops.needs);
    }
    if (ops->name == NULL || ops->apply == NULL) {
        return TALI_FAIL(err, TAL_ERR_NULL, "force '%s': '%s' in its table is NULL", element->name,
                         ops->name == NULL ? "name" : "apply");
    }
    return TAL_OK;
}

static tal_status add_element(tal_forces *forces, const char *name, const tal_force_ops *ops,
                              void *self, tal_error *err)
{
    tali_force element = {.self = self};
    tal_status st = take_name(forces, &element, name, err);
    if (st == TAL_OK) st = copy_table(&element, ops, err);
    if (st != TAL_OK) return st;
    if (!tali_names_reserve(&forces->names, &forces->allocator) ||
        !tali_grow(&forces->allocator, (void **)&forces->elements, forces->num_elements,
                   &forces->capacity, sizeof *forces->elements)) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "force '%s': no memory", element.name);
    }
    tali_names_add(&forces->names, tali_names_hash(element.name), forces->num_elements);
    forces->elements[forces->num_elements++] = element;
    return TAL_OK;
}

tal_force_ix tal_forces_add(tal_forces *forces, const char *name, const tal_force_ops *ops,
                            void *self)
{
    if (forces == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "forces is NULL");
    } else if (tal_system_has_topology(forces->system) || forces->declaring) {
        (void)TALI_BREACH(TAL_ERR_TOPOLOGY, "System '%s' is realized: add forces before that",
                          tal_system_name(forces->system));
    } else if (tal_system_error(forces->system)->status == TAL_OK) {
        tal_error why = {TAL_OK, "", ""};
        const tal_status st = add_element(forces, name, ops, self, &why);
        if (st == TAL_OK) return (tal_force_ix){forces->num_elements - 1};
        (void)tal_system_fail(forces->system, st, "%s", why.message);
    }
    const bool can_destroy =
        ops != NULL && ops->size >= offsetof(tal_force_ops, destroy) + sizeof ops->destroy;
    if (can_destroy && ops->destroy != NULL) ops->destroy(self);
    return (tal_force_ix){-1};
}

// --- options ---

// True when the forces can still be changed; otherwise a breach has been reported.
static bool can_build(const tal_forces *forces, const char *where)
{
    if (forces == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "forces is NULL");
        return false;
    }
    if (!tal_system_has_topology(forces->system) && !forces->declaring) return true;
    (void)tali_breach(TAL_ERR_TOPOLOGY, where, "System '%s' is realized: call this before that",
                      tal_system_name(forces->system));
    return false;
}

void tal_force_track_dissipation(tal_forces *forces, tal_force_ix force)
{
    if (!can_build(forces, __func__)) return;
    const bool failed = tal_system_error(forces->system)->status != TAL_OK;
    if (failed) return; // what is missing has been reported
    if (tali_force_at(forces, force, __func__) == NULL) {
        tali_system_keep_breach(forces->system);
        return;
    }
    forces->elements[force.i].is_tracked = true;
}

void tal_forces_track_dissipation(tal_forces *forces)
{
    if (!can_build(forces, __func__)) return;
    for (int i = 0; i < forces->num_elements; ++i) {
        tali_force *element = &forces->elements[i];
        if (element->ops.calc_dissipated_power != NULL) element->is_tracked = true;
    }
}

void tal_forces_use_threads(tal_forces *forces, const tal_executor *executor, int num_chunks)
{
    if (!can_build(forces, __func__)) return;
    if (num_chunks < 1 || num_chunks > TALI_MAX_FORCE_CHUNKS) {
        (void)tal_system_fail(forces->system, TAL_ERR_BAD_VALUE,
                              "forces cannot be cut into %d chunks: 1 to %d are possible",
                              num_chunks, TALI_MAX_FORCE_CHUNKS);
        return;
    }
    if (executor != NULL && executor->run == NULL) {
        (void)tal_system_fail(forces->system, TAL_ERR_NULL, "the executor's 'run' is NULL");
        return;
    }
    forces->executor = executor != NULL ? *executor : (tal_executor){NULL, NULL};
    forces->num_chunks = num_chunks;
}

// --- asking ---

const tali_force *tali_force_at(const tal_forces *forces, tal_force_ix force, const char *where)
{
    if (forces == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "forces is NULL");
        return NULL;
    }
    if (force.i >= 0 && force.i < forces->num_elements) return &forces->elements[force.i];
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "there is no force %d: there are %d", force.i,
                      forces->num_elements);
    return NULL;
}

int tal_forces_num(const tal_forces *forces)
{
    return forces != NULL ? forces->num_elements : -1;
}

tal_force_ix tal_forces_find(const tal_forces *forces, const char *name)
{
    if (forces == NULL || name == NULL) return (tal_force_ix){-1};
    const uint64_t hash = tali_names_hash(name);
    int probe = 0, i = tali_names_next(&forces->names, hash, &probe);
    while (i >= 0 && strcmp(forces->elements[i].name, name) != 0) {
        i = tali_names_next(&forces->names, hash, &probe);
    }
    return (tal_force_ix){i};
}

const char *tal_force_name(const tal_forces *forces, tal_force_ix force)
{
    const tali_force *element = tali_force_at(forces, force, __func__);
    return element != NULL ? element->name : "(no force)";
}

const char *tal_force_kind(const tal_forces *forces, tal_force_ix force)
{
    const tali_force *element = tali_force_at(forces, force, __func__);
    return element != NULL ? element->ops.name : "(no force)";
}

// --- declaring ---

// The element and the full name of what it declares; NULL when it may not declare.
static const tali_force *declaring_element(const tal_forces *forces, tal_force_ix force,
                                           const void *def, const char *where)
{
    const tali_force *element = tali_force_at(forces, force, where);
    if (element == NULL) return NULL;
    if (def == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "force '%s': the def is NULL", element->name);
        return NULL;
    }
    if (forces->declaring) return element;
    (void)tali_breach(
        TAL_ERR_TOPOLOGY, where,
        "force '%s' can declare only in its 'declare' function, while the topology is realized",
        element->name);
    return NULL;
}

// "<element>.<name>"; NULL stays NULL: the System then makes a name. One that is too long is
// refused by the System, so it is not cut here below what the System allows.
typedef struct full_name {
    char text[TAL_MAX_FORCE_NAME + TAL_MAX_NAME + 3];
} full_name;

static const char *qualify(const tali_force *element, const char *name, full_name *full)
{
    if (name == NULL) return NULL;
    (void)snprintf(full->text, sizeof full->text, "%s.%.*s", element->name, TAL_MAX_NAME + 1, name);
    return full->text;
}

tal_var_ix tal_force_add_var(tal_forces *forces, tal_force_ix force, const tal_var_def *def)
{
    const tali_force *element = declaring_element(forces, force, def, __func__);
    if (element == NULL) return (tal_var_ix){-1};
    full_name full;
    tal_var_def own = *def;
    own.name = qualify(element, def->name, &full);
    if (own.context == NULL) own.context = element->self;
    if (!tali_grow(&forces->allocator, (void **)&forces->vars, forces->num_vars,
                   &forces->vars_capacity, sizeof *forces->vars)) {
        (void)tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "force '%s': no memory",
                              element->name);
        return (tal_var_ix){-1};
    }
    const tal_var_ix var = tal_system_add_var(forces->system, forces->me, &own);
    const bool is_late = own.invalidates > TAL_STAGE_INSTANCE; // kept sums depend on it
    if (var.i >= 0 && is_late) forces->vars[forces->num_vars++] = (tali_force_var){var, force.i};
    return var;
}

tal_cache_ix tal_force_add_cache(tal_forces *forces, tal_force_ix force, const tal_cache_def *def)
{
    const tali_force *element = declaring_element(forces, force, def, __func__);
    if (element == NULL) return (tal_cache_ix){-1};
    full_name full;
    tal_cache_def own = *def;
    own.name = qualify(element, def->name, &full);
    if (own.context == NULL) own.context = element->self;
    return tal_system_add_cache(forces->system, forces->me, &own);
}

tal_group_ix tal_force_add_group(tal_forces *forces, tal_force_ix force, const tal_group_def *def)
{
    const tal_group_ix none = {-1};
    const tali_force *element = declaring_element(forces, force, def, __func__);
    if (element == NULL) return none;
    if (def->pool != TAL_POOL_Z) {
        (void)tal_system_fail(forces->system, TAL_ERR_BAD_VALUE,
                              "force '%s': a force element has groups of z, not of pool %d",
                              element->name, (int)def->pool);
        return none;
    }
    if (!tali_grow(&forces->allocator, (void **)&forces->groups, forces->num_groups,
                   &forces->groups_capacity, sizeof *forces->groups)) {
        (void)tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "force '%s': no memory",
                              element->name);
        return none;
    }
    full_name full;
    tal_group_def own = *def;
    own.name = qualify(element, def->name, &full);
    const tal_group_ix group = tal_system_add_group(forces->system, forces->me, &own);
    if (group.i >= 0) forces->groups[forces->num_groups++] = (tali_force_group){group, force.i};
    return group;
}
