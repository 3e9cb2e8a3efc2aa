// A ball turns freely: H = [R_GF; 0]. For M^-1 it works along Ground's axes instead, where
// H = [1; 0], D = J and
//
//     G = [1; K],  K = F^T J^-1,        P+ = [0 0; 0 M - F^T J^-1 F]
//
// DI holds J^-1 and the three G.v hold the columns of K; e is along Ground's axes, too.
#ifndef TALUS_HINGE_BALL_H
#define TALUS_HINGE_BALL_H

#include "kernel/hinge_common.h"

TAL_ALWAYS_INLINE void ball_place(placing *to, int b)
{
    const inboard_frame f = place_F(to, b);
    sv *H = place_H(to, b);
    H[0] = (sv){f.R_GF.x, NONE};
    H[1] = (sv){f.R_GF.y, NONE};
    H[2] = (sv){f.R_GF.z, NONE};
    place_M(to, b, m3_mul(f.R_GF, orientation(to, b)), f.p_PF);
}

TAL_ALWAYS_INLINE carried ball_carry(const tali_tree_view *view, int b, const double u[], sv V_P,
                                     sv A_P, const sv **next_Hdot_u)
{
    (void)next_Hdot_u;
    const sv *H = body_H(view, b);
    const v3 w = v3_axpy(u[2], H[2].w, v3_axpy(u[1], H[1].w, v3_scale(u[0], H[0].w)));
    return carry(view, b, (sv){w, NONE}, V_P, A_P);
}

TAL_ALWAYS_INLINE sv ball_add_Hu(const tali_tree_view *view, int b, const double u[], sv V)
{
    const sv *H = body_H(view, b);
    return (sv){v3_axpy(u[2], H[2].w, v3_axpy(u[1], H[1].w, v3_axpy(u[0], H[0].w, V.w))), V.v};
}

TAL_ALWAYS_INLINE void ball_mul_HT(const tali_tree_view *view, int b, sv F, const double udot[],
                                   double f[])
{
    (void)udot;
    store_v3(f, m3_tmul_v3(angular_axes(body_H(view, b)), F.w));
}

TAL_ALWAYS_INLINE mask ball_project(const tali_tree_view *view, int b,
                                    const tali_tree_articulated *out, tali_kernel_open_inertia *at)
{
    sv *G = out->G + view->tree->u0[b];
    double *DI = out->DI + view->tree->d0[b];
    const mask ok = is_definite(at->P.J, at->size_J);
    const s3 JI = s3_inverse(at->P.J);
    const m3 JIF = s3_mul_m3(JI, at->P.F); // K^T
    G[0] = (sv){NONE, {JIF.x.x, JIF.y.x, JIF.z.x}};
    G[1] = (sv){NONE, {JIF.x.y, JIF.y.y, JIF.z.y}};
    G[2] = (sv){NONE, {JIF.x.z, JIF.y.z, JIF.z.z}};
    store_s3(DI, JI);
    DI[0] = pick(ok, DI[0], spread(0.0));
    at->P = (abi){TAL_SYM3_ZERO, TAL_MAT3_ZERO, schur(at->P.M, at->P.F, JIF)};
    return ok;
}

// z+ = (f, z.v + K e)
TAL_ALWAYS_INLINE sv ball_inward(const tali_tree_view *view, int b, const double f[], sv z,
                                 double e[])
{
    const sv *G = body_G(view, b);
    const v3 push = m3_mul_v3(angular_axes(body_H(view, b)), load_v3(f));
    const v3 left = v3_sub(push, z.w);
    store_v3(e, left);
    const v3 force = v3_axpy(left.x, G[0].v, v3_axpy(left.y, G[1].v, v3_axpy(left.z, G[2].v, z.v)));
    return sv_shift_force((sv){push, force}, view->p_PM[b]);
}

// H udot = J^-1 e - A+.w - K^T A+.v, so A+.w drops out of A.w
TAL_ALWAYS_INLINE sv ball_outward(const tali_tree_view *view, int b, const double e[], sv A_P,
                                  double udot[])
{
    const sv *G = body_G(view, b);
    const sv A = sv_shift_motion(A_P, view->p_PM[b]);
    const v3 KTv = {v3_dot(G[0].v, A.v), v3_dot(G[1].v, A.v), v3_dot(G[2].v, A.v)};
    const v3 w = v3_sub(s3_mul_v3(load_s3(body_DI(view, b)), load_v3(e)), KTv);
    store_v3(udot, m3_tmul_v3(angular_axes(body_H(view, b)), v3_sub(w, A.w)));
    return (sv){w, A.v};
}

TAL_ALWAYS_INLINE void ball_solve(const tali_tree_view *view, int b, const double e[], double y[])
{
    store_v3(y, s3_mul_v3(load_s3(body_DI(view, b)), load_v3(e)));
}

#endif // TALUS_HINGE_BALL_H
