// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_TRACKER_H
#define TALUS_STUDY_TRACKER_H

/**
 * @file talus/study/tracker.h
 * @brief Inverse kinematics: the coordinates that follow a sequence of observations.
 *
 *     tal_tracker_def def = tal_tracker_def_default();
 *     def.assembler.markers = markers;
 *     def.assembler.num_markers = 50;
 *     tal_tracker *tracker = NULL;
 *     st = tal_tracker_create(system, &def, &tracker, &err);
 *     if (st == TAL_OK) st = tal_tracker_run(tracker, start, &frames, q, fits);
 *     tal_tracker_destroy(tracker);
 *
 * Each frame is an assembly (assembler.h) that starts from the frame before; its `stay_close` is
 * then a penalty on jumps from frame to frame. Frames are cut into chunks of a fixed length. The
 * first frame of a chunk starts from `start`, body by body from the base outward
 * (tal_assembler_fit()), so that results do not depend on how many threads share the chunks.
 */

#include <talus/study/assembler.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup tracker Inverse kinematics
/// @{

/// What a tracker is created from. Obtain it from tal_tracker_def_default(), then edit.
typedef struct tal_tracker_def {
    tal_assembler_def assembler; ///< goals and accuracy of one frame
    int chunk;                   ///< frames that start from each other; 0: all
    int lanes; ///< chunks that can be worked on at once, each with a State of its own
    const tal_executor *executor; ///< runs the lanes; copied; NULL: the calling thread does
    /// Called with the number of frames done, on the thread that has done one; return false to end
    /// the run. NULL: none.
    bool (*progress)(void *context, int done, int total);
    void *context; ///< handed to `progress`
} tal_tracker_def;

/// The assembler's default with accuracy 1e-6, chunks of 250 frames, one lane.
TAL_API tal_tracker_def tal_tracker_def_default(void);

/// Follows observations. Opaque. Use from one thread at a time.
typedef struct tal_tracker tal_tracker;

/**
 * Create a tracker. All memory it will ever use is taken here.
 *
 * @param[in]  system  its topology must be realized and it must have matter; must outlive the
 *                     tracker
 * @param[in]  def     copied
 * @param[out] out     owned by the caller; NULL on failure
 * @param[out] err     may be NULL
 */
TAL_API TAL_NODISCARD tal_status tal_tracker_create(const tal_system *system,
                                                    const tal_tracker_def *def, tal_tracker **out,
                                                    tal_error *err);

/// Free a tracker. NULL is allowed.
TAL_API void tal_tracker_destroy(tal_tracker *tracker);

/// What was observed, frame after frame.
typedef struct tal_frames {
    int num_frames;
    const double *times;    ///< [num_frames] [s]; NULL: the time of the start for all
    const tal_vec3 *points; ///< [num_frames][num_markers], as tal_assembler_observe(); may be NULL
    const tal_mat3 *rotations; ///< [num_frames][num_sensors]; may be NULL
    /// [num_frames][num_coordinates] values of the coordinate goals; NULL: those of the def
    const double *coordinates;
} tal_frames;

/// How well one frame fits.
typedef struct tal_fit {
    tal_status status; ///< TAL_OK; otherwise why the frame is only a best effort: a constraint that
                       ///< is not met, or goals that are not at their least (::tal_assembly)
    int iterations;
    double error;      ///< RMS of the weighted constraint errors
    double marker_rms; ///< [m] over the markers seen
    double marker_max; ///< [m]
    int worst_marker;  ///< -1 when none is seen
} tal_fit;

/**
 * Follow the frames. A frame that cannot be met keeps the best pose found, and the run continues.
 *
 * @param[in]  start  a State to start from; stays as it is
 * @param[in]  frames
 * @param[out] q      [num_frames][nq of the System's State]
 * @param[out] fits   [num_frames]
 * @return TAL_OK, also when frames are bad; TAL_ERR_CALLBACK when `progress` ended the run: frames
 *         that were not reached have status TAL_RETRY; TAL_ERR_BAD_VALUE, TAL_ERR_NULL
 */
TAL_API TAL_NODISCARD tal_status tal_tracker_run(tal_tracker *tracker, const tal_state *start,
                                                 const tal_frames *frames, double q[],
                                                 tal_fit fits[]);

/// Name of a marker; never NULL; borrowed.
TAL_API const char *tal_tracker_marker_name(const tal_tracker *tracker, int marker);

/**
 * How far each marker is from where it was observed in one frame: p_GS - points. Of a frame k,
 * `state` has its q set to row k of what tal_tracker_run() found, and `points` are
 * frames.points + k num_markers.
 *
 * @param[in]  state   realized to TAL_STAGE_POSITION
 * @param[in]  points  [num_markers] in Ground [m]; a NaN: not seen
 * @param[out] errors  [num_markers] in Ground [m]; NaN for a marker that was not seen
 */
TAL_API TAL_NODISCARD tal_status tal_tracker_calc_marker_errors(const tal_tracker *tracker,
                                                                const tal_state *state,
                                                                const tal_vec3 points[],
                                                                tal_vec3 errors[]);

/// The last failure; status TAL_OK when there is none. Never NULL; borrowed until the next call.
TAL_API const tal_error *tal_tracker_error(const tal_tracker *tracker);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_TRACKER_H
