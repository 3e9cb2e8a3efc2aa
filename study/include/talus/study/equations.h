// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_EQUATIONS_H
#define TALUS_STUDY_EQUATIONS_H

/**
 * @file talus/study/equations.h
 * @brief A System as plain equations, for an integrator of your own (manual sec. 10.2).
 *
 *     y' = f(t, y)      c(t, y) = 0      y = {q, u, z},   c = {qerr, uerr}
 *
 * with the promise that c' = 0 wherever c = 0. To solve them to accuracy a, the errors e of each
 * step that are left after projection, and c, must meet
 *
 *     |E e| <= a      |T c| <= tolerance            (manual eq. 10.18 and 10.19)
 *
 * A loop of your own:
 *
 *     st = tal_equations_begin(eq, state);              // consistent: c = 0
 *     y = tal_state_y(state) ...
 *     st = tal_equations_begin_step(eq, state, t, y);   // what is updated once per step
 *     st = tal_equations_rates(eq, state, t, y, ydot);  // as often as the method needs
 *     st = tal_equations_project(eq, state, t, y, e);   // the end of the step, and its error
 *     if (tal_equations_error_norm(eq, state, y, e) <= a) ...
 *
 * All numbers must be finite: a NaN or infinity in an input or a result is TAL_ERR_NOT_FINITE with
 * the name of the variable. No call allocates, except create.
 */

#include <talus/study/integrator.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup equations Equations for an integrator of your own
/// @{

/// The equations of a System. Opaque. Use from one thread at a time.
typedef struct tal_equations tal_equations;

/**
 * Create the equations. All memory they will ever use is taken here.
 *
 * @param[in]  system  its topology must be realized; must outlive the equations
 * @param[in]  def     accuracy, constraint_tolerance, infinity_norm, what is absolute; no others;
 *                     NULL means tal_integrator_def_default()
 * @param[out] out     owned by the caller; NULL on failure
 * @param[out] err     why it failed; may be NULL
 * @return as tal_integrator_create()
 */
TAL_API TAL_NODISCARD tal_status tal_equations_create(const tal_system *system,
                                                      const tal_integrator_def *def,
                                                      tal_equations **out, tal_error *err);

/// Free the equations. NULL is allowed.
TAL_API void tal_equations_destroy(tal_equations *eq);

/// Make a State consistent, as by a step of length zero: prescribed, projected, relaxed. Then
/// tal_state_t() and tal_state_y() are initial values, and the sizes of y and c are known.
TAL_API TAL_NODISCARD tal_status tal_equations_begin(tal_equations *eq, tal_state *state);

/// Number of constraint equations: those of qerr, then those of uerr. -1 before
/// TAL_STAGE_INSTANCE.
TAL_API int tal_equations_nc(const tal_equations *eq, const tal_state *state);

/// Tell the System that a step begins at t and y: sampled and auto-update variables are brought up
/// to date. Call it once for each accepted step, before evaluating rates.
/// @param[in] y  [ny]
TAL_API TAL_NODISCARD tal_status tal_equations_begin_step(tal_equations *eq, tal_state *state,
                                                          double t, const double y[]);

/**
 * f(t, y). Prescribed variables take their prescribed values, whatever y says, and fast ones are
 * relaxed; nothing is projected.
 *
 * @param[in]  y     [ny]
 * @param[out] ydot  [ny]
 */
TAL_API TAL_NODISCARD tal_status tal_equations_rates(tal_equations *eq, tal_state *state, double t,
                                                     const double y[], double ydot[]);

/// c(t, y) = {qerr, uerr}, tal_equations_nc() values.
/// @param[in]  y  [ny]
/// @param[out] c  [tal_equations_nc()]
TAL_API TAL_NODISCARD tal_status tal_equations_errors(tal_equations *eq, tal_state *state, double t,
                                                      const double y[], double c[]);

/**
 * Move y onto the constraints, and remove from the error of a step what that removes.
 *
 * @param[in,out] y      [ny] prescribed, projected and relaxed on return; the State is there
 * @param[in,out] error  [ny] estimated error of y, or NULL
 */
TAL_API TAL_NODISCARD tal_status tal_equations_project(tal_equations *eq, tal_state *state,
                                                       double t, double y[], double error[]);

/// @name Weights. They are those at the State's last t and y, from any of the calls above.
/// NaN, or TAL_ERR_NOT_FINITE, for values that are not finite.
/// @{

/// The norm |E e| of errors of y (`y` decides what is relative): the largest of those of q, u and
/// z.
/// @param[in] y  [ny]
/// @param[in] e  [ny]
TAL_API double tal_equations_error_norm(tal_equations *eq, tal_state *state, const double y[],
                                        const double e[]);

/// out = E e, [ny] each: E_q = N W_u N^+ (manual eq. 10.10), E_u and E_z = min(W, 1/|y|) or W.
/// @param[in]  y    [ny]
/// @param[in]  e    [ny]
/// @param[out] out  [ny]
TAL_API TAL_NODISCARD tal_status tal_equations_weigh(tal_equations *eq, tal_state *state,
                                                     const double y[], const double e[],
                                                     double out[]);

/// The norm |T c| of constraint errors: the larger of those of qerr and uerr.
/// @param[in] c  [tal_equations_nc()]
TAL_API double tal_equations_constraint_norm(tal_equations *eq, const tal_state *state,
                                             const double c[]);

/// The diagonal of T: T_p for qerr, t_c T_p for uerr of position constraints, T_v for the rest.
/// @param[out] T  [tal_equations_nc()]
TAL_API TAL_NODISCARD tal_status tal_equations_constraint_weights(tal_equations *eq,
                                                                  const tal_state *state,
                                                                  double T[]);

/**
 * Weights of the errors of all acceleration equations (udoterr), for methods that solve for
 * accelerations themselves (manual eq. 9.4 and sec. 9.4): T_pva = (t_c^2 T_p, t_c T_v, 1 / t_a).
 * The accelerations of a State meet these equations to round-off whatever their weights are.
 *
 * @param[in]  state  at TAL_STAGE_INSTANCE or above
 * @param[in]  t_a    [tal_matter_constraint_rows(matter, state).ma] unit errors of the equations on
 *                    accelerations alone [m/s^2 or rad/s^2]; NULL: 1 each
 * @param[out] T      [tal_state_pool_size(state, TAL_POOL_UDOTERR)] rows of other subsystems: 1
 * @return TAL_OK; TAL_ERR_BAD_VALUE for a unit error that is not positive and finite
 */
TAL_API TAL_NODISCARD tal_status tal_equations_acceleration_weights(tal_equations *eq,
                                                                    const tal_state *state,
                                                                    const double t_a[], double T[]);
/// @}

/// The last failure; status TAL_OK when there is none. Never NULL; borrowed until the next call.
TAL_API const tal_error *tal_equations_error(const tal_equations *eq);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_EQUATIONS_H
