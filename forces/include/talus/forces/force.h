// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_FORCE_H
#define TALUS_FORCES_FORCE_H

/**
 * @file talus/forces/force.h
 * @brief The force subsystem, and what a force element is: a table of functions.
 *
 * A force element adds to the forces on bodies and along speeds while the Dynamics stage is
 * realized (manual sec. 4.4). It may own variables, z and cache, and may report potential energy
 * and dissipated power. Everything built in is such a table; yours is treated the same.
 *
 *     tal_forces *forces = tal_forces_create(system, matter);
 *     tal_forces_add_gravity(forces, tal_v3(0.0, -9.81, 0.0));
 *     tal_forces_add(forces, "elbow spring", &spring_ops, &spring);
 */

#include <talus/common/executor.h>
#include <talus/matter.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Longest name of a force element, without the terminating zero. What it declares is named
/// "<element>.<name>", which must fit TAL_MAX_NAME.
#define TAL_MAX_FORCE_NAME 39

/// @defgroup forces Forces
/// @{

/// A force subsystem. Opaque; owned by the System.
typedef struct tal_forces tal_forces;

/// One element of a force subsystem; `i` below zero means "none".
typedef struct tal_force_ix {
    int i;
} tal_force_ix;

/// What the forces of an element are computed from, besides variables of its own
/// (tal_force_add_var()). Forces of q alone are kept while only u, z or t change.
typedef enum tal_force_needs {
    TAL_FORCE_NEEDS_ALL, ///< anything: t, q, u, z, measures, variables of others
    TAL_FORCE_NEEDS_Q,   ///< q; neither t, nor u, nor z
    TAL_FORCE_NEEDS_T    ///< t; neither q, nor u, nor z
} tal_force_needs;

/// Number of values of ::tal_force_needs.
#define TAL_NUM_FORCE_NEEDS 3

/// What the functions of a table work with. Valid during the call.
typedef struct tal_force_context {
    const tal_system *system;
    const tal_matter *matter;
    tal_state *state; ///< to read variables and results, and to realize lazy entries of your own
    /// X_GM of all bodies; `bytes` is NULL below Position, and in `apply` for TAL_FORCE_NEEDS_T.
    tal_bodies_view poses;
    /// V_GM of all bodies; `bytes` is NULL below Velocity, and in `apply` for all except
    /// TAL_FORCE_NEEDS_ALL.
    tal_bodies_view velocities;
    /// Other elements are being applied to the same State at the same time: only read the State,
    /// and return only a status to fail; `apply` is then called once more, alone, for the sentence.
    bool concurrent;
    const double *params[TAL_NUM_FORCE_NEEDS]; ///< parameters of the built-in elements
    const void *placed;                        ///< what the built-in elements computed at Instance
} tal_force_context;

/// A small change of where everything is and how it moves.
typedef struct tal_force_change {
    const double *dq;          ///< [nq of matter]
    const double *du;          ///< [nu]
    const tal_spatial_vec *dX; ///< [num_bodies] turn of M and shift of Mo, in Ground
    const tal_spatial_vec *dV; ///< [num_bodies] change of V_GM, in Ground
    const double *dz;          ///< [nz of the State]; NULL: z stays
} tal_force_change;

/// A tangent matrix that elements add their slopes to. Opaque.
typedef struct tal_force_slopes tal_force_slopes;

/**
 * A force on body B at a point, and its opposite on A there, change with how that point of B moves
 * in A, by K dp + C dv: for tal_force_ops.add_slopes. An element that turns its force along with A
 * leaves that out: an iteration converges without it.
 *
 * @param[in] p_GS  the point, from Ground's origin
 * @param[in] K     [N/m] in Ground; of a spring that pulls along e, -k e e^T
 * @param[in] C     [N s/m] in Ground
 */
TAL_API tal_status tal_force_slopes_add(tal_force_slopes *sum, tal_body_ix A, tal_body_ix B,
                                        tal_vec3 p_GS, const tal_mat3 *K, const tal_mat3 *C);

