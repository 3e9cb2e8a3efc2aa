// Contacts with Coulomb friction: the order of attempts, and the check of an answer.
#include "alloc_internal.h"
#include "error_internal.h"

#include "solve/friction_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

// How far the length of a direction may be from 1.
static const double UNIT_LENGTH = 1e-6;

// The compliance that decides how redundant contacts share, as a part of the mean diagonal of A.
#define COMPLIANCE 1e-4
// An answer may violate the problem by this part of its largest force or acceleration.
#define ACCEPTED   1e-8

enum {
    MOST_PASSES = 1000 // of Gauss-Seidel, where everything else has failed
};

static size_t own_work(int n, int num_contacts)
{
    return (size_t)n * (size_t)n + 6 * (size_t)n + (size_t)num_contacts;
}

size_t tal_friction_work_size(int n, int num_contacts)
{
    if (n <= 0 || num_contacts < 0) return 0;
    const size_t modes =
        tali_alloc_larger(tali_friction_hold_work(n), tali_friction_newton_work(n));
    return own_work(n, num_contacts) +
           tali_alloc_larger(tali_friction_start_work(n, num_contacts), modes);
}

size_t tal_friction_iwork_size(int n, int num_contacts)
{
    if (n <= 0 || num_contacts < 0) return 0;
    const size_t modes =
        tali_alloc_larger(tali_friction_hold_iwork(n), tali_friction_newton_iwork(n));
    return (size_t)n + (size_t)num_contacts +
           tali_alloc_larger(tali_friction_start_iwork(n, num_contacts), modes);
}

// --- what was asked ---

// Where a complaint goes: the public function that was called, and its error.
typedef struct complaint {
    const char *where;
    tal_error *err;
} complaint;

static tal_status refuse(complaint to, tal_status st, int k, const char *subject, double value)
{
    return tali_fail(to.err, st, to.where, "contact %d: %s is %g", k, subject, value);
}

static tal_status check_numbers(const tal_friction_contact *c, int k, complaint to)
{
    const tal_status bad = TAL_ERR_BAD_VALUE;
    if (!(c->sliding_mu >= 0.0)) return refuse(to, bad, k, "sliding_mu", c->sliding_mu);
    if (!(c->static_mu >= c->sliding_mu)) return refuse(to, bad, k, "static_mu", c->static_mu);
    if (!(c->limit >= 0.0) || isinf(c->limit)) return refuse(to, bad, k, "limit", c->limit);
    if (!c->slides || c->num_tangents == 0) return TAL_OK;
    const double y = c->num_tangents == 2 ? c->direction[1] : 0.0;
    const double size = hypot(c->direction[0], y);
    if (!(fabs(size - 1.0) <= UNIT_LENGTH)) {
        return refuse(to, bad, k, "the length of its direction", size);
    }
    return TAL_OK;
}

// The row exists and belongs to no other contact.
static tal_status claim_row(int n, int row, int k, int contact_of[], complaint to)
{
    if (row < 0 || row >= n) return refuse(to, TAL_ERR_BAD_INDEX, k, "a row", row);
    if (contact_of[row] >= 0) {
        return tali_fail(to.err, TAL_ERR_BAD_INDEX, to.where,
                         "row %d belongs to the contacts %d and %d", row, contact_of[row], k);
    }
    contact_of[row] = k;
    return TAL_OK;
}

static tal_status check_contact(int n, const tal_friction_contact *c, int k, int contact_of[],
                                complaint to)
{
    if (c->num_tangents < 0 || c->num_tangents > 2) {
        return refuse(to, TAL_ERR_BAD_VALUE, k, "num_tangents", c->num_tangents);
    }
    tal_status st = check_numbers(c, k, to);
    if (st == TAL_OK && c->normal >= 0) st = claim_row(n, c->normal, k, contact_of, to);
    for (int t = 0; st == TAL_OK && t < c->num_tangents; ++t) {
        st = claim_row(n, c->tangent + t, k, contact_of, to);
    }
    return st;
}

tal_status tali_friction_check(const tal_friction_contact contacts[], int num_contacts, int n,
                               int contact_of[], const char *where, tal_error *err)
{
    for (int i = 0; i < n; ++i) {
        contact_of[i] = -1;
    }
    tal_status st = TAL_OK;
    for (int k = 0; st == TAL_OK && k < num_contacts; ++k) {
        st = check_contact(n, &contacts[k], k, contact_of, (complaint){where, err});
    }
    return st;
}

