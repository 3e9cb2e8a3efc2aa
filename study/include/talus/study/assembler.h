// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_ASSEMBLER_H
#define TALUS_STUDY_ASSEMBLER_H

/**
 * @file talus/study/assembler.h
 * @brief Finding coordinates and speeds that meet all constraints and come as close as they can to
 *        goals: markers, orientations, values of coordinates.
 *
 *     tal_assembler_def def = tal_assembler_def_default();
 *     def.markers = markers;
 *     def.num_markers = 3;
 *     tal_assembler *assembler = NULL;
 *     st = tal_assembler_create(system, &def, &assembler, &err);
 *     if (st == TAL_OK) st = tal_assembler_observe(assembler, points, NULL);
 *     if (st == TAL_OK) st = tal_assembler_assemble(assembler, state, &found);
 *     tal_assembler_destroy(assembler);
 *
 * The problem is (manual sec. 12.6)
 *
 *     minimize  1/2 sum w |r(q)|^2     subject to  perr(t, q) = 0,  low <= q <= high
 *
 * with one residual r for every goal. First the constraints are met, by Gauss-Newton steps of least
 * length with Levenberg-Marquardt damping where those do not help; then the goals are
 * minimized in the directions that the constraints leave free. Steps are taken along u, so that
 * orientations are searched in three parameters wherever they are (manual sec. 12.7). When the
 * constraints cannot be met from where the State is, they are approached in pieces (continuation),
 * then from starts chosen at random, with a seed. KINSOL can meet them instead
 * (tal_assembler_def.solver).
 *
 * Coordinates that are locked or prescribed in the State keep their values. There may be more
 * equations than free coordinates: all of them must be met in the end.
 */

#include <talus/matter.h>
#include <talus/study/root_solver.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup assembler Assembly and fitting
/// @{

/// A point of a body that should coincide with an observed point: r = p_GS - observed [m].
typedef struct tal_marker {
    const char *name; ///< for messages; NULL means "marker<index>"; copied
    tal_body_ix body;
    tal_vec3 p_BS; ///< [m] from Bo, in B
    double weight; ///< >= 0
} tal_marker;

/// A frame of a body that should have an observed orientation: r = the rotation vector between the
/// two [rad].
typedef struct tal_orientation_sensor {
    const char *name; ///< for messages; NULL means "sensor<index>"; copied
    tal_body_ix body;
    tal_mat3 R_BS;
    double weight; ///< >= 0
} tal_orientation_sensor;

/// A coordinate that should have a value: r = q - value. One that the body does not have in the
/// State, or a part of a quaternion, is refused when the search starts.
typedef struct tal_coordinate_goal {
    tal_body_ix body;
    int i; ///< which of the body's coordinates
    double value;
    double weight; ///< >= 0
} tal_coordinate_goal;

/// A range of a coordinate that holds in one assembler, in place of the one that the model gives it
/// (tal_body_limit_coordinate()): wider, narrower, or infinite on either side. A coordinate that
/// the body does not have in the State, or a part of a quaternion, is refused when the search
/// starts.
typedef struct tal_coordinate_range {
    tal_body_ix body;
    int i; ///< which of the body's coordinates
    double low, high;
} tal_coordinate_range;

/// A constraint that counts as a goal, r = perr, instead of being met exactly.
typedef struct tal_soft_constraint {
    tal_constraint_ix constraint;
    double weight; ///< >= 0
} tal_soft_constraint;

/// A goal of your own. Functions are pure and allocate nothing.
typedef struct tal_goal {
    const char *name; ///< for messages; must outlive the assembler
    int num_rows;     ///< residuals
    double weight;    ///< >= 0
    const void *self; ///< handed to `calc`

    /**
     * @param[in,out] state  realized to TAL_STAGE_POSITION
     * @param[out] r         [num_rows]
     * @param[out] J         num_rows x nu: dr/dt = J u. NULL: not wanted
     * @return TAL_OK; TAL_RETRY where r does not exist: a shorter step is tried; anything else ends
     *         the search
     */
    tal_status (*calc)(const void *self, const tal_system *system, tal_state *state, double r[],
                       const tal_matrix *J);
} tal_goal;

