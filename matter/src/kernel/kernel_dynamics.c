// The passes that multiply by M^-1, and with it forward dynamics. Notation: kernel_articulated.c.
//
// Given    view->H, p_PM        hinge columns, and the parent's Mo to Mo           Position
//          view->G, DI          P H D^-1 and D^-1                      kernel_articulated.c
//          view->rigid, motion  inertias, V and A0, where bodies move
//          f, F                 forces along mobilities, and on bodies about Mo
// Compute  inward    e = f - H^T z          what is left for each mobility        theory eq. 6.2
//                    z_P += Phi (z + G e)   what the parent feels         theory eq. 6.3 and 6.4
//          outward   udot = D^-1 e - G^T A+,  A = A+ + H udot                     theory eq. 6.2
//
// z begins at each body with the force that it resists: F itself for a product with M^-1, and
// F0 - F for forward dynamics, udot = M^-1 (f - J^T (F0 - F)). Here A means J udot alone.
//
// Source: RBDA eq. 7.45, 7.48 and 7.49, tab. 7.1. There p^A carries I^a c on the way inward; here
// Coriolis terms are in F0 (ADR 14), so M^-1 needs neither velocities nor articulated inertias.
#include "kernel/kernel_hinge.h"
#include "kernel/kernel_inertia.h"
#include "kernel/kernel_set.h"

// F0 - F of one body, where F0 = M A0 + b (theory eq. 4.1), and known accelerations count as if
// velocities had caused them.
TAL_ALWAYS_INLINE sv unbalanced(const tali_tree_view *view, int b, const sv F[], const sv A_known[])
{
    const tali_tree_rates *rates = &view->rates[b];
    const sv A = A_known != NULL ? sv_add(rates->A0, A_known[b]) : rates->A0;
    const sv F0 = newton_euler(&view->rigid[b], A, rates->V.w);
    return F != NULL ? sv_sub(F0, F[b]) : F0;
}

// --- inward: from forces to residuals ---

// Where the tree has particles, they have been treated. A tree without particles has no extra cost.
TAL_ALWAYS_INLINE void pass_inward_of(const tali_tree_view *view, const double f[], const sv F[],
                                      const bool moving, const sv A_known[],
                                      const bool has_particles, double e[], sv open[])
{
    static const double no_force[TAL_MAX_NU] = {0};
    const tali_tree *tree = view->tree;
    for (int b = tree->num_bodies - 1; b > 0; --b) {
        const int u0 = tree->u0[b];
        const double *push = f != NULL ? f + u0 : no_force;
        if (has_particles && tali_kernel_is_particle(tree, view->hinge, b)) continue;
        sv z = tree->is_leaf[b] ? (sv){NONE, NONE} : open[tree->slot[b]];
        if (moving) z = sv_add(z, unbalanced(view, b, F, A_known));
        if (!moving && F != NULL) z = sv_add(z, F[b]);
        const sv shifted = hinge_inward(view, b, push, z, e + u0);
        const int p = tree->parent[b];
        if (p == 0) continue;
        sv *parent = &open[tree->slot[p]];
        *parent = tree->is_last[b] ? shifted : sv_add(*parent, shifted);
    }
}

// What the bodies resist: F itself, or F0 - F.
TAL_ALWAYS_INLINE void pass_inward_all(const tali_tree_view *view, const double f[], const sv F[],
                                       const bool moving, const sv A_known[], double e[], sv open[])
{
    const double sign = spread(moving ? 1.0 : -1.0);
    if (view->tree->num_particles == 0) {
        pass_inward_of(view, f, F, moving, A_known, false, e, open);
    } else {
        view->passes->particles_inward(view, f, F, sign, e);
        pass_inward_of(view, f, F, moving, A_known, true, e, open);
    }
}

static void pass_inward(const tali_tree_view *view, const double f[], const tal_spatial_vec F[],
                        double e[], tal_spatial_vec open[])
{
    pass_inward_all(view, f, F, false, NULL, e, open);
}

static void pass_inward_moving(const tali_tree_view *view, const double f[],
                               const tal_spatial_vec F[], double e[], tal_spatial_vec open[])
{
    if (view->A_known == NULL) {
        pass_inward_all(view, f, F, true, NULL, e, open);
    } else {
        pass_inward_all(view, f, F, true, view->A_known, e, open);
    }
}

static void pass_inward_unit(const tali_tree_view *view, int b, int j, double e[])
{
    const tali_tree *tree = view->tree;
    double f[TAL_MAX_NU] = {0};
    f[j] = spread(1.0);
    sv z = {NONE, NONE};
    for (int a = b; a > 0; a = tree->parent[a]) {
        z = hinge_inward(view, a, f, z, e + tree->u0[a]);
        f[j] = spread(0.0);
    }
}

// --- outward: from residuals to accelerations ---

TAL_ALWAYS_INLINE void pass_outward_of(const tali_tree_view *view, const double e[],
                                       const bool has_particles, double udot[], sv A[])
{
    const tali_tree *tree = view->tree;
    A[0] = (sv){NONE, NONE};
    for (int b = 1; b < tree->num_bodies; ++b) {
        const int u0 = tree->u0[b];
        if (has_particles && tali_kernel_is_particle(tree, view->hinge, b)) continue;
        A[b] = hinge_outward(view, b, e + u0, A[tree->parent[b]], udot + u0);
    }
}

static void pass_outward(const tali_tree_view *view, const double e[], double udot[],
                         tal_spatial_vec A[])
{
    if (view->tree->num_particles == 0) {
        pass_outward_of(view, e, false, udot, A);
    } else {
        view->passes->particles_outward(view, e, udot, A);
        pass_outward_of(view, e, true, udot, A);
    }
}

// --- one force along one path: a row of E = L G^T (theory T-8) ---

static void pass_path(const tali_tree_view *view, const tali_constraint_path_entry path[], int len,
                      const double f[], tal_spatial_vec z[], double e[], double y[])
{
    for (int k = 0; k < len; ++k) {
        const int b = path[k].body;
        const int e0 = path[k].e0;
        const sv shifted = hinge_inward(view, b, f + e0, z[k], e + e0);
        hinge_solve(view, b, e + e0, y + e0);
        if (path[k].parent < 0) continue;
        sv *parent = &z[path[k].parent];
        *parent = sv_add(*parent, shifted);
    }
}

void TALI_KERNEL(dynamics)(tali_passes *out)
{
    out->inward = pass_inward;
    out->inward_moving = pass_inward_moving;
    out->inward_unit = pass_inward_unit;
    out->outward = pass_outward;
    out->path = pass_path;
}
