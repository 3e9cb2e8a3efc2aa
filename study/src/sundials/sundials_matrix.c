// Dense matrices for SUNDIALS from the pool, and their LU factorization in place.
#include "sundials/sundials_internal.h"

#include <string.h>
#include <sundials/sundials_dense.h>

static tali_sun_matrix *matrix_of(SUNMatrix A)
{
    return A->content;
}

double *tali_sun_column(SUNMatrix A, int j)
{
    return matrix_of(A)->columns[j];
}

double *const *tali_sun_columns(SUNMatrix A)
{
    return matrix_of(A)->columns;
}

SUNMatrix tali_sun_pool_matrix(tali_sun_pool *pool)
{
    for (int i = 0; i < pool->num_matrices; ++i) {
        tali_sun_matrix *A = &pool->matrices[i];
        if (A->is_taken) continue;
        A->is_taken = true;
        return &A->base;
    }
    return NULL;
}

static SUNMatrix clone(SUNMatrix A)
{
    return tali_sun_pool_matrix(matrix_of(A)->pool);
}

static void destroy(SUNMatrix A)
{
    matrix_of(A)->is_taken = false;
}

static SUNMatrix_ID id_of(SUNMatrix A)
{
    (void)A;
    return SUNMATRIX_CUSTOM;
}

static int zero(SUNMatrix A)
{
    const int n = matrix_of(A)->pool->length;
    for (int j = 0; j < n; ++j) {
        memset(matrix_of(A)->columns[j], 0, (size_t)n * sizeof(double));
    }
    return SUNMAT_SUCCESS;
}

static int copy_matrix(SUNMatrix A, SUNMatrix B)
{
    const int n = matrix_of(A)->pool->length;
    for (int j = 0; j < n; ++j) {
        memcpy(matrix_of(B)->columns[j], matrix_of(A)->columns[j], (size_t)n * sizeof(double));
    }
    return SUNMAT_SUCCESS;
}

// A = c A + B
static int scale_add(double c, SUNMatrix A, SUNMatrix B)
{
    const int n = matrix_of(A)->pool->length;
    for (int j = 0; j < n; ++j) {
        double *a = matrix_of(A)->columns[j];
        const double *b = matrix_of(B)->columns[j];
        for (int i = 0; i < n; ++i) {
            a[i] = c * a[i] + b[i];
        }
    }
    return SUNMAT_SUCCESS;
}

// A = c A + 1
static int scale_add_identity(double c, SUNMatrix A)
{
    const int n = matrix_of(A)->pool->length;
    for (int j = 0; j < n; ++j) {
        double *a = matrix_of(A)->columns[j];
        for (int i = 0; i < n; ++i) {
            a[i] *= c;
        }
        a[j] += 1.0;
    }
    return SUNMAT_SUCCESS;
}

// --- LU with partial pivoting, in the matrix itself ---

static SUNLinearSolver_Type type_of(SUNLinearSolver solver)
{
    (void)solver;
    return SUNLINEARSOLVER_DIRECT;
}

static SUNLinearSolver_ID solver_id(SUNLinearSolver solver)
{
    (void)solver;
    return SUNLINEARSOLVER_CUSTOM;
}

static int factor(SUNLinearSolver solver, SUNMatrix A)
{
    const tali_sun_pool *pool = solver->content;
    const sunindextype n = pool->length;
    const sunindextype singular = SUNDlsMat_denseGETRF(matrix_of(A)->columns, n, n, pool->pivots);
    return singular != 0 ? SUNLS_LUFACT_FAIL : SUNLS_SUCCESS;
}

static int solve_lu(SUNLinearSolver solver, SUNMatrix A, N_Vector x, N_Vector b, double tolerance)
{
    (void)tolerance;
    const tali_sun_pool *pool = solver->content;
    if (pool->length == 0) return SUNLS_SUCCESS; // SUNDIALS would read a last column
    memcpy(tali_sun_data(x), tali_sun_data(b), (size_t)pool->length * sizeof(double));
    SUNDlsMat_denseGETRS(matrix_of(A)->columns, pool->length, pool->pivots, tali_sun_data(x));
    return SUNLS_SUCCESS;
}

void tali_sun_fill_matrix_ops(tali_sun_pool *pool)
{
    pool->matrix_ops.getid = id_of;
    pool->matrix_ops.clone = clone;
    pool->matrix_ops.destroy = destroy;
    pool->matrix_ops.zero = zero;
    pool->matrix_ops.copy = copy_matrix;
    pool->matrix_ops.scaleadd = scale_add;
    pool->matrix_ops.scaleaddi = scale_add_identity;
    pool->lu_ops.gettype = type_of;
    pool->lu_ops.getid = solver_id;
    pool->lu_ops.setup = factor;
    pool->lu_ops.solve = solve_lu;
    pool->lu.content = pool;
    pool->lu.ops = &pool->lu_ops;
}
