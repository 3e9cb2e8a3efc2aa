// Any other hinge: its columns of H in Ground come from its table. A hinge of which some mobilities
// are known ("mixed") is one, too, with zeros in G and D^-1 for what is known.
#ifndef TALUS_HINGE_GENERAL_H
#define TALUS_HINGE_GENERAL_H

#include "kernel/hinge_common.h"
#include "kernel/hinge_weld.h"

// --- kinematics ---

TAL_ALWAYS_INLINE void general_place(placing *to, int b)
{
    const inboard_frame f = place_F(to, b);
    const tal_xform *X_FM = &to->at->X_FM[to->general++];
    const sv *H_FM = to->at->H_FM + to->tree->u0[b];
    sv *H = place_H(to, b);
    for (int j = 0; j < to->tree->nu[b]; ++j) {
        H[j] = (sv){m3_mul_v3(f.R_GF, H_FM[j].w), m3_mul_v3(f.R_GF, H_FM[j].v)};
    }
    place_M(to, b, m3_mul(f.R_GF, X_FM->R), m3_muladd(f.R_GF, X_FM->p, f.p_PF));
}

TAL_ALWAYS_INLINE sv general_add_Hu(const tali_tree_view *view, int b, const double u[], sv V)
{
    const sv *H = body_H(view, b);
    for (int j = 0; j < view->tree->nu[b]; ++j) {
        V = sv_axpy(u[j], H[j], V);
    }
    return V;
}

// As carry(), and R_GF Hdot_FM u besides.
TAL_ALWAYS_INLINE carried general_carry(const tali_tree_view *view, int b, const double u[], sv V_P,
                                        sv A_P, const sv **next_Hdot_u)
{
    const sv V_PM = general_add_Hu(view, b, u, (sv){NONE, NONE});
    const carried to = carry(view, b, V_PM, V_P, A_P);
    const m3 R_GF = m3_mul(view->pose[view->tree->parent[b]].R_GM, view->constants[b].R_PF);
    const sv *Hdot_u = (*next_Hdot_u)++;
    return (carried){to.V,
                     {m3_muladd(R_GF, Hdot_u->w, to.A.w), m3_muladd(R_GF, Hdot_u->v, to.A.v)}};
}

TAL_ALWAYS_INLINE void general_mul_HT(const tali_tree_view *view, int b, sv F, const double udot[],
                                      double f[])
{
    const sv *H = body_H(view, b);
    const int nu = view->tree->nu[b];
    for (int j = 0; j < nu; ++j) {
        f[j] = sv_dot(H[j], F);
    }
    if (nu == 1) f[0] = with_rotor(view, b, f[0], udot);
}

// --- projection ---

// Invert a symmetric positive definite n x n matrix in place (Gauss-Jordan; an SPD matrix needs no
// pivoting). The pivots are judged by tiny, which comes from the size of P before projection: D
// itself may be pure round-off and cannot judge itself. Noise is passed on as in is_definite().
TAL_ALWAYS_INLINE mask spd_invert(const int n, double A[], real tiny[])
{
    mask ok = everywhere(true);
    for (int k = 0; k < n; ++k) {
        const real inverse = inverse_pivot(A[k * n + k], tiny[k], &ok);
        for (int j = 0; j < n; ++j) {
            const real factor = A[j * n + k] * inverse;
            if (j > k) tiny[j] = fused(factor * factor, tiny[k], tiny[j]);
            for (int i = 0; i < n && j != k; ++i) {
                A[j * n + i] = i == k ? -factor : fused(-factor, A[k * n + i], A[j * n + i]);
            }
        }
        for (int i = 0; i < n; ++i) {
            A[k * n + i] = i == k ? inverse : A[k * n + i] * inverse;
        }
    }
    return ok;
}

// U = P H, D = H^T U, G = U D^-1, P+ = P - G U^T        theory eq. 6.2 and 6.3
TAL_ALWAYS_INLINE mask project_nu(const int nu, tali_kernel_open_inertia *at, const sv H[],
                                  real rotor, sv G[], double DI[])
{
    sv U[TAL_MAX_NU];
    real tiny[TAL_MAX_NU];
    for (int j = 0; j < nu; ++j) {
        U[j] = abi_mul(at->P, H[j]);
        tiny[j] = tiny_pivot(size_along(H[j].w, at->size_J) + size_along(H[j].v, at->size_M));
        for (int i = 0; i <= j; ++i) {
            DI[j * nu + i] = DI[i * nu + j] = sv_dot(U[j], H[i]);
        }
    }
    if (nu == 1) DI[0] += rotor;
    const mask ok = spd_invert(nu, DI, tiny);
    if (nu > 0) DI[0] = pick(ok, DI[0], spread(0.0));

    for (int j = 0; j < nu; ++j) {
        sv g = {NONE, NONE};
        for (int i = 0; i < nu; ++i) {
            g = sv_axpy(DI[j * nu + i], U[i], g);
        }
        G[j] = g;
        at->P = tal_abi_sub(at->P, tal_abi_outer(g, U[j]));
    }
    return ok;
}

