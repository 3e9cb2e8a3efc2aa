// The equations of motion along what the constraints allow.
#include "muscle/balance_internal.h"
#include "problem/study_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

// --- memory ---

// A State with every constraint enabled needs the most; which one the caller has is not known yet.
static tal_status measure_work(const tali_balance *it, size_t *doubles, size_t *ints,
                               tal_error *err)
{
    tal_state *state = NULL;
    tal_status st = tal_state_create(it->system, &state, err);
    if (st == TAL_OK) st = tal_system_realize(it->system, state, TAL_STAGE_MODEL);
    for (int c = 0; c < tal_matter_num_constraints(it->matter) && st == TAL_OK; ++c) {
        st = tal_constraint_set_enabled(it->matter, state, (tal_constraint_ix){c}, true);
    }
    if (st == TAL_OK) st = tal_system_realize(it->system, state, TAL_STAGE_INSTANCE);
    if (st == TAL_OK) {
        *doubles = tal_matter_dense_work_size(it->matter, state);
        *ints = tal_matter_dense_iwork_size(it->matter, state);
    } else if (state != NULL) {
        st = TALI_FAIL(err, st, "%s", tali_problem_reason(state, st));
    }
    tal_state_destroy(state);
    return st;
}

tal_status tali_balance_create(tali_balance *it, const tal_system *system, const bool dependent[],
                               tal_error *err)
{
    const tal_matter *matter = tal_system_matter(system);
    *it = (tali_balance){.system = system, .matter = matter};
    it->allocator = tal_system_allocator(system);
    it->nu = tal_matter_nu(matter);
    it->max_rows = tal_system_pool_capacity(system, TAL_POOL_UDOTERR);
    size_t work = 0, iwork = 0;
    const tal_status st = measure_work(it, &work, &iwork, err);
    if (st != TAL_OK) return st;
    const size_t d = sizeof(double), n = (size_t)it->nu, m = (size_t)it->max_rows;
    const tali_piece pieces[] = {
        {&it->is_dependent, n * sizeof(bool)},
        {&it->K, n * n * d},
        {&it->speed, n * sizeof(int)},
        {&it->is_taken, n * sizeof(bool)},
        {&it->is_known, n * sizeof(bool)},
        {&it->G, m * n * d},
        {&it->G_dep, m * n * d},
        {&it->aerr, (m + n) * d},
        {&it->work, work * d},
        {&it->cod_work, tal_cod_work_size(it->max_rows, it->nu) * d},
        {&it->iwork, iwork * sizeof(int)},
        {&it->cod_iwork, tal_cod_iwork_size(it->max_rows, it->nu) * sizeof(int)},
    };
    it->block = tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    if (it->block == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for the equations of motion");
    }
    if (dependent != NULL) memcpy(it->is_dependent, dependent, n * sizeof(bool));
    return TAL_OK;
}

void tali_balance_destroy(tali_balance *it)
{
    tali_free(&it->allocator, it->block, it->block_bytes);
    it->block = NULL;
}

// --- independent speeds ---

static double *column(const tali_balance *it, int j)
{
    return it->K + (size_t)j * (size_t)it->nu;
}

// K has elements of size one: below this nothing is left of it; elements that differ by less are
// equal.
static const double NOTHING_LEFT = 1e-8, EQUAL = 1e-9;

// The largest element of K that is left, in the rows of speeds that are not taken: those that had
// better be dependent come only when nothing else is left.
static double find_pivot(const tali_balance *it, int from, int *row, int *col)
{
    double most = 0.0;
    for (int pass = 0; pass < 2 && most < NOTHING_LEFT; ++pass) {
        for (int j = from; j < it->dof; ++j) {
            const double *K = column(it, j);
            for (int i = 0; i < it->nu; ++i) {
                if (it->is_taken[i] || (pass == 0 && it->is_dependent[i])) continue;
                if (!(fabs(K[i]) > most * (1.0 + EQUAL))) continue; // the first of equal ones
                most = fabs(K[i]);
                *row = i;
                *col = j;
            }
        }
    }
    return most;
}

static void swap_columns(const tali_balance *it, int a, int b)
{
    double *A = column(it, a), *B = column(it, b);
    for (int i = 0; i < it->nu && a != b; ++i) {
        const double kept = A[i];
        A[i] = B[i];
        B[i] = kept;
    }
}

// Clear a row in all columns but one, where it becomes one.
static void eliminate(const tali_balance *it, int row, int col)
{
    double *P = column(it, col);
    const double pivot = P[row];
    for (int i = 0; i < it->nu; ++i) {
        P[i] = i == row ? 1.0 : P[i] / pivot;
    }
    for (int j = 0; j < it->dof; ++j) {
        double *K = column(it, j);
        const double part = K[row];
        if (j == col || part == 0.0) continue;
        for (int i = 0; i < it->nu; ++i) {
            K[i] = i == row ? 0.0 : K[i] - part * P[i];
        }
    }
}

