// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_PATH_FIT_H
#define TALUS_STUDY_PATH_FIT_H

/**
 * @file talus/study/path_fit.h
 * @brief A polynomial of coordinates in place of a path of points and obstacles.
 *
 *     tal_path_fit fit;
 *     st = tal_path_find_fit(system, forces, state, biceps, NULL, &fit, &err);
 *     if (st == TAL_OK) printf("off by %g m\n", fit.length_rms);
 *
 * The polynomial is the one of least squares over poses within the ranges of the coordinates. It is
 * fitted to lengths and to their slopes, which are moment arms, together. Its degree is the lowest
 * at which both errors are within their tolerances at other poses, which were not used for the fit.
 *
 * tal_forces_add_function_path() makes a path of it; tal_model.fits writes it to a model file.
 */

#include <talus/forces.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup path_fit Paths as polynomials
/// @{

/// How good a fit must be. Obtain it from tal_path_fit_def_default(), then edit.
typedef struct tal_path_fit_def {
    /// The arguments, numbered as with angles. NULL: all that the path depends on
    /// (tal_path_coordinates()), except those that are locked or have only one value.
    const tal_mobility *at;
    int num_at;
    double length_tolerance; ///< of the lengths, RMS [m]
    double arm_tolerance;    ///< of the slopes dl/dq, RMS [m for an angle]
    int max_degree;          ///< 1 ... TAL_FUNCTION_MAX_POWER
    int max_terms;           ///< 2 ... 1000; no degree with more of them is tried
    uint64_t seed;           ///< of the poses
    /// Fit along what the constraints allow, with independent coordinates as arguments only.
    bool along_constraints;
} tal_path_fit_def;

/// 0.5 mm, 1 mm, degree 6, 500 terms, constraints ignored.
TAL_API tal_path_fit_def tal_path_fit_def_default(void);

/// A polynomial that was fitted to a path.
typedef struct tal_path_fit {
    tal_path_ix path;
    tal_mobility at[TAL_FUNCTION_MAX_ARGS]; ///< its arguments
    int num_at;
    int degree, num_terms;
    int num_poses;                 ///< that it was fitted to
    double length_rms, length_max; ///< errors at other poses [m]
    double arm_rms, arm_max;       ///< likewise, of the slopes [m for an angle]
    bool is_within;                ///< both RMS errors are within their tolerances
    tal_function *length;          ///< owned by the caller
} tal_path_fit;

/**
 * Fit a polynomial to a path.
 *
 * Constraints are ignored unless along_constraints is set: the length of a path is a function of
 * all coordinates that it depends on, also at poses that constraints do not allow. Other
 * coordinates keep their values of `start`, so if a constraint moves one with another (a coupler),
 * let `at` name both, or be NULL.
 *
 * With along_constraints each pose is assembled with the arguments held, and slopes are those of
 * tal_path_calc_moment_arms(). Coordinates that the others determine are not arguments: of a knee
 * whose patella a coupler moves, the angle of the knee is left. In place of the path the polynomial
 * moves a model as the path does, as long as the same constraints hold.
 *
 * @param[in]  start  realized to Model or above; stays as it is
 * @param[in]  def    NULL means tal_path_fit_def_default()
 * @param[out] fit    the best that was found, also when no degree is good enough
 *                    (tal_path_fit.is_within); `length` is NULL on failure
 * @param[out] err    may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE for a coordinate without a finite range
 *         (tal_body_limit_coordinate()), one that is part of a quaternion in `start`, more of
 *         them than a function can have, or with along_constraints one that is locked or whose rate
 *         is not a speed; or why the path could not be drawn at a pose
 */
TAL_API TAL_NODISCARD tal_status tal_path_find_fit(const tal_system *system,
                                                   const tal_forces *forces, const tal_state *start,
                                                   tal_path_ix path, const tal_path_fit_def *def,
                                                   tal_path_fit *fit, tal_error *err);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_PATH_FIT_H
