// Declaring elements while a System is built: names, variables, cache entries, groups, events.
#include "system_internal.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

static const tali_element *element_at(const tali_list *list, int i)
{
    return (const tali_element *)(const void *)((const char *)list->items +
                                                (size_t)i * list->item_size);
}

int tali_find_element(const tali_list *list, int owner, const char *name)
{
    const uint64_t hash = tali_hash(TALI_HASH_SEED, name, strlen(name));
    for (int i = 0; i < list->count; ++i) {
        const tali_element *element = element_at(list, i);
        const bool owned = owner < 0 || element->owner == owner;
        if (owned && element->name_hash == hash && strcmp(element->name, name) == 0) return i;
    }
    return -1;
}

bool tali_breach_element(const tal_system *system, const tali_list *list, int i, const char *kind,
                         const char *where)
{
    // what a failed add returned: the failure is remembered, and building stays free of checks
    if (i < 0 && system->error.status != TAL_OK) return false;
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "System '%s' has no %s %d: it has %d", system->name,
                      kind, i, list->count);
    return false;
}

bool tali_name_element(tal_system *system, const tali_list *list, tal_subsystem_ix owner,
                       const char *kind, const char *name, tali_element *element)
{
    const bool owner_exists = owner.i >= 0 && owner.i < system->subsystems.count;
    if (list != &system->subsystems && !owner_exists) {
        (void)tali_build_fail(system, TAL_ERR_BAD_INDEX, "tal_system_add",
                              "%s '%s': its owner, subsystem %d, does not exist", kind,
                              name != NULL ? name : "", owner.i);
        return false;
    }

    char by_index[TAL_MAX_NAME + 1];
    (void)snprintf(by_index, sizeof by_index, "%s%d", kind, list->count);
    const char *chosen = name != NULL ? name : by_index;
    if (chosen[0] == '\0' || strlen(chosen) > TAL_MAX_NAME) {
        (void)tali_build_fail(system, TAL_ERR_BAD_NAME, "tal_system_add",
                              "%s %d: a name has 1 to %d characters, this one %zu", kind,
                              list->count, TAL_MAX_NAME, strlen(chosen));
        return false;
    }
    (void)snprintf(element->name, sizeof element->name, "%s", chosen);
    element->name_hash = tali_hash(TALI_HASH_SEED, chosen, strlen(chosen));
    element->owner = owner.i;
    return true;
}

// Names are unique among the elements of one owner; a group's pool counts as well, so that the
// coordinates and the speeds of one mobilizer can share a name.
static bool name_is_free(tal_system *system, const tali_list *list, const tali_element *element,
                         const char *kind)
{
    if (tali_find_element(list, element->owner, element->name) < 0) return true;
    (void)tali_build_fail(system, TAL_ERR_BAD_NAME, "tal_system_add",
                          "%s '%s' exists already in subsystem '%s'", kind, element->name,
                          tali_subsystem_at(system, element->owner)->element.name);
    return false;
}

static bool stage_is_between(tal_stage stage, tal_stage low, tal_stage high)
{
    return (int)stage >= (int)low && (int)stage <= (int)high;
}

// --- discrete variables ---

tal_var_def tal_var_def_default(void)
{
    return (tal_var_def){.invalidates = TAL_STAGE_INSTANCE,
                         .allocated = TAL_STAGE_TOPOLOGY,
                         .update_depends_on = TAL_STAGE_TIME};
}

