// Small algebra of the pass kernels: common's vectors and matrices, over `real`, with the
// multiply-adds that matter written as fused(). Always inline: out of line, vectors go through
// memory.
#ifndef TALUS_KERNEL_MATH_H
#define TALUS_KERNEL_MATH_H

#include "kernel/kernel_begin.h"

static const v3 NONE = {0};

// --- vectors ---

TAL_ALWAYS_INLINE v3 v3_make(real x, real y, real z)
{
    return (v3){x, y, z};
}

TAL_ALWAYS_INLINE v3 v3_add(v3 a, v3 b)
{
    return (v3){a.x + b.x, a.y + b.y, a.z + b.z};
}

TAL_ALWAYS_INLINE v3 v3_sub(v3 a, v3 b)
{
    return (v3){a.x - b.x, a.y - b.y, a.z - b.z};
}

TAL_ALWAYS_INLINE v3 v3_scale(real s, v3 a)
{
    return (v3){s * a.x, s * a.y, s * a.z};
}

// s a + b
TAL_ALWAYS_INLINE v3 v3_axpy(real s, v3 a, v3 b)
{
    return (v3){fused(s, a.x, b.x), fused(s, a.y, b.y), fused(s, a.z, b.z)};
}

TAL_ALWAYS_INLINE real v3_dot(v3 a, v3 b)
{
    return fused(a.x, b.x, fused(a.y, b.y, a.z * b.z));
}

TAL_ALWAYS_INLINE v3 v3_cross(v3 a, v3 b)
{
    return (v3){fused(a.y, b.z, -(a.z * b.y)), fused(a.z, b.x, -(a.x * b.z)),
                fused(a.x, b.y, -(a.y * b.x))};
}

// c + a x b
TAL_ALWAYS_INLINE v3 v3_add_cross(v3 c, v3 a, v3 b)
{
    return (v3){fused(a.y, b.z, fused(-a.z, b.y, c.x)), fused(a.z, b.x, fused(-a.x, b.z, c.y)),
                fused(a.x, b.y, fused(-a.y, b.x, c.z))};
}

// --- matrices ---

// c + A v
TAL_ALWAYS_INLINE v3 m3_muladd(m3 A, v3 v, v3 c)
{
    return (v3){fused(A.x.x, v.x, fused(A.y.x, v.y, fused(A.z.x, v.z, c.x))),
                fused(A.x.y, v.x, fused(A.y.y, v.y, fused(A.z.y, v.z, c.y))),
                fused(A.x.z, v.x, fused(A.y.z, v.y, fused(A.z.z, v.z, c.z)))};
}

TAL_ALWAYS_INLINE v3 m3_mul_v3(m3 A, v3 v)
{
    return (v3){fused(A.x.x, v.x, fused(A.y.x, v.y, A.z.x * v.z)),
                fused(A.x.y, v.x, fused(A.y.y, v.y, A.z.y * v.z)),
                fused(A.x.z, v.x, fused(A.y.z, v.y, A.z.z * v.z))};
}

// A^T v
TAL_ALWAYS_INLINE v3 m3_tmul_v3(m3 A, v3 v)
{
    return (v3){v3_dot(A.x, v), v3_dot(A.y, v), v3_dot(A.z, v)};
}

TAL_ALWAYS_INLINE m3 m3_mul(m3 A, m3 B)
{
    return (m3){m3_mul_v3(A, B.x), m3_mul_v3(A, B.y), m3_mul_v3(A, B.z)};
}

TAL_ALWAYS_INLINE v3 s3_mul_v3(s3 S, v3 v)
{
    return (v3){fused(S.xx, v.x, fused(S.xy, v.y, S.xz * v.z)),
                fused(S.xy, v.x, fused(S.yy, v.y, S.yz * v.z)),
                fused(S.xz, v.x, fused(S.yz, v.y, S.zz * v.z))};
}

