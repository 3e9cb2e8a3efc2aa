// Declaring discrete variables.
#include "system/system_internal.h"

#include <stddef.h>
#include <stdio.h>

tal_var_def tal_var_def_default(void)
{
    return (tal_var_def){.invalidates = TAL_STAGE_INSTANCE,
                         .allocated = TAL_STAGE_TOPOLOGY,
                         .update_depends_on = TAL_STAGE_TIME};
}

// Are size and stages of a variable, and of its update, possible together?
static bool check_var(tal_system *system, const tal_var_def *def, const char *name)
{
    const char *where = "tal_system_add_var";
    if (def->size == 0) {
        (void)tali_system_build_fail(system, TAL_ERR_BAD_VALUE, where, "variable '%s' has size 0",
                                     name);
    } else if (!tali_system_stage_is_between(def->invalidates, TAL_STAGE_MODEL, TAL_STAGE_REPORT)) {
        (void)tali_system_build_fail(system, TAL_ERR_BAD_VALUE, where,
                                     "variable '%s' invalidates %s: it must be Model to Report",
                                     name, tal_stage_name(def->invalidates));
    } else if (!tali_system_stage_is_between(def->allocated, TAL_STAGE_TOPOLOGY, TAL_STAGE_MODEL) ||
               def->allocated >= def->invalidates) {
        (void)tali_system_build_fail(
            system, TAL_ERR_BAD_VALUE, where,
            "variable '%s' is allocated at %s: it must be Topology or Model, and before %s, which "
            "it invalidates",
            name, tal_stage_name(def->allocated), tal_stage_name(def->invalidates));
    } else if (def->update != NULL && def->invalidates <= TAL_STAGE_TIME) {
        (void)tali_system_build_fail(
            system, TAL_ERR_BAD_VALUE, where,
            "variable '%s' updates itself, so it must invalidate a stage later "
            "than Time, not %s",
            name, tal_stage_name(def->invalidates));
    } else if (def->update != NULL && def->update_depends_on < def->allocated) {
        (void)tali_system_build_fail(system, TAL_ERR_BAD_VALUE, where,
                                     "variable '%s' is updated at %s, but exists only from %s on",
                                     name, tal_stage_name(def->update_depends_on),
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
        (void)tali_system_build_fail(system, TAL_ERR_BAD_NAME, "tal_system_add_var",
                                     "variable '%s': the name is too long to add '.update'", name);
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
    if (!tali_system_can_add(system, __func__)) return none;
    if (def == NULL) {
        (void)tali_system_build_fail(system, TAL_ERR_NULL, __func__, "the variable's def is NULL");
        return none;
    }

    tali_system_var var = {.size = def->size,
                           .invalidates = def->invalidates,
                           .allocated = def->allocated,
                           .update = -1,
                           .sampled = def->update != NULL && def->sampled};
    if (!tali_system_name_element(system, &system->vars, owner, "var", def->name, &var.element) ||
        !tali_system_name_is_free(system, &system->vars, &var.element, "variable") ||
        !check_var(system, def, var.element.name)) {
        return none;
    }
    if (def->update != NULL) {
        var.update = add_update_entry(system, owner, def, var.element.name);
        if (var.update < 0) return none;
        system->has_updates = true;
    }

    tali_system_var *slot = tali_system_list_add_element(system, &system->vars, &var.element);
    if (slot == NULL) return none;
    *slot = var;
    slot->initial = tali_system_build_copy(system, def->initial, def->size);
    const tal_var_ix added = {system->vars.count - 1};
    return slot->initial != NULL ? added : none;
}

tal_var_ix tal_system_find_var(const tal_system *system, tal_subsystem_ix owner, const char *name)
{
    if (system == NULL || name == NULL || owner.i < 0) return (tal_var_ix){-1};
    return (tal_var_ix){tali_system_find_element(&system->vars, owner.i, name)};
}

const char *tal_var_name(const tal_system *system, tal_var_ix var)
{
    const tali_system_element *element = tali_system_checked_element(
        system, offsetof(tal_system, vars), var.i, "variable", __func__);
    return element != NULL ? element->name : "(no variable)";
}

tal_subsystem_ix tal_var_owner(const tal_system *system, tal_var_ix var)
{
    const tali_system_element *element = tali_system_checked_element(
        system, offsetof(tal_system, vars), var.i, "variable", __func__);
    return (tal_subsystem_ix){element != NULL ? element->owner : -1};
}

tal_cache_ix tal_var_update(const tal_system *system, tal_var_ix var)
{
    const tali_system_element *element = tali_system_checked_element(
        system, offsetof(tal_system, vars), var.i, "variable", __func__);
    return (tal_cache_ix){element != NULL ? tali_system_var_at(system, var.i)->update : -1};
}

bool tal_system_has_updates(const tal_system *system)
{
    if (system == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the System is NULL");
        return false;
    }
    return system->has_updates;
}
