// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_ENSEMBLE_H
#define TALUS_STUDY_ENSEMBLE_H

/**
 * @file talus/study/ensemble.h
 * @brief One System, many States: what becomes of each sample of a design. Parameter studies, Monte
 *        Carlo, and parameters fitted to wanted results.
 *
 *     const tal_parameter mass = tal_parameter_mass("payload", matter, hand);
 *     const tal_distribution any = {TAL_UNIFORM, 0.5, 5.0};
 *     const tal_design design = tal_design_random(&any, 1, 42, 1000);
 *     tal_ensemble_def def = tal_ensemble_def_default();
 *     def.parameters = &mass;
 *     def.num_parameters = 1;
 *     def.outputs = &height;        // a measure
 *     def.num_outputs = 1;
 *     def.task = TAL_TASK_INTEGRATE;
 *     def.end_time = 2.0;
 *     st = tal_ensemble_create(system, &def, &ensemble, &err);
 *     if (st == TAL_OK) st = tal_ensemble_run(ensemble, start, &design, heights, NULL, NULL);
 *
 * Every sample begins as a copy of one State and gets its values of the parameters. Samples are
 * independent of each other, so results do not depend on the number of threads, to the bit. A
 * sample that fails is a row of NaN with its reason; the others go on.
 */

#include <talus/study/batch.h>
#include <talus/study/design.h>
#include <talus/study/equilibrium.h>
#include <talus/study/integrator.h>
#include <talus/study/parameter.h>
#include <talus/study/tracker.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup ensemble Ensembles
/// @{

/// What is done with each sample before its outputs are read.
typedef enum tal_task {
    TAL_TASK_REALIZE,     ///< nothing: they are read from the start
    TAL_TASK_INTEGRATE,   ///< stepped to `end_time`, or through `times`
    TAL_TASK_ASSEMBLE,    ///< q that meet the constraints and come close to goals
    TAL_TASK_TRACK,       ///< the same for frame after frame of `frames`
    TAL_TASK_EQUILIBRIUM, ///< brought to rest
    TAL_TASK_CALL         ///< what `run` does
} tal_task;

/// What an ensemble is created from. Obtain it from tal_ensemble_def_default(), then edit. Arrays
/// of parameters, outputs and times are copied; frames, markers and goals are borrowed.
typedef struct tal_ensemble_def {
    const tal_parameter *parameters; ///< [num_parameters]
    int num_parameters;              ///< 0: samples differ by what `run` does
    const tal_measure_ix *outputs;   ///< [num_outputs] measures of size 1
    int num_outputs;
    /// Read something other than measures: fill results[num_outputs]; `outputs` is NULL then. NULL:
    /// measures.
    /// @param[out] results  [num_outputs]
    tal_status (*read)(void *context, const tal_system *system, tal_state *state, double results[]);
    tal_task task;
    double end_time;     ///< [s] TAL_TASK_INTEGRATE; not after the start: just realize
    const double *times; ///< [num_times] [s] instead: ascending; outputs are read at each of them
    int num_times;       ///< 0: `end_time`
    const tal_integrator_def *integrator; ///< NULL: tal_integrator_def_default()
    const tal_assembler_def *assembler;   ///< TAL_TASK_ASSEMBLE, TAL_TASK_TRACK; NULL: the default
    const tal_frames *frames;             ///< TAL_TASK_TRACK: outputs are read at each of them
    const tal_equilibrium_def *equilibrium; ///< TAL_TASK_EQUILIBRIUM; NULL: the default
    /// TAL_TASK_CALL. `lane` says which of the lanes is at work, so that each can have tools of its
    /// own.
    tal_status (*run)(void *context, const tal_system *system, tal_state *state, int lane);
    void *context;                ///< handed to `run`, `read` and `proceed`
    int lanes;                    ///< samples that can be worked on at once
    const tal_executor *executor; ///< runs the lanes; copied; NULL: the calling thread does
    /// Asked by the lanes while they work, often: return false to stop. NULL: nobody is asked.
    bool (*proceed)(void *context);
    /// TAL_TASK_INTEGRATE: States that each lane steps side by side in the registers of the
    /// processor. 0: as many as that has, 8, 4 or 1; 1: one by one. The results are the same bits.
    int width;
} tal_ensemble_def;

/// No parameters, no outputs, one lane; outputs are read from the start.
TAL_API tal_ensemble_def tal_ensemble_def_default(void);

/// One System and many States. Opaque. Use from one thread at a time.
typedef struct tal_ensemble tal_ensemble;

