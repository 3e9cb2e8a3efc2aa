// Articulated-body inertias, tip to base, and what M^-1 needs of them.
//
//   quantity               RBDA (Featherstone 2008)   JAIN (2011)      here
//   hinge map              S                          H*               H     nu columns
//   articulated inertia    I^A                        P                P
//   felt past the joint    I^a          eq. 7.23      P+   eq. 6.25    P after project()
//   P H                    U            eq. 7.43                       U
//   H^T P H                D            eq. 7.44      D    eq. 6.13    D
//   P H D^-1                                          G    eq. 6.13    G
//
// Caution: our H is the transpose of JAIN's, so that V = H u reads as it does everywhere else.
#include "kernel_math.h"
#include "kernel_set.h"

#include <float.h>

static const v3 NONE = {0.0, 0.0, 0.0};

// --- projection across one hinge: P becomes P+, and G and D^-1 are written ---

// A pivot below this is round-off of what was subtracted on the way. Sizes are kept by direction: a
// stretched chain of n pins is as heavy as n^3 across its axes, and still light about them.
static inline real tiny_pivot(real size)
{
    return 64.0 * DBL_EPSILON * size;
}

// The size of a^T S a when the diagonal of S has the given sizes, up to a factor of three.
static inline real size_along(v3 a, v3 size)
{
    return fused(size.x, a.x * a.x, fused(size.y, a.y * a.y, size.z * (a.z * a.z)));
}

static inline real inverse_pivot(real D, real tiny, mask *ok)
{
    const mask good = less(tiny, D);
    *ok = *ok && good;
    return pick(good, 1.0 / D, 0.0);
}

// H = [w; 0]: U = (J w, F^T w). The rotor's inertia adds to D and to nothing else (RBDA eq. 9.28).
static inline mask project_pin(tali_open_inertia *at, v3 w, real rotor, sv *G, double *DI)
{
    mask ok = true;
    const sv U = {s3_mul_v3(at->P.J, w), m3_tmul_v3(at->P.F, w)};
    DI[0] = inverse_pivot(v3_dot(w, U.w) + rotor, tiny_pivot(size_along(w, at->size_J)), &ok);
    *G = (sv){v3_scale(DI[0], U.w), v3_scale(DI[0], U.v)};
    at->P = abi_sub_outer(at->P, DI[0], U);
    return ok;
}

// H = [0; v]: U = (F v, M v)
static inline mask project_slider(tali_open_inertia *at, v3 v, real rotor, sv *G, double *DI)
{
    mask ok = true;
    const sv U = {m3_mul_v3(at->P.F, v), s3_mul_v3(at->P.M, v)};
    DI[0] = inverse_pivot(v3_dot(v, U.v) + rotor, tiny_pivot(size_along(v, at->size_M)), &ok);
    *G = (sv){v3_scale(DI[0], U.w), v3_scale(DI[0], U.v)};
    at->P = abi_sub_outer(at->P, DI[0], U);
    return ok;
}

