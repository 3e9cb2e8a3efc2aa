// Many contacts with friction: block projected Gauss-Seidel over sparse rows.
//
// The matrix A = J K is never formed. Speeds are kept up to date instead: a row reads its w = J u +
// b and, when its force changes, adds its column of K to u. A contact between two free bodies
// touches twelve numbers so.
//
// Such passes find out soon which contacts push, stick and slip, but forces travel through a stack
// of n bodies in some n^2 passes. As long as contacts stay what they are the problem is a linear
// one, with a symmetric matrix, and conjugate gradients solve it in some n steps. So passes and
// gradients take turns: gradients over the forces that are free, normals that push and friction
// within its cone, until one of them reaches its bound.
//
// Sources: Jourdan, Alart and Jean, Comput. Meth. Appl. Mech. Eng. 155 (1998) 31; for the turns
// Dostal, SIAM J. Optim. 7 (1997) 871.
#include "error_internal.h"
#include "finite_internal.h"

#include "solve/friction_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    PASSES_PER_CHECK = 8
};

// Friction at this share below its cone counts as on it.
static const double ON_CONE = 1e-9;

typedef struct iteration {
    const tal_friction_rows *rows;
    double *pi, *u, *diagonal;
    int *contact_of;
    int *free_rows; // those that gradients change
    int num_free;
    double *rest, *step, *slope; // of free rows, one after the other: -w, a direction, A direction
    double *du;                  // [num_speeds] K direction
    double residual;             // the largest change that the natural map would make
    bool moves;                  // whether forces change, or only the residual is measured
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
    const double change = value - s->pi[i], size = fabs(change);
    if (size > s->residual) s->residual = size; // fmax() would be a call
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
        const double diagonal = s->diagonal[c->tangent + t];
        if (diagonal > softest) softest = diagonal;
    }
    for (int t = 0; t < c->num_tangents; ++t) {
        y[t] = c->slides ? -r * c->direction[t] : wanted(s, c->tangent + t, softest);
    }
    const double square = y[0] * y[0] + y[1] * y[1];
    const double part = square > r * r ? r / sqrt(square) : 1.0;
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
            const double push = wanted(s, c->normal, s->diagonal[c->normal]);
            set_force(s, c->normal, push > 0.0 ? push : 0.0);
        }
        if (c->num_tangents > 0) visit_friction(s, c);
    }
    for (int i = 0; i < r->num_rows; ++i) {
        if (s->contact_of[i] < 0) set_force(s, i, wanted(s, i, s->diagonal[i]));
    }
}

// --- conjugate gradients over free forces ---

static void add_free(iteration *s, int row)
{
    if (s->diagonal[row] > 0.0) s->free_rows[s->num_free++] = row;
}

static double cone_of(const tal_friction_contact *c, double normal)
{
    return c->limit + tali_friction_finite_mu(c->sliding_mu) * normal;
}

static double side_of(const tal_friction_contact *c, const double pi[])
{
    return hypot(c->num_tangents > 0 ? pi[c->tangent] : 0.0,
                 c->num_tangents > 1 ? pi[c->tangent + 1] : 0.0);
}

// Normals that push, friction well within its cone, bilateral rows.
static void find_free(iteration *s)
{
    const tal_friction_rows *r = s->rows;
    s->num_free = 0;
    for (int k = 0; k < r->num_contacts; ++k) {
        const tal_friction_contact *c = &r->contacts[k];
        const double normal = c->normal >= 0 ? s->pi[c->normal] : 0.0;
        if (c->normal >= 0 && normal > 0.0) add_free(s, c->normal);
        const bool sticks = side_of(c, s->pi) < (1.0 - ON_CONE) * cone_of(c, normal);
        for (int t = 0; t < c->num_tangents && sticks && !c->slides; ++t) {
            add_free(s, c->tangent + t);
        }
    }
    for (int i = 0; i < r->num_rows; ++i) {
        if (s->contact_of[i] < 0) add_free(s, i);
    }
}

// slope = A step over free rows, and du = K step.
static double find_slope(iteration *s)
{
    const tal_friction_rows *r = s->rows;
    memset(s->du, 0, (size_t)r->num_speeds * sizeof *s->du);
    for (int f = 0; f < s->num_free; ++f) {
        const int i = s->free_rows[f];
        for (int k = r->K_start[i]; k < r->K_start[i + 1]; ++k) {
            s->du[r->K_index[k]] += r->K[k] * s->step[f];
        }
    }
    double square = 0.0;
    for (int f = 0; f < s->num_free; ++f) {
        const int i = s->free_rows[f];
        double sum = 0.0;
        for (int k = r->J_start[i]; k < r->J_start[i + 1]; ++k) {
            sum += r->J[k] * s->du[r->J_index[k]];
        }
        s->slope[f] = sum;
        square += s->step[f] * sum;
    }
    return square;
}

// How far the forces of a contact may go along a direction, at most `far`: |T + a t| <= r + a q.
static double within_cone(const double T[2], const double t[2], double r, double q, double far)
{
    const double aa = t[0] * t[0] + t[1] * t[1] - q * q;
    const double ab = T[0] * t[0] + T[1] * t[1] - r * q;
    const double bb = r * r - T[0] * T[0] - T[1] * T[1]; // > 0: within
    // aa a^2 + 2 ab a - bb = 0, the first root that is positive
    const double root = ab * ab + aa * bb;
    if (!(bb > 0.0)) return 0.0;
    if (root < 0.0 || (aa <= 0.0 && ab <= 0.0)) return far;
    return fmin(far, bb / (ab + sqrt(root)));
}

// The direction of a row: zero unless it is the next of the free ones.
static double step_of(const iteration *s, int row, int *f)
{
    return *f < s->num_free && s->free_rows[*f] == row ? s->step[(*f)++] : 0.0;
}

