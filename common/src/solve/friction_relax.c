// Modes of frictional contacts by passes of block projected Gauss-Seidel over the dense problem:
// the start that is left where those from pyramids lead nowhere. It is slow, and always comes
// closer to something.
#include "solve/friction_internal.h"

#include <math.h>
#include <string.h>

// Friction this close to what a contact can hold counts as slip.
static const double AT_THE_CONE = 1.0 - 1e-9;

// A force changes, and accelerations with it.
static void add_force(tali_friction *f, int row, double change)
{
    if (change == 0.0) return;
    f->pi[row] += change;
    tali_dense_axpy(f->n, change, tali_dense_col(f->A, row), f->a);
    f->a[row] += f->compliance * f->softness[row] * change;
}

// What a row of one tangent or of two would need; limited to the circle of radius r.
static void relax_tangents(tali_friction *f, const tal_friction_contact *c, double r)
{
    double y[2] = {0.0, 0.0}, D = 0.0;
    for (int t = 0; t < c->num_tangents; ++t) {
        D = fmax(D, tali_friction_entry(f, c->tangent + t, c->tangent + t));
    }
    if (!(D > 0.0)) return;
    for (int t = 0; t < c->num_tangents; ++t) {
        y[t] = f->pi[c->tangent + t] - f->a[c->tangent + t] / D;
    }
    const double size = hypot(y[0], y[1]), part = size > r ? r / size : 1.0;
    for (int t = 0; t < c->num_tangents; ++t) {
        add_force(f, c->tangent + t, part * y[t] - f->pi[c->tangent + t]);
    }
}

// Friction of a contact that slides comes with its normal force, k = A_NN - mu A_NT . d for both.
static void relax_slide(tali_friction *f, int k)
{
    const tal_friction_contact *c = &f->contacts[k];
    const double mu = tali_friction_finite_mu(c->sliding_mu);
    double both = c->normal >= 0 ? tali_friction_entry(f, c->normal, c->normal) : 0.0;
    for (int t = 0; c->normal >= 0 && t < c->num_tangents; ++t) {
        both -= mu * c->direction[t] * tali_friction_entry(f, c->normal, c->tangent + t);
    }
    double r = f->limit[k];
    if (both > 0.0) {
        const double pi = f->pi[c->normal];
        add_force(f, c->normal, fmax(0.0, pi - f->a[c->normal] / both) - pi);
    }
    if (c->normal >= 0) r += mu * f->pi[c->normal];
    for (int t = 0; t < c->num_tangents; ++t) {
        add_force(f, c->tangent + t, -r * c->direction[t] - f->pi[c->tangent + t]);
    }
}

static void relax_contact(tali_friction *f, int k)
{
    const tal_friction_contact *c = &f->contacts[k];
    if (c->slides) {
        relax_slide(f, k);
        return;
    }
    double r = f->limit[k];
    const double D = c->normal >= 0 ? tali_friction_entry(f, c->normal, c->normal) : 0.0;
    if (D > 0.0) {
        const double pi = f->pi[c->normal];
        add_force(f, c->normal, fmax(0.0, pi - f->a[c->normal] / D) - pi);
    }
    if (c->normal >= 0) r += tali_friction_finite_mu(c->sliding_mu) * f->pi[c->normal];
    relax_tangents(f, c, r);
}

static void read_mode(tali_friction *f, int k)
{
    const tal_friction_contact *c = &f->contacts[k];
    double r = f->limit[k];
    if (c->normal >= 0) r += tali_friction_finite_mu(c->sliding_mu) * f->pi[c->normal];
    const double x = c->num_tangents > 0 ? f->pi[c->tangent] : 0.0;
    const double y = c->num_tangents > 1 ? f->pi[c->tangent + 1] : 0.0;
    const bool is_at_cone = c->num_tangents > 0 && hypot(x, y) >= AT_THE_CONE * r;
    f->modes[k] = is_at_cone ? TAL_FRICTION_SLIP : TAL_FRICTION_STICK;
    if (c->slides) f->modes[k] = TAL_FRICTION_SLIDE;
    if (c->normal >= 0 && f->pi[c->normal] == 0.0) f->modes[k] = TAL_FRICTION_OFF;
}

void tali_friction_relax(tali_friction *f, int passes)
{
    memset(f->pi, 0, (size_t)f->n * sizeof *f->pi);
    tali_friction_find_a(f);
    for (int pass = 0; pass < passes; ++pass) {
        for (int k = 0; k < f->num_contacts; ++k) {
            relax_contact(f, k);
        }
        for (int i = 0; i < f->n; ++i) {
            const double D = tali_friction_entry(f, i, i);
            if (f->contact_of[i] < 0 && D > 0.0) add_force(f, i, -f->a[i] / D);
        }
    }
    for (int k = 0; k < f->num_contacts; ++k) {
        read_mode(f, k);
    }
}
