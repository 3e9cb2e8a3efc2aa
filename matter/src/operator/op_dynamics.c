// Inverse and forward dynamics for given forces, tree-equivalent forces, accelerations.
#include "operator/operators_internal.h"
#include "prescribed/prescribed_internal.h"
#include "stage/stages_internal.h"
#include "unilateral/unilateral_internal.h"

#include <talus/matter/constraint_operators.h>

#include <string.h>

// Forces about Bo become forces about Mo. Often the two coincide for all bodies, and nothing has to
// be done.
static const tal_spatial_vec *shift_to_M(const tali_tree_view *view, const tal_spatial_vec F_GB[],
                                         tal_spatial_vec room[])
{
    const int n = view->tree->num_bodies;
    if (tali_tree_is_every_Bo_Mo(view->constants, n)) return F_GB;
    room[0] = F_GB[0];
    for (int b = 1; b < n; ++b) {
        room[b] = tal_sv_shift_force(F_GB[b], tali_op_p_MB_G(view, b));
    }
    return room;
}

static tal_status check_forces(tal_state *state, const tali_tree *tree,
                               const tal_spatial_vec F_GB[], const double f[])
{
    const tal_status st = tali_op_finite_bodies(state, "F_GB", F_GB, tree->num_bodies);
    if (st != TAL_OK || f == NULL) return st;
    return tali_op_finite(state, "f", f, tree->num_u);
}

// M udot + J^T (F0 - F), in scratch; subtracting the mobility forces f is left to the caller.
// Inputs are searched for a NaN or an infinity only if the sum of all forces is not finite.
static tal_status newton_euler(const tal_matter *matter, tal_state *state,
                               const tali_tree_view *view, const double udot[],
                               const tal_spatial_vec F_GB[], const double f[], double **needed)
{
    const tali_tree *tree = view->tree;
    const size_t n = (size_t)tree->num_bodies;
    *needed = tal_state_scratch_take(state, ((size_t)tree->num_u + 1) * sizeof **needed);
    tal_spatial_vec *A = tal_state_scratch_take(state, n * sizeof *A);
    tal_spatial_vec *open =
        tal_state_scratch_take(state, ((size_t)tree->num_slots + 1) * sizeof *open);
    const tal_spatial_vec *F_GM = NULL;
    if (F_GB != NULL) {
        F_GM = shift_to_M(view, F_GB, tal_state_scratch_take(state, n * sizeof *F_GM));
    }
    const double *u = tali_tree_u_of(matter, state);
    const tal_spatial_vec sum = view->passes->newton_euler(view, u, udot, F_GM, *needed, A, open);
    if (tal_sv_is_finite(sum)) {
        return f != NULL ? tali_op_finite(state, "f", f, tree->num_u) : TAL_OK;
    }
    tal_status st = check_forces(state, tree, F_GB, f);
    if (st == TAL_OK && udot != NULL) st = tali_op_finite(state, "udot", udot, tree->num_u);
    return st == TAL_OK ? tali_op_result(state, "f", *needed, tree->num_u) : st;
}

tal_status tal_matter_inverse_dynamics(const tal_matter *matter, tal_state *state,
                                       const double udot[], const tal_spatial_vec F_GB[],
                                       const double f[], double f_needed[])
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_VELOCITY, &view, __func__);
    if (st == TAL_OK) st = tali_op_array("f_needed", f_needed, __func__);
    if (st != TAL_OK) return st;

    const size_t mark = tal_state_scratch_mark(state);
    double *needed;
    st = newton_euler(matter, state, &view, udot, F_GB, f, &needed);
    for (int j = 0; j < view.tree->num_u && st == TAL_OK; ++j) {
        f_needed[j] = f != NULL ? needed[j] - f[j] : needed[j];
    }
    tal_state_scratch_release(state, mark);
    return st;
}

tal_status tal_matter_calc_tree_forces(const tal_matter *matter, tal_state *state,
                                       const tal_spatial_vec F_GB[], const double f[],
                                       double f_tree[])
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_VELOCITY, &view, __func__);
    if (st == TAL_OK) st = tali_op_array("f_tree", f_tree, __func__);
    if (st != TAL_OK) return st;

    const size_t mark = tal_state_scratch_mark(state);
    double *needed;
    st = newton_euler(matter, state, &view, NULL, F_GB, f, &needed);
    for (int j = 0; j < view.tree->num_u && st == TAL_OK; ++j) {
        f_tree[j] = (f != NULL ? f[j] : 0.0) - needed[j];
    }
    tal_state_scratch_release(state, mark);
    return st;
}

// A_GM of all bodies become A_GB.
static void shift_to_B(const tali_tree_view *view, const tal_spatial_vec A_GM[],
                       tal_spatial_vec A_GB[])
{
    A_GB[0] = TAL_SPATIAL_VEC_ZERO;
    for (int b = 1; b < view->tree->num_bodies; ++b) {
        A_GB[b] = tal_sv_shift_acceleration(A_GM[b], view->rates[b].V.w, tali_op_p_MB_G(view, b));
    }
}