// Sizes and pointers, then numbers, then contacts; `iwork` becomes the contact of each row.
static tal_status check_problem(const tal_friction_problem *problem, const double pi[],
                                const double a[], const tal_friction_mode modes[],
                                const double work[], int iwork[], tal_error *err)
{
    static const char *const where = "tal_friction_solve";
    if (problem == NULL) return tali_breach(TAL_ERR_NULL, where, "the problem is NULL");
    tal_status st = tali_dense_check_square(problem->A, "A", where);
    if (st != TAL_OK) return st;
    const int n = problem->A.rows;
    if (problem->num_contacts < 0) {
        return tali_breach(TAL_ERR_BAD_VALUE, where, "num_contacts is %d", problem->num_contacts);
    }
    if (n == 0) return TAL_OK;
    const bool no_contacts = problem->num_contacts == 0;
    if (problem->b == NULL || (!no_contacts && (problem->contacts == NULL || modes == NULL)) ||
        pi == NULL || a == NULL || work == NULL || iwork == NULL) {
        return tali_breach(TAL_ERR_NULL, where,
                           "an array of the problem, of the answer or of the workspace is NULL");
    }
    st = tali_dense_check_finite_lower(problem->A, "A", where, err);
    for (int i = 0; st == TAL_OK && i < n; ++i) {
        if (isfinite(problem->b[i])) continue;
        st = tali_fail(err, TAL_ERR_NOT_FINITE, where, "b[%d] is %g", i, problem->b[i]);
    }
    if (st != TAL_OK) return st;
    return tali_friction_check(problem->contacts, problem->num_contacts, n, iwork, where, err);
}

// --- scales ---

static tali_friction lay_out(const tal_friction_problem *problem, double work[], int iwork[])
{
    const int n = problem->A.rows, num = problem->num_contacts;
    tali_friction f = {.n = n, .num_contacts = num, .contacts = problem->contacts};
    f.A = tal_matrix_view(work, n, n);
    f.s = work + (size_t)n * (size_t)n;
    f.b = f.s + n;
    f.pi = f.b + n;
    f.a = f.pi + n;
    f.softness = f.a + n;
    f.softer = f.softness + n;
    f.limit = f.softer + n;
    f.work = f.limit + num;
    f.contact_of = iwork;
    f.modes = iwork + n;
    f.iwork = f.modes + num;
    return f;
}

// One factor for the rows of a contact: 1 / sqrt of the largest diagonal among them.
static void find_scales(tali_friction *f, const tal_friction_problem *problem)
{
    for (int i = 0; i < f->n; ++i) {
        f->s[i] = tali_dense_col(problem->A, i)[i];
    }
    for (int k = 0; k < f->num_contacts; ++k) {
        const tal_friction_contact *c = &f->contacts[k];
        double most = c->normal >= 0 ? f->s[c->normal] : 0.0;
        for (int t = 0; t < c->num_tangents; ++t) {
            most = fmax(most, f->s[c->tangent + t]);
        }
        if (c->normal >= 0) f->s[c->normal] = most;
        for (int t = 0; t < c->num_tangents; ++t) {
            f->s[c->tangent + t] = most;
        }
        f->limit[k] = c->limit * (most > 0.0 ? sqrt(most) : 1.0);
    }
    for (int i = 0; i < f->n; ++i) {
        f->s[i] = f->s[i] > 0.0 ? 1.0 / sqrt(f->s[i]) : 1.0;
    }
}

// The same compliance in every row of a contact, as the problem measures it.
static void find_softness(tali_friction *f, const tal_friction_problem *problem)
{
    double sum = 0.0;
    int num = 0;
    for (int i = 0; i < f->n; ++i) {
        if (f->contact_of[i] < 0) continue;
        sum += tali_dense_col(problem->A, i)[i];
        ++num;
    }
    for (int i = 0; i < f->n; ++i) {
        f->softness[i] = f->contact_of[i] >= 0 ? sum / num * f->s[i] * f->s[i] : 0.0;
    }
}

