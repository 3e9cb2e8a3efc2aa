// A of a linearization from exact derivatives: where all forces know their change and nothing is
// prescribed, locked or fast.
//
// Moving by K_p s takes u along, so that it still meets the constraints: with verr_q the derivative
// of their errors by q, and no part along K_v, which is v,
//
//     du = -G^+ verr_q K_p s        d(N^+(q0) qdot) = N^+ d(N u) + du
//
// and udot changes by its derivatives by q and u (tal_system_linearize()).
#include "linearize/exact_slopes_internal.h"

#include <talus/common/linalg.h>
#include <talus/forces/derivative.h>
#include <talus/matter/derivatives.h>

#include <float.h>
#include <math.h>
#include <string.h>

// Round-off of an entry, beside the sum of the sizes of what it is made of.
static const double ROUND_OFF = 64.0 * DBL_EPSILON;

// Relative length below which a row of G depends on the others, as for the chart.
static const double DEPENDENT = 1e-10;

// --- memory ---

tal_status tali_slope_exact_create(tali_slope_exact *it, const tali_chart *chart, tal_error *err)
{
    *it = (tali_slope_exact){.chart = chart};
    const size_t n = (size_t)chart->nu, m = (size_t)chart->max_rows, d = sizeof(double);
    const size_t side = m > n ? m : n;
    const tali_piece pieces[] = {
        {&it->work, tal_system_linearize_work_size(chart->system) * d},
        {&it->J, 2 * n * n * d},
        {&it->verr_by_q, m * n * d},
        {&it->G, m * n * d},
        {&it->du, side * n * d},
        {&it->turned, n * n * d},
        {&it->cod_work, tal_cod_work_size(chart->max_rows, chart->nu) * d},
        {&it->cod_iwork, tal_cod_iwork_size(chart->max_rows, chart->nu) * sizeof(int)},
        {&it->q, (size_t)chart->max_nq * d},
        {&it->qdot, (size_t)chart->max_nq * d},
        {&it->moved, (size_t)chart->max_nq * d},
        {&it->u, n * d},
    };
    it->block = tali_alloc_pieces(&chart->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    if (it->block != NULL) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for exact slopes");
}

void tali_slope_exact_destroy(tali_slope_exact *it)
{
    if (it->chart != NULL) tali_free(&it->chart->allocator, it->block, it->block_bytes);
    it->block = NULL;
}

// --- whether ---

static bool is_free(const tali_chart *chart, const tal_state *state)
{
    for (int b = 1; b < tal_matter_num_bodies(chart->matter); ++b) {
        const tal_body_ix body = {b};
        for (int j = 0; j < tal_body_nu(chart->matter, body); ++j) {
            const tal_mobility mobility = {body, j};
            const tal_level level = tal_mobility_level(chart->matter, state, mobility);
            if (level != TAL_LEVEL_FREE) return false;
        }
    }
    return true;
}

bool tali_slope_exact_apply(const tali_slope_exact *it, tal_state *state)
{
    const tali_chart *chart = it->chart;
    if (chart->nz > 0 || tal_state_nu(state) != chart->nu) return false;
    return is_free(chart, state) && !tal_system_is_differenced(chart->system, state);
}

// --- u along with s ---

static double *column_of(double *A, int rows, int j)
{
    return A + (size_t)j * (size_t)rows;
}

// du [nu x ns], zero where the constraints let u be.
static tal_status find_du(const tali_slope_exact *it, tal_state *state)
{
    const tali_chart *chart = it->chart;
    const tal_constraint_rows rows = tal_matter_constraint_rows(chart->matter, state);
    const int nu = chart->nu, m = rows.mp + rows.mv, side = m > nu ? m : nu;
    memset(it->du, 0, (size_t)side * (size_t)chart->ns * sizeof *it->du);
    if (m == 0) return TAL_OK;
    const tal_matrix none = {NULL, 0, 0, 1}, verr = tal_matrix_view(it->verr_by_q, m, nu);
    tal_status st =
        tal_matter_calc_constraint_derivatives(chart->matter, state, NULL, NULL, verr, none, none);
    const tal_matrix P = {it->G, rows.mp, nu, m}, V = {it->G + rows.mp, rows.mv, nu, m};
    if (st == TAL_OK && rows.mp > 0) st = tal_matter_calc_G(chart->matter, state, TAL_G_P, P);
    if (st == TAL_OK && rows.mv > 0) st = tal_matter_calc_G(chart->matter, state, TAL_G_V, V);
    for (int i = 0; i < chart->ns && st == TAL_OK; ++i) {
        double *du = column_of(it->du, side, i);
        const double *K = column_of(chart->K_p, nu, i);
        for (int j = 0; j < nu; ++j) {
            for (int r = 0; r < m; ++r) {
                du[r] -= verr.data[(size_t)j * (size_t)m + (size_t)r] * K[j];
            }
        }
    }
    tal_cod cod;
    if (st == TAL_OK) {
        st = tal_cod_factor(&cod, tal_matrix_view(it->G, m, nu), DEPENDENT, it->cod_work,
                            it->cod_iwork, chart->err);
    }
    const tal_matrix from = {it->du, m, chart->ns, side}, to = {it->du, nu, chart->ns, side};
    if (st == TAL_OK) st = tal_cod_solve(&cod, from, to, chart->err);
    return st;
}

// --- N^+ d(N u) ---

enum {
    NUM_POINTS = 4
};

// Differences of fourth order, which N of quaternions needs no more than one of: N is linear there.
static const double STEP = 1e-3;
static const double AT[NUM_POINTS] = {-1.0, -0.5, 0.5, 1.0};
static const double WEIGHT[NUM_POINTS] = {1.0 / 6.0, -4.0 / 3.0, 4.0 / 3.0, -1.0 / 6.0};

// Column i of `turned`: how N^+(q0) N(q) u changes along K_p. The State's q is put back.
static tal_status find_turned(const tali_slope_exact *it, tal_state *state, int i)
{
    const tali_chart *chart = it->chart;
    const tal_matter *matter = chart->matter;
    const int nq = tal_matter_nq(matter, state), nu = chart->nu;
    double *out = column_of(it->turned, nu, i);
    const size_t bytes = (size_t)nq * sizeof(double);
    tal_status st =
        tal_matter_mul_N(matter, state, TAL_N, column_of(chart->K_p, nu, i), it->q); // along
    memset(it->qdot, 0, bytes);
    for (int k = 0; k < NUM_POINTS && st == TAL_OK; ++k) {
        double *q = tal_state_upd_q(state);
        for (int j = 0; j < nq; ++j) {
            q[j] = chart->q0[j] + STEP * AT[k] * it->q[j];
        }
        st = tal_system_realize(chart->system, state, TAL_STAGE_POSITION);
        if (st == TAL_OK) st = tal_matter_mul_N(matter, state, TAL_N, chart->u0, it->moved);
        for (int j = 0; j < nq && st == TAL_OK; ++j) {
            it->qdot[j] += WEIGHT[k] / STEP * it->moved[j];
        }
    }
    memcpy(tal_state_upd_q(state), chart->q0, bytes);
    if (st == TAL_OK) st = tal_system_realize(chart->system, state, TAL_STAGE_POSITION);
    return st == TAL_OK ? tal_matter_mul_N(matter, state, TAL_NPLUS, it->qdot, out) : st;
}

// --- A ---

// K^T x for one entry, and the sum of the sizes of its terms.
static double product(const double K[], const double x[], int n, double *size)
{
    double sum = 0.0;
    *size = 0.0;
    for (int k = 0; k < n; ++k) {
        sum += K[k] * x[k];
        *size += fabs(K[k] * x[k]);
    }
    return sum;
}

// Rows of one column of A, from the changes of N^+ qdot and of udot [nu each].
static void write_column(const tali_chart *chart, const double ds[], const double dudot[],
                         double column[], double error[])
{
    double size = 0.0;
    for (int r = 0; r < chart->ns; ++r) {
        column[r] = product(chart->K_p + (ptrdiff_t)r * chart->nu, ds, chart->nu, &size);
        error[r] = ROUND_OFF * size;
    }
    for (int r = 0; r < chart->nv; ++r) {
        const double *K = chart->K_v + (ptrdiff_t)r * chart->nu;
        column[chart->ns + r] = product(K, dudot, chart->nu, &size);
        error[chart->ns + r] = ROUND_OFF * size;
    }
}

// out = J_q x + J_u v; x NULL: zero.
static void change_of_udot(const tali_slope_exact *it, const double x[], const double v[],
                           double out[])
{
    const int nu = it->chart->nu;
    memset(out, 0, (size_t)nu * sizeof *out);
    for (int j = 0; j < nu; ++j) {
        const double *by_q = column_of(it->J, nu, j), *by_u = column_of(it->J, nu, nu + j);
        const double x_j = x != NULL ? x[j] : 0.0;
        for (int i = 0; i < nu; ++i) {
            out[i] += by_q[i] * x_j + by_u[i] * v[j];
        }
    }
}

static void write_A(const tali_slope_exact *it, int m, double A[], double A_error[])
{
    const tali_chart *chart = it->chart;
    const int nu = chart->nu, nx = chart->ns + chart->nv, side = m > nu ? m : nu;
    for (int i = 0; i < chart->ns; ++i) {
        double *ds = column_of(it->turned, nu, i);
        const double *du = column_of(it->du, side, i);
        change_of_udot(it, column_of(chart->K_p, nu, i), du, it->u);
        for (int k = 0; k < nu; ++k) {
            ds[k] += du[k];
        }
        write_column(chart, ds, it->u, column_of(A, nx, i), column_of(A_error, nx, i));
    }
    for (int i = 0; i < chart->nv; ++i) {
        const double *v = column_of(chart->K_v, nu, i);
        const int j = chart->ns + i;
        change_of_udot(it, NULL, v, it->u);
        write_column(chart, v, it->u, column_of(A, nx, j), column_of(A_error, nx, j));
    }
}

static bool is_at_rest(const tali_chart *chart)
{
    for (int j = 0; j < chart->nu; ++j) {
        if (chart->u0[j] != 0.0) return false;
    }
    return true;
}

tal_status tali_slope_exact_find(const tali_slope_exact *it, tal_state *state, double A[],
                                 double A_error[])
{
    const tali_chart *chart = it->chart;
    const tal_constraint_rows rows = tal_matter_constraint_rows(chart->matter, state);
    const tal_matrix J = tal_matrix_view(it->J, chart->nu, 2 * chart->nu);
    const bool at_rest = is_at_rest(chart);
    tal_status st = tal_system_linearize(chart->system, state, NULL, J, it->work);
    if (st == TAL_OK) st = find_du(it, state);
    memset(it->turned, 0, (size_t)chart->nu * (size_t)chart->ns * sizeof *it->turned);
    for (int i = 0; i < chart->ns && st == TAL_OK && !at_rest; ++i) {
        st = find_turned(it, state, i);
    }
    if (st == TAL_OK) write_A(it, rows.mp + rows.mv, A, A_error);
    return st;
}