/// Create an ensemble: def -> create -> run -> destroy. All memory is taken here. `err` (or NULL)
/// says what is wrong.
TAL_API TAL_NODISCARD tal_status tal_ensemble_create(const tal_system *system,
                                                     const tal_ensemble_def *def,
                                                     tal_ensemble **out, tal_error *err);

/// Free an ensemble. NULL is allowed.
TAL_API void tal_ensemble_destroy(tal_ensemble *ensemble);

/// Numbers that a sample gives: num_outputs, for each of the times or frames if there are any. 0
/// for NULL.
TAL_API int tal_ensemble_row_size(const tal_ensemble *ensemble);

/**
 * Run all samples of a design.
 *
 * @param[in]  start    copied for each sample; stays as it is
 * @param[in]  design   has the ensemble's parameters
 * @param[out] results  [design.num_samples][tal_ensemble_row_size()]; NaN for a sample that failed
 * @param[out] status   [design.num_samples] why; TAL_RETRY: not run; may be NULL
 * @param[out] why      [design.num_samples] the same as sentences; may be NULL
 * @return TAL_OK, also when samples failed; TAL_RETRY when `proceed` ended it; TAL_ERR_BAD_VALUE
 *         for a design that makes no sense
 */
TAL_API TAL_NODISCARD tal_status tal_ensemble_run(tal_ensemble *ensemble, const tal_state *start,
                                                  const tal_design *design, double results[],
                                                  tal_status status[], tal_error why[]);

/**
 * The same into a batch (talus/study/batch.h), which can be a directory: killed at any time, it
 * goes on where it was.
 *
 * @param[in] batch  has as many samples as the design, and rows as long as the ensemble's
 * @return TAL_OK, also when samples failed; TAL_RETRY when `proceed`, or the batch's, ended it, to
 *         be run again; or why a file could not be written, with the sentence in tal_batch_error()
 */
TAL_API TAL_NODISCARD tal_status tal_ensemble_run_batch(tal_ensemble *ensemble,
                                                        const tal_state *start,
                                                        const tal_design *design, tal_batch *batch);

/// The last failure, or the sentence of the failed sample with the lowest number. Never NULL;
/// borrowed.
TAL_API const tal_error *tal_ensemble_error(const tal_ensemble *ensemble);

/// How the samples of the last run were stepped.
typedef struct tal_lane_use {
    int width;    ///< States side by side; 1: none were
    int in_lanes; ///< samples that were run side by side
    int alone;    ///< samples that were run one by one
    double share; ///< part of the lanes that were wanted, over all evaluations; 0: there were none
    /// Why no samples can be run side by side; empty: they can. Single ones are run alone when they
    /// fail, or have locks or other modeling choices than the start. Borrowed
    const char *why_alone;
} tal_lane_use;

/**
 * How samples were stepped: side by side, or one by one, and why.
 *
 * Side by side go trees without constraints, prescribed motion, unilateral elements or z, whose
 * mobilizers are pins, sliders, balls, translations, free joints and welds; with gravity, two-point
 * elements, forces, torques, dampers, friction, springs, stops and limits of mobilities, bushings,
 * gear torques, actuators whose controls are parameters, and smooth contacts; by explicit
 * Runge-Kutta methods.
 */
TAL_API tal_lane_use tal_ensemble_lane_use(const tal_ensemble *ensemble);

/// How to fit. Obtain it from tal_ensemble_fit_options_default(), then edit.
typedef struct tal_ensemble_fit_options {
    const double *scale;   ///< [num_parameters] what counts as a unit of each; NULL: 1
    const double *weights; ///< [row size] of the outputs; NULL: 1
    double accuracy;       ///< done when the next step is below this, in units
    int max_iterations;
} tal_ensemble_fit_options;

/// Accuracy 1e-8, 50 iterations.
TAL_API tal_ensemble_fit_options tal_ensemble_fit_options_default(void);

/**
 * Find parameters with which the outputs come nearest to wanted ones, by Levenberg-Marquardt with
 * central differences: minimize sum w (output - target)^2.
 *
 * @param[in]     targets  [tal_ensemble_row_size()]
 * @param[in,out] values   [num_parameters] the start, then the answer; as they were on failure
 * @param[out]    cost     half the sum of squares at the answer; may be NULL
 * @return TAL_OK; TAL_ERR_NO_CONVERGENCE; or why the start could not be run
 */
TAL_API TAL_NODISCARD tal_status tal_ensemble_fit(tal_ensemble *ensemble, const tal_state *start,
                                                  const double targets[],
                                                  const tal_ensemble_fit_options *options,
                                                  double values[], double *cost);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_ENSEMBLE_H
