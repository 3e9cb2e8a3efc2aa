// What a tension of one does along the speeds: g = -dl/dq where qdot = u.
//
// The forces on the bodies of a path are carried inboard, body by body, to the first common
// ancestor, where they cancel. Speeds of other bodies feel nothing.
#include "cache_internal.h"

#include "core/forces_internal.h"

#include <string.h>

static void fill_hinge(const tal_forces *forces, tal_state *state, int body, tal_spatial_vec H[])
{
    const tal_body_ix ix = {body};
    if (tal_body_nu(forces->matter, ix) == 0) return;
    (void)tal_body_H(forces->matter, state, ix, TAL_H_PM_G,
                     H + tal_body_u_start(forces->matter, ix));
}

tal_status tali_path_begin_carrying(const tal_forces *forces, tal_state *state,
                                    const tali_path *only, tali_path_carrier *out)
{
    const tali_paths *all = &forces->paths;
    const size_t bodies = (size_t)forces->num_bodies, speeds = (size_t)forces->nu + 1;
    *out = (tali_path_carrier){.forces = forces,
                               .poses = tal_matter_poses(forces->matter, state),
                               .pulls = tali_path_pulls_of(forces, state),
                               .H = tal_state_scratch_take(state, speeds * sizeof *out->H),
                               .F = tal_state_scratch_take(state, bodies * sizeof *out->F)};
    if (out->H == NULL || out->F == NULL || out->poses.bytes == NULL) return TAL_ERR_CAPACITY;
    if (only != NULL) {
        for (int k = 0; k < only->num_hops; ++k) {
            fill_hinge(forces, state, all->hops[only->first_hop + k].body, out->H);
        }
        return TAL_OK;
    }
    for (int b = 1; b < forces->num_bodies; ++b) {
        fill_hinge(forces, state, b, out->H);
    }
    return TAL_OK;
}

// The forces on the bodies of a path, those on the common ancestor too: it is behind the last hop.
static void put_loads(const tali_path_carrier *it, int i)
{
    const tali_path *path = &it->forces->paths.items[i];
    const tali_path_hop *hops = it->forces->paths.hops + path->first_hop;
    for (int k = 0; k <= path->num_hops && path->num_points > 0; ++k) {
        it->F[hops[k].body] = TAL_SPATIAL_VEC_ZERO;
    }
    for (int k = 0; k < it->pulls.touch[i].num_loads; ++k) {
        const tali_path_load *load = &it->pulls.loads[path->first_load + k];
        it->F[load->body] = tal_sv_add(it->F[load->body], load->F_GM);
    }
}

void tali_path_carry(const tali_path_carrier *it, int i, double g[])
{
    const tal_matter *matter = it->forces->matter;
    const tali_path *path = &it->forces->paths.items[i];
    const tali_path_hop *hops = it->forces->paths.hops + path->first_hop;
    memset(g, 0, (size_t)it->forces->nu * sizeof *g);
    put_loads(it, i);
    for (int k = 0; k < path->num_hops; ++k) {
        const int b = hops[k].body, p = hops[k].parent;
        const tal_spatial_vec F = it->F[b];
        const tal_body_ix body = {b};
        const int first = tal_body_u_start(matter, body), nu = tal_body_nu(matter, body);
        for (int j = 0; j < nu; ++j) {
            g[first + j] = tal_sv_dot(it->H[first + j], F);
        }
        const tal_vec3 p_PM_G =
            tal_v3_sub(tal_view_X_GM(&it->poses, b)->p, tal_view_X_GM(&it->poses, p)->p);
        it->F[p] = tal_sv_add(it->F[p], tal_sv_shift_force(F, p_PM_G));
    }
    for (int k = 0; k < it->pulls.touch[i].num_pushes; ++k) {
        const tali_path_push *push = &it->pulls.pushes[path->first_push + k];
        g[push->u] += push->f;
    }
}
