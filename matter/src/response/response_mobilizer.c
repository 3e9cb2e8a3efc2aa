// Motion across a mobilizer, from its own table: X_FM, V_FM, A_FM, and the hinge matrix.
#include "response/response_internal.h"

// A body's mobilizer at the State's q and u.
typedef struct hinge {
    const tali_tree_body *body;
    int b;
    int nu;
    tali_response_seen seen;
    tal_mobilizer_arg arg;
    const double *udot; ///< of the body; NULL below Acceleration
    tal_xform X_FM;
    tal_spatial_vec H[TAL_MAX_NU];    ///< in F
    tal_spatial_vec V_FM;             ///< zero below Velocity
    tal_spatial_vec Hdot[TAL_MAX_NU]; ///< in F; from Velocity on
} hinge;

// sum of columns, each times a number
static tal_spatial_vec combine(int n, const tal_spatial_vec columns[], const double x[])
{
    tal_spatial_vec sum = TAL_SPATIAL_VEC_ZERO;
    for (int j = 0; j < n; ++j) {
        sum = tal_sv_axpy(x[j], columns[j], sum);
    }
    return sum;
}

// Asks the table, which has answered at this q before: that it fails is not expected.
static tal_status ask_table(hinge *at, tal_stage stage)
{
    const tali_tree_body *body = at->body;
    tal_status st =
        tali_mobilizer_X_FM(&body->ops, body->self, &at->arg, body->direction, &at->X_FM);
    if (st != TAL_OK) return st;
    st = tali_mobilizer_H_FM(&body->ops, body->self, &at->arg, body->direction, &at->X_FM, at->H);
    if (st != TAL_OK || stage < TAL_STAGE_VELOCITY) return st;
    at->V_FM = combine(at->nu, at->H, at->arg.u);
    return tali_mobilizer_Hdot_FM(&body->ops, body->self, &at->arg, body->direction, &at->X_FM,
                                  at->H, at->V_FM, at->Hdot);
}

// The mobilizer of a body as far as the stage; at rest for Ground.
static tal_status look_at(const tali_response_question *ask, tal_body_ix body, hinge *at)
{
    const tal_matter *matter = ask->matter;
    const tal_state *state = ask->state;
    *at = (hinge){.body = tali_tree_body_at(matter, body, ask->where),
                  .b = body.i,
                  .X_FM = TAL_XFORM_IDENTITY};
    if (at->body == NULL || !tali_response_see(ask, &at->seen)) return tal_contract_last()->status;
    if (body.i == 0) return TAL_OK;
    const int u_start = tal_group_start(matter->system, state, matter->u);
    const double *q = tal_state_q(state) + tal_group_start(matter->system, state, matter->q);
    at->nu = at->body->ops.nu;
    at->arg = tali_tree_mobilizer_arg_of(matter, state, body.i, q, tal_state_u(state) + u_start);
    if (at->seen.A_GM != NULL) at->udot = tal_state_udot(state) + u_start + matter->tree.u0[body.i];
    const tal_status st = ask_table(at, ask->stage);
    if (st == TAL_OK) return TAL_OK;
    return tali_breach(st, ask->where, "body '%s': its mobilizer, '%s', failed (%s)",
                       at->body->name, at->body->ops.name, tal_status_text(st));
}

tal_xform tal_body_X_FM(const tal_matter *matter, const tal_state *state, tal_body_ix body)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_POSITION, __func__};
    hinge at;
    return look_at(&ask, body, &at) == TAL_OK ? at.X_FM : tali_tree_nan_xform();
}

tal_spatial_vec tal_body_V_FM(const tal_matter *matter, const tal_state *state, tal_body_ix body)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_VELOCITY, __func__};
    hinge at;
    return look_at(&ask, body, &at) == TAL_OK ? at.V_FM : TALI_NAN_SV;
}

tal_spatial_vec tal_body_A_FM(const tal_matter *matter, const tal_state *state, tal_body_ix body)
{
    const tali_response_question ask = {matter, state, TAL_STAGE_ACCELERATION, __func__};
    hinge at;
    if (look_at(&ask, body, &at) != TAL_OK) return TALI_NAN_SV;
    return tal_sv_add(combine(at.nu, at.H, at.udot), combine(at.nu, at.Hdot, at.arg.u));
}

