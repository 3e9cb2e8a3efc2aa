// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_FIXED_STEPPER_H
#define TALUS_STUDY_FIXED_STEPPER_H

/**
 * @file talus/study/fixed_stepper.h
 * @brief Steps of a fixed length for real time: simulators, games, hardware in the loop.
 *
 *     tal_fixed_memory_create(system);                     // before the topology is realized
 *     ...
 *     tal_fixed_stepper_def def = tal_fixed_stepper_def_default();
 *     def.step = 0.01;
 *     tal_fixed_stepper_create(system, &def, &stepper, &err);
 *     while (tal_state_t(state) < 10.0) tal_fixed_stepper_step(stepper, state);
 *
 * A formulation says which equations of motion are solved, a scheme how they become equations of
 * one step of length h. With Phi the position errors, G their rows, Q all forces and
 * M udot + G^T lambda = Q:
 *
 * - *Hybrid* (CD sec. 2): M udot + G^T (alpha Phi + lambda) = Q, solved for the step by Newton's
 *   method, in which lambda += alpha Phi; then u and udot are projected with the last tangent
 *   matrix. No coordinates are chosen, so that rows that repeat others and poses in which rows
 *   lose rank do no harm.
 * - *Semi-recursive* (CD sec. 3): the same for independent coordinates only; the others follow from
 *   the constraints, and their pivots are chosen again where they become bad.
 * - *Fully recursive*: udot by Talus's own dynamics of O(n), the step by fixed-point iteration.
 * - *Global* (GJB sec. 8.5): points and unit vectors as coordinates, with a constant mass matrix,
 *   and all their conditions as in the hybrid formulation.
 * - *Welch* (Welch sec. 2): two linear systems for each step, without parameters or iteration.
 * - *Baumgarte*: constraint errors fade, under any explicit method; to compare with.
 *
 * doc/formulations.md says which one to choose. Mobilizers and forces may be any; q moves along u,
 * so that quaternions and angles do alike. Prescribed motion and locks are kept. Auxiliary
 * variables z follow by the explicit trapezoid. Constraints on accelerations alone are refused.
 *
 * Nothing is allocated after creation, and the same start gives the same bytes. What a step needs
 * of the last one (multipliers, accelerations, pivots) is in the State: a copy or a saved file goes
 * on bit for bit. A State that was changed in between starts anew.
 */

#include <talus/state.h>
#include <talus/study/tableau.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup fixed_stepper Fixed steps for real time
/// @{

/// What fixed steps remember in States of a System. Opaque; belongs to the System.
typedef struct tal_fixed_memory tal_fixed_memory;

/**
 * Give the States of a System the memory that fixed steps need: once, before the topology is
 * realized. Sticky, as all building is.
 *
 * @return the memory, owned by the System; NULL on failure
 */
TAL_API tal_fixed_memory *tal_fixed_memory_create(tal_system *system);

/// The memory of a System; NULL when it has none (that is not a breach). Borrowed.
TAL_API const tal_fixed_memory *tal_system_fixed_memory(const tal_system *system);

/// The memory as a subsystem; `i` < 0 for NULL.
TAL_API tal_subsystem_ix tal_fixed_memory_subsystem(const tal_fixed_memory *memory);

/// Which equations of motion are solved.
typedef enum tal_formulation {
    TAL_FORMULATION_HYBRID,
    TAL_FORMULATION_SEMI_RECURSIVE, ///< no velocity constraints (nonholonomic rows)
    TAL_FORMULATION_FULLY_RECURSIVE,
    TAL_FORMULATION_GLOBAL, ///< what natural coordinates cover (talus/matter/natural.h)
    TAL_FORMULATION_WELCH,
    TAL_FORMULATION_BAUMGARTE
} tal_formulation;

/// How they become equations of a step. The first four go with the first four formulations
/// (CD tab. 2), the predictors with Welch, the explicit ones with Baumgarte, the last one with
/// global.
typedef enum tal_scheme {
    TAL_SCHEME_TRAPEZOID,           ///< order 2, no damping
    TAL_SCHEME_NEWMARK,             ///< order 1, damping by `xi`
    TAL_SCHEME_HHT,                 ///< order 2, Hilber, Hughes and Taylor; damping by `delta_f`
    TAL_SCHEME_GENERALIZED_ALPHA,   ///< order 2, damping by `rho`
    TAL_SCHEME_PREDICTOR_CORRECTOR, ///< order 2
    TAL_SCHEME_PREDICTOR,           ///< order 1: the predictor alone
    TAL_SCHEME_EXPLICIT,            ///< that of `tableau`
    TAL_SCHEME_SEMI_EXPLICIT_EULER, ///< order 1: speeds first, then coordinates with them
    /// order 2, of the global formulation: keeps energy under weights, and momentum, to round-off
    TAL_SCHEME_ENERGY_MOMENTUM
} tal_scheme;

