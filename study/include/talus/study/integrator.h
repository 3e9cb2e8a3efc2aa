// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_INTEGRATOR_H
#define TALUS_STUDY_INTEGRATOR_H

/**
 * @file talus/study/integrator.h
 * @brief Stepping a State through time.
 *
 *     tal_integrator_def def = tal_integrator_def_default();
 *     def.accuracy = 1e-6;
 *     tal_integrator *integ = NULL;
 *     st = tal_integrator_create(system, &def, &integ, &err);
 *     if (st == TAL_OK) st = tal_integrator_step_to(integ, state, 10.0);
 *     tal_integrator_destroy(integ);
 *
 * Each step follows manual sec. 10.4: the start of the step, the stages (each prescribed and
 * relaxed), then the end of the step prescribed, projected, tested and relaxed.
 *
 * Accuracy is a fraction of what counts as a unit change (manual sec. 9.1 and 9.2). With the
 * weights W of the State (tal_state_weights(), 1 unless set) and the estimated error e of one step:
 *
 *     q    norm of W_u N^+ e_q             always absolute
 *     u    norm of min(W_u, 1/|u|) e_u     relative unless set otherwise
 *     z    norm of min(W_z, 1/|z|) e_z     the same
 *
 * and each of the three norms must be at most a quarter of the accuracy a: errors of many steps add
 * up. Those of backward differentiation formulas all have one sign, so that their steps are held to
 * 0.03 a^(6/5) with TAL_METHOD_CVODE_BDF and 0.1 a^(6/5) with TAL_METHOD_IDA, but to no less than
 * round-off of y allows: accuracies below 1e-10 have no effect. The error of q is weighted as a
 * motion (manual eq. 9.3 multiplies by N once more), so that a rotation counts the same whether a
 * quaternion or angles describe it.
 *
 * The error of a run is proportional to the accuracy for methods that estimate the error of a lower
 * order than their own, which is all except Euler's and semi-explicit Euler's: for these it is
 * proportional to the root of the accuracy. The factor depends on the system. The energy of a
 * closed loop changes by less than the accuracy in 10 s (with TAL_METHOD_IDA at 1e-3: by up to 1.5
 * times that), while a chaotic motion multiplies any error.
 */

#include <talus/state.h>
#include <talus/study/tableau.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup integrator Integrators
/// @{

/// How a step is made. Those from CVODE on are SUNDIALS' solvers; the implicit ones are for stiff
/// systems. All except CVODE and IDA, which are multistep methods, can run with fixed steps too.
typedef enum tal_method {
    TAL_METHOD_RUNGE_KUTTA,         ///< the one in def.tableau
    TAL_METHOD_SEMI_EXPLICIT_EULER, ///< order 1: u first, then q with it; controlled by doubling
    /// order 2 (manual sec. 10.4); needs the qdotdot of every coordinate. Where M is constant the
    /// energy does not drift; in angles it does (doc/time_stepping.md). `accuracy` says how well u
    /// is solved for in a step
    TAL_METHOD_VERLET,
    TAL_METHOD_CVODE_BDF,   ///< CVODE: implicit, orders 1 to 5, projected (manual sec. 10.1)
    TAL_METHOD_CVODE_ADAMS, ///< CVODE: orders 1 to 12, projected, not stiff
    TAL_METHOD_IDA,         ///< IDA: as BDF, with constraints and multipliers among the equations
    /// ARKODE: explicit Runge-Kutta of def.order 2 to 6 or 8, projected. ARKODE 6.4.1 writes to an
    /// array that it was not given if the C library refuses it at create. A larger block is asked
    /// for just before, so that this can happen only when another thread uses up the heap in
    /// between. The same holds for the next method
    TAL_METHOD_ARKODE_EXPLICIT,
    /// ARKODE: diagonally implicit Runge-Kutta of def.order 2 to 5, projected
    TAL_METHOD_ARKODE_DIRK
} tal_method;

/// How implicit methods solve for a step.
typedef enum tal_linear_solver {
    TAL_LINEAR_DENSE, ///< Newton's method with a Jacobian of ny columns, kept over many steps
    TAL_LINEAR_GMRES  ///< Newton's method with products J v only: for large systems, a little stiff
} tal_linear_solver;

