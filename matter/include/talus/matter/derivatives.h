// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_DERIVATIVES_H
#define TALUS_MATTER_DERIVATIVES_H

/**
 * @file talus/matter/derivatives.h
 * @brief Exact derivatives of dynamics and motion by coordinates, speeds, forces and masses.
 *
 * Inverse dynamics of a tree, tal_matter_inverse_dynamics(), is a function of q, u, udot and the
 * forces F on bodies; forward dynamics, tal_matter_forward_dynamics(), of q, u, F and f:
 *
 *     ID(q, u, udot) = M udot + J^T (F0 - F)          FD(q, u, f) = M^-1 (f - J^T (F0 - F))
 *
 * A derivative "by q" is along directions of motion: column l says what changes when q moves as
 * speed l would move it, along N e_l. There are nu such directions, whatever nq is; they have no
 * singular places, and are the same for quaternions and for angles.
 * tal_matter_derivative_by_coordinates() makes derivatives by the components of q of them.
 *
 * The derivatives are exact up to round-off for every built-in mobilizer, and for yours if its
 * table has calc_Hdot_u_slopes (tal_matter_differenced_mobilizers()). Forces F_GB are held: they
 * keep their components in Ground about Bo. For forces that depend on q and u, add theirs.
 * doc/derivatives.md has the equations, costs and uses.
 *
 * The rules of talus/matter/operators.h hold here, too. Everything needs Velocity. A matrix that is
 * not wanted is given as 0 x 0.
 */

#include <talus/matter/constraint_operators.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup derivatives Derivatives of dynamics
/// @{

/**
 * All derivatives of inverse dynamics, and the mass matrix, which is that by udot. O(n d), with d
 * the mean number of speeds between a body and Ground.
 *
 * @param[in]  udot  [nu]; NULL means zero
 * @param[in]  F_GB  [num_bodies]; NULL means zero
 * @param[out] by_q  nu x nu, along the directions of motion
 * @param[out] by_u  nu x nu
 * @param[out] M     nu x nu, both triangles
 */
TAL_NODISCARD TAL_API tal_status tal_matter_calc_ID_derivatives(
    const tal_matter *matter, tal_state *state, const double udot[], const tal_spatial_vec F_GB[],
    tal_matrix by_q, tal_matrix by_u, tal_matrix M);

/**
 * All derivatives of forward dynamics without constraints; M^-1 is that by f.
 *
 * Known accelerations (talus/matter/prescribed.h) are held: their rows are zero, and M^-1 is that
 * of the free mobilities. TAL_ERR_BAD_VALUE, with its name, for a motion of your own below the
 * position level: it may depend on q and u, and no derivative of it is known.
 *
 * @param[in]  F_GB  [num_bodies]; NULL means zero
 * @param[in]  f     [nu]; NULL means zero
 * @param[out] udot  [nu] where the derivatives are; may be NULL
 * @param[out] by_q  nu x nu, along the directions of motion
 * @param[out] by_u  nu x nu
 * @param[out] Minv  nu x nu, both triangles, bitwise symmetric
 */
TAL_NODISCARD TAL_API tal_status tal_matter_calc_FD_derivatives(
    const tal_matter *matter, tal_state *state, const tal_spatial_vec F_GB[], const double f[],
    double udot[], tal_matrix by_q, tal_matrix by_u, tal_matrix Minv);

/// @name Products with the derivatives of inverse dynamics, in O(n)
/// @{

/**
 * df = D_q x + D_u du + M dudot: the derivative of inverse dynamics along one direction.
 *
 * @param[in]  udot  [nu] where it is taken; NULL means zero
 * @param[in]  F_GB  [num_bodies]; NULL means zero
 * @param[in]  x     [nu] how q moves, as speeds would move it; NULL means zero
 * @param[in]  du    [nu]; NULL means zero
 * @param[in]  dudot [nu]; NULL means zero
 * @param[out] df    [nu]
 */
TAL_NODISCARD TAL_API tal_status tal_matter_mul_ID_derivatives(
    const tal_matter *matter, tal_state *state, const double udot[], const tal_spatial_vec F_GB[],
    const double x[], const double du[], const double dudot[], double df[]);

