// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_NATURAL_H
#define TALUS_MATTER_NATURAL_H

/**
 * @file talus/matter/natural.h
 * @brief Bodies in natural coordinates: points and unit vectors in Ground (GJB sec. 8.2, 8.5).
 *
 * The image of a model in *entities*, points and unit vectors with three coordinates each. Bodies
 * that touch at a joint share its point and its axis, so that most joints need no equations; others
 * are added until every body has four that span its frame. The pose of a body is linear in its
 * entities, so that
 *
 *     the mass matrix is constant: no Coriolis forces
 *     all conditions are sums of products of two coordinates: |r|^2, r . u, u . v
 *
 *     natural x, xdot  <->  State q, u          exactly, both ways, where the conditions are met
 *
 * Covered: the mobilizers pin, slider, cylinder, universal, planar, translation, ball, gimbal,
 * free, bushing and weld in either direction; the constraints rod, ball, constant angle and loop
 * pin. Others are refused by name.
 */

#include <talus/matter/velocity_map.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup natural Natural coordinates
/// @{

/// The image of a model. Opaque. Use from one thread at a time.
typedef struct tal_natural tal_natural;

/**
 * Make the image of a model, with the masses, frames and enabled constraints of a State.
 *
 * @param[in]  matter  its topology must be realized; must outlive the image
 * @param[in]  state   at TAL_STAGE_INSTANCE at least
 * @param[out] out     owned by the caller; NULL on failure
 * @param[out] err     may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE for a mobilizer or a constraint that is not covered, with its
 *         name, and for locks and prescribed motion; TAL_ERR_NULL, TAL_ERR_STAGE, TAL_ERR_NO_MEMORY
 */
TAL_API TAL_NODISCARD tal_status tal_natural_create(const tal_matter *matter,
                                                    const tal_state *state, tal_natural **out,
                                                    tal_error *err);

/// Free it. NULL is allowed.
TAL_API void tal_natural_destroy(tal_natural *natural);

/// Number of coordinates, three for each entity. -1 on a breach.
TAL_API int tal_natural_nx(const tal_natural *natural);

/// Number of conditions. -1 on a breach.
TAL_API int tal_natural_nc(const tal_natural *natural);

/// Whether a State has the masses, frames and constraints that the image was made from. Needs
/// TAL_STAGE_INSTANCE; false on a breach.
TAL_API bool tal_natural_fits(const tal_natural *natural, const tal_state *state);

/// @name Between States and natural coordinates
/// @{

/// x and xdot of a State.
/// @param[in]  state  at TAL_STAGE_VELOCITY
/// @param[out] x      [tal_natural_nx()]
/// @param[out] xdot   [tal_natural_nx()]
TAL_API TAL_NODISCARD tal_status tal_natural_read(const tal_natural *natural,
                                                  const tal_state *state, double x[],
                                                  double xdot[]);

/// xdotdot for any udot: R udot + Sc (GJB eq. 8.35).
/// @param[in]  udot     [nu] NULL means zero: Sc alone
/// @param[out] xdotdot  [tal_natural_nx()]
TAL_API TAL_NODISCARD tal_status tal_natural_calc_acceleration(const tal_natural *natural,
                                                               tal_state *state,
                                                               const double udot[],
                                                               double xdotdot[]);

/// R x nu: x moves as R u (GJB eq. 8.34), nx x nu.
TAL_API TAL_NODISCARD tal_status tal_natural_calc_R(const tal_natural *natural, tal_state *state,
                                                    tal_matrix R);

/// udot of an acceleration of x at a State where x and xdot are: of all udot the one whose bodies
/// are nearest, by mass, to what x says; exactly that where the conditions are met.
/// @param[in]  state    at TAL_STAGE_VELOCITY
/// @param[in]  x        [tal_natural_nx()]
/// @param[in]  xdotdot  [tal_natural_nx()]
/// @param[out] udot     [nu]
TAL_API TAL_NODISCARD tal_status tal_natural_read_udot(const tal_natural *natural, tal_state *state,
                                                       const double x[], const double xdotdot[],
                                                       double udot[]);

/// q and u of a State from x and xdot: frames are made orthonormal, then fitted body by body.
/// Angles go as few turns from where they are as they can. Realizes TAL_STAGE_VELOCITY.
/// @param[in] state  at TAL_STAGE_INSTANCE at least
/// @param[in] x     [tal_natural_nx()]
/// @param[in] xdot  [tal_natural_nx()]
TAL_API TAL_NODISCARD tal_status tal_natural_put(const tal_natural *natural, tal_state *state,
                                                 const double x[], const double xdot[]);
