// ln det M of a branch, and its slopes, base to tip.
//
// Given    P, H, p_PM      articulated inertias and hinge columns about Mo, in Ground
// Compute  U = P H,   D = H^T U,   K = U D^-1                             JAIN alg. 6.1
//          Y+ = shift Y_parent shift^T
//          Y  = psi Y+ psi^T + H D^-1 H^T,   psi = 1 - H K^T
//          ln det M = sum of ln det D
//          -d/dq_k ln det M = 2 tr(P [S_k x] Y),   S_k = H_k               (FIX; derived)
//
// Y is the inverse inertia felt at a body: it turns forces into motions. Here its blocks are those
// of an inertia with linear parts first, [Y_vv Y_vw; Y_wv Y_ww], and so are motions and forces that
// meet it: then it shifts as inertias do, the other way.
#include "log_det_internal.h"

#include "operator/operators_internal.h"
#include "prescribed/prescribed_internal.h"

#include <math.h>
#include <string.h>

// A motion or a force with its linear part first.
static tal_spatial_vec swapped(tal_spatial_vec V)
{
    return tal_sv(V.v, V.w);
}

// The columns of a hinge and what they carry, along combinations of speeds for which D is diagonal.
typedef struct columns {
    int n;
    tal_spatial_vec H[6], U[6];
    double D[6];
} columns;

// From H, U and D of the speeds: L D L^T of the matrix D, and L^-1 times the columns.
static void make_diagonal(columns *c, double rotor)
{
    for (int i = 0; i < c->n; ++i) {
        for (int j = 0; j < i; ++j) {
            const double l = tal_sv_dot(c->H[i], c->U[j]) / c->D[j];
            c->H[i] = tal_sv_sub(c->H[i], tal_sv_scale(l, c->H[j]));
            c->U[i] = tal_sv_sub(c->U[i], tal_sv_scale(l, c->U[j]));
        }
        c->D[i] = tal_sv_dot(c->H[i], c->U[i]) + rotor;
    }
}

// g h^T + h g^T
static tal_abi two_outers(tal_spatial_vec g, tal_spatial_vec h)
{
    const tal_mat3 J = tal_m3_outer(g.w, h.w), M = tal_m3_outer(g.v, h.v);
    return (tal_abi){tal_s3_from_m3(tal_m3_add(J, tal_m3_transpose(J))),
                     tal_m3_add(tal_m3_outer(g.w, h.v), tal_m3_outer(h.w, g.v)),
                     tal_s3_from_m3(tal_m3_add(M, tal_m3_transpose(M)))};
}

// Y past one column:
//
//     Y = Y+ - H Z^T - Z H^T + H (K^T Z + 1/D) H^T,   Z = Y+ K
//       = Y+ + g H^T + H g^T,                         g = (K^T Z + 1/D) H / 2 - Z
static tal_abi past_column(tal_abi Y, tal_spatial_vec H, tal_spatial_vec U, double D)
{
    const double DI = 1.0 / D;
    const tal_spatial_vec h = swapped(H), k = tal_sv_scale(DI, swapped(U));
    const tal_spatial_vec z = tal_abi_mul(Y, k);
    const double half = 0.5 * (tal_sv_dot(k, z) + DI);
    return tal_abi_add(Y, two_outers(tal_sv_sub(tal_sv_scale(half, h), z), h));
}

// The same for a hinge that turns about Mo, H = [w; 0], which leaves Y_vv alone.
static tal_abi past_turn(tal_abi Y, tal_vec3 w, tal_spatial_vec U, double D)
{
    const double DI = 1.0 / D;
    const tal_spatial_vec k = tal_sv_scale(DI, swapped(U));
    const tal_spatial_vec z = tal_abi_mul(Y, k);
    const double half = 0.5 * (tal_sv_dot(k, z) + DI);
    const tal_vec3 g = tal_v3_axpy(half, w, tal_v3_neg(z.v));
    const tal_mat3 M = tal_m3_outer(g, w);
    Y.F = tal_m3_sub(Y.F, tal_m3_outer(z.w, w));
    Y.M = tal_s3_add(Y.M, tal_s3_from_m3(tal_m3_add(M, tal_m3_transpose(M))));
    return Y;
}

// B_jk - B_kj
static tal_vec3 axial(tal_mat3 B)
{
    return tal_v3(B.z.y - B.y.z, B.x.z - B.z.x, B.y.x - B.x.y);
}

// The two vectors with tr(P [S x] Y) = s . S, from the axial parts of B = Y P:
//
//     s_w = axial(B_ww + B_vv)
static tal_vec3 turning_slopes(const tal_abi *P, const tal_abi *Y)
{
    const tal_mat3 ww = tal_m3_mul(tal_m3_from_s3(Y->M), tal_m3_from_s3(P->J));
    const tal_mat3 vv = tal_m3_mul(tal_m3_from_s3(Y->J), tal_m3_from_s3(P->M));
    const tal_mat3 F = tal_m3_sub(tal_m3_mul(Y->F, P->F), tal_m3_mul(P->F, Y->F));
    return axial(tal_m3_add(tal_m3_add(ww, vv), F));
}

