// Derivatives of inverse and forward dynamics as matrices, and as products (theory T-13).
#include "derivative/derivative_internal.h"
#include "prescribed/prescribed_internal.h"
#include "stage/stages_internal.h"

// Sizes of the three matrices of a call, where they are wanted.
static tal_status check_matrices(const tal_matrix A[3], const char *const names[3], int n,
                                 const char *where)
{
    tal_status st = TAL_OK;
    for (int i = 0; i < 3 && st == TAL_OK; ++i) {
        if (tali_derivative_is_wanted(A[i])) st = tali_op_matrix(names[i], A[i], n, n, where);
    }
    return st;
}

static tal_status check_results(tal_state *state, const tal_matrix A[3], const char *const names[3])
{
    tal_status st = TAL_OK;
    for (int i = 0; i < 3 && st == TAL_OK; ++i) {
        if (tali_derivative_is_wanted(A[i])) st = tali_op_result_columns(state, names[i], A[i]);
    }
    return st;
}

static tali_kernel_slope_room take_matrix_room(const tali_tree *tree, tal_state *state)
{
    const size_t nu = (size_t)tree->num_u + 1;
    const size_t step = (size_t)tali_kernel_slope_step(tree->num_u);
    tali_kernel_slope_room room;
    room.open = tal_state_scratch_take(state, ((size_t)tree->num_slots + 1) * sizeof *room.open);
    room.columns = tal_state_scratch_take(state, 24 * step * sizeof *room.columns);
    room.rows = tal_state_scratch_take(state, 5 * step * sizeof *room.rows);
    room.speed_at = tal_state_scratch_take(state, nu * sizeof *room.speed_at);
    return room;
}

// What is wanted of by_q, by_u and M.
static tal_status write_matrices(const tal_matter *matter, tal_state *state,
                                 const tali_tree_view *view, const double udot[],
                                 const tal_spatial_vec F_GB[], tal_matrix by_q, tal_matrix by_u,
                                 tal_matrix M)
{
    const size_t mark = tal_state_scratch_mark(state);
    tali_kernel_slopes slopes;
    const tal_status st = tali_derivative_slopes(matter, state, view, udot, F_GB, &slopes);
    if (st == TAL_OK) {
        const tali_kernel_slope_matrices out = {tali_derivative_is_wanted(by_q) ? by_q.data : NULL,
                                                tali_derivative_is_wanted(by_u) ? by_u.data : NULL,
                                                tali_derivative_is_wanted(M) ? M.data : NULL,
                                                by_q.ld,
                                                by_u.ld,
                                                M.ld};
        const tali_kernel_slope_room room = take_matrix_room(view->tree, state);
        view->passes->slope_matrices(view, &slopes, &out, &room);
        if (tali_derivative_is_wanted(M))
            tali_op_mirror(M.data, view->tree->num_u, (size_t)M.ld, 1);
    }
    tal_state_scratch_release(state, mark);
    return st;
}

tal_status tal_matter_calc_ID_derivatives(const tal_matter *matter, tal_state *state,
                                          const double udot[], const tal_spatial_vec F_GB[],
                                          tal_matrix by_q, tal_matrix by_u, tal_matrix M)
{
    static const char *const names[3] = {"by_q", "by_u", "M"};
    const tal_matrix all[3] = {by_q, by_u, M};
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_DERIVATIVE_VIEW, &view, __func__);
    if (st == TAL_OK) st = check_matrices(all, names, view.tree->num_u, __func__);
    if (st == TAL_OK) st = tali_derivative_check(state, view.tree, udot, F_GB);
    if (st == TAL_OK) st = write_matrices(matter, state, &view, udot, F_GB, by_q, by_u, M);
    return st == TAL_OK ? check_results(state, all, names) : st;
}

// --- forward dynamics ---

