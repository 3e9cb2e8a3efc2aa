// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STATE_MEASURE_H
#define TALUS_STATE_MEASURE_H

/**
 * @file talus/state/measure.h
 * @brief Measures: named signals computed from a State, and signals made of signals.
 *
 * A measure is n >= 1 doubles, owned by a subsystem and declared while the System is built (sticky,
 * like everything else there). Measures take earlier measures as operands:
 *
 *     tal_measure_ix wave = tal_measure_add_sinusoid(system, me, "wave", 2.0, 3.0, 0.5);
 *     tal_measure_ix area = tal_measure_add_integrate(system, me, "area", wave, NULL);
 *     tal_measure_ix peak = tal_measure_add_extreme(system, me, "peak", TAL_EXTREME_MAXIMUM, wave);
 *     ...
 *     tal_system_realize(system, state, TAL_STAGE_TIME);
 *     double value = tal_measure_value(system, state, wave);         // 2 sin(3 t + 0.5)
 *     double slope = tal_measure_derivative(system, state, wave, 1); // 6 cos(3 t + 0.5)
 *
 * A value is computed when it is asked for and kept in the State until something it depends on
 * changes.
 * Each value, and each of its time derivatives, has the stage it needs (tal_measure_stage()): that
 * of the operands it is computed from, or its own when that is later.
 *
 * **Measures with a history** (estimated derivatives, extremes, delays, holds) keep it in
 * auto-update variables of the State, so it is copied, saved and loaded with the State. They take
 * their samples only when tal_system_begin_step() is called (at the stages their operands need):
 * what happens between two step starts is not seen. A sample that is not
 * finite is refused: TAL_ERR_NOT_FINITE. The State itself counts as the latest sample of its values
 * (but not for holds), so trial States inside a step may be evaluated freely.
 *
 * After tal_state_create() nothing here allocates. Names are unique within the owner and have at
 * most TAL_MAX_MEASURE_NAME characters, which leaves room for the names of a measure's variables.
 */

#include <talus/common/function.h>
#include <talus/state/state.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Longest name of a measure, without the terminating zero.
#define TAL_MAX_MEASURE_NAME 47

/// Highest derivative a measure can offer, also a measure of which all are known.
#define TAL_MEASURE_MAX_DERIVATIVES 6

/// @defgroup measure Measures
/// @{

/**
 * The value of a measure of size 1.
 *
 * @param[in,out] state  realized at least to tal_measure_stage() of order 0
 * @return NaN on a breach (stage too low, size not 1, no such measure), or when the value could not
 *         be computed: tal_state_error() tells why
 */
TAL_API double tal_measure_value(const tal_system *system, tal_state *state,
                                 tal_measure_ix measure);

/// The values of a measure; borrowed until the next change of the State. NULL where
/// tal_measure_value() gives NaN.
TAL_API const double *tal_measure_values(const tal_system *system, tal_state *state,
                                         tal_measure_ix measure);

/// A time derivative of a measure of size 1; order 0 is the value. NaN also when `order` is more
/// than tal_measure_num_derivatives().
TAL_API double tal_measure_derivative(const tal_system *system, tal_state *state,
                                      tal_measure_ix measure, int order);

/// A time derivative of a measure; otherwise as tal_measure_values().
TAL_API const double *tal_measure_derivatives(const tal_system *system, tal_state *state,
                                              tal_measure_ix measure, int order);

/**
 * Set the value of a variable, or of an integral (its z), or of any kind with a `set` of its own.
 *
 * @param[in] values  [n] finite; otherwise refused, and nothing changes. Not borrowed from this
 *                    State
 * @param[in] n       must be the size
 * @return TAL_OK; TAL_ERR_NOT_FINITE (stays until the next realize returns it); or a breach
 */
TAL_API tal_status tal_measure_set(const tal_system *system, tal_state *state,
                                   tal_measure_ix measure, const double values[], int n);

