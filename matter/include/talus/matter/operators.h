// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_OPERATORS_H
#define TALUS_MATTER_OPERATORS_H

/**
 * @file talus/matter/operators.h
 * @brief Operators of the tree: products with M, M^-1, N and Jacobians, explicit matrices, inverse
 *        and forward dynamics (manual sec. 12.8).
 *
 * The equations of motion of a tree are
 *
 *     M udot + J^T F0 = f + J^T F          qdot = N u
 *
 * with F the forces applied to bodies, f those applied along u, and F0 the forces that the bodies
 * need because of their velocities alone. Each operator behaves as if its matrix had been formed;
 * only the explicit ones form it, the others cost O(n) per column. doc/operators.md has the table
 * of names and costs.
 *
 * Common rules, not repeated below:
 * - A generalized vector (u, udot, f) has tal_matter_nu() values, those of matter alone, in the
 *   order of tal_body_u_start(). A vector like qdot has tal_matter_nq() values.
 * - Arrays over bodies have tal_matter_num_bodies() entries; Ground is entry 0. A force in that
 *   entry is ignored: Ground does not move.
 * - Spatial vectors are about the body's origin Bo (or the origin of the frame asked for),
 *   expressed in Ground, angular part first.
 * - The State must have reached TAL_STAGE_INSTANCE. What an operator needs of q ("Position") or of
 *   q and u ("Velocity") is computed first if the State does not hold it, and stays in the State.
 * - Memory is the caller's; nothing is allocated. Inputs and outputs may not overlap.
 * - Matrices are dense and column-major (::tal_matrix); those called `_columns` apply the operator
 *   to every column.
 * - Returned: TAL_OK; TAL_ERR_NOT_FINITE for a NaN or an infinity in the input; or why the State
 *   could not be realized that far: tal_state_error() has the sentence. A NULL, an index or a size
 *   that does not fit, a State of another System or before its stage are broken contracts: the
 *   specific status, and the contract handler is called. On failure no output is written.
 */

#include <talus/common/linalg.h>
#include <talus/matter/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup operators Operators of the tree
/// @{

/// Number of speeds of matter: the length of u, udot and f here. -1 before the topology is
/// realized.
TAL_API int tal_matter_nu(const tal_matter *matter);

/// Number of coordinates of matter. Needs TAL_STAGE_MODEL, -1 before.
TAL_API int tal_matter_nq(const tal_matter *matter, const tal_state *state);

/// @name Mass matrix. Position.
/// @{

/// f = M a (RBDA tab. 6.1).
/// @param[in]  a  [nu]
/// @param[out] f  [nu]
TAL_NODISCARD TAL_API tal_status tal_matter_mul_M(const tal_matter *matter, tal_state *state,
                                                  const double a[], double f[]);
/// F = M A for every column; both have nu rows.
TAL_NODISCARD TAL_API tal_status tal_matter_mul_M_columns(const tal_matter *matter,
                                                          tal_state *state, tal_matrix A,
                                                          tal_matrix F);

/// a = M^-1 f, by articulated-body inertias, which are computed once per q (RBDA tab. 7.1).
/// TAL_ERR_SINGULAR when a mobility moves no mass; the sentence names the body.
/// @param[in]  f  [nu]
/// @param[out] a  [nu]
TAL_NODISCARD TAL_API tal_status tal_matter_mul_Minv(const tal_matter *matter, tal_state *state,
                                                     const double f[], double a[]);
/// A = M^-1 F for every column; both have nu rows.
TAL_NODISCARD TAL_API tal_status tal_matter_mul_Minv_columns(const tal_matter *matter,
                                                             tal_state *state, tal_matrix F,
                                                             tal_matrix A);

/// M itself, nu x nu, both triangles, by composite rigid bodies (RBDA tab. 6.2). An entry between
/// speeds of which neither is outboard of the other is exactly zero.
TAL_NODISCARD TAL_API tal_status tal_matter_calc_M(const tal_matter *matter, tal_state *state,
                                                   tal_matrix M);

/**
 * J^T Phi J, nu x nu, both triangles: the mass matrix that the tree would have with other mass
 * properties and without rotors (RBDA tab. 6.2).
 *
 * It is used to fit points: a point of weight w on a body adds w, as a mass, to the normal matrix
 * of the least-squares problem of these points; an orientation of weight w adds w times the unit
 * matrix to the inertia.
 *
 * @param[in]  weights  [num_bodies] in B, about Bo; any finite numbers, physical or not
 * @param[out] gram     nu x nu
 */
