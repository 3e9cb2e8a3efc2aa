// The System object: creation, sticky failures, growing lists, subsystems.
#include "build_internal.h"
#include "names_internal.h"

#include "system/system_internal.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

tal_system_def tal_system_def_default(void)
{
    return (tal_system_def){
        .name = "system", .allocator = tal_allocator_default(), .time_scale = 0.1};
}

static void init_lists(tal_system *system)
{
    system->subsystems.item_size = sizeof(tali_system_subsystem);
    system->vars.item_size = sizeof(tali_system_var);
    system->entries.item_size = sizeof(tali_system_entry);
    system->prereqs.item_size = sizeof(tali_system_prereq);
    system->direct.item_size = sizeof(int);
    system->groups.item_size = sizeof(tali_system_group);
    system->events.item_size = sizeof(tali_system_event);
    system->measures.item_size = sizeof(tali_system_measure);
}

tal_system *tal_system_create(const tal_system_def *def)
{
    const tal_system_def defaults = tal_system_def_default();
    const tal_system_def *from = def != NULL ? def : &defaults;
    if (from->allocator.alloc == NULL || from->allocator.free == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL,
                          "the def has no allocator: start from tal_system_def_default()");
        return NULL;
    }

    tal_system *system = tali_alloc(&from->allocator, sizeof *system);
    if (system == NULL) return NULL;
    system->allocator = from->allocator;
    system->time_scale = from->time_scale;
    init_lists(system);

    const char *name = from->name != NULL ? from->name : "system";
    if (strlen(name) > TAL_MAX_NAME) {
        (void)tali_system_build_fail(system, TAL_ERR_BAD_NAME, __func__,
                                     "the System's name has more than %d characters", TAL_MAX_NAME);
        name = "system";
    }
    const char *flaw = tali_names_flaw(name);
    if (flaw != NULL) {
        (void)tali_system_build_fail(system, TAL_ERR_BAD_NAME, __func__, "System '%s': %s", name,
                                     flaw);
    }
    (void)snprintf(system->name, sizeof system->name, "%s", name);
    if (!(from->time_scale > 0.0) || !isfinite(from->time_scale)) {
        (void)tali_system_build_fail(
            system, TAL_ERR_BAD_VALUE, __func__,
            "System '%s': time_scale is %g, but must be positive and finite", system->name,
            from->time_scale);
    }
    return system;
}

static void free_list(tal_system *system, tali_system_list *list)
{
    tali_free(&system->allocator, list->items, (size_t)list->capacity * list->item_size);
    tali_names_free(&list->names, &system->allocator);
}

void tal_system_destroy(tal_system *system)
{
    if (system == NULL) return;

    const tal_allocator allocator = system->allocator;
    tali_system_measures_destroy(system);
    for (int i = 0; i < system->subsystems.count; ++i) {
        const tali_system_subsystem *subsystem = tali_system_subsystem_at(system, i);
        if (subsystem->ops.destroy != NULL) subsystem->ops.destroy(subsystem->self);
    }
    for (int i = 0; i < system->vars.count; ++i) {
        const tali_system_var *var = tali_system_var_at(system, i);
        tali_free(&allocator, var->initial, var->size);
    }
    for (int i = 0; i < system->groups.count; ++i) {
        const tali_system_group *group = tali_system_group_at(system, i);
        tali_free(&allocator, group->initial, (size_t)group->capacity * sizeof(double));
    }
    tali_free(&allocator, system->order, (size_t)system->subsystems.count * sizeof(int));
    tali_free(&allocator, system->pool_order, (size_t)system->groups.count * sizeof(int));
    const size_t num_keys = (size_t)system->subsystems.count * TALI_NUM_EAGER_KEYS + 1;
    tali_free(&allocator, system->eager, (size_t)system->entries.count * sizeof(int));
    tali_free(&allocator, system->eager_begin, num_keys * sizeof(int));
    tali_free(&allocator, system->steps,
              (size_t)system->subsystems.count * TAL_NUM_STAGES * sizeof *system->steps);
    tali_free(&allocator, system->places.entries, tali_system_places_bytes(system));
    free_list(system, &system->subsystems);
    free_list(system, &system->vars);
    free_list(system, &system->entries);
    free_list(system, &system->prereqs);
    free_list(system, &system->direct);
    free_list(system, &system->groups);
    free_list(system, &system->events);
    free_list(system, &system->measures);
    tali_free(&allocator, system, sizeof *system);
}

