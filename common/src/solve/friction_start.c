// Modes of frictional contacts from friction pyramids: a linear complementarity problem.
//
// Bilateral rows are eliminated first. A contact that is not known to slide has a friction force in
// the pyramid of directions D with weights beta >= 0, and gamma, which becomes the speed of slip:
//
//     0 <= a_N                             and  pi_N >= 0
//     0 <= D^T a_T + gamma                 and  beta >= 0      pi_T = D beta
//     0 <= limit + mu pi_N - sum(beta)     and  gamma >= 0
//
// one of each pair being zero. With one tangential row D = [1, -1] is exact. A contact that slides
// has pi_T = -(limit + mu pi_N) d, which changes the column of pi_N and b.
//
// Source: Stewart and Trinkle, Int. J. Numer. Meth. Eng. 39 (1996) 2673; Anitescu and Potra,
// Nonlinear Dynamics 14 (1997) 231.
#include "error_internal.h"

#include "solve/friction_internal.h"

#include <talus/common/complementarity.h>
#include <talus/common/rotation.h>

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

// One unknown of the problem: the force that one unit of it is, a combination of rows.
typedef enum unknown_kind {
    NORMAL,
    FRICTION,
    SPEED
} unknown_kind;

typedef struct pyramid {
    int num;             // unknowns
    int *kind, *contact; // [num]
    double *direction;   // [num][2] of a friction force
    tal_matrix M;        // num x num
    double *q, *z, *w;   // [num]
    double *force;       // [n] scratch: a force of all rows
    tal_matrix reduced;  // n x n: A of the rows of contacts, bilateral ones eliminated
    double *b;           // [n] likewise
} pyramid;

// Two for each contact and its facets; a contact has at most n rows. More than any memory has room
// for are INT_MAX.
static int most_unknowns(int n, int num_contacts)
{
    const int64_t num = (int64_t)num_contacts * (2 + TALI_FRICTION_FACETS) + n;
    return num < INT_MAX ? (int)num : INT_MAX;
}

size_t tali_friction_start_work(int n, int num_contacts)
{
    const int num = most_unknowns(n, num_contacts);
    const size_t m = (size_t)num, rows = (size_t)n;
    return m * m + 5 * m + 3 * rows * rows + 3 * rows + tal_pchol_work_size(n) +
           tal_lemke_work_size(num);
}

size_t tali_friction_start_iwork(int n, int num_contacts)
{
    const int num = most_unknowns(n, num_contacts);
    return 3 * (size_t)num + tal_lemke_iwork_size(num) + 2 * (size_t)n;
}

// --- bilateral rows are eliminated ---

// A - A_E A_EE^+ A_E^T and b - A_E A_EE^+ b_E in the rows of contacts; E are the bilateral rows.
static tal_status eliminate_bilateral(const tali_friction *f, pyramid *p, double work[],
                                      int iwork[])
{
    const int n = f->n;
    int *const rows = iwork, num = 0;
    for (int i = 0; i < n; ++i) {
        if (f->contact_of[i] < 0) rows[num++] = i;
    }
    tal_matrix E = tal_matrix_view(work, num, num);
    tal_matrix B = tal_matrix_view(work + num * num, num, n + 1);
    for (int j = 0; j < n; ++j) {
        p->b[j] = f->b[j];
        for (int i = 0; i < n; ++i) {
            tali_dense_col(p->reduced, j)[i] = tali_friction_entry(f, i, j);
        }
        for (int e = 0; e < num; ++e) {
            tali_dense_col(B, j)[e] = tali_dense_col(f->A, j)[rows[e]];
        }
    }
    for (int e = 0; e < num; ++e) {
        tali_dense_col(B, n)[e] = f->b[rows[e]];
        for (int k = 0; k < num; ++k) {
            tali_dense_col(E, k)[e] = tali_dense_col(f->A, rows[k])[rows[e]];
        }
    }
    tal_pchol factor;
    tal_status st = tal_pchol_factor(&factor, E, 64.0 * n * DBL_EPSILON,
                                     work + num * num + num * (n + 1), iwork + n, NULL);
    if (st == TAL_OK) st = tal_pchol_solve_min_norm(&factor, B, NULL);
    for (int j = 0; st == TAL_OK && j <= n; ++j) {
        double *const column = j < n ? tali_dense_col(p->reduced, j) : p->b;
        for (int e = 0; e < num; ++e) {
            tali_dense_axpy(n, -tali_dense_col(B, j)[e], tali_dense_col(f->A, rows[e]), column);
        }
    }
    return st;
}

