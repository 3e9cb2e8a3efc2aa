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
// X are forces that keep their components in Ground (theory eq. 13.5). As in kernel_composite.c the
// vectors of all speeds of a subtree are neighbors, in depth-first order, and take one step towards
// Ground together.
//
// Source: derived in theory T-13.
#include "kernel/kernel_set.h"
#include "kernel/kernel_slopes.h"

// --- composites ---

// The inertia of `child`, taken about a point from which its own point is at p, added to `at`.
static inline void add_inertia(tali_tree_composite *at, const tali_tree_composite *child, v3 p)
{
    at->mass += child->mass;
    at->mc = v3_add(at->mc, v3_axpy(child->mass, p, child->mc));
    at->I = s3_add(at->I, shift_moments(child->I, child->mass, child->mc, p));
}

static inline tali_kernel_moving own_moving(const tali_tree_view *view,
                                            const tali_kernel_slopes *in, int b)
{
    tali_kernel_moving at = {.inertia = view->rigid[b],
                             .F = in->force[b],
                             .coriolis = coriolis_of(&view->rigid[b], in->V[b])};
    if (in->F != NULL) at.kept = kept_force(view, in, b);
    return at;
}

static inline void add_moving(tali_kernel_moving *at, const tali_kernel_moving *child, v3 p,
                              const bool with_F)
{
    const tali_kernel_turning coriolis = turning_shift(&child->coriolis, p);
    add_inertia(&at->inertia, &child->inertia, p);
    at->F = sv_add(at->F, sv_shift_force(child->F, p));
    at->coriolis = turning_add(&at->coriolis, &coriolis);
    if (!with_F) return;
    const tali_kernel_turning kept = turning_shift(&child->kept, p);
    at->kept = turning_add(&at->kept, &kept);
}

static inline tali_kernel_moving close_moving(const tali_tree_view *view,
                                              const tali_kernel_slopes *in, int b,
                                              const tali_kernel_moving open[])
{
    tali_kernel_moving at = own_moving(view, in, b);
    if (!view->tree->is_leaf[b]) {
        add_moving(&at, &open[view->tree->slot[b]], NONE, in->F != NULL);
    }
    return at;
}

static inline void hand_down(const tali_tree_view *view, int b, const tali_kernel_moving *at,
                             const bool with_F, tali_kernel_moving open[])
{
    const tali_tree *tree = view->tree;
    tali_kernel_moving *sum = &open[tree->slot[tree->parent[b]]];
    if (tree->is_last[b]) *sum = (tali_kernel_moving){.inertia.mass = 0.0};
    add_moving(sum, at, view->p_PM[b], with_F);
}

// --- the vectors of all speeds ---

// Where they are among the columns: components of a vector are n numbers apart.
enum {
    T1_W = 0,
    T1_V = 3,
    T2 = 6,
    T3_W = 9,
    T3_V = 12,
    T4_W = 15,
    T4_V = 18,
    T5 = 21
};

typedef struct columns {
    double *t;
    size_t n;
} columns;

TAL_ALWAYS_INLINE v3 get_v3(const columns *c, int which, int k)
{
    const double *at = c->t + (size_t)which * c->n + (size_t)k;
    return (v3){at[0], at[c->n], at[2 * c->n]};
}

TAL_ALWAYS_INLINE void put_v3(const columns *c, int which, int k, v3 x)
{
    double *at = c->t + (size_t)which * c->n + (size_t)k;
    at[0] = x.x, at[c->n] = x.y, at[2 * c->n] = x.z;
}

TAL_ALWAYS_INLINE void put_sv(const columns *c, int which, int k, sv x)
{
    put_v3(c, which, k, x.w);
    put_v3(c, which + 3, k, x.v);
}

// The five results for a speed on the path, each over the speeds outboard of it.
typedef struct results {
    double *M;
    double *q_out, *u_out; ///< df of the speeds outboard by the one on the path
    double *q_in, *u_in;   ///< df of the one on the path by the speeds outboard
} results;