static bool check_var(tal_system *system, const tal_var_def *def, const char *name)
{
    const char *where = "tal_system_add_var";
    if (def->size == 0) {
        (void)tali_build_fail(system, TAL_ERR_BAD_VALUE, where, "variable '%s' has size 0", name);
    } else if (!stage_is_between(def->invalidates, TAL_STAGE_MODEL, TAL_STAGE_REPORT)) {
        (void)tali_build_fail(system, TAL_ERR_BAD_VALUE, where,
                              "variable '%s' invalidates %s: only Model to Report can be", name,
                              tal_stage_name(def->invalidates));
    } else if (!stage_is_between(def->allocated, TAL_STAGE_TOPOLOGY, TAL_STAGE_MODEL) ||
               def->allocated >= def->invalidates) {
        (void)tali_build_fail(
            system, TAL_ERR_BAD_VALUE, where,
            "variable '%s' is allocated at %s: it must be Topology or Model, and before %s, which "
            "it invalidates",
            name, tal_stage_name(def->allocated), tal_stage_name(def->invalidates));
    } else if (def->update != NULL && def->invalidates <= TAL_STAGE_TIME) {
        (void)tali_build_fail(system, TAL_ERR_BAD_VALUE, where,
                              "variable '%s' updates itself, so it must invalidate a stage later "
                              "than Time, not %s",
                              name, tal_stage_name(def->invalidates));
    } else if (def->update != NULL && def->update_depends_on < def->allocated) {
        (void)tali_build_fail(system, TAL_ERR_BAD_VALUE, where,
                              "variable '%s' is updated at %s, but exists only from %s on", name,
                              tal_stage_name(def->update_depends_on),
                              tal_stage_name(def->allocated));
    }
    return system->error.status == TAL_OK;
}

// The update value is a lazy cache entry named after its variable.
static int add_update_entry(tal_system *system, tal_subsystem_ix owner, const tal_var_def *def,
                            const char *name)
{
    char entry_name[TAL_MAX_NAME + 1];
    if (snprintf(entry_name, sizeof entry_name, "%s.update", name) > TAL_MAX_NAME) {
        (void)tali_build_fail(system, TAL_ERR_BAD_NAME, "tal_system_add_var",
                              "variable '%s': the name leaves no room for '.update'", name);
        return -1;
    }
    tal_cache_def entry = tal_cache_def_default();
    entry.name = entry_name;
    entry.size = def->size;
    entry.depends_on = def->update_depends_on;
    entry.calc = def->update;
    entry.context = def->context;
    entry.prereqs = def->update_prereqs;
    entry.num_prereqs = def->num_update_prereqs;
    return tal_system_add_cache(system, owner, &entry).i;
}

tal_var_ix tal_system_add_var(tal_system *system, tal_subsystem_ix owner, const tal_var_def *def)
{
    const tal_var_ix none = {-1};
    if (!tali_can_add(system, __func__)) return none;
    if (def == NULL) {
        (void)tali_build_fail(system, TAL_ERR_NULL, __func__, "the variable's def is NULL");
        return none;
    }

    tali_var var = {.size = def->size,
                    .invalidates = def->invalidates,
                    .allocated = def->allocated,
                    .update = -1,
                    .sampled = def->update != NULL && def->sampled};
    if (!tali_name_element(system, &system->vars, owner, "var", def->name, &var.element) ||
        !name_is_free(system, &system->vars, &var.element, "variable") ||
        !check_var(system, def, var.element.name)) {
        return none;
    }
    if (def->update != NULL) {
        var.update = add_update_entry(system, owner, def, var.element.name);
        if (var.update < 0) return none;
    }

    tali_var *slot = tali_list_add(system, &system->vars);
    if (slot == NULL) return none;
    *slot = var;
    slot->initial = tali_build_copy(system, def->initial, def->size);
    const tal_var_ix added = {system->vars.count - 1};
    return slot->initial != NULL ? added : none;
}

tal_var_ix tal_system_find_var(const tal_system *system, tal_subsystem_ix owner, const char *name)
{
    if (system == NULL || name == NULL || owner.i < 0) return (tal_var_ix){-1};
    return (tal_var_ix){tali_find_element(&system->vars, owner.i, name)};
}

// Element `i` of the list at that offset in the System, or NULL after telling the breach.
static const tali_element *checked(const tal_system *system, size_t list_offset, int i,
                                   const char *kind, const char *where)
{
    if (system == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "the System is NULL");
        return NULL;
    }
    const tali_list *list = (const void *)((const char *)system + list_offset);
    return tali_has_element(system, list, i, kind, where) ? element_at(list, i) : NULL;
}

const char *tal_var_name(const tal_system *system, tal_var_ix var)
{
    const tali_element *element =
        checked(system, offsetof(tal_system, vars), var.i, "variable", __func__);
    return element != NULL ? element->name : "(no variable)";
}

tal_subsystem_ix tal_var_owner(const tal_system *system, tal_var_ix var)
{
    const tali_element *element =
        checked(system, offsetof(tal_system, vars), var.i, "variable", __func__);
    return (tal_subsystem_ix){element != NULL ? element->owner : -1};
}

