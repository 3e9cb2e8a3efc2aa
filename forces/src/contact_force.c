// What a contact element does in a State: finds contacts at Position, computes their forces at
// Velocity, adds them at Dynamics.
#include "contact_internal.h"
#include "contact_law_internal.h"

#include <string.h>

// Head of the `contacts` entry; the arrays of a tali_contact_store follow.
typedef struct found {
    int num_contacts, num_points, num_faces;
} found;

// Where the arrays are in the entry.
typedef struct found_layout {
    size_t contacts, points, faces, end;
} found_layout;

static found_layout layout_of(const tali_contact_limits *limits)
{
    found_layout at;
    at.contacts = tali_align(sizeof(found));
    at.points = at.contacts + tali_align((size_t)limits->pairs * sizeof(tali_contact));
    at.faces = at.points + tali_align((size_t)limits->points * sizeof(tali_contact_point));
    at.end = at.faces + tali_align((size_t)limits->faces * sizeof(tali_contact_face));
    return at;
}

// --- Instance: where the shapes are on M ---

static tal_status calc_placed(const void *self, const tal_system *system, tal_state *state,
                              void *value)
{
    const tali_contact_element *it = self;
    const tal_matter *matter = tal_forces_matter(it->base.forces);
    const tali_placement *shapes = tal_var_value(system, state, it->shapes);
    tal_xform *X_MS = value;
    for (int s = 0; s < it->num_surfaces; ++s) {
        const tal_body_ix body = {it->surfaces[s].seen.body};
        X_MS[s] = tal_xf_mul(tal_body_X_MB(matter, state, body), shapes[s].X_BS);
    }
    return TAL_OK;
}

// --- Position: what touches ---

// What the detector wants to see, in scratch memory.
static tal_status see(const tali_contact_element *it, const tal_system *system, tal_state *state,
                      tali_surface surfaces[], tal_xform X_GS[])
{
    const tal_bodies_view poses = tal_matter_poses(tal_forces_matter(it->base.forces), state);
    const tal_xform *X_MS = tal_cache_realize(system, state, it->placed);
    const tali_placement *shapes = tal_var_value(system, state, it->shapes);
    if (poses.bytes == NULL || X_MS == NULL) return TAL_ERR_STAGE;
    for (int s = 0; s < it->num_surfaces; ++s) {
        surfaces[s] = it->surfaces[s].seen;
        surfaces[s].name = it->surfaces[s].name;
        surfaces[s].shape.size = shapes[s].size;
        surfaces[s].shape.edge_radius = shapes[s].edge_radius;
        X_GS[s] = tal_xf_mul(*tal_view_X_GM(&poses, surfaces[s].body), X_MS[s]);
    }
    return TAL_OK;
}

// The message of the detector, with the element and the field of its def that it is about.
static tal_status explain(const tali_contact_element *it, tal_state *state, const tal_error *why)
{
    const char *name = tal_force_name(it->base.forces, it->base.me);
    if (why->status != TAL_ERR_CAPACITY) {
        return tal_state_fail(state, why->status, "contact '%s': %s", name, why->message);
    }
    const char *field = strstr(why->message, "faces") != NULL    ? "max_faces"
                        : strstr(why->message, "points") != NULL ? "max_points"
                                                                 : "max_pairs";
    return tal_state_fail(state, why->status, "contact '%s': %s: raise %s in its tal_contact_def",
                          name, why->message, field);
}

static size_t scratch_size(const tali_contact_element *it)
{
    const size_t n = (size_t)it->num_surfaces;
    return tali_align(n * sizeof(tali_surface)) + tali_align(n * sizeof(tal_xform)) +
           tali_align((size_t)it->limits.pairs * sizeof(tali_pair)) +
           tali_align(2 * n * sizeof(tali_sweep));
}

static tal_status calc_contacts(const void *self, const tal_system *system, tal_state *state,
                                void *value)
{
    const tali_contact_element *it = self;
    const size_t n = (size_t)it->num_surfaces;
    const size_t mark = tal_state_scratch_mark(state);
    tali_surface *surfaces = tal_state_scratch_take(state, n * sizeof *surfaces);
    tal_xform *X_GS = tal_state_scratch_take(state, n * sizeof *X_GS);
    const found_layout at = layout_of(&it->limits);
    char *bytes = value;
    tali_contact_store store = {
        .limits = it->limits,
        .contacts = (tali_contact *)(void *)(bytes + at.contacts),
        .points = (tali_contact_point *)(void *)(bytes + at.points),
        .faces = (tali_contact_face *)(void *)(bytes + at.faces),
        .pairs = tal_state_scratch_take(state, (size_t)it->limits.pairs * sizeof(tali_pair)),
        .sweep = tal_state_scratch_take(state, 2 * n * sizeof(tali_sweep)),
    };
    tal_error why = {TAL_OK, "", ""};
    tal_status st = see(it, system, state, surfaces, X_GS);
    if (st == TAL_OK) {
        st = tali_contact_detect(surfaces, it->num_surfaces, X_GS, &store, &why);
        if (st != TAL_OK) st = explain(it, state, &why);
    }
    tal_state_scratch_release(state, mark);
    *(found *)value = (found){store.num_contacts, store.num_points, store.num_faces};
    return st;
}

// What was found, as the detector's arrays. Nothing, and false, when finding failed.
static bool find(const tali_contact_element *it, const tal_system *system, tal_state *state,
                 tali_contact_store *store)
{
    const char *bytes = tal_cache_realize(system, state, it->contacts);
    if (bytes == NULL) return false;
    const found_layout at = layout_of(&it->limits);
    const found *head = (const found *)(const void *)bytes;
    // read only: the store is the detector's own type, which has writable arrays
    *store = (tali_contact_store){.num_contacts = head->num_contacts,
                                  .num_points = head->num_points,
                                  .num_faces = head->num_faces};
    store->contacts = (tali_contact *)(uintptr_t)(bytes + at.contacts);
    store->points = (tali_contact_point *)(uintptr_t)(bytes + at.points);
    store->faces = (tali_contact_face *)(uintptr_t)(bytes + at.faces);
    return true;
}
