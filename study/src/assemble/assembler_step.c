// One step of a search: a quadratic goal, linear equations, ranges of coordinates.
#include "array_internal.h"

#include "assemble/assembler_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Least curvature that damping sees, as a part of the stiffest one.
static const double LEAST_CURVATURE = 1e-3;

// Reciprocal condition number that leaves four digits.
static const double FOUR_DIGITS = 1e-12;

// A pull on a bound below this part of the largest is round-off.
static const double NO_PULL = 1e-12;

static double *column(double *A, int ld, int j)
{
    return A + (size_t)j * (size_t)ld;
}

// --- the free unknowns ---

static int list_free(tal_assembler *it)
{
    int count = 0;
    for (int i = 0; i < it->at.n; ++i) {
        if (it->at.is_free[i]) it->free_list[count++] = i;
    }
    return count;
}

// How much lambda adds to a diagonal entry of H: a share of that entry, and where it is small a
// thousandth of what is largest, measured by W_u. An arm that is stretched out has no slope along
// its elbow, and yet a curvature.
static double damping(const tal_assembler *it, int i, double stiffest)
{
    const double H_ii = fabs(it->at.H[(size_t)i * (size_t)(it->at.n + 1)]);
    return fmax(H_ii, LEAST_CURVATURE * stiffest * it->W_u[i] * it->W_u[i]);
}

static double find_stiffest(const tal_assembler *it)
{
    double most = 0.0;
    for (int i = 0; i < it->at.n; ++i) {
        const double H_ii = fabs(it->at.H[(size_t)i * (size_t)(it->at.n + 1)]);
        if (it->at.is_free[i]) most = fmax(most, H_ii / (it->W_u[i] * it->W_u[i]));
    }
    return most;
}

// A = H + lambda D of the free unknowns, nf x nf; rhs = -(g + H known).
static void reduce_goal(tal_assembler *it, int nf, double lambda)
{
    const tali_assembler_quadratic *at = &it->at;
    const double stiffest = find_stiffest(it);
    for (int b = 0; b < nf; ++b) {
        const double *from = column(at->H, at->n, it->free_list[b]);
        double *to = column(it->A, nf, b);
        for (int a = 0; a < nf; ++a) {
            to[a] = from[it->free_list[a]];
        }
        to[b] += lambda * damping(it, it->free_list[b], stiffest);
        double sum = at->g[it->free_list[b]];
        for (int j = 0; j < at->n; ++j) {
            if (!at->is_free[j]) sum += from[j] * at->known[j];
        }
        it->rhs[b] = -sum;
    }
}

// The equations of the free unknowns, m x nf, in work_nn; rhs = -(c + C known) in `part`.
static void reduce_equations(tal_assembler *it, int nf)
{
    const tali_assembler_quadratic *at = &it->at;
    for (int i = 0; i < at->m; ++i) {
        it->part[i] = -at->c[i];
    }
    for (int j = 0; j < at->n; ++j) {
        const double *C = column(at->C, at->ld, j);
        const double x = at->is_free[j] ? 0.0 : at->known[j];
        for (int i = 0; i < at->m && x != 0.0; ++i) {
            it->part[i] -= C[i] * x;
        }
    }
    for (int b = 0; b < nf; ++b) {
        const double *from = column(at->C, at->ld, it->free_list[b]);
        memcpy(column(it->work_nn, at->m, b), from, (size_t)at->m * sizeof *from);
    }
}

// --- solving ---

static double least_pivot(const double *L, int n)
{
    double least = (double)INFINITY;
    for (int i = 0; i < n; ++i) {
        const double root = L[(size_t)i * (size_t)(n + 1)];
        least = fmin(least, root * root);
    }
    return least;
}

// Whether A has no curvature below -floor.
static bool is_convex(tal_assembler *it, const double *A, int n, double floor)
{
    memcpy(it->work_nn, A, (size_t)n * (size_t)n * sizeof *A);
    for (int i = 0; i < n; ++i) {
        it->work_nn[(size_t)i * (size_t)(n + 1)] += floor;
    }
    return tal_chol_factor(tal_matrix_view(it->work_nn, n, n), NULL, NULL) == TAL_OK;
}