// True when the pivots of a symmetric matrix S = L D L^T are not round-off, given how large its
// diagonal was. A pivot inherits the noise of those before it: with n_i the noise of S_ii,
//
//     n_j <- n_j + L_ji^2 n_i        since S_ji is known no better than sqrt(n_j n_i)
static inline mask is_definite(s3 S, v3 size)
{
    const real Ly = S.xy / S.xx, Lz = S.xz / S.xx;
    const real yy = fused(-Ly, S.xy, S.yy), yz = fused(-Ly, S.xz, S.yz);
    const real Lzy = yz / yy;
    const real zz = fused(-Lzy, yz, fused(-Lz, S.xz, S.zz));
    const real ny = fused(Ly * Ly, size.x, size.y);
    const real nz = fused(Lzy * Lzy, ny, fused(Lz * Lz, size.x, size.z));
    return less(tiny_pivot(size.x), S.xx) && less(tiny_pivot(ny), yy) && less(tiny_pivot(nz), zz);
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

// A ball turns freely, so along Ground's axes H = [1; 0], D = J and
//
//     G = [1; K],  K = F^T J^-1,        P+ = [0 0; 0 M - F^T J^-1 F]
//
// DI holds J^-1 and the three G.v hold the columns of K.
static inline mask project_ball(tali_open_inertia *at, sv G[], double DI[])
{
    const mask ok = is_definite(at->P.J, at->size_J);
    const s3 JI = s3_inverse(at->P.J);
    const m3 JIF = s3_mul_m3(JI, at->P.F); // K^T
    G[0] = (sv){NONE, {JIF.x.x, JIF.y.x, JIF.z.x}};
    G[1] = (sv){NONE, {JIF.x.y, JIF.y.y, JIF.z.y}};
    G[2] = (sv){NONE, {JIF.x.z, JIF.y.z, JIF.z.z}};
    store_s3(DI, JI);
    DI[0] = pick(ok, DI[0], 0.0);
    at->P = (abi){TAL_SYM3_ZERO, TAL_MAT3_ZERO, schur(at->P.M, at->P.F, JIF)};
    return ok;
}

// The same for three translations: H = [0; 1], D = M, G = [K; 1] with K = F M^-1.
static inline mask project_translation(tali_open_inertia *at, sv G[], double DI[])
{
    const mask ok = is_definite(at->P.M, at->size_M);
    const s3 MI = s3_inverse(at->P.M);
    const m3 FT = tal_m3_transpose(at->P.F);
    const m3 MIFT = s3_mul_m3(MI, FT); // K^T
    G[0] = (sv){{MIFT.x.x, MIFT.y.x, MIFT.z.x}, NONE};
    G[1] = (sv){{MIFT.x.y, MIFT.y.y, MIFT.z.y}, NONE};
    G[2] = (sv){{MIFT.x.z, MIFT.y.z, MIFT.z.z}, NONE};
    store_s3(DI, MI);
    DI[0] = pick(ok, DI[0], 0.0);
    at->P = (abi){schur(at->P.J, FT, MIFT), TAL_MAT3_ZERO, TAL_SYM3_ZERO};
    return ok;
}

// A free body is invisible to its parent: P+ = 0. DI holds P^-1 = [A B; B^T C] by blocks:
//
//     A = (J - F M^-1 F^T)^-1,    B = -A F M^-1,    C = M^-1 - M^-1 F^T B
static mask project_free(tali_open_inertia *at, double DI[])
{
    const s3 MI = s3_inverse(at->P.M);
    const m3 FT = tal_m3_transpose(at->P.F);
    const m3 MIFT = s3_mul_m3(MI, FT);
    const s3 S = schur(at->P.J, FT, MIFT);
    // S is as noisy as J and M make it; M^-1 from cofactors magnifies that, hence 64
    const v3 noise = {fused(64.0, size_along(MIFT.x, at->size_M), at->size_J.x),
                      fused(64.0, size_along(MIFT.y, at->size_M), at->size_J.y),
                      fused(64.0, size_along(MIFT.z, at->size_M), at->size_J.z)};
    const mask ok = is_definite(at->P.M, at->size_M) && is_definite(S, noise);
    const s3 A = s3_inverse(S);
    const m3 MIFTA = m3_mul(MIFT, tal_m3_from_s3(A)); // -B^T
    const s3 C = tal_s3_add(MI, tal_s3_from_m3(m3_mul(MIFTA, tal_m3_transpose(MIFT))));
    store_s3(DI, A);
    store_s3(DI + 6, C);
    store_v3(DI + 12, v3_scale(-1.0, MIFTA.x)); // columns of B^T
    store_v3(DI + 15, v3_scale(-1.0, MIFTA.y));
    store_v3(DI + 18, v3_scale(-1.0, MIFTA.z));
    DI[0] = pick(ok, DI[0], 0.0);
    at->P = (abi){TAL_SYM3_ZERO, TAL_MAT3_ZERO, TAL_SYM3_ZERO};
    return ok;
}

// Invert a symmetric positive definite n x n matrix in place (Gauss-Jordan; an SPD matrix needs no
// pivoting). The pivots are judged by tiny, which comes from the size of P before projection: D
// itself may be pure round-off and cannot judge itself. Noise is passed on as in is_definite().
TAL_ALWAYS_INLINE mask spd_invert(const int n, double A[], real tiny[])
{
    mask ok = true;
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

// Any hinge: U = P H, D = H^T U, G = U D^-1, P+ = P - G U^T.
TAL_ALWAYS_INLINE mask project_nu(const int nu, tali_open_inertia *at, const sv H[], real rotor,
                                  sv G[], double DI[])
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
    if (nu > 0) DI[0] = pick(ok, DI[0], 0.0);

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

static mask project_general(int nu, tali_open_inertia *at, const sv H[], real rotor, sv G[],
                            double DI[])
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

// No motion across it: G = 0, D^-1 = 0, P+ = P.
static inline void lock_hinge(int nu, sv G[], double DI[])
{
    for (int j = 0; j < nu; ++j) {
        G[j] = (sv){NONE, NONE};
    }
    for (int i = 0; i < nu * nu; ++i) {
        DI[i] = 0.0;
    }
}

// Some mobilities are known: the free columns alone are projected out, the others get zeros. What
// has several mobilities has no rotor.
static mask project_mixed(int nu, const uint8_t level[], tali_open_inertia *at, const sv H[],
                          sv G[], double DI[])
{
    sv H_free[TAL_MAX_NU], G_free[TAL_MAX_NU];
    double DI_free[TAL_MAX_NU * TAL_MAX_NU];
    int free[TAL_MAX_NU], n = 0;
    for (int j = 0; j < nu; ++j) {
        if (level[j] != TAL_LEVEL_FREE) continue;
        H_free[n] = H[j];
        free[n++] = j;
    }
    const mask ok = project_general(n, at, H_free, 0.0, G_free, DI_free);
    lock_hinge(nu, G, DI);
    for (int j = 0; j < n; ++j) {
        G[free[j]] = G_free[j];
        for (int i = 0; i < n; ++i) {
            DI[free[j] * nu + free[i]] = DI_free[j * n + i];
        }
    }
    return ok;
}

static inline mask project(const tali_view *view, int b, const tali_articulated *out,
                           tali_open_inertia *at)
{
    const tali_tree *tree = view->tree;
    const sv *H = view->H + tree->u0[b];
    sv *G = out->G + tree->u0[b];
    double *DI = out->DI + tree->d0[b];
    const real rotor = view->constants[b].rotor;
    switch ((tali_hinge)view->hinge[b]) {
    case TALI_HINGE_WELD:
        return true;
    case TALI_HINGE_PIN:
        return project_pin(at, H[0].w, rotor, G, DI);
    case TALI_HINGE_SLIDER:
        return project_slider(at, H[0].v, rotor, G, DI);
    case TALI_HINGE_BALL:
        return project_ball(at, G, DI);
    case TALI_HINGE_TRANSLATION:
        return project_translation(at, G, DI);
    case TALI_HINGE_FREE:
        return project_free(at, DI);
    case TALI_HINGE_LOCKED:
        lock_hinge(tree->nu[b], G, DI);
        return true;
    case TALI_HINGE_MIXED:
    case TALI_HINGE_GENERAL:
        break;
    }
    // a copy, so that the address of the original is never taken and it may live in registers
    tali_open_inertia copy = *at;
    const mask ok = view->hinge[b] == TALI_HINGE_MIXED
                        ? project_mixed(tree->nu[b], view->level + tree->u0[b], &copy, H, G, DI)
                        : project_general(tree->nu[b], &copy, H, rotor, G, DI);
    *at = copy;
    return ok;
}

// --- articulated inertias, tip to base ---

// A rigid body's inertia about Mo: [I mcx; -mcx m1].
static inline abi abi_of_rigid(const tali_composite *rigid)
{
    const real mass = rigid->mass;
    return (abi){rigid->I, tal_m3_cross(rigid->mc), {mass, mass, mass, 0.0, 0.0, 0.0}};
}

static inline void add_rigid(abi *P, const tali_composite *rigid)
{
    const real mass = rigid->mass;
    const v3 mc = rigid->mc;
    P->J = s3_add(P->J, rigid->I);
    P->F.x.y += mc.z, P->F.x.z -= mc.y; // mcx
    P->F.y.x -= mc.z, P->F.y.z += mc.x;
    P->F.z.x += mc.y, P->F.z.y -= mc.x;
    P->M.xx += mass, P->M.yy += mass, P->M.zz += mass;
}

static inline v3 larger(v3 size, s3 S)
{
    return (v3){pick(less(size.x, S.xx), S.xx, size.x), pick(less(size.y, S.yy), S.yy, size.y),
                pick(less(size.z, S.zz), S.zz, size.z)};
}

static inline void measure_sizes(tali_open_inertia *at)
{
    at->size_J = larger(at->size_J, at->P.J);
    at->size_M = larger(at->size_M, at->P.M);
}

// Adds the shifted P+ of a child to what its parent has so far. The last child comes first. Where a
// shift cancels moments, those of the child were as large, so the sizes need no shifting.
static inline void hand_to_parent(tali_open_inertia *parent, const tali_open_inertia *child,
                                  v3 p_PM, bool is_first)
{
    const abi P = abi_shift(child->P, p_PM);
    if (is_first) {
        *parent = (tali_open_inertia){P, child->size_J, child->size_M};
        return;
    }
    parent->P = abi_add(parent->P, P);
    parent->size_J = v3_add(parent->size_J, child->size_J);
    parent->size_M = v3_add(parent->size_M, child->size_M);
}

// P_B = M_B + sum over children C of Phi(p_BC) P+_C Phi(p_BC)^T        RBDA eq. 7.21
static bool sweep_articulated(const tali_view *view, const tali_articulated *out,
                              tali_open_inertia open[])
{
    const tali_tree *tree = view->tree;
    mask ok = tree->num_particles == 0 || view->sweeps->particles_articulated(view, out);
    // parents precede children, so counting down meets every child before its parent
    for (int b = tree->num_bodies - 1; b > 0; --b) {
        const tali_composite *own = &view->rigid[b];
        if (tali_is_particle(tree, view->hinge, b)) {
            if (out->P != NULL) out->P[b] = abi_of_rigid(own);
            continue;
        }
        tali_open_inertia at;
        if (tree->is_leaf[b]) {
            at = (tali_open_inertia){abi_of_rigid(own), NONE, NONE};
        } else {
            at = open[tree->slot[b]];
            add_rigid(&at.P, own);
        }
        measure_sizes(&at);
        if (out->P != NULL) out->P[b] = at.P;
        ok = project(view, b, out, &at) && ok;
        const int p = tree->parent[b];
        if (p > 0) {
            hand_to_parent(&open[tree->slot[p]], &at, view->p_PM[b], tree->is_last[b]);
        }
    }
    return ok;
}

void TALI_KERNEL(articulated)(tali_sweeps *out)
{
    out->articulated = sweep_articulated;
}
