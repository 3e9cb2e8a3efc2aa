// Curvature that is learnt from changes of gradients, where second derivatives are not known:
// the formula of Broyden, Fletcher, Goldfarb and Shanno, damped by Powell so that it stays positive
// definite (NocedalWright eq. 18.13 to 18.16). It is dense; slacks have no curvature.
#include "array_internal.h"

#include "solve/nlp_internal.h"

#include <math.h>
#include <string.h>

// The least share of the old curvature along a step that is kept.
static const double LEAST_SHARE = 0.2;

// A change of x whose square is below this part of that of x says nothing about curvature.
static const double NO_STEP = 1e-30;

static bool is_learnt(const tal_nlp_solver *it)
{
    return it->nlp.calc_hessian == NULL;
}

// Row i, column j <= i, of the lower half.
static size_t place(int i, int j)
{
    return (size_t)i * ((size_t)i + 1) / 2 + (size_t)j;
}

static void set_identity(tal_nlp_solver *it, double scale)
{
    memset(it->H, 0, (size_t)it->num_H * sizeof *it->H);
    for (int i = 0; i < it->nlp.num_unknowns; ++i) {
        it->H[place(i, i)] = scale;
    }
}

void tali_nlp_forget_curvature(tal_nlp_solver *it)
{
    if (!is_learnt(it)) return;
    set_identity(it, 1.0);
    it->has_curvature = false;
}

// The gradient of the Lagrangian where x is, with the present multipliers.
static void calc_gradient(const tal_nlp_solver *it, double out[])
{
    memcpy(out, it->g, (size_t)it->n * sizeof *out);
    tali_nlp_add_JT(it, it->lambda, out);
}

static void mul_curvature(const tal_nlp_solver *it, const double v[], double out[])
{
    const int n = it->nlp.num_unknowns;
    memset(out, 0, (size_t)n * sizeof *out);
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) {
            const double h = it->H[place(i, j)];
            out[i] += h * v[j];
            if (j < i) out[j] += h * v[i];
        }
    }
}

// Before slopes are those at the new x: the gradient at the old one, with the new multipliers.
void tali_nlp_keep_gradient(tal_nlp_solver *it)
{
    if (is_learnt(it)) calc_gradient(it, it->g_before);
}

void tali_nlp_learn_curvature(tal_nlp_solver *it)
{
    if (!is_learnt(it)) return;
    const int n = it->nlp.num_unknowns;
    calc_gradient(it, it->y);
    for (int i = 0; i < n; ++i) {
        it->y[i] -= it->g_before[i];
        it->s[i] = it->x[i] - it->x_before[i];
    }
    const double ss = tali_array_dot(it->s, it->s, n), sy = tali_array_dot(it->s, it->y, n);
    if (!(ss > NO_STEP * tali_array_dot(it->x, it->x, n))) return;
    if (!it->has_curvature && sy > 0.0) set_identity(it, sy / ss);
    it->has_curvature = true;
    mul_curvature(it, it->s, it->Bs);
    const double sBs = tali_array_dot(it->s, it->Bs, n);
    const double share = sy >= LEAST_SHARE * sBs ? 1.0 : (1.0 - LEAST_SHARE) * sBs / (sBs - sy);
    double sr = 0.0;
    for (int i = 0; i < n; ++i) {
        it->y[i] = share * it->y[i] + (1.0 - share) * it->Bs[i];
        sr += it->s[i] * it->y[i];
    }
    if (!(sr > 0.0)) return;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) {
            it->H[place(i, j)] += it->y[i] * it->y[j] / sr - it->Bs[i] * it->Bs[j] / sBs;
        }
    }
}
