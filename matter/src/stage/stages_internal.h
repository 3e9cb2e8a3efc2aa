// What the files that realize matter's stages share: sizes of cache entries, and the functions of a
// stage that the subsystem's table names.
#ifndef TALUS_STAGES_INTERNAL_H
#define TALUS_STAGES_INTERNAL_H

#include "tree/matter_internal.h"

/// @name Bytes of cache entries, and of the first array in them
/// @{
size_t tali_stage_model_size(const tali_tree *tree);
tali_tree_position_layout tali_stage_lay_out_position(const tali_tree *tree);
size_t tali_stage_rates_bytes(const tali_tree *tree);
size_t tali_stage_velocity_size(const tali_tree *tree);
size_t tali_stage_gain_bytes(const tali_tree *tree);
size_t tali_stage_articulated_size(const tali_tree *tree);
size_t tali_stage_forces_size(const tali_tree *tree);
/// @}

/// The arrays of the entries that Position and Velocity fill.
tali_tree_position tali_stage_position_in(const tali_tree *tree, void *bytes);
tali_tree_velocity tali_stage_velocity_in(const tali_tree *tree, void *bytes);

/// @name Model and Instance
/// @{
tal_status tali_stage_realize_model(const void *self, const tal_system *system, tal_state *state);
tal_status tali_stage_calc_constants(const void *self, const tal_system *system, tal_state *state,
                                     void *value);
tal_status tali_stage_realize_instance(const void *self, const tal_system *system,
                                       tal_state *state);
/// @}

/// @name Position and Velocity
/// @{
tal_status tali_stage_calc_position(const void *self, const tal_system *system, tal_state *state,
                                    void *value);
tal_status tali_stage_realize_position(const void *self, const tal_system *system,
                                       tal_state *state);
tal_status tali_stage_calc_velocity(const void *self, const tal_system *system, tal_state *state,
                                    void *value);
tal_status tali_stage_realize_velocity(const void *self, const tal_system *system,
                                       tal_state *state);

/// What mobilizers without a kernel of their own say of q: writes at->X_FM and at->H_FM. A failure
/// is told in the State.
tal_status tali_stage_ask_tables(const tal_matter *matter, tal_state *state, const double q[],
                                 const tali_tree_position *at);

/// And of u: Hdot_FM u ([num_general]), for a view of the positions.
tal_status tali_stage_ask_tables_for_Hdot(const tal_matter *matter, tal_state *state,
                                          const tali_tree_view *view, const double q[],
                                          const double u[], tal_spatial_vec Hdot_u[]);

/// Accelerations at udot = 0 beside velocities that are valid, unless they are there. The view is
/// of the velocities.
void tali_stage_fill_A0(const tal_matter *matter, tal_state *state, const tali_tree_view *view);

/// qdot = N v, or with `second` qdotdot = N v + Ndot u, body by body.
tal_status tali_stage_write_rates(const tal_matter *matter, tal_state *state, const double v[],
                                  bool second, double out[]);

/// The same at other q and u than the State's.
tal_status tali_stage_write_rates_of(const tal_matter *matter, tal_state *state, const double q[],
                                     const double u[], const double v[], bool second, double out[]);
/// @}

/// @name Dynamics and Acceleration
/// @{
tal_status tali_stage_calc_rigid(const void *self, const tal_system *system, tal_state *state,
                                 void *value);
tal_status tali_stage_calc_articulated(const void *self, const tal_system *system, tal_state *state,
                                       void *value);
tal_status tali_stage_realize_dynamics(const void *self, const tal_system *system,
                                       tal_state *state);
tal_status tali_stage_realize_acceleration(const void *self, const tal_system *system,
                                           tal_state *state);

/// tali_matter_forward_dynamics() by the passes, for a view of TALI_DYNAMICS. `A_GM` may be NULL.
tal_status tali_stage_solve_udot(const tal_matter *matter, tal_state *state,
                                 const tali_tree_view *view, const tal_spatial_vec F[],
                                 const double f[], double udot[], tal_spatial_vec A_GM[],
                                 double lambda[]);
/// @}

#endif // TALUS_STAGES_INTERNAL_H
