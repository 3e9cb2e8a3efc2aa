// One rigid body's inertia, about its Mo in Ground: what the passes do with it.
#ifndef TALUS_KERNEL_INERTIA_H
#define TALUS_KERNEL_INERTIA_H

#include "kernel/kernel_math.h"
#include "tree/matter_internal.h"

// One body alone, from its frame M to Ground.
TAL_ALWAYS_INLINE tali_tree_composite place_rigid(const tali_tree_pose *pose,
                                                  const tali_tree_constants *constants)
{
    return (tali_tree_composite){constants->mass, m3_mul_v3(pose->R_GM, constants->mc),
                                 s3_reexpress(pose->R_GM, constants->I)};
}

// M A for one rigid body.
TAL_ALWAYS_INLINE sv inertia_times(const tali_tree_composite *rigid, sv A)
{
    return (sv){v3_add_cross(s3_mul_v3(rigid->I, A.w), rigid->mc, A.v),
                v3_add_cross(v3_scale(rigid->mass, A.v), A.w, rigid->mc)};
}

// M A + b: the force that gives a body the acceleration A of its Mo while it turns with w. The
// gyroscopic part b = (w x I w, w x (w x m c)) keeps a rotating body from flying off:
// RBDA eq. 2.68.
TAL_ALWAYS_INLINE sv newton_euler(const tali_tree_composite *rigid, sv A, v3 w)
{
    const sv F = inertia_times(rigid, A);
    return (sv){v3_add_cross(F.w, w, s3_mul_v3(rigid->I, w)),
                v3_add_cross(F.v, w, v3_cross(w, rigid->mc))};
}

// The same from mass properties in M. Turning w and A.w to M and the moment back to Ground takes
// less than turning the inertia, which pays where nothing else needs that.
TAL_ALWAYS_INLINE sv newton_euler_in_M(const tali_tree_pose *pose,
                                       const tali_tree_constants *constants, sv A, v3 w)
{
    const m3 R_GM = pose->R_GM;
    const v3 mc = m3_mul_v3(R_GM, constants->mc);
    const v3 force =
        v3_add_cross(v3_add_cross(v3_scale(constants->mass, A.v), A.w, mc), w, v3_cross(w, mc));
    const v3 w_M = m3_tmul_v3(R_GM, w);
    const v3 Iw_M = s3_mul_v3(constants->I, w_M);
    const v3 moment_M = v3_add_cross(s3_mul_v3(constants->I, m3_tmul_v3(R_GM, A.w)), w_M, Iw_M);
    return (sv){m3_muladd(R_GM, moment_M, v3_cross(mc, A.v)), force};
}

// Inertia I about a point, of a body with mass m and m times its com from there (mc), becomes its
// inertia about another point, from which the first is at r:
//
//     I' = I + (r.s) 1 - (r s^T + s r^T)/2,    s = m r + 2 mc
TAL_ALWAYS_INLINE s3 shift_moments(s3 I, real mass, v3 mc, v3 r)
{
    const v3 s = v3_axpy(mass, r, v3_add(mc, mc));
    const real xx = r.x * s.x, yy = r.y * s.y, zz = r.z * s.z;
    return (s3){I.xx + (yy + zz),
                I.yy + (xx + zz),
                I.zz + (xx + yy),
                fused(spread(-0.5), fused(r.x, s.y, r.y * s.x), I.xy),
                fused(spread(-0.5), fused(r.x, s.z, r.z * s.x), I.xz),
                fused(spread(-0.5), fused(r.y, s.z, r.z * s.y), I.yz)};
}

#endif // TALUS_KERNEL_INERTIA_H
