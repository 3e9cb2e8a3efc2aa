// Stations, points and frames on a body, as seen from Ground or from another body.
#include "response/response_internal.h"

#include <math.h>

// --- stations and points ---

// A point of body B is a frame of which only the origin counts.
static tali_response_frame point(tal_vec3 p_BP, tal_vec3 v_BP, tal_vec3 a_BP)
{
    tali_response_frame BP = TALI_FRAME_AT_REST;
    BP.X.p = p_BP;
    BP.V.v = v_BP;
    BP.A.v = a_BP;
    return BP;
}

static tali_response_frame see_station(const tali_response_question *ask, tal_body_ix A,
                                       tal_body_ix B, tal_vec3 p_BS)
{
    const tali_response_frame BS = point(p_BS, TAL_VEC3_ZERO, TAL_VEC3_ZERO);
    return tali_response_frame_seen(ask, A, B, &BS);
}

tal_vec3 tal_station_p_GS(const tal_matter *matter, const tal_state *state, tal_body_ix B,
                          tal_vec3 p_BS)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_POSITION, __func__};
    return see_station(&ask, TAL_GROUND, B, p_BS).X.p;
}

tal_vec3 tal_station_v_GS(const tal_matter *matter, const tal_state *state, tal_body_ix B,
                          tal_vec3 p_BS)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_VELOCITY, __func__};
    return see_station(&ask, TAL_GROUND, B, p_BS).V.v;
}

tal_vec3 tal_station_a_GS(const tal_matter *matter, const tal_state *state, tal_body_ix B,
                          tal_vec3 p_BS)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_ACCELERATION, __func__};
    return see_station(&ask, TAL_GROUND, B, p_BS).A.v;
}

tal_vec3 tal_station_p_AS(const tal_matter *matter, const tal_state *state, tal_body_ix A,
                          tal_body_ix B, tal_vec3 p_BS)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_POSITION, __func__};
    return see_station(&ask, A, B, p_BS).X.p;
}

tal_vec3 tal_station_v_AS(const tal_matter *matter, const tal_state *state, tal_body_ix A,
                          tal_body_ix B, tal_vec3 p_BS)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_VELOCITY, __func__};
    return see_station(&ask, A, B, p_BS).V.v;
}

tal_vec3 tal_station_a_AS(const tal_matter *matter, const tal_state *state, tal_body_ix A,
                          tal_body_ix B, tal_vec3 p_BS)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_ACCELERATION, __func__};
    return see_station(&ask, A, B, p_BS).A.v;
}

tal_vec3 tal_point_v_AP(const tal_matter *matter, const tal_state *state, tal_body_ix A,
                        tal_body_ix B, tal_vec3 p_BP, tal_vec3 v_BP)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_VELOCITY, __func__};
    const tali_response_frame BP = point(p_BP, v_BP, TAL_VEC3_ZERO);
    return tali_response_frame_seen(&ask, A, B, &BP).V.v;
}

tal_vec3 tal_point_a_AP(const tal_matter *matter, const tal_state *state, tal_body_ix A,
                        tal_body_ix B, tal_vec3 p_BP, tal_vec3 v_BP, tal_vec3 a_BP)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_ACCELERATION, __func__};
    const tali_response_frame BP = point(p_BP, v_BP, a_BP);
    return tali_response_frame_seen(&ask, A, B, &BP).A.v;
}

// --- frames ---

static tali_response_frame see_frame(const tali_response_question *ask, tal_body_ix A,
                                     tal_body_ix B, const tal_xform *X_BS, tal_spatial_vec V_BS,
                                     tal_spatial_vec A_BS)
{
    if (X_BS == NULL) {
        (void)tali_breach(TAL_ERR_NULL, ask->where, "X_BS is NULL");
        return (tali_response_frame){tali_tree_nan_xform(), TALI_NAN_SV, TALI_NAN_SV};
    }
    const tali_response_frame BS = {*X_BS, V_BS, A_BS};
    return tali_response_frame_seen(ask, A, B, &BS);
}

tal_xform tal_frame_X_AS(const tal_matter *matter, const tal_state *state, tal_body_ix A,
                         tal_body_ix B, const tal_xform *X_BS)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_POSITION, __func__};
    return see_frame(&ask, A, B, X_BS, TAL_SPATIAL_VEC_ZERO, TAL_SPATIAL_VEC_ZERO).X;
}

