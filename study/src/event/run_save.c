// A run as bytes: what the stepper remembers, the integrator and the State, so that it can be
// resumed.
//
// A header, the memory of every event, then what tal_integrator_save() and tal_state_save() wrote.
#include "event/stepper_internal.h"
#include "problem/sealed_internal.h"

#include <math.h>
#include <string.h>

enum {
    FORMAT_VERSION = 3
};

static const char MAGIC[8] = "TALUSRUN";

typedef struct saved {
    tali_seal seal; // its identity is the structure of the System
    double final_time, checkpoint_period;
    uint64_t num_events, integ_bytes, state_bytes;
    uint32_t has_begun, has_ended, was_terminated, is_changed;
    int32_t ended_by, unused;
    double t, t_done;
    tal_time_stepper_stats stats;
} saved;

static size_t memory_bytes(const tal_time_stepper *ts)
{
    return (size_t)ts->num_events * sizeof(tali_event_memory);
}

// True when all three are there; otherwise a breach has been reported.
static bool are_there(const tal_time_stepper *ts, const tal_state *state, const void *bytes,
                      const char *where)
{
    if (ts != NULL && state != NULL && bytes != NULL) return true;
    (void)tali_breach(TAL_ERR_NULL, where, "the %s",
                      ts == NULL      ? "time stepper is NULL"
                      : state == NULL ? "State is NULL"
                                      : "bytes are NULL");
    return false;
}

size_t tal_time_stepper_save_size(const tal_time_stepper *stepper, const tal_state *state)
{
    if (!are_there(stepper, state, state, __func__)) return 0;
    return sizeof(saved) + memory_bytes(stepper) + tal_integrator_save_size(stepper->integ) +
           tal_state_save_size(state);
}

static saved header_of(const tal_time_stepper *ts, const tal_state *state)
{
    saved header;
    memset(&header, 0, sizeof header);
    header.final_time = ts->def.final_time;
    header.checkpoint_period = ts->def.checkpoint_period;
    header.num_events = (uint64_t)ts->num_events;
    header.integ_bytes = tal_integrator_save_size(ts->integ);
    header.state_bytes = tal_state_save_size(state);
    header.has_begun = ts->has_begun;
    header.has_ended = ts->has_ended;
    header.was_terminated = ts->was_terminated;
    header.is_changed = !tali_stepper_is_as_left(ts, state);
    header.ended_by = ts->ended_by;
    header.t = ts->t;
    header.t_done = ts->t_done;
    header.stats = ts->stats;
    return header;
}

tal_status tal_time_stepper_save(tal_time_stepper *stepper, tal_state *state, void *bytes,
                                 size_t size)
{
    if (!are_there(stepper, state, bytes, __func__)) return TAL_ERR_NULL;
    tal_time_stepper *ts = stepper;
    if (ts->is_broken) return ts->error_record.status;
    ts->error_record = (tal_error){TAL_OK, "", ""};
    const size_t total = tal_time_stepper_save_size(ts, state);
    if (size < total) {
        return TALI_FAIL(&ts->error_record, TAL_ERR_CAPACITY,
                         "%zu bytes are too few for the %zu bytes of a run", size, total);
    }
    const saved header = header_of(ts, state);
    memcpy(bytes, &header, sizeof header);
    char *next = (char *)bytes + sizeof header;
    for (int i = 0; i < ts->num_events; ++i, next += sizeof(tali_event_memory)) {
        memcpy(next, &ts->watches[i].memory, sizeof(tali_event_memory));
    }
    tal_status st = tal_integrator_save(ts->integ, next, header.integ_bytes);
    if (st != TAL_OK) return tali_stepper_pass_on(ts, st);
    st = tal_state_save(state, next + header.integ_bytes, header.state_bytes);
    if (st != TAL_OK) return tali_stepper_explain(ts, state, st);
    tali_seal_bytes(bytes, total, MAGIC, FORMAT_VERSION, tal_system_structure_hash(ts->system));
    return TAL_OK;
}