static inline mask project_columns(int nu, tali_kernel_open_inertia *at, const sv H[], real rotor,
                                   sv G[], double DI[])
{
    switch (nu) {
    case 1:
        return project_nu(1, at, H, rotor, G, DI);
    case 2:
        return project_nu(2, at, H, rotor, G, DI);
    case 3:
        return project_nu(3, at, H, rotor, G, DI);
    default:
        return project_nu(nu, at, H, rotor, G, DI);
    }
}

// Some mobilities are known: the free columns alone are projected out, the others get zeros. What
// has several mobilities has no rotor.
static inline mask project_mixed(int nu, const uint8_t level[], tali_kernel_open_inertia *at,
                                 const sv H[], sv G[], double DI[])
{
    sv H_free[TAL_MAX_NU], G_free[TAL_MAX_NU];
    double DI_free[TAL_MAX_NU * TAL_MAX_NU];
    int free[TAL_MAX_NU], n = 0;
    for (int j = 0; j < nu; ++j) {
        if (level[j] != TAL_LEVEL_FREE) continue;
        H_free[n] = H[j];
        free[n++] = j;
    }
    const mask ok = project_columns(n, at, H_free, spread(0.0), G_free, DI_free);
    lock_hinge(nu, G, DI);
    for (int j = 0; j < n; ++j) {
        G[free[j]] = G_free[j];
        for (int i = 0; i < n; ++i) {
            DI[free[j] * nu + free[i]] = DI_free[j * n + i];
        }
    }
    return ok;
}

TAL_ALWAYS_INLINE mask general_project(const tali_tree_view *view, int b,
                                       const tali_tree_articulated *out,
                                       tali_kernel_open_inertia *at)
{
    const int nu = view->tree->nu[b], u0 = view->tree->u0[b];
    const sv *H = view->H + u0;
    sv *G = out->G + u0;
    double *DI = out->DI + view->tree->d0[b];
    // a copy, so that the address of the original is never taken and it may live in registers
    tali_kernel_open_inertia copy = *at;
    const mask ok = view->hinge[b] == TALI_HINGE_MIXED
                        ? project_mixed(nu, view->level + u0, &copy, H, G, DI)
                        : project_columns(nu, &copy, H, view->constants[b].rotor, G, DI);
    *at = copy;
    return ok;
}

// --- M^-1 ---

TAL_ALWAYS_INLINE sv general_inward(const tali_tree_view *view, int b, const double f[], sv z,
                                    double e[])
{
    const sv *H = body_H(view, b), *G = body_G(view, b);
    sv zplus = z;
    for (int j = 0; j < view->tree->nu[b]; ++j) {
        e[j] = f[j] - sv_dot(H[j], z);
        zplus = sv_axpy(e[j], G[j], zplus);
    }
    return sv_shift_force(zplus, view->p_PM[b]);
}

TAL_ALWAYS_INLINE sv general_outward(const tali_tree_view *view, int b, const double e[], sv A_P,
                                     double udot[])
{
    const sv *H = body_H(view, b), *G = body_G(view, b);
    const double *DI = body_DI(view, b);
    const int nu = view->tree->nu[b];
    const sv Aplus = sv_shift_motion(A_P, view->p_PM[b]);
    sv A = Aplus;
    for (int j = 0; j < nu; ++j) {
        real sum = -sv_dot(G[j], Aplus);
        for (int i = 0; i < nu; ++i) {
            sum = fused(DI[j * nu + i], e[i], sum);
        }
        udot[j] = sum;
        A = sv_axpy(sum, H[j], A);
    }
    return A;
}

TAL_ALWAYS_INLINE void general_solve(const tali_tree_view *view, int b, const double e[],
                                     double y[])
{
    const double *DI = body_DI(view, b);
    const int nu = view->tree->nu[b];
    for (int j = 0; j < nu; ++j) {
        real sum = spread(0.0);
        for (int i = 0; i < nu; ++i) {
            sum = fused(DI[j * nu + i], e[i], sum);
        }
        y[j] = sum;
    }
}

#endif // TALUS_HINGE_GENERAL_H
