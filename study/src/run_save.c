// A run as bytes: what the stepper remembers, the integrator and the State, so that it can be resumed.
//
// A header, the memory of every event, then what tal_integrator_save() and tal_state_save() wrote. The
// checksum covers all of it.
#include "hash_internal.h"
#include "stepper_internal.h"

#include <string.h>

enum {
    FORMAT_VERSION = 1
};

static const char MAGIC[8] = "TALRUN1\n";

typedef struct saved {
    char magic[8];
    uint32_t byte_order; // reads 1 on a machine of the same byte order
    uint32_t version;
    uint64_t structure; // hash of the System
    double final_time, checkpoint_period;
    uint64_t num_events, integ_bytes, state_bytes;
    uint32_t has_begun, has_ended, was_terminated, unused;
    double t, t_done;
    tal_time_stepper_stats stats;
    uint64_t checksum; // of header (with this field zero) and all that follows
} saved;

static size_t memory_bytes(const tal_time_stepper *ts)
{
    return (size_t)ts->num_events * sizeof(tali_event_memory);
}

static uint64_t checksum(saved header, const void *rest, size_t size)
{
    header.checksum = 0;
    return tali_hash(tali_hash(TALI_HASH_SEED, &header, sizeof header), rest, size);
}

size_t tal_time_stepper_save_size(const tal_time_stepper *stepper, const tal_state *state)
{
    if (stepper == NULL || state == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the %s is NULL",
                          stepper == NULL ? "time stepper" : "State");
        return 0;
    }
    return sizeof(saved) + memory_bytes(stepper) + tal_integrator_save_size(stepper->integ) +
           tal_state_save_size(state);
}

static saved header_of(const tal_time_stepper *ts, const tal_state *state)
{
    saved header;
    memset(&header, 0, sizeof header);
    memcpy(header.magic, MAGIC, sizeof header.magic);
    header.byte_order = 1;
    header.version = FORMAT_VERSION;
    header.structure = tal_system_structure_hash(ts->system);
    header.final_time = ts->def.final_time;
    header.checkpoint_period = ts->def.checkpoint_period;
    header.num_events = (uint64_t)ts->num_events;
    header.integ_bytes = tal_integrator_save_size(ts->integ);
    header.state_bytes = tal_state_save_size(state);
    header.has_begun = ts->has_begun;
    header.has_ended = ts->has_ended;
    header.was_terminated = ts->was_terminated;
    header.t = ts->t;
    header.t_done = ts->t_done;
    header.stats = ts->stats;
    return header;
}

tal_status tal_time_stepper_save(tal_time_stepper *stepper, tal_state *state, void *bytes,
                                 size_t size)
{
    if (stepper == NULL || state == NULL || bytes == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the %s is NULL",
                           stepper == NULL ? "time stepper"
                           : state == NULL ? "State"
                                           : "memory");
    }
    tal_time_stepper *ts = stepper;
    ts->error_record = (tal_error){TAL_OK, "", ""};
    const size_t total = tal_time_stepper_save_size(ts, state);
    if (size < total) {
        return TALI_FAIL(&ts->error_record, TAL_ERR_CAPACITY,
                         "%zu bytes do not hold the %zu of a run", size, total);
    }
    saved header = header_of(ts, state);
    char *rest = (char *)bytes + sizeof header, *next = rest;
    for (int i = 0; i < ts->num_events; ++i, next += sizeof(tali_event_memory)) {
        memcpy(next, &ts->watches[i].memory, sizeof(tali_event_memory));
    }
    tal_status st = tal_integrator_save(ts->integ, next, header.integ_bytes);
    if (st != TAL_OK) return tali_stepper_pass_on(ts, st);
    st = tal_state_save(state, next + header.integ_bytes, header.state_bytes);
    if (st != TAL_OK) return tali_stepper_explain(ts, state, st);
    header.checksum = checksum(header, rest, total - sizeof header);
    memcpy(bytes, &header, sizeof header);
    return TAL_OK;
}

static tal_status check_bytes(tal_time_stepper *ts, const tal_state *state, const char *bytes,
                              size_t size, saved *header)
{
    tal_error *err = &ts->error_record;
    const saved mine = header_of(ts, state);
    if (size < sizeof *header) {
        return TALI_FAIL(err, TAL_ERR_FILE, "cut short: %zu bytes are less than a run's header",
                         size);
    }
    memcpy(header, bytes, sizeof *header);
    if (memcmp(header->magic, MAGIC, sizeof header->magic) != 0 || header->byte_order != 1 ||
        header->version != FORMAT_VERSION) {
        return TALI_FAIL(err, TAL_ERR_FILE, "not a run saved by this library");
    }
    if (header->structure != mine.structure) {
        return TALI_FAIL(err, TAL_ERR_WRONG_SYSTEM, "saved from another System than '%s'",
                         tal_system_name(ts->system));
    }
    const size_t total = tal_time_stepper_save_size(ts, state);
    if (size != total || header->num_events != mine.num_events ||
        header->integ_bytes != mine.integ_bytes || header->state_bytes != mine.state_bytes) {
        return TALI_FAIL(err, TAL_ERR_FILE, "%zu bytes, but a run with this integrator has %zu",
                         size, total);
    }
    if (header->checksum != checksum(*header, bytes + sizeof *header, size - sizeof *header)) {
        return TALI_FAIL(err, TAL_ERR_FILE, "damaged: the checksum is wrong");
    }
    if (header->final_time != mine.final_time ||
        header->checkpoint_period != mine.checkpoint_period) {
        return TALI_FAIL(
            err, TAL_ERR_FILE, "saved with final_time %g and checkpoint_period %g, not %g and %g",
            header->final_time, header->checkpoint_period, mine.final_time, mine.checkpoint_period);
    }
    return TAL_OK;
}

tal_status tal_time_stepper_resume(tal_time_stepper *stepper, tal_state *state, const void *bytes,
                                   size_t size)
{
    if (stepper == NULL || state == NULL || bytes == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the %s is NULL",
                           stepper == NULL ? "time stepper"
                           : state == NULL ? "State"
                                           : "bytes");
    }
    tal_time_stepper *ts = stepper;
    ts->error_record = (tal_error){TAL_OK, "", ""};
    saved header;
    tal_status st = check_bytes(ts, state, bytes, size, &header);
    if (st != TAL_OK) return st;
    const char *next = (const char *)bytes + sizeof header;
    const char *integ_bytes = next + memory_bytes(ts);
    const char *state_bytes = integ_bytes + header.integ_bytes;
    st = tali_integrator_check(ts->integ, integ_bytes, header.integ_bytes);
    if (st != TAL_OK) return tali_stepper_pass_on(ts, st);
    st = tal_state_load(ts->system, state, state_bytes, header.state_bytes);
    if (st != TAL_OK) return tali_stepper_explain(ts, state, st);
    st = tal_integrator_restore(ts->integ, state, integ_bytes, header.integ_bytes);
    if (st != TAL_OK) return tali_stepper_pass_on(ts, st);
    for (int i = 0; i < ts->num_events; ++i, next += sizeof(tali_event_memory)) {
        memcpy(&ts->watches[i].memory, next, sizeof(tali_event_memory));
    }
    tali_watch_resume(ts, state);
    ts->has_begun = header.has_begun != 0;
    ts->has_ended = header.has_ended != 0;
    ts->was_terminated = header.was_terminated != 0;
    ts->t = header.t;
    ts->t_done = header.t_done;
    ts->stats = header.stats;
    return TAL_OK;
}
