// Which coordinates are angles?
#include "angles.h"

bool cli_is_of_quaternion(const cli_model *model, const tal_state *state, tal_body_ix body, int i)
{
    return i < 4 &&
           tal_body_nq(model->matter, state, body) > tal_body_nq_angles(model->matter, body);
}

bool cli_is_turning(const cli_model *model, const tal_state *state, tal_body_ix body, int i)
{
    tal_spatial_vec H[TAL_MAX_NU];
    if (tal_body_H(model->matter, state, body, TAL_H_FM, H) != TAL_OK) return false;
    return tal_v3_dot(H[i].w, H[i].w) > 0.0;
}

bool cli_is_angle(const cli_model *model, const tal_state *state, tal_body_ix body, int i)
{
    if (!tal_body_qdot_is_u(model->matter, body)) {
        // a ball and its kin: three angles come first, or else a quaternion
        return tal_body_uses_angles(model->matter, state, body) && i < 3;
    }
    // the speed that belongs to it turns the body
    return cli_is_turning(model, state, body, i);
}
