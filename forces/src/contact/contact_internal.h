// A contact element as a struct, and what it keeps in a State.
#ifndef TALUS_FORCES_CONTACT_INTERNAL_H
#define TALUS_FORCES_CONTACT_INTERNAL_H

#include "detect_internal.h"

#include "core/element_internal.h"

#include <talus/forces/contact.h>

/// A surface as it was added. Shape, frame and material are initial values.
typedef struct tali_contact_surface {
    char name[TAL_MAX_NAME + 1];
    tal_body_ix body;
    uint64_t cliques;
    tal_shape shape;
    tal_xform X_BS;
    tal_contact_material material;
} tali_contact_surface;

/// Two surfaces that friction with memory may hold together, and their first z, in threes.
typedef struct tali_contact_held_pair {
    int surface[2];
    int first, count;
} tali_contact_held_pair;

typedef struct tali_contact_element {
    tali_force_element base;
    tal_contact_def def;
    tali_contact_surface *surfaces;
    int num_surfaces, capacity;
    tali_detect_surface *seen;    ///< [num_surfaces] as the detector sees them, with initial shapes
    tali_contact_held_pair *held; ///< by increasing surfaces; none without memory of any kind
    int num_held, held_capacity, num_bristles;
    tali_detect_limits limits;
    int max_touches;
    tal_var_ix grip;       ///< tal_contact_grip
    tal_var_ix materials;  ///< tal_contact_material per surface
    tal_var_ix shapes;     ///< tali_contact_placement per surface
    tal_cache_ix placed;   ///< tal_xform per surface: X_MS
    tal_cache_ix contacts; ///< what was found at Position
    tal_cache_ix touches;  ///< the forces between them, at Velocity
    tal_group_ix
        bristles; ///< z, three per bristle: its deflection, in the frame of tali_contact_holder()
    tal_group_ix layers; ///< z, one per bristle: how far the surfaces are pressed in there
} tali_contact_element;

/// Shape and frame of a surface in a State.
typedef struct tali_contact_placement {
    tal_vec3 size;
    double edge_radius;
    tal_xform X_BS;
} tali_contact_placement;

/// One contact at one instant.
typedef struct tali_contact_touch {
    int surface[2];
    int feature, num_faces;
    tal_vec3 p_G, n_G, slip_G;
    double depth, depth_rate;
    double semi_axis[2];
    double normal_force;
    tal_vec3 f_G, m_G; ///< on surface 1, about p_G
    double energy, power;
} tali_contact_touch;

/// All contacts at one instant. The rates of the bristles, three each, follow after max_touches,
/// then those of the layers.
typedef struct tali_contact_touches {
    int count;
    double power;               ///< dissipated by all of them, and by bristles that hold nothing
    tali_contact_touch touch[]; ///< [max_touches]
} tali_contact_touches;

/// Where zdot is in a tali_contact_touches.
static inline size_t tali_contact_zdot_offset(const tali_contact_element *it)
{
    return tali_align(sizeof(tali_contact_touches) +
                      (size_t)it->max_touches * sizeof(tali_contact_touch));
}

/// Whether friction has a state of its own.
static inline bool tali_contact_has_memory(const tal_contact_def *def)
{
    return def->friction == TAL_CONTACT_SOFT_COULOMB || def->friction == TAL_CONTACT_ELASTOPLASTIC;
}

/// Whether surfaces have a state of their own.
static inline bool tali_contact_relaxes(const tal_contact_def *def)
{
    return def->law == TAL_CONTACT_RELAXING;
}

/// The surface in whose frame a bristle's deflection is kept: the flat one, if there is one.
static inline int tali_contact_holder(const tali_contact_element *it, const int surface[2])
{
    const bool second_is_flat = it->surfaces[surface[1]].shape.kind == TAL_SHAPE_HALF_SPACE;
    return surface[second_is_flat ? 1 : 0];
}

// --- contact.c and contact_state.c ---

extern const tali_force_kind tali_contact_kind;

/// What is wrong with a grip; NULL: nothing.
const char *tali_contact_wrong_grip(const tal_contact_grip *grip);

/// @name Whether a surface can be so; `name` is the surface's
/// @{
tal_status tali_contact_check_material(const tal_contact_material *m, const char *name,
                                       tal_error *err);
/// Two surfaces that may meet, with these materials.
tal_status tali_contact_check_rigid(const tali_contact_element *it, int a, int b,
                                    const tal_contact_material *of_a,
                                    const tal_contact_material *of_b, tal_error *err);
tal_status tali_contact_check_frame(const tal_xform *X_BS, const char *name, tal_error *err);
tal_status tali_contact_check_shape(const tali_contact_element *it, const tal_shape *shape,
                                    const char *name, tal_error *err);

/// @}

// --- contact_find.c: Instance and Position ---

/// What was found, to look at.
typedef struct tali_contact_sight {
    int num_contacts;
    const tali_detect_contact *contacts;
    const tali_detect_point *points;
    const tali_detect_face *faces;
} tali_contact_sight;

/// Declare `placed` and `contacts`, for limits that are known.
void tali_contact_declare_found(tali_contact_element *it, tal_forces *forces);

/// Find what touches, unless it is known. Needs Position. False on failure, with the reason in the
/// State.
bool tali_contact_look(const tali_contact_element *it, const tal_system *system, tal_state *state,
                       tali_contact_sight *sight);

// --- contact_force.c: Velocity and Dynamics ---

/// Declare `touches`, after what was found.
void tali_contact_declare_touches(tali_contact_element *it, tal_forces *forces);

/// The forces between the surfaces; NULL on failure. Needs Velocity.
const tali_contact_touches *tali_contact_read_touches(const tali_contact_element *it,
                                                      const tal_system *system, tal_state *state);

/// tal_force_ops of the element.
tal_status tali_contact_apply(const void *self, const tal_force_context *context,
                              tal_spatial_vec F[], double f[]);
tal_status tali_contact_realize_acceleration(const void *self, const tal_force_context *context);
tal_status tali_contact_calc_energy(const void *self, const tal_force_context *context,
                                    double *energy);
tal_status tali_contact_calc_power(const void *self, const tal_force_context *context,
                                   double *power);

#endif // TALUS_FORCES_CONTACT_INTERNAL_H
