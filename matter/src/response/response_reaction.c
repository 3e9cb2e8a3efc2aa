// Mobilizer reactions: the force across each, from the balance of everything outboard.
#include "constraint/constraint_internal.h"
#include "kernel/passes_internal.h"
#include "prescribed/prescribed_internal.h"
#include "response/response_internal.h"

// Forces on the bodies besides those of mobilizers: applied ones less G^T lambda.
static tal_status add_up_forces(const tal_matter *matter, tal_state *state,
                                const tal_spatial_vec applied[], tal_spatial_vec F[])
{
    const tal_system *system = matter->system;
    const int first = tal_group_start(system, state, matter->constraints.udoterr);
    const double *lambda = tal_state_multipliers(state) + first;
    const size_t mark = tal_state_scratch_mark(state);
    const size_t bytes = ((size_t)matter->tree.num_u + 1) * sizeof(double);
    double *f = tal_state_scratch_take(state, bytes); // reactions do not need mobility forces
    if (f == NULL) return TAL_ERR_CAPACITY;
    memset(f, 0, bytes);
    for (int b = 0; b < matter->num_bodies; ++b) {
        F[b] = tal_sv_neg(applied[b]);
    }
    const tal_status st = tali_constraints_add_forces(matter, state, lambda, F, f);
    for (int b = 0; b < matter->num_bodies; ++b) {
        F[b] = tal_sv_neg(F[b]);
    }
    tal_state_scratch_release(state, mark);
    return st;
}

tal_status tali_tree_calc_reactions(const void *self, const tal_system *system, tal_state *state,
                                    void *value)
{
    const tal_matter *matter = self;
    tali_tree_view view;
    if (!tali_tree_realize_view(matter, state, TALI_BIAS, &view)) {
        return tal_state_error(state)->status;
    }
    const tali_tree_applied applied = tali_prescribed_loads_of(matter, state);
    const tal_spatial_vec *A_GM = tal_cache_value(system, state, matter->acceleration);
    if (applied.F == NULL || A_GM == NULL) return tal_contract_last()->status;
    if (matter->constraints.count == 0) {
        view.passes->reactions(&view, A_GM, applied.F, value);
        return TAL_OK;
    }
    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *F = tal_state_scratch_take(state, (size_t)matter->num_bodies * sizeof *F);
    const tal_status st = F != NULL ? add_up_forces(matter, state, applied.F, F) : TAL_ERR_CAPACITY;
    if (st == TAL_OK) view.passes->reactions(&view, A_GM, F, value);
    tal_state_scratch_release(state, mark);
    return st;
}

// The force on a body at its Mo, and what is needed to take it elsewhere; false after a breach.
static bool reaction_on(tal_state *state, const tali_response_question *ask, tal_body_ix body,
                        tali_response_seen *seen, tal_spatial_vec *F_M)
{
    if (tali_tree_body_at(ask->matter, body, ask->where) == NULL || !tali_response_see(ask, seen)) {
        return false;
    }
    const tal_matter *matter = ask->matter;
    const tal_spatial_vec *F = tal_cache_realize(matter->system, state, matter->reactions);
    if (F == NULL) return false;
    *F_M = F[body.i];
    return true;
}

tal_spatial_vec tal_body_reaction_M(const tal_matter *matter, tal_state *state, tal_body_ix body)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_ACCELERATION, __func__};
    tali_response_seen seen;
    tal_spatial_vec F_M;
    return reaction_on(state, &ask, body, &seen, &F_M) ? F_M : TALI_NAN_SV;
}

tal_spatial_vec tal_body_reaction_B(const tal_matter *matter, tal_state *state, tal_body_ix body)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_ACCELERATION, __func__};
    tali_response_seen seen;
    tal_spatial_vec F_M;
    if (!reaction_on(state, &ask, body, &seen, &F_M)) return TALI_NAN_SV;
    return tal_sv_shift_force(F_M, tal_v3_neg(tali_response_p_MB_G(&seen, body.i)));
}

tal_spatial_vec tal_body_reaction_F(const tal_matter *matter, tal_state *state, tal_body_ix body)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_ACCELERATION, __func__};
    tali_response_seen seen;
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