// Below this, H is zero: round-off of what it is made from; or what differences leave.
static double least_curvature(const tal_assembler *it, int nf, double roundoff)
{
    const double share = it->at.is_whole ? 1e-8 : roundoff * nf * DBL_EPSILON;
    return share * tali_array_largest_diagonal(it->A, nf, nf);
}

// A y = rhs in place of rhs, A symmetric and positive semidefinite: the shortest y where A is
// singular, with pivots up to `floor` for zero. A is lost.
static tal_status solve_semidefinite(tal_assembler *it, double *A, int n, double floor, double *rhs)
{
    const tal_matrix B = tal_matrix_view(rhs, n, 1);
    if (it->at.is_whole && !is_convex(it, A, n, floor)) return TAL_ERR_SINGULAR;
    memcpy(it->work_nn, A, (size_t)n * (size_t)n * sizeof *A);
    tal_chol_info info;
    tal_status st = tal_chol_factor(tal_matrix_view(A, n, n), &info, NULL);
    // a bound on the condition number that leaves four digits
    if (st == TAL_OK && info.rcond_bound > FOUR_DIGITS && least_pivot(A, n) > floor) {
        return tal_chol_solve(tal_matrix_view(A, n, n), B, &it->error_record);
    }
    tal_pchol factor;
    st = tal_pchol_factor(&factor, tal_matrix_view(it->work_nn, n, n), floor, it->work, it->iwork,
                          &it->error_record);
    return st == TAL_OK ? tal_pchol_solve_min_norm(&factor, B, &it->error_record) : st;
}

// out = A v for symmetric A.
static void multiply(const double *A, int n, const double *v, double *out)
{
    memset(out, 0, (size_t)n * sizeof *out);
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            out[i] += A[(size_t)j * (size_t)n + (size_t)i] * v[j];
        }
    }
}

// Z^T A Z, k x k, in work_nn. One column of A Z at a time in `room`.
static void project_onto(const double *A, int n, const double *Z, int k, double *room, double *out)
{
    for (int j = 0; j < k; ++j) {
        multiply(A, n, Z + (size_t)j * (size_t)n, room);
        for (int i = 0; i < k; ++i) {
            double sum = 0.0;
            for (int l = 0; l < n; ++l) {
                sum += Z[(size_t)i * (size_t)n + (size_t)l] * room[l];
            }
            out[(size_t)j * (size_t)k + (size_t)i] = sum;
        }
    }
}

// With equations: y = y_p + Z s, y_p the shortest that meets them, Z what they leave,
//
//     Z^T A Z s = Z^T (rhs - A y_p)
//
// What the goals do not ask for is zero in Z^T A Z except for round-off of A, however little is
// left in it.
static tal_status solve_with_equations(tal_assembler *it, int nf, double *y)
{
    const int m = it->at.m;
    reduce_equations(it, nf);
    tal_cod cod;
    const tal_matrix C = tal_matrix_view(it->work_nn, m, nf);
    tal_status st =
        tal_cod_factor(&cod, C, TALI_ASSEMBLER_DEPENDENT, it->work, it->iwork, &it->error_record);
    if (st != TAL_OK) return st;
    const int k = nf - cod.rank;
    st = tal_cod_solve(&cod, tal_matrix_view(it->part, m, 1), tal_matrix_view(y, nf, 1),
                       &it->error_record);
    if (st == TAL_OK && k > 0) st = tal_cod_calc_null_basis(&cod, tal_matrix_view(it->Z, nf, k));
    if (st != TAL_OK || k == 0) return st;

    double *room = it->part; // c is done with
    multiply(it->A, nf, y, room);
    for (int i = 0; i < nf; ++i) {
        it->rhs[i] -= room[i];
    }
    for (int j = 0; j < k; ++j) {
        double sum = 0.0;
        for (int i = 0; i < nf; ++i) {
            sum += it->Z[(size_t)j * (size_t)nf + (size_t)i] * it->rhs[i];
        }
        it->work[j] = sum;
    }
    memcpy(it->rhs, it->work, (size_t)k * sizeof *it->rhs);
    const double floor = least_curvature(it, nf, 8.0);
    project_onto(it->A, nf, it->Z, k, room, it->work_nn);
    memcpy(it->A, it->work_nn, (size_t)k * (size_t)k * sizeof *it->A);
    st = solve_semidefinite(it, it->A, k, floor, it->rhs);
    for (int j = 0; j < k && st == TAL_OK; ++j) {
        for (int i = 0; i < nf; ++i) {
            y[i] += it->Z[(size_t)j * (size_t)nf + (size_t)i] * it->rhs[j];
        }
    }
    return st;
}

