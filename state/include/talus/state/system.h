// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STATE_SYSTEM_H
#define TALUS_STATE_SYSTEM_H

/**
 * @file talus/state/system.h
 * @brief Building a System: subsystems, and the variables, cache entries and slots they declare.
 *
 * Building is *sticky*: an `add` call returns an index at once, the System remembers the first bad
 * argument, later adds do nothing, and tal_system_realize_topology() returns the
 * failure with a sentence. Code that builds a model needs no checks, and no failure is lost.
 *
 * Everything a State will ever hold is declared before the topology is realized, at its largest
 * size over all modeling choices. Later stages only choose sizes within that capacity.
 */

#include <talus/common/alloc.h>
#include <talus/state/stage.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Longest name of an element, without the terminating zero.
#define TAL_MAX_NAME 63

/// @defgroup system System
/// @{

/// What a System is created from. Obtain it from tal_system_def_default(), then edit.
typedef struct tal_system_def {
    const char *name;        ///< for messages; copied
    tal_allocator allocator; ///< source of all memory of the System and of its States
    double time_scale;       ///< t_c [s], a typical time in which velocities change (manual 9.3)
} tal_system_def;

/// A System named "system" on the C heap, with t_c = 0.1 s.
TAL_API tal_system_def tal_system_def_default(void);

/**
 * Create an empty System.
 *
 * @param[in] def  copied; NULL means tal_system_def_default()
 * @return the System, owned by the caller; NULL when there is no memory. A def with a bad value
 *         gives a System that remembers the failure.
 * @see tal_system_destroy()
 */
TAL_API TAL_NODISCARD tal_system *tal_system_create(const tal_system_def *def);

/// Free a System and everything it adopted. NULL is allowed. Its States may be destroyed before or
/// after, but not used after.
TAL_API void tal_system_destroy(tal_system *system);

/**
 * Finish building: let every subsystem declare what it needs, lay out the State, freeze.
 *
 * @param[in,out] system  it never changes after success; after a failure it can only be destroyed
 * @param[out]    err     why it failed; may be NULL
 * @return TAL_OK, the first failure of building, or TAL_ERR_NO_MEMORY
 */
TAL_API TAL_NODISCARD tal_status tal_system_realize_topology(tal_system *system, tal_error *err);

/// True once tal_system_realize_topology() has succeeded.
TAL_API bool tal_system_has_topology(const tal_system *system);

/// The first failure of building; status TAL_OK when there is none. Never NULL; borrowed.
TAL_API const tal_error *tal_system_error(const tal_system *system);

/**
 * Record a failure of building, for code that adds elements of its own kind.
 *
 * @param[in] status  a negative status
 * @param[in] fmt     printf-like: one sentence that names the element and the wrong value
 * @return `status`
 */
TAL_API tal_status tal_system_fail(tal_system *system, tal_status status, const char *fmt, ...)
    TAL_PRINTF(3, 4);

/// Name of the System; never NULL; borrowed.
TAL_API const char *tal_system_name(const tal_system *system);

/// t_c [s].
TAL_API double tal_system_time_scale(const tal_system *system);

/// Identity of the declared structure: equal for Systems built by the same calls in the same order,
/// in any process. Zero before the topology is realized.
TAL_API uint64_t tal_system_structure_hash(const tal_system *system);

/// Bytes of one State of this System. Zero before the topology is realized.
TAL_API size_t tal_system_state_size(const tal_system *system);

/// The allocator given in the def.
TAL_API tal_allocator tal_system_allocator(const tal_system *system);

/// @}
/// @defgroup subsystem Subsystems
/// @{

/// Why events are being handled or reported (manual sec. 10.4).
typedef enum tal_event_cause {
    TAL_EVENT_INITIALIZATION, ///< a study begins
    TAL_EVENT_TRIGGERED,      ///< a trigger function crossed zero
    TAL_EVENT_SCHEDULED,      ///< a scheduled time has come
    TAL_EVENT_STEP_ADVANCED,  ///< a step was accepted
    TAL_EVENT_SIGNALED,       ///< it was requested by tal_event_flags.signaled
    TAL_EVENT_TERMINATION,    ///< a study ends
    TAL_EVENT_CHANGED         ///< handlers, or the caller between calls, have changed the State
} tal_event_cause;

