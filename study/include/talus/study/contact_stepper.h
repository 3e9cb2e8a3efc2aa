// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_CONTACT_STEPPER_H
#define TALUS_STUDY_CONTACT_STEPPER_H

/**
 * @file talus/study/contact_stepper.h
 * @brief Thousands of contacts by steps of a fixed length: piles, walls, dominoes.
 *
 *     tal_matter_add_collider(matter, &floor);             // talus/matter/collider.h
 *     tal_matter_add_collider(matter, &box); ...
 *     tal_contact_stepper_create(system, &def, &stepper, &err);
 *     while (tal_state_t(state) < 10.0) tal_contact_stepper_step(stepper, state);
 *
 * One step of length h finds impulses pi of all contacts and constraints at once, so that
 *
 *     M (u1 - u0) = h f + G^T pi         q1 = q0 + h N(q0) u1
 *
 * with f all forces at the start of the step, and at its end, for each contact,
 *
 *     it opens, or its normal speed is such that its gap closes to zero, and it pushes
 *     it sticks, or slips against its friction, which is mu times its push
 *
 * Contacts of a small group that touches nothing else are solved exactly (tal_friction_solve()),
 * those of large ones by iteration (tal_friction_iterate()), which begins with the impulses of the
 * step before. Contacts with restitution that close within the step rebound first: impulses that
 * stop them, then their share e of these, reduced if kinetic energy would grow. What penetrates
 * is moved apart without changing speeds. Constraints are projected after each step.
 *
 * It is of first order and steps over impacts: times of impact are as exact as a step is long.
 * Where they matter, use a time stepper and unilateral elements (talus/study/contacts.h), which
 * this Study does not know: a System that has some is refused.
 *
 * Nothing is allocated after creation, and the same start gives the same bytes. The impulses that a
 * step begins with are in the State: a copy or a saved file goes on bit for bit, with any stepper
 * of the same def. There is room for 16 impulses for each collider and 64 more; what goes beyond is
 * found anew.
 */

#include <talus/common/friction.h>
#include <talus/matter/collider.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup contact_stepper Many contacts by fixed steps
/// @{

/// What a stepper is created from. Obtain it from tal_contact_stepper_def_default(), then edit.
typedef struct tal_contact_stepper_def {
    double step;   ///< h [s] > 0
    double slop;   ///< how far solids may penetrate before they are moved apart [m] >= 0
    double margin; ///< contacts this near are looked at in any case [m] >= 0
    /// Contacts that close more slowly do not rebound, whatever their material says [m/s] >= 0.
    double capture_speed;
    double tolerance; ///< of the iteration, as a part of the largest impulse, >= 0
    int most_passes;  ///< of the iteration, > 0
    int most_exact;   ///< groups of up to this many contacts are solved exactly, >= 0
    /// @name Capacities. Zero: chosen from the colliders. More than fits is TAL_ERR_CAPACITY.
    /// @{
    int max_pairs;    ///< pairs of colliders whose boxes overlap
    int max_contacts; ///< points of contact
    /// @}
} tal_contact_stepper_def;

/// Steps of 1 ms, slop 1e-6 m, margin 1e-3 m, capture at 0.01 m/s, tolerance 1e-6, 200 passes, 8
/// exactly; capacities chosen.
TAL_API tal_contact_stepper_def tal_contact_stepper_def_default(void);

/// Steps one System. Opaque. Use from one thread at a time.
typedef struct tal_contact_stepper tal_contact_stepper;

/**
 * Create a stepper. All memory it will ever use is taken here.
 *
 * @param[in]  system  its topology must be realized and it must have matter; must outlive the
 *                     stepper
 * @param[in]  def     copied; NULL means tal_contact_stepper_def_default()
 * @param[out] out     owned by the caller; NULL on failure
 * @param[out] err     may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE for a number of `def`, for unilateral elements, and for two
 *         half-spaces that may meet; TAL_ERR_TOPOLOGY, TAL_ERR_NULL, TAL_ERR_NO_MEMORY
 */
