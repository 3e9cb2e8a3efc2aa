// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_SWEEP_H
#define TALUS_STUDY_SWEEP_H

/**
 * @file talus/study/sweep.h
 * @brief Parameter studies: how results change when parameters of the State are varied. Grids,
 * random
 *        samples, and parameters fitted to wanted results.
 *
 *     const tal_parameter mass = tal_parameter_mass("payload", matter, hand);
 *     tal_sweep_def def = tal_sweep_def_default();
 *     def.parameters = &mass;
 *     def.num_parameters = 1;
 *     def.outputs = &height;        // a measure
 *     def.num_outputs = 1;
 *     def.end_time = 2.0;           // simulate first
 *     st = tal_sweep_create(system, &def, &sweep, &err);
 *     if (st == TAL_OK) st = tal_sweep_run(sweep, start, masses, 100, heights, NULL);
 *
 * There is one System; every sample gets a copy of one State. Samples are independent of each
 * other, so results do not depend on the number of threads.
 */

#include <talus/forces.h>
#include <talus/study/integrator.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup sweep Parameter studies
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

/// What a study is created from. Obtain it from tal_sweep_def_default(), then edit. Arrays are
/// copied.
typedef struct tal_sweep_def {
    const tal_parameter *parameters;
    int num_parameters;            ///< 0: samples differ by what `run` does
    const tal_measure_ix *outputs; ///< measures of size 1, read at the end of each sample
    int num_outputs;
    /// Read something other than measures at the end of a sample: fill results[num_outputs];
    /// `outputs` is NULL then. NULL: measures.
    /// @param[out] results  [num_outputs]
    tal_status (*read)(void *context, const tal_system *system, tal_state *state, double results[]);
    double end_time; ///< [s] simulate until then; not after the start: just realize
    const tal_integrator_def *integrator; ///< NULL: tal_integrator_def_default()
    /// Do something other than simulate with a sample: find an equilibrium, assemble, ... `lane`
    /// says which of the lanes is at work, so that each can have tools of its own. NULL: simulate.
    tal_status (*run)(void *context, const tal_system *system, tal_state *state, int lane);
    void *context;                ///< handed to `run` and `read`
    int lanes;                    ///< samples that can be worked on at once
    const tal_executor *executor; ///< runs the lanes; copied; NULL: the calling thread does
} tal_sweep_def;

/// No parameters, no outputs, no simulation, one lane.
TAL_API tal_sweep_def tal_sweep_def_default(void);

/// A parameter study. Opaque. Use from one thread at a time.
typedef struct tal_sweep tal_sweep;

/// Create a study: def -> create -> run -> destroy. `err` (or NULL) says what is wrong.
TAL_API TAL_NODISCARD tal_status tal_sweep_create(const tal_system *system,
                                                  const tal_sweep_def *def, tal_sweep **out,
                                                  tal_error *err);

/// Free a study. NULL is allowed.
TAL_API void tal_sweep_destroy(tal_sweep *sweep);

/**
 * Run samples.
 *
 * @param[in]  start    copied for each sample; stays as it is
 * @param[in]  values   [n][num_parameters]
 * @param[out] results  [n][num_outputs]; NaN for a sample that failed
 * @param[out] status   [n] why; may be NULL
 * @return TAL_OK, also when samples failed; TAL_ERR_NOT_FINITE for a value that is not
 */
TAL_API TAL_NODISCARD tal_status tal_sweep_run(tal_sweep *sweep, const tal_state *start,
                                               const double values[], int n, double results[],
                                               tal_status status[]);

/// The last failure, or the sentence of the failed sample with the lowest number. Never NULL;
/// borrowed.
TAL_API const tal_error *tal_sweep_error(const tal_sweep *sweep);

/// @name Samples
/// @{

/// Number of points of a grid with `levels` values of each parameter; -1 when that is not an int.
/// @param[in] levels  [num_parameters]
TAL_API int tal_grid_size(const int levels[], int num_parameters);

/// All combinations, the last parameter running fastest: levels[i] values from low[i] to high[i],
/// which are finite.
/// @param[in]  levels  [num_parameters]
/// @param[in]  low     [num_parameters]
/// @param[in]  high    [num_parameters]
/// @param[out] values  [tal_grid_size()][num_parameters]
TAL_API tal_status tal_grid_fill(const int levels[], const double low[], const double high[],
                                 int num_parameters, double values[]);

/// How a parameter is distributed.
typedef enum tal_distribution_kind {
    TAL_UNIFORM,  ///< between a and b
    TAL_NORMAL,   ///< mean a, standard deviation b
    TAL_LOGNORMAL ///< exp of a normal number; median a, standard deviation of the logarithm b
} tal_distribution_kind;

typedef struct tal_distribution {
    tal_distribution_kind kind;
    double a, b;
} tal_distribution;

/// Random samples: row k is a function of the seed and k alone, so a longer table begins with a
/// shorter one.
/// @param[in]  distributions  [num_parameters]
/// @param[out] values         [n][num_parameters]
TAL_API tal_status tal_random_fill(const tal_distribution distributions[], int num_parameters,
                                   uint64_t seed, int n, double values[]);

/// @}

/// How to fit. Obtain it from tal_sweep_fit_options_default(), then edit.
typedef struct tal_sweep_fit_options {
    const double *scale;   ///< [num_parameters] what counts as a unit of each; NULL: 1
    const double *weights; ///< [num_outputs] of the outputs; NULL: 1
    double accuracy;       ///< done when the next step is below this, in units
    int max_iterations;
} tal_sweep_fit_options;

/// Accuracy 1e-8, 50 iterations.
TAL_API tal_sweep_fit_options tal_sweep_fit_options_default(void);

/**
 * Find parameters with which the outputs come nearest to wanted ones, by Levenberg-Marquardt with
 * central differences: minimize sum w (output - target)^2.
 *
 * @param[in]     targets  [num_outputs]
 * @param[in,out] values   [num_parameters] the start, then the answer; as they were on failure
 * @param[out]    cost     half the sum of squares at the answer; may be NULL
 * @return TAL_OK; TAL_ERR_NO_CONVERGENCE; or why the start could not be run
 */
TAL_API TAL_NODISCARD tal_status tal_sweep_fit(tal_sweep *sweep, const tal_state *start,
                                               const double targets[],
                                               const tal_sweep_fit_options *options,
                                               double values[], double *cost);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_SWEEP_H