// All speeds free, no equations, and H as sparse as the tree is: a factorization that meets no
// zeros (RBDA sec. 6.5). False when H is too near to a singular one.
static bool solve_as_tree(tal_assembler *it, double lambda, double x[])
{
    const tali_assembler_quadratic *at = &it->at;
    const int n = at->n;
    const size_t next = (size_t)n + 1; // from one diagonal entry to the next
    const double stiffest = find_stiffest(it);
    const tal_matrix A = tal_matrix_view(it->A, n, n);
    memcpy(it->A, at->H, (size_t)n * (size_t)n * sizeof *it->A);
    for (int i = 0; i < n; ++i) {
        it->A[(size_t)i * next] += lambda * damping(it, i, stiffest);
        x[i] = -at->g[i];
    }
    if (tal_tree_factor_LTL(it->parents, A, NULL) != TAL_OK) return false;
    double least = it->A[0], most = it->A[0];
    for (int i = 1; i < n; ++i) {
        least = fmin(least, it->A[(size_t)i * next]);
        most = fmax(most, it->A[(size_t)i * next]);
    }
    // no condition number is below the square of this ratio; leave four digits, as above
    if (!(least * least > FOUR_DIGITS * most * most)) return false;
    return tal_tree_solve_LTL(it->parents, A, tal_matrix_view(x, n, 1)) == TAL_OK;
}

tal_status tali_assembler_solve(tal_assembler *it, double lambda, double x[])
{
    const int nf = list_free(it);
    if (it->at.is_tree && it->at.m == 0 && nf == it->at.n && nf > 0) {
        if (solve_as_tree(it, lambda, x)) return TAL_OK;
    }
    memcpy(x, it->at.known, (size_t)it->at.n * sizeof *x);
    if (nf == 0) return TAL_OK;
    reduce_goal(it, nf, lambda);
    tal_status st;
    double *y = it->rhs;
    if (it->at.m > 0) {
        y = it->dq; // as long as q, which has no fewer numbers than u
        st = solve_with_equations(it, nf, y);
    } else {
        const double floor = least_curvature(it, nf, 1.0);
        st = solve_semidefinite(it, it->A, nf, floor, y);
    }
    for (int a = 0; a < nf && st == TAL_OK; ++a) {
        x[it->free_list[a]] = y[a];
    }
    return st;
}

// --- ranges ---

// d q_i / dt = row . u of the body.
static tal_status row_of_N(tal_assembler *it, tal_state *state, const tali_assembler_bound *bound,
                           double row[])
{
    double unit[TAL_MAX_NQ] = {0.0};
    unit[bound->i] = 1.0;
    const tal_status st = tal_body_mul_N(it->matter, state, bound->body, TAL_N_T, unit, row);
    return tali_assembler_pass_on(it, state, st);
}

// Where a step would take a coordinate.
static double predicted(const tal_assembler *it, const tali_assembler_bound *bound,
                        const double row[], const double x[])
{
    const int u0 = tal_body_u_start(it->matter, bound->body);
    double q = it->q_base[bound->slot];
    for (int j = 0; j < tal_body_nu(it->matter, bound->body); ++j) {
        q += row[j] * x[u0 + j];
    }
    return q;
}