/// Make a measure forget its history: the next sample is the first (a hold keeps its value until
/// then). Lowers the State below the measure's stage.
TAL_API tal_status tal_measure_restart(const tal_system *system, tal_state *state,
                                       tal_measure_ix measure);

/// Number of measures; -1 for NULL.
TAL_API int tal_system_num_measures(const tal_system *system);

/// Look a measure up by owner and name; `i` < 0 when there is none.
TAL_API tal_measure_ix tal_system_find_measure(const tal_system *system, tal_subsystem_ix owner,
                                               const char *name);

/// Name of a measure; never NULL; borrowed.
TAL_API const char *tal_measure_name(const tal_system *system, tal_measure_ix measure);

/// The kind of a measure, e.g. "sinusoid"; never NULL; borrowed.
TAL_API const char *tal_measure_kind(const tal_system *system, tal_measure_ix measure);

/// The subsystem that owns it; `i` < 0 for a bad index.
TAL_API tal_subsystem_ix tal_measure_owner(const tal_system *system, tal_measure_ix measure);

/// Number of doubles; -1 for a bad index.
TAL_API int tal_measure_size(const tal_system *system, tal_measure_ix measure);

/// How many exact time derivatives it offers; -1 for a bad index.
TAL_API int tal_measure_num_derivatives(const tal_system *system, tal_measure_ix measure);

/// The stage its value (order 0) or derivative needs; TAL_STAGE_INFINITY on a breach.
TAL_API tal_stage tal_measure_stage(const tal_system *system, tal_measure_ix measure, int order);

/// The cache entry its value (order 0) or derivative is kept in: name it as a prerequisite of what
/// you compute from the measure. `i` < 0 on a breach.
TAL_API tal_cache_ix tal_measure_entry(const tal_system *system, tal_measure_ix measure, int order);

/// @}
/// @defgroup measurekinds Kinds of measures
/// Every `add` returns the index at once; `i` < 0 after a failure, which the System remembers. A
/// `name` of NULL means "measure<index>".
/// @{

/// n values that never change. All derivatives are zero. Stage Topology.
/// @param[in] values  [n] copied
TAL_API tal_measure_ix tal_measure_add_constant(tal_system *system, tal_subsystem_ix owner,
                                                const char *name, const double values[], int n);

/// t. Derivatives 1, 0, 0, ... Stage Time.
TAL_API tal_measure_ix tal_measure_add_time(tal_system *system, tal_subsystem_ix owner,
                                            const char *name);

/// n values kept in a discrete variable, changed by tal_measure_set() only. Stage Topology.
/// @param[in] initial      [n] copied; NULL means zeros
/// @param[in] invalidates  Model ... Report: the lowest stage that uses the measure
TAL_API tal_measure_ix tal_measure_add_variable(tal_system *system, tal_subsystem_ix owner,
                                                const char *name, const double initial[], int n,
                                                tal_stage invalidates);

/// a sin(w t + p). All derivatives. Stage Time.
/// @param[in] amplitude  a
/// @param[in] frequency  w [rad/s]
/// @param[in] phase      p [rad]
TAL_API tal_measure_ix tal_measure_add_sinusoid(tal_system *system, tal_subsystem_ix owner,
                                                const char *name, double amplitude,
                                                double frequency, double phase);

/// a + b, component by component. As many derivatives as both have.
TAL_API tal_measure_ix tal_measure_add_sum(tal_system *system, tal_subsystem_ix owner,
                                           const char *name, tal_measure_ix a, tal_measure_ix b);

/// a - b, component by component. As many derivatives as both have.
TAL_API tal_measure_ix tal_measure_add_difference(tal_system *system, tal_subsystem_ix owner,
                                                  const char *name, tal_measure_ix a,
                                                  tal_measure_ix b);

/// a b, component by component. As many derivatives as both have, up to three.
TAL_API tal_measure_ix tal_measure_add_product(tal_system *system, tal_subsystem_ix owner,
                                               const char *name, tal_measure_ix a,
                                               tal_measure_ix b);

