// Which coordinates are angles?
#ifndef TALUS_CLI_ANGLES_H
#define TALUS_CLI_ANGLES_H

#include "model.h"

// Whether coordinate i of a body is one of the four of a quaternion.
bool cli_is_of_quaternion(const cli_model *model, const tal_state *state, tal_body_ix body, int i);

// Whether speed i of a body turns it. The State is at Position.
bool cli_is_turning(const cli_model *model, const tal_state *state, tal_body_ix body, int i);

// Whether coordinate i of a body is an angle, which a table may give in degrees. The State is at
// Position.
bool cli_is_angle(const cli_model *model, const tal_state *state, tal_body_ix body, int i);

#endif // TALUS_CLI_ANGLES_H
