// Accelerations of natural coordinates with the whole matrix: by a penalty, or with a basis of what
// the conditions allow (GJB sec. 5.1.4, 5.2.3).
//
//     quantity                          GJB                 here
//     conditions, their slopes          Phi, Phi_q          phi, J
//     right side of accelerations       c                   -bias
//     dependent, independent columns    F^d, F^i            order[0..rank), order[rank..nx)
#include "finite_internal.h"
#include "sparse_tree_internal.h"

#include "natural/natural_internal.h"

#include <talus/common/linalg.h>

#include <math.h>
#include <string.h>

struct tal_natural_solver {
    const tal_natural *natural;
    tal_allocator allocator;
    tal_natural_solver_def def;
    int nx, nc, rank;
    double *M, *H;             // nx x nx
    double *J;                 // nc x nx, by columns
    double *R, *MR;            // nx x nx at most
    double *phi, *rate, *bias; // [nc]
    double *f, *product;       // [nx]
    int *order;                // [nx] columns, dependent ones first
    tali_sparse_tree tree;     // H of the penalty: entities stand from Ground outward
    void *block;
    size_t block_bytes;
};

tal_natural_solver_def tal_natural_solver_def_default(void)
{
    return (tal_natural_solver_def){
        .way = TAL_NATURAL_PENALTY, .alpha = 1e7, .omega = 10.0, .mu = 1.0, .rank = 1e-9};
}

// --- creation ---

static tal_status check_def(const tal_natural_solver_def *def, tal_error *err)
{
    if (def->way != TAL_NATURAL_PENALTY && def->way != TAL_NATURAL_MATRIX_R) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there is no way %d to solve for accelerations",
                         (int)def->way);
    }
    if (!(def->alpha > 0.0) || !isfinite(def->alpha)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "alpha is %g: it must be positive and finite",
                         def->alpha);
    }
    if (!(def->omega >= 0.0) || !(def->mu >= 0.0) || !isfinite(def->omega) || !isfinite(def->mu)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "omega is %g, mu is %g: both must be zero or positive, and finite",
                         def->omega, def->mu);
    }
    if (def->rank >= 0.0 && def->rank <= 1.0) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "rank is %g: it must be from 0 to 1", def->rank);
}

