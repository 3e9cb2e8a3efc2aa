// What a contact element finds: where its shapes are on M, and at Position what touches.
#include "hash_internal.h"

#include "contact/contact_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Head of the `contacts` entry: the counts, and where in it the arrays are.
typedef struct found {
    int num_contacts;
    size_t contacts, points, faces;
} found;

static const size_t HEAD = TAL_ALIGNMENT * ((sizeof(found) + TAL_ALIGNMENT - 1) / TAL_ALIGNMENT);

// --- Instance: where the shapes are on M ---

static tal_status calc_placed(const void *self, const tal_system *system, tal_state *state,
                              void *value)
{
    const tali_contact_element *it = self;
    const tal_matter *matter = tal_forces_matter(it->base.forces);
    const tali_contact_placement *shapes = tal_var_value(system, state, it->shapes);
    tal_xform *X_MS = value;
    for (int s = 0; s < it->num_surfaces; ++s) {
        X_MS[s] = tal_xf_mul(tal_body_X_MB(matter, state, it->surfaces[s].body), shapes[s].X_BS);
    }
    return TAL_OK;
}

// --- Position: what touches ---

// The surfaces with the shapes and poses of this State.
static bool place_surfaces(const tali_contact_element *it, const tal_system *system,
                           tal_state *state, tali_detect_surface surfaces[], tal_xform X_GS[])
{
    const tal_bodies_view poses = tal_matter_poses(tal_forces_matter(it->base.forces), state);
    const tal_xform *X_MS = tal_cache_realize(system, state, it->placed);
    const tali_contact_placement *shapes = tal_var_value(system, state, it->shapes);
    if (poses.bytes == NULL || X_MS == NULL) return false;
    for (int s = 0; s < it->num_surfaces; ++s) {
        surfaces[s] = it->seen[s];
        surfaces[s].shape.size = shapes[s].size;
        surfaces[s].shape.edge_radius = shapes[s].edge_radius;
        X_GS[s] = tal_xf_mul(*tal_view_X_GM(&poses, surfaces[s].body), X_MS[s]);
    }
    return true;
}

// The detector's sentence, with the element, and the field of its def if one is too small.
static tal_status explain(const tali_contact_element *it, tal_state *state, const tal_error *why)
{
    const char *name = tal_force_name(it->base.forces, it->base.me);
    if (why->status != TAL_ERR_CAPACITY) {
        return tal_state_fail(state, why->status, "contact '%s': %s", name, why->message);
    }
    const char *field = strstr(why->message, "faces") != NULL ? "max_faces" : "max_pairs";
    if (strstr(why->message, "points") != NULL) field = "max_points";
    return tal_state_fail(state, why->status, "contact '%s': %s: its %s", name, why->message,
                          field);
}

// The cache entry of contacts: the detector's result at the State's poses.
static tal_status calc_contacts(const void *self, const tal_system *system, tal_state *state,
                                void *value)
{
    const tali_contact_element *it = self;
    const size_t n = (size_t)it->num_surfaces;
    char *bytes = value;
    tali_detect_store store = tali_detect_store_at(bytes + HEAD, it->num_surfaces, &it->limits);
    const size_t mark = tal_state_scratch_mark(state);
    tali_detect_surface *surfaces = tal_state_scratch_take(state, n * sizeof *surfaces);
    tal_xform *X_GS = tal_state_scratch_take(state, n * sizeof *X_GS);
    tal_error why = {TAL_OK, "", ""};
    tal_status st = TAL_ERR_STAGE;
    if (place_surfaces(it, system, state, surfaces, X_GS)) {
        st = tali_detect_contacts(surfaces, it->num_surfaces, X_GS, &store, &why);
        if (st != TAL_OK) st = explain(it, state, &why);
    }
    tal_state_scratch_release(state, mark);
    *(found *)value = (found){
        .num_contacts = store.num_contacts,
        .contacts = (size_t)((char *)store.contacts - bytes),
        .points = (size_t)((char *)store.points - bytes),
        .faces = (size_t)((char *)store.faces - bytes),
    };
    return st;
}

bool tali_contact_look(const tali_contact_element *it, const tal_system *system, tal_state *state,
                       tali_contact_sight *sight)
{
    const char *bytes = tal_cache_realize(system, state, it->contacts);
    if (bytes == NULL) return false;
    const found *head = (const found *)(const void *)bytes;
    sight->num_contacts = head->num_contacts;
    sight->contacts = (const tali_detect_contact *)(const void *)(bytes + head->contacts);
    sight->points = (const tali_detect_point *)(const void *)(bytes + head->points);
    sight->faces = (const tali_detect_face *)(const void *)(bytes + head->faces);
    return true;
}

// Names of entries enter the System's structure hash: this one tells surfaces of other kinds,
// bodies or cliques from these, and other laws.
static void name_structure(const tali_contact_element *it, char name[], size_t size)
{
    const int laws[2] = {(int)it->def.law, (int)it->def.friction};
    uint64_t hash = tali_hash(TALI_HASH_SEED, laws, sizeof laws);
    for (int s = 0; s < it->num_surfaces; ++s) {
        const tali_contact_surface *surface = &it->surfaces[s];
        const int what[2] = {(int)surface->shape.kind, surface->body.i};
        hash = tali_hash(hash, what, sizeof what);
        hash = tali_hash(hash, &surface->cliques, sizeof surface->cliques);
    }
    (void)snprintf(name, size, "found %016" PRIx64, hash);
}

void tali_contact_declare_found(tali_contact_element *it, tal_forces *forces)
{
    const size_t n = (size_t)it->num_surfaces + 1; // no entry is empty
    tal_prereq needs = tal_prereq_var(it->shapes);
    tal_cache_def cache = tal_cache_def_default();
    cache.name = "placed";
    cache.size = n * sizeof(tal_xform);
    cache.calc = calc_placed;
    cache.prereqs = &needs;
    cache.num_prereqs = 1;
    it->placed = tal_force_add_cache(forces, it->base.me, &cache);

    needs = tal_prereq_cache(it->placed);
    char name[24];
    name_structure(it, name, sizeof name);
    cache.name = name;
    cache.size = HEAD + tali_detect_store_size(it->num_surfaces, &it->limits);
    cache.depends_on = TAL_STAGE_POSITION;
    cache.calc = calc_contacts;
    it->contacts = tal_force_add_cache(forces, it->base.me, &cache);
    tal_system_reserve_scratch(forces->system, tali_align(n * sizeof(tali_detect_surface)) +
                                                   tali_align(n * sizeof(tal_xform)));
}
