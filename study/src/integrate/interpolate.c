// The State within the last step: dense output whose error is controlled (HNW sec. II.6).
//
// With x = (t - t0) / h, D = y1 - y0, B = h ydot0 - D and C = D - h ydot1 - B, the cubic through
// both ends, and terms that leave values and rates there as they are:
//
//     y = y0 + x (D + (1 - x) (B + x C)) + x^2 (1 - x)^2 sum_k a_k (2 x - 1)^k
//
// The ends are those after projection, so that pieces of neighboring steps fit together.
//
// The cubic is off by O(h^4). Where y within a step is wanted, terms are found round by round: in
// each the rates at a few points of the polynomial so far, which has n - 1 terms, determine n.
// Rates are as good as the polynomial, and count with a factor of h, so that each round gains a
// power of h (bootstrapping: W. H. Enright et al., ACM Trans. Math. Softw. 12 (1986) 193-218). A
// method with dense output of its own has the first term for nothing.
//
// What a round changes is the error that was there before it; times the factor by which rounds make
// it smaller, the error that is left. Where ten times that, or the change itself, is within what
// the step was held to, the polynomial is as exact as the step. Where rounds do not get there (the
// step is at the limit of stability, forces jump in it, or its order is far beyond that of the
// polynomial), the step is taken once more for every time that is wanted, and ends there.
#include "integrate/integrator_internal.h"

#include <math.h>
#include <string.h>

// --- the polynomial ---

typedef struct place {
    double x, h; // of the step
} place;

static place place_of(const tal_integrator *integ, double t)
{
    const double h = integ->t1 - integ->t0;
    return (place){(t - integ->t0) / h, h};
}

static double bump(double x)
{
    return x * x * (1.0 - x) * (1.0 - x);
}

// d/dx of bump(x) (2 x - 1)^k
static double slope_of_term(double x, int k)
{
    const double s = 2.0 * x - 1.0, around = 2.0 * x * (1.0 - x);
    double power = 1.0; // s^(k-1), for k > 0
    for (int i = 1; i < k; ++i) {
        power *= s;
    }
    if (k == 0) return -around * s;
    return (-around * s * s + 2.0 * k * bump(x)) * power;
}

static void put_cubic(const tal_integrator *integ, place at, int ny, double y[])
{
    const double *y0 = integ->problem.y0, *y1 = integ->y1, x = at.x, h = at.h;
    const double *ydot0 = tali_integrator_stage(integ, 0), *ydot1 = integ->ydot1;
    for (int i = 0; i < ny; ++i) {
        const double D = y1[i] - y0[i], B = h * ydot0[i] - D, C = D - h * ydot1[i] - B;
        y[i] = y0[i] + x * (D + (1.0 - x) * (B + x * C));
    }
}

// r -= d/dx of the cubic
static void subtract_slope(const tal_integrator *integ, place at, int ny, double r[])
{
    const double *y0 = integ->problem.y0, *y1 = integ->y1, x = at.x, h = at.h;
    const double *ydot0 = tali_integrator_stage(integ, 0), *ydot1 = integ->ydot1;
    for (int i = 0; i < ny; ++i) {
        const double D = y1[i] - y0[i], B = h * ydot0[i] - D, C = D - h * ydot1[i] - B;
        r[i] -= D + (1.0 - 2.0 * x) * B + x * (2.0 - 3.0 * x) * C;
    }
}

static void add_terms(double *const terms[], int num_terms, double x, int ny, double y[])
{
    double weight = bump(x);
    for (int k = 0; k < num_terms; ++k) {
        for (int i = 0; i < ny; ++i) {
            y[i] += weight * terms[k][i];
        }
        weight *= 2.0 * x - 1.0;
    }
}

// The first term of a method that has dense output. A last stage that is the end of the step has
// the rates there; fixed steps leave it out.
static bool has_own_term(const tal_integrator *integ)
{
    return integ->def.method == TAL_METHOD_RUNGE_KUTTA && integ->def.tableau->d != NULL;
}