// R S R^T, with R = [x y z]. Taking S_zz 1 out leaves L = S - S_zz 1, whose L_zz is zero:
//
//     R S R^T = S_zz 1 + a x^T + x a^T + b y^T + y b^T
//     a = L_xx x / 2 + L_xy y + L_xz z        b = L_yy y / 2 + L_yz z
TAL_ALWAYS_INLINE s3 s3_reexpress(m3 R, s3 S)
{
    const v3 x = R.x, y = R.y;
    const v3 a = v3_axpy(0.5 * (S.xx - S.zz), x, v3_axpy(S.xy, y, v3_scale(S.xz, R.z)));
    const v3 b = v3_axpy(0.5 * (S.yy - S.zz), y, v3_scale(S.yz, R.z));
    return (s3){fused(spread(2.0), fused(a.x, x.x, b.x * y.x), S.zz),
                fused(spread(2.0), fused(a.y, x.y, b.y * y.y), S.zz),
                fused(spread(2.0), fused(a.z, x.z, b.z * y.z), S.zz),
                fused(a.x, x.y, fused(a.y, x.x, fused(b.x, y.y, b.y * y.x))),
                fused(a.x, x.z, fused(a.z, x.x, fused(b.x, y.z, b.z * y.x))),
                fused(a.y, x.z, fused(a.z, x.y, fused(b.y, y.z, b.z * y.y)))};
}

TAL_ALWAYS_INLINE s3 s3_add(s3 S, s3 T)
{
    return (s3){S.xx + T.xx, S.yy + T.yy, S.zz + T.zz, S.xy + T.xy, S.xz + T.xz, S.yz + T.yz};
}

// Inverse by cofactors; singular gives infinities, which the caller notices.
TAL_ALWAYS_INLINE s3 s3_inverse(s3 S)
{
    const real xx = fused(S.yy, S.zz, -(S.yz * S.yz));
    const real xy = fused(S.xz, S.yz, -(S.xy * S.zz));
    const real xz = fused(S.xy, S.yz, -(S.xz * S.yy));
    const real d = 1.0 / fused(S.xx, xx, fused(S.xy, xy, S.xz * xz));
    return (s3){d * xx,
                d * fused(S.xx, S.zz, -(S.xz * S.xz)),
                d * fused(S.xx, S.yy, -(S.xy * S.xy)),
                d * xy,
                d * xz,
                d * fused(S.xy, S.xz, -(S.xx * S.yz))};
}

// --- vectors and matrices among numbers ---

TAL_ALWAYS_INLINE v3 load_v3(const double from[])
{
    return (v3){from[0], from[1], from[2]};
}

TAL_ALWAYS_INLINE void store_v3(double to[], v3 v)
{
    to[0] = v.x, to[1] = v.y, to[2] = v.z;
}

TAL_ALWAYS_INLINE void store_s3(double to[], s3 S)
{
    to[0] = S.xx, to[1] = S.yy, to[2] = S.zz, to[3] = S.xy, to[4] = S.xz, to[5] = S.yz;
}

TAL_ALWAYS_INLINE s3 load_s3(const double from[])
{
    return (s3){from[0], from[1], from[2], from[3], from[4], from[5]};
}

// --- spatial vectors ---

TAL_ALWAYS_INLINE sv sv_add(sv a, sv b)
{
    return (sv){v3_add(a.w, b.w), v3_add(a.v, b.v)};
}

TAL_ALWAYS_INLINE sv sv_sub(sv a, sv b)
{
    return (sv){v3_sub(a.w, b.w), v3_sub(a.v, b.v)};
}

// s a + b
TAL_ALWAYS_INLINE sv sv_axpy(real s, sv a, sv b)
{
    return (sv){v3_axpy(s, a.w, b.w), v3_axpy(s, a.v, b.v)};
}

TAL_ALWAYS_INLINE real sv_dot(sv a, sv b)
{
    return fused(
        a.w.x, b.w.x,
        fused(a.w.y, b.w.y,
              fused(a.w.z, b.w.z, fused(a.v.x, b.v.x, fused(a.v.y, b.v.y, a.v.z * b.v.z)))));
}

// Motion of the point at p from the reference point, on the same rigid body.
TAL_ALWAYS_INLINE sv sv_shift_motion(sv V, v3 p)
{
    return (sv){V.w, v3_add_cross(V.v, V.w, p)};
}

