// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_STATIC_OPTIMIZER_H
#define TALUS_STUDY_STATIC_OPTIMIZER_H

/**
 * @file talus/study/static_optimizer.h
 * @brief Static optimization: which muscles make a known motion, with the least effort?
 *
 *     tal_static_optimizer *optimizer = NULL;
 *     st = tal_static_optimizer_create(system, forces, NULL, &optimizer, &err);
 *     ...
 *     for each frame: set t, q and u of the State; udot as measured
 *         st = tal_static_optimizer_solve(optimizer, state, udot, x, NULL, lack, NULL);
 *     tal_static_optimizer_destroy(optimizer);
 *
 * At an instant of the motion every muscle has a strength: the force of its active fibers at full
 * activation, on a rigid tendon (tal_muscle_calc_strength()). Passive forces of muscles are not
 * counted. Of all activations x that give udot, the answer is the one with the least effort
 * (talus/common/effort.h):
 *
 *     minimize sum_j |x_j|^p  subject to  sum_j (K^T g_j f_j) x_j = K^T tau,  lower <= x <= upper
 *
 * with g_j the generalized forces of a unit force of actuator j, f_j its strength, and tau the
 * generalized forces that the motion takes beyond those of all other elements. The columns of K are
 * the motions that the constraints allow, one for each independent speed, so that constraint forces
 * drop out. Other actuators take part as muscles do: their strength is the gain, x their control.
 * The bounds of x are the range of the control (tal_actuator_set_control_range()).
 *
 * The answer is exact: its multipliers prove it, and a frame that the actuators are not strong
 * enough for gets the nearest answer together with what each speed lacks.
 */

#include <talus/common/effort.h>
#include <talus/forces.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup static_optimizer Static optimization
/// @{

/// What static optimization is created from. Obtain it from tal_static_optimizer_def_default(),
/// then edit.
typedef struct tal_static_optimizer_def {
    /// [num_actuators] muscles and actuators; NULL: all that the System has. Those that a State
    /// disables have x = 0, or the bound that is nearest to it.
    const tal_force_ix *actuators;
    int num_actuators;
    double exponent;    ///< p, as tal_effort_problem.exponent
    bool no_physiology; ///< the strength of a muscle is F0, whatever its length and speed
    /// [nu] speeds that follow others by constraints: their udot is not asked of the caller, and
    /// none of them gets an equation as long as others can. NULL: none.
    const bool *dependent;
} tal_static_optimizer_def;

/// All actuators, exponent 2.
TAL_API tal_static_optimizer_def tal_static_optimizer_def_default(void);

/// Finds activations. Opaque. Use from one thread at a time.
typedef struct tal_static_optimizer tal_static_optimizer;

/**
 * Create a static optimization. All memory it will ever use is taken here.
 *
 * @param[in]  system  its topology must be realized; must outlive the study
 * @param[in]  forces  of the System; its elements that are no actuators act as they are
 * @param[in]  def     copied; NULL means tal_static_optimizer_def_default()
 * @param[out] out     owned by the caller; NULL on failure
 * @param[out] err     may be NULL
 * @return TAL_OK; TAL_ERR_BAD_INDEX or TAL_ERR_BAD_VALUE for an actuator that does not exist, has
 *         no control, or is named twice; TAL_ERR_BAD_VALUE for an exponent outside its range, or
 *         when there is no actuator; TAL_ERR_NO_MEMORY, TAL_ERR_NULL, TAL_ERR_TOPOLOGY
 */
TAL_API TAL_NODISCARD tal_status tal_static_optimizer_create(const tal_system *system,
                                                             const tal_forces *forces,
                                                             const tal_static_optimizer_def *def,
                                                             tal_static_optimizer **out,
                                                             tal_error *err);

/// Free a study. NULL is allowed.
TAL_API void tal_static_optimizer_destroy(tal_static_optimizer *optimizer);

/// Number of activations and controls, n: one for each actuator, six for a body actuator. -1 for
/// NULL.
TAL_API int tal_static_optimizer_num(const tal_static_optimizer *optimizer);

/// The element that number j belongs to, and which of its controls it is; `i` < 0 on a breach.
/// @param[out] part  0, or 0 to 5 for a body actuator; may be NULL
TAL_API tal_force_ix tal_static_optimizer_actuator(const tal_static_optimizer *optimizer, int j,
                                                   int *part);

/// How a frame was solved.
typedef struct tal_static_frame {
    tal_effort_report report; ///< of the solver; `worst` is a row, see `speed`
    double effort;            ///< sum_j |x_j|^p
    int num_rows;             ///< equations: motions that the constraints allow
    int speed;                ///< the speed of matter that lacks most; -1: none lacks anything
    double lack;              ///< what it lacks [N or N m]
} tal_static_frame;

/**
 * Find the activations of one frame.
 *
 * A frame begins with the multipliers of the frame before; they only make it faster. Call
 * tal_static_optimizer_restart() where a sequence begins whose results must be the same bytes.
 *
 * @param[in]  state  t, q and u of the frame, which meet the constraints; parameters of elements;
 *                    stays as it is
 * @param[in]  udot   [nu] accelerations of matter's speeds. Those of dependent speeds follow from
 *                    the constraints instead
 * @param[out] x      [tal_static_optimizer_num()] activations of muscles, controls of others
 * @param[out] force  [tal_static_optimizer_num()] x times strength [N or N m]; may be NULL
 * @param[out] lack   [nu] generalized forces that are missing; zero where nothing is; may be NULL
 * @param[out] frame  may be NULL
 * @return TAL_OK; TAL_ERR_INFEASIBLE when the actuators are too weak: x is then the nearest answer,
 *         and the sentence names the coordinate that lacks most; TAL_ERR_NO_CONVERGENCE;
 *         TAL_ERR_NOT_FINITE; or what realizing returned
 */
TAL_API TAL_NODISCARD tal_status tal_static_optimizer_solve(tal_static_optimizer *optimizer,
                                                            const tal_state *state,
                                                            const double udot[], double x[],
                                                            double force[], double lack[],
                                                            tal_static_frame *frame);

/// Forget the multipliers of the frame before.
TAL_API void tal_static_optimizer_restart(tal_static_optimizer *optimizer);

/// The last failure; status TAL_OK when there is none. Never NULL; borrowed until the next call.
TAL_API const tal_error *tal_static_optimizer_error(const tal_static_optimizer *optimizer);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_STATIC_OPTIMIZER_H
