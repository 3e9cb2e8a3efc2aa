// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_UNILATERAL_H
#define TALUS_MATTER_UNILATERAL_H

/**
 * @file talus/matter/unilateral.h
 * @brief Unilateral elements: constraints that push but do not pull, with dry friction.
 *
 * An element is made of ordinary constraints (talus/matter/constraint.h), which are switched on and
 * off as contacts close and open (manual sec. 8.6):
 *
 *     normal   one equation, whose error is the gap; it may open. Of a position equation it is a
 *              contact, a stop or a rope; of a velocity equation a ratchet.
 *     grip     one or two equations along which the element may slip: friction.
 *
 * An element without a grip has no friction. An element without a normal has friction only, up to
 * a limit that is given (a dry joint, a clutch, a motor of limited force), and in proportion to a
 * load: what rows of an ordinary constraint, which holds both ways, carry (a pin, a guide).
 *
 * In a State each element has a mode:
 *
 *     off      the normal is disabled: open, or touching without a force
 *     on       the normal is enabled; there is no grip
 *     stick    the grip is enabled, too
 *     slide    the grip is disabled; friction acts against the slip
 *
 * No mode changes by itself. A contact that is on pulls if the motion needs it, and one that is off
 * lets bodies pass through each other, until tal_matter_solve_impact() and
 * tal_matter_solve_modes() (talus/matter/impact.h) or tal_unilateral_set_mode() are called. In a
 * run of a time stepper tal_contacts (talus/study/contacts.h) does that where it must be done.
 *
 * Signs: pi is the force by which an element pushes its bodies apart, >= 0; multipliers have the
 * sign of the equations of motion, lambda = -pi times the sign of the element.
 *
 * Elements for points, spheres, edges, stops and ropes are added by talus/matter/unilaterals.h.
 */

#include <talus/matter/constraint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup unilateral Unilateral elements
/// @{

/// A unilateral element. `i` below zero means "none".
typedef struct tal_unilateral_ix {
    int i;
} tal_unilateral_ix;

/// What an element does in a State.
typedef enum tal_unilateral_mode {
    TAL_UNILATERAL_OFF,   ///< nothing
    TAL_UNILATERAL_ON,    ///< it pushes; it has no friction
    TAL_UNILATERAL_STICK, ///< it pushes, and does not slip
    TAL_UNILATERAL_SLIDE  ///< it pushes, and slips, or has just begun to
} tal_unilateral_mode;

/// Which equation an element has, and how many states (manual sec. 8.6).
typedef enum tal_unilateral_level {
    TAL_UNILATERAL_POSITION,    ///< contacts, stops, ropes: seven states
    TAL_UNILATERAL_VELOCITY,    ///< ratchets: five
    TAL_UNILATERAL_ACCELERATION ///< three
} tal_unilateral_level;

/// Friction and restitution of one element. Obtain it from tal_unilateral_material_default(), then
/// edit. In a State; setting it invalidates TAL_STAGE_DYNAMICS.
typedef struct tal_unilateral_material {
    double static_mu;     ///< coefficient of friction at rest, >= sliding_mu; INFINITY: never slips
    double sliding_mu;    ///< coefficient while it slips, >= 0
    double viscous_mu;    ///< [s/m] what a unit of slip speed adds to that, >= 0
    double limit;         ///< [N] friction without any normal force, >= 0
    double restitution;   ///< e, from 0 to 1: what remains of a normal impulse in expansion
    double slow_speed;    ///< [m/s] below this speed of approach e rises to 1 linearly, >= 0
    double capture_speed; ///< [m/s] below this speed of approach e is 0, >= 0
    double transition_speed; ///< [m/s] below this slip the last direction counts, >= 0
} tal_unilateral_material;

/// No friction, no restitution; directions count from 1e-9 m/s on.
TAL_API tal_unilateral_material tal_unilateral_material_default(void);

/**
 * The coefficient of restitution at a speed of approach:
 *
 *     0                            up to capture_speed
 *     1 - (1 - e) speed/slow       up to slow_speed
 *     e                            above
 *
 * NaN for NULL, and a breach.
 *
 * @param[in] speed  [m/s] of approach, positive
 */