/// How to project onto the constraint manifold.
typedef struct tal_project_options {
    /// Wanted norm of the weighted constraint errors; how they are weighted is said at
    /// tal_system_project_q() and tal_system_project_u().
    double tolerance;
    int max_iterations; ///< of Newton's method
    bool infinity_norm; ///< largest weighted error instead of their root mean square
    bool even_if_met;   ///< take one iteration even if the tolerance is met already
    /// Whether a row of uerr is known to repeat others where the constraints are
    /// met, [size of the pool]; NULL: none is. The closer q is to the constraints, the clearer it
    /// is which rows repeat others. What these rows require farther away is ignored, and q is
    /// projected beyond the tolerance as long as that brings it closer. Not owned.
    const bool *redundant;
    bool only_redundant; ///< leave all other rows, and quaternions, as they are
} tal_project_options;

/// Tolerance 1e-4, 20 iterations, RMS norm.
TAL_API tal_project_options tal_project_options_default(void);

/// What a projection did. Norms are the worst over the subsystems.
typedef struct tal_project_result {
    int iterations;     ///< of Newton's method, summed over the subsystems
    double norm_before; ///< of the weighted errors on entry
    double norm_after;  ///< and on return
    bool changed;       ///< whether any variable was written
} tal_project_result;

/**
 * What a subsystem is, as a table of functions.
 *
 * Built-in subsystems are tables like this one; yours is treated in the same way. Declare it
 * `static const`, fill what you need with designated initializers, leave the rest NULL. `self` is
 * the pointer given to tal_system_add_subsystem(). After topology it is const: whatever varies
 * belongs in the State. Functions may run on several threads at once, each with its own State, and
 * must not allocate. To fail, return `tal_state_fail(state, status, "...")`.
 *
 * At every stage the subsystems run in ascending `order`, and within one order as registered.
 */
