// Products with M and M^-1, and the two matrices themselves.
#include "operator/mass_factor_internal.h"
#include "operator/operators_internal.h"

static tal_spatial_vec *take_bodies(const tali_tree *tree, tal_state *state)
{
    return tal_state_scratch_take(state, (size_t)tree->num_bodies * sizeof(tal_spatial_vec));
}

static tal_spatial_vec *take_open(const tali_tree *tree, tal_state *state)
{
    return tal_state_scratch_take(state, ((size_t)tree->num_slots + 1) * sizeof(tal_spatial_vec));
}

// --- M ---

tal_status tal_matter_mul_M(const tal_matter *matter, tal_state *state, const double a[],
                            double f[])
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_INERTIA, &view, __func__);
    if (st == TAL_OK) st = tali_op_array("a", a, __func__);
    if (st == TAL_OK) st = tali_op_array("f", f, __func__);
    if (st == TAL_OK) st = tali_op_finite(state, "a", a, view.tree->num_u);
    if (st != TAL_OK) return st;

    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *A = take_bodies(view.tree, state);
    view.passes->mass(&view, a, f, A, take_open(view.tree, state));
    tal_state_scratch_release(state, mark);
    return tali_op_result(state, "f", f, view.tree->num_u);
}

tal_status tal_matter_mul_M_columns(const tal_matter *matter, tal_state *state, tal_matrix A,
                                    tal_matrix F)
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_INERTIA, &view, __func__);
    if (st != TAL_OK) return st;
    const int n = view.tree->num_u;
    st = tali_op_columns(state, "A", A, n, "F", F, n, __func__);
    if (st != TAL_OK) return st;

    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *room = take_bodies(view.tree, state);
    tal_spatial_vec *open = take_open(view.tree, state);
    for (int j = 0; j < A.cols; ++j) {
        view.passes->mass(&view, tali_op_column(A, j), tali_op_column(F, j), room, open);
    }
    tal_state_scratch_release(state, mark);
    return tali_op_result_columns(state, "F", F);
}

static tali_kernel_mass_matrix_room take_mass_matrix_room(const tali_tree *tree, tal_state *state)
{
    const size_t nu = (size_t)tree->num_u + 1;
    tali_kernel_mass_matrix_room room = {.without_rotors = false};
    room.open = tal_state_scratch_take(state, ((size_t)tree->num_slots + 1) * sizeof *room.open);
    room.F = tal_state_scratch_take(state, 6 * nu * sizeof *room.F);
    room.row = tal_state_scratch_take(state, nu * sizeof *room.row);
    room.speed_at =
        tree->is_depth_first ? NULL : tal_state_scratch_take(state, nu * sizeof *room.speed_at);
    return room;
}

tal_status tal_matter_calc_M(const tal_matter *matter, tal_state *state, tal_matrix M)
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_INERTIA, &view, __func__);
    if (st != TAL_OK) return st;
    const int n = view.tree->num_u;
    st = tali_op_matrix("M", M, n, n, __func__);
    if (st != TAL_OK) return st;

    const size_t mark = tal_state_scratch_mark(state);
    const tali_kernel_mass_matrix_room room = take_mass_matrix_room(view.tree, state);
    view.passes->mass_matrix(&view, M.data, M.ld, &room);
    tali_op_mirror(M.data, n, (size_t)M.ld, 1);
    tal_state_scratch_release(state, mark);
    return TAL_OK;
}

// --- J^T Phi J ---

// Weights given about Bo in B become those about Mo in Ground.
static tali_tree_composite weights_at_M(const tali_tree_view *view, int b,
                                        const tal_mass_props *in_B)
{
    const tal_xform X_MB = view->constants[b].X_MB;
    const tal_mat3 R_GB = tal_m3_mul(view->pose[b].R_GM, X_MB.R);
    const tal_vec3 p_MB = tali_op_p_MB_G(view, b);
    const tal_vec3 com = tal_m3_mul_v3(R_GB, in_B->com);
    const tal_vec3 mc = tal_v3_scale(in_B->mass, com);
    // I about Mo = I about Bo + m (px^2 about Mo - about Bo), with -(px)^2 of p = p_MB + com
    const tal_sym3 shift =
        tal_s3_sub(tal_s3_cross_square(tal_v3_add(p_MB, com)), tal_s3_cross_square(com));
    return (tali_tree_composite){
        in_B->mass, tal_v3_axpy(in_B->mass, p_MB, mc),
        tal_s3_add(tal_s3_congruence(R_GB, in_B->inertia), tal_s3_scale(in_B->mass, shift))};
}

tal_status tal_matter_calc_gram(const tal_matter *matter, tal_state *state,
                                const tal_mass_props weights[], tal_matrix gram)
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_POSITION, &view, __func__);
    if (st == TAL_OK) st = tali_op_array("weights", weights, __func__);
    if (st != TAL_OK) return st;
    const tali_tree *tree = view.tree;
    const int n = tree->num_u;
    st = tali_op_matrix("gram", gram, n, n, __func__);
    if (st == TAL_OK) {
        st = tali_op_finite(state, "weights", &weights[0].mass, 10 * tree->num_bodies);
    }
    if (st != TAL_OK) return st;

    const size_t mark = tal_state_scratch_mark(state);
    tali_tree_composite *rigid =
        tal_state_scratch_take(state, (size_t)tree->num_bodies * sizeof *rigid);
    for (int b = 1; b < tree->num_bodies; ++b) {
        rigid[b] = weights_at_M(&view, b, &weights[b]);
    }
    view.rigid = rigid;
    tali_kernel_mass_matrix_room room = take_mass_matrix_room(tree, state);
    room.without_rotors = true;
    view.passes->mass_matrix(&view, gram.data, gram.ld, &room);
    tali_op_mirror(gram.data, n, (size_t)gram.ld, 1);
    tal_state_scratch_release(state, mark);
    return TAL_OK;
}

