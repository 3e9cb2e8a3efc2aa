// Coordinate projection: the smallest change of q, or u, that meets the constraints.
//
//   quantity                                   manual            here
//   weighted errors                            T_p e, T_pv e     residual
//   T_p P W_u^-1 N^+                           eq. 10.8          A, in project_q
//   [t_c T_p P; T_v V] W_u^-1                  eq. 10.9          A, in project_u
//   change in the error norm                   dq_ELS, du_ELS    x = A^+ residual
//   E_q = N W_u N^+, E_q^+ = N W_u^-1 N^+      eq. 10.10         weigh, unweigh
//
// (The first: P_q E_q^+ = P N^+ N W_u^-1 N^+ = P W_u^-1 N^+, since N^+ N = 1.) Blocks of
// constraints that share no mobility are treated one after the other.
#include "constraint_internal.h"
#include "sweeps_internal.h"

#include <talus/common/linalg.h>
#include <talus/state/realize.h>

#include <float.h>
#include <math.h>

/// One projection under way. Arrays are scratch of the State.
typedef struct projection {
    const tal_matter *matter;
    tal_state *state;
    const tal_project_options *options;
    bool velocities; ///< of u onto uerr, not of q onto qerr
    tali_row_map map;
    tali_model model;
    int num_rows;       ///< errors
    int num_values;     ///< q or u of matter
    const double *W_u;  ///< [num_u]
    double *T;          ///< [num_rows]
    double *start;      ///< [num_values] as on entry
    double *from;       ///< [num_values] as at the start of an iteration
    double *change;     ///< [num_values]
    int32_t *column;    ///< [num_bodies] first column of a body in its block; -1: none yet
    int32_t *bodies;    ///< [num_bodies] the bodies of the block that have columns
    double *A;          ///< [rows x columns] of one block
    double *x;          ///< [max(rows, columns)]
    double *g;          ///< [path_nu]
    tal_spatial_vec *F; ///< [path_len]
    double *work;
    int *iwork;
} projection;

// --- the norm of the errors ---

static const double *errors_of(const projection *p)
{
    const tal_system *system = p->matter->system;
    const tali_constraints *cs = &p->matter->constraints;
    return p->velocities ? tal_state_uerr(p->state) + tal_group_start(system, p->state, cs->uerr)
                         : tal_state_qerr(p->state) + tal_group_start(system, p->state, cs->qerr);
}

// Root mean square, or the largest; NaN when one is.
static double norm_of(const double e[], const double weight[], int n, bool infinity_norm)
{
    double sum = 0.0, largest = 0.0;
    for (int i = 0; i < n; ++i) {
        const double value = fabs(weight != NULL ? weight[i] * e[i] : e[i]);
        sum += value * value;
        if (!(value <= largest)) largest = value;
        if (isnan(value)) return value;
    }
    return infinity_norm || n == 0 ? largest : sqrt(sum / (double)n);
}

static double error_norm(const projection *p, bool infinity_norm)
{
    return norm_of(errors_of(p), p->T, p->num_rows, infinity_norm);
}

// T_p, or t_c T_p and T_v (manual eq. 9.4).
static void write_tolerances(const projection *p)
{
    const tal_system *system = p->matter->system;
    const tali_constraints *cs = &p->matter->constraints;
    const double *T_p =
        tal_state_weights(p->state, TAL_POOL_QERR) + tal_group_start(system, p->state, cs->qerr);
    const double *T_v =
        tal_state_weights(p->state, TAL_POOL_UERR) + tal_group_start(system, p->state, cs->uerr);
    const double t_c = tal_system_time_scale(system);
    for (int i = 0; i < p->num_rows; ++i) {
        p->T[i] = !p->velocities ? T_p[i] : i < p->map.mp ? t_c * T_p[i] : T_v[i];
    }
}

// --- the error norm, body by body ---

static const double *q_of(const projection *p)
{
    return tal_state_q(p->state) + tal_group_start(p->matter->system, p->state, p->matter->q);
}

