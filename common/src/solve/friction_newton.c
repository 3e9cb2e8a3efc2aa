// Forces of frictional contacts for given modes, on the true cones, by Newton's method; and modes
// that are changed one at a time until forces and accelerations agree with them.
//
// Equations, r = limit + mu pi_N:
//
//     bilateral   a = 0
//     OFF         pi = 0
//     STICK       a_N = 0, a_T = 0
//     SLIP        a_N = 0, pi_T = r y / |y| with y = pi_T - a_T
//     SLIDE       a_N = 0, pi_T = -r d with the d that was given
//
// That of SLIP says that pi_T has the length r and that a_T is along it (Alart and Curnier, Comput.
// Meth. Appl. Mech. Eng. 92 (1991) 353). Unlike pi_T = -r a_T / |a_T| it is smooth where a_T
// vanishes, as it does in a contact that sticks with all the friction that it has.
//
// Redundant contacts make the Jacobian singular; steps of least norm keep the sharing that the
// start has.
#include "error_internal.h"

#include "solve/friction_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

// A step that makes the residual this much larger than the problem has failed.
static const double FAR_AWAY = 1e3;

enum {
    MOST_WHOLE_STEPS = 15,
    MOST_SAFE_STEPS = 25,
    MOST_HALVINGS = 10
};

// Equations met to this part of what is added up in them are solved.
#define SOLVED          1e-12
// Forces and accelerations may contradict their mode by this part of the largest.
#define ALLOWED         1e-9
// Singular values of the Jacobian below this part of the largest count as zero: a compliance of
// 1e-4, with masses of ratio 1e4, is still far above it.
#define NULL_DIRECTIONS 1e-10

typedef struct newton {
    double *F;     // [n]
    tal_matrix J;  // n x n
    double *step;  // [n]
    double *kept;  // [n] pi before the step
    double *start; // [n] pi before all steps
    double *work;  // of the factorization
    int *iwork;
} newton;

size_t tali_friction_newton_work(int n)
{
    const size_t m = (size_t)n;
    return m * m + 4 * m + tal_cod_work_size(n, n);
}

size_t tali_friction_newton_iwork(int n)
{
    return tal_cod_iwork_size(n, n);
}

void tali_friction_find_a(tali_friction *f)
{
    for (int i = 0; i < f->n; ++i) {
        f->a[i] = f->b[i];
    }
    for (int j = 0; j < f->n; ++j) {
        if (f->pi[j] == 0.0) continue;
        tali_dense_axpy(f->n, f->pi[j], tali_dense_col(f->A, j), f->a);
        f->a[j] += f->compliance * f->softness[j] * f->pi[j];
    }
}

static double length(const double x[], int n)
{
    return n == 1 ? fabs(x[0]) : hypot(x[0], x[1]);
}

// limit + mu pi_N
static double radius(const tali_friction *f, int k, double mu)
{
    const tal_friction_contact *c = &f->contacts[k];
    const double normal = c->normal >= 0 ? f->pi[c->normal] : 0.0;
    return f->limit[k] + tali_friction_finite_mu(mu) * normal;
}

// --- equations ---

static void set_row_of_A(const tali_friction *f, newton *N, int row, int i)
{
    for (int j = 0; j < f->n; ++j) {
        tali_dense_col(N->J, j)[row] = tali_friction_entry(f, i, j);
    }
    N->F[row] = f->a[i];
}

static void set_row_of_pi(const tali_friction *f, newton *N, int row, int i)
{
    for (int j = 0; j < f->n; ++j) {
        tali_dense_col(N->J, j)[row] = i == j ? 1.0 : 0.0;
    }
    N->F[row] = f->pi[i];
}

// pi_T + r d = 0
static void set_rows_of_slide(const tali_friction *f, newton *N, int k)
{
    const tal_friction_contact *c = &f->contacts[k];
    const double mu = tali_friction_finite_mu(c->sliding_mu), r = radius(f, k, c->sliding_mu);
    for (int t = 0; t < c->num_tangents; ++t) {
        const int row = c->tangent + t;
        set_row_of_pi(f, N, row, row);
        N->F[row] += r * c->direction[t];
        if (c->normal >= 0) tali_dense_col(N->J, c->normal)[row] += mu * c->direction[t];
    }
}

// pi_T - r y / |y| = 0, with d(y / |y|) = (1 - y y^T / |y|^2) dy / |y|.
static void set_rows_of_slip(const tali_friction *f, newton *N, int k)
{
    const tal_friction_contact *c = &f->contacts[k];
    const double mu = tali_friction_finite_mu(c->sliding_mu), r = radius(f, k, c->sliding_mu);
    double y[2] = {0.0, 0.0};
    for (int t = 0; t < c->num_tangents; ++t) {
        y[t] = f->pi[c->tangent + t] - f->a[c->tangent + t];
    }
    const double size = fmax(length(y, c->num_tangents), DBL_MIN);
    for (int t = 0; t < c->num_tangents; ++t) {
        const int row = c->tangent + t;
        set_row_of_pi(f, N, row, row);
        N->F[row] -= r * y[t] / size;
        if (c->normal >= 0) tali_dense_col(N->J, c->normal)[row] -= mu * y[t] / size;
        for (int s = 0; s < c->num_tangents; ++s) {
            const double turn = r / size * ((s == t) - y[s] * y[t] / (size * size));
            tali_dense_col(N->J, c->tangent + s)[row] -= turn;
            for (int j = 0; turn != 0.0 && j < f->n; ++j) {
                tali_dense_col(N->J, j)[row] += turn * tali_friction_entry(f, c->tangent + s, j);
            }
        }
    }
}

