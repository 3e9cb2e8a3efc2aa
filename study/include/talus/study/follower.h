// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_FOLLOWER_H
#define TALUS_STUDY_FOLLOWER_H

/**
 * @file talus/study/follower.h
 * @brief Controls that make a model follow a motion: computed muscle control, and residual
 * reduction, which is the same without muscles.
 *
 *     tal_follower_def def = tal_follower_def_default();
 *     def.tasks = tasks;
 *     def.num_tasks = 3;
 *     def.calc_desired = my_motion;
 *     st = tal_follower_create(system, forces, &def, &follower, &err);
 *     st = tal_follower_start(follower, state);
 *     while (st == TAL_OK && tal_state_t(state) < end) st = tal_follower_step(follower, state);
 *
 * The model is integrated forward, window by window (ThelenCMC). Where a window begins, each task
 * wants an acceleration, that of the motion at the end of the window, corrected by errors now:
 *
 *     a* = ka udot(t + T) + kv (u(t) - u) + kp N^+ (q(t) - q)
 *
 * Of all forces that give these accelerations, and that muscles can reach within the window, the
 * ones with the least effort are taken; then the excitation of each muscle that reaches its force:
 *
 *     minimize sum_j (F_j / f_j)^2  subject to  A F + b = a*,  F-_j <= F_j <= F+_j
 *
 * where f_j is the strength of a muscle (tal_muscle_calc_strength()) or the gain of an actuator, A
 * the accelerations of unit forces, and b those of all else. F counts passive forces, too: it is
 * what pulls on the bones. With `is_soft` accelerations are met as well as their weight is worth:
 *
 *     minimize sum_i w_i (a_i - a*_i)^2 + sum_j (F_j / f_j)^2
 *
 * with the maximal isometric force as f_j of muscles. A window without muscles is residual
 * reduction: actuators at the root of the model take what the motion and its loads do not explain.
 *
 * Excitations of muscles are constant over a window; controls of other actuators go in a straight
 * line from one end to the other, in steps of at most a millisecond. With kv = 2 sqrt(kp) an error
 * dies out as fast as it can without overshoot.
 */

#include <talus/common/effort.h>
#include <talus/forces.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup follower Following a motion
/// @{

/// A speed of matter that follows the motion.
typedef struct tal_follower_task {
    tal_mobility mobility;
    double kp;     ///< [1/s^2] of errors of position
    double kv;     ///< [1/s] of errors of speed
    double ka;     ///< of the motion's acceleration
    double weight; ///< w; positive
    /// [rad or m] 0: none. With `is_soft`: effort counts less where an error comes near to it, by
    /// 1 / (1 + exp((|e| - limit) / (limit / 10)))
    double limit;
} tal_follower_task;

/// kp 100, kv 20, ka 1, weight 1, no limit.
TAL_API tal_follower_task tal_follower_task_default(void);

/// What a follower is created from. Obtain it from tal_follower_def_default(), then edit.
typedef struct tal_follower_def {
    const tal_follower_task *tasks; ///< [num_tasks] copied
    int num_tasks;
    /// [num_actuators] muscles and actuators that work; NULL: all. Those that are not listed keep
    /// the controls they have in the State.
    const tal_force_ix *actuators;
    int num_actuators;
    /// The motion: all of q, u and udot of matter at time t. Called with times from that of the
    /// State to the end of its window. What it returns ends the call.
    /// @param[out] q     [nq]
    /// @param[out] u     [nu]
    /// @param[out] udot  [nu]
    tal_status (*calc_desired)(void *context, double t, double q[], double u[], double udot[]);
    void *context;           ///< handed to `calc_desired`
    double window;           ///< T [s]; 0.010
    double least_excitation; ///< of muscles, unless their control has to be larger; 0.02
    bool is_soft;
    double accuracy; ///< of the integrator; 1e-5
    double max_step; ///< of the integrator [s]; 0: no limit
} tal_follower_def;

/// All actuators, windows of 10 ms, accelerations exactly as wanted.
TAL_API tal_follower_def tal_follower_def_default(void);

/// Follows a motion. Opaque. Use from one thread at a time.
typedef struct tal_follower tal_follower;