tal_cache_ix tal_var_update(const tal_system *system, tal_var_ix var)
{
    const tali_element *element =
        checked(system, offsetof(tal_system, vars), var.i, "variable", __func__);
    return (tal_cache_ix){element != NULL ? tali_var_at(system, var.i)->update : -1};
}

bool tal_system_has_updates(const tal_system *system)
{
    if (system == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the System is NULL");
        return false;
    }
    for (int i = 0; i < system->vars.count; ++i) {
        if (tali_var_at(system, i)->update >= 0) return true;
    }
    return false;
}

// --- cache entries ---

tal_cache_def tal_cache_def_default(void)
{
    return (tal_cache_def){.depends_on = TAL_STAGE_INSTANCE, .computed_by = TAL_STAGE_INFINITY};
}

static bool check_cache(tal_system *system, const tal_cache_def *def, const char *name)
{
    const char *where = "tal_system_add_cache";
    if (def->size == 0) {
        (void)tali_build_fail(system, TAL_ERR_BAD_VALUE, where, "cache entry '%s' has size 0",
                              name);
    } else if (!stage_is_between(def->depends_on, TAL_STAGE_TOPOLOGY, TAL_STAGE_REPORT)) {
        (void)tali_build_fail(system, TAL_ERR_BAD_VALUE, where,
                              "cache entry '%s' depends on %s: only Topology to Report can be",
                              name, tal_stage_name(def->depends_on));
    } else if (def->computed_by < def->depends_on || def->computed_by > TAL_STAGE_INFINITY ||
               def->computed_by < TAL_STAGE_MODEL) {
        (void)tali_build_fail(system, TAL_ERR_BAD_VALUE, where,
                              "cache entry '%s' is computed by %s but depends on %s", name,
                              tal_stage_name(def->computed_by), tal_stage_name(def->depends_on));
    } else if (def->num_prereqs < 0 || (def->num_prereqs > 0 && def->prereqs == NULL)) {
        (void)tali_build_fail(system, TAL_ERR_BAD_VALUE, where,
                              "cache entry '%s' has %d prerequisites at NULL", name,
                              def->num_prereqs);
    }
    return system->error.status == TAL_OK;
}

static bool check_prereq(tal_system *system, const tal_cache_def *def, const char *name,
                         tal_prereq prereq)
{
    const char *where = "tal_system_add_cache";
    const int kind = (int)prereq.kind;
    if (kind < TAL_PREREQ_T || kind > TAL_PREREQ_CACHE) {
        (void)tali_build_fail(system, TAL_ERR_BAD_VALUE, where,
                              "cache entry '%s' has a prerequisite of unknown kind %d", name, kind);
    } else if (kind == TAL_PREREQ_VAR && (prereq.i < 0 || prereq.i >= system->vars.count)) {
        (void)tali_build_fail(system, TAL_ERR_BAD_INDEX, where,
                              "cache entry '%s' needs variable %d, which does not exist", name,
                              prereq.i);
    } else if (kind == TAL_PREREQ_CACHE && (prereq.i < 0 || prereq.i >= system->entries.count)) {
        (void)tali_build_fail(system, TAL_ERR_BAD_INDEX, where,
                              "cache entry '%s' needs entry %d, which does not exist before it",
                              name, prereq.i);
    } else if (kind == TAL_PREREQ_CACHE &&
               tali_entry_at(system, prereq.i)->depends_on > def->depends_on) {
        const tali_entry *needed = tali_entry_at(system, prereq.i);
        (void)tali_build_fail(system, TAL_ERR_BAD_VALUE, where,
                              "cache entry '%s' depends on %s but needs '%s', which depends on %s",
                              name, tal_stage_name(def->depends_on), needed->element.name,
                              tal_stage_name(needed->depends_on));
    }
    return system->error.status == TAL_OK;
}