TAL_API double tal_unilateral_restitution(const tal_unilateral_material *material, double speed);

/// A ::tal_unilateral_load has at most this many rows.
#define TAL_UNILATERAL_LOAD_ROWS 5

/**
 * What presses on a grip that has no normal of its own: rows of an ordinary constraint with
 * multipliers lambda (manual eq. 8.73),
 *
 *     N = |(w_0 lambda_first, w_1 lambda_first+1, ...)|
 *
 * Of one row that is w |lambda|: the guide is pressed on one side or on the other. A weight turns
 * units into those of friction: of a pin it is its radius, where friction is a moment.
 */
typedef struct tal_unilateral_load {
    tal_constraint_ix constraint;            ///< `i` < 0: none
    int first;                               ///< its first row that counts
    int count;                               ///< how many do, 1 to TAL_UNILATERAL_LOAD_ROWS
    double weight[TAL_UNILATERAL_LOAD_ROWS]; ///< of each row, >= 0
} tal_unilateral_load;

/**
 * Whether an element may touch, of a user's own: positive where it may, zero at the limit. Smooth
 * there, and of the stage Position. Must not allocate.
 *
 * @param[in,out] state  realized to TAL_STAGE_POSITION
 */
typedef double (*tal_unilateral_margin_fn)(void *context, const tal_matter *matter,
                                           tal_state *state, tal_unilateral_ix element);

/// An element to be added. Obtain it from tal_unilateral_def_default(), then edit.
typedef struct tal_unilateral_def {
    const char *name; ///< unique among elements; NULL means "unilateral<index>"; copied
    /// With one equation, on positions or on velocities; `i` < 0: none, friction only.
    tal_constraint_ix normal;
    int sign; ///< +1: the error of the normal is the gap; -1: its opposite is
    /// With one or two equations, all on velocities or all on positions; `i` < 0: no friction.
    tal_constraint_ix grip;
    /// Of a grip with position equations: the parameter that is subtracted from the first of them;
    /// the next one from the second. Where the element begins to stick they are set so that the
    /// errors are zero: it is anchored there and does not creep. -1: velocity equations.
    int anchor;
    tal_unilateral_load load; ///< of an element without a normal
    /// Where it may touch, by a function of yours: tal_contacts (talus/study/contacts.h) enables
    /// and disables the element by it. NULL: everywhere.
    tal_unilateral_margin_fn margin;
    void *margin_context; ///< handed to `margin`; borrowed
    tal_unilateral_material material;
    bool disabled; ///< starts disabled; can be changed in the State
} tal_unilateral_def;

/// No constraints, sign +1, no anchor, no load, weights 1, the default material.
TAL_API tal_unilateral_def tal_unilateral_def_default(void);

/**
 * Make a unilateral element of constraints that have been added. From then on they belong to the
 * element: they start disabled, and its mode enables them.
 *
 * @return its index, `i` < 0 on failure (sticky)
 */
TAL_API tal_unilateral_ix tal_matter_add_unilateral(tal_matter *matter,
                                                    const tal_unilateral_def *def);

/// How many elements may slide at the same time, 64 unless set: States have memory for it. Before
/// the topology is realized.
TAL_API tal_status tal_matter_set_most_sliding(tal_matter *matter, int most);

/// What tal_matter_set_most_sliding() has set; 0: nothing.
TAL_API int tal_matter_most_sliding(const tal_matter *matter);

/// Number of elements.
TAL_API int tal_matter_num_unilaterals(const tal_matter *matter);

/// Look an element up by name; `i` < 0 when there is none.
TAL_API tal_unilateral_ix tal_matter_find_unilateral(const tal_matter *matter, const char *name);

/// Name of an element; never NULL; borrowed.
TAL_API const char *tal_unilateral_name(const tal_matter *matter, tal_unilateral_ix element);

/// Its normal; `i` < 0: it has none.
TAL_API tal_constraint_ix tal_unilateral_normal(const tal_matter *matter,
                                                tal_unilateral_ix element);

/// Its grip; `i` < 0: it has none.
TAL_API tal_constraint_ix tal_unilateral_grip(const tal_matter *matter, tal_unilateral_ix element);

