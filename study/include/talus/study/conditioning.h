// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_CONDITIONING_H
#define TALUS_STUDY_CONDITIONING_H

/**
 * @file talus/study/conditioning.h
 * @brief How far accelerations can be trusted: the condition of the mass matrix, their sensitivity
 *        to forces, and lints that find the causes of lost digits in a model (RBDA sec. 10.1,
 *        10.2).
 *
 * A relative error e of the forces becomes one of up to cond(M) e of the accelerations. The
 * condition grows with the fourth power of the number of bodies in a chain, and with the ratios of
 * inertias. Talus loses no more digits than that; lost digits can only be regained with another
 * model: shallower trees, bodies of similar sizes, frames near the bodies.
 *
 *     tal_conditioning how;
 *     st = tal_conditioning_calc(system, state, &how, &err);
 *     if (st == TAL_OK) printf("%.0f digits are lost\n", log10(how.scaled));
 *
 * These calls take the memory they need from the System's allocator and give it back. Their work is
 * that of dense matrices, O(n^3), with LAPACK: a thousand speeds take seconds. The lints need O(n
 * depth^2).
 */

#include <talus/matter.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup conditioning Condition, sensitivity, lints
/// @{

/**
 * The condition of the equations of motion where a State is.
 *
 * With K an orthonormal basis of the motions that constraints, locks and prescribed motion allow,
 * the matrix that is solved with is K^T M K. Without constraints it is M.
 */
typedef struct tal_conditioning {
    int dof;          ///< motions that are allowed; 0: the rest is 1, and nothing can be wrong
    double least;     ///< eigenvalue of K^T M K
    double most;      ///< likewise
    double condition; ///< most / least; it depends on the units. INFINITY: a motion moves no mass
    double scaled;    ///< the same with speeds measured in units that make the diagonal of M all
                      ///< ones: a number without units, often the smallest there is
    double share;     ///< least share of its entry of M that a speed keeps when what it carries
                      ///< may move: the rest cancels, and log10(1 / share) digits with it
    tal_mobility weakest; ///< that speed; `body.i` < 0: none
} tal_conditioning;

/**
 * Find the condition. Needs TAL_STAGE_INSTANCE; what is missing up to Velocity is realized.
 *
 * @param[in]     system
 * @param[in,out] state
 * @param[out]    out     written on success only
 * @param[out]    err     may be NULL
 */
TAL_NODISCARD TAL_API tal_status tal_conditioning_calc(const tal_system *system, tal_state *state,
                                                       tal_conditioning *out, tal_error *err);

/**
 * How much accelerations change when forces are not known exactly: if each f_j is off by up to a
 * share e of itself, udot_i is off by up to e reach_i,
 *
 *     reach = |A| |f|        A = d udot / d f = K (K^T M K)^-1 K^T
 *
 * Compare it with udot: in a chain of six links, forces of 126 to 6 N m that give one rad/s^2 each
 * have a reach of 220 to 460 rad/s^2.
 *
 * @param[in]     system
 * @param[in,out] state
 * @param[in]     f      [tal_matter_nu()] forces along u, or what each is uncertain by; signs do
 *                       not matter. NULL: those that the State's accelerations take, M udot; then
 *                       Acceleration is realized
 * @param[out]    reach  [tal_matter_nu()]
 * @param[out]    err    may be NULL
 */
TAL_NODISCARD TAL_API tal_status tal_conditioning_calc_reach(const tal_system *system,
                                                             tal_state *state, const double f[],
                                                             double reach[], tal_error *err);

/// @}

/// @defgroup lint Lints
/// @{

/// What costs digits.
typedef enum tal_lint_kind {
    TAL_LINT_FAR_FRAME, ///< a body's origin or the frame of its mobilizer is far from its mass
    TAL_LINT_FAR_FROM_GROUND, ///< a body is far from Ground's origin, compared with its size
    TAL_LINT_INERTIA_RATIO,   ///< a body carries bodies that are very much heavier
    TAL_LINT_WEAK_INERTIA,    ///< what a speed moves all but cancels
    TAL_LINT_LOOP             ///< constraints are close to losing rank
} tal_lint_kind;

enum {
    TAL_LINT_NUM_KINDS = 5,
    TAL_LINT_TEXT = 240 ///< bytes of a message with its end
};

/// Above which a lint is reported; 0 or less: never.
typedef struct tal_lint_limits {
    double far_frame;       ///< distance over the body's size, sqrt(trace I_C / 2 m): 1000
    double far_from_ground; ///< distance over the size of the model: 1e6
    double inertia_ratio;   ///< mass that is carried over the body's own: 1e5
    double weak_inertia;    ///< 1 / share (::tal_conditioning): 1e8
    double loop;            ///< 1 / share of tal_matter_calc_margin(): 1e8
} tal_lint_limits;

TAL_API tal_lint_limits tal_lint_limits_default(void);

/// One finding.
typedef struct tal_lint {
    tal_lint_kind kind;
    tal_body_ix body;            ///< `i` < 0: none
    double value;                ///< what was compared with the limit
    char message[TAL_LINT_TEXT]; ///< a sentence without the body's name: "its origin is ..."
} tal_lint;

/**
 * Look for what costs digits, where a State is. None of this is a mistake by itself.
 *
 * Speeds that all bodies share cost nothing in Talus, which computes with differences of motion
 * along the tree, so there is no lint for them.
 *
 * @param[in]     system
 * @param[in,out] state   at Instance or above; what is missing up to Velocity is realized
 * @param[in]     limits  NULL: the default
 * @param[out]    lints   [max] the first so many of them, by kind and then by body
 * @param[in]     max
 * @param[out]    num     how many there are, which may be more than `max`
 * @param[out]    err     may be NULL
 */
TAL_NODISCARD TAL_API tal_status tal_lint_find(const tal_system *system, tal_state *state,
                                               const tal_lint_limits *limits, tal_lint lints[],
                                               int max, int *num, tal_error *err);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_CONDITIONING_H
