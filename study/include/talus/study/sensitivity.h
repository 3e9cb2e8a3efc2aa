// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_SENSITIVITY_H
#define TALUS_STUDY_SENSITIVITY_H

/**
 * @file talus/study/sensitivity.h
 * @brief How a trajectory changes with parameters and starting values, and gradients of what is
 *        measured at its end.
 *
 *     const tal_parameter start = tal_parameter_u("speed", matter, ball, 0);
 *     tal_sensitivity_def def = tal_sensitivity_def_default();
 *     def.parameters = &start;
 *     def.num_parameters = 1;
 *     st = tal_sensitivity_create(system, &def, &study, &err);
 *     if (st == TAL_OK) st = tal_sensitivity_run(study, state, &speed, 2.0);
 *     if (st == TAL_OK) st = tal_sensitivity_of_measure(study, state, height, &gradient);
 *
 * The steps of an explicit Runge-Kutta method are differentiated, stage by stage: with y' = f(t, y,
 * p), S = dy/dp and J = df/dy,
 *
 *     k_i = f(Y_i),  k_i' = J Y_i' + f_p        Y_i' = S0 + h sum_j a_ij k_j'
 *
 * so the result is the derivative of the numbers that the method computes, not an approximation of
 * the derivative of the solution. Steps have one length, or are chosen by an `accuracy`; the
 * lengths that were chosen do not change with the parameters. J is exact where all forces know
 * their change, nothing is prescribed and there is no z (tal_system_is_differenced()); J Y'
 * otherwise, and f_p, are differences of fourth order along the direction, off by some 1e-11. Steps
 * end projected onto the constraints, which the derivatives follow, parameters of constraints
 * included.
 *
 * **Events** of handlers (talus/study/events.h) and of unilateral elements (talus/study/contacts.h)
 * happen in the run, and the derivatives jump with it: if e(t, y, p) = 0 says when, and y+ = R(t,
 * y-, p) what becomes of the State, then
 *
 *     dt/dp = -(e_y S- + e_p) / (e_t + e_y f-)
 *     S+ = R_y (S- + f- dt/dp) + R_t dt/dp + R_p - f+ dt/dp
 *
 * up to the error of the method. Triggered and scheduled events are followed, and those of the
 * start; others are not called. A trigger that only touches zero has no derivative: that is an
 * error which names it.
 *
 * **Adjoint gradients.** tal_sensitivity_gradient() goes forward once without derivatives, and back
 * through the same steps with those of one number: the same gradient, at a price that grows little
 * with the number of starting values.
 */

#include <talus/study/parameter.h>
#include <talus/study/tableau.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup sensitivity Sensitivities of trajectories
/// @{

/// Sensitivities of runs of one System. Opaque. Use from one thread at a time.
typedef struct tal_sensitivity tal_sensitivity;

/// What a study is created from. Obtain it from tal_sensitivity_def_default(), then edit.
typedef struct tal_sensitivity_def {
    const tal_parameter *parameters; ///< [num_parameters] copied
    int num_parameters;              ///< 0: only the motion, whose steps others can take
    const tal_rk_tableau *tableau;   ///< borrowed; NULL: tal_rk_dormand_prince()
    double step;                     ///< [s] no step is longer
    double accuracy; ///< of a step, as that of an integrator; 0: steps of one length
    int max_steps;   ///< room of runs with an accuracy, and of gradients
    int max_events;  ///< a run with more of them is an error
    bool gradients;  ///< take memory for tal_sensitivity_gradient()
    /// Take the steps that the last run of this study took, which may be one of another System with
    /// the same variables: then results differ smoothly from those of that run. NULL: none.
    /// Borrowed.
    const tal_sensitivity *steps_of;
} tal_sensitivity_def;

/// No parameters, Dormand and Prince's method, steps of 0.01 s, room for 10,000 steps and 1000
/// events, no gradients.
TAL_API tal_sensitivity_def tal_sensitivity_def_default(void);

/// Create a study: def -> create -> run -> destroy. `err` (or NULL) says what is wrong.
TAL_API TAL_NODISCARD tal_status tal_sensitivity_create(const tal_system *system,
                                                        const tal_sensitivity_def *def,
                                                        tal_sensitivity **out, tal_error *err);