tal_status tal_matter_forward_dynamics(const tal_matter *matter, tal_state *state,
                                       const tal_spatial_vec F_GB[], const double f[],
                                       double udot[], tal_spatial_vec A_GB[])
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_DYNAMICS, &view, __func__);
    if (st == TAL_OK) st = tali_op_array("udot", udot, __func__);
    if (st == TAL_OK) st = check_forces(state, view.tree, F_GB, f);
    if (st != TAL_OK) return st;

    const size_t n = (size_t)view.tree->num_bodies, mark = tal_state_scratch_mark(state);
    tal_spatial_vec *A = NULL;
    if (A_GB != NULL) A = tal_state_scratch_take(state, n * sizeof *A);
    tal_spatial_vec *room = tal_state_scratch_take(state, n * sizeof *room);
    const tal_spatial_vec *F_GM = F_GB != NULL ? shift_to_M(&view, F_GB, room) : NULL;
    st = tali_stage_solve_udot(matter, state, &view, F_GM, f, udot, A, NULL);
    if (st == TAL_OK && A_GB != NULL) shift_to_B(&view, A, A_GB);
    tal_state_scratch_release(state, mark);
    if (st != TAL_OK) return st;
    return tali_op_result(state, "udot", udot, view.tree->num_u);
}

tal_status tal_matter_calc_accelerations(const tal_matter *matter, tal_state *state,
                                         const double udot[], tal_spatial_vec A_GB[])
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_A0, &view, __func__);
    if (st == TAL_OK) st = tali_op_array("udot", udot, __func__);
    if (st == TAL_OK) st = tali_op_array("A_GB", A_GB, __func__);
    if (st == TAL_OK) st = tali_op_finite(state, "udot", udot, view.tree->num_u);
    if (st != TAL_OK) return st;

    view.passes->J(&view, udot, A_GB);
    for (int b = 1; b < view.tree->num_bodies; ++b) {
        A_GB[b] = tal_sv_add(A_GB[b], view.rates[b].A0);
    }
    shift_to_B(&view, A_GB, A_GB);
    return TAL_OK;
}

// Friction of elements that slide: F becomes the applied forces less it, in scratch memory, and
// `along` gets what acts along u.
static tal_status add_friction(const tal_matter *matter, tal_state *state, const double lambda[],
                               const tal_spatial_vec **F, double along[])
{
    const size_t n = (size_t)matter->num_bodies;
    tal_spatial_vec *less = tal_state_scratch_take(state, n * sizeof *less);
    if (less == NULL) return TAL_ERR_CAPACITY;
    memset(less, 0, n * sizeof *less);
    const tal_status st = tali_unilaterals_add_friction(matter, state, lambda, less, along);
    for (size_t b = 0; b < n && st == TAL_OK; ++b) {
        less[b] = tal_sv_sub((*F)[b], less[b]);
    }
    *F = less;
    return st;
}

tal_status tal_matter_calc_residual(const tal_matter *matter, tal_state *state, const double udot[],
                                    const double lambda[], double residual[])
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_VELOCITY, &view, __func__);
    if (st == TAL_OK) st = tali_op_array("udot", udot, __func__);
    if (st == TAL_OK) st = tali_op_array("residual", residual, __func__);
    if (st == TAL_OK) st = tali_op_finite(state, "udot", udot, view.tree->num_u);
    if (st != TAL_OK) return st;
    if (tal_state_stage(state) < TAL_STAGE_DYNAMICS) {
        return TALI_BREACH(TAL_ERR_STAGE, "forces are known from Dynamics on, not at %s",
                           tal_stage_name(tal_state_stage(state)));
    }
    const tali_tree_applied applied = tali_tree_applied_of(matter, state);
    const tali_tree *tree = view.tree;
    memset(residual, 0, (size_t)tree->num_u * sizeof *residual);
    if (lambda != NULL) st = tal_matter_mul_GT(matter, state, TAL_G, lambda, residual);
    if (st != TAL_OK) return st;
    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *A = tal_state_scratch_take(state, (size_t)tree->num_bodies * sizeof *A);
    tal_spatial_vec *open =
        tal_state_scratch_take(state, ((size_t)tree->num_slots + 1) * sizeof *open);
    double *f = tal_state_scratch_take(state, ((size_t)tree->num_u + 1) * sizeof *f);
    const tal_spatial_vec *F = applied.F;
    if (lambda != NULL && matter->unilaterals.num_grips > 0) {
        st = add_friction(matter, state, lambda, &F, residual);
    }
    if (st == TAL_OK) {
        (void)view.passes->newton_euler(&view, tali_tree_u_of(matter, state), udot, F, f, A, open);
    }
    for (int j = 0; j < tree->num_u && st == TAL_OK; ++j) {
        residual[j] += f[j] - applied.f[j];
    }
    tal_state_scratch_release(state, mark);
    return st;
}
