// Bodies as masses: each alone, its weight, with what it carries (tip to base), and the forces
// across the mobilizers.
//
// Given    view->pose, constants   poses, and mass properties in M                       Position
//          g; A_GM, F              a field; accelerations, and forces on bodies about Mo
// Compute  rigid       m, m c, I about Mo in Ground: R I R^T                  theory eq. 1.2
//          weights     F += (m c x g, m g)
//          composite   C_B = M_B + sum over children of Phi C Phi^T           theory eq. 5.1
//          reactions   R_B = M_B A_B + b_B - F_B + sum of Phi R    theory eq. 1.3 and theory T-4
//
// Source: RBDA eq. 6.13 for composites, 5.9 and 5.10 for reactions.
#include "kernel/kernel_inertia.h"
#include "kernel/kernel_set.h"

static void pass_rigid(const tali_tree_view *view, tali_tree_composite out[])
{
    for (int b = 0; b < view->tree->num_bodies; ++b) {
        out[b] = place_rigid(&view->pose[b], &view->constants[b]);
    }
}

static void pass_weights(const tali_tree_pose pose[], int num_bodies, const tali_weight weights[],
                         tal_vec3 g, tal_spatial_vec F[])
{
    for (int b = 1; b < num_bodies; ++b) {
        const v3 mc_G = m3_mul_v3(pose[b].R_GM, weights[b].mc_M);
        F[b] = (sv){v3_add_cross(F[b].w, mc_G, g), v3_axpy(weights[b].mass, g, F[b].v)};
    }
}

// C_B = M_B + sum over children C of C_C, from the child's Mo to the parent's (RBDA eq. 6.13)
static void pass_composite(const tali_tree_view *view, tali_tree_composite out[])
{
    const tali_tree *tree = view->tree;
    for (int b = 0; b < tree->num_bodies; ++b) {
        out[b] = view->rigid[b];
    }
    for (int b = tree->num_bodies - 1; b > 0; --b) {
        const tali_tree_composite *child = &out[b];
        tali_tree_composite *parent = &out[tree->parent[b]];
        const v3 p_PM = view->p_PM[b];
        parent->I = s3_add(parent->I, shift_moments(child->I, child->mass, child->mc, p_PM));
        parent->mc = v3_add(parent->mc, v3_axpy(child->mass, p_PM, child->mc));
        parent->mass += child->mass;
    }
}

// R_B = M_B A_B + b_B - F_B + sum over children C of R_C, brought to the parent's Mo (RBDA eq. 5.9
// and 5.10, at the accelerations that the body has).
static void pass_reactions(const tali_tree_view *view, const tal_spatial_vec A_GM[],
                           const tal_spatial_vec F[], tal_spatial_vec out[])
{
    const tali_tree *tree = view->tree;
    out[0] = tal_sv_neg(F[0]);
    for (int b = 1; b < tree->num_bodies; ++b) {
        const sv needed = newton_euler(&view->rigid[b], A_GM[b], view->rates[b].V.w);
        out[b] = sv_sub(needed, F[b]);
    }
    for (int b = tree->num_bodies - 1; b > 0; --b) {
        sv *parent = &out[tree->parent[b]];
        *parent = sv_add(*parent, sv_shift_force(out[b], view->p_PM[b]));
    }
}

void TALI_KERNEL(outboard)(tali_passes *out)
{
    out->rigid = pass_rigid;
    out->weights = pass_weights;
    out->composite = pass_composite;
    out->reactions = pass_reactions;
}
