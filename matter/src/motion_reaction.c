// What mobilizers bear: the force across each, from the balance of everything outboard.
#include "motion_internal.h"
#include "sweeps_internal.h"

tal_status tali_calc_reactions(const void *self, const tal_system *system, tal_state *state,
                               void *value)
{
    const tal_matter *matter = self;
    tali_view view;
    if (!tali_view_at(matter, state, TALI_BIAS, &view)) return tal_state_error(state)->status;
    const tali_applied applied = tali_applied_of(matter, state);
    const tal_spatial_vec *A_GM = tal_cache_value(system, state, matter->acceleration);
    if (applied.F == NULL || A_GM == NULL) return tal_contract_last()->status;
    tali_sweep_reactions(&view, A_GM, applied.F, value);
    return TAL_OK;
}

// The force on a body at its Mo, and what is needed to take it elsewhere; false after a breach.
static bool reaction_on(tal_state *state, const tali_question *ask, tal_body_ix body,
                        tali_seen *seen, tal_spatial_vec *F_M)
{
    if (tali_body_at(ask->matter, body, ask->where) == NULL || !tali_see(ask, seen)) return false;
    const tal_matter *matter = ask->matter;
    const tal_spatial_vec *F = tal_cache_realize(matter->system, state, matter->reactions);
    if (F == NULL) return false;
    *F_M = F[body.i];
    return true;
}

tal_spatial_vec tal_body_reaction_M(const tal_matter *matter, tal_state *state, tal_body_ix body)
{
    const tali_question ask = {matter, state, TAL_STAGE_ACCELERATION, __func__};
    tali_seen seen;
    tal_spatial_vec F_M;
    return reaction_on(state, &ask, body, &seen, &F_M) ? F_M : TALI_NAN_SV;
}

tal_spatial_vec tal_body_reaction_B(const tal_matter *matter, tal_state *state, tal_body_ix body)
{
    const tali_question ask = {matter, state, TAL_STAGE_ACCELERATION, __func__};
    tali_seen seen;
    tal_spatial_vec F_M;
    if (!reaction_on(state, &ask, body, &seen, &F_M)) return TALI_NAN_SV;
    return tal_sv_shift_force(F_M, tal_v3_neg(tali_p_MB_G(&seen, body.i)));
}

tal_spatial_vec tal_body_reaction_F(const tal_matter *matter, tal_state *state, tal_body_ix body)
{
    const tali_question ask = {matter, state, TAL_STAGE_ACCELERATION, __func__};
    tali_seen seen;
    tal_spatial_vec F_M;
    if (!reaction_on(state, &ask, body, &seen, &F_M)) return TALI_NAN_SV;
    if (body.i == 0) {
        (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "Ground has no parent");
        return TALI_NAN_SV;
    }
    const int b = body.i, p = matter->tree.parent[b];
    const tal_vec3 p_PF_G = tal_m3_mul_v3(seen.pose[p].R_GM, seen.constants[b].p_PF);
    const tal_vec3 p_FM_G = tal_v3_sub(seen.p_PM[b], p_PF_G);
    return tal_sv_neg(tal_sv_shift_force(F_M, p_FM_G));
}
