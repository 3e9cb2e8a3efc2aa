// Declaring groups of q, u, z and errors.
#include "build_internal.h"

#include "system/system_internal.h"

#include <math.h>
#include <stddef.h>

tal_group_def tal_group_def_default(void)
{
    return (tal_group_def){.pool = TAL_POOL_Z, .stage = TAL_STAGE_TIME};
}

// Are pool, capacity, stage, initial values and weight of a group valid?
static bool check_group(tal_system *system, const tal_group_def *def, const char *name)
{
    const char *where = "tal_system_add_group";
    const int pool = (int)def->pool;
    if (pool < 0 || pool >= TALI_NUM_POOLS) {
        (void)tali_system_build_fail(system, TAL_ERR_BAD_VALUE, where,
                                     "group '%s': there is no pool %d", name, pool);
    } else if (def->capacity < 0) {
        (void)tali_system_build_fail(system, TAL_ERR_BAD_VALUE, where, "group '%s' has capacity %d",
                                     name, def->capacity);
    } else if (pool == TAL_POOL_TRIGGER &&
               !tali_system_stage_is_between(def->stage, TAL_STAGE_TIME, TAL_STAGE_REPORT)) {
        (void)tali_system_build_fail(
            system, TAL_ERR_BAD_VALUE, where,
            "trigger group '%s' is computed at %s: it must be Time to Report", name,
            tal_stage_name(def->stage));
    } else if (pool > TAL_POOL_Z && def->initial != NULL) {
        (void)tali_system_build_fail(system, TAL_ERR_BAD_VALUE, where,
                                     "group '%s' has initial values, but only q, u and z can",
                                     name);
    } else if (!(isfinite(def->weight) && def->weight >= 0.0)) {
        (void)tali_system_build_fail(system, TAL_ERR_BAD_VALUE, where,
                                     "group '%s' has weight %g: it must be positive and finite",
                                     name, def->weight);
    }
    for (int i = 0; i < def->capacity && def->initial != NULL; ++i) {
        if (isfinite(def->initial[i])) continue;
        (void)tali_system_build_fail(system, TAL_ERR_NOT_FINITE, where,
                                     "group '%s': initial[%d] is %g", name, i, def->initial[i]);
    }
    return system->error.status == TAL_OK;
}

// A pool counts as part of a group's name, so that the coordinates and the speeds of one mobilizer
// can share one.
static int find_group(const tal_system *system, int owner, tal_pool pool, const char *name)
{
    const uint64_t hash = tali_names_hash(name);
    int probe = 0, i;
    while ((i = tali_names_next(&system->groups.names, hash, &probe)) >= 0) {
        const tali_system_group *group = tali_system_group_at(system, i);
        if (group->pool == pool && group->element.owner == owner &&
            strcmp(group->element.name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static bool group_name_is_free(tal_system *system, const tali_system_group *group)
{
    const tali_system_element *element = &group->element;
    if (find_group(system, element->owner, group->pool, element->name) < 0) return true;
    (void)tali_system_build_fail(system, TAL_ERR_BAD_NAME, "tal_system_add_group",
                                 "group '%s' exists already in that pool of subsystem '%s'",
                                 element->name,
                                 tali_system_subsystem_at(system, element->owner)->element.name);
    return false;
}

tal_group_ix tal_system_add_group(tal_system *system, tal_subsystem_ix owner,
                                  const tal_group_def *def)
{
    const tal_group_ix none = {-1};
    if (!tali_system_can_add(system, __func__)) return none;
    if (def == NULL) {
        (void)tali_system_build_fail(system, TAL_ERR_NULL, __func__, "the group's def is NULL");
        return none;
    }

    tali_system_group group = {.pool = def->pool,
                               .stage = def->stage,
                               .capacity = def->capacity,
                               .weight = def->weight > 0.0 ? def->weight : 1.0};
    if (!tali_system_name_element(system, &system->groups, owner, "group", def->name,
                                  &group.element) ||
        !check_group(system, def, group.element.name) || !group_name_is_free(system, &group)) {
        return none;
    }
    if (group.pool != TAL_POOL_TRIGGER) group.stage = TAL_STAGE_EMPTY;

    tali_system_group *slot = tali_system_list_add_element(system, &system->groups, &group.element);
    if (slot == NULL) return none;
    *slot = group;
    if (def->initial != NULL) {
        slot->initial =
            tali_system_build_copy(system, def->initial, (size_t)def->capacity * sizeof(double));
        if (slot->initial == NULL) return none;
    }
    return (tal_group_ix){system->groups.count - 1};
}

tal_group_ix tal_system_find_group(const tal_system *system, tal_subsystem_ix owner, tal_pool pool,
                                   const char *name)
{
    if (system == NULL || name == NULL) return (tal_group_ix){-1};
    return (tal_group_ix){find_group(system, owner.i, pool, name)};
}

const char *tal_group_name(const tal_system *system, tal_group_ix group)
{
    const tali_system_element *element = tali_system_checked_element(
        system, offsetof(tal_system, groups), group.i, "group", __func__);
    return element != NULL ? element->name : "(no group)";
}

tal_subsystem_ix tal_group_owner(const tal_system *system, tal_group_ix group)
{
    const tali_system_element *element = tali_system_checked_element(
        system, offsetof(tal_system, groups), group.i, "group", __func__);
    return (tal_subsystem_ix){element != NULL ? element->owner : -1};
}

tal_stage tal_group_stage(const tal_system *system, tal_group_ix group)
{
    const tali_system_element *element = tali_system_checked_element(
        system, offsetof(tal_system, groups), group.i, "group", __func__);
    if (element == NULL || tali_system_group_at(system, group.i)->pool != TAL_POOL_TRIGGER) {
        return TAL_STAGE_EMPTY;
    }
    return tali_system_group_at(system, group.i)->stage;
}

int tali_system_declared_slots(const tal_system *system, tal_pool pool)
{
    int sum = 0;
    for (int i = 0; i < system->groups.count; ++i) {
        const tali_system_group *group = tali_system_group_at(system, i);
        sum += group->pool == pool ? group->capacity : 0;
    }
    return sum;
}

int tal_system_pool_capacity(const tal_system *system, tal_pool pool)
{
    const int p = (int)pool;
    if (system == NULL || !system->has_topology || p < 0 || p >= TALI_NUM_POOLS) return -1;
    return system->layout.capacity[p];
}
