// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_MUSCLE_H
#define TALUS_FORCES_MUSCLE_H

/**
 * @file talus/forces/muscle.h
 * @brief Muscles: fibers and a tendon in series, pulling along a path.
 *
 *     tal_muscle_def def = tal_muscle_def_default(TAL_MUSCLE_MILLARD);
 *     def.path = path;
 *     def.max_force = 800.0;        // N
 *     def.fiber_length = 0.12;      // m
 *     def.tendon_length = 0.20;     // m
 *     const tal_force_ix biceps = tal_forces_add_muscle(forces, "biceps", &def);
 *     ...
 *     tal_muscle_set_control(forces, state, biceps, 0.6);
 *     tal_forces_equilibrate_muscles(forces, state); // after TAL_STAGE_VELOCITY
 *
 * With the maximal isometric force F0, the optimal fiber length lo, the tendon slack length ls, the
 * length l of the path and the pennation angle alpha, fibers and tendon carry the same force along
 * the tendon:
 *
 *     F0 (a fal(lf/lo) fv(v) + fpe(lf/lo) + beta v) cos alpha = F0 fse((l - lf cos alpha) / ls)
 *
 * where a is the activation, v the speed of the fibers over vmax lo, and beta a damping. An elastic
 * muscle has the fiber length lf (a DeGroote-Fregly one the tendon force) as a z and solves this
 * for v; it always has one solution, which is found in closed form or by an iteration that
 * always converges. With a rigid tendon lf and v follow from the path. The activation is a z that
 * follows the control, or the control itself.
 *
 * **What the models are**
 *
 *     Thelen            exponential curves; fv depends on a; no damping (Thelen)
 *     Millard           quintic Bezier curves; damped or not (Millard)
 *     DeGroote-Fregly   smooth curves for optimizers; state is the tendon force (DeGroote)
 *     curves            three functions of yours and a rigid tendon
 *
 * **Energy.** Tendon and passive fibers store energy, which the element reports as its potential
 * energy. The power of active fibers and of damping is its dissipated power, which is negative
 * while the muscle does work: if it is tracked (tal_force_track_dissipation()), the sum of kinetic,
 * potential and dissipated energy is constant.
 *
 * **At the limits.** Fibers are never shorter than h / sin(max_pennation), with h = lo sin(alpha)
 * at the optimal length, nor than lo/100, nor than where Millard's active curve begins (lo/5 in
 * DeGroote-Fregly muscles, at equilibrium). At this length they stay until the tendon stretches
 * them again, and their force is reported as zero. Where the fiber length is a z, reaching the
 * limit is an event of the force subsystem, "<muscle>.shortest", at which nothing is done: a time
 * stepper ends its step there. A rigid tendon that is longer than the path is slack: no force. An
 * elastic one longer than the path is slack with the fibers at their shortest.
 */

#include <talus/forces/params.h>
#include <talus/forces/path.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup muscle Muscles
/// @{

/// Which model a muscle is, by its authors.
typedef enum tal_muscle_model {
    TAL_MUSCLE_THELEN = 0,   ///< Thelen 2003
    TAL_MUSCLE_MILLARD = 1,  ///< Millard et al. 2012, 2013
    TAL_MUSCLE_DEGROOTE = 2, ///< De Groote and Fregly 2016
    TAL_MUSCLE_CURVES = 3    ///< functions of yours, with a rigid tendon
} tal_muscle_model;

/// How the activation follows the control.
typedef enum tal_activation {
    /// da/dt = (x - a) / tau with tau = rise (1/2 + 3/2 a) when x > a and fall / (1/2 + 3/2 a)
    /// otherwise; a and x in [min_activation, 1].
    TAL_ACTIVATION_FIRST_ORDER = 0,
    TAL_ACTIVATION_SMOOTH = 1, ///< the same without a kink: rates blended by a tanh (DeGroote)
    TAL_ACTIVATION_NONE = 2    ///< the activation is the control, within [min_activation, 1]
} tal_activation;