static void set_rows_of_contact(const tali_friction *f, newton *N, int k)
{
    const tal_friction_contact *c = &f->contacts[k];
    const bool off = f->modes[k] == TAL_FRICTION_OFF;
    if (c->normal >= 0) {
        (off ? set_row_of_pi : set_row_of_A)(f, N, c->normal, c->normal);
    }
    if (f->modes[k] == TAL_FRICTION_SLIP) {
        set_rows_of_slip(f, N, k);
    } else if (f->modes[k] == TAL_FRICTION_SLIDE) {
        set_rows_of_slide(f, N, k);
    } else {
        for (int t = 0; t < c->num_tangents; ++t) {
            (off ? set_row_of_pi : set_row_of_A)(f, N, c->tangent + t, c->tangent + t);
        }
    }
}

// F and its derivative at the present pi.
static void set_equations(tali_friction *f, newton *N)
{
    tali_friction_find_a(f);
    for (int i = 0; i < f->n; ++i) {
        if (f->contact_of[i] < 0) set_row_of_A(f, N, i, i);
    }
    for (int k = 0; k < f->num_contacts; ++k) {
        set_rows_of_contact(f, N, k);
    }
}

// --- Newton's method ---

static double size_of(const newton *N)
{
    return tali_array_largest(N->F, N->J.rows);
}

// What equations are measured by: the largest force or acceleration.
static double scale_of(const tali_friction *f)
{
    return fmax(tali_array_largest(f->b, f->n), tali_array_largest(f->pi, f->n));
}

// Newton's step into N->step; pi is kept. False when there is none.
static bool find_step(tali_friction *f, newton *N)
{
    for (int i = 0; i < f->n; ++i) {
        N->step[i] = -N->F[i];
    }
    memcpy(N->kept, f->pi, (size_t)f->n * sizeof *N->kept);
    tal_cod factor;
    if (tal_cod_factor(&factor, N->J, NULL_DIRECTIONS, N->work, N->iwork, NULL) != TAL_OK) {
        return false;
    }
    const tal_matrix step = tal_matrix_view(N->step, f->n, 1);
    return tal_cod_solve(&factor, step, step, NULL) == TAL_OK;
}

static void move(tali_friction *f, newton *N, double part)
{
    memcpy(f->pi, N->kept, (size_t)f->n * sizeof *N->kept);
    tali_dense_axpy(f->n, part, N->step, f->pi);
    set_equations(f, N);
}

// A step, shortened until the equations are met better. False when they are not.
static bool take_safe_step(tali_friction *f, newton *N)
{
    const double before = size_of(N);
    if (!find_step(f, N)) return false;
    for (int k = 0; k < MOST_HALVINGS; ++k) {
        const double part = ldexp(1.0, -k);
        move(f, N, part);
        if (size_of(N) < (1.0 - 0.1 * part) * before) return true;
    }
    move(f, N, 0.0);
    return false;
}

// A whole step. The cones are curved: one step leaves them, the next comes back, and nearer.
static bool take_whole_step(tali_friction *f, newton *N)
{
    if (!find_step(f, N)) return false;
    move(f, N, 1.0);
    return size_of(N) < FAR_AWAY * scale_of(f);
}

static bool is_solved(const tali_friction *f, const newton *N, double part)
{
    return size_of(N) <= part * scale_of(f);
}

// Iterate with one kind of step. Round-off ends it; what is left then may still be good enough.
static bool iterate(tali_friction *f, newton *N, bool (*take)(tali_friction *, newton *), int most)
{
    set_equations(f, N);
    for (int k = 0; k < most && !is_solved(f, N, 4.0 * DBL_EPSILON); ++k) {
        const double before = size_of(N);
        ++f->iterations;
        if (!take(f, N)) break;
        if (is_solved(f, N, SOLVED) && size_of(N) > before / 2.0) break;
    }
    return is_solved(f, N, SOLVED * f->n);
}

// Whole steps are quick where they converge; safe ones start where those did.
static bool solve_modes(tali_friction *f, newton *N)
{
    memcpy(N->start, f->pi, (size_t)f->n * sizeof *N->start);
    if (iterate(f, N, take_whole_step, MOST_WHOLE_STEPS)) return true;
    memcpy(f->pi, N->start, (size_t)f->n * sizeof *N->start);
    return iterate(f, N, take_safe_step, MOST_SAFE_STEPS);
}

// --- do forces and accelerations agree with the modes? ---

