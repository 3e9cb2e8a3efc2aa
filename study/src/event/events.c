// Handlers and reporters given as functions: a subsystem that calls them.
#include "alloc_internal.h"
#include "build_internal.h"
#include "error_internal.h"

#include "event/events_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Allocated one by one: the System keeps pointers to them.
typedef struct element {
    tal_happening it; // its times are ours, its name is not
    tal_event_ix event;
    tal_group_ix trigger, rate;
    size_t owned; // bytes of its context, when that is ours
} element;

struct tal_events {
    tal_system *system;
    tal_allocator allocator;
    tal_subsystem_ix me;
    element **elements; // by ascending event
    int num_elements, capacity;
};

// --- scheduled times ---

// Rounding may put the quotient one off. Where the time has no digits left for the period, every
// time that there is counts.
double tali_event_next_of_period(double first, double period, double after)
{
    const double k = floor((after - first) / period);
    for (int i = 0; i < 3 && isfinite(k); ++i) {
        const double t = first + (k + i) * period;
        if (t > after) return t;
    }
    return nextafter(after, (double)INFINITY);
}

static double next_of_list(const tal_happening *it, double after)
{
    int low = 0, high = it->num_times; // the first later than `after` is in [low, high]
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (it->times[middle] > after) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low < it->num_times ? it->times[low] : (double)INFINITY;
}

static double next_time(const void *context, const tal_system *system, const tal_state *state,
                        double after)
{
    const tal_happening *it = &((const element *)context)->it;
    if (it->next_time != NULL) return it->next_time(it->context, system, state, after);
    if (it->period == 0.0) return next_of_list(it, after);
    return it->first > after ? it->first : tali_event_next_of_period(it->first, it->period, after);
}

// --- the stages: write the witnesses ---

static tal_status write_slot(const element *e, const tal_system *system, tal_state *state,
                             tal_group_ix group, tal_witness_fn fn)
{
    double *slot = tal_group_upd_triggers(system, state, group);
    const tal_status st = slot != NULL ? fn(e->it.context, system, state, slot) : TAL_ERR_STAGE;
    if (st == TAL_OK || tal_state_error(state)->status == st) return st;
    return tal_state_fail(state, st, "the witness of event '%s' failed at t = %g (%s)",
                          tal_event_name(system, e->event), tal_state_t(state),
                          tal_status_text(st));
}

static tal_status realize(const tal_events *events, const tal_system *system, tal_state *state,
                          tal_stage stage)
{
    tal_status st = TAL_OK;
    for (int i = 0; i < events->num_elements && st == TAL_OK; ++i) {
        const element *e = events->elements[i];
        if (e->it.witness != NULL && e->it.stage == stage) {
            st = write_slot(e, system, state, e->trigger, e->it.witness);
        }
        if (st == TAL_OK && e->rate.i >= 0 && e->it.rate_stage == stage) {
            st = write_slot(e, system, state, e->rate, e->it.rate);
        }
    }
    return st;
}

static tal_status realize_time(const void *self, const tal_system *system, tal_state *state)
{
    return realize(self, system, state, TAL_STAGE_TIME);
}

static tal_status realize_position(const void *self, const tal_system *system, tal_state *state)
{
    return realize(self, system, state, TAL_STAGE_POSITION);
}

static tal_status realize_velocity(const void *self, const tal_system *system, tal_state *state)
{
    return realize(self, system, state, TAL_STAGE_VELOCITY);
}

static tal_status realize_dynamics(const void *self, const tal_system *system, tal_state *state)
{
    return realize(self, system, state, TAL_STAGE_DYNAMICS);
}

static tal_status realize_acceleration(const void *self, const tal_system *system, tal_state *state)
{
    return realize(self, system, state, TAL_STAGE_ACCELERATION);
}

static tal_status realize_report(const void *self, const tal_system *system, tal_state *state)
{
    return realize(self, system, state, TAL_STAGE_REPORT);
}

// --- calling ---

static const element *find_element(const tal_events *events, tal_event_ix event)
{
    int low = 0, high = events->num_elements - 1;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (events->elements[middle]->event.i < event.i) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return events->elements[low];
}