TAL_NODISCARD TAL_API tal_status tal_matter_calc_gram(const tal_matter *matter, tal_state *state,
                                                      const tal_mass_props weights[],
                                                      tal_matrix gram);

/// M^-1 itself, nu x nu, both triangles, bitwise symmetric.
TAL_NODISCARD TAL_API tal_status tal_matter_calc_Minv(const tal_matter *matter, tal_state *state,
                                                      tal_matrix Minv);
/// @}

/// @name Rates of the coordinates: qdot = N u, qdotdot = N udot + Ndot u. Velocity for Ndot.
/// @{

/// One product with N, its pseudoinverse, derivative or a transpose; ::tal_n_op says how long `in`
/// and `out` are. Needs only q (and u for Ndot). TAL_ERR_SINGULAR where body-XYZ angles are.
/// @param[in]  in   [nq or nu]
/// @param[out] out  [nq or nu]
TAL_NODISCARD TAL_API tal_status tal_matter_mul_N(const tal_matter *matter, tal_state *state,
                                                  tal_n_op op, const double in[], double out[]);
/// The same for every column.
TAL_NODISCARD TAL_API tal_status tal_matter_mul_N_columns(const tal_matter *matter,
                                                          tal_state *state, tal_n_op op,
                                                          tal_matrix in, tal_matrix out);
/// The same for one body: `in` and `out` are about its own coordinates and speeds. Constant time.
/// @param[in]  in   [nq or nu of the body]
/// @param[out] out  [nq or nu of the body]
TAL_NODISCARD TAL_API tal_status tal_body_mul_N(const tal_matter *matter, tal_state *state,
                                                tal_body_ix body, tal_n_op op, const double in[],
                                                double out[]);
/// qdot = N(q) u for any u, not just the State's.
/// @param[in]  u     [nu]
/// @param[out] qdot  [nq]
TAL_NODISCARD TAL_API tal_status tal_matter_calc_qdot(const tal_matter *matter, tal_state *state,
                                                      const double u[], double qdot[]);
/// qdotdot = N(q) udot + Ndot(q, u) u, with the State's u.
/// @param[in]  udot     [nu]
/// @param[out] qdotdot  [nq]
TAL_NODISCARD TAL_API tal_status tal_matter_calc_qdotdot(const tal_matter *matter, tal_state *state,
                                                         const double udot[], double qdotdot[]);
/// @}

/// @name System Jacobian: V = J u stacks V_GB of all bodies. Position; the bias needs Velocity.
/// @{

/// V_GB = J u for any u ([num_bodies]).
/// @param[in]  u     [nu]
/// @param[out] V_GB  [num_bodies]
TAL_NODISCARD TAL_API tal_status tal_matter_mul_J(const tal_matter *matter, tal_state *state,
                                                  const double u[], tal_spatial_vec V_GB[]);
/// V = J U for every column; V has 6 num_bodies rows, w above v for each body.
TAL_NODISCARD TAL_API tal_status tal_matter_mul_J_columns(const tal_matter *matter,
                                                          tal_state *state, tal_matrix U,
                                                          tal_matrix V);
/// f = J^T F: the mobility forces that do the same work as forces on bodies ([num_bodies]).
/// @param[in]  F_GB  [num_bodies]
/// @param[out] f     [nu]
TAL_NODISCARD TAL_API tal_status tal_matter_mul_JT(const tal_matter *matter, tal_state *state,
                                                   const tal_spatial_vec F_GB[], double f[]);
/// f = J^T F for every column; F has 6 num_bodies rows.
TAL_NODISCARD TAL_API tal_status tal_matter_mul_JT_columns(const tal_matter *matter,
                                                           tal_state *state, tal_matrix F,
                                                           tal_matrix f);
/// J itself, 6 num_bodies x nu. Exactly zero where the speed is not inboard of the body.
TAL_NODISCARD TAL_API tal_status tal_matter_calc_J(const tal_matter *matter, tal_state *state,
                                                   tal_matrix J);
/// Jdot u: the accelerations A_GB that the bodies would have if udot were zero ([num_bodies]).
/// @param[out] A_GB  [num_bodies]
TAL_NODISCARD TAL_API tal_status tal_matter_calc_J_bias(const tal_matter *matter, tal_state *state,
                                                        tal_spatial_vec A_GB[]);

/// @}

/// @name Jacobians of stations and frames. Position; the biases need Velocity.
/// A station's velocity is v_GS; a frame's is V_GA = (w_GB, velocity of its origin Ao).
/// @{