/// What shapes the curves of Thelen's muscle.
typedef struct tal_thelen_curves {
    double tendon_strain;  ///< at the force F0; 0.04
    double passive_strain; ///< of the fibers at the passive force F0; 0.6
    double active_width;   ///< gamma of fal = exp(-(l - 1)^2 / gamma); 0.45
    double passive_shape;  ///< exponent of fpe; 5
    double velocity_shape; ///< Af; 0.25
    double eccentric;      ///< largest force of lengthening fibers, over F0; above 1; 1.4
    double threshold;      ///< part of it up to which fv is curved; below 1; 0.95
} tal_thelen_curves;

/// What shapes the curves of Millard's muscle.
typedef struct tal_millard_curves {
    double tendon_strain;          ///< at the force F0; 0.049
    double tendon_stiffness;       ///< at the force F0, per strain; 0: 1.375 / tendon_strain
    double tendon_toe;             ///< force where the tendon's curve becomes a line; 2/3
    double tendon_curviness;       ///< 0.5
    double passive_strain_at_zero; ///< of the fibers where the passive force begins; 0
    double passive_strain_at_one;  ///< of the fibers at the passive force F0; 0.7
    double passive_stiffness_low;  ///< of the passive curve just after it begins; 0: 0.2
    double passive_stiffness;      ///< of it at F0; 0: 2 / (strain at one - strain at zero)
    double passive_curviness;      ///< 0.75
    double active_from, active_steep, active_to; ///< l where fal begins, turns, ends; 0.4441, 0.73,
                                                 ///< 1.8123
    double active_slope;                         ///< of the shallow ascending part; 0.8616
    double active_minimum;       ///< least value of fal; taken as 0 where damping allows it; 0.1
    double concentric_slope_end; ///< of fv at v = -1; 0
    double concentric_slope;     ///< of fv near v = -1; 0.25
    double isometric_slope;      ///< of fv at v = 0; 5
    double eccentric_slope_end;  ///< of fv at v = 1; 0
    double eccentric_slope;      ///< of fv near v = 1; 0.15
    double eccentric;            ///< fv at v = 1; 1.4
    double concentric_curviness; ///< 0.6
    double eccentric_curviness;  ///< 0.9
} tal_millard_curves;

/// What shapes the curves of DeGroote's and Fregly's muscle.
typedef struct tal_degroote_curves {
    double tendon_strain;  ///< at the force F0; 0.049
    double passive_strain; ///< of the fibers at the passive force F0; 0.6
    double active_width;   ///< scale of the active curve about l = 1; 1
} tal_degroote_curves;

/// A muscle. Obtain the def from tal_muscle_def_default(), then edit. Units are SI.
typedef struct tal_muscle_def {
    tal_muscle_model model;
    tal_path_ix path;          ///< what it pulls along
    double max_force;          ///< F0, isometric, at the optimal length [N]; positive
    double fiber_length;       ///< lo, optimal [m]; positive
    double tendon_length;      ///< ls, slack [m]; positive; with a rigid tendon zero is possible
    double pennation;          ///< alpha at the optimal length [rad]; in [0, max_pennation]; 0
    double max_pennation;      ///< largest alpha [rad]; below pi/2; acos(0.1)
    double max_speed;          ///< vmax, of shortening without load [lo/s]; 10
    double damping;            ///< beta; Millard 0.1, others 0; Thelen has none
    bool rigid_tendon;         ///< the tendon does not stretch
    bool implicit;             ///< DeGroote: the rate of the tendon force is a parameter, and
                               ///< TAL_MUSCLE_RESIDUAL says how far from equilibrium the muscle is
    tal_activation activation; ///< first order; DeGroote: smooth
    double activation_time;    ///< rise [s]; Thelen 0.015, Millard 0.010, DeGroote 0.015
    double deactivation_time;  ///< fall [s]; Thelen 0.050, Millard 0.040, DeGroote 0.060
    double min_activation;     ///< 0.01; curves: 0
    double smoothing;          ///< b of the smooth activation; 0.1
    double min_control;        ///< the control is kept in this range; 0
    double max_control;        ///< 1
    tal_measure_ix control;    ///< a measure that adds to the control; `i` < 0: none
    double initial_activation; ///< of the z; 0.05
    /// Of the z [m]; 0: the optimal length. Call tal_forces_equilibrate_muscles() to find a better
    /// one.
    double initial_fiber_length;
    double initial_tendon_force; ///< DeGroote's z, over F0; 0.5
    tal_thelen_curves thelen;
    tal_millard_curves millard;
    tal_degroote_curves degroote;
    /// fal(l), fv(v) and fpe(l) of TAL_MUSCLE_CURVES, of one argument; adopted by
    /// tal_forces_add_muscle() whether it succeeds or not
    tal_function *active, *velocity, *passive;
} tal_muscle_def;

