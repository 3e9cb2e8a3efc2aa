// The interface between matter and force subsystems.
#include "sweeps_internal.h"

#include <talus/matter/applied.h>

#include <stddef.h>

_Static_assert(offsetof(tali_pose, p_GM) == offsetof(tali_pose, R_GM) + offsetof(tal_xform, p),
               "a pose begins with its X_GM");

static tal_bodies_view view_of(const tal_matter *matter, const tal_state *state, tal_cache_ix entry,
                               size_t stride, const char *where)
{
    const void *bytes = tali_cache_read(matter->system, state, entry, where);
    return (tal_bodies_view){bytes, stride, bytes != NULL ? matter->num_bodies : 0};
}

tal_bodies_view tal_matter_poses(const tal_matter *matter, const tal_state *state)
{
    if (matter != NULL) {
        return view_of(matter, state, matter->position, sizeof(tali_pose), __func__);
    }
    (void)TALI_BREACH(TAL_ERR_NULL, "matter is NULL");
    return (tal_bodies_view){NULL, 0, 0};
}

tal_bodies_view tal_matter_velocities(const tal_matter *matter, const tal_state *state)
{
    if (matter != NULL) {
        return view_of(matter, state, matter->velocity, sizeof(tali_motion), __func__);
    }
    (void)TALI_BREACH(TAL_ERR_NULL, "matter is NULL");
    return (tal_bodies_view){NULL, 0, 0};
}

void tali_matter_add_weights(const tal_matter *matter, const tal_bodies_view *poses,
                             const tali_weight weights[], tal_vec3 g, tal_spatial_vec F[])
{
    const tali_pose *pose = (const tali_pose *)(const void *)poses->bytes;
    matter->tree.sweeps->weights(pose, poses->num_bodies, weights, g, F);
}

static const tali_constants *constants_of(const tal_matter *matter, const tal_state *state,
                                          tal_body_ix body, const char *where)
{
    if (tali_body_at(matter, body, where) == NULL) return NULL;
    const tali_constants *constants =
        tali_cache_read(matter->system, state, matter->constants, where);
    return constants != NULL ? constants + body.i : NULL;
}

tal_xform tal_body_X_MB(const tal_matter *matter, const tal_state *state, tal_body_ix body)
{
    const tali_constants *constants = constants_of(matter, state, body, __func__);
    return constants != NULL ? constants->X_MB : tali_nan_xform();
}

double tal_body_mass(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                     tal_vec3 *com_M)
{
    const tali_constants *constants = constants_of(matter, state, body, __func__);
    if (com_M != NULL) *com_M = tali_nan_xform().p;
    if (constants == NULL) return TALI_NAN;
    const bool massless = constants->mass == 0.0;
    if (com_M != NULL) {
        *com_M = massless ? TAL_VEC3_ZERO : tal_v3_scale(1.0 / constants->mass, constants->mc);
    }
    return constants->mass;
}

tal_applied_forces tal_matter_upd_forces(const tal_matter *matter, tal_state *state)
{
    const tal_applied_forces none = {NULL, NULL};
    if (matter == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "matter is NULL");
        return none;
    }
    const tal_system *system = matter->system;
    if (tal_state_stage(state) != TAL_STAGE_VELOCITY ||
        !tal_cache_is_valid(system, state, matter->forces)) {
        (void)TALI_BREACH(TAL_ERR_STAGE, "forces are applied while Dynamics is realized, not at %s",
                          tal_stage_name(tal_state_stage(state)));
        return none;
    }
    // the entry is complete when the last force subsystem has added
    char *bytes = tali_cache_upd_at(system, state, matter->forces);
    return (tal_applied_forces){(tal_spatial_vec *)(void *)bytes,
                                (double *)(void *)(bytes + tali_body_force_bytes(&matter->tree))};
}