// --- M^-1 ---

// Room for one product with M^-1.
typedef struct inverse_room {
    tal_spatial_vec *open; ///< [num_slots]
    tal_spatial_vec *A;    ///< [num_bodies]
    double *e;             ///< [num_u]
} inverse_room;

static inverse_room take_inverse_room(const tali_tree *tree, tal_state *state)
{
    return (inverse_room){
        take_open(tree, state), take_bodies(tree, state),
        tal_state_scratch_take(state, ((size_t)tree->num_u + 1) * sizeof(double))};
}

// M^-1 ready to be multiplied with: the factor of M, or the room and the view for passes.
typedef struct inverse {
    const double *factor; ///< NULL: passes
    tali_tree_view view;
    inverse_room room;
} inverse;

// With out->view of the positions.
static tal_status prepare_inverse(const tal_matter *matter, tal_state *state, inverse *out)
{
    const tal_status st = tali_mass_factor_of(matter, state, &out->view, &out->factor);
    if (st != TAL_OK || out->factor != NULL) return st;
    if (!tali_tree_realize_view(matter, state, TALI_ARTICULATED, &out->view)) {
        return tal_state_error(state)->status;
    }
    out->room = take_inverse_room(out->view.tree, state);
    return TAL_OK;
}

static void mul_inverse(const inverse *it, const double f[], double a[])
{
    if (it->factor != NULL) {
        tali_mass_factor_solve(it->view.tree, it->factor, f, a);
        return;
    }
    it->view.passes->inward(&it->view, f, NULL, it->room.e, it->room.open);
    it->view.passes->outward(&it->view, it->room.e, a, it->room.A);
}

tal_status tal_matter_mul_Minv(const tal_matter *matter, tal_state *state, const double f[],
                               double a[])
{
    inverse it;
    tal_status st = tali_op_view(matter, state, TALI_POSITION, &it.view, __func__);
    if (st == TAL_OK) st = tali_op_array("f", f, __func__);
    if (st == TAL_OK) st = tali_op_array("a", a, __func__);
    if (st == TAL_OK) st = tali_op_finite(state, "f", f, it.view.tree->num_u);
    if (st != TAL_OK) return st;

    const size_t mark = tal_state_scratch_mark(state);
    st = prepare_inverse(matter, state, &it);
    if (st == TAL_OK) mul_inverse(&it, f, a);
    tal_state_scratch_release(state, mark);
    return st == TAL_OK ? tali_op_result(state, "a", a, it.view.tree->num_u) : st;
}

tal_status tal_matter_mul_Minv_columns(const tal_matter *matter, tal_state *state, tal_matrix F,
                                       tal_matrix A)
{
    inverse it;
    tal_status st = tali_op_view(matter, state, TALI_POSITION, &it.view, __func__);
    if (st != TAL_OK) return st;
    const int n = it.view.tree->num_u;
    st = tali_op_columns(state, "F", F, n, "A", A, n, __func__);
    if (st != TAL_OK) return st;

    const size_t mark = tal_state_scratch_mark(state);
    st = prepare_inverse(matter, state, &it);
    for (int j = 0; j < F.cols && st == TAL_OK; ++j) {
        mul_inverse(&it, tali_op_column(F, j), tali_op_column(A, j));
    }
    tal_state_scratch_release(state, mark);
    return st == TAL_OK ? tali_op_result_columns(state, "A", A) : st;
}

// Column u0 + j of M^-1, down to the last speed of body b: the answer to a unit force along speed j
// of b. What comes after b is not needed, because M^-1 is symmetric. room->e is zero before and
// after.
static void fill_inverse_column(const tali_tree_view *view, int b, int j, const inverse_room *room,
                                double column[])
{
    tali_tree as_far_as_b = *view->tree;
    as_far_as_b.num_bodies = b + 1;
    tali_tree_view shorter = *view;
    shorter.tree = &as_far_as_b;
    view->passes->inward_unit(view, b, j, room->e);
    shorter.passes->outward(&shorter, room->e, column, room->A);
    for (int a = b; a > 0; a = view->tree->parent[a]) {
        const int u0 = view->tree->u0[a];
        for (int i = u0; i < u0 + view->tree->nu[a]; ++i) {
            room->e[i] = 0.0;
        }
    }
}

tal_status tal_matter_calc_Minv(const tal_matter *matter, tal_state *state, tal_matrix Minv)
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_ARTICULATED, &view, __func__);
    if (st != TAL_OK) return st;
    const int n = view.tree->num_u;
    st = tali_op_matrix("Minv", Minv, n, n, __func__);
    if (st != TAL_OK) return st;

    const size_t mark = tal_state_scratch_mark(state);
    const inverse_room room = take_inverse_room(view.tree, state);
    memset(room.e, 0, (size_t)n * sizeof *room.e);
    for (int b = 1; b < view.tree->num_bodies; ++b) {
        for (int j = 0; j < view.tree->nu[b]; ++j) {
            fill_inverse_column(&view, b, j, &room, tali_op_column(Minv, view.tree->u0[b] + j));
        }
    }
    tali_op_mirror(Minv.data, n, 1, (size_t)Minv.ld);
    tal_state_scratch_release(state, mark);
    return TAL_OK;
}