/// @}

/// @name Equations of motion M xdotdot + Phi_x^T lambda = Q, Phi(x) = 0
/// @{

/// M, nx x nx, both triangles; constant.
TAL_API TAL_NODISCARD tal_status tal_natural_calc_M(const tal_natural *natural, tal_matrix M);

/// Phi(x).
/// @param[in]  x    [tal_natural_nx()]
/// @param[out] phi  [tal_natural_nc()]
TAL_API TAL_NODISCARD tal_status tal_natural_calc_phi(const tal_natural *natural, const double x[],
                                                      double phi[]);

/// Its Jacobian, nc x nx.
/// @param[in]  x  [tal_natural_nx()]
TAL_API TAL_NODISCARD tal_status tal_natural_calc_phi_x(const tal_natural *natural,
                                                        const double x[], tal_matrix phi_x);

/// What Phidotdot has besides Phi_x xdotdot: quadratic in xdot.
/// @param[in]  xdot  [tal_natural_nx()]
/// @param[out] bias  [tal_natural_nc()]
TAL_API TAL_NODISCARD tal_status tal_natural_calc_bias(const tal_natural *natural,
                                                       const double xdot[], double bias[]);

/// C = sum of lambda_k times the second derivatives of Phi_k, nx x nx: Phi is quadratic, so that
/// Phi_x(x + d)^T lambda = Phi_x(x)^T lambda + C d for any x.
/// @param[in] lambda  [tal_natural_nc()]
TAL_API TAL_NODISCARD tal_status tal_natural_calc_curvature(const tal_natural *natural,
                                                            const double lambda[], tal_matrix C);

/// Q of forces on bodies and along speeds, as tal_matter_calc_applied_forces() gives them.
/// @param[in]  F_GB  [num_bodies] about Bo, in Ground
/// @param[in]  f     [nu]
/// @param[out] Q     [tal_natural_nx()] that of weights is the same at every x
TAL_API TAL_NODISCARD tal_status tal_natural_calc_Q(const tal_natural *natural, tal_state *state,
                                                    const tal_spatial_vec F_GB[], const double f[],
                                                    double Q[]);

/// @}

/// @name Formulation A: a tree's equations from its elements (GJB sec. 8.2.5, 8.2.6)
///
///     M = sum of R_e^T M_e R_e        Q = f + sum of R_e^T (Q_e - M_e Sc_e)        M udot = Q
///
/// A body is an element: four entities, mostly, with a constant M_e. R_e has a column for each
/// speed between Ground and them. All parts are found element by element, on as many threads as
/// you like, with the same bits for any number of them. Loops are open here:
/// tal_natural_map_calc_closure() has their equations. To study, and to compare with:
/// tal_matter_calc_M() is faster.
/// @{

/// R_e and M_e R_e of one model. Opaque. Use from one thread at a time.
typedef struct tal_natural_map tal_natural_map;

/// Make a map. All memory it will ever use is taken here.
/// @param[in]  natural   must outlive the map
/// @param[in]  executor  runs the parts; copied; NULL: the calling thread does. Small models are
///                       left to the calling thread
/// @param[out] out       owned by the caller; NULL on failure
/// @param[out] err       may be NULL
/// @return TAL_OK; TAL_ERR_NULL, TAL_ERR_NO_MEMORY
TAL_API TAL_NODISCARD tal_status tal_natural_map_create(const tal_natural *natural,
                                                        const tal_executor *executor,
                                                        tal_natural_map **out, tal_error *err);

/// Free it. NULL is allowed.
TAL_API void tal_natural_map_destroy(tal_natural_map *map);

/// R, Sc and M R of a State: what the calls below are about. Needs TAL_STAGE_VELOCITY.
TAL_API TAL_NODISCARD tal_status tal_natural_map_calc(tal_natural_map *map, tal_state *state);

/// R^T M R, nu x nu, both triangles.
TAL_API TAL_NODISCARD tal_status tal_natural_map_calc_M(const tal_natural_map *map, tal_matrix M);