/// What an integrator is created from. Obtain it from tal_integrator_def_default(), then edit.
typedef struct tal_integrator_def {
    tal_method method;
    const tal_rk_tableau *tableau; ///< of TAL_METHOD_RUNGE_KUTTA; must outlive the integrator
    double accuracy; ///< wanted, as a fraction: e.g. 1e-3 for 0.1 %; not below DBL_EPSILON, 2.2e-16
    double fixed_step; ///< [s] > 0: steps of this size, the last of a call perhaps shorter; errors
                       ///< are not controlled, and min_step and max_step do not count. 0:
                       ///< controlled, as it must be for CVODE and IDA
    double initial_step; ///< [s] first step to try; 0: chosen from accuracy and time scale
    double min_step;     ///< [s] with smaller ones the run fails; 0: what t can resolve
    double max_step;     ///< [s] 0: no limit
    long max_steps;      ///< most steps one call of tal_integrator_step_to() may try, and one of
                         ///< tal_recorder_run() may take; 0: no limit
    bool infinity_norm;  ///< largest weighted error instead of their root mean square
    bool absolute_u;     ///< u to absolute accuracy
    bool absolute_z;     ///< z to absolute accuracy
    /// The same for single variables: those that are true, in the order of the State ([nu] and
    /// [nz], as large as they can become); must outlive the integrator. NULL: none.
    const bool *absolute_u_each;
    const bool *absolute_z_each;
    double
        constraint_tolerance; ///< wanted norm of constraint errors; 0: a hundredth of the accuracy
    bool project_every_step;  ///< project even when constraint errors are within tolerance
    /// [1/s] > 0: Baumgarte stabilization, for comparison. Constraint errors decay as e^(-baumgarte
    /// t) instead of being projected, except at the start; the constraint tolerance is not kept,
    /// and the system becomes stiffer. With any method except TAL_METHOD_IDA. 0: projection.
    double baumgarte;
    /// [1/s] The second rate, beta in perr'' + 2 alpha perr' + beta^2 perr = 0, where alpha is
    /// `baumgarte`: beta > alpha lets position errors swing. 0: as `baumgarte`. Needs `baumgarte`.
    double baumgarte_beta;
    /// CVODE, IDA: highest order, 0: the highest there is. ARKODE: order of the table, 0: 5 if
    /// explicit, 4 if implicit.
    int order;
    tal_linear_solver linear_solver; ///< of implicit methods
    /// Take a System with colliders (talus/matter/collider.h), which pass through each other then.
    /// False: it is refused, since only a tal_contact_stepper takes them into account, unless
    /// tal_matter_add_collider_elements() has put unilateral elements in their places.
    bool ignores_colliders;
} tal_integrator_def;

/// Merson 4(3), accuracy 1e-3, controlled steps of any size and number, RMS norms.
TAL_API tal_integrator_def tal_integrator_def_default(void);

/// Steps States of one System through time. Opaque. Use from one thread at a time.
typedef struct tal_integrator tal_integrator;

/**
 * Create an integrator. All memory it will ever use is taken here.
 *
 * @param[in]  system  its topology must be realized; must outlive the integrator
 * @param[in]  def     copied; NULL means tal_integrator_def_default()
 * @param[out] out     the integrator, owned by the caller; NULL on failure
 * @param[out] err     why it failed; may be NULL
 * @return TAL_OK, TAL_ERR_NULL, TAL_ERR_TOPOLOGY, TAL_ERR_NO_MEMORY; TAL_ERR_BAD_VALUE for a
 *         number of `def`, and for colliders unless these are to be ignored
 */
TAL_API TAL_NODISCARD tal_status tal_integrator_create(const tal_system *system,
                                                       const tal_integrator_def *def,
                                                       tal_integrator **out, tal_error *err);

/// Free an integrator. NULL is allowed.
TAL_API void tal_integrator_destroy(tal_integrator *integ);

/**
 * Step a State to time `t`, which is met exactly.
 *
 * Before the first step the State is made consistent, as by a step of length zero: prescribed,
 * projected, relaxed. Projection repairs small errors; a State that is far from its constraints
 * must be assembled first (talus/study/assembler.h). On success it is realized to
 * TAL_STAGE_ACCELERATION.
 *
 * @param[in,out] state  on failure, at the end of the last good step
 * @param[in]     t      [s] not before the State's time
 * @return TAL_OK;
 *         TAL_ERR_STEP_TOO_SMALL when the accuracy cannot be met with steps worth taking: the
 *         sentence has the time and the variable that limits the step;
 *         TAL_ERR_STEP_LIMIT after max_steps;
 *         TAL_ERR_NOT_FINITE for a NaN or infinity that smaller steps do not avoid: a hundred
 *         evaluations later at most;
 *         or what a subsystem returned. tal_integrator_error() has the sentence.
 */
TAL_API TAL_NODISCARD tal_status tal_integrator_step_to(tal_integrator *integ, tal_state *state,
                                                        double t);

/**
 * Take one step, as long as the accuracy allows but not past `t_max`.
 *
 * With tal_integrator_interpolate() this gives results at any times without changing the steps:
 *
 *     while (tal_state_t(state) < t_end && st == TAL_OK) {
 *         st = tal_integrator_step(integ, state, t_end);
 *         for (; st == TAL_OK && next <= tal_state_t(state); next += 0.1) {
 *             st = tal_integrator_interpolate(integ, state, next, report);
 *         }
 *     }
 *
 * Otherwise as tal_integrator_step_to(). At `t_max` already: no step.
 */
TAL_API TAL_NODISCARD tal_status tal_integrator_step(tal_integrator *integ, tal_state *state,
                                                     double t_max);