/// The force along a speed of matter changes by k x + c u, with x the motion along another speed,
/// or the same, and u that speed.
/// @param[in] of  the speed whose force changes, from 0 to nu
/// @param[in] by  the one it depends on
TAL_API tal_status tal_force_slopes_add_along(tal_force_slopes *sum, int of, int by, double k,
                                              double c);

/**
 * A force element as a table of functions.
 *
 * Declare it `static const`, fill what you need with designated initializers, leave the rest NULL.
 * After `declare` the element is const: what varies belongs in the State. The functions allocate
 * nothing and may run on several threads at once, each with its own State. To fail, return
 * `tal_state_fail(context->state, status, "...")`, or TAL_RETRY to ask an integrator for a smaller
 * step.
 */
typedef struct tal_force_ops {
    size_t size;      ///< sizeof(tal_force_ops): lets the table grow without breaking you
    const char *name; ///< kind, for messages, e.g. "gravity"
    uint64_t tag;     ///< change it when the meaning of your variables changes: part of the hash

    // Required.

    /**
     * Add this element's forces. On entry: Velocity, and z is known. Called only when something
     * that the element `needs` has changed. Moments are about Mo here, as the poses and velocities
     * of the context are those of M; forces obtained from calls have theirs about Bo.
     *
     * @param[in,out] F_GM  [num_bodies] moment about Mo and force on each body, in Ground [N m, N]
     * @param[in,out] f     [nu] forces along matter's speeds, from tal_body_u_start() on
     */
    tal_status (*apply)(const void *self, const tal_force_context *context, tal_spatial_vec F_GM[],
                        double f[]);

    // Optional. The default, when NULL, is given after the colon.

    /// Declare variables, cache entries and z by tal_force_add_var() and similar calls. Runs once,
    /// when the topology is realized: nothing.
    tal_status (*declare)(void *self, tal_forces *forces, tal_force_ix me);

    /// Compute what depends on parameters alone, e.g. stations re-expressed from B to M
    /// (tal_body_X_MB()), into cache entries of your own. On entry: matter has realized Instance:
    /// nothing.
    tal_status (*realize_instance)(const void *self, const tal_force_context *context);

    /// Write zdot of your groups (tal_group_upd_dot()). On entry: matter has realized Acceleration.
    /// Not called while the element is disabled; its zdot is zero then: nothing.
    tal_status (*realize_acceleration)(const void *self, const tal_force_context *context);

    /// Potential energy [J]. On entry: Position: zero.
    tal_status (*calc_potential_energy)(const void *self, const tal_force_context *context,
                                        double *energy);

    /// Power by which this element irreversibly reduces the mechanical energy [W], not negative for
    /// a passive element. On entry: Velocity, and z is known: zero.
    tal_status (*calc_dissipated_power)(const void *self, const tal_force_context *context,
                                        double *power);

    /// Called once, when the System is destroyed or refuses the element: nothing.
    void (*destroy)(void *self);

    /// What `apply` depends on: on anything. tal_force_test() checks that it is true.
    tal_force_needs needs;

    /// Whether `apply` may run while other elements are applied to the same State: it may not.
    /// See tal_forces_use_threads().
    bool is_concurrent;

    /**
     * Add the change of what `apply` adds, to first order in `change`: found by differences.
     *
     * It is linear in `change`. An element that works with bodies reads dX and dV, one that works
     * with coordinates dq and du: both describe the same change. One with z reads dz.
     * On entry as for `apply`, with poses and velocities.
     *
     * @param[in,out] dF_GM  [num_bodies] change of moment about Mo, which moves along, and of force
     * @param[in,out] df     [nu] change of the forces along speeds
     */
    tal_status (*apply_change)(const void *self, const tal_force_context *context,
                               const tal_force_change *change, tal_spatial_vec dF_GM[],
                               double df[]);

    /**
     * Tell the stiffness and damping of forces at points, by tal_force_slopes_add(), or along
     * speeds: what implicit steps need of `apply_change`, at a fraction of its cost. On entry as
     * for `apply_change`: the columns of the tangent are found by `apply_change`.
     */
    tal_status (*add_slopes)(const void *self, const tal_force_context *context,
                             tal_force_slopes *sum);
} tal_force_ops;

