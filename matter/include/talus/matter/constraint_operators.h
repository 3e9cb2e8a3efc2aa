// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_CONSTRAINT_OPERATORS_H
#define TALUS_MATTER_CONSTRAINT_OPERATORS_H

/**
 * @file talus/matter/constraint_operators.h
 * @brief Operators of the constraints: products with G, multipliers, impulses, constraint forces,
 *        three ways of solving the equations of motion, and a report on the rows.
 *
 * With constraints the equations of motion are (manual eq. 8.50)
 *
 *     M udot + G^T lambda = f_tree          aerr = G udot - b          G = [P; V; A]
 *
 * Common rules, besides those of operators.h:
 * - Rows are those of the constraints that are enabled, m = mp + mv + ma of them in the order of
 *   tal_state_udoterr(): position rows of all constraints, then velocity rows, then acceleration
 *   rows. The rows of one constraint: tal_constraint_rows_of().
 * - G is needed at Position, or at Velocity when a constraint says forces_need_velocity.
 * - Prescribed motion makes M^-1 that of the free mobilities; G keeps all its columns.
 */

#include <talus/matter/constraint.h>
#include <talus/matter/operators.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup constraint_operators Operators of the constraints
/// @{

/// How many rows there are at each level, and where each level begins among all.
typedef struct tal_constraint_rows {
    int mp, mv, ma; ///< -1 on a breach
    int p0, v0, a0; ///< first row of each level
} tal_constraint_rows;

/// Rows of all enabled constraints: p0 = 0, v0 = mp, a0 = mp + mv. Needs TAL_STAGE_INSTANCE.
TAL_API tal_constraint_rows tal_matter_constraint_rows(const tal_matter *matter,
                                                       const tal_state *state);

/// Rows of one constraint, none when it is disabled. Needs TAL_STAGE_INSTANCE.
TAL_API tal_constraint_rows tal_constraint_rows_of(const tal_matter *matter, const tal_state *state,
                                                   tal_constraint_ix constraint);

/// The constraint that a row belongs to; `i` < 0 when there is no such row.
TAL_API tal_constraint_ix tal_matter_row_owner(const tal_matter *matter, const tal_state *state,
                                               int row);

/// Which rows of G = [P; V; A] are meant.
typedef enum tal_g_part {
    TAL_G,   ///< all m
    TAL_G_P, ///< mp: d perr / dt = P u + ...
    TAL_G_V, ///< mv
    TAL_G_A  ///< ma
} tal_g_part;

/// @name Products with G. O(n + m).
/// @{

/// out = G v ([rows of the part]).
/// @param[in]  v    [nu]
/// @param[out] out  [rows of the part]
TAL_NODISCARD TAL_API tal_status tal_matter_mul_G(const tal_matter *matter, tal_state *state,
                                                  tal_g_part part, const double v[], double out[]);
/// f = G^T lambda ([nu]).
/// @param[in]  lambda  [rows of the part]
/// @param[out] f       [nu]
TAL_NODISCARD TAL_API tal_status tal_matter_mul_GT(const tal_matter *matter, tal_state *state,
                                                   tal_g_part part, const double lambda[],
                                                   double f[]);
/// G itself, rows of the part x nu. Exactly zero where a row does not depend on a speed.
TAL_NODISCARD TAL_API tal_status tal_matter_calc_G(const tal_matter *matter, tal_state *state,
                                                   tal_g_part part, tal_matrix G);
/// out = Pq dq ([mp]) with Pq = P N^+ (manual eq. 10.11): the change of perr with q.
/// @param[in]  dq   [nq]
/// @param[out] out  [mp]
TAL_NODISCARD TAL_API tal_status tal_matter_mul_Pq(const tal_matter *matter, tal_state *state,
                                                   const double dq[], double out[]);
/// f_q = Pq^T lambda ([nq]).
/// @param[in]  lambda  [mp]
/// @param[out] f_q     [nq]
TAL_NODISCARD TAL_API tal_status tal_matter_mul_PqT(const tal_matter *matter, tal_state *state,
                                                    const double lambda[], double f_q[]);
/// Pq itself, mp x nq.
TAL_NODISCARD TAL_API tal_status tal_matter_calc_Pq(const tal_matter *matter, tal_state *state,
                                                    tal_matrix Pq);
/// W = G M^-1 G^T, m x m, both triangles (manual eq. 8.43), without M.
TAL_NODISCARD TAL_API tal_status tal_matter_calc_W(const tal_matter *matter, tal_state *state,
                                                   tal_matrix W);
/// @}