static tal_status explain(const tal_system *system, tal_state *state, const element *e,
                          tal_status st)
{
    if (st == TAL_OK || tal_state_error(state)->status == st) return st;
    return tal_state_fail(state, st, "event '%s' failed at t = %g (%s)",
                          tal_event_name(system, e->event), tal_state_t(state),
                          tal_status_text(st));
}

static tal_status handle_events(const void *self, const tal_system *system, tal_state *state,
                                tal_event_cause cause, const tal_event_ix events[], int count,
                                bool *terminate)
{
    for (int i = 0; i < count; ++i) {
        const element *e = find_element(self, events[i]);
        if (e->it.handle == NULL) continue;
        // what one handler changes, the next one finds realized
        tal_status st = tal_system_realize(system, state, TAL_STAGE_ACCELERATION);
        bool asked = false;
        if (st == TAL_OK) st = e->it.handle(e->it.context, system, state, cause, &asked);
        if (st != TAL_OK) return explain(system, state, e, st);
        *terminate = *terminate || asked;
    }
    return TAL_OK;
}

static tal_status report_events(const void *self, const tal_system *system, tal_state *state,
                                tal_event_cause cause, const tal_event_ix events[], int count)
{
    for (int i = 0; i < count; ++i) {
        const element *e = find_element(self, events[i]);
        if (e->it.report == NULL) continue;
        const tal_status st = e->it.report(e->it.context, system, state, cause);
        if (st != TAL_OK) return explain(system, state, e, st);
    }
    return TAL_OK;
}

static void free_element(const tal_allocator *allocator, element *e)
{
    if (e->it.times != NULL) {
        // the copy is ours to free. NOLINTNEXTLINE(performance-no-int-to-ptr)
        tali_free(allocator, (void *)(uintptr_t)e->it.times,
                  (size_t)e->it.num_times * sizeof(double));
    }
    if (e->owned > 0) tali_free(allocator, e->it.context, e->owned);
    tali_free(allocator, e, sizeof *e);
}

static void destroy(void *self)
{
    tal_events *events = self;
    const tal_allocator allocator = events->allocator;
    for (int i = 0; i < events->num_elements; ++i) {
        free_element(&allocator, events->elements[i]);
    }
    tali_free(&allocator, (void *)events->elements,
              (size_t)events->capacity * sizeof *events->elements);
    tali_free(&allocator, events, sizeof *events);
}

// After everybody else in every stage, so that a witness can read what they computed.
static const tal_subsystem_ops events_ops = {
    .size = sizeof events_ops,
    .name = "events",
    .order = 1000,
    .realize_time = realize_time,
    .realize_position = realize_position,
    .realize_velocity = realize_velocity,
    .realize_dynamics = realize_dynamics,
    .realize_acceleration = realize_acceleration,
    .realize_report = realize_report,
    .handle_events = handle_events,
    .report_events = report_events,
    .destroy = destroy,
};

// --- building ---

tal_happening tal_happening_default(void)
{
    return (tal_happening){.stage = TAL_STAGE_POSITION, .rate_stage = TAL_STAGE_VELOCITY};
}

tal_events *tal_events_create(tal_system *system)
{
    if (system == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the System is NULL");
        return NULL;
    }
    const tal_allocator allocator = tal_system_allocator(system);
    tal_events *events = tali_alloc(&allocator, sizeof *events);
    if (events == NULL) {
        (void)tal_system_fail(system, TAL_ERR_NO_MEMORY, "no memory for events");
        return NULL;
    }
    events->system = system;
    events->allocator = allocator;
    char name[TAL_MAX_NAME + 1];
    (void)snprintf(name, sizeof name, "events%d", tal_system_num_subsystems(system));
    const bool first = tal_system_find_subsystem(system, "events").i < 0;
    // the call destroys a subsystem that it refuses
    const tal_subsystem_ix me =
        tal_system_add_subsystem(system, first ? "events" : name, &events_ops, events);
    if (me.i < 0) return NULL;
    events->me = me;
    return events;
}

tal_subsystem_ix tal_events_subsystem(const tal_events *events)
{
    return events != NULL ? events->me : (tal_subsystem_ix){-1};
}

const tal_events *tal_subsystem_events(const tal_system *system, tal_subsystem_ix subsystem)
{
    return tal_subsystem_self_as(system, subsystem, &events_ops);
}

