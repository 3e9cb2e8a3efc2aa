// Unilateral elements inside: their motion, and sliding friction in the equations of motion.
//
// Between events modes are fixed, and a sliding element i has friction along its grip,
//
//     pi_T = -sigma_i d_i        sigma_i = limit_i + mu_i pi_N,i         manual eq. 8.63
//
// against the direction of slip d. Multipliers are affine in these sigma: with lambda_0 those
// without friction and r_i those that a unit of sigma_i adds,
//
//     lambda = lambda_0 + sum_i r_i sigma_i
//     (1 - diag(mu) K) sigma = limit + mu pi_N,0         K_ji: what r_i adds to pi_N,j
//
// which is the folded matrix of manual eq. 8.69 in as many unknowns as elements slide. W itself
// stays symmetric, and where rows repeat each other its least squares share the load as ever.
#ifndef TALUS_UNILATERAL_INTERNAL_H
#define TALUS_UNILATERAL_INTERNAL_H

#include "constraint/constraint_internal.h"

/// The element if the index is good; NULL after reporting the breach.
const tali_unilateral *tali_unilateral_at(const tal_matter *matter, tal_unilateral_ix element,
                                          const char *where);

/// The mode of element `i` in a State of the System that has reached Model.
tal_unilateral_mode tali_unilateral_mode_at(const tal_matter *matter, const tal_state *state,
                                            int i);

/// Enable the constraints of element `i`, or not.
tal_status tali_unilateral_switch(const tal_matter *matter, tal_state *state, int i, bool normal,
                                  bool grip);

/// Is this material physical? The sentence names the field that is not.
tal_status tali_unilateral_check_material(const tal_unilateral_material *material, tal_error *err);

/// Velocity of slip of element `i`, whether its grip is enabled or not: slip [2]. The view has
/// velocities.
tal_status tali_unilateral_slip(const tal_matter *matter, tal_state *state,
                                const tali_tree_view *view, int i, double slip[2]);

/// pi_N of element `i` from multipliers in the order of udoterr; 0 while it is off.
double tali_unilateral_normal_force(const tal_matter *matter, const tal_state *state, int i,
                                    const double lambda[]);

/// The coefficient of friction of element `i` at its present slip.
tal_status tali_unilateral_mu(const tal_matter *matter, tal_state *state,
                              const tali_tree_view *view, int i, double *mu);

/// sigma = limit + mu pi_N of element `i`, which slides.
tal_status tali_unilateral_sigma(const tal_matter *matter, tal_state *state,
                                 const tali_tree_view *view, int i, const double lambda[],
                                 double *sigma);

/// The material of element `i` in a State of the System that has reached Model.
const tal_unilateral_material *tali_unilateral_material_at(const tal_matter *matter,
                                                           const tal_state *state, int i);

/// Directions of slip of all elements, double[count][2]: those that friction is against. Needs
/// Velocity; NULL with the reason in the State.
const double *tali_unilateral_directions(const tal_matter *matter, tal_state *state);

/**
 * Let sliding elements have their friction.
 *
 * @param[in]     view    with articulated inertias and motion
 * @param[in,out] e       [num_u] residual of the inward pass; friction is added
 * @param[in,out] lambda  [rows] in: multipliers without friction; out: with it
 */
tal_status tali_unilaterals_slide(const tal_matter *matter, tal_state *state,
                                  const tali_tree_view *view, double e[], double lambda[]);

/// Add sliding friction as tali_constraints_add_forces() adds G^T lambda: what is resisted.
tal_status tali_unilaterals_add_friction(const tal_matter *matter, tal_state *state,
                                         const double lambda[], tal_spatial_vec F[], double f[]);

/// How many elements may slide at the same time.
int tali_unilaterals_most_sliding(const tal_matter *matter);

/// @name Steps of the matter subsystem
/// @{
tal_status tali_unilaterals_declare(tal_matter *matter);
size_t tali_unilaterals_scratch(const tal_matter *matter);
void tali_unilaterals_destroy(tal_matter *matter);
/// @}

#endif // TALUS_UNILATERAL_INTERNAL_H
