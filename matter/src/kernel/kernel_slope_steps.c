// One step towards Ground of the vectors of all speeds in a subtree, and their products with the
// speeds of the body reached.
//
// Given    t1 to t5 of these speeds, about the Mo of a body      kernel_slope_matrices.c
// Compute  t1, t3, t4 about its parent's Mo, and for each speed k of the parent
//              M_kl = S_k.t1       df_k/dq_l = S_k.t3        df_k/du_l = S_k.t4
//              df_l/dq_k = Psi''_k.t1 + Psi'_k.t2 + S_k.t5   df_l/du_k = Theta_k.t1 + S_k.t2
//                                                                           theory eq. 13.8
//
// As in kernel_composite.c a step serves all speeds of a subtree.
//
// Source: derived in theory T-13.
#include "kernel/kernel_set.h"
#include "kernel/kernel_slope_columns.h"

// --- steps towards Ground ---

// The five results for a speed on the path, each over the speeds outboard of it.
typedef struct results {
    double *M;
    double *q_out, *u_out; ///< df of the speeds outboard by the one on the path
    double *q_in, *u_in;   ///< df of the one on the path by the speeds outboard
} results;

// One step of a block, and the products with the parent's pin, S = [w; 0], where Theta = 2 Psi'.
TAL_ALWAYS_INLINE void step_to_pin(const columns *c, int first, v3 p, v3 w, sv Psi1, sv Psi2,
                                   const bool with_F, const results *out)
{
    const v3 Theta_w = v3_add(Psi1.w, Psi1.w), Theta_v = v3_add(Psi1.v, Psi1.v);
    double *M = out->M, *q_out = out->q_out, *u_out = out->u_out;
    double *q_in = out->q_in, *u_in = out->u_in;
    INDEPENDENT
    for (int k = first; k < first + BLOCK; ++k) {
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
        u_out[k] = v3_dot(Theta_w, t1_w) + v3_dot(Theta_v, t1_v) + v3_dot(w, t2);
    }
}

TAL_ALWAYS_INLINE void step(const columns *c, int first, v3 p)
{
    INDEPENDENT
    for (int k = first; k < first + BLOCK; ++k) {
        put_v3(c, T1_W, k, v3_add_cross(get_v3(c, T1_W, k), p, get_v3(c, T1_V, k)));
        put_v3(c, T3_W, k, v3_add_cross(get_v3(c, T3_W, k), p, get_v3(c, T3_V, k)));
        put_v3(c, T4_W, k, v3_add_cross(get_v3(c, T4_W, k), p, get_v3(c, T4_V, k)));
    }
}

// The products of a block with any column of the parent.
TAL_ALWAYS_INLINE void multiply(const columns *c, int first, sv S, sv Psi1, sv Psi2, sv Theta,
                                const bool with_F, const results *out)
{
    double *M = out->M, *q_out = out->q_out, *u_out = out->u_out;
    double *q_in = out->q_in, *u_in = out->u_in;
    INDEPENDENT
    for (int k = first; k < first + BLOCK; ++k) {
        const sv t1 = get_sv(c, T1_W, k);
        const v3 t2 = get_v3(c, T2, k);
        M[k] = sv_dot(S, t1);
        q_in[k] = sv_dot(S, get_sv(c, T3_W, k));
        u_in[k] = sv_dot(S, get_sv(c, T4_W, k));
        real by_q = sv_dot(Psi2, t1) + v3_dot(Psi1.w, t2);
        if (with_F) by_q += v3_dot(S.w, get_v3(c, T5, k));
        q_out[k] = by_q;
        u_out[k] = sv_dot(Theta, t1) + v3_dot(S.w, t2);
    }
}

// --- where results go ---

TAL_ALWAYS_INLINE columns columns_of(const tali_kernel_stepping *s)
{
    return (columns){s->room->columns, (size_t)tali_kernel_slope_step(s->view->tree->num_u)};
}

// What is outboard of speed u lies below the diagonal, in column u. There it is written at once if
// the bodies are numbered depth first and the matrix is wanted; otherwise to a row of the room.
static inline double *below(double *matrix, int ld, int u, bool direct, double *row)
{
    return direct && matrix != NULL ? matrix + (size_t)u * (size_t)ld : row;
}

static inline results aim(const tali_kernel_stepping *s, int u, bool direct)
{
    const tali_kernel_slope_matrices *out = s->out;
    double *rows = s->room->rows;
    const size_t n = (size_t)tali_kernel_slope_step(s->view->tree->num_u);
    return (results){
        below(out->M, out->ld_M, u, direct, rows), below(out->by_q, out->ld_q, u, direct, rows + n),
        below(out->by_u, out->ld_u, u, direct, rows + 2 * n), rows + 3 * n, rows + 4 * n};
}

// Column u of a matrix, below the diagonal.
static inline void put_below(const tali_kernel_stepping *s, double *matrix, int ld, int u,
                             int first, const double row[])
{
    if (matrix == NULL) return;
    double *column = matrix + (size_t)u * (size_t)ld;
    for (int k = first; k < s->last && s->view->tree->is_depth_first; ++k) {
        column[k] = row[k];
    }
    for (int k = first; k < s->last && !s->view->tree->is_depth_first; ++k) {
        column[s->room->speed_at[k]] = row[k];
    }
}