/**
 * The rotation by which a constraint's bodies are away from where they should be
 * (tal_constraint_ops::calc_turn), and its Jacobian. Position.
 *
 * @param[out] turn  rotation vector in Ground, of least length; zero where the constraint is met
 * @param[out] J     3 x nu: dturn/dt = J u for small turns; for any turn, J^T turn is the gradient
 *                   of half its square. `data` NULL: not wanted
 */
TAL_NODISCARD TAL_API tal_status tal_matter_calc_constraint_turn(const tal_matter *matter,
                                                                 tal_state *state,
                                                                 tal_constraint_ix constraint,
                                                                 tal_vec3 *turn, tal_matrix J);

/// @name Accelerations and multipliers. Velocity.
/// @{

/// b ([m]): the value that G udot must have.
/// @param[out] b  [m]
TAL_NODISCARD TAL_API tal_status tal_matter_calc_constraint_bias(const tal_matter *matter,
                                                                 tal_state *state, double b[]);
/// aerr = G udot - b for any udot ([m]).
/// @param[in]  udot  [nu]
/// @param[out] aerr  [m]
TAL_NODISCARD TAL_API tal_status tal_matter_calc_constraint_aerr(const tal_matter *matter,
                                                                 tal_state *state,
                                                                 const double udot[],
                                                                 double aerr[]);
/// lambda = W^+ aerr ([m]): the multipliers that remove these acceleration errors. Where rows
/// repeat each other, those with the least sum of squares. Position is enough.
/// @param[in]  aerr    [m]
/// @param[out] lambda  [m]
TAL_NODISCARD TAL_API tal_status tal_matter_calc_multipliers(const tal_matter *matter,
                                                             tal_state *state, const double aerr[],
                                                             double lambda[]);
/**
 * Impulses that remove velocity errors at once: W impulse = dv, M du + G^T impulse = 0, so that
 * G (u + du) = G u - dv (manual sec. 8.5).
 *
 * @param[in]  dv       [m] wanted loss of G u; rows of acceleration equations count too
 * @param[out] impulse  [m]
 * @param[out] du       [nu] jump of u; may be NULL. u in the State stays as it is
 */
TAL_NODISCARD TAL_API tal_status tal_matter_calc_constraint_impulse(const tal_matter *matter,
                                                                    tal_state *state,
                                                                    const double dv[],
                                                                    double impulse[], double du[]);
/// @}

/// @name Constraint forces. Position.
/// @{

/**
 * What constraints do to the bodies: -G^T lambda, as forces about Bo in Ground and forces along u.
 * Given to tal_matter_forward_dynamics() with the applied forces, they give the constrained udot.
 *
 * @param[in]  lambda      [m] all multipliers, e.g. tal_state_multipliers()
 * @param[in]  constraint  the one whose forces are wanted; `i` < 0: the sum over all
 * @param[out] F_GB        [num_bodies]
 * @param[out] f           [nu]
 */
TAL_NODISCARD TAL_API tal_status
tal_matter_calc_constraint_forces(const tal_matter *matter, tal_state *state, const double lambda[],
                                  tal_constraint_ix constraint, tal_spatial_vec F_GB[], double f[]);

/// Power of these forces, -lambda^T G u [W], with the State's u: zero for constraints at rest in
/// their own frames once velocities meet them. NaN when it cannot be computed.
/// @param[in] lambda  [m]
TAL_API double tal_matter_calc_constraint_power(const tal_matter *matter, tal_state *state,
                                                const double lambda[],
                                                tal_constraint_ix constraint);
/// @}

/// @name Dense ways of solving. Velocity.
/// O((n + m)^3): for checking, for small systems, and for the intermediate results. `work` and
/// `iwork` have tal_matter_dense_work_size() doubles and tal_matter_dense_iwork_size() ints, enough
/// for each of these calls. A row or direction counts as dependent at a relative size of (n + m)
/// eps. Prescribed motion and locks partition the speeds first (manual sec. 8.3): known
/// accelerations are those of the State, and the rest is solved for. If a motion depends on t,
/// TAL_STAGE_TIME is needed.
/// @{

TAL_API size_t tal_matter_dense_work_size(const tal_matter *matter, const tal_state *state);
TAL_API size_t tal_matter_dense_iwork_size(const tal_matter *matter, const tal_state *state);

/// Basis of the motions that the constraints allow: G K = 0, K^T K = 1 (RBDA sec. 8.8, there G).
/// @param[out] K      nu x nu; the first `dof` columns are the basis, the rest zero. Rows of speeds
///                    that are prescribed or locked are zero
/// @param[out] dof    free speeds minus the rank of their columns of G
/// @param[out] work   [tal_matter_dense_work_size()]
/// @param[out] iwork  [tal_matter_dense_iwork_size()]
TAL_NODISCARD TAL_API tal_status tal_matter_calc_null_basis(const tal_matter *matter,
                                                            tal_state *state, tal_matrix K,
                                                            int *dof, double work[], int iwork[]);

