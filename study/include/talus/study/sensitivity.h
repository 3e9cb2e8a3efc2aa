// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_SENSITIVITY_H
#define TALUS_STUDY_SENSITIVITY_H

/**
 * @file talus/study/sensitivity.h
 * @brief How a trajectory changes with parameters and starting values, and the gradient of what is
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
 * The steps of an explicit Runge-Kutta method of fixed length are differentiated, stage by stage:
 * with y' = f(t, y, p), S = dy/dp and J = df/dy,
 *
 *     k_i = f(Y_i),  k_i' = J Y_i' + f_p        Y_i' = S0 + h sum_j a_ij k_j'
 *
 * so the result is the derivative of the numbers that the method computes, not an approximation of
 * the derivative of the solution. J is exact where all forces know their change, nothing is
 * prescribed and there is no z (tal_system_is_differenced()); J Y' otherwise, and f_p, are
 * differences of fourth order along the direction, off by some 1e-11. Steps end projected onto the
 * constraints, which the derivatives follow, parameters of constraints included.
 *
 * A run has no events: impacts, and elements that close or open, are not followed.
 */

#include <talus/study/parameter.h>
#include <talus/study/tableau.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup sensitivity Sensitivities of trajectories
/// @{

/// What a study is created from. Obtain it from tal_sensitivity_def_default(), then edit.
typedef struct tal_sensitivity_def {
    const tal_parameter *parameters; ///< [num_parameters] copied
    int num_parameters;              ///< 1 or more
    const tal_rk_tableau *tableau;   ///< borrowed; NULL: tal_rk_dormand_prince()
    double step;                     ///< [s] no step is longer; a run has steps of one length
} tal_sensitivity_def;

/// No parameters, Dormand and Prince's method, steps of 0.01 s.
TAL_API tal_sensitivity_def tal_sensitivity_def_default(void);

/// Sensitivities of runs of one System. Opaque. Use from one thread at a time.
typedef struct tal_sensitivity tal_sensitivity;

/// Create a study: def -> create -> run -> destroy. `err` (or NULL) says what is wrong.
TAL_API TAL_NODISCARD tal_status tal_sensitivity_create(const tal_system *system,
                                                        const tal_sensitivity_def *def,
                                                        tal_sensitivity **out, tal_error *err);

/// Free a study. NULL is allowed.
TAL_API void tal_sensitivity_destroy(tal_sensitivity *study);

/**
 * Set the parameters, and move a State from where it is to `end_time`.
 *
 * Its start is projected onto the constraints, and how that changes with the parameters counts.
 *
 * @param[in,out] state     at Model at least; on failure it is somewhere on the way
 * @param[in]     values    [num_parameters] of the parameters
 * @param[in]     end_time  [s] not before the State's time
 */
TAL_API TAL_NODISCARD tal_status tal_sensitivity_run(tal_sensitivity *study, tal_state *state,
                                                     const double values[], double end_time);

/// dy/dp at the end of the last run, ny x num_parameters: y = {q, u, z} of the State. Borrowed
/// until the next run; no rows before the first.
TAL_API tal_matrix tal_sensitivity_matrix(const tal_sensitivity *study);

/**
 * The gradient of a measure of size 1 at the end of the last run, by differences of the measure
 * along the columns of dy/dp, with the parameters it may depend on.
 *
 * @param[in]  state     as the run left it; stays as it is
 * @param[out] gradient  [num_parameters]
 */
TAL_API TAL_NODISCARD tal_status tal_sensitivity_of_measure(tal_sensitivity *study,
                                                            const tal_state *state,
                                                            tal_measure_ix measure,
                                                            double gradient[]);

/// The last failure; status TAL_OK when there is none. Never NULL; borrowed until the next call.
TAL_API const tal_error *tal_sensitivity_error(const tal_sensitivity *study);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_SENSITIVITY_H
