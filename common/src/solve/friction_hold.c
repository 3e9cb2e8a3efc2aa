// Contacts that stick or are open, from a guess: their equations are linear.
//
// Forces that a tiny compliance shares, the same in every contact, are in the limit those of least
// squares, in the units of the problem: they are found at once, where Newton's method follows the
// compliance down (friction.c). With s the scales, A_ij / (s_i s_j) are the entries as they came.
#include "solve/friction_internal.h"

#include <float.h>
#include <string.h>

/// The rows that act, and the factors of their A.
typedef struct held {
    int num;
    int *rows;
    tal_matrix A;
    double *x;
    double *work;
    int *iwork;
} held;

size_t tali_friction_hold_work(int n)
{
    return (size_t)n * (size_t)n + (size_t)n + tal_pchol_work_size(n);
}

size_t tali_friction_hold_iwork(int n)
{
    return (size_t)n + tal_pchol_iwork_size(n);
}

// Rows that no compliance softens have a limit of their own, and slip is not linear.
static bool is_linear(const tali_friction *f)
{
    for (int i = 0; i < f->n; ++i) {
        if (f->contact_of[i] < 0) return false;
    }
    for (int k = 0; k < f->num_contacts; ++k) {
        if (f->modes[k] != TAL_FRICTION_OFF && f->modes[k] != TAL_FRICTION_STICK) return false;
    }
    return true;
}

static void gather(const tali_friction *f, held *h)
{
    double *unit = f->softer; // 1 / s
    h->num = 0;
    for (int i = 0; i < f->n; ++i) {
        unit[i] = 1.0 / f->s[i];
        if (f->modes[f->contact_of[i]] != TAL_FRICTION_OFF) h->rows[h->num++] = i;
    }
    h->A = tal_matrix_view(h->A.data, h->num, h->num);
    for (int l = 0; l < h->num; ++l) {
        const int j = h->rows[l];
        const double *column = tali_dense_col(f->A, j);
        for (int k = l; k < h->num; ++k) {
            const int i = h->rows[k];
            tali_dense_col(h->A, l)[k] = column[i] * unit[i] * unit[j];
        }
        h->x[l] = -f->b[j] * unit[j];
    }
}

// Forces of the present modes. False when there are none.
static bool solve_modes(tali_friction *f, held *h)
{
    gather(f, h);
    ++f->iterations;
    tal_pchol factor;
    const double largest = tali_array_largest_diagonal(h->A.data, h->num, h->num);
    if (tal_pchol_factor(&factor, h->A, 64.0 * h->num * DBL_EPSILON * largest, h->work, h->iwork,
                         NULL) != TAL_OK ||
        tal_pchol_solve_min_norm(&factor, tal_matrix_view(h->x, h->num, 1), NULL) != TAL_OK) {
        return false;
    }
    memset(f->pi, 0, (size_t)f->n * sizeof *f->pi);
    for (int l = 0; l < h->num; ++l) {
        f->pi[h->rows[l]] = h->x[l] * f->softer[h->rows[l]];
    }
    tali_friction_find_a(f);
    return true;
}

// Do the rows that act have no acceleration? Where they contradict each other, they have.
static bool do_hold(const tali_friction *f, const held *h)
{
    const double allowed = 1e-11 * tali_array_largest(f->b, f->n);
    for (int l = 0; l < h->num; ++l) {
        const double a = f->a[h->rows[l]];
        if (!(a <= allowed && -a <= allowed)) return false;
    }
    return true;
}

// A contact without force that does not leave either would take its share.
static bool close_one_that_stays(tali_friction *f)
{
    const double leaves = 1e-9 * tali_array_largest(f->b, f->n);
    for (int k = 0; k < f->num_contacts; ++k) {
        const int normal = f->contacts[k].normal;
        if (normal < 0 || f->modes[k] != TAL_FRICTION_OFF || f->a[normal] > leaves) continue;
        f->modes[k] = TAL_FRICTION_STICK;
        ++f->changes;
        return true;
    }
    return false;
}

bool tali_friction_hold(tali_friction *f)
{
    const int n = f->n;
    held h = {.rows = f->iwork, .iwork = f->iwork + n, .x = f->work};
    h.A = tal_matrix_view(f->work + n, n, n);
    h.work = h.A.data + (size_t)n * (size_t)n;
    f->compliance = 0.0;
    for (int change = 0; change <= f->num_contacts && is_linear(f); ++change) {
        if (!solve_modes(f, &h) || !do_hold(f, &h)) return false;
        if (tali_friction_change_worst(f) < 0 && !close_one_that_stays(f)) return true;
    }
    return false;
}