/// A muscle of a model with its usual numbers; path, forces and lengths are missing.
TAL_API tal_muscle_def tal_muscle_def_default(tal_muscle_model model);

/// Add a muscle. Sticky, as all building is.
/// @return its index, `i` < 0 on failure
TAL_API tal_force_ix tal_forces_add_muscle(tal_forces *forces, const char *name,
                                           const tal_muscle_def *def);

/// Parameters of a muscle in a State (tal_force_set_param()). Those before TAL_MUSCLE_CONTROL
/// invalidate Instance, the others Dynamics.
enum {
    TAL_MUSCLE_MAX_FORCE = 0,
    TAL_MUSCLE_FIBER_LENGTH = 1,
    TAL_MUSCLE_TENDON_LENGTH = 2,
    TAL_MUSCLE_PENNATION = 3,
    TAL_MUSCLE_MAX_PENNATION = 4,
    TAL_MUSCLE_MAX_SPEED = 5,
    TAL_MUSCLE_DAMPING = 6,
    TAL_MUSCLE_ACTIVATION_TIME = 7,
    TAL_MUSCLE_DEACTIVATION_TIME = 8,
    TAL_MUSCLE_MIN_ACTIVATION = 9,
    TAL_MUSCLE_SMOOTHING = 10,
    TAL_MUSCLE_CONTROL = 11, ///< what the program sets; controllers and the measure add to it; 0
    TAL_MUSCLE_MIN_CONTROL = 12,
    TAL_MUSCLE_MAX_CONTROL = 13,
    TAL_MUSCLE_IS_OVERRIDDEN = 14,     ///< 1: the tension is what the next parameter says; 0
    TAL_MUSCLE_OVERRIDE = 15,          ///< [N]; negative pushes
    TAL_MUSCLE_TENDON_FORCE_RATE = 16, ///< of an implicit muscle: dz/dt, over F0 [1/s]
    TAL_NUM_MUSCLE_PARAMS = 17
};

/// @name What muscles are
/// @{

/// Is this element a muscle? False, and no breach, for other elements.
TAL_API bool tal_force_is_muscle(const tal_forces *forces, tal_force_ix force);

/// Which model it is.
TAL_API tal_muscle_model tal_muscle_get_model(const tal_forces *forces, tal_force_ix muscle);

/// The path it pulls along; `i` < 0 on a breach.
TAL_API tal_path_ix tal_muscle_path(const tal_forces *forces, tal_force_ix muscle);

/// Which curve of a muscle.
typedef enum tal_muscle_curve {
    TAL_MUSCLE_CURVE_ACTIVE = 0,   ///< fal(l)
    TAL_MUSCLE_CURVE_PASSIVE = 1,  ///< fpe(l)
    TAL_MUSCLE_CURVE_TENDON = 2,   ///< fse(lt); a rigid tendon has none
    TAL_MUSCLE_CURVE_VELOCITY = 3, ///< fv(v), of Thelen's muscle at full activation
    TAL_NUM_MUSCLE_CURVES = 4
} tal_muscle_curve;

/// A point of a curve: value (order 0) or slope (order 1), at a normalized length or speed. NaN on
/// a breach.
TAL_API double tal_muscle_calc_curve(const tal_forces *forces, tal_force_ix muscle,
                                     tal_muscle_curve which, double x, int order);

/// @}
/// @name State
/// @{

/// The activation: the z, or the control where there are no activation dynamics. Needs the stages
/// of the controllers; NaN on a breach.
TAL_API double tal_muscle_activation(const tal_forces *forces, tal_state *state,
                                     tal_force_ix muscle);

/// Set the activation z, within [min_activation, 1]. Refused where there is none.
TAL_API tal_status tal_muscle_set_activation(const tal_forces *forces, tal_state *state,
                                             tal_force_ix muscle, double activation);

