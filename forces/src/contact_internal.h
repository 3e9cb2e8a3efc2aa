// A contact element as a struct, and what it keeps in a State.
#ifndef TALUS_FORCES_CONTACT_INTERNAL_H
#define TALUS_FORCES_CONTACT_INTERNAL_H

#include "contact_detect_internal.h"
#include "element_internal.h"

#include <talus/forces/contact.h>

/// A surface as it was added. Its shape and frame are initial values.
typedef struct tali_contact_surface {
    char name[TAL_MAX_NAME + 1];
    tali_surface seen;
    tal_xform X_BS;
    tal_contact_material material;
} tali_contact_surface;

/// Two surfaces that friction with memory may hold together, and their first z, in threes.
typedef struct tali_held_pair {
    int surface[2];
    int first, count;
} tali_held_pair;

typedef struct tali_contact_element {
    tali_element base;
    tal_contact_def def;
    tali_contact_surface *surfaces;
    int num_surfaces, capacity;
    tali_held_pair *held; ///< by increasing surfaces; none without memory
    int num_held, num_bristles;
    tali_contact_limits limits;
    int max_touches;
    tal_var_ix materials;  ///< tal_contact_material per surface
    tal_var_ix shapes;     ///< tali_placement per surface
    tal_cache_ix placed;   ///< tal_xform per surface: X_MS
    tal_cache_ix contacts; ///< what was found at Position
    tal_cache_ix touches;  ///< what they do to each other at Velocity
    tal_group_ix bristles; ///< z, three per bristle: its deflection, in the frame of tali_holder()
} tali_contact_element;

/// Shape and frame of a surface in a State.
typedef struct tali_placement {
    tal_vec3 size;
    double edge_radius;
    tal_xform X_BS;
} tali_placement;

/// One contact at one instant.
typedef struct tali_touch {
    int surface[2];
    int feature, num_faces;
    tal_vec3 p_G, n_G, slip_G;
    double depth, depth_rate;
    double semi_axis[2];
    double normal_force;
    tal_vec3 f_G, m_G; ///< on surface 1, about p_G
    double energy, power;
} tali_touch;

/// Head of the `touches` entry; tali_touch [max_touches], then zdot [3 * num_bristles] follow.
typedef struct tali_touches {
    int count;
    double idle_power; ///< of bristles that hold nothing
} tali_touches;

static inline tali_touch *tali_touch_array(tali_touches *all)
{
    return (tali_touch *)(void *)((char *)all + tali_align(sizeof *all));
}

static inline double *tali_touch_zdot(const tali_contact_element *it, tali_touches *all)
{
    const size_t touches = tali_align((size_t)it->max_touches * sizeof(tali_touch));
    return (double *)(void *)((char *)tali_touch_array(all) + touches);
}

/// Whether friction has a state of its own.
static inline bool tali_has_memory(const tal_contact_def *def)
{
    return def->friction == TAL_CONTACT_SOFT_COULOMB || def->friction == TAL_CONTACT_ELASTOPLASTIC;
}

/// The surface in whose frame a bristle's deflection is kept: the flat one, if there is one.
static inline int tali_holder(const tali_contact_element *it, const int surface[2])
{
    const bool second_is_flat =
        it->surfaces[surface[1]].seen.shape.kind == TAL_SHAPE_HALF_SPACE;
    return surface[second_is_flat ? 1 : 0];
}

// --- contact_force.c: the table's functions ---

extern const tali_kind tali_contact_kind;

/// Declare what a contact element keeps in a State.
tal_status tali_contact_declare(void *self, tal_forces *forces, tal_force_ix me);

#endif // TALUS_FORCES_CONTACT_INTERNAL_H
