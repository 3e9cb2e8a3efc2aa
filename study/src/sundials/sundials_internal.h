// SUNDIALS behind the integrator: vectors and matrices from a pool reserved at create, the norm its
// error tests use, and what its solvers share.
#ifndef TALUS_SUNDIALS_INTERNAL_H
#define TALUS_SUNDIALS_INTERNAL_H

#include "integrate/integrator_internal.h"

#include <stddef.h>
#include <sundials/sundials_context.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>
#include <sundials/sundials_nonlinearsolver.h>
#include <sundials/sundials_nvector.h>

// --- sundials_vector.c, sundials_matrix.c: the pool ---

typedef struct tali_sun_pool tali_sun_pool;

/// An N_Vector and its numbers.
typedef struct tali_sun_vector {
    struct _generic_N_Vector base;
    tali_sun_pool *pool;
    double *data; // room for pool->capacity, pool->length in use
    bool is_taken;
} tali_sun_vector;

/// A dense SUNMatrix, column by column.
typedef struct tali_sun_matrix {
    struct _generic_SUNMatrix base;
    tali_sun_pool *pool;
    double **columns; // columns[j] is column j
    bool is_taken;
} tali_sun_matrix;

/// All vectors and matrices that a solver will ever clone. SUNDIALS 6.4.1 does not look whether a
/// clone failed, so none may fail: the pool has room for all of them when it is created.
struct tali_sun_pool {
    tal_allocator allocator;
    void *block;
    size_t block_bytes;
    int length;   // numbers in use in every vector; matrices are length x length
    int capacity; // most of them
    int num_vectors, num_matrices;
    tali_sun_vector *vectors;
    tali_sun_matrix *matrices;
    sunindextype *pivots; // of the LU factorization
    struct _generic_N_Vector_Ops vector_ops;
    struct _generic_SUNMatrix_Ops matrix_ops;
    struct _generic_SUNLinearSolver_Ops lu_ops;
    struct _generic_SUNLinearSolver lu;

    /// What N_VWrmsNorm() is here; `id` (or NULL) is zero where a component does not count.
    double (*norm)(const void *self, const double x[], const double id[]);
    const void *norm_self;
};

/// Reserve everything in one block. False, and nothing taken, when there is no memory.
bool tali_sun_pool_create(tali_sun_pool *pool, const tal_allocator *allocator, int capacity,
                          int num_vectors, int num_matrices);
void tali_sun_pool_destroy(tali_sun_pool *pool);

/// Give vectors, matrices and the LU solver the context they are to live in.
void tali_sun_pool_set_context(tali_sun_pool *pool, SUNContext context);

/// The first vector; SUNDIALS clones the others from it. NULL when all are taken.
N_Vector tali_sun_pool_vector(tali_sun_pool *pool);
SUNMatrix tali_sun_pool_matrix(tali_sun_pool *pool);

/// How many are in use.
int tali_sun_pool_vectors_taken(const tali_sun_pool *pool);

double *tali_sun_data(N_Vector v);
double *tali_sun_column(SUNMatrix A, int j);
double *const *tali_sun_columns(SUNMatrix A);

/// Fills in the matrices' part of a pool.
void tali_sun_fill_matrix_ops(tali_sun_pool *pool);

// --- sundials_common.c: contexts ---

/// What vectors and solvers live in.
typedef struct tali_sun_context {
    SUNContext handle;
    max_align_t zeros[4]; // what it points to where it is never read
} tali_sun_context;

bool tali_sun_context_open(tali_sun_context *it);
void tali_sun_context_close(tali_sun_context *it);

// --- sundials_gmres.c ---

enum {
    TALI_KRYLOV = 10 // directions that GMRES keeps, at most
};

typedef struct tali_sun_gmres {
    struct _generic_SUNLinearSolver base;
    struct _generic_SUNLinearSolver_Ops ops;
    void *A;
    SUNATimesFn times;
    N_Vector s1, s2, work, basis[TALI_KRYLOV + 1];
    double H[TALI_KRYLOV + 1][TALI_KRYLOV];
    double cosine[TALI_KRYLOV], sine[TALI_KRYLOV], g[TALI_KRYLOV + 1];
    int iterations;
    double residual;
} tali_sun_gmres;

