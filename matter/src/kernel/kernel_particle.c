// Lone particles (manual sec. 12.5.3): bodies that translate on Ground and carry nothing. Neither
// they nor Ground turn, so H is constant, velocities resist nothing, D is the mass along any axes,
// and no other body feels them. Loops of their own, because those of the passes would lose
// registers to them.
//
// Given    what the passes of kernel_kinematics.c, _articulated.c and _dynamics.c are given
// Compute  the same for these bodies: V = H u, G = [m c x / m; 1], D^-1 = 1/m, e = f - H^T z,
//          udot = D^-1 e                                          theory eq. 3.2 and 6.2
//
// Source: theory T-6 at P = M_B, A_P = 0.
#include "kernel/kernel_math.h"
#include "kernel/kernel_set.h"

// R_GF, from the hinge columns.
static inline m3 axes(const sv H[])
{
    return (m3){H[0].v, H[1].v, H[2].v};
}

static void particles_position(const tali_tree *tree, const tali_tree_constants constants[],
                               const tali_matter_model *model, const double q[],
                               const tali_tree_position *at)
{
    for (int b = 1; b < tree->num_bodies; ++b) {
        if (!tali_kernel_is_particle(tree, tree->hinge, b)) continue;
        const m3 R_GF = constants[b].R_PF;
        const v3 p_GM = m3_muladd(R_GF, load_v3(q + model->q0[b]), constants[b].p_PF);
        sv *H = at->H + tree->u0[b];
        H[0] = (sv){NONE, R_GF.x};
        H[1] = (sv){NONE, R_GF.y};
        H[2] = (sv){NONE, R_GF.z};
        at->pose[b] = (tali_tree_pose){R_GF, p_GM};
        at->p_PM[b] = p_GM;
    }
}

static void particles_velocity(const tali_tree_view *view, const double u[],
                               const tali_tree_velocity *at)
{
    const tali_tree *tree = view->tree;
    for (int b = 1; b < tree->num_bodies; ++b) {
        if (!tali_kernel_is_particle(tree, tree->hinge, b)) continue;
        const int u0 = tree->u0[b];
        const v3 v = m3_mul_v3(axes(view->H + u0), load_v3(u + u0));
        at->rates[b] = (tali_tree_rates){{NONE, v}, {NONE, NONE}};
    }
}

// As for any translation G = [K; 1] with K = F M^-1, where M = m 1 and F = mcx.
static bool particles_articulated(const tali_tree_view *view, const tali_tree_articulated *out)
{
    const tali_tree *tree = view->tree;
    mask ok = everywhere(true);
    for (int b = 1; b < tree->num_bodies; ++b) {
        if (!tali_kernel_is_particle(tree, view->hinge, b)) continue;
        const tali_tree_composite *own = &view->rigid[b];
        const mask has_mass = less(spread(0.0), own->mass);
        const real inverse = pick(has_mass, 1.0 / own->mass, spread(0.0));
        const m3 K = tal_m3_cross(v3_scale(inverse, own->mc));
        sv *G = out->G + tree->u0[b];
        double *DI = out->DI + tree->d0[b];
        G[0] = (sv){K.x, NONE};
        G[1] = (sv){K.y, NONE};
        G[2] = (sv){K.z, NONE};
        DI[0] = DI[1] = DI[2] = inverse;
        DI[3] = DI[4] = DI[5] = spread(0.0);
        ok = both(ok, has_mass);
    }
    return all(ok);
}

static void particles_inward(const tali_tree_view *view, const double f[],
                             const tal_spatial_vec F[], double sign, double e[])
{
    const tali_tree *tree = view->tree;
    for (int b = 1; b < tree->num_bodies; ++b) {
        if (!tali_kernel_is_particle(tree, view->hinge, b)) continue;
        const int u0 = tree->u0[b];
        const v3 push = f != NULL ? m3_mul_v3(axes(view->H + u0), load_v3(f + u0)) : NONE;
        store_v3(e + u0, F != NULL ? v3_axpy(sign, F[b].v, push) : push);
    }
}

static void particles_outward(const tali_tree_view *view, const double e[], double udot[],
                              tal_spatial_vec A[])
{
    const tali_tree *tree = view->tree;
    for (int b = 1; b < tree->num_bodies; ++b) {
        if (!tali_kernel_is_particle(tree, view->hinge, b)) continue;
        const int u0 = tree->u0[b];
        const v3 v = v3_scale(view->DI[tree->d0[b]], load_v3(e + u0));
        store_v3(udot + u0, m3_tmul_v3(axes(view->H + u0), v));
        A[b] = (sv){NONE, v};
    }
}

void TALI_KERNEL(particle)(tali_passes *out)
{
    out->particles_position = particles_position;
    out->particles_velocity = particles_velocity;
    out->particles_articulated = particles_articulated;
    out->particles_inward = particles_inward;
    out->particles_outward = particles_outward;
}
