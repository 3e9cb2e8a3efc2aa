// Handlers and reporters: what their files share.
#ifndef TALUS_EVENTS_INTERNAL_H
#define TALUS_EVENTS_INTERNAL_H

#include <talus/study/events.h>

/// tal_events_add() with a context of `size` bytes from the System's allocator, which is adopted by
/// this call whether it succeeds or not.
tal_event_ix tali_events_add_owning(tal_events *events, const tal_happening *it, void *context,
                                    size_t size);

/// The System that these events belong to.
tal_system *tali_events_system(const tal_events *events);

/// The first of all first + k period after a time, with k any whole number and a period above zero.
double tali_event_next_of_period(double first, double period, double after);

/// An event as it was added, without its name; NULL for an event of another subsystem.
const tal_happening *tali_event_happening(const tal_system *system, tal_event_ix event);

/// The System of events to which a stop or an action is added; NULL, and a breach in the name of
/// `where`, or a failure before, when there is none.
tal_system *tali_events_action_begin(tal_events *events, const void *def, const char *where);

/// Add an action with a context of `size` bytes that begins with a tal_run_stop, which is adopted
/// as by tali_events_add_owning(). Of its names only the System has copies.
tal_event_ix tali_events_action_add(tal_events *events, const tal_run_stop *when, double period,
                                    tal_handler_fn handle, void *context, size_t size);

#endif // TALUS_EVENTS_INTERNAL_H