/// A linear solver with TALI_KRYLOV + 2 vectors of the pool. It has nothing to free.
SUNLinearSolver tali_sun_gmres_create(tali_sun_gmres *it, tali_sun_pool *pool);

// --- sundials_weights.c: the norm of manual sec. 9.1 to 9.3 ---

/// W_u N^+ of one body.
typedef struct tali_sun_weight_block {
    int q0, u0; // first slots in the pools of the State
    int nq, nu; // of the body
    int first;  // of its nu x nq numbers, row by row
} tali_sun_weight_block;

/// Weights as they are at the start of a step.
typedef struct tali_sun_weights {
    const tal_integrator *integ;
    void *block;
    size_t block_bytes;
    int nq, nu, nz;
    int num_blocks, widest; // most coordinates of a block
    tali_sun_weight_block *blocks;
    double *coefs;           // of the blocks
    double *units, *columns; // [nq], [nu] for products with N^+
    double *e;               // [ny] E of each variable over the accuracy; of q, its column's size
    bool *known_q, *known_u; // [nu] motions and speeds that prescribed motion knows
} tali_sun_weights;

bool tali_sun_weights_create(tali_sun_weights *it, const tal_integrator *integ);
void tali_sun_weights_destroy(tali_sun_weights *it);

/// The weights at the State's y. Needs TAL_STAGE_INSTANCE. `restart`: the State was changed by more
/// than a step.
tal_status tali_sun_weights_set(tali_sun_weights *it, tal_state *state, bool restart);

/// The largest of the norms of q, u and z, over the accuracy: at most 1 is accurate enough.
double tali_sun_weights_norm(const tali_sun_weights *it, const double y[], const double id[]);

// --- sundials_common.c: what the solvers share ---

/// What SUNDIALS counts, since it was last restarted.
typedef struct tali_sun_counts {
    long error_failures, other_failures, iterations, projections;
} tali_sun_counts;

typedef struct tali_sun tali_sun;

/// How a step of a solver ended.
typedef enum tali_sun_failure {
    TALI_SUN_FINE,
    TALI_SUN_INACCURATE, // however short
    TALI_SUN_TOO_FINE,   // an accuracy beyond double precision
    TALI_SUN_UNSOLVED    // Newton's method, or a callback
} tali_sun_failure;

/// CVODE, IDA or ARKODE, as sundials_step.c sees it.
typedef struct tali_sun_solver {
    bool wants_rates;        // those at the start of a step in the integrator's ydot1
    bool solves_constraints; // among its equations, to round-off
    bool is_one_step;        // a restart makes no step shorter
    bool is_cautious;        // its second step is as long as its first, however accurate that was
    double round_off;        // of what it estimates errors from, in eps of y
    /// Before a step: `is_fresh` becomes true where it cannot continue from the last. NULL: it can.
    tal_status (*look)(tali_sun *sun, tal_state *state);
    /// Forget everything: y is in `sun->y`, t in the integrator. `first_step` 0: the solver's
    /// choice.
    tal_status (*restart_solver)(tali_sun *sun, tal_state *state, double first_step);
    /// One step that ends at or before `t_end`, not shorter than `least` unless it ends there.
    /// Leaves y in `sun->y`, and counts.
    tali_sun_failure (*advance)(tali_sun *sun, double t_end, double least, double *t1);
    double (*next_step)(tali_sun *sun);
    bool (*estimate_error)(tali_sun *sun, N_Vector error); // of the last step tried
    bool (*interpolate)(tali_sun *sun, double t, N_Vector y);
    void (*free)(void **memory);
} tali_sun_solver;

struct tali_sun {
    tal_integrator *integ;
    tal_state *state; // while a step is being taken
    tali_sun_context context;
    size_t engine_bytes;
    double *doubles; // [num_doubles]
    size_t num_doubles;
    tali_sun_pool pool;
    tali_sun_weights weights;
    tali_problem_slopes slopes;
    void *memory; // of CVODE, IDA or ARKODE
    const tali_sun_solver *solver;
    tali_sun_gmres gmres;         // the dense solver is in the pool
    SUNNonlinearSolver nonlinear; // NULL: the one the solver made for itself
    N_Vector y;                   // where SUNDIALS returns y
    N_Vector error;               // and the error of a step
    bool is_fresh;                // the next step is a restart
    bool was_fresh;               // the last step did
    bool is_round_off;            // the last step was one that t can hardly resolve
    bool is_settled;              // the State was last moved by the projection of an end of step
    double error_left;            // what projection left of the solver's estimate, as a fraction
    tal_error fatal;              // why a callback gave up; TAL_OK: none did
    tali_sun_counts counts;       // that went into the statistics already
};

