// Derivatives of the velocities and accelerations of frames that are fixed to bodies (theory
// eq. 13.4), and of inverse dynamics by the mass properties of bodies.
#include "derivative/derivative_internal.h"

static void clear_rows(tal_matrix A, int first, int n)
{
    for (int j = 0; j < A.cols; ++j) {
        memset(tali_op_column(A, j) + first, 0, (size_t)n * sizeof(double));
    }
}

static void write_rows(tal_matrix A, int first, int j, tal_spatial_vec x)
{
    memcpy(tali_op_column(A, j) + first, &x, sizeof x);
}

// --- frames ---

// The motion of a frame at r from Mo of body b.
tali_derivative_frame tali_derivative_frame_of(const tali_kernel_slopes *slopes, int b, tal_vec3 r)
{
    const tal_spatial_vec V = slopes->V[b];
    const tal_spatial_vec A = tal_sv_shift_acceleration(slopes->A[b], V.w, r);
    tali_derivative_frame at = {.v = tal_sv_shift_motion(V, r)};
    at.a = tal_sv(A.w, tal_v3_sub(A.v, tal_v3_cross(V.w, at.v.v)));
    return at;
}

// From the change at a point that does not move to that at the frame, which is displaced by d.
static tal_spatial_vec follow(tal_spatial_vec change, tal_vec3 w, tal_vec3 d)
{
    return tal_sv(change.w, tal_v3_add(change.v, tal_v3_cross(w, d)));
}

// The change of A = a + (0, w x v) with the changes of a, w and v at the frame.
static tal_spatial_vec classical(tal_spatial_vec da, const tali_derivative_frame *at,
                                 tal_spatial_vec dV)
{
    const tal_vec3 turned = tal_v3_cross(dV.w, at->v.v), moved = tal_v3_cross(at->v.w, dV.v);
    return tal_sv(da.w, tal_v3_add(da.v, tal_v3_add(turned, moved)));
}

// By theory eq. 13.4, each about the frame.
tali_derivative_column tali_derivative_column_of(const tali_tree_view *view,
                                                 const tali_kernel_slopes *slopes, int u,
                                                 tal_vec3 p, const tali_derivative_frame *at)
{
    const tal_spatial_vec S = tal_sv_shift_motion(view->H[u], p);
    const tal_spatial_vec Psi1 = tal_sv_shift_motion(slopes->Psi1[u], p);
    const tal_spatial_vec Psi2 = tal_sv_shift_motion(slopes->Psi2[u], p);
    const tal_spatial_vec Psi3 = tal_sv_shift_motion(slopes->Psi3[u], p);
    const tal_spatial_vec carried = tal_sv_cross_motion(S, at->v);
    tali_derivative_column column = {.S = S};
    column.V_by_q = follow(tal_sv_add(carried, Psi1), at->v.w, S.v);
    tal_spatial_vec da = tal_sv_add(tal_sv_cross_motion(S, at->a), Psi2);
    da = follow(tal_sv_add(da, tal_sv_cross_motion(Psi1, at->v)), at->a.w, S.v);
    column.A_by_q = classical(da, at, column.V_by_q);
    column.A_by_u = classical(tal_sv_add(carried, Psi3), at, S);
    return column;
}

// Along the path of one frame to Ground.
static void write_frame(const tali_tree_view *view, const tali_kernel_slopes *slopes,
                        const tal_station *frame, int row, const tal_matrix all[3])
{
    const tali_tree *tree = view->tree;
    tal_vec3 p = tali_op_p_MS_G(view, frame->body.i, frame->p_BS);
    const tali_derivative_frame at = tali_derivative_frame_of(slopes, frame->body.i, p);
    for (int b = frame->body.i; b > 0; b = tree->parent[b]) {
        for (int l = 0; l < tree->nu[b]; ++l) {
            const int u = tree->u0[b] + l;
            const tali_derivative_column column =
                tali_derivative_column_of(view, slopes, u, p, &at);
            if (tali_derivative_is_wanted(all[0])) write_rows(all[0], row, u, column.V_by_q);
            if (tali_derivative_is_wanted(all[1])) write_rows(all[1], row, u, column.A_by_q);
            if (tali_derivative_is_wanted(all[2])) write_rows(all[2], row, u, column.A_by_u);
        }
        p = tal_v3_add(p, view->p_PM[b]);
    }
}

// The three matrices that are wanted, frame by frame.
tal_status tal_matter_calc_frame_derivatives(const tal_matter *matter, tal_state *state,
                                             const double udot[], const tal_station frames[], int n,
                                             tal_matrix V_by_q, tal_matrix A_by_q,
                                             tal_matrix A_by_u)
{
    static const char *const names[3] = {"V_by_q", "A_by_q", "A_by_u"};
    const tal_matrix all[3] = {V_by_q, A_by_q, A_by_u};
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_DERIVATIVE_VIEW, &view, __func__);
    if (st == TAL_OK) st = tali_op_stations(matter, state, frames, n, __func__);
    for (int i = 0; i < 3 && st == TAL_OK; ++i) {
        if (!tali_derivative_is_wanted(all[i])) continue;
        st = tali_op_matrix(names[i], all[i], 6 * n, view.tree->num_u, __func__);
    }
    if (st == TAL_OK) st = tali_derivative_check(state, view.tree, udot, NULL);
    if (st != TAL_OK) return st;
    const size_t mark = tal_state_scratch_mark(state);
    tali_kernel_slopes slopes;
    st = tali_derivative_slopes(matter, state, &view, udot, NULL, &slopes);
    for (int i = 0; i < 3 && st == TAL_OK; ++i) {
        if (tali_derivative_is_wanted(all[i])) clear_rows(all[i], 0, 6 * n);
    }
    for (int k = 0; k < n && st == TAL_OK; ++k) {
        write_frame(&view, &slopes, &frames[k], 6 * k, all);
    }
    tal_state_scratch_release(state, mark);
    for (int i = 0; i < 3 && st == TAL_OK; ++i) {
        if (tali_derivative_is_wanted(all[i])) st = tali_op_result_columns(state, names[i], all[i]);
    }
    return st;
}