static void fill_scaled(tali_friction *f, const tal_friction_problem *problem)
{
    for (int j = 0; j < f->n; ++j) {
        f->b[j] = problem->b[j] * f->s[j];
        for (int i = 0; i < f->n; ++i) {
            tali_dense_col(f->A, j)[i] = tali_lcp_symmetric(problem->A, i, j) * f->s[i] * f->s[j];
        }
    }
}

// --- attempts ---

// Forces that depend on the compliance c smoothly, at c and c / 10: their limit for c = 0.
static void extrapolate(tali_friction *f, const double softer[])
{
    for (int i = 0; i < f->n; ++i) {
        f->pi[i] += (f->pi[i] - softer[i]) / 9.0;
    }
}

// From forces and modes with compliance, which are unique, to those without. A smaller compliance
// is nearer to the limit, but round-off grows as 1 / compliance: at 1e-6 it is 1e-10.
static tal_status stiffen(tali_friction *f)
{
    tal_status st = tali_friction_polish(f);
    f->compliance = 1e-1 * COMPLIANCE;
    if (st == TAL_OK) st = tali_friction_polish(f);
    memcpy(f->softer, f->pi, (size_t)f->n * sizeof *f->softer);
    const int changes = f->changes;
    f->compliance = 1e-2 * COMPLIANCE;
    if (st == TAL_OK) st = tali_friction_polish(f);
    if (st == TAL_OK && f->changes == changes) extrapolate(f, f->softer);
    f->compliance = 0.0;
    return st == TAL_OK ? tali_friction_polish(f) : st;
}

// What a guess does not name is taken as sticking.
static void take_guess(tali_friction *f, const double pi[], const tal_friction_mode modes[])
{
    for (int i = 0; i < f->n; ++i) {
        f->pi[i] = pi[i] / f->s[i];
    }
    for (int k = 0; k < f->num_contacts; ++k) {
        const tal_friction_contact *c = &f->contacts[k];
        const bool off = modes[k] == TAL_FRICTION_OFF && c->normal >= 0;
        const bool slips = modes[k] == TAL_FRICTION_SLIP && c->num_tangents > 0;
        f->modes[k] = slips ? TAL_FRICTION_SLIP : TAL_FRICTION_STICK;
        if (c->slides) f->modes[k] = TAL_FRICTION_SLIDE;
        if (off) f->modes[k] = TAL_FRICTION_OFF;
    }
}

// The modes of a guess.
static tal_status attempt_guess(tali_friction *f, const double pi[],
                                const tal_friction_mode modes[])
{
    for (int i = 0; i < f->n; ++i) {
        if (!isfinite(pi[i])) return TAL_ERR_NO_CONVERGENCE;
    }
    take_guess(f, pi, modes);
    if (tali_friction_hold(f)) return TAL_OK;
    take_guess(f, pi, modes);
    f->compliance = COMPLIANCE;
    return stiffen(f);
}

// Pyramids of more and more sides, with two compliances, then more and more passes; at last
// pyramids without compliance, for what it cannot decide.
static tal_status attempt_all(tali_friction *f, bool *shared)
{
    tal_status st = TAL_ERR_NO_CONVERGENCE;
    for (int trial = 0; trial < 4; ++trial) {
        f->compliance = trial % 2 == 0 ? COMPLIANCE : 1e-2 * COMPLIANCE;
        st = tali_friction_start(f, trial < 2 ? 8 : TALI_FRICTION_FACETS);
        if (st == TAL_OK) st = stiffen(f);
        *shared = st == TAL_OK;
        if (st == TAL_OK) return st;
    }
    const bool is_infeasible = st == TAL_ERR_INFEASIBLE;
    for (int passes = 100; !is_infeasible && passes <= MOST_PASSES; passes *= 10) {
        f->compliance = COMPLIANCE;
        tali_friction_relax(f, passes);
        *shared = stiffen(f) == TAL_OK;
        if (*shared) return TAL_OK;
    }
    f->compliance = 0.0;
    for (int facets = 8; facets <= TALI_FRICTION_FACETS; facets *= 2) {
        st = tali_friction_start(f, facets);
        if (st == TAL_OK) st = tali_friction_polish(f);
        if (st != TAL_ERR_NO_CONVERGENCE) return st;
    }
    return st;
}

// --- the check ---

