// The sweeps that multiply by M^-1. Notation as in kernel_articulated.c.
//
// Forward dynamics is udot = M^-1 (f - J^T (F0 - F)), where F0 are the forces that the bodies take
// at udot = 0. So no sweep here needs velocities, and M^-1 needs no articulated inertia: G and D^-1
// are all it reads.
#include "kernel_inertia.h"
#include "kernel_math.h"
#include "kernel_set.h"

static const v3 NONE = {0.0, 0.0, 0.0};

// R_GF of a ball, translation or free hinge, from the columns it gave to H.
static inline m3 angular_axes(const sv H[])
{
    return (m3){H[0].w, H[1].w, H[2].w};
}

static inline m3 linear_axes(const sv H[])
{
    return (m3){H[0].v, H[1].v, H[2].v};
}

// e = f - H^T z, and z becomes z+ = z + G e.
TAL_ALWAYS_INLINE sv inward_hinge(const tali_view *view, int b, const double f[], sv z, double e[])
{
    const tali_tree *tree = view->tree;
    const sv *H = view->H + tree->u0[b];
    const sv *G = view->G + tree->u0[b];
    switch ((tali_hinge)view->hinge[b]) {
    case TALI_HINGE_WELD:
        return z;
    case TALI_HINGE_PIN:
        e[0] = f[0] - v3_dot(H[0].w, z.w);
        return sv_axpy(e[0], G[0], z);
    case TALI_HINGE_SLIDER:
        e[0] = f[0] - v3_dot(H[0].v, z.v);
        return sv_axpy(e[0], G[0], z);
    case TALI_HINGE_BALL: { // along Ground's axes: z+ = (f, z.v + K e)
        const v3 push = m3_mul_v3(angular_axes(H), load_v3(f));
        const v3 left = v3_sub(push, z.w);
        store_v3(e, left);
        return (sv){push,
                    v3_axpy(left.x, G[0].v, v3_axpy(left.y, G[1].v, v3_axpy(left.z, G[2].v, z.v)))};
    }
    case TALI_HINGE_TRANSLATION: {
        const v3 push = m3_mul_v3(linear_axes(H), load_v3(f));
        const v3 left = v3_sub(push, z.v);
        store_v3(e, left);
        return (sv){v3_axpy(left.x, G[0].w, v3_axpy(left.y, G[1].w, v3_axpy(left.z, G[2].w, z.w))),
                    push};
    }
    case TALI_HINGE_FREE: {
        const m3 R_GF = angular_axes(H);
        const v3 moment = m3_mul_v3(R_GF, load_v3(f));
        const v3 force = m3_mul_v3(R_GF, load_v3(f + 3));
        store_v3(e, v3_sub(moment, z.w));
        store_v3(e + 3, v3_sub(force, z.v));
        return (sv){moment, force};
    }
    case TALI_HINGE_LOCKED:
        for (int j = 0; j < tree->nu[b]; ++j) {
            e[j] = 0.0;
        }
        return z;
    case TALI_HINGE_MIXED: // whatever e is where the motion is known, G is zero there
    case TALI_HINGE_GENERAL:
        break;
    }
    sv zplus = z;
    for (int j = 0; j < tree->nu[b]; ++j) {
        e[j] = f[j] - sv_dot(H[j], z);
        zplus = sv_axpy(e[j], G[j], zplus);
    }
    return zplus;
}

// The same for a pin, and z+ taken to the parent. A sweep along a chain waits for each e before the
// next one, so what does not need e is done beside it: z and G are shifted, not z+.
TAL_ALWAYS_INLINE sv inward_pin(v3 w, sv G, v3 p_PM, const double f[], sv z, double e[])
{
    const sv z_P = sv_shift_force(z, p_PM);
    const sv G_P = sv_shift_force(G, p_PM);
    e[0] = f[0] - v3_dot(w, z.w);
    return sv_axpy(e[0], G_P, z_P);
}

