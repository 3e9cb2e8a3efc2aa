// The shortest length of fibers as an event: their speed jumps to zero there, so a time stepper
// ends its step where they reach it.
//
// The witness is the fiber length less the shortest one, and its rate is that of the z. Nothing is
// done at the event, and it has no memory: fibers at their shortest length leave it when the tendon
// pulls them out, without a jump of their speed.
#include "cache_internal.h"

#include "muscle/muscle_internal.h"

#include <stdio.h>

// An elastic muscle whose z is its fiber length; NULL: another element.
static const tali_muscle *limited_at(const tal_forces *forces, int i)
{
    if (!tal_force_is_muscle(forces, (tal_force_ix){i})) return NULL;
    const tali_muscle *it = forces->elements[i].self;
    return it->kind == TALI_MUSCLE_ELASTIC ? it : NULL;
}

bool tali_muscle_declare_limits(tal_forces *forces)
{
    int num = 0;
    for (int i = 0; i < forces->num_elements; ++i) {
        if (limited_at(forces, i) != NULL) ++num;
    }
    if (num == 0) return true;
    tal_group_def def = tal_group_def_default();
    def.name = "fibers above their limits";
    def.pool = TAL_POOL_TRIGGER;
    def.capacity = num;
    def.stage = TAL_STAGE_ACCELERATION;
    forces->limits = tal_system_add_group(forces->system, forces->me, &def);
    def.name = "rates of these fibers";
    forces->limit_rates = tal_system_add_group(forces->system, forces->me, &def);
    return tal_system_error(forces->system)->status == TAL_OK;
}

void tali_muscle_declare_limit(tal_forces *forces, tal_force_ix me)
{
    char name[TAL_MAX_NAME + 1];
    (void)snprintf(name, sizeof name, "%s.shortest", forces->elements[me.i].name);
    tal_event_def event = tal_event_def_default();
    event.name = name;
    event.trigger = forces->limits;
    event.rate = forces->limit_rates;
    event.slot = event.rate_slot = forces->num_limits++; // in the order of the elements
    event.crossing = TAL_CROSSING_FALLING;
    event.reports = true;
    (void)tal_system_add_event(forces->system, forces->me, &event);
}

void tali_muscle_write_limits(const tal_forces *forces, const tal_force_context *context)
{
    if (forces->num_limits == 0) return;
    const tal_system *system = context->system;
    tal_state *state = context->state;
    double *above = tal_group_upd_triggers(system, state, forces->limits);
    double *rates = tal_group_upd_triggers(system, state, forces->limit_rates);
    int slot = 0;
    for (int i = 0; slot < forces->num_limits; ++i) {
        const tali_muscle *it = limited_at(forces, i);
        if (it == NULL) continue;
        above[slot] = *tali_cache_group_y(system, state, it->fiber_z) -
                      tali_muscle_sizes_of(it, context)->shortest;
        rates[slot++] = *tali_cache_group_ydot(system, state, it->fiber_z);
    }
}
