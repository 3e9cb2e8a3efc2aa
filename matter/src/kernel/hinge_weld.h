// A weld: no motion across it. So is, to M^-1, a hinge whose motion is all known ("locked").
#ifndef TALUS_HINGE_WELD_H
#define TALUS_HINGE_WELD_H

#include "kernel/hinge_common.h"

TAL_ALWAYS_INLINE void weld_place(placing *to, int b)
{
    const inboard_frame f = place_F(to, b);
    place_M(to, b, f.R_GF, f.p_PF);
}

TAL_ALWAYS_INLINE carried weld_carry(const tali_tree_view *view, int b, const double u[], sv V_P,
                                     sv A_P, const sv **next_Hdot_u)
{
    (void)u, (void)next_Hdot_u;
    return carry(view, b, (sv){NONE, NONE}, V_P, A_P);
}

TAL_ALWAYS_INLINE sv weld_add_Hu(const tali_tree_view *view, int b, const double u[], sv V)
{
    (void)view, (void)b, (void)u;
    return V;
}

TAL_ALWAYS_INLINE void weld_mul_HT(const tali_tree_view *view, int b, sv F, const double udot[],
                                   double f[])
{
    (void)view, (void)b, (void)F, (void)udot, (void)f;
}

TAL_ALWAYS_INLINE mask weld_project(const tali_tree_view *view, int b,
                                    const tali_tree_articulated *out, tali_kernel_open_inertia *at)
{
    (void)view, (void)b, (void)out, (void)at;
    return everywhere(true);
}

TAL_ALWAYS_INLINE sv weld_inward(const tali_tree_view *view, int b, const double f[], sv z,
                                 double e[])
{
    (void)f, (void)e;
    return sv_shift_force(z, view->p_PM[b]);
}

TAL_ALWAYS_INLINE sv weld_outward(const tali_tree_view *view, int b, const double e[], sv A_P,
                                  double udot[])
{
    (void)e, (void)udot;
    return sv_shift_motion(A_P, view->p_PM[b]);
}

TAL_ALWAYS_INLINE void weld_solve(const tali_tree_view *view, int b, const double e[], double y[])
{
    (void)view, (void)b, (void)e, (void)y;
}

// --- all known: G = 0, D^-1 = 0, P+ = P, and zeros for every speed ---

TAL_ALWAYS_INLINE void zero_speeds(const tali_tree_view *view, int b, double out[])
{
    for (int j = 0; j < view->tree->nu[b]; ++j) {
        out[j] = spread(0.0);
    }
}

TAL_ALWAYS_INLINE void lock_hinge(int nu, sv G[], double DI[])
{
    for (int j = 0; j < nu; ++j) {
        G[j] = (sv){NONE, NONE};
    }
    for (int i = 0; i < nu * nu; ++i) {
        DI[i] = spread(0.0);
    }
}

TAL_ALWAYS_INLINE mask locked_project(const tali_tree_view *view, int b,
                                      const tali_tree_articulated *out,
                                      tali_kernel_open_inertia *at)
{
    (void)at;
    lock_hinge(view->tree->nu[b], out->G + view->tree->u0[b], out->DI + view->tree->d0[b]);
    return everywhere(true);
}

TAL_ALWAYS_INLINE sv locked_inward(const tali_tree_view *view, int b, const double f[], sv z,
                                   double e[])
{
    zero_speeds(view, b, e);
    return weld_inward(view, b, f, z, e);
}

TAL_ALWAYS_INLINE sv locked_outward(const tali_tree_view *view, int b, const double e[], sv A_P,
                                    double udot[])
{
    zero_speeds(view, b, udot);
    return weld_outward(view, b, e, A_P, udot);
}

TAL_ALWAYS_INLINE void locked_solve(const tali_tree_view *view, int b, const double e[], double y[])
{
    (void)e;
    zero_speeds(view, b, y);
}

#endif // TALUS_HINGE_WELD_H