static tal_status mul_N(const projection *p, int b, tal_n_op op, const double in[], double out[])
{
    const tali_body *body = &p->matter->bodies[b];
    const tal_mobilizer_arg arg = tali_mobilizer_arg_of(p->matter, p->state, b, q_of(p), NULL);
    const tal_status st = tali_mobilizer_mul_N(&body->ops, body->self, &arg, op, in, out);
    if (st == TAL_OK) return st;
    return tal_state_fail(p->state, st, "body '%s': its %s cannot relate qdot and u (%s)",
                          body->name, body->ops.name, tal_status_text(st));
}

static int width_of(const projection *p, int b)
{
    return p->velocities ? p->matter->tree.nu[b] : p->model.nq[b];
}

static int first_of(const projection *p, int b)
{
    return p->velocities ? p->matter->tree.u0[b] : p->model.q0[b];
}

// s -> W_u s, or W_u^-1 s, of one body.
static void scale_by_weights(const projection *p, int b, bool invert, double s[])
{
    const int u0 = p->matter->tree.u0[b];
    for (int j = 0; j < p->matter->tree.nu[b]; ++j) {
        s[j] = invert ? s[j] / p->W_u[u0 + j] : s[j] * p->W_u[u0 + j];
    }
}

// E x, or E^+ x: E_q = N W_u N^+ (manual eq. 10.10), E_u = W_u. `x` and `out` may be the same.
static tal_status apply_E(const projection *p, int b, bool invert, const double x[], double out[])
{
    double s[TAL_MAX_NU] = {0.0};
    tal_status st = TAL_OK;
    if (p->velocities) {
        memcpy(s, x, (size_t)p->matter->tree.nu[b] * sizeof *s);
    } else {
        st = mul_N(p, b, TAL_NPLUS, x, s);
    }
    scale_by_weights(p, b, invert, s);
    if (st != TAL_OK) return st;
    if (!p->velocities) return mul_N(p, b, TAL_N, s, out);
    memcpy(out, s, (size_t)p->matter->tree.nu[b] * sizeof *s);
    return TAL_OK;
}

// --- the matrix of one block ---

/// How much of a block takes part.
typedef struct extent {
    int begin, end; ///< of its constraints, in by_block
    int rows, columns, num_bodies;
} extent;

// What constraint `i` contributes at this level: P, or P and V.
static int rows_here(const projection *p, int i)
{
    const tal_constraint_ops *ops = &p->matter->constraints.list[i].ops;
    if (p->map.row0[i] < 0) return 0;
    return p->velocities ? ops->mp + ops->mv : ops->mp;
}

// Gives the bodies of a block their columns. A body with mobilities belongs to one block only, so
// `column` need not be cleared between blocks.
static extent measure_block(const projection *p, int block)
{
    const tali_constraints *cs = &p->matter->constraints;
    extent at = {.begin = cs->block_begin[block], .end = cs->block_begin[block + 1]};
    for (int n = at.begin; n < at.end; ++n) {
        const int i = cs->by_block[n];
        const tali_constraint *c = &cs->list[i];
        const int rows = rows_here(p, i);
        at.rows += rows;
        for (int k = 0; k < c->path_len && rows > 0; ++k) {
            const int b = cs->path[c->path0 + k].body;
            if (p->column[b] >= 0 || p->matter->tree.nu[b] == 0) continue;
            p->column[b] = at.columns;
            p->bodies[at.num_bodies++] = b;
            at.columns += width_of(p, b);
        }
    }
    return at;
}