// Force at the point at p from the reference point, taken about the reference point.
TAL_ALWAYS_INLINE sv sv_shift_force(sv F, v3 p)
{
    return (sv){v3_add_cross(F.w, p, F.v), F.v};
}

// --- articulated inertias: P = [J F; F^T M] ---

TAL_ALWAYS_INLINE sv abi_mul(abi P, sv V)
{
    return (sv){v3_add(s3_mul_v3(P.J, V.w), m3_mul_v3(P.F, V.v)),
                v3_add(m3_tmul_v3(P.F, V.w), s3_mul_v3(P.M, V.v))};
}

TAL_ALWAYS_INLINE m3 m3_add(m3 A, m3 B)
{
    return (m3){v3_add(A.x, B.x), v3_add(A.y, B.y), v3_add(A.z, B.z)};
}

TAL_ALWAYS_INLINE abi abi_add(abi P, abi Q)
{
    return (abi){s3_add(P.J, Q.J), m3_add(P.F, Q.F), s3_add(P.M, Q.M)};
}

// P - s g g^T, symmetric half only.
TAL_ALWAYS_INLINE abi abi_sub_outer(abi P, real s, sv g)
{
    const v3 w = v3_scale(-s, g.w);
    const v3 v = v3_scale(-s, g.v);
    return (abi){
        {fused(w.x, g.w.x, P.J.xx), fused(w.y, g.w.y, P.J.yy), fused(w.z, g.w.z, P.J.zz),
         fused(w.x, g.w.y, P.J.xy), fused(w.x, g.w.z, P.J.xz), fused(w.y, g.w.z, P.J.yz)},
        {v3_axpy(g.v.x, w, P.F.x), v3_axpy(g.v.y, w, P.F.y), v3_axpy(g.v.z, w, P.F.z)},
        {fused(v.x, g.v.x, P.M.xx), fused(v.y, g.v.y, P.M.yy), fused(v.z, g.v.z, P.M.zz),
         fused(v.x, g.v.y, P.M.xy), fused(v.x, g.v.z, P.M.xz), fused(v.y, g.v.z, P.M.yz)},
    };
}

// The same body's inertia about a point from which its reference point is at p:
//
//     F' = F + px M        J' = J + px F^T - F' px
TAL_ALWAYS_INLINE abi abi_shift(abi P, v3 p)
{
    const v3 Mx = {P.M.xx, P.M.xy, P.M.xz};
    const v3 My = {P.M.xy, P.M.yy, P.M.yz};
    const v3 Mz = {P.M.xz, P.M.yz, P.M.zz};
    const m3 F = {v3_add_cross(P.F.x, p, Mx), v3_add_cross(P.F.y, p, My),
                  v3_add_cross(P.F.z, p, Mz)};
    // px F^T has the columns p x (rows of F); -F' px = (px F'^T)^T has the rows p x (rows of F')
    const m3 E = P.F;
    const real xx = fused(p.y, E.z.x + F.z.x, fused(-p.z, E.y.x + F.y.x, P.J.xx));
    const real yy = fused(p.z, E.x.y + F.x.y, fused(-p.x, E.z.y + F.z.y, P.J.yy));
    const real zz = fused(p.x, E.y.z + F.y.z, fused(-p.y, E.x.z + F.x.z, P.J.zz));
    const real xy = fused(p.y, E.z.y, fused(-p.z, E.y.y, P.J.xy));
    const real xz = fused(p.y, E.z.z, fused(-p.z, E.y.z, P.J.xz));
    const real yz = fused(p.z, E.x.z, fused(-p.x, E.z.z, P.J.yz));
    return (abi){{xx, yy, zz, fused(p.z, F.x.x, fused(-p.x, F.z.x, xy)),
                  fused(p.x, F.y.x, fused(-p.y, F.x.x, xz)),
                  fused(p.x, F.y.y, fused(-p.y, F.x.y, yz))},
                 F,
                 P.M};
}

#endif // TALUS_KERNEL_MATH_H