/**
 * f(a) or f(a, b): a function of one or two measures of one number each; for more operands, use
 * functions of functions. As many derivatives as f and the operands have, up to two.
 *
 * @param[in] f  borrowed: must outlive the System
 * @param[in] b  `i` < 0: f has one argument
 */
TAL_API tal_measure_ix tal_measure_add_function(tal_system *system, tal_subsystem_ix owner,
                                                const char *name, const tal_function *f,
                                                tal_measure_ix a, tal_measure_ix b);

/// factor * a. As many derivatives as a has.
TAL_API tal_measure_ix tal_measure_add_scale(tal_system *system, tal_subsystem_ix owner,
                                             const char *name, double factor, tal_measure_ix a);

/**
 * The time integral of another measure, kept in n z variables of the State.
 *
 * The value needs stage Instance. Its first derivative *is* the value of `derivative`, its second
 * derivative the first of `derivative`, and so on, with the same stages.
 *
 * @param[in] derivative  needs at most stage Acceleration
 * @param[in] initial     [size of `derivative`] at the start; NULL means zeros; tal_measure_set()
 *                        changes them
 */
TAL_API tal_measure_ix tal_measure_add_integrate(tal_system *system, tal_subsystem_ix owner,
                                                 const char *name, tal_measure_ix derivative,
                                                 const double initial[]);

/**
 * The time derivative of another measure.
 *
 * Exact when the operand offers a derivative. Otherwise estimated, from the sample {t0, f0, fdot0}
 * of the last step start and the present f at t:
 *
 *     first sample    fdot = 0                       (nothing is known)
 *     second sample   fdot = s = (f - f0) / (t - t0)                       error O(h)
 *     third sample    fdot = s + (s - s0) h / (h + h0)                     error O(h^2)
 *     later           fdot = 2 s - fdot0                                   error O(h^2)
 *
 * with h = t - t0, and s0, h0 those of the sample before: first the parabola through three samples,
 * then the one through f0, fdot0 and f. The latter passes an error in fdot0 on with the opposite
 * sign, so call tal_measure_restart() after a jump of the operand. At t = t0 the estimate made
 * there is returned. An estimate offers no derivatives; its stage is at least Time.
 */
TAL_API tal_measure_ix tal_measure_add_differentiate(tal_system *system, tal_subsystem_ix owner,
                                                     const char *name, tal_measure_ix operand);

/// Which extreme.
typedef enum tal_extreme {
    TAL_EXTREME_MINIMUM,     ///< of f
    TAL_EXTREME_MAXIMUM,     ///< of f
    TAL_EXTREME_MINIMUM_ABS, ///< of |f|
    TAL_EXTREME_MAXIMUM_ABS  ///< of |f|
} tal_extreme;

/**
 * The extreme of another measure over the samples taken at step starts and the State itself,
 * component by component; of equal ones, the earliest.
 *
 * A peak between two steps is missed: with step h the result falls short by at most h^2/8 max|f''|.
 * No derivatives; the stage is at least Time.
 */
TAL_API tal_measure_ix tal_measure_add_extreme(tal_system *system, tal_subsystem_ix owner,
                                               const char *name, tal_extreme which,
                                               tal_measure_ix operand);

/// When component `i` of an extreme occurred [s]. NaN on failure or breach.
TAL_API double tal_measure_time_of_extreme(const tal_system *system, tal_state *state,
                                           tal_measure_ix measure, int i);

/// A delayed signal. Obtain the def from tal_delay_def_default(), then edit.
typedef struct tal_delay_def {
    const char *name;       ///< copied
    tal_measure_ix operand; ///< what is delayed
    double delay;           ///< [s], finite, not negative
    int capacity;           ///< samples kept, at least 4: more than the steps taken in one delay
} tal_delay_def;

/// No operand, no delay, 256 samples.
TAL_API tal_delay_def tal_delay_def_default(void);