static void find_own_term(tal_integrator *integ, int ny)
{
    const tal_rk_tableau *rk = integ->def.tableau;
    const int end = tali_integrator_ends_at_last_stage(rk) ? rk->stages - 1 : rk->stages;
    const double h = integ->t1 - integ->t0;
    double *term = integ->dense.terms[0];
    memset(term, 0, (size_t)ny * sizeof *term);
    for (int j = 0; j < rk->stages; ++j) {
        const double *k = j == end ? integ->ydot1 : tali_integrator_stage(integ, j);
        for (int i = 0; i < ny; ++i) {
            term[i] += h * rk->d[j] * k[i];
        }
    }
}

// --- rounds ---

// Where each round looks: points at which errors of the rates do the least harm, a third of them at
// worst (searched for; the points of Lobatto's formulas would determine nothing).
static const double POINTS[TALI_MOST_TERMS][TALI_MOST_TERMS] = {
    {0.21}, {0.21, 0.79}, {0.16, 0.24, 0.83}, {0.15, 0.22, 0.78, 0.86}};

// Solves sum_k slope_k(x_i) a_k = r_i for all variables at once, by elimination; pivots of these
// matrices are not small in this order.
static void solve_terms(int n, int ny, double *const r[])
{
    double A[TALI_MOST_TERMS][TALI_MOST_TERMS];
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < n; ++k) {
            A[i][k] = slope_of_term(POINTS[n - 1][i], k);
        }
    }
    for (int k = 0; k < n; ++k) {
        for (int i = 0; i < n; ++i) {
            if (i == k) continue;
            const double factor = A[i][k] / A[k][k];
            for (int j = k; j < n; ++j) {
                A[i][j] -= factor * A[k][j];
            }
            for (int v = 0; v < ny; ++v) {
                r[i][v] -= factor * r[k][v];
            }
        }
    }
    for (int k = 0; k < n; ++k) {
        for (int v = 0; v < ny; ++v) {
            r[k][v] /= A[k][k];
        }
    }
}

// h f - (slope of the cubic) at the points of a round, along the polynomial so far.
static tal_status find_rates(tal_integrator *integ, tal_state *out, int n)
{
    tali_integrator_dense *dense = &integ->dense;
    const int ny = tal_state_ny(out);
    const double h = integ->t1 - integ->t0;
    for (int i = 0; i < n; ++i) {
        const place at = {POINTS[n - 1][i], h};
        double *r = dense->rates[i];
        put_cubic(integ, at, ny, dense->y);
        add_terms(dense->terms, dense->num_terms, at.x, ny, dense->y);
        tal_status st = tali_problem_put(&integ->problem, out, integ->t0 + at.x * h, dense->y);
        if (st == TAL_OK) st = tali_problem_settle_stage(&integ->problem, out, false);
        if (st == TAL_OK) st = tali_problem_evaluate(&integ->problem, out, r);
        if (st != TAL_OK) return st;
        for (int v = 0; v < ny; ++v) {
            r[v] *= h;
        }
        subtract_slope(integ, at, ny, r);
    }
    return TAL_OK;
}

// The largest of what terms are worth at three places, for each variable: its norm.
static double size_of(tal_integrator *integ, tal_state *out, double *const terms[], int n)
{
    static const double places[] = {0.25, 0.5, 0.75};
    const int ny = tal_state_ny(out);
    double *most = integ->problem.error;
    memset(most, 0, (size_t)ny * sizeof *most);
    for (int j = 0; j < 3; ++j) {
        const double x = places[j];
        memset(integ->dense.y, 0, (size_t)ny * sizeof *most);
        add_terms(terms, n, x, ny, integ->dense.y);
        for (int v = 0; v < ny; ++v) {
            most[v] = fmax(most[v], fabs(integ->dense.y[v]));
        }
    }
    return tali_problem_error_norm(&integ->problem, out);
}

// One round: n terms instead of n - 1. `*change` is the norm of what it changed.
static tal_status do_round(tal_integrator *integ, tal_state *out, int n, double *change)
{
    tali_integrator_dense *dense = &integ->dense;
    const int ny = tal_state_ny(out);
    const tal_status st = find_rates(integ, out, n);
    if (st != TAL_OK) return st;
    solve_terms(n, ny, dense->rates);
    for (int k = 0; k < n; ++k) {
        double *term = dense->terms[k], *found = dense->rates[k];
        for (int v = 0; v < ny; ++v) {
            const double before = k < dense->num_terms ? term[v] : 0.0;
            term[v] = found[v];
            found[v] -= before;
        }
    }
    *change = size_of(integ, out, dense->rates, n);
    dense->num_terms = n;
    return TAL_OK;
}