//     s_v = axial(B_wv)
static tal_vec3 moving_slopes(const tal_abi *P, const tal_abi *Y)
{
    const tal_mat3 wv = tal_m3_add(tal_m3_mul(tal_m3_from_s3(Y->M), P->F),
                                   tal_m3_mul(tal_m3_transpose(Y->F), tal_m3_from_s3(P->M)));
    return axial(wv);
}

// The free columns of a hinge; `at` says which speed each is of.
static void read_columns(const tali_tree_view *view, int b, const tal_abi *P, columns *c, int at[6])
{
    const tali_tree *tree = view->tree;
    const bool is_free = view->hinge[b] != TALI_HINGE_LOCKED;
    c->n = 0;
    for (int k = 0; is_free && k < tree->nu[b]; ++k) {
        const int u = tree->u0[b] + k;
        if (view->level != NULL && view->level[u] != TAL_LEVEL_FREE) continue;
        at[c->n] = k;
        c->H[c->n] = view->H[u];
        c->U[c->n++] = tal_abi_mul(*P, view->H[u]);
    }
}

// ln of a product that is kept within what a double can hold.
typedef struct log_product {
    double product, sum;
} log_product;

static void multiply(log_product *l, double factor)
{
    l->product *= factor;
    if (l->product > 1e-100 && l->product < 1e100) return;
    l->sum += log(l->product);
    l->product = 1.0;
}

// A body that turns about one axis, its parent done: as add_body() below.
static void add_pin(const tali_tree_view *view, int b, const tal_abi *P, bool has_parent,
                    tal_abi *Y, log_product *det, double slopes[6])
{
    const tal_vec3 w = view->H[view->tree->u0[b]].w;
    const tal_spatial_vec U = tal_sv(tal_s3_mul_v3(P->J, w), tal_m3_tmul_v3(P->F, w));
    const double D = tal_v3_dot(w, U.w) + view->constants[b].rotor;
    multiply(det, D);
    *Y = past_turn(*Y, w, U, D);
    memset(slopes, 0, 6 * sizeof *slopes);
    if (has_parent) slopes[0] = 2.0 * tal_v3_dot(w, turning_slopes(P, Y));
}

// One body, its parent done: Y, its factors of det M, and the slopes along its speeds.
static void add_body(const tali_tree_view *view, int b, const tal_abi *P, bool has_parent,
                     tal_abi *Y, log_product *det, double slopes[6])
{
    columns c;
    int at[6];
    tal_spatial_vec S[6];
    read_columns(view, b, P, &c, at);
    memcpy(S, c.H, (size_t)c.n * sizeof *S);
    make_diagonal(&c, view->constants[b].rotor);
    for (int k = 0; k < c.n; ++k) {
        multiply(det, c.D[k]);
        *Y = past_column(*Y, c.H[k], c.U[k], c.D[k]);
    }
    memset(slopes, 0, 6 * sizeof *slopes);
    if (!has_parent || c.n == 0) return;
    const tal_spatial_vec s = tal_sv(turning_slopes(P, Y), moving_slopes(P, Y));
    for (int k = 0; k < c.n; ++k) {
        slopes[at[k]] = 2.0 * tal_sv_dot(s, S[k]);
    }
}

tal_status tali_matter_calc_log_det(const tal_matter *matter, tal_state *state,
                                    const tali_matter_branch *branch, tal_abi Y[], double *log_det,
                                    double slopes[])
{
    const tal_abi *P = tal_cache_realize(matter->system, state, matter->inertias);
    tali_tree_view view;
    if (P == NULL || !tali_tree_realize_view(matter, state, TALI_INERTIA, &view)) {
        return tal_state_error(state)->status;
    }
    log_product det = {1.0, 0.0};
    for (int i = 0; i < branch->n; ++i) {
        const int b = branch->body[i], parent = branch->parent[i];
        const bool has_parent = parent >= 0;
        Y[i] = (tal_abi){TAL_SYM3_ZERO, TAL_MAT3_ZERO, TAL_SYM3_ZERO};
        if (has_parent) Y[i] = tal_abi_shift(Y[parent], tal_v3_neg(view.p_PM[b]));
        const bool is_pin = view.hinge[b] == TALI_HINGE_PIN;
        (is_pin ? add_pin : add_body)(&view, b, &P[b], has_parent, &Y[i], &det,
                                      slopes + 6 * (size_t)i);
    }
    *log_det = det.sum + log(det.product);
    return TAL_OK;
}