/// Add a force subsystem for `matter`, which must belong to the same System. A System may have
/// several. Owned by the System; NULL on failure.
TAL_API tal_forces *tal_forces_create(tal_system *system, const tal_matter *matter);

/// The first force subsystem of a System; NULL when it has none (that is not a breach). Borrowed.
TAL_API const tal_forces *tal_system_forces(const tal_system *system);

/// The matter these forces act on; borrowed.
TAL_API const tal_matter *tal_forces_matter(const tal_forces *forces);

/// These forces as a subsystem.
TAL_API tal_subsystem_ix tal_forces_subsystem(const tal_forces *forces);

/**
 * Add an element. Sticky, as all building is.
 *
 * @param[in] name  unique among the elements; NULL means "force<index>"; copied
 * @param[in] ops   copied
 * @param[in] self  adopted by this call whether it succeeds or not: `ops->destroy` will free it
 * @return its index, `i` < 0 on failure
 */
TAL_API tal_force_ix tal_forces_add(tal_forces *forces, const char *name, const tal_force_ops *ops,
                                    void *self);

/// Number of elements.
TAL_API int tal_forces_num(const tal_forces *forces);

/// Look an element up by name; `i` < 0 when there is none (that is not a breach).
TAL_API tal_force_ix tal_forces_find(const tal_forces *forces, const char *name);

/// Name of an element; never NULL; borrowed.
TAL_API const char *tal_force_name(const tal_forces *forces, tal_force_ix force);

/// Name of an element's kind, e.g. "gravity"; never NULL; borrowed.
TAL_API const char *tal_force_kind(const tal_forces *forces, tal_force_ix force);

/**
 * Keep track of the energy that an element dissipates, as a z of its own: zdot is the dissipated
 * power. The z is the group "<element>.dissipated", initially zero. Before the topology is
 * realized; sticky.
 */
TAL_API void tal_force_track_dissipation(tal_forces *forces, tal_force_ix force);

/// The same for every element that was added before and has a dissipated power.
TAL_API void tal_forces_track_dissipation(tal_forces *forces);

/**
 * Let elements be applied by several threads. Before the topology is realized; sticky.
 *
 * Those that may run concurrently (tal_force_ops.is_concurrent) are cut into `num_chunks` runs of
 * elements, which are tasks for the executor; each adds to arrays of its own, which are then added
 * up in order. So results depend on `num_chunks`, in the last digits, but are the same bit for bit
 * for any number of threads. Every State holds the arrays, 6 num_bodies + nu numbers for each
 * chunk.
 *
 * @param[in] executor    copied; its `context` must outlive the System. NULL: the tasks run one
 *                        after the other, with the same results as on threads
 * @param[in] num_chunks  1 ... 64; a few times the number of threads is a good choice
 */
TAL_API void tal_forces_use_threads(tal_forces *forces, const tal_executor *executor,
                                    int num_chunks);

/// @name Declaring, from tal_force_ops.declare.
/// As tal_system_add_var(), _cache and _group, with "<element>." put before the name, and the
/// element's `self` as the context where the def gives none.
/// @{
TAL_API tal_var_ix tal_force_add_var(tal_forces *forces, tal_force_ix force,
                                     const tal_var_def *def);
TAL_API tal_cache_ix tal_force_add_cache(tal_forces *forces, tal_force_ix force,
                                         const tal_cache_def *def);
/// Groups of z only.
TAL_API tal_group_ix tal_force_add_group(tal_forces *forces, tal_force_ix force,
                                         const tal_group_def *def);
/// @}

/// Whether an element is enabled; all are until set otherwise. False on a breach.
TAL_API bool tal_force_is_enabled(const tal_forces *forces, const tal_state *state,
                                  tal_force_ix force);

/// Enable or disable an element; invalidates TAL_STAGE_INSTANCE.
TAL_API tal_status tal_force_set_enabled(const tal_forces *forces, tal_state *state,
                                         tal_force_ix force, bool enabled);

