// Declaring events.
#include "system/system_internal.h"

#include <math.h>
#include <stddef.h>

tal_event_def tal_event_def_default(void)
{
    return (tal_event_def){.trigger = {-1}, .flags = {-1}, .rate = {-1}};
}

static bool refuse_event(tal_system *system, tal_status status, const char *name, const char *why,
                         double value)
{
    (void)tali_system_build_fail(system, status, "tal_system_add_event", "event '%s': %s %g", name,
                                 why, value);
    return false;
}

// A slot of a group of triggers, or none.
static bool check_trigger(tal_system *system, tal_group_ix group, int slot, const char *name)
{
    if (group.i < 0) return true;
    const bool exists = group.i < system->groups.count &&
                        tali_system_group_at(system, group.i)->pool == TAL_POOL_TRIGGER;
    if (!exists) {
        (void)tali_system_build_fail(system, TAL_ERR_BAD_INDEX, "tal_system_add_event",
                                     "event '%s': group %d is not a group of triggers", name,
                                     group.i);
        return false;
    }
    const int capacity = tali_system_group_at(system, group.i)->capacity;
    if (slot >= 0 && slot < capacity) return true;
    (void)tali_system_build_fail(system, TAL_ERR_BAD_INDEX, "tal_system_add_event",
                                 "event '%s' uses trigger %d of a group of %d", name, slot,
                                 capacity);
    return false;
}

// Are triggers, flags, causes and times of an event valid?
static bool check_event(tal_system *system, const tal_event_def *def, const char *name)
{
    const unsigned causes = 1u << TAL_EVENT_INITIALIZATION | 1u << TAL_EVENT_STEP_ADVANCED |
                            1u << TAL_EVENT_CHANGED | 1u << TAL_EVENT_TERMINATION;
    if (!check_trigger(system, def->trigger, def->slot, name) ||
        !check_trigger(system, def->rate, def->rate_slot, name)) {
        return false;
    }
    if (def->flags.i >= system->vars.count ||
        (def->flags.i >= 0 &&
         tali_system_var_at(system, def->flags.i)->size != sizeof(tal_event_flags))) {
        return refuse_event(system, TAL_ERR_BAD_INDEX, name,
                            "its variable has no tal_event_flags:", def->flags.i);
    }
    if ((int)def->crossing < TAL_CROSSING_EITHER || (int)def->crossing > TAL_CROSSING_FALLING) {
        return refuse_event(system, TAL_ERR_BAD_VALUE, name,
                            "its crossing is invalid:", (int)def->crossing);
    }
    if ((def->causes & ~causes) != 0) {
        return refuse_event(system, TAL_ERR_BAD_VALUE, name,
                            "its causes are invalid:", def->causes);
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
    if (!tali_system_can_add(system, __func__)) return none;
    if (def == NULL) {
        (void)tali_system_build_fail(system, TAL_ERR_NULL, __func__, "the event's def is NULL");
        return none;
    }

    tali_system_event event = {.def = *def};
    event.def.name = NULL;
    if (!tali_system_name_element(system, &system->events, owner, "event", def->name,
                                  &event.element) ||
        !tali_system_name_is_free(system, &system->events, &event.element, "event") ||
        !check_event(system, def, event.element.name)) {
        return none;
    }
    tali_system_event *slot = tali_system_list_add_element(system, &system->events, &event.element);
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
    const tali_system_element *element = tali_system_checked_element(
        system, offsetof(tal_system, events), event.i, "event", __func__);
    if (element == NULL) return tal_event_def_default();
    tal_event_def def = tali_system_event_at(system, event.i)->def;
    def.name = element->name;
    return def;
}

tal_event_ix tal_system_find_event(const tal_system *system, tal_subsystem_ix owner,
                                   const char *name)
{
    if (system == NULL || name == NULL || owner.i < 0) return (tal_event_ix){-1};
    return (tal_event_ix){tali_system_find_element(&system->events, owner.i, name)};
}

const char *tal_event_name(const tal_system *system, tal_event_ix event)
{
    const tali_system_element *element = tali_system_checked_element(
        system, offsetof(tal_system, events), event.i, "event", __func__);
    return element != NULL ? element->name : "(no event)";
}

tal_subsystem_ix tal_event_owner(const tal_system *system, tal_event_ix event)
{
    const tali_system_element *element = tali_system_checked_element(
        system, offsetof(tal_system, events), event.i, "event", __func__);
    return (tal_subsystem_ix){element != NULL ? element->owner : -1};
}
