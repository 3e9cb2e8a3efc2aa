// Composite rigid bodies: the mass matrix, block by block along the paths to Ground.
//
//   quantity                     RBDA              here
//   composite inertia            I^c   eq. 6.18    composite: mass, m c, inertia about Mo
//   I^c S                        F     eq. 6.19    F, about the Mo of the body reached so far
//   S_j^T F                      H_ij  eq. 6.20    M
//
// Everything is about some Mo and in Ground, so a step towards Ground costs one cross product.
#include "sweeps_internal.h"

#include "kernel_math.h"

// --- composite inertias ---

// The inertia of `child`, taken about a point from which its own point is at p, added to `at`:
//
//     I += I_C + (p.s) 1 - (p s^T + s p^T)/2        s = 2 m c + m p
static inline void add_composite(tali_composite *at, const tali_composite *child, v3 p)
{
    const v3 s = v3_axpy(child->mass, p, v3_scale(2.0, child->mc));
    const v3 ps = {p.x * s.x, p.y * s.y, p.z * s.z};
    at->mass += child->mass;
    at->mc = v3_add(at->mc, v3_axpy(child->mass, p, child->mc));
    at->I.xx += child->I.xx + (ps.y + ps.z);
    at->I.yy += child->I.yy + (ps.x + ps.z);
    at->I.zz += child->I.zz + (ps.x + ps.y);
    at->I.xy += child->I.xy - 0.5 * fused(p.x, s.y, p.y * s.x);
    at->I.xz += child->I.xz - 0.5 * fused(p.x, s.z, p.z * s.x);
    at->I.yz += child->I.yz - 0.5 * fused(p.y, s.z, p.z * s.y);
}

static inline tali_composite own_inertia(const tali_view *view, int b)
{
    return (tali_composite){view->constants[b].mass, view->pose[b].mc, view->pose[b].I};
}

// I^c of body b, given what its children handed down.
static inline tali_composite close_composite(const tali_view *view, int b,
                                             const tali_composite open[])
{
    const tali_tree *tree = view->tree;
    tali_composite C = own_inertia(view, b);
    if (!tree->is_leaf[b]) {
        const tali_composite *sum = &open[tree->slot[b]];
        C.mass += sum->mass;
        C.mc = v3_add(C.mc, sum->mc);
        C.I = s3_add(C.I, sum->I);
    }
    return C;
}

static inline void hand_down(const tali_view *view, int b, const tali_composite *C,
                             tali_composite open[])
{
    const tali_tree *tree = view->tree;
    const int p = tree->parent[b];
    if (p == 0) return;
    tali_composite *sum = &open[tree->slot[p]];
    if (tree->is_last[b]) *sum = (tali_composite){.mass = 0.0};
    add_composite(sum, C, view->pose[b].p_PM);
}

static inline sv composite_mul(const tali_composite *C, sv V)
{
    return (sv){v3_add_cross(s3_mul_v3(C->I, V.w), C->mc, V.v),
                v3_add_cross(v3_scale(C->mass, V.v), V.w, C->mc)};
}

// --- M, one body's columns at a time ---

static inline void zero_rows(double *M, int ld, int nu, int first, int last)
{
    for (int c = 0; c < nu; ++c) {
        for (int i = first; i < last; ++i) {
            M[(size_t)c * (size_t)ld + (size_t)i] = 0.0;
        }
    }
}

// The columns of body b above the diagonal: from its parent to Ground. Only the speeds met on that
// path are coupled to b; the rows between them are zero (RBDA sec. 6.4). The cross product does not
// wait for the F before it, only its sum does.
TAL_ALWAYS_INLINE void climb_nu(const tali_view *view, const int nu, int b, sv F[], double *M,
                                int ld)
{
    const tali_tree *tree = view->tree;
    int done = tree->u0[b];
    v3 p = view->pose[b].p_PM;
    for (int a = tree->parent[b]; a > 0; p = view->pose[a].p_PM, a = tree->parent[a]) {
        const int rows = tree->nu[a];
        const int u0 = tree->u0[a];
        const sv *H = view->H + u0;
        const bool is_pin = tree->hinge[a] == TALI_HINGE_PIN;
        if (u0 + rows < done) zero_rows(M, ld, nu, u0 + rows, done);
        done = u0;
        for (int c = 0; c < nu; ++c) {
            double *column = M + (size_t)c * (size_t)ld + (size_t)u0;
            F[c].w = v3_add(F[c].w, v3_cross(p, F[c].v));
            if (is_pin) {
                column[0] = v3_dot(H[0].w, F[c].w);
                continue;
            }
            for (int i = 0; i < rows; ++i) {
                column[i] = sv_dot(H[i], F[c]);
            }
        }
    }
    zero_rows(M, ld, nu, 0, done);
}

TAL_ALWAYS_INLINE void fill_columns(const tali_view *view, const int nu, int b,
                                    const tali_composite *C, double *M, int ld)
{
    const int u0 = view->tree->u0[b];
    const sv *H = view->H + u0;
    sv F[TAL_MAX_NU];
    for (int c = 0; c < nu; ++c) {
        double *column = M + (size_t)c * (size_t)ld + (size_t)u0;
        F[c] = composite_mul(C, H[c]);
        for (int i = 0; i <= c; ++i) {
            column[i] = sv_dot(H[i], F[c]);
        }
    }
    climb_nu(view, nu, b, F, M, ld);
}

// H = [w; 0]
static inline void fill_pin_column(const tali_view *view, int b, const tali_composite *C, double *M,
                                   int ld)
{
    const int u0 = view->tree->u0[b];
    const v3 w = view->H[u0].w;
    sv F[1] = {{s3_mul_v3(C->I, w), v3_cross(w, C->mc)}};
    M[u0] = v3_dot(w, F[0].w);
    climb_nu(view, 1, b, F, M, ld);
}

static void fill_body(const tali_view *view, int b, const tali_composite *C, double *M, int ld)
{
    double *columns = M + (size_t)view->tree->u0[b] * (size_t)ld;
    if (view->tree->hinge[b] == TALI_HINGE_PIN) {
        fill_pin_column(view, b, C, columns, ld);
        return;
    }
    switch (view->tree->nu[b]) {
    case 0:
        return;
    case 1:
        fill_columns(view, 1, b, C, columns, ld);
        return;
    case 3:
        fill_columns(view, 3, b, C, columns, ld);
        return;
    default:
        fill_columns(view, view->tree->nu[b], b, C, columns, ld);
    }
}

// The triangle below the diagonal from the one above it, in tiles that stay in the nearest cache.
static void mirror(double *M, int n, int ld)
{
    enum {
        TILE = 8
    };

    for (int j0 = 0; j0 < n; j0 += TILE) {
        const int j1 = j0 + TILE < n ? j0 + TILE : n;
        for (int i0 = 0; i0 <= j0; i0 += TILE) {
            for (int i = i0; i < i0 + TILE && i < n; ++i) {
                for (int j = i < j0 ? j0 : i + 1; j < j1; ++j) {
                    M[(size_t)i * (size_t)ld + (size_t)j] = M[(size_t)j * (size_t)ld + (size_t)i];
                }
            }
        }
    }
}

void tali_sweep_composite(const tali_view *view, double *M, int ld, tali_composite open[])
{
    const tali_tree *tree = view->tree;
    for (int b = tree->num_bodies - 1; b > 0; --b) {
        const tali_composite C = close_composite(view, b, open);
        fill_body(view, b, &C, M, ld);
        hand_down(view, b, &C, open);
    }
    mirror(M, tree->num_u, ld);
}
