// What L-BFGS remembers, and its two loops.
#include "array_internal.h"
#include "lbfgs_internal.h"

#include <math.h>
#include <stddef.h>

// A change of the gradient along a step counts when it is more than this part of both.
static const double CURVED = 1e-10;

static int next_slot(const tali_lbfgs *it)
{
    return it->num > 0 ? (it->newest + 1) % it->memory : 0;
}

void tali_lbfgs_room(const tali_lbfgs *it, double **s, double **y)
{
    const size_t at = (size_t)next_slot(it) * (size_t)it->n;
    *s = it->s + at;
    *y = it->y + at;
}

bool tali_lbfgs_keep(tali_lbfgs *it, double *curvature)
{
    const int slot = next_slot(it), n = it->n;
    double *s, *y;
    tali_lbfgs_room(it, &s, &y);
    const double sy = tali_array_dot(s, y, n);
    if (curvature != NULL) *curvature = sy;
    const double size = sqrt(tali_array_dot(s, s, n) * tali_array_dot(y, y, n));
    if (!(sy > CURVED * size)) return false;
    it->rho[slot] = 1.0 / sy;
    it->newest = slot;
    if (it->num < it->memory) ++it->num;
    return true;
}

const double *tali_lbfgs_newest_y(const tali_lbfgs *it)
{
    return it->y + (size_t)it->newest * (size_t)it->n;
}

static void add_scaled(double to[], double factor, const double x[], int n)
{
    for (int i = 0; i < n; ++i) {
        to[i] += factor * x[i];
    }
}

// The k-th step, the newest first.
static int slot_of(const tali_lbfgs *it, int k)
{
    return (it->newest + it->memory - k) % it->memory;
}

void tali_lbfgs_undo(tali_lbfgs *it, double d[])
{
    for (int k = 0; k < it->num; ++k) {
        const int j = slot_of(it, k);
        const size_t at = (size_t)j * (size_t)it->n;
        it->alpha[j] = it->rho[j] * tali_array_dot(it->s + at, d, it->n);
        add_scaled(d, -it->alpha[j], it->y + at, it->n);
    }
}

void tali_lbfgs_redo(const tali_lbfgs *it, double d[])
{
    for (int k = it->num - 1; k >= 0; --k) {
        const int j = slot_of(it, k);
        const size_t at = (size_t)j * (size_t)it->n;
        const double beta = it->rho[j] * tali_array_dot(it->y + at, d, it->n);
        add_scaled(d, it->alpha[j] - beta, it->s + at, it->n);
    }
}
