// All derivatives of inverse dynamics at once, and M with them: composite bodies, tip to base.
//
// Given    Psi1, Psi2, Psi3, force    kernel_slopes.c
// Compute  of each speed l of body j, with the composites of j and what it carries
//              t1 = I S              t2 = C^T S            t5 = X^T S
//              t3 = S x* F + I Psi'' + C Psi' + X S        t4 = I (Psi' + S') + C S
//          and along the path to Ground, for each speed k of a body i on it
//              M_kl = S_k.t1       df_k/dq_l = S_k.t3        df_k/du_l = S_k.t4
//              df_l/dq_k = Psi''_k.t1 + Psi'_k.t2 + S_k.t5   df_l/du_k = (Psi' + S')_k.t1 + S_k.t2
//                                                                      theory eq. 13.7 and 13.8
//
// X are forces that keep their components in Ground (theory eq. 13.5). The steps along the path are
// in kernel_slope_steps.c, which wants wide registers as much as this file wants none.
//
// Source: derived in theory T-13.
#include "kernel/kernel_set.h"
#include "kernel/kernel_slope_columns.h"
#include "kernel/kernel_slopes.h"

// --- composites ---

TAL_ALWAYS_INLINE tali_kernel_moving own_moving(const tali_tree_view *view,
                                                const tali_kernel_slopes *in, int b)
{
    tali_kernel_moving at;
    at.inertia = view->rigid[b];
    at.F = in->force[b];
    at.coriolis = coriolis_of(&view->rigid[b], in->V[b]);
    if (in->F != NULL) at.kept = kept_force(view, in, b);
    return at; // cppcheck-suppress uninitvar ; kept is read where there is F
}

TAL_ALWAYS_INLINE void add_moving(tali_kernel_moving *at, const tali_kernel_moving *other,
                                  const bool with_F)
{
    at->inertia.mass += other->inertia.mass;
    at->inertia.mc = v3_add(at->inertia.mc, other->inertia.mc);
    at->inertia.I = s3_add(at->inertia.I, other->inertia.I);
    at->F = sv_add(at->F, other->F);
    at->coriolis = turning_add(&at->coriolis, &other->coriolis);
    if (with_F) at->kept = turning_add(&at->kept, &other->kept);
}

// The same body about a point from which its own point is at p.
TAL_ALWAYS_INLINE tali_kernel_moving shift_moving(const tali_kernel_moving *child, v3 p,
                                                  const bool with_F)
{
    const tali_tree_composite *own = &child->inertia;
    tali_kernel_moving at;
    at.inertia = (tali_tree_composite){own->mass, v3_axpy(own->mass, p, own->mc),
                                       shift_moments(own->I, own->mass, own->mc, p)};
    at.F = sv_shift_force(child->F, p);
    at.coriolis = turning_shift(&child->coriolis, p);
    if (with_F) at.kept = turning_shift(&child->kept, p);
    return at; // cppcheck-suppress uninitvar ; likewise
}

TAL_ALWAYS_INLINE tali_kernel_moving close_moving(const tali_tree_view *view,
                                                  const tali_kernel_slopes *in, int b,
                                                  const tali_kernel_moving open[])
{
    tali_kernel_moving at = own_moving(view, in, b);
    if (!view->tree->is_leaf[b]) add_moving(&at, &open[view->tree->slot[b]], in->F != NULL);
    return at;
}

// The last child is the first to reach the parent's slot.
TAL_ALWAYS_INLINE void hand_down(const tali_tree_view *view, int b, const tali_kernel_moving *at,
                                 const bool with_F, tali_kernel_moving open[])
{
    const tali_tree *tree = view->tree;
    const tali_kernel_moving shifted = shift_moving(at, view->p_PM[b], with_F);
    tali_kernel_moving *sum = &open[tree->slot[tree->parent[b]]];
    if (tree->is_last[b]) {
        *sum = shifted;
    } else {
        add_moving(sum, &shifted, with_F);
    }
}

// --- own block ---

// The vectors of one speed that its own body meets.
typedef struct own_vectors {
    sv t1, t3, t4;
} own_vectors;

