// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_IO_OPENSIM_H
#define TALUS_IO_OPENSIM_H

/**
 * @file talus/io/opensim.h
 * @brief Models of OpenSim, `.osim`, as a System and a State. doc/howto/opensim.md says what becomes
 * what.
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
 * markers keep their names. What does not act (looks, probes) is listed in notes; what should act
 * and does not in warnings.
 */

#include <talus/io/model.h>

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

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_IO_OPENSIM_H