// One body's part of one row: T g W_u^-1 N^+. Columns of prescribed mobilities stay zero, so the
// least change leaves them alone.
static tal_status put_columns(const projection *p, const tali_view *view, int b, const double g[],
                              double T, double to[], int stride)
{
    double w[TAL_MAX_NU] = {0.0}, wide[TAL_MAX_NQ] = {0.0};
    const int u0 = p->matter->tree.u0[b];
    for (int j = 0; j < p->matter->tree.nu[b]; ++j) {
        if (tali_mobility_is_free(view, u0 + j, p->velocities)) w[j] = T * g[j];
    }
    scale_by_weights(p, b, true, w);
    const tal_status st = p->velocities ? TAL_OK : mul_N(p, b, TAL_NPLUS_T, w, wide);
    const double *from = p->velocities ? w : wide;
    for (int j = 0; j < width_of(p, b); ++j) {
        to[(size_t)j * (size_t)stride] = from[j];
    }
    return st;
}

static tal_status fill_matrix(const projection *p, const tali_view *view, const double *wrenches,
                              const extent *at)
{
    const tali_constraints *cs = &p->matter->constraints;
    memset(p->A, 0, (size_t)at->rows * (size_t)at->columns * sizeof *p->A);
    tal_status st = TAL_OK;
    for (int n = at->begin, row = 0; n < at->end; ++n) {
        const int i = cs->by_block[n];
        const tali_constraint *c = &cs->list[i];
        for (int r = 0; r < rows_here(p, i); ++r, ++row) {
            const double T = p->T[tali_row_slot(&p->map, c, i, r)];
            tali_constraint_row(p->matter, view, c, tali_wrenches_in(c, wrenches), r, p->F, p->g);
            for (int k = 0; k < c->path_len && st == TAL_OK; ++k) {
                const tali_path_entry entry = cs->path[c->path0 + k];
                if (p->matter->tree.nu[entry.body] == 0) continue;
                double *to = p->A + row + (size_t)p->column[entry.body] * (size_t)at->rows;
                st = put_columns(p, view, entry.body, p->g + entry.e0, T, to, at->rows);
            }
        }
    }
    return st;
}

// --- right-hand sides ---

// T e of the block's rows.
static void gather_errors(const projection *p, const extent *at, double x[])
{
    const tali_constraints *cs = &p->matter->constraints;
    const double *errors = errors_of(p);
    for (int n = at->begin, row = 0; n < at->end; ++n) {
        const int i = cs->by_block[n];
        for (int r = 0; r < rows_here(p, i); ++r, ++row) {
            const int slot = tali_row_slot(&p->map, &cs->list[i], i, r);
            x[row] = p->T[slot] * errors[slot];
        }
    }
}

// A E values: what the rows see of the values, one per coordinate (or speed) of all bodies.
static tal_status see_values(const projection *p, const extent *at, const double values[],
                             double x[])
{
    for (int row = 0; row < at->rows; ++row) {
        x[row] = 0.0;
    }
    for (int k = 0; k < at->num_bodies; ++k) {
        const int b = p->bodies[k];
        double weighted[TAL_MAX_NQ];
        const tal_status st = apply_E(p, b, false, values + first_of(p, b), weighted);
        if (st != TAL_OK) return st;
        for (int j = 0; j < width_of(p, b); ++j) {
            const double *column = p->A + (size_t)(p->column[b] + j) * (size_t)at->rows;
            for (int row = 0; row < at->rows; ++row) {
                x[row] += column[row] * weighted[j];
            }
        }
    }
    return TAL_OK;
}

// --- solving ---

// Rows are kept apart as long as they differ by more than this. Less, and to correct an error along
// the difference would take a change 1 / sqrt(eps) times as large as the error: too far for a matrix
// that is the linear part of curved constraints.
static double rank_tolerance(int rows)
{
    const double tolerance = (double)rows * sqrt(DBL_EPSILON);
    return tolerance < 0.1 ? tolerance : 0.1;
}

