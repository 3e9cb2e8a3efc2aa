// What the parts of the solver of nonlinear programs share.
//
// Inside, a row with a range has a slack, c(x) - s = 0 with the range as bounds of s, so that there
// are only equations, and bounds of unknowns. Slacks follow the unknowns. Objective and rows are
// scaled so that no derivative is large where the run begins.
#ifndef TALUS_NLP_INTERNAL_H
#define TALUS_NLP_INTERNAL_H

#include "sparse_internal.h"

#include <talus/common/nlp.h>

#include <stdbool.h>

struct tal_nlp_solver {
    tal_nlp nlp;
    tal_nlp_options options;
    int n, m;              // unknowns and slacks; rows
    int num_J, num_H;      // entries with those of slacks; entries of the curvature
    double *lower, *upper; // [n]
    bool *is_fixed;        // [n] lower == upper

    double F, F_scale;
    double *x, *g;             // [n] and the gradient
    double *c, *row_scale;     // [m]
    double *J, *H;             // [num_J], [num_H]
    double *lambda;            // [m]
    double *z_lower, *z_upper; // [n]

    double mu;      // the barrier
    double penalty; // of rows, in the merit
    double shift;   // what the curvature was increased by; 0: nothing
    double last_shift;
    double *dx, *dz_lower, *dz_upper, *dlambda;
    double *x_try, *c_try, F_try; // [n], [m]
    double *whole;                // [4 n + 2 m] what a whole step has replaced
    double *kept;                 // [m] rows of a corrected step

    double *g_before, *x_before; // [n] of the last step, where the curvature is learnt
    double *s, *y, *Bs;          // [n]
    bool has_curvature;          // the first step has given it a size

    tali_sparse *kkt;
    int num_kkt;
    int *kkt_row, *kkt_col; // [num_kkt] curvature, diagonal, Jacobian, diagonal of rows
    double *kkt_value;      // [num_kkt]
    double *rhs, *rest, *solution, *correction; // [n + m]

    double *lambda_out, *z_lower_out, *z_upper_out; // in the units of the problem
    double *user_lambda;                            // [m] handed to the function
    void *block;
    size_t block_bytes;
};

/// @name Functions of the problem, scaled. TAL_ERR_NOT_FINITE: not here, but perhaps nearer.
/// @{
tal_status tali_nlp_calc_values(tal_nlp_solver *it, const double x[], double *F, double c[]);
tal_status tali_nlp_calc_slopes(tal_nlp_solver *it);
tal_status tali_nlp_calc_curvature(tal_nlp_solver *it);
/// @}

/// out += J^T v, or += J v. [n], [m]
void tali_nlp_add_JT(const tal_nlp_solver *it, const double v[], double out[]);
void tali_nlp_add_J(const tal_nlp_solver *it, const double v[], double out[]);

/// The sum of |c_i|.
double tali_nlp_size_of_rows(const tal_nlp_solver *it, const double c[]);

/// @name Systems of equations
/// @{

/// Factor the system of a step. Its curvature is increased until the step leads downhill. False:
/// no increase helps.
bool tali_nlp_factor_step(tal_nlp_solver *it);

/// Factor [diag(d), J^T; J, -rows].
bool tali_nlp_factor_rows(tal_nlp_solver *it, const double d[], double rows);

/// Solve the last system for it->rhs, into it->solution, with refinement.
void tali_nlp_solve_kkt(tal_nlp_solver *it);

/// The multipliers that make g + J^T lambda - z as small as they can; 0 if these are very large.
void tali_nlp_estimate_lambda(tal_nlp_solver *it);
/// @}

/// What learns the curvature from changes of gradients: forget all; take in the last step.
void tali_nlp_forget_curvature(tal_nlp_solver *it);
void tali_nlp_keep_gradient(tal_nlp_solver *it);
void tali_nlp_learn_curvature(tal_nlp_solver *it);

/// @name Steps
/// @{

/// The longest part of a step v from x that keeps this share of each distance to a bound.
double tali_nlp_part_within(const tal_nlp_solver *it, const double v[], double share);

/// F less the barrier.
double tali_nlp_barrier_of(const tal_nlp_solver *it, const double x[], double F);

/// Find a step, and take as much of it as makes the merit smaller; x, lambda and z move. False: no
/// part of it does.
tal_status tali_nlp_take_step(tal_nlp_solver *it, bool *moved);

/// Take the whole step if the conditions of an answer fail by less there, where round-off hides
/// what it does to the merit: the slopes are those where x is then.
tal_status tali_nlp_take_whole_step(tal_nlp_solver *it, bool *moved);

/// The largest error of a condition with a barrier mu, scaled.
double tali_nlp_error_of(tal_nlp_solver *it, double mu);

/// Follow the rows alone until they are better by a tenth. TAL_ERR_INFEASIBLE: no better place is
/// near.
tal_status tali_nlp_restore(tal_nlp_solver *it, int *iterations);

/// Multipliers of bounds that suit the barrier where x is.
void tali_nlp_reset_z(tal_nlp_solver *it);
/// @}

#endif // TALUS_NLP_INTERNAL_H