// Whole, of this System, and of a stepper and an integrator like these.
static tal_status check_bytes(tal_time_stepper *ts, const tal_state *state, const void *bytes,
                              size_t size, saved *header)
{
    tal_error *err = &ts->error_record;
    const saved mine = header_of(ts, state);
    const tal_status st = tali_seal_check(bytes, size, MAGIC, FORMAT_VERSION, err);
    if (st != TAL_OK) return st;
    if (tali_sealed_identity(bytes) != tal_system_structure_hash(ts->system)) {
        return TALI_FAIL(err, TAL_ERR_WRONG_SYSTEM, "not saved from System '%s'",
                         tal_system_name(ts->system));
    }
    memcpy(header, bytes, sizeof *header);
    if (size != tal_time_stepper_save_size(ts, state) || header->num_events != mine.num_events ||
        header->integ_bytes != mine.integ_bytes || header->state_bytes != mine.state_bytes) {
        return TALI_FAIL(err, TAL_ERR_FILE, "%zu bytes, but a run with this integrator has %zu",
                         size, tal_time_stepper_save_size(ts, state));
    }
    if (header->final_time != mine.final_time ||
        header->checkpoint_period != mine.checkpoint_period) {
        return TALI_FAIL(
            err, TAL_ERR_FILE, "saved with final_time %g and checkpoint_period %g, not %g and %g",
            header->final_time, header->checkpoint_period, mine.final_time, mine.checkpoint_period);
    }
    if (header->ended_by < -1 || header->ended_by >= ts->num_events) {
        return TALI_FAIL(err, TAL_ERR_FILE, "ended by event %d, but there are %d",
                         (int)header->ended_by, ts->num_events);
    }
    if (header->has_begun != 0 && (!isfinite(header->t) || isnan(header->t_done))) {
        return TALI_FAIL(err, TAL_ERR_FILE,
                         "damaged: its time is %g, and its events are handled up to %g", header->t,
                         header->t_done);
    }
    const char *integ_bytes = (const char *)bytes + sizeof *header + memory_bytes(ts);
    return tali_stepper_pass_on(ts,
                                tali_integrator_check(ts->integ, integ_bytes, header->integ_bytes));
}

tal_status tal_time_stepper_resume(tal_time_stepper *stepper, tal_state *state, const void *bytes,
                                   size_t size)
{
    if (!are_there(stepper, state, bytes, __func__)) return TAL_ERR_NULL;
    tal_time_stepper *ts = stepper;
    ts->error_record = (tal_error){TAL_OK, "", ""};
    saved header;
    tal_status st = check_bytes(ts, state, bytes, size, &header);
    if (st != TAL_OK) return st;
    const char *next = (const char *)bytes + sizeof header;
    const char *integ_bytes = next + memory_bytes(ts);
    st = tal_state_load(ts->system, state, integ_bytes + header.integ_bytes, header.state_bytes);
    if (st != TAL_OK) return tali_stepper_explain(ts, state, st);
    st = tal_integrator_restore(ts->integ, state, integ_bytes, header.integ_bytes);
    if (st != TAL_OK) return tali_stepper_pass_on(ts, st);
    for (int i = 0; i < ts->num_events; ++i, next += sizeof(tali_event_memory)) {
        memcpy(&ts->watches[i].memory, next, sizeof(tali_event_memory));
    }
    tali_stepper_watch_resume(ts, state);
    ts->has_begun = header.has_begun != 0;
    ts->has_ended = header.has_ended != 0;
    ts->was_terminated = header.was_terminated != 0;
    ts->ended_by = header.ended_by;
    ts->is_broken = false;
    // a State that is loaded does not show that it was changed after the last step
    ts->is_changed = header.is_changed != 0;
    if (ts->is_changed) ts->integ->is_settled = false;
    ts->t = header.t;
    tali_stepper_have_done(ts, header.t_done);
    ts->stats = header.stats;
    return TAL_OK;
}