/// Free a study. NULL is allowed.
TAL_API void tal_sensitivity_destroy(tal_sensitivity *study);

/**
 * Set the parameters, and move a State from where it is to `end_time`, or to where an event ends
 * the run.
 *
 * Its start is projected onto the constraints, and how that changes with the parameters counts.
 *
 * @param[in,out] state     at Model at least; on failure it is somewhere on the way
 * @param[in]     values    [num_parameters] of the parameters; may be NULL if there are none
 * @param[in]     end_time  [s] not before the State's time
 */
TAL_API TAL_NODISCARD tal_status tal_sensitivity_run(tal_sensitivity *study, tal_state *state,
                                                     const double values[], double end_time);

/// Go on to a later time with the State as the last call left it. A run that an event has ended
/// stays there.
TAL_API TAL_NODISCARD tal_status tal_sensitivity_continue(tal_sensitivity *study, tal_state *state,
                                                          double end_time);

/// Has an event ended the last run?
TAL_API bool tal_sensitivity_has_ended(const tal_sensitivity *study);

/// dy/dp at the time where the last run is, ny x num_parameters: y = {q, u, z} of the State.
/// Borrowed until the next run; no rows before the first.
TAL_API tal_matrix tal_sensitivity_matrix(const tal_sensitivity *study);

/**
 * How the end of the last run changes with the parameters: zero, unless an event has ended it.
 *
 * @param[out] slopes  [num_parameters] dt/dp
 */
TAL_API TAL_NODISCARD tal_status tal_sensitivity_of_end_time(const tal_sensitivity *study,
                                                             double slopes[]);

/**
 * The gradient of a measure of size 1 where the last run is, by differences of the measure along
 * the columns of dy/dp, with the parameters it may depend on. Where an event has ended the run, its
 * time moves, too.
 *
 * @param[in]  state     as the run left it; stays as it is
 * @param[out] gradient  [num_parameters]
 */
TAL_API TAL_NODISCARD tal_status tal_sensitivity_of_measure(tal_sensitivity *study,
                                                            const tal_state *state,
                                                            tal_measure_ix measure,
                                                            double gradient[]);

/**
 * The same for any numbers of a State.
 *
 * @param[in]  read     fills in n numbers; the State is at TAL_STAGE_ACCELERATION
 * @param[in]  context  handed to `read`
 * @param[in]  n        how many
 * @param[out] slopes   [(num_parameters + 1) * n] those by one parameter after those by the other;
 *                      behind them is room for n numbers
 */
TAL_API TAL_NODISCARD tal_status tal_sensitivity_of_numbers(
    tal_sensitivity *study, const tal_state *state,
    tal_status (*read)(void *context, const tal_system *system, tal_state *state, double numbers[]),
    void *context, int n, double slopes[]);

/**
 * Set the parameters, move a State to `end_time` as tal_sensitivity_run() does, and find the
 * gradient of a measure of size 1 there, going back through the same steps.
 *
 * tal_sensitivity_matrix() has no rows afterwards. Needs `gradients` in the def.
 *
 * @param[in,out] state     as for tal_sensitivity_run()
 * @param[in]     values    [num_parameters]
 * @param[out]    gradient  [num_parameters]
 */
TAL_API TAL_NODISCARD tal_status tal_sensitivity_gradient(tal_sensitivity *study, tal_state *state,
                                                          const double values[], double end_time,
                                                          tal_measure_ix measure,
                                                          double gradient[]);

/// What a run did.
typedef struct tal_sensitivity_stats {
    uint64_t steps;  ///< that were taken
    uint64_t errors; ///< trial steps whose error was too large
    uint64_t events; ///< that happened
    uint64_t rates;  ///< evaluations of ydot, those of differences included
} tal_sensitivity_stats;

/// Of the last run, and its gradient. Zeros for NULL.
TAL_API tal_sensitivity_stats tal_sensitivity_statistics(const tal_sensitivity *study);

/// The last failure; status TAL_OK when there is none. Never NULL; borrowed until the next call.
TAL_API const tal_error *tal_sensitivity_error(const tal_sensitivity *study);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_SENSITIVITY_H