// --- mass properties ---

static const tal_vec3 axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};

// The motion of a body that its inertia resists, in B about Bo.
typedef struct body_motion {
    tal_vec3 w, alpha, a;
} body_motion;

// Forces about Bo per unit mass, per unit m c along each axis, per unit inertia (tal_sym3):
//
//     f = m a + alpha x m c + w x (w x m c)        n = I alpha + w x I w + m c x a
static void unit_forces(const body_motion *at, tal_spatial_vec F[TAL_MASS_PARAMETERS])
{
    F[0] = tal_sv(TAL_VEC3_ZERO, at->a);
    for (int i = 0; i < 3; ++i) {
        const tal_vec3 turn = tal_v3_cross(at->w, tal_v3_cross(at->w, axes[i]));
        F[1 + i] = tal_sv(tal_v3_cross(axes[i], at->a),
                          tal_v3_add(tal_v3_cross(at->alpha, axes[i]), turn));
    }
    for (int i = 0; i < 6; ++i) {
        double entries[6] = {0.0};
        entries[i] = 1.0;
        tal_sym3 I;
        memcpy(&I, entries, sizeof I);
        const tal_vec3 turn = tal_v3_cross(at->w, tal_s3_mul_v3(I, at->w));
        F[4 + i] = tal_sv(tal_v3_add(tal_s3_mul_v3(I, at->alpha), turn), TAL_VEC3_ZERO);
    }
}

// The motion of body b in its own axes, in a field g; A_GM and w_GM are in Ground.
static body_motion motion_in_B(const tali_tree_view *view, const tali_kernel_slopes *slopes, int b,
                               tal_mat3 R_GB, tal_vec3 g)
{
    const tal_vec3 w = slopes->V[b].w;
    const tal_spatial_vec A = tal_sv_shift_acceleration(slopes->A[b], w, tali_op_p_MB_G(view, b));
    return (body_motion){tal_m3_tmul_v3(R_GB, w), tal_m3_tmul_v3(R_GB, A.w),
                         tal_m3_tmul_v3(R_GB, tal_v3_sub(A.v, g))};
}

// The columns of body b: each unit force along the speeds between the body and Ground.
static void write_regressor(const tali_tree_view *view, const tali_kernel_slopes *slopes, int b,
                            tal_vec3 g, tal_matrix Y)
{
    const tali_tree *tree = view->tree;
    const tal_mat3 R_GB = tal_m3_mul(view->pose[b].R_GM, view->constants[b].X_MB.R);
    const body_motion at = motion_in_B(view, slopes, b, R_GB, g);
    tal_spatial_vec F[TAL_MASS_PARAMETERS];
    unit_forces(&at, F);
    for (int k = 0; k < TAL_MASS_PARAMETERS; ++k) {
        F[k] = tal_m3_mul_sv(R_GB, F[k]);
    }
    tal_vec3 p = tali_op_p_MB_G(view, b);
    for (int i = b; i > 0; i = tree->parent[i]) {
        for (int u = tree->u0[i]; u < tree->u0[i] + tree->nu[i]; ++u) {
            const tal_spatial_vec S = tal_sv_shift_motion(view->H[u], p);
            for (int k = 0; k < TAL_MASS_PARAMETERS; ++k) {
                tali_op_column(Y, TAL_MASS_PARAMETERS * b + k)[u] = tal_sv_dot(S, F[k]);
            }
        }
        p = tal_v3_add(p, view->p_PM[i]);
    }
}

tal_status tal_matter_calc_regressor(const tal_matter *matter, tal_state *state,
                                     const double udot[], tal_vec3 g, tal_matrix Y)
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_DERIVATIVE_VIEW, &view, __func__);
    if (st != TAL_OK) return st;
    const int n = view.tree->num_bodies;
    st = tali_op_matrix("Y", Y, view.tree->num_u, TAL_MASS_PARAMETERS * n, __func__);
    if (st == TAL_OK) st = tali_derivative_check(state, view.tree, udot, NULL);
    if (st == TAL_OK) st = tali_op_finite(state, "g", &g.x, 3);
    if (st != TAL_OK) return st;
    const size_t mark = tal_state_scratch_mark(state);
    tali_kernel_slopes slopes;
    st = tali_derivative_slopes(matter, state, &view, udot, NULL, &slopes);
    if (st == TAL_OK) clear_rows(Y, 0, Y.rows);
    for (int b = 1; b < n && st == TAL_OK; ++b) {
        write_regressor(&view, &slopes, b, g, Y);
    }
    tal_state_scratch_release(state, mark);
    return st == TAL_OK ? tali_op_result_columns(state, "Y", Y) : st;
}
