// What the built-in elements share: parameters in the State, checked by a table of rules.
#ifndef TALUS_FORCES_ELEMENT_INTERNAL_H
#define TALUS_FORCES_ELEMENT_INTERNAL_H

#include "force_facts_internal.h"

#include "core/forces_internal.h"

#include <talus/forces/params.h>

/// The most parameters a kind can have: two frames, six stiffnesses, six dampings.
#define TALI_MAX_FORCE_PARAMS 36

/// Which values a parameter can have. NaN never.
typedef enum tali_force_rule {
    TALI_FINITE,       ///< any finite number
    TALI_NOT_NEGATIVE, ///< finite, zero or more
    TALI_POSITIVE,     ///< finite, more than zero
    TALI_LIMIT         ///< any number, infinities included
} tali_force_rule;

typedef struct tali_force_param {
    const char *name;
    tali_force_rule rule;
} tali_force_param;

/// What `apply` of a kind reads of the State besides t, q, u and parameters, and what it acts on.
typedef enum tali_force_scope {
    TALI_FORCE_SCOPE_ANY,        ///< anything
    TALI_FORCE_SCOPE_SPEEDS,     ///< it reads nothing more, and acts along speeds
    TALI_FORCE_SCOPE_COORDINATE, ///< the same, if the qdot of its mobility is u
    TALI_FORCE_SCOPE_BODIES      ///< poses and velocities of the bodies of its facts, acts on them
} tali_force_scope;

/// A kind of built-in element.
typedef struct tali_force_kind {
    tal_force_ops ops;
    const tali_force_param *params; ///< [num_params]
    int num_params;
    tali_force_scope scope;
    int num_instance; ///< the first so many invalidate Instance, the others Dynamics
    int control;      ///< the parameter that is its control, with least and largest control behind
                      ///< it, all invalidating Dynamics; 0: it has none
    /// What is wrong between parameters that are right one by one; NULL: nothing.
    const char *(*check)(const double params[]);
    void (*release)(void *self); ///< frees what the struct owns; NULL: nothing
    /// Say what the element was added with besides its parameters; NULL: nothing.
    void (*fill_facts)(const void *self, tali_force_facts *facts);
} tali_force_kind;

/// What the struct of every built-in element begins with. What `apply` reads comes last, beside
/// what the kind adds.
typedef struct tali_force_element {
    const tali_force_kind *kind;
    const tal_forces *forces;
    tal_allocator allocator;
    size_t size;           ///< of the whole block
    const double *initial; ///< [num_params] behind the struct
    tal_force_ix me;
    tal_var_ix geometry;   ///< the parameters that invalidate Instance
    tal_cache_ix placed;   ///< what realize_instance computes, if the kind declares it
    tal_force_needs needs; ///< of the kind
    size_t place;          ///< what realize_instance computes, where the kind reserves it
    int first_value;       ///< the parameters that invalidate Dynamics, among all of the same needs
} tali_force_element;

/**
 * Add a built-in element: check, copy, hand over.
 *
 * @param[in] like    a struct of `size` bytes that begins with a tali_force_element; copied. What
 *                    it owns is released on failure
 * @param[in] params  initial values, as many as the kind has
 * @return its index, `i` < 0 on failure, which the System remembers
 */
tal_force_ix tali_force_element_add(tal_forces *forces, const char *name,
                                    const tali_force_kind *kind, void *like, size_t size,
                                    const double params[]);

/// Whether an argument that must not be NULL was given. False after a breach, which the System
/// remembers while it is built. `forces` may be NULL.
bool tali_force_element_given(tal_forces *forces, const char *name, const tali_force_kind *kind,
                              const void *argument, const char *subject);

/// Whether matter has this body. False after the failure has been reported. `forces` may be NULL.
bool tali_force_element_has(tal_forces *forces, const char *name, const tali_force_kind *kind,
                            tal_body_ix body);