typedef struct tal_subsystem_ops {
    size_t size;      ///< sizeof(tal_subsystem_ops): lets the table grow without breaking you
    const char *name; ///< kind, for messages, e.g. "matter"
    int order;        ///< 0 unless there is a reason; matter runs first with -1
    uint64_t tag;     ///< change it when the meaning of your variables changes: part of the hash

    // All optional. A NULL function does nothing.

    /// Declare variables, cache entries, slots, events. Runs once.
    tal_status (*realize_topology)(void *self, tal_system *system, tal_subsystem_ix me);

    /// Choose sizes of q, u, z groups (tal_group_set_size()), given the modeling choices. The
    /// groups are cut afterwards: q, u, z and their sizes cannot be read here.
    tal_status (*realize_model)(const void *self, const tal_system *system, tal_state *state);

    /// Choose sizes of error and trigger groups, which cannot be read here; compute what depends on
    /// parameters alone.
    tal_status (*realize_instance)(const void *self, const tal_system *system, tal_state *state);

    // Compute the results of one stage. On entry every subsystem has realized the stage below, and
    // those earlier in order have realized this one.

    tal_status (*realize_time)(const void *self, const tal_system *system, tal_state *state);
    /// Write your slots of qerr.
    tal_status (*realize_position)(const void *self, const tal_system *system, tal_state *state);
    /// Write your slots of qdot and uerr.
    tal_status (*realize_velocity)(const void *self, const tal_system *system, tal_state *state);
    tal_status (*realize_dynamics)(const void *self, const tal_system *system, tal_state *state);
    /// Write your slots of udot, qdotdot, zdot, udoterr and multipliers.
    tal_status (*realize_acceleration)(const void *self, const tal_system *system,
                                       tal_state *state);
    tal_status (*realize_report)(const void *self, const tal_system *system, tal_state *state);

    // Solvers: they write variables (manual sec. 7.1.1 and 10.4).

    /// Write the q that are prescribed as functions of t. On entry: Time. Set *changed when a value
    /// was written that differs from the one before; write only what differs.
    tal_status (*prescribe_q)(const void *self, const tal_system *system, tal_state *state,
                              bool *changed);
    /// Write the u that are prescribed as functions of t and q. On entry: Position.
    tal_status (*prescribe_u)(const void *self, const tal_system *system, tal_state *state,
                              bool *changed);
    /// Move q to the position constraints, and remove from `q_error` (nq values, or NULL) the part
    /// normal to them. On entry: Position. `result` arrives zeroed.
    /// @param[in,out] q_error  [nq] may be NULL
    tal_status (*project_q)(const void *self, const tal_system *system, tal_state *state,
                            const tal_project_options *options, double q_error[],
                            tal_project_result *result);
    /// The same for u and the velocity constraints. On entry: Velocity.
    /// @param[in,out] u_error  [nu] may be NULL
    tal_status (*project_u)(const void *self, const tal_system *system, tal_state *state,
                            const tal_project_options *options, double u_error[],
                            tal_project_result *result);
    /// Bring your fast variables to balance. On entry: Time. With `relax_stage` it is not called.
    tal_status (*relax)(const void *self, const tal_system *system, tal_state *state,
                        double tolerance, bool *changed);
    /// The same for what one stage may move (tal_system_relax_stage()), called once for each of
    /// Time, Position, Velocity, Dynamics and Acceleration, in this order, of all subsystems. Look
    /// at the State as far as you like; what later stages find is not there yet.
    tal_status (*relax_stage)(const void *self, const tal_system *system, tal_state *state,
                              tal_stage stage, double tolerance, bool *changed);

    /// Respond to events of yours by changing the State at any stage. Set *terminate to end the
    /// study.
    /// @param[in] events  [count]
    tal_status (*handle_events)(const void *self, const tal_system *system, tal_state *state,
                                tal_event_cause cause, const tal_event_ix events[], int count,
                                bool *terminate);
    /// Look at the State when events of yours occur. `state` is private to reporters: realize it as
    /// far as you like.
    /// @param[in] events  [count]
    tal_status (*report_events)(const void *self, const tal_system *system, tal_state *state,
                                tal_event_cause cause, const tal_event_ix events[], int count);

    /// Called once, when the System is destroyed or refuses the subsystem.
    void (*destroy)(void *self);
} tal_subsystem_ops;

/**
 * Add a subsystem.
 *
 * @param[in] name  unique among subsystems; NULL means the kind; copied
 * @param[in] ops   must outlive the System
 * @param[in] self  adopted by this call whether it succeeds or not: `ops->destroy` will free it
 * @return its index, `i` < 0 on failure
 */
TAL_API tal_subsystem_ix tal_system_add_subsystem(tal_system *system, const char *name,
                                                  const tal_subsystem_ops *ops, void *self);

/// Number of subsystems.
TAL_API int tal_system_num_subsystems(const tal_system *system);

/// Look a subsystem up by name; `i` < 0 when there is none (that is not a breach).
TAL_API tal_subsystem_ix tal_system_find_subsystem(const tal_system *system, const char *name);

/// Name of a subsystem; never NULL; borrowed.
TAL_API const char *tal_subsystem_name(const tal_system *system, tal_subsystem_ix subsystem);

/// The `self` of a subsystem; NULL for a bad index. Borrowed.
TAL_API const void *tal_subsystem_self(const tal_system *system, tal_subsystem_ix subsystem);

/// The `self` of a subsystem that was added with the table `ops`, so that a layer can tell its own
/// from others; NULL when it was added with another one (that is not a breach). Borrowed.
TAL_API const void *tal_subsystem_self_as(const tal_system *system, tal_subsystem_ix subsystem,
                                          const tal_subsystem_ops *ops);

/// @}
/// @defgroup var Discrete variables
/// @{

/**
 * Computes one value into memory of the State.
 *
 * @param[in]     context  from the def, or the owner's `self` when that was NULL
 * @param[in,out] state    realized at least to the entry's depends-on stage; may be used to realize
 *                         the lazy entries this one needs
 * @param[out]    value    the bytes to write; what they held before is not to be used
 */
