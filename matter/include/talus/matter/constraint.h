// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_CONSTRAINT_H
#define TALUS_MATTER_CONSTRAINT_H

/**
 * @file talus/matter/constraint.h
 * @brief Constraints: equations that the motion of the tree has to satisfy besides its mobilizers.
 *
 * A constraint acts on some *constrained bodies* and *constrained mobilities* and has mp equations
 * on positions, mv on velocities and ma on accelerations (manual ch. 6):
 *
 *     p(t, q) = 0          v(t, q, u) = 0          a(t, q, u, udot) = 0
 *
 * Position equations are differentiated once for the velocity level and twice for the acceleration
 * level, velocity equations once. What the m = mp + mv + ma multipliers do is given by the force
 * function, the transpose of the acceleration equations: with
 *
 *     M udot + G^T lambda = f,        aerr = G udot - b
 *
 * a constraint resists with -G^T lambda. Redundant constraints are not an error: they share the
 * load by the least sum of squares.
 *
 * tal_constraint_test() checks the functions of a table against each other.
 */

#include <talus/matter/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup constraint Constraints
/// @{

/// A constraint. `i` below zero means "none".
typedef struct tal_constraint_ix {
    int i;
} tal_constraint_ix;

/// A ::tal_constraint_def has room for this many constrained bodies and constrained mobilities;
/// more are given as lists. A constraint can have any number of them, and of equations.
#define TAL_CONSTRAINT_BODIES     4
#define TAL_CONSTRAINT_MOBILITIES 16

/// One speed of one body, and the coordinate that goes with it where qdot = u.
typedef struct tal_mobility {
    tal_body_ix body;
    int i; ///< which speed of that body
} tal_mobility;

/// Arguments of the functions of a table. Motion of the constrained bodies is relative to their
/// outermost common ancestor A: frames B in A, velocities and accelerations of Bo, expressed in A.
typedef struct tal_constraint_arg {
    double t;
    int num_bodies;           ///< constrained bodies
    int num_mobilities;       ///< constrained mobilities
    const double *params;     ///< [num_params]
    const tal_xform *X_AB;    ///< [num_bodies]
    const tal_spatial_vec *V; ///< [num_bodies] V_AB in A; NULL below the velocity level
    const tal_spatial_vec *a; ///< [num_bodies] A_AB in A; NULL below the acceleration level
    const double *q;          ///< [num_mobilities] coordinates of the constrained mobilities
    const double *u;          ///< [num_mobilities] their speeds; NULL below the velocity level
    const double *udot;       ///< [num_mobilities] their accelerations; NULL below that level
} tal_constraint_arg;

/// A small change of these arguments, at given t and parameters. Poses change by a turn of B and a
/// shift of Bo; of V and A the components change.
typedef struct tal_constraint_change {
    const tal_spatial_vec *dX;      ///< [num_bodies] turn and shift, in A
    const tal_spatial_vec *dV, *dA; ///< [num_bodies] in A
    const double *dq, *du, *dudot;  ///< [num_mobilities]
} tal_constraint_change;

/**
 * A constraint as a table of functions.
 *
 * Declare it `static const` and fill it with designated initializers. All functions are pure and
 * allocate nothing. Built-in constraints are tables like this one.
 */