typedef struct disagreement {
    double amount; // as a part of the largest force or acceleration
    int contact;
    int mode; // what it should be
} disagreement;

static void note(disagreement *worst, double amount, int contact, tal_friction_mode mode)
{
    if (amount > worst->amount) *worst = (disagreement){amount, contact, (int)mode};
}

// A contact that was found to push: sticking, unless its direction of sliding is known.
static tal_friction_mode mode_on(const tal_friction_contact *c)
{
    return c->slides ? TAL_FRICTION_SLIDE : TAL_FRICTION_STICK;
}

static void judge(const tali_friction *f, int k, double force, double acceleration,
                  disagreement *worst)
{
    const tal_friction_contact *c = &f->contacts[k];
    const bool off = f->modes[k] == TAL_FRICTION_OFF;
    if (c->normal >= 0 && off) {
        note(worst, -f->a[c->normal] / acceleration, k, mode_on(c));
    } else if (c->normal >= 0) {
        note(worst, -f->pi[c->normal] / force, k, TAL_FRICTION_OFF);
    }
    if (c->num_tangents == 0 || off) return;
    if (f->modes[k] == TAL_FRICTION_STICK && c->static_mu < HUGE_VAL) {
        const double excess =
            length(f->pi + c->tangent, c->num_tangents) - radius(f, k, c->static_mu);
        note(worst, excess / force, k, TAL_FRICTION_SLIP);
    }
    // slipping along its friction force, or not at all
    if (f->modes[k] == TAL_FRICTION_SLIP) {
        const double along = tali_array_dot(f->pi + c->tangent, f->a + c->tangent, c->num_tangents);
        note(worst, along / (force * acceleration), k, TAL_FRICTION_STICK);
    }
}

// The mode that disagrees most, if any does by more than is allowed.
static disagreement find_worst(const tali_friction *f)
{
    disagreement worst = {ALLOWED, -1, 0};
    const double force = fmax(tali_array_largest(f->pi, f->n), 1e-300);
    const double acceleration = fmax(tali_array_largest(f->b, f->n), 1e-300);
    for (int k = 0; k < f->num_contacts; ++k) {
        judge(f, k, force, acceleration, &worst);
    }
    return worst;
}

static void release(tali_friction *f, int k)
{
    const tal_friction_contact *c = &f->contacts[k];
    if (c->normal >= 0) f->pi[c->normal] = 0.0;
    for (int t = 0; t < c->num_tangents; ++t) {
        f->pi[c->tangent + t] = 0.0;
    }
}

// A contact that begins to slip starts against its friction force.
static void change_mode(tali_friction *f, int k, int mode)
{
    f->modes[k] = mode;
    ++f->changes;
    if (mode == TAL_FRICTION_OFF) release(f, k);
}

// Where equations of slip cannot be solved a contact may stick in truth: the slowest is tried.
static int slowest_slip(const tali_friction *f)
{
    int slowest = -1;
    double least = HUGE_VAL;
    for (int k = 0; k < f->num_contacts; ++k) {
        if (f->modes[k] != TAL_FRICTION_SLIP) continue;
        const double slip = length(f->a + f->contacts[k].tangent, f->contacts[k].num_tangents);
        if (slip < least) {
            least = slip;
            slowest = k;
        }
    }
    return slowest;
}

// A contact on its cone that does not slip sticks. Round-off is no force: where nothing pushes it
// would be the largest one.
static void settle_modes(tali_friction *f)
{
    const double least = ALLOWED * tali_array_largest(f->b, f->n);
    for (int k = 0; k < f->num_contacts; ++k) {
        const tal_friction_contact *c = &f->contacts[k];
        if (f->modes[k] == TAL_FRICTION_OFF) release(f, k);
        if (f->modes[k] != TAL_FRICTION_SLIP) continue;
        if (length(f->a + c->tangent, c->num_tangents) <= least) f->modes[k] = TAL_FRICTION_STICK;
    }
}

int tali_friction_change_worst(tali_friction *f)
{
    const disagreement worst = find_worst(f);
    if (worst.contact >= 0) change_mode(f, worst.contact, worst.mode);
    return worst.contact;
}

tal_status tali_friction_polish(tali_friction *f)
{
    const int n = f->n;
    newton N = {.F = f->work, .step = f->work + n, .kept = f->work + 2 * n, .iwork = f->iwork};
    N.start = f->work + 3 * n;
    N.J = tal_matrix_view(f->work + 4 * n, n, n);
    N.work = N.J.data + (size_t)n * (size_t)n;
    for (int change = 0; change <= 2 * f->num_contacts + 10; ++change) {
        const bool solved = solve_modes(f, &N);
        if (tali_friction_change_worst(f) >= 0) continue;
        if (solved) {
            settle_modes(f);
            return TAL_OK;
        }
        const int slowest = slowest_slip(f);
        if (slowest < 0) return TAL_ERR_NO_CONVERGENCE;
        change_mode(f, slowest, TAL_FRICTION_STICK);
    }
    return TAL_ERR_NO_CONVERGENCE;
}