// The vectors t of the speed of a pin, S = [w; 0].
TAL_ALWAYS_INLINE own_vectors start_pin(const tali_tree_view *view, const tali_kernel_slopes *in,
                                        int b, const tali_kernel_moving *at, const columns *c)
{
    const int u = view->tree->u0[b], k = view->tree->place[b];
    const tali_tree_composite *I = &at->inertia;
    const v3 w = view->H[u].w;
    const sv turned = {v3_cross(w, at->F.w), v3_cross(w, at->F.v)};
    own_vectors own;
    own.t1 = (sv){s3_mul_v3(I->I, w), v3_cross(w, I->mc)};
    own.t3 = sv_add(sv_add(turned, inertia_times(I, in->Psi2[u])),
                    turning_mul(&at->coriolis, in->Psi1[u].w));
    own.t4 = sv_add(inertia_times(I, in->Psi3[u]), turning_mul(&at->coriolis, w));
    if (in->F != NULL) {
        own.t3 = sv_add(own.t3, turning_mul(&at->kept, w));
        put_v3(c, T5, k, m3_tmul_v3(at->kept.T, w));
    }
    put_sv(c, T1_W, k, own.t1);
    put_v3(c, T2, k, m3_tmul_v3(at->coriolis.T, w));
    put_sv(c, T3_W, k, own.t3);
    put_sv(c, T4_W, k, own.t4);
    return own;
}

// Those of any speed.
TAL_ALWAYS_INLINE own_vectors start_column(const tali_tree_view *view, const tali_kernel_slopes *in,
                                           int b, int l, const tali_kernel_moving *at,
                                           const columns *c)
{
    const int u = view->tree->u0[b] + l, k = view->tree->place[b] + l;
    const tali_tree_composite *I = &at->inertia;
    const sv S = view->H[u];
    own_vectors own;
    own.t1 = inertia_times(I, S);
    own.t3 = sv_add(sv_add(sv_cross_force(S, at->F), inertia_times(I, in->Psi2[u])),
                    turning_mul(&at->coriolis, in->Psi1[u].w));
    own.t4 = sv_add(inertia_times(I, in->Psi3[u]), turning_mul(&at->coriolis, S.w));
    if (in->F != NULL) {
        own.t3 = sv_add(own.t3, turning_mul(&at->kept, S.w));
        put_v3(c, T5, k, turning_tmul(&at->kept, S));
    }
    put_sv(c, T1_W, k, own.t1);
    put_v3(c, T2, k, turning_tmul(&at->coriolis, S));
    put_sv(c, T3_W, k, own.t3);
    put_sv(c, T4_W, k, own.t4);
    return own;
}

TAL_ALWAYS_INLINE void write_entry(double *matrix, int ld, int row, int column, real x)
{
    if (matrix != NULL) matrix[(size_t)column * (size_t)ld + (size_t)row] = x;
}

// The body's own block: theory eq. 13.8 with i = j, and the change of its columns.
TAL_ALWAYS_INLINE void own_block(const tali_tree_view *view, const tali_kernel_slopes *in, int b,
                                 const tali_kernel_moving *at, const columns *c,
                                 const tali_kernel_slope_matrices *out)
{
    const int nu = view->tree->nu[b], u0 = view->tree->u0[b];
    const sv *S = view->H + u0;
    const real rotor = nu == 1 ? view->constants[b].rotor : 0.0;
    if (view->tree->hinge[b] == TALI_HINGE_PIN) {
        const own_vectors own = start_pin(view, in, b, at, c);
        write_entry(out->M, out->ld_M, u0, u0, v3_dot(S->w, own.t1.w) + rotor);
        write_entry(out->by_q, out->ld_q, u0, u0, v3_dot(S->w, own.t3.w));
        write_entry(out->by_u, out->ld_u, u0, u0, v3_dot(S->w, own.t4.w));
        return;
    }
    const m3 R_GF = slope_R_GF(view, b);
    for (int l = 0; l < nu; ++l) {
        const own_vectors own = start_column(view, in, b, l, at, c);
        for (int k = 0; k < nu; ++k) {
            const sv D_S = column_slope(view, in, b, l, k, R_GF);
            write_entry(out->M, out->ld_M, u0 + k, u0 + l, sv_dot(S[k], own.t1) + rotor);
            write_entry(out->by_u, out->ld_u, u0 + k, u0 + l, sv_dot(S[k], own.t4));
            write_entry(out->by_q, out->ld_q, u0 + k, u0 + l,
                        sv_dot(S[k], own.t3) + sv_dot(D_S, at->F));
        }
    }
}

