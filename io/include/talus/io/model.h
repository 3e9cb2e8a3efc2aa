// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_IO_MODEL_H
#define TALUS_IO_MODEL_H

/**
 * @file talus/io/model.h
 * @brief Model files, `.talus`: a System and the State it begins in, as XML. doc/model_file.md is
 * the reference.
 *
 *     tal_model model;
 *     tal_diagnostics *found = tal_diagnostics_create(NULL);
 *     if (tal_model_read_file("pendulum.talus", NULL, &model, found) == TAL_OK) {
 *         tal_system_realize(model.system, model.state, TAL_STAGE_ACCELERATION);
 *         ...
 *     }
 *     tal_model_destroy(&model);
 *
 * The whole file is checked before anything is built: the list has every error, and nothing is
 * built from a file with an error.
 */

#include <talus/io/diagnostics.h>
#include <talus/io/registry.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup model Model files
/// @{

/// A `<param>` with its value; in options a value instead of the one in the file.
typedef struct tal_model_param {
    const char *name;
    double value;
} tal_model_param;

/// What a file gives: a System with its topology realized, a State of it, and the markers on its
/// bodies.
typedef struct tal_model {
    tal_system *system; ///< owned
    tal_state *state;   ///< owned; where the model begins, realized to TAL_STAGE_MODEL
    tal_matter *matter; ///< of the System
    tal_forces *forces; ///< of the System

    /// [num_markers] points of bodies that are observed, for talus/study/tracker.h
    const tal_marker *markers;
    int num_markers;

    /// [num_params] the file's, and those of what it includes, with the values that were used; what
    /// can be set
    const tal_model_param *params;
    int num_params;

    /// Owns the markers, the params and what else the System uses; NULL in a model of your own.
    struct tal_model_kept *kept;

    /// [num_fits] paths that are written as polynomials of coordinates; borrowed. Reading gives
    /// none.
    const tal_path_fit *fits;
    int num_fits;
} tal_model;

/// How to read. Obtain it from tal_model_options_default(), then edit.
typedef struct tal_model_options {
    tal_allocator allocator;       ///< of the System, the State, and of reading
    const tal_model_param *params; ///< [num_params] each must be in the file
    int num_params;
    /// [num_starts] coordinates and speeds ("<body>.u0") by name, and where each begins, instead of
    /// what the file says [rad or m, rad/s or m/s]; a robot's joint with a `<mimic>` follows, and a
    /// coordinate that is locked is locked there
    const tal_model_param *starts;
    int num_starts;
    /// Where includes and meshes of a model in memory are looked up; NULL: refused. Those of a file
    /// are looked up beside it.
    const char *folder;
    const tal_model_registry *registry; ///< elements of your own; NULL: none
    /// Takes inertias that no real body can have, of all bodies; those that need it get
    /// tal_mobod_def.any_inertia, and are written with it.
    bool any_inertia;
    /// Refuse inertias that no real body can have, and in .osim files unknown properties; otherwise
    /// there is only a warning.
    bool strict;
    /// Give States the memory of fixed steps (tal_fixed_memory_create()), for a tal_fixed_stepper.
    bool fixed_memory;
    bool approximate; ///< tal_osim_options.approximate, of a model of OpenSim
    /// How tal_model_read_any() reads a robot, with the allocator and both rules for inertias from
    /// here; NULL: tal_urdf_options_default().
    const struct tal_urdf_options *urdf;
} tal_model_options;

/// The C heap, no params, no folder, no elements of your own.
TAL_API tal_model_options tal_model_options_default(void);

/**
 * Read a model file.
 *
 * @param[in]     options  NULL: the defaults
 * @param[out]    model    owned by the caller (tal_model_destroy()); all NULL on failure
 * @param[in,out] found    gets everything that is wrong; may be NULL
 * @return TAL_OK; TAL_ERR_FILE when the file cannot be read or has errors, TAL_ERR_BAD_VALUE when
 *         the only errors are params or starts that it does not have; TAL_ERR_NO_MEMORY,
 *         TAL_ERR_NULL, TAL_ERR_BAD_VALUE for an invalid registry
 */
TAL_API TAL_NODISCARD tal_status tal_model_read_file(const char *path,
                                                     const tal_model_options *options,
                                                     tal_model *model, tal_diagnostics *found);

/// The same from memory. `name` is used for the file in diagnostics.
TAL_API TAL_NODISCARD tal_status tal_model_read_memory(const char *name, const char *text,
                                                       size_t size,
                                                       const tal_model_options *options,
                                                       tal_model *model, tal_diagnostics *found);

/// Destroy State and System, and set all to NULL. A model that is all NULL is allowed, and so is
/// NULL.
TAL_API void tal_model_destroy(tal_model *model);

/**
 * Write a System and a State as a model file.
 *
 * What is written is what the State holds: parameters, coordinates, speeds, z, locks, what is
 * enabled. Reading it gives the same model, bit for bit, except for what a run remembers (samples
 * of measures, the interval of a Langevin bath) and for the weights that studies use. An
 * element that a file cannot describe is refused by name, and nothing is written: functions of a
 * user's own, elements of a user's own that are not registered, measures that are results or not of
 * matter, handlers and reporters, subsystems besides matter, one for forces and one for stops.
 *
 * @param[in]  model     the first four set, markers as you like; nothing of it changes, and it
 *                       stays the caller's
 * @param[in]  registry  elements of your own; NULL: none
 * @param[out] text      [size], cut off when it does not fit; NULL when `size` is 0
 * @param[out] length    of the whole, without the terminating zero; may be NULL
 * @param[out] err       why it failed; may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE naming the element, TAL_ERR_WRONG_SYSTEM, TAL_ERR_NULL
 */
TAL_API TAL_NODISCARD tal_status tal_model_write_memory(const tal_model *model,
                                                        const tal_model_registry *registry,
                                                        char text[], size_t size, size_t *length,
                                                        tal_error *err);

/// The same to a file, which is replaced only when all is written: if the disk is full, the old
/// file stays. Also TAL_ERR_FILE and TAL_ERR_NO_MEMORY.
TAL_API TAL_NODISCARD tal_status tal_model_write_file(const tal_model *model,
                                                      const tal_model_registry *registry,
                                                      const char *path, tal_error *err);

/**
 * The reference of the file format, as Markdown: what doc/model_file.md holds. Generated from the
 * table that the reader uses.
 *
 * @param[out] text  [size], cut off when it does not fit; NULL when `size` is 0
 * @return length of the whole, without the terminating zero
 */
TAL_API size_t tal_model_reference(char text[], size_t size);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_IO_MODEL_H