/// A point fixed on a body. For the frame Jacobian: the origin of a frame fixed on it; how the
/// frame is turned makes no difference, because everything is expressed in Ground.
typedef struct tal_station {
    tal_body_ix body;
    tal_vec3 p_BS; ///< from Bo, in B [m]
} tal_station;

/// v_GS = J_S u for `n` stations ([n]).
/// @param[in]  stations  [n]
/// @param[in]  u         [nu]
/// @param[out] v_GS      [n]
TAL_NODISCARD TAL_API tal_status tal_matter_mul_station_J(const tal_matter *matter,
                                                          tal_state *state,
                                                          const tal_station stations[], int n,
                                                          const double u[], tal_vec3 v_GS[]);
/// f = J_S^T f_GS: the forces along u that do the same work as forces on the stations.
/// @param[in]  stations  [n]
/// @param[in]  f_GS      [n]
/// @param[out] f         [nu]
TAL_NODISCARD TAL_API tal_status tal_matter_mul_station_JT(const tal_matter *matter,
                                                           tal_state *state,
                                                           const tal_station stations[], int n,
                                                           const tal_vec3 f_GS[], double f[]);
/// The same, column by column: U is nu x m, v_GS is 3n x m.
/// @param[in] stations  [n]
TAL_NODISCARD TAL_API tal_status tal_matter_mul_station_J_columns(const tal_matter *matter,
                                                                  tal_state *state,
                                                                  const tal_station stations[],
                                                                  int n, tal_matrix U,
                                                                  tal_matrix v_GS);
/// The same, column by column: f_GS is 3n x m, f is nu x m.
/// @param[in] stations  [n]
TAL_NODISCARD TAL_API tal_status tal_matter_mul_station_JT_columns(const tal_matter *matter,
                                                                   tal_state *state,
                                                                   const tal_station stations[],
                                                                   int n, tal_matrix f_GS,
                                                                   tal_matrix f);
/// J_S itself, 3n x nu. Only columns on the path to Ground are computed; the rest are exact zeros.
/// @param[in] stations  [n]
TAL_NODISCARD TAL_API tal_status tal_matter_calc_station_J(const tal_matter *matter,
                                                           tal_state *state,
                                                           const tal_station stations[], int n,
                                                           tal_matrix J);
/// Jdot_S u: accelerations of the stations if udot were zero ([n]).
/// @param[in]  stations  [n]
/// @param[out] a_GS      [n]
TAL_NODISCARD TAL_API tal_status tal_matter_calc_station_bias(const tal_matter *matter,
                                                              tal_state *state,
                                                              const tal_station stations[], int n,
                                                              tal_vec3 a_GS[]);
/// V_GA = J_A u for `n` frames ([n]).
/// @param[in]  frames  [n]
/// @param[in]  u       [nu]
/// @param[out] V_GA    [n]
TAL_NODISCARD TAL_API tal_status tal_matter_mul_frame_J(const tal_matter *matter, tal_state *state,
                                                        const tal_station frames[], int n,
                                                        const double u[], tal_spatial_vec V_GA[]);
/// f = J_A^T F_GA, with moments about the frames' origins.
/// @param[in]  frames  [n]
/// @param[in]  F_GA    [n]
/// @param[out] f       [nu]
TAL_NODISCARD TAL_API tal_status tal_matter_mul_frame_JT(const tal_matter *matter, tal_state *state,
                                                         const tal_station frames[], int n,
                                                         const tal_spatial_vec F_GA[], double f[]);
/// The same, column by column: U is nu x m, V_GA is 6n x m.
/// @param[in] frames  [n]
TAL_NODISCARD TAL_API tal_status tal_matter_mul_frame_J_columns(const tal_matter *matter,
                                                                tal_state *state,
                                                                const tal_station frames[], int n,
                                                                tal_matrix U, tal_matrix V_GA);
/// The same, column by column: F_GA is 6n x m, f is nu x m.
/// @param[in] frames  [n]
TAL_NODISCARD TAL_API tal_status tal_matter_mul_frame_JT_columns(const tal_matter *matter,
                                                                 tal_state *state,
                                                                 const tal_station frames[], int n,
                                                                 tal_matrix F_GA, tal_matrix f);
/// J_A itself, 6n x nu, angular rows above linear ones for each frame; path only.
/// @param[in] frames  [n]
TAL_NODISCARD TAL_API tal_status tal_matter_calc_frame_J(const tal_matter *matter, tal_state *state,
                                                         const tal_station frames[], int n,
                                                         tal_matrix J);