static tal_status refuse_event(tal_system *system, const tal_happening *it, const char *why,
                               double value)
{
    return tal_system_fail(system, TAL_ERR_BAD_VALUE, "event '%s': %s %g",
                           it->name != NULL ? it->name : "(no name)", why, value);
}

static tal_status check_times(tal_system *system, const tal_happening *it)
{
    const int ways = (it->num_times != 0) + (it->period != 0.0) + (it->next_time != NULL);
    if (ways > 1) {
        return refuse_event(system, it, "one of times, period and next_time is enough, not", ways);
    }
    if (!(isfinite(it->period) && it->period >= 0.0)) {
        return refuse_event(system, it, "its period is", it->period);
    }
    if (!isfinite(it->first)) return refuse_event(system, it, "its first time is", it->first);
    if (it->num_times < 0 || (it->num_times > 0 && it->times == NULL)) {
        return refuse_event(system, it, "there are no times, but num_times is", it->num_times);
    }
    for (int i = 0; i < it->num_times; ++i) {
        const bool rises = i == 0 || it->times[i] > it->times[i - 1];
        if (!isfinite(it->times[i]) || !rises) {
            return refuse_event(system, it, "its times are not ascending at", it->times[i]);
        }
    }
    return TAL_OK;
}

static bool is_trigger_stage(tal_stage stage)
{
    return stage >= TAL_STAGE_TIME && stage <= TAL_STAGE_REPORT;
}

static tal_status check_event(tal_system *system, const tal_happening *it)
{
    if ((it->handle == NULL) == (it->report == NULL)) {
        return refuse_event(system, it, "give one of handle and report, not",
                            it->handle != NULL ? 2 : 0);
    }
    if (it->witness != NULL && !is_trigger_stage(it->stage)) {
        return refuse_event(system, it, "no witness is computed at stage", (int)it->stage);
    }
    if (it->rate != NULL && !is_trigger_stage(it->rate_stage)) {
        return refuse_event(system, it, "no rate is computed at stage", (int)it->rate_stage);
    }
    if (it->rate != NULL && it->witness == NULL) {
        return refuse_event(system, it, "a rate without a witness, at stage", (int)it->rate_stage);
    }
    return check_times(system, it);
}

// One slot for a witness or its rate.
static tal_group_ix add_slot(const tal_events *events, tal_stage stage)
{
    tal_group_def def = tal_group_def_default();
    def.pool = TAL_POOL_TRIGGER;
    def.capacity = 1;
    def.stage = stage;
    return tal_system_add_group(events->system, events->me, &def);
}

// Slots for witness and rate, flags, and the event itself in the System.
static void declare_event(tal_events *events, element *e)
{
    const tal_happening *it = &e->it;
    const tal_event_flags flags = {.active = !it->begins_inactive};
    tal_var_def var = tal_var_def_default();
    var.size = sizeof flags;
    var.initial = &flags;
    var.invalidates = TAL_STAGE_REPORT;
    e->trigger = e->rate = (tal_group_ix){-1};
    if (it->witness != NULL) e->trigger = add_slot(events, it->stage);
    if (it->rate != NULL) e->rate = add_slot(events, it->rate_stage);
    tal_event_def def = tal_event_def_default();
    def.name = it->name;
    def.trigger = e->trigger;
    def.rate = e->rate;
    def.reports = it->report != NULL;
    def.causes = it->causes;
    def.crossing = it->crossing;
    def.window = it->window;
    def.separation = it->separation;
    const bool has_times = it->num_times > 0 || it->period > 0.0 || it->next_time != NULL;
    def.next_time = has_times ? next_time : NULL;
    def.context = e;
    def.flags = tal_system_add_var(events->system, events->me, &var);
    e->event = tal_system_add_event(events->system, events->me, &def);
}

// A copy of the happening with times of its own; NULL when memory runs out.
static element *copy_happening(const tal_events *events, const tal_happening *it)
{
    element *e = tali_alloc(&events->allocator, sizeof *e);
    if (e == NULL) return NULL;
    e->it = *it;
    e->it.times = NULL;
    if (it->num_times == 0) return e;
    const size_t bytes = (size_t)it->num_times * sizeof(double);
    double *times = tali_alloc(&events->allocator, bytes);
    if (times == NULL) {
        tali_free(&events->allocator, e, sizeof *e);
        return NULL;
    }
    memcpy(times, it->times, bytes);
    e->it.times = times;
    return e;
}