tal_status tali_system_build_fail(tal_system *system, tal_status status, const char *where,
                                  const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)tali_vfail(&system->error, status, where, fmt, args);
    va_end(args);
    return status;
}

tal_status tal_system_fail(tal_system *system, tal_status status, const char *fmt, ...)
{
    if (system == NULL) return TALI_BREACH(TAL_ERR_NULL, "the System is NULL");
    if (system->has_topology) {
        return TALI_BREACH(TAL_ERR_TOPOLOGY, "System '%s' is built already", system->name);
    }

    va_list args;
    va_start(args, fmt);
    (void)tali_vfail(&system->error, status, __func__, fmt, args);
    va_end(args);
    return status;
}

void tali_system_keep_breach(tal_system *system)
{
    const tal_error *breach = tal_contract_last();
    if (system->has_topology) return;
    (void)tali_fail(&system->error, breach->status, breach->where, "%s", breach->message);
}

bool tali_system_can_add(tal_system *system, const char *where)
{
    if (system == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "the System is NULL");
        return false;
    }
    if (system->has_topology) {
        (void)tali_breach(TAL_ERR_TOPOLOGY, where,
                          "System '%s' is realized: add elements before that", system->name);
        return false;
    }
    return system->error.status == TAL_OK;
}

void *tali_system_list_add(tal_system *system, tali_system_list *list)
{
    if (!tali_grow(&system->allocator, &list->items, list->count, &list->capacity,
                   list->item_size)) {
        (void)tali_system_build_fail(system, TAL_ERR_NO_MEMORY, __func__,
                                     "System '%s': no memory for another element", system->name);
        return NULL;
    }
    return (char *)list->items + (size_t)list->count++ * list->item_size;
}

void *tali_system_list_add_element(tal_system *system, tali_system_list *list,
                                   const tali_system_element *element)
{
    if (!tali_names_reserve(&list->names, &system->allocator)) {
        (void)tali_system_build_fail(system, TAL_ERR_NO_MEMORY, __func__,
                                     "System '%s': no memory for the name of another element",
                                     system->name);
        return NULL;
    }
    void *item = tali_system_list_add(system, list);
    if (item != NULL) tali_names_add(&list->names, element->name_hash, list->count - 1);
    return item;
}

void *tali_system_build_copy(tal_system *system, const void *bytes, size_t size)
{
    void *copy = tali_alloc(&system->allocator, size);
    if (copy == NULL) {
        (void)tali_system_build_fail(system, TAL_ERR_NO_MEMORY, __func__,
                                     "System '%s': no memory for %zu bytes of initial values",
                                     system->name, size);
        return NULL;
    }
    if (bytes != NULL) memcpy(copy, bytes, size);
    return copy;
}

bool tal_system_has_topology(const tal_system *system)
{
    return system != NULL && system->has_topology;
}

const tal_error *tal_system_error(const tal_system *system)
{
    static const tal_error no_system = {TAL_ERR_NULL, "tal_system_error", "the System is NULL"};
    return system != NULL ? &system->error : &no_system;
}

const char *tal_system_name(const tal_system *system)
{
    return system != NULL ? system->name : "(no system)";
}

double tal_system_time_scale(const tal_system *system)
{
    if (system != NULL) return system->time_scale;
    (void)TALI_BREACH(TAL_ERR_NULL, "the System is NULL");
    return TALI_NAN;
}