/// Jdot_A u ([n]).
/// @param[in]  frames  [n]
/// @param[out] A_GA    [n]
TAL_NODISCARD TAL_API tal_status tal_matter_calc_frame_bias(const tal_matter *matter,
                                                            tal_state *state,
                                                            const tal_station frames[], int n,
                                                            tal_spatial_vec A_GA[]);
/// @}

/// @name Operational space: how frames respond to forces. Position.
/// Forces and accelerations of `n` frames are stacked, six numbers each: moment above force,
/// angular above linear.
/// @{

/// Lambda^-1 = J M^-1 J^T, 6n x 6n, bitwise symmetric, without M (RBDA sec. 7.2). Its rank is at
/// most that of J: a frame that cannot move in some direction has a zero there.
/// @param[in] frames  [n]
TAL_NODISCARD TAL_API tal_status tal_matter_calc_Lambda_inv(const tal_matter *matter,
                                                            tal_state *state,
                                                            const tal_station frames[], int n,
                                                            tal_matrix Lambda_inv);

/// Doubles and ints that tal_matter_calc_Lambda() needs for `n` frames; 0 on a breach: 6 n must be
/// an int that is not negative.
TAL_API size_t tal_matter_Lambda_work_size(int n);
TAL_API size_t tal_matter_Lambda_iwork_size(int n);

/**
 * Lambda itself: the inertia that the frames show, 6n x 6n. Where the frames cannot move it is the
 * pseudoinverse.
 *
 * @param[in]  frames  [n]
 * @param[out] rank    of Lambda^-1, found by pivoted Cholesky: a pivot counts as zero below 16 (nu
 *                     + 6n) eps times the largest diagonal entry of Lambda^-1
 * @param[out] work    [tal_matter_Lambda_work_size(n)]
 * @param[out] iwork   [tal_matter_Lambda_iwork_size(n)]
 */
TAL_NODISCARD TAL_API tal_status tal_matter_calc_Lambda(const tal_matter *matter, tal_state *state,
                                                        const tal_station frames[], int n,
                                                        tal_matrix Lambda, int *rank, double work[],
                                                        int iwork[]);
/// @}

/// @name Dynamics. Velocity.
/// F_GB are forces on the bodies ([num_bodies], moment about Bo), f forces along u; NULL means
/// none. The forces of force elements in the State are not used here.
/// @{

/**
 * Inverse dynamics by Newton and Euler (RBDA tab. 5.1): the mobility forces that are missing,
 *
 *     f_needed = M udot + J^T (F0 - F) - f
 *
 * @param[in]  udot      [nu] NULL means zero; with no forces either, f_needed is then the bias C
 * @param[in]  F_GB      [num_bodies] NULL means none
 * @param[in]  f         [nu] NULL means none
 * @param[out] f_needed  [nu]
 */
TAL_NODISCARD TAL_API tal_status tal_matter_inverse_dynamics(const tal_matter *matter,
                                                             tal_state *state, const double udot[],
                                                             const tal_spatial_vec F_GB[],
                                                             const double f[], double f_needed[]);

/**
 * Forward dynamics of the tree by articulated bodies (RBDA tab. 7.1):
 *
 *     udot = M^-1 (f + J^T (F - F0))
 *
 * @param[in]  F_GB  [num_bodies] NULL means none
 * @param[in]  f     [nu] NULL means none
 * @param[out] udot  [nu]
 * @param[out] A_GB  [num_bodies] accelerations of the bodies; may be NULL
 */
TAL_NODISCARD TAL_API tal_status tal_matter_forward_dynamics(const tal_matter *matter,
                                                             tal_state *state,
                                                             const tal_spatial_vec F_GB[],
                                                             const double f[], double udot[],
                                                             tal_spatial_vec A_GB[]);

/// Tree-equivalent mobility forces f_tree = f + J^T (F - F0): everything that accelerates the tree,
/// so that udot = M^-1 f_tree.
/// @param[in]  F_GB    [num_bodies] NULL means none
/// @param[in]  f       [nu] NULL means none
/// @param[out] f_tree  [nu]
TAL_NODISCARD TAL_API tal_status tal_matter_calc_tree_forces(const tal_matter *matter,
                                                             tal_state *state,
                                                             const tal_spatial_vec F_GB[],
                                                             const double f[], double f_tree[]);

