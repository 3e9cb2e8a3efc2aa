// The semi-recursive formulation (CD sec. 3): Newmark's formulas for independent coordinates, the
// others from the constraints. With the dependent speeds d and the independent ones i,
//
//     R_i = 1     R_d = -G_d^+ G_i       G R = 0
//     residual    R^T (M udot + P)       no multipliers
//     tangent     R^T H R
//
// The dependent ones are the first `rank` columns that a factorization of G with column pivoting
// takes (GJB eq. 8.116 takes those of a full elimination), chosen again where G_d becomes bad.
#include "realtime/realtime_internal.h"

#include <string.h>

// Above this condition number of G_d, others are looked for: where independent coordinates turn
// back, G_d is singular, and a step must not reach beyond.
static const double WORST_CONDITION = 30.0;

// Columns of G that are shorter than this part of the longest, once others are taken out, count as
// zero: position errors of a step leave less of rows that repeat others.
static const double DEPENDENT = 1e-7;

static bool is_dependent(const tal_fixed_stepper *s, int k)
{
    for (int i = 0; i < s->past.num_pivots; ++i) {
        if (s->past.pivots[i] == k) return true;
    }
    return false;
}

static tal_status calc_G(tal_fixed_stepper *s, tal_state *state)
{
    const tal_matrix G = tal_matrix_view(s->G, s->m, s->nu);
    return tali_realtime_pass_on(s, state, tal_matter_calc_G(s->matter, state, TAL_G, G));
}

// Copy columns of G that are free into `to`, and their speeds into `which`.
static int copy_free(const tal_fixed_stepper *s, double to[], int which[])
{
    int n = 0;
    for (int k = 0; k < s->nu; ++k) {
        if (s->level[k] != TAL_LEVEL_FREE) continue;
        memcpy(tali_realtime_column(to, s->m, n), tali_realtime_column(s->G, s->m, k),
               (size_t)s->m * sizeof *to);
        which[n++] = k;
    }
    return n;
}

// The dependent speeds, by rank.
static tal_status choose_pivots(tal_fixed_stepper *s)
{
    tal_cod cod;
    const int n = copy_free(s, s->part, s->which);
    const tal_status st = tal_cod_factor(&cod, tal_matrix_view(s->part, s->m, n), DEPENDENT,
                                         s->cod_work, s->cod_iwork, &s->error_record);
    if (st != TAL_OK) return st;
    bool is_same = s->past.num_pivots == cod.rank;
    for (int i = 0; i < cod.rank; ++i) {
        is_same = is_same && is_dependent(s, s->which[cod.perm[i]]);
    }
    s->past.num_pivots = cod.rank;
    for (int i = 0; i < cod.rank; ++i) {
        s->past.pivots[i] = s->which[cod.perm[i]];
    }
    s->stats.pivots_chosen += is_same ? 0 : 1;
    return TAL_OK;
}

// The factor of G_d at the pivots; `is_good` says whether they still serve.
static tal_status factor_dependent(tal_fixed_stepper *s, tal_cod *cod, bool *is_good)
{
    for (int i = 0; i < s->past.num_pivots; ++i) {
        memcpy(tali_realtime_column(s->part, s->m, i),
               tali_realtime_column(s->G, s->m, s->past.pivots[i]), (size_t)s->m * sizeof *s->part);
    }
    const tal_status st = tal_cod_factor(cod, tal_matrix_view(s->part, s->m, s->past.num_pivots),
                                         DEPENDENT, s->cod_work, s->cod_iwork, &s->error_record);
    *is_good = cod->rank == s->past.num_pivots && cod->rcond * WORST_CONDITION > 1.0;
    return st;
}