/// Whether matter has this body and as many speeds (tal_body_nu()) or coordinates
/// (tal_body_nq_angles()) of it as `at` says; otherwise the same.
typedef int (*tali_force_count_fn)(const tal_matter *matter, tal_body_ix body);
bool tali_force_element_has_mobility(tal_forces *forces, const char *name,
                                     const tali_force_kind *kind, tal_mobility at,
                                     tali_force_count_fn count);

/// Whether a measure can drive an element with this many controls; none (`i` < 0) can. False after
/// the failure has been reported. `forces` may be NULL.
bool tali_force_element_can_drive_by(const tal_forces *forces, const char *name,
                                     const tali_force_kind *kind, tal_measure_ix control,
                                     int num_controls);

/// The same for one control.
static inline bool tali_force_element_can_drive(const tal_forces *forces, const char *name,
                                                const tali_force_kind *kind, tal_measure_ix control)
{
    return tali_force_element_can_drive_by(forces, name, kind, control, 1);
}

/// tal_force_ops.declare of every kind; one that needs more calls it first.
tal_status tali_force_element_declare(void *self, tal_forces *forces, tal_force_ix me);

/// tal_force_ops.destroy of every kind: what tells built-in elements from others.
void tali_force_element_destroy(void *self);

/// Reserve `size` bytes for what realize_instance computes. They lie beside those of the other
/// elements, so that looking them up (tali_force_place()) costs nothing.
void tali_force_element_reserve_place(tali_force_element *it, tal_forces *forces, size_t size);

/// Those bytes, to be written by realize_instance.
void *tali_force_element_upd_place(const tali_force_element *it, const tal_force_context *context);

/// Declare `placed`: `size` bytes that realize_instance computes, as an entry of its own.
void tali_force_element_declare_placed(tali_force_element *it, tal_forces *forces, size_t size);

/// The element, if it is of this kind; NULL and a breach otherwise.
const void *tali_force_element_of(const tal_forces *forces, tal_force_ix force,
                                  const tali_force_kind *kind, const char *where);

/// The control of an element that has one: what was set, a measure (`i` < 0: none) and controllers,
/// added and kept in its range. On entry: Velocity, and z is known.
tal_status tali_force_element_control(const tali_force_element *it,
                                      const tal_force_context *context, tal_measure_ix measure,
                                      double *control);

/// Whether a measure (`i` < 0: none) or a controller tells the control of an element, which may
/// then change with all that moves. From the topology on.
bool tali_force_element_is_driven(const tal_forces *forces, tal_force_ix me,
                                  tal_measure_ix measure);

/// The parameters that invalidate Instance.
static inline const double *tali_force_geometry(const tali_force_element *it,
                                                const tal_force_context *context)
{
    return tal_var_value(context->system, context->state, it->geometry);
}

/// The parameters that invalidate Dynamics.
static inline const double *tali_force_element_values(const tali_force_element *it,
                                                      const tal_force_context *context)
{
    return context->params[it->needs] + it->first_value;
}

/// What realize_instance computed.
static inline const void *tali_force_placed(const tali_force_element *it,
                                            const tal_force_context *context)
{
    return tal_cache_value(context->system, context->state, it->placed);
}

/// What realize_instance computed, where the kind reserves it.
static inline const void *tali_force_place(const tali_force_element *it,
                                           const tal_force_context *context)
{
    return (const char *)context->placed + it->place;
}

/// A station given from Bo in B, from Mo in M.
static inline tal_vec3 tali_force_station_in_M(const tal_force_context *context, int body,
                                               const double p_BS[3])
{
    const tal_xform X_MB = tal_body_X_MB(context->matter, context->state, (tal_body_ix){body});
    return tal_xf_apply(X_MB, tal_v3(p_BS[0], p_BS[1], p_BS[2]));
}

/// Velocity of a station in Ground, with p_MS_G from Mo in Ground.
static inline tal_vec3 tali_force_station_velocity(const tal_force_context *context, int body,
                                                   tal_vec3 p_MS_G)
{
    const tal_spatial_vec *V_GM = tal_view_V_GM(&context->velocities, body);
    return tal_v3_add(V_GM->v, tal_v3_cross(V_GM->w, p_MS_G));
}

#endif // TALUS_FORCES_ELEMENT_INTERNAL_H