/// f + R^T (Q - M Sc) of forces as tal_matter_calc_applied_forces() gives them, at the State of the
/// last tal_natural_map_calc().
/// @param[in]  F_GB  [num_bodies] about Bo, in Ground
/// @param[in]  f     [nu]
/// @param[out] Q     [nu]
TAL_API TAL_NODISCARD tal_status tal_natural_map_calc_Q(tal_natural_map *map, tal_state *state,
                                                        const tal_spatial_vec F_GB[],
                                                        const double f[], double Q[]);

/// What the conditions ask of udot, G udot = c with G = Phi_x R and c = -bias - Phi_x Sc (GJB eq.
/// 8.114): rows of those that the tree meets by itself are zero but for round-off.
/// @param[out] G  nc x nu
/// @param[out] c  [tal_natural_nc()]
TAL_API TAL_NODISCARD tal_status tal_natural_map_calc_closure(tal_natural_map *map, tal_matrix G,
                                                              double c[]);

/// What one evaluation takes (GJB tab. 8.3, A); `inertia` is M Sc. Zeros on a breach.
TAL_API tal_velocity_map_counts tal_natural_map_operations(const tal_natural_map *map);

/// @}

/// @name Accelerations from the equations alone, with the whole matrix (GJB tab. 8.5)
/// The ways of programs that know no trees: to compare with, for mechanisms whose conditions change
/// rank, and as a check of other programs. O(nx^3).
/// @{

/// How the conditions enter.
typedef enum tal_natural_way {
    /// (M + alpha Phi_x^T Phi_x) xdotdot = Q - alpha Phi_x^T (bias + 2 Omega mu Phidot + Omega^2
    /// Phi) (GJB sec. 5.1.4): conditions may repeat each other; they are met but for a part of
    /// mass / alpha
    TAL_NATURAL_PENALTY,
    /// R^T M R zdotdot = R^T (Q - M S c) with R a basis of what the conditions allow, from Gauss
    /// elimination of Phi_x with full pivoting (GJB sec. 5.2.3): exact
    TAL_NATURAL_MATRIX_R
} tal_natural_way;

/// What a solver is created from. Obtain it from tal_natural_solver_def_default(), then edit.
typedef struct tal_natural_solver_def {
    tal_natural_way way;
    double alpha; ///< of the penalty > 0
    double omega; ///< of the penalty >= 0 [1/s]: errors of conditions fade with it
    double mu;    ///< of the penalty >= 0: their damping, 1 is critical
    double rank;  ///< of matrix R, 0 to 1: smaller pivots than this part of the first are none
} tal_natural_solver_def;

/// The penalty with alpha 1e7, Omega 10, mu 1; rank 1e-9.
TAL_API tal_natural_solver_def tal_natural_solver_def_default(void);

/// A solver with its memory. Opaque. Use from one thread at a time.
typedef struct tal_natural_solver tal_natural_solver;

/// Make a solver.
/// @param[in]  natural  must outlive the solver
/// @param[in]  def      copied; NULL means tal_natural_solver_def_default()
/// @param[out] out      owned by the caller; NULL on failure
/// @param[out] err      may be NULL
/// @return TAL_OK; TAL_ERR_NULL; TAL_ERR_BAD_VALUE for a number of `def`; TAL_ERR_NO_MEMORY
TAL_API TAL_NODISCARD tal_status tal_natural_solver_create(const tal_natural *natural,
                                                           const tal_natural_solver_def *def,
                                                           tal_natural_solver **out,
                                                           tal_error *err);

/// Free it. NULL is allowed.
TAL_API void tal_natural_solver_destroy(tal_natural_solver *solver);

/// xdotdot of x, xdot and the forces Q of tal_natural_calc_Q().
/// @param[in]  x        [tal_natural_nx()]
/// @param[in]  xdot     [tal_natural_nx()]
/// @param[in]  Q        [tal_natural_nx()]
/// @param[out] xdotdot  [tal_natural_nx()]
/// @return TAL_OK; TAL_ERR_NOT_FINITE; TAL_ERR_SINGULAR where motions are left that move no mass
TAL_API TAL_NODISCARD tal_status tal_natural_solver_solve(tal_natural_solver *solver,
                                                          const double x[], const double xdot[],
                                                          const double Q[], double xdotdot[]);

/// Rank of the conditions as matrix R found it in the last call; -1 for a penalty, and on a breach.
TAL_API int tal_natural_solver_rank(const tal_natural_solver *solver);
/// @}

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_NATURAL_H