// d = -G_d^+ errors, spread over all speeds; zero of the others.
static tal_status solve_dependent(tal_fixed_stepper *s, tal_cod *cod, const double errors[],
                                  double d[])
{
    memcpy(s->row, errors, (size_t)s->m * sizeof *s->row);
    const tal_status st =
        tal_cod_solve(cod, tal_matrix_view(s->row, s->m, 1),
                      tal_matrix_view(s->product, s->past.num_pivots, 1), &s->error_record);
    memset(d, 0, (size_t)s->nu * sizeof *d);
    for (int i = 0; i < s->past.num_pivots && st == TAL_OK; ++i) {
        d[s->past.pivots[i]] = -s->product[i];
    }
    return st;
}

static double dot(const double a[], const double b[], int n)
{
    double sum = 0.0;
    for (int k = 0; k < n; ++k) {
        sum += a[k] * b[k];
    }
    return sum;
}

static void add(const double d[], int n, double to[])
{
    for (int k = 0; k < n; ++k) {
        to[k] += d[k];
    }
}

// Dependent coordinates by Newton's method: the position errors vanish.
static tal_status close_positions(tal_fixed_stepper *s, tal_state *state, tal_cod *cod)
{
    enum {
        MOST = 10
    };

    tal_status st = tali_realtime_put(s, state, s->t1, s->x, s->u);
    for (int i = 0; i < MOST && st == TAL_OK; ++i) {
        bool is_good = true;
        st = calc_G(s, state);
        if (st == TAL_OK) st = factor_dependent(s, cod, &is_good);
        if (st == TAL_OK) st = solve_dependent(s, cod, tali_realtime_perr(s, state), s->change);
        if (st != TAL_OK || tali_realtime_norm(s->change, s->nu) < 0.01 * s->def.tolerance) break;
        add(s->change, s->nu, s->x);
        st = tali_realtime_put(s, state, s->t1, s->x, s->u);
    }
    return st;
}

// Newmark's formulas for the independent, velocity and acceleration equations for the others.
static tal_status place(tal_fixed_stepper *s, tal_state *state)
{
    const double share = (1.0 - s->family.df) / (1.0 - s->family.dm);
    if (s->m == 0) return tali_realtime_put(s, state, s->t1, s->x, s->u);
    tal_cod cod;
    tal_status st = close_positions(s, state, &cod);
    if (st == TAL_OK) st = solve_dependent(s, &cod, tali_realtime_verr(s, state), s->change);
    if (st != TAL_OK) return st;
    add(s->change, s->nu, s->u);
    st = tali_realtime_put_u(s, state, s->u);
    if (st != TAL_OK) return st;
    st = tal_matter_calc_constraint_aerr(s->matter, state, s->udot, s->errors);
    if (st == TAL_OK) st = solve_dependent(s, &cod, s->errors, s->change);
    add(s->change, s->nu, s->udot);
    for (int k = 0; k < s->nu; ++k) {
        s->a[k] += share * s->change[k];
    }
    return tali_realtime_pass_on(s, state, st);
}

// R, nu x ni, column by column, and which speeds are independent.
static tal_status calc_R(tal_fixed_stepper *s, int *ni)
{
    tal_cod cod;
    bool is_good = true;
    tal_status st = TAL_OK;
    if (s->m > 0) st = factor_dependent(s, &cod, &is_good);
    *ni = 0;
    for (int k = 0; k < s->nu && st == TAL_OK; ++k) {
        if (s->level[k] != TAL_LEVEL_FREE || is_dependent(s, k)) continue;
        double *column = tali_realtime_column(s->R, s->nu, *ni);
        if (s->m > 0) {
            st = solve_dependent(s, &cod, tali_realtime_column(s->G, s->m, k), column);
        } else {
            memset(column, 0, (size_t)s->nu * sizeof *column);
        }
        column[k] = 1.0;
        ++*ni;
    }
    return st;
}

// part = R^T H R, its lower triangle
static void reduce_tangent(tal_fixed_stepper *s, int ni)
{
    const int n = s->nu;
    for (int j = 0; j < ni; ++j) {
        const double *Rj = tali_realtime_column(s->R, n, j);
        memset(s->product, 0, (size_t)n * sizeof *s->product);
        for (int k = 0; k < n; ++k) {
            const double *column = tali_realtime_column(s->H, n, k);
            for (int l = 0; l < n && Rj[k] != 0.0; ++l) {
                s->product[l] += column[l] * Rj[k];
            }
        }
        for (int i = j; i < ni; ++i) {
            tali_realtime_column(s->part, ni, j)[i] =
                dot(tali_realtime_column(s->R, n, i), s->product, n);
        }
    }
}