/// What an assembler is created from. Obtain it from tal_assembler_def_default(), then edit. All
/// arrays are copied.
typedef struct tal_assembler_def {
    const tal_marker *markers;
    int num_markers;
    /// Weights of markers are divided by the sum of those seen, as in OpenSim: other goals then
    /// count the same however many are seen.
    bool mean_markers;
    const tal_orientation_sensor *sensors;
    int num_sensors;
    const tal_coordinate_goal *coordinates;
    int num_coordinates;
    const tal_soft_constraint *soft;
    int num_soft;
    const tal_goal *goals;
    int num_goals;
    double stay_close; ///< weight of r = W_u (q - q at the start), as a motion; 0: no such goal
    /// Let coordinates leave the ranges that the model gives them (tal_body_limit_coordinate());
    /// those of `ranges` hold.
    bool ignore_ranges;
    /// What meets the constraints of q; goals and speeds are ours. KINSOL looks near the State
    /// alone, and a place that it finds outside of the ranges does not count
    tal_root_solver solver;
    const tal_coordinate_range *ranges; ///< [num_ranges] instead of the model's
    int num_ranges;
    double tolerance;   ///< of the weighted position errors, RMS (manual eq. 9.4)
    double accuracy;    ///< of goals: the last step, times W_u, and those left are below this, RMS
    int max_iterations; ///< of each search
    int max_restarts;   ///< random starts when the constraints cannot be met; 0: none
    uint64_t seed;      ///< of these
} tal_assembler_def;

/// No goals; tolerance 1e-10, accuracy 1e-8, 100 iterations, 50 restarts, our own solver.
TAL_API tal_assembler_def tal_assembler_def_default(void);

/// Finds coordinates and speeds. Opaque. Use from one thread at a time.
typedef struct tal_assembler tal_assembler;

/**
 * Create an assembler. All memory it will ever use is taken here.
 *
 * @param[in]  system  its topology must be realized and it must have matter; must outlive the
 *                     assembler
 * @param[in]  def     copied; NULL means tal_assembler_def_default()
 * @param[out] out     owned by the caller; NULL on failure
 * @param[out] err     why it failed, with the name of the goal; may be NULL
 */
TAL_API TAL_NODISCARD tal_status tal_assembler_create(const tal_system *system,
                                                      const tal_assembler_def *def,
                                                      tal_assembler **out, tal_error *err);

/// Free an assembler. NULL is allowed.
TAL_API void tal_assembler_destroy(tal_assembler *assembler);

/// Look a marker up by name; -1 when there is none.
TAL_API int tal_assembler_find_marker(const tal_assembler *assembler, const char *name);

/// Name of a marker; never NULL; borrowed.
TAL_API const char *tal_assembler_marker_name(const tal_assembler *assembler, int marker);

/**
 * Set the observations for the next searches. Before the first call nothing is observed.
 *
 * @param[in] points    [num_markers] in Ground [m]; a marker with a NaN is left out. NULL: none
 *                      seen
 * @param[in] rotations [num_sensors] R_GS; a sensor with a NaN is left out. NULL: none seen
 * @return TAL_OK; TAL_ERR_NOT_FINITE for an infinity, TAL_ERR_BAD_VALUE for a matrix that is not
 *         a rotation; then nothing has changed
 */
TAL_API TAL_NODISCARD tal_status tal_assembler_observe(tal_assembler *assembler,
                                                       const tal_vec3 points[],
                                                       const tal_mat3 rotations[]);

/// Change the value of a coordinate goal.
TAL_API tal_status tal_assembler_set_coordinate(tal_assembler *assembler, int goal, double value);

