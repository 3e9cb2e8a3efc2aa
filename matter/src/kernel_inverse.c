// Products with J, J^T and M, and inverse dynamics. Notation as in kernel_articulated.c.
#include "kernel_hinge.h"
#include "kernel_inertia.h"
#include "kernel_math.h"
#include "kernel_set.h"

static const v3 NONE = {0.0, 0.0, 0.0};

// --- J and J^T ---

// V + H u
TAL_ALWAYS_INLINE sv add_hinge(const tali_tree *tree, const sv H[], int b, const double u[], sv V)
{
    switch ((tali_hinge)tree->hinge[b]) {
    case TALI_HINGE_WELD:
        return V;
    case TALI_HINGE_PIN:
        return (sv){v3_axpy(u[0], H[0].w, V.w), V.v};
    case TALI_HINGE_SLIDER:
        return (sv){V.w, v3_axpy(u[0], H[0].v, V.v)};
    default:
        break;
    }
    for (int j = 0; j < tree->nu[b]; ++j) {
        V = sv_axpy(u[j], H[j], V);
    }
    return V;
}

// f = H^T F
TAL_ALWAYS_INLINE void hinge_force(const tali_tree *tree, const sv H[], int b, sv F, double f[])
{
    if (tree->hinge[b] == TALI_HINGE_PIN) {
        f[0] = v3_dot(H[0].w, F.w);
        return;
    }
    for (int j = 0; j < tree->nu[b]; ++j) {
        f[j] = sv_dot(H[j], F);
    }
}

static void sweep_J(const tali_view *view, const double u[], tal_spatial_vec V[])
{
    const tali_tree *tree = view->tree;
    V[0] = (sv){NONE, NONE};
    for (int b = 1; b < tree->num_bodies; ++b) {
        const int u0 = tree->u0[b];
        const sv V_P = sv_shift_motion(V[tree->parent[b]], view->p_PM[b]);
        V[b] = add_hinge(tree, view->H + u0, b, u + u0, V_P);
    }
}

static void sweep_JT(const tali_view *view, tal_spatial_vec F[], double f[])
{
    const tali_tree *tree = view->tree;
    for (int b = tree->num_bodies - 1; b > 0; --b) {
        const int u0 = tree->u0[b];
        hinge_force(tree, view->H + u0, b, F[b], f + u0);
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
TAL_ALWAYS_INLINE void hand_down(const tali_view *view, int b, sv needed, const double udot[],
                                 double f[], sv open[])
{
    const tali_tree *tree = view->tree;
    const int u0 = tree->u0[b], p = tree->parent[b];
    if (tree->hinge[b] == TALI_HINGE_PIN) {
        const real own = v3_dot(view->H[u0].w, needed.w);
        f[u0] = udot != NULL ? fused(view->constants[b].rotor, udot[u0], own) : own;
    } else {
        hinge_force(tree, view->H + u0, b, needed, f + u0);
        const bool turns_rotor = udot != NULL && tree->nu[b] == 1;
        if (turns_rotor) f[u0] = fused(view->constants[b].rotor, udot[u0], f[u0]);
    }
    const sv shifted = sv_shift_force(needed, view->p_PM[b]);
    sv *parent = &open[tree->slot[p]];
    *parent = tree->is_last[b] ? shifted : sv_add(*parent, shifted);
}

static void sweep_mass(const tali_view *view, const double udot[], double f[], tal_spatial_vec A[],
                       tal_spatial_vec open[])
{
    const tali_tree *tree = view->tree;
    sweep_J(view, udot, A);
    for (int b = tree->num_bodies - 1; b > 0; --b) {
        const sv own = inertia_times(&view->rigid[b], A[b]);
        hand_down(view, b, sv_add(handed_down(tree, b, open), own), udot, f, open);
    }
}

// The acceleration of one body, from its parent's, velocities and udot: A0 alone is of no use here.
TAL_ALWAYS_INLINE sv accelerate_body(const tali_view *view, int b, const bool is_pin,
                                     const double u[], const double udot[], sv A_P,
                                     const sv *Hdot_u)
{
    const tali_tree *tree = view->tree;
    const int u0 = tree->u0[b];
    const v3 w_P = view->motion[tree->parent[b]].V.w;
    const hinge_motion across = move_hinge(view, b, is_pin, u, w_P);
    const sv A = accelerate(view, b, is_pin, &across, w_P, A_P, Hdot_u);
    if (udot == NULL) return A;
    if (is_pin) return (sv){v3_axpy(udot[u0], view->H[u0].w, A.w), A.v};
    return add_hinge(tree, view->H + u0, b, udot + u0, A);
}

TAL_ALWAYS_INLINE void accelerate_outward(const tali_view *view, const double u[],
                                          const double udot[], sv A[])
{
    const tali_tree *tree = view->tree;
    int general = 0;
    A[0] = (sv){NONE, NONE};
    for (int b = 1; b < tree->num_bodies; ++b) {
        const sv A_P = A[tree->parent[b]];
        const sv *Hdot_u = &view->Hdot_u[general];
        if (tree->hinge[b] == TALI_HINGE_PIN) {
            A[b] = accelerate_body(view, b, true, u, udot, A_P, Hdot_u);
        } else {
            A[b] = accelerate_body(view, b, false, u, udot, A_P, Hdot_u);
            general += tree->hinge[b] == TALI_HINGE_GENERAL;
        }
    }
}

TAL_ALWAYS_INLINE void newton_euler_inward(const tali_view *view, const double udot[], const sv A[],
                                           const sv F[], double f[], sv open[])
{
    const tali_tree *tree = view->tree;
    for (int b = tree->num_bodies - 1; b > 0; --b) {
        sv needed =
            newton_euler_in_M(&view->pose[b], &view->constants[b], A[b], view->motion[b].V.w);
        if (F != NULL) needed = sv_sub(needed, F[b]);
        hand_down(view, b, sv_add(handed_down(tree, b, open), needed), udot, f, open);
    }
}

static tal_spatial_vec sweep_newton_euler(const tali_view *view, const double u[],
                                          const double udot[], const tal_spatial_vec F[],
                                          double f[], tal_spatial_vec A[], tal_spatial_vec open[])
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

void TALI_KERNEL(inverse)(tali_sweeps *out)
{
    out->J = sweep_J;
    out->JT = sweep_JT;
    out->mass = sweep_mass;
    out->newton_euler = sweep_newton_euler;
}