// -(1 - df) beta h^2 R^T (M udot + P) into f.
static tal_status calc_residual(tal_fixed_stepper *s, tal_state *state, int ni)
{
    const double b = (1.0 - s->family.df) * s->family.beta * s->h * s->h;
    const tal_status st = tali_realtime_calc_P(s, state, s->udot, s->change);
    for (int i = 0; i < ni && st == TAL_OK; ++i) {
        s->f[i] = -b * dot(tali_realtime_column(s->R, s->nu, i), s->change, s->nu);
    }
    return st;
}

// Where forces make the tangent indefinite, inertia is added until it is not: shorter changes.
static tal_status factor_tangent(tal_fixed_stepper *s, tal_state *state, int ni)
{
    enum {
        TRIES = 5
    };

    tal_status st = tali_realtime_calc_tangent(s, state);
    if (st != TAL_OK) return st;
    reduce_tangent(s, ni);
    st = tali_realtime_factor(s, s->part, ni);
    double inertia = 1.0;
    for (int i = 0; i < TRIES && st == TAL_ERR_SINGULAR && s->forces != NULL; ++i) {
        s->error_record = (tal_error){TAL_OK, "", ""};
        s->stats.heavier_tangents += i == 0 ? 1 : 0;
        tali_realtime_sum_tangent(s, inertia, i < TRIES - 1 ? 1.0 : 0.0);
        reduce_tangent(s, ni);
        st = tali_realtime_factor(s, s->part, ni);
        inertia *= 4.0;
    }
    return st;
}

static tal_status correct(tal_fixed_stepper *s, tal_state *state)
{
    int ni = 0;
    tal_status st = calc_R(s, &ni);
    if (st == TAL_OK) st = calc_residual(s, state, ni);
    if (st == TAL_OK) st = factor_tangent(s, state, ni);
    if (st == TAL_OK) {
        st = tal_chol_solve(tal_matrix_view(s->part, ni, ni), tal_matrix_view(s->f, ni, 1),
                            &s->error_record);
    }
    memset(s->change, 0, (size_t)s->nu * sizeof *s->change);
    for (int i = 0; i < ni && st == TAL_OK; ++i) {
        const double *Ri = tali_realtime_column(s->R, s->nu, i);
        for (int k = 0; k < s->nu; ++k) {
            s->change[k] += Ri[k] * s->f[i];
        }
    }
    return st;
}

// Pivots are looked at once a step, at its start.
static tal_status step(tal_fixed_stepper *s, tal_state *state)
{
    tal_cod cod;
    bool is_good = s->past.num_pivots > 0;
    tal_status st = s->m > 0 ? calc_G(s, state) : TAL_OK;
    if (st == TAL_OK && s->m > 0 && is_good) st = factor_dependent(s, &cod, &is_good);
    if (st == TAL_OK && s->m > 0 && !is_good) st = choose_pivots(s);
    return st == TAL_OK ? tali_realtime_structural_step(s, state) : st;
}

static tal_status finish(tal_fixed_stepper *s, tal_state *state)
{
    (void)s;
    (void)state;
    return TAL_OK;
}

static tal_status start(tal_fixed_stepper *s, tal_state *state)
{
    s->past.num_pivots = 0;
    const tal_status st = tali_realtime_start_by_dynamics(s, state);
    // w takes forces without multipliers
    memset(s->past.lambda, 0, (size_t)s->m * sizeof *s->past.lambda);
    return st;
}

const tali_realtime_ops *tali_realtime_semi_recursive(void)
{
    static const tali_realtime_ops ops = {
        .start = start, .step = step, .place = place, .correct = correct, .finish = finish};
    return &ops;
}
