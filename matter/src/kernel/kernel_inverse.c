// Products with J, J^T and M, and inverse dynamics. Notation: kernel_kinematics.c.
//
// Given    view->H, p_PM      hinge columns, and the parent's Mo to Mo              Position
//          view->rates       velocities, for inverse dynamics                      Velocity
//          u, udot, F         speeds, their rates, forces on bodies about Mo
// Compute  J             V = Phi^T V_P + H u, base to tip                      theory eq. 3.2
//          JT            f = H^T F,  F_P += Phi F, tip to base                 theory eq. 3.4
//          mass          f = M udot = J^T M_B J udot                           theory eq. 4.1
//          newton_euler  f = M udot + J^T (F0 - F): A outward, then            theory eq. 3.3
//                        M_B A + b_B - F inward                       theory eq. 1.3 and 3.4
//
// Source: RBDA eq. 5.7 to 5.11, tab. 5.1. Gravity is among the forces F: no accelerating base.
#include "kernel/kernel_hinge.h"
#include "kernel/kernel_inertia.h"
#include "kernel/kernel_set.h"

// --- J and J^T ---

static void pass_J(const tali_tree_view *view, const double u[], tal_spatial_vec V[])
{
    const tali_tree *tree = view->tree;
    V[0] = (sv){NONE, NONE};
    for (int b = 1; b < tree->num_bodies; ++b) {
        const sv V_P = sv_shift_motion(V[tree->parent[b]], view->p_PM[b]);
        V[b] = hinge_add_Hu(view, b, u + tree->u0[b], V_P);
    }
}

static void pass_JT(const tali_tree_view *view, tal_spatial_vec F[], double f[])
{
    const tali_tree *tree = view->tree;
    for (int b = tree->num_bodies - 1; b > 0; --b) {
        hinge_mul_HT(view, b, F[b], NULL, f + tree->u0[b]);
        sv *parent = &F[tree->parent[b]];
        *parent = sv_add(*parent, sv_shift_force(F[b], view->p_PM[b]));
    }
}

// --- M and inverse dynamics ---

// What the children of a body hand down to it.
TAL_ALWAYS_INLINE sv handed_down(const tali_tree *tree, int b, const sv open[])
{
    return tree->is_leaf[b] ? (sv){NONE, NONE} : open[tree->slot[b]];
}

// The force that a body and all it carries need gives f = H^T F, rotor included, and goes to the
// parent, Ground included. The last child is the first to reach the parent's slot.
TAL_ALWAYS_INLINE void hand_down(const tali_tree_view *view, int b, sv needed, const double udot[],
                                 double f[], sv open[])
{
    const tali_tree *tree = view->tree;
    const int u0 = tree->u0[b];
    hinge_mul_HT(view, b, needed, udot != NULL ? udot + u0 : NULL, f + u0);
    const sv shifted = sv_shift_force(needed, view->p_PM[b]);
    sv *parent = &open[tree->slot[tree->parent[b]]];
    *parent = tree->is_last[b] ? shifted : sv_add(*parent, shifted);
}

static void pass_mass(const tali_tree_view *view, const double udot[], double f[],
                      tal_spatial_vec A[], tal_spatial_vec open[])
{
    const tali_tree *tree = view->tree;
    pass_J(view, udot, A);
    for (int b = tree->num_bodies - 1; b > 0; --b) {
        const sv own = inertia_times(&view->rigid[b], A[b]);
        hand_down(view, b, sv_add(handed_down(tree, b, open), own), udot, f, open);
    }
}

// Accelerations from the parent's, velocities and udot: A0 alone is not needed here.
TAL_ALWAYS_INLINE void accelerate_outward(const tali_tree_view *view, const double u[],
                                          const double udot[], sv A[])
{
    const tali_tree *tree = view->tree;
    const sv *next_Hdot_u = view->Hdot_u;
    A[0] = (sv){NONE, NONE};
    for (int b = 1; b < tree->num_bodies; ++b) {
        const int p = tree->parent[b], u0 = tree->u0[b];
        const sv V_P = view->rates[p].V;
        const sv coasting = hinge_carry(view, b, u + u0, V_P, A[p], &next_Hdot_u).A;
        A[b] = udot != NULL ? hinge_add_Hu(view, b, udot + u0, coasting) : coasting;
    }
}

TAL_ALWAYS_INLINE void newton_euler_inward(const tali_tree_view *view, const double udot[],
                                           const sv A[], const sv F[], double f[], sv open[])
{
    const tali_tree *tree = view->tree;
    for (int b = tree->num_bodies - 1; b > 0; --b) {
        sv needed =
            newton_euler_in_M(&view->pose[b], &view->constants[b], A[b], view->rates[b].V.w);
        if (F != NULL) needed = sv_sub(needed, F[b]);
        hand_down(view, b, sv_add(handed_down(tree, b, open), needed), udot, f, open);
    }
}

static tal_spatial_vec pass_newton_euler(const tali_tree_view *view, const double u[],
                                         const double udot[], const tal_spatial_vec F[], double f[],
                                         tal_spatial_vec A[], tal_spatial_vec open[])
{
    if (udot == NULL) {
        accelerate_outward(view, u, NULL, A);
        newton_euler_inward(view, NULL, A, F, f, open);
    } else if (F == NULL) {
        accelerate_outward(view, u, udot, A);
        newton_euler_inward(view, udot, A, NULL, f, open);
    } else {
        accelerate_outward(view, u, udot, A);
        newton_euler_inward(view, udot, A, F, f, open);
    }
    const sv needed = handed_down(view->tree, 0, open);
    return F != NULL ? sv_sub(needed, F[0]) : needed;
}

void TALI_KERNEL(inverse)(tali_passes *out)
{
    out->J = pass_J;
    out->JT = pass_JT;
    out->mass = pass_mass;
    out->newton_euler = pass_newton_euler;
}
