// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_PRESCRIBED_H
#define TALUS_MATTER_PRESCRIBED_H

/**
 * @file talus/matter/prescribed.h
 * @brief Prescribed motion and locks: mobilities whose motion is known instead of found.
 *
 * A mobility can be known at one of three levels (manual sec. 10.3):
 *
 *     level          given                   found by differentiating    found by integrating
 *     position       q(t)                    u, udot
 *     velocity       u(t, q)                 udot                        q
 *     acceleration   udot(t, q, u)                                       u, q
 *
 * With tau the force that the known motion takes, the equations of motion are (manual eq. 8.23)
 *
 *     M udot + G^T lambda + tau = f,        tau = 0 where udot is free
 *
 * They are solved in O(n), and faster than without known motion: to the rest of the tree a known
 * mobilizer is a weld that moves. Known motion has priority over constraints, which are satisfied
 * by the free mobilities.
 *
 * A *motion* is part of the System and can be disabled in a State. A *lock* is part of the State
 * and overrides any motion; an event handler may change the value of a lock, which is then a slow
 * (discrete) variable. Both apply to a whole mobilizer, or to one of its mobilities where qdot is
 * simply u. Known q and u are variables like others. tal_system_prescribe_q() and
 * tal_system_prescribe_u() write them: call these after setting t or q.
 *
 *     tal_motion_def crank = tal_motion_def_default();
 *     crank.body = wheel;
 *     const double rate[] = {6.28};
 *     tal_matter_add_motion_steady(matter, &crank, rate, 1);
 */

#include <talus/matter/constraint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup prescribed Prescribed motion and locks
/// @{

/// At which level a mobility is known.
typedef enum tal_level {
    TAL_LEVEL_FREE,         ///< not known: forces decide
    TAL_LEVEL_ACCELERATION, ///< udot is known
    TAL_LEVEL_VELOCITY,     ///< u and udot are known
    TAL_LEVEL_POSITION      ///< q, u and udot are known
} tal_level;

/// A motion. `i` below zero means "none".
typedef struct tal_motion_ix {
    int i;
} tal_motion_ix;

/// Arguments of a motion's function.
typedef struct tal_motion_arg {
    double t;
    tal_level level; ///< of the motion
    int n;           ///< values wanted: 1 for one mobility; else nq at the position level, or nu
    bool use_angles; ///< the mobilizer has body-XYZ angles instead of a quaternion
    const double *params; ///< parameters, kept in the State
    const double *q;      ///< of the mobilizer; NULL at the position level
    const double *u;      ///< of the mobilizer; NULL unless udot is wanted below the position level
    const tal_state *state; ///< other coordinates and speeds, as far as `q` and `u` are given
} tal_motion_arg;

/**
 * A motion as a table of functions.
 *
 * Declare it `static const` and fill it with designated initializers. All functions are pure and
 * allocate nothing. Built-in motions are tables like this one.
 */
typedef struct tal_motion_ops {
    size_t size;      ///< sizeof(tal_motion_ops): lets the table grow without breaking you
    const char *name; ///< for messages, e.g. "sinusoid"
    uint64_t tag;     ///< change it when the meaning of the parameters changes
    int num_params;   ///< doubles of parameters in the State; -1: as many as values

    // Required.

    /// What is prescribed (order 0) or its time derivative of that order. The last one is always
    /// the acceleration, so `order` goes to 2 at the position level, to 1 at the velocity level,
    /// and is 0 at the acceleration level. Writes arg->n values.
    /// @param[out] out  [arg->n]
    tal_status (*calc)(const void *self, const tal_motion_arg *arg, int order, double out[]);

    // Optional. The default, when NULL, is given after the colon.

    /// Called once, when the System is destroyed or refuses the motion: nothing.
    void (*destroy)(void *self);
} tal_motion_ops;