/// What a stepper is created from. Obtain it from tal_fixed_stepper_def_default(), then edit.
typedef struct tal_fixed_stepper_def {
    tal_formulation formulation;
    tal_scheme scheme;
    double step; ///< h [s] > 0

    /// @name Damping of the schemes of structural dynamics (CD tab. 2)
    /// @{
    double xi;      ///< of Newmark, -1 (most) to 0 (none: the trapezoid)
    double delta_f; ///< of HHT, 0 (none) to 1/3 (most)
    double rho;     ///< of generalized alpha: what is left of the fastest motions, 0 to 1
    /// @}

    /// alpha > 0, of the hybrid and the global formulation [force of a row / its error], at least:
    /// where masses are large for it or steps are short, it is raised, up to 1e4 times.
    double penalty;
    int iterations;   ///< most iterations of a step, > 0
    bool same_work;   ///< real time: always that many iterations and projections
    double tolerance; ///< iteration ends where less of a change of q along u is left, > 0
    int projections;  ///< of u and of udot, of the hybrid formulation: at most so many
    /// Of speeds: what constraints may be off at the end of a step [unit of the row / s], > 0.
    double speed_tolerance;
    /// Start from consistent values, and end each step with speeds that meet the constraints. False
    /// for Welch and Baumgarte: as published, with the errors that their methods leave. The hybrid
    /// formulation is unstable without.
    bool projects;
    /// Derivatives of the force elements in the tangent of hybrid and semi-recursive: springs and
    /// dampers that are stiff for the step need them. Elements that tell slopes
    /// (tal_force_ops.add_slopes) cost as much as one evaluation of forces; those that tell nothing
    /// are differenced, some ten evaluations for each speed. False: inertia and constraints alone.
    bool uses_stiffness;

    bool repeats_corrector; ///< of Welch, once more with the speeds found: order 2 also where M
                            ///< depends on q and in rotation. False: as printed
    const tal_rk_tableau *tableau; ///< of TAL_SCHEME_EXPLICIT; must outlive the stepper
    double alpha_h;                ///< of Baumgarte: alpha times the step (Welch eq. 47), > 0
    double beta_h;                 ///< of Baumgarte: beta times the step, > 0
    /// Take a System with colliders (talus/matter/collider.h), which pass through each other then.
    bool ignores_colliders;
} tal_fixed_stepper_def;

/// Hybrid by the trapezoid with steps of 0.01 s, with the stiffness of forces; xi -0.3, delta_f
/// 0.05, rho 0.8; penalty 1e7, 30 iterations to 1e-8, 3 projections to 1e-8; the corrector
/// repeated; Heun's method with alpha_h = beta_h = 1.
TAL_API tal_fixed_stepper_def tal_fixed_stepper_def_default(void);

/// Steps States of one System. Opaque. Use from one thread at a time.
typedef struct tal_fixed_stepper tal_fixed_stepper;

/**
 * Create a stepper. All memory it will ever use is taken here.
 *
 * @param[in]  system  its topology must be realized, with matter and a memory; must outlive the
 *                     stepper
 * @param[in]  def     copied; NULL means tal_fixed_stepper_def_default()
 * @param[out] out     owned by the caller; NULL on failure
 * @param[out] err     may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE for a number of `def`, for a scheme that does not go with the
 *         formulation, for unilateral elements, and for colliders unless these are to be ignored;
 *         TAL_ERR_TOPOLOGY where topology,
 *         matter or memory is missing; TAL_ERR_NULL, TAL_ERR_NO_MEMORY
 */
TAL_API TAL_NODISCARD tal_status tal_fixed_stepper_create(const tal_system *system,
                                                          const tal_fixed_stepper_def *def,
                                                          tal_fixed_stepper **out, tal_error *err);

/// Free a stepper. NULL is allowed.
TAL_API void tal_fixed_stepper_destroy(tal_fixed_stepper *stepper);

/**
 * One step.
 *
 * @param[in,out] state  at a time t, made consistent first where `projects`; at t + h afterwards,
 *                       realized to TAL_STAGE_VELOCITY. On failure at t, as it was made consistent
 * @return TAL_OK; TAL_ERR_NOT_FINITE where the iteration diverges; TAL_ERR_BAD_VALUE for rows that
 *         the formulation does not cover, with the name of their constraint; TAL_ERR_SINGULAR; or
 *         what realizing returned. A step that ends by the limit on iterations is not a failure,
 *         but counted (tal_fixed_stats.unfinished)
 */
TAL_API TAL_NODISCARD tal_status tal_fixed_stepper_step(tal_fixed_stepper *stepper,
                                                        tal_state *state);

/// Steps up to a time: as many as fit, and a shorter one that ends there. Nothing when the State is
/// there already.
/// @param[in] t  [s] not before that of the State, and so near that a step is not lost in
///               rounding: less than step / DBL_EPSILON from 0, unless one step ends there
TAL_API TAL_NODISCARD tal_status tal_fixed_stepper_step_to(tal_fixed_stepper *stepper,
                                                           tal_state *state, double t);

