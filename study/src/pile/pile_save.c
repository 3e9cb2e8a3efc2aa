// A run of the contact stepper as bytes: the impulses with which the next step begins, and the
// State, so that it can be resumed bit for bit.
//
// A header, the points of contact of the last step, then what tal_state_save() wrote.
#include "pile/pile_internal.h"
#include "problem/sealed_internal.h"

#include <math.h>
#include <string.h>

enum {
    FORMAT_VERSION = 1
};

static const char MAGIC[8] = "TALUSPIL";

typedef struct saved {
    tali_seal seal; // its identity is the structure of the System
    uint64_t num_contacts, state_bytes;
    tal_contact_step report;
} saved;

/// What is remembered of a point of contact.
typedef struct saved_contact {
    uint64_t feature;
    int32_t pair[2];
    int32_t mode, unused;
    tal_vec3 p, n, impulse;
    double gap;
} saved_contact;

// True when all three are there; otherwise a breach has been reported.
static bool are_there(const tal_contact_stepper *s, const tal_state *state, const void *bytes,
                      const char *where)
{
    if (s != NULL && state != NULL && bytes != NULL) return true;
    (void)tali_breach(TAL_ERR_NULL, where, "the %s",
                      s == NULL       ? "contact stepper is NULL"
                      : state == NULL ? "State is NULL"
                                      : "bytes are NULL");
    return false;
}

static size_t size_with(const tal_state *state, uint64_t num_contacts)
{
    return sizeof(saved) + (size_t)num_contacts * sizeof(saved_contact) +
           tal_state_save_size(state);
}

size_t tal_contact_stepper_save_size(const tal_contact_stepper *stepper, const tal_state *state)
{
    if (!are_there(stepper, state, state, __func__)) return 0;
    return size_with(state, (uint64_t)stepper->num_contacts);
}

static saved_contact record_of(const tali_pile_contact *c)
{
    saved_contact out;
    memset(&out, 0, sizeof out);
    out.feature = c->feature;
    out.pair[0] = c->pair[0];
    out.pair[1] = c->pair[1];
    out.mode = (int32_t)c->mode;
    out.p = c->p;
    out.n = c->n;
    out.impulse = c->impulse;
    out.gap = c->gap;
    return out;
}

tal_status tal_contact_stepper_save(tal_contact_stepper *stepper, tal_state *state, void *bytes,
                                    size_t size)
{
    if (!are_there(stepper, state, bytes, __func__)) return TAL_ERR_NULL;
    tal_contact_stepper *s = stepper;
    s->error_record = (tal_error){TAL_OK, "", ""};
    const size_t total = tal_contact_stepper_save_size(s, state);
    if (size < total) {
        return TALI_FAIL(&s->error_record, TAL_ERR_CAPACITY,
                         "%zu bytes are too few for the %zu bytes of a run", size, total);
    }
    saved header;
    memset(&header, 0, sizeof header);
    header.num_contacts = (uint64_t)s->num_contacts;
    header.state_bytes = tal_state_save_size(state);
    header.report = s->report;
    memcpy(bytes, &header, sizeof header);
    char *next = (char *)bytes + sizeof header;
    for (int i = 0; i < s->num_contacts; ++i, next += sizeof(saved_contact)) {
        const saved_contact it = record_of(&s->contacts[i]);
        memcpy(next, &it, sizeof it);
    }
    const tal_status st = tal_state_save(state, next, header.state_bytes);
    if (st != TAL_OK) {
        return TALI_FAIL(&s->error_record, st, "%s", tali_problem_reason(state, st));
    }
    tali_seal_bytes(bytes, total, MAGIC, FORMAT_VERSION, tal_system_structure_hash(s->system));
    return TAL_OK;
}

static bool is_good(const tal_contact_stepper *s, const saved_contact *it)
{
    const bool are_colliders =
        it->pair[0] >= 0 && it->pair[0] < it->pair[1] && it->pair[1] < s->num_surfaces;
    const double sum = it->p.x + it->p.y + it->p.z + it->impulse.x + it->impulse.y + it->impulse.z;
    return are_colliders && isfinite(sum) && it->mode >= TAL_FRICTION_OFF &&
           it->mode <= TAL_FRICTION_SLIDE;
}

// Whole, of this System, and of a stepper with room for it.
static tal_status check_bytes(tal_contact_stepper *s, const tal_state *state, const void *bytes,
                              size_t size, saved *header)
{
    tal_error *err = &s->error_record;
    const tal_status st = tali_seal_check(bytes, size, MAGIC, FORMAT_VERSION, err);
    if (st != TAL_OK) return st;
    if (tali_sealed_identity(bytes) != tal_system_structure_hash(s->system)) {
        return TALI_FAIL(err, TAL_ERR_WRONG_SYSTEM, "not saved from System '%s'",
                         tal_system_name(s->system));
    }
    if (size < sizeof *header) return TALI_FAIL(err, TAL_ERR_FILE, "%zu bytes are no run", size);
    memcpy(header, bytes, sizeof *header);
    if (header->num_contacts > (uint64_t)s->max_contacts) {
        return TALI_FAIL(err, TAL_ERR_CAPACITY,
                         "saved with %llu contacts, but there is room for %d: raise max_contacts",
                         (unsigned long long)header->num_contacts, s->max_contacts);
    }
    if (header->state_bytes != tal_state_save_size(state) ||
        size != size_with(state, header->num_contacts)) {
        return TALI_FAIL(err, TAL_ERR_FILE, "%zu bytes, but a run with %llu contacts has %zu", size,
                         (unsigned long long)header->num_contacts,
                         size_with(state, header->num_contacts));
    }
    const char *next = (const char *)bytes + sizeof *header;
    for (uint64_t i = 0; i < header->num_contacts; ++i, next += sizeof(saved_contact)) {
        saved_contact it;
        memcpy(&it, next, sizeof it);
        if (!is_good(s, &it)) return TALI_FAIL(err, TAL_ERR_FILE, "damaged: contact %d", (int)i);
    }
    return TAL_OK;
}

tal_status tal_contact_stepper_resume(tal_contact_stepper *stepper, tal_state *state,
                                      const void *bytes, size_t size)
{
    if (!are_there(stepper, state, bytes, __func__)) return TAL_ERR_NULL;
    tal_contact_stepper *s = stepper;
    s->error_record = (tal_error){TAL_OK, "", ""};
    saved header;
    tal_status st = check_bytes(s, state, bytes, size, &header);
    if (st != TAL_OK) return st;
    const char *next = (const char *)bytes + sizeof header;
    const char *state_bytes = next + header.num_contacts * sizeof(saved_contact);
    st = tal_state_load(s->system, state, state_bytes, header.state_bytes);
    // it was consistent: projecting once more would change its last bits
    if (st == TAL_OK) st = tal_system_realize(s->system, state, TAL_STAGE_VELOCITY);
    if (st != TAL_OK) {
        return TALI_FAIL(&s->error_record, st, "%s", tali_problem_reason(state, st));
    }
    s->num_contacts = (int)header.num_contacts;
    s->report = header.report;
    for (int i = 0; i < s->num_contacts; ++i, next += sizeof(saved_contact)) {
        saved_contact it;
        memcpy(&it, next, sizeof it);
        s->contacts[i] = (tali_pile_contact){.pair = {it.pair[0], it.pair[1]},
                                             .feature = it.feature,
                                             .p = it.p,
                                             .n = it.n,
                                             .impulse = it.impulse,
                                             .gap = it.gap,
                                             .mode = (tal_friction_mode)it.mode};
    }
    return TAL_OK;
}
