// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_IO_BRIDGE_H
#define TALUS_IO_BRIDGE_H

/**
 * @file talus/io/bridge.h
 * @brief Between tables and studies: runs to files, markers from files.
 *
 *     st = tal_table_from_recorder(recorder, NULL, &table, &err);
 *     if (st == TAL_OK) st = tal_table_record_integrator(table, &def);
 *     if (st == TAL_OK) st = tal_table_write_file(table, "run.sto", &err);
 *
 *     st = tal_marker_frames_create(table, names, 50, NULL, &seen, found);
 *     if (st == TAL_OK) st = tal_tracker_run(tracker, start, &seen.frames, q, fits);
 *     tal_marker_frames_destroy(&seen);
 */

#include <talus/io/table.h>
#include <talus/study.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup bridge Between tables and studies
/// @{

/**
 * The rows of a recorder as a table, in radians, with "talus_version", "git_hash" and "kernels"
 * (tal_matter_kernel_set()) in its header: a repeated run gives the same bits if they agree.
 *
 * @param[in]  allocator  NULL means the C heap
 * @param[out] out        owned by the caller; NULL on failure
 * @param[out] err        may be NULL
 * @return TAL_OK, TAL_ERR_NULL, TAL_ERR_NO_MEMORY; TAL_ERR_BAD_NAME when two columns have one name
 *         or a name does not fit a file
 */
TAL_API TAL_NODISCARD tal_status tal_table_from_recorder(const tal_recorder *recorder,
                                                         const tal_allocator *allocator,
                                                         tal_table **out, tal_error *err);

/// Write the settings of an integrator into the header of a table: keys "integrator.method",
/// "integrator.accuracy" and so on, one for each field, all digits of each number.
TAL_API tal_status tal_table_record_integrator(tal_table *table, const tal_integrator_def *def);

/// @name What columns of coordinates and speeds measure
/// The State is realized to Position. False on a breach.
/// @{

/// Whether coordinate i of a body is an angle, which a table may give in degrees.
TAL_API bool tal_coordinate_is_angle(const tal_matter *matter, const tal_state *state,
                                     tal_body_ix body, int i);
/// Whether coordinate i of a body is one of the four of a quaternion.
TAL_API bool tal_coordinate_is_of_quaternion(const tal_matter *matter, const tal_state *state,
                                             tal_body_ix body, int i);
/// Whether speed i of a body turns it.
TAL_API bool tal_speed_is_turning(const tal_matter *matter, const tal_state *state,
                                  tal_body_ix body, int i);

/// @}

/// What a table with markers says to a tracker. Owns what `frames` points to.
typedef struct tal_marker_frames {
    tal_frames frames; ///< points in meters; NaN where a marker is not seen
    int num_markers;
    tal_allocator allocator;
    void *block; ///< owned
    size_t size; ///< of the block
} tal_marker_frames;

/**
 * Look markers up in a table: columns "<marker>.x", ".y", ".z" and "time". The header's "Units" say
 * whether they are in m, cm or mm; without it they are in meters.
 *
 * @param[in]     names      [n] of the markers wanted, in the order of the tracker's
 * @param[in]     allocator  NULL means the C heap
 * @param[out]    out        owned by the caller; all zero on failure
 * @param[in,out] found      gets a note for each marker that is not in the table, whose points
 *                           are NaN, and for each marker of the table that is not wanted; may be
 *                           NULL
 * @return TAL_OK, TAL_ERR_NULL, TAL_ERR_NO_MEMORY; TAL_ERR_BAD_VALUE when n is negative, there is
 *         no time, or the units are others
 */
TAL_API TAL_NODISCARD tal_status tal_marker_frames_create(const tal_table *table,
                                                          const char *const names[], int n,
                                                          const tal_allocator *allocator,
                                                          tal_marker_frames *out,
                                                          tal_diagnostics *found);

/// Free what it owns and set all to zero; NULL is allowed.
TAL_API void tal_marker_frames_destroy(tal_marker_frames *frames);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_IO_BRIDGE_H