// The lowest stage that is computed again when the prerequisite changes. TAL_STAGE_INFINITY for one
// that tal_system_begin_step() changes, which lowers no stage.
static tal_stage prereq_stage(const tal_system *system, tal_prereq prereq)
{
    switch (prereq.kind) {
    case TAL_PREREQ_T:
        return TAL_STAGE_TIME;
    case TAL_PREREQ_Q:
        return TAL_STAGE_POSITION;
    case TAL_PREREQ_U:
        return TAL_STAGE_VELOCITY;
    case TAL_PREREQ_Z:
        return TAL_STAGE_DYNAMICS;
    case TAL_PREREQ_VAR: {
        const tali_var *var = tali_var_at(system, prereq.i);
        return var->update < 0 ? var->invalidates : TAL_STAGE_INFINITY;
    }
    case TAL_PREREQ_CACHE:
        break;
    }
    for (int i = 0; i < system->vars.count; ++i) {
        if (tali_var_at(system, i)->update == prereq.i) return TAL_STAGE_INFINITY;
    }
    return tali_entry_at(system, prereq.i)->depends_on; // what it rests on stands beside it
}

// Promised by a stage, an entry must not go out of date while the State still stands there.
static bool can_be_promised(tal_system *system, const tali_entry *entry, tal_prereq prereq)
{
    if (prereq_stage(system, prereq) <= entry->computed_by) return true;
    (void)tali_build_fail(system, TAL_ERR_BAD_VALUE, "tal_system_add_cache",
                          "cache entry '%s' is computed by %s, but what it needs can change while "
                          "that stage stands: make it lazy",
                          entry->element.name, tal_stage_name(entry->computed_by));
    return false;
}

// Keeps the entry's prerequisites, which end the list, sorted and without repetition.
static bool add_prereq(tal_system *system, tali_entry *entry, tal_prereq prereq)
{
    int k = entry->num_prereqs;
    for (; k > 0; --k) {
        const tal_prereq *have = &tali_prereq_at(system, entry->first_prereq + k - 1)->on;
        if (have->kind == prereq.kind && have->i == prereq.i) return true;
        if (have->kind < prereq.kind || (have->kind == prereq.kind && have->i < prereq.i)) break;
    }
    if (!can_be_promised(system, entry, prereq)) return false;
    if (tali_list_add(system, &system->prereqs) == NULL) return false;
    tali_prereq *first = tali_prereq_at(system, entry->first_prereq);
    memmove(first + k + 1, first + k, (size_t)(entry->num_prereqs - k) * sizeof *first);
    first[k] = (tali_prereq){.on = prereq};
    ++entry->num_prereqs;
    return true;
}

// Notes an entry that the declaration names.
static void mark_direct(const tal_system *system, const tali_entry *entry, tal_prereq named)
{
    tali_prereq *prereqs = tali_prereq_at(system, entry->first_prereq);
    for (int k = 0; k < entry->num_prereqs && named.kind == TAL_PREREQ_CACHE; ++k) {
        const tal_prereq on = prereqs[k].on;
        if (on.kind == TAL_PREREQ_CACHE && on.i == named.i) prereqs[k].is_direct = true;
    }
    if (named.kind == TAL_PREREQ_CACHE) tali_entry_at(system, named.i)->is_needed = true;
}

// What an entry rests on is written out in full, through the entries it needs, so that asking
// whether it is valid is one loop without recursion, and realizing what it needs is another: sorted,
// what is needed comes before what needs it.
static bool add_prereqs(tal_system *system, const tal_cache_def *def, tali_entry *entry)
{
    entry->first_prereq = system->prereqs.count;
    for (int k = 0; k < def->num_prereqs; ++k) {
        tal_prereq prereq = def->prereqs[k];
        if (!check_prereq(system, def, entry->element.name, prereq)) return false;

        if (prereq.kind < TAL_PREREQ_VAR) prereq.i = 0;
        if (!add_prereq(system, entry, prereq)) return false;
        if (prereq.kind != TAL_PREREQ_CACHE) continue;
        const tali_entry *needed = tali_entry_at(system, prereq.i);
        for (int i = 0; i < needed->num_prereqs; ++i) {
            const tal_prereq indirect = tali_prereq_at(system, needed->first_prereq + i)->on;
            if (!add_prereq(system, entry, indirect)) return false;
        }
    }
    for (int k = 0; k < def->num_prereqs; ++k) {
        mark_direct(system, entry, def->prereqs[k]);
    }
    return true;
}