/**
 * The value another measure had at t - delay.
 *
 * Interpolated by a cubic between the samples of step starts, of which the State itself is the
 * last: Hermite's cubic where the operand offers a derivative at no later stage than its value (or
 * Time), else Lagrange's through the four nearest samples, or fewer while there are fewer. Both
 * reproduce cubics; otherwise their error is O(h^4).
 *
 * Before the first sample the signal counts as constant. If earlier samples existed, but those kept
 * do not reach back to t - delay, the value fails with TAL_ERR_CAPACITY.
 * Samples later than t are forgotten when a step starts at an earlier t.
 * No derivatives; the stage is at least Time.
 */
TAL_API tal_measure_ix tal_measure_add_delay(tal_system *system, tal_subsystem_ix owner,
                                             const tal_delay_def *def);

/// A sampled signal. Obtain the def from tal_hold_def_default(), then edit.
typedef struct tal_hold_def {
    const char *name;       ///< copied
    tal_measure_ix operand; ///< what is sampled
    double period;          ///< [s], positive
    double t0;              ///< first sampling time [s]
    const double *initial;  ///< as many values as the operand has, until the first sample; NULL:
                            ///< zeros; copied
    tal_stage invalidates;  ///< the lowest stage that uses the value, later than Time: the value
                            ///< can be read from there on
} tal_hold_def;

/// No operand, no period, t0 = 0, invalidates Position.
TAL_API tal_hold_def tal_hold_def_default(void);

/**
 * Sample-and-hold: samples another measure at t0, t0 + period, t0 + 2 period, ..., and holds the
 * value between.
 *
 * A sample is taken by tal_system_begin_step(), at the first step start at or after a sampling time
 * (at most 1e-9 period before it, so that rounding in a sum of steps does not lose it). Several
 * sampling times in one step give one sample. To sample exactly on time, let steps end there.
 * The value stays as it is through the whole step, up to and including its end; a step start that
 * changes it lowers the State below `invalidates`. No derivatives.
 */
TAL_API tal_measure_ix tal_measure_add_hold(tal_system *system, tal_subsystem_ix owner,
                                            const tal_hold_def *def);

/// Make a hold take a sample at once. It counts as that of the last sampling time passed. Needs the
/// operand's stage.
TAL_API tal_status tal_measure_sample(const tal_system *system, tal_state *state,
                                      tal_measure_ix measure);

/// A value that other code computes and stores. Obtain the def from tal_result_def_default(), then
/// edit.
typedef struct tal_result_def {
    const char *name;          ///< copied
    int size;                  ///< number of doubles
    tal_stage depends_on;      ///< the stage from which on it can be valid, Topology ... Report
    const tal_prereq *prereqs; ///< what else it is computed from; copied
    int num_prereqs;
} tal_result_def;

/// One double that depends on Instance.
TAL_API tal_result_def tal_result_def_default(void);

/// A result. Reading it while it is out of date is a breach. No derivatives.
TAL_API tal_measure_ix tal_measure_add_result(tal_system *system, tal_subsystem_ix owner,
                                              const tal_result_def *def);

/// Memory of a result to write its values into; it is invalid until
/// tal_measure_mark_result_valid(). NULL on a breach.
TAL_API double *tal_measure_upd_result(const tal_system *system, tal_state *state,
                                       tal_measure_ix measure);

/// Declare that the values of a result were computed from the State's present values.
TAL_API tal_status tal_measure_mark_result_valid(const tal_system *system, tal_state *state,
                                                 tal_measure_ix measure);

/// @}
/// @defgroup measureops Measures of your own
/// The kinds above are made of this and of talus/state/system.h, and of nothing else.
/// @{

/// Most prerequisites one value or derivative can name directly.
#define TAL_MEASURE_MAX_NEEDS 8

/// What a value or derivative is computed from.
typedef struct tal_measure_needs {
    tal_stage stage; ///< arrives as Topology
    int num_prereqs;
    tal_prereq prereqs[TAL_MEASURE_MAX_NEEDS];
} tal_measure_needs;

