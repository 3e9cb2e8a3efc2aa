// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_LINEARIZER_H
#define TALUS_STUDY_LINEARIZER_H

/**
 * @file talus/study/linearizer.h
 * @brief Small motions about a State: xdot = A x + B f in independent coordinates, modes,
 *        frequencies and damping.
 *
 *     tal_linearizer *lin = NULL;
 *     st = tal_linearizer_create(system, NULL, &lin, &err);
 *     if (st == TAL_OK) st = tal_linearizer_run(lin, state);
 *     if (st == TAL_OK) st = tal_linearizer_find_modes(lin);
 *     const tal_mode first = tal_linearizer_mode(lin, 0);
 *     tal_linearizer_destroy(lin);
 *
 * With K_p a basis of the motions that the position constraints allow and K_v of those that all
 * constraints on speeds allow, of the speeds that are not locked or prescribed,
 *
 *     x = {s, v, z}      s = K_p^T N^+(q0) (q - q0)      v = K_v^T (u - u0)
 *
 * A State that is not at rest or in a steady motion can be linearized as well; then x = 0 moves.
 *
 * Where all forces know their change (tal_system_is_differenced()), there is no z, and nothing is
 * prescribed, locked or fast, A is exact up to round-off.
 *
 * Otherwise A is found from central differences, extrapolated (Richardson). The step of the def is
 * used where it is suitable: the error is of the order of step^6, or of round-off divided by the
 * step. Where accelerations change too much within it, as those of a light link that carries a
 * heavy one, or where the differences are only round-off, a step is chosen for each column, and
 * for each entry, by the error that the extrapolation shows. That error is kept:
 * tal_linearizer_A_error() for the entries of A, and `tal_mode.error` for the error of an
 * eigenvalue that follows. Where the slope of accelerations jumps, as exactly at the edge of a
 * contact, it is half the jump.
 */

#include <talus/forces.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup linearizer Linearization and modes
/// @{

/// What a linearizer is created from. Obtain it from tal_linearizer_def_default(), then edit.
typedef struct tal_linearizer_def {
    double step; ///< difference to try first, as a share of a unit of motion; from 1e-12 to 1
} tal_linearizer_def;

/// A step of 0.01.
TAL_API tal_linearizer_def tal_linearizer_def_default(void);

/// Linearizes States of one System. Opaque. Use from one thread at a time.
typedef struct tal_linearizer tal_linearizer;

/**
 * Create a linearizer. All memory it will ever use is taken here, except what LAPACK uses.
 *
 * @param[in]  system  its topology must be realized and it must have matter; must outlive the
 *                     linearizer
 * @param[in]  def     copied; NULL means tal_linearizer_def_default()
 * @param[out] out     owned by the caller; NULL on failure
 * @param[out] err     may be NULL
 */
TAL_API TAL_NODISCARD tal_status tal_linearizer_create(const tal_system *system,
                                                       const tal_linearizer_def *def,
                                                       tal_linearizer **out, tal_error *err);

/// Free a linearizer. NULL is allowed.
TAL_API void tal_linearizer_destroy(tal_linearizer *lin);

/**
 * Linearize about a State.
 *
 * @param[in] state  at Model at least; meets its constraints, each weighted error to 1e-3; stays as
 *                   it is
 * @return TAL_OK; TAL_ERR_BAD_VALUE when it does not: the sentence names the constraint;
 *         TAL_ERR_NOT_FINITE; or what realizing a State near it returned: tal_linearizer_error()
 *         has the sentence
 */
TAL_API TAL_NODISCARD tal_status tal_linearizer_run(tal_linearizer *lin, const tal_state *state);

/// The last failure; status TAL_OK when there is none. Never NULL; borrowed until the next call.
TAL_API const tal_error *tal_linearizer_error(const tal_linearizer *lin);

/// @name Of the last run. Borrowed until the next one; sizes are 0 before the first.
/// @{

/// Sizes of s, v and z.
typedef struct tal_linear_sizes {
    int ns, nv, nz;
} tal_linear_sizes;

/// The sizes of the last run.
TAL_API tal_linear_sizes tal_linearizer_sizes(const tal_linearizer *lin);

/// A, nx x nx with nx = ns + nv + nz: xdot = xdot0 + A x + B f.
TAL_API tal_matrix tal_linearizer_A(const tal_linearizer *lin);

/// How far each entry of A may be off, nx x nx: an estimate.
TAL_API tal_matrix tal_linearizer_A_error(const tal_linearizer *lin);

/// B, nx x nu: the change of xdot with a force along each speed.
TAL_API tal_matrix tal_linearizer_B(const tal_linearizer *lin);

/// xdot where x = 0 ([nx]): zero in v at an equilibrium.
TAL_API const double *tal_linearizer_rates(const tal_linearizer *lin);

/// K_p, nu x ns, and K_v, nu x nv.
TAL_API tal_matrix tal_linearizer_K_p(const tal_linearizer *lin);
TAL_API tal_matrix tal_linearizer_K_v(const tal_linearizer *lin);
/// @}

/**
 * Eigenvalues and mode shapes of the last A (LAPACK DGEEV).
 *
 * @return TAL_OK; TAL_ERR_BAD_VALUE before the first run; TAL_ERR_NO_CONVERGENCE, also when the
 *         error of A leaves no digit even of the largest eigenvalue
 */
TAL_API TAL_NODISCARD tal_status tal_linearizer_find_modes(tal_linearizer *lin);

/// A mode: x = real part of shape e^(lambda t).
typedef struct tal_mode {
    double re, im;    ///< lambda [1/s]
    double frequency; ///< |im| / (2 pi) [Hz]
    double damping;   ///< -re / |lambda|; 1 for a decay without oscillation; 0 where lambda is
    double error; ///< how far lambda may be off [1/s]: an estimate, from that of A, to first order
    const double *shape_re, *shape_im; ///< [nx], borrowed until the next run
} tal_mode;

/// Number of modes: nx after tal_linearizer_find_modes(), 0 before.
TAL_API int tal_linearizer_num_modes(const tal_linearizer *lin);

/// A mode, in ascending order of |lambda|; of a pair the one with positive im comes first. NaN on a
/// breach.
TAL_API tal_mode tal_linearizer_mode(const tal_linearizer *lin, int i);

/// The motion of a mode in terms of all speeds: re + i im of K_p s, each [nu].
/// @param[out] re  [nu]
/// @param[out] im  [nu]
TAL_API tal_status tal_linearizer_mode_shape(const tal_linearizer *lin, int i, double re[],
                                             double im[]);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_LINEARIZER_H
