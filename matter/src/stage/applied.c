// The interface between matter and force subsystems.
#include "applied_internal.h"

#include "operator/operators_internal.h"

#include <stddef.h>
#include <string.h>

_Static_assert(offsetof(tali_tree_pose, p_GM) ==
                   offsetof(tali_tree_pose, R_GM) + offsetof(tal_xform, p),
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
        return view_of(matter, state, matter->position, sizeof(tali_tree_pose), __func__);
    }
    (void)TALI_BREACH(TAL_ERR_NULL, "matter is NULL");
    return (tal_bodies_view){NULL, 0, 0};
}

tal_bodies_view tal_matter_velocities(const tal_matter *matter, const tal_state *state)
{
    if (matter != NULL) {
        return view_of(matter, state, matter->velocity, sizeof(tali_tree_rates), __func__);
    }
    (void)TALI_BREACH(TAL_ERR_NULL, "matter is NULL");
    return (tal_bodies_view){NULL, 0, 0};
}

void tali_weight_add(const tal_matter *matter, const tal_bodies_view *poses,
                     const tali_weight weights[], tal_vec3 g, tal_spatial_vec F[])
{
    const tali_tree_pose *pose = (const tali_tree_pose *)(const void *)poses->bytes;
    matter->tree.passes->weights(pose, poses->num_bodies, weights, g, F);
}

static const tali_tree_constants *constants_of(const tal_matter *matter, const tal_state *state,
                                               tal_body_ix body, const char *where)
{
    if (tali_tree_body_at(matter, body, where) == NULL) return NULL;
    const tali_tree_constants *constants =
        tali_cache_read(matter->system, state, matter->constants, where);
    return constants != NULL ? constants + body.i : NULL;
}

tal_xform tal_body_X_MB(const tal_matter *matter, const tal_state *state, tal_body_ix body)
{
    const tali_tree_constants *constants = constants_of(matter, state, body, __func__);
    return constants != NULL ? constants->X_MB : tali_tree_nan_xform();
}

double tal_body_mass(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                     tal_vec3 *com_M)
{
    const tali_tree_constants *constants = constants_of(matter, state, body, __func__);
    if (com_M != NULL) *com_M = tali_tree_nan_xform().p;
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
    double *f = (double *)(void *)(bytes + tali_tree_body_force_bytes(&matter->tree));
    f[matter->tree.num_u] += 1.0; // one more that applies forces
    return (tal_applied_forces){(tal_spatial_vec *)(void *)bytes, f};
}

int tali_matter_num_appliers(const tal_matter *matter, const tal_state *state)
{
    return (int)tali_tree_applied_of(matter, state).f[matter->tree.num_u];
}

bool tali_matter_is_every_Bo_Mo(const tal_matter *matter, const tal_state *state)
{
    return tali_tree_is_every_Bo_Mo(tali_cache_at(matter->system, state, matter->constants),
                                    matter->num_bodies);
}

void tali_matter_shift_to_Bo(const tal_matter *matter, const tal_state *state, tal_spatial_vec F[])
{
    if (tali_matter_is_every_Bo_Mo(matter, state)) return;
    tali_tree_view view;
    tali_tree_view_of(matter, state, TALI_POSITION, &view);
    for (int b = 1; b < matter->num_bodies; ++b) {
        F[b] = tal_sv_shift_force(F[b], tal_v3_neg(tali_op_p_MB_G(&view, b)));
    }
}

tal_status tal_matter_calc_applied_forces(const tal_matter *matter, const tal_state *state,
                                          tal_spatial_vec F_GB[], double f[])
{
    if (matter == NULL) return TALI_BREACH(TAL_ERR_NULL, "matter is NULL");
    if (tali_cache_read(matter->system, state, matter->forces, __func__) == NULL) {
        return tal_contract_last()->status;
    }
    if (tal_state_stage(state) < TAL_STAGE_DYNAMICS) {
        return TALI_BREACH(TAL_ERR_STAGE, "forces are known from Dynamics on, not at %s",
                           tal_stage_name(tal_state_stage(state)));
    }
    const tali_tree_applied applied = tali_tree_applied_of(matter, state);
    if (F_GB != NULL) {
        memcpy(F_GB, applied.F, (size_t)matter->num_bodies * sizeof *F_GB);
        tali_matter_shift_to_Bo(matter, state, F_GB);
    }
    if (f != NULL) memcpy(f, applied.f, (size_t)matter->tree.num_u * sizeof *f);
    return TAL_OK;
}