// --- own block ---

// The vectors t of speed l.
static inline void start_column(const tali_tree_view *view, const tali_kernel_slopes *in, int b,
                                int l, const tali_kernel_moving *at, const columns *c)
{
    const int u = view->tree->u0[b] + l, k = view->tree->place[b] + l;
    const sv S = view->H[u];
    sv t3 = sv_add(sv_cross_force(S, at->F), inertia_times(&at->inertia, in->Psi2[u]));
    t3 = sv_add(t3, turning_mul(&at->coriolis, in->Psi1[u].w));
    if (in->F != NULL) {
        t3 = sv_add(t3, turning_mul(&at->kept, S.w));
        put_v3(c, T5, k, turning_tmul(&at->kept, S));
    }
    put_sv(c, T1_W, k, inertia_times(&at->inertia, S));
    put_v3(c, T2, k, turning_tmul(&at->coriolis, S));
    put_sv(c, T3_W, k, t3);
    put_sv(c, T4_W, k,
           sv_add(inertia_times(&at->inertia, in->Psi3[u]), turning_mul(&at->coriolis, S.w)));
}

TAL_ALWAYS_INLINE sv get_sv(const columns *c, int which, int k)
{
    return (sv){get_v3(c, which, k), get_v3(c, which + 3, k)};
}

// The body's own block: theory eq. 13.7 with the change of its columns.
static inline void own_block(const tali_tree_view *view, const tali_kernel_slopes *in, int b,
                             const tali_kernel_moving *at, const columns *c,
                             const tali_kernel_slope_matrices *out)
{
    const int nu = view->tree->nu[b], u0 = view->tree->u0[b], place = view->tree->place[b];
    const sv *S = view->H + u0;
    const m3 R_GF = slope_R_GF(view, b);
    for (int l = 0; l < nu; ++l) {
        const size_t column = (size_t)(u0 + l);
        const sv t1 = get_sv(c, T1_W, place + l), t3 = get_sv(c, T3_W, place + l);
        const sv t4 = get_sv(c, T4_W, place + l);
        for (int k = 0; k < nu; ++k) {
            const size_t row = (size_t)(u0 + k);
            const sv D_S = column_slope(view, in, b, l, k, R_GF);
            if (out->M != NULL) out->M[column * (size_t)out->ld_M + row] = sv_dot(S[k], t1);
            if (out->by_u != NULL) out->by_u[column * (size_t)out->ld_u + row] = sv_dot(S[k], t4);
            if (out->by_q == NULL) continue;
            out->by_q[column * (size_t)out->ld_q + row] = sv_dot(S[k], t3) + sv_dot(D_S, at->F);
        }
    }
    if (nu == 1 && out->M != NULL) {
        out->M[(size_t)u0 * (size_t)out->ld_M + (size_t)u0] += view->constants[b].rotor;
    }
}

// --- steps towards Ground ---

// One step, and the products with the parent's pin, S = [w; 0], where Psi' + S' = 2 Psi'.
TAL_ALWAYS_INLINE void step_to_pin_of(const columns *c, int first, int last, v3 p, v3 w, sv Psi1,
                                      sv Psi2, const bool with_F, const results *out)
{
    const v3 Psi3_w = v3_add(Psi1.w, Psi1.w), Psi3_v = v3_add(Psi1.v, Psi1.v);
    double *M = out->M, *q_out = out->q_out, *u_out = out->u_out;
    double *q_in = out->q_in, *u_in = out->u_in;
    INDEPENDENT
    for (int k = first; k < last; ++k) {
        const v3 t1_v = get_v3(c, T1_V, k), t2 = get_v3(c, T2, k);
        const v3 t1_w = v3_add_cross(get_v3(c, T1_W, k), p, t1_v);
        const v3 t3_w = v3_add_cross(get_v3(c, T3_W, k), p, get_v3(c, T3_V, k));
        const v3 t4_w = v3_add_cross(get_v3(c, T4_W, k), p, get_v3(c, T4_V, k));
        put_v3(c, T1_W, k, t1_w);
        put_v3(c, T3_W, k, t3_w);
        put_v3(c, T4_W, k, t4_w);
        M[k] = v3_dot(w, t1_w);
        q_in[k] = v3_dot(w, t3_w);
        u_in[k] = v3_dot(w, t4_w);
        real by_q = v3_dot(Psi2.w, t1_w) + v3_dot(Psi2.v, t1_v) + v3_dot(Psi1.w, t2);
        if (with_F) by_q += v3_dot(w, get_v3(c, T5, k));
        q_out[k] = by_q;
        u_out[k] = v3_dot(Psi3_w, t1_w) + v3_dot(Psi3_v, t1_v) + v3_dot(w, t2);
    }
}

