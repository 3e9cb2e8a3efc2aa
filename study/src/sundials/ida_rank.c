// Rows that repeat others among the equations that IDA solves.
//
// They make Newton's matrix singular, or worse, nearly so where q is a little off the constraints:
// its steps along the mechanism's own motion are then as long as q is off. Let the columns of N be
// an orthonormal basis of the combinations of rows that add no condition, W N = 0. Equations that
// multipliers along them are zero take their place,
//
//     r <- r + N N^T (lambda - r),
//
// which leaves other combinations alone and makes lambda unique. N is kept while IDA continues from
// step to step, for its history to be one of the same equations, and as long as the combinations
// have not turned away from it.
#include "array_internal.h"

#include "sundials/ida_internal.h"

#include <math.h>
#include <string.h>

static const double *column_of(const tali_ida_silent *it, int j)
{
    return it->N + (size_t)j * (size_t)it->n;
}

void tali_ida_silent_replace(const tali_ida_silent *it, const double lambda[], double r[])
{
    for (int j = 0; j < it->k; ++j) {
        const double *column = column_of(it, j);
        const double along =
            tali_array_dot(column, lambda, it->n) - tali_array_dot(column, r, it->n);
        for (int i = 0; i < it->n; ++i) {
            r[i] += along * column[i];
        }
    }
}

// A column less its parts along the first `num` ones.
static void subtract_parts(const tali_ida_silent *it, int num, double column[])
{
    for (int l = 0; l < num; ++l) {
        const double along = tali_array_dot(column_of(it, l), column, it->n);
        for (int i = 0; i < it->n; ++i) {
            column[i] -= along * column_of(it, l)[i];
        }
    }
}

// Gram and Schmidt's process, twice.
static void orthonormalize(const tali_ida_silent *it)
{
    for (int j = 0; j < it->k; ++j) {
        double *column = it->N + (size_t)j * (size_t)it->n;
        for (int pass = 0; pass < 2; ++pass) {
            subtract_parts(it, j, column);
            const double size = sqrt(tali_array_dot(column, column, it->n));
            for (int i = 0; i < it->n && size > 0.0; ++i) {
                column[i] /= size;
            }
        }
    }
}

// The null space of the first n rows and columns of W, from that of D W D, whose diagonal is one.
static tal_status find_null_space(tali_ida *ida, int n, double limit, tali_ida_silent *out)
{
    tali_ida_rank *rank = &ida->rank;
    const size_t m = (size_t)ida->eq.m;
    for (int i = 0; i < n; ++i) {
        const double diagonal = ida->W[(size_t)i * (m + 1)];
        rank->D[i] = diagonal > 0.0 ? 1.0 / sqrt(diagonal) : 1.0;
    }
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            rank->A[(size_t)j * (size_t)n + (size_t)i] =
                rank->D[i] * ida->W[(size_t)j * m + (size_t)i] * rank->D[j];
        }
    }
    tal_cod cod;
    tal_status st =
        tal_cod_factor(&cod, tal_matrix_view(rank->A, n, n), limit, rank->work, rank->iwork, NULL);
    if (st != TAL_OK) return st;
    out->n = n;
    out->k = n - cod.rank;
    st = tal_cod_calc_null_basis(&cod, tal_matrix_view(out->N, n, out->k));
    for (int j = 0; j < out->k && st == TAL_OK; ++j) {
        for (int i = 0; i < n; ++i) {
            out->N[(size_t)j * (size_t)n + (size_t)i] *= rank->D[i];
        }
    }
    orthonormalize(out);
    return st;
}

// The diagonal of M over the speeds that constraints act on, zero for those that are known. What
// moves no mass gets the largest of the others.
static tal_status fill_masses(tali_ida *ida, tal_state *state)
{
    const tal_matter *matter = ida->sun.integ->problem.matter;
    const size_t nu = (size_t)ida->eq.nu;
    const tal_status st =
        tal_matter_calc_M(matter, state, tal_matrix_view(ida->M, ida->eq.nu, ida->eq.nu));
    double largest = 0.0;
    for (size_t k = 0; k < nu && st == TAL_OK; ++k) {
        ida->eq.v[k] = ida->M[k * (nu + 1)];
        largest = fmax(largest, ida->eq.v[k]);
    }
    for (int b = 1; b < tal_matter_num_bodies(matter) && st == TAL_OK; ++b) {
        tal_mobility it = {.body = {b}};
        double *masses = ida->eq.v + tal_body_u_start(matter, it.body);
        for (; it.i < tal_body_nu(matter, it.body); ++it.i) {
            if (masses[it.i] <= 0.0) masses[it.i] = largest > 0.0 ? largest : 1.0;
            if (tal_mobility_level(matter, state, it) != TAL_LEVEL_FREE) masses[it.i] = 0.0;
        }
    }
    return st;
}