// x = A^+ x
static tal_status solve_block(const projection *p, const extent *at)
{
    const int ld = at->rows > at->columns ? at->rows : at->columns;
    tal_cod cod;
    tal_error why = {TAL_OK, "", ""};
    tal_status st = tal_cod_factor(&cod, tal_matrix_view(p->A, at->rows, at->columns),
                                   rank_tolerance(at->rows), p->work, p->iwork, &why);
    const tal_matrix B = {p->x, at->rows, 1, ld};
    const tal_matrix X = {p->x, at->columns, 1, ld};
    if (st == TAL_OK) st = tal_cod_solve(&cod, B, X, &why);
    return st == TAL_OK ? st : tal_state_fail(p->state, st, "projection: %s", why.message);
}

// change = E^+ A^+ (T e), or, given values, E^+ A^+ A E values: manual eq. 10.5 and 10.7, 10.12 and
// 10.14. Zero for bodies that no constraint reaches.
static tal_status calc_change(const projection *p, const double values[])
{
    const tali_constraints *cs = &p->matter->constraints;
    tali_view view;
    const double *wrenches = tal_cache_realize(p->matter->system, p->state, cs->wrenches);
    if (wrenches == NULL || !tali_view_at(p->matter, p->state, TALI_POSITION, &view)) {
        return tal_state_error(p->state)->status;
    }
    memset(p->change, 0, (size_t)p->num_values * sizeof *p->change);
    for (int b = 0; b < p->matter->num_bodies; ++b) {
        p->column[b] = -1;
    }
    for (int block = 0; block < cs->num_blocks; ++block) {
        const extent at = measure_block(p, block);
        if (at.rows == 0 || at.columns == 0) continue;
        tal_status st = fill_matrix(p, &view, wrenches, &at);
        if (st == TAL_OK && values == NULL) gather_errors(p, &at, p->x);
        if (st == TAL_OK && values != NULL) st = see_values(p, &at, values, p->x);
        if (st == TAL_OK) st = solve_block(p, &at);
        for (int k = 0; k < at.num_bodies && st == TAL_OK; ++k) {
            const int b = p->bodies[k];
            st = apply_E(p, b, true, p->x + p->column[b], p->change + first_of(p, b));
        }
        if (st != TAL_OK) return st;
    }
    return TAL_OK;
}

// --- Newton's method ---

static double *upd_values(const projection *p)
{
    const tal_system *system = p->matter->system;
    return p->velocities
               ? tal_state_upd_u(p->state) + tal_group_start(system, p->state, p->matter->u)
               : tal_state_upd_q(p->state) + tal_group_start(system, p->state, p->matter->q);
}

static void read_values(const projection *p, double values[])
{
    const tal_system *system = p->matter->system;
    const double *from =
        p->velocities ? tal_state_u(p->state) + tal_group_start(system, p->state, p->matter->u)
                      : tal_state_q(p->state) + tal_group_start(system, p->state, p->matter->q);
    memcpy(values, from, (size_t)p->num_values * sizeof *values);
}

static tal_status realize(const projection *p)
{
    return tal_system_realize(p->matter->system, p->state,
                              p->velocities ? TAL_STAGE_VELOCITY : TAL_STAGE_POSITION);
}

static tal_status restore(const projection *p)
{
    memcpy(upd_values(p), p->start, (size_t)p->num_values * sizeof *p->start);
    return realize(p);
}

// values = from - fraction change. Returns the RMS norm there; infinite where it cannot be computed.
static double try_fraction(const projection *p, double fraction)
{
    double *values = upd_values(p);
    for (int i = 0; i < p->num_values; ++i) {
        values[i] = p->from[i] - fraction * p->change[i];
    }
    const double norm = realize(p) == TAL_OK ? error_norm(p, false) : HUGE_VAL;
    return isfinite(norm) ? norm : HUGE_VAL;
}

// One Newton step, shortened until the errors shrink. The change points downhill in the RMS norm,
// whichever norm is asked for. False when no fraction helps.
static bool step(const projection *p, double *norm)
{
    static const double least_fraction = 1.0 / 4096.0;
    read_values(p, p->from);
    for (double fraction = 1.0; fraction >= least_fraction; fraction *= 0.5) {
        const double trial = try_fraction(p, fraction);
        if (trial < *norm) {
            *norm = trial;
            return true;
        }
    }
    memcpy(upd_values(p), p->from, (size_t)p->num_values * sizeof *p->from);
    return false;
}

