// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_IO_FORMAT_H
#define TALUS_IO_FORMAT_H

/**
 * @file talus/io/format.h
 * @brief What is in a file, and models whatever their format: for programs that take files of
 * several.
 *
 *     if (tal_file_kind_of(path, NULL, 0) == TAL_FILE_TABLE) {
 *         st = tal_table_read_file(path, NULL, &table, found);
 *     } else {
 *         st = tal_model_read_any(path, NULL, &model, found);
 *     }
 */

#include <talus/io/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup format Formats of files
/// @{

/// What is in a file.
typedef enum tal_file_kind {
    TAL_FILE_UNKNOWN,
    TAL_FILE_TALUS, ///< `.talus`: a model (talus/io/model.h)
    TAL_FILE_URDF,  ///< `.urdf`: a robot, which becomes a model (talus/io/urdf.h)
    TAL_FILE_OSIM,  ///< `.osim`: a model of OpenSim (talus/io/opensim.h)
    TAL_FILE_TABLE  ///< `.sto`, `.mot`, `.trc`, `.csv`, `.npz`, `.c3d`: tal_table_format_of() says
                    ///< which
} tal_file_kind;

/**
 * What a file is, by the extension of its name, in lower or upper case; if that is unknown, by the
 * first element of its text, `<talus>`, `<robot>` or `<OpenSimDocument>`.
 *
 * @param[in] text  [size] the file, or its beginning; NULL: the name alone counts
 */
TAL_API tal_file_kind tal_file_kind_of(const char *path, const char text[], size_t size);

/**
 * Read a model from a file of any format that has one, with the defaults of that format. A file of
 * an unknown kind is read as `.talus`, so that its reader says what is wrong with it.
 *
 * @param[in]     options  of tal_model_read_file(); a registry is for `.talus` alone; may be
 *                         NULL
 * @param[out]    model    owned by the caller (tal_model_destroy()); all NULL on failure
 * @param[in,out] found    gets everything that is wrong; may be NULL
 * @return as tal_model_read_file(); TAL_ERR_FILE for a table; TAL_ERR_BAD_VALUE for params, which
 *         `.talus` alone has
 */
TAL_API TAL_NODISCARD tal_status tal_model_read_any(const char *path,
                                                    const tal_model_options *options,
                                                    tal_model *model, tal_diagnostics *found);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_IO_FORMAT_H
