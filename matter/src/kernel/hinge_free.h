// A free hinge: H = [R_GF 0; 0 R_GF], and for M^-1 along Ground's axes H = 1, D = P. A free body is
// invisible to its parent: P+ = 0. DI holds P^-1 = [A B; B^T C] by blocks:
//
//     A = (J - F M^-1 F^T)^-1,    B = -A F M^-1,    C = M^-1 - M^-1 F^T B
//
// One that carries nothing is a rigid body: M = m 1 and F = m c~, so that A is the inverse of its
// inertia about the mass center, and B = -A c~, C = 1/m - c~ A c~ (manual sec. 12.5.3). Inverting
// that where it is takes 30 operations; turning one that was stored in the body would take 57.
#ifndef TALUS_HINGE_FREE_H
#define TALUS_HINGE_FREE_H

#include "kernel/hinge_common.h"

TAL_ALWAYS_INLINE void free_place(placing *to, int b)
{
    const inboard_frame f = place_F(to, b);
    const double *p_FM = body_q(to, b) + to->model->nq[b] - 3;
    sv *H = place_H(to, b);
    H[0] = (sv){f.R_GF.x, NONE};
    H[1] = (sv){f.R_GF.y, NONE};
    H[2] = (sv){f.R_GF.z, NONE};
    H[3] = (sv){NONE, f.R_GF.x};
    H[4] = (sv){NONE, f.R_GF.y};
    H[5] = (sv){NONE, f.R_GF.z};
    const m3 R_GM = m3_mul(f.R_GF, orientation(to, b));
    place_M(to, b, R_GM, m3_muladd(f.R_GF, load_v3(p_FM), f.p_PF));
}

TAL_ALWAYS_INLINE carried free_carry(const tali_tree_view *view, int b, const double u[], sv V_P,
                                     sv A_P, const sv **next_Hdot_u)
{
    (void)next_Hdot_u;
    const sv *H = body_H(view, b);
    const v3 w = v3_axpy(u[2], H[2].w, v3_axpy(u[1], H[1].w, v3_scale(u[0], H[0].w)));
    const v3 v = v3_axpy(u[5], H[5].v, v3_axpy(u[4], H[4].v, v3_scale(u[3], H[3].v)));
    return carry(view, b, (sv){w, v}, V_P, A_P);
}

TAL_ALWAYS_INLINE sv free_add_Hu(const tali_tree_view *view, int b, const double u[], sv V)
{
    const sv *H = body_H(view, b);
    return (sv){v3_axpy(u[2], H[2].w, v3_axpy(u[1], H[1].w, v3_axpy(u[0], H[0].w, V.w))),
                v3_axpy(u[5], H[5].v, v3_axpy(u[4], H[4].v, v3_axpy(u[3], H[3].v, V.v)))};
}

TAL_ALWAYS_INLINE void free_mul_HT(const tali_tree_view *view, int b, sv F, const double udot[],
                                   double f[])
{
    (void)udot;
    const m3 R_GF = angular_axes(body_H(view, b));
    store_v3(f, m3_tmul_v3(R_GF, F.w));
    store_v3(f + 3, m3_tmul_v3(R_GF, F.v));
}

// s x^T on its way to a column of a symmetric matrix: row i of X c~.
TAL_ALWAYS_INLINE v3 row_times_cross(real x, real y, real z, v3 c)
{
    return v3_cross((v3){x, y, z}, c);
}

// DI of a body that carries nothing; P is its inertia.
TAL_ALWAYS_INLINE mask lone_divide(const abi *P, const tali_kernel_open_inertia *at, double *DI)
{
    const real m = P->M.xx;
    const mask has_mass = less(tiny_pivot(at->size_M.x), m);
    const real inverse = pick(has_mass, 1.0 / m, spread(0.0));
    const v3 mc = {P->F.y.z, P->F.z.x, P->F.x.y}, c = v3_scale(inverse, mc);
    const real cc = v3_dot(mc, c);
    const s3 J = P->J;
    const s3 S = {fused(mc.x, c.x, J.xx - cc), fused(mc.y, c.y, J.yy - cc),
                  fused(mc.z, c.z, J.zz - cc), fused(mc.x, c.y, J.xy),
                  fused(mc.x, c.z, J.xz),      fused(mc.y, c.z, J.yz)};
    const v3 noise = {fused(spread(64.0), cc, at->size_J.x), fused(spread(64.0), cc, at->size_J.y),
                      fused(spread(64.0), cc, at->size_J.z)};
    const mask ok = both(has_mass, is_definite(S, noise));
    const s3 A = s3_inverse(S);
    const v3 x = v3_cross(c, (v3){A.xx, A.xy, A.xz}); // columns of c~ A = B^T
    const v3 y = v3_cross(c, (v3){A.xy, A.yy, A.yz});
    const v3 z = v3_cross(c, (v3){A.xz, A.yz, A.zz});
    const v3 first = row_times_cross(x.x, y.x, z.x, c), second = row_times_cross(x.y, y.y, z.y, c);
    const v3 third = row_times_cross(x.z, y.z, z.z, c);
    store_s3(DI, A);
    store_s3(DI + 6, (s3){inverse - first.x, inverse - second.y, inverse - third.z, -first.y,
                          -first.z, -second.z});
    store_v3(DI + 12, x);
    store_v3(DI + 15, y);
    store_v3(DI + 18, z);
    DI[0] = pick(ok, DI[0], spread(0.0));
    return ok;
}