// Names the row with the largest weighted error.
static tal_status tell_worst(const projection *p, int iterations)
{
    const tali_constraints *cs = &p->matter->constraints;
    const double *errors = errors_of(p);
    int worst = 0, worst_slot = 0;
    double largest = -1.0;
    for (int i = 0; i < cs->count; ++i) {
        for (int r = 0; r < rows_here(p, i); ++r) {
            const int slot = tali_row_slot(&p->map, &cs->list[i], i, r);
            const double error = fabs(p->T[slot] * errors[slot]);
            if (error <= largest) continue;
            largest = error, worst = i, worst_slot = slot;
        }
    }
    return tal_state_fail(p->state, TAL_ERR_NO_CONVERGENCE,
                          "%s does not meet the constraints after %d iterations: '%s' is still off "
                          "by %g (weighted %g, wanted %g)",
                          p->velocities ? "u" : "q", iterations, cs->list[worst].name,
                          errors[worst_slot], largest, p->options->tolerance);
}

// Puts everything back as it was and keeps the sentence, which realizing would clear.
static tal_status give_up(const projection *p, tal_status st, tal_project_result *result)
{
    const tal_error why = *tal_state_error(p->state);
    result->changed = false;
    result->norm_after = result->norm_before;
    const tal_status back = restore(p);
    return back == TAL_OK ? tal_state_fail(p->state, st, "%s", why.message) : back;
}

// Iterates until the tolerance is met. What was met on entry can only get better.
static tal_status iterate(const projection *p, tal_project_result *result)
{
    const tal_project_options *options = p->options;
    double rms = error_norm(p, false);
    double norm = result->norm_before;
    const bool was_met = norm <= options->tolerance;
    const int most = was_met && options->max_iterations > 1 ? 1 : options->max_iterations;
    while (result->iterations < most && (was_met || !(norm <= options->tolerance))) {
        ++result->iterations;
        tal_status st = calc_change(p, NULL);
        const bool moved = st == TAL_OK && step(p, &rms);
        if (st == TAL_OK) st = realize(p);
        if (st != TAL_OK) return give_up(p, st, result);
        norm = error_norm(p, options->infinity_norm);
        result->changed = result->changed || moved;
        if (!moved) break;
    }
    result->norm_after = norm;
    if (was_met && norm > result->norm_before) { // smaller in the RMS norm, but that was not asked
        result->changed = false;
        result->norm_after = result->norm_before;
        return restore(p);
    }
    if (norm <= options->tolerance) return TAL_OK;
    return give_up(p, tell_worst(p, result->iterations), result);
}

// --- both levels ---

static size_t doubles(size_t n)
{
    return tali_align((n + 1) * sizeof(double));
}

static size_t largest_matrix(const tali_constraints *cs)
{
    return (size_t)cs->max_block_rows * (size_t)cs->max_block_q;
}

size_t tali_projection_scratch(const tal_matter *matter)
{
    const tali_constraints *cs = &matter->constraints;
    const int m = cs->max_block_rows, n = cs->max_block_q;
    const size_t bodies = tali_align((size_t)matter->num_bodies * sizeof(int32_t));
    return doubles((size_t)(cs->mp + cs->mv)) + 3 * doubles((size_t)matter->tree.max_nq) +
           2 * bodies + doubles(largest_matrix(cs)) + doubles((size_t)m + (size_t)n) +
           doubles((size_t)matter->tree.num_u) +
           tali_align((size_t)cs->max_path_len * sizeof(tal_spatial_vec) + 1) +
           doubles(tal_cod_work_size(m, n)) +
           tali_align(tal_cod_iwork_size(m, n) * sizeof(int) + 1);
}

