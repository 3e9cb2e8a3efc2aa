// A slider shifts along one axis: H = [0; v].
#ifndef TALUS_HINGE_SLIDER_H
#define TALUS_HINGE_SLIDER_H

#include "kernel/hinge_common.h"

TAL_ALWAYS_INLINE void slider_place(placing *to, int b)
{
    const inboard_frame f = place_F(to, b);
    const real sign = spread(to->tree->sign[b]);
    place_H(to, b)[0] = (sv){NONE, v3_scale(sign, f.R_GF.x)};
    place_M(to, b, f.R_GF, v3_axpy(sign * body_q(to, b)[0], f.R_GF.x, f.p_PF));
}

TAL_ALWAYS_INLINE carried slider_carry(const tali_tree_view *view, int b, const double u[], sv V_P,
                                       sv A_P, const sv **next_Hdot_u)
{
    (void)next_Hdot_u;
    return carry(view, b, (sv){NONE, v3_scale(u[0], body_H(view, b)[0].v)}, V_P, A_P);
}

TAL_ALWAYS_INLINE sv slider_add_Hu(const tali_tree_view *view, int b, const double u[], sv V)
{
    return (sv){V.w, v3_axpy(u[0], body_H(view, b)[0].v, V.v)};
}

TAL_ALWAYS_INLINE void slider_mul_HT(const tali_tree_view *view, int b, sv F, const double udot[],
                                     double f[])
{
    f[0] = with_rotor(view, b, v3_dot(body_H(view, b)[0].v, F.v), udot);
}

// U = (F v, M v), and the rotor as for a pin.
TAL_ALWAYS_INLINE mask slider_project(const tali_tree_view *view, int b,
                                      const tali_tree_articulated *out,
                                      tali_kernel_open_inertia *at)
{
    mask ok = everywhere(true);
    const v3 v = body_H(view, b)[0].v;
    const sv U = {m3_mul_v3(at->P.F, v), s3_mul_v3(at->P.M, v)};
    const real D = v3_dot(v, U.v) + view->constants[b].rotor;
    const real DI = inverse_pivot(D, tiny_pivot(size_along(v, at->size_M)), &ok);
    out->DI[view->tree->d0[b]] = DI;
    out->G[view->tree->u0[b]] = (sv){v3_scale(DI, U.w), v3_scale(DI, U.v)};
    at->P = abi_sub_outer(at->P, DI, U);
    return ok;
}

TAL_ALWAYS_INLINE sv slider_inward(const tali_tree_view *view, int b, const double f[], sv z,
                                   double e[])
{
    e[0] = f[0] - v3_dot(body_H(view, b)[0].v, z.v);
    return sv_shift_force(sv_axpy(e[0], body_G(view, b)[0], z), view->p_PM[b]);
}

TAL_ALWAYS_INLINE sv slider_outward(const tali_tree_view *view, int b, const double e[], sv A_P,
                                    double udot[])
{
    const sv A = sv_shift_motion(A_P, view->p_PM[b]);
    udot[0] = fused(body_DI(view, b)[0], e[0], -sv_dot(body_G(view, b)[0], A));
    return (sv){A.w, v3_axpy(udot[0], body_H(view, b)[0].v, A.v)};
}

TAL_ALWAYS_INLINE void slider_solve(const tali_tree_view *view, int b, const double e[], double y[])
{
    y[0] = body_DI(view, b)[0] * e[0];
}

#endif // TALUS_HINGE_SLIDER_H