/// How the constrained equations of motion are solved. A fourth way, with loops closed by functions
/// instead of constraints: closure.h.
typedef enum tal_solve_way {
    TAL_SOLVE_KKT,         ///< [M G^T; G 0] at once (RBDA sec. 8.5, first method)
    TAL_SOLVE_MULTIPLIERS, ///< lambda first, W lambda = G M^-1 f - b (second method)
    TAL_SOLVE_NULL_SPACE   ///< udot = K ydd + k with G K = 0, G k = b (third method, eq. 8.42-8.46)
} tal_solve_way;

/**
 * How realizing Acceleration solves them, with constraints; default: TAL_SOLVE_MULTIPLIERS. Call it
 * before the topology is realized.
 *
 * TAL_SOLVE_KKT is for a mass matrix that only the constraints make regular: a massless hub that is
 * held by what rolls, a rack without mass. With multipliers that is refused (TAL_ERR_SINGULAR),
 * since M^-1 does not exist. A body that moves no mass and is held by nothing is refused in both
 * cases. The cost of KKT is O((n + m)^3), and States keep (n + m)^2 numbers and more. Multipliers
 * of redundant rows have the least sum of squares, without shares. The report on rows and the
 * margin (tal_matter_calc_margin()) then compare rows by G W_u^-2 G^T, with the weights of speeds
 * (tal_state_set_weights()) as in projection. Operators with M^-1 or W fail as before where M is
 * singular. Model files: `solve`.
 *
 * @return TAL_ERR_BAD_VALUE for TAL_SOLVE_NULL_SPACE, and a contract violation after Topology
 */
TAL_API tal_status tal_matter_set_solve_way(tal_matter *matter, tal_solve_way way);

/// The way that was set.
TAL_API tal_solve_way tal_matter_solve_way(const tal_matter *matter);

/**
 * Forward dynamics with constraints, for given forces. All ways give the same udot to round-off
 * times the condition number; only the multipliers' way costs O(n). TAL_ERR_SINGULAR where the mass
 * matrix is not regular: by KKT, where it is not even together with the constraints.
 *
 * @param[in]  F_GB    [num_bodies] applied forces about Bo; NULL means none
 * @param[in]  f       [nu] applied forces along u; NULL means none
 * @param[out] udot    [nu]
 * @param[out] lambda  [m] those of least sum of squares; may be NULL
 * @param[out] work    [tal_matter_dense_work_size()]
 * @param[out] iwork   [tal_matter_dense_iwork_size()]
 */
TAL_NODISCARD TAL_API tal_status tal_matter_solve_constrained(
    const tal_matter *matter, tal_state *state, tal_solve_way way, const tal_spatial_vec F_GB[],
    const double f[], double udot[], double lambda[], double work[], int iwork[]);

/**
 * Inverse dynamics with constraints: the multipliers for which the least force is needed,
 *
 *     f_needed = M udot + J^T (F0 - F) - f + G^T lambda,   |f_needed| least
 *
 * @param[in]  udot      [nu]
 * @param[in]  F_GB      [num_bodies] applied forces about Bo; NULL means none
 * @param[in]  f         [nu] applied forces along u; NULL means none
 * @param[out] lambda    [m]
 * @param[out] f_needed  [nu] along free speeds normal to the constraints, in the span of K, and
 *                       least; along known ones what the motion takes, -tau
 * @param[out] work      [tal_matter_dense_work_size()]
 * @param[out] iwork     [tal_matter_dense_iwork_size()]
 */
TAL_NODISCARD TAL_API tal_status tal_matter_constrained_inverse_dynamics(
    const tal_matter *matter, tal_state *state, const double udot[], const tal_spatial_vec F_GB[],
    const double f[], double lambda[], double f_needed[], double work[], int iwork[]);

/// How the actuated mobilities compare with the motions that the constraints allow (RBDA sec.
/// 8.12).
typedef enum tal_actuation {
    TAL_ACTUATION_UNDER,    ///< some allowed motions cannot be driven
    TAL_ACTUATION_PROPER,   ///< as many as needed: the forces are unique
    TAL_ACTUATION_REDUNDANT ///< more than needed: the forces are those of least sum of squares
} tal_actuation;