/// A motion to be added: its name and what it moves. Obtain it from tal_motion_def_default(), then
/// edit.
typedef struct tal_motion_def {
    const char *name; ///< unique among motions; NULL means "motion<index>"; copied
    tal_body_ix body; ///< whose mobilizer
    int mobility;     ///< which of its mobilities; below zero: all of them
    tal_level level;  ///< of what is prescribed
    bool disabled;    ///< starts disabled; can be changed in the State
} tal_motion_def;

/// No body, all mobilities, position level, enabled.
TAL_API tal_motion_def tal_motion_def_default(void);

/// @name Adding motions. Sticky, as all building is. A mobility has one motion at most.
/// @{

/**
 * Add a motion with any table.
 *
 * @param[in] self    adopted by this call whether it succeeds or not
 * @param[in] params  [ops->num_params] initial values; NULL means zeros
 * @return its index, `i` < 0 on failure
 */
TAL_API tal_motion_ix tal_matter_add_motion(tal_matter *matter, const tal_motion_def *def,
                                            const tal_motion_ops *ops, void *self,
                                            const double params[]);

/**
 * Functions of time: at the position level one for each coordinate, with second derivatives; at the
 * velocity level one for each speed, with first derivatives; at the acceleration level one for each
 * speed.
 *
 * @param[in] functions  [n] adopted by this call whether it succeeds or not, unless NULL or owned
 *                       already
 * @param[in] n          1 for a single mobility
 */
TAL_API tal_motion_ix tal_matter_add_motion_functions(tal_matter *matter, const tal_motion_def *def,
                                                      tal_function *const functions[], int n);

/// Constant speeds, one for each mobility; at the velocity level, whatever the def says. They are
/// the parameters of the motion.
/// @param[in] u  [n]
TAL_API tal_motion_ix tal_matter_add_motion_steady(tal_matter *matter, const tal_motion_def *def,
                                                   const double u[], int n);

/// amplitude sin(omega t + phase) for every coordinate, speed or acceleration. The three numbers
/// are the parameters of the motion. Refused for a quaternion at the position level.
TAL_API tal_motion_ix tal_matter_add_motion_sinusoid(tal_matter *matter, const tal_motion_def *def,
                                                     double amplitude, double omega, double phase);

/// Let States begin with a body locked: at q where X_FM = 1 (position), u = 0, or udot = 0.
TAL_API tal_status tal_matter_lock_by_default(tal_matter *matter, tal_body_ix body,
                                              tal_level level);

/**
 * Declare a mobilizer, and all it carries, *fast*: it settles so quickly that it is always in
 * balance.
 *
 * tal_system_relax() finds the q, or the u, at which the forces applied to what they carry, and
 * along them, cancel: J^T F + f - G^T lambda = 0 (manual sec. 10.3 and 10.4.2). Inertia does not
 * matter.
 *
 *     level       found by relaxing     zero       found by integrating
 *     position    q                     u, udot
 *     velocity    u                     udot       q
 *
 * What a fast body carries is fast at its level, unless declared at another. Mobilities that are
 * locked or have a motion stay known as they are. The balance found is a stable one: forces, or
 * friction, bring the body back to it.
 *
 * Constraints on fast bodies are not part of the equations of motion: they have no rows in the
 * State. Relaxing meets them by moving fast mobilities only, and their forces are those of the
 * balance: tal_constraint_calc_fast_multipliers(). They may have no acceleration equations, no
 * velocity equations on bodies that are fast in position, and act on bodies of one level only.
 * Positions are relaxed first, with u as it is; then velocities (manual eq. 8.96).
 *
 * @param[in] level  TAL_LEVEL_POSITION or TAL_LEVEL_VELOCITY
 */
TAL_API tal_status tal_matter_make_fast(tal_matter *matter, tal_body_ix body, tal_level level);

/// States may make a body fast (tal_body_set_fast()); they begin with it dynamic. Memory of States
/// has room for it.
TAL_API tal_status tal_matter_allow_fast(tal_matter *matter, tal_body_ix body);

/// @}

