// The vectors that all derivatives of dynamics are made of, and what mobilizers contribute to them.
#include "derivative/derivative_internal.h"

static size_t vectors(size_t n)
{
    return tali_align(n * sizeof(tal_spatial_vec));
}

static size_t numbers(size_t n)
{
    return tali_align(n * sizeof(double));
}

// Slopes and forces about Mo first; then room for matrices, for columns of M^-1, or for a product.
size_t tali_derivative_scratch(const tali_tree *tree)
{
    const size_t n = (size_t)tree->num_bodies, u = (size_t)tree->num_u + 1;
    const size_t d = (size_t)tree->num_d + 1, slots = (size_t)tree->num_slots + 1;
    const size_t tables = tree->num_general > 0 ? vectors(d) + vectors(u) : 0;
    const size_t slopes = 4 * vectors(n) + 3 * vectors(u) + numbers(u) + tables;
    const size_t step = (size_t)tali_kernel_slope_step(tree->num_u);
    const size_t matrices = tali_align(slots * sizeof(tali_kernel_moving)) + numbers(24 * step) +
                            numbers(5 * step) + tali_align(u * sizeof(int32_t));
    const size_t inverse = vectors(u) + numbers(d) + numbers(TALI_KERNEL_LANES * u) +
                           numbers(6 * TALI_KERNEL_LANES * (n + slots)) + 2 * numbers(u);
    const size_t product = vectors(3 * n) + vectors(3 * slots);
    const size_t most = matrices > inverse ? matrices : inverse;
    return slopes + (most > product ? most : product);
}

tal_status tali_derivative_check(tal_state *state, const tali_tree *tree, const double udot[],
                                 const tal_spatial_vec F_GB[])
{
    tal_status st = TAL_OK;
    if (udot != NULL) st = tali_op_finite(state, "udot", udot, tree->num_u);
    return st == TAL_OK ? tali_op_finite_bodies(state, "F_GB", F_GB, tree->num_bodies) : st;
}

// Forces about Bo become forces about Mo.
static const tal_spatial_vec *forces_about_Mo(tal_state *state, const tali_tree_view *view,
                                              const tal_spatial_vec F_GB[])
{
    if (F_GB == NULL) return NULL;
    const int n = view->tree->num_bodies;
    tal_spatial_vec *F = tal_state_scratch_take(state, (size_t)n * sizeof *F);
    if (F == NULL) return NULL;
    F[0] = TAL_SPATIAL_VEC_ZERO;
    for (int b = 1; b < n; ++b) {
        F[b] = tal_sv_shift_force(F_GB[b], tali_op_p_MB_G(view, b));
    }
    return F;
}

// The slopes of the general hinges, asked of their tables.
static tal_status ask_tables(const tal_matter *matter, tal_state *state, const tali_tree_view *view,
                             tal_spatial_vec of_H[], tal_spatial_vec of_Hdot_u[])
{
    const tali_tree *tree = view->tree;
    const double *q = tali_tree_q_of(matter, state), *u = tali_tree_u_of(matter, state);
    for (int g = 0; g < tree->num_general; ++g) {
        const int b = tree->general[g];
        const size_t nu = tree->nu[b];
        const tali_tree_body *body = &matter->bodies[b];
        const tal_mobilizer_arg arg = tali_tree_mobilizer_arg_of(matter, state, b, q, u);
        tali_mobilizer_slopes slopes;
        const tal_status st =
            tali_mobilizer_slopes_of(&body->ops, body->self, &arg, body->direction, &view->X_FM[g],
                                     view->H_FM + tree->u0[b], &slopes);
        if (st != TAL_OK) {
            return tal_state_fail(state, st,
                                  "body '%s': no derivatives of its mobilizer, '%s' (%s)",
                                  body->name, body->ops.name, tal_status_text(st));
        }
        memcpy(of_H + tree->d0[b], slopes.of_H, nu * nu * sizeof *of_H);
        memcpy(of_Hdot_u + tree->u0[b], slopes.of_Hdot_u, nu * sizeof *of_Hdot_u);
    }
    return TAL_OK;
}

tal_status tali_derivative_slopes(const tal_matter *matter, tal_state *state,
                                  const tali_tree_view *view, const double udot[],
                                  const tal_spatial_vec F_GB[], tali_kernel_slopes *slopes)
{
    const tali_tree *tree = view->tree;
    const size_t n = (size_t)tree->num_bodies, nu = (size_t)tree->num_u + 1;
    *slopes = (tali_kernel_slopes){.u = tali_tree_u_of(matter, state), .udot = udot};
    slopes->F = forces_about_Mo(state, view, F_GB);
    slopes->A = tal_state_scratch_take(state, n * sizeof *slopes->A);
    slopes->V = tal_state_scratch_take(state, n * sizeof *slopes->V);
    slopes->force = tal_state_scratch_take(state, n * sizeof *slopes->force);
    slopes->Psi1 = tal_state_scratch_take(state, nu * sizeof *slopes->Psi1);
    slopes->Psi2 = tal_state_scratch_take(state, nu * sizeof *slopes->Psi2);
    slopes->Psi3 = tal_state_scratch_take(state, nu * sizeof *slopes->Psi3);
    if (slopes->Psi3 == NULL) return TAL_ERR_CAPACITY;
    if (tree->num_general > 0) {
        tal_spatial_vec *of_H =
            tal_state_scratch_take(state, ((size_t)tree->num_d + 1) * sizeof *of_H);
        tal_spatial_vec *of_Hdot_u = tal_state_scratch_take(state, nu * sizeof *of_Hdot_u);
        if (of_Hdot_u == NULL) return TAL_ERR_CAPACITY;
        const tal_status st = ask_tables(matter, state, view, of_H, of_Hdot_u);
        if (st != TAL_OK) return st;
        slopes->of_H = of_H;
        slopes->of_Hdot_u = of_Hdot_u;
    }
    view->passes->slopes(view, slopes);
    return TAL_OK;
}

int tal_matter_differenced_mobilizers(const tal_matter *matter, tal_body_ix bodies[], int capacity)
{
    if (matter == NULL || (bodies == NULL && capacity > 0)) {
        (void)TALI_BREACH(TAL_ERR_NULL, "matter or bodies is NULL");
        return -1;
    }
    int count = 0;
    for (int b = 1; b < matter->num_bodies; ++b) {
        if (!tali_mobilizer_is_differenced(&matter->bodies[b].ops)) continue;
        if (count < capacity) bodies[count] = (tal_body_ix){b};
        ++count;
    }
    return count;
}