/// What presses on its grip besides its own normal; the constraint is `i` < 0 when nothing does,
/// and on a breach.
TAL_API tal_unilateral_load tal_unilateral_load_of(const tal_matter *matter,
                                                   tal_unilateral_ix element);

/// Whether an element has limits within which it may touch.
TAL_API bool tal_unilateral_is_limited(const tal_matter *matter, tal_unilateral_ix element);

/// The element that a constraint belongs to; `i` < 0: none, or a breach.
TAL_API tal_unilateral_ix tal_constraint_unilateral(const tal_matter *matter,
                                                    tal_constraint_ix constraint);

/// +1: the error of the normal is the gap; -1: its opposite is; 0 on a breach.
TAL_API int tal_unilateral_sign(const tal_matter *matter, tal_unilateral_ix element);

/// Which equation its normal is: TAL_UNILATERAL_ACCELERATION for an element without a normal, and
/// on a breach.
TAL_API tal_unilateral_level tal_unilateral_level_of(const tal_matter *matter,
                                                     tal_unilateral_ix element);

/// Equations of its grip: 0, 1 or 2; -1 on a breach.
TAL_API int tal_unilateral_num_slips(const tal_matter *matter, tal_unilateral_ix element);

/// @}
/// @name In a State
/// @{

/// Whether an element takes part at all.
TAL_API bool tal_unilateral_is_enabled(const tal_matter *matter, const tal_state *state,
                                       tal_unilateral_ix element);

/// Enable or disable an element; a disabled one is off. Invalidates TAL_STAGE_INSTANCE.
TAL_API tal_status tal_unilateral_set_enabled(const tal_matter *matter, tal_state *state,
                                              tal_unilateral_ix element, bool enabled);

/// Its material; NaN on a breach.
TAL_API tal_unilateral_material tal_unilateral_material_of(const tal_matter *matter,
                                                           const tal_state *state,
                                                           tal_unilateral_ix element);

/// Set its material; invalidates TAL_STAGE_DYNAMICS. TAL_ERR_BAD_VALUE names the field that is
/// wrong.
TAL_API tal_status tal_unilateral_set_material(const tal_matter *matter, tal_state *state,
                                               tal_unilateral_ix element,
                                               const tal_unilateral_material *material);

/// Its mode; off on a breach.
TAL_API tal_unilateral_mode tal_unilateral_mode_of(const tal_matter *matter, const tal_state *state,
                                                   tal_unilateral_ix element);

/**
 * Set its mode. Invalidates TAL_STAGE_INSTANCE, unless the mode is what it was already: then
 * TAL_STAGE_DYNAMICS, for the direction. A grip that begins to stick is anchored where it is.
 *
 * TAL_ERR_BAD_VALUE for a mode that the element cannot have: "on" with a grip, "stick" or "slide"
 * without one, "off" without a normal, anything but "off" when it is disabled.
 *
 * @param[in,out] state      if it is to stick, realized up to TAL_STAGE_POSITION on the way
 * @param[in]     direction  [2] of slip along the equations of the grip, when it slides; counts
 *                           while the slip is slower than the transition speed; NULL: unknown
 */
TAL_API tal_status tal_unilateral_set_mode(const tal_matter *matter, tal_state *state,
                                           tal_unilateral_ix element, tal_unilateral_mode mode,
                                           const double direction[]);

/// Gap [m or rad]; of a ratchet NaN. What is missing is realized, up to TAL_STAGE_POSITION. NaN
/// when it cannot be computed.
TAL_API double tal_unilateral_gap(const tal_matter *matter, tal_state *state,
                                  tal_unilateral_ix element);

/// How far an element is within its limits [m, or as the user's function says], negative beyond
/// them; INFINITY without limits. Up to TAL_STAGE_POSITION. NaN when it cannot be computed.
TAL_API double tal_unilateral_margin(const tal_matter *matter, tal_state *state,
                                     tal_unilateral_ix element);

/// Rate of the gap; the speed of a ratchet. Up to TAL_STAGE_VELOCITY.
TAL_API double tal_unilateral_speed(const tal_matter *matter, tal_state *state,
                                    tal_unilateral_ix element);

