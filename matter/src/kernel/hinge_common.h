// What hinges share: the arrays of one body, and the steps that are the same for all of them.
//
// A hinge is a mobilizer as the passes see it. Each kind has a header, hinge_*.h, with the same
// eight functions; kernel_hinge.h chooses among them. Notation: kernel_kinematics.c and
// kernel_articulated.c.
#ifndef TALUS_HINGE_COMMON_H
#define TALUS_HINGE_COMMON_H

#include "real_functions_internal.h"

#include "kernel/kernel_math.h"
#include "kernel/passes_internal.h"

#include <float.h>

// --- the arrays of one body ---

TAL_ALWAYS_INLINE const sv *body_H(const tali_tree_view *view, int b)
{
    return view->H + view->tree->u0[b];
}

TAL_ALWAYS_INLINE const sv *body_G(const tali_tree_view *view, int b)
{
    return view->G + view->tree->u0[b];
}

TAL_ALWAYS_INLINE const double *body_DI(const tali_tree_view *view, int b)
{
    return view->DI + view->tree->d0[b];
}

// R_GF of a ball, translation or free hinge, from the columns it gave to H.
TAL_ALWAYS_INLINE m3 angular_axes(const sv H[])
{
    return (m3){H[0].w, H[1].w, H[2].w};
}

TAL_ALWAYS_INLINE m3 linear_axes(const sv H[])
{
    return (m3){H[0].v, H[1].v, H[2].v};
}

// --- poses ---

// What places bodies, base to tip.
typedef struct placing {
    const tali_tree *tree;
    const tali_tree_constants *constants;
    const tali_matter_model *model;
    const double *q;
    const tali_tree_position *at;
    int general;      ///< which of the general hinges is next
    sine_cosine turn; ///< of a pin
} placing;

// R_GF, and p_PM as far as F.
typedef struct inboard_frame {
    m3 R_GF;
    v3 p_PF;
} inboard_frame;

TAL_ALWAYS_INLINE inboard_frame place_F(const placing *to, int b)
{
    const tali_tree_pose *parent = &to->at->pose[to->tree->parent[b]];
    const tali_tree_constants *constants = &to->constants[b];
    return (inboard_frame){m3_mul(parent->R_GM, constants->R_PF),
                           m3_mul_v3(parent->R_GM, constants->p_PF)};
}

TAL_ALWAYS_INLINE void place_M(const placing *to, int b, m3 R_GM, v3 p_PM)
{
    const tali_tree_pose *parent = &to->at->pose[to->tree->parent[b]];
    to->at->pose[b] = (tali_tree_pose){R_GM, v3_add(parent->p_GM, p_PM)};
    to->at->p_PM[b] = p_PM;
}

TAL_ALWAYS_INLINE sv *place_H(const placing *to, int b)
{
    return to->at->H + to->tree->u0[b];
}

TAL_ALWAYS_INLINE const double *body_q(const placing *to, int b)
{
    return to->q + to->model->q0[b];
}

TAL_ALWAYS_INLINE m3 rotation_of_quaternion(const double q[])
{
    const real s = 2.0 / fused(q[0], q[0], fused(q[1], q[1], fused(q[2], q[2], q[3] * q[3])));
    const real x = s * q[1], y = s * q[2], z = s * q[3];
    const real wx = q[0] * x, wy = q[0] * y, wz = q[0] * z;
    const real xx = q[1] * x, xy = q[1] * y, xz = q[1] * z;
    const real yy = q[2] * y, yz = q[2] * z, zz = q[3] * z;
    return (m3){{1.0 - (yy + zz), xy + wz, xz - wy},
                {xy - wz, 1.0 - (xx + zz), yz + wx},
                {xz + wy, yz - wx, 1.0 - (xx + yy)}};
}

// Rx(q0) Ry(q1) Rz(q2)
static inline m3 rotation_of_angles(const double q[])
{
    const sine_cosine x = sincos_of(q[0]), y = sincos_of(q[1]), z = sincos_of(q[2]);
    const real sxsy = x.s * y.s, cxsy = x.c * y.s;
    return (m3){{y.c * z.c, fused(sxsy, z.c, x.c * z.s), fused(-cxsy, z.c, x.s * z.s)},
                {-y.c * z.s, fused(-sxsy, z.s, x.c * z.c), fused(cxsy, z.s, x.s * z.c)},
                {y.s, -x.s * y.c, x.c * y.c}};
}

