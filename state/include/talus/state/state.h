// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STATE_STATE_H
#define TALUS_STATE_STATE_H

/**
 * @file talus/state/state.h
 * @brief A State: every varying byte of a System, in one block that is allocated once.
 *
 * A call with `const tal_state *` really only reads. A setter returns a status that may be ignored:
 * the first failure stays in the State and the next tal_system_realize() returns it. A writable
 * view (`upd`) invalidates once, at the call, and is valid until the next call on the State.
 *
 * Reading a result before its stage is a breach of contract: the contract handler is called, and
 * the call returns NaN, an array of NaN, or NULL. It never returns a number that is out of date.
 */

#include <talus/state/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup state State
/// @{

/**
 * Create a State at the System's initial values, realized to TAL_STAGE_MODEL.
 *
 * All memory that the State will ever use is allocated here, as one block; no later call on it
 * allocates, except those that read and write files.
 *
 * @param[in]  system  its topology must be realized
 * @param[out] out     the State, owned by the caller; NULL on failure
 * @param[out] err     why it failed; may be NULL
 * @return TAL_OK, TAL_ERR_TOPOLOGY, TAL_ERR_NO_MEMORY, or what realizing the Model stage returned
 */
TAL_API TAL_NODISCARD tal_status tal_state_create(const tal_system *system, tal_state **out,
                                                  tal_error *err);

/// Free a State. NULL is allowed.
TAL_API void tal_state_destroy(tal_state *state);

/// The stage this State has reached. TAL_STAGE_EMPTY for NULL.
TAL_API tal_stage tal_state_stage(const tal_state *state);

/// The stage that one subsystem has reached. It is that of the State, but for subsystems that have
/// run already while a stage is being realized: they have reached that stage, and others may read
/// what they computed. A stage that one of them cannot realize is reached by none. TAL_STAGE_EMPTY
/// on a breach.
TAL_API tal_stage tal_subsystem_stage(const tal_system *system, const tal_state *state,
                                      tal_subsystem_ix subsystem);

/// The structure hash of the System this State belongs to.
TAL_API uint64_t tal_state_structure_hash(const tal_state *state);

/// The last failure on this State; status TAL_OK when there is none. Never NULL; borrowed until the
/// next call on the State.
TAL_API const tal_error *tal_state_error(const tal_state *state);

/// Forget the last failure, for a program that has dealt with it. This includes the failure of a
/// setter, which the next tal_system_realize() would otherwise return. The value that the setter
/// refused stays unset; stages, values and results stay as they are.
TAL_API tal_status tal_state_clear_error(tal_state *state);

/**
 * Record a failure in the State, for functions that a System calls.
 *
 * @param[in] status  a negative status, or TAL_RETRY
 * @param[in] fmt     printf-like: one sentence that names the element and the wrong value
 * @return `status`
 */
TAL_API tal_status tal_state_fail(tal_state *state, tal_status status, const char *fmt, ...)
    TAL_PRINTF(3, 4);

/**
 * Record the failure of a setter: it stays in the State until the next tal_system_realize() returns
 * it. For setters of your own.
 *
 * @return `status`
 */
TAL_API tal_status tal_state_refuse(tal_state *state, tal_status status, const char *fmt, ...)
    TAL_PRINTF(3, 4);

/// Make `to` equal `from`, results included, by one memcpy. Both must belong to the same structure.
/// Error record and statistics of `to` stay; its low-water mark is TAL_STAGE_MODEL afterwards.
TAL_API tal_status tal_state_copy(tal_state *to, const tal_state *from);

/// Drop the State below `stage` (Model ... Report), as setting a variable of that stage would.
TAL_API tal_status tal_state_invalidate(tal_state *state, tal_stage stage);

/// True when all variables (t, y, discrete variables, weights, group sizes) are equal bit for bit.
/// Previous values and results do not count.
TAL_API bool tal_state_is_equal(const tal_state *a, const tal_state *b);

/// The lowest stage at which the variables of two States differ, TAL_STAGE_INFINITY when they are
/// equal. Both must belong to `system`; otherwise TAL_STAGE_EMPTY and a breach.
TAL_API tal_stage tal_state_lowest_difference(const tal_system *system, const tal_state *a,
                                              const tal_state *b);

