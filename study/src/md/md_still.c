// Removing the momentum of the whole: every body on Ground gets the opposite of a rigid motion, and
// what hangs on it follows. Speeds between bodies stay as they are.
#include "md/md_internal.h"

#include <talus/common/linalg.h>
#include <talus/matter/response.h>

#include <math.h>

// The rigid motion with the momentum of the whole: about the mass center, and of it.
static tal_spatial_vec rigid_motion(const tal_md *md, const tal_state *state)
{
    const tal_spatial_vec P = tal_matter_central_momentum(md->matter, state);
    const tal_mass_props whole = tal_matter_mass_props(md->matter, state);
    tal_spatial_vec V = {TAL_VEC3_ZERO, tal_v3_scale(1.0 / whole.mass, P.v)};
    if (!md->def.still_turning) return V;
    tal_mat3 axes; // h = I w along axes; nothing turns about an axis without inertia
    const tal_vec3 I = tal_s3_eigen(tal_matter_central_inertia(md->matter, state), &axes);
    const tal_vec3 h = tal_m3_tmul_v3(axes, P.w);
    const double least = 1e-12 * fmax(I.x, fmax(I.y, I.z));
    V.w = tal_m3_mul_v3(axes, tal_v3(I.x > least ? h.x / I.x : 0.0, I.y > least ? h.y / I.y : 0.0,
                                     I.z > least ? h.z / I.z : 0.0));
    return V;
}

tal_status tali_md_still(tal_md *md, tal_state *state)
{
    tal_status st = tal_system_realize(md->system, state, TAL_STAGE_VELOCITY);
    if (st != TAL_OK) return tali_md_pass_on(md, state, st);
    const double before = tal_matter_kinetic_energy(md->matter, state);
    const tal_spatial_vec V = rigid_motion(md, state);
    const tal_vec3 center = tal_matter_mass_props(md->matter, state).com;
    const tal_bodies_view poses = tal_matter_poses(md->matter, state);
    const tal_bodies_view moves = tal_matter_velocities(md->matter, state);
    for (int b = 1; b < md->num_bodies; ++b) { // all aims, before anything changes
        const tal_vec3 arm = tal_v3_sub(tal_view_X_GM(&poses, b)->p, center);
        const tal_spatial_vec gone = tal_sv(V.w, tal_v3_add(V.v, tal_v3_cross(V.w, arm)));
        md->F_GB[b] = tal_sv_sub(*tal_view_V_GM(&moves, b), gone);
    }
    for (int b = 1; b < md->num_bodies && st == TAL_OK; ++b) {
        const tal_body_ix body = {b};
        if (tal_body_parent(md->matter, body).i != 0) continue;
        const tal_mat3 R_GF = tal_body_X_PF(md->matter, state, body).R;
        const tal_spatial_vec V_FM = {tal_m3_tmul_v3(R_GF, md->F_GB[b].w),
                                      tal_m3_tmul_v3(R_GF, md->F_GB[b].v)};
        st = tal_body_fit_u(md->matter, state, body, V_FM);
    }
    if (st == TAL_OK) st = tal_system_realize(md->system, state, TAL_STAGE_VELOCITY);
    if (st != TAL_OK) return tali_md_pass_on(md, state, st);
    md->memory.heat += tal_matter_kinetic_energy(md->matter, state) - before;
    return TAL_OK;
}