/**
 * The transpose: the gradient of mu^T ID.
 *
 * @param[in]  udot    [nu] where it is taken; NULL means zero
 * @param[in]  F_GB    [num_bodies]; NULL means zero
 * @param[in]  mu      [nu]
 * @param[out] by_q    [nu] D_q^T mu, along the directions of motion; NULL: not wanted
 * @param[out] by_u    [nu] D_u^T mu; NULL: not wanted
 * @param[out] by_udot [nu] M mu; NULL: not wanted
 */
TAL_NODISCARD TAL_API tal_status tal_matter_mul_ID_derivatives_T(
    const tal_matter *matter, tal_state *state, const double udot[], const tal_spatial_vec F_GB[],
    const double mu[], double by_q[], double by_u[], double by_udot[]);
/// @}

/**
 * Derivatives of the velocities and accelerations of frames that are fixed to bodies.
 *
 * Rows are those of tal_matter_calc_frame_J(): for each frame three of the angular part, then three
 * of the velocity or acceleration of its origin, in Ground. J itself is what remains: it is the
 * derivative of positions and orientations by q, of velocities by u, and of accelerations by udot.
 * O(d) for each frame after one pass over the tree.
 *
 * @param[in]  udot    [nu] where accelerations are taken; NULL means zero
 * @param[in]  frames  [n]
 * @param[out] V_by_q  6 n x nu, along the directions of motion
 * @param[out] A_by_q  6 n x nu, along the directions of motion
 * @param[out] A_by_u  6 n x nu
 */
TAL_NODISCARD TAL_API tal_status tal_matter_calc_frame_derivatives(
    const tal_matter *matter, tal_state *state, const double udot[], const tal_station frames[],
    int n, tal_matrix V_by_q, tal_matrix A_by_q, tal_matrix A_by_u);

/// @name Constraints
/// Rows of constraints are numbered as in talus/matter/constraint_operators.h, m of them. Where a
/// constraint says forces_need_velocity, G depends on u. Derivatives by q are along the directions
/// of motion.
///
/// What is known from there already: perr changes by P with q; verr by G with u and aerr by G with
/// udot. Everything is exact for the built-in constraints, except couplers whose function has no
/// further derivatives, and for yours with calc_change; see tal_matter_differenced_constraints().
/// @{

/**
 * Derivatives of velocity errors, and of what constraints put into the equations of motion
 *
 *     M udot + J^T (F0 - F) - f + G^T lambda = 0        aerr(q, u, udot) = 0
 *
 * at fixed udot and lambda. By q or by u, rows 0 to nu - 1 are those of G^T lambda, and the m rows
 * behind them those of aerr: add the derivatives of inverse dynamics to the first ones, and
 * tal_matter_solve_changes() makes derivatives of udot and lambda of it. TAL_ERR_BAD_VALUE where
 * an element slides with friction.
 *
 * @param[in]  udot       [nu]; NULL means zero
 * @param[in]  lambda     [m]; NULL means zero
 * @param[out] verr_by_q  (mp + mv) x nu
 * @param[out] by_q       (nu + m) x nu
 * @param[out] by_u       (nu + m) x nu
 */
TAL_NODISCARD TAL_API tal_status tal_matter_calc_constraint_derivatives(
    const tal_matter *matter, tal_state *state, const double udot[], const double lambda[],
    tal_matrix verr_by_q, tal_matrix by_q, tal_matrix by_u);

/**
 * Solve M x + G^T y = r, G x = s for many columns. A column (r, s) becomes (x, y).
 *
 * x = 0 for known accelerations. Where rows repeat each other, x and G^T y are unique and y has the
 * least sum of squares; TAL_ERR_SINGULAR with the name of the row if an s contradicts them.
 * TAL_ERR_BAD_VALUE, with its name, for a motion of your own below the position level.
 * O(n + m^2) for each column. M^-1 must exist, whatever tal_matter_set_solve_way() says.
 *
 * @param[in,out] B  (nu + m) x any number
 */