/**
 * Closed-loop inverse dynamics: forces at the actuated mobilities alone that give udot,
 * K_a^T tau = K^T f_needed (RBDA eq. 8.63).
 *
 * @param[in]  udot       [nu] should meet the constraints
 * @param[in]  F_GB       [num_bodies] applied forces about Bo; NULL means none
 * @param[in]  actuated   [nu] where forces can act; known speeds need none
 * @param[out] tau        [nu] zero where not actuated
 * @param[out] actuation  may be NULL
 * @param[out] work       [tal_matter_dense_work_size()]
 * @param[out] iwork      [tal_matter_dense_iwork_size()]
 */
TAL_NODISCARD TAL_API tal_status tal_matter_actuator_forces(
    const tal_matter *matter, tal_state *state, const double udot[], const tal_spatial_vec F_GB[],
    const bool actuated[], double tau[], tal_actuation *actuation, double work[], int iwork[]);

/// @}

/// @name Report
/// @{

/// How a row is related to the rows before it.
typedef enum tal_row_fate {
    TAL_ROW_GOOD,
    TAL_ROW_WITHOUT_EFFECT, ///< no motion of the tree changes it: its multiplier is zero
    TAL_ROW_REDUNDANT       ///< it repeats rows before it, as far as q tells; the load is shared
} tal_row_fate;

/// One row.
typedef struct tal_constraint_row {
    tal_constraint_ix constraint;
    int i; ///< which of its rows
    tal_row_fate fate;
    bool inconsistent; ///< it contradicts others (::TAL_INCONSISTENT)
    double residual;   ///< what is left of aerr whatever the multipliers are
    double share;      ///< of its diagonal entry of W that the rows before it leave: 1 when it has
                       ///< nothing to do with them, near 0 when it repeats them
    double limit;      ///< share up to which it counts as redundant
} tal_constraint_row;

/// A residual counts as inconsistent above this share both of a unit error (manual eq. 9.4) and of
/// the largest acceleration error there was to take away among the rows coupled to it.
#define TAL_INCONSISTENT 1e-6

/// Above this share, by the same measure, realizing TAL_STAGE_ACCELERATION fails with
/// TAL_ERR_SINGULAR and names the constraint, provided that q and u meet the equations to within
/// as much of a unit error and no motion along the constraint's path is prescribed or locked.
/// Otherwise, and below, the least-squares answer is given.
#define TAL_CONTRADICTION 1e-3

/// All rows together.
typedef struct tal_rows_report {
    int num_rows;
    int rank; ///< of W = G M^-1 G^T
    int dof;  ///< speeds that are free minus the rank
    int num_without_effect, num_redundant, num_inconsistent;
    double rcond; ///< smallest over largest pivot of W among the good rows: its reciprocal
                  ///< condition number is no larger. 1 without rows
    double worst_residual;
    tal_constraint_ix worst; ///< whose it is; `i` < 0 when nothing is inconsistent

    // How close the decision between good and redundant rows is, by the shares of
    // tal_constraint_row: all is clear when they are far apart.
    double least_share;    ///< of the good rows; 1 without any
    double most_redundant; ///< share of the redundant rows; 0 without any
    double limit;          ///< between them: what round-off leaves, 64 eps times the rows of a
                           ///< block, or (3 d)^2 where q is off by an angle d, 1e-8 at most
} tal_rows_report;

/**
 * Find the rows that are redundant, that have no effect, or that contradict each other at the
 * acceleration level. None of these is an error. Names: tal_constraint_name(). Velocity.
 *
 * @param[out] report
 * @param[out] rows  [m] in the order of udoterr; may be NULL
 */
TAL_NODISCARD TAL_API tal_status tal_matter_calc_constraint_report(const tal_matter *matter,
                                                                   tal_state *state,
                                                                   tal_rows_report *report,
                                                                   tal_constraint_row rows[]);

/// How far the rows are from losing rank.
typedef struct tal_rows_margin {
    int num_redundant; ///< rows that repeat others
    /// Least pivot of W over the largest W_ii of the same constraint, among the other rows; 1
    /// without rows. Where rank is lost, at an angle phi = 0 say, it goes to zero as phi^2 does.
    double share;
} tal_rows_margin;

/**
 * How far the rows are from losing rank, from the factors of W, which forward dynamics needs
 * anyway: much less work than the report. Compare shares of one mechanism in different
 * configurations; those of different mechanisms depend on units and inertias. Position, or Velocity
 * when a constraint says forces_need_velocity.
 */
TAL_NODISCARD TAL_API tal_status tal_matter_calc_margin(const tal_matter *matter, tal_state *state,
                                                        tal_rows_margin *margin);
/// @}

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_CONSTRAINT_OPERATORS_H
