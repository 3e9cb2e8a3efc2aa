// Declaring cache entries, and what they wait for.
#include "system/system_internal.h"

#include <stddef.h>

tal_cache_def tal_cache_def_default(void)
{
    return (tal_cache_def){.depends_on = TAL_STAGE_INSTANCE, .computed_by = TAL_STAGE_INFINITY};
}

// Are size, stages and prerequisites of a cache entry possible?
static bool check_cache(tal_system *system, const tal_cache_def *def, const char *name)
{
    const char *where = "tal_system_add_cache";
    if (def->size == 0) {
        (void)tali_system_build_fail(system, TAL_ERR_BAD_VALUE, where,
                                     "cache entry '%s' has size 0", name);
    } else if (!tali_system_stage_is_between(def->depends_on, TAL_STAGE_TOPOLOGY,
                                             TAL_STAGE_REPORT)) {
        (void)tali_system_build_fail(
            system, TAL_ERR_BAD_VALUE, where,
            "cache entry '%s' depends on %s: it must be Topology to Report", name,
            tal_stage_name(def->depends_on));
    } else if (def->computed_by < def->depends_on || def->computed_by > TAL_STAGE_INFINITY ||
               def->computed_by < TAL_STAGE_MODEL) {
        (void)tali_system_build_fail(system, TAL_ERR_BAD_VALUE, where,
                                     "cache entry '%s' is computed by %s but depends on %s", name,
                                     tal_stage_name(def->computed_by),
                                     tal_stage_name(def->depends_on));
    } else if (def->num_prereqs < 0 || (def->num_prereqs > 0 && def->prereqs == NULL)) {
        (void)tali_system_build_fail(system, TAL_ERR_BAD_VALUE, where,
                                     "cache entry '%s' has %d prerequisites: "
                                     "the number is negative or the array is NULL",
                                     name, def->num_prereqs);
    }
    return system->error.status == TAL_OK;
}

// Does a prerequisite exist, declared before the entry and at no later stage?
static bool check_prereq(tal_system *system, const tal_cache_def *def, const char *name,
                         tal_prereq prereq)
{
    const char *where = "tal_system_add_cache";
    const int kind = (int)prereq.kind;
    if (kind < TAL_PREREQ_T || kind > TAL_PREREQ_CACHE) {
        (void)tali_system_build_fail(system, TAL_ERR_BAD_VALUE, where,
                                     "cache entry '%s' has a prerequisite of unknown kind %d", name,
                                     kind);
    } else if (kind == TAL_PREREQ_VAR && (prereq.i < 0 || prereq.i >= system->vars.count)) {
        (void)tali_system_build_fail(system, TAL_ERR_BAD_INDEX, where,
                                     "cache entry '%s' needs variable %d, which does not exist",
                                     name, prereq.i);
    } else if (kind == TAL_PREREQ_CACHE && (prereq.i < 0 || prereq.i >= system->entries.count)) {
        (void)tali_system_build_fail(
            system, TAL_ERR_BAD_INDEX, where,
            "cache entry '%s' needs entry %d, which does not exist before it", name, prereq.i);
    } else if (kind == TAL_PREREQ_CACHE &&
               tali_system_entry_at(system, prereq.i)->depends_on > def->depends_on) {
        const tali_system_entry *needed = tali_system_entry_at(system, prereq.i);
        (void)tali_system_build_fail(
            system, TAL_ERR_BAD_VALUE, where,
            "cache entry '%s' depends on %s but needs '%s', which depends on %s", name,
            tal_stage_name(def->depends_on), needed->element.name,
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
        const tali_system_var *var = tali_system_var_at(system, prereq.i);
        return var->update < 0 ? var->invalidates : TAL_STAGE_INFINITY;
    }
    case TAL_PREREQ_CACHE:
        break;
    }
    for (int i = 0; i < system->vars.count; ++i) {
        if (tali_system_var_at(system, i)->update == prereq.i) return TAL_STAGE_INFINITY;
    }
    return tali_system_entry_at(system, prereq.i)->depends_on; // what it rests on is beside it
}

// Promised by a stage, an entry must not go out of date while the State is still there.
static bool can_be_promised(tal_system *system, const tali_system_entry *entry, tal_prereq prereq)
{
    if (prereq_stage(system, prereq) <= entry->computed_by) return true;
    (void)tali_system_build_fail(
        system, TAL_ERR_BAD_VALUE, "tal_system_add_cache",
        "cache entry '%s' is computed by %s, but its prerequisites can change while "
        "that stage is realized: make it lazy",
        entry->element.name, tal_stage_name(entry->computed_by));
    return false;
}