// --- unknowns ---

static void add_unknown(pyramid *p, unknown_kind kind, int contact, double x, double y)
{
    p->kind[p->num] = (int)kind;
    p->contact[p->num] = contact;
    p->direction[2 * p->num] = x;
    p->direction[2 * p->num + 1] = y;
    ++p->num;
}

static bool may_stick(const tal_friction_contact *c)
{
    return c->num_tangents > 0 && !c->slides;
}

static void list_unknowns(const tali_friction *f, pyramid *p, int facets)
{
    p->num = 0;
    for (int k = 0; k < f->num_contacts; ++k) {
        const tal_friction_contact *c = &f->contacts[k];
        if (c->normal >= 0) add_unknown(p, NORMAL, k, 0.0, 0.0);
        if (!may_stick(c)) continue;
        const int sides = c->num_tangents == 1 ? 2 : facets;
        for (int i = 0; i < sides; ++i) {
            const double angle = 2.0 * TAL_PI * i / sides;
            add_unknown(p, FRICTION, k, cos(angle), c->num_tangents == 1 ? 0.0 : sin(angle));
        }
        add_unknown(p, SPEED, k, 0.0, 0.0);
    }
}

// The force of one unit of an unknown, all rows: a sliding contact's friction comes with its normal
// force.
static void find_force(const tali_friction *f, const pyramid *p, int unknown, double force[])
{
    const tal_friction_contact *c = &f->contacts[p->contact[unknown]];
    memset(force, 0, (size_t)f->n * sizeof *force);
    if (p->kind[unknown] == NORMAL) {
        force[c->normal] = 1.0;
        for (int t = 0; c->slides && t < c->num_tangents; ++t) {
            force[c->tangent + t] = -tali_friction_finite_mu(c->sliding_mu) * c->direction[t];
        }
    } else if (p->kind[unknown] == FRICTION) {
        for (int t = 0; t < c->num_tangents; ++t) {
            force[c->tangent + t] = p->direction[2 * unknown + t];
        }
    }
}

// What a complementary row sees of accelerations a: a_N, or D^T a_T. A speed row sees forces.
static double seen(const tali_friction *f, const pyramid *p, int unknown, const double a[])
{
    const tal_friction_contact *c = &f->contacts[p->contact[unknown]];
    if (p->kind[unknown] == NORMAL) return a[c->normal];
    double sum = 0.0;
    for (int t = 0; t < c->num_tangents; ++t) {
        sum += p->direction[2 * unknown + t] * a[c->tangent + t];
    }
    return sum;
}

// Row i of column j that does not come from accelerations.
static double coupling(const tali_friction *f, const pyramid *p, int i, int j)
{
    if (p->contact[i] != p->contact[j]) return 0.0;
    if (p->kind[i] == FRICTION && p->kind[j] == SPEED) return 1.0;
    if (p->kind[i] != SPEED) return 0.0;
    const tal_friction_contact *c = &f->contacts[p->contact[i]];
    if (p->kind[j] == NORMAL) return tali_friction_finite_mu(c->static_mu);
    return p->kind[j] == FRICTION ? -1.0 : 0.0;
}

static void multiply(tal_matrix A, const double x[], double y[])
{
    memset(y, 0, (size_t)A.rows * sizeof *y);
    for (int j = 0; j < A.cols; ++j) {
        if (x[j] != 0.0) tali_dense_axpy(A.rows, x[j], tali_dense_col(A, j), y);
    }
}