/// The lowest stage invalidated since tal_state_reset_low_water(), TAL_STAGE_INFINITY when none:
/// tells a study how much an event handler has changed.
TAL_API tal_stage tal_state_low_water(const tal_state *state);

/// Set the low-water mark back to TAL_STAGE_INFINITY.
TAL_API void tal_state_reset_low_water(tal_state *state);

/// How often each thing was done with a State. Never affects results; not copied, compared or
/// saved.
typedef struct tal_state_stats {
    uint64_t realized[TAL_NUM_STAGES]; ///< realizations of each stage
    uint64_t lazy_calcs;               ///< cache entries computed on demand
    uint64_t prescribes;               ///< calls that prescribed q or u
    uint64_t projections;              ///< calls that projected q or u
    uint64_t relaxations;              ///< calls that relaxed
    uint64_t steps;                    ///< calls of tal_system_begin_step()
    uint64_t events;                   ///< events handled or reported
} tal_state_stats;

/// The counters so far.
TAL_API tal_state_stats tal_state_statistics(const tal_state *state);

/// @}
/// @defgroup variables Time and the continuous variables y = {q, u, z}
/// @{

/// Slots in use in a pool. q, u, z: needs TAL_STAGE_MODEL; the others TAL_STAGE_INSTANCE. -1
/// before.
TAL_API int tal_state_pool_size(const tal_state *state, tal_pool pool);
/// @name Sizes of y. Need TAL_STAGE_MODEL, -1 before.
/// @{
TAL_API int tal_state_nq(const tal_state *state);
TAL_API int tal_state_nu(const tal_state *state);
TAL_API int tal_state_nz(const tal_state *state);
TAL_API int tal_state_ny(const tal_state *state);
/// @}

/// Time [s].
TAL_API double tal_state_t(const tal_state *state);
/// Set the time; invalidates TAL_STAGE_TIME. A NaN or infinity is refused.
TAL_API tal_status tal_state_set_t(tal_state *state, double t);

/// @name Read. Need TAL_STAGE_MODEL. Borrowed; nq, nu, nz, ny values.
/// @{
TAL_API const double *tal_state_q(const tal_state *state);
TAL_API const double *tal_state_u(const tal_state *state);
TAL_API const double *tal_state_z(const tal_state *state);
TAL_API const double *tal_state_y(const tal_state *state);
/// @}

/// @name Set. Invalidate Position, Velocity, Dynamics, Position.
/// `n` must be the size; values that are not finite are refused, and nothing changes.
/// @{
/// @param[in] q  [n]
TAL_API tal_status tal_state_set_q(tal_state *state, const double q[], int n);
/// @param[in] u  [n]
TAL_API tal_status tal_state_set_u(tal_state *state, const double u[], int n);
/// @param[in] z  [n]
TAL_API tal_status tal_state_set_z(tal_state *state, const double z[], int n);
/// @param[in] y  [n]
TAL_API tal_status tal_state_set_y(tal_state *state, const double y[], int n);
/// @}

/// @name Writable views. Invalidate like the setters; what is written is not checked. NULL before
/// TAL_STAGE_MODEL.
/// @{
TAL_API double *tal_state_upd_q(tal_state *state);
TAL_API double *tal_state_upd_u(tal_state *state);
TAL_API double *tal_state_upd_z(tal_state *state);
TAL_API double *tal_state_upd_y(tal_state *state);
/// @}

/// @name Time derivatives. qdot needs TAL_STAGE_VELOCITY, the others TAL_STAGE_ACCELERATION.
/// ydot = {qdot, udot, zdot}.
/// @{
TAL_API const double *tal_state_qdot(const tal_state *state);
TAL_API const double *tal_state_udot(const tal_state *state);
TAL_API const double *tal_state_zdot(const tal_state *state);
TAL_API const double *tal_state_ydot(const tal_state *state);
TAL_API const double *tal_state_qdotdot(const tal_state *state);
/// @}