// Keeps the entry's prerequisites, which end the list, sorted and without repetition.
static bool add_prereq(tal_system *system, tali_system_entry *entry, tal_prereq prereq)
{
    int k = entry->num_prereqs;
    for (; k > 0; --k) {
        const tal_prereq *have = &tali_system_prereq_at(system, entry->first_prereq + k - 1)->on;
        if (have->kind == prereq.kind && have->i == prereq.i) return true;
        if (have->kind < prereq.kind || (have->kind == prereq.kind && have->i < prereq.i)) break;
    }
    if (!can_be_promised(system, entry, prereq)) return false;
    if (tali_system_list_add(system, &system->prereqs) == NULL) return false;
    tali_system_prereq *first = tali_system_prereq_at(system, entry->first_prereq);
    memmove(first + k + 1, first + k, (size_t)(entry->num_prereqs - k) * sizeof *first);
    first[k] = (tali_system_prereq){.on = prereq};
    ++entry->num_prereqs;
    return true;
}

// Notes an entry that the declaration names.
static bool add_direct(tal_system *system, tali_system_entry *entry, int named)
{
    int *direct = tali_system_list_add(system, &system->direct);
    if (direct == NULL) return false;
    *direct = named;
    ++entry->num_direct;
    tali_system_entry_at(system, named)->is_needed = true;
    return true;
}

// What an entry rests on is written out in full, through the entries it needs, so that asking
// whether it is valid is one loop without recursion, and realizing what it needs is another:
// sorted, what is needed comes before what needs it.
static bool add_prereqs(tal_system *system, const tal_cache_def *def, tali_system_entry *entry)
{
    entry->first_prereq = system->prereqs.count;
    entry->first_direct = system->direct.count;
    for (int k = 0; k < def->num_prereqs; ++k) {
        tal_prereq prereq = def->prereqs[k];
        if (!check_prereq(system, def, entry->element.name, prereq)) return false;

        if (prereq.kind < TAL_PREREQ_VAR) prereq.i = 0;
        if (!add_prereq(system, entry, prereq)) return false;
        if (prereq.kind != TAL_PREREQ_CACHE) continue;
        if (!add_direct(system, entry, prereq.i)) return false;
        const tali_system_entry *needed = tali_system_entry_at(system, prereq.i);
        for (int i = 0; i < needed->num_prereqs; ++i) {
            const tal_prereq indirect = tali_system_prereq_at(system, needed->first_prereq + i)->on;
            if (!add_prereq(system, entry, indirect)) return false;
        }
    }
    return true;
}

tal_cache_ix tal_system_add_cache(tal_system *system, tal_subsystem_ix owner,
                                  const tal_cache_def *def)
{
    const tal_cache_ix none = {-1};
    if (!tali_system_can_add(system, __func__)) return none;
    if (def == NULL) {
        (void)tali_system_build_fail(system, TAL_ERR_NULL, __func__,
                                     "the cache entry's def is NULL");
        return none;
    }

    tali_system_entry entry = {.size = def->size,
                               .depends_on = def->depends_on,
                               .computed_by = def->computed_by,
                               .calc = def->calc,
                               .context = def->context};
    if (!tali_system_name_element(system, &system->entries, owner, "cache", def->name,
                                  &entry.element) ||
        !tali_system_name_is_free(system, &system->entries, &entry.element, "cache entry") ||
        !check_cache(system, def, entry.element.name) || !add_prereqs(system, def, &entry)) {
        return none;
    }
    tali_system_entry *slot =
        tali_system_list_add_element(system, &system->entries, &entry.element);
    if (slot == NULL) return none;
    *slot = entry;
    return (tal_cache_ix){system->entries.count - 1};
}

tal_cache_ix tal_system_find_cache(const tal_system *system, tal_subsystem_ix owner,
                                   const char *name)
{
    if (system == NULL || name == NULL || owner.i < 0) return (tal_cache_ix){-1};
    return (tal_cache_ix){tali_system_find_element(&system->entries, owner.i, name)};
}

const char *tal_cache_name(const tal_system *system, tal_cache_ix entry)
{
    const tali_system_element *element = tali_system_checked_element(
        system, offsetof(tal_system, entries), entry.i, "cache entry", __func__);
    return element != NULL ? element->name : "(no cache entry)";
}

tal_subsystem_ix tal_cache_owner(const tal_system *system, tal_cache_ix entry)
{
    const tali_system_element *element = tali_system_checked_element(
        system, offsetof(tal_system, entries), entry.i, "cache entry", __func__);
    return (tal_subsystem_ix){element != NULL ? element->owner : -1};
}