tal_cache_ix tal_system_add_cache(tal_system *system, tal_subsystem_ix owner,
                                  const tal_cache_def *def)
{
    const tal_cache_ix none = {-1};
    if (!tali_can_add(system, __func__)) return none;
    if (def == NULL) {
        (void)tali_build_fail(system, TAL_ERR_NULL, __func__, "the cache entry's def is NULL");
        return none;
    }

    tali_entry entry = {.size = def->size,
                        .depends_on = def->depends_on,
                        .computed_by = def->computed_by,
                        .calc = def->calc,
                        .context = def->context};
    if (!tali_name_element(system, &system->entries, owner, "cache", def->name, &entry.element) ||
        !name_is_free(system, &system->entries, &entry.element, "cache entry") ||
        !check_cache(system, def, entry.element.name) || !add_prereqs(system, def, &entry)) {
        return none;
    }
    tali_entry *slot = tali_list_add(system, &system->entries);
    if (slot == NULL) return none;
    *slot = entry;
    return (tal_cache_ix){system->entries.count - 1};
}

tal_cache_ix tal_system_find_cache(const tal_system *system, tal_subsystem_ix owner,
                                   const char *name)
{
    if (system == NULL || name == NULL || owner.i < 0) return (tal_cache_ix){-1};
    return (tal_cache_ix){tali_find_element(&system->entries, owner.i, name)};
}

const char *tal_cache_name(const tal_system *system, tal_cache_ix entry)
{
    const tali_element *element =
        checked(system, offsetof(tal_system, entries), entry.i, "cache entry", __func__);
    return element != NULL ? element->name : "(no cache entry)";
}

tal_subsystem_ix tal_cache_owner(const tal_system *system, tal_cache_ix entry)
{
    const tali_element *element =
        checked(system, offsetof(tal_system, entries), entry.i, "cache entry", __func__);
    return (tal_subsystem_ix){element != NULL ? element->owner : -1};
}

// --- groups ---

tal_group_def tal_group_def_default(void)
{
    return (tal_group_def){.pool = TAL_POOL_Z, .stage = TAL_STAGE_TIME};
}

static bool check_group(tal_system *system, const tal_group_def *def, const char *name)
{
    const char *where = "tal_system_add_group";
    const int pool = (int)def->pool;
    if (pool < 0 || pool >= TALI_NUM_POOLS) {
        (void)tali_build_fail(system, TAL_ERR_BAD_VALUE, where, "group '%s': there is no pool %d",
                              name, pool);
    } else if (def->capacity < 0) {
        (void)tali_build_fail(system, TAL_ERR_BAD_VALUE, where, "group '%s' has capacity %d", name,
                              def->capacity);
    } else if (pool == TAL_POOL_TRIGGER &&
               !stage_is_between(def->stage, TAL_STAGE_TIME, TAL_STAGE_REPORT)) {
        (void)tali_build_fail(system, TAL_ERR_BAD_VALUE, where,
                              "trigger group '%s' is computed at %s: only Time to Report can be",
                              name, tal_stage_name(def->stage));
    } else if (pool > TAL_POOL_Z && def->initial != NULL) {
        (void)tali_build_fail(system, TAL_ERR_BAD_VALUE, where,
                              "group '%s' has initial values, but only q, u and z can", name);
    }
    for (int i = 0; i < def->capacity && def->initial != NULL; ++i) {
        if (isfinite(def->initial[i])) continue;
        (void)tali_build_fail(system, TAL_ERR_NOT_FINITE, where, "group '%s': initial[%d] is %g",
                              name, i, def->initial[i]);
    }
    return system->error.status == TAL_OK;
}

static bool group_name_is_free(tal_system *system, const tali_group *group)
{
    for (int i = 0; i < system->groups.count; ++i) {
        const tali_group *other = tali_group_at(system, i);
        if (other->pool != group->pool || other->element.owner != group->element.owner ||
            other->element.name_hash != group->element.name_hash ||
            strcmp(other->element.name, group->element.name) != 0) {
            continue;
        }
        (void)tali_build_fail(system, TAL_ERR_BAD_NAME, "tal_system_add_group",
                              "group '%s' exists already in that pool of subsystem '%s'",
                              group->element.name,
                              tali_subsystem_at(system, group->element.owner)->element.name);
        return false;
    }
    return true;
}

