// How velocities, accelerations and forces change when one mobility moves or speeds up: what the
// passes for derivatives share. Theory T-13 has the equations and the notation.
#ifndef TALUS_KERNEL_SLOPES_H
#define TALUS_KERNEL_SLOPES_H

#include "kernel/kernel_hinge.h"
#include "kernel/kernel_inertia.h"

// --- spatial products: motion x motion, motion x force ---

TAL_ALWAYS_INLINE sv sv_cross_motion(sv V, sv X)
{
    return (sv){v3_cross(V.w, X.w), v3_add_cross(v3_cross(V.w, X.v), V.v, X.w)};
}

TAL_ALWAYS_INLINE sv sv_cross_force(sv V, sv F)
{
    return (sv){v3_add_cross(v3_cross(V.w, F.w), V.v, F.v), v3_cross(V.w, F.v)};
}

// V + (0, v)
TAL_ALWAYS_INLINE sv add_linear(sv V, v3 v)
{
    return (sv){V.w, v3_add(V.v, v)};
}

TAL_ALWAYS_INLINE sv turn_sv(m3 R, sv V)
{
    return (sv){m3_mul_v3(R, V.w), m3_mul_v3(R, V.v)};
}

// --- forces that turn with what moves: F = (T w, w x f) ---
//
// Two of them appear: the Coriolis force of a moving body, with T = 2 (tr K 1 - K) and f = 2 h, and
// forces that keep their direction in Ground, seen from a body that turns.

TAL_ALWAYS_INLINE sv turning_mul(const tali_kernel_turning *X, v3 w)
{
    return (sv){m3_mul_v3(X->T, w), v3_cross(w, X->f)};
}

// The transpose: of its result the linear part is zero.
TAL_ALWAYS_INLINE v3 turning_tmul(const tali_kernel_turning *X, sv V)
{
    return v3_add_cross(m3_tmul_v3(X->T, V.w), X->f, V.v);
}

// T += (f.p) 1 - f p^T, for a point from which the old one is at p.
TAL_ALWAYS_INLINE tali_kernel_turning turning_shift(const tali_kernel_turning *X, v3 p)
{
    const real along = v3_dot(X->f, p);
    tali_kernel_turning at = {
        {v3_axpy(-p.x, X->f, X->T.x), v3_axpy(-p.y, X->f, X->T.y), v3_axpy(-p.z, X->f, X->T.z)},
        X->f};
    at.T.x.x += along, at.T.y.y += along, at.T.z.z += along;
    return at;
}

TAL_ALWAYS_INLINE tali_kernel_turning turning_add(const tali_kernel_turning *X,
                                                  const tali_kernel_turning *Y)
{
    return (tali_kernel_turning){m3_add(X->T, Y->T), v3_add(X->f, Y->f)};
}

// Coriolis of one body: K = v (m c)^T + w x Q, where Q = tr(I)/2 1 - I, and h = m v + w x m c
// (theory eq. 13.6).
TAL_ALWAYS_INLINE tali_kernel_turning coriolis_of(const tali_tree_composite *rigid, sv V)
{
    const s3 I = rigid->I;
    const v3 mc = rigid->mc;
    const real half = 0.5 * (I.xx + I.yy + I.zz);
    const v3 Kx = v3_axpy(mc.x, V.v, v3_cross(V.w, (v3){half - I.xx, -I.xy, -I.xz}));
    const v3 Ky = v3_axpy(mc.y, V.v, v3_cross(V.w, (v3){-I.xy, half - I.yy, -I.yz}));
    const v3 Kz = v3_axpy(mc.z, V.v, v3_cross(V.w, (v3){-I.xz, -I.yz, half - I.zz}));
    const real trace = 2.0 * (Kx.x + Ky.y + Kz.z);
    const v3 h = v3_add_cross(v3_scale(rigid->mass, V.v), V.w, mc);
    tali_kernel_turning at = {{v3_scale(-2.0, Kx), v3_scale(-2.0, Ky), v3_scale(-2.0, Kz)},
                              v3_scale(2.0, h)};
    at.T.x.x += trace, at.T.y.y += trace, at.T.z.z += trace;
    return at;
}

// A force F about Mo that keeps its components about Bo, which is at r from Mo. A turn w that would
// take it along changes it by w x, and that is missing: at Bo T w = w x n, and then the shift.
TAL_ALWAYS_INLINE tali_kernel_turning kept_force_of(sv F, v3 r)
{
    const v3 n = v3_add_cross(F.w, F.v, r); // about Bo
    const tali_kernel_turning at_B = {{{0.0, -n.z, n.y}, {n.z, 0.0, -n.x}, {-n.y, n.x, 0.0}}, F.v};
    return turning_shift(&at_B, r);
}

// --- one body ---

TAL_ALWAYS_INLINE bool is_general(const tali_tree_view *view, int b)
{
    return view->tree->hinge[b] == TALI_HINGE_GENERAL;
}

// R_GF of a general hinge; others do not need theirs.
TAL_ALWAYS_INLINE m3 slope_R_GF(const tali_tree_view *view, int b)
{
    static const m3 unused = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    if (!is_general(view, b)) return unused;
    return m3_mul(view->pose[view->tree->parent[b]].R_GM, view->constants[b].R_PF);
}

// The sum over k of x_k D_l S_k, where D_l S_k = R_GF (of_H)_lk + (0, v_l x w_k): theory eq. 13.2.
TAL_ALWAYS_INLINE sv along_columns(const tali_tree_view *view, const tali_kernel_slopes *in, int b,
                                   int l, const double x[], v3 w_x, m3 R_GF)
{
    const int nu = view->tree->nu[b];
    const sv moved = {NONE, v3_cross(body_H(view, b)[l].v, w_x)};
    if (!is_general(view, b)) return moved;
    const sv *of_H = in->of_H + view->tree->d0[b] + (ptrdiff_t)l * nu;
    sv sum = {NONE, NONE};
    for (int k = 0; k < nu; ++k) {
        sum = sv_axpy(x[k], of_H[k], sum);
    }
    return sv_add(turn_sv(R_GF, sum), moved);
}

// D_l S_k itself.
TAL_ALWAYS_INLINE sv column_slope(const tali_tree_view *view, const tali_kernel_slopes *in, int b,
                                  int l, int k, m3 R_GF)
{
    const sv *H = body_H(view, b);
    const sv moved = {NONE, v3_cross(H[l].v, H[k].w)};
    if (!is_general(view, b)) return moved;
    const sv *of_H = in->of_H + view->tree->d0[b] + (ptrdiff_t)l * view->tree->nu[b];
    return sv_add(turn_sv(R_GF, of_H[k]), moved);
}

// The force that body b needs, and what of it turns.
TAL_ALWAYS_INLINE tali_kernel_turning kept_force(const tali_tree_view *view,
                                                 const tali_kernel_slopes *in, int b)
{
    return kept_force_of(in->F[b], m3_mul_v3(view->pose[b].R_GM, view->constants[b].X_MB.p));
}

#endif // TALUS_KERNEL_SLOPES_H
