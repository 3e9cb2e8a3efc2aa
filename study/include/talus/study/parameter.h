// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_PARAMETER_H
#define TALUS_STUDY_PARAMETER_H

/**
 * @file talus/study/parameter.h
 * @brief Numbers of a State that an ensemble varies: masses, stiffnesses, starting values.
 */

#include <talus/forces.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup parameter Parameters of ensembles
/// @{

/// A number of the State that is varied. Make one with the functions below, or fill in `set`.
typedef struct tal_parameter {
    const char *name; ///< for messages; must outlive the study
    /// Put a value into a State at Model or above.
    tal_status (*set)(const struct tal_parameter *self, const tal_system *system, tal_state *state,
                      double value);
    const void *object; ///< whatever `set` needs: matter, forces, ...
    int i, j;           ///< which of them
} tal_parameter;

/// A variable that is one double.
TAL_API tal_parameter tal_parameter_var(const char *name, tal_var_ix var);
/// The mass of a body; its inertia changes in proportion, its center of mass stays.
TAL_API tal_parameter tal_parameter_mass(const char *name, const tal_matter *matter,
                                         tal_body_ix body);
/// A parameter of a force (tal_force_set_param()).
TAL_API tal_parameter tal_parameter_force(const char *name, const tal_forces *forces,
                                          tal_force_ix force, int param);
/// A parameter of a constraint.
TAL_API tal_parameter tal_parameter_constraint(const char *name, const tal_matter *matter,
                                               tal_constraint_ix constraint, int param);
/// The initial value of a coordinate of a body.
TAL_API tal_parameter tal_parameter_q(const char *name, const tal_matter *matter, tal_body_ix body,
                                      int i);
/// The initial value of a speed of a body.
TAL_API tal_parameter tal_parameter_u(const char *name, const tal_matter *matter, tal_body_ix body,
                                      int i);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_PARAMETER_H
