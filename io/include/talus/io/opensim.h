// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_IO_OPENSIM_H
#define TALUS_IO_OPENSIM_H

/**
 * @file talus/io/opensim.h
 * @brief Models of OpenSim, `.osim`, as a System and a State; its tools, from their set-up files.
 * doc/howto/opensim.md says what becomes what.
 *
 *     tal_model model;
 *     tal_diagnostics *found = tal_diagnostics_create(NULL);
 *     if (tal_osim_read_file("gait2354.osim", NULL, &model, found) == TAL_OK) {
 *         tal_body_ix pelvis = tal_matter_find_body(model.matter, "pelvis");
 *         ...
 *     }
 *     tal_model_destroy(&model);
 *     tal_diagnostics_destroy(found);
 *
 * Files of all versions from 1.x to 4.x are read. Bodies, coordinates, constraints, forces and
 * markers keep their names. Elements that have no effect on motion (looks, probes) are listed in
 * notes; elements that should have an effect, but are not read, in warnings.
 */

#include <talus/io/model.h>
#include <talus/io/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup opensim OpenSim
/// @{

/// How to read. Obtain it from tal_osim_options_default(), then edit.
typedef struct tal_osim_options {
    tal_allocator allocator; ///< of the System, the State, and of reading
    bool any_inertia;        ///< as tal_model_options.any_inertia, with a warning for each body
    bool strict;             ///< a property or an element that is not known is an error
    bool fixed_memory;       ///< as tal_model_options.fixed_memory
    bool approximate;        ///< muscles of Schutte and Delp, whose curves are not known, get
                             ///< Thelen's; otherwise they have a path and no force
} tal_osim_options;

/// The C heap, any inertia (published models have some that no real body can have), warnings about
/// what is not known.
TAL_API tal_osim_options tal_osim_options_default(void);

/**
 * Read a model of OpenSim. Angles of ball and free joints are body-fixed XYZ, as in OpenSim.
 *
 * @param[in]     options  NULL: the defaults
 * @param[out]    model    owned by the caller (tal_model_destroy()); all NULL on failure
 * @param[in,out] found    gets everything that is wrong, and notes; may be NULL
 * @return TAL_OK; TAL_ERR_FILE when the file cannot be read or has errors, TAL_ERR_NO_MEMORY,
 *         TAL_ERR_NULL
 */
TAL_API TAL_NODISCARD tal_status tal_osim_read_file(const char *path,
                                                    const tal_osim_options *options,
                                                    tal_model *model, tal_diagnostics *found);

/// The same from memory. `name` stands for the file in diagnostics.
TAL_API TAL_NODISCARD tal_status tal_osim_read_memory(const char *name, const char *text,
                                                      size_t size, const tal_osim_options *options,
                                                      tal_model *model, tal_diagnostics *found);

/// @name Writing
/// @{

/**
 * Write a model as an `.osim` file of version 4.0, with its State as default values. Read again it
 * moves as before; fibers begin in equilibrium.
 *
 * @param[out]    text    [size] the file and a zero behind it; NULL: only its length is found
 * @param[out]    length  of the whole file, which may be more than fits; may be NULL
 * @param[in,out] found   gets an error for everything that OpenSim cannot say, by name, and a
 *                        warning for what is left out because it does not act; may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE when there is an error, TAL_ERR_NULL, TAL_ERR_WRONG_SYSTEM,
 *         TAL_ERR_NO_MEMORY
 */
TAL_API TAL_NODISCARD tal_status tal_osim_write_memory(const tal_model *model, char text[],
                                                       size_t size, size_t *length,
                                                       tal_diagnostics *found);

/// The same to a file, which is written completely or not at all.
TAL_API TAL_NODISCARD tal_status tal_osim_write_file(const tal_model *model, const char *path,
                                                     tal_diagnostics *found);

/// @}
/// @name Tools, from set-up files
/// @{

