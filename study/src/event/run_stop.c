// Stops: events that end a run, given as data.
#include "alloc_internal.h"
#include "build_internal.h"
#include "error_internal.h"

#include "event/events_internal.h"

#include <math.h>
#include <string.h>

// Its name and message are after it.
typedef struct stop {
    tal_run_stop def;
} stop;

static tal_status watch(void *context, const tal_system *system, tal_state *state, double *value)
{
    const stop *it = context;
    *value = tal_measure_value(system, state, it->def.measure) - it->def.value;
    return isnan(*value) ? tal_state_error(state)->status : TAL_OK;
}

static tal_status watch_rate(void *context, const tal_system *system, tal_state *state,
                             double *value)
{
    const stop *it = context;
    *value = tal_measure_derivative(system, state, it->def.measure, 1);
    return isnan(*value) ? tal_state_error(state)->status : TAL_OK;
}

static tal_status end_the_run(void *context, const tal_system *system, tal_state *state,
                              tal_event_cause cause, bool *terminate)
{
    (void)context;
    (void)system;
    (void)state;
    (void)cause;
    *terminate = true;
    return TAL_OK;
}

tal_run_stop tal_run_stop_default(void)
{
    const tal_run_stop def = {.measure = {-1}};
    return def;
}

static tal_status check_stop(tal_system *system, const tal_run_stop *def)
{
    const char *name = def->name != NULL ? def->name : "(no name)";
    if (!isfinite(def->value)) {
        return tal_system_fail(system, TAL_ERR_NOT_FINITE, "stop '%s': its value is %g", name,
                               def->value);
    }
    if (def->measure.i < 0) return TAL_OK;
    if (def->measure.i >= tal_system_num_measures(system)) {
        return tal_system_fail(system, TAL_ERR_BAD_INDEX, "stop '%s': there is no measure %d", name,
                               def->measure.i);
    }
    const int size = tal_measure_size(system, def->measure);
    if (size == 1) return TAL_OK;
    return tal_system_fail(system, TAL_ERR_BAD_VALUE,
                           "stop '%s': measure '%s' has %d values; it must have one", name,
                           tal_measure_name(system, def->measure), size);
}

// A copy with a name and a message of its own, in one block.
static stop *copy_stop(const tal_allocator *allocator, const tal_run_stop *def, size_t *size)
{
    const size_t name = def->name != NULL ? strlen(def->name) + 1 : 0;
    const size_t message = def->message != NULL ? strlen(def->message) + 1 : 0;
    *size = sizeof(stop) + name + message;
    stop *it = tali_alloc(allocator, *size);
    if (it == NULL) return NULL;
    char *text = (char *)(it + 1);
    it->def = *def;
    if (name > 0) it->def.name = memcpy(text, def->name, name);
    if (message > 0) it->def.message = memcpy(text + name, def->message, message);
    return it;
}

static void watch_measure(const tal_system *system, const tal_run_stop *def, tal_happening *it)
{
    const tal_stage stage = tal_measure_stage(system, def->measure, 0);
    it->witness = watch;
    it->stage = stage < TAL_STAGE_TIME ? TAL_STAGE_TIME : stage;
    it->crossing = def->crossing;
    it->window = def->window;
    it->separation = def->separation;
    if (tal_measure_num_derivatives(system, def->measure) < 1) return;
    const tal_stage rate_stage = tal_measure_stage(system, def->measure, 1);
    it->rate = watch_rate;
    it->rate_stage = rate_stage < TAL_STAGE_TIME ? TAL_STAGE_TIME : rate_stage;
}

tal_system *tali_events_action_begin(tal_events *events, const void *def, const char *where)
{
    if (events == NULL || def == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "the %s",
                          events == NULL ? "events are NULL" : "stop is NULL");
        if (events != NULL) tali_system_keep_breach(tali_events_system(events));
        return NULL;
    }
    tal_system *system = tali_events_system(events);
    return tal_system_error(system)->status == TAL_OK ? system : NULL;
}

// An action that is given as data, at one time, from one on with a period, or when a measure
// crosses a value.
tal_event_ix tali_events_action_add(tal_events *events, const tal_run_stop *when, double period,
                                    tal_handler_fn handle, void *context, size_t size)
{
    tal_system *system = tali_events_system(events);
    tal_run_stop *kept = context;
    tal_happening happening = tal_happening_default();
    happening.name = when->name;
    happening.handle = handle;
    happening.begins_inactive = when->begins_inactive;
    const bool is_wrong = check_stop(system, when) != TAL_OK;
    if (!is_wrong && when->measure.i >= 0) {
        watch_measure(system, when, &happening);
    } else if (!is_wrong && period > 0.0) {
        happening.first = when->value;
        happening.period = period;
    } else {
        happening.times = &kept->value;
        happening.num_times = 1;
    }
    kept->name = kept->message = NULL; // the System has the name
    return tali_events_add_owning(events, &happening, context, size);
}

tal_event_ix tal_events_add_stop(tal_events *events, const tal_run_stop *def)
{
    const tal_event_ix none = {-1};
    tal_system *system = tali_events_action_begin(events, def, __func__);
    if (system == NULL || check_stop(system, def) != TAL_OK) return none;
    const tal_allocator allocator = tal_system_allocator(system);
    size_t size = 0;
    stop *it = copy_stop(&allocator, def, &size);
    if (it == NULL) {
        (void)tal_system_fail(system, TAL_ERR_NO_MEMORY, "no memory for a stop");
        return none;
    }
    tal_happening happening = tal_happening_default();
    happening.name = def->name;
    happening.handle = end_the_run;
    happening.begins_inactive = def->begins_inactive;
    if (def->measure.i >= 0) {
        watch_measure(system, def, &happening);
    } else {
        happening.times = &it->def.value;
        happening.num_times = 1;
    }
    return tali_events_add_owning(events, &happening, it, size);
}

const tal_run_stop *tal_event_stop(const tal_system *system, tal_event_ix event)
{
    const tal_happening *it = tali_event_happening(system, event);
    return it != NULL && it->handle == end_the_run ? &((const stop *)it->context)->def : NULL;
}
