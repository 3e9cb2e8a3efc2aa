// The system Jacobian: V_GB of all bodies from u.
#include "operator/operators_internal.h"

// V_GM of all bodies become V_GB, in place.
static void shift_to_B(const tali_tree_view *view, tal_spatial_vec V[])
{
    for (int b = 1; b < view->tree->num_bodies; ++b) {
        V[b] = tal_sv_shift_motion(V[b], tali_op_p_MB_G(view, b));
    }
}

static void mul_J(const tali_tree_view *view, const double u[], tal_spatial_vec V_GB[])
{
    view->passes->J(view, u, V_GB);
    shift_to_B(view, V_GB);
}

// `room` holds the forces about Mo, and is overwritten by the pass.
static void mul_JT(const tali_tree_view *view, const tal_spatial_vec F_GB[], double f[],
                   tal_spatial_vec room[])
{
    room[0] = TAL_SPATIAL_VEC_ZERO;
    for (int b = 1; b < view->tree->num_bodies; ++b) {
        room[b] = tal_sv_shift_force(F_GB[b], tali_op_p_MB_G(view, b));
    }
    view->passes->JT(view, room, f);
}

static tal_spatial_vec *take_bodies(const tali_tree_view *view, tal_state *state)
{
    return tal_state_scratch_take(state, (size_t)view->tree->num_bodies * sizeof(tal_spatial_vec));
}

tal_status tal_matter_mul_J(const tal_matter *matter, tal_state *state, const double u[],
                            tal_spatial_vec V_GB[])
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_POSITION, &view, __func__);
    if (st == TAL_OK) st = tali_op_array("u", u, __func__);
    if (st == TAL_OK) st = tali_op_array("V_GB", V_GB, __func__);
    if (st == TAL_OK) st = tali_op_finite(state, "u", u, view.tree->num_u);
    if (st != TAL_OK) return st;
    mul_J(&view, u, V_GB);
    return tali_op_result(state, "V_GB", &V_GB[0].w.x, 6 * view.tree->num_bodies);
}

tal_status tal_matter_mul_J_columns(const tal_matter *matter, tal_state *state, tal_matrix U,
                                    tal_matrix V)
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_POSITION, &view, __func__);
    if (st != TAL_OK) return st;
    st = tali_op_columns(state, "U", U, view.tree->num_u, "V", V, 6 * view.tree->num_bodies,
                         __func__);
    for (int j = 0; j < U.cols && st == TAL_OK; ++j) {
        mul_J(&view, tali_op_column(U, j), tali_op_spatial_column(V, j));
    }
    return st == TAL_OK ? tali_op_result_columns(state, "V", V) : st;
}

tal_status tal_matter_mul_JT(const tal_matter *matter, tal_state *state,
                             const tal_spatial_vec F_GB[], double f[])
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_POSITION, &view, __func__);
    if (st == TAL_OK) st = tali_op_array("F_GB", F_GB, __func__);
    if (st == TAL_OK) st = tali_op_array("f", f, __func__);
    if (st == TAL_OK) st = tali_op_finite_bodies(state, "F_GB", F_GB, view.tree->num_bodies);
    if (st != TAL_OK) return st;
    const size_t mark = tal_state_scratch_mark(state);
    mul_JT(&view, F_GB, f, take_bodies(&view, state));
    tal_state_scratch_release(state, mark);
    return tali_op_result(state, "f", f, view.tree->num_u);
}

tal_status tal_matter_mul_JT_columns(const tal_matter *matter, tal_state *state, tal_matrix F,
                                     tal_matrix f)
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_POSITION, &view, __func__);
    if (st != TAL_OK) return st;
    st = tali_op_columns(state, "F", F, 6 * view.tree->num_bodies, "f", f, view.tree->num_u,
                         __func__);
    if (st != TAL_OK) return st;
    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *room = take_bodies(&view, state);
    for (int j = 0; j < F.cols; ++j) {
        mul_JT(&view, tali_op_spatial_column(F, j), tali_op_column(f, j), room);
    }
    tal_state_scratch_release(state, mark);
    return tali_op_result_columns(state, "f", f);
}

tal_status tal_matter_calc_J(const tal_matter *matter, tal_state *state, tal_matrix J)
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_POSITION, &view, __func__);
    if (st != TAL_OK) return st;
    const int n = view.tree->num_bodies;
    st = tali_op_matrix("J", J, 6 * n, view.tree->num_u, __func__);
    for (int b = 0; b < n && st == TAL_OK; ++b) {
        view.passes->frame_rows(&view, b, tali_op_p_MB_G(&view, b), J.data + 6 * b, J.ld);
    }
    return st;
}

tal_status tal_matter_calc_J_bias(const tal_matter *matter, tal_state *state,
                                  tal_spatial_vec A_GB[])
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_A0, &view, __func__);
    if (st == TAL_OK) st = tali_op_array("A_GB", A_GB, __func__);
    if (st != TAL_OK) return st;
    for (int b = 0; b < view.tree->num_bodies; ++b) {
        const tali_tree_rates *rates = &view.rates[b];
        A_GB[b] = tal_sv_shift_acceleration(rates->A0, rates->V.w, tali_op_p_MB_G(&view, b));
    }
    return tali_op_result(state, "A_GB", &A_GB[0].w.x, 6 * view.tree->num_bodies);
}