/**
 * Gaps of all elements that are open, or their rates; INFINITY for the others, and for those that
 * have none. Up to TAL_STAGE_POSITION, or TAL_STAGE_VELOCITY.
 *
 * @param[in]  rates   the rates of the gaps instead
 * @param[out] values  [tal_matter_num_unilaterals()] NaN where one cannot be computed
 */
TAL_API tal_status tal_matter_calc_gaps(const tal_matter *matter, tal_state *state, bool rates,
                                        double values[]);

/// Its rate. Up to TAL_STAGE_ACCELERATION.
TAL_API double tal_unilateral_acceleration(const tal_matter *matter, tal_state *state,
                                           tal_unilateral_ix element);

/**
 * Velocity of slip along the equations of the grip. Up to TAL_STAGE_VELOCITY.
 *
 * @param[out] slip  [2] zero where there is no equation
 * @return TAL_OK, or why it could not be computed
 */
TAL_API tal_status tal_unilateral_calc_slip(const tal_matter *matter, tal_state *state,
                                            tal_unilateral_ix element, double slip[]);

/**
 * The speed of slip of an element that slides, positive along the direction it has slipped in since
 * the start of the step: where slip ends it passes through zero. Up to TAL_STAGE_VELOCITY. 0 for
 * an element that does not slide; NaN when it cannot be computed.
 */
TAL_API double tal_unilateral_slip_speed(const tal_matter *matter, tal_state *state,
                                         tal_unilateral_ix element);

/**
 * How far a sliding element is from a jam (Painleve): what is left of the effect of its normal
 * force when its friction goes with it, 1 - mu dN/dsigma; of one contact k / A_NN with
 * k = A_NN - mu A_NT . d. At zero no force keeps it from penetrating. 1 for an element that does
 * not slide. Up to TAL_STAGE_ACCELERATION, and a solve: a diagnostic. NaN when it cannot be
 * computed.
 */
TAL_API double tal_unilateral_slide_margin(const tal_matter *matter, tal_state *state,
                                           tal_unilateral_ix element);

/// What an element does to its bodies.
typedef struct tal_unilateral_force {
    double normal;      ///< pi_N [N or N m], along the growing gap; of a load N, >= 0
    double friction[2]; ///< pi_T, along the equations of the grip
} tal_unilateral_force;

/// The force of an element. Up to TAL_STAGE_ACCELERATION; NaN when it cannot be computed.
TAL_API tal_unilateral_force tal_unilateral_force_of(const tal_matter *matter, tal_state *state,
                                                     tal_unilateral_ix element);

/// @}
/// @defgroup unilateral_status The state tables
/// @{

/// The states of manual sec. 8.6.
typedef enum tal_unilateral_status {
    TAL_UNILATERAL_VIOLATED,   ///< beyond its tolerance: must be corrected
    TAL_UNILATERAL_SEPARATED,  ///< open
    TAL_UNILATERAL_SEPARATING, ///< touching, but leaving
    TAL_UNILATERAL_IMPACTING,  ///< touching and approaching: an impact is to be solved
    TAL_UNILATERAL_CANDIDATE,  ///< touching at rest: forces are to be solved for
    TAL_UNILATERAL_ACTIVE,     ///< it pushes
    TAL_UNILATERAL_INACTIVE    ///< it touches without pushing
} tal_unilateral_status;

/// What is known of an element, to be classified.
typedef struct tal_unilateral_facts {
    tal_unilateral_level level;
    double gap;             ///< p; only of positions
    double speed;           ///< its rate, or v; not of accelerations
    double force;           ///< pi, if it is known
    bool force_is_known;    ///< else it stays a candidate
    bool impact_declared;   ///< impacting whatever its speed is
    double gap_tolerance;   ///< >= 0
    double speed_tolerance; ///< >= 0
    double force_tolerance; ///< >= 0; forces up to this count as none
} tal_unilateral_facts;

/**
 * The state of an element, by the tables of manual sec. 8.6. A value equal to its tolerance is
 * within it: it makes an element a candidate, and a force equal to its tolerance counts as none.
 * NaN is violated. NULL is violated, and a breach.
 */
TAL_API tal_unilateral_status tal_unilateral_classify(const tal_unilateral_facts *facts);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_UNILATERAL_H