static void note_row(tal_friction_report *report, int row, double amount)
{
    if (!(amount > report->residual)) return;
    report->residual = amount;
    report->worst = row;
}

// What the answer violates, mode by mode, from its forces and accelerations alone.
static void check_contact_answer(const tali_friction *f, int k, double force, double acceleration,
                                 tal_friction_report *report)
{
    const tal_friction_contact *c = &f->contacts[k];
    double r = f->limit[k];
    const double mu = f->modes[k] == TAL_FRICTION_STICK ? c->static_mu : c->sliding_mu;
    if (c->normal >= 0) {
        const double pi = f->pi[c->normal], a = f->a[c->normal];
        note_row(report, c->normal, -pi / force);
        note_row(report, c->normal, -a / acceleration);
        note_row(report, c->normal, fmin(pi / force, a / acceleration));
        r += tali_friction_finite_mu(mu) * fmax(pi, 0.0);
    }
    if (c->num_tangents == 0) return;
    const double *pi = f->pi + c->tangent, *a = f->a + c->tangent;
    const double y = c->num_tangents == 2 ? pi[1] : 0.0, ay = c->num_tangents == 2 ? a[1] : 0.0;
    const double friction = hypot(pi[0], y), slip = hypot(a[0], ay);
    if (mu < HUGE_VAL) note_row(report, c->tangent, (friction - r) / force);
    if (f->modes[k] == TAL_FRICTION_STICK) note_row(report, c->tangent, slip / acceleration);
    if (f->modes[k] == TAL_FRICTION_SLIP) {
        // pi_T . a_T = -r |a_T|
        const double along = pi[0] * a[0] + y * ay;
        note_row(report, c->tangent, fabs(along + r * slip) / (force * acceleration));
    }
}

static void check_answer(tali_friction *f, tal_friction_report *report)
{
    tali_friction_find_a(f);
    const double force = fmax(tali_array_largest(f->pi, f->n), DBL_MIN);
    const double acceleration = fmax(tali_array_largest(f->b, f->n), DBL_MIN);
    for (int i = 0; i < f->n; ++i) {
        if (f->contact_of[i] < 0) note_row(report, i, fabs(f->a[i]) / acceleration);
    }
    for (int k = 0; k < f->num_contacts; ++k) {
        check_contact_answer(f, k, force, acceleration, report);
    }
}

static void write_answer(const tali_friction *f, double pi[], double a[], tal_friction_mode modes[])
{
    for (int i = 0; i < f->n; ++i) {
        pi[i] = f->pi[i] * f->s[i];
        a[i] = f->a[i] / f->s[i];
    }
    for (int k = 0; k < f->num_contacts; ++k) {
        modes[k] = (tal_friction_mode)f->modes[k];
    }
}

tal_status tal_friction_solve(const tal_friction_problem *problem, double pi[], double a[],
                              tal_friction_mode modes[], double work[], int iwork[],
                              tal_friction_report *report, tal_error *err)
{
    tal_status st = check_problem(problem, pi, a, modes, work, iwork, err);
    if (st != TAL_OK) return st;
    tal_friction_report unread;
    if (report == NULL) report = &unread;
    *report = (tal_friction_report){.worst = -1};
    if (problem->A.rows == 0) return TAL_OK;

    tali_friction f = lay_out(problem, work, iwork);
    find_scales(&f, problem);
    find_softness(&f, problem);
    fill_scaled(&f, problem);
    st = problem->guess ? attempt_guess(&f, pi, modes) : TAL_ERR_NO_CONVERGENCE;
    report->shared = st == TAL_OK;
    if (st != TAL_OK) st = attempt_all(&f, &report->shared);
    report->pivots = f.pivots;
    report->iterations = f.iterations;
    report->changes = f.changes;
    if (st == TAL_ERR_INFEASIBLE) {
        return TALI_FAIL(
            err, st, "no forces exist: rows contradict each other, or a sliding contact is jammed");
    }
    if (st == TAL_OK) check_answer(&f, report);
    if (st != TAL_OK || !(report->residual <= ACCEPTED)) {
        return TALI_FAIL(err, TAL_ERR_NO_CONVERGENCE,
                         "no forces were found that meet all %d contacts", f.num_contacts);
    }
    write_answer(&f, pi, a, modes);
    return TAL_OK;
}