typedef tal_status (*tal_calc_fn)(const void *context, const tal_system *system, tal_state *state,
                                  void *value);

/// A variable of any plain-data type. Obtain the def from tal_var_def_default(), then edit.
typedef struct tal_var_def {
    const char *name; ///< unique within the owner; NULL means "var<index>"; copied
    size_t size;      ///< bytes; plain data without pointers, so that it can be copied and saved
    tal_stage invalidates; ///< the lowest stage that must be computed again when it changes
    tal_stage allocated;   ///< TAL_STAGE_TOPOLOGY: keeps its value. TAL_STAGE_MODEL: returns
                           ///< to its initial value whenever the Model stage is realized
    const void *initial;   ///< `size` bytes, copied; NULL means zeros

    // Automatic update: at the start of every step `update` supplies the value for that step.
    // `invalidates` must then be later than Time. Code that uses such a variable reads the update
    // value (tal_var_update()); only `update` itself reads the stored value.
    tal_calc_fn update;          ///< NULL for an ordinary variable
    tal_stage update_depends_on; ///< the stage `update` needs, not before `allocated`
    const void *context;         ///< handed to `update`; NULL means the owner's self
    /// What else `update` is computed from, as for a cache entry; copied.
    const struct tal_prereq *update_prereqs;
    int num_update_prereqs;
    /// If true, code that uses the variable reads the stored value instead, which stays through the
    /// step; a step start that changes it lowers the State below `invalidates`.
    bool sampled;
} tal_var_def;

/// Zero bytes, invalidates Instance, allocated at Topology, no update.
TAL_API tal_var_def tal_var_def_default(void);

/// Declare a discrete variable of `owner`. `i` < 0 on failure.
TAL_API tal_var_ix tal_system_add_var(tal_system *system, tal_subsystem_ix owner,
                                      const tal_var_def *def);

/// Look a variable up by owner and name; `i` < 0 when there is none.
TAL_API tal_var_ix tal_system_find_var(const tal_system *system, tal_subsystem_ix owner,
                                       const char *name);

/// Name of a variable; never NULL; borrowed.
TAL_API const char *tal_var_name(const tal_system *system, tal_var_ix var);

/// The subsystem that declared it; `i` < 0 for a bad index.
TAL_API tal_subsystem_ix tal_var_owner(const tal_system *system, tal_var_ix var);

/// Is any variable an auto-update variable? If none is, a step can begin from a State that is not
/// realized. False for NULL, and a breach.
TAL_API bool tal_system_has_updates(const tal_system *system);

/// The cache entry that holds an auto-update variable's next value; `i` < 0 for an ordinary one.
TAL_API tal_cache_ix tal_var_update(const tal_system *system, tal_var_ix var);

/// @}
/// @defgroup cache Cache entries
/// @{

/// The kinds of things a cache entry can be computed from, besides a stage.
typedef enum tal_prereq_kind {
    TAL_PREREQ_T,
    TAL_PREREQ_Q,
    TAL_PREREQ_U,
    TAL_PREREQ_Z,
    TAL_PREREQ_VAR,
    TAL_PREREQ_CACHE
} tal_prereq_kind;

/// One thing a cache entry is computed from.
typedef struct tal_prereq {
    tal_prereq_kind kind;
    int i; ///< which variable or entry; unused for t, q, u, z
} tal_prereq;

/// A discrete variable as a prerequisite.
static inline tal_prereq tal_prereq_var(tal_var_ix var)
{
    const tal_prereq prereq = {TAL_PREREQ_VAR, var.i};
    return prereq;
}

/// Another cache entry as a prerequisite.
static inline tal_prereq tal_prereq_cache(tal_cache_ix entry)
{
    const tal_prereq prereq = {TAL_PREREQ_CACHE, entry.i};
    return prereq;
}

/**
 * A result kept in the State.
 *
 * It is valid while the State is at `depends_on` or later, has not been taken below that stage
 * since the result was computed, and none of the prerequisites has changed since. A result that
 * needs q but not t says so: `depends_on = TAL_STAGE_INSTANCE` with the prerequisite q survives a
 * change of time.
 */
