// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_FRICTION_H
#define TALUS_COMMON_FRICTION_H

/**
 * @file talus/common/friction.h
 * @brief Contacts with Coulomb friction, on plain arrays.
 *
 * Forces pi make accelerations a = A pi + b (or velocities: the equations are the same). A contact
 * has one normal row and up to two tangential rows. Its normal row only pushes: either it stays,
 * a_N = 0 and pi_N >= 0, or it leaves, a_N > 0 and pi = 0. While it pushes, with r = limit + mu
 * pi_N,
 *
 *     it sticks            a_T = 0            and |pi_T| <= r of the static coefficient,
 *     or begins to slip    a_T not 0          and pi_T = -r a_T / |a_T|, sliding coefficient,
 *     or slides already    direction d known  and pi_T = -r d, sliding coefficient.
 *
 * Rows that belong to no contact are bilateral: a = 0.
 *
 * - tal_friction_solve() is exact, for some dozens of contacts that influence each other.
 * - tal_friction_iterate() is iterative, for thousands; it never forms A.
 *
 * The rules of talus/common/complementarity.h on memory, NaN, NULL and `err` hold here, too.
 */

#include <talus/common/linalg.h>
#include <talus/common/status.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a contact does.
typedef enum tal_friction_mode {
    TAL_FRICTION_OFF,   ///< it does not push
    TAL_FRICTION_STICK, ///< it pushes, and its tangential rows are zero
    TAL_FRICTION_SLIP,  ///< it pushes, and begins to slip against pi_T
    TAL_FRICTION_SLIDE  ///< it pushes, and slides in the direction that was given
} tal_friction_mode;

/// One contact: its rows of A, and its friction.
typedef struct tal_friction_contact {
    int normal;          ///< its normal row; -1: it has none, and `limit` alone counts
    int tangent;         ///< the first of its tangential rows, which follow each other
    int num_tangents;    ///< 0 (no friction), 1 or 2
    double static_mu;    ///< coefficient at rest, >= sliding_mu; INFINITY: it never slips
    double sliding_mu;   ///< coefficient while it slips, >= 0
    double limit;        ///< friction force without any normal force, >= 0: dry joints, motors
    bool slides;         ///< whether it slides already
    double direction[2]; ///< its direction then, of length 1
} tal_friction_contact;

/// a = A pi + b with contacts. Borrowed: the arrays must live as long as the call.
typedef struct tal_friction_problem {
    tal_matrix A;    ///< n x n, symmetric positive semidefinite; its lower triangle is read
    const double *b; ///< [n]
    const tal_friction_contact *contacts; ///< [num_contacts] no two of them share a row
    int num_contacts;                     ///< >= 0
    bool guess; ///< whether pi and modes hold a guess, for instance the last answer
} tal_friction_problem;

/// How an answer was found, and how good it is.
typedef struct tal_friction_report {
    int pivots;      ///< of Lemke's method
    int iterations;  ///< of Newton's method
    int changes;     ///< modes that were changed on the way
    bool shared;     ///< whether forces are those of the limit of a tiny, equal compliance; where
                     ///< false, and forces are not unique, they are one of several choices
    int worst;       ///< the row with the largest violation; -1 when there is none
    double residual; ///< its violation, as a part of the largest force or acceleration
} tal_friction_report;

/// Doubles that tal_friction_solve() needs as `work` for n rows and as many contacts.
TAL_API size_t tal_friction_work_size(int n, int num_contacts);

/// Ints that tal_friction_solve() needs as `iwork` for n rows and as many contacts.
TAL_API size_t tal_friction_iwork_size(int n, int num_contacts);

