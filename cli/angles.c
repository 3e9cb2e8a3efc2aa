// Which coordinates are angles?
#include "angles.h"

bool cli_is_of_quaternion(const cli_model *model, const tal_state *state, tal_body_ix body, int i)
{
    return tal_coordinate_is_of_quaternion(model->matter, state, body, i);
}

bool cli_is_turning(const cli_model *model, const tal_state *state, tal_body_ix body, int i)
{
    return tal_speed_is_turning(model->matter, state, body, i);
}

bool cli_is_angle(const cli_model *model, const tal_state *state, tal_body_ix body, int i)
{
    return tal_coordinate_is_angle(model->matter, state, body, i);
}
