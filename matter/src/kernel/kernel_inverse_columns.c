// M^-1 times many columns: the two passes of kernel_dynamics.c with a column in each lane.
//
// Given    view->H, p_PM, G, DI    hinge columns, Mo to Mo, and the articulated quantities
// Compute  B = scale M^-1 B, a block of columns at a time                  theory eq. 6.2 to 6.4
//
// The articulated quantities are the same for all lanes, so a body's work is loops over lanes that
// nothing waits for. All hinges are treated alike here: inverse_prepare() writes D^-1 and G of
// ball, translation and free ones along their speeds.
//
// Source: RBDA eq. 7.45 and 7.49, as in kernel_dynamics.c.
#include "kernel/kernel_hinge.h"
#include "kernel/kernel_set.h"

enum {
    LANES = TALI_KERNEL_LANES
};

// --- articulated quantities along the speeds ---

// D^-1 along the axes of R from D^-1 along Ground's: R^T S R.
static inline void turn_block(m3 R, m3 S, double DI[], int ld)
{
    store_v3(DI, m3_tmul_v3(R, m3_mul_v3(S, R.x)));
    store_v3(DI + ld, m3_tmul_v3(R, m3_mul_v3(S, R.y)));
    store_v3(DI + 2 * (ptrdiff_t)ld, m3_tmul_v3(R, m3_mul_v3(S, R.z)));
}

// H = [R; 0] and G = [1; K] R
static inline void prepare_ball(const sv H[], const sv G[], const double DI[], sv G_out[],
                                double DI_out[])
{
    const m3 R = angular_axes(H), K = linear_axes(G);
    G_out[0] = (sv){R.x, m3_mul_v3(K, R.x)};
    G_out[1] = (sv){R.y, m3_mul_v3(K, R.y)};
    G_out[2] = (sv){R.z, m3_mul_v3(K, R.z)};
    turn_block(R, tal_m3_from_s3(load_s3(DI)), DI_out, 3);
}

// H = [0; R] and G = [K; 1] R
static inline void prepare_translation(const sv H[], const sv G[], const double DI[], sv G_out[],
                                       double DI_out[])
{
    const m3 R = linear_axes(H), K = angular_axes(G);
    G_out[0] = (sv){m3_mul_v3(K, R.x), R.x};
    G_out[1] = (sv){m3_mul_v3(K, R.y), R.y};
    G_out[2] = (sv){m3_mul_v3(K, R.z), R.z};
    turn_block(R, tal_m3_from_s3(load_s3(DI)), DI_out, 3);
}

// H = [R 0; 0 R] = G, and D^-1 by blocks
static inline void prepare_free(const sv H[], const double DI[], sv G_out[], double DI_out[])
{
    const m3 R = angular_axes(H);
    const m3 BT = {load_v3(DI + 12), load_v3(DI + 15), load_v3(DI + 18)};
    for (int j = 0; j < 6; ++j) {
        G_out[j] = H[j];
    }
    turn_block(R, tal_m3_from_s3(load_s3(DI)), DI_out, 6);
    turn_block(R, BT, DI_out + 3, 6);
    turn_block(R, tal_m3_transpose(BT), DI_out + 18, 6);
    turn_block(R, tal_m3_from_s3(load_s3(DI + 6)), DI_out + 21, 6);
}

static void pass_inverse_prepare(const tali_tree_view *view, const tali_kernel_inverse_room *room)
{
    const tali_tree *tree = view->tree;
    for (int b = 1; b < tree->num_bodies; ++b) {
        const int u0 = tree->u0[b], d0 = tree->d0[b], nu = tree->nu[b];
        const sv *H = view->H + u0, *G = view->G + u0;
        const double *DI = view->DI + d0;
        if (view->hinge[b] == TALI_HINGE_BALL) {
            prepare_ball(H, G, DI, room->G + u0, room->DI + d0);
        } else if (view->hinge[b] == TALI_HINGE_TRANSLATION) {
            prepare_translation(H, G, DI, room->G + u0, room->DI + d0);
        } else if (view->hinge[b] == TALI_HINGE_FREE) {
            prepare_free(H, DI, room->G + u0, room->DI + d0);
        } else {
            memcpy(room->G + u0, G, (size_t)nu * sizeof *G);
            memcpy(room->DI + d0, DI, (size_t)(nu * nu) * sizeof *DI);
        }
    }
}

// --- lanes ---

// A spatial vector for each lane.
typedef struct lanes {
    double c[6][LANES];
} lanes;

// F at the point at p becomes F about the reference point: w += p x v.
TAL_ALWAYS_INLINE void shift_force_lanes(lanes *F, v3 p)
{
    INDEPENDENT
    for (int i = 0; i < LANES; ++i) {
        const v3 f = {F->c[3][i], F->c[4][i], F->c[5][i]};
        const v3 n = v3_add_cross((v3){F->c[0][i], F->c[1][i], F->c[2][i]}, p, f);
        F->c[0][i] = n.x, F->c[1][i] = n.y, F->c[2][i] = n.z;
    }
}

