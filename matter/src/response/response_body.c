// Motion of one body, in Ground and as seen from another.
#include "response/response_internal.h"

// --- looking ---

// The last of the entries that a stage needs: when it is valid, so are those before it.
static tal_cache_ix last_entry(const tali_response_question *ask)
{
    const tal_matter *matter = ask->matter;
    if (ask->stage < TAL_STAGE_POSITION) return matter->constants;
    if (ask->stage < TAL_STAGE_VELOCITY) return matter->position;
    return ask->stage < TAL_STAGE_ACCELERATION ? matter->velocity : matter->acceleration;
}

// Reports that a State of this System is not realized far enough, in terms of the stage that was
// asked for. A State of another System is left to the cache to report.
static bool is_too_low(const tali_response_question *ask)
{
    const tal_system *system = ask->matter->system;
    const tal_state *state = ask->state;
    const bool is_ours = state != NULL && tal_system_has_topology(system) &&
                         tal_state_structure_hash(state) == tal_system_structure_hash(system);
    if (!is_ours || tal_cache_is_valid(system, state, last_entry(ask))) return false;
    (void)tali_breach(TAL_ERR_STAGE, ask->where,
                      "needs stage %s, but the State has reached only %s",
                      tal_stage_name(ask->stage), tal_stage_name(tal_state_stage(state)));
    return true;
}

bool tali_response_see(const tali_response_question *ask, tali_response_seen *seen)
{
    const tal_matter *matter = ask->matter;
    const tal_system *system = matter->system;
    const tal_state *state = ask->state;
    *seen = (tali_response_seen){.constants = NULL};
    if (is_too_low(ask)) return false;
    seen->constants = tali_cache_read(system, state, matter->constants, ask->where);
    if (seen->constants == NULL) return false;
    if (ask->stage >= TAL_STAGE_POSITION) {
        seen->pose = tali_cache_read(system, state, matter->position, ask->where);
        seen->p_PM = tali_tree_p_PM_of(&matter->tree, seen->pose);
    }
    if (ask->stage >= TAL_STAGE_VELOCITY) {
        seen->rates = tali_cache_read(system, state, matter->velocity, ask->where);
    }
    if (ask->stage >= TAL_STAGE_ACCELERATION) {
        seen->A_GM = tali_cache_read(system, state, matter->acceleration, ask->where);
    }
    return true;
}

// --- frames that move ---

tali_response_frame tali_response_frame_mul(const tali_response_frame *RB,
                                            const tali_response_frame *BS)
{
    const tal_vec3 w = RB->V.w;
    const tal_vec3 p = tal_m3_mul_v3(RB->X.R, BS->X.p);
    const tal_spatial_vec V = tal_m3_mul_sv(RB->X.R, BS->V);
    const tal_spatial_vec A = tal_m3_mul_sv(RB->X.R, BS->A);
    tali_response_frame RS;
    RS.X = tal_xf(tal_m3_mul(RB->X.R, BS->X.R), tal_v3_add(RB->X.p, p));
    RS.V = tal_sv_add(tal_sv_shift_motion(RB->V, p), V);
    RS.A = tal_sv_add(tal_sv_shift_acceleration(RB->A, w, p), A);
    RS.A.w = tal_v3_add(RS.A.w, tal_v3_cross(w, V.w));
    RS.A.v = tal_v3_axpy(2.0, tal_v3_cross(w, V.v), RS.A.v);
    return RS;
}

tali_response_frame tali_response_frame_inv_mul(const tali_response_frame *RA,
                                                const tali_response_frame *RS)
{
    const tal_vec3 w = RA->V.w;
    const tal_vec3 p = tal_v3_sub(RS->X.p, RA->X.p);
    const tal_spatial_vec V = tal_sv_sub(RS->V, tal_sv_shift_motion(RA->V, p));
    tal_spatial_vec A = tal_sv_sub(RS->A, tal_sv_shift_acceleration(RA->A, w, p));
    A.w = tal_v3_sub(A.w, tal_v3_cross(w, V.w));
    A.v = tal_v3_axpy(-2.0, tal_v3_cross(w, V.v), A.v);
    return (tali_response_frame){tal_xf(tal_m3_tmul(RA->X.R, RS->X.R), tal_m3_tmul_v3(RA->X.R, p)),
                                 tal_m3_tmul_sv(RA->X.R, V), tal_m3_tmul_sv(RA->X.R, A)};
}

