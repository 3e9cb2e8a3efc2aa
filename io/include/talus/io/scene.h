// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_IO_SCENE_H
#define TALUS_IO_SCENE_H

/**
 * @file talus/io/scene.h
 * @brief Scenes: how a model and its runs look. doc/scene.md says what such a file contains.
 *
 *     tal_scene *scene = NULL;
 *     st = tal_scene_create(&model, NULL, &scene, &err);
 *     if (st == TAL_OK) st = tal_scene_add_run(scene, "dive", table, &err);
 *     if (st == TAL_OK) st = tal_scene_write_file(scene, TAL_SCENE_GLB, NULL, "dive.glb", &err);
 *     tal_scene_destroy(scene);
 *
 * A scene holds bodies, what they look like, and where they are at every row of one or more tables.
 * Everything is kept in a compact form: 10 s of a human body at 100 rows a second take about half a
 * megabyte. Poses are right to a millionth of the size of the model.
 */

#include <talus/io/model.h>
#include <talus/io/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup scene Scenes
/// @{

/// A model and its runs, ready to be written. Opaque. Use from one thread at a time.
typedef struct tal_scene tal_scene;

/// How to make a scene. Obtain it from tal_scene_options_default(), then edit.
typedef struct tal_scene_options {
    tal_allocator allocator; ///< of the scene
    const char *title;       ///< NULL: the name of the System; copied
    /// Which way is up: a vector that is not zero. Zero: against gravity, or y without gravity.
    tal_vec3 up;
    int max_frames;     ///< of a run; longer ones are thinned evenly
    const char *folder; ///< where meshes of decorations are looked up; NULL: they are left out
    bool reactions;     ///< also record the loads in the joints of runs with speeds
    /// Which columns go into charts, by their names, separated by commas; NULL: all.
    const char *columns;
    /// Layers that the page shows at first besides the usual ones, by their names, separated by
    /// commas: "forces,names"; NULL: none.
    const char *show;
    tal_diagnostics *found; ///< gets what is left out, and why; NULL: it is not reported. Borrowed.
} tal_scene_options;

/// The C heap, the System's name, up by gravity, 3000 frames, no folder, no reactions, all columns.
TAL_API tal_scene_options tal_scene_options_default(void);

/**
 * Begin a scene: the bodies of a model and what they look like, at its State.
 *
 * Where bodies have no decorations, shapes are chosen for them: those for contact, else ellipsoids
 * of their inertia, and sticks between joints.
 *
 * @param[in]  model    borrowed until the scene is destroyed; its first four fields are needed
 * @param[in]  options  NULL: the defaults
 * @param[out] out      owned by the caller; NULL on failure
 * @param[out] err      may be NULL
 * @return TAL_OK, TAL_ERR_NULL, TAL_ERR_NO_MEMORY, TAL_ERR_BAD_VALUE; what the State cannot be
 *         realized for
 */
TAL_API TAL_NODISCARD tal_status tal_scene_create(const tal_model *model,
                                                  const tal_scene_options *options, tal_scene **out,
                                                  tal_error *err);

/// Free a scene; NULL is allowed.
TAL_API void tal_scene_destroy(tal_scene *scene);

/**
 * Add a run: the model at every row of a table, whose first column is the time.
 *
 * Columns with the names of coordinates and speeds place the bodies; a coordinate without a column
 * keeps its value. Where there are speeds, contacts and forces are computed again from every row.
 * All columns can be looked at as charts.
 *
 * @param[in]  name   of the run, for people; copied
 * @param[in]  table  not needed afterwards
 * @param[out] err    may be NULL
 * @return TAL_OK, TAL_ERR_NULL, TAL_ERR_NO_MEMORY, TAL_ERR_CAPACITY; TAL_ERR_BAD_VALUE when the
 *         table has no rows, no time or none of the coordinates, or a value is not finite
 */