/**
 * The State at a time within the last step.
 *
 * It is as exact as the ends of steps. The polynomials of CVODE, IDA and ARKODE's implicit methods
 * have this accuracy (ARKODE's are 2 to 3 times worse in contact with friction). One-step methods,
 * including ARKODE's explicit ones, evaluate rates along the cubic between the ends until the
 * changes are within the error allowed for the step; if that does not succeed, they take the step
 * once more, to `t`. With fixed steps the polynomial has the order of the method, up to 7. The next
 * steps are not affected. Then y is prescribed, projected and
 * relaxed as the end of a step is. Discrete variables are those of `state`.
 *
 * @param[in]  state  as the last call of tal_integrator_step() or tal_integrator_step_to() left it
 * @param[in]  t      [s] from the start of the last step to its end
 * @param[out] out    another State of the same System; realized to TAL_STAGE_VELOCITY at least. At
 *                    the end of the step it equals `state`.
 * @return TAL_OK; TAL_ERR_BAD_VALUE when there is no such step or `t` is outside; or what
 *         projecting returned
 */
TAL_API TAL_NODISCARD tal_status tal_integrator_interpolate(tal_integrator *integ,
                                                            const tal_state *state, double t,
                                                            tal_state *out);

/**
 * Go back to a time within the last step, as if the step had ended there.
 *
 * Needed when an event is found inside a step. One-step methods, ARKODE's included, take the step
 * again, to `t`; the others use their dense output and restart from it.
 *
 * @param[in,out] state  as the last call of tal_integrator_step() or tal_integrator_step_to() left
 *                       it; on success realized to TAL_STAGE_ACCELERATION, on failure at the start
 *                       of the step
 * @param[in]     t      [s] from the start of the last step to its end
 * @return as tal_integrator_interpolate()
 */
TAL_API TAL_NODISCARD tal_status tal_integrator_back_up(tal_integrator *integ, tal_state *state,
                                                        double t);

/// The last failure; status TAL_OK when there is none. Never NULL; borrowed until the next call.
TAL_API const tal_error *tal_integrator_error(const tal_integrator *integ);

/// What an integrator has done so far.
typedef struct tal_integrator_stats {
    uint64_t steps_attempted;      ///< steps tried
    uint64_t steps_taken;          ///< steps accepted
    uint64_t error_failures;       ///< steps refused because their error was too large
    uint64_t other_failures;       ///< steps refused because something could not be computed
    uint64_t realizations;         ///< realizations of ydot; one known from the step before is free
    uint64_t jacobians;            ///< Jacobians of ydot; their realizations are counted above
    uint64_t nonlinear_iterations; ///< of implicit methods
    uint64_t projections;          ///< within steps of SUNDIALS' solvers
    uint64_t restarts;             ///< times SUNDIALS' solvers restarted; the start of a run counts
    double last_step;              ///< [s] length of the last step taken; 0 before the first
    double next_step;              ///< [s] the step to be tried next; 0 before the first
    double last_error;             ///< norm of the last step's weighted error; 0 for fixed steps
} tal_integrator_stats;

/// The counters so far.
TAL_API tal_integrator_stats tal_integrator_statistics(const tal_integrator *integ);

/// Forget the step size and everything else kept from the last call: begin as after create. Call it
/// for another State, or for one that has been changed by more than a step would change it.
TAL_API void tal_integrator_reset(tal_integrator *integ);

/// @name Saving what the next step needs besides the State.
/// With a State saved by tal_state_save() at the same time, as the last step left it, a run resumes
/// bit for bit, in another process too. One-step methods can be saved after any step; methods that
/// remember several only after tal_integrator_checkpoint(). A time stepper does all this:
/// tal_time_stepper_save().
/// @{

/// Forget what is kept of earlier steps, except the size of the next. A run that continues from
/// here and one that is resumed from here then take the same steps.
TAL_API void tal_integrator_checkpoint(tal_integrator *integ);

/// Bytes that tal_integrator_save() writes. 0 for NULL.
TAL_API size_t tal_integrator_save_size(const tal_integrator *integ);

/// Write to memory of `size` bytes. TAL_ERR_STAGE when the method cannot be resumed from here,
/// TAL_ERR_CAPACITY when the memory is too small.
TAL_API TAL_NODISCARD tal_status tal_integrator_save(tal_integrator *integ, void *bytes,
                                                     size_t size);

/**
 * Read what tal_integrator_save() wrote.
 *
 * @param[in,out] state  the State of the same moment, loaded by tal_state_load(); realized to
 *                       TAL_STAGE_ACCELERATION
 * @return TAL_OK; TAL_ERR_FILE for bytes that are damaged or of an integrator of another System,
 *         method or accuracy: the integrator is as it was; or what realizing returned
 */
TAL_API TAL_NODISCARD tal_status tal_integrator_restore(tal_integrator *integ, tal_state *state,
                                                        const void *bytes, size_t size);
/// @}

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_INTEGRATOR_H