// A motion that is not of time alone has derivatives that nobody knows.
tal_status tali_derivative_check_known(const tal_matter *matter, tal_state *state)
{
    const tali_prescribed_known known = tali_prescribed_known_of(matter, state);
    for (int u = 0; u < matter->tree.num_u; ++u) {
        if (known.source[u] < 0) continue;
        const tali_prescribed_drive *drive = &matter->prescribed.list[known.source[u]];
        if (tali_prescribed_is_of_time(drive)) continue;
        return tal_state_fail(
            state, TAL_ERR_BAD_VALUE,
            "motion '%s' may depend on q and u, and nothing is known of its derivatives: prescribe "
            "positions, or give functions of time",
            drive->name);
    }
    return TAL_OK;
}

tali_kernel_inverse_room tali_derivative_inverse_room(const tali_tree *tree, tal_state *state)
{
    const size_t nu = (size_t)tree->num_u + 1, n = (size_t)tree->num_bodies;
    tali_kernel_inverse_room room;
    room.G = tal_state_scratch_take(state, nu * sizeof *room.G);
    room.DI = tal_state_scratch_take(state, ((size_t)tree->num_d + 1) * sizeof *room.DI);
    room.e = tal_state_scratch_take(state, TALI_KERNEL_LANES * nu * sizeof *room.e);
    room.A = tal_state_scratch_take(state, 6 * TALI_KERNEL_LANES * n * sizeof *room.A);
    room.open = tal_state_scratch_take(
        state, 6 * TALI_KERNEL_LANES * ((size_t)tree->num_slots + 1) * sizeof *room.open);
    return room;
}

static void write_unit_matrix(tal_matrix A)
{
    for (int j = 0; j < A.cols; ++j) {
        memset(tali_op_column(A, j), 0, (size_t)A.rows * sizeof(double));
        tali_op_column(A, j)[j] = 1.0;
    }
}

// by_q and by_u hold derivatives of inverse dynamics and become those of forward dynamics.
static void solve_columns(tal_state *state, const tali_tree_view *view, tal_matrix by_q,
                          tal_matrix by_u, tal_matrix Minv)
{
    const int n = view->tree->num_u;
    const tali_kernel_inverse_room room = tali_derivative_inverse_room(view->tree, state);
    view->passes->inverse_prepare(view, &room);
    if (tali_derivative_is_wanted(by_q))
        view->passes->inverse_columns(view, &room, -1.0, by_q.data, by_q.ld, n);
    if (tali_derivative_is_wanted(by_u))
        view->passes->inverse_columns(view, &room, -1.0, by_u.data, by_u.ld, n);
    if (!tali_derivative_is_wanted(Minv)) return;
    write_unit_matrix(Minv);
    view->passes->inverse_columns(view, &room, 1.0, Minv.data, Minv.ld, n);
    tali_op_mirror(Minv.data, n, 1, (size_t)Minv.ld);
}

// Derivatives of inverse dynamics at the udot that forward dynamics gives, then M^-1 (theory
// eq. 13.11).
static tal_status write_forward(const tal_matter *matter, tal_state *state,
                                const tali_tree_view *view, const tal_spatial_vec F_GB[],
                                const double f[], double udot[], const tal_matrix all[3])
{
    const tal_matrix none = {NULL, 0, 0, 1};
    tal_status st = tal_matter_forward_dynamics(matter, state, F_GB, f, udot, NULL);
    if (st == TAL_OK && (tali_derivative_is_wanted(all[0]) || tali_derivative_is_wanted(all[1]))) {
        st = write_matrices(matter, state, view, udot, F_GB, all[0], all[1], none);
    }
    if (st == TAL_OK) solve_columns(state, view, all[0], all[1], all[2]);
    return st;
}

tal_status tal_matter_calc_FD_derivatives(const tal_matter *matter, tal_state *state,
                                          const tal_spatial_vec F_GB[], const double f[],
                                          double udot[], tal_matrix by_q, tal_matrix by_u,
                                          tal_matrix Minv)
{
    static const char *const names[3] = {"by_q", "by_u", "Minv"};
    const tal_matrix all[3] = {by_q, by_u, Minv};
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_DYNAMICS, &view, __func__);
    if (st == TAL_OK) st = check_matrices(all, names, view.tree->num_u, __func__);
    if (st == TAL_OK) st = tali_derivative_check_known(matter, state);
    if (st != TAL_OK) return st;

    const size_t n = (size_t)view.tree->num_u, mark = tal_state_scratch_mark(state);
    double *at = tal_state_scratch_take(state, (n + 1) * sizeof *at);
    st = at != NULL ? write_forward(matter, state, &view, F_GB, f, at, all) : TAL_ERR_CAPACITY;
    if (st == TAL_OK && udot != NULL) memcpy(udot, at, n * sizeof *udot);
    tal_state_scratch_release(state, mark);
    return st == TAL_OK ? check_results(state, all, names) : st;
}