tal_status tali_ida_calc_W(tali_ida *ida, tal_state *state)
{
    const tal_matter *matter = ida->sun.integ->problem.matter;
    const size_t m = (size_t)ida->eq.m, nu = (size_t)ida->eq.nu;
    if (ida->M == NULL) {
        return tal_matter_calc_W(matter, state, tal_matrix_view(ida->W, ida->eq.m, ida->eq.m));
    }
    tal_status st =
        tal_matter_calc_G(matter, state, TAL_G, tal_matrix_view(ida->G, ida->eq.m, ida->eq.nu));
    if (st == TAL_OK) st = fill_masses(ida, state);
    memset(ida->W, 0, m * m * sizeof *ida->W);
    for (size_t k = 0; k < nu && st == TAL_OK; ++k) {
        const double *g = ida->G + k * m;
        if (ida->eq.v[k] == 0.0) continue;
        for (size_t e = 0; e < m * m; ++e) {
            ida->W[e] += g[e / m] * g[e % m] / ida->eq.v[k];
        }
    }
    return st;
}

// Combinations of all rows, and of the position rows.
static tal_status find_silent(tali_ida *ida, tal_state *state, tali_ida_silent *of_lambda,
                              tali_ida_silent *of_mu)
{
    const tal_matter *matter = ida->sun.integ->problem.matter;
    of_lambda->n = ida->eq.m;
    of_mu->n = ida->eq.rows.mp;
    of_lambda->k = of_mu->k = 0;
    if (ida->sun.integ->problem.projection.redundant == NULL || ida->eq.m == 0) return TAL_OK;
    tal_rows_report report;
    tal_status st = tal_matter_calc_constraint_report(matter, state, &report, NULL);
    if (st == TAL_OK) st = tali_ida_calc_W(ida, state);
    if (st == TAL_OK) st = find_null_space(ida, ida->eq.m, report.limit, of_lambda);
    if (st == TAL_OK) st = find_null_space(ida, ida->eq.rows.mp, report.limit, of_mu);
    return tali_problem_pass_on(&ida->sun.integ->problem, state, st);
}

tal_status tali_ida_find_silent(tali_ida *ida, tal_state *state)
{
    return find_silent(ida, state, &ida->rank.of_lambda, &ida->rank.of_mu);
}

// Do the combinations still lie along N, those that lie least within some 57 degrees of it?
static bool are_alike(const tali_ida_silent *it, const tali_ida_silent *now)
{
    const double LEAST = 0.3;
    if (it->n != now->n || it->k != now->k) return false;
    for (int j = 0; j < now->k; ++j) {
        double square = 0.0;
        for (int l = 0; l < it->k; ++l) {
            const double along = tali_array_dot(column_of(it, l), column_of(now, j), it->n);
            square += along * along;
        }
        if (square < LEAST) return false;
    }
    return true;
}

tal_status tali_ida_look(tali_sun *sun, tal_state *state)
{
    tali_ida *ida = tali_ida_of(sun);
    tali_ida_rank *rank = &ida->rank;
    tali_ida_silent of_lambda = {.N = rank->now}, of_mu = {.N = rank->now_p};
    const tal_status st = find_silent(ida, state, &of_lambda, &of_mu);
    if (st != TAL_OK) return st;
    if (!are_alike(&rank->of_lambda, &of_lambda) || !are_alike(&rank->of_mu, &of_mu)) {
        sun->is_fresh = true;
    }
    return TAL_OK;
}

// --- memory ---

size_t tali_ida_rank_doubles(int m, int mp)
{
    const size_t rows = (size_t)m, of_p = (size_t)mp;
    const size_t ints = tal_cod_iwork_size(m, m) * sizeof(int) / sizeof(double) + 1;
    return 3 * rows * rows + 2 * of_p * of_p + rows + tal_cod_work_size(m, m) + ints;
}

void tali_ida_cut_rank(tali_ida *ida, int m, int mp, double *next)
{
    tali_ida_rank *rank = &ida->rank;
    const size_t square = (size_t)m * (size_t)m, square_p = (size_t)mp * (size_t)mp;
    rank->of_lambda.N = next;
    rank->now = (next += square);
    rank->A = (next += square);
    rank->of_mu.N = (next += square);
    rank->now_p = (next += square_p);
    rank->D = (next += square_p);
    rank->work = (next += m);
    next += tal_cod_work_size(m, m);
    rank->iwork = (int *)(void *)next;
}
