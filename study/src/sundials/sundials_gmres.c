// GMRES for SUNDIALS with everything it needs in the pool; SUNDIALS' own frees what it never got
// when memory runs out (Saad and Schultz 1986; modified Gram-Schmidt, Givens rotations, no
// restarts).
//
//     A~ = S1 A S2^-1,   r = S1 b,   x = S2^-1 V y,   |r - A~ V y| least
#include "sundials/sundials_internal.h"

#include <math.h>

static tali_sun_gmres *gmres_of(SUNLinearSolver solver)
{
    return solver->content;
}

// --- what SUNDIALS asks and tells ---

static SUNLinearSolver_Type type_of(SUNLinearSolver solver)
{
    (void)solver;
    return SUNLINEARSOLVER_ITERATIVE;
}

static SUNLinearSolver_ID id_of(SUNLinearSolver solver)
{
    (void)solver;
    return SUNLINEARSOLVER_CUSTOM;
}

static int set_times(SUNLinearSolver solver, void *A, SUNATimesFn times)
{
    gmres_of(solver)->A = A;
    gmres_of(solver)->times = times;
    return SUNLS_SUCCESS;
}

static int set_scales(SUNLinearSolver solver, N_Vector s1, N_Vector s2)
{
    gmres_of(solver)->s1 = s1;
    gmres_of(solver)->s2 = s2;
    return SUNLS_SUCCESS;
}

static int iterations_of(SUNLinearSolver solver)
{
    return gmres_of(solver)->iterations;
}

static double residual_of(SUNLinearSolver solver)
{
    return gmres_of(solver)->residual;
}

// --- solving ---

// The next direction, A~ V_l, made normal to those before; its length is H_l+1,l.
static int extend(tali_sun_gmres *it, int l)
{
    N_Vector next = it->basis[l + 1];
    N_VDiv(it->basis[l], it->s2, it->work);
    const int status = it->times(it->A, it->work, next);
    if (status != 0) return status < 0 ? SUNLS_ATIMES_FAIL_UNREC : SUNLS_ATIMES_FAIL_REC;
    N_VProd(it->s1, next, next);
    for (int i = 0; i <= l; ++i) {
        it->H[i][l] = N_VDotProd(it->basis[i], next);
        N_VLinearSum(1.0, next, -it->H[i][l], it->basis[i], next);
    }
    it->H[l + 1][l] = sqrt(N_VDotProd(next, next));
    if (it->H[l + 1][l] > 0.0) N_VScale(1.0 / it->H[l + 1][l], next, next);
    return SUNLS_SUCCESS;
}

// Turns column l of H into that of a triangle, and g with it; |g_l+1| is the residual.
static void rotate(tali_sun_gmres *it, int l)
{
    for (int i = 0; i < l; ++i) {
        const double a = it->H[i][l], b = it->H[i + 1][l];
        it->H[i][l] = it->cosine[i] * a + it->sine[i] * b;
        it->H[i + 1][l] = it->cosine[i] * b - it->sine[i] * a;
    }
    const double length = hypot(it->H[l][l], it->H[l + 1][l]);
    it->cosine[l] = length > 0.0 ? it->H[l][l] / length : 1.0;
    it->sine[l] = length > 0.0 ? it->H[l + 1][l] / length : 0.0;
    it->H[l][l] = length;
    it->g[l + 1] = -it->sine[l] * it->g[l];
    it->g[l] *= it->cosine[l];
    it->residual = fabs(it->g[l + 1]);
}

// x = S2^-1 V y with the triangle's y, which takes the place of g.
static int combine(tali_sun_gmres *it, int n, N_Vector x)
{
    N_VConst(0.0, x);
    for (int i = n - 1; i >= 0; --i) {
        if (it->H[i][i] == 0.0) return SUNLS_QRSOL_FAIL;
        for (int j = i + 1; j < n; ++j) {
            it->g[i] -= it->H[i][j] * it->g[j];
        }
        it->g[i] /= it->H[i][i];
        N_VLinearSum(1.0, x, it->g[i], it->basis[i], x);
    }
    N_VDiv(x, it->s2, x);
    return SUNLS_SUCCESS;
}

// The first guess is zero, as it is wherever SUNDIALS asks.
static int solve_gmres(SUNLinearSolver solver, SUNMatrix none, N_Vector x, N_Vector b,
                       double tolerance)
{
    (void)none;
    tali_sun_gmres *it = gmres_of(solver);
    N_VProd(it->s1, b, it->basis[0]);
    const double start = sqrt(N_VDotProd(it->basis[0], it->basis[0]));
    it->iterations = 0;
    it->residual = start;
    it->g[0] = start;
    if (start > 0.0) N_VScale(1.0 / start, it->basis[0], it->basis[0]);
    while (it->iterations < TALI_KRYLOV && it->residual > tolerance) {
        const int status = extend(it, it->iterations);
        if (status != SUNLS_SUCCESS) return status;
        rotate(it, it->iterations++);
    }
    const int status = combine(it, it->iterations, x);
    if (status != SUNLS_SUCCESS || it->residual <= tolerance) return status;
    return it->residual < start ? SUNLS_RES_REDUCED : SUNLS_CONV_FAIL;
}

SUNLinearSolver tali_sun_gmres_create(tali_sun_gmres *it, tali_sun_pool *pool)
{
    *it = (tali_sun_gmres){.ops = {.gettype = type_of,
                                   .getid = id_of,
                                   .setatimes = set_times,
                                   .setscalingvectors = set_scales,
                                   .solve = solve_gmres,
                                   .numiters = iterations_of,
                                   .resnorm = residual_of}};
    it->base = (struct _generic_SUNLinearSolver){it, &it->ops, pool->lu.sunctx};
    it->work = tali_sun_pool_vector(pool);
    for (int i = 0; i <= TALI_KRYLOV; ++i) {
        it->basis[i] = tali_sun_pool_vector(pool);
    }
    return &it->base;
}