// Why nothing can be added; a breach is reported.
static tal_status can_add(const tal_events *events, const tal_happening *it, const char *where)
{
    if (events == NULL) return tali_breach(TAL_ERR_NULL, where, "the events are NULL");
    tal_system *system = events->system;
    if (it == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "the happening is NULL");
        tali_system_keep_breach(system);
        return TAL_ERR_NULL;
    }
    if (tal_system_has_topology(system)) {
        return tali_breach(TAL_ERR_TOPOLOGY, where,
                           "System '%s' is realized: add events before that",
                           tal_system_name(system));
    }
    const tal_status st = tal_system_error(system)->status;
    return st != TAL_OK ? st : check_event(system, it);
}

static tal_event_ix add_event(tal_events *events, const tal_happening *it)
{
    element *e = copy_happening(events, it);
    if (e == NULL ||
        !tali_grow(&events->allocator, (void **)&events->elements, events->num_elements,
                   &events->capacity, sizeof *events->elements)) {
        if (e != NULL) free_element(&events->allocator, e);
        (void)tal_system_fail(events->system, TAL_ERR_NO_MEMORY, "no memory for an event");
        return (tal_event_ix){-1};
    }
    declare_event(events, e);
    e->it.name = NULL;
    events->elements[events->num_elements++] = e;
    return e->event;
}

tal_event_ix tal_events_add(tal_events *events, const tal_happening *it)
{
    const tal_event_ix none = {-1};
    return can_add(events, it, __func__) == TAL_OK ? add_event(events, it) : none;
}

tal_event_ix tali_events_add_owning(tal_events *events, const tal_happening *it, void *context,
                                    size_t size)
{
    tal_happening own = *it;
    own.context = context;
    const int before = events->num_elements;
    tal_event_ix event = {-1};
    if (can_add(events, it, "tal_events_add_stop") == TAL_OK) event = add_event(events, &own);
    if (events->num_elements > before) {
        events->elements[before]->owned = size;
    } else {
        tali_free(&events->allocator, context, size);
    }
    return event;
}

tal_system *tali_events_system(const tal_events *events)
{
    return events->system;
}

const tal_happening *tali_event_happening(const tal_system *system, tal_event_ix event)
{
    const tal_subsystem_ix owner = tal_event_owner(system, event);
    const tal_events *events =
        owner.i >= 0 ? tal_subsystem_self_as(system, owner, &events_ops) : NULL;
    return events != NULL ? &find_element(events, event)->it : NULL;
}

// --- switching and signaling ---

static tal_var_ix flags_of(const tal_system *system, tal_event_ix event)
{
    return tal_event_declared(system, event).flags;
}

bool tal_event_is_active(const tal_system *system, const tal_state *state, tal_event_ix event)
{
    const tal_var_ix var = flags_of(system, event);
    if (var.i < 0) return true;
    const tal_event_flags *flags = tal_var_value(system, state, var);
    return flags == NULL || flags->active != 0;
}

// The flags of an event that has some; NULL after a breach.
static tal_event_flags *upd_flags(const tal_system *system, tal_state *state, tal_event_ix event,
                                  const char *where)
{
    const tal_var_ix var = flags_of(system, event);
    if (var.i >= 0) return tal_var_upd(system, state, var);
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "event %d has no flags to set", event.i);
    return NULL;
}

tal_status tal_event_set_active(const tal_system *system, tal_state *state, tal_event_ix event,
                                bool active)
{
    tal_event_flags *flags = upd_flags(system, state, event, __func__);
    if (flags == NULL) return tal_contract_last()->status;
    flags->active = active;
    return TAL_OK;
}

tal_status tal_event_signal(const tal_system *system, tal_state *state, tal_event_ix event)
{
    tal_event_flags *flags = upd_flags(system, state, event, __func__);
    if (flags == NULL) return tal_contract_last()->status;
    flags->signaled = 1;
    return TAL_OK;
}