// M and q. Sliding contacts with a limit push with it from the start.
static void fill(const tali_friction *f, pyramid *p, double a[])
{
    for (int j = 0; j < p->num; ++j) {
        find_force(f, p, j, p->force);
        multiply(p->reduced, p->force, a);
        for (int i = 0; i < p->num; ++i) {
            const double seen_by_i = p->kind[i] == SPEED ? 0.0 : seen(f, p, i, a);
            tali_dense_col(p->M, j)[i] = seen_by_i + coupling(f, p, i, j);
        }
    }
    memset(p->force, 0, (size_t)f->n * sizeof *p->force);
    for (int k = 0; k < f->num_contacts; ++k) {
        const tal_friction_contact *c = &f->contacts[k];
        for (int t = 0; c->slides && t < c->num_tangents; ++t) {
            p->force[c->tangent + t] = -f->limit[k] * c->direction[t];
        }
    }
    multiply(p->reduced, p->force, a);
    for (int i = 0; i < f->n; ++i) {
        a[i] += p->b[i];
    }
    for (int i = 0; i < p->num; ++i) {
        p->q[i] = p->kind[i] == SPEED ? f->limit[p->contact[i]] : seen(f, p, i, a);
    }
}

// --- forces and modes ---

static void read_forces(tali_friction *f, pyramid *p)
{
    double *const pi = f->pi;
    memset(pi, 0, (size_t)f->n * sizeof *pi);
    for (int j = 0; j < p->num; ++j) {
        if (p->z[j] == 0.0 || p->kind[j] == SPEED) continue;
        find_force(f, p, j, p->force);
        tali_dense_axpy(f->n, p->z[j], p->force, pi);
    }
    for (int k = 0; k < f->num_contacts; ++k) {
        const tal_friction_contact *c = &f->contacts[k];
        for (int t = 0; c->slides && t < c->num_tangents; ++t) {
            pi[c->tangent + t] -= f->limit[k] * c->direction[t];
        }
    }
}

static void read_modes(tali_friction *f, const pyramid *p)
{
    const double least_force = 1e-12 * tali_array_largest(f->pi, f->n);
    const double least_speed = 1e-10 * tali_array_largest(f->b, f->n);
    for (int k = 0; k < f->num_contacts; ++k) {
        const tal_friction_contact *c = &f->contacts[k];
        const bool on = c->normal < 0 || f->pi[c->normal] > least_force;
        f->modes[k] = !on ? TAL_FRICTION_OFF : c->slides ? TAL_FRICTION_SLIDE : TAL_FRICTION_STICK;
    }
    for (int j = 0; j < p->num; ++j) {
        const int k = p->contact[j];
        if (p->kind[j] != SPEED || f->modes[k] != TAL_FRICTION_STICK) continue;
        if (p->z[j] > least_speed) f->modes[k] = TAL_FRICTION_SLIP;
    }
}

// Forces of bilateral rows are left to Newton's method, which starts from zeros there.
tal_status tali_friction_start(tali_friction *f, int facets)
{
    const int n = f->n, most = most_unknowns(n, f->num_contacts);
    const size_t rows = (size_t)n, m = (size_t)most;
    double *work = f->work;
    pyramid p = {.kind = f->iwork, .contact = f->iwork + most};
    p.reduced = tal_matrix_view(work, n, n);
    p.b = work + rows * rows;
    p.force = p.b + n;
    double *const a = p.force + n;
    p.direction = a + n;
    p.q = p.direction + 2 * m;
    p.z = p.q + m;
    p.w = p.z + m;
    double *const matrix = p.w + m, *const scratch = matrix + m * m;
    int *const iscratch = f->iwork + 2 * most;

    list_unknowns(f, &p, facets);
    p.M = tal_matrix_view(matrix, p.num, p.num);
    tal_status st = eliminate_bilateral(f, &p, scratch, iscratch);
    if (st != TAL_OK) return TAL_ERR_NO_CONVERGENCE;
    fill(f, &p, a);
    tal_complementarity_report report = {0};
    st = tal_lemke_solve(p.M, p.q, p.z, p.w, scratch, iscratch, &report, NULL);
    f->pivots += report.pivots;
    if (st != TAL_OK) return st == TAL_ERR_INFEASIBLE ? st : TAL_ERR_NO_CONVERGENCE;
    read_forces(f, &p);
    read_modes(f, &p);
    return TAL_OK;
}