tal_spatial_vec tal_frame_V_AS(const tal_matter *matter, const tal_state *state, tal_body_ix A,
                               tal_body_ix B, const tal_xform *X_BS)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_VELOCITY, __func__};
    return see_frame(&ask, A, B, X_BS, TAL_SPATIAL_VEC_ZERO, TAL_SPATIAL_VEC_ZERO).V;
}

tal_spatial_vec tal_frame_A_AS(const tal_matter *matter, const tal_state *state, tal_body_ix A,
                               tal_body_ix B, const tal_xform *X_BS)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_ACCELERATION, __func__};
    return see_frame(&ask, A, B, X_BS, TAL_SPATIAL_VEC_ZERO, TAL_SPATIAL_VEC_ZERO).A;
}

tal_spatial_vec tal_moving_frame_V_AS(const tal_matter *matter, const tal_state *state,
                                      tal_body_ix A, tal_body_ix B, const tal_xform *X_BS,
                                      tal_spatial_vec V_BS)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_VELOCITY, __func__};
    return see_frame(&ask, A, B, X_BS, V_BS, TAL_SPATIAL_VEC_ZERO).V;
}

tal_spatial_vec tal_moving_frame_A_AS(const tal_matter *matter, const tal_state *state,
                                      tal_body_ix A, tal_body_ix B, const tal_xform *X_BS,
                                      tal_spatial_vec V_BS, tal_spatial_vec A_BS)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_ACCELERATION, __func__};
    return see_frame(&ask, A, B, X_BS, V_BS, A_BS).A;
}

// --- distances ---

// How T moves relative to S, in Ground.
typedef struct separation {
    tal_vec3 r, v, a;
} separation;

static separation separate(const tali_response_question *ask, tal_body_ix B, tal_vec3 p_BS,
                           tal_body_ix C, tal_vec3 p_CT)
{
    const tali_response_frame S = see_station(ask, TAL_GROUND, B, p_BS);
    // one report is enough: S reports a State that is not far enough, or a bad B
    if (isnan(S.X.p.x)) return (separation){TALI_NAN_V3, TALI_NAN_V3, TALI_NAN_V3};
    const tali_response_frame T = see_station(ask, TAL_GROUND, C, p_CT);
    return (separation){tal_v3_sub(T.X.p, S.X.p), tal_v3_sub(T.V.v, S.V.v),
                        tal_v3_sub(T.A.v, S.A.v)};
}

double tal_station_distance(const tal_matter *matter, const tal_state *state, tal_body_ix B,
                            tal_vec3 p_BS, tal_body_ix C, tal_vec3 p_CT)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_POSITION, __func__};
    return tal_v3_norm(separate(&ask, B, p_BS, C, p_CT).r);
}

// d' = r.v / d; where d = 0 the stations part with |v|
static double rate(const separation *at, double d)
{
    return d == 0.0 ? tal_v3_norm(at->v) : tal_v3_dot(at->r, at->v) / d;
}

double tal_station_distance_rate(const tal_matter *matter, const tal_state *state, tal_body_ix B,
                                 tal_vec3 p_BS, tal_body_ix C, tal_vec3 p_CT)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_VELOCITY, __func__};
    const separation at = separate(&ask, B, p_BS, C, p_CT);
    return rate(&at, tal_v3_norm(at.r));
}

// d'' = (v.v - d'^2 + r.a) / d, where v.v - d'^2 = |r x v|^2 / d^2. Where d = 0,
//
//     |v t + a t^2/2| = |v| t + (v.a / |v|) t^2/2 + ...,    or |a| t^2/2 if v is zero too
double tal_station_distance_acceleration(const tal_matter *matter, const tal_state *state,
                                         tal_body_ix B, tal_vec3 p_BS, tal_body_ix C, tal_vec3 p_CT)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_ACCELERATION, __func__};
    const separation at = separate(&ask, B, p_BS, C, p_CT);
    const double d = tal_v3_norm(at.r);
    if (d != 0.0) {
        const double across = tal_v3_norm(tal_v3_cross(at.r, at.v)) / d;
        return (across * across + tal_v3_dot(at.r, at.a)) / d;
    }
    const double speed = tal_v3_norm(at.v);
    return speed != 0.0 ? tal_v3_dot(at.v, at.a) / speed : tal_v3_norm(at.a);
}