/**
 * Create a follower. All memory it will ever use is taken here.
 *
 * @param[in]  system  its topology must be realized; must outlive the study
 * @param[in]  forces  of the System
 * @param[in]  def     copied; `calc_desired` is needed
 * @param[out] out     owned by the caller; NULL on failure
 * @param[out] err     may be NULL
 * @return TAL_OK; TAL_ERR_NULL without a motion; TAL_ERR_BAD_INDEX or TAL_ERR_BAD_VALUE for a task
 *         or an actuator that does not exist or is named twice, for a number of `def`, or when
 *         there is no actuator; TAL_ERR_NO_MEMORY, TAL_ERR_TOPOLOGY
 */
TAL_API TAL_NODISCARD tal_status tal_follower_create(const tal_system *system,
                                                     const tal_forces *forces,
                                                     const tal_follower_def *def,
                                                     tal_follower **out, tal_error *err);

/// Free a follower. NULL is allowed.
TAL_API void tal_follower_destroy(tal_follower *follower);

/// @name A run
/// @{

/**
 * Begin: the State gets the motion at its time, and controls for its first window.
 *
 * Muscles need time to reach any force. They begin in equilibrium at their least excitation; then
 * twice the excitations for a window of 30 ms are found, with which they are in equilibrium the
 * second time; and the State begins 30 ms later, with the activations and fibers that these lead
 * to. Without muscles it begins at its time.
 *
 * @param[in,out] state  its time, parameters, and ranges of controls are read
 * @return as tal_follower_step()
 */
TAL_API TAL_NODISCARD tal_status tal_follower_start(tal_follower *follower, tal_state *state);

/**
 * One window: find the controls, and integrate the State to its end.
 *
 * Call tal_follower_start() first, or set q, u and z by hand and step from there.
 *
 * @param[in,out] state  on failure, where the integrator left it; its controls are those of the
 *                       window
 * @return TAL_OK; TAL_ERR_INFEASIBLE after a complete window in which the actuators were too weak
 *         for some acceleration: the nearest was taken, tal_follower_report() says how near, and
 *         the run can go on; TAL_ERR_BAD_VALUE for a controller that would add to the controls;
 *         what `calc_desired`, realizing or the integrator returned
 */
TAL_API TAL_NODISCARD tal_status tal_follower_step(tal_follower *follower, tal_state *state);

/// The last failure; status TAL_OK when there is none. Never NULL; borrowed until the next call.
TAL_API const tal_error *tal_follower_error(const tal_follower *follower);

/// @}
/// @name What was found
/// @{

/// Number of controls, n: one for each actuator, six for a body actuator. -1 for NULL.
TAL_API int tal_follower_num(const tal_follower *follower);

/// The element that control number j belongs to, and which of its controls it is; `i` < 0 on a
/// breach.
/// @param[out] part  0, or 0 to 5 for a body actuator; may be NULL
TAL_API tal_force_ix tal_follower_actuator(const tal_follower *follower, int j, int *part);

/// The controls at the end of the last window, [tal_follower_num()]. Borrowed; NULL for NULL.
TAL_API const double *tal_follower_controls(const tal_follower *follower);

/// The forces wanted there [N or N m], [tal_follower_num()]. Borrowed; NULL for NULL.
TAL_API const double *tal_follower_forces(const tal_follower *follower);

/// How far the State is from the motion, q(t) - q along each task's speed, and u(t) - u.
/// @param[in]  state     as it is; it is copied
/// @param[out] position  [num_tasks of the def] [rad or m]
/// @param[out] speed     [num_tasks of the def]; may be NULL
TAL_API TAL_NODISCARD tal_status tal_follower_calc_errors(tal_follower *follower,
                                                          const tal_state *state, double position[],
                                                          double speed[]);

/// How the last window was solved.
typedef struct tal_follower_window {
    tal_effort_report report; ///< of the solver
    int num_weak;             ///< muscles whose force hardly depends on their excitation now
    int task;                 ///< that lacks most; -1: all accelerations are as wanted
    double lack;              ///< of its acceleration, a* - a [rad/s^2 or m/s^2]
} tal_follower_window;

/// How the last window was solved. Zeros, and task -1, before the first one and for NULL.
TAL_API tal_follower_window tal_follower_report(const tal_follower *follower);

/// @}
/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_FOLLOWER_H