/// What a stepper has done so far.
typedef struct tal_fixed_stats {
    uint64_t steps;          ///< taken
    uint64_t iterations;     ///< of all steps
    uint64_t factorizations; ///< of tangent matrices, or of W
    uint64_t pivots_chosen;  ///< times that independent coordinates were chosen
    /// Of these, with more inertia than there is, since forces made them indefinite.
    uint64_t heavier_tangents;
    uint64_t unfinished;         ///< steps that ended by the limit on iterations
    uint64_t starts;             ///< times that a State was begun with, without a memory of its own
    double last_change;          ///< |change of q along u| in the last iteration of the last step
    double position_error;       ///< |Phi| at the end of the last step, Euclidean
    double speed_error;          ///< the same of the velocity errors
    double worst_position_error; ///< the largest over all steps
    double worst_speed_error;    ///< the largest over all steps
    double sum_position_error;   ///< over all steps: its mean is this over `steps`
    double step_time;            ///< [s] what the last step took, by the clock on the wall
    double worst_step_time;      ///< [s] the longest
    double sum_step_time;        ///< [s] of all steps
} tal_fixed_stats;

/// The counters so far; zeros on a breach.
TAL_API tal_fixed_stats tal_fixed_stepper_statistics(const tal_fixed_stepper *stepper);

/// Count and time from zero again: after the first steps, say, which fill caches of the processor.
TAL_API tal_status tal_fixed_stepper_reset_statistics(tal_fixed_stepper *stepper);

/// What it was created from; the default for NULL, and a breach.
TAL_API tal_fixed_stepper_def tal_fixed_stepper_def_of(const tal_fixed_stepper *stepper);

/// The last failure; status TAL_OK when there is none. Never NULL; borrowed until the next call.
TAL_API const tal_error *tal_fixed_stepper_error(const tal_fixed_stepper *stepper);

/// Multipliers of the last step that led to a State: as many as position and velocity rows, in
/// their order. Those of Welch belong to the middle of the step; the global formulation has others,
/// and leaves NaN here. NULL before the first step, after
/// other changes of the State, and on a breach. Borrowed until the State changes.
TAL_API const double *tal_fixed_memory_multipliers(const tal_fixed_memory *memory,
                                                   const tal_state *state);

/// udot at the end of that step, [nu of matter]; of the implicit schemes only. That of the
/// energy-momentum rule belongs to the middle. NULL as above.
TAL_API const double *tal_fixed_memory_udot(const tal_fixed_memory *memory, const tal_state *state);

/// x, then xdot, in natural coordinates as the energy-momentum rule left them: xdot has a part that
/// no u has, and with it the energy is kept.
/// @param[out] n  how many numbers: 2 tal_natural_nx(); 0 with NULL. May be NULL
/// @return NULL after steps of other schemes, after other changes of the State, and on a breach.
///         Borrowed until the State changes
TAL_API const double *tal_fixed_memory_natural(const tal_fixed_memory *memory,
                                               const tal_state *state, int *n);

/**
 * What one step makes of an error e of a position constraint and of its rate, where M and G are
 * constant (Welch sec. 4): (e, h edot) becomes A (e, h edot). Its eigenvalues tell whether errors
 * fade: those of Welch's predictor-corrector are 0 and -1 whatever the step, those of the others
 * depend on `alpha_h`, `beta_h` and the tableau alone.
 *
 * @param[in]  def  of Welch or Baumgarte; others iterate errors away
 * @param[out] A    [4] row by row
 * @return TAL_OK; TAL_ERR_BAD_VALUE for another scheme, or what tal_rk_check() says of the tableau
 */
TAL_API TAL_NODISCARD tal_status tal_fixed_stepper_calc_growth(const tal_fixed_stepper_def *def,
                                                               double A[]);

/// @name Formulations and schemes by name, for programs and files that let people choose
/// @{

/// Name of a formulation: "hybrid", "semi-recursive". NULL, and nothing else, for one that does not
/// exist, so that lists end there. Static.
TAL_API const char *tal_formulation_name(tal_formulation formulation);

/// The same of a scheme: "trapezoid", "newmark".
TAL_API const char *tal_scheme_name(tal_scheme scheme);

/// The formulation of that name. False, and `out` untouched, when there is none.
TAL_API bool tal_formulation_find(const char *name, tal_formulation *out);

/// The scheme of that name. False, and `out` untouched, when there is none.
TAL_API bool tal_scheme_find(const char *name, tal_scheme *out);

/// Whether a scheme goes with a formulation.
TAL_API bool tal_formulation_takes(tal_formulation formulation, tal_scheme scheme);

/// The scheme that a formulation is published with: the trapezoid, the predictor-corrector, the
/// explicit one.
TAL_API tal_scheme tal_formulation_usual_scheme(tal_formulation formulation);
/// @}

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_FIXED_STEPPER_H