static void step_to_pin(const columns *c, int first, int last, v3 p, v3 w, sv Psi1, sv Psi2,
                        bool with_F, const results *out)
{
    if (with_F) {
        step_to_pin_of(c, first, last, p, w, Psi1, Psi2, true, out);
    } else {
        step_to_pin_of(c, first, last, p, w, Psi1, Psi2, false, out);
    }
}

static void step(const columns *c, int first, int last, v3 p)
{
    INDEPENDENT
    for (int k = first; k < last; ++k) {
        put_v3(c, T1_W, k, v3_add_cross(get_v3(c, T1_W, k), p, get_v3(c, T1_V, k)));
        put_v3(c, T3_W, k, v3_add_cross(get_v3(c, T3_W, k), p, get_v3(c, T3_V, k)));
        put_v3(c, T4_W, k, v3_add_cross(get_v3(c, T4_W, k), p, get_v3(c, T4_V, k)));
    }
}

// The products with any column of the parent.
TAL_ALWAYS_INLINE void multiply_of(const columns *c, int first, int last, sv S, sv Psi1, sv Psi2,
                                   sv Psi3, const bool with_F, const results *out)
{
    double *M = out->M, *q_out = out->q_out, *u_out = out->u_out;
    double *q_in = out->q_in, *u_in = out->u_in;
    INDEPENDENT
    for (int k = first; k < last; ++k) {
        const sv t1 = get_sv(c, T1_W, k);
        const v3 t2 = get_v3(c, T2, k);
        M[k] = sv_dot(S, t1);
        q_in[k] = sv_dot(S, get_sv(c, T3_W, k));
        u_in[k] = sv_dot(S, get_sv(c, T4_W, k));
        real by_q = sv_dot(Psi2, t1) + v3_dot(Psi1.w, t2);
        if (with_F) by_q += v3_dot(S.w, get_v3(c, T5, k));
        q_out[k] = by_q;
        u_out[k] = sv_dot(Psi3, t1) + v3_dot(S.w, t2);
    }
}

static void multiply(const columns *c, int first, int last, sv S, sv Psi1, sv Psi2, sv Psi3,
                     bool with_F, const results *out)
{
    if (with_F) {
        multiply_of(c, first, last, S, Psi1, Psi2, Psi3, true, out);
    } else {
        multiply_of(c, first, last, S, Psi1, Psi2, Psi3, false, out);
    }
}

// --- where results go ---

// What is outboard of speed u lies below the diagonal, in column u. There it is written at once if
// the bodies are numbered depth first and the matrix is wanted; otherwise to a row of the room.
static inline double *below(const double *matrix, int ld, int u, bool direct, double *row)
{
    return direct && matrix != NULL ? (double *)matrix + (size_t)u * (size_t)ld : row;
}

static inline results aim(const tali_tree *tree, const tali_kernel_slope_matrices *out, int u,
                          const tali_kernel_slope_room *room)
{
    const size_t n = (size_t)tree->num_u;
    const bool direct = tree->is_depth_first;
    return (results){below(out->M, out->ld_M, u, direct, room->rows),
                     below(out->by_q, out->ld_q, u, direct, room->rows + n),
                     below(out->by_u, out->ld_u, u, direct, room->rows + 2 * n), room->rows + 3 * n,
                     room->rows + 4 * n};
}