// Row u of a matrix, right of the diagonal.
static inline void put_right(const tali_kernel_stepping *s, double *matrix, int ld, int u,
                             const double row[])
{
    if (matrix == NULL) return;
    double *at = matrix + u;
    for (int k = s->first; k < s->last && s->view->tree->is_depth_first; ++k) {
        at[(size_t)k * (size_t)ld] = row[k];
    }
    for (int k = s->first; k < s->last && !s->view->tree->is_depth_first; ++k) {
        at[(size_t)s->room->speed_at[k] * (size_t)ld] = row[k];
    }
}

// Whole blocks have gone where they belong if the bodies are numbered depth first; `rest` has not.
static inline void deliver(const tali_kernel_stepping *s, int u, int rest)
{
    const tali_kernel_slope_matrices *out = s->out;
    const results from = aim(s, u, false);
    const int first = s->view->tree->is_depth_first ? rest : s->first;
    put_below(s, out->M, out->ld_M, u, first, from.M);
    put_below(s, out->by_q, out->ld_q, u, first, from.q_out);
    put_below(s, out->by_u, out->ld_u, u, first, from.u_out);
    put_right(s, out->by_q, out->ld_q, u, from.q_in);
    put_right(s, out->by_u, out->ld_u, u, from.u_in);
}

// The blocks from first to before `end`, all of which exist.
TAL_ALWAYS_INLINE void take_blocks(const tali_kernel_stepping *s, const columns *c, int first,
                                   int end, bool direct, const bool is_pin, const bool with_F)
{
    const tali_kernel_slopes *in = s->in;
    const sv *H = s->view->H;
    const int u0 = s->u0;
    if (is_pin) {
        const results to = aim(s, u0, direct);
        for (int k = first; k < end; k += BLOCK) {
            step_to_pin(c, k, s->p, H[u0].w, in->Psi1[u0], in->Psi2[u0], with_F, &to);
        }
        return;
    }
    for (int k = first; k < end; k += BLOCK) {
        step(c, k, s->p);
    }
}

TAL_ALWAYS_INLINE void multiply_blocks(const tali_kernel_stepping *s, const columns *c, int u,
                                       int first, int end, bool direct, const bool with_F)
{
    const tali_kernel_slopes *in = s->in;
    const results to = aim(s, u, direct);
    for (int k = first; k < end; k += BLOCK) {
        multiply(c, k, s->view->H[u], in->Psi1[u], in->Psi2[u], in->Psi3[u], with_F, &to);
    }
}

// What a step changes, and lies in the last block behind the subtree: other speeds wait there.
typedef struct neighbors {
    double t[9][BLOCK];
} neighbors;

static inline double *neighbor(const columns *c, int i, int k)
{
    static const int which[3] = {T1_W, T3_W, T4_W};
    return c->t + (size_t)(which[i / 3] + i % 3) * c->step + (size_t)k;
}

static inline void keep_neighbors(const columns *c, int k, neighbors *kept)
{
    for (int i = 0; i < 9; ++i) {
        // cppcheck-suppress uninitvar ; it is written here
        memcpy(kept->t[i], neighbor(c, i, k), sizeof kept->t[i]);
    }
}

static inline void restore_neighbors(const columns *c, int k, const neighbors *kept)
{
    for (int i = 0; i < 9; ++i) {
        memcpy(neighbor(c, i, k), kept->t[i], sizeof kept->t[i]);
    }
}

// Takes all that body b carries, and b, to its parent, and couples them with the parent's speeds.
TAL_ALWAYS_INLINE void take_step(const tali_kernel_stepping *s, const bool is_pin,
                                 const bool with_F)
{
    const columns c = columns_of(s);
    const bool direct = s->view->tree->is_depth_first;
    const int rest = s->last - (s->last - s->first) % BLOCK;
    take_blocks(s, &c, s->first, rest, direct, is_pin, with_F);
    neighbors kept;
    if (rest < s->last) {
        keep_neighbors(&c, s->last, &kept);
        take_blocks(s, &c, rest, s->last, false, is_pin, with_F);
        restore_neighbors(&c, s->last, &kept);
    }
    if (is_pin) {
        deliver(s, s->u0, rest);
        return;
    }
    for (int u = s->u0; u < s->u0 + s->nu; ++u) {
        multiply_blocks(s, &c, u, s->first, rest, direct, with_F);
        multiply_blocks(s, &c, u, rest, s->last, false, with_F);
        deliver(s, u, rest);
    }
}

static void pass_slope_step(const tali_kernel_stepping *s, bool is_pin)
{
    const bool with_F = s->in->F != NULL;
    if (is_pin && with_F) {
        take_step(s, true, true);
    } else if (is_pin) {
        take_step(s, true, false);
    } else if (with_F) {
        take_step(s, false, true);
    } else {
        take_step(s, false, false);
    }
}

void TALI_KERNEL(slope_steps)(tali_passes *out)
{
    out->slope_step = pass_slope_step;
}