/**
 * Add the forces of one element, enabled or not, to arrays of your own. Needs TAL_STAGE_VELOCITY.
 * Moments are about Bo, as operators (talus/matter/operators.h) take them.
 *
 * @param[in,out] F_GB  [num_bodies] moment about Bo and force, in Ground [N m, N]
 * @param[in,out] f     [nu] forces along matter's speeds
 */
TAL_API TAL_NODISCARD tal_status tal_force_apply(const tal_forces *forces, tal_state *state,
                                                 tal_force_ix force, tal_spatial_vec F_GB[],
                                                 double f[]);

/**
 * Forces of chosen elements, enabled or not, summed. Needs TAL_STAGE_VELOCITY.
 *
 * Moments are about Bo, as operators (talus/matter/operators.h) take them:
 * tal_matter_forward_dynamics() of the sum of all enabled elements is the udot of a tree without
 * constraints. See tal_forces_calc_generalized() for generalized forces, and
 * tal_matter_calc_applied_forces() for all that was applied. TAL_ERR_NOT_FINITE names the element
 * whose force is NaN or infinite.
 *
 * @param[in]  which  [n] elements; one that is named twice counts twice
 * @param[out] F_GB   [num_bodies] moment about Bo and force, in Ground [N m, N]
 * @param[out] f      [nu] forces along matter's speeds
 */
TAL_API TAL_NODISCARD tal_status tal_forces_calc_sum(const tal_forces *forces, tal_state *state,
                                                     const tal_force_ix which[], int n,
                                                     tal_spatial_vec F_GB[], double f[]);

/**
 * Generalized forces of chosen elements, enabled or not, summed: g = f + J^T F, so that their power
 * is g . u. Needs TAL_STAGE_VELOCITY.
 *
 * Of a muscle with tension t, -g[i] / t is dl/dq of its length l where qdot = u: g[i] / t is the
 * moment arm about a pin.
 *
 * @param[in]  which  [n] elements; one that is named twice counts twice
 * @param[out] g      [nu] in the order of tal_body_u_start(); written on success only
 */
TAL_API TAL_NODISCARD tal_status tal_forces_calc_generalized(const tal_forces *forces,
                                                             tal_state *state,
                                                             const tal_force_ix which[], int n,
                                                             double g[]);

/// Potential energy of one element, enabled or not [J]. Needs TAL_STAGE_POSITION; NaN on failure.
TAL_API double tal_force_potential_energy(const tal_forces *forces, tal_state *state,
                                          tal_force_ix force);

/// Power dissipated by one element, enabled or not [W]. Needs TAL_STAGE_VELOCITY; NaN on failure.
TAL_API double tal_force_dissipated_power(const tal_forces *forces, tal_state *state,
                                          tal_force_ix force);

/// Potential energy of all enabled elements [J]. Needs TAL_STAGE_POSITION; NaN on failure.
TAL_API double tal_forces_potential_energy(const tal_forces *forces, tal_state *state);

/// Power dissipated by all enabled elements [W]. Needs TAL_STAGE_VELOCITY; NaN on failure.
TAL_API double tal_forces_dissipated_power(const tal_forces *forces, tal_state *state);

/// Energy that one element has dissipated since its z was zero [J]. Needs TAL_STAGE_MODEL; NaN and
/// a breach when it is not being tracked (tal_force_track_dissipation()).
TAL_API double tal_force_dissipated_energy(const tal_forces *forces, const tal_state *state,
                                           tal_force_ix force);

/// Energy that all tracked elements have dissipated [J]. Needs TAL_STAGE_MODEL.
TAL_API double tal_forces_dissipated_energy(const tal_forces *forces, const tal_state *state);

/// Potential energy of all force subsystems of a System [J]. Needs TAL_STAGE_POSITION; NaN on
/// failure.
TAL_API double tal_system_potential_energy(const tal_system *system, tal_state *state);

/// Mechanical energy of a System: kinetic energy of its matter and potential energy of its forces
/// [J]. Needs TAL_STAGE_VELOCITY; NaN on failure.
TAL_API double tal_system_energy(const tal_system *system, tal_state *state);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_FORCE_H