// --- products ---

// The slopes for a product, once its vectors are known to be finite.
static tal_status prepare_product(const tal_matter *matter, tal_state *state,
                                  const tali_tree_view *view, const double udot[],
                                  const tal_spatial_vec F_GB[], tali_kernel_slopes *slopes)
{
    const tal_status st = tali_derivative_check(state, view->tree, udot, F_GB);
    return st == TAL_OK ? tali_derivative_slopes(matter, state, view, udot, F_GB, slopes) : st;
}

tal_status tal_matter_mul_ID_derivatives(const tal_matter *matter, tal_state *state,
                                         const double udot[], const tal_spatial_vec F_GB[],
                                         const double x[], const double du[], const double dudot[],
                                         double df[])
{
    static const char *const names[3] = {"x", "du", "dudot"};
    const double *const along[3] = {x, du, dudot};
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_DERIVATIVE_VIEW, &view, __func__);
    if (st == TAL_OK) st = tali_op_array("df", df, __func__);
    for (int i = 0; i < 3 && st == TAL_OK; ++i) {
        if (along[i] != NULL) st = tali_op_finite(state, names[i], along[i], view.tree->num_u);
    }
    if (st != TAL_OK) return st;
    const tali_tree *tree = view.tree;
    const size_t mark = tal_state_scratch_mark(state);
    tali_kernel_slopes slopes;
    st = prepare_product(matter, state, &view, udot, F_GB, &slopes);
    if (st == TAL_OK) {
        tal_spatial_vec *room =
            tal_state_scratch_take(state, 3 * (size_t)tree->num_bodies * sizeof *room);
        tal_spatial_vec *open =
            tal_state_scratch_take(state, 3 * ((size_t)tree->num_slots + 1) * sizeof *open);
        view.passes->slope_mul(&view, &slopes, along, df, room, open);
    }
    tal_state_scratch_release(state, mark);
    return st == TAL_OK ? tali_op_result(state, "df", df, tree->num_u) : st;
}

static tal_status check_gradients(tal_state *state, double *const out[3], int n)
{
    static const char *const names[3] = {"by_q", "by_u", "by_udot"};
    tal_status st = TAL_OK;
    for (int i = 0; i < 3 && st == TAL_OK; ++i) {
        if (out[i] != NULL) st = tali_op_result(state, names[i], out[i], n);
    }
    return st;
}

tal_status tal_matter_mul_ID_derivatives_T(const tal_matter *matter, tal_state *state,
                                           const double udot[], const tal_spatial_vec F_GB[],
                                           const double mu[], double by_q[], double by_u[],
                                           double by_udot[])
{
    double *const out[3] = {by_q, by_u, by_udot};
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_DERIVATIVE_VIEW, &view, __func__);
    if (st == TAL_OK) st = tali_op_array("mu", mu, __func__);
    if (st == TAL_OK) st = tali_op_finite(state, "mu", mu, view.tree->num_u);
    if (st != TAL_OK) return st;
    const tali_tree *tree = view.tree;
    const size_t mark = tal_state_scratch_mark(state);
    tali_kernel_slopes slopes;
    st = prepare_product(matter, state, &view, udot, F_GB, &slopes);
    if (st == TAL_OK) {
        tal_spatial_vec *room =
            tal_state_scratch_take(state, (size_t)tree->num_bodies * sizeof *room);
        tal_spatial_vec *open =
            tal_state_scratch_take(state, 3 * ((size_t)tree->num_slots + 1) * sizeof *open);
        view.passes->slope_tmul(&view, &slopes, mu, out, room, open);
    }
    tal_state_scratch_release(state, mark);
    return st == TAL_OK ? check_gradients(state, out, tree->num_u) : st;
}
