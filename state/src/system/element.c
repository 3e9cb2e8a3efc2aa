// Elements of a System: their names, and finding them.
#include "names_internal.h"

#include "system/system_internal.h"

#include <stddef.h>
#include <stdio.h>

static const tali_system_element *element_at(const tali_system_list *list, int i)
{
    return (const tali_system_element *)(const void *)((const char *)list->items +
                                                       (size_t)i * list->item_size);
}

int tali_system_find_element(const tali_system_list *list, int owner, const char *name)
{
    const uint64_t hash = tali_names_hash(name);
    int probe = 0, i;
    while ((i = tali_names_next(&list->names, hash, &probe)) >= 0) {
        const tali_system_element *element = element_at(list, i);
        const bool owned = owner < 0 || element->owner == owner;
        if (owned && strcmp(element->name, name) == 0) return i;
    }
    return -1;
}

bool tali_system_breach_element(const tal_system *system, const tali_system_list *list, int i,
                                const char *kind, const char *where)
{
    // what a failed add returned: the failure is remembered, and building stays free of checks
    if (i < 0 && system->error.status != TAL_OK) return false;
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "System '%s' has no %s %d: it has %d", system->name,
                      kind, i, list->count);
    return false;
}

bool tali_system_name_element(tal_system *system, const tali_system_list *list,
                              tal_subsystem_ix owner, const char *kind, const char *name,
                              tali_system_element *element)
{
    const bool owner_exists = owner.i >= 0 && owner.i < system->subsystems.count;
    if (list != &system->subsystems && !owner_exists) {
        (void)tali_system_build_fail(system, TAL_ERR_BAD_INDEX, "tal_system_add",
                                     "%s '%s': its owner, subsystem %d, does not exist", kind,
                                     name != NULL ? name : "", owner.i);
        return false;
    }

    char by_index[TAL_MAX_NAME + 1];
    (void)snprintf(by_index, sizeof by_index, "%s%d", kind, list->count);
    const char *chosen = name != NULL ? name : by_index;
    if (chosen[0] == '\0' || strlen(chosen) > TAL_MAX_NAME) {
        (void)tali_system_build_fail(system, TAL_ERR_BAD_NAME, "tal_system_add",
                                     "%s %d: a name has 1 to %d characters, this one has %zu", kind,
                                     list->count, TAL_MAX_NAME, strlen(chosen));
        return false;
    }
    const char *flaw = tali_names_flaw(chosen);
    if (flaw != NULL) {
        (void)tali_system_build_fail(system, TAL_ERR_BAD_NAME, "tal_system_add", "%s '%s': %s",
                                     kind, chosen, flaw);
        return false;
    }
    (void)snprintf(element->name, sizeof element->name, "%s", chosen);
    element->name_hash = tali_names_hash(chosen);
    element->owner = owner.i;
    return true;
}

bool tali_system_name_is_free(tal_system *system, const tali_system_list *list,
                              const tali_system_element *element, const char *kind)
{
    if (tali_system_find_element(list, element->owner, element->name) < 0) return true;
    (void)tali_system_build_fail(system, TAL_ERR_BAD_NAME, "tal_system_add",
                                 "%s '%s' exists already in subsystem '%s'", kind, element->name,
                                 tali_system_subsystem_at(system, element->owner)->element.name);
    return false;
}

const tali_system_element *tali_system_checked_element(const tal_system *system, size_t list_offset,
                                                       int i, const char *kind, const char *where)
{
    if (system == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "the System is NULL");
        return NULL;
    }
    const tali_system_list *list = (const void *)((const char *)system + list_offset);
    return tali_system_has_element(system, list, i, kind, where) ? element_at(list, i) : NULL;
}