// Speeds of which neither is outboard of the other do not feel each other.
static void zero_uncoupled(const tali_tree *tree, const tali_kernel_slope_matrices *out)
{
    int64_t coupled = 0;
    for (int b = 1; b < tree->num_bodies; ++b) {
        coupled += (int64_t)tree->nu[b] * (2 * tree->span[b] - tree->nu[b]);
    }
    const size_t n = (size_t)tree->num_u;
    if (coupled == (int64_t)(n * n)) return;
    for (size_t j = 0; j < n; ++j) {
        if (out->M != NULL) memset(out->M + j * (size_t)out->ld_M, 0, n * sizeof *out->M);
        if (out->by_q != NULL) memset(out->by_q + j * (size_t)out->ld_q, 0, n * sizeof *out->by_q);
        if (out->by_u != NULL) memset(out->by_u + j * (size_t)out->ld_u, 0, n * sizeof *out->by_u);
    }
}

// Numbers behind the last speed, which whole blocks read; and all of them where a block may read
// what is not there yet. They do not matter, but must not be such that arithmetic is slow.
static void clear_margin(const tali_tree *tree, const columns *c)
{
    const size_t first = tree->is_depth_first ? (size_t)tree->num_u : 0;
    for (size_t i = 0; i < 24; ++i) {
        memset(c->t + i * c->step + first, 0, (c->step - first) * sizeof *c->t);
    }
}

TAL_ALWAYS_INLINE tali_kernel_stepping stepping_from(const tali_tree_view *view,
                                                     const tali_kernel_slopes *in, int b,
                                                     const tali_kernel_slope_matrices *out,
                                                     const tali_kernel_slope_room *room)
{
    const tali_tree *tree = view->tree;
    const int parent = tree->parent[b], first = tree->place[b];
    return (tali_kernel_stepping){.view = view,
                                  .in = in,
                                  .out = out,
                                  .room = room,
                                  .u0 = tree->u0[parent],
                                  .nu = tree->nu[parent],
                                  .first = first,
                                  .last = first + tree->span[b],
                                  .p = view->p_PM[b]};
}

// Tip to base: composites, the body's own vectors and block, then the step to its parent.
static void pass_slope_matrices(const tali_tree_view *view, const tali_kernel_slopes *in,
                                const tali_kernel_slope_matrices *out,
                                const tali_kernel_slope_room *room)
{
    const tali_tree *tree = view->tree;
    const columns c = {room->columns, (size_t)tali_kernel_slope_step(tree->num_u)};
    for (int b = 1; b < tree->num_bodies && !tree->is_depth_first; ++b) {
        for (int j = 0; j < tree->nu[b]; ++j) {
            room->speed_at[tree->place[b] + j] = tree->u0[b] + j;
        }
    }
    clear_margin(tree, &c);
    zero_uncoupled(tree, out);
    for (int b = tree->num_bodies - 1; b > 0; --b) {
        const tali_kernel_moving at = close_moving(view, in, b, room->open);
        own_block(view, in, b, &at, &c, out);
        if (tree->parent[b] == 0) continue;
        const tali_kernel_stepping s = stepping_from(view, in, b, out, room);
        view->passes->slope_step(&s, tree->hinge[tree->parent[b]] == TALI_HINGE_PIN);
        hand_down(view, b, &at, in->F != NULL, room->open);
    }
}

void TALI_KERNEL(slope_matrices)(tali_passes *out)
{
    out->slope_matrices = pass_slope_matrices;
}