TAL_ALWAYS_INLINE void shift_motion_lanes(const lanes *V, v3 p, lanes *out)
{
    INDEPENDENT
    for (int i = 0; i < LANES; ++i) {
        const v3 w = {V->c[0][i], V->c[1][i], V->c[2][i]};
        const v3 v = v3_add_cross((v3){V->c[3][i], V->c[4][i], V->c[5][i]}, w, p);
        out->c[0][i] = w.x, out->c[1][i] = w.y, out->c[2][i] = w.z;
        out->c[3][i] = v.x, out->c[4][i] = v.y, out->c[5][i] = v.z;
    }
}

// to -= H.z
TAL_ALWAYS_INLINE void subtract_dot(const lanes *z, sv H, double to[LANES])
{
    INDEPENDENT
    for (int i = 0; i < LANES; ++i) {
        const sv at = {{z->c[0][i], z->c[1][i], z->c[2][i]}, {z->c[3][i], z->c[4][i], z->c[5][i]}};
        to[i] -= sv_dot(H, at);
    }
}

// z += s H
TAL_ALWAYS_INLINE void add_scaled(const double s[LANES], sv H, lanes *z)
{
    INDEPENDENT
    for (int i = 0; i < LANES; ++i) {
        z->c[0][i] = fused(s[i], H.w.x, z->c[0][i]);
        z->c[1][i] = fused(s[i], H.w.y, z->c[1][i]);
        z->c[2][i] = fused(s[i], H.w.z, z->c[2][i]);
        z->c[3][i] = fused(s[i], H.v.x, z->c[3][i]);
        z->c[4][i] = fused(s[i], H.v.y, z->c[4][i]);
        z->c[5][i] = fused(s[i], H.v.z, z->c[5][i]);
    }
}

TAL_ALWAYS_INLINE void add_lanes(const lanes *x, lanes *to)
{
    const double *from = &x->c[0][0];
    double *sum = &to->c[0][0];
    INDEPENDENT
    for (int i = 0; i < 6 * LANES; ++i) {
        sum[i] += from[i];
    }
}

// --- one body ---

// A pin, H = [w; 0], inward: e = f - w.z, and z + G e goes to the parent.
TAL_ALWAYS_INLINE void pin_inward_lanes(const lanes *z, v3 w, sv G, v3 p, double e[LANES],
                                        lanes *out)
{
    INDEPENDENT
    for (int i = 0; i < LANES; ++i) {
        const sv at = {{z->c[0][i], z->c[1][i], z->c[2][i]}, {z->c[3][i], z->c[4][i], z->c[5][i]}};
        const real left = e[i] - v3_dot(w, at.w);
        const sv to = sv_shift_force(sv_axpy(left, G, at), p);
        e[i] = left;
        out->c[0][i] = to.w.x, out->c[1][i] = to.w.y, out->c[2][i] = to.w.z;
        out->c[3][i] = to.v.x, out->c[4][i] = to.v.y, out->c[5][i] = to.v.z;
    }
}

// Any hinge, inward.
static inline void any_inward_lanes(const lanes *z, const sv H[], const sv G[], int nu, v3 p,
                                    double e[], lanes *out)
{
    *out = *z;
    for (int j = 0; j < nu; ++j) {
        subtract_dot(z, H[j], e + (ptrdiff_t)j * LANES);
    }
    for (int j = 0; j < nu; ++j) {
        add_scaled(e + (ptrdiff_t)j * LANES, G[j], out);
    }
    shift_force_lanes(out, p);
}

// A pin outward: udot = D^-1 e - G^T A+ takes the place of e.
TAL_ALWAYS_INLINE void pin_outward_lanes(const lanes *A_P, v3 w, sv G, double DI, v3 p,
                                         double e[LANES], lanes *A)
{
    INDEPENDENT
    for (int i = 0; i < LANES; ++i) {
        const sv from = {{A_P->c[0][i], A_P->c[1][i], A_P->c[2][i]},
                         {A_P->c[3][i], A_P->c[4][i], A_P->c[5][i]}};
        const sv Aplus = sv_shift_motion(from, p);
        const real udot = fused(DI, e[i], -(v3_dot(G.w, Aplus.w) + v3_dot(G.v, Aplus.v)));
        const v3 wdot = v3_axpy(udot, w, Aplus.w);
        e[i] = udot;
        A->c[0][i] = wdot.x, A->c[1][i] = wdot.y, A->c[2][i] = wdot.z;
        A->c[3][i] = Aplus.v.x, A->c[4][i] = Aplus.v.y, A->c[5][i] = Aplus.v.z;
    }
}

