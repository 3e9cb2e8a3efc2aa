// Derivatives of inverse dynamics as products: along one direction, and transposed.
//
//   quantity                                        spec of T-13    here
//   own column                                      S               view->H
//   what it does to velocities outboard             Psi'            Psi1
//   what it does to accelerations outboard          Psi''           Psi2
//   the same of a speed                             Psi' + S'       Psi3
//   Coriolis of a body                              C               tali_kernel_turning
//
// Given    view->H, p_PM, rigid, rates    columns, Mo to Mo, inertias, velocities
//          u, udot, F                     speeds, their rates, forces on bodies that keep their
//                                         components in Ground
// Compute  slopes      Psi1, Psi2, Psi3, base to tip                    theory eq. 13.3
//          slope_mul   df along (x, du, dudot): one pass out, one in    theory eq. 13.9
//          slope_tmul  the transpose: the same in the other order       theory eq. 13.10
//
// Velocities are taken less that of the first body on the way, which changes no derivative and
// saves the digits that a fast base would take from them.
//
// Source: derived in theory T-13.
#include "kernel/kernel_slopes.h"

#include "kernel/kernel_set.h"

// --- Psi ---

// What the slopes of one body are made of: v_L is the parent's velocity at Mo, a the spatial
// acceleration (theory T-1), and (w_J, v_J) = H u.
typedef struct moving_hinge {
    sv V, v_L, a;
    sv V_J;
    v3 alpha_J;
    m3 R_GF;   ///< of a general hinge
    v3 Hdot_u; ///< its angular part in Ground, of a general hinge
} moving_hinge;

// A pin does not move its Mo, and its column is the same in F: Psi' = S' (theory eq. 13.3).
TAL_ALWAYS_INLINE void pin_slopes(const tali_tree_view *view, int b, const tali_kernel_slopes *io,
                                  sv V, sv a)
{
    const int u0 = view->tree->u0[b];
    const sv S = view->H[u0];
    const sv Psi1 = {v3_cross(V.w, S.w), v3_cross(V.v, S.w)};
    const sv a_S = {v3_cross(a.w, S.w), v3_cross(a.v, S.w)};
    io->Psi1[u0] = Psi1;
    io->Psi2[u0] = sv_add(a_S, sv_cross_motion(V, Psi1));
    io->Psi3[u0] = sv_add(Psi1, Psi1);
}

// What theory eq. 13.3 says for speed l of any hinge.
static inline void general_slope(const tali_tree_view *view, int b, const tali_kernel_slopes *io,
                                 const moving_hinge *m, int l)
{
    const int u0 = view->tree->u0[b], nu = view->tree->nu[b];
    const sv S = view->H[u0 + l];
    const sv D_u = along_columns(view, io, b, l, io->u + u0, m->V_J.w, m->R_GF);
    sv S_dot = add_linear(sv_cross_motion(m->v_L, S), v3_cross(m->V_J.v, S.w));
    sv D_a = sv_cross_motion(m->v_L, D_u);
    if (io->udot != NULL) {
        D_a = sv_add(D_a, along_columns(view, io, b, l, io->udot + u0, m->alpha_J, m->R_GF));
    }
    if (is_general(view, b)) {
        const sv *of_H = io->of_H + view->tree->d0[b];
        sv Hdot_l = {NONE, NONE};
        for (int k = 0; k < nu; ++k) {
            Hdot_l = sv_axpy(io->u[u0 + k], of_H[k * nu + l], Hdot_l);
        }
        S_dot = sv_add(S_dot, turn_sv(m->R_GF, Hdot_l));
        // D_l of (0, v_J x w_J), and of the shift of Hdot u to a point that does not move
        const v3 D_v = v3_sub(D_u.v, v3_cross(S.v, m->V_J.w));
        const v3 shifted = v3_add_cross(v3_cross(D_v, m->V_J.w), m->V_J.v, D_u.w);
        D_a = sv_add(D_a, turn_sv(m->R_GF, io->of_Hdot_u[u0 + l]));
        D_a = add_linear(D_a, v3_add_cross(shifted, S.v, m->Hdot_u));
    }
    const sv Psi1 = sv_add(sv_cross_motion(m->V, S), D_u);
    io->Psi1[u0 + l] = Psi1;
    io->Psi2[u0 + l] = sv_add(sv_cross_motion(m->a, S), sv_add(sv_cross_motion(m->V, Psi1), D_a));
    io->Psi3[u0 + l] = sv_add(Psi1, S_dot);
}