bool tali_response_body_frame(const tali_response_question *ask, tal_body_ix body,
                              tali_response_frame *GB)
{
    tali_response_seen seen;
    if (tali_tree_body_at(ask->matter, body, ask->where) == NULL ||
        !tali_response_see(ask, &seen)) {
        return false;
    }
    const int b = body.i;
    const tali_tree_pose *pose = &seen.pose[b];
    const tal_vec3 p_MB_G = tali_response_p_MB_G(&seen, b);
    *GB = TALI_FRAME_AT_REST;
    GB->X.R = tal_m3_mul(pose->R_GM, seen.constants[b].X_MB.R);
    GB->X.p = tal_v3_add(pose->p_GM, p_MB_G);
    if (seen.rates == NULL) return true;
    GB->V = tal_sv_shift_motion(seen.rates[b].V, p_MB_G);
    if (seen.A_GM == NULL) return true;
    GB->A = tal_sv_shift_acceleration(seen.A_GM[b], GB->V.w, p_MB_G);
    return true;
}

tali_response_frame tali_response_frame_seen(const tali_response_question *ask, tal_body_ix A,
                                             tal_body_ix B, const tali_response_frame *BS)
{
    const tali_response_frame nowhere = {tali_tree_nan_xform(), TALI_NAN_SV, TALI_NAN_SV};
    tali_response_frame GA, GB;
    if (!tali_response_body_frame(ask, B, &GB)) return nowhere;
    const tali_response_frame GS = BS != NULL ? tali_response_frame_mul(&GB, BS) : GB;
    if (A.i == 0) return GS;
    return tali_response_body_frame(ask, A, &GA) ? tali_response_frame_inv_mul(&GA, &GS) : nowhere;
}

// --- in Ground, and from another body ---

tal_xform tal_body_X_GB(const tal_matter *matter, const tal_state *state, tal_body_ix B)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_POSITION, __func__};
    return tali_response_frame_seen(&ask, TAL_GROUND, B, NULL).X;
}

tal_vec3 tal_body_p_GB(const tal_matter *matter, const tal_state *state, tal_body_ix B)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_POSITION, __func__};
    return tali_response_frame_seen(&ask, TAL_GROUND, B, NULL).X.p;
}

tal_spatial_vec tal_body_V_GB(const tal_matter *matter, const tal_state *state, tal_body_ix B)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_VELOCITY, __func__};
    return tali_response_frame_seen(&ask, TAL_GROUND, B, NULL).V;
}

tal_spatial_vec tal_body_A_GB(const tal_matter *matter, const tal_state *state, tal_body_ix B)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_ACCELERATION, __func__};
    return tali_response_frame_seen(&ask, TAL_GROUND, B, NULL).A;
}

tal_xform tal_body_X_AB(const tal_matter *matter, const tal_state *state, tal_body_ix A,
                        tal_body_ix B)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_POSITION, __func__};
    return tali_response_frame_seen(&ask, A, B, NULL).X;
}

tal_spatial_vec tal_body_V_AB(const tal_matter *matter, const tal_state *state, tal_body_ix A,
                              tal_body_ix B)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_VELOCITY, __func__};
    return tali_response_frame_seen(&ask, A, B, NULL).V;
}

tal_spatial_vec tal_body_A_AB(const tal_matter *matter, const tal_state *state, tal_body_ix A,
                              tal_body_ix B)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_ACCELERATION, __func__};
    return tali_response_frame_seen(&ask, A, B, NULL).A;
}
