// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_COORDINATE_H
#define TALUS_MATTER_COORDINATE_H

/**
 * @file talus/matter/coordinate.h
 * @brief Coordinates one by one: names, ranges, initial values, and which body owns a slot.
 *
 * A coordinate is given by its body and its number i among the body's q. Calls that build the model
 * number them as the body's def chose, with a quaternion or with angles; calls with a State number
 * them as that State does. Names and ranges follow a coordinate from one numbering to the other:
 * the distances of a free body keep theirs when its quaternion becomes angles. The name and the
 * range of a part of a quaternion do not apply while the State uses angles, and vice versa.
 */

#include <talus/matter/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup coordinate Names, ranges and initial values of coordinates
/// @{

/// Room for the longest name of a coordinate, terminating zero included.
#define TAL_COORDINATE_NAME_SIZE (TAL_MAX_NAME + 6)

/// @name While building
/// Sticky: the first failure is also returned by tal_system_realize_topology().
/// @{

/**
 * Name a coordinate, instead of "<body>.q<i>".
 *
 * @param[in] name  unique among coordinates; must not end like a default name; copied
 */
TAL_API tal_status tal_body_name_coordinate(tal_matter *matter, tal_body_ix body, int i,
                                            const char *name);

/// Give a coordinate a range, low <= high; either may be infinite. Simulation does not enforce it;
/// assembly respects it, and a program can read it.
TAL_API tal_status tal_body_limit_coordinate(tal_matter *matter, tal_body_ix body, int i,
                                             double low, double high);

/// Say at which q a State begins: all `n` coordinates of a body. A quaternion may have any length
/// except zero.
/// @param[in] q  [n]
TAL_API tal_status tal_body_set_initial_q(tal_matter *matter, tal_body_ix body, const double q[],
                                          int n);

/// Say at which u a State begins: all `n` speeds of a body.
/// @param[in] u  [n]
TAL_API tal_status tal_body_set_initial_u(tal_matter *matter, tal_body_ix body, const double u[],
                                          int n);
/// @}

/// @name In a State. Need TAL_STAGE_MODEL.
/// @{

/**
 * Look a coordinate up by name.
 *
 * @param[out] i  which of the body's; -1 when there is none
 * @return its body; `i` < 0 when there is none (that is not a breach)
 */
TAL_API tal_body_ix tal_matter_find_coordinate(const tal_matter *matter, const tal_state *state,
                                               const char *name, int *i);

/// Write the name of a coordinate to `name`, which has room for TAL_COORDINATE_NAME_SIZE
/// characters.
/// @param[out] name  [TAL_COORDINATE_NAME_SIZE]
TAL_API tal_status tal_body_coordinate_name(const tal_matter *matter, const tal_state *state,
                                            tal_body_ix body, int i, char name[]);

/**
 * Look a speed up by name: "<body>.u<i>".
 *
 * @param[out] i  which of the body's; -1 when there is none
 * @return its body; `i` < 0 when there is none (that is not a breach)
 */
TAL_API tal_body_ix tal_matter_find_speed(const tal_matter *matter, const tal_state *state,
                                          const char *name, int *i);

/// Write the name of a speed to `name`, "<body>.u<i>".
/// @param[out] name  [TAL_COORDINATE_NAME_SIZE]
TAL_API tal_status tal_body_speed_name(const tal_matter *matter, const tal_state *state,
                                       tal_body_ix body, int i, char name[]);

/// The body of a slot of q, and which of its coordinates it is. `i` < 0, and -1, for a slot that is
/// not matter's.
TAL_API tal_body_ix tal_matter_q_owner(const tal_matter *matter, const tal_state *state, int slot,
                                       int *local);

/// The body of a slot of u, and which of its speeds it is. `i` < 0, and -1, for a slot that is not
/// matter's.
TAL_API tal_body_ix tal_matter_u_owner(const tal_matter *matter, const tal_state *state, int slot,
                                       int *local);

/// The range of a coordinate: infinite on both sides unless it has been limited. NaN on a breach.
TAL_API tal_status tal_body_range(const tal_matter *matter, const tal_state *state,
                                  tal_body_ix body, int i, double *low, double *high);

/// Change the range of a coordinate that has one (tal_body_limit_coordinate()); invalidates
/// TAL_STAGE_INSTANCE.
TAL_API tal_status tal_body_set_range(const tal_matter *matter, tal_state *state, tal_body_ix body,
                                      int i, double low, double high);

/// Whether low <= q <= high. False on a breach.
TAL_API bool tal_body_is_in_range(const tal_matter *matter, const tal_state *state,
                                  tal_body_ix body, int i);

/// The first limited coordinate that is out of its range. `i` < 0, and -1, when all are within.
TAL_API tal_body_ix tal_matter_out_of_range(const tal_matter *matter, const tal_state *state,
                                            int *i);
/// @}

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_COORDINATE_H