static inline void hinge_slopes(const tali_tree_view *view, int b, const tali_kernel_slopes *io,
                                sv V, sv a, const sv *Hdot_u)
{
    const tali_tree *tree = view->tree;
    const int p = tree->parent[b], u0 = tree->u0[b];
    const sv none = {NONE, NONE};
    moving_hinge m = {.V = V, .a = a, .V_J = hinge_add_Hu(view, b, io->u + u0, none)};
    m.alpha_J = io->udot != NULL ? hinge_add_Hu(view, b, io->udot + u0, none).w : NONE;
    m.v_L = p > 0 ? sv_shift_motion(io->V[p], view->p_PM[b]) : (sv){NONE, v3_scale(-1.0, m.V_J.v)};
    m.R_GF = slope_R_GF(view, b);
    if (is_general(view, b)) {
        m.Hdot_u = m3_mul_v3(m.R_GF, Hdot_u->w);
    }
    for (int l = 0; l < tree->nu[b]; ++l) {
        general_slope(view, b, io, &m, l);
    }
}

// Motion, base to tip, and on the way what each body needs and the slopes of its hinge.
static void pass_slopes(const tali_tree_view *view, const tali_kernel_slopes *io)
{
    const tali_tree *tree = view->tree;
    const sv *next_Hdot_u = view->Hdot_u;
    io->V[0] = io->A[0] = (sv){NONE, NONE};
    for (int b = 1; b < tree->num_bodies; ++b) {
        const int p = tree->parent[b], u0 = tree->u0[b];
        const sv *Hdot_u = next_Hdot_u;
        const carried to = hinge_carry(view, b, io->u + u0, io->V[p], io->A[p], &next_Hdot_u);
        const sv A = io->udot != NULL ? hinge_add_Hu(view, b, io->udot + u0, to.A) : to.A;
        const sv V = {to.V.w, p > 0 ? to.V.v : NONE};
        const sv a = {A.w, v3_sub(A.v, v3_cross(V.w, V.v))};
        const sv needed = newton_euler(&view->rigid[b], A, V.w);
        io->A[b] = A;
        io->V[b] = V;
        io->force[b] = io->F != NULL ? sv_sub(needed, io->F[b]) : needed;
        if (tree->hinge[b] == TALI_HINGE_PIN) {
            pin_slopes(view, b, io, V, a);
        } else {
            hinge_slopes(view, b, io, V, a, Hdot_u);
        }
    }
}

// --- along one direction ---

// How a body and what is fixed to it are displaced, and how its velocity and spatial acceleration
// change besides (theory eq. 13.9).
typedef struct change {
    sv D, P1, P2;
} change;

TAL_ALWAYS_INLINE sv add_columns(const sv columns[], int nu, const double x[], sv sum)
{
    for (int l = 0; l < nu; ++l) {
        sum = sv_axpy(x[l], columns[l], sum);
    }
    return sum;
}

static inline change change_of(const tali_tree_view *view, const tali_kernel_slopes *in, int b,
                               const double *const x[3], change at)
{
    const int u0 = view->tree->u0[b], nu = view->tree->nu[b];
    const sv *S = view->H + u0;
    if (x[0] != NULL) {
        at.D = add_columns(S, nu, x[0] + u0, at.D);
        at.P1 = add_columns(in->Psi1 + u0, nu, x[0] + u0, at.P1);
        at.P2 = add_columns(in->Psi2 + u0, nu, x[0] + u0, at.P2);
    }
    if (x[1] != NULL) {
        at.P1 = add_columns(S, nu, x[1] + u0, at.P1);
        at.P2 = add_columns(in->Psi3 + u0, nu, x[1] + u0, at.P2);
    }
    if (x[2] != NULL) at.P2 = add_columns(S, nu, x[2] + u0, at.P2);
    return at;
}

