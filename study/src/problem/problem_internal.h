// A System as every method sees it: rates, projection onto the constraints, and the norm of errors.
// Integrators, the solvers of SUNDIALS and tal_equations all work on one of these.
#ifndef TALUS_PROBLEM_INTERNAL_H
#define TALUS_PROBLEM_INTERNAL_H

#include "alloc_internal.h"
#include "error_internal.h"

#include <talus/matter.h>
#include <talus/study/integrator.h>

#include <math.h>

/// Which variable has the largest weighted error.
typedef struct tali_problem_worst {
    tal_pool pool;
    int slot;
    double size; // of its weighted error
} tali_problem_worst;

/// A row of a tableau: sum coefs_j k_j over stages, without the terms that are zero.
typedef struct tali_problem_row {
    int n;
    double coefs[TAL_MAX_RK_STAGES];
    const double *k[TAL_MAX_RK_STAGES];
} tali_problem_row;

/// Memory for slopes of the rates without differences.
typedef struct tali_problem_slopes {
    int nu; // of matter; 0: none
    void *block;
    size_t block_bytes;
    double *work; // of tal_system_linearize()
    double *J;    // [nu + nz][2 nu + nz]
    double *by_q; // [nu + nz][nq]
    double *qdot; // [nq]
    double *y;    // [nq + nu]
} tali_problem_slopes;

/// Which errors of u, or of z, count as they are, however large the variable is.
typedef struct tali_problem_absolute {
    bool all;
    const bool *each; // NULL: no others
} tali_problem_absolute;

/// y' = f(t, y) with c(t, y) = 0, and how far off a y may be. What methods do to a State they do
/// through it.
typedef struct tali_problem {
    const tal_system *system;
    const tal_matter *matter;      // NULL when the System has none
    bool only_matter_settles;      // prescribes, projects and relaxes
    tal_group_ix q_group, u_group; // matter's
    tal_allocator allocator;

    // how errors are measured, and constraints met
    bool infinity_norm;
    tali_problem_absolute absolute_u, absolute_z;
    tal_project_options projection;
    double baumgarte;      // rate of stabilization [1/s]; 0: constraints are met by projection
    double baumgarte_beta; // its second rate [1/s]

    // room of the owner's
    double *y0;                  // [ny] start of a step: errors are weighed there
    double *error;               // [ny] estimated error; free between trial steps
    double *weighed;             // [ny] free between trial steps
    double *stabilizer;          // [tali_problem_baumgarte_size()]
    uint64_t *realizations;      // evaluations of rates are counted here
    tali_problem_slopes *slopes; // NULL: Jacobians are found by differences

    // what is known of the State at hand
    bool is_starting;     // it is being made consistent, by projection in any case
    bool is_free;         // within a step: nothing is prescribed or relaxed
    bool is_open;         // within a step: is_free, and nothing is projected or normalized
    bool projects_stages; // of steps that begin with rows that repeat others

    tali_problem_worst worst; // of the last error test
    tal_error error_record;
} tali_problem;

/// A number of a def that must be positive and finite, or zero where that means the default.
tal_status tali_problem_check_positive(double value, bool zero_too, const char *subject,
                                       tal_error *err);

/// What a def says of accuracy and of constraints.
tal_status tali_problem_check_def(const tal_integrator_def *def, tal_error *err);

/// A problem without room: the System, its matter, and what `def` says of norms and constraints.
tali_problem tali_problem_of(const tal_system *system, const tal_integrator_def *def);

/// E = min(W, 1/|y|) of variable i, or W when its accuracy is absolute (manual eq. 9.3).
static inline double tali_problem_weight(double W, double y, tali_problem_absolute absolute, int i)
{
    const double size = y < 0.0 ? -y : y;
    const bool is_absolute = absolute.all || (absolute.each != NULL && absolute.each[i]);
    return is_absolute || size * W <= 1.0 ? W : 1.0 / size;
}

/// Collects a norm over weighted errors (manual sec. 9.1): begin with zeros, add each error.
typedef struct tali_problem_norm {
    double sum, largest;
    int count, worst; // `worst`: slot of the largest
} tali_problem_norm;

static inline void tali_problem_norm_add(tali_problem_norm *it, int slot, double weighted)
{
    const double size = fabs(weighted);
    it->sum += weighted * weighted;
    ++it->count;
    if (size > it->largest) {
        it->largest = size;
        it->worst = slot;
    }
}

