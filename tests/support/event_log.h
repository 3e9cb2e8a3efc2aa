// A log of calls of handlers and reporters, and witnesses that cross zero at a time.
#ifndef TALUS_EVENT_LOG_H
#define TALUS_EVENT_LOG_H

#include "stepper_model.h"

#include <stdio.h>

typedef struct logbook {
    char text[4096];
    double t[64];
    int n;
} logbook;

typedef struct entry {
    logbook *book;
    const char *name;
    double t;                       // its witness is t - this
    void (*change)(struct entry *); // not used by reporters
    tal_state *state;               // while `change` runs
    const tal_system *system;
    tal_event_ix other; // for `change`
    bool terminates;
} entry;

static inline void note(entry *it, const tal_state *state, tal_event_cause cause)
{
    static const char *const causes[] = {"init",   "trig", "sched",  "step",
                                         "signal", "end",  "changed"};
    logbook *book = it->book;
    const size_t used = strlen(book->text);
    (void)snprintf(book->text + used, sizeof book->text - used, "%s:%s ", it->name, causes[cause]);
    if (book->n < 64) book->t[book->n++] = tal_state_t(state);
}

static inline tal_status handle(void *context, const tal_system *system, tal_state *state,
                                tal_event_cause cause, bool *terminate)
{
    entry *it = context;
    ck_assert_int_ge(tal_state_stage(state), TAL_STAGE_ACCELERATION);
    note(it, state, cause);
    it->state = state;
    it->system = system;
    if (it->change != NULL) it->change(it);
    *terminate = it->terminates;
    return TAL_OK;
}

static inline tal_status look(void *context, const tal_system *system, tal_state *state,
                              tal_event_cause cause)
{
    note(context, state, cause);
    return tal_system_realize(system, state, TAL_STAGE_REPORT);
}

static inline tal_status time_left(void *context, const tal_system *system, tal_state *state,
                                   double *value)
{
    (void)system;
    *value = tal_state_t(state) - ((const entry *)context)->t;
    return TAL_OK;
}

static inline tal_status one(void *context, const tal_system *system, tal_state *state,
                             double *value)
{
    (void)context;
    (void)system;
    (void)state;
    *value = 1.0;
    return TAL_OK;
}

static inline tal_happening happening(entry *it, bool reports)
{
    tal_happening def = tal_happening_default();
    def.name = it->name;
    def.context = it;
    if (reports) {
        def.report = look;
    } else {
        def.handle = handle;
    }
    return def;
}

static inline tal_happening triggered(entry *it, bool reports, tal_stage stage)
{
    tal_happening def = happening(it, reports);
    def.witness = time_left;
    def.stage = stage;
    return def;
}

static inline tal_happening at_times(entry *it, bool reports, const double times[], int n)
{
    tal_happening def = happening(it, reports);
    def.times = times;
    def.num_times = n;
    return def;
}

enum {
    ON_INIT = 1u << TAL_EVENT_INITIALIZATION,
    ON_STEP = 1u << TAL_EVENT_STEP_ADVANCED,
    ON_END = 1u << TAL_EVENT_TERMINATION,
    ON_CHANGE = 1u << TAL_EVENT_CHANGED
};

#endif // TALUS_EVENT_LOG_H