// df of one body: S x* f + I Psi'' + C Psi', and forces that keep their direction.
TAL_ALWAYS_INLINE sv change_of_force(const tali_tree_view *view, const tali_kernel_slopes *in,
                                     int b, const change *at)
{
    const tali_kernel_turning coriolis = coriolis_of(&view->rigid[b], in->V[b]);
    sv df = sv_add(sv_cross_force(at->D, in->force[b]), inertia_times(&view->rigid[b], at->P2));
    df = sv_add(df, turning_mul(&coriolis, at->P1.w));
    if (in->F != NULL) {
        const tali_kernel_turning kept = kept_force(view, in, b);
        df = sv_add(df, turning_mul(&kept, at->D.w));
    }
    return df;
}

// The change of column k of a body: its parent carries it along, and its own motion moves it.
static inline sv change_of_column(const tali_tree_view *view, const tali_kernel_slopes *in, int b,
                                  const double x[], sv D_L, int k, m3 R_GF)
{
    sv sum = sv_cross_motion(D_L, body_H(view, b)[k]);
    for (int l = 0; l < view->tree->nu[b]; ++l) {
        sum = sv_axpy(x[l], column_slope(view, in, b, l, k, R_GF), sum);
    }
    return sum;
}

// f = H^T F of body b changes with F and with H.
static inline void change_of_needed(const tali_tree_view *view, const tali_kernel_slopes *in, int b,
                                    const double *const x[3], sv D_P, sv F, sv dF, double df[])
{
    const int u0 = view->tree->u0[b], nu = view->tree->nu[b];
    hinge_mul_HT(view, b, dF, x[2] != NULL ? x[2] + u0 : NULL, df + u0);
    if (x[0] == NULL) return;
    const sv D_L = sv_shift_motion(D_P, view->p_PM[b]);
    if (view->tree->hinge[b] == TALI_HINGE_PIN) {
        df[u0] += v3_dot(v3_cross(D_L.w, view->H[u0].w), F.w) +
                  v3_dot(v3_cross(D_L.v, view->H[u0].w), F.v);
        return;
    }
    const m3 R_GF = slope_R_GF(view, b);
    for (int k = 0; k < nu; ++k) {
        df[u0 + k] += sv_dot(change_of_column(view, in, b, x[0] + u0, D_L, k, R_GF), F);
    }
}

// What the children of a body have handed down, in one of several sums.
TAL_ALWAYS_INLINE sv handed_down(const tali_tree *tree, int b, const sv open[])
{
    return tree->is_leaf[b] ? (sv){NONE, NONE} : open[tree->slot[b]];
}

TAL_ALWAYS_INLINE void hand_down(const tali_tree_view *view, int b, sv F, sv open[])
{
    const tali_tree *tree = view->tree;
    const sv shifted = sv_shift_force(F, view->p_PM[b]);
    sv *parent = &open[tree->slot[tree->parent[b]]];
    *parent = tree->is_last[b] ? shifted : sv_add(*parent, shifted);
}

static void pass_slope_mul(const tali_tree_view *view, const tali_kernel_slopes *in,
                           const double *const x[3], double df[], tal_spatial_vec room[],
                           tal_spatial_vec open[])
{
    const tali_tree *tree = view->tree;
    change *at = (change *)(void *)room;
    at[0] = (change){{NONE, NONE}, {NONE, NONE}, {NONE, NONE}};
    for (int b = 1; b < tree->num_bodies; ++b) {
        const change *parent = &at[tree->parent[b]];
        const v3 p = view->p_PM[b];
        at[b] = change_of(view, in, b, x,
                          (change){sv_shift_motion(parent->D, p), sv_shift_motion(parent->P1, p),
                                   sv_shift_motion(parent->P2, p)});
    }
    sv *open_dF = open + tree->num_slots;
    for (int b = tree->num_bodies - 1; b > 0; --b) {
        const sv F = sv_add(handed_down(tree, b, open), in->force[b]);
        const sv dF = sv_add(handed_down(tree, b, open_dF), change_of_force(view, in, b, &at[b]));
        change_of_needed(view, in, b, x, at[tree->parent[b]].D, F, dF, df);
        if (tree->parent[b] == 0) continue;
        hand_down(view, b, F, open);
        hand_down(view, b, dF, open_dF);
    }
}

