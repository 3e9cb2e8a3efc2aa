// The fixed stepper as a struct, and what its files share.
//
//     quantity                                CD, Welch      here
//     change of q along u since the start     z - z_n        x
//     position errors, rows                   Phi, Phi_z     errors, G
//     multipliers                             lambda*        lambda
//     Newmark's family                        tab. 2         tali_realtime_family
//
// Phi of a velocity row is (beta h / gamma) verr: its slope by x is then G, as for position rows.
#ifndef TALUS_REALTIME_INTERNAL_H
#define TALUS_REALTIME_INTERNAL_H

#include "sparse_tree_internal.h"

#include "problem/problem_internal.h"
#include "problem/study_internal.h"

#include <talus/forces.h>
#include <talus/study/fixed_stepper.h>

/// Where it all is in the bytes of the State's variable, behind the head.
struct tal_fixed_memory {
    const tal_system *system;
    tal_allocator allocator;
    tal_subsystem_ix me;
    tal_var_ix var;
    int nu, m, nx; // speeds of matter, position and velocity rows, natural coordinates, at most
    size_t udot, a, lambda, natural, pivots, size;
};

/// The head: whose values they are.
typedef struct tali_realtime_head {
    uint64_t of; // hash of t, y and the formulation they belong to; 0: none
    int32_t nu, m, num_pivots, nx;
    bool has_xdot; // natural: x and xdot
} tali_realtime_head;

/// What a step needs of the last one.
typedef struct tali_realtime_past {
    double *udot;   // [nu]
    double *a;      // [nu] that of Newmark's formulas
    double *lambda; // [m]
    int *pivots;    // [num_pivots] dependent speeds; semi-recursive
    int num_pivots;
    double *natural; // [nx] Newmark's a, or x and xdot of the energy-momentum rule; global
    int nx;          // 0: none
    bool has_xdot;   // natural: x and xdot
} tali_realtime_past;

/// Newmark's x(a), u(a) with (1 - dm) a1 + dm a0 = (1 - df) udot1 + df udot0 (CD eq. 38 to 42).
typedef struct tali_realtime_family {
    double dm, df, gamma, beta;
} tali_realtime_family;

/// Speed and accelerations of one coordinate: u, Newmark's a, and udot.
typedef struct tali_realtime_rate {
    double u, a, udot;
} tali_realtime_rate;

/// Those at the end of a step that moves it by x (CD eq. 39 and 40). Note that gamma is not in the
/// first two terms of the acceleration, where CD eq. 42 prints it. udot is that of (1 - dm) a + dm
/// a0 = (1 - df) udot + df udot0.
static inline tali_realtime_rate tali_realtime_rate_of(const tali_realtime_family *it, double h,
                                                       double x, tali_realtime_rate from)
{
    const double gamma = it->gamma, beta = it->beta;
    tali_realtime_rate to;
    to.u = gamma / (beta * h) * x - (gamma / beta - 1.0) * from.u -
           h * (gamma / (2.0 * beta) - 1.0) * from.a;
    to.a = x / (beta * h * h) - from.u / (beta * h) - (1.0 / (2.0 * beta) - 1.0) * from.a;
    to.udot = ((1.0 - it->dm) * to.a + it->dm * from.a - it->df * from.udot) / (1.0 - it->df);
    return to;
}

typedef struct tali_realtime_ops tali_realtime_ops;
typedef struct tali_realtime_global tali_realtime_global;

struct tal_fixed_stepper {
    const tal_system *system;
    const tal_matter *matter;
    const tal_fixed_memory *memory;
    tal_allocator allocator;
    tal_fixed_stepper_def def;
    const tali_realtime_ops *ops;
    tali_realtime_family family;
    tali_problem problem;
    tal_group_ix perr_group, verr_group;
    tal_fixed_stats stats;
    uint64_t realizations; // counted by the problem
    int nu, num_bodies;
    void *block;
    size_t block_bytes;