typedef struct tal_constraint_ops {
    size_t size;        ///< sizeof(tal_constraint_ops): lets the table grow without breaking you
    const char *name;   ///< for messages, e.g. "rod"
    uint64_t tag;       ///< change it when the meaning of the equations changes
    int mp;             ///< equations on positions
    int mv;             ///< equations on velocities
    int ma;             ///< equations on accelerations, linear in udot
    int num_bodies;     ///< constrained bodies; -1: as many as the def names
    int num_mobilities; ///< constrained mobilities; -1: as many as the def names
    int num_params;     ///< doubles of parameters, kept in the State (Instance)
    bool forces_need_velocity; ///< add_forces depends on V or u: velocity equations nonlinear in u

    // Required for the levels that exist.

    /// perr [mp].
    /// @param[out] perr  [mp]
    tal_status (*calc_p)(const void *self, const tal_constraint_arg *arg, double perr[]);

    /// [mp + mv]: the time derivative of perr, then verr.
    /// @param[out] verr  [mp + mv]
    tal_status (*calc_v)(const void *self, const tal_constraint_arg *arg, double verr[]);

    /// [mp + mv + ma]: the second derivative of perr, the derivative of verr, then aerr.
    /// @param[out] aerr  [mp + mv + ma]
    tal_status (*calc_a)(const void *self, const tal_constraint_arg *arg, double aerr[]);

    /// Add G^T lambda: to F [num_bodies], moment about Bo and force, in A; and to f
    /// [num_mobilities]. If these forces are not in balance, A carries the rest.
    /// @param[in]     lambda  [mp + mv + ma]
    /// @param[in,out] F       [num_bodies] moment about Bo and force, in A
    /// @param[in,out] f       [num_mobilities]
    tal_status (*add_forces)(const void *self, const tal_constraint_arg *arg, const double lambda[],
                             tal_spatial_vec F[], double f[]);

    // Optional. The default, when NULL, is given after the colon.

    /// Are these parameters physical? If not, fill `err` with a sentence that names the wrong one:
    /// any finite value is accepted.
    /// @param[in] params  [num_params]
    tal_status (*check_params)(const void *self, const double params[], tal_error *err);

    /// Called once, when the System is destroyed or refuses the constraint: nothing.
    void (*destroy)(void *self);

    /// The rotation by which body 2 is turned away from where it should be, as seen from body 1, as
    /// a rotation vector in A; and the axis about which it may turn, zero when there is none.
    /// Equations on orientations usually have false roots, such as a weld with one body turned by
    /// half a turn; assembly uses this function besides perr to avoid them: perr is taken to have
    /// no false roots.
    void (*calc_turn)(const void *self, const tal_constraint_arg *arg, tal_vec3 *turn,
                      tal_vec3 *free_axis);

    /// How the errors change, to first order in `change`, and the forces of these multipliers: by
    /// differences of the other functions. Motion is given up to accelerations. What a table gives
    /// here counts as exact (tal_matter_differenced_constraints()).
    /// @param[in]     lambda  [mp + mv + ma]
    /// @param[out]    perr    [mp]
    /// @param[out]    verr    [mp + mv]
    /// @param[out]    aerr    [mp + mv + ma]
    /// @param[in,out] F       [num_bodies] the change of moment about Bo, which moves along, and of
    ///                        force is added, in A
    /// @param[in,out] f       [num_mobilities] the same
    tal_status (*calc_change)(const void *self, const tal_constraint_arg *arg,
                              const tal_constraint_change *change, const double lambda[],
                              double perr[], double verr[], double aerr[], tal_spatial_vec F[],
                              double f[]);
} tal_constraint_ops;

/// A constraint to be added: its name and what it acts on. Obtain it from
/// tal_constraint_def_default(), then edit.
typedef struct tal_constraint_def {
    const char *name; ///< unique among constraints; NULL means "constraint<index>"; copied
    tal_body_ix bodies[TAL_CONSTRAINT_BODIES];
    tal_mobility mobilities[TAL_CONSTRAINT_MOBILITIES];
    int num_bodies;     ///< used when the table says -1
    int num_mobilities; ///< used when the table says -1
    /// [num_bodies of the table, or of the def] instead of `bodies`, for any number; NULL: those;
    /// copied
    const tal_body_ix *body_list;
    const tal_mobility *mobility_list; ///< the same, instead of `mobilities`
    bool disabled;                     ///< starts disabled; can be changed in the State
} tal_constraint_def;

/// No name, Ground everywhere, enabled.
TAL_API tal_constraint_def tal_constraint_def_default(void);

/**
 * Add a constraint with any table.
 *
 * @param[in] self    adopted by this call whether it succeeds or not
 * @param[in] params  [ops->num_params] initial values; NULL means zeros
 * @return its index, `i` < 0 on failure (sticky)
 */