/// Raise the stage to at least `stage`.
TAL_API void tal_measure_needs_stage(tal_measure_needs *needs, tal_stage stage);

/// Add a prerequisite. One too many makes the System remember TAL_ERR_CAPACITY.
TAL_API void tal_measure_needs_prereq(tal_measure_needs *needs, tal_prereq prereq);

/// Add a value or derivative of an operand, with its stage.
TAL_API void tal_measure_needs_operand(tal_measure_needs *needs, const tal_system *system,
                                       tal_measure_ix operand, int order);

/// What a measure learns when it is declared.
typedef struct tal_measure_site {
    tal_measure_ix measure; ///< itself
    tal_subsystem_ix owner; ///< declare variables, entries and groups in its name
    const char *name;       ///< prefix their names with it and '.'; at most 8 characters follow
    int size;               ///< number of doubles
    int num_derivatives;    ///< in: fewest of the operands, 0 without operands. Out: how many you
                            ///< offer, cut to TAL_MEASURE_MAX_DERIVATIVES
} tal_measure_site;

/**
 * A kind of measure. Write one as a `static const` object; copied.
 *
 * `self` is the System's copy of tal_measure_def.self. Only `declare` may write to it. Nothing but
 * `declare` may allocate.
 */
typedef struct tal_measure_ops {
    size_t size;      ///< sizeof(tal_measure_ops)
    const char *name; ///< the kind, e.g. "sinusoid"; must outlive the System

    // Required

    /// Compute a value (order 0) or derivative: n doubles, the measure's size. On entry the stage
    /// it needs is reached and the prerequisite entries are valid. It must depend only on what
    /// `needs` named.
    /// @param[out] value  [n]
    tal_status (*calc)(const void *self, const tal_system *system, tal_state *state, int order,
                       int n, double value[]);

    // Optional

    /// Declare variables and groups of your own, and say how many derivatives you offer. Default:
    /// no variables, and the fewest derivatives of the operands.
    tal_status (*declare)(void *self, tal_system *system, tal_measure_site *site);
    /// Say what a value or derivative is computed from. Default: the same order of every operand.
    void (*needs)(const void *self, const tal_system *system, int order, tal_measure_needs *needs);
    /// Write the zdot of your z. On entry: Acceleration, after all subsystems. Default: nothing.
    tal_status (*realize_acceleration)(const void *self, const tal_system *system,
                                       tal_state *state);
    /// Write your variables so that the value is `values`, which are n and finite. Default: cannot
    /// be set.
    /// @param[in] values  [n]
    tal_status (*set)(const void *self, const tal_system *system, tal_state *state,
                      const double values[], int n);
    /// Forget your history. Default: there is none.
    tal_status (*restart)(const void *self, const tal_system *system, tal_state *state);
} tal_measure_ops;

/// One measure of a kind. Obtain the def from tal_measure_def_default(), then edit.
typedef struct tal_measure_def {
    const char *name;               ///< unique within the owner; NULL: "measure<index>"; copied
    int size;                       ///< number of doubles; 0 means that of the operands, all alike
    const tal_measure_ix *operands; ///< measures declared earlier; copied
    int num_operands;
    const void *self; ///< plain bytes, copied; may point to what outlives the System
    size_t self_size;
} tal_measure_def;

/// No operands, size 0, no self.
TAL_API tal_measure_def tal_measure_def_default(void);

/// Declare a measure of `owner`. `i` < 0 on failure.
TAL_API tal_measure_ix tal_system_add_measure(tal_system *system, tal_subsystem_ix owner,
                                              const tal_measure_ops *ops,
                                              const tal_measure_def *def);

/// The System's copy of `self`, if the measure was declared with this table; otherwise NULL
/// and a breach. Borrowed.
TAL_API const void *tal_measure_self(const tal_system *system, tal_measure_ix measure,
                                     const tal_measure_ops *ops);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STATE_MEASURE_H