/// The result of a search: what it did, and how well everything fits.
typedef struct tal_assembly {
    bool assembled;             ///< every constraint is met, and not at a false root
    bool converged;             ///< goals are at their least, which may be a local one
    double step;                ///< size of the last step: W_u times a motion, RMS
    int iterations;             ///< of all searches together
    int restarts;               ///< random starts that were needed
    double error_before, error; ///< RMS of the weighted position (or velocity) errors
    tal_constraint_ix worst;  ///< the constraint with the largest one; `i` < 0 without constraints
    double worst_error;       ///< its size
    double goal_before, goal; ///< 1/2 sum w |r|^2
    double marker_rms;        ///< [m] over the markers seen, unweighted (or m/s)
    double marker_max;        ///< [m]
    int worst_marker;         ///< the marker it is at; -1 when none is seen
} tal_assembly;

/**
 * Find q.
 *
 * A State that meets its constraints, with no goal to improve, stays as it is, bit for bit. One
 * that meets them never becomes worse.
 *
 * Goals are at their least when the steps that are left are below the accuracy, or round-off makes
 * no shorter ones. Near the minimum, where the goal itself hardly changes, their slopes decide.
 *
 * @param[in,out] state  at any stage from Model on; its time is the time of the constraints. On
 *                       success realized to TAL_STAGE_POSITION. When the constraints cannot be
 *                       met, where they are met best; when the goals are not at their least, where
 *                       they were smallest; on any other failure its q stay as they are
 * @param[out]    found  may be NULL; filled in with TAL_ERR_NO_CONVERGENCE, too
 * @return TAL_OK; TAL_ERR_NO_CONVERGENCE when a constraint cannot be met (`assembled` is false):
 *         the sentence has its name and its error; or when the iterations did not bring the goals
 *         to their least (`converged` is false): it has the step that is left; or what a callback
 *         returned
 */
TAL_API TAL_NODISCARD tal_status tal_assembler_assemble(tal_assembler *assembler, tal_state *state,
                                                        tal_assembly *found);

/**
 * Find q from far away: bodies are first put, one after the other from the base outward, where
 * their own markers fit best (manual sec. 2.6); then as tal_assembler_assemble(). If that ends in
 * a worse fit, the search starts from the State as it was given instead.
 */
TAL_API TAL_NODISCARD tal_status tal_assembler_fit(tal_assembler *assembler, tal_state *state,
                                                   tal_assembly *found);

/**
 * Find u: meet the velocity constraints, and come close to observed velocities.
 *
 * @param[in]     velocities [num_markers] in Ground [m/s]; NaN: not seen. NULL: none seen
 * @param[in]     rates      [num_sensors] angular velocities in Ground [rad/s], likewise
 * @param[in,out] state      as tal_assembler_assemble() left it; on success realized to
 *                           TAL_STAGE_VELOCITY. Without observations and soft constraints, u is
 *                           changed as little as the constraints allow. When a callback fails
 *                           its u stay as they are
 * @param[out]    found      may be NULL
 */
TAL_API TAL_NODISCARD tal_status tal_assembler_assemble_u(tal_assembler *assembler,
                                                          const tal_vec3 velocities[],
                                                          const tal_vec3 rates[], tal_state *state,
                                                          tal_assembly *found);

/**
 * How far each marker is from where it was observed last (tal_assembler_observe()): p_GS -
 * observed. The weights of the markers are not used here.
 *
 * @param[in]  state   realized to TAL_STAGE_POSITION, as tal_assembler_assemble() leaves it
 * @param[out] errors  [num_markers] in Ground [m]; NaN for a marker that was not seen
 */
TAL_API TAL_NODISCARD tal_status tal_assembler_calc_marker_errors(const tal_assembler *assembler,
                                                                  const tal_state *state,
                                                                  tal_vec3 errors[]);

/// The last failure; status TAL_OK when there is none. Never NULL; borrowed until the next call.
TAL_API const tal_error *tal_assembler_error(const tal_assembler *assembler);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_ASSEMBLER_H