// P becomes P+ = 0: a free body is invisible to its parent. DI holds P^-1 by blocks.
static inline mask free_project(const tali_tree_view *view, int b, const tali_tree_articulated *out,
                                tali_kernel_open_inertia *at)
{
    double *DI = out->DI + view->tree->d0[b];
    if (view->tree->is_leaf[b]) {
        const mask definite = lone_divide(&at->P, at, DI);
        at->P = (abi){TAL_SYM3_ZERO, TAL_MAT3_ZERO, TAL_SYM3_ZERO};
        return definite;
    }
    const s3 MI = s3_inverse(at->P.M);
    const m3 FT = tal_m3_transpose(at->P.F);
    const m3 MIFT = s3_mul_m3(MI, FT);
    const s3 S = schur(at->P.J, FT, MIFT);
    // S is as noisy as J and M make it; M^-1 from cofactors magnifies that: 64 times as much
    const v3 noise = {fused(spread(64.0), size_along(MIFT.x, at->size_M), at->size_J.x),
                      fused(spread(64.0), size_along(MIFT.y, at->size_M), at->size_J.y),
                      fused(spread(64.0), size_along(MIFT.z, at->size_M), at->size_J.z)};
    const mask ok = both(is_definite(at->P.M, at->size_M), is_definite(S, noise));
    const s3 A = s3_inverse(S);
    const m3 MIFTA = m3_mul(MIFT, tal_m3_from_s3(A)); // -B^T
    const s3 C = tal_s3_add(MI, tal_s3_from_m3(m3_mul(MIFTA, tal_m3_transpose(MIFT))));
    store_s3(DI, A);
    store_s3(DI + 6, C);
    store_v3(DI + 12, v3_scale(spread(-1.0), MIFTA.x)); // columns of B^T
    store_v3(DI + 15, v3_scale(spread(-1.0), MIFTA.y));
    store_v3(DI + 18, v3_scale(spread(-1.0), MIFTA.z));
    DI[0] = pick(ok, DI[0], spread(0.0));
    at->P = (abi){TAL_SYM3_ZERO, TAL_MAT3_ZERO, TAL_SYM3_ZERO};
    return ok;
}

// z+ = f
TAL_ALWAYS_INLINE sv free_inward(const tali_tree_view *view, int b, const double f[], sv z,
                                 double e[])
{
    const m3 R_GF = angular_axes(body_H(view, b));
    const v3 moment = m3_mul_v3(R_GF, load_v3(f));
    const v3 force = m3_mul_v3(R_GF, load_v3(f + 3));
    store_v3(e, v3_sub(moment, z.w));
    store_v3(e + 3, v3_sub(force, z.v));
    return sv_shift_force((sv){moment, force}, view->p_PM[b]);
}

// P^-1 e
TAL_ALWAYS_INLINE sv free_divide(const double DI[], const double e[])
{
    const m3 BT = {load_v3(DI + 12), load_v3(DI + 15), load_v3(DI + 18)};
    const v3 n = load_v3(e), f = load_v3(e + 3);
    return (sv){v3_add(s3_mul_v3(load_s3(DI), n), m3_tmul_v3(BT, f)),
                v3_add(m3_mul_v3(BT, n), s3_mul_v3(load_s3(DI + 6), f))};
}

// H udot = P^-1 e - A+, so A = P^-1 e
TAL_ALWAYS_INLINE sv free_outward(const tali_tree_view *view, int b, const double e[], sv A_P,
                                  double udot[])
{
    const sv Aplus = sv_shift_motion(A_P, view->p_PM[b]);
    const sv A = free_divide(body_DI(view, b), e);
    const m3 R_GF = angular_axes(body_H(view, b));
    store_v3(udot, m3_tmul_v3(R_GF, v3_sub(A.w, Aplus.w)));
    store_v3(udot + 3, m3_tmul_v3(R_GF, v3_sub(A.v, Aplus.v)));
    return A;
}

TAL_ALWAYS_INLINE void free_solve(const tali_tree_view *view, int b, const double e[], double y[])
{
    const sv A = free_divide(body_DI(view, b), e);
    store_v3(y, A.w);
    store_v3(y + 3, A.v);
}

#endif // TALUS_HINGE_FREE_H