// The one speed that a coordinate goes with; -1 when there are several.
static int only_speed(const tal_assembler *it, const tali_assembler_bound *bound,
                      const double row[])
{
    const int u0 = tal_body_u_start(it->matter, bound->body);
    int found = -1;
    for (int j = 0; j < tal_body_nu(it->matter, bound->body); ++j) {
        if (row[j] == 0.0) continue;
        if (found >= 0) return -1;
        found = u0 + j;
    }
    return found;
}

// The step ends with the coordinate at the end of its range: its speed is known, or one more
// equation.
static tal_status hold_at_end(tal_assembler *it, tal_state *state, int b)
{
    tali_assembler_quadratic *at = &it->at;
    const tali_assembler_bound *bound = &it->bounds[b];
    double row[TAL_MAX_NQ];
    const tal_status st = row_of_N(it, state, bound, row);
    const int u0 = tal_body_u_start(it->matter, bound->body);
    const double wanted = it->active[b] < 0 ? bound->low : bound->high;
    const double way = wanted - it->q_base[bound->slot];
    const int speed = only_speed(it, bound, row);
    if (speed >= 0) {
        at->is_free[speed] = false;
        at->known[speed] = way / row[speed - u0];
        return st;
    }
    for (int j = 0; j < at->n; ++j) {
        column(at->C, at->ld, j)[at->m] = 0.0;
    }
    for (int j = 0; j < tal_body_nu(it->matter, bound->body); ++j) {
        column(at->C, at->ld, u0 + j)[at->m] = row[j];
    }
    at->c[at->m++] = -way;
    return st;
}

// No range holds: m equations, and the speeds as they were.
static void hold_none(tal_assembler *it, int m)
{
    tali_assembler_quadratic *at = &it->at;
    at->m = m;
    memcpy(at->is_free, it->was_free, (size_t)at->n * sizeof *at->is_free);
    memset(at->known, 0, (size_t)at->n * sizeof *at->known);
}

// The ranges that are active hold with equality, and the rest is solved for.
static tal_status solve_active(tal_assembler *it, tal_state *state, double lambda, int m,
                               double x[])
{
    hold_none(it, m);
    tal_status st = TAL_OK;
    for (int b = 0; b < it->num_bounds && st == TAL_OK; ++b) {
        if (it->active[b] != 0) st = hold_at_end(it, state, b);
    }
    return st == TAL_OK ? tali_assembler_solve(it, lambda, x) : st;
}

// Ranges that a step would leave become active; returns how many. Less than round-off is clipped
// afterwards.
static tal_status activate(tal_assembler *it, tal_state *state, const double x[], int *count)
{
    *count = 0;
    for (int b = 0; b < it->num_bounds; ++b) {
        const tali_assembler_bound *bound = &it->bounds[b];
        if (it->active[b] != 0) continue;
        double row[TAL_MAX_NQ];
        const tal_status st = row_of_N(it, state, bound, row);
        if (st != TAL_OK) return st;
        const double q = predicted(it, bound, row, x), slack = 1e-13 * fmax(1.0, fabs(q));
        if (q >= bound->low - slack && q <= bound->high + slack) continue;
        it->active[b] = q < bound->low ? -1 : 1;
        ++*count;
    }
    return TAL_OK;
}