/// Set the z of fibers and tendon: the fiber length [m], or DeGroote's tendon force over F0.
/// Refused where the tendon is rigid.
TAL_API tal_status tal_muscle_set_fiber(const tal_forces *forces, tal_state *state,
                                        tal_force_ix muscle, double value);

/// Set the control: the part that the program gives. Invalidates TAL_STAGE_DYNAMICS.
TAL_API tal_status tal_muscle_set_control(const tal_forces *forces, tal_state *state,
                                          tal_force_ix muscle, double control);

/// Let the tension be a number, whatever the fibers do: for static optimization and joint
/// reactions. Activation and fibers do not change during that time, and no energy is stored or
/// dissipated.
/// @param[in] tension  [N]; NaN ends it
TAL_API tal_status tal_muscle_override(const tal_forces *forces, tal_state *state,
                                       tal_force_ix muscle, double tension);

/// How the fibers of a muscle were found.
typedef enum tal_muscle_equilibrium {
    TAL_MUSCLE_IN_EQUILIBRIUM = 0, ///< fibers and tendon carry the same force
    TAL_MUSCLE_AT_SHORTEST = 1,    ///< the fibers are at their lower limit and pull more
    TAL_MUSCLE_AT_REST = 2         ///< as if at rest: no equilibrium was found with the speed
} tal_muscle_equilibrium;

/**
 * Put the z of fibers and tendon where both carry the same force, for the present path, activation
 * and, where `moving`, its speed, which fibers and tendon share by their stiffness. Otherwise the
 * fibers are taken to be at rest. Needs TAL_STAGE_VELOCITY; lowers the State below
 * TAL_STAGE_DYNAMICS. A muscle with a rigid tendon is in equilibrium always.
 *
 * @param[out] how  may be NULL
 */
TAL_API tal_status tal_muscle_equilibrate(const tal_forces *forces, tal_state *state,
                                          tal_force_ix muscle, bool moving,
                                          tal_muscle_equilibrium *how);

/// The same for all muscles, at rest. Realizes the State to TAL_STAGE_VELOCITY first.
TAL_API tal_status tal_forces_equilibrate_muscles(const tal_forces *forces, tal_state *state);

/// @}
/// @name Outputs
/// @{

