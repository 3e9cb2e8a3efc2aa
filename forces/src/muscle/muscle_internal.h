// A muscle as a struct, and its mechanics as functions of lengths, speeds and activation.
#ifndef TALUS_MUSCLE_INTERNAL_H
#define TALUS_MUSCLE_INTERNAL_H

#include "core/element_internal.h"
#include "muscle/muscle_curves_internal.h"

// --- mechanics ---

/// Sizes of a muscle, from its parameters.
typedef struct tali_muscle_sizes {
    double F0, lo, ls;
    double h;        ///< distance of the planes that fibers run between [m]
    double shortest; ///< fiber length [m]
    double vmax;     ///< [m/s]
    double beta;
    tali_muscle_activation activation;
} tali_muscle_sizes;

/// What a muscle is given.
typedef struct tali_muscle_given {
    real l, ldot; ///< of the path [m, m/s]
    real a;       ///< activation
    real z;       ///< fiber length [m], or tendon force over F0; rigid tendons have none
    real z_dot;   ///< of an implicit muscle
} tali_muscle_given;

/// What follows. Forces are over F0.
typedef struct tali_muscle_found {
    tali_muscle_fiber fiber;
    real tendon;                                ///< length [m]
    tali_muscle_curve active, passive, stretch; ///< fal, fpe, fse
    real velocity;                              ///< fv
    real v;                                     ///< speed of the fibers over vmax
    real f_active, f_damping;                   ///< a fal fv, beta v; fpe is passive.y
    real f_tendon;                              ///< tension
    real rate;                                  ///< dz/dt
    mask is_shortest; ///< the fibers are at their lower limit: no force of theirs
} tali_muscle_found;

/// Kinds of mechanics.
typedef enum tali_muscle_kind {
    TALI_MUSCLE_ELASTIC,  ///< z is the fiber length
    TALI_MUSCLE_TENDON_Z, ///< z is the tendon force
    TALI_MUSCLE_IMPLICIT, ///< and dz/dt is given
    TALI_MUSCLE_RIGID     ///< no z
} tali_muscle_kind;

/// Everything about a muscle in a State. NaN in, NaN out.
tali_muscle_found tali_muscle_find(const tali_muscle_curves *curves, const tali_muscle_sizes *sizes,
                                   tali_muscle_kind kind, const tali_muscle_given *given);

/// The tension alone, over F0.
real tali_muscle_tension(const tali_muscle_curves *curves, const tali_muscle_sizes *sizes,
                         tali_muscle_kind kind, const tali_muscle_given *given);

/// A change of the tension over F0, and of dz/dt.
typedef struct tali_muscle_change {
    double tension, rate;
} tali_muscle_change;

/// What follows from a small change `by` of what is given.
tali_muscle_change tali_muscle_find_change(const tali_muscle_curves *curves,
                                           const tali_muscle_sizes *sizes, tali_muscle_kind kind,
                                           const tali_muscle_given *given,
                                           const tali_muscle_given *by);

/// Slope of fv by v.
double tali_muscle_velocity_slope(const tali_muscle_curves *curves, double a, double v);

/// @name Slopes of da/dt by a
/// @{
double tali_muscle_activation_slope(const tali_muscle_activation *it, double x, double a);
double tali_muscle_smooth_activation_slope(const tali_muscle_activation *it, double x, double a);

/// @}

/// Stored energy [J], of fibers and of the tendon.
typedef struct tali_muscle_energy {
    real fiber, tendon;
} tali_muscle_energy;

tali_muscle_energy tali_muscle_stored(const tali_muscle_curves *curves,
                                      const tali_muscle_sizes *sizes, tali_muscle_kind kind,
                                      const tali_muscle_given *given);

/// d(force)/d(length) of the fibers, both along the tendon [N/m].
real tali_muscle_stiffness_along(const tali_muscle_sizes *sizes, const tali_muscle_found *at,
                                 real a);

/// Fiber length at which fibers, with a given speed v over vmax, and the tendon carry the same
/// force.
double tali_muscle_equilibrium_length(const tali_muscle_curves *curves,
                                      const tali_muscle_sizes *sizes, double l, double a, double v,
                                      tal_muscle_equilibrium *how);

/// The same where the path moves with ldot, which fibers and tendon share by their stiffness.
double tali_muscle_moving_equilibrium(const tali_muscle_curves *curves,
                                      const tali_muscle_sizes *sizes, double l, double ldot,
                                      double a, tal_muscle_equilibrium *how);

// --- the element ---

typedef struct tali_muscle {
    tali_force_element base;
    tal_allocator allocator;
    tal_path_ix path;
    tali_muscle_kind kind;
    tal_activation activation;
    tal_measure_ix control;    ///< `i` < 0: none
    tal_group_ix activation_z; ///< `i` < 0: none
    tal_group_ix fiber_z;      ///< `i` < 0: none
    tali_muscle_curves curves;
    tal_muscle_def def; ///< as it was added, for model files
} tali_muscle;

/// @name Fibers at their shortest length, as events
/// @{

/// Declare the triggers of all muscles whose fibers have a shortest length. False after a failure.
bool tali_muscle_declare_limits(tal_forces *forces);

/// Declare the event of one of them.
void tali_muscle_declare_limit(tal_forces *forces, tal_force_ix me);

/// Write the triggers. On entry: the rates of all z are known.
void tali_muscle_write_limits(const tal_forces *forces, const tal_force_context *context);
/// @}

/// The element, if it is a muscle; NULL and a breach otherwise.
const tali_muscle *tali_muscle_at(const tal_forces *forces, tal_force_ix force, const char *where);

/// Whether a measure of a muscle can be added: building is sound so far, and it is a muscle. If it
/// is none, the breach is kept as the System's error.
bool tali_muscle_is_to_measure(tal_forces *forces, tal_force_ix muscle, const char *where);

/// Add a measure of one number; `self` is copied.
tal_measure_ix tali_muscle_add_measure(tal_forces *forces, const char *name,
                                       const tal_measure_ops *ops, const void *self, size_t size);

/// What a muscle is given in a State. On entry: Position, or Velocity where `moving`.
tal_status tali_muscle_read(const tali_muscle *it, const tal_force_context *context, bool moving,
                            tali_muscle_given *given);

/// Whether its force is set by hand.
bool tali_muscle_is_overridden(const tali_muscle *it, const tal_force_context *context);

/// @name muscle_slopes.c: tal_force_ops of the element
/// @{
tal_status tali_muscle_apply_change(const void *self, const tal_force_context *context,
                                    const tal_force_change *change, tal_spatial_vec dF[],
                                    double df[]);
tal_status tali_muscle_add_rate_change(const void *self, const tal_force_context *context,
                                       const tal_force_change *change, double dzdot[]);
/// @}

/// The control after all that adds to it.
tal_status tali_muscle_control(const tali_muscle *it, const tal_force_context *context, double *x);

/// Its sizes.
static inline const tali_muscle_sizes *tali_muscle_sizes_of(const tali_muscle *it,
                                                            const tal_force_context *context)
{
    return tali_force_place(&it->base, context);
}

/// The parameters that invalidate Dynamics: TAL_MUSCLE_CONTROL and those behind it.
static inline double tali_muscle_value(const tali_muscle *it, const tal_force_context *context,
                                       int param)
{
    return tali_force_element_values(&it->base, context)[param - TAL_MUSCLE_CONTROL];
}

#endif // TALUS_MUSCLE_INTERNAL_H
