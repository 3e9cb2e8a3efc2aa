// Many contacts with friction: block projected Gauss-Seidel over sparse rows.
//
// The matrix A = J K is never formed. Speeds are kept up to date instead: a row reads its w = J u +
// b and, when its force changes, adds its column of K to u. A contact between two free bodies
// touches twelve numbers so.
//
// Source: Jourdan, Alart and Jean, Comput. Meth. Appl. Mech. Eng. 155 (1998) 31.
#include "error_internal.h"
#include "finite_internal.h"

#include "solve/friction_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    PASSES_PER_CHECK = 8
};

typedef struct iteration {
    const tal_friction_rows *rows;
    double *pi, *u, *diagonal;
    int *contact_of;
    double residual; // the largest change that the natural map would make
    bool moves;      // whether forces change, or only the residual is measured
} iteration;

static double w_of(const iteration *s, int i)
{
    const tal_friction_rows *r = s->rows;
    double w = r->b[i];
    for (int k = r->J_start[i]; k < r->J_start[i + 1]; ++k) {
        w += r->J[k] * s->u[r->J_index[k]];
    }
    return w;
}

static void add_force(iteration *s, int i, double change)
{
    const tal_friction_rows *r = s->rows;
    for (int k = r->K_start[i]; k < r->K_start[i + 1]; ++k) {
        s->u[r->K_index[k]] += r->K[k] * change;
    }
}

static void set_force(iteration *s, int i, double value)
{
    const double change = value - s->pi[i];
    s->residual = fmax(s->residual, fabs(change));
    if (!s->moves || change == 0.0) return;
    s->pi[i] = value;
    add_force(s, i, change);
}

// The force that makes w of row i zero, as far as others stay.
static double wanted(const iteration *s, int i, double diagonal)
{
    return diagonal > 0.0 ? s->pi[i] - w_of(s, i) / diagonal : s->pi[i];
}

// Both tangential rows move as if the softer one stood for both: the cone stays round.
static void visit_friction(iteration *s, const tal_friction_contact *c)
{
    const double normal = c->normal >= 0 ? s->pi[c->normal] : 0.0;
    const double r = c->limit + tali_friction_finite_mu(c->sliding_mu) * normal;
    double y[2] = {0.0, 0.0}, softest = 0.0;
    for (int t = 0; t < c->num_tangents; ++t) {
        softest = fmax(softest, s->diagonal[c->tangent + t]);
    }
    for (int t = 0; t < c->num_tangents; ++t) {
        y[t] = c->slides ? -r * c->direction[t] : wanted(s, c->tangent + t, softest);
    }
    const double size = hypot(y[0], y[1]);
    const double part = size > r ? r / size : 1.0;
    for (int t = 0; t < c->num_tangents; ++t) {
        set_force(s, c->tangent + t, part * y[t]);
    }
}

static void visit_all(iteration *s, bool moves)
{
    const tal_friction_rows *r = s->rows;
    s->moves = moves;
    s->residual = 0.0;
    for (int k = 0; k < r->num_contacts; ++k) {
        const tal_friction_contact *c = &r->contacts[k];
        if (c->normal >= 0) {
            set_force(s, c->normal, fmax(0.0, wanted(s, c->normal, s->diagonal[c->normal])));
        }
        if (c->num_tangents > 0) visit_friction(s, c);
    }
    for (int i = 0; i < r->num_rows; ++i) {
        if (s->contact_of[i] < 0) set_force(s, i, wanted(s, i, s->diagonal[i]));
    }
}

// --- before the first pass ---

// Diagonal of J K: the entries that a row and its own column have in common.
static double find_diagonal(const tal_friction_rows *r, int i)
{
    double sum = 0.0;
    for (int k = r->J_start[i]; k < r->J_start[i + 1]; ++k) {
        for (int l = r->K_start[i]; l < r->K_start[i + 1]; ++l) {
            if (r->J_index[k] == r->K_index[l]) sum += r->J[k] * r->K[l];
        }
    }
    return sum;
}

static bool is_list(const int start[], const int index[], int num_rows, int num_speeds)
{
    if (start[0] != 0) return false;
    for (int i = 0; i < num_rows; ++i) {
        if (start[i + 1] < start[i]) return false;
    }
    for (int k = 0; k < start[num_rows]; ++k) {
        if (index[k] < 0 || index[k] >= num_speeds) return false;
    }
    return true;
}

// Sizes and pointers, then the lists of J and K.
static tal_status check_rows(const tal_friction_rows *r, const double pi[], const double u[],
                             const double work[], const int iwork[])
{
    static const char *const where = "tal_friction_iterate";
    if (r == NULL) return tali_breach(TAL_ERR_NULL, where, "the rows are NULL");
    if (r->num_rows < 0 || r->num_speeds < 0 || r->num_contacts < 0 || r->most_passes <= 0 ||
        !(r->tolerance >= 0.0)) {
        return tali_breach(
            TAL_ERR_BAD_VALUE, where,
            "a number of rows, speeds, contacts or passes, or the tolerance, is negative");
    }
    if (r->num_rows == 0) return TAL_OK;
    if (r->J_start == NULL || r->J_index == NULL || r->J == NULL || r->K_start == NULL ||
        r->K_index == NULL || r->K == NULL || r->b == NULL || pi == NULL || u == NULL ||
        work == NULL || iwork == NULL || (r->contacts == NULL && r->num_contacts > 0)) {
        return tali_breach(TAL_ERR_NULL, where, "an array is NULL");
    }
    if (!is_list(r->J_start, r->J_index, r->num_rows, r->num_speeds) ||
        !is_list(r->K_start, r->K_index, r->num_rows, r->num_speeds)) {
        return tali_breach(
            TAL_ERR_BAD_INDEX, where,
            "the lists of J or K do not follow each other, or name a speed that does not exist");
    }
    return TAL_OK;
}

// u0 becomes u0 + K pi for the guess.
static void start(iteration *s)
{
    for (int i = 0; i < s->rows->num_rows; ++i) {
        s->diagonal[i] = find_diagonal(s->rows, i);
        add_force(s, i, s->pi[i]);
    }
}

tal_status tal_friction_iterate(const tal_friction_rows *rows, double pi[], double u[],
                                double work[], int iwork[], tal_friction_passes *report,
                                tal_error *err)
{
    tal_status st = check_rows(rows, pi, u, work, iwork);
    if (st != TAL_OK) return st;
    tal_friction_passes unread;
    if (report == NULL) report = &unread;
    *report = (tal_friction_passes){0};
    if (rows->num_rows == 0) return TAL_OK;
    iteration s = {.rows = rows, .pi = pi, .u = u, .diagonal = work, .contact_of = iwork};
    st = tali_friction_check(rows->contacts, rows->num_contacts, rows->num_rows, s.contact_of,
                             __func__, err);
    if (st != TAL_OK) return st;

    start(&s);
    while (report->passes < rows->most_passes) {
        visit_all(&s, true);
        ++report->passes;
        if (report->passes % PASSES_PER_CHECK != 0 && report->passes < rows->most_passes) continue;
        visit_all(&s, false);
        report->residual = s.residual / fmax(tali_array_largest(pi, rows->num_rows), DBL_MIN);
        if (report->residual <= rows->tolerance) break;
    }
    if (!tali_finite_all(pi, rows->num_rows) || !tali_finite_all(u, rows->num_speeds)) {
        return TALI_FAIL(err, TAL_ERR_NOT_FINITE,
                         "forces are not finite after %d passes over %d contacts", report->passes,
                         rows->num_contacts);
    }
    return TAL_OK;
}
