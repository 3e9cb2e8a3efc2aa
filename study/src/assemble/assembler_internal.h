// The assembler as a struct, and what its files share.
#ifndef TALUS_ASSEMBLER_INTERNAL_H
#define TALUS_ASSEMBLER_INTERNAL_H

#include "alloc_internal.h"
#include "error_internal.h"

#include <talus/study/assembler.h>

#include <stdint.h>

/// Levenberg-Marquardt damping beyond which no step is tried: it would be too short to matter.
#define TALI_ASSEMBLER_MOST_DAMPING 1e8

/// Relative length below which a column of the equations depends on the others.
#define TALI_ASSEMBLER_DEPENDENT 1e-10

/// A linear least-squares problem with equations:
///
///     minimize 1/2 x^T H x + g^T x   subject to  C x = -c,  x_i = known_i where not free
///
/// Equations that cannot all be met are met in the sense of least squares.
typedef struct tali_assembler_quadratic {
    int n;         // unknowns
    double *H;     // n x n, symmetric, both triangles
    double *g;     // [n]
    int m;         // equations
    int ld;        // rows that C has room for
    double *C;     // m x n
    double *c;     // [m]
    bool *is_free; // [n]
    bool is_whole; // H has the curvature of residuals and equations, too, and may be indefinite
    bool is_tree;  // H has zeros between speeds of which neither is outboard of the other
    double *known; // [n]
} tali_assembler_quadratic;

/// What meeting constraints by KINSOL needs besides.
typedef struct tali_assembler_kinsol tali_assembler_kinsol;

/// A coordinate with a range. `row` is its row of N: d q / dt = row . u of its body.
typedef struct tali_assembler_bound {
    tal_body_ix body;
    int i, slot;      // which of the body's coordinates, and of matter's
    double low, high; // in the State at hand
} tali_assembler_bound;

/// What is observed: places, or velocities.
typedef struct tali_assembler_observed {
    tal_vec3 *points;    // [num_markers] points, or their velocities
    bool *markers;       // [num_markers] seen?
    tal_mat3 *rotations; // [num_sensors]
    tal_vec3 *rates;     // [num_sensors] or their angular velocities
    bool *sensors;       // [num_sensors] seen?
} tali_assembler_observed;

struct tal_assembler {
    const tal_system *system;
    const tal_matter *matter;
    tal_allocator allocator;
    tal_assembler_def def; // arrays are our own
    tal_group_ix q_group, u_group, qerr_group, uerr_group;
    int nu, max_nq, max_rows; // speeds; coordinates; equations, with those of bounds
    int max_goal_rows;        // of any goal of the user's

    tali_assembler_kinsol *kinsol; // NULL: it is not asked for
    void *block;
    size_t block_bytes;

    // the def's arrays
    tal_marker *markers;
    char (*marker_names)[TAL_MAX_NAME + 1];
    tal_orientation_sensor *sensors;
    tal_coordinate_goal *coordinates;
    tal_soft_constraint *soft;
    tal_goal *goals;
    tal_coordinate_range *ranges;

    // observations
    tali_assembler_observed of_q, of_u;
    tali_assembler_observed *seen; // those of the search at hand
    tal_mass_props *weights;       // [num_bodies] normal matrix of what is seen, body by body
    int num_seen;
    tal_vec3 *p_MS, *p_BS_M;       // [num_markers] from Mo and from Bo, in M
    double marker_scale;           // what the weights of markers are multiplied by
    tal_vec3 *marker_r, *sensor_r; // residuals where the State was last
    bool is_observed;              // tal_assembler_observe() was called

    // the problem at hand
    tal_level level; // TAL_LEVEL_POSITION: q is looked for; TAL_LEVEL_VELOCITY: u
    int num_rows;    // equations of the constraints, hard and soft
    tali_assembler_quadratic at;
    double *row_weight;       // [max_rows] weight of a soft equation; < 0: hard
    tal_constraint_ix *turns; // [num_constraints] hard ones that say how they are turned
    int num_turns;
    double *e, *T;                // [num_rows + 3 num_turns] errors and their weights
    double *W_u;                  // [nu] what counts as a unit of motion
    tali_assembler_bound *bounds; // [max_nq]
    int num_bounds;

    // room
    double *q_given, *u_given, *q_start, *q_base, *q_best, *q_keep, *q_goal, *q_least, *q_curved,
        *dq;                              // [max_nq]
    double *N_start;                      // N^+ at the start, body after body, each nu x nq
    double *x;                            // [nu]
    double *full;                         // [nu] the step without damping
    double *mu, *L;                       // [max_rows + max_nq], [nu] of the whole curvature
    double *curved;                       // nu x nu
    double *target, *pieces;              // [max_rows] what perr is to become
    double *P;                            // num_rows x nu: all equations, hard and soft
    double *A, *Z, *work_nn, *rhs, *part; // of a step
    double *goal_r, *goal_J;              // of a goal of the user's
    tal_spatial_vec *F;                   // [num_bodies]
    double *work;                         // of the factorizations
    int *iwork, *free_list;
    int *parents;                    // [nu] the next speed on the way to Ground
    bool *was_free;                  // [nu]
    bool *fit_free;                  // [nu]
    bool *fit_markers, *fit_sensors; // [num_markers], [num_sensors]
    signed char *active;             // [max_nq] bounds that hold: -1 low, 1 high, 0 not

