// The sweeps over the tree. All are pure, allocation-free and linear in the number of bodies; forces
// and accelerations are spatial vectors about each body's Mo, in Ground, one per body.
#ifndef TALUS_SWEEPS_INTERNAL_H
#define TALUS_SWEEPS_INTERNAL_H

#include "matter_internal.h"

/// Poses, hinge columns and mass properties in Ground: writes at->pose and at->H. Of the general
/// hinges, at->X_FM and at->H_FM must be there already.
void tali_sweep_position(const tali_tree *tree, const tali_constants constants[],
                         const tali_model *model, const double q[], const tali_position *at);

/// Velocities, and accelerations and forces at udot = 0: writes at->motion. Of the general hinges,
/// at->Hdot_u must be there already.
void tali_sweep_velocity(const tali_view *view, const double u[], const tali_velocity *at);

/// Room for the articulated inertia of one open subtree.
typedef struct tali_open_inertia {
    tal_abi P;
    tal_vec3 size_J; ///< how large the moments about Ground's axes were before projections took
                     ///< from them
    tal_vec3 size_M; ///< the same for the masses along them
} tali_open_inertia;

/// Articulated-body inertias, tip to base: writes G and DI. `open` has tree->num_slots entries.
/// False when a mobility moves no mass; the first entry of its DI is then zero.
bool tali_sweep_articulated(const tali_view *view, const tali_articulated *out,
                            tali_open_inertia open[]);

/**
 * First half of M^-1: tip to base, from forces to residuals.
 *
 * @param[in]  f     [num_u] mobility forces; NULL means zero
 * @param[in]  F     [num_bodies] body forces to be resisted (subtracted); NULL means zero
 * @param[out] e     [num_u] what is left for each mobility
 * @param      open  [num_slots] room
 */
void tali_sweep_inward(const tali_view *view, const double f[], const tal_spatial_vec F[],
                       double e[], tal_spatial_vec open[]);

/// Second half of M^-1: base to tip, from residuals to udot, and the body accelerations J udot that
/// come with it ([num_bodies]).
void tali_sweep_outward(const tali_view *view, const double e[], double udot[],
                        tal_spatial_vec A[]);

/**
 * Inverse dynamics: f = M udot + J^T F (RBDA tab. 5.1).
 *
 * @param[in]  udot  [num_u]; NULL means zero
 * @param[in]  F     [num_bodies] forces that the bodies need besides M J udot; NULL means zero
 * @param[out] f     [num_u]
 * @param      A     [num_bodies] room; on return the force across each mobilizer, about Mo
 */
void tali_sweep_inverse(const tali_view *view, const double udot[], const tal_spatial_vec F[],
                        double f[], tal_spatial_vec A[]);

/// V = J u: base to tip ([num_bodies]).
void tali_sweep_J(const tali_view *view, const double u[], tal_spatial_vec V[]);

/// f = J^T F: tip to base. F is overwritten: on return each holds the sum over its subtree.
void tali_sweep_JT(const tali_view *view, tal_spatial_vec F[], double f[]);

#endif // TALUS_SWEEPS_INTERNAL_H
