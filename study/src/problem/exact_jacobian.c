// d ydot / dy without differences of the rates, for Systems all of whose forces know their change.
#include "problem/problem_internal.h"

#include <talus/forces.h>
#include <talus/forces/derivative.h>

#include <string.h>

// --- memory ---

bool tali_problem_slopes_create(tali_problem_slopes *it, const tali_problem *problem)
{
    *it = (tali_problem_slopes){.nu = problem->matter != NULL ? tal_matter_nu(problem->matter) : 0};
    const size_t nu = (size_t)it->nu, d = sizeof(double);
    const size_t nq = (size_t)tal_system_pool_capacity(problem->system, TAL_POOL_Q);
    const size_t nz = (size_t)tal_system_pool_capacity(problem->system, TAL_POOL_Z);
    if (nu == 0) return true;
    const tali_piece pieces[] = {
        {&it->work, tal_system_linearize_work_size(problem->system) * d},
        {&it->J, (nu + nz) * (2 * nu + nz) * d},
        {&it->by_q, (nu + nz) * nq * d},
        {&it->qdot, nq * d},
        {&it->y, (nq + nu) * d},
    };
    it->block = tali_alloc_pieces(&problem->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    return it->block != NULL;
}

void tali_problem_slopes_destroy(tali_problem_slopes *it, const tal_allocator *allocator)
{
    tali_free(allocator, it->block, it->block_bytes);
    it->block = NULL;
}

// --- whether it can be done ---

// Rates that follow from more than q and u of matter's own equations are left to differences.
static bool is_plain(const tali_problem *problem, const tal_state *state,
                     const tali_problem_scale *scale)
{
    const tali_problem_slopes *it = problem->slopes;
    if (it == NULL || it->nu == 0 || it->nu != scale->nu) return false;
    if (problem->projects_stages || problem->baumgarte > 0.0) return false;
    if (!problem->only_matter_settles) return false;
    if (tal_matter_nq(problem->matter, state) != scale->nq) return false;
    for (int i = 0; i < scale->nu; ++i) {
        if (scale->known_u[i]) return false;
    }
    return true;
}

// --- d (N u) / dq ---

enum {
    NUM_POINTS = 4
};

// The slope is (4 D(h/2) - D(h)) / 3 with the central difference D: exact for quaternions, in which
// N is linear, and off by 1e-13 for angles.
static const double STEP = 1e-3;
static const double AT[NUM_POINTS] = {-1.0, -0.5, 0.5, 1.0};
static const double WEIGHT[NUM_POINTS] = {1.0 / 6.0, -4.0 / 3.0, 4.0 / 3.0, -1.0 / 6.0};

// Whether qdot of a body may depend on its q: with one speed it is that speed.
static bool is_turning(const tali_problem *problem, int b)
{
    return tal_body_nu(problem->matter, (tal_body_ix){b}) > 1;
}

// Moves coordinate `i` of every body that turns, and adds what qdot has there to its columns.
static tal_status add_point(tali_problem *problem, tal_state *state, const double y[], int i,
                            int point, double *const columns[])
{
    const tal_matter *matter = problem->matter;
    const int nq = tal_matter_nq(matter, state), nb = tal_matter_num_bodies(matter);
    double *q = tal_state_upd_q(state);
    memcpy(q, y, (size_t)nq * sizeof *q);
    for (int b = 1; b < nb; ++b) {
        const tal_body_ix body = {b};
        if (!is_turning(problem, b) || i >= tal_body_nq(matter, state, body)) continue;
        q[tal_body_q_start(matter, state, body) + i] += STEP * AT[point];
    }
    double *qdot = problem->slopes->qdot;
    tal_status st = tal_system_realize(problem->system, state, TAL_STAGE_POSITION);
    if (st == TAL_OK) st = tal_matter_mul_N(matter, state, TAL_N, y + nq, qdot);
    for (int b = 1; b < nb && st == TAL_OK; ++b) {
        const tal_body_ix body = {b};
        const int q0 = tal_body_q_start(matter, state, body);
        const int n = tal_body_nq(matter, state, body);
        for (int k = 0; k < n && is_turning(problem, b) && i < n; ++k) {
            columns[q0 + i][q0 + k] += WEIGHT[point] / STEP * qdot[q0 + k];
        }
    }
    return st;
}

static tal_status write_slopes_of_N(tali_problem *problem, tal_state *state, const double y[],
                                    double *const columns[])
{
    int most = 0;
    for (int b = 1; b < tal_matter_num_bodies(problem->matter); ++b) {
        const int nq = tal_body_nq(problem->matter, state, (tal_body_ix){b});
        if (is_turning(problem, b) && nq > most) most = nq;
    }
    tal_status st = TAL_OK;
    for (int i = 0; i < most && st == TAL_OK; ++i) {
        for (int point = 0; point < NUM_POINTS && st == TAL_OK; ++point) {
            st = add_point(problem, state, y, i, point, columns);
        }
    }
    return st;
}

// --- the columns ---

// udot and zdot by q, as D N^+, by u and by z; and qdot by u, which is N.
static tal_status write_columns(tali_problem *problem, tal_state *state,
                                const tali_problem_scale *scale, double *const columns[])
{
    const tali_problem_slopes *it = problem->slopes;
    const int nu = it->nu, nq = scale->nq, nz = scale->nz, rows = nu + nz;
    const tal_matrix J = tal_matrix_view(it->J, rows, 2 * nu + nz);
    const tal_matrix D = tal_matrix_view(it->J, rows, nu);
    const tal_matrix by_q = tal_matrix_view(it->by_q, rows, nq);
    tal_status st = tal_system_linearize(problem->system, state, NULL, J, it->work);
    if (st == TAL_OK) st = tal_matter_derivative_by_coordinates(problem->matter, state, D, by_q);
    if (st == TAL_OK) st = tali_problem_write_N(problem, state, scale, columns);
    const size_t bytes = (size_t)rows * sizeof(double);
    for (int j = 0; j < nq && st == TAL_OK; ++j) {
        memcpy(columns[j] + nq, it->by_q + (size_t)j * (size_t)rows, bytes);
    }
    for (int j = 0; j < nu + nz && st == TAL_OK; ++j) {
        memcpy(columns[nq + j] + nq, it->J + (size_t)(nu + j) * (size_t)rows, bytes);
    }
    return st;
}

static void clear(const tali_problem_scale *scale, double *const columns[])
{
    const int ny = scale->nq + scale->nu + scale->nz;
    for (int j = 0; j < ny; ++j) {
        memset(columns[j], 0, (size_t)ny * sizeof(double));
    }
}

bool tali_problem_exact_jacobian(tali_problem *problem, tal_state *state,
                                 const tali_problem_scale *scale, double t, const double y[],
                                 double rates[], double *const columns[])
{
    if (!is_plain(problem, state, scale)) return false;
    tal_status st = tali_problem_rates(problem, state, t, y, rates);
    if (st != TAL_OK || tal_system_is_differenced(problem->system, state)) return false;
    const size_t ny = (size_t)(scale->nq + scale->nu);
    memcpy(problem->slopes->y, tal_state_y(state), ny * sizeof *y);
    st = write_columns(problem, state, scale, columns);
    if (st == TAL_OK) st = write_slopes_of_N(problem, state, problem->slopes->y, columns);
    if (st == TAL_OK) return true;
    tal_state_clear_error(state);
    clear(scale, columns);
    return false;
}