// What active ranges push with: nu of the stationary point
//
//     (H + lambda D) x + g + C^T mu + A^T nu = 0
//
// over the speeds that are free, by least squares; A has a row for each active range. nu, in the
// order of the ranges, follows mu in `part`.
static tal_status find_pushes(tal_assembler *it, tal_state *state, double lambda, int m,
                              const double x[])
{
    hold_none(it, m);
    const tali_assembler_quadratic *at = &it->at;
    const int nf = list_free(it);
    const double stiffest = find_stiffest(it);
    double *G = it->P; // the equations as they are, unweighted, are done with; nf x (m + active)
    int cols = m;
    multiply(at->H, at->n, x, it->dq);
    for (int a = 0; a < nf; ++a) {
        const int i = it->free_list[a];
        const double held = lambda * damping(it, i, stiffest) * x[i];
        it->rhs[a] = -(it->dq[i] + held + at->g[i]);
        for (int r = 0; r < m; ++r) {
            G[(size_t)r * (size_t)nf + (size_t)a] = at->C[(size_t)i * (size_t)at->ld + (size_t)r];
        }
    }
    for (int b = 0; b < it->num_bounds; ++b) {
        if (it->active[b] == 0) continue;
        double row[TAL_MAX_NQ];
        const tal_status st = row_of_N(it, state, &it->bounds[b], row);
        if (st != TAL_OK) return st;
        const int u0 = tal_body_u_start(it->matter, it->bounds[b].body);
        const int end = u0 + tal_body_nu(it->matter, it->bounds[b].body);
        for (int a = 0; a < nf; ++a) {
            const int i = it->free_list[a];
            G[(size_t)cols * (size_t)nf + (size_t)a] = i >= u0 && i < end ? row[i - u0] : 0.0;
        }
        ++cols;
    }
    tal_cod cod;
    const tal_status st =
        tal_cod_factor(&cod, tal_matrix_view(G, nf, cols), TALI_ASSEMBLER_DEPENDENT, it->work,
                       it->iwork, &it->error_record);
    if (st != TAL_OK) return st;
    return tal_cod_solve(&cod, tal_matrix_view(it->rhs, nf, 1), tal_matrix_view(it->part, cols, 1),
                         &it->error_record);
}

static bool any_active(const tal_assembler *it)
{
    bool any = false;
    for (int b = 0; b < it->num_bounds; ++b) {
        any = any || it->active[b] != 0;
    }
    return any;
}

// Releases the range that pulls hardest, since a range can only push. Returns how many, 0 or 1.
static tal_status release(tal_assembler *it, tal_state *state, double lambda, int m,
                          const double x[], int *count)
{
    *count = 0;
    if (!any_active(it)) return TAL_OK;
    const tal_status st = find_pushes(it, state, lambda, m, x);
    if (st != TAL_OK) return st;
    double hardest = 0.0, largest = 0.0;
    int which = -1, at = m;
    for (int b = 0; b < it->num_bounds; ++b) {
        if (it->active[b] == 0) continue;
        const double pull = -it->active[b] * it->part[at++];
        largest = fmax(largest, fabs(pull));
        if (pull <= hardest) continue;
        hardest = pull;
        which = b;
    }
    if (which < 0 || hardest <= NO_PULL * largest) return TAL_OK;
    it->active[which] = 0;
    *count = 1;
    return TAL_OK;
}

// The ranges to begin with: none. A whole H need not be convex across ranges that the goals lean
// on, so these hold from the first: at their end, and pushed out by the slopes.
static tal_status lean_on_ranges(tal_assembler *it, tal_state *state)
{
    memset(it->active, 0, (size_t)it->max_nq);
    tali_assembler_get_q(it, state, it->q_base);
    for (int b = 0; b < it->num_bounds && it->at.is_whole; ++b) {
        const tali_assembler_bound *bound = &it->bounds[b];
        const int u0 = tal_body_u_start(it->matter, bound->body);
        const double q = it->q_base[bound->slot];
        double row[TAL_MAX_NQ], out = 0.0;
        const tal_status st = row_of_N(it, state, bound, row);
        if (st != TAL_OK) return st;
        for (int j = 0; j < tal_body_nu(it->matter, bound->body); ++j) {
            out -= row[j] * it->at.g[u0 + j];
        }
        if (q <= bound->low && out < 0.0) it->active[b] = -1;
        if (q >= bound->high && out > 0.0) it->active[b] = 1;
    }
    return TAL_OK;
}

