// Articulated-body inertias, tip to base, and what M^-1 needs of them.
//
//   quantity               RBDA (Featherstone 2008)   JAIN (2011)      here
//   hinge map              S                          H*               H     nu columns
//   articulated inertia    I^A          eq. 7.21      P                P
//   felt past the hinge    I^a          eq. 7.47      P+               P after hinge_project()
//   P H                    U            eq. 7.43                       U
//   H^T P H                D            eq. 7.44      D                D
//   P H D^-1                                          G                G
//
// Given    view->rigid, H, p_PM   each body's inertia about Mo, hinge columns, Mo to Mo, in Ground
// Compute  P    = M_B + sum over children of Phi P+ Phi^T                 theory eq. 6.4
//          G    = P H D^-1,   D = H^T P H                                 theory eq. 6.2
//          P+   = P - G (P H)^T                                           theory eq. 6.3
//
// Source: RBDA eq. 7.43, 7.44 and 7.47; JAIN alg. 6.1, p. 106, as Simbody cites it. Note: our H is
// the transpose of JAIN's, so that V = H u reads as it does everywhere else.
#include "kernel/kernel_hinge.h"
#include "kernel/kernel_set.h"

// --- articulated inertias, tip to base ---

// A rigid body's inertia about Mo: [I mcx; -mcx m1].
static inline abi abi_of_rigid(const tali_tree_composite *rigid)
{
    const real mass = rigid->mass, none = spread(0.0);
    return (abi){rigid->I, tal_m3_cross(rigid->mc), {mass, mass, mass, none, none, none}};
}

static inline void add_rigid(abi *P, const tali_tree_composite *rigid)
{
    const real mass = rigid->mass;
    const v3 mc = rigid->mc;
    P->J = s3_add(P->J, rigid->I);
    P->F.x.y += mc.z, P->F.x.z -= mc.y; // mcx
    P->F.y.x -= mc.z, P->F.y.z += mc.x;
    P->F.z.x += mc.y, P->F.z.y -= mc.x;
    P->M.xx += mass, P->M.yy += mass, P->M.zz += mass;
}

static inline v3 larger(v3 size, s3 S)
{
    return (v3){pick(less(size.x, S.xx), S.xx, size.x), pick(less(size.y, S.yy), S.yy, size.y),
                pick(less(size.z, S.zz), S.zz, size.z)};
}

static inline void measure_sizes(tali_kernel_open_inertia *at)
{
    at->size_J = larger(at->size_J, at->P.J);
    at->size_M = larger(at->size_M, at->P.M);
}

// Adds the shifted P+ of a child to what its parent has so far. The last child comes first. Where a
// shift cancels moments, those of the child were as large, so the sizes need no shifting.
static inline void hand_to_parent(tali_kernel_open_inertia *parent,
                                  const tali_kernel_open_inertia *child, v3 p_PM, bool is_first)
{
    const abi P = abi_shift(child->P, p_PM);
    if (is_first) {
        *parent = (tali_kernel_open_inertia){P, child->size_J, child->size_M};
        return;
    }
    parent->P = abi_add(parent->P, P);
    parent->size_J = v3_add(parent->size_J, child->size_J);
    parent->size_M = v3_add(parent->size_M, child->size_M);
}

// P_B = M_B + sum over children C of Phi(p_BC) P+_C Phi(p_BC)^T        RBDA eq. 7.21 and 7.37
static bool pass_articulated(const tali_tree_view *view, const tali_tree_articulated *out,
                             tali_kernel_open_inertia open[])
{
    const tali_tree *tree = view->tree;
    mask ok =
        everywhere(tree->num_particles == 0 || view->passes->particles_articulated(view, out));
    // parents precede children, so counting down meets every child before its parent
    for (int b = tree->num_bodies - 1; b > 0; --b) {
        const tali_tree_composite *own = &view->rigid[b];
        if (tali_kernel_is_particle(tree, view->hinge, b)) {
            if (out->P != NULL) out->P[b] = abi_of_rigid(own);
            continue;
        }
        tali_kernel_open_inertia at;
        if (tree->is_leaf[b]) {
            at = (tali_kernel_open_inertia){abi_of_rigid(own), NONE, NONE};
        } else {
            at = open[tree->slot[b]];
            add_rigid(&at.P, own);
        }
        measure_sizes(&at);
        if (out->P != NULL) out->P[b] = at.P;
        ok = both(hinge_project(view, b, out, &at), ok);
        const int p = tree->parent[b];
        if (p > 0) {
            hand_to_parent(&open[tree->slot[p]], &at, view->p_PM[b], tree->is_last[b]);
        }
    }
    return all(ok);
}

void TALI_KERNEL(articulated)(tali_passes *out)
{
    out->articulated = pass_articulated;
}