// One block for all arrays, and M, which stays.
static tal_status take_memory(tal_natural_solver *it, tal_error *err)
{
    const size_t d = sizeof(double), nx = (size_t)it->nx, nc = (size_t)it->nc;
    const bool has_R = it->def.way == TAL_NATURAL_MATRIX_R;
    const size_t square = nx * nx * d;
    const tali_piece pieces[] = {
        {&it->M, square},
        {&it->H, square},
        {&it->J, nc * nx * d},
        {&it->R, has_R ? square : 0},
        {&it->MR, has_R ? square : 0},
        {&it->phi, nc * d},
        {&it->rate, nc * d},
        {&it->bias, nc * d},
        {&it->f, nx * d},
        {&it->product, nx * d},
        {&it->order, nx * sizeof *it->order},
        {&it->tree.list, has_R ? 0 : nx * nx * sizeof *it->tree.list},
        {&it->tree.used, has_R ? 0 : nx * sizeof *it->tree.used},
    };
    it->block = tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    if (it->block == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a solver");
    it->tree.n = it->nx;
    it->tree.H = it->H;
    return tal_natural_calc_M(it->natural, tal_matrix_view(it->M, it->nx, it->nx));
}

tal_status tal_natural_solver_create(const tal_natural *natural, const tal_natural_solver_def *def,
                                     tal_natural_solver **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    tal_error local;
    if (err == NULL) err = &local;
    *err = (tal_error){TAL_OK, "", ""};
    if (natural == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "the natural coordinates are NULL");
    const tal_natural_solver_def chosen = def != NULL ? *def : tal_natural_solver_def_default();
    tal_status st = check_def(&chosen, err);
    if (st != TAL_OK) return st;
    tal_natural_solver *it = tali_alloc(&natural->allocator, sizeof *it);
    if (it == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a solver");
    it->natural = natural;
    it->allocator = natural->allocator;
    it->def = chosen;
    it->nx = tal_natural_nx(natural);
    it->nc = tal_natural_nc(natural);
    it->rank = -1;
    st = take_memory(it, err);
    if (st != TAL_OK) {
        tal_natural_solver_destroy(it);
        return st;
    }
    *out = it;
    return TAL_OK;
}

void tal_natural_solver_destroy(tal_natural_solver *solver)
{
    if (solver == NULL) return;
    const tal_allocator allocator = solver->allocator;
    tali_free(&allocator, solver->block, solver->block_bytes);
    tali_free(&allocator, solver, sizeof *solver);
}

int tal_natural_solver_rank(const tal_natural_solver *solver)
{
    if (solver != NULL) return solver->rank;
    (void)TALI_BREACH(TAL_ERR_NULL, "the solver is NULL");
    return -1;
}

// --- products ---

static double *column(double *A, int rows, int j)
{
    return A + (size_t)rows * (size_t)j;
}

// out = A v
static void multiply(double *A, int rows, int cols, const double v[], double out[])
{
    memset(out, 0, (size_t)rows * sizeof *out);
    for (int j = 0; j < cols; ++j) {
        const double *a = column(A, rows, j);
        for (int i = 0; i < rows && v[j] != 0.0; ++i) {
            out[i] += a[i] * v[j];
        }
    }
}

static double product_of(const double a[], const double b[], int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

// --- by a penalty ---

// H = M + alpha J^T J, f = Q - alpha J^T (bias + 2 Omega mu Phidot + Omega^2 Phi).
static tal_status solve_by_penalty(tal_natural_solver *it, const double Q[], double xdotdot[])
{
    const double alpha = it->def.alpha, omega = it->def.omega;
    for (int i = 0; i < it->nc; ++i) {
        it->bias[i] += 2.0 * omega * it->def.mu * it->rate[i] + omega * omega * it->phi[i];
    }
    memcpy(it->H, it->M, (size_t)it->nx * (size_t)it->nx * sizeof *it->H);
    for (int j = 0; j < it->nx; ++j) {
        xdotdot[j] = Q[j] - alpha * product_of(column(it->J, it->nc, j), it->bias, it->nc);
    }
    int pivot = 0;
    tali_sparse_tree_add_square(&it->tree, it->J, it->nc, alpha);
    if (!tali_sparse_tree_factor(&it->tree, &pivot)) return TAL_ERR_SINGULAR;
    tali_sparse_tree_solve(&it->tree, xdotdot);
    return tali_finite_all(xdotdot, it->nx) ? TAL_OK : TAL_ERR_NOT_FINITE;
}

// --- with a basis of what conditions allow ---

// The largest entry right of and below (r, r).
static double find_pivot(tal_natural_solver *it, int r, int *row, int *col)
{
    double largest = 0.0;
    *row = *col = r;
    for (int j = r; j < it->nx; ++j) {
        const double *a = column(it->J, it->nc, it->order[j]);
        for (int i = r; i < it->nc; ++i) {
            if (fabs(a[i]) <= largest) continue;
            largest = fabs(a[i]);
            *row = i;
            *col = j;
        }
    }
    return largest;
}

// Row r over its pivot, and out of all other rows; `bias` is one more column.
static void eliminate(tal_natural_solver *it, int r)
{
    double *pivots = column(it->J, it->nc, it->order[r]);
    const double over = 1.0 / pivots[r];
    for (int j = r + 1; j <= it->nx; ++j) {
        double *a = j < it->nx ? column(it->J, it->nc, it->order[j]) : it->bias;
        a[r] *= over;
        for (int i = 0; i < it->nc && a[r] != 0.0; ++i) {
            if (i != r) a[i] -= pivots[i] * a[r];
        }
    }
}

// J = [1 F; 0 0] in the order of the columns, with the same steps for `bias`.
static void reduce(tal_natural_solver *it)
{
    double first = 0.0;
    for (int j = 0; j < it->nx; ++j) {
        it->order[j] = j;
    }
    for (it->rank = 0; it->rank < it->nc && it->rank < it->nx; ++it->rank) {
        int row, col;
        const double pivot = find_pivot(it, it->rank, &row, &col);
        first = fmax(first, pivot);
        if (!(pivot > it->def.rank * first)) break;
        const int other = it->order[col];
        it->order[col] = it->order[it->rank];
        it->order[it->rank] = other;
        for (int j = 0; j <= it->nx; ++j) {
            double *a = j < it->nx ? column(it->J, it->nc, j) : it->bias;
            const double kept = a[row];
            a[row] = a[it->rank];
            a[it->rank] = kept;
        }
        eliminate(it, it->rank);
    }
}

// R of independent coordinates, R^T M R, and xdotdot = R zdotdot + S c.
static tal_status solve_by_basis(tal_natural_solver *it, const double Q[], double xdotdot[])
{
    reduce(it);
    const int nx = it->nx, rank = it->rank, n = nx - rank;
    double *Sc = it->f;
    memset(Sc, 0, (size_t)nx * sizeof *Sc);
    memset(it->R, 0, (size_t)nx * (size_t)n * sizeof *it->R);
    for (int i = 0; i < rank; ++i) {
        Sc[it->order[i]] = -it->bias[i];
    }
    for (int k = 0; k < n; ++k) {
        double *R_k = column(it->R, nx, k);
        const double *F = column(it->J, it->nc, it->order[rank + k]);
        R_k[it->order[rank + k]] = 1.0;
        for (int i = 0; i < rank; ++i) {
            R_k[it->order[i]] = -F[i];
        }
        multiply(it->M, nx, nx, R_k, column(it->MR, nx, k));
    }
    multiply(it->M, nx, nx, Sc, it->product);
    for (int i = 0; i < nx; ++i) {
        it->product[i] = Q[i] - it->product[i];
    }
    for (int k = 0; k < n; ++k) {
        const double *R_k = column(it->R, nx, k);
        xdotdot[k] = product_of(R_k, it->product, nx);
        for (int l = k; l < n; ++l) {
            column(it->H, n, k)[l] = product_of(R_k, column(it->MR, nx, l), nx);
        }
    }
    const tal_matrix H = tal_matrix_view(it->H, n, n);
    tal_status st = tal_chol_factor(H, NULL, NULL);
    if (st == TAL_OK) st = tal_chol_solve(H, tal_matrix_view(xdotdot, n, 1), NULL);
    memcpy(it->product, xdotdot, (size_t)n * sizeof *xdotdot);
    if (st == TAL_OK) multiply(it->R, nx, n, it->product, xdotdot);
    for (int i = 0; i < nx && st == TAL_OK; ++i) {
        xdotdot[i] += Sc[i];
    }
    return st;
}

tal_status tal_natural_solver_solve(tal_natural_solver *solver, const double x[],
                                    const double xdot[], const double Q[], double xdotdot[])
{
    if (solver == NULL || x == NULL || xdot == NULL || Q == NULL || xdotdot == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the solver or an array is NULL");
    }
    const tal_natural *natural = solver->natural;
    const tal_matrix J = tal_matrix_view(solver->J, solver->nc, solver->nx);
    tal_status st = tal_natural_calc_phi(natural, x, solver->phi);
    if (st == TAL_OK && solver->nc > 0) st = tal_natural_calc_phi_x(natural, x, J);
    if (st == TAL_OK) st = tal_natural_calc_bias(natural, xdot, solver->bias);
    if (st != TAL_OK) return st;
    multiply(solver->J, solver->nc, solver->nx, xdot, solver->rate);
    return solver->def.way == TAL_NATURAL_PENALTY ? solve_by_penalty(solver, Q, xdotdot)
                                                  : solve_by_basis(solver, Q, xdotdot);
}