// Takes the memory. False, with nothing usable, when there is too little.
static bool take_room(projection *p)
{
    const tal_matter *matter = p->matter;
    const tali_constraints *cs = &matter->constraints;
    const int m = cs->max_block_rows, n = cs->max_block_q;
    const size_t values = doubles((size_t)matter->tree.max_nq);
    const size_t bodies = (size_t)matter->num_bodies * sizeof(int32_t);
    p->T = tal_state_scratch_take(p->state, doubles((size_t)(cs->mp + cs->mv)));
    p->start = tal_state_scratch_take(p->state, values);
    p->from = tal_state_scratch_take(p->state, values);
    p->change = tal_state_scratch_take(p->state, values);
    p->column = tal_state_scratch_take(p->state, bodies);
    p->bodies = tal_state_scratch_take(p->state, bodies);
    p->A = tal_state_scratch_take(p->state, doubles(largest_matrix(cs)));
    p->x = tal_state_scratch_take(p->state, doubles((size_t)m + (size_t)n));
    p->g = tal_state_scratch_take(p->state, doubles((size_t)matter->tree.num_u));
    p->F = tal_state_scratch_take(p->state, (size_t)cs->max_path_len * sizeof *p->F + 1);
    p->work = tal_state_scratch_take(p->state, doubles(tal_cod_work_size(m, n)));
    p->iwork = tal_state_scratch_take(p->state, tal_cod_iwork_size(m, n) * sizeof *p->iwork + 1);
    return p->T != NULL && p->start != NULL && p->from != NULL && p->change != NULL &&
           p->column != NULL && p->bodies != NULL && p->A != NULL && p->x != NULL && p->g != NULL &&
           p->F != NULL && p->work != NULL && p->iwork != NULL;
}

// Newton if need be, then the error estimate: e - E^+ A^+ A E e with the final matrices.
static tal_status run(projection *p, double error[], tal_project_result *result)
{
    write_tolerances(p);
    read_values(p, p->start);
    result->norm_before = result->norm_after = error_norm(p, p->options->infinity_norm);
    tal_status st = TAL_OK;
    if (p->options->even_if_met || !(result->norm_before <= p->options->tolerance)) {
        st = iterate(p, result);
    }
    if (st != TAL_OK || error == NULL) return st;
    st = calc_change(p, error);
    for (int i = 0; i < p->num_values && st == TAL_OK; ++i) {
        error[i] -= p->change[i];
    }
    return st;
}

static tal_status project_constraints(const tal_matter *matter, tal_state *state, bool velocities,
                                      const tal_project_options *options, double error[],
                                      tal_project_result *result)
{
    if (matter->constraints.count == 0) return TAL_OK;
    const tal_system *system = matter->system;
    projection p = {.matter = matter,
                    .state = state,
                    .options = options,
                    .velocities = velocities,
                    .map = tali_row_map_of(matter, state),
                    .model = tali_model_of(matter, state)};
    p.num_rows = velocities ? p.map.mp + p.map.mv : p.map.mp;
    p.num_values = tal_group_size(system, state, velocities ? matter->u : matter->q);
    p.W_u = tal_state_weights(state, TAL_POOL_U) + tal_group_start(system, state, matter->u);
    if (p.num_rows == 0) return TAL_OK;
    const size_t mark = tal_state_scratch_mark(state);
    const tal_status st = take_room(&p) ? run(&p, error, result) : TAL_ERR_CAPACITY;
    tal_state_scratch_release(state, mark);
    return st;
}

// --- quaternions ---