/// What can be read of a muscle. Forces along the tendon are the same ones times cos(alpha). Powers
/// are positive when they drive the path to shorten.
typedef enum tal_muscle_output {
    TAL_MUSCLE_LENGTH,             ///< of the path [m]
    TAL_MUSCLE_SPEED,              ///< of the path, positive when lengthening [m/s]
    TAL_MUSCLE_EXCITATION,         ///< the control after all that adds to it, within its range
    TAL_MUSCLE_ACTIVATION,         ///< a
    TAL_MUSCLE_FIBER,              ///< fiber length lf [m]
    TAL_MUSCLE_NORM_FIBER,         ///< lf / lo
    TAL_MUSCLE_FIBER_ALONG_TENDON, ///< lf cos(alpha) [m]
    TAL_MUSCLE_PENNATION_ANGLE,    ///< alpha [rad]
    TAL_MUSCLE_COS_PENNATION,      ///< cos(alpha)
    TAL_MUSCLE_TENDON,             ///< tendon length lt [m]
    TAL_MUSCLE_NORM_TENDON,        ///< lt / ls; NaN without a tendon
    TAL_MUSCLE_TENDON_STRAIN,      ///< lt / ls - 1; NaN without a tendon
    TAL_MUSCLE_FIBER_SPEED,        ///< dlf/dt [m/s]
    TAL_MUSCLE_NORM_FIBER_SPEED,   ///< v = dlf/dt / (vmax lo)
    TAL_MUSCLE_FIBER_SPEED_ALONG_TENDON,         ///< d(lf cos(alpha))/dt [m/s]
    TAL_MUSCLE_PENNATION_SPEED,                  ///< dalpha/dt [rad/s]
    TAL_MUSCLE_TENDON_SPEED,                     ///< dlt/dt [m/s]
    TAL_MUSCLE_ACTIVE_MULTIPLIER,                ///< fal
    TAL_MUSCLE_VELOCITY_MULTIPLIER,              ///< fv
    TAL_MUSCLE_PASSIVE_MULTIPLIER,               ///< fpe
    TAL_MUSCLE_TENDON_MULTIPLIER,                ///< tendon force over F0
    TAL_MUSCLE_FIBER_FORCE,                      ///< active + passive [N]
    TAL_MUSCLE_ACTIVE_FIBER_FORCE,               ///< F0 a fal fv [N]
    TAL_MUSCLE_PASSIVE_FIBER_FORCE,              ///< F0 (fpe + beta v) [N]
    TAL_MUSCLE_DAMPING_FORCE,                    ///< F0 beta v: part of the passive force [N]
    TAL_MUSCLE_FIBER_FORCE_ALONG_TENDON,         ///< [N]
    TAL_MUSCLE_ACTIVE_FIBER_FORCE_ALONG_TENDON,  ///< [N]
    TAL_MUSCLE_PASSIVE_FIBER_FORCE_ALONG_TENDON, ///< [N]
    TAL_MUSCLE_TENDON_FORCE,                     ///< [N]
    TAL_MUSCLE_TENSION,         ///< what pulls along the path: the tendon force, or what
                                ///< overrides it [N]
    TAL_MUSCLE_FIBER_STIFFNESS, ///< F0 (a fv fal' + fpe') / lo [N/m]
    TAL_MUSCLE_FIBER_STIFFNESS_ALONG_TENDON, ///< d(force)/d(length), both along the tendon [N/m]
    TAL_MUSCLE_TENDON_STIFFNESS,             ///< F0 fse' / ls [N/m]; infinite when rigid
    TAL_MUSCLE_STIFFNESS,                    ///< of both in series [N/m]
    TAL_MUSCLE_FIBER_ACTIVE_POWER,           ///< -(active + damping force) dlf/dt [W]
    TAL_MUSCLE_FIBER_PASSIVE_POWER,          ///< -F0 fpe dlf/dt [W]
    TAL_MUSCLE_TENDON_POWER,                 ///< -tendon force * dlt/dt [W]
    TAL_MUSCLE_POWER,                        ///< -tension * dl/dt of the path [W]
    TAL_MUSCLE_FIBER_ENERGY,                 ///< F0 lo * integral of fpe [J]
    TAL_MUSCLE_TENDON_ENERGY,                ///< F0 ls * integral of fse [J]
    TAL_MUSCLE_RESIDUAL,                     ///< (fiber force along the tendon - tendon force) / F0
    TAL_NUM_MUSCLE_OUTPUTS
} tal_muscle_output;

/// Name of an output, as model files and tables have it: "fiber_force". Never NULL.
TAL_API const char *tal_muscle_output_name(tal_muscle_output which);

/// Unit of an output: "N", "m/s"; "" for a number without one. Never NULL.
TAL_API const char *tal_muscle_output_unit(tal_muscle_output which);

/// One output. Needs TAL_STAGE_VELOCITY; NaN on failure.
TAL_API double tal_muscle_calc_output(const tal_forces *forces, tal_state *state,
                                      tal_force_ix muscle, tal_muscle_output which);

/// All outputs. Needs TAL_STAGE_VELOCITY.
/// @param[out] outputs  [TAL_NUM_MUSCLE_OUTPUTS] in the order of ::tal_muscle_output
TAL_API TAL_NODISCARD tal_status tal_muscle_calc_outputs(const tal_forces *forces, tal_state *state,
                                                         tal_force_ix muscle, double outputs[]);

/// How strong a muscle is here: the force along the tendon [N] of its active fibers at full
/// activation, F0 fal fv cos(alpha), if the tendon were rigid. Passive force and damping are not
/// part of it; 0 where the fibers would be at their shortest. Needs TAL_STAGE_VELOCITY; NaN on
/// failure.
TAL_API double tal_muscle_calc_strength(const tal_forces *forces, tal_state *state,
                                        tal_force_ix muscle);

/// An output as a measure of one value at TAL_STAGE_DYNAMICS, owned by the force subsystem. Before
/// the topology is realized; sticky.
TAL_API tal_measure_ix tal_measure_add_muscle_output(tal_forces *forces, const char *name,
                                                     tal_force_ix muscle, tal_muscle_output which);

/// @}
/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_MUSCLE_H