typedef struct tal_cache_def {
    const char *name;      ///< unique within the owner; NULL means "cache<index>"; copied
    size_t size;           ///< bytes; plain data without pointers
    tal_stage depends_on;  ///< Topology ... Report
    tal_stage computed_by; ///< computed when this stage is realized, which then must be no earlier
                           ///< than what the prerequisites invalidate; TAL_STAGE_INFINITY: lazy,
                           ///< computed on request (tal_cache_realize())
    tal_calc_fn calc;      ///< NULL: the owner writes it (tal_cache_upd(), tal_cache_mark_valid())
    const void *context;   ///< handed to `calc`; NULL means the owner's self
    const tal_prereq *prereqs; ///< copied
    int num_prereqs;
} tal_cache_def;

/// Zero bytes, depends on Instance, lazy, no calc, no prerequisites.
TAL_API tal_cache_def tal_cache_def_default(void);

/// Declare a cache entry of `owner`. An entry can be a prerequisite only of entries declared after
/// it and depending on the same stage or a later one. `i` < 0 on failure.
TAL_API tal_cache_ix tal_system_add_cache(tal_system *system, tal_subsystem_ix owner,
                                          const tal_cache_def *def);

/// Look an entry up by owner and name; `i` < 0 when there is none.
TAL_API tal_cache_ix tal_system_find_cache(const tal_system *system, tal_subsystem_ix owner,
                                           const char *name);

/// Name of an entry; never NULL; borrowed.
TAL_API const char *tal_cache_name(const tal_system *system, tal_cache_ix entry);

/// The subsystem that declared it; `i` < 0 for a bad index.
TAL_API tal_subsystem_ix tal_cache_owner(const tal_system *system, tal_cache_ix entry);

/// @}
/// @defgroup group Groups of slots in the System-wide pools
/// @{

/// The System-wide arrays. Each is cut into groups with one owner each; the groups of one subsystem
/// are together, in the order they were declared.
typedef enum tal_pool {
    TAL_POOL_Q,       ///< generalized coordinates; qdot and qdotdot alike
    TAL_POOL_U,       ///< generalized speeds; udot alike
    TAL_POOL_Z,       ///< auxiliary variables; zdot alike
    TAL_POOL_QERR,    ///< position constraint errors
    TAL_POOL_UERR,    ///< velocity constraint errors
    TAL_POOL_UDOTERR, ///< acceleration constraint errors; multipliers alike
    TAL_POOL_TRIGGER  ///< event trigger functions, ordered by stage first
} tal_pool;

/// A contiguous run of slots in one pool. Obtain the def from tal_group_def_default(), then edit.
typedef struct tal_group_def {
    const char *name;      ///< unique within owner and pool; NULL means "group<index>"; copied
    tal_pool pool;         ///< which array
    int capacity;          ///< largest size over all modeling choices; the size until it is set
    tal_stage stage;       ///< triggers only: the stage at which they are computed, Time ... Report
    const double *initial; ///< q, u, z only: `capacity` values, copied; NULL means zeros
    double weight; ///< u, z, qerr, uerr only: each one's weight in error norms at first, that is 1
                   ///< over the change that counts as a unit (manual sec. 9.3); 0 means 1
} tal_group_def;

/// An empty group of z.
TAL_API tal_group_def tal_group_def_default(void);

/// Declare a group of `owner`. `i` < 0 on failure.
TAL_API tal_group_ix tal_system_add_group(tal_system *system, tal_subsystem_ix owner,
                                          const tal_group_def *def);

/// Look a group up by owner, pool and name; `i` < 0 when there is none.
TAL_API tal_group_ix tal_system_find_group(const tal_system *system, tal_subsystem_ix owner,
                                           tal_pool pool, const char *name);

/// Name of a group; never NULL; borrowed.
TAL_API const char *tal_group_name(const tal_system *system, tal_group_ix group);

/// The subsystem that declared it; `i` < 0 for a bad index.
TAL_API tal_subsystem_ix tal_group_owner(const tal_system *system, tal_group_ix group);