/**
 * Residual of the equations of motion for any udot and multipliers, with the forces that force
 * subsystems applied to this State (manual eq. 8.50): Simbody's calcResidualForce.
 *
 *     residual = M udot + J^T (F0 - F) - f + G^T lambda
 *
 * Zero for the udot and multipliers of the State itself, except along mobilities whose motion is
 * prescribed, where it is minus the force that the motion takes. O(n + m). Needs
 * TAL_STAGE_DYNAMICS.
 *
 * @param[in]  udot      [nu]
 * @param[in]  lambda    [m] in the order of tal_state_multipliers(); NULL means no constraints
 * @param[out] residual  [nu]
 */
TAL_NODISCARD TAL_API tal_status tal_matter_calc_residual(const tal_matter *matter,
                                                          tal_state *state, const double udot[],
                                                          const double lambda[], double residual[]);

/// A_GB = J udot + Jdot u of all bodies, for any udot ([num_bodies]).
/// @param[in]  udot  [nu]
/// @param[out] A_GB  [num_bodies]
TAL_NODISCARD TAL_API tal_status tal_matter_calc_accelerations(const tal_matter *matter,
                                                               tal_state *state,
                                                               const double udot[],
                                                               tal_spatial_vec A_GB[]);

/// @}

/// @name Geared rotors
/// The rotor of a motor that drives one speed through a gear of ratio rho (rotor turns per joint
/// turn) feels like an inertia rho^2 I_rotor along that speed: it is added to the diagonal of M,
/// and its smaller inertial and gyroscopic effects are neglected (RBDA ex. 9.5).
/// @{

/// Reflected inertia of a body's rotor [kg m^2, or kg along a translation]. 0 unless set; NaN on a
/// breach.
TAL_API double tal_body_rotor_inertia(const tal_matter *matter, const tal_state *state,
                                      tal_body_ix body);

/// Set it; invalidates TAL_STAGE_INSTANCE. The mobilizer must have one speed; `inertia` = rho^2
/// I_rotor must be finite and not negative.
TAL_API tal_status tal_body_set_rotor_inertia(const tal_matter *matter, tal_state *state,
                                              tal_body_ix body, double inertia);

/// @}

/// @name Floating base: the equations split into base and joints (RBDA ch. 9). Velocity.
///
///     [ I    F ] [ A_GB ]   [ p ]   [ 0   ]
///     [ F^T  H ] [ udot ] + [ C ] = [ tau ]
///
/// A_GB is the acceleration of the base, as if its mobilizer were not there; udot and tau belong to
/// the n speeds that the base carries, in ascending order, its own not among them.
/// @{

/// The coefficients, in the caller's memory.
typedef struct tal_floating {
    tal_matrix I;      ///< 6 x 6, inertia about Bo of the base and all it carries
    tal_matrix F;      ///< 6 x n, force about Bo that holds the base while one speed accelerates
    tal_matrix H;      ///< n x n, mass matrix of the speeds with the base held
    tal_spatial_vec p; ///< bias: force on the base at A_GB = 0 and udot = 0, about Bo
    double *C;         ///< [n] bias of the joints
} tal_floating;

/// How many speeds a body carries; -1 on a breach.
TAL_API int tal_matter_floating_n(const tal_matter *matter, tal_body_ix base);

/// Fill the coefficients. Applied forces F_GB (NULL: none) are counted in p and C. O(n^2).
/// @param[in] F_GB  [num_bodies] NULL means none
TAL_NODISCARD TAL_API tal_status tal_matter_calc_floating(const tal_matter *matter,
                                                          tal_state *state, tal_body_ix base,
                                                          const tal_spatial_vec F_GB[],
                                                          tal_floating *form);

/// Eliminate the base from the equations (RBDA eq. 9.15): H becomes H - F^T I^-1 F, C becomes C -
/// F^T I^-1 p, and I its Cholesky factor. TAL_ERR_SINGULAR when base and bodies have no inertia.
TAL_NODISCARD TAL_API tal_status tal_floating_eliminate_base(tal_floating *form, tal_error *err);

/**
 * Inverse dynamics with a base that is not held (RBDA tab. 9.6): the acceleration of the base for
 * given udot, and the joint forces. O(n).
 *
 * @param[in]  udot  [n]
 * @param[in]  F_GB  [num_bodies] NULL means none
 * @param[out] A_GB  acceleration of the base
 * @param[out] tau   [n]
 * @return also TAL_ERR_SINGULAR when base and bodies have no inertia
 */
TAL_NODISCARD TAL_API tal_status tal_matter_floating_inverse_dynamics(
    const tal_matter *matter, tal_state *state, tal_body_ix base, const double udot[],
    const tal_spatial_vec F_GB[], tal_spatial_vec *A_GB, double tau[]);
/// @}

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_OPERATORS_H