// e - (e . n) n: an error along a quaternion has no effect (manual eq. 10.13).
static void project_quaternion_errors(const tal_matter *matter, const tal_state *state,
                                      double q_error[])
{
    const tali_model model = tali_model_of(matter, state);
    const double *q = tal_state_q(state) + tal_group_start(matter->system, state, matter->q);
    for (int b = 1; b < matter->num_bodies; ++b) {
        if (!matter->bodies[b].ops.has_quaternion || model.use_angles[b]) continue;
        const double *n = q + model.q0[b];
        double *e = q_error + model.q0[b];
        const double square = n[0] * n[0] + n[1] * n[1] + n[2] * n[2] + n[3] * n[3];
        const double along = (e[0] * n[0] + e[1] * n[1] + e[2] * n[2] + e[3] * n[3]) / square;
        for (int i = 0; i < 4; ++i) {
            e[i] -= along * n[i];
        }
    }
}

// Quaternion lengths (manual eq. 10.6) do not matter to anything else, so they are set right last.
// Prescribed and locked ones stay.
static bool normalize_free_quaternions(const tal_matter *matter, tal_state *state,
                                       const tali_view *view)
{
    const tali_model model = tali_model_of(matter, state);
    const int start = tal_group_start(matter->system, state, matter->q);
    bool changed = false;
    for (int b = 1; b < matter->num_bodies; ++b) {
        if (!matter->bodies[b].ops.has_quaternion || model.use_angles[b]) continue;
        if (!tali_mobility_is_free(view, matter->tree.u0[b], false)) continue;
        const double *e = tal_state_q(state) + start + model.q0[b];
        const tal_quat unit = tal_qt_normalize(tal_qt(e[0], e[1], e[2], e[3]));
        if (unit.w == e[0] && unit.x == e[1] && unit.y == e[2] && unit.z == e[3]) continue;
        double *q = tal_state_upd_q(state) + start + model.q0[b];
        q[0] = unit.w, q[1] = unit.x, q[2] = unit.y, q[3] = unit.z;
        changed = true;
    }
    return changed;
}

// Lengths that are right already are left alone, unless q has moved anyway.
static tal_status project_quaternions(const tal_matter *matter, tal_state *state,
                                      const tal_project_options *options,
                                      tal_project_result *result)
{
    const tal_system *system = matter->system;
    const int n = tal_group_size(system, state, matter->quaternion_errors);
    const int start = tal_group_start(system, state, matter->quaternion_errors);
    if (n == 0) return TAL_OK;
    const double before = norm_of(tal_state_qerr(state) + start, NULL, n, options->infinity_norm);
    if (before > result->norm_before) result->norm_before = before;
    double after = before;
    if (!(before <= options->tolerance) || options->even_if_met || result->changed) {
        tali_view view;
        if (!tali_view_at(matter, state, TALI_CONSTANTS, &view)) {
            return tal_state_error(state)->status;
        }
        if (normalize_free_quaternions(matter, state, &view)) result->changed = true;
        const tal_status st = tal_system_realize(system, state, TAL_STAGE_POSITION);
        if (st != TAL_OK) return st;
        after = norm_of(tal_state_qerr(state) + start, NULL, n, options->infinity_norm);
    }
    if (after > result->norm_after) result->norm_after = after;
    return TAL_OK;
}

// --- the functions of the subsystem ---

tal_status tali_matter_project_q(const void *self, const tal_system *system, tal_state *state,
                                 const tal_project_options *options, double q_error[],
                                 tal_project_result *result)
{
    const tal_matter *matter = self;
    double *mine = q_error != NULL ? q_error + tal_group_start(system, state, matter->q) : NULL;
    tal_status st = project_constraints(matter, state, false, options, mine, result);
    if (st == TAL_OK) st = project_quaternions(matter, state, options, result);
    if (st == TAL_OK && mine != NULL) project_quaternion_errors(matter, state, mine);
    return st;
}

tal_status tali_matter_project_u(const void *self, const tal_system *system, tal_state *state,
                                 const tal_project_options *options, double u_error[],
                                 tal_project_result *result)
{
    const tal_matter *matter = self;
    double *mine = u_error != NULL ? u_error + tal_group_start(system, state, matter->u) : NULL;
    return project_constraints(matter, state, true, options, mine, result);
}