/// The stage at which a group of triggers is computed; TAL_STAGE_EMPTY for another group, or a
/// breach.
TAL_API tal_stage tal_group_stage(const tal_system *system, tal_group_ix group);

/// Most slots a pool can have. -1 before the topology is realized.
TAL_API int tal_system_pool_capacity(const tal_system *system, tal_pool pool);

/// @}
/// @defgroup event Events and scratch
/// @{

/// Which way a trigger function must cross zero.
typedef enum tal_crossing {
    TAL_CROSSING_EITHER,  ///< any
    TAL_CROSSING_RISING,  ///< from negative to positive
    TAL_CROSSING_FALLING, ///< from positive to negative
} tal_crossing;

/// What a discrete variable that switches and signals an event holds.
typedef struct tal_event_flags {
    int32_t active;   ///< 0: its trigger function and its times are ignored
    int32_t signaled; ///< not 0: to be handled after the current step, and then set to 0
} tal_event_flags;

/// The first scheduled time of an event that is later than `after` [s]; infinity when there is
/// none. `context` is from the def, or the owner's `self` when that was NULL.
typedef double (*tal_event_time_fn)(const void *context, const tal_system *system,
                                    const tal_state *state, double after);

/// Something that can happen. Obtain the def from tal_event_def_default(), then edit. The fields
/// after `slot` tell a time stepper when to call the owner.
typedef struct tal_event_def {
    const char *name;     ///< unique within the owner; NULL means "event<index>"; copied
    tal_group_ix trigger; ///< group of trigger slots that announces it; `i` < 0: none
    int slot;             ///< which slot of that group

    bool reports; ///< the owner only looks (report_events), otherwise it changes (handle_events)
    /// Bits 1 << TAL_EVENT_INITIALIZATION, _STEP_ADVANCED, _CHANGED, _TERMINATION: call the owner
    /// then.
    unsigned causes;
    tal_var_ix flags; ///< variable that holds tal_event_flags; `i` < 0: active, cannot be signaled

    // Triggered.
    tal_crossing crossing; ///< which way the trigger function crosses
    double window;         ///< [s] how close to find the crossing; 0: time scale times accuracy
    /// [s] two crossings are at least this far apart: steps are kept shorter; 0: unknown.
    double separation;
    /// Group of slots with the trigger's time derivative; `i` < 0: found by differences.
    tal_group_ix rate;
    int rate_slot; ///< which slot of that group

    // Scheduled.
    tal_event_time_fn next_time; ///< NULL: no scheduled times
    const void *context;         ///< handed to `next_time`; NULL means the owner's self
} tal_event_def;

/// An event that never happens: no trigger, no times, no causes.
TAL_API tal_event_def tal_event_def_default(void);

/// Declare an event that `owner` handles or reports. `i` < 0 on failure.
TAL_API tal_event_ix tal_system_add_event(tal_system *system, tal_subsystem_ix owner,
                                          const tal_event_def *def);

/// Look an event up by owner and name; `i` < 0 when there is none.
TAL_API tal_event_ix tal_system_find_event(const tal_system *system, tal_subsystem_ix owner,
                                           const char *name);

/// Number of events of all subsystems.
TAL_API int tal_system_num_events(const tal_system *system);

/// An event as it was declared, its name borrowed; the default on a breach.
TAL_API tal_event_def tal_event_declared(const tal_system *system, tal_event_ix event);

/// Name of an event; never NULL; borrowed.
TAL_API const char *tal_event_name(const tal_system *system, tal_event_ix event);

/// The subsystem that declared it; `i` < 0 for a bad index.
TAL_API tal_subsystem_ix tal_event_owner(const tal_system *system, tal_event_ix event);

/// Ask for scratch memory in every State (tal_state_scratch_take()). Requests add up: ask for the
/// most you hold at one time, each piece rounded up to a multiple of TAL_ALIGNMENT.
TAL_API void tal_system_reserve_scratch(tal_system *system, size_t bytes);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STATE_SYSTEM_H