/// @name Constraint errors and multipliers. Need Position, Velocity, Acceleration, Acceleration.
/// @{
TAL_API const double *tal_state_qerr(const tal_state *state);
TAL_API const double *tal_state_uerr(const tal_state *state);
TAL_API const double *tal_state_udoterr(const tal_state *state);
TAL_API const double *tal_state_multipliers(const tal_state *state);
/// @}

/// Number of event trigger functions computed at `stage`. Needs TAL_STAGE_INSTANCE, -1 before.
TAL_API int tal_state_num_triggers(const tal_state *state, tal_stage stage);
/// Values of the trigger functions of `stage`, which must be realized.
TAL_API const double *tal_state_triggers(const tal_state *state, tal_stage stage);

/// @name Weights (manual sec. 9.1-9.3). 1 unless set; they must be positive and finite.
/// u and z: reciprocals of a unit change, invalidate Report. qerr and uerr: reciprocals of a unit
/// error, invalidate Position and Velocity. Other pools have none.
/// @{
TAL_API const double *tal_state_weights(const tal_state *state, tal_pool pool);
/// @param[in] w  [n]
TAL_API tal_status tal_state_set_weights(tal_state *state, tal_pool pool, const double w[], int n);
/// @}

/// @name Values at the start of the current step, as tal_system_begin_step() found them.
/// NaN before the first step.
/// @{
TAL_API double tal_state_t_prev(const tal_state *state);
TAL_API const double *tal_state_y_prev(const tal_state *state);
TAL_API const double *tal_state_triggers_prev(const tal_state *state, tal_stage stage);
/// @}

/// @}
/// @defgroup groupvalues Groups in a State
/// @{

/**
 * Choose the size of a group, from 0 to its capacity.
 *
 * Groups of q, u and z: only while the Model stage is being realized; error and trigger groups:
 * while Model or Instance is. A group that is given no size has its capacity. A group of q, u or z
 * keeps its values if its size stays the same, and takes `initial` if not.
 *
 * @param[in] initial  [n] for q, u, z; NULL means those of the def
 */
TAL_API tal_status tal_group_set_size(const tal_system *system, tal_state *state,
                                      tal_group_ix group, int n, const double initial[]);

/// Number of slots of a group. -1 before its pool is sized.
TAL_API int tal_group_size(const tal_system *system, const tal_state *state, tal_group_ix group);

/// First slot of a group in its pool (for a trigger group: among the triggers of its stage).
/// -1 before its pool is sized.
TAL_API int tal_group_start(const tal_system *system, const tal_state *state, tal_group_ix group);

/// The group that a slot of a pool belongs to, e.g. of the z that limits a step. Triggers are
/// numbered through all stages.
/// @param[out] local  which slot of that group; may be NULL
/// @return the group, `i` < 0 when the slot does not exist
TAL_API tal_group_ix tal_state_slot_owner(const tal_system *system, const tal_state *state,
                                          tal_pool pool, int slot, int *local);

/// @name Writable slots, for the owner while it realizes the stage they belong to.
/// qdot: Velocity. udot, zdot, qdotdot, udoterr, multipliers: Acceleration. qerr: Position. uerr:
/// Velocity. Triggers: their stage. All arrive filled with NaN. NULL, and a breach, at other times.
/// @{
TAL_API double *tal_group_upd_dot(const tal_system *system, tal_state *state, tal_group_ix group);
TAL_API double *tal_group_upd_qdotdot(const tal_system *system, tal_state *state,
                                      tal_group_ix group);
TAL_API double *tal_group_upd_errors(const tal_system *system, tal_state *state,
                                     tal_group_ix group);
TAL_API double *tal_group_upd_multipliers(const tal_system *system, tal_state *state,
                                          tal_group_ix group);
TAL_API double *tal_group_upd_triggers(const tal_system *system, tal_state *state,
                                       tal_group_ix group);
/// @}

/// @}
/// @defgroup varvalues Discrete variables in a State
/// @{

/// The stored value; borrowed. NULL before the variable is allocated (Topology or Model).
TAL_API const void *tal_var_value(const tal_system *system, const tal_state *state, tal_var_ix var);

/// Copy a value in and invalidate the variable's stage. `value` points to as many bytes as
/// declared.
TAL_API tal_status tal_var_set(const tal_system *system, tal_state *state, tal_var_ix var,
                               const void *value);

