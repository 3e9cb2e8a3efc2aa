// Three translations: H = [0; R_GF]. As a ball, for M^-1 along Ground's axes: H = [0; 1], D = M and
//
//     G = [K; 1],  K = F M^-1,        P+ = [J - F M^-1 F^T 0; 0 0]
//
// DI holds M^-1 and the three G.w hold the columns of K.
#ifndef TALUS_HINGE_TRANSLATION_H
#define TALUS_HINGE_TRANSLATION_H

#include "kernel/hinge_common.h"

TAL_ALWAYS_INLINE void translation_place(placing *to, int b)
{
    const inboard_frame f = place_F(to, b);
    sv *H = place_H(to, b);
    H[0] = (sv){NONE, f.R_GF.x};
    H[1] = (sv){NONE, f.R_GF.y};
    H[2] = (sv){NONE, f.R_GF.z};
    place_M(to, b, f.R_GF, m3_muladd(f.R_GF, load_v3(body_q(to, b)), f.p_PF));
}

TAL_ALWAYS_INLINE carried translation_carry(const tali_tree_view *view, int b, const double u[],
                                            sv V_P, sv A_P, const sv **next_Hdot_u)
{
    (void)next_Hdot_u;
    const sv *H = body_H(view, b);
    const v3 v = v3_axpy(u[2], H[2].v, v3_axpy(u[1], H[1].v, v3_scale(u[0], H[0].v)));
    return carry(view, b, (sv){NONE, v}, V_P, A_P);
}

TAL_ALWAYS_INLINE sv translation_add_Hu(const tali_tree_view *view, int b, const double u[], sv V)
{
    const sv *H = body_H(view, b);
    return (sv){V.w, v3_axpy(u[2], H[2].v, v3_axpy(u[1], H[1].v, v3_axpy(u[0], H[0].v, V.v)))};
}

TAL_ALWAYS_INLINE void translation_mul_HT(const tali_tree_view *view, int b, sv F,
                                          const double udot[], double f[])
{
    (void)udot;
    store_v3(f, m3_tmul_v3(linear_axes(body_H(view, b)), F.v));
}

TAL_ALWAYS_INLINE mask translation_project(const tali_tree_view *view, int b,
                                           const tali_tree_articulated *out,
                                           tali_kernel_open_inertia *at)
{
    sv *G = out->G + view->tree->u0[b];
    double *DI = out->DI + view->tree->d0[b];
    const mask ok = is_definite(at->P.M, at->size_M);
    const s3 MI = s3_inverse(at->P.M);
    const m3 FT = tal_m3_transpose(at->P.F);
    const m3 MIFT = s3_mul_m3(MI, FT); // K^T
    G[0] = (sv){{MIFT.x.x, MIFT.y.x, MIFT.z.x}, NONE};
    G[1] = (sv){{MIFT.x.y, MIFT.y.y, MIFT.z.y}, NONE};
    G[2] = (sv){{MIFT.x.z, MIFT.y.z, MIFT.z.z}, NONE};
    store_s3(DI, MI);
    DI[0] = pick(ok, DI[0], spread(0.0));
    at->P = (abi){schur(at->P.J, FT, MIFT), TAL_MAT3_ZERO, TAL_SYM3_ZERO};
    return ok;
}

// z+ = (z.w + K e, f)
TAL_ALWAYS_INLINE sv translation_inward(const tali_tree_view *view, int b, const double f[], sv z,
                                        double e[])
{
    const sv *G = body_G(view, b);
    const v3 push = m3_mul_v3(linear_axes(body_H(view, b)), load_v3(f));
    const v3 left = v3_sub(push, z.v);
    store_v3(e, left);
    const v3 moment =
        v3_axpy(left.x, G[0].w, v3_axpy(left.y, G[1].w, v3_axpy(left.z, G[2].w, z.w)));
    return sv_shift_force((sv){moment, push}, view->p_PM[b]);
}

TAL_ALWAYS_INLINE sv translation_outward(const tali_tree_view *view, int b, const double e[],
                                         sv A_P, double udot[])
{
    const sv *G = body_G(view, b);
    const sv A = sv_shift_motion(A_P, view->p_PM[b]);
    const v3 KTw = {v3_dot(G[0].w, A.w), v3_dot(G[1].w, A.w), v3_dot(G[2].w, A.w)};
    const v3 v = v3_sub(s3_mul_v3(load_s3(body_DI(view, b)), load_v3(e)), KTw);
    store_v3(udot, m3_tmul_v3(linear_axes(body_H(view, b)), v3_sub(v, A.v)));
    return (sv){A.w, v};
}

TAL_ALWAYS_INLINE void translation_solve(const tali_tree_view *view, int b, const double e[],
                                         double y[])
{
    store_v3(y, s3_mul_v3(load_s3(body_DI(view, b)), load_v3(e)));
}

#endif // TALUS_HINGE_TRANSLATION_H