    tal_error error_record;
};

// --- assembler_problem.c: equations and goals at the State ---

/// What stays the same during a search: free speeds, bounds, kinds of equations. Realizes Instance.
tal_status tali_assembler_begin(tal_assembler *it, tal_state *state, tal_level level);

/// Remember where the State is as the start: q, and N^+ for how far everything moves from there.
tal_status tali_assembler_mark_start(tal_assembler *it, tal_state *state);

/// RMS of the weighted errors of the hard equations, measured from the target; infinite when they
/// cannot be computed. Fills `it->e`. `found` (or NULL) gets the worst.
double tali_assembler_error(tal_assembler *it, tal_state *state, tal_assembly *found);

/// Put coordinates that are out of their ranges back to the nearer end. Realizes Position.
tal_status tali_assembler_keep_ranges(tal_assembler *it, tal_state *state);

/// The errors of the hard equations, weighted, measured from the target: c of `it->at`.
/// @param[out] c  [max_rows]
tal_status tali_assembler_calc_errors(tal_assembler *it, tal_state *state, double c[], int *m);

/// Put the hard equations into `it->at`: C, c, weighted.
tal_status tali_assembler_linearize_equations(tal_assembler *it, tal_state *state);

/// 1/2 sum w |r|^2.
tal_status tali_assembler_goal(tal_assembler *it, tal_state *state, double *goal);

/// H and g of the goals into `it->at`.
tal_status tali_assembler_linearize_goals(tal_assembler *it, tal_state *state);

/// How far the markers are that are seen.
void tali_assembler_marker_errors(tal_assembler *it, const tal_state *state, tal_assembly *found);

// --- assembler_step.c ---

/// The solution of `it->at`, with lambda D added to H, D its diagonal. TAL_ERR_SINGULAR, without a
/// sentence, where a whole H is not convex along what the equations leave.
tal_status tali_assembler_solve(tal_assembler *it, double lambda, double x[]);

/// The same within the ranges of the coordinates, for a step along u from where the State is.
tal_status tali_assembler_solve_bounded(tal_assembler *it, tal_state *state, double lambda,
                                        double x[]);

/// `it->mu`: what the equations push with where the State is, as they hold the goals with no step
/// taken. Ranges that the goals lean on push with them.
tal_status tali_assembler_find_forces(tal_assembler *it, tal_state *state);

/// Move q of the State, realized to Position, by a step along u; ranges are kept exactly. Realizes
/// Position.
tal_status tali_assembler_move(tal_assembler *it, tal_state *state, const double x[]);

/// q of matter, in and out. Putting realizes Position.
void tali_assembler_get_q(const tal_assembler *it, const tal_state *state, double q[]);
tal_status tali_assembler_put_q(tal_assembler *it, tal_state *state, const double q[]);

/// RMS of W_u x.
double tali_assembler_step_size(const tal_assembler *it, const double x[]);

// --- assembler_kinsol.c ---

/// False when there is no memory.
bool tali_assembler_kinsol_create(tal_assembler *it);
void tali_assembler_kinsol_destroy(tal_assembler *it);

/// Bring the errors of the equations below the tolerance, by KINSOL. `norm` is what is left.
tal_status tali_assembler_meet_by_kinsol(tal_assembler *it, tal_state *state, double *norm,
                                         int *iterations);

// --- assembler_curve.c ---

/// Make H whole: the derivative of g + C^T mu by differences, mu what the equations push with where
/// the State is. The rest of `it->at` stays. TAL_RETRY where a goal does not exist nearby.
tal_status tali_assembler_curve(tal_assembler *it, tal_state *state);

// --- assembler_descent.c ---

/// Makes the goals minimized on the constraints, from a State that meets these. `found` has the
/// goal, and gets it: with the iterations, the last step and whether that was the last.
tal_status tali_assembler_improve(tal_assembler *it, tal_state *state, tal_assembly *found);

// --- assembler_fit.c ---

/// Put one body after the other, from the base outward, where its markers want it.
tal_status tali_assembler_place_bodies(tal_assembler *it, tal_state *state);

// --- assembler.c ---

/// p_GS - points of all markers, in Ground; NaN for those not seen. `seen` NULL: all are.
tal_status tali_assembler_calc_marker_errors(const tal_assembler *it, const tal_state *state,
                                             const tal_vec3 points[], const bool seen[],
                                             tal_vec3 errors[]);

/// Set what the search for speeds is about: velocities of markers, angular velocities of sensors.
tal_status tali_assembler_observe_rates(tal_assembler *it, const tal_vec3 velocities[],
                                        const tal_vec3 rates[]);

/// Let the next search be about these observations.
void tali_assembler_use_observed(tal_assembler *it, tali_assembler_observed *seen);

// --- assembler_search.c ---

/// Bring the errors of the equations below a tolerance, or as far down as it goes. `norm` is what
/// is left of them.
tal_status tali_assembler_meet(tal_assembler *it, tal_state *state, double tolerance,
                               int max_iterations, double *norm, int *iterations);

/// The failure of a call on the State, in the State's words.
tal_status tali_assembler_pass_on(tal_assembler *it, const tal_state *state, tal_status st);

/// The failure of a goal of the user's, with its name.
tal_status tali_assembler_blame(tal_assembler *it, const tal_state *state, const char *goal,
                                tal_status st);

#endif // TALUS_ASSEMBLER_INTERNAL_H