// An active set: ranges that a step would leave hold with equality, and those that would have to
// pull are let go. The goal is convex, so few turns are needed; a step that is out of them is
// clipped.
tal_status tali_assembler_solve_bounded(tal_assembler *it, tal_state *state, double lambda,
                                        double x[])
{
    tali_assembler_quadratic *at = &it->at;
    const int m = at->m;
    if (it->num_bounds == 0) return tali_assembler_solve(it, lambda, x);

    memcpy(it->was_free, at->is_free, (size_t)at->n * sizeof *it->was_free);
    tal_status st = lean_on_ranges(it, state);
    if (st == TAL_OK) st = solve_active(it, state, lambda, m, x);
    for (int turn = 0; turn < 4 * it->num_bounds + 4 && st == TAL_OK; ++turn) {
        int count = 0;
        st = activate(it, state, x, &count);
        if (st == TAL_OK && count == 0) st = release(it, state, lambda, m, x, &count);
        if (st != TAL_OK || count == 0) break;
        st = solve_active(it, state, lambda, m, x);
    }
    hold_none(it, m);
    return st;
}

tal_status tali_assembler_find_forces(tal_assembler *it, tal_state *state)
{
    memset(it->full, 0, (size_t)it->nu * sizeof *it->full);
    memcpy(it->was_free, it->at.is_free, (size_t)it->at.n * sizeof *it->was_free);
    it->at.is_whole = true;
    tal_status st = lean_on_ranges(it, state);
    if (st == TAL_OK) st = find_pushes(it, state, 0.0, it->at.m, it->full);
    if (st == TAL_OK) memcpy(it->mu, it->part, (size_t)it->at.m * sizeof *it->mu);
    return st;
}

// --- moving ---

void tali_assembler_get_q(const tal_assembler *it, const tal_state *state, double q[])
{
    const int start = tal_group_start(it->system, state, it->q_group);
    const int nq = tal_group_size(it->system, state, it->q_group);
    memcpy(q, tal_state_q(state) + start, (size_t)nq * sizeof *q);
}

tal_status tali_assembler_put_q(tal_assembler *it, tal_state *state, const double q[])
{
    const int start = tal_group_start(it->system, state, it->q_group);
    const int nq = tal_group_size(it->system, state, it->q_group);
    memcpy(tal_state_upd_q(state) + start, q, (size_t)nq * sizeof *q);
    return tali_assembler_pass_on(it, state,
                                  tal_system_realize(it->system, state, TAL_STAGE_POSITION));
}

// Whether anything had to be put back.
static bool clip(const tal_assembler *it, double q[])
{
    bool any = false;
    for (int b = 0; b < it->num_bounds; ++b) {
        const tali_assembler_bound *bound = &it->bounds[b];
        const double clipped = fmin(fmax(q[bound->slot], bound->low), bound->high);
        any = any || clipped != q[bound->slot];
        q[bound->slot] = clipped;
    }
    return any;
}

tal_status tali_assembler_keep_ranges(tal_assembler *it, tal_state *state)
{
    tali_assembler_get_q(it, state, it->q_base);
    return clip(it, it->q_base) ? tali_assembler_put_q(it, state, it->q_base) : TAL_OK;
}

tal_status tali_assembler_move(tal_assembler *it, tal_state *state, const double x[])
{
    const int nq = tal_group_size(it->system, state, it->q_group);
    tal_status st = tal_matter_mul_N(it->matter, state, TAL_N, x, it->dq);
    if (st != TAL_OK) return tali_assembler_pass_on(it, state, st);
    tali_assembler_get_q(it, state, it->q_base);
    for (int i = 0; i < nq; ++i) {
        it->dq[i] += it->q_base[i];
    }
    (void)clip(it, it->dq);
    const int start = tal_group_start(it->system, state, it->q_group);
    memcpy(tal_state_upd_q(state) + start, it->dq, (size_t)nq * sizeof(double));
    st = tal_matter_normalize_quaternions(it->matter, state);
    if (st == TAL_OK) st = tal_system_realize(it->system, state, TAL_STAGE_POSITION);
    return tali_assembler_pass_on(it, state, st);
}

double tali_assembler_step_size(const tal_assembler *it, const double x[])
{
    double sum = 0.0;
    for (int i = 0; i < it->nu; ++i) {
        sum += it->W_u[i] * x[i] * it->W_u[i] * x[i];
    }
    return it->nu > 0 ? sqrt(sum / it->nu) : 0.0;
}