TAL_API TAL_NODISCARD tal_status tal_contact_stepper_create(const tal_system *system,
                                                            const tal_contact_stepper_def *def,
                                                            tal_contact_stepper **out,
                                                            tal_error *err);

/// Free a stepper. NULL is allowed.
TAL_API void tal_contact_stepper_destroy(tal_contact_stepper *stepper);

/// What a step did.
typedef struct tal_contact_step {
    double t;           ///< [s] where it began
    int num_contacts;   ///< points that were looked at
    int num_exact;      ///< of these, solved exactly
    int num_unsolved;   ///< groups that were to be solved exactly and went to the iteration
    int passes;         ///< of the iteration
    double residual;    ///< of the iteration, as a part of the largest impulse
    double penetration; ///< [m] the deepest at its start
    double energy;      ///< [J] kinetic and potential, at its start
    double restitution; ///< share of all coefficients of restitution that was left; 1: all of it
    /// @name Work by impulses [J]: what kinetic energy changed by
    /// @{
    double normal_work;     ///< along normals: impacts, and contacts that are pushed
    double friction_work;   ///< against slip
    double constraint_work; ///< by constraints
    double projection_work; ///< of moving apart what penetrates, against forces
    /// @}
} tal_contact_step;

/**
 * One step.
 *
 * @param[in,out] state  at a time t, made consistent first; at t + h afterwards, realized to
 *                       TAL_STAGE_VELOCITY. On failure as it was after having been made consistent
 * @return TAL_OK; TAL_ERR_CAPACITY naming the pair and the field to raise; TAL_ERR_SINGULAR when
 *         the normal of a pair is not defined, or a body cannot be moved; TAL_ERR_NOT_FINITE; or
 *         what realizing returned
 */
TAL_API TAL_NODISCARD tal_status tal_contact_stepper_step(tal_contact_stepper *stepper,
                                                          tal_state *state);

/// Steps up to a time: as many as fit, and a shorter one that ends there. Nothing when the State is
/// there already.
/// @param[in] t  [s] not before that of the State, and so near that a step is not lost in
///               rounding: less than step / DBL_EPSILON from 0, unless one step ends there
TAL_API TAL_NODISCARD tal_status tal_contact_stepper_step_to(tal_contact_stepper *stepper,
                                                             tal_state *state, double t);

/// Forget the impulses in a State with which the next step would begin: after it was changed so
/// much that they say nothing of it.
TAL_API tal_status tal_contact_stepper_forget(tal_contact_stepper *stepper, tal_state *state);

/// What the last step did; NaN and zeros before the first, and on a breach.
TAL_API tal_contact_step tal_contact_stepper_report(const tal_contact_stepper *stepper);

/// What it was created from; the default for NULL, and a breach.
TAL_API tal_contact_stepper_def tal_contact_stepper_def_of(const tal_contact_stepper *stepper);

/// The last failure; status TAL_OK when there is none. Never NULL; borrowed until the next call.
TAL_API const tal_error *tal_contact_stepper_error(const tal_contact_stepper *stepper);

/// One point of contact in the last step. Collider 1 is the one added first.
typedef struct tal_step_contact {
    tal_collider_ix collider[2]; ///< collider[0].i < collider[1].i
    tal_body_ix body[2];
    tal_vec3 p_G;       ///< where, at the start of the step [m]
    tal_vec3 n_G;       ///< unit normal, from collider 2 towards collider 1
    double gap;         ///< at the start of the step [m]
    double normal;      ///< normal impulse, not negative [N s]
    tal_vec3 impulse_G; ///< on collider 1, friction included [N s]; divided by h: the force
    tal_friction_mode mode;
} tal_step_contact;

/// Number of points of contact in the last step, those without an impulse included; -1 on a breach.
TAL_API int tal_contact_stepper_num_contacts(const tal_contact_stepper *stepper);

/// One of them, in the order of colliders. All zero on a breach, with no collider.
TAL_API tal_step_contact tal_contact_stepper_contact(const tal_contact_stepper *stepper, int i);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_CONTACT_STEPPER_H