    // of the State at hand
    int q0, u0, nq; // where matter's begin in y, and its coordinates
    int num_quaternions;
    int *quaternions; // where they begin in matter's q
    bool is_curved;   // N depends on q where there is no quaternion
    bool has_known;   // some mobility is prescribed or locked
    tal_level *level; // [nu]
    tal_constraint_rows rows;
    int m; // position and velocity rows

    // of the step at hand
    double h, t0, t1;
    double penalty;        // alpha
    double *y0;            // [ny] its start
    double *ydot0;         // [ny] there; where there is more than matter's q and u
    bool has_others;       // there is
    double *y1;            // [ny] what is put into the State
    const double *u_start; // [nu] in y0
    tali_realtime_past past;
    double *x, *u, *a;     // [nu] increments, speeds, Newmark's accelerations at its end
    double *udot;          // [nu] accelerations there
    double *change;        // [nu] of x
    double *w;             // [nu] speeds halfway
    double *errors;        // [m] Phi
    double *row;           // [m] room
    double *f, *product;   // [nu] room
    double *slope;         // [4 max_nq] room
    tal_spatial_vec *F_GB; // [num_bodies]
    double *G, *M, *H;     // m x nu, nu x nu
    tali_sparse_tree tree; // H with its factors; hybrid
    double *R, *part;      // nu x nu and room, of independent coordinates
    int *which;            // [nu] room
    bool has_inertia;      // M and S are of this step, and still serve
    bool is_corrected;     // x was corrected in this step
    double *cod_work;
    int *cod_iwork;
    double *stages;               // [stages][ny], of explicit methods
    tali_realtime_global *global; // of the global formulation
    const tal_forces *forces;     // whose K and C enter the tangent; NULL: none
    tal_state *scratch;           // of their derivatives
    double *S, *unit;             // nu x nu, [2 nu]
    double *force_work;
    tal_error error_record;
};

/// One formulation as Newmark's family drives it, or with a step of its own.
struct tali_realtime_ops {
    /// What the State's memory would say: accelerations and multipliers at a State to begin with.
    tal_status (*start)(tal_fixed_stepper *s, tal_state *state);
    /// From the State at t0 to t1, with the past; both are new on success.
    tal_status (*step)(tal_fixed_stepper *s, tal_state *state);

    // Of formulations that tali_realtime_structural_step() drives:
    /// Put the State at x, with speeds and accelerations of Newmark's formulas.
    tal_status (*place)(tal_fixed_stepper *s, tal_state *state);
    /// The change of x that the equations of motion want there.
    tal_status (*correct)(tal_fixed_stepper *s, tal_state *state);
    /// What is left to do at the end of the step, where the State is.
    tal_status (*finish)(tal_fixed_stepper *s, tal_state *state);
};

/// Column j of a matrix of n rows, packed by columns.
static inline double *tali_realtime_column(double *A, int n, int j)
{
    return A + (size_t)n * (size_t)j;
}

/// The table of a formulation.
const tali_realtime_ops *tali_realtime_hybrid(void);
const tali_realtime_ops *tali_realtime_global_ops(void);
const tali_realtime_ops *tali_realtime_energy_momentum(void);
const tali_realtime_ops *tali_realtime_semi_recursive(void);
const tali_realtime_ops *tali_realtime_fully_recursive(void);
const tali_realtime_ops *tali_realtime_welch(void);
const tali_realtime_ops *tali_realtime_baumgarte(void);

// --- fixed_memory.c ---

/// Take the past out of a State. False when it has none for its t and y and this formulation.
bool tali_realtime_recall(tal_fixed_stepper *s, const tal_state *state);

/// Put the past into a State that is where it belongs to.
tal_status tali_realtime_remember(tal_fixed_stepper *s, tal_state *state);

// --- place.c ---

/// Sizes, rows and known mobilities of a State, realized to Velocity, and where the step starts.
tal_status tali_realtime_read(tal_fixed_stepper *s, tal_state *state);