/// @name How fast, in a State (manual sec. 10.3)
/// Which variables are slow, dynamic and fast is chosen in each State, at any time: slow ones by
/// locks, which events may change, and fast ones here. Setting invalidates TAL_STAGE_INSTANCE: with
/// it, constraints on the body get or lose their rows. q and u stay as they are; fast ones settle
/// with the next tal_system_relax().
/// @{

/// Make a body fast that may be (tal_matter_make_fast(), tal_matter_allow_fast()), at the position
/// or the velocity level, or dynamic with TAL_LEVEL_FREE: then it is as fast as what carries it.
/// Refused with the name of a constraint that could not be met.
TAL_API tal_status tal_body_set_fast(const tal_matter *matter, tal_state *state, tal_body_ix body,
                                     tal_level level);

/// The level at which a body is fast in a State, itself or with what carries it; TAL_LEVEL_FREE
/// when it is not. Locks and motions come before that: tal_mobility_level().
TAL_API tal_level tal_body_fast_level(const tal_matter *matter, const tal_state *state,
                                      tal_body_ix body);
/// @}

/// Number of motions.
TAL_API int tal_matter_num_motions(const tal_matter *matter);

/// Look a motion up by name; `i` < 0 when there is none.
TAL_API tal_motion_ix tal_matter_find_motion(const tal_matter *matter, const char *name);

/// Name of a motion; never NULL; borrowed.
TAL_API const char *tal_motion_name(const tal_matter *matter, tal_motion_ix motion);

/// Whether a motion is enabled in a State.
TAL_API bool tal_motion_is_enabled(const tal_matter *matter, const tal_state *state,
                                   tal_motion_ix motion);

/// Enable or disable a motion; invalidates TAL_STAGE_INSTANCE when that changes anything.
TAL_API tal_status tal_motion_set_enabled(const tal_matter *matter, tal_state *state,
                                          tal_motion_ix motion, bool enabled);

/// Parameters of a motion; borrowed.
TAL_API const double *tal_motion_params(const tal_matter *matter, const tal_state *state,
                                        tal_motion_ix motion, int *n);

/// Set the parameters of a motion; invalidates TAL_STAGE_INSTANCE.
/// @param[in] params  [n]
TAL_API tal_status tal_motion_set_params(const tal_matter *matter, tal_state *state,
                                         tal_motion_ix motion, const double params[], int n);

/// @name Locks. Setting one invalidates TAL_STAGE_INSTANCE, and writes q and u so that they agree.
/// Refused for one mobility of a mobilizer whose qdot is not simply u. Need TAL_STAGE_MODEL.
/// @{

/// Lock a whole mobilizer: q or u as they are, or udot at zero. TAL_LEVEL_FREE unlocks.
TAL_API tal_status tal_body_lock(const tal_matter *matter, tal_state *state, tal_body_ix body,
                                 tal_level level);

/// Lock a whole mobilizer at given values: nq at the position level, else nu.
/// @param[in] values  [n]
TAL_API tal_status tal_body_lock_at(const tal_matter *matter, tal_state *state, tal_body_ix body,
                                    tal_level level, const double values[], int n);

/// Free a whole mobilizer.
TAL_API tal_status tal_body_unlock(const tal_matter *matter, tal_state *state, tal_body_ix body);

/// The level at which all mobilities of a body are locked; TAL_LEVEL_FREE when they are not, or
/// differ.
TAL_API tal_level tal_body_lock_level(const tal_matter *matter, const tal_state *state,
                                      tal_body_ix body);

/// Lock one mobility: q or u as it is, or udot at zero. TAL_LEVEL_FREE unlocks.
TAL_API tal_status tal_mobility_lock(const tal_matter *matter, tal_state *state,
                                     tal_mobility mobility, tal_level level);

/// Lock one mobility at a given value.
TAL_API tal_status tal_mobility_lock_at(const tal_matter *matter, tal_state *state,
                                        tal_mobility mobility, tal_level level, double value);

/// Free one mobility.
TAL_API tal_status tal_mobility_unlock(const tal_matter *matter, tal_state *state,
                                       tal_mobility mobility);