TAL_API TAL_NODISCARD tal_status tal_scene_add_run(tal_scene *scene, const char *name,
                                                   const tal_table *table, tal_error *err);

/**
 * Add a run without a table: the State of the model, and then every coordinate that has a range
 * moving through it, one after the other, to try the joints. Models with constraints stay where
 * they are.
 *
 * @param[out] err  may be NULL
 * @return TAL_OK, TAL_ERR_NULL, TAL_ERR_NO_MEMORY
 */
TAL_API TAL_NODISCARD tal_status tal_scene_add_ranges(tal_scene *scene, tal_error *err);

/**
 * Add measured markers to the run that was added last: columns "<marker>.x", ".y", ".z" and "time".
 * The header's "Units" say whether they are in m, cm or mm. They are shown at the times of the run.
 *
 * @param[in]  table  not needed afterwards
 * @param[out] err    may be NULL
 * @return TAL_OK, TAL_ERR_NULL, TAL_ERR_NO_MEMORY;
 *         TAL_ERR_BAD_VALUE when there is no run, or the table has no markers, no time, or
 *         other units
 */
TAL_API TAL_NODISCARD tal_status tal_scene_add_markers(tal_scene *scene, const tal_table *table,
                                                       tal_error *err);

/// Number of frames of all runs; -1 for NULL.
TAL_API int tal_scene_num_frames(const tal_scene *scene);

/// How many numbers say where everything is at one moment; -1 for NULL.
TAL_API int tal_scene_frame_size(const tal_scene *scene);

/**
 * Where everything is at one moment, for programs that show a model while it moves: for each body
 * but Ground its position and quaternion in its parent, as the track `poses` of doc/scene.md has
 * them, then the channels of `paths`, with -1 for the activation of what has none.
 *
 * @param[in,out] state    of the model's System; it is realized to TAL_STAGE_POSITION
 * @param[out]    numbers  [tal_scene_frame_size(scene)]
 * @return TAL_OK; TAL_ERR_NULL; what the State cannot be realized for
 */
TAL_API TAL_NODISCARD tal_status tal_scene_calc_frame(const tal_scene *scene, tal_state *state,
                                                      double numbers[]);

/// Formats of scenes.
typedef enum tal_scene_format {
    TAL_SCENE_HTML, ///< a page that shows it, all in one file
    TAL_SCENE_GLB,  ///< glTF 2.0 with animation: bodies and their shapes
    TAL_SCENE_JSON  ///< the scene itself, for other programs
} tal_scene_format;

/// The format that the extension of a name selects; false, and nothing changed, for an unknown
/// extension.
TAL_API bool tal_scene_format_of(const char *path, tal_scene_format *format);

/// A page of the viewer, with places for a title, a scene and its data: what `./run viewer` makes.
typedef struct tal_scene_page {
    const char *text; ///< [size]
    size_t size;
} tal_scene_page;

/**
 * Write a scene piece by piece.
 *
 * @param[in]  page     for TAL_SCENE_HTML; NULL otherwise
 * @param[in]  take     gets the bytes in order; false: it cannot take more, and is not called again
 * @param[in]  context  goes to `take`
 * @param[out] err      may be NULL
 * @return TAL_OK; TAL_ERR_CALLBACK when not all bytes were written, TAL_ERR_BAD_VALUE for a page
 *         without its places, TAL_ERR_NULL, TAL_ERR_NO_MEMORY
 */
TAL_API TAL_NODISCARD tal_status tal_scene_write_to(
    const tal_scene *scene, tal_scene_format format, const tal_scene_page *page,
    bool (*take)(void *context, const void *bytes, size_t size), void *context, tal_error *err);

/// The same to a file, completely or not at all. Also TAL_ERR_FILE.
TAL_API TAL_NODISCARD tal_status tal_scene_write_file(const tal_scene *scene,
                                                      tal_scene_format format,
                                                      const tal_scene_page *page, const char *path,
                                                      tal_error *err);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_IO_SCENE_H