TAL_API tal_constraint_ix tal_matter_add_constraint(tal_matter *matter,
                                                    const tal_constraint_def *def,
                                                    const tal_constraint_ops *ops, void *self,
                                                    const double params[]);

/// Number of constraints.
TAL_API int tal_matter_num_constraints(const tal_matter *matter);

/// Look a constraint up by name; `i` < 0 when there is none.
TAL_API tal_constraint_ix tal_matter_find_constraint(const tal_matter *matter, const char *name);

/// Name of a constraint; never NULL; borrowed.
TAL_API const char *tal_constraint_name(const tal_matter *matter, tal_constraint_ix constraint);

/// The outermost common ancestor of its constrained bodies; needs the topology.
TAL_API tal_body_ix tal_constraint_ancestor(const tal_matter *matter, tal_constraint_ix constraint);

/// Whether a constraint is enabled in a State.
TAL_API bool tal_constraint_is_enabled(const tal_matter *matter, const tal_state *state,
                                       tal_constraint_ix constraint);

/// Enable or disable a constraint; invalidates TAL_STAGE_INSTANCE when that changes anything.
TAL_API tal_status tal_constraint_set_enabled(const tal_matter *matter, tal_state *state,
                                              tal_constraint_ix constraint, bool enabled);

/// How large a part a constraint takes of a load that other constraints could carry as well; 1
/// unless set. NaN on a breach.
TAL_API double tal_constraint_share(const tal_matter *matter, const tal_state *state,
                                    tal_constraint_ix constraint);

/// Set that weight (manual sec. 9.4), positive; invalidates TAL_STAGE_ACCELERATION. Redundant
/// constraints share the load so that the sum of (lambda / share)^2 is least. Accelerations, and
/// multipliers that are unique, do not depend on it.
TAL_API tal_status tal_constraint_set_share(const tal_matter *matter, tal_state *state,
                                            tal_constraint_ix constraint, double share);

/// Parameters of a constraint; borrowed.
TAL_API const double *tal_constraint_params(const tal_matter *matter, const tal_state *state,
                                            tal_constraint_ix constraint, int *n);

/// Set the parameters of a constraint; invalidates TAL_STAGE_INSTANCE.
/// @param[in] params  [n]
TAL_API tal_status tal_constraint_set_params(const tal_matter *matter, tal_state *state,
                                             tal_constraint_ix constraint, const double params[],
                                             int n);

/// Whether the table of a constraint has a calc_turn (tal_constraint_ops::calc_turn).
TAL_API bool tal_constraint_has_turn(const tal_matter *matter, tal_constraint_ix constraint);

/// What tal_constraint_test() found: by how much things differ that should agree, relative to their
/// size or to 1, whichever is larger.
typedef struct tal_constraint_report {
    double verr;   ///< calc_v, of the position equations: differences of calc_p
    double aerr;   ///< calc_a, of the position and velocity equations: differences of calc_v
    double linear; ///< calc_a is linear in udot
    /// `add_forces` adds, is linear in lambda, and does lambda . G v of work in a motion v.
    double forces;
    double change; ///< calc_change: differences of the others; 0 where there is none
    double worst;  ///< the largest of these
} tal_constraint_report;

/**
 * Check the functions of a constraint against each other at a State: with a table whose functions
 * do not agree, energy is lost or gained, or errors drift.
 *
 * Derivatives are compared with differences along t, q and u moving with a random udot. With bodies
 * that move at speeds up to v, everything is below 1e-11 v^2 for a correct table, and far above for
 * a wrong one. Whether the constraint is enabled or satisfied in the State does not matter.
 *
 * @param[in]  state   realized to TAL_STAGE_MODEL at least; stays as it is. A second State is
 *                     created for the time of the call.
 * @param[out] report  written on success only
 * @param[out] err     may be NULL
 * @return a failure of the table's functions is passed on
 */
TAL_API tal_status tal_constraint_test(const tal_matter *matter, const tal_state *state,
                                       tal_constraint_ix constraint, tal_constraint_report *report,
                                       tal_error *err);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_CONSTRAINT_H
