// How forces change with q and u, for the tangent matrix of an implicit step.
#ifndef TALUS_FORCE_TANGENT_INTERNAL_H
#define TALUS_FORCE_TANGENT_INTERNAL_H

#include <talus/forces/force.h>

/// Whether all enabled elements have an add_slopes or an apply_change. Needs Instance.
bool tali_force_has_tangent(const tal_forces *forces, const tal_state *state);

/// Doubles that tali_force_calc_tangent() needs as `work`.
size_t tali_force_tangent_work_size(const tal_forces *forces);

/**
 * T = J^T (by_q dF/dX + by_u dF/dV) J, and the same of forces along speeds: the material part of
 * the derivatives (CD eq. 28 to 34). What forces do because J^T and V change with q is left out:
 * Newton's method converges without it. O(nu) calls of each element that tells no slopes.
 *
 * @param[in]  state  at Velocity, with tali_force_has_tangent()
 * @param[out] T      nu x nu
 * @param[out] work   [tali_force_tangent_work_size()]
 */
tal_status tali_force_calc_tangent(const tal_forces *forces, tal_state *state, double by_q,
                                   double by_u, tal_matrix T, double work[]);

#endif // TALUS_FORCE_TANGENT_INTERNAL_H
