// Moving a State along a direction, and differences of what is found there.
#ifndef TALUS_FORCES_DERIVATIVE_INTERNAL_H
#define TALUS_FORCES_DERIVATIVE_INTERNAL_H

#include "core/forces_internal.h"

/// Number of points of a difference.
#define TALI_NUM_POINTS 4

/// Where to go and what weight the value there has: (4 D(h/2) - D(h)) / 3 with the central
/// difference D(h) = (f(h) - f(-h)) / 2h, which is off by h^4 f^(5) / 480 and by 3 eps f / h.
typedef struct tali_force_points {
    double at[TALI_NUM_POINTS];
    double weight[TALI_NUM_POINTS];
} tali_force_points;

/// Points of a difference along a direction of this size: nothing moves by more than 1e-3.
tali_force_points tali_force_points_for(double size);

/// Largest |v[i]|.
double tali_force_size_of(const double v[], int n);

/// A direction: how q and u of matter move, and the bodies with them.
typedef struct tali_force_direction {
    double *dq;          ///< [nq]
    const double *du;    ///< [nu]
    tal_spatial_vec *dX; ///< [num_bodies]
    const double *dz;    ///< [nz of the State]; NULL: z stays
} tali_force_direction;

/// dq = N w and dX = J w about Mo.
tal_status tali_force_direction_along(const tal_matter *matter, tal_state *state, const double w[],
                                      const tali_force_direction *to);

/// dV about Mo for a change v of the speeds at constant q.
tal_status tali_force_velocities_for(const tal_matter *matter, tal_state *state, const double v[],
                                     tal_spatial_vec dV[]);

/// Put `moved` where `from` is, moved by `by` along the direction, and realize it to Velocity.
tal_status tali_force_move(const tal_matter *matter, const tal_state *from,
                           const tali_force_direction *along, double by, tal_state *moved);

/// g = f + J^T F at a State, with F about Mo. F is overwritten.
tal_status tali_force_generalized(const tal_matter *matter, tal_state *state, tal_spatial_vec F[],
                                  const double f[], double g[]);

/// Forces about Bo become forces about Mo, in place.
void tali_force_shift_to_Mo(const tal_matter *matter, const tal_state *state, tal_spatial_vec F[]);

#endif // TALUS_FORCES_DERIVATIVE_INTERNAL_H