uint64_t tal_system_structure_hash(const tal_system *system)
{
    return system != NULL ? system->hash : 0;
}

size_t tal_system_state_size(const tal_system *system)
{
    return system != NULL ? system->layout.size : 0;
}

tal_allocator tal_system_allocator(const tal_system *system)
{
    return system != NULL ? system->allocator : tal_allocator_default();
}

// Copies the caller's table, which may be older and shorter than ours.
static bool copy_ops(tal_system *system, const tal_subsystem_ops *ops, tal_subsystem_ops *copy)
{
    if (ops == NULL || ops->size < offsetof(tal_subsystem_ops, realize_topology) ||
        ops->size > sizeof *copy || ops->name == NULL) {
        (void)tali_system_build_fail(
            system, TAL_ERR_BAD_VALUE, "tal_system_add_subsystem",
            "System '%s': a subsystem needs a table with its size (%zu) and name", system->name,
            sizeof *copy);
        return false;
    }
    memcpy(copy, ops, ops->size);
    return true;
}

// Realizing meets the functions by stage, and often.
static void list_hooks(tali_system_subsystem *subsystem)
{
    const tal_subsystem_ops *ops = &subsystem->ops;
    subsystem->realize[TAL_STAGE_MODEL] = ops->realize_model;
    subsystem->realize[TAL_STAGE_INSTANCE] = ops->realize_instance;
    subsystem->realize[TAL_STAGE_TIME] = ops->realize_time;
    subsystem->realize[TAL_STAGE_POSITION] = ops->realize_position;
    subsystem->realize[TAL_STAGE_VELOCITY] = ops->realize_velocity;
    subsystem->realize[TAL_STAGE_DYNAMICS] = ops->realize_dynamics;
    subsystem->realize[TAL_STAGE_ACCELERATION] = ops->realize_acceleration;
    subsystem->realize[TAL_STAGE_REPORT] = ops->realize_report;
}

// Copy the table and append the subsystem under its name. False after a sticky failure.
static bool add_subsystem(tal_system *system, const char *name, const tal_subsystem_ops *ops,
                          void *self)
{
    tali_system_subsystem subsystem = {.self = self};
    if (!copy_ops(system, ops, &subsystem.ops)) return false;
    list_hooks(&subsystem);
    subsystem.table = ops;

    const char *chosen = name != NULL ? name : ops->name;
    if (!tali_system_name_element(system, &system->subsystems, (tal_subsystem_ix){-1}, "subsystem",
                                  chosen, &subsystem.element)) {
        return false;
    }
    if (tali_system_find_element(&system->subsystems, -1, chosen) >= 0) {
        (void)tali_system_build_fail(system, TAL_ERR_BAD_NAME, "tal_system_add_subsystem",
                                     "System '%s' has a subsystem '%s' already", system->name,
                                     chosen);
        return false;
    }
    tali_system_subsystem *slot =
        tali_system_list_add_element(system, &system->subsystems, &subsystem.element);
    if (slot == NULL) return false;
    *slot = subsystem;
    return true;
}

tal_subsystem_ix tal_system_add_subsystem(tal_system *system, const char *name,
                                          const tal_subsystem_ops *ops, void *self)
{
    const tal_subsystem_ix none = {-1};
    bool added = tali_system_can_add(system, __func__);
    if (added && system->declaring) {
        (void)tali_system_build_fail(
            system, TAL_ERR_TOPOLOGY, __func__,
            "System '%s': a subsystem cannot add another while it is realized", system->name);
        added = false;
    }
    added = added && add_subsystem(system, name, ops, self);
    if (added) return (tal_subsystem_ix){system->subsystems.count - 1};

    const size_t with_destroy = offsetof(tal_subsystem_ops, destroy) + sizeof ops->destroy;
    const bool can_destroy = ops != NULL && ops->size >= with_destroy && ops->destroy != NULL;
    if (can_destroy) ops->destroy(self);
    return none;
}