/// Root mean square, or the largest. An error that is not a number counts as infinite.
static inline double tali_problem_norm_value(const tali_problem_norm *it, bool infinity_norm)
{
    if (it->count == 0) return 0.0;
    if (isnan(it->sum)) return (double)INFINITY;
    return infinity_norm ? it->largest : sqrt(it->sum / it->count);
}

// --- trial.c: what methods do to the State ---

/// out = y0 + h sum coefs_j k_j. False when a number in it is not finite.
bool tali_problem_combine(const double y0[], double h, const tali_problem_row *row, int ny,
                          double out[]);

/// The failure of a call on the State, in the State's words.
tal_status tali_problem_pass_on(tali_problem *problem, const tal_state *state, tal_status st);

/// Put t and y into the State. Values that are not finite are refused by name.
tal_status tali_problem_put(tali_problem *problem, tal_state *state, double t, const double y[]);

/// Put t and y0 + h sum coefs_j k_j into the State. As tali_problem_put().
tal_status tali_problem_put_sum(tali_problem *problem, tal_state *state, double t, double h,
                                const tali_problem_row *row);

/// Put the u and z of y into the State, and prescribe u. Needs Position. As tali_problem_put().
tal_status tali_problem_put_uz(tali_problem *problem, tal_state *state, const double y[]);

/// A stage: prescribed and relaxed; projected only where rows repeat others. Quaternions of the
/// last stage of a method whose last stage is the end of the step (`is_last`) are normalized.
tal_status tali_problem_settle_stage(tali_problem *problem, tal_state *state, bool is_last);

/// The same without projection, for values that were projected before.
tal_status tali_problem_settle_start(tali_problem *problem, tal_state *state, bool is_last);

/// Prescribe and project q, with quaternions normalized. `q_error` (or NULL) as in
/// tali_problem_project().
tal_status tali_problem_project_q(tali_problem *problem, tal_state *state, double q_error[]);

/// The same for u. Needs TAL_STAGE_POSITION.
tal_status tali_problem_project_u(tali_problem *problem, tal_state *state, double u_error[]);

/// Prescribe and project q and u. The part of the error that projection removes is taken out of
/// `error` ({q, u, ...}, or NULL).
tal_status tali_problem_project(tali_problem *problem, tal_state *state, double error[]);

/// The same with other options than the integrator's.
tal_status tali_problem_project_by(tali_problem *problem, tal_state *state,
                                   const tal_project_options *options, double error[]);

tal_status tali_problem_settle_relaxed(tali_problem *problem, tal_state *state);

/// ydot of the State; every number in it is finite. Free when it is realized already.
tal_status tali_problem_evaluate(tali_problem *problem, tal_state *state, double ydot[]);

// --- jacobian.c: d ydot / dy, by differences ---

/// How large a unit change of each variable is, and which speeds do not follow from others.
typedef struct tali_problem_scale {
    int nq, nu, nz;
    const double *e;     // [ny] E of each variable over the accuracy
    const bool *known_u; // [nu] speeds that prescribed motion knows
    double accuracy;     // 1 / (e accuracy) is a unit change
} tali_problem_scale;

/// By how much to change variable `i`, which is `y`, for differences.
double tali_problem_increment(const tali_problem_scale *scale, double y, int i);

/// ydot at t and y, prescribed and relaxed first. Free where the State is there already.
tal_status tali_problem_rates(tali_problem *problem, tal_state *state, double t, const double y[],
                              double ydot[]);

/**
 * J = d ydot / dy. The columns of known speeds are left alone.
 *
 * @param[in]     ydot     [ny] at t and y
 * @param[in,out] y        [ny] changed meanwhile
 * @param[out]    columns  [ny] of ny numbers each, zero before
 * @param[out]    moved    [ny] room
 */
tal_status tali_problem_jacobian(tali_problem *problem, tal_state *state,
                                 const tali_problem_scale *scale, double t, const double ydot[],
                                 double y[], double *const columns[], double moved[]);

/// qdot by u, which is N, into the columns of J that belong to speeds that are not known.
tal_status tali_problem_write_N(const tali_problem *problem, tal_state *state,
                                const tali_problem_scale *scale, double *const columns[]);