static inline void scatter_down(double *matrix, int ld, int u, const int32_t speed_at[], int first,
                                int last, const double row[])
{
    for (int k = first; k < last && matrix != NULL; ++k) {
        matrix[(size_t)u * (size_t)ld + (size_t)speed_at[k]] = row[k];
    }
}

// Row u of a matrix, right of the diagonal.
static inline void scatter_across(double *matrix, int ld, int u, const int32_t speed_at[],
                                  int first, int last, const double row[])
{
    for (int k = first; k < last && matrix != NULL; ++k) {
        matrix[(size_t)speed_at[k] * (size_t)ld + (size_t)u] = row[k];
    }
}

static inline void deliver(const tali_tree *tree, const tali_kernel_slope_matrices *out, int u,
                           const tali_kernel_slope_room *room, int first, int last,
                           const results *from)
{
    const int32_t *speed_at = room->speed_at;
    scatter_across(out->by_q, out->ld_q, u, speed_at, first, last, from->q_in);
    scatter_across(out->by_u, out->ld_u, u, speed_at, first, last, from->u_in);
    if (tree->is_depth_first) return;
    scatter_down(out->M, out->ld_M, u, speed_at, first, last, from->M);
    scatter_down(out->by_q, out->ld_q, u, speed_at, first, last, from->q_out);
    scatter_down(out->by_u, out->ld_u, u, speed_at, first, last, from->u_out);
}

// Takes all that body b carries, and b, to its parent, and couples them with the parent's speeds.
static void step_to_parent(const tali_tree_view *view, const tali_kernel_slopes *in, int b,
                           const columns *c, const tali_kernel_slope_matrices *out,
                           const tali_kernel_slope_room *room)
{
    const tali_tree *tree = view->tree;
    const int parent = tree->parent[b], u0 = tree->u0[parent];
    const int first = tree->place[b], last = first + tree->span[b];
    const v3 p = view->p_PM[b];
    if (tree->hinge[parent] == TALI_HINGE_PIN) {
        const results to = aim(tree, out, u0, room);
        step_to_pin(c, first, last, p, view->H[u0].w, in->Psi1[u0], in->Psi2[u0], in->F != NULL,
                    &to);
        deliver(tree, out, u0, room, first, last, &to);
        return;
    }
    step(c, first, last, p);
    for (int u = u0; u < u0 + tree->nu[parent]; ++u) {
        const results to = aim(tree, out, u, room);
        multiply(c, first, last, view->H[u], in->Psi1[u], in->Psi2[u], in->Psi3[u], in->F != NULL,
                 &to);
        deliver(tree, out, u, room, first, last, &to);
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

static void pass_slope_matrices(const tali_tree_view *view, const tali_kernel_slopes *in,
                                const tali_kernel_slope_matrices *out,
                                const tali_kernel_slope_room *room)
{
    const tali_tree *tree = view->tree;
    const columns c = {room->columns, (size_t)tree->num_u};
    for (int b = 1; b < tree->num_bodies; ++b) {
        for (int j = 0; j < tree->nu[b]; ++j) {
            room->speed_at[tree->place[b] + j] = tree->u0[b] + j;
        }
    }
    zero_uncoupled(tree, out);
    for (int b = tree->num_bodies - 1; b > 0; --b) {
        const tali_kernel_moving at = close_moving(view, in, b, room->open);
        for (int l = 0; l < tree->nu[b]; ++l) {
            start_column(view, in, b, l, &at, &c);
        }
        own_block(view, in, b, &at, &c, out);
        if (tree->parent[b] == 0) continue;
        step_to_parent(view, in, b, &c, out, room);
        hand_down(view, b, &at, in->F != NULL, room->open);
    }
}

void TALI_KERNEL(slope_matrices)(tali_passes *out)
{
    out->slope_matrices = pass_slope_matrices;
}