tal_group_ix tal_system_add_group(tal_system *system, tal_subsystem_ix owner,
                                  const tal_group_def *def)
{
    const tal_group_ix none = {-1};
    if (!tali_can_add(system, __func__)) return none;
    if (def == NULL) {
        (void)tali_build_fail(system, TAL_ERR_NULL, __func__, "the group's def is NULL");
        return none;
    }

    tali_group group = {.pool = def->pool, .stage = def->stage, .capacity = def->capacity};
    if (!tali_name_element(system, &system->groups, owner, "group", def->name, &group.element) ||
        !check_group(system, def, group.element.name) || !group_name_is_free(system, &group)) {
        return none;
    }
    if (group.pool != TAL_POOL_TRIGGER) group.stage = TAL_STAGE_EMPTY;

    tali_group *slot = tali_list_add(system, &system->groups);
    if (slot == NULL) return none;
    *slot = group;
    if (def->initial != NULL) {
        slot->initial =
            tali_build_copy(system, def->initial, (size_t)def->capacity * sizeof(double));
        if (slot->initial == NULL) return none;
    }
    return (tal_group_ix){system->groups.count - 1};
}

tal_group_ix tal_system_find_group(const tal_system *system, tal_subsystem_ix owner, tal_pool pool,
                                   const char *name)
{
    for (int i = 0; system != NULL && name != NULL && i < system->groups.count; ++i) {
        const tali_group *group = tali_group_at(system, i);
        if (group->pool == pool && group->element.owner == owner.i &&
            strcmp(group->element.name, name) == 0) {
            return (tal_group_ix){i};
        }
    }
    return (tal_group_ix){-1};
}

const char *tal_group_name(const tal_system *system, tal_group_ix group)
{
    const tali_element *element =
        checked(system, offsetof(tal_system, groups), group.i, "group", __func__);
    return element != NULL ? element->name : "(no group)";
}

tal_subsystem_ix tal_group_owner(const tal_system *system, tal_group_ix group)
{
    const tali_element *element =
        checked(system, offsetof(tal_system, groups), group.i, "group", __func__);
    return (tal_subsystem_ix){element != NULL ? element->owner : -1};
}

tal_stage tal_group_stage(const tal_system *system, tal_group_ix group)
{
    const tali_element *element =
        checked(system, offsetof(tal_system, groups), group.i, "group", __func__);
    if (element == NULL || tali_group_at(system, group.i)->pool != TAL_POOL_TRIGGER) {
        return TAL_STAGE_EMPTY;
    }
    return tali_group_at(system, group.i)->stage;
}

int tal_system_pool_capacity(const tal_system *system, tal_pool pool)
{
    const int p = (int)pool;
    if (system == NULL || !system->has_topology || p < 0 || p >= TALI_NUM_POOLS) return -1;
    return system->layout.capacity[p];
}

// --- events and scratch ---

tal_event_def tal_event_def_default(void)
{
    return (tal_event_def){.trigger = {-1}, .flags = {-1}, .rate = {-1}};
}

static bool refuse_event(tal_system *system, tal_status status, const char *name, const char *why,
                         double value)
{
    (void)tali_build_fail(system, status, "tal_system_add_event", "event '%s': %s %g", name, why,
                          value);
    return false;
}

// A slot of a group of triggers, or none.
static bool check_trigger(tal_system *system, tal_group_ix group, int slot, const char *name)
{
    if (group.i < 0) return true;
    const bool exists =
        group.i < system->groups.count && tali_group_at(system, group.i)->pool == TAL_POOL_TRIGGER;
    if (!exists) {
        (void)tali_build_fail(system, TAL_ERR_BAD_INDEX, "tal_system_add_event",
                              "event '%s': group %d is not a group of triggers", name, group.i);
        return false;
    }
    const int capacity = tali_group_at(system, group.i)->capacity;
    if (slot >= 0 && slot < capacity) return true;
    (void)tali_build_fail(system, TAL_ERR_BAD_INDEX, "tal_system_add_event",
                          "event '%s' uses trigger %d of a group of %d", name, slot, capacity);
    return false;
}

