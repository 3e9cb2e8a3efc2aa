// How a body moves across its hinge, for the sweeps from base to tip.
#ifndef TALUS_KERNEL_HINGE_H
#define TALUS_KERNEL_HINGE_H

#include "matter_internal.h"

#include "kernel_math.h"

// V_PM = H u, in Ground.
TAL_ALWAYS_INLINE sv across_hinge(const tali_view *view, int b, const double u[])
{
    const tali_tree *tree = view->tree;
    const sv *H = view->H + tree->u0[b];
    const v3 none = {0.0, 0.0, 0.0};
    switch ((tali_hinge)tree->hinge[b]) {
    case TALI_HINGE_WELD:
        return (sv){none, none};
    case TALI_HINGE_PIN:
        return (sv){v3_scale(u[0], H[0].w), none};
    case TALI_HINGE_SLIDER:
        return (sv){none, v3_scale(u[0], H[0].v)};
    case TALI_HINGE_BALL:
        return (sv){v3_axpy(u[2], H[2].w, v3_axpy(u[1], H[1].w, v3_scale(u[0], H[0].w))), none};
    case TALI_HINGE_TRANSLATION:
        return (sv){none, v3_axpy(u[2], H[2].v, v3_axpy(u[1], H[1].v, v3_scale(u[0], H[0].v)))};
    case TALI_HINGE_FREE:
        return (sv){v3_axpy(u[2], H[2].w, v3_axpy(u[1], H[1].w, v3_scale(u[0], H[0].w))),
                    v3_axpy(u[5], H[5].v, v3_axpy(u[4], H[4].v, v3_scale(u[3], H[3].v)))};
    case TALI_HINGE_LOCKED:
    case TALI_HINGE_MIXED:
    case TALI_HINGE_GENERAL:
        break;
    }
    sv V = {none, none};
    for (int j = 0; j < tree->nu[b]; ++j) {
        V = sv_axpy(u[j], H[j], V);
    }
    return V;
}

// V_PM, and v_rel = v - v_P. In what follows, `is_pin` is a literal: a pin has no v_PM.
typedef struct hinge_motion {
    sv V_PM;
    v3 v_rel;
} hinge_motion;

TAL_ALWAYS_INLINE hinge_motion move_hinge(const tali_view *view, int b, const bool is_pin,
                                          const double u[], v3 w_P)
{
    const int u0 = view->tree->u0[b];
    if (is_pin) {
        const v3 none = {0.0, 0.0, 0.0}, w_PM = v3_scale(u[u0], view->H[u0].w);
        return (hinge_motion){{w_PM, none}, v3_cross(w_P, view->p_PM[b])};
    }
    const sv V_PM = across_hinge(view, b, u + u0);
    return (hinge_motion){V_PM, v3_add_cross(V_PM.v, w_P, view->p_PM[b])};
}

// The acceleration that the parent's and velocities give a body; Hdot_u is for general hinges.
//
//     A = A_P shifted by p + (w_P x w_PM, w_P x (w_P x p + 2 v_PM)) + R_GF Hdot_FM u
TAL_ALWAYS_INLINE sv accelerate(const tali_view *view, int b, const bool is_pin,
                                const hinge_motion *across, v3 w_P, sv A_P, const sv *Hdot_u)
{
    const tali_tree *tree = view->tree;
    sv A = sv_shift_motion(A_P, view->p_PM[b]);
    A.w = v3_add_cross(A.w, w_P, across->V_PM.w);
    if (is_pin) return (sv){A.w, v3_add_cross(A.v, w_P, across->v_rel)};
    A.v = v3_add_cross(A.v, w_P, v3_add(across->v_rel, across->V_PM.v));
    if (tree->hinge[b] != TALI_HINGE_GENERAL) return A;
    const m3 R_GF = m3_mul(view->pose[tree->parent[b]].R_GM, view->constants[b].R_PF);
    return (sv){m3_muladd(R_GF, Hdot_u->w, A.w), m3_muladd(R_GF, Hdot_u->v, A.v)};
}

#endif // TALUS_KERNEL_HINGE_H