/// A property of a tool, with a value that replaces the one in the set-up file.
typedef struct tal_osim_setting {
    const char *name;  ///< "model_file"
    const char *value; ///< as it would stand in the file
} tal_osim_setting;

/// How to run. Obtain it from tal_osim_run_options_default(), then edit.
typedef struct tal_osim_run_options {
    tal_allocator allocator;
    const tal_osim_setting *settings; ///< [num_settings] instead of those in the file
    int num_settings;
    const tal_model_param *starts; ///< [num_starts] as tal_model_options.starts: new defaults
    int num_starts;
    int lanes; ///< frames that can be worked on at once; results do not depend on it
    const tal_executor *executor; ///< runs the lanes; NULL: the calling thread does
    /// Called now and then with the number of rows done; return false to end the run. NULL: none.
    bool (*progress)(void *context, int done, int total);
    void *context; ///< handed to `progress`
} tal_osim_run_options;

/// The C heap, no settings, one lane.
TAL_API tal_osim_run_options tal_osim_run_options_default(void);

/// The tables and texts that a tool made. Opaque.
typedef struct tal_osim_results tal_osim_results;

/**
 * Run the tool of a set-up file: ScaleTool, InverseKinematicsTool, IMUPlacer,
 * IMUInverseKinematicsTool, InverseDynamicsTool, AnalyzeTool, ForwardTool, CMCTool or RRATool.
 * Nothing is written: the results say where OpenSim would put them.
 *
 * Files that the set-up names are looked up beside it.
 *
 * @param[in]     options  NULL: the defaults
 * @param[out]    out      owned by the caller; NULL on failure
 * @param[in,out] found    gets what is wrong with any of the files, and notes; may be NULL
 * @return TAL_OK; TAL_ERR_CALLBACK when `progress` ended the run, with the rows so far in `out`;
 *         TAL_ERR_FILE when a file has errors or the tool failed, TAL_ERR_NO_MEMORY, TAL_ERR_NULL;
 *         TAL_ERR_BAD_VALUE also when the only errors are starts that the model does not have
 */
TAL_API TAL_NODISCARD tal_status tal_osim_run_file(const char *path,
                                                   const tal_osim_run_options *options,
                                                   tal_osim_results **out, tal_diagnostics *found);

/// The same from memory. `name` stands for the file in messages, and the files that the set-up
/// names are looked up in its folder.
/// @param[in] text  [size] the set-up
TAL_API TAL_NODISCARD tal_status tal_osim_run_memory(const char *name, const char *text,
                                                     size_t size,
                                                     const tal_osim_run_options *options,
                                                     tal_osim_results **out,
                                                     tal_diagnostics *found);

/// Free results and their tables; NULL is allowed.
TAL_API void tal_osim_results_destroy(tal_osim_results *results);

/// Number of tables and texts; -1 for NULL.
TAL_API int tal_osim_results_num(const tal_osim_results *results);

/// Where OpenSim would write a result; "" and a breach when there is none. Borrowed.
TAL_API const char *tal_osim_results_path(const tal_osim_results *results, int i);

/// A table; NULL for a result that is a text; NULL and a breach when there is none. Borrowed, but
/// it may be changed.
TAL_API tal_table *tal_osim_results_table(const tal_osim_results *results, int i);

/// A text, for a result that is no table: a model, a set of controls. NULL for a table; NULL and a
/// breach when there is none. Borrowed.
/// @param[out] size  bytes of it; may be NULL
TAL_API const char *tal_osim_results_text(const tal_osim_results *results, int i, size_t *size);

/// Which tool it was: "InverseKinematicsTool"; "" and a breach for NULL. Borrowed.
TAL_API const char *tal_osim_results_tool(const tal_osim_results *results);

/// The model's file; "" and a breach for NULL. Borrowed.
TAL_API const char *tal_osim_results_model(const tal_osim_results *results);

/// @}
/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_IO_OPENSIM_H