/// Writable view of the value; invalidates the variable's stage. NULL on a breach.
TAL_API void *tal_var_upd(const tal_system *system, tal_state *state, tal_var_ix var);

/// The value of a variable that is one double; NaN on a breach.
TAL_API double tal_var_double(const tal_system *system, const tal_state *state, tal_var_ix var);

/// Set a variable that is one double; a NaN or infinity is refused.
TAL_API tal_status tal_var_set_double(const tal_system *system, tal_state *state, tal_var_ix var,
                                      double value);

/// The value at the start of the current step; the initial value before the first step. Borrowed.
TAL_API const void *tal_var_prev(const tal_system *system, const tal_state *state, tal_var_ix var);

/// @}
/// @defgroup cachevalues Cache entries in a State
/// @{

/// True when the entry has been computed from the State's present values.
TAL_API bool tal_cache_is_valid(const tal_system *system, const tal_state *state,
                                tal_cache_ix entry);

/// The value of a valid entry; NULL and a breach otherwise. Borrowed until the next change.
TAL_API const void *tal_cache_value(const tal_system *system, const tal_state *state,
                                    tal_cache_ix entry);

/**
 * The value of an entry, computed first if it is out of date.
 *
 * @return borrowed until the next change; NULL when `calc` failed (see tal_state_error()) or on a
 *         breach (stage too low; no `calc`; an entry that depends on itself)
 */
TAL_API const void *tal_cache_realize(const tal_system *system, tal_state *state,
                                      tal_cache_ix entry);

/// The value of an entry that is one double, computed first if it is out of date; NaN on failure.
TAL_API double tal_cache_realize_double(const tal_system *system, tal_state *state,
                                        tal_cache_ix entry);

/// Memory of an entry for its owner to write; the entry is invalid until tal_cache_mark_valid().
TAL_API void *tal_cache_upd(const tal_system *system, tal_state *state, tal_cache_ix entry);

/// Declare that the entry was computed from the State's present values. Its stage must be reached
/// and the entries it needs must be valid.
TAL_API tal_status tal_cache_mark_valid(const tal_system *system, tal_state *state,
                                        tal_cache_ix entry);

/// Declare an entry out of date, and with it all entries that were computed from it.
TAL_API tal_status tal_cache_invalidate(const tal_system *system, tal_state *state,
                                        tal_cache_ix entry);

/// @}
/// @defgroup scratch Scratch memory
/// @{

/// Where the scratch memory is; give it back to tal_state_scratch_release().
TAL_API size_t tal_state_scratch_mark(const tal_state *state);

/// `bytes` of scratch memory aligned to TAL_ALIGNMENT, contents undefined. NULL and a breach when
/// less was reserved (tal_system_reserve_scratch()). Valid until released; never copied.
TAL_API void *tal_state_scratch_take(tal_state *state, size_t bytes);

/// Give back everything taken since the mark.
TAL_API void tal_state_scratch_release(tal_state *state, size_t mark);

/// @}
/// @defgroup savestate Saving and loading
/// @{

/// Bytes tal_state_save() writes.
TAL_API size_t tal_state_save_size(const tal_state *state);

/// Write the variables of a State (previous values included) to memory of `size` bytes.
TAL_API tal_status tal_state_save(tal_state *state, void *bytes, size_t size);

/**
 * Read variables that tal_state_save() wrote, and realize the State to TAL_STAGE_MODEL.
 *
 * On failure the State is as it was: TAL_ERR_FILE for bytes that are cut short, damaged or of
 * another format version or byte order, TAL_ERR_WRONG_SYSTEM for a State of another structure,
 * TAL_ERR_NO_MEMORY.
 */
TAL_API tal_status tal_state_load(const tal_system *system, tal_state *state, const void *bytes,
                                  size_t size);

/// tal_state_save() to a file, which appears whole or not at all.
TAL_API tal_status tal_state_save_file(tal_state *state, const char *path);

/// tal_state_load() from a file.
TAL_API tal_status tal_state_load_file(const tal_system *system, tal_state *state,
                                       const char *path);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STATE_STATE_H