/// What a solver needs.
typedef struct tali_sun_need {
    size_t engine_bytes; // 0: those of tali_sun; an engine with more in it has a tali_sun first
    int capacity;        // of vectors and matrices
    int num_vectors, num_matrices;
    size_t num_doubles; // besides
} tali_sun_need;

/// An engine without its solver's memory: context, pool, weights, template vector, GMRES if wanted.
tal_status tali_sun_create(tal_integrator *integ, const tali_sun_need *need, tali_sun **out,
                           tal_error *err);
void tali_sun_destroy(tal_integrator *integ);

/// Of y = {q, u, z} at its largest.
int tali_sun_ny_capacity(const tal_integrator *integ);

/// CVODE and IDA look back on several steps, whose length is how they keep errors small.
tal_status tali_sun_refuse_fixed_step(const char *solver, double fixed_step, tal_error *err);

/// The linear solver chosen in the def.
SUNLinearSolver tali_sun_linear_solver(tali_sun *sun);

static inline bool tali_sun_has_gmres(const tali_sun *sun)
{
    return sun->integ->def.linear_solver == TAL_LINEAR_GMRES;
}

static inline tali_sun *tali_sun_of(const tal_integrator *integ)
{
    return integ->engine;
}

/// For SUNDIALS' error handlers: prints nothing, since the integrator reports failures.
void tali_sun_be_silent(int code, const char *module, const char *function, char *message,
                        void *self);

/// For KINSOL's reports, likewise.
void tali_sun_be_silent_too(const char *module, const char *function, char *message, void *self);

/// tali_problem_project(), with one iteration even if the tolerance is met.
tal_status tali_sun_project(tali_sun *sun, double error[]);

/// What a callback returns: 0, 1 for a failure that a smaller step may avoid, -1 for any other.
int tali_sun_answer(tali_sun *sun, tal_status st);

/// For differences: unit changes at the start of the step.
tali_problem_scale tali_sun_scale(const tali_sun *sun);

// callbacks, as CVODE and ARKODE want them; `self` is the engine

int tali_sun_rates(double t, N_Vector y, N_Vector ydot, void *self);
int tali_sun_error_weights(N_Vector y, N_Vector ewt, void *self);
int tali_sun_jacobian(double t, N_Vector y, N_Vector ydot, SUNMatrix J, void *self, N_Vector tmp1,
                      N_Vector tmp2, N_Vector tmp3);
int tali_sun_jacobian_times(N_Vector v, N_Vector Jv, double t, N_Vector y, N_Vector ydot,
                            void *self, N_Vector tmp);

/// Add what has been counted since the last call to the statistics.
void tali_sun_count(tali_sun *sun, const tali_sun_counts *counts);

// functions of the families

tal_status tali_sun_step(tal_integrator *integ, tal_state *state, double t_end);
tal_status tali_sun_dense(tal_integrator *integ, double t, int ny, double y[]);
/// Dense output, then a restart from there.
tal_status tali_sun_back_up(tal_integrator *integ, tal_state *state, double t);
void tali_sun_restart(tal_integrator *integ);

// --- arkode_tables.c ---

enum {
    TALI_MAX_STAGES = 13
};

/// A Runge-Kutta method: y1 = y0 + h sum b_i k_i, and with d instead of b of order `embedded`.
typedef struct tali_sun_butcher {
    int order, embedded, stages;
    const double *a; // lower triangle, row by row, diagonal included
    const double *b, *d, *c;
} tali_sun_butcher;

/// The table of an order; NULL when there is none.
const tali_sun_butcher *tali_sun_butcher_of_order(bool implicit, int order);

#endif // TALUS_SUNDIALS_INTERNAL_H