// R_FM of a ball or free hinge.
TAL_ALWAYS_INLINE m3 orientation(const placing *to, int b)
{
    const double *q = body_q(to, b);
    return to->model->use_angles[b] != 0 ? rotation_of_angles(q) : rotation_of_quaternion(q);
}

// --- motion ---

// V_GM, and A_GM at udot = 0.
typedef struct carried {
    sv V, A;
} carried;

// From the parent's motion and V_PM = H u:
//
//     V = V_P shifted by p + V_PM                                              theory eq. 3.2
//     A = A_P shifted by p + (w_P x w_PM, w_P x (w_P x p + 2 v_PM))            theory eq. 3.3
TAL_ALWAYS_INLINE carried carry(const tali_tree_view *view, int b, sv V_PM, sv V_P, sv A_P)
{
    const v3 w_P = V_P.w;
    const v3 v_rel = v3_add_cross(V_PM.v, w_P, view->p_PM[b]);
    const sv A = sv_shift_motion(A_P, view->p_PM[b]);
    return (carried){
        {v3_add(w_P, V_PM.w), v3_add(V_P.v, v_rel)},
        {v3_add_cross(A.w, w_P, V_PM.w), v3_add_cross(A.v, w_P, v3_add(v_rel, V_PM.v))}};
}

// f = H^T F along the only speed of a hinge, and what turning its rotor takes (RBDA eq. 9.28).
TAL_ALWAYS_INLINE real with_rotor(const tali_tree_view *view, int b, real own, const double udot[])
{
    return udot != NULL ? fused(view->constants[b].rotor, udot[0], own) : own;
}

// --- pivots of D ---

// A pivot below this is round-off of what was subtracted on the way. Sizes are kept by direction: a
// stretched chain of n pins is as heavy as n^3 across its axes, and still light about them.
TAL_ALWAYS_INLINE real tiny_pivot(real size)
{
    return 64.0 * DBL_EPSILON * size;
}

// The size of a^T S a when the diagonal of S has the given sizes, up to a factor of three.
TAL_ALWAYS_INLINE real size_along(v3 a, v3 size)
{
    return fused(size.x, a.x * a.x, fused(size.y, a.y * a.y, size.z * (a.z * a.z)));
}

TAL_ALWAYS_INLINE real inverse_pivot(real D, real tiny, mask *ok)
{
    const mask good = less(tiny, D);
    *ok = both(*ok, good);
    return pick(good, 1.0 / D, spread(0.0));
}

// True when the pivots of a symmetric matrix S = L D L^T are not round-off, given how large its
// diagonal was. A pivot inherits the noise of those before it: with n_i the noise of S_ii,
//
//     n_j <- n_j + L_ji^2 n_i        since S_ji is known no better than sqrt(n_j n_i)
TAL_ALWAYS_INLINE mask is_definite(s3 S, v3 size)
{
    const real Ly = S.xy / S.xx, Lz = S.xz / S.xx;
    const real yy = fused(-Ly, S.xy, S.yy), yz = fused(-Ly, S.xz, S.yz);
    const real Lzy = yz / yy;
    const real zz = fused(-Lzy, yz, fused(-Lz, S.xz, S.zz));
    const real ny = fused(Ly * Ly, size.x, size.y);
    const real nz = fused(Lzy * Lzy, ny, fused(Lz * Lz, size.x, size.z));
    return both(less(tiny_pivot(size.x), S.xx),
                both(less(tiny_pivot(ny), yy), less(tiny_pivot(nz), zz)));
}

// M - F^T S F for symmetric S, symmetric half only.
TAL_ALWAYS_INLINE s3 schur(s3 M, m3 F, m3 SF)
{
    return (s3){M.xx - v3_dot(F.x, SF.x), M.yy - v3_dot(F.y, SF.y), M.zz - v3_dot(F.z, SF.z),
                M.xy - v3_dot(F.x, SF.y), M.xz - v3_dot(F.x, SF.z), M.yz - v3_dot(F.y, SF.z)};
}

TAL_ALWAYS_INLINE m3 s3_mul_m3(s3 S, m3 A)
{
    return (m3){s3_mul_v3(S, A.x), s3_mul_v3(S, A.y), s3_mul_v3(S, A.z)};
}

#endif // TALUS_HINGE_COMMON_H
