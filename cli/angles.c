// Which coordinates are angles?
#include "angles.h"

bool cli_is_angle(const cli_model *model, const tal_state *state, tal_body_ix body, int i)
{
    if (!tal_body_qdot_is_u(model->matter, body)) {
        // a ball and its kin: three angles come first, or else a quaternion
        return tal_body_uses_angles(model->matter, state, body) && i < 3;
    }
    // the speed that belongs to it turns the body
    tal_spatial_vec H[TAL_MAX_NU];
    if (tal_body_H(model->matter, state, body, TAL_H_FM, H) != TAL_OK) return false;
    return tal_v3_dot(H[i].w, H[i].w) > 0.0;
}
