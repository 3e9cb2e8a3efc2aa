// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_IO_C3D_H
#define TALUS_IO_C3D_H

/**
 * @file talus/io/c3d.h
 * @brief C3D files of motion capture as tables: markers, analog channels, force plates.
 *
 * Numbers of Intel, DEC and MIPS machines are read, as reals or as scaled integers. Everything is in
 * the units and the axes of the file.
 */

#include <talus/io/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup c3d C3D
/// @{

/// What a file has. Obtained from tal_c3d_read_file(), freed by tal_c3d_destroy().
typedef struct tal_c3d {
    tal_table *markers; ///< "time", "<marker>.x", ".y", ".z"; NaN where a marker was not seen
    tal_table *analog;  ///< "time" and the channels, scaled
    /// "time", and of plate k from 1 "f<k>_1" to "_3": the force, "p<k>_1" to "_3": where it acts,
    /// "m<k>_1" to "_3": its moment about that point; as OpenSim names them.
    tal_table *plates;
} tal_c3d;

/// Where the force of a plate is said to act.
typedef enum tal_c3d_point {
    TAL_C3D_CENTER,  ///< at the center of the plate's surface
    TAL_C3D_PRESSURE ///< at the center of pressure: only a moment about the normal is left
} tal_c3d_point;

/**
 * Read a file.
 *
 * @param[in]     options  NULL: the defaults
 * @param[out]    out      owned by the caller; all NULL on failure
 * @param[in,out] found    gets what is wrong, and warnings; may be NULL
 * @return TAL_OK; TAL_ERR_FILE when it cannot be read or is no C3D file, TAL_ERR_NO_MEMORY,
 *         TAL_ERR_NULL
 */
TAL_API TAL_NODISCARD tal_status tal_c3d_read_file(const char *path,
                                                   const tal_table_options *options,
                                                   tal_c3d_point point, tal_c3d *out,
                                                   tal_diagnostics *found);

/// The same from memory. `name` stands for the file in diagnostics.
TAL_API TAL_NODISCARD tal_status tal_c3d_read_memory(const char *name, const char *bytes,
                                                     size_t size, const tal_table_options *options,
                                                     tal_c3d_point point, tal_c3d *out,
                                                     tal_diagnostics *found);

/// Free the tables; NULL is allowed.
TAL_API void tal_c3d_destroy(tal_c3d *c3d);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_IO_C3D_H