// --- the hinge matrix in other frames ---

// How H_FM becomes what was asked for: shifted by p_MB, then turned.
typedef struct change {
    tal_vec3 p_MB; ///< in F; zero for the motion of Mo
    tal_mat3 R;    ///< from F to the frame where it is expressed
    tal_vec3 w;    ///< angular velocity of F in that frame, expressed there; zero below Velocity
} change;

static change change_to(const tali_response_question *ask, tal_hinge_frame frame, const hinge *at)
{
    const int b = at->b, p = ask->matter->tree.parent[b];
    change to = {.R = TAL_MAT3_IDENTITY};
    if (frame == TAL_H_FB || frame == TAL_H_PB || frame == TAL_H_PB_G) {
        to.p_MB = tal_m3_mul_v3(at->X_FM.R, at->seen.constants[b].X_MB.p);
    }
    if (frame == TAL_H_PB) to.R = tal_body_X_PF(ask->matter, ask->state, (tal_body_ix){b}).R;
    if (frame == TAL_H_PM_G || frame == TAL_H_PB_G) {
        to.R = tal_m3_mul(at->seen.pose[p].R_GM, at->seen.constants[b].R_PF);
        if (at->seen.rates != NULL) to.w = at->seen.rates[p].V.w;
    }
    return to;
}

// The mobilizer, if there is such a frame and room for the columns.
static tal_status look_for_H(const tali_response_question *ask, tal_body_ix body,
                             tal_hinge_frame frame, const tal_spatial_vec columns[], hinge *at)
{
    const tal_status st = look_at(ask, body, at);
    if (st != TAL_OK) return st;
    if ((int)frame < TAL_H_FM || (int)frame > TAL_H_PB_G) {
        return tali_breach(TAL_ERR_BAD_VALUE, ask->where, "body '%s': there is no hinge frame %d",
                           at->body->name, (int)frame);
    }
    if (columns != NULL || at->nu == 0) return TAL_OK;
    return tali_breach(TAL_ERR_NULL, ask->where, "body '%s': the array has no room for %d columns",
                       at->body->name, at->nu);
}

tal_status tal_body_H(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                      tal_hinge_frame frame, tal_spatial_vec H[])
{
    const tali_response_question ask = {matter, state, TAL_STAGE_POSITION, __func__};
    hinge at;
    const tal_status st = look_for_H(&ask, body, frame, H, &at);
    if (st != TAL_OK || at.nu == 0) return st;
    const change to = change_to(&ask, frame, &at);
    for (int j = 0; j < at.nu; ++j) {
        H[j] = tal_m3_mul_sv(to.R, tal_sv_shift_motion(at.H[j], to.p_MB));
    }
    return TAL_OK;
}

// In F: d/dt (v + h x p) = vdot + hdot x p + h x (w_FM x p)              manual eq. 5.26, 5.27
// Elsewhere: R Hdot + w x R H                                            manual eq. 5.29
tal_status tal_body_Hdot(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                         tal_hinge_frame frame, tal_spatial_vec Hdot[])
{
    const tali_response_question ask = {matter, state, TAL_STAGE_VELOCITY, __func__};
    hinge at;
    const tal_status st = look_for_H(&ask, body, frame, Hdot, &at);
    if (st != TAL_OK || at.nu == 0) return st;
    const change to = change_to(&ask, frame, &at);
    const tal_vec3 p_MB_dot = tal_v3_cross(at.V_FM.w, to.p_MB);
    for (int j = 0; j < at.nu; ++j) {
        const tal_spatial_vec H = tal_m3_mul_sv(to.R, tal_sv_shift_motion(at.H[j], to.p_MB));
        tal_spatial_vec dot = tal_sv_shift_motion(at.Hdot[j], to.p_MB);
        dot.v = tal_v3_add(dot.v, tal_v3_cross(at.H[j].w, p_MB_dot));
        dot = tal_m3_mul_sv(to.R, dot);
        Hdot[j] = tal_sv(tal_v3_add(dot.w, tal_v3_cross(to.w, H.w)),
                         tal_v3_add(dot.v, tal_v3_cross(to.w, H.v)));
    }
    return TAL_OK;
}