// F0 - F of one body, where known accelerations count as though velocities had caused them.
TAL_ALWAYS_INLINE sv unbalanced(const tali_view *view, int b, const sv F[], const sv A_known[])
{
    const tali_motion *motion = &view->motion[b];
    const sv A = A_known != NULL ? sv_add(motion->A0, A_known[b]) : motion->A0;
    const sv F0 = newton_euler(&view->rigid[b], A, motion->V.w);
    return F != NULL ? sv_sub(F0, F[b]) : F0;
}

// Where the tree has particles, they have been seen to. A tree without pays nothing for looking.
TAL_ALWAYS_INLINE void sweep_inward_of(const tali_view *view, const double f[], const sv F[],
                                       const bool moving, const sv A_known[],
                                       const bool has_particles, double e[], sv open[])
{
    static const double no_force[TAL_MAX_NU] = {0.0};
    const tali_tree *tree = view->tree;
    for (int b = tree->num_bodies - 1; b > 0; --b) {
        const int u0 = tree->u0[b];
        const double *push = f != NULL ? f + u0 : no_force;
        if (has_particles && tali_is_particle(tree, view->hinge, b)) continue;
        sv z = tree->is_leaf[b] ? (sv){NONE, NONE} : open[tree->slot[b]];
        if (moving) z = sv_add(z, unbalanced(view, b, F, A_known));
        if (!moving && F != NULL) z = sv_add(z, F[b]);
        const int p = tree->parent[b];
        const v3 p_PM = view->p_PM[b];
        sv shifted;
        if (view->hinge[b] == TALI_HINGE_PIN) {
            shifted = inward_pin(view->H[u0].w, view->G[u0], p_PM, push, z, e + u0);
        } else {
            shifted = sv_shift_force(inward_hinge(view, b, push, z, e + u0), p_PM);
        }
        if (p == 0) continue;
        sv *parent = &open[tree->slot[p]];
        *parent = tree->is_last[b] ? shifted : sv_add(*parent, shifted);
    }
}

// What the bodies resist: F itself, or F0 - F.
TAL_ALWAYS_INLINE void sweep_inward_all(const tali_view *view, const double f[], const sv F[],
                                        const bool moving, const sv A_known[], double e[],
                                        sv open[])
{
    const double sign = moving ? 1.0 : -1.0;
    if (view->tree->num_particles == 0) {
        sweep_inward_of(view, f, F, moving, A_known, false, e, open);
    } else {
        view->sweeps->particles_inward(view, f, F, sign, e);
        sweep_inward_of(view, f, F, moving, A_known, true, e, open);
    }
}

static void sweep_inward(const tali_view *view, const double f[], const tal_spatial_vec F[],
                         double e[], tal_spatial_vec open[])
{
    sweep_inward_all(view, f, F, false, NULL, e, open);
}

static void sweep_inward_moving(const tali_view *view, const double f[], const tal_spatial_vec F[],
                                double e[], tal_spatial_vec open[])
{
    if (view->A_known == NULL) {
        sweep_inward_all(view, f, F, true, NULL, e, open);
    } else {
        sweep_inward_all(view, f, F, true, view->A_known, e, open);
    }
}

static void sweep_inward_unit(const tali_view *view, int b, int j, double e[])
{
    const tali_tree *tree = view->tree;
    double f[TAL_MAX_NU] = {0.0};
    f[j] = 1.0;
    sv z = {NONE, NONE};
    for (int a = b; a > 0; a = tree->parent[a]) {
        const sv zplus = inward_hinge(view, a, f, z, e + tree->u0[a]);
        z = sv_shift_force(zplus, view->p_PM[a]);
        f[j] = 0.0;
    }
}

