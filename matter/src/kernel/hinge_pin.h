// A pin turns about one axis: H = [w; 0]. Most hinges are pins, and a pass along a chain of them
// waits for each body before the next one, so here what does not need to wait is done beside that.
#ifndef TALUS_HINGE_PIN_H
#define TALUS_HINGE_PIN_H

#include "kernel/hinge_common.h"

// Turn the frame by the angle about its z axis.
TAL_ALWAYS_INLINE m3 turn_z(m3 R, sine_cosine t)
{
    return (m3){v3_axpy(t.s, R.y, v3_scale(t.c, R.x)), v3_axpy(t.c, R.y, v3_scale(-t.s, R.x)), R.z};
}

// F is turned before the parent turns both; z of F and z of M are one axis.
TAL_ALWAYS_INLINE void pin_place(placing *to, int b)
{
    const tali_tree_constants *constants = &to->constants[b];
    const m3 R_GP = to->at->pose[to->tree->parent[b]].R_GM;
    const m3 R_GM = m3_mul(R_GP, turn_z(constants->R_PF, to->turn));
    place_H(to, b)[0] = (sv){v3_scale(spread(to->tree->sign[b]), R_GM.z), NONE};
    place_M(to, b, R_GM, m3_mul_v3(R_GP, constants->p_PF));
}

// As carry(), where v_PM = 0.
TAL_ALWAYS_INLINE carried pin_carry(const tali_tree_view *view, int b, const double u[], sv V_P,
                                    sv A_P, const sv **next_Hdot_u)
{
    (void)next_Hdot_u;
    const v3 w_P = V_P.w, w_PM = v3_scale(u[0], body_H(view, b)[0].w);
    const v3 v_rel = v3_cross(w_P, view->p_PM[b]);
    const sv A = sv_shift_motion(A_P, view->p_PM[b]);
    return (carried){{v3_add(w_P, w_PM), v3_add(V_P.v, v_rel)},
                     {v3_add_cross(A.w, w_P, w_PM), v3_add_cross(A.v, w_P, v_rel)}};
}

TAL_ALWAYS_INLINE sv pin_add_Hu(const tali_tree_view *view, int b, const double u[], sv V)
{
    return (sv){v3_axpy(u[0], body_H(view, b)[0].w, V.w), V.v};
}

TAL_ALWAYS_INLINE void pin_mul_HT(const tali_tree_view *view, int b, sv F, const double udot[],
                                  double f[])
{
    f[0] = with_rotor(view, b, v3_dot(body_H(view, b)[0].w, F.w), udot);
}

// U = (J w, F^T w). The rotor's inertia adds to D and to nothing else (RBDA eq. 9.28).
TAL_ALWAYS_INLINE mask pin_project(const tali_tree_view *view, int b,
                                   const tali_tree_articulated *out, tali_kernel_open_inertia *at)
{
    mask ok = everywhere(true);
    const v3 w = body_H(view, b)[0].w;
    const sv U = {s3_mul_v3(at->P.J, w), m3_tmul_v3(at->P.F, w)};
    const real D = v3_dot(w, U.w) + view->constants[b].rotor;
    const real DI = inverse_pivot(D, tiny_pivot(size_along(w, at->size_J)), &ok);
    out->DI[view->tree->d0[b]] = DI;
    out->G[view->tree->u0[b]] = (sv){v3_scale(DI, U.w), v3_scale(DI, U.v)};
    at->P = abi_sub_outer(at->P, DI, U);
    return ok;
}

// z and G are shifted to the parent while e is on its way, not z+.
TAL_ALWAYS_INLINE sv pin_inward(const tali_tree_view *view, int b, const double f[], sv z,
                                double e[])
{
    const sv z_P = sv_shift_force(z, view->p_PM[b]);
    const sv G_P = sv_shift_force(body_G(view, b)[0], view->p_PM[b]);
    e[0] = f[0] - v3_dot(body_H(view, b)[0].w, z.w);
    return sv_axpy(e[0], G_P, z_P);
}

// G is shifted to the parent beside the wait for A_P.w, which the product meets last.
TAL_ALWAYS_INLINE sv pin_outward(const tali_tree_view *view, int b, const double e[], sv A_P,
                                 double udot[])
{
    const v3 p_PM = view->p_PM[b];
    const sv G_P = sv_shift_force(body_G(view, b)[0], p_PM);
    const real push = body_DI(view, b)[0] * e[0];
    udot[0] = (push - v3_dot(G_P.v, A_P.v)) - v3_dot(G_P.w, A_P.w);
    return (sv){v3_axpy(udot[0], body_H(view, b)[0].w, A_P.w), v3_add_cross(A_P.v, A_P.w, p_PM)};
}

TAL_ALWAYS_INLINE void pin_solve(const tali_tree_view *view, int b, const double e[], double y[])
{
    y[0] = body_DI(view, b)[0] * e[0];
}

#endif // TALUS_HINGE_PIN_H