// The longest step, at most `far`, after which normals push and friction is within its cone. Free
// rows are in the order of contacts, so one walk finds them.
static double find_length(const iteration *s, double far)
{
    const tal_friction_rows *r = s->rows;
    int f = 0;
    for (int k = 0; k < r->num_contacts; ++k) {
        const tal_friction_contact *c = &r->contacts[k];
        const double normal = c->normal >= 0 ? s->pi[c->normal] : 0.0;
        const double change = c->normal >= 0 ? step_of(s, c->normal, &f) : 0.0;
        if (change < 0.0) far = fmin(far, -normal / change);
        const int first = f;
        double T[2] = {0.0, 0.0}, t[2] = {0.0, 0.0};
        for (int j = 0; j < c->num_tangents; ++j) {
            T[j] = s->pi[c->tangent + j];
            t[j] = step_of(s, c->tangent + j, &f);
        }
        const double mu = tali_friction_finite_mu(c->sliding_mu);
        if (f > first) far = within_cone(T, t, cone_of(c, normal), mu * change, far);
    }
    return far;
}

static double find_rest(iteration *s)
{
    double size = 0.0;
    for (int f = 0; f < s->num_free; ++f) {
        const int i = s->free_rows[f];
        s->rest[f] = -w_of(s, i);
        s->step[f] = s->rest[f] / s->diagonal[i];
        size += s->rest[f] * s->step[f];
    }
    return size;
}

static void take_step(iteration *s, double length)
{
    for (int f = 0; f < s->num_free; ++f) {
        s->pi[s->free_rows[f]] += length * s->step[f];
        s->rest[f] -= length * s->slope[f];
    }
    for (int k = 0; k < s->rows->num_speeds; ++k) {
        s->u[k] += length * s->du[k];
    }
}

// What is left when forces are right to round-off.
static double find_least(const iteration *s)
{
    const double force = 2e-13 * tali_array_largest(s->pi, s->rows->num_rows);
    double sum = 0.0;
    for (int f = 0; f < s->num_free; ++f) {
        sum += s->diagonal[s->free_rows[f]];
    }
    return force * force * sum;
}

// At most `most` steps; how many were made. It ends where a force reaches its bound, or where what
// is left has become a thousandth, or round-off.
static int descend(iteration *s, int most)
{
    find_free(s);
    double size = find_rest(s);
    const double enough = fmax(1e-6 * size, find_least(s)); // squares
    int steps = 0;
    while (steps < most && size > enough && size > 0.0) {
        const double square = find_slope(s);
        ++steps;
        if (!(square > 0.0)) break;
        const double full = size / square, length = find_length(s, full);
        take_step(s, length);
        if (length < full) break;
        double next = 0.0;
        for (int f = 0; f < s->num_free; ++f) {
            next += s->rest[f] * s->rest[f] / s->diagonal[s->free_rows[f]];
        }
        for (int f = 0; f < s->num_free; ++f) {
            s->step[f] = s->rest[f] / s->diagonal[s->free_rows[f]] + next / size * s->step[f];
        }
        size = next;
    }
    return steps;
}

// --- before the first pass ---

// Diagonal of J K: the entries that a row and its own column have in common.
static double find_diagonal(const tal_friction_rows *r, int i)
{
    double sum = 0.0;
    if (r->J_start == r->K_start &&
        r->J_index == r->K_index) { // the same speeds, as of free bodies
        for (int k = r->J_start[i]; k < r->J_start[i + 1]; ++k) {
            sum += r->J[k] * r->K[k];
        }
        return sum;
    }
    for (int k = r->J_start[i]; k < r->J_start[i + 1]; ++k) {
        for (int l = r->K_start[i]; l < r->K_start[i + 1]; ++l) {
            if (r->J_index[k] == r->K_index[l]) sum += r->J[k] * r->K[l];
        }
    }
    return sum;
}

static bool is_list(const int start[], const int index[], int num_rows, int num_speeds)
{
    if (start[0] < 0) return false;
    for (int i = 0; i < num_rows; ++i) {
        if (start[i + 1] < start[i]) return false;
    }
    for (int k = start[0]; k < start[num_rows]; ++k) {
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
    const int n = rows->num_rows;
    iteration s = {.rows = rows,
                   .pi = pi,
                   .u = u,
                   .diagonal = work,
                   .rest = work + n,
                   .step = work + 2 * n,
                   .slope = work + 3 * n,
                   .du = work + 4 * n,
                   .contact_of = iwork,
                   .free_rows = iwork + n};
    st = tali_friction_check(rows->contacts, rows->num_contacts, rows->num_rows, s.contact_of,
                             __func__, err);
    if (st != TAL_OK) return st;

    start(&s);
    // a guess may be wrong in what travels slowly through many bodies, which passes alone would not
    // see: the gradients first
    report->passes += descend(&s, rows->most_passes / 4);
    while (report->passes < rows->most_passes) {
        visit_all(&s, true);
        ++report->passes;
        if (report->passes % PASSES_PER_CHECK != 0 && report->passes < rows->most_passes) continue;
        visit_all(&s, false);
        report->residual = s.residual / fmax(tali_array_largest(pi, rows->num_rows), DBL_MIN);
        if (report->residual <= rows->tolerance) break;
        report->passes += descend(&s, rows->most_passes - report->passes - 1);
    }
    if (!tali_finite_all(pi, rows->num_rows) || !tali_finite_all(u, rows->num_speeds)) {
        return TALI_FAIL(err, TAL_ERR_NOT_FINITE,
                         "forces are not finite after %d passes over %d contacts", report->passes,
                         rows->num_contacts);
    }
    return TAL_OK;
}