// udot = D^-1 e - G^T A+, and the acceleration H udot that it gives.
TAL_ALWAYS_INLINE sv outward_hinge(const tali_view *view, int b, const double e[], sv A,
                                   double udot[])
{
    const tali_tree *tree = view->tree;
    const sv *H = view->H + tree->u0[b];
    const sv *G = view->G + tree->u0[b];
    const double *DI = view->DI + tree->d0[b];
    switch ((tali_hinge)view->hinge[b]) {
    case TALI_HINGE_WELD:
        return A;
    case TALI_HINGE_PIN:
        udot[0] = fused(DI[0], e[0], -sv_dot(G[0], A));
        return (sv){v3_axpy(udot[0], H[0].w, A.w), A.v};
    case TALI_HINGE_SLIDER:
        udot[0] = fused(DI[0], e[0], -sv_dot(G[0], A));
        return (sv){A.w, v3_axpy(udot[0], H[0].v, A.v)};
    case TALI_HINGE_BALL: { // H udot = J^-1 e - A.w - K^T A.v, so A.w drops out
        const v3 KTv = {v3_dot(G[0].v, A.v), v3_dot(G[1].v, A.v), v3_dot(G[2].v, A.v)};
        const v3 w = v3_sub(s3_mul_v3(load_s3(DI), load_v3(e)), KTv);
        store_v3(udot, m3_tmul_v3(angular_axes(H), v3_sub(w, A.w)));
        return (sv){w, A.v};
    }
    case TALI_HINGE_TRANSLATION: {
        const v3 KTw = {v3_dot(G[0].w, A.w), v3_dot(G[1].w, A.w), v3_dot(G[2].w, A.w)};
        const v3 v = v3_sub(s3_mul_v3(load_s3(DI), load_v3(e)), KTw);
        store_v3(udot, m3_tmul_v3(linear_axes(H), v3_sub(v, A.v)));
        return (sv){A.w, v};
    }
    case TALI_HINGE_FREE: { // H udot = P^-1 e - A
        const m3 BT = {load_v3(DI + 12), load_v3(DI + 15), load_v3(DI + 18)};
        const v3 n = load_v3(e), g = load_v3(e + 3);
        const v3 w = v3_add(s3_mul_v3(load_s3(DI), n), m3_tmul_v3(BT, g));
        const v3 v = v3_add(m3_mul_v3(BT, n), s3_mul_v3(load_s3(DI + 6), g));
        const m3 R_GF = angular_axes(H);
        store_v3(udot, m3_tmul_v3(R_GF, v3_sub(w, A.w)));
        store_v3(udot + 3, m3_tmul_v3(R_GF, v3_sub(v, A.v)));
        return (sv){w, v};
    }
    case TALI_HINGE_LOCKED:
        for (int j = 0; j < tree->nu[b]; ++j) {
            udot[j] = 0.0;
        }
        return A;
    case TALI_HINGE_MIXED: // G and D^-1 are zero where the motion is known, and so is udot
    case TALI_HINGE_GENERAL:
        break;
    }
    const int nu = tree->nu[b];
    sv out = A;
    for (int j = 0; j < nu; ++j) {
        real sum = -sv_dot(G[j], A);
        for (int i = 0; i < nu; ++i) {
            sum = fused(DI[j * nu + i], e[i], sum);
        }
        udot[j] = sum;
        out = sv_axpy(sum, H[j], out);
    }
    return out;
}

// The same for a pin, from its parent's A: G is shifted to the parent beside the wait for A.w,
// which the product meets last.
TAL_ALWAYS_INLINE sv outward_pin(v3 w, sv G, v3 p_PM, real push, sv A_P, double udot[])
{
    const sv G_P = sv_shift_force(G, p_PM);
    udot[0] = (push - v3_dot(G_P.v, A_P.v)) - v3_dot(G_P.w, A_P.w);
    return (sv){v3_axpy(udot[0], w, A_P.w), v3_add_cross(A_P.v, A_P.w, p_PM)};
}