// The factor from one round to the next is a guess: it is not the same for all, and worse beyond
// the order that a step shows.
static const double CAUTION = 10.0;

// Rounds until the error that is left is within the step's. Those that cannot get there in time are
// not begun; before the second change there is, by experience, a factor of 0.2 between rounds.
static tal_status control_error(tal_integrator *integ, tal_state *out)
{
    tali_integrator_dense *dense = &integ->dense;
    const double usual = 0.2;
    bool has_before = dense->num_terms > 0;
    double before = has_before ? size_of(integ, out, dense->terms, 1) : 0.0;
    for (int n = dense->num_terms + 1; n <= TALI_MOST_TERMS; ++n) {
        double change = 0.0;
        const tal_status st = do_round(integ, out, n, &change);
        if (st != TAL_OK) return st;
        const double factor = has_before ? change / before : 1.0;
        const double left = fmin(change, CAUTION * factor * change);
        dense->is_good = left <= integ->tolerance;
        const double last = change * pow(has_before ? factor : usual, TALI_MOST_TERMS - n + 1);
        if (dense->is_good || factor > 1.0 || !(last <= integ->tolerance)) return TAL_OK;
        has_before = true;
        before = change;
    }
    return TAL_OK;
}

// Fixed steps have no error to be held to: as many terms as make the polynomial's order theirs.
static tal_status match_order(tal_integrator *integ, tal_state *out)
{
    tali_integrator_dense *dense = &integ->dense;
    const bool is_rk = integ->def.method == TAL_METHOD_RUNGE_KUTTA;
    const int order = is_rk ? integ->def.tableau->order : integ->def.order;
    const int wanted = order - 3 < TALI_MOST_TERMS ? order - 3 : TALI_MOST_TERMS;
    dense->is_good = true;
    for (int n = dense->num_terms + 1; n <= wanted; ++n) {
        double change = 0.0;
        const tal_status st = do_round(integ, out, n, &change);
        if (st != TAL_OK) return st;
    }
    return TAL_OK;
}

// Rates that cannot be computed along the polynomial say that it is no good.
static void find_dense(tal_integrator *integ, tal_state *out)
{
    tali_integrator_dense *dense = &integ->dense;
    dense->is_known = true;
    dense->num_terms = 0;
    // a step that t can hardly resolve is a straight line
    dense->is_good = integ->t1 - integ->t0 < tali_integrator_resolved_step(integ, integ->t0);
    if (dense->is_good) return;
    if (has_own_term(integ)) {
        find_own_term(integ, tal_state_ny(out));
        dense->num_terms = 1;
    }
    const tal_status st =
        tali_integrator_is_controlled(integ) ? control_error(integ, out) : match_order(integ, out);
    if (st == TAL_OK) return;
    dense->is_good = false;
    integ->problem.error_record = (tal_error){TAL_OK, "", ""};
}

// --- rows ---

tal_status tali_integrator_one_step_dense(tal_integrator *integ, double t, int ny, double y[])
{
    const place at = place_of(integ, t);
    put_cubic(integ, at, ny, y);
    if (integ->dense.is_known) {
        add_terms(integ->dense.terms, integ->dense.num_terms, at.x, ny, y);
    }
    return TAL_OK;
}

tal_status tali_integrator_put_dense(tal_integrator *integ, tal_state *state, double t)
{
    tal_status st = integ->family->dense(integ, t, tal_state_ny(state), integ->problem.error);
    if (st == TAL_OK) st = tali_problem_put(&integ->problem, state, t, integ->problem.error);
    if (st == TAL_OK) st = tali_problem_project(&integ->problem, state, NULL);
    return st == TAL_OK ? tali_problem_settle_relaxed(&integ->problem, state) : st;
}

tal_status tali_integrator_put_row(tal_integrator *integ, tal_state *out, double t)
{
    if (integ->family->step_aside == NULL) return tali_integrator_put_dense(integ, out, t);
    if (!integ->dense.is_known) find_dense(integ, out);
    if (integ->dense.is_good || t == integ->t0) return tali_integrator_put_dense(integ, out, t);
    return integ->family->step_aside(integ, out, t);
}