// --- the transpose ---

// Sums over a body and what it carries: its force; inertia times J mu; and what turns, transposed.
typedef struct sums {
    sv F, y;
    v3 coriolis, kept;
} sums;

static inline sums sums_of(const tali_tree_view *view, const tali_kernel_slopes *in, int b, sv nu)
{
    const tali_kernel_turning coriolis = coriolis_of(&view->rigid[b], in->V[b]);
    sums at = {in->force[b], inertia_times(&view->rigid[b], nu), turning_tmul(&coriolis, nu), NONE};
    if (in->F != NULL) {
        const tali_kernel_turning kept = kept_force(view, in, b);
        at.kept = turning_tmul(&kept, nu);
    }
    return at;
}

static inline void write_transposed(const tali_tree_view *view, const tali_kernel_slopes *in, int b,
                                    const double mu[], sv nu, const sums *at, double *const out[3])
{
    const int u0 = view->tree->u0[b], n = view->tree->nu[b];
    const sv *S = view->H + u0;
    const v3 w_mu = hinge_add_Hu(view, b, mu + u0, (sv){NONE, NONE}).w;
    const m3 R_GF = slope_R_GF(view, b);
    for (int l = 0; l < n && out[0] != NULL; ++l) {
        const sv D_mu = along_columns(view, in, b, l, mu + u0, w_mu, R_GF);
        const real by_F = sv_dot(sv_add(sv_cross_motion(nu, S[l]), D_mu), at->F);
        out[0][u0 + l] = by_F + sv_dot(in->Psi2[u0 + l], at->y) +
                         v3_dot(in->Psi1[u0 + l].w, at->coriolis) + v3_dot(S[l].w, at->kept);
    }
    for (int l = 0; l < n && out[1] != NULL; ++l) {
        out[1][u0 + l] = sv_dot(in->Psi3[u0 + l], at->y) + v3_dot(S[l].w, at->coriolis);
    }
    if (out[2] != NULL) hinge_mul_HT(view, b, at->y, mu + u0, out[2] + u0);
}

static void pass_slope_tmul(const tali_tree_view *view, const tali_kernel_slopes *in,
                            const double mu[], double *const out[3], tal_spatial_vec room[],
                            tal_spatial_vec open[])
{
    const tali_tree *tree = view->tree;
    sums *all = (sums *)(void *)open;
    view->passes->J(view, mu, room);
    for (int b = tree->num_bodies - 1; b > 0; --b) {
        sums at = sums_of(view, in, b, room[b]);
        if (!tree->is_leaf[b]) {
            const sums *load = &all[tree->slot[b]];
            at = (sums){sv_add(at.F, load->F), sv_add(at.y, load->y),
                        v3_add(at.coriolis, load->coriolis), v3_add(at.kept, load->kept)};
        }
        write_transposed(view, in, b, mu, room[b], &at, out);
        if (tree->parent[b] == 0) continue;
        sums *parent = &all[tree->slot[tree->parent[b]]];
        if (tree->is_last[b]) *parent = (sums){{NONE, NONE}, {NONE, NONE}, NONE, NONE};
        const v3 p = view->p_PM[b];
        *parent = (sums){sv_add(parent->F, sv_shift_force(at.F, p)),
                         sv_add(parent->y, sv_shift_force(at.y, p)),
                         v3_add(parent->coriolis, at.coriolis), v3_add(parent->kept, at.kept)};
    }
}

void TALI_KERNEL(slopes)(tali_passes *out)
{
    out->slopes = pass_slopes;
    out->slope_mul = pass_slope_mul;
    out->slope_tmul = pass_slope_tmul;
}
