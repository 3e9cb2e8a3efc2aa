// What the files that realize matter's stages share: sizes of cache entries, and the functions of a
// stage that the subsystem's table names.
#ifndef TALUS_STAGES_INTERNAL_H
#define TALUS_STAGES_INTERNAL_H

#include "matter_internal.h"

/// @name Bytes of cache entries, and of the first array in them
/// @{
tali_position_layout tali_lay_out_position(const tali_tree *tree);
size_t tali_motion_bytes(const tali_tree *tree);
size_t tali_velocity_size(const tali_tree *tree);
size_t tali_gain_bytes(const tali_tree *tree);
size_t tali_articulated_size(const tali_tree *tree);
size_t tali_forces_size(const tali_tree *tree);
/// @}

/// The arrays of the entries that Position and Velocity fill.
tali_position tali_position_in(const tali_tree *tree, void *bytes);
tali_velocity tali_velocity_in(const tali_tree *tree, void *bytes);

/// @name Position and Velocity
/// @{
tal_status tali_calc_position(const void *self, const tal_system *system, tal_state *state,
                              void *value);
tal_status tali_realize_position(const void *self, const tal_system *system, tal_state *state);
tal_status tali_calc_velocity(const void *self, const tal_system *system, tal_state *state,
                              void *value);
tal_status tali_realize_velocity(const void *self, const tal_system *system, tal_state *state);

/// Accelerations at udot = 0 beside velocities that are valid, unless they are there. The view is
/// of the velocities.
void tali_fill_A0(const tal_matter *matter, tal_state *state, const tali_view *view);

/// qdot = N v, or with `second` qdotdot = N v + Ndot u, body by body.
tal_status tali_write_rates(const tal_matter *matter, tal_state *state, const double v[],
                            bool second, double out[]);
/// @}

#endif // TALUS_STAGES_INTERNAL_H