/**
 * Find forces, accelerations and modes.
 *
 * Modes are found by Lemke's method for friction pyramids, with a tiny compliance that is the same
 * in every contact, or by passes of projected Gauss-Seidel where these lead nowhere; then Newton's
 * method solves the equations of these modes on the true cones and without compliance. Where
 * contacts are redundant, accelerations can depend on how forces are shared; the compliance
 * decides, whatever the order of the contacts is.
 *
 * @param[in]     problem  A, b and contacts; only read
 * @param[in,out] pi       [problem.A.rows] in: a guess, if problem.guess; out: the forces; with
 *                         TAL_ERR_INFEASIBLE not changed
 * @param[out]    a        [problem.A.rows] A pi + b
 * @param[in,out] modes    [problem.num_contacts] in: a guess, if problem.guess; out: the modes
 * @param[out]    work     [tal_friction_work_size(problem.A.rows, problem.num_contacts)]
 * @param[out]    iwork    [tal_friction_iwork_size(problem.A.rows, problem.num_contacts)]
 * @param[out]    report   may be NULL
 * @param[in,out] err      may be NULL
 * @return TAL_OK; TAL_ERR_INFEASIBLE when there is proof that no forces exist: rows contradict
 *         each other, or a sliding contact is jammed (Painleve's case); TAL_ERR_NO_CONVERGENCE when
 *         no answer passes its check; TAL_ERR_BAD_VALUE, TAL_ERR_BAD_INDEX for invalid contacts;
 *         TAL_ERR_NOT_FINITE
 */
TAL_NODISCARD TAL_API tal_status tal_friction_solve(const tal_friction_problem *problem,
                                                    double pi[], double a[],
                                                    tal_friction_mode modes[], double work[],
                                                    int iwork[], tal_friction_report *report,
                                                    tal_error *err);

/// Rows of many contacts in sparse form: speeds u = u0 + K pi with K = M^-1 J^T, and w = J u + b.
/// Row i of J, and column i of K, are lists of speeds and numbers. Borrowed: the arrays must live
/// as long as the call.
typedef struct tal_friction_rows {
    int num_rows;       ///< >= 0
    int num_speeds;     ///< >= 0
    const int *J_start; ///< [num_rows + 1] where the list of a row begins; the last is the end; the
                        ///< first may be later than 0, for a part of a larger problem
    const int *J_index; ///< [J_start[num_rows]] speeds
    const double *J;    ///< [J_start[num_rows]] numbers
    const int *K_start; ///< [num_rows + 1] where the list of a column begins
    const int *K_index; ///< [K_start[num_rows]] speeds
    const double *K;    ///< [K_start[num_rows]] numbers
    const double *b;    ///< [num_rows]
    const tal_friction_contact *contacts; ///< [num_contacts] no two of them share a row
    int num_contacts;                     ///< >= 0
    int most_passes;                      ///< passes and steps of gradients at most, > 0
    /// It ends when the natural residual, max |pi - projection(pi - w / D)| with D the diagonal of
    /// J K, is at most this part of the largest force; 0: never.
    double tolerance;
} tal_friction_rows;

/// What a call of tal_friction_iterate() did.
typedef struct tal_friction_passes {
    int passes;      ///< how many were made, steps of gradients included
    double residual; ///< the natural residual at the end, as a part of the largest force
} tal_friction_passes;

/**
 * Improve forces by block projected Gauss-Seidel. For one contact after the other, find the normal
 * force that makes its normal row zero, or zero if that is negative; then the friction that makes
 * its tangential rows zero, limited to its cone. Between such passes, conjugate gradients improve
 * the forces that are at no bound.
 *
 * Friction follows from the speeds at the end, as in implicit time stepping: contacts that slip
 * have w_T opposite to their friction. Rows that belong to no contact are bilateral. A row that no
 * force moves (D = 0) keeps its force. Known directions of sliding are used for their contacts. The
 * order is that of the contacts, then of bilateral rows: the same input gives the same bytes.
 *
 * @param[in]     rows    the problem; only read
 * @param[in,out] pi      [rows.num_rows] in: a guess (zeros when there is none); out: forces
 * @param[in,out] u       [rows.num_speeds] in: u0, speeds without these forces; out: u0 + K pi
 * @param[out]    work    [4 * rows.num_rows + rows.num_speeds]
 * @param[out]    iwork   [2 * rows.num_rows]
 * @param[out]    report  may be NULL
 * @param[in,out] err     may be NULL
 * @return TAL_OK, also when the tolerance was not met: look at the report;
 *         TAL_ERR_NOT_FINITE when the forces overflow; TAL_ERR_BAD_INDEX or TAL_ERR_BAD_VALUE for
 *         invalid contacts
 */
TAL_NODISCARD TAL_API tal_status tal_friction_iterate(const tal_friction_rows *rows, double pi[],
                                                      double u[], double work[], int iwork[],
                                                      tal_friction_passes *report, tal_error *err);

#ifdef __cplusplus
}
#endif
#endif // TALUS_COMMON_FRICTION_H