/// The level at which one mobility is locked.
TAL_API tal_level tal_mobility_lock_level(const tal_matter *matter, const tal_state *state,
                                          tal_mobility mobility);
/// @}

/// @name What is known
/// @{

/// The level at which a mobility is known, by a lock, by a motion, or because it is fast. Needs
/// TAL_STAGE_INSTANCE.
TAL_API tal_level tal_mobility_level(const tal_matter *matter, const tal_state *state,
                                     tal_mobility mobility);

/// Number of mobilities whose udot is free. Needs TAL_STAGE_INSTANCE, -1 before.
TAL_API int tal_matter_num_free(const tal_matter *matter, const tal_state *state);

/// Which variables of matter are listed.
typedef enum tal_variable_kind {
    TAL_VARIABLE_Q,   ///< known where the position level is
    TAL_VARIABLE_U,   ///< known where the position or the velocity level is
    TAL_VARIABLE_UDOT ///< known where any level is
} tal_variable_kind;

/**
 * The variables that are free, or those that are known, as slots among matter's: of q counted as
 * tal_body_q_start() does, of u and udot as tal_body_u_start(). Ascending. Needs
 * TAL_STAGE_INSTANCE.
 *
 * @param[in]  known  those that are known, not those that are free
 * @param[out] slots  [nq or nu]
 * @return how many; -1 on a breach
 */
TAL_API int tal_matter_list_variables(const tal_matter *matter, const tal_state *state,
                                      tal_variable_kind kind, bool known, int slots[]);

/// packed[k] = all[slots[k]], for slots from tal_matter_list_variables().
/// @param[in]  all     [n]
/// @param[in]  slots   [num] from 0 to n - 1; another one is a breach, and its value NaN
/// @param[out] packed  [num]
TAL_API void tal_variables_pack(const double all[], int n, const int slots[], int num,
                                double packed[]);

/// all[slots[k]] = packed[k]; the others stay.
/// @param[in]     packed  [num]
/// @param[in]     slots   [num] from 0 to n - 1; another one is a breach
/// @param[in,out] all     [n]
TAL_API void tal_variables_unpack(const double packed[], const int slots[], int num, double all[],
                                  int n);

/**
 * How far the State is from what is prescribed: the largest difference in q, u or udot over the
 * mobilities known at that level.
 *
 * Needs TAL_STAGE_TIME, TAL_STAGE_POSITION or TAL_STAGE_ACCELERATION; NaN on a breach or failure.
 */
TAL_API double tal_matter_motion_error(const tal_matter *matter, tal_state *state, tal_level level);

/// tau of M udot + G^T lambda + tau = f, all nu of them: zero where udot is free. Needs
/// TAL_STAGE_ACCELERATION; borrowed; NULL on a breach.
TAL_API const double *tal_matter_motion_multipliers(const tal_matter *matter, tal_state *state);

/// Multipliers of a constraint on fast bodies: mp of them on bodies that are fast in position, mp +
/// mv in velocity. Zero when it is disabled. Needs TAL_STAGE_DYNAMICS.
/// @param[out] lambda  [mp or mp + mv]
TAL_API tal_status tal_constraint_calc_fast_multipliers(const tal_matter *matter, tal_state *state,
                                                        tal_constraint_ix constraint,
                                                        double lambda[]);

/// The force along one mobility that its known motion takes: -tau [N or N m]. NaN on a breach.
TAL_API double tal_body_motion_force(const tal_matter *matter, tal_state *state, tal_body_ix body,
                                     int i);

/// Power that the known motion of a body's mobilizer brings in: -tau . u [W]. NaN on a breach.
TAL_API double tal_body_motion_power(const tal_matter *matter, tal_state *state, tal_body_ix body);

/// The same for all mobilizers [W].
TAL_API double tal_matter_motion_power(const tal_matter *matter, tal_state *state);

/// @}
/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_PRESCRIBED_H