TAL_ALWAYS_INLINE void sweep_outward_of(const tali_view *view, const double e[],
                                        const bool has_particles, double udot[], sv A[])
{
    const tali_tree *tree = view->tree;
    A[0] = (sv){NONE, NONE};
    for (int b = 1; b < tree->num_bodies; ++b) {
        const int u0 = tree->u0[b];
        if (has_particles && tali_is_particle(tree, view->hinge, b)) continue;
        const sv A_P = A[tree->parent[b]];
        const v3 p_PM = view->p_PM[b];
        if (view->hinge[b] == TALI_HINGE_PIN) {
            const real push = view->DI[tree->d0[b]] * e[u0];
            A[b] = outward_pin(view->H[u0].w, view->G[u0], p_PM, push, A_P, udot + u0);
        } else {
            A[b] = outward_hinge(view, b, e + u0, sv_shift_motion(A_P, p_PM), udot + u0);
        }
    }
}

static void sweep_outward(const tali_view *view, const double e[], double udot[],
                          tal_spatial_vec A[])
{
    if (view->tree->num_particles == 0) {
        sweep_outward_of(view, e, false, udot, A);
    } else {
        view->sweeps->particles_outward(view, e, udot, A);
        sweep_outward_of(view, e, true, udot, A);
    }
}

// --- one force along one path ---

// y = D^-1 e. Ball, translation and free keep D^-1 and e along Ground's axes.
static inline void solve_hinge(const tali_view *view, int b, const double e[], double y[])
{
    const double *DI = view->DI + view->tree->d0[b];
    const int nu = view->tree->nu[b];
    switch ((tali_hinge)view->hinge[b]) {
    case TALI_HINGE_WELD:
        return;
    case TALI_HINGE_LOCKED:
        for (int j = 0; j < nu; ++j) {
            y[j] = 0.0;
        }
        return;
    case TALI_HINGE_PIN:
    case TALI_HINGE_SLIDER:
        y[0] = DI[0] * e[0];
        return;
    case TALI_HINGE_BALL:
    case TALI_HINGE_TRANSLATION:
        store_v3(y, s3_mul_v3(load_s3(DI), load_v3(e)));
        return;
    case TALI_HINGE_FREE: {
        const m3 BT = {load_v3(DI + 12), load_v3(DI + 15), load_v3(DI + 18)};
        const v3 n = load_v3(e), f = load_v3(e + 3);
        store_v3(y, v3_add(s3_mul_v3(load_s3(DI), n), m3_tmul_v3(BT, f)));
        store_v3(y + 3, v3_add(m3_mul_v3(BT, n), s3_mul_v3(load_s3(DI + 6), f)));
        return;
    }
    case TALI_HINGE_MIXED:
    case TALI_HINGE_GENERAL:
        break;
    }
    for (int j = 0; j < nu; ++j) {
        real sum = 0.0;
        for (int i = 0; i < nu; ++i) {
            sum = fused(DI[j * nu + i], e[i], sum);
        }
        y[j] = sum;
    }
}

static void sweep_path(const tali_view *view, const tali_path_entry path[], int len,
                       const double f[], tal_spatial_vec z[], double e[], double y[])
{
    for (int k = 0; k < len; ++k) {
        const int b = path[k].body;
        const int e0 = path[k].e0;
        const v3 p_PM = view->p_PM[b];
        sv shifted;
        if (view->hinge[b] == TALI_HINGE_PIN) {
            const int u0 = view->tree->u0[b];
            shifted = inward_pin(view->H[u0].w, view->G[u0], p_PM, f + e0, z[k], e + e0);
            y[e0] = view->DI[view->tree->d0[b]] * e[e0];
        } else {
            shifted = sv_shift_force(inward_hinge(view, b, f + e0, z[k], e + e0), p_PM);
            solve_hinge(view, b, e + e0, y + e0);
        }
        if (path[k].parent < 0) continue;
        sv *parent = &z[path[k].parent];
        *parent = sv_add(*parent, shifted);
    }
}

void TALI_KERNEL(dynamics)(tali_sweeps *out)
{
    out->inward = sweep_inward;
    out->inward_moving = sweep_inward_moving;
    out->inward_unit = sweep_inward_unit;
    out->outward = sweep_outward;
    out->path = sweep_path;
}