/// The State at t, q0 moved by x along u, with speeds u; prescribed, realized to Velocity.
tal_status tali_realtime_put(tal_fixed_stepper *s, tal_state *state, double t, const double x[],
                             const double u[]);

/// Put speeds alone. Realizes Velocity.
tal_status tali_realtime_put_u(tal_fixed_stepper *s, tal_state *state, const double u[]);

/// Position errors [mp] and velocity errors [mp + mv] of a State. Borrowed.
const double *tali_realtime_perr(const tal_fixed_stepper *s, const tal_state *state);
const double *tali_realtime_verr(const tal_fixed_stepper *s, const tal_state *state);

/// M udot + P in `f`, with P = bias - forces: the equations of motion less G^T lambda. `udot` NULL:
/// P. Realizes Dynamics.
tal_status tali_realtime_calc_P(tal_fixed_stepper *s, tal_state *state, const double udot[],
                                double f[]);

/// The forces of all elements, in `F_GB` and `product`. Realizes Dynamics.
tal_status tali_realtime_calc_forces(tal_fixed_stepper *s, tal_state *state);

/// udot = M^-1 Q without constraints; known ones as prescribed. Realizes Dynamics.
tal_status tali_realtime_calc_free_udot(tal_fixed_stepper *s, tal_state *state, double udot[]);

/// Auxiliary variables and what else is not matter's, by the explicit trapezoid: corrected with the
/// rates at the end. Realizes Acceleration where there are any.
tal_status tali_realtime_settle_others(tal_fixed_stepper *s, tal_state *state);

/// A failure in the State's words.
tal_status tali_realtime_pass_on(tal_fixed_stepper *s, const tal_state *state, tal_status st);

/// Euclidean norm.
double tali_realtime_norm(const double v[], int n);

// --- structural.c ---

/// Newmark's family by name and damping.
tali_realtime_family tali_realtime_family_of(const tal_fixed_stepper_def *def);

/// u, a and udot at the end of the step from x.
void tali_realtime_calc_rates(tal_fixed_stepper *s);

/// A step by iteration, as the formulation's table says.
tal_status tali_realtime_structural_step(tal_fixed_stepper *s, tal_state *state);

/// udot and multipliers of Talus's own dynamics, as the past to start with.
tal_status tali_realtime_start_by_dynamics(tal_fixed_stepper *s, tal_state *state);

/// The part of the tangent that is not of constraints: H = (1 - dm) M + (1 - df) S, with S what
/// forces add.
tal_status tali_realtime_calc_tangent(tal_fixed_stepper *s, tal_state *state);

/// The same again from M and S, with more inertia and with a part of the stiffness.
void tali_realtime_sum_tangent(tal_fixed_stepper *s, double inertia, double stiffness);

/// M of a State, in `M`.
tal_status tali_realtime_calc_mass(tal_fixed_stepper *s, tal_state *state);

/// b = (1 - df) beta h^2: what the residual is multiplied with.
double tali_realtime_scale(const tal_fixed_stepper *s);

/// alpha: that of the definition, or more where masses are large for it, or steps short. M is
/// n x n; b is what the residual is multiplied with.
double tali_realtime_penalty(const tal_fixed_stepper *s, const double M[], int n, double b);

/// H becomes its Cholesky factor.
tal_status tali_realtime_factor(tal_fixed_stepper *s, double *H, int n);

/// The same where entries follow a tree.
tal_status tali_realtime_factor_tree(tal_fixed_stepper *s, const tali_sparse_tree *H);

// --- stiffness.c ---

/// S at a State, realized to Velocity; where the stepper has forces.
tal_status tali_realtime_calc_stiffness(tal_fixed_stepper *s, tal_state *state);

// --- global.c ---

/// What the global formulation needs besides; a failure leaves it to be destroyed.
tal_status tali_realtime_global_create(tal_fixed_stepper *s, tal_error *err);
void tali_realtime_global_destroy(tal_fixed_stepper *s);

#endif // TALUS_REALTIME_INTERNAL_H