// Gauss and Jordan, with complete pivoting.
static void choose_speeds(tali_balance *it)
{
    for (int j = 0; j < it->dof; ++j) {
        int row = 0, col = j;
        if (!(find_pivot(it, j, &row, &col) > 0.0)) continue; // a basis has rank dof
        swap_columns(it, j, col);
        eliminate(it, row, j);
        it->is_taken[row] = true;
        it->speed[j] = row;
    }
}

// Without constraints: the speeds that are free.
static void take_free_speeds(tali_balance *it)
{
    memset(it->K, 0, (size_t)it->nu * (size_t)it->nu * sizeof *it->K);
    it->dof = 0;
    for (int i = 0; i < it->nu; ++i) {
        it->is_taken[i] = !it->is_known[i];
        if (it->is_known[i]) continue;
        it->speed[it->dof] = i;
        column(it, it->dof++)[i] = 1.0;
    }
}

static void list_known(tali_balance *it, const tal_state *state)
{
    for (tal_body_ix body = {1}; body.i < tal_matter_num_bodies(it->matter); ++body.i) {
        const int first = tal_body_u_start(it->matter, body);
        for (int k = 0; k < tal_body_nu(it->matter, body); ++k) {
            const tal_mobility at = {body, k};
            it->is_known[first + k] = tal_mobility_level(it->matter, state, at) != TAL_LEVEL_FREE;
        }
    }
}

static int num_rows(const tali_balance *it, const tal_state *state)
{
    const tal_constraint_rows rows = tal_matter_constraint_rows(it->matter, state);
    return rows.mp + rows.mv + rows.ma;
}

tal_status tali_balance_lay(tali_balance *it, tal_state *state)
{
    list_known(it, state);
    it->is_identity = num_rows(it, state) == 0;
    if (it->is_identity) {
        take_free_speeds(it);
        return TAL_OK;
    }
    memset(it->is_taken, 0, (size_t)it->nu * sizeof *it->is_taken);
    const tal_matrix K = tal_matrix_view(it->K, it->nu, it->nu);
    const tal_status st =
        tal_matter_calc_null_basis(it->matter, state, K, &it->dof, it->work, it->iwork);
    if (st == TAL_OK) choose_speeds(it);
    return st;
}

// --- accelerations ---

// Dependent udot change by what takes the errors of the constraints away, by the least squares.
tal_status tali_balance_complete(tali_balance *it, tal_state *state, double udot[])
{
    const int m = num_rows(it, state);
    if (m == 0) return TAL_OK;
    tal_status st = tal_matter_calc_G(it->matter, state, TAL_G, tal_matrix_view(it->G, m, it->nu));
    if (st == TAL_OK) st = tal_matter_calc_constraint_aerr(it->matter, state, udot, it->aerr);
    if (st != TAL_OK) return st;
    int n = 0;
    for (int i = 0; i < it->nu; ++i) {
        if (it->is_taken[i] || it->is_known[i]) continue;
        memcpy(it->G_dep + (size_t)n * (size_t)m, it->G + (size_t)i * (size_t)m,
               (size_t)m * sizeof *it->G);
        ++n;
    }
    if (n == 0) return TAL_OK;
    tal_cod cod;
    tal_error why = {TAL_OK, "", ""};
    const double tolerance = (double)(it->nu + m) * DBL_EPSILON; // as in matter/
    const tal_matrix G = tal_matrix_view(it->G_dep, m, n);
    st = tal_cod_factor(&cod, G, tolerance, it->cod_work, it->cod_iwork, &why);
    // the solution stands where G did, which has been factored into G_dep
    const tal_matrix change = tal_matrix_view(it->G, n, 1);
    if (st == TAL_OK) st = tal_cod_solve(&cod, tal_matrix_view(it->aerr, m, 1), change, &why);
    if (st != TAL_OK) return tal_state_fail(state, st, "%s", why.message);
    for (int i = 0, k = 0; i < it->nu; ++i) {
        if (!it->is_taken[i] && !it->is_known[i]) udot[i] -= it->G[k++];
    }
    return TAL_OK;
}

void tali_balance_contract(const tali_balance *it, const double f[], double out[])
{
    for (int j = 0; j < it->dof; ++j) {
        if (it->is_identity) {
            out[j] = f[it->speed[j]];
            continue;
        }
        const double *K = column(it, j);
        out[j] = 0.0;
        for (int i = 0; i < it->nu; ++i) {
            out[j] += K[i] * f[i];
        }
    }
}