// --- exact_jacobian.c ---

/// False when there is no memory.
bool tali_problem_slopes_create(tali_problem_slopes *it, const tali_problem *problem);
void tali_problem_slopes_destroy(tali_problem_slopes *it, const tal_allocator *allocator);

/// The same J without differences of the rates, where all forces know their change and nothing is
/// prescribed. False where that cannot be done: the columns are zero then, as before.
/// @param[out] rates  [ny] room
bool tali_problem_exact_jacobian(tali_problem *problem, tal_state *state,
                                 const tali_problem_scale *scale, double t, const double y[],
                                 double rates[], double *const columns[]);

// --- jacobian.c ---

/// J v by a difference along v, as long as half the digits allow. All arrays are [ny].
tal_status tali_problem_jacobian_times(tali_problem *problem, tal_state *state,
                                       const tali_problem_scale *scale, double t, const double y[],
                                       const double ydot[], const double v[], double Jv[]);

// --- residual.c: the equations of motion with their constraints, implicitly ---

/// F(t, Y, Y') = 0 with the unknowns Y = {q, u, z, lambda, mu}:
///
///     q' = N (u + P^T mu)
///     0  = M u' + J^T (F0 - F) - f + G^T lambda       the residual of inverse dynamics
///     z' = zdot
///     0  = v(t, q, u), a(t, q, u, u')                 velocity errors, acceleration-only ones
///     0  = p(t, q)                                    position errors
///
/// the stabilized form of index 2 (Gear, Gupta and Leimkuhler 1985). mu is zero except for the
/// errors of the method: it keeps q on the constraints while lambda keeps u on theirs. What
/// prescribed motion knows has Y = its value instead.
typedef struct tali_problem_residual {
    tal_constraint_rows rows;
    tal_group_ix perr, verr; // of matter's constraints
    int ny, m;               // unknowns in y; multipliers lambda
    int nq;                  // of the State
    int q0, u0, nu;          // where matter's begin, and how many
    bool needs_udot;         // zdot, or speeds whose udot only a realization tells
    const bool *known_u;     // [nu of the State] speeds that prescribed motion knows
    double *id;              // [ny + m + mp] 1 where Y' enters, 0 for the algebraic unknowns
    double *a, *v, *qdot;    // [m], [nu], [nq] room
} tali_problem_residual;

/// The State at t and y, far enough up for the residual. `keep_q`: its q is that of y already.
tal_status tali_problem_put_for_residual(tali_problem *problem, tal_state *state,
                                         const tali_problem_residual *it, double t,
                                         const double y[], bool keep_q);

/// F(t, Y, Y'); every number in it is finite. `keep_q` as above.
/// @param[in]  Y, Yp  [ny + m + mp]
/// @param[out] r      [ny + m + mp]
tal_status tali_problem_calc_residual(tali_problem *problem, tal_state *state,
                                      const tali_problem_residual *it, double t, const double Y[],
                                      const double Yp[], bool keep_q, double r[]);

// --- baumgarte.c ---

/// Doubles it needs.
size_t tali_problem_baumgarte_size(const tali_problem *problem);

/// Add to ydot what stabilization asks for, if it is wanted. Needs TAL_STAGE_ACCELERATION.
tal_status tali_problem_stabilize(tali_problem *problem, tal_state *state, double ydot[]);

// --- error_norm.c ---

/// Norm of the weighted error in `error` (manual sec. 9.1): the largest of those of q, u
/// and z; q, u, z are weighed at `y0`. Sets `worst`.
double tali_problem_error_norm(tali_problem *problem, tal_state *state);

/// The same where N^+ times the error of matter's q is in `weighed` already, if it `is_known`.
double tali_problem_weigh_error(tali_problem *problem, const tal_state *state, bool is_known);

/// Norm of how far free coordinates and speeds have moved from those in `y`, weighed as errors are.
/// It replaces the error: sets `worst` and overwrites `error`.
double tali_problem_change_by_projection(tali_problem *problem, tal_state *state, const double y[]);

/// A variable in words, e.g. "speed 0 of body 'shank'".
void tali_problem_name_variable(const tali_problem *problem, const tal_state *state, tal_pool pool,
                                int slot, char text[], size_t size);

#endif // TALUS_PROBLEM_INTERNAL_H
