// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_CONTROL_H
#define TALUS_FORCES_CONTROL_H

/**
 * @file talus/forces/control.h
 * @brief Controls of actuators and muscles, and controllers that add to them.
 *
 * An actuator with one output and a muscle have a control: a number that the program sets in the
 * State (tal_actuator_set_control()), to which a measure of its own and any number of controllers
 * add. The sum is kept in the actuator's range:
 *
 *     x = min(max(set + measure + controller + controller + ..., least), largest)
 *
 *     tal_function *pulse = ...; // of time
 *     tal_forces_add_function_controller(forces, "pulse", &biceps, &pulse, 1);
 *     tal_forces_add_reflex(forces, "stretch reflex", biceps, 0.3);
 *
 * A controller is a table of functions; the ones built in are functions of time (splines of a
 * table, nodes, anything), measures, stretch reflexes, and feedback on a coordinate. Each can be
 * disabled in a State.
 *
 * Body actuators, with six controls, are driven by measures alone.
 */

#include <talus/forces/params.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup control Controls and controllers
/// @{

/// @name Controls
/// @{

/// Does an element have a control? False, and no breach, where it has none.
TAL_API bool tal_force_has_control(const tal_forces *forces, tal_force_ix force);

/// The control of an actuator or muscle: all that adds to it, within its range. Needs
/// TAL_STAGE_VELOCITY; NaN on failure.
TAL_API double tal_actuator_control(const tal_forces *forces, tal_state *state,
                                    tal_force_ix actuator);

/// Set the part that the program gives; invalidates TAL_STAGE_DYNAMICS. Zero at first.
TAL_API tal_status tal_actuator_set_control(const tal_forces *forces, tal_state *state,
                                            tal_force_ix actuator, double control);

/// The range of the control. Both are NaN on a breach.
TAL_API tal_status tal_actuator_control_range(const tal_forces *forces, const tal_state *state,
                                              tal_force_ix actuator, double *least,
                                              double *largest);

/// Set the range of the control; invalidates TAL_STAGE_DYNAMICS. Infinities are possible.
TAL_API tal_status tal_actuator_set_control_range(const tal_forces *forces, tal_state *state,
                                                  tal_force_ix actuator, double least,
                                                  double largest);

/// @}
/// @name Controllers
/// @{

/// One controller of a force subsystem; `i` below zero means "none".
typedef struct tal_controller_ix {
    int i;
} tal_controller_ix;

/**
 * A controller as a table of functions. Declare it `static const`. After it is added it does not
 * change; what varies belongs in the State, as variables of measures or elements.
 */
typedef struct tal_controller_ops {
    size_t size;      ///< sizeof(tal_controller_ops)
    const char *name; ///< kind, for messages

    /// What this controller adds to the control of its actuator number `which`. On entry: Velocity,
    /// and z is known. A value that is not finite makes the stage fail in the controller's name.
    tal_status (*calc_control)(const void *self, const tal_force_context *context, int which,
                               double *control);

    /// Called once, when the System is destroyed or refuses the controller. NULL: nothing.
    void (*destroy)(void *self);
} tal_controller_ops;

/**
 * Add a controller. Sticky, as all building is; before the topology is realized.
 *
 * @param[in] name       unique among the controllers; NULL means "controller<index>"; copied
 * @param[in] actuators  [n] each has a control (tal_force_has_control()); copied
 * @param[in] ops        copied
 * @param[in] self       adopted by this call whether it succeeds or not
 * @return its index, `i` < 0 on failure
 */
TAL_API tal_controller_ix tal_forces_add_controller(tal_forces *forces, const char *name,
                                                    const tal_force_ix actuators[], int n,
                                                    const tal_controller_ops *ops, void *self);

/// Number of controllers.
TAL_API int tal_forces_num_controllers(const tal_forces *forces);

/// Look a controller up by name; `i` < 0 when there is none (that is not a breach).
TAL_API tal_controller_ix tal_forces_find_controller(const tal_forces *forces, const char *name);

/// Name of a controller; never NULL; borrowed.
TAL_API const char *tal_controller_name(const tal_forces *forces, tal_controller_ix controller);

/// Name of its kind, e.g. "reflex"; never NULL; borrowed.
TAL_API const char *tal_controller_kind(const tal_forces *forces, tal_controller_ix controller);

/// Number of actuators that it drives; -1 on a breach.
TAL_API int tal_controller_num_actuators(const tal_forces *forces, tal_controller_ix controller);

/// One of them; `i` < 0 on a breach.
TAL_API tal_force_ix tal_controller_actuator(const tal_forces *forces, tal_controller_ix controller,
                                             int which);

/// What it adds to the control of its actuator number `which`, enabled or not. Needs
/// TAL_STAGE_VELOCITY; NaN on failure.
TAL_API double tal_controller_output(const tal_forces *forces, tal_state *state,
                                     tal_controller_ix controller, int which);

/// Whether it is enabled; all are until set otherwise. False on a breach.
TAL_API bool tal_controller_is_enabled(const tal_forces *forces, const tal_state *state,
                                       tal_controller_ix controller);

/// Enable or disable it; invalidates TAL_STAGE_DYNAMICS.
TAL_API tal_status tal_controller_set_enabled(const tal_forces *forces, tal_state *state,
                                              tal_controller_ix controller, bool enabled);

/// @}
/// @name Kinds of controllers
/// @{

/// Functions of time: one for each actuator.
/// @param[in] actuators  [n]
/// @param[in] functions  [n] of one argument; adopted whether the call succeeds or not
TAL_API tal_controller_ix tal_forces_add_function_controller(tal_forces *forces, const char *name,
                                                             const tal_force_ix actuators[],
                                                             tal_function *const functions[],
                                                             int n);

/**
 * Rows of a table, one column for each actuator: a function controller whose functions are the
 * nodes of its columns (tal_function_create_nodes()), held beyond the first and the last row.
 *
 * @param[in] actuators  [n]
 * @param[in] times      [count] increasing [s]; copied
 * @param[in] values     [count][n] controls; copied
 * @param[in] kind       straight lines between the rows, or the value of the next row
 */
TAL_API tal_controller_ix tal_forces_add_table_controller(tal_forces *forces, const char *name,
                                                          const tal_force_ix actuators[], int n,
                                                          const double times[],
                                                          const double values[], int count,
                                                          tal_nodes kind);

/// gain times a measure of one value, at Velocity or before: any signal, also a delayed one.
TAL_API tal_controller_ix tal_forces_add_measure_controller(tal_forces *forces, const char *name,
                                                            tal_force_ix actuator, double gain,
                                                            tal_measure_ix measure);

/// A stretch reflex of a muscle: gain * max(0, dl/dt) / (lo vmax), with the speed dl/dt of its
/// path.
TAL_API tal_controller_ix tal_forces_add_reflex(tal_forces *forces, const char *name,
                                                tal_force_ix muscle, double gain);

/// Feedback on a coordinate.
typedef struct tal_feedback {
    tal_mobility mobility; ///< the coordinate, numbered as with angles
    double stiffness;      ///< kp, control per coordinate
    double damping;        ///< kd, control per rate of the coordinate
    tal_function *target;  ///< of time, with a first derivative; NULL: zero. Adopted
} tal_feedback;

/// kp (target(t) - q) + kd (target'(t) - qdot).
/// @param[in] feedback  its target is adopted whether the call succeeds or not
TAL_API tal_controller_ix tal_forces_add_feedback(tal_forces *forces, const char *name,
                                                  tal_force_ix actuator,
                                                  const tal_feedback *feedback);

/// @}
/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_CONTROL_H