int tal_system_num_subsystems(const tal_system *system)
{
    if (system != NULL) return system->subsystems.count;
    (void)TALI_BREACH(TAL_ERR_NULL, "the System is NULL");
    return -1;
}

tal_subsystem_ix tal_system_find_subsystem(const tal_system *system, const char *name)
{
    if (system == NULL || name == NULL) return (tal_subsystem_ix){-1};
    return (tal_subsystem_ix){tali_system_find_element(&system->subsystems, -1, name)};
}

// The subsystem at an index, or NULL after reporting the breach.
static const tali_system_subsystem *checked_subsystem(const tal_system *system, tal_subsystem_ix ix,
                                                      const char *where)
{
    if (system == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "the System is NULL");
        return NULL;
    }
    const bool exists =
        tali_system_has_element(system, &system->subsystems, ix.i, "subsystem", where);
    return exists ? tali_system_subsystem_at(system, ix.i) : NULL;
}

const char *tal_subsystem_name(const tal_system *system, tal_subsystem_ix subsystem)
{
    const tali_system_subsystem *found = checked_subsystem(system, subsystem, __func__);
    return found != NULL ? found->element.name : "(no subsystem)";
}

const void *tal_subsystem_self(const tal_system *system, tal_subsystem_ix subsystem)
{
    const tali_system_subsystem *found = checked_subsystem(system, subsystem, __func__);
    return found != NULL ? found->self : NULL;
}

const void *tal_subsystem_self_as(const tal_system *system, tal_subsystem_ix subsystem,
                                  const tal_subsystem_ops *ops)
{
    const void *self = tal_subsystem_self(system, subsystem);
    if (self == NULL || tali_system_subsystem_at(system, subsystem.i)->table != ops) return NULL;
    return self;
}

static tal_status let_subsystems_declare(tal_system *system)
{
    system->declaring = true;
    for (int k = 0; k < system->subsystems.count && system->error.status == TAL_OK; ++k) {
        const int i = system->order[k];
        const tali_system_subsystem *subsystem = tali_system_subsystem_at(system, i);
        if (subsystem->ops.realize_topology == NULL) continue;

        const tal_status st =
            subsystem->ops.realize_topology(subsystem->self, system, (tal_subsystem_ix){i});
        if (st != TAL_OK) {
            (void)tali_system_build_fail(system, st, "tal_system_realize_topology",
                                         "subsystem '%s' could not realize its topology (%s)",
                                         subsystem->element.name, tal_status_text(st));
        }
    }
    system->declaring = false;
    return system->error.status;
}

tal_status tal_system_realize_topology(tal_system *system, tal_error *err)
{
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    if (system == NULL) {
        (void)TALI_FAIL(err, TAL_ERR_NULL, "the System is NULL");
        return TALI_BREACH(TAL_ERR_NULL, "the System is NULL");
    }
    if (system->has_topology) return TAL_OK;
    if (system->declaring) {
        return TALI_BREACH(TAL_ERR_TOPOLOGY, "System '%s' is being realized already", system->name);
    }

    tal_status st = system->error.status;
    if (st == TAL_OK) st = tali_system_sort_subsystems(system);
    if (st == TAL_OK) st = let_subsystems_declare(system);
    if (st == TAL_OK) st = tali_system_lay_out(system);
    system->has_topology = st == TAL_OK;
    if (err != NULL) *err = system->error;
    return st;
}

// --- scratch ---

void tal_system_reserve_scratch(tal_system *system, size_t bytes)
{
    if (!tali_system_can_add(system, __func__)) return;
    if (bytes > SIZE_MAX / 4 - system->scratch_bytes) {
        (void)tali_system_build_fail(system, TAL_ERR_CAPACITY, __func__,
                                     "System '%s': %zu bytes of scratch are too many", system->name,
                                     bytes);
        return;
    }
    system->scratch_bytes += tali_align(bytes);
}