TAL_NODISCARD TAL_API tal_status tal_matter_solve_changes(const tal_matter *matter,
                                                          tal_state *state, tal_matrix B);

/**
 * All derivatives of forward dynamics with constraints, for given forces; F_GB keep their
 * components in Ground about Bo.
 *
 * Where rows repeat each other udot and the forces of constraints have unique derivatives, and
 * those of the multipliers are the least ones. A motion along which rows cease to repeat each other
 * has no derivative: TAL_ERR_SINGULAR then names the row. Bodies that slide with friction have none
 * here, either: TAL_ERR_BAD_VALUE. Known accelerations are held as in
 * tal_matter_calc_FD_derivatives().
 *
 * @param[in]  F_GB    [num_bodies]; NULL means zero
 * @param[in]  f       [nu]; NULL means zero
 * @param[out] udot    [nu] where the derivatives are; may be NULL
 * @param[out] lambda  [m] and these; may be NULL
 * @param[out] by_q    (nu + m) x nu, udot first, then lambda
 * @param[out] by_u    (nu + m) x nu
 * @param[out] by_f    (nu + m) x nu
 */
TAL_NODISCARD TAL_API tal_status tal_matter_calc_constrained_derivatives(
    const tal_matter *matter, tal_state *state, const tal_spatial_vec F_GB[], const double f[],
    double udot[], double lambda[], tal_matrix by_q, tal_matrix by_u, tal_matrix by_f);

/**
 * The constraints whose derivatives are found by differences of their own tables, to some 1e-10.
 *
 * @param[out] constraints  [capacity] as many as fit
 * @return how many there are; -1 for a broken contract
 */
TAL_API int tal_matter_differenced_constraints(const tal_matter *matter,
                                               tal_constraint_ix constraints[], int capacity);
/// @}

/// Mass properties of one body: m; m c along x, y, z of B; Ixx, Iyy, Izz, Ixy, Ixz, Iyz about Bo.
#define TAL_MASS_PARAMETERS 10

/**
 * The regressor: inverse dynamics is linear in the mass properties pi of all bodies,
 *
 *     ID(q, u, udot) - J^T (weights) = Y(q, u, udot) pi + (rotor inertias) udot
 *
 * so Y is the derivative by them, exact and the same whatever they are. Columns 10 b to 10 b + 9
 * belong to body b, in the order of ::TAL_MASS_PARAMETERS; those of Ground are zero. Products of
 * inertia have the sign of tal_mass_props. Masses can be fitted to measured forces by least squares
 * with it; only those combinations of them show that some motion feels. O(n d).
 *
 * @param[in]  udot  [nu]; NULL means zero
 * @param[in]  g     a uniform field of gravity whose weights count as forces needed; zero: none
 * @param[out] Y     nu x 10 num_bodies
 */
TAL_NODISCARD TAL_API tal_status tal_matter_calc_regressor(const tal_matter *matter,
                                                           tal_state *state, const double udot[],
                                                           tal_vec3 g, tal_matrix Y);

/**
 * From derivatives along the directions of motion to derivatives by the components of q: D N^+.
 *
 * A quaternion may have any length; along its length nothing changes, and the result says so. The
 * orientation of a line has more coordinates than its speeds can change: a turn about Mz, which no
 * speed makes, counts as none.
 *
 * @param[in]  D    any number of rows, nu columns
 * @param[out] D_q  as many rows, nq columns
 * @return TAL_ERR_SINGULAR where angles are; see tal_matter_mul_N()
 */
TAL_NODISCARD TAL_API tal_status tal_matter_derivative_by_coordinates(const tal_matter *matter,
                                                                      tal_state *state,
                                                                      tal_matrix D, tal_matrix D_q);

/**
 * The bodies whose mobilizers give derivatives by differences of their own tables, to some 1e-10:
 * yours without calc_Hdot_u_slopes, and function-based ones with a function that has no third
 * derivatives.
 *
 * @param[out] bodies  [capacity] as many as fit
 * @return how many there are; -1 for a broken contract
 */
TAL_API int tal_matter_differenced_mobilizers(const tal_matter *matter, tal_body_ix bodies[],
                                              int capacity);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_DERIVATIVES_H