// Any hinge outward.
static inline void any_outward_lanes(const lanes *A_P, const sv H[], const sv G[],
                                     const double DI[], int nu, v3 p, double e[], lanes *A)
{
    double udot[TAL_MAX_NU][LANES];
    lanes Aplus;
    shift_motion_lanes(A_P, p, &Aplus);
    *A = Aplus;
    for (int j = 0; j < nu; ++j) {
        memset(udot[j], 0, sizeof udot[j]);
        subtract_dot(&Aplus, G[j], udot[j]);
        for (int k = 0; k < nu; ++k) {
            const double *from = e + (ptrdiff_t)k * LANES;
            INDEPENDENT
            for (int i = 0; i < LANES; ++i) {
                udot[j][i] = fused(DI[j * nu + k], from[i], udot[j][i]);
            }
        }
        add_scaled(udot[j], H[j], A);
    }
    memcpy(e, udot, (size_t)nu * sizeof udot[0]);
}

// --- the two passes ---

// e = f - H^T z, z+ = z + G e, tip to base.
static void inward_lanes(const tali_tree_view *view, const tali_kernel_inverse_room *room)
{
    static const lanes nothing = {{{0.0}}};
    const tali_tree *tree = view->tree;
    lanes *open = (lanes *)(void *)room->open;
    for (int b = tree->num_bodies - 1; b > 0; --b) {
        const int u0 = tree->u0[b];
        const sv *H = view->H + u0, *G = room->G + u0;
        double *e = room->e + (size_t)u0 * LANES;
        const lanes *z = tree->is_leaf[b] ? &nothing : &open[tree->slot[b]];
        lanes *parent = &open[tree->slot[tree->parent[b]]], sum;
        // cppcheck-suppress uninitvar ; an address, not a value
        lanes *to = tree->is_last[b] && parent != z ? parent : &sum;
        if (view->hinge[b] == TALI_HINGE_PIN) {
            pin_inward_lanes(z, H->w, *G, view->p_PM[b], e, to);
        } else {
            any_inward_lanes(z, H, G, tree->nu[b], view->p_PM[b], e, to);
        }
        if (to == parent) continue;
        if (tree->is_last[b]) {
            *parent = sum;
        } else {
            add_lanes(&sum, parent);
        }
    }
}

// udot = D^-1 e - G^T A+ in place of e, base to tip.
static void outward_lanes(const tali_tree_view *view, const tali_kernel_inverse_room *room)
{
    const tali_tree *tree = view->tree;
    lanes *A = (lanes *)(void *)room->A;
    memset(A, 0, sizeof *A);
    for (int b = 1; b < tree->num_bodies; ++b) {
        const int u0 = tree->u0[b];
        const sv *H = view->H + u0, *G = room->G + u0;
        const double *DI = room->DI + tree->d0[b];
        double *e = room->e + (size_t)u0 * LANES;
        const lanes *A_P = &A[tree->parent[b]];
        if (view->hinge[b] == TALI_HINGE_PIN) {
            pin_outward_lanes(A_P, H->w, *G, *DI, view->p_PM[b], e, &A[b]);
        } else {
            any_outward_lanes(A_P, H, G, DI, tree->nu[b], view->p_PM[b], e, &A[b]);
        }
    }
}

// A block of columns becomes rows of lanes; lanes without a column are zero.
static void load_block(const double *B, int ld, int n, int width, double e[])
{
    for (int row = 0; row < n; ++row) {
        for (int i = 0; i < LANES; ++i) {
            e[(size_t)row * LANES + (size_t)i] =
                i < width ? B[(size_t)i * (size_t)ld + (size_t)row] : 0.0;
        }
    }
}

static void store_block(const double e[], double scale, int n, int width, double *B, int ld)
{
    for (int i = 0; i < width; ++i) {
        for (int row = 0; row < n; ++row) {
            B[(size_t)i * (size_t)ld + (size_t)row] = scale * e[(size_t)row * LANES + (size_t)i];
        }
    }
}

static void pass_inverse_columns(const tali_tree_view *view, const tali_kernel_inverse_room *room,
                                 double scale, double *B, int ld, int n)
{
    for (int j = 0; j < n; j += LANES) {
        const int width = n - j < LANES ? n - j : LANES;
        double *block = B + (size_t)j * (size_t)ld;
        load_block(block, ld, view->tree->num_u, width, room->e);
        inward_lanes(view, room);
        outward_lanes(view, room);
        store_block(room->e, scale, view->tree->num_u, width, block, ld);
    }
}

void TALI_KERNEL(inverse_columns)(tali_passes *out)
{
    out->inverse_prepare = pass_inverse_prepare;
    out->inverse_columns = pass_inverse_columns;
}
