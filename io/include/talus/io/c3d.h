// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_IO_C3D_H
#define TALUS_IO_C3D_H

/**
 * @file talus/io/c3d.h
 * @brief C3D files of motion capture as tables: markers, analog channels, force plates.
 *
 *     tal_table *loads = NULL;
 *     st = tal_c3d_read_file("walk.c3d", TAL_C3D_FORCES, NULL, &loads, found);
 *
 * Numbers of Intel, DEC and MIPS machines are read, as reals or as scaled integers. Everything is
 * in the units and the axes of the file; time begins at 0 with the first frame. doc/tables.md says
 * more.
 */

#include <talus/io/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup c3d C3D
/// @{

/// What to read of a file. Of force plate k, counted from 1, there are nine columns, named as
/// OpenSim names them: "f<k>_1" to "_3", the force; "p<k>_1" to "_3", where it acts; "m<k>_1" to
/// "_3", the moment about that point.
typedef enum tal_c3d_part {
    TAL_C3D_MARKERS, ///< "time", "<marker>.x", ".y", ".z"; NaN where a marker was not seen
    TAL_C3D_ANALOG,  ///< "time" and the channels, scaled
    TAL_C3D_PLATES,  ///< "time" and force plates, with forces at the centers of their surfaces
    TAL_C3D_FORCES   ///< the same with forces at the centers of pressure: moments about normals
} tal_c3d_part;

/**
 * Read a part of a file. tal_table_read_file() reads its markers.
 *
 * @param[in]     options  NULL: the defaults
 * @param[out]    out      owned by the caller; NULL on failure
 * @param[in,out] found    gets what is wrong, and warnings; may be NULL
 * @return TAL_OK; TAL_ERR_FILE when the file cannot be read or is not a C3D file, TAL_ERR_BAD_VALUE
 *         when there is no such part, TAL_ERR_NO_MEMORY, TAL_ERR_NULL
 */
TAL_API TAL_NODISCARD tal_status tal_c3d_read_file(const char *path, tal_c3d_part part,
                                                   const tal_table_options *options,
                                                   tal_table **out, tal_diagnostics *found);

/// The same from memory. `name` stands for the file in diagnostics.
/// @param[in] bytes  [size] the file
TAL_API TAL_NODISCARD tal_status tal_c3d_read_memory(const char *name, const char bytes[],
                                                     size_t size, tal_c3d_part part,
                                                     const tal_table_options *options,
                                                     tal_table **out, tal_diagnostics *found);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_IO_C3D_H