static bool check_event(tal_system *system, const tal_event_def *def, const char *name)
{
    const unsigned causes = 1u << TAL_EVENT_INITIALIZATION | 1u << TAL_EVENT_STEP_ADVANCED |
                            1u << TAL_EVENT_TERMINATION;
    if (!check_trigger(system, def->trigger, def->slot, name) ||
        !check_trigger(system, def->rate, def->rate_slot, name)) {
        return false;
    }
    if (def->flags.i >= system->vars.count ||
        (def->flags.i >= 0 && tali_var_at(system, def->flags.i)->size != sizeof(tal_event_flags))) {
        return refuse_event(system, TAL_ERR_BAD_INDEX, name, "no tal_event_flags in variable",
                            def->flags.i);
    }
    if ((int)def->crossing < TAL_CROSSING_EITHER || (int)def->crossing > TAL_CROSSING_FALLING) {
        return refuse_event(system, TAL_ERR_BAD_VALUE, name, "there is no crossing",
                            (int)def->crossing);
    }
    if ((def->causes & ~causes) != 0) {
        return refuse_event(system, TAL_ERR_BAD_VALUE, name,
                            "these are no causes to ask for:", def->causes);
    }
    if (!(isfinite(def->window) && def->window >= 0.0)) {
        return refuse_event(system, TAL_ERR_BAD_VALUE, name, "its window is", def->window);
    }
    if (!(isfinite(def->separation) && def->separation >= 0.0)) {
        return refuse_event(system, TAL_ERR_BAD_VALUE, name, "its separation is", def->separation);
    }
    return true;
}

tal_event_ix tal_system_add_event(tal_system *system, tal_subsystem_ix owner,
                                  const tal_event_def *def)
{
    const tal_event_ix none = {-1};
    if (!tali_can_add(system, __func__)) return none;
    if (def == NULL) {
        (void)tali_build_fail(system, TAL_ERR_NULL, __func__, "the event's def is NULL");
        return none;
    }

    tali_event event = {.def = *def};
    event.def.name = NULL;
    if (!tali_name_element(system, &system->events, owner, "event", def->name, &event.element) ||
        !name_is_free(system, &system->events, &event.element, "event") ||
        !check_event(system, def, event.element.name)) {
        return none;
    }
    tali_event *slot = tali_list_add(system, &system->events);
    if (slot == NULL) return none;
    *slot = event;
    return (tal_event_ix){system->events.count - 1};
}

int tal_system_num_events(const tal_system *system)
{
    if (system != NULL) return system->events.count;
    (void)TALI_BREACH(TAL_ERR_NULL, "the System is NULL");
    return -1;
}

tal_event_def tal_event_declared(const tal_system *system, tal_event_ix event)
{
    const tali_element *element =
        checked(system, offsetof(tal_system, events), event.i, "event", __func__);
    if (element == NULL) return tal_event_def_default();
    tal_event_def def = tali_event_at(system, event.i)->def;
    def.name = element->name;
    return def;
}

tal_event_ix tal_system_find_event(const tal_system *system, tal_subsystem_ix owner,
                                   const char *name)
{
    if (system == NULL || name == NULL || owner.i < 0) return (tal_event_ix){-1};
    return (tal_event_ix){tali_find_element(&system->events, owner.i, name)};
}

const char *tal_event_name(const tal_system *system, tal_event_ix event)
{
    const tali_element *element =
        checked(system, offsetof(tal_system, events), event.i, "event", __func__);
    return element != NULL ? element->name : "(no event)";
}

tal_subsystem_ix tal_event_owner(const tal_system *system, tal_event_ix event)
{
    const tali_element *element =
        checked(system, offsetof(tal_system, events), event.i, "event", __func__);
    return (tal_subsystem_ix){element != NULL ? element->owner : -1};
}

void tal_system_reserve_scratch(tal_system *system, size_t bytes)
{
    if (!tali_can_add(system, __func__)) return;
    if (bytes > SIZE_MAX / 4 - system->scratch_bytes) {
        (void)tali_build_fail(system, TAL_ERR_CAPACITY, __func__,
                              "System '%s': %zu bytes of scratch are too many", system->name,
                              bytes);
        return;
    }
    system->scratch_bytes += tali_align(bytes);
}
